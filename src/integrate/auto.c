/* The explicit method, radau or generalized-alpha, whichever suits the motion, as one method.
 *
 * It has one member in use, to which it passes every call; choice.c decides. A change from one
 * to the other is a restart at the end of a step: the next member starts from the consistent
 * state (`hand_over`). Members are created when they are first chosen, which takes memory, and
 * then kept; steps take none. The statistics go along, so that those of the member in use are
 * of the whole run. */
#include "integrate/auto.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/alpha.h"
#include "integrate/choice.h"
#include "integrate/explicit.h"
#include "integrate/radau.h"
#include "integrate/save.h"
#include "integrate/stiffness.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MEMBERS = GA_METHOD_AUTO }; /* the methods before it */

/* What was learned. */
typedef struct ga_auto_policy {
    ga_choice choice;    /* in use, and why: of the last change, trials that failed included */
    long steps[MEMBERS]; /* of each */
    long since;          /* steps since the one in use took over */
    long next_look;      /* when `since` is that */
    int trials, stuck;   /* so far, from the explicit method */
    int compared;        /* radau with generalized-alpha */
    double mark, mark_before; /* times of the last two looks, or of the change */
    long mark_steps;          /* `since` at the last look */
    ga_method before;         /* a trial */
    double h_before;          /* its steps */
    double t_begin;           /* of the last restart */
} ga_auto_policy;

typedef struct ga_auto {
    ga_onestep base;
    ga_system system;
    ga_integrator_def def;
    ga_simulation run; /* the one prepared for */
    ga_task task;
    ga_pool *pool;
    ga_onestep *member[MEMBERS]; /* null: not needed so far */
    ga_method kept;              /* in use when the solution was kept */
    ga_auto_policy policy;
    ga_probe probe;
} ga_auto;

static ga_auto *of(ga_onestep *m) { return (ga_auto *)m; }

/* --- members ------------------------------------------------------------------------------ */

/* The member in use. */
static ga_onestep *member(ga_onestep *m)
{
    ga_auto *x = of(m);
    ga_onestep *in_use = x->member[x->policy.choice.method];
    in_use->tolerance = m->tolerance;
    return in_use;
}

/* Those who look see the member in use. */
static void show(ga_auto *x)
{
    ga_onestep *m = &x->base;
    const ga_onestep *from = x->member[x->policy.choice.method];
    m->dae = from->dae;
    m->consistent = from->consistent;
    m->output = from->output;
    m->kind = from->kind;
    m->velocity_level = from->velocity_level;
    m->acceleration_level = from->acceleration_level;
    m->max_halvings = from->max_halvings;
    m->jump_part = from->jump_part;
    m->given_steps = from->given_steps;
    m->now = from->now;
    m->pivot = from->pivot;
    m->root_old = from->root_old;
    m->root = from->root;
    m->root_start = from->root_start;
    m->iterations = from->iterations;
    m->unmet = from->unmet;
    m->stats = from->stats;
}

static const ga_onestep_type *const types[MEMBERS] = {
    [GA_METHOD_GENERALIZED_ALPHA] = &ga_alpha_type,
    [GA_METHOD_EXPLICIT] = &ga_explicit_type,
    [GA_METHOD_RADAU] = &ga_radau_type,
};

static ga_status create_member(ga_auto *x, ga_method method, ga_report *report)
{
    ga_onestep **to = &x->member[method];
    if (*to) return GA_OK;
    GA_TRY(types[method]->create(&x->system, &x->def, to, report));
    ga_status status = x->pool && types[method]->use ? types[method]->use(*to, x->pool) : GA_OK;
    if (status == GA_OK && types[method]->prepare && x->task.adaptive)
        status = types[method]->prepare(*to, &x->run);
    if (status == GA_OK) return GA_OK;
    types[method]->destroy(*to);
    *to = NULL;
    return ga_fail(report, status, "%s", ga_status_text(status));
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_auto *x = of(m);
    for (int k = 0; k < MEMBERS; ++k)
        if (x->member[k]) types[k]->destroy(x->member[k]);
    ga_probe_destroy(&x->probe);
    ga_free(x);
}

