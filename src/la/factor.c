/* Factorisation, independent of the solver: finiteness, the singularity test, dispatch. */
#include "la/factor.h"

#include "base/memory.h"
#include "la/solver.h"

#include <float.h>
#include <math.h>

struct ga_factor {
    const ga_solver_table *solver;
    ga_matrix *matrix;
    void *data; /* null for an empty matrix */
    double rcond;
    int singular_column;
};

static const ga_solver_table *const solvers[GA_BACKEND_COUNT] = {
#define GA_SOLVER(kind, table) [kind] = &table,
#include "la/solver.def"
#undef GA_SOLVER
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

static ga_status create(ga_matrix *matrix, ga_backend_kind kind, const ga_partition *partition,
                        ga_factor **factor)
{
    *factor = NULL;
    ga_factor *f = GA_NEW(ga_factor, 1);
    if (!f) return GA_ERR_MEMORY;
    *f = (ga_factor){solvers[kind], matrix, NULL, 1, -1};
    const ga_status status =
        matrix->n > 0 ? f->solver->analyse(matrix, partition, &f->data) : GA_OK;
    if (status == GA_OK)
        *factor = f;
    else
        ga_free(f);
    return status;
}

ga_status ga_factor_create(ga_matrix *matrix, ga_backend_kind kind, ga_factor **factor)
{
    return create(matrix, kind, NULL, factor);
}

ga_status ga_factor_create_blocks(ga_matrix *matrix, const ga_partition *partition,
                                  ga_factor **factor)
{
    return create(matrix, GA_BACKEND_BLOCK, partition, factor);
}

void ga_factor_destroy(ga_factor *factor)
{
    if (!factor) return;
    if (factor->data) factor->solver->destroy(factor->data);
    ga_free(factor);
}

void ga_factor_use(ga_factor *factor, ga_pool *pool)
{
    if (factor->data && factor->solver->use) factor->solver->use(factor->data, pool);
}

/* NaN and Inf are looked for in the values: a NaN outside the diagonal blocks of KLU, or in
 * the last row of L, would never reach a pivot. The pivots show overflow on the way. */
ga_status ga_factor_numeric(ga_factor *factor)
{
    const ga_matrix *m = factor->matrix;
    if (!factor->data) return GA_OK;
    int column = -1;
    double rcond = 0;
    ga_status status = GA_ERR_SINGULAR;
    if (ga_matrix_measure(factor->matrix)) {
        status = factor->solver->factor(factor->data, &rcond, &column);
        if (status == GA_OK && !(rcond >= DBL_EPSILON)) status = GA_ERR_SINGULAR;
    } else {
        for (column = 0; m->size[column] < INFINITY;) ++column;
    }
    factor->matrix->measured = false; /* values may be written to from now on */
    factor->rcond = isnan(rcond) ? 0 : rcond;
    factor->singular_column = status == GA_ERR_SINGULAR ? column : -1;
    return status;
}

ga_status ga_factor_numeric_scaled(ga_factor *factor, const double *r, const double *c)
{
    ga_matrix_scale(factor->matrix, r, c);
    return ga_factor_numeric(factor);
}

void ga_factor_forget(ga_factor *factor)
{
    if (factor->data && factor->solver->forget) factor->solver->forget(factor->data);
}

size_t ga_factor_save(const ga_factor *factor, void *bytes)
{
    const bool keeps = factor->data && factor->solver->save;
    return keeps ? factor->solver->save(factor->data, bytes) : 0;
}

ga_status ga_factor_load(ga_factor *factor, const void *bytes, size_t size)
{
    if (factor->data && factor->solver->load)
        return factor->solver->load(factor->data, bytes, size);
    return size ? GA_ERR_ARGUMENT : GA_OK;
}

double ga_factor_operations(const ga_factor *factor)
{
    const bool known = factor->data && factor->solver->operations;
    return known ? factor->solver->operations(factor->data) : 0;
}

void ga_factor_solve(const ga_factor *factor, double *x)
{
    if (factor->data) factor->solver->solve(factor->data, false, x);
}

void ga_factor_solve_rough(const ga_factor *factor, double *x)
{
    if (factor->data) factor->solver->solve(factor->data, true, x);
}

void ga_factor_solve_transposed(const ga_factor *factor, double *x)
{
    if (factor->data) factor->solver->solve_transposed(factor->data, x);
}

double ga_factor_rcond(const ga_factor *factor) { return factor->rcond; }

int ga_factor_singular_column(const ga_factor *factor) { return factor->singular_column; }

void ga_factor_solve_scaled(const ga_factor *factor, bool rough, const double *row,
                            const double *rhs, const double *col, double *x)
{
    const int n = factor->matrix->n;
    if (!factor->data) return;
    if (factor->solver->solve_scaled) {
        factor->solver->solve_scaled(factor->data, rough, row, rhs, col, x);
        return;
    }
    for (int i = 0; i < n; ++i) x[i] = rhs[i] * row[i];
    factor->solver->solve(factor->data, rough, x);
    for (int i = 0; i < n; ++i) x[i] *= col[i];
}
