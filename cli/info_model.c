/* What a model is made of, and what it can output. */
#include "cli/info.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct info {
    cli_input input;
    ga_sim_def def;
    ga_sim *all; /* with every channel there is */
    ga_sim *own; /* with those of the model */
} info;

/* --- channels ----------------------------------------------------------------------------- */

/* "*", "energy", "solver", and the points of bodies, which no name stands for as a whole. The
 * texts of points are allocated. Null if memory is out. */
static char **collect_names(const ga_model *model, int *count)
{
    static const char *const whole[] = {"*", "energy", "solver"};
    int points = 0;
    for (int b = 0; b < ga_model_body_count(model); ++b)
        for (int k = 0; ga_model_body_point(model, b, k); ++k) ++points;
    char **names = calloc((size_t)points + 3, sizeof *names);
    if (!names) return NULL;
    *count = 0;
    for (int k = 0; k < 3; ++k)
        if ((names[*count] = malloc(strlen(whole[k]) + 1))) strcpy(names[(*count)++], whole[k]);
    for (int b = 0; b < ga_model_body_count(model); ++b)
        for (int k = 0; ga_model_body_point(model, b, k); ++k) {
            const char *body = ga_model_body_name(model, b);
            const char *point = ga_model_body_point(model, b, k);
            const size_t size = strlen(body) + strlen(point) + 2;
            if ((names[*count] = malloc(size)))
                snprintf(names[(*count)++], size, "%s.%s", body, point);
        }
    return names;
}

static ga_status create_all(info *i, ga_report *report)
{
    ga_sim_def def = i->def;
    char **names = collect_names(i->input.model, &def.channel_count);
    if (!names) return GA_ERR_MEMORY;
    def.channels = (const char *const *)names;
    const ga_status status = ga_sim_create(i->input.model, &def, &i->all, NULL, report);
    for (int k = 0; k < def.channel_count; ++k) free(names[k]);
    free(names);
    return status;
}

/* --- settings ----------------------------------------------------------------------------- */

typedef struct setting {
    const char *name;
    const char *text; /* null: a number */
    double number;
    const char *unit;
} setting;

enum { MOST_SETTINGS = 16 };

/* Where the limit is not the user's it is a part of the time, which depends on the method. */
static const char *max_step_unit(const ga_sim_def *def, double max_step)
{
    if (max_step == 0) return "s, 0: no limit";
    if (def->control.max_step > 0) return "s";
    switch (lround((def->t_end - def->t_start) / max_step)) {
    case 500:
        return "s, for functions of time: 1/500 of the run";
    case 200:
        return "s, for functions of time: 1/200 of the run";
    case 50:
        return "s, for functions of time: 1/50 of the run";
    default:
        return "s, for functions of time";
    }
}

static int list_settings(const info *i, setting list[MOST_SETTINGS])
{
    const ga_sim_def *def = &i->def;
    const double max_step = ga_sim_max_step(i->own);
    const ga_coefficients *m = &def->integrator.coefficients;
    const bool fixed = def->control.relative == 0;
    int n = 0;
    list[n++] = (setting){"t_start", NULL, def->t_start, "s"};
    list[n++] = (setting){"t_end", NULL, def->t_end, "s"};
    if (fixed) {
        list[n++] = (setting){"step", NULL, def->step, "s"};
    } else {
        list[n++] = (setting){"tolerance_relative", NULL, def->control.relative, ""};
        list[n++] =
            (setting){"tolerance_absolute", NULL, def->control.absolute_translation, ""};
        list[n++] = (setting){"max_step", NULL, max_step, max_step_unit(def, max_step)};
    }
    const bool family = def->integrator.method == GA_METHOD_GENERALIZED_ALPHA;
    list[n++] = (setting){"method", cli_method_name(def->integrator.method), 0, ""};
    if (family)
        list[n++] =
            (setting){"formulation", cli_formulation(def->integrator.formulation), 0, ""};
    list[n++] =
        (setting){"kinematics", def->kinematics == GA_KINEMATICS_SE3 ? "se3" : "r3so3", 0, ""};
    if (family) {
        list[n++] = (setting){"alpha_m", NULL, m->alpha_m, ""};
        list[n++] = (setting){"alpha_f", NULL, m->alpha_f, ""};
        list[n++] = (setting){"beta", NULL, m->beta, ""};
        list[n++] = (setting){"gamma", NULL, m->gamma, ""};
    }
    list[n++] = (setting){"output_every", NULL, def->output_every,
                          def->output_every > 0 ? "s" : "s: every step"};
    return n;
}

/* --- for people --------------------------------------------------------------------------- */

static void print_more(int count)
{
    if (count > CLI_INFO_MOST)
        printf("    ... and %d more; --json shows all\n", count - CLI_INFO_MOST);
}

