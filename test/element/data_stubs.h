/* Stands in for src/data where that is not linked: weak, so that the real ones win. */
#ifndef GA_TEST_DATA_STUBS_H
#define GA_TEST_DATA_STUBS_H

#include "data/function.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char stub_message[400]; /* the last error, with its path */

__attribute__((weak)) size_t ga_reader_enter(ga_reader *reader, const char *key)
{
    const size_t mark = strlen(reader->path);
    snprintf(reader->path + mark, sizeof reader->path - mark, "%s%s", mark ? "." : "", key);
    return mark;
}

__attribute__((weak)) void ga_reader_leave(ga_reader *reader, size_t mark)
{
    reader->path[mark] = 0;
}

__attribute__((weak)) bool ga_reader_error(ga_reader *reader, ga_place place,
                                           const char *format, ...)
{
    (void)place;
    const int used = snprintf(stub_message, sizeof stub_message, "%s: ", reader->path);
    va_list list;
    va_start(list, format);
    vsnprintf(stub_message + used, sizeof stub_message - (size_t)used, format, list);
    va_end(list);
    return false;
}

__attribute__((weak)) void *ga_arena_alloc(ga_arena *arena, size_t count, size_t size)
{
    static char pool[1 << 16];
    static size_t used;
    (void)arena;
    const size_t bytes = (count * size + 15) / 16 * 16;
    used = used + bytes > sizeof pool ? 0 : used;
    void *p = pool + used;
    used += bytes;
    return memset(p, 0, bytes);
}

/* offset + amplitude sin(omega t) */
typedef struct stub_sine {
    double offset, amplitude, omega;
} stub_sine;

__attribute__((weak)) void ga_function_rates(const ga_function *function, const double *x,
                                             double out[3])
{
    const stub_sine *f = (const stub_sine *)(const void *)function;
    out[0] = f->offset + f->amplitude * sin(f->omega * x[0]);
    out[1] = f->amplitude * f->omega * cos(f->omega * x[0]);
    out[2] = -f->amplitude * f->omega * f->omega * sin(f->omega * x[0]);
}

__attribute__((weak)) double ga_function_value(const ga_function *function, const double *x)
{
    double out[3];
    ga_function_rates(function, x, out);
    return out[0];
}

__attribute__((weak)) bool ga_function_is_constant(const ga_function *function)
{
    return ((const stub_sine *)(const void *)function)->amplitude == 0;
}

__attribute__((weak)) double ga_function_next_break(const ga_function *function, double t)
{
    (void)function, (void)t;
    return INFINITY;
}

#endif
