/* One step t_n -> t_n + h, [ABC14] eqs. (9) and (58), solved by Newton's method (newton.c). The
 * update formulas (9a)-(9d) and (58a) are in collocated.c, those of [JN08] (13) in weighted.c.
 * Start values (57) and those after a change of the step, [JN08] (14), are in start.c; the
 * matrix of [DYM] (24) is in terms.c, its scaling in cache.c.
 *
 * If Newton's method fails, the step is repeated once with new tangents in every iteration. If
 * that fails too, or if the step ran away or leaves residuals, the caller shortens it: grid.c
 * with fixed steps, control.c with error control.
 */
#include "base/extremes.h"
#include "base/finite.h"
#include "base/report.h"
#include "integrate/onestep.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* --- acceptance --------------------------------------------------------------------------- */

/* Everything that follows from the unknowns. */
static void complete_trial(ga_stepper *s)
{
    s->form->evaluate(s);
    s->form->finish(s);
}

/* Overflow that no callback has seen; that of v' and a shows in v. */
static bool finite_trial(const ga_stepper *s)
{
    return ga_pool_finite(s->pool, s->nq, s->trial.q) &&
           ga_pool_finite(s->pool, s->nv, s->trial.v) &&
           ga_pool_finite(s->pool, s->mp, s->trial.lambda);
}

/* Phi and w of the converged trial, and their largest; w only where it is enforced. */
static ga_status measure_residuals(ga_stepper *s, double *position, double *velocity)
{
    const bool both = s->form->velocity_level;
    const bool rate = ga_stepper_has_rate(s) && (both || s->p);
    const ga_values values = {
        .G = both ? s->trial.G : NULL, .Phi = s->at.Phi, .w = rate ? s->at.rate : NULL};
    const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
    GA_TRY(ga_dae_fill(&s->dae, &at, &values));
    *position = ga_norm_max(s->m, s->at.Phi);
    if (both)
        ga_block_velocity(s, s->at.w);
    else
        GA_TRY(ga_block_nonholonomic(s, s->trial.v, s->at.w));
    *velocity = ga_norm_max(both ? s->mp : s->p, s->at.w);
    /* what is not finite in B shows in w; gradients of nonholonomic constraints do not */
    if (s->p || !isfinite(*position + *velocity)) GA_TRY(ga_dae_check_values(&s->dae, &values));
    return GA_OK;
}

/* Largest coordinate of a translation where the step begins and ends, and a radian.
 * Predictions, which s->policy.scale knows as well, may be far away from both. */
static double extent(const ga_stepper *s)
{
    return 1 + ga_larger(ga_dae_translation(&s->dae, s->now.q),
                         ga_dae_translation(&s->dae, s->trial.q));
}

/* Increments vanish also where dependent constraints contradict each other, and may be small by
 * accident, far from a solution. */
static ga_status check_residuals(ga_stepper *s, double position, double velocity)
{
    const double speed = s->policy.scale.v[0] + s->policy.scale.v[1];
    const double relative = ga_larger(1e-9, s->def.relative);
    if (position <= relative && velocity <= relative * speed)
        return GA_OK; /* as extent() >= 1 */
    const double size = extent(s);
    const double most = relative * size + s->def.absolute_q;
    const double most_w = relative * (speed + size / s->step.h) + s->def.absolute_v;
    const int first = s->form->velocity_level ? 0 : s->m; /* of the rows in w */
    if (position <= most && velocity <= most_w) return GA_OK;
    const double *length = ga_redundancy_lengths(&s->start.redundancy, s->trial.G);
    for (int i = 0; i < s->mp; ++i) {
        bool bad = i < s->m && !(fabs(s->at.Phi[i]) <= most * ga_larger(1, sqrt(length[i])));
        if (i >= first)
            bad |= !(fabs(s->at.w[i - first]) <= most_w * ga_larger(1, sqrt(length[i])));
        if (!bad) continue;
        s->newton.unmet = i;
        return s->start.redundancy.active ? GA_ERR_INCONSISTENT : GA_ERR_NO_CONVERGE;
    }
    return GA_OK;
}

