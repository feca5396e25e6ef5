/* Index 3: dynamic equilibrium and Phi = 0 at t_{n+1}, [AB07] algorithm 1, [ABC14] eq. (9). */
#include "base/report.h"
#include "integrate/stepper.h"

static ga_status residual(ga_stepper *s, double *r)
{
    ga_block_position(s, r + s->nv); /* Phi/c_q           */
    return ga_block_dynamics(s, r);  /* M vd - f + B^T mu */
}

static void correct(ga_stepper *s, const double *x)
{
    for (int i = 0; i < s->nv; ++i) s->vd[i] -= x[i];
    for (int i = 0; i < s->m; ++i) s->lambda[i] -= x[s->nv + i];
    s->delta_q = s->c_q * ga_norm_max(s->nv, x);
    s->delta_v = s->c_v * ga_norm_max(s->nv, x);
    s->delta_lambda = ga_norm_max(s->m, x + s->nv);
}

static const ga_term_place terms[] = {
    {GA_TERM_MASS, 0, 0},     {GA_TERM_DAMPING, 0, 0},  {GA_TERM_STIFFNESS, 0, 0},
    {GA_TERM_PENALTY, 0, 0},  {GA_TERM_REACTION, 0, 1}, {GA_TERM_FORCE_LAMBDA, 0, 1},
    {GA_TERM_POSITION, 1, 0},
};

extern const ga_formulation_type ga_formulation_index3;
const ga_formulation_type ga_formulation_index3 = {
    .name = "index3",
    .constraint_rows = 1,
    .start = GA_START_PERTURBED,
    .penalty = true,
    .terms = terms,
    .term_count = sizeof terms / sizeof *terms,
    .residual = residual,
    .correct = correct,
};
