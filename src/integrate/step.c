/* One step t_n -> t_n + h, [ABC14] eqs. (9) and (58), solved by Newton's method. The update
 * formulas (9a)-(9d) and (58a) are in collocated.c, those of [JN08] (13) in weighted.c. Start
 * values (57) and those after a change of the step, [JN08] (14), are in start.c; the matrix of
 * [DYM] (24) is in terms.c, its scaling in cache.c.
 *
 * If Newton's method fails, the step is repeated once with new tangents in every iteration. If
 * that fails too, or if the step ends at another root (accept.c) or leaves residuals, the
 * caller shortens it: grid.c with fixed steps, control.c with error control.
 */
#include "base/extremes.h"
#include "base/finite.h"
#include "base/report.h"
#include "integrate/onestep.h"
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

/* --- Newton's method ---------------------------------------------------------------------- */

/* When tangents are made anew: only when the old ones contract slowly; also before the first
 * iteration; in every iteration. */
typedef enum renewing { WHEN_SLOW, AT_FIRST, ALWAYS } renewing;

void ga_step_complete(ga_stepper *s)
{
    s->form->evaluate(s);
    s->form->finish(s);
}

/* Iterates from the prediction. Where the tangents turn out to be stiffer than the solution
 * (trust.c), they are made anew in every iteration that follows. */
static ga_status iterate(ga_stepper *s, renewing when)
{
    ga_newton_attempt *x = &s->newton;
    bool refresh = when != WHEN_SLOW, solved = false;
    int passes = 0;
    ga_cache_begin_attempt(s);
    ga_newton_begin(s);
    s->form->predict(s);
    for (x->iteration = 1; x->iteration <= s->def.max_iterations; ++x->iteration) {
        const bool first = x->iteration == 1;
        s->form->evaluate(s); /* unknowns -> v, U;  q = q_n o R(U) */
        GA_TRY(ga_cache_evaluate(s, GA_WANTED_RESIDUAL | (refresh ? GA_WANTED_TANGENTS : 0)));
        if (first) ga_newton_measure_scales(s);
        if (refresh) GA_TRY(ga_cache_tangents(s));
        if (first) ga_newton_find_limits(s);
        if (!ga_cache_fits(s)) GA_TRY(ga_cache_factor_and_watch(s));
        if (first && s->dae.sys.force_uses_multipliers)
            ga_regular_minimise(s, false); /* forces ask for them before the step is done */
        GA_TRY(s->form->residual(s));
        s->form->correct(s); /* and the norms of the increments */
        ++s->stats.evaluations;
        ++s->stats.iterations;
        const ga_newton_decision verdict = ga_newton_judge(s);
        if (verdict == GA_GIVE_UP) {
            GA_TRY(ga_cache_check_residual(s, s->n, x->r)); /* NaN, perhaps */
            return GA_ERR_NO_CONVERGE;
        }
        if (verdict == GA_CONVERGED) {
            passes = refresh ? passes + 1 : 0;
            GA_TRY(ga_trust_is_earned(s, passes, &solved));
            if (solved) return GA_OK;
            when = ALWAYS;
        }
        refresh = when == ALWAYS || verdict == GA_NEW_TANGENT;
    }
    x->iteration = s->def.max_iterations;
    return GA_ERR_NO_CONVERGE;
}

/* --- one attempt -------------------------------------------------------------------------- */

/* a_n and v_n are those of the state. */
static void keep_known(ga_stepper *s)
{
    const ga_state *now = &s->now;
    ga_pool_copy(s->pool, s->known.a, now->a, s->nv);
    ga_pool_copy(s->pool, s->known.v, now->v, s->nv);
    if (s->form->weighted) ga_pool_copy(s->pool, s->known.Ma, now->Ma, s->nv);
}

/* v_n and a_n for a step of size h; those of the state, if h is that of the last step up to
 * round-off. */
static ga_status set_known(ga_stepper *s, double h)
{
    if (fabs(h - s->now.h) <= 1e-12 * fabs(s->now.h)) {
        keep_known(s);
        return GA_OK;
    }
    return (s->now.steps ? ga_start_change : ga_start_values)(s, h, s->known.a, s->known.v);
}

