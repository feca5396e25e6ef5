/* From a document to a model, in passes, so that names may be used before they are defined:
 * bodies; elements by name and type; their fields; joints; what refers to joints; forces. Each
 * pass goes on after a mistake, so that all are found, and later passes leave out what is not
 * whole.
 */
#include "model/build.h"

#include "base/memory.h"
#include "element/observe.h"
#include "model/align.h"
#include "model/fingerprint.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- names -------------------------------------------------------------------------------- */

/* Names that mean something of their own in references and channels. */
const char *const ga_model_reserved_names[] = {"ground", "energy", "solver", "time", "t", NULL};

static bool check_name(ga_builder *b, const ga_entry *entry)
{
    const char *name = entry->key;
    if (!name[0] || strchr(name, '.'))
        return ga_reader_error(&b->reader, entry->place,
                               "a name must not be empty or contain a dot");
    for (int k = 0; ga_model_reserved_names[k]; ++k)
        if (strcmp(ga_model_reserved_names[k], name) == 0)
            return ga_reader_error(&b->reader, entry->place, "the name `%s` is reserved", name);
    for (int k = 0; k < b->model->inputs.count; ++k)
        if (strcmp(b->model->inputs.inputs[k].name, name) == 0)
            return ga_reader_error(&b->reader, entry->place,
                                   "the name `%s` is already used, by an input; names must be "
                                   "unique in a model",
                                   name);
    int found = ga_names_find(&b->model->names, name, strlen(name));
    if (found < 0) return true;
    const ga_place *first = found % 2 == GA_NAMED_BODY
                                ? &b->model->bodies[found / 2].element.place
                                : &b->model->named[found / 2]->place;
    char by[32] = "";
    if (first->line > 0) snprintf(by, sizeof by, ", by line %d", first->line);
    return ga_reader_error(&b->reader, entry->place,
                           "the name `%s` is already used%s; names must be unique in a model",
                           name, by);
}

static bool add_name(ga_builder *b, const char *name, int index, ga_named what)
{
    ga_status status =
        ga_names_put(&b->model->names, name, strlen(name), 2 * index + (int)what);
    if (status != GA_OK) b->reader.out_of_memory = true;
    return status == GA_OK;
}

bool ga_build_anchor(const ga_builder *b, const char *text, ga_anchor *anchor)
{
    *anchor = (ga_anchor){.node = GA_GROUND, .whole = true};
    if (strcmp(text, "ground") == 0) return true;
    const char *dot = strchr(text, '.');
    size_t length = dot ? (size_t)(dot - text) : strlen(text);
    const ga_point_list *points = &b->model->ground_points;
    if (!dot || length != strlen("ground") || memcmp(text, "ground", length) != 0) {
        int found = ga_names_find(&b->model->names, text, length);
        if (found < 0 || found % 2 != GA_NAMED_BODY) return false;
        const ga_body *body = b->model->bodies + found / 2;
        anchor->node = body->element.nodes[0];
        anchor->is_point = body->type == GA_BODY_POINT_MASS;
        points = &body->points;
    }
    if (!dot) return true;
    const ga_named_point *point = ga_points_find(points, dot + 1);
    if (!point) return false;
    memcpy(anchor->p, point->p, sizeof anchor->p);
    anchor->whole = false;
    return true;
}

/* --- what functions may observe ----------------------------------------------------------- */

static int component_of(const char *text)
{
    static const char *const names[] = {"x", "y", "z"};
    for (int k = 0; k < 3; ++k)
        if (strcmp(text, names[k]) == 0) return k;
    return -1;
}

/* "position.x", "velocity.y", "angular_velocity.z", "rotation" of a point of a body. */
static bool observe_point(const ga_builder *b, const char *text, bool whole, ga_observed *what)
{
    static const struct {
        const char *name;
        ga_quantity quantity;
        bool of_points;
    } vectors[] = {{"position.", GA_OBSERVE_POSITION, true},
                   {"velocity.", GA_OBSERVE_VELOCITY, true},
                   {"angular_velocity.", GA_OBSERVE_ANGULAR_VELOCITY, false}};
    bool planar = b->model->dimension == 2;
    if (planar && whole && strcmp(text, "rotation") == 0) {
        what->quantity = GA_OBSERVE_ANGLE;
        return true;
    }
    if (planar && whole && strcmp(text, "angular_velocity") == 0) {
        what->quantity = GA_OBSERVE_ANGULAR_VELOCITY;
        what->component = 2;
        return true;
    }
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; ++k) {
        size_t length = strlen(vectors[k].name);
        if (strncmp(text, vectors[k].name, length) != 0) continue;
        what->quantity = vectors[k].quantity;
        what->component = component_of(text + length);
        if (planar && (!vectors[k].of_points || what->component == 2)) return false;
        return what->component >= 0 && (whole || vectors[k].of_points);
    }
    return false;
}

