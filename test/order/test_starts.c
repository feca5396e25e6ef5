/* What the start does to the multipliers in the first steps, where an error of the start is
 * amplified before it dies out, and what methods do in which it never dies out.
 *
 * In index 3 the consistent v_0 is not on the discrete solution; lambda suffers a first-order
 * error unless v_0 is perturbed, [ABC14] eq. (56), or B l^q vanishes at t_0: at x = 0 for the
 * pendulum, where it starts at rest for the chain, everywhere for the top on SE(3). In index 2
 * only a_0 matters, (57), and a perturbed v_0 does harm. */
#include "ladder.h"

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status pendulum_x0(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status top_r3so3(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }
static ga_status model(pb_problem **out) { return pb_pendulum_model_create(NULL, out); }
static ga_status chain(pb_problem **out) { return pb_chain_create(5, out); }

/* --- the first steps -----------------------------------------------------------------------
 */

/* rho .9 amplifies most, [ABC14] section 3: up to the 15th step. */
enum { TRANSIENT = 20, SOME = RHO_0 | RHO_5 | RHO_9 | HHT_3 };

typedef enum expectation { FIRST, SECOND, AT_LEAST_SECOND } expectation;

typedef struct transient_row {
    ga_status (*create)(pb_problem **out);
    ga_formulation formulation;
    unsigned methods;
    ga_map map;
    ga_start start;
    int first, levels; /* steps per unit of time in the coarsest run; how many runs */
    expectation lambda;
} transient_row;

static const transient_row transient_rows[] = {
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PLAIN, 64, 4, FIRST},
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_SHIFTED, 64, 4, FIRST},
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PERTURBED, 128, 4, SECOND},
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 128, 4, SECOND},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_PLAIN, 128, 4, FIRST},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_PERTURBED, 128, 4, FIRST},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_SHIFTED, 256, 4, SECOND},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_IMPLICIT, 256, 4, SECOND},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 256, 4, SECOND},
    {pendulum_x0, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PLAIN, 64, 4, SECOND},
    {pendulum_x0, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PERTURBED, 64, 4, SECOND},
    {top_r3so3, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 4096, 4, FIRST},
    {top_r3so3, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PERTURBED, 1024, 4, SECOND},
    {top_r3so3, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_PLAIN, 4096, 4, FIRST},
    {top_r3so3, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_PERTURBED, 1024, 4, SECOND},
    {top_r3so3, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_SHIFTED, 1024, 4, SECOND},
    {top_r3so3, GA_INDEX2, SOME, GA_MAP_CAYLEY, GA_START_SHIFTED, 2048, 4, SECOND},
    {top_r3so3, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_IMPLICIT, 2048, 4, SECOND},
    {top_se3, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 2048, 3, AT_LEAST_SECOND},
    {top_se3, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_PLAIN, 2048, 3, AT_LEAST_SECOND},
    {top_se3, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_PLAIN, 2048, 3, AT_LEAST_SECOND},
    {model, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 256, 4, FIRST},
    {model, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PERTURBED, 256, 4, SECOND},
    {model, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_SHIFTED, 256, 4, SECOND},
    {model, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_IMPLICIT, 256, 4, SECOND},
    {pb_rheonomic_create, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 128, 4, FIRST},
    {pb_rheonomic_create, GA_INDEX3, RHO_0, GA_MAP_EXP, GA_START_PERTURBED, 256, 4, SECOND},
    {pb_rheonomic_create, GA_INDEX3, SOME & ~RHO_0, GA_MAP_EXP, GA_START_PERTURBED, 256, 3,
     SECOND},
    {pb_rheonomic_create, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_SHIFTED, 256, 4, SECOND},
    {pb_rheonomic_body_create, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 256, 4, FIRST},
    {pb_rheonomic_body_create, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PERTURBED, 256, 3, SECOND},
    {pb_rheonomic_body_create, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_PLAIN, 256, 4, FIRST},
    {pb_rheonomic_body_create, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_PERTURBED, 256, 3,
     SECOND},
    {pb_rheonomic_body_create, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_SHIFTED, 256, 4, SECOND},
    {chain, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_PLAIN, 256, 4, SECOND},
};

static bool transient_holds(const pb_problem *problem, const transient_row *row,
                            unsigned method)
{
    static const ladder_range range[] = {{0.9, 1.1}, {1.9, 2.1}, {1.9, 3.1}};
    const ladder_row as = {
        row->create, row->formulation, row->methods, row->map, row->start, 0, 0, 0, 0};
    const ladder_range expected[KINDS] = {{0, 0}, {0, 0}, {0, 0}, range[row->lambda], {0, 0}};
    ladder_job job = {
        .system = &problem->system, .problem = problem, .def = ladder_definition(&as, method)};
    ladder l = {.levels = row->levels};
    ladder_entitle(&l, problem, &as, method, ", first steps");
    ladder_reference r = {0};
    for (int k = 0; k < l.levels; ++k) {
        double h = 1.0 / (row->first << k);
        ladder_reference_free(&r);
        r = ladder_reference_at(problem, h, TRANSIENT * h, TRANSIENT);
        job.reference = &r;
        job.t_end = TRANSIENT * h;
        job.h = l.h[k] = h;
        l.error[k] = ladder_run(&job);
    }
    bool holds = ladder_holds(&l, expected);
    bool above = ladder_above_floor(&l, job, expected);
    ladder_reference_free(&r);
    return holds && above;
}

