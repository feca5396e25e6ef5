/* Allocation: zeroed arrays with overflow checks. */
#ifndef GA_BASE_MEMORY_H
#define GA_BASE_MEMORY_H

#include <stddef.h>

/* count * size zeroed bytes, at least one; null if that overflows or memory is out. */
void *ga_alloc(size_t count, size_t size);
/* The same, for an array that is soon written to from end to end: the system provides its pages
 * at once, in half the time it takes one by one. */
void *ga_alloc_whole(size_t count, size_t size);
/* That alone, for memory that has not been written to. */
void ga_take_pages(void *memory, size_t bytes);
/* free(NULL) is fine. */
void ga_free(void *memory);

#define GA_NEW(type, count) ((type *)ga_alloc((size_t)(count), sizeof(type)))
#define GA_NEW_WHOLE(type, count) ((type *)ga_alloc_whole((size_t)(count), sizeof(type)))

#endif
