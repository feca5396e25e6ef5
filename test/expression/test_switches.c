/* Where expressions of time are not smooth: every jump, corner and pole is found where it is,
 * however close to each other they are if what decides is affine in time; what depends on the
 * state is left out. */
#include "data/expression_switch.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* t is variable 0, x a variable of the state. */
static ga_symbol find(void *user, const char *name, size_t length)
{
    (void)user;
    if (length == 1 && *name == 't') return (ga_symbol){GA_SYMBOL_VARIABLE, 0, 0};
    if (length == 1 && *name == 'x') return (ga_symbol){GA_SYMBOL_VARIABLE, 0, 1};
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

static ga_expression *compile(const char *text)
{
    const ga_symbols symbols = {.find = find};
    ga_expression *expression = NULL;
    ga_expression_error error;
    if (ga_expression_compile(text, &symbols, &expression, &error) != GA_OK)
        fail_msg("%s: %s", text, error.message);
    return expression;
}

enum { MOST = 6 };

/* Times between 0 and 10, as many as are not 0. */
typedef struct expected {
    const char *text;
    double at[MOST];
} expected;

static void check(ga_switches wanted, const expected *e)
{
    const ga_span span = {10, 1e-3};
    ga_expression *expression = compile(e->text);
    double t = 0;
    for (int k = 0; k < MOST && e->at[k] > 0; ++k) {
        const double next = ga_expression_next_switch(expression, wanted, &span, t);
        if (!(fabs(next - e->at[k]) <= 4e-15 * e->at[k]))
            fail_msg("%s: %.17g after %g, expected %.17g", e->text, next, t, e->at[k]);
        assert_true(next > t);
        t = next;
    }
    const double more = ga_expression_next_switch(expression, wanted, &span, t);
    /* `sign` has a value of its own at zero: the same place again */
    if (more - t > 1e-14 && isfinite(more))
        fail_msg("%s: %.17g after %.17g, expected nothing", e->text, more, t);
    ga_expression_destroy(expression);
}

static void test_breaks(void **state)
{
    (void)state;
    const expected cases[] = {
        {"3*t^2 + sin(t)", {0}},
        {"exp(-((t - 5)/0.01)^2)", {0}},
        {"abs(t - 0.5)", {0.5}},
        {"abs(0.5 - t)", {0.5}},
        {"2*abs(3*t - 1.5) + abs(t - 7)", {0.5, 7}},
        {"max(0, t - 2)", {2}},
        {"min(t, 4, 3)", {3, 4}}, /* the inner one has a corner, too */
        {"step(t - 2) - step(t - 2.0001)", {2, 2.0001}},
        {"sign(t - 2)", {2}},
        {"t < 3", {3}},
        {"t <= 3 ? 1 : 2", {3}},
        {"t > 3 && t < 4", {3, 4}},
        {"t >= 3 || t > 4", {3, 4}},
        {"if(t < 3, 1, if(t < 5, 2, 3))", {3, 5}},
        {"if(t < 3, abs(t - 1), abs(t - 8))", {1, 3, 8}},
        {"floor(t/3)", {3, 6, 9}},
        {"ceil(-t/4)", {4, 8}},
        {"round(t/5)", {2.5, 7.5}},
        {"mod(t, 4)", {4, 8}},
        {"mod(1 - t, 4)", {1, 5, 9}},
        {"mod(t, 4) < 1", {1, 4, 5, 8, 9}},
        {"mod(t, 4) < 1e-6", {1e-6, 4, 4 + 1e-6, 8, 8 + 1e-6}},
        {"1/(t - 0.5)", {0.5}},
        {"(t - 0.5)^(-2)", {0.5}},
        {"(abs(t - 1))^0.5", {1}},
        {"cbrt(t - 2)", {2}},
        {"hypot(t - 3, 0)", {3}},
        {"tan(t/2)", {pi, 3 * pi}},
        {"abs(sin(t))", {pi, 2 * pi, 3 * pi}},
        {"max(sin(t), 0)", {pi, 2 * pi, 3 * pi}},
        {"1/(t^2 - 4)", {2}},
        /* of the state and of time */
        {"-7*x*step(t - 2)", {2}},
        {"x > 0 ? abs(t - 1) : abs(t - 2)", {1, 2}},
        {"abs(x) + max(x, 0) + floor(x)", {0}},
        {"abs(x + t - 2)", {0}},
        {"t == 3 ? 100 : 0", {0}},
        {"floor(t/4) == 1 ? 100 : 0", {4, 8}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        check(GA_SWITCHES_BREAKS, &cases[k]);
}

static void test_centres(void **state)
{
    (void)state;
    const expected cases[] = {
        {"sin(t) + 3*t", {0}},
        {"exp(-((t - 5)/1e-7)^2)", {5}},
        {"exp(-(t - 5)*(t - 5)/1e-12)", {5}},
        {"tanh((t - 2)/1e-9) - tanh((t - 3)/1e-9)", {2, 3}},
        {"1/(1 + ((t - 4)*1e8)^2)", {4}},
        {"1/(1 + exp(-(t - 4)*1e8))", {4}},
        {"x*exp(-((t - 5)/0.01)^2)", {5}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        check(GA_SWITCHES_CENTRES, &cases[k]);
}

/* A hundred thousand corners are found one after the other, none twice, none left out. */
static void test_many(void **state)
{
    (void)state;
    const ga_span span = {10, 1e-3};
    ga_expression *expression = compile("floor(10000*t)");
    double t = 0;
    int count = 0;
    for (double next;
         isfinite(next = ga_expression_next_switch(expression, GA_SWITCHES_BREAKS, &span, t));
         t = next) {
        ++count;
        assert_true(fabs(next - count * 1e-4) < 1e-12);
    }
    assert_true(count == 100000 || count == 99999);
    ga_expression_destroy(expression);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_centres),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
