/* Values for the end of a step by polynomials through those of steps before. */
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

bool ga_step_is_same(double h, double other) { return fabs(h - other) <= 1e-12 * fabs(other); }

/* What Newton's method leaves of Phi in index 3 acts like an acceleration, divided by h^2, and
 * turns the sign of what follows in each step: by the root -rho_inf of the method, many times
 * over. So what goes on like that is extrapolated as well as a parabola: (z - 1)^3 (z + rho).
 */
static bool may_alternate(const ga_stepper *s)
{
    const ga_state *now = &s->now;
    return s->alternates && now->steps >= 4 && !s->steady && ga_step_is_same(s->h, now->h) &&
           ga_step_is_same(s->h, now->h_old[0]) && ga_step_is_same(s->h, now->h_old[1]);
}

/* The parabola through the last three. */
static double parabola(const double h[3], double x0, double x1, double x2)
{
    const double d0 = (x0 - x1) / h[1], d1 = (x1 - x2) / h[2];
    return x0 + h[0] * (d0 + (d0 - d1) * (h[0] + h[1]) / (h[1] + h[2]));
}

typedef struct extrapolation {
    const ga_stepper *s;
    const double *x0;
    double *const *old;
    double *result;
} extrapolation;

/* For the components from .. end - 1. */
static void extrapolate(void *data, int from, int end)
{
    const extrapolation *e = data;
    const ga_stepper *s = e->s;
    const ga_state *now = &s->now;
    const double *x0 = e->x0, *const *old = (const double *const *)e->old;
    double *result = e->result;
    const double h[3] = {s->h, now->h, now->h_old[0]}, rho = s->method.rho_infinity;
    const double c[4] = {3 - rho, 3 * rho - 3, 1 - 3 * rho, rho};
    if (may_alternate(s))
        for (int i = from; i < end; ++i)
            result[i] = c[0] * x0[i] + c[1] * old[0][i] + c[2] * old[1][i] + c[3] * old[2][i];
    else if (now->steps == 0 || s->steady)
        memcpy(result + from, x0 + from, (size_t)(end - from) * sizeof *x0);
    else if (now->steps == 1)
        for (int i = from; i < end; ++i) result[i] = x0[i] + h[0] / h[1] * (x0[i] - old[0][i]);
    else
        for (int i = from; i < end; ++i) result[i] = parabola(h, x0[i], old[0][i], old[1][i]);
}

void ga_step_extrapolate(const ga_stepper *s, int n, const double *x0, double *const *old,
                         double *result)
{
    ga_pool_ranges(s->pool, n, extrapolate, &(extrapolation){s, x0, old, result});
}
