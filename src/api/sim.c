/* <galpha/sim.h>: a model, an integrator, and what goes on between them. */
#include "api/channels.h"
#include "api/integrator_use.h"
#include "api/sim_report.h"
#include "api/sim_settings.h"
#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ascending. */
typedef struct ga_times {
    int count, room;
    double *at;
} ga_times;

struct ga_sim {
    const ga_model *model;
    ga_sim_def def;
    ga_assembly *assembly;
    ga_pool *pool; /* null: one thread */
    ga_integrator *integrator;
    ga_channels channels;
    double *q0, *v0;    /* as the model gives them */
    double *q, *v, *vd; /* of a moment between two steps */
    double *multipliers;
    double *direction, *jump; /* of an impact */
    double *residual;
    int *event_element; /* whose event each function is */
    ga_times breaks, bends;

    double t, step;
    bool started; /* the first sample has been accepted */
    bool impact;  /* an impact happened, what it cost is to be counted */
    bool locked;  /* something sticks or rests, and its events depend on multipliers */
    ga_powers last;
    double last_t;
    ga_energy energy, initial;
    double balance0, drift_max, scale;

    int method_warnings; /* of the integrator, from its creation */
    ga_warnings warnings;

    /* of check */
    ga_sim_redundancy *redundancies;
    ga_sim_moved *moved;
    const char **with;
};

/* --- energy ------------------------------------------------------------------------------- */

static void powers_at(ga_sim *sim, const ga_sample *at, ga_powers *powers)
{
    ga_state state = ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    ga_assembly_powers(sim->assembly, &state, powers);
}

/* Halfway between two samples, by the dense output; false if it is not to be had. */
static bool powers_between(ga_sim *sim, double t, ga_powers *powers)
{
    double *lambda = sim->multipliers, *psi = sim->multipliers + sim->model->rows;
    if (ga_integrator_interpolate(sim->integrator, t, sim->q, sim->v, sim->vd, lambda, psi))
        return false;
    ga_sample at = {.t = t, .q = sim->q, .v = sim->v, .lambda = lambda, .psi = psi};
    powers_at(sim, &at, powers);
    return true;
}

/* Simpson's rule for what was lost and put in since the last sample. */
static void add_work(ga_sim *sim, const ga_powers *now, double t)
{
    double h = t - sim->last_t;
    ga_powers middle;
    bool any = now->dissipation != 0 || now->work != 0 || sim->last.dissipation != 0 ||
               sim->last.work != 0;
    if (h <= 0 || !any) return;
    if (!powers_between(sim, sim->last_t + h / 2, &middle)) {
        middle.dissipation = (now->dissipation + sim->last.dissipation) / 2;
        middle.work = (now->work + sim->last.work) / 2;
    }
    sim->energy.dissipated +=
        h / 6 * (sim->last.dissipation + 4 * middle.dissipation + now->dissipation);
    sim->energy.work += h / 6 * (sim->last.work + 4 * middle.work + now->work);
}

static void account(ga_sim *sim, const ga_sample *at)
{
    ga_powers now;
    powers_at(sim, at, &now);
    if (sim->started) add_work(sim, &now, at->t);
    if (sim->impact)
        sim->energy.dissipated +=
            sim->last.kinetic + sim->last.potential - now.kinetic - now.potential;
    sim->impact = false;
    sim->energy.kinetic = now.kinetic;
    sim->energy.potential = now.potential;
    sim->last = now;
    sim->last_t = at->t;
    const ga_energy *e = &sim->energy;
    double balance = e->kinetic + e->potential + e->dissipated - e->work;
    if (!sim->started) {
        sim->initial = *e;
        sim->balance0 = balance;
        sim->started = true;
    }
    sim->drift_max = fmax(sim->drift_max, fabs(balance - sim->balance0));
    const double sizes[] = {e->kinetic, fabs(e->potential - sim->initial.potential),
                            fabs(e->dissipated), fabs(e->work)};
    for (int k = 0; k < 4; ++k) sim->scale = fmax(sim->scale, sizes[k]);
}

