/* Structures of sparse matrices, products with vectors, and the counting sort the other files
 * share. */
#include "la/coords.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/unroll.h"

#include <limits.h>
#include <string.h>

static ga_status fail_create(ga_coords *coords)
{
    ga_coords_destroy(coords);
    return GA_ERR_MEMORY;
}

ga_status ga_coords_reserve(int rows, int cols, int blocks, ga_coords *coords)
{
    *coords = (ga_coords){.rows = rows, .cols = cols, .blocks = blocks};
    int **arrays[] = {&coords->row, &coords->col, &coords->height, &coords->width,
                      &coords->start};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
        if (!(*arrays[k] = GA_NEW(int, blocks))) return fail_create(coords);
    return GA_OK;
}

ga_status ga_coords_start(ga_coords *coords)
{
    long long count = 0;
    for (int b = 0; coords->height && b < coords->blocks; ++b) {
        coords->start[b] = (int)count;
        count += (long long)coords->height[b] * coords->width[b];
        if (count > INT_MAX) return GA_ERR_MEMORY;
    }
    coords->count = coords->height ? (int)count : coords->blocks;
    return GA_OK;
}

static bool continues(const ga_coords *A, int b)
{
    return b > 0 && A->row[b] == A->row[b - 1] && A->height[b] == A->height[b - 1] &&
           A->col[b] == A->col[b - 1] + A->width[b - 1];
}

ga_status ga_coords_join(ga_coords *coords, bool *joined)
{
    const ga_coords A = *coords;
    int blocks = 0, last = -1;
    for (int b = 0; A.height && b < A.blocks; ++b) blocks += !continues(&A, b);
    *joined = A.height && blocks < A.blocks;
    if (!*joined) return GA_OK;
    GA_TRY(ga_coords_reserve(A.rows, A.cols, blocks, coords));
    for (int b = 0; b < A.blocks; ++b) {
        if (continues(&A, b)) {
            coords->width[last] += A.width[b];
            continue;
        }
        ++last;
        coords->row[last] = A.row[b];
        coords->col[last] = A.col[b];
        coords->height[last] = A.height[b];
        coords->width[last] = A.width[b];
    }
    return ga_coords_start(coords);
}

/* One block. */
static ga_status create_full(int rows, int cols, ga_coords *coords)
{
    if (cols > 0 && rows > INT_MAX / cols) return GA_ERR_MEMORY;
    GA_TRY(ga_coords_reserve(rows, cols, rows > 0 && cols > 0, coords));
    for (int b = 0; b < coords->blocks; ++b) {
        coords->height[b] = rows;
        coords->width[b] = cols;
    }
    coords->count = rows * cols;
    return GA_OK;
}

ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords)
{
    *coords = (ga_coords){.rows = rows, .cols = cols, .count = count, .blocks = count};
    if (!row) return create_full(rows, cols, coords);
    coords->row = GA_NEW_WHOLE(int, count);
    coords->col = GA_NEW_WHOLE(int, count);
    if (!coords->row || !coords->col) return fail_create(coords);
    for (int k = 0; k < count; ++k) {
        coords->row[k] = row[k];
        coords->col[k] = col[k];
    }
    return GA_OK;
}

ga_status ga_coords_diagonal(int n, ga_coords *coords)
{
    *coords = (ga_coords){.rows = n, .cols = n, .count = n, .blocks = n};
    coords->row = GA_NEW_WHOLE(int, n);
    coords->col = GA_NEW_WHOLE(int, n);
    if (!coords->row || !coords->col) return fail_create(coords);
    for (int i = 0; i < n; ++i) coords->row[i] = coords->col[i] = i;
    return GA_OK;
}

void ga_coords_destroy(ga_coords *coords)
{
    ga_free(coords->row);
    ga_free(coords->col);
    ga_free(coords->height);
    ga_free(coords->width);
    ga_free(coords->start);
    ga_buckets_destroy(&coords->by_row);
    ga_buckets_destroy(&coords->by_col);
    *coords = (ga_coords){0};
}

ga_coords ga_coords_transposed(const ga_coords *coords)
{
    return (ga_coords){.rows = coords->cols,
                       .cols = coords->rows,
                       .count = coords->count,
                       .blocks = coords->blocks,
                       .row = coords->col,
                       .col = coords->row,
                       .height = coords->width,
                       .width = coords->height,
                       .start = coords->start,
                       .by_rows = !coords->by_rows};
}

ga_status ga_coords_entries(const ga_coords *coords, ga_coords *entries)
{
    *entries = (ga_coords){.rows = coords->rows,
                           .cols = coords->cols,
                           .count = coords->count,
                           .blocks = coords->count};
    entries->row = GA_NEW_WHOLE(int, coords->count);
    entries->col = GA_NEW_WHOLE(int, coords->count);
    if (!entries->row || !entries->col) return fail_create(entries);
    for (ga_matrix_entry e = ga_entry_first(coords); e.k < coords->count;
         ga_entry_next(coords, &e)) {
        entries->row[e.k] = e.row;
        entries->col[e.k] = e.col;
    }
    return GA_OK;
}

/* --- threads ------------------------------------------------------------------------------ */

/* Fewer values are not worth a thread. */
enum { MANY_VALUES = 8192 };

/* The blocks that have something in each line, in their order: from first[b] on as many lines
 * as length[b] says, or one. */
