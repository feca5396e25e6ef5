/* Runs, errors on groups, observed orders. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double *vf_numbers(vf_run *run, size_t n)
{
    double *x = calloc(n + 1, sizeof *x);
    if (!x) run->out_of_memory = true;
    return x;
}

/* --- states ------------------------------------------------------------------------------- */

static bool states_create(vf_run *run, const ga_system *system, int count, vf_states *s)
{
    *s = (vf_states){.count = count,
                     .nq = ga_system_nq(system),
                     .nv = ga_system_nv(system),
                     .m = system->constraint_count,
                     .p = system->nonholonomic_count};
    size_t n = (size_t)count;
    s->t = vf_numbers(run, n);
    s->q = vf_numbers(run, n * (size_t)s->nq);
    s->v = vf_numbers(run, n * (size_t)s->nv);
    s->vd = vf_numbers(run, n * (size_t)s->nv);
    s->a = vf_numbers(run, n * (size_t)s->nv);
    s->lambda = vf_numbers(run, n * (size_t)s->m);
    s->eta = vf_numbers(run, n * (size_t)s->m);
    s->psi = vf_numbers(run, n * (size_t)s->p);
    if (s->t && s->q && s->v && s->vd && s->a && s->lambda && s->eta && s->psi) return true;
    vf_states_free(s);
    return false;
}

void vf_states_free(vf_states *s)
{
    free(s->t);
    free(s->q);
    free(s->v);
    free(s->vd);
    free(s->a);
    free(s->lambda);
    free(s->eta);
    free(s->psi);
    *s = (vf_states){0};
}

static void copy(double *to, const double *from, int n)
{
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
}

/* Row k from where the integrator is; a and eta are left out if it only knows a start. */
static void keep(vf_states *s, int k, const ga_integrator *integrator, bool stepped)
{
    s->t[k] = ga_integrator_time(integrator);
    copy(s->q + k * s->nq, ga_integrator_q(integrator), s->nq);
    copy(s->v + k * s->nv, ga_integrator_v(integrator), s->nv);
    copy(s->vd + k * s->nv, ga_integrator_vd(integrator), s->nv);
    copy(s->lambda + k * s->m, ga_integrator_lambda(integrator), s->m);
    copy(s->psi + k * s->p, ga_integrator_psi(integrator), s->p);
    if (!stepped) return;
    copy(s->a + k * s->nv, ga_integrator_a(integrator), s->nv);
    copy(s->eta + k * s->m, ga_integrator_eta(integrator), s->m);
}

double *vf_column(vf_run *run, int count, const double *rows, int width, int i)
{
    double *x = vf_numbers(run, (size_t)count);
    for (int k = 0; x && k < count; ++k) x[k] = rows[k * width + i];
    return x;
}

void vf_curve(ga_figure *figure, int panel, ga_plot_series series, int count, const double *x,
              double *y)
{
    if (!y) return;
    series.count = (size_t)count;
    series.x = x;
    series.y = y;
    ga_figure_series(figure, panel, &series);
    free(y);
}

/* --- runs --------------------------------------------------------------------------------- */

ga_integrator_def vf_def(double rho_inf, ga_formulation formulation, ga_start start)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_coefficients_generalized_alpha(rho_inf, &def.coefficients, NULL);
    def.formulation = formulation;
    def.start = start;
    return def;
}

static double step_size(const vf_job *job, int n)
{
    return job->pattern_count ? job->h * job->pattern[n % job->pattern_count] : job->h;
}

static int step_count(const vf_job *job)
{
    double end = job->t_end > 0 ? job->t_end : job->problem->t_end - job->problem->t0;
    if (job->pattern_count == 0) return (int)lround(end / job->h);
    double sum = 0;
    for (int k = 0; k < job->pattern_count; ++k) sum += job->pattern[k];
    return job->pattern_count * (int)lround(end / (job->h * sum));
}

static ga_status step_through(const vf_job *job, ga_integrator *integrator, vf_states *states,
                              ga_report *report)
{
    const pb_problem *problem = job->problem;
    ga_integrator_guess(integrator, problem->lambda_guess, problem->psi_guess);
    ga_status status = ga_integrator_start(integrator, problem->t0, problem->q0, problem->v0,
                                           step_size(job, 0), report);
    if (status) return status;
    keep(states, 0, integrator, true);
    for (int n = 1; n < states->count; ++n) {
        status = job->pattern_count
                     ? ga_integrator_step_by(integrator, step_size(job, n - 1), report)
                     : ga_integrator_step(integrator, report);
        if (status) return status;
        keep(states, n, integrator, true);
    }
    states->statistics = ga_integrator_statistics(integrator);
    return GA_OK;
}

