/* What the formulations share: the dynamic residual, the constraints on two levels, and the
 * terms of the iteration matrix.
 *
 * With dq = c_q T u and, where there is eta, d vd = u + B_n^T x, the linearised equations of
 * the stabilised index-2 formulation are, T = T(U),
 *
 *     [ M + c_v C + c_q K T    G^T - L    (M + c_v C) B_n^T ] [  u     ]   [   r     ]
 *     [ G + (c_q/c_v) Z T        0             G B_n^T      ] [ d mult ] = [  w/c_v  ]
 *     [ B T                      0               0          ] [  x     ]   [ Phi/c_q ]
 *
 * Index 3 has the rows of Phi in place of those of B v + Phi_t, and no x. u, not d vd, is the
 * unknown: then eta meets M and C, whose products with B_n^T stay sparse, and not the stiff K.
 *
 * Augmented Lagrangian, [DYM] eqs. (16)-(17): lambda is replaced by mu = lambda + p Phi in the
 * dynamics, which adds c_q p B^T B T to the first block. Phi = 0 in the end, so the solution is
 * the same.
 */
#include "base/apart.h"
#include "base/finite.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

/* --- residuals --------------------------------------------------------------------------- */

/* Is the dynamic residual to be had as a whole, M vd - f + G^T lambda? */
static bool adds_up(const ga_stepper *s)
{
    return ga_dae_has_equations(&s->dae) && !s->form->weighted && s->at.has_mass &&
           s->def.penalty == 0;
}

/* Then G is needed only for other things. */
static bool needs_gradient(const ga_stepper *s)
{
    return s->at.renews || s->form->velocity_level || s->mode.estimates ||
           s->start.redundancy.active || s->p;
}

/* Holonomic constraints and the dynamic residual as a whole: often all there is to do. */
static bool is_plain_sum(const ga_stepper *s)
{
    return ga_dae_has_equations(&s->dae) && s->m > 0 && s->p == 0 && !s->dae.rheonomic &&
           !s->form->weighted && !s->form->velocity_level && s->def.penalty == 0;
}

static ga_status evaluate_sum(ga_stepper *s)
{
    const bool wanted = s->at.renews || s->mode.estimates || s->start.redundancy.active;
    double *G = wanted ? s->trial.G : NULL;
    const ga_point at = {s->step.t1,  s->trial.q,      s->trial.v,
                         s->trial.vd, s->trial.lambda, s->trial.lambda + s->m};
    s->at.filled = (ga_values){.G = G, .Phi = s->at.Phi};
    s->at.summed = true;
    return ga_dae_fill_sum(&s->dae, &at, &s->at.filled, s->newton.r);
}

/* Forces that depend on multipliers are evaluated when these are known. */
APART ga_status evaluate(ga_stepper *s, bool force)
{
    ga_values *values = &s->at.filled;
    const bool mass = !s->form->weighted && !s->at.has_mass,
               motion = ga_stepper_has_rate(s) && (s->form->velocity_level || s->p);
    values->M = mass ? s->at.M : NULL;
    values->G = s->trial.G;
    values->Phi = s->at.Phi;
    values->w = motion ? s->at.rate : NULL;
    values->f = NULL;
    s->at.summed = force && adds_up(s);
    if (s->at.summed) {
        const ga_point sum = ga_dae_point(&s->dae, s->step.t1, s->trial.q, s->trial.v,
                                          s->trial.vd, s->trial.lambda);
        if (!needs_gradient(s)) values->G = NULL;
        return ga_dae_fill_equations(&s->dae, &sum, values, s->newton.r);
    }
    if (force && !s->dae.sys.force_uses_multipliers) values->f = s->at.f;
    const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
    GA_TRY(ga_dae_fill(&s->dae, &at, values));
    if (mass) s->at.has_mass = s->dae.M_known;
    return s->dae.reactions_added ? GA_OK : ga_dae_look(&s->dae, values); /* G need not show */
}

