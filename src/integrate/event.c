/* A step is looked at in quarters, so that a function that goes through zero and comes back is
 * seen unless it does so within a quarter. Where a function changes sides, the time is
 * bracketed to round-off by bisection with interpolation (Illinois); the event happens at the
 * end of the bracket, where the function has arrived on the other side. A function that touches
 * zero and turns back has not passed it, and is no event. One that starts at zero is on no side
 * until it has left zero. */
#include "integrate/event.h"

#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <string.h>

ga_status ga_watch_create(ga_stepper *s, const ga_events *def, ga_watch *w)
{
    memset(w, 0, sizeof *w);
    w->s = s;
    w->def = *def;
    if (w->def.max_count < 1) w->def.max_count = 100;
    int n = def->count;
    bool memory = (w->side = GA_NEW(int, n)) && (w->which = GA_NEW(int, n)) &&
                  (w->times = GA_NEW(double, w->def.max_count)) &&
                  (w->q = GA_NEW(double, s->nq)) && (w->v = GA_NEW(double, s->nv)) &&
                  (w->vd = GA_NEW(double, s->nv)) && (w->multipliers = GA_NEW(double, s->mp));
    for (int k = 0; k < 4 && memory; ++k) memory = (w->g[k] = GA_NEW(double, n)) != NULL;
    if (!memory) ga_watch_destroy(w);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_watch_destroy(ga_watch *w)
{
    void *memory[] = {w->side,        w->which, w->times, w->q,    w->v,   w->vd,
                      w->multipliers, w->g[0],  w->g[1],  w->g[2], w->g[3]};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    memset(w, 0, sizeof *w);
}

static ga_status evaluate(ga_watch *w, double t, double *g, ga_report *report)
{
    ga_dense(w->s, t, w->q, w->v, w->vd, w->multipliers);
    ga_sample at = {t, w->q, w->v, w->vd, w->multipliers, w->multipliers + w->s->m};
    ga_eval answer = w->def.function(w->def.user, &at, g);
    if (answer != GA_EVAL_OK)
        return ga_fail(report, GA_ERR_CALLBACK, "the event functions failed at t = %.9g", t);
    for (int i = 0; i < w->def.count; ++i) {
        if (!isnan(g[i])) continue;
        ga_fail(report, GA_ERR_NOT_FINITE, "event function %d returned NaN at t = %.9g", i, t);
        if (report) {
            report->time = t;
            report->row = i;
        }
        return GA_ERR_NOT_FINITE;
    }
    return GA_OK;
}

static int sign(double x) { return (x > 0) - (x < 0); }

ga_status ga_watch_start(ga_watch *w, double duration, ga_report *report)
{
    w->duration = duration;
    w->happened = 0;
    if (!w->def.count) return GA_OK;
    GA_TRY(evaluate(w, w->s->now.t, w->g[0], report));
    for (int i = 0; i < w->def.count; ++i) w->side[i] = sign(w->g[0][i]);
    return GA_OK;
}

ga_status ga_watch_restart(ga_watch *w, ga_report *report)
{
    if (!w->def.count) return GA_OK;
    GA_TRY(evaluate(w, w->s->now.t, w->g[0], report));
    for (int i = 0; i < w->def.count; ++i) {
        bool event = false;
        for (int k = 0; k < w->count; ++k) event = event || w->which[k] == i;
        /* the side of an event has just been turned over by ga_watch_next */
        double small = 1e-10 * fmax(fabs(w->g[1][i]), fabs(w->g[2][i]));
        if (!event || fabs(w->g[0][i]) > small)
            w->side[i] = sign(w->g[0][i]);
        else
            w->side[i] = -w->side[i];
    }
    return GA_OK;
}

/* Has function i changed to another side, in a direction that counts? */
static bool crosses(const ga_watch *w, int i, double g)
{
    int there = sign(g);
    if (w->side[i] == 0 || there == w->side[i]) return false;
    if (there == 0) return false; /* not through yet */
    return !w->def.direction || w->def.direction[i] == 0 || w->def.direction[i] == there;
}

/* The time in (a, b] at which function i has changed sides; at b it has. */
static ga_status locate(ga_watch *w, int i, double a, double ga, double *b, double gb,
                        ga_report *report)
{
    double *g = w->g[3];
    const double width = 4 * DBL_EPSILON * fmax(fabs(a), fabs(*b));
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

/* All events at time t: functions that have changed sides there. */
static ga_status gather(ga_watch *w, double t, ga_report *report)
{
    GA_TRY(evaluate(w, t, w->g[3], report));
    w->count = 0;
    for (int i = 0; i < w->def.count; ++i) {
        if (crosses(w, i, w->g[3][i])) w->which[w->count++] = i;
        int there = sign(w->g[3][i]);
        if (there != 0) w->side[i] = there;
    }
    long k = w->happened % w->def.max_count;
    bool storm = w->happened >= w->def.max_count && t - w->times[k] < 1e-6 * w->duration;
    w->times[k] = t;
    ++w->happened;
    if (!storm) return GA_OK;
    ga_fail(report, GA_ERR_EVENTS,
            "event %d at t = %.9g is the last of %d in a millionth of the simulated time",
            w->count ? w->which[0] : 0, t, w->def.max_count);
    if (report) report->time = t;
    return GA_ERR_EVENTS;
}

/* The earliest crossing in (a, b], whose values are in g[1] and g[2]. */
static ga_status earliest(ga_watch *w, double a, double b, bool *found, double *t,
                          ga_report *report)
{
    *found = false;
    for (int i = 0; i < w->def.count; ++i) {
        if (!crosses(w, i, w->g[2][i])) continue;
        double end = b;
        GA_TRY(locate(w, i, a, w->g[1][i], &end, w->g[2][i], report));
        if (!*found || end < *t) *t = end;
        *found = true;
    }
    return GA_OK;
}

ga_status ga_watch_next(ga_watch *w, double from, bool *found, double *t, ga_report *report)
{
    const ga_state *now = &w->s->now;
    *found = false;
    if (!w->def.count || !(from < now->t)) return GA_OK;
    GA_TRY(evaluate(w, from, w->g[1], report));
    double a = from;
    for (int quarter = 1; quarter <= 4; ++quarter) {
        double b = quarter == 4 ? now->t : now->t_old + 0.25 * quarter * now->h;
        if (b <= a) continue;
        GA_TRY(evaluate(w, b, w->g[2], report));
        GA_TRY(earliest(w, a, b, found, t, report));
        if (*found) return gather(w, *t, report);
        for (int i = 0; i < w->def.count; ++i) {
            int there = sign(w->g[2][i]);
            if (there != 0) w->side[i] = there; /* also where the direction does not count */
        }
        memcpy(w->g[1], w->g[2], (size_t)w->def.count * sizeof *w->g[1]);
        a = b;
    }
    return GA_OK;
}
