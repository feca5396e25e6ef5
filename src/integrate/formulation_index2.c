/* Stabilised index 2: also B v + Phi_t = 0 at t_{n+1}; eta corrects the increment of q, [ABC14]
 * eq. (58). */
#include "base/report.h"
#include "integrate/stepper.h"

static ga_status residual(ga_stepper *s)
{
    double *r = s->newton.r, *w = r + s->nv;
    ga_block_velocity(s, w);
    ga_block_divide(s->mp, s->step.c_v, w); /* (B v + Phi_t, k)/c_v */
    ga_block_position(s, w + s->mp);        /* Phi/c_q */
    return ga_block_dynamics(s, r);         /* M vd - f + G^T mu */
}

/* d vd = u + B_n^T x, d eta = (c_q/h) x. The matrix was made with B_eta, the B_n of the step in
 * which tangents were taken. With B = B_n the increment of q is that of the matrix, c_q T u,
 * and v is off by c_v (B_n - B_eta)^T x. With B = B_eta v is as in the matrix, and q is off by
 * c_q (B_eta - B_n)^T x, smaller by the order of h: this converges faster. Where the iteration
 * ends above round-off, the former is used, since q has to satisfy its constraints. */
static void correct(ga_stepper *s)
{
    ga_cache_solve(s, s->newton.r, s->newton.x);
    const double *u = s->newton.x, *dl = u + s->nv, *dx = dl + s->mp;
    const double *B = ga_newton_is_tolerant(s) ? s->now.G : s->tangent.B_eta;
    double *dvd = s->work.one, c_eta = s->step.c_q / s->step.h;
    ga_pool_copy(s->pool, dvd, u, s->nv);
    ga_coords_multiply_transposed(&s->dae.B, B, 1, dx, dvd);
    for (int i = 0; i < s->nv; ++i) s->trial.vd[i] -= dvd[i];
    for (int i = 0; i < s->mp; ++i) s->trial.lambda[i] -= dl[i];
    for (int i = 0; i < s->m; ++i) s->trial.eta[i] -= c_eta * dx[i];
    ga_newton_measure(s, u, dvd, dl);
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
