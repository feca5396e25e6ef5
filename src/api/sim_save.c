/* A simulation as bytes:
 *
 *     heading      whose state it is, and of which version; size and checksum
 *     settings     numbers that decide about steps, which must be the same where it is loaded
 *     state        time, inputs, memory of elements, energy balance, warnings
 *     run          of the integrator, if one has begun
 *
 * What the user may ask for when he loads is no part of it: t_end, output, channels, threads.
 * Numbers are written as the machine has them, and the bytes of a method are those of its
 * structs, so they belong to one version of the library.
 */
#include "api/sim.h"
#include "base/memory.h"
#include "base/report.h"

#include <galpha/version.h>
#include <stdio.h>
#include <string.h>

enum { FORMAT = 7 };

typedef struct heading {
    char name[16];
    uint32_t format, order; /* order: of bytes */
    char version[24];       /* of the library */
    uint64_t size, model, checksum;
} heading;

static const char NAME[16] = "galpha state";
static const uint32_t ORDER = 0x01020304;

/* --- settings ----------------------------------------------------------------------------- */

typedef struct setting {
    const char *name;
    double value;
} setting;

enum { SETTINGS = 34 };

static int list_settings(const ga_sim_def *def, setting list[SETTINGS])
{
    const ga_control *c = &def->control;
    const ga_integrator_def *i = &def->integrator;
    const setting all[SETTINGS] = {
        {"t_start", def->t_start},
        {"step", def->step},
        {"kinematics", def->kinematics},
        {"tolerance", c->relative},
        {"absolute tolerance", c->absolute_translation},
        {"absolute tolerance", c->absolute_rotation},
        {"absolute tolerance", c->absolute_velocity},
        {"absolute tolerance", c->absolute_angular_velocity},
        {"error", c->mode},
        {"first_step", c->first_step},
        {"min_step", c->min_step},
        {"max_step", c->max_step},
        {"max_rejections", c->max_rejections},
        {"method", i->method},
        {"coefficients", i->coefficients.alpha_m},
        {"coefficients", i->coefficients.alpha_f},
        {"coefficients", i->coefficients.beta},
        {"coefficients", i->coefficients.gamma},
        {"formulation", i->formulation},
        {"map", i->map},
        {"start", i->start},
        {"start_difference", i->start_difference},
        {"step_change", i->step_change},
        {"mass_average", i->mass_average},
        {"reduced", i->reduced},
        {"scaling", i->scaling},
        {"penalty", i->penalty},
        {"newton", i->newton},
        {"max_iterations", i->max_iterations},
        {"max_halvings", i->max_halvings},
        {"newton_tolerance", i->relative},
        {"newton_tolerance", i->absolute_q},
        {"newton_tolerance", i->absolute_v},
        {"newton_tolerance", i->absolute_lambda},
    };
    memcpy(list, all, sizeof all);
    return SETTINGS;
}

/* *wrong: the name of a setting that differs; null if none does. */
static void archive_settings(ga_sim *sim, ga_archive *a, const char **wrong)
{
    setting own[SETTINGS];
    const int count = list_settings(&sim->def, own);
    *wrong = NULL;
    for (int k = 0; k < count; ++k) {
        double value = own[k].value;
        GA_ARCHIVE(a, value);
        if (!*wrong && memcmp(&value, &own[k].value, sizeof value)) *wrong = own[k].name;
    }
    int solver = (int)sim->def.integrator.solver;
    GA_ARCHIVE(a, solver);
    if (!*wrong && solver != (int)sim->def.integrator.solver) *wrong = "solver";
}

/* --- state -------------------------------------------------------------------------------- */

/* The name of a part of the model, which lives as long as it does; null: none. */
static const char *find_name(const ga_model *model, const char *name)
{
    for (int k = 0; k < model->element_count; ++k)
        if (strcmp(model->elements[k]->name, name) == 0) return model->elements[k]->name;
    for (int k = 0; k < model->node_count; ++k)
        if (strcmp(model->nodes[k].name, name) == 0) return model->nodes[k].name;
    ga_model_parameter p;
    for (int k = 0; (p = ga_model_get_parameter(model, k)).name; ++k)
        if (strcmp(p.name, name) == 0) return p.name;
    return NULL;
}

