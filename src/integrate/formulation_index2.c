/* Stabilised index 2: also B v + Phi_t = 0 at t_{n+1}; eta corrects the increment of q,
 * [ABC14] eq. (58). */
#include "base/report.h"
#include "integrate/stepper.h"

static ga_status residual(ga_stepper *s, double *r)
{
    ga_block_position(s, r + s->nv);                /* Phi/c_q              */
    GA_TRY(ga_block_velocity(s, r + s->nv + s->m)); /* (B v + Phi_t)/c_v    */
    return ga_block_dynamics(s, r);                 /* M vd - f + B^T mu    */
}

/* d vd = u + B_n^T x, d eta = (c_q/h) x. */
static void correct(ga_stepper *s, const double *x)
{
    const double *dl = x + s->nv, *dx = x + s->nv + s->m;
    double *dvd = s->work;
    for (int i = 0; i < s->nv; ++i) dvd[i] = x[i];
    ga_coords_multiply_transposed(&s->dae.B, s->now.B, 1, dx, dvd);
    for (int i = 0; i < s->nv; ++i) s->vd[i] -= dvd[i];
    for (int i = 0; i < s->m; ++i) s->lambda[i] -= dl[i];
    for (int i = 0; i < s->m; ++i) s->eta[i] -= s->c_q / s->h * dx[i];
    s->delta_q = s->c_q * ga_norm_max(s->nv, x);
    s->delta_v = s->c_v * ga_norm_max(s->nv, dvd);
    s->delta_lambda = ga_norm_max(s->m, dl);
}

static const ga_term_place terms[] = {
    {GA_TERM_MASS, 0, 0},         {GA_TERM_DAMPING, 0, 0},
    {GA_TERM_STIFFNESS, 0, 0},    {GA_TERM_REACTION, 0, 1},
    {GA_TERM_FORCE_LAMBDA, 0, 1}, {GA_TERM_POSITION, 1, 0},
    {GA_TERM_VELOCITY, 2, 0},     {GA_TERM_VELOCITY_STIFFNESS, 2, 0},
    {GA_TERM_ETA_MASS, 0, 2},     {GA_TERM_ETA_DAMPING, 0, 2},
    {GA_TERM_ETA_VELOCITY, 2, 2},
};

extern const ga_formulation_type ga_formulation_index2;
const ga_formulation_type ga_formulation_index2 = {
    .name = "index2",
    .constraint_rows = 2,
    .start = GA_START_SHIFTED,
    .terms = terms,
    .term_count = sizeof terms / sizeof *terms,
    .residual = residual,
    .correct = correct,
};
