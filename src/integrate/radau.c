/* Radau IIA as a one-step method; see radau_stages.c for its equations. */
#include "integrate/radau.h"
#include "base/arrays.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "lie/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

static ga_radau *of(ga_onestep *m) { return (ga_radau *)m; }

/* --- creation ----------------------------------------------------------------------------- */

static void show(ga_radau *x) { x->base.now = ga_ends_view(&x->now); }

/* Everything but the state. The matrix is there. */
static bool for_arrays(ga_radau *x, ga_arrays_do *act)
{
    const ga_dae *dae = &x->dae;
    struct ga_radau_tangent *tangent = &x->tangent;
    struct ga_radau_jacobian *jacobian = &x->jacobian;
    const ga_arrays list[] = {
        {GA_RADAU_STAGES * x->n, {&x->y, &x->r, &x->z}},
        {dae->nq, {&x->trial_q, &x->q}},
        {dae->nv, {&x->trial_v, &x->trial_vd, &tangent->one, &x->v, &x->vd, &x->rate}},
        {3 * dae->nv, {&x->end}},
        {dae->mp, {&x->trial_l, &tangent->diagonal}},
        {dae->m, {&tangent->eta_weight}},
        {dae->M.count, {&tangent->M}},
        {dae->G.count, {&tangent->G}},
        {dae->K.count, {&tangent->K}},
        {dae->C.count, {&tangent->C}},
        {dae->Z.count, {&tangent->Z}},
        {dae->L.count, {&tangent->L}},
        {tangent->chart.count, {&tangent->X}},
        {tangent->turning * GA_RADAU_BLOCK, {&tangent->T, &tangent->Tinv}},
        {jacobian->matrix.count,
         {&jacobian->constant, &jacobian->rates, &jacobian->re, &jacobian->im}},
        {x->n, {&jacobian->row_scale, &jacobian->col_scale, &x->error}},
        {2 * x->n, {&jacobian->scale_work}},
    };
    return act(sizeof list / sizeof *list, list);
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_radau *x = of(m);
    for_arrays(x, ga_arrays_destroy);
    ga_ends_destroy(&x->now);
    ga_ends_destroy(&x->saved);
    ga_free(x->flat);
    ga_complex_destroy(x->jacobian.complex);
    ga_factor_destroy(x->jacobian.real);
    ga_matrix_destroy(&x->jacobian.matrix);
    ga_coords_destroy(&x->tangent.eye);
    ga_coords_destroy(&x->tangent.chart);
    ga_coords_destroy(&x->tangent.eta_diagonal);
    ga_consistent_destroy(&x->consistent);
    ga_consistent_destroy(&x->output);
    ga_dae_destroy(&x->dae);
    ga_free(x);
}

static ga_status create_memory(ga_radau *x)
{
    GA_TRY(ga_radau_create_matrix(x));
    const int own = GA_RADAU_STAGES * x->n;
    bool memory =
        ga_ends_create(&x->dae, own, &x->now) && ga_ends_create(&x->dae, own, &x->saved) &&
        (x->flat = GA_NEW(bool, x->dae.sys.node_count)) && for_arrays(x, ga_arrays_create);
    for (int i = 0; memory && i < x->dae.nv; ++i) x->tangent.one[i] = 1;
    return memory ? GA_OK : GA_ERR_MEMORY;
}

static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    GA_TRY(ga_onestep_check(system, def, report));
    ga_radau *x = GA_NEW(ga_radau, 1);
    if (!x) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    x->def = *def;
    ga_status status = ga_dae_create(system, &x->dae);
    x->n = 2 * x->dae.nv + x->dae.mp + x->dae.m;
    if (status == GA_OK) status = ga_consistent_create(&x->dae, def->solver, &x->consistent);
    if (status == GA_OK) status = ga_consistent_create(&x->dae, def->solver, &x->output);
    if (status == GA_OK) status = create_memory(x);
    if (status != GA_OK) {
        destroy(&x->base);
        return ga_fail(report, status, "%s", ga_status_text(status));
    }
    x->consistent.saddle.factorizations = &x->stats.factorizations;
    ga_onestep_connect(&x->base, &ga_radau_type, &x->consistent, &x->stats, def->max_halvings,
                       ga_ends_view(&x->now));
    x->base.output = &x->output;
    x->base.acceleration_level = true;
    x->base.given_steps = GA_RADAU_GIVEN_STEPS;
    *m = &x->base;
    return ga_fail(report, GA_OK, "%s", "");
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    ga_radau *x = of(m);
    GA_TRY(ga_dae_use(&x->dae, pool));
    GA_TRY(ga_consistent_use(&x->consistent, pool));
    return ga_consistent_use(&x->output, pool);
}

/* --- starts ------------------------------------------------------------------------------- */

