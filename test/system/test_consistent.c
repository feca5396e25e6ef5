/* Consistent values from a ga_dae alone, without a method: q, v, v' and multipliers compared
 * with LAPACK's least squares on full matrices. */
#include "system/nearby.h"
#include "test/support/cases.h"

#include <lapacke.h>

enum { MAX_N = MAX_NV + MAX_NC };

typedef struct problem_case {
    const char *name;
    int redundant; /* rows of G that depend on others */
} problem_case;

static const problem_case models[] = {
    {"heavy top", 0}, {"heavy top, SE(3)", 0}, {"rolling disc", 0}, {"sleigh", 0},
    {"Andrews", 0},   {"rheonomic body", 0},   {"four-bar", 3},     {"Bricard", 1}};
enum { PROBLEMS = sizeof models / sizeof *models };

static pb_problem *create_problem(int k)
{
    pb_problem *p = NULL;
    const ga_status status = k == 0   ? pb_heavy_top_create(GA_GROUP_R3SO3, &p)
                             : k == 1 ? pb_heavy_top_create(GA_GROUP_SE3, &p)
                             : k == 2 ? pb_rolling_disc_create(0.2, &p)
                             : k == 3 ? pb_sleigh_create(GA_GROUP_SE2, &p)
                             : k == 4 ? pb_andrews_absolute_create(&p)
                             : k == 5 ? pb_rheonomic_body_create(&p)
                             : k == 6 ? pb_spatial_four_bar_create(false, true, &p)
                                      : pb_bricard_create(&p);
    assert_int_equal(status, GA_OK);
    return p;
}

/* [M G^T; G 0] as a full matrix, column-major. */
static void full_saddle(const ga_dae *dae, const double *M, const double *G, double *A)
{
    const int n = dae->nv + dae->mp;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    for (ga_matrix_entry e = ga_entry_first(&dae->M); e.k < dae->M.count;
         ga_entry_next(&dae->M, &e))
        A[e.row + n * e.col] += M[e.k];
    for (ga_matrix_entry e = ga_entry_first(&dae->G); e.k < dae->G.count;
         ga_entry_next(&dae->G, &e)) {
        const int row = dae->nv + e.row;
        A[row + n * e.col] += G[e.k];
        A[e.col + n * row] += G[e.k];
    }
}

/* x = A^+ x for the saddle matrix at a point, by LAPACK. Returns its rank. */
static int solve_full(ga_dae *dae, double t, const double *q, const double *v, double *x)
{
    static double A[MAX_N * MAX_N], M[MAX_NV * MAX_NV], G[MAX_NV * MAX_NC], S[MAX_N];
    const int n = dae->nv + dae->mp;
    int rank;
    assert_int_equal(ga_dae_mass(dae, t, q, M), GA_OK);
    assert_int_equal(ga_dae_gradient(dae, t, q, v, G), GA_OK);
    full_saddle(dae, M, G, A);
    assert_int_equal(LAPACKE_dgelsd(LAPACK_COL_MAJOR, n, n, 1, A, n, x, n, S, 1e-11, &rank), 0);
    return rank;
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int i = 0; i < n; ++i)
        if (!(fabs(x[i]) <= most)) most = fabs(x[i]);
    return most;
}

/* |Phi| and |w|. */
static void residuals(ga_dae *dae, double t, const double *q, const double *v, double *position,
                      double *velocity)
{
    double Phi[MAX_NC], w[MAX_NC];
    static double G[MAX_NV * MAX_NC];
    assert_int_equal(ga_dae_constraint(dae, t, q, Phi), GA_OK);
    assert_int_equal(ga_dae_gradient(dae, t, q, v, G), GA_OK);
    assert_int_equal(ga_dae_velocity(dae, t, q, v, G, w), GA_OK);
    *position = largest(dae->m, Phi);
    *velocity = largest(dae->mp, w);
}

/* The given state, moved by up to `size`. */
static void disturb(const ga_dae *dae, const pb_problem *p, double size, double *q, double *v)
{
    double x[MAX_NV];
    for (int i = 0; i < dae->nv; ++i) {
        x[i] = size * sin(3.0 * i + 1);
        v[i] = p->v0[i] + size * cos(5.0 * i + 2);
    }
    ga_dae_update(dae, GA_MAP_EXP, p->q0, x, q);
}

