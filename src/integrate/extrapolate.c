/* Values for the end of a step by polynomials through those of steps before. */
#include "integrate/stepper.h"
#include "la/fours.h"

#include <math.h>
#include <string.h>

bool ga_step_is_same(double h, double other) { return fabs(h - other) <= 1e-12 * fabs(other); }

KERNEL void combine(int i, const int count, const double c[4], const double *x0,
                    double *const *old, double *result)
{
    quad sum, x;
    load_some(&sum, x0 + i, count);
    scale(&sum, c[0]);
    for (int k = 0; k < 3; ++k) {
        load_some(&x, old[k] + i, count);
        add(&sum, &x, c[k + 1]);
    }
    store_some(result + i, &sum, count);
}

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
KERNEL void extrapolate_four(int i, const int count, const double h[3], const double *x0,
                             double *const *old, double *result)
{
    quad x, d0, d1, y;
    load_some(&x, x0 + i, count);
    load_some(&y, old[0] + i, count);
    load_some(&d1, old[1] + i, count);
    d0 = x;
    minus(&d0, &y);
    minus(&y, &d1);
    d1 = y;
    divide_by(&d0, h[1]);
    divide_by(&d1, h[2]);
    y = d0;
    minus(&y, &d1);
    scale(&y, h[0] + h[1]);
    divide_by(&y, h[1] + h[2]);
    add(&d0, &y, 1);
    add(&x, &d0, h[0]);
    store_some(result + i, &x, count);
}

void ga_step_extrapolate_range(const ga_stepper *s, const double *x0, double *const *old,
                               double *result, int from, int end)
{
    const ga_state *now = &s->now;
    const double h[3] = {s->h, now->h, now->h_old[0]}, rho = s->method.rho_infinity;
    const double c[4] = {3 - rho, 3 * rho - 3, 1 - 3 * rho, rho};
    if (may_alternate(s))
        IN_FOURS(from, end, combine, c, x0, old, result);
    else if (now->steps == 0 || s->steady)
        memcpy(result + from, x0 + from, (size_t)(end - from) * sizeof *x0);
    else if (now->steps == 1)
        for (int i = from; i < end; ++i) result[i] = x0[i] + h[0] / h[1] * (x0[i] - old[0][i]);
    else
        IN_FOURS(from, end, extrapolate_four, h, x0, old, result);
}

typedef struct extrapolation {
    const ga_stepper *s;
    const double *x0;
    double *const *old;
    double *result;
} extrapolation;

static void extrapolate(void *data, int from, int end)
{
    const extrapolation *x = data;
    ga_step_extrapolate_range(x->s, x->x0, x->old, x->result, from, end);
}

void ga_step_extrapolate(const ga_stepper *s, int n, const double *x0, double *const *old,
                         double *result)
{
    ga_pool_ranges(s->pool, n, extrapolate, &(extrapolation){s, x0, old, result});
}
