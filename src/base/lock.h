/* A file that others may read but not write. */
#ifndef GA_BASE_LOCK_H
#define GA_BASE_LOCK_H

#include <stdbool.h>

/* Locks the open file until it is closed; false: someone else has. File systems that know no
 * locks let everybody through. HDF5 looks for locks of another kind, so readers are not
 * disturbed. */
bool ga_lock(int descriptor);

#endif
