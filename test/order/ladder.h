/* Observed orders: a problem is run with steps h, h/2, h/4, ... and the slopes of the errors
 * are judged.
 *
 * Errors are compared on the second half of the interval, or on another part of it, at times
 * that all runs hit: the largest component of q (on the group), v, v', lambda, psi, and of eta
 * itself, which should be O(h^2). The reference is the exact solution, or the oracle where none
 * is known. Where there is an exact solution a is held against v'(t_n + Delta_alpha h_{n-1}).
 *
 * A table has a row for each problem, formulation, map and start; a row is run with several
 * methods. Nothing is printed on success; a ladder outside its range is printed as a whole, and
 * with an argument on the command line all of them are.
 */
#ifndef GA_TEST_ORDER_LADDER_H
#define GA_TEST_ORDER_LADDER_H

#include "oracle.h"
#include "problems/problems.h"
#include <stdio.h>

/* Under the address sanitizer the rows marked slow are left out, and the measurement of
 * round-off. */
#if defined(__SANITIZE_ADDRESS__)
#define LADDER_SKIPS_SLOW true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LADDER_SKIPS_SLOW true
#endif
#endif
#ifndef LADDER_SKIPS_SLOW
#define LADDER_SKIPS_SLOW false
#endif

static bool ladder_prints_all;

/* --- methods --------------------------------------------------------------------------- */

enum {
    RHO_0 = 1,
    RHO_2 = 2,
    RHO_5 = 4,
    RHO_9 = 8,
    HHT_1 = 16,   /* alpha = -0.1 */
    HHT_3 = 32,   /* alpha = -0.3 */
    WBZ_5 = 64,   /* rho_inf = 0.5 */
    RHO_10 = 128, /* no damping at infinity from here on */
    TRAPEZOIDAL = 256,
    RHO_8 = 512, /* damped; in none of the sets */
    METHODS = 10,
    RHO_ALL = RHO_0 | RHO_2 | RHO_5 | RHO_9,
    HHT_ALL = HHT_1 | HHT_3,
    DAMPED = RHO_ALL | HHT_ALL | WBZ_5,
    UNDAMPED = RHO_10 | TRAPEZOIDAL,
    ALL = DAMPED | UNDAMPED
};

static inline ga_coefficients method_of(unsigned bit)
{
    ga_coefficients method = GA_COEFFICIENTS(0, 0, 0, 0);
    ga_report report;
    ga_status status = GA_ERR_ARGUMENT;
    switch (bit) {
    case RHO_0:
        status = ga_coefficients_generalized_alpha(0, &method, &report);
        break;
    case RHO_2:
        status = ga_coefficients_generalized_alpha(0.2, &method, &report);
        break;
    case RHO_5:
        status = ga_coefficients_generalized_alpha(0.5, &method, &report);
        break;
    case RHO_9:
        status = ga_coefficients_generalized_alpha(0.9, &method, &report);
        break;
    case RHO_8:
        status = ga_coefficients_generalized_alpha(0.8, &method, &report);
        break;
    case HHT_1:
        status = ga_coefficients_hht(-0.1, &method, &report);
        break;
    case HHT_3:
        status = ga_coefficients_hht(-0.3, &method, &report);
        break;
    case WBZ_5:
        status = ga_coefficients_wbz(0.5, &method, &report);
        break;
    case RHO_10:
        status = ga_coefficients_generalized_alpha(1, &method, &report);
        break;
    case TRAPEZOIDAL:
        status = ga_coefficients_newmark(0.25, 0.5, &method, &report);
        break;
    }
    if (status) fail_msg("method %u: %s", bit, ga_status_text(status));
    return method;
}

static inline const char *method_name(unsigned bit)
{
    static const char *const names[METHODS] = {
        "rho 0",   "rho .2", "rho .5", "rho .9",      "HHT -.1",
        "HHT -.3", "WBZ .5", "rho 1",  "trapezoidal", "rho .8",
    };
    for (int k = 0; k < METHODS; ++k)
        if (bit == 1u << k) return names[k];
    return "?";
}

/* --- a run ----------------------------------------------------------------------------- */

typedef enum ladder_kind {
    POSITION,
    VELOCITY,
    ACCELERATION,
    MULTIPLIER,
    ETA,
    PSI,
    SHIFTED, /* a */
    KINDS
} ladder_kind;

