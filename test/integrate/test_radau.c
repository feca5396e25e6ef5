/* Radau IIA: its coefficients, its order as observed, what a tolerance means, stiff springs,
 * output between steps, redundant rows, memory that runs out. */
#include "integrate/radau.h"
#include "integrate/run.h"
#include "test/support/allocations.h"
#include "test/support/cases.h"

#include <float.h>

static ga_onestep *create(const ga_system *system)
{
    const ga_integrator_def def = ga_integrator_def_default();
    ga_onestep *m = NULL;
    ga_report report;
    assert_status(ga_radau_type.create(system, &def, &m, &report), GA_OK, report);
    return m;
}

/* Guesses of lambda and psi are one array for a method. */
static void begin(const pb_problem *p, ga_onestep *m)
{
    double guess[2 * MAX_NC] = {0};
    ga_report report;
    for (int i = 0; p->lambda_guess && i < m->dae->m; ++i) guess[i] = p->lambda_guess[i];
    for (int i = 0; p->psi_guess && i < m->dae->p; ++i) guess[m->dae->m + i] = p->psi_guess[i];
    assert_status(ga_radau_type.begin(m, p->t0, p->q0, p->v0, guess, &report), GA_OK, report);
}

/* q, v, lambda and psi at t_end: exact, or the last reference. */
typedef struct end_point {
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], psi[MAX_NC];
    bool has_lambda, has_psi;
} end_point;

static void solve_exactly(const pb_problem *p, end_point *e)
{
    const ga_system *system = &p->system;
    const int m = system->constraint_count;
    if (p->exact) {
        p->exact(p, p->t_end, e->q, e->v, NULL, m ? e->lambda : NULL);
        if (p->exact_psi) p->exact_psi(p, p->t_end, e->psi);
        e->has_lambda = m > 0;
        e->has_psi = p->exact_psi != NULL;
        return;
    }
    assert_true(p->reference_count > 0);
    const pb_reference *r = p->references + p->reference_count - 1;
    assert_true(r->t == p->t_end);
    memcpy(e->q, r->q, (size_t)ga_system_nq(system) * sizeof *e->q);
    memcpy(e->v, r->v, (size_t)ga_system_nv(system) * sizeof *e->v);
    e->has_lambda = r->lambda && m;
    e->has_psi = r->psi != NULL;
    if (e->has_lambda) memcpy(e->lambda, r->lambda, (size_t)m * sizeof *e->lambda);
    if (e->has_psi) memcpy(e->psi, r->psi, (size_t)system->nonholonomic_count * sizeof *e->psi);
}

enum { IN_Q, IN_V, IN_LAMBDA, IN_PSI, PARTS };

/* Largest errors of q, v, lambda, psi after `steps` steps of one size. */
static void errors_of(const pb_problem *p, int steps, double error[PARTS])
{
    ga_onestep *m = create(&p->system);
    const double h = (p->t_end - p->t0) / steps;
    ga_grid grid = {.m = m};
    ga_report report;
    end_point exact = {0};
    double d[MAX_NV];
    solve_exactly(p, &exact);
    begin(p, m);
    ga_grid_begin(&grid, h);
    assert_int_equal(ga_radau_type.start(m, h, true), GA_OK);
    for (int k = 0; k < steps; ++k)
        assert_status(ga_grid_step(&grid, p->t_end, &report), GA_OK, report);
    assert_true(m->now.t == p->t_end);
    ga_nodes_difference(p->system.node_count, p->system.nodes, m->now.q, exact.q, d);
    memset(error, 0, PARTS * sizeof *error);
    for (int i = 0; i < m->dae->nv; ++i) {
        error[IN_Q] = fmax(error[IN_Q], fabs(d[i]));
        error[IN_V] = fmax(error[IN_V], fabs(exact.v[i] - m->now.v[i]));
    }
    for (int i = 0; exact.has_lambda && i < m->dae->m; ++i)
        error[IN_LAMBDA] =
            fmax(error[IN_LAMBDA], fabs(exact.lambda[i] - m->now.multipliers[i]));
    for (int i = 0; exact.has_psi && i < m->dae->p; ++i)
        error[IN_PSI] =
            fmax(error[IN_PSI], fabs(exact.psi[i] - m->now.multipliers[m->dae->m + i]));
    ga_radau_type.destroy(m);
}

