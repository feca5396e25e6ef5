/* Text that grows at its end. Where memory runs out, what follows is dropped and the end says
 * so: nobody has to look in between. */
#ifndef GA_BASE_BUFFER_H
#define GA_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct ga_buffer {
    char *text; /* null-terminated; null while empty */
    size_t length, capacity;
    bool failed;
} ga_buffer;

void ga_buffer_add(ga_buffer *buffer, const char *text);
void ga_buffer_add_n(ga_buffer *buffer, const char *text, size_t length);
void ga_buffer_fill(ga_buffer *buffer, char c, size_t count);
void ga_buffer_format(ga_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* With so many significant digits, and a point whatever the locale. */
void ga_buffer_number(ga_buffer *buffer, double x, int digits);
/* The text, which the caller frees, or null if memory ran out. The buffer is empty again. */
char *ga_buffer_take(ga_buffer *buffer);
void ga_buffer_free(ga_buffer *buffer); /* a zeroed one is fine */

/* Writes a finite number as above; size 32 is enough up to 17 digits. */
void ga_number_write(double x, int digits, char *text, size_t size);

#endif
