/* What can be recomputed: values at the trial, tangents, the iteration matrix and its factors.
 *
 * What is valid of it is a mask, s->valid, which is set and cleared in this file alone
 * (alpha_save.c saves and loads it).
 * Tangents are a pure function of the point where they were taken, which the state keeps
 * (ga_tangent_point): ga_cache_restore takes them there again, with the same bits.
 */
#include "base/extremes.h"
#include "base/finite.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <math.h>
#include <string.h>

static void set(ga_stepper *s, unsigned what) { s->valid |= what; }
static void clear(ga_stepper *s, unsigned what) { s->valid &= ~what; }

void ga_cache_forget(ga_stepper *s)
{
    clear(s, GA_VALID_FACTORS | GA_VALID_FRESH);
    s->jacobian.scaled_for = 0;
}

void ga_cache_begin_attempt(ga_stepper *s) { clear(s, GA_VALID_FRESH); }

/* --- values at the trial ------------------------------------------------------------------ */

/* Is the dynamic residual to be had as a whole, M vd - f + G^T lambda, from the user? */
static bool adds_up(const ga_stepper *s)
{
    return ga_dae_has_equations(&s->dae) && !s->form->weighted &&
           ga_cache_has(s, GA_VALID_MASS) && s->def.penalty == 0;
}

/* Is G needed for other things than G^T lambda? */
static bool needs_gradient(const ga_stepper *s)
{
    return s->form->velocity_level || s->mode.estimates || s->start.redundancy.active || s->p;
}

/* Forces that depend on multipliers are evaluated when these are known. Where the dynamic
 * residual comes as a whole, it is in newton.r afterwards (GA_VALID_DYNAMICS). */
ga_status ga_cache_evaluate(ga_stepper *s, unsigned wanted)
{
    ga_values *values = &s->at.filled;
    const bool mass = !s->form->weighted && !ga_cache_has(s, GA_VALID_MASS),
               motion = ga_stepper_has_rate(s) && (s->form->velocity_level || s->p),
               residual = wanted & GA_WANTED_RESIDUAL;
    *values = (ga_values){.M = mass ? s->at.M : NULL,
                          .G = s->trial.G,
                          .Phi = s->at.Phi,
                          .w = motion ? s->at.rate : NULL};
    clear(s, GA_VALID_DYNAMICS);
    if (residual && adds_up(s)) {
        const ga_point sum = ga_dae_point(&s->dae, s->step.t1, s->trial.q, s->trial.v,
                                          s->trial.vd, s->trial.lambda);
        if (!(wanted & GA_WANTED_TANGENTS) && !needs_gradient(s)) values->G = NULL;
        set(s, GA_VALID_DYNAMICS);
        return ga_dae_fill_equations(&s->dae, &sum, values, s->newton.r);
    }
    if (residual && !s->dae.sys.force_uses_multipliers) values->f = s->at.f;
    const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
    GA_TRY(ga_dae_fill(&s->dae, &at, values));
    if (mass && s->dae.M_known) set(s, GA_VALID_MASS);
    return s->dae.reactions_added
               ? GA_OK
               : ga_dae_check_values(&s->dae, values); /* G need not show in the residual */
}

/* Whose callback left a value that is not finite. Where only a sum was evaluated, and is not
 * finite, its parts are. */
static ga_status find_culprit(ga_stepper *s)
{
    if (ga_cache_has(s, GA_VALID_DYNAMICS) && !ga_pool_finite(s->pool, s->nv, s->newton.r)) {
        const ga_point at = {.t = s->step.t1, .q = s->trial.q, .v = s->trial.v};
        s->at.filled.G = s->trial.G;
        s->at.filled.f = s->at.f;
        GA_TRY(ga_dae_fill(&s->dae, &at, &s->at.filled));
    }
    return ga_dae_check_values(&s->dae, &s->at.filled);
}

ga_status ga_cache_check_residual(ga_stepper *s, int n, const double *r)
{
    if (ga_pool_finite(s->pool, n, r)) return GA_OK;
    GA_TRY(find_culprit(s));
    return GA_ERR_NO_CONVERGE; /* overflow on the way */
}