/* What round-off may leave of Phi and w, in its own units. Iterations to round-off leave up to
 * 16 and 1.4 of them in the examples (index 2, SOI2); what is found to be more costs a step
 * with error control one more iteration. */
static const double POSITION_UNITS = 256, VELOCITY_UNITS = 8192;

bool ga_step_is_at_round_off(const ga_stepper *s, double position, double velocity)
{
    const double size = s->policy.scale.q[0] + s->policy.scale.q[1],
                 speed = s->policy.scale.v[0] + s->policy.scale.v[1];
    return position <= POSITION_UNITS * GA_ROUND_OFF * size &&
           velocity <= (VELOCITY_UNITS * GA_ROUND_OFF + s->dae.noise) * (size + speed);
}

/* With error control Newton's method ends where the rest does not matter for the estimate of
 * the error. Constraints must still be at round-off; if they are not, the tangents were too old
 * for some direction. */
static bool is_above_round_off(const ga_stepper *s, double position, double velocity)
{
    if (!s->mode.estimates || s->form->weighted || s->start.redundancy.active ||
        s->step.kappa != 0)
        return false;
    return !ga_step_is_at_round_off(s, position, velocity);
}

/* One more iteration, with new tangents. */
static ga_status polish(ga_stepper *s)
{
    GA_TRY(ga_cache_evaluate(s, GA_WANTED_RESIDUAL | GA_WANTED_TANGENTS));
    GA_TRY(ga_cache_tangents(s));
    GA_TRY(ga_cache_factor_and_watch(s));
    GA_TRY(s->form->residual(s));
    s->form->correct(s);
    ++s->stats.evaluations;
    ++s->stats.iterations;
    complete_trial(s);
    s->policy.age = 1;
    return GA_OK;
}

/* Residuals of the converged trial, polished where they need it and checked. */
static ga_status settle_residuals(ga_stepper *s)
{
    double position, velocity;
    if (s->mode.projects) { /* after a projection, at.Phi and at.w are of its last evaluation */
        position = ga_norm_max(s->m, s->at.Phi);
        velocity = ga_norm_max(s->mp, s->at.w);
    } else {
        GA_TRY(measure_residuals(s, &position, &velocity));
        if (is_above_round_off(s, position, velocity)) {
            GA_TRY(polish(s));
            GA_TRY(measure_residuals(s, &position, &velocity));
        }
    }
    GA_TRY(check_residuals(s, position, velocity));
    s->stats.position_residual_max = ga_larger(s->stats.position_residual_max, position);
    s->stats.velocity_residual_max = ga_larger(s->stats.velocity_residual_max, velocity);
    return GA_OK;
}

static void copy(const ga_stepper *s, double *to, const double *from, int n)
{
    ga_pool_copy(s->pool, to, from, n);
}

/* The current values become the old ones. */
static void shift_history(const ga_stepper *s, double *was, double *is, const double *next,
                          int n)
{
    copy(s, was, is, n);
    copy(s, is, next, n);
}

