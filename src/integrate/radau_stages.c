/* Radau IIA with three stages, order 5, as a one-step method.
 *
 * The equations are in the stabilised index-2 form of [GGL85], in one chart
 * per step, q = q_n o exp(xi):
 *
 *     T(xi) xi' = v - B^T eta
 *     M v'      = f - G^T (lambda, psi)
 *     w         = (B v + Phi_t, k) = 0
 *     Phi       = 0
 *
 * Stage i at t_n + c_i h has the unknowns y_i = (xi_i, V_i - v_n, (lambda, psi)_i, eta_i), and
 * derivatives y'_i = 1/h sum_j Ainv_ij y_j, Ainv the inverse of the method's matrix. The last
 * stage is the end of the step, so both constraint levels hold there.
 *
 * Newton's method is simplified, [HW96] section IV.8: tangents are taken at the predicted
 * second stage and serve all stages and iterations. (Tangents at t_n cost the heavy top 1.9
 * times the steps.) With u = T xi, T at the point of the tangents, the matrix for an eigenvalue
 * mu of Ainv is
 *
 *                  u               v            l         eta
 *     xi      [ mu/h + X          -1                      B^T ]        X = D_xi (T xi') T^-1
 *     r       [ K            mu/h M + C      G^T - L          ]
 *     w       [ Z                  G           (-e)           ]
 *     Phi     [ B                                        (-e) ]
 *
 * with -e for redundant constraints only (redundancy.c). Ainv = S Lambda S^-1 has one real
 * eigenvalue and a complex pair, so an iteration solves one real and one complex system.
 *
 * The error estimate is the embedded one of [HW96] eq. (8.19),
 *
 *     E(gamma) err = (T (v_n + sum e_i xi_i/h), M (v'_n + sum e_i W_i/h), 0, 0),
 *
 * of fourth order in h; v'_n comes from the constraints on acceleration level, as do the
 * multipliers that are reported: those of the stages are of order 3 only.
 *
 * Output between steps is by quintic Hermite interpolation of xi from q, v, v' at both ends.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/radau.h"
#include "lie/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* c_i = (4 -+ sqrt 6)/10, 1. */
static const double C[GA_RADAU_STAGES] = {0.155051025721682195, 0.644948974278317766, 1};
static const double AINV[GA_RADAU_STAGES][GA_RADAU_STAGES] = {
    {3.22474487139158894, 1.16784008469040557, -0.25319726474218085},
    {-3.5678400846904057, 0.775255128608410948, 1.05319726474218078},
    {5.53197264742180828, -7.53197264742180828, 5}};
/* Ainv = S Lambda SINV, Lambda = (GAMMA; ALPHA, -BETA; BETA, ALPHA). */
static const double S[GA_RADAU_STAGES][GA_RADAU_STAGES] = {
    {0.0944387624889752447, -0.141255295020954214, -0.0300291941051474241},
    {0.250213122965333323, 0.204129352293799943, 0.382942112757261921},
    {1, 1, 0}};
static const double SINV[GA_RADAU_STAGES][GA_RADAU_STAGES] = {
    {4.17871859155190517, 0.327682820761062366, 0.523376445499449505},
    {-4.17871859155190517, -0.327682820761062366, 0.476623554500550439},
    {-0.502872634945786823, 2.57192694985560522, -0.596039204828224922}};
static const double GAMMA = 3.63783425274449579, ALPHA = 2.68108287362775233,
                    BETA = 3.05043019924741055;
/* e_i = (-13 -+ 7 sqrt 6)/3, -1/3. */
static const double ERROR[GA_RADAU_STAGES] = {-10.0488093998274159, 1.38214273316074898,
                                              -1.0 / 3};

typedef enum ga_radau_block {
    BLOCK_EYE,
    BLOCK_CHART,
    BLOCK_MINUS,
    BLOCK_ETA,
    BLOCK_STIFFNESS,
    BLOCK_MASS,
    BLOCK_DAMPING,
    BLOCK_REACTION,
    BLOCK_FORCES,
    BLOCK_VELOCITY_STIFFNESS,
    BLOCK_VELOCITY,
    BLOCK_DIAGONAL,
    BLOCK_POSITION,
    BLOCK_ETA_DIAGONAL,
    BLOCK_COUNT
} ga_radau_block;

