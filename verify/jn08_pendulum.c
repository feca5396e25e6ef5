/* SOI2 on a mechanism with one freedom: there the adjustment matters for velocities, too. */
#include "verify/soi2.h"

#include <stdlib.h>

enum { LEVELS = 5, MIDDLE = 2, KINDS = VF_PSI, THETA = 2 };
static const double h[LEVELS] = {0.05, 0.025, 0.0125, 0.00625, 0.003125};

#define WHY "the scheme in 80 bits; the effect of round-off is below 1e-7 of it"

typedef enum variant { ADJUSTED, PLAIN, VARIANTS } variant;

static const struct {
    ga_step_change change;
    const char *title;
    const char *middle[KINDS], *fine[KINDS];
    double error_middle[KINDS], error_fine[KINDS]; /* h = 0.0125 and 0.003125 */
} variants[VARIANTS] = {
    {GA_CHANGE_ADJUST,
     "with (14a)",
     {"error of y, with (14a), h = 0.0125", "error of z, with (14a), h = 0.0125",
      "error of a, with (14a), h = 0.0125", "error of lambda, with (14a), h = 0.0125"},
     {"error of y, with (14a), h = 0.003125", "error of z, with (14a), h = 0.003125",
      "error of a, with (14a), h = 0.003125", "error of lambda, with (14a), h = 0.003125"},
     {0.00159677987940804, 0.0021371095377512718, 0.1921277077230398, 0.8655009916418489},
     {0.00010038867448190991, 8.254789564632082e-05, 0.011911686331122003,
      0.053530534423824966}},
    {GA_CHANGE_NONE,
     "without (14a)",
     {"error of y, without (14a), h = 0.0125", "error of z, without (14a), h = 0.0125",
      "error of a, without (14a), h = 0.0125", "error of lambda, without (14a), h = 0.0125"},
     {"error of y, without (14a), h = 0.003125", "error of z, without (14a), h = 0.003125",
      "error of a, without (14a), h = 0.003125",
      "error of lambda, without (14a), h = 0.003125"},
     {0.001194973087920993, 0.011922810700725933, 0.13508336476909932, 0.821658883515281},
     {3.1273095590639696e-05, 0.002556198015424721, 0.0025039614534453007,
      0.05945322982960985}},
};

static void check_variant(vf_run *run, variant which, const vf_ladder *ladder)
{
    for (int kind = 0; kind < KINDS; ++kind)
        vf_check_relative(run, variants[which].middle[kind], variants[which].error_middle[kind],
                          ladder->error[kind][MIDDLE], 1e-6, WHY);
    for (int kind = 0; kind < KINDS; ++kind)
        vf_check_relative(run, variants[which].fine[kind], variants[which].error_fine[kind],
                          ladder->error[kind][LEVELS - 1], 1e-6, WHY);
}

static void check_orders(vf_run *run, const vf_ladder *ladders)
{
    static const char *const names[KINDS] = {"order of y, with (14a)", "order of z, with (14a)",
                                             "order of a, with (14a)",
                                             "order of lambda, with (14a)"};
    for (int kind = 0; kind < KINDS; ++kind)
        vf_between(run, names[kind], 1.97, kind == VF_V ? 2.3 : 2.03,
                   vf_order(&ladders[ADJUSTED], (vf_kind)kind, -1),
                   kind == VF_V ? "second order, from above: 3.2, 2.8, 2.5, 2.2"
                                : "second order");
    vf_between(run, "order of z, without (14a)", 0.95, 1.1, vf_order(&ladders[PLAIN], VF_V, -1),
               "first order: always adjust");
}

/* The solution, and what SOI2 makes of it with h^2 and h^3 taken away. */
static void check_end(vf_run *run, const pb_problem *problem, const vf_job *job)
{
    enum { NUMBERS = 4 };
    static const double reference[NUMBERS] = {4.72777869988355126, -0.198184434703878209,
                                              10.4524522815276621, -49.2819442093044728};
    static const char *const names[2][NUMBERS] = {
        {"theta(2)", "theta'(2)", "lambda_1(2)", "lambda_2(2)"},
        {"theta(2), SOI2 extrapolated to h = 0", "theta'(2), SOI2 extrapolated to h = 0",
         "lambda_1(2), SOI2 extrapolated to h = 0", "lambda_2(2), SOI2 extrapolated to h = 0"}};
    static const double left[NUMBERS] = {1e-9, 3e-8, 1e-6, 3e-7};
    double x[3][NUMBERS] = {0};
    vf_states s = {0};
    const double t = 2;
    for (int k = 0; k < 4; ++k) {
        vf_job level = *job;
        level.h = h[LEVELS - 1] / (1 << k);
        bool done = k < 3 ? vf_steps(run, &level, &s) : vf_solution_at(run, problem, 1, &t, &s);
        if (!done) return;
        const int last = s.count - 1;
        const double end[NUMBERS] = {s.q[3 * last + THETA], s.v[3 * last + THETA],
                                     s.lambda[2 * last], s.lambda[2 * last + 1]};
        for (int i = 0; i < NUMBERS; ++i)
            if (k < 3)
                x[k][i] = end[i];
            else
                vf_check_relative(run, names[0][i], reference[i], end[i], 1e-10,
                                  "extrapolation of order 12, not the method");
        vf_states_free(&s);
    }
    for (int i = 0; i < NUMBERS; ++i) {
        const double coarse = (4 * x[1][i] - x[0][i]) / 3, fine = (4 * x[2][i] - x[1][i]) / 3;
        vf_check(run, names[1][i], reference[i], (8 * fine - coarse) / 7, left[i],
                 "what is left is of order h^4");
    }
}

