/* Checks for problem definitions: derivatives against difference quotients, states against the
 * equations. */
#ifndef GA_TEST_DEFINITION_CHECKS_H
#define GA_TEST_DEFINITION_CHECKS_H

#include "problems/problems.h"
#include "test/support/unit.h"
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NQ = 32, MAX_NC = 32, MAX_N = MAX_NQ + MAX_NC };

typedef ga_status constructor(pb_problem **out);

/* Sizes and dense matrices of a problem. */

typedef struct sizes {
    int nq, nv, nc, np;
} sizes;

static inline sizes sizes_of(const ga_system *s)
{
    return (sizes){ga_nodes_nq(s->node_count, s->nodes), ga_nodes_nv(s->node_count, s->nodes),
                   s->constraint_count, s->nonholonomic_count};
}

static inline pb_problem *create(constructor *make)
{
    pb_problem *problem = NULL;
    assert_int_equal(make(&problem), GA_OK);
    const sizes n = sizes_of(&problem->system);
    assert_true(n.nq <= MAX_NQ && n.nc + n.np <= MAX_NC);
    return problem;
}

static inline void evaluate(const ga_system *s, ga_callback *callback, const ga_point *at,
                            double *out)
{
    assert_non_null(callback);
    assert_int_equal(callback(s->user, at, out), GA_EVAL_OK);
}

/* Column-major rows x cols; entries start as NaN so that one left unwritten shows. */
static inline void evaluate_matrix(const ga_system *s, ga_callback *callback,
                                   ga_pattern pattern, const ga_point *at, int rows, int cols,
                                   double *out)
{
    if (pattern.count == 0) {
        for (int i = 0; i < rows * cols; ++i) out[i] = NAN;
        evaluate(s, callback, at, out);
        return;
    }
    double *entries = malloc((size_t)pattern.count * sizeof *entries);
    assert_non_null(entries);
    for (int i = 0; i < pattern.count; ++i) entries[i] = NAN;
    evaluate(s, callback, at, entries);
    memset(out, 0, (size_t)(rows * cols) * sizeof *out);
    for (int i = 0; i < pattern.count; ++i) {
        assert_in_range(pattern.row[i], 0, rows - 1);
        assert_in_range(pattern.col[i], 0, cols - 1);
        out[pattern.row[i] + rows * pattern.col[i]] += entries[i];
    }
    free(entries);
}

/* y += A x or A^T x, A column-major rows x cols. */
static inline void multiply_add(int rows, int cols, const double *A, const double *x, double *y)
{
    for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) y[i] += A[i + rows * j] * x[j];
}

static inline void multiply_transposed_add(int rows, int cols, const double *A, const double *x,
                                           double *y)
{
    for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) y[j] += A[i + rows * j] * x[i];
}

static inline void gradient_at(const ga_system *s, const ga_point *at, double *B)
{
    const sizes n = sizes_of(s);
    evaluate_matrix(s, s->gradient, s->gradient_pattern, at, n.nc, n.nv, B);
}

static inline void nonholonomic_gradient_at(const ga_system *s, const ga_point *at, double *N)
{
    const sizes n = sizes_of(s);
    evaluate_matrix(s, s->nonholonomic_gradient, s->nonholonomic_gradient_pattern, at, n.np,
                    n.nv, N);
}

static inline void mass_at(const ga_system *s, const ga_point *at, double *M)
{
    const sizes n = sizes_of(s);
    evaluate_matrix(s, s->mass, s->mass_pattern, at, n.nv, n.nv, M);
}

/* Phi */
static inline void position_residual(const ga_system *s, const ga_point *at, double *out)
{
    evaluate(s, s->constraint, at, out);
}

