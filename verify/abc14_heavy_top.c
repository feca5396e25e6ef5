/* The heavy top's motion: what all errors of the other problems are measured against. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>

#define WHY_SOLUTION "two independent extrapolations; 1e-12 per step here"

/* Sources: reference solution of order 14 to 18 in 80-bit arithmetic. */
static const double Omega_rate_0[3] = {661.346169230769231, 0, 0};
static const double x_acceleration_0[3] = {0, -21.3017325444, -30.9608307692308};
static const double x_1[3] = {.173343964098386, .640088592070569, -.748490791133581};
static const double p_1[4] = {.732943980679664, -.278285719337613, .531824611334162,
                              -.320176142736249};
static const double Omega_1[3] = {-.822078101682706, 150, -5.923291348117335};
static const double x_velocity_1[3] = {.570825303425488, -4.588728296334950,
                                       -3.791955154710042};
static const double lambda_1[3] = {-517.600739476900, -396.843101489554, 404.574925162884};
static const double x_2[3] = {-0.150416822746, -0.724165591637, -0.673022269560};

static void check_vector(vf_run *run, const char *const names[], int n, const double *expected,
                         const double *got, double sign, double tolerance, const char *why)
{
    for (int i = 0; i < n; ++i)
        vf_check(run, names[i], expected[i], sign * got[i], tolerance, why);
}

static void check_states(vf_run *run, const vf_states *s)
{
    static const char *const start[] = {"x_1''(0)",    "x_2''(0)",    "x_3''(0)",
                                        "Omega_1'(0)", "Omega_2'(0)", "Omega_3'(0)"};
    static const char *const x[] = {"x_1(1)", "x_2(1)", "x_3(1)"};
    static const char *const p[] = {"quaternion w(1)", "quaternion x(1)", "quaternion y(1)",
                                    "quaternion z(1)"};
    static const char *const Omega[] = {"Omega_1(1)", "Omega_2(1)", "Omega_3(1)"};
    static const char *const xd[] = {"x_1'(1)", "x_2'(1)", "x_3'(1)"};
    static const char *const lambda[] = {"lambda_1(1)", "lambda_2(1)", "lambda_3(1)"};
    static const char *const end[] = {"x_1(2)", "x_2(2)", "x_3(2)"};
    const double *q = s->q + s->nq, *v = s->v + s->nv;
    check_vector(run, start, 3, x_acceleration_0, s->vd, 1, 1e-10, "digits given");
    check_vector(run, start + 3, 3, Omega_rate_0, s->vd + 3, 1, 1e-10, "digits given");
    check_vector(run, x, 3, x_1, q, 1, 1e-10, WHY_SOLUTION);
    check_vector(run, p, 4, p_1, q + 3, q[3] < 0 ? -1 : 1, 1e-10, WHY_SOLUTION);
    check_vector(run, Omega, 3, Omega_1, v + 3, 1, 1e-9, WHY_SOLUTION);
    check_vector(run, xd, 3, x_velocity_1, v, 1, 1e-9, WHY_SOLUTION);
    check_vector(run, lambda, 3, lambda_1, s->lambda + s->m, 1, 1e-7, WHY_SOLUTION);
    check_vector(run, end, 3, x_2, s->q + 2 * s->nq, 1, 1e-10, WHY_SOLUTION);
}

/* m |x'|^2/2 + Omega J Omega/2 + m g x_3. */
static double energy(const double *q, const double *v)
{
    static const double M[6] = {15, 15, 15, 0.234375, 0.46875, 0.234375};
    double sum = 15 * 9.81 * q[2];
    for (int i = 0; i < 6; ++i) sum += 0.5 * M[i] * v[i] * v[i];
    return sum;
}

/* --- the reference of the paper ----------------------------------------------------------- */

static void plot_motion(vf_run *run, const vf_states *s)
{
    static const char *const labels[] = {"λ_{1}", "λ_{2}", "λ_{3}"};
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 640, .columns = 2});
    const ga_plot_axis time = {.label = "time", .unit = "s", .low = 0, .high = 1};
    int panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                         .x = time,
                                                         .y = {.label = "x_{3}", .unit = "m"}});
    vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)}, s->count,
             s->t, vf_column(run, s->count, s->q, s->nq, 2));
    panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                     .x = time,
                                                     .y = {.label = "λ", .unit = "N"}});
    for (int i = 0; i < 3; ++i)
        vf_curve(figure, panel,
                 (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = labels[i]},
                 s->count, s->t, vf_column(run, s->count, s->lambda, s->m, i));
    vf_figure(run, figure,
              "[ABC14] figure 3: height of the centre of mass and multipliers. The top sinks "
              "below the horizontal plane, where it started, and precesses; the reactions turn "
              "with it and do not oscillate.");
}

