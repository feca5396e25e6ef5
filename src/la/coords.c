/* Structures of sparse matrices, and products with vectors. */
#include "la/coords.h"

#include "base/memory.h"
#include "base/report.h"
#include "base/unroll.h"
#include "la/front.h"

#include <limits.h>
#include <math.h>
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

static ga_status create_entries(int rows, int cols, int count, ga_coords *coords)
{
    *coords = (ga_coords){.rows = rows, .cols = cols, .count = count, .blocks = count};
    coords->row = GA_NEW_WHOLE(int, count);
    coords->col = GA_NEW_WHOLE(int, count);
    return coords->row && coords->col ? GA_OK : fail_create(coords);
}

ga_status ga_coords_create(int rows, int cols, int count, const int *row, const int *col,
                           ga_coords *coords)
{
    if (!row) return create_full(rows, cols, coords);
    GA_TRY(create_entries(rows, cols, count, coords));
    for (int k = 0; k < count; ++k) {
        coords->row[k] = row[k];
        coords->col[k] = col[k];
    }
    return GA_OK;
}

ga_status ga_coords_diagonal(int n, ga_coords *coords)
{
    GA_TRY(create_entries(n, n, n, coords));
    for (int i = 0; i < n; ++i) coords->row[i] = coords->col[i] = i;
    return GA_OK;
}

void ga_coords_take_diagonal(const ga_coords *A, const double *values, double *diagonal)
{
    memset(diagonal, 0, (size_t)A->rows * sizeof *diagonal);
    for (int b = 0; b < A->blocks; ++b) {
        const ga_matrix_block x = ga_coords_box(A, b);
        for (int i = x.row; i < x.row + x.rows; ++i)
            if (i >= x.col && i < x.col + x.cols)
                diagonal[i] += values[x.start + (i - x.row) * x.down + (i - x.col) * x.across];
    }
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
    GA_TRY(create_entries(coords->rows, coords->cols, coords->count, entries));
    for (ga_matrix_entry e = ga_entry_first(coords); e.k < coords->count;
         ga_entry_next(coords, &e)) {
        entries->row[e.k] = e.row;
        entries->col[e.k] = e.col;
    }
    return GA_OK;
}

ga_status ga_coords_by_column(const ga_coords *A, ga_buckets *by)
{
    int count = 0;
    by->start = GA_NEW_WHOLE(int, (size_t)A->cols + 1);
    if (!by->start) return GA_ERR_MEMORY;
    for (int b = 0; b < A->blocks; ++b)
        for (int i = 0; i < ga_coords_width(A, b); ++i, ++count) ++by->start[A->col[b] + i];
    for (int i = 1; i < A->cols; ++i) by->start[i] += by->start[i - 1];
    by->start[A->cols] = count;
    if (!(by->item = GA_NEW_WHOLE(int, count))) return GA_ERR_MEMORY;
    for (int b = A->blocks - 1; b >= 0; --b)
        for (int i = 0; i < ga_coords_width(A, b); ++i)
            by->item[--by->start[A->col[b] + i]] = b;
    return GA_OK;
}

/* --- threads ------------------------------------------------------------------------------ */

/* Fewer values are not worth a thread; ranges of rows, or columns, that threads take. */
enum { MANY_VALUES = 8192, RANGES = 64 };

/* The range of each of the lines; none ends inside a block. */
static void cut_ranges(const ga_coords *A, int lines, const int *first, const int *length,
                       int *range)
{
    enum { INSIDE = 1 };
    for (int b = 0; length && b < A->blocks; ++b)
        for (int i = 1; i < length[b]; ++i) range[first[b] + i] = INSIDE;
    for (int i = 0, from = 0, current = 0; i < lines; ++i) {
        if (i - from > lines / RANGES && range[i] != INSIDE) {
            from = i;
            ++current;
        }
        range[i] = current;
    }
}

static ga_status gather(const ga_coords *A, int lines, const int *first, const int *length,
                        ga_buckets *by)
{
    int *range = GA_NEW(int, lines), *key = GA_NEW(int, A->blocks);
    ga_status status = range && key ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK) {
        cut_ranges(A, lines, first, length, range);
        for (int b = 0; b < A->blocks; ++b) key[b] = range[first[b]];
        status = ga_buckets_create(RANGES, A->blocks, key, NULL, by);
    }
    ga_free(range);
    ga_free(key);
    return status;
}

