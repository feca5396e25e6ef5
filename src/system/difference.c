/* Difference quotients for what the user left out.
 *
 * Derivatives in q are taken along q o exp(s e_j), so they are left-trivialised on every group.
 * Columns of one colour are moved together: no row sees two of them.
 *
 *     first derivatives    (g(+d) - g(-d)) / 2d,  d = eps^(1/3) * scale:
 *                          truncation and round-off both near 4e-11 relative
 *     along the motion     fourth order, five points, d = 1e-3 * scale: near 1e-12
 *     without B            second derivatives of Phi by nested differences, d = eps^(1/4): 1e-8
 */
#include "base/report.h"
#include "system/dae.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double first_step = 6.0e-6;  /* eps^(1/3) */
static const double nested_step = 1.2e-4; /* eps^(1/4) */
static const double motion_step = 1.0e-3;

/* A length typical of the translations, kept within [1e-3, 1]: steps scaled with it stay small
 * against a mechanism of millimetres, and do not grow with its distance from the origin. */
static double typical_length(const ga_dae *dae, const double *q)
{
    double size = ga_norm_max(dae->nq, q);
    return fmin(fmax(size, 1e-3), 1);
}

/* direction = step * sum of e_j over the columns of one colour. */
static void set_direction(ga_dae *dae, const ga_coloring *coloring, int c, double step)
{
    for (int j = 0; j < dae->nv; ++j) dae->direction[j] = coloring->color[j] == c ? step : 0;
}

static void move(ga_dae *dae, const double *q)
{
    ga_dae_update(dae, GA_MAP_EXP, q, dae->direction, dae->q_plus);
    for (int j = 0; j < dae->nv; ++j) dae->direction[j] = -dae->direction[j];
    ga_dae_update(dae, GA_MAP_EXP, q, dae->direction, dae->q_minus);
}

/* Entries of the columns of colour c from the quotient (plus - minus) / width. */
static void collect(const ga_coords *coords, const ga_coloring *coloring, int c,
                    const double *plus, const double *minus, double width, double *values)
{
    for (ga_matrix_entry e = ga_entry_first(coords); e.k < coords->count;
         ga_entry_next(coords, &e))
        if (coloring->color[e.col] == c)
            values[e.k] = coloring->first[e.k] ? (plus[e.row] - minus[e.row]) / width : 0;
}

ga_status ga_difference_gradient(ga_dae *dae, double t, const double *q, double *B)
{
    double step = first_step * typical_length(dae, q);
    for (int c = 0; c < dae->color_B.colors; ++c) {
        set_direction(dae, &dae->color_B, c, step);
        move(dae, q);
        GA_TRY(ga_dae_constraint(dae, t, dae->q_plus, dae->plus));
        GA_TRY(ga_dae_constraint(dae, t, dae->q_minus, dae->minus));
        collect(&dae->B, &dae->color_B, c, dae->plus, dae->minus, 2 * step, B);
    }
    return GA_OK;
}

/* May a function that failed ahead in time be evaluated behind instead? */
static bool is_undefined(ga_status status)
{
    return status == GA_ERR_RECOVERABLE || status == GA_ERR_NOT_FINITE;
}

/* Has its own workspace: others take differences of it. Where Phi is not defined ahead of t,
 * the difference is taken backwards, of second order as well. */
ga_status ga_difference_rate(ga_dae *dae, double t, const double *q, double *Phi_t)
{
    const double step = first_step * fmax(1, 1e-3 * fabs(t));
    static const double central[] = {1, -1}, backward[] = {1.5, -2, 0.5};
    const ga_status status = ga_dae_constraint(dae, t + step, q, Phi_t);
    if (status != GA_OK && !is_undefined(status)) return status;
    const bool back = status != GA_OK;
    const double *weight = back ? backward : central;
    const double width = back ? t - (t - step) : (t + step) - (t - step);
    if (back) GA_TRY(ga_dae_constraint(dae, t, q, Phi_t));
    for (int i = 0; i < dae->m; ++i) Phi_t[i] *= weight[0] / width;
    for (int k = 1; k <= 1 + back; ++k) {
        GA_TRY(ga_dae_constraint(dae, t - k * step, q, dae->rate_work));
        for (int i = 0; i < dae->m; ++i) Phi_t[i] += weight[k] / width * dae->rate_work[i];
    }
    return GA_OK;
}

