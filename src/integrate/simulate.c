/* <galpha/simulate.h>. */
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "integrate/integrator.h"
#include "integrate/integrator_use.h"

#include <float.h>
#include <math.h>
#include <string.h>

void ga_simulation_fill(ga_simulation *def, size_t size)
{
    if (!ga_is_own_size(def, size, sizeof *def)) return;
    *def = (ga_simulation){.struct_size = sizeof(ga_simulation),
                           .control = {.relative = 1e-6,
                                       .absolute_translation = 1e-8,
                                       .absolute_rotation = 1e-8,
                                       .absolute_velocity = 1e-8,
                                       .absolute_angular_velocity = 1e-8,
                                       .max_rejections = 60},
                           .events = {.max_count = 100}};
}

static ga_status check_times(const char *name, int count, const double *times,
                             ga_report *report)
{
    if (count < 0 || (count > 0 && !times))
        return ga_fail(report, GA_ERR_ARGUMENT, "%d %ss, but no array", count, name);
    for (int k = 0; k < count; ++k)
        if (!isfinite(times[k]) || (k > 0 && times[k] < times[k - 1]))
            return ga_fail(report, GA_ERR_ARGUMENT, "%s %d (%g) is not in order", name, k,
                           times[k]);
    return GA_OK;
}

static ga_status check_tolerance(const char *name, double value, ga_report *report)
{
    if (value >= 0 && isfinite(value)) return GA_OK;
    return ga_fail(report, GA_ERR_ARGUMENT, "%s = %g: expected a number not below 0", name,
                   value);
}

double ga_output_smallest(double t_start, double t_end)
{
    /* with less than a few units in the last place, times of output repeat themselves */
    const double units = 8 * 2.220446049250313e-16;
    return units * fmax(fabs(t_start), fabs(t_end));
}

/* Kepler's problem over three periods meets them within 20 times; ten times smaller ones are
 * missed by hundreds, because what a step may contribute is below its round-off. In
 * extrapolation a step may have all of the tolerance. */
double ga_control_smallest(ga_method method, ga_error_mode mode)
{
    if (method == GA_METHOD_EXPLICIT) return 1e-12; /* hardly more than round-off */
    if (method == GA_METHOD_RADAU || method == GA_METHOD_AUTO) return 1e-11;
    switch (mode) {
    case GA_ERROR_AUTO:
        return 1e-11;
    case GA_ERROR_EXTRAPOLATE:
        return 1e-13;
    default:
        return 1e-10;
    }
}

static double smallest_absolute(const ga_control *c)
{
    return fmin(fmin(c->absolute_translation, c->absolute_rotation),
                fmin(c->absolute_velocity, c->absolute_angular_velocity));
}

static ga_status check_control(const ga_integrator *g, const ga_simulation *def,
                               ga_report *report)
{
    const ga_control *c = &def->control;
    GA_TRY(check_tolerance("relative", c->relative, report));
    GA_TRY(check_tolerance("absolute_translation", c->absolute_translation, report));
    GA_TRY(check_tolerance("absolute_rotation", c->absolute_rotation, report));
    GA_TRY(check_tolerance("absolute_velocity", c->absolute_velocity, report));
    GA_TRY(check_tolerance("absolute_angular_velocity", c->absolute_angular_velocity, report));
    GA_TRY(check_tolerance("first_step", c->first_step, report));
    GA_TRY(check_tolerance("min_step", c->min_step, report));
    GA_TRY(check_tolerance("max_step", c->max_step, report));
    GA_TRY(check_tolerance("given_step", c->given_step, report));
    if (c->relative == 0) {
        if (def->step > 0 && isfinite(def->step)) return GA_OK;
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "control.relative is 0, so step must be positive and finite, not %g",
                       def->step);
    }
    if ((unsigned)c->mode > GA_ERROR_AUTO)
        return ga_fail(report, GA_ERR_ARGUMENT, "mode has the unknown value %d", (int)c->mode);
    const bool any = ga_integrator_is_alpha(g) || c->mode == GA_ERROR_FULL;
    if (!any && !(g->kind == GA_METHOD_AUTO && c->mode == GA_ERROR_AUTO))
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "error modes other than GA_ERROR_FULL need generalized-alpha, not the method %s",
            g->method->type->name);
    const double least = ga_control_smallest(g->kind, c->mode);
    if (c->relative < 100 * DBL_EPSILON ||
        (c->relative < least && smallest_absolute(c) < least))
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "relative = %g: below %g the round-off of the steps, in double precision, "
            "adds up to more than the tolerance",
            c->relative, least);
    if (c->relative >= 1)
        return ga_fail(report, GA_ERR_ARGUMENT, "relative = %g: expected less than 1",
                       c->relative);
    if (c->max_step > 0 && c->min_step > c->max_step)
        return ga_fail(report, GA_ERR_ARGUMENT, "min_step = %g exceeds max_step = %g",
                       c->min_step, c->max_step);
    if (c->first_step > 0 && c->first_step < c->min_step)
        return ga_fail(report, GA_ERR_ARGUMENT, "first_step = %g is below min_step = %g",
                       c->first_step, c->min_step);
    if (c->max_rejections < 1)
        return ga_fail(report, GA_ERR_ARGUMENT, "max_rejections = %d: expected at least 1",
                       c->max_rejections);
    if (c->mode == GA_ERROR_EXTRAPOLATE && !g->stepper->form->has_eta)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "extrapolation is available in index2, not in %s",
                       g->stepper->form->name);
    return GA_OK;
}

