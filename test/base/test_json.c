/* JSON and base64: against what the standards say. */
#include "base/json.h"
#include "test/support/unit.h"

#include <galpha/model.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check(ga_buffer *b, const char *expected)
{
    char *text = ga_buffer_take(b);
    assert_non_null(text);
    assert_string_equal(text, expected);
    ga_text_free(text);
}

static void commas_come_by_themselves(void **unused)
{
    (void)unused;
    ga_buffer b = {0};
    ga_json_open(&b, '{');
    ga_json_key(&b, "a");
    ga_json_numbers(&b, 3, (const double[]){1, -0.5, 1e300});
    ga_json_key(&b, "b");
    ga_json_open(&b, '[');
    ga_json_open(&b, '{');
    ga_json_close(&b, '}');
    ga_json_null(&b);
    ga_json_boolean(&b, true);
    ga_json_boolean(&b, false);
    ga_json_text(&b, "x");
    ga_json_base64(&b, "abc", 3);
    assert_true(ga_json_copy(&b, "[1]", 3));
    ga_json_close(&b, ']');
    ga_json_close(&b, '}');
    check(&b, "{\"a\":[1,-0.5,1e+300],\"b\":[{},null,true,false,\"x\",\"YWJj\",[1]]}");
}

static void numbers_read_back_the_same(void **unused)
{
    (void)unused;
    static const double numbers[] = {0.1, 1.0 / 3, 2.0 / 3, 5e-324, 1.7976931348623157e308, 0};
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; ++k) {
        ga_buffer b = {0};
        ga_json_number(&b, numbers[k]);
        assert_true(strtod(b.text, NULL) == numbers[k]);
        ga_buffer_free(&b);
    }
    ga_buffer b = {0};
    ga_json_numbers(&b, 4, (const double[]){0.1, NAN, INFINITY, -INFINITY});
    check(&b, "[0.1,null,null,null]");
}

/* Whatever a name holds, it ends neither the text nor the element of the page around it. */
static void texts_are_safe_in_pages(void **unused)
{
    (void)unused;
    ga_buffer b = {0};
    ga_json_text(&b,
                 "a\"b\\c\n\t\x7f</script>&\xe2\x80\xa8\xe2\x80\xa9\xc3\xbc\xf0\x9f\x98\x80");
    check(&b, "\"a\\\"b\\\\c\\n\\u0009\\u007f\\u003c/script\\u003e\\u0026\\u2028\\u2029\xc3\xbc"
              "\xf0\x9f\x98\x80\"");
    /* a byte alone, an overlong slash, half a surrogate pair, too large, cut off */
    ga_json_text(&b, "\xff|\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x80");
#define NO "\xef\xbf\xbd"
    check(&b, "\"" NO "|" NO NO "|" NO NO NO "|" NO NO NO NO "|" NO NO "\"");
}

/* RFC 4648, section 10 */
static void base64_as_in_the_standard(void **unused)
{
    (void)unused;
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
        ga_buffer b = {0};
        ga_base64_add(&b, pairs[k][0], strlen(pairs[k][0]));
        check(&b, pairs[k][1]);
    }
    /* across the blocks it works in */
    unsigned char bytes[2000];
    for (size_t k = 0; k < sizeof bytes; ++k) bytes[k] = 0xff;
    ga_buffer b = {0};
    ga_base64_add(&b, bytes, sizeof bytes);
    assert_int_equal(b.length, 2668);
    assert_int_equal(strspn(b.text, "/"), 2666);
    assert_string_equal(b.text + 2666, "8=");
    ga_buffer_free(&b);
}

static void copies_only_json(void **unused)
{
    (void)unused;
    static const char *const good[] = {"0",
                                       "-0.5e-3",
                                       "\"\"",
                                       "[]",
                                       "{}",
                                       " [ 1 , 2 ] ",
                                       "{\"a\":{\"b\":[null,true,false]}}",
                                       "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u12aF\"",
                                       "[1e5,1E+5,10.25]"};
    static const char *const bad[] = {
        "",         " ",          "01",   "1.",   ".5",    "+1",      "1e",
        "NaN",      "tru",        "[1,]", "[,1]", "[1 2]", "{1:2}",   "{\"a\"}",
        "{\"a\":}", "{\"a\":1,}", "[",    "]",    "\"",    "\"\\x\"", "\"\\u12g4\"",
        "\"\n\"",   "\"\xff\"",   "1 1",  "[1]]", "'a'",   "{a:1}",   "-"};
    ga_buffer b = {0};
    for (size_t k = 0; k < sizeof good / sizeof *good; ++k) {
        if (!ga_json_copy(&b, good[k], strlen(good[k]))) fail_msg("refused: %s", good[k]);
        check(&b, good[k]);
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k)
        if (ga_json_copy(&b, bad[k], strlen(bad[k]))) fail_msg("accepted: %s", bad[k]);
    assert_false(ga_json_copy(&b, "1\0", 2));
    assert_int_equal(b.length, 0);
    assert_true(ga_json_copy(&b, "{\"<\":\"&\xe2\x80\xa8>\"}", 13));
    check(&b, "{\"\\u003c\":\"\\u0026\\u2028\\u003e\"}");
    char deep[2 * GA_JSON_DEPTH + 2];
    for (int n = GA_JSON_DEPTH - 1; n <= GA_JSON_DEPTH + 1; ++n) {
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        assert_int_equal(ga_json_copy(&b, deep, 2 * (size_t)n), n <= GA_JSON_DEPTH);
    }
    ga_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commas_come_by_themselves),
        cmocka_unit_test(numbers_read_back_the_same),
        cmocka_unit_test(texts_are_safe_in_pages),
        cmocka_unit_test(base64_as_in_the_standard),
        cmocka_unit_test(copies_only_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
