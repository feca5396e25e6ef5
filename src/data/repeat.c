/* `repeat` blocks written out: their entries, count times, appended to the maps of the model.
 *
 *     repeat: {count: N, index: i, from: 0, bodies: {"link{i}": {...}}, ...}
 *
 * Every copy of a value carries the loop variables around it (ga_scope), so that expressions
 * are evaluated later and by whoever reads them; only braces are replaced here, because names
 * must be text. Inside braces is an integer: i, i+1, 2*i, i%3, or any expression.
 */
#include "base/memory.h"
#include "base/report.h"
#include "data/load.h"
#include "data/number.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A map of the model that grows. */
typedef struct section {
    const char *key;
    ga_value map; /* its entries are not in the arena until the end */
    int capacity;
    ga_names names;
} section;

typedef struct expander {
    ga_loader *loader;
    section *sections;
    int count, capacity;
} expander;

typedef struct block {
    const ga_value *map;
    long count, from;
    const char *index;
} block;

/* Integers in braces ------------------------------------------------------------------------
 *
 * Sums and products of integers are done here, at once and with %, because a large model has
 * many of them; anything else is left to expressions.
 */

enum { MAX_NESTING = 40 };

typedef struct calculation {
    const ga_document *document;
    const ga_scope *scope;
    const char *at, *end;
    int nesting;
    bool failed;
} calculation;

static double sum(calculation *c);

static char next_mark(calculation *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t')) ++c->at;
    return c->at < c->end ? *c->at : 0;
}

static double give_up(calculation *c)
{
    c->failed = true;
    return 0;
}

static double integer(calculation *c, double x)
{
    return fabs(x) <= 9007199254740992 && x == floor(x) ? x : give_up(c);
}

static double variable(calculation *c)
{
    const char *start = c->at;
    while (c->at < c->end &&
           (*c->at == '_' || (*c->at >= '0' && *c->at <= '9') ||
            (*c->at >= 'a' && *c->at <= 'z') || (*c->at >= 'A' && *c->at <= 'Z')))
        ++c->at;
    const size_t length = (size_t)(c->at - start);
    const ga_symbol symbol = ga_document_symbol(c->document, c->scope, start, length);
    if (!length || symbol.kind != GA_SYMBOL_CONSTANT || next_mark(c) == '(') return give_up(c);
    return integer(c, symbol.value);
}

static double factor(calculation *c)
{
    const char mark = next_mark(c);
    double x = 0;
    if (c->nesting == MAX_NESTING) return give_up(c);
    ++c->nesting;
    if (mark == '-') {
        ++c->at;
        x = -factor(c);
    } else if (mark == '(') {
        ++c->at;
        x = sum(c);
        if (next_mark(c) != ')')
            x = give_up(c);
        else
            ++c->at;
    } else if (mark >= '0' && mark <= '9') {
        c->at += ga_number_scan(c->at, &x);
        x = integer(c, x);
    } else {
        x = variable(c);
    }
    --c->nesting;
    return x;
}

static double product(calculation *c)
{
    double x = factor(c);
    for (;;) {
        const char mark = next_mark(c);
        if (c->failed || (mark != '*' && mark != '/' && mark != '%')) return x;
        ++c->at;
        const double y = factor(c);
        if (mark != '*' && y == 0) return give_up(c);
        if (mark == '*')
            x *= y;
        else if (mark == '/')
            x /= y;
        else
            x -= y * floor(x / y);
        x = integer(c, x);
    }
}

static double sum(calculation *c)
{
    double x = product(c);
    for (;;) {
        const char mark = next_mark(c);
        if (c->failed || (mark != '+' && mark != '-')) return x;
        ++c->at;
        const double y = product(c);
        x = integer(c, mark == '+' ? x + y : x - y);
    }
}

/* Text with braces --------------------------------------------------------------------------
 */

