/* Expressions of t, x, y, z and u for the tests: variables 0 to 3 and 9. */
#ifndef GA_TEST_COMPILED_H
#define GA_TEST_COMPILED_H

#include "data/expression.h"
#include "test/support/unit.h"

#include <math.h>
#include <string.h>

enum { VARIABLES = 10 };

static const struct {
    const char *name;
    ga_symbol symbol;
} known_names[] = {
    {"t", {GA_SYMBOL_VARIABLE, 0, 0}},         {"x", {GA_SYMBOL_VARIABLE, 0, 1}},
    {"y", {GA_SYMBOL_VARIABLE, 0, 2}},         {"z", {GA_SYMBOL_VARIABLE, 0, 3}},
    {"u", {GA_SYMBOL_VARIABLE, 0, 9}},         {"mass", {GA_SYMBOL_CONSTANT, 15, 0}},
    {"zero", {GA_SYMBOL_CONSTANT, 0, 0}},      {"top.position.z", {GA_SYMBOL_VARIABLE, 0, 3}},
    {"my body.x", {GA_SYMBOL_CONSTANT, 7, 0}}, {"arm.0.x", {GA_SYMBOL_CONSTANT, 8, 0}},
};
enum { KNOWN_NAMES = sizeof known_names / sizeof *known_names };

static inline ga_symbol find_known(void *user, const char *name, size_t length)
{
    (void)user;
    for (int k = 0; k < KNOWN_NAMES; ++k)
        if (strlen(known_names[k].name) == length &&
            memcmp(known_names[k].name, name, length) == 0)
            return known_names[k].symbol;
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

static inline const char *known_name(void *user, int k)
{
    (void)user;
    return k < KNOWN_NAMES ? known_names[k].name : NULL;
}

static const ga_symbols known = {.find = find_known, .name = known_name};

static inline ga_expression *compiled(const char *text)
{
    ga_expression *expression = NULL;
    ga_expression_error error;
    if (ga_expression_compile(text, &known, &expression, &error) != GA_OK)
        fail_msg("\"%s\" at %zu: %s", text, error.offset, error.message);
    return expression;
}

static inline double value_at(const char *text, const double *x)
{
    ga_expression *expression = compiled(text);
    const double value = ga_expression_value(expression, x);
    ga_expression_destroy(expression);
    return value;
}

/* Equal but for `tolerance` relative to the larger of 1 and the value; NaN is like NaN. */
static inline void assert_close(const char *what, double got, double expected, double tolerance)
{
    if (isnan(got) && isnan(expected)) return;
    if (got == expected) return;
    if (!(fabs(got - expected) <= tolerance * fmax(1, fabs(expected))))
        fail_msg("%s: %.17g, expected %.17g", what, got, expected);
}

#endif