ga_status ga_cache_check_tangents(ga_stepper *s)
{
    GA_TRY(find_culprit(s));
    return ga_dae_check_tangents(
        &s->dae, &(ga_tangents){s->tangent.K, s->tangent.C, s->tangent.L, s->tangent.Z});
}

/* --- tangents ------------------------------------------------------------------------------
 */

/* Mean of the diagonal, [DYM] section 4.1: a mass, damping or stiffness typical of the system,
 * without its states. */
static double mean_diagonal(const ga_stepper *s, const ga_coords *A, const double *values,
                            double *diagonal)
{
    double sum = 0;
    ga_coords_take_diagonal(A, values, diagonal);
    for (int i = 0; i < s->dae.nm; ++i) sum += diagonal[i];
    return s->dae.nm ? sum / s->dae.nm : 0;
}

/* Mean mass by mean size of a row of G, with a margin: M du = G^T dl. */
static double typical_reaction(const ga_stepper *s)
{
    const double sum = ga_norm_squares(s->dae.G.count, s->trial.G);
    return sum > 0 ? 8 * s->tangent.mean_mass / sqrt(sum / s->mp) : 0;
}

/* The longest arm: where a row of G has both kinds of columns, a rotation by x moves what it
 * holds by arm x. */
static double longest_arm(const ga_stepper *s)
{
    double longest = 0, *size[2] = {s->jacobian.scale_work, s->jacobian.scale_work + s->mp};
    ga_norm_rows(&s->dae.G, s->tangent.G, s->dae.kind, size);
    for (int i = 0; i < s->mp; ++i)
        if (size[0][i] > 0) longest = ga_larger(longest, size[1][i] / size[0][i]);
    return longest;
}

/* s of [DYM] eq. (22): steers the scaling, and is the penalty p of GA_PENALTY_AUTO. Neither
 * changes the solution, so it is kept positive. */
static double dymore_scale(const ga_stepper *s)
{
    double *work = s->jacobian.scale_work;
    double m = mean_diagonal(s, &s->dae.M, s->tangent.M, work),
           d = mean_diagonal(s, &s->dae.C, s->tangent.C, work),
           k = mean_diagonal(s, &s->dae.K, s->tangent.K, work);
    double scale = k + d / s->step.h + m / (s->step.h * s->step.h);
    double least = 1e-3 * m / (s->step.h * s->step.h);
    return scale > least ? scale : (least > 0 ? least : 1 / (s->step.h * s->step.h));
}

static ga_status fill_tangents(ga_stepper *s, const ga_point *at)
{
    const bool needs_Z = s->form->velocity_level || s->mode.estimates;
    const ga_tangents tangents = {s->tangent.K, s->tangent.C, s->tangent.L, s->tangent.Z};
    GA_TRY(ga_dae_fill_tangents(&s->dae, at, needs_Z, &tangents));
    /* used by estimates alone, Z enters no matrix in which a NaN would show */
    if (!needs_Z || s->form->velocity_level) return GA_OK;
    return ga_dae_check_velocity_stiffness(&s->dae, true, s->tangent.Z);
}

/* Everything that tangents are a function of, but for M and B_n. */
static void keep_point(ga_stepper *s, const double *vd, const double *mu)
{
    ga_tangent_point *p = &s->point;
    p->t = s->step.t1;
    p->h = s->step.h;
    ga_pool_copy(s->pool, p->q, s->trial.q, s->nq);
    ga_pool_copy(s->pool, p->v, s->trial.v, s->nv);
    ga_pool_copy(s->pool, p->vd, vd, s->nv);
    ga_pool_copy(s->pool, p->U, s->at.U, s->nv);
    ga_pool_copy(s->pool, p->multipliers, mu, s->mp);
}