static void plot_motion(vf_run *run, const pb_problem *problem, const vf_job *job)
{
    enum { SAMPLES = 401 };
    double t[SAMPLES];
    vf_states exact = {0}, states = {0};
    vf_job coarse = *job;
    coarse.h = 0.025;
    for (int k = 0; k < SAMPLES; ++k) t[k] = k * 2.0 / (SAMPLES - 1);
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 520, .share_x = true});
    if (vf_solution_at(run, problem, SAMPLES, t, &exact) && vf_steps(run, &coarse, &states)) {
        const ga_plot_series line = {
            .struct_size = sizeof(ga_plot_series), .label = "solution", .color = GA_COLOR_GRAY};
        const ga_plot_series dots = {.struct_size = sizeof(ga_plot_series),
                                     .label = "SOI2, h = 0.025",
                                     .line = GA_LINE_NONE,
                                     .marker = GA_MARKER_DOT,
                                     .marker_every = 1,
                                     .color = GA_COLOR_BLUE};
        int panel =
            ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                     .y = {.label = "θ", .unit = "rad"},
                                                     .x = {.low = 0, .high = 2}});
        vf_curve(figure, panel, line, exact.count, exact.t,
                 vf_column(run, exact.count, exact.q, 3, THETA));
        vf_curve(figure, panel, dots, states.count, states.t,
                 vf_column(run, states.count, states.q, 3, THETA));
        panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .x = {.label = "time", .unit = "s", .low = 0, .high = 2},
                                     .y = {.label = "λ_{1}", .unit = "N"},
                                     .legend = GA_LEGEND_NONE});
        vf_curve(figure, panel, line, exact.count, exact.t,
                 vf_column(run, exact.count, exact.lambda, 2, 0));
        vf_curve(figure, panel, dots, states.count, states.t,
                 vf_column(run, states.count, states.lambda, 2, 0));
    }
    vf_states_free(&states);
    vf_states_free(&exact);
    vf_figure(run, figure,
              "The motion: angle and first multiplier of the solution, and every step of SOI2 "
              "with alternating steps 0.0083 and 0.0167.");
}

static void plot_orders(vf_run *run, const vf_ladder *ladders)
{
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 620, .columns = 2, .share_y = true});
    for (int which = 0; which < VARIANTS; ++which) {
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = variants[which].title,
                                     .x = {.label = "h", .unit = "s", .scale = GA_SCALE_LOG},
                                     .y = {.label = "error at t = 2", .scale = GA_SCALE_LOG},
                                     .legend = which == ADJUSTED ? GA_LEGEND_AUTOMATIC
                                                                 : GA_LEGEND_NONE});
        vf_plot_soi2(figure, panel, &ladders[which]);
        ga_figure_slope(figure, panel,
                        &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope),
                                         .order = which == ADJUSTED ? 2 : 1});
    }
    vf_figure(run, figure,
              "Left: [JN08] figure 4, errors at t = 2 with steps h/3, 2h/3 and the adjustment, "
              "slope 2; a is not in the paper's figure. Right, not in the paper: without the "
              "adjustment the velocity z has slope 1. The steep lines of y and a come from "
              "errors of first and second order of opposite sign.");
}

static void run_pendulum_model(vf_run *run)
{
    pb_problem *problem = NULL;
    vf_ladder ladders[VARIANTS];
    vf_job job = {.pattern_count = VF_PAIR, .pattern = vf_pair};
    if (!vf_ok(run, pb_pendulum_model_create(NULL, &problem), NULL)) return;
    job.problem = problem;
    bool done = true;
    for (int which = 0; done && which < VARIANTS; ++which) {
        job.def = vf_soi2(0.2, variants[which].change);
        done = vf_climb_soi2(run, &job, LEVELS, h, &ladders[which]);
        if (done) check_variant(run, (variant)which, &ladders[which]);
    }
    if (done) {
        job.def = vf_soi2(0.2, GA_CHANGE_ADJUST);
        check_orders(run, ladders);
        check_end(run, problem, &job);
        plot_motion(run, problem, &job);
        plot_orders(run, ladders);
    }
    pb_destroy(problem);
}

const vf_problem vf_jn08_pendulum = {
    .name = "jn08-pendulum",
    .title = "SOI2 on a pendulum with spring and damper",
    .source = "[JN08] equation (16), figures 3 and 4",
    .statement = "A rod of length 2 L with torsion spring k and damper c at its pivot, in the "
                 "coordinates x, y of its centre and angle theta, with the two constraints "
                 "between centre and angle. m = 5, L = 2, k = 3000, c = 100, g = 9.81; it "
                 "starts at theta = 3 pi/2, where the spring is at rest, with theta' = 10.\n"
                 "\n"
                 "The paper shows second order in y, z and lambda with alternating steps and "
                 "the adjustment (14a). It also says that y and z do not need the adjustment. "
                 "That holds where the constraints leave no velocity free; here one is free, "
                 "and without (14a) every pair of steps h1, h2 leaves the defect (1 - rho)(h1 "
                 "- h2)^2/(6 (1 + rho)) a' in it, which adds up to first order.",
    .parameters = "SOI2, generalized-alpha, rho_inf 0.2, a(0) = v'(0)\n"
                  "steps h/3, 2h/3, ...; h = 0.05, 0.025, ..., 0.003125; t from 0 to 2\n"
                  "the error of a is the distance to v'(t_n + Delta_alpha h_{n-1})",
    .quick = true,
    .run = run_pendulum_model,
};
