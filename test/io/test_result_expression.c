/* Names, expressions and units of a result's channels. */
#define _POSIX_C_SOURCE 200809L

#include "io/unit.h"
#include "test/io/files.h"

#include <math.h>

enum { ROWS = 2500 }; /* more than a block of the evaluation */

static ga_result_reader *sample(ga_result_format format)
{
    ga_result *result = create(format);
    assert_int_equal(write_rows(result, 0, ROWS, NULL), GA_OK);
    assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
    ga_result_reader *reader = NULL;
    assert_int_equal(ga_result_open(in_folder(names[format]), &reader, NULL), GA_OK);
    return reader;
}

static void expect_columns(const ga_result_reader *reader, const char *name, int count,
                           const char *const *expected)
{
    ga_result_column *columns;
    int found;
    assert_int_equal(ga_result_select(reader, name, &columns, &found, NULL), GA_OK);
    if (found != count) fail_msg("%s: %d columns", name, found);
    for (int k = 0; k < count; ++k) assert_string_equal(columns[k].name, expected[k]);
    ga_result_columns_free(columns);
}

static void test_select(void **state)
{
    (void)state;
    static const char *const position[] = {"top.position.x", "top.position.y",
                                           "top.position.z"};
    static const char *const one[] = {"top.position.y"}, *const total[] = {"energy.total"};
    static const char *const odd[] = {"odd/\"50%\", \xc3\xbc"};
    static const char *const numbered[] = {"hinge.multipliers.0", "hinge.multipliers.1"};
    for (int format = 0; format < FORMATS; ++format) {
        ga_result_reader *reader = sample((ga_result_format)format);
        expect_columns(reader, "top.position", 3, position);
        expect_columns(reader, "top", 3, position);
        expect_columns(reader, "*.position", 3, position);
        expect_columns(reader, "top.*.y", 1, one);
        expect_columns(reader, "top.position.y", 1, one);
        expect_columns(reader, "energy", 1, total);
        expect_columns(reader, "*.total", 1, total);
        expect_columns(reader, odd[0], 1, odd);
        expect_columns(reader, "hinge.multipliers", 2, numbered);
        expect_columns(reader, "to", 0, NULL);
        expect_columns(reader, "top.position.x.y", 0, NULL);
        expect_columns(reader, "top*position.x", 0, NULL);
        expect_columns(reader, "", 0, NULL);
        char near[GA_RESULT_NAME_SIZE];
        assert_true(ga_result_suggest(reader, "top.positon", near));
        assert_string_equal(near, "top.position");
        assert_true(ga_result_suggest(reader, "top.position.q", near));
        assert_true(ga_result_suggest(reader, "energy.totl", near));
        assert_string_equal(near, "energy.total");
        assert_false(ga_result_suggest(reader, "nothing_like_it_at_all", near));
        ga_result_reader_close(reader);
        empty_folder();
    }
}

static void expect_values(ga_result_reader *reader, const char *text, const char *unit,
                          double (*f)(double t, const double *row))
{
    ga_result_expression *e = NULL;
    ga_report report;
    if (ga_result_expression_compile(reader, text, &e, &report) != GA_OK)
        fail_msg("%s: %s", text, report.message);
    assert_string_equal(ga_result_expression_unit(e), unit);
    static double values[ROWS];
    assert_int_equal(ga_result_expression_read(e, 1, 2, 1200, values, NULL), GA_OK);
    for (int n = 0; n < 1200; ++n) {
        double t, row[SAMPLE_VALUES];
        sample_row(1 + 2 * n, &t, row);
        assert_true(values[n] == f(t, row));
    }
    ga_result_expression_destroy(e);
}

static double length(double t, const double *row)
{
    (void)t;
    return sqrt(row[1] * row[1] + row[2] * row[2]);
}
static double speed(double t, const double *row) { return row[3] / t; }
static double mixture(double t, const double *row)
{
    (void)t;
    return row[0] - 2 * row[2] + row[6];
}