/* The first member is there from the beginning: it has the equations. */
static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    ga_auto *x = GA_NEW(ga_auto, 1);
    if (!x) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    x->base.type = &ga_auto_type;
    x->system = *system;
    x->def = *def;
    x->policy.choice.method = GA_METHOD_EXPLICIT;
    ga_status status = create_member(x, GA_METHOD_EXPLICIT, report);
    if (status == GA_OK) {
        status = ga_probe_create(x->member[GA_METHOD_EXPLICIT]->dae, &x->probe);
        if (status != GA_OK) ga_fail(report, status, "out of memory");
    }
    if (status != GA_OK) {
        destroy(&x->base);
        return status;
    }
    show(x);
    *m = &x->base;
    return GA_OK;
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    ga_auto *x = of(m);
    x->pool = pool;
    for (int k = 0; k < MEMBERS; ++k)
        if (x->member[k] && types[k]->use) GA_TRY(types[k]->use(x->member[k], pool));
    return GA_OK;
}

static ga_status prepare(ga_onestep *m, const ga_simulation *def)
{
    ga_auto *x = of(m);
    x->run = *def;
    x->task = (ga_task){.adaptive = def->control.relative > 0,
                        .friction = x->system.force_uses_multipliers,
                        .tolerance = def->control.relative};
    for (int k = 0; k < MEMBERS; ++k)
        if (x->member[k] && types[k]->prepare) GA_TRY(types[k]->prepare(x->member[k], def));
    return GA_OK;
}

/* --- changes ------------------------------------------------------------------------------ */

/* From now on with this one. */
static void take(ga_auto *x, ga_choice choice)
{
    ga_auto_policy *p = &x->policy;
    const int count = (choice.method == GA_METHOD_EXPLICIT ? p->trials : p->stuck) - 1;
    p->choice = choice;
    p->since = p->mark_steps = 0;
    p->next_look = ga_choice_wait(choice.method, choice.trial, count);
    show(x);
    p->mark = p->mark_before = x->base.now.t;
}

/* The member of this choice at a consistent state, as if it had come there itself. */
static ga_status begin_member(ga_auto *x, ga_method method, ga_report *report)
{
    GA_TRY(create_member(x, method, report));
    const ga_onestep *from = &x->base;
    ga_onestep *to = x->member[method];
    const ga_statistics stats = *from->stats;
    const ga_projection projection = from->consistent->projection;
    const double t = from->now.t, pivot = from->pivot, root = from->root_start;
    to->pivot = to->root_start = 0;
    GA_TRY(to->type->begin(to, t, from->now.q, from->now.v, from->now.multipliers, report));
    if (x->policy.t_begin > -INFINITY)
        GA_TRY(to->type->restart(to, t, to->now.q, to->now.v, x->policy.t_begin, report));
    to->pivot = ga_larger(to->pivot, pivot);
    to->root_start = ga_larger(to->root_start, root);
    ga_dae_copy_sizes(to->dae, from->dae);
    *to->stats = stats;
    to->consistent->projection = projection;
    return GA_OK;
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_auto *x = of(m);
    const ga_choice choice = ga_choose_first(&x->task);
    memset(&x->policy, 0, sizeof x->policy);
    x->policy.t_begin = -INFINITY;
    GA_TRY(create_member(x, choice.method, report));
    m->tolerance = NULL;
    ga_onestep *first = x->member[choice.method];
    first->pivot = first->root_start = 0;
    const ga_status status = first->type->begin(first, t0, q0, v0, guess, report);
    take(x, choice);
    x->policy.next_look = ga_choice_first_look();
    return status;
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    ga_auto *x = of(m);
    ga_onestep *in_use = member(m);
    const ga_status status = in_use->type->restart(in_use, t, q, v, t_begin, report);
    x->policy.t_begin = t_begin;
    show(x);
    return status;
}

static ga_status control(ga_onestep *m, double *h)
{
    ga_onestep *in_use = member(m);
    if (in_use->type->control) return in_use->type->control(in_use, h);
    if (!(*h > 0)) *h = ga_tolerance_cautious_step(in_use);
    return GA_OK;
}

/* Steps of fixed size follow where there is no error control. */
static ga_status start(ga_onestep *m, double h, bool forward)
{
    ga_auto *x = of(m);
    const ga_choice fixed = {GA_METHOD_GENERALIZED_ALPHA, false, GA_REASON_FIXED};
    if (!m->tolerance && h > 0 && x->policy.choice.method != fixed.method) {
        GA_TRY(begin_member(x, fixed.method, NULL));
        take(x, fixed);
    }
    ga_onestep *in_use = member(m);
    const ga_status status = in_use->type->start(in_use, h, forward);
    show(x);
    return status;
}

static ga_status warm(ga_onestep *m)
{
    ga_onestep *in_use = member(m);
    return in_use->type->warm ? in_use->type->warm(in_use) : GA_OK;
}

