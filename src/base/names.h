/* From names to indices, in constant time: a hash table with open addressing. */
#ifndef GA_BASE_NAMES_H
#define GA_BASE_NAMES_H

#include <galpha/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ga_names {
    struct ga_names_slot *slots;
    size_t count, capacity; /* a power of two, or 0 */
} ga_names;

/* The index that goes with a name; -1: none. */
int ga_names_find(const ga_names *names, const char *text, size_t length);
/* Adds a name, or gives it another index. The text is borrowed. GA_OK or GA_ERR_MEMORY. */
ga_status ga_names_put(ga_names *names, const char *text, size_t length, int index);
/* Room for so many names more, all at once. GA_OK or GA_ERR_MEMORY. */
ga_status ga_names_reserve(ga_names *names, size_t more);
/* Whether a word matches a pattern, in which `*` stands for any number of characters. */
bool ga_word_matches(const char *pattern, size_t pattern_length, const char *word,
                     size_t length);
/* A zeroed one is fine. */
void ga_names_free(ga_names *names);

#endif
