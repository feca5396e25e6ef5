/* An order of the rows of a sparse matrix that keeps the fill of A^T P = Q R small: by COLAMD,
 * or, where the library is built without KLU and its helpers, short rows first. */
#ifndef GA_SYSTEM_ROW_ORDER_H
#define GA_SYSTEM_ROW_ORDER_H

#include <galpha/status.h>

/* Row i has the columns col[start[i]] ... col[start[i+1] - 1]; order[k]: the k-th row. */
ga_status ga_row_order(int rows, int columns, const int *start, const int *col, int *order);

#endif