ga_status ga_coords_use(ga_coords *A, ga_pool *pool)
{
    A->pool = pool;
    if (!pool || A->by_col.item || A->count < MANY_VALUES) return GA_OK;
    GA_TRY(gather(A, A->rows, A->row, A->height, &A->by_row));
    return gather(A, A->cols, A->col, A->width, &A->by_col);
}

/* --- products with a vector --------------------------------------------------------------- */

/* y += alpha A x, A of m rows and n columns. */
GA_UNROLLED add_columns(const int m, int n, const double *restrict a, double alpha,
                        const double *restrict x, double *restrict y)
{
    if (m > GA_MOST_UNROLLED) {
        ga_front_kernels_get()->multiply(m, n, a, alpha, x, y);
        return;
    }
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

typedef struct task {
    const ga_coords *A;
    const double *values, *x;
    double alpha, *y;
} task;

/* Blocks from *k on, as long as their columns, or rows, are of this length. */
GA_UNROLLED multiply_alike(const int length, const task *t, const bool transposed, int *k,
                           int count, const int *list)
{
    const ga_coords *A = t->A;
    const int *to = transposed ? A->col : A->row, *from = transposed ? A->row : A->col;
    const int *lengths = A->by_rows ? A->width : A->height,
              *lines = A->by_rows ? A->height : A->width;
    const bool by_columns = A->by_rows == transposed;
    int b = list ? list[*k] : *k;
    do {
        const double *values = t->values + A->start[b];
        if (by_columns)
            add_columns(length, lines[b], values, t->alpha, t->x + from[b], t->y + to[b]);
        else
            add_rows(length, lines[b], values, t->alpha, t->x + from[b], t->y + to[b]);
        if (++*k == count) return;
        b = list ? list[*k] : *k;
    } while (lengths[b] == length);
}

/* With the listed blocks, or without a list the first ones. */
GA_UNROLLED multiply_blocks(const task *t, const bool transposed, int count, const int *list)
{
    const ga_coords *A = t->A;
    const int *lengths = A->by_rows ? A->width : A->height;
    const int *to = transposed ? A->col : A->row, *from = transposed ? A->row : A->col;
    for (int k = 0; !lengths && k < count; ++k) {
        const int b = list ? list[k] : k;
        t->y[to[b]] += t->alpha * t->values[b] * t->x[from[b]];
    }
    for (int k = 0; lengths && k < count;)
        GA_UNROLL(lengths[list ? list[k] : k], multiply_alike, t, transposed, &k, count, list)
}

static void multiply_range(void *data, int range)
{
    const task *t = data;
    const int *start = t->A->by_row.start + range;
    multiply_blocks(t, false, start[1] - start[0], t->A->by_row.item + start[0]);
}

static void multiply_range_transposed(void *data, int range)
{
    const task *t = data;
    const int *start = t->A->by_col.start + range;
    multiply_blocks(t, true, start[1] - start[0], t->A->by_col.item + start[0]);
}

/* One block, such as a full matrix of callbacks, which may be small. */
static bool is_block(const ga_coords *A) { return A->blocks == 1 && A->height; }

GA_UNROLLED multiply_one(const int length, const ga_coords *A, const bool transposed,
                         const double *values, double alpha, const double *x, double *y)
{
    const int lines = A->by_rows ? A->height[0] : A->width[0];
    x += transposed ? A->row[0] : A->col[0];
    y += transposed ? A->col[0] : A->row[0];
    if (A->by_rows == transposed)
        add_columns(length, lines, values, alpha, x, y);
    else
        add_rows(length, lines, values, alpha, x, y);
}

void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y)
{
    if (is_block(A)) {
        GA_UNROLL(A->by_rows ? A->width[0] : A->height[0], multiply_one, A, false, values,
                  alpha, x, y)
        return;
    }
    task t = {A, values, x, alpha, y};
    if (A->pool && A->by_row.item)
        ga_pool_run(A->pool, RANGES, multiply_range, &t);
    else
        multiply_blocks(&t, false, A->blocks, NULL);
}

void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y)
{
    if (is_block(A)) {
        GA_UNROLL(A->by_rows ? A->width[0] : A->height[0], multiply_one, A, true, values, alpha,
                  x, y)
        return;
    }
    task t = {A, values, x, alpha, y};
    if (A->pool && A->by_col.item)
        ga_pool_run(A->pool, RANGES, multiply_range_transposed, &t);
    else
        multiply_blocks(&t, true, A->blocks, NULL);
}
