#include "verify/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for one more row; doubles. */
static bool make_room(vf_history *h)
{
    if (h->count < h->room) return true;
    const size_t room = h->room ? 2 * (size_t)h->room : 256;
    double *t = realloc(h->t, room * sizeof *t);
    if (t) h->t = t;
    double *values = realloc(h->values, room * (size_t)h->width * sizeof *values);
    if (values) h->values = values;
    if (!t || !values) return false;
    h->room = (int)room;
    return true;
}

static void add_row(void *user, double t, const double *values)
{
    vf_history *h = user;
    if (h->out_of_memory || !make_room(h)) {
        h->out_of_memory = true;
        return;
    }
    h->t[h->count] = t;
    memcpy(h->values + h->count * h->width, values, (size_t)h->width * sizeof *values);
    ++h->count;
}

bool vf_record(vf_run *run, const char *model, const char *const *set,
               const char *const *channels, int width, vf_history *history)
{
    *history = (vf_history){.width = width};
    vf_simulation simulation = {
        .model = model, .set = set, .channels = channels, .output = add_row, .user = history};
    bool done = vf_simulate(run, &simulation, NULL, 0, &history->summary);
    if (done && history->out_of_memory) vf_fail(run, "out of memory");
    if (done && history->count > 0 && !history->out_of_memory) return true;
    vf_history_free(history);
    return false;
}

void vf_history_free(vf_history *history)
{
    free(history->t);
    free(history->values);
    *history = (vf_history){0};
}

const double *vf_history_end(const vf_history *history)
{
    return history->values + (history->count - 1) * history->width;
}

double *vf_history_column(vf_run *run, const vf_history *history, int i)
{
    return vf_column(run, history->count, history->values, history->width, i);
}

/* kinetic, potential, total, dissipated, work */
static double balance(const double *energy)
{
    return energy[0] + energy[1] + energy[3] - energy[4];
}

double *vf_history_drift(vf_run *run, const vf_history *history, int i)
{
    double *drift = vf_numbers(run, (size_t)history->count);
    for (int k = 0; drift && k < history->count; ++k) {
        const double now = balance(history->values + k * history->width + i);
        drift[k] = fabs(now - balance(history->values + i)) / history->summary.energy_scale;
    }
    return drift;
}

double vf_energy_error(const vf_history *history)
{
    return history->summary.energy_drift_max / history->summary.energy_scale;
}

int vf_drift_panel(ga_figure *figure, double t_end)
{
    return ga_figure_panel(
        figure,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = "time", .unit = "s", .high = t_end},
                         .y = {.label = "energy drift, relative", .scale = GA_SCALE_LOG}});
}

/* --- steps of fixed size ------------------------------------------------------------------ */

static bool record_fixed(vf_run *run, const vf_bench *bench, double step, vf_history *history)
{
    enum { MAX_SET = 8 };
    const char *set[MAX_SET + 2] = {NULL};
    char simulate[100];
    int count = 0;
    for (; bench->set && bench->set[count] && count < MAX_SET; ++count)
        set[count] = bench->set[count];
    snprintf(simulate, sizeof simulate, "simulate={t_end: %.17g, step: %.17g}", bench->t_end,
             step);
    set[count] = simulate;
    return vf_record(run, bench->model, set, bench->channels, bench->width, history);
}

bool vf_bench_climb(vf_run *run, const vf_bench *bench, int levels, const double *steps,
                    vf_bench_result *result, const char *caption)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = vf_drift_panel(figure, bench->t_end);
    bool done = true;
    *result = (vf_bench_result){.levels = levels};
    for (int k = 0; done && k < levels; ++k) {
        char label[40];
        vf_history_free(&result->finest);
        done = record_fixed(run, bench, steps[k], &result->finest);
        if (!done) break;
        memcpy(result->end[k], vf_history_end(&result->finest),
               (size_t)bench->width * sizeof(double));
        result->drift[k] = vf_energy_error(&result->finest);
        snprintf(label, sizeof label, "h = %g s", steps[k]);
        vf_curve(
            figure, panel,
            (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = label, .width = 1},
            result->finest.count, result->finest.t,
            vf_history_drift(run, &result->finest, bench->energy));
    }
    vf_figure(run, figure, caption);
    return done;
}

void vf_bench_free(vf_bench_result *result) { vf_history_free(&result->finest); }

double vf_bench_limit(const vf_bench_result *result, int i)
{
    const int last = result->levels - 1;
    return (4 * result->end[last][i] - result->end[last - 1][i]) / 3;
}

double vf_bench_order(const vf_bench_result *result, int i, double exact)
{
    const int last = result->levels - 1;
    return log2(fabs((result->end[last - 1][i] - exact) / (result->end[last][i] - exact)));
}

double vf_bench_drift_order(const vf_bench_result *result)
{
    const int last = result->levels - 1;
    return log2(result->drift[last - 1] / result->drift[last]);
}
