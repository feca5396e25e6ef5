/* A text as a document, with its messages. */
#ifndef GA_TEST_READING_H
#define GA_TEST_READING_H

#include "data/read.h"
#include "test/support/unit.h"

#include <stdio.h>
#include <string.h>

typedef struct reading {
    ga_status status;
    ga_document *document;
    ga_messages *messages;
    ga_reader reader;
} reading;

#define DATA GALPHA_SOURCE_DIR "/test/document/data/"

static inline reading finish_reading(ga_status status, ga_document *d, ga_messages *m)
{
    return (reading){status, d, m, {.document = d, .messages = m, .dimension = 3}};
}

static inline reading read_with(const char *text, const ga_document_options *options)
{
    ga_messages *messages = ga_messages_create();
    ga_document *document = NULL;
    assert_non_null(messages);
    const ga_status status =
        ga_document_parse("m.yaml", text, strlen(text), options, &document, messages);
    return finish_reading(status, document, messages);
}

static inline reading read_text(const char *text) { return read_with(text, NULL); }

static inline reading read_file(const char *path, const ga_document_options *options)
{
    ga_messages *messages = ga_messages_create();
    ga_document *document = NULL;
    assert_non_null(messages);
    const ga_status status = ga_document_read(path, options, &document, messages);
    return finish_reading(status, document, messages);
}

static inline void close_reading(reading *r)
{
    ga_document_destroy(r->document);
    ga_messages_destroy(r->messages);
}

static inline const char *message(const reading *r, int k)
{
    static char line[2048];
    ga_messages_format(r->messages, k, line, sizeof line);
    return line;
}

/* The k-th message begins and goes on like this. */
static inline void assert_says(const reading *r, int k, const char *place, const char *text)
{
    const char *line = message(r, k);
    if (strncmp(line, place, strlen(place)) != 0 || !strstr(line, text))
        fail_msg("message %d is \"%s\", expected \"%s ... %s\"", k, line, place, text);
}

static inline void assert_good(const reading *r)
{
    if (r->status != GA_OK) fail_msg("%s: %s", ga_status_name(r->status), message(r, 0));
    assert_int_equal(ga_messages_count(r->messages), 0);
}

/* bodies.top.mass, position[2] */
static inline const ga_value *at(const reading *r, const char *path)
{
    const ga_value *v = &r->document->root;
    char step[64];
    while (*path) {
        const size_t n = strcspn(path, ".[");
        if (*path == '[') {
            int k = 0;
            assert_int_equal(sscanf(path, "[%d]", &k), 1);
            assert_true(v->kind == GA_VALUE_LIST && k < v->count);
            v = &v->entries[k].value;
            path = strchr(path, ']') + 1;
        } else {
            snprintf(step, sizeof step, "%.*s", (int)n, path);
            v = ga_value_get(v, step);
            if (!v) fail_msg("there is no %s", path);
            path += n;
        }
        if (*path == '.') ++path;
    }
    return v;
}

static inline const char *text_at(const reading *r, const char *path)
{
    const ga_value *v = at(r, path);
    assert_int_equal(v->kind, GA_VALUE_SCALAR);
    return v->text;
}

static inline double number_at(reading *r, const char *path)
{
    double x = 0;
    if (!ga_read_number(&r->reader, at(r, path), &x)) fail_msg("%s: %s", path, message(r, 0));
    return x;
}

#endif
