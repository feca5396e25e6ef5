/* Starting: consistent values, then the values a and v that a generalized-alpha step expects.
 *
 * Consistent: q0 is moved onto Phi = 0 and v0 onto B v + Phi_t = 0 by the smallest change in
 * the mass metric; values that are consistent up to round-off are kept as they are.
 *
 * a_n stands for v'(t_n + Delta_alpha h), so (57) a_0 = v' + Delta_alpha h v''. In index 3 the
 * exact v_0 is not on the discrete solution: there B v_n + Phi_t = B l^q/h_n with the local
 * error
 *
 *     l^q = h^3/6 ( (1 - 6 beta - 3 Delta_alpha) v'' + 1/2 [v, v'] )     [ABC14] eq. (17)
 *           + h^3 c(v)                                                  Cayley map only
 *
 * (c cubic, ga_lie_cayley_defect), and starting elsewhere makes lambda oscillate with O(h).
 * (56) puts v_0 there. The same holds after a change of the step size; see ga_start_change.
 *
 * v'' is a difference quotient of v' from the saddle system at q o exp(+-s v + s^2/2 v'),
 * v +- s v', t +- s: central with s = h, or forward with s = h/100, [ABC14] section 4.2.
 */
#include "base/extremes.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Increments below this, relative to the size of the values, are round-off. */
static const double round_off = 32 * DBL_EPSILON;
/* After so many iterations a residual at round-off is enough. */
enum { few = 5 };

/* --- consistent values ------------------------------------------------------------------- */

static ga_status explain(ga_stepper *s, ga_status status, double t, ga_report *report)
{
    if (status == GA_ERR_SINGULAR) {
        const char *kind = s->jacobian.singular < s->nv ? "coordinate" : "constraint";
        int index =
            s->jacobian.singular < s->nv ? s->jacobian.singular : s->jacobian.singular - s->nv;
        ga_fail(report, status,
                "the matrix [M G^T; G 0] is singular at t = %.9g, near %s %d: mass or "
                "constraints do not determine the accelerations",
                t, kind, index);
        if (report) report->row = report->column = s->jacobian.singular;
    } else if (status == GA_ERR_NO_CONVERGE) {
        ga_fail(report, status,
                "accelerations and multipliers at t = %.9g: the Newton iteration for forces "
                "that depend on the multipliers did not converge; give a better initial guess",
                t);
    } else if (status == GA_ERR_MEMORY) {
        ga_fail(report, status, "out of memory");
    } else if (status != GA_OK) {
        ga_dae_explain(&s->dae, t, report);
    }
    if (report && status != GA_OK) report->time = t;
    return status;
}

/* Rows within this distance of what the others span depend on them; gradients by differences
 * are not known better than their noise. */
static double dependence_tolerance(const ga_stepper *s)
{
    return ga_larger(1e-10, ga_smaller(1e2 * s->dae.noise, 1e-5));
}

/* A row that is so far from what the others span leaves a pivot of the square of that. Long
 * chains have small pivots, too: they turn as one heavy body. */
static double clear_pivot(const ga_stepper *s)
{
    const double distance = 10 * dependence_tolerance(s);
    return ga_larger(distance * distance, 1e-11);
}

/* Which rows of G depend on others, from the values in s->start.saddle. A dependent row leaves
 * the saddle matrix with a pivot at round-off, so where its pivots are all far from that, no
 * search is needed. Afterwards the saddle is factored. */
static ga_status find_rank(ga_stepper *s, double t, const double *q, const double *v,
                           ga_report *report)
{
    ga_regular *g = &s->regular;
    ga_regular_reset(s, t);
    ga_status status = ga_saddle_factor_at(s, t, q, v, false);
    if (status != GA_OK && status != GA_ERR_SINGULAR) return explain(s, status, t, report);
    ga_regular_weigh(s, s->start.saddle.M, s->start.saddle.G);
    g->rank = s->mp;
    if (status == GA_OK && ga_factor_rcond(s->start.saddle.factor) > clear_pivot(s)) {
        ga_regular_survey(s);
        s->start.saddle.here = !s->p && !s->regular.active;
        return GA_OK;
    }
    ga_status search =
        ga_dependence_find(&s->dae.G, s->start.saddle.G, dependence_tolerance(s), &g->found);
    if (search != GA_OK) return explain(s, search, t, report);
    g->rank = g->found.rank;
    if (g->rank < s->mp) {
        ga_regular_activate(s, g->found.count > 0);
        status = ga_saddle_factor(s, &s->start.saddle, false, false);
    }
    if (status != GA_OK) return explain(s, status, t, report);
    ga_regular_survey(s);
    return GA_OK;
}

