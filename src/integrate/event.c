/* A step is looked at in quarters. A function that goes through zero and comes back within a
 * quarter is seen by its slopes at both ends, which point to zero; then its extremum in between
 * is searched for. Where a function changes sides, the time is bracketed to round-off by
 * bisection with interpolation (Illinois); the event happens at the end of the bracket, where
 * the function has arrived on the other side. Functions that arrive within 1e-12 of the time
 * happen at once, when the last of them has arrived.
 *
 * A function that touches zero and turns back has not passed it, and is no event. One that
 * starts at zero is on the side it goes to; one that ends at zero, at t_end, has arrived. So of
 * two simulations in a row exactly one sees an event where they meet. "At zero" means closer
 * than the function moves in 1e-12 of the time, or than 1e-13 of the values it has had.
 *
 * Unilateral functions have their side by definition: they are on the positive one until an
 * event, and again behind a restart. One that is negative there is an event at once. The
 * others: an event that makes the integration start anew leaves its function at zero, unless
 * the user has changed it, and what he has done decides where it goes from there. If it moves
 * on it has passed, and the next event is when it comes back. Else, a body that bounces or
 * comes to rest, it is where it came from, and going through is an event again: nothing falls
 * through a floor unannounced. */
#include "integrate/event.h"

#include "base/arrays.h"
#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

static bool for_arrays(ga_watch *w, ga_arrays_do *act)
{
    const ga_dae *dae = w->m->dae;
    const int any = w->def.count > 0;
    const ga_arrays list[] = {
        {w->def.count, {&w->end, &w->slope, &w->size, &w->shift, &w->before}},
        {w->def.count, {&w->g[0], &w->g[1], &w->g[2], &w->g[3]}},
        {w->def.max_count, {&w->times}},
        {any * dae->nq, {&w->q, &w->q_given}},
        {any * dae->nv, {&w->v, &w->vd, &w->path, &w->v_given}},
        {any * dae->mp, {&w->multipliers}},
    };
    return act(sizeof list / sizeof *list, list);
}

