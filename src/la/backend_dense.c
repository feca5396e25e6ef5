/* LU with partial pivoting of a full matrix, P A = L U, four columns at a time:
 *
 *     factor the panel of columns j .. j+3;
 *     for every column x to the right:  u = L_panel^-1 x(j:j+3),  x(j+4:) -= L_panel u.
 *
 * Columns to the right are taken in pairs, so that each number of L read serves twice. Solving
 * uses the same kernel. Multiplications and additions come in a fixed order: results do not
 * depend on threads or alignment.
 *
 * Why not dgetrf: OpenBLAS runs it on several threads from n = 100, and then the last bits
 * depend on OPENBLAS_NUM_THREADS. Measured against it on one thread (EPYC, -O2): twice as fast
 * for n <= 30, level at n = 70, half as fast at n = 300, where sparse matrices go to KLU. */
#include "base/memory.h"
#include "la/backend.h"

#include <float.h>
#include <math.h>

typedef struct dense {
    int n;
    double *lu;
    int *pivot; /* row k was swapped with row pivot[k] >= k */
} dense;

static void destroy(void *data)
{
    dense *d = data;
    ga_free(d->lu);
    ga_free(d->pivot);
    ga_free(d);
}

static ga_status create(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data)
{
    (void)partition, (void)pool;
    dense *d = GA_NEW(dense, 1);
    if (!d) return GA_ERR_MEMORY;
    size_t n = (size_t)matrix->n;
    d->n = matrix->n;
    d->lu = ga_alloc(n, n * sizeof(double));
    d->pivot = GA_NEW(int, n);
    if (!d->lu || !d->pivot) {
        destroy(d);
        return GA_ERR_MEMORY;
    }
    *data = d;
    return GA_OK;
}

/* x[i] -= sum of four columns times u[0..3]. Pairs written out: gcc -O2 vectorises those. */
static void subtract4(int count, const double *restrict l0, size_t ld, const double u[4],
                      double *restrict x)
{
    const double *restrict l1 = l0 + ld, *restrict l2 = l1 + ld, *restrict l3 = l2 + ld;
    double u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        double a0 = l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
        double a1 = l0[i + 1] * u0 + l1[i + 1] * u1 + l2[i + 1] * u2 + l3[i + 1] * u3;
        x[i] -= a0;
        x[i + 1] -= a1;
    }
    if (i < count) x[i] -= l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
}

/* The same for two columns x, y with u, v. */
static void subtract4_pair(int count, const double *restrict l0, size_t ld, const double u[4],
                           double *restrict x, const double v[4], double *restrict y)
{
    const double *restrict l1 = l0 + ld, *restrict l2 = l1 + ld, *restrict l3 = l2 + ld;
    double u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
    double v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        double a0 = l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
        double a1 = l0[i + 1] * u0 + l1[i + 1] * u1 + l2[i + 1] * u2 + l3[i + 1] * u3;
        double b0 = l0[i] * v0 + l1[i] * v1 + l2[i] * v2 + l3[i] * v3;
        double b1 = l0[i + 1] * v0 + l1[i + 1] * v1 + l2[i + 1] * v2 + l3[i + 1] * v3;
        x[i] -= a0;
        x[i + 1] -= a1;
        y[i] -= b0;
        y[i + 1] -= b1;
    }
    if (i < count) {
        x[i] -= l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
        y[i] -= l0[i] * v0 + l1[i] * v1 + l2[i] * v2 + l3[i] * v3;
    }
}

/* u := L^-1 u for the unit lower triangle of four columns at l. */
static void solve_triangle(const double *l, size_t ld, double u[4])
{
    const double *l1 = l + ld, *l2 = l1 + ld;
    u[1] -= l[1] * u[0];
    u[2] -= l[2] * u[0] + l1[2] * u[1];
    u[3] -= l[3] * u[0] + l1[3] * u[1] + l2[3] * u[2];
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

/* The first of the largest. The sizes are compared without branches, which nobody could
 * predict; then the place is looked up. */
static int largest(int count, const double *x)
{
    double m0 = 0, m1 = 0;
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        double a0 = fabs(x[i]), a1 = fabs(x[i + 1]);
        m0 = a0 > m0 ? a0 : m0;
        m1 = a1 > m1 ? a1 : m1;
    }
    if (i < count) m0 = fabs(x[i]) > m0 ? fabs(x[i]) : m0;
    m0 = m1 > m0 ? m1 : m0;
    for (i = 0; i < count; ++i)
        if (fabs(x[i]) == m0) return i;
    return 0; /* all are NaN */
}

static void scale(int count, double factor, double *x)
{
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        x[i] *= factor;
        x[i + 1] *= factor;
    }
    if (i < count) x[i] *= factor;
}

/* y -= u x. */
static void subtract(int count, const double *restrict x, double u, double *restrict y)
{
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        y[i] -= x[i] * u;
        y[i + 1] -= x[i + 1] * u;
    }
    if (i < count) y[i] -= x[i] * u;
}

