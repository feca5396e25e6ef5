/* Values to numbers, vectors, words; and what is said when they are none. */
#include "test/document/reading.h"

#include <locale.h>
#include <math.h>

static reading read_value(const char *value)
{
    char text[512];
    snprintf(text, sizeof text, "parameters: {m: 2, spin: 3}\nx: %s\n", value);
    reading r = read_text(text);
    assert_good(&r);
    return r;
}

static void test_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } good[] = {
        {"1", 1},
        {"1.5", 1.5},
        {"1e-3", 1e-3},
        {"+3", 3},
        {"-3", -3},
        {".5", .5},
        {"2.", 2},
        {"1E+2", 100},
        {"\"7\"", 7},
        {"2*m", 4},
        {"'m^2'", 4},
        {"30 deg", 0.52359877559829887},
        {"-(m+spin)", -5},
        {"pi", 3.14159265358979323846},
        {"e", 2.718281828459045},
        {"0.1", 0.1},
        {"5e-324", 5e-324},
        {"-90 deg", -1.5707963267948966},
    };
    for (size_t k = 0; k < sizeof good / sizeof *good; ++k) {
        reading r = read_value(good[k].text);
        /* a rounding of 90 * (pi / 180) is all there may be */
        assert_true(fabs(number_at(&r, "x") - good[k].value) <= 1e-15 * fabs(good[k].value));
        close_reading(&r);
    }
}

static void test_no_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "expected a number, got nothing"},
        {"~", "expected a number, got nothing"},
        {"[1]", "expected a number, got a list of 1"},
        {"[]", "expected a number, got an empty list"},
        {"{a: 1}", "expected a number, got a map"},
        {".inf", "finite"},
        {"-.INF", "finite"},
        {".nan", "finite"},
        {"1e999", "infinite"},
        {"1/0", "infinite"},
        {"sqrt(-1)", "not a number"},
        {"0x10", "decimal"},
        {"0o17", "decimal"},
        {"1,5", "point"},
        {"1_000", "not group digits"},
        {"1'000", "not group digits"},
        {"30 mm", "write 0.03 (m)"},
        {"30mm", "write 0.03 (m)"},
        {"3000 rpm", "(rad/s)"},
        {"5 kg", "numbers are in SI units, without a unit"},
        {"9.81 m/s^2", "only `deg`"},
        {"30 \xC2\xB0", "`30 deg`"},
        {"30 degrees", "`30 deg`"},
        {"50 %", "only `deg`"},
        {"spni", "did you mean"},
        {"hello world", "neither a number nor an expression"},
        {"2*t", "cannot depend on the time t"},
        {"2*(m", "neither a number nor an expression"},
        {"true", "neither"},
        {"\"\"", "neither"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        reading r = read_value(bad[k].text);
        double x = 77;
        const size_t mark = ga_reader_enter(&r.reader, "x");
        assert_false(ga_read_number(&r.reader, at(&r, "x"), &x));
        ga_reader_leave(&r.reader, mark);
        assert_true(x == 77);
        assert_int_equal(r.reader.errors, 1);
        assert_says(&r, 0, "m.yaml:2:", bad[k].says);
        assert_non_null(strstr(message(&r, 0), ": x: "));
        close_reading(&r);
    }
}

/* The column is that of the character inside the text, where the text stands in the file. */
static void test_columns_inside_expressions(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
    } cases[] = {
        {"2*m + q", 10},    {"\"2*m + q\"", 11}, {"'2*m + q'", 11},    {"\"2*m\\x20+ q\"", 4},
        {"'2*''m + q'", 4}, {"2*m\n  + q", 4},   {"[1, 2*m + q]", 14}, {"\"'\xC3\xA4' q\"", 5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        reading r = read_value(cases[k].text);
        double x;
        const ga_value *v = at(&r, "x");
        if (v->kind == GA_VALUE_LIST) v = &v->entries[1].value;
        assert_false(ga_read_number(&r.reader, v, &x));
        if (ga_messages_get(r.messages, 0).column != cases[k].column)
            fail_msg("%s: %s", cases[k].text, message(&r, 0));
        close_reading(&r);
    }
}

static void test_locale(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) skip();
    reading r = read_value("1.5");
    assert_true(number_at(&r, "x") == 1.5);
    close_reading(&r);
    setlocale(LC_NUMERIC, "C");
}

static void test_integers(void **state)
{
    (void)state;
    reading r = read_text("a: 3\nb: 3e2\nc: 2.5\nd: 1e300\ne: [1]\nf: '2*3'\n");
    long x = 0;
    assert_true(ga_read_integer(&r.reader, at(&r, "a"), &x));
    assert_int_equal(x, 3);
    assert_true(ga_read_integer(&r.reader, at(&r, "b"), &x));
    assert_int_equal(x, 300);
    assert_true(ga_read_integer(&r.reader, at(&r, "f"), &x));
    assert_int_equal(x, 6);
    assert_false(ga_read_integer(&r.reader, at(&r, "c"), &x));
    assert_false(ga_read_integer(&r.reader, at(&r, "d"), &x));
    assert_false(ga_read_integer(&r.reader, at(&r, "e"), &x));
    assert_int_equal(x, 6);
    assert_says(&r, 0, "m.yaml:3:4: ", "expected an integer, got 2.5");
    assert_says(&r, 1, "m.yaml:4:4: ", "too large");
    assert_says(&r, 2, "m.yaml:5:4: ", "expected an integer, got a list of 1");
    close_reading(&r);
}

