/* Stabilised index 2: also B v + Phi_t = 0 at t_{n+1}; eta corrects the increment of q, [ABC14]
 * eq. (58). */
#include "base/report.h"
#include "integrate/stepper.h"

static ga_status residual(ga_stepper *s)
{
    ga_block_velocity(s, s->r + s->nv); /* (B v + Phi_t, k)/c_v */
    ga_block_divide(s->mp, s->c_v, s->r + s->nv);
    ga_block_position(s, s->r + s->nv + s->mp); /* Phi/c_q              */
    return ga_block_dynamics(s, s->r);          /* M vd - f + G^T mu    */
}

/* d vd = u + B_n^T x, d eta = (c_q/h) x. */
static void correct(ga_stepper *s)
{
    ga_block_solve(s, s->r, s->x);
    const double *dl = s->x + s->nv, *dx = s->x + s->nv + s->mp;
    double *dvd = s->work;
    for (int i = 0; i < s->nv; ++i) dvd[i] = s->x[i];
    ga_coords_multiply_transposed(&s->dae.B, s->now.G, 1, dx, dvd);
    for (int i = 0; i < s->nv; ++i) s->vd[i] -= dvd[i];
    for (int i = 0; i < s->mp; ++i) s->lambda[i] -= dl[i];
    for (int i = 0; i < s->m; ++i) s->eta[i] -= s->c_q / s->h * dx[i];
    ga_step_measure(s, s->x, dvd, dl);
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
