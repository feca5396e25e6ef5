/* galpha converge: what order of convergence a model shows, and why not more. */
#include "cli/command.h"
#include "cli/input.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/progress.h"
#include "cli/text.h"

#include <galpha/converge.h>
#include <galpha/plot.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SIZES = 16 };

typedef struct converge {
    cli_input input;
    ga_converge_def def;
    double sizes[MOST_SIZES];
    ga_converge *study;
    const char *picture; /* null: not wanted */
    cli_progress progress;
    double wall;
} converge;

/* --- arguments ---------------------------------------------------------------------------- */

static const char *const formulations[GA_FORMULATION_COUNT] = {
    [GA_INDEX3] = "index3", [GA_INDEX2] = "index2", [GA_SOI2] = "soi2", [GA_HHT_I3] = "hht-i3"};

/* h1,h2,... */
static int parse_sizes(converge *c, const char *option, const char *list)
{
    const char *at = list;
    for (c->def.size_count = 0; c->def.size_count < MOST_SIZES;) {
        char *end;
        const double x = strtod(at, &end);
        if (end == at || !(x > 0) || !isfinite(x) || (*end && *end != ',')) {
            cli_error("--%s %s: expected positive numbers, h1,h2,...", option, list);
            return EXIT_INPUT;
        }
        c->sizes[c->def.size_count++] = x;
        if (!*end) return EXIT_DONE;
        at = end + 1;
    }
    cli_error("--%s: more than %d numbers", option, MOST_SIZES);
    return EXIT_INPUT;
}

static int parse_levels(converge *c, const char *text)
{
    char *end;
    const long levels = strtol(text, &end, 10);
    if (end == text || *end || levels < 2 || levels > MOST_SIZES) {
        cli_error("--levels %s: expected a number from 2 to %d", text, MOST_SIZES);
        return EXIT_INPUT;
    }
    c->def.levels = (int)levels;
    return EXIT_DONE;
}

static int parse_formulation(converge *c, const char *text)
{
    for (int k = 0; k < GA_FORMULATION_COUNT; ++k)
        if (strcmp(text, formulations[k]) == 0) {
            c->def.sim.integrator.formulation = (ga_formulation)k;
            c->def.sim.integrator.method = GA_METHOD_GENERALIZED_ALPHA;
            return EXIT_DONE;
        }
    cli_error("--formulation %s: expected index3, index2, soi2 or hht-i3", text);
    return EXIT_INPUT;
}

static int parse_reference(converge *c, const char *text)
{
    static const ga_method methods[] = {GA_METHOD_EXPLICIT, GA_METHOD_RADAU};
    const char *names[2];
    for (int k = 0; k < 2; ++k) {
        names[k] = cli_method_name(methods[k]);
        if (strcmp(text, names[k]) != 0) continue;
        c->def.reference = methods[k];
        return EXIT_DONE;
    }
    const char *nearest = cli_nearest(text, 2, names);
    if (nearest)
        cli_error("--reference %s: did you mean '%s'?", text, nearest);
    else
        cli_error("--reference %s: expected radau or explicit; without the option, the "
                  "reference is another formulation, extrapolated",
                  text);
    return EXIT_INPUT;
}

static int parse(converge *c, const cli_arguments *arguments)
{
    const char *steps = cli_value(arguments, "steps");
    const char *tolerances = cli_value(arguments, "tolerances");
    const char *levels = cli_value(arguments, "levels");
    const char *formulation = cli_value(arguments, "formulation");
    const char *reference = cli_value(arguments, "reference");
    int code = EXIT_DONE;
    if (steps && tolerances) {
        cli_error("give either --steps or --tolerances, not both");
        return EXIT_INPUT;
    }
    c->def = ga_converge_def_of(c->input.model);
    c->def.hat = cli_given(arguments, "hat");
    c->def.tolerances = tolerances != NULL;
    c->def.sizes = c->sizes;
    if (levels) code = parse_levels(c, levels);
    if (code == EXIT_DONE && formulation) code = parse_formulation(c, formulation);
    if (code == EXIT_DONE && reference) code = parse_reference(c, reference);
    if (code == EXIT_DONE && steps) code = parse_sizes(c, "steps", steps);
    /* `auto` leaves the choice to the library */
    if (code == EXIT_DONE && tolerances && strcmp(tolerances, "auto") != 0)
        code = parse_sizes(c, "tolerances", tolerances);
    return code;
}

/* --- the table ---------------------------------------------------------------------------- */

static bool is_present(const ga_converge_result *r, int component)
{
    return !isnan(r->scale[component]);
}

