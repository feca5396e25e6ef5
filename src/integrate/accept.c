/* May the converged trial become the state? It must be a root that has something to do with the
 * motion, and satisfy the constraints; then the histories move on by one step. */
#include "base/extremes.h"
#include "base/finite.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <math.h>

/* --- roots that are none of the motion ---------------------------------------------------- */

/* An angle is known up to full turns: a step that turns a node by more than one beyond what is
 * expected has found another root. In rad, a little more than 2 pi. */
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
 * size            sizes of translations and rotations (policy.scale), and the largest |q_n|
 * deviation       the smaller of those from h v_n and from h v_n + h^2/2 v'_n
 * h |v_n|         a step may double the way that is expected of it, or stay where it is
 * h^2 |v'_n|      oscillations that are not resolved go that way and back; left out without a
 *                 velocity level (index 3, HHT-I3), where v' may be noise
 * 0.1 max(...)    forces may set in during a step
 *
 * and turn nothing by more than LARGEST_TURN beyond what is expected. A step with |U| <= 0.1 is
 * never rejected. */
static bool runs_away(const ga_stepper *s, const ga_scales *before)
{
    const ga_state *now = &s->now;
    const double gone = ga_norm_max(s->dae.nm, s->at.U);
    if (gone <= 0.1) return false; /* too small to be another root */
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

bool ga_step_is_astray(const ga_stepper *s, const ga_scales *before)
{
    return runs_away(s, before) || turns_unaccounted(s);
}

/* --- residuals ---------------------------------------------------------------------------- */

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
    ga_step_complete(s);
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

/* --- the state -------------------------------------------------------------------------- */

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
