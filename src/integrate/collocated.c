/* What index 3 and stabilised index 2 share: the unknown is v'_{n+1}, and everything else
 * follows from it, [ABC14] eqs. (9a)-(9d) and (58a). */
#include "integrate/stepper.h"
#include "la/fours.h"

#include <stdatomic.h>

/* What of an, U and v does not depend on the unknowns; with 1 - alpha_m for rest. */
typedef struct known {
    double h, am, af, beta, gamma, rest;
    const double *vd, *an, *vn;
    double *a1, *U0, *v0;
} known;

KERNEL void know(int i, const int count, const known *k)
{
    quad an, vn, a, U, v, part;
    load_some(&an, k->an + i, count);
    load_some(&vn, k->vn + i, count);
    load_some(&a, k->vd + i, count);
    scale(&a, k->af);
    subtract(&a, &an, k->am);
    divide_by(&a, k->rest);
    store_some(k->a1 + i, &a, count);
    U = v = an;
    scale(&U, 0.5 - k->beta);
    add(&U, &a, k->beta);
    part = vn;
    add(&part, &U, k->h);
    scale(&part, k->h);
    store_some(k->U0 + i, &part, count);
    scale(&v, 1 - k->gamma);
    add(&v, &a, k->gamma);
    add(&vn, &v, k->h);
    store_some(k->v0 + i, &vn, count);
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
        for (int i = 0; i < s->nv; ++i) s->own_an[i] = (1 - s->kappa) * now->vd[i];
    return GA_OK;
}

/* v and U of the unknowns, and q where it adds up. */
typedef struct motion {
    double c_v, c_q;
    const double *v0, *U0, *vd, *qn;
    double *v, *U, *q;
} motion;

KERNEL motion motion_of(const ga_stepper *s)
{
    return (motion){s->c_v, s->c_q, s->v0, s->U0, s->vd, s->now.q, s->v, s->U, s->q};
}

KERNEL void carry(int i, const int count, const motion *x, quad *U)
{
    quad v, vd;
    load_some(&vd, x->vd + i, count);
    load_some(&v, x->v0 + i, count);
    load_some(U, x->U0 + i, count);
    add(&v, &vd, x->c_v);
    add(U, &vd, x->c_q);
    store_some(x->v + i, &v, count);
    store_some(x->U + i, U, count);
}

KERNEL void advance(int i, const int count, const motion *x)
{
    quad U;
    carry(i, count, x, &U);
}

KERNEL void advance_flat(int i, const int count, const motion *x)
{
    quad q, U;
    carry(i, count, x, &U);
    load_some(&q, x->qn + i, count);
    add(&q, &U, 1);
    store_some(x->q + i, &q, count);
}

static void carry_on(void *data, int from, int end)
{
    const motion x = motion_of(data);
    IN_FOURS(from, end, advance, &x);
}

static void carry_on_flat(void *data, int from, int end)
{
    const motion x = motion_of(data);
    IN_FOURS(from, end, advance_flat, &x);
}

/* So many numbers of all vectors that a pass works with stay in the cache. */
enum { PIECE = 256 };

static int piece_end(int from, int end) { return end - from > PIECE ? from + PIECE : end; }

/* Is q the sum of what it was and of U, which is known from v' alone? */
static bool adds_up(const ga_stepper *s) { return s->flat && !s->form->has_eta; }

static void predict_range(void *data, int from, int end)
{
    const ga_stepper *s = data;
    const ga_method *p = &s->def.method;
    const motion x = motion_of(s);
    const known k = {.h = s->h,
                     .am = p->alpha_m,
                     .af = p->alpha_f,
                     .beta = p->beta,
                     .gamma = p->gamma,
                     .rest = 1 - p->alpha_m,
                     .vd = s->now.vd,
                     .an = s->an,
                     .vn = s->vn,
                     .a1 = s->a1,
                     .U0 = s->U0,
                     .v0 = s->v0};
    for (int to; from < end; from = to) {
        to = piece_end(from, end);
        IN_FOURS(from, to, know, &k);
        ga_step_extrapolate_range(s, s->now.vd, s->now.vd_old, s->vd, from, to);
        if (s->carried) IN_FOURS(from, to, advance_flat, &x);
    }
}

void ga_collocated_predict(ga_stepper *s)
{
    const ga_state *now = &s->now;
    s->carried = adds_up(s);
    ga_pool_ranges(s->pool, s->nv, predict_range, s);
    ga_step_extrapolate(s, s->mp, now->lambda, now->lambda_old, s->lambda);
    if (!s->form->has_eta) return;
    double ratio = now->steps ? s->h / now->h : 1; /* eta = O(h^2) */
    for (int i = 0; i < s->m; ++i) s->eta[i] = ratio * ratio * now->eta[i];
}

