/* Impulses: hand calculations, balances, and that asking leaves no trace. */
#include "test/support/cases.h"

#include <float.h>

static ga_integrator *create(const ga_system *system, ga_solver solver)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.solver = solver;
    ga_integrator *g = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, &def, &g, &report), GA_OK, report);
    return g;
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

/* x^T M y with the full mass matrix of a problem. */
static double mass_product(const pb_problem *p, const double *x, const double *y)
{
    const int n = ga_system_nv(&p->system);
    const ga_pattern pattern = p->system.mass_pattern;
    static double M[MAX_NV * MAX_NV];
    const ga_point at = {.t = p->t0, .q = p->q0};
    assert_int_equal(p->system.mass(p->system.user, &at, M), GA_EVAL_OK);
    double sum = 0;
    if (pattern.count)
        for (int k = 0; k < pattern.count; ++k)
            sum += x[pattern.row[k]] * M[k] * y[pattern.col[k]];
    else
        for (int j = 0; j < n; ++j) sum += dot(n, x, M + j * n) * y[j];
    return sum;
}

/* The list of cases, and behind it nonholonomic ones. */
enum { PLANAR_CRANK = CASES, ROLLING_DISC, SLEIGH, PROBLEMS };

static pb_problem *problem(int k)
{
    pb_problem *p = NULL;
    if (k == PLANAR_CRANK)
        assert_int_equal(pb_planar_slider_crank_create(&p), GA_OK);
    else if (k == ROLLING_DISC)
        assert_int_equal(pb_rolling_disc_create(0.3, &p), GA_OK);
    else if (k == SLEIGH)
        assert_int_equal(pb_sleigh_create(GA_GROUP_R2SO2, &p), GA_OK);
    else
        p = case_create((case_name)k);
    return p;
}

/* Numbers in [-1, 1] that look random. */
static void fill(int n, double seed, double *x)
{
    for (int i = 0; i < n; ++i) x[i] = sin(seed + 12.9898 * (i + 1));
}

/* --- by hand ------------------------------------------------------------------------------ */

/* M = I, B = q^T on the unit circle: dv = c - q (q.c). Also before any start. */
static void test_pendulum(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int started = 0; started < 2; ++started)
        for (int k = 0; k < 8; ++k) {
            ga_integrator *g = create(&p->system, GA_SOLVER_AUTO);
            ga_report report;
            if (started)
                assert_status(ga_integrator_start(g, p->t0, p->q0, p->v0, 0.01, &report), GA_OK,
                              report);
            const double q[2] = {cos(k), sin(k)}, v[2] = {-sin(k), cos(k)};
            double c[2], dv[2];
            fill(2, k, c);
            assert_status(ga_integrator_impulse(g, 0, q, v, c, dv, &report), GA_OK, report);
            for (int i = 0; i < 2; ++i)
                assert_below(fabs(dv[i] - c[i] + q[i] * dot(2, q, c)), 4 * DBL_EPSILON, "dv");
            ga_integrator_destroy(g);
        }
    pb_destroy(p);
}

/* One degree of freedom: every velocity is a multiple of v0, so dv = v0 (v0.c)/(v0.M v0). */
static void check_one_degree(const pb_problem *p, const double *c, const double *dv)
{
    const int n = ga_system_nv(&p->system);
    const double share = dot(n, p->v0, c) / mass_product(p, p->v0, p->v0);
    const double size = sqrt(dot(n, p->v0, p->v0));
    for (int i = 0; i < n; ++i)
        assert_below(fabs(dv[i] - share * p->v0[i]), 1e-12 * fabs(share) * size, p->name);
}

/* An impact with restitution e: rate, momentum along the only motion there is, energy. */
static void check_impact(const pb_problem *p, const double *c, const double *dv, double e)
{
    const int n = ga_system_nv(&p->system);
    const double rate = dot(n, c, p->v0), felt = 1 / dot(n, c, dv);
    const double P = -(1 + e) * rate * felt;
    double after[MAX_NV], jump[MAX_NV];
    for (int i = 0; i < n; ++i) {
        jump[i] = P * dv[i];
        after[i] = p->v0[i] + jump[i];
    }
    const double size = fabs(rate), energy = 0.5 * felt * rate * rate;
    assert_below(fabs(dot(n, c, after) + e * rate), 1e-12 * size, "rate");
    assert_below(fabs(mass_product(p, p->v0, jump) - P * rate), 1e-11 * fabs(P * rate),
                 "momentum");
    const double lost = 0.5 * (mass_product(p, p->v0, p->v0) - mass_product(p, after, after));
    assert_below(fabs(lost - (1 - e * e) * energy), 1e-11 * energy, "energy");
}

