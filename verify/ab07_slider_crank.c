/* Second order in coordinates and multipliers on a mechanism with a singular mass matrix. */
#include "verify/ladder.h"

#include <math.h>

#define WHY_Q "the scheme in 80 bits; round-off of Phi is 1e-16, and the motion amplifies it"
#define WHY_LAMBDA "the scheme in 80 bits; round-off of lambda is like 1/h^2"
#define WHY_INDEX2 "the scheme in 80 bits; round-off"
#define WHY_LIMIT "what is left of order h^4 is a tenth of it"

enum { THETA1 = 2, X4 = 7, LEVELS = 5, FINE_LEVELS = 7 };
static const double h[FINE_LEVELS] = {1e-2,    5e-3,     2.5e-3,   1.25e-3,
                                      6.25e-4, 3.125e-4, 1.5625e-4};

/* At t = 1: index 3, plain start; index 2, a_0 at the shifted time. rho_inf 0.7. */
typedef struct end_row {
    const char *theta1_name, *x4_name, *lambda1_name;
    double theta1, x4, lambda1;
} end_row;

static const end_row ends[2][LEVELS] = {
#define ROW(what, h, theta1, x4, lambda1)                                                      \
    {                                                                                          \
        "theta_1(1), " what ", h = " h, "x_4(1), " what ", h = " h,                            \
            "lambda_1(1), " what ", h = " h, theta1, x4, lambda1                               \
    }
    {ROW("index 3", "1e-2", 7.439227754450919, 0.6774043741277878, 2.7503050594795115),
     ROW("index 3", "5e-3", 7.449445838977515, 0.6069064930944477, 13.121237949422735),
     ROW("index 3", "2.5e-3", 7.4250364356749925, 0.6012523793133556, 14.796189185821152),
     ROW("index 3", "1.25e-3", 7.4173382188677355, 0.600591733743805, 15.136603230308843),
     ROW("index 3", "6.25e-4", 7.415310851155711, 0.600476550889654, 15.215907140947278)},
    {ROW("index 2", "1e-2", 7.415418858624918, 0.6861815807655098, 2.8510491207461732),
     ROW("index 2", "5e-3", 7.440654503233352, 0.6097027684077093, 13.082981045455709),
     ROW("index 2", "2.5e-3", 7.422619604987229, 0.6020155488375976, 14.782667995408065),
     ROW("index 2", "1.25e-3", 7.416719236443959, 0.6007872300567935, 15.13275307758446),
     ROW("index 2", "6.25e-4", 7.4151551052770035, 0.6005257651395961, 15.21490909969244)},
#undef ROW
};

static const ga_formulation formulations[2] = {GA_INDEX3, GA_INDEX2};

typedef struct ending {
    double theta1, x4, lambda1;
} ending;

static vf_job job_of(const pb_problem *crank, int which, double step)
{
    return (vf_job){
        .problem = crank,
        .def = vf_def(0.7, formulations[which], which == 0 ? GA_START_PLAIN : GA_START_SHIFTED),
        .h = step,
        .t_end = 1};
}

static bool run_to_end(vf_run *run, const pb_problem *crank, int which, double step,
                       ending *end)
{
    vf_job job = job_of(crank, which, step);
    vf_states states;
    if (!vf_steps(run, &job, &states)) return false;
    const int last = states.count - 1;
    *end = (ending){states.q[last * states.nq + THETA1], states.q[last * states.nq + X4],
                    states.lambda[last * states.m]};
    vf_states_free(&states);
    return true;
}

static void check_end(vf_run *run, int which, int k, const ending *end)
{
    const end_row *row = &ends[which][k];
    const double noise = which == 0 ? 1e-9 * pow(1e-2 / h[k], 2) : 1e-8;
    vf_check(run, row->theta1_name, row->theta1, end->theta1, 1e-10, WHY_Q);
    vf_check(run, row->x4_name, row->x4, end->x4, 1e-10, WHY_Q);
    vf_check(run, row->lambda1_name, row->lambda1, end->lambda1, noise,
             which == 0 ? WHY_LAMBDA : WHY_INDEX2);
}

/* Richardson's value of the two finest levels against the solution. */
static void check_limit(vf_run *run, const ending *coarse, const ending *fine)
{
    vf_check(run, "theta_1(1), extrapolated to h = 0", 7.41462498553876,
             (4 * fine->theta1 - coarse->theta1) / 3, 1e-6, WHY_LIMIT);
    vf_check(run, "x_4(1), extrapolated to h = 0", 0.600443137284005,
             (4 * fine->x4 - coarse->x4) / 3, 1e-6, WHY_LIMIT);
    vf_check(run, "lambda_1(1), extrapolated to h = 0", 15.2417675466,
             (4 * fine->lambda1 - coarse->lambda1) / 3, 5e-5, WHY_LIMIT);
}