/* v' and multipliers are those of LAPACK; of redundant constraints the reactions are. */
static void check_acceleration(ga_dae *dae, double t, const double *q, const double *v,
                               const double *vd, const double *multipliers,
                               const problem_case *c)
{
    double x[MAX_N], reaction[MAX_NV];
    static double G[MAX_NV * MAX_NC];
    const ga_point at = {.t = t, .q = q, .v = v};
    assert_int_equal(ga_dae_force(dae, &at, x), GA_OK);
    assert_int_equal(ga_dae_acceleration_rhs(dae, t, q, v, x + dae->nv), GA_OK);
    const int rank = solve_full(dae, t, q, v, x);
    assert_int_equal(rank, dae->nv + dae->mp - c->redundant);
    const double size = 1 + largest(dae->nv, x), forces = 1 + largest(dae->mp, x + dae->nv);
    for (int i = 0; i < dae->nv; ++i) assert_below(fabs(vd[i] - x[i]), 1e-9 * size, c->name);
    assert_int_equal(ga_dae_gradient(dae, t, q, v, G), GA_OK);
    memset(reaction, 0, sizeof reaction);
    ga_coords_multiply_transposed(&dae->G, G, 1, multipliers, reaction);
    ga_coords_multiply_transposed(&dae->G, G, -1, x + dae->nv, reaction);
    assert_below(largest(dae->nv, reaction), 1e-9 * forces, c->name);
}

/* Onto the constraints, by the smallest change of v in the mass metric: dv = v - v0 minimises
 * dv^T M dv, so A (dv, l) = (0, G dv). */
static void test_start(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k)
        for (int solver = GA_SOLVER_AUTO; solver <= GA_SOLVER_BLOCK; ++solver) {
            pb_problem *p = create_problem(k);
            ga_dae dae;
            ga_consistent c = {0};
            ga_report report;
            double q[MAX_NQ], v[MAX_NV], v_given[MAX_NV], vd[MAX_NV], multipliers[MAX_NC] = {0};
            double position, velocity;
            assert_int_equal(ga_dae_create(&p->system, &dae), GA_OK);
            assert_int_equal(ga_consistent_create(&dae, (ga_solver)solver, &c), GA_OK);
            disturb(&dae, p, 1e-2, q, v);
            memcpy(v_given, v, sizeof v);
            assert_status(
                ga_consistent_start(&c, p->t0, q, v, INFINITY, vd, multipliers, &report), GA_OK,
                report);
            residuals(&dae, p->t0, q, v, &position, &velocity);
            assert_below(position, 1e-13, models[k].name);
            assert_below(velocity, 1e-12 * (1 + largest(dae.nv, v)), models[k].name);
            assert_int_equal(c.redundancy.rank, dae.mp - models[k].redundant);
            assert_int_equal(c.redundancy.found.count, models[k].redundant);
            if (dae.m) assert_true(c.projection.q > 1e-4 && c.projection.q < 0.1);
            check_acceleration(&dae, p->t0, q, v, vd, multipliers, &models[k]);

            double x[MAX_N] = {0}, dv[MAX_NV];
            static double G[MAX_NV * MAX_NC];
            for (int i = 0; i < dae.nv; ++i) dv[i] = v[i] - v_given[i];
            assert_int_equal(ga_dae_gradient(&dae, p->t0, q, v, G), GA_OK);
            ga_coords_multiply(&dae.G, G, 1, dv, x + dae.nv);
            solve_full(&dae, p->t0, q, v, x);
            for (int i = 0; i < dae.nv; ++i)
                assert_below(fabs(x[i] - dv[i]), 1e-10, models[k].name);
            ga_consistent_destroy(&c);
            ga_dae_destroy(&dae);
            pb_destroy(p);
        }
}