static void forget(ga_radau *x)
{
    x->end_steps = -1;
    x->rejected = false;
    x->cap = INFINITY;
    x->hold = 0;
}

static bool is_singular(const ga_radau *x)
{
    return !x->consistent.redundancy.active && ga_onestep_is_weak(&x->base);
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    (void)t_begin;
    ga_radau *x = of(m);
    forget(x);
    const ga_status status = ga_ends_restart(&x->now, &x->consistent, t, q, v, report);
    show(x);
    if (status == GA_OK) ga_onestep_look_at_start(m);
    return status;
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_radau *x = of(m);
    memmove(x->trial_q, q0, (size_t)x->dae.nq * sizeof *q0);
    GA_TRY(ga_dae_normalise(&x->dae, x->trial_q, report));
    for (int i = 0; i < x->dae.mp; ++i) x->now.multipliers[i] = guess ? guess[i] : 0;
    ga_factor_forget(x->jacobian.real);
    ga_complex_forget(x->jacobian.complex);
    ga_factor_forget(x->consistent.saddle.factor);
    ga_factor_forget(x->output.saddle.factor);
    m->tolerance = NULL;
    x->consistent.largest = x->output.largest = 0;
    forget(x);
    GA_TRY(ga_ends_start(&x->now, &x->consistent, t0, x->trial_q, v0, x->def.max_projection,
                         report));
    m->pivot = m->root_start = 0;
    show(x);
    ga_onestep_look_at_start(m);
    x->size_v[0] = x->size_v[1] = 0;
    ga_dae_forget_sizes(&x->dae);
    x->stats = (ga_statistics){0};
    return GA_OK;
}

static ga_status start(ga_onestep *m, double h, bool forward)
{
    (void)forward;
    of(m)->now.h = h;
    show(of(m));
    return GA_OK;
}

/* --- steps -------------------------------------------------------------------------------- */

/* Charts end after a full turn; steps stay well below. */
static const double MOST_TURNED = 5, LONGEST_TURN = 3;

/* Largest rotation of a node in x, which has nv numbers. */
static double turned(const ga_radau *x, const double *xi)
{
    const ga_system *sys = &x->dae.sys;
    double largest = 0;
    for (int k = 0, at = 0; k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        double sum = 0;
        for (int i = at; i < at + n; ++i)
            if (!ga_radau_is_flat(sys->nodes[k]) && x->dae.kind[i]) sum += xi[i] * xi[i];
        if (!(sum <= largest)) largest = sum;
        at += n;
    }
    return sqrt(largest);
}

/* With fixed steps Newton's method goes to the round-off of the terms that rates of states are
 * made of. */
static void find_least_sizes(ga_radau *x)
{
    ga_dae *dae = &x->dae;
    const ga_influence from = {.q = {ga_dae_translation(dae, x->now.q), 1},
                               .v = {x->size_v[0], x->size_v[1]},
                               .x = dae->state_size,
                               .multipliers = ga_norm_max(dae->mp, x->now.multipliers),
                               .rate = x->now.vd + dae->nm};
    const ga_tangents tangents = {x->tangent.K, x->tangent.C, x->tangent.L, x->tangent.Z};
    ga_dae_state_changes(dae, x->tangent.M, &tangents, x->h, &from, dae->state_least);
}

static ga_status find_stages(ga_onestep *m, double h, double t1)
{
    ga_radau *x = of(m);
    x->h = h;
    x->t1 = t1;
    ga_radau_predict(x);
    ga_norm_raise(x->dae.nm, x->now.v, x->dae.kind, 1, x->size_v);
    ga_dae_observe_states(&x->dae, x->now.v);
    for (int i = 0; i < GA_RADAU_STAGES; ++i) {
        const double *y = ga_radau_stage(x, x->y, i);
        ga_norm_raise(x->dae.nm, y + x->dae.nv, x->dae.kind, 1, x->size_v);
        if (!(turned(x, y) < MOST_TURNED)) return GA_ERR_NO_CONVERGE;
    }
    GA_TRY(ga_radau_factor(x));
    if (!m->tolerance) find_least_sizes(x);
    GA_TRY(ga_radau_iterate(x));
    if (!(turned(x, ga_radau_stage(x, x->y, GA_RADAU_STAGES - 1)) < MOST_TURNED))
        return GA_ERR_NO_CONVERGE;
    ga_radau_stage_point(x, GA_RADAU_STAGES - 1);
    memcpy(x->trial_q, x->q, (size_t)x->dae.nq * sizeof *x->q);
    memcpy(x->trial_v, x->v, (size_t)x->dae.nv * sizeof *x->v);
    memcpy(x->trial_vd, x->vd, (size_t)x->dae.nv * sizeof *x->vd);
    memcpy(x->trial_l, ga_radau_stage(x, x->y, GA_RADAU_STAGES - 1) + 2 * x->dae.nv,
           (size_t)x->dae.mp * sizeof *x->trial_l);
    return GA_OK;
}