/* The dependent row whose partners contradict it most, by residuals of the rows; or -1. */
static int contradiction(const ga_stepper *s, const double *residual)
{
    const ga_dependence *d = &s->regular.found;
    double worst = 1e-9 * ga_norm_max(s->mp, residual);
    int found = -1;
    for (int k = 0; k < d->count; ++k) {
        double sum = residual[d->row[k]];
        for (int e = d->start[k]; e < d->start[k + 1]; ++e)
            sum -= d->weight[e] * residual[d->with[e]];
        if (fabs(sum) <= worst) continue;
        worst = fabs(sum);
        found = k;
    }
    return found;
}

/* Adds the partners of dependent row k to the message. */
static void name_partners(const ga_stepper *s, int k, ga_report *report)
{
    const ga_dependence *d = &s->regular.found;
    if (!report) return;
    for (int e = d->start[k]; e < d->start[k + 1]; ++e) {
        size_t used = strlen(report->message), left = sizeof report->message - used;
        if (left < 40) {
            snprintf(report->message + used, left, " ...");
            return;
        }
        snprintf(report->message + used, left, "%s %d", e > d->start[k] ? "," : "", d->with[e]);
    }
}

static int worst_row(int n, const double *x)
{
    int worst = 0;
    for (int i = 1; i < n; ++i)
        if (!(fabs(x[i]) <= fabs(x[worst]))) worst = i;
    return worst;
}

/* residual: of the first n rows. */
static ga_status inconsistent(const ga_stepper *s, double t, const char *what, int n,
                              const double *residual, ga_report *report)
{
    const int k = contradiction(s, residual);
    int row = worst_row(n, residual);
    ga_fail(
        report, GA_ERR_INCONSISTENT,
        "the %s at t = %.9g cannot be made consistent: constraint %d keeps a residual of %.3g",
        what, t, row, residual[row]);
    if (k >= 0) {
        row = s->regular.found.row[k];
        ga_fail(report, GA_ERR_INCONSISTENT,
                "redundant constraints contradict each other: the %s at t = %.9g cannot "
                "satisfy constraint %d together with",
                what, t, row);
        name_partners(s, k, report);
    }
    if (report) {
        report->time = t;
        report->row = row;
    }
    return GA_ERR_INCONSISTENT;
}

/* Phi, with zeros for the nonholonomic rows, in s->at.w. */
static ga_status positions_inconsistent(ga_stepper *s, double t, ga_report *report)
{
    memset(s->at.w, 0, (size_t)s->mp * sizeof *s->at.w);
    memcpy(s->at.w, s->at.Phi, (size_t)s->m * sizeof *s->at.w);
    return inconsistent(s, t, "position", s->mp, s->at.w, report);
}

/* With dependent rows Newton's method comes to rest also where they contradict each other. */
static bool at_rest_elsewhere(ga_stepper *s, int n, const double *residual, double size)
{
    if (!s->regular.active) return false;
    const double *length = ga_regular_row_sizes(s, s->start.saddle.G);
    for (int i = 0; i < n; ++i)
        if (!(fabs(residual[i]) <= 1e-9 * ga_larger(size, 1) * ga_larger(1, sqrt(length[i]))))
            return true;
    return false;
}

/* Newton's method in the mass metric; q is moved in place. Nonholonomic constraints do not
 * restrict where it may go. Near singular positions Newton steps are too long to mean anything:
 * where the next step would be longer than the last one, which was not small, the last one is
 * repeated with half its length, down to the given part of it. */
