/* The augmented, scaled form of [DYM] section 4 is [AB07] algorithm 1, and well conditioned. */
#include "verify/ladder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the same trajectories ----------------------------------------------------------------
 *
 * Two programs in double precision were this far apart after 200 steps of 0.01; ten times that
 * is allowed. The penalty moves the round-off of Phi, p |Phi|, into the dynamics. */
static const struct {
    double rho, q, v, lambda, q_penalty, lambda_penalty;
    const char *names[2][3];
} bounds[] = {
#define NAMES(rho)                                                                             \
    {                                                                                          \
        {"q apart, rho_inf " rho, "v apart, rho_inf " rho, "lambda apart, rho_inf " rho},      \
        {                                                                                      \
            "q apart, penalty, rho_inf " rho, "v apart, penalty, rho_inf " rho,                \
                "lambda apart, penalty, rho_inf " rho                                          \
        }                                                                                      \
    }
    {0.9, 4.44e-16, 2.20e-13, 7.67e-10, 1.53e-13, 1.16e-9, NAMES("0.9")},
    {0.5, 3.61e-16, 1.06e-13, 7.12e-11, 2.91e-13, 7.98e-11, NAMES("0.5")},
    {0, 6.66e-16, 4.52e-14, 1.11e-11, 2.35e-12, 2.18e-11, NAMES("0")},
#undef NAMES
};
#define WHY_APART "10 x the difference of two programs in double precision"

static vf_job job_of(const pb_problem *pendulum, double rho, ga_scaling scaling, double penalty)
{
    vf_job job = {.problem = pendulum,
                  .def = vf_def(rho, GA_INDEX3, GA_START_PLAIN),
                  .h = 1e-2,
                  .t_end = 2};
    /* tangents of earlier steps let the round-off of lambda into the motion, 1e-14 */
    job.def.newton = GA_NEWTON_FULL;
    job.def.scaling = scaling;
    job.def.penalty = penalty;
    return job;
}

static void check_apart(vf_run *run, const pb_problem *pendulum, size_t k)
{
    static const double penalties[2] = {0, GA_PENALTY_AUTO};
    vf_job job = job_of(pendulum, bounds[k].rho, GA_SCALING_AB07, 0);
    vf_states ab07, dymore;
    if (!vf_steps(run, &job, &ab07)) return;
    for (int i = 0; i < 2; ++i) {
        job = job_of(pendulum, bounds[k].rho, GA_SCALING_DYMORE, penalties[i]);
        if (!vf_steps(run, &job, &dymore)) break;
        vf_errors e =
            vf_largest_errors(run, pendulum, &dymore, &ab07, VF_NORM_LARGEST, 0, job.t_end);
        const double q = i ? bounds[k].q_penalty : bounds[k].q;
        const double lambda = i ? bounds[k].lambda_penalty : bounds[k].lambda;
        vf_check(run, bounds[k].names[i][0], 0, e.of[VF_Q], 10 * q, WHY_APART);
        vf_check(run, bounds[k].names[i][1], 0, e.of[VF_V], 10 * bounds[k].v, WHY_APART);
        vf_check(run, bounds[k].names[i][2], 0, e.of[VF_LAMBDA], 10 * lambda, WHY_APART);
        vf_states_free(&dymore);
    }
    vf_states_free(&ab07);
}

/* --- the first step as the text describes it -----------------------------------------------
 *
 * [DYM] section 4.2 written out for the pendulum, M = 1, K = lambda, B = q^T, no penalty:
 *
 *     [ 1 + c8 lambda   c8 s q ] [ dq''        ]   [ -g - lambda q (- lambda dq_p) - q'' ]
 *     [ c8 s q^T        0      ] [ dlambda_bar ] = [ -s Phi (- s q . dq_p)               ]
 *
 * with the terms in parentheses, or, as is right after a predictor step, without. */
