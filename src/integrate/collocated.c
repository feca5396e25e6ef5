/* What index 3 and stabilised index 2 share: the unknown is v'_{n+1}, and everything else
 * follows from it, [ABC14] eqs. (9a)-(9d) and (58a), with U = h Delta q. */
#include "integrate/stepper.h"

/* c_q = dU/dvd and c_v = dv/dvd. The implicit start, [JN08] eq. (8), has
 * a_n = (1 - kappa) vd_n + kappa vd in its first step, with kappa = Delta_alpha; else kappa is
 * zero and a_n is given. */
ga_status ga_collocated_begin(ga_stepper *s)
{
    const ga_coefficients *p = &s->def.coefficients;
    const double h = s->step.h, am = p->alpha_m, af = p->alpha_f, beta = p->beta,
                 gamma = p->gamma;
    const bool implicit = s->def.start == GA_START_IMPLICIT && s->now.steps == 0;
    s->step.weight = 1;
    s->step.kappa = implicit ? s->properties.shift : 0;
    const double c_a = ((1 - af) - am * s->step.kappa) / (1 - am);
    s->step.c_q = h * h * ((0.5 - beta) * s->step.kappa + beta * c_a);
    s->step.c_v = h * ((1 - gamma) * s->step.kappa + gamma * c_a);
    return GA_OK;
}

void ga_collocated_predict(ga_stepper *s)
{
    const ga_state *now = &s->now;
    ga_step_extrapolate(s, s->nv, now->vd, now->vd_old, s->trial.vd);
    ga_step_extrapolate(s, s->mp, now->lambda, now->lambda_old, s->trial.lambda);
    if (!s->form->has_eta) return;
    const double ratio = now->steps ? s->step.h / now->h : 1; /* eta = O(h^2) */
    for (int i = 0; i < s->m; ++i) s->trial.eta[i] = ratio * ratio * now->eta[i];
    ga_regular_predict_eta(s);
}

void ga_collocated_evaluate(ga_stepper *s)
{
    const ga_coefficients *p = &s->def.coefficients;
    const double h = s->step.h, am = p->alpha_m, af = p->alpha_f, beta = p->beta,
                 gamma = p->gamma, kappa = s->step.kappa;
    const double *vd = s->trial.vd, *vd_n = s->now.vd, *v_n = s->known.v;
    double *a_n = s->known.a, *restrict a = s->trial.a, *restrict U = s->at.U,
           *restrict v = s->trial.v;
    if (kappa != 0)
        for (int i = 0; i < s->nv; ++i) a_n[i] = (1 - kappa) * vd_n[i] + kappa * vd[i];
    for (int i = 0; i < s->nv; ++i) {
        a[i] = ((1 - af) * vd[i] + af * vd_n[i] - am * a_n[i]) / (1 - am); /* (9d) */
        U[i] = h * (v_n[i] + h * ((0.5 - beta) * a_n[i] + beta * a[i]));   /* h times (9b) */
        v[i] = v_n[i] + h * ((1 - gamma) * a_n[i] + gamma * a[i]);         /* (9c) */
    }
    if (s->form->has_eta) /* h times (58a): U -= h B(q_n)^T eta; the values of B begin G */
        ga_coords_multiply_transposed(&s->dae.B, s->now.G, -h, s->trial.eta, U);
    /* (9a): q_{n+1} = q_n o R(U), R = exp or Cayley */
    ga_dae_update(&s->dae, s->def.map, s->now.q, U, s->trial.q);
}

void ga_collocated_finish(ga_stepper *s) { (void)s; /* a and v' are there */ }
