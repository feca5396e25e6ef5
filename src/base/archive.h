/* Numbers as bytes and back. One function lists what there is, and serves for counting, writing
 * and reading:
 *
 *     static void list(ga_archive *a, thing *x)
 *     {
 *         GA_ARCHIVE(a, x->t);
 *         ga_archive_numbers(a, x->n, x->q);
 *     }
 *
 * Nothing with pointers may be listed, and no struct with padding, whose bytes mean nothing. */
#ifndef GA_BASE_ARCHIVE_H
#define GA_BASE_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ga_archive_mode {
    GA_ARCHIVE_COUNT,
    GA_ARCHIVE_WRITE,
    GA_ARCHIVE_READ
} ga_archive_mode;

typedef struct ga_archive {
    ga_archive_mode mode;
    unsigned char *bytes; /* not changed by reading */
    size_t size;          /* of them; not used by counting */
    size_t at;            /* done so far */
    bool failed;          /* the bytes were too few, or not what they should be */
} ga_archive;

/* Too few bytes: the archive has failed, and what is read is zero. */
void ga_archive_bytes(ga_archive *a, void *data, size_t size);
#define GA_ARCHIVE(a, x) ga_archive_bytes((a), &(x), sizeof(x))
static inline void ga_archive_numbers(ga_archive *a, int n, double *x)
{
    ga_archive_bytes(a, x, (size_t)n * sizeof *x);
}
/* A number that must be the same where it is read; else the archive has failed. */
void ga_archive_same(ga_archive *a, int64_t number);

/* FNV-1a, from an earlier value or GA_CHECKSUM_EMPTY. */
#define GA_CHECKSUM_EMPTY UINT64_C(0xcbf29ce484222325)
uint64_t ga_checksum(uint64_t so_far, const void *bytes, size_t size);

#endif
