/* Blocks in a list, each used from front to back; the next one is larger, so that their number
 * stays small. What does not fit well gets a block of its own, behind the one in use.
 */
#include "base/arena.h"

#include "base/memory.h"

#include <stdint.h>
#include <string.h>

enum { FIRST_BLOCK = 1 << 12, LARGEST_BLOCK = 1 << 20 };

typedef struct ga_arena_block {
    struct ga_arena_block *before;
    size_t used, size;
    max_align_t memory[];
} block;

static block *block_create(size_t size)
{
    if (size > SIZE_MAX - sizeof(block)) return NULL;
    block *b = ga_alloc_whole(1, sizeof(block) + size);
    if (b) b->size = size;
    return b;
}

void *ga_arena_alloc(ga_arena *arena, size_t count, size_t size)
{
    const size_t unit = sizeof(max_align_t);
    if (size && count > (SIZE_MAX - unit) / size) return NULL;
    const size_t asked = count && size ? count * size : 1;
    const size_t bytes = (asked + unit - 1) / unit * unit;
    block *last = arena->last;
    if (last && last->size - last->used >= bytes) {
        void *memory = (char *)last->memory + last->used;
        last->used += bytes;
        return memory;
    }
    size_t next = last ? 2 * last->size : FIRST_BLOCK;
    if (next > LARGEST_BLOCK) next = LARGEST_BLOCK;
    const int alone = bytes > next / 4;
    block *b = block_create(alone ? bytes : next);
    if (!b) return NULL;
    b->used = bytes;
    if (alone && last) {
        b->before = last->before;
        last->before = b;
    } else {
        b->before = last;
        arena->last = b;
    }
    return b->memory;
}

char *ga_arena_text(ga_arena *arena, const char *text)
{
    return ga_arena_text_n(arena, text, strlen(text));
}

char *ga_arena_text_n(ga_arena *arena, const char *text, size_t length)
{
    char *copy = length < SIZE_MAX ? ga_arena_alloc(arena, length + 1, 1) : NULL;
    if (copy && length) memcpy(copy, text, length);
    return copy;
}

void ga_arena_free(ga_arena *arena)
{
    for (block *b = arena->last; b;) {
        block *before = b->before;
        ga_free(b);
        b = before;
    }
    arena->last = NULL;
}
