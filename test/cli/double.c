/* Stands in for models and simulations where the program is tested: it does at once and exactly
 * what a test asks for. A model is a list of `key value` lines; --set key=value comes after.
 *
 *     steps 100        of 0.1 s each
 *     sleep 20         milliseconds a step takes
 *     fail 10          status of the run, in the middle
 *     leave 1          the program is ended there
 *     start 8          status of the start
 *     errors 25        messages of the reader; then there is no model
 *     warnings 2
 *     bad_channel 1    an error in create
 *     odd 1            values that are not finite, names that are hard to print
 *     clean 1          no redundant constraints, nothing moved
 */
#define _POSIX_C_SOURCE 200809L

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- messages ----------------------------------------------------------------------------- */

struct ga_messages {
    int count, errors;
    ga_message kept[100];
};

ga_messages *ga_messages_create(void) { return calloc(1, sizeof(ga_messages)); }
void ga_messages_destroy(ga_messages *messages) { free(messages); }
int ga_messages_count(const ga_messages *messages) { return messages->count; }
int ga_messages_errors(const ga_messages *messages) { return messages->errors; }
ga_message ga_messages_get(const ga_messages *messages, int k) { return messages->kept[k]; }

int ga_messages_format(const ga_messages *messages, int k, char *line, size_t size)
{
    const ga_message *m = &messages->kept[k];
    return snprintf(line, size, "%s:%d:%d: %s%s: %s", m->file, m->line, m->column,
                    m->severity == GA_SEVERITY_WARNING ? "warning: " : "", m->path, m->text);
}

static void add_message(ga_messages *messages, ga_severity severity, int line)
{
    if (severity == GA_SEVERITY_ERROR && ++messages->errors > GA_MESSAGES_MAX_ERRORS) return;
    messages->kept[messages->count++] =
        (ga_message){severity, "model.yaml",        line,
                     3,        "joints.hinge.axis", "zero vector\x1b[31m, expected \""};
}

/* --- models ------------------------------------------------------------------------------- */

enum { KEYS = 11 };
static const char *const keys[KEYS] = {"steps",  "sleep",    "fail",        "start",
                                       "errors", "warnings", "bad_channel", "odd",
                                       "clean",  "anywhere", "leave"};
enum { STEPS, SLEEP, FAIL, START, ERRORS, WARNINGS, BAD_CHANNEL, ODD, CLEAN, ANYWHERE, LEAVE };

struct ga_model {
    int value[KEYS];
    char text[4096];
};

static void set_value(ga_model *model, const char *assignment)
{
    for (int k = 0; k < KEYS; ++k) {
        const size_t n = strlen(keys[k]);
        if (strncmp(assignment, keys[k], n) == 0 &&
            (assignment[n] == '=' || assignment[n] == ' '))
            model->value[k] = atoi(assignment + n + 1);
    }
}

void ga_model_options_fill(ga_model_options *def, size_t size)
{
    *def = (ga_model_options){.struct_size = size};
}

