#include "base/messages.h"

#include "base/arena.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

enum { MAX_WARNINGS = 20, TEXT_SIZE = 1024 };

struct ga_messages {
    ga_arena arena;
    int count, errors, warnings;
    ga_message kept[GA_MESSAGES_MAX_ERRORS + MAX_WARNINGS];
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
    return !messages || messages->errors >= GA_MESSAGES_MAX_ERRORS;
}

ga_message ga_messages_get(const ga_messages *messages, int k)
{
    if (k < 0 || k >= ga_messages_count(messages)) return (ga_message){0};
    return messages->kept[k];
}

static char *copy_line(ga_arena *arena, const char *text)
{
    char *copy = ga_arena_text(arena, text);
    for (char *c = copy; c && *c; ++c)
        if ((unsigned char)*c < ' ' || *c == 127) *c = ' ';
    return copy;
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
    const int found = severity == GA_SEVERITY_ERROR ? ++messages->errors : ++messages->warnings;
    if (found > (severity == GA_SEVERITY_ERROR ? GA_MESSAGES_MAX_ERRORS : MAX_WARNINGS)) return;

    char text[TEXT_SIZE];
    const int length = vsnprintf(text, sizeof text, format, arguments);
    if (length >= TEXT_SIZE) cut_cleanly(text, TEXT_SIZE - 1);
    ga_message *m = &messages->kept[messages->count];
    *m = (ga_message){severity, NULL, line, column, NULL, copy_line(&messages->arena, text)};
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