static void archive_warnings(ga_sim *sim, ga_archive *a)
{
    ga_warnings *w = &sim->warnings;
    GA_ARCHIVE(a, w->count);
    GA_ARCHIVE(a, w->left_off);
    if (w->count < 0 || w->count > GA_WARNINGS_MAX) a->failed = true;
    for (int k = 0; k < w->count && !a->failed; ++k) {
        char name[128] = "";
        if (w->items[k].element) snprintf(name, sizeof name, "%s", w->items[k].element);
        GA_ARCHIVE(a, w->items[k].kind);
        GA_ARCHIVE(a, w->items[k].time);
        GA_ARCHIVE(a, w->items[k].message);
        GA_ARCHIVE(a, name);
        if ((int)w->items[k].kind < 0 || w->items[k].kind >= GA_WARNING_KINDS) a->failed = true;
        if (a->mode != GA_ARCHIVE_READ) continue;
        name[sizeof name - 1] = w->items[k].message[GA_MESSAGE_SIZE - 1] = '\0';
        w->items[k].element = name[0] ? find_name(sim->model, name) : NULL;
    }
    if (a->failed) w->count = 0;
}

static void archive_balance(ga_balance *b, int nv, ga_archive *a)
{
    GA_ARCHIVE(a, b->last);
    GA_ARCHIVE(a, b->last_t);
    ga_archive_numbers(a, nv, b->last_v);
    ga_archive_numbers(a, nv, b->last_vd);
    GA_ARCHIVE(a, b->impact);
    GA_ARCHIVE(a, b->impact_loss);
    GA_ARCHIVE(a, b->next_break);
    GA_ARCHIVE(a, b->energy);
    GA_ARCHIVE(a, b->initial);
    GA_ARCHIVE(a, b->start);
    GA_ARCHIVE(a, b->drift_max);
    GA_ARCHIVE(a, b->drift_time);
    GA_ARCHIVE(a, b->scale);
    GA_ARCHIVE(a, b->least_kinetic);
    GA_ARCHIVE(a, b->largest_kinetic);
    GA_ARCHIVE(a, b->largest_potential);
    GA_ARCHIVE(a, b->exchanged);
}

/* What elements remember, and the inputs. */
static void archive_assembly(ga_assembly *assembly, ga_archive *a)
{
    const ga_model *model = assembly->model;
    ga_archive_numbers(a, model->memory_count, assembly->memory);
    for (int k = 0; k < assembly->turning_count; ++k)
        GA_ARCHIVE(a, assembly->turnings[k].turns);
    for (int k = 0; k < model->inputs.count; ++k) GA_ARCHIVE(a, assembly->inputs[k]);
}

/* Values of channels, if they are the same channels; else they have none until the next step.
 */
static void archive_channels(ga_channels *channels, ga_archive *a)
{
    uint64_t own = GA_CHECKSUM_EMPTY;
    for (int k = 0; k < channels->count; ++k) {
        const char *name = channels->items[k].channel.name;
        own = ga_checksum(own, name, strlen(name) + 1);
    }
    uint64_t names = own;
    int count = channels->value_count;
    GA_ARCHIVE(a, names);
    GA_ARCHIVE(a, count);
    if (names == own && count == channels->value_count) {
        ga_archive_numbers(a, count, channels->values);
        return;
    }
    for (int k = 0; k < channels->value_count; ++k) channels->values[k] = NAN;
    double skipped;
    for (int k = 0; k < count && !a->failed; ++k) GA_ARCHIVE(a, skipped);
}

