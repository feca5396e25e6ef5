/* Products with coordinate matrices, divided among threads.
 *
 * Entries are taken in pieces of equal length. Where several pieces add to one place of y, the
 * first of them does so, and entries of the others that go there are late: they follow one by
 * one when all pieces are done. So each place gets its terms in the order of the entries, as
 * without threads, and the same bits come out. Elements that are numbered along the mechanism
 * have few late entries. */
#ifndef GA_LA_DIVISION_H
#define GA_LA_DIVISION_H

#include "base/pool.h"

typedef struct ga_division {
    int pieces; /* 0: not divided */
    int *start; /* pieces + 1: where the late entries of each begin */
    int *late;  /* their numbers, ascending */
} ga_division;

/* Entry k adds to place[k]. Too many late ones, or few in all: not divided. */
ga_status ga_division_create(int count, const int *place, int places, ga_division *division);
void ga_division_destroy(ga_division *division); /* a zeroed one is fine */
/* y[place[k]] += alpha values[k] x[from[k]] for all k. */
void ga_division_add(const ga_division *division, ga_pool *pool, int count, const int *place,
                     const int *from, const double *values, double alpha, const double *x,
                     double *y);

#endif
