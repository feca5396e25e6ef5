/* The rule is explained in verdict.h. */
#include "integrate/verdict.h"

#include "base/extremes.h"

#include <math.h>

/* Assumed of old tangents of unknown rate: what is left is as large as the increment. */
static const double UNKNOWN_RATE = 0.5;
/* An increment larger than this part of the smallest before it is no progress. */
static const double NO_PROGRESS = 0.5;
/* The attempt ends if every increment above its tolerance is at least this multiple of the one
 * before; early ones may still grow. */
static const double GIVE_UP_RATE_EARLY = 2, GIVE_UP_RATE_LATE = 0.95;
enum { EARLY = 3 };
/* New tangents are taken if, at the present rate, so many further iterations with those in use
 * (old ones, or new ones of this attempt) would not be enough. A factorisation costs as much as
 * three to six iterations, in chains of a thousand bodies as in Andrews' squeezer, and two
 * iterations follow it. */
enum { WORTH_OLD = 3, WORTH_FRESH = 5 };
/* For so many steps what was seen of increments is remembered. */
enum { MEMORY_STEPS = 8 };
/* Part of a remembered rate, or of the noise of lambda, that is kept after a step; a larger
 * part of motion_rate_per_step, which decides whether old tangents are ever tried again. */
static const double KEEP_RATE = 0.97, KEEP_MOTION = 0.995;
/* The level of round-off is forgotten faster: it is higher near singular positions, and steps
 * behind them are to be as exact as those before. */
static const double KEEP_ROUND_OFF = 0.9;
/* Safety factor of an increment foreseen. */
static const double FORESEEN = 4;
/* A remembered coefficient falls no faster than this in a step. */
static const double SLOWEST_FALL = 0.9;
/* With the same tangents increments do not contract this much more slowly than before, unless
 * they are round-off. (It was 164 times or more on chains of a thousand bodies.) */
static const double SUDDEN = 100;
/* Round-off is never taken to be more than this, in units of the smallest possible: residuals
 * that go with it still pass the check at the end of a step. */
static const double HIGHEST_LEVEL = 1e6;
/* After so many increments with q and v at round-off, lambda is not waited for any more. */
enum { PATIENCE = 4 };

static double contraction(const ga_progress *before, const ga_increment *now, int kind)
{
    return now->norm[kind] / before->last.norm[kind];
}

/* The larger increment of q and v. */
static double motion_of(const ga_increment *x)
{
    return ga_larger(x->norm[GA_POSITION], x->norm[GA_VELOCITY]);
}

/* What the next increment is in proportion to. Multipliers enter through forces, which are
 * linear in them. */
static double proportion(const ga_increment *x, int kind)
{
    const double motion = motion_of(x);
    const double size =
        kind == GA_MULTIPLIERS ? ga_larger(motion, x->norm[GA_MULTIPLIERS]) : motion;
    return size * (x->fresh ? motion : x->age);
}

/* The second increment, from the first and what was seen in steps before. Iterations to
 * round-off may not foresee: to end early would save iterations, but what is left is tangential
 * to the constraints and accumulates. */
static double foreseen(const ga_newton_goal *goal, const ga_newton_memory *memory,
                       const ga_increment *now, int kind)
{
    const ga_contraction *seen = &memory->second[now->fresh];
    if (!goal->may_foresee || seen->steps_left == 0) return INFINITY;
    const double next = FORESEEN * seen->coefficient[kind] * proportion(now, kind);
    return kind == GA_POSITION ? next * goal->strictness : next;
}

/* The least rate that is believed, for tangents of this age. Iterations to round-off go by the
 * rates of this attempt alone. */
static double least_rate(const ga_newton_goal *goal, const ga_newton_memory *memory,
                         const ga_increment *now)
{
    if (goal->round_off) return goal->hidden_rate;
    const bool known = now->fresh || now->iteration > 2 || memory->steps_unseen <= MEMORY_STEPS;
    const double rate = known ? memory->rate_per_step * now->age : UNKNOWN_RATE;
    return ga_larger(rate, goal->hidden_rate);
}

