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
#include "base/extremes.h"
#include "base/finite.h"
#include "base/report.h"
#include "integrate/stepper.h"
#include "la/fours.h"

#include <float.h>
#include <math.h>
#include <string.h>

KERNEL void copy_four(int i, const int count, const double *from, double *to)
{
    quad x;
    load_some(&x, from + i, count);
    store_some(to + i, &x, count);
}

/* Few numbers without a call. */
static void copy(double *to, const double *from, int n)
{
    enum { FEW = 32 };
    if (n > FEW)
        memcpy(to, from, (size_t)n * sizeof *to);
    else
        IN_FOURS(0, n, copy_four, from, to);
}

/* --- the pieces of an attempt, in the order they are called ----------------------------- */

static double largest_by_kind(const ga_stepper *s, const double *x, double factor, double *size)
{
    if (s->turns) return ga_norm_raise_few(s->nv, x, s->turns, factor, size);
    return s->kinds_repeat ? ga_norm_raise_repeating(s->nv, x, s->kind, factor, size)
                           : ga_norm_raise(s->nv, x, s->kind, factor, size);
}

/* Of multipliers that are not unique only the reactions they stand for count. */
static double multiplier_size(ga_stepper *s, const double *G, const double *l)
{
    return s->regular.eps > 0 ? ga_regular_reaction(s, G, l) : ga_norm_max(s->mp, l);
}

void ga_step_measure(ga_stepper *s, const double *u, const double *dvd, const double *l)
{
    double q[2] = {0, 0}, v[2] = {0, 0};
    double zero = largest_by_kind(s, u, 1, q); /* or NaN */
    if (dvd != u) zero += largest_by_kind(s, dvd, 1, v);
    for (int k = 0; k < 2; ++k) {
        s->delta_q[k] = s->c_q * q[k] + zero;
        s->delta_v[k] = s->c_v * (dvd != u ? v[k] : q[k]);
    }
    s->delta_lambda = multiplier_size(s, s->G_tangent, l);
}

/* Sizes that tolerances are relative to: the largest components met since the start, of
 * translations (with all of R^n) and of rotations. */
static void measure_scales(ga_stepper *s)
{
    s->scale.q[0] = ga_larger(s->scale.q[0], ga_dae_translation(&s->dae, s->q));
    s->scale.q[1] = 1;
    largest_by_kind(s, s->U, 1, s->scale.q);
    largest_by_kind(s, s->v, 1, s->scale.v);
    largest_by_kind(s, s->vd, s->h, s->scale.v);
    s->scale.lambda = ga_larger(s->scale.lambda, multiplier_size(s, s->G, s->lambda));
}

static double weighted(double increment, double tolerance)
{
    return increment == 0 ? 0 : increment / tolerance;
}

/* Large systems have more round-off than 4 eps. An iteration with fresh tangents that makes no
 * progress twice, with increments below this many units, is at its end; the level is remembered
 * for the steps to come, and forgotten slowly. */
static double worst_round_off(const ga_stepper *s) { return 1e3 * ga_larger(1, 0.02 * s->n); }

/* Near a singular position the round-off of Phi is divided by the square root of the smallest
 * eigenvalue in q, and by the eigenvalue in v. */
static double magnified_round_off(const ga_stepper *s)
{
    return worst_round_off(s) * ga_larger(1, 1e-2 / s->regular.least);
}

typedef enum ga_verdict { GOES_ON, CONVERGED, SLOW, DIVERGES } ga_verdict;

enum { POSITION, VELOCITY, MULTIPLIERS, KINDS };

/* What was seen of the iteration is forgotten slowly, by this factor in a step. */
static const double FADE = 0.97;

/* What the iteration remembers from one increment to the next. */
typedef struct ga_progress {
    double norm[KINDS];
    double delta_v[2];
    int settled; /* how often q and v have been at round-off */
    int stalled; /* how often there was no progress near it */
    bool fresh;  /* were the tangents new? */
} ga_progress;

/* What an increment looks like against round-off. */
typedef struct ga_size {
    double norm[KINDS];
    double noise[KINDS]; /* where it is remembered: round-off, in the units of norm */
    double units;        /* largest of q and v, in units of round-off */
    bool multipliers;    /* no more than what the round-off of q and v makes of them */
} ga_size;

/* What the user has asked for, or else what the control of errors thinks is enough. */
static double newton_relative(const ga_stepper *s)
{
    const ga_integrator_def *def = &s->def;
    const bool asked = def->relative > 0 || def->absolute_q > 0 || def->absolute_v > 0 ||
                       def->absolute_lambda > 0;
    return asked ? def->relative : s->enough;
}

/* Is Newton's method asked to go on to round-off? */
static bool to_round_off(const ga_stepper *s)
{
    return newton_relative(s) == 0 && s->def.absolute_q == 0 && s->def.absolute_v == 0;
}

/* Is it asked for clearly less? */
bool ga_step_is_tolerant(const ga_stepper *s) { return newton_relative(s) > 1e-12; }

/* Large systems have much round-off, and new tangents in the middle of a step cost most. */
static bool is_large(const ga_stepper *s) { return s->n > 500; }

static const double EPS = 4 * DBL_EPSILON;

/* Does v hang on Phi through q? */
static bool hangs_on_q(const ga_stepper *s) { return s->m && !s->form->velocity_level; }

