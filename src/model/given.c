#include "model/given.h"

static ga_given_level level_of(const ga_element *element)
{
    if (!element->rheonomic) return GA_GIVEN_FORCE;
    return element->speed_rows ? GA_GIVEN_VELOCITY : GA_GIVEN_POSITION;
}

/* Fields for planar and for spatial models may share a member: it counts once. */
static bool is_met(const ga_field *fields, const ga_field *last, size_t offset)
{
    for (const ga_field *f = fields; f < last; ++f) {
        const size_t size = sizeof(ga_function *);
        const size_t count = f->kind == GA_KIND_FUNCTION    ? 1
                             : f->kind == GA_KIND_FUNCTIONS ? 3
                                                            : 0;
        if (offset >= f->offset && offset < f->offset + count * size) return true;
    }
    return false;
}

static ga_given find(const ga_element *element, int k, bool constants)
{
    for (const ga_field *f = element->type->fields; f && f->name; ++f) {
        const bool vector = f->kind == GA_KIND_FUNCTIONS;
        const int count = f->kind == GA_KIND_FUNCTION ? 1 : vector ? 3 : 0;
        for (int c = 0; c < count; ++c) {
            const size_t offset = f->offset + (size_t)c * sizeof(ga_function *);
            const ga_function *function =
                *(ga_function *const *)((const char *)element + offset);
            if (!function || (!constants && ga_function_is_constant(function))) continue;
            if (is_met(element->type->fields, f, offset)) continue;
            if (k-- == 0)
                return (ga_given){element, f, vector ? c : -1, level_of(element), function};
        }
    }
    return (ga_given){.function = NULL};
}

ga_given ga_given_of(const ga_element *element, int k) { return find(element, k, false); }
ga_given ga_given_at_all(const ga_element *element, int k) { return find(element, k, true); }