/* Between two step sizes, for q, v, lambda and psi. A method of order 4 or 6 is out of range.
 */
static void expect_order_five(pb_problem *p, int steps)
{
    double coarse[PARTS], fine[PARTS];
    static const char *const part[PARTS] = {"q", "v", "lambda", "psi"};
    errors_of(p, steps, coarse);
    errors_of(p, 2 * steps, fine);
    for (int k = 0; k < PARTS; ++k) {
        if (coarse[k] == 0) continue;
        const double order = log2(coarse[k] / fine[k]);
        if (!(order > 4.6 && order < 5.4))
            fail_msg("%s, %s: order %.2f (errors %g, %g)", p->name, part[k], order, coarse[k],
                     fine[k]);
    }
    pb_destroy(p);
}

static void order_five_in_all_components(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    expect_order_five(p, 40);
    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p), GA_OK);
    expect_order_five(p, 800);
    assert_int_equal(pb_heavy_top_create(GA_GROUP_SE3, &p), GA_OK);
    expect_order_five(p, 400);
    assert_int_equal(pb_andrews_relative_create(&p), GA_OK);
    expect_order_five(p, 400);
    assert_int_equal(pb_slider_crank_create(&p), GA_OK); /* singular mass matrix */
    expect_order_five(p, 200);
    assert_int_equal(pb_pendulum_model_create(NULL, &p), GA_OK);
    expect_order_five(p, 100);
    assert_int_equal(pb_rheonomic_create(&p), GA_OK);
    expect_order_five(p, 20);
    assert_int_equal(pb_rheonomic_body_create(&p), GA_OK);
    expect_order_five(p, 40);
    assert_int_equal(pb_jn08_test_create(&p), GA_OK); /* forces depend on multipliers */
    expect_order_five(p, 20);
    assert_int_equal(pb_rolling_disc_create(0, &p), GA_OK);
    expect_order_five(p, 160);
    assert_int_equal(pb_sleigh_create(GA_GROUP_SE2, &p), GA_OK);
    expect_order_five(p, 80);
}

static ga_eval ignore(void *user, const ga_sample *sample)
{
    (void)user, (void)sample;
    return GA_EVAL_OK;
}

static ga_simulation simulation(double t_end, double relative)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = t_end;
    s.control.relative = relative;
    s.control.absolute_translation = s.control.absolute_rotation = 0.01 * relative;
    s.control.absolute_velocity = s.control.absolute_angular_velocity = 0.01 * relative;
    s.output = ignore;
    return s;
}

/* Error at the end by the tolerance, q and v. */
static double error_by_tolerance(const pb_problem *p, double relative)
{
    ga_onestep *m = create(&p->system);
    const ga_simulation s = simulation(p->t_end, relative);
    ga_run run;
    ga_report report;
    end_point exact = {0};
    double d[MAX_NV], worst = 0;
    solve_exactly(p, &exact);
    assert_int_equal(ga_run_create(m, &s, &run), GA_OK);
    begin(p, m);
    assert_status(ga_run_simulate(&run, &report), GA_OK, report);
    ga_nodes_difference(p->system.node_count, p->system.nodes, m->now.q, exact.q, d);
    const ga_tolerance *tol = &run.control.tolerance;
    for (int i = 0; i < m->dae->nv; ++i) {
        const int k = m->kind[i];
        worst = fmax(worst, fabs(d[i]) / (relative * (tol->size_q[k] + 0.01)));
        worst =
            fmax(worst, fabs(exact.v[i] - m->now.v[i]) / (relative * (tol->size_v[k] + 0.01)));
    }
    /* round-off of constraints: positions of order one, velocities up to a thousand */
    assert_below(m->stats->position_residual_max, 1e-12, p->name);
    assert_below(m->stats->velocity_residual_max, 1e-11, p->name);
    ga_run_destroy(&run);
    ga_radau_type.destroy(m);
    return worst;
}

