/* GA_ERROR_AUTO: second or third order, whichever allows larger steps. The error follows the
 * tolerance as it does with steps of second order, of which there would be many more; where
 * nothing is smooth steps are of second order; redundant constraints make no difference. With
 * an argument on the command line the numbers are printed. */
#include "test/integrate/accuracy.h"
#include "test/support/probe.h"

static bool print_all;

enum { PROBLEMS = 5 };

static pb_problem *create(int k)
{
    static const case_name names[] = {CASE_PENDULUM, CASE_TOP_R3SO3, CASE_ANDREWS_RELATIVE,
                                      CASE_SLIDER_CRANK};
    pb_problem *p = NULL;
    if (k < PROBLEMS - 1) return case_create(names[k]);
    assert_int_equal(pb_rolling_disc_create(0, &p), GA_OK);
    return p;
}

static ga_integrator *with_damping(const ga_system *system, double rho)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_coefficients_generalized_alpha(rho, &def.coefficients, &report), GA_OK,
                  report);
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    return run;
}

static accuracy run_with(const pb_problem *p, ga_integrator *run, ga_error_mode mode,
                         double tolerance)
{
    ga_simulation s = simulation(p, tolerance);
    s.control.mode = mode;
    const accuracy a = run_problem(p, run, &s);
    if (print_all)
        printf("%s, mode %d, %.0e: error/tolerance %.3f, %ld + %ld steps, %ld of third order, "
               "%.1e %.1e\n",
               p->name, (int)mode, tolerance, a.worst, a.steps.accepted, a.steps.rejected,
               a.steps.third_order, a.work.position_residual_max, a.work.velocity_residual_max);
    return a;
}

/* Errors fall with the tolerance, and stay below it: three times the change of the estimate is
 * what is left of them (they were 0.01 to 0.7 of it; 2 leaves room for other machines). Steps
 * of third order: a thousandth of the error takes ten times the steps, not 32. */