static ga_status approach(ga_stepper *s, double t, double *q, const double *v, double shortest,
                          ga_report *report)
{
    static const double small = 0.01;
    double before = INFINITY, *bottom = s->work.c, *step = s->work.step;
    double *q_last = s->work.q, *last = s->work.v, part = 1;
    memset(bottom, 0, (size_t)s->mp * sizeof *bottom);
    for (int iteration = 0; iteration < 50; ++iteration) {
        ga_status status = ga_dae_constraint(&s->dae, t, q, s->at.Phi);
        if (status == GA_OK) status = ga_saddle_factor_at(s, t, q, v, true);
        if (status == GA_ERR_SINGULAR && iteration > 0) break;
        if (status != GA_OK) return explain(s, status, t, report);
        for (int i = 0; i < s->m; ++i) bottom[i] = -s->at.Phi[i];
        ga_saddle_lift(s, bottom, step);
        double change = ga_norm_max(s->nv, step);
        double size = ga_larger(ga_norm_max(s->nq, q), DBL_MIN);
        bool done = change <= round_off * size;
        /* no more progress: the round-off of constants in Phi */
        done |= iteration > 2 && change >= 0.5 * before && change <= 1e-11 * ga_larger(size, 1);
        /* next to a singular position round-off moves q to and fro */
        done |=
            iteration > few && ga_norm_max(s->m, s->at.Phi) <= round_off * ga_larger(size, 1);
        if (done && at_rest_elsewhere(s, s->m, s->at.Phi, size)) break;
        if (done) return GA_OK;
        if (!isfinite(change)) break;
        s->start.saddle.here = false;
        if (change > before && before > small && part > shortest) {
            part /= 2;
            for (int i = 0; i < s->nv; ++i) last[i] /= 2;
            ga_dae_update(&s->dae, GA_MAP_EXP, q_last, last, q);
            continue;
        }
        part = 1;
        before = change;
        memcpy(q_last, q, (size_t)s->nq * sizeof *q);
        memcpy(last, step, (size_t)s->nv * sizeof *step);
        ga_dae_update(&s->dae, GA_MAP_EXP, q, step, q);
    }
    return positions_inconsistent(s, t, report);
}

static const double damped = 1.0 / 64, undamped = 1;

static ga_status project_position(ga_stepper *s, double t, double *q, const double *v,
                                  ga_report *report)
{
    return approach(s, t, q, v, damped, report);
}

/* Where shorter steps get stuck, long ones may still arrive. */
static ga_status assemble(ga_stepper *s, const double *q0, ga_report *report)
{
    ga_state *now = &s->now;
    ga_status status = approach(s, now->t, now->q, now->v, damped, report);
    if (status != GA_ERR_INCONSISTENT) return status;
    memcpy(now->q, q0, (size_t)s->nq * sizeof *q0);
    s->start.saddle.here = false;
    return approach(s, now->t, now->q, now->v, undamped, report);
}

/* Planar angles are numbers, so Newton's method may leave full turns in them. Takes them out of
 * those that changed since q0; false: there are none. */
static bool unwind(const ga_stepper *s, const double *q0, double *q)
{
    static const double two_pi = 6.283185307179586476925286766559;
    bool any = false;
    for (int k = 0, at = 0; k < s->dae.sys.node_count; ++k) {
        const ga_node node = s->dae.sys.nodes[k];
        at += ga_node_nq(node);
        if (node.group != GA_GROUP_SO2 && node.group != GA_GROUP_R2SO2 &&
            node.group != GA_GROUP_SE2)
            continue;
        const double turns = round((q[at - 1] - q0[at - 1]) / two_pi);
        q[at - 1] -= two_pi * turns;
        any |= turns != 0;
    }
    return any;
}

/* The position nearest to q0 in full turns, unless constraints count those. */
static ga_status remove_turns(ga_stepper *s, const double *q0, ga_report *report)
{
    ga_state *now = &s->now;
    double *wound = s->work.q;
    memcpy(wound, now->q, (size_t)s->nq * sizeof *wound);
    if (!unwind(s, q0, now->q)) return GA_OK;
    const double allowed = 1e-9 * ga_larger(ga_norm_max(s->nq, wound), 1);
    const ga_status status = ga_dae_constraint(&s->dae, now->t, now->q, s->at.Phi);
    if (status != GA_OK || !(ga_norm_max(s->m, s->at.Phi) <= allowed)) {
        memcpy(now->q, wound, (size_t)s->nq * sizeof *wound);
        return GA_OK;
    }
    return project_position(s, now->t, now->q, now->v, report);
}

/* Onto w = 0 by Newton's method: one step for holonomic constraints and k linear in v, one more
 * against round-off. */