/* "1.23e-05 2.01": an error and the order from the level before; in brackets where it is not
 * above that of the reference or of rounding. */
static void print_cell(const ga_converge_level *level, bool has_order, int component)
{
    char text[32], order[16] = "";
    if (level->failed) {
        printf("  %16s", "failed");
        return;
    }
    if (has_order && level->used[component] && !isnan(level->order[component]))
        snprintf(order, sizeof order, "%5.2f", level->order[component]);
    snprintf(text, sizeof text, level->used[component] ? "%.2e" : "(%.2e)",
             level->error[component]);
    printf("  %10s %5s", text, order);
}

static void print_row(const ga_converge_result *r, int component)
{
    char name[64];
    snprintf(name, sizeof name, "%s, %s", ga_component_name((ga_component)component),
             ga_component_unit((ga_component)component));
    printf("  %-29s", name);
    bool follows = false; /* on a level that counts */
    for (int k = 0; k < r->level_count; ++k) {
        print_cell(r->levels + k, follows, component);
        if (!r->levels[k].failed) follows = r->levels[k].used[component];
    }
    if (isnan(r->order[component]))
        printf("       -");
    else
        printf("  %6.2f", r->order[component]);
    printf("    %.1e\n", r->reference_error[component]);
}

static void print_reference(const ga_converge_result *r)
{
    int extrapolated = 0, present = 0;
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i) {
        present += is_present(r, i);
        extrapolated += is_present(r, i) && r->extrapolated[i];
    }
    printf("  reference    %s", r->reference_method == GA_METHOD_GENERALIZED_ALPHA
                                    ? formulations[r->reference_formulation]
                                    : cli_method_name(r->reference_method));
    if (r->reference_tolerance > 0)
        printf(", tolerance %.3g", r->reference_tolerance);
    else
        printf(", steps down to %.3g s%s", r->reference_step,
               extrapolated == present ? ", extrapolated"
               : extrapolated          ? ", extrapolated where that is more accurate"
                                       : "");
    puts("; last column: its own error");
}

static void print_reactions(const converge *c)
{
    puts(c->def.hat
             ? "  accelerations and reactions: recomputed, as in results"
             : "  accelerations and reactions: those of the scheme; --hat: recomputed, as "
               "in results");
}

/* Text in lines of about 80 characters. */
static void print_wrapped(const char *text)
{
    enum { WIDTH = 80 };
    while (*text) {
        size_t n = strlen(text);
        if (n > WIDTH) {
            n = WIDTH;
            while (n > 1 && text[n] != ' ') --n;
        }
        printf("  %.*s\n", (int)n, text);
        text += n;
        while (*text == ' ') ++text;
    }
}

/* Steps of fixed size are those of generalized-alpha. */
static const char *studied(const converge *c)
{
    const ga_integrator_def *def = &c->def.sim.integrator;
    const bool alpha = def->method == GA_METHOD_GENERALIZED_ALPHA ||
                       (def->method == GA_METHOD_AUTO && !c->def.tolerances);
    return alpha ? formulations[def->formulation] : cli_method_name(def->method);
}

static void print_table(const converge *c)
{
    const ga_converge_result *r = ga_converge_get(c->study);
    char line[160];
    snprintf(line, sizeof line, ": %s, t = %g ... %g s, studied in %.3g s", studied(c),
             c->def.sim.t_start, c->def.sim.t_end, c->wall);
    cli_print_text(stdout, cli_input_name(&c->input));
    puts(line);
    print_reference(r);
    if (c->def.sim.integrator.method == GA_METHOD_GENERALIZED_ALPHA) print_reactions(c);
    printf("\n  %-29s",
           c->def.tolerances ? "largest errors; mean step, s" : "largest errors; step, s");
    for (int k = 0; k < r->level_count; ++k) printf("  %10.3g order", r->levels[k].step);
    puts("   order  reference");
    if (c->def.tolerances) {
        printf("  %-29s", "tolerance");
        for (int k = 0; k < r->level_count; ++k)
            printf("  %10.3g      ", r->levels[k].tolerance);
        puts("");
    }
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (is_present(r, i)) print_row(r, i);
    printf("\nverdict: %s\n", ga_verdict_name(r->verdict));
    print_wrapped(r->reason);
}

/* --- JSON --------------------------------------------------------------------------------- */

static void print_numbers(cli_json *json, const char *key, const ga_converge_result *r,
                          const double numbers[GA_COMPONENT_COUNT])
{
    cli_json_object(json, key);
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (is_present(r, i))
            cli_json_number(json, ga_component_name((ga_component)i), numbers[i]);
    cli_json_end_object(json);
}

