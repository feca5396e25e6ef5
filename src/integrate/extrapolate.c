/* Values for the end of a step by polynomials through those of steps before.
 *
 * Degrees of three to five were tried: first increments become smaller, but noise is amplified,
 * and a contraction rate can no longer be estimated from them. */
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

bool ga_step_is_same(double h, double other) { return fabs(h - other) <= 1e-12 * fabs(other); }

/* The parabola through the last three. */
static double parabola(const double h[3], double x0, double x1, double x2)
{
    const double d0 = (x0 - x1) / h[1], d1 = (x1 - x2) / h[2];
    return x0 + h[0] * (d0 + (d0 - d1) * (h[0] + h[1]) / (h[1] + h[2]));
}

/* Exact for linear functions and for what alternates from step to step. In index 3, errors of
 * accelerations and multipliers alternate and decay slowly; a parabola magnifies them eight
 * times. Where Newton's method leaves such errors, a tolerance being asked for, that costs
 * chains of 1,000 bodies a fifth of the iterations and half of the factorizations. */
static double alternate(const double h[3], double x0, double x1, double x2)
{
    return x1 + (h[0] + h[1]) / (h[1] + h[2]) * (x0 - x2);
}

void ga_step_extrapolate(const ga_stepper *s, int n, const double *x0, double *const *old,
                         double *result)
{
    const ga_state *now = &s->now;
    const double h[3] = {s->step.h, now->h, now->h_old[0]}, *x1 = old[0], *x2 = old[1];
    const bool alternates = s->m && !s->form->velocity_level;
    if (now->steps == 0 || s->mode.steady)
        memcpy(result, x0, (size_t)n * sizeof *x0);
    else if (now->steps == 1)
        for (int i = 0; i < n; ++i) result[i] = x0[i] + h[0] / h[1] * (x0[i] - x1[i]);
    else if (alternates && s->def.relative > 0 && !s->mode.estimates)
        for (int i = 0; i < n; ++i) result[i] = alternate(h, x0[i], x1[i], x2[i]);
    else
        for (int i = 0; i < n; ++i) result[i] = parabola(h, x0[i], x1[i], x2[i]);
}
