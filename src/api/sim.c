/* <galpha/sim.h>: a model, an integrator, and what goes on between them: creation, starts,
 * runs. */
#include "api/sim.h"
#include "api/sim_explain.h"
#include "api/sim_report.h"
#include "api/sim_settings.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"

#include <string.h>

static ga_status take_memory(ga_sim *sim)
{
    const ga_model *model = sim->model;
    int nq = sim->assembly->nq, nv = sim->assembly->nv, mp = model->rows + model->speed_rows;
    int gradient = sim->assembly->target[GA_TARGET_GRADIENT].count +
                   sim->assembly->target[GA_TARGET_SPEED_GRADIENT].count;
    bool memory =
        (sim->q0 = GA_NEW(double, nq)) && (sim->v0 = GA_NEW(double, nv)) &&
        (sim->from_q = GA_NEW(double, nq)) && (sim->from_v = GA_NEW(double, nv)) &&
        (sim->now_q = GA_NEW(double, nq)) && (sim->now_v = GA_NEW(double, nv)) &&
        (sim->work.q = GA_NEW(double, nq)) && (sim->work.v = GA_NEW(double, nv)) &&
        (sim->work.vd = GA_NEW(double, nv)) && (sim->work.multipliers = GA_NEW(double, mp)) &&
        (sim->work.scheme = GA_NEW(double, mp)) && (sim->balance.last_v = GA_NEW(double, nv)) &&
        (sim->balance.last_vd = GA_NEW(double, nv)) &&
        (sim->work.now_vd = GA_NEW(double, nv)) && (sim->work.direction = GA_NEW(double, nv)) &&
        (sim->work.jump = GA_NEW(double, nv)) &&
        (sim->work.residual = GA_NEW(double, mp + gradient)) &&
        (sim->work.memory = GA_NEW(double, model->memory_count)) &&
        (sim->work.kept_memory = GA_NEW(double, model->memory_count)) &&
        (sim->work.locks = GA_NEW(ga_lock_finding, model->element_count)) &&
        (sim->event_element = GA_NEW(int, model->event_count)) &&
        (sim->work.contacts = GA_NEW(ga_contact, model->event_count)) &&
        (sim->unilateral = GA_NEW(bool, model->event_count)) &&
        (sim->impact_errors = GA_NEW(ga_impact_errors, model->event_count)) &&
        (sim->work.inputs = GA_NEW(ga_input_line, model->inputs.count)) &&
        (sim->found.row_text = GA_NEW(char, GA_ROW_TEXT));
    if (!memory) return GA_ERR_MEMORY;
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; k < model->elements[e]->event_count; ++k) {
            sim->event_element[model->elements[e]->event + k] = e;
            sim->unilateral[model->elements[e]->event + k] = true;
        }
    return GA_OK;
}

/* From here on waking a thread costs less than it saves. */
enum { MANY_BODIES = 4000, FEW_BODIES = 512 };

static ga_status create_pool(ga_sim *sim)
{
    int threads = sim->def.threads;
    if (threads == 0)
        threads = sim->model->node_count >= MANY_BODIES && ga_pool_processors() > 1 ? 2 : 1;
    if (threads == 1 || sim->model->node_count < FEW_BODIES) return GA_OK;
    GA_TRY(ga_pool_create(threads, &sim->pool));
    ga_assembly_use(sim->assembly, sim->pool);
    return GA_OK;
}

/* Of ga_control.given_step: the longest step of the method. */
static double given_steps(const ga_sim *sim)
{
    switch (sim->def.integrator.method) {
    case GA_METHOD_EXPLICIT:
    case GA_METHOD_AUTO: /* as the method it begins with */
        return GA_EXPLICIT_GIVEN_STEPS;
    case GA_METHOD_RADAU:
        return GA_RADAU_GIVEN_STEPS;
    default:
        return 1;
    }
}

