/* The choice of step sizes; see control.h for the estimate.
 *
 * allow = h/(t_end - t_0); a step passes if local error <= tolerance * allow. The next step
 * aims at 0.7 of that, with a smooth limiter; changes between -10 % and +20 % are not made, so
 * that the factors serve on. Index 3, whose multipliers suffer from abrupt changes, has a
 * filter of its own (Soederlind's H211b with b = 4) and ratios up to 1.5.
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

ga_status ga_controller_create(ga_stepper *s, const ga_control *def, ga_controller *c)
{
    memset(c, 0, sizeof *c);
    c->s = s;
    c->def = *def;
    bool memory = (c->error_q = GA_NEW(double, s->nv)) &&
                  (c->error_v = GA_NEW(double, s->nv)) && (c->vdd = GA_NEW(double, s->nv)) &&
                  (c->vddd = GA_NEW(double, s->nv)) && ga_order_create(c, &c->order) == GA_OK;
    if (!memory) ga_controller_destroy(c);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_controller_destroy(ga_controller *c)
{
    ga_free(c->error_q);
    ga_free(c->error_v);
    ga_free(c->vdd);
    ga_free(c->vddd);
    ga_order_destroy(&c->order);
    memset(c, 0, sizeof *c);
}

/* --- weights ----------------------------------------------------------------------------- */

static void observe_sizes(ga_controller *c, const double *q, const double *v)
{
    const ga_stepper *s = c->s;
    c->size_q[0] = ga_larger(c->size_q[0], ga_dae_translation(&s->dae, q));
    c->size_q[1] = 1;
    ga_newton_raise(s, v, 1, c->size_v);
    for (int k = 0; k < 2; ++k)
        c->size_v[k] = ga_larger(c->size_v[k], c->size_q[k] / c->duration);
}

/* Sizes of both kinds by their tolerances; nothing is nothing by any. */
static double weigh_kinds(const double size[2], double relative, const double sizes[2],
                          double absolute_translation, double absolute_rotation)
{
    const double w[2] = {absolute_translation + relative * sizes[0],
                         absolute_rotation + relative * sizes[1]};
    double largest = 0;
    for (int k = 0; k < 2; ++k)
        if (size[k] != 0) largest = ga_larger(largest, size[k] / w[k]);
    return largest;
}

double ga_controller_weigh(const ga_controller *c, const double *error_q, const double *error_v)
{
    const ga_control *def = &c->def;
    double q[2] = {0, 0}, v[2] = {0, 0};
    const double zero = ga_newton_raise(c->s, error_q, 1, q); /* or NaN */
    const double of_q = weigh_kinds(q, def->relative, c->size_q, def->absolute_translation,
                                    def->absolute_rotation);
    if (def->mode == GA_ERROR_POSITIONS) return of_q + zero;
    const double zero_v = ga_newton_raise(c->s, error_v, 1, v);
    const double of_v = weigh_kinds(v, def->relative, c->size_v, def->absolute_velocity,
                                    def->absolute_angular_velocity);
    return ga_larger(of_q, of_v) + (zero + zero_v);
}

/* Near a singular position round-off grows like one over the distance, which is the root of the
 * smallest eigenvalue, at the end of the step or before. The factor is what was seen. */
static double amplification(const ga_controller *c)
{
    const ga_regular *g = &c->s->regular;
    double least = ga_smaller(g->least, g->least_old);
    return g->watching && least > 0 ? ga_smaller(0.03 / sqrt(least), 1e4) : 0;
}

/* Of the trial that is to be accepted. */
static void remember_root(ga_controller *c)
{
    const ga_regular *g = &c->s->regular;
    c->root[1] = c->root[0];
    c->root_time[1] = c->root_time[0];
    c->root[0] = g->watching && g->seen && g->least > 0 ? sqrt(g->least) : INFINITY;
    c->root_time[0] = c->s->t1;
}

/* A step that carries across a singular position, as far behind it as it is ahead, if that is
 * near and round-off matters there: it would grow with each small step towards it. Else 0. */
static double crossing_step(const ga_controller *c, double h)
{
    if (!(c->root[0] < c->root[1]) || !(c->root[1] < INFINITY) || amplification(c) < 30)
        return 0;
    double speed = (c->root[1] - c->root[0]) / (c->root_time[0] - c->root_time[1]);
    double ahead = c->root[0] / speed;
    return ahead < 4 * h ? 2 * ahead : 0;
}

