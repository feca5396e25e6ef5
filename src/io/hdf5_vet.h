/* A look at the attributes and links of an object before HDF5 decodes them. */
#ifndef GA_IO_HDF5_VET_H
#define GA_IO_HDF5_VET_H

#include "io/hdf5_driver.h"

/* False: an attribute is longer than the place it has in the file, and HDF5 1.10 would read on
 * behind it; or a link is damaged, and HDF5 would free what it never had. `object` is open. */
bool ga_hdf5_vet(const ga_hdf5_origin *origin, hid_t object);

/* Calls `each` for the attributes, in the order of the file, after looking at all of them.
 * False: damaged, or `each` was false. HDF5's own function for it frees what it never had when
 * one of several attributes cannot be read. */
typedef bool ga_hdf5_each(void *user, hid_t object, const char *name);
bool ga_hdf5_each_attribute(const ga_hdf5_origin *origin, hid_t object, ga_hdf5_each *each,
                            void *user);

#endif
