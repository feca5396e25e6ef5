/* The hash table of names, against the numbers put in. */
#include "base/names.h"
#include "test/support/unit.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_names),
        cmocka_unit_test(test_a_name_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
