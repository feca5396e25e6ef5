#include "bench/galpha.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_ERROR_AUTO
#define ADAPTIVE GA_ERROR_AUTO
#else
#define ADAPTIVE GA_ERROR_FULL /* an older version */
#endif

static const struct {
    const char *name;
    ga_formulation formulation;
    bool adaptive;
    ga_error_mode error;
} modes[GALPHA_MODE_COUNT] = {
    [GALPHA_INDEX3] = {"index 3", GA_INDEX3, false, GA_ERROR_FULL},
    [GALPHA_INDEX2] = {"index 2", GA_INDEX2, false, GA_ERROR_FULL},
    [GALPHA_SOI2] = {"soi2", GA_SOI2, false, GA_ERROR_FULL},
    [GALPHA_ADAPTIVE] = {"adaptive", GA_INDEX2, true, ADAPTIVE},
    [GALPHA_SECOND_ORDER] = {"adaptive, second order", GA_INDEX2, true, GA_ERROR_FULL},
    [GALPHA_EXTRAPOLATE] = {"extrapolate", GA_INDEX2, true, GA_ERROR_EXTRAPOLATE},
    [GALPHA_ADAPTIVE_INDEX3] = {"adaptive index 3", GA_INDEX3, true, GA_ERROR_FULL},
    [GALPHA_EXPLICIT] = {"explicit", GA_INDEX2, true, GA_ERROR_FULL},
    [GALPHA_RADAU] = {"radau", GA_INDEX2, true, GA_ERROR_FULL},
    [GALPHA_AUTO] = {"auto", GA_INDEX2, true, ADAPTIVE},
};

const char *galpha_mode_name(int mode) { return modes[mode].name; }
bool galpha_mode_is_adaptive(int mode) { return modes[mode].adaptive; }

bool galpha_has_mode(int mode)
{
#ifdef BENCH_METHODS
    return mode < GALPHA_MODE_COUNT;
#else
    return mode < GALPHA_EXPLICIT;
#endif
}

bool galpha_has_threads(void)
{
#if defined(BENCH_SIM_THREADS) || defined(BENCH_INTEGRATOR_THREADS)
    return true;
#else
    return false;
#endif
}

/* The one place that knows where threads are set. */
static void apply_threads(int threads, ga_integrator_def *def, ga_sim_def *sim)
{
#ifdef BENCH_INTEGRATOR_THREADS
    if (def && threads) def->threads = threads;
#endif
#ifdef BENCH_SIM_THREADS
    if (sim && threads) sim->threads = threads;
#endif
    (void)threads, (void)def, (void)sim;
}

void galpha_apply_threads(const bench_case *c, ga_sim_def *def)
{
    apply_threads(c->threads ? c->threads : 1, NULL, def);
}

void galpha_apply(const bench_case *c, ga_integrator_def *def, ga_control *control,
                  double *step)
{
    const double value = c->value;
    def->formulation = modes[c->mode].formulation;
#ifdef BENCH_METHODS
    def->method = c->mode == GALPHA_EXPLICIT ? GA_METHOD_EXPLICIT
                  : c->mode == GALPHA_RADAU  ? GA_METHOD_RADAU
                  : c->mode == GALPHA_AUTO   ? GA_METHOD_AUTO
                                             : GA_METHOD_GENERALIZED_ALPHA;
#endif
    if (c->newton > 0) def->relative = c->newton;
    apply_threads(c->threads ? c->threads : 1, def, NULL);
    control->mode = modes[c->mode].error;
    if (modes[c->mode].adaptive) {
        control->relative = value;
        control->absolute_translation = control->absolute_rotation = value;
        control->absolute_velocity = control->absolute_angular_velocity = value;
    } else {
        control->relative = 0;
        *step = value;
    }
}

/* --- model files -------------------------------------------------------------------------- */

enum { KEPT = 8 };

static struct kept {
    const char *name;
    int n;
    ga_model *model;
    double seconds;
} kept[KEPT];

void galpha_forget(void)
{
    for (int k = 0; k < KEPT; ++k) {
        ga_model_destroy(kept[k].model);
        kept[k] = (struct kept){0};
    }
}

