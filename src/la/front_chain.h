/* Fronts of a chain in one go: each has the one before it for its only child, is of the same
 * shape, and all that its child leaves over is among its pivots, from number `to` on. Entries
 * of the matrix, what the child leaves and the inverse then need no plan for each front, and
 * the same numbers come out as from one front after another (fronts_factor.c). */
#ifndef GA_LA_FRONT_CHAIN_H
#define GA_LA_FRONT_CHAIN_H

#include "la/fronts.h"

enum { GA_FRONT_CHAIN_S = 12 * 12 };

typedef struct ga_front_chain {
    double condition, multipliers; /* limits; of squares, see ga_front_sizes */
    double *room[2];               /* where fronts are eliminated, by odd and even numbers */
    ga_fronts_finding *found;      /* of pivots */
    double S[GA_FRONT_CHAIN_S];    /* of the front before, then of the last one */
} ga_front_chain;

/* Fronts from .. end - 1, of which the first is assembled. Returns the number of the first
 * front that is not done: end, or one that is not to be inverted. That is spoilt then, and S is
 * the one of its child. */
typedef int ga_front_chain_factor(const ga_fronts *s, int from, int end, ga_front_chain *c);

/* Null if there is none for this shape. */
ga_front_chain_factor *ga_front_chain_get(int k, int r, int to);

#endif
