/* What an integration is and what it has learned, as bytes: `save` and `load` of the
 * generalized-alpha family.
 *
 * Saved are the state, the numbers learned, and the point where tangents were last taken with
 * the M and B_n of that step. Tangents, matrix and factors are not saved but taken again at
 * that point (ga_cache_restore), with the same pivots; they come out with the same bits, so the
 * integration continues as if nothing had happened.
 */
#include "base/report.h"
#include "integrate/alpha.h"
#include "integrate/save.h"

#include <stddef.h>

#define ADD(member) GA_PIECE(p, member)

/* The numbers at the beginning of a struct, then what its pointers have. */
static void list_state(ga_pieces *p, ga_state *now)
{
    ga_pieces_add(p, now, offsetof(ga_state, q));
    ga_pieces_add(p, now->memory, now->memory_size * sizeof *now->memory);
}

/* The point where tangents were taken, and what the matrix was made with. */
static void list_point(ga_pieces *p, ga_stepper *s)
{
    ga_tangent_point *at = &s->point;
    ADD(s->valid);
    ga_pieces_add(p, at, offsetof(ga_tangent_point, q));
    ga_pieces_add_numbers(p, at->q, s->nq);
    ga_pieces_add_numbers(p, at->v, s->nv);
    ga_pieces_add_numbers(p, at->vd, s->nv);
    ga_pieces_add_numbers(p, at->U, s->nv);
    ga_pieces_add_numbers(p, at->multipliers, s->mp);
    ga_pieces_add_numbers(p, s->tangent.M, s->dae.M.count);
    ga_pieces_add_numbers(p, s->tangent.B_eta, s->dae.B.count);
    ADD(s->tangent.penalty);
    ADD(s->step.weight);
    ADD(s->jacobian.h);
    ADD(s->jacobian.c_q);
    ADD(s->jacobian.c_v);
    ADD(s->jacobian.scaled_for);
    ADD(s->jacobian.scaled_c_q);
    ga_pieces_add_numbers(p, s->jacobian.row_scale, s->n);
    ga_pieces_add_numbers(p, s->jacobian.col_scale, s->n);
}

static void list_policy(ga_pieces *p, ga_stepper *s)
{
    ga_regular *g = &s->regular;
    ADD(s->policy);
    ADD(s->mode);
    ADD(s->stats);
    ga_pieces_add(p, g, offsetof(ga_regular, value));
    ADD(s->second.eps);
    ga_pieces_add_consistent(p, &s->start);
}

static void list_control(ga_pieces *p, ga_alpha *a)
{
    ga_order_choice *order = &a->order;
    ADD(a->adaptive);
    ADD(a->before);
    ADD(a->smoothing);
    ga_pieces_add(p, order, offsetof(ga_order_choice, memory));
    ga_pieces_add_numbers(p, order->memory, order->chosen ? 6 * a->s.nv : 0);
}

static void list(ga_alpha *a, ga_pieces *p)
{
    p->count = p->factors = 0;
    ga_pieces_add_factor(p, a->s.jacobian.factor);
    ga_pieces_add_factor(p, a->s.second.factor);
    list_state(p, &a->s.now);
    list_point(p, &a->s);
    list_policy(p, &a->s);
    list_control(p, a);
}

size_t ga_alpha_save(ga_onestep *m, void *bytes)
{
    ga_pieces p;
    list((ga_alpha *)m, &p);
    return ga_pieces_save(&p, m, (int)ga_alpha_stepper(m)->def.formulation, bytes);
}

ga_status ga_alpha_load(ga_onestep *m, const void *bytes, size_t size)
{
    ga_alpha *a = (ga_alpha *)m;
    ga_stepper *s = &a->s;
    ga_pieces p;
    list(a, &p);
    GA_TRY(ga_pieces_load(&p, m, (int)s->def.formulation, bytes, size));
    const ga_statistics stats = s->stats;
    ga_status status = ga_cache_restore(s);
    if (status == GA_OK) status = ga_pieces_load_pivots(&p, bytes, size);
    s->stats = stats;
    m->cubic.steps = -1;
    ga_alpha_show(a);
    return status;
}
