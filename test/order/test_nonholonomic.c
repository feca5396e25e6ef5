/* Nonholonomic constraints k(q,v,t) = 0 in all formulations: order in q, v, v', lambda, psi,
 * and k = 0 at every step (in all of them; with B v + Phi_t = 0 in index 2 and SOI2). With psi
 * in the forces in any form, with friction that depends on lambda, on Lie groups; and the
 * start. */
#include "ladder.h"

static ga_status disc(pb_problem **out) { return pb_rolling_disc_create(0, out); }
static ga_status leaning_disc(pb_problem **out) { return pb_rolling_disc_create(0.3, out); }
static ga_status sleigh_r2so2(pb_problem **out)
{
    return pb_sleigh_create(GA_GROUP_R2SO2, out);
}
static ga_status sleigh_se2(pb_problem **out) { return pb_sleigh_create(GA_GROUP_SE2, out); }
static ga_status sliding(pb_problem **out)
{
    const pb_stick_slip_def def = pb_stick_slip_sliding();
    return pb_stick_slip_create(&def, out);
}

/* The same over bumps that do not throw it off. */
static ga_status bumping(pb_problem **out)
{
    pb_stick_slip_def def = pb_stick_slip_sliding();
    def.height = 0.02;
    def.wave_number = 3;
    return pb_stick_slip_create(&def, out);
}

/* --- a skate with a prescribed heading ------------------------------------------------------
 */

/* Point of mass m in R^2 under a constant force F that may move only along d = (cos phi,
 * sin phi), phi = omega t + c x; n is at right angles.
 *
 *     k = n.v,  N = n^T,  k_t = -omega d.v,  D_q k v = -c v1 d.v
 *
 * On k = 0 it is v = u d with m u' = F.d, so v' = u' d + u phi' n and psi = F.n - m u phi',
 * phi' = omega + c v1. */
static const double skate_mass = 2, skate_force[2] = {0.7, -0.4}, omega = 1.3, bend = 0.6;
static const ga_node skate_node = GA_NODE(GA_GROUP_RN, 2);

static double heading(const ga_point *at) { return omega * at->t + bend * at->q[0]; }

