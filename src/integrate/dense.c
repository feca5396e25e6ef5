/* Dense output between t_old and t = t_old + h, x = (time - t_old)/h in [0, 1]:
 *
 *     q(x) = q_old o exp(p(x))     p cubic, p(0) = 0, p'(0) = h v_old,
 *                                  p(1) = U, p'(1) = h T^-1(U) v, with q_old o exp(U) = q
 *     v(x)                         cubic through v_old, v with slopes h vd_old, h vd
 *     vd(x), multipliers           linear
 *
 * U has as many full turns as (v_old + v) h/2: a body may turn by more than one in a step.
 *
 * The interpolation adds O(h^4) to q and v, O(h^2) to vd and the multipliers; all are
 * continuous from step to step. vd is not the slope of v(x): after a change of the step size
 * index 3 goes on from a velocity moved by O(h^2), which that slope would show as O(h).
 *
 * So q(x) violates the constraints by O(h^4), in index 3, whose velocities violate them, by
 * O(h^3). Output and events are on the constraints, like the ends of steps: q(x) is moved onto
 * Phi = 0 by the smallest change in the mass metric, and v(x) onto B v + Phi_t = 0 if the
 * formulation has that at the ends. The corrections are small, so one factorisation serves for
 * all iterations.
 */
#include "base/extremes.h"
#include "integrate/stepper.h"
#include "lie/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Corrections below this, relative to the size of the values, are round-off. */
static const double round_off = 32 * DBL_EPSILON;
/* Of Newton's method with a fixed matrix, from a good guess. */
enum { MOST_CORRECTIONS = 6 };

/* Cubic with values y0, y1 and slopes d0, d1 (per unit of x). */
static double cubic(double x, double y0, double d0, double y1, double d1)
{
    double rise = y1 - y0;
    return y0 + x * (d0 + x * ((3 * rise - 2 * d0 - d1) + x * (d0 + d1 - 2 * rise)));
}

/* U and h T^-1(U) v of the last step. */
static void prepare(ga_stepper *s)
{
    const ga_state *now = &s->now;
    const ga_dae *dae = &s->dae;
    if (s->dense.steps == now->steps) return;
    s->dense.steps = now->steps;
    double T[GA_NODE_MAX_NV * GA_NODE_MAX_NV], mean[GA_NODE_MAX_NV];
    const double *q_old = now->q_old, *q = now->q;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        ga_node kind = dae->sys.nodes[node];
        int n = ga_node_nv(kind);
        const double *v = now->v + at;
        double *end = s->dense.end + at;
        bool apart = kind.group == GA_GROUP_RN;
        if (apart) {
            ga_lie_difference(kind, q_old, q, s->dense.U + at);
        } else {
            for (int i = 0; i < n; ++i) mean[i] = 0.5 * now->h * (now->v_old[at + i] + v[i]);
            apart = !ga_lie_difference_near(kind, q_old, q, mean, s->dense.U + at);
        }
        q_old += ga_node_nq(kind);
        q += ga_node_nq(kind);
        if (apart) {
            for (int i = 0; i < n; ++i) end[i] = now->h * v[i];
        } else {
            ga_lie_tangent_inverse(kind, GA_MAP_EXP, s->dense.U + at, T);
            for (int i = 0; i < n; ++i) {
                end[i] = 0;
                for (int j = 0; j < n; ++j) end[i] += now->h * T[i + n * j] * v[j];
            }
        }
        at += n;
    }
}

void ga_dense(ga_stepper *s, double t, double *q, double *v, double *vd, double *multipliers)
{
    const ga_state *now = &s->now;
    const double h = now->h;
    if (now->steps == 0 || t == now->t) { /* nothing behind, or exactly here */
        if (q) memcpy(q, now->q, (size_t)s->nq * sizeof *q);
        if (v) memcpy(v, now->v, (size_t)s->nv * sizeof *v);
        if (vd) memcpy(vd, now->vd, (size_t)s->nv * sizeof *vd);
        if (multipliers) memcpy(multipliers, now->lambda, (size_t)s->mp * sizeof *multipliers);
        return;
    }
    prepare(s);
    const double x = (t - now->t_old) / h, *vd_old = now->vd_old[0];
    if (q) {
        for (int i = 0; i < s->nv; ++i)
            s->dense.x[i] = cubic(x, 0, h * now->v_old[i], s->dense.U[i], s->dense.end[i]);
        ga_dae_update(&s->dae, GA_MAP_EXP, now->q_old, s->dense.x, q);
    }
    for (int i = 0; v && i < s->nv; ++i)
        v[i] = cubic(x, now->v_old[i], h * vd_old[i], now->v[i], h * now->vd[i]);
    for (int i = 0; vd && i < s->nv; ++i) vd[i] = vd_old[i] + x * (now->vd[i] - vd_old[i]);
    const double *l0 = now->lambda_old[0], *l1 = now->lambda;
    for (int i = 0; multipliers && i < s->mp; ++i) multipliers[i] = l0[i] + x * (l1[i] - l0[i]);
}