/* --- nodes -------------------------------------------------------------------------------- */

/* y = T x or T^-1 x by the blocks of the tangents; y is not x. */
static void apply_blocks(const ga_radau *x, const double *blocks, const double *a, double *b)
{
    const ga_system *sys = &x->dae.sys;
    for (int k = 0, at = 0, block = 0; k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        if (ga_radau_is_flat(sys->nodes[k]))
            memcpy(b + at, a + at, (size_t)n * sizeof *b);
        else
            ga_radau_multiply(n, blocks + GA_RADAU_BLOCK * block++, a + at, b + at);
        at += n;
    }
}

/* v = T(xi) rate, or the other way round. */
static void chart_velocity(const ga_radau *x, const double *xi, const double *rate, double *v)
{
    const ga_system *sys = &x->dae.sys;
    double T[GA_RADAU_BLOCK];
    for (int k = 0, at = 0; k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        if (ga_radau_is_flat(sys->nodes[k])) {
            memcpy(v + at, rate + at, (size_t)n * sizeof *v);
        } else {
            ga_lie_tangent(sys->nodes[k], GA_MAP_EXP, xi + at, T);
            ga_radau_multiply(n, T, rate + at, v + at);
        }
        at += n;
    }
}

static void chart_rate(const ga_radau *x, const double *xi, const double *v, double *rate)
{
    const ga_system *sys = &x->dae.sys;
    double T[GA_RADAU_BLOCK];
    for (int k = 0, at = 0; k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        if (ga_radau_is_flat(sys->nodes[k])) {
            memcpy(rate + at, v + at, (size_t)n * sizeof *v);
        } else {
            ga_lie_tangent_inverse(sys->nodes[k], GA_MAP_EXP, xi + at, T);
            ga_radau_multiply(n, T, v + at, rate + at);
        }
        at += n;
    }
}

/* T, T^-1 and X at (xi, rate). */
static void chart_tangents(ga_radau *x, const double *xi, const double *rate)
{
    const ga_system *sys = &x->dae.sys;
    double DT[GA_RADAU_BLOCK], X[GA_RADAU_BLOCK], *value = x->tangent.X;
    for (int k = 0, at = 0, block = 0; k < sys->node_count; ++k) {
        const ga_node node = sys->nodes[k];
        const int n = ga_node_nv(node);
        if (!ga_radau_is_flat(node)) {
            double *T = x->tangent.T + GA_RADAU_BLOCK * block,
                   *Tinv = x->tangent.Tinv + GA_RADAU_BLOCK * block;
            ga_lie_tangent(node, GA_MAP_EXP, xi + at, T);
            ga_lie_tangent_inverse(node, GA_MAP_EXP, xi + at, Tinv);
            for (int j = 0; j < n; ++j) {
                double direction[GA_NODE_MAX_NV] = {0};
                direction[j] = 1;
                ga_lie_tangent_derivative(node, GA_MAP_EXP, xi + at, direction, DT);
                ga_radau_multiply(n, DT, rate + at, X + n * j);
            }
            for (int j = 0; j < n; ++j) ga_radau_multiply(n, X, Tinv + n * j, value + n * j);
            value += n * n;
            ++block;
        }
        at += n;
    }
}

/* --- creation ---------------------------------------------------------------------------- */

/* The structure of T and X: full blocks of the nodes whose charts are not flat. */
static ga_status create_chart(ga_radau *x)
{
    const ga_system *sys = &x->dae.sys;
    ga_coords *chart = &x->tangent.chart;
    for (int k = 0; k < sys->node_count; ++k)
        if (!ga_radau_is_flat(sys->nodes[k])) ++x->tangent.turning;
    GA_TRY(ga_coords_reserve(x->dae.nv, x->dae.nv, x->tangent.turning, chart));
    for (int k = 0, at = 0, b = 0; k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        if (!ga_radau_is_flat(sys->nodes[k])) {
            chart->row[b] = chart->col[b] = at;
            chart->height[b] = chart->width[b] = n;
            ++b;
        }
        at += n;
    }
    return ga_coords_start(chart);
}