static double first_step(const double *q0, const double *v0, const double *vd0, double h,
                         double rho, bool as_printed)
{
    const double g = 9.81, alpha_m = (2 * rho - 1) / (rho + 1), alpha_f = rho / (rho + 1);
    const double gamma = 0.5 + alpha_f - alpha_m, beta = (gamma + 0.5) * (gamma + 0.5) / 4;
    const double c1 = beta * alpha_f / (1 - alpha_m) * h * h;
    const double c2 = (0.5 - beta / (1 - alpha_m)) * h * h;
    const double c8 = beta * (1 - alpha_f) / (1 - alpha_m) * h * h;
    const double s = 1 / (h * h);
    double dq_p[2], q[2], vd[2] = {0, 0}, lambda = 0;
    for (int i = 0; i < 2; ++i) {
        dq_p[i] = h * v0[i] + (c1 + c2) * vd0[i]; /* a_0 = q''_0 */
        q[i] = q0[i] + dq_p[i];
    }
    for (int k = 0; k < 100; ++k) {
        const double S = 1 + c8 * lambda, r = c8 * s;
        const double kept = as_printed ? 1 : 0;
        double f[2] = {-vd[0] - lambda * (q[0] + kept * dq_p[0]),
                       -vd[1] - lambda * (q[1] + kept * dq_p[1]) - g};
        double Phi = (q[0] * q[0] + q[1] * q[1] - 1) / 2;
        double c = -s * (Phi + kept * (q[0] * dq_p[0] + q[1] * dq_p[1]));
        double qq = q[0] * q[0] + q[1] * q[1], qf = q[0] * f[0] + q[1] * f[1];
        double step = (r * qf / S - c) / (r * r * qq / S);
        for (int i = 0; i < 2; ++i) {
            double change = (f[i] - r * q[i] * step) / S;
            vd[i] += change;
            q[i] += c8 * change;
        }
        lambda += r * step;
    }
    return lambda;
}

static void check_first_step(vf_run *run, const pb_problem *pendulum)
{
    vf_job job = job_of(pendulum, 0.9, GA_SCALING_DYMORE, GA_PENALTY_AUTO);
    vf_states states;
    job.t_end = job.h;
    if (!vf_steps(run, &job, &states)) return;
    const double lambda = states.lambda[1];
    const double right = first_step(pendulum->q0, pendulum->v0, states.vd, job.h, 0.9, false);
    const double printed = first_step(pendulum->q0, pendulum->v0, states.vd, job.h, 0.9, true);
    vf_check(run, "lambda after one step", 10.185, lambda, 5e-4, "the digits of the notes");
    vf_check(run, "lambda after one step, [DYM] section 4.2 written out", lambda, right, 1e-9,
             "round-off of lambda");
    vf_check(run, "the same with the predictor terms of (24)", 11.94, printed, 5e-3,
             "the digits of the notes");
    vf_states_free(&states);
}

/* --- condition numbers -------------------------------------------------------------------- */

typedef enum form { UNSCALED, AB07, DYM20, DYM24, DYM24_PENALTY, FORMS } form;

static const struct {
    const char *label;
    ga_scaling scaling;
    double penalty;
    ga_plot_marker marker;
} forms[FORMS] = {
    {"[AB07] (8), unscaled", GA_SCALING_NONE, 0, GA_MARKER_CIRCLE},
    {"[AB07] (10)", GA_SCALING_AB07, 0, GA_MARKER_SQUARE},
    {"[DYM] (20)", GA_SCALING_NONE, 0, GA_MARKER_TRIANGLE}, /* columns of q by c8 */
    {"[DYM] (24)", GA_SCALING_DYMORE, 0, GA_MARKER_DIAMOND},
    {"[DYM] (24) with penalty", GA_SCALING_DYMORE, GA_PENALTY_AUTO, GA_MARKER_RING},
};

enum { POWERS = 8 };

/* 2-norm, pendulum at t = 0, rho_inf 0.9, h = 10^-1 ... 10^-8; above 1e15 double precision
 * says nothing. */