/* Is the correction the last one? Progress slower than by a factor of ten is the end, too: it
 * is a good one (*good) if what is left is round-off of constants in the constraints. */
static bool is_last(double change, double before, double size, bool *good)
{
    *good = change <= round_off * size;
    if (*good) return true;
    *good = change <= 1e-11 * ga_larger(size, 1);
    return !(change <= 0.1 * before);
}

/* q onto Phi = 0; false if that does not converge. The saddle matrix is left as factored here.
 */
static bool correct_position(ga_stepper *s, double t, double *q, const double *v)
{
    double before = INFINITY, *bottom = s->start.c, *step = s->start.step;
    bool good = false;
    if (ga_saddle_factor_at(s, t, q, v, s->p > 0) != GA_OK) return false;
    memset(bottom, 0, (size_t)s->mp * sizeof *bottom);
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (ga_dae_constraint(&s->dae, t, q, bottom) != GA_OK) return false;
        for (int i = 0; i < s->m; ++i) bottom[i] = -bottom[i];
        ga_saddle_lift(s, bottom, step);
        const double change = ga_norm_max(s->nv, step);
        if (is_last(change, before, ga_norm_max(s->nq, q), &good)) break;
        before = change;
        ga_dae_update(&s->dae, GA_MAP_EXP, q, step, q);
    }
    return good;
}

/* v onto B v + Phi_t = 0 and k = 0, with the factors of correct_position if there are any. */
static bool correct_velocity(ga_stepper *s, double t, const double *q, double *v)
{
    double before = INFINITY, *w = s->start.c, *step = s->start.step;
    bool good = false;
    if (s->p > 0) {
        if (ga_saddle_factor_at(s, t, q, v, false) != GA_OK) return false;
    } else if (ga_dae_gradient(&s->dae, t, q, v, s->saddle.G) != GA_OK) {
        return false;
    }
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (ga_dae_velocity(&s->dae, t, q, v, s->saddle.G, w) != GA_OK) return false;
        for (int i = 0; i < s->mp; ++i) w[i] = -w[i];
        ga_saddle_lift(s, w, step);
        const double change = ga_norm_max(s->nv, step);
        if (is_last(change, before, ga_norm_max(s->nv, v), &good)) break;
        before = change;
        for (int i = 0; i < s->nv; ++i) v[i] += step[i];
    }
    return good;
}

void ga_dense_output(ga_stepper *s, double t, double *q, double *v, double *vd,
                     double *multipliers)
{
    const ga_state *now = &s->now;
    ga_dense(s, t, q, v, vd, multipliers);
    if (now->steps == 0 || t == now->t || t == now->t_old || !s->mp) return;
    s->saddle.here = false;
    bool good = !s->m || correct_position(s, t, q, v);
    if (good && s->form->velocity_level) good = correct_velocity(s, t, q, v);
    /* where this does not converge, near a singular position, the interpolated values stay */
    if (!good) ga_dense(s, t, q, v, NULL, NULL);
}

void ga_dense_consistent(ga_stepper *s, double t, double *q, double *v, double *vd,
                         double *multipliers)
{
    ga_dense_output(s, t, q, v, vd, multipliers);
    if (s->now.steps == 0 || s->form->velocity_level || !s->m) return;
    s->saddle.here = false;
    const bool good =
        ga_saddle_factor_at(s, t, q, v, false) == GA_OK && correct_velocity(s, t, q, v);
    if (!good) ga_dense(s, t, NULL, v, NULL, NULL);
}
