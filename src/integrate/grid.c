/* A step that fails is cut in two, up to max_halvings times. A step that would end at a
 * singular position ends a fifth earlier, and the next one on the grid again. */
#include "integrate/grid.h"

#include "base/report.h"

#include <math.h>

void ga_grid_begin(ga_grid *g, double h)
{
    g->h = h;
    g->t_start = g->m->now.t;
    g->count = 0;
    g->off = false;
    g->pieces = 0;
}

/* One step of size h to t1; somewhat earlier if it may. */
static ga_status attempt(ga_grid *g, double h, double t1, bool free_end)
{
    ga_onestep *m = g->m;
    const ga_onestep_type *type = m->type;
    ga_status status = type->attempt(m, h, t1);
    if (free_end && type->evade && type->evade(m, status)) {
        ++m->stats->evasions;
        g->off = type->attempt(m, 0.8 * h, m->now.t + 0.8 * h) == GA_OK;
        status = g->off ? GA_OK : type->attempt(m, h, t1);
    }
    double shorter;
    return status == GA_OK ? type->accept(m, NULL, &shorter) : status;
}

/* The next piece of the step; if it does not work in one go, it becomes two. */
static ga_status advance(ga_grid *g, ga_followed *done, ga_report *report)
{
    ga_onestep *m = g->m;
    const ga_grid_piece piece = g->piece[--g->pieces];
    if (g->follow && g->keeps) m->type->keep(m);
    ga_status status = attempt(g, piece.h, piece.t1, piece.free_end);
    if (status == GA_OK) return g->follow ? g->follow(g->user, done, report) : GA_OK;
    ga_onestep_explain(m, status, piece.h, report);
    const double h = 0.5 * piece.h, middle = m->now.t + h;
    if (!ga_step_may_retry(status) || piece.halvings == 0) return status;
    if (!(middle > m->now.t && middle < piece.t1)) return status;
    ++m->stats->halvings;
    if (!g->follow && !g->kept) m->type->keep(m);
    g->kept = true;
    g->piece[g->pieces++] = (ga_grid_piece){.h = h,
                                            .t1 = piece.t1,
                                            .halvings = piece.halvings - 1,
                                            .free_end = piece.free_end && !g->follow};
    g->piece[g->pieces++] =
        (ga_grid_piece){.h = h, .t1 = middle, .halvings = piece.halvings - 1};
    return GA_OK;
}

/* Without `follow`, of the pieces of a step that fails nothing is kept. */
static ga_status advance_or_restore(ga_grid *g, double h, ga_followed *done, ga_report *report)
{
    ga_onestep *m = g->m;
    const ga_statistics stats = *m->stats;
    ga_status status = GA_OK;
    g->kept = false;
    *done = GA_FOLLOWED;
    while (g->pieces && status == GA_OK && *done == GA_FOLLOWED)
        status = advance(g, done, report);
    if (status == GA_OK) return ga_fail(report, GA_OK, "%s", "");
    g->pieces = 0;
    if (g->follow) return status;
    if (g->kept) m->type->go_back(m);
    m->stats->steps = stats.steps;
    m->stats->position_residual_max = stats.position_residual_max;
    m->stats->velocity_residual_max = stats.velocity_residual_max;
    if (report) report->step = h;
    return status;
}

/* A step of size h to t1 as one piece; it may end earlier if its end is free. */
static ga_status take_on(ga_grid *g, double h, double t1, bool free_end, ga_report *report)
{
    if (!(t1 > g->m->now.t))
        return ga_fail(report, GA_ERR_ARGUMENT, "a step of %.3g is below round-off at t = %.9g",
                       h, g->m->now.t);
    g->pieces = 1;
    g->piece[0] = (ga_grid_piece){h, t1, g->m->max_halvings, free_end};
    return GA_OK;
}

/* Where the last step would be shorter than a tenth, the last two are made equal: a sliver
 * would, in index 3, leave multipliers of round-off/h^2. */
static ga_status plan(ga_grid *g, double t_end, ga_report *report)
{
    const double t = g->m->now.t, left = (t_end - t) / g->h;
    double h = g->h, t1 = g->t_start + (double)(g->count + 1) * h;
    if (g->off) h = t1 - t;
    const bool last = left <= 1 + 1e-9 || (g->off && t_end - t1 < 1e-9 * h);
    const bool stretch = !last && left < 1.1;
    if (last) {
        if (g->off || left < 1 - 1e-9) h = t_end - t;
        t1 = t_end;
    } else if (stretch) {
        h = 0.5 * (t_end - t);
        t1 = t + h;
    }
    g->last = last || stretch;
    return take_on(g, h, t1, !g->last, report);
}

ga_status ga_grid_step(ga_grid *g, double t_end, ga_report *report)
{
    const double t_start = g->t_start, t = g->m->now.t;
    const long count = g->count;
    const bool off = g->off, goes_on = g->pieces > 0;
    if (!goes_on) {
        GA_TRY(plan(g, t_end, report));
        /* as after the step: what follows it may begin another grid */
        ++g->count;
        g->off = false;
    }
    const double t1 = g->piece[0].t1;
    ga_followed done;
    const ga_status status = advance_or_restore(g, g->piece[0].h, &done, report);
    if (done == GA_FOLLOWED_WAITS && g->pieces) return status;
    const bool begins_anew = status != GA_OK || g->last || (done && g->m->now.t != t1);
    if (status != GA_OK && g->m->now.t == t && !goes_on) {
        g->t_start = t_start;
        g->count = count;
        g->off = off;
    } else if (begins_anew) {
        ga_grid_begin(g, g->h);
    }
    return status;
}

ga_status ga_grid_step_to(ga_grid *g, double h, double t1, ga_report *report)
{
    ga_followed done;
    GA_TRY(take_on(g, h, t1, false, report));
    GA_TRY(advance_or_restore(g, h, &done, report));
    ga_grid_begin(g, g->h);
    return GA_OK;
}