static void print_level_json(cli_json *json, const ga_converge_result *r,
                             const ga_converge_level *level)
{
    cli_json_object(json, NULL);
    cli_json_number(json, "step", level->step);
    if (level->tolerance > 0) cli_json_number(json, "tolerance", level->tolerance);
    cli_json_integer(json, "steps", level->steps);
    cli_json_text(json, "status", level->failed ? "failed" : "done");
    print_numbers(json, "errors", r, level->error);
    print_numbers(json, "orders", r, level->order);
    cli_json_list(json, "used");
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (level->used[i]) cli_json_text(json, NULL, ga_component_name((ga_component)i));
    cli_json_end_list(json);
    cli_json_end_object(json);
}

static void print_reference_json(cli_json *json, const ga_converge_result *r)
{
    cli_json_object(json, "reference");
    cli_json_text(json, "method", cli_method_name(r->reference_method));
    if (r->reference_method == GA_METHOD_GENERALIZED_ALPHA)
        cli_json_text(json, "formulation", formulations[r->reference_formulation]);
    if (r->reference_tolerance > 0)
        cli_json_number(json, "tolerance", r->reference_tolerance);
    else
        cli_json_number(json, "step", r->reference_step);
    cli_json_list(json, "extrapolated");
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (is_present(r, i) && r->extrapolated[i])
            cli_json_text(json, NULL, ga_component_name((ga_component)i));
    cli_json_end_list(json);
    print_numbers(json, "errors", r, r->reference_error);
    cli_json_end_object(json);
}

static void print_json(const converge *c)
{
    const ga_converge_result *r = ga_converge_get(c->study);
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "model", cli_input_name(&c->input));
    cli_json_text(&json, "file", c->input.path);
    cli_json_text(&json, "status", "done");
    cli_json_text(&json, "formulation", formulations[c->def.sim.integrator.formulation]);
    cli_json_number(&json, "t_start", c->def.sim.t_start);
    cli_json_number(&json, "t_end", c->def.sim.t_end);
    cli_json_list(&json, "levels");
    for (int k = 0; k < r->level_count; ++k) print_level_json(&json, r, r->levels + k);
    cli_json_end_list(&json);
    print_numbers(&json, "orders", r, r->order);
    print_numbers(&json, "scale", r, r->scale);
    print_reference_json(&json, r);
    cli_json_integer(&json, "redundant", r->redundant);
    cli_json_integer(&json, "events", r->events);
    cli_json_text(&json, "verdict", ga_verdict_name(r->verdict));
    cli_json_number(&json, "at", r->at);
    cli_json_text(&json, "reason", r->reason);
    cli_json_number(&json, "wall_seconds", c->wall);
    cli_json_end_object(&json);
}

/* --- the picture -------------------------------------------------------------------------- */

/* Relative errors of one component; levels that do not count are rings, aside from the line. */
static void draw_component(ga_figure *figure, int panel, const ga_converge_result *r,
                           int component)
{
    double step[MOST_SIZES], error[MOST_SIZES], apart[MOST_SIZES];
    int used = 0;
    for (int k = 0; k < r->level_count; ++k) {
        const ga_converge_level *level = r->levels + k;
        const double relative = level->error[component] / r->scale[component];
        step[k] = level->step;
        error[k] = level->used[component] ? relative : NAN;
        apart[k] = level->used[component] ? NAN : relative;
        used += level->used[component];
    }
    /* what is exact has no place here, what drowns in rounding has */
    if (!used && r->verdict == GA_VERDICT_SECOND_ORDER) return;
    char label[64];
    snprintf(label, sizeof label, "%s", ga_component_name((ga_component)component));
    for (char *p = label; *p; ++p)
        if (*p == '_') *p = ' ';
    ga_plot_series series = {.struct_size = sizeof(ga_plot_series),
                             .label = label,
                             .count = (size_t)r->level_count,
                             .x = step,
                             .y = error,
                             .color = (unsigned)(GA_COLOR_BLUE + component),
                             .marker = GA_MARKER_CIRCLE};
    if (used) ga_figure_series(figure, panel, &series);
    if (used == r->level_count) return;
    if (used) series.label = NULL;
    series.y = apart;
    series.line = GA_LINE_NONE;
    series.marker = GA_MARKER_RING;
    ga_figure_series(figure, panel, &series);
}

