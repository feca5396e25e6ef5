/* Products with coordinate matrices, divided among threads.
 *
 * Places of y are divided into pieces of equal length, and each piece takes the entries that
 * add to it, in their order: the same bits come out as without threads. Elements that are
 * numbered along the mechanism, of one type after the other, have long runs of entries in one
 * piece. */
#ifndef GA_LA_DIVISION_H
#define GA_LA_DIVISION_H

#include "base/pool.h"
#include "la/strips.h"

typedef struct ga_division_run {
    int from, end; /* entries */
    int strip;     /* where these begin, if there are any */
} ga_division_run;

typedef struct ga_division {
    int pieces; /* 0: not divided */
    int *start; /* pieces + 1: where the runs of each begin */
    ga_division_run *runs;
} ga_division;

/* Entry k adds to place[k]. Too many runs, or few entries: not divided. */
ga_status ga_division_create(int count, const int *place, int places, ga_division *division);
/* Places in a piece. */
int ga_division_share(int count, int places);
/* The same entries by strips, which end where pieces do. */
ga_status ga_division_find_strips(ga_division *division, const ga_strips *strips);
void ga_division_destroy(ga_division *division); /* a zeroed one is fine */
/* Entry k is in row place[k] and column from[k]; of the transposed matrix, if strips are. */
typedef struct ga_entries {
    int count;
    const int *place, *from;
    const ga_strips *strips; /* or null */
    bool transposed;
} ga_entries;

/* y[place[k]] += alpha values[k] x[from[k]] for all k. */
void ga_division_add(const ga_division *division, ga_pool *pool, const ga_entries *entries,
                     const double *values, double alpha, const double *x, double *y);

#endif