static void archive_state(ga_sim *sim, ga_archive *a)
{
    const int nq = sim->assembly->nq, nv = sim->assembly->nv;
    ga_archive_same(a, nq);
    ga_archive_same(a, nv);
    ga_archive_same(a, sim->model->rows);
    ga_archive_same(a, sim->model->speed_rows);
    ga_archive_same(a, sim->model->memory_count);
    ga_archive_same(a, sim->model->event_count);
    ga_archive_same(a, sim->model->inputs.count);
    ga_archive_same(a, sim->assembly->turning_count);
    GA_ARCHIVE(a, sim->from_t);
    ga_archive_numbers(a, nq, sim->from_q);
    ga_archive_numbers(a, nv, sim->from_v);
    GA_ARCHIVE(a, sim->t);
    GA_ARCHIVE(a, sim->step);
    ga_archive_numbers(a, nq, sim->now_q);
    ga_archive_numbers(a, nv, sim->now_v);
    GA_ARCHIVE(a, sim->stepped);
    GA_ARCHIVE(a, sim->running);
    GA_ARCHIVE(a, sim->failed);
    GA_ARCHIVE(a, sim->fed);
    GA_ARCHIVE(a, sim->fed_from);
    GA_ARCHIVE(a, sim->started);
    GA_ARCHIVE(a, sim->locked);
    archive_assembly(sim->assembly, a);
    archive_balance(&sim->balance, nv, a);
    for (int k = 0; k < sim->model->event_count; ++k) GA_ARCHIVE(a, sim->impact_errors[k]);
    archive_warnings(sim, a);
    archive_channels(&sim->channels, a);
}

/* --- save --------------------------------------------------------------------------------- */

static void write_or_count(ga_sim *sim, ga_archive *a)
{
    const char *wrong;
    archive_settings(sim, a, &wrong);
    archive_state(sim, a);
    if (sim->stepped) ga_integrator_run_save(sim->integrator, a);
}

size_t ga_sim_save_size(const ga_sim *sim)
{
    ga_archive a = {.mode = GA_ARCHIVE_COUNT};
    /* nothing is changed by counting */
    write_or_count((ga_sim *)sim, &a);
    return sizeof(heading) + a.at;
}

static uint64_t find_checksum(heading h, const unsigned char *rest)
{
    h.checksum = 0;
    return ga_checksum(ga_checksum(GA_CHECKSUM_EMPTY, &h, sizeof h), rest,
                       (size_t)h.size - sizeof h);
}

ga_status ga_sim_save(const ga_sim *sim, void *bytes, size_t size, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    if (!ga_integrator_can_save(sim->integrator))
        return ga_fail(report, GA_ERR_METHOD, "simulations with this method cannot be saved");
    const size_t needed = ga_sim_save_size(sim);
    if (size != needed)
        return ga_fail(report, GA_ERR_ARGUMENT, "the state has %zu bytes, but the buffer %zu",
                       needed, size);
    unsigned char *rest = (unsigned char *)bytes + sizeof(heading);
    ga_archive a = {.mode = GA_ARCHIVE_WRITE, .bytes = rest, .size = needed - sizeof(heading)};
    write_or_count((ga_sim *)sim, &a);
    heading h = {.format = FORMAT, .order = ORDER, .size = needed};
    memcpy(h.name, NAME, sizeof h.name);
    snprintf(h.version, sizeof h.version, "%s", GA_VERSION);
    h.model = sim->model->fingerprint;
    h.checksum = find_checksum(h, rest);
    memcpy(bytes, &h, sizeof h);
    return ga_fail(report, GA_OK, "%s", "");
}

/* --- load --------------------------------------------------------------------------------- */

