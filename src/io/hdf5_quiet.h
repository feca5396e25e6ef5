/* HDF5 prints its errors unless told otherwise. Between begin and end it does not, and the
 * caller's setting is restored. */
#ifndef GA_IO_HDF5_QUIET_H
#define GA_IO_HDF5_QUIET_H

#include <hdf5.h>

typedef struct ga_hdf5_quiet {
    H5E_auto2_t print;
    void *data;
} ga_hdf5_quiet;

static inline ga_hdf5_quiet ga_hdf5_quiet_begin(void)
{
    ga_hdf5_quiet before = {0};
    H5Eget_auto2(H5E_DEFAULT, &before.print, &before.data);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return before;
}

static inline void ga_hdf5_quiet_end(ga_hdf5_quiet before)
{
    H5Eclear2(H5E_DEFAULT);
    H5Eset_auto2(H5E_DEFAULT, before.print, before.data);
}

#endif
