/* Dense output of the explicit method, of order 7, in the chart of the step. It ends at the
 * projected point, so that it is continuous; its three stages are computed when it is asked
 * for. Accelerations are the derivative of v; multipliers the derivative of the dense output of
 * their integral. */
#include "integrate/explicit.h"

#include <string.h>

/* F_0 .. F_6 of the numbers of a stage, with the values y_1 - y_0. */
static void find_polynomial(ga_explicit *x)
{
    const ga_stages *last = &x->last;
    const int nv = x->dae.nv, n = x->width;
    const double h = last->h, *k0 = ga_explicit_stage(x, last, 0),
                 *k1 = ga_explicit_stage(x, last, GA_DOP853_END);
    double *F0 = x->F, *F1 = F0 + n, *F2 = F1 + n;
    for (int i = 0; i < nv; ++i) {
        F0[i] = last->xi[i];
        F0[nv + i] = last->v[i] - last->v0[i];
    }
    ga_explicit_copy(F0 + 2 * nv, last->z, x->dae.mp);
    for (int i = 0; i < n; ++i) {
        F1[i] = h * k0[i] - F0[i];
        F2[i] = 2 * F0[i] - h * (k0[i] + k1[i]);
    }
    for (int r = 0; r + 3 < GA_DOP853_DENSE; ++r) {
        double *F = x->F + (size_t)(r + 3) * (size_t)n;
        memset(F, 0, (size_t)n * sizeof *F);
        ga_explicit_add(x, last, GA_DOP853_DENSE_STAGES, ga_dop853_table.d[r], h, 0, n, F);
    }
}

/* The stages of the dense output, if they are not there; false: they cannot be computed. */
static bool prepare_dense(ga_explicit *x)
{
    ga_stages *last = &x->last;
    if (!last->known || x->now.steps == 0) return false;
    if (last->dense) return true;
    for (int i = GA_DOP853_END + 1; i < GA_DOP853_DENSE_STAGES; ++i)
        if (ga_explicit_evaluate(x, last, i, x->now.t, ga_explicit_solve_output) != GA_OK)
            return false;
    find_polynomial(x);
    return last->dense = true;
}

/* Weights of F_0 .. F_6 in y and in h y' at x. */
static void find_weights(double x, double value[GA_DOP853_DENSE], double slope[GA_DOP853_DENSE])
{
    double w = 1, dw = 0;
    for (int r = 0; r < GA_DOP853_DENSE; ++r) {
        const double factor = r % 2 ? 1 - x : x, change = r % 2 ? -1 : 1;
        dw = dw * factor + w * change;
        w *= factor;
        value[r] = w;
        slope[r] = dw;
    }
}

static void sum_weighted(const ga_explicit *x, const double *weights, double factor, int at,
                         int n, double *sum)
{
    for (int r = 0; r < GA_DOP853_DENSE; ++r) {
        const double w = factor * weights[r], *F = x->F + (size_t)r * (size_t)x->width + at;
        for (int i = 0; i < n; ++i) sum[i] += w * F[i];
    }
}

void ga_explicit_interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                             double *multipliers)
{
    ga_explicit *x = (ga_explicit *)m;
    const ga_dae *dae = &x->dae;
    if (m->now.steps == 0 || t == m->now.t || !prepare_dense(x)) {
        ga_cubic_interpolate(m, t, q, v, vd, multipliers);
        return;
    }
    const ga_stages *last = &x->last;
    const int nv = dae->nv;
    double value[GA_DOP853_DENSE], slope[GA_DOP853_DENSE];
    find_weights((t - last->t) / last->h, value, slope);
    if (q) {
        memset(x->here.xi, 0, (size_t)nv * sizeof *x->here.xi);
        sum_weighted(x, value, 1, 0, nv, x->here.xi);
        ga_dae_update(dae, GA_MAP_EXP, last->q0, x->here.xi, q);
    }
    if (v) {
        ga_explicit_copy(v, last->v0, nv);
        sum_weighted(x, value, 1, nv, nv, v);
    }
    if (vd) {
        memset(vd, 0, (size_t)nv * sizeof *vd);
        sum_weighted(x, slope, 1 / last->h, nv, nv, vd);
    }
    if (multipliers) {
        memset(multipliers, 0, (size_t)dae->mp * sizeof *multipliers);
        sum_weighted(x, slope, 1 / last->h, 2 * nv, dae->mp, multipliers);
    }
}
