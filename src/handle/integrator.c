/* <galpha/integrate.h>: a one-step method behind an opaque handle. */
#include "handle/integrator.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "la/factor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ga_integrator_def_fill(ga_integrator_def *def, size_t size)
{
    if (!ga_is_own_size(def, size, sizeof *def)) return;
    *def = (ga_integrator_def){
        .struct_size = sizeof(ga_integrator_def),
        .formulation = GA_INDEX2,
        .max_projection = INFINITY,
        .max_iterations = 12,
        .max_halvings = 8,
    };
    ga_coefficients_generalized_alpha(0.9, &def->coefficients, NULL);
}

__attribute__((format(printf, 2, 3))) static void warn(ga_integrator *g, const char *format,
                                                       ...)
{
    if (g->warnings == MAX_WARNINGS) return;
    va_list args;
    va_start(args, format);
    vsnprintf(g->warning[g->warnings++], WARNING_SIZE, format, args);
    va_end(args);
}

static void warn_coefficients(ga_integrator *g)
{
    const ga_stepper *s = g->stepper;
    const ga_coefficient_properties *p = &s->properties;
    if (!p->second_order)
        warn(g,
             "the method is only first-order accurate: gamma differs by %.3g from 1/2 - "
             "alpha_m + alpha_f",
             p->order_defect);
    if (!p->unconditionally_stable)
        warn(g, "the method is not unconditionally stable: the solution may grow without bound "
                "at large steps");
    if (!p->strictly_stable_at_infinity && s->m > 0)
        warn(g, !s->form->velocity_level
                    ? "the method has no damping at infinity (rho_inf = 1): with index-3 "
                      "constraints the multipliers and accelerations do not converge"
                    : "the method has no damping at infinity (rho_inf = 1): errors of the "
                      "multipliers are never damped");
}

static ga_status create_method(const ga_system *system, const ga_integrator_def *def,
                               ga_integrator *g, ga_report *report)
{
    switch (def->method) {
    case GA_METHOD_GENERALIZED_ALPHA:
        GA_TRY(ga_alpha_type.create(system, def, &g->method, report));
        g->stepper = ga_alpha_stepper(g->method);
        return GA_OK;
    case GA_METHOD_EXPLICIT:
        return ga_explicit_type.create(system, def, &g->method, report);
    case GA_METHOD_RADAU:
        return ga_radau_type.create(system, def, &g->method, report);
    case GA_METHOD_AUTO:
        return ga_auto_type.create(system, def, &g->method, report);
    default:
        return ga_fail(report, GA_ERR_ARGUMENT, "method has the unknown value %d",
                       (int)def->method);
    }
}

ga_status ga_integrator_create(const ga_system *system, const ga_integrator_def *def,
                               ga_integrator **integrator, ga_report *report)
{
    if (!integrator) return ga_fail(report, GA_ERR_ARGUMENT, "integrator is null");
    *integrator = NULL;
    if (!def) return ga_fail(report, GA_ERR_ARGUMENT, "def is null");
    GA_TRY(ga_check_size("ga_integrator_def", def->struct_size, sizeof *def, report));
    if (def->solver == GA_SOLVER_SPARSE && !ga_factor_has_klu)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "the sparse solver is not available: galpha was built without KLU");
    ga_integrator *g = GA_NEW(ga_integrator, 1);
    if (!g) return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    g->kind = def->method;
    ga_status status = create_method(system, def, g, report);
    if (status == GA_OK) {
        g->grid = (ga_grid){.m = g->method};
        const ga_dae *dae = g->method->dae;
        const bool memory = (g->guess = GA_NEW(double, dae->mp)) &&
                            (g->hat = GA_NEW(double, dae->mp)) &&
                            (g->vd_hat = GA_NEW(double, dae->nv)) &&
                            (g->zero = GA_NEW(double, dae->nv + dae->m));
        if (!memory) status = ga_fail(report, GA_ERR_MEMORY, "out of memory");
    }
    if (status != GA_OK) {
        ga_integrator_destroy(g);
        return status;
    }
    if (g->kind == GA_METHOD_GENERALIZED_ALPHA) warn_coefficients(g);
    g->method_warnings = g->warnings;
    *integrator = g;
    return GA_OK;
}

ga_status ga_integrator_place(ga_integrator *g, double t, double *q, const double *v)
{
    return ga_consistent_position(g->method->consistent, t, q, v);
}

ga_status ga_integrator_steer(ga_integrator *g, double t, const double *q, double *v)
{
    return ga_consistent_velocity(g->method->consistent, t, q, v);
}

ga_status ga_integrator_use(ga_integrator *g, ga_pool *pool)
{
    return g->method->type->use ? g->method->type->use(g->method, pool) : GA_OK;
}

ga_status ga_integrator_prepare_reactions(ga_integrator *g, ga_solver solver, ga_pool *pool)
{
    if (g->method->dae->sys.force_uses_multipliers) return GA_OK; /* of no use there */
    GA_TRY(ga_nearby_create(g->method->dae, solver, &g->nearby));
    g->method->nearby = &g->nearby;
    return ga_saddle_use(&g->nearby.saddle, pool);
}

