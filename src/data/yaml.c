/* The events of libfyaml, built into a tree.
 *
 * Events come in the order of the text, so nothing recurses. Entries wait on one stack,
 * `pending`; when their list or map ends they move to an array of their own: every value is
 * moved once. An alias shares the entries of its anchor, which are constant; it takes as much
 * from the budget as a copy would, because whoever walks the tree meets them again.
 */
#include "data/yaml.h"

#include "base/memory.h"
#include "base/names.h"
#include "base/report.h"

#include <libfyaml.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Up to here comparing all pairs of keys is faster than a table. */
enum { FEW_KEYS = 8 };

typedef struct frame {
    ga_value value; /* list or map being read */
    int first;      /* its first entry in `pending` */
    long budget;    /* before it */
    bool flow;
    bool has_key; /* of a map: the next value belongs to `key` */
    const char *key;
    ga_place key_place;
    const char *anchor; /* null: none */
} frame;

typedef struct anchor {
    ga_value value;
    long size; /* values in it */
} anchor;

typedef struct parser {
    ga_reader *reader;
    const ga_yaml_source *source;
    long *budget;
    struct fy_parser *fy;
    struct fy_diag *diag;
    int depth;
    frame frames[GA_YAML_MAX_DEPTH];
    ga_entry *pending;
    int count, capacity;
    anchor *anchors;
    int anchor_count, anchor_capacity;
    ga_names anchor_names;
    bool has_document;
    ga_place here; /* of the last event that has one */
    ga_value root;
} parser;

/* Errors ------------------------------------------------------------------------------------
 */

/* The path of what is being read: the keys that lead to it. */
static void enter_path(parser *p)
{
    enum { DEEP = 8 }; /* deeper, the path says less than the place */
    if (p->source->is_line || p->depth > DEEP) return;
    for (int k = 0; k < p->depth; ++k) {
        const frame *f = &p->frames[k];
        const int next = k + 1 < p->depth ? p->frames[k + 1].first : p->count;
        if (f->value.kind == GA_VALUE_LIST)
            ga_reader_enter_item(p->reader, next - f->first);
        else if (f->has_key)
            ga_reader_enter(p->reader, f->key);
    }
}

__attribute__((format(printf, 3, 4))) static ga_status fail(parser *p, ga_place place,
                                                            const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const size_t mark = strlen(p->reader->path);
    enter_path(p);
    ga_reader_error(p->reader, place, "%s", text);
    ga_reader_leave(p->reader, mark);
    return GA_ERR_INPUT;
}

static ga_place make_place(const parser *p, int line, int column)
{
    if (p->source->is_line) line = column = 0;
    return (ga_place){p->source->file, line, column};
}

static ga_place place_at(const parser *p, size_t offset)
{
    int line = 1, column = 1;
    for (size_t k = 0; k < offset && k < p->source->length; ++k) {
        const unsigned char c = (unsigned char)p->source->text[k];
        if (c == '\n') {
            ++line;
            column = 1;
        } else if ((c & 0xC0) != 0x80) {
            ++column;
        }
    }
    return make_place(p, line, column);
}

static ga_place place_of(const parser *p, const struct fy_mark *mark, ga_place otherwise)
{
    return mark ? make_place(p, mark->line + 1, mark->column + 1) : otherwise;
}

/* What the parser says, and what to do about it. */
static const struct {
    const char *said, *meant;
} words[] = {
    {"invalid multiline plain key",
     "this text continues on the next line, which looks like a key: a colon is missing here, "
     "or the next line is indented too far"},
    {"invalid nested block mapping on the same line",
     "a second `: ` on one line; put the map on lines of its own, or put text with a colon in "
     "quotes"},
    {"missing document start", "text after the end of the document, or a missing space after a "
                               "colon"},
    {"block sequence on the same line as a mapping key",
     "a list with `- ` starts on the line after its key"},
    {"plain scalar cannot start with", "text that starts like this must be in quotes"},
    {"tab character may not be used", "tabs cannot indent in YAML; use spaces"},
    {"invalid tab as inden", "tabs cannot indent in YAML; use spaces"},
    {"invalid extra closing", "one closing bracket too many"},
    {"invalid comma", "a comma with nothing before it"},
    {"invalid extra comma", "a comma with nothing before it"},
    {"without closing quote", "the quote that starts here is not closed"},
    {"invalid trailing content after", "text after a closing quote"},
    {"wrongly indented", "wrong indentation"},
    {"invalid indentation", "wrong indentation: it differs from that of the keys above"},
    {"invalid scalar at the end of block sequence",
     "an item of the list was expected, `- ...`; is the indentation right?"},
    {"did not find expected", "wrong indentation, or a key without a colon"},
};

