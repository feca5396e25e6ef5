/* What `galpha check` tells of a model. */
#include "api/sim.h"
#include "api/sim_joints.h"
#include "api/sim_report.h"
#include "base/memory.h"
#include "base/report.h"

#include <stdio.h>
#include <string.h>

/* Names of the other elements a redundant row depends on, each once. */
static void name_partners(const ga_sim *sim, const ga_redundant_row *row,
                          ga_sim_redundancy *out, const char **names)
{
    out->with = names;
    for (int k = 0; k < row->with_count; ++k) {
        const char *name = ga_sim_row_element(sim, row->with[k]);
        bool known = strcmp(name, out->element) == 0;
        for (int i = 0; i < out->with_count; ++i) known = known || strcmp(names[i], name) == 0;
        if (!known) names[out->with_count++] = name;
    }
}

static ga_status find_redundancies(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    int count = ga_integrator_redundant_count(sim->integrator), partners = 0;
    for (int k = 0; k < count; ++k)
        partners += ga_integrator_redundant_row(sim->integrator, k).with_count;
    ga_free(sim->found.redundancies);
    ga_free((void *)sim->found.with);
    sim->found.redundancies = GA_NEW(ga_sim_redundancy, count);
    sim->found.with = GA_NEW(const char *, partners);
    ga_free(sim->found.directions);
    sim->found.directions = ga_alloc((size_t)count, sizeof *sim->found.directions);
    if (!sim->found.redundancies || !sim->found.with || !sim->found.directions)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d redundant rows", count);
    const char **names = sim->found.with;
    for (int k = 0; k < count; ++k) {
        ga_redundant_row row = ga_integrator_redundant_row(sim->integrator, k);
        ga_sim_redundancy *out = sim->found.redundancies + k;
        out->element = ga_sim_row_element(sim, row.row);
        ga_row_text(sim->assembly, row.row, sim->found.directions[k]);
        out->direction = sim->found.directions[k];
        name_partners(sim, &row, out, names);
        names += out->with_count;
    }
    check->redundant = sim->found.redundancies;
    check->redundant_count = count;
    return GA_OK;
}

/* Nodes that the start moved by more than round-off. */
static ga_status find_moved(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    int n = sim->model->node_count;
    const double *q = ga_integrator_q(sim->integrator);
    ga_free(sim->found.moved);
    sim->found.moved = GA_NEW(ga_sim_moved, n);
    if (!sim->found.moved) return ga_fail(report, GA_ERR_MEMORY, "no memory for %d bodies", n);
    for (int i = 0; i < n; ++i) {
        double distance, angle;
        if (!ga_sim_has_moved(sim->assembly, i, sim->q0, q, &distance, &angle)) continue;
        ga_sim_moved *moved = sim->found.moved + check->moved_count++;
        *moved = (ga_sim_moved){
            .body = sim->model->nodes[i].name, .distance = distance, .angle = angle};
        const double *at = q + sim->assembly->q_at[i];
        const int dimension = sim->model->dimension;
        moved->rotation_count = ga_node_nq(sim->assembly->nodes[i]) - dimension;
        memcpy(moved->position, at, (size_t)dimension * sizeof *at);
        memcpy(moved->rotation, at + dimension, (size_t)moved->rotation_count * sizeof *at);
    }
    check->moved = sim->found.moved;
    return GA_OK;
}

static void warn_unused(ga_sim *sim)
{
    enum { MOST = 5 };
    char names[256] = "";
    const char *first = NULL;
    int count = 0;
    ga_model_parameter p;
    for (int k = 0; (p = ga_model_get_parameter(sim->model, k)).name; ++k) {
        if (p.used || ++count > MOST) continue;
        if (!first) first = p.name;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.40s", used ? ", " : "", p.name);
    }
    if (count)
        ga_warn(&sim->warnings, GA_WARN_UNUSED, first, NAN, "no expression uses %s%s%s",
                count > 1 ? "the parameters " : "the parameter ", names,
                count > MOST ? ", ..." : "");
}

