/* The hash table of names, against the numbers put in. */
#include "base/names.h"
#include "test/support/unit.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static void test_many_names(void **state)
{
    (void)state;
    enum { NAMES = 5000 };
    static char text[NAMES][16];
    ga_names names = {0};
    assert_int_equal(ga_names_find(&names, "x", 1), -1);
    for (int k = 0; k < NAMES; ++k) {
        snprintf(text[k], sizeof text[k], "link%d", k);
        assert_int_equal(ga_names_put(&names, text[k], strlen(text[k]), k), GA_OK);
    }
    assert_int_equal(names.count, NAMES);
    for (int k = 0; k < NAMES; ++k)
        assert_int_equal(ga_names_find(&names, text[k], strlen(text[k])), k);
    assert_int_equal(ga_names_find(&names, "link", 4), -1);
    assert_int_equal(ga_names_find(&names, "link77x", 7), -1);
    assert_int_equal(ga_names_find(&names, "link77x", 6), 77);
    ga_names_free(&names);
    ga_names_free(&names);
}

static void test_a_name_again(void **state)
{
    (void)state;
    ga_names names = {0};
    assert_int_equal(ga_names_put(&names, "a", 1, 1), GA_OK);
    assert_int_equal(ga_names_put(&names, "a", 1, 2), GA_OK);
    assert_int_equal(ga_names_put(&names, "", 0, 3), GA_OK);
    assert_int_equal(names.count, 2);
    assert_int_equal(ga_names_find(&names, "a", 1), 2);
    assert_int_equal(ga_names_find(&names, "", 0), 3);
    ga_names_free(&names);
}

/* Room asked for is room enough: the table is not moved. */
static void test_reserved(void **state)
{
    (void)state;
    enum { NAMES = 1000 };
    static char text[NAMES][16];
    ga_names names = {0};
    assert_int_equal(ga_names_put(&names, "first", 5, 7), GA_OK);
    assert_int_equal(ga_names_reserve(&names, NAMES), GA_OK);
    const void *slots = names.slots;
    for (int k = 0; k < NAMES; ++k) {
        snprintf(text[k], sizeof text[k], "n%d", k);
        assert_int_equal(ga_names_put(&names, text[k], strlen(text[k]), k), GA_OK);
    }
    assert_ptr_equal(names.slots, slots);
    assert_int_equal(ga_names_reserve(&names, 0), GA_OK);
    assert_ptr_equal(names.slots, slots);
    assert_int_equal(ga_names_find(&names, "first", 5), 7);
    assert_int_equal(ga_names_find(&names, "n999", 4), 999);
    assert_int_equal(ga_names_reserve(&names, SIZE_MAX / 2), GA_ERR_MEMORY);
    assert_int_equal(ga_names_find(&names, "first", 5), 7);
    ga_names_free(&names);
}

static void test_patterns(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *word;
        bool matches;
    } rows[] = {
        {"", "", true},
        {"*", "", true},
        {"*", "hinge", true},
        {"", "hinge", false},
        {"hinge", "hinge", true},
        {"hinge", "hinges", false},
        {"hinge*", "hinge", true},
        {"hinge*", "hinge12", true},
        {"*2", "hinge12", true},
        {"*1", "hinge12", false},
        {"h*g*", "hinge", true},
        {"h*g*", "hine", false},
        {"*a*ab", "aaab", true},
        {"**e", "hinge", true},
        {"a*b*c", "abcbc", true},
        {"a*b*c", "abcbd", false},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        assert_int_equal(ga_word_matches(rows[k].pattern, strlen(rows[k].pattern), rows[k].word,
                                         strlen(rows[k].word)),
                         rows[k].matches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_a_name_again),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_patterns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
