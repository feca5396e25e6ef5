/* The loop of a simulation. After every accepted step, and after every piece of one that had to
 * be cut: what happened in it, in the order of time (output times and events, on the dense
 * output); then restarts, where something changed. Should one of these fail, the state goes
 * back to where the step began. */
#include "integrate/run.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Accelerations at events, projections after an extrapolation, and in index 3 velocities for
 * another step size need the system of the start in the middle of a run. */
static bool needs_saddle(const ga_stepper *s, const ga_simulation *def)
{
    const bool adaptive = def->control.relative > 0;
    return def->events.count > 0 || (adaptive && (def->control.mode == GA_ERROR_EXTRAPOLATE ||
                                                  !s->form->velocity_level));
}

ga_status ga_run_create(ga_stepper *s, const ga_simulation *def, ga_run *run)
{
    memset(run, 0, sizeof *run);
    run->s = s;
    run->def = *def;
    run->adaptive = def->control.relative > 0;
    run->last_output = -INFINITY;
    ga_status status = ga_controller_create(s, &def->control, &run->control);
    if (status == GA_OK) status = ga_watch_create(s, &def->events, &run->watch);
    if (status == GA_OK && needs_saddle(s, def)) status = ga_saddle_keep(s);
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

static ga_sample sample_of(const ga_run *run, double t, const double *q, const double *v,
                           const double *vd, const double *multipliers)
{
    return (ga_sample){.t = t,
                       .q = q,
                       .v = v,
                       .vd = vd,
                       .lambda = multipliers,
                       .psi = multipliers + run->s->m,
                       .step = run->taken.step,
                       .error = run->taken.error,
                       .iterations = run->taken.iterations};
}

/* The solution at t, within the last step, to the user. */
static void put_out(ga_run *run, double t)
{
    ga_stepper *s = run->s;
    run->last_output = t;
    if (!run->def.output) return;
    ga_dense_output(s, t, run->q, run->v, run->vd, run->multipliers);
    if (run->def.multipliers != GA_MULTIPLIERS_SCHEME) {
        /* where the acceleration level has no solution, the scheme's own values stand */
        double *vd = s->start.vd_hat, *hat = s->start.guess;
        memcpy(hat, run->multipliers, (size_t)s->mp * sizeof *hat);
        if (ga_saddle_acceleration(s, t, run->q, run->v, vd, hat) == GA_OK) {
            memcpy(run->vd, vd, (size_t)s->nv * sizeof *vd);
            memcpy(run->multipliers, hat, (size_t)s->mp * sizeof *hat);
        }
    }
    ga_sample sample = sample_of(run, t, run->q, run->v, run->vd, run->multipliers);
    if (run->def.output(run->def.user, &sample) != GA_EVAL_OK) run->stopped = true;
}

/* The same, as the scheme has it, to whoever follows the steps. */
static void tell_accepted(ga_run *run, double t)
{
    const ga_state *now = &run->s->now;
    if (!run->def.accepted) return;
    ga_sample sample = sample_of(run, t, now->q, now->v, now->vd, now->lambda);
    if (t != now->t) {
        /* an event: the energy before it is compared with that of a consistent start */
        ga_dense_consistent(run->s, t, run->q, run->v, run->vd, run->multipliers);
        sample = sample_of(run, t, run->q, run->v, run->vd, run->multipliers);
    }
    if (run->def.accepted(run->def.user, &sample) != GA_EVAL_OK) run->stopped = true;
}

/* Is it the turn of a regular output, up to t? */
static bool is_due(const ga_run *run, double t)
{
    return run->def.output_every > 0 && run->next_output <= t;
}

static void plan_next(ga_run *run)
{
    ++run->outputs;
    run->next_output = run->t0 + (double)run->outputs * run->def.output_every;
}

/* Regular output times that differ from t by this much are t. */
static double slack(const ga_run *run, double t)
{
    return ga_larger(1e-12 * run->def.output_every,
                     4 * DBL_EPSILON * ga_larger(fabs(t), fabs(run->t0)));
}

/* Regular outputs on the way to t. */
static void tell_before(ga_run *run, double t)
{
    for (; !run->stopped && is_due(run, t - slack(run, t)); plan_next(run))
        put_out(run, run->next_output);
}

/* At t there is an output, regular or not. */
static void tell_with_output(ga_run *run, double t)
{
    tell_accepted(run, t);
    put_out(run, t);
    while (is_due(run, t + slack(run, t))) plan_next(run);
}

static void tell_step(ga_run *run, double t)
{
    bool wanted = run->def.output_every <= 0 || is_due(run, t + slack(run, t));
    if (wanted) {
        tell_with_output(run, t);
    } else {
        tell_accepted(run, t);
        if (run->stopped) put_out(run, t);
    }
}

/* Behind a start. */
static void tell_start(ga_run *run, double t)
{
    if (!run->stopped) tell_accepted(run, t);
    put_out(run, t);
}

/* --- breakpoints -------------------------------------------------------------------------- */

/* A force that jumps at a breakpoint may have at that time itself the value before or after. So
 * the step before ends, and the one behind begins, this much beside it. */
static double beside(const ga_run *run, double t)
{
    return 32 * DBL_EPSILON * ga_larger(fabs(t), run->control.duration);
}

/* Too short a time to be integrated. */
static double sliver(const ga_run *run, double t)
{
    return 1e-12 * ga_larger(fabs(t), run->control.duration);
}

/* t_end or the breakpoint that t is about to reach: there is no time for a step in between. */
static double round_up(const ga_run *run, double t)
{
    for (int k = 0; k < run->def.breakpoint_count; ++k) {
        double at = run->def.breakpoints[k];
        if (at > t && at - t <= sliver(run, t))
            return ga_smaller(at + beside(run, at), run->def.t_end);
    }
    return run->def.t_end - t <= sliver(run, t) ? run->def.t_end : t;
}

/* The first of these times that is clearly after t and before `last`; or that. */
static double first_after(const ga_run *run, double t, int count, const double *times,
                          double last)
{
    for (int k = 0; k < count; ++k)
        if (times[k] - t > sliver(run, t) && times[k] < last) last = times[k];
    return last;
}

/* Where the next step has to stop: before the next announced breakpoint, or at t_end; if its
 * size may be chosen, also where it need not start anew; else at the pause. next (may be null):
 * where to go on from. */
static double next_stop(const ga_run *run, double t, double *next)
{
    const ga_simulation *def = &run->def;
    double stop = first_after(run, t, def->breakpoint_count, def->breakpoints, def->t_end);
    const bool at_break = stop < def->t_end;
    if (next) *next = at_break ? ga_smaller(stop + beside(run, stop), def->t_end) : stop;
    if (at_break) stop -= beside(run, stop);
    if (!run->adaptive) {
        if (!(run->pause - t > sliver(run, t) && run->pause < stop)) return stop;
        if (next) *next = run->pause;
        return run->pause;
    }
    const double earlier = first_after(run, t, def->stop_count, def->stops, stop);
    if (next && stop - earlier > sliver(run, earlier)) *next = earlier;
    return stop - earlier > sliver(run, earlier) ? earlier : stop;
}

/* --- starts ------------------------------------------------------------------------------- */

/* Start values for a first step of size h from derivatives of v', taken in forward direction;
 * the stepper's own where the user has asked for others than usual. */
static ga_status start_forward(ga_run *run, double h)
{
    ga_stepper *s = run->s;
    ga_controller *c = &run->control;
    if (run->adaptive || s->def.start == s->form->start) {
        ga_status status = ga_start_derivatives(s, h, c->vdd, c->vddd);
        if (status == GA_OK) return ga_start_refined(s, h, c->vdd, c->vddd);
        if (run->adaptive || !ga_step_may_retry(status)) return status;
    }
    s->now.h = h;
    return ga_start_values(s, h, s->now.a, s->now.v);
}

/* Start values for steps of fixed size. In the middle of a run v'' must not look back to where
 * forces were others, and the size is that of the first step, for which the stepper would do it
 * again in its own way. A run that is to be repeated starts as the repetitions do. */
static ga_status start_fixed(ga_run *run, bool anew)
{
    ga_stepper *s = run->s;
    double h = run->def.step;
    s->h_grid = h;
    s->t_start = s->now.t;
    s->grid = 0;
    if (anew) {
        double left = next_stop(run, s->now.t, NULL) - s->now.t;
        if (left < 1.1 * h) h = left <= h * (1 + 1e-9) ? ga_smaller(h, left) : 0.5 * left;
    }
    if (anew || run->record) return start_forward(run, h);
    s->now.h = h;
    return ga_start_values(s, h, s->now.a, s->now.v);
}

/* An estimate belongs to a step. */
static void forget_errors(ga_run *run)
{
    const size_t size = (size_t)run->s->nv * sizeof(double);
    memset(run->control.error_q, 0, size);
    memset(run->control.error_v, 0, size);
}

/* Start values from a consistent state. */
static ga_status start_here(ga_run *run, bool anew, ga_report *report)
{
    ga_stepper *s = run->s;
    s->dense.steps = -1;
    s->usable = false;
    if (!(s->now.t < run->def.t_end)) { /* no step will follow */
        memcpy(s->now.a, s->now.vd, (size_t)s->nv * sizeof *s->now.a);
        forget_errors(run);
        return GA_OK;
    }
    double guess = anew ? 0 : run->def.control.first_step;
    ga_status status =
        run->adaptive ? ga_controller_start(&run->control, guess) : start_fixed(run, anew);
    forget_errors(run); /* the first step was chosen with them */
    if (status == GA_OK && !s->matrix.full) status = ga_step_warm(s);
    if (status != GA_OK) ga_step_explain(s, status, s->now.h, report);
    return status;
}

/* Lets the user look at a consistent state and change what his system is, until he is content
 * with it. */
static ga_status settle(ga_run *run, ga_report *report)
{
    enum { MOST = 50 };
    ga_stepper *s = run->s;
    const ga_state *now = &s->now;
    const ga_events *events = &run->def.events;
    const double t_begin = now->t_begin;
    if (!events->settled || run->stopped) return GA_OK;
    for (int k = 0; k <= MOST; ++k) {
        ga_sample sample = sample_of(run, now->t, now->q, now->v, now->vd, now->lambda);
        ga_action action = events->settled(events->user, &sample);
        if (action == GA_ACTION_STOP) run->stopped = true;
        if (action != GA_ACTION_RESTART) return GA_OK;
        GA_TRY(ga_start_again(s, now->t, now->q, now->v, report));
        s->now.t_begin = t_begin; /* nothing has jumped but what jumped before */
    }
    ga_fail(report, GA_ERR_EVENTS,
            "at t = %.9g the contacts find no consistent state: %d restarts in a row", now->t,
            MOST + 1);
    if (report) report->time = now->t;
    return GA_ERR_EVENTS;
}

ga_status ga_run_normalise(const ga_stepper *s, double *q, ga_report *report)
{
    for (int k = 0; k < s->dae.sys.node_count; ++k) {
        ga_node node = s->dae.sys.nodes[k];
        q += ga_node_nq(node);
        if (node.group != GA_GROUP_SO3 && node.group != GA_GROUP_R3SO3 &&
            node.group != GA_GROUP_SE3)
            continue;
        double *p = q - 4;
        double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
        if (!(length > 1e-6 && length < 1e6))
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "the quaternion of node %d has length %g: expected 1", k, length);
        if (fabs(length - 1) > 1e-15)
            for (int i = 0; i < 4; ++i) p[i] /= length;
    }
    return GA_OK;
}

