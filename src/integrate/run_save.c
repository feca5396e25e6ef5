/* Saved is what the next step depends on: the method, the choice of steps, where event
 * functions stand, when output is due. Workspace is not, nor what a failed step goes back to:
 * every step begins by keeping that. */
#include "integrate/run_save.h"

#include "base/report.h"

#include <math.h>

static void list_tolerance(ga_archive *a, ga_tolerance *tolerance)
{
    ga_control *def = &tolerance->def;
    GA_ARCHIVE(a, def->relative);
    GA_ARCHIVE(a, def->absolute_translation);
    GA_ARCHIVE(a, def->absolute_rotation);
    GA_ARCHIVE(a, def->absolute_velocity);
    GA_ARCHIVE(a, def->absolute_angular_velocity);
    GA_ARCHIVE(a, def->mode);
    GA_ARCHIVE(a, def->first_step);
    GA_ARCHIVE(a, def->min_step);
    GA_ARCHIVE(a, def->max_step);
    GA_ARCHIVE(a, def->max_rejections);
    GA_ARCHIVE(a, tolerance->size_q);
    GA_ARCHIVE(a, tolerance->size_v);
    GA_ARCHIVE(a, tolerance->duration);
    GA_ARCHIVE(a, tolerance->t_stop);
    GA_ARCHIVE(a, tolerance->known_v);
}

static void list_error(ga_archive *a, ga_error *e, int nv)
{
    ga_archive_numbers(a, nv, e->q);
    ga_archive_numbers(a, nv, e->v);
    GA_ARCHIVE(a, e->local);
    GA_ARCHIVE(a, e->excess);
    GA_ARCHIVE(a, e->contribution);
    GA_ARCHIVE(a, e->power);
    GA_ARCHIVE(a, e->change);
    GA_ARCHIVE(a, e->amplification);
    GA_ARCHIVE(a, e->positions_only);
    GA_ARCHIVE(a, e->passed);
    GA_ARCHIVE(a, e->third_order);
    GA_ARCHIVE(a, e->stiff);
}

static void list_control(ga_archive *a, ga_controller *c)
{
    list_tolerance(a, &c->tolerance);
    list_error(a, &c->trial, c->m->dae->nv);
    GA_ARCHIVE(a, c->h);
    GA_ARCHIVE(a, c->h_old);
    GA_ARCHIVE(a, c->excess_old);
    GA_ARCHIVE(a, c->error);
    GA_ARCHIVE(a, c->pardoned);
    GA_ARCHIVE(a, c->brief);
    GA_ARCHIVE(a, c->suspect);
    GA_ARCHIVE(a, c->suspect_change);
    GA_ARCHIVE(a, c->suspect_step);
    GA_ARCHIVE(a, c->stats);
}

static void list_grid(ga_archive *a, ga_grid *grid)
{
    GA_ARCHIVE(a, grid->t_start);
    GA_ARCHIVE(a, grid->h);
    GA_ARCHIVE(a, grid->count);
    GA_ARCHIVE(a, grid->off);
    GA_ARCHIVE(a, grid->keeps);
    GA_ARCHIVE(a, grid->last);
    GA_ARCHIVE(a, grid->pieces);
    if (grid->pieces < 0 || grid->pieces > GA_GRID_MOST_PIECES) {
        a->failed = true;
        grid->pieces = 0;
    }
    for (int k = 0; k < grid->pieces; ++k) {
        GA_ARCHIVE(a, grid->piece[k].h);
        GA_ARCHIVE(a, grid->piece[k].t1);
        GA_ARCHIVE(a, grid->piece[k].halvings);
        GA_ARCHIVE(a, grid->piece[k].free_end);
    }
}

static void list_watch(ga_archive *a, ga_watch *w)
{
    const int n = w->def.count;
    ga_archive_same(a, n);
    GA_ARCHIVE(a, w->t_end);
    GA_ARCHIVE(a, w->duration);
    ga_archive_numbers(a, n, w->size);
    ga_archive_numbers(a, n, w->before);
    GA_ARCHIVE(a, w->t_before);
    ga_archive_numbers(a, n, w->slope);
    ga_archive_bytes(a, w->side, (size_t)n * sizeof *w->side);
    GA_ARCHIVE(a, w->count); /* of an event that has been found, and not happened yet */
    if (w->count < 0 || w->count > n) {
        a->failed = true;
        w->count = 0;
    }
    ga_archive_bytes(a, w->which, (size_t)w->count * sizeof *w->which);
    for (int k = 0; k < w->count; ++k)
        if (w->which[k] < 0 || w->which[k] >= n) a->failed = true;
    GA_ARCHIVE(a, w->happened);
    const long most = w->def.max_count;
    if (w->happened < 0)
        a->failed = true;
    else
        ga_archive_numbers(a, (int)(w->happened < most ? w->happened : most), w->times);
}

static void list_run(ga_archive *a, ga_run *run)
{
    GA_ARCHIVE(a, run->t_begin);
    GA_ARCHIVE(a, run->t0);
    GA_ARCHIVE(a, run->next_output);
    GA_ARCHIVE(a, run->outputs);
    GA_ARCHIVE(a, run->last_output);
    GA_ARCHIVE(a, run->last_event);
    GA_ARCHIVE(a, run->pause);
    GA_ARCHIVE(a, run->limit);
    GA_ARCHIVE(a, run->horizon);
    GA_ARCHIVE(a, run->waits);
    GA_ARCHIVE(a, run->told);
    GA_ARCHIVE(a, run->found);
    GA_ARCHIVE(a, run->event);
    GA_ARCHIVE(a, run->again);
    GA_ARCHIVE(a, run->ended);
    GA_ARCHIVE(a, run->stopped);
    GA_ARCHIVE(a, run->changed);
    GA_ARCHIVE(a, run->taken.step);
    GA_ARCHIVE(a, run->taken.error);
    GA_ARCHIVE(a, run->taken.iterations);
    list_control(a, &run->control);
    list_grid(a, &run->grid);
    list_watch(a, &run->watch);
}

/* Other times of output begin at the first one that is not behind. */
static void plan_output(ga_run *run, double every)
{
    const double own = run->def.output_every, t = run->m->now.t;
    if (every == own || !(own > 0)) return;
    run->outputs = (long)floor((t - run->t0) / own) + 1;
    run->next_output = run->t0 + (double)run->outputs * own;
}

/* A run that is to end later goes on where it was over. */
static void plan_end(ga_run *run, double t_end)
{
    if (t_end == run->def.t_end) return;
    run->watch.t_end = run->def.t_end;
    if (run->ended && !run->stopped && run->m->now.t < run->def.t_end) run->ended = false;
}

ga_status ga_run_archive(ga_run *run, ga_archive *a)
{
    double every = run->def.output_every, t_end = run->def.t_end;
    ga_archive_same(a, run->adaptive);
    GA_ARCHIVE(a, every);
    GA_ARCHIVE(a, t_end);
    if (!run->m->type->archive) a->failed = true;
    if (a->failed) return GA_OK;
    GA_TRY(run->m->type->archive(run->m, a));
    list_run(a, run);
    if (a->mode != GA_ARCHIVE_READ || a->failed) return GA_OK;
    plan_output(run, every);
    plan_end(run, t_end);
    run->m->tolerance = run->adaptive && !run->ended ? &run->control.tolerance : NULL;
    return GA_OK;
}