static bool observe_body(const ga_builder *b, const ga_body *body, const char *text,
                         ga_observed *what)
{
    what->node = body->element.nodes[0];
    if (observe_point(b, text, true, what)) return true;
    const char *dot = strchr(text, '.');
    char name[64];
    if (!dot || (size_t)(dot - text) >= sizeof name) return false;
    memcpy(name, text, (size_t)(dot - text));
    name[dot - text] = '\0';
    const ga_named_point *point = ga_points_find(&body->points, name);
    if (!point) return false;
    memcpy(what->p, point->p, sizeof what->p);
    return observe_point(b, dot + 1, false, what);
}

static bool observe_joint(const ga_joint *joint, const char *text, ga_observed *what)
{
    int count = ga_joint_coordinates(joint);
    what->joint = joint;
    for (int k = 0; k < count; ++k) {
        const char *name = ga_joint_coordinate_type(joint, k)->name;
        size_t length = strlen(name);
        what->component = k;
        what->quantity = GA_OBSERVE_COORDINATE;
        if (strcmp(text, name) == 0) return true;
        what->quantity = GA_OBSERVE_RATE;
        if (count == 1 && strcmp(text, "rate") == 0) return true;
        if (strncmp(text, name, length) == 0 && strcmp(text + length, "_rate") == 0)
            return true;
    }
    return false;
}

static bool observe_element(const ga_element *element, const char *text, ga_observed *what)
{
    if (element->type->is_joint) return observe_joint((const ga_joint *)element, text, what);
    const ga_measure *measures = element->type->measures;
    what->quantity = GA_OBSERVE_MEASURE;
    what->element = element;
    for (int k = 0; measures && measures[k].name; ++k) {
        what->component = k;
        if (strcmp(text, measures[k].name) == 0) return true;
    }
    return false;
}

static bool find_observed(const ga_builder *b, const char *name, ga_observed *what)
{
    const char *const *own = b->type->own_variables;
    for (int k = 0; own && own[k]; ++k) {
        what->quantity = GA_OBSERVE_OWN;
        what->component = k;
        if (strcmp(name, own[k]) == 0) return true;
    }
    for (int k = 0; k < b->model->inputs.count; ++k) {
        what->quantity = GA_OBSERVE_INPUT;
        what->component = k;
        what->start = b->model->inputs.inputs[k].start;
        if (strcmp(name, b->model->inputs.inputs[k].name) == 0) return true;
    }
    what->start = 0;
    const char *dot = strchr(name, '.');
    if (!dot || b->type->inputs_only) return false;
    int found = ga_names_find(&b->model->names, name, (size_t)(dot - name));
    if (found < 0) return false;
    return found % 2 == GA_NAMED_BODY
               ? observe_body(b, b->model->bodies + found / 2, dot + 1, what)
               : observe_element(b->model->named[found / 2], dot + 1, what);
}

/* A joint that could not be prepared has no coordinates to name. The mistake in it has been
 * reported, and a second message about a name that is spelt right would mislead. */
static bool is_of_broken_joint(const ga_builder *b, const char *name)
{
    const char *dot = strchr(name, '.');
    if (!dot) return false;
    const int found = ga_names_find(&b->model->names, name, (size_t)(dot - name));
    if (found < 0 || found % 2 == GA_NAMED_BODY) return false;
    const ga_element *element = b->model->named[found / 2];
    return element->type->is_joint && !((const ga_joint *)element)->kind;
}

/* The point of ground that a name begins with, ground.pin..., and *rest, what follows; or null.
 */
static const ga_named_point *ground_point(const ga_builder *b, const char *name,
                                          const char **rest)
{
    static const char ground[] = "ground.";
    if (strncmp(name, ground, sizeof ground - 1) != 0) return NULL;
    name += sizeof ground - 1;
    char point[64];
    const size_t length = strcspn(name, ".");
    if (length >= sizeof point) return NULL;
    memcpy(point, name, length);
    point[length] = '\0';
    *rest = name + length + (name[length] == '.');
    return ga_points_find(&b->model->ground_points, point);
}

/* Positions and velocities of such points are constants. */
static bool find_constant(const ga_builder *b, const char *name, double *value)
{
    const char *rest;
    const ga_named_point *point = ground_point(b, name, &rest);
    ga_observed what = {.node = GA_GROUND};
    if (!point || !observe_point(b, rest, false, &what)) return false;
    *value = what.quantity == GA_OBSERVE_POSITION ? point->p[what.component] : 0;
    return true;
}

ga_symbol ga_build_observe(ga_builder *b, const char *name, size_t length)
{
    ga_symbol unknown = {.kind = GA_SYMBOL_UNKNOWN};
    char text[256];
    if (length >= sizeof text) return unknown;
    memcpy(text, name, length);
    text[length] = '\0';
    ga_observed what = {.node = GA_GROUND};
    /* any variable will do: the model is refused, nothing is evaluated */
    if (is_of_broken_joint(b, text)) return (ga_symbol){.kind = GA_SYMBOL_VARIABLE};
    ga_symbol constant = {.kind = GA_SYMBOL_CONSTANT};
    if (find_constant(b, text, &constant.value)) return constant;
    if (!find_observed(b, text, &what)) return unknown;
    ga_symbol symbol = {.kind = GA_SYMBOL_VARIABLE};
    void *list = (char *)b->element + b->type->observation_at;
    ga_status status = ga_observe(list, &b->model->arena, &what, &symbol.variable);
    if (status == GA_ERR_MEMORY) b->reader.out_of_memory = true;
    return status == GA_OK ? symbol : unknown;
}

