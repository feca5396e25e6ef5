/* Bricard's mechanism: it moves although counting says it cannot. */
#include "verify/history.h"

enum { END_POINT, ANGLE = 3, ENERGY = 4, WIDTH = 9, LEVELS = 3 };

static const char *const channels[] = {"bar3.end.position", "J1.angle", "energy", NULL};
static const double steps[LEVELS] = {1e-2, 5e-3, 2.5e-3};

static void plot_motion(vf_run *run, const vf_history *h)
{
    static const char *const labels[3] = {"x", "y", "z"};
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 560, .height = 400, .share_x = true});
    const ga_plot_axis time = {.label = "time", .unit = "s", .high = 10};
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = time,
                                 .y = {.label = "end of the third bar", .unit = "m"},
                                 .legend = GA_LEGEND_OUTSIDE});
    for (int i = 0; i < 3; ++i)
        vf_curve(figure, panel,
                 (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = labels[i]},
                 h->count, h->t, vf_history_column(run, h, END_POINT + i));
    panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                     .x = time,
                                                     .y = {.label = "energy", .unit = "J"},
                                                     .legend = GA_LEGEND_OUTSIDE});
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "kinetic"},
             h->count, h->t, vf_history_column(run, h, ENERGY));
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "potential"},
             h->count, h->t, vf_history_column(run, h, ENERGY + 1));
    vf_figure(run, figure,
              "Motion of the point where the third and the fourth bar meet, and the energies. "
              "The mechanism falls from rest and returns to its initial position.");
}

/* The same at a tolerance of 1e-9 per step, another controller and other steps. */
static bool fine_run(vf_run *run, double *end, double *drift)
{
    static const char *const set[] = {
        "simulate={t_end: 10, tolerance: 1e-9, error: extrapolate}", NULL};
    vf_history history;
    if (!vf_record(run, "bricard", set, channels, WIDTH, &history)) return false;
    for (int i = 0; i < WIDTH; ++i) end[i] = vf_history_end(&history)[i];
    *drift = vf_energy_error(&history);
    vf_history_free(&history);
    return true;
}

static void run_bricard(vf_run *run)
{
    const vf_bench bench = {.model = "bricard",
                            .t_end = 10,
                            .channels = channels,
                            .width = WIDTH,
                            .energy = ENERGY};
    double end[WIDTH], drift;
    vf_bench_result result;
    if (vf_bench_climb(run, &bench, LEVELS, steps, &result,
                       "Energy drift relative to the largest kinetic energy: of second order, "
                       "bounded, and small whenever the mechanism is slow.")) {
        vf_between(run, "order of the energy drift", 1.95, 2.05, vf_bench_drift_order(&result),
                   "second order");
        vf_between(run, "energy drift, h = 2.5e-3", 0, 1e-5, result.drift[LEVELS - 1],
                   "6e-6 when this was written");
        if (fine_run(run, end, &drift)) {
            vf_between(run, "energy drift, tolerance 1e-9", 0, 1e-7, drift,
                       "a hundred times the tolerance of the run");
            vf_check(run, "kinetic energy at t = 10, extrapolated to h = 0", end[ENERGY],
                     vf_bench_limit(&result, ENERGY), 1e-6, "against the run with 1e-9");
            vf_check(run, "angle of the first joint at t = 10, extrapolated", end[ANGLE],
                     vf_bench_limit(&result, ANGLE), 1e-7, "against the run with 1e-9");
        }
        plot_motion(run, &result.finest);
    }
    vf_bench_free(&result);
}

const vf_problem vf_bench_a04 = {
    .name = "bench-a04",
    .title = "A04, Bricard's mechanism",
    .source = "IFToMM library of computational benchmark problems, A04",
    .statement =
        "Five bars of 1 m and 1 kg in a closed chain of six revolute joints with pairwise "
        "perpendicular axes, released from rest under gravity for 10 s. Thirty coordinates and "
        "thirty constraints leave no freedom by counting, but one constraint depends on the "
        "others in every position, and the mechanism has one degree of freedom. The motion is "
        "unique, the reactions are not. No final position is published; the library compares "
        "energy drift.",
    .parameters = "model bricard.yaml; t from 0 to 10\n"
                  "generalized-alpha, rho_inf 0.9, index 2; h = 1e-2, 5e-3, 2.5e-3\n"
                  "and a tolerance of 1e-9 with extrapolation",
    .quick = true,
    .run = run_bricard,
};
