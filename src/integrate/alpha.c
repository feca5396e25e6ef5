/* The generalized-alpha family behind the interface of one-step methods (onestep.h): the
 * stepper makes the steps, this file says how their errors count in each error mode. */
#include "integrate/alpha.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <string.h>

static ga_alpha *alpha_of(ga_onestep *m) { return (ga_alpha *)m; }

/* --- creation ----------------------------------------------------------------------------- */

void ga_alpha_show(ga_alpha *a)
{
    const ga_state *now = &a->s.now;
    ga_solution *view = &a->base.now;
    view->t = now->t;
    view->t_old = now->t_old;
    view->h = now->h;
    view->steps = now->steps;
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_alpha *a = alpha_of(m);
    ga_order_destroy(&a->order);
    ga_cubic_destroy(m);
    ga_free(a->vdd);
    ga_free(a->vddd);
    ga_stepper_destroy(&a->s);
    ga_free(a);
}

static void connect(ga_alpha *a)
{
    ga_stepper *s = &a->s;
    const ga_state *now = &s->now;
    const bool drifts = s->m && !s->form->velocity_level;
    const ga_solution view = {.q = now->q,
                              .v = now->v,
                              .vd = now->vd,
                              .multipliers = now->lambda,
                              .q_old = now->q_old,
                              .v_old = now->v_old,
                              .vd_old = now->vd_old[0],
                              .multipliers_old = now->lambda_old[0],
                              .v_start = now->v_exact};
    ga_onestep_connect(&a->base, &ga_alpha_type, &s->start, &s->stats, s->def.max_halvings,
                       view);
    a->base.velocity_level = s->form->velocity_level;
    /* steps that are too short drown in the round-off of index-3 multipliers */
    if (drifts) a->base.jump_part = 0.5;
}

static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    ga_alpha *a = GA_NEW(ga_alpha, 1);
    if (!a) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    ga_status status = ga_stepper_create(system, def, &a->s, report);
    if (status == GA_OK) {
        connect(a);
        bool memory = (a->vdd = GA_NEW(double, a->s.nv)) &&
                      (a->vddd = GA_NEW(double, a->s.nv)) && ga_cubic_create(&a->base) == GA_OK;
        if (!memory) status = ga_fail(report, GA_ERR_MEMORY, "out of memory");
    }
    if (status != GA_OK)
        destroy(&a->base);
    else
        *m = &a->base;
    return status;
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    return ga_stepper_use(ga_alpha_stepper(m), pool);
}

static ga_status prepare(ga_onestep *m, const ga_simulation *def)
{
    ga_alpha *a = alpha_of(m);
    a->adaptive = def->control.relative > 0;
    ga_order_destroy(&a->order);
    return ga_order_create(a, def->control.mode);
}

/* --- starts ------------------------------------------------------------------------------- */

/* Steps are not judged any more. */
static void end_control(ga_stepper *s)
{
    s->mode.estimates = s->mode.steady = s->mode.projects = false;
    s->mode.enough = s->mode.enough_lambda = 0;
}

static void forget_factors(ga_alpha *a)
{
    ga_cache_forget(&a->s);
    a->base.cubic.steps = -1;
}

/* A second start gives the bits of the first. */
static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    memmove(s->trial.q, q0, (size_t)s->nq * sizeof *q0);
    memmove(s->trial.v, v0, (size_t)s->nv * sizeof *v0);
    GA_TRY(ga_dae_normalise(&s->dae, s->trial.q, report));
    ga_factor_forget(s->start.saddle.factor);
    m->tolerance = NULL;
    s->start.largest = 0;
    GA_TRY(ga_start_consistent(s, t0, s->trial.q, s->trial.v, guess, report));
    ga_alpha_show(a);
    s->tangent.penalty =
        s->def.penalty > 0 ? s->def.penalty : 0; /* automatic: from the first tangents */
    forget_factors(a);
    end_control(s);
    s->policy.age = 0;
    s->policy.lifetime = 10; /* a first guess */
    s->policy.growth = 0.1;
    s->policy.newton = ga_newton_memory_empty();
    s->jacobian.scaled_for = 0;
    ga_factor_forget(s->jacobian.factor);
    ga_factor_forget(s->start.saddle.factor);
    if (s->second.factor) ga_factor_forget(s->second.factor);
    s->stats = (ga_statistics){0};
    s->policy.scale = (ga_scales){{0}, {0}, 0};
    ga_dae_forget_sizes(&s->dae);
    return GA_OK;
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    ga_alpha *a = alpha_of(m);
    ga_status status = ga_start_again(&a->s, t, q, v, report);
    a->s.now.t_begin = t_begin;
    forget_factors(a);
    ga_alpha_show(a);
    return status;
}

