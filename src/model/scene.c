/* The scene: what a viewer needs to draw a model, as JSON; docs/program.md describes it.
 *
 * Everything is in space, also what is planar: z is 0 there. A joint is where its two markers
 * are; other elements are where their fields say. Beyond that an element shows what its table
 * of fields knows and what is not as if nothing had been given: numbers, directions, words,
 * groups. So a new element is in the scene without a line here.
 */
#include "base/json.h"
#include "base/memory.h"
#include "model/gap.h"
#include "model/shape.h"
#include "model/tables.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static void put_vector(ga_buffer *b, const char *key, const double x[3])
{
    ga_json_key(b, key);
    ga_json_numbers(b, 3, x);
}

static void put_rotation(ga_buffer *b, const double quaternion[4])
{
    ga_json_key(b, "rotation");
    ga_json_numbers(b, 4, quaternion);
}

static void put_text(ga_buffer *b, const char *key, const char *text)
{
    ga_json_key(b, key);
    ga_json_text(b, text);
}

static void put_number(ga_buffer *b, const char *key, double x)
{
    ga_json_key(b, key);
    ga_json_number(b, x);
}

/* --- shapes ------------------------------------------------------------------------------- */

static void put_box(ga_buffer *b, const ga_shape *shape) { put_vector(b, "size", shape->box); }

static void put_sphere(ga_buffer *b, const ga_shape *shape)
{
    put_number(b, "radius", shape->sphere);
}

static void put_round(ga_buffer *b, const ga_round *round)
{
    put_number(b, "radius", round->radius);
    put_number(b, "length", round->length);
    put_vector(b, "axis", round->axis);
}

static void put_cylinder(ga_buffer *b, const ga_shape *shape)
{
    put_round(b, &shape->cylinder);
}

static void put_capsule(ga_buffer *b, const ga_shape *shape) { put_round(b, &shape->capsule); }

/* Floats, little-endian whatever the machine. */
static void put_triangles(ga_buffer *b, const ga_mesh *mesh)
{
    const size_t count = 9 * (size_t)mesh->triangle_count;
    unsigned char *bytes = GA_NEW(unsigned char, 4 * count);
    if (!bytes) {
        b->failed = true;
        return;
    }
    for (size_t k = 0; k < count; ++k) {
        uint32_t bits;
        memcpy(&bits, mesh->corners + k, sizeof bits);
        for (int i = 0; i < 4; ++i) bytes[4 * k + (size_t)i] = (unsigned char)(bits >> 8 * i);
    }
    ga_json_base64(b, bytes, 4 * count);
    ga_free(bytes);
}

static void put_mesh(ga_buffer *b, const ga_shape *shape)
{
    put_number(b, "mesh", shape->file->index);
    put_number(b, "scale", shape->scale);
}

static const struct {
    const char *form;
    void (*put)(ga_buffer *b, const ga_shape *shape);
} shape_forms[] = {{"box", put_box},
                   {"cylinder", put_cylinder},
                   {"sphere", put_sphere},
                   {"capsule", put_capsule},
                   {"mesh", put_mesh}};

static void put_shape(ga_buffer *b, const ga_shape *shape)
{
    ga_json_open(b, '{');
    put_text(b, "type", shape->form);
    for (size_t k = 0; k < sizeof shape_forms / sizeof *shape_forms; ++k)
        if (strcmp(shape_forms[k].form, shape->form) == 0) shape_forms[k].put(b, shape);
    put_vector(b, "position", shape->position);
    put_rotation(b, shape->rotation);
    if (shape->color) put_text(b, "color", shape->color);
    ga_json_close(b, '}');
}

/* Each file once, however many shapes it gives; the model has them last first. */
static void put_meshes(ga_buffer *b, const ga_model *model)
{
    const int count = model->meshes ? model->meshes->index + 1 : 0;
    ga_json_key(b, "meshes");
    ga_json_open(b, '[');
    for (int k = 0; k < count; ++k) {
        const ga_mesh_file *file = model->meshes;
        while (file->index != k) file = file->next;
        put_triangles(b, &file->mesh);
    }
    ga_json_close(b, ']');
}

/* --- bodies ------------------------------------------------------------------------------- */

static const char *body_kind(const ga_body *body)
{
    const ga_field *f = ga_body_fields;
    while (strcmp(f->name, "type") != 0) ++f;
    return f->choices[body->type];
}