/* B v + Phi_t */
static inline void velocity_residual(const ga_system *s, const ga_point *at, double *out)
{
    const sizes n = sizes_of(s);
    double B[MAX_NC * MAX_NQ];
    memset(out, 0, (size_t)n.nc * sizeof *out);
    if (s->constraint_rate) evaluate(s, s->constraint_rate, at, out);
    gradient_at(s, at, B);
    multiply_add(n.nc, n.nv, B, at->v, out);
}

/* k */
static inline void nonholonomic_residual(const ga_system *s, const ga_point *at, double *out)
{
    evaluate(s, s->nonholonomic, at, out);
}

static inline void force_at(const ga_system *s, const ga_point *at, double *out)
{
    evaluate(s, s->force, at, out);
}

/* M v' - f + B^T lambda + N^T psi, the last two only where the library adds them */
static inline void dynamic_residual(const ga_system *s, const ga_point *at, double *out)
{
    const sizes n = sizes_of(s);
    double A[MAX_NQ * MAX_NQ];
    evaluate(s, s->force, at, out);
    for (int i = 0; i < n.nv; ++i) out[i] = -out[i];
    mass_at(s, at, A);
    multiply_add(n.nv, n.nv, A, at->vd, out);
    if (s->reactions == GA_REACTIONS_IN_FORCE) return;
    if (n.nc > 0) {
        gradient_at(s, at, A);
        multiply_transposed_add(n.nc, n.nv, A, at->lambda, out);
    }
    if (n.np > 0) {
        nonholonomic_gradient_at(s, at, A);
        multiply_transposed_add(n.np, n.nv, A, at->psi, out);
    }
}

static inline double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]));
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static inline double distance(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

/* |x - y| in every component, relative to max(1, |y|). */
static inline double relative_distance(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]) / fmax(1, fabs(y[i])));
    }
    return most;
}