static ga_status check_simulation(const ga_integrator *g, double t0, const ga_simulation *def,
                                  ga_report *report)
{
    if (!g || !def) return ga_fail(report, GA_ERR_ARGUMENT, "integrator or simulation is null");
    GA_TRY(ga_check_size("ga_simulation", def->struct_size, sizeof *def, report));
    if (!(isfinite(def->t_end) && def->t_end >= t0))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "t_end = %g: expected a finite time not before %g", def->t_end, t0);
    GA_TRY(check_control(g, def, report));
    if (!(def->control.relative > 0) && def->step < ga_output_smallest(t0, def->t_end))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "step = %g is below the round-off of time, expected %.2g or more",
                       def->step, ga_output_smallest(t0, def->t_end));
    GA_TRY(check_tolerance("duration", def->duration, report));
    GA_TRY(check_tolerance("output_every", def->output_every, report));
    if (def->output_every > 0 && def->output_every < ga_output_smallest(t0, def->t_end))
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "output_every = %g is below the round-off of time, expected %.2g or more",
            def->output_every, ga_output_smallest(t0, def->t_end));
    if ((unsigned)def->multipliers > GA_MULTIPLIERS_HAT)
        return ga_fail(report, GA_ERR_ARGUMENT, "multipliers has the unknown value %d",
                       (int)def->multipliers);
    if (def->events.count < 0 || (def->events.count > 0 && !def->events.function))
        return ga_fail(report, GA_ERR_ARGUMENT, "%d events need a function", def->events.count);
    GA_TRY(check_times("breakpoint", def->breakpoint_count, def->breakpoints, report));
    return check_times("stop", def->stop_count, def->stops, report);
}

