/* At the end of the file: the pieces, then 32 bytes: a word, the length of the pieces, that of
 * the file without the journal (8 bytes each, lowest first), the CRC-32 of all of these, and 4
 * zeros. A journal counts if the checksum is right.
 */
#define _POSIX_C_SOURCE 200809L

#include "io/hdf5_journal.h"

#include "base/memory.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { HEAD = 16, TRAILER = 32, FIRST_ROOM = 1 << 16 };
static const char word[8] = {'g', 'a', 'j', 'o', 'u', 'r', 'n', '1'};

static void put(unsigned char *out, uint64_t x)
{
    for (int k = 0; k < 8; ++k) out[k] = (unsigned char)(x >> 8 * k);
}

static uint64_t get(const unsigned char *in)
{
    uint64_t x = 0;
    for (int k = 7; k >= 0; --k) x = x << 8 | in[k];
    return x;
}

typedef struct piece {
    uint64_t address;
    size_t count;
    const unsigned char *bytes;
} piece;

/* The piece at `at`, which moves on to the next; false: there is none. */
static bool next(const ga_hdf5_journal *journal, size_t *at, piece *p)
{
    if (*at >= journal->used) return false;
    const unsigned char *head = journal->bytes + *at;
    *p = (piece){get(head), (size_t)get(head + 8), head + HEAD};
    *at += HEAD + p->count;
    return true;
}

static bool make_room(ga_hdf5_journal *journal, size_t more)
{
    if (more <= journal->room - journal->used) return true;
    size_t room = journal->room ? journal->room : FIRST_ROOM;
    while (room - journal->used < more) room *= 2;
    unsigned char *larger = GA_NEW(unsigned char, room);
    if (!larger) return false;
    if (journal->used) memcpy(larger, journal->bytes, journal->used);
    ga_free(journal->bytes);
    journal->bytes = larger;
    journal->room = room;
    return true;
}

bool ga_hdf5_journal_add(ga_hdf5_journal *journal, uint64_t address, size_t count,
                         const void *bytes)
{
    if (!make_room(journal, HEAD + count + TRAILER)) return false;
    unsigned char *head = journal->bytes + journal->used;
    put(head, address);
    put(head + 8, count);
    memcpy(head + HEAD, bytes, count);
    journal->used += HEAD + count;
    return true;
}

void ga_hdf5_journal_overlay(const ga_hdf5_journal *journal, uint64_t address, size_t count,
                             void *bytes)
{
    piece p;
    for (size_t at = 0; next(journal, &at, &p);) {
        const uint64_t begin = p.address > address ? p.address : address;
        const uint64_t p_end = p.address + p.count, own_end = address + count;
        const uint64_t end = p_end < own_end ? p_end : own_end;
        if (begin < end)
            memcpy((char *)bytes + (begin - address), p.bytes + (begin - p.address),
                   (size_t)(end - begin));
    }
}

/* --- commit ------------------------------------------------------------------------------- */

/* The beginning of the file is written without its first byte, which follows when all else is
 * there: until then it is no HDF5 file. */
static bool write_first(const ga_hdf5_journal *journal, ga_file *file, uint64_t after,
                        bool durable)
{
    piece p;
    unsigned char first = 0;
    for (size_t at = 0; next(journal, &at, &p);) {
        const bool is_first = p.address == 0 && p.count > 0;
        if (is_first) first = p.bytes[0];
        if (!ga_file_write_at(file, p.bytes + is_first, p.count - is_first,
                              p.address + is_first))
            return false;
    }
    return ga_file_resize(file, after) && (!durable || ga_file_sync(file)) &&
           ga_file_write_at(file, &first, 1, 0);
}

/* Keeps the pieces that are not new. */
static bool write_new(ga_hdf5_journal *journal, ga_file *file, uint64_t before)
{
    size_t kept = 0;
    piece p;
    for (size_t at = 0, begin = 0; next(journal, &at, &p); begin = at) {
        if (p.address < before) {
            memmove(journal->bytes + kept, journal->bytes + begin, at - begin);
            kept += at - begin;
        } else if (!ga_file_write_at(file, p.bytes, p.count, p.address)) {
            return false;
        }
    }
    journal->used = kept;
    return true;
}

