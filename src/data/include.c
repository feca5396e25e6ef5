/* A file and those it includes, joined to one map.
 *
 * Included entries come first, in the order of the list, as if their text stood on top. A file
 * met again is skipped, so that two parts may stand on a third; a file that includes itself by
 * any way is an error.
 */
#include "base/report.h"
#include "data/file.h"
#include "data/load.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CHAIN = 32 };

/* The files being read, the innermost first. */
typedef struct link {
    const char *name;     /* for people */
    const char *resolved; /* null: a text without a file */
    const struct link *outer;
    int length;
} link;

/* Joining -----------------------------------------------------------------------------------
 */

static ga_status join_maps(ga_loader *loader, const ga_value *first, const ga_value *second,
                           ga_value *joined);

static bool same_text(const ga_value *a, const ga_value *b)
{
    return a->kind == GA_VALUE_SCALAR && b->kind == GA_VALUE_SCALAR &&
           !strcmp(a->text, b->text);
}

/* Blocks of `repeat`: one, or a list of them. */
static ga_status join_repeats(ga_loader *loader, ga_value *into, const ga_value *more)
{
    const ga_value both[] = {*into, *more};
    ga_value list = {.kind = GA_VALUE_LIST, .place = into->place};
    const int n = (both[0].kind == GA_VALUE_LIST ? both[0].count : 1) +
                  (both[1].kind == GA_VALUE_LIST ? both[1].count : 1);
    list.entries = GA_ARENA_NEW(&loader->document->arena, ga_entry, n);
    if (!list.entries) return GA_ERR_MEMORY;
    for (int k = 0; k < 2; ++k) {
        const ga_value *v = &both[k];
        if (v->kind == GA_VALUE_LIST) {
            if (v->count)
                memcpy(list.entries + list.count, v->entries,
                       (size_t)v->count * sizeof *v->entries);
            list.count += v->count;
        } else {
            list.entries[list.count++] = (ga_entry){NULL, v->place, *v};
        }
    }
    *into = list;
    return GA_OK;
}

/* `null` removes what an included file gives; nothing at all may be an oversight. */
static ga_status remove_entry(ga_loader *loader, ga_entry *entry, const ga_entry *more)
{
    ga_reader *reader = &loader->reader;
    if (more->value.text && *more->value.text) {
        entry->key = NULL; /* taken out by join_maps */
        return GA_OK;
    }
    const size_t mark = ga_reader_enter(reader, more->key);
    ga_reader_error(reader, more->place,
                    "has no value; it is given at %s:%d:%d, too: `null` would remove it",
                    entry->place.file, entry->place.line, entry->place.column);
    ga_reader_leave(reader, mark);
    return GA_OK;
}

static ga_status join_entry(ga_loader *loader, ga_entry *into, const ga_entry *more)
{
    ga_reader *reader = &loader->reader;
    const bool at_root = *reader->path == 0;
    if (into->value.kind == GA_VALUE_NULL) {
        into->value = more->value;
        return GA_OK;
    }
    if (more->value.kind == GA_VALUE_NULL) {
        if (at_root) return GA_OK; /* an empty section */
        return remove_entry(loader, into, more);
    }
    if (at_root && !strcmp(into->key, "repeat"))
        return join_repeats(loader, &into->value, &more->value);
    if (at_root && !strcmp(into->key, "galpha") && same_text(&into->value, &more->value))
        return GA_OK;
    const size_t mark = ga_reader_enter(reader, into->key);
    ga_status status = GA_OK;
    if (into->value.kind == GA_VALUE_MAP && more->value.kind == GA_VALUE_MAP) {
        const ga_value first = into->value;
        status = join_maps(loader, &first, &more->value, &into->value);
    } else {
        ga_reader_error(reader, more->place, "is given twice; also at %s:%d:%d",
                        into->place.file, into->place.line, into->place.column);
    }
    ga_reader_leave(reader, mark);
    return status;
}

static ga_status join_all(ga_loader *loader, ga_names *names, const ga_value *second,
                          ga_value *joined)
{
    for (int k = 0; k < joined->count; ++k)
        GA_TRY(ga_names_put(names, joined->entries[k].key, strlen(joined->entries[k].key), k));
    for (int k = 0; k < second->count; ++k) {
        const ga_entry *entry = &second->entries[k];
        const int known = ga_names_find(names, entry->key, strlen(entry->key));
        if (known >= 0)
            GA_TRY(join_entry(loader, &joined->entries[known], entry));
        else
            joined->entries[joined->count++] = *entry;
    }
    return GA_OK;
}

