/* The terms of the iteration matrix.
 *
 * With dq = c_q T u and, where there is eta, d vd = u + B_n^T x, the linearised equations of
 * the stabilised index-2 formulation are, T = T(U),
 *
 *     [ M + c_v C + c_q K T    G^T - L    (M + c_v C) B_n^T ] [  u     ]   [   r     ]
 *     [ G + (c_q/c_v) Z T        0             G B_n^T      ] [ d mult ] = [  w/c_v  ]
 *     [ B T                      0               0          ] [  x     ]   [ Phi/c_q ]
 *
 * Index 3 has the rows of Phi in place of those of B v + Phi_t, and no x: with T = 1 the matrix
 * of [DYM] (24), c7 = c_v, c8 = c_q, before its scaling (cache.c). The right-hand side of (24),
 * with -K dq_p - G q'_p, is computed nowhere: this is plain Newton, with residuals at the
 * iterate.
 *
 * u, not d vd, is the unknown: then eta meets M and C, whose products with B_n^T stay sparse,
 * and not the stiff K.
 */
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

const ga_term_place ga_terms_one_level[GA_TERMS_ONE_LEVEL] = {
    {GA_TERM_MASS, GA_AT_U, GA_AT_U},
    {GA_TERM_DAMPING, GA_AT_U, GA_AT_U},
    {GA_TERM_STIFFNESS, GA_AT_U, GA_AT_U},
    {GA_TERM_PENALTY, GA_AT_U, GA_AT_U}, /* empty without a penalty */
    {GA_TERM_REACTION, GA_AT_U, GA_AT_MULT},
    {GA_TERM_FORCE_MULTIPLIERS, GA_AT_U, GA_AT_MULT},
    {GA_TERM_POSITION, GA_AT_MULT, GA_AT_U},
    {GA_TERM_NONHOLONOMIC, GA_AT_PSI, GA_AT_U},
    {GA_TERM_NONHOLONOMIC_STIFFNESS, GA_AT_PSI, GA_AT_U},
    {GA_TERM_REGULAR, GA_AT_MULT, GA_AT_MULT},
};

double ga_terms_coefficient(const ga_stepper *s, ga_term term)
{
    switch (term) {
    case GA_TERM_DAMPING:
    case GA_TERM_ETA_DAMPING:
        return s->step.weight * s->step.c_v;
    case GA_TERM_STIFFNESS:
        return s->step.weight * s->step.c_q;
    case GA_TERM_PENALTY:
        return s->step.c_q * s->tangent.penalty;
    case GA_TERM_REACTION:
        return s->dae.reactions_added ? 1 : 0;
    case GA_TERM_FORCE_MULTIPLIERS:
        return -1;
    case GA_TERM_VELOCITY_STIFFNESS:
    case GA_TERM_NONHOLONOMIC_STIFFNESS:
        return s->step.c_q / s->step.c_v;
    case GA_TERM_REGULAR:
    case GA_TERM_ETA_REGULAR:
        return s->start.redundancy.active ? 1 : 0;
    default:
        return 1;
    }
}

static void set_term(ga_stepper *s, ga_term term, const ga_coords *coords,
                     double *const *values, int from)
{
    s->terms.coords[term] = *coords;
    s->terms.values[term] = (ga_source){values, from};
}

typedef struct operand {
    const ga_coords *coords;
    ga_source values;
} operand;

/* The term is A B. values (may be null) keeps them, for others than the iteration matrix. */
static ga_status set_product(ga_stepper *s, ga_term term, operand A, operand B, double **values)
{
    ga_product *plan = &s->terms.plan[term];
    GA_TRY(ga_product_create(A.coords, B.coords, plan));
    s->terms.coords[term] = plan->result;
    if (values) {
        s->terms.values[term] = (ga_source){values, 0};
        *values = GA_NEW(double, plan->result.count);
        return *values ? GA_OK : GA_ERR_MEMORY;
    }
    s->terms.product[term] = plan;
    s->terms.values[term] = A.values;
    s->terms.second[term] = B.values;
    return GA_OK;
}

