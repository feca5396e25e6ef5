/* Adding messages; see <galpha/messages.h> for reading them. */
#ifndef GA_BASE_MESSAGES_H
#define GA_BASE_MESSAGES_H

#include <galpha/messages.h>
#include <stdarg.h>
#include <stdbool.h>

/* Text is copied. Line breaks and other control characters become spaces, so that a message is
 * one line whatever a file holds. Does nothing if `messages` is null. */
void ga_messages_add(ga_messages *messages, ga_severity severity, const char *file, int line,
                     int column, const char *path, const char *format, ...)
    __attribute__((format(printf, 7, 8)));
void ga_messages_add_list(ga_messages *messages, ga_severity severity, const char *file,
                          int line, int column, const char *path, const char *format,
                          va_list arguments);

/* True if a further error would not be kept: no need to think about its text. */
bool ga_messages_full(const ga_messages *messages);

#endif