/* Weighted error of a step of size 1, if the leading term were all. */
static ga_status leading_error(ga_onestep *m, double ds, double *c)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    const double D = s->properties.shift;
    const double kq = (1 - 6 * s->def.coefficients.beta - 3 * D) / 6,
                 kv = 1.0 / 12 + 0.5 * D * D;
    double *v = s->work.one, *e = s->work.two;
    GA_TRY(ga_start_derivatives(s, ds, a->vdd, a->vddd));
    ga_nodes_bracket(s->dae.sys.node_count, s->dae.sys.nodes, s->now.v, s->now.vd, e);
    for (int i = 0; i < s->nv; ++i) {
        e[i] = fabs(kq * a->vdd[i]) + fabs(e[i]) / 12;
        v[i] = kv * a->vddd[i];
    }
    *c = ga_alpha_weigh(a, e, v);
    return GA_OK;
}

static ga_status control(ga_onestep *m, double *h)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    const ga_error_mode mode = ga_alpha_mode(a);
    s->mode.estimates = true;
    s->mode.projects = mode == GA_ERROR_EXTRAPOLATE;
    s->mode.steady = mode == GA_ERROR_POSITIONS;
    ga_alpha_set_newton(a);
    ga_order_start(&a->order);
    if (mode != GA_ERROR_POSITIONS)
        return ga_tolerance_first_step(m, leading_error, s->mode.projects,
                                       s->mode.projects ? 1.0 / 3 : 0.5, h);
    /* derivatives are those of the stiff modes: begin large, without them */
    memset(a->vdd, 0, (size_t)s->nv * sizeof *a->vdd);
    memset(a->vddd, 0, (size_t)s->nv * sizeof *a->vddd);
    if (!(*h > 0)) *h = ga_tolerance_clamp(m, 0.01 * m->tolerance->duration);
    return GA_OK;
}

/* Start values as they are by default, from derivatives of v' taken in forward direction. */
static ga_status start_forward(ga_alpha *a, double h)
{
    GA_TRY(ga_start_derivatives(&a->s, h, a->vdd, a->vddd));
    return ga_start_refined(&a->s, h, a->vdd, a->vddd);
}

static ga_status start_values(ga_alpha *a, double h, bool forward)
{
    ga_stepper *s = &a->s;
    if (forward && (a->adaptive || s->def.start == s->form->start)) {
        ga_status status = start_forward(a, h);
        if (status == GA_OK || a->adaptive || !ga_step_may_retry(status)) return status;
    }
    s->now.h = h;
    return ga_start_values(s, h, s->now.a, s->now.v);
}

static ga_status start(ga_onestep *m, double h, bool forward)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    ga_status status = GA_OK;
    if (h == 0)
        memcpy(s->now.a, s->now.vd, (size_t)s->nv * sizeof *s->now.a);
    else if (!m->tolerance)
        status = start_values(a, h, forward);
    else {
        if (ga_alpha_mode(a) == GA_ERROR_POSITIONS) status = ga_estimate_smooth_start(a, h);
        if (status == GA_OK) status = ga_start_refined(s, h, a->vdd, a->vddd);
    }
    ga_alpha_show(a);
    return status;
}

static ga_status warm(ga_onestep *m) { return ga_step_warm(ga_alpha_stepper(m)); }

/* --- how errors count --------------------------------------------------------------------- */

double ga_alpha_weigh(const ga_alpha *a, const double *error_q, const double *error_v)
{
    const bool all = ga_alpha_mode(a) != GA_ERROR_POSITIONS;
    return ga_tolerance_weigh(&a->base, error_q, all ? error_v : NULL);
}

/* Newton's method goes on until the solution is known this much better than asked for, and to
 * the second number of sizes. What that leaves of the constraints is looked at when the step is
 * accepted (is_above_round_off in step.c). */
static const double NEWTON_PART = 1e-5, NEWTON_LARGEST = 1e-11;