void ga_integrator_destroy(ga_integrator *g)
{
    if (!g) return;
    ga_run_destroy(&g->run);
    ga_nearby_destroy(&g->nearby);
    if (g->method) g->method->type->destroy(g->method);
    ga_free(g->guess);
    ga_free(g->hat);
    ga_free(g->vd_hat);
    ga_free(g->zero);
    ga_free(g);
}

static void set_guess(double *to, const double *from, int n)
{
    for (int i = 0; i < n; ++i) to[i] = from ? from[i] : 0;
}

void ga_integrator_guess(ga_integrator *g, const double *lambda, const double *psi)
{
    set_guess(g->guess, lambda, g->method->dae->m);
    set_guess(g->guess + g->method->dae->m, psi, g->method->dae->p);
}

const char *ga_integrator_warning(const ga_integrator *g, int k)
{
    return k >= 0 && k < g->warnings ? g->warning[k] : NULL;
}

static ga_status check_finite(const char *name, int n, const double *x, ga_report *report)
{
    for (int i = 0; i < n; ++i) {
        if (isfinite(x[i])) continue;
        ga_fail(report, GA_ERR_ARGUMENT, "%s[%d] = %g is not finite", name, i, x[i]);
        if (report) report->row = i;
        return GA_ERR_ARGUMENT;
    }
    return GA_OK;
}

/* The sentence ends early where there are many rows. */
static void warn_redundant(ga_integrator *g)
{
    const ga_dependence *d = &g->method->consistent->redundancy.found;
    if (d->count == 0 || g->warnings == MAX_WARNINGS) return;
    char *text = g->warning[g->warnings];
    warn(g, "%d of %d constraints are redundant, the multipliers are not unique: row%s",
         d->count, g->method->dae->mp, d->count > 1 ? "s" : "");
    for (int k = 0; k < d->count; ++k) {
        size_t used = strlen(text);
        bool full = used + 24 > WARNING_SIZE;
        if (full)
            snprintf(text + used, WARNING_SIZE - used, " ...");
        else
            snprintf(text + used, WARNING_SIZE - used, "%s %d", k ? "," : "", d->row[k]);
        if (full) return;
    }
}

ga_status ga_integrator_begin(ga_integrator *g, double t0, const double *q0, const double *v0,
                              ga_report *report)
{
    if (!g || !q0 || !v0)
        return ga_fail(report, GA_ERR_ARGUMENT, "integrator, q0 and v0 must be given");
    ga_onestep *m = g->method;
    const ga_projection *moved = &m->consistent->projection;
    g->warnings = g->method_warnings;
    g->started = false;
    ga_nearby_forget(&g->nearby);
    if (!isfinite(t0)) return ga_fail(report, GA_ERR_ARGUMENT, "t0 = %g is not finite", t0);
    GA_TRY(check_finite("q0", m->dae->nq, q0, report));
    GA_TRY(check_finite("v0", m->dae->nv, v0, report));
    GA_TRY(m->type->begin(m, t0, q0, v0, g->guess, report));
    ga_grid_begin(&g->grid, g->grid.h);
    if (moved->q > 0 || moved->v > 0)
        warn(g,
             "the initial values were not consistent: q was changed by up to %.3g, v by up to "
             "%.3g",
             moved->q, moved->v);
    warn_redundant(g);
    return GA_OK;
}

ga_status ga_integrator_start_settled(ga_integrator *g, double t0, const double *q0,
                                      const double *v0, double h, const ga_events *events,
                                      ga_report *report)
{
    if (g) g->started = false;
    if (!(h > 0 && isfinite(h)))
        return ga_fail(report, GA_ERR_ARGUMENT, "h = %g: a step must be positive and finite",
                       h);
    GA_TRY(ga_integrator_begin(g, t0, q0, v0, report));
    ga_onestep *m = g->method;
    bool stopped = false;
    if (events) GA_TRY(ga_run_settle(m, events, t0, &stopped, report));
    ga_status status = m->type->start(m, h, false);
    if (status != GA_OK) {
        if (status == GA_ERR_SINGULAR || status == GA_ERR_NO_CONVERGE)
            ga_fail(report, status,
                    "start values for steps of %.3g at t = %.9g: %s near the start", h, t0,
                    ga_status_text(status));
        else if (status == GA_ERR_MEMORY)
            ga_fail(report, status, "out of memory");
        else
            ga_dae_explain(m->dae, t0, report);
        return status;
    }
    ga_grid_begin(&g->grid, h);
    if (m->type->warm && m->type->warm(m) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "out of memory");
    g->started = true;
    return ga_fail(report, GA_OK, "%s", "");
}

ga_status ga_integrator_start(ga_integrator *g, double t0, const double *q0, const double *v0,
                              double h, ga_report *report)
{
    return ga_integrator_start_settled(g, t0, q0, v0, h, NULL, report);
}

ga_projection ga_integrator_projection(const ga_integrator *g)
{
    return g->method->consistent->projection;
}