/* What is left of the error after this increment, in units of the tolerance. Round-off does not
 * contract: below its tolerance an increment that may be round-off counts as it is; of any
 * other the rate is taken to be at most GIVE_UP_RATE_LATE. */
static double left(const ga_newton_goal *goal, const ga_newton_memory *memory,
                   const ga_progress *before, const ga_increment *now, int kind)
{
    const double norm = now->norm[kind];
    if (now->iteration == 1) return ga_smaller(norm, foreseen(goal, memory, now, kind));
    double rate = ga_larger(contraction(before, now, kind), least_rate(goal, memory, now));
    if (norm <= 1) {
        if (goal->round_off || norm <= now->noise[kind]) return norm;
        rate = ga_smaller(rate, GIVE_UP_RATE_LATE);
    }
    return rate < 1 ? norm * rate / (1 - rate) : INFINITY;
}

/* Contraction of increments that are still above their tolerances. */
typedef struct rates {
    double motion;  /* the slowest of q and v */
    double slowest; /* of all */
    double fastest; /* of all; infinite if there is none */
} rates;

static rates rates_of(const ga_progress *before, const ga_increment *now)
{
    rates r = {.fastest = INFINITY};
    for (int k = 0; k < GA_KINDS; ++k) {
        const double rate = contraction(before, now, k);
        if (now->norm[k] <= 1) continue;
        r.slowest = ga_larger(r.slowest, rate);
        r.fastest = ga_smaller(r.fastest, rate);
        if (k != GA_MULTIPLIERS) r.motion = ga_larger(r.motion, rate);
    }
    return r;
}

static double power(double x, int n)
{
    double y = 1;
    for (int i = 0; i < n; ++i) y *= x;
    return y;
}

/* At the present rate, would so many further iterations not be enough for some increment to
 * come to its tolerance, or to the smallest round-off where that is larger? A level that was
 * measured with new tangents is no excuse for old ones, and estimates of errors need tangents
 * that are better than iterations do. */
static bool is_slow(const ga_newton_goal *goal, const ga_newton_memory *memory,
                    const ga_progress *before, const ga_increment *now, int iterations)
{
    double largest = 0, slowest = 0;
    for (int k = 0; k < GA_KINDS; ++k) {
        const double noise = goal->estimates ? 0 : now->noise[k] / memory->round_off;
        const double size = now->norm[k] / ga_larger(1, noise);
        largest = ga_larger(largest, size);
        if (size > 1) slowest = ga_larger(slowest, contraction(before, now, k));
    }
    return largest * power(slowest, iterations) > 1;
}

/* Part of the level for old tangents. An increment at round-off then leaves a part of its size,
 * which in index 3 adds up in q: over a thousand steps of a pendulum, alternately h and 2 h, to
 * four times what new tangents leave at the full level, and to less than twice at this part of
 * it. At half the level Andrews' squeezer takes a tenth more iterations. */
static const double LEVEL_OLD = 0.65;

static bool is_at_round_off(const ga_newton_memory *memory, const ga_increment *now, int kind)
{
    return now->units[kind] <= (now->fresh ? 1 : LEVEL_OLD) * memory->round_off;
}

static bool is_settled(const ga_newton_memory *memory, const ga_increment *now)
{
    return is_at_round_off(memory, now, GA_POSITION) &&
           is_at_round_off(memory, now, GA_VELOCITY);
}

/* Has this kind converged? With new tangents a second increment at round-off has, even if
 * others still contract: far from the origin that of q is round-off where v gains one more
 * digit. */
static bool has_converged(const ga_newton_goal *goal, const ga_newton_memory *memory,
                          const ga_progress *before, const ga_increment *now, int kind)
{
    if (now->fresh && now->next_is_negligible && kind != GA_MULTIPLIERS &&
        is_at_round_off(memory, now, kind))
        return true;
    return left(goal, memory, before, now, kind) <= 1;
}