static const struct {
    double h, condition[FORMS];
    const char *names[FORMS];
} table[POWERS] = {
#define NAMES(h)                                                                               \
    {                                                                                          \
        "condition, [AB07] (8), h = " h, "condition, [AB07] (10), h = " h,                     \
            "condition, [DYM] (20), h = " h, "condition, [DYM] (24), h = " h,                  \
            "condition, [DYM] (24) with penalty, h = " h                                       \
    }
    {1e-1,
     {165907.82957403583, 2.9319899305701176, 814.8948684914209, 15.59355737885657,
      24.007293862374404},
     NAMES("1e-1")},
    {1e-2,
     {1577695512.8823547, 2.8611076373527857, 79440.43342700742, 17.688236123704286,
      26.64317401535852},
     NAMES("1e-2")},
    {1e-3,
     {15768922131728.664, 2.8604054354376998, 7942020.430812911, 17.712141517388638,
      26.67304823690215},
     NAMES("1e-3")},
    {1e-4,
     {INFINITY, 2.8603984140792114, 794200020.4307867, 17.71238090583839, 26.67334737500309},
     NAMES("1e-4")},
    {1e-5,
     {INFINITY, 2.860398343865694, 79420000020.4308, 17.71238329975637, 26.673350366423733},
     NAMES("1e-5")},
    {1e-6,
     {INFINITY, 2.860398343163558, 7942000000020.435, 17.712383323695576, 26.673350396337955},
     NAMES("1e-6")},
    {1e-7,
     {INFINITY, 2.860398343156536, 794200000000020.6, 17.712383323934954, 26.673350396637083},
     NAMES("1e-7")},
    {1e-8,
     {INFINITY, 2.860398343156466, INFINITY, 17.712383323937342, 26.673350396640075},
     NAMES("1e-8")},
#undef NAMES
};

/* Ratio of the singular values of the n x n matrix A (overwritten): rotations of pairs of
 * columns make them orthogonal, their lengths then are the singular values (Hestenes). */
static double condition_number(int n, double *A)
{
    for (int sweep = 0; sweep < 40; ++sweep) {
        for (int j = 1; j < n; ++j)
            for (int i = 0; i < j; ++i) {
                double *x = A + n * i, *y = A + n * j, xx = 0, yy = 0, xy = 0;
                for (int k = 0; k < n; ++k) {
                    xx += x[k] * x[k];
                    yy += y[k] * y[k];
                    xy += x[k] * y[k];
                }
                if (xy == 0) continue;
                double zeta = (yy - xx) / (2 * xy);
                double t = copysign(1, zeta) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                double c = 1 / sqrt(1 + t * t), s = c * t;
                for (int k = 0; k < n; ++k) {
                    double old = x[k];
                    x[k] = c * old - s * y[k];
                    y[k] = s * old + c * y[k];
                }
            }
    }
    double least = INFINITY, most = 0;
    for (int j = 0; j < n; ++j) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += A[k + n * j] * A[k + n * j];
        least = fmin(least, sqrt(sum));
        most = fmax(most, sqrt(sum));
    }
    return most / least;
}

static double condition_of(vf_run *run, const pb_problem *pendulum, double h, form which)
{
    vf_job job = job_of(pendulum, 0.9, forms[which].scaling, forms[which].penalty);
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    double A[9], result = NAN;
    ga_status status = ga_integrator_create(&pendulum->system, &job.def, &integrator, &report);
    if (!status)
        status = ga_integrator_start(integrator, 0, pendulum->q0, pendulum->v0, h, &report);
    if (!status) status = ga_integrator_matrix(integrator, h, job.def.scaling, A, &report);
    if (vf_ok(run, status, &report)) {
        const ga_coefficients *p = &job.def.coefficients;
        const double c8 = p->beta * h * h * (1 - p->alpha_f) / (1 - p->alpha_m);
        for (int k = 0; which == DYM20 && k < 6; ++k) A[k] *= c8;
        result = condition_number(3, A);
    }
    ga_integrator_destroy(integrator);
    return result;
}

