/* Counting sort: the numbers 0 .. count-1 gathered by key. Stable, linear time. */
#ifndef GA_BASE_BUCKETS_H
#define GA_BASE_BUCKETS_H

#include <galpha/status.h>

typedef struct ga_buckets {
    int *start; /* bucket b holds item[start[b]] .. item[start[b+1] - 1] */
    int *item;
} ga_buckets;

/* Visits the numbers in the given order (null: ascending); 0 <= key[i] < buckets. */
ga_status ga_buckets_create(int buckets, int count, const int *key, const int *order,
                            ga_buckets *b);
void ga_buckets_destroy(ga_buckets *b); /* a zeroed one is fine; leaves it zeroed */

#endif
