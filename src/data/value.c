#include "data/value.h"

#include <string.h>

const ga_value *ga_value_get(const ga_value *map, const char *key)
{
    if (map->kind != GA_VALUE_MAP) return NULL;
    for (int k = 0; k < map->count; ++k)
        if (!strcmp(map->entries[k].key, key)) return &map->entries[k].value;
    return NULL;
}

ga_place ga_value_place(const ga_value *value, size_t offset)
{
    ga_place place = value->place;
    if (!value->verbatim || place.line == 0) return place;
    place.column += value->quoted;
    for (size_t k = 0; k < offset && value->text[k]; ++k)
        if (((unsigned char)value->text[k] & 0xC0) != 0x80) ++place.column;
    return place;
}