ga_status ga_radau_create_matrix(ga_radau *x)
{
    const ga_dae *dae = &x->dae;
    const int nv = dae->nv, l = 2 * nv, eta = l + dae->mp;
    GA_TRY(create_chart(x));
    GA_TRY(ga_coords_diagonal(nv, &x->tangent.eye));
    GA_TRY(ga_coords_diagonal(dae->m, &x->tangent.eta_diagonal));
    x->tangent.Gt = ga_coords_transposed(&dae->G);
    x->tangent.Bt = ga_coords_transposed(&dae->B);
    const ga_summand terms[BLOCK_COUNT] = {
        [BLOCK_EYE] = {&x->tangent.eye, 0, 0, NULL},
        [BLOCK_CHART] = {&x->tangent.chart, 0, 0, NULL},
        [BLOCK_MINUS] = {&x->tangent.eye, 0, nv, NULL},
        [BLOCK_ETA] = {&x->tangent.Bt, 0, eta, NULL},
        [BLOCK_STIFFNESS] = {&dae->K, nv, 0, NULL},
        [BLOCK_MASS] = {&dae->M, nv, nv, NULL},
        [BLOCK_DAMPING] = {&dae->C, nv, nv, NULL},
        [BLOCK_REACTION] = {&x->tangent.Gt, nv, l, NULL},
        [BLOCK_FORCES] = {&dae->L, nv, l, NULL},
        [BLOCK_VELOCITY_STIFFNESS] = {&dae->Z, l, 0, NULL},
        [BLOCK_VELOCITY] = {&dae->G, l, nv, NULL},
        [BLOCK_DIAGONAL] = {&x->consistent.redundancy.diagonal, l, l, NULL},
        [BLOCK_POSITION] = {&dae->B, eta, 0, NULL},
        [BLOCK_ETA_DIAGONAL] = {&x->tangent.eta_diagonal, eta, eta, NULL}};
    const bool dense = ga_linear_backend(x->def.solver, x->n) == GA_BACKEND_DENSE;
    GA_TRY(ga_matrix_create(x->n, BLOCK_COUNT, terms, false, &x->jacobian.matrix));
    GA_TRY(ga_factor_create(&x->jacobian.matrix, dense ? GA_BACKEND_DENSE : GA_BACKEND_KLU,
                            &x->jacobian.real));
    return ga_complex_create(&x->jacobian.matrix, &x->jacobian.complex);
}

/* --- the stages --------------------------------------------------------------------------- */

/* 1/h sum_j Ainv_ij y_j, the parts from `from` on. */
static void stage_rate(const ga_radau *x, int i, int from, double *rate)
{
    const double *a = ga_radau_stage(x, x->y, 0) + from, *b = ga_radau_stage(x, x->y, 1) + from,
                 *c = ga_radau_stage(x, x->y, 2) + from;
    for (int k = 0; k < x->dae.nv; ++k)
        rate[k] = (AINV[i][0] * a[k] + AINV[i][1] * b[k] + AINV[i][2] * c[k]) / x->h;
}

double ga_radau_stage_point(ga_radau *x, int i)
{
    const double *y = ga_radau_stage(x, x->y, i);
    const int nv = x->dae.nv;
    ga_dae_update(&x->dae, GA_MAP_EXP, x->now.q, y, x->q);
    for (int k = 0; k < nv; ++k) x->v[k] = x->now.v[k] + y[nv + k];
    stage_rate(x, i, 0, x->rate);
    stage_rate(x, i, nv, x->vd);
    return i == GA_RADAU_STAGES - 1 ? x->t1 : x->now.t + C[i] * x->h;
}

/* Weights of values at the nodes at s: by Lagrange, with `count` nodes from `node` on. */
static void lagrange(int count, const double *node, double s, double *weight)
{
    for (int j = 0; j < count; ++j) {
        weight[j] = 1;
        for (int k = 0; k < count; ++k)
            if (k != j) weight[j] *= (s - node[k]) / (node[j] - node[k]);
    }
}