ga_status ga_difference_nonholonomic_gradient(ga_dae *dae, double t, const double *q,
                                              const double *v, double *N)
{
    double step = first_step * fmax(1, ga_norm_max(dae->nm, v) * 1e-3);
    for (int c = 0; c < dae->color_N.colors; ++c) {
        set_direction(dae, &dae->color_N, c, step);
        for (int j = 0; j < dae->nv; ++j) dae->v_work[j] = v[j] + dae->direction[j];
        GA_TRY(ga_dae_nonholonomic(dae, t, q, dae->v_work, dae->plus));
        for (int j = 0; j < dae->nv; ++j) dae->v_work[j] = v[j] - dae->direction[j];
        GA_TRY(ga_dae_nonholonomic(dae, t, q, dae->v_work, dae->minus));
        collect(&dae->N, &dae->color_N, c, dae->plus, dae->minus, 2 * step, N);
    }
    return GA_OK;
}

/* w = B v + Phi_t. Without B: the derivative of Phi along (q o exp(s v), t + s), which is w in
 * one difference quotient; v_work holds the increment. */
typedef ga_status residual(ga_dae *dae, double t, const double *q, const double *v, double *w);

/* Phi at (q o exp(s v), t + s); q1 is workspace. */
static ga_status constraint_along(ga_dae *dae, double t, const double *q, const double *v,
                                  double s, double *q1, double *Phi)
{
    for (int i = 0; i < dae->nv; ++i) dae->v_work[i] = s * v[i];
    ga_dae_update(dae, GA_MAP_EXP, q, dae->v_work, q1);
    return ga_dae_constraint(dae, t + s, q1, Phi);
}

static ga_status velocity_residual(ga_dae *dae, double t, const double *q, const double *v,
                                   double *w)
{
    if (dae->sys.gradient) {
        GA_TRY(ga_dae_rate(dae, t, q, w));
        GA_TRY(ga_dae_gradient(dae, t, q, NULL, dae->G_work));
        ga_coords_multiply(&dae->B, dae->G_work, 1, v, w);
        return GA_OK;
    }
    double *q1 = dae->q_minus; /* callers keep q in q_plus or in the user's array */
    const double s = nested_step * typical_length(dae, q) / fmax(1, ga_norm_max(dae->nm, v));
    static const double central[] = {0.5, -0.5}, backward[] = {1.5, -2, 0.5};
    ga_status status = constraint_along(dae, t, q, v, s, q1, w);
    if (status != GA_OK && !is_undefined(status)) return status;
    const bool back = status != GA_OK;
    const double *weight = back ? backward : central;
    if (back) GA_TRY(constraint_along(dae, t, q, v, 0, q1, w));
    for (int i = 0; i < dae->m; ++i) w[i] *= weight[0] / s;
    for (int k = 1; k <= 1 + back; ++k) {
        GA_TRY(constraint_along(dae, t, q, v, -k * s, q1, dae->lambda_work));
        for (int i = 0; i < dae->m; ++i) w[i] += weight[k] / s * dae->lambda_work[i];
    }
    return GA_OK;
}

/* c -= sum of weight[k] w(place[k] s)/s. */
static ga_status subtract_points(ga_dae *dae, residual *of, int rows, double t, const double *q,
                                 const double *v, double s, int count, const int *place,
                                 const double *weight, double *c)
{
    memset(c, 0, (size_t)rows * sizeof *c);
    for (int k = 0; k < count; ++k) {
        for (int i = 0; i < dae->nv; ++i) dae->direction[i] = place[k] * s * v[i];
        ga_dae_update(dae, GA_MAP_EXP, q, dae->direction, dae->q_plus);
        GA_TRY(of(dae, t + place[k] * s, dae->q_plus, v, dae->plus));
        for (int i = 0; i < rows; ++i) c[i] -= weight[k] * dae->plus[i] / s;
    }
    return GA_OK;
}

