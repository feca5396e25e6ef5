/* Newton's method for one step: its tolerances, and the sizes of its increments. The iteration
 * itself is in step.c, the rule that ends it in verdict.c.
 *
 * Stopping. With the contraction rate th measured in this attempt, what is left after an
 * increment d is about th/(1-th) |d|; verdict.h has the rule. q, v and lambda have their own
 * tolerances, in their own units, whatever the scaling of the linear system. A tolerance below
 * round-off is raised to it (floor_of_q, floor_of_v): 4 eps times the sizes, more for positions
 * far from the origin, and for v in index 3 also c_v/c_q times that of q. The level that
 * increments actually reach is measured (verdict.h). An attempt whose increments of q and v
 * have arrived there has converged even if lambda still changes: in index 3 the round-off of
 * Phi enters lambda magnified by 1/h^2. */
#include "base/extremes.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <string.h>

double ga_newton_raise(const ga_stepper *s, const double *x, double factor, double size[2])
{
    return ga_norm_raise(s->dae.nm, x, s->dae.kind, factor, size);
}

/* Largest change of a state in units of its own; x has nv numbers. NaN if one is. */
static double largest_state(const ga_stepper *s, const double *x)
{
    double largest = 0;
    for (int i = 0; i < s->dae.nx; ++i) {
        const double part = fabs(x[s->dae.nm + i]) / s->newton.unit[i];
        if (!(part <= largest)) largest = part;
    }
    return largest;
}

/* Of multipliers that are not unique only the reactions they stand for count. */
static double multiplier_size(ga_stepper *s, const double *G, const double *l)
{
    return s->regular.eps > 0 ? ga_regular_reaction(s, G, l) : ga_norm_max(s->mp, l);
}

void ga_newton_measure(ga_stepper *s, const double *u, const double *dvd, const double *l)
{
    s->newton.increment_q = u;
    s->newton.increment_v = dvd;
    double q[2] = {0, 0}, v[2] = {0, 0};
    double zero = ga_newton_raise(s, u, 1, q); /* or NaN */
    if (dvd != u) zero += ga_newton_raise(s, dvd, 1, v);
    for (int k = 0; k < 2; ++k) {
        s->newton.delta_q[k] = s->step.c_q * q[k] + zero;
        s->newton.delta_v[k] = s->step.c_v * (dvd != u ? v[k] : q[k]);
    }
    s->newton.delta_q[GA_STATES] = 0;
    s->newton.delta_v[GA_STATES] = s->step.c_v * largest_state(s, dvd);
    s->newton.delta_lambda = multiplier_size(s, s->tangent.G, l);
}

/* Sizes that tolerances are relative to, by kind. q: of translations (with all of R^n) the
 * largest met since the start, at least that of U; of rotations 1, or |U| of this attempt if it
 * is larger. v: the largest |v| and h |v'| since the start. */
void ga_newton_measure_scales(ga_stepper *s)
{
    s->policy.scale.q[0] =
        ga_larger(s->policy.scale.q[0], ga_dae_translation(&s->dae, s->trial.q));
    s->policy.scale.q[1] = 1;
    ga_newton_raise(s, s->at.U, 1, s->policy.scale.q);
    ga_newton_raise(s, s->trial.v, 1, s->policy.scale.v);
    ga_newton_raise(s, s->trial.vd, s->step.h, s->policy.scale.v);
    ga_dae_observe_states(&s->dae, s->now.v);
    s->policy.scale.lambda =
        ga_larger(s->policy.scale.lambda, multiplier_size(s, s->trial.G, s->trial.lambda));
}

/* Increments that round-off may explain, in units of it. */
static const double LARGEST_ROUND_OFF = 1e3;

/* Near a singular position the round-off of Phi is divided by the square root of the smallest
 * eigenvalue in q, and by the eigenvalue itself in v. The larger factor, for eigenvalues below
 * WEAK, is allowed for both. */
static const double WEAK = 1e-2;

static double largest_round_off(const ga_stepper *s)
{
    return LARGEST_ROUND_OFF * ga_larger(1, WEAK / s->regular.least);
}

/* Has the user asked for tolerances of increments? */
static bool newton_is_asked(const ga_stepper *s)
{
    const ga_integrator_def *def = &s->def;
    return def->relative > 0 || def->absolute_q > 0 || def->absolute_v > 0 ||
           def->absolute_lambda > 0;
}