typedef struct ladder_errors {
    double of[KINDS];
    ga_statistics statistics;
} ladder_errors;

/* States at the times t0 + first + k (last - first)/(count - 1). */
typedef struct ladder_reference {
    int count, nq, nv, m, p;
    double *t, *q, *v, *vd, *lambda, *psi;
} ladder_reference;

static inline void ladder_reference_free(ladder_reference *r)
{
    free(r->t);
    free(r->q);
    free(r->v);
    free(r->vd);
    free(r->lambda);
    free(r->psi);
    *r = (ladder_reference){0};
}

static inline ladder_reference ladder_reference_at(const pb_problem *problem, double first,
                                                   double last, int count)
{
    const ga_system *system = &problem->system;
    ladder_reference r = {.count = count,
                          .nq = ga_system_nq(system),
                          .nv = ga_system_nv(system),
                          .m = system->constraint_count,
                          .p = system->nonholonomic_count};
    oracle o = {0};
    r.t = numbers(count);
    r.q = numbers(count * r.nq);
    r.v = numbers(count * r.nv);
    r.vd = numbers(count * r.nv);
    r.lambda = numbers(count * r.m);
    r.psi = numbers(count * r.p);
    if (!problem->exact) oracle_create(&o, system, problem->t0, problem->q0, problem->v0);
    for (int k = 0; k < count; ++k) {
        double *q = r.q + k * r.nq, *v = r.v + k * r.nv, *vd = r.vd + k * r.nv;
        double *lambda = r.lambda + k * r.m, *psi = r.psi + k * r.p;
        r.t[k] = problem->t0 + first + (count > 1 ? k * (last - first) / (count - 1) : 0);
        if (problem->exact) {
            problem->exact(problem, r.t[k], q, v, vd, r.m ? lambda : NULL);
            if (r.p) problem->exact_psi(problem, r.t[k], psi);
            continue;
        }
        oracle_advance(&o, r.t[k]);
        memcpy(q, ga_integrator_q(o.start), (size_t)r.nq * sizeof *q);
        memcpy(v, ga_integrator_v(o.start), (size_t)r.nv * sizeof *v);
        memcpy(vd, ga_integrator_vd(o.start), (size_t)r.nv * sizeof *vd);
        memcpy(lambda, ga_integrator_lambda(o.start), (size_t)r.m * sizeof *lambda);
        memcpy(psi, ga_integrator_psi(o.start), (size_t)r.p * sizeof *psi);
    }
    if (!problem->exact) oracle_destroy(&o);
    return r;
}

/* NaN counts as large, and stays. */
static inline void keep_larger(double *largest, double x)
{
    if (!isnan(*largest) && !(x <= *largest)) *largest = x;
}

static inline double largest_difference(int n, const double *x, const double *y)
{
    double largest = 0;
    for (int i = 0; i < n; ++i) {
        keep_larger(&largest, fabs(x[i] - (y ? y[i] : 0)));
    }
    return largest;
}

/* Largest errors so far; looks at the states whose times the reference has. */
typedef struct ladder_watch {
    const ga_system *system;
    const pb_problem *problem;
    const ladder_reference *reference;
    double h, shift; /* shift: Delta_alpha */
    double t_before; /* where the last step began */
    int next, seen;
    ladder_errors worst;
    double *work;
} ladder_watch;

static inline ga_eval ladder_look(void *user, const ga_integrator *run)
{
    ladder_watch *w = user;
    const ladder_reference *r = w->reference;
    const double t = ga_integrator_time(run), close = 1e-6 * w->h;
    const double shifted = t + w->shift * (t - w->t_before);
    w->t_before = t;
    while (w->next < r->count && r->t[w->next] < t - close) ++w->next;
    const int k = w->next;
    if (k == r->count || r->t[k] > t + close) return GA_EVAL_OK;
    ++w->next;
    ++w->seen;
    double *e = w->worst.of;
    ga_nodes_difference(w->system->node_count, w->system->nodes, r->q + k * r->nq,
                        ga_integrator_q(run), w->work);
    keep_larger(&e[POSITION], largest_difference(r->nv, w->work, NULL));
    keep_larger(&e[VELOCITY],
                largest_difference(r->nv, ga_integrator_v(run), r->v + k * r->nv));
    keep_larger(&e[ACCELERATION],
                largest_difference(r->nv, ga_integrator_vd(run), r->vd + k * r->nv));
    keep_larger(&e[MULTIPLIER],
                largest_difference(r->m, ga_integrator_lambda(run), r->lambda + k * r->m));
    keep_larger(&e[ETA], largest_difference(r->m, ga_integrator_eta(run), NULL));
    keep_larger(&e[PSI], largest_difference(r->p, ga_integrator_psi(run), r->psi + k * r->p));
    if (!w->problem->exact) return GA_EVAL_OK;
    w->problem->exact(w->problem, shifted, NULL, NULL, w->work, NULL);
    keep_larger(&e[SHIFTED], largest_difference(r->nv, ga_integrator_a(run), w->work));
    return GA_EVAL_OK;
}

