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

/* From the current time to t1 = now + h, in two halves if it does not work in one go. */
static ga_status advance(ga_grid *g, double h, double t1, int halvings, bool free_end,
                         bool *ended, ga_report *report)
{
    ga_onestep *m = g->m;
    if (g->follow && g->keeps) m->type->keep(m);
    ga_status status = attempt(g, h, t1, free_end);
    if (status == GA_OK) return g->follow ? g->follow(g->user, ended, report) : GA_OK;
    ga_onestep_explain(m, status, h, report);
    const double middle = m->now.t + 0.5 * h;
    if (!ga_step_may_retry(status) || halvings == 0) return status;
    if (!(middle > m->now.t && middle < t1)) return status;
    ++m->stats->halvings;
    if (!g->follow && !g->kept) m->type->keep(m);
    g->kept = true;
    GA_TRY(advance(g, 0.5 * h, middle, halvings - 1, false, ended, report));
    if (*ended) return GA_OK;
    return advance(g, 0.5 * h, t1, halvings - 1, free_end && !g->follow, ended, report);
}

/* Without `follow`, of the pieces of a step that fails nothing is kept. */
static ga_status advance_or_restore(ga_grid *g, double h, double t1, bool free_end, bool *ended,
                                    ga_report *report)
{
    ga_onestep *m = g->m;
    if (!(t1 > m->now.t))
        return ga_fail(report, GA_ERR_ARGUMENT, "a step of %.3g is below round-off at t = %.9g",
                       h, m->now.t);
    const ga_statistics stats = *m->stats;
    g->kept = false;
    ga_status status = advance(g, h, t1, m->max_halvings, free_end, ended, report);
    if (status == GA_OK) return ga_fail(report, GA_OK, "%s", "");
    if (g->follow) return status;
    if (g->kept) m->type->go_back(m);
    m->stats->steps = stats.steps;
    m->stats->position_residual_max = stats.position_residual_max;
    m->stats->velocity_residual_max = stats.velocity_residual_max;
    if (report) report->step = h;
    return status;
}

/* Where the last step would be shorter than a tenth, the last two are made equal: a sliver
 * would, in index 3, leave multipliers of round-off/h^2. */
ga_status ga_grid_step(ga_grid *g, double t_end, ga_report *report)
{
    const ga_grid before = *g;
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
    /* as after the step: what follows it may begin another grid */
    ++g->count;
    g->off = false;
    bool ended = false;
    ga_status status = advance_or_restore(g, h, t1, !last && !stretch, &ended, report);
    if (status != GA_OK && g->m->now.t == t) {
        g->t_start = before.t_start;
        g->count = before.count;
        g->off = before.off;
    } else if (status != GA_OK || last || stretch || (ended && g->m->now.t != t1)) {
        ga_grid_begin(g, g->h);
    }
    return status;
}

ga_status ga_grid_step_to(ga_grid *g, double h, double t1, ga_report *report)
{
    bool ended = false;
    GA_TRY(advance_or_restore(g, h, t1, false, &ended, report));
    ga_grid_begin(g, g->h);
    return GA_OK;
}
