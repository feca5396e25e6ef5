/* A disc that rolls without slip: nonholonomic constraints. */
#include "verify/history.h"

#include <stdlib.h>

enum { POSITION, SPIN = 3, ENERGY = 6, WIDTH = 11, LEVELS = 3 };

static const char *const channels[] = {"disc.position", "disc.angular_velocity", "energy",
                                       NULL};
static const double steps[LEVELS] = {2e-3, 1e-3, 5e-4};

static void plot_motion(vf_run *run)
{
    static const char *const set[] = {"simulate={t_end: 4, tolerance: 1e-6}", NULL};
    vf_history h;
    if (!vf_record(run, "rolling_disc", set, channels, WIDTH, &h)) return;
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 700, .columns = 2});
    int panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                         .title = "seen from above",
                                                         .x = {.label = "x", .unit = "m"},
                                                         .y = {.label = "y", .unit = "m"},
                                                         .equal_aspect = true});
    double *x = vf_history_column(run, &h, POSITION);
    if (x)
        vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)},
                 h.count, x, vf_history_column(run, &h, POSITION + 1));
    free(x);
    panel =
        ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                 .title = "height",
                                                 .x = {.label = "time", .unit = "s", .high = 4},
                                                 .y = {.label = "z", .unit = "m"}});
    vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)}, h.count,
             h.t, vf_history_column(run, &h, POSITION + 2));
    vf_history_free(&h);
    vf_figure(
        run, figure,
        "Path of the centre of the disc in 4 s, and its height: every 0.4 s the disc leans "
        "over by 46 degrees and comes up again, while it travels once round a circle.");
}

static void run_disc(vf_run *run)
{
    static const char *const names[6] = {"x(1)",       "y(1)",       "z(1)",
                                         "Omega_1(1)", "Omega_2(1)", "Omega_3(1)"};
    static const double exact[6] = {2.77719890894, 3.23552939858, 0.69228187520,
                                    7.717697968,   17.022785901,  -2.880734444};
    const vf_bench bench = {.model = "rolling_disc",
                            .t_end = 1,
                            .channels = channels,
                            .width = WIDTH,
                            .energy = ENERGY};
    vf_bench_result result;
    if (vf_bench_climb(run, &bench, LEVELS, steps, &result,
                       "Energy drift relative to the largest kinetic energy: of second order. "
                       "The nonholonomic constraints do no work.")) {
        for (int i = 0; i < 6; ++i)
            vf_check(run, names[i], exact[i], vf_bench_limit(&result, i), i < 3 ? 2e-6 : 3e-5,
                     "extrapolated to h = 0; what is left");
        vf_between(run, "order of x(1)", 1.95, 2.05, vf_bench_order(&result, 0, exact[0]),
                   "second order");
        vf_between(run, "order of Omega_1(1)", 1.95, 2.05, vf_bench_order(&result, 3, exact[3]),
                   "second order");
        vf_between(run, "order of the energy drift", 1.9, 2.1, vf_bench_drift_order(&result),
                   "second order");
    }
    vf_bench_free(&result);
    plot_motion(run);
}

const vf_problem vf_bench_rolling_disc = {
    .name = "bench-rolling-disc",
    .title = "Rolling disc",
    .source = "a classical nonholonomic problem; numbers by extrapolation of order 14 to 18",
    .statement =
        "A disc of 15 kg and radius 1 m rolls on a plane without slip. It starts upright, with "
        "5 rad/s about its axis and 15 rad/s about the vertical. The height of its lowest "
        "point "
        "is a holonomic constraint; that this point does not slip, in two directions, are "
        "nonholonomic ones, with multipliers psi: the friction forces.",
    .parameters = "model rolling_disc.yaml; t from 0 to 1 (figure: 4)\n"
                  "generalized-alpha, rho_inf 0.9, index 2; h = 2e-3, 1e-3, 5e-4",
    .quick = true,
    .run = run_disc,
};
