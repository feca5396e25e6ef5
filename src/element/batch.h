/* Joints side by side: those with one kernel, between nodes of the same kinds, whose matrices
 * have the same sparsity. Everything that is equal for them stands here once.
 *
 * Against the same joints one by one, whole runs with default settings take 40 % of the
 * instructions (planar chain), 50 % (ball joints), 54 % (hinges), 63 % (Stewart platform), 83 %
 * (suspension corner). test_every_element compares the two for every joint. */
#ifndef GA_ELEMENT_BATCH_H
#define GA_ELEMENT_BATCH_H

#include "element/kernel.h"
#include "element/node_kind.h"

enum {
    GA_BATCH_GRADIENT,
    GA_BATCH_SWEPT, /* Z */
    GA_BATCH_STIFFNESS,
    GA_BATCH_MATRICES,
    GA_BATCH_SIZE = GA_PAIR * GA_PAIR /* of a local matrix */
};

/* Which numbers of a local matrix are ever other than zero; or, of its blocks, all. */
typedef struct ga_batch_mask {
    int count;
    unsigned char entry[GA_BATCH_SIZE];
} ga_batch_mask;

/* A block of a local matrix: rows of the joint, or of a part of a node (translations or
 * rotations), by columns of a part of a node. */
typedef struct ga_batch_block {
    int row_node, col_node; /* which of both nodes; row_node -1: rows of the joint */
    int row, col;           /* the first, counted from the first of the node or joint */
    int height, width;
} ga_batch_block;

/* What is stored of a local matrix: blocks around the mask, each column by column. */
typedef struct ga_batch_layout {
    int blocks;
    ga_batch_block block[16];
    ga_batch_mask stored;
    ga_batch_mask noise; /* what is stored, but is zero up to round-off */
} ga_batch_layout;

/* The columns of one of the two bodies: places in B that may be other than zero, and their
 * rows, column by column, in numbers of GA_KERNEL_LANES joints. */
typedef struct ga_batch_side {
    int columns;
    unsigned char start[GA_TWIST + 1];
    unsigned short entry[GA_KERNEL_MAX_ROWS * GA_TWIST], row[GA_KERNEL_MAX_ROWS * GA_TWIST];
} ga_batch_side;

/* Of an entry of B: which body, and its column and row. */
typedef struct ga_batch_place {
    unsigned char which, column, row;
} ga_batch_place;

typedef struct ga_batch {
    const ga_kernel *kernel;
    int kind[2]; /* ga_node_kind; -1: the ground */
    ga_batch_mask mask[GA_BATCH_MATRICES];
    ga_batch_layout layout[GA_BATCH_MATRICES];
    int value[GA_BATCH_MATRICES]; /* where its first joint's values are among all */

    int count;
    int *nodes; /* two for each joint; up to a multiple of GA_KERNEL_LANES joints, the ground */
    int *row;   /* its first */
    double *data; /* numbers of GA_KERNEL_LANES joints side by side, as kernels have them */

    /* for reaction.c */
    ga_batch_side side[2];
    ga_batch_place place[GA_KERNEL_MAX_ROWS * GA_PAIR]; /* of what the mask keeps */
    bool units;           /* derivatives by translations are those of a common point */
    int *columns;         /* where coordinates of the two bodies of each joint begin */
    unsigned char *order; /* of each GA_KERNEL_LANES joints: how they may be added together */
    unsigned char
        *common; /* of each joint, bits 1 and 2: its bodies have joints in other parts */
    int commons; /* joints that have such a body */
} ga_batch;

/* Where nodes are: ga_frame, or ga_plane in planar models; [GA_GROUND] too. */
typedef struct ga_places {
    const ga_frame *frames;
    const ga_plane *planes; /* null in space */
} ga_places;

/* The batch a joint would go to, still without masks, and the joint's constants, up to
 * GA_KERNEL_MAX_NUMBERS; false if it has no kernel. */
bool ga_batch_describe(const ga_joint *joint, int dimension, const ga_node_kind *kinds,
                       ga_batch *batch, double *data);
/* The masks, which follow from the constants. */
void ga_batch_find_masks(ga_batch *batch, const double *data);
/* Room for so many joints, of which there is none yet; arrays are freed by the caller. */
ga_status ga_batch_reserve(ga_batch *batch, int count);
void ga_batch_add(ga_batch *batch, const ga_joint *joint);
/* Same kernel and kinds of nodes; and the same masks too. */
bool ga_batch_is_like(const ga_batch *a, const ga_batch *b);
bool ga_batch_is_same(const ga_batch *a, const ga_batch *b);
/* The column of a node, 0 to 5, and which of both nodes it is; -1: there is no such coordinate.
 */
int ga_batch_column(const ga_batch *batch, int column, int *which);

/* Where the first number of the k-th joint stands; the others follow in steps of
 * GA_KERNEL_LANES. */
static inline double *ga_batch_data(const ga_batch *batch, int k)
{
    const int v = k % GA_KERNEL_LANES;
    return batch->data + (size_t)(k - v) * (size_t)batch->kernel->numbers + v;
}
/* Phi, and B unless it is null, of the joints k to k + GA_KERNEL_LANES - 1, as kernels have
 * them; B in the coordinates of nodes. The last ones, from `some` on, need not be there. */
void ga_batch_lanes(const ga_batch *batch, ga_places at, int k, int some, double *Phi,
                    double *B);
/* B of these joints, to its place among all values; round-off in place of zeros is cleared. */
void ga_batch_keep_rows(const ga_batch *batch, int k, int some, double *local, double *B);
/* The same rows of one joint, with the same bits: B as a local matrix, then to its place. */
void ga_batch_rows_of(const ga_batch *batch, ga_places at, int k, double *Phi, double *B);
void ga_batch_keep_row(const ga_batch *batch, int k, double *local, double *B);
/* At most so many joints are computed one after the other: eight hinges side by side take as
 * many instructions as 4.6 single ones, and what is not there is computed too. */
enum { GA_BATCH_FEW = 3 };
static inline bool ga_batch_is_single(const ga_batch *batch, int from, int to)
{
    return to - from <= GA_BATCH_FEW || !batch->kernel->rows_of_many;
}

/* For joints from <= k < to, `from` a multiple of GA_KERNEL_LANES. Phi or B may be null; arrays
 * are those of the whole model. */
void ga_batch_rows(const ga_batch *batch, ga_places at, int from, int to, double *Phi,
                   double *B);
void ga_batch_stiffness(const ga_batch *batch, ga_places at, int from, int to,
                        const double *lambda, double *K);
void ga_batch_swept(const ga_batch *batch, ga_places at, int from, int to, double *Z);
/* c = -(Z v); v_at: first coordinate of each node */
void ga_batch_acceleration(const ga_batch *batch, ga_places at, int from, int to,
                           const int *v_at, const double *v, double *c);

#endif