ga_status ga_block_evaluate(ga_stepper *s, bool force)
{
    return force && s->at.plain_sum && s->at.has_mass ? evaluate_sum(s) : evaluate(s, force);
}

/* Looks at what was evaluated; where only sums were, and they are not finite, at their parts.
 */
static ga_status look(ga_stepper *s)
{
    if (s->at.summed && !ga_pool_finite(s->pool, s->nv, s->newton.r)) {
        const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
        s->at.filled.G = s->trial.G;
        s->at.filled.f = s->at.f;
        GA_TRY(ga_dae_fill(&s->dae, &at, &s->at.filled));
    }
    return ga_dae_look(&s->dae, &s->at.filled);
}

ga_status ga_block_look(ga_stepper *s, int n, const double *r)
{
    if (ga_pool_finite(s->pool, n, r)) return GA_OK;
    GA_TRY(look(s));
    return GA_ERR_NO_CONVERGE; /* overflow on the way */
}

ga_status ga_block_look_at_tangents(ga_stepper *s)
{
    GA_TRY(look(s));
    return ga_dae_look_at_tangents(
        &s->dae, &(ga_tangents){s->tangent.K, s->tangent.C, s->tangent.L, s->tangent.Z});
}

APART ga_status evaluate_force(ga_stepper *s, const double *multipliers)
{
    ga_point at =
        ga_dae_point(&s->dae, s->step.t1, s->trial.q, s->trial.v, s->trial.vd, multipliers);
    return ga_dae_force(&s->dae, &at, s->at.f);
}

ga_status ga_block_force(ga_stepper *s, const double *multipliers, const double **f)
{
    *f = s->at.f;
    return s->dae.sys.force_uses_multipliers ? evaluate_force(s, multipliers) : GA_OK;
}

APART const double *add_penalty(ga_stepper *s)
{
    const double penalty = s->tangent.penalty, *restrict lambda = s->trial.lambda,
                 *restrict Phi = s->at.Phi;
    double *restrict mu = s->at.mu;
    for (int i = 0; i < s->m; ++i) mu[i] = lambda[i] + penalty * Phi[i];
    for (int i = s->m; i < s->mp; ++i) mu[i] = lambda[i];
    return mu;
}

/* Multipliers with what the penalty adds to them. */
static const double *augment(ga_stepper *s)
{
    return s->tangent.penalty == 0 ? s->trial.lambda : add_penalty(s);
}

ga_status ga_block_dynamics(ga_stepper *s, double *restrict r)
{
    const double *f, *mu;
    if (s->at.summed && r == s->newton.r) return GA_OK; /* it is there */
    mu = augment(s);
    GA_TRY(ga_block_force(s, mu, &f));
    ga_dae_inertia_less(&s->dae, s->at.M, s->trial.vd, f, r);
    if (s->dae.reactions_added) ga_coords_multiply_transposed(&s->dae.G, s->trial.G, 1, mu, r);
    return GA_OK;
}

void ga_block_position(ga_stepper *s, double *r)
{
    for (int i = 0; i < s->m; ++i) r[i] = s->at.Phi[i] / s->step.c_q;
}

void ga_block_velocity(ga_stepper *s, double *w)
{
    const size_t size = (size_t)s->mp * sizeof *w;
    if (ga_stepper_has_rate(s))
        memcpy(w, s->at.rate, size);
    else
        memset(w, 0, size);
    ga_coords_multiply(&s->dae.B, s->trial.G, 1, s->trial.v, w);
}

ga_status ga_block_nonholonomic(ga_stepper *s, const double *v, double *k)
{
    if (s->p == 0) return GA_OK;
    if (v != s->trial.v) return ga_dae_nonholonomic(&s->dae, s->step.t1, s->trial.q, v, k);
    memcpy(k, s->at.rate + s->m, (size_t)s->p * sizeof *k);
    return GA_OK;
}

void ga_block_divide(int n, double c, double *r)
{
    for (int i = 0; i < n; ++i) r[i] /= c;
}

/* --- the iteration matrix ---------------------------------------------------------------- */

/* Mean of the diagonal, [DYM] section 4.1: a mass, damping or stiffness typical of the system.
 */