/* Channels that forces cannot depend on: they follow from forces, or are of the whole model. */
static bool is_consequence(const char *channel)
{
    static const char *const names[] = {"force",      "torque",       "effort",
                                        "power",      "acceleration", "angular_acceleration",
                                        "multipliers"};
    const size_t length = strcspn(channel, ".");
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (strlen(names[k]) == length && strncmp(channel, names[k], length) == 0) return true;
    const char *last = strrchr(channel, '_'); /* angle_effort */
    return last && strcmp(last, "_effort") == 0;
}

/* What can be used of a body or an element, where a name that begins right goes on wrong. */
static const char *available(const ga_builder *b, int found)
{
    if (found % 2 == GA_NAMED_BODY)
        return b->model->dimension == 2
                   ? "of a body, position.x, velocity.x and so on, rotation and "
                     "angular_velocity are available"
                   : "of a body, position.x, velocity.x, angular_velocity.x and so on are "
                     "available";
    const ga_element *element = b->model->named[found / 2];
    if (!element->type->is_joint)
        return element->type->measures ? "of a spring, length and rate are available; of a "
                                         "torsion spring, angle and rate"
                                       : "it has nothing that a force may depend on";
    const ga_joint *joint = (const ga_joint *)element;
    const int count = ga_joint_coordinates(joint);
    if (count == 0) return "this joint has no coordinate";
    if (count > 1)
        return "of a joint with several coordinates, these and their rates are available, such "
               "as angle and angle_rate; `galpha elements` lists them";
    const char *coordinate = ga_joint_coordinate_type(joint, 0)->name;
    return strcmp(coordinate, "angle") == 0 ? "of this joint, angle and rate are available"
           : strcmp(coordinate, "displacement") == 0
               ? "of this joint, displacement and rate are available"
               : "of this joint, length and rate are available";
}

const char *ga_build_reason(const ga_builder *b, const char *name, size_t length)
{
    const char *dot = memchr(name, '.', length);
    if (!dot) return NULL;
    if (b->type->inputs_only)
        return "this is a function of the time t, of inputs and of parameters";
    const size_t owner = (size_t)(dot - name);
    const bool of_model =
        (owner == 6 && (strncmp(name, "energy", 6) == 0 || strncmp(name, "solver", 6) == 0));
    if (owner == 6 && strncmp(name, "ground", 6) == 0)
        return "of the ground, only positions of named points are available, such as "
               "ground.pin.position.x with `ground: {points: {pin: ...}}`";
    const int found = ga_names_find(&b->model->names, name, owner);
    if (!of_model && found < 0) return NULL;
    if (of_model || is_consequence(dot + 1))
        return "it follows from the forces; use positions, velocities, joint coordinates, "
               "spring lengths and their rates";
    if (found % 2 == GA_NAMED_BODY && b->model->dimension == 3 &&
        strncmp(dot + 1, "rotation", 8) == 0)
        return "in spatial models a rotation is not a single angle; use the coordinate of a "
               "joint";
    return available(b, found);
}

const char *ga_build_variable(const ga_builder *b, int k)
{
    const char *const *own = b->type->own_variables;
    for (; own && *own; ++own)
        if (k-- == 0) return *own;
    return k < b->model->inputs.count ? b->model->inputs.inputs[k].name : NULL;
}

/* --- bodies ------------------------------------------------------------------------------- */

/* The section as a map; null: not there or no map, which is an error unless it is empty. */
static const ga_value *section(ga_builder *b, const char *name)
{
    const ga_value *value = ga_value_get(&b->model->document->root, name);
    if (!value || value->kind == GA_VALUE_NULL) return NULL;
    if (value->kind == GA_VALUE_MAP) return value;
    char buffer[80];
    size_t here = ga_reader_enter(&b->reader, name);
    const bool settings = strcmp(name, "simulate") == 0 || strcmp(name, "output") == 0;
    ga_reader_error(&b->reader, value->place, "got %s, expected a map%s%s",
                    ga_value_describe(value, buffer, sizeof buffer),
                    settings ? " of settings" : " from names to ", settings ? "" : name);
    ga_reader_leave(&b->reader, here);
    return NULL;
}

static bool check_body(ga_builder *b, const ga_body *body, const ga_value *map)
{
    static const char *const turning[] = {"inertia", "rotation", "angular_velocity"};
    bool good = true;
    if (body->type == GA_BODY_RIGID && !ga_value_get(map, "inertia"))
        return ga_reader_error(&b->reader, map->place,
                               "needs `inertia`, or `type: point-mass`");
    for (size_t k = 0; body->type == GA_BODY_POINT_MASS && k < 3; ++k)
        if (ga_value_get(map, turning[k]))
            good = ga_reader_error(&b->reader, ga_value_get(map, turning[k])->place,
                                   "a point mass has no `%s`", turning[k]);
    for (int k = 0; body->type == GA_BODY_POINT_MASS && k < body->points.count; ++k)
        good = ga_reader_error(&b->reader, ga_value_get(map, "points")->place,
                               "a point mass has no points");
    return good;
}