/* Makes everything ready, from nothing to a consistent state. */
static ga_status prepare(ga_integrator *g, double t0, const double *q0, const double *v0,
                         const ga_simulation *def, ga_report *report)
{
    GA_TRY(check_simulation(g, t0, def, report));
    ga_run_destroy(&g->run);
    if (ga_run_create(g->method, def, &g->run) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    return ga_integrator_begin(g, t0, q0, v0, report);
}

/* For whoever steps on by hand. */
static ga_status leave_run(ga_integrator *g, ga_status status, ga_report *report)
{
    if (ga_run_over(&g->run)) {
        g->grid = g->run.grid;
        g->grid.follow = NULL;
    }
    return status == GA_OK ? ga_fail(report, GA_OK, "%s", "") : status;
}

ga_status ga_integrator_run_begin(ga_integrator *g, double t0, const double *q0,
                                  const double *v0, const ga_simulation *def, ga_report *report)
{
    GA_TRY(prepare(g, t0, q0, v0, def, report));
    g->started = true;
    return leave_run(g, ga_run_begin(&g->run, report), report);
}

ga_status ga_integrator_run_step(ga_integrator *g, ga_report *report)
{
    return leave_run(g, ga_run_step(&g->run, report), report);
}

ga_status ga_integrator_run_renew(ga_integrator *g, double t, ga_report *report)
{
    return leave_run(g, ga_run_renew(&g->run, t, report), report);
}

bool ga_integrator_run_over(const ga_integrator *g) { return ga_run_over(&g->run); }

void ga_integrator_run_limit(ga_integrator *g, double t) { ga_run_limit(&g->run, t); }

void ga_integrator_run_look_to(ga_integrator *g, double horizon)
{
    ga_run_look_to(&g->run, horizon);
}

double ga_integrator_run_reached(const ga_integrator *g) { return ga_run_reached(&g->run); }

ga_status ga_integrator_run_cut(ga_integrator *g, ga_report *report)
{
    return leave_run(g, ga_run_cut(&g->run, report), report);
}

void ga_integrator_position_tolerances(const ga_integrator *g, double of_q[2])
{
    double of_v[2];
    of_q[0] = of_q[1] = 0;
    if (g->run.adaptive) ga_tolerance_weights(&g->run.control.tolerance, of_q, of_v);
}

void ga_integrator_sizes(const ga_integrator *g, double of_q[2], double of_v[2])
{
    const ga_tolerance *tol = &g->run.control.tolerance;
    for (int k = 0; k < 2; ++k) {
        of_q[k] = g->run.adaptive ? tol->size_q[k] : 0;
        of_v[k] = g->run.adaptive ? tol->size_v[k] : 0;
    }
}

ga_sample ga_integrator_run_sample(ga_integrator *g, double t)
{
    return ga_run_sample(&g->run, t);
}

ga_status ga_integrator_simulate(ga_integrator *g, double t0, const double *q0,
                                 const double *v0, const ga_simulation *def, ga_report *report)
{
    GA_TRY(prepare(g, t0, q0, v0, def, report));
    g->started = true;
    return leave_run(g, ga_run_simulate(&g->run, report), report);
}

ga_status ga_integrator_interpolate(ga_integrator *g, double t, double *q, double *v,
                                    double *vd, double *lambda, double *psi)
{
    if (!g || !g->started) return GA_ERR_STATE;
    ga_onestep *m = g->method;
    const ga_solution *now = &m->now;
    double *multipliers = g->hat;
    double first = now->steps ? now->t_old : now->t;
    double slack = 1e-9 * (now->t - first);
    if (!(t >= first - slack && t <= now->t + slack)) return GA_ERR_ARGUMENT;
    m->type->interpolate(m, t, q, v, vd, multipliers);
    if (lambda) memcpy(lambda, multipliers, (size_t)m->dae->m * sizeof *lambda);
    if (psi) memcpy(psi, multipliers + m->dae->m, (size_t)m->dae->p * sizeof *psi);
    return GA_OK;
}

ga_status ga_integrator_hat(ga_integrator *g, double *vd, double *lambda, double *psi,
                            ga_report *report)
{
    GA_TRY(ga_integrator_check_started(g, report));
    const ga_dae *dae = g->method->dae;
    const ga_solution *now = &g->method->now;
    double *hat = g->hat;
    memcpy(hat, now->multipliers, (size_t)dae->mp * sizeof *hat);
    ga_status status = ga_onestep_accelerate(g->method, now->t, now->q, now->v, g->vd_hat, hat);
    if (status != GA_OK) {
        ga_onestep_explain(g->method, status, now->h, report);
        return status;
    }
    if (vd) memcpy(vd, g->vd_hat, (size_t)dae->nv * sizeof *vd);
    if (lambda) memcpy(lambda, hat, (size_t)dae->m * sizeof *lambda);
    if (psi) memcpy(psi, hat + dae->m, (size_t)dae->p * sizeof *psi);
    return ga_fail(report, GA_OK, "%s", "");
}

ga_status ga_integrator_reactions(ga_integrator *g, double t, const double *q, const double *v,
                                  double *vd, double *lambda, double *psi)
{
    const ga_dae *dae = g->method->dae;
    double *hat = g->hat;
    memcpy(hat, lambda, (size_t)dae->m * sizeof *hat);
    memcpy(hat + dae->m, psi, (size_t)dae->p * sizeof *hat);
    GA_TRY(ga_onestep_accelerate(g->method, t, q, v, g->vd_hat, hat));
    memcpy(vd, g->vd_hat, (size_t)dae->nv * sizeof *vd);
    memcpy(lambda, hat, (size_t)dae->m * sizeof *hat);
    memcpy(psi, hat + dae->m, (size_t)dae->p * sizeof *hat);
    return GA_OK;
}

ga_status ga_integrator_reactions_near(ga_integrator *g, double t, const double *q,
                                       const double *v, double *vd, double *lambda, double *psi)
{
    /* The error after n sweeps is the n-th power of the relative change of the matrix: this one
     * is far below what the dense output adds. */
    enum { SWEEPS = 5 };
    static const double small = 1e-10;
    ga_dae *dae = g->method->dae;
    ga_consistent *c = g->method->output;
    ga_saddle *k = &c->saddle;
    const bool linear = !dae->sys.force_uses_multipliers && !c->redundancy.active;
    if (!linear || k->parts != GA_SADDLE_ALL || k->singular >= 0 || c->holds)
        return ga_integrator_reactions(g, t, q, v, vd, lambda, psi);
    const ga_point at = {.t = t, .q = q, .v = v};
    GA_TRY(ga_dae_mass(dae, t, q, k->M));
    GA_TRY(ga_dae_gradient(dae, t, q, v, k->G));
    GA_TRY(ga_dae_acceleration_rhs(dae, t, q, v, k->rhs + dae->nv));
    GA_TRY(ga_dae_force(dae, &at, k->rhs));
    ga_saddle_solve(k, SWEEPS); /* leaves the last increment in k->defect */
    const bool good = ga_norm_max(dae->nv, k->defect) <= small * ga_norm_max(dae->nv, k->x) &&
                      ga_norm_max(dae->mp, k->defect + dae->nv) <=
                          small * ga_norm_max(dae->mp, k->x + dae->nv);
    if (!good) return ga_integrator_reactions(g, t, q, v, vd, lambda, psi);
    memcpy(vd, k->x, (size_t)dae->nv * sizeof *vd);
    memcpy(lambda, k->x + dae->nv, (size_t)dae->m * sizeof *lambda);
    memcpy(psi, k->x + dae->nv + dae->m, (size_t)dae->p * sizeof *psi);
    return GA_OK;
}

static ga_status explain_impulse(const ga_dae *dae, ga_status status, double t,
                                 ga_report *report)
{
    if (status == GA_OK) return ga_fail(report, GA_OK, "%s", "");
    if (status == GA_ERR_MEMORY) return ga_fail(report, status, "out of memory");
    if (status == GA_ERR_SINGULAR)
        return ga_fail_at(report, t, -1, status,
                          "the matrix [M G^T; G 0] of an impulse at t = %.9g is singular", t);
    ga_dae_explain(dae, t, report);
    return status;
}

ga_status ga_integrator_impulse(ga_integrator *g, double t, const double *q, const double *v,
                                const double *direction, double *dv, ga_report *report)
{
    if (!g || !q || !v || !direction || !dv)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "integrator, q, v, direction and dv must be given");
    const ga_dae *dae = g->method->dae;
    ga_saddle *k = &g->method->consistent->saddle;
    ga_status status = ga_consistent_factor(g->method->consistent, t, q, v, GA_SADDLE_ALL);
    if (status == GA_OK) {
        memset(k->rhs, 0, (size_t)(dae->nv + dae->mp) * sizeof *k->rhs);
        memcpy(k->rhs, direction, (size_t)dae->nv * sizeof *k->rhs);
        ga_saddle_solve(k, 2);
        memcpy(dv, k->x, (size_t)dae->nv * sizeof *dv);
    }
    if (!g->started) ga_factor_forget(k->factor); /* the first start chooses the pivots */
    return explain_impulse(dae, status, t, report);
}

