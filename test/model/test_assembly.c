/* The equations of models: what `all` gives in one go is, bit for bit, what the callbacks give
 * one after the other. */
#include "test/model/moment.h"

#include <string.h>

enum { QUANTITIES = 6 };

/* One after the other; what a system lacks has no size. */
typedef struct quantity {
    ga_callback *callback;
    int size;
} quantity;

static void list(const ga_system *sys, int nv, quantity *out)
{
    const quantity all[QUANTITIES] = {
        {sys->constraint, sys->constraint_count},
        {sys->gradient, ga_pattern_size(&sys->gradient_pattern, 0, 0)},
        {sys->constraint_rate, sys->constraint_count},
        {sys->nonholonomic, sys->nonholonomic_count},
        {sys->nonholonomic_gradient,
         ga_pattern_size(&sys->nonholonomic_gradient_pattern, 0, 0)},
        {sys->force, nv}};
    memcpy(out, all, sizeof all);
}

static void ask(const ga_system *sys, const ga_point *at, double *const *out)
{
    const ga_wanted wanted = {NULL, out[0], out[1], out[2], out[3], out[4], out[5]};
    assert_int_equal(sys->all(sys->user, at, &wanted), GA_EVAL_OK);
}

/* Everything at once, and each alone. */
static void compare(const char *name, moment *m)
{
    const ga_system *sys = &m->a->system;
    ga_point at = {0.3,  m->q,           m->v,
                   NULL, m->multipliers, m->multipliers + sys->constraint_count};
    quantity single[QUANTITIES];
    double *one[QUANTITIES], *all[QUANTITIES];
    list(sys, m->a->nv, single);
    for (int k = 0; k < QUANTITIES; ++k) {
        size_t size = ((size_t)single[k].size + 1) * sizeof(double);
        one[k] = malloc(size);
        all[k] = single[k].callback ? malloc(size) : NULL;
        if (all[k]) memset(all[k], 0xff, size); /* NaN */
        if (single[k].callback) single[k].callback(sys->user, &at, one[k]);
    }
    ask(sys, &at, all);
    for (int k = 0; k < QUANTITIES; ++k) {
        size_t size = (size_t)single[k].size * sizeof(double);
        if (!all[k]) continue;
        if (memcmp(one[k], all[k], size) != 0) fail_msg("%s: quantity %d differs", name, k);
        double *alone[QUANTITIES] = {0};
        alone[k] = all[k];
        memset(all[k], 0xff, size);
        m->q[0] += 1e-3; /* another state in between */
        ask(sys, &at, alone);
        m->q[0] = nextafter(m->q[0] - 1e-3, 0);
        ask(sys, &at, alone);
        single[k].callback(sys->user, &at, one[k]);
        if (memcmp(one[k], all[k], size) != 0) fail_msg("%s: %d alone differs", name, k);
    }
    for (int k = 0; k < QUANTITIES; ++k) {
        free(one[k]);
        free(all[k]);
    }
}

static void test_all_is_one_by_one(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k)
        for (int se = 0; se < 2; ++se) {
            ga_model *model = read_example(examples[k], 0, NULL);
            moment m = make_moment(model, se);
            compare(examples[k], &m);
            free_moment(&m);
            ga_model_destroy(model);
        }
}

/* --- threads --------------------------------------------------------------------------------
 */

static const char chain[] =
    "galpha: 1\ndimension: %d\nrepeat:\n"
    "  - count: 700\n"
    "    bodies: {\"b{i}\": {mass: 1 + i/700, inertia: %s, position: [i + 0.5, 0%s]}}\n"
    "  - count: 699\n"
    "    joints: {\"j{i}\": {when: i > 3*floor(i/3), type: revolute, between: [\"b{i}\", "
    "\"b{i+1}\"]},\n"
    "             \"k{i}\": {when: i == 3*floor(i/3), type: distance, between: [\"b{i}\", "
    "\"b{i+1}\"]}}\n"
    "    forces: {\"f{i}\": {when: i == 50*floor(i/50), type: spring-damper, between: "
    "[\"b{i}\", "
    "\"b{i+1}\"], stiffness: 3, damping: 1, length: 0.5}}\n"
    "simulate: {t_end: 0.01, step: 1e-3}\n";

/* Every matrix and vector of the system, one after the other. */
static int collect(moment *m, double **out)
{
    const ga_system *sys = &m->a->system;
    ga_point at = {0.3, m->q, m->v, NULL, m->multipliers, m->multipliers};
    const quantity all[] = {
        {sys->constraint, sys->constraint_count},
        {sys->gradient, ga_pattern_size(&sys->gradient_pattern, 0, 0)},
        {sys->force, m->a->nv},
        {sys->acceleration_rhs, sys->constraint_count},
        {sys->stiffness, ga_pattern_size(&sys->stiffness_pattern, 0, 0)},
        {sys->damping, ga_pattern_size(&sys->damping_pattern, 0, 0)},
        {sys->velocity_stiffness, ga_pattern_size(&sys->velocity_stiffness_pattern, 0, 0)}};
    int size = 0, used = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) size += all[k].size;
    *out = calloc((size_t)size + 1, sizeof **out);
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        assert_int_equal(all[k].callback(sys->user, &at, *out + used), GA_EVAL_OK);
        used += all[k].size;
    }
    return size;
}

