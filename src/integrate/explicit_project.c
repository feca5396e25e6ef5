/* The projection of a step of the explicit method: on Phi = 0, then on B v + Phi_t = 0, k = 0,
 * by the smallest change in the mass metric, with the factors of the last stage, which is at
 * t_n + h, too. It is as small as the local error, keeps the order and is no part of the
 * estimate. */
#include "base/extremes.h"
#include "integrate/explicit.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Corrections below this, relative to the size of the values, are round-off. */
static const double NOTHING = 8 * DBL_EPSILON;
enum { MOST_CORRECTIONS = 6 };

/* Residuals below this, by the size of the values, are round-off, too. */
static const double SMALL_RESIDUAL = 32 * DBL_EPSILON;

/* Is a correction the last? It is, and a good one, if the next would be round-off by the rate
 * of the last two. Where there is no more progress it is good if it is round-off of constants
 * in the constraints, or if the residual is: next to a singular position round-off moves the
 * state to and fro. */
static bool is_last(double change, double before, double size, double residual, bool *good)
{
    const double rate = before < INFINITY ? change / before : 1;
    *good = change * ga_smaller(rate, 1) <= NOTHING * size;
    if (*good) return true;
    const double most = ga_larger(size, 1);
    *good = change <= 1e-11 * most || residual <= SMALL_RESIDUAL * most;
    return !(rate <= 0.3) && before < INFINITY;
}

/* Next to a singular position corrections are noise, and two have to do. */
enum { FEW_CORRECTIONS = 2 };

/* A y = (0, rows), with the matrix as it was factored: corrections are repeated anyway, and
 * near singular positions the regularisation keeps them small. */
static const double *lift(ga_explicit *x, const double *rows)
{
    ga_saddle *k = &x->consistent.saddle;
    memset(k->rhs, 0, (size_t)x->dae.nv * sizeof *k->rhs);
    memcpy(k->rhs + x->dae.nv, rows, (size_t)x->dae.mp * sizeof *k->rhs);
    ga_saddle_solve_once(k, k->rhs, k->x);
    return k->x;
}

/* q onto Phi = 0. */
static bool project_position(ga_explicit *x, double t, double *q)
{
    const ga_dae *dae = &x->dae;
    const int most = x->near ? FEW_CORRECTIONS : MOST_CORRECTIONS;
    double before = INFINITY, *rows = x->w;
    bool good = false;
    memset(rows, 0, (size_t)dae->mp * sizeof *rows);
    for (int k = 0; k < most; ++k) {
        if (ga_dae_constraint(&x->dae, t, q, x->Phi) != GA_OK) return false;
        for (int i = 0; i < dae->m; ++i) rows[i] = -x->Phi[i];
        const double *step = lift(x, rows), change = ga_norm_max(dae->nm, step);
        if (!isfinite(change)) return false;
        const double size = ga_larger(ga_norm_max(dae->nq, q), DBL_MIN);
        ga_dae_update(dae, GA_MAP_EXP, q, step, q);
        for (int i = 0; i < dae->nv; ++i) x->dq[i] += step[i];
        if (is_last(change, before, size, ga_norm_max(dae->m, x->Phi), &good)) break;
        before = change;
    }
    return good || x->near;
}

/* v onto w = 0; G becomes that at q. */
static bool project_velocity(ga_explicit *x, double t, const double *q, double *v)
{
    const ga_dae *dae = &x->dae;
    const int most = x->near ? FEW_CORRECTIONS : MOST_CORRECTIONS;
    double before = INFINITY, *w = x->w, *G = x->consistent.saddle.G;
    bool good = false;
    for (int k = 0; k < most; ++k) {
        if ((k == 0 || dae->p) && ga_dae_gradient(&x->dae, t, q, v, G) != GA_OK) return false;
        if (ga_dae_velocity(&x->dae, t, q, v, G, w) != GA_OK) return false;
        for (int i = 0; i < dae->mp; ++i) w[i] = -w[i];
        const double *step = lift(x, w), change = ga_norm_max(dae->nm, step);
        if (!isfinite(change)) return false;
        const double size = ga_larger(ga_norm_max(dae->nm, v), DBL_MIN);
        for (int i = 0; i < dae->nv; ++i) v[i] += step[i];
        for (int i = 0; i < dae->nv; ++i) x->dv[i] += step[i];
        if (is_last(change, before, size, ga_norm_max(dae->mp, w), &good)) break;
        before = change;
    }
    return good || x->near;
}

bool ga_explicit_project(ga_explicit *x, double t, double *q, double *v)
{
    const ga_dae *dae = &x->dae;
    memset(x->dq, 0, (size_t)dae->nv * sizeof *x->dq);
    memset(x->dv, 0, (size_t)dae->nv * sizeof *x->dv);
    if (dae->m && !project_position(x, t, q)) return false;
    return !dae->mp || project_velocity(x, t, q, v);
}