/* Of the whole tolerance: what such a step may cost. */
static const double crossing_error = 1e-2;

/* Of eps: what round-off leaves in an estimate, seen with Kepler's problem, pendulums and
 * mechanisms in index 2. More would pardon errors that add up. */
static const double NOISE = 4;

/* In index 3 multipliers have round-off of positions over h^2. Forces that depend on them, such
 * as friction, have it too, and put h times as much into the velocities: here by the tolerance.
 * The shorter the step, the larger it is. */
static double force_noise(const ga_controller *c, double h)
{
    const ga_stepper *s = c->s;
    const ga_control *def = &c->def;
    const double absolute[2] = {def->absolute_velocity, def->absolute_angular_velocity};
    double largest = 0;
    if (!s->m || s->form->velocity_level || !s->dae.L.count) return 0;
    for (int k = 0; k < 2; ++k) {
        const double w = absolute[k] + def->relative * c->size_v[k];
        if (w > 0) largest = ga_larger(largest, c->size_q[k] / (h * w));
    }
    return NOISE * DBL_EPSILON * largest;
}

/* Of the tolerance: noise of forces up to this is pardoned in a step. Without it steps in which
 * noise prevails would get shorter and shorter; with more, errors would add up. */
static const double MOST_FORCE_NOISE = 1e-3;

/* What round-off makes of the estimate, by the tolerance. Shorter steps do not lower it. */
static double noise(const ga_controller *c, double h)
{
    const ga_control *def = &c->def;
    const double absolute_q[2] = {def->absolute_translation, def->absolute_rotation};
    const double absolute_v[2] = {def->absolute_velocity, def->absolute_angular_velocity};
    double largest = 0;
    for (int k = 0; k < 2; ++k) {
        double w_q = absolute_q[k] + def->relative * c->size_q[k];
        double w_v = absolute_v[k] + def->relative * c->size_v[k];
        if (w_q > 0) largest = ga_larger(largest, c->size_q[k] / w_q);
        if (w_v > 0) largest = ga_larger(largest, c->size_v[k] / w_v);
    }
    return ga_larger(NOISE * DBL_EPSILON * (1 + amplification(c)) * largest,
                     ga_smaller(force_noise(c, h), MOST_FORCE_NOISE));
}

/* What a step of size h may contribute: its share of the time; all of the tolerance where the
 * estimate is of an error that is taken away. */
static bool per_unit_step(const ga_controller *c)
{
    return c->def.mode != GA_ERROR_EXTRAPOLATE;
}

static double allowed(const ga_controller *c, double h)
{
    return per_unit_step(c) ? h / c->duration : 1;
}

/* Errors of velocities are not tested where only positions count, but turn into errors of
 * positions: so these get less than all of the tolerance. Formulations whose velocities are not
 * those of index 2 have larger ones: a slider-crank in index 3 ended with four times the error
 * for the same local errors. */
static double slow_share(const ga_controller *c)
{
    return c->s->m == 0 || c->s->form->has_eta ? 0.5 : 0.2;
}

/* Error of the trial by what is allowed. Where only positions count, an unresolved stiff
 * oscillation shows an error of its own, small amplitude in every step. That does not add up,
 * and may be as large as the tolerance; what is left without stiff modes does. */
static double find_excess(ga_controller *c, double h)
{
    c->share = c->def.mode == GA_ERROR_EXTRAPOLATE ? 0 : c->local;
    if (c->def.mode != GA_ERROR_POSITIONS) return c->local / allowed(c, h);
    const double slow = c->share = ga_controller_slow(c);
    return ga_larger(c->local, slow / (slow_share(c) * allowed(c, h)));
}

/* The error of a step is O(h^3), or O(h^4) without its leading term: by what power of it the
 * step is to be changed. */
static double control_power(const ga_controller *c)
{
    return per_unit_step(c) && !ga_order_is_third(&c->order) ? 0.5 : 1.0 / 3;
}

/* --- the first step ----------------------------------------------------------------------- */

static double clamp_step(const ga_controller *c, double h)
{
    if (c->def.max_step > 0) h = ga_smaller(h, c->def.max_step);
    return h;
}

