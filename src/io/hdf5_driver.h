/* HDF5's files on top of ga_file. */
#ifndef GA_IO_HDF5_DRIVER_H
#define GA_IO_HDF5_DRIVER_H

#include "base/file.h"
#include "io/hdf5_journal.h"

#include <hdf5.h>

typedef struct ga_hdf5_target {
    ga_file *file;
    uint64_t allocated; /* bytes HDF5 has a use for, written or not */
    uint64_t committed; /* bytes of the file as it can be read */
    bool appending;     /* rows, which nothing refers to yet: they go to the file at once */
    ga_hdf5_journal journal;
    hid_t driver;
} ga_hdf5_target;

/* A property list for H5Fcreate that makes it write to `target`, whatever name it is given;
 * below 0 on failure. Close it with H5Pclose. */
hid_t ga_hdf5_driver_access(ga_hdf5_target *target);
/* What HDF5 has written so far goes to the file, as a whole: flush HDF5 before. False: see
 * file->error. */
bool ga_hdf5_driver_commit(ga_hdf5_target *target, bool durable);
/* When the file is closed, not before: HDF5 looks at its driver until the end. */
void ga_hdf5_driver_release(ga_hdf5_target *target);

/* A file that is read. HDF5's own driver keeps descriptions it has read in a block of memory,
 * and damaged files lead it beyond the end of that; here it reads them one by one. */
typedef struct ga_hdf5_origin {
    int descriptor; /* -1: none */
    uint64_t size;  /* bytes */
    hid_t driver;
    ga_hdf5_journal journal; /* of a writer that was killed; usually empty */
} ga_hdf5_origin;

/* A property list for H5Fopen, like the above. */
hid_t ga_hdf5_origin_access(ga_hdf5_origin *origin);
void ga_hdf5_origin_release(ga_hdf5_origin *origin);
/* All of `count` bytes, or false. */
bool ga_hdf5_origin_read(const ga_hdf5_origin *origin, uint64_t address, size_t count,
                         void *bytes);

#endif