bool vf_steps(vf_run *run, const vf_job *job, vf_states *states)
{
    const ga_system *system = &job->problem->system;
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    if (!states_create(run, system, step_count(job) + 1, states)) return false;
    ga_status status = ga_integrator_create(system, &job->def, &integrator, &report);
    if (status == GA_OK) status = step_through(job, integrator, states, &report);
    ga_integrator_destroy(integrator);
    if (status) vf_states_free(states);
    return vf_ok(run, status, &report);
}

/* --- solutions by extrapolation ------------------------------------------------------------
 *
 * From (q_n, v_n) on the configuration is q = q_n o exp(x), so that
 *
 *     x' = T(x)^-1 v,    v' from [M B^T; B 0] at the consistent state next to (q, v)
 *
 * is an ordinary differential equation. A start of the library is asked for v'; it never steps.
 * Gragg's midpoint rule with 2, 4, ... substeps is extrapolated until two orders agree. */

#define TOLERANCE 1e-12 /* per step, relative to the largest component */

enum { COLUMNS = 6 };

typedef struct extrapolation {
    const pb_problem *problem;
    ga_integrator *start;
    int nq, nv;
    double t, H;
    double *memory;
    double *q, *v;               /* consistent, at t */
    double *trial;               /* nq */
    double *before, *now, *rate; /* (x, v), 2 nv each */
    double *table[COLUMNS];
    ga_report report;
} extrapolation;

static ga_status begin(extrapolation *e, double t, const double *q, const double *v)
{
    const pb_problem *problem = e->problem;
    ga_integrator_guess(e->start, problem->lambda_guess, problem->psi_guess);
    return ga_integrator_start(e->start, t, q, v, 1, &e->report);
}

/* Makes the state that begin was given, consistent now, the one to go on from. */
static ga_status settle(extrapolation *e, double t, const double *q, const double *v)
{
    ga_status status = begin(e, t, q, v);
    if (status) return status;
    e->t = t;
    copy(e->q, ga_integrator_q(e->start), e->nq);
    copy(e->v, ga_integrator_v(e->start), e->nv);
    return GA_OK;
}

static bool evaluate(extrapolation *e, double t, const double *z)
{
    const ga_system *system = &e->problem->system;
    const double *v = z + e->nv;
    double Tinv[GA_NODE_MAX_NV * GA_NODE_MAX_NV];
    ga_nodes_update(system->node_count, system->nodes, GA_MAP_EXP, e->q, z, e->trial);
    if (begin(e, t, e->trial, v)) return false;
    copy(e->rate, v, e->nv);
    for (int k = 0, at = 0; k < system->node_count; ++k) {
        int n = ga_node_nv(system->nodes[k]);
        if (system->nodes[k].group != GA_GROUP_RN) {
            ga_lie_tangent_inverse(system->nodes[k], GA_MAP_EXP, z + at, Tinv);
            for (int i = 0; i < n; ++i) {
                double sum = 0;
                for (int j = 0; j < n; ++j) sum += Tinv[j * n + i] * v[at + j];
                e->rate[at + i] = sum;
            }
        }
        at += n;
    }
    copy(e->rate + e->nv, ga_integrator_vd(e->start), e->nv);
    return true;
}

/* The midpoint rule with n substeps over H, into z. */
static bool midpoint(extrapolation *e, double H, int n, double *z)
{
    const int size = 2 * e->nv;
    const double h = H / n;
    double *before = e->before, *now = e->now;
    for (int i = 0; i < e->nv; ++i) before[i] = 0;
    copy(before + e->nv, e->v, e->nv);
    if (!evaluate(e, e->t, before)) return false;
    for (int i = 0; i < size; ++i) now[i] = before[i] + h * e->rate[i];
    for (int k = 1; k < n; ++k) {
        if (!evaluate(e, e->t + k * h, now)) return false;
        for (int i = 0; i < size; ++i) before[i] += 2 * h * e->rate[i];
        double *other = before;
        before = now;
        now = other;
    }
    copy(z, now, size);
    return true;
}

/* Column k of the scheme of Aitken and Neville in h^2, in place: the best value moves to
 * table[0]. Returns its last change, relative. */
static double combine(extrapolation *e, int k)
{
    double change = INFINITY, largest = 1;
    for (int j = k - 1; j >= 0; --j) {
        const double ratio = (k + 1.0) / (j + 1.0);
        change = 0;
        for (int i = 0; i < 2 * e->nv; ++i) {
            double gain = (e->table[j + 1][i] - e->table[j][i]) / (ratio * ratio - 1);
            e->table[j][i] = e->table[j + 1][i] + gain;
            change = fmax(change, fabs(gain));
            largest = fmax(largest, fabs(e->table[j][i]));
        }
    }
    return change / largest;
}

