/* Functions of time, looked at before the run.
 *
 * Breaks, from the function itself. What jumps there is seen from both sides,
 *
 *     [f]  = f(t + d) - f(t - d) - d (f'(t + d) + f'(t - d))
 *     [f'] = f'(t + d) - f'(t - d) - d (f''(t + d) + f''(t - d))
 *
 *     prescribed position: [f] != 0 cannot be followed; [f'] != 0 is an impact
 *     prescribed velocity: [f] != 0 is an impact
 *
 * Stops: error control cannot see what happens between the ends of its steps. So they end where
 * an expression has its centre, and at extrema found by sampling that are nearer to each other
 * than a step is long. Steps of fixed size do not end there; a warning says what they miss. */
#include "api/given.h"

#include "base/memory.h"
#include "base/messages.h"
#include "base/report.h"
#include "model/given.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const double ga_given_steps = 500;

/* Of one function. */
enum { MOST_BREAKS = 100000 };

/* Prime, so that no periodic function with a round period looks constant; for all functions of
 * a model together not more than so many. */
enum { SAMPLES = 9973, FEW_SAMPLES = 997, MOST_SAMPLES = 4000000 };

typedef struct search {
    double from, to, duration, max_step;
    double fixed_step; /* 0: steps are chosen by the error */
    int samples;
    ga_given_times *times;
    ga_warnings *warnings;
    ga_messages *messages;
    ga_report *report;
} search;

/* --- times -------------------------------------------------------------------------------- */

