/* The explicit method of order 8 as a one-step method; see explicit.h.
 *
 * Error. With E5 and E3, the differences to the embedded methods by the tolerances,
 *
 *     est = E5^2/sqrt(E5^2 + 0.01 E3^2) <= max(2.5 c min(0.1, h/T), round-off)
 *
 * T the duration: error per unit step, since error per step lets errors grow with the number of
 * steps. est is of order h^8, the error of the step of order h^9, so the latter falls as
 * est^(9/8): c = (1e-8/tolerance)^(1/9) makes the error at the end proportional to the
 * tolerance.
 */
#include "integrate/explicit.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

static ga_explicit *of(ga_onestep *m) { return (ga_explicit *)m; }

static void show(ga_explicit *x) { x->base.now = ga_ends_view(&x->now); }

/* --- creation ----------------------------------------------------------------------------- */

static void destroy_stages(ga_stages *stages)
{
    ga_free(stages->memory);
    memset(stages, 0, sizeof *stages);
}

static void destroy_point(ga_explicit_point *p)
{
    double *const memory[] = {p->q, p->xi, p->v, p->vd, p->multipliers};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_explicit *x = of(m);
    destroy_stages(&x->last);
    destroy_stages(&x->next);
    destroy_point(&x->end);
    destroy_point(&x->here);
    void *memory[] = {x->F, x->dq, x->dv, x->Phi, x->w, x->turns};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_ends_destroy(&x->now);
    ga_ends_destroy(&x->saved);
    ga_cubic_destroy(m);
    ga_probe_destroy(&x->probe);
    ga_consistent_destroy(&x->output);
    ga_consistent_destroy(&x->consistent);
    ga_dae_destroy(&x->dae);
    ga_free(x);
}

static bool create_stages(const ga_explicit *x, ga_stages *stages)
{
    const ga_dae *dae = &x->dae;
    const size_t head = (size_t)dae->nq + 3 * (size_t)dae->nv + (size_t)dae->mp;
    stages->memory = GA_NEW(double, head + GA_DOP853_DENSE_STAGES * (size_t)x->width);
    if (!stages->memory) return false;
    stages->q0 = stages->memory;
    stages->xi = stages->q0 + dae->nq;
    stages->v = stages->xi + dae->nv;
    stages->v0 = stages->v + dae->nv;
    stages->z = stages->v0 + dae->nv;
    stages->k = stages->z + dae->mp;
    return true;
}

static bool create_point(const ga_dae *dae, ga_explicit_point *p)
{
    return (p->q = GA_NEW(double, dae->nq)) && (p->xi = GA_NEW(double, dae->nv)) &&
           (p->v = GA_NEW(double, dae->nv)) && (p->vd = GA_NEW(double, dae->nv)) &&
           (p->multipliers = GA_NEW(double, dae->mp));
}

static ga_status create_memory(ga_explicit *x)
{
    const ga_dae *dae = &x->dae;
    const int nodes = dae->sys.node_count;
    x->width = 2 * dae->nv + dae->mp;
    const bool memory = ga_ends_create(dae, 0, &x->now) && ga_ends_create(dae, 0, &x->saved) &&
                        create_stages(x, &x->last) && create_stages(x, &x->next) &&
                        create_point(dae, &x->end) && create_point(dae, &x->here) &&
                        (x->F = GA_NEW(double, GA_DOP853_DENSE *(size_t)x->width)) &&
                        (x->dq = GA_NEW(double, dae->nv)) &&
                        (x->dv = GA_NEW(double, dae->nv)) &&
                        (x->Phi = GA_NEW(double, dae->m)) && (x->w = GA_NEW(double, dae->mp)) &&
                        (x->turns = GA_NEW(bool, nodes));
    if (!memory) return GA_ERR_MEMORY;
    for (int k = 0; k < nodes; ++k) x->turns[k] = ga_explicit_turns(dae->sys.nodes[k]);
    return GA_OK;
}

