#include "data/load.h"

#include "base/memory.h"
#include "base/report.h"
#include "data/file.h"

#include <math.h>
#include <string.h>

static const long default_max_values = 10 * 1000 * 1000;

static const struct {
    const char *name;
    double value;
} constants[] = {{"pi", 3.14159265358979323846}, {"e", 2.71828182845904523536}};

ga_symbol ga_document_symbol(const ga_document *document, const ga_scope *scope,
                             const char *name, size_t length)
{
    for (; scope; scope = scope->outer)
        if (strlen(scope->name) == length && !memcmp(scope->name, name, length))
            return (ga_symbol){GA_SYMBOL_CONSTANT, scope->value, 0};
    const int k = ga_names_find(&document->parameter_names, name, length);
    if (k >= 0) {
        document->parameters[k].used = true;
        return (ga_symbol){GA_SYMBOL_CONSTANT, document->parameters[k].value, 0};
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; ++i)
        if (strlen(constants[i].name) == length && !memcmp(constants[i].name, name, length))
            return (ga_symbol){GA_SYMBOL_CONSTANT, constants[i].value, 0};
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

const char *ga_map_key(void *map, int k)
{
    const ga_value *m = map;
    return k < m->count ? m->entries[k].key : NULL;
}

const char *const ga_reserved_names[] = {
    "t",     "pi",    "e",     "deg",  "sin",  "cos",   "tan",   "asin",  "acos",
    "atan",  "atan2", "sinh",  "cosh", "tanh", "asinh", "acosh", "atanh", "exp",
    "log",   "log10", "log2",  "sqrt", "cbrt", "abs",   "sign",  "min",   "max",
    "floor", "ceil",  "round", "mod",  "pow",  "hypot", "if",    "step",  NULL};

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    static const char digits[] = "0123456789";
    if (!*name || strchr(digits, *name)) return false;
    for (; *name; ++name)
        if (!strchr(letters, *name) && !strchr(digits, *name)) return false;
    return true;
}

bool ga_check_name(ga_reader *reader, ga_place place, const char *what, const char *name)
{
    if (!is_name(name))
        return ga_reader_error(reader, place,
                               "%s cannot be named `%.80s`: names consist of letters, digits "
                               "and _ and do not start with a digit",
                               what, name);
    for (const char *const *word = ga_reserved_names; *word; ++word)
        if (!strcmp(*word, name))
            return ga_reader_error(
                reader, place,
                "%s cannot be named `%s`, which has another meaning in expressions", what,
                name);
    return true;
}

/* Copies ------------------------------------------------------------------------------------
 */

typedef struct copying {
    ga_arena *arena;
    bool texts;              /* else they live as long as the copy */
    const char *file, *copy; /* the name copied last */
} copying;

static const char *copy_text(copying *c, const char *text)
{
    return text && c->texts ? ga_arena_text(c->arena, text) : text;
}

/* Names of files are few. */
static bool copy_place(copying *c, ga_place from, ga_place *to)
{
    *to = from;
    if (!from.file || !c->texts) return true;
    if (from.file != c->file) {
        c->file = from.file;
        c->copy = ga_arena_text(c->arena, from.file);
    }
    to->file = c->copy;
    return c->copy != NULL;
}

/* False: memory is out. Before repeats values have no scope. */
static bool copy_value(copying *c, const ga_value *from, ga_value *to)
{
    *to = *from;
    if (from->text && !(to->text = copy_text(c, from->text))) return false;
    if (!copy_place(c, from->place, &to->place)) return false;
    if (from->count == 0) return true;
    to->entries = GA_ARENA_NEW(c->arena, ga_entry, from->count);
    if (!to->entries) return false;
    for (int k = 0; k < from->count; ++k) {
        const ga_entry *entry = from->entries + k;
        to->entries[k] = *entry;
        if (entry->key && !(to->entries[k].key = copy_text(c, entry->key))) return false;
        if (!copy_place(c, entry->place, &to->entries[k].place)) return false;
        if (!copy_value(c, &entry->value, &to->entries[k].value)) return false;
    }
    return true;
}

ga_status ga_document_keep_source(ga_document *document)
{
    copying c = {.arena = &document->arena};
    return copy_value(&c, &document->root, &document->source) ? GA_OK : GA_ERR_MEMORY;
}

/* Loading -----------------------------------------------------------------------------------
 */

static ga_status run_stages(ga_loader *loader, const ga_yaml_source *source)
{
    const ga_document_options *options = loader->options;
    GA_TRY(ga_load_tree(loader, source, &loader->document->root));
    for (int k = 0; k < options->set_count; ++k) GA_TRY(ga_load_set(loader, options->set[k]));
    GA_TRY(ga_document_keep_source(loader->document));
    GA_TRY(ga_load_parameters(loader));
    return ga_load_repeats(loader);
}