ga_status ga_model_parse(const char *name, const char *text, size_t length,
                         const ga_model_options *options, ga_model **model,
                         ga_messages *messages)
{
    (void)name;
    ga_model *m = calloc(1, sizeof *m);
    m->value[STEPS] = 100;
    memcpy(m->text, text, length < sizeof m->text ? length : sizeof m->text - 1);
    for (const char *line = m->text; line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        set_value(m, line);
    for (int k = 0; k < options->set_count; ++k) set_value(m, options->set[k]);
    m->value[ANYWHERE] = options->include_anywhere;
    for (int k = 0; k < m->value[WARNINGS]; ++k)
        add_message(messages, GA_SEVERITY_WARNING, k + 1);
    for (int k = 0; k < m->value[ERRORS]; ++k) add_message(messages, GA_SEVERITY_ERROR, k + 1);
    if (m->value[ERRORS]) {
        free(m);
        return GA_ERR_INPUT;
    }
    *model = m;
    return GA_OK;
}

ga_status ga_model_read(const char *path, const ga_model_options *options, ga_model **model,
                        ga_messages *messages)
{
    FILE *file = fopen(path, "r");
    if (!file) return GA_ERR_FILE;
    char text[4096];
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    return ga_model_parse(path, text, length, options, model, messages);
}

void ga_model_destroy(ga_model *model) { free(model); }
const char *ga_model_name(const ga_model *model)
{
    return model->value[ODD] ? "odd \"\\\n\xff name" : "double";
}
const char *ga_model_text(const ga_model *model) { return model->text; }
int ga_model_dimension(const ga_model *model) { return (void)model, 3; }
int ga_model_body_count(const ga_model *model) { return (void)model, 1; }
const char *ga_model_body_name(const ga_model *model, int k)
{
    return (void)model, (void)k, "top";
}

static char *copy(const char *text) { return strcpy(malloc(strlen(text) + 1), text); }
char *ga_model_scene(const ga_model *model) { return (void)model, copy("{}"); }
char *ga_model_schema(void) { return copy("{\"$schema\": \"x\"}"); }
char *ga_model_reference(const char *element) { return copy(element ? element : "all\n"); }
void ga_text_free(char *text) { free(text); }
const char *ga_model_element_name(int k)
{
    static const char *const names[] = {"revolute", "spherical", NULL};
    return names[k];
}

/* --- simulations -------------------------------------------------------------------------- */

struct ga_sim {
    const ga_model *model;
    ga_sim_def def;
    double t, values[7];
    long steps;
};

void ga_sim_def_fill(const ga_model *model, ga_sim_def *def, size_t size)
{
    *def = (ga_sim_def){.struct_size = size,
                        .t_end = 0.1 * model->value[STEPS],
                        .step = 0.1,
                        .integrator = {.formulation = GA_INDEX3}};
}

ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                        ga_messages *messages, ga_report *report)
{
    memset(report, 0, sizeof *report);
    if (model->value[BAD_CHANNEL]) {
        if (messages) add_message(messages, GA_SEVERITY_ERROR, 1);
        return report->status = GA_ERR_INPUT;
    }
    *sim = calloc(1, sizeof **sim);
    (*sim)->model = model;
    (*sim)->def = *def;
    return GA_OK;
}

void ga_sim_destroy(ga_sim *sim) { free(sim); }
double ga_sim_time(const ga_sim *sim) { return sim->t; }
double ga_sim_step_size(const ga_sim *sim) { return sim->def.step; }
double ga_sim_max_step(const ga_sim *sim) { return (void)sim, 0; }
int ga_sim_event_count(const ga_sim *sim) { return (void)sim, 0; }

ga_warning ga_sim_get_warning(const ga_sim *sim, int k)
{
    if (k >= sim->model->value[WARNINGS]) return (ga_warning){.time = NAN};
    return (ga_warning){"start-moved", "top was moved by 0.1 m", "correct its position", "top",
                        NAN};
}

static const char *const parts[] = {"x", "y", "z"};
static const ga_channel channels[] = {
    {sizeof(ga_channel), "top.acceleration", "m/s2", "of the center", 3, parts},
    {sizeof(ga_channel), "pivot.force", "N", "reaction", 3, parts},
    {sizeof(ga_channel), "energy.total", "J", "", 1, NULL}};
int ga_sim_channel_count(const ga_sim *sim) { return (void)sim, 3; }
ga_channel ga_sim_get_channel(const ga_sim *sim, int k) { return (void)sim, channels[k]; }
const double *ga_sim_values(const ga_sim *sim) { return sim->values; }
int ga_sim_value_count(const ga_sim *sim) { return (void)sim, 7; }

static ga_status give_up(const ga_sim *sim, int status, ga_report *report)
{
    *report = (ga_report){.status = (ga_status)status,
                          .time = sim->t,
                          .step = sim->def.step,
                          .iteration = 10,
                          .norm_q = 2,
                          .norm_v = 3,
                          .norm_lambda = INFINITY,
                          .row = 1,
                          .column = 2};
    snprintf(report->message, sizeof report->message, "gave up at t = %g", sim->t);
    return report->status;
}