/* --- callbacks of the simulation ---------------------------------------------------------- */

static void warn_start(ga_sim *sim)
{
    ga_sim_warn_start(&sim->warnings, sim->assembly, sim->integrator, sim->method_warnings,
                      sim->q0, ga_integrator_q(sim->integrator));
}

static ga_eval accepted(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    if (!sim->started) warn_start(sim);
    account(sim, at);
    ga_state state = ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    ga_assembly_commit(sim->assembly, &state);
    sim->t = at->t;
    sim->step = at->step;
    return sim->def.progress ? sim->def.progress(sim->def.user, sim) : GA_EVAL_OK;
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int k = 0; k < n; ++k) most = fmax(most, fabs(x[k]));
    return most;
}

/* |Phi|; |B v + Phi_t| and |k|. */
static void residuals(ga_sim *sim, const ga_sample *at, ga_moment *moment)
{
    const ga_system *system = &sim->assembly->system;
    int m = sim->model->rows, p = sim->model->speed_rows;
    ga_point point = {.t = at->t, .q = at->q, .v = at->v};
    double *w = sim->residual, *B = sim->residual + m + p;
    if (m) {
        system->constraint(system->user, &point, w);
        moment->position_residual = largest(m, w);
        memset(w, 0, (size_t)m * sizeof *w);
        if (system->constraint_rate) system->constraint_rate(system->user, &point, w);
        system->gradient(system->user, &point, B);
        const ga_pattern *pattern = &system->gradient_pattern;
        for (int k = 0; k < pattern->count; ++k)
            w[pattern->row[k]] += B[k] * at->v[pattern->col[k]];
    }
    if (p) system->nonholonomic(system->user, &point, w + m);
    moment->velocity_residual = largest(m + p, w);
}

static void fill_channels(ga_sim *sim, const ga_sample *at)
{
    ga_moment moment = {
        .model = sim->model,
        .assembly = sim->assembly,
        .vd = at->vd,
        .step = at->step,
        .error = at->error,
        .iterations = at->iterations,
        .energy = sim->energy,
    };
    ga_powers now;
    powers_at(sim, at, &now);
    /* Between steps: what the last step did up to here, by the trapezoidal rule. */
    double h = sim->started ? at->t - sim->last_t : 0;
    moment.energy.kinetic = now.kinetic;
    moment.energy.potential = now.potential;
    moment.energy.dissipated += h / 2 * (now.dissipation + sim->last.dissipation);
    moment.energy.work += h / 2 * (now.work + sim->last.work);
    if (sim->channels.residuals) residuals(sim, at, &moment);
    moment.state = ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    ga_channels_fill(&sim->channels, &moment);
}

static ga_eval output(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    sim->t = at->t;
    sim->step = at->step;
    fill_channels(sim, at);
    return sim->def.output ? sim->def.output(sim->def.user, sim) : GA_EVAL_OK;
}

static ga_eval event_functions(void *user, const ga_sample *at, double *g)
{
    ga_sim *sim = user;
    ga_state state = ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (element->event_count) element->type->events(element, &state, g + element->event);
    }
    return GA_EVAL_OK;
}

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k] * y[k];
    return sum;
}

/* The rate along the impact's direction becomes -restitution times itself. */
static bool strike(ga_sim *sim, const ga_element *element, const ga_impact *impact, double t,
                   const double *q, double *v)
{
    int nv = sim->assembly->nv;
    memset(sim->direction, 0, (size_t)nv * sizeof *sim->direction);
    ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    ga_assembly_add_row(sim->assembly, element, impact->gradient, sim->direction);
    if (ga_integrator_impulse(sim->integrator, t, q, v, sim->direction, sim->jump, NULL))
        return false;
    double rate = dot(nv, sim->direction, v), ease = dot(nv, sim->direction, sim->jump);
    if (!(ease > 0)) return false;
    for (int k = 0; k < nv; ++k) v[k] -= (1 + impact->restitution) * rate / ease * sim->jump[k];
    return true;
}