/* The saddle matrix of the difference of the two systems of SOI2. */
static ga_status factor_second(ga_stepper *s)
{
    const ga_dae *dae = &s->dae;
    ga_saddle *k = &s->second;
    GA_TRY(ga_cache_check_tangents(s));
    memcpy(k->M, s->tangent.M, (size_t)dae->M.count * sizeof *k->M);
    memcpy(k->G, s->tangent.G, (size_t)dae->G.count * sizeof *k->G);
    memcpy(k->L, s->tangent.L, (size_t)dae->L.count * sizeof *k->L);
    k->typical_reaction = s->tangent.typical_reaction;
    ga_status status =
        ga_saddle_factor(k, (s->def.reduced ? GA_SADDLE_HOLONOMIC : 0) |
                                (dae->sys.force_uses_multipliers ? GA_SADDLE_FORCES : 0));
    if (status != GA_OK) s->jacobian.singular = k->singular;
    return status;
}

static void measure_mass(ga_stepper *s)
{
    s->tangent.mean_mass = fabs(mean_diagonal(s, &s->dae.M, s->tangent.M, s->tangent.mass));
    if (ga_cache_has(s, GA_VALID_MASS)) set(s, GA_VALID_DIAGONAL);
}

/* What follows from K, C, L, Z, M, G and U. */
static ga_status complete_tangents(ga_stepper *s)
{
    ga_dae *dae = &s->dae;
    if (!ga_cache_has(s, GA_VALID_DIAGONAL)) measure_mass(s);
    s->tangent.typical_reaction = typical_reaction(s);
    s->tangent.arm = longest_arm(s);
    if (!s->tangent.flat) {
        ga_dae_tangent(dae, s->def.map, s->at.U, s->tangent.T);
        ga_terms *terms = &s->terms;
        if (terms->BT_values)
            ga_product_evaluate(&terms->plan[GA_TERM_POSITION], s->tangent.G, s->tangent.T,
                                terms->BT_values);
        if (terms->ZT_values)
            ga_product_evaluate(&terms->plan[GA_TERM_VELOCITY_STIFFNESS], s->tangent.Z,
                                s->tangent.T, terms->ZT_values);
    }
    clear(s, GA_VALID_FACTORS);
    return s->form->second_system ? factor_second(s) : GA_OK;
}

ga_status ga_cache_tangents(ga_stepper *s)
{
    ga_dae *dae = &s->dae;
    /* other values that are not finite show in the factors or in difference quotients; Phi
     * would reach callbacks as a multiplier */
    if (!ga_all_finite(s->m, s->at.Phi)) GA_TRY(find_culprit(s));
    const double *mu = ga_block_augmented(s);
    /* weighted formulations have no M vd in the force they take the tangent of */
    const double *vd = s->form->weighted ? s->work.zero : s->trial.vd;
    ga_point at = ga_dae_point(dae, s->step.t1, s->trial.q, s->trial.v, vd, mu);
    const ga_status status = fill_tangents(s, &at);
    if (status != GA_OK) {
        GA_TRY(find_culprit(s)); /* that may be the reason */
        return status;
    }
    keep_point(s, vd, mu);
    if (!ga_cache_has(s, GA_VALID_DIAGONAL))
        ga_pool_copy(s->pool, s->tangent.M, s->at.M, dae->M.count);
    ga_pool_copy(s->pool, s->tangent.G, s->trial.G, dae->G.count);
    if (s->form->has_eta) ga_pool_copy(s->pool, s->tangent.B_eta, s->now.G, dae->B.count);
    if (s->def.penalty == GA_PENALTY_AUTO) s->tangent.penalty = dymore_scale(s);
    ++s->stats.jacobians;
    set(s, GA_VALID_FRESH);
    return complete_tangents(s);
}

/* --- the iteration matrix ----------------------------------------------------------------- */

static void fill(double *x, int n, double value)
{
    for (int i = 0; i < n; ++i) x[i] = value;
}

/* Row and column factors relative to the units of the matrix (stepper.h), in which rows are
 * already (r, w/c_v, Phi/c_q). */
