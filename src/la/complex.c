/* LU factors of complex matrices; see complex.h.
 *
 * Numbers are stored as pairs (real, imaginary), as KLU wants them. The dense factorisation is
 * by columns (left-looking), P A = L U with unit L, pivots by the larger of |real| +
 * |imaginary|; it also serves sparse matrices where the library is built without KLU. */
#include "la/complex.h"

#include "base/memory.h"
#include "la/complex_klu.h"

#include <math.h>
#include <string.h>

struct ga_complex {
    const ga_matrix *pattern;
    int n;
    double *values;      /* dense: the factors; sparse: the matrix */
    double *x;           /* right-hand side and solution */
    int *pivot;          /* dense: the row exchanged with row k */
    ga_complex_klu *klu; /* null: dense */
};

void ga_complex_destroy(ga_complex *f)
{
    if (!f) return;
    ga_complex_klu_destroy(f->klu);
    ga_free(f->values);
    ga_free(f->x);
    ga_free(f->pivot);
    ga_free(f);
}

ga_status ga_complex_create(const ga_matrix *pattern, ga_complex **factor)
{
    *factor = NULL;
    ga_complex *f = GA_NEW(ga_complex, 1);
    if (!f) return GA_ERR_MEMORY;
    f->pattern = pattern;
    f->n = pattern->n;
    const bool sparse = !pattern->full && ga_factor_has_klu;
    const size_t n = (size_t)f->n, count = sparse ? (size_t)pattern->count : n * n;
    bool memory = (f->values = GA_NEW(double, 2 * count)) && (f->x = GA_NEW(double, 2 * n)) &&
                  (f->pivot = GA_NEW(int, n)) &&
                  (!sparse || ga_complex_klu_create(pattern, &f->klu) == GA_OK);
    if (!memory) {
        ga_complex_destroy(f);
        return GA_ERR_MEMORY;
    }
    *factor = f;
    return GA_OK;
}

/* --- dense -------------------------------------------------------------------------------- */

static double size(const double *z) { return fabs(z[0]) + fabs(z[1]); }

/* y -= a x */
static void subtract(const double *a, const double *x, double *y)
{
    y[0] -= a[0] * x[0] - a[1] * x[1];
    y[1] -= a[0] * x[1] + a[1] * x[0];
}

/* x /= a, by the larger part of a. */
static void divide(const double *a, double *x)
{
    const bool real = fabs(a[0]) >= fabs(a[1]);
    const double p = real ? a[0] : a[1], r = real ? a[1] / a[0] : a[0] / a[1];
    const double d = p + (real ? a[1] : a[0]) * r;
    const double re = real ? (x[0] + x[1] * r) / d : (x[0] * r + x[1]) / d;
    x[1] = real ? (x[1] - x[0] * r) / d : (x[1] * r - x[0]) / d;
    x[0] = re;
}

static void swap(double *a, double *b)
{
    for (int k = 0; k < 2; ++k) {
        const double keep = a[k];
        a[k] = b[k];
        b[k] = keep;
    }
}

static ga_status factor_dense(ga_complex *f)
{
    const size_t n = (size_t)f->n;
    for (size_t j = 0; j < n; ++j) {
        double *column = f->values + 2 * n * j;
        for (size_t k = 0; k < j; ++k) swap(column + 2 * k, column + 2 * f->pivot[k]);
        for (size_t k = 0; k < j; ++k) {
            const double *l = f->values + 2 * n * k, *u = column + 2 * k;
            for (size_t i = k + 1; i < n; ++i) subtract(u, l + 2 * i, column + 2 * i);
        }
        size_t p = j;
        for (size_t i = j; i < n; ++i)
            if (!(size(column + 2 * i) <= size(column + 2 * p))) p = i;
        f->pivot[j] = (int)p;
        if (!(size(column + 2 * p) > 0 && isfinite(size(column + 2 * p))))
            return GA_ERR_SINGULAR;
        for (size_t k = 0; p != j && k <= j; ++k)
            swap(f->values + 2 * (n * k + j), f->values + 2 * (n * k + p));
        for (size_t i = j + 1; i < n; ++i) divide(column + 2 * j, column + 2 * i);
    }
    return GA_OK;
}