static void print_bodies(const ga_model *model)
{
    const int count = ga_model_body_count(model);
    printf("bodies (%d)\n", count);
    for (int b = 0; b < count && b < CLI_INFO_MOST; ++b) {
        printf("    %-24s %-12s %.6g kg", ga_model_body_name(model, b),
               ga_model_body_type(model, b), ga_model_body_mass(model, b));
        for (int k = 0; ga_model_body_point(model, b, k); ++k)
            printf("%s%s", k ? ", " : "   points ", ga_model_body_point(model, b, k));
        puts("");
    }
    print_more(count);
}

/* "-0.5 ... 0.5 m"; of one limit "min 0.5 m". */
static void print_interval(double min, double max, const char *unit)
{
    if (isfinite(min) && isfinite(max))
        printf("%.4g ... %.4g %s", min, max, unit);
    else
        printf("%s %.4g %s", isfinite(min) ? "min" : "max", isfinite(min) ? min : max, unit);
}

static void print_limits(const ga_model *model, int entry)
{
    ga_model_limits l = {.struct_size = sizeof l};
    const bool several = ga_model_entry_limits(model, entry, 1, &l) >= 0;
    int given;
    for (int i = 0; (given = ga_model_entry_limits(model, entry, i, &l)) >= 0; ++i) {
        if (!given) continue;
        printf(", %s%s%s ", strcmp(l.model, "stop") == 0 ? "stops" : "buffers",
               several ? " of " : "", several ? l.coordinate : "");
        print_interval(l.min, l.max, l.unit);
        if (strcmp(l.unit, "rad") == 0) {
            printf(" (");
            print_interval(cli_degrees(l.min), cli_degrees(l.max), "deg");
            printf(")");
        }
        if (l.restitution > 0) printf(", restitution %.4g", l.restitution);
    }
}

static void print_entries(const ga_model *model, const char *section)
{
    ga_model_entry e;
    int count = 0;
    for (int k = 0; (e = ga_model_get_entry(model, k)).name; ++k)
        count += strcmp(e.section, section) == 0;
    if (count == 0) return;
    printf("%s (%d)\n", section, count);
    int shown = 0;
    for (int k = 0; (e = ga_model_get_entry(model, k)).name && shown < CLI_INFO_MOST; ++k) {
        if (strcmp(e.section, section) != 0) continue;
        printf("    %-24s %-18s", e.name, e.type);
        for (int i = 0; ga_model_entry_body(model, k, i); ++i)
            printf("%s%s", i ? " - " : " ", ga_model_entry_body(model, k, i));
        print_limits(model, k);
        puts("");
        ++shown;
    }
    print_more(count);
}

static void print_parameters(const ga_model *model)
{
    ga_model_parameter p;
    int count = 0;
    while (ga_model_get_parameter(model, count).name) ++count;
    if (count == 0) return;
    printf("parameters (%d)\n", count);
    for (int k = 0; k < CLI_INFO_MOST && (p = ga_model_get_parameter(model, k)).name; ++k)
        printf("    %-24s %.9g\n", p.name, p.value);
    print_more(count);
}

static void print_settings(const info *i)
{
    setting list[MOST_SETTINGS];
    const int count = list_settings(i, list);
    puts("settings");
    for (int k = 0; k < count; ++k) {
        printf("    %-24s ", list[k].name);
        if (list[k].text)
            puts(list[k].text);
        else if (isnan(list[k].number))
            puts("not given");
        else
            printf("%.9g%s%s\n", list[k].number, *list[k].unit ? " " : "", list[k].unit);
    }
}

static bool is_own(const info *i, const char *name)
{
    for (int k = 0; k < ga_sim_channel_count(i->own); ++k) {
        const char *own = ga_sim_get_channel(i->own, k).name;
        const size_t n = strlen(name);
        if (strncmp(own, name, n) == 0 && (own[n] == '\0' || own[n] == '.')) return true;
    }
    return false;
}

static void print_channels(const info *i)
{
    const int count = ga_sim_channel_count(i->all);
    printf("channels (%d; those output are marked *)\n", count);
    for (int k = 0; k < count && k < CLI_INFO_MOST; ++k) {
        const ga_channel c = ga_sim_get_channel(i->all, k);
        printf("  %c %-36s %-8s %s\n", is_own(i, c.name) ? '*' : ' ', c.name, c.unit,
               c.description);
    }
    print_more(count);
}

static void print_report(const info *i)
{
    const ga_model *model = i->input.model;
    cli_print_text(stdout, cli_input_name(&i->input));
    printf(", %s\n", ga_model_dimension(model) == 2 ? "planar" : "spatial");
    print_bodies(model);
    print_entries(model, "joints");
    print_entries(model, "motions");
    print_entries(model, "forces");
    print_parameters(model);
    print_settings(i);
    print_channels(i);
}