static uint32_t checksum(const unsigned char *bytes, size_t count)
{
    uLong sum = crc32_z(0, NULL, 0);
    return (uint32_t)crc32_z(sum, bytes, count);
}

/* In one write, behind everything else. */
static bool append(ga_hdf5_journal *journal, ga_file *file, uint64_t at, uint64_t after)
{
    unsigned char *trailer = journal->bytes + journal->used;
    memcpy(trailer, word, 8);
    put(trailer + 8, journal->used);
    put(trailer + 16, after);
    put(trailer + 24, checksum(journal->bytes, journal->used + 24));
    return ga_file_write_at(file, journal->bytes, journal->used + TRAILER, at);
}

bool ga_hdf5_journal_apply(const ga_hdf5_journal *journal, ga_file *file, uint64_t after,
                           bool durable)
{
    piece p;
    for (size_t at = 0; next(journal, &at, &p);)
        if (!ga_file_write_at(file, p.bytes, p.count, p.address)) return false;
    return (!durable || ga_file_sync(file)) && ga_file_resize(file, after);
}

static bool update(ga_hdf5_journal *journal, ga_file *file, uint64_t before, uint64_t after,
                   bool durable)
{
    const uint64_t end = before > after ? before : after;
    if (!write_new(journal, file, before)) return false;
    if (journal->used == 0) return ga_file_resize(file, after);
    return append(journal, file, end, after) && (!durable || ga_file_sync(file)) &&
           ga_hdf5_journal_apply(journal, file, after, durable);
}

bool ga_hdf5_journal_commit(ga_hdf5_journal *journal, ga_file *file, uint64_t before,
                            uint64_t after, bool durable)
{
    if (file->error) return false;
    const bool good = before == 0 ? write_first(journal, file, after, durable)
                                  : update(journal, file, before, after, durable);
    journal->used = 0;
    return good;
}

/* --- what a killed writer left ------------------------------------------------------------ */

static bool read_at(int descriptor, uint64_t at, size_t count, unsigned char *bytes)
{
    for (size_t done = 0; done < count;) {
        const ssize_t n = pread(descriptor, bytes + done, count - done, (off_t)(at + done));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

/* Whether the pieces fill the journal, and lie in the file. */
static bool is_whole(const ga_hdf5_journal *journal, uint64_t size)
{
    size_t left = journal->used;
    for (const unsigned char *head = journal->bytes; left > 0;) {
        if (left < HEAD) return false;
        const uint64_t address = get(head), count = get(head + 8);
        if (count > left - HEAD || address > size || count > size - address) return false;
        head += HEAD + count;
        left -= HEAD + (size_t)count;
    }
    return true;
}

bool ga_hdf5_journal_load(ga_hdf5_journal *journal, int descriptor, uint64_t size,
                          uint64_t *after)
{
    unsigned char trailer[TRAILER];
    *after = size;
    if (size < TRAILER || !read_at(descriptor, size - TRAILER, TRAILER, trailer) ||
        memcmp(trailer, word, 8) != 0 || get(trailer + 8) > size - TRAILER ||
        get(trailer + 16) > size)
        return true;
    const size_t length = (size_t)get(trailer + 8);
    if (!make_room(journal, length + TRAILER)) return false;
    if (!read_at(descriptor, size - TRAILER - length, length + TRAILER, journal->bytes))
        return true;
    journal->used = length;
    if (get(trailer + 24) != checksum(journal->bytes, length + 24) || !is_whole(journal, size))
        journal->used = 0;
    else
        *after = get(trailer + 16);
    return true;
}

void ga_hdf5_journal_free(ga_hdf5_journal *journal)
{
    ga_free(journal->bytes);
    *journal = (ga_hdf5_journal){0};
}
