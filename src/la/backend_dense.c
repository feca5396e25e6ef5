/* LU with partial pivoting of a full matrix, P A = L U, four columns at a time:
 *
 *     factor the panel of columns j .. j+3;
 *     for every column x to the right:  u = L_panel^-1 x(j:j+3),  x(j+4:) -= L_panel u.
 *
 * Columns are padded to whole fours of rows, where panels begin as well: what lies below a
 * panel is vectors of four. Columns to the right are taken in pairs, so that each number of L
 * read serves twice. Multiplications and additions come in a fixed order: results do not depend
 * on threads, alignment or processor.
 *
 * Why not dgetrf: OpenBLAS runs it on several threads from n = 100, and then the last bits
 * depend on OPENBLAS_NUM_THREADS. */
#include "base/memory.h"
#include "la/backend.h"
#include "la/fours.h"

#include <float.h>
#include <math.h>

typedef struct dense {
    int n, ld;    /* rows, and with padding */
    double *lu;   /* n columns of ld numbers */
    int *pivot;   /* row k was swapped with row pivot[k] >= k */
    int *order;   /* P: so row order[k] is now row k */
    double *size; /* largest number in each column; then the pivot relative to it */
    double *x;    /* ld numbers, for solving */
} dense;

static void destroy(void *data)
{
    dense *d = data;
    ga_free(d->lu);
    ga_free(d->pivot);
    ga_free(d->order);
    ga_free(d->size);
    ga_free(d->x);
    ga_free(d);
}

static ga_status create(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data)
{
    (void)partition, (void)pool;
    dense *d = GA_NEW(dense, 1);
    if (!d) return GA_ERR_MEMORY;
    const size_t n = (size_t)matrix->n, ld = (n + 3) & ~(size_t)3;
    d->n = matrix->n;
    d->ld = (int)ld;
    d->lu = ga_alloc(n, ld * sizeof(double));
    d->pivot = GA_NEW(int, n);
    d->order = GA_NEW(int, n);
    d->size = GA_NEW(double, n);
    d->x = GA_NEW(double, ld);
    if (!d->lu || !d->pivot || !d->order || !d->size || !d->x) {
        destroy(d);
        return GA_ERR_MEMORY;
    }
    *data = d;
    return GA_OK;
}

/* --- factorisation ----------------------------------------------------------------------- */

/* Column c of the panel that begins at row and column `first`, top to bottom: its part in the
 * rows of the panel, from row c on, and the whole fours below. c is a number known to the
 * compiler. */
KERNEL double largest(const dense *d, int first, const int c, const double *x)
{
    const int ld = d->ld;
    quad most;
    double size = 0;
    set_zero(&most);
    for (int i = first + 4; i < ld; i += 4) raise(&most, x + i);
    for (int i = c; i < 4; ++i) size = greater(fabs(x[first + i]), size);
    return greater(largest_of(&most), size);
}

/* The first of the largest; the first of all, if all are NaN. */
KERNEL int find_pivot(const dense *d, int first, const int c, const double *x)
{
    const int n = d->n;
    const double size = largest(d, first, c, x);
    for (int i = first + c; i < n; ++i)
        if (fabs(x[i]) == size) return i;
    return first + c;
}

KERNEL void swap(double *x, int i, int j)
{
    const double t = x[i];
    x[i] = x[j];
    x[j] = t;
}

KERNEL void swap_rows(const int *pivot, int first, int end, double *x)
{
    for (int k = first; k < end; ++k) swap(x, k, pivot[k]);
}

/* The sum of four columns times u[0..3], from row i on. */
KERNEL void sum4(quad *sum, const double *l, size_t ld, int i, const double u[4])
{
    load(sum, l + i);
    scale(sum, u[0]);
    add_at(sum, l + ld + i, u[1]);
    add_at(sum, l + 2 * ld + i, u[2]);
    add_at(sum, l + 3 * ld + i, u[3]);
}

KERNEL void take_off(double *x, const quad *sum)
{
    quad y;
    load(&y, x);
    minus(&y, sum);
    store(x, &y);
}

/* x -= four columns times u, count rows in whole fours; for two columns x, y with u, v. */
KERNEL void subtract4(int count, const double *l, size_t ld, const double *u, double *x)
{
    const double a[4] = {u[0], u[1], u[2], u[3]};
    for (int i = 0; i < count; i += 4) {
        quad sum;
        sum4(&sum, l, ld, i, a);
        take_off(x + i, &sum);
    }
}

KERNEL void subtract4_pair(int count, const double *l, size_t ld, const double *u, double *x,
                           const double *v, double *y)
{
    const double a[4] = {u[0], u[1], u[2], u[3]}, b[4] = {v[0], v[1], v[2], v[3]};
    for (int i = 0; i < count; i += 4) {
        quad s, t;
        sum4(&s, l, ld, i, a);
        sum4(&t, l, ld, i, b);
        take_off(x + i, &s);
        take_off(y + i, &t);
    }
}