static ga_status project_velocity(ga_stepper *s, double t, const double *q, double *v)
{
    double *w = s->work.c, *step = s->work.step, before = INFINITY;
    for (int iteration = 0; iteration < 30; ++iteration) {
        GA_TRY(ga_saddle_factor_at(s, t, q, v, false));
        GA_TRY(ga_dae_velocity(&s->dae, t, q, v, s->start.saddle.G, w));
        for (int i = 0; i < s->mp; ++i) w[i] = -w[i];
        ga_saddle_lift(s, w, step);
        double change = ga_norm_max(s->nv, step), size = ga_norm_max(s->nv, v);
        bool done = change <= round_off * size;
        done |= iteration > few && ga_norm_max(s->mp, w) <= round_off * ga_larger(size, 1);
        if (done && at_rest_elsewhere(s, s->mp, w, size)) break;
        if (done) return GA_OK;
        if (!isfinite(change)) break;
        for (int i = 0; i < s->nv; ++i) v[i] += step[i];
        done = iteration > 0 && change >= 0.5 * before && change <= 1e-11 * ga_larger(size, 1);
        if (done && at_rest_elsewhere(s, s->mp, w, size)) break;
        if (done) return GA_OK;
        before = change;
    }
    return GA_ERR_INCONSISTENT;
}

static ga_status check_projection(const ga_stepper *s, ga_report *report)
{
    const double limit = s->def.max_projection;
    if (s->start.projection.q <= limit && s->start.projection.v <= limit) return GA_OK;
    return ga_fail(report, GA_ERR_INCONSISTENT,
                   "the initial values are inconsistent: they had to be changed by %.3g (q) "
                   "and %.3g (v), more than the %.3g allowed",
                   s->start.projection.q, s->start.projection.v, limit);
}

/* Projects what was given, in s->now.q and s->now.v. */
static ga_status project(ga_stepper *s, const double *q0, const double *v0, ga_report *report)
{
    ga_state *now = &s->now;
    GA_TRY(find_rank(s, now->t, now->q, now->v, report));
    if (s->m) GA_TRY(assemble(s, q0, report));
    if (s->m) GA_TRY(remove_turns(s, q0, report));
    if (memcmp(now->q, q0, (size_t)s->nq * sizeof *q0)) {
        GA_TRY(find_rank(s, now->t, now->q, now->v, report));
        ga_nodes_difference(s->dae.sys.node_count, s->dae.sys.nodes, q0, now->q, s->work.one);
        s->start.projection.q = ga_norm_max(s->nv, s->work.one);
    }
    ga_status status = project_velocity(s, now->t, now->q, now->v);
    if (status == GA_ERR_INCONSISTENT)
        return inconsistent(s, now->t, "velocity", s->mp, s->work.c, report);
    if (status != GA_OK) return explain(s, status, now->t, report);
    for (int i = 0; i < s->nv; ++i) s->work.one[i] = now->v[i] - v0[i];
    s->start.projection.v = ga_norm_max(s->nv, s->work.one);
    return check_projection(s, report);
}

/* F = f - G^T (lambda, psi) at the start, for weighted formulations. */
static ga_status start_force(ga_stepper *s)
{
    ga_state *now = &s->now;
    ga_dae *dae = &s->dae;
    ga_point at = ga_dae_point(dae, now->t, now->q, now->v, s->work.zero, now->lambda);
    GA_TRY(ga_dae_gradient(dae, now->t, now->q, now->v, s->trial.G));
    memset(s->at.M, 0, (size_t)dae->M.count * sizeof *s->at.M);
    GA_TRY(ga_dae_dynamics(dae, &at, s->at.M, s->trial.G, now->F));
    for (int i = 0; i < s->nv; ++i) now->F[i] = -now->F[i];
    return GA_OK;
}

static ga_status start(ga_stepper *s, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    ga_state *now = &s->now;
    memset(now->memory, 0, now->memory_size * sizeof *now->memory);
    now->t = now->t_old = t0;
    now->h = 0;
    now->t_begin = -INFINITY;
    now->steps = 0;
    memcpy(now->q, q0, (size_t)s->nq * sizeof *q0);
    memcpy(now->v, v0, (size_t)s->nv * sizeof *v0);
    if (guess) memcpy(now->lambda, guess, (size_t)s->mp * sizeof *guess);
    s->start.projection = (ga_projection){0, 0};
    ga_regular_reset(s, t0);
    if (s->mp) GA_TRY(project(s, q0, v0, report));
    memcpy(now->v_exact, now->v, (size_t)s->nv * sizeof *v0);
    ga_status status = ga_saddle_acceleration(s, t0, now->q, now->v, now->vd, now->lambda);
    if (status == GA_ERR_NO_CONVERGE && contradiction(s, s->work.c) >= 0)
        return inconsistent(s, t0, "acceleration", s->mp, s->work.c, report);
    if (status == GA_OK) status = ga_dae_gradient(&s->dae, t0, now->q, now->v, s->trial.G);
    if (status == GA_OK) ga_pool_copy(s->pool, now->G, s->trial.G, s->dae.G.count);
    if (status == GA_OK && s->form->weighted) status = start_force(s);
    return explain(s, status, t0, report);
}