/* What the user has asked for, or else what the control of errors requires. */
static double newton_relative(const ga_stepper *s)
{
    return newton_is_asked(s) ? s->def.relative : s->mode.enough;
}

/* A thousand times round-off: a smaller tolerance means that iterations go to round-off. */
static const double LEAST_TOLERANCE = 1e-12;

bool ga_newton_is_tolerant(const ga_stepper *s) { return newton_relative(s) > LEAST_TOLERANCE; }

/* Does v inherit the round-off of q, by the factor c_v/c_q? Also where two systems are solved
 * in turn and forces depend on the multipliers of the first: what these make of round-off is
 * left to the next iteration. */
static bool v_inherits_round_off_of_q(const ga_stepper *s)
{
    const bool in_turn = s->form->second_system && s->dae.sys.force_uses_multipliers;
    return s->m && (!s->form->velocity_level || in_turn);
}

/* Positions far from the origin have more round-off. Constraints with short arms pass it on to
 * rotations, in radians, and to velocities: by this factor. */
static double remoteness(const ga_stepper *s)
{
    return s->tangent.arm > 0 ? ga_larger(1, s->policy.scale.q[0] / s->tangent.arm) : 1;
}

/* Round-off of q by kind; of rotations in units of `remote` radians. */
static double floor_of_q(const ga_stepper *s, int kind, double remote)
{
    const double own = GA_ROUND_OFF * s->policy.scale.q[kind];
    return kind == 1 ? ga_larger(own, GA_ROUND_OFF * remote) : own;
}

/* Where velocities of one kind, translation or rotation, are at most this many times the
 * round-off that the other kind makes at the arms of the constraints, that round-off is their
 * floor: as of the rotations of a chain in free fall. */
static const double NOISE_OF_OTHERS = 64;

static double floor_through_others(const ga_stepper *s, int kind)
{
    const double arm = s->tangent.arm;
    if (!(arm > 0)) return 0;
    const double other = kind == 1 ? s->policy.scale.v[0] / arm : s->policy.scale.v[1] * arm;
    const double floor = GA_ROUND_OFF * other;
    return s->policy.scale.v[kind] <= NOISE_OF_OTHERS * floor ? floor : 0;
}

/* Round-off of v by kind: its own, and that through q. */
static double floor_of_v(const ga_stepper *s, int kind, double remote, double *through_q)
{
    const double floor_q = floor_of_q(s, kind, remote);
    /* of a coordinate at rest: a speed that moves q by its round-off in 1/eps steps */
    const double rest = GA_ROUND_OFF * floor_q / s->step.h;
    double own = ga_larger(GA_ROUND_OFF * remote * s->policy.scale.v[kind], rest);
    own = ga_larger(own, floor_through_others(s, kind));
    if (s->form->velocity_level && s->dae.noise > 0) /* w itself is not known better */
        own += s->dae.noise * (s->policy.scale.v[0] + s->policy.scale.v[1] + 1);
    *through_q = v_inherits_round_off_of_q(s) ? floor_q * s->step.c_v / s->step.c_q : 0;
    return own;
}

/* The unit of a state is its largest value so far, the trial's included. It is raised where the
 * round-off of what its rate depends on makes more of an error than that of the state itself.
 */
static void find_units(ga_stepper *s)
{
    const ga_dae *dae = &s->dae;
    const ga_increment_limits *l = &s->newton.limits;
    double *unit = s->newton.unit, *own = s->work.one;
    if (!dae->nx) return;
    for (int i = 0; i < dae->nx; ++i) {
        const double value = fabs(s->trial.v[dae->nm + i]),
                     change = s->step.h * fabs(s->trial.vd[dae->nm + i]);
        const double size = ga_larger(ga_larger(value, change), dae->state_size[i]);
        own[i] = GA_ROUND_OFF * size;
    }
    const ga_influence round_off = {.q = {l->floor_q[0], l->floor_q[1]},
                                    .v = {l->floor_v[0], l->floor_v[1]},
                                    .x = own,
                                    .multipliers = l->noise * s->tangent.typical_reaction};
    const ga_tangents at = {s->tangent.K, s->tangent.C, s->tangent.L, s->tangent.Z};
    ga_dae_state_changes(dae, s->tangent.M, &at, s->step.c_v, &round_off, unit);
    for (int i = 0; i < dae->nx; ++i)
        unit[i] = ga_larger(ga_larger(own[i], unit[i]) / GA_ROUND_OFF, DBL_MIN);
}