/* u := L^-1 u for the unit lower triangle of four columns at l. */
KERNEL void solve_triangle(const double *l, size_t ld, double *u)
{
    const double *l1 = l + ld, *l2 = l1 + ld, u0 = u[0];
    const double u1 = u[1] - l[1] * u0, u2 = u[2] - (l[2] * u0 + l1[2] * u1);
    u[1] = u1;
    u[2] = u2;
    u[3] -= l[3] * u0 + l1[3] * u1 + l2[3] * u2;
}

/* False at a pivot of no use. The matrix arrives equilibrated: one whose reciprocal overflows
 * is a zero. */
KERNEL bool factor_column(const dense *d, int first, const int c, const int width)
{
    const size_t ld = (size_t)d->ld;
    const int below = first + 4, end = d->ld;
    double *panel = d->lu + (size_t)first * ld, *x = panel + (size_t)c * ld;
    const int j = first + c, p = d->pivot[j] = find_pivot(d, first, c, x);
    const double size = fabs(x[p]);
    if (!(size >= DBL_MIN && size < INFINITY)) return false;
    if (p != j)
        for (int k = 0; k < width; ++k) swap(panel + (size_t)k * ld, j, p);
    const double factor = 1 / x[j];
    for (int i = c + 1; i < 4; ++i) x[first + i] *= factor;
    for (int i = below; i < end; i += 4) {
        quad l;
        load(&l, x + i);
        scale(&l, factor);
        store(x + i, &l);
    }
    for (int k = c + 1; k < width; ++k) {
        double *y = panel + (size_t)k * ld;
        const double u = y[j];
        for (int i = c + 1; i < 4; ++i) y[first + i] -= x[first + i] * u;
        for (int i = below; i < end; i += 4) {
            quad z;
            load(&z, y + i);
            subtract_at(&z, x + i, u);
            store(y + i, &z);
        }
    }
    return true;
}

/* The number of columns that did not fail. */
KERNEL int factor_panel(const dense *d, int first, const int width)
{
    if (!factor_column(d, first, 0, width)) return 0;
    if (width > 1 && !factor_column(d, first, 1, width)) return 1;
    if (width > 2 && !factor_column(d, first, 2, width)) return 2;
    if (width > 3 && !factor_column(d, first, 3, width)) return 3;
    return width;
}

/* All columns right of the panel j .. j+3. */
KERNEL void update(const dense *d, int j)
{
    const size_t ld = (size_t)d->ld;
    const double *l = d->lu + (size_t)j * ld + j;
    const int below = d->ld - j - 4;
    int k = j + 4;
    for (; k + 2 <= d->n; k += 2) {
        double *x = d->lu + (size_t)k * ld, *y = x + ld;
        swap_rows(d->pivot, j, j + 4, x);
        swap_rows(d->pivot, j, j + 4, y);
        x += j, y += j;
        solve_triangle(l, ld, x);
        solve_triangle(l, ld, y);
        subtract4_pair(below, l + 4, ld, x, x + 4, y, y + 4);
    }
    if (k < d->n) {
        double *x = d->lu + (size_t)k * ld;
        swap_rows(d->pivot, j, j + 4, x);
        x += j;
        solve_triangle(l, ld, x);
        subtract4(below, l + 4, ld, x, x + 4);
    }
}

/* What the panel j .. end-1 means for the columns left of it, and for P. */
KERNEL void reorder(const dense *d, int j, int end)
{
    for (int k = j; k < end; ++k) {
        const int p = d->pivot[k];
        if (p == k) continue;
        const int t = d->order[k];
        d->order[k] = d->order[p];
        d->order[p] = t;
        for (int i = 0; i < j; ++i) swap(d->lu + (size_t)i * (size_t)d->ld, k, p);
    }
}

/* The column that fails, or n. */
KERNEL int factor(const dense *d)
{
    const int n = d->n;
    for (int k = 0; k < n; ++k) {
        d->size[k] = largest(d, 0, 0, d->lu + (size_t)k * (size_t)d->ld);
        d->order[k] = k;
    }
    for (int j = 0, end; j < n; j = end) {
        const int width = n - j < 4 ? n - j : 4;
        int good = 0;
        end = j + width;
        if (width == 4) good = factor_panel(d, j, 4);
        if (width == 3) good = factor_panel(d, j, 3);
        if (width == 2) good = factor_panel(d, j, 2);
        if (width == 1) good = factor_panel(d, j, 1);
        if (good < width) return j + good;
        reorder(d, j, end);
        if (end < n) update(d, j);
    }
    return n;
}

/* --- solving ------------------------------------------------------------------------------ */