/* Begins anew at t from q and v, which are made consistent first. */
static ga_status restart(ga_run *run, double t, const double *q, const double *v,
                         ga_report *report)
{
    GA_TRY(ga_start_again(run->s, t, q, v, report));
    GA_TRY(settle(run, report));
    return start_here(run, true, report);
}

/* After something failed: to where the last step, or an attempt to start anew, began. */
static void put_back(ga_run *run)
{
    ga_stepper *s = run->s;
    ga_state_copy(&s->now, &s->saved);
    s->t_start = s->now.t; /* the grid, too, goes on from there */
    s->grid = 0;
    s->dense.steps = -1;
    s->usable = false;
    forget_errors(run);
}

/* --- what happened in a step -------------------------------------------------------------- */

/* Where two events that make the integration start anew are closer than this part of a fixed
 * step, the next step is as short. Not shorter: round-off of positions, divided by the step, is
 * in the velocities of index 3. */
static const double CLOSE = 0.01;

/* Calls the user at an event. *changed tells that the integration went back to it. */
static ga_status happen(ga_run *run, double t, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    const ga_events *events = &run->def.events;
    ga_watch *w = &run->watch;
    ++run->control.stats.events;
    tell_with_output(run, t);
    if (!events->happen || run->stopped) return GA_OK;
    ga_dense_consistent(s, t, run->q, run->v, NULL, NULL);
    GA_TRY(ga_watch_before(w, t, run->q, run->v, report));
    ga_sample sample = sample_of(run, t, w->q_given, w->v_given, w->vd, w->multipliers);
    ga_action action =
        events->happen(events->user, w->count, w->which, &sample, run->q, run->v);
    if (action == GA_ACTION_CONTINUE) return GA_OK;
    for (int i = 0; i < s->nq; ++i)
        if (!isfinite(run->q[i]) || (i < s->nv && !isfinite(run->v[i])))
            return ga_fail(report, GA_ERR_NOT_FINITE,
                           "an event at t = %.9g left a state that is not finite", t);
    GA_TRY(ga_run_normalise(s, run->q, report));
    *changed = true;
    run->stopped = action == GA_ACTION_STOP;
    /* Far more events than steps: what is interpolated over a whole step may cause them. A body
     * that leaves a stop slowly can seem to turn back to it at once, again and again. */
    const double part = CLOSE * run->def.step;
    run->pause = t - run->last_event < part ? t + part : -INFINITY;
    run->last_event = t;
    GA_TRY(restart(run, round_up(run, t), run->q, run->v, report));
    if (action == GA_ACTION_STOP) return GA_OK;
    ++run->control.stats.restarts;
    GA_TRY(ga_watch_after(w, t, run->q, run->v, report));
    GA_TRY(ga_watch_restart(w, report));
    tell_start(run, s->now.t);
    return GA_OK;
}

