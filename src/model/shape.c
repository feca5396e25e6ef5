/* Reading shapes: a map that has one of the forms and where it is, or a list of such maps. */
#include "model/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const ga_field cylinder_fields[] = {
    GA_FIELD(ga_round, NUMBER, radius, "radius", .unit = "m", .required = true,
             .range = GA_POSITIVE),
    GA_FIELD(ga_round, NUMBER, length, "length", .unit = "m", .required = true,
             .range = GA_POSITIVE),
    GA_FIELD(ga_round, DIRECTION, axis, "its axis", .fallback = {0, 0, 1}, .absent = "z"),
    {0},
};

static const ga_field capsule_fields[] = {
    GA_FIELD(ga_round, NUMBER, radius, "radius", .unit = "m", .required = true,
             .range = GA_POSITIVE),
    GA_FIELD(ga_round, NUMBER, length, "distance between the centres of its rounded ends",
             .unit = "m", .required = true, .range = GA_POSITIVE),
    GA_FIELD(ga_round, DIRECTION, axis, "its axis", .fallback = {0, 0, 1}, .absent = "z"),
    {0},
};

const ga_field ga_shape_fields[] = {
    GA_FIELD(ga_shape, NUMBERS, box, "edge lengths along x, y, z", .unit = "m", .count = 3,
             .range = GA_POSITIVE, .fallback = {NAN, NAN, NAN}),
    GA_FIELD(ga_shape, GROUP, cylinder, "cylinder: a bar or a disc", .group = cylinder_fields),
    GA_FIELD(ga_shape, NUMBER, sphere, "radius of a sphere", .unit = "m", .range = GA_POSITIVE,
             .fallback = {NAN}),
    GA_FIELD(ga_shape, GROUP, capsule, "bar with rounded ends", .group = capsule_fields),
    GA_FIELD(ga_shape, PATH, mesh,
             "triangle mesh, STL or OBJ; the path is relative to the folder of the model"),
    GA_FIELD(ga_shape, NUMBER, scale, "size of one unit of the mesh in metres", .unit = "m",
             .range = GA_POSITIVE, .fallback = {1}),
    GA_FIELD(ga_shape, VECTOR, position,
             "position of its centre (of a mesh: its origin), body axes", .unit = "m"),
    GA_FIELD(ga_shape, ROTATION, rotation, "orientation relative to the body"),
    GA_FIELD(ga_shape, COLOR, color, "a word such as red, or \"#rrggbb\" in quotes",
             .absent = "chosen by the viewer"),
    {0},
};

const char *const ga_shape_forms[] = {"box", "cylinder", "sphere", "capsule", "mesh", NULL};

/* --- colours ------------------------------------------------------------------------------ */

const ga_color_name ga_color_names[] = {
    {"black", "#202020"}, {"gray", "#808080"},   {"silver", "#c0c0c0"}, {"white", "#ffffff"},
    {"red", "#d03030"},   {"orange", "#f08020"}, {"yellow", "#f0d020"}, {"green", "#30a030"},
    {"cyan", "#20b0c0"},  {"blue", "#3060d0"},   {"purple", "#8040b0"}, {"magenta", "#d030a0"},
    {"brown", "#805030"}, {NULL, NULL},
};

static bool is_hex_color(const char *text)
{
    return strlen(text) == 7 && text[0] == '#' &&
           strspn(text + 1, "0123456789abcdefABCDEF") == 6;
}

static const char *color_name(void *user, int k)
{
    (void)user;
    return ga_color_names[k].name;
}

bool ga_color_read(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    static const char expected[] = "a word such as red, or \"#rrggbb\" in quotes";
    (void)field;
    char buffer[80];
    const char *text;
    /* Without quotes YAML takes # for the beginning of a comment. */
    if (value->kind != GA_VALUE_SCALAR)
        return ga_reader_error(&b->reader, value->place, "got %s, expected %s",
                               ga_value_describe(value, buffer, sizeof buffer), expected);
    if (!ga_read_text(&b->reader, value, &text)) return false;
    const char *color = is_hex_color(text) ? text : NULL;
    for (const ga_color_name *c = ga_color_names; c->name && !color; ++c)
        if (strcmp(c->name, text) == 0) color = c->color;
    if (color) {
        *(const char **)out = color;
        return true;
    }
    const char *near = ga_suggest(text, NULL, color_name);
    return ga_reader_error(&b->reader, value->place,
                           near ? "unknown colour `%.40s`, did you mean `%s`?"
                                : "unknown colour `%.40s`, expected %s",
                           text, near ? near : expected);
}

