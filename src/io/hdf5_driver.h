/* HDF5's files on top of ga_file. */
#ifndef GA_IO_HDF5_DRIVER_H
#define GA_IO_HDF5_DRIVER_H

#include "io/file.h"

#include <hdf5.h>

typedef struct ga_hdf5_target {
    ga_file *file;
    uint64_t allocated; /* bytes HDF5 has a use for, written or not */
    hid_t driver;
} ga_hdf5_target;

/* A property list for H5Fcreate that makes it write to `target`, whatever name it is given;
 * below 0 on failure. Close it with H5Pclose. */
hid_t ga_hdf5_driver_access(ga_hdf5_target *target);
/* When the file is closed, not before: HDF5 looks at its driver until the end. */
void ga_hdf5_driver_release(ga_hdf5_target *target);

#endif
