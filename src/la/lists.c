/* Lists of numbers, each kept once; see lists.h. A hash table with linear probing, at most half
 * full, finds them. Like parts follow each other in like order, so the list that came after the
 * same ones before is tried first: to compare takes a fraction of the time of a hash. */
#include "la/lists.h"
#include "base/memory.h"
#include "base/report.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Two numbers at a time: multiplication by an odd constant with many ones, and the upper half
 * folded in; twice in the end, for lists that differ in their last numbers only. */
static uint64_t mix(uint64_t h)
{
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 32;
}

static uint64_t hash(int count, const int *item)
{
    uint64_t h = (uint64_t)count, two;
    for (int k = 0; k + 1 < count; k += 2) {
        memcpy(&two, item + k, sizeof two);
        h = mix(h ^ two);
    }
    if (count % 2) h = mix(h ^ (uint32_t)item[count - 1]);
    return mix(mix(h));
}

_Static_assert(2 * sizeof(int) == sizeof(uint64_t), "two numbers at a time");

static bool is_list(const ga_lists *l, int number, int count, const int *item)
{
    const int *start = l->start + number;
    if (start[1] - start[0] != count) return false;
    return !count || !memcmp(l->item + start[0], item, (size_t)count * sizeof *item);
}

/* The slot of the list, or the free one it belongs in. */
static int find(const ga_lists *l, int count, const int *item)
{
    const int mask = l->slots - 1;
    int slot = (int)(hash(count, item) & (uint64_t)mask);
    while (l->table[slot] && !is_list(l, l->table[slot] - 1, count, item))
        slot = (slot + 1) & mask;
    return slot;
}

/* An array of so many ints in place of one with `used`; at least one. */
static ga_status resize(int **array, int used, int size)
{
    int *other = GA_NEW(int, size);
    if (!other) return GA_ERR_MEMORY;
    if (used) memcpy(other, *array, (size_t)used * sizeof *other);
    ga_free(*array);
    *array = other;
    return GA_OK;
}

/* Twice as large, but enough for `least`. */
static int larger(int room, int least)
{
    const int twice = room > INT_MAX / 2 ? INT_MAX : 2 * room;
    return twice > least ? twice : least;
}

static ga_status grow_table(ga_lists *l)
{
    const int slots = l->slots ? 2 * l->slots : 16;
    int *table = GA_NEW(int, slots);
    if (!table) return GA_ERR_MEMORY;
    ga_free(l->table);
    l->table = table;
    l->slots = slots;
    for (int k = 0; k < l->count; ++k)
        table[find(l, l->start[k + 1] - l->start[k], l->item + l->start[k])] = k + 1;
    return GA_OK;
}

static ga_status make_room(ga_lists *l, int count)
{
    const int used = l->count ? l->start[l->count] : 0;
    if (count > INT_MAX - used || l->count > INT_MAX / 4) return GA_ERR_MEMORY;
    if (2 * (l->count + 1) > l->slots) GA_TRY(grow_table(l));
    if (l->count + 2 > l->room) {
        const int room = larger(l->room, 16);
        GA_TRY(resize(&l->start, l->count ? l->count + 1 : 0, room));
        l->room = room;
    }
    if (used + count > l->item_room) {
        const int room = larger(l->item_room, used + count);
        GA_TRY(resize(&l->item, used, room));
        l->item_room = room;
    }
    return GA_OK;
}

static ga_status find_or_add(ga_lists *l, int count, const int *item, int *number)
{
    int slot = l->table ? find(l, count, item) : 0;
    if (!l->table || !l->table[slot]) {
        GA_TRY(make_room(l, count));
        slot = find(l, count, item);
        const int used = l->start[l->count];
        if (count) memcpy(l->item + used, item, (size_t)count * sizeof *item);
        l->table[slot] = ++l->count;
        l->start[l->count] = used + count;
    }
    *number = l->table[slot] - 1;
    return GA_OK;
}

enum { GUESSES = 1024 }; /* a power of two */

ga_status ga_lists_add(ga_lists *l, int count, const int *item, int *number)
{
    if (!l->after && !(l->after = GA_NEW(int, GUESSES))) return GA_ERR_MEMORY;
    int *guess = &l->after[l->history * UINT32_C(0x9e3779b1) >> 22 & (GUESSES - 1)];
    if (*guess && is_list(l, *guess - 1, count, item)) {
        *number = *guess - 1;
    } else {
        GA_TRY(find_or_add(l, count, item, number));
        *guess = *number + 1;
    }
    l->history = l->history << 5 ^ (unsigned)*number;
    return GA_OK;
}

ga_status ga_lists_finish(ga_lists *l)
{
    ga_free(l->table);
    ga_free(l->after);
    l->table = l->after = NULL;
    if (!l->count) return GA_OK;
    const int used = l->start[l->count];
    GA_TRY(resize(&l->start, l->count + 1, l->count + 1));
    return resize(&l->item, used, used);
}

void ga_lists_destroy(ga_lists *l)
{
    ga_free(l->start);
    ga_free(l->item);
    ga_free(l->table);
    ga_free(l->after);
    *l = (ga_lists){0};
}