/* One factorisation serves for all that is done at the same position. */
ga_status ga_start_consistent(ga_stepper *s, double t0, const double *q0, const double *v0,
                              const double *guess, ga_report *report)
{
    s->start.saddle.here = false;
    ga_status status = start(s, t0, q0, v0, guess, report);
    s->start.saddle.here = false;
    return status;
}

ga_status ga_start_place(ga_stepper *s, double t, double *q, const double *v)
{
    if (!s->m) return GA_OK;
    s->start.saddle.here = false;
    ga_status status = find_rank(s, t, q, v, NULL);
    if (status == GA_OK) status = project_position(s, t, q, v, NULL);
    s->start.saddle.here = false;
    return status;
}

ga_status ga_start_steer(ga_stepper *s, double t, const double *q, double *v)
{
    if (!s->mp) return GA_OK;
    s->start.saddle.here = false;
    ga_status status = find_rank(s, t, q, v, NULL);
    if (status == GA_OK) status = project_velocity(s, t, q, v);
    s->start.saddle.here = false;
    return status;
}

ga_status ga_start_again(ga_stepper *s, double t, const double *q, const double *v,
                         ga_report *report)
{
    const ga_projection projection = s->start.projection;
    const double max_projection = s->def.max_projection;
    memmove(s->trial.q, q, (size_t)s->nq * sizeof *q);
    memmove(s->trial.v, v, (size_t)s->nv * sizeof *v);
    memcpy(s->trial.l_tilde, s->now.lambda, (size_t)s->mp * sizeof *s->trial.l_tilde);
    s->def.max_projection = INFINITY; /* a limit for what the user starts from */
    ga_status status =
        ga_start_consistent(s, t, s->trial.q, s->trial.v, s->trial.l_tilde, report);
    s->def.max_projection = max_projection;
    s->start.projection = projection;
    s->now.t_begin = t;
    return status;
}

/* --- v'' and the perturbation of v ------------------------------------------------------- */

/* v' at t + ds on the Taylor path through (q, v, vd, vdd); vdd may be null. */
static ga_status acceleration_beside(ga_stepper *s, double ds, const double *v,
                                     const double *vd, const double *vdd, double *result)
{
    const ga_state *now = &s->now;
    double *step = s->work.step;
    for (int i = 0; i < s->nv; ++i) {
        double third = vdd ? vdd[i] : 0;
        step[i] = ds * (v[i] + 0.5 * ds * (vd[i] + ds / 3 * third));
        s->work.v[i] = v[i] + ds * (vd[i] + 0.5 * ds * third);
    }
    ga_dae_update(&s->dae, GA_MAP_EXP, now->q, step, s->work.q);
    memcpy(s->work.guess, now->lambda, (size_t)s->mp * sizeof *s->work.guess);
    return ga_saddle_acceleration(s, now->t + ds, s->work.q, s->work.v, result, s->work.guess);
}

/* v'' for steps of size h into vdd. Where the motion cannot be followed that far, forwards or
 * backwards in time (a force defined for t >= t_0 only), the forward difference is taken. */
static ga_status second_derivative(ga_stepper *s, double h, const double *v, const double *vd,
                                   double *vdd)
{
    double *ahead = s->work.vd[0], *behind = s->work.vd[1];
    bool central = s->now.t - h >= s->now.t_begin; /* not back across a jump */
    if (central && s->def.start_difference == GA_DIFFERENCE_CENTRAL) {
        ga_status status = acceleration_beside(s, h, v, vd, NULL, ahead);
        if (status == GA_OK) status = acceleration_beside(s, -h, v, vd, NULL, behind);
        if (status == GA_OK) {
            for (int i = 0; i < s->nv; ++i) vdd[i] = (ahead[i] - behind[i]) / (2 * h);
            return GA_OK;
        }
        if (status == GA_ERR_CALLBACK || status == GA_ERR_MEMORY) return status;
    }
    double ds = 0.01 * h;
    GA_TRY(acceleration_beside(s, ds, v, vd, NULL, ahead));
    for (int i = 0; i < s->nv; ++i) vdd[i] = (ahead[i] - vd[i]) / ds;
    return GA_OK;
}