static ga_status prepare(ga_loader *loader, const char *name,
                         const ga_document_options *options, ga_messages *messages)
{
    static const ga_document_options defaults = {0};
    *loader = (ga_loader){.options = options ? options : &defaults};
    loader->max_values =
        loader->options->max_values > 0 ? loader->options->max_values : default_max_values;
    loader->budget = loader->max_values;
    loader->document = GA_NEW(ga_document, 1);
    if (!loader->document) return GA_ERR_MEMORY;
    loader->reader =
        (ga_reader){.document = loader->document, .messages = messages, .dimension = 3};
    loader->document->include_anywhere = loader->options->include_anywhere;
    loader->document->allow_plugins = loader->options->allow_plugins;
    loader->document->name = ga_arena_text(&loader->document->arena, name);
    return loader->document->name ? GA_OK : GA_ERR_MEMORY;
}

/* Hands the document over, unless there is none. */
static ga_status finish(ga_loader *loader, ga_status status, ga_document **document)
{
    ga_names_free(&loader->included);
    if (loader->reader.out_of_memory) status = GA_ERR_MEMORY;
    if (status == GA_OK && loader->is_incomplete) status = GA_ERR_INPUT;
    if (status != GA_OK) {
        ga_document_destroy(loader->document);
        return status;
    }
    *document = loader->document;
    return loader->reader.errors ? GA_ERR_INPUT : GA_OK;
}

static ga_status load_text(ga_loader *loader, const char *text, size_t length)
{
    loader->document->text = text;
    const ga_yaml_source source = {loader->document->name, text, length, false};
    return run_stages(loader, &source);
}

static ga_status load_file(ga_loader *loader, const char *path)
{
    ga_document *d = loader->document;
    const ga_place whole = {d->name, 0, 0};
    loader->is_file = true;
    ga_file_text file;
    d->folder = ga_path_folder(&d->arena, path);
    if (!d->folder) return GA_ERR_MEMORY;
    const ga_status status = ga_file_read(path, &d->arena, &file);
    if (status == GA_ERR_FILE || status == GA_ERR_INPUT)
        ga_reader_error(&loader->reader, whole, "cannot be read: %s", file.reason);
    GA_TRY(status);
    return load_text(loader, file.text, file.length);
}

ga_status ga_document_read(const char *path, const ga_document_options *options,
                           ga_document **document, ga_messages *messages)
{
    ga_loader loader;
    *document = NULL;
    ga_status status = prepare(&loader, path, options, messages);
    if (status == GA_OK) status = load_file(&loader, path);
    return finish(&loader, status, document);
}

ga_status ga_document_parse(const char *name, const char *text, size_t length,
                            const ga_document_options *options, ga_document **document,
                            ga_messages *messages)
{
    ga_loader loader;
    *document = NULL;
    ga_status status = prepare(&loader, name, options, messages);
    if (status == GA_OK) {
        loader.document->folder = ".";
        const char *copy = ga_arena_text_n(&loader.document->arena, text, length);
        status = copy ? load_text(&loader, copy, length) : GA_ERR_MEMORY;
    }
    return finish(&loader, status, document);
}

static ga_status load_copy(ga_loader *loader, const ga_document *from)
{
    ga_document *d = loader->document;
    copying c = {.arena = &d->arena, .texts = true};
    const bool memory = copy_value(&c, &from->source, &d->root) &&
                        (d->folder = copy_text(&c, from->folder ? from->folder : ".")) &&
                        (!from->text || (d->text = copy_text(&c, from->text)));
    if (!memory) return GA_ERR_MEMORY;
    const ga_document_options *options = loader->options;
    for (int k = 0; k < options->set_count; ++k) GA_TRY(ga_load_set(loader, options->set[k]));
    GA_TRY(ga_document_keep_source(d));
    GA_TRY(ga_load_parameters(loader));
    return ga_load_repeats(loader);
}

ga_status ga_document_with(const ga_document *from, int set_count, const char *const *set,
                           ga_document **document, ga_messages *messages)
{
    const ga_document_options options = {.set_count = set_count,
                                         .set = set,
                                         .include_anywhere = from->include_anywhere,
                                         .allow_plugins = from->allow_plugins};
    ga_loader loader;
    *document = NULL;
    ga_status status = prepare(&loader, from->name ? from->name : "", &options, messages);
    if (status == GA_OK) status = load_copy(&loader, from);
    return finish(&loader, status, document);
}

void ga_document_destroy(ga_document *document)
{
    if (!document) return;
    ga_read_forget(document);
    ga_names_free(&document->parameter_names);
    ga_arena_free(&document->arena);
    ga_arena_free(&document->repeated);
    ga_free(document);
}
