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

static ga_follow follow_up;

ga_status ga_run_create(ga_onestep *m, const ga_simulation *def, ga_run *run)
{
    const ga_dae *dae = m->dae;
    memset(run, 0, sizeof *run);
    run->m = m;
    run->def = *def;
    run->adaptive = def->control.relative > 0;
    run->last_output = -INFINITY;
    run->t_begin = -INFINITY;
    run->limit = run->horizon = INFINITY;
    run->again = NAN;
    run->grid = (ga_grid){.m = m, .h = def->step, .follow = follow_up, .user = run};
    ga_status status = ga_controller_create(m, &def->control, &run->control);
    if (status == GA_OK) status = ga_watch_create(m, &def->events, &run->watch);
    if (status == GA_OK && m->type->prepare) status = m->type->prepare(m, def);
    bool memory = (run->q = GA_NEW(double, dae->nq)) && (run->v = GA_NEW(double, dae->nv)) &&
                  (run->vd = GA_NEW(double, dae->nv)) &&
                  (run->multipliers = GA_NEW(double, dae->mp));
    if (status == GA_OK && !memory) status = GA_ERR_MEMORY;
    if (status != GA_OK) ga_run_destroy(run);
    return status;
}

void ga_run_destroy(ga_run *run)
{
    if (run->m && run->m->tolerance == &run->control.tolerance) run->m->tolerance = NULL;
    ga_controller_destroy(&run->control);
    ga_watch_destroy(&run->watch);
    ga_free(run->q);
    ga_free(run->v);
    ga_free(run->vd);
    ga_free(run->multipliers);
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
                       .psi = multipliers + run->m->dae->m,
                       .step = run->taken.step,
                       .error = run->taken.error,
                       .iterations = run->taken.iterations};
}

ga_sample ga_run_sample(ga_run *run, double t)
{
    ga_onestep *m = run->m;
    const bool scheme = run->def.multipliers == GA_MULTIPLIERS_SCHEME;
    ga_dense_output(m, t, run->q, run->v, scheme ? run->vd : NULL,
                    scheme ? run->multipliers : NULL);
    if (!scheme) ga_dense_acceleration(m, t, run->q, run->v, run->vd, run->multipliers);
    return sample_of(run, t, run->q, run->v, run->vd, run->multipliers);
}

/* The solution at t, within the last step, to the user. */
static void put_out(ga_run *run, double t)
{
    run->last_output = t;
    if (!run->def.output) return;
    const ga_sample sample = ga_run_sample(run, t);
    if (run->def.output(run->def.user, &sample) != GA_EVAL_OK) run->stopped = true;
}

