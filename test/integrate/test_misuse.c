/* Definitions nobody should write: each gives a status and a sentence, none a crash, a hang or
 * a leak. */
#include "test/support/cases.h"

#include <limits.h>
#include <time.h>

/* --- one wrong field at a time ---------------------------------------------------------------
 */

static pb_problem *problem;

static int set_up(void **state)
{
    (void)state;
    problem = case_create(CASE_PENDULUM_SIDE);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    pb_destroy(problem);
    return 0;
}

static void refused(const ga_integrator_def *def, ga_status expected, const char *word)
{
    ga_report report;
    ga_integrator *run = (ga_integrator *)&report; /* must come back null */
    memset(&report, 0x55, sizeof report);
    assert_status(ga_integrator_create(&problem->system, def, &run, &report), expected, report);
    assert_null(run);
    assert_int_equal(report.status, expected);
    assert_message(report, word);
    assert_true(strlen(report.message) > 15);
    run = (ga_integrator *)&report;
    assert_int_equal(ga_integrator_create(&problem->system, def, &run, NULL), expected);
    assert_null(run);
}

/* Accepted, and it can do what it says: ten steps near the exact solution. */
static void accepted(const ga_integrator_def *def)
{
    ga_integrator *run = NULL;
    ga_report report;
    double q[2];
    assert_status(ga_integrator_create(&problem->system, def, &run, &report), GA_OK, report);
    assert_status(ga_integrator_start(run, 0, problem->q0, problem->v0, 0.01, &report), GA_OK,
                  report);
    for (int n = 0; n < 10; ++n) assert_status(ga_integrator_step(run, &report), GA_OK, report);
    problem->exact(problem, 0.1, q, NULL, NULL, NULL);
    assert_below(distance_of(q, ga_integrator_q(run), 2), 1e-2, "pendulum");
    ga_integrator_destroy(run);
}

static void test_default_is_valid(void **state)
{
    (void)state;
    ga_integrator_def def = ga_integrator_def_default();
    accepted(&def);
    assert_int_equal(def.formulation, GA_INDEX2);
    assert_int_equal(def.map, GA_MAP_EXP);
    assert_true(ga_coefficients_describe(&def.coefficients).second_order);
    assert_below(fabs(ga_coefficients_describe(&def.coefficients).rho_infinity - 0.9), 1e-7,
                 "rho_inf");
    def.formulation = GA_INDEX3;
    accepted(&def);
}

static void test_numbers_of_the_method(void **state)
{
    (void)state;
    const ga_integrator_def good = ga_integrator_def_default();
    const double nothing[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 4; ++i) {
            ga_integrator_def def = good;
            double *field[4] = {&def.coefficients.alpha_m, &def.coefficients.alpha_f,
                                &def.coefficients.beta, &def.coefficients.gamma};
            *field[i] = nothing[k];
            def.allow_first_order = true;
            refused(&def, GA_ERR_METHOD, "not finite");
        }
    ga_integrator_def def = good;
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(0, 0, 0, 0.5); /* central differences */
    refused(&def, GA_ERR_METHOD, "beta");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(0, 0, -0.25, 0.5);
    refused(&def, GA_ERR_METHOD, "beta");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(0, 0, 0.25, 0);
    def.allow_first_order = true;
    refused(&def, GA_ERR_METHOD, "gamma");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(1, 0.5, 0.25, 0.5);
    refused(&def, GA_ERR_METHOD, "alpha_m");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(0.2, 1, 0.5, 1.3);
    refused(&def, GA_ERR_METHOD, "alpha_f");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(
        0.6, 0.7, 0.5, 0.6); /* second order, but not zero-stable */
    refused(&def, GA_ERR_METHOD, "zero-stable");
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(0.5 + 1e-6, 0.5 + 1e-6, 0.25, 0.5);
    refused(&def, GA_ERR_METHOD, "alpha_m");
}