/* Round-off of v by kind: its own, and that through q. */
static double floor_of_v(const ga_stepper *s, int kind, double *through_q)
{
    double own = EPS * s->scale.v[kind];
    if (s->form->velocity_level && s->dae.noise > 0) /* w itself is not known better */
        own += s->dae.noise * (s->scale.v[0] + s->scale.v[1] + 1);
    *through_q = hangs_on_q(s) ? EPS * s->scale.q[kind] * s->c_v / s->c_q : 0;
    return own;
}

/* In one instruction; y if one of them is NaN. */
static double most(double x, double y) { return x > y ? x : y; }
static double least(double x, double y) { return x < y ? x : y; }

static void find_limits(const ga_stepper *s, ga_limits *l)
{
    const ga_integrator_def *def = &s->def;
    const double relative = newton_relative(s);
    const double relative_lambda = relative == s->enough ? s->enough_lambda : relative;
    l->tolerant = ga_step_is_tolerant(s);
    l->noise = l->noise_q = l->noise_v = 0;
    /* round-off adds up like a random walk; where it is not asked for, or adds up to much, it
     * is not tried */
    l->level = l->tolerant || is_large(s) ? ga_larger(1, 0.25 * sqrt(s->n)) : 0;
    for (int k = 0; k < 2; ++k) {
        double through_q;
        const double floor_q = EPS * s->scale.q[k], floor_v = floor_of_v(s, k, &through_q);
        const double q = def->absolute_q + relative * s->scale.q[k];
        const double v = def->absolute_v + relative * s->scale.v[k];
        l->floor_q[k] = floor_q;
        l->floor_v[k] = floor_v + through_q;
        l->q[k] = most(most(q, l->level * floor_q), floor_q);
        l->v[k] = most(most(v, l->level * l->floor_v[k]), floor_v);
        l->noise = most(l->noise, l->floor_v[k]);
        if (!l->tolerant) continue;
        l->noise_q = most(l->noise_q, weighted(l->level * floor_q, l->q[k]));
        l->noise_v = most(l->noise_v, weighted(l->level * l->floor_v[k], l->v[k]));
    }
    l->noise /= s->c_v;
    l->lambda = def->absolute_lambda + relative_lambda * s->scale.lambda;
    l->floor_lambda = EPS * s->scale.lambda;
}

/* They change little from step to step: only with sizes, tolerances and steps. */
static void renew_limits(ga_stepper *s)
{
    const ga_limits_key key = {s->scale, s->c_q, s->c_v, s->enough, s->enough_lambda};
    if (memcmp(&key, &s->limits_key, sizeof key) == 0) return;
    find_limits(s, &s->limits);
    s->limits_key = key;
}

/* Increments by tolerances. Round-off in units of which they are told is of interest only where
 * it is what the iteration goes on to. */
static ga_size measure(ga_stepper *s, const ga_limits *l)
{
    ga_size size = {{0}, {0}, 0, false};
    const double noise_lambda = l->level * l->noise * s->typical_reaction;
    const double lambda = ga_larger(ga_larger(l->lambda, noise_lambda), l->floor_lambda);
    double norm_q = 0, norm_v = 0, units = 0;
    for (int k = 0; k < 2; ++k) {
        const double delta_q = s->delta_q[k], delta_v = s->delta_v[k];
        const double part = weighted(delta_q, l->q[k]);
        norm_q = most(norm_q, part);
        norm_v = most(norm_v, weighted(delta_v, l->v[k]));
        if (l->tolerant) continue;
        units = most(units, l->q[k] == l->floor_q[k] ? part : weighted(delta_q, l->floor_q[k]));
        units = most(units, weighted(delta_v, l->floor_v[k]));
    }
    if (l->tolerant && s->iteration > 1) {
        size.noise[POSITION] = l->noise_q;
        size.noise[VELOCITY] = l->noise_v;
        size.noise[MULTIPLIERS] = weighted(noise_lambda, lambda);
    }
    s->norm_q = size.norm[POSITION] = norm_q;
    s->norm_v = size.norm[VELOCITY] = norm_v;
    s->norm_lambda = size.norm[MULTIPLIERS] = weighted(s->delta_lambda, lambda);
    s->units = size.units = units;
    size.multipliers = s->delta_lambda <= s->round_off * l->noise * s->typical_reaction;
    return size;
}

/* Is the increment near round-off, for sizes of at least 1: constants in Phi have it, too? */
static bool is_near_round_off(const ga_stepper *s, const ga_limits *l)
{
    const double least_v = hangs_on_q(s) ? EPS * (s->c_v / s->c_q) : EPS;
    double coarse = 0;
    for (int k = 0; k < 2; ++k) {
        coarse = ga_larger(coarse, s->delta_q[k] / ga_larger(l->floor_q[k], EPS));
        coarse = ga_larger(coarse, s->delta_v[k] / ga_larger(l->floor_v[k], least_v));
    }
    return coarse <= magnified_round_off(s);
}

/* Will another increment of v be far below the round-off of v itself, so that many steps do not
 * add up to more? The round-off of q, which may be much larger, concerns only what is normal to
 * the constraints in index 3. */
static bool is_quiet(const ga_stepper *s, const ga_progress *before)
{
    for (int k = 0; k < 2; ++k) {
        double next =
            s->delta_v[k] > 0 ? s->delta_v[k] * s->delta_v[k] / before->delta_v[k] : 0;
        double noise = s->dae.noise * (s->scale.v[0] + s->scale.v[1] + 1);
        if (!(next <= 0.1 * DBL_EPSILON * s->scale.v[k] + noise)) return false;
    }
    return true;
}

