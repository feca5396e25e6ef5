/* The saddle matrix on acceleration level, [ABC14] eq. (7):
 *
 *     [ M  G^T ] [ vd          ]   [ f ]
 *     [ G   0  ] [ lambda, psi ] = [ c ]
 *
 * used for consistent values, for the perturbation (56), for v'' by differences, and for the
 * second half of SOI2. Where the force depends on the multipliers, G^T becomes G^T - L. M may
 * be singular. Dependent rows of G: redundancy.c.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "system/consistent.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK_MASS, BLOCK_REACTION, BLOCK_FORCES, BLOCK_GRADIENT, BLOCK_DIAGONAL, BLOCK_COUNT };

static ga_status create_matrix(const ga_dae *dae, ga_backend_kind backend, ga_saddle *k)
{
    const ga_summand terms[BLOCK_COUNT] = {
        [BLOCK_MASS] = {&dae->M, 0, 0, NULL},
        [BLOCK_REACTION] = {&k->Gt, 0, dae->nv, NULL},
        [BLOCK_FORCES] = {&dae->L, 0, dae->nv, NULL},
        [BLOCK_GRADIENT] = {&dae->G, dae->nv, 0, NULL},
        [BLOCK_DIAGONAL] = {&k->redundancy->diagonal, dae->nv, dae->nv, NULL}};
    GA_TRY(ga_matrix_create(dae->nv + dae->mp, BLOCK_COUNT, terms, backend == GA_BACKEND_DENSE,
                            &k->matrix));
    return ga_linear_create_factor(dae, &k->matrix, backend, &k->factor);
}

ga_status ga_saddle_create(const ga_dae *dae, ga_redundancy *redundancy, ga_solver solver,
                           ga_saddle *k)
{
    const int n = dae->nv + dae->mp;
    k->dae = dae;
    k->redundancy = redundancy;
    k->singular = -1;
    k->Gt = ga_coords_transposed(&dae->G);
    GA_TRY(create_matrix(dae, ga_linear_backend(solver, n), k));
    if (ga_linear_prefers_full(solver, n, k->factor)) {
        ga_factor_destroy(k->factor);
        ga_matrix_destroy(&k->matrix);
        k->factor = NULL;
        GA_TRY(create_matrix(dae, GA_BACKEND_DENSE, k));
    }
    if (solver == GA_SOLVER_AUTO) GA_TRY(ga_ldl_create(&dae->M, &dae->G, &k->ldl));
    bool memory =
        (k->M = GA_NEW_WHOLE(double, dae->M.count)) &&
        (k->G = GA_NEW_WHOLE(double, dae->G.count)) && (k->L = GA_NEW(double, dae->L.count)) &&
        (k->row_scale = GA_NEW_WHOLE(double, n)) && (k->col_scale = GA_NEW_WHOLE(double, n)) &&
        (k->rhs = GA_NEW_WHOLE(double, 3 * (size_t)n)) &&
        (k->diagonal = GA_NEW(double, dae->mp)) && (k->kept = GA_NEW(double, dae->mp));
    if (!memory) return GA_ERR_MEMORY;
    k->x = k->rhs + n;
    k->defect = k->x + n;
    return GA_OK;
}

void ga_saddle_destroy(ga_saddle *k)
{
    ga_factor_destroy(k->factor);
    ga_ldl_destroy(k->ldl);
    ga_matrix_destroy(&k->matrix);
    void *memory[] = {k->diagonal, k->kept,      k->M,         k->G,
                      k->L,        k->row_scale, k->col_scale, k->rhs};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) ga_free(memory[i]);
    memset(k, 0, sizeof *k);
}

ga_status ga_saddle_use(ga_saddle *k, ga_pool *pool)
{
    if (!k->factor) return GA_OK;
    ga_factor_use(k->factor, pool);
    ga_matrix_use(&k->matrix, pool);
    return GA_OK;
}

/* Rows that are left out or zero have an equation of their own, their multiplier is 0; the
 * others get -e, which is no part of the equations. */
static void fill_diagonal(ga_saddle *k)
{
    ga_redundancy *g = k->redundancy;
    const int m = k->dae->m, mp = k->dae->mp;
    const bool holonomic = k->parts & GA_SADDLE_HOLONOMIC;
    k->eps = g->eps;
    if (g->active)
        ga_redundancy_diagonal(g, k->G, k->eps, k->diagonal);
    else
        memset(k->diagonal, 0, (size_t)mp * sizeof *k->diagonal);
    for (int i = m; holonomic && i < mp; ++i) k->diagonal[i] = 1;
    for (int i = 0; i < mp; ++i) {
        const bool out = (holonomic && i >= m) || (g->active && g->zero[i]);
        k->kept[i] = out ? k->diagonal[i] : 0;
    }
}

