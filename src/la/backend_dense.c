/* LU with partial pivoting of a full matrix, column by column:
 *
 *     P A = L U,   column j:  solve L(:,0:j) u = P a_j,  pivot, divide.
 *
 * "Solve with the columns of L found so far" is also the forward half of solving a system, so
 * one loop (`eliminate`) serves both. It takes four columns of L at a time.
 *
 * Why not dgetrf: OpenBLAS runs it on several threads from n = 100, and then the last bits
 * depend on OPENBLAS_NUM_THREADS. Below n = 70 this file is faster (twice at n = 5), at n = 300
 * it takes twice as long; matrices of that size are sparse and go to KLU. */
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

static ga_status create(const ga_matrix *matrix, void **data)
{
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

/* x[i] -= sum of four columns times u[0..3]. */
static void subtract4(int count, const double *restrict l, size_t ld, const double u[4],
                      double *restrict x)
{
    const double *restrict l0 = l, *restrict l1 = l + ld, *restrict l2 = l + 2 * ld,
                           *restrict l3 = l + 3 * ld;
    double u0 = u[0], u1 = u[1], u2 = u[2], u3 = u[3];
    int i = 0;
    for (; i + 2 <= count; i += 2) {
        double a = l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
        double b = l0[i + 1] * u0 + l1[i + 1] * u1 + l2[i + 1] * u2 + l3[i + 1] * u3;
        x[i] -= a;
        x[i + 1] -= b;
    }
    for (; i < count; ++i) x[i] -= l0[i] * u0 + l1[i] * u1 + l2[i] * u2 + l3[i] * u3;
}

/* x := inverse of the first k columns of L (unit lower triangular, n rows) times x. */
static void eliminate(int n, int k, const double *lu, size_t ld, double *x)
{
    int j = 0;
    for (; j + 4 <= k; j += 4) {
        const double *l = lu + (size_t)j * ld + j, *l1 = l + ld, *l2 = l1 + ld;
        double *u = x + j;
        u[1] -= l[1] * u[0];
        u[2] -= l[2] * u[0] + l1[2] * u[1];
        u[3] -= l[3] * u[0] + l1[3] * u[1] + l2[3] * u[2];
        subtract4(n - j - 4, l + 4, ld, u, u + 4);
    }
    for (; j < k; ++j) {
        const double *l = lu + (size_t)j * ld;
        for (int i = j + 1; i < n; ++i) x[i] -= l[i] * x[j];
    }
}

static void swap(double *a, double *b)
{
    double t = *a;
    *a = *b;
    *b = t;
}

static int largest(int first, int n, const double *x)
{
    int p = first;
    for (int i = first + 1; i < n; ++i)
        if (fabs(x[i]) > fabs(x[p])) p = i;
    return p;
}

/* On GA_ERR_SINGULAR the factors are not complete. */
static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    dense *d = data;
    int n = d->n;
    size_t ld = (size_t)n;
    double smallest_pivot = INFINITY, largest_pivot = 0;
    ga_matrix_to_full(matrix, d->lu);
    for (int j = 0; j < n; ++j) {
        double *x = d->lu + (size_t)j * ld;
        for (int k = 0; k < j; ++k) swap(&x[k], &x[d->pivot[k]]);
        eliminate(n, j, d->lu, ld, x);

        int p = d->pivot[j] = largest(j, n, x);
        if (p != j)
            for (int k = 0; k <= j; ++k)
                swap(&d->lu[(size_t)k * ld + (size_t)j], &d->lu[(size_t)k * ld + (size_t)p]);
        double size = fabs(x[j]);
        if (!(size >= smallest_pivot)) { /* also if NaN */
            smallest_pivot = size;
            *column = j;
        }
        if (size > largest_pivot) largest_pivot = size;
        if (!(size >= DBL_MIN && size < INFINITY)) { /* 1/x[j] would overflow */
            *rcond = 0;
            *column = j;
            return GA_ERR_SINGULAR;
        }
        double reciprocal = 1 / x[j];
        for (int i = j + 1; i < n; ++i) x[i] *= reciprocal;
    }
    *rcond = smallest_pivot / largest_pivot;
    return GA_OK;
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
    for (int k = 0; k < d->n; ++k) swap(&x[k], &x[d->pivot[k]]);
    eliminate(d->n, d->n, d->lu, (size_t)d->n, x);
    substitute(d->n, d->lu, (size_t)d->n, x);
}

const ga_backend ga_backend_dense = {
    .name = "dense",
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .solve = solve,
};