static ga_status create(ga_sim *sim, ga_messages *messages, ga_report *report)
{
    const ga_model *model = sim->model;
    GA_TRY(ga_assembly_create(model, sim->def.kinematics == GA_KINEMATICS_SE3, &sim->assembly,
                              report));
    if (take_memory(sim) != GA_OK || create_pool(sim) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    const ga_channels_def chosen = {
        .count = sim->def.channel_count, .names = sim->def.channels, .motion = sim->def.motion};
    GA_TRY(ga_channels_create(model, &chosen, messages, &sim->channels, report));
    ga_sim_warn_model(&sim->lasting, model);
    const ga_given_limits limits = {.fixed_step =
                                        sim->def.control.relative > 0 ? 0 : sim->def.step,
                                    .max_step = sim->def.control.max_step,
                                    .given_steps = given_steps(sim)};
    GA_TRY(ga_given_find(model, sim->def.t_start, sim->def.t_end, limits, &sim->given,
                         &sim->lasting, messages, report));
    /* start values must not look across a jump */
    if (sim->given.changes) sim->def.integrator.start_difference = GA_DIFFERENCE_FORWARD;
    sim->loaded = ga_sim_is_loaded(model);
    ga_assembly_initial(sim->assembly, sim->q0, sim->v0);
    ga_sim_reset(sim);
    GA_TRY(ga_integrator_create(&sim->assembly->system, &sim->def.integrator, &sim->integrator,
                                report));
    if (ga_integrator_use(sim->integrator, sim->pool) != GA_OK ||
        (sim->loaded && ga_integrator_prepare_reactions(
                            sim->integrator, sim->def.integrator.solver, sim->pool) != GA_OK))
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    while (ga_integrator_warning(sim->integrator, sim->method_warnings)) ++sim->method_warnings;
    return GA_OK;
}

ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                        ga_messages *messages, ga_report *report)
{
    *sim = NULL;
    if (def) GA_TRY(ga_check_size("ga_sim_def", def->struct_size, sizeof *def, report));
    *sim = GA_NEW(ga_sim, 1);
    if (!*sim) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    (*sim)->model = model;
    (*sim)->def = def ? *def : ga_sim_def_of(model);
    ga_sim_settings_choose(&(*sim)->def);
    (*sim)->lasting.fixed_steps = !((*sim)->def.control.relative > 0);
    ga_status status = ga_sim_settings_check(&(*sim)->def, report);
    if (status == GA_OK) status = create(*sim, messages, report);
    if (status != GA_OK) {
        ga_sim_destroy(*sim);
        *sim = NULL;
    }
    return status;
}

void ga_sim_destroy(ga_sim *sim)
{
    if (!sim) return;
    ga_integrator_destroy(sim->integrator);
    ga_assembly_destroy(sim->assembly);
    ga_pool_destroy(sim->pool);
    ga_channels_destroy(&sim->channels);
    ga_given_free(&sim->given);
    void *memory[] = {sim->q0,
                      sim->v0,
                      sim->from_q,
                      sim->from_v,
                      sim->now_q,
                      sim->now_v,
                      sim->work.q,
                      sim->work.v,
                      sim->work.vd,
                      sim->work.multipliers,
                      sim->work.scheme,
                      sim->balance.last_v,
                      sim->balance.last_vd,
                      sim->work.now_vd,
                      sim->work.direction,
                      sim->work.jump,
                      sim->work.residual,
                      sim->work.memory,
                      sim->work.kept_memory,
                      sim->work.locks,
                      sim->event_element,
                      sim->work.contacts,
                      sim->unilateral,
                      sim->impact_errors,
                      sim->work.inputs,
                      sim->found.redundancies,
                      sim->found.moved,
                      sim->found.joints,
                      sim->found.gaps,
                      sim->found.directions,
                      sim->found.row_text,
                      (void *)sim->found.with};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(sim);
}

/* --- running ------------------------------------------------------------------------------ */

static bool has_stiction(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->event_count && model->elements[e]->host) return true;
    return false;
}

static ga_status forget(ga_sim *sim, ga_report *report)
{
    sim->started = sim->lost = sim->balance.impact = false;
    sim->forbidden.stop = NULL;
    sim->balance.impact_loss = 0;
    sim->balance.energy = sim->balance.initial = (ga_energy){0};
    sim->balance.drift_max = sim->balance.drift_time = sim->balance.scale =
        sim->balance.exchanged = 0;
    sim->balance.least_kinetic = INFINITY;
    sim->balance.largest_kinetic = sim->balance.largest_potential = 0;
    sim->warnings = sim->lasting;
    sim->balance.next_break = 0;
    for (int k = 0; k < sim->model->event_count; ++k)
        ga_impact_errors_begin(sim->impact_errors + k, sim->from_t);
    sim->t = ga_sim_shown_time(sim, sim->from_t);
    sim->step = 0;
    ga_assembly_remember(sim->assembly, sim->from_t, sim->from_q, sim->from_v);
    if (has_stiction(sim->model) || (sim->model->event_count && ga_sim_is_driven(sim->model)))
        GA_TRY(ga_sim_choose_locks(sim, report));
    return GA_OK;
}

/* Whether the solution has nothing to do with the motion any more. */
static bool has_lost_balance(const ga_sim *sim)
{
    static const double lost = 0.5;
    return sim->balance.drift_max >
           lost * fmax(sim->balance.exchanged, sim->balance.largest_kinetic);
}

