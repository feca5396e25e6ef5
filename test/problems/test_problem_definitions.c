/* The problems themselves: derivatives against difference quotients, start values against the
 * constraints, closed-form solutions and published states against the equations. */
#include "problems/problems.h"
#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MAX_NQ = 32, MAX_NC = 32, MAX_N = MAX_NQ + MAX_NC };

/* Every problem in the folder, one line each. */

static ga_status pendulum_0(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status pendulum_2(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status pendulum_left(pb_problem **out) { return pb_pendulum_create(-0.31, out); }
static ga_status top_r3so3(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }
static ga_status pendulum_model(pb_problem **out)
{
    return pb_pendulum_model_create(NULL, out);
}
static ga_status pendulum_model_stiff(pb_problem **out)
{
    pb_pendulum_model_def def = pb_pendulum_model_default();
    def.k = 1e8;
    return pb_pendulum_model_create(&def, out);
}
static ga_status oscillator(pb_problem **out) { return pb_oscillator_create(4, 3, 0.1, out); }
static ga_status chain_1(pb_problem **out) { return pb_chain_create(1, out); }
static ga_status chain_5(pb_problem **out) { return pb_chain_create(5, out); }

static ga_status (*const constructors[])(pb_problem **) = {
    pendulum_0,
    pendulum_2,
    pendulum_left,
    top_r3so3,
    top_se3,
    pb_slider_crank_create,
    pb_andrews_relative_create,
    pb_andrews_absolute_create,
    pendulum_model,
    pendulum_model_stiff,
    pb_rheonomic_create,
    pb_rheonomic_body_create,
    oscillator,
    pb_free_top_create,
    chain_1,
    chain_5,
};
enum { PROBLEMS = sizeof constructors / sizeof constructors[0] };

/* Sizes and dense matrices of a problem. */

typedef struct sizes {
    int nq, nv, nc;
} sizes;

static sizes sizes_of(const ga_system *s)
{
    return (sizes){ga_nodes_nq(s->node_count, s->nodes), ga_nodes_nv(s->node_count, s->nodes),
                   s->constraint_count};
}

static pb_problem *create(int k)
{
    pb_problem *problem = NULL;
    assert_int_equal(constructors[k](&problem), GA_OK);
    const sizes n = sizes_of(&problem->system);
    assert_true(n.nq <= MAX_NQ && n.nc <= MAX_NC);
    return problem;
}

static void evaluate(const ga_system *s, ga_callback *callback, const ga_point *at, double *out)
{
    assert_non_null(callback);
    assert_int_equal(callback(s->user, at, out), GA_EVAL_OK);
}

/* Column-major rows x cols; entries start as NaN so that one left unwritten shows. */
static void evaluate_matrix(const ga_system *s, ga_callback *callback, ga_pattern pattern,
                            const ga_point *at, int rows, int cols, double *out)
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
static void multiply_add(int rows, int cols, const double *A, const double *x, double *y)
{
    for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) y[i] += A[i + rows * j] * x[j];
}

static void multiply_transposed_add(int rows, int cols, const double *A, const double *x,
                                    double *y)
{
    for (int j = 0; j < cols; ++j)
        for (int i = 0; i < rows; ++i) y[j] += A[i + rows * j] * x[i];
}

static void gradient_at(const ga_system *s, const ga_point *at, double *B)
{
    const sizes n = sizes_of(s);
    evaluate_matrix(s, s->gradient, s->gradient_pattern, at, n.nc, n.nv, B);
}

static void mass_at(const ga_system *s, const ga_point *at, double *M)
{
    const sizes n = sizes_of(s);
    evaluate_matrix(s, s->mass, s->mass_pattern, at, n.nv, n.nv, M);
}

/* Phi */
static void position_residual(const ga_system *s, const ga_point *at, double *out)
{
    evaluate(s, s->constraint, at, out);
}

/* B v + Phi_t */
static void velocity_residual(const ga_system *s, const ga_point *at, double *out)
{
    const sizes n = sizes_of(s);
    double B[MAX_NC * MAX_NQ];
    memset(out, 0, (size_t)n.nc * sizeof *out);
    if (s->constraint_rate) evaluate(s, s->constraint_rate, at, out);
    gradient_at(s, at, B);
    multiply_add(n.nc, n.nv, B, at->v, out);
}

/* -f */
static void negative_force(const ga_system *s, const ga_point *at, double *out)
{
    evaluate(s, s->force, at, out);
    for (int i = 0; i < sizes_of(s).nv; ++i) out[i] = -out[i];
}

/* M v' - f + B^T lambda */
static void dynamic_residual(const ga_system *s, const ga_point *at, double *out)
{
    const sizes n = sizes_of(s);
    double A[MAX_NQ * MAX_NQ];
    negative_force(s, at, out);
    mass_at(s, at, A);
    multiply_add(n.nv, n.nv, A, at->vd, out);
    if (n.nc == 0) return;
    gradient_at(s, at, A);
    multiply_transposed_add(n.nc, n.nv, A, at->lambda, out);
}

/* Difference quotients: central with five points, (8 (y1 - y-1) - (y2 - y-2))/12h. With h =
 * 1e-4 truncation is below 1e-10 for the shortest length in play (0.03, in Andrews' mechanism),
 * and round-off near 1e-11. */

typedef void residual(const ga_system *s, const ga_point *at, double *out);

typedef enum direction { ALONG_Q, ALONG_V, ALONG_T, ALONG_MOTION } direction;

static void difference(const ga_system *s, residual *g, int rows, const ga_point *at,
                       direction way, int j, double step, double *out)
{
    static const double place[4] = {1, -1, 2, -2}, weight[4] = {8, -8, -1, 1};
    const sizes n = sizes_of(s);
    memset(out, 0, (size_t)rows * sizeof *out);
    for (int k = 0; k < 4; ++k) {
        double q[MAX_NQ], v[MAX_NQ], x[MAX_NQ] = {0}, y[MAX_NQ];
        ga_point moved = *at;
        if (way == ALONG_Q) x[j] = place[k] * step;
        if (way == ALONG_MOTION)
            for (int i = 0; i < n.nv; ++i) x[i] = place[k] * step * at->v[i];
        ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, at->q, x, q);
        memcpy(v, at->v, (size_t)n.nv * sizeof *v);
        if (way == ALONG_V) v[j] += place[k] * step;
        if (way == ALONG_T || way == ALONG_MOTION) moved.t += place[k] * step;
        moved.q = q;
        moved.v = v;
        g(s, &moved, y);
        for (int i = 0; i < rows; ++i) out[i] += weight[k] / (12 * step) * y[i];
    }
}

