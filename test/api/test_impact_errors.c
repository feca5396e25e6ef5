/* What impacts make of errors: against two motions that differ by little, and in warnings of
 * runs that strike a stop, graze it, or turn back before it. */
#include "test/support/unit.h"

#include "api/impact_errors.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void errors_of_a_run_without_impacts_are_one(void **state)
{
    (void)state;
    ga_impact_errors e;
    ga_impact_errors_begin(&e, 2);
    for (int k = 1; k <= 10; ++k) ga_impact_errors_fly(&e, 2 + 0.5 * k, 5);
    assert_true(fabs(e.most - (1)) <= 1e-14);
}

/* A gap under the acceleration a, from (x, r), after the impact with restitution e and the time
 * t. */
static void fall(double x, double r, double a, double e, double t, double end[2])
{
    const double hit = (-r - sqrt(r * r - 2 * a * x)) / a; /* a < 0 */
    const double rate = -e * (r + a * hit), left = t - hit;
    end[0] = rate * left + 0.5 * a * left * left;
    end[1] = rate + a * left;
}

/* The covariance of a single error is its square. Half a second before the impact and half a
 * second behind it, compared with difference quotients; noise of steps is negligible beside
 * errors of 1e6. */
static void an_impact_multiplies_errors_as_in_motions(void **state)
{
    (void)state;
    const double a = -2, restitution = 0.6, r0 = 0.3, x0 = -0.5 * r0 - 0.125 * a, d = 1e-6;
    const double start[2][2] = {{1, 0}, {0, 1}};
    for (int k = 0; k < 2; ++k) {
        const double dx = start[k][0], dr = start[k][1];
        double more[2], less[2];
        fall(x0 + d * dx, r0 + d * dr, a, restitution, 1, more);
        fall(x0 - d * dx, r0 - d * dr, a, restitution, 1, less);
        const double x = (more[0] - less[0]) / (2 * d), r = (more[1] - less[1]) / (2 * d);
        ga_impact_errors e = {.xx = 1e12 * dx * dx, .xr = 1e12 * dx * dr, .rr = 1e12 * dr * dr};
        ga_impact_errors_fly(&e, 0.5, 1);
        ga_impact_errors_strike(&e, r0 + 0.5 * a, a, restitution, 1);
        ga_impact_errors_fly(&e, 1, 1);
        assert_true(fabs(e.xx / 1e12 - (x * x)) <= 1e-7);
        assert_true(fabs(e.xr / 1e12 - (x * r)) <= 1e-7);
        assert_true(fabs(e.rr / 1e12 - (r * r)) <= 1e-7);
    }
}

static void errors_end_where_the_gap_comes_to_rest(void **state)
{
    (void)state;
    ga_impact_errors e = {.xx = 4, .xr = 1, .rr = 9};
    ga_impact_errors_strike(&e, -1, -1, 0, 1);
    assert_true(e.xx == 0 && e.xr == 0 && e.rr == 0);
}

/* A body thrown up at 3 m/s against a stop, which it would pass by so much. */
static void throw_up(double beyond, double restitution, const char *settings, bool *grazes,
                     bool *multiplies)
{
    char text[1000];
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    const double height = 9 / (2 * 9.81);
    snprintf(text, sizeof text,
             "galpha: 1\ngravity: [0, 0, -9.81]\n"
             "bodies: {b: {mass: 1, inertia: [1, 1, 1], velocity: [0, 0, 3]}}\n"
             "joints: {j: {type: prismatic, between: [ground, b], axis: [0, 0, 1],\n"
             "  limits: {max: %.17g, restitution: %g}}}\n"
             "simulate: {t_end: 0.6, %s}\n",
             height - beyond, restitution, settings);
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("case", text, strlen(text), NULL, &model, messages) != GA_OK)
        fail_msg("%s", ga_messages_get(messages, 0).text);
    ga_messages_destroy(messages);
    const ga_sim_def def = ga_sim_def_of(model);
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, NULL), GA_OK);
    assert_int_equal(ga_sim_run(sim, NULL), GA_OK);
    *grazes = *multiplies = false;
    ga_warning warning;
    for (int k = 0; (warning = ga_sim_get_warning(sim, k)).code; ++k) {
        *grazes |= strcmp(warning.code, "grazing") == 0;
        *multiplies |= strcmp(warning.code, "sensitive-impacts") == 0;
    }
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void grazing_a_stop_is_told(void **state)
{
    (void)state;
    static const struct {
        double beyond, restitution;
        const char *settings;
        bool grazes, multiplies;
    } runs[] = {
        {-1e-7, 0.5, "tolerance: 1e-6", true, false},
        {-1e-7, 0.5, "tolerance: 1e-6, method: explicit", true, false},
        {-1e-7, 0.5, "tolerance: 1e-6, method: radau", true, false},
        {-1e-3, 0.5, "tolerance: 1e-6", false, false},
        {-1e-3, 0.5, "tolerance: 1e-3", true, false},
        {-1e-6, 0.5, "step: 1e-3", true, false},
        {-1e-2, 0.5, "step: 1e-3", false, false},
        {1e-7, 0.5, "tolerance: 1e-6", false, true},
        {1e-7, 0.5, "tolerance: 1e-6, method: explicit", false, true},
        {1e-7, 0.5, "step: 1e-3", false, true},
        {0.2, 0.5, "tolerance: 1e-6", false, false},
        {0.2, 0.5, "step: 1e-3", false, false},
        {1e-7, 0, "tolerance: 1e-6", true, false},
        {1e-7, 0, "tolerance: 1e-6, method: explicit", true, false},
        {1e-7, 0, "tolerance: 1e-6, formulation: index3", true, false},
        {1e-7, 0, "step: 1e-3", true, false},
        {1e-3, 0, "tolerance: 1e-6", false, false},
        {0.2, 0, "tolerance: 1e-6", false, false},
        {0.2, 0, "step: 1e-3", false, false},
    };
    for (size_t k = 0; k < sizeof runs / sizeof *runs; ++k) {
        bool grazes, multiplies;
        throw_up(runs[k].beyond, runs[k].restitution, runs[k].settings, &grazes, &multiplies);
        if (grazes != runs[k].grazes || multiplies != runs[k].multiplies)
            fail_msg("%g beyond, %s: grazes %d, multiplies %d", runs[k].beyond,
                     runs[k].settings, grazes, multiplies);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_of_a_run_without_impacts_are_one),
        cmocka_unit_test(an_impact_multiplies_errors_as_in_motions),
        cmocka_unit_test(errors_end_where_the_gap_comes_to_rest),
        cmocka_unit_test(grazing_a_stop_is_told),
    };
    return cmocka_run_group_tests_name("impact_errors", tests, NULL, NULL);
}
