/* A look at the description of an object before HDF5 decodes it. */
#ifndef GA_IO_HDF5_VET_H
#define GA_IO_HDF5_VET_H

#include "io/hdf5_driver.h"

/* Whether an object can be opened, by a link that leads to a place in this file. False: an
 * attribute is longer than the place it has, and HDF5 1.10 would read on behind it; a link is
 * damaged, and HDF5 would free what it never had; chunks have no extent, and HDF5 would divide
 * by it or, where they are said to hold smaller numbers than there are, read behind them; a
 * type is none of numbers or text, or its description is elsewhere. */
bool ga_hdf5_vet(const ga_hdf5_origin *origin, hid_t place, const char *name);
/* The same of the group that holds all others. */
bool ga_hdf5_vet_root(const ga_hdf5_origin *origin, hid_t file);

/* Calls `each` for the attributes, in the order of the file, after looking at all of them.
 * False: damaged, or `each` was false. HDF5's own function for it frees what it never had when
 * one of several attributes cannot be read. */
typedef bool ga_hdf5_each(void *user, hid_t object, const char *name);
bool ga_hdf5_each_attribute(const ga_hdf5_origin *origin, hid_t object, ga_hdf5_each *each,
                            void *user);

#endif
