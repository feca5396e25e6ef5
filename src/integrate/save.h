/* What an integration is and what it has learned, as bytes: pieces that the `archive` functions
 * of one-step methods share. What can be computed from the rest is not among them. */
#ifndef GA_INTEGRATE_SAVE_H
#define GA_INTEGRATE_SAVE_H

#include "base/archive.h"
#include "integrate/onestep.h"

/* First: what must be equal where it is read, the method, the sizes of its system, and a number
 * of its own. */
void ga_archive_heading(ga_archive *a, const ga_onestep *m, int own);
/* What was found out about constraints, and sizes of states. */
void ga_archive_consistent(ga_archive *a, ga_consistent *c);
/* How near a singular position was. */
void ga_archive_roots(ga_archive *a, ga_onestep *m);
/* The choice of pivots of a factor; null: nothing. */
ga_status ga_archive_factor(ga_archive *a, ga_factor *factor);
/* Is it time to follow up what has been read? */
static inline bool ga_archive_is_read(const ga_archive *a)
{
    return a->mode == GA_ARCHIVE_READ && !a->failed;
}

#endif
