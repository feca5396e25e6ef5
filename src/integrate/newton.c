/* Newton's method for one step: how far it goes, and with which tangents.
 *
 * Stopping. With the contraction rate th measured in this attempt, what is left after an
 * increment d is about th/(1-th) |d|; the first increment gets no credit. q, v and lambda have
 * their own tolerances, in their own units, whatever the scaling of the linear system. A demand
 * below round-off is raised to it: 4 eps times the largest component so far for q and for v,
 * and in index 3 c_v/c_q times the round-off of q for v, because there v hangs on Phi through
 * q. An attempt whose increments of q and v have arrived at that level has converged even if
 * lambda still flickers: in index 3 the round-off of Phi enters lambda magnified by 1/h^2. */
#include "base/extremes.h"
#include "base/report.h"
#include "integrate/stepper.h"
#include "integrate/trust.h"

#include <float.h>
#include <math.h>
#include <string.h>

double ga_newton_raise(const ga_stepper *s, const double *x, double factor, double size[2])
{
    return ga_norm_raise(s->nv, x, s->kind, factor, size);
}

/* Of multipliers that are not unique only the reactions they stand for count. */
static double multiplier_size(ga_stepper *s, const double *G, const double *l)
{
    return s->regular.eps > 0 ? ga_regular_reaction(s, G, l) : ga_norm_max(s->mp, l);
}

void ga_newton_measure(ga_stepper *s, const double *u, const double *dvd, const double *l)
{
    s->increment_q = u;
    s->increment_v = dvd;
    double q[2] = {0, 0}, v[2] = {0, 0};
    double zero = ga_newton_raise(s, u, 1, q); /* or NaN */
    if (dvd != u) zero += ga_newton_raise(s, dvd, 1, v);
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
    ga_newton_raise(s, s->U, 1, s->scale.q);
    ga_newton_raise(s, s->v, 1, s->scale.v);
    ga_newton_raise(s, s->vd, s->h, s->scale.v);
    s->scale.lambda = ga_larger(s->scale.lambda, multiplier_size(s, s->G, s->lambda));
}

/* Tolerances are not zero. */
static double weighted(double increment, double tolerance) { return increment / tolerance; }

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

/* Has the user asked for tolerances of increments? */
static bool newton_is_asked(const ga_stepper *s)
{
    const ga_integrator_def *def = &s->def;
    return def->relative > 0 || def->absolute_q > 0 || def->absolute_v > 0 ||
           def->absolute_lambda > 0;
}

/* What the user has asked for, or else what the control of errors thinks is enough. */
static double newton_relative(const ga_stepper *s)
{
    return newton_is_asked(s) ? s->def.relative : s->enough;
}

/* Is Newton's method asked to go on to round-off? */
bool ga_newton_to_round_off(const ga_stepper *s)
{
    return newton_relative(s) == 0 && s->def.absolute_q == 0 && s->def.absolute_v == 0;
}

/* Is it asked for clearly less? */
bool ga_newton_is_tolerant(const ga_stepper *s) { return newton_relative(s) > 1e-12; }

/* Does v hang on Phi through q? */
static bool hangs_on_q(const ga_stepper *s) { return s->m && !s->form->velocity_level; }

/* Round-off of v by kind: its own, and that through q. */
static double floor_of_v(const ga_stepper *s, int kind, double *through_q)
{
    double own = GA_ROUND_OFF * s->scale.v[kind];
    if (s->form->velocity_level && s->dae.noise > 0) /* w itself is not known better */
        own += s->dae.noise * (s->scale.v[0] + s->scale.v[1] + 1);
    *through_q = hangs_on_q(s) ? GA_ROUND_OFF * s->scale.q[kind] * s->c_v / s->c_q : 0;
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
    l->tolerant = ga_newton_is_tolerant(s);
    l->noise = l->noise_q = l->noise_v = 0;
    /* round-off adds up like a random walk; where it is not asked for, or adds up to much, it
     * is not tried */
    l->level = l->tolerant || ga_newton_is_large(s) ? ga_larger(1, 0.25 * sqrt(s->n)) : 0;
    for (int k = 0; k < 2; ++k) {
        double through_q;
        const double floor_q = GA_ROUND_OFF * s->scale.q[k],
                     floor_v = floor_of_v(s, k, &through_q);
        const double q = def->absolute_q + relative * s->scale.q[k];
        const double v = def->absolute_v + relative * s->scale.v[k];
        const double floor_all = floor_v + through_q;
        l->floor_q[k] = most(floor_q, DBL_MIN);
        l->floor_v[k] = most(floor_all, DBL_MIN);
        l->q[k] = most(most(q, l->level * floor_q), l->floor_q[k]);
        l->v[k] = most(most(v, l->level * floor_all), most(floor_v, DBL_MIN));
        l->noise = most(l->noise, floor_all);
        if (!l->tolerant) continue;
        l->noise_q = most(l->noise_q, weighted(l->level * floor_q, l->q[k]));
        l->noise_v = most(l->noise_v, weighted(l->level * floor_all, l->v[k]));
    }
    l->noise /= s->c_v;
    l->lambda = def->absolute_lambda + relative_lambda * s->scale.lambda;
    l->floor_lambda = most(GA_ROUND_OFF * s->scale.lambda, DBL_MIN);
}