static void errors_follow_the_tolerance(void **state)
{
    (void)state;
    pb_problem *p[8];
    double sum = 0;
    int count = 0;
    assert_int_equal(pb_pendulum_create(0.2, &p[0]), GA_OK);
    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p[1]), GA_OK);
    assert_int_equal(pb_andrews_relative_create(&p[2]), GA_OK);
    assert_int_equal(pb_slider_crank_create(&p[3]), GA_OK);
    assert_int_equal(pb_rheonomic_body_create(&p[4]), GA_OK);
    assert_int_equal(pb_rolling_disc_create(0, &p[5]), GA_OK);
    assert_int_equal(pb_sleigh_create(GA_GROUP_R2SO2, &p[6]), GA_OK);
    assert_int_equal(pb_planar_slider_crank_create(&p[7]), GA_OK);
    for (int k = 0; k < 8; ++k) {
        for (double relative = 1e-3; relative > 5e-11; relative *= 0.1) {
            const double e = error_by_tolerance(p[k], relative);
            if (!(e <= 10)) fail_msg("%s at %g: %g tolerances", p[k]->name, relative, e);
            sum += log(fmax(e, 1e-6));
            ++count;
        }
        pb_destroy(p[k]);
    }
    const double mean = exp(sum / count);
    if (!(mean > 0.02 && mean < 2)) fail_msg("geometric mean %g", mean);
}

/* --- stiff springs: as in test_stiff.c ---------------------------------------------------- */

typedef struct reference {
    double k, x, y, least; /* tolerance */
    int steps;             /* at most */
} reference;

/* The last from the others, which differ from the limit by c/k. There the round-off of
 * positions makes velocities of 2e-10 m/s: Newton's method cannot do better, and steps once
 * became a thousand times too short. */
static const reference references[] = {
    {1e4, 0.7871633793412922, -0.6196905748220375, 1e-6, 5000},
    {1e6, 0.7935027808726072, -0.6085960545263597, 1e-6, 5000},
    {1e8, 0.7935655612627245, -0.6084850516915662, 1e-6, 5000},
    {1e10, 0.7935661890024691, -0.6084839416563382, 1e-8, 5000},
    {1e12, 0.79356619528, -0.60848393055, 1e-8, 20000}};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval spring(void *user, const ga_point *at, double *f)
{
    const double k = ((const reference *)user)->k, r = hypot(at->q[0], at->q[1]);
    f[0] = -k * (r - 1) * at->q[0] / r;
    f[1] = -k * (r - 1) * at->q[1] / r - 9.81;
    return GA_EVAL_OK;
}

/* The number of steps must not follow the oscillation: at k = 1e10 it has 30,000 periods. */
static void stiff_springs(void **state)
{
    (void)state;
    const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    for (size_t i = 0; i < sizeof references / sizeof *references; ++i)
        for (double relative = 1e-3; relative > 0.5 * references[i].least; relative *= 0.1) {
            const ga_system system = {.struct_size = sizeof(ga_system),
                                      .node_count = 1,
                                      .nodes = &node,
                                      .mass = mass,
                                      .mass_is_constant = true,
                                      .force = spring,
                                      .user = (void *)&references[i]};
            const ga_simulation s = simulation(2, relative);
            const double q0[2] = {1, 0}, v0[2] = {0, 0};
            ga_onestep *m = create(&system);
            ga_run run;
            ga_report report;
            assert_int_equal(ga_run_create(m, &s, &run), GA_OK);
            assert_int_equal(ga_radau_type.begin(m, 0, q0, v0, NULL, &report), GA_OK);
            assert_status(ga_run_simulate(&run, &report), GA_OK, report);
            assert_below(fabs(m->now.q[0] - references[i].x), relative, "x");
            assert_below(fabs(m->now.q[1] - references[i].y), relative, "y");
            assert_true(m->stats->steps < references[i].steps);
            ga_run_destroy(&run);
            ga_radau_type.destroy(m);
        }
}