/* What stands between two braces, which are at `open` and `close` of the scalar's text. */
static bool evaluate_braces(expander *x, const ga_value *scalar, size_t open, size_t close,
                            long *result)
{
    ga_loader *loader = x->loader;
    calculation c = {.document = loader->document, .scope = scalar->scope};
    c.at = scalar->text + open + 1;
    c.end = scalar->text + close;
    const double value = sum(&c);
    if (!c.failed && next_mark(&c) == 0) {
        *result = (long)value;
        return true;
    }
    ga_value inside = *scalar;
    inside.place = ga_value_place(scalar, open + 1);
    inside.quoted = false;
    inside.text =
        ga_arena_text_n(&loader->document->arena, scalar->text + open + 1, close - open - 1);
    if (!inside.text) {
        loader->reader.out_of_memory = true;
        return false;
    }
    return ga_read_integer(&loader->reader, &inside, result);
}

static bool out_of_memory(expander *x)
{
    x->loader->reader.out_of_memory = true;
    return false;
}

/* Replaces {...} by integers and {{ }} by braces. False after an error. */
static bool substitute(expander *x, const ga_value *scalar, const char **out)
{
    ga_reader *reader = &x->loader->reader;
    const char *text = scalar->text;
    if (!strpbrk(text, "{}")) {
        *out = text;
        return true;
    }
    size_t braces = 0, used = 0;
    for (const char *c = text; *c; ++c) braces += *c == '{';
    enum { LONGEST_INTEGER = 24, SHORT = 200 };
    const size_t size = strlen(text) + LONGEST_INTEGER * braces + 1;
    ga_arena *arena = &x->loader->document->arena;
    char fits[SHORT], *result = size <= SHORT ? fits : GA_ARENA_NEW(arena, char, size);
    if (!result) return out_of_memory(x);
    for (size_t k = 0; text[k]; ++k) {
        const char c = text[k];
        if (c != '{' && c != '}') {
            result[used++] = c;
        } else if (text[k + 1] == c) {
            result[used++] = c;
            ++k;
        } else if (c == '}') {
            return ga_reader_error(reader, ga_value_place(scalar, k),
                                   "`%.80s`: a } without a {; write }} for a literal brace",
                                   text);
        } else {
            const size_t length = strcspn(text + k + 1, "{}");
            long value;
            if (text[k + 1 + length] != '}')
                return ga_reader_error(reader, ga_value_place(scalar, k),
                                       "`%.80s`: a { without a }; write {{ for a literal brace",
                                       text);
            if (length == strspn(text + k + 1, " "))
                return ga_reader_error(reader, ga_value_place(scalar, k),
                                       "`%.80s`: empty braces; expected an index, as in {i+1}",
                                       text);
            if (!evaluate_braces(x, scalar, k, k + 1 + length, &value)) return false;
            used += (size_t)snprintf(result + used, size - used, "%ld", value);
            k += length + 1;
        }
    }
    if (result == fits) { /* and takes no more than it needs */
        result = ga_arena_text_n(arena, fits, used);
        if (!result) return out_of_memory(x);
    }
    *out = result;
    return true;
}

/* Copies ------------------------------------------------------------------------------------
 */

static bool spend(expander *x, const ga_value *value)
{
    if (--x->loader->budget >= 0) return true;
    return ga_reader_error(&x->loader->reader, value->place,
                           "the model is too large: more than %ld values",
                           x->loader->max_values);
}

static bool substitute_key(expander *x, const ga_entry *entry, const ga_scope *scope,
                           const char **key)
{
    const ga_value as_value = {
        .kind = GA_VALUE_SCALAR, .text = entry->key, .place = entry->place, .scope = scope};
    return substitute(x, &as_value, key);
}

/* {i} without quotes is a map in YAML. */
static bool is_bare_index(const ga_value *value, const ga_scope *scope)
{
    if (value->kind != GA_VALUE_MAP || value->count != 1) return false;
    if (value->entries[0].value.kind != GA_VALUE_NULL) return false;
    for (; scope; scope = scope->outer)
        if (!strcmp(scope->name, value->entries[0].key)) return true;
    return false;
}

static bool check_keys(expander *x, const ga_value *map)
{
    ga_names names = {0};
    bool good = true;
    for (int k = 0; k < map->count; ++k) {
        const ga_entry *entry = &map->entries[k];
        if (ga_names_find(&names, entry->key, strlen(entry->key)) >= 0)
            good = ga_reader_error(&x->loader->reader, entry->place, "`%.80s` is given twice",
                                   entry->key);
        if (ga_names_put(&names, entry->key, strlen(entry->key), k) != GA_OK) {
            x->loader->reader.out_of_memory = true;
            good = false;
            break;
        }
    }
    ga_names_free(&names);
    return good;
}

