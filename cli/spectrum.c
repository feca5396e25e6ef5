/* galpha spectrum: what linear theory says about a method. */
#include "cli/spectrum.h"

#include "cli/input.h"
#include "cli/json.h"
#include "cli/text.h"

#include <math.h>
#include <string.h>

/* --- for people --------------------------------------------------------------------------- */

/* A number, or a dash where there is none. */
static void print_cell(int width, const char *format, double x)
{
    char text[CLI_NUMBER_SIZE] = "-";
    if (!isnan(x)) snprintf(text, sizeof text, format, x);
    printf(" %*s", width, text);
}

static void print_properties(const cli_method *m)
{
    const ga_coefficient_properties p = ga_coefficients_describe(&m->method);
    printf("%s\n", m->name);
    printf("  alpha_m = %.10g, alpha_f = %.10g, beta = %.10g, gamma = %.10g\n",
           m->method.alpha_m, m->method.alpha_f, m->method.beta, m->method.gamma);
    printf("  order                    ");
    if (p.second_order)
        puts("2: gamma = 1/2 - alpha_m + alpha_f");
    else
        printf("1: gamma - (1/2 - alpha_m + alpha_f) = %.3g\n", p.order_defect);
    printf("  zero-stable              %s\n", p.zero_stable ? "yes" : "no");
    printf("  unconditionally stable   %s\n", p.unconditionally_stable ? "yes" : "no");
    printf("  stable at infinity       %s, spectral radius %.6g\n",
           p.strictly_stable_at_infinity ? "strictly" : "no, not strictly", p.rho_infinity);
}

static const struct {
    const char *name;
    ga_formulation formulation;
} formulations[] = {{"index3", GA_INDEX3}, {"index2", GA_INDEX2}};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

enum { GROWTH_SIZE = 40 };
static const char *growth_text(const ga_error_growth *g, char text[GROWTH_SIZE])
{
    if (isinf(g->max_norm)) return "without bound";
    snprintf(text, GROWTH_SIZE, "%.5g at step %ld", g->max_norm, g->at_step);
    return text;
}

static int print_start(const cli_method *m)
{
    puts("  largest amplification of initial-value errors");
    for (int k = 0; k < FORMULATIONS; ++k) {
        ga_error_growth g;
        ga_report report;
        if (ga_error_growth_constant(&m->method, formulations[k].formulation, &g, &report))
            return cli_out_of_memory();
        char text[GROWTH_SIZE];
        printf("    %-22s %s\n", formulations[k].name, growth_text(&g, text));
    }
    return EXIT_DONE;
}

static int print_points(const cli_study *study, const cli_method *m)
{
    printf("\n  %10s %17s %18s %14s\n", "h/T", "spectral radius", "period elongation",
           "damping ratio");
    for (int k = 0; k < study->ratios.count; ++k) {
        ga_spectrum_point p;
        ga_report report;
        if (ga_spectrum_at(&m->method, study->damping, study->ratios.x[k], &p, &report))
            return cli_out_of_memory();
        printf("  %10.6g %17.8f", p.ratio, p.spectral_radius);
        print_cell(18, "%.6g", p.period_elongation);
        print_cell(14, "%.6g", p.damping_ratio);
        puts("");
    }
    return EXIT_DONE;
}

