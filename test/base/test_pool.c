/* Every part is done once, whoever does it; runs follow each other, quickly and after sleep. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdatomic.h>
#include <time.h>

enum { PARTS = 1000 };

typedef struct tally {
    atomic_int done[PARTS];
    double value[PARTS];
} tally;

static void count(void *data, int part)
{
    tally *t = data;
    atomic_fetch_add(&t->done[part], 1);
    double x = part;
    for (int k = 0; k < 50; ++k) x = x * 0.99 + 1;
    t->value[part] = x;
}

static void check_runs(ga_pool *pool, int runs)
{
    tally t = {0};
    for (int run = 0; run < runs; ++run) ga_pool_run(pool, PARTS, count, &t);
    for (int part = 0; part < PARTS; ++part) assert_int_equal(atomic_load(&t.done[part]), runs);
}

static void test_every_part_once(void **state)
{
    (void)state;
    check_runs(NULL, 3);
    for (int threads = 1; threads <= 5; ++threads) {
        ga_pool *pool = NULL;
        assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
        assert_int_equal(ga_pool_threads(pool), threads);
        check_runs(pool, 200);
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL); /* helpers fall asleep */
        check_runs(pool, 2);
        ga_pool_run(pool, 0, count, NULL);
        ga_pool_destroy(pool);
    }
    ga_pool_destroy(NULL);
    assert_int_equal(ga_pool_threads(NULL), 1);
}

static void count_each(void *data, int from, int end)
{
    int *times = data;
    for (int i = from; i < end; ++i) ++times[i];
}

static void test_every_number_once(void **state)
{
    (void)state;
    enum { MOST = 5 * GA_POOL_PIECE };
    const int counts[] = {0, 1, GA_POOL_PIECE, GA_POOL_PIECE + 1, MOST - 1};
    static int times[MOST];
    static double x[MOST], y[MOST];
    ga_pool *pool = NULL;
    assert_int_equal(ga_pool_create(2, &pool), GA_OK);
    for (int way = 0; way < 2; ++way)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; ++k) {
            const int n = counts[k];
            for (int i = 0; i < MOST; ++i) x[i] = i < n ? 0.1 * i + 1 : 0, y[i] = times[i] = 0;
            ga_pool_ranges(way ? pool : NULL, n, count_each, times);
            ga_pool_copy(way ? pool : NULL, y, x, n);
            for (int i = 0; i <= n; ++i) assert_int_equal(times[i], i < n);
            assert_memory_equal(x, y, sizeof x);
            assert_true(ga_pool_finite(way ? pool : NULL, n, x));
            if (n > 0) x[n - 1] = NAN;
            assert_true(ga_pool_finite(way ? pool : NULL, n, x) == (n == 0));
        }
    ga_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_part_once),
                                       cmocka_unit_test(test_every_number_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
