/* Index 3: dynamic equilibrium, Phi = 0 and k = 0 at t_{n+1}, [AB07] algorithm 1, [ABC14]
 * eq. (9). */
#include "base/report.h"
#include "integrate/stepper.h"

static ga_status residual(ga_stepper *s)
{
    double *k = s->newton.r + s->nv + s->m;
    ga_block_position(s, s->newton.r + s->nv); /* Phi/c_q            */
    if (s->p) {
        GA_TRY(ga_block_nonholonomic(s, s->trial.v, k)); /* k/c_v              */
        ga_block_divide(s->p, s->step.c_v, k);
    }
    return ga_block_dynamics(s, s->newton.r); /* M vd - f + G^T mu */
}

static void take_accelerations(void *data, int from, int end)
{
    const ga_stepper *s = data;
    for (int i = from; i < end; ++i) s->trial.vd[i] -= s->newton.x[i];
}

static void take_multipliers(void *data, int from, int end)
{
    const ga_stepper *s = data;
    for (int i = from; i < end; ++i) s->trial.lambda[i] -= s->newton.x[s->nv + i];
}

static void correct(ga_stepper *s)
{
    ga_cache_solve(s, s->newton.r, s->newton.x);
    ga_newton_measure(s, s->newton.x, s->newton.x, s->newton.x + s->nv);
    ga_pool_ranges(s->pool, s->nv, take_accelerations, s);
    ga_pool_ranges(s->pool, s->mp, take_multipliers, s);
}

extern const ga_formulation_type ga_formulation_index3;
const ga_formulation_type ga_formulation_index3 = {
    .name = "index3",
    .position = GA_AT_MULT,
    .start = GA_START_PERTURBED,
    .penalty = true,
    .terms = ga_terms_one_level,
    .term_count = GA_TERMS_ONE_LEVEL,
    .begin = ga_collocated_begin,
    .predict = ga_collocated_predict,
    .evaluate = ga_collocated_evaluate,
    .residual = residual,
    .correct = correct,
    .finish = ga_collocated_finish,
};