static ga_status join_maps(ga_loader *loader, const ga_value *first, const ga_value *second,
                           ga_value *joined)
{
    ga_value map = *first;
    map.place = second->place;
    map.entries =
        GA_ARENA_NEW(&loader->document->arena, ga_entry, first->count + second->count);
    if (!map.entries) return GA_ERR_MEMORY;
    if (first->count)
        memcpy(map.entries, first->entries, (size_t)first->count * sizeof *first->entries);
    ga_names names = {0};
    const ga_status status = join_all(loader, &names, second, &map);
    ga_names_free(&names);
    int kept = 0;
    for (int k = 0; k < map.count; ++k)
        if (map.entries[k].key) map.entries[kept++] = map.entries[k];
    map.count = kept;
    if (status == GA_OK) *joined = map;
    return status;
}

/* Files -------------------------------------------------------------------------------------
 */

static ga_status load(ga_loader *loader, const ga_yaml_source *source, const link *chain,
                      ga_value *root);

/* "a.yaml includes b.yaml includes a.yaml", cut if it gets long. */
static void describe_chain(const link *chain, const char *resolved, char *text, size_t size)
{
    const link *links[MAX_CHAIN + 1];
    int n = 0;
    for (; chain && n <= MAX_CHAIN; chain = chain->outer) {
        links[n++] = chain;
        if (chain->resolved && !strcmp(chain->resolved, resolved)) break;
    }
    const char *start = links[n - 1]->name;
    size_t used = 0;
    while (n-- > 0 && used < size)
        used += (size_t)snprintf(text + used, size - used, "%s includes ", links[n]->name);
    if (used < size) snprintf(text + used, size - used, "%s", start);
}

static bool is_in_chain(const link *chain, const char *resolved)
{
    for (; chain; chain = chain->outer)
        if (chain->resolved && !strcmp(chain->resolved, resolved)) return true;
    return false;
}

/* Whether to read it: exists, lies where it may, and is not being read already. */
static ga_status admit(ga_loader *loader, const ga_value *value, const char *path,
                       const link *chain, const char **resolved, bool *wanted)
{
    ga_reader *reader = &loader->reader;
    ga_arena *arena = &loader->document->arena;
    char reason[GA_FILE_REASON_SIZE], circle[480];
    const bool was_incomplete = loader->is_incomplete;
    *wanted = false;
    const ga_status status = ga_path_resolve(arena, path, resolved, reason);
    loader->is_incomplete = true; /* until we know better */
    if (status == GA_ERR_FILE) {
        ga_reader_error(reader, value->place, "cannot read `%s`: %s", path, reason);
        return GA_OK;
    }
    GA_TRY(status);
    if (!loader->options->include_anywhere &&
        !ga_path_is_below(*resolved, loader->root_folder)) {
        ga_reader_error(
            reader, value->place,
            "`%s` is outside the folder of the model; allow this with --include-anywhere",
            value->text);
        return GA_OK;
    }
    if (is_in_chain(chain, *resolved)) {
        describe_chain(chain, *resolved, circle, sizeof circle);
        ga_reader_error(reader, value->place, "circular include: %s", circle);
        return GA_OK;
    }
    *wanted = ga_names_find(&loader->included, *resolved, strlen(*resolved)) < 0;
    loader->is_incomplete = was_incomplete;
    return GA_OK;
}

