/* The figures of `galpha spectrum`: spectral radius, period elongation and damping over h/T. */
#include "cli/input.h"
#include "cli/spectrum.h"
#include "cli/text.h"

#include <galpha/plot.h>
#include <math.h>

enum { SAMPLES = 400, PANELS = 3 };

typedef struct curves {
    double ratio[SAMPLES];
    double y[PANELS][SAMPLES];
} curves;

/* Where a panel is drawn. Accuracy matters for steps well below the period. */
typedef struct range {
    double low, high;
    ga_plot_scale scale;
} range;

static range range_of(const cli_study *study, int panel)
{
    range r = {0.01, 1000, GA_SCALE_LOG};
    if (panel > 0) r = (range){0, 0.5, GA_SCALE_LINEAR};
    const cli_numbers *given = &study->ratios;
    double low = INFINITY, high = 0;
    for (int k = 0; k < given->count && study->ratios_given; ++k) {
        low = fmin(low, given->x[k]);
        high = fmax(high, given->x[k]);
    }
    return low < high ? (range){low, high, GA_SCALE_LOG} : r;
}

/* From just above low on: h/T = 0 is no step. */
static double sample(const range *r, int k)
{
    const double part = (double)k / (SAMPLES - 1);
    if (r->scale == GA_SCALE_LOG) return r->low * pow(r->high / r->low, part);
    return r->low + (r->high - r->low) * fmax(part, 1e-3);
}

static void compute(const cli_study *study, const cli_method *m, const range *r, curves *c)
{
    for (int k = 0; k < SAMPLES; ++k) {
        ga_spectrum_point p;
        c->ratio[k] = sample(r, k);
        if (ga_spectrum_at(&m->method, study->damping, c->ratio[k], &p, NULL) != GA_OK)
            p.spectral_radius = p.period_elongation = p.damping_ratio = NAN;
        c->y[0][k] = p.spectral_radius;
        c->y[1][k] = p.period_elongation;
        c->y[2][k] = p.damping_ratio;
    }
}

static void draw_panel(ga_figure *figure, const cli_study *study, int which)
{
    static const char *const names[PANELS] = {"spectral radius", "period elongation",
                                              "damping ratio"};
    const range r = range_of(study, which);
    const int panel = ga_figure_panel(
        figure, &(ga_plot_panel){
                    .struct_size = sizeof(ga_plot_panel),
                    .x = {.label = "h/T", .scale = r.scale, .low = r.low, .high = r.high},
                    .y = {.label = names[which]},
                    .legend = which ? GA_LEGEND_NONE : GA_LEGEND_AUTOMATIC,
                });
    for (int k = 0; k < study->count; ++k) {
        curves c;
        compute(study, &study->methods[k], &r, &c);
        ga_figure_series(figure, panel,
                         &(ga_plot_series){
                             .struct_size = sizeof(ga_plot_series),
                             .label = *study->methods[k].label ? study->methods[k].label : NULL,
                             .count = SAMPLES,
                             .x = c.ratio,
                             .y = c.y[which]});
    }
}

int cli_study_plot(const cli_study *study, const char *path, char message[CLI_MISTAKE_SIZE])
{
    char title[sizeof study->title + CLI_NUMBER_SIZE];
    const int n = snprintf(title, sizeof title, "%s", study->title);
    if (study->damping > 0)
        snprintf(title + n, sizeof title - (size_t)n, ", ζ = %g", study->damping);
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .title = title, .columns = PANELS, .width = 960});
    for (int which = 0; which < PANELS; ++which) draw_panel(figure, study, which);
    ga_report report;
    const ga_status status = ga_figure_write(figure, path, &report);
    ga_figure_destroy(figure);
    if (status != GA_OK) snprintf(message, CLI_MISTAKE_SIZE, "%s", report.message);
    return cli_exit_code(status);
}