/* v += the smallest change in the mass metric with B dv = B l^q/h and N dv = 0, [ABC14]
 * eq. (56). k = 0 holds at every step, so nothing is to be made up for there. */
static ga_status perturb(ga_stepper *s, double h, const double *vd, const double *vdd,
                         double *v)
{
    const ga_dae *dae = &s->dae;
    const ga_coefficients *method = &s->def.coefficients;
    double *l = s->work.step, *bottom = s->work.c; /* l^q/h */
    ga_nodes_bracket(dae->sys.node_count, dae->sys.nodes, v, vd, l);
    for (int i = 0; GA_FAULT(bracket) && i < s->nv; ++i) l[i] = -l[i];
    for (int i = 0; i < s->nv; ++i)
        l[i] = h * h / 6 *
               ((1 - 6 * method->beta - 3 * s->properties.shift) * vdd[i] + 0.5 * l[i]);
    if (s->def.map == GA_MAP_CAYLEY) ga_dae_add_cayley_defect(dae, h * h, v, l);
    GA_TRY(ga_saddle_factor_at(s, s->now.t, s->now.q, v, false));
    memset(bottom, 0, (size_t)s->mp * sizeof *bottom);
    ga_coords_multiply(&dae->B, s->start.saddle.G, 1, l, bottom);
    ga_saddle_lift(s, bottom, l);
    for (int i = 0; i < s->nv; ++i) v[i] += l[i];
    return GA_OK;
}

/* --- what a step begins with ------------------------------------------------------------- */

ga_status ga_start_values(ga_stepper *s, double h, double *a, double *v)
{
    const ga_state *now = &s->now;
    memcpy(v, now->v_exact, (size_t)s->nv * sizeof *v);
    memcpy(a, now->vd, (size_t)s->nv * sizeof *a);
    if (s->def.start == GA_START_PLAIN || s->def.start == GA_START_IMPLICIT) return GA_OK;
    GA_TRY(second_derivative(s, h, v, now->vd, s->work.vdd));
    for (int i = 0; i < s->nv; ++i) a[i] += s->properties.shift * h * s->work.vdd[i];
    if (s->def.start != GA_START_PERTURBED || !s->m) return GA_OK;
    return perturb(s, h, now->vd, s->work.vdd, v);
}

ga_status ga_start_derivatives(ga_stepper *s, double ds, double *vdd, double *vddd)
{
    const ga_state *now = &s->now;
    double *one = s->work.vd[0], *two = s->work.vd[1];
    /* the first pass lacks v'' on the path, which costs an order; the second has it */
    for (int pass = 0; pass < 2; ++pass) {
        const double *path = pass ? vdd : NULL;
        GA_TRY(acceleration_beside(s, ds, now->v_exact, now->vd, path, one));
        GA_TRY(acceleration_beside(s, 2 * ds, now->v_exact, now->vd, path, two));
        for (int i = 0; i < s->nv; ++i) {
            double vd = now->vd[i];
            vdd[i] = (4 * (one[i] - vd) - (two[i] - vd)) / (2 * ds);
            vddd[i] = ((two[i] - one[i]) - (one[i] - vd)) / (ds * ds);
        }
    }
    return GA_OK;
}

ga_status ga_start_refined(ga_stepper *s, double h, const double *vdd, const double *vddd)
{
    ga_state *now = &s->now;
    const double shift = s->properties.shift, am = s->def.coefficients.alpha_m;
    for (int i = 0; i < s->nv; ++i) {
        now->a[i] = now->vd[i] + shift * h * (vdd[i] + (am - 0.5) * h * vddd[i]);
        /* what v' was a step ago, had there been one */
        now->vd_old[0][i] = now->vd[i] - h * (vdd[i] - 0.5 * h * vddd[i]);
    }
    now->h = h;
    memcpy(now->v, now->v_exact, (size_t)s->nv * sizeof *now->v);
    if (s->form->velocity_level || !s->m) return GA_OK;
    return perturb(s, h, now->vd, vdd, now->v);
}

/* Small corrections of q with one factorisation, until they are at round-off. False: too slow,
 * or not to be trusted. */
