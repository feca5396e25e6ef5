/* Large files: time linear in their size, and an early end for those that are nonsense. */
#include "test/document/reading.h"

#include <stdlib.h>
#include <time.h>

/* Of this process, so that others on the machine do not count. */
static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static char *repeated(const char *before, const char *text, size_t times, const char *after)
{
    const size_t n = strlen(before), m = strlen(text);
    char *all = malloc(n + m * times + strlen(after) + 1);
    assert_non_null(all);
    memcpy(all, before, n);
    for (size_t k = 0; k < times; ++k) memcpy(all + n + k * m, text, m);
    strcpy(all + n + m * times, after);
    return all;
}

static void test_huge_nonsense(void **state)
{
    (void)state;
    enum { MILLION = 1000 * 1000 };
    static const struct {
        const char *before, *text, *says;
        size_t times;
    } cases[] = {
        {"", "[", "brackets are nested too deeply", 5 * MILLION},
        {"a: ", "{a: ", "brackets are nested too deeply", MILLION},
        {"a:\n  ", "[\n", "brackets are nested too deeply", MILLION},
        {"a: ", "[ # ]\n  ", "brackets are nested too deeply", MILLION},
        {"a: ", "[']', ", "brackets are nested too deeply", MILLION},
        {"", "- ", "deep", MILLION},
        {"", "? ", "a key must be text", MILLION},
        {"a: |\n", "  [[[\n", "", 100}, /* here they are text */
        {"", "]", "closing bracket", MILLION},
        {"", "%", "directive", MILLION},
        {"a: |\n", " \n", "empty lines", MILLION},
        {"", "a: ", "second `: `", MILLION},
        {"", "---\n", "second document", MILLION},
        {"\"", "a", "quote", MILLION},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        char *text = repeated(cases[k].before, cases[k].text, cases[k].times, "");
        const double start = seconds();
        reading r = read_text(text);
        if (*cases[k].says)
            assert_says(&r, 0, "m.yaml:", cases[k].says);
        else
            assert_good(&r);
        if (seconds() - start > 10) fail_msg("case %zu takes %g s", k, seconds() - start);
        close_reading(&r);
        free(text);
    }
}

static void test_alias_bombs(void **state)
{
    (void)state;
    char text[2000] = "a0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n";
    for (int k = 1; k < 20; ++k)
        snprintf(text + strlen(text), 100, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d]\n", k, k,
                 k - 1, k - 1, k - 1, k - 1, k - 1);
    reading r = read_text(text);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_says(&r, 0, "m.yaml:10:", "aliases");
    close_reading(&r);
    /* the same by merges */
    strcpy(text, "a0: &a0 {x: 1}\n");
    for (int k = 1; k < 40; ++k)
        snprintf(text + strlen(text), 100, "a%d: &a%d {<<: *a%d, y%d: *a%d}\n", k, k, k - 1, k,
                 k - 1);
    r = read_text(text);
    assert_int_equal(r.status, GA_ERR_INPUT);
    assert_says(&r, 0, "m.yaml:", "aliases");
    close_reading(&r);
}

static void test_limit_of_values(void **state)
{
    (void)state;
    const ga_document_options few = {.max_values = 10};
    reading r = read_with("a: [1, 2, 3]\n", &few);
    assert_good(&r);
    close_reading(&r);
    r = read_with("a: [1, 2, 3, 4, 5, 6, 7, 8, 9]\n", &few);
    assert_says(&r, 0, "m.yaml:1:", "too many values");
    close_reading(&r);
    static const char *const blocks[] = {
        "repeat: {count: 100, bodies: {\"a{i}\": 1}}\n",
        "repeat: {count: 3, repeat: {count: 30, index: j}}\n",
        "repeat: {count: 40, bodies: {\"a{i}\": {when: 1, b: [1, 2, 3]}}}\n",
    };
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) {
        r = read_with(blocks[k], &(ga_document_options){.max_values = 60});
        assert_int_equal(r.status, GA_ERR_INPUT);
        assert_int_equal(ga_messages_errors(r.messages), 1);
        assert_says(&r, 0, "m.yaml:1:", "too large");
        close_reading(&r);
    }
}

/* As long as the file: neither quadratic nor on the stack. */
static void test_long_chain_of_parameters(void **state)
{
    (void)state;
    enum { LENGTH = 100000 };
    char *text = malloc(40 * (size_t)LENGTH);
    assert_non_null(text);
    size_t used = (size_t)sprintf(text, "parameters:\n");
    for (int k = 0; k < LENGTH; ++k)
        used += (size_t)sprintf(text + used, "  p%d: p%d + 1\n", k, k + 1);
    sprintf(text + used, "  p%d: 0\n", LENGTH);
    reading r = read_text(text);
    assert_good(&r);
    assert_true(r.document->parameters[0].value == LENGTH);
    close_reading(&r);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alias_bombs),
        cmocka_unit_test(test_limit_of_values),
        cmocka_unit_test(test_huge_nonsense),
        cmocka_unit_test(test_long_chain_of_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
