/* Andrews' squeezing mechanism in relative and in absolute coordinates. */
#include "verify/ladder.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { RELATIVE, ABSOLUTE };
enum { F = 21, E = 23, G = 25, H = 27, D = 29 }; /* points among the absolute coordinates */

#define END 0.03

/* --- numbers ------------------------------------------------------------------------------ */

/* Index 3, plain start, the same scheme in 80 bits. lambda_1 belongs to different constraints
 * in the two models. */
typedef struct known {
    const char *beta_name, *lambda1_name, *lambda_name;
    int model;
    double rho, h, beta, error_lambda1, error_lambda;
} known;

static const known table[] = {
#define ROW(what, model, rho, h, beta, error_lambda1, error_lambda)                            \
    {                                                                                          \
        "beta, " what ", rho_inf " #rho ", h = " #h,                                           \
            "|e_lambda_1|, " what ", rho_inf " #rho ", h = " #h,                               \
            "|e_lambda|, " what ", rho_inf " #rho ", h = " #h, model, rho, h, beta,            \
            error_lambda1, error_lambda                                                        \
    }
    ROW("relative", RELATIVE, 0.7, 3e-4, 15.725327731435701, 8.770016035805076,
        27.588163770975115),
    ROW("relative", RELATIVE, 0.7, 1.5e-4, 15.791909558067827, 2.486236561037539,
        7.268407530762315),
    ROW("relative", RELATIVE, 0.7, 7.5e-5, 15.806312833002677, 0.5949622368160976,
        1.6781009329740633),
    ROW("relative", RELATIVE, 0.7, 3.75e-5, 15.809687585830519, 0.14723240697607365,
        0.4113641962858855),
    ROW("relative", RELATIVE, 0.7, 1.875e-5, 15.810504128750514, 0.03668628322441066,
        0.10219513128693447),
    ROW("relative", RELATIVE, 1, 3e-4, 15.751086388299463, 82.25212021862451,
        95.00064296938078),
    ROW("relative", RELATIVE, 1, 1.5e-4, 15.796003119391827, 1.9251362280779831,
        6.649579277426417),
    ROW("relative", RELATIVE, 1, 7.5e-5, 15.807080982340958, 0.49334585304879786,
        1.4698796598511579),
    ROW("absolute", ABSOLUTE, 0.7, 3e-4, 15.703129339417105, 2.0212613449712253,
        38.23799535805401),
    ROW("absolute", ABSOLUTE, 0.7, 1.5e-4, 15.786532268066852, 0.7781408847695146,
        11.906519634192222),
    ROW("absolute", ABSOLUTE, 0.7, 7.5e-5, 15.805007371152715, 0.19198398071804956,
        2.818654460685781),
    ROW("absolute", ABSOLUTE, 1, 3e-4, 15.733916813449957, 57.59933422793519,
        439.0349963397444),
#undef ROW
};

static ga_status create(int model, pb_problem **out)
{
    return model == RELATIVE ? pb_andrews_relative_create(out)
                             : pb_andrews_absolute_create(out);
}

static vf_job job_of(const pb_problem *squeezer, double rho, double h)
{
    vf_job job = {.problem = squeezer,
                  .def = vf_def(rho, GA_INDEX3, GA_START_PLAIN),
                  .h = h,
                  .t_end = END};
    /* at rho_inf = 1 multipliers jump so far that a modified iteration would halve steps */
    job.def.newton = GA_NEWTON_FULL;
    return job;
}

/* Errors at the end of a run. */
typedef struct ending {
    double beta, error_beta, error_lambda1, error_lambda;
    double angles[7];
} ending;

static bool run_to_end(vf_run *run, const pb_problem *squeezer, int model, double rho, double h,
                       ending *end)
{
    vf_job job = job_of(squeezer, rho, h);
    vf_states states;
    *end = (ending){0};
    if (!vf_steps(run, &job, &states)) return false;
    const int last = states.count - 1;
    const double *q = states.q + last * states.nq, *lambda = states.lambda + last * states.m;
    const pb_reference *solution = &squeezer->references[squeezer->reference_count - 1];
    if (model == ABSOLUTE)
        pb_andrews_angles(q, end->angles);
    else
        for (int i = 0; i < 7; ++i) end->angles[i] = q[i];
    end->beta = q[0];
    end->error_beta = fabs(q[0] - solution->q[0]);
    end->error_lambda1 = fabs(lambda[0] - solution->lambda[0]);
    double sum = 0;
    for (int i = 0; i < states.m; ++i) sum += pow(lambda[i] - solution->lambda[i], 2);
    end->error_lambda = sqrt(sum);
    vf_states_free(&states);
    return true;
}