static ga_action happen(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    ga_sim *sim = user;
    bool changed = false;
    for (int k = 0; k < count; ++k) {
        const ga_element *element = sim->model->elements[sim->event_element[which[k]]];
        ga_state state = ga_assembly_state(sim->assembly, at->t, q, v, at->lambda, at->psi);
        ga_impact impact = {.restitution = 0};
        ga_switch what =
            element->type->happen(element, which[k] - element->event, &state,
                                  sim->assembly->memory + element->memory, &impact);
        if (what == GA_SWITCH_IMPACT && strike(sim, element, &impact, at->t, q, v))
            sim->impact = true;
        changed = changed || what != GA_SWITCH_NOTHING;
    }
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* Rows of elements with events are switched on and off: is one on? */
static bool find_locks(ga_sim *sim, const ga_state *state)
{
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (!element->event_count || !element->speed_rows) continue;
        int numbers = element->speed_rows * GA_TWIST * element->node_count;
        element->type->speed_gradient(element, state, sim->assembly->A);
        if (largest(numbers, sim->assembly->A) > 0) return true;
    }
    return false;
}

static bool locked(void *user) { return ((const ga_sim *)user)->locked; }

static ga_action settled(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    ga_state state = ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    bool changed = false;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (element->type->settle &&
            element->type->settle(element, &state, sim->assembly->memory + element->memory))
            changed = true;
    }
    sim->locked = find_locks(sim, &state);
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* --- creation ----------------------------------------------------------------------------- */

enum { MOST_BREAKS = 1000000 };

static ga_status add_time(ga_times *times, double t)
{
    if (times->count == times->room) {
        int room = times->room ? 2 * times->room : 64;
        double *at = GA_NEW(double, room);
        if (!at) return GA_ERR_MEMORY;
        if (times->count) memcpy(at, times->at, (size_t)times->count * sizeof *at);
        ga_free(times->at);
        times->at = at;
        times->room = room;
    }
    times->at[times->count++] = t;
    return GA_OK;
}

typedef double next_time(const void *element, double t);

static next_time *next_break_of(const ga_element_type *type) { return type->next_break; }
static next_time *next_bend_of(const ga_element_type *type) { return type->next_bend; }

/* The times, in order and each once, at which some element has a kink or a bend. */
static ga_status find_times(const ga_sim *sim, next_time *(*of)(const ga_element_type *),
                            ga_times *times, ga_report *report)
{
    double t = sim->def.t_start;
    while (!isnan(sim->def.t_end) && times->count < MOST_BREAKS) {
        double next = INFINITY;
        for (int e = 0; e < sim->model->element_count; ++e) {
            const ga_element *element = sim->model->elements[e];
            next_time *next_of = of(element->type);
            if (next_of) next = fmin(next, next_of(element, t));
        }
        if (!(next > t) || next >= sim->def.t_end) return GA_OK;
        t = next;
        if (add_time(times, t) != GA_OK)
            return ga_fail(report, GA_ERR_MEMORY, "no memory for the kinks of functions");
    }
    return GA_OK;
}

static ga_status take_memory(ga_sim *sim)
{
    const ga_model *model = sim->model;
    int nq = sim->assembly->nq, nv = sim->assembly->nv, mp = model->rows + model->speed_rows;
    int gradient = sim->assembly->target[GA_TARGET_GRADIENT].count +
                   sim->assembly->target[GA_TARGET_SPEED_GRADIENT].count;
    bool memory = (sim->q0 = GA_NEW(double, nq)) && (sim->v0 = GA_NEW(double, nv)) &&
                  (sim->q = GA_NEW(double, nq)) && (sim->v = GA_NEW(double, nv)) &&
                  (sim->vd = GA_NEW(double, nv)) && (sim->multipliers = GA_NEW(double, mp)) &&
                  (sim->direction = GA_NEW(double, nv)) && (sim->jump = GA_NEW(double, nv)) &&
                  (sim->residual = GA_NEW(double, mp + gradient)) &&
                  (sim->event_element = GA_NEW(int, model->event_count));
    if (!memory) return GA_ERR_MEMORY;
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; k < model->elements[e]->event_count; ++k)
            sim->event_element[model->elements[e]->event + k] = e;
    return GA_OK;
}

