/* Headers of objects in the format all versions of HDF5 can read (version 1):
 *
 *     version 1 (1), nothing (1), number of messages (2), uses (4), length (4), nothing (4)
 *     messages: kind (2), length (2), flags (1), nothing (3), content
 *
 * A message of kind 16 has address and length of a block with more of them (8 each), one of
 * kind 12 is an attribute:
 *
 *     version 1 .. 3 (1), flags (1), lengths of name, type and shape (2 each), with version 3
 *     an encoding (1); name, type and shape, with version 1 up to a multiple of 8; data
 *
 * One of kind 6 is a link of a group:
 *
 *     version 1 (1), flags (1); with flag 8 its type (1), with 4 its age (8), with 16 an
 *     encoding (1); length of the name (1, 2, 4 or 8, by the lowest two flags), name;
 *     address (8), or for types but 0 a length (2) and as many bytes
 *
 * One of kind 1 is the shape of numbers, one of kind 8 says how they are stored; if in chunks
 * (class 2) with their extents (4 each), one more than the shape has:
 *
 *     version 3, class, number of extents (1 each), address (8), extents; or
 *     version 1 or 2, number of extents, class (1 each), nothing (5), address (8), extents
 *
 * The address is that of a tree, whose nodes are
 *
 *     TREE, kind 1 (1), level (1), number of entries (2), addresses of neighbours (8 each)
 *     entries: size of the chunk in the file (4), filters left out (4), offsets (8 for each
 *     extent); address of the chunk (8), or above level 0 of the node below it
 *
 * A message of kind 11 names filters; without, all chunks have the same size.
 *
 * A message of kind 17 has the addresses of a tree and of a heap for the links of a group (8
 * each). Nodes of the tree are as above, of kind 0, with one more key than entries; keys and
 * names are offsets (8) into the data of the heap:
 *
 *     HEAP, version 0, nothing (3), size of the data (8), nothing (8), address of the data (8)
 *     leaves: SNOD, version 1, nothing (1), number of entries (2)
 *     entries: name (8), address (8), kind (4), nothing (4), 16 bytes; of a soft link, kind 2,
 *     these begin with the offset of where it leads (4)
 *
 * A type has its size at byte 4 (4); a shape begins with version and number of dimensions (1
 * each), and has their extents (8 each) from byte 8 on, or from byte 4 on with version 2. (HDF5
 * File Format Specification, IV.A.) Newer headers have a checksum, which HDF5 looks at.
 */
#include "io/hdf5_vet.h"

#include "base/memory.h"

#include <string.h>

enum {
    SHAPE = 1,
    TYPE = 3,
    LINK = 6,
    LAYOUT = 8,
    FILTERS = 11,
    ATTRIBUTE = 12,
    CONTINUATION = 16,
    GROUP = 17,
    MAX_BLOCKS = 1000, /* of one header; more are a list that bites its tail */
    MAX_RANK = 32,
    SHARED = 2, /* a flag: the content is elsewhere, where nobody has looked at it */
};

typedef struct block {
    uint64_t address, length;
} block;

typedef struct walk {
    const ga_hdf5_origin *origin;
    int count; /* blocks found, the first of which is the header */
    block blocks[MAX_BLOCKS];
    int rank, extents; /* of numbers and, with one for their size, of chunks; -1: none */
    uint64_t size, chunk_size;  /* of a number, by its type and by the chunks; 0: none */
    uint64_t chunk_bytes, tree; /* of a whole chunk; where the chunks are listed */
    bool filtered;
    uint64_t nodes; /* of trees that may still be looked at */
    hid_t object;
    ga_hdf5_each *each; /* null: only look */
    void *user;
} walk;

static uint64_t number(const unsigned char *bytes, int count)
{
    uint64_t x = 0;
    while (count > 0) x = x << 8 | bytes[--count];
    return x;
}