/* The chart of the last step to that of this one, node by node. */
static void change_chart(ga_radau *x, const double *xi_old, double ch, double *xi)
{
    const ga_system *sys = &x->dae.sys;
    ga_dae_update(&x->dae, GA_MAP_EXP, x->now.q_old, xi_old, x->q);
    for (int k = 0, at = 0, atq = 0; k < sys->node_count; ++k) {
        const ga_node node = sys->nodes[k];
        const int n = ga_node_nv(node);
        double expected[GA_NODE_MAX_NV];
        if (ga_group_is_vector(node)) {
            ga_lie_difference(node, x->now.q + atq, x->q + atq, xi + at);
        } else {
            for (int i = 0; i < n; ++i) expected[i] = ch * x->now.v[at + i];
            ga_lie_difference_near(node, x->now.q + atq, x->q + atq, expected, xi + at);
        }
        at += n;
        atq += ga_node_nq(node);
    }
}

/* Stage values of a first step: the motion with constant acceleration. */
static void predict_first(ga_radau *x)
{
    const int nv = x->dae.nv;
    const ga_ends *now = &x->now;
    for (int i = 0; i < GA_RADAU_STAGES; ++i) {
        double *y = ga_radau_stage(x, x->y, i);
        const double ch = C[i] * x->h;
        for (int k = 0; k < nv; ++k) {
            y[k] = ch * (now->v[k] + 0.5 * ch * now->vd[k]);
            y[nv + k] = ch * now->vd[k];
        }
        memcpy(y + 2 * nv, now->multipliers, (size_t)x->dae.mp * sizeof *y);
        memset(y + 2 * nv + x->dae.mp, 0, (size_t)x->dae.m * sizeof *y);
    }
}

/* Stage values from those of the last step, extrapolated; multipliers, too: with constant ones
 * the first increment of xi and v is tiny, and the next looks like divergence. Redundant
 * multipliers would drift in the null space of G^T, so they go by the ends of steps, which have
 * none of that. */
static void extrapolate(ga_radau *x)
{
    const ga_ends *now = &x->now;
    const ga_dae *dae = &x->dae;
    const int nv = dae->nv, l = 2 * nv, eta = l + dae->mp;
    const double node[GA_RADAU_STAGES + 1] = {0, C[0], C[1], C[2]}, ratio = x->h / now->h;
    const double *a = ga_radau_stage(x, now->own, 0), *b = ga_radau_stage(x, now->own, 1),
                 *c = ga_radau_stage(x, now->own, 2);
    for (int i = 0; i < GA_RADAU_STAGES; ++i) {
        double *y = ga_radau_stage(x, x->y, i), weight[GA_RADAU_STAGES + 1], w[GA_RADAU_STAGES];
        const double s = 1 + C[i] * ratio;
        lagrange(GA_RADAU_STAGES + 1, node, s, weight);
        lagrange(GA_RADAU_STAGES, C, s, w);
        for (int k = 0; k < nv; ++k)
            x->rate[k] = weight[1] * a[k] + weight[2] * b[k] + weight[3] * c[k];
        change_chart(x, x->rate, C[i] * x->h, y);
        for (int k = nv; k < l; ++k)
            y[k] = weight[1] * a[k] + weight[2] * b[k] + weight[3] * c[k] + now->v_old[k - nv] -
                   now->v[k - nv];
        for (int k = l; k < x->n; ++k) y[k] = w[0] * a[k] + w[1] * b[k] + w[2] * c[k];
        for (int k = 0; x->consistent.redundancy.active && k < dae->mp; ++k)
            y[l + k] = now->multipliers[k] +
                       C[i] * ratio * (now->multipliers[k] - now->multipliers_old[k]);
        for (int k = eta; x->consistent.redundancy.active && k < x->n; ++k) y[k] = 0;
    }
}

void ga_radau_predict(ga_radau *x)
{
    if (x->now.steps > 0)
        extrapolate(x);
    else
        predict_first(x);
}

/* --- the matrices ------------------------------------------------------------------------- */

