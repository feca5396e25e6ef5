/* Orders and a verdict from the errors of a ladder of runs.
 *
 * Between two step sizes h1 > h2 the order seen is log(e1/e2) / log(h1/h2). It means something
 * where both errors are clearly above that of the reference, and above what rounding does:
 * about eps |q|/h^d in a quantity that is a d-th derivative of q. The order of a component is
 * the slope of a straight line through log e over log h, over the finest levels whose orders
 * agree.
 *
 * Why an order is too low is read off from where in time it is:
 *
 *     transient        low at the start, second order and smaller errors later
 *     discontinuity    low close to events; or from some time on, with a sudden rise
 *     chaotic growth   second order at first, errors as large as the solution later, of
 *                      positions or velocities too
 *     round-off        errors no longer fall, and are as small as rounding makes them
 *     not asymptotic   errors still large, orders still changing, or steps that do not differ
 */
#include "api/converge_judge.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Orders from this on count as second order: what is left is the next term of the error. */
static const double second = 1.75;
/* An error counts where it is larger than that of the reference, or rounding that is seen, by
 * this factor. */
static const double clear_of_reference = 4;
/* Rounding may add up to so many times that of a single operation. */
static const double rounding_adds_up = 1000;

static const char *const component_names[GA_COMPONENT_COUNT] = {
    [GA_COMPONENT_POSITION] = "position",
    [GA_COMPONENT_ROTATION] = "rotation",
    [GA_COMPONENT_VELOCITY] = "velocity",
    [GA_COMPONENT_ANGULAR_VELOCITY] = "angular_velocity",
    [GA_COMPONENT_ACCELERATION] = "acceleration",
    [GA_COMPONENT_ANGULAR_ACCELERATION] = "angular_acceleration",
    [GA_COMPONENT_FORCE] = "force",
    [GA_COMPONENT_TORQUE] = "torque",
    [GA_COMPONENT_ENERGY] = "energy",
};

static const char *const component_units[GA_COMPONENT_COUNT] = {
    "m", "rad", "m/s", "rad/s", "m/s^2", "rad/s^2", "N", "N m", "J",
};

static const char *const verdict_names[GA_VERDICT_COUNT] = {
    [GA_VERDICT_SECOND_ORDER] = "second order",
    [GA_VERDICT_TRANSIENT] = "transient",
    [GA_VERDICT_ROUND_OFF] = "round-off",
    [GA_VERDICT_NOT_ASYMPTOTIC] = "not yet asymptotic",
    [GA_VERDICT_DISCONTINUITY] = "discontinuity",
    [GA_VERDICT_CHAOS] = "chaotic growth",
    [GA_VERDICT_REFERENCE] = "reference not accurate enough",
    [GA_VERDICT_REDUCED_ORDER] = "reduced order",
};

const char *ga_component_name(ga_component component)
{
    return (unsigned)component < GA_COMPONENT_COUNT ? component_names[component] : "";
}

const char *ga_component_unit(ga_component component)
{
    return (unsigned)component < GA_COMPONENT_COUNT ? component_units[component] : "";
}

const char *ga_verdict_name(ga_verdict verdict)
{
    return (unsigned)verdict < GA_VERDICT_COUNT ? verdict_names[verdict] : "";
}

/* --- orders ------------------------------------------------------------------------------- */

/* Errors of one component, in a part of the time or in all of it, on every level. */
typedef struct curve {
    int count;
    double h[GA_MOST_LEVELS], error[GA_MOST_LEVELS];
    double reference, scale;
    double floor[GA_MOST_LEVELS]; /* of rounding */
    bool zero;                    /* there is nothing but rounding in this component */
    bool used[GA_MOST_LEVELS];
    double least_ratio; /* of two steps that count as different */
    double pair[GA_MOST_LEVELS];
    double order; /* NAN: cannot be told */
} curve;

/* Nearly the same steps say nothing about an order. Mean steps of a tolerance, where something
 * else limits most of them, say little; those of order 8 differ by 1.19 for a fourth of the
 * tolerance. */
static double least_ratio(const ga_ladder *ladder)
{
    return ladder->tolerances && !ladder->high_order ? 1.3 : 1.1;
}

/* Of a component that is not there: of no importance in a minimum. */
static double ratio(double x, double by) { return by > 0 ? x / by : 1e300; }