static double mean_diagonal(const ga_coords *A, const double *values)
{
    double sum = 0;
    if (A->layout != GA_LISTED) {
        for (int i = 0; i < A->rows; ++i) sum += values[i * (A->rows + 1)];
        return sum / A->rows;
    }
    for (int k = 0; k < A->count; ++k)
        if (A->row[k] == A->col[k]) sum += values[k];
    return sum / A->rows;
}

/* Mean mass by mean size of a row of G, with a margin: M du = G^T dl. */
static double typical_reaction(const ga_stepper *s)
{
    double sum = 0;
    for (int k = 0; k < s->dae.G.count; ++k) sum += s->trial.G[k] * s->trial.G[k];
    return sum > 0 ? 8 * s->tangent.mean_mass / sqrt(sum / s->mp) : 0;
}

/* Of a constant M once. */
static void take_mass(ga_stepper *s)
{
    if (s->tangent.has_mass) return;
    ga_pool_copy(s->pool, s->tangent.M, s->at.M, s->dae.M.count);
    s->tangent.mean_mass = fabs(mean_diagonal(&s->dae.M, s->at.M));
    s->tangent.has_mass = s->at.has_mass;
}

/* s of [DYM] eq. (22). Its sign and size only steer the scaling, so it is kept away from zero.
 */
static double dymore_scale(const ga_stepper *s)
{
    double m = mean_diagonal(&s->dae.M, s->tangent.M);
    double d = mean_diagonal(&s->dae.C, s->tangent.C),
           k = mean_diagonal(&s->dae.K, s->tangent.K);
    double scale = k + d / s->step.h + m / (s->step.h * s->step.h);
    double least = 1e-3 * m / (s->step.h * s->step.h);
    return scale > least ? scale : (least > 0 ? least : 1 / (s->step.h * s->step.h));
}

static ga_status fill_tangents(ga_stepper *s, const ga_point *at)
{
    const bool needs_Z = s->form->velocity_level || s->mode.estimates;
    const ga_tangents tangents = {s->tangent.K, s->tangent.C, s->tangent.L, s->tangent.Z};
    GA_TRY(ga_dae_fill_tangents(&s->dae, at, needs_Z, &tangents));
    /* estimates alone have it in no matrix, where it would show */
    if (!needs_Z || s->form->velocity_level) return GA_OK;
    return ga_dae_look_at_velocity_stiffness(&s->dae, true, s->tangent.Z);
}

/* What is not finite shows in the factors, or in difference quotients; but callbacks shall not
 * get it as a multiplier. */
ga_status ga_block_tangents(ga_stepper *s)
{
    ga_dae *dae = &s->dae;
    if (!ga_all_finite(s->m, s->at.Phi)) GA_TRY(look(s));
    const double *mu = augment(s);
    /* weighted formulations have no M vd in the force they take the tangent of */
    const double *vd = s->form->weighted ? s->work.zero : s->trial.vd;
    ga_point at = ga_dae_point(dae, s->step.t1, s->trial.q, s->trial.v, vd, mu);
    const ga_status status = fill_tangents(s, &at);
    if (status != GA_OK) {
        GA_TRY(look(s)); /* that may be the reason */
        return status;
    }
    take_mass(s);
    ga_pool_copy(s->pool, s->tangent.G, s->trial.G, s->dae.G.count);
    s->tangent.typical_reaction = typical_reaction(s);
    if (!s->tangent.flat) {
        ga_dae_tangent(dae, s->def.map, s->at.U, s->tangent.T);
        if (s->terms.BT_values)
            ga_product_evaluate(&s->terms.BT, s->tangent.G, s->tangent.T, s->terms.BT_values);
        if (s->terms.ZT_values)
            ga_product_evaluate(&s->terms.ZT, s->tangent.Z, s->tangent.T, s->terms.ZT_values);
    }
    if (s->form->has_eta) ga_pool_copy(s->pool, s->tangent.B_eta, s->now.G, s->dae.B.count);
    if (s->def.penalty == GA_PENALTY_AUTO) s->tangent.penalty = dymore_scale(s);
    ++s->stats.jacobians;
    s->newton.trust.measured = false;
    if (!s->form->second_system) return GA_OK;
    GA_TRY(ga_block_look_at_tangents(s));
    memcpy(s->second.M, s->at.M, (size_t)dae->M.count * sizeof *s->at.M);
    memcpy(s->second.G, s->trial.G, (size_t)dae->G.count * sizeof *s->trial.G);
    memcpy(s->second.L, s->tangent.L, (size_t)dae->L.count * sizeof *s->tangent.L);
    s->second.typical_reaction = s->tangent.typical_reaction;
    ga_status second = ga_saddle_factor(
        &s->second, (s->def.reduced ? GA_SADDLE_HOLONOMIC : 0) |
                        (dae->sys.force_uses_multipliers ? GA_SADDLE_FORCES : 0));
    if (second != GA_OK) s->jacobian.singular = s->second.singular;
    return second;
}

