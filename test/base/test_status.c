/* Codes, their names and texts, and the report that goes with them. */
#include "base/report.h"
#include "test/support/unit.h"

#include <limits.h>
#include <string.h>

typedef struct entry {
    ga_status code;
    const char *name, *text;
} entry;

static const entry entries[] = {
#define ENTRY(code, text) {code, #code, text},
    GA_STATUS_LIST(ENTRY)};
enum { ENTRIES = sizeof entries / sizeof *entries };

static void test_every_code_has_name_and_text(void **state)
{
    (void)state;
    for (int k = 0; k < ENTRIES; ++k) {
        assert_int_equal(entries[k].code, k); /* no gaps: the list is also the numbering */
        assert_string_equal(ga_status_name(entries[k].code), entries[k].name);
        assert_string_equal(ga_status_text(entries[k].code), entries[k].text);
        assert_true(strlen(ga_status_text(entries[k].code)) > 3);
        for (int i = 0; i < k; ++i) {
            assert_string_not_equal(entries[i].name, entries[k].name);
            assert_string_not_equal(entries[i].text, entries[k].text);
        }
    }
    assert_int_equal(GA_OK, 0); /* so that `if (call())` reads as "if it failed" */
    assert_string_equal(ga_status_name(GA_ERR_MEMORY), "GA_ERR_MEMORY");
    assert_string_equal(ga_status_text(GA_ERR_MEMORY), "out of memory");
}

static void test_unknown_codes(void **state)
{
    (void)state;
    const int codes[] = {-1, ENTRIES, ENTRIES + 1, 1000, INT_MAX, INT_MIN};
    for (size_t k = 0; k < sizeof codes / sizeof *codes; ++k) {
        assert_string_equal(ga_status_name((ga_status)codes[k]), "unknown status");
        assert_string_equal(ga_status_text((ga_status)codes[k]), "unknown status");
    }
}

static void test_fail_fills_a_report(void **state)
{
    (void)state;
    ga_report report;
    memset(&report, 0x55, sizeof report);
    assert_int_equal(ga_fail(&report, GA_ERR_ARGUMENT, "h = %g, row %d", 0.5, 7),
                     GA_ERR_ARGUMENT);
    assert_int_equal(report.status, GA_ERR_ARGUMENT);
    assert_string_equal(report.message, "h = 0.5, row 7");
    assert_int_equal(report.row, -1);
    assert_int_equal(report.column, -1);
    assert_true(report.time == 0 && report.step == 0 && report.iteration == 0);
    assert_true(report.norm_q == 0 && report.norm_v == 0 && report.norm_lambda == 0);
}

static void test_fail_without_report(void **state)
{
    (void)state;
    assert_int_equal(ga_fail(NULL, GA_ERR_STATE, "%d", 1), GA_ERR_STATE);
}

static void test_long_messages_are_cut(void **state)
{
    (void)state;
    struct {
        ga_report report;
        char after[16];
    } guarded;
    char text[2 * GA_MESSAGE_SIZE];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    memset(&guarded, 0x55, sizeof guarded);
    ga_fail(&guarded.report, GA_ERR_SYSTEM, "%s", text);
    assert_int_equal(strlen(guarded.report.message), GA_MESSAGE_SIZE - 1);
    for (size_t k = 0; k < sizeof guarded.after; ++k) assert_int_equal(guarded.after[k], 0x55);
}

static ga_status inner(int fail) { return fail ? GA_ERR_SINGULAR : GA_OK; }
static ga_status outer(int fail)
{
    GA_TRY(inner(fail));
    return GA_ERR_STATE; /* reached only if nothing failed */
}

static void test_try(void **state)
{
    (void)state;
    assert_int_equal(outer(1), GA_ERR_SINGULAR);
    assert_int_equal(outer(0), GA_ERR_STATE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_has_name_and_text),
        cmocka_unit_test(test_unknown_codes),
        cmocka_unit_test(test_fail_fills_a_report),
        cmocka_unit_test(test_fail_without_report),
        cmocka_unit_test(test_long_messages_are_cut),
        cmocka_unit_test(test_try),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