/* What rounding of q makes of a component at steps of size h. */
static double rounding(const ga_ladder *ladder, int component, double h)
{
    const double *s = ladder->scale;
    const double position = s[GA_COMPONENT_POSITION], velocity = s[GA_COMPONENT_VELOCITY];
    const double spin = s[GA_COMPONENT_ANGULAR_VELOCITY];
    const double v = velocity + position / h, a = s[GA_COMPONENT_ACCELERATION] + v / h;
    const double w = spin + 1 / h, wd = s[GA_COMPONENT_ANGULAR_ACCELERATION] + w / h;
    const double acceleration = fmin(ratio(a, s[GA_COMPONENT_ACCELERATION]),
                                     ratio(wd, s[GA_COMPONENT_ANGULAR_ACCELERATION]));
    /* a torque that is zero is the difference of forces with levers */
    const double force = s[GA_COMPONENT_FORCE];
    const double torque = fmax(s[GA_COMPONENT_TORQUE], force * position);
    const double size[GA_COMPONENT_COUNT] = {
        [GA_COMPONENT_POSITION] = position,
        [GA_COMPONENT_ROTATION] = 1,
        [GA_COMPONENT_VELOCITY] = v,
        [GA_COMPONENT_ANGULAR_VELOCITY] = w,
        [GA_COMPONENT_ACCELERATION] = a,
        [GA_COMPONENT_ANGULAR_ACCELERATION] = wd,
        [GA_COMPONENT_FORCE] = force * acceleration,
        [GA_COMPONENT_TORQUE] = torque * acceleration,
        [GA_COMPONENT_ENERGY] =
            s[GA_COMPONENT_ENERGY] * fmin(ratio(v, velocity), ratio(w, spin)),
    };
    return rounding_adds_up * DBL_EPSILON * size[component];
}

static double larger(double x, double y) { return fmax(x, y); } /* NAN: the other */

/* A run at steps so large that it has nothing to do with the motion any more, but did not fail:
 * velocities are wrong by a hundred times their size. */
static bool has_gone_astray(const ga_ladder *ladder, const ga_rung *rung)
{
    static const int velocities[] = {GA_COMPONENT_VELOCITY, GA_COMPONENT_ANGULAR_VELOCITY};
    for (int k = 0; k < 2; ++k) {
        const int i = velocities[k];
        const double most =
            fmax(100 * ladder->scale[i], rounding(ladder, i, rung->h)); /* NAN: not there */
        for (int w = 0; w < GA_WINDOWS; ++w)
            if (rung->window[i][w] > most) return true;
    }
    return false;
}

/* The windows from `first` up to, but without, `end`; with what is close to events, or not. */
static void take_curve(const ga_ladder *ladder, int component, int first, int end, bool events,
                       curve *c)
{
    memset(c, 0, sizeof *c);
    c->count = ladder->count;
    c->scale = ladder->scale[component];
    c->least_ratio = least_ratio(ladder);
    for (int w = first; w < end; ++w)
        c->reference = larger(c->reference, ladder->reference[component][w]);
    for (int k = 0; k < c->count; ++k) {
        const ga_rung *rung = ladder->rungs + k;
        c->h[k] = rung->h;
        c->error[k] = events ? rung->near[component] : NAN;
        for (int w = first; w < end; ++w)
            c->error[k] = larger(c->error[k], rung->window[component][w]);
        c->floor[k] = rounding(ladder, component, rung->h);
    }
    c->zero = ladder->scale[component] <= c->floor[0];
    for (int k = 0; k < c->count; ++k)
        if (!has_gone_astray(ladder, ladder->rungs + k))
            c->zero = c->zero && !(c->error[k] > c->floor[k]);
}

static double slope(const curve *c, int from, int to)
{
    double n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (int k = from; k <= to; ++k) {
        const double u = log(c->h[k]), w = log(c->error[k]);
        n += 1;
        x += u;
        y += w;
        xx += u * u;
        xy += u * w;
    }
    return (n * xy - x * y) / (n * xx - x * x);
}

static bool is_rounding(const curve *c, int k) { return c->error[k] <= c->floor[k]; }

