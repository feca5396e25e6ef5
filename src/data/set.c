/* --set PATH=VALUE: one value of the tree replaced, added, or removed by `null`.
 *
 *     simulate.step=1e-4     bodies.top.position[2]=3     repeat.0.count=40
 *     simulate.step=null
 *
 * Names may hold dots, brackets and equal signs themselves: at each map, the longest key that
 * is there and fits is taken. A name in backquotes is taken as it stands. VALUE is YAML.
 * Entries may be shared with an alias elsewhere, so those on the way are copied first.
 */
#include "base/messages.h"
#include "base/report.h"
#include "data/load.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const ga_place ga_place_of_set = {"--set", 0, 0};

bool ga_is_set(ga_place place)
{
    return place.file && strcmp(place.file, ga_place_of_set.file) == 0;
}

typedef struct step {
    const char *start; /* of the name */
    size_t length;
    const char *next; /* the mark behind it: one of . [ = or the end */
} step;

__attribute__((format(printf, 3, 4))) static ga_status
refuse(ga_loader *loader, const char *argument, const char *format, ...)
{
    char text[320];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ga_reader_error(&loader->reader, ga_place_of_set, "`%.160s`: %s", argument, text);
    return GA_OK;
}

static bool is_mark(char c) { return c == 0 || c == '.' || c == '[' || c == '='; }

static step name_step(const char *at)
{
    if (*at == '`') {
        const char *end = strchr(at + 1, '`');
        if (end && is_mark(end[1])) return (step){at + 1, (size_t)(end - at - 1), end + 1};
    }
    const size_t n = strcspn(at, ".[=");
    return (step){at, n, at + n};
}

/* The entry of a map that the path goes on with; -1: none, and the step is what was asked. */
static int find_in_map(const ga_value *map, const char *at, step *s)
{
    int best = -1;
    *s = name_step(at);
    for (int k = 0; k < map->count; ++k) {
        const char *key = map->entries[k].key;
        const size_t n = strlen(key);
        if (*at == '`' && s->start > at) {
            if (n == s->length && !memcmp(key, s->start, n)) return k;
        } else if (!strncmp(at, key, n) && is_mark(at[n]) && (best < 0 || n > s->length)) {
            best = k;
            *s = (step){at, n, at + n};
        }
    }
    return best;
}

/* The same for a list: 2 or [2]. */
static int find_in_list(const ga_value *list, const char *at, step *s)
{
    char *end;
    const bool bracket = *at == '[';
    *s = (step){at, strcspn(at + bracket, ".[=") + bracket, NULL};
    s->next = at + s->length;
    if (at[bracket] < '0' || at[bracket] > '9') return -1;
    const long k = strtol(at + bracket, &end, 10);
    if (bracket && *end++ != ']') return -1;
    if (!is_mark(*end) || k >= list->count) return -1;
    s->next = end;
    return (int)k;
}

/* Gives a value its own entries, with room for more. */
static ga_status copy_entries(ga_loader *loader, ga_value *value, int more)
{
    ga_entry *copy = GA_ARENA_NEW(&loader->document->arena, ga_entry, value->count + more);
    if (!copy) return GA_ERR_MEMORY;
    if (value->count) memcpy(copy, value->entries, (size_t)value->count * sizeof *copy);
    value->entries = copy;
    return GA_OK;
}

/* A new key: the last of the path, or a map at the top such as `output`. */
static ga_status add_key(ga_loader *loader, ga_value *map, const step *s, ga_value **added)
{
    GA_TRY(copy_entries(loader, map, 1));
    char *key = ga_arena_text_n(&loader->document->arena, s->start, s->length);
    if (!key) return GA_ERR_MEMORY;
    ga_entry *entry = &map->entries[map->count++];
    *entry =
        (ga_entry){key, ga_place_of_set, {.kind = GA_VALUE_NULL, .place = ga_place_of_set}};
    *added = &entry->value;
    return GA_OK;
}

static ga_status assign(ga_loader *loader, const char *argument, const char *text,
                        ga_value *value)
{
    const ga_yaml_source source = {ga_place_of_set.file, text, strlen(text), true};
    ga_reader *reader = &loader->reader;
    const int before = reader->errors;
    snprintf(reader->path, sizeof reader->path, "%.*s", (int)(text - argument - 1), argument);
    ga_value parsed;
    const ga_status status = ga_yaml_parse(reader, &source, &loader->budget, &parsed);
    ga_reader_leave(reader, 0);
    if (status == GA_OK && reader->errors == before) *value = parsed;
    return status == GA_ERR_INPUT ? GA_OK : status;
}

/* Takes the entry out of its map or list, whose entries are its own by now. */
static void remove_entry(ga_value *parent, const ga_value *value)
{
    int k = 0;
    while (k < parent->count && &parent->entries[k].value != value) ++k;
    if (k == parent->count) return;
    --parent->count;
    memmove(parent->entries + k, parent->entries + k + 1,
            (size_t)(parent->count - k) * sizeof *parent->entries);
}