static void errors_follow_the_tolerance(void **state)
{
    (void)state;
    static const double damping[] = {0.9, 0.5};
    for (int k = 0; k < PROBLEMS; ++k)
        for (int d = 0; d < 2; ++d) {
            pb_problem *p = create(k);
            ga_integrator *run = with_damping(&p->system, damping[d]);
            double x[5], y[5];
            long steps[5];
            for (int i = 0; i < 5; ++i) {
                const double tolerance = pow(10, -2 - i);
                const accuracy a = run_with(p, run, GA_ERROR_AUTO, tolerance);
                x[i] = log(tolerance);
                y[i] = log(a.worst * tolerance);
                steps[i] = a.steps.accepted;
                assert_below(a.worst, 2, p->name);
                assert_below((double)a.steps.rejected, 0.3 * (double)steps[i] + 5, p->name);
                if (i == 4)
                    assert_below(0.9 * (double)steps[i], (double)a.steps.third_order, p->name);
            }
            assert_below(0.85, slope_of(x, y, 5), p->name);
            const double growth = (double)steps[4] / (double)steps[1];
            if (print_all) printf("  slope %.3f, steps %.2f\n", slope_of(x, y, 5), growth);
            assert_below(growth, 14, p->name);
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
}

/* A quarter of the steps of second order, or less, for the same tolerance. Phi and w are at
 * round-off, of sizes up to 1 m and speeds up to 7000 rad/s. */
static void steps_are_fewer(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        ga_integrator *run = with_damping(&p->system, 0.9);
        const accuracy second = run_with(p, run, GA_ERROR_FULL, 1e-6);
        const accuracy third = run_with(p, run, GA_ERROR_AUTO, 1e-6);
        assert_true(second.steps.third_order == 0);
        assert_below(4 * (double)third.steps.accepted, (double)second.steps.accepted, p->name);
        assert_below(third.work.position_residual_max, 1e-13, p->name);
        assert_below(third.work.velocity_residual_max, 1e-10, p->name);
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

/* Formulations without the stabilising multiplier have steps of second order, bit for bit. */
static void other_formulations(void **state)
{
    (void)state;
    static const ga_formulation forms[] = {GA_INDEX3, GA_SOI2};
    for (int f = 0; f < 2; ++f) {
        pb_problem *p = create(0);
        double q[2][2];
        for (int k = 0; k < 2; ++k) {
            ga_integrator *run = integrator(&p->system, forms[f]);
            const accuracy a = run_with(p, run, k ? GA_ERROR_AUTO : GA_ERROR_FULL, 1e-4);
            assert_true(a.steps.third_order == 0);
            memcpy(q[k], ga_integrator_q(run), sizeof q[k]);
            ga_integrator_destroy(run);
        }
        assert_memory_equal(q[0], q[1], sizeof q[0]);
        pb_destroy(p);
    }
}

/* --- redundant constraints ---------------------------------------------------------------- */

static ga_control_statistics run_four_bar(bool redundant, double tolerance, double *q)
{
    pb_problem *p = NULL;
    ga_report report;
    assert_int_equal(pb_spatial_four_bar_create(false, redundant, &p), GA_OK);
    ga_integrator *run = with_damping(&p->system, 0.9);
    ga_simulation s = simulation(p, tolerance);
    s.control.mode = GA_ERROR_AUTO;
    s.t_end = 3;
    assert_status(ga_integrator_simulate(run, 0, p->q0, p->v0, &s, &report), GA_OK, report);
    /* steps of second order end where increments are 1e-11 of the sizes, here up to 2.2 m */
    assert_below(ga_integrator_statistics(run).position_residual_max, 2.2e-11, p->name);
    memcpy(q, ga_integrator_q(run), (size_t)ga_system_nq(&p->system) * sizeof *q);
    const ga_control_statistics steps = ga_integrator_control_statistics(run);
    if (print_all)
        printf("%s, %.0e: %ld + %ld steps, %ld of third order\n", p->name, tolerance,
               steps.accepted, steps.rejected, steps.third_order);
    ga_integrator_destroy(run);
    pb_destroy(p);
    return steps;
}

/* A four-bar with redundant hinges takes the steps of its twin without. Loose tolerances are
 * the hard ones: farther off the constraints dependent rows are less dependent. */
static void redundant_constraints(void **state)
{
    (void)state;
    static const double tolerances[] = {1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6};
    for (int t = 0; t < 6; ++t) {
        double q[2][MAX_NQ] = {{0}};
        const ga_control_statistics one = run_four_bar(false, tolerances[t], q[0]),
                                    two = run_four_bar(true, tolerances[t], q[1]);
        assert_below((double)(two.accepted + two.rejected),
                     1.05 * (double)(one.accepted + one.rejected) + 5, "steps");
        assert_below(0.8 * (double)one.third_order - 5, (double)two.third_order, "third order");
        for (int i = 0; i < 21; ++i)
            assert_below(fabs(q[0][i] - q[1][i]), 2 * tolerances[t], "q");
    }
}

/* --- changes of the step ------------------------------------------------------------------ */

/* v' = t^2/2: v''' is constant, and what the defect of v does from step to step is C_n alone.
 * With velocities only to care for nothing is left of the error, and steps may grow by two in
 * each, whatever the damping; if C_n were wrong by a hundredth, that would be as much as the
 * tolerance allows. */
static ga_eval unit_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = 1;
    return GA_EVAL_OK;
}

static ga_eval parabola(void *user, const ga_point *at, double *f)
{
    (void)user;
    f[0] = 0.5 * at->t * at->t;
    return GA_EVAL_OK;
}

static void factors_of_changing_steps(void **state)
{
    (void)state;
    static const ga_node node = GA_NODE(GA_GROUP_RN, 1);
    static const double damping[] = {0, 0.3, 0.9};
    for (int d = 0; d < 3; ++d) {
        const ga_system system = {.struct_size = sizeof(ga_system),
                                  .node_count = 1,
                                  .nodes = &node,
                                  .mass = unit_mass,
                                  .force = parabola};
        ga_integrator *run = with_damping(&system, damping[d]);
        const double q0 = 0, v0 = 1;
        ga_report report;
        ga_simulation s = ga_simulation_default();
        s.t_end = 1;
        s.control.mode = GA_ERROR_AUTO;
        s.control.relative = 1e-9;
        s.control.absolute_translation = 1e3;
        assert_status(ga_integrator_simulate(run, 0, &q0, &v0, &s, &report), GA_OK, report);
        const ga_control_statistics c = ga_integrator_control_statistics(run);
        if (print_all)
            printf("parabola, rho %.1f: %ld + %ld steps, %ld of third order, error %.2e\n",
                   damping[d], c.accepted, c.rejected, c.third_order,
                   ga_integrator_v(run)[0] - 7.0 / 6);
        assert_true(c.rejected == 0 && c.accepted < 40);
        assert_below(fabs(ga_integrator_v(run)[0] - 7.0 / 6), 1e-9, "parabola");
        ga_integrator_destroy(run);
    }
}

/* --- what is not smooth ------------------------------------------------------------------- */

/* A force jumps: found or announced, it is passed with one restart, and the error is that of a
 * smooth run. */
static void jumps(void **state)
{
    (void)state;
    const double at = 1.2345;
    for (int announced = 0; announced < 2; ++announced) {
        pb_problem *p = NULL;
        assert_int_equal(pb_jump_create(at, &p), GA_OK);
        ga_integrator *run = integrator(&p->system, GA_INDEX2);
        for (int digits = 2; digits <= 6; ++digits) {
            ga_simulation s = simulation(p, pow(10, -digits));
            s.control.mode = GA_ERROR_AUTO;
            s.breakpoint_count = announced;
            s.breakpoints = &at;
            const accuracy a = run_problem(p, run, &s);
            if (print_all)
                printf("jump, %d, 1e-%d: error/tolerance %.3f, %ld + %ld steps, %ld of third "
                       "order, %ld restarts\n",
                       announced, digits, a.worst, a.steps.accepted, a.steps.rejected,
                       a.steps.third_order, a.steps.restarts);
            assert_below(a.worst, 10, p->name);
            assert_true(a.steps.restarts == 1);
            assert_true(a.steps.third_order > 0);
        }
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

/* A spring of frequency w with little to do, on a mass that also swings slowly: x'' = -w^2 (x -
 * cos t) - 2 d w (x' + sin t) - cos t. Started on x = cos t, there is nothing in the fast mode;
 * started off it, there is. Third order must neither excite the mode nor cost more than the
 * second does where it has to be followed. */
typedef struct stiff {
    double w, d;
} stiff;

static ga_eval stiff_force(void *user, const ga_point *at, double *f)
{
    const stiff *p = user;
    f[0] = -p->w * p->w * (at->q[0] - cos(at->t)) - 2 * p->d * p->w * (at->v[0] + sin(at->t)) -
           cos(at->t);
    return GA_EVAL_OK;
}

static ga_control_statistics run_stiff(const stiff *p, double off, ga_error_mode mode,
                                       double *error)
{
    static const ga_node node = GA_NODE(GA_GROUP_RN, 1);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &node,
                              .mass = unit_mass,
                              .force = stiff_force,
                              .user = (void *)p};
    ga_integrator *run = integrator(&system, GA_INDEX2);
    const double q0 = 1 + off, v0 = 0;
    ga_report report;
    ga_simulation s = ga_simulation_default();
    s.t_end = 6;
    s.control.mode = mode;
    s.control.relative = 1e-5;
    assert_status(ga_integrator_simulate(run, 0, &q0, &v0, &s, &report), GA_OK, report);
    const ga_control_statistics c = ga_integrator_control_statistics(run);
    *error = fabs(ga_integrator_q(run)[0] - cos(6)) / 1e-5;
    if (print_all)
        printf("w = %g, d = %g, off by %g, mode %d: %ld + %ld steps, %ld of third order, "
               "error/tolerance %.3f\n",
               p->w, p->d, off, (int)mode, c.accepted, c.rejected, c.third_order, *error);
    ga_integrator_destroy(run);
    return c;
}

static void stiff_modes(void **state)
{
    (void)state;
    static const stiff models[] = {{1e3, 0.5}, {1e5, 0.5}, {1e3, 0.02}, {100, 0.1}};
    static const double off[] = {0, 1e-3};
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 2; ++i) {
            double error[2];
            const ga_control_statistics second =
                run_stiff(&models[k], off[i], GA_ERROR_FULL, &error[0]);
            const ga_control_statistics any =
                run_stiff(&models[k], off[i], GA_ERROR_AUTO, &error[1]);
            assert_below((double)(any.accepted + any.rejected),
                         1.3 * (double)(second.accepted + second.rejected) + 30, "stiff");
            assert_below(error[1], 2, "stiff");
        }
}

/* A force that is not defined beyond some time: steps come near to it until they are as small
 * as round-off, where errors say nothing any more, and then it is named. */
static ga_eval nan_after_half(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)p;
    if (kind == PROBE_FORCE && at->t > 0.5) out[0] = NAN;
    return GA_EVAL_OK;
}

static void failures_are_named(void **state)
{
    (void)state;
    for (int digits = 3; digits <= 7; ++digits) {
        pb_problem *p = create(0);
        probe wrapped;
        probe_wrap(&wrapped, &p->system);
        wrapped.tamper = nan_after_half;
        ga_integrator *run = integrator(&wrapped.system, GA_INDEX2);
        ga_simulation s = ga_simulation_default();
        ga_report report;
        s.t_end = 1;
        s.control.mode = GA_ERROR_AUTO;
        s.control.relative = pow(10, -digits);
        assert_status(ga_integrator_simulate(run, 0, p->q0, p->v0, &s, &report),
                      GA_ERR_NOT_FINITE, report);
        assert_below(0.5 - report.time, 1e-9, "how far it came");
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    print_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(steps_are_fewer),
        cmocka_unit_test(other_formulations),
        cmocka_unit_test(redundant_constraints),
        cmocka_unit_test(factors_of_changing_steps),
        cmocka_unit_test(jumps),
        cmocka_unit_test(stiff_modes),
        cmocka_unit_test(failures_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
