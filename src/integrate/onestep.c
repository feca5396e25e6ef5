/* The methods by name, and what can be said of any of them. */
#include "integrate/onestep.h"

#include "base/extremes.h"
#include "base/report.h"
#include "system/consistent.h"

#include <math.h>
#include <string.h>

#define GA_ONESTEP(object) extern const ga_onestep_type object;
#include "integrate/method.def"
#undef GA_ONESTEP

const ga_onestep_type *ga_onestep_find(const char *name)
{
    static const ga_onestep_type *const methods[] = {
#define GA_ONESTEP(object) &object,
#include "integrate/method.def"
#undef GA_ONESTEP
    };
    for (size_t k = 0; k < sizeof methods / sizeof *methods; ++k)
        if (!strcmp(methods[k]->name, name)) return methods[k];
    return NULL;
}

ga_status ga_onestep_check(const ga_system *system, const ga_integrator_def *def,
                           ga_report *report)
{
    GA_TRY(ga_system_validate(system, report));
    if ((unsigned)def->solver > GA_SOLVER_BLOCK)
        return ga_fail(report, GA_ERR_ARGUMENT, "solver has the unknown value %d",
                       (int)def->solver);
    if (def->max_halvings < 0 || def->max_halvings > 50)
        return ga_fail(report, GA_ERR_ARGUMENT, "max_halvings = %d: expected 0 to 50",
                       def->max_halvings);
    if (!(def->max_projection >= 0))
        return ga_fail(report, GA_ERR_ARGUMENT, "max_projection = %g: expected at least 0",
                       def->max_projection);
    return GA_OK;
}

void ga_onestep_connect(ga_onestep *m, const ga_onestep_type *type, ga_consistent *c,
                        ga_statistics *stats, int max_halvings, ga_solution now)
{
    *m = (ga_onestep){.type = type,
                      .dae = c->dae,
                      .consistent = c,
                      .output = c,
                      .kind = c->dae->kind,
                      .velocity_level = true,
                      .max_halvings = max_halvings,
                      .jump_part = 0.1,
                      .unmet = -1,
                      .now = now,
                      .stats = stats};
}

ga_consistent *ga_onestep_output(ga_onestep *m)
{
    if (m->output != m->consistent)
        ga_redundancy_copy(&m->output->redundancy, &m->consistent->redundancy);
    return m->output;
}

/* It may be a start next to a singular position. */
void ga_onestep_look_at_start(ga_onestep *m)
{
    const ga_solution *now = &m->now;
    const double pivot = ga_consistent_pivot(m->consistent, now->t, now->q, now->v);
    m->pivot = ga_larger(m->pivot, pivot);
    m->root_old = m->root = sqrt(m->consistent->least);
    m->root_start = ga_larger(m->root_start, m->root);
}

void ga_onestep_look_at_end(ga_onestep *m)
{
    if (!m->dae->mp) return;
    m->root_old = m->root;
    m->root = sqrt(ga_consistent_smallest(m->consistent));
}

static const double SMALL_PIVOT = 1e-2, SMALL_PART = 0.02;

bool ga_onestep_is_weak(const ga_onestep *m)
{
    if (!m->dae->mp) return false;
    const double pivot = m->consistent->saddle.pivot;
    return !(pivot > ga_smaller(SMALL_PIVOT, SMALL_PART * m->pivot));
}

double ga_onestep_steps_to_singular(const ga_onestep *m, double h)
{
    const double fall = (m->root_old - m->root) * h / m->now.h;
    return fall > 0 ? m->root / fall : INFINITY;
}

ga_status ga_onestep_accelerate(ga_onestep *m, double t, const double *q, const double *v,
                                double *vd, double *multipliers)
{
    return ga_consistent_acceleration(ga_onestep_output(m), t, q, v, vd, multipliers);
}

ga_status ga_onestep_record(ga_onestep *m, double t, const double *q, const double *v, double h)
{
    ga_consistent *c = m->consistent;
    ga_dae *dae = m->dae;
    m->unmet = -1;
    if (!dae->mp) return GA_OK;
    double *Phi = c->residual, *w = c->c;
    GA_TRY(ga_dae_constraint(dae, t, q, Phi));
    GA_TRY(ga_dae_velocity(dae, t, q, v, c->saddle.G, w));
    if (c->redundancy.found.count) {
        const double size = 1 + ga_dae_translation(dae, q);
        const double speed = ga_norm_max(dae->nm, v) + size / h;
        m->unmet = ga_consistent_unmet(c, dae->m, Phi, size);
        if (m->unmet < 0) m->unmet = ga_consistent_unmet(c, dae->mp, w, speed);
        if (m->unmet >= 0) return GA_ERR_INCONSISTENT;
    }
    ga_statistics *s = m->stats;
    s->position_residual_max = ga_larger(s->position_residual_max, ga_norm_max(dae->m, Phi));
    s->velocity_residual_max = ga_larger(s->velocity_residual_max, ga_norm_max(dae->mp, w));
    return GA_OK;
}

bool ga_step_may_retry(ga_status status)
{
    return status != GA_ERR_CALLBACK && status != GA_ERR_MEMORY;
}

void ga_onestep_explain(const ga_onestep *m, ga_status status, double h, ga_report *report)
{
    const double t = m->now.t;
    const bool told = m->type->explain && m->type->explain(m, status, h, report);
    if (told) {
    } else if (status == GA_ERR_STEP_SIZE)
        ga_fail(
            report, status,
            "at t = %.9g the error control needs a step of %.3g, below the smallest allowed", t,
            h);
    else if (status == GA_ERR_INCONSISTENT && m->unmet >= 0) {
        ga_fail(report, status,
                "in the step from t = %.9g with h = %.3g constraint %d contradicts those it "
                "depends on",
                t, h, m->unmet);
        if (report) report->row = m->unmet;
    } else if (status == GA_ERR_MEMORY)
        ga_fail(report, status, "out of memory in the step from t = %.9g", t);
    else if (status == m->dae->fault.status)
        ga_dae_explain(m->dae, t, report);
    else
        ga_fail(report, status, "%s, at t = %.9g", ga_status_text(status), t);
    if (!report) return;
    report->time = t;
    report->step = h;
}
