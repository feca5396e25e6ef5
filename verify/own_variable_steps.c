/* Steps of changing size in index 3: what keeps the multipliers at second order. */
#include "verify/soi2.h"

#include <float.h>
#include <galpha/spectrum.h>
#include <math.h>
#include <stdlib.h>

enum { LEVELS = 3 };

typedef enum strategy {
    NONE,
    ADJUST,
    RESCALE,
    RESET,
    INDEX2_NONE,
    INDEX2,
    STRATEGIES
} strategy;

static const struct {
    const char *label;
    ga_formulation formulation;
    ga_step_change change;
    unsigned color;
    ga_plot_marker marker;
} strategies[STRATEGIES] = {
    {"nothing", GA_INDEX3, GA_CHANGE_NONE, GA_COLOR_RED, GA_MARKER_CROSS},
    {"(14a)", GA_INDEX3, GA_CHANGE_ADJUST, GA_COLOR_ORANGE, GA_MARKER_PLUS},
    {"(14a) + rescale", GA_INDEX3, GA_CHANGE_RESCALE, GA_COLOR_GREEN, GA_MARKER_TRIANGLE},
    {"(14a) + reset", GA_INDEX3, GA_CHANGE_RESET, GA_COLOR_BLUE, GA_MARKER_SQUARE},
    {"index 2, nothing", GA_INDEX2, GA_CHANGE_NONE, GA_COLOR_GRAY, GA_MARKER_RING},
    {"index 2 + (14a)", GA_INDEX2, GA_CHANGE_ADJUST, GA_COLOR_BLACK, GA_MARKER_CIRCLE},
};

static vf_job job_of(const pb_problem *problem, strategy which, double duration, int pairs)
{
    vf_job job = {.problem = problem,
                  .def = vf_def(0.9, strategies[which].formulation, GA_START_AUTO),
                  .h = duration / pairs,
                  .t_end = duration,
                  .pattern_count = VF_PAIR,
                  .pattern = vf_pair};
    job.def.step_change = strategies[which].change;
    return job;
}

/* --- tables --------------------------------------------------------------------------------
 */

typedef struct table {
    ga_status (*create)(pb_problem **out);
    double duration;
    double mass; /* lambda per acceleration, M/B: what round-off of v' is in lambda */
    const char *name[STRATEGIES][LEVELS];
    double largest[STRATEGIES][LEVELS]; /* |e_lambda| over all steps; 96, 192, 384 pairs */
} table;

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status top(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_R3SO3, out); }

#define NAMES(what)                                                                            \
    {                                                                                          \
        what ", N = 96", what ", N = 192", what ", N = 384"                                    \
    }

static const table tables[2] = {
    {pendulum,
     2,
     1,
     {NAMES("pendulum, nothing"), NAMES("pendulum, (14a)"), NAMES("pendulum, rescale"),
      NAMES("pendulum, reset"), NAMES("pendulum, index 2, nothing"),
      NAMES("pendulum, index 2 + (14a)")},
     {{4.111637281113483, 2.694908521717605, 1.450907144834978},
      {4.1104214627219156, 2.8740271097167125, 1.5949479259333186},
      {0.0074818641828910334, 0.0013250701025233303, 0.0002395641294559523},
      {0.009412253617442058, 0.002579347879721433, 0.0006570816561181619},
      {0.008115918618627588, 0.004196529918943959, 0.0020931173276534003},
      {0.005316948945543515, 0.001418746781417633, 0.00035613865602932265}}},
    {top,
     0.2,
     15,
     {NAMES("heavy top, nothing"), NAMES("heavy top, (14a)"), NAMES("heavy top, rescale"),
      NAMES("heavy top, reset"), NAMES("heavy top, index 2, nothing"),
      NAMES("heavy top, index 2 + (14a)")},
     {{2330.7913528065556, 2390.8689910425483, 1572.5817816691667},
      {2338.3730754000003, 2341.9244332419853, 1660.6939252662305},
      {10.642090410681456, 3.0489321703060344, 0.6522874840683534},
      {12.500777399201562, 4.403732073157039, 1.2599997292509901},
      {17.50745762644571, 4.839529485946677, 1.5972227666935197},
      {16.605310839141563, 4.340387945358994, 1.1145270333101553}}},
};

/* The rounding of q enters v' of index 3 as eps |q|/(beta h^2), is amplified by up to 34.3, and
 * ten times that is allowed. */
static double allowed(const table *c, const vf_job *job, double expected)
{
    const ga_coefficients *p = &job->def.coefficients;
    const double shortest = job->h * vf_pair[0];
    const double beta = p->beta * (1 - p->alpha_f) / (1 - p->alpha_m);
    const bool index3 = job->def.formulation == GA_INDEX3;
    const double floor = DBL_EPSILON / (beta * shortest * shortest);
    return 1e-8 * expected + (index3 ? 10 * 34.3 * c->mass * floor : 0);
}