/* From here on waking a thread costs less than it saves. */
enum { MANY_BODIES = 4000, FEW_BODIES = 512 };

static ga_status create_pool(ga_sim *sim)
{
    int threads = sim->def.threads;
    if (threads == 0)
        threads = sim->model->body_count >= MANY_BODIES && ga_pool_processors() > 1 ? 2 : 1;
    if (threads == 1 || sim->model->body_count < FEW_BODIES) return GA_OK;
    GA_TRY(ga_pool_create(threads, &sim->pool));
    ga_assembly_use(sim->assembly, sim->pool);
    return GA_OK;
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
    GA_TRY(find_times(sim, next_break_of, &sim->breaks, report));
    GA_TRY(find_times(sim, next_bend_of, &sim->bends, report));
    ga_assembly_initial(sim->assembly, sim->q0, sim->v0);
    ga_assembly_remember(sim->assembly, sim->def.t_start, sim->q0, sim->v0);
    GA_TRY(ga_integrator_create(&sim->assembly->system, &sim->def.integrator, &sim->integrator,
                                report));
    if (ga_integrator_use(sim->integrator, sim->pool) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    while (ga_integrator_warning(sim->integrator, sim->method_warnings)) ++sim->method_warnings;
    return GA_OK;
}

ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                        ga_messages *messages, ga_report *report)
{
    *sim = GA_NEW(ga_sim, 1);
    if (!*sim) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    (*sim)->model = model;
    (*sim)->def = def ? *def : ga_sim_def_of(model);
    (*sim)->warnings.fixed_steps = !((*sim)->def.control.relative > 0);
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
    void *memory[] = {sim->q0,
                      sim->v0,
                      sim->q,
                      sim->v,
                      sim->vd,
                      sim->multipliers,
                      sim->direction,
                      sim->jump,
                      sim->residual,
                      sim->event_element,
                      sim->breaks.at,
                      sim->bends.at,
                      sim->redundancies,
                      sim->moved,
                      (void *)sim->with};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(sim);
}

/* --- running ------------------------------------------------------------------------------ */

static void forget(ga_sim *sim)
{
    sim->started = sim->impact = false;
    sim->energy = sim->initial = (ga_energy){0};
    sim->drift_max = sim->scale = 0;
    sim->warnings.count = sim->warnings.left_off = 0;
    sim->t = sim->def.t_start;
    sim->step = 0;
    ga_assembly_remember(sim->assembly, sim->def.t_start, sim->q0, sim->v0);
}

static ga_status explain(ga_sim *sim, ga_status status, ga_report *report)
{
    if (status != GA_OK && report)
        ga_sim_explain(sim->assembly, sim->event_element, status, report);
    return status;
}

ga_status ga_sim_start(ga_sim *sim, ga_report *report)
{
    forget(sim);
    double h = sim->def.step > 0 ? sim->def.step : 1e-3;
    GA_TRY(explain(
        sim,
        ga_integrator_start(sim->integrator, sim->def.t_start, sim->q0, sim->v0, h, report),
        report));
    GA_TRY(ga_integrator_hat(sim->integrator, sim->vd, sim->multipliers,
                             sim->multipliers + sim->model->rows, report));
    ga_sample at = {.t = sim->def.t_start,
                    .q = ga_integrator_q(sim->integrator),
                    .v = ga_integrator_v(sim->integrator),
                    .vd = sim->vd,
                    .lambda = sim->multipliers,
                    .psi = sim->multipliers + sim->model->rows};
    warn_start(sim);
    account(sim, &at);
    fill_channels(sim, &at);
    return GA_OK;
}