static ga_status look_back(ga_run *run, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    double from = s->now.t_old;
    while (!*changed && !run->stopped) {
        bool found;
        double t;
        GA_TRY(ga_watch_next(&run->watch, from, &found, &t, report));
        if (!found) break;
        tell_before(run, t);
        if (!run->stopped) GA_TRY(happen(run, t, changed, report));
        from = t;
    }
    if (*changed || run->stopped || !(from < s->now.t)) return GA_OK;
    tell_before(run, s->now.t);
    if (!run->stopped) tell_step(run, s->now.t);
    return GA_OK;
}

/* --- the loop ----------------------------------------------------------------------------- */

static ga_status record_step(ga_run *run, ga_report *report)
{
    if (!run->record) return GA_OK;
    if (run->step_count == run->step_room) {
        long room = run->step_room ? 2 * run->step_room : 1024;
        double *more = GA_NEW(double, room);
        if (!more) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
        if (run->step_count) memcpy(more, run->steps, (size_t)run->step_count * sizeof *more);
        ga_free(run->steps);
        run->steps = more;
        run->step_room = room;
    }
    run->steps[run->step_count++] = run->s->now.h;
    return GA_OK;
}

static void count_step(ga_control_statistics *stats, double h)
{
    ++stats->accepted;
    if (stats->accepted == 1 || h < stats->step_min) stats->step_min = h;
    if (h > stats->step_max) stats->step_max = h;
}

