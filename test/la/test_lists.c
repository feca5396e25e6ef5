/* Lists that are kept once, against a plain search through all that were added. */
#include "test/support/allocations.h"

#include "la/lists.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <string.h>

enum { COUNT = 3000, LENGTH = 6 };

/* Short lists of few different numbers: most of them have been there before. */
static int draw(uint64_t *seed, int *item)
{
    const int count = random_below(seed, LENGTH);
    for (int k = 0; k < count; ++k) item[k] = random_below(seed, 5) - 2;
    return count;
}

static bool same(const ga_lists *lists, int number, int count, const int *item)
{
    const int *start = lists->start + number;
    if (start[1] - start[0] != count) return false;
    for (int k = 0; k < count; ++k)
        if (lists->item[start[0] + k] != item[k]) return false;
    return true;
}

static void keeps_each_once(void **state)
{
    (void)state;
    uint64_t seed = 11;
    ga_lists lists = {0};
    int number[COUNT], item[LENGTH];
    for (int n = 0; n < COUNT; ++n) {
        const int count = draw(&seed, item), before = lists.count;
        int known = -1;
        for (int k = 0; k < before && known < 0; ++k)
            if (same(&lists, k, count, item)) known = k;
        assert_int_equal(ga_lists_add(&lists, count, item, &number[n]), GA_OK);
        assert_int_equal(number[n], known >= 0 ? known : before);
        assert_int_equal(lists.count, known >= 0 ? before : before + 1);
    }
    assert_int_equal(ga_lists_finish(&lists), GA_OK);
    assert_null(lists.table);
    seed = 11;
    for (int n = 0; n < COUNT; ++n) {
        const int count = draw(&seed, item);
        assert_true(same(&lists, number[n], count, item));
    }
    ga_lists_destroy(&lists);
    assert_null(lists.start);
    ga_lists_destroy(&lists);
}

static void empty_is_fine(void **state)
{
    (void)state;
    ga_lists lists = {0};
    assert_int_equal(ga_lists_finish(&lists), GA_OK);
    ga_lists_destroy(&lists);
    int a = -1, b = -1;
    assert_int_equal(ga_lists_add(&lists, 0, NULL, &a), GA_OK);
    assert_int_equal(ga_lists_add(&lists, 0, NULL, &b), GA_OK);
    assert_int_equal(a, 0);
    assert_int_equal(b, 0);
    assert_int_equal(ga_lists_finish(&lists), GA_OK);
    assert_int_equal(lists.start[1], 0);
    ga_lists_destroy(&lists);
}

/* Whichever allocation fails, what is there can be destroyed, and nothing leaks. */
static void memory_may_run_out(void **state)
{
    (void)state;
    const bool counted = in_front();
    for (long k = 1, done = 0; !done; ++k) {
        uint64_t seed = 12;
        ga_lists lists = {0};
        int item[LENGTH], number;
        ga_status status = GA_OK;
        start_counting(k, false);
        for (int n = 0; n < 200 && status == GA_OK; ++n) {
            const int count = draw(&seed, item);
            status = ga_lists_add(&lists, count, item, &number);
        }
        if (status == GA_OK) status = ga_lists_finish(&lists);
        ga_lists_destroy(&lists);
        stop_counting();
        done = !counted || watch.failed == 0;
        assert_int_equal(status, done ? GA_OK : GA_ERR_MEMORY);
        assert_int_equal(watch.live, 0);
    }
}

/* As keys of like columns are: the same but for some numbers that grow by steps. All of them
 * are found again, in no more time than others take. */
static void steps_are_told_apart(void **state)
{
    (void)state;
    enum { MANY = 40000, LONG = 48 };
    ga_lists lists = {0};
    for (int pass = 0; pass < 2; ++pass)
        for (int n = 0; n < MANY; ++n) {
            int item[LONG], number;
            for (int k = 0; k < LONG; ++k) item[k] = k % 4 == 2 && k > 20 ? 30 * n + k : k;
            assert_int_equal(ga_lists_add(&lists, LONG, item, &number), GA_OK);
            assert_int_equal(number, n);
        }
    ga_lists_destroy(&lists);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_each_once),
        cmocka_unit_test(steps_are_told_apart),
        cmocka_unit_test(empty_is_fine),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
