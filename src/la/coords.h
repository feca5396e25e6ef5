/* Structures of sparse matrices: blocks at places, added where they overlap. A single entry is
 * a block of one row and one column, a full matrix one block. Values live in separate arrays,
 * block after block, so one structure serves many matrices. */
#ifndef GA_LA_COORDS_H
#define GA_LA_COORDS_H

#include "base/buckets.h"
#include "base/pool.h"

#include <stdbool.h>

typedef struct ga_coords {
    int rows, cols;
    int count; /* values */
    int blocks;
    int *row, *col;            /* where each block begins */
    int *height, *width;       /* its size; null: entries, one by one */
    int *start;                /* its first value; null likewise */
    bool by_rows;              /* blocks are stored row by row, else column by column */
    ga_pool *pool;             /* borrowed; null: one thread */
    ga_buckets by_row, by_col; /* blocks in each range of rows and columns, for threads */
} ga_coords;

/* A block. Value (i, j) of it is value[start + i * down + j * across] of the matrix. */
typedef struct ga_matrix_block {
    int row, col, rows, cols;
    int start, down, across;
} ga_matrix_block;

static inline ga_matrix_block ga_coords_box(const ga_coords *A, int b)
{
    if (!A->height) return (ga_matrix_block){A->row[b], A->col[b], 1, 1, b, 1, 1};
    const int rows = A->height[b], cols = A->width[b];
    return (ga_matrix_block){A->row[b],
                             A->col[b],
                             rows,
                             cols,
                             A->start[b],
                             A->by_rows ? cols : 1,
                             A->by_rows ? 1 : rows};
}

static inline int ga_coords_width(const ga_coords *A, int b)
{
    return A->width ? A->width[b] : 1;
}

/* Copies the places of count entries; row == NULL means a full matrix, column-major. The caller
 * has checked the indices. GA_ERR_MEMORY also if rows * cols does not fit an int. */
ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords);
/* Room for blocks, all of which are 0 x 0; then, when they are filled in, their starts. */
ga_status ga_coords_reserve(int rows, int cols, int blocks, ga_coords *coords);
ga_status ga_coords_start(ga_coords *coords);
/* Joins blocks side by side with the same rows, whose values follow each other: products then
 * have fewer pairs. If there are any, new arrays take the place of the old ones, *joined is
 * true, and the old ones stay the caller's. */
ga_status ga_coords_join(ga_coords *coords, bool *joined);
/* Entries 1 to n of the diagonal. */
ga_status ga_coords_diagonal(int n, ga_coords *coords);
void ga_coords_take_diagonal(const ga_coords *A, const double *values, double *diagonal);
void ga_coords_destroy(ga_coords *coords); /* a zeroed one is fine; leaves it zeroed */

/* Threads for products with this one, not with views taken before. The same bits come out. */
ga_status ga_coords_use(ga_coords *coords, ga_pool *pool);

/* The blocks that have something in each column, in their order. */
ga_status ga_coords_by_column(const ga_coords *coords, ga_buckets *blocks);

/* The same arrays seen as the transposed matrix; owns nothing. */
ga_coords ga_coords_transposed(const ga_coords *coords);

/* A copy that has each value as an entry of its own. */
ga_status ga_coords_entries(const ga_coords *coords, ga_coords *entries);

/* Value k of a matrix and its place, in turns:
 *     for (ga_matrix_entry e = ga_entry_first(A); e.k < A->count; ga_entry_next(A, &e)) */
typedef struct ga_matrix_entry {
    int k, row, col;
    int block;
    ga_matrix_block box;
} ga_matrix_entry;

static inline void ga_entry_enter(const ga_coords *A, ga_matrix_entry *e)
{
    if (e->k >= A->count) return;
    e->box = ga_coords_box(A, e->block);
    e->row = e->box.row;
    e->col = e->box.col;
}

static inline ga_matrix_entry ga_entry_first(const ga_coords *A)
{
    ga_matrix_entry e = {0};
    ga_entry_enter(A, &e);
    return e;
}

static inline void ga_entry_next(const ga_coords *A, ga_matrix_entry *e)
{
    int *const inner = A->by_rows ? &e->col : &e->row, *const outer =
                                                           A->by_rows ? &e->row : &e->col;
    const int first = A->by_rows ? e->box.col : e->box.row,
              length = A->by_rows ? e->box.cols : e->box.rows;
    ++e->k;
    if (++*inner < first + length) return;
    *inner = first;
    ++*outer;
    if (e->k < e->box.start + e->box.rows * e->box.cols) return;
    ++e->block;
    ga_entry_enter(A, e);
}

/* y += alpha A x  and  y += alpha A^T x. Each sum is taken in the order of the values. */
void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y);
void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y);

#endif
