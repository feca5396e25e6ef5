/* Reading maps by their tables of fields. */
#include "model/build.h"

#include <math.h>
#include <string.h>

static const ga_field *find(const ga_field *fields, const char *name, int dimension)
{
    for (; fields->name; ++fields)
        if (strcmp(fields->name, name) == 0 && ga_field_is_in(fields, dimension)) return fields;
    return NULL;
}

static bool is_in_list(const char *const *list, const char *word)
{
    for (; list && *list; ++list)
        if (strcmp(*list, word) == 0) return true;
    return false;
}

/* Keys that may stand in a map: those of fields, then others (may be null). */
typedef struct field_names {
    const ga_field *fields;
    int dimension;
    const char *const *also;
} field_names;

static const char *field_name(void *user, int k)
{
    const field_names *names = user;
    for (const ga_field *f = names->fields; f->name; ++f)
        if (ga_field_is_in(f, names->dimension) && k-- == 0) return f->name;
    for (const char *const *word = names->also; word && *word; ++word)
        if (k-- == 0) return *word;
    return NULL;
}

/* The section that a key at the top belongs in; null: none. */
static const char *section_of(const ga_builder *b, const char *key, const ga_field *fields)
{
    const ga_document *document = b->reader.document;
    if (fields != ga_head_fields) return NULL;
    for (int k = 0; k < document->parameter_count; ++k)
        if (strcmp(document->parameters[k].name, key) == 0) return "parameters";
    if (find(ga_simulate_fields, key, b->model->dimension)) return "simulate";
    return find(ga_output_fields, key, b->model->dimension) ? "output" : NULL;
}

static bool unknown_key(ga_builder *b, const ga_entry *entry, const ga_field *fields,
                        const char *const *also)
{
    int dimension = b->model->dimension;
    const char *section = section_of(b, entry->key, fields);
    if (section)
        return ga_reader_error(&b->reader, entry->place,
                               "unknown key `%s`, did you mean `%s.%s`?", entry->key, section,
                               entry->key);
    if (find(fields, entry->key, dimension == 2 ? 3 : 2))
        return ga_reader_error(&b->reader, entry->place,
                               "`%s` does not exist in models with `dimension: %d`", entry->key,
                               dimension);
    if (*entry->key && entry->key[strspn(entry->key, "0123456789")] == '\0')
        return ga_reader_error(&b->reader, entry->place,
                               "unknown key `%s`: a comma separates entries; decimals are "
                               "written with a point, 0.5",
                               entry->key);
    field_names names = {fields, dimension, also};
    const char *near = ga_suggest(entry->key, &names, field_name);
    if (near)
        return ga_reader_error(&b->reader, entry->place, "unknown key `%s`, did you mean `%s`?",
                               entry->key, near);
    char list[200];
    size_t used = 0;
    for (int k = 0; field_name(&names, k) && used < 160; ++k) {
        const char *name = field_name(&names, k);
        size_t length = strlen(name) > 30 ? 30 : strlen(name);
        if (k) {
            memcpy(list + used, ", ", 2);
            used += 2;
        }
        memcpy(list + used, name, length);
        used += length;
    }
    list[used] = '\0';
    return ga_reader_error(&b->reader, entry->place, "unknown key `%s`, expected one of: %s",
                           entry->key, list);
}

static bool constant_fallback(ga_builder *b, const ga_field *field, void *out)
{
    if (field->kind != GA_KIND_FUNCTION || isnan(field->fallback[0]) || field->required ||
        field->fallback[0] == 0)
        return true;
    if (ga_function_constant(field->fallback[0], out) == GA_OK) return true;
    b->reader.out_of_memory = true;
    return false;
}

bool ga_build_defaults(ga_builder *b, const ga_field *fields, void *out)
{
    bool good = true;
    for (const ga_field *f = fields; f->name; ++f) {
        char *member = (char *)out + f->offset;
        if (!ga_field_is_in(f, b->model->dimension)) {
            /* A field of the other dimension may share its member with one that is here. */
            bool shared = false;
            for (const ga_field *g = fields; g->name; ++g)
                shared = shared || (g != f && ga_field_is_in(g, b->model->dimension) &&
                                    strcmp(g->name, f->name) == 0);
            if (shared) continue;
        }
        if (f->kind == GA_KIND_GROUP)
            good = ga_build_defaults(b, f->group, member) && good;
        else
            ga_kind_get(f->kind)->fallback(f, member);
        good = constant_fallback(b, f, member) && good;
    }
    return good;
}

/* Whether an unknown key was answered with "did you mean `name`?", so that the key itself need
 * not be asked for. */
static bool is_misspelt(const ga_value *map, field_names *names, const char *name)
{
    for (int k = 0; k < map->count; ++k) {
        const char *key = map->entries[k].key;
        if (find(names->fields, key, names->dimension) || is_in_list(names->also, key))
            continue;
        const char *near = ga_suggest(key, names, field_name);
        if (near && strcmp(near, name) == 0) return true;
    }
    return false;
}

static bool check_required(ga_builder *b, const ga_value *map, const ga_field *fields,
                           const char *const *also)
{
    bool good = true;
    field_names names = {fields, b->model->dimension, also};
    for (const ga_field *f = fields; f->name; ++f)
        if (f->required && ga_field_is_in(f, b->model->dimension) &&
            !ga_value_get(map, f->name) && !is_misspelt(map, &names, f->name))
            good = ga_reader_error(&b->reader, map->place, "needs `%s`%s%s%s%s", f->name,
                                   strcmp(f->name, f->help) ? ": " : "",
                                   strcmp(f->name, f->help) ? f->help : "",
                                   f->unit ? ", in " : "", f->unit ? f->unit : "");
    return good;
}

bool ga_build_fields(ga_builder *b, const ga_value *map, const ga_field *fields,
                     const char *const *also, void *out)
{
    if (!ga_build_defaults(b, fields, out)) return false;
    if (map->kind != GA_VALUE_MAP) {
        char buffer[80];
        return ga_reader_error(&b->reader, map->place, "got %s, expected a map, {%s: ...}",
                               ga_value_describe(map, buffer, sizeof buffer), fields->name);
    }
    bool good = true;
    for (int k = 0; k < map->count; ++k) {
        const ga_entry *entry = map->entries + k;
        if (is_in_list(also, entry->key)) continue;
        size_t here = ga_reader_enter(&b->reader, entry->key);
        const ga_field *field = find(fields, entry->key, b->model->dimension);
        bool read = field ? ga_kind_get(field->kind)
                                ->read(b, &entry->value, field, (char *)out + field->offset)
                          : unknown_key(b, entry, fields, also);
        good = read && good;
        ga_reader_leave(&b->reader, here);
    }
    return check_required(b, map, fields, also) && good;
}

void ga_build_release(const ga_field *fields, void *out)
{
    for (const ga_field *f = fields; f && f->name; ++f) {
        void *member = (char *)out + f->offset;
        int count = f->kind == GA_KIND_FUNCTION ? 1 : f->kind == GA_KIND_FUNCTIONS ? 3 : 0;
        for (int k = 0; k < count; ++k) {
            ga_function_destroy(((ga_function **)member)[k]);
            ((ga_function **)member)[k] = NULL; /* planar and spatial fields may share it */
        }
        if (f->kind == GA_KIND_GROUP) ga_build_release(f->group, member);
    }
}
