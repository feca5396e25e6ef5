/* All errors and warnings about an input, each with its location in a file. */
#ifndef GALPHA_MESSAGES_H
#define GALPHA_MESSAGES_H

#include <galpha/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_severity { GA_SEVERITY_ERROR, GA_SEVERITY_WARNING } ga_severity;

typedef struct ga_message {
    ga_severity severity;
    const char *file; /* null: belongs to no file */
    int line, column; /* from 1; 0: unknown */
    const char *path; /* joints.hinge.axis; null: none */
    const char *text; /* what is wrong, what was expected */
} ga_message;

typedef struct ga_messages ga_messages;

/* Number of errors kept; further ones are only counted. */
enum { GA_MESSAGES_MAX_ERRORS = 20 };

/* Null if out of memory. Functions that take a ga_messages accept null. */
GA_API ga_messages *ga_messages_create(void);
GA_API void ga_messages_destroy(ga_messages *messages);

GA_API int ga_messages_count(const ga_messages *messages);  /* kept, warnings included */
GA_API int ga_messages_errors(const ga_messages *messages); /* found, possibly more than kept */
GA_API ga_message ga_messages_get(const ga_messages *messages, int k);
/* One line, "crank.yaml:14:9: joints.hinge.axis: is the zero vector, expected a direction",
 * without a newline; warnings have "warning: " after the location. Returns the length needed,
 * like snprintf.
 */
GA_API int ga_messages_format(const ga_messages *messages, int k, char *line, size_t size);

#ifdef __cplusplus
}
#endif
#endif
