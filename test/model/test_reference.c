/* The reference of elements: it is there for every name, fits a terminal, leaves nothing out.
 */
#include "model/tables.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <stdio.h>

static void check_lines(const char *text)
{
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        if (length > 96) fail_msg("%.*s", (int)length, line);
        assert_true(length == 0 || line[length - 1] != ' ');
        assert_int_equal(line[length], '\n');
        line += length + 1;
    }
}

static void every_name_has_a_page(void **unused)
{
    (void)unused;
    char *overview = ga_model_reference(NULL);
    assert_non_null(overview);
    check_lines(overview);
    int k = 0;
    for (const char *name; (name = ga_model_element_name(k)); ++k) {
        char *page = ga_model_reference(name);
        assert_non_null(page);
        check_lines(page);
        assert_memory_equal(page, name, strlen(name));
        assert_non_null(strstr(overview, name));
        ga_text_free(page);
    }
    assert_true(k > 20);
    ga_text_free(overview);
}

static void other_names_have_none(void **unused)
{
    (void)unused;
    assert_null(ga_model_reference("hinge"));
    assert_null(ga_model_reference(""));
    assert_null(ga_model_element_name(-1));
    assert_null(ga_model_element_name(1000));
}

/* At the start of a line, indented. */
static void check_fields(const char *page, const ga_field *fields, int depth)
{
    for (const ga_field *f = fields; f->name; ++f) {
        char start[80];
        snprintf(start, sizeof start, "\n%*s%s ", 2 + 2 * depth, "", f->name);
        if (!strstr(page, start)) fail_msg("no field %s in %s", f->name, page);
        if (f->group) check_fields(page, f->group, depth + 1);
    }
}

static void every_field_and_channel_is_there(void **unused)
{
    (void)unused;
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section) continue;
        char *page = ga_model_reference(type->name);
        assert_non_null(page);
        check_fields(page, type->fields, 0);
        for (const ga_channel_type *c = type->channels; c && c->name; ++c)
            assert_non_null(strstr(page, c->name));
        ga_text_free(page);
    }
}

static void a_page_says_what_a_field_is(void **unused)
{
    (void)unused;
    char *body = ga_model_reference("body"), *functions = ga_model_reference("functions");
    assert_non_null(body);
    assert_non_null(functions);
    assert_non_null(strstr(body, "number > 0, kg"));
    assert_non_null(strstr(body, "required"));
    assert_non_null(strstr(body, "rigid (default)"));
    assert_non_null(strstr(body, "[0, 0, 0]"));
    assert_non_null(
        strstr(functions, "\n{ramp: {start: ..., end: ..., from: ..., to: ...}}\n"));
    ga_text_free(body);
    ga_text_free(functions);
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    static const char *const names[] = {NULL, "spring-damper", "functions", "simulate"};
    if (!in_front()) skip();
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        for (long k = 1;; ++k) {
            start_counting(k, false);
            char *page = ga_model_reference(names[i]);
            stop_counting();
            const bool failed = watch.failed > 0;
            assert_int_equal(page == NULL, failed);
            ga_text_free(page);
            if (!failed) break;
            assert_int_equal(watch.live, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_has_a_page),
        cmocka_unit_test(other_names_have_none),
        cmocka_unit_test(every_field_and_channel_is_there),
        cmocka_unit_test(a_page_says_what_a_field_is),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