ga_status ga_step_accept(ga_stepper *s)
{
    ga_state *now = &s->now;
    if (!finite_trial(s)) return GA_ERR_NO_CONVERGE;
    GA_TRY(settle_residuals(s));
    ga_regular_accept(s);
    if (s->form->has_eta || s->mode.estimates) copy(s, now->G, s->trial.G, s->dae.G.count);
    copy(s, now->vd_old[1], now->vd_old[0], s->nv);
    copy(s, now->lambda_old[1], now->lambda_old[0], s->mp);
    shift_history(s, now->vd_old[0], now->vd, s->trial.vd, s->nv);
    shift_history(s, now->v_old, now->v, s->trial.v, s->nv);
    copy(s, now->a_used, s->known.a, s->nv);
    copy(s, now->a, s->trial.a, s->nv);
    shift_history(s, now->lambda_old[0], now->lambda, s->trial.lambda, s->mp);
    shift_history(s, now->q_old, now->q, s->trial.q, s->nq);
    if (s->form->has_eta) copy(s, now->eta, s->trial.eta, s->m);
    if (s->form->weighted) {
        copy(s, now->Ma_used, s->known.Ma, s->nv);
        copy(s, now->Ma, s->at.Ma, s->nv);
        copy(s, now->F, s->at.F, s->nv);
        copy(s, now->a_tilde, s->trial.a_tilde, s->nv);
        copy(s, now->l_tilde, s->trial.l_tilde, s->mp);
    }
    now->h_old = now->h;
    now->h = s->step.h;
    now->t_old = now->t;
    now->t = s->step.t1;
    ++now->steps;
    ++s->stats.steps;
    return GA_OK;
}

/* --- preparation -------------------------------------------------------------------------- */

/* a_n and v_n are those of the state. */
static void keep_known(ga_stepper *s)
{
    const ga_state *now = &s->now;
    ga_pool_copy(s->pool, s->known.a, now->a, s->nv);
    ga_pool_copy(s->pool, s->known.v, now->v, s->nv);
    if (s->form->weighted) ga_pool_copy(s->pool, s->known.Ma, now->Ma, s->nv);
}

ga_status ga_step_linearise(ga_stepper *s, double h)
{
    const ga_state *now = &s->now;
    keep_known(s);
    s->step.h = h;
    s->step.t1 = now->t;
    ga_cache_forget(s);
    GA_TRY(s->form->begin(s));
    copy(s, s->trial.q, now->q, s->nq);
    copy(s, s->trial.v, now->v, s->nv);
    copy(s, s->trial.vd, now->vd, s->nv);
    copy(s, s->trial.lambda, now->lambda, s->mp);
    memset(s->at.U, 0, (size_t)s->nv * sizeof *s->at.U);
    GA_TRY(ga_cache_evaluate(s, GA_WANTED_TANGENTS));
    GA_TRY(ga_cache_tangents(s));
    return ga_cache_check_tangents(s);
}

/* Errors other than lack of memory are ignored here: they recur in the first step and are
 * reported there. */
ga_status ga_step_warm(ga_stepper *s)
{
    if (s->jacobian.backend != GA_BACKEND_KLU)
        return GA_OK; /* all they need is there from the start */
    ga_statistics stats = s->stats;
    ga_status status = ga_step_linearise(s, s->now.h);
    if (status == GA_OK) status = ga_cache_factor(s);
    s->stats = stats;
    ga_cache_forget(s);
    return status == GA_ERR_MEMORY ? status : GA_OK;
}

/* --- one attempt -------------------------------------------------------------------------- */

/* v_n and a_n for a step of size h; that of the last step, but for round-off, needs no change.
 */
static ga_status set_known(ga_stepper *s, double h)
{
    if (fabs(h - s->now.h) <= 1e-12 * fabs(s->now.h)) {
        keep_known(s);
        return GA_OK;
    }
    return (s->now.steps ? ga_start_change : ga_start_values)(s, h, s->known.a, s->known.v);
}

/* Tangents serve `lifetime` steps, then they are renewed before a step begins. The lifetime
 * becomes the age at which tangents proved slow in the middle of a step, and grows a little
 * otherwise; where they prove slow at the age of one, old ones are tried less and less often. A
 * lifetime between one and two counts as one, or every other step would begin with old tangents
 * and renew them on the way. */
static void learn_lifetime(ga_stepper *s, bool began_fresh)
{
    ga_policy *p = &s->policy;
    if (began_fresh) {
        p->age = 1;
        p->lifetime *= 1 + p->growth;
    } else if (ga_cache_has(s, GA_VALID_FRESH)) {
        p->lifetime = ga_larger(1, p->age);
        if (p->age <= 1) p->growth = ga_larger(0.5 * p->growth, 0.1 / 8);
        p->age = 1;
    } else {
        ++p->age;
        p->growth = 0.1;
    }
}