static void test_first_steps(void **state)
{
    int failures = 0;
    (void)state;
    for (size_t k = 0; k < sizeof transient_rows / sizeof *transient_rows; ++k) {
        const transient_row *row = &transient_rows[k];
        pb_problem *problem = NULL;
        assert_int_equal(row->create(&problem), GA_OK);
        for (unsigned bit = 1; bit < 1u << METHODS; bit <<= 1)
            if (row->methods & bit && !transient_holds(problem, row, bit)) ++failures;
        pb_destroy(problem);
    }
    assert_int_equal(failures, 0);
}

/* --- no damping at infinity ------------------------------------------------------------------
 */

/* Index 3: q and v are of second order still, but the error of the start stays in lambda, and
 * grows with every step: no convergence at all. */
static void test_undamped_multipliers_do_not_converge(void **state)
{
    const ladder_range range[KINDS] = {
        second_order, second_order, {-0.1, 0.1}, {-0.1, 0.1}, {0, 0}};
    const ladder_row row = {pendulum, GA_INDEX3, UNDAMPED, GA_MAP_EXP, GA_START_PLAIN,
                            2,        128,       4,        0};
    pb_problem *problem = NULL;
    (void)state;
    assert_int_equal(pendulum(&problem), GA_OK);
    ladder_reference r = ladder_reference_at(problem, 1, 2, 65);
    for (unsigned bit = RHO_10; bit <= TRAPEZOIDAL; bit <<= 1) {
        ladder_job job = {.system = &problem->system,
                          .problem = problem,
                          .def = ladder_definition(&row, bit),
                          .t_end = row.t_end,
                          .reference = &r};
        ladder l = ladder_climb(job, &row, bit);
        assert_true(ladder_holds(&l, range));
    }
    ladder_reference_free(&r);
    pb_destroy(problem);
}

static int warnings_about_infinity(const pb_problem *problem, const ga_integrator_def *def)
{
    ga_integrator *run = NULL;
    const char *warning;
    int count = 0;
    assert_int_equal(ga_integrator_create(&problem->system, def, &run, NULL), GA_OK);
    for (int k = 0; (warning = ga_integrator_warning(run, k)); ++k)
        if (strstr(warning, "rho_inf = 1") && strstr(warning, "multipliers")) ++count;
    ga_integrator_destroy(run);
    return count;
}

static void test_undamped_methods_are_warned_about(void **state)
{
    pb_problem *constrained = NULL, *unconstrained = NULL;
    (void)state;
    assert_int_equal(pendulum(&constrained), GA_OK);
    assert_int_equal(pb_free_top_create(&unconstrained), GA_OK);
    for (unsigned bit = 1; bit < 1u << METHODS; bit <<= 1) {
        ga_integrator_def def = ga_integrator_def_default();
        def.coefficients = method_of(bit);
        def.formulation = GA_INDEX3;
        assert_int_equal(warnings_about_infinity(constrained, &def), bit & UNDAMPED ? 1 : 0);
        assert_int_equal(warnings_about_infinity(unconstrained, &def), 0);
    }
    pb_destroy(constrained);
    pb_destroy(unconstrained);
}

/* --- the ladder can fall --------------------------------------------------------------------
 */

/* gamma off by 0.05: first order, and seen as such. */
static void test_wrong_gamma_is_first_order(void **state)
{
    static const struct {
        ga_status (*create)(pb_problem **);
        ga_formulation formulation;
        double t_end;
        int steps;
    } rows[] = {
        {pb_free_top_create, GA_INDEX3, 2, 512}, {pendulum, GA_INDEX3, 2, 256},
        {pendulum, GA_INDEX2, 2, 256},           {pb_rheonomic_create, GA_INDEX2, 2, 256},
        {top_r3so3, GA_INDEX3, 0.125, 2048},     {top_r3so3, GA_INDEX2, 0.125, 2048},
    };
    const ladder_range range[KINDS] = {first_order, first_order, {0, 0}, {0, 0}, {0, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        pb_problem *problem = NULL;
        ga_integrator_def def = ga_integrator_def_default();
        ga_report report;
        ga_integrator *run = NULL;
        assert_int_equal(rows[k].create(&problem), GA_OK);
        def.formulation = rows[k].formulation;
        def.coefficients = method_of(RHO_5);
        def.coefficients.gamma += 0.05;
        assert_int_equal(ga_integrator_create(&problem->system, &def, &run, &report),
                         GA_ERR_METHOD);
        def.allow_first_order = true;
        ladder l = {.levels = 4};
        snprintf(l.title, sizeof l.title, "%s, index %d, wrong gamma", problem->name,
                 3 - (int)rows[k].formulation);
        ladder_reference r =
            ladder_reference_at(problem, rows[k].t_end / 2, rows[k].t_end, ORACLE_SAMPLES + 1);
        ladder_job job = {.system = &problem->system,
                          .problem = problem,
                          .def = def,
                          .t_end = rows[k].t_end,
                          .reference = &r};
        for (int i = 0; i < l.levels; ++i) {
            job.h = l.h[i] = rows[k].t_end / (rows[k].steps << i);
            l.error[i] = ladder_run(&job);
        }
        assert_true(ladder_holds(&l, range));
        ladder_reference_free(&r);
        pb_destroy(problem);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_steps),
        cmocka_unit_test(test_undamped_multipliers_do_not_converge),
        cmocka_unit_test(test_undamped_methods_are_warned_about),
        cmocka_unit_test(test_wrong_gamma_is_first_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
