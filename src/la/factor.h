/* Square matrices assembled from blocks, and their LU factorisation.
 *
 * A matrix is a sum of blocks c_i * block_i, each in coordinate form at an offset. The pattern
 * is built once and gives every block entry its slot; assembling is one multiply-add per entry.
 * Slots are stored in pieces, of which large models have many that are alike: matrix.c.
 * Backends (backend.def): own LU on a full matrix, KLU on compressed columns, own LU by blocks
 * for saddle matrices. */
#ifndef GA_LA_FACTOR_H
#define GA_LA_FACTOR_H

#include "base/pool.h"
#include "la/coords.h"
#include "la/lists.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum ga_backend_kind {
    GA_BACKEND_DENSE,
    GA_BACKEND_KLU,
    GA_BACKEND_BLOCK,
    GA_BACKEND_COUNT
} ga_backend_kind;

/* False: built without KLU, and a full matrix takes its place. */
extern const bool ga_factor_has_klu;

typedef struct ga_block {
    const ga_coords *coords; /* structure of the block */
    int row0, col0;          /* where its (0,0) stands */
} ga_block;

/* Entries of a block that follow each other: their slots are those of a list, from `first` on.
 */
typedef struct ga_matrix_piece {
    int list, first;
} ga_matrix_piece;

/* A block of a full matrix. */
typedef struct ga_matrix_shape {
    int rows, cols, first; /* first: its slot */
    ga_layout layout;
} ga_matrix_shape;

/* Pieces of a block that follow each other and lie in one window and range of columns. */
typedef struct ga_matrix_run {
    int block, piece, end;
    int entry, column; /* its first: of the block, and of the product that may be */
    int range;
} ga_matrix_run;

/* What is added for a block. */
typedef struct ga_matrix_term {
    double scale;         /* 0: nothing */
    const double *values; /* of its entries; or, if there is a product, */
    const ga_product *product;
    const double *a, *b; /* its factors */
} ga_matrix_term;

typedef struct ga_matrix {
    int n, count;         /* order, number of slots */
    bool full;            /* slots are all n*n places, column-major; colptr, rowind are null */
    int *colptr, *rowind; /* compressed columns, rows ascending */
    double *values;       /* count numbers */
    int blocks;
    int *piece_start; /* blocks + 1: pieces of each block, in the order of its entries */
    ga_matrix_piece *piece;
    ga_lists slots;
    ga_matrix_shape *shape; /* full: of each block */
    ga_pool *pool;          /* borrowed; null: one thread */
    /* Windows of columns, for the cache and for threads; none if full. Each has a share of each
     * of the ranges that blocks divide the columns into, and its runs by blocks. */
    int windows, ranges;
    int *range;     /* ranges + 1: where they begin */
    int *run_start; /* windows + 1 */
    ga_matrix_run *run;
    double *largest;     /* of each window, by ga_matrix_sum; NaN if one is not finite */
    bool looked;         /* it is that of the values now */
    double *window_work; /* space for a column of a product in each */
    int window_width;    /* so much of it */
} ga_matrix;

/* Sparse backends get every diagonal place as a slot, even if no block fills it. */
ga_status ga_matrix_create(int n, int blocks, const ga_block *block, bool full,
                           ga_matrix *matrix);
void ga_matrix_destroy(ga_matrix *matrix);
/* Threads for what follows. The same bits come out. */
ga_status ga_matrix_use(ga_matrix *matrix, ga_pool *pool);
/* After it: products[k], or null, is what will be added for block k. */
ga_status ga_matrix_use_products(ga_matrix *matrix, const ga_product *const *products);
void ga_matrix_clear(ga_matrix *matrix);
/* matrix += scale * block k with these values. */
void ga_matrix_add(ga_matrix *matrix, int k, double scale, const double *values);
/* The same for a block whose coords were the result of a product. */
void ga_matrix_add_product(ga_matrix *matrix, int k, double scale, const ga_product *product,
                           const double *a, const double *b);
/* The sum of a term for each block, in their order, then scaled as below. */
typedef struct ga_matrix_total {
    ga_matrix *matrix; /* not a full one */
    const ga_matrix_term *terms;
    const double *r, *c;
} ga_matrix_total;

/* That is what the matrix becomes; window by window, with the same bits as one after the other.
 */
void ga_matrix_sum(const ga_matrix_total *total);
/* Room for some windows. Segments are what a range has of a window, numbered range by range. */
typedef struct ga_matrix_room {
    double *memory;
    ptrdiff_t *shift; /* of each segment: value k of the matrix is at memory[shift + k] */
} ga_matrix_room;

/* One of the windows, in its room or, if that is null, where the values of the matrix are;
 * those who do all of them set `looked`. */