/* The node of a body, and its frame as given. */
static void place_body(const ga_body *body, ga_model_node *node, ga_frame *frame)
{
    node->name = body->element.name;
    node->turns = body->type == GA_BODY_RIGID;
    memcpy(node->position, body->position, sizeof node->position);
    memcpy(node->rotation, body->rotation, sizeof node->rotation);
    memcpy(frame->x, body->position, sizeof frame->x);
    ga_quaternion_to_matrix(body->rotation, frame->R);
    ga_quaternion_rotate_back(body->rotation, body->velocity, frame->u);
    memcpy(frame->w, body->angular_velocity, sizeof frame->w);
}

static void build_bodies(ga_builder *b)
{
    ga_model *model = b->model;
    const ga_value *bodies = section(b, "bodies");
    int count = bodies ? bodies->count : 0;
    ga_frame *frames = GA_NEW_WHOLE(ga_frame, count + 1);
    model->nodes = GA_ARENA_NEW(&model->arena, ga_model_node, count);
    model->bodies = GA_ARENA_NEW(&model->arena, ga_body, count);
    if (!frames || !model->nodes || !model->bodies) {
        ga_free(frames);
        b->reader.out_of_memory = true;
        return;
    }
    model->frames = frames + 1;
    frames->R[0] = frames->R[4] = frames->R[8] = 1; /* the ground */
    size_t here = ga_reader_enter(&b->reader, "bodies");
    for (int k = 0; k < count; ++k) {
        const ga_entry *entry = bodies->entries + k;
        ga_body *body = model->bodies + k;
        size_t inside = ga_reader_enter(&b->reader, entry->key);
        body->element = (ga_element){.type = &ga_body_element,
                                     .name = entry->key,
                                     .place = entry->place,
                                     .node_count = 1,
                                     .nodes = {k}};
        memcpy(body->gravity, model->gravity, sizeof body->gravity);
        if (check_name(b, entry)) add_name(b, entry->key, k, GA_NAMED_BODY);
        model->node_count = model->body_count = k + 1;
        if (ga_build_fields(b, &entry->value, ga_body_fields, NULL, body))
            check_body(b, body, &entry->value);
        place_body(body, model->nodes + k, model->frames + k);
        ga_reader_leave(&b->reader, inside);
    }
    ga_reader_leave(&b->reader, here);
    if (count == 0 && b->reader.errors == 0)
        ga_reader_error(&b->reader, model->document->root.place,
                        "needs `bodies` with at least one body");
}

/* --- elements ----------------------------------------------------------------------------- */

typedef struct draft_element {
    ga_element *element;
    const ga_value *map;
    const char *section;
    bool good;
} draft_element;

typedef struct type_names {
    const char *section;
    int dimension;
} type_names;

static bool is_offered(const ga_element_type *type, const type_names *names)
{
    bool planar = names->dimension == 2;
    return type->section && strcmp(type->section, names->section) == 0 &&
           (type->where == GA_ANYWHERE || (type->where == GA_PLANAR) == planar);
}

static const char *type_name(void *user, int k)
{
    const ga_element_type *type;
    for (int i = 0; (type = ga_element_type_get(i)); ++i)
        if (is_offered(type, user) && k-- == 0) return type->name;
    return NULL;
}

static void list_types(type_names *names, char *list, size_t size)
{
    list[0] = '\0';
    const char *name;
    for (int k = 0; (name = type_name(names, k)); ++k) {
        size_t used = strlen(list);
        snprintf(list + used, size - used, "%s%s", k ? ", " : "", name);
    }
}

static const char *any_type_name(void *user, int k)
{
    (void)user;
    const ga_element_type *type = ga_element_type_get(k);
    return type ? type->name : NULL;
}

/* The type of any section that a word names or is a synonym of; null: none. */
static const ga_element_type *find_elsewhere(const char *word)
{
    const char *meant = ga_synonym(word, NULL, any_type_name);
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k)
        if (type->section && strcmp(type->name, meant ? meant : word) == 0) return type;
    return NULL;
}

static const char *only_type(void *user, int k)
{
    (void)user;
    return k == 0 ? "type" : NULL;
}

static void ask_for_type(ga_builder *b, type_names *names, const ga_value *map)
{
    char list[300];
    for (int k = 0; k < map->count; ++k) {
        const ga_entry *entry = map->entries + k;
        if (!ga_suggest(entry->key, NULL, only_type)) continue;
        const size_t here = ga_reader_enter(&b->reader, entry->key);
        ga_reader_error(&b->reader, entry->place, "unknown key `%s`, did you mean `type`?",
                        entry->key);
        ga_reader_leave(&b->reader, here);
        return;
    }
    list_types(names, list, sizeof list);
    ga_reader_error(&b->reader, map->place, "needs `type`, one of: %s", list);
}

/* How a type becomes what a word means. */
static const char *manner_of(const char *word)
{
    static const char *const cables[] = {"cable", "rope", "tether", "bungee", "wire", "chain"};
    for (size_t k = 0; k < sizeof cables / sizeof *cables; ++k)
        if (strcmp(word, cables[k]) == 0) return " with `tension_only: true`";
    return "";
}