static ga_status add_time(ga_times *times, double t)
{
    if (times->count == times->room) {
        int room = times->room ? 2 * times->room : 64;
        double *at = GA_NEW(double, room);
        if (!at) return GA_ERR_MEMORY;
        if (times->count) memcpy(at, times->at, (size_t)times->count * sizeof *at);
        ga_free(times->at);
        times->at = at;
        times->room = room;
    }
    times->at[times->count++] = t;
    return GA_OK;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void sort(ga_times *times, double apart)
{
    int kept = 0;
    if (times->count) qsort(times->at, (size_t)times->count, sizeof *times->at, compare);
    for (int k = 0; k < times->count; ++k)
        if (kept == 0 || times->at[k] - times->at[kept - 1] > apart)
            times->at[kept++] = times->at[k];
    times->count = kept;
}

void ga_given_free(ga_given_times *times)
{
    ga_free(times->breaks.at);
    ga_free(times->stops.at);
}

/* --- jumps and corners -------------------------------------------------------------------- */

/* motions.drive.value, forces.push.force.x */
static const char *path(const ga_given *given, char *text, size_t size)
{
    static const char *const components[] = {".x", ".y", ".z"};
    const ga_element_type *type = given->element->type;
    snprintf(text, size, "%s.%.60s.%s%s", type->section ? type->section : "joints",
             given->element->name, given->field->name,
             given->component >= 0 ? components[given->component] : "");
    return text;
}

/* A prescribed position or velocity beyond this, in SI units, is no motion: the round-off of an
 * angle is a tenth of a radian there, and steps that follow its turns would never end. */
static const double TOO_LARGE = 1e15;

/* Sizes to compare jumps with, from a few samples: the range of f, the largest |f'|; the first
 * of them at which f is too large, NaN: none. */
typedef struct sizes {
    double range, rate;
    double too_large;
} sizes;

static sizes measure(const search *s, const ga_function *function)
{
    enum { FEW = 101 };
    double low = INFINITY, high = -INFINITY;
    sizes out = {.too_large = NAN};
    for (int k = 0; k < FEW; ++k) {
        const double t = s->from + s->duration * (k + 0.5) / FEW;
        double f[3];
        ga_function_rates(function, &t, f);
        if (isfinite(f[0])) low = fmin(low, f[0]), high = fmax(high, f[0]);
        if (isfinite(f[1])) out.rate = fmax(out.rate, fabs(f[1]));
        if (isnan(out.too_large) && fabs(f[0]) > TOO_LARGE) out.too_large = t;
    }
    out.range = high > low ? high - low : 0;
    return out;
}

/* What was found at the breaks of one function. */
typedef struct found {
    int jumps, corners, poles, fast, sharp;
    double first_jump, first_corner, first_pole; /* when */
    double first_fast, first_sharp;              /* where f' and f'' grow without bound */
    double jump, corner;                         /* the largest */
    double too_large;                            /* when */
} found;

/* Values grow by a power of the distance as t is approached from one side, to f at distance d.
 */
static bool grows(const ga_function *function, double t, double d, double f)
{
    static const double farther = 100, ratio = 3;
    const double there = t + farther * d;
    return !isfinite(f) || fabs(f) > ratio * fabs(ga_function_value(function, &there));
}

/* Does a derivative of f, of order 1 or 2, grow without bound as t is approached from the side
 * of d? A power of the distance does so by the same factor over each pair of decades: 1.58 for
 * the exponent -0.1. */
static bool diverges(const ga_function *function, double t, double d, int order, double none)
{
    static const double farther = 100, factor = 1.2;
    double size[3];
    for (int k = 0; k < 3; ++k, d *= farther) {
        double there = t + d, f[3];
        ga_function_rates(function, &there, f);
        size[k] = fabs(f[order]);
    }
    if (!(size[0] > none)) return !isfinite(size[0]);
    return !isfinite(size[0]) || (size[0] > factor * size[1] && size[1] > factor * size[2]);
}

static void examine(const search *s, const ga_given *given, const sizes *size, double t,
                    found *out)
{
    static const double tiny = 1e-7; /* of the function's range */
    const double d = 1e-10 * fmax(fabs(t), s->duration);
    const double before = t - d, after = t + d;
    double l[3], r[3];
    ga_function_rates(given->function, &before, l);
    ga_function_rates(given->function, &after, r);
    const double largest = fmax(fabs(l[0]), fabs(r[0]));
    if (!(largest <= size->range) &&
        (grows(given->function, t, -d, l[0]) || grows(given->function, t, d, r[0]))) {
        if (out->poles++ == 0) out->first_pole = t;
        return;
    }
    const double still = tiny * size->rate, steady = still / s->duration;
    if (diverges(given->function, t, -d, 1, still) ||
        diverges(given->function, t, d, 1, still)) {
        if (out->fast++ == 0) out->first_fast = t;
        return;
    }
    const double jump = fabs(r[0] - l[0] - d * (r[1] + l[1]));
    if (jump > tiny * fmax(size->range, 1e-9 * largest)) {
        if (out->jumps++ == 0) out->first_jump = t;
        out->jump = fmax(out->jump, jump);
        return;
    }
    if (diverges(given->function, t, -d, 2, steady) ||
        diverges(given->function, t, d, 2, steady)) {
        if (out->sharp++ == 0) out->first_sharp = t;
        return;
    }
    const double corner = fabs(r[1] - l[1] - d * (r[2] + l[2]));
    if (corner > tiny * fmax(size->rate, size->range / s->duration)) {
        if (out->corners++ == 0) out->first_corner = t;
        out->corner = fmax(out->corner, corner);
    }
}

static void warn_impacts(const search *s, const ga_given *given, int count, double first,
                         double largest)
{
    char name[128];
    path(given, name, sizeof name);
    if (count == 1)
        ga_warn(s->warnings, GA_WARN_VELOCITY_JUMP, given->element->name, first,
                "%s: the prescribed velocity jumps by %.3g at t = %.6g s, an impact; its "
                "infinite force is in no channel",
                name, largest, first);
    else
        ga_warn(s->warnings, GA_WARN_VELOCITY_JUMP, given->element->name, first,
                "%s: the prescribed velocity jumps %d times, first at t = %.6g s, by up to "
                "%.3g: impacts; their infinite forces are in no channel",
                name, count, first, largest);
}

static ga_status refuse(const search *s, const ga_given *given, double t, const char *text)
{
    const ga_place place = given->element->place;
    char name[128];
    path(given, name, sizeof name);
    ga_messages_add(s->messages, GA_SEVERITY_ERROR, place.file, place.line, place.column, name,
                    "%s", text);
    ga_fail(s->report, GA_ERR_INPUT, "%s: %s", name, text);
    if (s->report) s->report->time = t;
    return GA_ERR_INPUT;
}

static ga_status refuse_motion(const search *s, const ga_given *given, double t,
                               const char *what)
{
    char text[200];
    snprintf(
        text, sizeof text,
        "%s at t = %.6g s, which no mechanism can follow; expected a smooth function, such "
        "as {step: ...} over a short time",
        what, t);
    return refuse(s, given, t, text);
}

static ga_status judge(const search *s, const ga_given *given, const found *f)
{
    char text[64], name[128];
    snprintf(text, sizeof text, "jumps by %.3g", f->jump);
    if (given->level != GA_GIVEN_FORCE && f->poles)
        return refuse_motion(s, given, f->first_pole, "grows without bound");
    if (given->level != GA_GIVEN_FORCE && !isnan(f->too_large))
        return refuse_motion(s, given, f->too_large, "exceeds 1e15");
    if (given->level == GA_GIVEN_POSITION && f->fast)
        return refuse_motion(s, given, f->first_fast, "its velocity grows without bound");
    if (given->level == GA_GIVEN_POSITION && f->sharp)
        return refuse_motion(s, given, f->first_sharp, "its acceleration grows without bound");
    if (given->level == GA_GIVEN_VELOCITY && f->fast)
        return refuse_motion(s, given, f->first_fast, "its acceleration grows without bound");
    if (given->level == GA_GIVEN_POSITION && f->jumps)
        return refuse_motion(s, given, f->first_jump, text);
    if (given->level == GA_GIVEN_POSITION && f->corners)
        warn_impacts(s, given, f->corners, f->first_corner, f->corner);
    if (given->level == GA_GIVEN_VELOCITY && f->jumps)
        warn_impacts(s, given, f->jumps, f->first_jump, f->jump);
    if (f->poles)
        ga_warn(s->warnings, GA_WARN_POLE, given->element->name, f->first_pole,
                "%s: has a pole at t = %.6g s, where it grows without bound",
                path(given, name, sizeof name), f->first_pole);
    return GA_OK;
}

static ga_status find_breaks(search *s, const ga_given *given)
{
    const ga_span span = {s->to, s->duration / SAMPLES};
    const bool of_time = ga_function_variables(given->function) <= 1;
    const sizes size = of_time ? measure(s, given->function) : (sizes){.too_large = NAN};
    found f = {.too_large = size.too_large};
    double t = s->from;
    for (int k = 0;; ++k) {
        const double next = ga_function_next_break(given->function, &span, t);
        if (!(next > t) || next > s->to) break;
        if (s->to - next <= 1e-12 * fmax(fabs(s->to), s->duration)) {
            GA_TRY(add_time(&s->times->breaks, next));
            break;
        }
        if (k == MOST_BREAKS) {
            char name[128];
            ga_warn(s->warnings, GA_WARN_MANY_BREAKS, given->element->name, next,
                    "%s: has more than %d jumps and corners; from t = %.6g s on, steps are not "
                    "aligned with them",
                    path(given, name, sizeof name), MOST_BREAKS, next);
            break;
        }
        if (of_time) examine(s, given, &size, next, &f);
        GA_TRY(add_time(&s->times->breaks, next));
        t = next;
    }
    return judge(s, given, &f);
}

/* --- what steps could miss ---------------------------------------------------------------- */

static ga_status find_centres(search *s, const ga_function *function)
{
    const ga_span span = {s->to, s->duration / SAMPLES};
    double t = s->from;
    for (int k = 0; k < SAMPLES; ++k) {
        const double next = ga_function_next_bend(function, &span, t);
        if (!(next > t) || next >= s->to) return GA_OK;
        GA_TRY(add_time(&s->times->stops, next));
        t = next;
    }
    return GA_OK;
}

/* Highs and lows in turn, each beyond the one before by a thousandth of the range; those nearer
 * to the next than a step is long become stops. */
static ga_status find_extrema(search *s, const ga_function *function, double range)
{
    static const double part = 1e-3;
    double extreme_t = s->from, extreme = NAN, last_t = -INFINITY;
    int direction = 0; /* 1: looking for a high */
    for (int k = 0; k <= s->samples; ++k) {
        const double t = s->from + s->duration * k / s->samples;
        const double f = ga_function_value(function, &t);
        if (!isfinite(f)) continue;
        if (isnan(extreme)) extreme = f;
        const double gain = f - extreme;
        if (direction == 0 && fabs(gain) > part * range) direction = gain > 0 ? 1 : -1;
        if (direction * gain > 0 || direction == 0) {
            if (direction) extreme = f, extreme_t = t;
            continue;
        }
        if (fabs(gain) <= part * range) continue;
        /* extreme_t was one; its like before it at last_t */
        if (extreme_t - last_t < 2 * s->max_step || t - extreme_t < 2 * s->max_step)
            GA_TRY(add_time(&s->times->stops, extreme_t));
        last_t = extreme_t;
        direction = -direction;
        extreme = f;
        extreme_t = t;
    }
    return GA_OK;
}

/* Breaks of one function, ascending. Steps end at them, whatever their size. */
typedef struct interval {
    double from, to;
} interval;

/* What lies between the breaks around t; empty: t is one. */
static interval between_breaks(const ga_times *breaks, int first, double t, double apart)
{
    int low = first, high = breaks->count; /* the first one from t on */
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (breaks->at[middle] < t - apart)
            low = middle + 1;
        else
            high = middle;
    }
    return (interval){low > first ? breaks->at[low - 1] + apart : -INFINITY,
                      low < breaks->count ? breaks->at[low] - apart : INFINITY};
}