/* Errors that rounding could make, and that fall too slowly, or no longer as they did. */
static bool is_polluted(const curve *c, int k)
{
    const double drop = 0.25;
    if (k == 0) return c->count > 1 && is_rounding(c, 0) && is_polluted(c, 1);
    if (!is_rounding(c, k)) return false;
    return !(c->pair[k] >= 1) || (k > 1 && c->pair[k] < c->pair[k - 1] - drop);
}

/* Do the errors grow at the finest steps? Smaller steps do that by rounding only, unless the
 * errors are so large that they mean nothing. */
static bool is_growing(const curve *c)
{
    const int last = c->count - 1;
    const double growth = -0.5;
    if (last < 1 || !(c->pair[last] < growth)) return false;
    return c->error[last] <= 0.02 * c->scale || (last > 1 && c->pair[last - 1] < growth);
}

/* What grows with some power of 1/h up to the last level, followed back to level k. */
static double grown_rounding(const curve *c, int k)
{
    const int last = c->count - 1;
    return c->error[last] * pow(c->h[k] / c->h[last], c->pair[last]);
}

static void find_pairs(curve *c)
{
    for (int k = 0; k < c->count; ++k) {
        c->pair[k] = NAN;
        if (k > 0 && c->error[k] > 0 && c->error[k - 1] > 0 &&
            c->h[k - 1] > c->least_ratio * c->h[k])
            c->pair[k] = slope(c, k - 1, k);
    }
}

/* Levels that count, from the coarsest on: the last one. */
static int find_used(curve *c)
{
    const bool growing = is_growing(c);
    bool polluted = c->zero;
    int last = -1;
    for (int k = 0; k < c->count; ++k) {
        const double other = growing ? fmax(c->reference, grown_rounding(c, k)) : c->reference;
        polluted = polluted || is_polluted(c, k);
        c->used[k] = !polluted && c->error[k] > 0 && c->error[k] > clear_of_reference * other;
        if (c->used[k]) last = k;
    }
    return last;
}

static void find_order(curve *c)
{
    find_pairs(c);
    const int last = find_used(c);
    c->order = NAN;
    if (last < 1 || !c->used[last - 1] || isnan(c->pair[last])) return;
    /* back as long as orders agree with the last one */
    const double agreement = 0.15;
    int first = last - 1;
    while (first > 0 && c->used[first - 1] && fabs(c->pair[first] - c->pair[last]) < agreement)
        --first;
    c->order = slope(c, first, last);
}

static double order_within(const ga_ladder *ladder, int component, int first, int end,
                           bool events)
{
    curve c;
    take_curve(ladder, component, first, end, events, &c);
    find_order(&c);
    return c.order;
}

/* At the finest level. */
static double error_within(const ga_ladder *ladder, int component, int first, int end)
{
    curve c;
    take_curve(ladder, component, first, end, false, &c);
    return c.error[c.count - 1];
}

/* Components that are zero, or exact, have no order, and need none. */
static bool has_nothing_to_see(const ga_ladder *ladder, int component, const curve *e)
{
    const int last = e->count - 1;
    const double scale = ladder->scale[component];
    return isnan(e->error[last]) || e->error[last] <= 1e-9 * scale ||
           (e->error[last] <= e->floor[last] && scale <= e->floor[last]);
}

/* Errors that were above rounding on one or two levels only: too few to tell. Where the first
 * one is already about eps, the component is exact. */
static bool drowns(const curve *e)
{
    int used = 0;
    for (int k = 0; k < e->count; ++k) used += e->used[k];
    return used > 0 && used < 3 && used < e->count && e->error[0] > 1e-12 * e->scale &&
           (is_polluted(e, e->count - 1) || is_growing(e));
}

/* A single pair of levels shows second order, after one that shows nothing like it: chance, as
 * behind jumps, not convergence. */
static bool is_erratic(const curve *e)
{
    static const double no_order = 1.2, much_order = 3.5;
    int last = e->count - 1;
    while (last > 0 && !e->used[last]) --last;
    if (last < 2 || !e->used[last - 2]) return false;
    const double order = e->pair[last], before = e->pair[last - 1];
    return before < no_order || (order > much_order && fabs(order - before) > 1);
}

static bool is_failing(const ga_ladder *ladder, int component, const curve *e)
{
    if (drowns(e)) return true;
    if (e->order >= second && !ladder->high_order && is_erratic(e)) return true;
    if (isnan(e->order)) return !has_nothing_to_see(ladder, component, e);
    return e->order < second;
}

