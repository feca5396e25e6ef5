/* An order of elimination, as order.c finds it, and the fronts it is divided into. */
#ifndef GA_LA_BLOCK_ORDER_H
#define GA_LA_BLOCK_ORDER_H

#include "la/block/tree.h"

typedef struct ga_elimination_order {
    int groups, blocks;
    const int *block_start;         /* groups + 1: where the blocks of each begin */
    const int *group, *size;        /* of each block: its group, its unknowns */
    const int *order;               /* groups, as they go */
    const int *reach_start, *reach; /* of each group in that order: the blocks it reaches */
    const int *weight;              /* their unknowns; by the first block of the group */
} ga_elimination_order;

/* Fills in e, but for blocks and size, which are there. GA_OK or GA_ERR_MEMORY; then e is to be
 * destroyed. */
ga_status ga_order_fronts(const ga_elimination_order *order, ga_elimination *e);

#endif
