/* Radau IIA as a one-step method; see radau_stages.c for its equations. */
#include "integrate/radau.h"
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "lie/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

static ga_radau *of(ga_onestep *m) { return (ga_radau *)m; }

/* --- creation ----------------------------------------------------------------------------- */

static void show(ga_radau *x)
{
    ga_solution *view = &x->base.now;
    view->t = x->now.t;
    view->t_old = x->now.t_old;
    view->h = x->now.h;
    view->steps = x->now.steps;
}

static bool create_state(const ga_radau *x, ga_radau_state *s)
{
    const size_t nq = (size_t)x->dae.nq, nv = (size_t)x->dae.nv, mp = (size_t)x->dae.mp,
                 n = (size_t)x->n;
    s->size = 2 * (nq + 2 * nv + mp) + nv + GA_RADAU_STAGES * n;
    s->memory = GA_NEW(double, s->size);
    if (!s->memory) return false;
    double *p = s->memory;
    s->q = p, p += nq;
    s->v = p, p += nv;
    s->vd = p, p += nv;
    s->l = p, p += mp;
    s->q_old = p, p += nq;
    s->v_old = p, p += nv;
    s->vd_old = p, p += nv;
    s->l_old = p, p += mp;
    s->v_start = p, p += nv;
    s->stages = p;
    return true;
}

static void copy_state(ga_radau_state *to, const ga_radau_state *from)
{
    to->t = from->t;
    to->t_old = from->t_old;
    to->h = from->h;
    to->steps = from->steps;
    to->h_stages = from->h_stages;
    memcpy(to->memory, from->memory, from->size * sizeof *to->memory);
}

typedef struct ga_radau_array {
    double **array;
    size_t count;
} ga_radau_array;

enum { MAX_ARRAYS = 40 };

/* Everything but the state. The matrix is there. */
static int list_arrays(ga_radau *x, ga_radau_array list[MAX_ARRAYS])
{
    const ga_dae *dae = &x->dae;
    const size_t nq = (size_t)dae->nq, nv = (size_t)dae->nv, m = (size_t)dae->m,
                 mp = (size_t)dae->mp, n = (size_t)x->n, all = GA_RADAU_STAGES * n,
                 count = (size_t)x->matrix.count, room = (size_t)x->turning * GA_RADAU_BLOCK;
    const ga_radau_array arrays[] = {{&x->y, all},
                                     {&x->r, all},
                                     {&x->z, all},
                                     {&x->trial_q, nq},
                                     {&x->trial_v, nv},
                                     {&x->trial_vd, nv},
                                     {&x->trial_l, mp},
                                     {&x->M, (size_t)dae->M.count},
                                     {&x->G, (size_t)dae->G.count},
                                     {&x->K, (size_t)dae->K.count},
                                     {&x->C, (size_t)dae->C.count},
                                     {&x->Z, (size_t)dae->Z.count},
                                     {&x->L, (size_t)dae->L.count},
                                     {&x->one, nv},
                                     {&x->X, (size_t)x->chart.count},
                                     {&x->diagonal, mp},
                                     {&x->eta_weight, m},
                                     {&x->T, room},
                                     {&x->Tinv, room},
                                     {&x->constant, count},
                                     {&x->rates, count},
                                     {&x->re, count},
                                     {&x->im, count},
                                     {&x->row_scale, n},
                                     {&x->col_scale, n},
                                     {&x->scale_work, 2 * n},
                                     {&x->q, nq},
                                     {&x->v, nv},
                                     {&x->vd, nv},
                                     {&x->rate, nv},
                                     {&x->error, n},
                                     {&x->Phi, m},
                                     {&x->w, mp},
                                     {&x->end, 3 * nv}};
    memcpy(list, arrays, sizeof arrays);
    return (int)(sizeof arrays / sizeof *arrays);
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_radau *x = of(m);
    ga_radau_array list[MAX_ARRAYS];
    const int count = list_arrays(x, list);
    for (int k = 0; k < count; ++k) ga_free(*list[k].array);
    ga_free(x->now.memory);
    ga_free(x->saved.memory);
    ga_free(x->flat);
    ga_complex_destroy(x->complex);
    ga_factor_destroy(x->real);
    ga_matrix_destroy(&x->matrix);
    ga_coords_destroy(&x->eye);
    ga_coords_destroy(&x->chart);
    ga_coords_destroy(&x->eta_diagonal);
    ga_consistent_destroy(&x->consistent);
    ga_dae_destroy(&x->dae);
    ga_free(x);
}

static ga_status create_memory(ga_radau *x)
{
    GA_TRY(ga_radau_create_matrix(x));
    ga_radau_array list[MAX_ARRAYS];
    const int count = list_arrays(x, list);
    bool memory = create_state(x, &x->now) && create_state(x, &x->saved) &&
                  (x->flat = GA_NEW(bool, x->dae.sys.node_count));
    for (int k = 0; memory && k < count; ++k)
        memory = (*list[k].array = GA_NEW(double, list[k].count)) != NULL;
    for (int i = 0; memory && i < x->dae.nv; ++i) x->one[i] = 1;
    return memory ? GA_OK : GA_ERR_MEMORY;
}

