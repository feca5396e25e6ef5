/* Stiffness of a motion, as the explicit method sees it. */
#include "base/extremes.h"
#include "integrate/explicit.h"

#include <math.h>

/* Of the method: h omega of undamped, h rho of damped modes. */
static const double STABLE_UNDAMPED = 4.5, STABLE_DAMPED = 6.7;
/* Looked at every so many steps; so many looks in a row have to agree: next to a singular
 * position motions look stiff for a while. */
enum { LOOKS = 100, AGREE = 3 };
/* Steps by stability that nobody wants to take; and those that are too many where they are such
 * a part of the time in which the motion covers its size: vibrations so small are not what the
 * run is for. Others may be what is to be resolved. */
static const double TOO_MANY = 1e6, MANY = 1e5, SMALL_PART = 1e-3;

/* The time in which the motion covers its size. */
static double motion_time(const ga_tolerance *tol)
{
    double time = INFINITY;
    for (int k = 0; k < 2; ++k)
        if (tol->size_v[k] > 0) time = ga_smaller(time, tol->size_q[k] / tol->size_v[k]);
    return time;
}

bool ga_explicit_is_too_stiff(ga_explicit *x)
{
    ga_onestep *m = &x->base;
    if (!m->tolerance || x->stats.steps % LOOKS != LOOKS - 1) return false;
    const double duration = m->tolerance->duration;
    if (duration < MANY * x->h || x->near) {
        x->alarms = 0;
        return false;
    }
    const ga_stiffness s = ga_stiffness_measure(m, &x->probe);
    x->stable = 1 / ga_larger(s.omega / STABLE_UNDAMPED, s.rho / STABLE_DAMPED);
    const bool small = x->stable < SMALL_PART * motion_time(m->tolerance);
    const bool alarm = x->stable * (small ? MANY : TOO_MANY) < duration;
    x->alarms = alarm ? x->alarms + 1 : 0;
    x->stiff = x->alarms >= AGREE;
    return x->stiff;
}