static void choose_scaling(ga_stepper *s, ga_scaling scaling)
{
    /* factors of the rows: dynamics, velocity, Phi; of the columns: u, multipliers, x */
    double row[3] = {1, 1, 1}, col[3] = {1, 1, 1};
    const double bh2 = s->def.coefficients.beta * s->step.h * s->step.h;
    if (scaling == GA_SCALING_NONE) {
        /* unknowns Delta q, Delta lambda, eta; rows as they are */
        row[1] = s->step.c_v;
        row[2] = s->step.c_q;
        col[0] = 1 / s->step.c_q;
        col[2] = s->step.h / s->step.c_q;
    } else if (scaling == GA_SCALING_AB07) {
        /* [AB07] (10), unknowns Delta q; w c_q/c_v and h eta with a velocity level */
        row[0] = bh2;
        row[1] = row[2] = s->step.c_q;
        col[0] = col[2] = 1 / s->step.c_q;
        col[1] = 1 / bh2;
    } else if (scaling == GA_SCALING_DYMORE) {
        /* factors of [DYM] (24): Phi/c_q becomes s Phi, columns of lambda are multiplied by
         * c_q s. c_q is c8 of (11) in collocated formulations only. */
        row[1] = row[2] = col[1] = s->step.c_q * dymore_scale(s);
    }
    const int position = s->terms.place[s->form->position], eta = s->terms.place[GA_AT_ETA];
    fill(s->jacobian.row_scale, s->nv, row[0]);
    fill(s->jacobian.row_scale + s->nv, s->n - s->nv, row[1]);
    fill(s->jacobian.row_scale + position, s->m, row[2]);
    fill(s->jacobian.col_scale, s->nv, col[0]);
    fill(s->jacobian.col_scale + s->nv, s->mp, col[1]);
    fill(s->jacobian.col_scale + eta, s->n - eta, col[2]);
    if (scaling == GA_SCALING_AUTO)
        ga_matrix_equilibrate(&s->jacobian.matrix, 3, s->jacobian.row_scale,
                              s->jacobian.col_scale, s->jacobian.scale_work);
}

/* One for each term of the formulation; scale 0 for those that are empty. */
static void collect_terms(const ga_stepper *s, ga_matrix_term *list)
{
    for (int k = 0; k < s->form->term_count; ++k) {
        const ga_term term = s->form->terms[k].term;
        const bool empty = s->terms.coords[term].count == 0;
        list[k] = (ga_matrix_term){empty ? 0 : ga_terms_coefficient(s, term),
                                   ga_source_values(s->terms.values[term]),
                                   ga_source_values(s->terms.second[term])};
    }
}

/* Equilibration costs as much as the factorisation of a small matrix, and sizes change slowly:
 * so many matrices are scaled alike, if c_q stays near that of the first. Results with 1, 8, 32
 * and 64 differ by round-off only. */
enum { SCALING_LIFE = 64 };

/* Can the matrix be made with the scales of the last one, in one go? */
static bool knows_scaling(const ga_stepper *s, ga_scaling scaling)
{
    const double ratio = s->step.c_q / s->jacobian.scaled_c_q;
    return scaling == GA_SCALING_AUTO && s->jacobian.scaled_for > 1 && ratio > 0.1 &&
           ratio < 10;
}

void ga_cache_assemble(ga_stepper *s, ga_scaling scaling)
{
    ga_jacobian *j = &s->jacobian;
    ga_matrix_term terms[GA_TERM_COUNT];
    ga_regular_prepare(s);
    collect_terms(s, terms);
    if (knows_scaling(s, scaling)) {
        --j->scaled_for;
        ga_matrix_sum(&j->matrix, terms, j->row_scale, j->col_scale);
        return;
    }
    ga_matrix_sum(&j->matrix, terms, NULL, NULL);
    choose_scaling(s, scaling);
    j->scaled_for = scaling == GA_SCALING_AUTO ? SCALING_LIFE : 0;
    j->scaled_c_q = s->step.c_q;
    ga_matrix_scale(&j->matrix, j->row_scale, j->col_scale);
}

static ga_status assemble_and_factor(ga_stepper *s)
{
    ga_cache_assemble(s, s->def.scaling);
    return ga_factor_numeric(s->jacobian.factor);
}

