/* Andrews' mechanism once more, from bodies and joints. */
#include "verify/history.h"

#include <stdlib.h>

enum { ANGLES, PATHS = 7, BODIES = 7, ENERGY = PATHS + 2 * BODIES, WIDTH = ENERGY + 5 };

static const char *const channels[] = {
    "O.angle",     "F.angle",     "B.angle",     "G.angle",     "A5.angle",    "H.angle",
    "A7.angle",    "K1.position", "K2.position", "K3.position", "K4.position", "K5.position",
    "K6.position", "K7.position", "energy",      NULL};
static const char *const set[] = {
    "simulate={t_end: 0.03, tolerance: 1e-10, error: extrapolate}", NULL};

static void check_angles(vf_run *run, const double *end)
{
    static const char *const names[7] = {"beta(0.03)",   "Theta(0.03)", "gamma(0.03)",
                                         "Phi(0.03)",    "delta(0.03)", "Omega(0.03)",
                                         "epsilon(0.03)"};
    static const double begin[7] = {-0.0617138900142764496, 0,
                                    0.455279819163070380,   0.222668390165885885,
                                    0.487364979543842550,   -0.222668390165885885,
                                    1.23054744454982119};
    static const double expected[7] = {15.8107711951537, -15.7563710584118, .040822240119646,
                                       -.53473011634208, .524409965879954,  .53473011634208,
                                       1.04808074104194};
    for (int k = 0; k < 7; ++k)
        vf_check(run, names[k], expected[k], begin[k] + end[ANGLES + k], 1e-8,
                 "a hundred times the tolerance of the run, 1e-10 per step");
}

static void plot_paths(vf_run *run, const vf_history *h)
{
    static const char *const labels[BODIES] = {"K1", "K2", "K3", "K4", "K5", "K6", "K7"};
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560, .height = 330});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "x", .unit = "mm"},
                                 .y = {.label = "y", .unit = "mm", .low = -20, .high = 25},
                                 .equal_aspect = true,
                                 .legend = GA_LEGEND_OUTSIDE});
    for (int k = 0; k < BODIES; ++k) {
        double *x = vf_history_column(run, h, PATHS + 2 * k);
        double *y = vf_history_column(run, h, PATHS + 2 * k + 1);
        for (int i = 0; x && y && i < h->count; ++i) {
            x[i] *= 1e3;
            y[i] *= 1e3;
        }
        if (x)
            vf_curve(
                figure, panel,
                (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = labels[k]},
                h->count, x, y);
        free(x);
    }
    vf_figure(run, figure,
              "Paths of the seven centres of mass: the crank K1 turns about O and carries K2 "
              "with it; all others swing on arcs.");
}

static void plot_drift(vf_run *run, const vf_history *h)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = vf_drift_panel(figure, 0.03);
    vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series), .width = 1},
             h->count, h->t, vf_history_drift(run, h, ENERGY));
    vf_figure(run, figure,
              "Energy balance, kinetic + potential - work of the torque, relative to the "
              "largest kinetic energy. The error is controlled per step, so the drift grows in "
              "the fast parts of each turn.");
}

static void run_squeezer(vf_run *run)
{
    vf_history history;
    if (!vf_record(run, "andrews_squeezer", set, channels, WIDTH, &history)) return;
    check_angles(run, vf_history_end(&history));
    vf_between(run, "energy drift, relative", 0, 1e-8, vf_energy_error(&history),
               "a hundred times the tolerance of the run");
    plot_paths(run, &history);
    plot_drift(run, &history);
    vf_history_free(&history);
}

const vf_problem vf_bench_a03 = {
    .name = "bench-a03",
    .title = "A03, Andrews' squeezer from bodies and joints",
    .source =
        "IFToMM library of computational benchmark problems, A03; Test Set for IVP Solvers",
    .statement =
        "The mechanism of ab07-andrews, not from its equations but as a model file: seven "
        "bodies, ten revolute joints in the plane, a torque and a spring. The file contains no "
        "equations, so agreement of the final angles verifies bodies, joints and forces.",
    .parameters = "model andrews_squeezer.yaml; t from 0 to 0.03\n"
                  "generalized-alpha, rho_inf 0.9, index 2\n"
                  "tolerance 1e-10 with extrapolation",
    .quick = true,
    .run = run_squeezer,
};
