/* Creation and destruction of a stepper. */
#include "integrate/stepper.h"
#include "base/arrays.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/onestep.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* One piece of memory, so that a copy is one copy; first what a start sets, then what steps
 * leave behind, from q_old on. A trial has no past. */
static size_t lay_out(ga_state *x, const ga_problem *of, bool past, double *memory)
{
    const int nq = of->nq, nv = of->nv, mp = of->mp, weighted_nv = of->form->weighted ? nv : 0;
    const ga_arrays list[] = {
        {nq, {&x->q}},
        {nv, {&x->v, &x->vd, &x->a}},
        {past * nv, {&x->v_exact, &x->vd_old[0]}},
        {mp, {&x->lambda}},
        {weighted_nv, {&x->Ma, &x->F}},
        {of->dae.G.count, {&x->G}},
        {past * nq, {&x->q_old}},
        {past * nv, {&x->v_old, &x->a_used, &x->vd_old[1], &x->minimal}},
        {past * mp, {&x->lambda_old[0], &x->lambda_old[1]}},
        {of->m, {&x->eta}},
        {weighted_nv, {&x->Ma_used, &x->a_tilde}},
        {mp, {&x->l_tilde}}, /* a guess of multipliers in formulations that are not weighted */
    };
    return ga_arrays_place(sizeof list / sizeof *list, list, memory);
}

static ga_status create_state(ga_state *state, const ga_problem *of, bool past)
{
    state->memory_size = lay_out(state, of, past, NULL);
    state->memory = GA_NEW(double, state->memory_size);
    if (!state->memory) return GA_ERR_MEMORY;
    lay_out(state, of, past, state->memory);
    return GA_OK;
}

/* What steps leave behind is zero before the first one: a copy of the start alone, which is all
 * that many runs need, touches no more memory than that. */
void ga_state_copy(ga_state *to, const ga_state *from)
{
    const bool starts = to->steps == 0 && from->steps == 0;
    const size_t size = starts ? (size_t)(from->q_old - from->memory) : from->memory_size;
    memcpy(to, from, offsetof(ga_state, q)); /* numbers */
    if (size <= INT_MAX)
        ga_pool_copy(from->pool, to->memory, from->memory, (int)size);
    else
        memcpy(to->memory, from->memory, size * sizeof *to->memory);
}

static ga_status check_method(const ga_integrator_def *def, ga_report *report)
{
    const ga_coefficients *p = &def->coefficients;
    GA_TRY(ga_coefficients_check(p, report));
    ga_coefficient_properties properties = ga_coefficients_describe(p);
    if (!properties.zero_stable)
        return ga_fail(report, GA_ERR_METHOD,
                       "alpha_m = %g exceeds 1/2: the method is not zero-stable", p->alpha_m);
    if (!properties.second_order && !def->allow_first_order)
        return ga_fail(report, GA_ERR_METHOD,
                       "gamma = %g violates the order condition gamma = 1/2 - alpha_m + "
                       "alpha_f = %g (set allow_first_order to permit it)",
                       p->gamma, p->gamma - properties.order_defect);
    return GA_OK;
}

static ga_status check_choice(const char *name, int value, int count, ga_report *report)
{
    if (value >= 0 && value < count) return GA_OK;
    return ga_fail(report, GA_ERR_ARGUMENT, "%s has the unknown value %d", name, value);
}

static ga_status check_number(const char *name, double value, double least, ga_report *report)
{
    if (value >= least && !isinf(value)) return GA_OK;
    return ga_fail(report, GA_ERR_ARGUMENT, "%s = %g: expected at least %g", name, value,
                   least);
}