static const char *in_other_words(const char *said)
{
    for (size_t k = 0; k < sizeof words / sizeof *words; ++k)
        if (strstr(said, words[k].said)) return words[k].meant;
    return said;
}

/* The innermost bracket that is still open, for errors at a distance from it. */
static const frame *open_bracket(const parser *p)
{
    for (int k = p->depth; k-- > 0;)
        if (p->frames[k].flow) return &p->frames[k];
    return NULL;
}

/* The character at a line and a column of ASCII, both from 1; 0: there is none. */
static char character_at(const ga_yaml_source *s, int line, int column)
{
    size_t at = 0;
    for (; line > 1 && at < s->length; ++at) line -= s->text[at] == '\n';
    at += column > 0 ? (size_t)column - 1 : 0;
    return at < s->length ? s->text[at] : '\0';
}

static void report_syntax(parser *p, const struct fy_diag_error *error)
{
    const char *text = in_other_words(error->msg);
    const char first = character_at(p->source, error->line, error->column);
    if (strstr(error->msg, "wrongly indented") && (first == '"' || first == '\''))
        text = "the quote that starts here is not closed on its line";
    const ga_place place = make_place(p, error->line, error->column);
    const frame *open = open_bracket(p);
    char bracket[96] = "";
    if (open && !p->source->is_line)
        snprintf(bracket, sizeof bracket, " (the %c of line %d, column %d is open)",
                 open->value.kind == GA_VALUE_MAP ? '{' : '[', open->value.place.line,
                 open->value.place.column);
    if (strstr(error->msg, "without a closing bracket") ||
        (strstr(error->msg, "missing comma") && open && place.line > open->value.place.line))
        text = "a closing bracket or a comma is missing";
    else if (strstr(error->msg, "missing comma"))
        text = "a comma is missing; inside [ ] and { }, text with brackets or braces must be "
               "in quotes, \"link{i}\"";
    fail(p, place, "%s%s", text, bracket);
}

static ga_status report_all_syntax(parser *p)
{
    void *previous = NULL;
    const struct fy_diag_error *error;
    const int before = p->reader->errors;
    while ((error = fy_diag_errors_iterate(p->diag, &previous)))
        if (error->type == FYET_ERROR && error->msg) report_syntax(p, error);
    if (p->reader->errors == before) /* it has no words for some errors, such as |0 */
        fail(p, p->here, "cannot parse what follows");
    return GA_ERR_INPUT;
}

/* Building ----------------------------------------------------------------------------------
 */

/* Room for one more of count. */
static ga_status grow(void **array, int count, int *capacity, size_t size)
{
    if (count < *capacity) return GA_OK;
    const int larger = *capacity ? 2 * *capacity : 64;
    char *copy = larger > 0 ? ga_alloc((size_t)larger, size) : NULL;
    if (!copy) return GA_ERR_MEMORY;
    if (count) memcpy(copy, *array, (size_t)count * size);
    ga_free(*array);
    *array = copy;
    *capacity = larger;
    return GA_OK;
}

static ga_arena *arena_of(parser *p) { return &p->reader->document->arena; }

static ga_status spend(parser *p, long values, ga_place place)
{
    *p->budget -= values;
    if (*p->budget >= 0) return GA_OK;
    return fail(p, place, "too many values: the limit is exceeded here%s",
                values > 1 ? " by repeating aliases" : "");
}

