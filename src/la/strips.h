/* Matrices in coordinate form, with less to read.
 *
 * Rows and columns of the entries take as much memory as their values; where that is more than
 * caches hold, products wait for it. But the rows of a mechanism look alike, but for where they
 * are: a strip is some entries of one row, one behind the other, and its shape, by the
 * distances of their columns from the first, is that of many others. */
#ifndef GA_LA_STRIPS_H
#define GA_LA_STRIPS_H

#include <galpha/status.h>

typedef struct ga_strip {
    int row, col; /* of the first entry */
    int shape;
} ga_strip;

enum { GA_STRIP_LONGEST = 16 };

typedef struct ga_strip_shape {
    int count;
    int distance[GA_STRIP_LONGEST]; /* of columns, from the first */
} ga_strip_shape;

typedef struct ga_strips {
    int count; /* 0: there is nothing to gain */
    ga_strip *strip;
    int shapes;
    ga_strip_shape *shape;
} ga_strips;

/* Strips end where col / col_share changes: pieces for threads. */
ga_status ga_strips_create(int count, const int *row, const int *col, int col_share,
                           ga_strips *strips);
void ga_strips_destroy(ga_strips *strips); /* a zeroed one is fine */
static inline int ga_strips_length(const ga_strips *strips, int strip)
{
    return strips->shape[strips->strip[strip].shape].count;
}

/* y += alpha A x and y += alpha A^T x, with `values` alone: those of all strips from `first`
 * on. In the order of the entries. */
void ga_strips_add(const ga_strips *strips, int first, int count, const double *values,
                   double alpha, const double *x, double *y);
void ga_strips_add_transposed(const ga_strips *strips, int first, int count,
                              const double *values, double alpha, const double *x, double *y);

#endif