/* What can be done when the step size changes, for each formulation. */
static const struct {
    const char *name;
    ga_step_change change;
    bool index3_only;
} changes[] = {
    {"none", GA_CHANGE_NONE, false},
    {"adjust", GA_CHANGE_ADJUST, false},
    {"rescale", GA_CHANGE_RESCALE, true},
    {"reset", GA_CHANGE_RESET, true},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Calls visit for each formulation and change that go together. */
typedef void visit_growth(void *user, const char *formulation, const char *change,
                          const ga_pattern_growth *growth);

static int for_each_growth(const cli_study *study, const cli_method *m, visit_growth *visit,
                           void *user)
{
    for (int f = 0; f < FORMULATIONS; ++f)
        for (int c = 0; c < CHANGES; ++c) {
            if (changes[c].index3_only && formulations[f].formulation != GA_INDEX3) continue;
            ga_pattern_growth g;
            ga_report report;
            if (ga_error_growth_pattern(&m->method, formulations[f].formulation,
                                        changes[c].change, study->steps.count, study->steps.x,
                                        &g, &report))
                return cli_out_of_memory();
            visit(user, formulations[f].name, changes[c].name, &g);
        }
    return EXIT_DONE;
}

static void print_pattern_growth(void *user, const char *formulation, const char *change,
                                 const ga_pattern_growth *g)
{
    (void)user;
    char text[GROWTH_SIZE];
    printf("    %-12s %-12s %-16.6g %-22s", formulation, change, g->errors.radius,
           growth_text(&g->errors, text));
    print_cell(12, "%.5g", g->lambda_error);
    puts("");
}

/* Spectral radius of the oscillator over the pattern, without and with (14a). */
static int pattern_radii(const cli_study *study, const cli_method *m, double ratio,
                         double radius[2])
{
    for (int c = 0; c < 2; ++c) {
        ga_report report;
        if (ga_spectrum_pattern(&m->method, study->damping, ratio, changes[c].change,
                                study->steps.count, study->steps.x, &radius[c], &report))
            return cli_out_of_memory();
    }
    return EXIT_DONE;
}

static int print_steps(const cli_study *study, const cli_method *m)
{
    if (study->steps.count == 0) return EXIT_DONE;
    printf("\n  steps");
    for (int k = 0; k < study->steps.count; ++k) printf(" %g", study->steps.x[k]);
    puts(", repeated: errors in the direction of the constraints");
    printf("    %-12s %-12s %-16s %-22s %12s\n", "formulation", "at a change",
           "factor per step", "at most", "of lambda");
    int code = for_each_growth(study, m, print_pattern_growth, NULL);
    printf("\n  %10s %22s\n  %10s %12s %12s\n", "mean h/T", "spectral radius", "", "none",
           "adjust");
    for (int k = 0; k < study->ratios.count && code == EXIT_DONE; ++k) {
        double radius[2];
        code = pattern_radii(study, m, study->ratios.x[k], radius);
        printf("  %10.6g %12.8f %12.8f\n", study->ratios.x[k], radius[0], radius[1]);
    }
    return code;
}

static int print_report(const cli_study *study)
{
    int code = EXIT_DONE;
    for (int k = 0; k < study->count && code == EXIT_DONE; ++k) {
        const cli_method *m = &study->methods[k];
        if (k > 0) puts("");
        print_properties(m);
        code = print_start(m);
        if (code == EXIT_DONE) code = print_points(study, m);
        if (code == EXIT_DONE) code = print_steps(study, m);
    }
    return code;
}

/* --- for programs ------------------------------------------------------------------------- */

static void growth_json(cli_json *json, const ga_error_growth *g)
{
    cli_json_number(json, "max_norm", g->max_norm); /* null: without bound */
    if (g->at_step > 0)
        cli_json_integer(json, "at_step", g->at_step);
    else
        cli_json_text(json, "at_step", NULL);
    cli_json_numbers(json, "lambda_row", 3, g->lambda_row);
    cli_json_number(json, "spectral_radius", g->radius);
}

static int start_json(cli_json *json, const cli_method *m)
{
    cli_json_object(json, "start_amplification");
    for (int k = 0; k < FORMULATIONS; ++k) {
        ga_error_growth g;
        ga_report report;
        if (ga_error_growth_constant(&m->method, formulations[k].formulation, &g, &report))
            return cli_out_of_memory();
        cli_json_object(json, formulations[k].name);
        growth_json(json, &g);
        cli_json_end_object(json);
    }
    cli_json_end_object(json);
    return EXIT_DONE;
}

static int points_json(cli_json *json, const cli_study *study, const cli_method *m)
{
    cli_json_list(json, "points");
    for (int k = 0; k < study->ratios.count; ++k) {
        ga_spectrum_point p;
        ga_report report;
        if (ga_spectrum_at(&m->method, study->damping, study->ratios.x[k], &p, &report))
            return cli_out_of_memory();
        cli_json_object(json, NULL);
        cli_json_number(json, "ratio", p.ratio);
        cli_json_number(json, "spectral_radius", p.spectral_radius);
        cli_json_number(json, "period_elongation", p.period_elongation);
        cli_json_number(json, "damping_ratio", p.damping_ratio);
        cli_json_number(json, "algorithmic_damping", p.algorithmic_damping);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
    return EXIT_DONE;
}

static void pattern_growth_json(void *user, const char *formulation, const char *change,
                                const ga_pattern_growth *g)
{
    cli_json *json = user;
    cli_json_object(json, NULL);
    cli_json_text(json, "formulation", formulation);
    cli_json_text(json, "change", change);
    growth_json(json, &g->errors);
    cli_json_number(json, "lambda_error", g->lambda_error);
    cli_json_end_object(json);
}

static int steps_json(cli_json *json, const cli_study *study, const cli_method *m)
{
    if (study->steps.count == 0) return EXIT_DONE;
    cli_json_object(json, "variable_steps");
    cli_json_list(json, "steps");
    for (int k = 0; k < study->steps.count; ++k) cli_json_number(json, NULL, study->steps.x[k]);
    cli_json_end_list(json);
    cli_json_list(json, "errors");
    int code = for_each_growth(study, m, pattern_growth_json, json);
    cli_json_end_list(json);
    cli_json_list(json, "points");
    for (int k = 0; k < study->ratios.count && code == EXIT_DONE; ++k) {
        double radius[2];
        code = pattern_radii(study, m, study->ratios.x[k], radius);
        cli_json_object(json, NULL);
        cli_json_number(json, "ratio", study->ratios.x[k]);
        for (int c = 0; c < 2; ++c) cli_json_number(json, changes[c].name, radius[c]);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
    cli_json_end_object(json);
    return code;
}

static int method_json(cli_json *json, const cli_study *study, const cli_method *m)
{
    const ga_coefficient_properties p = ga_coefficients_describe(&m->method);
    cli_json_text(json, "method", m->name);
    cli_json_number(json, "alpha_m", m->method.alpha_m);
    cli_json_number(json, "alpha_f", m->method.alpha_f);
    cli_json_number(json, "beta", m->method.beta);
    cli_json_number(json, "gamma", m->method.gamma);
    cli_json_boolean(json, "order_condition", p.second_order);
    cli_json_number(json, "order_defect", p.order_defect);
    cli_json_boolean(json, "zero_stable", p.zero_stable);
    cli_json_boolean(json, "unconditionally_stable", p.unconditionally_stable);
    cli_json_boolean(json, "stable_at_infinity", p.strictly_stable_at_infinity);
    cli_json_number(json, "radius_at_infinity", p.rho_infinity);
    int code = start_json(json, m);
    cli_json_number(json, "oscillator_damping", study->damping);
    if (code == EXIT_DONE) code = points_json(json, study, m);
    if (code == EXIT_DONE) code = steps_json(json, study, m);
    return code;
}

/* One method stands alone, several in a list. */
static int print_json(const cli_study *study)
{
    const bool several = study->count > 1;
    cli_json json = {.out = stdout};
    int code = EXIT_DONE;
    cli_json_object(&json, NULL);
    cli_json_text(&json, "status", "done");
    if (several) cli_json_list(&json, "methods");
    for (int k = 0; k < study->count && code == EXIT_DONE; ++k) {
        if (several) cli_json_object(&json, NULL);
        code = method_json(&json, study, &study->methods[k]);
        if (several) cli_json_end_object(&json);
    }
    if (several) cli_json_end_list(&json);
    cli_json_end_object(&json);
    return code;
}

static int refuse(bool as_json, int code, const char *message)
{
    cli_error("%s", message);
    if (!as_json) return code;
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "status", code == EXIT_INPUT ? "invalid" : "failed");
    cli_json_text(&json, "message", message);
    cli_json_end_object(&json);
    return code;
}

/* --- the command -------------------------------------------------------------------------- */

/* The library knows what it can work with: one look at each number that was given. */
static int check_numbers(const cli_study *study, char message[CLI_MISTAKE_SIZE])
{
    const ga_coefficients *m = &study->methods[0].method;
    ga_report report;
    ga_status status = GA_OK;
    ga_spectrum_point p;
    double radius;
    for (int k = 0; k < study->ratios.count && status == GA_OK; ++k)
        status = ga_spectrum_at(m, study->damping, study->ratios.x[k], &p, &report);
    if (status == GA_OK && study->steps.count > 0)
        status = ga_spectrum_pattern(m, 0, 1, GA_CHANGE_NONE, study->steps.count,
                                     study->steps.x, &radius, &report);
    if (status == GA_OK) return EXIT_DONE;
    snprintf(message, CLI_MISTAKE_SIZE, "%s", report.message);
    return cli_exit_code(status);
}

static int read_study(cli_study *study, const cli_arguments *arguments,
                      char message[CLI_MISTAKE_SIZE])
{
    cli_numbers damping = {.count = 1};
    int code = cli_study_methods(study, arguments, message);
    if (code == EXIT_DONE) code = cli_study_numbers(arguments, "damping", 1, &damping, message);
    if (code == EXIT_DONE)
        code = cli_study_numbers(arguments, "ratio", CLI_LIST, &study->ratios, message);
    if (code == EXIT_DONE)
        code = cli_study_numbers(arguments, "steps", CLI_LIST, &study->steps, message);
    study->damping = damping.x[0];
    study->ratios_given = cli_given(arguments, "ratio");
    return code == EXIT_DONE ? check_numbers(study, message) : code;
}

static int spectrum_command(const cli_arguments *arguments)
{
    cli_study study = {
        .ratios = {13, {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100}}};
    char message[CLI_MISTAKE_SIZE] = "";
    const bool as_json = cli_given(arguments, "json");
    const char *path = cli_value(arguments, "output");
    int code = read_study(&study, arguments, message);
    if (code == EXIT_DONE && path) code = cli_study_plot(&study, path, message);
    if (code != EXIT_DONE) return refuse(as_json, code, message);
    return as_json ? print_json(&study) : print_report(&study);
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "plot the curves to FILE: .svg, .png or .pdf"},
    {"method", 0, "NAME", "generalized-alpha (default), hht, newmark or wbz"},
    {"rho-inf", 0, "R,...", "of generalized-alpha and wbz, 0 to 1; default 0.9"},
    {"alpha", 0, "A,...", "of hht, -1/3 to 0; default -0.05"},
    {"beta", 0, "B", "of newmark; default 0.25"},
    {"gamma", 0, "G", "of newmark; default 0.5"},
    {"alpha-m", 0, "A", "with --alpha-f, --beta and --gamma: any method of the family"},
    {"alpha-f", 0, "A", "see --alpha-m"},
    {"ratio", 0, "X,...", "ratios h/T of step size to period"},
    {"damping", 0, "ZETA", "damping ratio of the oscillator; default 0"},
    {"steps", 0, "H,...", "also analyse this sequence of step sizes, repeated"},
    CLI_JSON_OPTION,
    {0},
};

const cli_command cli_spectrum = {
    .name = "spectrum",
    .summary = "show stability, accuracy and numerical damping of a method",
    .details =
        "An oscillator with period T is integrated with steps of size h. Spectral radius:\n"
        "largest eigenvalue modulus of the amplification matrix. Period elongation: relative\n"
        "error of the numerical period. Damping ratio: -ln|z|/arg z of the principal\n"
        "eigenvalue z; for an undamped oscillator it is the numerical damping of the method.\n"
        "\n"
        "Amplification of initial-value errors: largest norm of the powers of the matrix that\n"
        "propagates errors in the direction of the constraints from step to step. With\n"
        "--steps, for each treatment of a change of step size: none; adjust the "
        "accelerations;\n"
        "and, for index3, also rescale or reset the velocities. 'of lambda' is the error of "
        "the\n"
        "multipliers due to the changes, divided by mean step and second derivative of the\n"
        "velocity; where it is not 0, multipliers are only first-order accurate.\n"
        "\n"
        "Several numbers after --rho-inf or --alpha compare methods in tables and figures.\n"
        "If --ratio has several values, figures span their range.\n"
        "\n"
        "Exit codes: 0 done, 2 bad usage, 3 the figure cannot be written.\n",
    .options = options,
    .run = spectrum_command,
};
