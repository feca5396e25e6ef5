/* Memory of models and simulations: the loop over steps takes none; every allocation that fails
 * gives GA_ERR_MEMORY and leaks nothing. Those of libfyaml are left out: it does not survive
 * them.
 */
#include "base/report.h"
#include "test/api/examples.h"
#include "test/support/allocations.h"

#include <string.h>

/* --- the loop ----------------------------------------------------------------------------- */

typedef struct marks {
    bool begun;
    long first, last; /* allocations at the first and the last output */
    int outputs;
    unsigned methods; /* that have made steps, as bits */
} marks;

static ga_eval mark(void *user, const ga_sim *sim)
{
    marks *m = user;
    const ga_method_use use = ga_sim_get_summary(sim).methods;
    unsigned methods = 0;
    for (int k = 0; k < GA_METHOD_COUNT; ++k) methods |= use.steps[k] > 0 ? 1u << k : 0;
    const bool another = m->methods && methods != m->methods;
    if (!m->begun || another) m->first = watch.taken;
    m->begun = true;
    m->methods = methods;
    m->last = watch.taken;
    ++m->outputs;
    return GA_EVAL_OK;
}

/* Events, friction, error control, motions, loops, nonholonomic constraints.
 * Impacts are not among them: what follows one still takes memory. Nor are changes of the
 * method: those of `auto` take memory when they are first needed. */
static void check_loop(const char *example, int count, const char *const *set)
{
    ga_model *model = read_example(example, count, set);
    marks m = {0};
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.output = mark;
    def.user = &m;
    static const char *const all[] = {"*", "energy", "solver"};
    def.channels = all;
    def.channel_count = 3;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    start_counting(0, false);
    ga_status status = ga_sim_run(sim, &report);
    stop_counting();
    if (status) fail_msg("%s: %s", example, report.message);
    assert_true(m.outputs > 20);
    if (m.last != m.first)
        fail_msg("%s: %ld allocations between the first and the last output", example,
                 m.last - m.first);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void test_loop_takes_nothing(void **state)
{
    (void)state;
    static const char *const examples[] = {
        "heavy_top",        "slider_crank",     "stick_slip",       "clutch",    "rolling_disc",
        "four_bar_spatial", "flyball_governor", "stewart_platform", "n_four_bar"};
    static const char *const set[] = {"simulate.t_end=0.5", "output.every=0.01",
                                      "simulate.method=generalized-alpha"};
    if (!in_front()) skip();
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k) {
        check_loop(examples[k], 2, set);
        check_loop(examples[k], 3, set);
    }
}

/* --- failing ------------------------------------------------------------------------------ */

static const char text[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nparameters: {m: 2}\n"
    "bodies:\n"
    "  crank: {mass: m, inertia: [1, 1, 1], position: [0.5, 0, 0], points: {end: [0.5, 0, "
    "0]}}\n"
    "  ball: {type: point-mass, mass: 1, position: [3, 0, 0]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0],"
    " friction: {coefficient: 0.1, radius: 0.05}, limits: {max: 1}}\n"
    "  again: {type: revolute, between: [ground, crank], at: [0, 0, 0], axis: [0, 1, 0]}\n"
    "forces:\n"
    "  spring: {type: spring-damper, between: [crank.end, ball], stiffness: 9, damping: 1,"
    " length: 2}\n"
    "  push: {type: force, on: ball, force: [0, 0, {table: [[0, 1], [1, 2], [3, 5]]}]}\n"
    "simulate: {t_end: 0.02, step: 0.01}\n"
    "output: {channels: [\"*\", energy]}\n";

/* Into another simulation, which goes on. */
static ga_status save_and_load(const ga_sim *sim, const ga_model *model)
{
    static unsigned char bytes[1 << 17];
    const size_t size = ga_sim_save_size(sim);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *other = NULL;
    assert_true(size < sizeof bytes);
    def.t_end = 0.03;
    ga_status status = ga_sim_save(sim, bytes, size, NULL);
    if (status == GA_OK) status = ga_sim_create(model, &def, &other, NULL, NULL);
    if (status == GA_OK) status = ga_sim_load(other, bytes, size, NULL);
    if (status == GA_OK) status = ga_sim_continue(other, NULL);
    ga_sim_destroy(other);
    return status;
}

/* A copy in the middle of a run, which is given a state. */
static ga_status copy_and_set(ga_sim *sim)
{
    ga_sim *copy = NULL;
    ga_status status = ga_sim_step(sim, NULL);
    if (status == GA_OK) status = ga_sim_copy(sim, &copy, NULL);
    if (status == GA_OK)
        status = ga_sim_set_state(copy, ga_sim_positions(sim), ga_sim_velocities(sim), NULL);
    ga_sim_destroy(copy);
    return status;
}

static ga_status whole_life(void)
{
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_sim_check check;
    ga_status status = ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL);
    if (status == GA_OK) status = ga_sim_create(model, NULL, &sim, NULL, NULL);
    if (status == GA_OK) status = ga_sim_start(sim, NULL);
    if (status == GA_OK) status = copy_and_set(sim);
    if (status == GA_OK) status = ga_sim_run(sim, NULL);
    if (status == GA_OK) status = save_and_load(sim, model);
    if (status == GA_OK) status = ga_sim_check_model(sim, &check, NULL);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return status;
}