/* --- output between steps ----------------------------------------------------------------- */

typedef struct watcher {
    const pb_problem *p;
    double q, v, lambda;
} watcher;

static ga_eval compare(void *user, const ga_sample *at)
{
    watcher *w = user;
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], d[MAX_NV];
    w->p->exact(w->p, at->t, q, v, NULL, lambda);
    ga_nodes_difference(w->p->system.node_count, w->p->system.nodes, at->q, q, d);
    for (int i = 0; i < ga_system_nv(&w->p->system); ++i) {
        w->q = fmax(w->q, fabs(d[i]));
        w->v = fmax(w->v, fabs(v[i] - at->v[i]));
    }
    for (int i = 0; i < w->p->system.constraint_count; ++i)
        w->lambda = fmax(w->lambda, fabs(lambda[i] - at->lambda[i]));
    return GA_EVAL_OK;
}

/* As accurate between steps as at their ends, to a factor. */
static void dense_output(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_rheonomic_body_create(&p), GA_OK);
    double error[2][3];
    for (int dense = 0; dense < 2; ++dense) {
        ga_onestep *m = create(&p->system);
        ga_simulation s = simulation(p->t_end, 1e-7);
        watcher w = {.p = p};
        ga_run run;
        ga_report report;
        s.user = &w;
        if (dense) {
            s.output = compare;
            s.output_every = 1e-3;
        } else {
            s.accepted = compare;
        }
        assert_int_equal(ga_run_create(m, &s, &run), GA_OK);
        begin(p, m);
        assert_status(ga_run_simulate(&run, &report), GA_OK, report);
        error[dense][0] = w.q;
        error[dense][1] = w.v;
        error[dense][2] = w.lambda;
        ga_run_destroy(&run);
        ga_radau_type.destroy(m);
    }
    for (int k = 0; k < 3; ++k) assert_below(error[1][k], 4 * error[0][k], p->name);
    pb_destroy(p);
}

/* --- redundant rows ----------------------------------------------------------------------- */

/* The pendulum with its constraint written twice. */
static ga_eval twice(void *user, const ga_point *at, double *Phi)
{
    const ga_system *s = &((const pb_problem *)user)->system;
    const ga_eval status = s->constraint(s->user, at, Phi);
    Phi[1] = Phi[0];
    return status;
}

static ga_eval pendulum_mass(void *user, const ga_point *at, double *M)
{
    const ga_system *s = &((const pb_problem *)user)->system;
    return s->mass(s->user, at, M);
}

static ga_eval pendulum_force(void *user, const ga_point *at, double *f)
{
    const ga_system *s = &((const pb_problem *)user)->system;
    return s->force(s->user, at, f);
}

static void redundant_rows_cost_nothing(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    const ga_system doubled = {.struct_size = sizeof(ga_system),
                               .node_count = p->system.node_count,
                               .nodes = p->system.nodes,
                               .mass = pendulum_mass,
                               .force = pendulum_force,
                               .constraint_count = 2,
                               .constraint = twice,
                               .user = p};
    double q[2], v[2], lambda[1];
    p->exact(p, p->t_end, q, v, NULL, lambda);
    long steps[2];
    for (int k = 0; k < 2; ++k) {
        ga_onestep *m = create(k ? &doubled : &p->system);
        const ga_simulation s = simulation(p->t_end, 1e-6);
        ga_run run;
        ga_report report;
        assert_int_equal(ga_run_create(m, &s, &run), GA_OK);
        begin(p, m);
        assert_status(ga_run_simulate(&run, &report), GA_OK, report);
        steps[k] = m->stats->steps;
        assert_below(fabs(m->now.q[0] - q[0]), 1e-6, "x");
        assert_below(fabs(m->now.v[0] - v[0]), 1e-5, "x'");
        if (k) { /* of minimum norm: equal parts */
            assert_below(fabs(m->now.multipliers[0] - 0.5 * lambda[0]), 1e-4, "lambda");
            assert_below(fabs(m->now.multipliers[1] - 0.5 * lambda[0]), 1e-4, "lambda");
        }
        ga_run_destroy(&run);
        ga_radau_type.destroy(m);
    }
    assert_true(steps[1] <= steps[0] + steps[0] / 5);
    pb_destroy(p);
}

