/* Dormand and Prince's method 8(5,3), [HNW93] section II.10, for smooth motions that are not
 * stiff. One chart per step: with q = q_n o exp(xi),
 *
 *     xi' = T^-1(xi) v,     [ M  G^T ] [ v'          ]   [ f ]
 *                           [ G   0  ] [ lambda, psi ] = [ c ]
 *
 * and the saddle matrix is factored in every stage: older factors would cost the order. Forces
 * that depend on the multipliers make the system nonlinear; Newton's method solves it to
 * round-off in every stage.
 *
 * A step of 12 stages leads to (xi, v), which is judged, and then projected on Phi = 0 and on
 * B v + Phi_t = 0, k = 0 by the smallest change in the mass metric, with the factors of the
 * last stage, which is at t_n + h, too. The projection is as small as the local error, keeps
 * the order and is no part of the estimate. v' and the multipliers at the projected point are
 * the first stage of the next step, whose chart begins there, where T = 1.
 *
 * Error. With E5 and E3, the differences to the embedded methods by the tolerances,
 *
 *     est = E5^2/sqrt(E5^2 + 0.01 E3^2) <= max(min(0.1, 10 h/T), round-off)
 *
 * T the duration. Error per step alone lets errors grow with the number of steps, error per
 * unit step alone asks for more than is needed in short runs.
 *
 * Dense output of order 7 in the same chart ends at the projected point, so that it is
 * continuous; its three stages are computed when it is asked for. Accelerations are the
 * derivative of v; multipliers the derivative of the dense output of their integral. What is
 * computed for output has a factorisation of its own: steps do not depend on it.
 */
#include "integrate/explicit.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/dop853.h"
#include "lie/group.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* The stages of a step. */
typedef struct ga_stages {
    double t, h;    /* the step leads from t to t + h */
    double *q0;     /* where its chart begins */
    double *xi, *v; /* the end, projected */
    double *z;      /* h sum b_i lambda_i */
    double *v0;
    double *memory;
    double *k;  /* of each stage: xi', v', multipliers */
    bool known; /* to the end */
    bool dense; /* and those of the dense output */
} ga_stages;

typedef struct ga_explicit {
    ga_onestep base;
    ga_stepper s;
    ga_consistent output; /* in place of s.start where steps are not to be touched */
    int width;            /* of a stage: 2 nv + mp */
    ga_stages last, next; /* of the accepted step, and of the attempt */
    double *F;            /* of the dense output */
    double *q, *xi, *v, *vd, *multipliers; /* at a stage */
    double *xi_end, *v_end;                /* of the last stage */
    double *dq, *dv;                       /* by which it is projected */
    double pivot;                          /* smallest of the saddle matrix at the start */
    bool redundant;                        /* constraints, at the start */
    bool near;                             /* a singular position */
    bool *turns;                           /* of each node: T has singular points */
    double h, t1;
    double excess;                 /* of the last accepted step */
    double failed_h, failed_local; /* the attempt before, if it was rejected; else 0 */
    bool futile;                   /* the last rejection shows no convergence */
    double stable;                 /* longest stable step; 0: not known */
    bool stiff;                    /* too stiff to go on */
} ga_explicit;

static ga_explicit *of(ga_onestep *m) { return (ga_explicit *)m; }
ga_stepper *ga_explicit_stepper(ga_onestep *m) { return &of(m)->s; }

/* --- creation ----------------------------------------------------------------------------- */

static void show(ga_explicit *x)
{
    const ga_state *now = &x->s.now;
    ga_solution *view = &x->base.now;
    view->t = now->t;
    view->t_old = now->t_old;
    view->h = now->h;
    view->steps = now->steps;
}

static void destroy_stages(ga_stages *stages)
{
    ga_free(stages->memory);
    memset(stages, 0, sizeof *stages);
}

static void destroy(ga_onestep *m)
{
    if (!m) return;
    ga_explicit *x = of(m);
    destroy_stages(&x->last);
    destroy_stages(&x->next);
    void *memory[] = {x->F,      x->q,     x->xi, x->v,  x->vd,   x->multipliers,
                      x->xi_end, x->v_end, x->dq, x->dv, x->turns};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_cubic_destroy(m);
    ga_consistent_destroy(&x->output);
    ga_stepper_destroy(&x->s);
    ga_free(x);
}

static void connect(ga_explicit *x)
{
    ga_stepper *s = &x->s;
    const ga_state *now = &s->now;
    x->base = (ga_onestep){
        .type = &ga_explicit_type,
        .dae = &s->dae,
        .consistent = &s->start,
        .kind = s->dae.kind,
        .velocity_level = true,
        .max_halvings = s->def.max_halvings,
        .jump_share = 0.1,
        .stats = &s->stats,
        .now = {.q = now->q,
                .v = now->v,
                .vd = now->vd,
                .multipliers = now->lambda,
                .q_old = now->q_old,
                .v_old = now->v_old,
                .vd_old = now->vd_old[0],
                .multipliers_old = now->lambda_old[0],
                .v_start = now->v_exact},
    };
}

