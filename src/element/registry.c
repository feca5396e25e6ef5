/* The types of elements there are: one line each in element.def. */
#include "element/element.h"

#include <string.h>

#define GA_ELEMENT(object) extern const ga_element_type object;
#include "element/element.def"
#undef GA_ELEMENT

const ga_element_type *ga_element_type_get(int k)
{
    static const ga_element_type *const table[] = {
#define GA_ELEMENT(object) &object,
#include "element/element.def"
#undef GA_ELEMENT
    };
    return k >= 0 && k < (int)(sizeof table / sizeof *table) ? table[k] : NULL;
}

const ga_element_type *ga_element_type_find(const char *section, const char *name)
{
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k)
        if (strcmp(type->section, section) == 0 && strcmp(type->name, name) == 0) return type;
    return NULL;
}