static const double step_size = 1e-4;
static const double derivative_tolerance = 3e-9; /* see difference; relative to the block */

static double largest(const double *x, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]));
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

static double distance(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]));
    }
    return most;
}

#define assert_small(value, bound, problem)                                                    \
    do {                                                                                       \
        const double value_ = (value), bound_ = (bound);                                       \
        if (!(value_ <= bound_))                                                               \
            fail_msg("%s: %s = %g > %g", (problem)->name, #value, value_, bound_);             \
    } while (0)

/* A given matrix against the difference quotients of g in the direction way. The magnitude of g
 * itself bounds the round-off: add eps |g| / step to the tolerance. */
static void check_block(const pb_problem *p, ga_callback *callback, ga_pattern pattern,
                        residual *g, int rows, const ga_point *at, direction way)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    double given[MAX_NQ * MAX_NQ], expected[MAX_NQ * MAX_NQ], value[MAX_NQ];
    evaluate_matrix(s, callback, pattern, at, rows, n.nv, given);
    for (int j = 0; j < n.nv; ++j)
        difference(s, g, rows, at, way, j, step_size, expected + rows * j);
    g(s, at, value);
    const double scale = fmax(1, largest(expected, rows * n.nv));
    const double round_off = 10 * DBL_EPSILON * largest(value, rows) / step_size;
    assert_small(distance(given, expected, rows * n.nv),
                 derivative_tolerance * scale + round_off, p);
}