/* What to run. */
typedef struct ladder_job {
    const ga_system *system; /* the problem's, or one made from it */
    const pb_problem *problem;
    ga_integrator_def def;
    double h, t_end;                   /* t_end is counted from t0 */
    bool alternating;                  /* every step in two, h/3 and 2 h/3 */
    double stop;                       /* 0, or where to end one run and to begin another */
    const ladder_reference *reference; /* at some or all of the steps */
    /* null, or called with system->user: before the start with run null, then after it */
    void (*meet)(void *user, const ga_integrator *run, double t0, double h);
} ladder_job;

static inline ga_status ladder_run_alternating(const ladder_job *job, ga_integrator *run,
                                               ladder_watch *watch, ga_report *report)
{
    const int count = 2 * (int)lround(job->t_end / job->h);
    for (int k = 0; k < count; ++k) {
        ga_status status = ga_integrator_step_by(run, (k % 2 ? 2 : 1) * job->h / 3, report);
        if (status) return status;
        ladder_look(watch, run);
    }
    return GA_OK;
}

static inline ladder_errors ladder_run(const ladder_job *job)
{
    const ladder_reference *reference = job->reference;
    const double t0 = job->problem->t0;
    ladder_watch watch = {.system = job->system,
                          .problem = job->problem,
                          .reference = reference,
                          .h = job->h,
                          .shift = ga_coefficients_describe(&job->def.coefficients).shift,
                          .t_before = t0};
    const double first_step = job->alternating ? job->h / 3 : job->h;
    ga_integrator *run = NULL;
    ga_report report;
    watch.work = numbers(reference->nv);
    if (ga_integrator_create(job->system, &job->def, &run, &report))
        fail_msg("%s", report.message);
    if (job->meet) job->meet(job->system->user, NULL, t0, job->h);
    ga_integrator_guess(run, job->problem->lambda_guess, job->problem->psi_guess);
    if (ga_integrator_start(run, t0, job->problem->q0, job->problem->v0, first_step, &report))
        fail_msg("%s: %s", job->problem->name, report.message);
    if (job->meet) job->meet(job->system->user, run, t0, job->h);
    ga_status status = GA_OK;
    if (job->stop > 0) status = ga_integrator_run(run, t0 + job->stop, NULL, NULL, &report);
    if (status == GA_OK)
        status = job->alternating
                     ? ladder_run_alternating(job, run, &watch, &report)
                     : ga_integrator_run(run, t0 + job->t_end, ladder_look, &watch, &report);
    if (status) fail_msg("%s: %s", job->problem->name, report.message);
    double span = reference->t[reference->count - 1] - reference->t[0];
    double states = fmin(reference->count, floor(span / job->h + 1.5)); /* what both have */
    assert_int_equal(watch.seen, (int)states);
    watch.worst.statistics = ga_integrator_statistics(run);
    ga_integrator_destroy(run);
    free(watch.work);
    return watch.worst;
}

/* --- the verdict ------------------------------------------------------------------------- */

enum { MAX_LEVELS = 8 };

typedef struct ladder {
    char title[160];
    int levels;
    double h[MAX_LEVELS];
    ladder_errors error[MAX_LEVELS];
} ladder;

typedef struct ladder_range {
    double low, high; /* 0, 0: not judged */
} ladder_range;

static const ladder_range second_order = {1.9, 2.1};
static const ladder_range first_order = {0.9, 1.1};

/* Between level k - 1 and k. */
static inline double ladder_slope(const ladder *l, int k, ladder_kind kind)
{
    return log(l->error[k - 1].of[kind] / l->error[k].of[kind]) / log(l->h[k - 1] / l->h[k]);
}

