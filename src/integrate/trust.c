/* May a small increment of Newton's method be taken for a small error?
 *
 * The increment solves J u = r with J = M + H + ..., H = c (c_q K T + c_v C), c = 1 in
 * collocated formulations. The stiffness of a
 * spring has a part k (stretch/length) across it. Tangents made at the prediction, where the
 * stretch is that of a step along a straight line, may have a million times the stiffness of
 * the solution there. The residual in that direction is then divided by a million: increments
 * shrink, and nothing is solved. The same happens where friction or a damper is much softer at
 * the solution than where the tangents were made.
 *
 * An increment u underestimates the error by at most M^-1 H u. Where that is below the
 * tolerance, or small against u itself, H does not matter, and u tells the error. Elsewhere
 * tangents H' are made at the end of the increment: M^-1 (H' - H) u is what is still unsolved.
 *
 * M is replaced by its diagonal. */
#include "base/extremes.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

/* Below which changes of q and v do not count: tolerances, or round-off where it is larger. In
 * a chain of 10,000 rods increments are round-off of a hundred thousand tolerances. */
static double least_q(const ga_stepper *s, int kind)
{
    const ga_increment_limits *l = &s->newton.limits;
    return ga_larger(l->q[kind], s->policy.newton.round_off * l->floor_q[kind]);
}

static double least_v(const ga_stepper *s, int kind)
{
    const ga_increment_limits *l = &s->newton.limits;
    return ga_larger(l->v[kind], s->policy.newton.round_off * l->floor_v[kind]);
}

/* The last increment by these. */
static double norm_of_increment(const ga_stepper *s)
{
    double largest = 0;
    for (int k = 0; k < GA_INCREMENTS; ++k) {
        largest = ga_larger(largest, s->newton.delta_q[k] / least_q(s, k));
        largest = ga_larger(largest, s->newton.delta_v[k] / least_v(s, k));
    }
    return largest;
}

/* Acceleration that counts, of row i, which may be that of a state. */
static double unit_of_row(const ga_stepper *s, int i)
{
    const int state = i - s->dae.nm, kind = state < 0 ? s->dae.kind[i] : GA_STATES;
    if (state >= 0) return least_v(s, kind) * s->newton.unit[state] / s->step.c_v;
    return ga_smaller(least_q(s, kind) / s->step.c_q, least_v(s, kind) / s->step.c_v);
}

/* force += alpha c (c_q K u + c_v C u_v), with u = T du and u_v = dv' of the increment. */
static void add_stiff_force(ga_stepper *s, double alpha, const double *K, const double *C)
{
    struct ga_trust *x = &s->newton.trust;
    ga_coords_multiply(&s->dae.K, K, alpha * s->step.weight * s->step.c_q, x->u, x->force);
    ga_coords_multiply(&s->dae.C, C, alpha * s->step.weight * s->step.c_v, x->u_v, x->force);
}

/* Largest M^-1 force in units of what counts. Coordinates without mass of their own move
 * with bodies that have one: the mean stands for it. */
static double weigh_force(const ga_stepper *s)
{
    double largest = 0;
    for (int i = 0; i < s->nv; ++i) {
        const double force = fabs(s->newton.trust.force[i]), own = fabs(s->tangent.mass[i]);
        if (force == 0) continue;
        const double mass = own > 0 ? own : s->tangent.mean_mass;
        largest = ga_larger(largest, force / (mass * unit_of_row(s, i)));
    }
    return largest;
}

/* M^-1 H u of the last increment u in units of what counts, with the tangents in use. */
static double withheld(ga_stepper *s)
{
    struct ga_trust *x = &s->newton.trust;
    const size_t size = (size_t)s->nv * sizeof *x->u;
    if (s->dae.K.count == 0 && s->dae.C.count == 0) return 0;
    memcpy(x->u_v, s->newton.increment_v, size);
    if (s->tangent.flat) {
        memcpy(x->u, s->newton.increment_q, size);
    } else {
        memset(x->u, 0, size);
        ga_coords_multiply(&s->dae.T, s->tangent.T, 1, s->newton.increment_q, x->u);
    }
    memset(x->force, 0, size);
    add_stiff_force(s, 1, s->tangent.K, s->tangent.C);
    return weigh_force(s);
}

/* M^-1 (H' - H) u, H' at the end of the increment. Call after withheld(), which leaves u, u_v
 * and H u in newton.trust. */
static ga_status find_undone(ga_stepper *s, double *undone)
{
    struct ga_trust *x = &s->newton.trust;
    s->form->evaluate(s);
    const double *vd = s->form->weighted ? s->work.zero : s->trial.vd;
    const ga_point at =
        ga_dae_point(&s->dae, s->step.t1, s->trial.q, s->trial.v, vd, s->trial.lambda);
    GA_TRY(ga_dae_stiffness(&s->dae, &at, x->K));
    GA_TRY(ga_dae_damping(&s->dae, &at, x->C));
    add_stiff_force(s, -1, x->K, x->C);
    *undone = weigh_force(s);
    return GA_OK;
}

/* Where masses are tiny or friction is steep, neither bound may ever be met. Then an increment
 * is accepted after so many passes in a row with tangents made anew: false stiffness comes from
 * a stretch at the point of the tangents; the first new ones remove the stretch, the second
 * show what it held back. */
enum { PASSES = 3 };

ga_status ga_trust_is_earned(ga_stepper *s, int passes, bool *earned)
{
    double undone;
    *earned = ga_trust_is_soft(norm_of_increment(s), withheld(s)) || passes >= PASSES;
    if (*earned) return GA_OK;
    GA_TRY(find_undone(s, &undone));
    *earned = ga_trust_is_solved(undone);
    return GA_OK;
}