/* A finished value goes where it belongs. */
static ga_status place_value(parser *p, const ga_value *value)
{
    if (p->depth == 0) {
        p->root = *value;
        return GA_OK;
    }
    frame *f = &p->frames[p->depth - 1];
    void *pending = p->pending;
    GA_TRY(grow(&pending, p->count, &p->capacity, sizeof *p->pending));
    p->pending = pending;
    ga_entry *entry = &p->pending[p->count];
    *entry = (ga_entry){f->has_key ? f->key : NULL, f->has_key ? f->key_place : value->place,
                        *value};
    ++p->count;
    f->has_key = false;
    f->key = NULL;
    return GA_OK;
}

static ga_status remember_anchor(parser *p, const char *name, const ga_value *value, long size)
{
    if (!name) return GA_OK;
    void *anchors = p->anchors;
    GA_TRY(grow(&anchors, p->anchor_count, &p->anchor_capacity, sizeof *p->anchors));
    p->anchors = anchors;
    p->anchors[p->anchor_count] = (anchor){*value, size};
    return ga_names_put(&p->anchor_names, name, strlen(name), p->anchor_count++);
}

/* Keys --------------------------------------------------------------------------------------
 */

static ga_status report_twice(parser *p, const ga_entry *first, const ga_entry *second)
{
    if (p->source->is_line)
        fail(p, second->place, "`%.80s` is given twice", second->key);
    else
        fail(p, second->place, "`%.80s` is given twice; first at line %d, column %d",
             second->key, first->place.line, first->place.column);
    return GA_OK;
}

static bool is_merge(const ga_entry *entry) { return !strcmp(entry->key, "<<"); }

/* Moves entries to `kept` unless their key is there; says so if `report`. */
static ga_status keep_new(parser *p, ga_names *names, ga_entry *kept, int *count,
                          const ga_entry *entries, int n, bool report)
{
    for (int k = 0; k < n; ++k) {
        const ga_entry *entry = &entries[k];
        if (report && is_merge(entry)) continue;
        const size_t length = strlen(entry->key);
        const int known = ga_names_find(names, entry->key, length);
        if (known >= 0) {
            if (report) GA_TRY(report_twice(p, &kept[known], entry));
            continue;
        }
        GA_TRY(ga_names_put(names, entry->key, length, *count));
        kept[(*count)++] = *entry;
    }
    return GA_OK;
}

/* The maps that a merge key names: one or a list. */
static ga_status check_merge(parser *p, const ga_entry *entry, int *room)
{
    const ga_value *v = &entry->value;
    const int n = v->kind == GA_VALUE_LIST ? v->count : 1;
    for (int k = 0; k < n; ++k) {
        const ga_value *map = v->kind == GA_VALUE_LIST ? &v->entries[k].value : v;
        if (map->kind != GA_VALUE_MAP)
            return fail(p, entry->place, "`<<` merges a map or a list of maps, such as *name");
        *room += map->count;
    }
    return GA_OK;
}

static ga_status merge(parser *p, ga_names *names, const ga_entry *entry, ga_entry *kept,
                       int *count)
{
    const ga_value *v = &entry->value;
    if (v->kind == GA_VALUE_MAP)
        return keep_new(p, names, kept, count, v->entries, v->count, false);
    for (int k = 0; k < v->count; ++k)
        GA_TRY(keep_new(p, names, kept, count, v->entries[k].value.entries,
                        v->entries[k].value.count, false));
    return GA_OK;
}

/* Its own keys win over merged ones, earlier merges over later ones. */
static ga_status close_large_map(parser *p, ga_value *map, const ga_entry *entries, int n)
{
    int room = n;
    for (int k = 0; k < n; ++k)
        if (is_merge(&entries[k])) GA_TRY(check_merge(p, &entries[k], &room));
    map->entries = GA_ARENA_NEW(arena_of(p), ga_entry, room);
    if (!map->entries) return GA_ERR_MEMORY;
    ga_names names = {0};
    ga_status status = keep_new(p, &names, map->entries, &map->count, entries, n, true);
    for (int k = 0; k < n && status == GA_OK; ++k)
        if (is_merge(&entries[k]))
            status = merge(p, &names, &entries[k], map->entries, &map->count);
    ga_names_free(&names);
    return status;
}