/* Numbers in a shape of `length` bytes, times their size; false: it is damaged. */
static bool count_bytes(const unsigned char *shape, uint64_t length, uint64_t *bytes)
{
    if (length < 4) return false;
    const unsigned rank = shape[1];
    const uint64_t start = shape[0] == 1 ? 8 : 4;
    if (rank > MAX_RANK || start + 8 * rank > length) return false;
    for (unsigned k = 0; k < rank; ++k) {
        const uint64_t extent = number(shape + start + 8 * k, 8);
        if (extent != 0 && *bytes > UINT32_MAX / extent) return false;
        *bytes *= extent;
    }
    return true;
}

/* Whole numbers, floating point, text of fixed and of variable length. What else there is HDF5
 * decodes without looking where the type ends. */
static bool vet_type(const unsigned char *type, uint64_t length)
{
    enum { WHOLE = 0, FLOATING = 1, TEXT = 3, VARIABLE = 9 };
    if (length < 8 || type[0] >> 4 < 1 || type[0] >> 4 > 3) return false;
    switch (type[0] & 15) {
    case WHOLE:
        return length >= 12;
    case FLOATING:
        return length >= 20;
    case TEXT:
        return true;
    case VARIABLE: /* what it consists of follows */
        return length >= 16 && (type[8] & 15) != VARIABLE && vet_type(type + 8, length - 8);
    default:
        return false;
    }
}

static bool vet_attribute(const walk *w, const unsigned char *message, uint64_t length)
{
    if (length < 9 || message[0] < 1 || message[0] > 3) return false;
    uint64_t at = message[0] == 3 ? 9 : 8, starts[3];
    for (int k = 0; k < 3; ++k) {
        uint64_t part = number(message + 2 + 2 * k, 2);
        if (message[0] == 1) part = (part + 7) / 8 * 8;
        starts[k] = at;
        at += part;
    }
    if (at > length || (message[0] > 1 && message[1] != 0) ||
        !vet_type(message + starts[1], starts[2] - starts[1]))
        return false;
    uint64_t bytes = number(message + starts[1] + 4, 4);
    const char *name = (const char *)message + starts[0];
    return memchr(name, 0, starts[1] - starts[0]) &&
           count_bytes(message + starts[2], at - starts[2], &bytes) && bytes <= length - at &&
           (!w->each || w->each(w->user, w->object, name));
}

static bool vet_link(const unsigned char *message, uint64_t length)
{
    if (length < 2 || message[0] != 1) return false;
    const unsigned flags = message[1];
    const int width = 1 << (flags & 3);
    const uint64_t before = 2 + (flags >> 3 & 1u) + 8 * (flags >> 2 & 1u) + (flags >> 4 & 1u);
    if (length < before + (uint64_t)width) return false;
    const unsigned type = flags & 8 ? message[2] : 0;
    const uint64_t name = number(message + before, width), at = before + (uint64_t)width;
    /* types: hard 0, soft 1, others from 64 on; encodings: ASCII 0, UTF-8 1 */
    if (flags > 31 || (type > 1 && type < 64) || (flags & 16 && message[before - 1] > 1))
        return false;
    if (name == 0 || name > length - at) return false;
    const uint64_t left = length - at - name;
    if (type == 0) return left >= 8;
    return left > 2 && number(message + at + name, 2) > 0 &&
           number(message + at + name, 2) <= left - 2;
}

/* HDF5 divides by the extents of chunks. */
static bool vet_layout(walk *w, const unsigned char *message, uint64_t length)
{
    if (length < 3) return false;
    const bool old = message[0] < 3;
    const uint64_t start = old ? 16 : 11, count = message[old ? 1 : 2];
    if (message[0] > 3 || message[old ? 2 : 1] != 2) return true;
    if (start + 4 * count > length) return false;
    w->extents = (int)count;
    w->chunk_size = count ? number(message + start + 4 * (count - 1), 4) : 0;
    w->tree = number(message + start - 8, 8);
    w->chunk_bytes = 1;
    for (uint64_t k = 0; k < count; ++k) {
        const uint64_t extent = number(message + start + 4 * k, 4);
        if (extent == 0 || w->chunk_bytes > UINT32_MAX / extent) return false;
        w->chunk_bytes *= extent;
    }
    return true;
}

/* --- links of a group, as all versions of HDF5 can read them -------------------------------
 */

/* HDF5 takes names from a heap without looking where it ends. */
typedef struct names {
    unsigned char *bytes;
    uint64_t size;
} names;