static ga_status explain(ga_sim *sim, ga_status status, ga_report *report)
{
    if (status == GA_OK || !report) return status;
    const bool forbidden = status == GA_ERR_INCONSISTENT && sim->forbidden.stop;
    if (forbidden) {
        ga_sim_explain_forbidden(&sim->forbidden, report);
        if (report->remedy) return status;
    } else {
        ga_sim_explain(sim->assembly, sim->event_element, status, report);
    }
    if (status == GA_ERR_INCONSISTENT && !forbidden) {
        ga_sim_explain_contradiction(sim->assembly, sim->integrator, sim->q0, sim->started,
                                     report);
        ga_sim_explain_misaligned(sim->assembly, report);
    }
    if (!sim->started || status == GA_ERR_EVENTS || status == GA_ERR_MEMORY) return status;
    const bool singular = ga_warnings_have(&sim->warnings, GA_WARN_SINGULAR_START);
    const bool astray = sim->def.step > 0 && has_lost_balance(sim);
    ga_element_state state =
        ga_assembly_state(sim->assembly, sim->balance.last_t, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), NULL, NULL);
    /* positions that the mechanism would not have come to explain nothing */
    if (singular || !astray) ga_sim_explain_step(sim->assembly, &state, &sim->def, report);
    if (report->remedy) return status;
    if (singular) {
        ga_message_add(report->message, "; the start is a singular position");
        report->remedy =
            "start a few degrees beside the singular position; if the joints do not "
            "allow another, the mechanism cannot move";
    } else if (astray) {
        ga_message_add(report->message,
                       "; simulate.step = %.6g s is too large: the energy balance was off by "
                       "%.3g J at t = %.6g s, before the failure",
                       sim->def.step, sim->balance.drift_max, sim->balance.drift_time);
        report->remedy = "a smaller simulate.step, or error control: --set simulate.step=null "
                         "--set simulate.tolerance=1e-6";
    }
    return status;
}

ga_status ga_sim_check_outside(const ga_sim *sim, ga_report *report)
{
    if (!sim->busy) return GA_OK;
    return ga_fail(report, GA_ERR_STATE,
                   "a simulation cannot be changed or saved within one of its callbacks other "
                   "than pause");
}

ga_status ga_sim_start(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    GA_TRY(forget(sim, report));
    sim->running = sim->stepped = false;
    double h = sim->def.step > 0 ? sim->def.step : 1e-3;
    ga_events events = {0};
    ga_sim_describe_events(sim, &events);
    GA_TRY(explain(sim,
                   ga_integrator_start_settled(sim->integrator, sim->from_t, sim->from_q,
                                               sim->from_v, h, &events, report),
                   report));
    GA_TRY(ga_integrator_hat(sim->integrator, sim->work.vd, sim->work.multipliers,
                             sim->work.multipliers + sim->model->rows, report));
    ga_sample at = {.t = sim->from_t,
                    .q = ga_integrator_q(sim->integrator),
                    .v = ga_integrator_v(sim->integrator),
                    .vd = sim->work.vd,
                    .lambda = sim->work.multipliers,
                    .psi = sim->work.multipliers + sim->model->rows};
    if (ga_sim_warn_begin(sim))
        return ga_fail(report, GA_ERR_MEMORY, "no memory to judge the start");
    ga_sim_account(sim, &at);
    ga_sim_stand_at(sim, &at);
    return GA_OK;
}

/* Constraints that move leave no error at the ends of steps, however long, and so nothing that
 * would be controlled; but between them output and work are interpolated. And what a function
 * of time does between the ends of a step is not seen. Where nobody says how long steps may be,
 * they are at most a fixed part of the time. */
static double given_step(const ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    const bool limited = ga_sim_is_driven(sim->model) || sim->given.curved;
    if (control->max_step > 0 || !limited) return 0;
    return fmax((sim->def.t_end - sim->def.t_start) / ga_given_steps, control->min_step);
}

double ga_sim_max_step(const ga_sim *sim)
{
    const double most = sim->def.control.max_step;
    return most > 0 ? most : given_step(sim) * given_steps(sim);
}

/* Steps of fixed size are cut where they fail. Not where ten times as much energy has come from
 * nowhere as there ever was: what follows has nothing to do with the motion. */
static bool is_lost(const ga_sim *sim, double h)
{
    static const double lost = 10;
    const ga_balance *b = &sim->balance;
    const bool cut = sim->def.step > 0 && h < 0.75 * sim->def.step &&
                     ga_integrator_statistics(sim->integrator).halvings > 0;
    return cut && b->drift_max > lost * (b->initial.kinetic + b->exchanged) &&
           b->drift_max > 1e-6 * b->largest_potential &&
           b->drift_max > ga_sim_energy_round_off(sim->assembly, b->largest_kinetic,
                                                  sim->def.t_end - sim->def.t_start);
}