/* A high or low at t that steps of size h miss: on both sides the function changes over one
 * step by more than half of what it changes over two. Of a parabola that is a quarter; it is a
 * half of exp(-(t/w)^2) with w = 1.25 h, and of a sine with four steps per period. */
static bool is_narrow(const ga_function *function, double t, double h, double range,
                      interval smooth)
{
    static const double small = 1e-2; /* of the range */
    double f[5];
    if (!(smooth.from < t && t < smooth.to)) return false;
    for (int k = 0; k < 5; ++k) {
        const double at = fmin(fmax(t + (k - 2) * h, smooth.from), smooth.to);
        f[k] = ga_function_value(function, &at);
    }
    const double side = f[1] + f[3] < 2 * f[2] ? 1 : -1;
    const double before = side * (f[2] - f[1]), after = side * (f[2] - f[3]);
    return before > small * range && before > 0.5 * side * (f[2] - f[0]) &&
           after > small * range && after > 0.5 * side * (f[2] - f[4]);
}

/* Two extrema within a step: what its ends show is by chance. */
static bool is_crowded(const ga_function *function, double t, double other, double h,
                       double range, interval smooth)
{
    static const double much = 0.1;
    return fabs(t - other) < 0.999 * h && other > smooth.from && other < smooth.to &&
           fabs(ga_function_value(function, &t) - ga_function_value(function, &other)) >
               much * range;
}

