/* In place of klu.c where the library is built without KLU: LU on a full matrix, which is as
 * safe and takes more time and memory. */
#include "la/solver.h"

const bool ga_factor_has_klu = false;

static ga_status analyse(const ga_matrix *matrix, const ga_partition *partition, void **data)
{
    return ga_solver_dense.analyse(matrix, partition, data);
}

static ga_status factor(void *data, double *rcond, int *column)
{
    return ga_solver_dense.factor(data, rcond, column);
}

static void solve(void *data, bool rough, double *x) { ga_solver_dense.solve(data, rough, x); }

static void solve_transposed(void *data, double *x)
{
    ga_solver_dense.solve_transposed(data, x);
}

/* Pivots are chosen anew for every matrix. */
static void forget(void *data) { (void)data; }

static size_t save(const void *data, void *bytes)
{
    (void)data;
    (void)bytes;
    return 0;
}

static ga_status load(void *data, const void *bytes, size_t size)
{
    (void)data;
    (void)bytes;
    return size ? GA_ERR_ARGUMENT : GA_OK;
}

static void destroy(void *data) { ga_solver_dense.destroy(data); }

const ga_solver_table ga_solver_klu = {
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .solve_transposed = solve_transposed,
    .forget = forget,
    .save = save,
    .load = load,
    .destroy = destroy,
};