static const char *const ladder_kind_name[KINDS] = {"q",   "v",   "v'", "lambda",
                                                    "eta", "psi", "a"};

static inline void ladder_print(const ladder *l, unsigned judged)
{
    fprintf(stderr, "%s\n%11s", l->title, "h");
    for (int kind = 0; kind < KINDS; ++kind)
        if (judged & 1u << kind) fprintf(stderr, "%11s slope", ladder_kind_name[kind]);
    for (int k = 0; k < l->levels; ++k) {
        fprintf(stderr, "\n%11.4e", l->h[k]);
        for (int kind = 0; kind < KINDS; ++kind) {
            if (!(judged & 1u << kind)) continue;
            fprintf(stderr, "%11.3e ", l->error[k].of[kind]);
            if (k)
                fprintf(stderr, "%5.3f", ladder_slope(l, k, (ladder_kind)kind));
            else
                fprintf(stderr, "     ");
        }
    }
    fprintf(stderr, "\n");
}

/* Whether the last slope of every judged kind is in its range. Prints if not. */
static inline bool ladder_holds(const ladder *l, const ladder_range range[KINDS])
{
    unsigned judged = 0, wrong = 0;
    for (int kind = 0; kind < KINDS; ++kind) {
        if (range[kind].high == 0) continue;
        double slope = ladder_slope(l, l->levels - 1, (ladder_kind)kind);
        judged |= 1u << kind;
        if (!(slope >= range[kind].low && slope <= range[kind].high)) wrong |= 1u << kind;
    }
    if (wrong || ladder_prints_all) ladder_print(l, judged);
    if (wrong) fprintf(stderr, "  ^ outside the range\n");
    return !wrong;
}

/* The finest errors are that many times larger than what round-off does to them. */
#define LADDER_ABOVE_FLOOR 100

/* The finest run again, on another way through round-off: other scaling, full Newton. */
static inline bool ladder_above_floor(const ladder *l, ladder_job job,
                                      const ladder_range range[KINDS])
{
    const double *first = l->error[l->levels - 1].of;
    bool above = true;
    if (LADDER_SKIPS_SLOW) return true;
    job.h = l->h[l->levels - 1];
    job.def.scaling = GA_SCALING_AB07;
    job.def.newton = GA_NEWTON_FULL;
    ladder_errors again = ladder_run(&job);
    for (int kind = 0; kind < KINDS; ++kind) {
        if (range[kind].high == 0) continue;
        double floor = fabs(again.of[kind] - first[kind]);
        if (floor * LADDER_ABOVE_FLOOR <= first[kind]) continue;
        fprintf(stderr, "%s, %s: error %.3e, of which round-off %.1e\n", l->title,
                ladder_kind_name[kind], first[kind], floor);
        above = false;
    }
    return above;
}

/* --- tables ------------------------------------------------------------------------------ */

enum {
    ETA_VANISHES = 1, /* the map keeps both Phi = 0 and B v + Phi_t = 0 without help */
    SLOW = 2,
    ALTERNATING = 4,     /* steps h/3, 2 h/3 */
    REDUCED = 8,         /* SOI2: psi~ = psi */
    UNADJUSTED = 16,     /* nothing is done when the step changes */
    AT_ROUND_OFF = 32,   /* so are the residuals of all constraints that hold at every step */
    LAMBDA_IS_EXACT = 64 /* it does not depend on the motion */
};

typedef struct ladder_row {
    ga_status (*create)(pb_problem **out);
    ga_formulation formulation;
    unsigned methods;
    ga_map map;
    ga_start start;
    double t_end;      /* length of the interval */
    int steps, levels; /* steps of the coarsest run; how many runs */
    int flags;
} ladder_row;

/* Steps are a multiple of twice this. */
enum { ORACLE_SAMPLES = 16 };

/* eta that should be zero is this small: round-off of q divided by h. */
#define LADDER_ETA_ZERO 1e-11

static inline ga_integrator_def ladder_definition(const ladder_row *row, unsigned method)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.coefficients = method_of(method);
    def.formulation = row->formulation;
    def.map = row->map;
    def.start = row->start;
    def.reduced = row->flags & REDUCED;
    if (row->flags & UNADJUSTED) def.step_change = GA_CHANGE_NONE;
    def.max_halvings = 0;
    return def;
}