enum { UNSEEN = 8 }; /* for so many steps wear is remembered */

/* Largest increment of q and v, in units of their tolerances. */
static double motion_of(const double *norm) { return most(norm[POSITION], norm[VELOCITY]); }

/* Old tangents lose in proportion to it; those whose gradients are new wherever they have
 * changed are always as good. */
static double age_of(const ga_stepper *s) { return s->fresh ? 0 : s->partly ? 1 : s->served; }

/* What the next increment is in proportion to: new tangents leave the square of this one, old
 * ones what they have lost. Multipliers enter through forces, which are linear in them. */
static double in_proportion_to(const ga_stepper *s, int kind, const double *norm)
{
    const double motion = motion_of(norm);
    const double size = kind == MULTIPLIERS ? most(motion, norm[MULTIPLIERS]) : motion;
    return size * (s->fresh ? motion : age_of(s));
}

/* Of the tangents: old, new, or new in part. */
static int state_of(const ga_stepper *s) { return s->fresh ? 1 : s->partly ? 2 : 0; }

/* What the next increment will be, from the first or the second one, as seen in steps before.
 */
static double foresee(const ga_stepper *s, int kind, const double *norm)
{
    if (s->iteration > 2) return INFINITY;
    const ga_memory *m = &s->memory[s->iteration - 1][state_of(s)];
    if (m->good_for == 0) return INFINITY;
    double next = 4 * m->rate[kind] * in_proportion_to(s, kind, norm);
    /* constraints are to be at round-off, whatever the tolerance, unless q slides back to them
     */
    if (kind == POSITION && s->estimates && !s->slides)
        next *= ga_larger(1, newton_relative(s) / (16 * EPS));
    return next;
}

/* Remembers how the second or third increment came out of the one before. What may be noise is
 * no reason to think worse of the next one than before. */
static void remember(ga_stepper *s, const double *before, const ga_size *now)
{
    if (s->iteration < 2 || s->iteration > 3) return;
    ga_memory *m = &s->memory[s->iteration - 2][state_of(s)];
    if (!(motion_of(before) > 0)) return;
    for (int k = 0; k < KINDS; ++k) {
        const double by = in_proportion_to(s, k, before), old = m->rate[k];
        const double upper = most(now->norm[k], now->noise[k]) / by;
        const double lower = most(now->norm[k] - now->noise[k], 0) / by;
        const bool better = upper < old || old == 0; /* or the first one */
        m->rate[k] = better ? ga_larger(upper, 0.9 * old) : ga_larger(lower, old);
    }
    m->good_for = s->partly ? 2 * UNSEEN : UNSEEN;
}

/* After an increment, where a tolerance above round-off is asked for: enough, or hopeless? Old
 * tangents contract the first increment, which is mostly the error of the prediction, faster
 * than what is left of it later. So they get no more credit than what was seen of them in third
 * iterations, in this step or in steps before it; `wear` is the rate they lose in a step. */
static ga_verdict judge_by_tolerance(ga_stepper *s, ga_progress *before, const ga_size *now)
{
    const bool first = s->iteration == 1, late = s->iteration > 2;
    const double age = age_of(s);
    const bool known = s->fresh || late || s->unseen <= UNSEEN;
    const double worst = known ? s->wear * age : 0.5;
    double rate = 0, pace = 0, motion = 0, growth = INFINITY, left = 0, rest = 0;
    if (s->fresh == before->fresh) remember(s, before->norm, now);
    for (int k = 0; k < KINDS; ++k) {
        const double norm = now->norm[k], contraction = norm / before->norm[k];
        double trusted = most(contraction, worst);
        if (k != MULTIPLIERS || late) rest = most(norm, rest);
        if (s->form->second_system) trusted = most(trusted, 0.05);
        if (first || norm <= 1) trusted = 0.5; /* no credit */
        double next = trusted < 1 ? norm * trusted / (1 - trusted) : INFINITY;
        if ((first || s->alternates) && !s->form->second_system)
            next = ga_smaller(next, foresee(s, k, now->norm));
        left = most(next, left);
        if (norm <= 1 || first) continue;
        rate = most(contraction, rate);
        if (k != MULTIPLIERS) motion = most(contraction, motion);
        /* a good guess of lambda suffers from a bad one of v' at first */
        const bool tells = k != MULTIPLIERS || late;
        if (tells) pace = most(contraction, pace);
        if (tells || !s->alternates) growth = least(contraction, growth);
    }
    if (age > 0 && late) {
        s->worn_by = ga_smaller(motion, 1) / age;
        s->wear = ga_larger(s->wear, ga_smaller(rate, 1) / age);
        s->unseen = 0;
    }
    const bool stalled = s->fresh && growth > 0.5 && is_near_round_off(s, &s->limits);
    before->stalled += stalled;
    const bool renewed = s->fresh && !before->fresh;
    before->fresh = s->fresh;
    for (int k = 0; k < KINDS; ++k) before->norm[k] = now->norm[k];
    if (left <= 1) return CONVERGED;
    if (first) return GOES_ON;
    if (stalled && before->stalled > 1) return CONVERGED;
    if (stalled || (is_large(s) && renewed)) return GOES_ON;
    if (growth < INFINITY && growth >= (s->iteration > 3 ? 0.95 : 2)) return DIVERGES;
    const double cube = pace * pace * pace;
    return rest * (s->fresh ? cube * pace * pace : cube) > 1 ? SLOW : GOES_ON;
}

