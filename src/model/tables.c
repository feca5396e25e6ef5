#include "model/tables.h"

#include <math.h>
#include <string.h>

const char *const ga_element_sections[] = {"joints", "motions", "forces", NULL};

static bool is_in(const ga_element_type *type, const char *section, int dimension)
{
    if (!type->section || strcmp(type->section, section) != 0) return false;
    return !dimension || type->where == GA_ANYWHERE ||
           (type->where == GA_PLANAR) == (dimension == 2);
}

const ga_element_type *ga_section_type(const char *section, int dimension, int k)
{
    const ga_element_type *type;
    for (int i = 0; (type = ga_element_type_get(i)); ++i)
        if (is_in(type, section, dimension) && k-- == 0) return type;
    return NULL;
}

static void write_numbers(ga_buffer *out, const ga_field *field, int count)
{
    ga_buffer_add(out, "[");
    for (int k = 0; k < count; ++k) {
        if (k) ga_buffer_add(out, ", ");
        ga_buffer_number(out, field->fallback[k < 3 ? k : 2], 6);
    }
    ga_buffer_add(out, "]");
}

bool ga_field_write_default(ga_buffer *out, const ga_field *field, int dimension)
{
    double x = field->fallback[0];
    if (field->required || field->absent || isnan(x)) return false;
    switch (field->kind) {
    case GA_KIND_NUMBER:
    case GA_KIND_INTEGER:
    case GA_KIND_FUNCTION:
        ga_buffer_number(out, x, 6);
        return true;
    case GA_KIND_BOOLEAN:
        ga_buffer_add(out, x > 0 ? "true" : "false");
        return true;
    case GA_KIND_CHOICE:
    case GA_KIND_METHOD:
        ga_buffer_add(out, field->choices[(int)x]);
        return true;
    case GA_KIND_SPIN:
        if (dimension == 2) {
            ga_buffer_number(out, field->fallback[2], 6);
            return true;
        }
        write_numbers(out, field, 3);
        return true;
    case GA_KIND_VECTOR:
    case GA_KIND_PLACE:
    case GA_KIND_DIRECTION:
    case GA_KIND_FUNCTIONS:
        write_numbers(out, field, dimension);
        return true;
    case GA_KIND_NUMBERS:
        write_numbers(out, field, field->count);
        return true;
    default:
        return false;
    }
}
