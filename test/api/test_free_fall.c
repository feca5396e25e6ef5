/* A chain of hinges in free fall: nothing turns and no joint has a reaction, so rotations and
 * multipliers are nothing but round-off, which Newton's method must not try to resolve. */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char chain[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1, 1, 1], position: [i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"], at: [i+1, 0, 0],"
    " axis: [0, 1, 0]}}\n"
    "simulate: {t_end: 0.1, step: 1e-3, formulation: %s}\n"
    "output: {channels: [b1.position, b1.angular_velocity]}\n";

static void fall(int bodies, const char *formulation)
{
    char text[1000];
    snprintf(text, sizeof text, chain, bodies, bodies - 1, formulation);
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    ga_sim_def def = ga_sim_def_of(model);
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    if (ga_sim_run(sim, &report)) fail_msg("%s", report.message);

    /* one increment solves a linear problem, one or two more show that the rest is round-off */
    const ga_statistics s = ga_sim_get_summary(sim).statistics;
    if (s.iterations > 3 * s.steps)
        fail_msg("%d bodies, %s: %ld iterations in %ld steps", bodies, formulation,
                 (long)s.iterations, (long)s.steps);
    const double *x = ga_sim_values(sim);
    assert_true(fabs(x[2] + 0.5 * 9.81 * 0.1 * 0.1) <= 1e-14);
    for (int k = 0; k < 3; ++k) assert_true(fabs(x[3 + k]) <= 1e-13);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void test_no_digits_of_round_off(void **state)
{
    (void)state;
    static const char *const formulations[] = {"index2", "index3", "soi2", "hht-i3"};
    static const int bodies[] = {2, 5, 30, 200};
    for (int f = 0; f < 4; ++f)
        for (int k = 0; k < 4; ++k) fall(bodies[k], formulations[f]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_digits_of_round_off)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