/* Weighted error of a step of size 1, if the leading term were all. */
static double leading_error(ga_controller *c)
{
    const ga_stepper *s = c->s;
    const double D = s->method.shift;
    const double kq = (1 - 6 * s->def.method.beta - 3 * D) / 6, kv = 1.0 / 12 + 0.5 * D * D;
    double *v = c->s->work, *e = c->error_q;
    ga_nodes_bracket(s->dae.sys.node_count, s->dae.sys.nodes, s->now.v, s->now.vd, e);
    for (int i = 0; i < s->nv; ++i) {
        e[i] = fabs(kq * c->vdd[i]) + fabs(e[i]) / 12;
        v[i] = kv * c->vddd[i];
    }
    return ga_controller_weigh(c, e, v);
}

/* Size of coordinate i: the largest of its kind so far, or what the absolute tolerance makes
 * count. */
static double typical_size(const ga_controller *c, int i)
{
    int k = c->s->kind[i];
    double absolute = k ? c->def.absolute_rotation : c->def.absolute_translation;
    return ga_larger(ga_larger(c->size_q[k], absolute / c->def.relative), DBL_MIN);
}

/* A time over which the state changes by a thousandth of its size, at most that of the whole.
 */
static double cautious_step(const ga_controller *c)
{
    const ga_stepper *s = c->s;
    double h = 1e-3 * c->duration;
    for (int i = 0; i < s->nv; ++i) {
        double size = typical_size(c, i);
        if (s->now.v[i] != 0) h = ga_smaller(h, 1e-3 * size / fabs(s->now.v[i]));
        if (s->now.vd[i] != 0) h = ga_smaller(h, sqrt(1e-3 * size / fabs(s->now.vd[i])));
    }
    return ga_larger(h, 1e-12 * c->duration);
}

/* After so many rejections of one step a new start is tried, unless the last one is only a few
 * steps ago. */
enum { futile = 12, few = 5 };

static void forget_suspect(ga_controller *c)
{
    c->suspect = -INFINITY;
    c->suspect_change = 0;
}

/* v'', v''' and the first step from the leading term of the error. */
static ga_status choose_first(ga_controller *c, double h_guess, double *first)
{
    ga_stepper *s = c->s;
    double h = h_guess > 0 ? h_guess : clamp_step(c, cautious_step(c));
    for (int pass = 0; pass < 2; ++pass) {
        ga_status status = ga_start_derivatives(s, h, c->vdd, c->vddd);
        for (int tries = 0; status != GA_OK && ga_step_may_retry(status) && tries < 8;
             ++tries) {
            h *= 0.1; /* not defined that far */
            status = ga_start_derivatives(s, h, c->vdd, c->vddd);
        }
        GA_TRY(status);
        if (h_guess > 0) break;
        double e = leading_error(c); /* e h^3 <= allowed(h)/4 */
        double share = per_unit_step(c) ? c->duration : 1;
        if (!isfinite(e)) break; /* no size to compare with yet: stay cautious */
        double next = e > 0 ? pow(0.25 / (e * share), control_power(c)) : 0.01 * c->duration;
        h = clamp_step(
            c, ga_smaller(ga_smaller(next, 0.01 * c->duration), pass ? 10 * h : 1e3 * h));
        if (c->def.min_step > 0) h = ga_larger(h, c->def.min_step);
    }
    *first = h;
    return GA_OK;
}

/* Newton's method goes on until the solution is known this much better than asked for, and to
 * the second number of sizes. What that leaves of the constraints is looked at when the step is
 * accepted (is_off in step.c). */
static const double NEWTON_SHARE = 1e-5, NEWTON_LARGEST = 1e-11;

/* Extrapolated states are put back on the constraints (ga_start_project); and new tangents in
 * every step leave the square of an increment, so that most steps are done much better than
 * that. */
static const double NEWTON_SHARE_SLIDING = 1e-3;

/* Errors of lambda do not go on to later steps. */
static const double MULTIPLIERS_SHARE = 1e-3;

void ga_controller_set_newton(ga_controller *c)
{
    ga_stepper *s = c->s;
    double enough = ga_smaller(NEWTON_SHARE * c->def.relative, NEWTON_LARGEST);
    if (s->slides) enough = NEWTON_SHARE_SLIDING * c->def.relative;
    ga_newton_set(s, enough, ga_larger(100 * enough, MULTIPLIERS_SHARE * c->def.relative));
}

