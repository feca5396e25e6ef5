/* A problem whose errors are exactly powers of the error amplification matrix. */
#include "verify/ladder.h"

#include <galpha/spectrum.h>
#include <math.h>

/* --- q - t^3 = 0 ---------------------------------------------------------------------------
 */

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = 1;
    return GA_EVAL_OK;
}

static ga_eval zero(void *user, const ga_point *at, double *x)
{
    (void)user, (void)at;
    x[0] = 0;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = at->q[0] - at->t * at->t * at->t;
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user, (void)at;
    B[0] = 1;
    return GA_EVAL_OK;
}

static ga_eval rate(void *user, const ga_point *at, double *Phi_t)
{
    (void)user;
    Phi_t[0] = -3 * at->t * at->t;
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    c[0] = 6 * at->t;
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)problem;
    if (q) q[0] = t * t * t;
    if (v) v[0] = 3 * t * t;
    if (vd) vd[0] = 6 * t;
    if (lambda) lambda[0] = -6 * t;
}

static const ga_node node = GA_NODE(GA_GROUP_RN, 1);
static const double q0[1] = {0.125}, v0[1] = {0.75}; /* at t = 1/2 */

static pb_problem cubic(void)
{
    return (pb_problem){.name = "cubic",
                        .system = {.struct_size = sizeof(ga_system),
                                   .node_count = 1,
                                   .nodes = &node,
                                   .constraint_count = 1,
                                   .mass = mass,
                                   .mass_is_constant = true,
                                   .force = zero,
                                   .constraint = constraint,
                                   .gradient = gradient,
                                   .constraint_rate = rate,
                                   .acceleration_rhs = acceleration_rhs,
                                   .stiffness = zero,
                                   .damping = zero,
                                   .velocity_stiffness = zero},
                        .t0 = 0.5,
                        .t_end = 1.5,
                        .q0 = q0,
                        .v0 = v0,
                        .exact = exact};
}

/* --- prediction and run ------------------------------------------------------------------- */

enum { STEPS = 100 };

typedef enum start_case { PLAIN, SHIFTED, PERTURBED, INDEX2, STARTS } start_case;
static const double h = 1e-2;

static const struct {
    ga_formulation formulation;
    ga_start start;
} starts[STARTS] = {
    {GA_INDEX3, GA_START_PLAIN},
    {GA_INDEX3, GA_START_SHIFTED},
    {GA_INDEX3, GA_START_PERTURBED},
    {GA_INDEX2, GA_START_SHIFTED},
};

/* e_lambda of all steps by (T+^-1 T0)^n E_0: E_0 = (C_q h, 0, e_a), where
 * C_q = 1 - 6 beta - 3 Delta_alpha, and e_a = 6 Delta_alpha h if a_0 = v'(t_0). */
static bool predict(vf_run *run, double rho_inf, ga_start start, double step, double *e_lambda)
{
    ga_coefficients m;
    ga_report report = {0};
    double T[9];
    if (!vf_ok(run, ga_coefficients_generalized_alpha(rho_inf, &m, &report), &report) ||
        !vf_ok(run, ga_error_matrix(&m, GA_INDEX3, T, &report), &report))
        return false;
    const double shift = ga_coefficients_describe(&m).shift;
    double E[3] = {(1 - 6 * m.beta - 3 * shift) * step, 0,
                   start == GA_START_PLAIN ? 6 * shift * step : 0};
    if (start == GA_START_PERTURBED) E[0] = 0;
    for (int n = 0; n <= STEPS; ++n) {
        double next[3] = {0};
        e_lambda[n] = E[1];
        for (int i = 0; i < 9; ++i) next[i / 3] += T[i] * E[i % 3];
        for (int i = 0; i < 3; ++i) E[i] = next[i];
    }
    return true;
}

/* e_lambda = lambda(t_n) - lambda_n of all steps. */
static bool observe(vf_run *run, double rho_inf, start_case k, double step, double *e_lambda)
{
    const pb_problem problem = cubic();
    vf_job job = {.problem = &problem,
                  .def = vf_def(rho_inf, starts[k].formulation, starts[k].start),
                  .h = step,
                  .t_end = STEPS * step};
    vf_states states;
    if (!vf_steps(run, &job, &states)) return false;
    for (int n = 0; n <= STEPS; ++n) e_lambda[n] = -6 * states.t[n] - states.lambda[n];
    vf_states_free(&states);
    return true;
}

static int largest_at(const double *x)
{
    int at = 0;
    for (int n = 0; n <= STEPS; ++n)
        if (fabs(x[n]) > fabs(x[at])) at = n;
    return at;
}