static ga_status check_heading(const ga_sim *sim, const unsigned char *bytes, size_t size,
                               ga_report *report)
{
    heading h;
    if (size < sizeof h || memcmp(bytes, NAME, sizeof NAME))
        return ga_fail(report, GA_ERR_INPUT, "this is not a saved simulation");
    memcpy(&h, bytes, sizeof h);
    if (h.order != ORDER)
        return ga_fail(report, GA_ERR_INPUT,
                       "it was saved on a machine with another byte order");
    if (h.format != FORMAT || strncmp(h.version, GA_VERSION, sizeof h.version) != 0)
        return ga_fail(report, GA_ERR_INPUT,
                       "it was saved by galpha %.24s (format %u), and this is %s (format %d): "
                       "only the same version can continue it",
                       h.version, (unsigned)h.format, GA_VERSION, FORMAT);
    if (h.size != size || h.checksum != find_checksum(h, bytes + sizeof h))
        return ga_fail(report, GA_ERR_INPUT, "the saved simulation is damaged or incomplete");
    if (h.model != sim->model->fingerprint)
        return ga_fail(report, GA_ERR_INPUT,
                       "it is the state of another model, or the model has changed since");
    return GA_OK;
}

static ga_status read_all(ga_sim *sim, ga_archive *a, ga_report *report)
{
    const char *wrong;
    archive_settings(sim, a, &wrong);
    if (wrong)
        return ga_fail(report, GA_ERR_INPUT, "it was saved with another value of %s", wrong);
    archive_state(sim, a);
    if (!a->failed && sim->stepped) {
        const ga_simulation run = ga_sim_describe_run(sim);
        GA_TRY(ga_integrator_run_load(sim->integrator, &run, a, report));
    }
    if (a->failed || a->at != a->size)
        return ga_fail(report, GA_ERR_INPUT, "the saved simulation does not fit this one");
    const double now = sim->stepped ? ga_integrator_time(sim->integrator) : sim->t;
    if (now > sim->def.t_end)
        return ga_fail(report, GA_ERR_INPUT,
                       "it was saved at t = %.9g s, and t_end = %.9g s is before that", now,
                       sim->def.t_end);
    if (sim->stepped) sim->running = !ga_run_over(&sim->integrator->run);
    return ga_fail(report, GA_OK, "%s", "");
}

ga_status ga_sim_load(ga_sim *sim, const void *bytes, size_t size, ga_report *report)
{
    GA_TRY(ga_sim_check_outside(sim, report));
    GA_TRY(check_heading(sim, bytes, size, report));
    if (!ga_integrator_can_save(sim->integrator))
        return ga_fail(report, GA_ERR_METHOD, "simulations with this method cannot be saved");
    ga_archive a = {.mode = GA_ARCHIVE_READ,
                    .bytes = (unsigned char *)bytes + sizeof(heading),
                    .size = size - sizeof(heading)};
    const ga_status status = read_all(sim, &a, report);
    if (status != GA_OK) ga_sim_reset(sim);
    return status;
}

/* --- copy --------------------------------------------------------------------------------- */

static ga_status load_from(ga_sim *to, const ga_sim *from, ga_report *report)
{
    const size_t size = ga_sim_save_size(from);
    unsigned char *bytes = GA_NEW(unsigned char, size);
    if (!bytes) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    ga_status status = ga_sim_save(from, bytes, size, report);
    if (status == GA_OK) status = ga_sim_load(to, bytes, size, report);
    ga_free(bytes);
    return status;
}

/* Channels by their names: those of the definition may be gone. */
ga_status ga_sim_copy(const ga_sim *sim, ga_sim **copy, ga_report *report)
{
    *copy = NULL;
    GA_TRY(ga_sim_check_outside(sim, report));
    ga_sim_def def = sim->def;
    const char **names = GA_NEW(const char *, sim->channels.count);
    if (!names) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    for (int k = 0; k < sim->channels.count; ++k)
        names[k] = sim->channels.items[k].channel.name;
    def.channel_count = sim->channels.count;
    def.channels = names;
    ga_status status = ga_sim_create(sim->model, &def, copy, NULL, report);
    ga_free((void *)names);
    if (status == GA_OK && sim->model->callback_count)
        memcpy((*copy)->assembly->callbacks, sim->assembly->callbacks,
               (size_t)sim->model->callback_count * sizeof *sim->assembly->callbacks);
    if (status == GA_OK) status = load_from(*copy, sim, report);
    if (status != GA_OK) {
        ga_sim_destroy(*copy);
        *copy = NULL;
    }
    return status;
}