void ga_matrix_sum_window(const ga_matrix_total *total, int window, const ga_matrix_room *room);
/* The window and the segment of column j. */
int ga_matrix_window(const ga_matrix *matrix, int j);
int ga_matrix_segment(const ga_matrix *matrix, int j);
/* Its first column; the one after the last for the number of segments. */
int ga_matrix_segment_start(const ga_matrix *matrix, int segment);
/* y += alpha A x. */
void ga_matrix_multiply(const ga_matrix *matrix, double alpha, const double *x, double *y);
/* values[i,j] *= r[i] * c[j]. */
void ga_matrix_scale(ga_matrix *matrix, const double *r, const double *c);
/* Ruiz equilibration: multiplies r and c (given on entry, for instance 1) so that rows and
 * columns of diag(r) A diag(c) have largest entries near 1; factors are powers of two, so
 * scaling commits no round-off. Empty rows and columns keep their factor. work has 2n. */
void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work);
/* Where the entry in this place is among the values, or -1. */
int ga_matrix_slot(const ga_matrix *matrix, int row, int col);
/* Largest absolute value in column j. */
double ga_matrix_column_size(const ga_matrix *matrix, int j);
/* Column-major copy, n x n. */
void ga_matrix_to_full(const ga_matrix *matrix, double *full);

/* What the block backend knows about a matrix: rows and columns in blocks, as many rows as
 * columns each, and blocks in groups that are eliminated together. A group of bodies may be
 * eliminated at any time; one of constraints has zeros on its diagonal and needs a body first.
 */
typedef struct ga_partition {
    int groups;
    int *block_start;           /* groups + 1: group g has the blocks block_start[g] .. */
    int *row_block, *col_block; /* block of each row, and of each column */
    bool *constraint;           /* of each group */
} ga_partition;

/* Room for a partition of n unknowns into so many. */
ga_status ga_partition_create(int n, int groups, ga_partition *partition);
void ga_partition_destroy(ga_partition *partition); /* a zeroed one is fine */

typedef struct ga_factor ga_factor;

/* Allocates and analyses the pattern (values need not be set). The matrix is borrowed. The
 * dense backend takes both kinds of matrix; the others give GA_ERR_ARGUMENT for a full one. */
ga_status ga_factor_create(const ga_matrix *matrix, ga_backend_kind kind, ga_factor **factor);
/* The block backend with a partition (not kept), and threads (may be null, otherwise outlive
 * the factor). The same bits come out with any number of threads. */
ga_status ga_factor_create_blocks(const ga_matrix *matrix, const ga_partition *partition,
                                  ga_pool *pool, ga_factor **factor);
void ga_factor_destroy(ga_factor *factor);
/* Other threads from now on, or none. Backends that have no use for them do not mind. */
void ga_factor_use(ga_factor *factor, ga_pool *pool);
/* Factors matrix->values. KLU reuses its pivot order and factors anew when pivot growth shows
 * that it no longer fits (the only case that may allocate after the first call).
 * GA_ERR_SINGULAR: exactly or numerically singular (rcond below machine epsilon, the cheap
 * estimate from the pivots), or NaN or Inf in the values; see ga_factor_singular_column. After
 * a failure there are no factors to solve with. */
ga_status ga_factor_numeric(ga_factor *factor);
/* The same of diag(r) A diag(c). The values are left as they are, or scaled. */
ga_status ga_factor_numeric_scaled(ga_factor *factor, ga_matrix *matrix, const double *r,
                                   const double *c);
/* The same of a sum, which the matrix becomes; a very large one may be gone afterwards, window
 * by window. Then it is made again where it is needed: what the terms and scales point to is to
 * stay as it is while there are solutions. The terms themselves are copied. */
ga_status ga_factor_numeric_sum(ga_factor *factor, const ga_matrix_total *total);
/* Room for all values of such a matrix, where its factors are, for who has to look at it as a
 * whole; null if it is none. After that there are no factors until they are made anew. */
double *ga_factor_lend(ga_factor *factor);
/* The next ga_factor_numeric chooses pivots anew, and may allocate. */
void ga_factor_forget(ga_factor *factor);
/* Multiplications and additions of a factorisation to come; 0 if that is not known. */
double ga_factor_operations(const ga_factor *factor);
/* From now on both have their factors in the memory of the lender, which outlives the other.
 * Whoever solves after the other has factored makes his anew, with the same bits: values of
 * matrices must be those he has factored. It costs time if they take turns, and does nothing
 * where backends are different, know no sharing, or the lender has too little. */
void ga_factor_share(ga_factor *factor, ga_factor *lender);
/* Memory of its own again. */
ga_status ga_factor_unshare(ga_factor *factor);
/* In place. No allocation. */
void ga_factor_solve(const ga_factor *factor, double *x);
/* The same with a defect of up to 1e6 units of round-off: for iterations, which correct it. */
void ga_factor_solve_rough(const ga_factor *factor, double *x);
/* Cheap reciprocal condition estimate of the last factorisation. */
double ga_factor_rcond(const ga_factor *factor);
/* The column with the zero or smallest pivot, or the first NaN or Inf, after GA_ERR_SINGULAR;
 * or -1. */
int ga_factor_singular_column(const ga_factor *factor);
/* x = C A^-1 R rhs with diagonal matrices R and C; x may be rhs. rough: as above. No
 * allocation. */
void ga_factor_solve_scaled(const ga_factor *factor, bool rough, const double *row,
                            const double *rhs, const double *col, double *x);

#endif
