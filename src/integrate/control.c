/* The choice of step sizes.
 *
 * The controller aims at a local error per unit of time of tolerance/duration, so that the
 * error at the end follows the tolerance: a step passes if its error is at most
 * tolerance * h/duration. The method says how its estimate counts (ga_error). The next step
 * aims at 0.7 of what is allowed, with a smooth limiter; changes between -10 % and +20 % are
 * not made, so that factors serve on. Methods that suffer from abrupt changes get a filter
 * (Soederlind's H211b with b = 4) and ratios up to 1.5.
 *
 * A force that jumps inside a step leaves a change of v' that does not shrink with the step.
 * Once a step was far off, its end is under suspicion: the time before it is approached by
 * halving, until the step across is so short that its error, the change of v' times h, is small
 * against the whole tolerance. If the change is still there, it is a jump; the integration
 * starts anew behind it.
 */
#include "integrate/control.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

ga_status ga_controller_create(ga_onestep *m, const ga_control *def, ga_controller *c)
{
    memset(c, 0, sizeof *c);
    c->m = m;
    c->tolerance.def = *def;
    bool memory =
        (c->trial.q = GA_NEW(double, m->dae->nv)) && (c->trial.v = GA_NEW(double, m->dae->nv));
    if (!memory) ga_controller_destroy(c);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_controller_destroy(ga_controller *c)
{
    ga_free(c->trial.q);
    ga_free(c->trial.v);
    memset(c, 0, sizeof *c);
}

void ga_controller_forget_errors(ga_controller *c)
{
    const size_t size = (size_t)c->m->dae->nv * sizeof(double);
    memset(c->trial.q, 0, size);
    memset(c->trial.v, 0, size);
}

/* --- weights ------------------------------------------------------------------------------ */

static void observe_sizes(ga_controller *c)
{
    const ga_onestep *m = c->m;
    ga_tolerance *tol = &c->tolerance;
    tol->size_q[0] = ga_larger(tol->size_q[0], ga_dae_translation(m->dae, m->now.q));
    tol->size_q[1] = 1;
    ga_norm_raise(m->dae->nm, m->now.v, m->kind, 1, tol->size_v);
    ga_dae_observe_states(m->dae, m->now.v);
    for (int k = 0; k < 2; ++k)
        tol->size_v[k] = ga_larger(tol->size_v[k], tol->size_q[k] / tol->duration);
}

void ga_tolerance_weights(const ga_tolerance *tol, double of_q[2], double of_v[2])
{
    const ga_control *def = &tol->def;
    of_q[0] = def->absolute_translation + def->relative * tol->size_q[0];
    of_q[1] = def->absolute_rotation + def->relative * tol->size_q[1];
    of_v[0] = def->absolute_velocity + def->relative * tol->size_v[0];
    of_v[1] = def->absolute_angular_velocity + def->relative * tol->size_v[1];
}

/* Of state i. A state that was zero is as large as the attempt may have made it; in the first
 * few steps, as large as its rate makes it in this part of the duration. The few steps add no
 * more than a few per cent to the error at the end, since they are shorter than the time in
 * which the state changes. */
static double tolerance_of_state(const ga_onestep *m, int i)
{
    enum { FIRST_STEPS = 10 };
    static const double part = 1e-3;
    const ga_tolerance *tol = m->tolerance;
    const double first = m->now.steps < FIRST_STEPS ? part * tol->duration : 0;
    const double change = ga_larger(tol->h, first) * fabs(m->now.vd[m->dae->nm + i]);
    return m->tolerance->def.relative * ga_larger(ga_dae_state_size(m->dae, i), change);
}

/* Largest component of x by the tolerances; nothing is nothing by any. NaN if one is. */
static double weigh(const ga_onestep *m, const double *x, const double tolerance[2])
{
    double size[2] = {0, 0}, largest = 0;
    const double zero = ga_norm_raise(m->dae->nm, x, m->kind, 1, size); /* or NaN */
    for (int k = 0; k < 2; ++k)
        if (size[k] != 0) largest = ga_larger(largest, size[k] / tolerance[k]);
    return largest + zero;
}

static double larger_or_nan(double x, double y) { return x >= y || isnan(x) ? x : y; }

static double weigh_states(const ga_onestep *m, const double *v)
{
    double largest = 0;
    for (int i = 0; i < m->dae->nx; ++i) {
        const double x = fabs(v[m->dae->nm + i]);
        if (x != 0) largest = larger_or_nan(largest, x / tolerance_of_state(m, i));
    }
    return largest;
}

double ga_tolerance_weigh(const ga_onestep *m, const double *error_q, const double *error_v)
{
    double of_q[2], of_v[2];
    ga_tolerance_weights(m->tolerance, of_q, of_v);
    const double q = weigh(m, error_q, of_q);
    if (!error_v) return q;
    return larger_or_nan(larger_or_nan(q, weigh(m, error_v, of_v)), weigh_states(m, error_v));
}

double ga_tolerance_change(const ga_onestep *m, const double *vd_old, const double *vd)
{
    double of_q[2], of_v[2], largest = 0;
    ga_tolerance_weights(m->tolerance, of_q, of_v);
    for (int i = 0; i < m->dae->nv; ++i) {
        const bool state = i >= m->dae->nm;
        const double unit = state ? tolerance_of_state(m, i - m->dae->nm) : of_v[m->kind[i]];
        largest = ga_larger(largest, fabs(vd[i] - vd_old[i]) / unit);
    }
    return largest;
}

double ga_tolerance_size(const ga_onestep *m, int i, bool of_q)
{
    const ga_tolerance *tol = m->tolerance;
    if (i >= m->dae->nm) return of_q ? 0 : ga_dae_state_size(m->dae, i - m->dae->nm);
    return (of_q ? tol->size_q : tol->size_v)[m->kind[i]];
}

double ga_tolerance_largest(const ga_onestep *m)
{
    const ga_tolerance *tol = m->tolerance;
    double of_q[2], of_v[2], largest = m->dae->nx ? 1 / tol->def.relative : 0;
    ga_tolerance_weights(tol, of_q, of_v);
    for (int k = 0; k < 2; ++k) {
        if (of_q[k] > 0) largest = ga_larger(largest, tol->size_q[k] / of_q[k]);
        if (of_v[k] > 0) largest = ga_larger(largest, tol->size_v[k] / of_v[k]);
    }
    return largest;
}

/* Of eps: what round-off leaves in an estimate, seen with Kepler's problem, pendulums and
 * mechanisms in index 2. More would pardon errors that add up. */
static const double NOISE = 4;

/* In index 3 multipliers have round-off of positions over h^2. Forces that depend on them, such
 * as friction, have it too, and put h times as much into the velocities: here by the tolerance.
 * The shorter the step, the larger it is. */
static double force_noise(const ga_controller *c, double h)
{
    const ga_dae *dae = c->m->dae;
    double of_q[2], of_v[2], largest = 0;
    if (!dae->m || c->m->velocity_level || !dae->L.count) return 0;
    ga_tolerance_weights(&c->tolerance, of_q, of_v);
    for (int k = 0; k < 2; ++k)
        if (of_v[k] > 0) largest = ga_larger(largest, c->tolerance.size_q[k] / (h * of_v[k]));
    return NOISE * DBL_EPSILON * largest;
}

/* Of the tolerance: where there is noise of forces, as much error is allowed in a step. Without
 * it steps in which noise prevails would get shorter and shorter; with more, errors would add
 * up. */
static const double MOST_FORCE_NOISE = 1e-3;

static void allow_force_noise(const ga_controller *c, double h, ga_error *e)
{
    const double most = ga_smaller(force_noise(c, h), MOST_FORCE_NOISE);
    if (most > 0) e->excess = ga_smaller(e->excess, e->local / most);
}

/* What round-off makes of the estimate, by the tolerance. Shorter steps do not lower it. */
static double noise(const ga_controller *c)
{
    return NOISE * DBL_EPSILON * (1 + c->trial.amplification) * ga_tolerance_largest(c->m);
}

/* --- the first step ----------------------------------------------------------------------- */

double ga_tolerance_max_step(const ga_onestep *m)
{
    const ga_control *def = &m->tolerance->def;
    const double most = def->max_step > 0 ? def->max_step : INFINITY;
    const double given = def->given_step > 0 ? def->given_step : INFINITY;
    return ga_smaller(most, ga_larger(m->given_steps, 1) * given);
}

double ga_tolerance_clamp(const ga_onestep *m, double h)
{
    return ga_smaller(h, ga_tolerance_max_step(m));
}

/* A time over which the state changes by a thousandth of its size, at most that of the whole.
 * The size of a coordinate is the largest of its kind so far, or what the absolute tolerance
 * makes count. */
double ga_tolerance_cautious_step(const ga_onestep *m)
{
    const ga_tolerance *tol = m->tolerance;
    const double absolute[2] = {tol->def.absolute_translation, tol->def.absolute_rotation};
    double h = 1e-3 * tol->duration;
    for (int i = 0; i < m->dae->nm; ++i) {
        const int k = m->kind[i];
        const double least = ga_larger(tol->size_q[k], absolute[k] / tol->def.relative);
        const double size = ga_larger(least, DBL_MIN), v = m->now.v[i], vd = m->now.vd[i];
        if (v != 0) h = ga_smaller(h, 1e-3 * size / fabs(v));
        if (vd != 0) h = ga_smaller(h, sqrt(1e-3 * size / fabs(vd)));
    }
    for (int i = 0; i < m->dae->nx; ++i) { /* one that is zero may grow from nothing */
        const double size = ga_dae_state_size(m->dae, i),
                     rate = fabs(m->now.vd[m->dae->nm + i]);
        const double least = 1e-6 * tol->duration;
        if (rate != 0) h = ga_smaller(h, ga_larger(1e-3 * size / rate, least));
    }
    h = ga_larger(h, ga_larger(1e-12 * tol->duration, tol->def.min_step));
    return ga_tolerance_clamp(m, h);
}

ga_status ga_tolerance_first_step(ga_onestep *m, ga_leading_error *leading, bool per_step,
                                  double power, double *first)
{
    const ga_tolerance *tol = m->tolerance;
    const double longest = 0.01 * tol->duration;
    double h = *first > 0 ? *first : ga_tolerance_cautious_step(m);
    for (int pass = 0; pass < 2; ++pass) {
        double e;
        ga_status status = leading(m, h, &e);
        for (int tries = 0; status != GA_OK && ga_step_may_retry(status) && tries < 8;
             ++tries) {
            h *= 0.1; /* not defined that far */
            status = leading(m, h, &e);
        }
        GA_TRY(status);
        if (*first > 0 || !isfinite(e)) break; /* no size to compare with yet: stay cautious */
        const double units = per_step ? 1 : tol->duration;
        const double next = e > 0 ? pow(0.25 / (e * units), power) : longest;
        h = ga_smaller(ga_smaller(next, longest), pass ? 10 * h : 1e3 * h);
        h = ga_tolerance_clamp(m, h);
        if (tol->def.min_step > 0) h = ga_larger(h, tol->def.min_step);
    }
    *first = h;
    return GA_OK;
}

/* Relative noise of rates of states: round-off, or that of multipliers they depend on where
 * accelerations of constraints are difference quotients; see difference.c. */
static double noise_of_rates(const ga_dae *dae)
{
    const ga_system *sys = &dae->sys;
    if (!dae->L_states.count) return 16 * DBL_EPSILON;
    if (dae->noise > 0) return 2e-8;
    const bool quotients =
        (dae->m && !sys->acceleration_rhs) || (dae->p && !sys->nonholonomic_rhs);
    return quotients ? 1e-11 : 16 * DBL_EPSILON;
}

/* A state counts as at least this much of what the terms of its rate, each by itself, would
 * make of it over the duration; a state that oscillates reaches all of it after 1/(2 pi) of a
 * million periods. More where noise of the rate needs it. LEAST_UNKNOWN, in the unit of the
 * state, serves where nothing is known. */
static const double LEAST_STATE = 1e-6, LEAST_UNKNOWN = 1e-9;

static void find_least_states(ga_controller *c)
{
    const ga_onestep *m = c->m;
    ga_tolerance *tol = &c->tolerance;
    ga_dae *dae = m->dae;
    double *change = dae->state_work;
    if (!dae->nx) return;
    const ga_point at =
        ga_dae_point(dae, m->now.t, m->now.q, m->now.v, m->now.vd, m->now.multipliers);
    const ga_influence from = {.q = {tol->size_q[0], tol->size_q[1]},
                               .v = {tol->size_v[0], tol->size_v[1]},
                               .x = dae->state_size,
                               .multipliers = ga_norm_max(dae->mp, m->now.multipliers),
                               .rate = m->now.vd + dae->nm};
    const ga_status status = ga_dae_state_changes_at(dae, &at, tol->duration, &from, change);
    const double part = ga_larger(LEAST_STATE, noise_of_rates(dae) / tol->def.relative);
    for (int i = 0; i < dae->nx; ++i) {
        const bool known = status == GA_OK && change[i] > 0;
        const double least = known ? part * change[i] : LEAST_UNKNOWN;
        dae->state_least[i] = ga_larger(dae->state_least[i], least);
        dae->state_known[i] = dae->state_size[i];
    }
    for (int k = 0; k < 2; ++k) tol->known_v[k] = tol->size_v[k];
}

/* Anew where what rates depend on has doubled since. */
static void follow_least_states(ga_controller *c)
{
    const ga_dae *dae = c->m->dae;
    bool doubled = false;
    for (int k = 0; dae->nx && k < 2; ++k)
        doubled |= c->tolerance.size_v[k] > 2 * c->tolerance.known_v[k];
    for (int i = 0; i < dae->nx; ++i)
        doubled |= dae->state_size[i] > 2 * ga_larger(dae->state_known[i], dae->state_least[i]);
    if (doubled) find_least_states(c);
}

static void forget_suspect(ga_controller *c)
{
    c->suspect = -INFINITY;
    c->suspect_change = 0;
}

ga_status ga_controller_start(ga_controller *c, double h_guess)
{
    ga_onestep *m = c->m;
    double h = h_guess;
    m->tolerance = &c->tolerance;
    c->tolerance.h = 0;
    observe_sizes(c);
    find_least_states(c);
    if (m->type->control)
        GA_TRY(m->type->control(m, &h));
    else if (!(h > 0))
        h = ga_tolerance_cautious_step(m);
    c->h = h;
    c->excess_old = 0;
    forget_suspect(c);
    return m->type->start(m, h, true);
}

/* --- the step after the last -------------------------------------------------------------- */

/* Of what is allowed: the error aimed at. */
static const double AIM = 0.7;

/* Shorter steps end nearer still to a singular position, where round-off is all that is left of
 * the estimate: across it instead. */
static const double LEAP = 1.7;

/* Of the tolerance: such a step may spend so much. By its part of the time it would get so
 * little that none of them passes. */
static const double LEAP_STEP = 1e-2;
enum { MOST_LEAPS = 90 }; /* towards a dead point there would be no end of them */

static bool leaps(const ga_error *e) { return e->amplification > 1e3; }

/* The factor for the next step after an accepted one of size h. */
static double next_factor(ga_controller *c, double h)
{
    ga_onestep *m = c->m;
    const ga_error *e = &c->trial;
    const double wish = pow(AIM / ga_larger(e->excess, 1e-8), e->power);
    ga_growth growth = {.h = h, .wish = wish, .most = 2};
    if (m->type->plan) m->type->plan(m, AIM, &growth);
    if (c->pardoned) growth.wish = ga_larger(growth.wish, 1);
    if (leaps(e)) growth.wish = ga_larger(growth.wish, LEAP);
    if (growth.filtered) {
        const double old = c->excess_old > 0 ? pow(AIM / c->excess_old, e->power) : growth.wish;
        const double ratio = m->now.steps > 1 ? m->now.h / c->h_old : 1;
        const double factor = pow(growth.wish * old, 0.25) * pow(ratio, -0.25);
        return ga_smaller(ga_larger(factor, 0.2), 1.5);
    }
    const double factor = 1 + atan(growth.wish - 1);
    if (!growth.small_change && factor >= 0.9 && factor <= 1.2) return 1;
    return ga_smaller(ga_larger(factor, 0.2), growth.most);
}

/* After an accepted step of size h. One shortened to land on t_stop or near a suspect says
 * nothing about the next one. */
static void choose_next(ga_controller *c, double h, double wanted)
{
    const double next = h * next_factor(c, h);
    c->h = h < 0.9 * wanted ? ga_larger(wanted, next) : next;
    c->h_old = c->m->now.h;
    c->excess_old = c->trial.excess;
    if (c->m->now.t >= c->suspect) forget_suspect(c);
}

/* --- jumps -------------------------------------------------------------------------------- */

/* On the way to a suspected jump steps get so short that the estimate means little per unit of
 * time; a local error of this much of the tolerance passes in any case. */
static const double negligible = 1e-3;

/* Not across a time under suspicion, unless the step there is short enough; or so short that
 * halving it once more would end in round-off: a narrow pulse looks like a jump from afar. */
static double approach_suspect(const ga_controller *c, double h)
{
    double left = c->suspect - c->m->now.t;
    if (!(left > 0 && h > 0.5 * left)) return h;
    if (left <= 1e-12 * ga_larger(fabs(c->suspect), c->tolerance.duration)) return left;
    return left * c->suspect_change <= c->m->jump_part ? left : 0.5 * left;
}

typedef enum ga_jump { NO_JUMP, PASSED, HARMLESS } ga_jump;

/* Is what makes this trial fail a jump? Then it may be passed if the step is short; else it is
 * suspected. On the way to a suspect, what does not cross it may be harmless. */
static ga_jump judge_jump(ga_controller *c, double h, double t1)
{
    const ga_error *e = &c->trial;
    const double change = e->change;
    if (change < 0 || h * change < force_noise(c, h)) return NO_JUMP;
    bool persists =
        c->suspect_change > 0 && change > 0.7 * c->suspect_change && h <= 0.8 * c->suspect_step;
    if (persists && h * change <= c->m->jump_part) return PASSED;
    if (!persists && c->suspect_change > 0 && e->local <= negligible) return HARMLESS;
    /* next to a singular position accelerations are noise, no sign of a jump */
    bool nobody_else = c->suspect_change == 0 && e->excess > 20 && e->amplification < 10;
    if (persists || nobody_else) {
        c->suspect = t1;
        c->suspect_change = change;
        c->suspect_step = h;
    }
    return NO_JUMP;
}

/* --- steps -------------------------------------------------------------------------------- */

/* After so many rejections of one step a new start is tried, unless the last one is only a few
 * steps ago. */
enum { futile = 12, few = 5 };

/* A step being looked for. */
typedef struct ga_search {
    double h, t1, t_stop;
    double wanted; /* h before it was changed to end somewhere */
    double least;  /* smallest h */
    bool evaded;   /* a singular position at the end of the step */
    int leaps;     /* tries to get across a singular position */
} ga_search;

/* The coordinate with the largest error of the last trial, by sizes; -1 if there is none. */
static int worst_coordinate(const ga_controller *c)
{
    double most = 0;
    int worst = -1;
    for (int i = 0; i < c->m->dae->nv; ++i) {
        const bool state = i >= c->m->dae->nm;
        const double size_q = ga_larger(ga_tolerance_size(c->m, i, true), DBL_MIN);
        const double size_v = ga_larger(ga_tolerance_size(c->m, i, false), DBL_MIN);
        const double q = state ? 0 : fabs(c->trial.q[i]) / size_q;
        const double v = fabs(c->trial.v[i]) / size_v;
        const double error = c->trial.positions_only ? q : ga_larger(q, v);
        if (error > most) {
            most = error;
            worst = i;
        }
    }
    return worst;
}

static ga_status too_small(const ga_controller *c, double h, ga_status cause, ga_report *report)
{
    const ga_status status = cause == GA_OK ? GA_ERR_STEP_SIZE : cause;
    ga_onestep_explain(c->m, status, h, report);
    if (report && cause == GA_OK) report->column = worst_coordinate(c);
    return status;
}

/* Where to step to: not beyond t_stop, and no sliver left before it. */
static void choose_end(const ga_controller *c, ga_search *k)
{
    const double t = c->m->now.t, left = k->t_stop - t;
    k->h = approach_suspect(c, k->h);
    if (k->h >= left * (1 - 1e-9)) {
        k->h = left;
        k->t1 = k->t_stop;
    } else {
        if (k->h > 0.5 * left) k->h = 0.5 * left;
        k->t1 = t + k->h;
    }
}

static void choose_step(const ga_controller *c, ga_search *k)
{
    const double t = c->m->now.t;
    k->wanted = k->h;
    k->least = ga_larger(c->tolerance.def.min_step,
                         16 * DBL_EPSILON * ga_larger(fabs(t), k->t_stop - t));
    choose_end(c, k);
}

/* Starts anew at the current state: whatever it was that went wrong, it may have been behind.
 */
static ga_status restart_here(ga_controller *c, ga_report *report)
{
    ga_onestep *m = c->m;
    GA_TRY(m->type->restart(m, m->now.t, m->now.q, m->now.v, m->now.t, report));
    ++c->stats.restarts;
    ga_status status = ga_controller_start(c, 0);
    if (status != GA_OK) ga_onestep_explain(m, status, m->now.h, report);
    return status;
}

/* The attempt becomes the solution; else k->h is what to try next, 0 if there is nothing. */
static ga_status accept(ga_controller *c, ga_search *k)
{
    ga_onestep *m = c->m;
    ga_error *e = &c->trial;
    double shorter = 0;
    e->third_order = false;
    e->stiff = 0;
    ga_status status = m->type->accept(m, e, &shorter);
    if (status != GA_OK) {
        k->h *= shorter;
        return status;
    }
    c->stats.error_sum += e->contribution;
    c->stats.third_order += e->third_order;
    c->stats.stiff += e->stiff;
    observe_sizes(c);
    follow_least_states(c);
    choose_next(c, k->h, k->wanted);
    return GA_OK;
}

/* The factor for a step whose error is too large. */
static double shrink(const ga_controller *c, ga_search *k)
{
    const ga_error *e = &c->trial;
    double factor = ga_smaller(ga_larger(pow(AIM / e->excess, e->power), 0.2), 0.9);
    if (c->suspect == k->t1) factor = 0.5;
    if (leaps(e) && k->leaps++ < 4) factor = LEAP;
    return isfinite(e->excess) ? factor : 0.2;
}

typedef enum ga_outcome { TAKEN, REJECTED, FAILED } ga_outcome;

/* A transient that lasts for a tiny part of the duration, as when a strong brake has stopped
 * its disc, may spend a part of the whole tolerance. By its part of the time it would get so
 * little that steps reach round-off of time. This is for high orders, which pass it in a few
 * steps: in the many of a low order so much error would be left that the balance of energy
 * suffers. A force that chatters is not passed in a few. */
static const double BRIEF = 1e-10, BRIEF_STEP = 1e-3, BRIEF_POWER = 0.3;
enum { MOST_BRIEF = 100 };

static bool is_brief(const ga_controller *c, double h)
{
    const ga_error *e = &c->trial;
    return e->power < BRIEF_POWER && h <= BRIEF * c->tolerance.duration &&
           e->local <= BRIEF_STEP && c->brief < MOST_BRIEF;
}

static bool may_leap(const ga_controller *c, const ga_error *e)
{
    return leaps(e) && c->brief < MOST_LEAPS;
}

/* What becomes of an attempt that has converged. */
static ga_outcome judge(ga_controller *c, ga_search *k, bool *jumped, ga_status *status)
{
    ga_onestep *m = c->m;
    ga_error *e = &c->trial;
    m->type->error(m, e);
    c->error = e->excess;
    c->pardoned = e->local <= noise(c);
    allow_force_noise(c, k->h, e);
    if (c->pardoned) e->excess = ga_smaller(e->excess, AIM);
    const bool leap = may_leap(c, e);
    const bool spends = leap && e->excess > 1;
    if (leap) e->excess = ga_smaller(e->excess, e->local / LEAP_STEP);
    e->passed = e->excess <= 1;
    const ga_jump jump = e->passed ? NO_JUMP : judge_jump(c, k->h, k->t1);
    const bool brief = !e->passed && jump != PASSED && is_brief(c, k->h);
    if (brief) {
        e->excess = ga_smaller(e->excess, e->local / BRIEF_STEP);
    } else if (!e->passed && jump == NO_JUMP) {
        const double factor = shrink(c, k);
        if (m->type->reject) m->type->reject(m, e);
        k->h *= factor;
        return REJECTED;
    }
    c->stats.jumps += jump == PASSED;
    *status = accept(c, k);
    c->brief += (brief || spends) && *status == GA_OK;
    *jumped = *status == GA_OK && jump == PASSED;
    if (*status == GA_OK) return TAKEN;
    if (k->h > 0 && m->type->reject) m->type->reject(m, NULL);
    return k->h > 0 ? REJECTED : FAILED;
}

/* A step that would end next to a singular position ends so far before it that the next one,
 * of the size that this one had, has it about in its middle. */
static const double EVADE = 0.5;

/* One attempt; *status tells why it failed or was rejected, GA_OK: because of its error. */
static ga_outcome try_step(ga_controller *c, ga_search *k, bool *jumped, ga_status *status)
{
    ga_onestep *m = c->m;
    *status = GA_OK;
    if (m->now.steps == 0 && k->h != m->now.h) *status = m->type->start(m, k->h, true);
    if (*status != GA_OK) return FAILED;
    c->tolerance.h = k->h;
    *status = m->type->attempt(m, k->h, k->t1);
    const bool may_evade = *status == GA_OK && !k->evaded && k->t1 != k->t_stop;
    if (may_evade && m->type->evade && m->type->evade(m, *status)) {
        k->evaded = true;
        ++m->stats->evasions;
        k->h *= EVADE;
    } else if (*status == GA_OK) {
        return judge(c, k, jumped, status);
    } else {
        if (!ga_step_may_retry(*status)) return FAILED;
        k->h *= 0.3;
    }
    if (m->type->reject) m->type->reject(m, NULL);
    return REJECTED;
}

/* The method may go on in another way; if that cannot start, it goes on as it was. */
static ga_status hand_over(ga_controller *c, ga_status failure, bool *handed, ga_report *report)
{
    ga_onestep *m = c->m;
    double h = c->h;
    *handed = false;
    if (!m->type->hand_over) return GA_OK;
    GA_TRY(m->type->hand_over(m, failure, handed, &h, report));
    if (!*handed) return GA_OK;
    const ga_controller before = *c;
    ga_status status = ga_controller_start(c, ga_tolerance_clamp(m, h));
    if (status == GA_OK && m->type->warm) status = m->type->warm(m);
    if (status == GA_OK) return GA_OK;
    *handed = false;
    *c = before;
    m->type->go_back(m);
    if (ga_step_may_retry(status)) return GA_OK;
    ga_onestep_explain(m, status, h, report);
    return status;
}

/* One accepted step by the method as it is. */
static ga_status find_step(ga_controller *c, double t_stop, bool *jumped, ga_report *report)
{
    const ga_onestep *m = c->m;
    const ga_control *def = &c->tolerance.def;
    ga_search k = {.h = ga_tolerance_clamp(m, c->h), .t_stop = t_stop};
    ga_status cause = GA_OK; /* of the last rejection */
    for (int rejections = 0;; ++rejections) {
        if (rejections == futile && m->now.steps > few) {
            GA_TRY(restart_here(c, report));
            k.h = ga_tolerance_clamp(m, c->h);
        }
        choose_step(c, &k);
        if (k.h < k.least && k.t1 != t_stop) return too_small(c, k.h, cause, report);
        const double tried = k.h;
        ga_status status;
        const ga_outcome outcome = try_step(c, &k, jumped, &status);
        if (outcome == TAKEN) return GA_OK;
        if (outcome == FAILED) return too_small(c, tried, status, report);
        /* what is not finite just ahead is why the steps before it get short */
        if (status != GA_OK || cause != GA_ERR_NOT_FINITE) cause = status;
        ++c->stats.rejected;
        const bool short_now = k.h < k.least;
        if (short_now && (m->now.steps <= few || rejections > futile))
            return too_small(c, k.h, cause, report);
        if (short_now) rejections = futile - 1;
        if (rejections >= def->max_rejections) return too_small(c, k.h, cause, report);
    }
}

ga_status ga_controller_step(ga_controller *c, double t_stop, bool *jumped, ga_report *report)
{
    bool handed;
    c->tolerance.t_stop = t_stop;
    *jumped = false;
    GA_TRY(hand_over(c, GA_OK, &handed, report));
    for (;;) {
        const ga_status status = find_step(c, t_stop, jumped, report);
        if (status == GA_OK || !ga_step_may_retry(status)) return status;
        GA_TRY(hand_over(c, status, &handed, NULL));
        if (!handed) return status;
    }
}