static void put_body(ga_buffer *b, const ga_body *body)
{
    const double *J = body->inertia;
    const double inertia[6] = {J[0], J[4], J[8], J[1], J[2], J[5]};
    ga_json_open(b, '{');
    put_text(b, "name", body->element.name);
    put_text(b, "kind", body_kind(body));
    put_number(b, "mass", body->mass);
    ga_json_key(b, "inertia");
    ga_json_numbers(b, 6, inertia);
    put_vector(b, "position", body->position);
    put_rotation(b, body->rotation);
    ga_json_key(b, "points");
    ga_json_open(b, '[');
    for (int k = 0; k < body->points.count; ++k) {
        ga_json_open(b, '{');
        put_text(b, "name", body->points.points[k].name);
        put_vector(b, "position", body->points.points[k].p);
        ga_json_close(b, '}');
    }
    ga_json_close(b, ']');
    ga_json_key(b, "shapes");
    ga_json_open(b, '[');
    for (int k = 0; k < body->shape.count; ++k) put_shape(b, body->shape.shapes + k);
    ga_json_close(b, ']');
    ga_json_close(b, '}');
}

/* --- fields of elements ------------------------------------------------------------------- */

typedef struct writing {
    ga_buffer *b;
    int dimension;
    int places;  /* so far: the first is a, the second b */
    bool given;  /* it stands in the file, with all that it requires */
    bool all;    /* also what is as if it were not given */
    bool marked; /* a joint, whose markers say where it is */
} writing;

static void put_place(writing *w, int node, const double p[3], const double *axes)
{
    static const char *const names[] = {"a", "b"};
    if (node == GA_NOWHERE || w->places == 2) return;
    ga_json_key(w->b, names[w->places++]);
    ga_json_open(w->b, '{');
    put_number(w->b, "body", node);
    put_vector(w->b, "position", p);
    if (axes) {
        double quaternion[4];
        ga_quaternion_from_matrix(axes, quaternion);
        put_rotation(w->b, quaternion);
    }
    ga_json_close(w->b, '}');
}

static void put_fields(writing *w, const ga_field *fields, const void *from);

/* Whatever its value is. */
static bool is_told(const writing *w, const ga_field *field)
{
    return w->all || (w->given && field->required);
}

typedef void put_member(writing *w, const ga_field *field, const void *member);

static void put_number_field(writing *w, const ga_field *field, const void *member)
{
    const double x = *(const double *)member;
    if (isfinite(x) && (is_told(w, field) || x != field->fallback[0]))
        put_number(w->b, field->name, x);
}

static void put_boolean_field(writing *w, const ga_field *field, const void *member)
{
    const bool x = *(const bool *)member;
    if (!w->all && x == (field->fallback[0] > 0)) return;
    ga_json_key(w->b, field->name);
    ga_json_boolean(w->b, x);
}

static void put_choice_field(writing *w, const ga_field *field, const void *member)
{
    const int k = *(const int *)member;
    if (w->all || k != (int)field->fallback[0]) put_text(w->b, field->name, field->choices[k]);
}

static void put_text_field(writing *w, const ga_field *field, const void *member)
{
    const char *text = *(const char *const *)member;
    if (text) put_text(w->b, field->name, text);
}

static void put_vector_field(writing *w, const ga_field *field, const void *member)
{
    const double *x = member;
    if (!isfinite(x[0]) || !isfinite(x[1]) || !isfinite(x[2])) return;
    if (is_told(w, field) || memcmp(x, field->fallback, 3 * sizeof *x) != 0)
        put_vector(w->b, field->name, x);
}

static void put_point_field(writing *w, const ga_field *field, const void *member)
{
    const ga_anchor *anchor = member;
    (void)field;
    put_place(w, anchor->node, anchor->p, NULL);
}

static void put_pair_field(writing *w, const ga_field *field, const void *member)
{
    put_point_field(w, field, member);
    put_point_field(w, field, (const ga_anchor *)member + 1);
}

static void put_body_field(writing *w, const ga_field *field, const void *member)
{
    static const double origin[3] = {0, 0, 0};
    const int node = *(const int *)member;
    if (field->required || node != (int)field->fallback[0]) put_place(w, node, origin, NULL);
}

static void put_bodies_field(writing *w, const ga_field *field, const void *member)
{
    const ga_node_list *list = member;
    if (list->count == 0) return;
    ga_json_key(w->b, field->name);
    ga_json_open(w->b, '[');
    for (int k = 0; k < list->count; ++k) ga_json_number(w->b, list->nodes[k]);
    ga_json_close(w->b, ']');
}

static void put_joint_field(writing *w, const ga_field *field, const void *member)
{
    const ga_joint *joint = *(const ga_joint *const *)member;
    if (joint) put_text(w->b, field->name, joint->element.name);
}

static void put_joints_field(writing *w, const ga_field *field, const void *member)
{
    const ga_joint *const *joints = member;
    ga_json_key(w->b, field->name);
    ga_json_open(w->b, '[');
    for (int k = 0; k < 2; ++k) ga_json_text(w->b, joints[k]->element.name);
    ga_json_close(w->b, ']');
}

/* A group that is not given may still have got values from `prepare`, such as the plane of a
 * disc. Then all of it is told. */
