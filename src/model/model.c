#include "model/model.h"

#include "base/memory.h"
#include "model/build.h"

#include <math.h>
#include <string.h>

int ga_model_find_body(const ga_model *model, const char *name)
{
    int found = ga_names_find(&model->names, name, strlen(name));
    return found >= 0 && found % 2 == GA_NAMED_BODY ? found / 2 : -1;
}

const ga_element *ga_model_find_element(const ga_model *model, const char *name)
{
    int found = ga_names_find(&model->names, name, strlen(name));
    return found >= 0 && found % 2 == GA_NAMED_ELEMENT ? model->named[found / 2] : NULL;
}

const ga_named_point *ga_points_find(const ga_point_list *points, const char *name)
{
    for (int k = 0; k < points->count; ++k)
        if (strcmp(points->points[k].name, name) == 0) return points->points + k;
    return NULL;
}

void ga_model_destroy(ga_model *model)
{
    if (!model) return;
    for (int k = 0; k < model->named_count; ++k) {
        ga_element *element = model->named[k];
        if (!element) continue;
        if (element->type->release) element->type->release(element);
        ga_build_release(element->type->fields, element);
    }
    ga_names_free(&model->names);
    if (model->frames) ga_free(model->frames - 1);
    ga_arena_free(&model->arena);
    ga_document_destroy(model->document);
    ga_free(model);
}

const char *ga_model_name(const ga_model *model) { return model->name; }

const char *ga_model_text(const ga_model *model)
{
    return model->document->text ? model->document->text : "";
}

int ga_model_dimension(const ga_model *model) { return model->dimension; }

int ga_model_body_count(const ga_model *model) { return model->body_count; }

const char *ga_model_body_name(const ga_model *model, int body)
{
    return model->bodies[body].element.name;
}

double ga_model_body_mass(const ga_model *model, int body) { return model->bodies[body].mass; }

const char *ga_model_body_type(const ga_model *model, int body)
{
    return model->bodies[body].type == GA_BODY_POINT_MASS ? "point-mass" : "rigid";
}

const char *ga_model_body_point(const ga_model *model, int body, int k)
{
    const ga_point_list *points = &model->bodies[body].points;
    return k >= 0 && k < points->count ? points->points[k].name : NULL;
}

ga_model_parameter ga_model_get_parameter(const ga_model *model, int k)
{
    const ga_document *document = model->document;
    if (k < 0 || k >= document->parameter_count) return (ga_model_parameter){NULL, 0, 0};
    const ga_parameter *p = document->parameters + k;
    return (ga_model_parameter){p->name, p->value, p->used};
}

ga_model_entry ga_model_get_entry(const ga_model *model, int entry)
{
    if (entry < 0 || entry >= model->named_count) return (ga_model_entry){NULL, NULL, NULL};
    const ga_element *element = model->named[entry];
    return (ga_model_entry){element->type->section, element->name, element->type->name};
}

int ga_model_entry_limits(const ga_model *model, int entry, int k, ga_model_limits *limits)
{
    static const char *const models[] = {"stop", "buffer"};
    const ga_element *element = model->named[entry];
    const ga_joint *joint = element->type->is_joint ? (const ga_joint *)element : NULL;
    ga_model_limits found = {
        .struct_size = sizeof found, .min = NAN, .max = NAN, .restitution = NAN};
    if (!joint || k < 0 || k >= ga_joint_coordinates(joint)) return -1;
    if (limits->struct_size != sizeof found) return -1;
    const ga_coordinate_type *coordinate = ga_joint_coordinate_type(joint, k);
    const ga_limits *l = &joint->attachment[k].limits;
    found.coordinate = coordinate->name;
    found.unit = coordinate->angular ? "rad" : "m";
    if (l->head.given) {
        const bool stops = l->model == GA_LIMITS_STOP;
        found.model = models[!stops];
        found.min = l->min;
        found.max = l->max;
        if (stops) found.restitution = l->restitution;
    }
    *limits = found;
    return l->head.given;
}

const char *ga_model_entry_body(const ga_model *model, int entry, int k)
{
    const ga_element *element = model->named[entry];
    if (k < 0 || k >= element->node_count) return NULL;
    return element->nodes[k] == GA_GROUND ? "ground" : model->nodes[element->nodes[k]].name;
}
