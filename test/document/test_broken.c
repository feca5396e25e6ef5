/* Texts that are no model: each gets a message that says where and what. */
#include "test/document/reading.h"

static void test_broken_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *place, *says;
    } cases[] = {
        {"", "m.yaml:1:1: ", "expected a map with `galpha: 1`, got an empty file"},
        {"\n\n# nothing\n", "m.yaml:1:1: ", "empty file"},
        {"---\n", "m.yaml:", "empty file"},
        {"galpha 1\n", "m.yaml:1:1: ", "expected a map"},
        {"galpha:1\n", "m.yaml:1:1: ", "is there a space after the colon?"},
        {"- a\n- b\n", "m.yaml:1:1: ", "got a list of 2"},
        {"[1, 2]\n", "m.yaml:1:1: ", "got a list of 2"},
        {"a: [1, 2\nb: 3\n", "m.yaml:3:1: ", "the [ of line 1, column 4 is open"},
        {"a: {x: 1\nb: 3\n", "m.yaml:2:2: ", "closing bracket or a comma is missing"},
        {"a: {x: 1", "m.yaml:2:1: ", "line 1, column 4 is open"},
        {"a: [1, , 2]\n", "m.yaml:1:8: ", "comma with nothing before it"},
        {"a: ]\n", "m.yaml:1:4: ", "closing bracket too many"},
        {"a: }\n", "m.yaml:1:4: ", "closing bracket too many"},
        {"a: [link{i-1}, b]\n", "m.yaml:1:9: ", "must be in quotes"},
        {"a: \"x\n", "m.yaml:1:5: ", "quote"},
        {"a: 'x\n", "m.yaml:1:5: ", "quote"},
        {"a: \"\\q\"\n", "m.yaml:1:5: ", "escape"},
        {"a: \"b\" c\n", "m.yaml:1:8: ", "closing quote"},
        {"a: b: c\n", "m.yaml:1:5: ", "second `: ` on one line"},
        {"a: 1\n  b: 2\n", "m.yaml:1:4: ", "indented too far"},
        {"a\nb: 1\n", "m.yaml:1:1: ", "a colon is missing here"},
        {"a: - b\n", "m.yaml:1:4: ", "starts on the line after its key"},
        {"- a\nb: c\n", "m.yaml:2:1: ", "item of the list"},
        {"a:\n\t- b\n", "m.yaml:2:1: ", "use spaces"},
        {"\ta: 1\n", "m.yaml:1:1: ", "use spaces"},
        {"a: @x\n", "m.yaml:1:4: ", "must be in quotes"},
        {"a: `x`\n", "m.yaml:1:4: ", "must be in quotes"},
        {"a: %x\n", "m.yaml:1:4: ", "must be in quotes"},
        {"a: *x\n", "m.yaml:1:", "no anchor &x"},
        {"a: &x [*x]\n", "m.yaml:1:", "contains itself"},
        {"*x : 1\n", "m.yaml:1:", "a key must be text"},
        {"a: !foo bar\n", "m.yaml:1:4: ", "the tag"},
        {"a: !!binary bar\n", "m.yaml:1:4: ", "the tag"},
        {"a: ! bar\n", "m.yaml:1:4: ", "the tag"},
        {"a: !foo {b: 1}\n", "m.yaml:1:4: ", "the tag"},
        {": 3\n", "m.yaml:1:1: ", "an empty key"},
        {"a: {mass:1, b: 2}\n", "m.yaml:1:5: a.mass:1: ", "a space is missing after the colon"},
        {"a:\n    b: 1\n   c: 2\n", "m.yaml:3:4: ", "wrong indentation"},
        {"a: |0\n  b\n", "m.yaml:1:", "cannot parse"},
        {"? [a]\n: b\n", "m.yaml:1:3: ", "a key must be text, not a list"},
        {"{[a]: b}\n", "m.yaml:1:2: ", "a key must be text, not a list"},
        {"{{a: 1}: b}\n", "m.yaml:1:2: ", "a key must be text, not a map"},
        {"a: 1\nb: 2\na: 3\n", "m.yaml:3:1: ", "`a` is given twice; first at line 1, column 1"},
        {"x: {a: 1, 'a': 2}\n", "m.yaml:1:11: x: ", "`a` is given twice"},
        {"x: {a: 1, b: 1, c: 1, d: 1, e: 1, f: 1, g: 1, h: 1, i: 1, c: 2}\n",
         "m.yaml:1:59: x: ", "`c` is given twice; first at line 1, column 17"},
        {"x: [0, {a: 1, a: 2}]\n", "m.yaml:1:15: x[1]: ", "`a` is given twice"},
        {"x: {<<: 3}\n", "m.yaml:1:5: ", "`<<` merges a map"},
        {"x: {<<: [3]}\n", "m.yaml:1:5: ", "`<<` merges a map"},
        {"a: 1\n---\nb: 2\n", "m.yaml:2:1: ", "second document"},
        {"a: 1\n...\n---\nb: 2\n", "m.yaml:3:1: ", "second document"},
        {"a: 1\n...\nb\n", "m.yaml:", "second document"},
        {"a: \"x\\0y\"\n", "m.yaml:1:", "NUL character"},
        {"a: \x01\n", "m.yaml:1:4: ", "control character"},
        {"a: \x1b[31m\n", "m.yaml:1:4: ", "control character"},
        {"a: 1\nb: \xff\n", "m.yaml:2:4: ", "not UTF-8"},
        {"a: \xc0\xaf\n", "m.yaml:1:4: ", "not UTF-8"},
        {"a: \xed\xa0\x80\n", "m.yaml:1:4: ", "not UTF-8"},
        {"a: \xf4\x90\x80\x80\n", "m.yaml:1:4: ", "not UTF-8"},
        {"a: \xe4\n", "m.yaml:1:4: ", "save it as UTF-8"},
        {"a: \xc3\xa4 \xe4\n", "m.yaml:1:6: ", "not UTF-8"},
        {"\xff\xfe"
         "a",
         "m.yaml:1:1: ", "UTF-16"},
        {"\x7f"
         "ELF\x02\x01",
         "m.yaml:1:1: ", "control character"},
        {"\x89PNG\r\n", "m.yaml:1:1: ", "not UTF-8"},
        {"a: |x\n  b\n", "m.yaml:1:", ""},
        {"a: &x &y z\n", "m.yaml:1:", "two anchors"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        reading r = read_text(cases[k].text);
        if (r.status != GA_ERR_INPUT) fail_msg("\"%s\" is fine", cases[k].text);
        assert_true(ga_messages_errors(r.messages) >= 1);
        assert_says(&r, 0, cases[k].place, cases[k].says);
        close_reading(&r);
    }
}

static void test_zeros(void **state)
{
    (void)state;
    ga_messages *m = ga_messages_create();
    ga_document *d;
    char line[200];
    assert_int_equal(ga_document_parse("m.yaml", "a: 1\nb\0c", 8, NULL, &d, m), GA_ERR_INPUT);
    ga_messages_format(m, 0, line, sizeof line);
    assert_string_equal(line, "m.yaml:2:2: not a text file: it contains a NUL byte");
    ga_messages_destroy(m);
}

/* All mistakes at once, up to a limit. */
static void test_many_mistakes(void **state)
{
    (void)state;
    char text[4000] = "parameters: {";
    for (int k = 0; k < 30; ++k) snprintf(text + strlen(text), 40, "p%d: 3 mm, p%d: 1, ", k, k);
    strcat(text, "q: 1}\n");
    reading r = read_text(text);
    assert_int_equal(ga_messages_errors(r.messages), 60);
    assert_int_equal(ga_messages_count(r.messages), GA_MESSAGES_MAX_ERRORS);
    close_reading(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_broken_texts),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_many_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
