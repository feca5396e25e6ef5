/* Messages of elements while they are prepared. */
#include "element/element.h"

#include <string.h>

/* The place of a.b in the element's map, or of what there is of it. */
static ga_place place_of(const ga_setup *setup, const ga_element *element, const char *field)
{
    ga_place place = element->place;
    const ga_value *value = setup->map;
    while (value && value->kind == GA_VALUE_MAP && *field) {
        size_t length = strcspn(field, ".[");
        const ga_value *next = NULL;
        for (int k = 0; k < value->count && !next; ++k)
            if (strlen(value->entries[k].key) == length &&
                strncmp(value->entries[k].key, field, length) == 0)
                next = &value->entries[k].value;
        if (!next) break;
        place = next->place;
        value = next;
        field += length + (field[length] == '.');
    }
    return place;
}

bool ga_element_error(const ga_setup *setup, const void *element, const char *field,
                      const char *text)
{
    ga_place place = place_of(setup, element, field);
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_error(setup->reader, place, "%s", text);
    ga_reader_leave(setup->reader, mark);
    return false;
}

void ga_element_warning(const ga_setup *setup, const void *element, const char *field,
                        const char *text)
{
    ga_place place = place_of(setup, element, field);
    size_t mark = ga_reader_enter(setup->reader, field);
    ga_reader_warning(setup->reader, place, "%s", text);
    ga_reader_leave(setup->reader, mark);
}
