/* The formulations, and what they share: predictions, the dynamic residual and the constraints
 * on two levels, all at the trial.
 *
 * Augmented Lagrangian, [DYM] eqs. (16) and (26): lambda is replaced by mu = lambda + p Phi in
 * the dynamics, which by (17) adds c_q p B^T B T to the first block of the iteration matrix.
 * Phi = 0 in the end, so the solution is the same.
 */
#include "base/report.h"
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

#define GA_FORMULATION(name, object) extern const ga_formulation_type object;
#include "integrate/formulation.def"
#undef GA_FORMULATION

const ga_formulation_type *ga_formulation_get(ga_formulation formulation)
{
    static const ga_formulation_type *const table[GA_FORMULATION_COUNT] = {
#define GA_FORMULATION(name, object) [name] = &object,
#include "integrate/formulation.def"
#undef GA_FORMULATION
    };
    return (unsigned)formulation < GA_FORMULATION_COUNT ? table[formulation] : NULL;
}

/* --- predictions: polynomials through values of steps before ------------------------------ */

/* The parabola through the last three values. Degrees of three to five were tried: first
 * increments become smaller, but noise is amplified, and a contraction rate can no longer be
 * estimated from them. */
void ga_step_extrapolate(const ga_stepper *s, int n, const double *x0, double *const *old,
                         double *result)
{
    const ga_state *now = &s->now;
    const double h = s->step.h, h1 = now->h, h2 = now->h_old, *x1 = old[0], *x2 = old[1];
    if (now->steps == 0 || s->mode.steady)
        memcpy(result, x0, (size_t)n * sizeof *x0);
    else if (now->steps == 1)
        for (int i = 0; i < n; ++i) result[i] = x0[i] + h / h1 * (x0[i] - x1[i]);
    else
        for (int i = 0; i < n; ++i) {
            const double d0 = (x0[i] - x1[i]) / h1, d1 = (x1[i] - x2[i]) / h2;
            result[i] = x0[i] + h * (d0 + (d0 - d1) * (h + h1) / (h1 + h2));
        }
}

/* --- blocks of residuals --- */

ga_status ga_block_force(ga_stepper *s, const double *multipliers, const double **f)
{
    *f = s->at.f;
    if (!s->dae.sys.force_uses_multipliers) return GA_OK;
    const ga_point at =
        ga_dae_point(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.vd, multipliers);
    return ga_dae_force(&s->dae, &at, s->at.f);
}

const double *ga_block_augmented(ga_stepper *s)
{
    const double p = s->tangent.penalty;
    if (p == 0) return s->trial.lambda;
    for (int i = 0; i < s->mp; ++i)
        s->at.mu[i] = s->trial.lambda[i] + (i < s->m ? p * s->at.Phi[i] : 0); /* (26) */
    return s->at.mu;
}

/* M vd - f + G^T mu. */
ga_status ga_block_dynamics(ga_stepper *s, double *r)
{
    const double *f, *mu;
    if (ga_cache_has(s, GA_VALID_DYNAMICS) && r == s->newton.r) return GA_OK;
    mu = ga_block_augmented(s);
    GA_TRY(ga_block_force(s, mu, &f));
    ga_dae_inertia_less(&s->dae, s->at.M, s->trial.vd, f, r);
    if (s->dae.reactions_added) ga_coords_multiply_transposed(&s->dae.G, s->trial.G, 1, mu, r);
    return GA_OK;
}

void ga_block_position(ga_stepper *s, double *r)
{
    for (int i = 0; i < s->m; ++i) r[i] = s->at.Phi[i] / s->step.c_q;
}

void ga_block_velocity(ga_stepper *s, double *w)
{
    const size_t size = (size_t)s->mp * sizeof *w;
    if (ga_stepper_has_rate(s))
        memcpy(w, s->at.rate, size);
    else
        memset(w, 0, size);
    ga_coords_multiply(&s->dae.B, s->trial.G, 1, s->trial.v, w);
}

ga_status ga_block_nonholonomic(ga_stepper *s, const double *v, double *k)
{
    if (s->p == 0) return GA_OK;
    if (v != s->trial.v) return ga_dae_nonholonomic(&s->dae, s->step.t1, s->trial.q, v, k);
    memcpy(k, s->at.rate + s->m, (size_t)s->p * sizeof *k);
    return GA_OK;
}

void ga_block_divide(int n, double c, double *r)
{
    for (int i = 0; i < n; ++i) r[i] /= c;
}
