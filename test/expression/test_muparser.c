/* Values of random expressions against muParser, which shares no code with us: the same texts
 * go to both, with few parentheses, so precedence is tested too. Functions are used inside of
 * their domains, as what not-a-number does further on is not muParser's to decide. */
#include "compiled.h"

#include <muParserDLL.h>
#include <stdio.h>

typedef struct writer {
    uint64_t seed;
    size_t length;
    char text[GA_EXPRESSION_MAX_LENGTH];
} writer;

static int below(writer *w, int limit)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (int)((w->seed >> 33) % (uint64_t)limit);
}

static void put(writer *w, const char *text)
{
    const size_t n = strlen(text);
    assert_true(w->length + n < sizeof w->text);
    memcpy(w->text + w->length, text, n + 1);
    w->length += n;
}

static void put_number(writer *w)
{
    static const char *const forms[] = {"%.0f", "%.2f", "%.3e", "%.7f"};
    char text[40];
    snprintf(text, sizeof text, forms[below(w, 4)], 0.01 + below(w, 1000) / 97.0);
    put(w, text);
}

/* In a template, @ is any operand, # a factor that needs no parentheses. */
static const char *const templates[] = {
    "@+@",
    "@-@",
    "@*@",
    "#/(1.5+abs(@))",
    "#*#-#",
    "-#",
    "#^2",
    "-#^3",
    "#*-#",
    "(1+abs(@))^tanh(@)",
    "2^-tanh(@)",
    "x^y^z",
    "-x^-y",
    "(@)",
    "(@)*(@)",
    "sin(@)",
    "cos(@)",
    "tan(tanh(@))",
    "asin(tanh(@))",
    "acos(tanh(@))",
    "atan(@)",
    "sinh(tanh(@))",
    "cosh(sin(@))",
    "tanh(@)",
    "asinh(@)",
    "acosh(1.5+abs(@))",
    "atanh(0.9*tanh(@))",
    "exp(tanh(@))",
    "log(1.5+abs(@))",
    "log10(1.5+abs(@))",
    "log2(1.5+abs(@))",
    "sqrt(abs(@))",
    "abs(@)",
    "sign(@)",
    "min(@,@)",
    "max(@,@,@)",
    "atan2(@,@)",
    "(@<@?@:@)",
    "(#>#&&#<=#?@:@)",
    "(#>=#||#!=#&&@==@?@:@)",
    "(@<@)*(@)",
    "@+(#<#)-@",
    "(x<y?@:y<z?@:@)",
    "hypot(@,@)",
    "floor(@)",
    "mod(@,1.7)",
};
enum { TEMPLATES = sizeof templates / sizeof *templates };

static void put_leaf(writer *w)
{
    static const char *const names[] = {"x", "y", "z"};
    if (below(w, 3))
        put(w, names[below(w, 3)]);
    else
        put_number(w);
}

static void put_operand(writer *w, int depth)
{
    if (depth == 0 || w->length > 600) {
        put_leaf(w);
        return;
    }
    const char *template = templates[below(w, TEMPLATES)];
    for (const char *c = template; *c; ++c)
        if (*c == '@')
            put_operand(w, depth - 1);
        else if (*c == '#' && below(w, 2))
            put_leaf(w);
        else if (*c == '#') {
            put(w, "(");
            put_operand(w, depth - 1);
            put(w, ")");
        } else
            put(w, (char[2]){*c, 0});
}

static double our_floor(double x) { return floor(x); }
static double our_hypot(double x, double y) { return sqrt(x * x + y * y); }
static double our_mod(double x, double y) { return x - y * floor(x / y); }

static void test_random_expressions(void **state)
{
    (void)state;
    enum { COUNT = 4000 };
    double v[3];
    muParserHandle_t peer = mupCreate(0);
    mupDefineVar(peer, "x", &v[0]);
    mupDefineVar(peer, "y", &v[1]);
    mupDefineVar(peer, "z", &v[2]);
    mupDefineFun1(peer, "floor", our_floor, 1);
    mupDefineFun2(peer, "hypot", our_hypot, 1);
    mupDefineFun2(peer, "mod", our_mod, 1);

    writer w = {.seed = 20240607};
    int compared = 0;
    for (int n = 0; n < COUNT; ++n) {
        w.length = 0;
        put_operand(&w, 1 + below(&w, 4));
        mupSetExpr(peer, w.text);
        ga_expression *e = compiled(w.text);
        for (int place = 0; place < 3; ++place) {
            for (int k = 0; k < 3; ++k) v[k] = 0.3 + below(&w, 1000) / 613.0;
            const double at[VARIABLES] = {0, v[0], v[1], v[2]};
            const double expected = mupEval(peer);
            if (mupError(peer)) fail_msg("muParser: %s: %s", w.text, mupGetErrorMsg(peer));
            const double got = ga_expression_value(e, at);
            if (!isfinite(expected)) continue;
            /* muParser orders operations differently at times; ten nested operations amplify
             * that by less than this. */
            assert_close(w.text, got, expected, 1e-9);
            ++compared;
        }
        ga_expression_destroy(e);
    }
    mupRelease(peer);
    assert_in_range(compared, COUNT * 5 / 2, COUNT * 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_expressions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