/* One step into table[0]; the number of columns it took, 0 if it is too long. */
static int extrapolate(extrapolation *e, double H)
{
    for (int k = 0; k < COLUMNS; ++k) {
        if (!midpoint(e, H, 2 * k + 2, e->table[k])) return 0;
        if (combine(e, k) <= TOLERANCE) return k + 1;
    }
    return 0;
}

static ga_status advance(extrapolation *e, double t1)
{
    const ga_system *system = &e->problem->system;
    if (e->H == 0) e->H = t1 - e->t;
    while (e->t < t1) {
        bool last = e->t + 1.001 * e->H >= t1;
        double H = last ? t1 - e->t : e->H;
        int columns = extrapolate(e, H);
        if (columns == 0) {
            e->H = 0.6 * H;
            if (e->H < 1e-9 * t1) return GA_ERR_STEP_SIZE;
            continue;
        }
        ga_nodes_update(system->node_count, system->nodes, GA_MAP_EXP, e->q, e->table[0],
                        e->trial);
        ga_status status = settle(e, last ? t1 : e->t + H, e->trial, e->table[0] + e->nv);
        if (status) return status;
        if (columns < COLUMNS - 1) e->H = fmax(e->H, 1.5 * H);
    }
    return GA_OK;
}

static ga_status extrapolation_create(vf_run *run, const pb_problem *problem, extrapolation *e)
{
    *e = (extrapolation){.problem = problem,
                         .nq = ga_system_nq(&problem->system),
                         .nv = ga_system_nv(&problem->system)};
    const size_t nq = (size_t)e->nq, nv = (size_t)e->nv;
    double *at = e->memory = vf_numbers(run, 2 * nq + (7 + 2 * COLUMNS) * nv);
    if (!at) return GA_ERR_MEMORY;
    double **const arrays[] = {&e->q, &e->trial, &e->v, &e->before, &e->now, &e->rate};
    const size_t sizes[] = {nq, nq, nv, 2 * nv, 2 * nv, 2 * nv};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        *arrays[k] = at;
        at += sizes[k];
    }
    for (int k = 0; k < COLUMNS; ++k, at += 2 * nv) e->table[k] = at;
    ga_integrator_def def = ga_integrator_def_default();
    def.start = GA_START_PLAIN;
    ga_status status = ga_integrator_create(&problem->system, &def, &e->start, &e->report);
    return status ? status : settle(e, problem->t0, problem->q0, problem->v0);
}

static bool extrapolate_to(vf_run *run, const pb_problem *problem, vf_states *s)
{
    extrapolation e;
    ga_status status = extrapolation_create(run, problem, &e);
    for (int k = 0; status == GA_OK && k < s->count; ++k) {
        status = advance(&e, s->t[k]);
        if (status == GA_OK) keep(s, k, e.start, false);
    }
    ga_integrator_destroy(e.start);
    free(e.memory);
    return vf_ok(run, status, &e.report);
}

bool vf_solution_at(vf_run *run, const pb_problem *problem, int count, const double *t,
                    vf_states *s)
{
    if (!states_create(run, &problem->system, count, s)) return false;
    copy(s->t, t, count);
    if (!problem->exact) {
        bool done = extrapolate_to(run, problem, s);
        if (!done) vf_states_free(s);
        return done;
    }
    for (int k = 0; k < count; ++k) {
        problem->exact(problem, t[k], s->q + k * s->nq, s->v + k * s->nv, s->vd + k * s->nv,
                       s->m ? s->lambda + k * s->m : NULL);
        if (s->p) problem->exact_psi(problem, t[k], s->psi + k * s->p);
    }
    return true;
}

/* How far apart times may be that mean the same: round-off of long sums. */
static double same_time(double t) { return 1e-10 * (1 + fabs(t)); }

bool vf_solution_from(vf_run *run, const pb_problem *problem, const vf_states *like,
                      double first, vf_states *solution)
{
    int skipped = 0;
    while (skipped < like->count && like->t[skipped] < first - same_time(first)) ++skipped;
    return vf_solution_at(run, problem, like->count - skipped, like->t + skipped, solution);
}

bool vf_solution(vf_run *run, const pb_problem *problem, const vf_states *like,
                 vf_states *solution)
{
    return vf_solution_at(run, problem, like->count, like->t, solution);
}

/* --- errors ------------------------------------------------------------------------------- */

static int kind_size(const vf_states *s, vf_kind kind)
{
    const int size[VF_KINDS] = {s->nv, s->nv, s->nv, s->m, s->p};
    return size[kind];
}