ga_status ga_watch_create(ga_onestep *m, const ga_events *def, ga_watch *w)
{
    memset(w, 0, sizeof *w);
    w->m = m;
    w->def = *def;
    if (w->def.max_count < 1) w->def.max_count = 100;
    const bool memory = (w->side = GA_NEW(int, def->count)) &&
                        (w->which = GA_NEW(int, def->count)) && for_arrays(w, ga_arrays_create);
    if (!memory) ga_watch_destroy(w);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_watch_destroy(ga_watch *w)
{
    if (w->m) for_arrays(w, ga_arrays_destroy);
    ga_free(w->side);
    ga_free(w->which);
    memset(w, 0, sizeof *w);
}

/* --- values of the functions -------------------------------------------------------------- */

/* At the state in w->q, v, vd, multipliers. */
static ga_status call(ga_watch *w, double t, double *g, ga_report *report)
{
    ga_sample at = {.t = t,
                    .q = w->q,
                    .v = w->v,
                    .vd = w->vd,
                    .lambda = w->multipliers,
                    .psi = w->multipliers + w->m->dae->m};
    if (w->def.function(w->def.user, &at, g) != GA_EVAL_OK)
        return ga_fail_at(report, t, -1, GA_ERR_CALLBACK,
                          "the event functions failed at t = %.9g", t);
    for (int i = 0; i < w->def.count; ++i)
        if (isnan(g[i]))
            return ga_fail_at(report, t, i, GA_ERR_NOT_FINITE,
                              "event function %d returned NaN at t = %.9g", i, t);
    return GA_OK;
}

/* At the state in w->q, v, vd, multipliers, the latter on the acceleration level if wanted. */
static ga_status call_exactly(ga_watch *w, double t, double *g, ga_report *report)
{
    if (w->def.exact && w->def.exact(w->def.user))
        ga_dense_acceleration(w->m, t, w->q, w->v, w->vd, w->multipliers);
    return call(w, t, g, report);
}

/* On the constraints, as output is: to find out when something happens. */
static ga_status evaluate(ga_watch *w, double t, double *g, ga_report *report)
{
    ga_dense_consistent(w->m, t, w->q, w->v, w->vd, w->multipliers);
    return call_exactly(w, t, g, report);
}

/* On the interpolated motion, which is good enough to see that something happens. Velocities
 * that violate the constraints are not: a contact that closes may seem to open. */
static ga_status survey(ga_watch *w, double t, double *g, ga_report *report)
{
    if (w->m->dae->m && !w->m->velocity_level) return evaluate(w, t, g, report);
    w->m->type->interpolate(w->m, t, w->q, w->v, w->vd, w->multipliers);
    return call_exactly(w, t, g, report);
}

/* Behind a start, ds later on the Taylor path. */
static ga_status evaluate_ahead(ga_watch *w, double ds, double *g, ga_report *report)
{
    const ga_solution *now = &w->m->now;
    const ga_dae *dae = w->m->dae;
    for (int i = 0; i < dae->nv; ++i) {
        w->path[i] = ds * (now->v_start[i] + 0.5 * ds * now->vd[i]);
        w->v[i] = now->v_start[i] + ds * now->vd[i];
    }
    if (ds == 0)
        memcpy(w->q, now->q, (size_t)dae->nq * sizeof *w->q);
    else
        ga_dae_update(dae, GA_MAP_EXP, now->q, w->path, w->q);
    memcpy(w->multipliers, now->multipliers, (size_t)dae->mp * sizeof *w->multipliers);
    if (ds == 0)
        memcpy(w->vd, now->vd, (size_t)dae->nv * sizeof *w->vd);
    else
        GA_TRY(ga_onestep_accelerate(w->m, now->t + ds, w->q, w->v, w->vd, w->multipliers));
    return call(w, now->t + ds, g, report);
}

static int sign(double x) { return (x > 0) - (x < 0); }

/* Times closer than this are the same. */
static double resolution(const ga_watch *w, double t)
{
    return 1e-12 * fmax(fabs(t), w->m->now.h);
}

static bool is_unilateral(const ga_watch *w, int i)
{
    return w->def.unilateral && w->def.unilateral[i];
}

/* Values of function i, which moves with this slope, that cannot be told from zero at time t.
 */
static double none(const ga_watch *w, int i, double slope, double t)
{
    return fmax(slope * resolution(w, t), 1e-13 * w->size[i]);
}

static void meet(ga_watch *w, const double *g)
{
    for (int i = 0; i < w->def.count; ++i)
        if (isfinite(g[i])) w->size[i] = fmax(w->size[i], fabs(g[i]));
}

/* --- starts ------------------------------------------------------------------------------- */

/* How far to look ahead behind a start: far enough for differences, and too short for much to
 * happen. */
static double look_ahead(const ga_watch *w)
{
    return fmax(1e-4 * w->m->now.h, resolution(w, w->m->now.t));
}

/* Values ds and 2 ds behind a start into g[1] and g[2]; false: the motion cannot be followed
 * that far. */
static bool look_along(ga_watch *w, double ds)
{
    return ds > 0 && evaluate_ahead(w, ds, w->g[1], NULL) == GA_OK &&
           evaluate_ahead(w, 2 * ds, w->g[2], NULL) == GA_OK;
}

/* The change of function i within ds behind a start, by its first and second derivative; from
 * its changes after ds and 2 ds. */
static double linear_change(double one, double two) { return 2 * one - 0.5 * two; }
static double bend(double one, double two) { return two - 2 * one; }

/* From g[0], and g[1] and g[2] if ds > 0. A function at zero is on the side it goes to. */
static int side_at_start(const ga_watch *w, int i, double ds)
{
    if (is_unilateral(w, i)) return 1;
    const double g = w->g[0][i];
    if (!(ds > 0)) return sign(g);
    const double one = w->g[1][i] - g, two = w->g[2][i] - g;
    if (fabs(g) > none(w, i, fabs(one) / ds, w->m->now.t)) return sign(g);
    const double linear = linear_change(one, two), curved = bend(one, two);
    const double round_off = 8 * DBL_EPSILON * (w->size[i] + fabs(one) + fabs(two));
    if (fabs(linear) > round_off) return sign(linear);
    return fabs(curved) > round_off ? sign(curved) : 0;
}

ga_status ga_watch_start(ga_watch *w, double t_end, ga_report *report)
{
    const ga_solution *now = &w->m->now;
    w->t_end = t_end;
    w->duration = t_end - now->t;
    w->happened = 0;
    if (!w->def.count) return GA_OK;
    memset(w->size, 0, (size_t)w->def.count * sizeof *w->size);
    w->t_before = NAN;
    GA_TRY(evaluate_ahead(w, 0, w->g[0], report));
    meet(w, w->g[0]);
    double ds = look_ahead(w);
    if (!look_along(w, ds)) ds = 0;
    for (int i = 0; i < w->def.count; ++i) w->side[i] = side_at_start(w, i, ds);
    return GA_OK;
}

static bool is_event(const ga_watch *w, int i)
{
    for (int k = 0; k < w->count; ++k)
        if (w->which[k] == i) return true;
    return false;
}

/* Does function i, at zero, move on to its new side? one, two: its change after ds and 2 ds.
 * Where the user has touched q or v it must do so plainly, not by falling back after a bounce
 * that is over before ds. */
static bool moves_on(const ga_watch *w, int i, double one, double two)
{
    double linear = linear_change(one, two);
    double least = 0.1 * resolution(w, w->m->now.t) * w->slope[i];
    if (w->touched) least = fmax(least, fabs(bend(one, two)));
    return sign(linear) == w->side[i] && fabs(linear) > least;
}

/* The functions with v' and multipliers from the acceleration level. */
static ga_status evaluate_at(ga_watch *w, double t, const double *q, const double *v, double *g,
                             ga_report *report)
{
    ga_onestep *m = w->m;
    memcpy(w->q, q, (size_t)m->dae->nq * sizeof *q);
    memcpy(w->v, v, (size_t)m->dae->nv * sizeof *v);
    ga_dense_acceleration(m, t, w->q, w->v, w->vd, w->multipliers);
    return call(w, t, g, report);
}

ga_status ga_watch_before(ga_watch *w, double t, const double *q, const double *v,
                          ga_report *report)
{
    memcpy(w->q_given, q, (size_t)w->m->dae->nq * sizeof *q);
    memcpy(w->v_given, v, (size_t)w->m->dae->nv * sizeof *v);
    return evaluate_at(w, t, q, v, w->g[0], report);
}

ga_status ga_watch_after(ga_watch *w, double t, const double *q, const double *v,
                         ga_report *report)
{
    w->touched = memcmp(w->q_given, q, (size_t)w->m->dae->nq * sizeof *q) ||
                 memcmp(w->v_given, v, (size_t)w->m->dae->nv * sizeof *v);
    GA_TRY(evaluate_at(w, t, q, v, w->g[1], report));
    for (int i = 0; i < w->def.count; ++i) w->shift[i] = fabs(w->g[1][i] - w->g[0][i]);
    return GA_OK;
}

ga_status ga_watch_restart(ga_watch *w, ga_report *report)
{
    GA_TRY(evaluate_ahead(w, 0, w->g[0], report));
    w->t_before = NAN;
    const double ds = look_ahead(w), t = w->m->now.t;
    const bool path = look_along(w, ds);
    for (int i = 0; i < w->def.count; ++i) {
        double g = w->g[0][i], one = w->g[1][i] - g, two = w->g[2][i] - g;
        double slope = fmax(w->slope[i], path ? fabs(one) / ds : 0);
        bool moved = w->shift[i] > none(w, i, slope, t);
        if (is_unilateral(w, i)) {
            w->side[i] = 1;
        } else if (!is_event(w, i) || moved) {
            /* a function given another meaning may be at zero up to round-off: no side */
            if (fabs(g) > (moved ? none(w, i, slope, t) : 0)) w->side[i] = sign(g);
        } else if (!path || !moves_on(w, i, one, two)) {
            w->side[i] = -w->side[i]; /* back to where ga_watch_next has turned it over */
        }
    }
    return GA_OK;
}

/* --- the search in a step ----------------------------------------------------------------- */

/* Has function i changed to another side, in a direction that counts? */
static bool crosses(const ga_watch *w, int i, double g)
{
    int there = sign(g);
    if (w->side[i] == 0 || there == w->side[i]) return false;
    if (there == 0) return false; /* not through yet */
    if (is_unilateral(w, i)) return there < 0;
    return !w->def.direction || w->def.direction[i] == 0 || w->def.direction[i] == there;
}

/* Behind a restart round-off may have put function i on the other side already at a. The latest
 * of the times a + (b - a)/2, a + (b - a)/4, ... at which it is on its side, into *a; if there
 * is none, it is through right behind a, which is *b then. */
static ga_status find_side(ga_watch *w, int i, double *a, double *ga, double *b, double *gb,
                           double width, ga_report *report)
{
    const double start = *a;
    for (double part = 0.5 * (*b - start); part > width; part *= 0.5) {
        const double t = start + part;
        GA_TRY(evaluate(w, t, w->g[3], report));
        const double g = w->g[3][i];
        if (sign(g) == w->side[i]) {
            *a = t;
            *ga = g;
            return GA_OK;
        }
        if (sign(g) != sign(*gb)) continue; /* zero */
        *b = t;
        *gb = g;
    }
    return GA_OK;
}

/* The time in (a, b] at which function i has changed sides, infinity if it has not at b, where
 * *at_end becomes its value on the constraints. */
static ga_status locate(ga_watch *w, int i, double a, double ga, double *b, double *at_end,
                        ga_report *report)
{
    double *g = w->g[3];
    GA_TRY(evaluate(w, *b, g, report));
    double gb = *at_end = g[i];
    if (!crosses(w, i, gb)) {
        *b = INFINITY;
        return GA_OK;
    }
    const double width = 4 * DBL_EPSILON * fmax(fabs(a), fabs(*b));
    if (sign(ga) != w->side[i]) GA_TRY(find_side(w, i, &a, &ga, b, &gb, width, report));
    bool halve = ga == 0;
    for (int k = 0; k < 200 && *b - a > width; ++k) {
        double t = halve || k % 3 == 2 ? 0.5 * (a + *b) : a + (*b - a) * ga / (ga - gb);
        if (!(t > a + 0.5 * width && t < *b - 0.5 * width)) t = 0.5 * (a + *b);
        if (!(t > a && t < *b)) break;
        GA_TRY(evaluate(w, t, g, report));
        if (sign(g[i]) == sign(gb)) {
            *b = t;
            gb = g[i];
            ga *= 0.5; /* Illinois */
        } else {
            a = t;
            ga = g[i];
            gb *= 0.5;
            halve = ga == 0;
        }
    }
    return GA_OK;
}

/* All events at time t: functions that have changed sides by then. */
static ga_status gather(ga_watch *w, double t, ga_report *report)
{
    GA_TRY(evaluate(w, t, w->g[3], report));
    w->count = 0;
    for (int i = 0; i < w->def.count; ++i) {
        int there = sign(w->g[3][i]);
        if (w->end[i] <= t || crosses(w, i, w->g[3][i])) {
            w->which[w->count++] = i;
            w->side[i] = -w->side[i];
        } else if (there != 0) {
            w->side[i] = there;
        }
    }
    long k = w->happened % w->def.max_count;
    bool storm = w->happened >= w->def.max_count && t - w->times[k] < 1e-6 * w->duration;
    w->times[k] = t;
    ++w->happened;
    if (!storm) return GA_OK;
    return ga_fail_at(report, t, w->which[0], GA_ERR_EVENTS,
                      "event %d at t = %.9g is the last of more than %d in a millionth of the "
                      "simulated time",
                      w->which[0], t, w->def.max_count);
}

/* The earliest crossing in (a, b], whose values are in g[1] and g[2], with all that are the
 * same within the resolution. */
static ga_status earliest(ga_watch *w, double a, double b, bool *found, double *t,
                          ga_report *report)
{
    double first = INFINITY;
    for (int i = 0; i < w->def.count; ++i) {
        double ga = w->g[1][i], gb = w->g[2][i];
        w->slope[i] = fabs(gb - ga) / (b - a);
        bool arrives = b == w->t_end && fabs(gb) <= w->slope[i] * resolution(w, b);
        if (arrives) gb = -w->side[i] * DBL_MIN;
        w->end[i] = INFINITY;
        if (!crosses(w, i, gb)) continue;
        w->end[i] = b;
        if (!arrives) GA_TRY(locate(w, i, a, ga, &w->end[i], &w->g[2][i], report));
        first = fmin(first, w->end[i]);
    }
    *found = first < INFINITY;
    *t = first;
    for (int i = 0; i < w->def.count && *found; ++i)
        if (w->end[i] <= first + resolution(w, first)) *t = fmax(*t, w->end[i]);
    return GA_OK;
}

/* --- through zero and back within an interval ----------------------------------------------
 */

/* Could function i, on its side at a and b, be on the other one in between? Not if it is ten
 * times as far away as its curvature over the last two intervals could take it. */
static bool is_near(const ga_watch *w, int i, double a, double b)
{
    const double ga = w->g[1][i], gb = w->g[2][i], length = b - a;
    if (w->side[i] == 0 || sign(ga) != w->side[i] || sign(gb) != w->side[i]) return false;
    if (isinf(ga) || isinf(gb)) return false;
    if (isnan(w->t_before) || !(a > w->t_before)) return true;
    const double last = (ga - w->before[i]) / (a - w->t_before), now = (gb - ga) / length;
    const double curvature = fabs(now - last) / (0.5 * (b - w->t_before));
    return !(fmin(fabs(ga), fabs(gb)) > 10 * curvature * length * length / 8);
}

/* Function i has turned back at t, without an event: g there, g_from at the time `from`. */
static void tell_turn(const ga_watch *w, int i, double t, double g, double from, double g_from)
{
    if (!w->def.turned || !is_unilateral(w, i) || !(g > 0) || t == from) return;
    w->def.turned(w->def.user, i, t, g, 2 * (g_from - g) / ((t - from) * (t - from)),
                  w->size[i]);
}

/* A time in (a, b) at which function i is on the other side, by golden sections towards its
 * extremum; or infinity. */
static ga_status find_dip(ga_watch *w, int i, double a, double b, double *t, ga_report *report)
{
    enum { MOST = 60 };
    const double golden = 0.3819660112501051;
    const double noise = 8 * DBL_EPSILON * w->size[i], width = 1e-9 * (b - a);
    double at[2] = {a + golden * (b - a), b - golden * (b - a)}, g[2];
    const double from[2] = {a, b}, g_from[2] = {w->g[1][i], w->g[2][i]};
    *t = INFINITY;
    for (int k = 0; k < 2; ++k) {
        GA_TRY(survey(w, at[k], w->g[3], report));
        g[k] = w->side[i] * w->g[3][i];
    }
    for (int k = 0; k < MOST && b - a > width && fmin(g[0], g[1]) > -noise; ++k) {
        const bool left = g[0] < g[1];
        *(left ? &b : &a) = at[left];
        at[left] = at[!left];
        g[left] = g[!left];
        at[!left] = left ? a + golden * (b - a) : b - golden * (b - a);
        GA_TRY(survey(w, at[!left], w->g[3], report));
        g[!left] = w->side[i] * w->g[3][i];
    }
    const int lowest = g[1] < g[0];
    if (g[lowest] < -noise) {
        *t = at[lowest];
    } else {
        const int far = at[lowest] - from[0] < from[1] - at[lowest];
        tell_turn(w, i, at[lowest], g[lowest], from[far], g_from[far]);
    }
    return GA_OK;
}

/* The first time found in (a, b) at which a function that is on its side at both ends is on the
 * other; or b. */
static ga_status look_between(ga_watch *w, double a, double *b, ga_report *report)
{
    const double end = *b, length = end - a, little = 1e-4 * length;
    bool any = false;
    for (int i = 0; i < w->def.count && !any; ++i) any = is_near(w, i, a, end);
    if (!any || !(little > 8 * DBL_EPSILON * fabs(end))) return GA_OK;
    GA_TRY(survey(w, a + little, w->g[0], report));
    GA_TRY(survey(w, end - little, w->g[3], report));
    for (int i = 0; i < w->def.count; ++i) {
        const double away = w->side[i] * (w->g[0][i] - w->g[1][i]);
        const double back = w->side[i] * (w->g[2][i] - w->g[3][i]);
        const double distance = fabs(w->g[1][i]) + away / little * length;
        w->end[i] = is_near(w, i, a, end) && away < 0 && back > 0 && distance < 0;
    }
    for (int i = 0; i < w->def.count; ++i) {
        double t;
        if (w->end[i] == 0) continue;
        GA_TRY(find_dip(w, i, a, end, &t, report));
        *b = fmin(*b, t);
    }
    return *b < end ? survey(w, *b, w->g[2], report) : GA_OK;
}

/* The first event in (a, *b], values in g[1] and g[2]; without one the search stands at *b
 * afterwards, which may have come nearer. */
static ga_status search(ga_watch *w, double a, double *b, bool *found, double *t,
                        ga_report *report)
{
    GA_TRY(look_between(w, a, b, report));
    GA_TRY(earliest(w, a, *b, found, t, report));
    if (*found) return gather(w, *t, report);
    for (int i = 0; i < w->def.count; ++i) {
        int there = sign(w->g[2][i]);
        if (there != 0) w->side[i] = there; /* also where the direction does not count */
        const double old = w->before[i], g = w->g[1][i];
        if (a > w->t_before && g < old && g < w->g[2][i])
            tell_turn(w, i, a, g, w->t_before, old);
    }
    const size_t size = (size_t)w->def.count * sizeof *w->before;
    memcpy(w->before, w->g[1], size);
    memcpy(w->g[1], w->g[2], size);
    w->t_before = a;
    return GA_OK;
}

ga_status ga_watch_next(ga_watch *w, double from, bool *found, double *t, ga_report *report)
{
    enum { MOST_PARTS = 8 }; /* of a quarter: a function of noise is not followed further */
    const ga_solution *now = &w->m->now;
    *found = false;
    if (!w->def.count || !(from < now->t)) return GA_OK;
    if (from > now->t_old) w->t_before = NAN; /* behind an event */
    GA_TRY(survey(w, from, w->g[1], report));
    double a = from;
    for (int quarter = 1; quarter <= 4; ++quarter) {
        const double end = quarter == 4 ? now->t : now->t_old + 0.25 * quarter * now->h;
        for (int part = 0; part < MOST_PARTS && a < end; ++part) {
            double b = end;
            GA_TRY(survey(w, b, w->g[2], report));
            meet(w, w->g[2]);
            GA_TRY(search(w, a, &b, found, t, report));
            if (*found) return GA_OK;
            a = b;
        }
    }
    return GA_OK;
}

void ga_watch_forget(ga_watch *w, bool found)
{
    for (int k = 0; k < w->count && found; ++k) w->side[w->which[k]] = -w->side[w->which[k]];
    if (found) --w->happened;
    w->t_before = NAN;
}
