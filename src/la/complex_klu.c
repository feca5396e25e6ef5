/* KLU chooses pivots once. Later matrices reuse the choice (klu_z_refactor) if a solve with it
 * is accurate: the residual of A x = b for one b is measured, because neither the growth of U
 * nor its smallest pivot tells (klu.c). */
#include "la/complex_klu.h"

#include "base/memory.h"
#include "base/report.h"

#include <klu.h>
#include <math.h>
#include <string.h>

/* Residual of a solve, relative to the sizes of its terms, up to which old pivots serve. */
static const double ACCURATE = 1e-10;

struct ga_complex_klu {
    const ga_matrix *pattern;
    int n;
    double *x, *b; /* for the measured residual */
    /* Are pivots chosen (1, else 0)? Then the values of the matrix they were chosen for. */
    double *chosen_for;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

void ga_complex_klu_destroy(ga_complex_klu *f)
{
    if (!f) return;
    klu_z_free_numeric(&f->numeric, &f->common);
    klu_free_symbolic(&f->symbolic, &f->common);
    ga_free(f->x);
    ga_free(f->b);
    ga_free(f->chosen_for);
    ga_free(f);
}

ga_status ga_complex_klu_create(const ga_matrix *pattern, ga_complex_klu **klu)
{
    *klu = NULL;
    ga_complex_klu *f = GA_NEW(ga_complex_klu, 1);
    if (!f) return GA_ERR_MEMORY;
    f->pattern = pattern;
    f->n = pattern->n;
    klu_defaults(&f->common);
    enum { COLAMD = 1 }; /* bounds the fill whatever the pivots are */
    f->common.ordering = COLAMD;
    f->common.scale = -1; /* matrices come scaled; a valid pattern needs no check */
    const size_t n = (size_t)f->n;
    bool memory =
        (f->x = GA_NEW(double, 2 * n)) && (f->b = GA_NEW(double, 2 * n)) &&
        (f->chosen_for = GA_NEW(double, 1 + 2 * (size_t)pattern->count)) &&
        (f->symbolic = klu_analyze(f->n, pattern->colptr, pattern->rowind, &f->common));
    if (!memory) {
        ga_complex_klu_destroy(f);
        return GA_ERR_MEMORY;
    }
    *klu = f;
    return GA_OK;
}

static double size(const double *z) { return fabs(z[0]) + fabs(z[1]); }

/* y -= a x */
static void subtract(const double *a, const double *x, double *y)
{
    y[0] -= a[0] * x[0] - a[1] * x[1];
    y[1] -= a[0] * x[1] + a[1] * x[0];
}

/* Largest residual of A x = b with b = 1 + i, by the sizes of what is added up. */
static double measure(ga_complex_klu *f, const double *values)
{
    const ga_matrix *A = f->pattern;
    double *b = f->b, largest = 0;
    for (int i = 0; i < 2 * f->n; ++i) f->x[i] = b[i] = 1;
    klu_z_solve(f->symbolic, f->numeric, f->n, 1, f->x, &f->common);
    double most = 1;
    for (int j = 0; j < f->n; ++j)
        for (int k = A->colptr[j]; k < A->colptr[j + 1]; ++k) {
            const double *a = values + 2 * k, *x = f->x + 2 * j;
            subtract(a, x, b + 2 * A->rowind[k]);
            most = fmax(most, size(a) * size(x));
        }
    for (int i = 0; i < f->n; ++i)
        if (!(size(b + 2 * i) <= largest)) largest = size(b + 2 * i); /* NaN stays */
    return largest / most;
}

static bool refactor(ga_complex_klu *f, double *values)
{
    const ga_matrix *A = f->pattern;
    return f->numeric &&
           klu_z_refactor(A->colptr, A->rowind, values, f->symbolic, f->numeric, &f->common) &&
           f->common.status == KLU_OK && measure(f, values) <= ACCURATE;
}

/* Pivots for the values that are kept, and the factors. */
static ga_status choose(ga_complex_klu *f)
{
    const ga_matrix *A = f->pattern;
    klu_z_free_numeric(&f->numeric, &f->common);
    f->numeric = klu_z_factor(A->colptr, A->rowind, f->chosen_for + 1, f->symbolic, &f->common);
    f->chosen_for[0] = f->numeric ? 1 : 0;
    if (f->numeric) return GA_OK;
    return f->common.status == KLU_SINGULAR ? GA_ERR_SINGULAR : GA_ERR_MEMORY;
}

ga_status ga_complex_klu_factor(ga_complex_klu *f, double *values)
{
    const ga_matrix *A = f->pattern;
    if (refactor(f, values)) return GA_OK;
    memcpy(f->chosen_for + 1, values, 2 * (size_t)A->count * sizeof *values);
    GA_TRY(choose(f));
    return measure(f, values) <= ACCURATE ? GA_OK : GA_ERR_SINGULAR;
}

void ga_complex_klu_forget(ga_complex_klu *f)
{
    klu_z_free_numeric(&f->numeric, &f->common);
    f->chosen_for[0] = 0;
}

double *ga_complex_klu_pivots(ga_complex_klu *f, int *count)
{
    *count = 1 + 2 * f->pattern->count;
    return f->chosen_for;
}

ga_status ga_complex_klu_recall(ga_complex_klu *f)
{
    if (f->chosen_for[0] != 0) return choose(f);
    ga_complex_klu_forget(f);
    return GA_OK;
}

void ga_complex_klu_solve(const ga_complex_klu *f, double *x)
{
    klu_common common = f->common;
    klu_z_solve(f->symbolic, f->numeric, f->n, 1, x, &common);
}

void ga_complex_klu_solve_transposed(const ga_complex_klu *f, double *x)
{
    klu_common common = f->common;
    klu_z_tsolve(f->symbolic, f->numeric, f->n, 1, x, 0, &common);
}