static void test_order_condition(void **state)
{
    (void)state;
    ga_integrator_def def = ga_integrator_def_default();
    def.coefficients.gamma += 1e-3;
    refused(&def, GA_ERR_METHOD, "order condition");
    refused(&def, GA_ERR_METHOD, "allow_first_order");
    def.allow_first_order = true;
    accepted(&def);
    ga_integrator *run = NULL;
    assert_int_equal(ga_integrator_create(&problem->system, &def, &run, NULL), GA_OK);
    assert_non_null(ga_integrator_warning(run, 0));
    assert_non_null(strstr(ga_integrator_warning(run, 0), "first-order"));
    ga_integrator_destroy(run);

    def = ga_integrator_def_default();
    assert_int_equal(ga_coefficients_newmark(0.3025, 0.6, &def.coefficients, NULL), GA_OK);
    refused(&def, GA_ERR_METHOD, "0.6");
    def.allow_first_order = true;
    accepted(&def);
}

/* rho_inf outside [0, 1] is refused where it is given; the four numbers of the family continued
 * beyond are refused by create if they are not stable enough. */
static void test_rho_inf_outside(void **state)
{
    (void)state;
    ga_integrator_def def = ga_integrator_def_default();
    const double rhos[] = {-0.1, 1.1, NAN, INFINITY};
    for (int k = 0; k < 4; ++k)
        assert_int_equal(ga_coefficients_generalized_alpha(rhos[k], &def.coefficients, NULL),
                         GA_ERR_METHOD);
    accepted(&def); /* the method is still the default one */
    const double rho = 1.1, am = (2 * rho - 1) / (rho + 1), af = rho / (rho + 1);
    def.coefficients = (ga_coefficients)GA_COEFFICIENTS(
        am, af, 0.25 * (1 - am + af) * (1 - am + af), 0.5 - am + af);
    refused(&def, GA_ERR_METHOD, "zero-stable");
}

typedef struct choice {
    const char *name;
    size_t offset;
    int count;
} choice;