/* c = -dw/ds along q o exp(s v), t + s, v constant, with steps s: of fourth order, backwards
 * where w is not defined ahead. */
static ga_status along_motion(ga_dae *dae, residual *of, int rows, double t, const double *q,
                              const double *v, double s, double *c)
{
    static const double central[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    static const double backward[5] = {3.0 / 12, -16.0 / 12, 36.0 / 12, -48.0 / 12, 25.0 / 12};
    static const int around[4] = {-2, -1, 1, 2}, behind[5] = {-4, -3, -2, -1, 0};
    const ga_status status = subtract_points(dae, of, rows, t, q, v, s, 4, around, central, c);
    if (!is_undefined(status)) return status;
    return subtract_points(dae, of, rows, t, q, v, s, 5, behind, backward, c);
}

static double time_step(const ga_dae *dae, const double *q, const double *v)
{
    return motion_step * typical_length(dae, q) / fmax(1, ga_norm_max(dae->nm, v));
}

ga_status ga_difference_acceleration_rhs(ga_dae *dae, double t, const double *q,
                                         const double *v, double *c)
{
    double s = time_step(dae, q, v) * (dae->sys.gradient ? 1 : 4); /* noise inside */
    return along_motion(dae, velocity_residual, dae->m, t, q, v, s, c);
}

ga_status ga_difference_nonholonomic_rhs(ga_dae *dae, double t, const double *q,
                                         const double *v, double *d)
{
    return along_motion(dae, ga_dae_nonholonomic, dae->p, t, q, v, time_step(dae, q, v), d);
}

static ga_status dynamics_at(ga_dae *dae, const ga_point *at, const double *q, double *r)
{
    ga_point moved = *at;
    moved.q = q;
    GA_TRY(ga_dae_mass(dae, at->t, q, dae->M_work));
    if (dae->reactions_added) GA_TRY(ga_dae_gradient(dae, at->t, q, at->v, dae->G_work));
    return ga_dae_dynamics(dae, &moved, dae->M_work, dae->G_work, r);
}

ga_status ga_difference_stiffness(ga_dae *dae, const ga_point *at, double *K)
{
    double step = (dae->sys.gradient || !dae->reactions_added ? first_step : nested_step) *
                  typical_length(dae, at->q);
    for (int c = 0; c < dae->color_K.colors; ++c) {
        /* one side after the other: without B, dynamics_at itself moves q in the workspace */
        for (int side = 1; side >= -1; side -= 2) {
            set_direction(dae, &dae->color_K, c, side * step);
            ga_dae_update(dae, GA_MAP_EXP, at->q, dae->direction, dae->q_side);
            GA_TRY(dynamics_at(dae, at, dae->q_side, side > 0 ? dae->r_plus : dae->r_minus));
        }
        collect(&dae->K, &dae->color_K, c, dae->r_plus, dae->r_minus, 2 * step, K);
    }
    return GA_OK;
}

/* -f + N^T psi at another velocity; the rest of r does not depend on it. */
static ga_status velocity_dependent(ga_dae *dae, const ga_point *at, const double *v, double *r)
{
    ga_point moved = *at;
    moved.v = v;
    GA_TRY(ga_dae_force(dae, &moved, r));
    for (int i = 0; i < dae->nv; ++i) r[i] = -r[i];
    if (!dae->p || !dae->reactions_added) return GA_OK;
    GA_TRY(ga_dae_gradient(dae, at->t, at->q, v, dae->G_work));
    ga_coords_multiply_transposed(&dae->N, dae->G_work + dae->B.count, 1, at->psi, r);
    return GA_OK;
}

/* The step of column j. Velocities have a common one; each state has its own, as it has its own
 * unit. */
static double damping_step(const ga_dae *dae, double relative, double common, const double *v,
                           int j)
{
    static const double smallest = 1e-3; /* of a state that is zero, as far as is known */
    if (j < dae->nm) return common;
    const double size = fmax(fabs(v[j]), ga_dae_state_size(dae, j - dae->nm));
    return relative * (size > 0 ? size : smallest);
}

ga_status ga_difference_damping(ga_dae *dae, const ga_point *at, double *C)
{
    const double relative =
        dae->p && !dae->sys.nonholonomic_gradient ? nested_step : first_step;
    const double common = relative * fmax(1, ga_norm_max(dae->nm, at->v) * 1e-3);
    const int *color = dae->color_C.color;
    for (int c = 0; c < dae->color_C.colors; ++c) {
        for (int side = 1; side >= -1; side -= 2) {
            memcpy(dae->v_side, at->v, (size_t)dae->nv * sizeof *dae->v_side);
            for (int j = 0; j < dae->nv; ++j)
                if (color[j] == c)
                    dae->v_side[j] += side * damping_step(dae, relative, common, at->v, j);
            GA_TRY(velocity_dependent(dae, at, dae->v_side,
                                      side > 0 ? dae->r_plus : dae->r_minus));
        }
        for (ga_matrix_entry e = ga_entry_first(&dae->C); e.k < dae->C.count;
             ga_entry_next(&dae->C, &e)) {
            if (color[e.col] != c) continue;
            const double width = 2 * damping_step(dae, relative, common, at->v, e.col);
            C[e.k] = dae->color_C.first[e.k]
                         ? (dae->r_plus[e.row] - dae->r_minus[e.row]) / width
                         : 0;
        }
    }
    return GA_OK;
}

/* D_q of a velocity-level residual at fixed v. */
static ga_status along_columns(ga_dae *dae, residual *of, const ga_coords *coords,
                               const ga_coloring *coloring, double step, const ga_point *at,
                               double *Z)
{
    for (int c = 0; c < coloring->colors; ++c) {
        for (int side = 1; side >= -1; side -= 2) {
            set_direction(dae, coloring, c, side * step);
            ga_dae_update(dae, GA_MAP_EXP, at->q, dae->direction, dae->q_plus);
            GA_TRY(of(dae, at->t, dae->q_plus, at->v, side > 0 ? dae->plus : dae->minus));
        }
        collect(coords, coloring, c, dae->plus, dae->minus, 2 * step, Z);
    }
    return GA_OK;
}

ga_status ga_difference_velocity_stiffness(ga_dae *dae, const ga_point *at, double *Z)
{
    double step = (dae->sys.gradient ? first_step : nested_step) * typical_length(dae, at->q);
    return along_columns(dae, velocity_residual, &dae->ZB, &dae->color_ZB, step, at, Z);
}

ga_status ga_difference_nonholonomic_stiffness(ga_dae *dae, const ga_point *at, double *Z)
{
    double step = first_step * typical_length(dae, at->q);
    return along_columns(dae, ga_dae_nonholonomic, &dae->ZN, &dae->color_ZN, step, at, Z);
}

ga_status ga_difference_force_multipliers(ga_dae *dae, const ga_point *at, double *L)
{
    double step = first_step *
                  fmax(1, fmax(ga_norm_max(dae->m, at->lambda), ga_norm_max(dae->p, at->psi)));
    const int *color = dae->color_L.color;
    for (int c = 0; c < dae->color_L.colors; ++c) {
        for (int side = 1; side >= -1; side -= 2) {
            for (int j = 0; j < dae->mp; ++j)
                dae->lambda_work[j] = (j < dae->m ? at->lambda[j] : at->psi[j - dae->m]) +
                                      (color[j] == c ? side * step : 0);
            ga_point moved = ga_dae_point(dae, at->t, at->q, at->v, at->vd, dae->lambda_work);
            GA_TRY(ga_dae_force(dae, &moved, side > 0 ? dae->plus : dae->minus));
        }
        collect(&dae->L, &dae->color_L, c, dae->plus, dae->minus, 2 * step, L);
    }
    return GA_OK;
}