static ga_status draw(const converge *c, ga_report *report)
{
    const ga_converge_result *r = ga_converge_get(c->study);
    char title[160];
    snprintf(title, sizeof title, "%s, %s: %s", cli_input_name(&c->input), studied(c),
             ga_verdict_name(r->verdict));
    ga_figure *figure = ga_figure_create(
        &(ga_figure_def){.struct_size = sizeof(ga_figure_def), .width = 520, .title = title});
    const int panel = ga_figure_panel(
        figure,
        &(ga_plot_panel){.struct_size = sizeof(ga_plot_panel),
                         .x = {.label = c->def.tolerances ? "mean step" : "step",
                               .unit = "s",
                               .scale = GA_SCALE_LOG},
                         .y = {.label = "largest error / largest value", .scale = GA_SCALE_LOG},
                         .legend = GA_LEGEND_OUTSIDE});
    for (int i = 0; i < GA_COMPONENT_COUNT; ++i)
        if (is_present(r, i) && !r->zero[i]) draw_component(figure, panel, r, i);
    ga_figure_slope(figure, panel,
                    &(ga_plot_slope){.struct_size = sizeof(ga_plot_slope), .order = 2});
    const ga_status status = ga_figure_write(figure, c->picture, report);
    ga_figure_destroy(figure);
    return status;
}

static bool is_picture(const char *path)
{
    static const char *const endings[] = {".svg", ".png", ".pdf"};
    const char *dot = strrchr(path, '.');
    for (int k = 0; dot && k < 3; ++k)
        if (strcmp(dot, endings[k]) == 0) return true;
    return false;
}

/* --- the command -------------------------------------------------------------------------- */

static ga_eval go_on(void *user, double done)
{
    converge *c = user;
    cli_progress_update(&c->progress, done, 0);
    return cli_interrupt_caught() ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static int examine(converge *c)
{
    ga_report report;
    c->def.progress = go_on;
    c->def.user = c;
    cli_interrupt_watch();
    c->progress = cli_progress_begin(!c->input.json, 0, 1);
    c->progress.shown = c->progress.shown && c->progress.terminal;
    const double began = cli_clock();
    const ga_status status =
        ga_converge_run(c->input.model, &c->def, &c->study, c->input.messages, &report);
    c->wall = cli_clock() - began;
    cli_progress_end(&c->progress);
    if (cli_interrupt_caught()) {
        cli_error("stopped; a study reports nothing until it is complete");
        return EXIT_SIGNAL + cli_interrupt_caught();
    }
    if (status != GA_OK) return cli_input_refuse(&c->input, status, &report);
    if (c->input.json)
        print_json(c);
    else
        print_table(c);
    if (!c->picture || draw(c, &report) == GA_OK) return EXIT_DONE;
    cli_flush();
    cli_error("%s", report.message);
    return cli_exit_code(report.status);
}

static int converge_command(const cli_arguments *arguments)
{
    converge c = {.picture = cli_value(arguments, "output")};
    if (c.picture && !is_picture(c.picture)) {
        cli_error("--output %s: expected a name that ends in .svg, .png or .pdf", c.picture);
        return EXIT_INPUT;
    }
    int code = cli_input_read(&c.input, arguments);
    if (code == EXIT_DONE) code = parse(&c, arguments);
    if (code == EXIT_DONE) code = examine(&c);
    ga_converge_destroy(c.study);
    cli_input_free(&c.input);
    return code;
}

static const cli_option options[] = {
    {"output", 'o', "FILE", "plot errors against step size: .svg, .png or .pdf"},
    {"steps", 0, "H1,H2,...", "fixed step sizes; default: around that of the model"},
    {"tolerances", 0, "TOL1,...", "use error control with these tolerances, or `auto`"},
    {"levels", 0, "N", "number of step sizes or tolerances; default 5"},
    {"formulation", 0, "NAME", "index3, index2 or soi2; default: that of the model"},
    {"reference", 0, "METHOD", "reference by radau or explicit, with a tight tolerance"},
    {"hat", 0, NULL, "use recomputed accelerations and reactions (acceleration level)"},
    CLI_INPUT_OPTIONS,
    CLI_JSON_OPTION,
    {0},
};

const cli_command cli_converge = {
    .name = "converge",
    .operand = "MODEL",
    .summary = "measure the order of convergence and explain a low one",
    .details =
        "MODEL is a model file, or - for standard input. It is run with ever smaller steps\n"
        "and compared with a reference: another formulation, extrapolated, or with\n"
        "--reference a method of higher order. Errors are the largest over the whole run, at\n"
        "the ends of the steps, where nothing is interpolated. Errors in brackets are not\n"
        "significant: they do not exceed round-off or the error of the reference.\n"
        "\n"
        "Exit codes: 0 the study ran, whatever its verdict, 1 the computation failed, 2 bad\n"
        "input or usage, 3 a file cannot be read or written.\n",
    .options = options,
    .run = converge_command,
};
