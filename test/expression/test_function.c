/* Functions of time as they stand in a model file: values, derivatives, breaks, mistakes. */
#include "data/function.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A model with one function, `f`, and a parameter `a`. */
typedef struct model {
    ga_messages *messages;
    ga_document *document;
    ga_reader reader;
} model;

static const char head[] = "parameters: {a: 2}\nf: ";
enum { FIRST_COLUMN = 4 }; /* of the function's text, in line 2 */

static void open_model(model *m, const char *text)
{
    char file[1000];
    const int length = snprintf(file, sizeof file, "%s%s\n", head, text);
    memset(m, 0, sizeof *m);
    m->messages = ga_messages_create();
    if (ga_document_parse("model.yaml", file, (size_t)length, NULL, &m->document,
                          m->messages) != GA_OK)
        fail_msg("%s: not read", text);
    m->reader = (ga_reader){.document = m->document, .messages = m->messages, .dimension = 3};
}

static void close_model(model *m)
{
    ga_document_destroy(m->document);
    ga_messages_destroy(m->messages);
}

static ga_symbol find_q(void *user, const char *name, size_t length)
{
    (void)user;
    const bool is_q = length == 1 && *name == 'q';
    return (ga_symbol){is_q ? GA_SYMBOL_VARIABLE : GA_SYMBOL_UNKNOWN, 0, 2};
}
static const char *name_q(void *user, int k)
{
    (void)user;
    return k == 0 ? "q" : NULL;
}
static const ga_symbols with_q = {.find = find_q, .name = name_q};

static ga_function *function_of(const char *text)
{
    model m;
    ga_function *function = NULL;
    open_model(&m, text);
    const size_t here = ga_reader_enter(&m.reader, "f");
    if (!ga_function_read(&m.reader, ga_value_get(&m.document->root, "f"), &with_q,
                          &function)) {
        char line[400] = "";
        ga_messages_format(m.messages, 0, line, sizeof line);
        fail_msg("%s", line);
    }
    ga_reader_leave(&m.reader, here);
    assert_int_equal(ga_messages_count(m.messages), 0);
    close_model(&m); /* functions outlive their document */
    return function;
}

static void assert_near(const char *what, double got, double expected, double tolerance)
{
    if (got == expected) return;
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%s: %.17g, expected %.17g", what, got, expected);
}

static const ga_span span = {100, 0.01};

static void test_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double t, out[3], next_break;
    } cases[] = {
        {"3", 7, {3, 0, 0}, INFINITY},
        {"3*a", 7, {6, 0, 0}, INFINITY},
        {"30 deg", 0, {0.52359877559829887, 0, 0}, INFINITY},
        {"\"a*t^2\"", 3, {18, 12, 4}, INFINITY},
        {"t", 3, {3, 1, 0}, INFINITY},
        {"q*t^2", 3, {45, 30, 10}, INFINITY},
        {"{table: [[0, 0], [1, a], [3, 0]]}", 0.25, {0.5, 2, 0}, 1},
        {"{table: [[0, 0], [1, 2], [3, 0]], outside: repeat}", 3.25, {0.5, 2, 0}, 4},
        {"{table: [[0, 0], [1, 2], [3, 0]], outside: extend}", 4, {-1, -1, 0}, INFINITY},
        {"{table: [[0, 0], [1, 1], [3, 9]], spline: cubic}", 2, {4, 4, 2}, 3},
        {"{table: [[0, 0], [1, 1], [2, 4]], spline: akima}", 0.5, {0.25, 1, 2}, 1},
        {"{ramp: {start: 1, end: 3, from: 5, to: 6}}", 0, {5, 0, 0}, 1},
        {"{ramp: {start: 1, end: 3, from: 5, to: 6}}", 1, {5, 0.5, 0}, 3},
        {"{ramp: {start: 1, end: 3, from: 5, to: 6}}", 2, {5.5, 0.5, 0}, 3},
        {"{ramp: {start: 1, end: 3, from: 5, to: 6}}", 3, {6, 0, 0}, INFINITY},
        {"{ramp: {end: a, to: 4}}", 1, {2, 2, 0}, 2},
        {"{step: {start: 1, end: 3, from: 5, to: 6}}", 0, {5, 0, 0}, INFINITY},
        {"{step: {start: 1, end: 3, from: 5, to: 6}}", 1, {5, 0, 0}, INFINITY},
        {"{step: {start: 1, end: 3, from: 5, to: 6}}", 2, {5.5, 1.875 / 2, 0}, INFINITY},
        {"{step: {start: 1, end: 3, from: 5, to: 6}}", 3, {6, 0, 0}, INFINITY},
        /* s = 1/4: 10/64 - 15/256 + 6/1024, 30 s^2 (1-s)^2, 60 s (1-s) (1-2s) */
        {"{step: {end: 1, to: 1}}", 0.25, {0.103515625, 1.0546875, 5.625}, INFINITY},
        {"{step: {end: 1, to: 1}}", 0.75, {0.896484375, 1.0546875, -5.625}, INFINITY},
        {"{harmonic: {amplitude: 2, omega: 3, phase: 90 deg, offset: 1}}",
         0,
         {3, 0, -18},
         INFINITY},
        {"{harmonic: {amplitude: 2, frequency: 0.25}}",
         2,
         {0, -3.1415926535897932, 0},
         INFINITY},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_function *function = function_of(cases[k].text);
        const double x[3] = {cases[k].t, 0, 5};
        double out[3], gradient[3];
        ga_function_rates(function, x, out);
        for (int i = 0; i < 3; ++i) assert_near(cases[k].text, out[i], cases[k].out[i], 1e-14);
        assert_near(cases[k].text, ga_function_value(function, x), out[0], 0);
        assert_near(cases[k].text, ga_function_gradient(function, x, gradient), out[0], 0);
        if (ga_function_variables(function))
            assert_near("gradient", gradient[0], out[1], 1e-15);
        assert_near(cases[k].text, ga_function_next_break(function, &span, cases[k].t),
                    cases[k].next_break, 1e-15);
        assert_int_equal(ga_function_is_constant(function), k < 3);
        assert_int_equal(ga_function_variables(function),
                         k < 3                                         ? 0
                         : strchr(cases[k].text, 'q') == cases[k].text ? 3
                                                                       : 1);
        if (k < 3) assert_near("constant", ga_function_value(function, NULL), out[0], 0);
        ga_function_destroy(function);
    }
}

