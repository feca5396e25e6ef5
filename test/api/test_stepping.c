/* Simulations step by step: the same motion as in one run, inputs, other states. */
#define _GNU_SOURCE

#include "test/api/examples.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

typedef struct rows {
    int count;
    double t[4000], first[4000];
} rows;

static ga_eval take_row(void *user, const ga_sim *sim)
{
    rows *r = user;
    if (r->count < 4000) {
        r->t[r->count] = ga_sim_time(sim);
        r->first[r->count++] = ga_sim_values(sim)[0];
    }
    return GA_EVAL_OK;
}

static ga_sim *make(const ga_model *model, ga_sim_def *def)
{
    ga_sim *sim = NULL;
    ga_report report;
    if (ga_sim_create(model, def, &sim, NULL, &report)) fail_msg("%s", report.message);
    return sim;
}

static void copy_values(const ga_sim *sim, double *out)
{
    memcpy(out, ga_sim_values(sim), (size_t)ga_sim_value_count(sim) * sizeof *out);
}

/* Fixed steps and error control; events, friction that locks, motions, rolling. */
static const struct {
    const char *name, *set;
} cases[] = {
    {"simple_pendulum", "simulate.t_end=1"},
    {"heavy_top", "simulate.t_end=0.2"},
    {"stop", "simulate.t_end=2"},
    {"slider_crank", "simulate.t_end=0.2"},
    {"clutch", "simulate.t_end=1"},
    {"stick_slip", "simulate.t_end=1"},
    {"rolling_disc", "simulate.t_end=0.5"},
    {"four_bar", "simulate.t_end=0.5"},
    {"suspension_corner", "simulate.t_end=0.5"},
};

/* A run, the same in steps, the same by points that hit no step, and once more after a reset:
 * bit for bit. */