/* A value with everything in it, in a scope; the entry `without` is left out. The text it came
 * from is not deeper than what was parsed, so this may recurse. */
static bool copy_value(expander *x, const ga_value *value, const ga_scope *scope,
                       const char *without, ga_value *copy)
{
    ga_reader *reader = &x->loader->reader;
    if (!spend(x, value)) return false;
    *copy = *value;
    copy->scope = scope;
    if (value->kind == GA_VALUE_NULL) return true;
    if (value->kind == GA_VALUE_SCALAR) {
        if (!substitute(x, copy, &copy->text)) return false;
        copy->verbatim = value->verbatim && copy->text == value->text;
        return true;
    }
    if (is_bare_index(value, scope))
        return ga_reader_error(reader, value->place,
                               "{%s} without quotes is a map in YAML; write \"{%s}\"",
                               value->entries[0].key, value->entries[0].key);
    copy->count = 0;
    copy->entries = GA_ARENA_NEW(&x->loader->document->repeated, ga_entry, value->count);
    if (!copy->entries) {
        reader->out_of_memory = true;
        return false;
    }
    bool changed = false;
    for (int k = 0; k < value->count; ++k) {
        const ga_entry *from = &value->entries[k];
        if (without && !strcmp(from->key, without)) continue;
        ga_entry *to = &copy->entries[copy->count++];
        *to = *from;
        if (from->key && !substitute_key(x, from, scope, &to->key)) return false;
        changed = changed || to->key != from->key;
        if (!copy_value(x, &from->value, scope, NULL, &to->value)) return false;
    }
    return !changed || check_keys(x, copy);
}

/* Sections ----------------------------------------------------------------------------------
 */

/* Room for so many entries more; at least twice as much as before, so that many small blocks do
 * not copy them again and again. */
static bool make_room(expander *x, section *s, int more)
{
    if (more > INT_MAX / 2 - s->map.count) return out_of_memory(x);
    const int all = s->map.count + more;
    if (all <= s->capacity) return true;
    const int room = all > 2 * s->capacity ? all : 2 * s->capacity;
    ga_entry *copy = GA_NEW_WHOLE(ga_entry, room);
    if (!copy) return out_of_memory(x);
    if (s->map.count) memcpy(copy, s->map.entries, (size_t)s->map.count * sizeof *copy);
    ga_free(s->map.entries);
    s->map.entries = copy;
    s->capacity = room;
    return true;
}

/* Adds an entry unless its name is taken. */
static bool append(expander *x, section *s, const ga_entry *entry)
{
    const size_t length = strlen(entry->key);
    const int known = ga_names_find(&s->names, entry->key, length);
    if (known >= 0) {
        const ga_place first = s->map.entries[known].place;
        return ga_reader_error(&x->loader->reader, entry->place,
                               "`%.80s` is already defined at %s:%d:%d", entry->key,
                               first.file ? first.file : "", first.line, first.column);
    }
    if (s->map.count == s->capacity && !make_room(x, s, 64)) return false;
    if (ga_names_put(&s->names, entry->key, length, s->map.count) != GA_OK)
        return out_of_memory(x);
    s->map.entries[s->map.count++] = *entry;
    return true;
}

/* A new section starts with what the model has under that key. */
static section *open_section(expander *x, const ga_entry *entry)
{
    const ga_value *there = ga_value_get(&x->loader->document->root, entry->key);
    if (there && there->kind != GA_VALUE_MAP && there->kind != GA_VALUE_NULL) {
        char got[96];
        ga_reader_error(&x->loader->reader, entry->place,
                        "cannot add to `%.80s` of the model, which is %s", entry->key,
                        ga_value_describe(there, got, sizeof got));
        return NULL;
    }
    if (x->count == x->capacity) {
        const int larger = x->capacity ? 2 * x->capacity : 8;
        section *copy = GA_NEW(section, larger);
        if (!copy) {
            out_of_memory(x);
            return NULL;
        }
        if (x->count) memcpy(copy, x->sections, (size_t)x->count * sizeof *copy);
        ga_free(x->sections);
        x->sections = copy;
        x->capacity = larger;
    }
    section *s = &x->sections[x->count++];
    *s = (section){.key = entry->key,
                   .map = {.kind = GA_VALUE_MAP, .place = entry->value.place}};
    for (int k = 0; there && k < there->count; ++k)
        if (!append(x, s, &there->entries[k])) return NULL;
    return s;
}