static void check_derivatives(const pb_problem *p, const ga_point *at)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    check_block(p, s->stiffness, s->stiffness_pattern, dynamic_residual, n.nv, at, ALONG_Q);
    check_block(p, s->damping, s->damping_pattern, negative_force, n.nv, at, ALONG_V);
    if (n.nc == 0) return;
    check_block(p, s->gradient, s->gradient_pattern, position_residual, n.nc, at, ALONG_Q);
    check_block(p, s->velocity_stiffness, s->velocity_stiffness_pattern, velocity_residual,
                n.nc, at, ALONG_Q);

    double given[MAX_NC], expected[MAX_NC], value[MAX_NC];
    if (s->constraint_rate) {
        evaluate(s, s->constraint_rate, at, given);
        difference(s, position_residual, n.nc, at, ALONG_T, 0, step_size, expected);
        assert_small(distance(given, expected, n.nc), derivative_tolerance, p);
    }
    /* c = -(d/ds)(B v + Phi_t) along q o exp(s v), t + s; a fast motion needs a short step */
    const double speed = fmax(1, largest(at->v, n.nv)), step = step_size / speed;
    evaluate(s, s->acceleration_rhs, at, given);
    difference(s, velocity_residual, n.nc, at, ALONG_MOTION, 0, step, expected);
    velocity_residual(s, at, value);
    for (int i = 0; i < n.nc; ++i) expected[i] = -expected[i];
    assert_small(distance(given, expected, n.nc),
                 derivative_tolerance * speed * speed +
                     10 * DBL_EPSILON * (speed + largest(value, n.nc)) / step,
                 p);
}

/* Uniform in [-1, 1], the same on every machine. */
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

static void test_derivatives_at_start(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        double vd[MAX_NQ], lambda[MAX_NC];
        uint64_t seed = 7;
        for (int i = 0; i < MAX_NQ; ++i) vd[i] = uniform(&seed);
        for (int i = 0; i < MAX_NC; ++i) lambda[i] = 3 * uniform(&seed);
        const ga_point at = {p->t0, p->q0, p->v0, vd, lambda};
        check_derivatives(p, &at);
        pb_destroy(p);
    }
}

/* The size of what happens in a problem, so that no term hides behind a larger one: from its
 * reference at the end, or 2. */
static double magnitude(const double *x, int n) { return fmax(2, x ? largest(x, n) : 0); }

/* Off the constraints too: derivatives may not rely on Phi = 0. */
static void test_derivatives_nearby(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        const ga_system *s = &p->system;
        const sizes n = sizes_of(s);
        pb_reference end = {0};
        if (p->reference_count > 0) end = p->references[p->reference_count - 1];
        const double v_scale = magnitude(end.v, n.nv), vd_scale = magnitude(end.vd, n.nv);
        const double lambda_scale = magnitude(end.lambda, n.nc);
        uint64_t seed = 11;
        for (int round = 0; round < 3; ++round) {
            double x[MAX_NQ], q[MAX_NQ], v[MAX_NQ], vd[MAX_NQ], lambda[MAX_NC];
            /* less than the shortest length, or Andrews' spring shrinks to nothing */
            for (int i = 0; i < n.nv; ++i) x[i] = 0.02 * uniform(&seed);
            for (int i = 0; i < n.nv; ++i) v[i] = v_scale * uniform(&seed);
            for (int i = 0; i < n.nv; ++i) vd[i] = vd_scale * uniform(&seed);
            for (int i = 0; i < n.nc; ++i) lambda[i] = lambda_scale * uniform(&seed);
            ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, p->q0, x, q);
            const ga_point at = {p->t0 + 0.3 + round, q, v, vd, lambda};
            check_derivatives(p, &at);
        }
        pb_destroy(p);
    }
}

