/* Every part is done once, whoever does it; runs follow each other, quickly and after sleep. */
#define _POSIX_C_SOURCE 200809L
#include "base/pool.h"
#include "test/support/unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_part_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