/* -e of dependent rows, by the sizes of the Schur complements that they are added to. */
static void fill_diagonals(ga_radau *x)
{
    ga_redundancy *g = &x->consistent.redundancy;
    const double part = x->h / GAMMA, eps = ga_larger(g->eps, 1e-12);
    ga_redundancy_diagonal(g, x->tangent.G, eps, x->tangent.diagonal);
    const double *length = ga_redundancy_lengths(g, x->tangent.G);
    for (int i = 0; i < x->dae.mp; ++i)
        if (length[i] > 0) x->tangent.diagonal[i] *= part;
    for (int i = 0; i < x->dae.m; ++i)
        x->tangent.eta_weight[i] = length[i] > 0 ? -1e-12 * part * length[i] : -1;
}

/* The values of the matrix: what does not depend on mu, and what mu/h multiplies. */
static void assemble(ga_radau *x)
{
    ga_matrix *A = &x->jacobian.matrix;
    const size_t size = (size_t)A->count * sizeof *A->values;
    ga_matrix_clear(A);
    ga_matrix_add(A, BLOCK_EYE, 1, x->tangent.one);
    ga_matrix_add(A, BLOCK_MASS, 1, x->tangent.M);
    memcpy(x->jacobian.rates, A->values, size);
    ga_matrix_clear(A);
    ga_matrix_add(A, BLOCK_CHART, 1, x->tangent.X);
    ga_matrix_add(A, BLOCK_MINUS, -1, x->tangent.one);
    ga_matrix_add(A, BLOCK_ETA, 1, x->tangent.G);
    ga_matrix_add(A, BLOCK_STIFFNESS, 1, x->tangent.K);
    ga_matrix_add(A, BLOCK_DAMPING, 1, x->tangent.C);
    if (x->dae.reactions_added) ga_matrix_add(A, BLOCK_REACTION, 1, x->tangent.G);
    if (x->dae.L.count) ga_matrix_add(A, BLOCK_FORCES, -1, x->tangent.L);
    ga_matrix_add(A, BLOCK_VELOCITY_STIFFNESS, 1, x->tangent.Z);
    ga_matrix_add(A, BLOCK_VELOCITY, 1, x->tangent.G);
    ga_matrix_add(A, BLOCK_POSITION, 1, x->tangent.G);
    if (x->consistent.redundancy.active) {
        fill_diagonals(x);
        ga_matrix_add(A, BLOCK_DIAGONAL, 1, x->tangent.diagonal);
        ga_matrix_add(A, BLOCK_ETA_DIAGONAL, 1, x->tangent.eta_weight);
    }
    memcpy(x->jacobian.constant, A->values, size);
}

/* matrix = a constant + b rates */
static void combine(ga_radau *x, double a, double b)
{
    for (int k = 0; k < x->jacobian.matrix.count; ++k)
        x->jacobian.matrix.values[k] = a * x->jacobian.constant[k] + b * x->jacobian.rates[k];
}

ga_status ga_radau_factor(ga_radau *x)
{
    ga_dae *dae = &x->dae;
    const double t = ga_radau_stage_point(x, 1), *y = ga_radau_stage(x, x->y, 1);
    const ga_point at = ga_dae_point(dae, t, x->q, x->v, x->vd, y + 2 * dae->nv);
    const ga_values values = {.M = x->tangent.M, .G = x->tangent.G};
    const ga_tangents tangents = {
        .K = x->tangent.K, .C = x->tangent.C, .L = x->tangent.L, .Z = x->tangent.Z};
    GA_TRY(ga_dae_evaluate(dae, &at, &values));
    GA_TRY(ga_dae_fill_tangents(dae, &at, true, &tangents));
    GA_TRY(ga_dae_check_tangents(dae, &tangents));
    chart_tangents(x, y, x->rate);
    ++x->stats.jacobians;
    assemble(x);
    combine(x, 1, GAMMA / x->h);
    for (int i = 0; i < x->n; ++i) x->jacobian.row_scale[i] = x->jacobian.col_scale[i] = 1;
    ga_matrix_equilibrate(&x->jacobian.matrix, 3, x->jacobian.row_scale, x->jacobian.col_scale,
                          x->jacobian.scale_work);
    const size_t size = (size_t)x->jacobian.matrix.count * sizeof(double);
    combine(x, 1, ALPHA / x->h);
    ga_matrix_scale(&x->jacobian.matrix, x->jacobian.row_scale, x->jacobian.col_scale);
    memcpy(x->jacobian.re, x->jacobian.matrix.values, size);
    combine(x, 0, BETA / x->h);
    ga_matrix_scale(&x->jacobian.matrix, x->jacobian.row_scale, x->jacobian.col_scale);
    memcpy(x->jacobian.im, x->jacobian.matrix.values, size);
    x->stats.factorizations += 2;
    GA_TRY(ga_complex_factor(x->jacobian.complex, x->jacobian.re, x->jacobian.im));
    combine(x, 1, GAMMA / x->h);
    return ga_factor_numeric_scaled(x->jacobian.real, x->jacobian.row_scale,
                                    x->jacobian.col_scale);
}

