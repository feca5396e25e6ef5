/* LU of a full matrix with partial pivoting: one front without others (front.h). */
#include "base/memory.h"
#include "la/front.h"
#include "la/solver.h"

#include <math.h>
#include <string.h>

typedef struct dense {
    const ga_matrix *matrix;
    const ga_front_kernels *kernels;
    int n, ld;
    double *lu; /* ld columns of ld numbers */
    double *z;  /* ld, for solutions */
    int *swap;
    int *row; /* of each pivot */
} dense;

void ga_dense_destroy(void *data)
{
    dense *d = data;
    ga_free(d->lu);
    ga_free(d->z);
    ga_free(d->swap);
    ga_free(d->row);
    ga_free(d);
}

ga_status ga_dense_analyse(const ga_matrix *matrix, const ga_partition *partition, void **data)
{
    (void)partition;
    dense *d = GA_NEW(dense, 1);
    if (!d) return GA_ERR_MEMORY;
    d->matrix = matrix;
    d->kernels = ga_front_kernels_get();
    d->n = matrix->n;
    d->ld = ga_front_padded(d->n);
    d->lu = GA_NEW(double, (size_t)d->ld *(size_t)d->ld);
    d->z = GA_NEW(double, d->ld);
    d->swap = GA_NEW(int, d->n);
    d->row = GA_NEW(int, d->n);
    *data = d;
    if (d->lu && d->z && d->swap && d->row) return GA_OK;
    ga_dense_destroy(d);
    return GA_ERR_MEMORY;
}

static void copy_values(const dense *d)
{
    const ga_matrix *m = d->matrix;
    const size_t n = (size_t)d->n, ld = (size_t)d->ld;
    if (m->full) {
        d->kernels->fill(d->n, m->values, d->lu);
        return;
    }
    memset(d->lu, 0, n * ld * sizeof *d->lu);
    for (size_t j = 0; j < n; ++j)
        for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++k)
            d->lu[j * ld + (size_t)m->rowind[k]] = m->values[k];
}

/* rcond: the smallest pivot divided by the size of its column. After a failure swap is still -1
 * from the column on that has no pivot. */
ga_status ga_dense_factor(void *data, double *rcond, int *column)
{
    const dense *d = data;
    copy_values(d);
    for (int j = 0; j < d->n; ++j) d->swap[j] = -1;
    const double multiplier = d->kernels->factor_whole(d->n, d->lu, d->swap);
    if (multiplier < 0) {
        *rcond = 0;
        for (*column = 0; d->swap[*column] >= 0;) ++*column;
        return GA_ERR_SINGULAR;
    }
    double most = 0;
    for (int j = 0; j < d->n; ++j) {
        const double pivot = fabs(d->lu[(size_t)j * (size_t)(d->ld + 1)]) * d->matrix->size[j];
        if (pivot <= most) continue;
        most = pivot;
        *column = j;
    }
    *rcond = fmin(1 / most, 1);
    for (int c = 0; c < d->n; ++c) d->row[c] = c;
    for (int c = 0; c < d->n; ++c) {
        const int row = d->row[c];
        d->row[c] = d->row[d->swap[c]];
        d->row[d->swap[c]] = row;
    }
    return GA_OK;
}

void ga_dense_solve(void *data, bool rough, double *x)
{
    const dense *d = data;
    (void)rough;
    for (int c = 0; c < d->n; ++c) d->z[c] = x[d->row[c]];
    for (int c = d->n; c < d->ld; ++c) d->z[c] = 0;
    d->kernels->solve(d->n, d->lu, d->z);
    memcpy(x, d->z, (size_t)d->n * sizeof *x);
}

static void solve_scaled(void *data, bool rough, const double *row, const double *rhs,
                         const double *col, double *x)
{
    const dense *d = data;
    (void)rough;
    for (int c = 0; c < d->n; ++c) d->z[c] = rhs[d->row[c]] * row[d->row[c]];
    for (int c = d->n; c < d->ld; ++c) d->z[c] = 0;
    d->kernels->solve(d->n, d->lu, d->z);
    for (int c = 0; c < d->n; ++c) x[c] = d->z[c] * col[c];
}

void ga_dense_solve_transposed(void *data, double *x)
{
    const dense *d = data;
    for (int c = 0; c < d->n; ++c) {
        const double *u = d->lu + (ptrdiff_t)c * d->ld;
        for (int i = 0; i < c; ++i) x[c] -= u[i] * x[i];
        x[c] *= u[c];
    }
    for (int c = d->n - 1; c >= 0; --c) {
        const double *l = d->lu + (ptrdiff_t)c * d->ld;
        for (int i = c + 1; i < d->n; ++i) x[c] -= l[i] * x[i];
    }
    ga_front_swap_back(d->n, d->swap, x);
}

const ga_solver_table ga_solver_dense = {
    .analyse = ga_dense_analyse,
    .factor = ga_dense_factor,
    .solve = ga_dense_solve,
    .solve_scaled = solve_scaled,
    .solve_transposed = ga_dense_solve_transposed,
    .destroy = ga_dense_destroy,
};