static ga_status create_parts(ga_explicit *x, const ga_system *system)
{
    const ga_integrator_def *def = &x->def;
    GA_TRY(ga_dae_create(system, &x->dae));
    GA_TRY(ga_consistent_create(&x->dae, def->solver, &x->consistent));
    GA_TRY(ga_consistent_create(&x->dae, def->solver, &x->output));
    GA_TRY(create_memory(x));
    GA_TRY(ga_probe_create(&x->dae, &x->probe));
    x->consistent.saddle.factorizations = &x->stats.factorizations;
    ga_onestep_connect(&x->base, &ga_explicit_type, &x->consistent, &x->stats,
                       def->max_halvings, ga_ends_view(&x->now));
    x->base.output = &x->output;
    x->base.acceleration_level = true;
    x->base.given_steps = GA_EXPLICIT_GIVEN_STEPS;
    return ga_cubic_create(&x->base);
}

static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    GA_TRY(ga_onestep_check(system, def, report));
    ga_explicit *x = GA_NEW(ga_explicit, 1);
    if (!x) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    x->def = *def;
    const ga_status status = create_parts(x, system);
    if (status != GA_OK)
        destroy(&x->base);
    else
        *m = &x->base;
    return ga_fail(report, status, "%s", status == GA_OK ? "" : ga_status_text(status));
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    ga_explicit *x = of(m);
    GA_TRY(ga_dae_use(&x->dae, pool));
    GA_TRY(ga_coords_use(&x->dae.M, pool));
    GA_TRY(ga_coords_use(&x->dae.G, pool));
    GA_TRY(ga_consistent_use(&x->consistent, pool));
    return ga_consistent_use(&x->output, pool);
}

/* --- starts ------------------------------------------------------------------------------- */

static void forget(ga_explicit *x)
{
    x->last.known = x->last.dense = false;
    x->base.cubic.steps = -1;
    x->failed_h = 0;
    x->futile = false;
    x->excess = 0;
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_explicit *x = of(m);
    const ga_dae *dae = &x->dae;
    memmove(x->end.q, q0, (size_t)dae->nq * sizeof *q0);
    GA_TRY(ga_dae_normalise(dae, x->end.q, report));
    for (int i = 0; i < dae->mp; ++i) x->now.multipliers[i] = guess ? guess[i] : 0;
    ga_factor_forget(x->consistent.saddle.factor);
    ga_factor_forget(x->output.saddle.factor);
    m->tolerance = NULL;
    x->consistent.largest = x->output.largest = 0;
    forget(x);
    x->stable = 0;
    x->alarms = x->tiny = 0;
    m->pivot = m->root_start = 0;
    x->stiff = false;
    ga_dae_forget_sizes(&x->dae);
    GA_TRY(ga_ends_start(&x->now, &x->consistent, t0, x->end.q, v0, x->def.max_projection,
                         report));
    show(x);
    ga_explicit_look_at_constraints(x);
    x->stats = (ga_statistics){0};
    return GA_OK;
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    (void)t_begin;
    ga_explicit *x = of(m);
    const ga_status status = ga_ends_restart(&x->now, &x->consistent, t, q, v, report);
    forget(x);
    show(x);
    if (status == GA_OK) ga_explicit_look_at_constraints(x);
    return status;
}

/* Largest step by what turns: the chart would be left in stages of longer ones. */
static double longest(const ga_explicit *x)
{
    const double speed = ga_explicit_turning(x, x->now.v);
    return speed > 0 ? 3 / speed : INFINITY;
}

/* v' at a point h0 ahead by an Euler step, in x->here.vd. */
static ga_status look_ahead(ga_explicit *x, double h0)
{
    const ga_dae *dae = &x->dae;
    const ga_ends *now = &x->now;
    const ga_explicit_point *at = &x->here;
    for (int i = 0; i < dae->nv; ++i) {
        at->xi[i] = h0 * now->v[i];
        at->v[i] = now->v[i] + h0 * now->vd[i];
    }
    ga_dae_update(dae, GA_MAP_EXP, now->q, at->xi, at->q);
    ga_explicit_copy(at->multipliers, now->multipliers, dae->mp);
    return ga_explicit_solve_step(x, now->t + h0, at->q, at->v, at->vd, at->multipliers);
}

/* [HNW93] section II.4: with derivatives of (q, v) by the tolerances, d1 of first and d2 of
 * second order, an Euler step of a hundredth of the size, then h^8 max(d1, d2) = 0.01. */