/* Columns first .. end-1, rows from first on; false at a pivot of no use, in column *column.
 * The matrix arrives equilibrated: a pivot whose reciprocal overflows is a zero. */
static bool factor_panel(dense *d, int first, int end, int *column)
{
    size_t ld = (size_t)d->n;
    for (int j = first; j < end; ++j) {
        double *x = d->lu + (size_t)j * ld;
        int p = d->pivot[j] = j + largest(d->n - j, x + j);
        double size = fabs(x[p]);
        if (!(size >= DBL_MIN && size < INFINITY)) {
            *column = j;
            return false;
        }
        for (int k = first; p != j && k < end; ++k) {
            double *y = d->lu + (size_t)k * ld;
            swap(&y[j], &y[p]);
        }
        int below = d->n - j - 1;
        scale(below, 1 / x[j], x + j + 1);
        for (int k = j + 1; k < end; ++k) {
            double *y = d->lu + (size_t)k * ld;
            subtract(below, x + j + 1, y[j], y + j + 1);
        }
    }
    return true;
}

static void swap_rows(const dense *d, int first, int end, double *x)
{
    for (int k = first; k < end; ++k) swap(&x[k], &x[d->pivot[k]]);
}

/* All columns right of the panel j .. j+3. */
static void update(dense *d, int j)
{
    size_t ld = (size_t)d->n;
    const double *l = d->lu + (size_t)j * ld + j;
    int below = d->n - j - 4, k = j + 4;
    for (; k + 2 <= d->n; k += 2) {
        double *x = d->lu + (size_t)k * ld + j, *y = x + ld;
        solve_triangle(l, ld, x);
        solve_triangle(l, ld, y);
        subtract4_pair(below, l + 4, ld, x, x + 4, y, y + 4);
    }
    if (k < d->n) {
        double *x = d->lu + (size_t)k * ld + j;
        solve_triangle(l, ld, x);
        subtract4(below, l + 4, ld, x, x + 4);
    }
}

/* Smallest pivot relative to its column, whatever the scaling of the columns. */
static double judge_pivots(const dense *d, const ga_matrix *matrix, int *column)
{
    double smallest = INFINITY;
    for (int j = 0; j < d->n; ++j) {
        double pivot = fabs(d->lu[(size_t)j * (size_t)d->n + (size_t)j]);
        double size = pivot / ga_matrix_column_size(matrix, j);
        if (size < smallest) {
            smallest = size;
            *column = j;
        }
    }
    return fmin(smallest, 1);
}

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    dense *d = data;
    ga_matrix_to_full(matrix, d->lu);
    for (int j = 0; j < d->n; j += 4) {
        int end = j + 4 < d->n ? j + 4 : d->n;
        if (!factor_panel(d, j, end, column)) {
            *rcond = 0;
            return GA_ERR_SINGULAR;
        }
        for (int k = 0; k < d->n; ++k)
            if (k < j || k >= end) swap_rows(d, j, end, d->lu + (size_t)k * (size_t)d->n);
        if (end < d->n) update(d, j);
    }
    *rcond = judge_pivots(d, matrix, column);
    return GA_OK;
}

/* L y = x. */
static void eliminate(int n, const double *lu, size_t ld, double *x)
{
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        const double *l = lu + (size_t)j * ld + j;
        solve_triangle(l, ld, x + j);
        subtract4(n - j - 4, l + 4, ld, x + j, x + j + 4);
    }
    for (; j < n; ++j)
        for (int i = j + 1; i < n; ++i) x[i] -= lu[(size_t)j * ld + (size_t)i] * x[j];
}

/* U x = y from the last column back, four columns at a time. */
static void substitute(int n, const double *lu, size_t ld, double *x)
{
    int j = n;
    for (; j >= 4; j -= 4) {
        const double *u0 = lu + (size_t)(j - 4) * ld, *u1 = u0 + ld, *u2 = u1 + ld,
                     *u3 = u2 + ld;
        double *y = x + j - 4;
        y[3] /= u3[j - 1];
        y[2] = (y[2] - u3[j - 2] * y[3]) / u2[j - 2];
        y[1] = (y[1] - u3[j - 3] * y[3] - u2[j - 3] * y[2]) / u1[j - 3];
        y[0] = (y[0] - u3[j - 4] * y[3] - u2[j - 4] * y[2] - u1[j - 4] * y[1]) / u0[j - 4];
        subtract4(j - 4, u0, ld, y, x);
    }
    while (--j >= 0) {
        const double *u = lu + (size_t)j * ld;
        x[j] /= u[j];
        for (int i = 0; i < j; ++i) x[i] -= u[i] * x[j];
    }
}

static void solve(void *data, double *x)
{
    const dense *d = data;
    swap_rows(d, 0, d->n, x);
    eliminate(d->n, d->lu, (size_t)d->n, x);
    substitute(d->n, d->lu, (size_t)d->n, x);
}

const ga_backend ga_backend_dense = {
    .name = "dense",
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .solve = solve,
};
