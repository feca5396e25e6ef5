/* Richardson extrapolation of a whole run: the mesh it made, then the same mesh with each step
 * in two and in four pieces, from the same start.
 *
 * On such meshes the error at the end is c2 h^2 + c3 h^3 + ..., so a pair of levels is
 * extrapolated by x1 + (x1 - x0)/3, and three levels once more with 8/7, -1/7. Differences of
 * configurations are taken on the group. */
#include "base/memory.h"
#include "base/report.h"
#include "handle/integrator.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 3 };

typedef struct levels {
    double *q[MOST_LEVELS], *v[MOST_LEVELS]; /* at t_end; the first is the plain run */
    double *x;                               /* nv */
    double t, *mesh; /* the last time met, and the sizes of steps up to there */
    long steps, room;
    bool out_of_memory;
} levels;

static bool create_levels(const ga_dae *dae, levels *l)
{
    bool memory = (l->x = GA_NEW(double, dae->nv));
    for (int k = 0; k < MOST_LEVELS && memory; ++k)
        memory = (l->q[k] = GA_NEW(double, dae->nq)) && (l->v[k] = GA_NEW(double, dae->nv));
    return memory;
}

static void destroy_levels(levels *l)
{
    for (int k = 0; k < MOST_LEVELS; ++k) {
        ga_free(l->q[k]);
        ga_free(l->v[k]);
    }
    ga_free(l->x);
    ga_free(l->mesh);
}

/* Notes the step that has been accepted. */
static ga_eval note_step(void *user, const ga_sample *sample)
{
    levels *l = user;
    if (!(sample->t > l->t)) return GA_EVAL_OK; /* a start */
    if (l->steps == l->room) {
        const long room = l->room ? 2 * l->room : 1024;
        double *more = GA_NEW(double, room);
        if ((l->out_of_memory = !more)) return GA_EVAL_FATAL;
        if (l->steps) memcpy(more, l->mesh, (size_t)l->steps * sizeof *more);
        ga_free(l->mesh);
        l->mesh = more;
        l->room = room;
    }
    l->t = sample->t;
    l->mesh[l->steps++] = sample->step;
    return GA_EVAL_OK;
}

/* The mesh again, each step in `parts` pieces, from the consistent state at its beginning. */
static ga_status repeat(ga_integrator *g, const levels *l, int parts, ga_report *report)
{
    ga_onestep *m = g->method;
    if (l->steps == 0) return GA_OK;
    const double h = l->mesh[0] / parts;
    const ga_status status = m->type->start(m, h, true);
    if (status != GA_OK) {
        ga_onestep_explain(m, status, h, report);
        return status;
    }
    double t = m->now.t;
    for (long k = 0; k < l->steps; ++k) {
        for (int part = 1; part <= parts; ++part)
            GA_TRY(ga_grid_step_to(&g->grid, l->mesh[k] / parts, t + l->mesh[k] * part / parts,
                                   report));
        t = m->now.t;
    }
    return GA_OK;
}

/* Each level from the same start values, error control having left Newton's method unfinished.
 */
static ga_status run_levels(ga_integrator *g, double t0, const double *q0, const double *v0,
                            const ga_simulation *def, int count, levels *l, ga_report *report)
{
    const ga_solution *now = &g->method->now;
    ga_simulation silent = *def;
    silent.output = NULL;
    silent.accepted = note_step;
    silent.user = l;
    if (silent.control.mode == GA_ERROR_AUTO) silent.control.mode = GA_ERROR_FULL;
    l->t = t0;
    GA_TRY(ga_integrator_simulate(g, t0, q0, v0, &silent, report));
    if (l->out_of_memory) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    for (int k = 0; k < count; ++k) {
        GA_TRY(ga_integrator_begin(g, t0, q0, v0, report));
        g->started = true;
        GA_TRY(repeat(g, l, 1 << k, report));
        memcpy(l->q[k], now->q, (size_t)g->method->dae->nq * sizeof *now->q);
        memcpy(l->v[k], now->v, (size_t)g->method->dae->nv * sizeof *now->v);
    }
    return GA_OK;
}

/* q[count-1], v[count-1] := the extrapolated solution; q[0], v[0] stay. */
static void extrapolate(const ga_dae *dae, levels *l, int count)
{
    const int n = dae->sys.node_count;
    const ga_node *nodes = dae->sys.nodes;
    for (int round = 1; round < count; ++round) {
        const double weight = 1 / (pow(2, round + 1) - 1);
        for (int k = count - 1; k >= round; --k) {
            ga_nodes_difference(n, nodes, l->q[k - 1], l->q[k], l->x);
            for (int i = 0; i < dae->nv; ++i) l->x[i] *= weight;
            ga_nodes_update(n, nodes, GA_MAP_EXP, l->q[k], l->x, l->q[k]);
            for (int i = 0; i < dae->nv; ++i)
                l->v[k][i] += weight * (l->v[k][i] - l->v[k - 1][i]);
        }
    }
}

static ga_status check(const ga_integrator *g, double t0, const ga_simulation *def, int count,
                       ga_report *report)
{
    GA_TRY(ga_integrator_check_simulation(g, t0, def, report));
    if (count != 2 && count != 3)
        return ga_fail(report, GA_ERR_ARGUMENT, "levels = %d: expected 2 or 3", count);
    if (def->events.count || def->events.settled || def->breakpoint_count)
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "Richardson extrapolation needs a smooth run: no events, no breakpoints");
    if (!ga_integrator_is_alpha(g))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "Richardson extrapolation needs generalized-alpha, not the method %s",
                       g->method->type->name);
    if (def->control.mode == GA_ERROR_EXTRAPOLATE)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "Richardson extrapolation cannot be combined with GA_ERROR_EXTRAPOLATE");
    return GA_OK;
}

ga_status ga_integrator_richardson(ga_integrator *g, double t0, const double *q0,
                                   const double *v0, const ga_simulation *def, int count,
                                   double *q, double *v, double *error_q, double *error_v,
                                   ga_report *report)
{
    GA_TRY(check(g, t0, def, count, report));
    const ga_dae *dae = g->method->dae;
    levels l = {.room = 0};
    ga_status status = GA_OK;
    if (!create_levels(dae, &l)) status = ga_fail(report, GA_ERR_MEMORY, "out of memory");
    if (status == GA_OK) status = run_levels(g, t0, q0, v0, def, count, &l, report);
    if (status == GA_OK) {
        extrapolate(dae, &l, count);
        const double *best_q = l.q[count - 1], *best_v = l.v[count - 1];
        if (error_q)
            ga_nodes_difference(dae->sys.node_count, dae->sys.nodes, l.q[0], best_q, error_q);
        for (int i = 0; error_v && i < dae->nv; ++i) error_v[i] = best_v[i] - l.v[0][i];
        if (q) memcpy(q, best_q, (size_t)dae->nq * sizeof *q);
        if (v) memcpy(v, best_v, (size_t)dae->nv * sizeof *v);
        ga_fail(report, GA_OK, "%s", "");
    }
    destroy_levels(&l);
    return status;
}
