/* Models made by a program: the same tree of values as from a file, so that the same reader
 * finds the same mistakes. Numbers become text that reads back as the same bits.
 *
 * While it grows, a section's entries are an array of its own; what is in an entry goes to the
 * document's arena at once. Duplicates and texts that hold lists or maps are looked at in the
 * end, because only then there is somebody to tell.
 */
#include "base/buffer.h"
#include "base/memory.h"
#include "base/messages.h"
#include "base/names.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "data/load.h"
#include "data/yaml.h"
#include "model/build.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { NUMBER_SIZE = 32, EXACT_DIGITS = 17 };

/* A map that grows. */
typedef struct section {
    const char *name;
    ga_entry *entries;
    int count, capacity;
} section;

struct ga_draft {
    ga_document *document;
    section top; /* keys that are no sections */
    section *sections;
    int count, capacity;
    /* remembered: whoever did not look at add finds out at the end */
    bool out_of_memory;
    size_t wrong_size; /* of a property; 0: none */
};

/* --- growing ------------------------------------------------------------------------------ */

ga_draft *ga_draft_create(void)
{
    ga_draft *draft = GA_NEW(ga_draft, 1);
    if (!draft) return NULL;
    draft->document = GA_NEW(ga_document, 1);
    if (!draft->document) {
        ga_free(draft);
        return NULL;
    }
    draft->document->name = "model";
    draft->document->folder = "";
    draft->document->text = "";
    return draft;
}

void ga_draft_destroy(ga_draft *draft)
{
    if (!draft) return;
    for (int k = 0; k < draft->count; ++k) ga_free(draft->sections[k].entries);
    ga_free(draft->sections);
    ga_free(draft->top.entries);
    ga_document_destroy(draft->document);
    ga_free(draft);
}

/* An array with room for one more. */
static ga_status grow(void **array, int count, int *capacity, size_t size)
{
    if (count < *capacity) return GA_OK;
    if (*capacity > INT_MAX / 2) return GA_ERR_MEMORY;
    const int larger = *capacity ? 2 * *capacity : 8;
    void *copy = ga_alloc((size_t)larger, size);
    if (!copy) return GA_ERR_MEMORY;
    if (count) memcpy(copy, *array, (size_t)count * size);
    ga_free(*array);
    *array = copy;
    *capacity = larger;
    return GA_OK;
}

static ga_status append(section *s, const ga_entry *entry)
{
    void *entries = s->entries;
    GA_TRY(grow(&entries, s->count, &s->capacity, sizeof *s->entries));
    s->entries = entries;
    s->entries[s->count++] = *entry;
    return GA_OK;
}

/* --- values ------------------------------------------------------------------------------- */

static ga_status copy_text(ga_arena *arena, const char *text, ga_value *value)
{
    if (!text) return GA_OK; /* nothing, as null in a file */
    value->kind = GA_VALUE_SCALAR;
    value->text = ga_arena_text(arena, text);
    return value->text ? GA_OK : GA_ERR_MEMORY;
}