/* The tangents of a large system have been new twice. Is what is left noise? Tolerances of
 * multipliers know nothing of the round-off in Phi, which is that of positions far away from
 * the origin; with q and v as good as asked for, a ten-thousandth of the increment before is
 * it. So is what comes after an increment of ten times the round-off, if it was still
 * contracting by ten: what it leaves is less. (Where increments are noise, they change by that
 * much from one to the next.) */
static bool is_at_its_end(const ga_stepper *s, double left_of_motion, double flicker,
                          double rate)
{
    return (left_of_motion <= 1 && flicker <= 1e-4) ||
           (s->units <= 10 * s->round_off && rate <= 0.1);
}

/* The same, down to round-off where nothing else is asked for. */
static ga_verdict judge(ga_stepper *s, ga_progress *before)
{
    double sum = s->delta_q[0] + s->delta_q[1] + s->delta_v[0] + s->delta_v[1];
    if (!isfinite(sum + s->delta_lambda)) return DIVERGES;
    const bool first = s->iteration == 1;
    if (first) renew_limits(s);
    const ga_limits *limits = &s->limits;
    const ga_size size = measure(s, limits);
    if (limits->tolerant) return judge_by_tolerance(s, before, &size);
    double rate = 0, growth = INFINITY, left = 0, left_of_motion = 0; /* over the kinds */
    for (int k = 0; k < KINDS; ++k) {
        double norm = size.norm[k];
        if (norm > 1 && !first) {
            double contraction = norm / before->norm[k];
            /* what the two halves of SOI2 leave out of each other does not show at once */
            if (s->form->second_system) contraction = ga_larger(contraction, 0.05);
            rate = most(rate, contraction);
            growth = contraction < growth ? contraction : growth;
            norm = contraction < 1 ? norm * contraction / (1 - contraction) : INFINITY;
        }
        left = most(left, norm);
        if (k != MULTIPLIERS) left_of_motion = left;
    }
    const bool settled = size.units <= s->round_off;
    const double flicker =
        settled || is_large(s) ? size.norm[MULTIPLIERS] / before->norm[MULTIPLIERS] : INFINITY;
    const bool quiet = settled && is_quiet(s, before);
    const bool renewed = s->fresh && !before->fresh, same = s->fresh && before->fresh;
    const bool stalled = s->fresh && growth > 0.5 && is_near_round_off(s, limits);
    for (int k = 0; k < KINDS; ++k) before->norm[k] = size.norm[k];
    for (int k = 0; k < 2; ++k) before->delta_v[k] = s->delta_v[k];
    before->settled += settled;
    before->stalled += stalled;
    before->fresh = s->fresh;
    if (left <= 1) return CONVERGED;
    if (first) return GOES_ON;
    if (is_large(s) && same && is_at_its_end(s, left_of_motion, flicker, rate))
        return CONVERGED;
    if (settled) {
        bool again = before->settled > 1;
        if (size.multipliers && (quiet || again)) return CONVERGED;
        return again && (flicker > 0.5 || before->settled > 3) ? CONVERGED : GOES_ON;
    }
    if (stalled && before->stalled > 1) {
        s->round_off = ga_larger(s->round_off, ga_smaller(size.units, worst_round_off(s)));
        return CONVERGED;
    }
    if (stalled || before->settled) return GOES_ON;
    if (is_large(s) && renewed) return GOES_ON; /* old tangents tell nothing about new ones */
    if (growth < INFINITY && growth >= (s->iteration > 3 ? 0.95 : 2)) return DIVERGES;
    /* more iterations cost more than new tangents and one or two */
    double expected = s->fresh ? left * rate * rate * rate * rate : left * rate * rate;
    return expected > 1 ? SLOW : GOES_ON;
}

/* Newton iterations from the prediction. refresh: begin with new tangents. Old ones are renewed
 * on the way when they have become slow. */
static ga_status iterate(ga_stepper *s, bool refresh)
{
    ga_progress before = {{INFINITY, INFINITY, INFINITY}, {INFINITY, INFINITY}, 0, 0, false};
    bool partly = !refresh && ga_renewal_is_due(s);
    s->fresh = s->partly = false;
    s->form->predict(s);
    for (s->iteration = 1; s->iteration <= s->def.max_iterations; ++s->iteration) {
        s->renews = refresh || partly;
        s->form->evaluate(s); /* unknowns -> v, U;  q = q_n o R(U) */
        GA_TRY(ga_block_evaluate(s, true));
        if (s->iteration == 1) measure_scales(s);
        if (partly) refresh = ga_renewal_try(s, &s->partly) != GA_OK;
        partly = false;
        if (refresh) {
            GA_TRY(ga_block_tangents(s));
            s->fresh = true;
        }
        if (refresh || s->c_q != s->factor_c_q || s->c_v != s->factor_c_v)
            GA_TRY(ga_block_factor(s));
        if (s->iteration == 1 && s->dae.sys.force_uses_multipliers)
            ga_regular_minimise(s, false); /* forces ask for them before the step is done */
        GA_TRY(s->form->residual(s));
        ++s->stats.evaluations;
        if (s->iteration == 1) s->looks = s->memory[0][state_of(s)].good_for == 0;
        s->form->correct(s);
        ++s->stats.iterations;
        ga_verdict verdict = judge(s, &before);
        if (verdict == CONVERGED) return GA_OK;
        if (verdict == DIVERGES) {
            GA_TRY(ga_block_look(s, s->n, s->r)); /* NaN, perhaps */
            return GA_ERR_NO_CONVERGE;
        }
        refresh = s->def.newton == GA_NEWTON_FULL || verdict == SLOW;
    }
    s->iteration = s->def.max_iterations;
    return GA_ERR_NO_CONVERGE;
}

