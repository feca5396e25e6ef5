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
 */
#include "integrate/stepper.h"

#include "lie/group.h"

#include <string.h>

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