/* One level of all strategies: the times are the same, and the solution is needed once. */
static bool climb_level(vf_run *run, const pb_problem *problem, const table *c, int level,
                        int pairs, vf_ladder *ladders)
{
    vf_states exact = {0};
    bool done = true;
    for (int which = 0; done && which < STRATEGIES; ++which) {
        const vf_job job = job_of(problem, (strategy)which, c->duration, pairs);
        vf_states s = {0};
        done =
            vf_steps(run, &job, &s) && (exact.count || vf_solution(run, problem, &s, &exact));
        if (done) {
            const vf_errors e =
                vf_largest_errors(run, problem, &s, &exact, VF_NORM_EUCLIDEAN, 0, c->duration);
            const double known = c->largest[which][level];
            ladders[which].levels = level + 1;
            ladders[which].h[level] = job.h;
            ladders[which].error[VF_LAMBDA][level] = e.of[VF_LAMBDA];
            ladders[which].error[VF_Q][level] = e.of[VF_Q];
            vf_check(run, c->name[which][level], known, e.of[VF_LAMBDA],
                     allowed(c, &job, known),
                     "the scheme in 80 bits; 10 x amplified round-off of q in index 3");
        }
        vf_states_free(&s);
    }
    vf_states_free(&exact);
    return done;
}

static void check_orders(vf_run *run, const vf_ladder *pendulums, const vf_ladder *tops)
{
    static const struct {
        strategy which;
        const char *name;
        double least, most;
        const char *why;
    } orders[] = {
        {NONE, "pendulum: order of lambda, nothing", 0.8, 1.1, "first order, amplified"},
        {ADJUST, "pendulum: order of lambda, (14a)", 0.8, 1.1, "first order, amplified"},
        {RESCALE, "pendulum: order of lambda, rescale", 1.9, 2.6, "second, from above"},
        {RESET, "pendulum: order of lambda, reset", 1.95, 2.05, "second"},
        {INDEX2_NONE, "pendulum: order of lambda, index 2, nothing", 0.95, 1.05,
         "first order, not amplified"},
        {INDEX2, "pendulum: order of lambda, index 2 + (14a)", 1.95, 2.05, "second"},
    };
    for (int k = 0; k < STRATEGIES; ++k)
        vf_between(run, orders[k].name, orders[k].least, orders[k].most,
                   vf_order(&pendulums[orders[k].which], VF_LAMBDA, -1), orders[k].why);
    vf_between(run, "heavy top: order of lambda, rescale", 1.75, 2.4,
               vf_order(&tops[RESCALE], VF_LAMBDA, -1), "second, not yet asymptotic");
    vf_between(run, "heavy top: order of lambda, reset", 1.75, 2.4,
               vf_order(&tops[RESET], VF_LAMBDA, -1), "second, not yet asymptotic");
    vf_between(run, "heavy top: order of lambda, index 2 + (14a)", 1.9, 2.1,
               vf_order(&tops[INDEX2], VF_LAMBDA, -1), "second");
}

/* On SE(3) the joint is fixed in the body, B l^q = 0, and nothing but (14a) is needed. */
static void check_se3(vf_run *run)
{
    static const int pairs[2] = {768, 1536};
    pb_problem *problem = NULL;
    double largest[2] = {0};
    if (!vf_ok(run, pb_heavy_top_create(GA_GROUP_SE3, &problem), NULL)) return;
    for (int k = 0; k < 2; ++k) {
        const vf_job job = job_of(problem, ADJUST, 0.1, pairs[k]);
        vf_states s = {0}, exact = {0};
        if (vf_steps(run, &job, &s) && vf_solution(run, problem, &s, &exact))
            largest[k] = vf_largest_errors(run, problem, &s, &exact, VF_NORM_EUCLIDEAN, 0, 1)
                             .of[VF_LAMBDA];
        vf_states_free(&s);
        vf_states_free(&exact);
    }
    vf_between(run, "heavy top on SE(3): order of lambda, (14a) alone", 1.9, 2.1,
               log2(largest[0] / largest[1]), "second order: B l^q = 0 on SE(3)");
    pb_destroy(problem);
}

/* --- the linear model ----------------------------------------------------------------------
 */

static ga_pattern_growth growth(vf_run *run, strategy which, double ratio)
{
    const ga_coefficients method = vf_def(0.9, GA_INDEX3, GA_START_AUTO).coefficients;
    const double steps[2] = {1, ratio};
    ga_pattern_growth g = {0};
    ga_report report = {0};
    vf_ok(run,
          ga_error_growth_pattern(&method, strategies[which].formulation,
                                  strategies[which].change, 2, steps, &g, &report),
          &report);
    return g;
}

