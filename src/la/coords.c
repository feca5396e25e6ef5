/* Coordinate matrices: copying, multiplying, and the counting sort the other files share. */
#include "la/coords.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/fours.h"

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
    ga_division_destroy(&coords->by_row);
    ga_division_destroy(&coords->by_col);
    ga_strips_destroy(&coords->strips);
    *coords = (ga_coords){0};
}

ga_status ga_coords_use(ga_coords *A, ga_pool *pool)
{
    A->pool = pool;
    if (!pool || A->by_row.pieces + A->by_col.pieces > 0) return GA_OK;
    GA_TRY(ga_division_create(A->count, A->row, A->rows, &A->by_row));
    GA_TRY(ga_division_create(A->count, A->col, A->cols, &A->by_col));
    GA_TRY(ga_division_find_strips(&A->by_row, &A->strips));
    return ga_division_find_strips(&A->by_col, &A->strips);
}

ga_status ga_coords_find_strips(ga_coords *A)
{
    if (A->layout != GA_LISTED) return GA_OK;
    return ga_strips_create(A->count, A->row, A->col, ga_division_share(A->count, A->cols),
                            &A->strips);
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

/* Full matrices are n columns of m numbers. All sums are taken in the order of the
 * list, so that the layout makes no difference to the bits. */
typedef struct full {
    int m, n;
    const double *values;
    double alpha;
} full;

/* y += alpha A x in rows i to i+3 and k to k+3: one need not wait for the other, and they may
 * have rows in common. */
KERNEL void add_fours(const full *A, int i, int k, const double *restrict x, double *restrict y)
{
    const double *a = A->values, alpha = A->alpha;
    quad sum, other, term;
    load(&sum, y + i);
    load(&other, y + k);
    for (int j = 0; j < A->n; ++j, a += A->m) {
        load(&term, a + i);
        scale(&term, alpha);
        add(&sum, &term, x[j]);
        load(&term, a + k);
        scale(&term, alpha);
        add(&other, &term, x[j]);
    }
    store(y + i, &sum);
    store(y + k, &other);
}

/* The same for w rows, w < 4 known to the compiler. */
KERNEL void add_some(const full *A, int i, const int w, const double *restrict x,
                     double *restrict y)
{
    const double *a = A->values + i, alpha = A->alpha;
    double sum[4];
    for (int v = 0; v < w; ++v) sum[v] = y[i + v];
    for (int j = 0; j < A->n; ++j, a += A->m)
        for (int v = 0; v < w; ++v) sum[v] += alpha * a[v] * x[j];
    for (int v = 0; v < w; ++v) y[i + v] = sum[v];
}

static void add_full(const full *A, const double *restrict x, double *restrict y)
{
    int i = 0;
    for (; i + 8 <= A->m; i += 8) add_fours(A, i, i + 4, x, y);
    const int left = A->m - i;
    if (left == 1) add_some(A, i, 1, x, y);
    if (left == 2) add_some(A, i, 2, x, y);
    if (left == 3) add_some(A, i, 3, x, y);
    if (left >= 4) add_fours(A, i, A->m - 4, x, y);
}

/* y(j:j+w-1) += alpha A(:,j:j+w-1)^T x, w known to the compiler. */
KERNEL void add_dots(const full *A, int j, const int w, const double *restrict x,
                     double *restrict y)
{
    const double *a = A->values + (size_t)j * (size_t)A->m, alpha = A->alpha;
    const int m = A->m;
    double sum[4];
    for (int v = 0; v < w; ++v) sum[v] = y[j + v];
    for (int i = 0; i < m; ++i)
        for (int v = 0; v < w; ++v) sum[v] += alpha * a[i + v * m] * x[i];
    for (int v = 0; v < w; ++v) y[j + v] = sum[v];
}

/* sum += alpha A(i:i+3,j:j+3)^T x(i:i+3), without the first `skip` of these rows, which is
 * known to the compiler. */
KERNEL void add_block(const full *A, int i, int j, const int skip, const double *x, quad *sum)
{
    const double *a = A->values + (size_t)j * (size_t)A->m + i;
    quad row[4];
    for (int v = 0; v < 4; ++v) load(&row[v], a + v * A->m);
    transpose(row);
    for (int v = skip; v < 4; ++v) {
        scale(&row[v], A->alpha);
        add(sum, &row[v], x[i + v]);
    }
}

/* y(j:j+3) + alpha A(:,j:j+3)^T x for at least four rows: those that do not fill a four are
 * the last of one. */
KERNEL void dot_four(const full *A, int j, const double *x, const double *y, quad *sum)
{
    const int m = A->m;
    int i = 0;
    load(sum, y + j);
    for (; i + 4 <= m; i += 4) add_block(A, i, j, 0, x, sum);
    if (m - i == 1) add_block(A, m - 4, j, 3, x, sum);
    if (m - i == 2) add_block(A, m - 4, j, 2, x, sum);
    if (m - i == 3) add_block(A, m - 4, j, 1, x, sum);
}

/* At least four columns: as with rows; the last four are computed before others are stored. */
static void add_large_transposed(const full *A, const double *restrict x, double *restrict y)
{
    quad last;
    dot_four(A, A->n - 4, x, y, &last);
    for (int j = 0; j + 4 < A->n; j += 4) {
        quad sum;
        dot_four(A, j, x, y, &sum);
        store(y + j, &sum);
    }
    store(y + A->n - 4, &last);
}

static void add_full_transposed(const full *A, const double *restrict x, double *restrict y)
{
    if (A->m >= 4 && A->n >= 4) {
        add_large_transposed(A, x, y);
        return;
    }
    int j = 0;
    for (; j + 4 <= A->n; j += 4) add_dots(A, j, 4, x, y);
    if (A->n - j == 1) add_dots(A, j, 1, x, y);
    if (A->n - j == 2) add_dots(A, j, 2, x, y);
    if (A->n - j == 3) add_dots(A, j, 3, x, y);
}

/* --- few rows, m < 4 known to the compiler ------------------------------------------------ */

KERNEL void add_short(const int m, int n, const double *restrict a, double alpha,
                      const double *restrict x, double *restrict y)
{
    quad sum, term;
    load_some(&sum, y, m);
    for (int j = 0; j < n; ++j, a += m) {
        load_some(&term, a, m);
        scale(&term, alpha);
        add(&sum, &term, x[j]);
    }
    store_some(y, &sum, m);
}

KERNEL void add_short_transposed(const int m, int n, const double *restrict a, double alpha,
                                 const double *restrict x, double *restrict y)
{
    const double x0 = x[0], x1 = m > 1 ? x[1] : 0, x2 = m > 2 ? x[2] : 0;
    for (int j = 0; j < n; ++j, a += m) {
        double sum = y[j] + alpha * a[0] * x0;
        if (m > 1) sum += alpha * a[1] * x1;
        if (m > 2) sum += alpha * a[2] * x2;
        y[j] = sum;
    }
}

/* Mostly alpha is 1. */
KERNEL void add_sized(const int m, bool transposed, const full *A, const double *x, double *y)
{
    const double *a = A->values;
    if (!transposed)
        add_short(m, A->n, a, A->alpha, x, y);
    else if (A->alpha == 1)
        add_short_transposed(m, A->n, a, 1, x, y);
    else
        add_short_transposed(m, A->n, a, A->alpha, x, y);
}

/* False if rows are not few. */
KERNEL bool add_few(bool transposed, const full *A, const double *x, double *y)
{
    if (A->m == 3)
        add_sized(3, transposed, A, x, y);
    else if (A->m == 2)
        add_sized(2, transposed, A, x, y);
    else if (A->m == 1)
        add_sized(1, transposed, A, x, y);
    else
        return false;
    return true;
}

static void add_by_columns(const full *A, const double *x, double *y)
{
    if (!add_few(false, A, x, y)) add_full(A, x, y);
}

static void add_by_columns_transposed(const full *A, const double *x, double *y)
{
    if (!add_few(true, A, x, y)) add_full_transposed(A, x, y);
}

static void add_listed(const ga_coords *A, bool transposed, const double *values, double alpha,
                       const double *x, double *y)
{
    const ga_strips *strips = A->strips.count ? &A->strips : NULL;
    const ga_entries by_row = {A->count, A->row, A->col, strips, false},
                     by_col = {A->count, A->col, A->row, strips, true};
    ga_division_add(transposed ? &A->by_col : &A->by_row, A->pool,
                    transposed ? &by_col : &by_row, values, alpha, x, y);
}

void ga_coords_multiply(const ga_coords *A, const double *values, double alpha, const double *x,
                        double *y)
{
    if (A->layout == GA_BY_COLUMNS)
        add_by_columns(&(full){A->rows, A->cols, values, alpha}, x, y);
    else if (A->layout == GA_BY_ROWS)
        add_by_columns_transposed(&(full){A->cols, A->rows, values, alpha}, x, y);
    else
        add_listed(A, false, values, alpha, x, y);
}

void ga_coords_multiply_transposed(const ga_coords *A, const double *values, double alpha,
                                   const double *x, double *y)
{
    if (A->layout == GA_BY_COLUMNS)
        add_by_columns_transposed(&(full){A->rows, A->cols, values, alpha}, x, y);
    else if (A->layout == GA_BY_ROWS)
        add_by_columns(&(full){A->cols, A->rows, values, alpha}, x, y);
    else
        add_listed(A, true, values, alpha, x, y);
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
