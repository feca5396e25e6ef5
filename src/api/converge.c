/* <galpha/converge.h>: a ladder of runs, compared with a reference. */
#include "api/channels.h"
#include "api/converge_study.h"
#include "api/sim_settings.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- what is compared --------------------------------------------------------------------- */

static ga_component component_of(const ga_channel *channel)
{
    const char *dot = strrchr(channel->name, '.');
    const char *what = dot ? dot + 1 : "";
    if (strcmp(what, "total") == 0) return GA_COMPONENT_ENERGY;
    if (strcmp(what, "effort") == 0)
        return strcmp(channel->unit, "N") == 0 ? GA_COMPONENT_FORCE : GA_COMPONENT_TORQUE;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (strcmp(what, ga_component_name((ga_component)i)) == 0) return (ga_component)i;
    return GA_COMPONENT_COUNT;
}

/* Of all channels worth comparing those that the model has. */
static ga_status choose_channels(ga_converge *s, ga_report *report)
{
    static const char *const candidates[] = {"*.position",     "*.rotation",
                                             "*.velocity",     "*.angular_velocity",
                                             "*.acceleration", "*.angular_acceleration",
                                             "*.force",        "*.torque",
                                             "*.effort",       "energy.total"};
    ga_channels all;
    for (size_t k = 0; k < sizeof candidates / sizeof *candidates; ++k) {
        const ga_channels_def one = {.count = 1, .names = candidates + k};
        ga_status status = ga_channels_create(s->model, &one, NULL, &all, report);
        if (status == GA_ERR_MEMORY) return status;
        if (status != GA_OK) continue;
        ga_channels_destroy(&all);
        s->names[s->name_count++] = candidates[k];
    }
    const ga_channels_def chosen = {.count = s->name_count, .names = s->names};
    GA_TRY(ga_channels_create(s->model, &chosen, NULL, &all, report));
    s->quantities = GA_NEW(ga_study_quantity, all.count);
    s->value_count = all.value_count;
    for (int k = 0, at = 0; s->quantities && k < all.count; ++k) {
        const ga_channel *channel = &all.items[k].channel;
        const ga_component component = component_of(channel);
        if (component < GA_COMPONENT_COUNT) {
            s->quantities[s->quantity_count++] =
                (ga_study_quantity){component, at, channel->count,
                                    component == GA_COMPONENT_ROTATION && channel->count == 4};
            s->ladder.present[component] = true;
        }
        at += channel->count;
    }
    ga_channels_destroy(&all);
    s->interpolated = GA_NEW(double, s->value_count);
    if (!s->quantities || !s->interpolated)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a convergence study");
    return GA_OK;
}

/* --- one run ------------------------------------------------------------------------------ */

/* Where a step ends at the time it began, the integration has started anew. */
static void note_event(ga_study_run *run, double t)
{
    const double sliver = 1e-11 * run->study->duration;
    ga_study_events *e = run->events;
    if (run->began && e && t - run->last_t <= sliver) {
        const bool same = e->kept && t - e->t[e->kept - 1] <= sliver;
        ++e->count;
        if (!same && e->kept < GA_STUDY_EVENTS)
            e->t[e->kept++] = t;
        else if (!same)
            e->full = true;
    }
    run->began = true;
    run->last_t = t;
}