static ga_status refuse_unknown(ga_loader *loader, const char *argument, ga_value *map,
                                const step *s)
{
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)(s->length < 80 ? s->length : 80), s->start);
    const char *near =
        ga_messages_full(loader->reader.messages) ? NULL : ga_suggest(name, map, ga_map_key);
    const int parent = (int)(s->start - argument);
    if (near)
        return refuse(loader, argument, "there is no `%s`; did you mean `%.80s`?", name, near);
    if (parent == 0) return refuse(loader, argument, "there is no `%s` in the model", name);
    return refuse(loader, argument, "there is no `%s` in `%.*s`", name,
                  parent > 80 ? 80 : parent - 1, argument);
}

/* What follows a path that is to be removed. */
static bool is_removal(const char *at)
{
    return strcmp(at, "=null") == 0 || strcmp(at, "=~") == 0;
}

/* Whether the path up to here is that of a section of named entries. */
static bool is_in_named_section(const char *argument, const step *s)
{
    static const char *const sections[] = {"bodies.", "joints.", "motions.", "forces.",
                                           "parameters."};
    const size_t before = (size_t)(s->start - argument) - (s->start[-1] == '`');
    for (size_t k = 0; k < sizeof sections / sizeof *sections; ++k)
        if (before == strlen(sections[k]) && strncmp(argument, sections[k], before) == 0)
            return true;
    return false;
}

/* Removal of what is not there: fine. A name much like one that is there is a warning; a key
 * much like one that is there, a misspelt one. */
static ga_status remove_absent(ga_loader *loader, const char *argument, ga_value *map,
                               const step *s, const char *name)
{
    const char *near =
        ga_messages_full(loader->reader.messages) ? NULL : ga_suggest(name, map, ga_map_key);
    if (!near) return GA_OK;
    if (s->start == argument || !is_in_named_section(argument, s))
        return refuse_unknown(loader, argument, map, s);
    ga_reader_warning(&loader->reader, ga_place_of_set,
                      "`%.160s`: nothing to remove, there is no `%s`; did you mean `%.80s`?",
                      argument, name, near);
    return GA_OK;
}

/* One step down a map. `down` stays null after an error. */
static ga_status step_into_map(ga_loader *loader, const char *argument, ga_value *map,
                               const char **at, ga_value **down)
{
    step s;
    const int k = find_in_map(map, *at, &s);
    const bool at_top = map == &loader->document->root;
    *at = s.next;
    if (k >= 0) {
        GA_TRY(copy_entries(loader, map, 0));
        *down = &map->entries[k].value;
        return GA_OK;
    }
    if (s.length == 0) return refuse(loader, argument, "a name is missing in the path");
    if (*s.next == 0) return refuse(loader, argument, "expected PATH=VALUE");
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)(s.length < 80 ? s.length : 80), s.start);
    const bool is_last = *s.next == '=';
    if (is_removal(s.next)) return remove_absent(loader, argument, map, &s, name);
    if (is_last || (at_top && *s.next == '.' && !ga_suggest(name, map, ga_map_key)))
        return add_key(loader, map, &s, down);
    return refuse_unknown(loader, argument, map, &s);
}

static ga_status step_into_list(ga_loader *loader, const char *argument, ga_value *list,
                                const char **at, ga_value **down)
{
    step s;
    const int k = find_in_list(list, *at, &s);
    *at = s.next;
    if (k < 0)
        return refuse(loader, argument,
                      "`%.*s` is not an index of the list, which has %d items%s",
                      (int)(s.length < 80 ? s.length : 80), s.start, list->count,
                      list->count ? ", the first is [0]" : "");
    GA_TRY(copy_entries(loader, list, 0));
    *down = &list->entries[k].value;
    return GA_OK;
}

static ga_status step_down(ga_loader *loader, const char *argument, const char **at,
                           ga_value *value, ga_value **down)
{
    *down = NULL;
    if (value->kind == GA_VALUE_LIST) return step_into_list(loader, argument, value, at, down);
    if (value->kind == GA_VALUE_NULL && **at != '[') {
        value->kind = GA_VALUE_MAP; /* an empty section, or one just added */
        value->count = 0;
    }
    if (value->kind == GA_VALUE_MAP && **at != '[')
        return step_into_map(loader, argument, value, at, down);
    char got[96];
    const int n = (int)(*at - argument);
    return refuse(loader, argument, "`%.*s` is %s and has no members to set",
                  n > 80 ? 80 : n - (n && (*at)[-1] == '.'), argument,
                  ga_value_describe(value, got, sizeof got));
}

ga_status ga_load_set(ga_loader *loader, const char *argument)
{
    ga_value *value = &loader->document->root;
    const char *at = argument;
    if (ga_yaml_check_text(argument, strlen(argument)).problem) {
        ga_reader_error(&loader->reader, ga_place_of_set, "an argument that is not UTF-8 text");
        return GA_OK;
    }
    if (!strchr(argument, '='))
        return refuse(loader, argument, "expected PATH=VALUE, such as simulate.step=1e-4");
    if (!strncmp(argument, "include=", 8) || !strncmp(argument, "include[", 8))
        return refuse(loader, argument, "`include` cannot be set");
    for (;;) {
        ga_value *down, *parent = value;
        GA_TRY(step_down(loader, argument, &at, value, &down));
        if (!down) return GA_OK;
        value = down;
        if (is_removal(at)) {
            remove_entry(parent, value);
            return GA_OK;
        }
        if (*at == '=') return assign(loader, argument, at + 1, value);
        if (*at == 0) return refuse(loader, argument, "expected PATH=VALUE");
        if (*at == '.') ++at;
    }
}
