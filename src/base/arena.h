/* Memory that is freed all at once. */
#ifndef GA_BASE_ARENA_H
#define GA_BASE_ARENA_H

#include <stddef.h>

typedef struct ga_arena {
    struct ga_arena_block *last;
} ga_arena;

/* count * size zeroed bytes, aligned for anything; null if memory is out. */
void *ga_arena_alloc(ga_arena *arena, size_t count, size_t size);
/* Copies of text, null-terminated. */
char *ga_arena_text(ga_arena *arena, const char *text);
char *ga_arena_text_n(ga_arena *arena, const char *text, size_t length);
void ga_arena_free(ga_arena *arena); /* all of it; a zeroed one is fine */

#define GA_ARENA_NEW(arena, type, count)                                                       \
    ((type *)ga_arena_alloc(arena, (size_t)(count), sizeof(type)))

#endif