/* Extrapolated states are put back on the constraints (ga_start_project); and new tangents in
 * every step leave the square of an increment, so that most steps are done much better than
 * that. */
static const double NEWTON_PART_PROJECTED = 1e-3;

/* Errors of lambda do not go on to later steps. */
static const double MULTIPLIERS_PART = 1e-3;

void ga_alpha_set_newton(ga_alpha *a)
{
    const double relative = a->base.tolerance->def.relative;
    double enough = ga_smaller(NEWTON_PART * relative, NEWTON_LARGEST);
    if (a->s.mode.projects) enough = NEWTON_PART_PROJECTED * relative;
    ga_newton_set(&a->s, enough, ga_larger(100 * enough, MULTIPLIERS_PART * relative));
}

/* What a step of size h may contribute: its part of the time; all of the tolerance where the
 * estimate is of an error that is taken away. */
static double allowed(const ga_alpha *a, double h)
{
    return ga_alpha_mode(a) == GA_ERROR_EXTRAPOLATE ? 1 : h / a->base.tolerance->duration;
}

/* Errors of velocities are not tested where only positions count, but turn into errors of
 * positions: so these get less than all of the tolerance. Formulations whose velocities are not
 * those of index 2 have larger ones: a slider-crank in index 3 ended with four times the error
 * for the same local errors. */
static double slow_part(const ga_alpha *a)
{
    return a->s.m == 0 || a->s.form->has_eta ? 0.5 : 0.2;
}

/* Where only positions count, an unresolved stiff oscillation shows an error of its own, small
 * amplitude in every step. That does not add up, and may be as large as the tolerance; what is
 * left without stiff modes does. */
static void judge(ga_alpha *a, ga_error *e)
{
    const ga_error_mode mode = ga_alpha_mode(a);
    const double most = allowed(a, a->s.step.h);
    ga_estimate(a, e);
    e->local = ga_alpha_weigh(a, e->q, e->v);
    ga_order_judge(a, e);
    e->contribution = mode == GA_ERROR_EXTRAPOLATE ? 0 : e->local;
    e->excess = e->local / most;
    if (mode == GA_ERROR_POSITIONS) {
        e->contribution = ga_estimate_slow(a, e);
        e->excess = ga_larger(e->local, e->contribution / (slow_part(a) * most));
    }
}

/* Where only positions count, the first step is a case of its own. */
static bool is_first(const ga_alpha *a)
{
    return ga_alpha_mode(a) == GA_ERROR_POSITIONS && a->s.now.steps == 0;
}

/* A second step that is this much worse than allowed shows that the first was too long. */
static const double AHEAD = 4;

/* Nothing but its own estimate limits a first step where only positions count, and the estimate
 * may vanish by chance: it does in index 3 for a pendulum let go from rest. So the error of a
 * second step of the same size is looked at as well, and the first is taken anew. */
static void look_ahead(ga_alpha *a, ga_error *e)
{
    ga_stepper *s = &a->s;
    const double h = s->step.h, t1 = s->step.t1;
    if (t1 + h > a->base.tolerance->t_stop) return;
    const ga_statistics stats = s->stats;
    ga_state_copy(&s->saved, &s->now);
    ga_status status = ga_step_accept(s);
    if (status == GA_OK) status = ga_step_try(s, h, t1 + h);
    if (status == GA_OK) judge(a, e);
    const double ahead = status == GA_OK ? e->excess : INFINITY;
    ga_state_copy(&s->now, &s->saved);
    s->stats = stats;
    ga_cache_forget(s);
    status = ga_step_try(s, h, t1);
    if (status == GA_OK) judge(a, e);
    if (status != GA_OK || ahead > AHEAD) e->local = e->excess = ahead;
}

/* Near a singular position round-off grows like one over the distance, which is the root of the
 * smallest eigenvalue, at the end of the step or before. The factor is what was seen. */
static double amplification(const ga_alpha *a)
{
    const ga_regular *g = &a->s.regular;
    double least = ga_smaller(g->least, g->least_old);
    return g->watching && least > 0 ? ga_smaller(0.03 / sqrt(least), 1e4) : 0;
}