static const ga_element_type *find_type(ga_builder *b, const char *in, const ga_value *map)
{
    type_names names = {in, b->model->dimension};
    if (!type_name(&names, 1)) return ga_element_type_find(in, type_name(&names, 0));
    const ga_value *value = ga_value_get(map, "type");
    const char *text;
    char list[300];
    if (!value) {
        ask_for_type(b, &names, map);
        return NULL;
    }
    size_t here = ga_reader_enter(&b->reader, "type");
    const ga_element_type *type = NULL;
    if (ga_read_text(&b->reader, value, &text)) {
        type = ga_element_type_find(in, text);
        const char *near = type ? NULL : ga_suggest(text, &names, type_name);
        const ga_element_type *other = find_elsewhere(text);
        if (type && !is_offered(type, &names)) {
            ga_reader_error(&b->reader, value->place,
                            "`%s` is only for models with `dimension: %d`", text,
                            b->model->dimension == 2 ? 3 : 2);
            type = NULL;
        } else if (!type && near) {
            const bool pulls = strcmp(near, "spring-damper") == 0;
            ga_reader_error(&b->reader, value->place, "unknown type `%s`, did you mean `%s`%s?",
                            text, near, pulls ? manner_of(text) : "");
        } else if (!type && other) {
            ga_reader_error(&b->reader, value->place, "`%s` belongs to `%s`, not to `%s`",
                            other->name, other->section, in);
        } else if (!type) {
            list_types(&names, list, sizeof list);
            ga_reader_error(&b->reader, value->place, "unknown type `%s`, expected one of: %s",
                            text, list);
        }
    }
    ga_reader_leave(&b->reader, here);
    return type;
}

static ga_element *new_element(ga_builder *b, const ga_element_type *type, const char *name,
                               ga_place place)
{
    ga_element *element = ga_arena_alloc(&b->model->arena, 1, type->size);
    if (!element) {
        b->reader.out_of_memory = true;
        return NULL;
    }
    element->type = type;
    element->name = name;
    element->place = place;
    return element;
}

/* Pass 1: names and types. */
static void name_elements(ga_builder *b, const char *in, draft_element *drafts, int *count)
{
    const ga_value *map = section(b, in);
    size_t here = ga_reader_enter(&b->reader, in);
    for (int k = 0; map && k < map->count; ++k) {
        const ga_entry *entry = map->entries + k;
        size_t inside = ga_reader_enter(&b->reader, entry->key);
        const ga_element_type *type = NULL;
        char buffer[80];
        if (entry->value.kind != GA_VALUE_MAP)
            ga_reader_error(&b->reader, entry->value.place,
                            "got %s, expected a map, {type: ..., ...}",
                            ga_value_describe(&entry->value, buffer, sizeof buffer));
        else
            type = find_type(b, in, &entry->value);
        bool named = check_name(b, entry);
        ga_element *element = type ? new_element(b, type, entry->key, entry->place) : NULL;
        if (element) {
            b->model->named[b->model->named_count] = element;
            if (named) add_name(b, entry->key, b->model->named_count, GA_NAMED_ELEMENT);
            ++b->model->named_count;
            drafts[(*count)++] = (draft_element){element, &entry->value, in, false};
        }
        ga_reader_leave(&b->reader, inside);
    }
    ga_reader_leave(&b->reader, here);
}

static size_t enter_element(ga_builder *b, const draft_element *d)
{
    size_t here = ga_reader_enter(&b->reader, d->section);
    ga_reader_enter(&b->reader, d->element->name);
    return here;
}

static void read_element(ga_builder *b, draft_element *d)
{
    static const char *const also[] = {"type", NULL};
    const ga_element_type *type = d->element->type;
    type_names names = {d->section, b->model->dimension};
    size_t here = enter_element(b, d);
    b->element = d->element;
    b->type = type;
    d->good = ga_build_fields(b, d->map, type->fields, type_name(&names, 1) ? also : NULL,
                              d->element);
    b->element = NULL;
    b->type = NULL;
    ga_reader_leave(&b->reader, here);
}

static void keep(ga_builder *b, ga_element *element)
{
    ga_model *model = b->model;
    element->row = model->rows;
    element->speed_row = model->speed_rows;
    element->memory = model->memory_count;
    element->event = model->event_count;
    element->callback = model->callback_count;
    model->rows += element->rows;
    model->speed_rows += element->speed_rows;
    model->memory_count += element->memory_count;
    model->event_count += element->event_count;
    model->callback_count += element->callback_count;
    model->elements[model->element_count++] = element;
}

static bool prepare(ga_builder *b, ga_setup *setup, ga_element *element)
{
    if (element->type->prepare && !element->type->prepare(element, setup)) return false;
    keep(b, element);
    return true;
}

/* The bodies an element with per_body acts on; none in the list: all. */
static const ga_node_list *bodies_of(const ga_element *element)
{
    for (const ga_field *f = element->type->fields; f->name; ++f)
        if (f->kind == GA_KIND_BODIES)
            return (const ga_node_list *)((const char *)element + f->offset);
    return NULL;
}

