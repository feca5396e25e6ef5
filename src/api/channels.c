#include "api/channels.h"

#include "base/memory.h"
#include "base/messages.h"
#include "base/report.h"
#include "data/read.h"

#include <assert.h>
#include <galpha/lie.h>
#include <stdio.h>
#include <string.h>

static const char *const axes[] = {"x", "y", "z"};
static const char *const quaternion_parts[] = {"w", "x", "y", "z"};
static const char *const digits[] = {"0", "1", "2",  "3",  "4",  "5",  "6",  "7",
                                     "8", "9", "10", "11", "12", "13", "14", "15"};

/* --- bodies ------------------------------------------------------------------------------- */

typedef void body_value(const ga_selected *c, const ga_moment *moment, double *out);

static const ga_frame *frame_of(const ga_selected *c, const ga_moment *moment)
{
    return moment->state.frames + c->node;
}

static void rotate(const double *R, const double *x, double *y)
{
    for (int i = 0; i < 3; ++i) y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static const double *lever(const ga_selected *c)
{
    static const double none[3] = {0, 0, 0};
    return c->point ? c->point->p : none;
}

static void position(const ga_selected *c, const ga_moment *moment, double *out)
{
    const ga_frame *frame = frame_of(c, moment);
    rotate(frame->R, lever(c), out);
    for (int k = 0; k < 3; ++k) out[k] += frame->x[k];
}

static void velocity(const ga_selected *c, const ga_moment *moment, double *out)
{
    const ga_frame *frame = frame_of(c, moment);
    double local[3];
    cross(frame->w, lever(c), local);
    for (int k = 0; k < 3; ++k) local[k] += frame->u[k];
    rotate(frame->R, local, out);
}

/* x'' = R (u' + w x u + w' x p + w x (w x p)) */
static void acceleration(const ga_selected *c, const ga_moment *moment, double *out)
{
    const ga_frame *frame = frame_of(c, moment);
    const ga_assembly *a = moment->assembly;
    double rate[GA_TWIST], local[3], part[3], inner[3];
    ga_node_acceleration(a->kinds[c->node], frame, moment->vd + a->v_at[c->node], rate);
    cross(frame->w, frame->u, local);
    cross(rate + 3, lever(c), part);
    for (int k = 0; k < 3; ++k) local[k] += rate[k] + part[k];
    cross(frame->w, lever(c), inner);
    cross(frame->w, inner, part);
    for (int k = 0; k < 3; ++k) local[k] += part[k];
    rotate(frame->R, local, out);
}

/* As stored, so that planar angles count turns. */
static void rotation(const ga_selected *c, const ga_moment *moment, double *out)
{
    const ga_assembly *a = moment->assembly;
    const double *q = a->q + a->q_at[c->node];
    if (moment->model->dimension == 2)
        out[0] = q[2];
    else
        memcpy(out, q + 3, 4 * sizeof *out);
}

static void angular_velocity(const ga_selected *c, const ga_moment *moment, double *out)
{
    memcpy(out, frame_of(c, moment)->w, 3 * sizeof *out);
}

static void angular_acceleration(const ga_selected *c, const ga_moment *moment, double *out)
{
    const ga_assembly *a = moment->assembly;
    double rate[GA_TWIST];
    ga_node_acceleration(a->kinds[c->node], frame_of(c, moment), moment->vd + a->v_at[c->node],
                         rate);
    memcpy(out, rate + 3, 3 * sizeof *out);
}

/* What the three numbers of a source become in planar models. */
typedef enum shape { PLAIN, POLAR, AXIAL, ROTATION } shape;

typedef struct body_channel {
    const char *name, *unit, *help;
    shape shape;
    bool of_points, standard;
    body_value *value;
} body_channel;

static const body_channel body_channels[] = {
    {"position", "m", "position in the world", POLAR, true, true, position},
    {"rotation", "", "orientation: unit quaternion w, x, y, z from body to world axes",
     ROTATION, false, true, rotation},
    {"velocity", "m/s", "velocity in the world", POLAR, true, false, velocity},
    {"angular_velocity", "rad/s", "angular velocity, body axes", AXIAL, false, false,
     angular_velocity},
    {"acceleration", "m/s^2", "acceleration in the world", POLAR, true, false, acceleration},
    {"angular_acceleration", "rad/s^2", "angular acceleration, body axes", AXIAL, false, false,
     angular_acceleration},
};

enum { BODY_CHANNELS = sizeof body_channels / sizeof *body_channels };

/* --- energy and solver -------------------------------------------------------------------- */

typedef struct global_channel {
    const char *group, *name, *unit, *help;
    bool standard;
    enum { NOTHING, RESIDUALS, WORK } needs; /* before it can be told */
    body_value *value;
} global_channel;

#define GLOBAL(name, expression)                                                               \
    static void name(const ga_selected *c, const ga_moment *moment, double *out)               \
    {                                                                                          \
        (void)c;                                                                               \
        out[0] = (expression);                                                                 \
    }
GLOBAL(kinetic, moment->energy.kinetic)
GLOBAL(potential, moment->energy.potential)
GLOBAL(total, moment->energy.kinetic + moment->energy.potential)
GLOBAL(dissipated, moment->energy.dissipated)
GLOBAL(work, moment->energy.work)
GLOBAL(step, moment->step)
GLOBAL(newton, moment->iterations)
GLOBAL(error, moment->error)
GLOBAL(position_residual, moment->position_residual)
GLOBAL(velocity_residual, moment->velocity_residual)

static const global_channel global_channels[] = {
    {"energy", "kinetic", "J", "kinetic energy", true, NOTHING, kinetic},
    {"energy", "potential", "J", "potential energy of gravity and springs", true, NOTHING,
     potential},
    {"energy", "total", "J", "kinetic and potential energy", true, NOTHING, total},
    {"energy", "dissipated", "J", "energy dissipated since the start", true, WORK, dissipated},
    {"energy", "work", "J", "work of external forces and motions since the start", true, WORK,
     work},
    {"solver", "step", "s", "size of the last step", false, NOTHING, step},
    {"solver", "newton", "", "Newton iterations of the last step", false, NOTHING, newton},
    {"solver", "error", "", "estimated error of the last step divided by its tolerance", false,
     NOTHING, error},
    {"solver", "position_residual", "", "largest |Phi|", false, RESIDUALS, position_residual},
    {"solver", "velocity_residual", "", "largest |B v + Phi_t| and |k|", false, RESIDUALS,
     velocity_residual},
};

enum { GLOBAL_CHANNELS = sizeof global_channels / sizeof *global_channels };

/* --- inputs ------------------------------------------------------------------------------- */

static void input_value(const ga_selected *c, const ga_moment *moment, double *out)
{
    *out = ga_input_value(moment->state.inputs + c->node, moment->state.t);
}

/* --- elements ----------------------------------------------------------------------------- */

static void element_value(const ga_selected *c, const ga_moment *moment, double *out)
{
    c->type->value(c->element, c->type->of_scheme ? &moment->scheme : &moment->state, out);
}

/* The sum over the bodies an element acts on one by one: the model has a copy for each, of the
 * same name; the element that stands for all of them in the file acts on none. */
static void sum_of_copies(const ga_selected *c, const ga_moment *moment, double *out)
{
    double one[3];
    assert(c->source_count <= 3);
    for (int i = 0; i < 3 && i < c->source_count; ++i) out[i] = 0;
    for (int k = 0; k < moment->model->element_count; ++k) {
        const ga_element *copy = moment->model->elements[k];
        if (copy->type != c->element->type || strcmp(copy->name, c->element->name) != 0)
            continue;
        c->type->value(copy, &moment->state, one);
        for (int i = 0; i < c->source_count; ++i) out[i] += one[i];
    }
}

/* --- selection ---------------------------------------------------------------------------- */

typedef struct selection {
    ga_channels *channels;
    const ga_model *model;
    int matches; /* channels that the names stand for, with those that are there already */
    bool memory; /* is out */
} selection;

static ga_selected *append(selection *s)
{
    ga_channels *c = s->channels;
    if (c->count == c->room) {
        int room = c->room ? 2 * c->room : 64;
        ga_selected *items = GA_NEW(ga_selected, room);
        if (!items) {
            s->memory = true;
            return NULL;
        }
        if (c->count) memcpy(items, c->items, (size_t)c->count * sizeof *items);
        ga_free(c->items);
        c->items = items;
        c->room = room;
    }
    ga_selected *added = c->items + c->count++;
    memset(added, 0, sizeof *added);
    return added;
}

static const char *join(selection *s, const char *a, const char *b, const char *c)
{
    size_t size = strlen(a) + strlen(b) + (c ? strlen(c) + 1 : 0) + 2;
    char *text = ga_arena_alloc(&s->channels->arena, size, 1);
    if (!text) {
        s->memory = true;
        return "";
    }
    snprintf(text, size, "%s.%s%s%s", a, b, c ? "." : "", c ? c : "");
    return text;
}

/* Something may be asked for twice, as itself and as part of a whole. */
static bool is_selected(selection *s, const char *name)
{
    ga_names *names = &s->channels->names;
    if (ga_names_find(names, name, strlen(name)) >= 0) return true;
    s->memory = s->memory || ga_names_put(names, name, strlen(name), 0) != GA_OK;
    return s->memory;
}

/* Adds a channel of `count` numbers, or one part of it. */
static void finish(selection *s, const ga_selected *source, const char *name, const char *unit,
                   const char *help, int count, const char *const *parts, const char *part)
{
    int component = -1;
    if (part) {
        for (int k = 0; k < count && parts; ++k)
            if (strcmp(parts[k], part) == 0) component = k;
        if (component < 0) return;
    }
    ++s->matches;
    if (is_selected(s, name)) return;
    ga_selected *c = append(s);
    if (!c) return;
    *c = *source;
    c->component = component;
    c->source_count = count;
    c->at = s->channels->value_count;
    c->channel = (ga_channel){.struct_size = sizeof(ga_channel),
                              .name = name,
                              .unit = unit ? unit : "",
                              .description = help ? help : "",
                              .count = component < 0 ? count : 1,
                              .parts = count > 1 && !part ? parts : NULL};
    s->channels->value_count += c->channel.count;
}

static void add_body_channel(selection *s, const body_channel *type, const ga_body *owner,
                             const ga_named_point *point, const char *part)
{
    bool planar = s->model->dimension == 2;
    bool turns = owner->type == GA_BODY_RIGID;
    if ((type->shape == ROTATION || type->shape == AXIAL) && !turns) return;
    ga_selected source = {
        .value = type->value, .node = owner->element.nodes[0], .point = point};
    int count = type->shape == ROTATION ? (planar ? 1 : 4)
                : type->shape == AXIAL  ? (planar ? 1 : 3)
                                        : (planar ? 2 : 3);
    const char *const *parts = type->shape == ROTATION ? quaternion_parts : axes;
    const char *unit = type->shape == ROTATION && planar ? "rad" : type->unit;
    const char *help =
        type->shape == ROTATION && planar ? "angle, full turns counted" : type->help;
    const char *name = point ? join(s, owner->element.name, point->name, type->name)
                             : join(s, owner->element.name, type->name, NULL);
    if (part) name = join(s, name, part, NULL);
    finish(s, &source, name, unit, help, count, parts, part);
}

static int element_count(const ga_model *model, const ga_element *element,
                         const ga_channel_type *type)
{
    if (type->size) return type->size(element);
    if (type->count != 3 || model->dimension == 3) return type->count;
    return type->axial ? 1 : 2;
}

static void add_element_channel(selection *s, const ga_element *element,
                                const ga_channel_type *type, const char *part)
{
    if (type->there && !type->there(element)) return;
    int count = element_count(s->model, element, type);
    if (count == 0) return;
    ga_selected source = {.value = element->type->per_body ? sum_of_copies : element_value,
                          .element = element,
                          .type = type};
    const char *const *parts = type->parts                 ? type->parts
                               : count <= 3 && !type->size ? axes
                                                           : digits;
    if (!type->parts && count > 16) return;
    const char *name = join(s, element->name, type->name, part);
    if (type->of_scheme) s->channels->scheme = true;
    finish(s, &source, name, type->unit, type->help, count, parts, part);
}

static void add_global_channel(selection *s, const global_channel *type)
{
    ga_selected source = {.value = type->value};
    if (type->needs == RESIDUALS) s->channels->residuals = true;
    if (type->needs == WORK) s->channels->work = true;
    finish(s, &source, join(s, type->group, type->name, NULL), type->unit, type->help, 1, NULL,
           NULL);
}

static void add_input(selection *s, int k)
{
    const ga_named_input *input = s->model->inputs.inputs + k;
    const ga_selected source = {.value = input_value, .node = k};
    finish(s, &source, input->name, input->unit, "input", 1, NULL, NULL);
}

static bool matches(const char *pattern, const char *name)
{
    return ga_word_matches(pattern, strlen(pattern), name, strlen(name));
}

/* `quantity` or `quantity.part`, in which the quantity may be a pattern: what follows it, null
 * where that is nothing or `*`, or where the name is another. */
static const char *match(const char *text, const char *quantity, bool *same)
{
    const size_t length = strcspn(text, ".");
    *same = ga_word_matches(text, length, quantity, strlen(quantity));
    const char *rest = *same && text[length] ? text + length + 1 : NULL;
    return rest && strcmp(rest, "*") == 0 ? NULL : rest;
}

static void select_of_body(selection *s, const ga_body *body, const char *rest)
{
    for (int k = 0; k < BODY_CHANNELS; ++k) {
        bool same = !rest;
        const char *part = rest ? match(rest, body_channels[k].name, &same) : NULL;
        if (same) add_body_channel(s, body_channels + k, body, NULL, part);
    }
    for (int p = 0; rest && p < body->points.count; ++p) {
        const ga_named_point *point = body->points.points + p;
        bool same;
        const char *quantity = match(rest, point->name, &same);
        for (int k = 0; same && k < BODY_CHANNELS; ++k) {
            bool wanted = !quantity;
            const char *part =
                quantity ? match(quantity, body_channels[k].name, &wanted) : NULL;
            if (wanted && body_channels[k].of_points)
                add_body_channel(s, body_channels + k, body, point, part);
        }
    }
}

static void select_of_element(selection *s, const ga_element *element, const char *rest)
{
    const ga_channel_type *types = element->type->channels;
    for (int k = 0; types && types[k].name; ++k) {
        bool same = !rest;
        const char *part = rest ? match(rest, types[k].name, &same) : NULL;
        if (same) add_element_channel(s, element, types + k, part);
    }
}

static void select_globals(selection *s, const char *group, const char *rest)
{
    for (int k = 0; k < GLOBAL_CHANNELS; ++k)
        if (strcmp(global_channels[k].group, group) == 0 &&
            (!rest || matches(rest, global_channels[k].name)))
            add_global_channel(s, global_channels + k);
}

/* Elements that show themselves: not copies, not what acts along a joint. */
static bool is_shown(const ga_model *model, const ga_element *element)
{
    return element->type->section && ga_model_find_element(model, element->name) &&
           !element->type->per_body;
}

/* Of every body, element and input whose name matches. */
static void select_pattern(selection *s, const char *pattern, size_t length, const char *rest)
{
    const ga_model *model = s->model;
    for (int k = 0; k < model->body_count; ++k) {
        const char *name = model->bodies[k].element.name;
        if (ga_word_matches(pattern, length, name, strlen(name)))
            select_of_body(s, model->bodies + k, rest);
    }
    for (int k = 0; k < model->named_count; ++k) {
        const char *name = model->named[k]->name;
        if (is_shown(model, model->named[k]) &&
            ga_word_matches(pattern, length, name, strlen(name)))
            select_of_element(s, model->named[k], rest);
    }
    for (int k = 0; k < model->inputs.count && !rest; ++k)
        if (matches(pattern, model->inputs.inputs[k].name)) add_input(s, k);
}

/* True if the name stands for something. In its words `*` is any part of a name. */
static bool select_name(selection *s, const char *name)
{
    const ga_model *model = s->model;
    int before = s->matches;
    const char *dot = strchr(name, '.');
    size_t length = dot ? (size_t)(dot - name) : strlen(name);
    const char *rest = dot ? dot + 1 : NULL;
    if (memchr(name, '*', length)) select_pattern(s, name, length, rest);
    for (int k = 0; k < model->inputs.count && !rest; ++k)
        if (strcmp(name, model->inputs.inputs[k].name) == 0) add_input(s, k);
    if (length == 6 && strncmp(name, "energy", 6) == 0) select_globals(s, "energy", rest);
    if (length == 6 && strncmp(name, "solver", 6) == 0) select_globals(s, "solver", rest);
    int found = ga_names_find(&model->names, name, length);
    if (found >= 0 && found % 2 == GA_NAMED_BODY)
        select_of_body(s, model->bodies + found / 2, rest);
    if (found >= 0 && found % 2 == GA_NAMED_ELEMENT)
        select_of_element(s, model->named[found / 2], rest);
    return s->matches > before || s->memory;
}

/* Where bodies are. */
static void select_motion(selection *s)
{
    for (int b = 0; b < s->model->body_count; ++b)
        for (int k = 0; k < BODY_CHANNELS; ++k)
            if (body_channels[k].standard)
                add_body_channel(s, body_channels + k, s->model->bodies + b, NULL, NULL);
}

/* Where things are, what joints, motors and springs exert, what it costs in energy. */
static void select_standard(selection *s)
{
    static const char *const of_elements[] = {"angle",
                                              "displacement",
                                              "angle1",
                                              "angle2",
                                              "x",
                                              "y",
                                              "rotation",
                                              "length",
                                              "force",
                                              "torque",
                                              "effort",
                                              "angle_effort",
                                              "displacement_effort",
                                              "angle1_effort",
                                              "angle2_effort",
                                              "x_effort",
                                              "y_effort",
                                              NULL};
    const ga_model *model = s->model;
    select_motion(s);
    for (int e = 0; e < model->named_count; ++e) {
        const ga_element *element = model->named[e];
        if (!is_shown(model, element)) continue;
        for (int k = 0; of_elements[k]; ++k) select_of_element(s, element, of_elements[k]);
    }
    for (int k = 0; k < GLOBAL_CHANNELS; ++k)
        if (global_channels[k].standard) add_global_channel(s, global_channels + k);
}

/* --- unknown names ------------------------------------------------------------------------ */

static const char *full_name(void *user, int k)
{
    const ga_channels *all = user;
    return k < all->count ? all->items[k].channel.name : NULL;
}

/* The nearest of all channels there are; the text is in `near`. */
static bool suggest(const ga_model *model, const char *name, char *near, size_t size)
{
    ga_channels all = {0};
    selection s = {.channels = &all, .model = model};
    select_name(&s, "*");
    select_name(&s, "energy");
    select_name(&s, "solver");
    const char *found = ga_suggest(name, &all, full_name);
    if (found) snprintf(near, size, "%s", found);
    ga_channels_destroy(&all);
    return found != NULL;
}

/* What a body or an element does have: "angle, rate, force". False: `name` is of neither, or
 * the near name is one of its own. */
static bool list_own(const ga_model *model, const char *name, const char *near, char *text,
                     size_t size)
{
    const char *dot = strchr(name, '.');
    const size_t length = dot ? (size_t)(dot - name) : 0, own = length + 1;
    if (!dot || ga_names_find(&model->names, name, length) < 0) return false;
    if (near && strncmp(near, name, own) == 0) return false;
    ga_channels all = {0};
    selection s = {.channels = &all, .model = model};
    select_name(&s, "*");
    size_t used = 0;
    for (int k = 0; k < all.count && used + 40 < size; ++k)
        if (strncmp(all.items[k].channel.name, name, own) == 0)
            used += (size_t)snprintf(text + used, size - used, "%s%.30s", used ? ", " : "",
                                     all.items[k].channel.name + own);
    ga_channels_destroy(&all);
    return used > 0;
}

static bool is_effort_of_joint(const ga_model *model, const char *name)
{
    const char *dot = strchr(name, '.');
    const int found = dot ? ga_names_find(&model->names, name, (size_t)(dot - name)) : -1;
    return found >= 0 && strstr(dot, "effort") && found % 2 == GA_NAMED_ELEMENT &&
           strcmp(model->named[found / 2]->type->section, "joints") == 0;
}

static ga_status unknown(const ga_model *model, const char *name, const ga_place *place,
                         ga_messages *messages, ga_report *report)
{
    char near[160], owned[200], text[480];
    bool found = suggest(model, name, near, sizeof near);
    snprintf(text, sizeof text, "unknown channel `%.100s`%s%s%s", name,
             found ? ", did you mean `" : ", expected name.quantity, such as ",
             found                   ? near
             : model->body_count > 0 ? model->bodies[0].element.name
                                     : "body",
             found ? "`?" : ".position");
    const bool is_effort = is_effort_of_joint(model, name);
    if (list_own(model, name, found && !is_effort ? near : NULL, owned, sizeof owned))
        snprintf(text, sizeof text, "unknown channel `%.100s`; there are %s%s", name, owned,
                 is_effort ? " (an effort comes with a spring, damper, friction "
                             "or limits of the joint; a motion has its own)"
                           : "");
    if (strncmp(name, "ground", 6) == 0 && (name[6] == '.' || name[6] == '\0'))
        snprintf(text, sizeof text,
                 "unknown channel `%.100s`: the ground and its points do not move and have no "
                 "channels",
                 name);
    if (messages)
        ga_messages_add(messages, GA_SEVERITY_ERROR, place ? place->file : NULL,
                        place ? place->line : 0, place ? place->column : 0, "output.channels",
                        "%s", text);
    return ga_fail(report, GA_ERR_INPUT, "%s", text);
}

/* A part of what is there as a whole would be there twice. */
static bool is_repeated(const ga_channels *c, const ga_selected *item)
{
    const char *name = item->channel.name, *dot = strrchr(name, '.');
    return item->component >= 0 && dot &&
           ga_names_find(&c->names, name, (size_t)(dot - name)) >= 0;
}

static void drop_repeated(ga_channels *c)
{
    int count = 0;
    c->value_count = 0;
    for (int k = 0; k < c->count; ++k) {
        if (is_repeated(c, c->items + k)) continue;
        ga_selected *kept = c->items + count++;
        *kept = c->items[k];
        kept->at = c->value_count;
        c->value_count += kept->channel.count;
    }
    c->count = count;
}

ga_status ga_channels_create(const ga_model *model, const ga_channels_def *def,
                             ga_messages *messages, ga_channels *channels, ga_report *report)
{
    memset(channels, 0, sizeof *channels);
    selection s = {.channels = channels, .model = model};
    ga_status status = GA_OK;
    for (int k = 0; k < def->count; ++k) {
        if (select_name(&s, def->names[k])) continue;
        if (strcmp(def->names[k], "default") == 0)
            select_standard(&s);
        else
            status = unknown(model, def->names[k], def->places ? def->places + k : NULL,
                             messages, report);
    }
    if (def->count == 0) select_standard(&s);
    if (def->motion) {
        select_motion(&s);
        select_globals(&s, "solver", "step");
    }
    drop_repeated(channels);
    channels->values = GA_NEW(double, channels->value_count);
    if (!channels->values || s.memory)
        status = ga_fail(report, GA_ERR_MEMORY, "no memory for %d channels", channels->count);
    if (status != GA_OK) ga_channels_destroy(channels);
    return status;
}

void ga_channels_destroy(ga_channels *channels)
{
    ga_free(channels->items);
    ga_free(channels->values);
    ga_names_free(&channels->names);
    ga_arena_free(&channels->arena);
    memset(channels, 0, sizeof *channels);
}

/* --- values ------------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 64 };

void ga_channels_fill(ga_channels *channels, const ga_moment *moment)
{
    bool planar = moment->model->dimension == 2;
    for (int k = 0; k < channels->count; ++k) {
        const ga_selected *c = channels->items + k;
        double numbers[MOST_NUMBERS] = {0};
        c->value(c, moment, numbers);
        /* A planar model shows the third component of what is an axial vector. */
        bool axial = c->value == angular_velocity || c->value == angular_acceleration ||
                     (c->type && c->type->axial && c->type->count == 3);
        const double *from = planar && axial ? numbers + 2 : numbers;
        if (c->component >= 0) from += c->component;
        memcpy(channels->values + c->at, from, (size_t)c->channel.count * sizeof *from);
    }
}