static const double *kind_row(const vf_states *s, vf_kind kind, int k)
{
    const double *const rows[VF_KINDS] = {s->q, s->v, s->vd, s->lambda, s->psi};
    const int width = kind == VF_Q ? s->nq : kind_size(s, kind);
    return rows[kind] + k * width;
}

void vf_error(const pb_problem *problem, const vf_states *states, int i, const vf_states *exact,
              int j, vf_kind kind, double *error)
{
    const double *x = kind_row(states, kind, i), *y = kind_row(exact, kind, j);
    if (kind == VF_Q) {
        ga_nodes_difference(problem->system.node_count, problem->system.nodes, y, x, error);
        return;
    }
    for (int k = 0; k < kind_size(states, kind); ++k) error[k] = x[k] - y[k];
}

static double norm_of(vf_norm norm, int n, const double *x)
{
    double largest = 0, sum = 0;
    for (int i = 0; i < n; ++i) {
        largest = fmax(largest, fabs(x[i]));
        sum += x[i] * x[i];
    }
    return norm == VF_NORM_LARGEST && !isnan(sum) ? largest : sqrt(sum);
}

int vf_state_at(const vf_states *states, int from, double t)
{
    const double close = same_time(t);
    int k = from;
    while (k < states->count && states->t[k] < t - close) ++k;
    return k < states->count && states->t[k] <= t + close ? k : -1;
}

vf_errors vf_largest_errors(vf_run *run, const pb_problem *problem, const vf_states *states,
                            const vf_states *exact, vf_norm norm, double first, double last)
{
    vf_errors errors = {0};
    double *error = vf_numbers(run, (size_t)(states->nv + states->m + states->p));
    if (!error) return errors;
    for (int i = 0, j = 0; i < states->count; ++i) {
        const double t = states->t[i], close = same_time(t);
        const int found = vf_state_at(exact, j, t);
        if (found < 0 || t < first - close || t > last + close) continue;
        j = found;
        ++errors.compared;
        for (int kind = 0; kind < VF_KINDS; ++kind) {
            vf_error(problem, states, i, exact, j, (vf_kind)kind, error);
            double e = norm_of(norm, kind_size(states, (vf_kind)kind), error);
            if (isnan(errors.of[kind]) || e <= errors.of[kind]) continue; /* NaN stays */
            errors.of[kind] = e;
            errors.at[kind] = i;
        }
    }
    free(error);
    if (errors.compared == 0) vf_fail(run, "no state to compare");
    return errors;
}

double *vf_lambda_error(vf_run *run, const vf_states *states, const vf_states *exact, int i)
{
    double *e = vf_column(run, states->count, states->lambda, states->m, i);
    for (int k = 0; e && k < states->count; ++k) e[k] -= exact->lambda[k * exact->m + i];
    return e;
}

/* --- ladders ------------------------------------------------------------------------------ */

/* One level; the solution is computed if it is empty. */
static bool climb_level(vf_run *run, const vf_job *job, vf_norm norm, double first, double last,
                        vf_states *own, const vf_states *solution, vf_errors *errors)
{
    vf_states states;
    if (!vf_steps(run, job, &states)) return false;
    bool done =
        solution || own->count || vf_solution_from(run, job->problem, &states, first, own);
    if (done)
        *errors = vf_largest_errors(run, job->problem, &states, solution ? solution : own, norm,
                                    first, last);
    vf_states_free(&states);
    return done;
}

bool vf_climb(vf_run *run, const vf_job *job, int levels, const double *h, vf_norm norm,
              double first, double last, const vf_states *solution, vf_ladder *ladder)
{
    vf_states own = {0};
    bool done = true;
    *ladder = (vf_ladder){.levels = levels};
    for (int k = levels - 1; done && k >= 0; --k) { /* the finest has all times */
        vf_job level = *job;
        vf_errors errors = {0};
        level.h = ladder->h[k] = h[k];
        done = climb_level(run, &level, norm, first, last, &own, solution, &errors);
        for (int kind = 0; kind < VF_KINDS; ++kind) ladder->error[kind][k] = errors.of[kind];
    }
    vf_states_free(&own);
    return done;
}

double vf_order(const vf_ladder *ladder, vf_kind kind, int k)
{
    if (k < 0) k = ladder->levels - 1;
    const double *error = ladder->error[kind];
    return log(error[k - 1] / error[k]) / log(ladder->h[k - 1] / ladder->h[k]);
}

void vf_plot_ladder(ga_figure *figure, int panel, ga_plot_series series,
                    const vf_ladder *ladder, vf_kind kind)
{
    series.count = (size_t)ladder->levels;
    series.x = ladder->h;
    series.y = ladder->error[kind];
    ga_figure_series(figure, panel, &series);
}