/* The power of two near x > 0, so that scaling is exact. */
static double power_of_two(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent);
}

/* Coordinates by their masses, rows of G by their largest entries then: otherwise inertias that
 * are small numbers beside the entries of G, as of a body of micrometres, look like zeros.
 * Coordinates without mass get the mean. */
static void scale_by_mass(ga_saddle *k)
{
    const ga_coords *M = &k->dae->M, *G = &k->dae->G;
    const int nv = k->dae->nv;
    double *d = k->row_scale, total = 0;
    int heavy = 0;
    memset(d, 0, (size_t)k->matrix.n * sizeof *d);
    for (ga_matrix_entry e = ga_entry_first(M); e.k < M->count; ga_entry_next(M, &e))
        if (e.row == e.col) d[e.row] += fabs(k->M[e.k]);
    for (int i = 0; i < k->dae->nm; ++i)
        if (d[i] > 0) total += d[i], ++heavy;
    for (int i = 0; i < nv; ++i)
        d[i] = heavy ? power_of_two(1 / sqrt(d[i] > 0 ? d[i] : total / heavy)) : 1;
    for (ga_matrix_entry e = ga_entry_first(G); e.k < G->count; ga_entry_next(G, &e)) {
        double *largest = &d[nv + e.row];
        *largest = ga_larger(*largest, fabs(k->G[e.k]) * d[e.col]);
    }
    for (int i = nv; i < k->matrix.n; ++i) d[i] = d[i] > 0 ? power_of_two(1 / d[i]) : 1;
    memcpy(k->col_scale, d, (size_t)k->matrix.n * sizeof *d);
}

/* Is G^T among the forces of the factored matrix? */
static bool has_reactions(const ga_saddle *k)
{
    return !(k->parts & GA_SADDLE_FORCES) || k->dae->reactions_added;
}

/* A light body between heavy ones makes small pivots without pivoting, each with the digits
 * that cancel. Below the first LU keeps more of them, below the second a sweep of refinement
 * pays. */
static const double LEAST_PIVOT = 1e-4, ROUGH_PIVOT = 1e-2;

bool ga_saddle_is_rough(const ga_saddle *k) { return k->definite && k->pivot < ROUGH_PIVOT; }

/* LDL^T, if that will do. */
static bool factor_definite(ga_saddle *k, ga_saddle_parts parts)
{
    const ga_saddle_parts others = GA_SADDLE_HOLONOMIC | GA_SADDLE_FORCES;
    const bool asked = parts & GA_SADDLE_DEFINITE && !(parts & others);
    k->definite = false;
    if (!asked || !k->ldl || k->redundancy->active) return false;
    k->pivot = ga_ldl_factor(k->ldl, k->M, k->G);
    k->definite = k->pivot >= LEAST_PIVOT;
    return k->definite;
}

/* Without scales, until the next factors that need them. */
static void forget_scales(ga_saddle *k) { k->row_scale[0] = 0; }
static bool has_scales(const ga_saddle *k) { return k->row_scale[0] > 0; }

ga_status ga_saddle_factor(ga_saddle *k, ga_saddle_parts parts)
{
    const ga_dae *dae = k->dae;
    const bool holonomic = parts & GA_SADDLE_HOLONOMIC;
    k->parts = parts;
    if (holonomic) /* G = [B; 0], and 1 on the diagonal of psi */
        memset(k->G + dae->B.count, 0, (size_t)dae->N.count * sizeof *k->G);
    fill_diagonal(k);
    if (k->factorizations) ++*k->factorizations;
    const bool nearby = parts & GA_SADDLE_SAME_SCALES;
    if (factor_definite(k, parts)) {
        if (!nearby) forget_scales(k);
        k->singular = -1;
        return GA_OK;
    }
    const bool same = nearby && has_scales(k);
    const bool diagonal = holonomic || k->redundancy->active;
    const ga_matrix_term terms[BLOCK_COUNT] = {
        [BLOCK_MASS] = {.scale = 1, .a = k->M},
        [BLOCK_REACTION] = {.scale = has_reactions(k), .a = k->G},
        [BLOCK_FORCES] = {.scale = parts & GA_SADDLE_FORCES ? -1 : 0, .a = k->L},
        [BLOCK_GRADIENT] = {.scale = 1, .a = k->G},
        [BLOCK_DIAGONAL] = {.scale = diagonal, .a = k->diagonal}};
    ga_matrix_sum(&k->matrix, terms, same ? k->row_scale : NULL, same ? k->col_scale : NULL);
    if (!same) {
        scale_by_mass(k);
        ga_matrix_equilibrate(&k->matrix, 3, k->row_scale, k->col_scale, k->x); /* and defect */
        ga_matrix_scale(&k->matrix, k->row_scale, k->col_scale);
    }
    const ga_status status = ga_factor_numeric(k->factor);
    k->pivot = ga_factor_rcond(k->factor);
    k->singular = status == GA_OK ? -1 : ga_factor_singular_column(k->factor);
    return status;
}

