/* A simulation step by step, its inputs, and forces of the program that runs it. */
#include "api/sim.h"
#include "base/memory.h"
#include "base/report.h"
#include "data/read.h"
#include "element/observe.h"
#include "model/given.h"

#include <string.h>

void ga_sim_reset(ga_sim *sim)
{
    if (sim->busy) return;
    sim->from_t = sim->given.begin;
    memcpy(sim->from_q, sim->q0, (size_t)sim->assembly->nq * sizeof *sim->q0);
    memcpy(sim->from_v, sim->v0, (size_t)sim->assembly->nv * sizeof *sim->v0);
    memcpy(sim->now_q, sim->q0, (size_t)sim->assembly->nq * sizeof *sim->q0);
    memcpy(sim->now_v, sim->v0, (size_t)sim->assembly->nv * sizeof *sim->v0);
    sim->running = sim->stepped = sim->failed = sim->fed = false;
    sim->fed_from = sim->from_t;
    sim->t = ga_sim_shown_time(sim, sim->from_t);
    sim->step = 0;
    for (int k = 0; k < sim->model->inputs.count; ++k)
        sim->assembly->inputs[k] = (ga_input_line){.value = sim->model->inputs.inputs[k].start};
    ga_assembly_remember(sim->assembly, sim->from_t, sim->from_q, sim->from_v);
}

double ga_sim_time_slack(const ga_sim *sim, double t)
{
    return 1e-12 * fmax(fabs(t), sim->def.t_end - sim->def.t_start);
}

/* What is left of the last step is told first. If an event in it came before the end of a ramp,
 * that end is still ahead. */
static bool is_to_be_renewed(ga_sim *sim)
{
    const double now = ga_integrator_time(sim->integrator);
    if (!sim->stepped || !sim->running || !sim->fed) return sim->fed = false;
    if (ga_run_reached(&sim->integrator->run) < now) return false;
    sim->fed = false;
    return sim->fed_from - now < 2 * ga_sim_time_slack(sim, now);
}

ga_status ga_sim_go_on(ga_sim *sim, ga_report *report)
{
    const bool renew = is_to_be_renewed(sim);
    if (!sim->stepped) return ga_sim_run_begin(sim, report);
    if (!renew) return GA_OK;
    sim->balance.renewed = sim->busy = true;
    const ga_status status = ga_integrator_run_renew(sim->integrator, sim->fed_from, report);
    sim->balance.renewed = false;
    return ga_sim_conclude(sim, status, report);
}

double ga_sim_next_corner(const ga_sim *sim)
{
    const double now = ga_integrator_time(sim->integrator);
    double next = INFINITY;
    for (int k = 0; k < sim->model->inputs.count; ++k) {
        const ga_input_line *line = sim->assembly->inputs + k;
        if (line->rate != 0 && line->until - now > ga_sim_time_slack(sim, now))
            next = fmin(next, line->until);
    }
    return next;
}

ga_status ga_sim_has_ended(const ga_sim *sim, ga_report *report)
{
    return ga_fail(report, GA_ERR_STATE, "the simulation has %s, at t = %.9g s",
                   sim->failed ? "failed" : "ended", sim->t);
}

/* Ready for a step. */
static ga_status be_ready(ga_sim *sim, ga_report *report)
{
    if (!sim->stepped) GA_TRY(ga_sim_go_on(sim, report));
    return sim->running ? GA_OK : ga_sim_has_ended(sim, report);
}

/* The state and the channels at a time up to which all has been told. */
static void stand(ga_sim *sim, double t)
{
    const ga_sample at = ga_run_sample(&sim->integrator->run, t);
    ga_sim_stand_at(sim, &at);
}

ga_status ga_sim_step(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    GA_TRY(be_ready(sim, report));
    ga_run_look_to(&sim->integrator->run, INFINITY);
    if (sim->running) GA_TRY(ga_sim_run_step(sim, report));
    stand(sim, ga_integrator_time(sim->integrator));
    return GA_OK;
}

ga_status ga_sim_advance(ga_sim *sim, double t, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    GA_TRY(ga_sim_check_end(sim, report));
    const double slack = ga_sim_time_slack(sim, sim->def.t_end);
    if (!(t >= sim->t - slack && t <= sim->def.t_end + slack))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "cannot advance from t = %.9g s to %.9g s: only forward, within the run "
                       "from %.9g s to %.9g s",
                       sim->t, t, sim->def.t_start, sim->def.t_end);
    if (!sim->stepped || t > sim->t + slack) GA_TRY(be_ready(sim, report));
    /* where the run ends, all is told */
    const bool whole = t >= sim->given.end - slack;
    ga_run_look_to(&sim->integrator->run, whole ? INFINITY : t);
    while (sim->running && ga_run_reached(&sim->integrator->run) < t - slack)
        GA_TRY(ga_sim_run_step(sim, report));
    stand(sim,
          fmin(ga_run_reached(&sim->integrator->run), ga_integrator_time(sim->integrator)));
    if (sim->t < t - slack) return ga_sim_has_ended(sim, report);
    sim->t = t;
    return GA_OK;
}