/* The error of a step is O(h^3), or O(h^4) without its leading term. */
static void error(ga_onestep *m, ga_error *e)
{
    ga_alpha *a = alpha_of(m);
    const bool per_step = ga_alpha_mode(a) == GA_ERROR_EXTRAPOLATE;
    judge(a, e);
    if (e->excess <= 1 && is_first(a)) look_ahead(a, e);
    e->power = per_step || ga_order_is_third(&a->order) ? 1.0 / 3 : 0.5;
    e->amplification = amplification(a);
    e->positions_only = ga_alpha_mode(a) == GA_ERROR_POSITIONS;
    e->change = -1; /* also after a smoothing start, whose v' jumps */
    if (!(e->excess <= 1) && !is_first(a))
        e->change = ga_tolerance_change(m, a->s.now.vd, a->s.trial.vd);
}

/* --- steps -------------------------------------------------------------------------------- */

/* Older tangents would spoil the estimate before they slow the iteration down. */
static const double max_life = 20;

static ga_status attempt(ga_onestep *m, double h, double t1)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    if (m->tolerance) {
        a->before = s->policy.scale;
        s->policy.lifetime = ga_smaller(s->policy.lifetime, max_life);
        ga_order_prepare(a, h);
    } else if (s->mode.estimates) {
        end_control(s);
    }
    return ga_step_try(s, h, t1);
}

/* A fixed step also ends elsewhere where it fails and a singular position may be near. */
static bool evade(ga_onestep *m, ga_status status)
{
    ga_stepper *s = ga_alpha_stepper(m);
    const bool near = status == GA_OK ? s->newton.near_singular
                                      : ga_step_may_retry(status) && ga_regular_weakens(s);
    if (!near) return false;
    ga_cache_forget(s);
    ga_regular_alert(s);
    return true;
}

/* Steps this many times longer would do for the slow motion: then stiff modes choose them. */
static const double STIFF = 10, ACTS = 0.05;
enum { INTERVAL = 10 }; /* the check is made every so many steps */

/* Before an accepted step is finished: what `error: positions` would allow for it. */
static void look_for_stiffness(ga_alpha *a, ga_error *e)
{
    ga_stepper *s = &a->s;
    const double max_step = ga_tolerance_max_step(&a->base);
    if (ga_alpha_mode(a) != GA_ERROR_AUTO && ga_alpha_mode(a) != GA_ERROR_FULL) return;
    if (s->now.steps % INTERVAL != INTERVAL - 1) return;
    if (s->step.h > 0.5 * max_step) return; /* that chooses them */
    double *x = s->work.two;
    memcpy(x, e->q, (size_t)s->nv * sizeof *x);
    const double all = ga_alpha_weigh(a, x, s->work.zero);
    ga_estimate_smooth(s, x);
    const double slow = ga_alpha_weigh(a, x, s->work.zero);
    const double by_all = cbrt(1 / all);
    const double by_slow = sqrt(slow_part(a) * allowed(a, s->step.h) / slow);
    const double longer = ga_smaller(by_all, by_slow);
    /* what stiffness, which acts by the square of the step, would take from the error there; if
     * it is little, something other than stiffness is fast */
    const double filtered = (1 - slow / all) * longer * longer;
    if (longer > STIFF && filtered > ACTS) e->stiff = INTERVAL;
}

/* Takes the estimated error away, [exact minus computed]. */
static void extrapolate(ga_stepper *s, const ga_error *e)
{
    ga_dae_update(&s->dae, GA_MAP_EXP, s->trial.q, e->q, s->trial.q);
    for (int i = 0; i < s->nv; ++i) s->trial.v[i] += e->v[i];
}

/* Steps that end off the constraints go back to them, with their error taken away if that is
 * what they are for. */
static ga_status finish(ga_alpha *a, ga_error *e)
{
    ga_stepper *s = &a->s;
    if (!s->mode.projects) return GA_OK;
    if (ga_alpha_mode(a) == GA_ERROR_EXTRAPOLATE) {
        extrapolate(s, e);
        s->policy.age = s->policy.lifetime; /* fresh tangents: the response must be accurate */
        return ga_start_project(s);
    }
    a->order.taken = e->passed && ga_order_is_third(&a->order);
    if (a->order.taken) {
        ga_estimate_smooth(s, e->v);
        extrapolate(s, e);
    }
    return !s->mp || ga_start_project_in_step(s) ? GA_OK : GA_ERR_NO_CONVERGE;
}

/* A trial that ended off the constraints may be repeated with a shorter step; nothing has
 * changed then. */