static ga_status control(ga_onestep *m, double *h)
{
    ga_explicit *x = of(m);
    const ga_ends *now = &x->now;
    const ga_explicit_point *at = &x->here;
    const ga_tolerance *tol = m->tolerance;
    if (*h > 0) return GA_OK;
    const double d1 = ga_tolerance_weigh(m, now->v, now->vd);
    double h0 = 1e-2 * ga_tolerance_largest(m) / ga_larger(d1, DBL_MIN);
    h0 = ga_smaller(h0, ga_smaller(1e-2 * tol->duration, 0.1 * longest(x)));
    const ga_status status = look_ahead(x, h0);
    if (status != GA_OK && !ga_step_may_retry(status)) return status;
    double h1 = h0; /* where the equations cannot be evaluated so far ahead */
    if (status == GA_OK) {
        for (int i = 0; i < x->dae.nv; ++i) {
            at->xi[i] = now->vd[i];
            at->vd[i] = (at->vd[i] - now->vd[i]) / h0;
        }
        const double d2 = ga_tolerance_weigh(m, at->xi, at->vd);
        const double d = ga_larger(ga_larger(d1, d2), DBL_MIN);
        h1 = isfinite(d) ? ga_smaller(100 * h0, pow(1e-2 / d, 1.0 / 8)) : h0;
    }
    h1 = ga_smaller(ga_smaller(h1, 0.1 * tol->duration), longest(x));
    *h = ga_tolerance_clamp(m, ga_larger(h1, tol->def.min_step));
    return GA_OK;
}

static ga_status start(ga_onestep *m, double h, bool forward)
{
    (void)forward;
    ga_explicit *x = of(m);
    x->now.h = h;
    show(x);
    return GA_OK;
}

/* The first factorisation may take memory: that of steps was made at the start. */
static ga_status warm(ga_onestep *m)
{
    const ga_solution *now = &m->now;
    const ga_status status =
        ga_consistent_factor(ga_onestep_output(m), now->t, now->q, now->v, GA_SADDLE_ALL);
    return status == GA_ERR_MEMORY ? status : GA_OK;
}

/* --- steps -------------------------------------------------------------------------------- */

/* The first stage, and eleven more, with the scales of the end of the last step. */
static ga_status attempt(ga_onestep *m, double h, double t1)
{
    ga_explicit *x = of(m);
    ga_stages *next = &x->next;
    const ga_ends *now = &x->now;
    const int nv = x->dae.nv;
    double *k = ga_explicit_stage(x, next, 0);
    x->h = h;
    x->t1 = t1;
    next->t = now->t;
    next->h = h;
    next->known = next->dense = false;
    ga_explicit_copy(next->q0, now->q, x->dae.nq);
    ga_explicit_copy(next->v0, now->v, nv);
    ga_explicit_copy(k, now->v, nv);
    ga_explicit_copy(k + nv, now->vd, nv);
    ga_explicit_copy(k + 2 * nv, now->multipliers, x->dae.mp);
    for (int i = 1; i < GA_DOP853_STAGES; ++i)
        GA_TRY(ga_explicit_evaluate(x, next, i, t1, ga_explicit_solve_nearby));
    ga_explicit_combine(x, next, GA_DOP853_STAGES, ga_dop853_table.b, next->xi, next->v);
    const bool charted = ga_explicit_turning(x, next->xi) <= GA_EXPLICIT_MOST_TURNED;
    return charted ? GA_OK : GA_ERR_STEP_SIZE;
}

/* Of sizes: what round-off makes of the estimate. With less the steps of long runs with tight
 * tolerances collapse. */
static const double ROUND_OFF = 2e-14;

/* c above, by the largest tolerance relative to sizes: 0.28 at 1e-3, 2.2 at 1e-11. */
static double order_factor(const ga_onestep *m)
{
    return pow(1e-8 * ga_larger(ga_tolerance_largest(m), 1), 1.0 / 9);
}

/* Of the estimate, which is of an order lower than the step: so much counts at the end, and the
 * sum over steps of what is allowed is the tolerance. Errors are mostly a twentieth of that,
 * which leaves room for motions that magnify them: a spinning puck on a spring does so a
 * hundredfold, and ends 1 to 13 tolerances off (30 before, with SHARE = 0.1). */
static const double SHARE = 0.4;

/* What a step of size h may contribute, by the tolerance. */
static double allowed(const ga_onestep *m, double h)
{
    const double part = order_factor(m) * ga_smaller(0.1, h / m->tolerance->duration) / SHARE;
    return ga_larger(part, ROUND_OFF * ga_tolerance_largest(m));
}

static double combined_error(double e5, double e3)
{
    return e5 > 0 ? e5 * (e5 / hypot(e5, 0.1 * e3)) : e5; /* NaN stays; squares may be 0 */
}