static bool slide_position(ga_stepper *s)
{
    enum { MOST = 4 };
    double before = INFINITY, *bottom = s->work.c, *step = s->work.step;
    for (int iteration = 0; iteration < MOST; ++iteration) {
        if (ga_dae_constraint(&s->dae, s->step.t1, s->trial.q, s->at.Phi) != GA_OK)
            return false;
        for (int i = 0; i < s->m; ++i) bottom[i] = -s->at.Phi[i];
        ga_saddle_lift(s, bottom, step);
        const double change = ga_norm_max(s->nv, step);
        if (change <= round_off * ga_larger(ga_norm_max(s->nq, s->trial.q), DBL_MIN))
            return true;
        if (!(change <= 0.01 * before)) return false;
        before = change;
        ga_dae_update(&s->dae, GA_MAP_EXP, s->trial.q, step, s->trial.q);
    }
    return false;
}

/* The same for v; leaves B in s->trial.G. */
static bool slide_velocity(ga_stepper *s)
{
    enum { MOST = 4 };
    double before = INFINITY, *w = s->work.c, *step = s->work.step;
    if (ga_dae_gradient(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.G) != GA_OK)
        return false;
    for (int iteration = 0; iteration < MOST; ++iteration) {
        if (ga_dae_velocity(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.G, w) !=
            GA_OK)
            return false;
        for (int i = 0; i < s->mp; ++i) w[i] = -w[i];
        ga_saddle_lift(s, w, step);
        const double change = ga_norm_max(s->nv, step);
        const bool done = change <= round_off * ga_norm_max(s->nv, s->trial.v);
        if (!done && !(change <= 0.01 * before)) return false;
        before = change;
        for (int i = 0; i < s->nv; ++i) s->trial.v[i] += step[i];
        if (done) return true;
    }
    return false;
}

/* Both at once with the matrix of the step just made, if it has rows for both levels:
 * dq = c_q T u, dv = c_v (u + B_n^T x). Leaves Phi and w as they were before the last
 * correction, which is at round-off. */
bool ga_start_slide_back(ga_stepper *s)
{
    enum { MOST = 6 };
    ga_dae *dae = &s->dae;
    double *step = s->work.step, *dvd = s->work.one, *w = s->newton.r + s->nv,
           before = INFINITY;
    if (!s->form->has_eta || !s->jacobian.usable) return false;
    s->at.is_end = false;
    for (int iteration = 0; iteration < MOST; ++iteration) {
        const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
        const ga_values values = {.G = s->trial.G, .Phi = s->at.Phi, .w = s->at.rate};
        if (ga_dae_evaluate(dae, &at, &values) != GA_OK) return false;
        memcpy(s->at.w, s->at.rate, (size_t)s->mp * sizeof *s->at.w);
        ga_coords_multiply(&dae->B, s->trial.G, 1, s->trial.v, s->at.w);
        memset(s->newton.r, 0, (size_t)s->nv * sizeof *s->newton.r);
        for (int i = 0; i < s->mp; ++i) w[i] = s->at.w[i] / s->step.c_v;
        for (int i = 0; i < s->m; ++i)
            s->newton.r[s->terms.place[GA_AT_ETA] + i] = s->at.Phi[i] / s->step.c_q;
        ga_block_solve_once(s, s->newton.r, s->newton.x);
        memset(step, 0, (size_t)s->nv * sizeof *step);
        if (s->tangent.flat)
            for (int i = 0; i < s->nv; ++i) step[i] = -s->step.c_q * s->newton.x[i];
        else
            ga_coords_multiply(&dae->T, s->tangent.T, -s->step.c_q, s->newton.x, step);
        memcpy(dvd, s->newton.x, (size_t)s->nv * sizeof *dvd);
        ga_coords_multiply_transposed(&dae->B, s->tangent.B_eta, 1, s->newton.x + s->nv + s->mp,
                                      dvd);
        const double q = ga_larger(ga_norm_max(s->nq, s->trial.q), DBL_MIN);
        const double v = ga_larger(ga_norm_max(s->nv, s->trial.v), DBL_MIN);
        const double change =
            ga_larger(ga_norm_max(s->nv, step) / q, s->step.c_v * ga_norm_max(s->nv, dvd) / v);
        bool done = change <= round_off * ga_larger(1, 0.25 * sqrt(s->n));
        /* no more progress: where v is small, the round-off of Phi, by h */
        const bool stalls = !(change <= 0.25 * before);
        done |= stalls && ga_step_is_at_round_off(s, ga_norm_max(s->m, s->at.Phi),
                                                  ga_norm_max(s->mp, s->at.w));
        if (!done && stalls) return false;
        before = change;
        for (int i = 0; i < s->nv; ++i) s->trial.v[i] -= s->step.c_v * dvd[i];
        if (done) return true;
        ga_dae_update(dae, GA_MAP_EXP, s->trial.q, step, s->trial.q);
    }
    return false;
}