#define assert_small(value, bound, problem)                                                    \
    do {                                                                                       \
        const double value_ = (value), bound_ = (bound);                                       \
        if (!(value_ <= bound_))                                                               \
            fail_msg("%s: %s = %g > %g", (problem)->name, #value, value_, bound_);             \
    } while (0)

/* Difference quotients: central with five points, (8 (y1 - y-1) - (y2 - y-2))/12h. With h =
 * 1e-4 truncation is below 1e-10 for the shortest length in play (0.03, in Andrews' mechanism),
 * and round-off near 1e-11. */

typedef void residual(const ga_system *s, const ga_point *at, double *out);

typedef enum direction {
    ALONG_Q,
    ALONG_V,
    ALONG_T,
    ALONG_MOTION,
    ALONG_LAMBDA,
    ALONG_PSI
} direction;

static inline void difference(const ga_system *s, residual *g, int rows, const ga_point *at,
                              direction way, int j, double step, double *out)
{
    static const double place[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    const sizes n = sizes_of(s);
    memset(out, 0, (size_t)rows * sizeof *out);
    for (int k = 0; k < 4; ++k) {
        double q[MAX_NQ], v[MAX_NQ], x[MAX_NQ] = {0}, y[MAX_NQ], lambda[MAX_NC], psi[MAX_NC];
        ga_point moved = *at;
        const double move = place[k] * step;
        if (way == ALONG_Q) x[j] = move;
        if (way == ALONG_MOTION)
            for (int i = 0; i < n.nv; ++i) x[i] = move * at->v[i];
        ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, at->q, x, q);
        memcpy(v, at->v, (size_t)n.nv * sizeof *v);
        if (way == ALONG_V) v[j] += move;
        if (way == ALONG_T || way == ALONG_MOTION) moved.t += move;
        moved.q = q;
        moved.v = v;
        if (way == ALONG_LAMBDA) {
            memcpy(lambda, at->lambda, (size_t)n.nc * sizeof *lambda);
            lambda[j] += move;
            moved.lambda = lambda;
        }
        if (way == ALONG_PSI) {
            memcpy(psi, at->psi, (size_t)n.np * sizeof *psi);
            psi[j] += move;
            moved.psi = psi;
        }
        g(s, &moved, y);
        for (int i = 0; i < rows; ++i) out[i] += weight[k] / (12 * step) * y[i];
    }
}

/* How fine a motion is: the step of the quotients, and what they resolve relative to the block
 * (see difference). Sharp features need a shorter step, which costs digits. */
typedef struct resolution {
    double step, tolerance;
} resolution;

static const resolution usual = {1e-4, 3e-9};

/* Given columns against the difference quotients of g in the direction way. The magnitude of g
 * itself bounds the round-off: add eps |g| / step to the tolerance. */
static inline void check_columns(const pb_problem *p, const double *given, residual *g,
                                 int rows, int cols, const ga_point *at, direction way,
                                 resolution fine)
{
    const ga_system *s = &p->system;
    double expected[MAX_NQ * MAX_NQ], value[MAX_NQ];
    for (int j = 0; j < cols; ++j)
        difference(s, g, rows, at, way, j, fine.step, expected + rows * j);
    g(s, at, value);
    const double scale = fmax(1, largest(expected, rows * cols));
    const double round_off = 10 * DBL_EPSILON * largest(value, rows) / fine.step;
    assert_small(distance(given, expected, rows * cols), fine.tolerance * scale + round_off, p);
}

static inline void check_block(const pb_problem *p, ga_callback *callback, ga_pattern pattern,
                               residual *g, int rows, const ga_point *at, direction way,
                               resolution fine)
{
    const sizes n = sizes_of(&p->system);
    double given[MAX_NQ * MAX_NQ];
    evaluate_matrix(&p->system, callback, pattern, at, rows, n.nv, given);
    check_columns(p, given, g, rows, n.nv, at, way, fine);
}

/* A right-hand side of the acceleration level: minus the derivative of g along q o exp(s v),
 * t + s. A fast motion needs a short step. */
static inline void check_acceleration(const pb_problem *p, ga_callback *callback, residual *g,
                                      int rows, const ga_point *at, resolution fine)
{
    const ga_system *s = &p->system;
    double given[MAX_NC], expected[MAX_NC], value[MAX_NC];
    const double speed = fmax(1, largest(at->v, sizes_of(s).nv)), step = fine.step / speed;
    evaluate(s, callback, at, given);
    difference(s, g, rows, at, ALONG_MOTION, 0, step, expected);
    g(s, at, value);
    for (int i = 0; i < rows; ++i) expected[i] = -expected[i];
    assert_small(distance(given, expected, rows),
                 fine.tolerance * speed * speed +
                     10 * DBL_EPSILON * (speed + largest(value, rows)) / step,
                 p);
}

static inline void check_derivatives(const pb_problem *p, const ga_point *at, resolution fine)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    check_block(p, s->stiffness, s->stiffness_pattern, dynamic_residual, n.nv, at, ALONG_Q,
                fine);
    check_block(p, s->damping, s->damping_pattern, dynamic_residual, n.nv, at, ALONG_V, fine);
    assert_int_equal(s->force_uses_multipliers, s->force_multipliers != NULL);
    if (s->force_uses_multipliers) {
        double L[MAX_NQ * MAX_NC];
        evaluate_matrix(s, s->force_multipliers, s->force_multipliers_pattern, at, n.nv,
                        n.nc + n.np, L);
        check_columns(p, L, force_at, n.nv, n.nc, at, ALONG_LAMBDA, fine);
        check_columns(p, L + n.nv * n.nc, force_at, n.nv, n.np, at, ALONG_PSI, fine);
    }
    if (n.nc > 0) {
        check_block(p, s->gradient, s->gradient_pattern, position_residual, n.nc, at, ALONG_Q,
                    fine);
        check_block(p, s->velocity_stiffness, s->velocity_stiffness_pattern, velocity_residual,
                    n.nc, at, ALONG_Q, fine);
        check_acceleration(p, s->acceleration_rhs, velocity_residual, n.nc, at, fine);
    }
    if (s->constraint_rate) {
        double given[MAX_NC], expected[MAX_NC];
        evaluate(s, s->constraint_rate, at, given);
        difference(s, position_residual, n.nc, at, ALONG_T, 0, fine.step, expected);
        assert_small(distance(given, expected, n.nc), fine.tolerance, p);
    }
    if (n.np > 0) {
        check_block(p, s->nonholonomic_gradient, s->nonholonomic_gradient_pattern,
                    nonholonomic_residual, n.np, at, ALONG_V, fine);
        check_block(p, s->nonholonomic_stiffness, s->nonholonomic_stiffness_pattern,
                    nonholonomic_residual, n.np, at, ALONG_Q, fine);
        check_acceleration(p, s->nonholonomic_rhs, nonholonomic_residual, n.np, at, fine);
    }
}