static bool is_for(const ga_limits_key *key, const ga_stepper *s)
{
    const ga_scales *a = &key->scale, *b = &s->scale;
    return a->q[0] == b->q[0] && a->q[1] == b->q[1] && a->v[0] == b->v[0] &&
           a->v[1] == b->v[1] && a->lambda == b->lambda && key->c_q == s->c_q &&
           key->c_v == s->c_v && key->enough == s->enough &&
           key->enough_lambda == s->enough_lambda;
}

/* They change little from step to step: only with sizes, tolerances and steps. */
static void renew_limits(ga_stepper *s)
{
    if (is_for(&s->limits_key, s)) return;
    find_limits(s, &s->limits);
    s->limits_key = (ga_limits_key){s->scale, s->c_q, s->c_v, s->enough, s->enough_lambda};
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
    const double least_v = hangs_on_q(s) ? GA_ROUND_OFF * (s->c_v / s->c_q) : GA_ROUND_OFF;
    double coarse = 0;
    for (int k = 0; k < 2; ++k) {
        coarse = ga_larger(coarse, s->delta_q[k] / ga_larger(l->floor_q[k], GA_ROUND_OFF));
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
static double age_of(const ga_stepper *s) { return s->fresh ? 0 : s->served; }

/* What the next increment is in proportion to: new tangents leave the square of this one, old
 * ones what they have lost. Multipliers enter through forces, which are linear in them. */
static double in_proportion_to(const ga_stepper *s, int kind, const double *norm)
{
    const double motion = motion_of(norm);
    const double size = kind == MULTIPLIERS ? most(motion, norm[MULTIPLIERS]) : motion;
    return size * (s->fresh ? motion : age_of(s));
}

/* Of the tangents: old, new, or new in part. */
static int state_of(const ga_stepper *s) { return s->fresh; }

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
        next *= ga_larger(1, newton_relative(s) / (16 * GA_ROUND_OFF));
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
    m->good_for = UNSEEN;
}

/* After an increment, where a tolerance above round-off is asked for: enough, or hopeless? Old
 * tangents contract the first increment, which is mostly the error of the prediction, faster
 * than what is left of it later. So they get no more credit than what was seen of them in third
 * iterations, in this step or in steps before it; `wear` is the rate they lose in a step. */
static ga_verdict judge_by_tolerance(ga_stepper *s, ga_progress *before, const ga_size *now)
{
    const bool first = s->iteration == 1, late = s->iteration > 2;
    const double age = age_of(s);
    const bool asked = newton_is_asked(s);
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
        if (first && !asked && !s->form->second_system)
            next = ga_smaller(next, foresee(s, k, now->norm));
        left = most(next, left);
        if (norm <= 1 || first) continue;
        rate = most(contraction, rate);
        if (k != MULTIPLIERS) motion = most(contraction, motion);
        /* a good guess of lambda suffers from a bad one of v' at first */
        const bool tells = k != MULTIPLIERS || late;
        if (tells) pace = most(contraction, pace);
        growth = least(contraction, growth);
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
    if (stalled || (ga_newton_is_large(s) && renewed)) return GOES_ON;
    if (growth < INFINITY && growth >= (s->iteration > 3 ? 0.95 : 2)) return DIVERGES;
    const double cube = pace * pace * pace;
    return rest * (s->fresh ? cube * pace * pace : cube) > 1 ? SLOW : GOES_ON;
}

/* The tangents of a large system have been new twice. Is what is left noise? Tolerances of
 * multipliers know nothing of the round-off in Phi, which is that of positions far away from
 * the origin; with q and v as good as asked for, a ten-thousandth of the increment before is
 * it. So is what comes after an increment no larger than the round-off of steps before, or of
 * ten times that, if it was still contracting by ten: what it leaves is less. (Where increments
 * are noise, they change by that much from one to the next.) */
static bool is_at_its_end(const ga_stepper *s, double left_of_motion, double flicker,
                          double rate)
{
    return (left_of_motion <= 1 && flicker <= 1e-4) || s->units <= s->round_off ||
           (s->units <= 10 * s->round_off && rate <= 0.1);
}

/* The same, down to round-off where nothing else is asked for. */
static ga_verdict judge(ga_stepper *s, ga_progress *before)
{
    if (!ga_newton_is_finite(s)) return DIVERGES;
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
    const double flicker = settled || ga_newton_is_large(s)
                               ? size.norm[MULTIPLIERS] / before->norm[MULTIPLIERS]
                               : INFINITY;
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
    if (ga_newton_is_large(s) && same && is_at_its_end(s, left_of_motion, flicker, rate))
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
    if (ga_newton_is_large(s) && renewed)
        return GOES_ON; /* old tangents tell nothing about new ones */
    if (growth < INFINITY && growth >= (s->iteration > 3 ? 0.95 : 2)) return DIVERGES;
    /* more iterations cost more than new tangents and one or two */
    double expected = s->fresh ? left * rate * rate * rate * rate : left * rate * rate;
    return expected > 1 ? SLOW : GOES_ON;
}

bool ga_newton_is_soft(ga_stepper *s)
{
    return ga_trust_is_soft(most(s->norm_q, s->norm_v), ga_trust_withheld(s));
}

/* An increment that passes may still be one that the tangents hold back: trust.h. Where that
 * cannot be ruled out, because masses are tiny or friction is steep, the increment must pass
 * with tangents made anew each time. False stiffness comes from a stretch at the point of the
 * tangents; the first new ones remove the stretch, the second show what it held back. */
enum { PASSES = 3 };

static ga_status is_solved(ga_stepper *s, int passes, bool *solved)
{
    double undone;
    *solved = ga_newton_is_soft(s) || passes >= PASSES;
    if (*solved) return GA_OK;
    GA_TRY(ga_trust_undone(s, &undone));
    *solved = ga_trust_is_solved(undone);
    return GA_OK;
}

ga_status ga_newton_iterate(ga_stepper *s, ga_renewing renewing)
{
    ga_progress before = {{INFINITY, INFINITY, INFINITY}, {INFINITY, INFINITY}, 0, 0, false};
    bool refresh = renewing != GA_RENEW_WHEN_SLOW;
    int passes = 0;
    s->fresh = false;
    s->form->predict(s);
    for (s->iteration = 1; s->iteration <= s->def.max_iterations; ++s->iteration) {
        s->renews = refresh;
        s->form->evaluate(s); /* unknowns -> v, U;  q = q_n o R(U) */
        GA_TRY(ga_block_evaluate(s, true));
        if (s->iteration == 1) measure_scales(s);
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
        s->form->correct(s);
        ++s->stats.iterations;
        ga_verdict verdict = judge(s, &before);
        if (verdict == CONVERGED) {
            bool solved;
            passes = refresh ? passes + 1 : 0;
            GA_TRY(is_solved(s, passes, &solved));
            if (solved) return GA_OK;
            renewing = GA_RENEW_ALWAYS;
        }
        if (verdict == DIVERGES) {
            GA_TRY(ga_block_look(s, s->n, s->r)); /* NaN, perhaps */
            return GA_ERR_NO_CONVERGE;
        }
        refresh = renewing == GA_RENEW_ALWAYS || verdict == SLOW;
    }
    s->iteration = s->def.max_iterations;
    return GA_ERR_NO_CONVERGE;
}

/* What was seen of increments is in units of the tolerances. */
void ga_newton_set(ga_stepper *s, double enough, double enough_lambda)
{
    if (s->enough == enough && s->enough_lambda == enough_lambda) return;
    s->enough = enough;
    s->enough_lambda = enough_lambda;
    for (int k = 0; k < 2; ++k)
        for (int i = 0; i < 2; ++i) s->memory[k][i].good_for = 0;
}

/* A step has been taken. */
void ga_newton_fade(ga_stepper *s)
{
    s->round_off = ga_larger(1, 0.9 * s->round_off);
    s->wear *= FADE;
    s->worn_by *= 0.995; /* so that old tangents are tried again some day */
    ++s->unseen;
    for (int k = 0; k < 2; ++k)
        if (s->memory[k][state_of(s)].good_for) --s->memory[k][state_of(s)].good_for;
}