/* --- meshes ------------------------------------------------------------------------------- */

/* Links of a chain may all look alike: a file is read once. */
static const ga_mesh_file *find_mesh(const ga_model *model, const char *path)
{
    const ga_mesh_file *file = model->meshes;
    while (file && strcmp(file->path, path) != 0) file = file->next;
    return file;
}

static bool read_mesh(ga_builder *b, const ga_value *map, ga_shape *shape)
{
    ga_model *model = b->model;
    const ga_value *value = ga_value_get(map, "mesh");
    if ((shape->file = find_mesh(model, shape->mesh))) return true;
    ga_mesh_file *file = GA_ARENA_NEW(&model->arena, ga_mesh_file, 1);
    char reason[GA_MESH_REASON_SIZE] = "";
    const ga_status status =
        file ? ga_mesh_read(shape->mesh, &model->arena, &file->mesh, reason) : GA_ERR_MEMORY;
    if (status == GA_ERR_MEMORY) b->reader.out_of_memory = true;
    if (status != GA_OK) {
        size_t here = ga_reader_enter(&b->reader, "mesh");
        if (status != GA_ERR_MEMORY)
            ga_reader_error(&b->reader, value->place, "%s: %s", shape->mesh, reason);
        ga_reader_leave(&b->reader, here);
        return false;
    }
    file->path = shape->mesh;
    file->next = model->meshes;
    file->index = file->next ? file->next->index + 1 : 0;
    model->meshes = file;
    shape->file = file;
    return true;
}

/* --- shapes ------------------------------------------------------------------------------- */

/* Exactly one form, and nothing that belongs to another. */
static bool check_form(ga_builder *b, const ga_value *map, ga_shape *shape)
{
    for (int k = 0; k < map->count; ++k) {
        const ga_entry *entry = map->entries + k;
        for (const char *const *form = ga_shape_forms; *form; ++form) {
            if (strcmp(entry->key, *form) != 0) continue;
            if (shape->form)
                return ga_reader_error(
                    &b->reader, entry->place,
                    "`%s` cannot be combined with `%s`; for several shapes give a list", *form,
                    shape->form);
            shape->form = *form;
        }
    }
    if (!shape->form)
        return ga_reader_error(&b->reader, map->place,
                               "needs one of: box, cylinder, sphere, capsule, mesh");
    const ga_value *scale = ga_value_get(map, "scale");
    if (scale && !shape->mesh)
        return ga_reader_error(&b->reader, scale->place, "`scale` belongs to `mesh`");
    return true;
}

static bool read_shape(ga_builder *b, const ga_value *map, const ga_field *field,
                       ga_shape *shape)
{
    return ga_build_fields(b, map, field->group, NULL, shape) && check_form(b, map, shape) &&
           (!shape->mesh || read_mesh(b, map, shape));
}

bool ga_shape_read_list(ga_builder *b, const ga_value *value, const ga_field *field, void *out)
{
    bool list = value->kind == GA_VALUE_LIST;
    int count = list ? value->count : 1;
    ga_shape *shapes = GA_ARENA_NEW(&b->model->arena, ga_shape, count);
    if (!shapes) {
        b->reader.out_of_memory = true;
        return false;
    }
    bool good = true;
    for (int k = 0; k < count; ++k) {
        size_t here = list ? ga_reader_enter_item(&b->reader, k) : 0;
        good =
            read_shape(b, list ? &value->entries[k].value : value, field, shapes + k) && good;
        if (list) ga_reader_leave(&b->reader, here);
    }
    if (good) *(ga_shape_list *)out = (ga_shape_list){count, shapes};
    return good;
}
