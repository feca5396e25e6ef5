/* Factorisation, independent of the backend: finiteness, the singularity test, dispatch. */
#include "la/factor.h"

#include "base/apart.h"
#include "base/finite.h"
#include "base/memory.h"
#include "la/backend.h"

#include <assert.h>
#include <float.h>
#include <math.h>

struct ga_factor {
    const ga_backend *backend;
    const ga_matrix *matrix;
    ga_pool *pool;
    void *data; /* null for an empty matrix */
    double rcond;
    int singular_column;
};

static const ga_backend *const backends[GA_BACKEND_COUNT] = {
#define GA_BACKEND(kind, table) [kind] = &table,
#include "la/backend.def"
#undef GA_BACKEND
};

ga_status ga_partition_create(int n, int groups, ga_partition *partition)
{
    *partition = (ga_partition){.groups = groups};
    partition->block_start = GA_NEW(int, (size_t)groups + 1);
    partition->row_block = GA_NEW(int, n);
    partition->col_block = GA_NEW(int, n);
    partition->constraint = GA_NEW(bool, groups);
    if (partition->block_start && partition->row_block && partition->col_block &&
        partition->constraint)
        return GA_OK;
    ga_partition_destroy(partition);
    return GA_ERR_MEMORY;
}

void ga_partition_destroy(ga_partition *partition)
{
    ga_free(partition->block_start);
    ga_free(partition->row_block);
    ga_free(partition->col_block);
    ga_free(partition->constraint);
    *partition = (ga_partition){0};
}

static ga_status create(const ga_matrix *matrix, ga_backend_kind kind,
                        const ga_partition *partition, ga_pool *pool, ga_factor **factor)
{
    *factor = NULL;
    ga_factor *f = GA_NEW(ga_factor, 1);
    if (!f) return GA_ERR_MEMORY;
    f->backend = backends[kind];
    f->matrix = matrix;
    f->pool = pool;
    f->rcond = 1;
    f->singular_column = -1;
    if (matrix->n > 0) {
        ga_status status = f->backend->create(matrix, partition, pool, &f->data);
        if (status != GA_OK) {
            ga_free(f);
            return status;
        }
    }
    *factor = f;
    return GA_OK;
}

ga_status ga_factor_create(const ga_matrix *matrix, ga_backend_kind kind, ga_factor **factor)
{
    return create(matrix, kind, NULL, NULL, factor);
}

ga_status ga_factor_create_blocks(const ga_matrix *matrix, const ga_partition *partition,
                                  ga_pool *pool, ga_factor **factor)
{
    return create(matrix, GA_BACKEND_BLOCK, partition, pool, factor);
}

void ga_factor_destroy(ga_factor *factor)
{
    if (!factor) return;
    if (factor->data) factor->backend->destroy(factor->data);
    ga_free(factor);
}

void ga_factor_use(ga_factor *factor, ga_pool *pool)
{
    factor->pool = pool;
    if (factor->data && factor->backend->use) factor->backend->use(factor->data, pool);
}

static int column_not_finite(const ga_matrix *m)
{
    for (int j = 0; j < m->n; ++j) {
        int start = m->full ? j * m->n : m->colptr[j];
        int end = m->full ? start + m->n : m->colptr[j + 1];
        if (!ga_all_finite(end - start, m->values + start)) return j;
    }
    return -1;
}

static ga_status judge(ga_factor *factor, ga_status status, double rcond, int column)
{
    if (status == GA_OK && !(rcond >= DBL_EPSILON)) status = GA_ERR_SINGULAR;
    if (status == GA_ERR_SINGULAR && column < 0) column = column_not_finite(factor->matrix);
    factor->rcond = isnan(rcond) ? 0 : rcond;
    factor->singular_column = status == GA_ERR_SINGULAR ? column : -1;
    return status;
}

/* NaN and Inf are looked for in the values: a NaN outside the diagonal blocks of KLU, or in
 * the last row of L, would never reach a pivot. The pivots show overflow on the way. */