static ga_eval put_out(ga_sim *sim)
{
    for (int k = 0; k < 7; ++k) sim->values[k] = sim->t + k;
    if (sim->model->value[ODD]) sim->values[0] = NAN, sim->values[1] = -INFINITY;
    return sim->def.output ? sim->def.output(sim->def.user, sim) : GA_EVAL_OK;
}

ga_status ga_sim_run(ga_sim *sim, ga_report *report)
{
    const int *value = sim->model->value;
    if (value[START]) return give_up(sim, value[START], report);
    if (put_out(sim) != GA_EVAL_OK) return GA_OK;
    for (int n = 1; n <= value[STEPS]; ++n) {
        struct timespec left = {0, value[SLEEP] * 1000000L};
        while (nanosleep(&left, &left) != 0) continue; /* steps do not hear signals */
        if (value[FAIL] && n > value[STEPS] / 2) return give_up(sim, value[FAIL], report);
        if (value[LEAVE] && n > value[STEPS] / 2) exit(255);
        sim->t = 0.1 * n;
        ++sim->steps;
        if (sim->def.progress(sim->def.user, sim) != GA_EVAL_OK) return GA_OK;
        if (put_out(sim) != GA_EVAL_OK) return GA_OK;
    }
    return GA_OK;
}

ga_sim_summary ga_sim_get_summary(const ga_sim *sim)
{
    return (ga_sim_summary){.t = sim->t,
                            .statistics = {.steps = sim->steps, .iterations = 2 * sim->steps},
                            .control = {.accepted = sim->steps},
                            .initial = {.kinetic = 1, .potential = 2},
                            .final = {.kinetic = 2, .potential = 0.5, .dissipated = 0.5},
                            .energy_drift_max = 1e-9,
                            .energy_scale = 2};
}

const char *ga_sim_row_element(const ga_sim *sim, int row)
{
    return (void)sim, (void)row, "hinge3";
}
const char *ga_sim_row_name(const ga_sim *sim, int row)
{
    return (void)sim, (void)row, "rotation about x";
}
const char *ga_sim_coordinate_body(const ga_sim *sim, int k)
{
    return (void)sim, (void)k, "top";
}

ga_status ga_sim_check_model(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    static const char *const with[] = {"hinge1", "hinge2"};
    static const ga_sim_redundancy redundant = {"hinge3", "rotation about x", 2, with};
    static const ga_sim_moved moved = {.body = "top",
                                       .distance = 0.25,
                                       .angle = 0.125,
                                       .position = {1, 2, 3},
                                       .rotation = {0.6, 0.8, 0, 0},
                                       .rotation_count = 4};
    if (sim->model->value[START]) return give_up(sim, sim->model->value[START], report);
    put_out(sim);
    const int clean = sim->model->value[CLEAN];
    *check = (ga_sim_check){.bodies = 1,
                            .coordinates = 6,
                            .constraints = 4,
                            .degrees_of_freedom = clean ? 2 : 3,
                            .grubler = 2,
                            .redundant_count = !clean,
                            .redundant = &redundant,
                            .moved_count = !clean,
                            .moved = &moved,
                            .tangent_error = sim->model->value[ODD] ? NAN : 1e-9,
                            .tangent_worst = "stiffness matrix K"};
    return GA_OK;
}

ga_sim_element ga_sim_get_element(const ga_sim *sim, int k)
{
    (void)sim;
    return k == 0   ? (ga_sim_element){"pivot", "spherical", 3}
           : k == 1 ? (ga_sim_element){"drive", "motion", 1}
                    : (ga_sim_element){0};
}

/* --- looking at the start ----------------------------------------------------------------- */

ga_status ga_sim_look(ga_sim *sim, ga_sim_pose pose, ga_report *report)
{
    return (void)sim, (void)pose, (void)report, GA_OK;
}
ga_gap ga_sim_get_gap(const ga_sim *sim, int k) { return (void)sim, (void)k, (ga_gap){0}; }
char *ga_sim_scene(const ga_sim *sim) { return (void)sim, copy("{}"); }
