#include "data/value.h"

#include <string.h>

const ga_value *ga_value_get(const ga_value *map, const char *key)
{
    if (map->kind != GA_VALUE_MAP) return NULL;
    for (int k = 0; k < map->count; ++k)
        if (!strcmp(map->entries[k].key, key)) return &map->entries[k].value;
    return NULL;
}
