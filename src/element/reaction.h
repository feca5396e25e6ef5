/* Rows of joints and the reactions they stand for, r += B^T lambda, without a matrix.
 *
 * Each number of r gets its products in the order of the entries of B, whoever adds them, so
 * that the bits are those of a product with the matrix. */
#ifndef GA_ELEMENT_REACTION_H
#define GA_ELEMENT_REACTION_H

#include "element/batch.h"

/* What of joints is wanted; Phi and B may be null, arrays are those of the whole model. */
typedef struct ga_reaction {
    const double *lambda;
    double *Phi, *B, *r;
    bool divided; /* parts may be worked on at the same time: see below */
} ga_reaction;

/* The batch is complete. Joints come in parts of so many, which may be worked on at the same
 * time. v_at: first coordinate of each node; mark has a number for each, all zero, and is left
 * so. */
ga_status ga_reaction_prepare(ga_batch *batch, const int *v_at, int part, int *mark);
/* For joints from <= k < to, `from` a multiple of GA_KERNEL_LANES. Where parts are divided,
 * what goes to bodies of several parts is left out. */
void ga_reaction_add(const ga_batch *batch, ga_places at, int from, int to,
                     const ga_reaction *reaction);
/* What was left out. */
void ga_reaction_finish(const ga_batch *batch, ga_places at, const ga_reaction *reaction);

#endif
