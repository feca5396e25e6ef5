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

static void correct(ga_stepper *s)
{
    ga_cache_solve(s, s->newton.r, s->newton.x);
    const double *dvd = s->newton.x, *dl = dvd + s->nv;
    ga_newton_measure(s, dvd, dvd, dl);
    for (int i = 0; i < s->nv; ++i) s->trial.vd[i] -= dvd[i];
    for (int i = 0; i < s->mp; ++i) s->trial.lambda[i] -= dl[i];
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
