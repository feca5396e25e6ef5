/* LU factorisation of square matrices, by one of several solvers (solver.def): own LU on a full
 * matrix, KLU on compressed columns, own LU by blocks for saddle matrices (block/). */
#ifndef GA_LA_FACTOR_H
#define GA_LA_FACTOR_H

#include "la/matrix.h"

#include <stddef.h>

typedef enum ga_backend_kind {
    GA_BACKEND_DENSE,
    GA_BACKEND_KLU,
    GA_BACKEND_BLOCK,
    GA_BACKEND_COUNT
} ga_backend_kind;

/* False: built without KLU, and a full matrix takes its place. */
extern const bool ga_factor_has_klu;

/* What the block solver knows about a matrix: rows and columns in blocks, as many rows as
 * columns each, and blocks in groups that are eliminated together. A group is a body, which may
 * be eliminated at any time, or a constraint, which has zeros on its diagonal and needs a body
 * first. */
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
 * dense solver takes both kinds of matrix; the others give GA_ERR_ARGUMENT for a full one. */
ga_status ga_factor_create(ga_matrix *matrix, ga_backend_kind kind, ga_factor **factor);
/* The block solver, which needs a partition; it is not kept. */
ga_status ga_factor_create_blocks(ga_matrix *matrix, const ga_partition *partition,
                                  ga_factor **factor);
void ga_factor_destroy(ga_factor *factor);
/* Threads from now on; null: none. The pool must outlive the factor. The same bits come out
 * with any number of threads. */
void ga_factor_use(ga_factor *factor, ga_pool *pool);
/* Factors matrix->values. KLU reuses its pivot order and factors anew when pivot growth shows
 * that it no longer fits; the block solver gives matrices to KLU for which its pivots do not
 * serve. Only these two may allocate after the first call.
 * GA_ERR_SINGULAR: exactly or numerically singular (rcond below machine epsilon, the cheap
 * estimate from the pivots), or NaN or Inf in the values; see ga_factor_singular_column. After
 * a failure there are no factors to solve with. */
ga_status ga_factor_numeric(ga_factor *factor);
/* The same after diag(r) A diag(c) has taken the place of A. */
ga_status ga_factor_numeric_scaled(ga_factor *factor, const double *r, const double *c);
/* The next ga_factor_numeric chooses pivots anew, and may allocate. */
void ga_factor_forget(ga_factor *factor);
/* The choice of pivots as bytes, into this memory; returns their number. Null: the number
 * alone. Zero where none is kept. */
size_t ga_factor_save(const ga_factor *factor, void *bytes);
/* From bytes of a factor with the same pattern: the next ga_factor_numeric gives the same bits
 * as there. Pivots that are in use already stay, with the factors. Allocates. GA_ERR_ARGUMENT
 * if the bytes do not fit the pattern. */
ga_status ga_factor_load(ga_factor *factor, const void *bytes, size_t size);
/* Multiplications and additions of a factorisation to come; 0 if that is not known. */
double ga_factor_operations(const ga_factor *factor);
/* x = A^-1 x, and x = A^-T x. No allocation, but work arrays of the factor: one at a time. */
void ga_factor_solve(const ga_factor *factor, double *x);
void ga_factor_solve_transposed(const ga_factor *factor, double *x);
/* The same with a backward error up to 1e6 eps: for iterations, which correct it. */
void ga_factor_solve_rough(const ga_factor *factor, double *x);
/* x = C A^-1 R rhs with diagonal matrices R and C; x may be rhs. rough: as above. */
void ga_factor_solve_scaled(const ga_factor *factor, bool rough, const double *row,
                            const double *rhs, const double *col, double *x);
/* Cheap reciprocal condition estimate of the last factorisation. */
double ga_factor_rcond(const ga_factor *factor);
/* The column with the zero or smallest pivot, or the first NaN or Inf, after GA_ERR_SINGULAR;
 * or -1. */
int ga_factor_singular_column(const ga_factor *factor);

#endif
