/* Messages: kept up to a limit, counted beyond, one line each. */
#include "base/messages.h"
#include "test/support/unit.h"

#include <stdio.h>
#include <string.h>

static void test_format(void **state)
{
    (void)state;
    ga_messages *m = ga_messages_create();
    char line[200];
    ga_messages_add(m, GA_SEVERITY_ERROR, "crank.yaml", 14, 9, "joints.hinge.axis",
                    "zero vector, expected a %s", "direction");
    ga_messages_add(m, GA_SEVERITY_WARNING, "crank.yaml", 3, 0, NULL, "odd");
    ga_messages_add(m, GA_SEVERITY_ERROR, "crank.yaml", 0, 0, "", "cannot be read");
    ga_messages_add(m, GA_SEVERITY_ERROR, NULL, 0, 0, "bodies.top", "no mass");
    ga_messages_add(m, GA_SEVERITY_WARNING, NULL, 7, 7, NULL, "two\nlines\t\x1b[31m");
    static const char *const expected[] = {
        "crank.yaml:14:9: joints.hinge.axis: zero vector, expected a direction",
        "crank.yaml:3: warning: odd",
        "crank.yaml: cannot be read",
        "bodies.top: no mass",
        "warning: two lines  [31m",
    };
    assert_int_equal(ga_messages_count(m), 5);
    assert_int_equal(ga_messages_errors(m), 3);
    for (int k = 0; k < 5; ++k) {
        assert_int_equal(ga_messages_format(m, k, line, sizeof line), strlen(expected[k]));
        assert_string_equal(line, expected[k]);
    }
    char little[8];
    assert_int_equal(ga_messages_format(m, 2, little, sizeof little), strlen(expected[2]));
    assert_string_equal(little, "crank.y");
    assert_int_equal(ga_messages_format(m, 2, NULL, 0), strlen(expected[2]));
    assert_int_equal(ga_messages_get(m, 0).line, 14);
    assert_null(ga_messages_get(m, 5).text);
    assert_null(ga_messages_get(m, -1).text);
    ga_messages_destroy(m);
}

static void test_limits(void **state)
{
    (void)state;
    ga_messages *m = ga_messages_create();
    for (int k = 0; k < 100; ++k) {
        assert_int_equal(ga_messages_full(m), k >= GA_MESSAGES_MAX_ERRORS);
        ga_messages_add(m, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "error %d", k);
        ga_messages_add(m, GA_SEVERITY_WARNING, NULL, 0, 0, NULL, "warning %d", k);
    }
    assert_int_equal(ga_messages_errors(m), 100);
    assert_int_equal(ga_messages_count(m), 40);
    assert_string_equal(ga_messages_get(m, 38).text, "error 19");
    ga_messages_destroy(m);
}

/* One mistake of a repeat block, found in every copy. */
static void test_messages_alike(void **state)
{
    (void)state;
    ga_messages *m = ga_messages_create();
    for (int k = 0; k < 1000; ++k) {
        char path[40];
        snprintf(path, sizeof path, "bodies.x%d.mass", k);
        ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 7, 20, path, "no body `link%d`", k);
        ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 8, 9, "bodies.x",
                        "is %g, expected more than 0", -1.25e-7 * k * k);
        ga_messages_add(m, GA_SEVERITY_WARNING, "chain.yaml", 7, 20, NULL, "no body `link%d`",
                        k);
    }
    ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 9, 1, NULL, "no body `link1`");
    assert_true(ga_messages_full(m)); /* no more suggestions */
    assert_int_equal(ga_messages_errors(m), 3);
    assert_int_equal(ga_messages_count(m), 4);
    assert_string_equal(ga_messages_get(m, 0).text, "no body `link0` (and 999 more like it)");
    assert_string_equal(ga_messages_get(m, 1).text,
                        "is -0, expected more than 0 (and 999 more like it)");
    assert_string_equal(ga_messages_get(m, 2).text, "no body `link0` (and 999 more like it)");
    assert_string_equal(ga_messages_get(m, 3).text, "no body `link1`");
    ga_messages_destroy(m);
    m = ga_messages_create(); /* at one place, not alike */
    static const char *const texts[] = {"needs `mass`", "needs `inertia`", "needs `mass` 1",
                                        "needs", "needs `mass` (and 1 more like it)"};
    for (int k = 0; k < 5; ++k)
        ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 7, 20, NULL, "%s", texts[k]);
    ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 7, 20, "a.mass", "needs");
    ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 7, 20, "a.inertia", "needs");
    ga_messages_add(m, GA_SEVERITY_ERROR, "other.yaml", 7, 20, NULL, "needs");
    ga_messages_add(m, GA_SEVERITY_ERROR, "chain.yaml", 7, 21, NULL, "needs");
    ga_messages_add(m, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "needs");
    ga_messages_add(m, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "needs");
    assert_int_equal(ga_messages_count(m), 11);
    ga_messages_destroy(m);
}

static void test_long_text_is_cut_between_characters(void **state)
{
    (void)state;
    ga_messages *m = ga_messages_create();
    char text[4000] = "x";
    for (size_t k = 1; k + 2 < sizeof text; k += 2) memcpy(text + k, "\xC3\xA4", 3);
    ga_messages_add(m, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "%s", text);
    const char *kept = ga_messages_get(m, 0).text;
    assert_true(strlen(kept) > 900);
    assert_memory_equal(kept + strlen(kept) - 2, "\xC3\xA4", 2);
    ga_messages_destroy(m);
}

static void test_null(void **state)
{
    (void)state;
    ga_messages_add(NULL, GA_SEVERITY_ERROR, NULL, 0, 0, NULL, "x");
    assert_int_equal(ga_messages_count(NULL), 0);
    assert_int_equal(ga_messages_errors(NULL), 0);
    assert_null(ga_messages_get(NULL, 0).text);
    char line[8] = "full";
    assert_int_equal(ga_messages_format(NULL, 0, line, sizeof line), 0);
    assert_string_equal(line, "");
    ga_messages_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_messages_alike),
        cmocka_unit_test(test_long_text_is_cut_between_characters),
        cmocka_unit_test(test_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