static bool create_stages(const ga_explicit *x, ga_stages *stages)
{
    const ga_stepper *s = &x->s;
    const size_t head = (size_t)s->nq + 3 * (size_t)s->nv + (size_t)s->mp;
    stages->memory = GA_NEW(double, head + GA_DOP853_DENSE_STAGES * (size_t)x->width);
    if (!stages->memory) return false;
    stages->q0 = stages->memory;
    stages->xi = stages->q0 + s->nq;
    stages->v = stages->xi + s->nv;
    stages->v0 = stages->v + s->nv;
    stages->z = stages->v0 + s->nv;
    stages->k = stages->z + s->mp;
    return true;
}

/* Angles of the plane add up; other rotations have charts that end after a full turn. */
static bool has_short_chart(ga_node node)
{
    return node.group == GA_GROUP_SE2 || node.group == GA_GROUP_SO3 ||
           node.group == GA_GROUP_R3SO3 || node.group == GA_GROUP_SE3;
}

static ga_status create_memory(ga_explicit *x)
{
    ga_stepper *s = &x->s;
    const int nv = s->nv;
    x->width = 2 * nv + s->mp;
    const bool memory = create_stages(x, &x->last) && create_stages(x, &x->next) &&
                        (x->F = GA_NEW(double, GA_DOP853_DENSE *(size_t)x->width)) &&
                        (x->q = GA_NEW(double, s->nq)) && (x->xi = GA_NEW(double, nv)) &&
                        (x->v = GA_NEW(double, nv)) && (x->vd = GA_NEW(double, nv)) &&
                        (x->multipliers = GA_NEW(double, s->mp)) &&
                        (x->xi_end = GA_NEW(double, nv)) && (x->v_end = GA_NEW(double, nv)) &&
                        (x->dq = GA_NEW(double, nv)) && (x->dv = GA_NEW(double, nv)) &&
                        (x->turns = GA_NEW(bool, s->dae.sys.node_count));
    if (!memory) return GA_ERR_MEMORY;
    for (int k = 0; k < s->dae.sys.node_count; ++k)
        x->turns[k] = has_short_chart(s->dae.sys.nodes[k]);
    GA_TRY(ga_cubic_create(&x->base));
    return ga_consistent_create(&s->dae, s->def.solver, &x->output);
}

static ga_status create(const ga_system *system, const ga_integrator_def *def, ga_onestep **m,
                        ga_report *report)
{
    *m = NULL;
    ga_explicit *x = GA_NEW(ga_explicit, 1);
    if (!x) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    ga_status status = ga_stepper_create(system, def, &x->s, report);
    if (status == GA_OK) {
        connect(x);
        status = create_memory(x);
        if (status != GA_OK) ga_fail(report, status, "%s", ga_status_text(status));
    }
    if (status != GA_OK)
        destroy(&x->base);
    else
        *m = &x->base;
    return status;
}

static ga_status use(ga_onestep *m, ga_pool *pool)
{
    ga_explicit *x = of(m);
    GA_TRY(ga_stepper_use(&x->s, pool));
    return ga_consistent_use(&x->output, pool);
}

/* --- the equations ------------------------------------------------------------------------ */

/* For output, with the redundancy that is known to the steps. */
static ga_consistent *output_of(ga_explicit *x)
{
    const ga_redundancy *from = &x->s.start.redundancy;
    ga_redundancy *to = &x->output.redundancy;
    to->active = from->active;
    to->eps = from->eps;
    memcpy(to->D, from->D, (size_t)x->s.mp * sizeof *to->D);
    return &x->output;
}

/* Near a singular position the saddle matrix is regularised as with redundant rows: with
 * smaller values steps collapse or leave it on a wrong branch, seen with four-bars. The
 * smallest pivot tells; long chains have small ones everywhere, so it is compared with that of
 * the start. */
static const double EPS = 1e-10, SMALL_PIVOT = 1e-2, SMALL_PART = 0.02;

static bool is_singular(const ga_explicit *x)
{
    const double rcond = ga_factor_rcond(x->s.start.saddle.factor);
    return !(rcond > ga_smaller(SMALL_PIVOT, SMALL_PART * x->pivot));
}

static void regularise(ga_explicit *x, bool near)
{
    ga_redundancy *g = &x->s.start.redundancy;
    if (x->redundant || near == x->near) return;
    x->near = g->active = near;
    g->eps = near ? EPS : 0;
}

/* v' and multipliers, the latter from a guess, for a stage. */
static ga_status solve(ga_explicit *x, double t, const double *q, const double *v, double *vd,
                       double *multipliers)
{
    ++x->s.stats.evaluations;
    ga_status status = ga_consistent_acceleration(&x->s.start, t, q, v, vd, multipliers);
    const bool near = status == GA_ERR_SINGULAR || (status == GA_OK && is_singular(x));
    if (near && !x->near && !x->redundant && x->s.mp) {
        regularise(x, true);
        status = ga_consistent_acceleration(&x->s.start, t, q, v, vd, multipliers);
    } else if (!near && x->near) {
        regularise(x, false);
    }
    return status;
}

/* The same for output. */
static ga_status accelerate(ga_onestep *m, double t, const double *q, const double *v,
                            double *vd, double *multipliers)
{
    return ga_consistent_acceleration(output_of(of(m)), t, q, v, vd, multipliers);
}