/* Rounding of Phi, 10 eps in an angle, enters v' divided by beta h^2 and lambda times inertia
 * by arm, 5.5e-4. rho_inf = 0.7 amplifies it by 10.3 at most; with 1 a triple eigenvalue -1
 * adds up n^2/2 roundings of the past. Ten times that. */
static double noise(double rho, double h)
{
    const double n = END / h, amplified = rho < 1 ? 10.3 : n * n / 2;
    const ga_coefficients p = vf_def(rho, GA_INDEX3, GA_START_PLAIN).coefficients;
    const double c_q = p.beta * h * h * (1 - p.alpha_f) / (1 - p.alpha_m);
    return 10 * amplified * 10 * DBL_EPSILON / c_q * 5.5e-4;
}

static void check_table(vf_run *run, pb_problem *const models[2])
{
    for (size_t k = 0; k < sizeof table / sizeof *table; ++k) {
        const known *row = &table[k];
        ending end;
        if (!run_to_end(run, models[row->model], row->model, row->rho, row->h, &end)) return;
        const double tolerance = noise(row->rho, row->h);
        vf_check(run, row->beta_name, row->beta, end.beta, 1e-11,
                 "the scheme in 80 bits; round-off of beta is 1e-12");
        vf_check(run, row->lambda1_name, row->error_lambda1, end.error_lambda1, tolerance,
                 "the scheme in 80 bits; 10 x round-off of lambda, like 1/h^2");
        vf_check(run, row->lambda_name, row->error_lambda, end.error_lambda, tolerance,
                 "the scheme in 80 bits; 10 x round-off of lambda, like 1/h^2");
    }
}

/* The seven angles at t = 0.03 from two runs by Richardson's extrapolation. */
static void check_solution(vf_run *run, const pb_problem *squeezer)
{
    static const char *const names[7] = {"beta(0.03), extrapolated to h = 0",
                                         "Theta(0.03)",
                                         "gamma(0.03)",
                                         "Phi(0.03)",
                                         "delta(0.03)",
                                         "Omega(0.03)",
                                         "epsilon(0.03)"};
    static const double angles[7] = {15.8107711951537, -15.7563710584118, .040822240119646,
                                     -.53473011634208, .524409965879954,  .53473011634208,
                                     1.04808074104194};
    static const double tolerance[7] = {4e-6, 5e-6, 1e-7, 1e-7, 1e-8, 1e-7, 1e-8};
    ending coarse, fine;
    if (!run_to_end(run, squeezer, RELATIVE, 0.7, 1.875e-5, &coarse) ||
        !run_to_end(run, squeezer, RELATIVE, 0.7, 9.375e-6, &fine))
        return;
    for (int i = 0; i < 7; ++i)
        vf_check(run, names[i], angles[i], (4 * fine.angles[i] - coarse.angles[i]) / 3,
                 tolerance[i], "remainder of order h^3; the angles move at up to 1400 rad/s");
    vf_note(run, "The widely published reference, beta(0.03) = 15.81077119629904, is good to "
                 "about 1e-9 only; the solution to 1e-13 is 15.8107711951537.");
}

/* --- figures ------------------------------------------------------------------------------ */

static const double point_O[2] = {0, 0}, point_A[2] = {-0.06934, -0.00227},
                    point_B[2] = {-0.03635, 0.03273}, point_C[2] = {0.014, 0.072};

/* A line through up to four points; millimeters. */
static void draw_line(ga_figure *figure, int panel, ga_plot_series series, int count,
                      const double *const points[])
{
    double x[4], y[4];
    for (int k = 0; k < count; ++k) {
        x[k] = 1e3 * points[k][0];
        y[k] = 1e3 * points[k][1];
    }
    series.count = (size_t)count;
    series.x = x;
    series.y = y;
    ga_figure_series(figure, panel, &series);
}