/* Start values for a first step of size h. */
static ga_status prepare_first(ga_controller *c, double h)
{
    if (c->def.mode == GA_ERROR_POSITIONS) GA_TRY(ga_controller_calm(c, h));
    return ga_start_refined(c->s, h, c->vdd, c->vddd);
}

ga_status ga_controller_start(ga_controller *c, double h_guess)
{
    ga_stepper *s = c->s;
    double h = h_guess > 0 ? h_guess : clamp_step(c, 0.01 * c->duration);
    s->estimates = true;
    s->slides = c->def.mode == GA_ERROR_EXTRAPOLATE;
    ga_controller_set_newton(c);
    ga_order_start(&c->order);
    s->steady = c->def.mode == GA_ERROR_POSITIONS;
    observe_sizes(c, s->now.q, s->now.v_exact);
    if (c->def.mode == GA_ERROR_POSITIONS) {
        /* derivatives are those of the stiff modes: begin large, without them */
        memset(c->vdd, 0, (size_t)s->nv * sizeof *c->vdd);
        memset(c->vddd, 0, (size_t)s->nv * sizeof *c->vddd);
    } else {
        GA_TRY(choose_first(c, h_guess, &h));
    }
    c->h = h;
    c->excess_old = 0;
    c->root[0] = c->root[1] = INFINITY;
    forget_suspect(c);
    return prepare_first(c, h);
}

/* A step across a jump may cost this much of the tolerance. Index 3 gets more, because steps
 * that are too short drown in the round-off of its multipliers. */
static double small_jump(const ga_controller *c)
{
    return c->s->form->velocity_level || !c->s->m ? 0.1 : 0.5;
}

/* On the way to a suspected jump steps get so short that the estimate means little per unit of
 * time; a local error of this much of the tolerance passes in any case. */
static const double negligible = 1e-3;

/* Older tangents would spoil the estimate before they slow the iteration down. */
static const double max_life = 20;

/* --- steps -------------------------------------------------------------------------------- */

/* The factor for the next step after an accepted one of size h. */
static double next_factor(ga_controller *c, double h)
{
    const double aim = 0.7, power = control_power(c);
    double wish = c->order.chosen ? ga_order_wish(c, aim, allowed(c, h))
                                  : pow(aim / ga_larger(c->excess, 1e-8), power);
    if (c->pardoned) wish = ga_larger(wish, 1);
    if (!c->s->form->velocity_level && c->s->m) {
        double old = c->excess_old > 0 ? pow(aim / c->excess_old, power) : wish;
        double ratio = c->s->now.steps > 1 ? c->s->now.h / c->s->now.h_old[0] : 1;
        double factor = pow(wish * old, 0.25) * pow(ratio, -0.25);
        return ga_smaller(ga_larger(factor, 0.2), 1.5);
    }
    double factor = 1 + atan(wish - 1);
    if (c->def.mode == GA_ERROR_POSITIONS) {
        /* growing steps feed unresolved modes; the method's damping must keep ahead of that */
        double most = 1 / sqrt(ga_larger(c->s->method.rho_infinity, 0.25));
        return ga_smaller(ga_larger(factor, 0.2), ga_larger(most, 1.01));
    }
    if (factor >= 0.9 && factor <= 1.2) return 1;
    return ga_smaller(ga_larger(factor, 0.2), c->order.third ? c->order.growth : 2);
}

/* The coordinate with the largest error of the last trial; -1 if there is none. */
static int worst_coordinate(const ga_controller *c)
{
    double most = 0;
    int worst = -1;
    for (int i = 0; i < c->s->nv; ++i) {
        const int k = c->s->kind[i];
        const double of_q = fabs(c->error_q[i]) / ga_larger(c->size_q[k], DBL_MIN);
        const double of_v = fabs(c->error_v[i]) / ga_larger(c->size_v[k], DBL_MIN);
        const double error = c->def.mode == GA_ERROR_POSITIONS ? of_q : ga_larger(of_q, of_v);
        if (error > most) {
            most = error;
            worst = i;
        }
    }
    return worst;
}

/* In index 3 round-off of positions enters velocities divided by h, so a tolerance has a
 * smallest value, which depends on the steps it asks for. */