/* Everything that follows from the unknowns. */
static void conclude(ga_stepper *s)
{
    s->looked = false;
    if (s->form->conclude && s->form->conclude(s)) return;
    s->form->evaluate(s);
    s->form->finish(s);
}

KERNEL void add_zeros(int i, const int count, const double *x, quad *zeros)
{
    quad y;
    load_some(&y, x + i, count);
    add(zeros, &y, 0);
}

/* Overflow that no callback has looked at; for few unknowns in one sum of 0 x. */
static bool finite_trial(const ga_stepper *s)
{
    if (s->looked) return ga_pool_finite(s->pool, s->mp, s->lambda);
    if (!is_large(s)) {
        quad zeros;
        double zero[4];
        set_zero(&zeros);
        IN_FOURS(0, s->nq, add_zeros, s->q, &zeros);
        IN_FOURS(0, s->nv, add_zeros, s->v, &zeros);
        IN_FOURS(0, s->nv, add_zeros, s->vd, &zeros);
        IN_FOURS(0, s->nv, add_zeros, s->a, &zeros);
        IN_FOURS(0, s->mp, add_zeros, s->lambda, &zeros);
        store(zero, &zeros);
        return zero[0] + zero[1] + (zero[2] + zero[3]) == 0;
    }
    return ga_pool_finite(s->pool, s->nq, s->q) && ga_pool_finite(s->pool, s->nv, s->v) &&
           ga_pool_finite(s->pool, s->nv, s->vd) && ga_pool_finite(s->pool, s->nv, s->a) &&
           ga_pool_finite(s->pool, s->mp, s->lambda);
}

void ga_step_record(ga_stepper *s, double position, double velocity)
{
    s->stats.position_residual_max = ga_larger(s->stats.position_residual_max, position);
    s->stats.velocity_residual_max = ga_larger(s->stats.velocity_residual_max, velocity);
}

/* Phi and w of the converged trial, and their largest; w only where it is enforced. */
static ga_status measure_residuals(ga_stepper *s, double *position, double *velocity)
{
    const bool both = s->form->velocity_level;
    const ga_values values = {
        .G = both ? s->G : NULL, .Phi = s->Phi, .w = both || s->p ? s->rate : NULL};
    if (!s->evaluated) {
        const ga_point at = {.t = s->t1, .q = s->q, .v = s->v};
        GA_TRY(ga_dae_fill(&s->dae, &at, &values));
    }
    *position = ga_norm_max(s->m, s->Phi);
    if (both)
        ga_block_velocity(s, s->w);
    else
        GA_TRY(ga_block_nonholonomic(s, s->v, s->w));
    *velocity = ga_norm_max(both ? s->mp : s->p, s->w);
    /* B shows in w, but gradients of nonholonomic constraints do not */
    if (s->p || !isfinite(*position + *velocity)) GA_TRY(ga_dae_look(&s->dae, &values));
    return GA_OK;
}

/* Increments vanish also where dependent constraints contradict each other, and may be small by
 * accident, far from a solution. */
static ga_status check_residuals(ga_stepper *s, double position, double velocity)
{
    const double size = s->scale.q[0] + s->scale.q[1], speed = s->scale.v[0] + s->scale.v[1];
    const double relative = ga_larger(1e-9, 1e2 * s->def.relative);
    const double most = relative * size + 1e2 * s->def.absolute_q;
    const double most_w = relative * (speed + size / s->h) + 1e2 * s->def.absolute_v;
    const int first = s->form->velocity_level ? 0 : s->m; /* of the rows in w */
    if (position <= most && velocity <= most_w) return GA_OK;
    const double *length = ga_regular_row_sizes(s, s->G);
    for (int i = 0; i < s->mp; ++i) {
        bool bad = i < s->m && !(fabs(s->Phi[i]) <= most * ga_larger(1, sqrt(length[i])));
        if (i >= first)
            bad |= !(fabs(s->w[i - first]) <= most_w * ga_larger(1, sqrt(length[i])));
        if (!bad) continue;
        s->unmet = i;
        return s->regular.active ? GA_ERR_INCONSISTENT : GA_ERR_NO_CONVERGE;
    }
    return GA_OK;
}

/* With errors under control Newton's method ends where what is left does not matter for them;
 * but constraints are to be at round-off. What is more than that shows now: some of it may have
 * been in directions that old tangents do not know. */
static bool is_off(const ga_stepper *s, double position, double velocity)
{
    if (!s->estimates || s->form->weighted || s->regular.active || s->kappa != 0) return false;
    const double size = s->scale.q[0] + s->scale.q[1], speed = s->scale.v[0] + s->scale.v[1];
    return !(position <= 256 * EPS * size &&
             velocity <= (8192 * EPS + s->dae.noise) * (size + speed));
}

