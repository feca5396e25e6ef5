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
    return model->bodies[body].name;
}
