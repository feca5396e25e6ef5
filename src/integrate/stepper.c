/* Creation and destruction of a stepper. */
#include "integrate/stepper.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/onestep.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Hands out consecutive parts of one array; first pass with memory == NULL only counts. */
typedef struct carver {
    double *memory;
    size_t used;
} carver;

static double *carve(carver *c, int n)
{
    double *part = c->memory ? c->memory + c->used : NULL;
    c->used += (size_t)n;
    return part;
}

/* One piece of memory, so that a copy is one copy. */
static void lay_out(ga_state *state, const ga_problem *of, double *memory)
{
    carver c = {memory, 0};
    const int weighted_nv = of->form->weighted ? of->nv : 0;
    state->q = carve(&c, of->nq);
    state->v = carve(&c, of->nv);
    state->vd = carve(&c, of->nv);
    state->a = carve(&c, of->nv);
    state->lambda = carve(&c, of->mp);
    state->v_exact = carve(&c, of->nv);
    state->vd_old[0] = carve(&c, of->nv);
    state->Ma = carve(&c, weighted_nv);
    state->F = carve(&c, weighted_nv);
    state->G = carve(&c, of->dae.G.count);
    state->q_old = carve(&c, of->nq);
    state->v_old = carve(&c, of->nv);
    state->eta = carve(&c, of->m);
    state->a_used = carve(&c, of->nv);
    state->lambda_old[0] = carve(&c, of->mp);
    state->vd_old[1] = carve(&c, of->nv);
    state->lambda_old[1] = carve(&c, of->mp);
    state->Ma_used = carve(&c, weighted_nv);
    state->a_tilde = carve(&c, weighted_nv);
    state->l_tilde = carve(&c, of->mp); /* a guess of multipliers in the others */
    state->minimal = carve(&c, of->nv);
    state->memory_size = c.used;
}

static ga_status create_state(ga_state *state, const ga_problem *of)
{
    lay_out(state, of, NULL);
    state->memory = GA_NEW(double, state->memory_size);
    if (!state->memory) return GA_ERR_MEMORY;
    lay_out(state, of, state->memory);
    return GA_OK;
}

/* What steps leave behind is zero before the first one: a copy of the start alone, which is all
 * that many runs need, touches no more memory than that. */
void ga_state_copy(ga_state *to, const ga_state *from)
{
    memcpy(to, from, offsetof(ga_state, q)); /* numbers */
    if (from->memory_size <= INT_MAX)
        ga_pool_copy(from->pool, to->memory, from->memory, (int)from->memory_size);
    else
        memcpy(to->memory, from->memory, from->memory_size * sizeof *to->memory);
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

typedef struct ga_array {
    double **array;
    int count;
} ga_array;

enum { MAX_ARRAYS = 64, SELDOM = 15 };

/* Every working array and its length; also what destroy frees. The last ones, SELDOM, get their
 * pages when they are needed. */
static int list_arrays(ga_stepper *s, ga_array *list)
{
    const ga_dae *dae = &s->dae;
    const int nv = s->nv, mp = s->mp, n = s->n;
    const int weighted_nv = s->form && s->form->weighted ? nv : 0;
    const ga_array all[] = {
        {&s->known.v, nv},
        {&s->known.a, nv},
        {&s->known.Ma, weighted_nv},
        {&s->known.U, nv},
        {&s->known.v0, nv},
        {&s->known.rest, weighted_nv},
        {&s->at.Ma, weighted_nv},
        {&s->at.F, weighted_nv},
        {&s->at.U, nv},
        {&s->at.v_tilde, weighted_nv},
        {&s->at.M, dae->M.count},
        {&s->at.Phi, s->m},
        {&s->at.rate, mp},
        {&s->at.w, mp},
        {&s->work.one, nv},
        {&s->point.q, s->nq},
        {&s->point.v, nv},
        {&s->point.vd, nv},
        {&s->point.U, nv},
        {&s->point.multipliers, mp},
        {&s->tangent.M, dae->M.count},
        {&s->tangent.mass, nv},
        {&s->tangent.G, dae->G.count},
        {&s->tangent.B_eta, dae->B.count},
        {&s->tangent.C, dae->C.count},
        {&s->tangent.K, dae->K.count},
        {&s->tangent.Z, dae->Z.count},
        {&s->tangent.L, dae->L.count},
        {&s->tangent.T, dae->T.count},
        {&s->jacobian.row_scale, n},
        {&s->jacobian.col_scale, n},
        {&s->jacobian.scale_work, 2 * n},
        {&s->newton.r, n},
        {&s->newton.x, n},
        {&s->newton.unit, s->dae.nx},
        {&s->work.c, mp},
        {&s->work.step, nv},
        {&s->work.q, s->nq},
        {&s->work.v, nv},
        {&s->work.vd[0], nv},
        {&s->work.vd[1], nv},
        {&s->work.vdd, nv},
        /* many runs do not write to these */
        {&s->at.mu, mp},
        {&s->at.f, nv},
        {&s->work.guess, mp},
        {&s->work.two, nv},
        {&s->work.zero, nv},
        {&s->work.vd_hat, nv},
        {&s->regular.value, mp},
        {&s->regular.eta_value, s->m},
        {&s->regular.rows, mp},
        {&s->regular.minimal, nv},
        {&s->newton.trust.u, nv},
        {&s->newton.trust.u_v, nv},
        {&s->newton.trust.force, nv},
        {&s->newton.trust.K, dae->K.count},
        {&s->newton.trust.C, dae->C.count},
    };
    _Static_assert(sizeof all / sizeof *all <= MAX_ARRAYS, "MAX_ARRAYS is too small");
    memcpy(list, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
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
    GA_TRY(create_state(&s->now, &s->problem));
    GA_TRY(create_state(&s->saved, &s->problem));
    GA_TRY(create_state(&s->trial, &s->problem));
    ga_take_pages(s->now.memory, s->now.memory_size * sizeof *s->now.memory);
    ga_take_pages(s->saved.memory, s->saved.memory_size * sizeof *s->saved.memory);
    ga_array list[MAX_ARRAYS];
    int count = list_arrays(s, list);
    for (int k = 0; k < count; ++k) {
        *list[k].array = k < count - SELDOM ? GA_NEW_WHOLE(double, list[k].count)
                                            : GA_NEW(double, list[k].count);
        if (!*list[k].array) return GA_ERR_MEMORY;
    }
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
    ga_array list[MAX_ARRAYS];
    int count = list_arrays(s, list);
    for (int k = 0; k < count; ++k) ga_free(*list[k].array);
    ga_free(s->now.memory);
    ga_free(s->saved.memory);
    ga_free(s->trial.memory);
    ga_dae_destroy(&s->dae);
    memset(s, 0, sizeof *s);
}
