/* SOI2 with steps that alternate: why a and M a must be adjusted. */
#include "verify/soi2.h"

#include <math.h>

enum { LEVELS = 6, NOTED = 3 }; /* NOTED: the level whose errors are listed, h = 0.0125 */
static const double h[LEVELS] = {0.1, 0.05, 0.025, 0.0125, 0.00625, 0.003125};

#define WHY "the scheme in 80 bits; round-off is 1e-7 of the smallest error"

typedef enum variant { ADJUSTED, PLAIN, VARIANTS } variant;

static const struct {
    ga_step_change change;
    const char *title;
    const char *coarse[VF_KINDS], *fine[VF_KINDS], *order[VF_KINDS];
    double error_coarse[VF_KINDS], error_fine[VF_KINDS]; /* h = 0.0125 and 0.003125 */
    double least[VF_KINDS], most[VF_KINDS];              /* orders */
    const char *why;
} variants[VARIANTS] = {
    {GA_CHANGE_ADJUST,
     "with (14)",
     {"error of y, with (14), h = 0.0125", "error of z, with (14), h = 0.0125",
      "error of a, with (14), h = 0.0125", "error of lambda, with (14), h = 0.0125",
      "error of psi, with (14), h = 0.0125"},
     {"error of y, with (14), h = 0.003125", "error of z, with (14), h = 0.003125",
      "error of a, with (14), h = 0.003125", "error of lambda, with (14), h = 0.003125",
      "error of psi, with (14), h = 0.003125"},
     {"order of y, with (14)", "order of z, with (14)", "order of a, with (14)",
      "order of lambda, with (14)", "order of psi, with (14)"},
     {6.953538116800824e-05, 7.055188660046099e-05, 0.00018006030571615964,
      1.9108597991567607e-05, 4.192704601790843e-06},
     {4.3284032804077565e-06, 4.391682651516576e-06, 1.1274328048960676e-05,
      1.2195967031416804e-06, 2.6414944951096316e-07},
     {1.98, 1.98, 1.98, 1.98, 1.98},
     {2.02, 2.02, 2.02, 2.02, 2.02},
     "second order in every component, theorem 1"},
    {GA_CHANGE_NONE,
     "without (14)",
     {"error of y, without (14), h = 0.0125", "error of z, without (14), h = 0.0125",
      "error of a, without (14), h = 0.0125", "error of lambda, without (14), h = 0.0125",
      "error of psi, without (14), h = 0.0125"},
     {"error of y, without (14), h = 0.003125", "error of z, without (14), h = 0.003125",
      "error of a, without (14), h = 0.003125", "error of lambda, without (14), h = 0.003125",
      "error of psi, without (14), h = 0.003125"},
     {"order of y, without (14)", "order of z, without (14)", "order of a, without (14)",
      "order of lambda, without (14)", "order of psi, without (14)"},
     {6.287903299126554e-05, 6.379823896747852e-05, 0.0011536808093607527,
      0.0011405836331977073, 4.3653097163427095e-05},
     {3.915658058934818e-06, 3.97290330014836e-06, 0.0002625602766280096,
      0.00028657336703695035, 1.0105109972486249e-05},
     {1.98, 1.98, 0.98, 0.98, 0.98},
     {2.02, 2.02, 1.1, 1.02, 1.1},
     "a, lambda and psi fall to first order; here y and z do not, no freedom is left"},
};

static void check_variant(vf_run *run, variant which, const vf_ladder *ladder)
{
    for (int kind = 0; kind < VF_KINDS; ++kind)
        vf_check_relative(run, variants[which].coarse[kind], variants[which].error_coarse[kind],
                          ladder->error[kind][NOTED], 1e-6, WHY);
    for (int kind = 0; kind < VF_KINDS; ++kind)
        vf_check_relative(run, variants[which].fine[kind], variants[which].error_fine[kind],
                          ladder->error[kind][LEVELS - 1], 1e-6, WHY);
    for (int kind = 0; kind < VF_KINDS; ++kind)
        vf_between(run, variants[which].order[kind], variants[which].least[kind],
                   variants[which].most[kind], vf_order(ladder, (vf_kind)kind, -1),
                   variants[which].why);
}

/* That lambda = e^-t and psi = e^t belong to the printed y and z: what a start finds at t = 0
 * and 1. */
