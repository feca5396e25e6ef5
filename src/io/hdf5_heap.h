/* Text of variable length in HDF5 files, read past HDF5: its own functions believe what a file
 * says of lengths and places, and run over the end of their memory where that is wrong. */
#ifndef GA_IO_HDF5_HEAP_H
#define GA_IO_HDF5_HEAP_H

#include "io/hdf5_driver.h"

#include <stdbool.h>

/* The heap read last: a file has many small ones, and neighbours share them. */
typedef struct ga_hdf5_heap {
    const ga_hdf5_origin *origin;
    hid_t reference; /* HDF5's name for the bytes that stand in place of a text */
    uint64_t address;
    size_t size; /* 0: none yet */
    unsigned char *bytes;
    bool out_of_memory;
} ga_hdf5_heap;

enum { GA_HDF5_REFERENCE_SIZE = 16 };

/* Lets HDF5 hand out references as they are; below 0 on failure. Close in any case. */
bool ga_hdf5_heap_open(ga_hdf5_heap *heap, const ga_hdf5_origin *origin);
void ga_hdf5_heap_close(ga_hdf5_heap *heap);
/* The text a reference stands for; it lives until the next call. False if there is none, or if
 * memory is out, which out_of_memory then says. */
bool ga_hdf5_heap_find(ga_hdf5_heap *heap, const unsigned char *reference, const char **text,
                       size_t *length);

#endif
