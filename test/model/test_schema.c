/* The schema as text; test/model/check_schema looks at what it says. */
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <galpha/model.h>

static void it_is_the_same_every_time(void **unused)
{
    (void)unused;
    char *one = ga_model_schema(), *two = ga_model_schema();
    assert_non_null(one);
    assert_non_null(two);
    assert_string_equal(one, two);
    assert_memory_equal(one, "{\n  \"$schema\"", 13);
    assert_string_equal(one + strlen(one) - 3, "\n}\n");
    ga_text_free(one);
    ga_text_free(two);
}

static void it_is_laid_out(void **unused)
{
    (void)unused;
    char *schema = ga_model_schema();
    assert_non_null(schema);
    for (const char *line = schema; *line;) {
        size_t length = strcspn(line, "\n"), indent = strspn(line, " ");
        assert_true(length > indent);
        assert_int_equal(indent % 2, 0);
        assert_true(line[length - 1] != ' ');
        line += length + 1;
    }
    ga_text_free(schema);
}

static void it_has_every_element(void **unused)
{
    (void)unused;
    char *schema = ga_model_schema();
    assert_non_null(schema);
    assert_non_null(strstr(schema, "\"joint-revolute\": {"));
    assert_non_null(strstr(schema, "\"joint-revolute2\": {"));
    assert_non_null(strstr(schema, "\"joint-universal\": {"));
    assert_null(strstr(schema, "\"joint-universal2\": {")); /* none in the plane */
    assert_non_null(strstr(schema, "\"force-spring-damper2\": {"));
    ga_text_free(schema);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    if (!in_front()) skip();
    for (long k = 1;; ++k) {
        start_counting(k, false);
        char *schema = ga_model_schema();
        stop_counting();
        const bool failed = watch.failed > 0;
        assert_int_equal(schema == NULL, failed);
        ga_text_free(schema);
        if (!failed) break;
        assert_int_equal(watch.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_same_every_time),
        cmocka_unit_test(it_is_laid_out),
        cmocka_unit_test(it_has_every_element),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
