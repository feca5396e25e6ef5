/* Stabilised index 2: also B v + Phi_t = 0 at t_{n+1}; eta corrects the increment of q, [ABC14]
 * eq. (58). */
#include "base/report.h"
#include "integrate/stepper.h"

#include <string.h>

static ga_status residual(ga_stepper *s)
{
    ga_block_velocity(s, s->r + s->nv); /* (B v + Phi_t, k)/c_v */
    ga_block_divide(s->mp, s->c_v, s->r + s->nv);
    ga_block_position(s, s->r + s->nv + s->mp); /* Phi/c_q              */
    GA_TRY(ga_block_dynamics(s, s->r));         /* M vd - f + G^T mu    */
    return ga_block_look(s, s->n, s->r);
}

/* d vd = u + B_n^T x, d eta = (c_q/h) x. */
static void correct(ga_stepper *s)
{
    ga_block_solve(s, s->r, s->x);
    const double *restrict u = s->x, *restrict dl = u + s->nv, *restrict dx = dl + s->mp;
    const double c_eta = s->c_q / s->h;
    double *restrict vd = s->vd, *restrict lambda = s->lambda, *restrict eta = s->eta;
    double *restrict dvd = s->work;
    memcpy(dvd, u, (size_t)s->nv * sizeof *dvd);
    ga_coords_multiply_transposed(&s->dae.B, s->now.G, 1, dx, dvd);
    for (int i = 0; i < s->nv; ++i) vd[i] -= dvd[i];
    for (int i = 0; i < s->mp; ++i) lambda[i] -= dl[i];
    for (int i = 0; i < s->m; ++i) eta[i] -= c_eta * dx[i];
    ga_step_measure(s, u, dvd, dl);
}

static const ga_term_place terms[] = {
    {GA_TERM_MASS, GA_AT_U, GA_AT_U},
    {GA_TERM_DAMPING, GA_AT_U, GA_AT_U},
    {GA_TERM_STIFFNESS, GA_AT_U, GA_AT_U},
    {GA_TERM_REACTION, GA_AT_U, GA_AT_MULT},
    {GA_TERM_FORCE_MULTIPLIERS, GA_AT_U, GA_AT_MULT},
    {GA_TERM_VELOCITY, GA_AT_MULT, GA_AT_U},
    {GA_TERM_VELOCITY_STIFFNESS, GA_AT_MULT, GA_AT_U},
    {GA_TERM_POSITION, GA_AT_ETA, GA_AT_U},
    {GA_TERM_ETA_MASS, GA_AT_U, GA_AT_ETA},
    {GA_TERM_ETA_DAMPING, GA_AT_U, GA_AT_ETA},
    {GA_TERM_ETA_VELOCITY, GA_AT_MULT, GA_AT_ETA},
    {GA_TERM_REGULAR, GA_AT_MULT, GA_AT_MULT},
    {GA_TERM_ETA_REGULAR, GA_AT_ETA, GA_AT_ETA},
};

extern const ga_formulation_type ga_formulation_index2;
const ga_formulation_type ga_formulation_index2 = {
    .name = "index2",
    .velocity_level = true,
    .has_eta = true,
    .position = GA_AT_ETA,
    .start = GA_START_SHIFTED,
    .terms = terms,
    .term_count = sizeof terms / sizeof *terms,
    .begin = ga_collocated_begin,
    .predict = ga_collocated_predict,
    .evaluate = ga_collocated_evaluate,
    .residual = residual,
    .correct = correct,
    .finish = ga_collocated_finish,
};