static void test_constant(void **state)
{
    (void)state;
    ga_function *function = NULL;
    assert_int_equal(ga_function_constant(4.5, &function), GA_OK);
    assert_true(ga_function_is_constant(function));
    assert_near("constant", ga_function_value(function, NULL), 4.5, 0);
    assert_true(isinf(ga_function_next_break(function, &span, 0)));
    ga_function_destroy(function);
    ga_function_destroy(NULL);
}

/* The third derivative of a step jumps at both ends; ramps and tables have kinks there. */
static void test_bends(void **state)
{
    (void)state;
    ga_function *function = function_of("{step: {start: 1, end: 3, from: 5, to: 6}}");
    assert_true(ga_function_next_bend(function, &span, 0) == 1);
    assert_true(ga_function_next_bend(function, &span, 1) == 3);
    assert_true(isinf(ga_function_next_bend(function, &span, 3)));
    ga_function_destroy(function);
    static const char *const others[] = {"4", "t^3", "{ramp: {start: 1, end: 3, to: 6}}",
                                         "{harmonic: {amplitude: 1, omega: 2}}"};
    for (int k = 0; k < 4; ++k) {
        function = function_of(others[k]);
        assert_true(isinf(ga_function_next_bend(function, &span, 0)));
        ga_function_destroy(function);
    }
}

/* `where` is the text at whose first occurrence the message points. */
static void check_mistake(const char *text, const char *where, const char *path,
                          const char *says, int errors)
{
    model m;
    ga_function *function = NULL;
    char line[400];
    open_model(&m, text);
    const size_t here = ga_reader_enter(&m.reader, "f");
    if (ga_function_read(&m.reader, ga_value_get(&m.document->root, "f"), NULL, &function))
        fail_msg("%s is accepted", text);
    ga_reader_leave(&m.reader, here);
    assert_null(function);
    if (ga_messages_errors(m.messages) != errors)
        fail_msg("%s: %d errors", text, ga_messages_errors(m.messages));
    bool found = false;
    for (int k = 0; k < ga_messages_count(m.messages); ++k)
        if (strstr(ga_messages_get(m.messages, k).text, says)) {
            const ga_message message = ga_messages_get(m.messages, k);
            const int column = FIRST_COLUMN + (int)(strstr(text, where) - text);
            found = true;
            if (message.line != 2 || message.column != column ||
                strcmp(message.path, path) != 0) {
                ga_messages_format(m.messages, k, line, sizeof line);
                fail_msg("%s: %s, expected column %d, %s", text, line, column, path);
            }
        }
    if (!found) {
        ga_messages_format(m.messages, 0, line, sizeof line);
        fail_msg("%s: \"%s\" does not say \"%s\"", text, line, says);
    }
    close_model(&m);
}

