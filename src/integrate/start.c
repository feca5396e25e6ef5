/* Starting: from consistent values (consistent.c) to the values a and v that a
 * generalized-alpha step expects.
 *
 * a_n stands for v'(t_n + Delta_alpha h), so [ABC14] (57) a_0 = v' + Delta_alpha h v''. In
 * index 3 the exact v_0 is not on the discrete solution: there B v_n + Phi_t = B l^q/h_n with
 * the local error
 *
 *     l^q = h^3/6 ( (1 - 6 beta - 3 Delta_alpha) v'' + 1/2 [v, v'] )     [ABC14] eq. (17)
 *           + h^3 c(v)                                                  Cayley map only
 *
 * (c cubic, ga_lie_cayley_defect), and starting elsewhere makes lambda oscillate with O(h).
 * (56) puts v_0 there. The same holds after a change of the step size; see ga_start_change.
 *
 * With error control, and where starts look forward in time, ga_start_refined adds the next
 * term of the Taylor series: one order better than (57).
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
#include <string.h>

/* Increments below this, relative to the size of the values, are round-off. */
static const double round_off = 32 * DBL_EPSILON;

/* --- consistent values ------------------------------------------------------------------- */

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

ga_status ga_start_consistent(ga_stepper *s, double t0, const double *q0, const double *v0,
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
    ga_status status = ga_consistent_start(&s->start, t0, now->q, now->v, s->def.max_projection,
                                           now->vd, now->lambda, report);
    ga_regular_reset(s, t0);
    GA_TRY(status);
    memcpy(now->v_exact, now->v, (size_t)s->nv * sizeof *v0);
    status = ga_dae_gradient(&s->dae, t0, now->q, now->v, s->trial.G);
    if (status == GA_OK) ga_pool_copy(s->pool, now->G, s->trial.G, s->dae.G.count);
    if (status == GA_OK && s->form->weighted) status = start_force(s);
    if (status != GA_OK) ga_dae_explain(&s->dae, t0, report);
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
    s->def.max_projection = INFINITY; /* it limits what users start from, not restarts */
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
    return ga_consistent_acceleration(&s->start, now->t + ds, s->work.q, s->work.v, result,
                                      s->work.guess);
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
    double *l = s->work.step; /* l^q/h */
    double *rhs = s->work.c;
    ga_nodes_bracket(dae->sys.node_count, dae->sys.nodes, v, vd, l);
    for (int i = 0; GA_FAULT(bracket) && i < s->nv; ++i) l[i] = -l[i];
    for (int i = 0; i < s->nv; ++i)
        l[i] = h * h / 6 *
               ((1 - 6 * method->beta - 3 * s->properties.shift) * vdd[i] + 0.5 * l[i]);
    if (s->def.map == GA_MAP_CAYLEY) ga_dae_add_cayley_defect(dae, h * h, v, l);
    GA_TRY(ga_consistent_factor(&s->start, s->now.t, s->now.q, v, GA_SADDLE_ALL));
    memset(rhs, 0, (size_t)s->mp * sizeof *rhs);
    ga_coords_multiply(&dae->B, s->start.saddle.G, 1, l, rhs);
    ga_consistent_lift(&s->start, rhs, l);
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
    for (int i = 0; i < s->nv; ++i)
        a[i] += s->properties.shift * h * s->work.vdd[i]; /* [ABC14] (57) */
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

/* The correction of both levels with the matrix of the step just made, if it has rows for both.
 * step = -c_q T u is to be added to q, c_v dvd = c_v (u + B_n^T x) subtracted from v. Returns
 * its size relative to q and v; NaN if it is not finite. */
static double correction(ga_stepper *s, double *step, double *dvd)
{
    const ga_dae *dae = &s->dae;
    double *w = s->newton.r + s->nv, *Phi = s->newton.r + s->terms.place[GA_AT_ETA];
    const size_t size = (size_t)s->nv * sizeof *step;
    memset(s->newton.r, 0, size);
    for (int i = 0; i < s->mp; ++i) w[i] = s->at.w[i] / s->step.c_v;
    for (int i = 0; i < s->m; ++i) Phi[i] = s->at.Phi[i] / s->step.c_q;
    ga_cache_solve(s, s->newton.r, s->newton.x);
    memset(step, 0, size);
    if (s->tangent.flat)
        for (int i = 0; i < s->nv; ++i) step[i] = -s->step.c_q * s->newton.x[i];
    else
        ga_coords_multiply(&dae->T, s->tangent.T, -s->step.c_q, s->newton.x, step);
    memcpy(dvd, s->newton.x, size);
    ga_coords_multiply_transposed(&dae->B, s->tangent.B_eta, 1, s->newton.x + s->nv + s->mp,
                                  dvd);
    const double of_q = ga_norm_max(dae->nm, step), of_v = ga_norm_max(dae->nm, dvd);
    const double q = ga_larger(ga_norm_max(s->nq, s->trial.q), DBL_MIN);
    const double v = ga_larger(ga_norm_max(dae->nm, s->trial.v), DBL_MIN);
    if (!isfinite(of_q + of_v)) return NAN;
    return ga_larger(of_q / q, s->step.c_v * of_v / v);
}

/* Phi and w at the trial, with G. */
static ga_status measure_levels(ga_stepper *s)
{
    ga_dae *dae = &s->dae;
    const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
    const ga_values values = {.G = s->trial.G, .Phi = s->at.Phi, .w = s->at.rate};
    GA_TRY(ga_dae_fill(dae, &at, &values));
    memcpy(s->at.w, s->at.rate, (size_t)s->mp * sizeof *s->at.w);
    ga_coords_multiply(&dae->B, s->trial.G, 1, s->trial.v, s->at.w);
    return GA_OK;
}

/* Ends where corrections are at round-off, or where the next one would be by the rate at which
 * they contract and w shows no more than the last digit of v. Leaves G, Phi and w where q ends,
 * or before a last correction of that size. */
bool ga_start_project_in_step(ga_stepper *s)
{
    enum { MOST = 6 };
    const double speed = s->policy.scale.v[0] + s->policy.scale.v[1];
    double *step = s->work.step, *dvd = s->work.one, before = INFINITY, next = INFINITY;
    if (!s->form->has_eta || !ga_cache_has(s, GA_VALID_FACTORS)) return false;
    for (int iteration = 0; iteration < MOST; ++iteration) {
        if (measure_levels(s) != GA_OK) return false;
        const double Phi = ga_norm_max(s->m, s->at.Phi), w = ga_norm_max(s->mp, s->at.w);
        const bool arrived = ga_step_is_at_round_off(s, Phi, w);
        if (arrived && next <= round_off && w <= DBL_EPSILON * speed) return true;
        const double change = correction(s, step, dvd);
        /* stalled: where v is small, the floor is the round-off of Phi divided by h */
        const bool stalls = !(change <= 0.25 * before);
        const bool done = change <= round_off || (stalls && arrived);
        if (isnan(change) || (stalls && !done)) return false;
        if (before < INFINITY) next = change / before * change;
        before = change;
        for (int i = 0; i < s->nv; ++i) s->trial.v[i] -= s->step.c_v * dvd[i];
        if (done) return true;
        ga_dae_update(&s->dae, GA_MAP_EXP, s->trial.q, step, s->trial.q);
    }
    return false;
}

ga_status ga_start_project(ga_stepper *s)
{
    if (!s->mp || ga_start_project_in_step(s)) return GA_OK;
    const double t = s->step.t1;
    if (!ga_consistent_correct(&s->start, t, s->trial.q, s->trial.v,
                               GA_POSITION_LEVEL | GA_VELOCITY_LEVEL)) {
        if (s->m) GA_TRY(ga_consistent_move_position(&s->start, t, s->trial.q, s->trial.v));
        GA_TRY(ga_consistent_move_velocity(&s->start, t, s->trial.q, s->trial.v));
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
    GA_TRY(ga_consistent_move_velocity(&s->start, now->t, now->q, v));
    memcpy(guess, now->lambda, (size_t)s->mp * sizeof *guess);
    GA_TRY(ga_consistent_acceleration(&s->start, now->t, now->q, v, vd, guess));
    GA_TRY(second_derivative(s, h, v, vd, s->work.vdd));
    return perturb(s, h, vd, s->work.vdd, v);
}

/* The same residual, scaled with the square of the step sizes: one solve, no new forces. */
static ga_status rescale_velocity(ga_stepper *s, double h, double *v)
{
    const ga_state *now = &s->now;
    double *w = s->work.c, ratio = h / now->h;
    GA_TRY(ga_consistent_factor(&s->start, now->t, now->q, v, GA_SADDLE_ALL));
    GA_TRY(ga_dae_velocity(&s->dae, now->t, now->q, v, s->start.saddle.G, w));
    for (int i = 0; i < s->m; ++i) w[i] *= ratio * ratio - 1;
    for (int i = s->m; i < s->mp; ++i) w[i] = 0;
    ga_consistent_lift(&s->start, w, s->work.step);
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
    for (int i = 0; i < s->nv; ++i)
        a[i] = now->a[i] + weight * (now->a[i] - now->a_used[i]); /* [JN08] (14a) */
    for (int i = 0; s->form->weighted && i < s->nv; ++i)
        s->known.Ma[i] = now->Ma[i] + weight * (now->Ma[i] - now->Ma_used[i]); /* (14b) */
    memcpy(v, now->v, (size_t)s->nv * sizeof *v);
    if (!s->m || s->form->velocity_level) return GA_OK;
    if (change == GA_CHANGE_RESET) return reset_velocity(s, h, v);
    return change == GA_CHANGE_RESCALE ? rescale_velocity(s, h, v) : GA_OK;
}