static double larger_rate(double omega, double rho)
{
    const double undamped = 4.5, damped = 6.7; /* h omega and h rho at the limit of stability */
    return ga_larger(omega / undamped, rho / damped);
}

/* Is a singular position near a member that has just begun, or made a step? Velocities are
 * known up to round-off by the smallest eigenvalue, so with tight tolerances it is near
 * earlier. */
static bool is_near_singular(const ga_auto *x, const ga_onestep *m)
{
    static const double small = 0.03, part = 0.3, noise = 0.003;
    const double noisy = DBL_EPSILON / (noise * x->task.tolerance);
    if (m == x->member[GA_METHOD_GENERALIZED_ALPHA] || !m->dae->mp) return false;
    if (m->root < small * m->root_start) return true;
    return m->root < part * m->root_start && m->root * m->root < noisy;
}

static double steps_to_singular(const ga_auto *x)
{
    return ga_onestep_steps_to_singular(&x->base, x->base.now.h);
}

/* *step: their average size since the last look. */
static ga_standing look(ga_auto *x, ga_status failure, double *step)
{
    ga_onestep *m = &x->base;
    ga_auto_policy *p = &x->policy;
    const double t = m->now.t;
    const double count = (double)(p->since - p->mark_steps);
    const double h = count > 0 ? (t - p->mark) / count : m->now.h;
    const double h_before = p->mark - p->mark_before;
    ga_standing now = {.method = p->choice.method,
                       .trial = p->choice.trial,
                       .before = p->before,
                       .reason = p->choice.reason,
                       .tolerance = x->task.tolerance,
                       .lost = p->compared,
                       .singular = is_near_singular(x, member(m)),
                       .steps_to_singular = steps_to_singular(x),
                       .failure = failure,
                       .steps = p->since,
                       .steps_to_end = (x->run.t_end - t) / h};
    if (now.trial || now.reason == GA_REASON_COARSE) now.gain = h / p->h_before;
    if (now.trial) {
        now.growth = h_before > 0 ? h * count / h_before : now.gain;
    } else if (failure == GA_OK && now.method != GA_METHOD_GENERALIZED_ALPHA) {
        const ga_stiffness s = ga_stiffness_measure(member(m), &x->probe);
        now.steps_for_stability = m->tolerance->duration * larger_rate(s.omega, s.rho);
        now.h_omega = h * s.omega;
        now.h_rho = h * s.rho;
    }
    p->mark_before = p->mark;
    p->mark = t;
    p->mark_steps = p->since;
    *step = h;
    return now;
}

static bool is_due(const ga_auto *x)
{
    const ga_auto_policy *p = &x->policy;
    if (ga_choice_is_final(p->choice)) return false;
    return p->since >= p->next_look || (is_near_singular(x, x->member[p->choice.method]) &&
                                        ga_choice_is_close(steps_to_singular(x)));
}

/* The first step of the next member, if those of this one have the size `step` on average, and
 * would go on with h. */
static double first_step(const ga_auto *x, ga_choice next, double step, double h)
{
    if (x->policy.choice.trial && !next.trial) return x->policy.h_before; /* back */
    if (next.method == GA_METHOD_RADAU) return step;
    return next.reason == GA_REASON_RESOLVED ? h : 0; /* 0: chosen */
}

/* It goes on with the same method: nothing changes, or a trial was won. */
static void go_on(ga_auto *x, ga_choice next)
{
    ga_auto_policy *p = &x->policy;
    if (next.reason != GA_REASON_NONE) p->choice = next;
    p->next_look = ga_choice_next_look(next.method, next.trial, p->since);
}

static ga_status hand_over(ga_onestep *m, ga_status failure, bool *handed, double *h,
                           ga_report *report)
{
    ga_auto *x = of(m);
    ga_auto_policy *p = &x->policy;
    *handed = false;
    if (failure == GA_OK && !is_due(x)) return GA_OK;
    double step;
    const ga_standing progress = look(x, failure, &step);
    const ga_choice next = ga_choose_next(&progress);
    if (next.method == progress.method) {
        go_on(x, next);
        return GA_OK;
    }
    const double first = first_step(x, next, step, *h);
    p->trials += next.trial && progress.method == GA_METHOD_EXPLICIT;
    p->compared += next.trial && progress.method != GA_METHOD_EXPLICIT;
    p->stuck += next.reason == GA_REASON_STUCK;
    const ga_status status = begin_member(x, next.method, report);
    if (status != GA_OK) { /* it goes on as it was */
        p->next_look = 2 * p->since + 1;
        return ga_step_may_retry(status) && failure == GA_OK ? GA_OK : status;
    }
    if (next.reason == GA_REASON_PASSED && is_near_singular(x, x->member[next.method])) {
        p->next_look = 2 * p->since;
        return GA_OK;
    }
    if (next.trial) {
        p->before = progress.method;
        p->h_before = step;
    }
    take(x, next);
    *h = first;
    *handed = true;
    return GA_OK;
}