/* The breaks and stops of this function are those from these on. */
static void warn_unresolved(const search *s, const ga_given *given, double range,
                            int first_break, int first_stop)
{
    const double h = s->fixed_step, apart = 1e-12 * fmax(fabs(s->to), s->duration);
    const ga_times *stops = &s->times->stops;
    int count = 0;
    double earliest = INFINITY;
    for (int k = first_stop; k < stops->count; ++k) {
        const double t = stops->at[k];
        const interval smooth = between_breaks(&s->times->breaks, first_break, t, apart);
        const bool missed = is_narrow(given->function, t, h, range, smooth) ||
                            (k > first_stop && is_crowded(given->function, t, stops->at[k - 1],
                                                          h, range, smooth));
        if (!missed) continue;
        ++count;
        earliest = fmin(earliest, t);
    }
    if (!count) return;
    char name[128], more[48] = "";
    if (count > 1) snprintf(more, sizeof more, "%d times, first ", count);
    ga_warn(
        s->warnings, GA_WARN_UNRESOLVED, given->element->name, earliest,
        "%s: rises and falls within a step of %.3g s, %sat t = %.6g s; what happens between "
        "the ends of steps is missed",
        path(given, name, sizeof name), h, more, earliest);
}

/* Does the derivative of this order jump between the start and d behind it? Then it changes far
 * less over the next d. */
static bool jumps_behind(const double at[3], const double behind[3], const double farther[3],
                         int order)
{
    const double jump = fabs(behind[order] - at[order]);
    return jump > 1e-3 * fmax(fabs(behind[order]), fabs(at[order])) &&
           fabs(farther[order] - behind[order]) < 0.1 * jump;
}

