/* Matrices in coordinate form: entry k stands at (row[k], col[k]); entries at one place add up.
 * Values live in separate arrays, so one structure serves many matrices. */
#ifndef GA_LA_COORDS_H
#define GA_LA_COORDS_H

#include "base/pool.h"
#include "la/buckets.h"

#include <stdbool.h>

/* Entries one by one; or all places in order, column by column or row by row. */
typedef enum ga_layout { GA_LISTED, GA_BY_COLUMNS, GA_BY_ROWS } ga_layout;

typedef struct ga_coords {
    int rows, cols, count;
    int *row, *col;
    ga_layout layout;          /* GA_LISTED is always true */
    ga_pool *pool;             /* borrowed; null: one thread */
    ga_buckets by_row, by_col; /* entries of each row and column, for products by threads */
} ga_coords;

/* Copies count entries; row == NULL means a full matrix, column-major. The caller has checked
 * the indices. GA_ERR_MEMORY also if rows * cols does not fit an int. */
ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords);
void ga_coords_destroy(ga_coords *coords); /* a zeroed one is fine; leaves it zeroed */

/* Threads for products with this one, not with views taken before. The same bits come out. */
ga_status ga_coords_use(ga_coords *coords, ga_pool *pool);

/* The same arrays seen as the transposed matrix; owns nothing. */
ga_coords ga_coords_transposed(const ga_coords *coords);

/* y += alpha A x  and  y += alpha A^T x. Each sum is taken in the order of the entries. */
void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y);
void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y);

/* Columns of one colour share no row, so one difference quotient gives them all. Greedy in
 * order of decreasing column length. */
typedef struct ga_coloring {
    int colors;
    int *color; /* of each column; columns without entries have colour -1 */
} ga_coloring;

ga_status ga_coloring_create(const ga_coords *coords, ga_coloring *coloring);
void ga_coloring_destroy(ga_coloring *coloring);
/* first[k] is true for the first entry at its place; for putting a value there once.
 * first has coords->count elements. */
ga_status ga_coords_first(const ga_coords *coords, bool *first);

#endif
