/* The graph of a saddle matrix, on its way through elimination: for order.c. */
#ifndef GA_LA_BLOCK_GRAPH_H
#define GA_LA_BLOCK_GRAPH_H

#include "la/block/tree.h"

typedef struct ga_graph {
    int blocks, groups;
    const ga_partition *partition;
    int *group; /* of each block */
    int *size;  /* unknowns of each block */
    /* neighbours: names of blocks, fewer and fewer of them */
    int *start, *length, *list;
    bool *hub; /* goes last, its degree not kept: a dense row, or a separator */
    /* constraints and bodies, from the rows of the matrix */
    int *of_body_start, *of_body; /* constraints of each body */
    int *bodies_start, *bodies;   /* bodies of each constraint */
    int *bodies_left;
    /* clusters, named like one of their bodies */
    int *cluster; /* what a body is part of; itself */
    int *open;    /* constraints that have bodies still there */
    bool *serves; /* the cluster is a tree without open constraints: one may be left open */
    int *depth;   /* joints in a row */
    /* elimination */
    int *into;         /* what a block that is gone has become part of; itself: an element */
    bool *gone;        /* blocks */
    int *element_step; /* number in the order, of an element */
    int *weight;       /* unknowns an element reaches */
    int *beyond;       /* of these, those the newest element does not reach */
    int *seen, *seen_group, stamp;    /* equal to stamp: the newest element reaches it */
    int *seen_beyond;                 /* equal to stamp: beyond is of the newest element */
    int *marked, *marked_group, mark; /* equal to mark: met before in the loop at hand */
    /* result */
    int *order; /* groups */
    int *reach_start, *reach, reach_room;
    /* queue: a heap by degree, then number */
    int count, *heap, *place, *degree;
} ga_graph;

/* blocks, groups and partition are set, all else zero. To be destroyed after a failure, too. */
ga_status ga_graph_create(const ga_matrix *matrix, ga_graph *g);
/* Marks what goes last so that a large graph falls into two. */
ga_status ga_graph_cut(ga_graph *g, int n);
void ga_graph_destroy(ga_graph *g);
/* tree.c: fronts, from the order and what each group in it reaches. Fills in e, but for blocks
 * and size, which are there. GA_OK or GA_ERR_MEMORY; then e is to be destroyed. */
ga_status ga_graph_fronts(const ga_graph *g, ga_elimination *e);

static inline int ga_graph_first(const ga_graph *g, int group)
{
    return g->partition->block_start[group];
}

static inline int ga_graph_end(const ga_graph *g, int group)
{
    return g->partition->block_start[group + 1];
}

#endif