static void check_solution(vf_run *run, const pb_problem *problem)
{
    static const char *const names[2][2] = {{"lambda(0) = 1", "psi(0) = 1"},
                                            {"lambda(1) = e^-1", "psi(1) = e"}};
    ga_integrator_def def = vf_soi2(0.2, GA_CHANGE_ADJUST);
    ga_integrator *integrator = NULL;
    ga_report report = {0};
    ga_status status = ga_integrator_create(&problem->system, &def, &integrator, &report);
    for (int k = 0; status == GA_OK && k < 2; ++k) {
        double q[2], v[2];
        problem->exact(problem, k, q, v, NULL, NULL);
        ga_integrator_guess(integrator, problem->lambda_guess, problem->psi_guess);
        status = ga_integrator_start(integrator, k, q, v, h[0], &report);
        if (status) break;
        vf_check(run, names[k][0], exp(-k), ga_integrator_lambda(integrator)[0], 1e-13,
                 "round-off: the printed solution is consistent");
        vf_check(run, names[k][1], exp(k), ga_integrator_psi(integrator)[0], 1e-13,
                 "round-off: the printed solution is consistent");
    }
    vf_ok(run, status, &report);
    ga_integrator_destroy(integrator);
}

static void run_test_problem(vf_run *run)
{
    pb_problem *problem = NULL;
    vf_ladder ladders[VARIANTS];
    if (!vf_ok(run, pb_jn08_test_create(&problem), NULL)) return;
    check_solution(run, problem);
    ga_figure *figure = ga_figure_create(&(ga_figure_def){
        .struct_size = sizeof(ga_figure_def), .width = 620, .columns = 2, .share_y = true});
    for (int which = 0; which < VARIANTS; ++which) {
        vf_job job = {.problem = problem,
                      .def = vf_soi2(0.2, variants[which].change),
                      .pattern_count = VF_PAIR,
                      .pattern = vf_pair};
        if (!vf_climb_soi2(run, &job, LEVELS, h, &ladders[which])) break;
        check_variant(run, (variant)which, &ladders[which]);
        int panel = ga_figure_panel(
            figure, &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                                     .title = variants[which].title,
                                     .x = {.label = "h", .scale = GA_SCALE_LOG},
                                     .y = {.label = "error at t = 1", .scale = GA_SCALE_LOG},
                                     .legend = which == ADJUSTED ? GA_LEGEND_AUTOMATIC
                                                                 : GA_LEGEND_NONE});
        vf_plot_soi2(figure, panel, &ladders[which]);
        ga_figure_slope(figure, panel,
                        &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
        if (which == PLAIN)
            ga_figure_slope(figure, panel,
                            &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 1});
    }
    vf_figure(run, figure,
              "[JN08] figures 1 and 2. Errors at t = 1 with steps h/3, 2h/3, h/3, ... Left: "
              "all five lines have slope 2. Right, without the adjustment: a, λ and ψ "
              "have slope 1; y and z, which the constraints determine here, keep slope 2.");
    pb_destroy(problem);
}

const vf_problem vf_jn08_test_problem = {
    .name = "jn08-test-problem",
    .title = "SOI2 on a problem that is nonlinear in its multipliers",
    .source = "[JN08] equation (15), figures 1 and 2",
    .statement =
        "Two coordinates y with velocities z, one holonomic constraint y1^2 y2 = 1 and one "
        "nonholonomic constraint y1 z1 z2 = -2, a mass matrix that depends on y and t and is "
        "not symmetric, and forces nonlinear in both multipliers. The solution is known: y = "
        "(e^t, e^-2t), lambda = e^-t, psi = e^t. None of the usual structure of mechanical "
        "systems is present: second order must come from the method alone.\n"
        "\n"
        "The step sizes alternate between h/3 and 2h/3. The a of the method belongs to a time "
        "that depends on the step size, t_n + Delta_alpha h; if the step changes, a and M a "
        "must be adjusted by equations (14a) and (14b). The paper finds second order in all "
        "components with this adjustment and first order in a, lambda and psi without it.",
    .parameters = "SOI2, generalized-alpha, rho_inf 0.2, a(0) = v'(0)\n"
                  "steps h/3, 2h/3, ...; h = 0.1, 0.05, ..., 0.003125; t from 0 to 1\n"
                  "M a propagated, adjusted by (14b)\n"
                  "the error of a is the distance to v'(t_n + Delta_alpha h_{n-1})",
    .quick = true,
    .run = run_test_problem,
};
