/* galpha check: what a model is made of, and whether it is sound. */
#include "cli/command.h"
#include "cli/failure.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/warnings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct check {
    cli_input input;
    ga_sim_def def;
    ga_sim *sim;
    ga_sim_check found;
} check;

/* Difference quotients are good to about 1e-7; beyond this something is wrong. */
static const double suspicious_tangent = 1e-4;

/* --- channels ----------------------------------------------------------------------------- */

static bool is_motion(const ga_sim_element *e)
{
    return e->type && strncmp(e->type, "motion", 6) == 0;
}

/* Whose accelerations and reactions to show. */
typedef enum scope { EVERYTHING, WITHOUT_MOTIONS, BODIES, SCOPES } scope;

/* All bodies, and elements with constraints as the scope says. Null if memory is out. */
static const char **collect_names(const check *c, scope which, int *count)
{
    const int bodies = ga_model_body_count(c->input.model);
    int elements = 0;
    while (ga_sim_get_element(c->sim, elements).name) ++elements;
    const char **names = calloc((size_t)(bodies + elements) + 1, sizeof *names);
    if (!names) return NULL;
    *count = 0;
    for (int k = 0; k < bodies; ++k) names[(*count)++] = ga_model_body_name(c->input.model, k);
    for (int k = 0; k < elements && which != BODIES; ++k) {
        const ga_sim_element e = ga_sim_get_element(c->sim, k);
        if (e.rows > 0 && !(which == WITHOUT_MOTIONS && is_motion(&e)))
            names[(*count)++] = e.name;
    }
    return names;
}

/* The model's own simulation shows that its channels exist; then one with accelerations and
 * reactions takes its place. Not every element has channels, so less is asked for in turn. */