static void test_mass(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        const ga_system *s = &p->system;
        const sizes n = sizes_of(s);
        double M[MAX_NQ * MAX_NQ], moved[MAX_NQ * MAX_NQ], x[MAX_NQ], q[MAX_NQ];
        const ga_point start = {p->t0, p->q0, NULL, NULL, NULL};
        mass_at(s, &start, M);
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < j; ++i)
                assert_true(M[i + n.nv * j] == M[j + n.nv * i]); /* same expression */
        for (int i = 0; i < n.nv; ++i) x[i] = 0.1 + 0.01 * i;
        ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, p->q0, x, q);
        const ga_point other = {p->t0 + 0.7, q, NULL, NULL, NULL};
        mass_at(s, &other, moved);
        const bool same = distance(M, moved, n.nv * n.nv) == 0;
        assert_int_equal(same, s->mass_is_constant);
        pb_destroy(p);
    }
}

/* vd and lambda from the equations: [M B^T; B 0] (vd, lambda) = (f, c). */
static void accelerate(const pb_problem *p, double t, const double *q, const double *v,
                       double *vd, double *lambda)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    const int N = n.nv + n.nc;
    double A[MAX_N * MAX_N] = {0}, rhs[MAX_N], block[MAX_NQ * MAX_NQ];
    const ga_point at = {t, q, v, NULL, NULL};
    mass_at(s, &at, block);
    for (int j = 0; j < n.nv; ++j)
        for (int i = 0; i < n.nv; ++i) A[i + N * j] = block[i + n.nv * j];
    if (n.nc > 0) gradient_at(s, &at, block);
    for (int j = 0; j < n.nv; ++j)
        for (int i = 0; i < n.nc; ++i)
            A[n.nv + i + N * j] = A[j + N * (n.nv + i)] = block[i + n.nc * j];
    evaluate(s, s->force, &at, rhs);
    if (n.nc > 0) evaluate(s, s->acceleration_rhs, &at, rhs + n.nv);
    lapack_int pivots[MAX_N];
    assert_int_equal(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, 1, A, N, pivots, rhs, N), 0);
    memcpy(vd, rhs, (size_t)n.nv * sizeof *vd);
    memcpy(lambda, rhs + n.nv, (size_t)n.nc * sizeof *lambda);
}

/* |x - y| in every component, relative to max(1, |y|). */
static double relative_distance(const double *x, const double *y, int n)
{
    double most = 0;
    for (int i = 0; i < n; ++i) {
        assert_true(isfinite(x[i]) && isfinite(y[i]));
        most = fmax(most, fabs(x[i] - y[i]) / fmax(1, fabs(y[i])));
    }
    return most;
}

/* Round-off of Phi and B v: a few units in the last place of the largest term. */
static void check_consistent(const pb_problem *p, double t, const double *q, const double *v,
                             double accuracy)
{
    const ga_system *s = &p->system;
    const sizes n = sizes_of(s);
    if (n.nc == 0) return;
    double Phi[MAX_NC], Bv[MAX_NC];
    const ga_point at = {t, q, v, NULL, NULL};
    position_residual(s, &at, Phi);
    velocity_residual(s, &at, Bv);
    assert_small(largest(Phi, n.nc), accuracy, p);
    assert_small(largest(Bv, n.nc), accuracy * fmax(1, largest(v, n.nv)), p);
}

static void test_start_is_consistent(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        check_consistent(p, p->t0, p->q0, p->v0, 8 * DBL_EPSILON);
        pb_destroy(p);
    }
}