/* What is to be done after a step or a piece of one; s->saved is the state before. */
static ga_status follow_up(ga_run *run, bool *changed, ga_report *report)
{
    GA_TRY(record_step(run, report));
    const ga_taken before = run->taken;
    run->taken = (ga_taken){.step = run->s->now.h,
                            .error = run->adaptive ? run->control.error : 0,
                            .iterations = run->s->iteration};
    count_step(&run->control.stats, run->taken.step);
    ga_status status = look_back(run, changed, report);
    if (status == GA_OK) return GA_OK;
    put_back(run);
    run->taken = before;
    return status;
}

/* From the current time to t1 = now + h in halves, as the stepper does when a step does not
 * work in one go; but here something may happen after each. cause: why it did not work. */
static ga_status advance_in_halves(ga_run *run, double h, double t1, int halvings,
                                   ga_status cause, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    const double ends[2] = {s->now.t + 0.5 * h, t1};
    if (!ga_step_may_retry(cause) || halvings == 0) return cause;
    if (!(ends[0] > s->now.t && ends[0] < t1)) return cause;
    ++s->stats.halvings;
    for (int k = 0; k < 2 && !*changed && !run->stopped; ++k) {
        ga_status status = ga_step_to(s, 0.5 * h, ends[k], report);
        if (status == GA_OK)
            GA_TRY(follow_up(run, changed, report));
        else
            GA_TRY(advance_in_halves(run, 0.5 * h, ends[k], halvings - 1, status, changed,
                                     report));
    }
    return GA_OK;
}

