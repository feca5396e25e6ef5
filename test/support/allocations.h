/* Counts allocations, and lets them fail: malloc and its relatives are defined in the program
 * that includes this, in front of glibc's, so the library, KLU and LAPACK all meet them. The
 * sanitizers bring their own and are left alone, and valgrind puts its own in front of ours:
 * then in_front() is false, nothing is counted and nothing fails. One file of a program only.
 */
#ifndef GA_TEST_ALLOCATIONS_H
#define GA_TEST_ALLOCATIONS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define INTERPOSED 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define INTERPOSED 0
#endif
#endif
#ifndef INTERPOSED
#define INTERPOSED 1
#endif

static struct {
    bool counting;
    long taken;      /* allocations since counting began */
    long live;       /* blocks taken since then and not yet given back */
    long fail_at;    /* this allocation fails, counted from 1; 0: none */
    bool fail_after; /* and all that follow */
    long failed;
    bool own_only; /* only what this program takes itself, not what shared libraries take; set
                      it after start_counting */
} watch;

#if INTERPOSED

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

#define VISIBLE __attribute__((visibility("default"), used))
VISIBLE void *malloc(size_t size);
VISIBLE void *calloc(size_t count, size_t size);
VISIBLE void *realloc(void *memory, size_t size);
VISIBLE void *aligned_alloc(size_t alignment, size_t size);
VISIBLE int posix_memalign(void **memory, size_t alignment, size_t size);
VISIBLE void free(void *memory);

/* Blocks taken while counting, so that giving back older ones does not count. */
enum { SLOTS = 1 << 14 };
static void *blocks[SLOTS];

static size_t slot_of(const void *memory)
{
    return ((uintptr_t)memory >> 4) * 2654435761u % SLOTS;
}

static void remember(void *memory)
{
    if (!watch.counting || !memory) return;
    for (size_t k = slot_of(memory), n = 0; n < SLOTS; ++n, k = (k + 1) % SLOTS)
        if (!blocks[k] || blocks[k] == (void *)blocks) {
            blocks[k] = memory;
            ++watch.live;
            return;
        }
    abort();
}

static void forget(const void *memory)
{
    if (!memory || watch.live == 0) return;
    for (size_t k = slot_of(memory), n = 0; n < SLOTS && blocks[k]; ++n, k = (k + 1) % SLOTS)
        if (blocks[k] == memory) {
            blocks[k] = (void *)blocks; /* a grave: the search goes on behind it */
            --watch.live;
            return;
        }
}

/* The program's own code, by the linker. */
extern const char __executable_start, etext;
static bool is_own(const void *caller)
{
    return (const char *)caller >= &__executable_start && (const char *)caller < &etext;
}

static bool refuse(const void *caller)
{
    if (!watch.counting || (watch.own_only && !is_own(caller))) return false;
    ++watch.taken;
    if (watch.fail_at == 0) return false;
    if (watch.taken != watch.fail_at && !(watch.fail_after && watch.taken > watch.fail_at))
        return false;
    ++watch.failed;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    if (refuse(__builtin_return_address(0))) return NULL;
    void *memory = __libc_malloc(size);
    remember(memory);
    return memory;
}

void *calloc(size_t count, size_t size)
{
    if (refuse(__builtin_return_address(0))) return NULL;
    void *memory = __libc_calloc(count, size);
    remember(memory);
    return memory;
}

void *realloc(void *old, size_t size)
{
    if (refuse(__builtin_return_address(0))) return NULL;
    void *memory = __libc_realloc(old, size);
    if (memory || size == 0) forget(old);
    remember(memory);
    return memory;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    if (refuse(__builtin_return_address(0))) return NULL;
    void *memory = __libc_memalign(alignment, size);
    remember(memory);
    return memory;
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (refuse(__builtin_return_address(0))) return ENOMEM;
    *memory = __libc_memalign(alignment, size);
    remember(*memory);
    return *memory ? 0 : ENOMEM;
}

void free(void *memory)
{
    forget(memory);
    __libc_free(memory);
}

static void start_counting(long fail_at, bool fail_after)
{
    memset(blocks, 0, sizeof blocks);
    memset(&watch, 0, sizeof watch);
    watch.fail_at = fail_at;
    watch.fail_after = fail_after;
    watch.counting = true;
}

static void stop_counting(void) { watch.counting = false; }

/* Through a pointer, because the compiler knows malloc and leaves out pairs it sees through. */
static void *(*volatile take)(size_t size) = malloc;

/* False under valgrind. */
static bool in_front(void)
{
    start_counting(0, false);
    void *memory = take(1);
    stop_counting();
    free(memory);
    return watch.taken == 1;
}

#else

static void start_counting(long fail_at, bool fail_after)
{
    (void)fail_at, (void)fail_after;
    memset(&watch, 0, sizeof watch);
}
static void stop_counting(void) {}
static bool in_front(void) { return false; }

#endif

#endif