/* One instance for each of them. */
static bool prepare_per_body(ga_builder *b, ga_setup *setup, const draft_element *d)
{
    const ga_element_type *type = d->element->type;
    const ga_node_list *list = bodies_of(d->element);
    bool all = !list || list->count == 0;
    int count = all ? b->model->body_count : list->count;
    for (int k = 0; k < count; ++k) {
        ga_element *copy = new_element(b, type, d->element->name, d->element->place);
        if (!copy) return false;
        memcpy(copy, d->element, type->size);
        *(int *)((char *)copy + type->body_at) =
            all ? b->model->bodies[k].element.nodes[0] : list->nodes[k];
        if (!prepare(b, setup, copy)) return false;
    }
    return true;
}

/* What acts along the coordinates of joints. */
static void add_drives(ga_builder *b, ga_setup *setup, const draft_element *d)
{
    const ga_joint *joint = (const ga_joint *)d->element;
    for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
        if (!ga_joint_has_attachment(joint, k)) continue;
        ga_element *drive = new_element(b, &ga_drive, d->element->name, d->element->place);
        if (!drive) return;
        ga_drive_init(drive, joint, k);
        prepare(b, setup, drive);
    }
}

/* Joints as they were read, before they are prepared. */
static bool align_joints(ga_builder *b, const draft_element *drafts, int count)
{
    if (b->model->dimension == 2) return true;
    ga_joint **joints = GA_NEW(ga_joint *, count);
    int found = 0;
    for (int k = 0; joints && k < count; ++k)
        if (drafts[k].good && drafts[k].element->type->is_joint)
            joints[found++] = (ga_joint *)drafts[k].element;
    const bool done = joints && ga_align_axes(b->model, found, joints);
    ga_free(joints);
    return done;
}

/* Passes 2 and 3: joints and what acts along them; then what may refer to joints. */
static void prepare_elements(ga_builder *b, ga_setup *setup, draft_element *drafts, int count)
{
    bool whole = true;
    for (int k = 0; k < count; ++k)
        if (drafts[k].element->type->is_joint) read_element(b, drafts + k);
    if (!align_joints(b, drafts, count)) {
        b->reader.out_of_memory = true;
        return;
    }
    for (int k = 0; k < count; ++k) {
        draft_element *d = drafts + k;
        if (!d->element->type->is_joint) continue;
        size_t here = enter_element(b, d);
        setup->map = d->map;
        d->good = d->good && prepare(b, setup, d->element);
        ga_reader_leave(&b->reader, here);
        whole = whole && d->good;
    }
    for (int k = 0; k < count; ++k) {
        if (!drafts[k].good || !drafts[k].element->type->is_joint) continue;
        size_t here = enter_element(b, drafts + k);
        setup->map = drafts[k].map;
        add_drives(b, setup, drafts + k);
        ga_reader_leave(&b->reader, here);
    }
    for (int k = 0; k < count; ++k)
        if (!drafts[k].element->type->is_joint) read_element(b, drafts + k);
    for (int k = 0; k < count; ++k) whole = whole && drafts[k].good;
    for (int k = 0; whole && k < count; ++k) {
        const draft_element *d = drafts + k;
        if (d->element->type->is_joint) continue;
        size_t here = enter_element(b, d);
        setup->map = d->map;
        if (d->element->type->per_body)
            prepare_per_body(b, setup, d);
        else
            prepare(b, setup, d->element);
        ga_reader_leave(&b->reader, here);
    }
}

static int entries_of(ga_builder *b, const char *name)
{
    const ga_value *value = ga_value_get(&b->model->document->root, name);
    return value && value->kind == GA_VALUE_MAP ? value->count : 0;
}

/* So many elements at most: named ones, drives, copies for each body. */
static int most_elements(const ga_model *model, const draft_element *drafts, int count)
{
    int most = count;
    for (int k = 0; k < count; ++k) {
        if (drafts[k].element->type->is_joint) most += GA_JOINT_MAX_COORDINATES;
        if (drafts[k].element->type->per_body)
            most += model->body_count; /* a list names each
                                          body once */
    }
    return most;
}

static const char *const sections_of_elements[] = {"joints", "motions", "forces"};

static void make_room_for_names(ga_builder *b)
{
    size_t total = (size_t)entries_of(b, "bodies");
    for (int k = 0; k < 3; ++k) total += (size_t)entries_of(b, sections_of_elements[k]);
    if (ga_names_reserve(&b->model->names, total) != GA_OK) b->reader.out_of_memory = true;
}

