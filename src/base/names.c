#include "base/names.h"

#include "base/memory.h"
#include "base/report.h"

#include <stdint.h>
#include <string.h>

typedef struct ga_names_slot {
    const char *text; /* null: free */
    size_t length;
    uint32_t hash; /* its lower half: tables are smaller */
    int index;
} slot;

enum { SMALLEST = 16 };

/* FNV-1a; its low bits are good, and they choose the slot. */
static uint32_t hash_of(const char *text, size_t length)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t k = 0; k < length; ++k) {
        hash ^= (unsigned char)text[k];
        hash *= 0x100000001b3u;
    }
    return (uint32_t)hash;
}

/* The slot of a name, or the free one where it would go. At least one is always free. */
static slot *look_up(const ga_names *names, const char *text, size_t length, uint32_t hash)
{
    const size_t mask = names->capacity - 1;
    for (size_t k = (size_t)hash & mask;; k = (k + 1) & mask) {
        slot *s = &names->slots[k];
        if (!s->text) return s;
        if (s->hash == hash && s->length == length && !memcmp(s->text, text, length)) return s;
    }
}

static ga_status grow(ga_names *names, size_t capacity)
{
    ga_names larger = {.count = names->count, .capacity = capacity};
    larger.slots = GA_NEW_WHOLE(slot, larger.capacity);
    if (!larger.slots) return GA_ERR_MEMORY;
    for (size_t k = 0; k < names->capacity; ++k) {
        const slot *s = &names->slots[k];
        if (s->text) *look_up(&larger, s->text, s->length, s->hash) = *s;
    }
    ga_free(names->slots);
    *names = larger;
    return GA_OK;
}

int ga_names_find(const ga_names *names, const char *text, size_t length)
{
    if (!names->count) return -1;
    const slot *s = look_up(names, text, length, hash_of(text, length));
    return s->text ? s->index : -1;
}

/* At least half of the slots stay free. */
ga_status ga_names_reserve(ga_names *names, size_t more)
{
    size_t capacity = names->capacity ? names->capacity : SMALLEST;
    while (capacity / 2 < names->count + more) {
        if (capacity > SIZE_MAX / 2) return GA_ERR_MEMORY;
        capacity *= 2;
    }
    return capacity == names->capacity ? GA_OK : grow(names, capacity);
}

ga_status ga_names_put(ga_names *names, const char *text, size_t length, int index)
{
    GA_TRY(ga_names_reserve(names, 1));
    const uint32_t hash = hash_of(text, length);
    slot *s = look_up(names, text, length, hash);
    if (!s->text) ++names->count;
    *s = (slot){text, length, hash, index};
    return GA_OK;
}

void ga_names_free(ga_names *names)
{
    ga_free(names->slots);
    *names = (ga_names){0};
}

/* After a mismatch the last star takes one character more. */
bool ga_word_matches(const char *pattern, size_t n, const char *word, size_t m)
{
    size_t p = 0, w = 0, star = n, taken = 0;
    while (w < m) {
        if (p < n && pattern[p] == '*') {
            star = p++;
            taken = w;
        } else if (p < n && pattern[p] == word[w]) {
            ++p, ++w;
        } else if (star < n) {
            p = star + 1;
            w = ++taken;
        } else
            return false;
    }
    while (p < n && pattern[p] == '*') ++p;
    return p == n;
}
