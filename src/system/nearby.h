/* Accelerations and multipliers at many points along a motion, with the factors of one of them.
 *
 * The saddle matrix K of [ABC14] eq. (7) is factored at one point. At another, where it is
 * A = K + E, sweeps of refinement x += K^-1 (b - A x) converge with the rate |K^-1 E|, which is
 * small as long as the point is near. For independent rows, and forces that do not depend on
 * multipliers. Where the matrix was factored is part of the state of what uses this: results
 * depend on it by the round-off that the sweeps leave. */
#ifndef GA_SYSTEM_NEARBY_H
#define GA_SYSTEM_NEARBY_H

#include "system/consistent.h"

typedef struct ga_nearby {
    ga_redundancy redundancy; /* none */
    ga_saddle saddle;
    bool factored; /* at t, q, v: */
    double t, *q, *v;
    bool far; /* sweeps were many: time to factor anew */
    /* the point that was followed last, and what was found there */
    bool known;
    double last_t, *last_q, *last_v, *last_vd, *last_multipliers;
} ga_nearby;

ga_status ga_nearby_create(const ga_dae *dae, ga_solver solver, ga_nearby *n);
void ga_nearby_destroy(ga_nearby *n); /* a zeroed one is fine */
/* v' and multipliers, whose guesses are given, by the factors there are; false: these do not
 * serve, and the guesses stand. */
bool ga_nearby_solve(ga_nearby *n, ga_dae *dae, double t, const double *q, const double *v,
                     double *vd, double *multipliers);
/* The same for the next point of the motion, where the matrix may be factored. */
bool ga_nearby_follow(ga_nearby *n, ga_dae *dae, double t, const double *q, const double *v,
                      double *vd, double *multipliers);
/* What was found there, if this is the point that was followed last. */
bool ga_nearby_recall(const ga_nearby *n, double t, const double *q, const double *v,
                      double *vd, double *multipliers);
/* Factors and pivots: for another motion. */
void ga_nearby_forget(ga_nearby *n);
/* Factors at t, q, v, where factors are missing that were there when this was saved. */
ga_status ga_nearby_restore(ga_nearby *n, ga_dae *dae);

#endif