static void test_threads(void **state)
{
    (void)state;
    for (int k = 0; k < 4; ++k) {
        char text[2000];
        const bool flat = k % 2;
        snprintf(text, sizeof text, chain, flat ? 2 : 3, flat ? "0.1" : "[0.1, 0.2, 0.25]",
                 flat ? "" : ", 0");
        ga_model *model = NULL;
        ga_pool *pool = NULL;
        double *one, *two;
        assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_OK);
        assert_int_equal(ga_pool_create(3, &pool), GA_OK);
        moment m = make_moment(model, k / 2), n = make_moment(model, k / 2);
        ga_assembly_use(n.a, pool);
        int size = collect(&m, &one);
        assert_int_equal(collect(&n, &two), size);
        assert_memory_equal(one, two, (size_t)size * sizeof *one);
        free(one);
        free(two);
        free_moment(&m);
        free_moment(&n);
        ga_pool_destroy(pool);
        ga_model_destroy(model);
    }
}

/* Whole runs, and what is refused. */
static void test_threads_of_runs(void **state)
{
    (void)state;
    double values[2][64];
    for (int threads = 1; threads <= 2; ++threads) {
        ga_model *model = read_example("n_four_bar", 0, NULL);
        ga_sim *sim = NULL;
        ga_report report;
        ga_sim_def def = ga_sim_def_of(model);
        def.t_end = 0.1;
        def.threads = threads;
        static const char *const everything[] = {"*"};
        def.channel_count = 1;
        def.channels = everything;
        assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        assert_true(ga_sim_value_count(sim) >= 64);
        memcpy(values[threads - 1], ga_sim_values(sim), sizeof *values);
        ga_sim_destroy(sim);
        def.threads = threads == 1 ? -1 : 65;
        assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_ERR_ARGUMENT);
        assert_non_null(strstr(report.message, "threads"));
        ga_model_destroy(model);
    }
    assert_memory_equal(values[0], values[1], sizeof *values);
    const char *text = "galpha: 1\nbodies: {b: {type: point-mass, mass: 1}}\n"
                       "simulate: {t_end: 1, threads: 99}\n";
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_ERR_INPUT);
}

/* So many unknowns that the chain is cut in two, and nodes and vectors in pieces. */
static void test_threads_of_a_long_chain(void **state)
{
    (void)state;
    const char *text =
        "galpha: 1\n"
        "gravity: [0, 0, -9.81]\n"
        "repeat:\n"
        "  - {count: 1400, index: i, bodies: {'rod{i}': {mass: 1, inertia: [1/1200, 1/12, "
        "1/12],"
        " position: [i + 0.5, 0, 0]}}}\n"
        "  - {count: 1399, from: 1, index: i, joints: {'hinge{i}': {type: revolute,"
        " between: ['rod{i-1}', 'rod{i}'], at: [i, 0, 0], axis: [0, cos(0.7*i), "
        "sin(0.7*i)]}}}\n"
        "joints: {support: {type: revolute, between: [ground, rod0], at: [0, 0, 0],"
        " axis: [0, 1, 0]}}\n"
        "simulate: {t_end: 3e-3, step: 1e-3}\n";
    enum { VALUES = 7 * 1400 };
    double *values[2] = {NULL, NULL};
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("chain", text, strlen(text), NULL, &model, NULL), GA_OK);
    for (int threads = 1; threads <= 2; ++threads) {
        static const char *const channels[] = {"*.position", "*.rotation"};
        ga_sim *sim = NULL;
        ga_report report;
        ga_sim_def def = ga_sim_def_of(model);
        def.threads = threads;
        def.channel_count = 2;
        def.channels = channels;
        assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        assert_true(ga_sim_value_count(sim) >= VALUES);
        values[threads - 1] = malloc(VALUES * sizeof **values);
        assert_non_null(values[threads - 1]);
        memcpy(values[threads - 1], ga_sim_values(sim), VALUES * sizeof **values);
        ga_sim_destroy(sim);
    }
    assert_memory_equal(values[0], values[1], VALUES * sizeof **values);
    free(values[0]), free(values[1]);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_one_by_one), cmocka_unit_test(test_threads),
        cmocka_unit_test(test_threads_of_a_long_chain), cmocka_unit_test(test_threads_of_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