static ga_status list_blocks(int lines, int blocks, const int *first, const int *length,
                             ga_buckets *by)
{
    int count = 0;
    by->start = GA_NEW_WHOLE(int, (size_t)lines + 1);
    if (!by->start) return GA_ERR_MEMORY;
    for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < (length ? length[b] : 1); ++i, ++count) ++by->start[first[b] + i];
    for (int i = 1; i < lines; ++i) by->start[i] += by->start[i - 1];
    by->start[lines] = count;
    if (!(by->item = GA_NEW_WHOLE(int, count))) return GA_ERR_MEMORY;
    for (int b = blocks - 1; b >= 0; --b)
        for (int i = 0; i < (length ? length[b] : 1); ++i)
            by->item[--by->start[first[b] + i]] = b;
    return GA_OK;
}

ga_status ga_coords_use(ga_coords *A, ga_pool *pool)
{
    A->pool = pool;
    if (!pool || A->by_col.item || A->count < MANY_VALUES) return GA_OK;
    GA_TRY(list_blocks(A->rows, A->blocks, A->row, A->height, &A->by_row));
    return ga_coords_by_column(A, &A->by_col);
}

ga_status ga_coords_by_column(const ga_coords *A, ga_buckets *blocks)
{
    return list_blocks(A->cols, A->blocks, A->col, A->width, blocks);
}

typedef struct task {
    const ga_coords *A;
    const double *values, *x;
    double alpha, *y;
} task;

static void add_to_rows(void *data, int from, int end)
{
    const task *t = data;
    for (int i = from; i < end; ++i) {
        double sum = t->y[i];
        for (int p = t->A->by_row.start[i]; p < t->A->by_row.start[i + 1]; ++p) {
            const ga_matrix_block box = ga_coords_box(t->A, t->A->by_row.item[p]);
            const double *a = t->values + box.start + (i - box.row) * box.down;
            for (int j = 0; j < box.cols; ++j)
                sum += t->alpha * a[j * box.across] * t->x[box.col + j];
        }
        t->y[i] = sum;
    }
}

static void add_to_columns(void *data, int from, int end)
{
    const task *t = data;
    for (int j = from; j < end; ++j) {
        double sum = t->y[j];
        for (int p = t->A->by_col.start[j]; p < t->A->by_col.start[j + 1]; ++p) {
            const ga_matrix_block box = ga_coords_box(t->A, t->A->by_col.item[p]);
            const double *a = t->values + box.start + (j - box.col) * box.across;
            for (int i = 0; i < box.rows; ++i)
                sum += t->alpha * a[i * box.down] * t->x[box.row + i];
        }
        t->y[j] = sum;
    }
}

/* --- products with a vector --------------------------------------------------------------- */

/* y += alpha A x, A of m rows and n columns. */
GA_UNROLLED add_columns(const int m, int n, const double *restrict a, double alpha,
                        const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; ++j, a += m)
        for (int i = 0; i < m; ++i) y[i] += alpha * a[i] * x[j];
}

/* y += alpha A^T x. */
GA_UNROLLED add_rows(const int m, int n, const double *restrict a, double alpha,
                     const double *restrict x, double *restrict y)
{
    for (int j = 0; j < n; ++j, a += m) {
        double sum = y[j];
        for (int i = 0; i < m; ++i) sum += alpha * a[i] * x[i];
        y[j] = sum;
    }
}

/* place: in y of each entry. Several in a row often go to one place. */
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

static void multiply(const ga_coords *A, bool transposed, const double *values, double alpha,
                     const double *x, double *y)
{
    const int *to = transposed ? A->col : A->row, *from = transposed ? A->row : A->col;
    if (!A->height) {
        add_entries(A->count, to, from, values, alpha, x, y);
        return;
    }
    const int *length = A->by_rows ? A->width : A->height,
              *lines = A->by_rows ? A->height : A->width;
    if (A->by_rows == transposed)
        for (int b = 0; b < A->blocks; ++b)
            GA_UNROLL(length[b], add_columns, lines[b], values + A->start[b], alpha,
                      x + from[b], y + to[b])
    else
        for (int b = 0; b < A->blocks; ++b)
            GA_UNROLL(length[b], add_rows, lines[b], values + A->start[b], alpha, x + from[b],
                      y + to[b])
}

void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y)
{
    if (A->pool && A->by_col.item)
        ga_pool_ranges(A->pool, A->rows, add_to_rows, &(task){A, values, x, alpha, y});
    else
        multiply(A, false, values, alpha, x, y);
}

void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y)
{
    if (A->pool && A->by_col.item)
        ga_pool_ranges(A->pool, A->cols, add_to_columns, &(task){A, values, x, alpha, y});
    else
        multiply(A, true, values, alpha, x, y);
}

/* Entries gathered by column; mark[row] == col + 1 once a place of this column is taken. */
static ga_status mark_first(const ga_coords *entries, bool *first)
{
    ga_buckets columns;
    GA_TRY(ga_buckets_create(entries->cols, entries->count, entries->col, NULL, &columns));
    int *mark = GA_NEW(int, entries->rows);
    ga_status status = mark ? GA_OK : GA_ERR_MEMORY;
    for (int p = 0; status == GA_OK && p < entries->count; ++p) {
        int k = columns.item[p], i = entries->row[k], taken = entries->col[k] + 1;
        first[k] = mark[i] != taken;
        mark[i] = taken;
    }
    ga_free(mark);
    ga_buckets_destroy(&columns);
    return status;
}

ga_status ga_coords_first(const ga_coords *coords, bool *first)
{
    ga_coords entries;
    GA_TRY(ga_coords_entries(coords, &entries));
    const ga_status status = mark_first(&entries, first);
    ga_coords_destroy(&entries);
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
