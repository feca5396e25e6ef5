/* The saddle system on acceleration level, [ABC14] eq. (7):
 *
 *     [ M  G^T ] [ vd          ]   [ f ]
 *     [ G   0  ] [ lambda, psi ] = [ c ]
 *
 * used for consistent starts, for the perturbation (56), for v'' by differences, and for the
 * second half of SOI2. Where the force depends on the multipliers, G^T becomes G^T - L and the
 * system is solved by Newton's method. M may be singular.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK_MASS, BLOCK_REACTION, BLOCK_FORCES, BLOCK_GRADIENT, BLOCK_DIAGONAL, BLOCK_COUNT };

/* Each sweep refines the one before; from so many unknowns on the factors need not do it, too.
 */
enum { ROUGH_FROM = 4096 };

ga_status ga_saddle_create(ga_stepper *s, ga_saddle *k)
{
    const ga_dae *dae = &s->dae;
    int n = s->nv + s->mp;
    k->Gt = ga_coords_transposed(&dae->G);
    const ga_block blocks[BLOCK_COUNT] = {
        [BLOCK_MASS] = {&dae->M, 0, 0},
        [BLOCK_REACTION] = {&k->Gt, 0, s->nv},
        [BLOCK_FORCES] = {&dae->L, 0, s->nv},
        [BLOCK_GRADIENT] = {&dae->G, s->nv, 0},
        [BLOCK_DIAGONAL] = {&s->regular.multipliers, s->nv, s->nv}};
    GA_TRY(ga_matrix_create(n, BLOCK_COUNT, blocks, s->jacobian.matrix.full, &k->matrix));
    GA_TRY(ga_block_create_factor(s, &k->matrix, &k->factor));
    bool memory =
        (k->M = GA_NEW_WHOLE(double, dae->M.count)) &&
        (k->G = GA_NEW_WHOLE(double, dae->G.count)) && (k->L = GA_NEW(double, dae->L.count)) &&
        (k->row_scale = GA_NEW_WHOLE(double, n)) && (k->col_scale = GA_NEW_WHOLE(double, n)) &&
        (k->x = GA_NEW_WHOLE(double, n)) && (k->rhs = GA_NEW_WHOLE(double, n)) &&
        (k->defect = GA_NEW_WHOLE(double, n)) && (k->diagonal = GA_NEW(double, s->mp)) &&
        (k->kept = GA_NEW(double, s->mp));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_saddle_destroy(ga_saddle *k)
{
    ga_factor_destroy(k->factor);
    ga_matrix_destroy(&k->matrix);
    void *memory[] = {k->diagonal,  k->kept,      k->M, k->G,   k->L,
                      k->row_scale, k->col_scale, k->x, k->rhs, k->defect};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) ga_free(memory[i]);
    memset(k, 0, sizeof *k);
}

/* Rows that are left out or zero have an equation of their own, their multiplier is 0; the
 * others get -e, which is no part of the equations. */