/* From nearby, at another time and place than that of the start. */
static void test_correct(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create_problem(k);
        ga_dae dae;
        ga_consistent c = {0};
        ga_report report;
        double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], multipliers[MAX_NC] = {0};
        double x[MAX_NV], position, velocity;
        assert_int_equal(ga_dae_create(&p->system, &dae), GA_OK);
        assert_int_equal(ga_consistent_create(&dae, GA_SOLVER_AUTO, &c), GA_OK);
        disturb(&dae, p, 0, q, v);
        assert_status(ga_consistent_start(&c, p->t0, q, v, INFINITY, vd, multipliers, &report),
                      GA_OK, report);
        const double h = 1e-3, t = p->t0 + h; /* a step of first order */
        for (int i = 0; i < dae.nv; ++i) {
            x[i] = h * v[i];
            v[i] += h * vd[i];
        }
        ga_dae_update(&dae, GA_MAP_EXP, q, x, q);
        assert_true(ga_consistent_correct(&c, t, q, v, GA_POSITION_LEVEL | GA_VELOCITY_LEVEL));
        residuals(&dae, t, q, v, &position, &velocity);
        assert_below(position, 1e-13, models[k].name);
        assert_below(velocity, 1e-11 * (1 + largest(dae.nv, v)), models[k].name);
        assert_int_equal(ga_consistent_acceleration(&c, t, q, v, vd, multipliers), GA_OK);
        check_acceleration(&dae, t, q, v, vd, multipliers, &models[k]);
        ga_consistent_destroy(&c);
        ga_dae_destroy(&dae);
        pb_destroy(p);
    }
}

/* A step of first order along the motion. */
static void go_on(ga_dae *dae, ga_consistent *c, double t, double h, double *q, double *v,
                  const double *vd)
{
    double x[MAX_NV];
    for (int i = 0; i < dae->nv; ++i) {
        x[i] = h * v[i];
        v[i] += h * vd[i];
    }
    ga_dae_update(dae, GA_MAP_EXP, q, x, q);
    assert_true(ga_consistent_correct(c, t + h, q, v, GA_POSITION_LEVEL | GA_VELOCITY_LEVEL));
}

/* Along a motion with the factors of a few of its points: the same accelerations and
 * multipliers as with those of each. Factors made again at the same point give the same bits.
 */
static void test_nearby(void **state)
{
    (void)state;
    enum { STEPS = 40, MOST_FACTORIZATIONS = STEPS / 2 };
    const double h = 5e-5;
    for (int k = 0; k < PROBLEMS; ++k) {
        if (models[k].redundant) continue;
        pb_problem *p = create_problem(k);
        ga_dae dae;
        ga_consistent c = {0};
        ga_nearby near = {0}, again = {0};
        ga_report report;
        long factorizations = 0;
        double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], multipliers[MAX_NC] = {0};
        double x[MAX_NV], l[MAX_NC], y[MAX_NV], m[MAX_NC];
        assert_int_equal(ga_dae_create(&p->system, &dae), GA_OK);
        assert_int_equal(ga_consistent_create(&dae, GA_SOLVER_AUTO, &c), GA_OK);
        assert_int_equal(ga_nearby_create(&dae, GA_SOLVER_AUTO, &near), GA_OK);
        assert_int_equal(ga_nearby_create(&dae, GA_SOLVER_AUTO, &again), GA_OK);
        near.saddle.factorizations = &factorizations;
        disturb(&dae, p, 0, q, v);
        assert_status(ga_consistent_start(&c, p->t0, q, v, INFINITY, vd, multipliers, &report),
                      GA_OK, report);
        assert_false(ga_nearby_solve(&near, &dae, p->t0, q, v, vd, multipliers));
        for (int step = 0; step < STEPS; ++step) {
            const double t = p->t0 + step * h;
            memcpy(x, vd, sizeof x); /* as they were a step ago */
            memcpy(l, multipliers, sizeof l);
            go_on(&dae, &c, t, h, q, v, vd);
            assert_int_equal(ga_consistent_acceleration(&c, t + h, q, v, vd, multipliers),
                             GA_OK);
            memcpy(y, x, sizeof y);
            memcpy(m, l, sizeof m);
            assert_true(ga_nearby_follow(&near, &dae, t + h, q, v, x, l));
            const double size = largest(dae.nv, vd), force = largest(dae.mp, multipliers);
            for (int i = 0; i < dae.nv; ++i)
                assert_below(fabs(x[i] - vd[i]), 1e-11 * size, models[k].name);
            for (int i = 0; i < dae.mp; ++i)
                assert_below(fabs(l[i] - multipliers[i]), 1e-11 * force, models[k].name);

            again.factored = true; /* as if loaded */
            again.t = near.t;
            memcpy(again.q, near.q, (size_t)dae.nq * sizeof *q);
            memcpy(again.v, near.v, (size_t)dae.nv * sizeof *v);
            assert_int_equal(ga_nearby_restore(&again, &dae), GA_OK);
            assert_true(ga_nearby_solve(&again, &dae, t + h, q, v, y, m));
            assert_memory_equal(x, y, (size_t)dae.nv * sizeof *x);
            assert_memory_equal(l, m, (size_t)dae.mp * sizeof *l);

            assert_false(ga_nearby_recall(&near, t, q, v, y, m));
            memset(y, 0, sizeof y);
            assert_true(ga_nearby_recall(&near, t + h, q, v, y, m));
            assert_memory_equal(x, y, (size_t)dae.nv * sizeof *x);
        }
        assert_true(factorizations > 0 && factorizations <= MOST_FACTORIZATIONS);
        ga_nearby_forget(&near);
        assert_false(ga_nearby_solve(&near, &dae, p->t0, q, v, x, l));
        ga_nearby_destroy(&near);
        ga_nearby_destroy(&again);
        ga_consistent_destroy(&c);
        ga_dae_destroy(&dae);
        pb_destroy(p);
    }
}

