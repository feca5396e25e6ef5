/* Singular positions: N four-bars in a row, which lose N ranks at once and keep lambda bounded,
 * and a four-bar with a change point, where lambda is not bounded and another motion branches
 * off. */
#include "test/support/cases.h"

#include <galpha/simulate.h>

static const ga_formulation forms[] = {GA_INDEX3, GA_INDEX2, GA_SOI2};
enum { FORMS = 3 };

/* The sanitizers take ten times as long: the largest system runs in one formulation there. */
#if defined(__SANITIZE_ADDRESS__)
enum { FIRST_FORM = 1, LAST_FORM = 1 };
#else
enum { FIRST_FORM = 0, LAST_FORM = FORMS - 1 };
#endif

static ga_integrator *start(const pb_problem *p, ga_formulation form, double h)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = form;
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
    if (h > 0)
        assert_status(ga_integrator_start(run, 0, p->q0, p->v0, h, &report), GA_OK, report);
    return run;
}

/* --- N four-bars -------------------------------------------------------------------------- */

/* Of rods with m = 1: cranks and couplers, kinetic and potential. */
static double rods_energy(const pb_problem *p, const double *q, const double *v)
{
    double sum = 0;
    for (int k = 0; k < p->system.node_count; ++k, q += 3, v += 3)
        sum += 0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 12) + 9.81 * q[1];
    return sum;
}

/* Position and velocity of the first tip at t = 10, from the reduction to one degree of
 * freedom: shared/reference, A02. */
static const double tip[2][4] = {
    {0.3284581115408, 0.9445185381786, 1.4230514702, -0.4948688455},
    {0.18051222669, 0.98357274058, 0, 0},
};

static double tip_error(const ga_integrator *run, const double *expected, int count)
{
    const double *q = ga_integrator_q(run), *v = ga_integrator_v(run); /* centre: half way */
    const double x[4] = {2 * q[0], 2 * q[1], 2 * v[0], 2 * v[1]};
    return distance_of(x, expected, count);
}

static void test_two_four_bars(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_n_four_bar_create(2, &p), GA_OK);
    for (int f = 0; f < FORMS; ++f) {
        double error[2];
        for (int k = 0; k < 2; ++k) {
            ga_integrator *run = start(p, forms[f], 0.004 / (1 << k));
            ga_report report;
            assert_int_equal(ga_integrator_rank(run), p->system.constraint_count);
            assert_status(ga_integrator_run(run, 10, NULL, NULL, &report), GA_OK, report);
            error[k] = tip_error(run, tip[0], 4);
            const ga_statistics s = ga_integrator_statistics(run);
            assert_below(s.position_residual_max, 1e-14, "Phi");
            assert_below(largest_of(ga_integrator_lambda(run), 14), 20, "lambda");
            const double before = rods_energy(p, p->q0, p->v0);
            assert_below(
                fabs(rods_energy(p, ga_integrator_q(run), ga_integrator_v(run)) - before),
                (k ? 1e-4 : 1e-3) * before, "energy");
            ga_integrator_destroy(run);
        }
        /* second order, but for the phase that moved ends of steps add */
        assert_below(error[1], 2e-3, "tip");
        assert_true(error[0] / error[1] > 2.5 && error[0] / error[1] < 5.5);
    }
    pb_destroy(p);
}