static void test_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *text, *where, *path, *says;
        int errors;
    } cases[] = {
        {"[1, 2]", "[", "f", "expected a number, an expression or a map with 'table', 'ramp'",
         1},
        {"{}", "{", "f", "expected a number", 1},
        {"{rampe: {end: 1, to: 1}}", "rampe", "f", "did you mean `ramp`?", 1},
        {"{ramp: {end: 1, to: 1}, step: {}}", "{", "f", "both 'ramp' and 'step'", 1},
        {"{ramp: {end: 1, to: 1}, spline: cubic}", "spline", "f",
         "unknown key `spline`, expected one of: ", 1},
        {"{ramp: 3}", "3", "f.ramp", "expected a map", 1},
        {"{ramp: {end: 1, to: 1, form: 2}}", "form", "f.ramp",
         "unknown key `form`, did you mean `from`?", 1},
        {"{ramp: {start: 0}}", "{start", "f.ramp", "'end' is missing", 2},
        {"{ramp: {start: 0}}", "{start", "f.ramp", "'to' is missing", 2},
        {"{ramp: {start: 2, end: 1, to: 1}}", "1", "f.ramp", "is not after start 2", 1},
        {"{step: {start: 2, end: a, to: 1}}", "a, to", "f.step", "is not after", 1},
        {"{harmonic: {amplitude: 1}}", "{amp", "f.harmonic",
         "'frequency' or 'omega' is missing", 1},
        {"{harmonic: {amplitude: 1, frequency: 2, omega: 3}}", "3", "f.harmonic",
         "both 'frequency' and 'omega'", 1},
        {"{table: 3}", "3", "f.table", "expected a list of points [t, x]", 1},
        {"{table: [[0, 1]]}", "[[", "f.table", "at least 2 points, got 1", 1},
        {"{table: [[0, 1], [2, 1], [2, 3], [1, 0]]}", "[2, 3]", "f.table[2]",
         "time 2 is not after the previous one, 2", 2},
        {"{table: [[0, 1], [2, 1], [2, 3], [1, 0]]}", "[1, 0]", "f.table[3]",
         "time 1 is not after the previous one, 2", 2},
        {"{table: [[0, 1], [1e-300, 1e10]], spline: cubic}", "[[", "f.table", "too large", 1},
        {"{table: [[0, 1], [2, 1]], splin: cubic}", "splin", "f", "did you mean `spline`?", 1},
        {"1/0", "1/0", "f", "not finite", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        check_mistake(cases[k].text, cases[k].where, cases[k].path, cases[k].says,
                      cases[k].errors);
    /* Words of the readers of numbers and choices are theirs; the place is ours to pass on. */
    check_mistake("{table: [[0, 1], [2, 1]], spline: cubik}", "cubik", "f.spline", "cubi", 1);
    check_mistake("{table: [[0, 1], [2]]}", "[2]", "f.table[1]", "2", 1);
    check_mistake("{step: {end: 1, to: b}}", "b}", "f.step.to", "b", 1);
    check_mistake("2*b", "b", "f", "b", 1);
}

/* What a schema is made from. */
static void test_forms(void **state)
{
    (void)state;
    static const char *const names[] = {"table", "ramp", "harmonic", "step"};
    for (int k = 0; k < 4; ++k) {
        const ga_function_form *form = ga_function_form_get(k);
        assert_string_equal(form->name, names[k]);
        assert_non_null(form->help);
        for (const ga_function_field *field = form->fields; field->name; ++field) {
            assert_non_null(field->help);
            assert_int_equal(field->kind == GA_FUNCTION_CHOICE, field->choices != NULL);
        }
    }
    assert_null(ga_function_form_get(4));
    assert_null(ga_function_form_get(-1));
}

static void test_failing_allocations(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "3", "\"a*t\"", "{table: [[0, 1], [a, 1], [\"a+1\", 4], [9, 8]], spline: cubic}",
        "{ramp: {end: a, to: 1}}"};
    if (!in_front()) skip();
    for (size_t n = 0; n < sizeof texts / sizeof *texts; ++n)
        for (long k = 1;; ++k) {
            model m;
            ga_function *function = NULL;
            open_model(&m, texts[n]);
            const ga_value *value = ga_value_get(&m.document->root, "f");
            start_counting(k, false);
            const bool read = ga_function_read(&m.reader, value, NULL, &function);
            stop_counting();
            assert_int_equal(read, function != NULL);
            const bool failed = watch.failed > 0;
            ga_function_destroy(function);
            if (!read) assert_true(failed);
            close_model(&m);
            if (!failed) break;
        }
    ga_function *function = NULL;
    start_counting(1, false);
    const ga_status status = ga_function_constant(1, &function);
    stop_counting();
    assert_int_equal(status, GA_ERR_MEMORY);
    assert_null(function);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values), cmocka_unit_test(test_constant),
        cmocka_unit_test(test_bends),  cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_forms),  cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