/* Reference states: consistent, and vd and lambda follow from q and v. */
static void test_references(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        const sizes n = sizes_of(&p->system);
        for (int r = 0; r < p->reference_count; ++r) {
            const pb_reference *ref = &p->references[r];
            double vd[MAX_NQ], lambda[MAX_NC];
            assert_true(ref->t == p->t0 || ref->t == p->t_end);
            check_consistent(p, ref->t, ref->q, ref->v, ref->accuracy);
            accelerate(p, ref->t, ref->q, ref->v, vd, lambda);
            if (ref->vd) assert_small(relative_distance(vd, ref->vd, n.nv), ref->accuracy, p);
            assert_small(relative_distance(lambda, ref->lambda, n.nc), ref->accuracy, p);
            if (ref->t == p->t0) {
                assert_small(distance(ref->q, p->q0, n.nq), 8 * DBL_EPSILON, p);
                const double speed = fmax(1, largest(p->v0, n.nv));
                assert_small(distance(ref->v, p->v0, n.nv), 8 * DBL_EPSILON * speed, p);
            }
            ++seen;
        }
        pb_destroy(p);
    }
    assert_int_equal(seen, 2 * 8);
}

/* NOTES.md, section 4, typed once more from there. */
static void test_notes(void **state)
{
    (void)state;
    double vd[MAX_NQ], lambda[MAX_NC];
    pb_problem *p = NULL;

    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda);
    assert_small(fabs(lambda[0] - 10.2153932520435726), 1e-14, p);
    pb_destroy(p);

    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda);
    const double top_vd[6] = {0, -21.3017325444, -30.9608307692, 661.3461692308, 0, 0};
    const double top_lambda[3] = {0, -319.525988166, -317.262461538461539};
    assert_small(distance(vd, top_vd, 6), 1e-10, p);
    assert_small(distance(lambda, top_lambda, 3), 1e-12, p);
    const double x1[3] = {.173343964098386, .640088592070569, -.748490791133581};
    assert_small(distance(p->references[1].q, x1, 3), 1e-15, p);
    pb_destroy(p);

    assert_int_equal(pb_andrews_absolute_create(&p), GA_OK);
    const double end[7] = {15.8107711951537, -15.7563710584118, .040822240119646,
                           -.53473011634208, .524409965879954,  .53473011634208,
                           1.04808074104194};
    double angles[7], start[7];
    pb_andrews_angles(p->references[1].q, angles);
    assert_small(distance(angles, end, 7), 1e-13, p);
    pb_andrews_angles(p->q0, start);
    accelerate(p, 0, p->q0, p->v0, vd, lambda);
    assert_small(fabs(start[0] + 0.0617138900142764496), 1e-16, p);
    assert_small(fabs(lambda[10] - 98.5668703962), 1e-10, p); /* the relative model's first */
    assert_small(fabs(lambda[11] + 6.12268834425), 1e-11, p);
    pb_destroy(p);
}

/* Two rods released horizontally, in minimal coordinates: [4/3 1/2; 1/2 1/3] theta'' =
 * -g (3/2, 1/2), so theta'' = g (-9/7, 3/7). */
