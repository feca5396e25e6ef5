/* Rows of G that are zero or depend on each other, in saddle matrices.
 *
 * G with dependent rows makes the matrix [S G^T; G 0] singular. It gets -e on the diagonal of
 * the multipliers,
 *
 *     [ S  G^T ]                e_i = eps D_i,  D = diag(G M^-1 G^T) with the diagonal of M
 *     [ G   -e ]
 *
 * and -1 where a row of G is zero. Residuals stay exact, so the solution is that without e, and
 * Newton's method converges with the rate eps/a in a direction where A = G S^-1 G^T has the
 * eigenvalue a against D. F = K_e^-1 (0, -e) maps such a direction to eps/(a + eps) times
 * itself, and null vectors of G^T to themselves: x - F x is free of what the round-off of the
 * rows, divided by eps, has put there.
 *
 * The smallest a that does not belong to a null vector is found by inverse iteration; eps
 * follows it.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "system/consistent.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const double EPS_LARGEST = 1e-8;
static const double EPS_SMALLEST = 1e-12;
/* eps relative to the smallest eigenvalue. */
static const double EPS_RELATIVE = 1e-3;

ga_status ga_redundancy_create(const ga_dae *dae, ga_redundancy *g)
{
    const int n = dae->mp;
    GA_TRY(ga_coords_diagonal(n, &g->diagonal));
    g->dae = dae;
    bool memory = (g->D = GA_NEW(double, n)) && (g->length = GA_NEW(double, n)) &&
                  (g->weakest = GA_NEW(double, n)) && (g->rows = GA_NEW(double, n)) &&
                  (g->zero = GA_NEW(bool, n));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_redundancy_destroy(ga_redundancy *g)
{
    void *memory[] = {g->D, g->length, g->weakest, g->rows, g->zero};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_coords_destroy(&g->diagonal);
    ga_dependence_destroy(&g->found);
    memset(g, 0, sizeof *g);
}

void ga_redundancy_reset(ga_redundancy *g)
{
    g->active = false;
    g->eps = 0;
    g->rank = 0;
    memset(g->D, 0, (size_t)g->dae->mp * sizeof *g->D);
    ga_dependence_destroy(&g->found);
}

void ga_redundancy_copy(ga_redundancy *to, const ga_redundancy *from)
{
    to->active = from->active;
    to->eps = from->eps;
    memcpy(to->D, from->D, (size_t)to->dae->mp * sizeof *to->D);
}

void ga_redundancy_activate(ga_redundancy *g, bool dependent)
{
    g->active = true;
    if (dependent && !(g->eps > 0)) g->eps = EPS_LARGEST;
}

/* --- weights ------------------------------------------------------------------------------ */

/* Masses to divide by: of massless coordinates a small part of what their kind has on average.
 */
static void find_masses(const ga_dae *dae, const double *M, double *mass)
{
    double mean[2] = {0, 0};
    int count[2] = {0, 0};
    memset(mass, 0, (size_t)dae->nv * sizeof *mass);
    for (ga_matrix_entry e = ga_entry_first(&dae->M); e.k < dae->M.count;
         ga_entry_next(&dae->M, &e))
        if (e.row == e.col) mass[e.row] += fabs(M[e.k]);
    for (int i = 0; i < dae->nm; ++i) {
        mean[dae->kind[i]] += mass[i];
        ++count[dae->kind[i]];
    }
    for (int k = 0; k < 2; ++k) mean[k] = mean[k] > 0 ? mean[k] / count[k] : 1;
    for (int i = 0; i < dae->nv; ++i) mass[i] = ga_larger(mass[i], 1e-3 * mean[dae->kind[i]]);
}

void ga_redundancy_weigh(ga_redundancy *g, const double *M, const double *G, double *mass)
{
    const ga_coords *at = &g->dae->G;
    find_masses(g->dae, M, mass);
    memset(g->D, 0, (size_t)g->dae->mp * sizeof *g->D);
    for (ga_matrix_entry e = ga_entry_first(at); e.k < at->count; ga_entry_next(at, &e))
        g->D[e.row] += G[e.k] * G[e.k] / mass[e.col];
    memset(g->weakest, 0, (size_t)g->dae->mp * sizeof *g->weakest);
    g->seed = 1;
}

const double *ga_redundancy_lengths(ga_redundancy *g, const double *G)
{
    const ga_coords *at = &g->dae->G;
    memset(g->length, 0, (size_t)g->dae->mp * sizeof *g->length);
    for (ga_matrix_entry e = ga_entry_first(at); e.k < at->count; ga_entry_next(at, &e))
        g->length[e.row] += G[e.k] * G[e.k];
    return g->length;
}

void ga_redundancy_diagonal(ga_redundancy *g, const double *G, double eps, double *value)
{
    const double *length = ga_redundancy_lengths(g, G);
    for (int i = 0; i < g->dae->mp; ++i) {
        g->zero[i] = !(length[i] > 0);
        if (g->D[i] == 0 && !g->zero[i]) g->D[i] = length[i]; /* switched on since */
        value[i] = g->zero[i] ? -1 : -eps * g->D[i];
    }
}

/* --- the smallest eigenvalue -------------------------------------------------------------- */

/* In (-1, 1); a linear congruential generator (Knuth's MMIX), so that results repeat. */
static double next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* Adds some of every direction: the weakest one may have no part in the last. */
static void mix(ga_redundancy *g)
{
    const int n = g->dae->mp;
    const double part = 0.3 / sqrt((double)n);
    for (int i = 0; i < n; ++i) {
        const double x = next_random(&g->seed);
        if (g->D[i] > 0) g->weakest[i] += part * x / sqrt(g->D[i]);
    }
}

/* Takes null vectors out: when the inverse makes them grow they are to be below eps/a, and a
 * pass leaves round-off/eps of them. One pass is not enough for the round-off of the block
 * solver: two hinges on one axis seemed to be near a singular position. */
static void take_null_out(ga_redundancy *g, ga_solve_rows *solve, void *user,
                          const double *diagonal, double eps)
{
    const int n = g->dae->mp, passes = eps > 0 ? (eps > 1e-9 ? 2 : 3) : 0;
    for (int pass = 0; pass < passes; ++pass) {
        for (int i = 0; i < n; ++i) g->rows[i] = diagonal[i] * g->weakest[i];
        const double *null = solve(user, g->rows);
        for (int i = 0; i < n; ++i) g->weakest[i] -= null[i];
    }
}

/* From the last weakest direction; the eigenvalue is a Rayleigh quotient. */
static double iterate(ga_redundancy *g, ga_solve_rows *solve, void *user,
                      const double *diagonal, double eps, int iterations)
{
    const int n = g->dae->mp;
    double *rows = g->rows, *weakest = g->weakest, least = INFINITY;
    mix(g);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        take_null_out(g, solve, user, diagonal, eps);
        for (int i = 0; i < n; ++i) rows[i] = g->D[i] * weakest[i];
        const double *l = solve(user, rows);
        double size = 0, product = 0;
        for (int i = 0; i < n; ++i) {
            size += g->D[i] * l[i] * l[i];
            product += rows[i] * l[i];
        }
        const bool usable = size > DBL_MIN && size < INFINITY;
        for (int i = 0; i < n; ++i) weakest[i] = usable ? l[i] / sqrt(size) : 0;
        if (!usable) return INFINITY;
        least = fabs(product) / size;
    }
    return least;
}

double ga_redundancy_smallest(ga_redundancy *g, ga_solve_rows *solve, void *user,
                              const double *diagonal, double eps, int iterations)
{
    const double least = iterate(g, solve, user, diagonal, eps, iterations);
    if (g->eps > 0)
        g->eps = ga_smaller(ga_larger(EPS_RELATIVE * least, EPS_SMALLEST), EPS_LARGEST);
    return least;
}
