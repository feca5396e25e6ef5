/* What an integration is and what it has learned, as bytes: `archive` of the
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

#define ADD(member) GA_ARCHIVE(a, member)

/* The numbers at the beginning of a struct, then what its pointers have. */
static void list_state(ga_archive *a, ga_state *now)
{
    ga_archive_bytes(a, now, offsetof(ga_state, q));
    ga_archive_bytes(a, now->memory, now->memory_size * sizeof *now->memory);
}

/* The point where tangents were taken, and what the matrix was made with. */
static void list_point(ga_archive *a, ga_stepper *s)
{
    ga_tangent_point *at = &s->point;
    ADD(s->valid);
    ga_archive_bytes(a, at, offsetof(ga_tangent_point, q));
    ga_archive_numbers(a, s->nq, at->q);
    ga_archive_numbers(a, s->nv, at->v);
    ga_archive_numbers(a, s->nv, at->vd);
    ga_archive_numbers(a, s->nv, at->U);
    ga_archive_numbers(a, s->mp, at->multipliers);
    ga_archive_numbers(a, s->dae.M.count, s->tangent.M);
    ga_archive_numbers(a, s->dae.B.count, s->tangent.B_eta);
    ADD(s->tangent.penalty);
    ADD(s->step.weight);
    ADD(s->jacobian.h);
    ADD(s->jacobian.c_q);
    ADD(s->jacobian.c_v);
    ADD(s->jacobian.scaled_for);
    ADD(s->jacobian.scaled_c_q);
    ga_archive_numbers(a, s->n, s->jacobian.row_scale);
    ga_archive_numbers(a, s->n, s->jacobian.col_scale);
}

static void list_policy(ga_archive *a, ga_stepper *s)
{
    ADD(s->policy);
    ADD(s->mode);
    ADD(s->stats);
    ga_archive_bytes(a, &s->regular, offsetof(ga_regular, value));
    ADD(s->second.eps);
    ga_archive_consistent(a, &s->start);
}

static void list_control(ga_archive *a, ga_alpha *x)
{
    ga_order_choice *order = &x->order;
    ADD(x->adaptive);
    ADD(x->before);
    ADD(x->smoothing);
    ga_archive_bytes(a, order, offsetof(ga_order_choice, memory));
    ga_archive_numbers(a, order->chosen ? 6 * x->s.nv : 0, order->memory);
}

static ga_status list_pivots(ga_archive *a, ga_stepper *s)
{
    GA_TRY(ga_archive_factor(a, s->jacobian.factor));
    GA_TRY(ga_archive_factor(a, s->second.factor));
    return ga_archive_factor(a, s->start.saddle.factor);
}

/* Factors made again count as uses of their pivots, so these are read once more. */
static ga_status restore(ga_archive *a, size_t pivots, ga_alpha *x)
{
    ga_stepper *s = &x->s;
    const ga_statistics stats = s->stats;
    ga_status status = ga_cache_restore(s);
    a->at = pivots;
    if (status == GA_OK) status = list_pivots(a, s);
    s->stats = stats;
    x->base.cubic.steps = -1;
    ga_alpha_show(x);
    return status;
}

ga_status ga_alpha_archive(ga_onestep *m, ga_archive *a)
{
    ga_alpha *x = (ga_alpha *)m;
    ga_archive_heading(a, m, (int)x->s.def.formulation);
    if (a->failed) return GA_OK;
    list_state(a, &x->s.now);
    list_point(a, &x->s);
    list_policy(a, &x->s);
    list_control(a, x);
    const size_t pivots = a->at;
    GA_TRY(list_pivots(a, &x->s));
    return ga_archive_is_read(a) ? restore(a, pivots, x) : GA_OK;
}
