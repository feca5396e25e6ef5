/* What the formulations share: the dynamic residual and the constraints on two levels, all at
 * the trial.
 *
 * Augmented Lagrangian, [DYM] eqs. (16) and (26): lambda is replaced by mu = lambda + p Phi in
 * the dynamics, which by (17) adds c_q p B^T B T to the first block of the iteration matrix.
 * Phi = 0 in the end, so the solution is the same.
 */
#include "base/report.h"
#include "integrate/stepper.h"

#include <string.h>

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