static double coefficient(const ga_stepper *s, ga_term term)
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

static void fill(double *x, int n, double value)
{
    for (int i = 0; i < n; ++i) x[i] = value;
}

/* Equilibration costs as much as the factorisation of a small matrix, and sizes change slowly:
 * so many matrices share it. The number itself is of no importance: 1, 8, 32 and 64 differ by
 * round-off, which decided between them in tests whose bounds are there. */
enum { SCALING_LIFE = 64 };

/* By c_q now and then. */
static bool keeps_scaling(double ratio) { return ratio > 0.1 && ratio < 10; }

/* Row and column factors relative to the units of the matrix above. */
static void choose_scaling(ga_stepper *s, ga_scaling scaling)
{
    /* factors of the rows: dynamics, velocity, Phi; of the columns: u, multipliers, x */
    double row[3] = {1, 1, 1}, col[3] = {1, 1, 1};
    const double bh2 = s->def.coefficients.beta * s->step.h * s->step.h;
    if (scaling ==
        GA_SCALING_NONE) { /* unknowns Delta q, Delta lambda, eta; rows as they are */
        row[1] = s->step.c_v;
        row[2] = s->step.c_q;
        col[0] = 1 / s->step.c_q;
        col[2] = s->step.h / s->step.c_q;
    } else if (scaling == GA_SCALING_AB07) { /* (10) on top of that */
        row[0] = bh2;
        row[1] = row[2] = s->step.c_q;
        col[0] = col[2] = 1 / s->step.c_q;
        col[1] = 1 / bh2;
    } else if (scaling == GA_SCALING_DYMORE) { /* (24): rows by s, lambda by c8 s */
        row[1] = row[2] = col[1] = s->step.c_q * dymore_scale(s);
    }
    const int position = s->terms.place[s->form->position], eta = s->terms.place[GA_AT_ETA];
    if (scaling == GA_SCALING_AUTO && s->jacobian.usable && s->jacobian.scaled_for > 0) {
        const double ratio = s->step.c_q / s->jacobian.scaled_c_q;
        if (--s->jacobian.scaled_for > 0 && keeps_scaling(ratio)) return;
    }
    fill(s->jacobian.row_scale, s->nv, row[0]);
    fill(s->jacobian.row_scale + s->nv, s->n - s->nv, row[1]);
    fill(s->jacobian.row_scale + position, s->m, row[2]);
    fill(s->jacobian.col_scale, s->nv, col[0]);
    fill(s->jacobian.col_scale + s->nv, s->mp, col[1]);
    fill(s->jacobian.col_scale + eta, s->n - eta, col[2]);
    if (scaling == GA_SCALING_AUTO)
        ga_matrix_equilibrate(&s->jacobian.matrix, 3, s->jacobian.row_scale,
                              s->jacobian.col_scale, s->jacobian.scale_work);
    s->jacobian.scaled_for = scaling == GA_SCALING_AUTO ? SCALING_LIFE : 0;
    s->jacobian.scaled_c_q = s->step.c_q;
}