/* A start takes values at its time for those of what follows. Where they are not, as with
 * `t > 0 ? 1 : 0`, it has to be just behind, as little as the function can tell apart. */
static void begin_behind_jump(search *s, const ga_given *given)
{
    const double d = 1e-9 * s->duration, size = fmax(fabs(s->from), s->duration);
    const double shifts[] = {fmax(4 * DBL_EPSILON * fabs(s->from), 1e-300),
                             32 * DBL_EPSILON * size};
    const double times[] = {s->from, s->from + d, s->from + 2 * d, s->from + shifts[0]};
    double f[4][3];
    for (int k = 0; k < 4; ++k) {
        ga_function_rates(given->function, &times[k], f[k]);
        for (int r = 0; r < 3; ++r)
            if (!isfinite(f[k][r])) return;
    }
    const int most = given->level == GA_GIVEN_FORCE      ? 0
                     : given->level == GA_GIVEN_VELOCITY ? 1
                                                         : 2;
    for (int r = 0; r <= most; ++r) {
        if (!jumps_behind(f[0], f[1], f[2], r)) continue;
        const bool enough = fabs(f[3][r] - f[1][r]) < 0.1 * fabs(f[0][r] - f[1][r]);
        s->times->begin = fmax(s->times->begin, s->from + shifts[enough ? 0 : 1]);
        s->times->changes = true;
    }
}

/* From samples, and at the centres, the stops from `first` on: a pulse may lie between samples.
 */
static double range_of(const search *s, const ga_function *function, int first)
{
    double low = INFINITY, high = -INFINITY;
    const int centres = s->times->stops.count - first;
    for (int k = -centres; k <= s->samples; ++k) {
        const double t =
            k < 0 ? s->times->stops.at[first - k - 1] : s->from + s->duration * k / s->samples;
        const double f = ga_function_value(function, &t);
        if (isfinite(f)) low = fmin(low, f), high = fmax(high, f);
    }
    return high > low ? high - low : 0;
}

/* The least value within d of t; *t is where. */
static double least_near(const ga_function *function, double d, double *t)
{
    double low = *t - d, high = *t + d;
    for (int k = 0; k < 100; ++k) {
        const double left = low + (high - low) / 3, right = high - (high - low) / 3;
        if (ga_function_value(function, &left) < ga_function_value(function, &right))
            high = right;
        else
            low = left;
    }
    *t = 0.5 * (low + high);
    return ga_function_value(function, t);
}

/* A length that reaches zero leaves its rod without a direction. Between samples it may do so
 * only in a corner, as abs(1 - t) does, where one neighbour of the lowest sample is at least
 * twice as large. */
static ga_status check_positive(const search *s, const ga_given *given)
{
    if (given->field->range != GA_POSITIVE || ga_function_variables(given->function) > 1)
        return GA_OK;
    const double d = s->duration / s->samples;
    double most = 0, last[2] = {NAN, NAN};
    for (int k = 0; k <= s->samples; ++k) {
        double t = s->from + k * d, f = ga_function_value(given->function, &t);
        const double here = f;
        most = fmax(most, f);
        if (last[0] <= fmin(f, last[1]) && 2 * last[0] <= fmax(f, last[1])) {
            double low = t - d;
            const double least = least_near(given->function, d, &low);
            if (least < f) f = least, t = low;
        }
        last[1] = last[0];
        last[0] = here;
        if (!(f <= 1e-6 * most)) continue;
        char text[160];
        snprintf(text, sizeof text,
                 "falls to %.3g at t = %.6g s; expected a function that stays positive to the "
                 "end of the run, t = %.6g s",
                 fabs(f) <= 1e-6 * most ? 0 : f, t, s->to);
        return refuse(s, given, t, text);
    }
    return GA_OK;
}

static ga_status find_stops(search *s, const ga_given *given, int first_break)
{
    const ga_function *function = given->function;
    const int first = s->times->stops.count;
    GA_TRY(find_centres(s, function));
    if (!ga_function_is_curved(function)) return GA_OK;
    s->times->curved = true;
    if (ga_function_variables(function) > 1) return GA_OK; /* not a function of time alone */
    const double range = range_of(s, function, first);
    if (range > 0) GA_TRY(find_extrema(s, function, range));
    if (range > 0 && s->fixed_step > 0) warn_unresolved(s, given, range, first_break, first);
    return GA_OK;
}