static void connect(ga_radau *x)
{
    const ga_radau_state *now = &x->now;
    x->base = (ga_onestep){.type = &ga_radau_type,
                           .dae = &x->dae,
                           .consistent = &x->consistent,
                           .kind = x->dae.kind,
                           .velocity_level = true,
                           .max_halvings = x->def.max_halvings,
                           .jump_share = 0.1,
                           .stats = &x->stats,
                           .now = {.q = now->q,
                                   .v = now->v,
                                   .vd = now->vd,
                                   .multipliers = now->l,
                                   .q_old = now->q_old,
                                   .v_old = now->v_old,
                                   .vd_old = now->vd_old,
                                   .multipliers_old = now->l_old,
                                   .v_start = now->v_start}};
}

static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    GA_TRY(ga_system_validate(system, report));
    ga_radau *x = GA_NEW(ga_radau, 1);
    if (!x) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    x->def = *def;
    ga_status status = ga_dae_create(system, &x->dae);
    x->n = 2 * x->dae.nv + x->dae.mp + x->dae.m;
    if (status == GA_OK) status = ga_consistent_create(&x->dae, def->solver, &x->consistent);
    if (status == GA_OK) status = create_memory(x);
    if (status != GA_OK) {
        destroy(&x->base);
        return ga_fail(report, status, "%s", ga_status_text(status));
    }
    x->consistent.saddle.stats = &x->stats;
    connect(x);
    *m = &x->base;
    return ga_fail(report, GA_OK, "%s", "");
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    ga_radau *x = of(m);
    GA_TRY(ga_dae_use(&x->dae, pool));
    return ga_consistent_use(&x->consistent, pool);
}

/* --- starts ------------------------------------------------------------------------------- */

static void forget(ga_radau *x)
{
    x->now.steps = 0;
    x->now.h = 0;
    x->now.h_stages = 0;
    x->end_steps = -1;
    x->rejected = false;
    x->cap = INFINITY;
    x->hold = 0;
}

/* Consistent values at t from q and v, at most so far away. */
static ga_status start_from(ga_radau *x, double t, const double *q, const double *v,
                            double max_projection, ga_report *report)
{
    ga_radau_state *now = &x->now;
    const size_t nq = (size_t)x->dae.nq, nv = (size_t)x->dae.nv, mp = (size_t)x->dae.mp;
    memmove(now->q, q, nq * sizeof *q);
    memmove(now->v, v, nv * sizeof *v);
    forget(x);
    now->t = now->t_old = t;
    const ga_status status = ga_consistent_start(&x->consistent, t, now->q, now->v,
                                                 max_projection, now->vd, now->l, report);
    memcpy(now->q_old, now->q, nq * sizeof *q);
    memcpy(now->v_old, now->v, nv * sizeof *v);
    memcpy(now->vd_old, now->vd, nv * sizeof *v);
    memcpy(now->l_old, now->l, mp * sizeof *v);
    memcpy(now->v_start, now->v, nv * sizeof *v);
    show(x);
    return status;
}

/* The limit of projections is for what the user starts from. */
static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    (void)t_begin;
    ga_radau *x = of(m);
    const ga_projection projection = x->consistent.projection;
    const ga_status status = start_from(x, t, q, v, INFINITY, report);
    x->consistent.projection = projection;
    return status;
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_radau *x = of(m);
    memmove(x->trial_q, q0, (size_t)x->dae.nq * sizeof *q0);
    memmove(x->trial_v, v0, (size_t)x->dae.nv * sizeof *v0);
    GA_TRY(ga_dae_normalise(&x->dae, x->trial_q, report));
    for (int i = 0; i < x->dae.mp; ++i) x->now.l[i] = guess ? guess[i] : 0;
    ga_factor_forget(x->real);
    ga_factor_forget(x->consistent.saddle.factor);
    m->tolerance = NULL;
    GA_TRY(start_from(x, t0, x->trial_q, x->trial_v, x->def.max_projection, report));
    x->size_v[0] = x->size_v[1] = 0;
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

static ga_status attempt(ga_onestep *m, double h, double t1)
{
    ga_radau *x = of(m);
    x->h = h;
    x->t1 = t1;
    ga_radau_predict(x);
    ga_norm_raise(x->dae.nv, x->now.v, x->dae.kind, 1, x->size_v);
    for (int i = 0; i < GA_RADAU_STAGES; ++i) {
        const double *y = ga_radau_stage(x, x->y, i);
        ga_norm_raise(x->dae.nv, y + x->dae.nv, x->dae.kind, 1, x->size_v);
        if (!(turned(x, y) < MOST_TURNED)) return GA_ERR_NO_CONVERGE;
    }
    GA_TRY(ga_radau_factor(x));
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
    e->share = x->h / m->tolerance->duration * e->excess * sqrt(e->excess); /* est^(3/2) */
    e->power = 0.25; /* or 0.3 where the allowed part depends on h: hardly another step */
    e->change = -1;
    if (!(e->excess <= 1)) e->change = ga_tolerance_change(m, x->now.vd, x->trial_vd);
    e->amplification = 0;
    e->positions_only = false;
}