static ga_status create_products(ga_stepper *s)
{
    const ga_dae *dae = &s->dae;
    const bool penalty = s->def.penalty != 0;
    const operand K = {&dae->K, {&s->tangent.K, 0}}, T = {&dae->T, {&s->tangent.T, 0}},
                  B = {&dae->B, {&s->tangent.G, 0}}, Z = {&dae->Z, {&s->tangent.Z, 0}},
                  ZN = {&dae->ZN, {&s->tangent.Z, dae->ZB.count}},
                  M = {&dae->M, {&s->tangent.M, 0}}, C = {&dae->C, {&s->tangent.C, 0}},
                  G = {&dae->G, {&s->tangent.G, 0}}, Bt = {&s->tangent.Bt, {&s->tangent.G, 0}},
                  Bnt = {&s->tangent.Bt, {&s->tangent.B_eta, 0}};
    if (!s->tangent.flat) {
        GA_TRY(set_product(s, GA_TERM_STIFFNESS, K, T, NULL));
        GA_TRY(set_product(s, GA_TERM_POSITION, B, T, penalty ? &s->terms.BT_values : NULL));
        if (s->form->velocity_level)
            GA_TRY(set_product(s, GA_TERM_VELOCITY_STIFFNESS, Z, T,
                               s->form->second_system ? &s->terms.ZT_values : NULL));
        GA_TRY(set_product(s, GA_TERM_NONHOLONOMIC_STIFFNESS, ZN, T, NULL));
    }
    if (penalty) {
        const operand BT = {&s->terms.coords[GA_TERM_POSITION],
                            s->terms.values[GA_TERM_POSITION]};
        GA_TRY(set_product(s, GA_TERM_PENALTY, Bt, BT, NULL));
    }
    if (!s->form->has_eta) return GA_OK;
    GA_TRY(set_product(s, GA_TERM_ETA_MASS, M, Bnt, NULL));
    GA_TRY(set_product(s, GA_TERM_ETA_DAMPING, C, Bnt, NULL));
    return set_product(s, GA_TERM_ETA_VELOCITY, G, Bnt, NULL);
}

static ga_status create_terms(ga_stepper *s)
{
    const ga_dae *dae = &s->dae;
    s->tangent.Bt = ga_coords_transposed(&dae->B);
    s->tangent.Gt = ga_coords_transposed(&dae->G);
    set_term(s, GA_TERM_MASS, &dae->M, &s->tangent.M, 0);
    set_term(s, GA_TERM_DAMPING, &dae->C, &s->tangent.C, 0);
    set_term(s, GA_TERM_STIFFNESS, &dae->K, &s->tangent.K, 0);
    set_term(s, GA_TERM_REACTION, &s->tangent.Gt, &s->tangent.G, 0);
    set_term(s, GA_TERM_FORCE_MULTIPLIERS, &dae->L, &s->tangent.L, 0);
    set_term(s, GA_TERM_POSITION, &dae->B, &s->tangent.G, 0);
    set_term(s, GA_TERM_VELOCITY, &dae->G, &s->tangent.G, 0);
    set_term(s, GA_TERM_NONHOLONOMIC, &dae->N, &s->tangent.G, dae->B.count);
    set_term(s, GA_TERM_VELOCITY_STIFFNESS, &dae->Z, &s->tangent.Z, 0);
    set_term(s, GA_TERM_NONHOLONOMIC_STIFFNESS, &dae->ZN, &s->tangent.Z, dae->ZB.count);
    set_term(s, GA_TERM_REGULAR, &s->start.redundancy.diagonal, &s->regular.value, 0);
    set_term(s, GA_TERM_ETA_REGULAR, &s->regular.etas, &s->regular.eta_value, 0);
    return create_products(s);
}

/* What only the pattern of the matrix was made from. */
static void drop_places(ga_stepper *s)
{
    for (int term = 0; term < GA_TERM_COUNT; ++term) {
        if (!s->terms.product[term]) continue;
        s->terms.coords[term] = (ga_coords){.count = s->terms.plan[term].result.count};
        ga_product_destroy(&s->terms.plan[term]);
        s->terms.product[term] = NULL;
    }
}

static ga_status create_matrix(ga_stepper *s, const ga_summand *terms)
{
    GA_TRY(ga_matrix_create(s->n, s->form->term_count, terms,
                            s->jacobian.backend == GA_BACKEND_DENSE, &s->jacobian.matrix));
    if (!ga_linear_may_be_full(s->def.solver, s->n)) drop_places(s); /* the only matrix */
    return ga_linear_create_factor(&s->dae, &s->jacobian.matrix, s->jacobian.backend,
                                   &s->jacobian.factor);
}

ga_status ga_terms_create(ga_stepper *s)
{
    GA_TRY(create_terms(s));
    ga_summand terms[GA_TERM_COUNT];
    for (int k = 0; k < s->form->term_count; ++k) {
        const ga_term_place *at = &s->form->terms[k];
        terms[k] = (ga_summand){&s->terms.coords[at->term], s->terms.place[at->row],
                                s->terms.place[at->column], s->terms.product[at->term]};
    }
    s->jacobian.backend = ga_linear_backend(s->def.solver, s->n);
    GA_TRY(create_matrix(s, terms));
    if (ga_linear_prefers_full(s->def.solver, s->n, s->jacobian.factor)) {
        ga_factor_destroy(s->jacobian.factor);
        ga_matrix_destroy(&s->jacobian.matrix);
        s->jacobian.factor = NULL;
        s->jacobian.backend = GA_BACKEND_DENSE;
        GA_TRY(create_matrix(s, terms));
    }
    drop_places(s);
    return GA_OK;
}

void ga_terms_destroy(ga_stepper *s)
{
    for (int term = 0; term < GA_TERM_COUNT; ++term) ga_product_destroy(&s->terms.plan[term]);
    ga_free(s->terms.BT_values);
    ga_free(s->terms.ZT_values);
    ga_factor_destroy(s->jacobian.factor);
    ga_matrix_destroy(&s->jacobian.matrix);
}