static void add_term(ga_stepper *s, int k)
{
    const ga_term term = s->form->terms[k].term;
    const ga_product *product = s->terms.product[term];
    const double c = coefficient(s, term);
    const ga_source *factors = s->terms.factors[term];
    if (c == 0) return;
    if (product)
        ga_matrix_add_product(&s->jacobian.matrix, k, c, product, ga_source_values(factors[0]),
                              ga_source_values(factors[1]));
    else
        ga_matrix_add(&s->jacobian.matrix, k, c, ga_source_values(s->terms.values[term]));
}

static void copy(int count, const double *from, double *to)
{
    memcpy(to, from, (size_t)count * sizeof *to);
}

/* Zeros, and the mass, which is the first term; copied where it is constant and few. */
static void begin_sum(ga_stepper *s)
{
    double *values = s->jacobian.matrix.values, *base = s->terms.base;
    const int count = s->jacobian.matrix.count;
    if (s->terms.has_base) {
        copy(count, base, values);
        return;
    }
    ga_matrix_clear(&s->jacobian.matrix);
    if (s->terms.has_mass) add_term(s, 0);
    if (!base || !s->tangent.has_mass) return;
    copy(count, values, base);
    s->terms.has_base = true;
}

static void collect_terms(const ga_stepper *s, ga_matrix_term *list)
{
    for (int k = 0; k < s->form->term_count; ++k) {
        const ga_term term = s->form->terms[k].term;
        const ga_source *factors = s->terms.factors[term];
        const bool empty = s->terms.coords[term].count == 0;
        list[k] = (ga_matrix_term){
            empty ? 0 : coefficient(s, term), ga_source_values(s->terms.values[term]),
            s->terms.product[term], ga_source_values(factors[0]), ga_source_values(factors[1])};
    }
}

/* Without the scaling it chooses. */
static void sum_terms(ga_stepper *s, ga_scaling scaling)
{
    begin_sum(s);
    ga_regular_prepare(s);
    for (int k = 0; k < s->terms.other_count; ++k) add_term(s, s->terms.other[k]);
    choose_scaling(s, scaling);
}

void ga_block_assemble(ga_stepper *s, ga_scaling scaling)
{
    sum_terms(s, scaling);
    ga_matrix_scale(&s->jacobian.matrix, s->jacobian.row_scale, s->jacobian.col_scale);
}

/* Whether scales are not chosen anew, and a matrix can be made with them in one go. Large ones
 * come from memory: once is enough. */
static bool knows_scaling(const ga_stepper *s)
{
    if (s->jacobian.matrix.full || s->def.scaling != GA_SCALING_AUTO || !s->jacobian.usable)
        return false;
    return s->jacobian.scaled_for > 1 && keeps_scaling(s->step.c_q / s->jacobian.scaled_c_q);
}

static ga_status factor_in_one_go(ga_stepper *s)
{
    ga_matrix_term terms[GA_TERM_COUNT];
    const ga_matrix_total total = {&s->jacobian.matrix, terms, s->jacobian.row_scale,
                                   s->jacobian.col_scale};
    collect_terms(s, terms);
    return ga_factor_numeric_sum(s->jacobian.factor, &total);
}

/* A very large matrix is not to stay: it is there for the scaling, in a room that is lent. */
static void scale_passing(ga_stepper *s, double *lent)
{
    ga_matrix_term terms[GA_TERM_COUNT];
    const ga_matrix_total total = {&s->jacobian.matrix, terms, s->jacobian.row_scale,
                                   s->jacobian.col_scale};
    double *own = s->jacobian.matrix.values;
    ga_regular_prepare(s);
    collect_terms(s, terms);
    fill(s->jacobian.row_scale, s->n, 1);
    fill(s->jacobian.col_scale, s->n, 1);
    s->jacobian.matrix.values = lent;
    ga_matrix_sum(&total);
    s->jacobian.matrix.looked = false;
    choose_scaling(s, s->def.scaling);
    s->jacobian.matrix.values = own;
}

