/* SOI2, stabilised overdetermined index 2, [JN08] eq. (13): the weighted dynamics twice, for a~
 * and for a, with Phi = 0 and B v + Phi_t = 0, and k = 0 for v~ and v. See weighted.c.
 *
 * Newton. With e = a - a~ the linearised equations fall apart into a system of the shape of
 * index 3 for (a~, c lambda~, c psi~), rows R~, Phi, k(v~), and one with the plain saddle
 * matrix for e and the differences of the multipliers, rows R - R~, w:
 *
 *     [ M_1 + c c_v C + c c_q K T   G^T - L ] [ da~    ]   [ R~ ]
 *     [ B T;  N + (c_q/c_v) Z_N T      0    ] [ c dl~  ] = [ Phi/c_q;  k~/c_v ]
 *
 *     [ M_1   G^T - L ] [ de           ]   [ R - R~                                ]
 *     [ G        0    ] [ c d(l - l~)  ] = [ w/c_v - (G + (c_q/c_v) Z T) da~       ]
 *
 * The first knows of e through C only, which is left out there. Two matrices of nv + m + p
 * unknowns, one after the other, where the coupled system has twice as many.
 *
 * Reduced variant: psi~ = psi, (13b) and (13h) dropped; (13i) takes the place of (13h) in the
 * first system, and the second has no psi. */
#include "base/report.h"
#include "integrate/stepper.h"

#include <string.h>

/* R - R~ into the right-hand side of the second system. Without forces that depend on the
 * multipliers no second evaluation is needed: it is the formula without a number after [JN08]
 * (13i), M_1 (a - a~) + c G^T (lambda - lambda~), here in place of (13e). */
static ga_status difference(ga_stepper *s, const double *R_tilde, double *r)
{
    if (s->dae.sys.force_uses_multipliers) {
        GA_TRY(ga_weighted_dynamics(s, s->trial.vd, s->trial.lambda, r));
        for (int i = 0; i < s->nv; ++i) r[i] -= R_tilde[i];
        return GA_OK;
    }
    for (int i = 0; i < s->nv; ++i) s->work.one[i] = s->trial.vd[i] - s->trial.a_tilde[i];
    for (int i = 0; i < s->mp; ++i) s->at.mu[i] = s->trial.lambda[i] - s->trial.l_tilde[i];
    memset(r, 0, (size_t)s->nv * sizeof *r);
    ga_dae_add_inertia(&s->dae, s->at.M, s->work.one, r);
    ga_coords_multiply_transposed(&s->dae.G, s->trial.G, s->step.weight, s->at.mu, r);
    return GA_OK;
}

static ga_status residual(ga_stepper *s)
{
    double *rhs = s->second.rhs;
    ga_block_position(s, s->newton.r + s->nv);
    const double *v =
        s->def.reduced ? s->trial.v : s->at.v_tilde; /* (13h), or (13i) in its place */
    GA_TRY(ga_block_nonholonomic(s, v, s->newton.r + s->nv + s->m));
    ga_block_divide(s->p, s->step.c_v, s->newton.r + s->nv + s->m);
    GA_TRY(ga_weighted_dynamics(s, s->trial.a_tilde, s->trial.l_tilde, s->newton.r));
    GA_TRY(difference(s, s->newton.r, rhs));
    ga_block_velocity(s, rhs + s->nv);
    ga_block_divide(s->mp, s->step.c_v, rhs + s->nv);
    GA_TRY(ga_cache_check_residual(s, s->n, s->newton.r));
    return ga_cache_check_residual(s, s->nv + s->mp, rhs);
}

/* One pass through both systems: x of the first, then k->x of the second. */
static void solve_both(ga_stepper *s, const double *w)
{
    ga_saddle *k = &s->second;
    double *bottom = k->rhs + s->nv;
    ga_cache_solve(s, s->newton.r, s->newton.x);
    memcpy(bottom, w, (size_t)s->mp * sizeof *bottom);
    ga_coords_multiply(&s->dae.G, s->tangent.G, -1, s->newton.x, bottom);
    ga_coords_multiply(&s->terms.coords[GA_TERM_VELOCITY_STIFFNESS],
                       ga_source_values(s->terms.values[GA_TERM_VELOCITY_STIFFNESS]),
                       -s->step.c_q / s->step.c_v, s->newton.x, bottom);
    if (s->def.reduced) /* psi = psi~: no second psi */
        memset(bottom + s->m, 0, (size_t)s->p * sizeof *bottom);
    ga_saddle_solve(k, 1);
}

/* In the reduced variant the first system has k(v) with v from a = a~ + e, so it needs N de; a
 * second pass brings that in, and the damping forces of e as well. */
static void correct(ga_stepper *s)
{
    const ga_saddle *k = &s->second;
    memcpy(s->at.w, k->rhs + s->nv, (size_t)s->mp * sizeof *s->at.w);
    solve_both(s, s->at.w);
    if (s->def.reduced && s->p) {
        ga_coords_multiply(&s->dae.C, s->tangent.C, -s->step.weight * s->step.c_v, k->x,
                           s->newton.r);
        ga_coords_multiply(&s->dae.N, s->tangent.G + s->dae.B.count, -1, k->x,
                           s->newton.r + s->nv + s->m);
        solve_both(s, s->at.w);
    }
    const double *da = s->newton.x, *de = k->x, *dl = s->newton.x + s->nv, *dn = k->x + s->nv;
    double *plain = s->work.one;
    for (int i = 0; i < s->nv; ++i) {
        plain[i] = da[i] + de[i];
        s->trial.a_tilde[i] -= da[i];
        s->trial.vd[i] -= plain[i];
    }
    for (int i = 0; i < s->mp; ++i) {
        s->at.mu[i] = (dl[i] + dn[i]) / s->step.weight;
        s->trial.l_tilde[i] -= dl[i] / s->step.weight;
        s->trial.lambda[i] -= s->at.mu[i];
    }
    ga_newton_measure(s, da, plain, s->at.mu);
}

extern const ga_formulation_type ga_formulation_soi2;
const ga_formulation_type ga_formulation_soi2 = {
    .name = "soi2",
    .velocity_level = true,
    .weighted = true,
    .second_system = true,
    .position = GA_AT_MULT,
    .start = GA_START_SHIFTED,
    .terms = ga_terms_one_level,
    .term_count = GA_TERMS_ONE_LEVEL,
    .begin = ga_weighted_begin,
    .predict = ga_weighted_predict,
    .evaluate = ga_weighted_evaluate,
    .residual = residual,
    .correct = correct,
    .finish = ga_weighted_finish,
};