static void build_elements(ga_builder *b)
{
    const char *const *sections = sections_of_elements;
    ga_model *model = b->model;
    int total = 0, count = 0;
    for (int k = 0; k < 3; ++k) total += entries_of(b, sections[k]);
    draft_element *drafts = GA_NEW(draft_element, total);
    double *mass = GA_NEW(double, model->node_count);
    bool *turns = GA_NEW(bool, model->node_count);
    model->named = GA_ARENA_NEW(&model->arena, ga_element *, total);
    if (!drafts || !mass || !turns || !model->named) {
        b->reader.out_of_memory = true;
    } else {
        for (int k = 0; k < model->body_count; ++k) {
            const int node = model->bodies[k].element.nodes[0];
            mass[node] += model->bodies[k].mass;
            turns[node] = model->bodies[k].type != GA_BODY_POINT_MASS;
        }
        for (int k = 0; k < 3; ++k) name_elements(b, sections[k], drafts, &count);
        int most = most_elements(model, drafts, count);
        model->elements = GA_ARENA_NEW(&model->arena, ga_element *, most);
        ga_setup setup = {.reader = &b->reader,
                          .arena = &model->arena,
                          .dimension = model->dimension,
                          .gravity = model->gravity,
                          .frames = model->frames,
                          .node_count = model->node_count,
                          .mass = mass,
                          .turns = turns};
        if (!model->elements) b->reader.out_of_memory = true;
        if (model->elements) prepare_elements(b, &setup, drafts, count);
    }
    ga_free(drafts);
    ga_free(mass);
    ga_free(turns);
}

/* --- the rest of the file ----------------------------------------------------------------- */

typedef struct ground {
    ga_group_head head;
    ga_point_list points;
} ground;

static const ga_field ground_fields[] = {
    GA_FIELD(ground, POINTS, points,
             "named points of the ground, world; referred to as ground.name", .unit = "m"),
    {0},
};

typedef struct head {
    double galpha;
    const char *name;
    int dimension;
    double gravity[3];
    ground ground;
    ga_input_list inputs;
} head;

/* The keys at the top; sections are read on their own. */
static const char *const sections_at_top[] = {"parameters", "bodies",   "joints", "motions",
                                              "forces",     "simulate", "output", NULL};
const ga_field ga_head_fields[] = {
    GA_FIELD(head, NUMBER, galpha, "version of the format: 1", .required = true),
    GA_FIELD(head, TEXT, name, "name of the model", .absent = "the name of the file"),
    GA_FIELD(head, INTEGER, dimension, "3, or 2 for motion in the x-y plane", .fallback = {3}),
    GA_FIELD(head, VECTOR, gravity, "acceleration of gravity, world", .unit = "m/s^2"),
    GA_FIELD(head, GROUP, ground, "properties of the ground", .group = ground_fields),
    GA_FIELD(head, INPUTS, inputs,
             "numbers for expressions of forces that programs set while a simulation runs"),
    {0},
};

static bool build_head(ga_builder *b)
{
    ga_model *model = b->model;
    const ga_value *root = &model->document->root;
    /* Everything else depends on these two. */
    const ga_value *version = ga_value_get(root, "galpha");
    const ga_value *dimension = ga_value_get(root, "dimension");
    model->dimension = b->reader.dimension = 3;
    const char *path = model->document->name, *slash = strrchr(path, '/');
    model->name = slash && slash[1] ? slash + 1 : path;
    if (dimension) {
        long n = 0;
        size_t here = ga_reader_enter(&b->reader, "dimension");
        if (ga_read_integer(&b->reader, dimension, &n) && n != 2 && n != 3)
            ga_reader_error(&b->reader, dimension->place, "is %ld, expected 2 or 3", n);
        ga_reader_leave(&b->reader, here);
        if (n == 2) model->dimension = b->reader.dimension = 2;
    }
    head h;
    bool good = ga_build_fields(b, root, ga_head_fields, sections_at_top, &h);
    if (good && h.galpha != 1)
        good =
            ga_reader_error(&b->reader, version->place,
                            "galpha: unknown format %g; this version reads format 1", h.galpha);
    if (good && h.name) model->name = h.name;
    if (good) memcpy(model->gravity, h.gravity, sizeof h.gravity);
    if (good) model->ground_points = h.ground.points;
    if (good) model->inputs = h.inputs;
    return good;
}

__attribute__((format(printf, 4, 5))) static void
wrong(ga_builder *b, const ga_value *map, const char *key, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t here = ga_reader_enter(&b->reader, key);
    ga_reader_error(&b->reader, ga_value_get(map, key)->place, "%s", text);
    ga_reader_leave(&b->reader, here);
}

static void check_simulate(ga_builder *b, const ga_value *map)
{
    const ga_simulate_settings *s = &b->model->settings.simulate;
    static const char *const adaptive[] = {"first_step", "min_step", "max_step"};
    if (!(s->t_end > s->t_start))
        wrong(b, map, "t_end", "is %g, expected more than t_start, %g", s->t_end, s->t_start);
    if (!isnan(s->step) && ga_value_get(map, "tolerance"))
        wrong(b, map, "tolerance",
              "give either `step` (fixed steps) or `tolerance` (error control), not both");
    for (size_t k = 0; k < 3; ++k)
        if (!isnan(s->step) && ga_value_get(map, adaptive[k]))
            wrong(b, map, adaptive[k], "has no effect with fixed steps (`step`)");
    if (s->min_step > s->max_step)
        wrong(b, map, "min_step", "is %g, more than max_step, %g", s->min_step, s->max_step);
}

/* Settings of generalized-alpha and its family. */
static const char *const of_family[] = {"formulation",      "start",   "map",     "newton",
                                        "newton_tolerance", "scaling", "penalty", "error"};