void ga_collocated_evaluate(ga_stepper *s)
{
    const bool done = s->carried;
    s->carried = false;
    if (done) return;
    if (adds_up(s)) {
        ga_pool_ranges(s->pool, s->nv, carry_on_flat, s);
        return;
    }
    ga_pool_ranges(s->pool, s->nv, carry_on, s);
    if (s->form->has_eta)
        ga_coords_multiply_transposed(&s->dae.B, s->now.G, -s->h, s->eta, s->U);
    ga_dae_update(&s->dae, s->def.map, s->now.q, s->U, s->q);
}

/* v' less x, and what follows from it. */
KERNEL void go_on_four(int i, const int count, const motion *m, const double *x, double *to,
                       const bool flat)
{
    quad vd, v, U, q;
    load_some(&vd, to + i, count);
    load_some(&q, x + i, count);
    minus(&vd, &q);
    store_some(to + i, &vd, count);
    load_some(&v, m->v0 + i, count);
    load_some(&U, m->U0 + i, count);
    add(&v, &vd, m->c_v);
    add(&U, &vd, m->c_q);
    store_some(m->v + i, &v, count);
    store_some(m->U + i, &U, count);
    if (!flat) return;
    load_some(&q, m->qn + i, count);
    add(&q, &U, 1);
    store_some(m->q + i, &q, count);
}

void ga_collocated_go_on(ga_stepper *s)
{
    const motion m = motion_of(s);
    s->carried = true;
    if (s->flat) {
        IN_FOURS(0, s->nv, go_on_four, &m, s->x, s->vd, true);
        return;
    }
    IN_FOURS(0, s->nv, go_on_four, &m, s->x, s->vd, false);
    ga_dae_update(&s->dae, s->def.map, s->now.q, s->U, s->q);
}

KERNEL void add_share(int i, const int count, double c_a, const double *a1, const double *vd,
                      double *a)
{
    quad x, y;
    load_some(&x, a1 + i, count);
    load_some(&y, vd + i, count);
    add(&x, &y, c_a);
    store_some(a + i, &x, count);
}

static void finish_range(void *data, int from, int end)
{
    const ga_stepper *s = data;
    IN_FOURS(from, end, add_share, s->c_a, s->a1, s->vd, s->a);
}

void ga_collocated_finish(ga_stepper *s)
{
    const double kappa = s->kappa;
    ga_pool_ranges(s->pool, s->nv, finish_range, s);
    for (int i = 0; kappa != 0 && i < s->nv; ++i) s->own_an[i] += kappa * s->vd[i];
}

/* evaluate and finish. zeros += 0 x, for all that is new. */
KERNEL void end_four(int i, const int count, const motion *x, const ga_stepper *s, quad *zeros)
{
    quad vd, v, U, q, a;
    load_some(&vd, x->vd + i, count);
    load_some(&v, x->v0 + i, count);
    load_some(&U, x->U0 + i, count);
    load_some(&q, x->qn + i, count);
    load_some(&a, s->a1 + i, count);
    add(&v, &vd, x->c_v);
    add(&U, &vd, x->c_q);
    add(&q, &U, 1);
    add(&a, &vd, s->c_a);
    store_some(x->v + i, &v, count);
    store_some(x->U + i, &U, count);
    store_some(x->q + i, &q, count);
    store_some(s->a + i, &a, count);
    add(zeros, &v, 0);
    add(zeros, &q, 0);
    add(zeros, &a, 0);
}

typedef struct ending {
    const ga_stepper *s;
    atomic_bool overflows;
} ending;

static void end_range(void *data, int from, int end)
{
    ending *e = data;
    const motion x = motion_of(e->s);
    double sum[4];
    quad zeros;
    set_zero(&zeros);
    IN_FOURS(from, end, end_four, &x, e->s, &zeros);
    store(sum, &zeros);
    if (!(sum[0] + sum[1] + (sum[2] + sum[3]) == 0)) atomic_store(&e->overflows, true);
}

bool ga_collocated_conclude(ga_stepper *s)
{
    if (!adds_up(s) || s->kappa != 0) return false;
    ending e = {.s = s};
    ga_pool_ranges(s->pool, s->nv, end_range, &e);
    s->looked = !atomic_load(&e.overflows);
    return true;
}