/* One more iteration, with new tangents. */
static ga_status polish(ga_stepper *s)
{
    s->renews = true;
    s->evaluated = false;
    GA_TRY(ga_block_evaluate(s, true));
    GA_TRY(ga_block_tangents(s));
    GA_TRY(ga_block_factor(s));
    GA_TRY(s->form->residual(s));
    s->form->correct(s);
    ++s->stats.evaluations;
    ++s->stats.iterations;
    conclude(s);
    s->served = 1;
    return GA_OK;
}

/* An extrapolated state is looked at when it is back on the constraints. */
static ga_status look_at_residuals(ga_stepper *s)
{
    double position, velocity;
    if (s->slides && !s->regular.active) return GA_OK;
    GA_TRY(measure_residuals(s, &position, &velocity));
    if (is_off(s, position, velocity)) {
        GA_TRY(polish(s));
        GA_TRY(measure_residuals(s, &position, &velocity));
    }
    GA_TRY(check_residuals(s, position, velocity));
    if (!s->slides) ga_step_record(s, position, velocity);
    return GA_OK;
}

typedef struct following {
    double *was, *is;
    const double *next;
} following;

/* Piece by piece, so that each is read but once. */
static void follow_range(void *data, int from, int end)
{
    enum { PIECE = 512 };
    const following *f = data;
    for (int i = from; i < end; i += PIECE) {
        const int count = end - i < PIECE ? end - i : PIECE;
        copy(f->was + i, f->is + i, count);
        copy(f->is + i, f->next + i, count);
    }
}

/* What is becomes what was. */
static void follow(const ga_stepper *s, double *was, double *is, const double *next, int n)
{
    ga_pool_ranges(s->pool, n, follow_range, &(following){was, is, next});
}

static void copy_long(const ga_stepper *s, double *to, const double *from, int n)
{
    if (s->pool)
        ga_pool_copy(s->pool, to, from, n);
    else
        copy(to, from, n);
}

/* The place of the oldest numbers becomes that of the newest. */
static void rotate(int count, double **old)
{
    double *last = old[count - 1];
    for (int k = count - 1; k > 0; --k) old[k] = old[k - 1];
    old[0] = last;
}

ga_status ga_step_accept(ga_stepper *s)
{
    ga_state *now = &s->now;
    if (!finite_trial(s)) return GA_ERR_NO_CONVERGE;
    GA_TRY(look_at_residuals(s));
    ga_regular_accept(s);
    if ((s->form->has_eta || s->estimates) && !s->slides)
        copy_long(s, now->G, s->G, s->dae.G.count);
    rotate(s->alternates ? 3 : 2, now->vd_old);
    rotate(s->alternates ? 3 : 2, now->lambda_old);
    follow(s, now->vd_old[0], now->vd, s->vd, s->nv);
    follow(s, now->lambda_old[0], now->lambda, s->lambda, s->mp);
    follow(s, now->q_old, now->q, s->q, s->nq);
    follow(s, now->v_old, now->v, s->v, s->nv);
    copy_long(s, now->a_used, s->an, s->nv);
    copy_long(s, now->a, s->a, s->nv);
    if (s->form->has_eta) copy(now->eta, s->eta, s->m);
    if (s->form->weighted) {
        copy(now->Ma_used, s->Man, s->nv);
        copy(now->Ma, s->Ma1, s->nv);
        copy(now->F, s->F1, s->nv);
        copy(now->a_tilde, s->a_tilde, s->nv);
        copy(now->l_tilde, s->l_tilde, s->mp);
    }
    now->h_old[1] = now->h_old[0];
    now->h_old[0] = now->h;
    now->h = s->h;
    now->t_old = now->t;
    now->t = s->t1;
    ++now->steps;
    ++s->stats.steps;
    return GA_OK;
}

/* a_n and v_n that may be changed. */
static void own(ga_stepper *s, const double *a, const double *v)
{
    if (a) copy(s->own_an, a, s->nv);
    if (v) copy(s->own_vn, v, s->nv);
    s->an = s->own_an;
    s->vn = s->own_vn;
}

ga_status ga_step_linearise(ga_stepper *s, double h)
{
    const ga_state *now = &s->now;
    own(s, now->a, now->v);
    if (s->form->weighted) copy(s->Man, now->Ma, s->nv);
    s->h = h;
    s->t1 = now->t;
    s->usable = false;
    GA_TRY(s->form->begin(s));
    copy(s->q, now->q, s->nq);
    copy(s->v, now->v, s->nv);
    copy(s->vd, now->vd, s->nv);
    copy(s->lambda, now->lambda, s->mp);
    memset(s->U, 0, (size_t)s->nv * sizeof *s->U);
    GA_TRY(ga_block_evaluate(s, false));
    GA_TRY(ga_block_tangents(s));
    return ga_block_look_at_tangents(s);
}

/* Whatever goes wrong here but memory goes wrong, and is said, in the first step. */
ga_status ga_step_warm(ga_stepper *s)
{
    if (s->backend != GA_BACKEND_KLU) return GA_OK; /* all they need is there from the start */
    ga_statistics stats = s->stats;
    s->regular.asleep = true;
    ga_status status = ga_step_linearise(s, s->now.h);
    if (status == GA_OK) status = ga_block_factor(s);
    s->regular.asleep = false;
    s->stats = stats;
    s->usable = false;
    return status == GA_ERR_MEMORY ? status : GA_OK;
}

/* --- one step, and a step in pieces ------------------------------------------------------ */

bool ga_step_may_retry(ga_status status)
{
    return status != GA_ERR_CALLBACK && status != GA_ERR_MEMORY;
}