/* Five parts: crank, coupler, the triangle with the spring, the two pairs at A. */
static void draw_mechanism(ga_figure *figure, int panel, const double *q)
{
    const double *e = q + E;
    draw_line(figure, panel,
              (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                               .color = GA_COLOR_GRAY,
                               .line = GA_LINE_DOTTED,
                               .width = 1.2},
              2, (const double *const[]){q + D, point_C});
    draw_line(figure, panel,
              (ga_plot_series){
                  .struct_size = sizeof(ga_plot_series), .color = GA_COLOR_GREEN, .width = 1.8},
              4, (const double *const[]){point_B, q + D, e, point_B});
    draw_line(figure, panel,
              (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                               .color = GA_COLOR_PURPLE,
                               .width = 1.8},
              3, (const double *const[]){point_A, q + G, e});
    draw_line(figure, panel,
              (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                               .color = GA_COLOR_ORANGE,
                               .width = 1.8},
              3, (const double *const[]){point_A, q + H, e});
    draw_line(figure, panel,
              (ga_plot_series){
                  .struct_size = sizeof(ga_plot_series), .color = GA_COLOR_BLUE, .width = 1.8},
              2, (const double *const[]){q + F, e});
    draw_line(figure, panel,
              (ga_plot_series){
                  .struct_size = sizeof(ga_plot_series), .color = GA_COLOR_RED, .width = 2.4},
              2, (const double *const[]){point_O, q + F});
    draw_line(figure, panel,
              (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                               .color = GA_COLOR_BLACK,
                               .line = GA_LINE_NONE,
                               .marker = GA_MARKER_SQUARE,
                               .marker_size = 4},
              4, (const double *const[]){point_O, point_A, point_B, point_C});
    draw_line(figure, panel,
              (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                               .color = GA_COLOR_BLACK,
                               .line = GA_LINE_NONE,
                               .marker = GA_MARKER_CIRCLE,
                               .marker_size = 3},
              4, (const double *const[]){q + F, q + G, q + H, e});
}

static void plot_snapshots(vf_run *run, const vf_states *states)
{
    static const struct {
        int step;
        const char *title;
    } shots[] = {{0, "t = 0"},       {20, "t = 6 ms"},    {28, "t = 8.4 ms"},
                 {32, "t = 9.6 ms"}, {36, "t = 10.8 ms"}, {40, "t = 12 ms"}};
    enum { SHOTS = sizeof shots / sizeof *shots };
    ga_figure *figure = ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def),
                                                          .width = 700,
                                                          .columns = 3,
                                                          .share_x = true,
                                                          .share_y = true});
    for (int k = 0; k < SHOTS; ++k) {
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = shots[k].title,
                                     .x = {.label = "x", .unit = "mm", .low = -82, .high = 44},
                                     .y = {.label = "y", .unit = "mm", .low = -35, .high = 80},
                                     .equal_aspect = true});
        draw_mechanism(figure, panel, states->q + shots[k].step * states->nq);
    }
    vf_figure(
        run, figure,
        "[AB07] figure 5. The mechanism during the first turn of its crank, O-F (red), of "
        "7 mm. Squares are fixed to the ground: O, A (left), B (upper left) and C, where "
        "the spring (dotted) is held. The bars from F, B and twice from A meet in P.");
}

static double *in_millimeters(vf_run *run, const vf_states *s, int i)
{
    double *x = vf_column(run, s->count, s->q, s->nq, i);
    for (int k = 0; x && k < s->count; ++k) x[k] *= 1e3;
    return x;
}

static double *in_milliseconds(vf_run *run, const vf_states *s)
{
    double *t = vf_numbers(run, (size_t)s->count);
    for (int k = 0; t && k < s->count; ++k) t[k] = 1e3 * s->t[k];
    return t;
}

static const ga_plot_axis time_axis = {.label = "time", .unit = "ms", .low = 0, .high = 30};