static inline void ladder_entitle(ladder *l, const pb_problem *problem, const ladder_row *row,
                                  unsigned method, const char *more)
{
    static const char *const formulation[] = {"index 3", "index 2", "SOI2", "HHT-I3"};
    static const char *const map[] = {"exp", "Cayley"};
    static const char *const start[] = {"auto", "plain", "shifted", "perturbed", "implicit"};
    snprintf(l->title, sizeof l->title, "%s, %s%s, %s, %s, start %s%s%s%s", problem->name,
             problem->system.constraint_count || problem->system.nonholonomic_count
                 ? formulation[row->formulation]
                 : "free",
             row->flags & REDUCED ? " reduced" : "", method_name(method), map[row->map],
             start[row->start], row->flags & ALTERNATING ? ", alternating" : "",
             row->flags & UNADJUSTED ? ", not adjusted" : "", more);
}

static inline ladder ladder_climb(ladder_job job, const ladder_row *row, unsigned method)
{
    ladder l = {.levels = row->levels};
    ladder_entitle(&l, job.problem, row, method, "");
    for (int k = 0; k < l.levels; ++k) {
        job.h = l.h[k] = row->t_end / (row->steps << k);
        l.error[k] = ladder_run(&job);
    }
    return l;
}

/* |B| |q| and |G| |v| on the way, G = [B; N], with row sums and largest components: what
 * rounding q and v does to the constraints, in units of eps. A rotation counts as 1. */
typedef struct ladder_sizes {
    double position, velocity, mixed; /* mixed: |N| |q| */
} ladder_sizes;

static inline double ladder_row_sum(ga_callback *gradient, const ga_system *system,
                                    const ga_pattern *pattern, int rows, int nv,
                                    const ga_point *at)
{
    const int count = pattern->count ? pattern->count : rows * nv;
    double *entry = numbers(count), *sum = numbers(rows);
    assert_int_equal(gradient(system->user, at, entry), GA_EVAL_OK);
    for (int k = 0; k < count; ++k)
        sum[pattern->count ? pattern->row[k] : k % rows] += fabs(entry[k]);
    double largest = largest_difference(rows, sum, NULL);
    free(entry);
    free(sum);
    return largest;
}

static inline void ladder_sizes_at(const ga_system *system, const ladder_reference *r,
                                   const ga_point *at, ladder_sizes *size)
{
    double B = 0, N = 0;
    if (r->m)
        B = ladder_row_sum(system->gradient, system, &system->gradient_pattern, r->m, r->nv,
                           at);
    if (r->p)
        N = ladder_row_sum(system->nonholonomic_gradient, system,
                           &system->nonholonomic_gradient_pattern, r->p, r->nv, at);
    double q = fmax(1, largest_difference(r->nq, at->q, NULL));
    double v = fmax(1, largest_difference(r->nv, at->v, NULL));
    size->position = fmax(size->position, B * q);
    size->velocity = fmax(size->velocity, fmax(B, N) * v);
    size->mixed = fmax(size->mixed, N * q);
}

static inline ladder_sizes ladder_sizes_of(const pb_problem *problem, const ladder_reference *r)
{
    ladder_sizes size = {0, 0, 0};
    const ga_point start = {.t = problem->t0, .q = problem->q0, .v = problem->v0};
    ladder_sizes_at(&problem->system, r, &start, &size);
    for (int k = 0; k < r->count; ++k) {
        const ga_point at = {.t = r->t[k], .q = r->q + k * r->nq, .v = r->v + k * r->nv};
        ladder_sizes_at(&problem->system, r, &at, &size);
    }
    return size;
}

/* Newton may leave 4 eps in q and v, and evaluating the constraints costs a few roundings. In
 * index 3 and HHT-I3 v hangs on Phi through q, and the iteration ends when increments of v are
 * down to 4 eps |q| c_v/c_q; old tangents leave a tenth of that, say, in k. */
#define LADDER_ROUND_OFF (16 * 2.220446049250313e-16)

