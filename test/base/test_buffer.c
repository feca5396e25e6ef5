/* Text that grows, and numbers in it whatever the locale. */
#include "base/buffer.h"
#include "base/memory.h"
#include "test/support/unit.h"

#include <float.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void text_grows(void **unused)
{
    (void)unused;
    ga_buffer b = {0};
    for (int k = 0; k < 1000; ++k) ga_buffer_format(&b, "%d,", k % 10);
    ga_buffer_fill(&b, '-', 3000);
    ga_buffer_add(&b, "");
    ga_buffer_add_n(&b, "end of it", 3);
    assert_int_equal(b.length, 5003);
    char *text = ga_buffer_take(&b);
    assert_non_null(text);
    assert_int_equal(strlen(text), 5003);
    assert_memory_equal(text, "0,1,2,3,", 8);
    assert_string_equal(text + 4999, "-end");
    assert_null(b.text);
    ga_free(text);
}

static void an_empty_text_is_a_text(void **unused)
{
    (void)unused;
    ga_buffer b = {0};
    char *text = ga_buffer_take(&b);
    assert_string_equal(text, "");
    ga_free(text);
    ga_buffer_free(&b);
}

static void check_numbers(void)
{
    const double numbers[] = {0, -1.5, 0.1, 1.0 / 3, DBL_MAX, -DBL_MIN, DBL_TRUE_MIN, 1e22};
    char text[32];
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        ga_number_write(numbers[k], 17, text, sizeof text);
        assert_null(strchr(text, ','));
        char *old = setlocale(LC_NUMERIC, NULL), before[80] = "";
        if (strlen(old) < sizeof before) memcpy(before, old, strlen(old) + 1);
        setlocale(LC_NUMERIC, "C");
        assert_true(strtod(text, NULL) == numbers[k]);
        setlocale(LC_NUMERIC, before);
    }
    ga_number_write(2.5, 6, text, sizeof text);
    assert_string_equal(text, "2.5");
}

static void numbers_have_a_point(void **unused)
{
    (void)unused;
    check_numbers();
    /* where there is such a locale */
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) check_numbers();
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_grows),
        cmocka_unit_test(an_empty_text_is_a_text),
        cmocka_unit_test(numbers_have_a_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