/* What is to be corrected is an estimate of the error, so one factorisation serves for all of
 * it. */
static bool slide(ga_stepper *s)
{
    if (ga_saddle_factor_at(s, s->step.t1, s->trial.q, s->trial.v, false) != GA_OK)
        return false;
    return slide_position(s) && slide_velocity(s);
}

ga_status ga_start_project(ga_stepper *s)
{
    if (!s->mp || ga_start_slide_back(s)) return GA_OK;
    if (s->p || s->regular.active || !slide(s)) {
        if (s->m) GA_TRY(project_position(s, s->step.t1, s->trial.q, s->trial.v, NULL));
        GA_TRY(project_velocity(s, s->step.t1, s->trial.q, s->trial.v));
    }
    GA_TRY(ga_dae_constraint(&s->dae, s->step.t1, s->trial.q, s->at.Phi));
    GA_TRY(ga_dae_gradient(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.G));
    return ga_dae_velocity(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.G, s->at.w);
}

/* The residual B v_n + Phi_t = B l^q/h_n of index 3 for a new step size: projected away and
 * computed anew from v''. */
static ga_status reset_velocity(ga_stepper *s, double h, double *v)
{
    const ga_state *now = &s->now;
    double *vd = s->work.vd_hat, *guess = s->work.guess;
    GA_TRY(project_velocity(s, now->t, now->q, v));
    memcpy(guess, now->lambda, (size_t)s->mp * sizeof *guess);
    GA_TRY(ga_saddle_acceleration(s, now->t, now->q, v, vd, guess));
    GA_TRY(second_derivative(s, h, v, vd, s->work.vdd));
    return perturb(s, h, vd, s->work.vdd, v);
}

/* The same residual, scaled with the square of the step sizes: one solve, no new forces. */
static ga_status rescale_velocity(ga_stepper *s, double h, double *v)
{
    const ga_state *now = &s->now;
    double *w = s->work.c, ratio = h / now->h;
    GA_TRY(ga_saddle_factor_at(s, now->t, now->q, v, false));
    GA_TRY(ga_dae_velocity(&s->dae, now->t, now->q, v, s->start.saddle.G, w));
    for (int i = 0; i < s->m; ++i) w[i] *= ratio * ratio - 1;
    for (int i = s->m; i < s->mp; ++i) w[i] = 0;
    ga_saddle_lift(s, w, s->work.step);
    for (int i = 0; i < s->nv; ++i) v[i] += s->work.step[i];
    return GA_OK;
}

/* [JN08] eqs. (14a) and (14b) for a and M a. In index 3 the velocity has to follow, or lambda
 * suffers a first-order error at every change. */
ga_status ga_start_change(ga_stepper *s, double h, double *a, double *v)
{
    const ga_state *now = &s->now;
    ga_step_change change = s->def.step_change;
    if (change == GA_CHANGE_AUTO)
        change = s->form->velocity_level || !s->m ? GA_CHANGE_ADJUST
                 : ga_regular_weakens(s)          ? GA_CHANGE_RESCALE
                                                  : GA_CHANGE_RESET;
    const bool keep = change == GA_CHANGE_NONE || GA_FAULT(adjustment);
    const double shift = keep ? 0 : s->properties.shift;
    const double weight = shift * (h / now->h - 1);
    for (int i = 0; i < s->nv; ++i) a[i] = now->a[i] + weight * (now->a[i] - now->a_used[i]);
    for (int i = 0; s->form->weighted && i < s->nv; ++i)
        s->known.Ma[i] = now->Ma[i] + weight * (now->Ma[i] - now->Ma_used[i]);
    memcpy(v, now->v, (size_t)s->nv * sizeof *v);
    if (!s->m || s->form->velocity_level) return GA_OK;
    if (change == GA_CHANGE_RESET) return reset_velocity(s, h, v);
    return change == GA_CHANGE_RESCALE ? rescale_velocity(s, h, v) : GA_OK;
}