/* --- Newton's method ---------------------------------------------------------------------- */

/* Minus the residual of stage i. */
static ga_status residual(ga_radau *x, int i)
{
    ga_dae *dae = &x->dae;
    const int nv = dae->nv;
    double *y = ga_radau_stage(x, x->y, i), *r = ga_radau_stage(x, x->r, i);
    const double t = ga_radau_stage_point(x, i), *l = y + 2 * nv, *eta = l + dae->mp;
    const ga_point at = ga_dae_point(dae, t, x->q, x->v, x->vd, l);
    double *w = r + 2 * nv, *Phi = w + dae->mp;
    const ga_values values = {.M = x->tangent.M, .G = x->tangent.G, .Phi = Phi};
    GA_TRY(ga_dae_evaluate(dae, &at, &values));
    GA_TRY(ga_dae_dynamics(dae, &at, x->tangent.M, x->tangent.G, r + nv));
    if (dae->mp) GA_TRY(ga_dae_velocity(dae, t, x->q, x->v, x->tangent.G, w));
    chart_velocity(x, y, x->rate, r);
    for (int k = 0; k < nv; ++k) r[k] -= x->v[k];
    ga_coords_multiply_transposed(&dae->B, x->tangent.G, 1, eta, r);
    for (int k = 0; k < x->n; ++k) r[k] = -r[k];
    ++x->stats.evaluations;
    return GA_OK;
}

/* From residuals to increments of the stages, both in x->r. */
static void solve(ga_radau *x)
{
    const int n = x->n;
    double *r[GA_RADAU_STAGES], *z[GA_RADAU_STAGES];
    for (int i = 0; i < GA_RADAU_STAGES; ++i)
        r[i] = ga_radau_stage(x, x->r, i), z[i] = ga_radau_stage(x, x->z, i);
    for (int i = 0; i < GA_RADAU_STAGES; ++i)
        for (int k = 0; k < n; ++k)
            z[i][k] = x->jacobian.row_scale[k] *
                      (SINV[i][0] * r[0][k] + SINV[i][1] * r[1][k] + SINV[i][2] * r[2][k]);
    ga_factor_solve(x->jacobian.real, z[0]);
    ga_complex_solve(x->jacobian.complex, z[1], z[2]);
    for (int i = 0; i < GA_RADAU_STAGES; ++i)
        for (int k = 0; k < n; ++k)
            r[i][k] = x->jacobian.col_scale[k] *
                      (S[i][0] * z[0][k] + S[i][1] * z[1][k] + S[i][2] * z[2][k]);
}

/* Largest increment by what is asked for: the tolerance, or the sizes of q and v. */
static double weigh(const ga_radau *x, const double *dq, const double *dv)
{
    if (x->base.tolerance) return ga_tolerance_weigh(&x->base, dq, dv);
    const double size_q[2] = {ga_larger(ga_dae_translation(&x->dae, x->now.q), DBL_MIN), 1};
    double q[2] = {0, 0}, v[2] = {0, 0}, largest = ga_dae_weigh_states(&x->dae, dv);
    const double bad = ga_norm_raise(x->dae.nm, dq, x->dae.kind, 1, q) +
                       ga_norm_raise(x->dae.nm, dv, x->dae.kind, 1, v);
    for (int k = 0; k < 2; ++k) {
        const double size_v = ga_larger(x->size_v[k], DBL_MIN);
        largest = ga_larger(largest, ga_larger(q[k] / size_q[k], v[k] / size_v));
    }
    return largest + bad;
}