static section *find_section(expander *x, const ga_entry *entry)
{
    for (int k = 0; k < x->count; ++k)
        if (!strcmp(x->sections[k].key, entry->key)) return &x->sections[k];
    return open_section(x, entry);
}

/* Blocks ------------------------------------------------------------------------------------
 */

static bool is_own_key(const char *key)
{
    return !strcmp(key, "count") || !strcmp(key, "index") || !strcmp(key, "from") ||
           !strcmp(key, "repeat");
}

static const char *key_of_block(void *user, int k)
{
    static const char *const keys[] = {"count",  "index",  "from",    "repeat", "bodies",
                                       "joints", "forces", "motions", "beams",  NULL};
    (void)user;
    return keys[k];
}

static bool check_section_of_block(expander *x, const ga_entry *entry)
{
    static const char *const single[] = {"galpha",  "name",       "dimension", "gravity",
                                         "include", "parameters", "simulate",  "output"};
    ga_reader *reader = &x->loader->reader;
    for (size_t k = 0; k < sizeof single / sizeof *single; ++k)
        if (!strcmp(entry->key, single[k]))
            return ga_reader_error(reader, entry->place, "`%s` cannot be repeated", entry->key);
    if (entry->value.kind == GA_VALUE_MAP || entry->value.kind == GA_VALUE_NULL) return true;
    const char *near = ga_suggest(entry->key, NULL, key_of_block);
    char got[96];
    if (entry->value.kind == GA_VALUE_SCALAR && near)
        return ga_reader_error(reader, entry->place, "unknown key `%.80s`, did you mean `%s`?",
                               entry->key, near);
    return ga_reader_error(reader, entry->place,
                           "expected a map of named entries in `%.80s`, "
                           "got %s",
                           entry->key, ga_value_describe(&entry->value, got, sizeof got));
}

static bool read_index(expander *x, block *b, const ga_scope *outer)
{
    ga_reader *reader = &x->loader->reader;
    const ga_value *value = ga_value_get(b->map, "index");
    b->index = "i";
    const ga_place place = value ? value->place : b->map->place;
    if (value && !ga_read_text(reader, value, &b->index)) return false;
    if (!ga_check_name(reader, place, "an index", b->index)) return false;
    if (ga_document_symbol(x->loader->document, outer, b->index, strlen(b->index)).kind !=
        GA_SYMBOL_UNKNOWN)
        return ga_reader_error(reader, place,
                               "the index `%s` is also the name of a parameter or an outer "
                               "index; choose another with `index`",
                               b->index);
    return true;
}

/* An integer of the block, in the scope around it. */
static bool read_integer_key(expander *x, const block *b, const char *key,
                             const ga_scope *outer, long *result)
{
    const ga_value *given = ga_value_get(b->map, key);
    if (!given) return true;
    ga_value value = *given;
    value.scope = outer;
    const size_t mark = ga_reader_enter(&x->loader->reader, key);
    const bool good = ga_read_integer(&x->loader->reader, &value, result);
    ga_reader_leave(&x->loader->reader, mark);
    return good;
}

/* How many values one pass adds at least; entries with `when` may be left out. */
static double least_size(const ga_value *value)
{
    double size = 1;
    for (int k = 0; k < value->count; ++k) {
        const ga_value *child = &value->entries[k].value;
        if (!ga_value_get(child, "when")) size += least_size(child);
    }
    return size;
}

static double least_size_of_block(const ga_value *map)
{
    double size = 1;
    for (int k = 0; k < map->count; ++k)
        if (!is_own_key(map->entries[k].key))
            size += least_size(&map->entries[k].value) - 1; /* the section itself is not new */
    return size;
}

