/* Texts that are no expressions: where, and what the message says. */
#include "compiled.h"

#include <stdio.h>

static void check(const char *text, size_t offset, const char *says)
{
    ga_expression *e = NULL;
    ga_expression_error error;
    if (ga_expression_compile(text, &known, &e, &error) != GA_ERR_INPUT)
        fail_msg("\"%s\" is accepted", text);
    assert_null(e);
    if (error.offset != offset || !strstr(error.message, says))
        fail_msg("\"%s\": %zu: %s\nexpected %zu: %s", text, error.offset, error.message, offset,
                 says);
}

static void test_messages(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t offset;
        const char *says;
    } cases[] = {
        {"", 0, "empty expression"},
        {" \t\n", 0, "empty expression"},
        {"2*", 2, "expected a number, name or ( after '*'"},
        {"2*)", 2, "expected a number, name or ( after '*'"},
        {"*2", 0, "expected a number, name or ("},
        {"1 + * 2", 4, "expected a number, name or ( after '+'"},
        {"min(1,)", 6, "expected a number, name or ( after ','"},
        {"()", 1, "expected a number, name or ( after '('"},
        {"(1+2", 0, "( is never closed"},
        {"2*(1+(2+3)", 2, "( is never closed"},
        {"sin(1", 3, "( is never closed"},
        {"1+2)", 3, ") without ("},
        {"(1,2)", 2, "expected ) or an operator, got ','"},
        {"1,5", 1, "decimals are written with a point"},
        {"t = 1", 2, "unexpected '=': equality is written =="},
        {"1 ? 2", 5, "expected an operator or : after '2'"},
        {"1 : 2", 2, ": without ?"},
        {"0 < t < 1", 6, "comparisons do not chain"},
        {"1 == t == 1", 7, "comparisons do not chain"},
        {"2t", 1, "multiplication is written 2*t"},
        {"2 x", 2, "multiplication is written 2*x"},
        {"x y", 2, "multiplication is written x*y"},
        {"2(x)", 1, "expected an operator after '2'"},
        {"(x)(y)", 3, "expected an operator"},
        {"x(y)", 0, "'x' is not a function; multiplication is written x*("},
        {"1.2.3", 0, "'1.2.3' is not a number"},
        {"t + 1..2", 4, "'1..2' is not a number"},
        {"1e400", 0, "too large"},
        {"30 mm", 3, "unexpected unit 'mm': numbers are in SI units"},
        {"2kN", 1, "unexpected unit 'kN'"},
        {"2 rad", 2, "in rad already"},
        {"t deg", 2, "deg can follow only a number"},
        {"deg", 0, "as in 30 deg"},
        {"sin(1, 2)", 0, "sin takes 1 argument, got 2"},
        {"1+atan2(1)", 2, "atan2 takes 2 arguments, got 1"},
        {"if(t, 1)", 0, "if takes 3 arguments, got 2"},
        {"if(t, 1, 2, 3)", 0, "if takes 3 arguments, got 4"},
        {"max(1)", 0, "max takes at least 2 arguments, got 1"},
        {"cos()", 0, "cos takes 1 argument, got 0"},
        {"2*sin", 2, "sin is a function: expected ("},
        {"1+mas", 2, "unknown name 'mas'; did you mean 'mass'?"},
        {"top.positon.z", 0, "did you mean 'top.position.z'?"},
        {"qwertyuiop", 0, "unknown name 'qwertyuiop'"},
        {"sinn(1)", 0, "unknown function 'sinn'; did you mean 'sin'?"},
        {"sgrt(1)", 0, "did you mean 'sqrt'?"},
        {"`mass", 0, "a closing ` is missing"},
        {"``", 1, "expected a name between '``'"},
        {"top.", 4, "expected a name after '.'"},
        {"t % 2", 2, "mod(x, y)"},
        {"t ** 2", 2, "written with ^"},
        {"t & 1", 2, "written &&"},
        {"t | 1", 2, "written ||"},
        {"[1]", 0, "parentheses are round"},
        {"2\xc3\x97t", 1, "multiplication is written *"},
        {"1 \xe2\x88\x92 t", 2, "minus is written -"},
        {"\xc3\xbc", 0, "'\xc3\xbc'; names with such characters must be in backquotes, `...`"},
        {"t # 2", 2, "unexpected character '#'"},
        {"t \x01", 2, "control character"},
        {"\xff", 0, "unexpected character"},
        {".", 0, "unexpected character '.'"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        check(cases[k].text, cases[k].offset, cases[k].says);
}

/* `count` times `open`, then x, then as often `close`. */
static void nest(char *text, int count, const char *open, const char *close)
{
    text[0] = 0;
    for (int k = 0; k < count; ++k) strcat(text, open);
    strcat(text, "x");
    for (int k = 0; k < count; ++k) strcat(text, close);
}

static void test_limits(void **state)
{
    (void)state;
    char text[GA_EXPRESSION_MAX_LENGTH + 100];
    nest(text, 50, "(", ")");
    assert_true(value_at(text, (double[VARIABLES]){0, 3}) == 3);
    static const struct {
        const char *open, *close, *says;
        size_t offset;
    } deep[] = {{"(", ")", "nested too deep", 100},
                {"sin(", ")", "nested too deep", 400},
                {"-", "", "nested too deep", 199},
                {"2^", "", "nested too deep", 398},
                {"y?", ":1", "nested too deep", 398}};
    for (size_t k = 0; k < sizeof deep / sizeof *deep; ++k) {
        nest(text, 800, deep[k].open, deep[k].close);
        check(text, deep[k].offset, deep[k].says);
    }
    nest(text, 90, "y+(", ")");
    check(text, 0, "too many pending operations");

    memset(text, '1', sizeof text);
    text[GA_EXPRESSION_MAX_LENGTH + 1] = 0;
    check(text, GA_EXPRESSION_MAX_LENGTH, "longer than 4096 characters");
    text[GA_EXPRESSION_MAX_LENGTH] = 0;
    check(text, 0, "too long");
    memset(text, 'a', GA_EXPRESSION_MAX_LENGTH);
    check(text, 0, "a name is longer than");
    memset(text, '(', GA_EXPRESSION_MAX_LENGTH);
    check(text, 100, "nested too deep");
}

/* Any bytes give an expression or a message, never more. The sanitizers watch. */
static void test_noise(void **state)
{
    (void)state;
    static const char *const words[] = {
        "t", "x", "1", "2.5", "sin(", "if(", "(", ")", ",", "+",   "-", "*",    "/",   "^",
        "?", ":", "<", "==",  "&&",   "!",   " ", "`", ".", "deg", "e", "\xc3", "min("};
    uint64_t seed = 7;
    int accepted = 0;
    for (int k = 0; k < 20000; ++k) {
        char text[200] = "";
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        const int count = 1 + (int)(seed >> 60);
        for (int i = 0; i < count; ++i) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            strcat(text, words[(seed >> 33) % (sizeof words / sizeof *words)]);
        }
        ga_expression *e = NULL;
        ga_expression_error error;
        const double at[VARIABLES] = {0.5, 2};
        double gradient[VARIABLES];
        if (ga_expression_compile(text, &known, &e, &error) == GA_OK) {
            ga_expression_gradient(e, at, gradient);
            ++accepted;
        } else {
            assert_true(error.message[0] != 0);
            assert_true(error.offset <= strlen(text));
        }
        ga_expression_destroy(e);
    }
    assert_in_range(accepted, 100, 19000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