static ga_status record_residuals(ga_radau *x)
{
    ga_dae *dae = &x->dae;
    if (!dae->mp) return GA_OK;
    GA_TRY(ga_dae_constraint(dae, x->t1, x->trial_q, x->Phi));
    GA_TRY(ga_dae_gradient(dae, x->t1, x->trial_q, x->trial_v, x->G));
    GA_TRY(ga_dae_velocity(dae, x->t1, x->trial_q, x->trial_v, x->G, x->w));
    ga_statistics *s = &x->stats;
    s->position_residual_max = ga_larger(s->position_residual_max, ga_norm_max(dae->m, x->Phi));
    s->velocity_residual_max = ga_larger(s->velocity_residual_max, ga_norm_max(dae->mp, x->w));
    return GA_OK;
}

/* Onto the constraints, where Newton's method has left more than round-off; then v' and the
 * multipliers. */
static ga_status finish(ga_radau *x)
{
    const ga_levels both = GA_POSITION_LEVEL | GA_VELOCITY_LEVEL;
    ga_consistent *c = &x->consistent;
    if (x->dae.mp && !ga_consistent_correct(c, x->t1, x->trial_q, x->trial_v, both))
        return GA_ERR_NO_CONVERGE;
    GA_TRY(record_residuals(x));
    return ga_consistent_acceleration(c, x->t1, x->trial_q, x->trial_v, x->trial_vd,
                                      x->trial_l);
}

static void follow(double *was, double *is, const double *next, int n)
{
    memcpy(was, is, (size_t)n * sizeof *was);
    memcpy(is, next, (size_t)n * sizeof *is);
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    ga_radau *x = of(m);
    ga_radau_state *now = &x->now;
    const ga_dae *dae = &x->dae;
    const ga_status status = finish(x);
    if (status != GA_OK) {
        *shorter = e && ga_step_may_retry(status) ? 0.5 : 0;
        return status;
    }
    follow(now->q_old, now->q, x->trial_q, dae->nq);
    follow(now->v_old, now->v, x->trial_v, dae->nv);
    follow(now->vd_old, now->vd, x->trial_vd, dae->nv);
    follow(now->l_old, now->l, x->trial_l, dae->mp);
    memcpy(now->stages, x->y, GA_RADAU_STAGES * (size_t)x->n * sizeof *x->y);
    now->h = now->h_stages = x->h;
    now->t_old = now->t;
    now->t = x->t1;
    ++now->steps;
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

static void keep(ga_onestep *m) { copy_state(&of(m)->saved, &of(m)->now); }

static void go_back(ga_onestep *m)
{
    ga_radau *x = of(m);
    copy_state(&x->now, &x->saved);
    x->end_steps = -1;
    show(x);
}

/* --- output ------------------------------------------------------------------------------ */

static ga_status accelerate(ga_onestep *m, double t, const double *q, const double *v,
                            double *vd, double *multipliers)
{
    return ga_consistent_acceleration(&of(m)->consistent, t, q, v, vd, multipliers);
}

/* Multipliers from the acceleration level; linear where that cannot be solved. */
static void interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                        double *multipliers)
{
    ga_radau *x = of(m);
    const ga_radau_state *now = &x->now;
    const size_t nq = (size_t)x->dae.nq, nv = (size_t)x->dae.nv, mp = (size_t)x->dae.mp;
    if (now->steps == 0 || t == now->t) {
        if (q) memcpy(q, now->q, nq * sizeof *q);
        if (v) memcpy(v, now->v, nv * sizeof *v);
        if (vd) memcpy(vd, now->vd, nv * sizeof *vd);
        if (multipliers) memcpy(multipliers, now->l, mp * sizeof *multipliers);
        return;
    }
    const double s = (t - now->t_old) / now->h;
    ga_radau_interpolate(x, s, q, v, vd);
    if (!multipliers || !mp) return;
    for (size_t i = 0; i < mp; ++i)
        multipliers[i] = now->l_old[i] + s * (now->l[i] - now->l_old[i]);
    memcpy(x->trial_l, multipliers, mp * sizeof *multipliers);
    ga_radau_interpolate(x, s, x->trial_q, x->trial_v, NULL);
    if (accelerate(m, t, x->trial_q, x->trial_v, x->trial_vd, x->trial_l) == GA_OK)
        memcpy(multipliers, x->trial_l, mp * sizeof *multipliers);
}

static bool project(ga_onestep *m, double t, double *q, double *v, ga_levels levels)
{
    return ga_consistent_correct(&of(m)->consistent, t, q, v, levels);
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
                "the iteration matrix is singular in the step from t = %.9g with h = %.3g: "
                "`radau` cannot pass singular positions, generalized-alpha can",
                x->now.t, h);
    else
        return false;
    if (report) report->iteration = x->iterations;
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
    .project = project,
    .accelerate = accelerate,
    .explain = explain,
};