static void plot_point(vf_run *run, const vf_states *s)
{
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 700, .columns = 2});
    double *t = in_milliseconds(run, s);
    if (t) {
        int panel =
            ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                     .title = "point P",
                                                     .x = time_axis,
                                                     .y = {.label = "position", .unit = "mm"}});
        vf_curve(figure, panel,
                 (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "x"},
                 s->count, t, in_millimeters(run, s, E));
        vf_curve(figure, panel,
                 (ga_plot_series){.struct_size = sizeof(ga_plot_series), .label = "y"},
                 s->count, t, in_millimeters(run, s, E + 1));
        panel = ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                         .title = "crank",
                                                         .x = time_axis,
                                                         .y = {.label = "β", .unit = "rad"}});
        vf_curve(figure, panel, (ga_plot_series){.struct_size = sizeof(ga_plot_series)},
                 s->count, t, vf_column(run, s->count, s->q, s->nq, 0));
    }
    free(t);
    vf_figure(run, figure,
              "[AB07] figure 6. Position of P and angle of the crank, rho_inf 0.7, h = 3e-4. "
              "The crank makes two and a half turns, P moves back and forth in each.");
}

/* Accelerations of P, and the multipliers of the constraints that hold the center of mass of
 * body 1. */
static void plot_forces(vf_run *run, const vf_states *s, const vf_states *exact,
                        const char *caption)
{
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 700, .columns = 2});
    double *t = in_milliseconds(run, s), *fine = in_milliseconds(run, exact);
    const ga_plot_series solution = {
        .struct_size = sizeof(ga_plot_series), .color = GA_COLOR_LIGHT, .width = 3};
    for (int which = 0; t && fine && which < 2; ++which) {
        const bool force = which == 1;
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = force ? "multipliers of body 1" : "point P",
                                     .x = time_axis,
                                     .y = {.label = force ? "λ" : "acceleration",
                                           .unit = force ? "N" : "m/s²"},
                                     .legend = GA_LEGEND_BOTTOM_LEFT});
        const double *rows = force ? s->lambda : s->vd;
        const double *truth = force ? exact->lambda : exact->vd;
        const int width = force ? s->m : s->nv, first = force ? 0 : E;
        for (int i = 0; i < 2; ++i)
            vf_curve(figure, panel, solution, exact->count, fine,
                     vf_column(run, exact->count, truth, width, first + i));
        for (int i = 0; i < 2; ++i)
            vf_curve(
                figure, panel,
                (ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                 .label = force ? (i ? "λ_{2}" : "λ_{1}") : (i ? "y" : "x"),
                                 .color = i ? GA_COLOR_RED : GA_COLOR_BLUE,
                                 .width = 1.2},
                s->count, t, vf_column(run, s->count, rows, width, first + i));
    }
    free(t);
    free(fine);
    vf_figure(run, figure, caption);
}

/* --- convergence -------------------------------------------------------------------------- */

enum { LEVELS = 9, QUICK_LEVELS = 5 };

static void convergence(vf_run *run, pb_problem *const models[2])
{
    static const char *const labels[2][2] = {{"β, 7 coordinates", "λ_{1}, 7 coordinates"},
                                             {"β, 31 coordinates", "λ_{1}, 31 coordinates"}};
    static const char *const orders[2][2] = {
        {"order of beta, relative", "order of lambda_1, relative"},
        {"order of beta, absolute", "order of lambda_1, absolute"}};
    const int levels = vf_is_quick(run) ? QUICK_LEVELS : LEVELS;
    ga_figure *figure =
        ga_figure_create(&(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 520});
    int panel = ga_figure_panel(
        figure, &(ga_plot_panel){
                    .struct_size = sizeof(ga_plot_panel),
                    .x = {.label = "step size h", .unit = "s", .scale = GA_SCALE_LOG},
                    .y = {.label = "relative error at t = 0.03 s", .scale = GA_SCALE_LOG}});
    for (int model = 0; model < 2; ++model) {
        const pb_reference *solution =
            &models[model]->references[models[model]->reference_count - 1];
        double h[LEVELS], error[2][LEVELS];
        int done = 0;
        for (; done < levels; ++done) {
            ending end;
            h[done] = 3e-4 / (1 << done);
            if (!run_to_end(run, models[model], model, 0.7, h[done], &end)) break;
            error[0][done] = end.error_beta / fabs(solution->q[0]);
            error[1][done] = end.error_lambda1 / fabs(solution->lambda[0]);
        }
        for (int i = 0; i < 2; ++i) {
            if (done >= QUICK_LEVELS)
                vf_between(run, orders[model][i], 1.97, 2.06, log2(error[i][3] / error[i][4]),
                           "second order, between h = 3.75e-5 and 1.875e-5");
            ga_figure_series(
                figure, panel,
                &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                  .label = labels[model][i],
                                  .count = (size_t)done,
                                  .x = h,
                                  .y = error[i],
                                  .color = i == 0 ? GA_COLOR_BLUE : GA_COLOR_RED,
                                  .line = model == 0 ? GA_LINE_SOLID : GA_LINE_DASHED,
                                  .marker = model == 0 ? GA_MARKER_CIRCLE : GA_MARKER_RING});
        }
    }
    ga_figure_slope(figure, panel,
                    &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
    vf_figure(
        run, figure,
        "[AB07] figure 9. Relative errors of beta and of the first multiplier at t = 0.03 "
        "against the step size, in relative and in absolute coordinates: second order in "
        "all. The paper sees round-off in the multipliers for its smallest steps; with "
        "scaled rows it is still far below the error here.");
}

