/* Coordinate matrices: copying, multiplying, and the counting sort the other files share. */
#include "la/coords.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"

#include <limits.h>

static ga_status fail_create(ga_coords *coords)
{
    ga_coords_destroy(coords);
    return GA_ERR_MEMORY;
}

ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords)
{
    *coords = (ga_coords){0};
    if (!row) {
        if (cols > 0 && rows > INT_MAX / cols) return GA_ERR_MEMORY;
        count = rows * cols;
    }
    coords->row = GA_NEW(int, count);
    coords->col = GA_NEW(int, count);
    if (!coords->row || !coords->col) return fail_create(coords);
    coords->rows = rows;
    coords->cols = cols;
    coords->count = count;
    if (row) {
        for (int k = 0; k < count; ++k) {
            coords->row[k] = row[k];
            coords->col[k] = col[k];
        }
    } else {
        int k = 0;
        for (int j = 0; j < cols; ++j)
            for (int i = 0; i < rows; ++i, ++k) {
                coords->row[k] = i;
                coords->col[k] = j;
            }
    }
    return GA_OK;
}

void ga_coords_destroy(ga_coords *coords)
{
    ga_free(coords->row);
    ga_free(coords->col);
    ga_division_destroy(&coords->by_row);
    ga_division_destroy(&coords->by_col);
    *coords = (ga_coords){0};
}

ga_status ga_coords_use(ga_coords *A, ga_pool *pool)
{
    A->pool = pool;
    if (!pool || A->by_row.pieces + A->by_col.pieces > 0) return GA_OK;
    GA_TRY(ga_division_create(A->count, A->row, A->rows, &A->by_row));
    return ga_division_create(A->count, A->col, A->cols, &A->by_col);
}

ga_coords ga_coords_transposed(const ga_coords *coords)
{
    return (ga_coords){.rows = coords->cols,
                       .cols = coords->rows,
                       .count = coords->count,
                       .row = coords->col,
                       .col = coords->row};
}

void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y)
{
    ga_division_add(&A->by_row, A->pool, A->count, A->row, A->col, values, alpha, x, y);
}

void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y)
{
    ga_division_add(&A->by_col, A->pool, A->count, A->col, A->row, values, alpha, x, y);
}

/* Entries gathered by column; mark[row] == col + 1 once a place of this column is taken. */
ga_status ga_coords_first(const ga_coords *coords, bool *first)
{
    ga_buckets columns;
    GA_TRY(ga_buckets_create(coords->cols, coords->count, coords->col, NULL, &columns));
    int *mark = GA_NEW(int, coords->rows);
    ga_status status = mark ? GA_OK : GA_ERR_MEMORY;
    for (int p = 0; status == GA_OK && p < coords->count; ++p) {
        int k = columns.item[p], i = coords->row[k], taken = coords->col[k] + 1;
        first[k] = mark[i] != taken;
        mark[i] = taken;
    }
    ga_free(mark);
    ga_buckets_destroy(&columns);
    return status;
}

ga_status ga_buckets_create(int buckets, int count, const int *key, const int *order,
                            ga_buckets *b)
{
    b->start = GA_NEW(int, (size_t)buckets + 1);
    b->item = GA_NEW(int, count);
    if (!b->start || !b->item) {
        ga_buckets_destroy(b);
        return GA_ERR_MEMORY;
    }
    /* Count, sum up to where each bucket ends, fill from the back: start ends up at the
     * beginnings, without a second array. */
    for (int k = 0; k < count; ++k) b->start[key[k]]++;
    for (int i = 1; i < buckets; ++i) b->start[i] += b->start[i - 1];
    b->start[buckets] = count;
    for (int k = count - 1; k >= 0; --k) {
        int item = order ? order[k] : k;
        b->item[--b->start[key[item]]] = item;
    }
    return GA_OK;
}

void ga_buckets_destroy(ga_buckets *b)
{
    ga_free(b->start);
    ga_free(b->item);
    *b = (ga_buckets){0};
}
