/* The saddle system on acceleration level, [ABC14] eq. (7):
 *
 *     [ M  B^T ] [ vd     ]   [ f ]
 *     [ B   0  ] [ lambda ] = [ c ]
 *
 * used for consistent starts, for the perturbation (56), and for v'' by differences. Where the
 * force depends on lambda, B^T becomes B^T - L and the system is solved by Newton's method.
 * M may be singular. Solutions are refined once, so their error does not show in lambda_0.
 */
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { BLOCK_MASS, BLOCK_REACTION, BLOCK_LAMBDA, BLOCK_GRADIENT, BLOCK_COUNT };

ga_status ga_saddle_create(ga_stepper *s)
{
    ga_saddle *k = &s->saddle;
    const ga_dae *dae = &s->dae;
    int n = s->nv + s->m;
    k->Bt = ga_coords_transposed(&dae->B);
    const ga_block place[BLOCK_COUNT] = {[BLOCK_MASS] = {&dae->M, 0, 0},
                                         [BLOCK_REACTION] = {&k->Bt, 0, s->nv},
                                         [BLOCK_LAMBDA] = {&dae->L, 0, s->nv},
                                         [BLOCK_GRADIENT] = {&dae->B, s->nv, 0}};
    GA_TRY(ga_matrix_create(n, BLOCK_COUNT, place, s->matrix.full, &k->matrix));
    GA_TRY(ga_factor_create(&k->matrix, s->matrix.full ? GA_BACKEND_DENSE : GA_BACKEND_KLU,
                            &k->factor));
    bool memory =
        (k->M = GA_NEW(double, dae->M.count)) && (k->B = GA_NEW(double, dae->B.count)) &&
        (k->L = GA_NEW(double, dae->L.count)) && (k->row_scale = GA_NEW(double, n)) &&
        (k->col_scale = GA_NEW(double, n)) && (k->scale_work = GA_NEW(double, 2 * n)) &&
        (k->x = GA_NEW(double, n)) && (k->rhs = GA_NEW(double, n)) &&
        (k->defect = GA_NEW(double, n)) && (k->lambda = GA_NEW(double, s->m)) &&
        (k->f = GA_NEW(double, s->nv)) && (k->c = GA_NEW(double, s->m)) &&
        (k->q = GA_NEW(double, s->nq)) && (k->v = GA_NEW(double, s->nv)) &&
        (k->vd[0] = GA_NEW(double, s->nv)) && (k->vd[1] = GA_NEW(double, s->nv)) &&
        (k->guess = GA_NEW(double, s->m)) && (k->step = GA_NEW(double, s->nv));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_saddle_destroy(ga_saddle *k)
{
    ga_factor_destroy(k->factor);
    ga_matrix_destroy(&k->matrix);
    void *memory[] = {k->M, k->B,   k->L,      k->row_scale, k->col_scale, k->scale_work,
                      k->x, k->rhs, k->defect, k->lambda,    k->f,         k->c,
                      k->q, k->v,   k->vd[0],  k->vd[1],     k->guess,     k->step};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) ga_free(memory[i]);
    memset(k, 0, sizeof *k);
}

/* Factors [M, reaction B^T - L; B, 0]; with_lambda false leaves L out and has B^T in full. */
static ga_status factor(ga_stepper *s, bool with_lambda)
{
    ga_saddle *k = &s->saddle;
    k->with_lambda = with_lambda;
    ga_matrix_clear(&k->matrix);
    ga_matrix_add(&k->matrix, BLOCK_MASS, 1, k->M);
    if (!with_lambda || s->dae.reactions_added)
        ga_matrix_add(&k->matrix, BLOCK_REACTION, 1, k->B);
    if (with_lambda) ga_matrix_add(&k->matrix, BLOCK_LAMBDA, -1, k->L);
    ga_matrix_add(&k->matrix, BLOCK_GRADIENT, 1, k->B);
    for (int i = 0; i < k->matrix.n; ++i) k->row_scale[i] = k->col_scale[i] = 1;
    ga_matrix_equilibrate(&k->matrix, 3, k->row_scale, k->col_scale, k->scale_work);
    ga_matrix_scale(&k->matrix, k->row_scale, k->col_scale);
    ++s->stats.factorizations;
    ga_status status = ga_factor_numeric(k->factor);
    if (status != GA_OK) s->singular = ga_factor_singular_column(k->factor);
    return status;
}

ga_status ga_saddle_factor(ga_stepper *s, double t, const double *q)
{
    GA_TRY(ga_dae_mass(&s->dae, t, q, s->saddle.M));
    GA_TRY(ga_dae_gradient(&s->dae, t, q, s->saddle.B));
    return factor(s, false);
}