/* --- reasons ------------------------------------------------------------------------------ */

static bool is_reaction(int component)
{
    return component == GA_COMPONENT_FORCE || component == GA_COMPONENT_TORQUE;
}

typedef struct court {
    const ga_ladder *ladder;
    curve curves[GA_COMPONENT_COUNT];
    bool failing[GA_COMPONENT_COUNT]; /* less than second order */
    bool forgiven;                    /* reactions would fail, but are not unique */
    ga_judgement *judgement;
} court;

static void say(court *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(court *c, const char *format, ...)
{
    char *reason = c->judgement->reason;
    const size_t used = strlen(reason);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason + used, GA_REASON_SIZE - used, format, arguments);
    va_end(arguments);
}

/* "velocity (1.02), force (0.98)" */
static void name_failing(court *c)
{
    const char *comma = "";
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        if (!c->failing[i]) continue;
        char name[32];
        snprintf(name, sizeof name, "%s", component_names[i]);
        for (char *p = name; *p; ++p)
            if (*p == '_') *p = ' ';
        if (!(c->curves[i].order < second))
            say(c, "%s%s", comma, name);
        else
            say(c, "%s%s (%.2f)", comma, name, c->curves[i].order);
        comma = ", ";
    }
}

static double window_start(const ga_ladder *ladder, int window)
{
    return ladder->t_start + (ladder->t_end - ladder->t_start) * window / GA_WINDOWS;
}

static bool any_failing(const court *c)
{
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (c->failing[i]) return true;
    return false;
}

/* What holds for all components that fail. */
typedef bool finding(court *c, int component);

static bool for_all_failing(court *c, finding *holds)
{
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (c->failing[i] && !holds(c, i)) return false;
    return any_failing(c);
}

static bool for_some_failing(court *c, finding *holds)
{
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (c->failing[i] && holds(c, i)) return true;
    return false;
}

static bool at_rounding(court *c, int component)
{
    const curve *e = &c->curves[component];
    return is_rounding(e, e->count - 1) || is_growing(e);
}

static bool dies_out(court *c, int component)
{
    const double early_order = order_within(c->ladder, component, 0, 1, true);
    const double late_order =
        order_within(c->ladder, component, GA_WINDOWS / 2, GA_WINDOWS, true);
    const double early = error_within(c->ladder, component, 0, 1);
    const double late = error_within(c->ladder, component, GA_WINDOWS / 2, GA_WINDOWS);
    return early > 3 * late && early_order < second && !(late_order < second);
}

/* Second order at first; later errors as large as the solution. */
static bool grows(court *c, int component)
{
    const double scale = c->ladder->scale[component];
    const double early = error_within(c->ladder, component, 0, 1);
    const double late = error_within(c->ladder, component, GA_WINDOWS - 2, GA_WINDOWS);
    return order_within(c->ladder, component, 0, 1, false) >= second && late > 0.05 * scale &&
           late > 1e3 * early;
}

static bool is_large(court *c, int component)
{
    const curve *e = &c->curves[component];
    return e->error[e->count - 1] > 0.02 * c->ladder->scale[component];
}

/* Where the motion itself is known, large errors of accelerations and forces are those of a
 * jump, whose time differs a little from run to run. */
static bool is_motion_lost(court *c)
{
    for (int i = GA_COMPONENT_POSITION; i <= GA_COMPONENT_ANGULAR_VELOCITY; ++i)
        if (c->ladder->present[i] && is_large(c, i)) return true;
    return false;
}

/* The first part of the time in which the order is low and the error has risen suddenly, while
 * it was of second order, or nothing at all, before; 0: none. */
static int sudden_rise(const court *c, int component)
{
    for (int w = 1; w < GA_WINDOWS; ++w) {
        if (order_within(c->ladder, component, w - 1, w, false) < second) return 0;
        const double order = order_within(c->ladder, component, w, w + 1, false);
        const double before = error_within(c->ladder, component, w - 1, w);
        if (order < 1.5 && error_within(c->ladder, component, w, w + 1) > 3 * before) return w;
    }
    return 0;
}

static bool rises_suddenly(court *c, int component)
{
    const int w = sudden_rise(c, component);
    const double t = window_start(c->ladder, w);
    if (w && !(c->judgement->at <= t)) c->judgement->at = t;
    return w > 0;
}