/* One step of the grid. */
static ga_status step_grid(ga_run *run, double stop, bool *changed, ga_report *report)
{
    ga_stepper *s = run->s;
    const int halvings = s->def.max_halvings;
    const double t_start = s->t_start;
    const long grid = s->grid;
    s->def.max_halvings = 0;
    ga_status status = ga_step_grid(s, stop, report);
    if (status == GA_OK) {
        status = follow_up(run, changed, report);
    } else {
        status = advance_in_halves(run, s->h, s->t1, halvings, status, changed, report);
        if (status == GA_OK && !*changed) {
            s->t_start = t_start;
            s->grid = grid + 1;
        }
    }
    s->def.max_halvings = halvings;
    return status;
}

static ga_status step_adaptive(ga_run *run, double stop, bool *changed, bool *jumped,
                               ga_report *report)
{
    ga_state_copy(&run->s->saved, &run->s->now);
    ga_status status = ga_controller_step(&run->control, stop, jumped, report);
    if (status == GA_OK) return follow_up(run, changed, report);
    put_back(run);
    return status;
}

/* The results end where the run ends. */
static void put_out_last(ga_run *run)
{
    double t = run->s->now.t;
    if (t - run->last_output > sliver(run, t)) put_out(run, t);
}

/* Where a force has jumped. */
static ga_status begin_anew(ga_run *run, double t, ga_report *report)
{
    ga_stepper *s = run->s;
    ga_state_copy(&s->saved, &s->now);
    ga_status status = restart(run, t, s->now.q, s->now.v, report);
    if (status != GA_OK) {
        put_back(run);
        return status;
    }
    ++run->control.stats.restarts;
    if (!run->stopped) tell_accepted(run, t);
    if (run->stopped) put_out_last(run);
    return GA_OK;
}

static ga_status run_to_end(ga_run *run, ga_report *report)
{
    const ga_stepper *s = run->s;
    const double t_end = run->def.t_end;
    GA_TRY(ga_watch_start(&run->watch, t_end, report));
    while (s->now.t < t_end && !run->stopped) {
        double next, stop = next_stop(run, s->now.t, &next);
        bool jumped = false, changed = false;
        if (run->adaptive)
            GA_TRY(step_adaptive(run, stop, &changed, &jumped, report));
        else
            GA_TRY(step_grid(run, stop, &changed, report));
        if (changed || run->stopped) continue;
        if (s->now.t == stop && next > stop)
            GA_TRY(begin_anew(run, next, report));
        else if (jumped)
            GA_TRY(begin_anew(run, s->now.t, report));
    }
    if (!run->stopped && run->last_output < s->now.t) put_out(run, s->now.t);
    return GA_OK;
}

/* A breakpoint at the very beginning: begin behind it. */
static ga_status start_first(ga_run *run, ga_report *report)
{
    ga_stepper *s = run->s;
    for (int k = 0; k < run->def.breakpoint_count; ++k) {
        if (fabs(run->def.breakpoints[k] - run->t0) > sliver(run, run->t0)) continue;
        double t = ga_smaller(run->t0 + beside(run, run->t0), run->def.t_end);
        return restart(run, t, s->now.q, s->now.v, report);
    }
    GA_TRY(settle(run, report));
    return start_here(run, false, report);
}

ga_status ga_run_simulate(ga_run *run, ga_report *report)
{
    ga_stepper *s = run->s;
    run->t0 = run->last_event = s->now.t;
    run->pause = -INFINITY;
    run->control.duration = run->def.t_end - run->t0;
    s->keeps = run->record || run->def.events.count > 0; /* what follows a step may fail */
    ga_state_copy(&s->saved, &s->now);
    ga_status status = start_first(run, report);
    if (status != GA_OK) {
        put_back(run);
        return status;
    }
    tell_start(run, run->t0);
    plan_next(run);
    if (!run->stopped) status = run_to_end(run, report);
    s->keeps = false;
    if (status != GA_OK && !run->stopped) put_out_last(run);
    if (run->adaptive) { /* whoever steps on by hand begins a grid here */
        s->t_start = s->now.t;
        s->grid = 0;
    }
    return status;
}

ga_status ga_run_repeat(ga_run *run, int parts, ga_report *report)
{
    ga_stepper *s = run->s;
    if (run->step_count == 0) return GA_OK;
    double h = run->steps[0] / parts;
    ga_status status = start_forward(run, h);
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