enum { OF_FAMILY = sizeof of_family / sizeof *of_family };

/* Without `method`: generalized-alpha for steps of fixed size and where something is set that
 * only its family has, else `auto`. */
static void choose_method(ga_builder *b, const ga_value *map)
{
    bool alpha = map && (ga_value_get(map, "step") || ga_value_get(map, "rho_inf"));
    for (int k = 0; map && k < OF_FAMILY; ++k) alpha |= ga_value_get(map, of_family[k]) != NULL;
    if (map && ga_value_get(map, "method")) return;
    b->model->settings.simulate.method.family =
        alpha ? GA_FAMILY_GENERALIZED_ALPHA : GA_FAMILY_AUTO;
}

/* A key that belongs to another method would be ignored: say so. */
static void check_method(ga_builder *b, const ga_value *map)
{
    static const struct {
        const char *key, *methods;
        unsigned families; /* bits */
    } rules[] = {{"rho_inf", "the methods generalized-alpha and wbz have it",
                  1u << GA_FAMILY_GENERALIZED_ALPHA | 1u << GA_FAMILY_WBZ},
                 {"alpha", "the method hht has it", 1u << GA_FAMILY_HHT},
                 {"beta", "the method newmark has it", 1u << GA_FAMILY_NEWMARK},
                 {"gamma", "the method newmark has it", 1u << GA_FAMILY_NEWMARK}};
    static const char *const names[] = {[GA_FAMILY_EXPLICIT] = "explicit",
                                        [GA_FAMILY_RADAU] = "radau",
                                        [GA_FAMILY_AUTO] = "auto"};
    int family = b->model->settings.simulate.method.family;
    unsigned bit = family < 0 ? 0 : 1u << family;
    for (size_t k = 0; k < sizeof rules / sizeof *rules; ++k)
        if (ga_value_get(map, rules[k].key) && !(rules[k].families & bit))
            wrong(b, map, rules[k].key, "only %s; remove it, or set it to null",
                  rules[k].methods);
    for (int k = 0; k < OF_FAMILY; ++k)
        if (family >= GA_FAMILY_EXPLICIT && ga_value_get(map, of_family[k]))
            wrong(b, map, of_family[k],
                  "belongs to generalized-alpha and its family, not to `method: %s`",
                  names[family]);
}

static void build_settings(ga_builder *b)
{
    ga_settings *settings = &b->model->settings;
    const ga_value *simulate = section(b, "simulate"), *output = section(b, "output");
    ga_build_defaults(b, ga_simulate_fields, &settings->simulate);
    ga_build_defaults(b, ga_output_fields, &settings->output);
    settings->simulate.t_end = NAN;
    if (simulate) {
        settings->simulate_given = true;
        size_t here = ga_reader_enter(&b->reader, "simulate");
        if (ga_build_fields(b, simulate, ga_simulate_fields, NULL, &settings->simulate)) {
            choose_method(b, simulate);
            check_simulate(b, simulate);
            check_method(b, simulate);
        }
        ga_reader_leave(&b->reader, here);
    } else {
        choose_method(b, NULL);
    }
    if (output) {
        size_t here = ga_reader_enter(&b->reader, "output");
        ga_build_fields(b, output, ga_output_fields, NULL, &settings->output);
        ga_reader_leave(&b->reader, here);
    }
}

ga_status ga_model_build(ga_document *document, ga_model **model, ga_messages *messages)
{
    *model = GA_NEW(ga_model, 1);
    if (!*model) {
        ga_document_destroy(document);
        return GA_ERR_MEMORY;
    }
    (*model)->document = document;
    (*model)->fingerprint = ga_fingerprint(&document->root);
    ga_builder b = {.reader = {.document = document, .messages = messages}, .model = *model};
    build_head(&b);
    make_room_for_names(&b);
    if (!b.reader.out_of_memory) build_bodies(&b);
    if (!b.reader.out_of_memory) build_elements(&b);
    build_settings(&b);
    if (b.reader.errors == 0) ga_check_set_parameters(&b.reader);
    ga_status status = b.reader.out_of_memory ? GA_ERR_MEMORY
                       : b.reader.errors      ? GA_ERR_INPUT
                                              : GA_OK;
    ga_document_drop_repeats(document);
    if (status != GA_OK) {
        ga_model_destroy(*model);
        *model = NULL;
    }
    return status;
}

ga_status ga_model_load(ga_model *model, ga_messages *messages)
{
    ga_reader reader = {
        .document = model->document, .messages = messages, .dimension = model->dimension};
    const ga_setup setup = {.reader = &reader,
                            .arena = &model->arena,
                            .dimension = model->dimension,
                            .fingerprint = &model->fingerprint};
    for (int k = 0; k < model->element_count; ++k) {
        ga_element *element = model->elements[k];
        if (!element->type->load) continue;
        const size_t here = ga_reader_enter(&reader, element->type->section);
        ga_reader_enter(&reader, element->name);
        element->type->load(element, &setup);
        ga_reader_leave(&reader, here);
    }
    return reader.out_of_memory ? GA_ERR_MEMORY : reader.errors ? GA_ERR_INPUT : GA_OK;
}