/* L y = x. */
KERNEL void eliminate(const dense *d, double *x)
{
    const size_t ld = (size_t)d->ld;
    int j = 0;
    for (; j + 4 <= d->n; j += 4) {
        const double *l = d->lu + (size_t)j * ld + j;
        solve_triangle(l, ld, x + j);
        subtract4(d->ld - j - 4, l + 4, ld, x + j, x + j + 4);
    }
    for (; j < d->n; ++j)
        for (int i = j + 1; i < d->n; ++i) x[i] -= d->lu[(size_t)j * ld + (size_t)i] * x[j];
}

/* U x = y from the last column back, four columns at a time: so the rows above them do not come
 * in whole fours. */
KERNEL void substitute(const dense *d, double *x)
{
    const size_t ld = (size_t)d->ld;
    int j = d->n;
    for (; j >= 4; j -= 4) {
        const double *u0 = d->lu + (size_t)(j - 4) * ld, *u1 = u0 + ld, *u2 = u1 + ld,
                     *u3 = u2 + ld;
        const double y3 = x[j - 1] / u3[j - 1];
        const double y2 = (x[j - 2] - u3[j - 2] * y3) / u2[j - 2];
        const double y1 = (x[j - 3] - u3[j - 3] * y3 - u2[j - 3] * y2) / u1[j - 3];
        const double y0 =
            (x[j - 4] - u3[j - 4] * y3 - u2[j - 4] * y2 - u1[j - 4] * y1) / u0[j - 4];
        const double y[4] = {y0, y1, y2, y3};
        const int fours = (j - 4) & ~3;
        for (int i = fours; i < j - 4; ++i)
            x[i] -= u0[i] * y0 + u1[i] * y1 + u2[i] * y2 + u3[i] * y3;
        subtract4(fours, u0, ld, y, x);
        x[j - 4] = y0;
        x[j - 3] = y1;
        x[j - 2] = y2;
        x[j - 1] = y3;
    }
    while (--j >= 0) {
        const double *u = d->lu + (size_t)j * ld;
        x[j] /= u[j];
        for (int i = 0; i < j; ++i) x[i] -= u[i] * x[j];
    }
}

KERNEL void solve_both(const dense *d, double *x)
{
    eliminate(d, x);
    substitute(d, x);
}

/* --- instances ---------------------------------------------------------------------------- */

static int factor_plain(const dense *d) { return factor(d); }
static void solve_plain(const dense *d, double *x) { solve_both(d, x); }

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
#define AVX2 __attribute__((target("avx2")))
AVX2 static int factor_avx2(const dense *d) { return factor(d); }
AVX2 static void solve_avx2(const dense *d, double *x) { solve_both(d, x); }
#define CHOOSE(name) (__builtin_cpu_supports("avx2") ? name##_avx2 : name##_plain)
#else
#define CHOOSE(name) name##_plain
#endif

static void load_column(const ga_matrix *m, int j, double *x)
{
    const int n = m->n;
    if (m->full) {
        const double *from = m->values + (size_t)j * (size_t)n;
        int i = 0;
        for (; i + 4 <= n; i += 4) memcpy(x + i, from + i, 4 * sizeof *x);
        for (; i < n; ++i) x[i] = from[i];
    } else {
        for (int i = 0; i < n; ++i) x[i] = 0;
        for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++k) x[m->rowind[k]] = m->values[k];
    }
}

/* Smallest pivot relative to its column, whatever the scaling of the columns. */
static double judge_pivots(dense *d, int *column)
{
    const size_t ld = (size_t)d->ld;
    for (int j = 0; j < d->n; ++j) d->size[j] = fabs(d->lu[(size_t)j * (ld + 1)]) / d->size[j];
    double smallest = INFINITY;
    for (int j = 0; j < d->n; ++j)
        if (d->size[j] < smallest) {
            smallest = d->size[j];
            *column = j;
        }
    return fmin(smallest, 1);
}

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    dense *d = data;
    for (int j = 0; j < d->n; ++j) load_column(matrix, j, d->lu + (size_t)j * (size_t)d->ld);
    *column = CHOOSE(factor)(d);
    if (*column < d->n) {
        *rcond = 0;
        return GA_ERR_SINGULAR;
    }
    *rcond = judge_pivots(d, column);
    return GA_OK;
}

static void solve(void *data, double *x)
{
    const dense *d = data;
    for (int i = 0; i < d->n; ++i) d->x[i] = x[d->order[i]];
    CHOOSE(solve)(d, d->x);
    memcpy(x, d->x, (size_t)d->n * sizeof *x);
}

static void solve_scaled(void *data, const double *row, const double *rhs, const double *col,
                         double *x)
{
    const dense *d = data;
    const int n = d->n, *restrict order = d->order;
    double *restrict y = d->x;
    for (int i = 0; i < n; ++i) y[i] = rhs[order[i]] * row[order[i]];
    CHOOSE(solve)(d, y);
    for (int i = 0; i < n; ++i) x[i] = y[i] * col[i];
}

const ga_backend ga_backend_dense = {
    .name = "dense",
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .solve = solve,
    .solve_scaled = solve_scaled,
};