/* A unit of round-off, as weigh would give it. */
static double round_off(const ga_radau *x)
{
    const ga_tolerance *tol = x->base.tolerance;
    if (!tol) return DBL_EPSILON;
    return DBL_EPSILON / ga_larger(tol->def.relative, DBL_EPSILON);
}

enum { MOST_ITERATIONS = 10 };

/* Error of the iteration by the tolerance of the solution. Larger values show in the error at
 * the end: with 0.03 up to 48 tolerances, with 1e-3 up to 26. */
static const double NEWTON_SHARE = 1e-4;

static double newton_tolerance(const ga_radau *x)
{
    const ga_tolerance *tol = x->base.tolerance;
    if (!tol) return 8 * DBL_EPSILON;
    return ga_larger(NEWTON_SHARE, 32 * round_off(x));
}

/* Adds the increments; their size. */
static double correct(ga_radau *x)
{
    const int nv = x->dae.nv;
    double largest = 0;
    for (int i = 0; i < GA_RADAU_STAGES; ++i) {
        double *y = ga_radau_stage(x, x->y, i), *d = ga_radau_stage(x, x->r, i);
        apply_blocks(x, x->tangent.Tinv, d, x->rate);
        memcpy(d, x->rate, (size_t)nv * sizeof *d);
        for (int k = 0; k < x->n; ++k) y[k] += d[k];
        const double size = weigh(x, d, d + nv);
        if (!(size <= largest)) largest = size; /* NaN stays */
    }
    return largest;
}

/* In units of round-off: an increment up to the first that does not shrink any more is noise,
 * one up to the second if the next one does not shrink either. */
static const double SMALL = 64, LARGER = 1e4;

/* sum[i] = sum over j of |A_ij| size_j, of mechanical coordinates; of the diagonal alone. */
static void add_sizes(const ga_radau *x, const ga_coords *coords, const double *A,
                      const double size[2], bool diagonal, double *sum)
{
    const ga_dae *dae = &x->dae;
    memset(sum, 0, (size_t)dae->nv * sizeof *sum);
    for (ga_matrix_entry e = ga_entry_first(coords); e.k < coords->count;
         ga_entry_next(coords, &e))
        if (e.col < dae->nm && (!diagonal || e.row == e.col))
            sum[e.row] += fabs(A[e.k]) * size[dae->kind[e.col]];
}

/* What the round-off of positions makes of velocities, by the tolerance. Stiff forces change
 * by K times it, which short steps turn into velocities; in long ones velocities follow the
 * positions. In between, h omega = GAMMA, it is omega times the round-off of positions. */
static double stiff_noise(ga_radau *x)
{
    const ga_tolerance *tol = x->base.tolerance;
    const double one[2] = {1, 1};
    double *force = x->v, *mass = x->rate, of_q[2], of_v[2], noise = 0;
    if (!tol) return 0;
    ga_tolerance_weights(tol, of_q, of_v);
    add_sizes(x, &x->dae.K, x->tangent.K, tol->size_q, false, force);
    add_sizes(x, &x->dae.M, x->tangent.M, one, true, mass);
    for (int i = 0; i < x->dae.nm; ++i) {
        const int kind = x->dae.kind[i];
        const double as_long = tol->size_q[kind] * GAMMA / x->h,
                     as_short = mass[i] > 0 ? force[i] / mass[i] * x->h / GAMMA : INFINITY;
        noise = ga_larger(noise, ga_smaller(as_long, as_short) / of_v[kind]);
    }
    return DBL_EPSILON * noise;
}

/* At most so much of the tolerance passes for noise of stiff forces. */
static const double MOST_STIFF_NOISE = 0.1;

