/* Short rows first, by counting. */
#include "base/memory.h"
#include "system/row_order.h"

ga_status ga_row_order(int rows, int columns, const int *start, const int *col, int *order)
{
    (void)col;
    int *first = GA_NEW(int, (size_t)columns + 2); /* where rows of each length begin */
    if (!first) return GA_ERR_MEMORY;
    for (int i = 0; i < rows; ++i) {
        const int length = start[i + 1] - start[i];
        ++first[(length < columns ? length : columns) + 1];
    }
    for (int k = 0; k < columns; ++k) first[k + 1] += first[k];
    for (int i = 0; i < rows; ++i) {
        const int length = start[i + 1] - start[i];
        order[first[length < columns ? length : columns]++] = i;
    }
    ga_free(first);
    return GA_OK;
}
