/* Linearly dependent rows of a sparse matrix, and what they depend on. */
#ifndef GA_SYSTEM_DEPENDENCE_H
#define GA_SYSTEM_DEPENDENCE_H

#include "la/coords.h"

/* Row row[k] is a combination of the rows with[start[k]] .. with[start[k+1] - 1], none of them
 * dependent itself:
 *
 *     A_row[k] = sum of weight[i] A_with[i]
 *
 * Of a set of rows that depend on each other the last one is named, unless its part in it is
 * tiny. Rows and partners ascend. Rows that are zero are counted separately. */
typedef struct ga_dependence {
    int rank, zeros;
    int count;
    int *row;
    int *start, *with;
    double *weight;
} ga_dependence;

/* Rows are scaled to unit length first; a row is dependent if its distance to the span of the
 * others is below tolerance. Sparse: time and memory are those of a Cholesky factorisation of
 * A A^T. GA_ERR_NOT_FINITE: NaN or Inf among the values. */
ga_status ga_dependence_find(const ga_coords *A, const double *values, double tolerance,
                             ga_dependence *result);
void ga_dependence_destroy(ga_dependence *d); /* a zeroed one is fine; leaves it zeroed */

#endif