/* v_n and a_n for a step of size h. */
static ga_status begin(ga_stepper *s, double h)
{
    const ga_state *now = &s->now;
    if (!ga_step_is_same(h, now->h)) {
        own(s, NULL, NULL);
        if (now->steps == 0) return ga_start_values(s, h, s->own_an, s->own_vn);
        return ga_start_change(s, h, s->own_an, s->own_vn);
    }
    s->an = now->a;
    s->vn = now->v;
    if (now->steps == 0) own(s, now->a, now->v); /* the implicit start has another */
    if (s->form->weighted) copy(s->Man, now->Ma, s->nv);
    return GA_OK;
}

/* What new tangents and factors cost, in iterations; measured on chains, Andrews' mechanism and
 * the heavy top. */
static double renewal(const ga_stepper *s) { return s->form->velocity_level ? 5 : 3; }

/* Tangents serve `life` steps, then they are renewed before a step begins. life shrinks to what
 * it was when they turned out slow in the middle of a step, and grows a little otherwise; large
 * systems, where that costs most, try old ones less and less often if they fail at once. Where
 * a tolerance is asked for with fixed steps, they are also renewed as soon as a step costs more
 * than the average since they were made, their making included: then the average is as small as
 * it can be. */
static void learn_life(ga_stepper *s, bool began_fresh)
{
    if (s->fresh) s->spent = renewal(s);
    if (began_fresh) {
        s->served = 1;
        s->life *= 1 + s->hope;
    } else if (s->fresh) {
        s->life = ga_larger(1, s->served);
        if (is_large(s) && s->served <= 1) s->hope = ga_larger(0.5 * s->hope, 0.1 / 8);
        s->served = 1;
    } else {
        ++s->served;
        s->hope = 0.1;
    }
    s->spent += s->iteration;
    s->worn = ga_step_is_tolerant(s) && !s->estimates && s->iteration * s->served > s->spent &&
              !(s->looks && s->partly && s->iteration <= 2);
}

/* A life between one step and two lets every other step begin with old tangents and renew them
 * on the way. Large systems, where that costs most, wait until two have been earned. */
static double whole_life(const ga_stepper *s) { return is_large(s) ? floor(s->life) : s->life; }

/* Newton's method may find a root that has nothing to do with the motion: far away, or the
 * mirror image in a constraint. No step carries anything a hundred times as far as velocities
 * and accelerations at its beginning account for, unless that is little compared with sizes
 * (forces may set in during a step). */
static bool runs_away(const ga_stepper *s, const ga_scales *before)
{
    const ga_state *now = &s->now;
    const double gone = ga_norm_max(s->nv, s->U);
    if (gone <= 0.1) return false; /* in any case */
    double size = before->q[0] + before->q[1] + ga_norm_max(s->nq, now->q);
    double way = s->h * (ga_norm_max(s->nv, s->vn) + s->h * ga_norm_max(s->nv, now->vd));
    return gone > 100 * way + 0.1 * ga_larger(size, 1);
}

/* Tangents this old spoil estimates of errors, which are responses of the linearised step. */
static const double ESTIMATE_WEAR = 0.04;

/* One step of size h to t1, with old tangents if they serve, else with new ones. */
ga_status ga_step_try(ga_stepper *s, double h, double t1)
{
    s->h = h;
    s->t1 = t1;
    s->near_singular = s->regular.seen = false;
    s->unmet = -1;
    GA_TRY(begin(s, h));
    GA_TRY(s->form->begin(s));
    const ga_scales before = s->scale; /* a trial gone astray must not loosen the tolerances */
    const bool spoils = s->estimates && s->worn_by * (s->served + 1) > ESTIMATE_WEAR;
    const bool old = s->served >= whole_life(s) && !s->partly; /* or they last until worn */
    bool refresh = !s->usable || spoils || s->worn || old || s->def.newton == GA_NEWTON_FULL;
    ga_status status = iterate(s, refresh);
    if (status != GA_OK && ga_step_may_retry(status) && !refresh) {
        refresh = true;
        s->scale = before;
        status = iterate(s, refresh);
    }
    if (status == GA_OK && runs_away(s, &before)) status = GA_ERR_NO_CONVERGE;
    if (status == GA_OK) {
        /* after an increment at round-off there is no need to evaluate again: Phi and G were
         * as good before it, and w has the new v; but eta wants B just here */
        s->evaluated = s->p == 0 && !s->form->has_eta && s->norm_q <= 1 && s->units <= 16 &&
                       to_round_off(s);
        learn_life(s, refresh);
        s->round_off = ga_larger(1, 0.9 * s->round_off);
        s->wear *= FADE;
        s->worn_by *= 0.995; /* so that old tangents are tried again some day */
        ++s->unseen;
        for (int k = 0; k < 2; ++k)
            if (s->memory[k][state_of(s)].good_for) --s->memory[k][state_of(s)].good_for;
        s->near_singular = ga_regular_near(s);
        ga_regular_minimise(s, s->dae.sys.force_uses_multipliers);
        conclude(s);
    } else {
        s->usable = false;
        s->scale = before;
    }
    return status;
}

/* A step that would end at a singular position, or fails near one, ends a fifth earlier if it
 * may. */
