#include "base/messages.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    MAX_WARNINGS = 20,
    MAX_KEPT = GA_MESSAGES_MAX_ERRORS + MAX_WARNINGS,
    ENOUGH = 10 * GA_MESSAGES_MAX_ERRORS, /* errors that were thought about */
    TEXT_SIZE = 1024,
    MORE_SIZE = 40 /* of " (and 9 more like it)" */
};

/* A kept message stands for those that followed at the same place with the same path and text,
 * but for numbers in them: a mistake in a repeat block, once for each copy. */
struct ga_messages {
    ga_arena arena;
    int count, errors, warnings, alike;
    ga_message kept[MAX_KEPT];
    int more[MAX_KEPT]; /* that a message stands for, beside itself */
};

ga_messages *ga_messages_create(void) { return GA_NEW(ga_messages, 1); }

void ga_messages_destroy(ga_messages *messages)
{
    if (!messages) return;
    ga_arena_free(&messages->arena);
    ga_free(messages);
}

int ga_messages_count(const ga_messages *messages) { return messages ? messages->count : 0; }
int ga_messages_errors(const ga_messages *messages) { return messages ? messages->errors : 0; }

bool ga_messages_full(const ga_messages *messages)
{
    return !messages || messages->errors >= GA_MESSAGES_MAX_ERRORS || messages->alike >= ENOUGH;
}

ga_message ga_messages_get(const ga_messages *messages, int k)
{
    if (k < 0 || k >= ga_messages_count(messages)) return (ga_message){0};
    return messages->kept[k];
}

static void make_line(char *text)
{
    for (char *c = text; c && *c; ++c)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
}

static char *copy_line(ga_arena *arena, const char *text)
{
    char *copy = ga_arena_text(arena, text);
    make_line(copy);
    return copy;
}

/* With room for what says how many more there are. */
static char *copy_text(ga_arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = ga_arena_alloc(arena, size + MORE_SIZE, 1);
    if (copy) memcpy(copy, text, size);
    make_line(copy);
    return copy;
}

/* Past a number, if there is one. */
static const char *skip_number(const char *text)
{
    const char *c = text;
    if (*c == '-' || *c == '+') ++c;
    if (!(*c >= '0' && *c <= '9')) return text;
    while ((*c >= '0' && *c <= '9') || *c == '.') ++c;
    if (*c == 'e' && (c[1] == '-' || c[1] == '+')) c = skip_number(c + 1);
    return c;
}

/* Equal but for numbers, in the first `length` characters of a and all of b. */
static bool are_alike(const char *a, size_t length, const char *b)
{
    const char *end = a + length;
    while (a < end && *b) {
        const char *after_a = skip_number(a), *after_b = skip_number(b);
        const bool numbers = after_a > a && after_b > b;
        if (!numbers && *a != *b) return false;
        a = numbers ? after_a : a + 1;
        b = numbers ? after_b : b + 1;
    }
    return a == end && !*b;
}

static int describe_more(const ga_messages *messages, int k, char text[MORE_SIZE])
{
    return messages->more[k] == 0
               ? 0
               : snprintf(text, MORE_SIZE, " (and %d more like it)", messages->more[k]);
}

static bool have_alike_paths(const ga_message *a, const ga_message *b)
{
    const char *one = a->path ? a->path : "", *two = b->path ? b->path : "";
    return are_alike(one, strlen(one), two);
}

/* The kept message that a new one repeats, or -1. Once enough are alike, texts lack suggestions
 * and the place has to do. */
static int find_alike(const ga_messages *messages, const ga_message *m)
{
    int there = -1;
    if (!m->file || m->column == 0) return -1;
    for (int k = 0; k < messages->count; ++k) {
        const ga_message *old = &messages->kept[k];
        char more[MORE_SIZE];
        if (old->severity != m->severity || old->line != m->line || old->column != m->column ||
            !old->file || strcmp(old->file, m->file) != 0 || !have_alike_paths(old, m))
            continue;
        const size_t length = strlen(old->text) - (size_t)describe_more(messages, k, more);
        if (are_alike(old->text, length, m->text)) return k;
        there = k;
    }
    return messages->alike >= ENOUGH ? there : -1;
}

/* One more like message k, which has room for it. */
static void count_alike(ga_messages *messages, int k)
{
    char *text = (char *)(uintptr_t)messages->kept[k].text, more[MORE_SIZE];
    char *end = text + strlen(text) - describe_more(messages, k, more);
    ++messages->more[k];
    ++messages->alike;
    describe_more(messages, k, more);
    strcpy(end, more);
}

/* A cut in the middle of a character would leave invalid UTF-8. */
static void cut_cleanly(char *text, size_t length)
{
    while (length && ((unsigned char)text[length - 1] & 0xC0) == 0x80) --length;
    if (length && (unsigned char)text[length - 1] >= 0xC0) --length;
    text[length] = 0;
}

void ga_messages_add_list(ga_messages *messages, ga_severity severity, const char *file,
                          int line, int column, const char *path, const char *format,
                          va_list arguments)
{
    if (!messages) return;
    char text[TEXT_SIZE];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    if (length >= TEXT_SIZE) cut_cleanly(text, TEXT_SIZE - 1);
    make_line(text);
    const int alike =
        find_alike(messages, &(ga_message){severity, file, line, column, path, text});
    if (alike >= 0) {
        count_alike(messages, alike);
        return;
    }
    const int found = severity == GA_SEVERITY_ERROR ? ++messages->errors : ++messages->warnings;
    if (found > (severity == GA_SEVERITY_ERROR ? GA_MESSAGES_MAX_ERRORS : MAX_WARNINGS)) return;

    ga_message *m = &messages->kept[messages->count];
    *m = (ga_message){severity, NULL, line, column, NULL, copy_text(&messages->arena, text)};
    if (file) m->file = copy_line(&messages->arena, file);
    if (path && *path) m->path = copy_line(&messages->arena, path);
    /* Without memory the message is still counted, so that nothing passes as correct. */
    if (m->text && (m->file || !file)) ++messages->count;
}

void ga_messages_add(ga_messages *messages, ga_severity severity, const char *file, int line,
                     int column, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ga_messages_add_list(messages, severity, file, line, column, path, format, arguments);
    va_end(arguments);
}

int ga_messages_format(const ga_messages *messages, int k, char *line, size_t size)
{
    const ga_message m = ga_messages_get(messages, k);
    char place[32] = "";
    if (m.file && m.line > 0 && m.column > 0)
        snprintf(place, sizeof place, ":%d:%d", m.line, m.column);
    else if (m.file && m.line > 0)
        snprintf(place, sizeof place, ":%d", m.line);
    return snprintf(line, size, "%s%s%s%s%s%s%s", m.file ? m.file : "", place,
                    m.file ? ": " : "", m.severity == GA_SEVERITY_WARNING ? "warning: " : "",
                    m.path ? m.path : "", m.path ? ": " : "", m.text ? m.text : "");
}
