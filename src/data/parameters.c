/* Parameters: numbers or expressions over other parameters, in any order.
 *
 * Each expression is compiled twice: once to learn which parameters it uses, and, when those
 * are known, to learn its value. In between they are sorted; the search keeps its own stack,
 * because a chain of dependence may be as long as the file.
 */
#include "base/memory.h"
#include "base/report.h"
#include "data/load.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef enum state { NEW, OPEN, DONE } state;

typedef struct sorter {
    ga_loader *loader;
    const ga_value *map;
    state *states;
    int *first;          /* of each parameter, in `uses`; one more at the end */
    int *uses, capacity; /* indices of parameters */
    int *stack, *next;   /* being visited, and which of its uses comes next */
    bool *is_bad;        /* reported already */
    bool out_of_memory;
    int count;
} sorter;

/* A parameter with an error counts as 1, which is harmless in most places, so that what uses it
 * is not blamed as well. */
static const double stand_in = 1;

static void add_use(sorter *s, int k)
{
    const int n = s->first[s->count];
    if (n == s->capacity) {
        const int larger = s->capacity ? 2 * s->capacity : 64;
        int *copy = GA_NEW(int, larger);
        if (!copy) {
            s->out_of_memory = true;
            return;
        }
        if (n) memcpy(copy, s->uses, (size_t)n * sizeof *copy);
        ga_free(s->uses);
        s->uses = copy;
        s->capacity = larger;
    }
    s->uses[s->first[s->count]++] = k;
}

/* Parameters are variables here: their values are not known. */
static ga_symbol find_parameter(void *user, const char *name, size_t length)
{
    sorter *s = user;
    const int k = ga_names_find(&s->loader->document->parameter_names, name, length);
    if (k < 0) return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
    add_use(s, k);
    return (ga_symbol){GA_SYMBOL_VARIABLE, 0, 0};
}

/* Which parameters number k uses. */
static void find_uses(sorter *s, int k)
{
    ga_reader *reader = &s->loader->reader;
    const ga_entry *entry = &s->map->entries[k];
    const ga_symbols symbols = {.user = s, .find = find_parameter};
    const size_t mark = ga_reader_enter(reader, entry->key);
    ga_expression *expression = NULL;
    s->count = k + 1;
    s->first[k + 1] = s->first[k];
    if (!ga_check_name(reader, entry->place, "a parameter", entry->key) ||
        !ga_read_expression(reader, &entry->value, &symbols, &expression)) {
        s->is_bad[k] = true;
        s->first[k + 1] = s->first[k];
    }
    ga_expression_destroy(expression);
    ga_reader_leave(reader, mark);
}

/* "a -> b -> a": what is on the stack from k on. */
static void report_cycle(sorter *s, int depth, int k)
{
    const ga_parameter *p = s->loader->document->parameters;
    char text[320];
    int from = depth - 1;
    while (s->stack[from] != k) --from;
    size_t used = 0;
    for (int i = from; i < depth && used < sizeof text; ++i)
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s -> ", p[s->stack[i]].name);
    if (used < sizeof text)
        snprintf(text + used, sizeof text - used, "%s", p[k].name);
    else
        memcpy(text + sizeof text - 4, "...", 4);
    const size_t mark = ga_reader_enter(&s->loader->reader, p[k].name);
    ga_reader_error(&s->loader->reader, p[k].place, "circular definition of parameters: %s",
                    text);
    ga_reader_leave(&s->loader->reader, mark);
    for (int i = from; i < depth; ++i) s->is_bad[s->stack[i]] = true;
}

static void evaluate(sorter *s, int k)
{
    ga_reader *reader = &s->loader->reader;
    const ga_entry *entry = &s->map->entries[k];
    for (int i = s->first[k]; i < s->first[k + 1]; ++i)
        if (s->is_bad[s->uses[i]]) s->is_bad[k] = true;
    if (!s->is_bad[k]) {
        const size_t mark = ga_reader_enter(reader, entry->key);
        s->is_bad[k] =
            !ga_read_number(reader, &entry->value, &s->loader->document->parameters[k].value);
        ga_reader_leave(reader, mark);
    }
    if (s->is_bad[k]) s->loader->document->parameters[k].value = stand_in;
}

