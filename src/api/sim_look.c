/* What users may ask of a simulation. */
#include "api/sim.h"
#include "api/sim_report.h"
#include "base/memory.h"
#include "base/report.h"

#include <string.h>

double ga_sim_time(const ga_sim *sim) { return sim->t; }

double ga_sim_step_size(const ga_sim *sim) { return sim->step; }

int ga_sim_event_count(const ga_sim *sim) { return sim->model->event_count; }

int ga_sim_redundant_count(const ga_sim *sim)
{
    return ga_integrator_redundant_count(sim->integrator);
}

const char *ga_sim_warning(const ga_sim *sim, int k)
{
    return ga_sim_get_warning(sim, k).message;
}

ga_warning ga_sim_get_warning(const ga_sim *sim, int k)
{
    return ga_warnings_get(&sim->warnings, k);
}

int ga_sim_channel_count(const ga_sim *sim) { return sim->channels.count; }

ga_channel ga_sim_get_channel(const ga_sim *sim, int k)
{
    if (k < 0 || k >= sim->channels.count) return (ga_channel){0};
    return sim->channels.items[k].channel;
}

const double *ga_sim_values(const ga_sim *sim) { return sim->channels.values; }

int ga_sim_value_count(const ga_sim *sim) { return sim->channels.value_count; }

ga_sim_summary ga_sim_get_summary(const ga_sim *sim)
{
    return (ga_sim_summary){.t = sim->t,
                            .statistics = ga_integrator_statistics(sim->integrator),
                            .control = ga_integrator_control_statistics(sim->integrator),
                            .initial = sim->balance.initial,
                            .final = sim->balance.energy,
                            .methods = ga_integrator_method_use(sim->integrator),
                            .energy_drift_max = sim->balance.drift_max,
                            .energy_scale = sim->balance.scale,
                            .energy_round_off = ga_sim_energy_round_off(
                                sim->assembly,
                                sim->balance.largest_kinetic + sim->balance.largest_potential,
                                sim->t - sim->def.t_start)};
}

const char *ga_sim_row_element(const ga_sim *sim, int row)
{
    int local;
    const ga_element *element = ga_assembly_row(sim->assembly, row, &local);
    return element ? element->name : "";
}

const char *ga_sim_row_name(const ga_sim *sim, int row)
{
    ga_row_text(sim->assembly, row, sim->found.row_text);
    return sim->found.row_text;
}

const char *ga_sim_coordinate_body(const ga_sim *sim, int k)
{
    int node = ga_assembly_column(sim->assembly, k);
    return node >= 0 ? sim->model->nodes[node].name : "";
}

ga_sim_element ga_sim_get_element(const ga_sim *sim, int k)
{
    if (k < 0 || k >= sim->model->element_count) return (ga_sim_element){NULL, NULL, 0};
    const ga_element *element = sim->model->elements[k];
    const ga_element_type *type = element->type;
    return (ga_sim_element){element->name, type->kind ? type->kind(element) : type->name,
                            element->rows + element->speed_rows};
}

/* --- looking at the start ----------------------------------------------------------------- */

ga_status ga_sim_look(ga_sim *sim, ga_sim_pose pose, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    const ga_model *model = sim->model;
    const double *q = pose == GA_POSE_GIVEN ? sim->q0 : ga_integrator_q(sim->integrator);
    if (!sim->found.gaps) sim->found.gaps = GA_NEW(ga_gap, model->element_count);
    if (!sim->found.gaps)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d elements",
                       model->element_count);
    memset(sim->work.vd, 0, (size_t)sim->assembly->nv * sizeof *sim->work.vd);
    memset(sim->work.multipliers, 0,
           (size_t)(model->rows + model->speed_rows) * sizeof *sim->work.multipliers);
    const ga_sample at = {.t = sim->def.t_start,
                          .q = q,
                          .v = sim->v0,
                          .vd = sim->work.vd,
                          .lambda = sim->work.multipliers,
                          .psi = sim->work.multipliers + model->rows,
                          .step = NAN};
    ga_sim_fill_channels(sim, &at);
    sim->found.gap_count = ga_gaps_find(sim->assembly, sim->def.t_start, q, sim->found.gaps);
    return GA_OK;
}

ga_gap ga_sim_get_gap(const ga_sim *sim, int k)
{
    return k >= 0 && k < sim->found.gap_count ? sim->found.gaps[k] : (ga_gap){0};
}

char *ga_sim_scene(const ga_sim *sim)
{
    return ga_gaps_scene(sim->model, sim->found.gap_count, sim->found.gaps);
}