static ga_status assemble_and_factor(ga_stepper *s)
{
    if (knows_scaling(s)) {
        --s->jacobian.scaled_for;
        ga_regular_prepare(s);
        return factor_in_one_go(s);
    }
    double *lent = ga_factor_lend(s->jacobian.factor);
    if (lent) {
        scale_passing(s, lent);
        return factor_in_one_go(s); /* and passes by once more */
    }
    sum_terms(s, s->def.scaling);
    return ga_factor_numeric_scaled(s->jacobian.factor, &s->jacobian.matrix,
                                    s->jacobian.row_scale, s->jacobian.col_scale);
}

ga_status ga_block_factor(ga_stepper *s)
{
    ++s->stats.factorizations;
    ga_status status = assemble_and_factor(s);
    if (status == GA_ERR_SINGULAR) {
        s->jacobian.usable = false;
        GA_TRY(ga_block_look_at_tangents(s)); /* NaN, perhaps */
    }
    if (status == GA_ERR_SINGULAR && !(s->regular.eps > 0) && s->mp) {
        ga_redundancy_activate(&s->start.redundancy, true); /* the constraints, perhaps */
        status = assemble_and_factor(s);
    }
    s->jacobian.usable = status == GA_OK;
    if (!s->jacobian.usable) {
        s->jacobian.singular = ga_factor_singular_column(s->jacobian.factor);
        return status;
    }
    if (s->jacobian.scaled_for > 0 && s->jacobian.scaled_for < SCALING_LIFE &&
        ga_regular_doubts(s)) {
        s->jacobian.scaled_for = 0; /* perhaps only the scales are old */
        GA_TRY(assemble_and_factor(s));
    }
    s->jacobian.c_q = s->step.c_q;
    s->jacobian.c_v = s->step.c_v;
    if (!ga_regular_watch(s)) return GA_OK;
    ++s->stats.factorizations;
    status = assemble_and_factor(s); /* with a smaller eps */
    s->jacobian.usable = status == GA_OK;
    return status;
}

void ga_block_solve(ga_stepper *s, const double *r, double *x)
{
    ga_block_solve_once(s, r, x);
    if (s->regular.eps > 0) ga_regular_filter(s, x);
}

void ga_block_solve_once(ga_stepper *s, const double *r, double *x)
{
    ga_factor_solve_scaled(s->jacobian.factor, true, s->jacobian.row_scale, r,
                           s->jacobian.col_scale, x);
}

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

/* --- creation ---------------------------------------------------------------------------- */

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
static ga_status set_product(ga_stepper *s, ga_term term, operand A, operand B,
                             ga_product *plan, double **values)
{
    GA_TRY(ga_product_create(A.coords, B.coords, plan));
    s->terms.coords[term] = plan->result;
    if (values) {
        s->terms.values[term] = (ga_source){values, 0};
        *values = GA_NEW(double, plan->result.count);
        return *values ? GA_OK : GA_ERR_MEMORY;
    }
    s->terms.product[term] = plan;
    s->terms.factors[term][0] = A.values;
    s->terms.factors[term][1] = B.values;
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
        GA_TRY(set_product(s, GA_TERM_STIFFNESS, K, T, &s->terms.KT, NULL));
        GA_TRY(set_product(s, GA_TERM_POSITION, B, T, &s->terms.BT,
                           penalty ? &s->terms.BT_values : NULL));
        if (s->form->velocity_level)
            GA_TRY(set_product(s, GA_TERM_VELOCITY_STIFFNESS, Z, T, &s->terms.ZT,
                               s->form->second_system ? &s->terms.ZT_values : NULL));
        GA_TRY(set_product(s, GA_TERM_NONHOLONOMIC_STIFFNESS, ZN, T, &s->terms.ZNT, NULL));
    }
    if (penalty) {
        const operand BT = {&s->terms.coords[GA_TERM_POSITION],
                            s->terms.values[GA_TERM_POSITION]};
        GA_TRY(set_product(s, GA_TERM_PENALTY, Bt, BT, &s->terms.BtBT, NULL));
    }
    if (!s->form->has_eta) return GA_OK;
    GA_TRY(set_product(s, GA_TERM_ETA_MASS, M, Bnt, &s->terms.MBt, NULL));
    GA_TRY(set_product(s, GA_TERM_ETA_DAMPING, C, Bnt, &s->terms.CBt, NULL));
    return set_product(s, GA_TERM_ETA_VELOCITY, G, Bnt, &s->terms.GBt, NULL);
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
    ga_product *plans[] = {&s->terms.KT,   &s->terms.BT,  &s->terms.ZT,  &s->terms.ZNT,
                           &s->terms.BtBT, &s->terms.MBt, &s->terms.CBt, &s->terms.GBt};
    for (int term = 0; term < GA_TERM_COUNT; ++term)
        for (size_t k = 0; k < sizeof plans / sizeof *plans; ++k)
            if (s->terms.product[term] == plans[k]) {
                ga_product_drop_places(plans[k]);
                s->terms.coords[term] = plans[k]->result;
            }
}