/* Depth first: what a parameter uses, then itself. */
static void visit(sorter *s, int start)
{
    int depth = 0;
    if (s->states[start] != NEW) return;
    s->stack[depth] = start;
    s->next[depth++] = s->first[start];
    s->states[start] = OPEN;
    while (depth > 0) {
        const int k = s->stack[depth - 1];
        if (s->next[depth - 1] == s->first[k + 1]) {
            evaluate(s, k);
            s->states[k] = DONE;
            --depth;
            continue;
        }
        const int used = s->uses[s->next[depth - 1]++];
        if (s->states[used] == OPEN) report_cycle(s, depth, used);
        if (s->states[used] != NEW) continue;
        s->states[used] = OPEN;
        s->stack[depth] = used;
        s->next[depth++] = s->first[used];
    }
}

static ga_status fill(sorter *s)
{
    ga_document *d = s->loader->document;
    for (int k = 0; k < s->map->count; ++k) {
        const ga_entry *entry = &s->map->entries[k];
        d->parameters[k] = (ga_parameter){.name = entry->key,
                                          .value = stand_in,
                                          .place = entry->place,
                                          .set = ga_is_set(entry->value.place),
                                          .added = ga_is_set(entry->place)};
        GA_TRY(ga_names_put(&d->parameter_names, entry->key, strlen(entry->key), k));
    }
    d->parameter_count = s->map->count;
    for (int k = 0; k < s->map->count; ++k) find_uses(s, k);
    if (s->out_of_memory || s->loader->reader.out_of_memory) return GA_ERR_MEMORY;
    for (int k = 0; k < s->map->count; ++k) visit(s, k);
    return s->loader->reader.out_of_memory ? GA_ERR_MEMORY : GA_OK;
}

static ga_status sort_and_evaluate(ga_loader *loader, const ga_value *map)
{
    const int n = map->count;
    sorter s = {.loader = loader, .map = map};
    s.states = GA_NEW(state, n);
    s.first = GA_NEW(int, n + 1);
    s.stack = GA_NEW(int, n);
    s.next = GA_NEW(int, n);
    s.is_bad = GA_NEW(bool, n);
    loader->document->parameters = GA_ARENA_NEW(&loader->document->arena, ga_parameter, n);
    ga_status status = GA_ERR_MEMORY;
    if (s.states && s.first && s.stack && s.next && s.is_bad && loader->document->parameters)
        status = fill(&s);
    ga_free(s.states);
    ga_free(s.first);
    ga_free(s.uses);
    ga_free(s.stack);
    ga_free(s.next);
    ga_free(s.is_bad);
    return status;
}

/* --- after reading ------------------------------------------------------------------------ */

static const char *used_name(void *user, int k)
{
    const ga_document *d = user;
    for (int i = 0; i < d->parameter_count; ++i)
        if (d->parameters[i].used && k-- == 0) return d->parameters[i].name;
    return NULL;
}

void ga_check_set_parameters(ga_reader *reader)
{
    const ga_document *d = reader->document;
    for (int k = 0; k < d->parameter_count; ++k) {
        const ga_parameter *p = d->parameters + k;
        if (!p->set || p->used) continue;
        const char *near = ga_suggest(p->name, (void *)(uintptr_t)d, used_name);
        const size_t mark = ga_reader_enter(reader, "parameters");
        ga_reader_enter(reader, p->name);
        if (near)
            ga_reader_error(reader, ga_place_of_set,
                            "no expression uses `%.80s`, did you mean `%.80s`?", p->name, near);
        else
            ga_reader_error(reader, ga_place_of_set,
                            "no expression uses `%.80s`, so its value would have no effect%s",
                            p->name, p->added ? "; the model has no such parameter" : "");
        ga_reader_leave(reader, mark);
    }
}

ga_status ga_load_parameters(ga_loader *loader)
{
    const ga_value *map = ga_value_get(&loader->document->root, "parameters");
    if (!map || map->kind == GA_VALUE_NULL) return GA_OK;
    ga_status status = GA_OK;
    const size_t mark = ga_reader_enter(&loader->reader, "parameters");
    if (map->kind == GA_VALUE_MAP) {
        status = sort_and_evaluate(loader, map);
    } else {
        char got[96];
        ga_reader_error(&loader->reader, map->place,
                        "expected a map from names to numbers, got %s",
                        ga_value_describe(map, got, sizeof got));
    }
    ga_reader_leave(&loader->reader, mark);
    return status;
}
