/* ga_system_check: every derivative the user gave, beside a difference quotient.
 *
 * The quotients come from a copy of the system without the derivative in question and with
 * full patterns, so an entry missing in a declared pattern is found as well. */
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "system/dae.h"

#include <math.h>
#include <string.h>

const char *ga_derivative_name(ga_derivative derivative)
{
    static const char *const names[GA_DERIVATIVE_COUNT] = {
        [GA_DERIVATIVE_GRADIENT] = "gradient B",
        [GA_DERIVATIVE_CONSTRAINT_RATE] = "constraint_rate Phi_t",
        [GA_DERIVATIVE_ACCELERATION_RHS] = "acceleration_rhs c",
        [GA_DERIVATIVE_STIFFNESS] = "stiffness matrix K",
        [GA_DERIVATIVE_DAMPING] = "damping matrix C",
        [GA_DERIVATIVE_VELOCITY_STIFFNESS] = "velocity_stiffness Z",
        [GA_DERIVATIVE_FORCE_MULTIPLIERS] = "force_multipliers L",
        [GA_DERIVATIVE_NONHOLONOMIC_GRADIENT] = "nonholonomic_gradient N",
        [GA_DERIVATIVE_NONHOLONOMIC_RHS] = "nonholonomic_rhs d",
        [GA_DERIVATIVE_NONHOLONOMIC_STIFFNESS] = "nonholonomic_stiffness D_q k"};
    return (unsigned)derivative < GA_DERIVATIVE_COUNT ? names[derivative] : "unknown";
}

typedef struct checker {
    ga_dae given;     /* as the user defined it */
    ga_dae tangents;  /* all tangents by full difference quotients, B as given */
    ga_dae gradients; /* B by full difference quotients of Phi */
    ga_coords all;    /* full structure of their Z */
    ga_point at;
    double *zero;                       /* stands for a null vd */
    double *multipliers;                /* lambda and psi in one array */
    double *values, *full, *difference; /* given in its pattern, both as full matrices */
    ga_derivative_check *result;
} checker;

static void compare(checker *c, ga_derivative which, int rows, int cols, const double *given,
                    const double *expected)
{
    int count = rows * cols, worst = 0;
    double scale = fmax(1, ga_norm_max(count, expected)), error = -1;
    for (int k = 0; k < count; ++k) {
        double e = fabs(given[k] - expected[k]) / scale;
        if (e > error || isnan(e)) {
            error = isnan(e) ? INFINITY : e;
            worst = k;
        }
    }
    if (count == 0) return;
    c->result->block[which].checked = true;
    c->result->block[which].error = error;
    c->result->block[which].given = given[worst];
    c->result->block[which].expected = expected[worst];
    c->result->block[which].row = worst % rows;
    c->result->block[which].column = worst / rows;
    const ga_derivative_check *r = c->result;
    if (!r->block[r->worst].checked || error > r->block[r->worst].error)
        c->result->worst = which;
}

static const double *expand(checker *c, const ga_coords *coords)
{
    memset(c->full, 0, (size_t)(coords->rows * coords->cols) * sizeof *c->full);
    for (ga_matrix_entry e = ga_entry_first(coords); e.k < coords->count;
         ga_entry_next(coords, &e))
        c->full[e.row + coords->rows * e.col] += c->values[e.k];
    return c->full;
}

static ga_status check_holonomic(checker *c)
{
    const ga_system *sys = &c->given.sys;
    int n = c->given.nv, m = c->given.m;
    double t = c->at.t;
    const double *q = c->at.q, *v = c->at.v;
    if (sys->gradient) {
        GA_TRY(ga_dae_gradient(&c->given, t, q, NULL, c->values));
        GA_TRY(ga_difference_gradient(&c->gradients, t, q, c->difference));
        compare(c, GA_DERIVATIVE_GRADIENT, m, n, expand(c, &c->given.B), c->difference);
    }
    if (sys->constraint_rate) {
        GA_TRY(ga_dae_rate(&c->given, t, q, c->values));
        GA_TRY(ga_difference_rate(&c->tangents, t, q, c->difference));
        compare(c, GA_DERIVATIVE_CONSTRAINT_RATE, m, 1, c->values, c->difference);
    }
    if (m > 0 && !c->given.rheonomic) { /* said not to depend on time: is that so? */
        memset(c->values, 0, (size_t)m * sizeof *c->values);
        GA_TRY(ga_difference_rate(&c->tangents, t, q, c->difference));
        compare(c, GA_DERIVATIVE_CONSTRAINT_RATE, m, 1, c->values, c->difference);
    }
    if (sys->acceleration_rhs) {
        GA_TRY(ga_dae_acceleration_rhs(&c->given, t, q, v, c->values));
        GA_TRY(ga_difference_acceleration_rhs(&c->tangents, t, q, v, c->difference));
        compare(c, GA_DERIVATIVE_ACCELERATION_RHS, m, 1, c->values, c->difference);
    }
    if (sys->velocity_stiffness) {
        GA_TRY(ga_dae_velocity_stiffness(&c->given, &c->at, true, c->values));
        GA_TRY(ga_difference_velocity_stiffness(&c->tangents, &c->at, c->difference));
        compare(c, GA_DERIVATIVE_VELOCITY_STIFFNESS, m, n, expand(c, &c->given.ZB),
                c->difference);
    }
    return GA_OK;
}

