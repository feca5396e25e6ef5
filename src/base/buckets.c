#include "base/buckets.h"

#include "base/memory.h"

ga_status ga_buckets_create(int buckets, int count, const int *key, const int *order,
                            ga_buckets *b)
{
    b->start = GA_NEW_WHOLE(int, (size_t)buckets + 1);
    b->item = GA_NEW_WHOLE(int, count);
    if (!b->start || !b->item) {
        ga_buckets_destroy(b);
        return GA_ERR_MEMORY;
    }
    /* Count, sum up to where each bucket ends, fill from the back: start ends up at the
     * beginnings, without a second array. */
    for (int k = 0; k < count; ++k) b->start[key[k]]++;
    for (int i = 1; i < buckets; ++i) b->start[i] += b->start[i - 1];
    b->start[buckets] = count;
    for (int k = count - 1; k >= 0; --k) {
        int item = order ? order[k] : k;
        b->item[--b->start[key[item]]] = item;
    }
    return GA_OK;
}

void ga_buckets_destroy(ga_buckets *b)
{
    ga_free(b->start);
    ga_free(b->item);
    *b = (ga_buckets){0};
}