/* xi' = T^-1(xi) v. */
static void chart_rate(const ga_explicit *x, const double *xi, const double *v, double *rate)
{
    const ga_dae *dae = &x->s.dae;
    double T[GA_NODE_MAX_NV * GA_NODE_MAX_NV];
    memcpy(rate, v, (size_t)dae->nv * sizeof *rate);
    if (dae->commutative) return;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        const ga_node kind = dae->sys.nodes[node];
        const int n = ga_node_nv(kind);
        if (x->turns[node]) {
            ga_lie_tangent_inverse(kind, GA_MAP_EXP, xi + at, T);
            for (int i = 0; i < n; ++i) {
                double sum = 0;
                for (int j = 0; j < n; ++j) sum += T[i + n * j] * v[at + j];
                rate[at + i] = sum;
            }
        }
        at += n;
    }
}

/* Largest rotation in x, of nodes whose charts end after a full turn. */
static double turning(const ga_explicit *x, const double *velocity)
{
    const ga_dae *dae = &x->s.dae;
    double largest = 0;
    if (dae->commutative) return 0;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        const int n = ga_node_nv(dae->sys.nodes[node]);
        double sum = 0;
        for (int i = 0; i < n; ++i)
            if (x->base.kind[at + i]) sum += velocity[at + i] * velocity[at + i];
        if (x->turns[node]) largest = ga_larger(largest, sum);
        at += n;
    }
    return sqrt(largest);
}

/* --- stages ------------------------------------------------------------------------------- */

static double *stage(const ga_explicit *x, const ga_stages *stages, int i)
{
    return stages->k + (size_t)i * (size_t)x->width;
}

/* sum += weights[j] k_j, of n numbers from `at` on in each stage. */
static void add_stages(const ga_explicit *x, const ga_stages *stages, int count,
                       const double *weights, double factor, int at, int n, double *sum)
{
    for (int j = 0; j < count; ++j) {
        const double w = factor * weights[j], *k = stage(x, stages, j) + at;
        if (weights[j] == 0) continue;
        for (int i = 0; i < n; ++i) sum[i] += w * k[i];
    }
}

/* (xi, v) = (0, v_0) + h sum weights_j k_j. */
static void combine(const ga_explicit *x, const ga_stages *stages, int count,
                    const double *weights, double *xi, double *v)
{
    const int nv = x->s.nv;
    memset(xi, 0, (size_t)nv * sizeof *xi);
    memcpy(v, stages->v0, (size_t)nv * sizeof *v);
    add_stages(x, stages, count, weights, stages->h, 0, nv, xi);
    add_stages(x, stages, count, weights, stages->h, nv, nv, v);
}

/* A chart may be used up to this angle; T^-1 is singular at 2 pi. */
static const double MOST_TURNED = 5;

/* Stage i at x->xi and x->v. */
static ga_status evaluate(ga_explicit *x, ga_stages *stages, int i, double t,
                          ga_status (*equations)(ga_explicit *, double, const double *,
                                                 const double *, double *, double *))
{
    const int nv = x->s.nv;
    double *k = stage(x, stages, i);
    if (!(turning(x, x->xi) <= MOST_TURNED)) return GA_ERR_STEP_SIZE;
    ga_dae_update(&x->s.dae, GA_MAP_EXP, stages->q0, x->xi, x->q);
    chart_rate(x, x->xi, x->v, k);
    memcpy(k + 2 * nv, k - x->width + 2 * nv, (size_t)x->s.mp * sizeof *k); /* a guess */
    return equations(x, t, x->q, x->v, k + nv, k + 2 * nv);
}