static bool has_merge_or_twice(const ga_entry *entries, int n)
{
    for (int k = 0; k < n; ++k) {
        if (is_merge(&entries[k])) return true;
        for (int i = 0; i < k; ++i)
            if (!strcmp(entries[i].key, entries[k].key)) return true;
    }
    return false;
}

static ga_status close_entries(parser *p, ga_value *value, const ga_entry *entries, int n)
{
    if (value->kind == GA_VALUE_MAP && (n > FEW_KEYS || has_merge_or_twice(entries, n)))
        return close_large_map(p, value, entries, n);
    value->count = n;
    value->entries = GA_ARENA_NEW(arena_of(p), ga_entry, n);
    if (!value->entries) return GA_ERR_MEMORY;
    if (n) memcpy(value->entries, entries, (size_t)n * sizeof *entries);
    return GA_OK;
}

/* Events ------------------------------------------------------------------------------------
 */

static frame *top(parser *p) { return p->depth ? &p->frames[p->depth - 1] : NULL; }

static bool expects_key(parser *p)
{
    const frame *f = top(p);
    return f && f->value.kind == GA_VALUE_MAP && !f->has_key;
}

/* Where a value is that has no text of its own: at its key. */
static ga_place place_of_nothing(parser *p)
{
    const frame *f = top(p);
    if (!f) return make_place(p, 1, 1);
    return f->has_key ? f->key_place : f->value.place;
}

static ga_status token_text(parser *p, struct fy_token *token, const char **text)
{
    size_t length = 0;
    const char *t = token ? fy_token_get_text(token, &length) : "";
    if (!t) return GA_ERR_MEMORY;
    *text = ga_arena_text_n(arena_of(p), t, length);
    return *text ? GA_OK : GA_ERR_MEMORY;
}

static bool is_null(const char *text)
{
    static const char *const nothing[] = {"", "~", "null", "Null", "NULL"};
    for (size_t k = 0; k < sizeof nothing / sizeof *nothing; ++k)
        if (!strcmp(text, nothing[k])) return true;
    return false;
}

/* Tags that say what we would have thought, or that a scalar is text. */
static ga_status read_tag(parser *p, struct fy_token *tag, bool *is_text)
{
    static const char core[] = "tag:yaml.org,2002:";
    static const char *const harmless[] = {"str", "int", "float", "bool", "null", "map", "seq"};
    if (!tag) return GA_OK;
    const char *text;
    GA_TRY(token_text(p, tag, &text));
    const char *name = !strncmp(text, core, sizeof core - 1) ? text + sizeof core - 1
                       : !strncmp(text, "!!", 2)             ? text + 2
                                                             : "";
    if (!strcmp(name, "str")) *is_text = true;
    for (size_t k = 0; k < sizeof harmless / sizeof *harmless; ++k)
        if (!strcmp(name, harmless[k])) return GA_OK;
    fail(p, place_of(p, fy_token_start_mark(tag), place_of_nothing(p)),
         "the tag `%.80s` has no meaning here; text that starts with ! must be in quotes",
         text);
    return GA_OK;
}

/* Whether the text stands at an offset of the source as it is. */
static bool stands_at(const parser *p, size_t offset, const char *text)
{
    const size_t length = strlen(text);
    if (p->source->is_line || offset > p->source->length) return false;
    if (length > p->source->length - offset || memchr(text, '\n', length)) return false;
    return !memcmp(p->source->text + offset, text, length);
}

static ga_status read_key(parser *p, const ga_value *scalar)
{
    frame *f = top(p);
    if (*scalar->text == 0) return fail(p, scalar->place, "an empty key");
    f->has_key = true;
    f->key = scalar->text;
    f->key_place = scalar->place;
    return GA_OK;
}

/* {mass:1} is a map with the key `mass:1`, which nobody wants. */
static ga_status check_colon(parser *p)
{
    const frame *f = top(p);
    if (!f || !f->flow || !f->has_key || !strchr(f->key, ':')) return GA_OK;
    fail(p, f->key_place, "`%.80s`: a space is missing after the colon", f->key);
    return GA_OK;
}

