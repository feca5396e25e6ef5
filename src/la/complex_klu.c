/* LU factors of complex matrices by KLU; numbers are pairs (real, imaginary).
 *
 * KLU chooses pivots once. Later matrices reuse the choice (klu_z_refactor) if a solve with it
 * is accurate: the residual of A x = b for one b is measured, because neither the growth of U
 * nor its smallest pivot tells (klu.c). Real matrices of twice the order, which would need no
 * file of their own, take up to 1.9 times as long. */
#include "base/memory.h"
#include "base/report.h"
#include "la/complex.h"

#include <klu.h>
#include <math.h>
#include <string.h>

/* Residual of a solve, relative to the sizes of its terms, up to which old pivots serve. */
static const double ACCURATE = 1e-10;

struct ga_complex {
    const ga_matrix *pattern;
    int n;
    double *values;
    double *x, *b; /* a right-hand side and its solution; the defect */
    /* Are pivots chosen (1, else 0)? Then the values of the matrix they were chosen for. */
    double *chosen_for;
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
    ga_free(f->chosen_for);
    ga_free(f);
}

ga_status ga_complex_create(const ga_matrix *pattern, ga_complex **factor)
{
    *factor = NULL;
    if (pattern->full) return GA_ERR_ARGUMENT;
    ga_complex *f = GA_NEW(ga_complex, 1);
    if (!f) return GA_ERR_MEMORY;
    f->pattern = pattern;
    f->n = pattern->n;
    klu_defaults(&f->common);
    enum { COLAMD = 1 }; /* bounds the fill whatever the pivots are */
    f->common.ordering = COLAMD;
    f->common.scale = -1; /* matrices come scaled; a valid pattern needs no check */
    const size_t n = (size_t)f->n, count = (size_t)pattern->count;
    bool memory =
        (f->values = GA_NEW(double, 2 * count)) && (f->x = GA_NEW(double, 2 * n)) &&
        (f->b = GA_NEW(double, 2 * n)) && (f->chosen_for = GA_NEW(double, 1 + 2 * count)) &&
        (f->symbolic = klu_analyze(f->n, pattern->colptr, pattern->rowind, &f->common));
    if (!memory) {
        ga_complex_destroy(f);
        return GA_ERR_MEMORY;
    }
    *factor = f;
    return GA_OK;
}

static double size(const double *z) { return fabs(z[0]) + fabs(z[1]); }

/* Largest residual of A x = b with b = 1 + i, by the sizes of what is added up. */
static double measure(ga_complex *f)
{
    const ga_matrix *A = f->pattern;
    double *b = f->b, largest = 0, most = 1;
    for (int i = 0; i < 2 * f->n; ++i) f->x[i] = b[i] = 1;
    klu_z_solve(f->symbolic, f->numeric, f->n, 1, f->x, &f->common);
    for (int j = 0; j < f->n; ++j)
        for (int k = A->colptr[j]; k < A->colptr[j + 1]; ++k) {
            const double *a = f->values + 2 * k, *x = f->x + 2 * j;
            double *y = b + 2 * A->rowind[k];
            y[0] -= a[0] * x[0] - a[1] * x[1];
            y[1] -= a[0] * x[1] + a[1] * x[0];
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

/* Pivots for the values that are kept, and the factors. */
static ga_status choose(ga_complex *f)
{
    const ga_matrix *A = f->pattern;
    klu_z_free_numeric(&f->numeric, &f->common);
    f->numeric = klu_z_factor(A->colptr, A->rowind, f->chosen_for + 1, f->symbolic, &f->common);
    f->chosen_for[0] = f->numeric ? 1 : 0;
    if (f->numeric) return GA_OK;
    return f->common.status == KLU_SINGULAR ? GA_ERR_SINGULAR : GA_ERR_MEMORY;
}

static void join(int count, const double *real, const double *imaginary, double *z)
{
    for (int k = 0; k < count; ++k) {
        z[2 * k] = real[k];
        z[2 * k + 1] = imaginary[k];
    }
}

static void part(int count, const double *z, double *real, double *imaginary)
{
    for (int k = 0; k < count; ++k) {
        real[k] = z[2 * k];
        imaginary[k] = z[2 * k + 1];
    }
}

ga_status ga_complex_factor(ga_complex *f, const double *real, const double *imaginary)
{
    join(f->pattern->count, real, imaginary, f->values);
    if (refactor(f)) return GA_OK;
    memcpy(f->chosen_for + 1, f->values, 2 * (size_t)f->pattern->count * sizeof *f->values);
    GA_TRY(choose(f));
    return measure(f) <= ACCURATE ? GA_OK : GA_ERR_SINGULAR;
}

void ga_complex_forget(ga_complex *f)
{
    klu_z_free_numeric(&f->numeric, &f->common);
    f->chosen_for[0] = 0;
}

double *ga_complex_pivots(ga_complex *f, int *count)
{
    *count = 1 + 2 * f->pattern->count;
    return f->chosen_for;
}

ga_status ga_complex_recall(ga_complex *f)
{
    if (f->chosen_for[0] != 0) return choose(f);
    ga_complex_forget(f);
    return GA_OK;
}

void ga_complex_solve(const ga_complex *f, double *real, double *imaginary)
{
    klu_common common = f->common;
    join(f->n, real, imaginary, f->x);
    klu_z_solve(f->symbolic, f->numeric, f->n, 1, f->x, &common);
    part(f->n, f->x, real, imaginary);
}

void ga_complex_solve_transposed(const ga_complex *f, double *real, double *imaginary)
{
    klu_common common = f->common;
    join(f->n, real, imaginary, f->x);
    klu_z_tsolve(f->symbolic, f->numeric, f->n, 1, f->x, 0, &common);
    part(f->n, f->x, real, imaginary);
}