static void put_group_field(writing *w, const ga_field *field, const void *member)
{
    writing part = {.b = w->b, .dimension = w->dimension, .places = 2};
    const size_t before = w->b->length;
    ga_json_key(w->b, field->name);
    ga_json_open(w->b, '{');
    const size_t inside = w->b->length;
    part.all = ((const ga_group_head *)member)->given;
    put_fields(&part, field->group, member);
    const bool empty = w->b->length == inside;
    if (empty || !part.all) w->b->length = empty ? before : inside;
    if (empty) {
        if (w->b->text) w->b->text[before] = '\0';
        return;
    }
    if (!part.all) {
        part.all = true;
        put_fields(&part, field->group, member);
    }
    ga_json_close(w->b, '}');
}

/* Functions, matrices and lists are not for drawing. */
static put_member *const members[GA_KIND_COUNT] = {
    [GA_KIND_NUMBER] = put_number_field, [GA_KIND_BOOLEAN] = put_boolean_field,
    [GA_KIND_CHOICE] = put_choice_field, [GA_KIND_TEXT] = put_text_field,
    [GA_KIND_VECTOR] = put_vector_field, [GA_KIND_DIRECTION] = put_vector_field,
    [GA_KIND_PLACE] = put_vector_field,  [GA_KIND_POINT] = put_point_field,
    [GA_KIND_PAIR] = put_pair_field,     [GA_KIND_BODY] = put_body_field,
    [GA_KIND_BODIES] = put_bodies_field, [GA_KIND_JOINT] = put_joint_field,
    [GA_KIND_JOINTS] = put_joints_field, [GA_KIND_GROUP] = put_group_field,
};

static void put_fields(writing *w, const ga_field *fields, const void *from)
{
    for (const ga_field *f = fields; f->name; ++f) {
        if (!ga_field_is_in(f, w->dimension) || !members[f->kind]) continue;
        if (w->marked && f->offset < offsetof(ga_joint, marker)) continue;
        members[f->kind](w, f, (const char *)from + f->offset);
    }
}

/* --- elements ----------------------------------------------------------------------------- */

static void put_element(ga_buffer *b, const ga_model *model, const ga_element *element)
{
    const ga_element_type *type = element->type;
    writing w = {
        .b = b, .dimension = model->dimension, .given = true, .marked = type->is_joint};
    ga_json_open(b, '{');
    put_text(b, "name", element->name);
    put_text(b, "type", type->name);
    if (type->is_joint) {
        const ga_joint *joint = (const ga_joint *)element;
        for (int k = 0; k < 2; ++k)
            put_place(&w, element->nodes[k], joint->marker[k].p, joint->marker[k].A);
    }
    put_fields(&w, type->fields, element);
    ga_json_close(b, '}');
}

static void put_section(ga_buffer *b, const ga_model *model, const char *section)
{
    ga_json_key(b, section);
    ga_json_open(b, '[');
    for (int k = 0; k < model->named_count; ++k)
        if (strcmp(model->named[k]->type->section, section) == 0)
            put_element(b, model, model->named[k]);
    ga_json_close(b, ']');
}

static void put_gaps(ga_buffer *b, int count, const ga_gap *gaps)
{
    ga_json_key(b, "gaps");
    ga_json_open(b, '[');
    for (int k = 0; k < count; ++k) {
        ga_json_open(b, '{');
        put_text(b, "element", gaps[k].element);
        put_text(b, "row", gaps[k].row);
        put_number(b, "residual", gaps[k].residual);
        put_number(b, "distance", gaps[k].distance);
        put_number(b, "angle", gaps[k].angle);
        ga_json_close(b, '}');
    }
    ga_json_close(b, ']');
}

char *ga_gaps_scene(const ga_model *model, int count, const ga_gap *gaps)
{
    ga_buffer buffer = {0}, *b = &buffer;
    ga_json_open(b, '{');
    put_number(b, "format", 1);
    put_text(b, "name", model->name);
    put_number(b, "dimension", model->dimension);
    put_vector(b, "gravity", model->gravity);
    ga_json_key(b, "bodies");
    ga_json_open(b, '[');
    for (int k = 0; k < model->body_count; ++k) put_body(b, model->bodies + k);
    ga_json_close(b, ']');
    put_meshes(b, model);
    for (const char *const *s = ga_element_sections; *s; ++s) put_section(b, model, *s);
    ga_json_key(b, "groups"); /* of bodies that are drawn together: none yet */
    ga_json_open(b, '[');
    ga_json_close(b, ']');
    if (count > 0) put_gaps(b, count, gaps);
    ga_json_close(b, '}');
    return ga_buffer_take(b);
}

char *ga_model_scene(const ga_model *model) { return ga_gaps_scene(model, 0, NULL); }