static void test_booleans_and_text(void **state)
{
    (void)state;
    reading r = read_text("a: true\nb: false\nc: yes\nd: Off\ne: maybe\nf: {}\ng: 12\nh:\n");
    bool x = false;
    const char *text = NULL;
    assert_true(ga_read_boolean(&r.reader, at(&r, "a"), &x) && x);
    assert_true(ga_read_boolean(&r.reader, at(&r, "b"), &x) && !x);
    assert_false(ga_read_boolean(&r.reader, at(&r, "c"), &x));
    assert_false(ga_read_boolean(&r.reader, at(&r, "d"), &x));
    assert_false(ga_read_boolean(&r.reader, at(&r, "e"), &x));
    assert_false(ga_read_boolean(&r.reader, at(&r, "f"), &x));
    assert_says(&r, 0, "m.yaml:3:4: ", "write `true` instead of `yes`");
    assert_says(&r, 1, "m.yaml:4:4: ", "write `false` instead of `Off`");
    assert_says(&r, 2, "m.yaml:5:4: ", "expected true or false, got `maybe`");
    assert_says(&r, 3, "m.yaml:6:4: ", "expected true or false, got an empty map");
    assert_true(ga_read_text(&r.reader, at(&r, "g"), &text));
    assert_string_equal(text, "12");
    assert_false(ga_read_text(&r.reader, at(&r, "h"), &text));
    assert_false(ga_read_text(&r.reader, at(&r, "f"), &text));
    assert_says(&r, 4, "m.yaml:8:1: ", "expected text, got nothing");
    assert_string_equal(text, "12");
    close_reading(&r);
}

static void test_lists(void **state)
{
    (void)state;
    reading r = read_text("a: [1, 2, 3]\nb: [1, 2]\nc: [1, x, y]\nd: 3\nparameters: {p: 1}\n");
    double x[3] = {7, 7, 7};
    size_t mark = ga_reader_enter(&r.reader, "axis");
    assert_false(ga_read_vector(&r.reader, at(&r, "b"), x));
    assert_says(&r, 0, "m.yaml:2:4: axis: ", "expected 3 numbers, got a list of 2");
    assert_false(ga_read_numbers(&r.reader, at(&r, "c"), 3, x)); /* all mistakes, not one */
    assert_says(&r, 1, "m.yaml:3:8: axis[1]: ", "x");
    assert_says(&r, 2, "m.yaml:3:11: axis[2]: ", "y");
    assert_false(ga_read_vector(&r.reader, at(&r, "d"), x));
    assert_says(&r, 3, "m.yaml:4:4: axis: ", "expected 3 numbers, got `3`");
    r.reader.dimension = 2;
    assert_false(ga_read_vector(&r.reader, at(&r, "a"), x));
    assert_says(&r, 4, "m.yaml:1:4: axis: ",
                "expected 2 numbers (the model is planar), got a list of 3");
    assert_true(x[0] == 7 && x[1] == 7 && x[2] == 7);
    assert_true(ga_read_vector(&r.reader, at(&r, "b"), x));
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == 0);
    r.reader.dimension = 3;
    assert_true(ga_read_vector(&r.reader, at(&r, "a"), x));
    assert_true(x[2] == 3);
    assert_false(ga_read_numbers(&r.reader, at(&r, "a"), 1, x));
    assert_says(&r, 5, "m.yaml:1:4: axis: ", "expected 1 number, got a list of 3");
    ga_reader_leave(&r.reader, mark);
    close_reading(&r);
}

static void test_long_lists(void **state)
{
    (void)state;
    char text[1000] = "a: [0";
    for (int k = 1; k < 36; ++k) snprintf(text + strlen(text), 20, ", %d", k);
    strcat(text, "]\n");
    reading r = read_text(text);
    double x[36];
    assert_true(ga_read_numbers(&r.reader, at(&r, "a"), 36, x));
    for (int k = 0; k < 36; ++k) assert_true(x[k] == k);
    close_reading(&r);
}

