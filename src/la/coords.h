/* Matrices in coordinate form: entry k stands at (row[k], col[k]); entries at one place add up.
 * Values live in separate arrays, so one structure serves many matrices. */
#ifndef GA_LA_COORDS_H
#define GA_LA_COORDS_H

#include "la/division.h"

#include <stdbool.h>

/* Entries one by one; or all places in order, column by column or row by row. */
typedef enum ga_layout { GA_LISTED, GA_BY_COLUMNS, GA_BY_ROWS } ga_layout;

typedef struct ga_coords {
    int rows, cols, count;
    int *row, *col;
    ga_layout layout;           /* GA_LISTED is always true */
    ga_pool *pool;              /* borrowed; null: one thread */
    ga_division by_row, by_col; /* products for threads */
    ga_strips strips;           /* the same entries, if many are alike */
} ga_coords;

/* Copies count entries; row == NULL means a full matrix, column-major. The caller has checked
 * the indices. GA_ERR_MEMORY also if rows * cols does not fit an int. */
ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords);
void ga_coords_destroy(ga_coords *coords); /* a zeroed one is fine; leaves it zeroed */

/* Threads for products with this one, not with views taken before. The same bits come out. */
ga_status ga_coords_use(ga_coords *coords, ga_pool *pool);

/* Looks for strips, for a matrix that many products are taken with. */
ga_status ga_coords_find_strips(ga_coords *coords);

/* The same arrays seen as the transposed matrix; owns nothing. */
ga_coords ga_coords_transposed(const ga_coords *coords);

/* y += alpha A x  and  y += alpha A^T x. */
void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y);
void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y);

/* Terms of a product: a plan, for entries of A and B from these on. */
typedef struct ga_product_part {
    int plan, a, b;
    int place; /* its places are counted from this one of the column */
} ga_product_part;

/* A column of a product with one part; or, plan < 0, ~plan places in the parts a .. b - 1. */
typedef struct ga_product_column {
    int plan, a, b;
} ga_product_column;

/* A B, planned once, column by column; columns that are alike share plans. result has each
 * place once, sorted by column, then row. Plan p has what is added to the places to[k] of a
 * column, plan_start[p] <= k < plan_start[p+1]: the sum of a[ia[t]] * b[ib[t]] over the terms
 * start[k] <= t < start[k + 1]. */
typedef struct ga_product {
    ga_coords result;
    int columns; /* that are not empty; ascending */
    ga_product_column *column;
    ga_product_part *part;
    int *plan_start, *to, *start, *ia, *ib;
    double *work; /* for a column, */
    int width;    /* of so many places at most */
    bool tall;    /* A is full, column by column: terms of a place are those of the first, one
                     entry of A further on for each place */
    int *flat;    /* the result is full, too: of each column the number of terms, and their
                     entries of A, and of B; or else null */
} ga_product;

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product);
void ga_product_destroy(ga_product *product);
/* Frees rows and columns of the result; evaluation does not need them. */
void ga_product_drop_places(ga_product *product);
void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values);
/* The values of column c of product->column alone; how many they are. */
int ga_product_column_places(const ga_product *product, int c);
int ga_product_evaluate_column(const ga_product *product, int c, const double *a,
                               const double *b, double *values);
/* values[slot[k]] += scale * value k of that column. */
int ga_product_add_column(const ga_product *product, int c, const double *a, const double *b,
                          double scale, const int *slot, double *restrict values, double *work);
/* The same for columns from c on, until the slots end; the next one. */
int ga_product_add_columns(const ga_product *product, int c, const double *a, const double *b,
                           double scale, const int *slot, const int *end, double *values,
                           double *work);

/* The same for all columns of a product with flat: they begin at to, ld numbers apart. */
void ga_product_add_full(const ga_product *product, double scale, const double *a,
                         const double *b, int ld, double *to);

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
