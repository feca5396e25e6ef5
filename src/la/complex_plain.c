/* Complex matrices without KLU: real ones of twice the order, for the solver of full matrices,
 * with
 *
 *     [ a  -b ]
 *     [ b   a ]     in place of each number a + i b. */
#include "la/complex.h"

#include "base/memory.h"
#include "base/report.h"

#include <string.h>

struct ga_complex {
    const ga_matrix *pattern;
    ga_coords all;
    ga_matrix matrix;
    ga_factor *factor;
    double *x;
};

void ga_complex_destroy(ga_complex *f)
{
    if (!f) return;
    ga_factor_destroy(f->factor);
    ga_matrix_destroy(&f->matrix);
    ga_coords_destroy(&f->all);
    ga_free(f->x);
    ga_free(f);
}

static ga_status create(ga_complex *f, int n)
{
    if (!(f->x = GA_NEW(double, n))) return GA_ERR_MEMORY;
    GA_TRY(ga_coords_create(n, n, 0, NULL, NULL, &f->all));
    GA_TRY(ga_matrix_create(n, 1, &(ga_summand){.coords = &f->all}, true, &f->matrix));
    return ga_factor_create(&f->matrix, GA_BACKEND_DENSE, &f->factor);
}

ga_status ga_complex_create(const ga_matrix *pattern, ga_complex **factor)
{
    *factor = NULL;
    if (pattern->full) return GA_ERR_ARGUMENT;
    ga_complex *f = GA_NEW(ga_complex, 1);
    if (!f) return GA_ERR_MEMORY;
    f->pattern = pattern;
    const ga_status status = create(f, 2 * pattern->n);
    if (status == GA_OK)
        *factor = f;
    else
        ga_complex_destroy(f);
    return status;
}

ga_status ga_complex_factor(ga_complex *f, const double *real, const double *imaginary)
{
    const ga_matrix *A = f->pattern;
    const size_t n = 2 * (size_t)A->n;
    ga_matrix_clear(&f->matrix);
    for (int j = 0; j < A->n; ++j)
        for (int k = A->colptr[j]; k < A->colptr[j + 1]; ++k) {
            double *x = f->matrix.values + 2 * ((size_t)j * n + (size_t)A->rowind[k]);
            x[0] = x[n + 1] = real[k];
            x[1] = imaginary[k];
            x[n] = -imaginary[k];
        }
    return ga_factor_numeric(f->factor);
}

void ga_complex_forget(ga_complex *f) { (void)f; }

double *ga_complex_pivots(ga_complex *f, int *count)
{
    (void)f;
    *count = 0;
    return NULL;
}

ga_status ga_complex_recall(ga_complex *f)
{
    (void)f;
    return GA_OK;
}

typedef void solver(const ga_factor *factor, double *x);

static void solve(const ga_complex *f, solver *by, double sign, double *real, double *imaginary)
{
    for (int i = 0; i < f->pattern->n; ++i) {
        f->x[2 * i] = real[i];
        f->x[2 * i + 1] = sign * imaginary[i];
    }
    by(f->factor, f->x);
    for (int i = 0; i < f->pattern->n; ++i) {
        real[i] = f->x[2 * i];
        imaginary[i] = sign * f->x[2 * i + 1];
    }
}

void ga_complex_solve(const ga_complex *f, double *real, double *imaginary)
{
    solve(f, ga_factor_solve, 1, real, imaginary);
}

/* The transpose of the real matrix is that of the conjugate one. */
void ga_complex_solve_transposed(const ga_complex *f, double *real, double *imaginary)
{
    solve(f, ga_factor_solve_transposed, -1, real, imaginary);
}
