/* LU factors of complex matrices; see complex.h.
 *
 * Numbers are stored as pairs (real, imaginary), as KLU wants them. The dense factorisation is
 * by columns (left-looking), P A = L U with unit L, pivots by the larger of |real| +
 * |imaginary|.
 *
 * KLU chooses pivots once. Later matrices reuse the choice (klu_z_refactor) if a solve with it
 * is accurate: the residual of A x = b for one b is measured, because neither the growth of U
 * nor its smallest pivot tells (backend_klu.c). */
#include "la/complex.h"

#include "base/memory.h"

#include <float.h>
#include <klu.h>
#include <math.h>
#include <string.h>

/* Residual of a solve, relative to the sizes of its terms, up to which old pivots serve. */
static const double ACCURATE = 1e-10;

struct ga_complex {
    const ga_matrix *pattern;
    int n;
    double *values; /* dense: the factors; sparse: the matrix */
    double *x;      /* right-hand side and solution */
    double *b;      /* for the measured residual */
    int *pivot;     /* dense: the row exchanged with row k */
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

void ga_complex_destroy(ga_complex *f)
{
    if (!f) return;
    klu_z_free_numeric(&f->numeric, &f->common);
    klu_free_symbolic(&f->symbolic, &f->common);
    ga_free(f->values);
    ga_free(f->x);
    ga_free(f->b);
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
    klu_defaults(&f->common);
    f->common.scale = -1; /* matrices come scaled; a valid pattern needs no check */
    const size_t n = (size_t)f->n, count = (size_t)pattern->count;
    bool memory = (f->values = GA_NEW(double, 2 * count)) && (f->x = GA_NEW(double, 2 * n)) &&
                  (f->b = GA_NEW(double, 2 * n)) && (f->pivot = GA_NEW(int, n));
    if (memory && !pattern->full) {
        enum { COLAMD = 1 }; /* bounds the fill whatever the pivots are */
        f->common.ordering = COLAMD;
        f->symbolic = klu_analyze(f->n, pattern->colptr, pattern->rowind, &f->common);
        memory = f->symbolic != NULL;
    }
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

/* --- KLU ---------------------------------------------------------------------------------- */

/* Largest residual of A x = b with b = 1 + i, by the sizes of what is added up. */
static double measure(ga_complex *f)
{
    const ga_matrix *A = f->pattern;
    double *b = f->b, largest = 0;
    for (int i = 0; i < 2 * f->n; ++i) f->x[i] = b[i] = 1;
    klu_z_solve(f->symbolic, f->numeric, f->n, 1, f->x, &f->common);
    double most = 1;
    for (int j = 0; j < f->n; ++j)
        for (int k = A->colptr[j]; k < A->colptr[j + 1]; ++k) {
            const double *a = f->values + 2 * k, *x = f->x + 2 * j;
            subtract(a, x, b + 2 * A->rowind[k]);
            most = fmax(most, size(a) * size(x));
        }
    for (int i = 0; i < f->n; ++i)
        if (!(size(b + 2 * i) <= largest)) largest = size(b + 2 * i); /* NaN stays */
    return largest / most;
}

static bool refactor(ga_complex *f)
{
    const ga_matrix *A = f->pattern;
    return f->numeric &&
           klu_z_refactor(A->colptr, A->rowind, f->values, f->symbolic, f->numeric,
                          &f->common) &&
           f->common.status == KLU_OK && measure(f) <= ACCURATE;
}

static ga_status factor_sparse(ga_complex *f)
{
    const ga_matrix *A = f->pattern;
    if (refactor(f)) return GA_OK;
    klu_z_free_numeric(&f->numeric, &f->common);
    f->numeric = klu_z_factor(A->colptr, A->rowind, f->values, f->symbolic, &f->common);
    if (!f->numeric) return f->common.status == KLU_SINGULAR ? GA_ERR_SINGULAR : GA_ERR_MEMORY;
    return measure(f) <= ACCURATE ? GA_OK : GA_ERR_SINGULAR;
}

/* ------------------------------------------------------------------------------------------ */

ga_status ga_complex_factor(ga_complex *f, const double *real, const double *imaginary)
{
    for (int k = 0; k < f->pattern->count; ++k) {
        f->values[2 * k] = real[k];
        f->values[2 * k + 1] = imaginary[k];
    }
    return f->pattern->full ? factor_dense(f) : factor_sparse(f);
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
    klu_common common = f->common;
    take(f, real, imaginary);
    if (f->pattern->full)
        solve_dense(f);
    else
        klu_z_solve(f->symbolic, f->numeric, f->n, 1, f->x, &common);
    give(f, real, imaginary);
}

void ga_complex_solve_transposed(const ga_complex *f, double *real, double *imaginary)
{
    klu_common common = f->common;
    take(f, real, imaginary);
    if (f->pattern->full)
        solve_dense_transposed(f);
    else
        klu_z_tsolve(f->symbolic, f->numeric, f->n, 1, f->x, 0, &common);
    give(f, real, imaginary);
}