/* Many at once, sparse. */
static void test_forty_four_bars(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_n_four_bar_create(40, &p), GA_OK);
    for (int f = FIRST_FORM; f <= LAST_FORM; ++f) {
        ga_integrator *run = start(p, forms[f], 0.01);
        ga_report report;
        assert_status(ga_integrator_run(run, 10, NULL, NULL, &report), GA_OK, report);
        assert_int_equal(ga_integrator_statistics(run).halvings, 0);
        assert_below(tip_error(run, tip[1], 2), 2e-2, "tip"); /* 2 pi/100 per step */
        const double before = rods_energy(p, p->q0, p->v0);
        assert_below(fabs(rods_energy(p, ga_integrator_q(run), ga_integrator_v(run)) - before),
                     2e-4 * before, "energy");
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* The error control goes through, without the steps collapsing. */
static void test_four_bars_adaptive(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_n_four_bar_create(2, &p), GA_OK);
    for (int f = 0; f < FORMS; ++f) {
        ga_integrator *run = start(p, forms[f], 0);
        ga_simulation sim = ga_simulation_default();
        ga_report report;
        sim.t_end = 10;
        sim.control.relative = 1e-4;
        assert_status(ga_integrator_simulate(run, 0, p->q0, p->v0, &sim, &report), GA_OK,
                      report);
        const ga_control_statistics s = ga_integrator_control_statistics(run);
        assert_true(s.rejected < s.accepted / 50);
        assert_true(s.step_min > 0.05 * s.step_max);
        assert_below(tip_error(run, tip[0], 2), 1e-3, "tip");
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* --- the change point --------------------------------------------------------------------- */

enum { CRANK, COUPLER, ROCKER };

typedef struct observed {
    double phi, rate; /* of the crank, phi followed round */
    double C[2];      /* between coupler and rocker */
    double vd[2];     /* of the coupler's centre */
} observed;

static void observe(const pb_problem *p, const ga_integrator *run, observed *o)
{
    const bool flat = p->system.nodes[0].group == GA_GROUP_R2SO2;
    const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
    const double *vd = ga_integrator_vd(run), *coupler = q + (flat ? 3 : 7);
    const double angle = atan2(q[1], q[0]);
    o->phi += remainder(angle - o->phi, 8 * atan(1));
    o->rate = v[flat ? 2 : 5];
    for (int i = 0; i < 2; ++i) {
        o->C[i] = 2 * coupler[i] - 2 * q[i];
        o->vd[i] = vd[(flat ? 3 : 6) + i];
    }
}

/* Kinetic energy for unit rate, and potential energy, of uniform rods with mass = length. */
static void reduce(double phi, double *inertia, double *potential)
{
    double x[4][2], v[4][2];
    pb_change_point_motion(phi, 1, x, v);
    *inertia = *potential = 0;
    for (int k = 0; k < 3; ++k) {
        const double dx = x[k + 1][0] - x[k][0], dy = x[k + 1][1] - x[k][1], m = hypot(dx, dy);
        for (int i = 0; i < 2; ++i) /* of a rod: (a.a + a.b + b.b) m/3 from its ends */
            *inertia +=
                m / 3 * (v[k][i] * v[k][i] + v[k][i] * v[k + 1][i] + v[k + 1][i] * v[k + 1][i]);
        *potential += m * 9.81 * 0.5 * (x[k][1] + x[k + 1][1]);
    }
}

/* Acceleration of the coupler's centre on the smooth motion: x' phi'' + x'' phi'^2, with
 * I phi'' = -V' - I' phi'^2/2. Central differences, 1e-6. */
static void exact_acceleration(double phi, double rate, double *a)
{
    const double s = 1e-3;
    double I[3], V[3], x[3][4][2], v[3][4][2];
    for (int k = 0; k < 3; ++k) {
        reduce(phi + (k - 1) * s, &I[k], &V[k]);
        pb_change_point_motion(phi + (k - 1) * s, 1, x[k], v[k]);
    }
    const double slope_I = (I[2] - I[0]) / (2 * s), slope_V = (V[2] - V[0]) / (2 * s);
    const double second = -(slope_V + 0.5 * slope_I * rate * rate) / I[1];
    for (int i = 0; i < 2; ++i) {
        double d = 0.5 * (v[1][1][i] + v[1][2][i]);
        double dd = 0.25 * (v[2][1][i] + v[2][2][i] - v[0][1][i] - v[0][2][i]) / s;
        a[i] = d * second + dd * rate * rate;
    }
}

/* Step sizes that differ by a factor of 6; with the largest the crank turns by 0.06 or more in
 * a step. C stays on its side of the line BD, which changes with the sign of cos(phi/2).
 * Accelerations, and with them the reactions f - M v', are right also beside the singular
 * position: no worse than elsewhere. */
static void check_change_point(const pb_problem *p, ga_formulation form, int sizes,
                               double t_end)
{
    for (int k = 0; k < sizes; ++k) {
        const double h = 1e-3 * pow(6, (double)k / (sizes - 1));
        ga_integrator *run = start(p, form, h);
        ga_report report;
        observed o = {.phi = 2 * atan(1)};
        double worst = 0, near = 0;
        int passes = 0;
        while (ga_integrator_time(run) < t_end) {
            const double before = cos(0.5 * o.phi);
            assert_status(ga_integrator_step(run, &report), GA_OK, report);
            observe(p, run, &o);
            const double side = cos(0.5 * o.phi);
            passes += before * side < 0;
            const double B[2] = {cos(o.phi), sin(o.phi)};
            const double cross = (2.5 - B[0]) * o.C[1] + B[1] * o.C[0];
            if (fabs(side) > 1e-3 && cross * side < 0)
                fail_msg("%s, formulation %d, h %g: another branch at t %g", p->name, (int)form,
                         h, ga_integrator_time(run));
            double a[2];
            exact_acceleration(o.phi, o.rate, a);
            const double error = distance_of(o.vd, a, 2);
            worst = fmax(worst, error);
            if (fabs(side) < 3 * h * fabs(o.rate)) near = fmax(near, error);
        }
        assert_true(passes >= 2);
        /* measured: 0.5e6 h^2 (1e6 in index 3) where the rods turn fastest, and near the
         * singular position 2e4 (2.7e5) */
        const double limit = form == GA_INDEX3 ? 1.5e6 : 8e5;
        if (worst > limit * h * h || near > 0.4 * worst)
            fail_msg("%s, formulation %d, h %g: accelerations off by %g, %g", p->name,
                     (int)form, h, worst, near);
        ga_integrator_destroy(run);
    }
}

static void test_change_point_planar(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_change_point_create(&p), GA_OK);
    for (int f = 0; f < FORMS; ++f) check_change_point(p, forms[f], 50, 0.8);
    pb_destroy(p);
}

static void test_change_point_spatial(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_spatial_four_bar_create(true, true, &p), GA_OK);
    for (int f = 0; f < FORMS; ++f) check_change_point(p, forms[f], 50, 0.8);
    pb_destroy(p);
}

