/* The block solver as one of the solvers: refinement, and KLU where pivots within fronts do not
 * serve. README.md in this folder says how it works. */
#include "la/block/block.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/solver.h"

#include <string.h>

/* So many times KLU does better, and it stays. */
enum { PATIENCE = 3 };

static void destroy(void *data)
{
    ga_fronts *s = data;
    for (int p = 0; s->part && p <= s->parts; ++p) ga_free(s->part[p].memory);
    void *memory[] = {s->front,  s->child_start, s->child, s->row,  s->col,
                      s->others, s->run,         s->joins, s->swap, s->factors,
                      s->stack,  s->part,        s->above, s->y,    s->defect};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    if (s->klu) ga_solver_klu.destroy(s->klu);
    ga_free(s);
}

static ga_status analyse(const ga_matrix *matrix, const ga_partition *partition, void **data)
{
    if (matrix->full || !partition) return GA_ERR_ARGUMENT;
    ga_fronts *s = GA_NEW(ga_fronts, 1);
    if (!s) return GA_ERR_MEMORY;
    s->matrix = matrix;
    s->kernels = ga_front_kernels_get();
    s->n = matrix->n;
    const ga_status status = ga_fronts_plan(s, partition);
    if (status == GA_OK)
        *data = s;
    else
        destroy(s);
    return status;
}

static ga_status factor_by_klu(ga_fronts *s, double *rcond, int *column)
{
    if (!s->klu) GA_TRY(ga_solver_klu.analyse(s->matrix, NULL, &s->klu));
    s->use_klu = true;
    return ga_solver_klu.factor(s->klu, rcond, column);
}

/* A matrix is singular only if KLU says so. KLU has done better if its pivots are much larger;
 * where the fronts have no pivots, or grown ones, their rcond is 0. */
static ga_status factor(void *data, double *rcond, int *column)
{
    ga_fronts *s = data;
    if (s->failures >= PATIENCE) return factor_by_klu(s, rcond, column);
    s->use_klu = false;
    if (ga_fronts_factor(s, rcond, column)) return GA_OK;
    const double by_fronts = *rcond;
    GA_TRY(factor_by_klu(s, rcond, column));
    if (*rcond > 100 * by_fronts) ++s->failures;
    return GA_OK;
}

static void forget(void *data)
{
    ga_fronts *s = data;
    s->failures = 0;
    if (s->klu && ga_solver_klu.forget) ga_solver_klu.forget(s->klu);
}

/* How often KLU did better, and its pivots. */
static size_t save(const void *data, void *bytes)
{
    const ga_fronts *s = data;
    char *to = bytes;
    if (to) memcpy(to, &s->failures, sizeof s->failures);
    if (!s->klu || !ga_solver_klu.save) return sizeof s->failures;
    return sizeof s->failures + ga_solver_klu.save(s->klu, to ? to + sizeof s->failures : NULL);
}

static ga_status load(void *data, const void *bytes, size_t size)
{
    ga_fronts *s = data;
    if (size < sizeof s->failures) return GA_ERR_ARGUMENT;
    memcpy(&s->failures, bytes, sizeof s->failures);
    size -= sizeof s->failures;
    if (size && !s->klu) GA_TRY(ga_solver_klu.analyse(s->matrix, NULL, &s->klu));
    if (!s->klu || !ga_solver_klu.load) return size ? GA_ERR_ARGUMENT : GA_OK;
    return ga_solver_klu.load(s->klu, (const char *)bytes + sizeof s->failures, size);
}

static void solve_once(ga_fronts *s, bool transposed, double *x)
{
    if (transposed)
        ga_fronts_solve_transposed(s, x);
    else
        ga_fronts_solve(s, x);
}

static void solve_refined(ga_fronts *s, bool transposed, double *x)
{
    memcpy(s->defect, x, (size_t)s->n * sizeof *x);
    solve_once(s, transposed, x);
    (transposed ? ga_matrix_multiply_transposed : ga_matrix_multiply)(s->matrix, -1, x,
                                                                      s->defect);
    solve_once(s, transposed, s->defect);
    for (int i = 0; i < s->n; ++i) x[i] += s->defect[i];
}

static void solve(void *data, bool rough, double *x)
{
    ga_fronts *s = data;
    if (s->use_klu)
        ga_solver_klu.solve(s->klu, rough, x);
    else if (rough ? s->refine_rough : s->refine)
        solve_refined(s, false, x);
    else
        solve_once(s, false, x);
}

static void solve_transposed(void *data, double *x)
{
    ga_fronts *s = data;
    if (s->use_klu)
        ga_solver_klu.solve_transposed(s->klu, x);
    else if (s->refine)
        solve_refined(s, true, x);
    else
        solve_once(s, true, x);
}

static double operations(const void *data) { return ((const ga_fronts *)data)->flops; }

static void use(void *data, ga_pool *pool) { ((ga_fronts *)data)->pool = pool; }

const ga_solver_table ga_solver_block = {
    .analyse = analyse,
    .factor = factor,
    .solve = solve,
    .solve_transposed = solve_transposed,
    .use = use,
    .forget = forget,
    .save = save,
    .load = load,
    .operations = operations,
    .destroy = destroy,
};