/* The smallest norm of the increments before. */
static double least_of(const ga_progress *before, int kind)
{
    const double last = before->last.norm[kind], least = before->least[kind];
    return least > 0 ? ga_smaller(least, last) : last;
}

/* No norm above its tolerance has fallen to half of the smallest before it; also if all are
 * within tolerance. Round-off makes norms go up and down in turns, so the last one alone would
 * often show progress. */
static bool is_stalled(const ga_progress *before, const ga_increment *now)
{
    if (!now->fresh || !now->near_round_off || now->iteration == 1) return false;
    for (int k = 0; k < GA_KINDS; ++k)
        if (now->norm[k] > 1 && now->norm[k] <= NO_PROGRESS * least_of(before, k)) return false;
    return true;
}

/* No progress for the second time, or suddenly. */
static bool has_arrived(const ga_progress *before, const ga_increment *now)
{
    if (!is_stalled(before, now)) return false;
    const double rate = motion_of(now) / motion_of(&before->last);
    const bool suddenly = now->iteration > 2 && before->last.fresh && before->motion_rate > 0 &&
                          rate > SUDDEN * before->motion_rate;
    return before->stalled || suddenly;
}

/* q and v are at round-off. Is lambda? With old tangents two increments do not tell what the
 * next would be: eta, too, is off by the round-off of q over the step. */
static bool lambda_has_arrived(const ga_progress *before, const ga_increment *now)
{
    const int times = before->settled + 1;
    if (now->lambda_is_noise) return (now->fresh && now->next_is_negligible) || times > 1;
    return times > 1 &&
           (contraction(before, now, GA_MULTIPLIERS) > NO_PROGRESS || times >= PATIENCE);
}

ga_newton_decision ga_newton_verdict(const ga_newton_goal *goal, const ga_newton_memory *memory,
                                     const ga_progress *before, const ga_increment *now)
{
    bool converged = true;
    for (int k = 0; k < GA_KINDS; ++k) {
        if (!isfinite(now->norm[k])) return GA_GIVE_UP;
        converged = converged && has_converged(goal, memory, before, now, k);
    }
    if (converged) return GA_CONVERGED;
    if (now->iteration == 1) return GA_GO_ON;
    if (is_settled(memory, now))
        return lambda_has_arrived(before, now) ? GA_CONVERGED : GA_GO_ON;
    if (is_stalled(before, now)) return has_arrived(before, now) ? GA_CONVERGED : GA_GO_ON;
    /* round-off goes up and down; if it keeps doing so, only new tangents show its level */
    if (before->settled)
        return now->fresh || now->iteration <= PATIENCE ? GA_GO_ON : GA_NEW_TANGENT;
    const rates r = rates_of(before, now);
    const double give_up = now->iteration > EARLY ? GIVE_UP_RATE_LATE : GIVE_UP_RATE_EARLY;
    if (r.fastest >= give_up && r.fastest < INFINITY) return GA_GIVE_UP;
    const int worth = now->fresh ? WORTH_FRESH : WORTH_OLD;
    return is_slow(goal, memory, before, now, worth) ? GA_NEW_TANGENT : GA_GO_ON;
}

/* --- memory ------------------------------------------------------------------------------ */

/* How this increment came out of the one before. What may be round-off is no reason to think
 * worse of the next one. */
static void learn_contraction(const ga_increment *last, const ga_increment *now,
                              ga_contraction *seen)
{
    if (!(motion_of(last) > 0)) return;
    for (int k = 0; k < GA_KINDS; ++k) {
        const double by = proportion(last, k), old = seen->coefficient[k];
        const double upper = ga_larger(now->norm[k], now->noise[k]) / by;
        const double lower = ga_larger(now->norm[k] - now->noise[k], 0) / by;
        const bool better = upper < old || old == 0;
        seen->coefficient[k] =
            better ? ga_larger(upper, SLOWEST_FALL * old) : ga_larger(lower, old);
    }
    seen->steps_left = MEMORY_STEPS;
}