static void fail_all(bool after)
{
    if (!in_front()) skip();
    assert_int_equal(whole_life(), GA_OK);
    start_counting(0, false);
    watch.own_only = true;
    assert_int_equal(whole_life(), GA_OK);
    stop_counting();
    const long total = watch.taken;
    assert_int_equal(watch.live, 0);
    assert_true(total > 100);
    for (long k = 1; k <= total; ++k) {
        start_counting(k, after);
        watch.own_only = true;
        ga_status status = whole_life();
        stop_counting();
        if (watch.live)
            fail_msg("allocation %ld of %ld: %ld blocks leaked", k, total, watch.live);
        if (status != GA_ERR_MEMORY)
            fail_msg("allocation %ld of %ld: %s", k, total, ga_status_name(status));
    }
}

static void test_one_allocation_fails(void **state)
{
    (void)state;
    fail_all(false);
}

static void test_memory_runs_out(void **state)
{
    (void)state;
    fail_all(true);
}

/* A copy, a checkpoint, and another simulation that loads it. */
static ga_status save_everywhere(const ga_sim *sim, const ga_model *model, const char *path)
{
    ga_sim *copy = NULL, *other = NULL;
    ga_checkpoint *checkpoint = NULL;
    ga_status status = ga_sim_copy(sim, &copy, NULL);
    if (status == GA_OK) status = ga_checkpoint_write(path, sim, "note", 4, NULL);
    if (status == GA_OK) status = ga_checkpoint_read(path, &checkpoint, NULL);
    if (status == GA_OK) status = ga_sim_create(model, NULL, &other, NULL, NULL);
    if (status == GA_OK) status = ga_checkpoint_load(checkpoint, other, NULL);
    ga_checkpoint_free(checkpoint);
    ga_sim_destroy(copy);
    ga_sim_destroy(other);
    return status;
}

/* Whatever fails, the simulation that is saved is as it was. */
static void fail_saving(const char *method, bool after)
{
    static unsigned char bytes[1 << 17], again[1 << 17];
    static const char *const path = "test_allocations.ga";
    const char *const set[] = {"simulate.step=null", "simulate.tolerance=1e-3",
                               "simulate.t_end=0.3", method};
    ga_model *model = NULL, *with = NULL;
    ga_sim *sim = NULL;
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    assert_int_equal(ga_model_with(model, 4, set, &with, NULL), GA_OK);
    assert_int_equal(ga_sim_create(with, NULL, &sim, NULL, NULL), GA_OK);
    assert_int_equal(ga_sim_advance(sim, 0.1, NULL), GA_OK);
    const size_t size = ga_sim_save_size(sim);
    assert_true(size < sizeof bytes);
    assert_int_equal(ga_sim_save(sim, bytes, size, NULL), GA_OK);
    start_counting(0, false);
    watch.own_only = true;
    assert_int_equal(save_everywhere(sim, with, path), GA_OK);
    stop_counting();
    const long total = watch.taken;
    assert_int_equal(watch.live, 0);
    assert_true(total > 100);
    for (long k = 1; k <= total; ++k) {
        start_counting(k, after);
        watch.own_only = true;
        const ga_status status = save_everywhere(sim, with, path);
        stop_counting();
        if (status != GA_ERR_MEMORY)
            fail_msg("%s: allocation %ld of %ld: %s", method, k, total, ga_status_name(status));
        if (watch.live)
            fail_msg("%s: allocation %ld of %ld: %ld blocks leaked", method, k, total,
                     watch.live);
        assert_int_equal(ga_sim_save_size(sim), size);
        assert_int_equal(ga_sim_save(sim, again, size, NULL), GA_OK);
        assert_memory_equal(again, bytes, size);
    }
    remove(path);
    ga_sim_destroy(sim);
    ga_model_destroy(with);
    ga_model_destroy(model);
}

static void test_saving_fails(void **state)
{
    (void)state;
    static const char *const methods[] = {"simulate.method=generalized-alpha",
                                          "simulate.method=explicit", "simulate.method=radau",
                                          "simulate.method=auto"};
    if (!in_front()) skip();
    for (int k = 0; k < 4; ++k) {
        fail_saving(methods[k], false);
        fail_saving(methods[k], true);
    }
}

/* What is created again and again leaves nothing behind. */
static void test_no_growth(void **state)
{
    (void)state;
    enum { TIMES = 10000 };
    if (!in_front()) skip();
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    start_counting(0, false);
    for (int k = 0; k < TIMES; ++k) {
        ga_sim *sim = NULL;
        assert_int_equal(ga_sim_create(model, NULL, &sim, NULL, NULL), GA_OK);
        assert_int_equal(ga_sim_start(sim, NULL), GA_OK);
        assert_int_equal(ga_sim_step(sim, NULL), GA_OK);
        ga_sim_destroy(sim);
    }
    stop_counting();
    assert_int_equal(watch.live, 0);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_growth),       cmocka_unit_test(test_loop_takes_nothing),
        cmocka_unit_test(test_saving_fails),    cmocka_unit_test(test_one_allocation_fails),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
