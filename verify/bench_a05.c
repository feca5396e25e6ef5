/* Flyball governor: a stiff coupling in a slow motion. */
#include "verify/history.h"

enum { SLIDE, RATE, HINGE, ENERGY, WIDTH = ENERGY + 5 };

static const char *const channels[] = {"slide.displacement", "bearing.rate",
                                       "right_hinge.angle", "energy", NULL};
static const char *const as_is[] = {"simulate={t_end: 10, tolerance: 1e-4}", NULL};
static const char *const coarser[] = {"simulate={t_end: 10, tolerance: 1e-3}", NULL};

static void plot_motion(vf_run *run, const vf_history *h)
{
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 560, .height = 400, .share_x = true});
    const ga_plot_axis time = {.label = "time", .unit = "s", .high = 10};
    int panel =
        ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                 .x = time,
                                                 .y = {.label = "slider", .unit = "m"}});
    vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)}, h->count,
             h->t, vf_history_column(run, h, SLIDE));
    panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = time,
                                 .y = {.label = "speed of the shaft", .unit = "rad/s"}});
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .color = GA_COLOR_RED},
             h->count, h->t, vf_history_column(run, h, RATE));
    vf_figure(run, figure,
              "Displacement of the slider and speed of the shaft. When the balls rise, the "
              "shaft slows down: angular momentum is conserved.");
}

static void plot_drift(vf_run *run, const vf_history *h)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = vf_drift_panel(figure, 10);
    vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series), .width = 1},
             h->count, h->t, vf_history_drift(run, h, ENERGY));
    vf_figure(run, figure,
              "Energy balance, including the energy dissipated by the dampers, relative to the "
              "largest kinetic energy.");
}

static void run_governor(vf_run *run)
{
    const bool quick = vf_is_quick(run);
    const double allowed = quick ? 1e-2 : 1e-3;
    vf_history history;
    if (!vf_record(run, "flyball_governor", quick ? coarser : as_is, channels, WIDTH, &history))
        return;
    const double *end = vf_history_end(&history);
    vf_check(run, "slider at t = 10", 0.11962, end[SLIDE], allowed,
             "ten times the tolerance of the run");
    vf_check(run, "speed of the shaft at t = 10", 5.5482, end[RATE], allowed,
             "ten times the tolerance of the run");
    vf_between(run, "energy drift, relative", 0, quick ? 1e-3 : 1e-4, vf_energy_error(&history),
               "the tolerance of the run");
    vf_between(run, "mean step, s", 5e-4, 1,
               history.summary.t / (double)history.summary.control.accepted,
               "several times the time constant of the dampers, 0.1 ms");
    plot_motion(run, &history);
    plot_drift(run, &history);
    vf_history_free(&history);
}

const vf_problem vf_bench_a05 = {
    .name = "bench-a05",
    .title = "A05, stiff flyball governor",
    .source = "IFToMM library of computational benchmark problems, A05",
    .statement =
        "Two rods with balls of 5 kg on a shaft that starts with one turn per second and is "
        "left alone; a slider on the shaft hangs between springs of 8e5 N/m with dampers of "
        "4e4 Ns/m, joined to the middle of the rods. What they damp decays within 0.1 ms, "
        "while the motion takes seconds. An implicit method may choose its steps for the "
        "motion.\n"
        "\n"
        "No number is published. Ours is extrapolated from runs with tolerances 1e-4 and 1e-5, "
        "whose errors differ by a factor of ten, and good to the digits shown.",
    .parameters = "model flyball_governor.yaml; t from 0 to 10\n"
                  "generalized-alpha, rho_inf 0.9, index 2; tolerance 1e-4 (1e-3 if quick)",
    .quick = true,
    .run = run_governor,
};