/* What increments are compared with, by kind: the same in all iterations of an attempt. In
 * index 3 the round-off of q takes part in that of v; where round-off is the goal, the
 * tolerance of v omits this part, since only what is normal to the constraints suffers from it.
 * Likewise where positions are far from the origin. */
void ga_newton_find_limits(ga_stepper *s)
{
    ga_increment_limits *l = &s->newton.limits;
    const ga_integrator_def *def = &s->def;
    const double relative = newton_relative(s);
    const double relative_lambda = newton_is_asked(s) ? relative : s->mode.enough_lambda;
    const double level = ga_newton_is_tolerant(s) ? s->policy.newton.round_off : 1;
    const double remote = remoteness(s);
    l->noise = 0;
    for (int k = 0; k < 2; ++k) {
        double through_q, through_remote;
        const double floor_q = floor_of_q(s, k, 1);
        const double floor_v = floor_of_v(s, k, 1, &through_q);
        const double remote_v = floor_of_v(s, k, remote, &through_remote) + through_remote;
        const double own_v = ga_newton_is_tolerant(s) ? floor_v + through_q : floor_v;
        const double q = def->absolute_q + relative * s->policy.scale.q[k];
        const double v = def->absolute_v + relative * s->policy.scale.v[k];
        l->floor_q[k] = ga_larger(floor_of_q(s, k, remote), DBL_MIN);
        l->floor_v[k] = ga_larger(remote_v, DBL_MIN);
        l->q[k] = ga_larger(ga_larger(q, level * floor_q), DBL_MIN);
        l->v[k] = ga_larger(ga_larger(v, level * own_v), DBL_MIN);
        l->noise = ga_larger(l->noise, remote_v / s->step.c_v);
    }
    find_units(s);
    l->q[GA_STATES] = l->floor_q[GA_STATES] = 1; /* there is none */
    l->floor_v[GA_STATES] = GA_ROUND_OFF;
    l->v[GA_STATES] = ga_larger(relative, level * GA_ROUND_OFF);
    l->lambda = def->absolute_lambda + relative_lambda * s->policy.scale.lambda;
    l->lambda = ga_larger(l->lambda, GA_ROUND_OFF * s->policy.scale.lambda);
    l->lambda = ga_larger(l->lambda, DBL_MIN);
    l->part_q = l->part_v = 0;
    for (int k = 0; k < GA_INCREMENTS; ++k) {
        l->part_q = ga_larger(l->part_q, l->floor_q[k] / l->q[k]);
        l->part_v = ga_larger(l->part_v, l->floor_v[k] / l->v[k]);
    }
}

/* Number of kinds to compare; states only where there are any. */
static int kinds(const ga_stepper *s) { return s->dae.nx ? GA_INCREMENTS : GA_STATES; }

/* Of the changes of lambda that round-off was seen to make, this part may be left. */
static const double NOISE_LEFT = 0.01;

/* Is the increment near round-off? Sizes below 1 count as 1: constants in Phi are rounded, too.
 */
static bool is_near_round_off(const ga_stepper *s)
{
    const ga_increment_limits *l = &s->newton.limits;
    const double least_v = v_inherits_round_off_of_q(s)
                               ? GA_ROUND_OFF * (s->step.c_v / s->step.c_q)
                               : GA_ROUND_OFF;
    const double most = largest_round_off(s);
    for (int k = 0; k < GA_INCREMENTS; ++k)
        if (s->newton.delta_q[k] > most * ga_larger(l->floor_q[k], GA_ROUND_OFF) ||
            s->newton.delta_v[k] > most * ga_larger(l->floor_v[k], least_v))
            return false;
    return true;
}

/* Part of the round-off of v: increments below it take ten steps to add up to one unit. */
static const double NEGLIGIBLE = 0.1;

/* Will the next increment of v, at the present rate, be below NEGLIGIBLE times its round-off,
 * that of remote positions included? */
static bool next_is_negligible(const ga_stepper *s)
{
    const double own_unit =
        NEGLIGIBLE * DBL_EPSILON * s->policy.newton.round_off * remoteness(s);
    const double noise = s->dae.noise * (s->policy.scale.v[0] + s->policy.scale.v[1] + 1);
    for (int k = 0; k < kinds(s); ++k) {
        const double v = s->newton.delta_v[k], next = v > 0 ? v * v / s->newton.last_v[k] : 0;
        const double size = k == GA_STATES ? 1 : s->policy.scale.v[k];
        if (!(next <= own_unit * size + noise)) return false;
    }
    return true;
}