static ga_status factorise(ga_factor *factor, const double *r, const double *c)
{
    const ga_backend *by = factor->backend;
    const ga_matrix *m = factor->matrix;
    if (!factor->data) return GA_OK;
    factor->rcond = 0;
    if (!by->looks && !ga_pool_finite(factor->pool, m->count, m->values)) {
        factor->singular_column = column_not_finite(m);
        return GA_ERR_SINGULAR;
    }
    int column = -1;
    double rcond = 0;
    const ga_status status = r ? by->numeric_scaled(factor->data, m, r, c, &rcond, &column)
                               : by->numeric(factor->data, m, &rcond, &column);
    return judge(factor, status, rcond, column);
}

ga_status ga_factor_numeric(ga_factor *factor) { return factorise(factor, NULL, NULL); }

ga_status ga_factor_numeric_scaled(ga_factor *factor, ga_matrix *matrix, const double *r,
                                   const double *c)
{
    assert(matrix == factor->matrix);
    if (factor->backend->numeric_scaled) return factorise(factor, r, c);
    ga_matrix_scale(matrix, r, c);
    return factorise(factor, NULL, NULL);
}

ga_status ga_factor_numeric_sum(ga_factor *factor, const ga_matrix_total *total)
{
    assert(total->matrix == factor->matrix);
    if (!factor->data || !factor->backend->numeric_sum) {
        ga_matrix_sum(total);
        return factorise(factor, NULL, NULL);
    }
    int column = -1;
    double rcond = 0;
    factor->rcond = 0;
    const ga_status status = factor->backend->numeric_sum(factor->data, total, &rcond, &column);
    return judge(factor, status, rcond, column);
}

void ga_factor_forget(ga_factor *factor)
{
    if (factor->data && factor->backend->forget) factor->backend->forget(factor->data);
}

double ga_factor_operations(const ga_factor *factor)
{
    bool known = factor->data && factor->backend->operations;
    return known ? factor->backend->operations(factor->data) : 0;
}

void ga_factor_share(ga_factor *factor, ga_factor *lender)
{
    if (!factor->data || !lender->data || factor->backend != lender->backend) return;
    if (factor->backend->share) factor->backend->share(factor->data, lender->data);
}

ga_status ga_factor_unshare(ga_factor *factor)
{
    if (!factor->data || !factor->backend->share) return GA_OK;
    return factor->backend->share(factor->data, NULL);
}

double *ga_factor_lend(ga_factor *factor)
{
    return factor->data && factor->backend->lend ? factor->backend->lend(factor->data) : NULL;
}

void ga_factor_solve(const ga_factor *factor, double *x)
{
    if (factor->data) factor->backend->solve(factor->data, x);
}

void ga_factor_solve_rough(const ga_factor *factor, double *x)
{
    if (factor->data && factor->backend->solve_rough)
        factor->backend->solve_rough(factor->data, x);
    else
        ga_factor_solve(factor, x);
}

double ga_factor_rcond(const ga_factor *factor) { return factor->rcond; }

int ga_factor_singular_column(const ga_factor *factor) { return factor->singular_column; }

/* By those that know nothing of scales. */
APART void solve_between(const ga_factor *factor, bool rough, const double *row,
                         const double *rhs, const double *col, double *x)
{
    const int n = factor->matrix->n;
    for (int i = 0; i < n; ++i) x[i] = rhs[i] * row[i];
    if (rough)
        ga_factor_solve_rough(factor, x);
    else
        ga_factor_solve(factor, x);
    for (int i = 0; i < n; ++i) x[i] *= col[i];
}

void ga_factor_solve_scaled(const ga_factor *factor, bool rough, const double *row,
                            const double *rhs, const double *col, double *x)
{
    const ga_backend *by = factor->backend;
    if (!factor->data || !by->solve_scaled)
        solve_between(factor, rough, row, rhs, col, x);
    else if (rough && by->solve_scaled_rough)
        by->solve_scaled_rough(factor->data, row, rhs, col, x);
    else
        by->solve_scaled(factor->data, row, rhs, col, x);
}