static ga_status on_scalar(parser *p, struct fy_event *event)
{
    struct fy_token *token = event->scalar.value;
    const struct fy_mark *mark = token ? fy_token_start_mark(token) : NULL;
    const enum fy_scalar_style style = token ? fy_token_scalar_style(token) : FYSS_PLAIN;
    const bool in_quotes = style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED;
    ga_value v = {.kind = GA_VALUE_SCALAR, .place = place_of(p, mark, place_of_nothing(p))};
    size_t length = 0;
    v.quoted = style != FYSS_PLAIN;
    GA_TRY(read_tag(p, event->scalar.tag, &v.quoted));
    GA_TRY(token_text(p, token, &v.text));
    if (token) fy_token_get_text(token, &length);
    if (strlen(v.text) != length) return fail(p, v.place, "text contains a NUL character");
    if (mark && (style == FYSS_PLAIN || in_quotes))
        v.verbatim = stands_at(p, mark->input_pos, v.text);
    if (mark && in_quotes && v.place.column > 1) --v.place.column; /* the quote itself */
    GA_TRY(spend(p, 1, v.place));
    if (expects_key(p)) return read_key(p, &v);
    if (!v.quoted && is_null(v.text)) v.kind = GA_VALUE_NULL;
    if (!token) GA_TRY(check_colon(p));
    const char *name = NULL;
    if (event->scalar.anchor) GA_TRY(token_text(p, event->scalar.anchor, &name));
    GA_TRY(remember_anchor(p, name, &v, 1));
    return place_value(p, &v);
}

static ga_status on_alias(parser *p, struct fy_event *event)
{
    const char *name;
    const ga_place place = place_of(p, fy_event_start_mark(event), place_of_nothing(p));
    GA_TRY(token_text(p, event->alias.anchor, &name));
    if (expects_key(p)) return fail(p, place, "a key must be text, not the alias *%.80s", name);
    for (int k = 0; k < p->depth; ++k)
        if (p->frames[k].anchor && !strcmp(p->frames[k].anchor, name))
            return fail(p, place, "the alias *%.80s contains itself", name);
    const int k = ga_names_find(&p->anchor_names, name, strlen(name));
    if (k < 0)
        return fail(p, place,
                    "no anchor &%.80s before this alias; text that starts with * must be in "
                    "quotes",
                    name);
    GA_TRY(spend(p, p->anchors[k].size, place));
    return place_value(p, &p->anchors[k].value);
}

static ga_status on_start(parser *p, struct fy_event *event, ga_value_kind kind,
                          struct fy_token *anchor_token, struct fy_token *tag)
{
    const ga_place place = place_of(p, fy_event_start_mark(event), place_of_nothing(p));
    if (expects_key(p))
        return fail(p, place,
                    "a key must be text, not %s; text that starts with %c must be in "
                    "quotes",
                    kind == GA_VALUE_MAP ? "a map" : "a list",
                    kind == GA_VALUE_MAP ? '{' : '[');
    if (p->depth == GA_YAML_MAX_DEPTH)
        return fail(p, place, "lists and maps are nested more than %d deep", GA_YAML_MAX_DEPTH);
    GA_TRY(spend(p, 1, place));
    bool is_text = false;
    GA_TRY(read_tag(p, tag, &is_text));
    frame f = {.value = {.kind = kind, .place = place}, .first = p->count};
    f.budget = *p->budget + 1;
    f.flow = fy_event_get_node_style(event) == FYNS_FLOW;
    if (anchor_token) GA_TRY(token_text(p, anchor_token, &f.anchor));
    p->frames[p->depth++] = f;
    return GA_OK;
}

static ga_status on_end(parser *p)
{
    const frame f = p->frames[p->depth - 1];
    ga_value v = f.value;
    /* null while nothing has been pending yet; null + 0 is undefined */
    ga_entry *own = p->pending ? p->pending + f.first : NULL;
    GA_TRY(close_entries(p, &v, own, p->count - f.first));
    p->count = f.first;
    --p->depth;
    GA_TRY(remember_anchor(p, f.anchor, &v, f.budget - *p->budget));
    return place_value(p, &v);
}