static void test_values(void **state)
{
    (void)state;
    for (int format = 0; format < FORMATS; ++format) {
        ga_result_reader *reader = sample((ga_result_format)format);
        const bool units = format == GA_RESULT_HDF5;
        expect_values(reader, "sqrt(top.position.x^2 + top.position.y^2)", units ? "m" : "",
                      length);
        expect_values(reader, "top.position.z / time", units ? "m/s" : "", speed);
        expect_values(reader, "energy.total - 2*top.position.y + `odd/\"50%\", \xc3\xbc`", "",
                      mixture);
        ga_result_reader_close(reader);
        empty_folder();
    }
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
        int column;
    } cases[] = {
        {"top.position.x +", "expected", 16},
        {"2*top.positon.x", "unknown name 'top.positon.x'; did you mean 'top.position.x'?", 2},
        {"top.position*2", "unknown name 'top.position'; did you mean 'top.position.x'?", 0},
        {"sqt(time)", "unknown function", 0},
    };
    ga_result_reader *reader = sample(GA_RESULT_HDF5);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_result_expression *e = NULL;
        ga_report report;
        assert_int_equal(ga_result_expression_compile(reader, cases[k].text, &e, &report),
                         GA_ERR_INPUT);
        assert_null(e);
        if (!strstr(report.message, cases[k].message)) fail_msg("%s", report.message);
        assert_int_equal(report.column, cases[k].column);
    }
    ga_result_expression_destroy(NULL);
    ga_result_reader_close(reader);
    empty_folder();
}

/* Of a in J, b in m, c in rad/s, d a plain number, e in N m. */
static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
    } cases[] = {
        {"a", "J"},
        {"-a + 3", "J"},
        {"a + b", ""},
        {"b*b", "m^2"},
        {"b/time", "m/s"},
        {"b/time^2", "m/s^2"},
        {"a/b", "N"},
        {"a/time", "W"},
        {"c*b", "m/s"},
        {"sin(c*time)", ""},
        {"sin(b)", ""},
        {"atan2(b, b)", "rad"},
        {"1/time", "1/s"},
        {"d*b", "m"},
        {"b^d", ""},
        {"hypot(b, b)", "m"},
        {"max(b, 0, 2*b)", "m"},
        {"sqrt(b*b)", "m"},
        {"b > 1", ""},
        {"b > 1 ? b : 2*b", ""},
        {"c", "rad/s"},
        {"2*e", "N m"},
        {"e*c", "W"},
        {"c*c", "rad^2/s^2"},
        {"c/time", "rad/s^2"},
        {"sqrt(b)", "m^0.5"},
        {"a - a", "J"},
    };
    static const char *const abcde[] = {"a", "b", "c", "d", "e"};
    static const char *const units[] = {"J", "m", "rad/s", "", "N m"};
    ga_channel channels[5];
    for (int k = 0; k < 5; ++k)
        channels[k] = (ga_channel){sizeof *channels, abcde[k], units[k], "", 1, NULL};
    ga_result *result = NULL;
    assert_int_equal(ga_result_create(in_folder("result.h5"), GA_RESULT_HDF5, 5, channels, "",
                                      &result, NULL),
                     GA_OK);
    assert_int_equal(ga_result_write(result, 0, (const double[]){1, 2, 3, 4, 5}, NULL), GA_OK);
    assert_int_equal(ga_result_close(result, NULL, NULL), GA_OK);
    ga_result_reader *reader = NULL;
    assert_int_equal(ga_result_open(in_folder("result.h5"), &reader, NULL), GA_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_result_expression *e = NULL;
        assert_int_equal(ga_result_expression_compile(reader, cases[k].text, &e, NULL), GA_OK);
        if (strcmp(ga_result_expression_unit(e), cases[k].unit) != 0)
            fail_msg("%s: '%s'", cases[k].text, ga_result_expression_unit(e));
        ga_result_expression_destroy(e);
    }
    ga_result_reader_close(reader);
    empty_folder();
}

static void test_unit_text(void **state)
{
    (void)state;
    static const char *const same[] = {"m",   "m/s",   "m/s^2", "rad/s^2", "kg m^2", "N",
                                       "1/s", "N s/m", "N/m",   "kg",      "m^3"};
    char text[GA_UNIT_SIZE];
    for (size_t k = 0; k < sizeof same / sizeof *same; ++k)
        assert_string_equal(ga_unit_write(ga_unit_read(same[k]), text), same[k]);
    assert_string_equal(ga_unit_write(ga_unit_read("kg m/s^2"), text), "N");
    assert_true(ga_unit_equal(ga_unit_read("N m"), ga_unit_read("J")));
    assert_false(ga_unit_read("furlong").known);
    assert_false(ga_unit_read("m/s/s").known);
    assert_false(ga_unit_read("m^x").known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_select),    cmocka_unit_test(test_values),
        cmocka_unit_test(test_mistakes),  cmocka_unit_test(test_units),
        cmocka_unit_test(test_unit_text),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