static void check_start(vf_run *run, double rho_inf, start_case k, const char *quantity)
{
    double seen[STEPS + 1], said[STEPS + 1], difference = 0;
    if (!observe(run, rho_inf, k, h, seen)) return;
    for (int n = 0; n <= STEPS; ++n) said[n] = 0;
    if (starts[k].formulation == GA_INDEX3 && !predict(run, rho_inf, starts[k].start, h, said))
        return;
    for (int n = 0; n <= STEPS; ++n) difference = fmax(difference, fabs(seen[n] - said[n]));
    vf_check(run, quantity, 0, difference, 5e-8,
             "round-off of q over h^2, 4e-12 per step, amplified by the same powers");
}

static void check_order(vf_run *run)
{
    double coarse[STEPS + 1], fine[STEPS + 1];
    if (!observe(run, 0.9, SHIFTED, h, coarse) || !observe(run, 0.9, SHIFTED, h / 2, fine))
        return;
    int at = largest_at(coarse);
    ga_integrator_def def = vf_def(0.9, GA_INDEX3, GA_START_SHIFTED);
    double C =
        1 - 6 * def.coefficients.beta - 3 * ga_coefficients_describe(&def.coefficients).shift;
    vf_check(run, "step of the largest e_lambda, rho_inf 0.9", 15, at, 0, "a number of steps");
    vf_check(run, "largest |e_lambda|/(|C_q| h), rho_inf 0.9", 31.93295202813116,
             fabs(coarse[at] / (C * h)), 1e-7, "row maximum of the matrix powers");
    vf_check(run, "order of e_lambda", 1, log2(coarse[at] / fine[at]), 1e-7,
             "exactly proportional to h");
}

static void plot_errors(vf_run *run)
{
    static const double rho[2] = {0.9, 0.6};
    static const char *const titles[2] = {"ρ_{∞} = 0.9", "ρ_{∞} = 0.6"};
    double n[STEPS + 1], seen[STEPS + 1], said[STEPS + 1];
    for (int k = 0; k <= STEPS; ++k) n[k] = k;
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 640, .columns = 2});
    for (int k = 0; k < 2; ++k) {
        int shown = k == 0 ? STEPS : 30;
        int panel =
            ga_figure_panel(figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                                     .title = titles[k],
                                                     .x = {.label = "step n"},
                                                     .y = {.label = "e_{λ}"}});
        if (!observe(run, rho[k], SHIFTED, h, seen) ||
            !predict(run, rho[k], GA_START_SHIFTED, h, said))
            break;
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = "matrix powers",
                                           .count = (size_t)shown + 1,
                                           .x = n,
                                           .y = said,
                                           .width = 0.8,
                                           .color = GA_COLOR_GRAY});
        ga_figure_series(figure, panel,
                         &(ga_plot_series){.struct_size = sizeof(ga_plot_series),
                                           .label = "index 3",
                                           .count = (size_t)shown + 1,
                                           .x = n,
                                           .y = seen,
                                           .line = GA_LINE_NONE,
                                           .marker = GA_MARKER_DOT,
                                           .marker_every = 1,
                                           .color = GA_COLOR_BLUE});
    }
    vf_figure(run, figure,
              "Errors of λ for q = t^3, h = 1e-2, with exact start values (dots), and the "
              "second row of (T+^-1 T0)^n E_0 (line): they agree to round-off.");
}

static void run_example(vf_run *run)
{
    check_start(run, 0.9, PLAIN, "|e_lambda - matrix powers|, plain, rho_inf 0.9");
    check_start(run, 0.9, SHIFTED, "|e_lambda - matrix powers|, a_0 by (57), rho_inf 0.9");
    check_start(run, 0.6, SHIFTED, "|e_lambda - matrix powers|, a_0 by (57), rho_inf 0.6");
    check_start(run, 0.9, PERTURBED, "|e_lambda|, perturbed, rho_inf 0.9");
    check_start(run, 0.9, INDEX2, "|e_lambda|, index 2, rho_inf 0.9");
    check_order(run);
    plot_errors(run);
}

const vf_problem vf_abc14_example_2 = {
    .name = "abc14-example-2",
    .title = "A fully constrained motion: errors as matrix powers",
    .source = "[ABC14] example 2, equations (44) to (46)",
    .statement =
        "One coordinate, M = 1, no force, and the constraint q - t^3 = 0, which determines the "
        "motion completely: lambda = -6 t. The local errors of v and a vanish, that of q is "
        "C_q h^3 with the constant C_q = 1 - 6 beta - 3 (alpha_m - alpha_f). So the error "
        "recursion holds without remainder, E_n = (T+^-1 T0)^n E_0, and exact start values "
        "give E_0 = (C_q h, 0, 0): an error of first order in lambda.\n"
        "\n"
        "Here every step is compared with that formula. The perturbed start makes E_0 = 0 and "
        "thus the whole solution exact; the stabilised index-2 form has no such error.",
    .parameters = "generalized-alpha, rho_inf 0.9 and 0.6\n"
                  "index 3 and stabilised index 2\n"
                  "h = 1e-2 and 5e-3, t from 1/2, 100 steps",
    .quick = true,
    .run = run_example,
};