static void fill_diagonal(ga_stepper *s, ga_saddle *k)
{
    k->eps = s->regular.eps_next;
    if (s->regular.active)
        ga_regular_diagonal(s, k->G, k->eps, k->diagonal);
    else
        memset(k->diagonal, 0, (size_t)s->mp * sizeof *k->diagonal);
    for (int i = s->m; k->holonomic && i < s->mp; ++i) k->diagonal[i] = 1;
    for (int i = 0; i < s->mp; ++i) {
        bool out = (k->holonomic && i >= s->m) || (s->regular.active && s->regular.off[i]);
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
static void scale_by_mass(const ga_stepper *s, ga_saddle *k)
{
    const ga_coords *M = &s->dae.M, *G = &s->dae.G;
    double *d = k->row_scale, total = 0;
    int heavy = 0;
    memset(d, 0, (size_t)k->matrix.n * sizeof *d);
    for (int e = 0; e < M->count; ++e)
        if (M->row[e] == M->col[e]) d[M->row[e]] += fabs(k->M[e]);
    for (int i = 0; i < s->nv; ++i)
        if (d[i] > 0) total += d[i], ++heavy;
    for (int i = 0; i < s->nv; ++i)
        d[i] = heavy ? power_of_two(1 / sqrt(d[i] > 0 ? d[i] : total / heavy)) : 1;
    for (int e = 0; e < G->count; ++e) {
        double *largest = &d[s->nv + G->row[e]];
        *largest = ga_larger(*largest, fabs(k->G[e]) * d[G->col[e]]);
    }
    for (int i = s->nv; i < k->matrix.n; ++i) d[i] = d[i] > 0 ? power_of_two(1 / d[i]) : 1;
    memcpy(k->col_scale, d, (size_t)k->matrix.n * sizeof *d);
}

ga_status ga_saddle_factor(ga_stepper *s, ga_saddle *k, bool holonomic, bool with_forces)
{
    k->holonomic = holonomic;
    k->with_forces = with_forces;
    if (holonomic) /* G = [B; 0], and 1 on the diagonal of psi */
        memset(k->G + s->dae.B.count, 0, (size_t)s->dae.N.count * sizeof *k->G);
    ga_matrix_clear(&k->matrix);
    ga_matrix_add(&k->matrix, BLOCK_MASS, 1, k->M);
    if (!with_forces || s->dae.reactions_added)
        ga_matrix_add(&k->matrix, BLOCK_REACTION, 1, k->G);
    if (with_forces) ga_matrix_add(&k->matrix, BLOCK_FORCES, -1, k->L);
    ga_matrix_add(&k->matrix, BLOCK_GRADIENT, 1, k->G);
    fill_diagonal(s, k);
    if (holonomic || s->regular.active)
        ga_matrix_add(&k->matrix, BLOCK_DIAGONAL, 1, k->diagonal);
    scale_by_mass(s, k);
    ga_matrix_equilibrate(&k->matrix, 3, k->row_scale, k->col_scale, s->jacobian.scale_work);
    ++s->stats.factorizations;
    ga_matrix_scale(&k->matrix, k->row_scale, k->col_scale);
    ga_status status = ga_factor_numeric(k->factor);
    if (status != GA_OK) s->jacobian.singular = ga_factor_singular_column(k->factor);
    return status;
}

ga_status ga_saddle_factor_at(ga_stepper *s, double t, const double *q, const double *v,
                              bool holonomic)
{
    if (s->start.saddle.here) return GA_OK;
    GA_TRY(ga_dae_mass(&s->dae, t, q, s->start.saddle.M));
    GA_TRY(ga_dae_gradient(&s->dae, t, q, v, s->start.saddle.G));
    return ga_saddle_factor(s, &s->start.saddle, holonomic, false);
}

/* defect = rhs - A x, from the unscaled blocks. */
static void compute_defect(const ga_stepper *s, ga_saddle *k)
{
    const ga_dae *dae = &s->dae;
    memcpy(k->defect, k->rhs, (size_t)k->matrix.n * sizeof *k->rhs);
    ga_coords_multiply(&dae->M, k->M, -1, k->x, k->defect);
    if (!k->with_forces || dae->reactions_added)
        ga_coords_multiply_transposed(&dae->G, k->G, -1, k->x + s->nv, k->defect);
    if (k->with_forces) ga_coords_multiply(&dae->L, k->L, 1, k->x + s->nv, k->defect);
    ga_coords_multiply(&dae->G, k->G, -1, k->x, k->defect + s->nv);
    for (int i = 0; i < s->mp; ++i) k->defect[s->nv + i] -= k->kept[i] * k->x[s->nv + i];
}

void ga_saddle_solve_once(ga_saddle *k, const double *rhs, double *x)
{
    ga_factor_solve_scaled(k->factor, false, k->row_scale, rhs, k->col_scale, x);
}

void ga_saddle_solve_roughly(ga_saddle *k, const double *rhs, double *x)
{
    const bool rough = k->matrix.n >= ROUGH_FROM;
    ga_factor_solve_scaled(k->factor, rough, k->row_scale, rhs, k->col_scale, x);
}

/* l - F^n l: without its part in the null space of G^T. F maps the other directions to
 * something small, see regular.c, and F F to nothing. */
static void filter(const ga_stepper *s, ga_saddle *k, int n, double *l)
{
    const double *part = l;
    double *x = k->defect;
    for (int pass = 0; pass < n; ++pass) {
        for (int i = 0; i < s->mp; ++i)
            x[s->nv + i] = k->kept[i] != 0 ? 0 : k->diagonal[i] * part[i];
        memset(x, 0, (size_t)s->nv * sizeof *x);
        ga_saddle_solve_once(k, x, x);
        part = x + s->nv;
    }
    for (int i = 0; i < s->mp; ++i) l[i] -= part[i];
    /* forces that depend on l took part, so accelerations belong to what is taken out */
    for (int i = 0; k->with_forces && l == k->x + s->nv && i < s->nv; ++i) k->x[i] -= x[i];
}

/* Sweeps are what makes up for -e. Without any, in the steps of SOI2, a solution without traces
 * of null vectors may stay as it is. */
void ga_saddle_solve(const ga_stepper *s, ga_saddle *k, int sweeps)
{
    int n = k->matrix.n;
    if (s->regular.active && sweeps > 1) ++sweeps;
    memset(k->x, 0, (size_t)n * sizeof *k->x);
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        if (sweep == 0)
            memcpy(k->defect, k->rhs, (size_t)n * sizeof *k->rhs);
        else
            compute_defect(s, k);
        for (int i = 0; i < n; ++i) k->defect[i] *= k->row_scale[i];
        if (sweeps > 1 && n >= ROUGH_FROM)
            ga_factor_solve_rough(k->factor, k->defect);
        else
            ga_factor_solve(k->factor, k->defect);
        for (int i = 0; i < n; ++i) k->x[i] += k->col_scale[i] * k->defect[i];
    }
    const bool clean = sweeps == 1 && ga_regular_is_clean(s, k->x, k->x + s->nv);
    if (k->eps > 0 && !clean) filter(s, k, sweeps > 1 ? 2 : 1, k->x + s->nv);
}

static bool is_zero(int n, const double *x)
{
    for (int i = 0; i < n; ++i)
        if (x[i] != 0) return false;
    return true;
}

/* Starts at rest, and models drawn with care, have nothing to lift. */
void ga_saddle_lift(ga_stepper *s, const double *bottom, double *y)
{
    ga_saddle *k = &s->start.saddle;
    if (is_zero(s->mp, bottom)) {
        memset(y, 0, (size_t)s->nv * sizeof *y);
        return;
    }
    memset(k->rhs, 0, (size_t)s->nv * sizeof *k->rhs);
    memcpy(k->rhs + s->nv, bottom, (size_t)s->mp * sizeof *k->rhs);
    ga_saddle_solve(s, k, 2);
    memcpy(y, k->x, (size_t)s->nv * sizeof *y);
}

/* Of dependent constraints Newton's method keeps what lies in the null space of G^T. */
static ga_status minimise_guess(ga_stepper *s, double *multipliers)
{
    ga_saddle *k = &s->start.saddle;
    if (!(s->regular.eps_next > 0)) return GA_OK;
    GA_TRY(ga_saddle_factor(s, k, false, false));
    filter(s, k, 2, multipliers);
    return GA_OK;
}

/* Size of accelerations and multipliers together: the latter by the accelerations that the
 * reactions G^T mult would cause alone, by the diagonal of M. So where reactions and forces
 * cancel, as in a body at rest, round-off of vd is relative to them; and where there are no
 * reactions, round-off of mult to vd. Uses k->defect. */
static double size_of(const ga_stepper *s, ga_saddle *k, const double *mass, const double *vd,
                      const double *multipliers)
{
    const ga_coords *G = &s->dae.G;
    double *force = k->defect, size = ga_norm_max(s->nv, vd);
    memset(force, 0, (size_t)s->nv * sizeof *force);
    for (int i = 0; i < G->count; ++i)
        force[G->col[i]] += fabs(k->G[i] * multipliers[G->row[i]]);
    for (int i = 0; i < s->nv; ++i)
        if (mass[i] > 0 && !(force[i] / mass[i] <= size)) size = force[i] / mass[i];
    return size;
}

static void find_masses(const ga_stepper *s, const ga_saddle *k, double *mass)
{
    const ga_coords *M = &s->dae.M;
    memset(mass, 0, (size_t)s->nv * sizeof *mass);
    for (int i = 0; i < M->count; ++i)
        if (M->row[i] == M->col[i]) mass[M->row[i]] += k->M[i];
}

/* M vd - f(mult) [+ G^T mult] = 0, G vd = c by Newton's method in (vd, mult). */
static ga_status solve_nonlinear(ga_stepper *s, double t, const double *q, const double *v,
                                 double *vd, double *multipliers)
{
    ga_saddle *k = &s->start.saddle;
    ga_dae *dae = &s->dae;
    const double *c = s->work.c;
    double *mass = s->work.f; /* free here: forces change with mult */
    GA_TRY(minimise_guess(s, multipliers));
    find_masses(s, k, mass);
    memset(vd, 0, (size_t)s->nv * sizeof *vd);
    double before = INFINITY;
    for (int iteration = 0; iteration < 50; ++iteration) {
        ga_point at = ga_dae_point(dae, t, q, v, vd, multipliers);
        GA_TRY(ga_dae_dynamics(dae, &at, k->M, k->G, k->rhs));
        for (int i = 0; i < s->mp; ++i) k->rhs[s->nv + i] = -c[i];
        ga_coords_multiply(&dae->G, k->G, 1, vd, k->rhs + s->nv);
        GA_TRY(ga_dae_force_multipliers(dae, &at, k->L));
        GA_TRY(ga_saddle_factor(s, k, false, true));
        ga_saddle_solve(s, k, 2);
        for (int i = 0; i < s->nv; ++i) vd[i] -= k->x[i];
        for (int i = 0; i < s->mp; ++i) multipliers[i] -= k->x[s->nv + i];
        const double change = size_of(s, k, mass, k->x, k->x + s->nv);
        const double size = size_of(s, k, mass, vd, multipliers);
        if (change <= 16 * DBL_EPSILON * size) return GA_OK;
        if (change >= 0.5 * before && change <= 1e-11 * size) return GA_OK; /* round-off */
        before = change;
    }
    return GA_ERR_NO_CONVERGE;
}

ga_status ga_saddle_acceleration(ga_stepper *s, double t, const double *q, const double *v,
                                 double *vd, double *multipliers)
{
    ga_saddle *k = &s->start.saddle;
    ga_dae *dae = &s->dae;
    if (!k->here) {
        GA_TRY(ga_dae_mass(dae, t, q, k->M));
        GA_TRY(ga_dae_gradient(dae, t, q, v, k->G));
    }
    GA_TRY(ga_dae_acceleration_rhs(dae, t, q, v, s->work.c));
    if (dae->sys.force_uses_multipliers) return solve_nonlinear(s, t, q, v, vd, multipliers);
    ga_point at = {.t = t, .q = q, .v = v};
    GA_TRY(ga_dae_force(dae, &at, s->work.f));
    if (!k->here) GA_TRY(ga_saddle_factor(s, k, false, false));
    memcpy(k->rhs, s->work.f, (size_t)s->nv * sizeof *k->rhs);
    memcpy(k->rhs + s->nv, s->work.c, (size_t)s->mp * sizeof *k->rhs);
    ga_saddle_solve(s, k, 2);
    memcpy(vd, k->x, (size_t)s->nv * sizeof *vd);
    memcpy(multipliers, k->x + s->nv, (size_t)s->mp * sizeof *multipliers);
    return GA_OK;
}