static double shorten(ga_alpha *a, ga_status status)
{
    ga_stepper *s = &a->s;
    if (status != GA_ERR_NO_CONVERGE || (s->newton.unmet < 0 && !s->mode.projects)) return 0;
    return s->mode.projects ? ga_order_give_up(&a->order, 0.7 * allowed(a, s->step.h)) : 0.3;
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    ga_alpha *a = alpha_of(m);
    ga_stepper *s = &a->s;
    ga_status status = GA_OK;
    if (e) {
        if (e->passed) look_for_stiffness(a, e);
        status = finish(a, e);
    }
    if (status == GA_OK) status = ga_step_accept(s);
    m->unmet = s->newton.unmet;
    if (status != GA_OK) {
        ga_cache_forget(s);
        *shorter = e ? shorten(a, status) : 0;
        return status;
    }
    if (e) {
        ga_order_accept(a);
        e->third_order = s->mode.projects && a->order.taken;
    }
    m->iterations = s->newton.iteration;
    ga_alpha_show(a);
    return GA_OK;
}

static void reject(ga_onestep *m, const ga_error *e)
{
    ga_alpha *a = alpha_of(m);
    if (e) ga_order_reject(a);
    a->s.policy.scale = a->before;
}

static void plan(ga_onestep *m, double aim, ga_growth *growth)
{
    ga_alpha *a = alpha_of(m);
    if (a->order.chosen) {
        growth->wish = ga_order_wish(a, aim, allowed(a, growth->h));
        if (a->order.third) growth->most = a->order.growth;
    }
    growth->filtered = a->s.m && !a->s.form->velocity_level; /* multipliers would suffer */
    if (ga_alpha_mode(a) != GA_ERROR_POSITIONS) return;
    /* growing steps feed unresolved modes; the method's damping must keep ahead of that */
    const double most = 1 / sqrt(ga_larger(a->s.properties.rho_infinity, 0.25));
    growth->most = ga_larger(most, 1.01);
    growth->small_change = true;
}

static void keep(ga_onestep *m)
{
    ga_stepper *s = ga_alpha_stepper(m);
    ga_state_copy(&s->saved, &s->now);
}

static void go_back(ga_onestep *m)
{
    ga_alpha *a = alpha_of(m);
    ga_state_copy(&a->s.now, &a->s.saved);
    forget_factors(a);
    ga_alpha_show(a);
}

/* --- reports ------------------------------------------------------------------------------ */

/* In index 3 round-off of positions enters velocities divided by h, so a tolerance has a
 * smallest value, which depends on the steps it asks for. */
static bool explain_step_size(const ga_onestep *m, double h, ga_report *report)
{
    const ga_stepper *s = &((const ga_alpha *)m)->s;
    const double relative = m->tolerance ? m->tolerance->def.relative : 1;
    if (!s->m || s->form->velocity_level || relative >= 1e-5) return false;
    ga_fail(report, GA_ERR_STEP_SIZE,
            "at t = %.9g the error control needs a step of %.3g: a relative tolerance of "
            "%.3g is below what %s resolves, where round-off of positions is divided by the "
            "step; use index2, or a larger tolerance",
            s->now.t, h, relative, s->form->name);
    return true;
}

static bool explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    if (status == GA_ERR_STEP_SIZE) return explain_step_size(m, h, report);
    return ga_newton_explain(&((const ga_alpha *)m)->s, status, report);
}

static ga_status linearise(ga_onestep *m, double h, ga_scaling scaling, double *matrix)
{
    ga_stepper *s = ga_alpha_stepper(m);
    if (!m->tolerance) end_control(s);
    GA_TRY(ga_step_linearise(s, h));
    ga_cache_assemble(s, scaling);
    ga_matrix_to_full(&s->jacobian.matrix, matrix);
    return GA_OK;
}

const ga_onestep_type ga_alpha_type = {
    .name = "generalized-alpha",
    .create = create,
    .destroy = destroy,
    .use = use,
    .prepare = prepare,
    .begin = begin,
    .restart = restart,
    .control = control,
    .start = start,
    .warm = warm,
    .attempt = attempt,
    .evade = evade,
    .error = error,
    .accept = accept,
    .reject = reject,
    .plan = plan,
    .keep = keep,
    .go_back = go_back,
    .interpolate = ga_cubic_interpolate,
    .explain = explain,
    .linearise = linearise,
    .archive = ga_alpha_archive,
};
