/* Moves a state that nearly satisfies the constraints onto them: q onto Phi = 0, v onto
 * B v + Phi_t = 0 and k = 0, by the smallest change in the mass metric. Corrections are small,
 * so one factorisation serves for all iterations. For values far away see start.c. */
#include "base/extremes.h"
#include "integrate/alpha.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Corrections below this, relative to the size of the values, are round-off. */
static const double round_off = 32 * DBL_EPSILON;
/* Of Newton's method with a fixed matrix, from a good guess. */
enum { MOST_CORRECTIONS = 6 };

/* Is the correction the last one? Progress slower than by a factor of ten is the end, too: it
 * is a good one (*good) if what is left is round-off of constants in the constraints. */
static bool is_last(double change, double before, double size, bool *good)
{
    *good = change <= round_off * size;
    if (*good) return true;
    *good = change <= 1e-11 * ga_larger(size, 1);
    return !(change <= 0.1 * before);
}

/* q onto Phi = 0; false if that does not converge. The saddle matrix is left as factored here.
 */
static bool correct_position(ga_stepper *s, double t, double *q, const double *v)
{
    double before = INFINITY, *bottom = s->work.c, *step = s->work.step;
    bool good = false;
    if (ga_saddle_factor_at(s, t, q, v, s->p > 0) != GA_OK) return false;
    memset(bottom, 0, (size_t)s->mp * sizeof *bottom);
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (ga_dae_constraint(&s->dae, t, q, bottom) != GA_OK) return false;
        for (int i = 0; i < s->m; ++i) bottom[i] = -bottom[i];
        ga_saddle_lift(s, bottom, step);
        const double change = ga_norm_max(s->nv, step);
        if (is_last(change, before, ga_norm_max(s->nq, q), &good)) break;
        before = change;
        ga_dae_update(&s->dae, GA_MAP_EXP, q, step, q);
    }
    return good;
}

/* v onto B v + Phi_t = 0 and k = 0, with the factors of correct_position if there are any. */
static bool correct_velocity(ga_stepper *s, double t, const double *q, double *v)
{
    double before = INFINITY, *w = s->work.c, *step = s->work.step;
    bool good = false;
    if (s->p > 0) {
        if (ga_saddle_factor_at(s, t, q, v, false) != GA_OK) return false;
    } else if (ga_dae_gradient(&s->dae, t, q, v, s->start.saddle.G) != GA_OK) {
        return false;
    }
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (ga_dae_velocity(&s->dae, t, q, v, s->start.saddle.G, w) != GA_OK) return false;
        for (int i = 0; i < s->mp; ++i) w[i] = -w[i];
        ga_saddle_lift(s, w, step);
        const double change = ga_norm_max(s->nv, step);
        if (is_last(change, before, ga_norm_max(s->nv, v), &good)) break;
        before = change;
        for (int i = 0; i < s->nv; ++i) v[i] += step[i];
    }
    return good;
}

bool ga_alpha_project(ga_onestep *m, double t, double *q, double *v, ga_levels levels)
{
    ga_stepper *s = ga_alpha_stepper(m);
    s->start.saddle.here = false;
    const bool good = levels & GA_POSITION_LEVEL
                          ? !s->m || correct_position(s, t, q, v)
                          : ga_saddle_factor_at(s, t, q, v, false) == GA_OK;
    return good && (!(levels & GA_VELOCITY_LEVEL) || correct_velocity(s, t, q, v));
}