static ga_status copy_number(ga_arena *arena, double x, ga_value *value)
{
    char text[NUMBER_SIZE];
    if (!isfinite(x)) return copy_text(arena, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf", value);
    ga_number_write(x, EXACT_DIGITS, text, sizeof text);
    return copy_text(arena, text, value);
}

static ga_status copy_item(ga_arena *arena, const ga_property *p, int k, ga_value *value)
{
    return p->numbers ? copy_number(arena, p->numbers[k], value)
                      : copy_text(arena, p->texts[k], value);
}

static ga_status copy_list(ga_arena *arena, const ga_property *p, ga_value *value)
{
    value->kind = GA_VALUE_LIST;
    value->entries = GA_ARENA_NEW(arena, ga_entry, p->count);
    if (!value->entries) return GA_ERR_MEMORY;
    value->count = p->count;
    for (int k = 0; k < p->count; ++k) GA_TRY(copy_item(arena, p, k, &value->entries[k].value));
    return GA_OK;
}

static ga_status copy_map(ga_arena *arena, const ga_property *properties, ga_value *map);

static ga_status copy_property(ga_arena *arena, const ga_property *p, ga_entry *entry)
{
    *entry = (ga_entry){.key = ga_arena_text(arena, p->name)};
    if (!entry->key) return GA_ERR_MEMORY;
    if (p->properties) return copy_map(arena, p->properties, &entry->value);
    if (!p->numbers && !p->texts) return GA_OK;
    if (p->count < -1) return GA_ERR_ARGUMENT;
    return p->count < 0 ? copy_item(arena, p, 0, &entry->value)
                        : copy_list(arena, p, &entry->value);
}

/* By its first: what has another size cannot be counted. */
static bool is_known(const ga_property *list)
{
    return !list || list->struct_size == sizeof *list || (!list->struct_size && !list->name);
}

static ga_status copy_map(ga_arena *arena, const ga_property *properties, ga_value *map)
{
    int count = 0;
    if (!is_known(properties)) return GA_ERR_ARGUMENT;
    while (properties && properties[count].name) ++count;
    map->kind = GA_VALUE_MAP;
    map->entries = GA_ARENA_NEW(arena, ga_entry, count);
    if (!map->entries) return GA_ERR_MEMORY;
    for (; map->count < count; ++map->count)
        GA_TRY(copy_property(arena, properties + map->count, map->entries + map->count));
    return GA_OK;
}

/* --- adding ------------------------------------------------------------------------------- */

static section *find_section(ga_draft *draft, const char *name)
{
    for (int k = 0; k < draft->count; ++k)
        if (strcmp(draft->sections[k].name, name) == 0) return draft->sections + k;
    void *sections = draft->sections;
    if (grow(&sections, draft->count, &draft->capacity, sizeof *draft->sections) != GA_OK)
        return NULL;
    draft->sections = sections;
    section *s = draft->sections + draft->count;
    *s = (section){.name = ga_arena_text(&draft->document->arena, name)};
    if (!s->name) return NULL;
    ++draft->count;
    return s;
}

static ga_status add_property(ga_draft *draft, section *s, const ga_property *property)
{
    ga_entry entry;
    GA_TRY(copy_property(&draft->document->arena, property, &entry));
    return append(s, &entry);
}

static ga_status add_to_section(ga_draft *draft, const char *in, const char *name,
                                const ga_property *properties)
{
    section *s = find_section(draft, in);
    if (!s) return GA_ERR_MEMORY;
    if (!name) {
        for (; properties && properties->name; ++properties)
            GA_TRY(add_property(draft, s, properties));
        return GA_OK;
    }
    ga_entry entry = {.key = ga_arena_text(&draft->document->arena, name)};
    if (!entry.key) return GA_ERR_MEMORY;
    GA_TRY(copy_map(&draft->document->arena, properties, &entry.value));
    return append(s, &entry);
}

static ga_status remember(ga_draft *draft, ga_status status)
{
    if (status == GA_ERR_MEMORY) draft->out_of_memory = true;
    return status;
}

static bool is_expected(ga_draft *draft, const ga_property *list)
{
    if (is_known(list)) return true;
    draft->wrong_size = list->struct_size;
    return false;
}

ga_status ga_draft_add(ga_draft *draft, const char *in, const char *name,
                       const ga_property *properties)
{
    if (!draft) return GA_ERR_MEMORY;
    if (!in || !is_expected(draft, properties)) return GA_ERR_ARGUMENT;
    return remember(draft, add_to_section(draft, in, name, properties));
}

ga_status ga_draft_set(ga_draft *draft, const ga_property *property)
{
    if (!draft) return GA_ERR_MEMORY;
    if (!property || !is_expected(draft, property) || !property->name) return GA_ERR_ARGUMENT;
    return remember(draft, add_property(draft, &draft->top, property));
}

/* --- finishing ---------------------------------------------------------------------------- */

/* A list or a map that was given as text. */
static ga_status parse_text(ga_reader *reader, ga_value *value)
{
    if (value->kind != GA_VALUE_SCALAR || (value->text[0] != '{' && value->text[0] != '['))
        return GA_OK;
    const ga_yaml_source source = {NULL, value->text, strlen(value->text), true};
    long budget = LONG_MAX;
    ga_value parsed = {0};
    const ga_status status = ga_yaml_parse(reader, &source, &budget, &parsed);
    if (status == GA_OK) *value = parsed;
    return status == GA_ERR_INPUT ? GA_OK : status; /* the reader counts what is wrong */
}

/* Leaves out what is given a second time, and says so. */
static ga_status drop_duplicates(ga_reader *reader, ga_value *map)
{
    ga_names names = {0};
    ga_status status = GA_OK;
    int kept = 0;
    for (int k = 0; k < map->count && status == GA_OK; ++k) {
        const ga_entry entry = map->entries[k];
        const size_t length = strlen(entry.key);
        if (ga_names_find(&names, entry.key, length) >= 0) {
            ga_reader_error(reader, entry.place, "`%.80s` is given twice", entry.key);
            continue;
        }
        status = ga_names_put(&names, entry.key, length, k);
        map->entries[kept++] = entry;
    }
    ga_names_free(&names);
    map->count = kept;
    return status;
}

/* Nothing to do for most maps: they are small, and comparing them costs no memory. */
static bool has_duplicates(const ga_value *map)
{
    enum { FEW = 12 };
    if (map->count > FEW) return true; /* perhaps */
    for (int k = 0; k < map->count; ++k)
        for (int i = 0; i < k; ++i)
            if (strcmp(map->entries[i].key, map->entries[k].key) == 0) return true;
    return false;
}

/* As deep as the caller's properties. */
static ga_status complete(ga_reader *reader, ga_value *value)
{
    if (value->kind != GA_VALUE_MAP && value->kind != GA_VALUE_LIST)
        return parse_text(reader, value);
    if (value->kind == GA_VALUE_MAP && has_duplicates(value))
        GA_TRY(drop_duplicates(reader, value));
    for (int k = 0; k < value->count; ++k) {
        ga_entry *entry = value->entries + k;
        const size_t here =
            entry->key ? ga_reader_enter(reader, entry->key) : ga_reader_enter_item(reader, k);
        const ga_status status = complete(reader, &entry->value);
        ga_reader_leave(reader, here);
        GA_TRY(status);
    }
    return GA_OK;
}

/* Entries move to the document. */
static ga_status settle(ga_arena *arena, const section *s, ga_entry *entry)
{
    *entry = (ga_entry){.key = s->name};
    entry->value.kind = GA_VALUE_MAP;
    entry->value.entries = GA_ARENA_NEW(arena, ga_entry, s->count);
    if (!entry->value.entries) return GA_ERR_MEMORY;
    entry->value.count = s->count;
    if (s->count)
        memcpy(entry->value.entries, s->entries, (size_t)s->count * sizeof *s->entries);
    return GA_OK;
}

/* The format is the one of this version, unless the program says otherwise. */
static ga_entry format_entry(void)
{
    return (ga_entry){.key = "galpha", .value = {.kind = GA_VALUE_SCALAR, .text = "1"}};
}

static ga_status make_root(ga_draft *draft)
{
    ga_document *document = draft->document;
    ga_value *root = &document->root;
    ga_entry all = {0};
    bool has_format = false;
    for (int k = 0; k < draft->top.count; ++k)
        has_format = has_format || strcmp(draft->top.entries[k].key, "galpha") == 0;
    if (!has_format) {
        const ga_entry format = format_entry();
        GA_TRY(append(&draft->top, &format));
    }
    for (int k = 0; k < draft->count; ++k) {
        ga_entry entry;
        GA_TRY(settle(&document->arena, draft->sections + k, &entry));
        GA_TRY(append(&draft->top, &entry));
    }
    GA_TRY(settle(&document->arena, &draft->top, &all));
    *root = all.value;
    return GA_OK;
}

static ga_status complete_document(ga_draft *draft, ga_loader *loader)
{
    GA_TRY(make_root(draft));
    GA_TRY(complete(&loader->reader, &draft->document->root));
    GA_TRY(ga_document_keep_source(draft->document));
    GA_TRY(ga_load_parameters(loader));
    return loader->reader.out_of_memory ? GA_ERR_MEMORY : GA_OK;
}

void ga_draft_allow_plugins(ga_draft *draft)
{
    if (!draft || !draft->document) return;
    draft->document->allow_plugins = draft->document->include_anywhere = true;
}

ga_status ga_draft_finish(ga_draft *draft, ga_model **model, ga_messages *messages)
{
    *model = NULL;
    if (!draft || draft->out_of_memory) {
        ga_draft_destroy(draft);
        return GA_ERR_MEMORY;
    }
    if (draft->wrong_size) {
        ga_report report;
        ga_check_own_size("ga_property", draft->wrong_size, sizeof(ga_property), &report);
        ga_messages_add(messages, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "%s", report.message);
        ga_draft_destroy(draft);
        return GA_ERR_ARGUMENT;
    }
    static const ga_document_options options = {0};
    ga_loader loader = {.document = draft->document, .options = &options};
    loader.reader =
        (ga_reader){.document = draft->document, .messages = messages, .dimension = 3};
    ga_status status = complete_document(draft, &loader);
    if (status == GA_OK) {
        status = ga_model_build(draft->document, model, messages);
        draft->document = NULL;
    }
    ga_draft_destroy(draft);
    if (status == GA_OK && loader.reader.errors) {
        ga_model_destroy(*model);
        *model = NULL;
        status = GA_ERR_INPUT;
    }
    if (status == GA_OK) status = ga_model_load(*model, messages);
    if (status != GA_OK) {
        ga_model_destroy(*model);
        *model = NULL;
    }
    return status;
}