static void plot_path(vf_run *run, const vf_states *s)
{
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def)});
    int panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                         .x = {.label = "x_{1}", .unit = "m"},
                                                         .y = {.label = "x_{2}", .unit = "m"},
                                                         .equal_aspect = true});
    double *x = vf_column(run, s->count, s->q, s->nq, 0);
    if (x)
        vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)},
                 s->count, x, vf_column(run, s->count, s->q, s->nq, 1));
    ga_figure_note(figure, panel,
                   &(ga_plot_note){.struct_size = sizeof(ga_plot_note),
                                   .x = 0,
                                   .y = 1,
                                   .text = "t = 0",
                                   .right = 28,
                                   .up = 6});
    free(x);
    vf_figure(run, figure, "The path of the centre of mass from above, t from 0 to 1.");
}

/* Stabilised index 2 with h = 2.5e-5, compared at t = 1. */
static void run_reference(vf_run *run, const pb_problem *top, const vf_states *solution)
{
    const double h = vf_is_quick(run) ? 5e-4 : 2.5e-5;
    vf_job job = {
        .problem = top, .def = vf_def(0.9, GA_INDEX2, GA_START_SHIFTED), .h = h, .t_end = 1};
    vf_states s;
    if (!vf_steps(run, &job, &s)) return;
    const double *q = s.q + (s.count - 1) * s.nq, *v = s.v + (s.count - 1) * s.nv;
    double error = 0;
    for (int i = 0; i < 3; ++i) error = fmax(error, fabs(q[i] - solution->q[solution->nq + i]));
    vf_between(run, "index 2: max |x(1) - exact|/h^2", 3300, 3500, error / (h * h),
               "second order: 3420 at h = 2.5e-5, 3438 at 5e-4");
    vf_check(run, "index 2: energy at t = 1", 5435.69679086554688, energy(q, v), 1.6e6 * h * h,
             "second order");
    vf_note(run,
            "The paper's reference, stabilised index 2 with h = 2.5e-5, is itself within "
            "%.1e of the solution at t = 1.",
            error);
    plot_motion(run, &s);
    plot_path(run, &s);
    vf_states_free(&s);
}

static void run_top(vf_run *run)
{
    static const double times[3] = {0, 1, 2};
    pb_problem *top = NULL;
    vf_states solution = {0};
    if (!vf_ok(run, pb_heavy_top_create(GA_GROUP_R3SO3, &top), NULL)) return;
    if (vf_solution_at(run, top, 3, times, &solution)) {
        check_states(run, &solution);
        run_reference(run, top, &solution);
    }
    vf_states_free(&solution);
    pb_destroy(top);
}

const vf_problem vf_abc14_heavy_top = {
    .name = "abc14-heavy-top",
    .title = "Heavy top: the motion",
    .source = "[ABC14] section 5, equation (62), figures 2 and 3",
    .statement =
        "A top with m = 15, J = diag(0.234375, 0.46875, 0.234375) about its centre of mass, "
        "which is at X = (0, 1, 0) from a fixed point, under gravity 9.81 along -z. It starts "
        "with R = I and Omega = (0, 150, -4.61538). Coordinates are absolute, (x, R), with "
        "three constraints -x + R X = 0.\n"
        "\n"
        "The solution is computed here without generalized-alpha, by extrapolation of an "
        "ordinary differential equation on the group, and compared with one that was computed "
        "in another program in 80-bit arithmetic. The reference of the paper is the stabilised "
        "index-2 form with a small step; it is repeated for the figures.",
    .parameters = "R3xSO(3)\n"
                  "extrapolated midpoint rule, order up to 12, 1e-12 per step, t to 2\n"
                  "figures: index 2, rho_inf 0.9, h = 2.5e-5 (--quick: 5e-4)",
    .quick = true,
    .run = run_top,
};