static bool drowns(const ga_controller *c)
{
    return c->s->m && !c->s->form->velocity_level && c->def.relative < 1e-5;
}

static ga_status too_small(const ga_controller *c, double h, ga_status cause, ga_report *report)
{
    const ga_stepper *s = c->s;
    if (cause != GA_OK) {
        ga_step_explain(s, cause, h, report);
        return cause;
    }
    if (drowns(c)) {
        ga_fail(
            report, GA_ERR_STEP_SIZE,
            "at t = %.9g the error control needs a step of %.3g: a relative tolerance of "
            "%.3g is below what %s resolves, where round-off of positions is divided by the "
            "step; use index2, or a larger tolerance",
            s->now.t, h, c->def.relative, s->form->name);
    } else {
        ga_fail(
            report, GA_ERR_STEP_SIZE,
            "at t = %.9g the error control needs a step of %.3g, below the smallest allowed",
            s->now.t, h);
    }
    if (report) {
        report->column = worst_coordinate(c);
        report->time = s->now.t;
        report->step = h;
    }
    return GA_ERR_STEP_SIZE;
}

/* Takes the estimated error away, [exact minus computed]. */
static void extrapolate(ga_controller *c)
{
    ga_stepper *s = c->s;
    ga_dae_update(&s->dae, GA_MAP_EXP, s->q, c->error_q, s->q);
    for (int i = 0; i < s->nv; ++i) s->v[i] += c->error_v[i];
}

/* Steps that end off the constraints go back to them, with their error taken away if that is
 * what they are for. */
static ga_status finish(ga_controller *c, bool smooth)
{
    ga_stepper *s = c->s;
    if (!s->slides) return GA_OK;
    if (c->def.mode == GA_ERROR_EXTRAPOLATE) {
        extrapolate(c);
        s->served = s->life; /* fresh tangents: the response must be accurate */
        return ga_start_project(s);
    }
    c->order.taken = smooth && ga_order_is_third(&c->order);
    if (c->order.taken) {
        ga_controller_smooth(s, c->error_v);
        extrapolate(c);
    }
    return !s->mp || ga_start_slide_back(s) ? GA_OK : GA_ERR_NO_CONVERGE;
}

static ga_status accept(ga_controller *c)
{
    ga_stepper *s = c->s;
    GA_TRY(ga_step_accept(s));
    ga_order_accept(c, s->h);
    c->stats.error_sum += c->share;
    if (s->slides && c->order.taken) ++c->stats.third_order;
    observe_sizes(c, s->now.q, s->now.v);
    return GA_OK;
}

/* Where to step to: not beyond t_stop, and no sliver left before it. */
static double choose_end(const ga_controller *c, double t_stop, double *h)
{
    double t = c->s->now.t, left = t_stop - t;
    if (*h >= left * (1 - 1e-9)) {
        *h = left;
        return t_stop;
    }
    if (*h > 0.5 * left) *h = 0.5 * left;
    return t + *h;
}

/* Largest change of v' over the trial, by the tolerance of v. */
static double acceleration_change(const ga_controller *c)
{
    const ga_stepper *s = c->s;
    const ga_control *def = &c->def;
    const double w[2] = {def->absolute_velocity + def->relative * c->size_v[0],
                         def->absolute_angular_velocity + def->relative * c->size_v[1]};
    double largest = 0;
    for (int i = 0; i < s->nv; ++i)
        largest = ga_larger(largest, fabs(s->vd[i] - s->now.vd[i]) / w[s->kind[i]]);
    return largest;
}

/* Not across a time under suspicion, unless the step there is short enough; or so short that
 * halving it once more would end in round-off: a narrow pulse looks like a jump from afar. */
static double approach_suspect(const ga_controller *c, double h)
{
    double left = c->suspect - c->s->now.t;
    if (!(left > 0 && h > 0.5 * left)) return h;
    if (left <= 1e-12 * ga_larger(fabs(c->suspect), c->duration)) return left;
    return left * c->suspect_change <= small_jump(c) ? left : 0.5 * left;
}

typedef enum ga_jump { NO_JUMP, PASSED, HARMLESS } ga_jump;

/* Where only positions count, the first step is a case of its own. */
static bool is_first(const ga_controller *c)
{
    return c->def.mode == GA_ERROR_POSITIONS && c->s->now.steps == 0;
}