/* Largest |B v''| = 3 g |y'| of the pendulum: from B v = 0, twice differentiated. */
static double largest_jerk(const pb_problem *problem)
{
    double largest = 0;
    for (int k = 0; k <= 2000; ++k) {
        double v[2];
        problem->exact(problem, k * 1e-3, NULL, v, NULL, NULL);
        largest = fmax(largest, 3 * 9.81 * fabs(v[1]));
    }
    return largest;
}

/* What the linear model says of the first-order error, against runs with a short step. */
static void check_model(vf_run *run)
{
    static const char *const names[STRATEGIES] = {
        [NONE] = "e_lambda/(mean step |B v''|), nothing, by the linear model",
        [ADJUST] = "e_lambda/(mean step |B v''|), (14a), by the linear model",
        [INDEX2_NONE] = "e_lambda/(mean step |B v''|), index 2, by the linear model"};
    static const char *const zero[STRATEGIES] = {
        [RESCALE] = "first-order error in the linear model, rescale",
        [RESET] = "first-order error in the linear model, reset",
        [INDEX2] = "first-order error in the linear model, index 2 + (14a)"};
    const int pairs = 3072;
    pb_problem *problem = NULL;
    double worst = 0;
    if (!vf_ok(run, pendulum(&problem), NULL)) return;
    for (int which = 0; which < STRATEGIES; ++which) {
        const double expected = growth(run, (strategy)which, 2).lambda_error;
        if (zero[which])
            vf_check(run, zero[which], 0, expected, 1e-11, "round-off");
        else {
            const vf_job job = job_of(problem, (strategy)which, 2, pairs);
            vf_states s = {0}, exact = {0};
            double got = NAN;
            if (vf_steps(run, &job, &s) && vf_solution(run, problem, &s, &exact))
                got = vf_largest_errors(run, problem, &s, &exact, VF_NORM_LARGEST, 0, 2)
                          .of[VF_LAMBDA] /
                      (0.5 * job.h * largest_jerk(problem));
            vf_check_relative(run, names[which], expected, got,
                              which == INDEX2_NONE ? 0.015 : 0.001,
                              "the rest is the usual error, O(h) of this");
            vf_states_free(&s);
            vf_states_free(&exact);
        }
    }
    for (double ratio = 1.25; ratio <= 3; ratio += 0.25)
        worst = fmax(worst, growth(run, RESET, ratio).errors.max_norm);
    vf_between(run, "largest power of the error matrix, reset, ratios 1.25 to 3", 0, 1, worst,
               "a reset forgets the error: never amplified");
    pb_destroy(problem);
}

/* --- figures -------------------------------------------------------------------------------
 */

static void plot_orders(vf_run *run, const vf_ladder *pendulums, const vf_ladder *tops)
{
    static const char *const titles[2] = {"pendulum", "heavy top, R^{3}×SO(3)"};
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 680, .columns = 2});
    for (int k = 0; k < 2; ++k) {
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = titles[k],
                                     .x = {.label = "h", .unit = "s", .scale = GA_SCALE_LOG},
                                     .y = {.label = "max |e_{λ}|", .scale = GA_SCALE_LOG},
                                     .legend = k ? GA_LEGEND_OUTSIDE : GA_LEGEND_NONE});
        for (int which = 0; which < STRATEGIES; ++which)
            vf_plot_ladder(figure, panel,
                           (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                            .label = strategies[which].label,
                                            .color = strategies[which].color,
                                            .marker = strategies[which].marker,
                                            .width = 1},
                           k ? &tops[which] : &pendulums[which], VF_LAMBDA);
        const double x = k ? 8e-4 : 8e-3, y = k ? 50 : 0.03;
        ga_figure_slope(
            figure, panel,
            &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2, .x = x, .y = y});
        ga_figure_slope(
            figure, panel,
            &(ga_plot_slope){
                .struct_size = sizeof(ga_plot_slope), .order = 1, .x = x, .y = 6 * y});
    }
    vf_figure(run, figure,
              "Largest error of λ with steps h/3, 2h/3, h/3, ... Index 3 without the right "
              "treatment is first order at best and wrong by a factor of a thousand; rescaling "
              "or resetting the residual B v, or index 2 with (14a), is second order.");
}