static void test_choices(void **state)
{
    (void)state;
    static const char *const types[] = {"fixed", "revolute", "point-on-line", NULL};
    reading r = read_text("a: revolute\nb: revolut\nc: Point_on_line\nd: xyz\ne: [1]\n");
    int k = -1;
    assert_true(ga_read_choice(&r.reader, at(&r, "a"), types, &k));
    assert_int_equal(k, 1);
    assert_false(ga_read_choice(&r.reader, at(&r, "b"), types, &k));
    assert_false(ga_read_choice(&r.reader, at(&r, "c"), types, &k));
    assert_false(ga_read_choice(&r.reader, at(&r, "d"), types, &k));
    assert_false(ga_read_choice(&r.reader, at(&r, "e"), types, &k));
    assert_int_equal(k, 1);
    assert_says(&r, 0, "m.yaml:2:4: ", "unknown `revolut`, did you mean `revolute`?");
    assert_says(&r, 1, "m.yaml:3:4: ", "did you mean `point-on-line`?");
    assert_says(&r, 2,
                "m.yaml:4:4: ", "unknown `xyz`; expected fixed, revolute or point-on-line");
    assert_says(&r, 3, "m.yaml:5:4: ", "or point-on-line, got a list of 1");
    close_reading(&r);
}

static ga_symbol find_state(void *user, const char *name, size_t length)
{
    (void)user;
    if (length == 1 && *name == 't') return (ga_symbol){GA_SYMBOL_VARIABLE, 0, 0};
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

static const char *name_state(void *user, int k)
{
    (void)user;
    return k == 0 ? "top.position" : NULL;
}

static void test_expressions_with_more_names(void **state)
{
    (void)state;
    reading r = read_value("m*t");
    const ga_symbols symbols = {.find = find_state, .name = name_state};
    ga_expression *e = NULL;
    const double t = 5;
    assert_true(ga_read_expression(&r.reader, at(&r, "x"), &symbols, &e));
    assert_true(ga_expression_value(e, &t) == 10);
    ga_expression_destroy(e);
    close_reading(&r);
    /* names of both sources are suggested */
    static const char *const near[][2] = {{"top.positoin", "top.position"}, {"spinn", "spin"}};
    for (int k = 0; k < 2; ++k) {
        r = read_value(near[k][0]);
        assert_false(ga_read_expression(&r.reader, at(&r, "x"), &symbols, &e));
        assert_says(&r, 0, "m.yaml:2:4: ", near[k][1]);
        close_reading(&r);
    }
}

static const char *word_at(void *user, int k)
{
    const char *const *words = user;
    return words[k];
}

static void test_suggestions(void **state)
{
    (void)state;
    static const char *words[] = {"mass",     "inertia", "position", "angular_velocity",
                                  "velocity", "x",       NULL};
    static const struct {
        const char *word, *meant;
    } cases[] = {
        {"mas", "mass"},
        {"masss", "mass"},
        {"amss", "mass"},
        {"Mass", "mass"},
        {"posiiton", "position"},
        {"angularVelocity", "angular_velocity"},
        {"angular-velocity", "angular_velocity"},
        {"velocty", "velocity"},
        {"zzz", NULL},
        {"y", NULL},
        {"", NULL},
        {"color", NULL},
        {"ma", NULL},
        {"intertia", "inertia"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        const char *got = ga_suggest(cases[k].word, words, word_at);
        if ((got == NULL) != (cases[k].meant == NULL) ||
            (got && strcmp(got, cases[k].meant) != 0))
            fail_msg("%s: %s", cases[k].word, got ? got : "none");
    }
    char endless[500];
    memset(endless, 'a', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(ga_suggest(endless, words, word_at));
}

static void test_paths(void **state)
{
    (void)state;
    reading r = read_text("a: 1");
    const size_t one = ga_reader_enter(&r.reader, "joints");
    const size_t two = ga_reader_enter(&r.reader, "hinge");
    const size_t three = ga_reader_enter_item(&r.reader, 2);
    assert_string_equal(r.reader.path, "joints.hinge[2]");
    ga_reader_leave(&r.reader, three);
    ga_reader_leave(&r.reader, two);
    assert_string_equal(r.reader.path, "joints");
    for (int k = 0; k < 100; ++k) ga_reader_enter(&r.reader, "long name"); /* cut */
    assert_int_equal(strlen(r.reader.path), GA_PATH_SIZE - 1);
    ga_reader_leave(&r.reader, one);
    assert_string_equal(r.reader.path, "");
    ga_reader_warning(&r.reader, (ga_place){"m.yaml", 3, 4}, "odd: %d", 5);
    assert_string_equal(message(&r, 0), "m.yaml:3:4: warning: odd: 5");
    assert_int_equal(r.reader.errors, 0);
    close_reading(&r);
}

static void test_without_messages(void **state)
{
    (void)state;
    reading r = read_text("a: xx\n");
    double x;
    r.reader.messages = NULL;
    assert_false(ga_read_number(&r.reader, at(&r, "a"), &x));
    assert_int_equal(r.reader.errors, 1);
    close_reading(&r);
    ga_document *document;
    assert_int_equal(ga_document_parse("x", "a: [", 4, NULL, &document, NULL), GA_ERR_INPUT);
    assert_null(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_columns_inside_expressions),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_booleans_and_text),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_long_lists),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_expressions_with_more_names),
        cmocka_unit_test(test_suggestions),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_without_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
