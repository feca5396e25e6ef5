/* Formulations that satisfy a weighted mean of the dynamics, [JN08] eq. (13). Translation:
 * y, z, g, k, alpha there are q, v, Phi, k, Delta_alpha here; a and a~ without an index are
 * a_{n+1+alpha} and a~_{n+1+alpha} there, (M a)_n is M_{n+alpha} a_{n+alpha}.
 *
 *     (13d)  (1-alpha_m) M_1 a~ + alpha_m (M a)_n = (1-alpha_f) F(lambda~, psi~) + alpha_f F_n
 *     (13e)  (1-alpha_m) M_1 a  + alpha_m (M a)_n = (1-alpha_f) F(lambda,  psi ) + alpha_f F_n
 *
 * F = f - G^T (lambda, psi) at t_{n+1}; q_{n+1} follows from a~, v_{n+1} from a. M_1 = M at
 * t_n + (1 + Delta_alpha) h and q_n o exp((1 + Delta_alpha) h v_n) is known before the
 * iteration. Both are divided by 1 - alpha_m and read
 *
 *     R~ = M_1 a~ + rest - c F(lambda~, psi~) = 0,     c = (1-alpha_f)/(1-alpha_m)
 *     R  = M_1 a  + rest - c F(lambda,  psi ) = 0
 *     rest = (alpha_m (M a)_n - alpha_f F_n)/(1-alpha_m)
 *
 * Here on Lie groups, with rheonomic constraints: nothing else changes.
 *
 * trial.vd holds a, not v', until ga_weighted_finish: v'_{n+1}, which the scheme does not need,
 * then follows from the recursion that defines a.
 */
#include "base/report.h"
#include "integrate/stepper.h"

#include <string.h>

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* M at t_n + x h on the line through q_n, v_n. */
static ga_status mass_ahead(ga_stepper *s, double x, double *M)
{
    const ga_state *now = &s->now;
    if (s->dae.M_known) return ga_dae_mass(&s->dae, now->t, now->q, M);
    for (int i = 0; i < s->nv; ++i) s->work.one[i] = x * s->step.h * s->known.v[i];
    ga_dae_update(&s->dae, GA_MAP_EXP, now->q, s->work.one, s->trial.q);
    return ga_dae_mass(&s->dae, now->t + x * s->step.h, s->trial.q, M);
}

ga_status ga_weighted_begin(ga_stepper *s)
{
    const ga_coefficients *p = &s->def.coefficients;
    const double h = s->step.h, am = p->alpha_m, af = p->alpha_f, shift = s->properties.shift;
    s->step.weight = (1 - af) / (1 - am);
    s->step.c_q = h * h * p->beta;
    s->step.c_v = h * p->gamma;
    if (s->now.steps == 0 || s->def.mass_average == GA_MASS_RECOMPUTED) {
        GA_TRY(mass_ahead(s, shift, s->at.M));
        memset(s->known.Ma, 0, (size_t)s->nv * sizeof *s->known.Ma);
        ga_dae_add_inertia(&s->dae, s->at.M, s->known.a, s->known.Ma);
    }
    GA_TRY(mass_ahead(s, 1 + shift, s->at.M));
    for (int i = 0; i < s->nv; ++i) {
        s->known.U[i] = h * (s->known.v[i] + h * (0.5 - p->beta) * s->known.a[i]);
        s->known.v0[i] = s->known.v[i] + h * (1 - p->gamma) * s->known.a[i];
        s->known.rest[i] = (am * s->known.Ma[i] - af * s->now.F[i]) / (1 - am);
    }
    return GA_OK;
}

/* a, which approximates v'(t_{n+1} + Delta_alpha h), is extrapolated from its own history, into
 * trial.vd; a~ - a and lambda~ - lambda as in the step before. */
void ga_weighted_predict(ga_stepper *s)
{
    const ga_state *now = &s->now;
    if (now->steps == 0)
        copy(s->trial.vd, now->a, s->nv);
    else
        for (int i = 0; i < s->nv; ++i) {
            double slope = (now->a[i] - now->a_used[i]) / now->h;
            s->trial.vd[i] = s->known.a[i] + s->step.h * slope;
        }
    ga_step_extrapolate(s, s->mp, now->lambda, now->lambda_old, s->trial.lambda);
    for (int i = 0; i < s->nv; ++i)
        s->trial.a_tilde[i] = s->trial.vd[i] + (now->steps ? now->a_tilde[i] - now->a[i] : 0);
    for (int i = 0; i < s->mp; ++i)
        s->trial.l_tilde[i] =
            s->trial.lambda[i] + (now->steps ? now->l_tilde[i] - now->lambda[i] : 0);
}

/* [JN08] (13a)-(13c), from a in trial.vd and a~. Without a velocity level a = a~. */
void ga_weighted_evaluate(ga_stepper *s)
{
    const double *a = s->form->velocity_level ? s->trial.vd : s->trial.a_tilde;
    for (int i = 0; i < s->nv; ++i) {
        s->at.U[i] = s->known.U[i] + s->step.c_q * s->trial.a_tilde[i];        /* (13a) */
        s->trial.v[i] = s->known.v0[i] + s->step.c_v * a[i];                   /* (13c) */
        s->at.v_tilde[i] = s->known.v0[i] + s->step.c_v * s->trial.a_tilde[i]; /* (13b) */
    }
    ga_dae_update(&s->dae, s->def.map, s->now.q, s->at.U, s->trial.q);
}

/* r = M_1 a + rest - c F(multipliers): [JN08] (13d) for a~, lambda~, psi~, (13e) for a, lambda,
 * psi, both divided by 1 - alpha_m. Where forces do not depend on multipliers, SOI2 has the
 * difference of the two in place of (13e): formulation_soi2.c. */
ga_status ga_weighted_dynamics(ga_stepper *s, const double *a, const double *multipliers,
                               double *r)
{
    const ga_dae *dae = &s->dae;
    const double *f;
    GA_TRY(ga_block_force(s, multipliers, &f));
    for (int i = 0; i < s->nv; ++i) r[i] = s->known.rest[i] - s->step.weight * f[i];
    ga_dae_add_inertia(dae, s->at.M, a, r);
    if (dae->reactions_added)
        ga_coords_multiply_transposed(&dae->G, s->trial.G, s->step.weight, multipliers, r);
    return GA_OK;
}

/* a, v', M a and F: F from (13e), v' from the recursion for a. trial.vd is v' from here on. */
void ga_weighted_finish(ga_stepper *s)
{
    const ga_coefficients *p = &s->def.coefficients;
    const double am = p->alpha_m, af = p->alpha_f;
    copy(s->trial.a, s->trial.vd, s->nv);
    memset(s->at.Ma, 0, (size_t)s->nv * sizeof *s->at.Ma);
    ga_dae_add_inertia(&s->dae, s->at.M, s->trial.a, s->at.Ma);
    for (int i = 0; i < s->nv; ++i) {
        s->at.F[i] = (s->at.Ma[i] + s->known.rest[i]) / s->step.weight;
        s->trial.vd[i] =
            ((1 - am) * s->trial.a[i] + am * s->known.a[i] - af * s->now.vd[i]) / (1 - af);
    }
}
