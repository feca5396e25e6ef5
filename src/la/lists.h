/* Lists of numbers, each kept once. A structure of many like parts, a chain for instance, is
 * stored as one list and a number for each part. */
#ifndef GA_LA_LISTS_H
#define GA_LA_LISTS_H

#include <galpha/status.h>

typedef struct ga_lists {
    int count;  /* of the lists */
    int *start; /* list k is item[start[k]] .. item[start[k+1] - 1]; null if there is none */
    int *item;
    int room, item_room;
    int *table;       /* for finding: 1 + a list, or 0; null when finished */
    int slots;        /* of the table, a power of two */
    int *after;       /* the list that last came after the same ones as now; as in the table */
    unsigned history; /* of the last ones */
} ga_lists;

/* Adds a list, unless there is one with the same items; its number. On a zeroed ga_lists. */
ga_status ga_lists_add(ga_lists *lists, int count, const int *item, int *number);
/* Gives back what only adding needs; none may be added any more. */
ga_status ga_lists_finish(ga_lists *lists);
void ga_lists_destroy(ga_lists *lists); /* a zeroed one is fine; leaves it zeroed */

#endif