static bool is_unsettled(court *c, int component)
{
    const curve *e = &c->curves[component];
    int last = e->count - 1;
    while (last > 0 && !e->used[last]) --last;
    return last > 1 && !(fabs(e->pair[last] - e->pair[last - 1]) < 0.3);
}

static bool hides_in_reference(court *c, int component)
{
    const curve *e = &c->curves[component];
    return e->error[e->count - 1] <= clear_of_reference * e->reference;
}

/* --- the verdict -------------------------------------------------------------------------- */

static bool fails_at_events_only(court *c, int component)
{
    curve between;
    take_curve(c->ladder, component, 0, GA_WINDOWS, false, &between);
    find_order(&between);
    return !is_failing(c->ladder, component, &between);
}

static void blame_events(court *c)
{
    double between = INFINITY;
    for (int i = 0; i < GA_COMPONENT_ENERGY; ++i)
        if (c->ladder->present[i])
            between = fmin(between, order_within(c->ladder, i, 0, GA_WINDOWS, false));
    c->judgement->at = c->ladder->first_event;
    say(c,
        "The integration restarts %d time%s (first at t = %.6g s), at impacts, switches or "
        "discontinuous forces. Because of them no order can be observed in ",
        c->ladder->events, c->ladder->events == 1 ? "" : "s", c->ladder->first_event);
    name_failing(c);
    if (isfinite(between) && between >= second)
        say(c, ". Away from these times the lowest order is %.2f.", between);
    else
        say(c, ".");
}

static void blame_rounding(court *c)
{
    const ga_ladder *ladder = c->ladder;
    say(c, "At steps down to %.3g s round-off exceeds the error of the method in ",
        ladder->rungs[ladder->count - 1].h);
    if (any_failing(c))
        name_failing(c);
    else
        say(c, "everything");
    say(c, ": errors have reached the limit of double precision and no longer decrease. Larger "
           "steps will show the order.");
}

static void blame_start(court *c)
{
    say(c, "The error is largest at the start, where the order is too low in ");
    name_failing(c);
    say(c, ", and decays: in the second half of the run it is of second order. The start "
           "values excite an oscillation, which `start: auto` avoids; if `start` is `auto` "
           "already, the model begins with a fast, damped motion.");
}

static void blame_step(court *c)
{
    say(c, "The observed orders still vary from level to level, or the errors are still large, "
           "in ");
    name_failing(c);
    say(c, ": the steps are too large for the fastest motion. Try smaller ones.");
}

static void name_events(court *c)
{
    const int count = c->ladder->events;
    say(c,
        " The integration restarts %d time%s (first at t = %.6g s), at impacts, switches or "
        "discontinuous forces.",
        count, count == 1 ? "" : "s", c->ladder->first_event);
}

static void blame_jump(court *c)
{
    say(c,
        "Second order until about t = %.6g s; then the error rises suddenly, and second order "
        "is not observed in ",
        c->judgement->at);
    name_failing(c);
    if (c->ladder->events) {
        say(c, ".");
        name_events(c);
    } else {
        say(c, ": probably a force has a jump or a kink there.");
    }
}

/* Too few levels whose steps differ. */
static bool has_equal_steps(const ga_ladder *ladder)
{
    int different = 0;
    for (int k = 1; k < ladder->count; ++k)
        different += ladder->rungs[k - 1].h > least_ratio(ladder) * ladder->rungs[k].h;
    return different < ladder->count - 1 && different < 2;
}

static void blame_equal_steps(court *c)
{
    say(c,
        "Most of these levels take nearly the same steps (mean: %.3g to %.3g s), so no order "
        "can be measured: something other than the tolerance limits them, such as `max_step`, "
        "which has a default in driven models. Use --steps, or tighter tolerances.",
        c->ladder->rungs[0].h, c->ladder->rungs[c->ladder->count - 1].h);
}

static void blame_growth(court *c)
{
    say(c,
        "Second order at first, but then errors grow until they are as large as the "
        "solution: the motion is chaotic or unstable%s. A shorter run will show the order.",
        c->ladder->events ? ", or impacts amplify errors" : "");
    if (c->ladder->events) name_events(c);
}