/* The difference to an embedded method, in e; by the tolerances. */
static double embedded_error(const ga_explicit *x, const double *weights, ga_error *e)
{
    const ga_stages *next = &x->next;
    const int nv = x->dae.nv;
    memset(e->q, 0, (size_t)nv * sizeof *e->q);
    memset(e->v, 0, (size_t)nv * sizeof *e->v);
    ga_explicit_add(x, next, GA_DOP853_STAGES, weights, next->h, 0, nv, e->q);
    ga_explicit_add(x, next, GA_DOP853_STAGES, weights, next->h, nv, nv, e->v);
    return ga_tolerance_weigh(&x->base, e->q, e->v);
}

/* What the round-off of time leaves in the estimate where forces change with time: without it
 * the steps through a pulse of a microsecond collapse. Of systems that do not depend on time it
 * is no part, so it counts only where shorter steps have not helped, or where they are this
 * short by the duration. Where it is more than this part of what a step does, no solution is
 * found: into a pole. */
static const double SHORT = 1e-7, MOST_NOISE = 1e-4;

static bool may_be_noise(const ga_explicit *x)
{
    const double part = 4 * DBL_EPSILON * fabs(x->t1) / x->h;
    return (x->futile || x->h < SHORT * x->base.tolerance->duration) && part < MOST_NOISE;
}

static double time_noise(const ga_explicit *x)
{
    const ga_onestep *m = &x->base;
    double change = 0;
    for (int i = 1; i < GA_DOP853_STAGES; ++i)
        change = ga_larger(
            change,
            ga_tolerance_change(m, x->now.vd, ga_explicit_stage(x, &x->next, i) + x->dae.nv));
    return 4 * DBL_EPSILON * fabs(x->t1) * change;
}

/* A step had better not end next to a singular position: accelerations and projections are
 * noise there. It is nearer to the end of the step than this part of it, if the root falls by
 * more than the rest of it within the step. */
static const double TOO_NEAR = 0.12, FEW_STEPS = 2;

static bool evade(ga_onestep *m, ga_status status)
{
    const ga_explicit *x = of(m);
    if (status != GA_OK || !(ga_onestep_steps_to_singular(m, x->h) < FEW_STEPS)) return false;
    return sqrt(ga_consistent_smallest(m->consistent)) < TOO_NEAR * m->root;
}

static void error(ga_onestep *m, ga_error *e)
{
    ga_explicit *x = of(m);
    const int nv = x->dae.nv;
    const double e3 = embedded_error(x, ga_dop853_table.e3, e);
    const double e5 = embedded_error(x, ga_dop853_table.e5, e), est = combined_error(e5, e3);
    for (int i = 0; e5 > 0 && i < nv; ++i) {
        e->q[i] *= est / e5;
        e->v[i] *= est / e5;
    }
    e->local = est;
    e->contribution = SHARE * est / order_factor(m);
    /* a jump, or round-off: the error of a second rejected attempt has hardly become smaller */
    const double ratio = x->h / x->failed_h;
    x->futile = x->failed_h > 0 && est > x->failed_local * ratio * ratio;
    double most = allowed(m, x->h);
    if (est > 0.1 * most && may_be_noise(x)) most = ga_larger(most, time_noise(x));
    e->excess = est / most;
    e->power = 1.0 / 8;
    e->amplification = 0;
    e->positions_only = false;
    e->change = -1;
    x->excess = e->excess;
    if (!(e->excess <= 1) && x->futile && !x->near)
        e->change = ga_tolerance_change(
            m, x->now.vd, ga_explicit_stage(x, &x->next, GA_DOP853_STAGES - 1) + nv);
}

static void reject(ga_onestep *m, const ga_error *e)
{
    ga_explicit *x = of(m);
    x->failed_h = e ? x->h : 0;
    x->failed_local = e ? e->local : 0;
}

/* A projection is about as large as the estimated error. One that is so much larger shows that
 * the estimate is not to be trusted. */
static const double LARGE_PROJECTION = 10;

static bool is_far_off(const ga_explicit *x)
{
    const ga_onestep *m = &x->base;
    if (!m->tolerance || x->near || !x->dae.mp) return false;
    const double size = ga_tolerance_weigh(m, x->dq, x->dv);
    const double pivot = x->consistent.saddle.pivot;
    const double noise = ROUND_OFF * ga_tolerance_largest(m) / (pivot * pivot);
    if (size <= LARGE_PROJECTION * ga_larger(allowed(m, x->h), noise)) return false;
    return !(size <= LARGE_PROJECTION * time_noise(x));
}

