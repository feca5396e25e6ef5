/* N four-bars in a row, through positions where the constraints lose rank. */
#include "verify/history.h"

enum { TIP, TIP_RATE = 2, ANGLE = 4, ENERGY = 5, WIDTH = 10 };

static const char *const channels[] = {"crank0.tip.position", "crank0.tip.velocity",
                                       "pivot0.angle", "energy", NULL};
static const char *const two[] = {"parameters.N=2", NULL};
static const char *const forty[] = {"parameters.N=40", NULL};

static vf_bench bench_of(const char *const *set)
{
    return (vf_bench){.model = "n_four_bar",
                      .set = set,
                      .t_end = 10,
                      .channels = channels,
                      .width = WIDTH,
                      .energy = ENERGY};
}

/* Three cranks and two couplers, all cranks parallel. */
static void draw(ga_figure *figure, int panel, const double *tip)
{
    double x[6], y[6];
    for (int k = 0; k < 3; ++k) {
        const double ends[2] = {0, 1};
        for (int i = 0; i < 2; ++i) {
            x[i] = k + ends[i] * tip[0];
            y[i] = ends[i] * tip[1];
        }
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .count = 2,
                                           .x = x,
                                           .y = y,
                                           .color = GA_COLOR_BLUE,
                                           .marker = GA_MARKER_CIRCLE,
                                           .marker_size = 4});
    }
    for (int k = 0; k < 3; ++k) {
        x[k] = k + tip[0];
        y[k] = tip[1];
    }
    ga_figure_series(figure, panel,
                     &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                       .count = 3,
                                       .x = x,
                                       .y = y,
                                       .color = GA_COLOR_ORANGE,
                                       .marker = GA_MARKER_CIRCLE,
                                       .marker_size = 4});
}

/* The first positions in which the angle of the cranks has passed the given ones. */
static void plot_snapshots(vf_run *run, const vf_history *history)
{
    static const struct {
        double angle;
        const char *title;
    } shots[] = {{0, "start"}, {0.8, "on the way"}, {1.45, "nearly aligned"}, {2.6, "beyond"}};
    ga_figure *figure = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                                                          .width = 640,
                                                          .height = 430,
                                                          .columns = 2,
                                                          .share_x = true,
                                                          .share_y = true});
    for (size_t k = 0; k < sizeof shots / sizeof *shots; ++k) {
        int at = 0;
        while (at < history->count - 1 &&
               -history->values[at * history->width + ANGLE] < shots[k].angle - 1e-9)
            ++at;
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = shots[k].title,
                                     .x = {.label = "x", .unit = "m", .low = -0.5, .high = 3.5},
                                     .y = {.label = "y", .unit = "m", .low = -1.2, .high = 1.2},
                                     .equal_aspect = true});
        draw(figure, panel, history->values + at * history->width + TIP);
    }
    vf_figure(run, figure,
              "N = 2: three cranks (blue) and two couplers. Where all bars lie on one line "
              "each crank could continue independently, up or down; in the smooth continuation "
              "they stay parallel.");
}

static void plot_motion(vf_run *run, const vf_history *history)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 560});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "time", .unit = "s", .high = 10},
                                 .y = {.label = "tip of the first crank", .unit = "m"},
                                 .legend = GA_LEGEND_OUTSIDE});
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "x"},
             history->count, history->t, vf_history_column(run, history, TIP));
    vf_curve(figure, panel,
             (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "y"},
             history->count, history->t, vf_history_column(run, history, TIP + 1));
    ga_figure_rule(
        figure, panel,
        &(ga_plot_rule){.struct_size = sizeof(ga_plot_rule), .direction = GA_ALONG_X, .at = 0});
    vf_figure(run, figure,
              "N = 2: the tip of the first crank. The cranks go round five times and, where y "
              "is zero, ten times through the singular position.");
}

static void run_two(vf_run *run)
{
    static const double steps[] = {2e-3, 1e-3, 5e-4};
    const double position[2] = {0.3284581115408, 0.9445185381786};
    const double velocity[2] = {1.4230514702, -0.4948688455};
    const vf_bench bench = bench_of(two);
    vf_bench_result result;
    if (vf_bench_climb(run, &bench, 3, steps, &result,
                       "Energy drift for N = 2: of second order, with no trace of the singular "
                       "positions.")) {
        vf_check(run, "x of the tip at t = 10, N = 2", position[0],
                 vf_bench_limit(&result, TIP), 1e-6, "extrapolated to h = 0; what is left");
        vf_check(run, "y of the tip at t = 10, N = 2", position[1],
                 vf_bench_limit(&result, TIP + 1), 1e-6, "extrapolated to h = 0; what is left");
        vf_check(run, "x' of the tip at t = 10, N = 2", velocity[0],
                 vf_bench_limit(&result, TIP_RATE), 1e-5,
                 "extrapolated to h = 0; what is left");
        vf_check(run, "y' of the tip at t = 10, N = 2", velocity[1],
                 vf_bench_limit(&result, TIP_RATE + 1), 1e-5,
                 "extrapolated to h = 0; what is left");
        vf_between(run, "order of x(10), N = 2", 1.9, 2.1,
                   vf_bench_order(&result, TIP, position[0]), "second order");
        vf_between(run, "order of the energy drift, N = 2", 1.9, 2.1,
                   vf_bench_drift_order(&result), "second order");
        plot_snapshots(run, &result.finest);
        plot_motion(run, &result.finest);
    }
    vf_bench_free(&result);
}

static void run_forty(vf_run *run)
{
    static const double steps[] = {2e-3, 1e-3};
    const vf_bench bench = bench_of(forty);
    vf_bench_result result;
    if (vf_bench_climb(run, &bench, 2, steps, &result,
                       "Energy drift for N = 40: 81 bars and 162 constraints in the plane, and "
                       "singular positions as before.")) {
        vf_check(run, "x of the tip at t = 10, N = 40", 0.18051222669,
                 vf_bench_limit(&result, TIP), 6e-6, "extrapolated to h = 0; what is left");
        vf_check(run, "y of the tip at t = 10, N = 40", 0.98357274058,
                 vf_bench_limit(&result, TIP + 1), 6e-6, "extrapolated to h = 0; what is left");
        vf_between(run, "order of the energy drift, N = 40", 1.9, 2.1,
                   vf_bench_drift_order(&result), "second order");
    }
    vf_bench_free(&result);
}

static void run_n_four_bar(vf_run *run)
{
    run_two(run);
    if (!vf_is_quick(run)) run_forty(run);
}

const vf_problem vf_bench_a02 = {
    .name = "bench-a02",
    .title = "A02, N four-bars through singular positions",
    .source = "IFToMM library of computational benchmark problems, A02",
    .statement =
        "N + 1 cranks of 1 m and 1 kg stand upright on pivots 1 m apart, their tips connected "
        "by N couplers; every tip starts with 1 m/s, and gravity turns the cranks over. Twice "
        "in every turn all bars lie on one line. There the constraint matrix loses rank, the "
        "mechanism has additional freedom for an instant, and solvers fail or switch to a "
        "branch in which the cranks are no longer parallel.\n"
        "\n"
        "With all cranks parallel the motion is that of one degree of freedom, ((N + 1)/3 + N) "
        "theta'' = ((N + 1)/2 + N) g sin theta, from which the reference comes.",
    .parameters = "model n_four_bar.yaml, N = 2 and, unless quick, 40; t from 0 to 10\n"
                  "generalized-alpha, rho_inf 0.9, index 2\n"
                  "h = 2e-3, 1e-3 and, for N = 2, 5e-4",
    .quick = true,
    .run = run_n_four_bar,
};