const ga_model *galpha_model(bench *b, const galpha_file *file, int n, double *seconds)
{
    struct kept *place = NULL;
    for (int k = 0; k < KEPT && !place; ++k) {
        bool same = kept[k].name && strcmp(kept[k].name, file->name) == 0 && kept[k].n == n;
        if (same || !kept[k].name) place = kept + k;
    }
    if (!place) {
        galpha_forget();
        place = kept;
    }
    if (!place->model) {
        char path[1024], set[64];
        const char *sets[] = {set};
#ifdef BENCH_OPTIONS_DEFAULT
        ga_model_options options = ga_model_options_default();
#else
        ga_model_options options = {0};
#endif
        options.set_count = file->parameter ? 1 : 0;
        options.set = sets;
        snprintf(path, sizeof path, "%s/%s", file->example ? b->examples : b->models,
                 file->name);
        snprintf(set, sizeof set, "parameters.%s=%d", file->parameter ? file->parameter : "",
                 n);
        ga_messages *messages = ga_messages_create();
        const double begin = bench_clock();
        if (ga_model_read(path, &options, &place->model, messages) != GA_OK) {
            char line[256] = "cannot be read";
            if (ga_messages_count(messages)) ga_messages_format(messages, 0, line, sizeof line);
            bench_fail(b, "%s", line);
            place->model = NULL;
        }
        *place = (struct kept){file->name, n, place->model, bench_clock() - begin};
        ga_messages_destroy(messages);
        if (!place->model) place->name = NULL;
    }
    if (seconds) *seconds = place->seconds;
    return place->model;
}

static void tell(const ga_statistics *s, long rejected, bench_outcome *outcome)
{
    outcome->steps = s->steps;
    outcome->rejected = rejected;
    outcome->iterations = s->iterations;
    outcome->factorizations = s->factorizations;
}

bool galpha_run_file(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const galpha_file *file = c->data;
    const ga_model *model = galpha_model(b, file, c->n, &outcome->read);
    if (!model) return false;
    ga_sim_def def = ga_sim_def_of(model);
    if (file->t_end > 0) def.t_end = file->t_end;
    if (file->channel_count) {
        def.channel_count = file->channel_count;
        def.channels = file->channels;
    }
    def.output_every = def.t_end;
    def.multipliers = GA_MULTIPLIERS_SCHEME;
    galpha_apply(c, &def.integrator, &def.control, &def.step);
    galpha_apply_threads(c, &def);
    ga_sim *sim = NULL;
    ga_report report = {0};
    const double begin = c->threads > 1 ? bench_wall() : bench_clock();
    ga_status status = ga_sim_create(model, &def, &sim, NULL, &report);
    if (status == GA_OK) status = ga_sim_run(sim, &report);
    outcome->seconds = (c->threads > 1 ? bench_wall() : bench_clock()) - begin;
    if (status != GA_OK) {
        ga_sim_destroy(sim);
        return bench_fail(b, "%s", report.message);
    }
    ga_sim_summary summary = ga_sim_get_summary(sim);
    tell(&summary.statistics, summary.control.rejected, outcome);
    if (file->error)
        outcome->error = file->error(b, c, ga_sim_value_count(sim), ga_sim_values(sim));
    ga_sim_destroy(sim);
    return true;
}

/* --- callbacks ---------------------------------------------------------------------------- */

bool galpha_run_callbacks(bench *b, const bench_case *c, bench_outcome *outcome)
{
    const galpha_callbacks *job = c->data;
    pb_problem *problem = NULL;
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    if (job->create(&problem) != GA_OK) return bench_fail(b, "out of memory");
    ga_integrator_def def = ga_integrator_def_default();
    ga_simulation run = ga_simulation_default();
    run.t_end = job->t_end;
    run.output_every = job->t_end;
    run.multipliers = GA_MULTIPLIERS_SCHEME;
    galpha_apply(c, &def, &run.control, &run.step);
    const double begin = bench_clock();
    ga_status status = ga_integrator_create(&problem->system, &def, &integrator, &report);
    if (status == GA_OK)
        status = ga_integrator_simulate(integrator, problem->t0, problem->q0, problem->v0, &run,
                                        &report);
    outcome->seconds = bench_clock() - begin;
    if (status == GA_OK) {
        ga_statistics statistics = ga_integrator_statistics(integrator);
        tell(&statistics, ga_integrator_control_statistics(integrator).rejected, outcome);
        outcome->error = job->error(ga_integrator_q(integrator));
    }
    ga_integrator_destroy(integrator);
    pb_destroy(problem);
    return status == GA_OK || bench_fail(b, "%s", report.message);
}