static ga_status check_definition(const ga_integrator_def *def, ga_report *report)
{
    GA_TRY(check_method(def, report));
    GA_TRY(check_choice("formulation", (int)def->formulation, GA_FORMULATION_COUNT, report));
    GA_TRY(check_choice("map", (int)def->map, GA_MAP_CAYLEY + 1, report));
    GA_TRY(check_choice("start", (int)def->start, GA_START_IMPLICIT + 1, report));
    GA_TRY(check_choice("start_difference", (int)def->start_difference,
                        GA_DIFFERENCE_FORWARD + 1, report));
    GA_TRY(check_choice("step_change", (int)def->step_change, GA_CHANGE_COUNT, report));
    GA_TRY(
        check_choice("mass_average", (int)def->mass_average, GA_MASS_RECOMPUTED + 1, report));
    GA_TRY(check_choice("scaling", (int)def->scaling, GA_SCALING_DYMORE + 1, report));
    GA_TRY(check_choice("newton", (int)def->newton, GA_NEWTON_FULL + 1, report));
    GA_TRY(check_number("max_iterations", def->max_iterations, 1, report));
    GA_TRY(check_number("relative", def->relative, 0, report));
    GA_TRY(check_number("absolute_q", def->absolute_q, 0, report));
    GA_TRY(check_number("absolute_v", def->absolute_v, 0, report));
    GA_TRY(check_number("absolute_lambda", def->absolute_lambda, 0, report));
    if (!(def->penalty == GA_PENALTY_AUTO || (def->penalty >= 0 && isfinite(def->penalty))))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "penalty = %g: expected 0, a positive number or GA_PENALTY_AUTO",
                       def->penalty);
    const ga_formulation_type *form = ga_formulation_get(def->formulation);
    if (def->start == GA_START_IMPLICIT && form->weighted)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "the implicit start is not available in %s: use shifted", form->name);
    if (def->penalty != 0 && !form->penalty)
        return ga_fail(report, GA_ERR_ARGUMENT, "penalty is available in index3, not in %s",
                       form->name);
    return GA_OK;
}

/* The working arrays. */
static bool for_arrays(ga_stepper *s, ga_arrays_do *act)
{
    const ga_dae *dae = &s->dae;
    ga_known *known = &s->known;
    ga_evaluation *at = &s->at;
    ga_tangent_point *point = &s->point;
    ga_tangent *tangent = &s->tangent;
    ga_jacobian *jacobian = &s->jacobian;
    ga_newton_attempt *newton = &s->newton;
    ga_workspace *work = &s->work;
    const int nv = s->nv, mp = s->mp, weighted_nv = s->form && s->form->weighted ? nv : 0;
    const ga_arrays list[] = {
        {nv, {&known->v, &known->a, &at->U, &tangent->mass}},
        {weighted_nv,
         {&known->U, &known->v0, &known->Ma, &known->rest, &at->Ma, &at->F, &at->v_tilde}},
        {s->m, {&at->Phi}},
        {mp, {&at->rate, &at->w, &point->multipliers, &work->c}},
        {s->nq, {&point->q, &work->q}},
        {nv, {&point->v, &point->vd, &point->U}},
        {nv, {&work->one, &work->step, &work->v, &work->vd[0], &work->vd[1], &work->vdd}},
        {dae->M.count, {&at->M, &tangent->M}},
        {dae->G.count, {&tangent->G}},
        {dae->B.count, {&tangent->B_eta}},
        {dae->C.count, {&tangent->C}},
        {dae->K.count, {&tangent->K}},
        {dae->Z.count, {&tangent->Z}},
        {dae->L.count, {&tangent->L}},
        {dae->T.count, {&tangent->T}},
        {s->n, {&jacobian->row_scale, &jacobian->col_scale, &newton->r, &newton->x}},
        {2 * s->n, {&jacobian->scale_work}},
        {dae->nx, {&newton->unit}},
    };
    return act(sizeof list / sizeof *list, list);
}

/* Those that many runs do not write to. */
static bool for_rare_arrays(ga_stepper *s, ga_arrays_do *act)
{
    const ga_dae *dae = &s->dae;
    ga_workspace *work = &s->work;
    ga_regular *regular = &s->regular;
    struct ga_trust *trust = &s->newton.trust;
    const ga_arrays list[] = {
        {s->mp, {&s->at.mu, &work->guess, &regular->value, &regular->rows}},
        {s->nv, {&s->at.f, &work->two, &work->zero, &work->vd_hat, &regular->minimal}},
        {s->nv, {&trust->u, &trust->u_v, &trust->force}},
        {s->m, {&regular->eta_value}},
        {dae->K.count, {&trust->K}},
        {dae->C.count, {&trust->C}},
    };
    return act(sizeof list / sizeof *list, list);
}

