/* The loop of a simulation. After every accepted step: what happened in it, in the order of
 * time (output times and events, on the dense output); then restarts, where something changed.
 */
#include "integrate/run.h"

#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <string.h>

ga_status ga_run_create(ga_stepper *s, const ga_simulation *def, ga_run *run)
{
    memset(run, 0, sizeof *run);
    run->s = s;
    run->def = *def;
    run->adaptive = def->control.relative > 0;
    ga_status status = ga_controller_create(s, &def->control, &run->control);
    if (status == GA_OK) status = ga_watch_create(s, &def->events, &run->watch);
    bool memory = (run->q = GA_NEW(double, s->nq)) && (run->v = GA_NEW(double, s->nv)) &&
                  (run->vd = GA_NEW(double, s->nv)) &&
                  (run->multipliers = GA_NEW(double, s->mp));
    if (status == GA_OK && !memory) status = GA_ERR_MEMORY;
    if (status != GA_OK) ga_run_destroy(run);
    return status;
}

void ga_run_destroy(ga_run *run)
{
    ga_controller_destroy(&run->control);
    ga_watch_destroy(&run->watch);
    ga_free(run->q);
    ga_free(run->v);
    ga_free(run->vd);
    ga_free(run->multipliers);
    ga_free(run->steps);
    memset(run, 0, sizeof *run);
}

/* --- output ------------------------------------------------------------------------------- */

/* The solution at t, within the last step, to the user. */
static void put_out(ga_run *run, double t)
{
    ga_stepper *s = run->s;
    run->last_output = t;
    if (!run->def.output) return;
    ga_dense(s, t, run->q, run->v, run->vd, run->multipliers);
    if (run->def.multipliers != GA_MULTIPLIERS_SCHEME) {
        /* where the acceleration level has no solution, the scheme's own values stand */
        double *vd = s->start.vd_hat, *hat = s->start.guess;
        memcpy(hat, run->multipliers, (size_t)s->mp * sizeof *hat);
        if (ga_saddle_acceleration(s, t, run->q, run->v, vd, hat) == GA_OK) {
            memcpy(run->vd, vd, (size_t)s->nv * sizeof *vd);
            memcpy(run->multipliers, hat, (size_t)s->mp * sizeof *hat);
        }
    }
    ga_sample sample = {t, run->q, run->v, run->vd, run->multipliers, run->multipliers + s->m};
    if (run->def.output(run->def.user, &sample) != GA_EVAL_OK) run->stopped = true;
}

/* Regular output times up to t. */
static void put_out_until(ga_run *run, double t)
{
    if (run->def.output_every <= 0) return;
    const double slack = 1e-12 * run->def.output_every;
    while (!run->stopped && run->next_output <= t + slack) {
        put_out(run, fmin(run->next_output, run->s->now.t));
        ++run->outputs;
        run->next_output = run->t0 + (double)run->outputs * run->def.output_every;
    }
}

/* --- starts ------------------------------------------------------------------------------- */

/* Start values from a consistent state. */
static ga_status start_here(ga_run *run, double h_guess, ga_report *report)
{
    ga_stepper *s = run->s;
    ga_status status;
    s->dense.steps = -1;
    s->usable = false;
    if (run->adaptive) {
        status = ga_controller_start(&run->control, h_guess);
    } else {
        double h = run->def.step;
        status = ga_start_values(s, h, s->now.a, s->now.v);
        s->now.h = s->h_grid = h;
        s->t_start = s->now.t;
        s->grid = 0;
    }
    if (status != GA_OK) ga_step_explain(s, status, s->now.h, report);
    if (status == GA_OK && !s->matrix.full) ga_step_warm(s);
    return status;
}

/* Begins anew at t from q and v, which are made consistent first. */
static ga_status restart(ga_run *run, double t, const double *q, const double *v,
                         ga_report *report)
{
    ga_stepper *s = run->s;
    ga_projection projection = s->projection;
    double max_projection = s->def.max_projection;
    memcpy(s->q, q, (size_t)s->nq * sizeof *q);
    memcpy(s->v, v, (size_t)s->nv * sizeof *v);
    memcpy(s->l_tilde, s->now.lambda, (size_t)s->mp * sizeof *s->l_tilde);
    s->def.max_projection = INFINITY; /* a limit for what the user starts from */
    ga_status status = ga_start_consistent(s, t, s->q, s->v, s->l_tilde, report);
    s->def.max_projection = max_projection;
    s->projection = projection;
    GA_TRY(status);
    ++run->control.stats.restarts;
    return start_here(run, 0, report);
}

/* --- what happened in a step -------------------------------------------------------------- */

