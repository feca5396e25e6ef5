/* A gap x with rate r has errors dx and dr, which are small. In flight
 *
 *     dx' = dr,  dr' = 0.
 *
 * An impact at the rate r < 0, with the acceleration a of the gap, happens later by dx/|r|; in
 * that time the motion it is compared with rebounds. What remains is
 *
 *     dx+ = -e dx,  dr+ = -e dr - (1 + e) a/|r| dx:
 *
 * slow impacts multiply errors, by any factor where the stop is only grazed. Where the gap
 * comes to rest its errors end.
 *
 * Errors of steps are small, many and independent; they add to the covariance P of (dx, dr),
 * at a rate at which those of the gap would be 1, in units of the tolerance, at the end of a
 * run without impacts: half of that by positions, half by rates.
 *
 * Left out: forces that depend on the gap, which turn dx and dr into each other, and other
 * coordinates. So the factor is an estimate, for a warning. */
#include "api/impact_errors.h"

#include <math.h>

/* Per duration. */
static const double NOISE_X = 0.5, NOISE_R = 1.5;

void ga_impact_errors_begin(ga_impact_errors *e, double t)
{
    *e = (ga_impact_errors){.t = t, .graze = INFINITY};
}

void ga_impact_errors_fly(ga_impact_errors *e, double t, double duration)
{
    const double s = fmax(t - e->t, 0) / duration;
    e->xx += s * (2 * e->xr + s * e->rr) + NOISE_X * s + NOISE_R * s * s * s / 3;
    e->xr += s * e->rr + NOISE_R * s * s / 2;
    e->rr += NOISE_R * s;
    e->t = t;
    const double error = sqrt(fmax(e->xx, 0));
    if (error > e->most) {
        e->most = error;
        e->when = t;
    }
}

void ga_impact_errors_strike(ga_impact_errors *e, double rate, double acceleration,
                             double restitution, double duration)
{
    const double c = -restitution;
    const double k = -(1 + restitution) * acceleration / fabs(rate) * duration;
    const double xx = e->xx, xr = e->xr, rr = e->rr;
    if (!(restitution > 0)) {
        e->xx = e->xr = e->rr = 0;
        return;
    }
    e->xx = c * c * xx;
    e->xr = c * (k * xx + c * xr);
    e->rr = k * k * xx + 2 * k * c * xr + c * c * rr;
    ++e->impacts;
}
