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
 * multipliers no second evaluation is needed. */
static ga_status difference(ga_stepper *s, const double *R_tilde, double *r)
{
    if (s->dae.sys.force_uses_multipliers) {
        GA_TRY(ga_weighted_dynamics(s, s->vd, s->lambda, r));
        for (int i = 0; i < s->nv; ++i) r[i] -= R_tilde[i];
        return GA_OK;
    }
    for (int i = 0; i < s->nv; ++i) s->work[i] = s->vd[i] - s->a_tilde[i];
    for (int i = 0; i < s->mp; ++i) s->mu[i] = s->lambda[i] - s->l_tilde[i];
    memset(r, 0, (size_t)s->nv * sizeof *r);
    ga_dae_add_inertia(&s->dae, s->M, s->work, r);
    ga_coords_multiply_transposed(&s->dae.G, s->G, s->weight, s->mu, r);
    return GA_OK;
}

static ga_status residual(ga_stepper *s)
{
    double *rhs = s->second.rhs;
    ga_block_position(s, s->r + s->nv);
    const double *v = s->def.reduced ? s->v : s->v_tilde; /* (13h), or (13i) in its place */
    GA_TRY(ga_block_nonholonomic(s, v, s->r + s->nv + s->m));
    ga_block_divide(s->p, s->c_v, s->r + s->nv + s->m);
    GA_TRY(ga_weighted_dynamics(s, s->a_tilde, s->l_tilde, s->r));
    GA_TRY(difference(s, s->r, rhs));
    ga_block_velocity(s, rhs + s->nv);
    ga_block_divide(s->mp, s->c_v, rhs + s->nv);
    GA_TRY(ga_block_look(s, s->n, s->r));
    return ga_block_look(s, s->nv + s->mp, rhs);
}

/* One pass through both systems: x of the first, then k->x of the second. */
static void solve_both(ga_stepper *s, const double *w)
{
    ga_saddle *k = &s->second;
    double *bottom = k->rhs + s->nv;
    ga_block_solve(s, s->r, s->x);
    memcpy(bottom, w, (size_t)s->mp * sizeof *bottom);
    ga_coords_multiply(&s->dae.G, s->G_tangent, -1, s->x, bottom);
    ga_coords_multiply(&s->term_coords[GA_TERM_VELOCITY_STIFFNESS],
                       ga_source_values(s->term_values[GA_TERM_VELOCITY_STIFFNESS]),
                       -s->c_q / s->c_v, s->x, bottom);
    if (s->def.reduced) /* psi = psi~: no second psi */
        memset(bottom + s->m, 0, (size_t)s->p * sizeof *bottom);
    ga_saddle_solve(s, k, 1);
}

/* In the reduced variant the first system has k(v) with v from a = a~ + e, so it needs N de; a
 * second pass brings that in, and the damping forces of e as well. */
static void correct(ga_stepper *s)
{
    const ga_saddle *k = &s->second;
    memcpy(s->w, k->rhs + s->nv, (size_t)s->mp * sizeof *s->w);
    solve_both(s, s->w);
    if (s->def.reduced && s->p) {
        ga_coords_multiply(&s->dae.C, s->C, -s->weight * s->c_v, k->x, s->r);
        ga_coords_multiply(&s->dae.N, s->G_tangent + s->dae.B.count, -1, k->x,
                           s->r + s->nv + s->m);
        solve_both(s, s->w);
    }
    const double *da = s->x, *de = k->x, *dl = s->x + s->nv, *dn = k->x + s->nv;
    double *plain = s->work;
    for (int i = 0; i < s->nv; ++i) {
        plain[i] = da[i] + de[i];
        s->a_tilde[i] -= da[i];
        s->vd[i] -= plain[i];
    }
    for (int i = 0; i < s->mp; ++i) {
        s->mu[i] = (dl[i] + dn[i]) / s->weight;
        s->l_tilde[i] -= dl[i] / s->weight;
        s->lambda[i] -= s->mu[i];
    }
    ga_newton_measure(s, da, plain, s->mu);
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