static double stage_time(const ga_stages *stages, int i, double t1)
{
    const double c = ga_dop853_table.c[i];
    return c == 1 ? t1 : stages->t + c * stages->h;
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

/* At a start, whose factors are there. */
static void look_at_constraints(ga_explicit *x)
{
    x->pivot = ga_factor_rcond(x->s.start.saddle.factor);
    x->redundant = x->s.start.redundancy.active;
    x->near = false;
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_explicit *x = of(m);
    ga_stepper *s = &x->s;
    memmove(s->trial.q, q0, (size_t)s->nq * sizeof *q0);
    memmove(s->trial.v, v0, (size_t)s->nv * sizeof *v0);
    GA_TRY(ga_dae_normalise(&s->dae, s->trial.q, report));
    ga_factor_forget(s->start.saddle.factor);
    ga_factor_forget(x->output.saddle.factor);
    m->tolerance = NULL;
    forget(x);
    x->stable = 0;
    x->stiff = false;
    GA_TRY(ga_start_consistent(s, t0, s->trial.q, s->trial.v, guess, report));
    look_at_constraints(x);
    show(x);
    s->stats = (ga_statistics){0};
    return GA_OK;
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    ga_explicit *x = of(m);
    ga_status status = ga_start_again(&x->s, t, q, v, report);
    x->s.now.t_begin = t_begin;
    look_at_constraints(x);
    forget(x);
    show(x);
    return status;
}

/* Largest step by what turns: the chart would be left in stages of longer ones. */
static double longest(const ga_explicit *x)
{
    const double speed = turning(x, x->base.now.v);
    return speed > 0 ? 3 / speed : INFINITY;
}

/* Sizes by the tolerances: how many of them a value of 1 has, at most. */
static double largest_size(const ga_onestep *m)
{
    const ga_tolerance *tol = m->tolerance;
    const ga_control *def = &tol->def;
    const double q[2] = {def->absolute_translation, def->absolute_rotation};
    const double v[2] = {def->absolute_velocity, def->absolute_angular_velocity};
    double largest = 0;
    for (int k = 0; k < 2; ++k) {
        const double of_q = q[k] + def->relative * tol->size_q[k];
        const double of_v = v[k] + def->relative * tol->size_v[k];
        if (of_q > 0) largest = ga_larger(largest, tol->size_q[k] / of_q);
        if (of_v > 0) largest = ga_larger(largest, tol->size_v[k] / of_v);
    }
    return largest;
}

/* [HNW93] section II.4: with derivatives of (q, v) by the tolerances, d1 of first and d2 of
 * second order, an Euler step of a hundredth of the size, then h^8 max(d1, d2) = 0.01. */
static ga_status control(ga_onestep *m, double *h)
{
    ga_explicit *x = of(m);
    const ga_stepper *s = &x->s;
    const ga_state *now = &s->now;
    const ga_tolerance *tol = m->tolerance;
    if (*h > 0) return GA_OK;
    const double d1 = ga_tolerance_weigh(m, now->v, now->vd);
    double h0 = 1e-2 * largest_size(m) / ga_larger(d1, DBL_MIN);
    h0 = ga_smaller(h0, ga_smaller(1e-2 * tol->duration, 0.1 * longest(x)));
    for (int i = 0; i < s->nv; ++i) {
        x->xi[i] = h0 * now->v[i];
        x->v[i] = now->v[i] + h0 * now->vd[i];
    }
    ga_dae_update(&s->dae, GA_MAP_EXP, now->q, x->xi, x->q);
    memcpy(x->multipliers, now->lambda, (size_t)s->mp * sizeof *x->multipliers);
    const ga_status status = solve(x, now->t + h0, x->q, x->v, x->vd, x->multipliers);
    if (status != GA_OK && !ga_step_may_retry(status)) return status;
    double h1 = h0; /* where the equations cannot be evaluated so far ahead */
    if (status == GA_OK) {
        for (int i = 0; i < s->nv; ++i) {
            x->xi[i] = now->vd[i];
            x->vd[i] = (x->vd[i] - now->vd[i]) / h0;
        }
        const double d2 = ga_tolerance_weigh(m, x->xi, x->vd);
        const double d = ga_larger(ga_larger(d1, d2), DBL_MIN);
        h1 = isfinite(d) ? ga_smaller(100 * h0, pow(1e-2 / d, 1.0 / 8)) : h0;
    }
    h1 = ga_smaller(ga_smaller(h1, 0.1 * tol->duration), longest(x));
    *h = ga_tolerance_clamp(tol, ga_larger(h1, tol->def.min_step));
    return GA_OK;
}

static ga_status start(ga_onestep *m, double h, bool forward)
{
    (void)forward;
    ga_explicit *x = of(m);
    x->s.now.h = h;
    show(x);
    return GA_OK;
}

/* The first factorisation may take memory: that of steps was made at the start. */
static ga_status warm(ga_onestep *m)
{
    const ga_solution *now = &m->now;
    return ga_consistent_factor(output_of(of(m)), now->t, now->q, now->v, GA_SADDLE_ALL) ==
                   GA_ERR_MEMORY
               ? GA_ERR_MEMORY
               : GA_OK;
}

/* --- steps -------------------------------------------------------------------------------- */

/* The first stage, and the first eleven more. */
static ga_status attempt(ga_onestep *m, double h, double t1)
{
    ga_explicit *x = of(m);
    ga_stages *next = &x->next;
    const ga_stepper *s = &x->s;
    const ga_state *now = &s->now;
    const size_t nv = (size_t)s->nv;
    double *k = stage(x, next, 0);
    x->h = h;
    x->t1 = t1;
    next->t = now->t;
    next->h = h;
    next->known = next->dense = false;
    memcpy(next->q0, now->q, (size_t)s->nq * sizeof *k);
    memcpy(next->v0, now->v, nv * sizeof *k);
    memcpy(k, now->v, nv * sizeof *k);
    memcpy(k + nv, now->vd, nv * sizeof *k);
    memcpy(k + 2 * nv, now->lambda, (size_t)s->mp * sizeof *k);
    for (int i = 1; i < GA_DOP853_STAGES; ++i) {
        combine(x, next, i, ga_dop853_table.a[i], x->xi, x->v);
        GA_TRY(evaluate(x, next, i, stage_time(next, i, t1), solve));
    }
    memcpy(x->xi_end, x->xi, nv * sizeof *k);
    memcpy(x->v_end, x->v, nv * sizeof *k);
    combine(x, next, GA_DOP853_STAGES, ga_dop853_table.b, next->xi, next->v);
    return turning(x, next->xi) <= MOST_TURNED ? GA_OK : GA_ERR_STEP_SIZE;
}

/* Of sizes: what round-off makes of the estimate. With less the steps of long runs with tight
 * tolerances collapse. */
static const double ROUND_OFF = 2e-14;

/* What a step of size h may contribute, by the tolerance. */
static double allowed(const ga_onestep *m, double h)
{
    const double part = ga_smaller(0.1, 10 * h / m->tolerance->duration);
    return ga_larger(part, ROUND_OFF * largest_size(m));
}

/* Of the estimate, which is of an order lower than the step: so much counts at the end. So the
 * sum over steps of what is allowed is the tolerance. */
static const double SHARE = 0.1;

static double combined_error(double e5, double e3)
{
    return e5 > 0 ? e5 * (e5 / sqrt(e5 * e5 + 0.01 * e3 * e3)) : e5; /* NaN stays */
}

static void error(ga_onestep *m, ga_error *e)
{
    ga_explicit *x = of(m);
    const ga_stages *next = &x->next;
    const int nv = x->s.nv;
    const size_t size = (size_t)nv * sizeof *e->q;
    memset(e->q, 0, size);
    memset(e->v, 0, size);
    add_stages(x, next, GA_DOP853_STAGES, ga_dop853_table.e3, next->h, 0, nv, e->q);
    add_stages(x, next, GA_DOP853_STAGES, ga_dop853_table.e3, next->h, nv, nv, e->v);
    const double e3 = ga_tolerance_weigh(m, e->q, e->v);
    memset(e->q, 0, size);
    memset(e->v, 0, size);
    add_stages(x, next, GA_DOP853_STAGES, ga_dop853_table.e5, next->h, 0, nv, e->q);
    add_stages(x, next, GA_DOP853_STAGES, ga_dop853_table.e5, next->h, nv, nv, e->v);
    const double e5 = ga_tolerance_weigh(m, e->q, e->v), est = combined_error(e5, e3);
    for (int i = 0; e5 > 0 && i < nv; ++i) {
        e->q[i] *= est / e5;
        e->v[i] *= est / e5;
    }
    e->local = est;
    e->share = SHARE * est;
    e->excess = est / allowed(m, x->h);
    e->power = 1.0 / 8;
    e->amplification = 0;
    e->positions_only = false;
    e->change = -1;
    x->excess = e->excess;
    /* a jump: the error of a second rejected attempt has hardly become smaller */
    const double ratio = x->h / x->failed_h;
    x->futile = x->failed_h > 0 && est > x->failed_local * ratio * ratio;
    if (!(e->excess <= 1) && x->futile && !x->near) {
        const ga_stepper *s = &x->s;
        e->change =
            ga_tolerance_change(m, s->now.vd, stage(x, next, GA_DOP853_STAGES - 1) + nv);
    }
}

static void reject(ga_onestep *m, const ga_error *e)
{
    ga_explicit *x = of(m);
    x->failed_h = e ? x->h : 0;
    x->failed_local = e ? e->local : 0;
}

/* Corrections below this, relative to the size of the values, are round-off. */
static const double NOTHING = 8 * DBL_EPSILON;
enum { MOST_CORRECTIONS = 6 };

/* Residuals below this, by the size of the values, are round-off, too. */
static const double SMALL_RESIDUAL = 32 * DBL_EPSILON;

/* Is a correction the last? It is, and a good one, if the next would be round-off by the rate
 * of the last two. Where there is no more progress it is good if it is round-off of constants
 * in the constraints, or if the residual is: next to a singular position round-off moves the
 * state to and fro. */
static bool is_last(double change, double before, double size, double residual, bool *good)
{
    const double rate = before < INFINITY ? change / before : 1;
    *good = change * ga_smaller(rate, 1) <= NOTHING * size;
    if (*good) return true;
    const double most = ga_larger(size, 1);
    *good = change <= 1e-11 * most || residual <= SMALL_RESIDUAL * most;
    return !(rate <= 0.3) && before < INFINITY;
}

/* Next to a singular position corrections are noise, and two have to do. */
enum { FEW_CORRECTIONS = 2 };

/* A y = (0, rows), with the matrix as it was factored: corrections are repeated anyway, and
 * near singular positions the regularisation keeps them small. */
static const double *lift(ga_explicit *x, const double *rows)
{
    ga_saddle *k = &x->s.start.saddle;
    memset(k->rhs, 0, (size_t)x->s.nv * sizeof *k->rhs);
    memcpy(k->rhs + x->s.nv, rows, (size_t)x->s.mp * sizeof *k->rhs);
    ga_saddle_solve_once(k, k->rhs, k->x);
    return k->x;
}

/* q onto Phi = 0, with the factors of s->start.saddle. */
static bool project_position(ga_explicit *x, double t, double *q)
{
    ga_stepper *s = &x->s;
    const int most = x->near ? FEW_CORRECTIONS : MOST_CORRECTIONS;
    double before = INFINITY, *rows = s->work.c;
    bool good = false;
    memset(rows, 0, (size_t)s->mp * sizeof *rows);
    for (int k = 0; k < most; ++k) {
        if (ga_dae_constraint(&s->dae, t, q, s->at.Phi) != GA_OK) return false;
        for (int i = 0; i < s->m; ++i) rows[i] = -s->at.Phi[i];
        const double *step = lift(x, rows), change = ga_norm_max(s->nv, step);
        if (!isfinite(change)) return false;
        const double size = ga_larger(ga_norm_max(s->nq, q), DBL_MIN);
        ga_dae_update(&s->dae, GA_MAP_EXP, q, step, q);
        for (int i = 0; i < s->nv; ++i) x->dq[i] += step[i];
        if (is_last(change, before, size, ga_norm_max(s->m, s->at.Phi), &good)) break;
        before = change;
    }
    return good || x->near;
}

/* v onto w = 0; G becomes that at q. */
static bool project_velocity(ga_explicit *x, double t, const double *q, double *v)
{
    ga_stepper *s = &x->s;
    const int most = x->near ? FEW_CORRECTIONS : MOST_CORRECTIONS;
    double before = INFINITY, *w = s->work.c, *G = s->start.saddle.G;
    bool good = false;
    for (int k = 0; k < most; ++k) {
        if ((k == 0 || s->p) && ga_dae_gradient(&s->dae, t, q, v, G) != GA_OK) return false;
        if (ga_dae_velocity(&s->dae, t, q, v, G, w) != GA_OK) return false;
        for (int i = 0; i < s->mp; ++i) w[i] = -w[i];
        const double *step = lift(x, w), change = ga_norm_max(s->nv, step);
        if (!isfinite(change)) return false;
        const double size = ga_larger(ga_norm_max(s->nv, v), DBL_MIN);
        for (int i = 0; i < s->nv; ++i) v[i] += step[i];
        for (int i = 0; i < s->nv; ++i) x->dv[i] += step[i];
        if (is_last(change, before, size, ga_norm_max(s->mp, w), &good)) break;
        before = change;
    }
    return good || x->near;
}

/* The saddle matrix has been factored near (t, q). */
static bool project_here(ga_explicit *x, double t, double *q, double *v)
{
    ga_stepper *s = &x->s;
    memset(x->dq, 0, (size_t)s->nv * sizeof *x->dq);
    memset(x->dv, 0, (size_t)s->nv * sizeof *x->dv);
    if (s->m && !project_position(x, t, q)) return false;
    return !s->mp || project_velocity(x, t, q, v);
}

/* For output and events. */
static bool project(ga_onestep *m, double t, double *q, double *v, ga_levels levels)
{
    return ga_consistent_correct(output_of(of(m)), t, q, v, levels);
}

/* The chart of the step at the projected q: xi + T^-1(xi) dq. */
static void find_end(ga_explicit *x)
{
    ga_stages *next = &x->next;
    chart_rate(x, next->xi, x->dq, x->xi);
    for (int i = 0; i < x->s.nv; ++i) next->xi[i] += x->xi[i];
}

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* What is becomes what was. */
static void advance(ga_explicit *x)
{
    ga_stepper *s = &x->s;
    ga_state *now = &s->now;
    const ga_state *trial = &s->trial;
    copy(now->q_old, now->q, s->nq);
    copy(now->v_old, now->v, s->nv);
    copy(now->vd_old[0], now->vd, s->nv);
    copy(now->lambda_old[0], now->lambda, s->mp);
    copy(now->q, trial->q, s->nq);
    copy(now->v, trial->v, s->nv);
    copy(now->vd, trial->vd, s->nv);
    copy(now->a, trial->vd, s->nv);
    copy(now->lambda, trial->lambda, s->mp);
    now->t_old = now->t;
    now->t = x->t1;
    now->h = x->h;
    ++now->steps;
    ++s->stats.steps;
    const ga_stages last = x->last;
    x->last = x->next;
    x->next = last;
    x->last.known = true;
}

/* A projection is about as large as the estimated error. One that is so much larger shows that
 * the estimate is not to be trusted. */
static const double LARGE_PROJECTION = 10;

static bool is_far_off(const ga_explicit *x)
{
    const ga_onestep *m = &x->base;
    if (!m->tolerance || x->near || !x->s.mp) return false;
    const double size = ga_tolerance_weigh(m, x->dq, x->dv);
    const double pivot = ga_factor_rcond(x->s.start.saddle.factor);
    const double noise = ROUND_OFF * largest_size(m) / (pivot * pivot);
    return !(size <= LARGE_PROJECTION * ga_larger(allowed(m, x->h), noise));
}

static ga_status finish(ga_explicit *x)
{
    ga_stepper *s = &x->s;
    ga_state *trial = &s->trial;
    ga_stages *next = &x->next;
    const int nv = s->nv;
    double *k = stage(x, next, GA_DOP853_END);
    ga_dae_update(&s->dae, GA_MAP_EXP, next->q0, next->xi, trial->q);
    copy(trial->v, next->v, nv);
    if (!project_here(x, x->t1, trial->q, trial->v)) return GA_ERR_NO_CONVERGE;
    if (is_far_off(x)) return GA_ERR_NO_CONVERGE;
    copy(trial->lambda, k - x->width + 2 * nv, s->mp); /* a guess */
    GA_TRY(solve(x, x->t1, trial->q, trial->v, trial->vd, trial->lambda));
    find_end(x);
    copy(next->v, trial->v, nv);
    memset(next->z, 0, (size_t)s->mp * sizeof *next->z);
    add_stages(x, next, GA_DOP853_STAGES, ga_dop853_table.b, next->h, 2 * nv, s->mp, next->z);
    chart_rate(x, next->xi, next->v, k);
    copy(k + nv, trial->vd, nv);
    copy(k + 2 * nv, trial->lambda, s->mp);
    const double size = ga_norm_max(s->nq, trial->q) + ga_norm_max(nv, trial->v) +
                        ga_norm_max(nv, trial->vd) + ga_norm_max(s->mp, trial->lambda);
    return isfinite(size) ? GA_OK : GA_ERR_NOT_FINITE;
}

/* |Phi| and |w| at the end of the step. */
static ga_status record(ga_explicit *x)
{
    ga_stepper *s = &x->s;
    const ga_state *trial = &s->trial;
    if (!s->mp) return GA_OK;
    GA_TRY(ga_dae_constraint(&s->dae, x->t1, trial->q, s->at.Phi));
    GA_TRY(ga_dae_velocity(&s->dae, x->t1, trial->q, trial->v, s->start.saddle.G, s->at.w));
    ga_step_record(s, ga_norm_max(s->m, s->at.Phi), ga_norm_max(s->mp, s->at.w));
    return GA_OK;
}

/* --- stiffness ---------------------------------------------------------------------------- */

/* Of the method: h omega of undamped, h rho of damped modes. */
static const double STABLE_UNDAMPED = 4.5, STABLE_DAMPED = 6.7;
/* Looked at every so many steps, if there would be so many of this size. */
enum { LOOKS = 1000 };
static const double TOO_MANY = 1e6;

/* By the sizes of positions or velocities. */
static double norm(const ga_explicit *x, const double *d, const double size[2])
{
    double sum = 0;
    for (int i = 0; i < x->s.nv; ++i) {
        const double part = d[i] / ga_larger(size[x->base.kind[i]], DBL_MIN);
        sum += part * part;
    }
    return sqrt(sum);
}

/* Largest |dv'|/|d| for changes d of q or of v, by power iteration with differences; 0 where it
 * cannot be found. It is a little low. x->dq is the direction afterwards. */
static double amplification_of(ga_explicit *x, bool of_q)
{
    enum { ITERATIONS = 5 };
    const ga_stepper *s = &x->s;
    const ga_state *now = &s->now;
    const ga_tolerance *tol = x->base.tolerance;
    const double *size = of_q ? tol->size_q : tol->size_v, small = 1e-7;
    double *d = x->dq, rate = 0;
    copy(d, now->vd, s->nv);
    for (int k = 0; k < ITERATIONS; ++k) {
        const double length = norm(x, d, size);
        if (!(length > 0 && length < INFINITY)) return 0;
        for (int i = 0; i < s->nv; ++i) d[i] *= small / length;
        copy(x->v, now->v, s->nv);
        for (int i = 0; !of_q && i < s->nv; ++i) x->v[i] += d[i];
        if (of_q)
            ga_dae_update(&s->dae, GA_MAP_EXP, now->q, d, x->q);
        else
            copy(x->q, now->q, s->nq);
        copy(x->multipliers, now->lambda, s->mp);
        if (accelerate(&x->base, now->t, x->q, x->v, x->vd, x->multipliers) != GA_OK) return 0;
        for (int i = 0; i < s->nv; ++i) d[i] = x->vd[i] - now->vd[i];
        rate = norm(x, d, size) / small;
    }
    return rate;
}

/* Is it stability that asks for more steps than anybody wants to take? */
static bool is_too_stiff(ga_explicit *x)
{
    const ga_onestep *m = &x->base;
    if (!m->tolerance || x->s.stats.steps % LOOKS != LOOKS - 1) return false;
    if (m->tolerance->duration < TOO_MANY * x->h) return false;
    const double omega = sqrt(amplification_of(x, true)), rho = amplification_of(x, false);
    x->stable = 1 / ga_larger(omega / STABLE_UNDAMPED, rho / STABLE_DAMPED);
    x->stiff = x->stable * TOO_MANY < m->tolerance->duration;
    return x->stiff;
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    (void)e;
    ga_explicit *x = of(m);
    *shorter = 0;
    if (is_too_stiff(x)) return GA_ERR_STEP_SIZE;
    ga_status status = finish(x);
    if (status == GA_OK) status = record(x);
    if (status != GA_OK) {
        *shorter = ga_step_may_retry(status) ? 0.5 : 0;
        return status;
    }
    advance(x);
    m->iterations = GA_DOP853_STAGES;
    x->failed_h = 0;
    show(x);
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

static void keep(ga_onestep *m)
{
    ga_stepper *s = ga_explicit_stepper(m);
    ga_state_copy(&s->saved, &s->now);
}

static void go_back(ga_onestep *m)
{
    ga_explicit *x = of(m);
    ga_state_copy(&x->s.now, &x->s.saved);
    forget(x);
    show(x);
}

/* --- dense output ------------------------------------------------------------------------- */

static ga_status solve_for_output(ga_explicit *x, double t, const double *q, const double *v,
                                  double *vd, double *multipliers)
{
    return accelerate(&x->base, t, q, v, vd, multipliers);
}

/* F_0 .. F_6 of the numbers of a stage, with the values y_1 - y_0. */
static void find_polynomial(ga_explicit *x)
{
    const ga_stages *last = &x->last;
    const int nv = x->s.nv, n = x->width;
    const double h = last->h, *k0 = stage(x, last, 0), *k1 = stage(x, last, GA_DOP853_END);
    double *F0 = x->F, *F1 = F0 + n, *F2 = F1 + n;
    for (int i = 0; i < nv; ++i) {
        F0[i] = last->xi[i];
        F0[nv + i] = last->v[i] - last->v0[i];
    }
    copy(F0 + 2 * nv, last->z, x->s.mp);
    for (int i = 0; i < n; ++i) {
        F1[i] = h * k0[i] - F0[i];
        F2[i] = 2 * F0[i] - h * (k0[i] + k1[i]);
    }
    for (int r = 0; r + 3 < GA_DOP853_DENSE; ++r) {
        double *F = x->F + (size_t)(r + 3) * (size_t)n;
        memset(F, 0, (size_t)n * sizeof *F);
        add_stages(x, last, GA_DOP853_DENSE_STAGES, ga_dop853_table.d[r], h, 0, n, F);
    }
}

/* The stages of the dense output, if they are not there; false: they cannot be computed. */
static bool prepare_dense(ga_explicit *x)
{
    ga_stages *last = &x->last;
    if (!last->known || x->s.now.steps == 0) return false;
    if (last->dense) return true;
    for (int i = GA_DOP853_END + 1; i < GA_DOP853_DENSE_STAGES; ++i) {
        combine(x, last, i, ga_dop853_table.a[i], x->xi, x->v);
        if (evaluate(x, last, i, stage_time(last, i, x->s.now.t), solve_for_output) != GA_OK)
            return false;
    }
    find_polynomial(x);
    return last->dense = true;
}

/* Weights of F_0 .. F_6 in y and in h y' at x. */
static void find_weights(double x, double value[GA_DOP853_DENSE], double slope[GA_DOP853_DENSE])
{
    double w = 1, dw = 0;
    for (int r = 0; r < GA_DOP853_DENSE; ++r) {
        const double factor = r % 2 ? 1 - x : x, change = r % 2 ? -1 : 1;
        dw = dw * factor + w * change;
        w *= factor;
        value[r] = w;
        slope[r] = dw;
    }
}

static void sum_weighted(const ga_explicit *x, const double *weights, double factor, int at,
                         int n, double *sum)
{
    for (int r = 0; r < GA_DOP853_DENSE; ++r) {
        const double w = factor * weights[r], *F = x->F + (size_t)r * (size_t)x->width + at;
        for (int i = 0; i < n; ++i) sum[i] += w * F[i];
    }
}

static void interpolate(ga_onestep *m, double t, double *q, double *v, double *vd,
                        double *multipliers)
{
    ga_explicit *x = of(m);
    const ga_stepper *s = &x->s;
    if (m->now.steps == 0 || t == m->now.t || !prepare_dense(x)) {
        ga_cubic_interpolate(m, t, q, v, vd, multipliers);
        return;
    }
    const ga_stages *last = &x->last;
    const int nv = s->nv;
    double value[GA_DOP853_DENSE], slope[GA_DOP853_DENSE];
    find_weights((t - last->t) / last->h, value, slope);
    if (q) {
        memset(x->xi, 0, (size_t)nv * sizeof *x->xi);
        sum_weighted(x, value, 1, 0, nv, x->xi);
        ga_dae_update(&s->dae, GA_MAP_EXP, last->q0, x->xi, q);
    }
    if (v) {
        copy(v, last->v0, nv);
        sum_weighted(x, value, 1, nv, nv, v);
    }
    if (vd) {
        memset(vd, 0, (size_t)nv * sizeof *vd);
        sum_weighted(x, slope, 1 / last->h, nv, nv, vd);
    }
    if (multipliers) {
        memset(multipliers, 0, (size_t)s->mp * sizeof *multipliers);
        sum_weighted(x, slope, 1 / last->h, 2 * nv, s->mp, multipliers);
    }
}

/* --- reports ------------------------------------------------------------------------------ */

static bool explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const ga_explicit *x = (const ga_explicit *)m;
    const double t = m->now.t;
    if (x->stiff)
        ga_fail(
            report, status,
            "the motion at t = %.9g is stiff: stability limits the steps of the explicit "
            "method to %.2g, which is %.2g of them in all; generalized-alpha is made for it",
            t, x->stable, m->tolerance ? m->tolerance->duration / x->stable : 0);
    else if (status == GA_ERR_NO_CONVERGE)
        ga_fail(report, status,
                "a step of %.3g from t = %.9g cannot be put on its constraints: they may be "
                "singular there",
                h, t);
    else if (status == GA_ERR_STEP_SIZE && !m->tolerance && turning(x, m->now.v) * h > 1)
        ga_fail(report, status,
                "a step of %.3g from t = %.9g turns a body too far: shorter ones are needed", h,
                t);
    else
        return false;
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
