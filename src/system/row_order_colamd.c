#include "base/memory.h"
#include "system/row_order.h"

#include <colamd.h>
#include <limits.h>
#include <string.h>

/* COLAMD orders columns: those of A^T. It leaves the order in the array of starts. */
ga_status ga_row_order(int rows, int columns, const int *start, const int *col, int *order)
{
    const size_t room = colamd_recommended(start[rows], columns, rows);
    if (room == 0 || room > INT_MAX) return GA_ERR_MEMORY;
    int stats[COLAMD_STATS], *work = GA_NEW(int, room), *starts = GA_NEW(int, (size_t)rows + 1);
    ga_status status = work && starts ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK) {
        memcpy(work, col, (size_t)start[rows] * sizeof *work);
        memcpy(starts, start, ((size_t)rows + 1) * sizeof *starts);
        if (!colamd(columns, rows, (int)room, work, starts, NULL, stats))
            status = GA_ERR_MEMORY;
    }
    if (status == GA_OK) memcpy(order, starts, (size_t)rows * sizeof *order);
    ga_free(work);
    ga_free(starts);
    return status;
}