static ga_status find_joints(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    check->joint_count = ga_sim_joint_count(sim->model);
    ga_free(sim->found.joints);
    sim->found.joints = GA_NEW(ga_sim_joint, check->joint_count);
    if (!sim->found.joints)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d joints", check->joint_count);
    const double *q = ga_integrator_q(sim->integrator), *v = ga_integrator_v(sim->integrator);
    const ga_element_state start =
        ga_assembly_state(sim->assembly, sim->def.t_start, q, v, NULL, NULL);
    ga_sim_joints_find(sim->model, sim->def.t_start, start.frames, sim->found.joints);
    check->joints = sim->found.joints;
    return GA_OK;
}

/* Difference quotients of everything take nv evaluations each: not for large models. */
enum { MOST_CHECKED = 600 };

/* Numbers in [-1, 1], always the same. */
static double next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)*seed / 2147483648.0 - 1;
}

/* A state near the start but not at it: functions have their kinks at t = 0, friction at rest
 * and without a pressing force, cables at their free length, and there no difference quotient
 * tells anything. */
static void step_aside(ga_sim *sim)
{
    const ga_assembly *a = sim->assembly;
    unsigned seed = 1;
    double size = 1;
    for (int k = 0; k < a->nv; ++k) size = fmax(size, fabs(sim->work.v[k]));
    for (int k = 0; k < a->nv; ++k) sim->work.direction[k] = 1e-3 * next_random(&seed);
    ga_nodes_update(sim->model->node_count, a->nodes, GA_MAP_EXP, sim->work.q,
                    sim->work.direction, sim->work.q);
    for (int k = 0; k < a->nv; ++k) sim->work.v[k] += 0.05 * size * next_random(&seed);
    const int mp = sim->model->rows + sim->model->speed_rows;
    double load = 1;
    for (int k = 0; k < mp; ++k) load = fmax(load, fabs(sim->work.multipliers[k]));
    for (int k = 0; k < mp; ++k) sim->work.multipliers[k] += 0.05 * load * next_random(&seed);
}

static ga_status check_tangents(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    check->tangent_error = NAN;
    check->tangent_worst = "not checked: the model is too large";
    if (sim->assembly->nv > MOST_CHECKED) return GA_OK;
    memcpy(sim->work.q, ga_integrator_q(sim->integrator),
           (size_t)sim->assembly->nq * sizeof(double));
    memcpy(sim->work.v, ga_integrator_v(sim->integrator),
           (size_t)sim->assembly->nv * sizeof(double));
    step_aside(sim);
    ga_derivative_check result;
    double duration = isfinite(sim->def.t_end) ? sim->def.t_end - sim->def.t_start : 1;
    const ga_derivative_check_def def = {
        .struct_size = sizeof def,
        .at = {.t = sim->def.t_start + 0.0173 * duration,
               .q = sim->work.q,
               .v = sim->work.v,
               .vd = sim->work.vd,
               .lambda = sim->work.multipliers,
               .psi = sim->work.multipliers + sim->model->rows}};
    ga_status status = ga_system_check(&sim->assembly->system, &def, &result, NULL);
    if (status == GA_ERR_MEMORY)
        return ga_fail(report, status, "no memory to check the tangents");
    if (status != GA_OK && status != GA_ERR_DERIVATIVE) {
        check->tangent_worst = ga_status_text(status);
        return GA_OK;
    }
    check->tangent_error = result.block[result.worst].error;
    check->tangent_worst = ga_derivative_name(result.worst);
    return GA_OK;
}

ga_status ga_sim_check_model(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    memset(check, 0, sizeof *check);
    check->bodies = sim->model->body_count;
    check->coordinates = sim->assembly->nv;
    check->constraints = sim->model->rows + sim->model->speed_rows;
    GA_TRY(ga_sim_start(sim, report));
    const ga_element_state state =
        ga_assembly_state(sim->assembly, sim->def.t_start, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), sim->work.multipliers,
                          sim->work.multipliers + sim->model->rows);
    check->grubler =
        check->coordinates - check->constraints + ga_sim_count_switched(sim, &state, false);
    warn_unused(sim);
    check->degrees_of_freedom = check->coordinates - ga_integrator_rank(sim->integrator);
    if (ga_integrator_is_singular(sim->integrator, &check->is_singular))
        return ga_fail(report, GA_ERR_MEMORY, "no memory to judge the start");
    GA_TRY(find_redundancies(sim, check, report));
    GA_TRY(find_moved(sim, check, report));
    GA_TRY(find_joints(sim, check, report));
    return check_tangents(sim, check, report);
}