static ga_eval progress(void *user, const ga_sim *sim)
{
    ga_study_run *run = user;
    ga_converge *s = run->study;
    const double t = ga_sim_time(sim), passed = (t - s->def.sim.t_start) / s->duration;
    note_event(run, t);
    if (!s->def.progress || passed - run->told < 0.01) return GA_EVAL_OK;
    run->told = passed;
    const double done = s->cost > 0 ? (s->done + run->weight * passed) / s->cost : 0;
    run->stopped = s->def.progress(s->def.user, fmin(done, 1)) != GA_EVAL_OK;
    return run->stopped ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static ga_eval output(void *user, const ga_sim *sim)
{
    ga_study_run *run = user;
    if (run->sample) run->sample(run, ga_sim_time(sim), ga_sim_values(sim));
    return GA_EVAL_OK;
}

ga_status ga_study_make_run(ga_study_run *run, ga_sim_def *def, ga_report *report)
{
    ga_converge *s = run->study;
    ga_sim *sim = NULL;
    def->channel_count = s->name_count;
    def->channels = s->names;
    def->output = output;
    def->progress = progress;
    def->user = run;
    GA_TRY(ga_sim_create(s->model, def, &sim, s->messages, report));
    ga_status status = ga_sim_run(sim, report);
    if (status == GA_OK && run->stopped)
        status = ga_fail(report, GA_ERR_STATE, "the study was stopped");
    run->summary = ga_sim_get_summary(sim);
    s->ladder.redundant = ga_sim_redundant_count(sim);
    ga_sim_destroy(sim);
    s->done += run->weight;
    return status;
}

void ga_study_set_tolerance(const ga_converge *s, ga_sim_def *def, double tolerance)
{
    ga_control *c = &def->control;
    const double first = s->def.sim.control.relative;
    const double share =
        tolerance / (first > 0 ? first : ga_simulation_default().control.relative);
    def->step = 0;
    c->relative = tolerance;
    c->absolute_translation *= share;
    c->absolute_rotation *= share;
    c->absolute_velocity *= share;
    c->absolute_angular_velocity *= share;
}

void ga_study_set_size(const ga_converge *s, ga_sim_def *def, double size)
{
    if (s->def.tolerances) {
        ga_study_set_tolerance(s, def, size);
    } else {
        def->step = size;
        def->control.relative = 0;
    }
}

/* --- the ladder of sizes ------------------------------------------------------------------ */

ga_status ga_study_pilot(ga_converge *s, double tolerance, ga_control_statistics *statistics,
                         ga_report *report)
{
    ga_study_run run = {.study = s};
    ga_sim_def def = s->def.sim;
    ga_study_set_tolerance(s, &def, tolerance);
    def.integrator.formulation = GA_INDEX2;
    def.integrator.start = GA_START_AUTO;
    def.output_every = s->duration;
    ga_status status = ga_study_make_run(&run, &def, report);
    *statistics = run.summary.control;
    return status;
}

static ga_status check_sizes(const ga_converge *s, ga_report *report)
{
    const char *what = s->def.tolerances ? "tolerance" : "step";
    if (s->size_count == 1)
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "one %s has nothing to be compared with: expected 2 to %d", what,
                       GA_MOST_LEVELS);
    if (s->size_count < 2 || s->size_count > GA_MOST_LEVELS)
        return ga_fail(report, GA_ERR_ARGUMENT, "%d levels: expected 2 to %d", s->size_count,
                       GA_MOST_LEVELS);
    for (int k = 0; k < s->size_count; ++k) {
        const double size = s->sizes[k];
        if (!(size > 0) || !isfinite(size) || (s->def.tolerances && size >= 1))
            return ga_fail(report, GA_ERR_ARGUMENT, "%s %g: expected a positive number%s", what,
                           size, s->def.tolerances ? " below 1" : "");
        if (k > 0 && !(size < s->sizes[k - 1]))
            return ga_fail(report, GA_ERR_ARGUMENT, "%ss must differ", what);
        if (!s->def.tolerances && size > s->duration)
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "a step of %g s is longer than the run of %g s", size, s->duration);
    }
    return GA_OK;
}

/* Descending, whatever the order in which they were given. */
static void take_sizes(ga_converge *s)
{
    for (int k = 0; k < s->size_count; ++k) {
        int at = k;
        for (; at > 0 && s->sizes[at - 1] < s->def.sizes[k]; --at)
            s->sizes[at] = s->sizes[at - 1];
        s->sizes[at] = s->def.sizes[k];
    }
}

/* The coarsest step: a whole number of them fills the time. */
static ga_status choose_first_step(ga_converge *s, double *h, ga_report *report)
{
    enum { FEWEST_STEPS = 16 };
    const double coarse = 8, coarse_tolerance = 1e-2;
    double steps;
    if (s->def.sim.step > 0) {
        steps = s->duration / (coarse * s->def.sim.step);
    } else {
        ga_control_statistics statistics;
        GA_TRY(ga_study_pilot(s, coarse_tolerance, &statistics, report));
        steps = (double)statistics.accepted;
    }
    *h = s->duration / fmax(FEWEST_STEPS, ceil(steps - 1e-6));
    return GA_OK;
}