static ga_status on_document(parser *p, struct fy_event *event)
{
    if (p->has_document)
        return fail(p, place_of(p, fy_event_start_mark(event), p->here),
                    "a second document starts here; a file must contain only one");
    p->has_document = true;
    return GA_OK;
}

static ga_status on_event(parser *p, struct fy_event *event)
{
    switch (event->type) {
    case FYET_DOCUMENT_START:
        return on_document(p, event);
    case FYET_MAPPING_START:
        return on_start(p, event, GA_VALUE_MAP, event->mapping_start.anchor,
                        event->mapping_start.tag);
    case FYET_SEQUENCE_START:
        return on_start(p, event, GA_VALUE_LIST, event->sequence_start.anchor,
                        event->sequence_start.tag);
    case FYET_MAPPING_END:
    case FYET_SEQUENCE_END:
        return on_end(p);
    case FYET_SCALAR:
        return on_scalar(p, event);
    case FYET_ALIAS:
        return on_alias(p, event);
    default:
        return GA_OK;
    }
}

/* Parsing -----------------------------------------------------------------------------------
 */

static ga_status check_source(parser *p)
{
    const ga_yaml_source *s = p->source;
    ga_yaml_survey found = ga_yaml_check_text(s->text, s->length);
    if (!found.problem) found = ga_yaml_check_shape(s->text, s->length);
    if (found.problem) return fail(p, place_at(p, found.at), "%s", found.problem);
    /* libfyaml does not survive a failed allocation; it takes up to some 200 bytes per token.
     * Asking for that much first catches most of it. */
    void *probe = ga_alloc(found.tokens + 1, 256);
    if (!probe) return GA_ERR_MEMORY;
    ga_free(probe);
    return GA_OK;
}

static ga_status open_parser(parser *p)
{
    struct fy_diag_cfg diag;
    fy_diag_cfg_default(&diag);
    diag.fp = NULL;
    diag.colorize = false;
    p->diag = fy_diag_create(&diag);
    if (!p->diag) return GA_ERR_MEMORY;
    fy_diag_set_collect_errors(p->diag, true);
    const struct fy_parse_cfg parse = {.flags = FYPCF_QUIET | FYPCF_DEFAULT_VERSION_1_2 |
                                                FYPCF_JSON_NONE | FYPCF_DISABLE_DEPTH_LIMIT,
                                       .diag = p->diag};
    p->fy = fy_parser_create(&parse);
    if (!p->fy) return GA_ERR_MEMORY;
    return fy_parser_set_string(p->fy, p->source->text, p->source->length) ? GA_ERR_MEMORY
                                                                           : GA_OK;
}

static ga_status parse_events(parser *p)
{
    for (;;) {
        struct fy_event *event = fy_parser_parse(p->fy);
        if (!event) return report_all_syntax(p);
        const bool last = event->type == FYET_STREAM_END;
        p->here = place_of(p, fy_event_start_mark(event), p->here);
        const ga_status status = on_event(p, event);
        fy_parser_event_free(p->fy, event);
        if (last || status != GA_OK) return status;
    }
}

ga_status ga_yaml_parse(ga_reader *reader, const ga_yaml_source *source, long *budget,
                        ga_value *root)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    ga_yaml_source trimmed = *source;
    if (source->length >= 3 && !memcmp(source->text, byte_order_mark, 3)) {
        trimmed.text += 3;
        trimmed.length -= 3;
    }
    parser *p = GA_NEW(parser, 1);
    if (!p) return GA_ERR_MEMORY;
    p->reader = reader;
    p->source = &trimmed;
    p->budget = budget;
    p->root = (ga_value){.place = make_place(p, 1, 1)};
    ga_status status = check_source(p);
    if (status == GA_OK && trimmed.length) {
        status = open_parser(p);
        if (status == GA_OK) status = parse_events(p);
        if (p->fy) fy_parser_destroy(p->fy);
        if (p->diag) fy_diag_destroy(p->diag);
    }
    if (status == GA_OK) *root = p->root;
    ga_names_free(&p->anchor_names);
    ga_free(p->anchors);
    ga_free(p->pending);
    ga_free(p);
    return status;
}