/* The last stage, at the projected end; the chart has xi + T^-1(xi) dq there. */
static void finish_stages(ga_explicit *x)
{
    const ga_explicit_point *end = &x->end;
    ga_stages *next = &x->next;
    const int nv = x->dae.nv, mp = x->dae.mp;
    double *k = ga_explicit_stage(x, next, GA_DOP853_END);
    ga_explicit_chart_rate(x, next->xi, x->dq, x->here.xi);
    for (int i = 0; i < nv; ++i) next->xi[i] += x->here.xi[i];
    ga_explicit_copy(next->v, end->v, nv);
    memset(next->z, 0, (size_t)mp * sizeof *next->z);
    ga_explicit_add(x, next, GA_DOP853_STAGES, ga_dop853_table.b, next->h, 2 * nv, mp, next->z);
    ga_explicit_chart_rate(x, next->xi, next->v, k);
    ga_explicit_copy(k + nv, end->vd, nv);
    ga_explicit_copy(k + 2 * nv, end->multipliers, mp);
}

static ga_status finish(ga_explicit *x)
{
    const ga_dae *dae = &x->dae;
    const ga_explicit_point *end = &x->end;
    const ga_stages *next = &x->next;
    const double *last = ga_explicit_stage(x, next, GA_DOP853_STAGES - 1);
    ga_dae_update(dae, GA_MAP_EXP, next->q0, next->xi, end->q);
    ga_explicit_copy(end->v, next->v, dae->nv);
    if (!ga_explicit_project(x, x->t1, end->q, end->v)) return GA_ERR_NO_CONVERGE;
    if (is_far_off(x)) return GA_ERR_NO_CONVERGE;
    ga_explicit_copy(end->multipliers, last + 2 * dae->nv, dae->mp); /* a guess */
    GA_TRY(ga_explicit_solve_step(x, x->t1, end->q, end->v, end->vd, end->multipliers));
    finish_stages(x);
    const double size = ga_norm_max(dae->nq, end->q) + ga_norm_max(dae->nv, end->v) +
                        ga_norm_max(dae->nv, end->vd) + ga_norm_max(dae->mp, end->multipliers);
    return isfinite(size) ? GA_OK : GA_ERR_NOT_FINITE;
}

/* The attempt becomes the last step. */
static void advance(ga_explicit *x)
{
    const ga_explicit_point *end = &x->end;
    const ga_stages last = x->last;
    ga_ends_advance(&x->now, &x->dae, x->h, x->t1, end->q, end->v, end->vd, end->multipliers);
    ga_onestep_look_at_end(&x->base);
    ++x->stats.steps;
    x->last = x->next;
    x->next = last;
    x->last.known = true;
    x->failed_h = 0;
    show(x);
}

/* So many steps in a row, each so small a part of the whole time, lead nowhere: into a pole; or
 * towards a singular position, where larger ones do not, either. */
enum { MOST_TINY = 1000 };
static const double TINY = 1e-10, TINY_NEAR = 1e-6, NEAR = 0.1;

static bool is_near(const ga_onestep *m) { return m->root < NEAR * m->root_start; }

static bool leads_nowhere(ga_explicit *x)
{
    const ga_tolerance *tol = x->base.tolerance;
    const double part = is_near(&x->base) ? TINY_NEAR : TINY;
    x->tiny = tol && x->h < part * tol->duration ? x->tiny + 1 : 0;
    return x->tiny > MOST_TINY;
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    (void)e;
    ga_explicit *x = of(m);
    *shorter = 0;
    if (ga_explicit_is_too_stiff(x) || leads_nowhere(x)) return GA_ERR_STEP_SIZE;
    ga_status status = finish(x);
    if (status == GA_OK) status = ga_onestep_record(m, x->t1, x->end.q, x->end.v, x->h);
    if (status != GA_OK) {
        *shorter = ga_step_may_retry(status) ? 0.5 : 0;
        return status;
    }
    advance(x);
    m->iterations = GA_DOP853_STAGES;
    return GA_OK;
}

