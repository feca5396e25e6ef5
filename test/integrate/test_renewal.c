/* Gradients in the iteration matrix that are renewed only where they have changed: that it is
 * done where it pays, left alone where it does not, and that nothing comes out differently. */
#include "test/support/allocations.h"
#include "test/support/cases.h"
#include "test/support/unit.h"

#include <galpha/galpha.h>
#include <math.h>
#include <string.h>

/* A chain of rods along x, in the plane and with ball joints. Hung at its first or last body it
 * falls straight for the most part; hung at the first with all rods turning it does not. */
#define PLANAR(count, hook, at, motion)                                                        \
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\nrepeat:\n"                                  \
    "  - {count: " count ", index: i, bodies: {\"b{i}\": {mass: 1, inertia: 1/12, position: [" \
    "i + 0.5, 0]" motion "}}}\n"                                                               \
    "  - {count: " count " - 1, from: 1, index: i, joints: {\"j{i}\": {type: revolute,"        \
    " between: [\"b{i-1}\", \"b{i}\"], at: [i, 0]}}}\n"                                        \
    "joints: {support: {type: revolute, between: [ground, b" hook "], at: [" at ", 0]}}\n"     \
    "simulate: {t_end: 0.3, step: 1e-3}\n"
static const char at_the_first[] = PLANAR("300", "0", "0", "");
static const char at_the_last[] = PLANAR("300", "299", "300", "");
static const char in_the_middle[] = PLANAR("300", "150", "150.2", "");
static const char turning[] =
    PLANAR("300", "0", "0", ", velocity: [0, i + 0.5], angular_velocity: 1");
static const char balls[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - {count: 200, index: i, bodies: {\"b{i}\": {mass: 1, inertia: [0.01, 1/12, 1/12],"
    " position: [i + 0.5, 0, 0]}}}\n"
    "  - {count: 199, from: 1, index: i, joints: {\"j{i}\": {type: spherical,"
    " between: [\"b{i-1}\", \"b{i}\"], at: [i, 0, 0]}}}\n"
    "joints: {support: {type: spherical, between: [ground, b0], at: [0, 0, 0]}}\n"
    "simulate: {t_end: 0.3, step: 1e-3}\n";

enum { VALUES = 400 };

static ga_eval look_on(void *user, const ga_sim *sim)
{
    (void)user, (void)sim;
    return GA_EVAL_OK;
}

/* output: of every step, with multipliers from the acceleration level; or nobody looks. */
static ga_statistics run_with(const char *text, double newton, int threads,
                              ga_eval (*output)(void *, const ga_sim *), double *values)
{
    static const char *const channels[] = {"*.position"};
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report = {0};
    assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_OK);
    ga_sim_def def = ga_sim_def_of(model);
    def.integrator.formulation = GA_INDEX3;
    def.integrator.relative = newton;
    def.threads = threads;
    def.channels = channels;
    def.channel_count = 1;
    def.output = output;
    ga_status status = ga_sim_create(model, &def, &sim, NULL, &report);
    if (status == GA_OK) status = ga_sim_run(sim, &report);
    if (status != GA_OK) fail_msg("%s", report.message);
    assert_true(ga_sim_value_count(sim) >= VALUES);
    memcpy(values, ga_sim_values(sim), VALUES * sizeof *values);
    const ga_statistics work = ga_sim_get_summary(sim).statistics;
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return work;
}

static ga_statistics run(const char *text, double newton, int threads, double *values)
{
    return run_with(text, newton, threads, NULL, values);
}

static double distance_to(const double *x, const double *y)
{
    double most = 0;
    for (int i = 0; i < VALUES; ++i) most = fmax(most, fabs(x[i] - y[i]));
    return most;
}

/* Positions are up to 300 m. The method's own error is 1e-5 m; what Newton's method leaves
 * undone with 1e-5 of that size is to be far below it. Constraints are at round-off: 1e-12 is
 * 20 units of the largest position. */
static void test_straight_falls(void **state)
{
    (void)state;
    static const char *const texts[] = {at_the_first, at_the_last, in_the_middle, balls};
    static double exact[VALUES], x[VALUES];
    for (int k = 0; k < 4; ++k) {
        run(texts[k], 0, 1, exact);
        for (double newton = 1e-4; newton > 1e-7; newton /= 100) {
            const ga_statistics work = run(texts[k], newton, 1, x);
            const double distance = distance_to(x, exact), steps = (double)work.steps;
            if (!(distance <= 1e-7))
                fail_msg("chain %d, Newton to %g: %g m off", k, newton, distance);
            assert_true(work.position_residual_max <= 1e-12);
            if ((double)work.renewals < 0.8 * steps ||
                (double)work.factorizations > 0.1 * steps)
                fail_msg(
                    "chain %d, Newton to %g: %ld renewals, %ld factorisations in %ld steps", k,
                    newton, work.renewals, work.factorizations, work.steps);
            /* the second one shows that the first contracts */
            assert_true((double)work.iterations < 2.1 * steps);
        }
    }
}

/* Nothing can be left as it is: it is tried now and then. */
static void test_everything_turns(void **state)
{
    (void)state;
    static double exact[VALUES], x[VALUES];
    run(turning, 0, 1, exact);
    const ga_statistics work = run(turning, 1e-6, 1, x);
    assert_true(distance_to(x, exact) <= 1e-6);
    assert_true((double)work.renewals < 0.1 * (double)work.steps);
    assert_true(work.position_residual_max <= 1e-9);
}

static void test_threads_agree(void **state)
{
    (void)state;
    static const char large[] = PLANAR("5000", "0", "0", "");
    static double one[VALUES], two[VALUES];
    assert_true(run(large, 1e-5, 1, one).renewals > 100);
    run(large, 1e-5, 2, two);
    assert_memory_equal(one, two, sizeof one);
}

static ga_status create(const pb_problem *p, ga_integrator **out, ga_report *report)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = GA_INDEX3;
    def.relative = 1e-5;
    return ga_integrator_create(&p->system, &def, out, report);
}

/* Large systems, whose factors would otherwise lie in one place with those of accelerations. */
static void test_output_changes_nothing(void **state)
{
    (void)state;
    static const char large[] = PLANAR("1000", "0", "0", "");
    static double seen[VALUES], unseen[VALUES];
    const ga_statistics a = run_with(large, 1e-5, 1, look_on, seen);
    const ga_statistics b = run_with(large, 1e-5, 1, NULL, unseen);
    assert_true(a.renewals > 100);
    assert_true(a.renewals == b.renewals && a.iterations == b.iterations);
    assert_memory_equal(seen, unseen, sizeof seen);
}

/* Callbacks, too; no step allocates, and whichever allocation fails, it is said. */
static void test_memory(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    ga_integrator *g = NULL;
    ga_report report;
    assert_int_equal(pb_chain_create(150, &p), GA_OK);
    start_counting(0, false);
    ga_status status = create(p, &g, &report);
    stop_counting();
    const long total = watch.taken;
    assert_status(status, GA_OK, report);
    assert_status(ga_integrator_start(g, 0, p->q0, p->v0, 1e-3, &report), GA_OK, report);
    assert_status(ga_integrator_step(g, &report), GA_OK, report);
    start_counting(0, false);
    for (int n = 0; n < 200 && status == GA_OK; ++n) status = ga_integrator_step(g, &report);
    stop_counting();
    assert_status(status, GA_OK, report);
    assert_int_equal(watch.taken, 0);
    assert_true(ga_integrator_statistics(g).renewals > 150);
    ga_integrator_destroy(g);
    assert_true(total > 50 || !in_front());
    for (long k = 1; k <= total; ++k) {
        start_counting(k, false);
        status = create(p, &g, &report);
        stop_counting();
        if (status != GA_ERR_MEMORY) fail_msg("allocation %ld: %s", k, ga_status_name(status));
        assert_int_equal(watch.live, 0);
    }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_straight_falls), cmocka_unit_test(test_everything_turns),
        cmocka_unit_test(test_threads_agree),  cmocka_unit_test(test_output_changes_nothing),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