/* An angle is known up to full turns: a step that turns a node by more than one beyond what is
 * expected has found another root. */
static const double LARGEST_TURN = 6.3;

/* Largest deviation of the step from h v_n, or from h v_n + h^2/2 v'_n, by kind. */
static void deviation(const ga_stepper *s, bool with_acceleration, double largest[2])
{
    const double h = s->step.h, half = with_acceleration ? 0.5 : 0;
    largest[0] = largest[1] = 0;
    for (int i = 0; i < s->dae.nm; ++i) {
        const double x = s->at.U[i] - h * (s->known.v[i] + half * h * s->now.vd[i]);
        double *most = &largest[s->dae.kind[i]];
        *most = ga_larger(*most, fabs(x));
    }
}

/* Newton's method may find a root that has nothing to do with the motion: far away, or the
 * mirror image in a constraint. So a step must satisfy
 *
 *     deviation <= h (|v_n| + h |v'_n|) + 0.1 max(size, 1)
 *
 * size            largest coordinate so far
 * deviation       the smaller of those from h v_n and from h v_n + h^2/2 v'_n
 * h |v_n|         a step may double the way that is expected of it, or stay where it is
 * h^2 |v'_n|      oscillations that are not resolved go that way and back; left out without a
 *                 velocity level (index 3, HHT-I3), where v' may be noise
 * 0.1 max(...)    forces may set in during a step
 *
 * and turn nothing by more than LARGEST_TURN beyond what is expected. */
static bool runs_away(const ga_stepper *s, const ga_scales *before)
{
    const ga_state *now = &s->now;
    const double gone = ga_norm_max(s->dae.nm, s->at.U);
    if (gone <= 0.1) return false; /* in any case */
    const double size = before->q[0] + before->q[1] + ga_norm_max(s->nq, now->q);
    const bool noisy = s->m && !s->form->velocity_level;
    const double velocity_change = noisy ? 0 : s->step.h * ga_norm_max(s->dae.nm, now->vd);
    const double expected = s->step.h * (ga_norm_max(s->dae.nm, s->known.v) + velocity_change);
    const double most = expected + 0.1 * ga_larger(size, 1);
    double plain[2], curved[2];
    deviation(s, false, plain);
    deviation(s, true, curved);
    return ga_smaller(plain[0], curved[0]) > most ||
           ga_smaller(plain[1], curved[1]) > ga_smaller(most, LARGEST_TURN);
}

/* Positions that differ by a full turn are the same, so Newton's method may find a root with
 * turns that no velocity accounts for. Those who count turns, dense output among them, go by
 * the mean of the velocities; of two bodies that are each off by a quarter of a turn at most,
 * the angle between them is off by less than half a turn, and the count is right. */
static bool turns_unaccounted(const ga_stepper *s)
{
    const double quarter = 1.5707963267948966;
    if (s->def.map != GA_MAP_EXP) return false; /* less than a turn in any case */
    for (int i = 0; i < s->dae.nm; ++i)
        if (s->dae.kind[i] &&
            !(fabs(s->at.U[i] - 0.5 * s->step.h * (s->known.v[i] + s->trial.v[i])) <= quarter))
            return true;
    return false;
}

/* Old tangents that contract with this rate spoil estimates of errors, which are responses of
 * the linearised step. */
static const double ESTIMATE_RATE = 0.04;

