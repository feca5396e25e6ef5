#include "base/archive.h"

#include <string.h>

void ga_archive_bytes(ga_archive *a, void *data, size_t size)
{
    if (a->mode != GA_ARCHIVE_COUNT && (a->failed || size > a->size - a->at)) {
        a->failed = true;
        if (a->mode == GA_ARCHIVE_READ && size) memset(data, 0, size);
        return;
    }
    if (size && a->mode == GA_ARCHIVE_WRITE) memcpy(a->bytes + a->at, data, size);
    if (size && a->mode == GA_ARCHIVE_READ) memcpy(data, a->bytes + a->at, size);
    a->at += size;
}

void ga_archive_same(ga_archive *a, int64_t number)
{
    int64_t there = number;
    GA_ARCHIVE(a, there);
    if (there != number) a->failed = true;
}

uint64_t ga_checksum(uint64_t so_far, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;
    for (size_t k = 0; k < size; ++k) {
        so_far ^= byte[k];
        so_far *= UINT64_C(0x100000001b3);
    }
    return so_far;
}