ga_status ga_radau_iterate(ga_radau *x)
{
    const double goal = newton_tolerance(x);
    double before = 0, noise = LARGER * round_off(x);
    int stalled = 0;
    bool known = false; /* noise of stiff forces */
    for (int k = 0; k < MOST_ITERATIONS; ++k) {
        for (int i = 0; i < GA_RADAU_STAGES; ++i) GA_TRY(residual(x, i));
        solve(x);
        ++x->stats.iterations;
        x->iterations = k + 1;
        const double size = correct(x);
        if (!isfinite(size)) return GA_ERR_NO_CONVERGE;
        if (size == 0 || (k == 0 && size <= 1e-2 * goal)) return GA_OK;
        if (k > 0) {
            const double rate = size / before;
            if (rate < 1 && rate / (1 - rate) * size <= goal) return GA_OK;
            if (rate > 0.3 && size > noise && !known) {
                noise = ga_larger(noise, ga_smaller(SMALL * stiff_noise(x), MOST_STIFF_NOISE));
                known = true;
            }
            if (rate > 0.3 && size <= noise) ++stalled;
            if (stalled == 2 || (stalled && size <= SMALL * round_off(x))) return GA_OK;
            if (rate >= 1 && size > noise) return GA_ERR_NO_CONVERGE;
            const int left = MOST_ITERATIONS - 1 - k;
            if (rate < 1 && pow(rate, left) / (1 - rate) * size > ga_larger(goal, noise))
                return GA_ERR_NO_CONVERGE; /* not in time */
        }
        before = size;
    }
    return GA_ERR_NO_CONVERGE;
}

/* --- the error --------------------------------------------------------------------------- */

/* sum e_i y_i/h, of parts from `from` on. */
static double embedded(const ga_radau *x, int k)
{
    double sum = 0;
    for (int i = 0; i < GA_RADAU_STAGES; ++i) sum += ERROR[i] * ga_radau_stage(x, x->y, i)[k];
    return sum / x->h;
}

/* E(gamma) err = (T (rate + d_xi), p + M d_v, 0, 0). */
static void solve_estimate(ga_radau *x, const double *rate, const double *momentum)
{
    const int nv = x->dae.nv;
    double *b = x->error;
    memset(b, 0, (size_t)x->n * sizeof *b);
    for (int k = 0; k < nv; ++k) x->v[k] = rate[k] + embedded(x, k);
    apply_blocks(x, x->tangent.T, x->v, b);
    for (int k = 0; k < nv; ++k) x->v[k] = embedded(x, nv + k);
    for (int k = 0; k < nv; ++k) b[nv + k] = momentum[k];
    ga_dae_add_inertia(&x->dae, x->tangent.M, x->v, b + nv);
    ga_factor_solve_scaled(x->jacobian.real, false, x->jacobian.row_scale, b,
                           x->jacobian.col_scale, b);
    apply_blocks(x, x->tangent.Tinv, b, x->v);
    memcpy(b, x->v, (size_t)nv * sizeof *b);
}

ga_status ga_radau_filter_estimate(ga_radau *x)
{
    ga_dae *dae = &x->dae;
    const int nv = dae->nv;
    const ga_ends *now = &x->now;
    double *p = x->z, *zero = x->z + nv, *rate = x->z + 2 * nv;
    ga_dae_update(dae, GA_MAP_EXP, now->q, x->error, x->q);
    for (int k = 0; k < nv; ++k) x->v[k] = now->v[k] + x->error[nv + k];
    memset(zero, 0, (size_t)nv * sizeof *zero);
    const ga_point at = ga_dae_point(dae, now->t, x->q, x->v, zero, now->multipliers);
    const ga_values values = {.G = x->tangent.G};
    GA_TRY(ga_dae_evaluate(dae, &at, &values));
    GA_TRY(ga_dae_dynamics(dae, &at, x->tangent.M, x->tangent.G, p));
    for (int k = 0; k < nv; ++k) p[k] = -p[k];
    chart_rate(x, x->error, x->v, rate);
    solve_estimate(x, rate, p);
    return GA_OK;
}

void ga_radau_estimate(ga_radau *x)
{
    double *p = x->z;
    memset(p, 0, (size_t)x->dae.nv * sizeof *p);
    ga_dae_add_inertia(&x->dae, x->tangent.M, x->now.vd, p);
    solve_estimate(x, x->now.v, p);
}