/* A step that would end at the singular position ends a fifth earlier, and the next one is back
 * on the grid. */
static void test_the_grid_stays(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_change_point_create(&p), GA_OK);
    ga_integrator *run = start(p, GA_INDEX2, 1e-4);
    ga_report report;
    observed o = {.phi = 2 * atan(1)};
    double before = 0, t = 0; /* when is it there? */
    while (o.phi < 4 * atan(1)) {
        before = 4 * atan(1) - o.phi;
        t = ga_integrator_time(run);
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        observe(p, run, &o);
    }
    t += before / o.rate;
    ga_integrator_destroy(run);
    const double h = t / 60;
    run = start(p, GA_INDEX2, h);
    for (int n = 1; n <= 100; ++n) {
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        const double off = n - ga_integrator_time(run) / h;
        assert_true(fabs(off - (n == 60 ? 0.2 : 0)) < 1e-9);
    }
    assert_int_equal(ga_integrator_statistics(run).evasions, 1);
    assert_int_equal(ga_integrator_statistics(run).steps, 100);
    /* a run that has to end there does */
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, h, &report), GA_OK, report);
    assert_status(ga_integrator_run(run, 60 * h, NULL, NULL, &report), GA_OK, report);
    assert_true(ga_integrator_time(run) == 60 * h);
    assert_status(ga_integrator_run(run, 61 * h, NULL, NULL, &report), GA_OK, report);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_four_bars),        cmocka_unit_test(test_forty_four_bars),
        cmocka_unit_test(test_four_bars_adaptive),   cmocka_unit_test(test_change_point_planar),
        cmocka_unit_test(test_change_point_spatial), cmocka_unit_test(test_the_grid_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