static void test_chain_start(void **state)
{
    (void)state;
    double vd[MAX_NQ], lambda[MAX_NC];
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(1, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda);
    const double rod[3] = {0, -0.75 * 9.81, -1.5 * 9.81}, pivot[2] = {0, -0.25 * 9.81};
    assert_small(distance(vd, rod, 3), 1e-13, p);
    assert_small(distance(lambda, pivot, 2), 1e-13, p);
    pb_destroy(p);

    assert_int_equal(pb_chain_create(2, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda);
    assert_small(fabs(vd[2] + 9 * 9.81 / 7), 1e-13, p);
    assert_small(fabs(vd[5] - 3 * 9.81 / 7), 1e-13, p);
    pb_destroy(p);
}

/* v = q' and vd = v' by difference quotients over time, with the step chosen for motions of
 * order one: truncation 1e-10, round-off 1e-12. */
static void check_rates(const pb_problem *p, double t, const double *q, const double *v,
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

static void test_exact_solutions(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(k);
        if (!p->exact) {
            pb_destroy(p);
            continue;
        }
        ++seen;
        const ga_system *s = &p->system;
        const sizes n = sizes_of(s);
        double q[MAX_NQ], v[MAX_NQ], vd[MAX_NQ], lambda[MAX_NC];
        double x[MAX_NQ], r[MAX_NQ], vd_solved[MAX_NQ], lambda_solved[MAX_NC];
        p->exact(p, p->t0, q, v, vd, lambda);
        ga_nodes_difference(s->node_count, s->nodes, p->q0, q, x);
        assert_small(largest(x, n.nv), 1e-15, p);
        assert_small(distance(v, p->v0, n.nv), 4e-15, p);
        for (int i = 0; i <= 10; ++i) {
            const double t = p->t0 + 0.1 * i * (p->t_end - p->t0);
            p->exact(p, t, q, v, vd, lambda);
            check_consistent(p, t, q, v, 1e-14);
            const ga_point at = {t, q, v, vd, lambda};
            dynamic_residual(s, &at, r);
            assert_small(largest(r, n.nv), 1e-13, p); /* terms of order 10 */
            accelerate(p, t, q, v, vd_solved, lambda_solved);
            assert_small(distance(vd, vd_solved, n.nv), 1e-12, p);
            assert_small(distance(lambda, lambda_solved, n.nc), 1e-12, p);
            check_rates(p, t, q, v, vd);
        }
        for (int i = 0; i < p->reference_count; ++i) {
            const pb_reference *ref = &p->references[i];
            p->exact(p, ref->t, q, v, vd, lambda);
            assert_small(distance(q, ref->q, n.nq), ref->accuracy, p);
            assert_small(distance(v, ref->v, n.nv), ref->accuracy, p);
            assert_small(relative_distance(lambda, ref->lambda, n.nc), ref->accuracy, p);
        }
        pb_destroy(p);
    }
    assert_int_equal(seen, 7);
}

/* reference.json, A, lambda_every_0p1 for x0 = 0.2. */
static void test_pendulum_samples(void **state)
{
    (void)state;
    static const double sample[5] = {1.02153932520435726e+01, 9.87380358845905040e+00,
                                     1.02586227702793877e+01, 9.83119551758697763e+00,
                                     1.03011689461592452e+01};
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    for (int i = 0; i < 5; ++i) {
        double lambda;
        p->exact(p, 0.5 * i, NULL, NULL, NULL, &lambda);
        assert_small(fabs(lambda - sample[i]), 4e-15 * 10, p);
    }
    pb_destroy(p);
}

/* A long chain: patterns stay in range and hold every entry once. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { N = 10000 };
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(N, &p), GA_OK);
    const ga_system *s = &p->system;
    assert_int_equal(s->node_count, N);
    assert_int_equal(ga_nodes_nv(s->node_count, s->nodes), 3 * N);
    const ga_pattern B = s->gradient_pattern;
    assert_int_equal(B.count, 8 * N - 4);
    double *entries = malloc((size_t)B.count * sizeof *entries);
    double *Phi = malloc(2 * N * sizeof *Phi);
    assert_non_null(entries);
    assert_non_null(Phi);
    const ga_point at = {0, p->q0, p->v0, NULL, NULL};
    evaluate(s, s->gradient, &at, entries);
    evaluate(s, s->constraint, &at, Phi);
    assert_true(largest(Phi, 2 * N) == 0); /* halves and integers */
    for (int i = 0; i < B.count; ++i) {
        assert_in_range(B.row[i], 0, 2 * N - 1);
        const int rod = B.col[i] / 3, joint = B.row[i] / 2;
        assert_true(rod == joint || rod == joint - 1);
    }
    free(entries);
    free(Phi);
    pb_destroy(p);
}

static void test_arguments(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.32, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_pendulum_create(NAN, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_heavy_top_create(GA_GROUP_RN, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_oscillator_create(1, 0, 1, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_chain_create(0, &p), GA_ERR_ARGUMENT);
    pb_pendulum_model_def def = pb_pendulum_model_default();
    def.L = 0;
    assert_int_equal(pb_pendulum_model_create(&def, &p), GA_ERR_ARGUMENT);
    assert_null(p);
    pb_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives_at_start),
        cmocka_unit_test(test_derivatives_nearby),
        cmocka_unit_test(test_mass),
        cmocka_unit_test(test_start_is_consistent),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_chain_start),
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_pendulum_samples),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