static void steps_are_the_run(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_model *model = read_example(cases[k].name, 1, &cases[k].set);
        rows all = {0};
        ga_sim_def def = ga_sim_def_of(model);
        def.output = take_row;
        def.user = &all;
        ga_sim *sim = make(model, &def);
        ga_report report;
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        const int count = ga_sim_value_count(sim);
        double *end = calloc((size_t)count, sizeof *end);
        copy_values(sim, end);
        const size_t nq = (size_t)ga_sim_position_count(sim) * sizeof *end;
        double *q = malloc(nq);
        assert_non_null(q);
        memcpy(q, ga_sim_positions(sim), nq);
        const long steps = ga_sim_get_summary(sim).statistics.steps;
        const double drift = ga_sim_get_summary(sim).energy_drift_max;
        const double t_end = ga_sim_time(sim);
        const int first_rows = all.count;

        for (int round = 0; round < 3; ++round) {
            ga_sim_reset(sim);
            all.count = 0;
            assert_false(ga_sim_is_over(sim));
            int points = 0;
            while (!ga_sim_is_over(sim)) {
                ga_status status =
                    round == 1
                        ? ga_sim_advance(
                              sim, fmin(t_end, def.t_start + ++points * t_end / 36.7), &report)
                        : ga_sim_step(sim, &report);
                if (status) fail_msg("%s: %s", cases[k].name, report.message);
            }
            assert_int_equal(ga_sim_get_summary(sim).statistics.steps, steps);
            assert_true(ga_sim_get_summary(sim).energy_drift_max == drift);
            assert_int_equal(all.count, first_rows);
            assert_true(ga_sim_time(sim) == t_end);
            assert_memory_equal(ga_sim_values(sim), end, (size_t)count * sizeof *end);
            assert_memory_equal(ga_sim_positions(sim), q, nq);
            assert_int_equal(ga_sim_step(sim, &report), GA_ERR_STATE);
        }
        free(q);
        free(end);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

typedef struct table {
    int rows, width;
    double *t, *values;
} table;

static ga_eval take_all(void *user, const ga_sim *sim)
{
    table *all = user;
    const size_t width = (size_t)ga_sim_value_count(sim), row = (size_t)all->rows++;
    all->width = (int)width;
    all->t = realloc(all->t, (row + 1) * sizeof *all->t);
    all->values = realloc(all->values, (row + 1) * width * sizeof *all->values);
    all->t[row] = ga_sim_time(sim);
    memcpy(all->values + row * width, ga_sim_values(sim), width * sizeof *all->values);
    return GA_EVAL_OK;
}

/* Where advance stops, the channels are what output has there, bit for bit: also where the step
 * that went beyond met an event or a breakpoint. Of two rows at the time of an event, the last.
 */
static void advance_is_output(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; ++c) {
        ga_model *model = read_example(cases[c].name, 1, &cases[c].set);
        table all = {0};
        ga_sim_def def = ga_sim_def_of(model);
        def.output = take_all;
        def.user = &all;
        def.output_every = 0.00137;
        ga_sim *sim = make(model, &def), *other;
        ga_report report;
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        def.output = NULL;
        other = make(model, &def);
        for (int k = 1; k < all.rows; ++k) {
            if (k + 1 < all.rows && all.t[k + 1] == all.t[k]) continue;
            assert_int_equal(ga_sim_advance(other, all.t[k], &report), GA_OK);
            assert_true(ga_sim_time(other) == all.t[k]);
            for (int i = 0; i < all.width; ++i) {
                const double x = ga_sim_values(other)[i], y = all.values[k * all.width + i];
                if (memcmp(&x, &y, sizeof x) && !(isnan(x) && isnan(y)))
                    fail_msg("%s, t = %.17g, value %d: %.17g instead of %.17g", cases[c].name,
                             all.t[k], i, x, y);
            }
        }
        assert_int_equal(ga_sim_advance(other, 0.5 * def.t_end, &report), GA_ERR_ARGUMENT);
        assert_non_null(strstr(report.message, "only forward"));
        free(all.t);
        free(all.values);
        ga_sim_destroy(other);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

/* --- inputs ------------------------------------------------------------------------------- */

static ga_model *parse(const char *text, int good)
{
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    ga_status status = ga_model_parse("test", text, strlen(text), NULL, &model, messages);
    if (good && status) fail_msg("%s", ga_messages_get(messages, 0).text);
    ga_messages_destroy(messages);
    return model;
}

#define STONE(simulate)                                                                        \
    "galpha: 1\n"                                                                              \
    "inputs: {u: {start: 1, unit: N}, w: {}}\n"                                                \
    "bodies: {stone: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 0]}}\n"                    \
    "forces: {push: {type: force, on: stone, force: [u, 2*w, 0]}}\n"                           \
    "simulate: {t_end: 2, " simulate "}\n"                                                     \
    "output: {every: 0.5, channels: [stone.position, stone.velocity]}\n"

/* x'' = u, 1 and then -1; methods of the family are exact for constant forces. A run without
 * anybody who sets them has the inputs as they start. */
static void held_inputs(void **state)
{
    (void)state;
    static const char *const texts[] = {STONE("step: 0.01"), STONE("tolerance: 1e-8"),
                                        STONE("step: 0.03")};
    for (int k = 0; k < 3; ++k) {
        ga_model *model = parse(texts[k], 1);
        ga_sim_def def = ga_sim_def_of(model);
        ga_sim *sim = make(model, &def);
        ga_report report;
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        assert_near(ga_sim_values(sim)[0], 2, 1e-9);
        ga_sim_reset(sim);
        const int u = ga_sim_input(sim, "u"), w = ga_sim_input(sim, "w");
        const int position = ga_sim_channel(sim, "stone.position");
        const double *x = ga_sim_channel_values(sim, position);
        assert_int_equal(u, 0);
        assert_int_equal(w, 1);
        assert_int_equal(ga_sim_input(sim, "v"), -1);
        assert_int_equal(ga_sim_channel(sim, "stone.spin"), -1);
        assert_int_equal(ga_sim_advance(sim, 0.7, &report), GA_OK);
        assert_near(x[0], 0.245, 1e-9);
        assert_int_equal(ga_sim_set_input(sim, w, 3, &report), GA_OK);
        assert_int_equal(ga_sim_advance(sim, 1, &report), GA_OK);
        assert_true(ga_sim_time(sim) == 1);
        assert_near(x[0], 0.5, 1e-9);
        assert_near(x[1], 0.27, 1e-9);
        assert_int_equal(ga_sim_set_input(sim, u, -1, &report), GA_OK);
        assert_int_equal(ga_sim_set_input(sim, w, 0, &report), GA_OK);
        assert_int_equal(ga_sim_advance(sim, 2, &report), GA_OK);
        assert_near(x[0], 1, 1e-9);
        assert_near(x[3], 0, 1e-9); /* the velocity follows */
        assert_near(x[1], 0.27 + 1.8, 1e-9);
        assert_true(ga_sim_is_over(sim));
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0, 1e-8);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

/* u = 1 - t, then held at 0: x(1) = 1/2 - 1/6, v(1) = 1/2. Between points, steps differ from
 * the exact motion by O(h^2). */
static void linear_inputs(void **state)
{
    (void)state;
    ga_model *model = parse(STONE("step: 1e-3"), 1);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = make(model, &def);
    ga_report report;
    const int u = ga_sim_input(sim, "u");
    assert_int_equal(ga_sim_ramp_input(sim, u, 0, 1, &report), GA_OK);
    assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
    assert_near(ga_sim_input_value(sim, u), 0.5, 1e-12);
    assert_int_equal(ga_sim_advance(sim, 1, &report), GA_OK);
    assert_near(ga_sim_values(sim)[0], 0.5 - 1.0 / 6, 1e-6);
    assert_int_equal(ga_sim_advance(sim, 2, &report), GA_OK);
    assert_near(ga_sim_values(sim)[3], 0.5, 1e-6);
    assert_near(ga_sim_values(sim)[0], 0.5 - 1.0 / 6 + 0.5, 2e-6);
    assert_int_equal(ga_sim_ramp_input(sim, u, 0, 1, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_sim_set_input(sim, u, NAN, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_sim_set_input(sim, 7, 0, &report), GA_ERR_ARGUMENT);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void inputs_that_are_none(void **state)
{
    (void)state;
#define WITH(inputs, more)                                                                     \
    "galpha: 1\ninputs: " inputs                                                               \
    "\nbodies: {stone: {mass: 1, inertia: [1, 1, 1]}}\nsimulate: {t_end: 1, step: 0.1}\n" more
    static const char *const wrong[] = {
        WITH("{u: {start: one}}", ""),
        WITH("{u: {begin: 1}}", ""),
        WITH("{u: 3}", ""),
        WITH("[u]", ""),
        WITH("{stone: {}}", ""),
        WITH("{time: {}}", ""),
        WITH("{a.b: {}}", ""),
        WITH("{m: {}}", "parameters: {m: 1}\n"),
        WITH("{u: {}}", "forces: {f: {type: force, on: stone, force: [x, 0, 0]}}\n"),
    };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) assert_null(parse(wrong[k], 0));
}

/* --- other states ------------------------------------------------------------------------- */

/* The pendulum is lifted off its constraint, which brings it back; and goes on from there. */
static void state_is_made_consistent(void **state)
{
    (void)state;
    ga_model *model =
        parse("galpha: 1\ngravity: [0, 0, -9.81]\n"
              "bodies: {bob: {mass: 2, inertia: [0.1, 0.1, 0.1], position: [1, 0, 0]}}\n"
              "joints: {hinge: {type: spherical, between: [ground, bob], at: [0, 0, 0]}}\n"
              "simulate: {t_end: 2, step: 1e-3}\n"
              "output: {every: 0.1, channels: [bob.position, energy.total]}\n",
              1);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = make(model, &def);
    ga_report report;
    assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
    const int nq = ga_sim_position_count(sim), nv = ga_sim_velocity_count(sim);
    assert_int_equal(nq, 7);
    assert_int_equal(nv, 6);
    double q[7], v[6];
    memcpy(q, ga_sim_positions(sim), sizeof q);
    memset(v, 0, sizeof v);
    q[0] += 0.01;
    assert_int_equal(ga_sim_set_state(sim, q, v, &report), GA_OK);
    assert_true(ga_sim_time(sim) == 0.5);
    const double *x = ga_sim_values(sim);
    assert_near(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 1, 1e-9);
    const double energy = x[3];
    assert_near(energy, 2 * 9.81 * x[2], 1e-9); /* at rest */
    assert_int_equal(ga_sim_advance(sim, 1.5, &report), GA_OK);
    assert_near(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]), 1, 1e-9);
    assert_near(x[3], energy, 1e-4);
    q[0] = INFINITY;
    assert_int_equal(ga_sim_set_state(sim, q, v, &report), GA_ERR_ARGUMENT);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* A state that cannot be taken, in the middle of a step: what follows is what would have
 * followed. */
static void state_is_refused(void **state)
{
    (void)state;
    ga_model *model = read_example("rolling_disc", 0, NULL);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = make(model, &def), *other = NULL;
    ga_report report;
    assert_int_equal(ga_sim_advance(sim, 0.1777, &report), GA_OK);
    assert_int_equal(ga_sim_copy(sim, &other, &report), GA_OK);
    const size_t nq = (size_t)ga_sim_position_count(sim),
                 nv = (size_t)ga_sim_velocity_count(sim);
    double *q = calloc(nq, sizeof *q), *v = calloc(nv, sizeof *v);
    assert_true(q && v);
    /* rotations of length zero */
    assert_int_equal(ga_sim_set_state(sim, q, v, &report), GA_ERR_ARGUMENT);
    memcpy(q, ga_sim_positions(sim), nq * sizeof *q);
    for (size_t k = 0; k < nv; ++k) v[k] = 1e300;
    assert_true(ga_sim_set_state(sim, q, v, &report) != GA_OK);
    assert_true(ga_sim_time(sim) == 0.1777);
    assert_memory_equal(ga_sim_positions(sim), q, nq * sizeof *q);
    assert_int_equal(ga_sim_advance(sim, 0.5, &report), GA_OK);
    assert_int_equal(ga_sim_advance(other, 0.5, &report), GA_OK);
    assert_memory_equal(ga_sim_values(sim), ga_sim_values(other),
                        (size_t)ga_sim_value_count(sim) * sizeof(double));
    free(q);
    free(v);
    ga_sim_destroy(other);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* Created, stepped and destroyed again and again. */
static void nothing_is_left(void **state)
{
    (void)state;
    ga_model *model = parse(STONE("step: 0.01"), 1);
    ga_sim_def def = ga_sim_def_of(model);
    size_t before = 0;
    for (int k = 0; k < 10000; ++k) {
        ga_sim *sim = make(model, &def);
        assert_int_equal(ga_sim_step(sim, NULL), GA_OK);
        ga_sim_destroy(sim);
        if (k == 10) before = mallinfo2().uordblks;
    }
    assert_int_equal(mallinfo2().uordblks, before);
    ga_model_destroy(model);
}

/* The work of motions takes accelerations twice a step, but their matrix changes little. */
static void work_takes_few_factorizations(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double of_steps, drift;
    } driven[] = {{"rack_and_pinion", 0.05, 1e-10},
                  {"scotch_yoke", 0.3, 1e-7},
                  {"four_bar", 1.3, 2e-9},
                  {"stewart_platform", 1.2, 1e-7}};
    for (size_t k = 0; k < sizeof driven / sizeof *driven; ++k) {
        ga_model *model = read_example(driven[k].name, 0, NULL);
        ga_sim_def def = ga_sim_def_of(model);
        ga_sim *sim = make(model, &def);
        assert_int_equal(ga_sim_run(sim, NULL), GA_OK);
        const ga_sim_summary s = ga_sim_get_summary(sim);
        assert_true((double)s.statistics.factorizations <
                    driven[k].of_steps * (double)s.statistics.steps);
        assert_true(s.energy_drift_max < driven[k].drift);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_the_run),
        cmocka_unit_test(advance_is_output),
        cmocka_unit_test(held_inputs),
        cmocka_unit_test(linear_inputs),
        cmocka_unit_test(inputs_that_are_none),
        cmocka_unit_test(state_is_made_consistent),
        cmocka_unit_test(state_is_refused),
        cmocka_unit_test(nothing_is_left),
        cmocka_unit_test(work_takes_few_factorizations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