static ga_verdict find_reason(court *c)
{
    if (has_equal_steps(c->ladder)) {
        blame_equal_steps(c);
        return GA_VERDICT_NOT_ASYMPTOTIC;
    }
    if (c->ladder->events > 0 && for_some_failing(c, fails_at_events_only)) {
        blame_events(c);
        return GA_VERDICT_DISCONTINUITY;
    }
    if (for_all_failing(c, at_rounding)) {
        blame_rounding(c);
        return GA_VERDICT_ROUND_OFF;
    }
    if (for_all_failing(c, dies_out)) {
        c->judgement->at = c->ladder->t_start;
        blame_start(c);
        return GA_VERDICT_TRANSIENT;
    }
    if (!is_motion_lost(c) && for_some_failing(c, rises_suddenly)) {
        blame_jump(c);
        return GA_VERDICT_DISCONTINUITY;
    }
    if (is_motion_lost(c) && for_some_failing(c, grows)) {
        blame_growth(c);
        return GA_VERDICT_CHAOS;
    }
    if (for_some_failing(c, is_large)) {
        blame_step(c);
        return GA_VERDICT_NOT_ASYMPTOTIC;
    }
    if (for_some_failing(c, rises_suddenly)) {
        blame_jump(c);
        return GA_VERDICT_DISCONTINUITY;
    }
    if (for_some_failing(c, is_unsettled)) {
        blame_step(c);
        return GA_VERDICT_NOT_ASYMPTOTIC;
    }
    if (for_some_failing(c, hides_in_reference)) {
        say(c, "The reference is not more accurate than the finest runs in ");
        name_failing(c);
        say(c, ".");
        return GA_VERDICT_REFERENCE;
    }
    say(c, "The order has converged to a value below 2 in ");
    name_failing(c);
    say(c, "; the errors give no hint why.");
    return GA_VERDICT_REDUCED_ORDER;
}

static void praise(court *c)
{
    double least = INFINITY;
    int silent = 0;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        if (!c->ladder->present[i]) continue;
        if (isnan(c->curves[i].order))
            ++silent;
        else if (i != GA_COMPONENT_ENERGY && !(c->forgiven && is_reaction(i)))
            least = fmin(least, c->curves[i].order);
    }
    say(c,
        "Second order%s was observed in every component with a measurable error; the lowest is "
        "%.2f.",
        c->ladder->high_order ? " or higher" : "", least);
    if (c->forgiven)
        say(c,
            " Reactions are not judged: %d redundant constraint%s them not unique, and the "
            "undetermined part need not converge.",
            c->ladder->redundant, c->ladder->redundant > 1 ? "s make" : " makes");
    if (silent)
        say(c, " %d component%s no error above round-off or that of the reference.", silent,
            silent > 1 ? "s have" : " has");
    if (c->ladder->events)
        say(c, " The integration restarted %d time%s.", c->ladder->events,
            c->ladder->events == 1 ? "" : "s");
}

void ga_ladder_judge(const ga_ladder *ladder, ga_judgement *judgement)
{
    court c = {.ladder = ladder, .judgement = judgement};
    int seen = 0;
    memset(judgement, 0, sizeof *judgement);
    judgement->at = NAN;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        curve *e = &c.curves[i];
        take_curve(ladder, i, 0, GA_WINDOWS, true, e);
        find_order(e);
        for (int k = 0; k < ladder->count; ++k) {
            judgement->error[k][i] = ladder->present[i] ? e->error[k] : NAN;
            judgement->pair[k][i] = e->pair[k];
            judgement->used[k][i] = ladder->present[i] && e->used[k];
        }
        judgement->zero[i] = e->zero;
        judgement->order[i] = ladder->present[i] ? e->order : NAN;
        if (!ladder->present[i] || i == GA_COMPONENT_ENERGY) continue;
        if (e->order >= second) ++seen;
        c.failing[i] = is_failing(ladder, i, e);
        if (!c.failing[i] || !is_reaction(i) || !ladder->redundant) continue;
        c.failing[i] = false;
        c.forgiven = true;
    }
    if (any_failing(&c)) {
        judgement->verdict = find_reason(&c);
    } else if (seen) {
        judgement->verdict = GA_VERDICT_SECOND_ORDER;
        praise(&c);
    } else {
        judgement->verdict = GA_VERDICT_ROUND_OFF;
        blame_rounding(&c);
    }
}