/* --- for programs ------------------------------------------------------------------------- */

static void print_bodies_json(cli_json *json, const ga_model *model)
{
    cli_json_list(json, "bodies");
    for (int b = 0; b < ga_model_body_count(model); ++b) {
        cli_json_object(json, NULL);
        cli_json_text(json, "name", ga_model_body_name(model, b));
        cli_json_text(json, "type", ga_model_body_type(model, b));
        cli_json_number(json, "mass", ga_model_body_mass(model, b));
        cli_json_list(json, "points");
        for (int k = 0; ga_model_body_point(model, b, k); ++k)
            cli_json_text(json, NULL, ga_model_body_point(model, b, k));
        cli_json_end_list(json);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_limits_json(cli_json *json, const ga_model *model, int entry)
{
    ga_model_limits l = {.struct_size = sizeof l};
    int given, count = 0;
    for (int i = 0; (given = ga_model_entry_limits(model, entry, i, &l)) >= 0; ++i) {
        if (!given) continue;
        if (count++ == 0) cli_json_list(json, "limits");
        cli_json_object(json, NULL);
        cli_json_text(json, "coordinate", l.coordinate);
        cli_json_text(json, "model", l.model);
        cli_json_number(json, "min", l.min);
        cli_json_number(json, "max", l.max);
        if (isfinite(l.restitution)) cli_json_number(json, "restitution", l.restitution);
        cli_json_end_object(json);
    }
    if (count) cli_json_end_list(json);
}

static void print_entries_json(cli_json *json, const ga_model *model, const char *section)
{
    ga_model_entry e;
    cli_json_list(json, section);
    for (int k = 0; (e = ga_model_get_entry(model, k)).name; ++k) {
        if (strcmp(e.section, section) != 0) continue;
        cli_json_object(json, NULL);
        cli_json_text(json, "name", e.name);
        cli_json_text(json, "type", e.type);
        cli_json_list(json, "bodies");
        for (int i = 0; ga_model_entry_body(model, k, i); ++i)
            cli_json_text(json, NULL, ga_model_entry_body(model, k, i));
        cli_json_end_list(json);
        print_limits_json(json, model, k);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_settings_json(cli_json *json, const info *i)
{
    setting list[MOST_SETTINGS];
    const int count = list_settings(i, list);
    cli_json_object(json, "settings");
    for (int k = 0; k < count; ++k)
        if (list[k].text)
            cli_json_text(json, list[k].name, list[k].text);
        else
            cli_json_number(json, list[k].name, list[k].number);
    cli_json_end_object(json);
}

static void print_channels_json(cli_json *json, const info *i)
{
    cli_json_list(json, "channels");
    for (int k = 0; k < ga_sim_channel_count(i->all); ++k) {
        const ga_channel c = ga_sim_get_channel(i->all, k);
        cli_json_object(json, NULL);
        cli_json_text(json, "name", c.name);
        cli_json_text(json, "unit", c.unit);
        cli_json_text(json, "description", c.description);
        cli_json_list(json, "parts");
        for (int p = 0; p < c.count && c.parts; ++p) cli_json_text(json, NULL, c.parts[p]);
        cli_json_end_list(json);
        cli_json_boolean(json, "output", is_own(i, c.name));
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_json(const info *i)
{
    const ga_model *model = i->input.model;
    ga_model_parameter p;
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "file", i->input.path);
    cli_json_text(&json, "kind", "model");
    cli_json_text(&json, "model", cli_input_name(&i->input));
    cli_json_text(&json, "status", "done");
    cli_json_integer(&json, "dimension", ga_model_dimension(model));
    print_bodies_json(&json, model);
    print_entries_json(&json, model, "joints");
    print_entries_json(&json, model, "motions");
    print_entries_json(&json, model, "forces");
    cli_json_object(&json, "parameters");
    for (int k = 0; (p = ga_model_get_parameter(model, k)).name; ++k)
        cli_json_number(&json, p.name, p.value);
    cli_json_end_object(&json);
    print_settings_json(&json, i);
    print_channels_json(&json, i);
    cli_json_end_object(&json);
}

int cli_info_model(const cli_arguments *arguments)
{
    info i = {0};
    int code = cli_input_read(&i.input, arguments);
    if (code == EXIT_DONE) {
        ga_report report = {0};
        i.def = ga_sim_def_of(i.input.model);
        ga_status status =
            ga_sim_create(i.input.model, &i.def, &i.own, i.input.messages, &report);
        if (status == GA_OK) status = create_all(&i, &report);
        if (status != GA_OK) {
            code = cli_input_refuse(&i.input, status, &report);
        } else if (i.input.json) {
            print_json(&i);
        } else {
            print_report(&i);
        }
    }
    ga_sim_destroy(i.all);
    ga_sim_destroy(i.own);
    cli_input_free(&i.input);
    return code;
}