const double *ga_integrator_impulse_multipliers(const ga_integrator *g)
{
    return g->method->consistent->saddle.x + g->method->dae->nv;
}

static const double *error_or_zero(const ga_integrator *g, const double *error)
{
    return error ? error : g->zero;
}

const double *ga_integrator_error_q(const ga_integrator *g)
{
    return error_or_zero(g, g->run.control.trial.q);
}

const double *ga_integrator_error_v(const ga_integrator *g)
{
    return error_or_zero(g, g->run.control.trial.v);
}

ga_control_statistics ga_integrator_control_statistics(const ga_integrator *g)
{
    return g->run.control.stats;
}

/* --- Richardson --------------------------------------------------------------------------- */

/* The same mesh of steps, then with each step in two and in four pieces. */
typedef struct levels {
    double *q[3], *v[3]; /* at t_end */
    double *x, *y;       /* nv */
    double t, *mesh;     /* the last time met, and the sizes of steps up to there */
    long steps, room;
    bool out_of_memory;
} levels;

static ga_status create_levels(const ga_stepper *s, levels *l)
{
    bool memory = (l->x = GA_NEW(double, s->nv)) && (l->y = GA_NEW(double, s->nv));
    for (int k = 0; k < 3 && memory; ++k)
        memory = (l->q[k] = GA_NEW(double, s->nq)) && (l->v[k] = GA_NEW(double, s->nv));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

static void destroy_levels(levels *l)
{
    for (int k = 0; k < 3; ++k) {
        ga_free(l->q[k]);
        ga_free(l->v[k]);
    }
    ga_free(l->x);
    ga_free(l->y);
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

/* q[count-1], v[count-1] := the extrapolated solution; the errors are of the coarsest level. On
 * a mesh halved and halved again the error is c2 h^2 + c3 h^3 + ..., so the weights are those
 * of h^2 for a pair and of h^2, h^3 for three levels: x1 + (x1 - x0)/3, then 8/7, -1/7. */
static void extrapolate(const ga_stepper *s, levels *l, int count)
{
    const int n = s->dae.sys.node_count;
    const ga_node *nodes = s->dae.sys.nodes;
    for (int round = 1; round < count; ++round) {
        double weight = 1 / (pow(2, round + 1) - 1);
        for (int k = count - 1; k >= round; --k) {
            ga_nodes_difference(n, nodes, l->q[k - 1], l->q[k], l->x);
            for (int i = 0; i < s->nv; ++i) l->x[i] *= weight;
            ga_nodes_update(n, nodes, GA_MAP_EXP, l->q[k], l->x, l->q[k]);
            for (int i = 0; i < s->nv; ++i)
                l->v[k][i] += weight * (l->v[k][i] - l->v[k - 1][i]);
        }
    }
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

ga_status ga_integrator_richardson(ga_integrator *g, double t0, const double *q0,
                                   const double *v0, const ga_simulation *def, int count,
                                   double *q, double *v, double *error_q, double *error_v,
                                   ga_report *report)
{
    GA_TRY(check_simulation(g, t0, def, report));
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
    const ga_stepper *s = g->stepper;
    levels l = {.room = 0};
    ga_status status = create_levels(s, &l);
    if (status != GA_OK) ga_fail(report, status, "out of memory");
    if (status == GA_OK) status = run_levels(g, t0, q0, v0, def, count, &l, report);
    if (status == GA_OK) {
        memcpy(g->stepper->trial.q, l.q[0], (size_t)s->nq * sizeof *l.q[0]);
        memcpy(l.y, l.v[0], (size_t)s->nv * sizeof *l.y);
        extrapolate(s, &l, count);
        const double *best_q = l.q[count - 1], *best_v = l.v[count - 1];
        if (error_q)
            ga_nodes_difference(s->dae.sys.node_count, s->dae.sys.nodes, s->trial.q, best_q,
                                error_q);
        for (int i = 0; error_v && i < s->nv; ++i) error_v[i] = best_v[i] - l.y[i];
        if (q) memcpy(q, best_q, (size_t)s->nq * sizeof *q);
        if (v) memcpy(v, best_v, (size_t)s->nv * sizeof *v);
        ga_fail(report, GA_OK, "%s", "");
    }
    destroy_levels(&l);
    return status;
}