static ga_status start_from(ga_sim *sim, const double *q, const double *v, ga_report *report)
{
    sim->from_t = fmax(sim->t, sim->given.begin);
    memcpy(sim->from_q, q, (size_t)sim->assembly->nq * sizeof *q);
    memcpy(sim->from_v, v, (size_t)sim->assembly->nv * sizeof *v);
    sim->stepped = false;
    return ga_sim_start(sim, report);
}

ga_status ga_sim_set_state(ga_sim *sim, const double *q, const double *v, ga_report *report)
{
    const int nq = sim->assembly->nq, nv = sim->assembly->nv;
    GA_TRY(ga_sim_check_outside(sim, report));
    for (int k = 0; k < nq + nv; ++k)
        if (!isfinite(k < nq ? q[k] : v[k - nq]))
            return ga_fail(report, GA_ERR_ARGUMENT, "the state is not finite");
    GA_TRY(ga_sim_check_end(sim, report));
    if (!(sim->t < sim->given.end)) return ga_sim_has_ended(sim, report);
    const size_t size = ga_sim_save_size(sim);
    unsigned char *before = GA_NEW(unsigned char, size);
    if (!before) return ga_fail(report, GA_ERR_MEMORY, "no memory to keep the state");
    ga_status status = ga_sim_save(sim, before, size, report);
    if (status == GA_OK) {
        status = start_from(sim, q, v, report);
        /* if that fails, too, the simulation is at its initial state */
        if (status != GA_OK) (void)ga_sim_load(sim, before, size, NULL);
    }
    ga_free(before);
    return status;
}

int ga_sim_input(const ga_sim *sim, const char *name)
{
    for (int k = 0; k < sim->model->inputs.count; ++k)
        if (strcmp(sim->model->inputs.inputs[k].name, name) == 0) return k;
    return -1;
}

double ga_sim_input_value(const ga_sim *sim, int input)
{
    if (input < 0 || input >= sim->model->inputs.count) return NAN;
    return ga_input_value(sim->assembly->inputs + input, sim->t);
}

/* Something else acts from the current time on: a step that has gone beyond is made again, up
 * to here, with what has acted so far. */
static ga_status end_step_here(ga_sim *sim, ga_report *report)
{
    if (!sim->stepped || !sim->running ||
        ga_run_reached(&sim->integrator->run) == ga_integrator_time(sim->integrator))
        return GA_OK;
    const double t = sim->t;
    sim->busy = true;
    GA_TRY(ga_sim_conclude(sim, ga_integrator_run_cut(sim->integrator, report), report));
    stand(sim, ga_integrator_time(sim->integrator));
    sim->t = t;
    return GA_OK;
}

/* What an element prescribes at the current time, with its rate, if the inputs are these. */
static void prescribed(const ga_sim *sim, const ga_given *given, const ga_input_line *inputs,
                       double f[3])
{
    const ga_element_state state = {.t = sim->t, .inputs = inputs};
    const void *list = (const char *)given->element + given->element->type->observation_at;
    ga_observation_rates(list, &state, given->function, f);
}

/* A prescribed position cannot jump; where its rate jumps, that is an impact. */
static ga_status check_given(ga_sim *sim, const ga_given *given, const ga_input_line *before,
                             ga_report *report)
{
    static const double none = 1e-12;
    const ga_element *element = given->element;
    double old[3], new[3];
    prescribed(sim, given, before, old);
    prescribed(sim, given, sim->assembly->inputs, new);
    for (int k = 0; k < 2; ++k)
        if (!isfinite(new[k]))
            return ga_fail(report, GA_ERR_ARGUMENT, "%s.%s is not finite with this input",
                           element->name, given->field->name);
    const double jump = fabs(new[0] - old[0]);
    const bool jumps = jump > none * fmax(fabs(new[0]), fabs(old[0]));
    if (given->level == GA_GIVEN_POSITION && jumps)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "%s.%s would jump from %.6g to %.6g at t = %.9g s, which no mechanism "
                       "can follow; change the input with ga_sim_ramp_input, or prescribe a "
                       "velocity",
                       element->name, given->field->name, old[0], new[0], sim->t);
    return GA_OK;
}

/* The inputs have changed at the current time, in the middle of a run. */
static ga_status check_inputs(ga_sim *sim, const ga_input_line *before, ga_report *report)
{
    ga_given given;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (!element->type->inputs_only) continue;
        for (int k = 0; given = ga_given_of(element, k), given.function; ++k)
            GA_TRY(check_given(sim, &given, before, report));
    }
    return GA_OK;
}