static bool check_count(expander *x, const block *b, ga_place place)
{
    ga_reader *reader = &x->loader->reader;
    if (b->count < 0)
        return ga_reader_error(reader, place, "the count %ld is negative", b->count);
    if ((double)b->count * least_size_of_block(b->map) > (double)x->loader->budget)
        return ga_reader_error(reader, place,
                               "the count %ld is too large: the model would have more than %ld "
                               "values",
                               b->count, x->loader->max_values);
    return true;
}

static bool read_block(expander *x, block *b, const ga_scope *outer)
{
    ga_reader *reader = &x->loader->reader;
    if (b->map->kind != GA_VALUE_MAP) {
        char got[96];
        return ga_reader_error(reader, b->map->place, "expected a map with `count`, got %s",
                               ga_value_describe(b->map, got, sizeof got));
    }
    bool good = read_index(x, b, outer);
    for (int k = 0; k < b->map->count; ++k)
        if (!is_own_key(b->map->entries[k].key))
            good = check_section_of_block(x, &b->map->entries[k]) && good;
    const ga_value *count = ga_value_get(b->map, "count");
    if (!count) return ga_reader_error(reader, b->map->place, "`count` is missing");
    good = read_integer_key(x, b, "from", outer, &b->from) && good;
    return read_integer_key(x, b, "count", outer, &b->count) &&
           check_count(x, b, count->place) && good;
}

static bool is_wanted(expander *x, const ga_value *entry, const ga_scope *scope, bool *wanted)
{
    const ga_value *when = ga_value_get(entry, "when");
    *wanted = true;
    if (!when) return true;
    ga_value condition = *when;
    double value;
    condition.scope = scope;
    const size_t mark = ga_reader_enter(&x->loader->reader, "when");
    const bool good = ga_read_number(&x->loader->reader, &condition, &value);
    ga_reader_leave(&x->loader->reader, mark);
    if (good) *wanted = value != 0;
    return good;
}

static bool expand_entry(expander *x, section *s, const ga_entry *entry, const ga_scope *scope)
{
    ga_entry copy = *entry;
    bool wanted;
    if (!is_wanted(x, &entry->value, scope, &wanted)) return false;
    if (!wanted) return true;
    const char *without = entry->value.kind == GA_VALUE_MAP ? "when" : NULL;
    return substitute_key(x, entry, scope, &copy.key) &&
           copy_value(x, &entry->value, scope, without, &copy.value) && append(x, s, &copy);
}

static bool expand_section(expander *x, const ga_entry *entry, const ga_scope *scope)
{
    ga_reader *reader = &x->loader->reader;
    section *s = find_section(x, entry);
    bool good = s != NULL;
    const size_t mark = ga_reader_enter(reader, entry->key);
    for (int k = 0; s && k < entry->value.count; ++k) {
        const ga_entry *one = &entry->value.entries[k];
        const size_t inner = ga_reader_enter(reader, one->key);
        good = expand_entry(x, s, one, scope) && good;
        ga_reader_leave(reader, inner);
        if (x->loader->budget < 0 || reader->out_of_memory) break;
    }
    ga_reader_leave(reader, mark);
    return good;
}

static bool expand_blocks(expander *x, const ga_value *value, const ga_scope *outer);

static bool expand_once(expander *x, const block *b, const ga_scope *scope)
{
    bool good = true;
    for (int k = 0; k < b->map->count; ++k) {
        const ga_entry *entry = &b->map->entries[k];
        if (!strcmp(entry->key, "repeat")) {
            const size_t mark = ga_reader_enter(&x->loader->reader, "repeat");
            good = expand_blocks(x, &entry->value, scope) && good;
            ga_reader_leave(&x->loader->reader, mark);
        } else if (!is_own_key(entry->key)) {
            good = expand_section(x, entry, scope) && good;
        }
    }
    return good;
}

/* What the first pass has added to, the others will. (Unless `when` leaves it out; and there
 * are not more of them than the model may have.) */