static void solve_dense(const ga_complex *f)
{
    const size_t n = (size_t)f->n;
    double *x = f->x;
    for (size_t k = 0; k < n; ++k) swap(x + 2 * k, x + 2 * f->pivot[k]);
    for (size_t k = 0; k < n; ++k)
        for (size_t i = k + 1; i < n; ++i)
            subtract(x + 2 * k, f->values + 2 * (n * k + i), x + 2 * i);
    for (size_t k = n; k-- > 0;) {
        divide(f->values + 2 * (n * k + k), x + 2 * k);
        for (size_t i = 0; i < k; ++i)
            subtract(x + 2 * k, f->values + 2 * (n * k + i), x + 2 * i);
    }
}

static void solve_dense_transposed(const ga_complex *f)
{
    const size_t n = (size_t)f->n;
    double *x = f->x;
    for (size_t k = 0; k < n; ++k) {
        for (size_t i = 0; i < k; ++i)
            subtract(x + 2 * i, f->values + 2 * (n * k + i), x + 2 * k);
        divide(f->values + 2 * (n * k + k), x + 2 * k);
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t i = k + 1; i < n; ++i)
            subtract(x + 2 * i, f->values + 2 * (n * k + i), x + 2 * k);
    }
    for (size_t k = n; k-- > 0;) swap(x + 2 * k, x + 2 * f->pivot[k]);
}

/* ------------------------------------------------------------------------------------------ */

/* Where slot k of the pattern stands among the values; j: its column. */
static size_t place_of(const ga_complex *f, int j, int k)
{
    if (f->klu || f->pattern->full) return (size_t)k;
    return (size_t)j * (size_t)f->n + (size_t)f->pattern->rowind[k];
}

ga_status ga_complex_factor(ga_complex *f, const double *real, const double *imaginary)
{
    const ga_matrix *A = f->pattern;
    const size_t n = (size_t)f->n;
    if (!f->klu) memset(f->values, 0, 2 * n * n * sizeof *f->values);
    for (int j = 0; j < f->n; ++j) {
        const int begin = A->full ? j * f->n : A->colptr[j];
        const int end = A->full ? begin + f->n : A->colptr[j + 1];
        for (int k = begin; k < end; ++k) {
            double *value = f->values + 2 * place_of(f, j, k);
            value[0] = real[k];
            value[1] = imaginary[k];
        }
    }
    return f->klu ? ga_complex_klu_factor(f->klu, f->values) : factor_dense(f);
}

static void take(const ga_complex *f, const double *real, const double *imaginary)
{
    for (int i = 0; i < f->n; ++i) {
        f->x[2 * i] = real[i];
        f->x[2 * i + 1] = imaginary[i];
    }
}

static void give(const ga_complex *f, double *real, double *imaginary)
{
    for (int i = 0; i < f->n; ++i) {
        real[i] = f->x[2 * i];
        imaginary[i] = f->x[2 * i + 1];
    }
}

void ga_complex_solve(const ga_complex *f, double *real, double *imaginary)
{
    take(f, real, imaginary);
    if (f->klu)
        ga_complex_klu_solve(f->klu, f->x);
    else
        solve_dense(f);
    give(f, real, imaginary);
}

void ga_complex_solve_transposed(const ga_complex *f, double *real, double *imaginary)
{
    take(f, real, imaginary);
    if (f->klu)
        ga_complex_klu_solve_transposed(f->klu, f->x);
    else
        solve_dense_transposed(f);
    give(f, real, imaginary);
}

void ga_complex_forget(ga_complex *f)
{
    if (f->klu) ga_complex_klu_forget(f->klu);
}

double *ga_complex_pivots(ga_complex *f, int *count)
{
    *count = 0;
    return f->klu ? ga_complex_klu_pivots(f->klu, count) : NULL;
}

ga_status ga_complex_recall(ga_complex *f)
{
    return f->klu ? ga_complex_klu_recall(f->klu) : GA_OK;
}