static ga_status set_line(ga_sim *sim, int input, ga_input_line line, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    const int count = sim->model->inputs.count;
    ga_input_line *all = sim->assembly->inputs, *now = all + input, before = *now;
    const bool same = ga_input_value(now, sim->t) == line.value && line.rate == 0 &&
                      (now->rate == 0 || now->until <= sim->t);
    if (same) return GA_OK;
    if (sim->stepped && sim->running) {
        memcpy(sim->work.inputs, all, (size_t)count * sizeof *all);
        *now = line;
        const ga_status status = check_inputs(sim, sim->work.inputs, report);
        *now = before;
        if (status != GA_OK) return status;
    }
    GA_TRY(end_step_here(sim, report));
    *now = line;
    sim->fed = true;
    sim->fed_from = sim->t;
    return GA_OK;
}

ga_status ga_sim_set_input(ga_sim *sim, int input, double value, ga_report *report)
{
    if (input < 0 || input >= sim->model->inputs.count || !isfinite(value))
        return ga_fail(report, GA_ERR_ARGUMENT, "no such input, or its value is not finite");
    return set_line(sim, input, (ga_input_line){.value = value, .t = sim->t}, report);
}

ga_status ga_sim_ramp_input(ga_sim *sim, int input, double value, double until,
                            ga_report *report)
{
    if (input < 0 || input >= sim->model->inputs.count || !isfinite(value))
        return ga_fail(report, GA_ERR_ARGUMENT, "no such input, or its value is not finite");
    if (!(until - sim->t > ga_sim_time_slack(sim, sim->t) && isfinite(until)))
        return ga_fail(report, GA_ERR_ARGUMENT, "a ramp from t = %.9g s cannot end at %.9g s",
                       sim->t, until);
    const double now = ga_sim_input_value(sim, input);
    return set_line(sim, input,
                    (ga_input_line){.value = now,
                                    .rate = (value - now) / (until - sim->t),
                                    .t = sim->t,
                                    .until = until},
                    report);
}

int ga_sim_position_count(const ga_sim *sim) { return sim->assembly->nq; }

int ga_sim_velocity_count(const ga_sim *sim) { return sim->assembly->nv; }

const double *ga_sim_positions(const ga_sim *sim) { return sim->now_q; }

const double *ga_sim_velocities(const ga_sim *sim) { return sim->now_v; }

int ga_sim_is_over(const ga_sim *sim) { return sim->stepped && !sim->running; }

int ga_sim_channel(const ga_sim *sim, const char *name)
{
    for (int k = 0; k < sim->channels.count; ++k)
        if (strcmp(sim->channels.items[k].channel.name, name) == 0) return k;
    return -1;
}

const double *ga_sim_channel_values(const ga_sim *sim, int k)
{
    if (k < 0 || k >= sim->channels.count) return NULL;
    return sim->channels.values + sim->channels.items[k].at;
}

/* --- forces of the program ---------------------------------------------------------------- */

/* The k-th force by callback, null past the last. */
static const ga_element *callback_force(const ga_model *model, int k)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->callback_count && k-- == 0) return model->elements[e];
    return NULL;
}

static const char *callback_name(void *model, int k)
{
    const ga_element *force = callback_force(model, k);
    return force ? force->name : NULL;
}

static ga_status refuse_force(const ga_sim *sim, const char *name, const char *bare,
                              ga_report *report)
{
    const ga_model *model = sim->model;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        if (element->name && element->type->section && strcmp(element->name, bare) == 0 &&
            !element->callback_count)
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "%s.%s has the type %s: only forces of type callback take one",
                           element->type->section, bare, element->type->name);
    }
    const char *near = ga_suggest(bare, (void *)model, callback_name);
    if (near)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "there is no force `%s`; did you mean `forces.%s`?", name, near);
    if (!model->callback_count)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "there is no force `%s`: the model has no force of type callback", name);
    return ga_fail(report, GA_ERR_ARGUMENT,
                   "there is no force `%s`; the first one of type callback is `forces.%s`",
                   name, callback_name((void *)model, 0));
}

ga_status ga_sim_set_force(ga_sim *sim, const char *name, ga_sim_force *callback, void *user,
                           ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    static const char section[] = "forces.";
    const bool full = strncmp(name, section, strlen(section)) == 0;
    const char *bare = full ? name + strlen(section) : name;
    for (int k = 0; full && k < sim->model->callback_count; ++k) {
        const ga_element *force = callback_force(sim->model, k);
        if (strcmp(force->name, bare) != 0) continue;
        GA_TRY(end_step_here(sim, report));
        sim->fed_from = sim->t;
        sim->assembly->callbacks[force->callback] = (ga_callback_slot){callback, user};
        sim->fed = true;
        return GA_OK;
    }
    return refuse_force(sim, name, bare, report);
}