ga_status ga_integrator_check_started(const ga_integrator *g, ga_report *report)
{
    if (!g) return ga_fail(report, GA_ERR_ARGUMENT, "integrator is null");
    if (g->started) return GA_OK;
    return ga_fail(report, GA_ERR_STATE, "ga_integrator_start has not been called, or failed");
}

ga_status ga_integrator_step(ga_integrator *g, ga_report *report)
{
    GA_TRY(ga_integrator_check_started(g, report));
    if (!(g->grid.h > 0))
        return ga_fail(
            report, GA_ERR_STATE,
            "no step size is set: call ga_integrator_start or ga_integrator_step_by");
    return ga_grid_step(&g->grid, INFINITY, report);
}

ga_status ga_integrator_step_by(ga_integrator *g, double h, ga_report *report)
{
    GA_TRY(ga_integrator_check_started(g, report));
    if (!(h > 0 && isfinite(h)))
        return ga_fail(report, GA_ERR_ARGUMENT, "h = %g: a step must be positive and finite",
                       h);
    return ga_grid_step_to(&g->grid, h, g->method->now.t + h, report);
}

ga_status ga_integrator_run(ga_integrator *g, double t_end, ga_output *output, void *user,
                            ga_report *report)
{
    GA_TRY(ga_integrator_check_started(g, report));
    const ga_solution *now = &g->method->now;
    if (!(t_end >= now->t) || !isfinite(t_end))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "t_end = %g: expected a finite time not before t = %g", t_end, now->t);
    ga_fail(report, GA_OK, "%s", "");
    if (output && now->steps == 0 && output(user, g) != GA_EVAL_OK) return GA_OK;
    while (now->t < t_end) {
        GA_TRY(ga_grid_step(&g->grid, t_end, report));
        if (output && output(user, g) != GA_EVAL_OK) break;
    }
    return ga_fail(report, GA_OK, "%s", "");
}

int ga_integrator_redundant_count(const ga_integrator *g)
{
    return g->method->consistent->redundancy.found.count;
}

ga_redundant_row ga_integrator_redundant_row(const ga_integrator *g, int k)
{
    const ga_dependence *d = &g->method->consistent->redundancy.found;
    return (ga_redundant_row){d->row[k], d->start[k + 1] - d->start[k], d->with + d->start[k]};
}

int ga_integrator_rank(const ga_integrator *g)
{
    return g->method->consistent->redundancy.rank;
}

ga_status ga_integrator_is_singular(const ga_integrator *g, int *singular)
{
    bool found = false;
    *singular = 0;
    if (ga_integrator_redundant_count(g) == 0) return GA_OK;
    const ga_status status = ga_consistent_is_singular(
        g->method->consistent->dae, g->method->now.t, g->method->now.q, &found);
    if (status == GA_ERR_MEMORY) return status;
    *singular = status == GA_OK && found;
    return GA_OK;
}

double ga_integrator_time(const ga_integrator *g) { return g->method->now.t; }
const double *ga_integrator_q(const ga_integrator *g) { return g->method->now.q; }
const double *ga_integrator_v(const ga_integrator *g) { return g->method->now.v; }
const double *ga_integrator_vd(const ga_integrator *g) { return g->method->now.vd; }
const double *ga_integrator_a(const ga_integrator *g)
{
    return g->stepper ? g->stepper->now.a : g->method->now.vd;
}
const double *ga_integrator_lambda(const ga_integrator *g)
{
    return g->method->now.multipliers;
}
const double *ga_integrator_psi(const ga_integrator *g)
{
    return g->method->now.multipliers + g->method->dae->m;
}
const double *ga_integrator_eta(const ga_integrator *g)
{
    return g->stepper ? g->stepper->now.eta : g->zero;
}
ga_method_use ga_integrator_method_use(const ga_integrator *g)
{
    if (g->kind == GA_METHOD_AUTO) return ga_auto_use(g->method);
    ga_method_use use = {.method = g->kind, .reason = "as requested"};
    use.steps[g->kind] = g->method->stats->steps;
    return use;
}
ga_statistics ga_integrator_statistics(const ga_integrator *g) { return *g->method->stats; }
int ga_integrator_matrix_size(const ga_integrator *g) { return g->stepper ? g->stepper->n : 0; }

ga_status ga_integrator_matrix(ga_integrator *g, double h, ga_scaling scaling, double *matrix,
                               ga_report *report)
{
    GA_TRY(ga_integrator_check_started(g, report));
    ga_onestep *m = g->method;
    if (!m->type->linearise)
        return ga_fail(report, GA_ERR_ARGUMENT, "the method %s has no Newton matrix",
                       m->type->name);
    if ((unsigned)scaling > GA_SCALING_DYMORE)
        return ga_fail(report, GA_ERR_ARGUMENT, "scaling has the unknown value %d",
                       (int)scaling);
    if (!(h > 0 && isfinite(h)) || !matrix)
        return ga_fail(report, GA_ERR_ARGUMENT, "h = %g must be positive, matrix not null", h);
    ga_status status = m->type->linearise(m, h, scaling, matrix);
    if (status != GA_OK) {
        ga_onestep_explain(m, status, h, report);
        return status;
    }
    return ga_fail(report, GA_OK, "%s", "");
}
