/* Simple pendulum: the first problem of the IFToMM library. */
#include "verify/history.h"

#include <math.h>

enum { X, Y, FORCE = 2, ENERGY = 4, WIDTH = 9, LEVELS = 3 };

static const char *const channels[] = {"bob.position", "bar.force", "energy", NULL};
static const double steps[LEVELS] = {2e-3, 1e-3, 5e-4};

/* Energy alone gives the tension of the bar at any place: 3 m g times the depth. */
static double largest_force_error(const vf_history *history)
{
    double largest = 0;
    for (int k = 0; k < history->count; ++k) {
        const double *row = history->values + k * history->width;
        double force = hypot(row[FORCE], row[FORCE + 1]);
        largest = fmax(largest, fabs(force + 3 * 9.81 * row[Y]));
    }
    return largest;
}

static void plot_motion(vf_run *run, const vf_history *history)
{
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 560, .height = 400, .share_x = true});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "time", .unit = "s", .high = 10},
                                 .y = {.label = "position", .unit = "m"},
                                 .legend = GA_LEGEND_OUTSIDE});
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "x"},
             history->count, history->t, vf_history_column(run, history, X));
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "y"},
             history->count, history->t, vf_history_column(run, history, Y));
    panel = ga_figure_panel(figure,
                            &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                             .x = {.label = "time", .unit = "s", .high = 10},
                                             .y = {.label = "force of the bar", .unit = "N"},
                                             .legend = GA_LEGEND_OUTSIDE});
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "x"},
             history->count, history->t, vf_history_column(run, history, FORCE));
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "y"},
             history->count, history->t, vf_history_column(run, history, FORCE + 1));
    vf_figure(run, figure,
              "Position of the mass and force of the bar on it. The tension of the bar is 3 m "
              "g = 29.43 N at the lowest point and zero at the turning points.");
}

static void run_pendulum(vf_run *run)
{
    const vf_bench bench = {.model = "simple_pendulum",
                            .t_end = 10,
                            .channels = channels,
                            .width = WIDTH,
                            .energy = ENERGY};
    const double exact[2] = {-0.2750874625761, -0.9614192050991};
    vf_bench_result result;
    if (vf_bench_climb(run, &bench, LEVELS, steps, &result,
                       "Energy drift relative to the largest kinetic energy: of second order, "
                       "a quarter with half the step size.")) {
        vf_check(run, "x(10), extrapolated to h = 0", exact[0], vf_bench_limit(&result, X),
                 1e-7, "what is left of order h^4 and less");
        vf_check(run, "y(10), extrapolated to h = 0", exact[1], vf_bench_limit(&result, Y),
                 1e-7, "what is left of order h^4 and less");
        vf_between(run, "order of x(10)", 1.99, 2.01, vf_bench_order(&result, X, exact[0]),
                   "second order");
        vf_between(run, "order of the energy drift", 1.95, 2.05, vf_bench_drift_order(&result),
                   "second order");
        vf_between(run, "energy drift, h = 5e-4", 0, 2e-6, result.drift[LEVELS - 1],
                   "1.2e-6 when this was written");
        vf_check(run, "tension - 3 m g depth, largest", 0, largest_force_error(&result.finest),
                 1e-4, "the error of the velocity at h = 5e-4, of second order");
        plot_motion(run, &result.finest);
    }
    vf_bench_free(&result);
}

const vf_problem vf_bench_a01 = {
    .name = "bench-a01",
    .title = "A01, simple pendulum",
    .source = "IFToMM library of computational benchmark problems, A01",
    .statement = "A mass of 1 kg on a massless bar of 1 m is released from the horizontal, g = "
                 "9.81 m/s^2, for 10 s. The benchmark measures energy drift; the final "
                 "position is known from elliptic functions. The bar is a `distance` joint: "
                 "one constraint, whose force is the tension.",
    .parameters = "model simple_pendulum.yaml\n"
                  "generalized-alpha, rho_inf 0.9, index 2; h = 2e-3, 1e-3, 5e-4",
    .quick = true,
    .run = run_pendulum,
};
