/* The methods of `galpha spectrum`: a family with its parameter, or four numbers. */
#include "cli/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int mistake(char message[CLI_MISTAKE_SIZE], const char *text, const char *option)
{
    snprintf(message, CLI_MISTAKE_SIZE, text, option);
    return EXIT_INPUT;
}

/* --- numbers ------------------------------------------------------------------------------ */

int cli_study_numbers(const cli_arguments *arguments, const char *option, int most,
                      cli_numbers *numbers, char message[CLI_MISTAKE_SIZE])
{
    const char *at = cli_value(arguments, option);
    if (!at) return EXIT_DONE;
    numbers->count = 0;
    for (;;) {
        char *end;
        const double x = strtod(at, &end);
        if (end == at || (*end != ',' && *end != '\0') || !isfinite(x)) {
            snprintf(message, CLI_MISTAKE_SIZE, "--%s: '%.*s' is not a number", option,
                     (int)strcspn(at, ","), at);
            return EXIT_INPUT;
        }
        if (numbers->count == most) {
            snprintf(message, CLI_MISTAKE_SIZE, "--%s: more than %d number%s", option, most,
                     most == 1 ? "" : "s");
            return EXIT_INPUT;
        }
        numbers->x[numbers->count++] = x;
        if (*end == '\0') return EXIT_DONE;
        at = end + 1;
    }
}

/* One number; `absent` if the option was not given. */
static int number(const cli_arguments *arguments, const char *option, double absent, double *x,
                  char message[CLI_MISTAKE_SIZE])
{
    cli_numbers numbers = {.x = {absent}};
    const int code = cli_study_numbers(arguments, option, 1, &numbers, message);
    *x = numbers.x[0];
    return code;
}

/* --- families ----------------------------------------------------------------------------- */

typedef struct family {
    const char *name, *title;
    const char *parameter[2]; /* options, null if there is none */
    const char *symbol[2];    /* as in formulas */
    const char *sign[2];      /* as in figures */
    double absent[2];         /* as in model files */
    ga_status (*one)(double, ga_coefficients *, ga_report *);
    ga_status (*two)(double, double, ga_coefficients *, ga_report *);
} family;

static const family families[] = {
    {
        .name = "generalized-alpha",
        .title = "Generalized-α method",
        .parameter = {"rho-inf"},
        .symbol = {"rho_inf"},
        .sign = {"ρ_{∞}"},
        .absent = {0.9},
        .one = ga_coefficients_generalized_alpha,
    },
    {
        .name = "hht",
        .title = "HHT method",
        .parameter = {"alpha"},
        .symbol = {"alpha"},
        .sign = {"α"},
        .absent = {-0.05},
        .one = ga_coefficients_hht,
    },
    {
        .name = "newmark",
        .title = "Newmark method",
        .parameter = {"beta", "gamma"},
        .symbol = {"beta", "gamma"},
        .sign = {"β", "γ"},
        .absent = {0.25, 0.5},
        .two = ga_coefficients_newmark,
    },
    {
        .name = "wbz",
        .title = "WBZ method",
        .parameter = {"rho-inf"},
        .symbol = {"rho_inf"},
        .sign = {"ρ_{∞}"},
        .absent = {0.9},
        .one = ga_coefficients_wbz,
    },
};
enum { FAMILIES = sizeof families / sizeof *families };

static const char *const four[] = {"alpha-m", "alpha-f", "beta", "gamma"};

static const family *find_family(const char *name, char message[CLI_MISTAKE_SIZE])
{
    const char *names[FAMILIES];
    for (int k = 0; k < FAMILIES; ++k) {
        names[k] = families[k].name;
        if (strcmp(name, names[k]) == 0) return &families[k];
    }
    const char *nearest = cli_nearest(name, FAMILIES, names);
    snprintf(message, CLI_MISTAKE_SIZE, "there is no method '%s'; %s%s%s", name,
             nearest ? "did you mean '" : "generalized-alpha, hht, newmark or wbz",
             nearest ? nearest : "", nearest ? "'?" : "");
    return NULL;
}

