/* What an integration is and what it has learned, as bytes: `save` and `load` of the
 * generalized-alpha family.
 *
 * Saved are the state, the numbers learned, and the point where tangents were last taken with
 * the M and B_n of that step. Tangents, matrix and factors are not saved but taken again at
 * that point (ga_cache_restore); they come out with the same bits, so the integration continues
 * as if nothing had happened. KLU, which keeps the pivots of earlier matrices, is the
 * exception: there round-off differs.
 */
#include "base/report.h"
#include "integrate/alpha.h"

#include <string.h>

/* A piece of memory that is written and read as it is. */
typedef struct piece {
    void *data;
    size_t size;
} piece;

enum { MOST_PIECES = 80 };

typedef struct pieces {
    piece list[MOST_PIECES];
    int count;
} pieces;

static void add(pieces *p, void *data, size_t size)
{
    if (size) p->list[p->count++] = (piece){data, size};
}

static void add_numbers(pieces *p, double *x, int n) { add(p, x, (size_t)n * sizeof *x); }

#define ADD(member) add(p, &(member), sizeof(member))

static void list_state(pieces *p, ga_state *now)
{
    ADD(now->t);
    ADD(now->h);
    ADD(now->steps);
    ADD(now->h_old);
    ADD(now->t_old);
    ADD(now->t_begin);
    add(p, now->memory, now->memory_size * sizeof *now->memory);
}

/* The point where tangents were taken, and what the matrix was made with. */
static void list_point(pieces *p, ga_stepper *s)
{
    ga_tangent_point *at = &s->tangent.point;
    ADD(s->valid);
    ADD(at->t);
    ADD(at->h);
    add_numbers(p, at->q, s->nq);
    add_numbers(p, at->v, s->nv);
    add_numbers(p, at->vd, s->nv);
    add_numbers(p, at->U, s->nv);
    add_numbers(p, at->multipliers, s->mp);
    add_numbers(p, s->tangent.M, s->dae.M.count);
    add_numbers(p, s->tangent.B_eta, s->dae.B.count);
    ADD(s->tangent.penalty);
    ADD(s->step.weight);
    ADD(s->jacobian.h);
    ADD(s->jacobian.c_q);
    ADD(s->jacobian.c_v);
    ADD(s->jacobian.scaled_for);
    ADD(s->jacobian.scaled_c_q);
    add_numbers(p, s->jacobian.row_scale, s->n);
    add_numbers(p, s->jacobian.col_scale, s->n);
}

static void list_policy(pieces *p, ga_stepper *s)
{
    ga_regular *g = &s->regular;
    ga_redundancy *rows = &s->start.redundancy;
    ADD(s->policy);
    ADD(s->mode);
    ADD(s->stats);
    ADD(g->eps);
    ADD(g->watching);
    ADD(g->seen);
    ADD(g->least);
    ADD(g->least_old);
    ADD(g->t_old);
    ADD(g->alert);
    ADD(g->rested);
    ADD(g->ahead);
    ADD(g->still);
    ADD(s->start.largest);
    ADD(s->second.eps);
    ADD(rows->active);
    ADD(rows->eps);
    ADD(rows->rank);
    ADD(rows->seed);
    add_numbers(p, rows->D, s->mp);
    add_numbers(p, rows->weakest, s->mp);
}

static void list_control(pieces *p, ga_alpha *a)
{
    ga_order_choice *order = &a->order;
    ADD(a->adaptive);
    ADD(a->before);
    ADD(a->calmed);
    ADD(a->root);
    ADD(a->root_time);
    ADD(order->third);
    ADD(order->taken);
    ADD(order->strikes);
    ADD(order->lasted);
    ADD(order->pause);
    ADD(order->patience);
    ADD(order->growth);
    ADD(order->error);
    ADD(order->old_error);
    ADD(order->expected);
    ADD(order->factor);
    ADD(order->old_factor);
    ADD(order->theta);
    ADD(order->old_theta);
    ADD(order->old_h);
    add_numbers(p, order->memory, order->chosen ? 6 * a->s.nv : 0);
}

/* What must be equal in both. */
typedef struct heading {
    char name[8];
    int nq, nv, m, p, n, formulation;
    size_t size; /* of all */
} heading;

static heading describe(ga_alpha *a, pieces *p)
{
    ga_stepper *s = &a->s;
    heading h = {.name = "ga-save", .nq = s->nq, .nv = s->nv, .m = s->m, .p = s->p, .n = s->n};
    h.formulation = (int)s->def.formulation;
    h.size = sizeof h;
    p->count = 0;
    list_state(p, &s->now);
    list_point(p, s);
    list_policy(p, s);
    list_control(p, a);
    for (int k = 0; k < p->count; ++k) h.size += p->list[k].size;
    return h;
}

size_t ga_alpha_save(ga_onestep *m, void *bytes)
{
    pieces p;
    const heading h = describe((ga_alpha *)m, &p);
    char *to = bytes;
    if (!to) return h.size;
    memcpy(to, &h, sizeof h);
    to += sizeof h;
    for (int k = 0; k < p.count; to += p.list[k++].size)
        memcpy(to, p.list[k].data, p.list[k].size);
    return h.size;
}

ga_status ga_alpha_load(ga_onestep *m, const void *bytes, size_t size)
{
    ga_alpha *a = (ga_alpha *)m;
    ga_stepper *s = &a->s;
    pieces p;
    const heading h = describe(a, &p);
    const char *from = bytes;
    if (size != h.size || memcmp(from, &h, sizeof h)) return GA_ERR_ARGUMENT;
    from += sizeof h;
    for (int k = 0; k < p.count; from += p.list[k++].size)
        memcpy(p.list[k].data, from, p.list[k].size);
    const ga_statistics stats = s->stats;
    const ga_status status = ga_cache_restore(s);
    s->stats = stats;
    m->cubic.steps = -1;
    ga_alpha_show(a);
    return status;
}
