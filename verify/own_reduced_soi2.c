/* SOI2 with fewer unknowns: does it keep second order? */
#include "verify/soi2.h"

#include <math.h>

enum { LEVELS = 8, FIRST = 3, SECOND = 5, RHOS = 3, PATTERNS = 2, PROBLEMS = 2 };
static const double h_over_end[LEVELS] = {0.1,     0.05,     0.025,     0.0125,
                                          0.00625, 0.003125, 0.0015625, 0.00078125};
static const double rhos[RHOS] = {0, 0.2, 0.8};

typedef enum pattern { ALTERNATING, CONSTANT } pattern;

static ga_status sleigh(pb_problem **out) { return pb_sleigh_create(GA_GROUP_R2SO2, out); }

static const struct {
    ga_status (*create)(pb_problem **out);
    double t_end;
} problems[PROBLEMS] = {{pb_jn08_test_create, 1}, {sleigh, 3}};

static bool climb(vf_run *run, const pb_problem *problem, double t_end, double rho,
                  pattern steps, bool reduced, vf_ladder *ladder)
{
    double h[LEVELS];
    vf_job job = {.problem = problem, .def = vf_soi2(rho, GA_CHANGE_ADJUST), .t_end = t_end};
    job.def.reduced = reduced;
    if (steps == ALTERNATING) {
        job.pattern_count = VF_PAIR;
        job.pattern = vf_pair;
    }
    for (int k = 0; k < LEVELS; ++k) h[k] = t_end * h_over_end[k];
    return vf_climb_soi2(run, &job, LEVELS, h, ladder);
}

/* --- numbers -------------------------------------------------------------------------------
 */

#define NAMES(steps, h)                                                                        \
    {                                                                                          \
        "error of y, " steps ", h = " h, "error of z, " steps ", h = " h,                      \
            "error of a, " steps ", h = " h, "error of lambda, " steps ", h = " h,             \
            "error of psi, " steps ", h = " h                                                  \
    }

/* [JN08] eq. (15), reduced, rho_inf 0.2; h = 0.0125 and 0.003125. */
static const struct {
    const char *name[VF_KINDS];
    double error[VF_KINDS];
    int level;
} known[PATTERNS][2] = {
    {{NAMES("alternating", "0.0125"),
      {8.789625469176201e-05, 8.918114373530802e-05, 0.00023884774954073887,
       8.497502922507239e-06, 6.5063697973284824e-06},
      FIRST},
     {NAMES("alternating", "0.003125"),
      {5.458837992395186e-06, 5.538643729337465e-06, 1.4940785582388665e-05,
       5.589694309944679e-07, 4.0797610382972e-07},
      SECOND}},
    {{NAMES("constant", "0.0125"),
      {0.00026486798307587316, 0.0002687391486870309, 0.0006201111966490423,
       9.341680939586893e-06, 2.4019223506759014e-05},
      FIRST},
     {NAMES("constant", "0.003125"),
      {1.6392989154195965e-05, 1.663264439564913e-05, 3.873431566995111e-05,
       7.05444792646414e-07, 1.4947004058716434e-06},
      SECOND}},
};

static void check_numbers(vf_run *run, pattern steps, const vf_ladder *reduced)
{
    for (int k = 0; k < 2; ++k)
        for (int kind = 0; kind < VF_KINDS; ++kind)
            vf_check_relative(run, known[steps][k].name[kind], known[steps][k].error[kind],
                              reduced->error[kind][known[steps][k].level], 1e-6,
                              "the scheme in 80 bits; round-off is 1e-7 of the smallest error");
}

static void check_ratios(vf_run *run, pattern steps, const vf_ladder *reduced,
                         const vf_ladder *full)
{
    static const char *const names[PATTERNS][2] = {
        {"error of y, reduced by full, alternating",
         "error of z, reduced by full, alternating"},
        {"error of y, reduced by full, constant", "error of z, reduced by full, constant"}};
    for (int kind = VF_Q; kind <= VF_V; ++kind)
        vf_between(run, names[steps][kind], 1.25, 1.27,
                   reduced->error[kind][LEVELS - 1] / full->error[kind][LEVELS - 1],
                   "a quarter larger: the price of the smaller system");
}

/* --- orders --------------------------------------------------------------------------------
 */

#define ORDERS(problem)                                                                        \
    {                                                                                          \
        {problem ", lowest order, rho 0, alternating",                                         \
         problem ", lowest order, rho 0, constant"},                                           \
            {problem ", lowest order, rho .2, alternating",                                    \
             problem ", lowest order, rho .2, constant"},                                      \
        {                                                                                      \
            problem ", lowest order, rho .8, alternating",                                     \
                problem ", lowest order, rho .8, constant"                                     \
        }                                                                                      \
    }