static ga_status create_matrix(ga_stepper *s, const ga_block *blocks)
{
    GA_TRY(ga_matrix_create(s->n, s->form->term_count, blocks,
                            s->jacobian.backend == GA_BACKEND_DENSE, &s->jacobian.matrix));
    if (!ga_linear_may_be_full(s->def.solver, s->n)) drop_places(s); /* the only matrix */
    return ga_linear_create_factor(&s->dae, &s->jacobian.matrix, s->jacobian.backend,
                                   &s->jacobian.factor);
}

/* Those that are not empty: the mass, and others. */
static void list_terms(ga_stepper *s)
{
    for (int k = 0; k < s->form->term_count; ++k) {
        const ga_term term = s->form->terms[k].term;
        if (s->terms.coords[term].count == 0) continue;
        if (k == 0 && term == GA_TERM_MASS)
            s->terms.has_mass = true;
        else
            s->terms.other[s->terms.other_count++] = k;
    }
}

/* A matrix of so many numbers is copied in no time. */
enum { BASE = 1024 };

ga_status ga_block_create(ga_stepper *s)
{
    GA_TRY(create_terms(s));
    ga_block blocks[GA_TERM_COUNT];
    for (int k = 0; k < s->form->term_count; ++k) {
        const ga_term_place *at = &s->form->terms[k];
        blocks[k] = (ga_block){&s->terms.coords[at->term], s->terms.place[at->row],
                               s->terms.place[at->column]};
    }
    list_terms(s);
    s->at.plain_sum = is_plain_sum(s);
    s->jacobian.backend = ga_linear_backend(s->def.solver, s->n);
    GA_TRY(create_matrix(s, blocks));
    if (ga_linear_prefers_full(s->def.solver, s->n, s->jacobian.factor)) {
        ga_factor_destroy(s->jacobian.factor);
        ga_matrix_destroy(&s->jacobian.matrix);
        s->jacobian.factor = NULL;
        s->jacobian.backend = GA_BACKEND_DENSE;
        GA_TRY(create_matrix(s, blocks));
    }
    drop_places(s);
    if (s->jacobian.matrix.full && s->jacobian.matrix.count <= BASE && s->terms.has_mass &&
        !(s->terms.base = GA_NEW(double, s->jacobian.matrix.count)))
        return GA_ERR_MEMORY;
    return GA_OK;
}

void ga_block_destroy(ga_stepper *s)
{
    ga_product *plans[] = {&s->terms.KT,   &s->terms.BT,  &s->terms.ZT,  &s->terms.ZNT,
                           &s->terms.BtBT, &s->terms.MBt, &s->terms.CBt, &s->terms.GBt};
    for (size_t k = 0; k < sizeof plans / sizeof *plans; ++k) ga_product_destroy(plans[k]);
    ga_free(s->terms.base);
    ga_free(s->terms.BT_values);
    ga_free(s->terms.ZT_values);
    ga_factor_destroy(s->jacobian.factor);
    ga_matrix_destroy(&s->jacobian.matrix);
}
