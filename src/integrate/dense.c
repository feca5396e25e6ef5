/* Dense output between t_old and t = t_old + h. For methods without an interpolation of their
 * own, with x = (time - t_old)/h in [0, 1]:
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
 * method has that at the ends.
 */
#include "base/memory.h"
#include "integrate/onestep.h"
#include "lie/group.h"
#include "system/nearby.h"

#include <string.h>

ga_status ga_cubic_create(ga_onestep *m)
{
    ga_cubic *c = &m->cubic;
    const int n = m->dae->nv;
    c->steps = -1;
    bool memory = (c->U = GA_NEW(double, n)) && (c->end = GA_NEW(double, n)) &&
                  (c->x = GA_NEW(double, n));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_cubic_destroy(ga_onestep *m)
{
    ga_free(m->cubic.U);
    ga_free(m->cubic.end);
    ga_free(m->cubic.x);
}

/* Cubic with values y0, y1 and slopes d0, d1 (per unit of x). */
static double cubic(double x, double y0, double d0, double y1, double d1)
{
    double rise = y1 - y0;
    return y0 + x * (d0 + x * ((3 * rise - 2 * d0 - d1) + x * (d0 + d1 - 2 * rise)));
}

/* U and h T^-1(U) v of the last step. */
static void prepare(ga_onestep *m)
{
    const ga_solution *now = &m->now;
    const ga_dae *dae = m->dae;
    if (m->cubic.steps == now->steps) return;
    m->cubic.steps = now->steps;
    double T[GA_NODE_MAX_NV * GA_NODE_MAX_NV], mean[GA_NODE_MAX_NV];
    const double *q_old = now->q_old, *q = now->q;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        ga_node kind = dae->sys.nodes[node];
        int n = ga_node_nv(kind);
        const double *v = now->v + at;
        double *end = m->cubic.end + at;
        bool apart = ga_group_is_vector(kind);
        if (apart) {
            ga_lie_difference(kind, q_old, q, m->cubic.U + at);
        } else {
            for (int i = 0; i < n; ++i) mean[i] = 0.5 * now->h * (now->v_old[at + i] + v[i]);
            apart = !ga_lie_difference_near(kind, q_old, q, mean, m->cubic.U + at);
        }
        q_old += ga_node_nq(kind);
        q += ga_node_nq(kind);
        if (apart) {
            for (int i = 0; i < n; ++i) end[i] = now->h * v[i];
        } else {
            ga_lie_tangent_inverse(kind, GA_MAP_EXP, m->cubic.U + at, T);
            for (int i = 0; i < n; ++i) {
                end[i] = 0;
                for (int j = 0; j < n; ++j) end[i] += now->h * T[i + n * j] * v[j];
            }
        }
        at += n;
    }
}

void ga_cubic_interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                          double *multipliers)
{
    const ga_solution *now = &m->now;
    const ga_dae *dae = m->dae;
    const double h = now->h;
    if (now->steps == 0 || t == now->t) { /* nothing behind, or exactly here */
        if (q) memcpy(q, now->q, (size_t)dae->nq * sizeof *q);
        if (v) memcpy(v, now->v, (size_t)dae->nv * sizeof *v);
        if (vd) memcpy(vd, now->vd, (size_t)dae->nv * sizeof *vd);
        if (multipliers)
            memcpy(multipliers, now->multipliers, (size_t)dae->mp * sizeof *multipliers);
        return;
    }
    prepare(m);
    const double x = (t - now->t_old) / h, *vd_old = now->vd_old;
    if (q) {
        for (int i = 0; i < dae->nv; ++i)
            m->cubic.x[i] = cubic(x, 0, h * now->v_old[i], m->cubic.U[i], m->cubic.end[i]);
        ga_dae_update(dae, GA_MAP_EXP, now->q_old, m->cubic.x, q);
    }
    for (int i = 0; v && i < dae->nv; ++i)
        v[i] = cubic(x, now->v_old[i], h * vd_old[i], now->v[i], h * now->vd[i]);
    for (int i = 0; vd && i < dae->nv; ++i) vd[i] = vd_old[i] + x * (now->vd[i] - vd_old[i]);
    const double *l0 = now->multipliers_old, *l1 = now->multipliers;
    for (int i = 0; multipliers && i < dae->mp; ++i)
        multipliers[i] = l0[i] + x * (l1[i] - l0[i]);
}

