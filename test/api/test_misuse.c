/* Calls at the wrong time, from the wrong place, with numbers that make no sense: each has a
 * status and a sentence, and the simulation goes on as if it had not been made.
 */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\ninputs: {u: {start: 0}}\n"
    "bodies: {bob: {mass: 1, inertia: 0.1, position: [1, 0]}}\n"
    "joints: {hinge: {type: revolute, between: [ground, bob], at: [0, 0],\n"
    "  limits: {min: -1, restitution: 0.5}}}\n"
    "forces: {push: {type: force, on: bob, force: [u, 0]}, own: {type: callback, bodies: "
    "[bob]}}\n"
    "simulate: {t_end: 2, tolerance: 1e-6}\n"
    "output: {every: 0.01, channels: [bob.position, hinge.angle, u]}\n";

static ga_model *parse(const char *words)
{
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("m", words, strlen(words), NULL, &model, NULL), GA_OK);
    return model;
}

static ga_sim *make(const ga_model *model)
{
    ga_sim *sim = NULL;
    ga_report report;
    if (ga_sim_create(model, NULL, &sim, NULL, &report)) fail_msg("%s", report.message);
    return sim;
}

#define REFUSED(call, status_, words)                                                          \
    do {                                                                                       \
        memset(&report, 0, sizeof report);                                                     \
        assert_int_equal(call, status_);                                                       \
        if (!strstr(report.message, words))                                                    \
            fail_msg("%s: expected `%s`: %s", #call, words, report.message);                   \
    } while (0)

/* --- from callbacks ----------------------------------------------------------------------- */

static void drag(void *user, double t, const ga_plugin_body *bodies, double *f)
{
    (void)user, (void)t;
    f[0] = -bodies->u[0];
}

enum { ACTIONS = 14 };
static ga_status act(ga_sim *sim, int which, ga_report *report)
{
    ga_sim_check check;
    ga_sim *copy;
    double x[4] = {1, 1, 1, 1};
    const double t = ga_sim_time(sim);
    switch (which) {
    case 0:
        return ga_sim_step(sim, report);
    case 1:
        return ga_sim_advance(sim, t + 0.1, report);
    case 2:
        return ga_sim_run(sim, report);
    case 3:
        return ga_sim_continue(sim, report);
    case 4:
        return ga_sim_set_input(sim, 0, 1, report);
    case 5:
        return ga_sim_ramp_input(sim, 0, 1, t + 0.1, report);
    case 6:
        return ga_sim_set_force(sim, "forces.own", drag, NULL, report);
    case 7:
        return ga_sim_set_state(sim, x, x, report);
    case 8:
        return ga_sim_save(sim, x, sizeof x, report);
    case 9:
        return ga_sim_load(sim, x, sizeof x, report);
    case 10:
        return ga_sim_copy(sim, &copy, report);
    case 11:
        return ga_sim_start(sim, report);
    case 12:
        return ga_sim_look(sim, GA_POSE_GIVEN, report);
    default:
        ga_sim_reset(sim);
        return ga_sim_check_model(sim, &check, report);
    }
}

typedef enum place { NOWHERE, OUTPUT, PROGRESS, EVENT } place;

typedef struct caller {
    place place;
    int action;
    long done;
} caller;

static void call(caller *c, const ga_sim *sim, place from)
{
    ga_report report;
    if (c->place != from) return;
    ++c->done;
    REFUSED(act((ga_sim *)sim, c->action, &report), GA_ERR_STATE, "callbacks other than pause");
}

static ga_eval output(void *user, const ga_sim *sim)
{
    return call(user, sim, OUTPUT), GA_EVAL_OK;
}

static ga_eval progress(void *user, const ga_sim *sim)
{
    return call(user, sim, PROGRESS), GA_EVAL_OK;
}

static void event(void *user, const ga_sim *sim, const ga_sim_event *event)
{
    (void)event;
    call(user, sim, EVENT);
}

static double run_with(const ga_model *model, caller *c)
{
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.output = output;
    def.progress = progress;
    def.event = event;
    def.user = c;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    if (ga_sim_run(sim, &report)) fail_msg("%s", report.message);
    assert_true(ga_sim_time(sim) == 2);
    const double angle = ga_sim_channel_values(sim, ga_sim_channel(sim, "hinge.angle"))[0];
    ga_sim_destroy(sim);
    return angle;
}

static void callbacks_change_nothing(void **state)
{
    (void)state;
    ga_model *model = parse(text);
    caller none = {NOWHERE, 0, 0};
    const double angle = run_with(model, &none);
    for (place from = OUTPUT; from <= EVENT; ++from)
        for (int k = 0; k < ACTIONS; ++k) {
            caller c = {from, k, 0};
            assert_true(run_with(model, &c) == angle);
            assert_true(c.done > 1);
        }
    ga_model_destroy(model);
}

/* --- in a pause --------------------------------------------------------------------------- */

static ga_eval lift_once(void *user, const ga_sim *sim)
{
    ga_sim *own = (ga_sim *)sim;
    double q[3], v[3] = {0};
    if ((*(int *)user)++ != 20) return GA_EVAL_OK;
    memcpy(q, ga_sim_positions(sim), sizeof q);
    assert_int_equal(ga_sim_set_state(own, q, v, NULL), GA_OK);
    assert_int_equal(ga_sim_set_input(own, 0, 1, NULL), GA_OK);
    return GA_EVAL_OK;
}

/* The run goes on from what a pause has set, to its end. */
static void state_set_in_a_pause(void **state)
{
    (void)state;
    ga_model *model = parse(text);
    ga_sim *sim = NULL;
    ga_report report;
    int count = 0;
    ga_sim_def def = ga_sim_def_of(model);
    def.pause = lift_once;
    def.user = &count;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    assert_int_equal(ga_sim_run(sim, &report), GA_OK);
    assert_true(ga_sim_time(sim) == 2 && ga_sim_is_over(sim) && count > 21);
    assert_true(ga_sim_input_value(sim, 0) == 1);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* --- numbers ------------------------------------------------------------------------------ */

static void times_and_indices(void **state)
{
    (void)state;
    ga_model *model = parse(text), *endless = parse("galpha: 1\nbodies: {b: {mass: 1, inertia: "
                                                    "[1, 1, 1]}}\n");
    ga_sim *sim = make(model), *other = make(endless);
    ga_report report;
    const double wrong[] = {NAN, INFINITY, -INFINITY, -1, 2.1};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k)
        REFUSED(ga_sim_advance(sim, wrong[k], &report), GA_ERR_ARGUMENT, "cannot advance");
    assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
    REFUSED(ga_sim_advance(sim, 0.4, &report), GA_ERR_ARGUMENT, "only forward");
    const double ends[] = {NAN, INFINITY, 0.5, nextafter(0.5, 1), 0.1};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; ++k)
        REFUSED(ga_sim_ramp_input(sim, 0, 1, ends[k], &report), GA_ERR_ARGUMENT, "a ramp from");
    assert_true(ga_sim_input_value(sim, 0) == 0 && ga_sim_time(sim) == 0.5);
    assert_true(isnan(ga_sim_input_value(sim, ga_sim_input(sim, "v"))));
    assert_null(ga_sim_channel_values(sim, ga_sim_channel(sim, "bob.colour")));
    assert_null(ga_sim_channel_values(sim, 3));
    assert_null(ga_sim_get_channel(sim, -1).name);
    assert_null(ga_sim_get_element(sim, -1).name);
    REFUSED(ga_sim_advance(other, 1, &report), GA_ERR_INPUT, "no end time");
    REFUSED(ga_sim_step(other, &report), GA_ERR_INPUT, "no end time");
    ga_sim_destroy(sim);
    ga_sim_destroy(other);
    ga_model_destroy(model);
    ga_model_destroy(endless);
}