static const choice choices[] = {
    {"formulation", offsetof(ga_integrator_def, formulation), GA_FORMULATION_COUNT},
    {"map", offsetof(ga_integrator_def, map), GA_MAP_CAYLEY + 1},
    {"start", offsetof(ga_integrator_def, start), GA_START_IMPLICIT + 1},
    {"start_difference", offsetof(ga_integrator_def, start_difference),
     GA_DIFFERENCE_FORWARD + 1},
    {"scaling", offsetof(ga_integrator_def, scaling), GA_SCALING_DYMORE + 1},
    {"newton", offsetof(ga_integrator_def, newton), GA_NEWTON_FULL + 1},
    {"solver", offsetof(ga_integrator_def, solver), GA_SOLVER_BLOCK + 1},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static void test_choices(void **state)
{
    (void)state;
    for (int k = 0; k < CHOICES; ++k) {
        const int bad[] = {-1, choices[k].count, 1000, INT_MAX, INT_MIN};
        for (int i = 0; i < 5; ++i) {
            ga_integrator_def def = ga_integrator_def_default();
            char value[32];
            memcpy((char *)&def + choices[k].offset, &bad[i], sizeof(int));
            refused(&def, GA_ERR_ARGUMENT, choices[k].name);
            snprintf(value, sizeof value, "%d", bad[i]);
            refused(&def, GA_ERR_ARGUMENT, value);
        }
        for (int i = 0; i < choices[k].count; ++i) {
            ga_integrator_def def = ga_integrator_def_default();
            memcpy((char *)&def + choices[k].offset, &i, sizeof(int));
            accepted(&def);
        }
    }
}

typedef struct number {
    const char *name;
    size_t offset;
} number;

static const number numbers[] = {
    {"max_projection", offsetof(ga_integrator_def, max_projection)},
    {"relative", offsetof(ga_integrator_def, relative)},
    {"absolute_q", offsetof(ga_integrator_def, absolute_q)},
    {"absolute_v", offsetof(ga_integrator_def, absolute_v)},
    {"absolute_lambda", offsetof(ga_integrator_def, absolute_lambda)},
    {"penalty", offsetof(ga_integrator_def, penalty)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void test_negative_numbers(void **state)
{
    (void)state;
    const double bad[] = {-1e-300, -2, NAN, -INFINITY, -1e308};
    for (int k = 0; k < NUMBERS; ++k)
        for (int i = 0; i < 5; ++i) {
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = GA_INDEX3;
            memcpy((char *)&def + numbers[k].offset, &bad[i], sizeof(double));
            refused(&def, GA_ERR_ARGUMENT, numbers[k].name);
        }
}

/* A tolerance that accepts everything would accept what did not converge. */
static void test_tolerances_that_accept_anything(void **state)
{
    (void)state;
    for (int k = 1; k < 5; ++k) {
        ga_integrator_def def = ga_integrator_def_default();
        const double infinite = INFINITY;
        memcpy((char *)&def + numbers[k].offset, &infinite, sizeof(double));
        refused(&def, GA_ERR_ARGUMENT, numbers[k].name);
    }
}

static void test_counts(void **state)
{
    (void)state;
    const int iterations[] = {0, -1, INT_MIN};
    for (int k = 0; k < 3; ++k) {
        ga_integrator_def def = ga_integrator_def_default();
        def.max_iterations = iterations[k];
        refused(&def, GA_ERR_ARGUMENT, "max_iterations");
    }
    const int halvings[] = {-1, INT_MIN, 51, INT_MAX};
    for (int k = 0; k < 4; ++k) {
        ga_integrator_def def = ga_integrator_def_default();
        def.max_halvings = halvings[k];
        refused(&def, GA_ERR_ARGUMENT, "max_halvings");
    }
    ga_integrator_def def = ga_integrator_def_default();
    def.max_iterations = INT_MAX;
    def.max_halvings = 50;
    accepted(&def);
}

static void test_penalty(void **state)
{
    (void)state;
    ga_integrator_def def = ga_integrator_def_default();
    const double penalties[] = {1, GA_PENALTY_AUTO, 1e-6, 1e6};
    for (int k = 0; k < 4; ++k) {
        def.formulation = GA_INDEX2;
        def.penalty = penalties[k];
        refused(&def, GA_ERR_ARGUMENT, "index2");
        def.formulation = GA_INDEX3;
        accepted(&def);
    }
    def.penalty = INFINITY;
    refused(&def, GA_ERR_ARGUMENT, "penalty");
    def.penalty = -0.5;
    refused(&def, GA_ERR_ARGUMENT, "penalty");
    def.formulation = GA_INDEX2;
    def.penalty = 0;
    accepted(&def);
    def.penalty = -0.0;
    accepted(&def);
}

/* --- the sweep
 * --------------------------------------------------------------------------------- */

/* Whatever the definition: create, start, a few steps, a run. Any of them may refuse, with a
 * status, a sentence and finite numbers in a state that was accepted. */
static void survive(const ga_system *system, const pb_problem *p, const ga_integrator_def *def,
                    double t0, double h, const char *what)
{
    ga_integrator *run = NULL;
    ga_report report;
    const clock_t begin = clock();
    memset(&report, 0x55, sizeof report);
    ga_status status = ga_integrator_create(system, def, &run, &report);
    assert_true((status == GA_OK) == (run != NULL));
    if (status == GA_OK) {
        memset(&report, 0x55, sizeof report);
        status = ga_integrator_start(run, t0, p->q0, p->v0, h, &report);
    }
    for (int n = 0; n < 3 && status == GA_OK; ++n) {
        memset(&report, 0x55, sizeof report);
        const double before = ga_integrator_time(run);
        status = ga_integrator_step(run, &report);
        if (status != GA_OK) break;
        assert_true(ga_integrator_time(run) > before);
        for (int i = 0; i < ga_system_nq(system); ++i)
            if (!isfinite(ga_integrator_q(run)[i]))
                fail_msg("%s: %s, q[%d] = %g was accepted", p->name, what, i,
                         ga_integrator_q(run)[i]);
        for (int i = 0; i < ga_system_nv(system); ++i)
            if (!isfinite(ga_integrator_v(run)[i] + ga_integrator_vd(run)[i] +
                          ga_integrator_a(run)[i]))
                fail_msg("%s: %s, v[%d] is not finite and was accepted", p->name, what, i);
        for (int i = 0; i < system->constraint_count; ++i)
            if (!isfinite(ga_integrator_lambda(run)[i] + ga_integrator_eta(run)[i]))
                fail_msg("%s: %s, lambda[%d] is not finite and was accepted", p->name, what, i);
    }
    if (status != GA_OK) {
        assert_int_equal(report.status, status);
        assert_in_range(strlen(report.message), 10, GA_MESSAGE_SIZE - 1);
    }
    ga_integrator_destroy(run);
    const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (seconds > 5) fail_msg("%s: %s took %g s", p->name, what, seconds);
}

static const double values[] = {NAN,    INFINITY, -INFINITY,       -1,
                                0,      1e308,    (double)INT_MAX, (double)INT_MIN,
                                1e-308, -1e308,   1e-17,           0.5};
enum { VALUES = sizeof values / sizeof *values };
static const int whole[] = {-1, 0, 1, INT_MAX, INT_MIN, 50};

static void sweep(case_name name)
{
    pb_problem *p = case_create(name);
    const double h = case_step(name);
    static const number doubles[] = {
        {"alpha_m", offsetof(ga_integrator_def, coefficients.alpha_m)},
        {"alpha_f", offsetof(ga_integrator_def, coefficients.alpha_f)},
        {"beta", offsetof(ga_integrator_def, coefficients.beta)},
        {"gamma", offsetof(ga_integrator_def, coefficients.gamma)},
        {"max_projection", offsetof(ga_integrator_def, max_projection)},
        {"penalty", offsetof(ga_integrator_def, penalty)},
        {"relative", offsetof(ga_integrator_def, relative)},
        {"absolute_q", offsetof(ga_integrator_def, absolute_q)},
        {"absolute_v", offsetof(ga_integrator_def, absolute_v)},
        {"absolute_lambda", offsetof(ga_integrator_def, absolute_lambda)},
    };
    static const number ints[] = {
        {"formulation", offsetof(ga_integrator_def, formulation)},
        {"map", offsetof(ga_integrator_def, map)},
        {"start", offsetof(ga_integrator_def, start)},
        {"start_difference", offsetof(ga_integrator_def, start_difference)},
        {"scaling", offsetof(ga_integrator_def, scaling)},
        {"newton", offsetof(ga_integrator_def, newton)},
        {"solver", offsetof(ga_integrator_def, solver)},
        {"max_iterations", offsetof(ga_integrator_def, max_iterations)},
        {"max_halvings", offsetof(ga_integrator_def, max_halvings)},
    };
    char what[80];
    for (int form = 0; form < 2; ++form)
        for (int allow = 0; allow < 2; ++allow) {
            ga_integrator_def good = ga_integrator_def_default();
            good.formulation = (ga_formulation)form;
            good.allow_first_order = allow;
            for (size_t k = 0; k < sizeof doubles / sizeof *doubles; ++k)
                for (int i = 0; i < VALUES; ++i) {
                    ga_integrator_def def = good;
                    memcpy((char *)&def + doubles[k].offset, &values[i], sizeof(double));
                    snprintf(what, sizeof what, "index %d, %s = %g", 3 - form, doubles[k].name,
                             values[i]);
                    survive(&p->system, p, &def, p->t0, h, what);
                }
            for (size_t k = 0; k < sizeof ints / sizeof *ints; ++k)
                for (size_t i = 0; i < sizeof whole / sizeof *whole; ++i) {
                    ga_integrator_def def = good;
                    memcpy((char *)&def + ints[k].offset, &whole[i], sizeof(int));
                    snprintf(what, sizeof what, "index %d, %s = %d", 3 - form, ints[k].name,
                             whole[i]);
                    survive(&p->system, p, &def, p->t0, h, what);
                }
            for (int i = 0; i < VALUES; ++i) {
                snprintf(what, sizeof what, "index %d, h = %g", 3 - form, values[i]);
                survive(&p->system, p, &good, p->t0, values[i], what);
                snprintf(what, sizeof what, "index %d, t0 = %g", 3 - form, values[i]);
                survive(&p->system, p, &good, values[i], h, what);
            }
        }
    pb_destroy(p);
}

static void test_sweep_pendulum(void **state)
{
    (void)state;
    sweep(CASE_PENDULUM_SIDE);
}
static void test_sweep_top(void **state)
{
    (void)state;
    sweep(CASE_TOP_R3SO3);
    sweep(CASE_TOP_SE3);
}
static void test_sweep_rheonomic_body(void **state)
{
    (void)state;
    sweep(CASE_RHEONOMIC_BODY);
}
static void test_sweep_friction(void **state)
{
    (void)state;
    sweep(CASE_REACTIONS_IN_FORCE);
}
static void test_sweep_unconstrained(void **state)
{
    (void)state;
    sweep(CASE_OSCILLATOR);
    sweep(CASE_FREE_TOP);
}
static void test_sweep_chain(void **state)
{
    (void)state;
    sweep(CASE_CHAIN);
    sweep(CASE_SLIDER_CRANK);
}

/* Steps of every size on every problem: from far below round-off to absurd. */
static void test_steps_of_every_size(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        for (int form = 0; form < 2; ++form) {
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = (ga_formulation)form;
            for (int exponent = -320; exponent <= 308; exponent += exponent < -20 ? 25
                                                                   : exponent > 8 ? 20
                                                                                  : 1) {
                char what[40];
                snprintf(what, sizeof what, "index %d, h = 1e%d", 3 - form, exponent);
                survive(&p->system, p, &def, p->t0, pow(10, exponent), what);
            }
        }
        pb_destroy(p);
    }
}

/* Start values of every size: refused, projected or integrated, never taken for what they are
 * not. */
static void test_start_values_of_every_size(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_TOP_R3SO3);
    const double sizes[] = {0, 1e-300, 1e-8, 1e8, 1e150, 1e300, -1e300};
    for (int form = 0; form < 2; ++form)
        for (int k = 0; k < 7; ++k)
            for (int i = 0; i < 13; ++i) {
                double q0[7], v0[6];
                memcpy(q0, p->q0, sizeof q0);
                memcpy(v0, p->v0, sizeof v0);
                *(i < 7 ? &q0[i] : &v0[i - 7]) = sizes[k];
                pb_problem other = *p;
                other.q0 = q0;
                other.v0 = v0;
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                char what[60];
                snprintf(what, sizeof what, "index %d, start value %d = %g", 3 - form, i,
                         sizes[k]);
                survive(&p->system, &other, &def, 0, 1e-3, what);
            }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_default_is_valid),
        cmocka_unit_test(test_numbers_of_the_method),
        cmocka_unit_test(test_order_condition),
        cmocka_unit_test(test_rho_inf_outside),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_negative_numbers),
        cmocka_unit_test(test_tolerances_that_accept_anything),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_penalty),
        cmocka_unit_test(test_sweep_pendulum),
        cmocka_unit_test(test_sweep_top),
        cmocka_unit_test(test_sweep_rheonomic_body),
        cmocka_unit_test(test_sweep_friction),
        cmocka_unit_test(test_sweep_unconstrained),
        cmocka_unit_test(test_sweep_chain),
        cmocka_unit_test(test_steps_of_every_size),
        cmocka_unit_test(test_start_values_of_every_size),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