static void check_conditions(vf_run *run, const pb_problem *pendulum)
{
    double steps[POWERS], got[FORMS][POWERS];
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 600, .height = 330});
    int panel = ga_figure_panel(
        figure,
        &(ga_plot_panel){
            .struct_size = sizeof(ga_plot_panel),
            .x = {.label = "step size h", .unit = "s", .scale = GA_SCALE_LOG},
            .y = {.label = "condition number", .scale = GA_SCALE_LOG, .low = 1, .high = 1e16},
            .legend = GA_LEGEND_OUTSIDE});
    for (int k = 0; k < POWERS; ++k) steps[k] = table[k].h;
    for (int which = 0; which < FORMS; ++which) {
        for (int k = 0; k < POWERS; ++k) {
            const double expected = table[k].condition[which];
            got[which][k] = condition_of(run, pendulum, steps[k], (form)which);
            if (isinf(expected)) {
                got[which][k] = NAN; /* nothing but round-off: not shown */
                continue;
            }
            vf_check_relative(run, table[k].names[which], expected, got[which][k],
                              fmax(1e-9, 2e-15 * expected),
                              "round-off of a singular value, eps times the condition number");
        }
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = forms[which].label,
                                           .count = POWERS,
                                           .x = steps,
                                           .y = got[which],
                                           .marker = forms[which].marker});
    }
    vf_between(run, "power of h, [AB07] (8)", -4.01, -3.99,
               log10(got[UNSCALED][1] / got[UNSCALED][2]), "grows like h^-4");
    vf_between(run, "power of h, [DYM] (20)", -2.01, -1.99,
               log10(got[DYM20][4] / got[DYM20][5]), "grows like h^-2");
    vf_figure(run, figure,
              "Condition number of the Newton matrix of the pendulum against the step size. "
              "Unscaled it grows like h^-4 and all digits are lost below h = 1e-4; Dymore's "
              "unknowns without scaling, (20), grow like h^-2; both scalings stay at a few or "
              "a few tens down to h = 1e-8.");
}

static void run_equality(vf_run *run)
{
    pb_problem *pendulum = NULL;
    if (!vf_ok(run, pb_pendulum_create(0.2, &pendulum), NULL)) return;
    for (size_t k = 0; k < sizeof bounds / sizeof *bounds; ++k) check_apart(run, pendulum, k);
    check_first_step(run, pendulum);
    check_conditions(run, pendulum);
    pb_destroy(pendulum);
}

const vf_problem vf_dym_equals_ab07 = {
    .name = "dym-equals-ab07",
    .title = "Dymore's form is algorithm 1",
    .source =
        "[DYM] section 4, equations (14) to (28); [AB07] algorithm 1, equations (8), (10)",
    .statement =
        "Dymore solves for increments of accelerations and scaled multipliers, with an "
        "augmented Lagrangian: mu = lambda + p Phi in the dynamics, p = s = k + d/h + m/h^2 "
        "from mean diagonals. Phi vanishes at the end of every step, so the solution is that "
        "of [AB07] algorithm 1, to round-off, for any scaling and penalty.\n"
        "\n"
        "In (15), (20), (21) and (24) the terms with the predictor, -K dq_p and -s B dq_p, "
        "must be left out once (14) initialises the unknowns; kept as printed, Newton's method "
        "converges to a point that violates the constraint, and the first step of the pendulum "
        "gives lambda = 11.94 instead of 10.185.\n"
        "\n"
        "The purpose of this form is the condition of the matrix: rows and columns carry "
        "powers of h, and without scaling the multipliers lose all digits at small steps.",
    .parameters = "pendulum, x0 = 0.2; index 3, plain start, rho_inf 0.9, 0.5, 0\n"
                  "h = 1e-2, 200 steps; condition numbers at t = 0 for h = 1e-1 to 1e-8",
    .quick = true,
    .run = run_equality,
};