static void test_impacts(void **state)
{
    (void)state;
    static const int names[] = {PLANAR_CRANK, CASE_PENDULUM_SIDE};
    for (int k = 0; k < 2; ++k)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
            pb_problem *p = problem(names[k]);
            const int n = ga_system_nv(&p->system);
            ga_integrator *g = create(&p->system, (ga_solver)solver);
            double c[MAX_NV], dv[MAX_NV];
            ga_report report;
            for (int i = 0; i < n; ++i) { /* a blow at each coordinate, and at all */
                memset(c, 0, sizeof c);
                c[i] = 1;
                if (i == 0) fill(n, 1, c);
                if (fabs(dot(n, c, p->v0)) < 1e-6) continue; /* across the motion */
                assert_status(ga_integrator_impulse(g, p->t0, p->q0, p->v0, c, dv, &report),
                              GA_OK, report);
                check_one_degree(p, c, dv);
                for (int e = 0; e <= 4; ++e) check_impact(p, c, dv, 0.25 * e);
            }
            ga_integrator_destroy(g);
            pb_destroy(p);
        }
}

/* --- any system --------------------------------------------------------------------------- */

/* The constraints are kept: v + dv needs no projection. And Maxwell's reciprocity, c2.dv1 =
 * c1.dv2, where M is symmetric. */
static void test_every_problem(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = problem(k);
        const int n = ga_system_nv(&p->system);
        ga_integrator *g = create(&p->system, GA_SOLVER_AUTO);
        double c[2][MAX_NV], dv[2][MAX_NV], v[MAX_NV];
        ga_report report;
        for (int i = 0; i < 2; ++i) {
            fill(n, 1 + i, c[i]);
            assert_status(ga_integrator_impulse(g, p->t0, p->q0, p->v0, c[i], dv[i], &report),
                          GA_OK, report);
        }
        double size = 0;
        for (int i = 0; i < n; ++i) {
            v[i] = p->v0[i] + dv[0][i];
            size = fmax(size, fmax(fabs(v[i]), fabs(dv[1][i])));
        }
        ga_integrator_guess(g, p->lambda_guess, p->psi_guess);
        assert_status(ga_integrator_start(g, p->t0, p->q0, v, 1e-6, &report), GA_OK, report);
        assert_below(ga_integrator_projection(g).v, 1e-12 * size, p->name);
        assert_below(fabs(dot(n, c[1], dv[0]) - dot(n, c[0], dv[1])), 1e-11 * n * size,
                     p->name);
        ga_integrator_destroy(g);
        pb_destroy(p);
    }
}

/* --- in a simulation ---------------------------------------------------------------------- */

typedef struct game {
    ga_integrator *g;
    const pb_problem *problem;
    bool asks, plays; /* asks for impulses; uses them */
    int events;
} game;

static void ask(const game *a, const ga_sample *at, double *dv)
{
    static const double wall[2] = {-1, 0}; /* the gap closes with -x' */
    ga_report report;
    assert_status(ga_integrator_impulse(a->g, at->t, at->q, at->v, wall, dv, &report), GA_OK,
                  report);
}

static ga_eval gap(void *user, const ga_sample *at, double *g)
{
    const game *a = user;
    double dv[2];
    if (a->asks) ask(a, at, dv);
    g[0] = pb_bouncing_pendulum_gap(at->q);
    return GA_EVAL_OK;
}

static ga_eval look(void *user, const ga_sample *at)
{
    const game *a = user;
    double dv[2];
    if (a->asks) ask(a, at, dv);
    return GA_EVAL_OK;
}

static ga_action settle(void *user, const ga_sample *at)
{
    look(user, at);
    return GA_ACTION_CONTINUE;
}