ga_status ga_cache_factor(ga_stepper *s)
{
    ++s->stats.factorizations;
    clear(s, GA_VALID_FACTORS);
    ga_status status = assemble_and_factor(s);
    if (status == GA_ERR_SINGULAR) {
        s->jacobian.scaled_for = 0;
        GA_TRY(ga_cache_check_tangents(s)); /* NaN, perhaps */
    }
    if (status == GA_ERR_SINGULAR && !(s->regular.eps > 0) && s->mp) {
        ga_redundancy_activate(&s->start.redundancy, true); /* the constraints, perhaps */
        status = assemble_and_factor(s);
    }
    if (status != GA_OK) {
        s->jacobian.scaled_for = 0;
        s->jacobian.singular = ga_factor_singular_column(s->jacobian.factor);
        return status;
    }
    s->jacobian.h = s->step.h;
    s->jacobian.c_q = s->step.c_q;
    s->jacobian.c_v = s->step.c_v;
    set(s, GA_VALID_FACTORS);
    return GA_OK;
}

/* Tangents at the point that was loaded, with the M and B_n of then. */
static ga_status restore_tangents(ga_stepper *s)
{
    const ga_tangent_point *p = &s->point;
    const ga_dae *dae = &s->dae;
    s->step.t1 = p->t;
    s->step.h = p->h;
    ga_pool_copy(s->pool, s->trial.q, p->q, s->nq);
    ga_pool_copy(s->pool, s->trial.v, p->v, s->nv);
    ga_pool_copy(s->pool, s->at.U, p->U, s->nv);
    GA_TRY(ga_cache_evaluate(s, GA_WANTED_TANGENTS));
    ga_pool_copy(s->pool, s->tangent.G, s->trial.G, dae->G.count);
    const ga_point at = ga_dae_point(dae, p->t, p->q, p->v, p->vd, p->multipliers);
    GA_TRY(fill_tangents(s, &at));
    return complete_tangents(s);
}

/* regular.eps is that of the saved matrix, eps of the redundant rows that of the next one. The
 * scales are to serve as often as they would have without the save. */
ga_status ga_cache_restore(ga_stepper *s)
{
    ga_redundancy *rows = &s->start.redundancy;
    const bool factors = ga_cache_has(s, GA_VALID_FACTORS);
    const double next_eps = rows->eps, eps = s->regular.eps;
    if (ga_cache_has(s, GA_VALID_MASS))
        GA_TRY(ga_dae_mass(&s->dae, s->now.t, s->now.q, s->at.M));
    clear(s, ~(unsigned)GA_VALID_MASS);
    if (!factors) return GA_OK;
    rows->eps = s->second.eps;
    GA_TRY(restore_tangents(s));
    s->step.h = s->jacobian.h;
    s->step.c_q = s->jacobian.c_q;
    s->step.c_v = s->jacobian.c_v;
    rows->eps = eps;
    ++s->jacobian.scaled_for;
    GA_TRY(ga_cache_factor(s));
    rows->eps = next_eps;
    return GA_OK;
}

bool ga_cache_fits(const ga_stepper *s)
{
    return ga_cache_has(s, GA_VALID_FACTORS) && s->step.c_q == s->jacobian.c_q &&
           s->step.c_v == s->jacobian.c_v;
}

/* The monitor may ask for other scales, or for a smaller eps. */
ga_status ga_cache_factor_and_watch(ga_stepper *s)
{
    GA_TRY(ga_cache_factor(s));
    if (s->jacobian.scaled_for > 0 && s->jacobian.scaled_for < SCALING_LIFE &&
        ga_regular_doubts(s)) {
        s->jacobian.scaled_for = 0; /* perhaps only the scales are old */
        GA_TRY(ga_cache_factor(s));
    }
    return ga_regular_watch(s) ? ga_cache_factor(s) : GA_OK;
}

void ga_cache_solve(ga_stepper *s, const double *r, double *x)
{
    ga_cache_solve_once(s, r, x);
    if (s->regular.eps > 0) ga_regular_filter(s, x);
}

void ga_cache_solve_once(ga_stepper *s, const double *r, double *x)
{
    ga_factor_solve_scaled(s->jacobian.factor, true, s->jacobian.row_scale, r,
                           s->jacobian.col_scale, x);
}