/* Calls the user at an event. *changed tells that the integration went back to it. */
static ga_status happen(ga_run *run, double t, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    const ga_events *events = &run->def.events;
    ++run->control.stats.events;
    put_out(run, t);
    if (!events->happen || run->stopped) return GA_OK;
    ga_dense(s, t, run->q, run->v, NULL, NULL);
    ga_action action =
        events->happen(events->user, run->watch.count, run->watch.which, t, run->q, run->v);
    if (action == GA_ACTION_CONTINUE) return GA_OK;
    for (int i = 0; i < s->nq; ++i)
        if (!isfinite(run->q[i]) || (i < s->nv && !isfinite(run->v[i])))
            return ga_fail(report, GA_ERR_NOT_FINITE,
                           "an event at t = %.9g left a state that is not finite", t);
    *changed = true;
    GA_TRY(restart(run, t, run->q, run->v, report));
    if (action == GA_ACTION_STOP) {
        run->stopped = true;
        return GA_OK;
    }
    GA_TRY(ga_watch_restart(&run->watch, report));
    put_out(run, t); /* behind the event */
    return GA_OK;
}

static ga_status look_back(ga_run *run, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    double from = s->now.t_old;
    *changed = false;
    while (!*changed && !run->stopped) {
        bool found;
        double t;
        GA_TRY(ga_watch_next(&run->watch, from, &found, &t, report));
        if (!found) break;
        put_out_until(run, t);
        if (!run->stopped) GA_TRY(happen(run, t, changed, report));
        from = t;
    }
    if (*changed || run->stopped) return GA_OK;
    put_out_until(run, s->now.t);
    if (run->def.output_every <= 0 && !run->stopped) put_out(run, s->now.t);
    return GA_OK;
}

/* --- the loop ----------------------------------------------------------------------------- */

static ga_status record_step(ga_run *run)
{
    if (!run->record) return GA_OK;
    if (run->step_count == run->step_room) {
        long room = run->step_room ? 2 * run->step_room : 1024;
        double *more = GA_NEW(double, room);
        if (!more) return GA_ERR_MEMORY;
        if (run->step_count) memcpy(more, run->steps, (size_t)run->step_count * sizeof *more);
        ga_free(run->steps);
        run->steps = more;
        run->step_room = room;
    }
    run->steps[run->step_count++] = run->s->now.h;
    return GA_OK;
}

/* The next announced breakpoint behind t, or t_end. */
static double next_stop(const ga_run *run, double t)
{
    double stop = run->def.t_end;
    for (int k = 0; k < run->def.breakpoint_count; ++k) {
        double at = run->def.breakpoints[k];
        if (at > t + 1e-12 * fmax(fabs(t), run->control.duration) && at < stop) stop = at;
    }
    return stop;
}

ga_status ga_run_simulate(ga_run *run, ga_report *report)
{
    ga_stepper *s = run->s;
    run->t0 = s->now.t;
    run->control.duration = run->watch.duration = run->def.t_end - run->t0;
    run->next_output = run->t0;
    GA_TRY(start_here(run, run->def.control.first_step, report));
    GA_TRY(ga_watch_start(&run->watch, run->control.duration, report));
    put_out(run, run->t0);
    run->outputs = 1;
    run->next_output = run->t0 + run->def.output_every;
    while (s->now.t < run->def.t_end && !run->stopped) {
        double stop = next_stop(run, s->now.t);
        bool jumped = false, changed = false;
        if (run->adaptive)
            GA_TRY(ga_controller_step(&run->control, stop, &jumped, report));
        else
            GA_TRY(ga_step_grid(s, stop, report));
        GA_TRY(record_step(run));
        GA_TRY(look_back(run, &changed, report));
        bool at_break = s->now.t == stop && stop < run->def.t_end;
        if (!changed && !run->stopped && (jumped || at_break))
            GA_TRY(restart(run, s->now.t, s->now.q, s->now.v, report));
    }
    if (!run->stopped && run->last_output < s->now.t) put_out(run, s->now.t);
    return GA_OK;
}

ga_status ga_run_repeat(ga_run *run, int parts, ga_report *report)
{
    ga_stepper *s = run->s;
    if (run->step_count == 0) return GA_OK;
    double h = run->steps[0] / parts;
    ga_status status = ga_start_derivatives(s, h, run->control.vdd, run->control.vddd);
    if (status == GA_OK) status = ga_start_refined(s, h, run->control.vdd, run->control.vddd);
    if (status != GA_OK) {
        ga_step_explain(s, status, h, report);
        return status;
    }
    s->usable = false;
    double t = s->now.t;
    for (long k = 0; k < run->step_count; ++k) {
        for (int part = 1; part <= parts; ++part)
            GA_TRY(
                ga_step_to(s, run->steps[k] / parts, t + run->steps[k] * part / parts, report));
        t = s->now.t;
    }
    return GA_OK;
}
