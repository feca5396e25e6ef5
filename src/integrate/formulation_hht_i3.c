/* HHT-I3, generalised to the four numbers: the weighted dynamics with Phi = 0 alone, [JN08]
 * eq. (17) without delta~, (17c) and (17f). It drifts on velocity level with O(h^2); here for
 * comparison. See weighted.c; a~ = a, lambda~ = lambda. */
#include "base/report.h"
#include "integrate/stepper.h"

#include <string.h>

static ga_status residual(ga_stepper *s)
{
    ga_block_position(s, s->newton.r + s->nv);
    GA_TRY(ga_block_nonholonomic(s, s->at.v_tilde, s->newton.r + s->nv + s->m));
    ga_block_divide(s->p, s->step.c_v, s->newton.r + s->nv + s->m);
    GA_TRY(ga_weighted_dynamics(s, s->trial.a_tilde, s->trial.l_tilde, s->newton.r));
    return ga_cache_check_residual(s, s->n, s->newton.r);
}

/* x = (da, c d lambda). */
static void correct(ga_stepper *s)
{
    ga_cache_solve(s, s->newton.r, s->newton.x);
    for (int i = 0; i < s->nv; ++i) s->trial.a_tilde[i] -= s->newton.x[i];
    for (int i = 0; i < s->mp; ++i)
        s->trial.l_tilde[i] -= s->newton.x[s->nv + i] / s->step.weight;
    memcpy(s->trial.vd, s->trial.a_tilde, (size_t)s->nv * sizeof *s->trial.vd);
    memcpy(s->trial.lambda, s->trial.l_tilde, (size_t)s->mp * sizeof *s->trial.lambda);
    ga_newton_measure(s, s->newton.x, s->newton.x, s->newton.x + s->nv);
    s->newton.delta_lambda /= s->step.weight;
}

extern const ga_formulation_type ga_formulation_hht_i3;
const ga_formulation_type ga_formulation_hht_i3 = {
    .name = "hht-i3",
    .weighted = true,
    .position = GA_AT_MULT,
    .start = GA_START_PERTURBED,
    .terms = ga_terms_one_level,
    .term_count = GA_TERMS_ONE_LEVEL,
    .begin = ga_weighted_begin,
    .predict = ga_weighted_predict,
    .evaluate = ga_weighted_evaluate,
    .residual = residual,
    .correct = correct,
    .finish = ga_weighted_finish,
};
