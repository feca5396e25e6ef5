/* <galpha/simulate.h>. */
#include "base/report.h"
#include "base/struct_size.h"
#include "handle/integrator.h"

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

ga_status ga_integrator_check_simulation(const ga_integrator *g, double t0,
                                         const ga_simulation *def, ga_report *report)
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
    GA_TRY(ga_integrator_check_simulation(g, t0, def, report));
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

void ga_integrator_reactions(ga_integrator *g, ga_reactions_use use, double t, const double *q,
                             const double *v, double *vd, double *multipliers)
{
    if (use == GA_REACTIONS_FOLLOW)
        ga_dense_follow(g->method, t, q, v, vd, multipliers);
    else
        ga_dense_beside(g->method, t, q, v, vd, multipliers);
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