static ga_status choose_sizes(ga_converge *s, double finer, ga_report *report)
{
    s->size_count = s->def.size_count ? s->def.size_count : s->def.levels;
    if (s->size_count < 2 || s->size_count > GA_MOST_LEVELS) return check_sizes(s, report);
    if (s->def.size_count) {
        take_sizes(s);
        return check_sizes(s, report);
    }
    double size = 1e-2, factor = 0.25; /* as half the step */
    if (!s->def.tolerances) {
        factor = 0.5;
        GA_TRY(choose_first_step(s, &size, report));
    }
    size /= finer;
    for (int k = 0; k < s->size_count; ++k, size *= factor) s->sizes[k] = size;
    return check_sizes(s, report);
}

/* --- the levels --------------------------------------------------------------------------- */

static void compare_sample(ga_study_run *run, double t, const double *values)
{
    const ga_converge *s = run->study;
    if (!(t > s->def.sim.t_start)) return;
    const double reach = GA_STUDY_REACH * s->every + 2 * run->rung->h;
    const bool close = ga_study_is_close_to_event(ga_study_reference_events(s), t, reach);
    if (close && ga_study_is_within_event(s, run->events, t)) return;
    const double *reference = ga_study_reference_at(s, t);
    if (!reference) return;
    const int w = ga_study_window(s, t);
    for (int i = 0; i < s->quantity_count; ++i) {
        const ga_study_quantity *q = s->quantities + i;
        double *error =
            close ? &run->rung->near[q->component] : &run->rung->window[q->component][w];
        const double d = ga_study_difference(q, values, reference);
        /* what is not finite must not vanish in a maximum */
        *error = isfinite(d) ? fmax(*error, d) : INFINITY;
    }
}

static ga_rung empty_rung(double h)
{
    ga_rung rung = {.h = h};
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        rung.near[i] = NAN;
        for (int w = 0; w < GA_WINDOWS; ++w) rung.window[i][w] = NAN;
    }
    return rung;
}

/* A run that fails leaves its level out, unless it is the last hope. */
static ga_status make_level(ga_converge *s, int k, ga_report *report)
{
    ga_converge_level *level = s->levels + k;
    ga_rung *rung = s->rungs + s->ladder.count;
    const double size = s->sizes[k];
    *rung = empty_rung(s->def.tolerances ? s->duration / 100 : size); /* a guess, for now */
    ga_study_events events = {0};
    ga_study_run run = {.study = s,
                        .weight = 1 / size,
                        .sample = compare_sample,
                        .rung = rung,
                        .events = &events};
    ga_sim_def def = s->def.sim;
    ga_study_set_size(s, &def, size);
    def.output_every = 0;
    def.multipliers = s->def.hat ? GA_MULTIPLIERS_HAT : GA_MULTIPLIERS_SCHEME;
    const ga_status status = ga_study_make_run(&run, &def, report);
    level->steps = run.summary.control.accepted;
    level->step = s->def.tolerances ? s->duration / fmax(1, (double)level->steps) : size;
    level->tolerance = s->def.tolerances ? size : 0;
    level->failed = status != GA_OK;
    if (status == GA_OK) {
        rung->h = level->step;
        s->rung_level[s->ladder.count++] = k;
    }
    const bool hopeless = s->ladder.count + s->size_count - 1 - k < 2;
    if (status == GA_ERR_STATE || status == GA_ERR_MEMORY || hopeless) return status;
    return GA_OK;
}

/* --- the study ---------------------------------------------------------------------------- */

static void sum_up(ga_converge *s)
{
    ga_converge_result *r = &s->result;
    s->ladder.rungs = s->rungs;
    s->ladder.t_start = s->def.sim.t_start;
    s->ladder.t_end = s->def.sim.t_end;
    s->ladder.tolerances = s->def.tolerances;
    s->ladder.high_order = s->def.sim.integrator.method != GA_METHOD_GENERALIZED_ALPHA;
    const ga_study_events *events = ga_study_reference_events(s);
    s->ladder.events = events->count;
    s->ladder.first_event = events->kept ? events->t[0] : NAN;
    ga_ladder_judge(&s->ladder, &s->judgement);
    const ga_judgement *j = &s->judgement;
    for (int k = 0; k < s->size_count; ++k)
        for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
            s->levels[k].error[i] = s->levels[k].order[i] = NAN;
    for (int k = 0; k < s->ladder.count; ++k) {
        ga_converge_level *level = s->levels + s->rung_level[k];
        memcpy(level->error, j->error[k], sizeof level->error);
        memcpy(level->order, j->pair[k], sizeof level->order);
        memcpy(level->used, j->used[k], sizeof level->used);
    }
    r->level_count = s->size_count;
    r->levels = s->levels;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        const bool present = s->ladder.present[i];
        r->order[i] = j->order[i];
        r->zero[i] = j->zero[i];
        r->scale[i] = present ? s->ladder.scale[i] : NAN;
    }
    r->redundant = s->ladder.redundant;
    r->events = events->count;
    r->verdict = j->verdict;
    r->at = j->at;
    r->reason = j->reason;
}