static const char *const order_names[PROBLEMS][RHOS][PATTERNS] = {ORDERS("(15)"),
                                                                  ORDERS("sleigh")};

/* Of all components that there are. */
static double lowest_order(const vf_ladder *ladder)
{
    double lowest = INFINITY;
    for (int kind = 0; kind < VF_KINDS; ++kind)
        if (ladder->error[kind][0] > 0)
            lowest = fmin(lowest, vf_order(ladder, (vf_kind)kind, -1));
    return lowest;
}

static void plot(vf_run *run, const vf_ladder *reduced, const vf_ladder *full)
{
    static const char *const titles[PATTERNS] = {"steps h/3, 2h/3, ...", "constant steps"};
    static const vf_kind shown[] = {VF_Q, VF_VD, VF_PSI};
    static const char *const labels[2][3] = {{"y, full", "a, full", "ψ, full"},
                                             {"y, reduced", "a, reduced", "ψ, reduced"}};
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 680, .columns = 2, .share_y = true});
    for (int steps = 0; steps < PATTERNS; ++steps) {
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = titles[steps],
                                     .x = {.label = "h", .scale = GA_SCALE_LOG},
                                     .y = {.label = "error at t = 1", .scale = GA_SCALE_LOG},
                                     .legend = steps ? GA_LEGEND_OUTSIDE : GA_LEGEND_NONE});
        for (int k = 0; k < 3; ++k)
            for (int variant = 0; variant < 2; ++variant)
                vf_plot_ladder(
                    figure, panel,
                    (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                     .label = labels[variant][k],
                                     .color = (unsigned)(GA_COLOR_BLUE + k),
                                     .line = variant ? GA_LINE_DASHED : GA_LINE_SOLID,
                                     .marker = variant ? GA_MARKER_RING : GA_MARKER_CIRCLE,
                                     .width = 1},
                    variant ? &reduced[steps] : &full[steps], shown[k]);
        ga_figure_slope(figure, panel,
                        &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
    }
    vf_figure(run, figure,
              "Test problem (15) of [JN08], rho_inf 0.2: the reduced variant, dashed, has the "
              "same slope 2 as the full one, a little above it.");
}

static void run_reduced(vf_run *run)
{
    vf_ladder full[PATTERNS] = {0}, shown[PATTERNS] = {0};
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *problem = NULL;
        bool done = vf_ok(run, problems[k].create(&problem), NULL);
        for (int r = 0; done && r < RHOS; ++r)
            for (int steps = 0; done && steps < PATTERNS; ++steps) {
                const double t_end = problems[k].t_end;
                vf_ladder reduced;
                done = climb(run, problem, t_end, rhos[r], (pattern)steps, true, &reduced);
                if (done)
                    vf_between(run, order_names[k][r][steps], 1.95, 2.05,
                               lowest_order(&reduced),
                               "second order in y, z, a, lambda and psi");
                if (!done || k > 0 || rhos[r] != 0.2) continue;
                shown[steps] = reduced;
                done = climb(run, problem, t_end, rhos[r], (pattern)steps, false, &full[steps]);
                if (!done) continue;
                check_numbers(run, (pattern)steps, &reduced);
                check_ratios(run, (pattern)steps, &reduced, &full[steps]);
            }
        pb_destroy(problem);
        if (!done) return;
    }
    plot(run, shown, full);
}

const vf_problem vf_own_reduced_soi2 = {
    .name = "own-reduced-soi2",
    .title = "SOI2 with fewer unknowns",
    .source = "own finding; a question left open in [JN08]",
    .statement = "SOI2 has two sets of multipliers for nonholonomic constraints in every step, "
                 "psi~ and psi, and two equations k = 0. The reduced variant sets psi~ = psi "
                 "and drops (13b) and (13h): p unknowns fewer. [JN08] mentions it and leaves "
                 "open whether second order is kept.\n"
                 "\n"
                 "Numerically it is: in every component, for rho_inf 0, 0.2 and 0.8, with "
                 "constant and alternating steps, on the test problem (15), whose forces are "
                 "nonlinear in psi, and on Chaplygin's sleigh. Errors of y and z are about a "
                 "quarter larger. There is no proof.",
    .parameters = "SOI2, generalized-alpha, rho_inf 0, 0.2, 0.8, a(0) = v'(0)\n"
                  "steps h or h/3, 2h/3, ...; h = 0.1 to 0.00078 of the time\n"
                  "(15) on [0, 1], sleigh on [0, 3]; orders between the last two h",
    .quick = true,
    .run = run_reduced,
};
