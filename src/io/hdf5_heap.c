/* In place of a text of variable length a file has a reference of 16 bytes: its length (4), the
 * address of a heap (8) and the number of an object in it (4), the lowest byte first. A heap is
 *
 *     GCOL, version 1, 3 bytes of nothing, its size (8)
 *     objects: number (2), uses (2), nothing (4), size (8), as many bytes up to a multiple of 8
 *     object 0: the free space up to the end
 *
 * (HDF5 File Format Specification, III.E, for files with 8-byte lengths). HDF5 hands references
 * out as opaque bytes when a conversion of the one into the other is registered.
 */
#include "io/hdf5_heap.h"

#include "base/memory.h"

#include <string.h>

enum { HEAD = 16 }; /* of a heap, and of an object */

/* What is in the buffer, the reference as it is on disk, is what is asked for. */
static herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t *data, size_t count, size_t stride,
                         size_t background_stride, void *buffer, void *background, hid_t list)
{
    (void)from, (void)to, (void)count, (void)stride, (void)background_stride, (void)buffer;
    (void)background, (void)list;
    data->need_bkg = H5T_BKG_NO;
    return 0;
}

static hid_t text_type(void)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    if (type >= 0) H5Tset_size(type, H5T_VARIABLE);
    return type;
}

bool ga_hdf5_heap_open(ga_hdf5_heap *heap, const ga_hdf5_origin *origin)
{
    *heap = (ga_hdf5_heap){.origin = origin};
    heap->reference = H5Tcreate(H5T_OPAQUE, GA_HDF5_REFERENCE_SIZE);
    const hid_t text = text_type();
    const bool good =
        heap->reference >= 0 && text >= 0 && H5Tset_tag(heap->reference, "galpha text") >= 0 &&
        H5Tregister(H5T_PERS_SOFT, "galpha text", text, heap->reference, keep_bytes) >= 0;
    if (text >= 0) H5Tclose(text);
    return good;
}

void ga_hdf5_heap_close(ga_hdf5_heap *heap)
{
    const hid_t text = text_type();
    if (text >= 0) {
        H5Tunregister(H5T_PERS_SOFT, "galpha text", text, heap->reference, keep_bytes);
        H5Tclose(text);
    }
    if (heap->reference >= 0) H5Tclose(heap->reference);
    ga_free(heap->bytes);
    *heap = (ga_hdf5_heap){.reference = -1};
}

static uint64_t number(const unsigned char *bytes, int count)
{
    uint64_t x = 0;
    while (count > 0) x = x << 8 | bytes[--count];
    return x;
}

static bool load(ga_hdf5_heap *heap, uint64_t address)
{
    unsigned char head[HEAD];
    if (!ga_hdf5_origin_read(heap->origin, address, HEAD, head)) return false;
    const uint64_t size = number(head + 8, 8);
    if (memcmp(head, "GCOL\1", 5) != 0 || size < HEAD || size > heap->origin->size - address)
        return false;
    ga_free(heap->bytes);
    heap->size = 0;
    heap->bytes = GA_NEW(unsigned char, size);
    heap->out_of_memory = !heap->bytes;
    if (!heap->bytes || !ga_hdf5_origin_read(heap->origin, address, (size_t)size, heap->bytes))
        return false;
    heap->address = address;
    heap->size = (size_t)size;
    return true;
}

bool ga_hdf5_heap_find(ga_hdf5_heap *heap, const unsigned char *reference, const char **text,
                       size_t *length)
{
    const uint64_t wanted = number(reference, 4), address = number(reference + 4, 8);
    const uint64_t index = number(reference + 12, 4);
    *text = "";
    *length = 0;
    if (wanted == 0) return true;
    if ((heap->size == 0 || heap->address != address) && !load(heap, address)) return false;
    for (size_t at = HEAD; heap->size - at >= HEAD;) {
        const unsigned char *object = heap->bytes + at;
        const uint64_t size = number(object + 8, 8), room = heap->size - at - HEAD;
        const uint64_t here = number(object, 2);
        if (here == 0 || size > room) return false;
        if (here == index) {
            *text = (const char *)object + HEAD;
            *length = (size_t)wanted;
            return wanted <= size;
        }
        const uint64_t padded = (size + 7) / 8 * 8;
        if (padded > room) return false;
        at += HEAD + (size_t)padded;
    }
    return false;
}