static bool is_name(const names *heap, uint64_t offset)
{
    return offset < heap->size && memchr(heap->bytes + offset, 0, heap->size - offset);
}

static bool vet_leaf(walk *w, uint64_t address, const names *heap)
{
    enum { HEAD = 8, ENTRY = 40, SOFT = 2 };
    unsigned char head[HEAD], entry[ENTRY];
    if (!ga_hdf5_origin_read(w->origin, address, HEAD, head) || memcmp(head, "SNOD\1", 5) != 0)
        return false;
    const uint64_t count = number(head + 6, 2);
    for (uint64_t k = 0; k < count; ++k)
        if (!ga_hdf5_origin_read(w->origin, address + HEAD + ENTRY * k, ENTRY, entry) ||
            !is_name(heap, number(entry, 8)) ||
            (number(entry + 16, 4) == SOFT && !is_name(heap, number(entry + 24, 4))))
            return false;
    return true;
}

static bool vet_names(walk *w, uint64_t address, unsigned above, const names *heap)
{
    enum { HEAD = 24, KEY = 8, ENTRY = 16 };
    unsigned char head[HEAD], key[KEY], child[8];
    if (w->nodes == 0 || !ga_hdf5_origin_read(w->origin, address, HEAD, head)) return false;
    --w->nodes;
    const unsigned level = head[5];
    const uint64_t count = number(head + 6, 2);
    if (memcmp(head, "TREE\0", 5) != 0 || level >= above) return false;
    for (uint64_t k = 0; k <= count; ++k) {
        const uint64_t at = address + HEAD + ENTRY * k;
        if (!ga_hdf5_origin_read(w->origin, at, KEY, key) || !is_name(heap, number(key, 8)))
            return false;
        if (k == count) return true;
        if (!ga_hdf5_origin_read(w->origin, at + KEY, 8, child)) return false;
        const uint64_t below = number(child, 8);
        if (!(level == 0 ? vet_leaf(w, below, heap) : vet_names(w, below, level, heap)))
            return false;
    }
    return true;
}

static bool vet_group(walk *w, const unsigned char *message, uint64_t length)
{
    enum { HEAD = 32 };
    static const unsigned highest = 255;
    unsigned char head[HEAD];
    if (length < 16 || !ga_hdf5_origin_read(w->origin, number(message + 8, 8), HEAD, head) ||
        memcmp(head, "HEAP", 5) != 0)
        return false;
    const uint64_t size = number(head + 8, 8), address = number(head + 24, 8);
    if (size == 0 || size > w->origin->size || address > w->origin->size - size) return false;
    const names heap = {GA_NEW(unsigned char, size), size};
    w->nodes = w->origin->size / 24 + 1;
    const bool good = heap.bytes &&
                      ga_hdf5_origin_read(w->origin, address, (size_t)size, heap.bytes) &&
                      vet_names(w, number(message, 8), highest, &heap);
    ga_free(heap.bytes);
    return good;
}

static bool vet_messages(walk *w, const unsigned char *bytes, uint64_t length)
{
    for (uint64_t at = 0; length - at >= 8;) {
        const uint64_t kind = number(bytes + at, 2), size = number(bytes + at + 2, 2);
        const unsigned char *content = bytes + at + 8;
        if (size > length - at - 8 || (bytes[at + 4] & SHARED) != 0) return false;
        if (kind == TYPE && !vet_type(content, size)) return false;
        if (kind == TYPE) w->size = number(content + 4, 4);
        if (kind == ATTRIBUTE && !vet_attribute(w, content, size)) return false;
        if (kind == SHAPE && size > 1) w->rank = content[1];
        if (kind == GROUP && !vet_group(w, content, size)) return false;
        if (kind == FILTERS) w->filtered = true;
        if (kind == LINK && !vet_link(content, size)) return false;
        if (kind == LAYOUT && !vet_layout(w, content, size)) return false;
        if (kind == CONTINUATION) {
            if (size < 16 || w->count == MAX_BLOCKS) return false;
            w->blocks[w->count++] = (block){number(content, 8), number(content + 8, 8)};
        }
        at += 8 + size;
    }
    return true;
}

