/* The state at both ends of the last step. */
#include "integrate/ends.h"

#include "base/arrays.h"
#include "base/memory.h"

#include <math.h>
#include <string.h>

static size_t lay_out(ga_ends *e, const ga_dae *dae, int own, double *memory)
{
    const ga_arrays list[] = {
        {dae->nq, {&e->q, &e->q_old}},
        {dae->nv, {&e->v, &e->vd, &e->v_old, &e->vd_old, &e->v_start}},
        {dae->mp, {&e->multipliers, &e->multipliers_old}},
        {own, {&e->own}},
    };
    return ga_arrays_place(sizeof list / sizeof *list, list, memory);
}

bool ga_ends_create(const ga_dae *dae, int own, ga_ends *e)
{
    e->size = lay_out(e, dae, own, NULL);
    e->memory = GA_NEW(double, e->size);
    if (e->memory) lay_out(e, dae, own, e->memory);
    return e->memory;
}

void ga_ends_destroy(ga_ends *e)
{
    ga_free(e->memory);
    memset(e, 0, sizeof *e);
}

void ga_ends_copy(ga_ends *to, const ga_ends *from)
{
    to->t = from->t;
    to->t_old = from->t_old;
    to->h = from->h;
    to->steps = from->steps;
    memcpy(to->memory, from->memory, from->size * sizeof *to->memory);
}

static void copy(double *to, const double *from, int n)
{
    memmove(to, from, (size_t)n * sizeof *to);
}

ga_status ga_ends_start(ga_ends *e, ga_consistent *c, double t, const double *q,
                        const double *v, double max_projection, ga_report *report)
{
    const ga_dae *dae = c->dae;
    copy(e->q, q, dae->nq);
    copy(e->v, v, dae->nv);
    e->t = e->t_old = t;
    e->h = 0;
    e->steps = 0;
    const ga_status status =
        ga_consistent_start(c, t, e->q, e->v, max_projection, e->vd, e->multipliers, report);
    copy(e->q_old, e->q, dae->nq);
    copy(e->v_old, e->v, dae->nv);
    copy(e->vd_old, e->vd, dae->nv);
    copy(e->multipliers_old, e->multipliers, dae->mp);
    copy(e->v_start, e->v, dae->nv);
    return status;
}

ga_status ga_ends_restart(ga_ends *e, ga_consistent *c, double t, const double *q,
                          const double *v, ga_report *report)
{
    const ga_projection projection = c->projection;
    const ga_status status = ga_ends_start(e, c, t, q, v, INFINITY, report);
    c->projection = projection;
    return status;
}

static void follow(double *was, double *is, const double *next, int n)
{
    copy(was, is, n);
    copy(is, next, n);
}

void ga_ends_advance(ga_ends *e, const ga_dae *dae, double h, double t1, const double *q,
                     const double *v, const double *vd, const double *multipliers)
{
    follow(e->q_old, e->q, q, dae->nq);
    follow(e->v_old, e->v, v, dae->nv);
    follow(e->vd_old, e->vd, vd, dae->nv);
    follow(e->multipliers_old, e->multipliers, multipliers, dae->mp);
    e->t_old = e->t;
    e->t = t1;
    e->h = h;
    ++e->steps;
}

ga_solution ga_ends_view(const ga_ends *e)
{
    return (ga_solution){.t = e->t,
                         .t_old = e->t_old,
                         .h = e->h,
                         .steps = e->steps,
                         .q = e->q,
                         .v = e->v,
                         .vd = e->vd,
                         .multipliers = e->multipliers,
                         .q_old = e->q_old,
                         .v_old = e->v_old,
                         .vd_old = e->vd_old,
                         .multipliers_old = e->multipliers_old,
                         .v_start = e->v_start};
}

void ga_ends_archive(ga_archive *a, ga_ends *e)
{
    GA_ARCHIVE(a, e->t);
    GA_ARCHIVE(a, e->t_old);
    GA_ARCHIVE(a, e->h);
    GA_ARCHIVE(a, e->steps);
    ga_archive_bytes(a, e->memory, e->size * sizeof *e->memory);
}