static ga_status attempt(ga_stepper *s, double h, double t1)
{
    ga_status status = ga_step_try(s, h, t1);
    bool evade =
        s->free_end && (status == GA_OK ? s->near_singular
                                        : ga_step_may_retry(status) && ga_regular_weakens(s));
    if (evade) {
        s->usable = false;
        ++s->stats.evasions;
        ga_regular_alert(s);
        s->off_grid = ga_step_try(s, 0.8 * h, s->now.t + 0.8 * h) == GA_OK;
        if (!s->off_grid) status = ga_step_try(s, h, t1);
    }
    if (status != GA_OK && !s->off_grid) return status;
    return ga_step_accept(s);
}

/* From the current time to t1 = now + h, in two halves if it does not work in one go. */
static ga_status advance(ga_stepper *s, double h, double t1, int halvings)
{
    const bool free_end = s->free_end;
    ga_status status = attempt(s, h, t1);
    if (status == GA_OK || !ga_step_may_retry(status) || halvings == 0) return status;
    double middle = s->now.t + 0.5 * h;
    if (!(middle > s->now.t && middle < t1)) return status;
    ++s->stats.halvings;
    if (!s->kept) ga_state_copy(&s->saved, &s->now);
    s->kept = true;
    s->free_end = false;
    GA_TRY(advance(s, 0.5 * h, middle, halvings - 1));
    s->free_end = free_end;
    return advance(s, 0.5 * h, t1, halvings - 1);
}

static const char *unknown_kind(const ga_stepper *s, int column, int *index)
{
    *index = column < s->nv ? column : (column - s->nv) % (s->mp ? s->mp : 1);
    return column < s->nv ? "coordinate" : column < s->nv + s->mp ? "multiplier" : "eta";
}

void ga_step_explain(const ga_stepper *s, ga_status status, double h, ga_report *report)
{
    int index = 0;
    if (status == GA_ERR_NO_CONVERGE && s->unmet >= 0) {
        ga_fail(
            report, status,
            "Newton converged to a state off constraint %d in the step from t = %.9g with h "
            "= %.3g, after %d iterations",
            s->unmet, s->now.t, s->h, s->iteration);
        if (report) {
            report->iteration = s->iteration;
            report->row = s->nv + s->unmet;
        }
    } else if (status == GA_ERR_NO_CONVERGE) {
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
    } else if (status == GA_ERR_INCONSISTENT) {
        ga_fail(report, status,
                "in the step from t = %.9g with h = %.3g constraint %d contradicts others that "
                "it depends on",
                s->now.t, s->h, s->unmet);
        if (report) report->row = s->unmet;
    } else if (status == GA_ERR_MEMORY) {
        ga_fail(report, status, "out of memory in the step from t = %.9g", s->now.t);
    } else if (status == s->dae.fault.status) {
        ga_dae_explain(&s->dae, s->now.t, report);
    } else {
        ga_fail(report, status, "%s, at t = %.9g", ga_status_text(status), s->now.t);
    }
    if (!report) return;
    report->time = s->now.t;
    report->step = h;
}

/* Advances, or puts everything back and says why not. */
static ga_status advance_or_restore(ga_stepper *s, double h, double t1, ga_report *report)
{
    if (!(t1 > s->now.t))
        return ga_fail(report, GA_ERR_ARGUMENT, "a step of %.3g is below round-off at t = %.9g",
                       h, s->now.t);
    s->kept = s->keeps; /* else it will be before the first piece: attempts change nothing */
    if (s->kept) ga_state_copy(&s->saved, &s->now);
    ga_statistics stats = s->stats;
    ga_status status = advance(s, h, t1, s->def.max_halvings);
    if (status == GA_OK) return ga_fail(report, GA_OK, "%s", "");
    ga_step_explain(s, status, h, report);
    if (s->kept) ga_state_copy(&s->now, &s->saved);
    s->stats.steps = stats.steps; /* of the pieces nothing is kept */
    s->stats.position_residual_max = stats.position_residual_max;
    s->stats.velocity_residual_max = stats.velocity_residual_max;
    s->usable = false;
    return status;
}

static void rebase_grid(ga_stepper *s)
{
    s->off_grid = false;
    s->t_start = s->now.t;
    s->grid = 0;
}

/* Where the last step would be shorter than a tenth, the last two are made equal: a sliver
 * would, in index 3, leave multipliers of round-off/h^2. */
ga_status ga_step_grid(ga_stepper *s, double t_end, ga_report *report)
{
    double h = s->h_grid, t1 = s->t_start + (double)(s->grid + 1) * h;
    double left = (t_end - s->now.t) / h;
    if (s->off_grid) h = t1 - s->now.t;
    bool last = left <= 1 + 1e-9 || (s->off_grid && t_end - t1 < 1e-9 * h),
         stretch = !last && left < 1.1;
    if (last) {
        if (s->off_grid || left < 1 - 1e-9) h = t_end - s->now.t;
        t1 = t_end;
    } else if (stretch) {
        h = 0.5 * (t_end - s->now.t);
        t1 = s->now.t + h;
    }
    const bool was_off = s->off_grid;
    s->off_grid = false;
    s->free_end = !last && !stretch;
    ga_status status = advance_or_restore(s, h, t1, report);
    s->free_end = false;
    if (status != GA_OK) {
        s->off_grid = was_off;
        return status;
    }
    ++s->grid;
    if (last || stretch) rebase_grid(s);
    return GA_OK;
}

ga_status ga_step_to(ga_stepper *s, double h, double t1, ga_report *report)
{
    GA_TRY(advance_or_restore(s, h, t1, report));
    rebase_grid(s);
    return GA_OK;
}