/* The work ahead, in steps. */
static void foresee(ga_converge *s)
{
    s->done = 0;
    s->cost = ga_study_reference_cost(s);
    for (int k = 0; k < s->size_count; ++k) s->cost += 1 / s->sizes[k];
}

static void forget(ga_converge *s)
{
    for (int k = 0; k < GA_STUDY_REFERENCES; ++k) {
        ga_free(s->runs[k]);
        s->runs[k] = NULL;
    }
    s->ladder.count = 0;
    memset(s->ladder.scale, 0, sizeof s->ladder.scale);
}

static ga_status climb(ga_converge *s, double finer, ga_report *report)
{
    forget(s);
    GA_TRY(choose_sizes(s, finer, report));
    foresee(s);
    GA_TRY(ga_study_find_reference(s, report));
    for (int k = 0; k < s->size_count; ++k) GA_TRY(make_level(s, k, report));
    sum_up(s);
    return GA_OK;
}

/* Steps of our own choice that turn out too large are made smaller. */
static bool may_be_finer(const ga_converge *s)
{
    const double most_work = 4e5; /* numbers computed by the finest run */
    return !s->def.size_count && s->result.verdict == GA_VERDICT_NOT_ASYMPTOTIC &&
           (double)s->levels[s->size_count - 1].steps * s->value_count <= most_work;
}

static ga_status study(ga_converge *s, ga_report *report)
{
    GA_TRY(ga_sim_settings_check(&s->def.sim, report));
    if ((unsigned)s->def.reference > GA_METHOD_RADAU)
        return ga_fail(
            report, GA_ERR_ARGUMENT,
            "reference has the value %d: expected generalized-alpha, explicit or radau",
            (int)s->def.reference);
    ga_integrator_def *integrator = &s->def.sim.integrator;
    if (!s->def.tolerances && integrator->method == GA_METHOD_AUTO)
        integrator->method = GA_METHOD_GENERALIZED_ALPHA; /* steps of fixed size */
    ga_sim_settings_choose(&s->def.sim);
    s->duration = s->def.sim.t_end - s->def.sim.t_start;
    GA_TRY(choose_channels(s, report));
    GA_TRY(climb(s, 1, report));
    if (may_be_finer(s)) GA_TRY(climb(s, s->def.tolerances ? 16 : 4, report));
    return ga_fail(report, GA_OK, "%s", "");
}

void ga_converge_def_fill(const ga_model *model, ga_converge_def *def, size_t size)
{
    if (!ga_is_own_size(def, size, sizeof *def)) return;
    *def = (ga_converge_def){
        .struct_size = sizeof(ga_converge_def), .sim = ga_sim_def_of(model), .levels = 5};
}

ga_status ga_converge_run(const ga_model *model, const ga_converge_def *def,
                          ga_converge **result, ga_messages *messages, ga_report *report)
{
    *result = NULL;
    if (def) GA_TRY(ga_check_size("ga_converge_def", def->struct_size, sizeof *def, report));
    ga_converge *s = *result = GA_NEW(ga_converge, 1);
    if (!s) return ga_fail(report, GA_ERR_MEMORY, "no memory for a convergence study");
    s->model = model;
    s->def = def ? *def : ga_converge_def_of(model);
    s->messages = messages;
    const ga_status status =
        isnan(s->def.sim.t_end)
            ? ga_fail(report, GA_ERR_INPUT,
                      "the model has no end time: add `simulate: {t_end: ...}`")
            : study(s, report);
    if (status != GA_OK) {
        ga_converge_destroy(s);
        *result = NULL;
    }
    return status;
}

const ga_converge_result *ga_converge_get(const ga_converge *s) { return &s->result; }

void ga_converge_destroy(ga_converge *s)
{
    if (!s) return;
    forget(s);
    ga_free(s->quantities);
    ga_free(s->interpolated);
    ga_free(s);
}