static int create(check *c)
{
    ga_report report;
    ga_status status =
        ga_sim_create(c->input.model, &c->def, &c->sim, c->input.messages, &report);
    if (status != GA_OK) return cli_input_refuse(&c->input, status, &report);
    cli_input_print_messages(&c->input);
    ga_sim *all = NULL;
    for (int which = 0; which < SCOPES && !all; ++which) {
        ga_sim_def def = c->def;
        const char **names = collect_names(c, (scope)which, &def.channel_count);
        if (!names) return cli_out_of_memory();
        def.channels = names;
        status = ga_sim_create(c->input.model, &def, &all, NULL, &report);
        free(names);
        if (status == GA_ERR_MEMORY) return cli_out_of_memory();
    }
    if (all) {
        ga_sim_destroy(c->sim);
        c->sim = all;
    }
    return EXIT_DONE;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

typedef enum kind { VELOCITIES, ACCELERATIONS, REACTIONS, KINDS } kind;

static bool is_kind(kind which, const char *name)
{
    static const char *const ends[KINDS][2] = {
        {".velocity", ".angular_velocity"},
        {".acceleration", ".angular_acceleration"},
        {".force", ".torque"},
    };
    return ends_with(name, ends[which][0]) || ends_with(name, ends[which][1]);
}

/* --- for people --------------------------------------------------------------------------- */

static void print_elements(const check *c)
{
    ga_sim_element e;
    for (int k = 0; (e = ga_sim_get_element(c->sim, k)).name; ++k)
        if (e.rows > 0) printf("    %-20s %-16s %d\n", e.name, e.type ? e.type : "", e.rows);
}

/* The section of the file an element stands in. */
static const char *section_of(const check *c, const char *name)
{
    ga_sim_element e;
    for (int k = 0; (e = ga_sim_get_element(c->sim, k)).name; ++k)
        if (strcmp(e.name, name) == 0) return is_motion(&e) ? "motions" : "joints";
    return "joints";
}

static void print_redundancies(const check *c)
{
    const ga_sim_check *found = &c->found;
    if (found->redundant_count == 0) return;
    puts(found->is_singular
             ? "singular position: constraints that depend on others here, though "
               "not elsewhere"
             : "redundant constraints; the reactions are not unique, those of "
               "minimum norm are shown");
    for (int k = 0; k < found->redundant_count; ++k) {
        const ga_sim_redundancy *r = &found->redundant[k];
        printf("    %s.%s: %s is %s", section_of(c, r->element), r->element, r->direction,
               found->is_singular ? "dependent" : "redundant");
        for (int i = 0; i < r->with_count; ++i)
            printf("%s%s", i ? ", " : found->is_singular ? " on " : " with ", r->with[i]);
        puts("");
    }
}

/* All digits, but those of numbers that are round-off of `scale`. */
static const char *whole_number(double x, double scale, char text[CLI_NUMBER_SIZE])
{
    return cli_number(fabs(x) <= 1e-15 * scale ? 0 : x, text);
}

static void print_numbers(int count, const double *x, double scale)
{
    char text[CLI_NUMBER_SIZE];
    for (int i = 0; i < count; ++i)
        printf("%s%s", i ? ", " : "[", whole_number(x[i], scale, text));
    printf("]");
}

static void print_assembled(const ga_sim_moved *m, int dimension, double size)
{
    char text[CLI_NUMBER_SIZE];
    printf("    %-20s position: ", m->body);
    print_numbers(dimension, m->position, size);
    if (m->rotation_count == 1) printf(", rotation: %s", whole_number(m->rotation[0], 1, text));
    if (m->rotation_count == 4) {
        printf(", rotation: {quaternion: ");
        print_numbers(4, m->rotation, 1);
        printf("}");
    }
    puts("");
}

static void print_moved(const ga_sim_check *found, int dimension)
{
    char angle[CLI_ANGLE_SIZE];
    if (found->moved_count == 0) return;
    puts("moved by assembly to satisfy the constraints");
    for (int k = 0; k < found->moved_count; ++k) {
        const ga_sim_moved *m = &found->moved[k];
        printf("    %-20s", m->body);
        if (m->distance > 0) printf(" by %.3g m", m->distance);
        if (m->angle > 0)
            printf("%s rotated by %s", m->distance > 0 ? "," : "", cli_angle(m->angle, angle));
        puts("");
    }
    double size = 0;
    for (int k = 0; k < found->moved_count; ++k)
        for (int i = 0; i < dimension; ++i)
            size = fmax(size, fabs(found->moved[k].position[i]));
    puts("assembled positions, to be copied into the file");
    for (int k = 0; k < found->moved_count; ++k)
        print_assembled(&found->moved[k], dimension, size);
    puts("    With these in the file, joint coordinates are zero in the assembled position.\n"
         "    `limits`, `rest`, angles of torsion springs and values of motions then shift:\n"
         "    subtract the coordinate at t = 0 of a run with the present file.");
}

/* The largest number in this unit, at least 1: what is smaller by the precision of doubles is
 * round-off. */
static double scale_of(const check *c, const char *unit)
{
    const double *values = ga_sim_values(c->sim);
    double scale = 1;
    for (int k = 0; k < ga_sim_channel_count(c->sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(c->sim, k);
        for (int i = 0; i < channel.count; ++i, ++values)
            if (strcmp(channel.unit, unit) == 0) scale = fmax(scale, fabs(*values));
    }
    return scale;
}

/* Accelerations that balanced forces leave, as in a mechanism at rest: up to the largest force
 * by the least mass, but what is above a billionth of g is shown in any case. */
static double acceleration_scale(const check *c)
{
    const ga_model *model = c->input.model;
    double least = INFINITY;
    for (int b = 0; b < ga_model_body_count(model); ++b)
        least = fmin(least, ga_model_body_mass(model, b));
    return fmin(scale_of(c, "N") / least, 1e4);
}

static double shown_scale(const check *c, const char *unit)
{
    const bool acceleration = strcmp(unit, "m/s^2") == 0 || strcmp(unit, "rad/s^2") == 0;
    return fmax(scale_of(c, unit), acceleration ? acceleration_scale(c) : 0);
}

/* Distances below this part of the size of the mechanism, or below this length in m, are what
 * assembly leaves. */
static const double apart_part = 1e-9, apart_least = 1e-15;

static double size_of_joints(const ga_sim_check *f)
{
    double size = 0;
    for (int k = 0; k < f->joint_count; ++k)
        for (int i = 0; i < 3; ++i)
            size = fmax(size, fmax(fabs(f->joints[k].first[i]), fabs(f->joints[k].second[i])));
    return size;
}

static void print_place(const double x[3], int dimension, double size)
{
    const double least = fmax(1e-12 * size, apart_least);
    for (int i = 0; i < dimension; ++i)
        printf("%s%.6g", i ? ", " : "[", fabs(x[i]) <= least ? 0 : x[i]);
    printf("]");
}

/* Where every joint is, in the world. */
static void print_joints(const check *c)
{
    const ga_sim_check *f = &c->found;
    const int dimension = ga_model_dimension(c->input.model);
    const double size = size_of_joints(f);
    char angle[CLI_ANGLE_SIZE];
    if (f->joint_count == 0) return;
    puts("joints at the start, world coordinates in m");
    for (int k = 0; k < f->joint_count; ++k) {
        const ga_sim_joint *j = &f->joints[k];
        double apart = 0;
        for (int i = 0; i < 3; ++i) apart = fmax(apart, fabs(j->second[i] - j->first[i]));
        printf("    %-20s %-16s ", j->name, j->type);
        print_place(j->first, dimension, size);
        if (apart > fmax(apart_part * size, apart_least)) {
            printf(" to ");
            print_place(j->second, dimension, size);
        }
        if (j->centre_of) printf(", centre of mass of %s (no location given)", j->centre_of);
        if (j->gap > 0) printf(", sides %.3g m apart in the file", j->gap);
        if (j->turn > 0) printf(", rotated by %s in the file", cli_angle(j->turn, angle));
        puts("");
    }
}

static void print_channels(const check *c, kind which, const char *title)
{
    const double *values = ga_sim_values(c->sim);
    bool any = false;
    for (int k = 0; k < ga_sim_channel_count(c->sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(c->sim, k);
        if (is_kind(which, channel.name)) {
            if (!any) puts(title);
            any = true;
            const double scale = shown_scale(c, channel.unit);
            printf("    %-32s", channel.name);
            for (int i = 0; i < channel.count; ++i)
                printf(" %12.6g", cli_without_round_off(values[i], scale));
            printf("  %s\n", channel.unit ? channel.unit : "");
        }
        values += channel.count;
    }
}

static bool moves(const check *c)
{
    const double *values = ga_sim_values(c->sim);
    for (int k = 0; k < ga_sim_channel_count(c->sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(c->sim, k);
        const double scale = scale_of(c, channel.unit);
        for (int i = 0; i < channel.count && is_kind(VELOCITIES, channel.name); ++i)
            if (cli_without_round_off(values[i], scale) != 0) return true;
        values += channel.count;
    }
    return false;
}

/* Constraints of motions; -1 if some are redundant, so that they do not count in full. */
static int count_motion_rows(const check *c)
{
    ga_sim_element e;
    int rows = 0;
    for (int k = 0; (e = ga_sim_get_element(c->sim, k)).name; ++k)
        if (is_motion(&e)) rows += e.rows;
    for (int k = 0; k < c->found.redundant_count; ++k) {
        const ga_sim_redundancy *r = &c->found.redundant[k];
        if (strcmp(section_of(c, r->element), "motions") == 0) return -1;
        for (int i = 0; i < r->with_count; ++i)
            if (strcmp(section_of(c, r->with[i]), "motions") == 0) return -1;
    }
    return rows;
}

/* What there is of stops and stiction, which hold at times. */
typedef struct locks {
    int rows;
    bool stop, stick;
} locks;

static locks find_locks(const check *c)
{
    locks found = {0};
    ga_sim_element e;
    for (int k = 0; (e = ga_sim_get_element(c->sim, k)).name; ++k) {
        const bool both = e.type && strcmp(e.type, "stiction and stop") == 0;
        const bool stops = both || (e.type && strcmp(e.type, "stop") == 0);
        const bool sticks = both || (e.type && strcmp(e.type, "stiction") == 0);
        if (stops || sticks) found.rows += e.rows;
        found.stop |= stops;
        found.stick |= sticks;
    }
    return found;
}

static int count_open(const ga_sim_check *f)
{
    return f->grubler - (f->coordinates - f->constraints);
}

static void print_freedom(const check *c)
{
    const ga_sim_check *f = &c->found;
    const int driven = count_motion_rows(c);
    const locks l = find_locks(c);
    const int held = l.rows - count_open(f);
    const char *between = " (";
    printf("degrees of freedom  %d", f->degrees_of_freedom);
    if (driven > 0) {
        printf("%s%d without motions", between, f->degrees_of_freedom + driven);
        between = "; ";
    }
    if (held > 0) {
        printf("%s%d while no joint %s", between, f->degrees_of_freedom + held,
               !l.stick  ? "rests at a stop"
               : !l.stop ? "sticks"
                         : "rests at a stop or sticks");
        between = "; ";
    }
    if (f->grubler != f->degrees_of_freedom) {
        printf("%s%d by counting", between, f->grubler);
        between = "; ";
    }
    puts(strcmp(between, "; ") == 0 ? ")" : "");
    if (f->is_singular)
        puts("                    in this position, which is singular; fewer elsewhere");
}

static void print_report(const check *c)
{
    const ga_sim_check *f = &c->found;
    cli_print_line(stdout, "", cli_input_name(&c->input));
    printf("bodies              %d\n", f->bodies);
    printf("coordinates         %d\n", f->coordinates);
    printf("constraints         %d", f->constraints);
    const locks l = find_locks(c);
    if (count_open(f) > 0)
        printf(" (%d open: %s)", count_open(f),
               !l.stick  ? "stops not reached"
               : !l.stop ? "stiction that slips"
                         : "stops not reached, stiction that slips");
    puts("");
    print_elements(c);
    print_freedom(c);
    print_redundancies(c);
    print_moved(f, ga_model_dimension(c->input.model));
    print_joints(c);
    if (moves(c))
        print_channels(c, VELOCITIES, "velocities at the start, angular ones in body axes");
    print_channels(c, ACCELERATIONS, "accelerations at the start");
    print_channels(c, REACTIONS, "reactions at the start, on the second body, world axes");
    if (isnan(f->tangent_error))
        printf("Jacobians           %s\n", f->tangent_worst);
    else
        printf("Jacobians           agree with finite differences to %.2g (worst: %s)\n",
               f->tangent_error, f->tangent_worst ? f->tangent_worst : "");
}

/* --- for programs ------------------------------------------------------------------------- */

static void print_channels_json(cli_json *json, const check *c, kind which, const char *key)
{
    const double *values = ga_sim_values(c->sim);
    cli_json_object(json, key);
    for (int k = 0; k < ga_sim_channel_count(c->sim); ++k) {
        const ga_channel channel = ga_sim_get_channel(c->sim, k);
        if (is_kind(which, channel.name))
            cli_json_numbers(json, channel.name, channel.count, values);
        values += channel.count;
    }
    cli_json_end_object(json);
}

static void print_elements_json(cli_json *json, const check *c)
{
    cli_json_list(json, "elements");
    ga_sim_element e;
    for (int k = 0; (e = ga_sim_get_element(c->sim, k)).name; ++k) {
        cli_json_object(json, NULL);
        cli_json_text(json, "name", e.name);
        cli_json_text(json, "type", e.type);
        cli_json_integer(json, "constraints", e.rows);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_redundancies_json(cli_json *json, const ga_sim_check *found)
{
    cli_json_list(json, "redundant");
    for (int k = 0; k < found->redundant_count; ++k) {
        const ga_sim_redundancy *r = &found->redundant[k];
        cli_json_object(json, NULL);
        cli_json_text(json, "joint", r->element);
        cli_json_text(json, "direction", r->direction);
        cli_json_list(json, "with");
        for (int i = 0; i < r->with_count; ++i) cli_json_text(json, NULL, r->with[i]);
        cli_json_end_list(json);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_moved_json(cli_json *json, const ga_sim_check *found, int dimension)
{
    cli_json_list(json, "moved");
    for (int k = 0; k < found->moved_count; ++k) {
        cli_json_object(json, NULL);
        cli_json_text(json, "body", found->moved[k].body);
        cli_json_number(json, "distance", found->moved[k].distance);
        cli_json_number(json, "angle", found->moved[k].angle);
        cli_json_numbers(json, "position", dimension, found->moved[k].position);
        if (found->moved[k].rotation_count == 1)
            cli_json_number(json, "rotation", found->moved[k].rotation[0]);
        else if (found->moved[k].rotation_count > 1)
            cli_json_numbers(json, "rotation", found->moved[k].rotation_count,
                             found->moved[k].rotation);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_joints_json(cli_json *json, const check *c)
{
    const int dimension = ga_model_dimension(c->input.model);
    cli_json_list(json, "joints");
    for (int k = 0; k < c->found.joint_count; ++k) {
        const ga_sim_joint *j = &c->found.joints[k];
        cli_json_object(json, NULL);
        cli_json_text(json, "name", j->name);
        cli_json_text(json, "type", j->type);
        cli_json_numbers(json, "first", dimension, j->first);
        cli_json_numbers(json, "second", dimension, j->second);
        cli_json_number(json, "gap", j->gap);
        cli_json_number(json, "turn", j->turn);
        if (j->centre_of) cli_json_text(json, "centre_of", j->centre_of);
        cli_json_end_object(json);
    }
    cli_json_end_list(json);
}

static void print_json(const check *c)
{
    const ga_sim_check *f = &c->found;
    cli_json json = {.out = stdout};
    cli_json_object(&json, NULL);
    cli_json_text(&json, "model", cli_input_name(&c->input));
    cli_json_text(&json, "file", c->input.path);
    cli_json_text(&json, "status", "done");
    cli_json_integer(&json, "bodies", f->bodies);
    cli_json_integer(&json, "coordinates", f->coordinates);
    cli_json_integer(&json, "constraints", f->constraints);
    print_elements_json(&json, c);
    cli_json_integer(&json, "degrees_of_freedom", f->degrees_of_freedom);
    cli_json_integer(&json, "grubler", f->grubler);
    cli_json_boolean(&json, "singular", f->is_singular);
    print_redundancies_json(&json, f);
    print_moved_json(&json, f, ga_model_dimension(c->input.model));
    print_joints_json(&json, c);
    cli_json_object(&json, "initial");
    print_channels_json(&json, c, VELOCITIES, "velocities");
    print_channels_json(&json, c, ACCELERATIONS, "accelerations");
    print_channels_json(&json, c, REACTIONS, "reactions");
    cli_json_end_object(&json);
    cli_json_number(&json, "tangent_error", f->tangent_error);
    cli_json_text(&json, "tangent_worst", f->tangent_worst);
    cli_warnings_json(&json, c->sim);
    cli_json_end_object(&json);
}

static int fail(const check *c, const ga_report *report)
{
    const cli_failure failure = {.sim = c->sim,
                                 .def = &c->def,
                                 .report = report,
                                 .path = c->input.path,
                                 .examined = true,
                                 .checked = true};
    if (c->input.json) {
        cli_json json = {.out = stdout};
        cli_json_object(&json, NULL);
        cli_json_text(&json, "model", cli_input_name(&c->input));
        cli_json_text(&json, "file", c->input.path);
        cli_json_text(&json, "status", "failed");
        cli_json_text(&json, "message", report->message);
        cli_failure_json(&json, &failure);
        cli_json_end_object(&json);
    }
    cli_failure_print(&failure);
    return cli_exit_code(report->status);
}

/* --- the command -------------------------------------------------------------------------- */

static int examine(check *c)
{
    const int code = create(c);
    if (code != EXIT_DONE) return code;
    ga_report report;
    const ga_status status = ga_sim_check_model(c->sim, &c->found, &report);
    if (status != GA_OK) return fail(c, &report);
    if (c->input.json)
        print_json(c);
    else
        print_report(c);
    cli_flush();
    cli_warnings_print(c->sim, 0);
    if (!(c->def.t_end > c->def.t_start))
        cli_error("note: a run needs an end time: add `simulate: {t_end: ...}`");
    if (c->found.tangent_error > suspicious_tangent)
        cli_error("warning: Jacobians differ from finite differences by %.2g; Newton's method "
                  "will converge slowly or not at all",
                  c->found.tangent_error);
    return EXIT_DONE;
}

static int check_command(const cli_arguments *arguments)
{
    check c = {0};
    int code = cli_input_read(&c.input, arguments);
    if (code == EXIT_DONE) {
        c.def = ga_sim_def_of(c.input.model);
        code = examine(&c);
    }
    ga_sim_destroy(c.sim);
    cli_input_free(&c.input);
    return code;
}

static const cli_option options[] = {CLI_INPUT_OPTIONS, CLI_JSON_OPTION, {0}};

const cli_command cli_check = {
    .name = "check",
    .operand = "MODEL",
    .summary = "summarise a model: degrees of freedom, constraints, initial state",
    .details =
        "MODEL is a model file, or - for standard input. Nothing is simulated.\n"
        "\n"
        "Exit codes: 0 done, 1 the model cannot be assembled, 2 bad input or usage, 3 a\n"
        "file cannot be read.\n",
    .options = options,
    .run = check_command,
};