static ga_eval skate_M(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = skate_mass;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval skate_f(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    memcpy(f, skate_force, sizeof skate_force);
    return GA_EVAL_OK;
}

static ga_eval skate_k(void *user, const ga_point *at, double *k)
{
    (void)user;
    k[0] = -sin(heading(at)) * at->v[0] + cos(heading(at)) * at->v[1];
    return GA_EVAL_OK;
}

static ga_eval skate_N(void *user, const ga_point *at, double *N)
{
    (void)user;
    N[0] = -sin(heading(at));
    N[1] = cos(heading(at));
    return GA_EVAL_OK;
}

static ga_eval skate_rhs(void *user, const ga_point *at, double *d)
{
    (void)user;
    double along = cos(heading(at)) * at->v[0] + sin(heading(at)) * at->v[1];
    d[0] = (omega + bend * at->v[0]) * along;
    return GA_EVAL_OK;
}

/* Starts at t = 0.4 with u = 1.5. Tangents by differences. */
static pb_problem skate(void)
{
    static const double q0[2] = {0.2, -0.1};
    static double v0[2];
    const ga_point at = {.t = 0.4, .q = q0};
    v0[0] = 1.5 * cos(heading(&at));
    v0[1] = 1.5 * sin(heading(&at));
    return (pb_problem){.name = "skate",
                        .t0 = at.t,
                        .q0 = q0,
                        .v0 = v0,
                        .system = {.struct_size = sizeof(ga_system),
                                   .node_count = 1,
                                   .nodes = &skate_node,
                                   .mass = skate_M,
                                   .mass_is_constant = true,
                                   .force = skate_f,
                                   .nonholonomic_count = 1,
                                   .nonholonomic = skate_k,
                                   .nonholonomic_gradient = skate_N,
                                   .nonholonomic_rhs = skate_rhs}};
}

/* --- order -----------------------------------------------------------------------------------
 */

enum { C = AT_ROUND_OFF, SOME = RHO_2 | RHO_8 | HHT_3 };

static const ladder_row sleigh_rows[] = {
    {sleigh_r2so2, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_r2so2, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_r2so2, GA_SOI2, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_r2so2, GA_HHT_I3, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_r2so2, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C | ALTERNATING},
    {sleigh_se2, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_se2, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_se2, GA_SOI2, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_se2, GA_HHT_I3, SOME, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_se2, GA_INDEX3, SOME, GA_MAP_CAYLEY, GA_START_AUTO, 3, 160, 4, C},
};

static const ladder_row disc_rows[] = {
    {disc, GA_INDEX3, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {disc, GA_INDEX2, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {disc, GA_HHT_I3, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {disc, GA_INDEX3, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C | ALTERNATING},
    {disc, GA_INDEX2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C | ALTERNATING},
    {disc, GA_INDEX2, RHO_8, GA_MAP_CAYLEY, GA_START_AUTO, 0.5, 256, 3, C},
    {leaning_disc, GA_INDEX3, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {leaning_disc, GA_INDEX2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {leaning_disc, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {leaning_disc, GA_HHT_I3, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
};

static const ladder_row test_rows[] = {
    {pb_jn08_test_create, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C},
    {pb_jn08_test_create, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C},
    {pb_jn08_test_create, GA_SOI2, HHT_3, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C},
    {pb_jn08_test_create, GA_HHT_I3, SOME, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C},
    {pb_jn08_test_create, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4,
     C | ALTERNATING},
    {pb_jn08_test_create, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4,
     C | ALTERNATING},
};

/* Friction mu |lambda|: on a flat belt, where lambda is the weight, and over bumps. */
static const ladder_row sliding_rows[] = {
    {sliding, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4, C | LAMBDA_IS_EXACT},
    {sliding, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4,
     C | LAMBDA_IS_EXACT | ETA_VANISHES},
    {sliding, GA_SOI2, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4, C | LAMBDA_IS_EXACT},
    {sliding, GA_HHT_I3, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4, C | LAMBDA_IS_EXACT},
    {bumping, GA_INDEX3, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C},
    {bumping, GA_INDEX2, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C},
    {bumping, GA_SOI2, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C},
    {bumping, GA_SOI2, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C | ALTERNATING},
    {bumping, GA_HHT_I3, SOME, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C},
};

static void test_sleigh(void **state)
{
    (void)state;
    LADDER_TABLE(sleigh_rows);
}

/* k depends on time. */
static void test_skate(void **state)
{
    const pb_problem problem = skate();
    ladder_reference r = ladder_reference_at(&problem, 1, 2, ORACLE_SAMPLES + 1);
    int failures = 0;
    (void)state;
    for (int f = 0; f < GA_FORMULATION_COUNT; ++f) {
        const ladder_row row = {.formulation = (ga_formulation)f,
                                .methods = SOME,
                                .t_end = 2,
                                .steps = 64,
                                .levels = 4,
                                .flags = C};
        if (!ladder_row_holds(&problem, &row, &r)) ++failures;
    }
    ladder_reference_free(&r);
    assert_int_equal(failures, 0);
}

static void test_disc(void **state)
{
    (void)state;
    LADDER_TABLE(disc_rows);
}

static void test_multipliers_in_force(void **state)
{
    (void)state;
    LADDER_TABLE(test_rows);
}

static void test_friction(void **state)
{
    (void)state;
    LADDER_TABLE(sliding_rows);
}

/* --- the start -------------------------------------------------------------------------------
 */

static const char *const formulations[GA_FORMULATION_COUNT] = {"index 3", "index 2", "SOI2",
                                                               "HHT-I3"};

static ga_integrator *create(const pb_problem *problem, ga_formulation formulation,
                             double max_projection)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    def.formulation = formulation;
    def.start = GA_START_PLAIN;
    def.max_projection = max_projection;
    if (ga_integrator_create(&problem->system, &def, &run, &report))
        fail_msg("%s", report.message);
    ga_integrator_guess(run, problem->lambda_guess, problem->psi_guess);
    return run;
}

static void expect_close(const pb_problem *problem, const char *what, int n, const double *x,
                         const double *known, double tolerance)
{
    const double off = largest_difference(n, x, known);
    const double size = fmax(1, largest_difference(n, known, NULL));
    if (!(off <= tolerance * size))
        fail_msg("%s, %s: off by %.2e, allowed %.2e", problem->name, what, off,
                 tolerance * size);
}

/* v', lambda, psi at the start, known. Differences stand in for left-out derivatives: 1e-8. */
static void expect_start(const pb_problem *problem, const double *vd, const double *lambda,
                         const double *psi, double tolerance)
{
    const ga_system *system = &problem->system;
    for (int f = 0; f < GA_FORMULATION_COUNT; ++f) {
        ga_report report;
        ga_integrator *run = create(problem, (ga_formulation)f, INFINITY);
        if (ga_integrator_start(run, problem->t0, problem->q0, problem->v0, 0.01, &report))
            fail_msg("%s, %s: %s", problem->name, formulations[f], report.message);
        /* consistent values are kept as they are */
        assert_true(ga_integrator_projection(run).q == 0);
        assert_true(ga_integrator_projection(run).v == 0);
        expect_close(problem, "v'", ga_system_nv(system), ga_integrator_vd(run), vd, tolerance);
        expect_close(problem, "lambda", system->constraint_count, ga_integrator_lambda(run),
                     lambda, tolerance);
        expect_close(problem, "psi", system->nonholonomic_count, ga_integrator_psi(run), psi,
                     tolerance);
        ga_integrator_destroy(run);
    }
}

/* All derivatives given, then right-hand sides left to difference quotients. */
static void expect_start_twice(pb_problem *problem, const double *vd, const double *lambda,
                               const double *psi)
{
    expect_start(problem, vd, lambda, psi, 1e-13);
    problem->system.acceleration_rhs = NULL;
    problem->system.nonholonomic_rhs = NULL;
    expect_start(problem, vd, lambda, psi, 1e-8);
}

static void test_start(void **state)
{
    ga_status (*const creators[])(pb_problem **) = {sleigh_r2so2, sleigh_se2,
                                                    pb_jn08_test_create, sliding};
    pb_problem *problem = NULL;
    double vd[6], lambda[1], psi[2];
    (void)state;
    for (size_t k = 0; k < sizeof creators / sizeof *creators; ++k) {
        assert_int_equal(creators[k](&problem), GA_OK);
        const ga_system *system = &problem->system;
        problem->exact(problem, problem->t0, NULL, NULL, vd,
                       system->constraint_count ? lambda : NULL);
        if (system->nonholonomic_count) problem->exact_psi(problem, problem->t0, psi);
        expect_start_twice(problem, vd, lambda, psi);
        pb_destroy(problem);
    }
    assert_int_equal(disc(&problem), GA_OK);
    const pb_reference *known = &problem->references[0];
    assert_true(known->t == problem->t0 && known->vd && known->lambda && known->psi);
    expect_start_twice(problem, known->vd, known->lambda, known->psi);
    pb_destroy(problem);
}

/* k_t and D_q k v, none of them zero. */
static void test_start_of_skate(void **state)
{
    pb_problem problem = skate();
    const ga_point at = {.t = problem.t0, .q = problem.q0};
    const double u = 1.5, c = cos(heading(&at)), s = sin(heading(&at));
    const double turn = omega + bend * u * c; /* phi' */
    const double ud = (skate_force[0] * c + skate_force[1] * s) / skate_mass;
    const double vd[2] = {ud * c - u * turn * s, ud * s + u * turn * c};
    const double psi = -skate_force[0] * s + skate_force[1] * c - skate_mass * u * turn;
    (void)state;
    assert_true(fabs(turn - omega) > 0.1 && omega > 0.1);
    expect_start_twice(&problem, vd, NULL, &psi);
}

/* --- projection ------------------------------------------------------------------------------
 */

/* |(B v + Phi_t, k)| at the start. */
static double velocity_residual(const pb_problem *problem, const double *v)
{
    const ga_system *system = &problem->system;
    const int m = system->constraint_count, p = system->nonholonomic_count;
    const int nv = ga_system_nv(system);
    const ga_point at = {.t = problem->t0, .q = problem->q0, .v = v};
    double B[8] = {0}, w[8] = {0};
    assert_true(m <= 1 && nv <= 8 && m + p <= 8 && !system->gradient_pattern.count);
    assert_null(system->constraint_rate);
    if (m) assert_int_equal(system->gradient(system->user, &at, B), GA_EVAL_OK);
    for (int j = 0; j < nv && m; ++j) w[0] += B[j] * v[j];
    assert_int_equal(system->nonholonomic(system->user, &at, w + m), GA_EVAL_OK);
    return largest_difference(m + p, w, NULL);
}

/* From a v0 that was moved away: back on the constraints, by as much as is reported; what came
 * out is kept when given again; a limit below the way back is an error. */
static void expect_projection(const pb_problem *problem, const double *moved, double *result)
{
    const int nv = ga_system_nv(&problem->system);
    const double size = largest_difference(nv, moved, NULL), some_eps = 64 * 2.22e-16 * size;
    for (int f = 0; f < GA_FORMULATION_COUNT; ++f) {
        ga_report report;
        ga_integrator *run = create(problem, (ga_formulation)f, INFINITY);
        if (ga_integrator_start(run, problem->t0, problem->q0, moved, 0.01, &report))
            fail_msg("%s, %s: %s", problem->name, formulations[f], report.message);
        memcpy(result, ga_integrator_v(run), (size_t)nv * sizeof *result);
        const double went = largest_difference(nv, result, moved);
        assert_true(velocity_residual(problem, result) <= some_eps);
        assert_true(went > 0.01);
        assert_true(fabs(ga_integrator_projection(run).v - went) <= some_eps);
        assert_int_equal(
            ga_integrator_start(run, problem->t0, problem->q0, result, 0.01, &report), GA_OK);
        assert_true(ga_integrator_projection(run).v <= some_eps);
        ga_integrator_destroy(run);

        run = create(problem, (ga_formulation)f, 0.99 * went);
        assert_int_equal(
            ga_integrator_start(run, problem->t0, problem->q0, moved, 0.01, &report),
            GA_ERR_INCONSISTENT);
        ga_integrator_destroy(run);
    }
}

static void test_projection(void **state)
{
    static const double shift[6] = {0.03, -0.05, 0.04, 0.02, -0.06, 0.01};
    ga_status (*const creators[])(pb_problem **) = {sleigh_r2so2, sleigh_se2,
                                                    pb_jn08_test_create, disc, leaning_disc};
    (void)state;
    for (size_t k = 0; k < sizeof creators / sizeof *creators; ++k) {
        pb_problem *problem = NULL;
        double moved[6], v[6];
        assert_int_equal(creators[k](&problem), GA_OK);
        const int nv = ga_system_nv(&problem->system);
        for (int i = 0; i < nv; ++i) moved[i] = problem->v0[i] + shift[i];
        expect_projection(problem, moved, v);
        /* two constraints for two velocities: only one way back */
        if (creators[k] == pb_jn08_test_create)
            expect_close(problem, "v", nv, v, problem->v0, 1e-14);
        pb_destroy(problem);
    }
}

/* The smallest change in the mass metric: dv = M^-1 N^T mu, here with M = m I and at a k that
 * depends on time. */
static void test_projection_is_shortest(void **state)
{
    const pb_problem problem = skate();
    const ga_point at = {.t = problem.t0, .q = problem.q0};
    const double c = cos(heading(&at)), s = sin(heading(&at));
    const double moved[2] = {problem.v0[0] + 0.3, problem.v0[1] - 0.2};
    const double along = c * moved[0] + s * moved[1], expected[2] = {along * c, along * s};
    double v[2];
    (void)state;
    expect_projection(&problem, moved, v);
    expect_close(&problem, "v", 2, v, expected, 1e-15);
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleigh),
        cmocka_unit_test(test_skate),
        cmocka_unit_test(test_disc),
        cmocka_unit_test(test_multipliers_in_force),
        cmocka_unit_test(test_friction),
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_start_of_skate),
        cmocka_unit_test(test_projection),
        cmocka_unit_test(test_projection_is_shortest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
