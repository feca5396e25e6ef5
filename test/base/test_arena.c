/* Memory that is freed all at once: aligned, zeroed, never overlapping. */
#include "base/arena.h"
#include "test/support/unit.h"

#include <string.h>

static void test_blocks_of_all_sizes(void **state)
{
    (void)state;
    enum { BLOCKS = 400 };
    ga_arena arena = {0};
    unsigned char *blocks[BLOCKS];
    size_t sizes[BLOCKS];
    for (int k = 0; k < BLOCKS; ++k) {
        sizes[k] = (size_t)(k * 7919 % 3000) * (k % 50 == 0 ? 1000 : 1);
        blocks[k] = ga_arena_alloc(&arena, sizes[k], 1);
        assert_non_null(blocks[k]);
        assert_int_equal((uintptr_t)blocks[k] % sizeof(double), 0);
        for (size_t i = 0; i < sizes[k]; ++i)
            if (blocks[k][i]) fail_msg("block %d is not zeroed", k);
        memset(blocks[k], k % 251 + 1, sizes[k]);
    }
    for (int k = 0; k < BLOCKS; ++k)
        for (size_t i = 0; i < sizes[k]; ++i)
            if (blocks[k][i] != k % 251 + 1) fail_msg("block %d was overwritten", k);
    ga_arena_free(&arena);
    assert_null(arena.last);
    ga_arena_free(&arena);
}

static void test_text(void **state)
{
    (void)state;
    ga_arena arena = {0};
    assert_string_equal(ga_arena_text(&arena, "abc"), "abc");
    assert_string_equal(ga_arena_text(&arena, ""), "");
    assert_string_equal(ga_arena_text_n(&arena, "abcdef", 2), "ab");
    ga_arena_free(&arena);
}

static void test_too_much(void **state)
{
    (void)state;
    ga_arena arena = {0};
    assert_null(ga_arena_alloc(&arena, SIZE_MAX / 2, 4));
    assert_null(ga_arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(ga_arena_alloc(&arena, SIZE_MAX - 40, 1));
    assert_non_null(GA_ARENA_NEW(&arena, double, 3));
    ga_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks_of_all_sizes),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_too_much),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