/* The same, as the scheme has it, to whoever follows the steps. */
static void tell_accepted(ga_run *run, double t)
{
    const ga_solution *now = &run->m->now;
    if (!run->def.accepted) return;
    ga_sample sample = sample_of(run, t, now->q, now->v, now->vd, now->multipliers);
    if (t != now->t) {
        /* an event: the energy before it is compared with that of a consistent start */
        ga_dense_consistent(run->m, t, run->q, run->v, run->vd, run->multipliers);
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

/* Regular outputs on the way to t, as far as they may be told. */
static void tell_before(ga_run *run, double t)
{
    const double last = ga_smaller(t - slack(run, t), run->horizon + slack(run, run->horizon));
    for (; !run->stopped && is_due(run, last); plan_next(run)) put_out(run, run->next_output);
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
    return 32 * DBL_EPSILON * ga_larger(fabs(t), run->control.tolerance.duration);
}

/* Too short a time to be integrated. */
static double sliver(const ga_run *run, double t)
{
    return 1e-12 * ga_larger(fabs(t), run->control.tolerance.duration);
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
    if (run->limit - t > sliver(run, t) && stop - run->limit > sliver(run, t)) {
        stop = run->limit - beside(run, run->limit);
        if (next) *next = stop;
    }
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

/* The first step of a grid that begins here. In the middle of a run, where the next stop is
 * near, it is shorter. */
static double first_of_grid(const ga_run *run, bool anew)
{
    const double h = run->def.step, t = run->m->now.t;
    if (!anew) return h;
    const double left = next_stop(run, t, NULL) - t;
    if (left >= 1.1 * h) return h;
    return left <= h * (1 + 1e-9) ? ga_smaller(h, left) : 0.5 * left;
}

/* Start values from a consistent state. In the middle of a run derivatives must not look back
 * to where forces were others. */
static ga_status start_here(ga_run *run, bool anew, ga_report *report)
{
    ga_onestep *m = run->m;
    ga_status status;
    if (!(m->now.t < run->def.t_end)) { /* no step will follow */
        status = m->type->start(m, 0, true);
    } else if (run->adaptive) {
        status = ga_controller_start(&run->control, anew ? 0 : run->def.control.first_step);
    } else {
        ga_grid_begin(&run->grid, run->def.step);
        status = m->type->start(m, first_of_grid(run, anew), anew);
    }
    ga_controller_forget_errors(&run->control); /* the first step was chosen with them */
    if (status == GA_OK && m->type->warm && m->now.t < run->def.t_end)
        status = m->type->warm(m);
    if (status != GA_OK) ga_onestep_explain(m, status, m->now.h, report);
    return status;
}

/* GA_ACTION_FAIL of the user. */
static ga_status refuse(double t, ga_report *report)
{
    return ga_fail_at(report, t, -1, GA_ERR_INCONSISTENT,
                      "after an event at t = %.9g no state satisfies the constraints", t);
}

ga_status ga_run_settle(ga_onestep *m, const ga_events *events, double t_begin, bool *stopped,
                        ga_report *report)
{
    enum { MOST = 50 };
    const ga_solution *now = &m->now;
    if (!events->settled || *stopped) return GA_OK;
    for (int k = 0; k <= MOST; ++k) {
        const ga_sample sample = {.t = now->t,
                                  .q = now->q,
                                  .v = now->v,
                                  .vd = now->vd,
                                  .lambda = now->multipliers,
                                  .psi = now->multipliers + m->dae->m};
        ga_action action = events->settled(events->user, &sample);
        if (action == GA_ACTION_FAIL) return refuse(now->t, report);
        if (action == GA_ACTION_STOP) *stopped = true;
        if (action != GA_ACTION_RESTART) return GA_OK;
        ga_projection *moved = &m->consistent->projection, before = *moved;
        /* nothing has jumped but what jumped before */
        GA_TRY(m->type->restart(m, now->t, now->q, now->v, t_begin, report));
        moved->q = ga_larger(moved->q, before.q);
        moved->v = ga_larger(moved->v, before.v);
    }
    return ga_fail_at(
        report, now->t, -1, GA_ERR_EVENTS,
        "at t = %.9g no consistent state of the contacts was found in %d restarts", now->t,
        MOST + 1);
}

static ga_status settle(ga_run *run, ga_report *report)
{
    return ga_run_settle(run->m, &run->def.events, run->t_begin, &run->stopped, report);
}

/* Begins anew at t from q and v, which are made consistent first. */
static ga_status restart(ga_run *run, double t, const double *q, const double *v,
                         ga_report *report)
{
    run->t_begin = t;
    GA_TRY(run->m->type->restart(run->m, t, q, v, t, report));
    GA_TRY(settle(run, report));
    return start_here(run, true, report);
}

/* After something failed: to where the last step, or an attempt to start anew, began. */
static void put_back(ga_run *run)
{
    run->m->type->go_back(run->m);
    ga_grid_begin(&run->grid, run->grid.h);
    ga_controller_forget_errors(&run->control);
}

/* --- what happened in a step -------------------------------------------------------------- */

/* Where two events that make the integration start anew are closer than this part of a fixed
 * step, the next step is as short. Not shorter: round-off of positions, divided by the step, is
 * in the velocities of index 3. */
static const double CLOSE = 0.01;

/* Calls the user at an event. *changed tells that the integration went back to it. */
static ga_status happen(ga_run *run, double t, bool *changed, ga_report *report)
{
    ga_onestep *m = run->m;
    const ga_events *events = &run->def.events;
    ga_watch *w = &run->watch;
    ++run->control.stats.events;
    tell_with_output(run, t);
    if (!events->happen || run->stopped) return GA_OK;
    ga_dense_consistent(m, t, run->q, run->v, NULL, NULL);
    GA_TRY(ga_watch_before(w, t, run->q, run->v, report));
    ga_sample sample = sample_of(run, t, w->q_given, w->v_given, w->vd, w->multipliers);
    ga_action action =
        events->happen(events->user, w->count, w->which, &sample, run->q, run->v);
    if (action == GA_ACTION_CONTINUE) return GA_OK;
    if (action == GA_ACTION_FAIL) return refuse(t, report);
    for (int i = 0; i < m->dae->nq; ++i)
        if (!isfinite(run->q[i]) || (i < m->dae->nv && !isfinite(run->v[i])))
            return ga_fail(report, GA_ERR_NOT_FINITE,
                           "an event at t = %.9g left a state that is not finite", t);
    GA_TRY(ga_dae_normalise(m->dae, run->q, report));
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
    tell_start(run, m->now.t);
    return GA_OK;
}

/* From where all has been told. What lies beyond the horizon waits. */
static ga_status look_back(ga_run *run, ga_report *report)
{
    const ga_solution *now = &run->m->now;
    run->changed = false;
    while (!run->changed && !run->stopped) {
        if (!run->waits)
            GA_TRY(ga_watch_next(&run->watch, run->told, &run->found, &run->event, report));
        const double t = run->found ? run->event : now->t;
        tell_before(run, t);
        run->waits = !run->stopped && t - run->horizon > sliver(run, t);
        if (run->waits) run->told = ga_larger(run->told, run->horizon);
        if (run->waits || !run->found) break;
        if (!run->stopped) GA_TRY(happen(run, t, &run->changed, report));
        run->told = t;
    }
    if (run->waits || run->changed || run->stopped || !(run->told < now->t)) return GA_OK;
    tell_step(run, now->t);
    run->told = now->t;
    return GA_OK;
}

/* --- the loop ----------------------------------------------------------------------------- */

static void count_step(ga_control_statistics *stats, double h)
{
    ++stats->accepted;
    if (stats->accepted == 1 || h < stats->step_min) stats->step_min = h;
    if (h > stats->step_max) stats->step_max = h;
}

/* What is to be done after a step or a piece of one; the method has kept the state before. */
static ga_status follow_up(void *user, ga_followed *done, ga_report *report)
{
    ga_run *run = user;
    const ga_taken before = run->taken;
    run->taken = (ga_taken){.step = run->m->now.h,
                            .error = run->adaptive ? run->control.error : 0,
                            .iterations = run->m->iterations};
    count_step(&run->control.stats, run->taken.step);
    run->told = run->m->now.t_old;
    ga_status status = look_back(run, report);
    *done = run->waits                     ? GA_FOLLOWED_WAITS
            : run->changed || run->stopped ? GA_FOLLOWED_ENDED
                                           : GA_FOLLOWED;
    if (status == GA_OK) return GA_OK;
    put_back(run);
    run->taken = before;
    return status;
}

static ga_status step_adaptive(ga_run *run, double stop, bool *jumped, ga_report *report)
{
    ga_followed done;
    run->m->type->keep(run->m);
    ga_status status = ga_controller_step(&run->control, stop, jumped, report);
    if (status == GA_OK) return follow_up(run, &done, report);
    put_back(run);
    return status;
}

/* The results end where the run ends. */
static void put_out_last(ga_run *run)
{
    double t = run->m->now.t;
    if (t - run->last_output > sliver(run, t)) put_out(run, t);
}

/* Where a force has jumped. q and v may be those of the solution. */
static ga_status begin_anew_from(ga_run *run, double t, const double *q, const double *v,
                                 ga_report *report)
{
    ga_onestep *m = run->m;
    m->type->keep(m);
    ga_status status = restart(run, t, q, v, report);
    if (status != GA_OK) {
        put_back(run);
        return status;
    }
    ++run->control.stats.restarts;
    if (!run->stopped) tell_accepted(run, t);
    if (run->stopped) put_out_last(run);
    return GA_OK;
}

static ga_status begin_anew(ga_run *run, double t, ga_report *report)
{
    return begin_anew_from(run, t, run->m->now.q, run->m->now.v, report);
}

static bool is_over(const ga_run *run)
{
    return run->stopped || (!run->waits && !(run->m->now.t < run->def.t_end));
}

static ga_status take_step(ga_run *run, ga_report *report)
{
    const ga_solution *now = &run->m->now;
    double next, stop = next_stop(run, now->t, &next);
    bool jumped = false;
    run->changed = false;
    if (run->adaptive)
        GA_TRY(step_adaptive(run, stop, &jumped, report));
    else
        GA_TRY(ga_grid_step(&run->grid, stop, report));
    run->again = now->t == stop && next > stop ? next : jumped ? now->t : NAN;
    return GA_OK;
}

static ga_status tell_rest(ga_run *run, ga_report *report)
{
    const ga_status status = look_back(run, report);
    if (status != GA_OK) put_back(run);
    return status;
}

/* One step, and what follows it; or what still has to follow the last one. */
static ga_status go_on(ga_run *run, ga_report *report)
{
    GA_TRY(run->waits ? tell_rest(run, report) : take_step(run, report));
    const bool done = !run->waits && !run->changed && !run->stopped;
    return done && !isnan(run->again) ? begin_anew(run, run->again, report) : GA_OK;
}

/* A breakpoint at the very beginning: begin behind it. */
static ga_status start_first(ga_run *run, ga_report *report)
{
    const ga_solution *now = &run->m->now;
    for (int k = 0; k < run->def.breakpoint_count; ++k) {
        if (fabs(run->def.breakpoints[k] - run->t0) > sliver(run, run->t0)) continue;
        double t = ga_smaller(run->t0 + beside(run, run->t0), run->def.t_end);
        return restart(run, t, now->q, now->v, report);
    }
    GA_TRY(settle(run, report));
    return start_here(run, false, report);
}

ga_status ga_run_begin(ga_run *run, ga_report *report)
{
    ga_onestep *m = run->m;
    const double duration = run->def.duration;
    run->t0 = run->last_event = m->now.t;
    run->pause = -INFINITY;
    run->control.tolerance.duration = duration > 0 ? duration : run->def.t_end - run->t0;
    run->grid.keeps = run->def.events.count > 0; /* what follows may fail */
    m->type->keep(m);
    ga_status status = start_first(run, report);
    if (status == GA_OK) {
        tell_start(run, run->t0);
        plan_next(run);
        if (!run->stopped) status = ga_watch_start(&run->watch, run->def.t_end, report);
        if (status != GA_OK && !run->stopped) put_out_last(run);
    } else {
        put_back(run);
    }
    if (status != GA_OK || is_over(run)) ga_run_end(run);
    return status;
}

ga_status ga_run_step(ga_run *run, ga_report *report)
{
    const ga_status status = go_on(run, report);
    if (status != GA_OK) run->waits = false;
    if (status != GA_OK) {
        if (!run->stopped) put_out_last(run);
    } else if (is_over(run) && !run->stopped && run->last_output < run->m->now.t) {
        put_out(run, run->m->now.t);
    }
    if (status != GA_OK || is_over(run)) ga_run_end(run);
    return status;
}

/* As behind a breakpoint. */
ga_status ga_run_renew(ga_run *run, double t, ga_report *report)
{
    const ga_status status = begin_anew(run, ga_larger(t, run->m->now.t), report);
    if (status != GA_OK || run->stopped) ga_run_end(run);
    return status;
}

bool ga_run_over(const ga_run *run) { return run->ended; }

void ga_run_limit(ga_run *run, double t) { run->limit = t; }

void ga_run_look_to(ga_run *run, double horizon) { run->horizon = horizon; }

double ga_run_reached(const ga_run *run) { return run->waits ? run->told : run->m->now.t; }

/* The step begins anew, from the state at its beginning, as behind a breakpoint, and ends at t;
 * so does the next one. Where t is close behind its beginning a step would be too short (see
 * CLOSE), and what is interpolated is as good. */
ga_status ga_run_cut(ga_run *run, ga_report *report)
{
    ga_onestep *m = run->m;
    const double t = ga_run_reached(run);
    if (!run->waits) return GA_OK;
    const bool close = t - m->now.t_old < CLOSE * m->now.h;
    ga_dense_consistent(m, close ? t : m->now.t_old, run->q, run->v, NULL, NULL);
    run->waits = false;
    ga_watch_forget(&run->watch, run->found);
    ga_status status = begin_anew_from(run, close ? t : m->now.t_old, run->q, run->v, report);
    run->limit = t;
    while (status == GA_OK && !is_over(run) && t - m->now.t > sliver(run, t))
        status = ga_run_step(run, report);
    run->limit = INFINITY;
    if (status != GA_OK || run->stopped) ga_run_end(run);
    return status;
}

/* For whoever steps on by hand. */
void ga_run_end(ga_run *run)
{
    if (run->adaptive) ga_grid_begin(&run->grid, run->m->now.h);
    run->m->tolerance = NULL;
    run->ended = true;
}

ga_status ga_run_simulate(ga_run *run, ga_report *report)
{
    GA_TRY(ga_run_begin(run, report));
    while (!ga_run_over(run)) GA_TRY(ga_run_step(run, report));
    return GA_OK;
}