static bool make_room_for_passes(expander *x, const block *b)
{
    for (int k = 0; k < b->map->count; ++k) {
        const ga_entry *entry = &b->map->entries[k];
        if (is_own_key(entry->key)) continue;
        section *s = find_section(x, entry);
        const double more = (double)(b->count - 1) * entry->value.count;
        if (!s) return false;
        if (more > INT_MAX) return out_of_memory(x);
        if (!make_room(x, s, (int)more)) return false;
        if (ga_names_reserve(&s->names, (size_t)more) != GA_OK) return out_of_memory(x);
    }
    return true;
}

/* Stops at the first pass with errors: the others would have the same. */
static bool expand_block(expander *x, const ga_value *map, const ga_scope *outer)
{
    block b = {.map = map};
    if (!read_block(x, &b, outer)) return false;
    for (long k = 0; k < b.count; ++k) {
        ga_scope *scope = GA_ARENA_NEW(&x->loader->document->repeated, ga_scope, 1);
        if (!scope) return out_of_memory(x);
        *scope = (ga_scope){b.index, (double)(b.from + k), outer};
        if (!spend(x, map) || !expand_once(x, &b, scope)) return false;
        if (k == 0 && b.count > 1 && !make_room_for_passes(x, &b)) return false;
    }
    return true;
}

/* One block, or a list of them. */
static bool expand_blocks(expander *x, const ga_value *value, const ga_scope *outer)
{
    if (value->kind != GA_VALUE_LIST) return expand_block(x, value, outer);
    bool good = true;
    for (int k = 0; k < value->count; ++k) {
        const size_t mark = ga_reader_enter_item(&x->loader->reader, k);
        good = expand_block(x, &value->entries[k].value, outer) && good;
        ga_reader_leave(&x->loader->reader, mark);
    }
    return good;
}

/* The root with the sections in place of what they grew from, and without `repeat`. */
static ga_status rebuild_root(expander *x)
{
    ga_document *document = x->loader->document;
    ga_value *root = &document->root;
    ga_entry *entries = GA_ARENA_NEW(&document->arena, ga_entry, root->count + x->count);
    document->sections = GA_ARENA_NEW(&document->arena, ga_value *, x->count);
    if (!entries || !document->sections) return GA_ERR_MEMORY;
    int n = 0;
    for (int k = 0; k < root->count; ++k)
        if (strcmp(root->entries[k].key, "repeat") != 0) entries[n++] = root->entries[k];
    for (int k = 0; k < x->count; ++k) {
        const section *s = &x->sections[k];
        ga_value map = s->map;
        map.entries = GA_ARENA_NEW(&document->repeated, ga_entry, map.count);
        if (!map.entries) return GA_ERR_MEMORY;
        if (map.count)
            memcpy(map.entries, s->map.entries, (size_t)map.count * sizeof *map.entries);
        int at = 0;
        while (at < n && strcmp(entries[at].key, s->key) != 0) ++at;
        if (at == n)
            entries[n++] = (ga_entry){s->key, map.place, map};
        else
            entries[at].value = map;
        document->sections[document->section_count++] = &entries[at].value;
    }
    root->entries = entries;
    root->count = n;
    return GA_OK;
}

ga_status ga_load_repeats(ga_loader *loader)
{
    const ga_value *value = ga_value_get(&loader->document->root, "repeat");
    if (!value) return GA_OK;
    expander x = {.loader = loader};
    const size_t mark = ga_reader_enter(&loader->reader, "repeat");
    if (value->kind != GA_VALUE_NULL) expand_blocks(&x, value, NULL);
    ga_reader_leave(&loader->reader, mark);
    ga_status status = loader->reader.out_of_memory ? GA_ERR_MEMORY : rebuild_root(&x);
    for (int k = 0; k < x.count; ++k) {
        ga_names_free(&x.sections[k].names);
        ga_free(x.sections[k].map.entries);
    }
    ga_free(x.sections);
    return status;
}

void ga_document_drop_repeats(ga_document *document)
{
    for (int k = 0; k < document->section_count; ++k) {
        document->sections[k]->entries = NULL;
        document->sections[k]->count = 0;
    }
    ga_read_forget(document);
    ga_arena_free(&document->repeated);
}
