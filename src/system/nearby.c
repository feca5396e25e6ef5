#include "system/nearby.h"

#include "base/memory.h"
#include "base/report.h"

#include <string.h>

/* Of the sweeps that a solution may take, and after how many the matrix is better factored at
 * the next point. */
enum { MOST_SWEEPS = 10, MANY_SWEEPS = 5 };

ga_status ga_nearby_create(const ga_dae *dae, ga_solver solver, ga_nearby *n)
{
    GA_TRY(ga_redundancy_create(dae, &n->redundancy));
    GA_TRY(ga_saddle_create(dae, &n->redundancy, solver, &n->saddle));
    const bool memory = (n->q = GA_NEW(double, dae->nq)) && (n->v = GA_NEW(double, dae->nv)) &&
                        (n->last_q = GA_NEW(double, dae->nq)) &&
                        (n->last_v = GA_NEW(double, dae->nv)) &&
                        (n->last_vd = GA_NEW(double, dae->nv)) &&
                        (n->last_multipliers = GA_NEW(double, dae->mp));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_nearby_destroy(ga_nearby *n)
{
    double *memory[] = {n->q, n->v, n->last_q, n->last_v, n->last_vd, n->last_multipliers};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_saddle_destroy(&n->saddle);
    ga_redundancy_destroy(&n->redundancy);
    memset(n, 0, sizeof *n);
}

/* M, G and the right-hand sides at a point. */
static ga_status evaluate(ga_nearby *n, ga_dae *dae, double t, const double *q, const double *v)
{
    ga_saddle *k = &n->saddle;
    const ga_point at = {.t = t, .q = q, .v = v};
    const ga_values values = {.M = k->M, .G = k->G, .f = k->rhs};
    GA_TRY(ga_dae_evaluate(dae, &at, &values));
    return ga_dae_acceleration_rhs(dae, t, q, v, k->rhs + dae->nv);
}

/* From the guesses, with what was evaluated. The number of sweeps; 0: too many. */
static int refine(ga_nearby *n, double *vd, double *multipliers)
{
    ga_saddle *k = &n->saddle;
    const size_t nv = (size_t)k->dae->nv, mp = (size_t)k->dae->mp;
    memcpy(k->x, vd, nv * sizeof *vd);
    memcpy(k->x + nv, multipliers, mp * sizeof *multipliers);
    const int sweeps = ga_saddle_approach(k, MOST_SWEEPS);
    if (!sweeps) return 0;
    memcpy(vd, k->x, nv * sizeof *vd);
    memcpy(multipliers, k->x + nv, mp * sizeof *multipliers);
    return sweeps;
}

bool ga_nearby_solve(ga_nearby *n, ga_dae *dae, double t, const double *q, const double *v,
                     double *vd, double *multipliers)
{
    return n->factored && evaluate(n, dae, t, q, v) == GA_OK && refine(n, vd, multipliers) > 0;
}

static void move_to(ga_nearby *n, double t, const double *q, const double *v)
{
    n->t = t;
    memcpy(n->q, q, (size_t)n->saddle.dae->nq * sizeof *q);
    memcpy(n->v, v, (size_t)n->saddle.dae->nv * sizeof *v);
}

bool ga_nearby_follow(ga_nearby *n, ga_dae *dae, double t, const double *q, const double *v,
                      double *vd, double *multipliers)
{
    n->known = false;
    if (evaluate(n, dae, t, q, v) != GA_OK) return false;
    int sweeps = n->factored && !n->far ? refine(n, vd, multipliers) : 0;
    if (!sweeps) {
        move_to(n, t, q, v);
        n->factored = ga_saddle_factor(&n->saddle, GA_SADDLE_ALL) == GA_OK;
        if (n->factored) sweeps = refine(n, vd, multipliers);
    }
    n->far = sweeps > MANY_SWEEPS;
    if (!sweeps) return false;
    n->known = true;
    n->last_t = t;
    memcpy(n->last_q, q, (size_t)dae->nq * sizeof *q);
    memcpy(n->last_v, v, (size_t)dae->nv * sizeof *v);
    memcpy(n->last_vd, vd, (size_t)dae->nv * sizeof *vd);
    memcpy(n->last_multipliers, multipliers, (size_t)dae->mp * sizeof *multipliers);
    return true;
}

bool ga_nearby_recall(const ga_nearby *n, double t, const double *q, const double *v,
                      double *vd, double *multipliers)
{
    const size_t nq = (size_t)n->saddle.dae->nq, nv = (size_t)n->saddle.dae->nv;
    if (!n->known || t != n->last_t || memcmp(q, n->last_q, nq * sizeof *q) ||
        memcmp(v, n->last_v, nv * sizeof *v))
        return false;
    memcpy(vd, n->last_vd, nv * sizeof *vd);
    memcpy(multipliers, n->last_multipliers, (size_t)n->saddle.dae->mp * sizeof *multipliers);
    return true;
}

void ga_nearby_forget(ga_nearby *n)
{
    n->factored = n->far = n->known = false;
    if (n->saddle.factor) ga_factor_forget(n->saddle.factor);
}

ga_status ga_nearby_restore(ga_nearby *n, ga_dae *dae)
{
    n->known = false;
    if (!n->factored) return GA_OK;
    GA_TRY(evaluate(n, dae, n->t, n->q, n->v));
    return ga_saddle_factor(&n->saddle, GA_SADDLE_ALL);
}