/* Uniform in [-1, 1], the same on every machine. */
static inline double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static inline void fill(double *x, int n, double scale, uint64_t *seed)
{
    for (int i = 0; i < n; ++i) x[i] = scale * uniform(seed);
}

static inline void check_derivatives_at_start(const pb_problem *p, resolution fine)
{
    double vd[MAX_NQ], lambda[MAX_NC], psi[MAX_NC];
    uint64_t seed = 7;
    fill(vd, MAX_NQ, 1, &seed);
    fill(lambda, MAX_NC, 3, &seed);
    fill(psi, MAX_NC, 3, &seed);
    const ga_point at = {p->t0, p->q0, p->v0, vd, lambda, psi};
    check_derivatives(p, &at, fine);
}

/* The size of what happens in a problem, so that no term hides behind a larger one: from its
 * reference at the end, or 2. */
static inline double magnitude(const double *x, int n)
{
    return fmax(2, x ? largest(x, n) : 0);
}

/* Off the constraints too: derivatives may not rely on Phi = 0. */
static inline void check_derivatives_nearby(const pb_problem *p, resolution fine)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    pb_reference end = {0};
    if (p->reference_count > 0) end = p->references[p->reference_count - 1];
    uint64_t seed = 11;
    for (int round = 0; round < 3; ++round) {
        double x[MAX_NQ], q[MAX_NQ], v[MAX_NQ], vd[MAX_NQ], lambda[MAX_NC], psi[MAX_NC];
        /* less than the shortest length, or Andrews' spring shrinks to nothing */
        fill(x, n.nv, 0.02, &seed);
        fill(v, n.nv, magnitude(end.v, n.nv), &seed);
        fill(vd, n.nv, magnitude(end.vd, n.nv), &seed);
        fill(lambda, n.nc, magnitude(end.lambda, n.nc), &seed);
        fill(psi, n.np, magnitude(end.psi, n.np), &seed);
        ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, p->q0, x, q);
        const ga_point at = {p->t0 + 0.3 + round, q, v, vd, lambda, psi};
        check_derivatives(p, &at, fine);
    }
}

/* The constant mass matrix is constant, the other one is not. */
static inline void check_mass_flag(const pb_problem *p)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    double M[MAX_NQ * MAX_NQ], moved[MAX_NQ * MAX_NQ], x[MAX_NQ], q[MAX_NQ];
    const ga_point start = {.t = p->t0, .q = p->q0};
    mass_at(s, &start, M);
    for (int i = 0; i < n.nv; ++i) x[i] = 0.1 + 0.01 * i;
    ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, p->q0, x, q);
    const ga_point other = {.t = p->t0 + 0.7, .q = q};
    mass_at(s, &other, moved);
    const bool same = distance(M, moved, n.nv * n.nv) == 0;
    assert_int_equal(same, s->mass_is_constant);
}

/* Equations. */

/* vd, lambda and psi from the equations, by Newton's method with the matrix
 *
 *     [ M  G^T - L ]    G = [B; N], L = df/d(lambda, psi); G^T only if reactions are added
 *     [ G     0    ]
 *
 * whose first step is all that is needed for forces without multipliers; the second takes away
 * the round-off of the first, which depends on the kernels that the BLAS has for a processor.
 */