static void plot_time(vf_run *run, const pb_problem *problem)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 620});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){
                    .struct_size = sizeof(ga_plot_panel),
                    .x = {.label = "time", .unit = "s", .low = 0, .high = 2},
                    .y = {.label = "|e_{λ}|", .scale = GA_SCALE_LOG, .low = 1e-6, .high = 10},
                    .legend = GA_LEGEND_OUTSIDE});
    static const strategy shown[] = {ADJUST, RESET, INDEX2};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; ++k) {
        const vf_job job = job_of(problem, shown[k], 2, 192);
        vf_states s = {0}, exact = {0};
        if (vf_steps(run, &job, &s) && vf_solution(run, problem, &s, &exact)) {
            double *e = vf_lambda_error(run, &s, &exact, 0);
            for (int n = 0; e && n < s.count; ++n) e[n] = fabs(e[n]);
            vf_curve(figure, panel,
                     (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                      .label = strategies[shown[k]].label,
                                      .color = strategies[shown[k]].color,
                                      .width = 1},
                     s.count, s.t, e);
        }
        vf_states_free(&s);
        vf_states_free(&exact);
    }
    vf_figure(
        run, figure,
        "Pendulum, 192 pairs of steps: the error of λ over time. With (14a) alone each change "
        "of the step disturbs λ again, and the disturbances are amplified: a permanent error "
        "of 30 %. With reset and in index 2 the error is three orders of magnitude smaller.");
}

static void plot_model(vf_run *run)
{
    enum { POINTS = 60 };
    static const strategy shown[] = {NONE, ADJUST, INDEX2_NONE};
    double ratio[POINTS], error[POINTS];
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 520});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                 .x = {.label = "ratio of the two steps", .low = 1, .high = 3},
                                 .y = {.label = "max |e_{λ}| / (mean step · |B v''|)",
                                       .scale = GA_SCALE_LOG,
                                       .low = 1e-3,
                                       .high = 1e3}});
    for (size_t k = 0; k < sizeof shown / sizeof *shown; ++k) {
        for (int i = 0; i < POINTS; ++i) {
            ratio[i] = 1 + 2 * pow((i + 1.0) / POINTS, 2);
            error[i] = growth(run, shown[k], ratio[i]).lambda_error;
        }
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = strategies[shown[k]].label,
                                           .color = strategies[shown[k]].color,
                                           .count = POINTS,
                                           .x = ratio,
                                           .y = error});
    }
    vf_figure(
        run, figure,
        "The linear model: coefficient of the first-order error of λ when two step sizes "
        "alternate. It is zero for rescale, reset and index 2 with (14a). Steps that differ by "
        "10 % already give 17 in index 3.");
}

static void run_variable_steps(vf_run *run)
{
    static const int pairs[LEVELS] = {96, 192, 384};
    vf_ladder ladders[2][STRATEGIES] = {0};
    bool done = true;
    for (int k = 0; done && k < 2; ++k) {
        pb_problem *problem = NULL;
        if (!vf_ok(run, tables[k].create(&problem), NULL)) return;
        for (int level = 0; done && level < LEVELS; ++level)
            done = climb_level(run, problem, &tables[k], level, pairs[level], ladders[k]);
        if (k == 0) plot_time(run, problem);
        pb_destroy(problem);
    }
    if (!done) return;
    check_orders(run, ladders[0], ladders[1]);
    check_se3(run);
    check_model(run);
    plot_orders(run, ladders[0], ladders[1]);
    plot_model(run);
}

const vf_problem vf_own_variable_steps = {
    .name = "own-variable-steps",
    .title = "Index 3 with steps of changing size",
    .source = "own finding; after [JN08] equation (14) and [ABC14] equations (17) and (56)",
    .statement =
        "In index 3 the velocities satisfy the constraints up to B v_n + Phi_t = B l^q/h_n, a "
        "residual of second order that belongs to the step size. When the step changes, the "
        "residual still belongs to the old one; the difference is an error of first order in "
        "lambda, which the error matrix of [ABC14] amplifies, at rho_inf = 0.9 by 34. Moving a "
        "by (14a) of [JN08] alone does not help, nor does projecting v to B v = 0.\n"
        "\n"
        "Second order is restored by (14a) together with either rescaling the residual, B v + "
        "Phi_t times (h_n/h_{n-1})^2, or resetting it to B l^q/h_n by (56) at the current "
        "state; or by stabilised index 2 with (14a), which has no such residual. Shown are the "
        "pendulum of [ABC14] from x0 = 0.2 and the heavy top, with steps that alternate "
        "between h/3 and 2h/3 all the time, the hardest case. On SE(3) the joint of the top is "
        "fixed in the body, B l^q = 0, and (14a) suffices. The evidence is numerical, "
        "supported by a linear model that predicts the size of the error.",
    .parameters =
        "generalized-alpha, rho_inf 0.9, start values perturbed in index 3, shifted "
        "in index 2\n"
        "N = 96, 192, 384 pairs of steps h/3, 2h/3 on [0, 2] (pendulum), [0, 0.2] (top)\n"
        "linear model against the pendulum: N = 3072",
    .quick = true,
    .run = run_variable_steps,
};