static bool is_driven(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->rheonomic) return true;
    return false;
}

/* Constraints that move leave no error at the ends of steps, however long, and so nothing that
 * would be controlled; but between them output and work are interpolated. Where nobody says how
 * long steps may be, they are at most this part of the time. */
static const double DRIVEN_STEPS = 500;

static double longest_step(const ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    if (control->max_step > 0 || !is_driven(sim->model)) return control->max_step;
    return fmax((sim->def.t_end - sim->def.t_start) / DRIVEN_STEPS, control->min_step);
}

ga_status ga_sim_run(ga_sim *sim, ga_report *report)
{
    if (isnan(sim->def.t_end))
        return ga_fail(report, GA_ERR_INPUT,
                       "the model does not say how long to simulate: it needs "
                       "`simulate: {t_end: ...}`");
    forget(sim);
    bool events = sim->model->event_count > 0;
    ga_simulation run = ga_simulation_default();
    run.t_end = sim->def.t_end;
    run.step = sim->def.step;
    run.control = sim->def.control;
    run.control.max_step = longest_step(sim);
    run.output = output;
    run.accepted = accepted;
    run.user = sim;
    /* Nobody looks: at the start and the end is enough. */
    run.output_every =
        sim->def.output ? sim->def.output_every : sim->def.t_end - sim->def.t_start;
    run.multipliers = sim->def.multipliers;
    run.events.count = sim->model->event_count;
    run.events.function = events ? event_functions : NULL;
    run.events.happen = events ? happen : NULL;
    run.events.settled = events ? settled : NULL;
    run.events.user = sim;
    run.events.exact = events ? locked : NULL;
    run.breakpoint_count = sim->breaks.count;
    run.breakpoints = sim->breaks.at;
    run.stop_count = sim->bends.count;
    run.stops = sim->bends.at;
    return explain(sim,
                   ga_integrator_simulate(sim->integrator, sim->def.t_start, sim->q0, sim->v0,
                                          &run, report),
                   report);
}

/* --- looking ------------------------------------------------------------------------------ */

double ga_sim_time(const ga_sim *sim) { return sim->t; }

double ga_sim_step_size(const ga_sim *sim) { return sim->step; }

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

ga_channel ga_sim_channel(const ga_sim *sim, int k) { return sim->channels.items[k].channel; }

const double *ga_sim_values(const ga_sim *sim) { return sim->channels.values; }

int ga_sim_value_count(const ga_sim *sim) { return sim->channels.value_count; }

ga_sim_summary ga_sim_get_summary(const ga_sim *sim)
{
    return (ga_sim_summary){.t = sim->t,
                            .statistics = ga_integrator_statistics(sim->integrator),
                            .control = ga_integrator_control_statistics(sim->integrator),
                            .initial = sim->initial,
                            .final = sim->energy,
                            .energy_drift_max = sim->drift_max,
                            .energy_scale = sim->scale};
}

const char *ga_sim_row_element(const ga_sim *sim, int row)
{
    int local;
    const ga_element *element = ga_assembly_row(sim->assembly, row, &local);
    return element ? element->name : "";
}

const char *ga_sim_row_name(const ga_sim *sim, int row)
{
    int local;
    const ga_element *element = ga_assembly_row(sim->assembly, row, &local);
    return element && element->type->row_name ? element->type->row_name(element, local) : "";
}

const char *ga_sim_coordinate_body(const ga_sim *sim, int k)
{
    int body = ga_assembly_column(sim->assembly, k);
    return body >= 0 ? sim->model->bodies[body].name : "";
}