static ga_status create(ga_stepper *s, const ga_system *system)
{
    GA_TRY(ga_dae_create(system, &s->dae));
    s->nq = s->dae.nq;
    s->nv = s->dae.nv;
    s->m = s->dae.m;
    s->p = s->dae.p;
    s->mp = s->dae.mp;
    s->terms.place[GA_AT_MULT] = s->nv;
    s->terms.place[GA_AT_PSI] = s->nv + s->m;
    s->terms.place[GA_AT_ETA] = s->nv + s->mp;
    s->n = s->nv + s->mp + (s->form->has_eta ? s->m : 0);
    s->tangent.flat = s->dae.commutative && s->def.map == GA_MAP_EXP;
    GA_TRY(create_state(&s->now, &s->problem, true));
    GA_TRY(create_state(&s->saved, &s->problem, true));
    GA_TRY(create_state(&s->trial, &s->problem, false));
    ga_take_pages(s->now.memory, s->now.memory_size * sizeof *s->now.memory);
    if (!for_arrays(s, ga_arrays_create_whole) || !for_rare_arrays(s, ga_arrays_create))
        return GA_ERR_MEMORY;
    GA_TRY(ga_consistent_create(&s->dae, s->def.solver, &s->start));
    s->start.saddle.factorizations = s->second.factorizations = &s->stats.factorizations;
    GA_TRY(ga_regular_create(s));
    GA_TRY(ga_terms_create(s));
    if (!s->form->second_system) return GA_OK;
    return ga_saddle_create(&s->dae, &s->start.redundancy, s->def.solver, &s->second);
}

ga_status ga_stepper_create(const ga_system *system, const ga_integrator_def *def,
                            ga_stepper *s, ga_report *report)
{
    memset(s, 0, sizeof *s);
    GA_TRY(ga_onestep_check(system, def, report));
    GA_TRY(check_definition(def, report));
    s->def = *def;
    if (GA_FAULT(beta)) s->def.coefficients.beta *= 1.01;
    s->form = ga_formulation_get(def->formulation);
    s->properties = ga_coefficients_describe(&def->coefficients);
    if (def->start == GA_START_AUTO) s->def.start = s->form->start;
    ga_status status = create(s, system);
    if (status != GA_OK) {
        ga_stepper_destroy(s);
        return ga_fail(report, status, "%s", ga_status_text(status));
    }
    return ga_fail(report, GA_OK, "%s", "");
}

ga_status ga_stepper_use(ga_stepper *s, ga_pool *pool)
{
    s->pool = s->now.pool = s->saved.pool = pool;
    GA_TRY(ga_dae_use(&s->dae, pool));
    GA_TRY(ga_coords_use(&s->dae.M, pool));
    GA_TRY(ga_coords_use(&s->dae.G, pool));
    GA_TRY(ga_coords_use(&s->dae.K, pool));
    GA_TRY(ga_coords_use(&s->dae.C, pool));
    if (s->p == 0) { /* B is all of G */
        s->dae.B.pool = pool;
        s->dae.B.by_row = s->dae.G.by_row;
        s->dae.B.by_col = s->dae.G.by_col;
    }
    ga_factor_use(s->jacobian.factor, pool);
    ga_matrix_use(&s->jacobian.matrix, pool);
    GA_TRY(ga_consistent_use(&s->start, pool));
    return ga_saddle_use(&s->second, pool);
}

void ga_stepper_destroy(ga_stepper *s)
{
    ga_saddle_destroy(&s->second);
    ga_consistent_destroy(&s->start);
    ga_terms_destroy(s);
    ga_regular_destroy(s);
    for_arrays(s, ga_arrays_destroy);
    for_rare_arrays(s, ga_arrays_destroy);
    ga_free(s->now.memory);
    ga_free(s->saved.memory);
    ga_free(s->trial.memory);
    ga_dae_destroy(&s->dae);
    memset(s, 0, sizeof *s);
}