/* Steps towards a singular position get shorter and shorter, until Newton's method fails. */
static ga_status attempt(ga_onestep *m, double h, double t1)
{
    const ga_status status = find_stages(m, h, t1);
    return status == GA_ERR_NO_CONVERGE && is_singular(of(m)) ? GA_ERR_SINGULAR : status;
}

/* The estimate a step may have, by the tolerance. It is of fourth order in h, the error itself
 * of sixth: about est^(3/2). So, as in the authors' program, est is compared with the power 2/3
 * of the tolerance, normalised at LOOSE; and from MANY steps on, whose errors add up, with the
 * part (h/T)^(2/3) of that. Motions that magnify errors want less than all of it. */
static const double MANY = 100, LOOSE = 1e-6, PART = 0.4;

static double allowed(const ga_radau *x)
{
    const double part = MANY * x->h / x->base.tolerance->duration;
    const double tight = LOOSE / ga_larger(x->base.tolerance->def.relative, DBL_EPSILON);
    return PART * ga_larger(cbrt(tight), 1) * (part < 1 ? cbrt(part * part) : 1);
}

static void error(ga_onestep *m, ga_error *e)
{
    ga_radau *x = of(m);
    const int nv = x->dae.nv;
    ga_radau_estimate(x);
    e->local = ga_tolerance_weigh(m, x->error, x->error + nv);
    const bool again = x->now.steps == 0 || x->rejected;
    if (!(e->local <= allowed(x)) && again && ga_radau_filter_estimate(x) == GA_OK)
        e->local = ga_tolerance_weigh(m, x->error, x->error + nv);
    memcpy(e->q, x->error, (size_t)nv * sizeof *e->q);
    memcpy(e->v, x->error + nv, (size_t)nv * sizeof *e->v);
    e->excess = e->local / allowed(x);
    e->contribution =
        x->h / m->tolerance->duration * e->excess * sqrt(e->excess); /* est^(3/2) */
    e->power = 0.25; /* or 0.3 where the allowed part depends on h: hardly another step */
    e->change = -1;
    if (!(e->excess <= 1)) e->change = ga_tolerance_change(m, x->now.vd, x->trial_vd);
    e->amplification = 0;
    e->positions_only = false;
}

/* Onto the constraints, where Newton's method has left more than round-off; then v' and the
 * multipliers. */
static ga_status finish(ga_radau *x)
{
    const ga_levels both = GA_POSITION_LEVEL | GA_VELOCITY_LEVEL;
    ga_consistent *c = &x->consistent;
    if (x->dae.mp && !ga_consistent_correct(c, x->t1, x->trial_q, x->trial_v, both))
        return GA_ERR_NO_CONVERGE;
    if (x->dae.mp) GA_TRY(ga_dae_gradient(&x->dae, x->t1, x->trial_q, x->trial_v, c->saddle.G));
    GA_TRY(ga_onestep_record(&x->base, x->t1, x->trial_q, x->trial_v, x->h));
    return ga_consistent_acceleration(c, x->t1, x->trial_q, x->trial_v, x->trial_vd,
                                      x->trial_l);
}

/* Of the duration: steps next to a singular position that are shorter lead nowhere. */
static const double COLLAPSED = 1e-8;

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    ga_radau *x = of(m);
    ga_ends *now = &x->now;
    const ga_dae *dae = &x->dae;
    const ga_status status = finish(x);
    *shorter = 0;
    if (status != GA_OK) {
        if (e && ga_step_may_retry(status)) *shorter = 0.5;
        return status;
    }
    if (e && x->h < COLLAPSED * m->tolerance->duration && is_singular(x))
        return GA_ERR_SINGULAR;
    ga_ends_advance(now, dae, x->h, x->t1, x->trial_q, x->trial_v, x->trial_vd, x->trial_l);
    memcpy(now->own, x->y, GA_RADAU_STAGES * (size_t)x->n * sizeof *x->y);
    ga_onestep_look_at_end(m);
    ++x->stats.steps;
    x->rejected = false;
    m->iterations = x->iterations;
    show(x);
    return GA_OK;
}

/* After a failure of Newton's method steps stay shorter for a while: the next one would fail
 * again where this one did (a spring with k = 1e10: 2030 failures, with this rule 72). */
static const double FAILED_PART = 0.7, CAP_GROWTH = 1.15;
enum { HOLD = 20 };

static void reject(ga_onestep *m, const ga_error *e)
{
    ga_radau *x = of(m);
    x->rejected = e != NULL;
    if (e) return;
    x->cap = FAILED_PART * x->h;
    x->hold = HOLD;
}

