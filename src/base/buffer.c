#include "base/buffer.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

/* Room for so many more bytes and a NUL. */
static bool reserve(ga_buffer *b, size_t more)
{
    if (b->failed) return false;
    if (more < b->capacity - b->length) return true;
    size_t capacity = b->capacity ? 2 * b->capacity : FIRST_CAPACITY;
    while (capacity - b->length <= more && capacity < SIZE_MAX / 4) capacity *= 2;
    char *text = capacity - b->length > more ? ga_alloc(capacity, 1) : NULL;
    if (!text) {
        b->failed = true;
        return false;
    }
    if (b->length) memcpy(text, b->text, b->length);
    ga_free(b->text);
    b->text = text;
    b->capacity = capacity;
    return true;
}

void ga_buffer_add_n(ga_buffer *b, const char *text, size_t length)
{
    if (!reserve(b, length)) return;
    if (length) memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = '\0';
}

void ga_buffer_add(ga_buffer *b, const char *text) { ga_buffer_add_n(b, text, strlen(text)); }

void ga_buffer_fill(ga_buffer *b, char c, size_t count)
{
    if (!reserve(b, count)) return;
    memset(b->text + b->length, c, count);
    b->length += count;
    b->text[b->length] = '\0';
}

void ga_buffer_format(ga_buffer *b, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (length >= 0 && reserve(b, (size_t)length)) {
        vsnprintf(b->text + b->length, (size_t)length + 1, format, again);
        b->length += (size_t)length;
    }
    va_end(again);
}

void ga_number_write(double x, int digits, char *text, size_t size)
{
    snprintf(text, size, "%.*g", digits, x);
    size_t at = strspn(text, "+-0123456789eE");
    if (!text[at]) return;
    /* A decimal sign of the locale may be more than one byte long. */
    size_t length = strcspn(text + at, "0123456789eE");
    text[at] = '.';
    memmove(text + at + 1, text + at + length, strlen(text + at + length) + 1);
}

void ga_buffer_number(ga_buffer *b, double x, int digits)
{
    char text[32];
    ga_number_write(x, digits, text, sizeof text);
    ga_buffer_add(b, text);
}

char *ga_buffer_take(ga_buffer *b)
{
    if (!b->text) ga_buffer_add(b, "");
    char *text = b->failed ? NULL : b->text;
    if (!text) ga_free(b->text);
    *b = (ga_buffer){0};
    return text;
}

void ga_buffer_free(ga_buffer *b)
{
    ga_free(b->text);
    *b = (ga_buffer){0};
}