/* The last increment, by tolerances and by round-off. */
static ga_increment weigh(const ga_stepper *s)
{
    const ga_increment_limits *l = &s->newton.limits;
    const double level = s->policy.newton.round_off;
    const double lambda_noise = level * l->noise * s->tangent.typical_reaction;
    double lambda = ga_larger(l->lambda, NOISE_LEFT * s->policy.newton.lambda_noise);
    if (ga_newton_is_tolerant(s)) lambda = ga_larger(lambda, lambda_noise);
    ga_increment now = {
        .iteration = s->newton.iteration,
        .fresh = ga_cache_has(s, GA_VALID_FRESH),
        .age = ga_cache_has(s, GA_VALID_FRESH) ? 0 : s->policy.age,
        .norm[GA_MULTIPLIERS] = s->newton.delta_lambda / lambda,
        .noise = {level * l->part_q, level * l->part_v, lambda_noise / lambda},
        .lambda = s->newton.delta_lambda,
        .near_round_off = is_near_round_off(s),
        .lambda_is_noise =
            s->newton.delta_lambda <= ga_larger(lambda_noise, s->policy.newton.lambda_noise),
        .next_is_negligible = s->newton.iteration > 1 && next_is_negligible(s),
    };
    for (int k = 0; k < kinds(s); ++k) {
        const double q = s->newton.delta_q[k], v = s->newton.delta_v[k];
        now.norm[GA_POSITION] = ga_larger(now.norm[GA_POSITION], q / l->q[k]);
        now.norm[GA_VELOCITY] = ga_larger(now.norm[GA_VELOCITY], v / l->v[k]);
        now.units[GA_POSITION] = ga_larger(now.units[GA_POSITION], q / l->floor_q[k]);
        now.units[GA_VELOCITY] = ga_larger(now.units[GA_VELOCITY], v / l->floor_v[k]);
    }
    return now;
}

/* Constraints are to be within so many units of round-off, whatever the tolerance, unless q is
 * projected afterwards. */
static const double CONSTRAINT_UNITS = 16;

static double strictness(const ga_stepper *s)
{
    if (!s->mode.estimates || s->mode.projects) return 1;
    return ga_larger(1, newton_relative(s) / (CONSTRAINT_UNITS * GA_ROUND_OFF));
}

/* Of two systems solved in turn the second changes what the first has solved; increments show
 * that one iteration later. The contraction rate is taken to be no smaller than this. */
static const double RATE_IN_TURN = 0.05;

static ga_newton_goal goal_of(const ga_stepper *s)
{
    const bool two_systems = s->form->second_system;
    return (ga_newton_goal){
        .round_off = !ga_newton_is_tolerant(s),
        .estimates = s->mode.estimates,
        .may_foresee = ga_newton_is_tolerant(s) && !newton_is_asked(s) && !two_systems,
        .strictness = strictness(s),
        .hidden_rate = two_systems ? RATE_IN_TURN : 0,
    };
}

void ga_newton_begin(ga_stepper *s) { s->newton.progress = (ga_progress){0}; }

ga_newton_decision ga_newton_judge(ga_stepper *s)
{
    ga_newton_attempt *x = &s->newton;
    if (!isfinite(x->delta_q[0] + x->delta_q[1] + x->delta_v[0] + x->delta_v[1] +
                  x->delta_v[GA_STATES] + x->delta_lambda))
        return GA_GIVE_UP;
    const ga_newton_goal goal = goal_of(s);
    const ga_increment now = weigh(s);
    x->norm_q = now.norm[GA_POSITION];
    x->norm_v = now.norm[GA_VELOCITY];
    x->norm_lambda = now.norm[GA_MULTIPLIERS];
    const ga_newton_decision verdict =
        ga_newton_verdict(&goal, &s->policy.newton, &x->progress, &now);
    ga_newton_learn(&goal, &x->progress, &now, &s->policy.newton);
    ga_newton_follow(&s->policy.newton, &now, &x->progress);
    memcpy(x->last_v, x->delta_v, sizeof x->last_v);
    return verdict;
}

void ga_newton_set(ga_stepper *s, double enough, double enough_lambda)
{
    if (s->mode.enough == enough && s->mode.enough_lambda == enough_lambda) return;
    s->mode.enough = enough;
    s->mode.enough_lambda = enough_lambda;
    ga_newton_forget_increments(&s->policy.newton);
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

bool ga_newton_explain(const ga_stepper *s, ga_status status, ga_report *report)
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