/* One step of size h to t1, with old tangents if they serve, else with new ones. */
ga_status ga_step_try(ga_stepper *s, double h, double t1)
{
    s->step.h = h;
    s->step.t1 = t1;
    s->newton.near_singular = s->regular.seen = false;
    s->newton.unmet = -1;
    ga_status status = set_known(s, h);
    if (status == GA_ERR_SINGULAR) s->jacobian.singular = s->start.saddle.singular;
    GA_TRY(status);
    GA_TRY(s->form->begin(s));
    const ga_scales before =
        s->policy.scale; /* a trial gone astray must not loosen the tolerances */
    const bool spoils =
        s->mode.estimates &&
        s->policy.newton.motion_rate_per_step * (s->policy.age + 1) > ESTIMATE_RATE;
    const bool old = s->policy.age >= floor(s->policy.lifetime);
    ga_renewing renewing = s->def.newton == GA_NEWTON_FULL || s->mode.steady ? GA_RENEW_ALWAYS
                           : !ga_cache_has(s, GA_VALID_FACTORS) || spoils || old
                               ? GA_RENEW_AT_FIRST
                               : GA_RENEW_WHEN_SLOW;
    status = ga_newton_iterate(s, renewing);
    if (status != GA_OK && ga_step_may_retry(status) && renewing != GA_RENEW_ALWAYS) {
        renewing = GA_RENEW_ALWAYS;
        s->policy.scale = before;
        status = ga_newton_iterate(s, renewing);
    }
    if (status == GA_OK && (runs_away(s, &before) || turns_unaccounted(s)))
        status = GA_ERR_NO_CONVERGE;
    if (status == GA_OK) {
        learn_lifetime(s, renewing != GA_RENEW_WHEN_SLOW);
        ga_newton_fade(&s->policy.newton, ga_cache_has(s, GA_VALID_FRESH));
        s->newton.near_singular = ga_regular_near(s);
        ga_regular_minimise(s, s->dae.sys.force_uses_multipliers);
        complete_trial(s);
    } else {
        ga_cache_forget(s);
        s->policy.scale = before;
    }
    return status;
}

/* --- messages ----------------------------------------------------------------------------- */

static const char *unknown_kind(const ga_stepper *s, int column, int *index)
{
    const int nm = s->dae.nm;
    *index = column < nm      ? column
             : column < s->nv ? column - nm
                              : (column - s->nv) % (s->mp ? s->mp : 1);
    return column < nm              ? "coordinate"
           : column < s->nv         ? "state"
           : column < s->nv + s->mp ? "multiplier"
                                    : "eta";
}

bool ga_step_explain(const ga_stepper *s, ga_status status, ga_report *report)
{
    int index = 0;
    if (status == GA_ERR_NO_CONVERGE && s->newton.unmet >= 0) {
        ga_fail(report, status,
                "Newton converged to a state that violates constraint %d, in the step from t = "
                "%.9g with h = %.3g, after %d iterations",
                s->newton.unmet, s->now.t, s->step.h, s->newton.iteration);
        if (report) {
            report->iteration = s->newton.iteration;
            report->row = s->nv + s->newton.unmet;
        }
    } else if (status == GA_ERR_NO_CONVERGE) {
        ga_fail(report, status,
                "Newton did not converge in the step from t = %.9g with h = %.3g: after %d "
                "iterations the increments are %.2g (q), %.2g (v), %.2g (lambda) times their "
                "tolerances",
                s->now.t, s->step.h, s->newton.iteration, s->newton.norm_q, s->newton.norm_v,
                s->newton.norm_lambda);
        if (report) {
            report->norm_q = s->newton.norm_q;
            report->norm_v = s->newton.norm_v;
            report->norm_lambda = s->newton.norm_lambda;
            report->iteration = s->newton.iteration;
            for (int i = 1; i < s->n; ++i)
                if (!(fabs(s->newton.x[i]) <= fabs(s->newton.x[index]))) index = i;
            report->row = index;
        }
    } else if (status == GA_ERR_SINGULAR) {
        const char *kind = unknown_kind(s, s->jacobian.singular, &index);
        ga_fail(
            report, status,
            "the iteration matrix is singular in the step from t = %.9g with h = %.3g, near "
            "%s %d",
            s->now.t, s->step.h, kind, index);
        if (report) report->column = s->jacobian.singular;
    } else {
        return false;
    }
    return true;
}