/* Is what makes this trial fail a jump? Then it may be passed if the step is short; else it is
 * suspected. On the way to a suspect, what does not cross it may be harmless. */
static ga_jump judge_jump(ga_controller *c, double h, double t1)
{
    /* a calmed v' jumps, too */
    if (is_first(c)) return NO_JUMP;
    double change = acceleration_change(c);
    if (h * change < force_noise(c, h)) return NO_JUMP;
    bool persists =
        c->suspect_change > 0 && change > 0.7 * c->suspect_change && h <= 0.8 * c->suspect_step;
    if (persists && h * change <= small_jump(c)) return PASSED;
    if (!persists && c->suspect_change > 0 && c->local <= negligible) return HARMLESS;
    /* next to a singular position accelerations are noise, no sign of a jump */
    bool nobody_else = c->suspect_change == 0 && c->excess > 20 && amplification(c) < 10;
    if (persists || nobody_else) {
        c->suspect = t1;
        c->suspect_change = change;
        c->suspect_step = h;
    }
    return NO_JUMP;
}

/* After an accepted step. A step shortened to land on t_stop or near a suspect says nothing
 * about the next one. */
static void choose_next(ga_controller *c, double h, double wanted)
{
    double next = h * next_factor(c, h);
    c->h = h < 0.9 * wanted ? ga_larger(wanted, next) : next;
    c->excess_old = c->excess;
    if (c->s->now.t >= c->suspect) forget_suspect(c);
}

/* Starts anew at the current state: whatever it was that went wrong, it may have been behind.
 */
static ga_status restart_here(ga_controller *c, ga_report *report)
{
    ga_stepper *s = c->s;
    GA_TRY(ga_start_again(s, s->now.t, s->now.q, s->now.v, report));
    s->usable = false;
    s->dense.steps = -1;
    ++c->stats.restarts;
    ga_status status = ga_controller_start(c, 0);
    if (status != GA_OK) ga_step_explain(s, status, s->now.h, report);
    return status;
}

/* A trial that ended off the constraints is not accepted; nothing has changed then. */
static bool may_reject(ga_stepper *s, ga_status status)
{
    if (status != GA_ERR_NO_CONVERGE || (s->unmet < 0 && !s->slides)) return false;
    s->usable = false;
    return true;
}

/* Steps this many times longer would do for the slow motion: then stiff modes choose them. */
static const double STIFF = 10;
enum { LOOKS = 10 }; /* every so many steps */

/* Before an accepted step is finished: what `error: positions` would allow for it. */
static void look_for_stiffness(ga_controller *c, double h)
{
    ga_stepper *s = c->s;
    if (c->def.mode != GA_ERROR_AUTO && c->def.mode != GA_ERROR_FULL) return;
    if (s->now.steps % LOOKS != LOOKS - 1) return;
    if (c->def.max_step > 0 && h > 0.5 * c->def.max_step) return; /* that chooses them */
    double *e = s->work2;
    memcpy(e, c->error_q, (size_t)s->nv * sizeof *e);
    const double all = ga_controller_weigh(c, e, s->zero);
    ga_controller_smooth(s, e);
    const double slow = ga_controller_weigh(c, e, s->zero);
    const double by_all = cbrt(1 / all), by_slow = sqrt(slow_share(c) * allowed(c, h) / slow);
    const bool acts = slow < 0.999 * all; /* else something other than stiffness is fast */
    if (acts && ga_smaller(by_all, by_slow) > STIFF) c->stats.stiff += LOOKS;
}

/* A second step that is this much worse than allowed shows that the first was too long. */
static const double AHEAD = 4;

static void judge_error(ga_controller *c, double h)
{
    ga_controller_estimate(c);
    c->local = ga_controller_weigh(c, c->error_q, c->error_v);
    ga_order_judge(c, h);
    c->error = c->excess = find_excess(c, h);
}

/* Nothing but its own estimate limits a first step where only positions count, and the estimate
 * may vanish by chance: it does in index 3 for a pendulum let go from rest. So the error of a
 * second step of the same size is looked at as well, and the first is taken anew. */