static inline bool ladder_at_round_off(const ladder *l, const ladder_job *job,
                                       ladder_sizes size)
{
    const ga_coefficients *p = &job->def.coefficients;
    const bool mixes = job->def.formulation == GA_INDEX3 || job->def.formulation == GA_HHT_I3;
    bool holds = true;
    for (int k = 0; k < l->levels; ++k) {
        const ga_statistics *s = &l->error[k].statistics;
        const double h = job->alternating ? l->h[k] / 3 : l->h[k];
        double position = LADDER_ROUND_OFF * size.position;
        double velocity = LADDER_ROUND_OFF * size.velocity;
        if (mixes && size.position > 0)
            velocity += 0.1 * LADDER_ROUND_OFF / 4 * size.mixed * p->gamma / (p->beta * h);
        if (s->position_residual_max <= position && s->velocity_residual_max <= velocity)
            continue;
        fprintf(stderr,
                "%s, h = %.3e: |Phi| = %.2e, allowed %.2e; |(B v + Phi_t, k)| = %.2e, allowed "
                "%.2e\n",
                l->title, l->h[k], s->position_residual_max, position, s->velocity_residual_max,
                velocity);
        holds = false;
    }
    return holds;
}

static inline bool ladder_row_holds(const pb_problem *problem, const ladder_row *row,
                                    const ladder_reference *reference)
{
    ladder_range range[KINDS] = {second_order, second_order, second_order, {0, 0}, {0, 0}};
    bool constrained = problem->system.constraint_count > 0, holds = true;
    bool eta = constrained && row->formulation == GA_INDEX2;
    bool vanishes = row->flags & ETA_VANISHES;
    if (constrained && !(row->flags & LAMBDA_IS_EXACT)) range[MULTIPLIER] = second_order;
    if (problem->system.nonholonomic_count) range[PSI] = second_order;
    if (problem->exact && row->formulation == GA_SOI2) range[SHIFTED] = second_order;
    if (eta && !vanishes) range[ETA] = second_order;
    for (unsigned bit = 1; bit < 1u << METHODS; bit <<= 1) {
        if (!(row->methods & bit)) continue;
        const ladder_job job = {.system = &problem->system,
                                .problem = problem,
                                .def = ladder_definition(row, bit),
                                .t_end = row->t_end,
                                .alternating = row->flags & ALTERNATING,
                                .reference = reference};
        ladder l = ladder_climb(job, row, bit);
        if (!ladder_holds(&l, range)) holds = false;
        if (!ladder_above_floor(&l, job, range)) holds = false;
        if (row->flags & AT_ROUND_OFF &&
            !ladder_at_round_off(&l, &job, ladder_sizes_of(problem, reference)))
            holds = false;
        if (row->flags & LAMBDA_IS_EXACT) {
            double error = l.error[l.levels - 1].of[MULTIPLIER];
            double size =
                largest_difference(reference->count * reference->m, reference->lambda, NULL);
            if (!(error <= LADDER_ROUND_OFF * size)) {
                fprintf(stderr, "%s: error of lambda %.3e\n", l.title, error);
                holds = false;
            }
        }
        for (int k = 0; k < l.levels && eta && vanishes; ++k) {
            if (l.error[k].of[ETA] <= LADDER_ETA_ZERO) continue;
            fprintf(stderr, "%s: eta = %.3e\n", l.title, l.error[k].of[ETA]);
            holds = false;
        }
    }
    return holds;
}

/* All runs of a row are compared at the steps of the coarsest, or at fewer times where the
 * oracle has to compute the reference. Neighbours in the table share it. */
static inline void ladder_table(const ladder_row *row, int count)
{
    int failures = 0;
    for (int first = 0, next = 0; first < count; first = next) {
        const ladder_row *r = &row[first];
        pb_problem *problem = NULL;
        ladder_reference reference = {0};
        assert_int_equal(r->create(&problem), GA_OK);
        int intervals = problem->exact ? r->steps / 2 : ORACLE_SAMPLES;
        for (; next < count && row[next].create == r->create && row[next].t_end == r->t_end;
             ++next) {
            if (problem->exact && row[next].steps != r->steps) break;
            if (LADDER_SKIPS_SLOW && row[next].flags & SLOW) continue;
            assert_int_equal(row[next].steps % (2 * intervals), 0);
            if (!reference.count)
                reference = ladder_reference_at(problem, r->t_end / 2, r->t_end, intervals + 1);
            if (!ladder_row_holds(problem, &row[next], &reference)) ++failures;
        }
        ladder_reference_free(&reference);
        pb_destroy(problem);
    }
    assert_int_equal(failures, 0);
}

#define LADDER_TABLE(rows) ladder_table(rows, (int)(sizeof(rows) / sizeof *(rows)))

#endif