/* Tangents serve floor(lifetime) steps and are then renewed before a step begins; every step
 * that begins with new ones lengthens the lifetime by the factor 1 + growth. If tangents prove
 * slow within a step, the lifetime becomes their age; at the age of one, growth is halved, so
 * that old ones are tried less and less often. With a lifetime below two every step begins with
 * new tangents. */
static void learn_lifetime(ga_stepper *s, bool began_fresh)
{
    ga_policy *p = &s->policy;
    if (began_fresh) {
        p->age = 1;
        p->lifetime *= 1 + p->growth;
    } else if (ga_cache_has(s, GA_VALID_FRESH)) {
        p->lifetime = ga_larger(1, p->age);
        if (p->age <= 1) p->growth = ga_larger(0.5 * p->growth, 0.1 / 8);
        p->age = 1;
    } else {
        ++p->age;
        p->growth = 0.1;
    }
}

/* Old tangents that contract with this rate spoil estimates of errors, which are responses of
 * the linearised step. */
static const double ESTIMATE_RATE = 0.04;

/* One step of size h to t1, with old tangents if they serve, else with new ones. */
ga_status ga_step_try(ga_stepper *s, double h, double t1)
{
    s->step.h = h;
    s->step.t1 = t1;
    s->newton.near_singular = s->regular.seen = false;
    s->newton.unmet = -1;
    ga_status status = set_known(s, h);
    if (status == GA_ERR_SINGULAR) s->jacobian.singular = s->start.saddle.singular;
    GA_TRY(status);
    GA_TRY(s->form->begin(s));
    const ga_scales before =
        s->policy.scale; /* a trial gone astray must not loosen the tolerances */
    const bool spoils =
        s->mode.estimates &&
        s->policy.newton.motion_rate_per_step * (s->policy.age + 1) > ESTIMATE_RATE;
    const bool old = s->policy.age >= floor(s->policy.lifetime);
    renewing when = s->def.newton == GA_NEWTON_FULL || s->mode.steady     ? ALWAYS
                    : !ga_cache_has(s, GA_VALID_FACTORS) || spoils || old ? AT_FIRST
                                                                          : WHEN_SLOW;
    status = iterate(s, when);
    if (status != GA_OK && ga_step_may_retry(status) && when != ALWAYS) {
        when = ALWAYS;
        s->policy.scale = before;
        status = iterate(s, when);
    }
    if (status == GA_OK && ga_step_is_astray(s, &before)) status = GA_ERR_NO_CONVERGE;
    if (status == GA_OK) {
        learn_lifetime(s, when != WHEN_SLOW);
        ga_newton_fade(&s->policy.newton, ga_cache_has(s, GA_VALID_FRESH));
        s->newton.near_singular = ga_regular_near(s);
        ga_regular_minimise(s, s->dae.sys.force_uses_multipliers);
        ga_step_complete(s);
    } else {
        ga_cache_forget(s);
        s->policy.scale = before;
    }
    return status;
}

/* --- preparation -------------------------------------------------------------------------- */

ga_status ga_step_linearise(ga_stepper *s, double h)
{
    const ga_state *now = &s->now;
    keep_known(s);
    s->step.h = h;
    s->step.t1 = now->t;
    ga_cache_forget(s);
    GA_TRY(s->form->begin(s));
    ga_pool_copy(s->pool, s->trial.q, now->q, s->nq);
    ga_pool_copy(s->pool, s->trial.v, now->v, s->nv);
    ga_pool_copy(s->pool, s->trial.vd, now->vd, s->nv);
    ga_pool_copy(s->pool, s->trial.lambda, now->lambda, s->mp);
    memset(s->at.U, 0, (size_t)s->nv * sizeof *s->at.U);
    GA_TRY(ga_cache_evaluate(s, GA_WANTED_TANGENTS));
    GA_TRY(ga_cache_tangents(s));
    return ga_cache_check_tangents(s);
}

/* Errors other than lack of memory are ignored here: they recur in the first step and are
 * reported there. */
ga_status ga_step_warm(ga_stepper *s)
{
    if (s->jacobian.backend != GA_BACKEND_KLU)
        return GA_OK; /* the others allocate when they are created */
    ga_statistics stats = s->stats;
    ga_status status = ga_step_linearise(s, s->now.h);
    if (status == GA_OK) status = ga_cache_factor(s);
    s->stats = stats;
    ga_cache_forget(s);
    return status == GA_ERR_MEMORY ? status : GA_OK;
}
