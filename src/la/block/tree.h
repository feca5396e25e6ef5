/* In which order a saddle matrix is eliminated, group by group, and what fills up.
 *
 * Rows and columns come in blocks, as many rows as columns each; blocks of one group are
 * eliminated together. A front is what is eliminated in one piece: its pivots, and the rest,
 * blocks of later fronts that it reaches. */
#ifndef GA_LA_BLOCK_TREE_H
#define GA_LA_BLOCK_TREE_H

#include "la/factor.h"

/* From here on a system is divided for threads: a graph like a chain is cut in two (graph.c),
 * and plan.c makes parts. Below, to wake a thread takes longer. */
enum { GA_THREADS_FROM_UNKNOWNS = 20000 };

typedef struct ga_elimination {
    int blocks, fronts;
    int *size;                /* unknowns of each block */
    int *block;               /* blocks in the order of elimination */
    int *start;               /* fronts + 1: front f has the pivots block[start[f]] .. */
    int *rest_start, *rest;   /* blocks that front f reaches, in the order of elimination */
    int *parent;              /* the front of the first of them, > f; -1 for a root */
    int *child_start, *child; /* of front f; a front and all below it are consecutive */
    double flops;             /* of the factorisation */
} ga_elimination;

ga_status ga_elimination_create(const ga_matrix *matrix, const ga_partition *partition,
                                ga_elimination *e);
void ga_elimination_destroy(ga_elimination *e); /* a zeroed one is fine */

#endif
