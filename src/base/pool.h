/* Threads that wait for work.
 *
 * Work is divided into parts that do not depend on the number of threads, so that the same
 * numbers come out, bit for bit, with any number: sums over parts are to be added in the order
 * of the parts by the caller. */
#ifndef GA_BASE_POOL_H
#define GA_BASE_POOL_H

#include <galpha/status.h>
#include <stdbool.h>

typedef struct ga_pool ga_pool;

typedef void ga_pool_work(void *data, int part);

/* threads >= 1, the caller's among them. */
ga_status ga_pool_create(int threads, ga_pool **pool);
void ga_pool_destroy(ga_pool *pool);      /* null is fine */
int ga_pool_threads(const ga_pool *pool); /* 1 for null */

/* Processors this program may use; 1 if that is not known. */
int ga_pool_processors(void);

/* work(data, part) for every part from 0 to parts - 1, and returns when all are done. Parts are
 * given out in order to whoever is free; with a null pool the caller does all of them. Not to
 * be called from inside work, nor by two threads at once. No allocation. */
void ga_pool_run(ga_pool *pool, int parts, ga_pool_work *work, void *data);

/* Long arrays in pieces, whose borders depend on nothing but their number. */
enum { GA_POOL_PIECE = 8192 };
static inline int ga_pool_pieces(int count)
{
    return count / GA_POOL_PIECE + (count % GA_POOL_PIECE > 0);
}
static inline int ga_pool_start(int piece) { return piece * GA_POOL_PIECE; }
static inline int ga_pool_end(int count, int piece)
{
    return count - piece * GA_POOL_PIECE > GA_POOL_PIECE ? (piece + 1) * GA_POOL_PIECE : count;
}

/* work(data, from, end) for pieces of 0 .. count - 1. Short arrays are one piece. */
typedef void ga_pool_range(void *data, int from, int end);
void ga_pool_divide(ga_pool *pool, int count, ga_pool_range *work, void *data);
static inline void ga_pool_ranges(ga_pool *pool, int count, ga_pool_range *work, void *data)
{
    if (!pool || count <= GA_POOL_PIECE)
        work(data, 0, count);
    else
        ga_pool_divide(pool, count, work, data);
}
void ga_pool_copy(ga_pool *pool, double *to, const double *from, int count);
bool ga_pool_finite(ga_pool *pool, int count, const double *x);

#endif