/* --- steps -------------------------------------------------------------------------------- */

static ga_status attempt(ga_onestep *m, double h, double t1)
{
    ga_onestep *in_use = member(m);
    return in_use->type->attempt(in_use, h, t1);
}

static bool evade(ga_onestep *m, ga_status status)
{
    ga_onestep *in_use = member(m);
    return in_use->type->evade && in_use->type->evade(in_use, status);
}

static void error(ga_onestep *m, ga_error *e)
{
    ga_onestep *in_use = member(m);
    in_use->type->error(in_use, e);
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    ga_auto *x = of(m);
    ga_onestep *in_use = member(m);
    const ga_status status = in_use->type->accept(in_use, e, shorter);
    if (status == GA_OK) {
        ++x->policy.steps[x->policy.choice.method];
        ++x->policy.since;
    }
    show(x);
    return status;
}

static void reject(ga_onestep *m, const ga_error *e)
{
    ga_onestep *in_use = member(m);
    if (in_use->type->reject) in_use->type->reject(in_use, e);
}

static void plan(ga_onestep *m, double aim, ga_growth *growth)
{
    ga_onestep *in_use = member(m);
    if (in_use->type->plan) in_use->type->plan(in_use, aim, growth);
}

static void keep(ga_onestep *m)
{
    ga_onestep *in_use = member(m);
    of(m)->kept = of(m)->policy.choice.method;
    in_use->type->keep(in_use);
}

static void go_back(ga_onestep *m)
{
    ga_auto *x = of(m);
    if (x->kept != x->policy.choice.method) {
        const ga_statistics stats = *m->stats;
        take(x, (ga_choice){x->kept, false, x->policy.choice.reason});
        *m->stats = stats;
    }
    ga_onestep *in_use = member(m);
    in_use->type->go_back(in_use);
    show(x);
}

/* --- output and reports ------------------------------------------------------------------- */

static void interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                        double *multipliers)
{
    ga_onestep *in_use = member(m);
    in_use->type->interpolate(in_use, t, q, v, vd, multipliers);
}

static bool explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const ga_auto *x = (const ga_auto *)m;
    const ga_onestep *in_use = x->member[x->policy.choice.method];
    return in_use->type->explain && in_use->type->explain(in_use, status, h, report);
}

static ga_status linearise(ga_onestep *m, double h, ga_scaling scaling, double *matrix)
{
    ga_onestep *in_use = member(m);
    if (!in_use->type->linearise) return GA_ERR_STATE;
    return in_use->type->linearise(in_use, h, scaling, matrix);
}

/* --- save and load ------------------------------------------------------------------------ */

/* The policy, then the member in use: another one begins anew when it is chosen. */
static ga_status archive(ga_onestep *m, ga_archive *a)
{
    ga_auto *x = of(m);
    const ga_auto_policy before = x->policy;
    ga_status status = GA_OK;
    ga_archive_heading(a, m, 0);
    GA_ARCHIVE(a, x->policy);
    if ((unsigned)x->policy.choice.method >= MEMBERS) a->failed = true;
    if (!a->failed) status = create_member(x, x->policy.choice.method, NULL);
    if (!a->failed && status == GA_OK) status = member(m)->type->archive(member(m), a);
    if (!a->failed && status == GA_OK) ga_archive_roots(a, member(m));
    if (a->failed || status != GA_OK) x->policy = before;
    show(x);
    return status;
}

ga_method_use ga_auto_use(const ga_onestep *m)
{
    const ga_auto *x = (const ga_auto *)m;
    ga_method_use use = {.method = x->policy.choice.method,
                         .reason = ga_reason_text(x->policy.choice.reason)};
    for (int k = 0; k < MEMBERS; ++k) use.steps[k] = x->policy.steps[k];
    return use;
}

const ga_onestep_type ga_auto_type = {
    .name = "auto",
    .create = create,
    .destroy = destroy,
    .use = use,
    .prepare = prepare,
    .begin = begin,
    .restart = restart,
    .hand_over = hand_over,
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
    .interpolate = interpolate,
    .explain = explain,
    .linearise = linearise,
    .archive = archive,
};