/* Parameters of other families are mistakes, not to be passed over. */
static int check_options(const family *f, const cli_arguments *arguments,
                         char message[CLI_MISTAKE_SIZE])
{
    static const char *const all[] = {"rho-inf", "alpha", "alpha-m",
                                      "alpha-f", "beta",  "gamma"};
    for (size_t k = 0; k < sizeof all / sizeof *all; ++k) {
        bool belongs = false;
        for (int i = 0; i < 2; ++i)
            belongs |= f->parameter[i] && strcmp(f->parameter[i], all[k]) == 0;
        if (belongs || !cli_given(arguments, all[k])) continue;
        snprintf(message, CLI_MISTAKE_SIZE, "--%s is not a parameter of %s", all[k], f->name);
        return EXIT_INPUT;
    }
    return EXIT_DONE;
}

static int add(cli_study *study, ga_status status, const ga_report *report,
               char message[CLI_MISTAKE_SIZE])
{
    ++study->count;
    return status == GA_OK ? EXIT_DONE : mistake(message, "%s", report->message);
}

/* "beta = 0.25, gamma = 0.5" */
static void describe(char *text, size_t size, const char *const symbol[2], double first,
                     double second)
{
    const int n = snprintf(text, size, "%s = %g", symbol[0], first);
    if (symbol[1]) snprintf(text + n, size - (size_t)n, ", %s = %g", symbol[1], second);
}

static int add_family(cli_study *study, const family *f, const cli_arguments *arguments,
                      char message[CLI_MISTAKE_SIZE])
{
    ga_report report;
    cli_numbers list = {1, {f->absent[0]}};
    double second = f->absent[1];
    snprintf(study->title, sizeof study->title, "%s", f->title);
    int code = check_options(f, arguments, message);
    if (code == EXIT_DONE)
        code = cli_study_numbers(arguments, f->parameter[0], f->two ? 1 : CLI_METHODS, &list,
                                 message);
    if (code == EXIT_DONE && f->two)
        code = number(arguments, f->parameter[1], second, &second, message);
    for (int k = 0; k < list.count && code == EXIT_DONE; ++k) {
        cli_method *m = &study->methods[study->count];
        const int n = snprintf(m->name, sizeof m->name, "%s, ", f->name);
        describe(m->name + n, sizeof m->name - (size_t)n, f->symbol, list.x[k], second);
        describe(m->label, sizeof m->label, f->sign, list.x[k], second);
        code = add(study,
                   f->two ? f->two(list.x[k], second, &m->method, &report)
                          : f->one(list.x[k], &m->method, &report),
                   &report, message);
    }
    return code;
}

static int add_four(cli_study *study, const cli_arguments *arguments,
                    char message[CLI_MISTAKE_SIZE])
{
    cli_method *m = &study->methods[study->count];
    double values[4];
    if (cli_given(arguments, "method") || cli_given(arguments, "rho-inf") ||
        cli_given(arguments, "alpha"))
        return mistake(message, "%s",
                       "--alpha-m and --alpha-f define the method; do not combine them with "
                       "--method, --rho-inf or --alpha");
    for (int k = 0; k < 4; ++k) {
        if (!cli_given(arguments, four[k]))
            return mistake(message,
                           "--alpha-m, --alpha-f, --beta and --gamma belong together; --%s is "
                           "missing",
                           four[k]);
        const int code = number(arguments, four[k], 0, &values[k], message);
        if (code != EXIT_DONE) return code;
    }
    m->method = (ga_coefficients)GA_COEFFICIENTS(values[0], values[1], values[2], values[3]);
    snprintf(m->name, sizeof m->name, "own parameters");
    snprintf(study->title, sizeof study->title, "α_{m} = %g, α_{f} = %g, β = %g, γ = %g",
             m->method.alpha_m, m->method.alpha_f, m->method.beta, m->method.gamma);
    ga_report report;
    const ga_status status = ga_coefficients_check(&m->method, &report);
    return add(study, status, &report, message);
}

int cli_study_methods(cli_study *study, const cli_arguments *arguments,
                      char message[CLI_MISTAKE_SIZE])
{
    if (cli_given(arguments, "alpha-m") || cli_given(arguments, "alpha-f"))
        return add_four(study, arguments, message);
    const char *name = cli_value(arguments, "method");
    const family *f = find_family(name ? name : families[0].name, message);
    return f ? add_family(study, f, arguments, message) : EXIT_INPUT;
}