ga_sim_element ga_sim_get_element(const ga_sim *sim, int k)
{
    if (k >= sim->model->element_count) return (ga_sim_element){NULL, NULL, 0};
    const ga_element *element = sim->model->elements[k];
    return (ga_sim_element){element->name, element->type->name,
                            element->rows + element->speed_rows};
}

/* --- check -------------------------------------------------------------------------------- */

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
    ga_free(sim->redundancies);
    ga_free((void *)sim->with);
    sim->redundancies = GA_NEW(ga_sim_redundancy, count);
    sim->with = GA_NEW(const char *, partners);
    if (!sim->redundancies || !sim->with)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d redundant rows", count);
    const char **names = sim->with;
    for (int k = 0; k < count; ++k) {
        ga_redundant_row row = ga_integrator_redundant_row(sim->integrator, k);
        ga_sim_redundancy *out = sim->redundancies + k;
        out->element = ga_sim_row_element(sim, row.row);
        out->direction = ga_sim_row_name(sim, row.row);
        name_partners(sim, &row, out, names);
        names += out->with_count;
    }
    check->redundant = sim->redundancies;
    check->redundant_count = count;
    return GA_OK;
}

/* Bodies that the start moved by more than round-off. */
static ga_status find_moved(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    int n = sim->model->body_count;
    const double *q = ga_integrator_q(sim->integrator);
    ga_free(sim->moved);
    sim->moved = GA_NEW(ga_sim_moved, n);
    if (!sim->moved) return ga_fail(report, GA_ERR_MEMORY, "no memory for %d bodies", n);
    for (int i = 0; i < n; ++i) {
        double distance, angle;
        if (ga_sim_has_moved(sim->assembly, i, sim->q0, q, &distance, &angle))
            sim->moved[check->moved_count++] =
                (ga_sim_moved){sim->model->bodies[i].name, distance, angle};
    }
    check->moved = sim->moved;
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
    for (int k = 0; k < a->nv; ++k) size = fmax(size, fabs(sim->v[k]));
    for (int k = 0; k < a->nv; ++k) sim->direction[k] = 1e-3 * next_random(&seed);
    ga_nodes_update(sim->model->body_count, a->nodes, GA_MAP_EXP, sim->q, sim->direction,
                    sim->q);
    for (int k = 0; k < a->nv; ++k) sim->v[k] += 0.05 * size * next_random(&seed);
    const int mp = sim->model->rows + sim->model->speed_rows;
    double load = 1;
    for (int k = 0; k < mp; ++k) load = fmax(load, fabs(sim->multipliers[k]));
    for (int k = 0; k < mp; ++k) sim->multipliers[k] += 0.05 * load * next_random(&seed);
}

static ga_status check_tangents(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    check->tangent_error = NAN;
    check->tangent_worst = "not checked: too many coordinates";
    if (sim->assembly->nv > MOST_CHECKED) return GA_OK;
    memcpy(sim->q, ga_integrator_q(sim->integrator),
           (size_t)sim->assembly->nq * sizeof(double));
    memcpy(sim->v, ga_integrator_v(sim->integrator),
           (size_t)sim->assembly->nv * sizeof(double));
    step_aside(sim);
    ga_derivative_check result;
    double duration = isfinite(sim->def.t_end) ? sim->def.t_end - sim->def.t_start : 1;
    ga_point at = {.t = sim->def.t_start + 0.0173 * duration,
                   .q = sim->q,
                   .v = sim->v,
                   .vd = sim->vd,
                   .lambda = sim->multipliers,
                   .psi = sim->multipliers + sim->model->rows};
    ga_status status = ga_system_check(&sim->assembly->system, &at, 0, &result, NULL);
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
    check->grubler = check->coordinates - check->constraints;
    GA_TRY(ga_sim_start(sim, report));
    check->degrees_of_freedom = check->coordinates - ga_integrator_rank(sim->integrator);
    GA_TRY(find_redundancies(sim, check, report));
    GA_TRY(find_moved(sim, check, report));
    return check_tangents(sim, check, report);
}