/* One file of the list, joined to what is there. */
static ga_status include_file(ga_loader *loader, const ga_value *value, const link *chain,
                              ga_value *joined)
{
    ga_arena *arena = &loader->document->arena;
    const char *text, *resolved = NULL;
    bool wanted;
    if (!ga_read_text(&loader->reader, value, &text)) {
        loader->is_incomplete = true;
        return GA_OK;
    }
    const char *folder = ga_path_folder(arena, chain->name);
    if (!chain->outer) folder = loader->document->folder;
    const char *path = folder ? ga_path_join(arena, folder, text) : NULL;
    if (!path) return GA_ERR_MEMORY;
    GA_TRY(admit(loader, value, path, chain, &resolved, &wanted));
    if (!wanted) return GA_OK;
    if (chain->length == MAX_CHAIN) {
        ga_reader_error(&loader->reader, value->place, "includes are nested more than %d deep",
                        MAX_CHAIN);
        return GA_OK;
    }
    GA_TRY(ga_names_put(&loader->included, resolved, strlen(resolved), 0));

    ga_file_text file;
    ga_status status = ga_file_read_regular(path, arena, &file);
    if (status == GA_ERR_FILE || status == GA_ERR_INPUT) {
        loader->is_incomplete = true;
        ga_reader_error(&loader->reader, value->place, "cannot read `%s`: %s", path,
                        file.reason);
        return GA_OK;
    }
    GA_TRY(status);
    const ga_yaml_source source = {path, file.text, file.length, false};
    const link next = {path, resolved, chain, chain->length + 1};
    ga_value tree;
    const size_t mark = strlen(loader->reader.path);
    char path_here[GA_PATH_SIZE];
    memcpy(path_here, loader->reader.path, sizeof path_here);
    loader->reader.path[0] = 0; /* what it holds stands at the root */
    status = load(loader, &source, &next, &tree);
    if (status == GA_OK) {
        const ga_value before = *joined;
        status = join_maps(loader, &before, &tree, joined);
    }
    memcpy(loader->reader.path, path_here, mark + 1);
    if (status != GA_ERR_INPUT) return status;
    loader->is_incomplete = true; /* go on: the rest may have mistakes too */
    return GA_OK;
}

static ga_status include_all(ga_loader *loader, const ga_value *value, const link *chain,
                             ga_value *joined)
{
    ga_status status = GA_OK;
    const size_t mark = ga_reader_enter(&loader->reader, "include");
    if (value->kind == GA_VALUE_LIST)
        for (int k = 0; k < value->count && status == GA_OK; ++k)
            status = include_file(loader, &value->entries[k].value, chain, joined);
    else
        status = include_file(loader, value, chain, joined);
    ga_reader_leave(&loader->reader, mark);
    return status;
}

static ga_status learn_root_folder(ga_loader *loader)
{
    char reason[GA_FILE_REASON_SIZE];
    if (loader->root_folder) return GA_OK;
    const ga_status status = ga_path_resolve(&loader->document->arena, loader->document->folder,
                                             &loader->root_folder, reason);
    if (status != GA_ERR_FILE) return status;
    loader->root_folder = "/nowhere"; /* then nothing lies below it */
    return GA_OK;
}

static ga_status remove_key(ga_loader *loader, const char *key, const ga_value *map,
                            ga_value *rest)
{
    *rest = *map;
    rest->count = 0;
    rest->entries = GA_ARENA_NEW(&loader->document->arena, ga_entry, map->count);
    if (!rest->entries) return GA_ERR_MEMORY;
    for (int k = 0; k < map->count; ++k)
        if (strcmp(map->entries[k].key, key) != 0)
            rest->entries[rest->count++] = map->entries[k];
    return GA_OK;
}

static ga_status expect_map(ga_loader *loader, const ga_value *root, bool is_model)
{
    if (root->kind == GA_VALUE_MAP) return GA_OK;
    char got[96];
    const char *what = root->kind == GA_VALUE_NULL ? "an empty file"
                                                   : ga_value_describe(root, got, sizeof got);
    const bool colon = root->kind == GA_VALUE_SCALAR && strchr(root->text, ':');
    ga_reader_error(&loader->reader, root->place, "expected a map%s, got %s%s",
                    is_model ? " with `galpha: 1`" : "", what,
                    colon ? "; is there a space after the colon?" : "");
    return GA_ERR_INPUT;
}

static ga_status load(ga_loader *loader, const ga_yaml_source *source, const link *chain,
                      ga_value *root)
{
    ga_value own;
    GA_TRY(ga_yaml_parse(&loader->reader, source, &loader->budget, &own));
    GA_TRY(expect_map(loader, &own, chain->outer == NULL));
    const ga_value *include = ga_value_get(&own, "include");
    if (!include) {
        *root = own;
        return GA_OK;
    }
    ga_value joined = {.kind = GA_VALUE_MAP, .place = own.place}, rest;
    GA_TRY(learn_root_folder(loader));
    GA_TRY(include_all(loader, include, chain, &joined));
    GA_TRY(remove_key(loader, "include", &own, &rest));
    return join_maps(loader, &joined, &rest, root);
}

ga_status ga_load_tree(ga_loader *loader, const ga_yaml_source *source, ga_value *root)
{
    char reason[GA_FILE_REASON_SIZE];
    link self = {source->file, NULL, NULL, 1};
    if (loader->is_file && ga_path_resolve(&loader->document->arena, source->file,
                                           &self.resolved, reason) == GA_ERR_MEMORY)
        return GA_ERR_MEMORY;
    return load(loader, source, &self, root);
}