static void plot_motion(vf_run *run, const pb_problem *crank)
{
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 560, .share_x = true, .height = 420});
    static const struct {
        int index;
        ga_plot_axis axis;
    } panels[2] = {{THETA1, {.label = "θ_{1}", .unit = "rad"}},
                   {X4, {.label = "x_{4}", .unit = "m"}}};
    vf_job job = job_of(crank, 0, 5e-3);
    vf_states states = {0}, exact = {0};
    if (vf_steps(run, &job, &states) && vf_solution(run, crank, &states, &exact)) {
        for (int k = 0; k < 2; ++k) {
            int panel = ga_figure_panel(
                figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                         .x = {.label = "time", .unit = "s", .high = 1},
                                         .y = panels[k].axis});
            vf_curve(
                figure, panel,
                (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "solution"},
                exact.count, exact.t,
                vf_column(run, exact.count, exact.q, exact.nq, panels[k].index));
            vf_curve(figure, panel,
                     (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                      .label = "index 3, h = 5·10^{-3} s",
                                      .line = GA_LINE_NONE,
                                      .marker = GA_MARKER_RING,
                                      .marker_size = 4,
                                      .marker_every = 4},
                     states.count, states.t,
                     vf_column(run, states.count, states.q, states.nq, panels[k].index));
        }
    }
    vf_states_free(&exact);
    vf_states_free(&states);
    vf_figure(run, figure,
              "[AB07] figure 2. Crank angle and position of the mass on the spring, computed "
              "with h = 5e-3 (every fourth step is shown) and the solution. They agree to the "
              "width of the line up to the fast reversals after 0.7 s; at the end the crank is "
              "0.035 rad off.");
}

static void plot_convergence(vf_run *run, int levels, double errors[2][2][FINE_LEVELS])
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int panel = ga_figure_panel(
        figure,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = "step size h", .unit = "s", .scale = GA_SCALE_LOG},
                         .y = {.label = "relative error at t = 1 s", .scale = GA_SCALE_LOG}});
    static const char *const names[2][2] = {{"θ_{1}, index 3", "λ_{1}, index 3"},
                                            {"θ_{1}, index 2", "λ_{1}, index 2"}};
    for (int which = 0; which < 2; ++which)
        for (int i = 0; i < 2; ++i)
            ga_figure_series(
                figure, panel,
                &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                  .label = names[which][i],
                                  .count = (size_t)levels,
                                  .x = h,
                                  .y = errors[which][i],
                                  .color = i == 0 ? GA_COLOR_BLUE : GA_COLOR_RED,
                                  .line = which == 0 ? GA_LINE_SOLID : GA_LINE_DASHED,
                                  .marker = which == 0 ? GA_MARKER_CIRCLE : GA_MARKER_RING});
    ga_figure_slope(figure, panel,
                    &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
    vf_figure(
        run, figure,
        "[AB07] figure 3. Relative errors of the crank angle and of the first multiplier "
        "at t = 1 against the step size: second order in both. With the coarsest step the "
        "fast reversals near the end are not resolved.");
}

static void run_slider_crank(vf_run *run)
{
    static const char *const order_names[2][2] = {
        {"order of theta_1, index 3", "order of lambda_1, index 3"},
        {"order of theta_1, index 2", "order of lambda_1, index 2"}};
    pb_problem *crank = NULL;
    if (!vf_ok(run, pb_slider_crank_create(&crank), NULL)) return;
    const pb_reference *solution = &crank->references[crank->reference_count - 1];
    const double theta1 = solution->q[THETA1], lambda1 = solution->lambda[0];
    const int levels = vf_is_quick(run) ? LEVELS : FINE_LEVELS;
    double errors[2][2][FINE_LEVELS] = {0};
    for (int which = 0; which < 2; ++which) {
        ending end = {0}, before = {0};
        for (int k = 0; k < levels; ++k) {
            before = end;
            if (!run_to_end(run, crank, which, h[k], &end)) break;
            if (k < LEVELS) check_end(run, which, k, &end);
            errors[which][0][k] = fabs(end.theta1 / theta1 - 1);
            errors[which][1][k] = fabs(end.lambda1 / lambda1 - 1);
        }
        for (int i = 0; i < 2; ++i)
            vf_between(run, order_names[which][i], 1.95, 2.05,
                       log2(errors[which][i][levels - 2] / errors[which][i][levels - 1]),
                       "second order, between the two finest steps");
        if (which == 0 && levels == FINE_LEVELS) check_limit(run, &before, &end);
    }
    plot_motion(run, crank);
    plot_convergence(run, levels, errors);
    pb_destroy(crank);
}

const vf_problem vf_ab07_slider_crank = {
    .name = "ab07-slider-crank",
    .title = "Slider-crank with a mass on a spring",
    .source = "[AB07] section 5.1, figures 2 and 3",
    .statement =
        "A crank of length 0.3 m turns under a constant torque of 1 Nm and moves a slider by a "
        "connecting rod of 0.6 m; a mass hangs on the slider by a spring of 1000 N/m. In the "
        "coordinates of the centres of mass, the angles, and the hinge between crank and rod "
        "there are 10 coordinates and 8 constraints. The hinge has no mass, so the mass matrix "
        "is singular; the matrix of dynamics and constraints together is not.\n"
        "\n"
        "The paper shows second order for coordinates and multipliers, here checked against "
        "the same scheme in extended precision and against the solution by extrapolation. The "
        "paper leaves part of the geometry open; ours: pivot at the origin, slider on y = 0, "
        "uniform rods, no gravity, theta_2 = -pi/6 at the start.",
    .parameters = "generalized-alpha, rho_inf 0.7\n"
                  "index 3, plain start (from rest: perturbing it changes nothing); index 2\n"
                  "h = 1e-2, halved up to 1.6e-4; t from 0 to 1",
    .quick = true,
    .run = run_slider_crank,
};