/* --- memory ------------------------------------------------------------------------------- */

/* Steps allocate nothing once pivots are chosen, with full and with sparse matrices. */
static void steps_allocate_nothing(void **state)
{
    (void)state;
    if (!in_front()) skip();
    static const ga_solver solvers[] = {GA_SOLVER_DENSE, GA_SOLVER_SPARSE};
    pb_problem *p = NULL;
    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p), GA_OK);
    for (int k = 0; k < 2; ++k) {
        ga_integrator_def def = ga_integrator_def_default();
        ga_onestep *m = NULL;
        ga_report report;
        def.solver = solvers[k];
        assert_int_equal(ga_radau_type.create(&p->system, &def, &m, &report), GA_OK);
        begin(p, m);
        ga_grid grid = {.m = m};
        ga_grid_begin(&grid, 1e-3);
        assert_int_equal(ga_radau_type.start(m, 1e-3, true), GA_OK);
        assert_int_equal(ga_grid_step(&grid, p->t_end, &report), GA_OK);
        ga_status status = GA_OK;
        start_counting(0, false);
        for (int n = 0; n < 50 && status == GA_OK; ++n)
            status = ga_grid_step(&grid, p->t_end, &report);
        stop_counting();
        assert_status(status, GA_OK, report);
        assert_int_equal(watch.taken, 0);
        ga_radau_type.destroy(m);
    }
    pb_destroy(p);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    if (!in_front()) skip();
    pb_problem *p = NULL;
    const ga_integrator_def def = ga_integrator_def_default();
    ga_onestep *m = NULL;
    ga_report report;
    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p), GA_OK);
    for (long k = 1;; ++k) {
        start_counting(k, false);
        const ga_status status = ga_radau_type.create(&p->system, &def, &m, &report);
        stop_counting();
        if (watch.failed == 0) break;
        assert_int_equal(watch.live, 0);
        assert_int_equal(status, GA_ERR_MEMORY);
        assert_null(m);
    }
    ga_radau_type.destroy(m);
    pb_destroy(p);
}

/* It may pass a position where two motions meet, or not: then it ends there, after as many
 * steps as it takes to find out, and says why. */
static void singular_positions_are_told(void **state)
{
    (void)state;
    int ended = 0;
    for (int k = 0; k < 6; ++k) {
        pb_problem *p = NULL;
        ga_report report;
        ga_run run;
        assert_int_equal(pb_change_point_create(&p), GA_OK);
        ga_onestep *m = create(&p->system);
        const ga_simulation s = simulation(1, pow(10, -3 - k));
        assert_int_equal(ga_run_create(m, &s, &run), GA_OK);
        begin(p, m);
        const ga_status status = ga_run_simulate(&run, &report);
        if (status != GA_OK) {
            assert_status(status, GA_ERR_SINGULAR, report);
            assert_message(report, "cannot pass singular positions");
            assert_non_null(report.remedy);
            assert_true(run.control.stats.accepted < 1000);
            ++ended;
        }
        ga_run_destroy(&run);
        m->type->destroy(m);
        pb_destroy(p);
    }
    assert_true(ended > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_five_in_all_components),
        cmocka_unit_test(errors_follow_the_tolerance),
        cmocka_unit_test(stiff_springs),
        cmocka_unit_test(dense_output),
        cmocka_unit_test(redundant_rows_cost_nothing),
        cmocka_unit_test(singular_positions_are_told),
        cmocka_unit_test(steps_allocate_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