/* Third increments and later ones show what old tangents are worth. */
static void learn_rate(const ga_progress *before, const ga_increment *now,
                       ga_newton_memory *memory)
{
    const rates r = rates_of(before, now);
    memory->motion_rate_per_step = ga_smaller(r.motion, 1) / now->age;
    memory->rate_per_step =
        ga_larger(memory->rate_per_step, ga_smaller(r.slowest, 1) / now->age);
    memory->steps_unseen = 0;
}

/* q and v have been at round-off twice, and lambda makes no progress. */
static bool lambda_flickers(const ga_newton_memory *memory, const ga_progress *before,
                            const ga_increment *now)
{
    return is_settled(memory, now) && before->settled &&
           contraction(before, now, GA_MULTIPLIERS) > NO_PROGRESS;
}

/* q and v have converged, and lambda suddenly contracts much more slowly than before. */
static bool lambda_shows_noise(const ga_newton_goal *goal, const ga_newton_memory *memory,
                               const ga_progress *before, const ga_increment *now)
{
    if (!now->fresh || !before->last.fresh || now->iteration <= 2 || !now->near_round_off)
        return false;
    for (int k = GA_POSITION; k <= GA_VELOCITY; ++k)
        if (left(goal, memory, before, now, k) > 1) return false;
    return contraction(before, now, GA_MULTIPLIERS) > SUDDEN * before->lambda_rate;
}

void ga_newton_learn(const ga_newton_goal *goal, const ga_progress *before,
                     const ga_increment *now, ga_newton_memory *memory)
{
    if (now->iteration == 1) return;
    if (now->fresh == before->last.fresh && now->iteration == 2)
        learn_contraction(&before->last, now, &memory->second[now->fresh]);
    if (now->age > 0 && now->iteration > 2) learn_rate(before, now, memory);
    if (lambda_flickers(memory, before, now) || lambda_shows_noise(goal, memory, before, now))
        memory->lambda_noise = ga_larger(memory->lambda_noise, now->lambda);
    if (goal->round_off && has_arrived(before, now))
        memory->round_off =
            ga_larger(memory->round_off,
                      ga_smaller(ga_larger(now->units[0], now->units[1]), HIGHEST_LEVEL));
}

void ga_newton_follow(const ga_newton_memory *memory, const ga_increment *now,
                      ga_progress *progress)
{
    progress->settled += is_settled(memory, now);
    progress->stalled += is_stalled(progress, now);
    if (now->iteration > 1) {
        progress->motion_rate = motion_of(now) / motion_of(&progress->last);
        progress->lambda_rate = contraction(progress, now, GA_MULTIPLIERS);
        for (int k = 0; k < GA_KINDS; ++k) progress->least[k] = least_of(progress, k);
    }
    progress->last = *now;
}

ga_newton_memory ga_newton_memory_empty(void)
{
    return (ga_newton_memory){.steps_unseen = MEMORY_STEPS + 1, .round_off = 1};
}

void ga_newton_fade(ga_newton_memory *memory, bool fresh)
{
    memory->round_off = ga_larger(1, KEEP_ROUND_OFF * memory->round_off);
    memory->lambda_noise *= KEEP_RATE;
    memory->rate_per_step *= KEEP_RATE;
    memory->motion_rate_per_step *= KEEP_MOTION;
    if (memory->steps_unseen <= MEMORY_STEPS) ++memory->steps_unseen;
    if (memory->second[fresh].steps_left) --memory->second[fresh].steps_left;
}

void ga_newton_forget_increments(ga_newton_memory *memory)
{
    for (int fresh = 0; fresh < 2; ++fresh) memory->second[fresh].steps_left = 0;
}

/* --- trust ------------------------------------------------------------------------------- */

/* M^-1 H u may be this part of the increment u: mass then outweighs stiffness, and contraction
 * rates are those of the error. */
static const double SOFT = 0.3;

bool ga_trust_is_soft(double norm, double withheld)
{
    return withheld <= 1 || withheld <= SOFT * norm;
}

bool ga_trust_is_solved(double undone) { return undone <= 1; }