static void plan(ga_onestep *m, double aim, ga_growth *growth)
{
    (void)aim;
    ga_radau *x = of(m);
    const double turning = turned(x, x->now.v);
    growth->small_change = true; /* every step has factors of its own */
    growth->most = 4;
    if (x->hold > 0)
        --x->hold;
    else
        x->cap *= CAP_GROWTH;
    double most = x->cap / growth->h;
    if (turning > 0) most = ga_smaller(most, LONGEST_TURN / (turning * growth->h));
    growth->wish = ga_smaller(growth->wish, most);
}

static void keep(ga_onestep *m) { ga_ends_copy(&of(m)->saved, &of(m)->now); }

static void go_back(ga_onestep *m)
{
    ga_radau *x = of(m);
    ga_ends_copy(&x->now, &x->saved);
    x->end_steps = -1;
    show(x);
}

/* --- output ------------------------------------------------------------------------------ */

/* Multipliers from the acceleration level; linear where that cannot be solved. */
static void interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                        double *multipliers)
{
    ga_radau *x = of(m);
    const ga_ends *now = &x->now;
    const size_t mp = (size_t)x->dae.mp;
    if (now->steps == 0 || t == now->t) {
        ga_cubic_interpolate(m, t, q, v, vd, multipliers);
        return;
    }
    const double s = (t - now->t_old) / now->h;
    ga_radau_interpolate(x, s, q, v, vd);
    if (!multipliers || !mp) return;
    for (size_t i = 0; i < mp; ++i)
        multipliers[i] =
            now->multipliers_old[i] + s * (now->multipliers[i] - now->multipliers_old[i]);
    memcpy(x->trial_l, multipliers, mp * sizeof *multipliers);
    ga_radau_interpolate(x, s, x->trial_q, x->trial_v, NULL);
    if (ga_onestep_accelerate(m, t, x->trial_q, x->trial_v, x->trial_vd, x->trial_l) == GA_OK)
        memcpy(multipliers, x->trial_l, mp * sizeof *multipliers);
}

/* --- save and load ------------------------------------------------------------------------ */

/* Every step has tangents and factors of its own, and the output follows from the state. */
static ga_status archive(ga_onestep *m, ga_archive *a)
{
    ga_radau *x = of(m);
    int count;
    double *pivots = ga_complex_pivots(x->jacobian.complex, &count);
    ga_archive_heading(a, m, 0);
    if (a->failed) return GA_OK;
    ga_ends_archive(a, &x->now);
    ga_archive_consistent(a, &x->consistent);
    ga_archive_numbers(a, count, pivots);
    GA_ARCHIVE(a, x->output.largest);
    GA_ARCHIVE(a, x->size_v);
    ga_archive_roots(a, m);
    GA_ARCHIVE(a, x->rejected);
    GA_ARCHIVE(a, x->cap);
    GA_ARCHIVE(a, x->hold);
    GA_ARCHIVE(a, x->stats);
    GA_ARCHIVE(a, x->base.iterations);
    GA_TRY(ga_archive_factor(a, x->consistent.saddle.factor));
    GA_TRY(ga_archive_factor(a, x->output.saddle.factor));
    GA_TRY(ga_archive_factor(a, x->jacobian.real));
    if (!ga_archive_is_read(a)) return GA_OK;
    GA_TRY(ga_complex_recall(x->jacobian.complex));
    x->end_steps = -1;
    show(x);
    return GA_OK;
}

static bool explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const ga_radau *x = (const ga_radau *)m;
    if (status == GA_ERR_NO_CONVERGE)
        ga_fail(report, status,
                "Newton did not converge in the step from t = %.9g with h = %.3g, after %d "
                "iterations",
                x->now.t, h, x->iterations);
    else if (status == GA_ERR_SINGULAR)
        ga_fail(report, status,
                "the constraints are singular, or nearly, in the step from t = %.9g with h = "
                "%.3g: `radau` cannot pass singular positions, explicit and generalized-alpha "
                "can",
                x->now.t, h);
    else
        return false;
    if (report) report->iteration = x->iterations;
    if (report && status == GA_ERR_SINGULAR)
        report->remedy = "--set simulate.method=auto, or generalized-alpha";
    return true;
}

const ga_onestep_type ga_radau_type = {
    .name = "radau",
    .create = create,
    .destroy = destroy,
    .use = use,
    .begin = begin,
    .restart = restart,
    .start = start,
    .attempt = attempt,
    .error = error,
    .accept = accept,
    .reject = reject,
    .plan = plan,
    .keep = keep,
    .go_back = go_back,
    .interpolate = interpolate,
    .explain = explain,
    .archive = archive,
};