static ga_eval accepted(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    if (!sim->started) sim->begin = ga_sim_warn_begin(sim);
    if (sim->begin != GA_OK) return GA_EVAL_FATAL;
    ga_sim_account(sim, at);
    ga_element_state state =
        ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    state.interval = at->step;
    ga_assembly_commit(sim->assembly, &state);
    sim->t = ga_sim_shown_time(sim, at->t);
    sim->step = at->step;
    sim->lost = sim->lost || is_lost(sim, at->step);
    if (sim->lost) return GA_EVAL_FATAL;
    ga_sim_warn_step(sim);
    return sim->def.progress ? sim->def.progress(sim->def.user, sim) : GA_EVAL_OK;
}

ga_simulation ga_sim_describe_run(ga_sim *sim)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = sim->given.end;
    run.step = sim->def.step;
    run.control = sim->def.control;
    run.control.given_step = given_step(sim);
    run.output = ga_sim_put_out;
    run.accepted = accepted;
    run.user = sim;
    /* Nobody looks: at the start and the end is enough. */
    run.output_every =
        sim->def.output ? sim->def.output_every : sim->def.t_end - sim->def.t_start;
    run.multipliers = sim->def.multipliers;
    ga_sim_describe_events(sim, &run.events);
    run.breakpoint_count = sim->given.breaks.count;
    run.breakpoints = sim->given.breaks.at;
    run.stop_count = sim->given.stops.count;
    run.stops = sim->given.stops.at;
    run.duration = sim->from_t > sim->def.t_start ? sim->given.end - sim->def.t_start : 0;
    return run;
}

ga_status ga_sim_conclude(ga_sim *sim, ga_status status, ga_report *report)
{
    if (sim->begin != GA_OK)
        status = ga_fail(report, sim->begin, "no memory to judge the start");
    sim->begin = GA_OK;
    sim->busy = false;
    if (status == GA_OK && sim->lost) {
        ga_fail(report, GA_ERR_NO_CONVERGE, "Newton did not converge at t = %.9g", sim->t);
        status = GA_ERR_NO_CONVERGE;
    }
    if (status == GA_OK && !ga_run_over(&sim->integrator->run)) return GA_OK;
    sim->running = false;
    sim->failed = status != GA_OK;
    ga_sim_warn_over(sim);
    return explain(sim, status, report);
}

ga_status ga_sim_check_end(const ga_sim *sim, ga_report *report)
{
    if (!isnan(sim->def.t_end)) return GA_OK;
    return ga_fail(report, GA_ERR_INPUT,
                   "the model has no end time: add `simulate: {t_end: ...}`");
}

ga_status ga_sim_run_begin(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_check_end(sim, report));
    GA_TRY(forget(sim, report));
    const ga_simulation run = ga_sim_describe_run(sim);
    sim->running = sim->stepped = sim->busy = true;
    sim->failed = false;
    return ga_sim_conclude(sim,
                           ga_integrator_run_begin(sim->integrator, sim->from_t, sim->from_q,
                                                   sim->from_v, &run, report),
                           report);
}

ga_status ga_sim_run_step(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_go_on(sim, report));
    if (!sim->running) return GA_OK;
    const double corner = ga_sim_next_corner(sim);
    ga_run_limit(&sim->integrator->run, corner);
    sim->busy = true;
    GA_TRY(ga_sim_conclude(sim, ga_integrator_run_step(sim->integrator, report), report));
    if (ga_integrator_time(sim->integrator) >= corner - ga_sim_time_slack(sim, corner)) {
        sim->fed = true;
        sim->fed_from = corner + 1e-2 * ga_sim_time_slack(sim, corner); /* the ramp is over */
    }
    return GA_OK;
}

/* Where the last step has ended; channels keep the values of the last output. */
static void take_state(ga_sim *sim)
{
    const size_t nq = (size_t)sim->assembly->nq, nv = (size_t)sim->assembly->nv;
    memcpy(sim->now_q, ga_integrator_q(sim->integrator), nq * sizeof *sim->now_q);
    memcpy(sim->now_v, ga_integrator_v(sim->integrator), nv * sizeof *sim->now_v);
}

ga_status ga_sim_run(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    ga_sim_reset(sim);
    GA_TRY(ga_sim_run_begin(sim, report));
    take_state(sim);
    return ga_sim_continue(sim, report);
}

ga_status ga_sim_continue(ga_sim *sim, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    if (sim->stepped && sim->failed) return ga_sim_has_ended(sim, report);
    while (!ga_sim_is_over(sim)) { /* in a pause another state may be set */
        if (!sim->stepped) GA_TRY(ga_sim_go_on(sim, report));
        ga_run_look_to(&sim->integrator->run, INFINITY);
        GA_TRY(ga_sim_run_step(sim, report));
        take_state(sim);
        if (sim->def.pause && sim->def.pause(sim->def.user, sim) != GA_EVAL_OK) break;
    }
    return GA_OK;
}