/* defect = rhs - A x, from the unscaled blocks. */
static void compute_defect(ga_stepper *s)
{
    ga_saddle *k = &s->saddle;
    const ga_dae *dae = &s->dae;
    memcpy(k->defect, k->rhs, (size_t)k->matrix.n * sizeof *k->rhs);
    ga_coords_multiply(&dae->M, k->M, -1, k->x, k->defect);
    if (!k->with_lambda || dae->reactions_added)
        ga_coords_multiply_transposed(&dae->B, k->B, -1, k->x + s->nv, k->defect);
    if (k->with_lambda) ga_coords_multiply(&dae->L, k->L, 1, k->x + s->nv, k->defect);
    ga_coords_multiply(&dae->B, k->B, -1, k->x, k->defect + s->nv);
}

/* x = A^-1 rhs, refined once. */
static void solve(ga_stepper *s)
{
    ga_saddle *k = &s->saddle;
    int n = k->matrix.n;
    memset(k->x, 0, (size_t)n * sizeof *k->x);
    for (int sweep = 0; sweep < 2; ++sweep) {
        compute_defect(s);
        for (int i = 0; i < n; ++i) k->defect[i] *= k->row_scale[i];
        ga_factor_solve(k->factor, k->defect);
        for (int i = 0; i < n; ++i) k->x[i] += k->col_scale[i] * k->defect[i];
    }
}

static void set(double *to, const double *from, int n)
{
    if (from)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        memset(to, 0, (size_t)n * sizeof *to);
}

void ga_saddle_solve(ga_stepper *s, const double *top, const double *bottom, double *y,
                     double *z)
{
    ga_saddle *k = &s->saddle;
    set(k->rhs, top, s->nv);
    set(k->rhs + s->nv, bottom, s->m);
    solve(s);
    if (y) memcpy(y, k->x, (size_t)s->nv * sizeof *y);
    if (z) memcpy(z, k->x + s->nv, (size_t)s->m * sizeof *z);
}

/* M vd - f(lambda) [+ B^T lambda] = 0, B vd = c by Newton's method in (vd, lambda). */
static ga_status solve_nonlinear(ga_stepper *s, ga_point at, double *vd, double *lambda)
{
    ga_saddle *k = &s->saddle;
    ga_dae *dae = &s->dae;
    memset(vd, 0, (size_t)s->nv * sizeof *vd);
    double before = INFINITY;
    for (int iteration = 0; iteration < 50; ++iteration) {
        at.vd = vd;
        at.lambda = lambda;
        GA_TRY(ga_dae_dynamics(dae, &at, k->M, k->B, k->rhs));
        for (int i = 0; i < s->m; ++i) k->rhs[s->nv + i] = -k->c[i];
        ga_coords_multiply(&dae->B, k->B, 1, vd, k->rhs + s->nv);
        GA_TRY(ga_dae_force_lambda(dae, &at, k->L));
        GA_TRY(factor(s, true));
        solve(s);
        for (int i = 0; i < s->nv; ++i) vd[i] -= k->x[i];
        for (int i = 0; i < s->m; ++i) lambda[i] -= k->x[s->nv + i];
        double change = ga_norm_max(s->nv, k->x) + ga_norm_max(s->m, k->x + s->nv);
        double size = ga_norm_max(s->nv, vd) + ga_norm_max(s->m, lambda);
        if (change <= 16 * DBL_EPSILON * size) return GA_OK;
        if (change >= 0.5 * before && change <= 1e-11 * size) return GA_OK; /* round-off */
        before = change;
    }
    return GA_ERR_NO_CONVERGE;
}

ga_status ga_saddle_acceleration(ga_stepper *s, double t, const double *q, const double *v,
                                 double *vd, double *lambda)
{
    ga_saddle *k = &s->saddle;
    ga_dae *dae = &s->dae;
    GA_TRY(ga_dae_mass(dae, t, q, k->M));
    GA_TRY(ga_dae_gradient(dae, t, q, k->B));
    GA_TRY(ga_dae_acceleration_rhs(dae, t, q, v, k->c));
    ga_point at = {.t = t, .q = q, .v = v};
    if (dae->sys.force_uses_lambda) return solve_nonlinear(s, at, vd, lambda);
    GA_TRY(ga_dae_force(dae, &at, k->f));
    GA_TRY(factor(s, false));
    ga_saddle_solve(s, k->f, k->c, vd, lambda);
    return GA_OK;
}