void ga_dense_output(ga_onestep *m, double t, double *q, double *v, double *vd,
                     double *multipliers)
{
    const ga_solution *now = &m->now;
    const ga_levels levels = GA_POSITION_LEVEL | (m->velocity_level ? GA_VELOCITY_LEVEL : 0);
    m->type->interpolate(m, t, q, v, vd, multipliers);
    if (now->steps == 0 || t == now->t || t == now->t_old || !m->dae->mp) return;
    /* where this does not converge, near a singular position, the interpolated values stay */
    if (!ga_consistent_correct(ga_onestep_output(m), t, q, v, levels))
        m->type->interpolate(m, t, q, v, NULL, NULL);
}

/* v' and multipliers between those at the ends of the step. */
static void guess(const ga_onestep *m, double t, double *vd, double *multipliers)
{
    const ga_solution *now = &m->now;
    const double x = now->steps == 0 || t == now->t ? 1 : (t - now->t_old) / now->h;
    for (int i = 0; i < m->dae->nv; ++i)
        vd[i] = x == 1 ? now->vd[i] : now->vd_old[i] + x * (now->vd[i] - now->vd_old[i]);
    for (int i = 0; i < m->dae->mp; ++i) {
        const double l0 = now->multipliers_old[i], l1 = now->multipliers[i];
        multipliers[i] = x == 1 ? l1 : l0 + x * (l1 - l0);
    }
}

/* Is this the end of the last step? */
static bool is_end(const ga_onestep *m, double t, const double *q, const double *v)
{
    const ga_solution *now = &m->now;
    return t == now->t && !memcmp(q, now->q, (size_t)m->dae->nq * sizeof *q) &&
           !memcmp(v, now->v, (size_t)m->dae->nv * sizeof *v);
}

/* Factors of other points serve only for independent rows and linear equations. */
static bool has_nearby(ga_onestep *m)
{
    return m->nearby && !m->dae->sys.force_uses_multipliers &&
           !ga_onestep_output(m)->redundancy.active;
}

static void accelerate(ga_onestep *m, double t, const double *q, const double *v, double *vd,
                       double *multipliers)
{
    if (ga_onestep_accelerate(m, t, q, v, vd, multipliers) != GA_OK)
        m->type->interpolate(m, t, NULL, NULL, vd, multipliers);
}

void ga_dense_acceleration(ga_onestep *m, double t, const double *q, const double *v,
                           double *vd, double *multipliers)
{
    guess(m, t, vd, multipliers);
    if (is_end(m, t, q, v)) {
        if (m->acceleration_level) return;
        /* those of ga_dense_follow, or the same bits once more */
        if (has_nearby(m) && (ga_nearby_recall(m->nearby, t, q, v, vd, multipliers) ||
                              ga_nearby_solve(m->nearby, m->dae, t, q, v, vd, multipliers)))
            return;
    }
    accelerate(m, t, q, v, vd, multipliers);
}

void ga_dense_follow(ga_onestep *m, double t, const double *q, const double *v, double *vd,
                     double *multipliers)
{
    guess(m, t, vd, multipliers);
    if (m->acceleration_level && is_end(m, t, q, v)) return;
    if (has_nearby(m)) {
        m->nearby->saddle.factorizations = &m->stats->factorizations;
        if (ga_nearby_follow(m->nearby, m->dae, t, q, v, vd, multipliers)) return;
    }
    accelerate(m, t, q, v, vd, multipliers);
}

void ga_dense_beside(ga_onestep *m, double t, const double *q, const double *v, double *vd,
                     double *multipliers)
{
    guess(m, t, vd, multipliers);
    if (has_nearby(m) && ga_nearby_solve(m->nearby, m->dae, t, q, v, vd, multipliers)) return;
    accelerate(m, t, q, v, vd, multipliers);
}

void ga_dense_consistent(ga_onestep *m, double t, double *q, double *v, double *vd,
                         double *multipliers)
{
    ga_dense_output(m, t, q, v, vd, multipliers);
    if (m->now.steps == 0 || m->velocity_level || !m->dae->m) return;
    if (!ga_consistent_correct(ga_onestep_output(m), t, q, v, GA_VELOCITY_LEVEL))
        m->type->interpolate(m, t, NULL, v, NULL, NULL);
}