static ga_status check_nonholonomic(checker *c)
{
    const ga_system *sys = &c->given.sys;
    int n = c->given.nv, p = c->given.p;
    double t = c->at.t;
    const double *q = c->at.q, *v = c->at.v;
    if (sys->nonholonomic_gradient) {
        GA_TRY(ga_dae_gradient(&c->given, t, q, v, c->values));
        memmove(c->values, c->values + c->given.B.count,
                (size_t)c->given.N.count * sizeof *c->values);
        GA_TRY(ga_difference_nonholonomic_gradient(&c->gradients, t, q, v, c->difference));
        compare(c, GA_DERIVATIVE_NONHOLONOMIC_GRADIENT, p, n, expand(c, &c->given.N),
                c->difference);
    }
    if (sys->nonholonomic_rhs) {
        GA_TRY(ga_dae_acceleration_rhs(&c->given, t, q, v, c->values));
        GA_TRY(ga_difference_nonholonomic_rhs(&c->tangents, t, q, v, c->difference));
        compare(c, GA_DERIVATIVE_NONHOLONOMIC_RHS, p, 1, c->values + c->given.m, c->difference);
    }
    if (sys->nonholonomic_stiffness) {
        GA_TRY(ga_dae_velocity_stiffness(&c->given, &c->at, false, c->values));
        memmove(c->values, c->values + c->given.ZB.count,
                (size_t)c->given.ZN.count * sizeof *c->values);
        GA_TRY(ga_difference_nonholonomic_stiffness(&c->tangents, &c->at, c->difference));
        compare(c, GA_DERIVATIVE_NONHOLONOMIC_STIFFNESS, p, n, expand(c, &c->given.ZN),
                c->difference);
    }
    return GA_OK;
}

static ga_status check_tangents(checker *c)
{
    const ga_system *sys = &c->given.sys;
    int n = c->given.nv, mp = c->given.mp;
    if (sys->stiffness) {
        GA_TRY(ga_dae_stiffness(&c->given, &c->at, c->values));
        GA_TRY(ga_difference_stiffness(&c->tangents, &c->at, c->difference));
        compare(c, GA_DERIVATIVE_STIFFNESS, n, n, expand(c, &c->given.K), c->difference);
    }
    if (sys->damping) {
        GA_TRY(ga_dae_damping(&c->given, &c->at, c->values));
        GA_TRY(ga_difference_damping(&c->tangents, &c->at, c->difference));
        compare(c, GA_DERIVATIVE_DAMPING, n, n, expand(c, &c->given.C), c->difference);
    }
    if (sys->force_multipliers) {
        GA_TRY(ga_dae_force_multipliers(&c->given, &c->at, c->values));
        GA_TRY(ga_difference_force_multipliers(&c->tangents, &c->at, c->difference));
        compare(c, GA_DERIVATIVE_FORCE_MULTIPLIERS, n, mp, expand(c, &c->given.L),
                c->difference);
    }
    return GA_OK;
}

static int largest(int a, int b) { return a > b ? a : b; }