static inline void accelerate(const pb_problem *p, double t, const double *q, const double *v,
                              double *vd, double *lambda, double *psi)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    const int mp = n.nc + n.np, N = n.nv + mp;
    double z[MAX_N] = {0}, *multipliers = z + n.nv;
    for (int i = 0; i < n.nc; ++i)
        if (p->lambda_guess) multipliers[i] = p->lambda_guess[i];
    for (int i = 0; i < n.np; ++i)
        if (p->psi_guess) multipliers[n.nc + i] = p->psi_guess[i];
    for (int round = 0; round < (s->force_uses_multipliers ? 12 : 2); ++round) {
        const ga_point at = {t, q, v, z, multipliers, multipliers + n.nc};
        double A[MAX_N * MAX_N] = {0}, G[MAX_NC * MAX_NQ] = {0}, block[MAX_NQ * MAX_NQ];
        double rhs[MAX_N] = {0}, c[MAX_NC] = {0};
        mass_at(s, &at, block);
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < n.nv; ++i) A[i + N * j] = block[i + n.nv * j];
        if (n.nc > 0) gradient_at(s, &at, block);
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < n.nc; ++i) G[i + mp * j] = block[i + n.nc * j];
        if (n.np > 0) nonholonomic_gradient_at(s, &at, block);
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < n.np; ++i) G[n.nc + i + mp * j] = block[i + n.np * j];
        const bool added = s->reactions == GA_REACTIONS_ADDED;
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < mp; ++i) {
                A[n.nv + i + N * j] = G[i + mp * j];
                if (added) A[j + N * (n.nv + i)] = G[i + mp * j];
            }
        if (s->force_uses_multipliers) {
            evaluate_matrix(s, s->force_multipliers, s->force_multipliers_pattern, &at, n.nv,
                            mp, block);
            for (int j = 0; j < mp; ++j)
                for (int i = 0; i < n.nv; ++i) A[i + N * (n.nv + j)] -= block[i + n.nv * j];
        }
        dynamic_residual(s, &at, rhs);
        if (n.nc > 0) evaluate(s, s->acceleration_rhs, &at, c);
        if (n.np > 0) evaluate(s, s->nonholonomic_rhs, &at, c + n.nc);
        multiply_add(mp, n.nv, G, z, rhs + n.nv);
        for (int i = 0; i < mp; ++i) rhs[n.nv + i] -= c[i];
        lapack_int pivots[MAX_N];
        assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, 1, A, N, pivots, rhs, N), 0);
        for (int i = 0; i < N; ++i) z[i] -= rhs[i];
    }
    memcpy(vd, z, (size_t)n.nv * sizeof *vd);
    if (n.nc > 0) memcpy(lambda, multipliers, (size_t)n.nc * sizeof *lambda);
    if (n.np > 0) memcpy(psi, multipliers + n.nc, (size_t)n.np * sizeof *psi);
}

/* Round-off of Phi, B v and k: a few units in the last place of the largest term. */
static inline void check_consistent(const pb_problem *p, double t, const double *q,
                                    const double *v, double accuracy)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    const ga_point at = {.t = t, .q = q, .v = v};
    const double speed = fmax(1, largest(v, n.nv));
    double r[MAX_NC];
    if (n.nc > 0) {
        position_residual(s, &at, r);
        assert_small(largest(r, n.nc), accuracy, p);
        velocity_residual(s, &at, r);
        assert_small(largest(r, n.nc), accuracy * speed, p);
    }
    if (n.np > 0) {
        nonholonomic_residual(s, &at, r);
        assert_small(largest(r, n.np), accuracy * speed, p);
    }
}