static void look_ahead(ga_controller *c, double h, double t1, double t_stop)
{
    ga_stepper *s = c->s;
    if (t1 + h > t_stop) return;
    const ga_statistics stats = s->stats;
    ga_state_copy(&s->saved, &s->now);
    ga_status status = ga_step_accept(s);
    if (status == GA_OK) status = ga_step_try(s, h, t1 + h);
    if (status == GA_OK) judge_error(c, h);
    const double ahead = status == GA_OK ? c->excess : INFINITY;
    ga_state_copy(&s->now, &s->saved);
    s->stats = stats;
    s->usable = false;
    status = ga_step_try(s, h, t1);
    if (status == GA_OK) judge_error(c, h);
    if (status != GA_OK || ahead > AHEAD) c->local = c->excess = ahead;
}

ga_status ga_controller_step(ga_controller *c, double t_stop, bool *jumped, ga_report *report)
{
    ga_stepper *s = c->s;
    ga_status cause = GA_OK; /* of the last rejection */
    double h = clamp_step(c, c->h);
    bool evaded = false; /* a singular position at the end of the step */
    int leaps = 0;       /* tries to get across one */
    *jumped = false;
    for (int rejections = 0;; ++rejections) {
        if (rejections == futile && s->now.steps > few) {
            GA_TRY(restart_here(c, report));
            h = clamp_step(c, c->h);
        }
        const double wanted = h;
        const double across = rejections == 0 ? crossing_step(c, h) : 0;
        if (across > h) h = across;
        const double least = ga_larger(
            c->def.min_step, 16 * DBL_EPSILON * ga_larger(fabs(s->now.t), t_stop - s->now.t));
        h = approach_suspect(c, h);
        double t1 = choose_end(c, t_stop, &h);
        if (h < least && t1 != t_stop) return too_small(c, h, cause, report);
        if (s->now.steps == 0 && h != s->now.h) GA_TRY(prepare_first(c, h));
        const ga_scales before = s->scale;
        s->life = ga_smaller(s->life, max_life);
        ga_order_prepare(c, h);
        ga_status status = ga_step_try(s, h, t1);
        if (status == GA_OK && s->near_singular && !evaded && t1 != t_stop) {
            evaded = true;
            ++s->stats.evasions;
            ga_regular_alert(s);
            s->usable = false;
            h *= 0.8;
        } else if (status == GA_OK) {
            judge_error(c, h);
            if (c->excess <= 1 && is_first(c)) look_ahead(c, h, t1, t_stop);
            bool crossed = across > 0 && c->local <= crossing_error;
            c->pardoned = crossed || c->local <= noise(c, h);
            if (c->pardoned) c->excess = ga_smaller(c->excess, 0.7);
            bool good = c->excess <= 1;
            ga_jump jump = good ? NO_JUMP : judge_jump(c, h, t1);
            *jumped = jump == PASSED;
            if (good || jump != NO_JUMP) {
                remember_root(c);
                c->stats.jumps += *jumped;
                if (good) look_for_stiffness(c, h);
                status = finish(c, jump == NO_JUMP);
                if (status == GA_OK) status = accept(c);
                if (status == GA_OK) choose_next(c, crossed ? wanted : h, wanted);
                if (status == GA_OK) return status;
                if (!may_reject(s, status)) {
                    ga_step_explain(s, status, h, report);
                    return status;
                }
                *jumped = false;
                h *= s->slides ? ga_order_give_up(&c->order, 0.7 * allowed(c, h)) : 0.3;
            } else {
                double factor =
                    ga_smaller(ga_larger(pow(0.7 / c->excess, control_power(c)), 0.2), 0.9);
                ga_order_reject(c, h);
                if (c->suspect == t1) factor = 0.5;
                /* Shorter steps end nearer still to a singular position: across it instead. */
                if (amplification(c) > 1e3 && leaps++ < 4) factor = 1.7;
                h *= isfinite(c->excess) ? factor : 0.2;
            }
        } else {
            if (!ga_step_may_retry(status)) return too_small(c, h, status, report);
            h *= 0.3;
        }
        /* rejected: nothing of it is kept */
        s->scale = before;
        cause = status;
        ++c->stats.rejected;
        bool hopeless = h < least && (s->now.steps <= few || rejections > futile);
        if (hopeless) return too_small(c, h, status, report);
        if (h < least) rejections = futile - 1;
        if (rejections >= c->def.max_rejections) return too_small(c, h, status, report);
    }
}