static bool vet_block(walk *w, block b)
{
    if (b.address > w->origin->size || b.length > w->origin->size - b.address) return false;
    unsigned char *bytes = GA_NEW(unsigned char, b.length);
    const bool good = bytes &&
                      ga_hdf5_origin_read(w->origin, b.address, (size_t)b.length, bytes) &&
                      vet_messages(w, bytes, b.length);
    ga_free(bytes);
    return good;
}

/* True with `old` set: it has the header above. */
static bool find_header(const ga_hdf5_origin *origin, haddr_t address, block *header, bool *old)
{
    unsigned char head[16];
    if (!ga_hdf5_origin_read(origin, address, sizeof head, head)) return false;
    *old = head[0] == 1;
    *header = (block){address + sizeof head, number(head + 8, 4)};
    return true;
}

/* HDF5 believes the size of a chunk in the tree, and copies a whole one from it. */
static bool vet_tree(walk *w, uint64_t address, unsigned above)
{
    enum { HEAD = 24 };
    unsigned char head[HEAD];
    if (w->nodes == 0 || !ga_hdf5_origin_read(w->origin, address, HEAD, head)) return false;
    --w->nodes;
    const unsigned level = head[5];
    const uint64_t count = number(head + 6, 2), width = 8 + 8 * (uint64_t)w->extents + 8;
    if (memcmp(head, "TREE\1", 5) != 0 || level >= above) return false;
    unsigned char *entries = GA_NEW(unsigned char, count *width + 1);
    bool good = entries && ga_hdf5_origin_read(w->origin, address + HEAD,
                                               (size_t)(count * width), entries);
    for (uint64_t k = 0; k < count && good; ++k) {
        const unsigned char *entry = entries + k * width;
        good = level == 0 ? number(entry, 4) == w->chunk_bytes
                          : vet_tree(w, number(entry + width - 8, 8), level);
    }
    ga_free(entries);
    return good;
}

static bool vet_chunks(walk *w)
{
    static const unsigned highest = 255;
    if (w->extents < 0) return true;
    if (w->extents != w->rank + 1 || w->chunk_size != w->size) return false;
    if (w->filtered || w->tree == UINT64_MAX) return true; /* unpacked to see; none yet */
    w->nodes = w->origin->size / 24 + 1;
    return vet_tree(w, w->tree, highest);
}

static bool vet_blocks(walk *w, block header)
{
    w->count = 1;
    w->rank = w->extents = -1;
    w->size = w->chunk_size = 0;
    w->filtered = false;
    w->blocks[0] = header;
    for (int k = 0; k < w->count; ++k)
        if (!vet_block(w, w->blocks[k])) return false;
    return vet_chunks(w);
}

bool ga_hdf5_vet(const ga_hdf5_origin *origin, hid_t place, const char *name)
{
    H5L_info_t info;
    walk w = {.origin = origin};
    block header;
    bool old;
    return H5Lget_info(place, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD &&
           find_header(origin, info.u.address, &header, &old) &&
           (!old || vet_blocks(&w, header));
}

bool ga_hdf5_vet_root(const ga_hdf5_origin *origin, hid_t file)
{
    walk w = {.origin = origin};
    H5O_info_t info;
    block header;
    bool old;
    return H5Oget_info(file, &info) >= 0 && find_header(origin, info.addr, &header, &old) &&
           (!old || vet_blocks(&w, header));
}

static herr_t pass_on(hid_t object, const char *name, const H5A_info_t *info, void *user)
{
    (void)info;
    const walk *w = user;
    return w->each(w->user, object, name) ? 0 : -1;
}

bool ga_hdf5_each_attribute(const ga_hdf5_origin *origin, hid_t object, ga_hdf5_each *each,
                            void *user)
{
    walk w = {.origin = origin, .object = object, .user = user};
    H5O_info_t info;
    block header;
    bool old;
    if (H5Oget_info(object, &info) < 0 || !find_header(origin, info.addr, &header, &old) ||
        (old && !vet_blocks(&w, header)))
        return false;
    w.each = each;
    return old ? vet_blocks(&w, header)
               : H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, pass_on, &w) >= 0;
}