static ga_action bounce(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    game *a = user;
    (void)count, (void)which;
    double dv[2];
    ++a->events;
    if (a->asks) ask(a, at, dv);
    if (!a->plays) {
        pb_bouncing_pendulum_impact(a->problem, q, v, 0.8);
        return GA_ACTION_RESTART;
    }
    const double share = -1.8 * v[0] / dv[0];
    for (int i = 0; i < 2; ++i) v[i] += share * dv[i];
    return GA_ACTION_RESTART;
}

static void play(game *a, ga_solver solver, int mode, double *q, double *v)
{
    ga_simulation run = ga_simulation_default();
    static const int closing = -1;
    const pb_problem *p = a->problem;
    ga_report report;
    run.t_end = 3;
    run.step = 1e-3;
    run.control.relative = mode ? 1e-6 : 0;
    run.output = run.accepted = look;
    run.user = a;
    run.events = (ga_events){.count = 1,
                             .function = gap,
                             .direction = &closing,
                             .happen = bounce,
                             .settled = settle,
                             .user = a};
    a->g = create(&p->system, solver);
    assert_status(ga_integrator_simulate(a->g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                  report);
    memcpy(q, ga_integrator_q(a->g), 2 * sizeof *q);
    memcpy(v, ga_integrator_v(a->g), 2 * sizeof *v);
    ga_integrator_destroy(a->g);
}

/* To ask changes no bit; to use the answer is the impact of the problem, whose solution has a
 * closed form. */
static void test_bouncing_pendulum(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
        for (int mode = 0; mode < 2; ++mode) {
            game games[3] = {{.problem = p},
                             {.problem = p, .asks = true},
                             {.problem = p, .asks = true, .plays = true}};
            double q[3][2], v[3][2], exact_q[2], exact_v[2];
            for (int k = 0; k < 3; ++k) play(&games[k], (ga_solver)solver, mode, q[k], v[k]);
            assert_true(games[2].events >= 2);
            assert_memory_equal(q[0], q[1], sizeof q[0]);
            assert_memory_equal(v[0], v[1], sizeof v[0]);
            pb_bouncing_pendulum_exact(p, 0.8, 3, exact_q, exact_v, NULL, NULL);
            for (int i = 0; i < 2; ++i) {
                assert_below(fabs(q[2][i] - exact_q[i]), 2e-5, "q");
                assert_below(fabs(v[2][i] - exact_v[i]), 2e-5, "v");
                assert_below(fabs(v[2][i] - v[0][i]), 1e-9, "v by the other impact");
            }
        }
    pb_destroy(p);
}

/* --- mistakes ----------------------------------------------------------------------------- */

static ga_eval no_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[1] = M[2] = M[3] = 0;
    return GA_EVAL_OK;
}

static ga_eval nan_mass(void *user, const ga_point *at, double *M)
{
    no_mass(user, at, M);
    M[3] = NAN;
    return GA_EVAL_OK;
}

static void test_mistakes(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    ga_integrator *g = create(&p->system, GA_SOLVER_AUTO);
    const double c[2] = {1, 0};
    double dv[2];
    ga_report report;
    const double *q = p->q0, *v = p->v0;
    assert_int_equal(ga_integrator_impulse(NULL, 0, q, v, c, dv, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_impulse(g, 0, NULL, v, c, dv, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_impulse(g, 0, q, NULL, c, dv, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_impulse(g, 0, q, v, NULL, dv, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_impulse(g, 0, q, v, c, NULL, NULL), GA_ERR_ARGUMENT);
    ga_integrator_destroy(g);
    for (int nan = 0; nan < 2; ++nan) {
        ga_system broken = p->system;
        broken.mass = nan ? nan_mass : no_mass;
        g = create(&broken, GA_SOLVER_AUTO);
        assert_int_equal(ga_integrator_impulse(g, 0.25, q, v, c, dv, &report),
                         nan ? GA_ERR_NOT_FINITE : GA_ERR_SINGULAR);
        assert_message(report, "t = 0.25");
        assert_true(report.time == 0.25);
        ga_integrator_destroy(g);
    }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pendulum),      cmocka_unit_test(test_impacts),
        cmocka_unit_test(test_every_problem), cmocka_unit_test(test_bouncing_pendulum),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests_name("impulse", tests, NULL, NULL);
}
