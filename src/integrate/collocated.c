/* What index 3 and stabilised index 2 share: the unknown is v'_{n+1}, and everything else
 * follows from it, [ABC14] eqs. (9a)-(9d) and (58a). */
#include "integrate/stepper.h"

#include <string.h>

/* What of an, U and v does not depend on the unknowns. */
static void know(const ga_stepper *s, const double *restrict vd, const double *restrict an,
                 const double *restrict vn, double *restrict a1, double *restrict U0,
                 double *restrict v0)
{
    const ga_method *p = &s->def.method;
    const double h = s->h, am = p->alpha_m, af = p->alpha_f, beta = p->beta, gamma = p->gamma;
    const int n = s->nv;
    for (int i = 0; i < n; ++i) {
        const double a = (af * vd[i] - am * an[i]) / (1 - am);
        a1[i] = a;
        U0[i] = h * (vn[i] + h * ((0.5 - beta) * an[i] + beta * a));
        v0[i] = vn[i] + h * ((1 - gamma) * an[i] + gamma * a);
    }
}

ga_status ga_collocated_begin(ga_stepper *s)
{
    const ga_method *p = &s->def.method;
    const ga_state *now = &s->now;
    const double h = s->h, am = p->alpha_m, af = p->alpha_f, beta = p->beta, gamma = p->gamma;
    bool implicit = s->def.start == GA_START_IMPLICIT && now->steps == 0;
    s->weight = 1;
    s->kappa = implicit ? s->method.shift : 0;
    s->c_a = ((1 - af) - am * s->kappa) / (1 - am);
    s->c_q = h * h * ((0.5 - beta) * s->kappa + beta * s->c_a);
    s->c_v = h * ((1 - gamma) * s->kappa + gamma * s->c_a);
    /* the implicit start [JN08] eq. (8): a_n = (1 - shift) vd_n + shift vd_{n+1} */
    if (implicit)
        for (int i = 0; i < s->nv; ++i) s->an[i] = (1 - s->kappa) * now->vd[i];
    know(s, now->vd, s->an, s->vn, s->a1, s->U0, s->v0);
    return GA_OK;
}

void ga_collocated_predict(ga_stepper *s)
{
    const ga_state *now = &s->now;
    ga_step_extrapolate(s, s->nv, now->vd, now->vd_old, s->vd);
    ga_step_extrapolate(s, s->mp, now->lambda, now->lambda_old, s->lambda);
    if (!s->form->has_eta) return;
    double ratio = now->steps ? s->h / now->h : 1; /* eta = O(h^2) */
    for (int i = 0; i < s->m; ++i) s->eta[i] = ratio * ratio * now->eta[i];
}

/* Arguments, not members: so that the compiler knows them apart, and takes several at a time.
 */
static void advance(const ga_stepper *s, int n, const double *restrict v0,
                    const double *restrict U0, const double *restrict vd, double *restrict v,
                    double *restrict U)
{
    const double c_v = s->c_v, c_q = s->c_q;
    for (int i = 0; i < n; ++i) {
        v[i] = v0[i] + c_v * vd[i];
        U[i] = U0[i] + c_q * vd[i];
    }
}

/* The same, and q, where it adds up. */
static void advance_flat(const ga_stepper *s, int n, const double *restrict v0,
                         const double *restrict U0, const double *restrict vd,
                         const double *restrict qn, double *restrict v, double *restrict U,
                         double *restrict q)
{
    const double c_v = s->c_v, c_q = s->c_q;
    for (int i = 0; i < n; ++i) {
        const double u = U0[i] + c_q * vd[i];
        v[i] = v0[i] + c_v * vd[i];
        U[i] = u;
        q[i] = qn[i] + u;
    }
}

static void carry_on(void *data, int from, int end)
{
    const ga_stepper *s = data;
    advance(s, end - from, s->v0 + from, s->U0 + from, s->vd + from, s->v + from, s->U + from);
}

static void carry_on_flat(void *data, int from, int end)
{
    const ga_stepper *s = data;
    advance_flat(s, end - from, s->v0 + from, s->U0 + from, s->vd + from, s->now.q + from,
                 s->v + from, s->U + from, s->q + from);
}

void ga_collocated_evaluate(ga_stepper *s)
{
    if (s->flat && !s->form->has_eta) {
        ga_pool_ranges(s->pool, s->nv, carry_on_flat, s);
        return;
    }
    ga_pool_ranges(s->pool, s->nv, carry_on, s);
    if (s->form->has_eta)
        ga_coords_multiply_transposed(&s->dae.B, s->now.G, -s->h, s->eta, s->U);
    ga_dae_update(&s->dae, s->def.map, s->now.q, s->U, s->q);
}

void ga_collocated_finish(ga_stepper *s)
{
    const double c_a = s->c_a, kappa = s->kappa, *restrict a1 = s->a1, *restrict vd = s->vd;
    double *restrict a = s->a, *restrict an = s->an;
    for (int i = 0; i < s->nv; ++i) a[i] = a1[i] + c_a * vd[i];
    for (int i = 0; kappa != 0 && i < s->nv; ++i) an[i] += kappa * vd[i];
}