/* Reference states: consistent, and vd and multipliers follow from q and v. */
static inline void check_reference(const pb_problem *p, const pb_reference *ref)
{
    const sizes n = sizes_of(&p->system);
    double vd[MAX_NQ], lambda[MAX_NC], psi[MAX_NC];
    assert_true(ref->t == p->t0 || ref->t == p->t_end);
    check_consistent(p, ref->t, ref->q, ref->v, ref->accuracy);
    accelerate(p, ref->t, ref->q, ref->v, vd, lambda, psi);
    if (ref->vd) assert_small(relative_distance(vd, ref->vd, n.nv), ref->accuracy, p);
    if (n.nc > 0) {
        assert_non_null(ref->lambda);
        assert_small(relative_distance(lambda, ref->lambda, n.nc), ref->accuracy, p);
    }
    if (n.np > 0) {
        assert_non_null(ref->psi);
        assert_small(relative_distance(psi, ref->psi, n.np), ref->accuracy, p);
    }
    if (ref->t == p->t0) {
        assert_small(distance(ref->q, p->q0, n.nq), 8 * DBL_EPSILON, p);
        const double speed = fmax(1, largest(p->v0, n.nv));
        assert_small(distance(ref->v, p->v0, n.nv), 8 * DBL_EPSILON * speed, p);
    }
}

/* v = q' and vd = v' by difference quotients over time, with the step chosen for motions of
 * order one: truncation 1e-10, round-off 1e-12. */
static inline void check_rates(const pb_problem *p, double t, const double *q, const double *v,
                               const double *vd)
{
    static const double place[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    const double step = 1e-3;
    double v_quotient[MAX_NQ] = {0}, vd_quotient[MAX_NQ] = {0};
    for (int k = 0; k < 4; ++k) {
        double moved_q[MAX_NQ], moved_v[MAX_NQ], x[MAX_NQ];
        p->exact(p, t + place[k] * step, moved_q, moved_v, NULL, NULL);
        ga_nodes_difference(s->node_count, s->nodes, q, moved_q, x);
        for (int i = 0; i < n.nv; ++i) {
            v_quotient[i] += weight[k] / (12 * step) * x[i];
            vd_quotient[i] += weight[k] / (12 * step) * moved_v[i];
        }
    }
    assert_small(distance(v, v_quotient, n.nv), 1e-9, p);
    assert_small(distance(vd, vd_quotient, n.nv), 1e-9, p);
}

/* The closed form at t: consistent, a solution of the equations, and its own derivative. */
static inline void check_exact(const pb_problem *p, double t)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    double q[MAX_NQ], v[MAX_NQ], vd[MAX_NQ], lambda[MAX_NC], psi[MAX_NC];
    double r[MAX_NQ], vd_solved[MAX_NQ], lambda_solved[MAX_NC], psi_solved[MAX_NC];
    p->exact(p, t, q, v, vd, lambda);
    if (n.np > 0) p->exact_psi(p, t, psi);
    check_consistent(p, t, q, v, 1e-14);
    const ga_point at = {t, q, v, vd, lambda, psi};
    dynamic_residual(s, &at, r);
    assert_small(largest(r, n.nv), 1e-13, p); /* terms of order 10 */
    accelerate(p, t, q, v, vd_solved, lambda_solved, psi_solved);
    assert_small(distance(vd, vd_solved, n.nv), 1e-12, p);
    assert_small(distance(lambda, lambda_solved, n.nc), 1e-12, p);
    assert_small(distance(psi, psi_solved, n.np), 1e-12, p);
    check_rates(p, t, q, v, vd);
}

static inline void check_exact_start(const pb_problem *p)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    double q[MAX_NQ], v[MAX_NQ], x[MAX_NQ];
    p->exact(p, p->t0, q, v, NULL, NULL);
    ga_nodes_difference(s->node_count, s->nodes, p->q0, q, x);
    assert_small(largest(x, n.nv), 1e-15, p);
    assert_small(distance(v, p->v0, n.nv), 4e-15, p);
}

#endif
