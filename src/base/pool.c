/* A run is announced by a ticket; threads spin for it a little while, because the next run
 * usually follows within microseconds, and then sleep. So does the caller until the last part
 * is done: on a busy machine whoever does it may have to wait for a processor. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"

#include "base/finite.h"
#include "base/memory.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

enum { SPINS = 40000 };

typedef struct helper {
    struct ga_pool *pool;
    pthread_t thread;
    bool running;
} helper;

struct ga_pool {
    int threads;
    helper *helpers; /* threads - 1 */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    bool has_lock, has_wake, has_done;

    ga_pool_work *work;
    void *data;
    int parts;
    atomic_int next;      /* part to be given out */
    atomic_int busy;      /* helpers that may still look at the run */
    atomic_uint ticket;   /* number of runs announced */
    atomic_bool sleeping; /* somebody may be waiting for `wake` */
    atomic_bool awaited;  /* the caller may be waiting for `done` */
    atomic_bool closing;
};

static void take_parts(ga_pool *pool)
{
    for (;;) {
        const int part = atomic_fetch_add_explicit(&pool->next, 1, memory_order_acq_rel);
        if (part >= pool->parts) return;
        pool->work(pool->data, part);
    }
}

static void pause_a_little(int spin)
{
    if (spin % 64 == 63) sched_yield();
}

/* Until the ticket is no longer `seen`. */
static void await_ticket(ga_pool *pool, unsigned seen)
{
    for (int spin = 0; spin < SPINS; ++spin) {
        if (atomic_load_explicit(&pool->ticket, memory_order_acquire) != seen) return;
        pause_a_little(spin);
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->sleeping, true);
    while (atomic_load(&pool->ticket) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

static void *help(void *argument)
{
    ga_pool *pool = ((helper *)argument)->pool;
    for (unsigned seen = 0;; ++seen) {
        await_ticket(pool, seen);
        if (atomic_load(&pool->closing)) return NULL;
        take_parts(pool);
        if (atomic_fetch_sub(&pool->busy, 1) > 1 || !atomic_load(&pool->awaited)) continue;
        pthread_mutex_lock(&pool->lock);
        pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
    }
}

/* Until all helpers are through with the run. */
static void await_helpers(ga_pool *pool)
{
    for (int spin = 0; spin < SPINS; ++spin) {
        if (atomic_load_explicit(&pool->busy, memory_order_acquire) == 0) return;
        pause_a_little(spin);
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->awaited, true);
    while (atomic_load(&pool->busy) > 0) pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->awaited, false);
    pthread_mutex_unlock(&pool->lock);
}

static void announce(ga_pool *pool)
{
    atomic_fetch_add(&pool->ticket, 1);
    if (!atomic_load(&pool->sleeping)) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->sleeping, false);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

ga_status ga_pool_create(int threads, ga_pool **out)
{
    *out = NULL;
    ga_pool *pool = GA_NEW(ga_pool, 1);
    if (!pool) return GA_ERR_MEMORY;
    pool->threads = threads;
    pool->helpers = GA_NEW(helper, threads - 1);
    pool->has_lock = pthread_mutex_init(&pool->lock, NULL) == 0;
    pool->has_wake = pthread_cond_init(&pool->wake, NULL) == 0;
    pool->has_done = pthread_cond_init(&pool->done, NULL) == 0;
    bool good = pool->helpers && pool->has_lock && pool->has_wake && pool->has_done;
    for (int k = 0; good && k < threads - 1; ++k) {
        pool->helpers[k].pool = pool;
        good = pthread_create(&pool->helpers[k].thread, NULL, help, pool->helpers + k) == 0;
        pool->helpers[k].running = good;
    }
    if (!good) {
        ga_pool_destroy(pool);
        return GA_ERR_MEMORY;
    }
    *out = pool;
    return GA_OK;
}

void ga_pool_destroy(ga_pool *pool)
{
    if (!pool) return;
    atomic_store(&pool->closing, true);
    if (pool->has_lock && pool->has_wake) {
        atomic_store(&pool->sleeping, true);
        announce(pool);
    }
    for (int k = 0; pool->helpers && k < pool->threads - 1; ++k)
        if (pool->helpers[k].running) pthread_join(pool->helpers[k].thread, NULL);
    if (pool->has_done) pthread_cond_destroy(&pool->done);
    if (pool->has_wake) pthread_cond_destroy(&pool->wake);
    if (pool->has_lock) pthread_mutex_destroy(&pool->lock);
    ga_free(pool->helpers);
    ga_free(pool);
}

int ga_pool_processors(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > INT_MAX ? INT_MAX : (int)count;
}

int ga_pool_threads(const ga_pool *pool) { return pool ? pool->threads : 1; }

void ga_pool_run(ga_pool *pool, int parts, ga_pool_work *work, void *data)
{
    if (!pool || pool->threads == 1 || parts < 2) {
        for (int part = 0; part < parts; ++part) work(data, part);
        return;
    }
    pool->work = work;
    pool->data = data;
    pool->parts = parts;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->busy, pool->threads - 1);
    announce(pool);
    take_parts(pool);
    await_helpers(pool);
}

typedef struct ranges {
    ga_pool_range *work;
    void *data;
    int count;
} ranges;

static void take_range(void *data, int piece)
{
    const ranges *r = data;
    r->work(r->data, ga_pool_start(piece), ga_pool_end(r->count, piece));
}

void ga_pool_divide(ga_pool *pool, int count, ga_pool_range *work, void *data)
{
    ga_pool_run(pool, ga_pool_pieces(count), take_range, &(ranges){work, data, count});
}

typedef struct copying {
    double *to;
    const double *from;
} copying;

static void copy_range(void *data, int from, int end)
{
    const copying *c = data;
    memcpy(c->to + from, c->from + from, (size_t)(end - from) * sizeof *c->to);
}

void ga_pool_copy(ga_pool *pool, double *to, const double *from, int count)
{
    if (!pool || count <= GA_POOL_PIECE)
        memcpy(to, from, (size_t)count * sizeof *to);
    else
        ga_pool_ranges(pool, count, copy_range, &(copying){to, from});
}

typedef struct looking {
    const double *x;
    atomic_bool found;
} looking;

static void look_at_range(void *data, int from, int end)
{
    looking *l = data;
    if (!ga_all_finite(end - from, l->x + from)) atomic_store(&l->found, true);
}

bool ga_pool_finite(ga_pool *pool, int count, const double *x)
{
    looking l = {.x = x};
    if (!pool || count <= GA_POOL_PIECE) return ga_all_finite(count, x);
    ga_pool_ranges(pool, count, look_at_range, &l);
    return !atomic_load(&l.found);
}
