/* Columns of one colour share no row, so one difference quotient gives them all. Greedy in
 * order of decreasing column length. */
#ifndef GA_SYSTEM_COLORING_H
#define GA_SYSTEM_COLORING_H

#include "la/coords.h"

typedef struct ga_coloring {
    int colors;
    int *color;  /* of each column; columns without entries have colour -1 */
    bool *first; /* is a value the first one at its place? The others are to be zero. */
} ga_coloring;

ga_status ga_coloring_create(const ga_coords *coords, ga_coloring *coloring);
void ga_coloring_destroy(ga_coloring *coloring); /* a zeroed one is fine */

#endif