static void definitions(void **state)
{
    (void)state;
    ga_model *model = parse(text);
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.t_end = INFINITY;
    REFUSED(ga_sim_create(model, &def, &sim, NULL, &report), GA_ERR_ARGUMENT, "finite times");
    def = ga_sim_def_of(model);
    def.kinematics = (ga_kinematics)77;
    REFUSED(ga_sim_create(model, &def, &sim, NULL, &report), GA_ERR_ARGUMENT, "kinematics");
    def = ga_sim_def_of(model);
    def.channel_count = -1;
    REFUSED(ga_sim_create(model, &def, &sim, NULL, &report), GA_ERR_ARGUMENT, "channel_count");
    assert_null(sim);
    ga_model_destroy(model);
}

/* --- order -------------------------------------------------------------------------------- */

/* What has failed stays so, also when it is saved and loaded, until it is begun anew. */
static void after_a_failure(void **state)
{
    (void)state;
    ga_model *model = parse(text);
    ga_sim *sim = make(model), *other = make(model);
    ga_report report;
    assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
    assert_int_equal(ga_sim_set_input(sim, 0, 1e308, &report), GA_OK);
    assert_true(ga_sim_advance(sim, 0.6, &report) != GA_OK);
    const size_t size = ga_sim_save_size(sim);
    void *bytes = malloc(size);
    assert_int_equal(ga_sim_save(sim, bytes, size, &report), GA_OK);
    assert_int_equal(ga_sim_load(other, bytes, size, &report), GA_OK);
    ga_sim *const both[] = {sim, other};
    for (int k = 0; k < 2; ++k) {
        assert_true(ga_sim_is_over(both[k]));
        REFUSED(ga_sim_step(both[k], &report), GA_ERR_STATE, "has failed");
        REFUSED(ga_sim_continue(both[k], &report), GA_ERR_STATE, "has failed");
        assert_int_equal(ga_sim_run(both[k], &report), GA_OK);
        assert_int_equal(ga_sim_continue(both[k], &report), GA_OK);
        REFUSED(ga_sim_step(both[k], &report), GA_ERR_STATE, "has ended, at t = 2 s");
    }
    free(bytes);
    ga_sim_destroy(sim);
    ga_sim_destroy(other);
    ga_model_destroy(model);
}

/* A start, or a check, in the middle of a run: the next step is the first one again. */
static void start_in_between(void **state)
{
    (void)state;
    ga_model *model = parse(text);
    ga_sim *sim = make(model), *other = make(model);
    ga_report report;
    ga_sim_check check;
    assert_int_equal(ga_sim_run(other, &report), GA_OK);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
        assert_int_equal(
            k ? ga_sim_check_model(sim, &check, &report) : ga_sim_start(sim, &report), GA_OK);
        assert_true(ga_sim_time(sim) == 0 && !ga_sim_is_over(sim));
        assert_int_equal(ga_sim_advance(sim, 2, &report), GA_OK);
        assert_memory_equal(ga_sim_values(sim), ga_sim_values(other),
                            (size_t)ga_sim_value_count(sim) * sizeof(double));
        ga_sim_reset(sim);
    }
    ga_sim_destroy(sim);
    ga_sim_destroy(other);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_change_nothing), cmocka_unit_test(state_set_in_a_pause),
        cmocka_unit_test(times_and_indices),        cmocka_unit_test(definitions),
        cmocka_unit_test(after_a_failure),          cmocka_unit_test(start_in_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
