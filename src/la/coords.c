/* Coordinate matrices: copying, multiplying, and the counting sort the other files share. */
#include "la/coords.h"

#include "base/memory.h"
#include "base/report.h"

#include <limits.h>

static ga_status fail_create(ga_coords *coords)
{
    ga_coords_destroy(coords);
    return GA_ERR_MEMORY;
}

static bool is_by_columns(const ga_coords *c)
{
    if (c->count != (long long)c->rows * c->cols) return false;
    for (int j = 0, k = 0; j < c->cols; ++j)
        for (int i = 0; i < c->rows; ++i, ++k)
            if (c->row[k] != i || c->col[k] != j) return false;
    return true;
}

ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords)
{
    *coords = (ga_coords){0};
    if (!row) {
        if (cols > 0 && rows > INT_MAX / cols) return GA_ERR_MEMORY;
        count = rows * cols;
    }
    coords->row = GA_NEW_WHOLE(int, count);
    coords->col = GA_NEW_WHOLE(int, count);
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
    if (is_by_columns(coords)) coords->layout = GA_BY_COLUMNS;
    return GA_OK;
}

void ga_coords_destroy(ga_coords *coords)
{
    ga_free(coords->row);
    ga_free(coords->col);
    ga_buckets_destroy(&coords->by_row);
    ga_buckets_destroy(&coords->by_col);
    *coords = (ga_coords){0};
}

/* Fewer entries are not worth a thread. */
enum { MANY_ENTRIES = 8192 };

ga_status ga_coords_use(ga_coords *A, ga_pool *pool)
{
    A->pool = pool;
    if (!pool || A->by_row.start || A->count < MANY_ENTRIES) return GA_OK;
    GA_TRY(ga_buckets_create(A->rows, A->count, A->row, NULL, &A->by_row));
    return ga_buckets_create(A->cols, A->count, A->col, NULL, &A->by_col);
}

ga_coords ga_coords_transposed(const ga_coords *coords)
{
    static const ga_layout transposed[] = {
        [GA_LISTED] = GA_LISTED, [GA_BY_COLUMNS] = GA_BY_ROWS, [GA_BY_ROWS] = GA_BY_COLUMNS};
    return (ga_coords){.rows = coords->cols,
                       .cols = coords->rows,
                       .count = coords->count,
                       .row = coords->col,
                       .col = coords->row,
                       .layout = transposed[coords->layout]};
}

/* --- products with a vector --------------------------------------------------------------- */

/* m numbers in each of n columns. */
static void add_columns(int m, int n, const double *restrict a, double alpha,
                        const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; ++j, a += m)
        for (int i = 0; i < m; ++i) y[i] += alpha * a[i] * x[j];
}

static void add_rows(int m, int n, const double *restrict a, double alpha,
                     const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; ++j, a += m) {
        double sum = y[j];
        for (int i = 0; i < m; ++i) sum += alpha * a[i] * x[i];
        y[j] = sum;
    }
}

typedef struct task {
    const ga_buckets *by;
    const int *from; /* place in x of each entry */
    const double *values, *x;
    double alpha, *y;
} task;

static void add_places(void *data, int from, int end)
{
    const task *t = data;
    const int *restrict item = t->by->item, *restrict source = t->from;
    const double *restrict values = t->values, *restrict x = t->x, alpha = t->alpha;
    for (int i = from; i < end; ++i) {
        double sum = t->y[i];
        for (int p = t->by->start[i]; p < t->by->start[i + 1]; ++p)
            sum += alpha * values[item[p]] * x[source[item[p]]];
        t->y[i] = sum;
    }
}

/* place: in y of each entry. Mostly alpha is 1, and several entries in a row go to one place.
 */
static void add_entries(int count, const int *restrict place, const int *restrict from,
                        const double *restrict values, double alpha, const double *restrict x,
                        double *restrict y)
{
    for (int k = 0; k < count;) {
        const int i = place[k];
        double sum = y[i];
        do {
            sum += alpha * values[k] * x[from[k]];
        } while (++k < count && place[k] == i);
        y[i] = sum;
    }
}

static void add_scattered(int count, const int *restrict place, const int *restrict from,
                          const double *restrict values, double alpha, const double *restrict x,
                          double *restrict y)
{
    for (int k = 0; k < count; ++k) y[place[k]] += alpha * values[k] * x[from[k]];
}

void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y)
{
    if (A->layout == GA_BY_COLUMNS)
        add_columns(A->rows, A->cols, values, alpha, x, y);
    else if (A->layout == GA_BY_ROWS)
        add_rows(A->cols, A->rows, values, alpha, x, y);
    else if (A->pool && A->by_row.start)
        ga_pool_ranges(A->pool, A->rows, add_places,
                       &(task){&A->by_row, A->col, values, x, alpha, y});
    else
        add_entries(A->count, A->row, A->col, values, alpha, x, y);
}

void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y)
{
    if (A->layout == GA_BY_COLUMNS)
        add_rows(A->rows, A->cols, values, alpha, x, y);
    else if (A->layout == GA_BY_ROWS)
        add_columns(A->cols, A->rows, values, alpha, x, y);
    else if (A->pool && A->by_col.start)
        ga_pool_ranges(A->pool, A->cols, add_places,
                       &(task){&A->by_col, A->row, values, x, alpha, y});
    else
        add_scattered(A->count, A->col, A->row, values, alpha, x, y);
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
    b->start = GA_NEW_WHOLE(int, (size_t)buckets + 1);
    b->item = GA_NEW_WHOLE(int, count);
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
