/* One step t_n -> t_n + h, [ABC14] eqs. (9) and (58), solved by Newton's method.
 *
 * Stopping. With the contraction rate th measured in this attempt, what is left after an
 * increment d is about th/(1-th) |d|; the first increment gets no credit. q, v and lambda have
 * their own tolerances, in their own units, whatever the scaling of the linear system. A demand
 * below round-off is raised to it: 4 eps times the largest component so far for q and for v,
 * and in index 3 c_v/c_q times the round-off of q for v, because there v hangs on Phi through
 * q. An attempt whose increments of q and v have arrived at that level has converged even if
 * lambda still flickers: in index 3 the round-off of Phi enters lambda magnified by 1/h^2.
 *
 * Failing. Old tangents are renewed first; then the step is cut in two, up to max_halvings
 * times; then the state is put back and the reason reported.
 */
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

static void copy(double *to, const double *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* --- the pieces of an attempt, in the order they are called ----------------------------- */

void ga_step_coefficients(ga_stepper *s, double h, double t1)
{
    const ga_method *p = &s->def.method;
    const ga_state *now = &s->now;
    const double am = p->alpha_m, af = p->alpha_f, beta = p->beta, gamma = p->gamma;
    bool implicit = s->def.start == GA_START_IMPLICIT && now->steps == 0;
    s->h = h;
    s->t1 = t1;
    s->kappa = implicit ? s->method.shift : 0;
    s->c_a = ((1 - af) - am * s->kappa) / (1 - am);
    s->c_q = h * h * ((0.5 - beta) * s->kappa + beta * s->c_a);
    s->c_v = h * ((1 - gamma) * s->kappa + gamma * s->c_a);
    /* the implicit start (8): a_n = (1 - shift) vd_n + shift vd_{n+1} */
    if (implicit)
        for (int i = 0; i < s->nv; ++i) s->an[i] = (1 - s->kappa) * now->vd[i];
    for (int i = 0; i < s->nv; ++i) {
        s->a1[i] = (af * now->vd[i] - am * s->an[i]) / (1 - am);
        s->U0[i] = h * (s->vn[i] + h * ((0.5 - beta) * s->an[i] + beta * s->a1[i]));
        s->v0[i] = s->vn[i] + h * ((1 - gamma) * s->an[i] + gamma * s->a1[i]);
    }
}

/* Polynomial through the last accelerations (up to three), at t1. */
static void extrapolate(const ga_stepper *s, int n, const double *x0, double *const old[2],
                        double *result)
{
    const ga_state *now = &s->now;
    const double h = s->h, h0 = now->h, h1 = now->h_old[0];
    if (now->steps == 0) {
        copy(result, x0, n);
    } else if (now->steps == 1) {
        for (int i = 0; i < n; ++i) result[i] = x0[i] + h / h0 * (x0[i] - old[0][i]);
    } else {
        for (int i = 0; i < n; ++i) {
            double d0 = (x0[i] - old[0][i]) / h0, d1 = (old[0][i] - old[1][i]) / h1;
            result[i] = x0[i] + h * (d0 + (h + h0) * (d0 - d1) / (h0 + h1));
        }
    }
}

void ga_step_predict(ga_stepper *s)
{
    const ga_state *now = &s->now;
    extrapolate(s, s->nv, now->vd, now->vd_old, s->vd);
    extrapolate(s, s->m, now->lambda, now->lambda_old, s->lambda);
    double ratio = now->steps ? s->h / now->h : 1; /* eta = O(h^2) */
    for (int i = 0; i < s->m; ++i) s->eta[i] = ratio * ratio * now->eta[i];
}

void ga_step_evaluate(ga_stepper *s)
{
    for (int i = 0; i < s->nv; ++i) {
        s->a[i] = s->a1[i] + s->c_a * s->vd[i];
        s->v[i] = s->v0[i] + s->c_v * s->vd[i];
        s->U[i] = s->U0[i] + s->c_q * s->vd[i];
    }
    if (s->form->constraint_rows > 1)
        ga_coords_multiply_transposed(&s->dae.B, s->now.B, -s->h, s->eta, s->U);
    ga_dae_update(&s->dae, s->def.map, s->now.q, s->U, s->q);
}

/* Sizes that tolerances are relative to: the largest components met since the start. */
static void measure_scales(ga_stepper *s)
{
    double q = fmax(ga_norm_max(s->nq, s->q), ga_norm_max(s->nv, s->U));
    double v = fmax(ga_norm_max(s->nv, s->v), s->h * ga_norm_max(s->nv, s->vd));
    s->scale_q = fmax(s->scale_q, q);
    s->scale_v = fmax(s->scale_v, v);
    s->scale_lambda = fmax(s->scale_lambda, ga_norm_max(s->m, s->lambda));
}

static double weighted(double increment, double tolerance)
{
    return increment == 0 ? 0 : increment / tolerance;
}

typedef enum ga_verdict { GOES_ON, CONVERGED, SLOW, DIVERGES } ga_verdict;

/* After an increment: enough, or hopeless? *before is the norm of the increment before. */
static ga_verdict judge(ga_stepper *s, double *before)
{
    const ga_integrator_def *def = &s->def;
    const double eps = 4 * DBL_EPSILON;
    const double floor_q = eps * s->scale_q;
    double floor_v = eps * s->scale_v;
    if (s->m && s->form->constraint_rows == 1) floor_v += floor_q * s->c_v / s->c_q;
    double tolerance_q = def->absolute_q + def->relative * s->scale_q;
    double tolerance_v = def->absolute_v + def->relative * s->scale_v;
    double tolerance_lambda = def->absolute_lambda + def->relative * s->scale_lambda;
    s->norm_q = weighted(s->delta_q, fmax(tolerance_q, floor_q));
    s->norm_v = weighted(s->delta_v, fmax(tolerance_v, floor_v));
    s->norm_lambda = weighted(s->delta_lambda, fmax(tolerance_lambda, eps * s->scale_lambda));
    if (!isfinite(s->delta_q + s->delta_v + s->delta_lambda)) return DIVERGES;

    bool first = s->iteration == 1;
    double norm = fmax(fmax(s->norm_q, s->norm_v), s->norm_lambda);
    double rate = first ? 0 : norm / *before;
    double left = first ? norm : rate < 1 ? norm * rate / (1 - rate) : INFINITY;
    *before = norm;
    if (norm == 0 || left <= 1) return CONVERGED;
    if (first) return GOES_ON;
    if (s->delta_q <= floor_q && s->delta_v <= floor_v) return CONVERGED;
    /* with tangents of this step, no more progress within a thousand units of round-off */
    if (s->fresh && rate > 0.5 && s->delta_q <= 1e3 * floor_q && s->delta_v <= 1e3 * floor_v)
        return CONVERGED;
    if (rate >= 2 || (rate >= 0.95 && s->iteration > 3)) return DIVERGES;
    /* three more iterations cost more than new tangents and one or two */
    return left * rate * rate > 1 ? SLOW : GOES_ON;
}

/* Newton iterations from the prediction. refresh: begin with new tangents. Old ones are renewed
 * on the way when they have become slow. */
static ga_status iterate(ga_stepper *s, bool refresh)
{
    double before = INFINITY;
    s->fresh = false;
    ga_step_predict(s);
    for (s->iteration = 1; s->iteration <= s->def.max_iterations; ++s->iteration) {
        ga_step_evaluate(s); /* unknowns -> a, v, U;  q = q_n o R(U) */
        GA_TRY(ga_block_evaluate(s));
        if (s->iteration == 1) measure_scales(s);
        if (refresh) {
            GA_TRY(ga_block_tangents(s));
            s->fresh = true;
        }
        if (refresh || s->c_q != s->factor_c_q || s->c_v != s->factor_c_v)
            GA_TRY(ga_block_factor(s));
        GA_TRY(s->form->residual(s, s->r));
        ++s->stats.evaluations;
        ga_block_solve(s, s->r, s->x);
        s->form->correct(s, s->x);
        ++s->stats.iterations;
        ga_verdict verdict = judge(s, &before);
        if (verdict == CONVERGED) return GA_OK;
        if (verdict == DIVERGES) return GA_ERR_NO_CONVERGE;
        refresh = s->def.newton == GA_NEWTON_FULL || (verdict == SLOW && !s->fresh);
    }
    s->iteration = s->def.max_iterations;
    return GA_ERR_NO_CONVERGE;
}

/* The trial becomes the state; its constraint residuals are measured. */
static ga_status accept(ga_stepper *s)
{
    ga_state *now = &s->now;
    ga_step_evaluate(s);
    GA_TRY(ga_dae_constraint(&s->dae, s->t1, s->q, s->Phi));
    double position = ga_norm_max(s->m, s->Phi), velocity = 0;
    if (s->m && s->form->constraint_rows > 1) {
        GA_TRY(ga_dae_gradient(&s->dae, s->t1, s->q, s->B));
        GA_TRY(ga_block_velocity(s, s->r));
        velocity = s->c_v * ga_norm_max(s->m, s->r);
        copy(now->B, s->B, s->dae.B.count);
    }
    s->stats.position_residual_max = fmax(s->stats.position_residual_max, position);
    s->stats.velocity_residual_max = fmax(s->stats.velocity_residual_max, velocity);

    copy(now->vd_old[1], now->vd_old[0], s->nv);
    copy(now->vd_old[0], now->vd, s->nv);
    copy(now->lambda_old[1], now->lambda_old[0], s->m);
    copy(now->lambda_old[0], now->lambda, s->m);
    for (int i = 0; i < s->nv; ++i) now->a_used[i] = s->an[i] + s->kappa * s->vd[i];
    copy(now->q, s->q, s->nq);
    copy(now->v, s->v, s->nv);
    copy(now->vd, s->vd, s->nv);
    copy(now->a, s->a, s->nv);
    copy(now->lambda, s->lambda, s->m);
    copy(now->eta, s->eta, s->m);
    now->h_old[1] = now->h_old[0];
    now->h_old[0] = now->h;
    now->h = s->h;
    now->t = s->t1;
    ++now->steps;
    ++s->stats.steps;
    return GA_OK;
}

/* --- one step, and a step in pieces ------------------------------------------------------ */

static bool same_step(double h, double other) { return fabs(h - other) <= 1e-12 * fabs(other); }

/* v_n and a_n for a step of size h. */
static ga_status begin(ga_stepper *s, double h)
{
    const ga_state *now = &s->now;
    if (!same_step(h, now->h)) {
        if (now->steps == 0) return ga_start_values(s, h, s->an, s->vn);
        return ga_start_change(s, h, s->an, s->vn);
    }
    copy(s->an, now->a, s->nv);
    copy(s->vn, now->v, s->nv);
    return GA_OK;
}

/* Tangents serve `life` steps, then they are renewed before a step begins. life shrinks to what
 * it was when they turned out slow in the middle of a step, and grows a little otherwise. */
static void learn_life(ga_stepper *s, bool began_fresh)
{
    if (began_fresh) {
        s->served = 1;
        s->life *= 1.1;
    } else if (s->fresh) {
        s->life = fmax(1, s->served);
        s->served = 1;
    } else {
        ++s->served;
    }
}

/* One step of size h to t1, with old tangents if they serve, else with new ones. */
static ga_status attempt(ga_stepper *s, double h, double t1)
{
    GA_TRY(begin(s, h));
    ga_step_coefficients(s, h, t1);
    bool refresh = !s->usable || s->served >= s->life || s->def.newton == GA_NEWTON_FULL;
    ga_status status = iterate(s, refresh);
    if (status != GA_OK && status != GA_ERR_CALLBACK && !refresh) {
        refresh = true;
        status = iterate(s, refresh);
    }
    if (status == GA_OK) status = accept(s);
    if (status == GA_OK)
        learn_life(s, refresh);
    else
        s->usable = false;
    return status;
}

/* From the current time to t1 = now + h, in two halves if it does not work in one go. */
static ga_status advance(ga_stepper *s, double h, double t1, int halvings)
{
    ga_status status = attempt(s, h, t1);
    if (status == GA_OK || status == GA_ERR_CALLBACK || halvings == 0) return status;
    double middle = s->now.t + 0.5 * h;
    if (!(middle > s->now.t && middle < t1)) return status;
    ++s->stats.halvings;
    GA_TRY(advance(s, 0.5 * h, middle, halvings - 1));
    return advance(s, 0.5 * h, t1, halvings - 1);
}

static const char *unknown_kind(const ga_stepper *s, int column, int *index)
{
    *index = column;
    if (column < s->nv) return "coordinate";
    *index = (column - s->nv) % (s->m ? s->m : 1);
    return column < s->nv + s->m ? "multiplier" : "velocity constraint";
}

static void explain(const ga_stepper *s, ga_status status, double h, ga_report *report)
{
    int index = 0;
    if (status == GA_ERR_NO_CONVERGE) {
        ga_fail(report, status,
                "Newton did not converge in the step from t = %.9g with h = %.3g: after %d "
                "iterations the increments are %.2g (q), %.2g (v), %.2g (lambda) times their "
                "tolerances",
                s->now.t, s->h, s->iteration, s->norm_q, s->norm_v, s->norm_lambda);
        if (report) {
            report->norm_q = s->norm_q;
            report->norm_v = s->norm_v;
            report->norm_lambda = s->norm_lambda;
            report->iteration = s->iteration;
            for (int i = 1; i < s->n; ++i)
                if (!(fabs(s->x[i]) <= fabs(s->x[index]))) index = i;
            report->row = index;
        }
    } else if (status == GA_ERR_SINGULAR) {
        const char *kind = unknown_kind(s, s->singular, &index);
        ga_fail(
            report, status,
            "the iteration matrix is singular in the step from t = %.9g with h = %.3g, near "
            "%s %d",
            s->now.t, s->h, kind, index);
        if (report) report->column = s->singular;
    } else {
        ga_dae_explain(&s->dae, s->now.t, report);
    }
    if (!report) return;
    report->time = s->now.t;
    report->step = h;
}

ga_status ga_step_grid(ga_stepper *s, double t_end, ga_report *report)
{
    double h = s->h_grid, t1 = s->t_start + (double)(s->grid + 1) * h;
    bool last = t1 > t_end - 1e-9 * h;
    if (last) {
        if (t1 - t_end > 1e-9 * h) h = t_end - s->now.t;
        t1 = t_end;
    }
    if (!(t1 > s->now.t))
        return ga_fail(report, GA_ERR_ARGUMENT, "a step of %.3g is below round-off at t = %.9g",
                       h, s->now.t);
    ga_state_copy(&s->saved, &s->now);
    ga_status status = advance(s, h, t1, s->def.max_halvings);
    if (status != GA_OK) {
        explain(s, status, h, report);
        ga_state_copy(&s->now, &s->saved);
        s->usable = false;
        return status;
    }
    ++s->grid;
    if (last) { /* further steps count from here */
        s->t_start = t1;
        s->grid = 0;
    }
    return GA_OK;
}