static void warn_overshoot(const search *s, const ga_given *given)
{
    double at;
    const double beyond = ga_function_overshoot(given->function, &at);
    if (!(beyond > 1)) return;
    char name[128];
    ga_warn(s->warnings, GA_WARN_OVERSHOOT, given->element->name, at,
            "%s: between its points the curve leaves the range of the table by %.2g times that "
            "range, to %.3g at t = %.6g s",
            path(given, name, sizeof name), beyond, ga_function_value(given->function, &at),
            at);
}

/* --- all ---------------------------------------------------------------------------------- */

static ga_status look_at(search *s, const ga_element *element)
{
    const ga_element_type *type = element->type;
    const double before_start = s->from - s->max_step;
    const double first_end = s->from + (1 + 1e-9) * s->max_step;
    const ga_span around = {first_end, s->max_step};
    ga_given given;
    for (int k = 0; given = ga_given_of(element, k), given.function; ++k) {
        GA_TRY(check_positive(s, &given));
        warn_overshoot(s, &given);
        if (ga_function_variables(given.function) <= 1) begin_behind_jump(s, &given);
        s->times->changes |=
            ga_function_next_break(given.function, &around, before_start) <= first_end;
        const int first_break = s->times->breaks.count;
        GA_TRY(find_breaks(s, &given));
        GA_TRY(find_stops(s, &given, first_break));
    }
    s->times->changes |=
        type->next_break && type->next_break(element, before_start) <= first_end;
    double t = s->from;
    for (int k = 0; type->next_break && k < MOST_BREAKS; ++k) {
        const double next = type->next_break(element, t);
        if (!(next > t) || next >= s->to) break;
        GA_TRY(add_time(&s->times->breaks, next));
        t = next;
    }
    return GA_OK;
}

/* At a break functions have the values of what follows. If that is the end, they are not part
 * of the run. */
static void stop_before_end(search *s)
{
    const double size = fmax(fabs(s->to), s->duration);
    ga_times *breaks = &s->times->breaks;
    while (breaks->count && s->to - breaks->at[breaks->count - 1] <= 1e-12 * size)
        s->times->end = breaks->at[--breaks->count] - 32 * DBL_EPSILON * size;
}

static int count_functions(const ga_model *model)
{
    int count = 0;
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; ga_given_of(model->elements[e], k).function; ++k) ++count;
    return count;
}

/* Four for each step of fixed size, so that none of its extrema is overlooked. */
static int samples_for(double steps, int functions)
{
    const double most = functions ? MOST_SAMPLES / functions : MOST_SAMPLES;
    if (most < SAMPLES) return FEW_SAMPLES;
    return (int)fmin(fmax(SAMPLES, 4 * steps + 1), most);
}

ga_status ga_given_find(const ga_model *model, double from, double to, ga_given_limits limits,
                        ga_given_times *times, ga_warnings *warnings, ga_messages *messages,
                        ga_report *report)
{
    times->begin = from;
    times->changes = false;
    times->end = to;
    if (!(to > from)) return GA_OK; /* also if it is not known when the run ends */
    const double duration = to - from;
    const double fixed = limits.fixed_step, longest = fixed > 0 ? fixed : limits.max_step;
    search s = {
        .from = from,
        .to = to,
        .duration = duration,
        .max_step = longest > 0 ? longest : limits.given_steps * duration / ga_given_steps,
        .fixed_step = fixed,
        .samples = samples_for(fixed > 0 ? duration / fixed : 0, count_functions(model)),
        .times = times,
        .warnings = warnings,
        .messages = messages,
        .report = report};
    for (int e = 0; e < model->element_count; ++e) {
        const ga_status status = look_at(&s, model->elements[e]);
        if (status == GA_ERR_MEMORY)
            return ga_fail(report, status, "no memory for the breaks of functions");
        if (status != GA_OK) return status;
    }
    const double apart = 1e-13 * fmax(fabs(from), fabs(to));
    sort(&times->breaks, apart);
    stop_before_end(&s);
    sort(&times->stops, apart);
    return GA_OK;
}
