/* The list of warnings: it never overflows, remedies fit the kind of steps, every code is
 * there once and explained. */
#include "api/warnings.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

static void test_list(void **state)
{
    (void)state;
    ga_warnings list = {.fixed_steps = true};
    assert_null(ga_warnings_get(&list, 0).code);
    assert_null(ga_warnings_get(&list, -1).code);
    for (int k = 0; k < GA_WARNINGS_MAX + 3; ++k)
        ga_warn(&list, GA_WARN_METHOD, k ? NULL : "rod", k ? NAN : 0.5, "number %d", k);
    assert_int_equal(list.count, GA_WARNINGS_MAX);
    assert_int_equal(list.left_off, 3);
    const ga_warning first = ga_warnings_get(&list, 0), last = ga_warnings_get(&list, 31);
    assert_string_equal(first.code, "method");
    assert_string_equal(first.element, "rod");
    assert_true(first.time == 0.5 && isnan(last.time));
    assert_string_equal(last.message, "number 31");
    assert_null(ga_warnings_get(&list, GA_WARNINGS_MAX).code);
}

static void test_long_message(void **state)
{
    (void)state;
    ga_warnings list = {.count = 0};
    char text[2 * GA_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ga_warn(&list, GA_WARN_METHOD, NULL, NAN, "%s", text);
    assert_int_equal(strlen(ga_warnings_get(&list, 0).message), GA_MESSAGE_SIZE - 1);
}

static void test_table(void **state)
{
    (void)state;
    for (int k = 0; k < GA_WARNING_KINDS; ++k) {
        const ga_warning_code one = ga_warning_code_get(k);
        assert_non_null(one.code);
        assert_true(strlen(one.when) > 0);
        for (int i = 0; i < k; ++i)
            assert_string_not_equal(ga_warning_code_get(i).code, one.code);
        for (int fixed = 0; fixed < 2; ++fixed) {
            ga_warnings list = {.fixed_steps = fixed};
            ga_warn(&list, (ga_warning_kind)k, NULL, NAN, "x");
            assert_non_null(ga_warnings_get(&list, 0).remedy);
        }
    }
    assert_null(ga_warning_code_get(GA_WARNING_KINDS).code);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
