#include "base/arrays.h"

#include "base/memory.h"

typedef void *allocate(size_t count, size_t size);

static bool create(size_t groups, const ga_arrays *list, allocate *take)
{
    for (const ga_arrays *g = list; g < list + groups; ++g)
        for (double **const *to = g->array; to < g->array + GA_ARRAYS_MOST && *to; ++to) {
            **to = take((size_t)g->length, sizeof(double));
            if (!**to) return false;
        }
    return true;
}

bool ga_arrays_create(size_t groups, const ga_arrays *list)
{
    return create(groups, list, ga_alloc);
}

bool ga_arrays_create_whole(size_t groups, const ga_arrays *list)
{
    return create(groups, list, ga_alloc_whole);
}

bool ga_arrays_destroy(size_t groups, const ga_arrays *list)
{
    for (const ga_arrays *g = list; g < list + groups; ++g)
        for (double **const *to = g->array; to < g->array + GA_ARRAYS_MOST && *to; ++to) {
            ga_free(**to);
            **to = NULL;
        }
    return true;
}

size_t ga_arrays_place(size_t groups, const ga_arrays *list, double *memory)
{
    size_t used = 0;
    for (const ga_arrays *g = list; g < list + groups; ++g)
        for (double **const *to = g->array; to < g->array + GA_ARRAYS_MOST && *to; ++to) {
            **to = memory ? memory + used : NULL;
            used += (size_t)g->length;
        }
    return used;
}