/* Values too far away, and a matrix that is singular, are explained. */
static void test_messages(void **state)
{
    (void)state;
    pb_problem *p = create_problem(0);
    ga_dae dae;
    ga_consistent c = {0};
    ga_report report;
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], multipliers[MAX_NC] = {0};
    assert_int_equal(ga_dae_create(&p->system, &dae), GA_OK);
    assert_int_equal(ga_consistent_create(&dae, GA_SOLVER_AUTO, &c), GA_OK);
    disturb(&dae, p, 1e-2, q, v);
    assert_status(ga_consistent_start(&c, p->t0, q, v, 1e-6, vd, multipliers, &report),
                  GA_ERR_INCONSISTENT, report);
    assert_message(report, "more than the 1e-06 allowed");
    ga_consistent_destroy(&c);
    ga_dae_destroy(&dae);
    pb_destroy(p);
    ga_consistent_destroy(&(ga_consistent){0});
}

static long asked; /* how often for M, G and f */

static ga_eval together(void *user, const ga_point *at, const ga_wanted *wanted)
{
    const ga_system *sys = &((const pb_problem *)user)->system;
    ++asked;
    if (wanted->mass) assert_int_equal(sys->mass(sys->user, at, wanted->mass), GA_EVAL_OK);
    if (wanted->gradient)
        assert_int_equal(sys->gradient(sys->user, at, wanted->gradient), GA_EVAL_OK);
    if (wanted->force) assert_int_equal(sys->force(sys->user, at, wanted->force), GA_EVAL_OK);
    return GA_EVAL_OK;
}

static ga_eval alone(void *user, const ga_point *at, double *out)
{
    (void)user, (void)at, (void)out;
    ++asked;
    return GA_EVAL_RECOVERABLE;
}

static ga_eval right_hand_side(void *user, const ga_point *at, double *out)
{
    const ga_system *sys = &((const pb_problem *)user)->system;
    return sys->acceleration_rhs(sys->user, at, out);
}

/* Accelerations ask for M, G and f together where the system offers that: they mostly have
 * sines and frames in common. */
static void test_at_once(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_andrews_relative_create(&p), GA_OK);
    ga_system system = p->system;
    system.user = p;
    system.all = together;
    system.mass = system.gradient = system.force = alone;
    system.acceleration_rhs = right_hand_side;
    double expected[MAX_NV], vd[MAX_NV], multipliers[MAX_NC] = {0};
    for (int k = 0; k < 2; ++k) {
        ga_dae dae;
        ga_consistent c = {0};
        assert_int_equal(ga_dae_create(k ? &system : &p->system, &dae), GA_OK);
        assert_int_equal(ga_consistent_create(&dae, GA_SOLVER_AUTO, &c), GA_OK);
        asked = 0;
        assert_int_equal(
            ga_consistent_acceleration(&c, p->t0, p->q0, p->v0, k ? vd : expected, multipliers),
            GA_OK);
        assert_int_equal(asked, k);
        ga_consistent_destroy(&c);
        ga_dae_destroy(&dae);
    }
    for (int i = 0; i < 7; ++i) assert_true(vd[i] == expected[i]);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start), cmocka_unit_test(test_correct),
        cmocka_unit_test(test_nearby), cmocka_unit_test(test_messages),
        cmocka_unit_test(test_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