static ga_status create(checker *c, const ga_system *system)
{
    const ga_pattern full = {0};
    ga_system tangents = *system;
    tangents.stiffness = tangents.damping = NULL;
    tangents.velocity_stiffness = tangents.nonholonomic_stiffness = NULL;
    tangents.force_multipliers = NULL;
    tangents.stiffness_pattern = tangents.damping_pattern = full;
    tangents.nonholonomic_stiffness_pattern = tangents.force_multipliers_pattern = full;
    ga_system gradients = tangents;
    gradients.gradient = gradients.nonholonomic_gradient = NULL;
    gradients.gradient_pattern = gradients.nonholonomic_gradient_pattern = full;
    tangents.mass_is_constant = false; /* else a wrong flag would go unnoticed in K */

    /* full also for Z, which otherwise would be derived from B */
    int n = ga_system_nv(system), m = system->constraint_count;
    GA_TRY(ga_coords_create(m, n, 0, NULL, NULL, &c->all));
    tangents.velocity_stiffness_pattern =
        (ga_pattern){c->all.blocks, c->all.row, c->all.col, c->all.height, c->all.width};
    gradients.velocity_stiffness_pattern = tangents.velocity_stiffness_pattern;
    GA_TRY(ga_dae_create(system, &c->given));
    GA_TRY(ga_dae_create(&tangents, &c->tangents));
    GA_TRY(ga_dae_create(&gradients, &c->gradients));

    const ga_dae *dae = &c->given;
    int rows = largest(n, dae->mp), count = rows;
    const ga_coords *sparse[] = {&dae->G, &dae->K, &dae->C, &dae->Z, &dae->L};
    for (int k = 0; k < 5; ++k) count = largest(count, sparse[k]->count);
    bool memory = (c->zero = GA_NEW(double, rows)) &&
                  (c->multipliers = GA_NEW(double, dae->mp)) &&
                  (c->values = GA_NEW(double, count)) && (c->full = GA_NEW(double, n *rows)) &&
                  (c->difference = GA_NEW(double, n *rows));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

static void destroy(checker *c)
{
    ga_dae_destroy(&c->given);
    ga_dae_destroy(&c->tangents);
    ga_dae_destroy(&c->gradients);
    ga_coords_destroy(&c->all);
    ga_free(c->zero);
    ga_free(c->multipliers);
    ga_free(c->values);
    ga_free(c->full);
    ga_free(c->difference);
}

/* The block to name: the worst one, but first those that the quotients of others are made from,
 * so that a wrong B is not blamed on K. */
static ga_derivative culprit(const ga_derivative_check *result, double tolerance)
{
    static const ga_derivative roots[] = {GA_DERIVATIVE_GRADIENT, GA_DERIVATIVE_CONSTRAINT_RATE,
                                          GA_DERIVATIVE_NONHOLONOMIC_GRADIENT};
    for (size_t k = 0; k < sizeof roots / sizeof *roots; ++k)
        if (result->block[roots[k]].checked && result->block[roots[k]].error > tolerance)
            return roots[k];
    return result->worst;
}

static ga_status verdict(ga_derivative_check *result, double tolerance, double t,
                         ga_report *report)
{
    const ga_derivative which = result->worst = culprit(result, tolerance);
    if (!result->block[which].checked || result->block[which].error <= tolerance)
        return ga_fail(report, GA_OK, "%s", "");
    ga_fail(
        report, GA_ERR_DERIVATIVE,
        "%s, row %d, column %d: given %.9g, finite difference %.9g (error %.2g at t = %.9g)",
        ga_derivative_name(which), result->block[which].row, result->block[which].column,
        result->block[which].given, result->block[which].expected, result->block[which].error,
        t);
    if (report) {
        report->time = t;
        report->row = result->block[which].row;
        report->column = result->block[which].column;
    }
    return GA_ERR_DERIVATIVE;
}

ga_status ga_system_check(const ga_system *system, const ga_derivative_check_def *def,
                          ga_derivative_check *result, ga_report *report)
{
    GA_TRY(ga_system_validate(system, report));
    if (!def || !result)
        return ga_fail(report, GA_ERR_ARGUMENT, "a definition and a result are needed");
    GA_TRY(ga_check_own_size("ga_derivative_check_def", def->struct_size, sizeof *def, report));
    const ga_point *at = &def->at;
    const double tolerance = def->tolerance;
    if (!at->q || !at->v)
        return ga_fail(report, GA_ERR_ARGUMENT, "a state (q and v) is needed");
    if (!(tolerance >= 0))
        return ga_fail(report, GA_ERR_ARGUMENT, "tolerance %g is negative", tolerance);
    memset(result, 0, sizeof *result);
    checker c = {.at = *at, .result = result};
    ga_status status = create(&c, system);
    if (status == GA_OK) {
        if (!c.at.vd) c.at.vd = c.zero;
        const size_t m = (size_t)c.given.m, p = (size_t)c.given.p;
        if (at->lambda) memcpy(c.multipliers, at->lambda, m * sizeof *c.multipliers);
        if (at->psi) memcpy(c.multipliers + m, at->psi, p * sizeof *c.multipliers);
        c.at.lambda = c.multipliers;
        c.at.psi = c.multipliers + m;
        status = check_holonomic(&c);
        if (status == GA_OK) status = check_nonholonomic(&c);
        if (status == GA_OK) status = check_tangents(&c);
    }
    if (status == GA_OK)
        status = verdict(result, tolerance > 0 ? tolerance : 1e-5, at->t, report);
    else if (status == GA_ERR_MEMORY)
        ga_fail(report, status, "out of memory");
    else {
        const ga_dae *failed = c.given.fault.status      ? &c.given
                               : c.tangents.fault.status ? &c.tangents
                                                         : &c.gradients;
        ga_dae_explain(failed, at->t, report);
    }
    destroy(&c);
    return status;
}