/* --- all of it ---------------------------------------------------------------------------- */

static void plot_motion(vf_run *run, const pb_problem *absolute)
{
    enum { FINE = 601 };
    double t[FINE];
    vf_states damped = {0}, undamped = {0}, exact = {0};
    vf_job job = job_of(absolute, 0.7, 3e-4), other = job_of(absolute, 1, 3e-4);
    for (int k = 0; k < FINE; ++k) t[k] = END * k / (FINE - 1);
    if (vf_steps(run, &job, &damped) && vf_steps(run, &other, &undamped) &&
        vf_solution_at(run, absolute, FINE, t, &exact)) {
        plot_snapshots(run, &damped);
        plot_point(run, &damped);
        plot_forces(
            run, &damped, &exact,
            "[AB07] figure 7. Accelerations of P and multipliers of the constraints on the "
            "centre of mass of body 1, rho_inf 0.7, h = 3e-4; light: the solution. Each peak "
            "is covered by two or three steps only, and leaves no oscillation.");
        plot_forces(run, &undamped, &exact,
                    "[AB07] figure 8. The same without numerical damping, rho_inf 1: "
                    "accelerations and multipliers oscillate from step to step about the "
                    "solution (light), more so after each peak.");
    }
    vf_states_free(&exact);
    vf_states_free(&undamped);
    vf_states_free(&damped);
}

static void run_andrews(vf_run *run)
{
    pb_problem *models[2] = {NULL, NULL};
    bool created = true;
    for (int k = 0; k < 2; ++k) created = created && vf_ok(run, create(k, &models[k]), NULL);
    if (created) {
        check_table(run, models);
        check_solution(run, models[RELATIVE]);
        plot_motion(run, models[ABSOLUTE]);
        convergence(run, models);
    }
    for (int k = 0; k < 2; ++k) pb_destroy(models[k]);
}

const vf_problem vf_ab07_andrews = {
    .name = "ab07-andrews",
    .title = "Andrews' squeezing mechanism",
    .source = "[AB07] section 5.2, figures 5 to 9",
    .statement =
        "Seven bodies in a plane, connected to form a mechanism with one degree of freedom, "
        "driven by a constant torque at O against a stiff spring. Within 30 ms the crank turns "
        "two and a half times and reaches 1100 rad/s. The problem is solved in the seven "
        "relative angles with 6 constraints and, as in the paper, with an angle for every body "
        "and the coordinates of all centres of mass and moving joints: 31 coordinates, 30 "
        "constraints, a singular mass matrix.\n"
        "\n"
        "The paper finds second order for coordinates and multipliers, and that numerical "
        "damping is needed: with rho_inf = 1 multipliers of index 3 oscillate from step to "
        "step, |e_lambda_1| is 82 instead of 8.8 in relative coordinates. Relative and "
        "absolute coordinates give different discrete solutions with the same limit. P is the "
        "pin where four bodies meet, E in other descriptions of the problem.",
    .parameters = "generalized-alpha, rho_inf 0.7 and 1; index 3, plain start (from rest)\n"
                  "h = 3e-4, halved up to 1.2e-6; t from 0 to 0.03",
    .quick = true,
    .run = run_andrews,
};