/* Of what an attempt may cost, 0.8 of the step that would just pass: more rejects too many. */
static void plan(ga_onestep *m, double aim, ga_growth *growth)
{
    (void)aim;
    ga_explicit *x = of(m);
    growth->wish = 0.8 * pow(ga_larger(x->excess, 1e-8), -1.0 / 8);
    growth->most = ga_smaller(6, longest(x) / growth->h);
    growth->small_change = true;
}

static void keep(ga_onestep *m) { ga_ends_copy(&of(m)->saved, &of(m)->now); }

static void go_back(ga_onestep *m)
{
    ga_explicit *x = of(m);
    ga_ends_copy(&x->now, &x->saved);
    forget(x);
    show(x);
}

/* --- save and load ------------------------------------------------------------------------ */

/* Of what was factored the scales serve the next step; the dense output follows from the
 * stages.
 */
static ga_status archive(ga_onestep *m, ga_archive *a)
{
    ga_explicit *x = of(m);
    ga_stages *last = &x->last;
    const int n = x->dae.nv + x->dae.mp;
    ga_archive_heading(a, m, 0);
    if (a->failed) return GA_OK;
    ga_ends_archive(a, &x->now);
    GA_ARCHIVE(a, last->t);
    GA_ARCHIVE(a, last->h);
    GA_ARCHIVE(a, last->known);
    ga_archive_numbers(a, (int)(ga_explicit_stage(x, last, GA_DOP853_END + 1) - last->memory),
                       last->memory);
    ga_archive_consistent(a, &x->consistent);
    ga_archive_numbers(a, n, x->consistent.saddle.row_scale);
    ga_archive_numbers(a, n, x->consistent.saddle.col_scale);
    GA_ARCHIVE(a, x->output.largest);
    ga_archive_roots(a, m);
    GA_ARCHIVE(a, x->redundant);
    GA_ARCHIVE(a, x->near);
    GA_ARCHIVE(a, x->excess);
    GA_ARCHIVE(a, x->failed_h);
    GA_ARCHIVE(a, x->failed_local);
    GA_ARCHIVE(a, x->futile);
    GA_ARCHIVE(a, x->stable);
    GA_ARCHIVE(a, x->alarms);
    GA_ARCHIVE(a, x->stiff);
    GA_ARCHIVE(a, x->tiny);
    GA_ARCHIVE(a, x->stats);
    GA_ARCHIVE(a, x->base.iterations);
    GA_TRY(ga_archive_factor(a, x->consistent.saddle.factor));
    GA_TRY(ga_archive_factor(a, x->output.saddle.factor));
    if (!ga_archive_is_read(a)) return GA_OK;
    x->last.dense = false;
    m->cubic.steps = -1;
    show(x);
    return GA_OK;
}

/* --- reports ------------------------------------------------------------------------------ */

static bool explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const ga_explicit *x = (const ga_explicit *)m;
    const double t = m->now.t;
    if (x->stiff)
        ga_fail(report, status,
                "the motion is stiff at t = %.9g: stability limits the steps of the explicit "
                "method to %.2g, about %.2g steps in all; use `radau` or generalized-alpha",
                t, x->stable, m->tolerance ? m->tolerance->duration / x->stable : 0);
    else if (x->tiny > MOST_TINY && is_near(m))
        ga_fail(
            report, status,
            "next to a singular position the steps of the explicit method have shrunk to %.2g "
            "at t = %.9g and lead nowhere; generalized-alpha passes such positions",
            h, t);
    else if (status == GA_ERR_NO_CONVERGE)
        ga_fail(report, status,
                "a step of %.3g from t = %.9g cannot be projected onto the constraints, which "
                "may be singular there",
                h, t);
    else if (status == GA_ERR_STEP_SIZE && !m->tolerance &&
             ga_explicit_turning(x, m->now.v) * h > 1)
        ga_fail(report, status,
                "a step of %.3g from t = %.9g rotates a body too far: shorter steps are needed",
                h, t);
    else
        return false;
    if (report && x->tiny > MOST_TINY && is_near(m))
        report->remedy = "--set simulate.method=auto, or generalized-alpha";
    if (report && x->stiff) report->remedy = "--set simulate.method=radau, or auto";
    return true;
}

const ga_onestep_type ga_explicit_type = {
    .name = "explicit",
    .create = create,
    .destroy = destroy,
    .use = use,
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
    .interpolate = ga_explicit_interpolate,
    .explain = explain,
    .archive = archive,
};