/* defect = rhs - A x, from the unscaled blocks. */
static void compute_defect(ga_saddle *k)
{
    const ga_dae *dae = k->dae;
    const int nv = dae->nv;
    memcpy(k->defect, k->rhs, (size_t)k->matrix.n * sizeof *k->rhs);
    ga_coords_multiply(&dae->M, k->M, -1, k->x, k->defect);
    if (has_reactions(k))
        ga_coords_multiply_transposed(&dae->G, k->G, -1, k->x + nv, k->defect);
    if (k->parts & GA_SADDLE_FORCES) ga_coords_multiply(&dae->L, k->L, 1, k->x + nv, k->defect);
    ga_coords_multiply(&dae->G, k->G, -1, k->x, k->defect + nv);
    for (int i = 0; i < dae->mp; ++i) k->defect[nv + i] -= k->kept[i] * k->x[nv + i];
}

void ga_saddle_solve_once(const ga_saddle *k, const double *rhs, double *x)
{
    if (k->definite)
        ga_ldl_solve(k->ldl, rhs, x);
    else
        ga_factor_solve_scaled(k->factor, false, k->row_scale, rhs, k->col_scale, x);
}

/* l - F^n l. F maps what is not in the null space to something small, see redundancy.c, and
 * F F to nothing. */
void ga_saddle_filter(ga_saddle *k, int passes, double *l)
{
    const int nv = k->dae->nv, mp = k->dae->mp;
    const double *part = l;
    double *x = k->defect;
    for (int pass = 0; pass < passes; ++pass) {
        for (int i = 0; i < mp; ++i) x[nv + i] = k->kept[i] != 0 ? 0 : k->diagonal[i] * part[i];
        memset(x, 0, (size_t)nv * sizeof *x);
        ga_saddle_solve_once(k, x, x);
        part = x + nv;
    }
    for (int i = 0; i < mp; ++i) l[i] -= part[i];
    /* forces that depend on l took part, so accelerations belong to what is taken out */
    if (!(k->parts & GA_SADDLE_FORCES) || l != k->x + nv) return;
    for (int i = 0; i < nv; ++i) k->x[i] -= x[i];
}

/* Are the multipliers of the solution in proportion to its accelerations? Then they have no
 * trace of null vectors. */
static bool is_clean(const ga_saddle *k)
{
    return ga_norm_max(k->dae->mp, k->x + k->dae->nv) <=
           k->typical_reaction * ga_norm_max(k->dae->nm, k->x);
}

/* Of n numbers, the largest change by the largest. */
static double relative(int n, const double *change, const double *x)
{
    const double size = ga_norm_max(n, change);
    return size > 0 ? size / ga_norm_max(n, x) : 0;
}

/* Increments shrink by a constant factor, so the last one times that factor is about the error
 * that is left. They end at the round-off of the equations. */
int ga_saddle_approach(ga_saddle *k, int most)
{
    static const double small = 1e-13, round_off = 1e-10;
    const int n = k->matrix.n, nv = k->dae->nv;
    double before = 1;
    for (int sweep = 1; sweep <= most; ++sweep) {
        compute_defect(k);
        ga_saddle_solve_once(k, k->defect, k->defect);
        for (int i = 0; i < n; ++i) k->x[i] += k->defect[i];
        const double change = ga_larger(relative(nv, k->defect, k->x),
                                        relative(n - nv, k->defect + nv, k->x + nv));
        if (change * change <= small * before) return sweep;
        if (!(change < 0.5 * before)) return change <= round_off ? sweep : 0;
        before = change;
    }
    return 0;
}

/* Sweeps are what makes up for -e. Without any, in the steps of SOI2, a solution without traces
 * of null vectors may stay as it is. */
void ga_saddle_solve(ga_saddle *k, int sweeps)
{
    const int n = k->matrix.n;
    if (k->redundancy->active && sweeps > 1) ++sweeps;
    memset(k->x, 0, (size_t)n * sizeof *k->x);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        if (sweep == 0)
            memcpy(k->defect, k->rhs, (size_t)n * sizeof *k->rhs);
        else
            compute_defect(k);
        ga_saddle_solve_once(k, k->defect, k->defect);
        for (int i = 0; i < n; ++i) k->x[i] += k->defect[i];
    }
    if (k->eps > 0 && !(sweeps == 1 && is_clean(k)))
        ga_saddle_filter(k, sweeps > 1 ? 2 : 1, k->x + k->dae->nv);
}
