/* A unit is four exponents; an expression is run once on units in place of numbers.
 *
 *     a + b, min, hypot ...   both the same; a number that stands in the text takes any unit
 *     a * b, a / b, a ^ 2     exponents add, subtract, multiply
 *     sin, exp, ...           of plain numbers and angles only
 *     asin, atan2, ...        give angles
 *
 * Whatever else happens is not known, and stays so. Angles are plain numbers where they meet
 * other quantities: radius times rad/s is m/s.
 */
#include "io/unit.h"

#include "data/expression_code.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KG, M, S, RAD };
static const char *const bases[GA_UNIT_BASES] = {"kg", "m", "s", "rad"};

/* Names of units, the first of several that mean the same being the usual one. */
static const struct {
    const char *text;
    double power[GA_UNIT_BASES];
} named[] = {
    {"N", {1, 1, -2, 0}},   {"J", {1, 2, -2, 0}},   {"W", {1, 2, -3, 0}},
    {"Pa", {1, -1, -2, 0}}, {"N/m", {1, 0, -2, 0}}, {"N s/m", {1, 0, -1, 0}},
    {"Hz", {0, 0, -1, 0}},
};
enum { NAMED = sizeof named / sizeof *named };

static const ga_unit unknown = {0}, angle = {true, {0, 0, 0, 1}};

bool ga_unit_equal(ga_unit a, ga_unit b)
{
    return a.known && b.known && memcmp(a.power, b.power, sizeof a.power) == 0;
}

static ga_unit combine(ga_unit a, double factor, ga_unit b)
{
    ga_unit c = {.known = a.known && b.known};
    for (int k = 0; k < GA_UNIT_BASES; ++k) {
        c.power[k] = a.power[k] + factor * b.power[k];
        if (c.power[k] == 0) c.power[k] = 0; /* no -0, for memcmp */
    }
    return c;
}

/* --- text --------------------------------------------------------------------------------- */

static ga_unit find_symbol(const char *text, size_t length)
{
    ga_unit unit = {.known = true};
    for (int k = 0; k < GA_UNIT_BASES; ++k)
        if (strlen(bases[k]) == length && strncmp(bases[k], text, length) == 0) {
            unit.power[k] = 1;
            return unit;
        }
    for (int k = 0; k < NAMED; ++k)
        if (strlen(named[k].text) == length && strncmp(named[k].text, text, length) == 0) {
            memcpy(unit.power, named[k].power, sizeof unit.power);
            return unit;
        }
    return length == 1 && *text == '1' ? unit : unknown;
}

/* Symbols with exponents, side by side; what follows a slash is divided by. */
ga_unit ga_unit_read(const char *text)
{
    ga_unit unit = {.known = true};
    double sign = 1;
    for (const char *c = text; *c;) {
        if (*c == ' ' || *c == '*') {
            ++c;
            continue;
        }
        if (*c == '/') {
            if (sign < 0) return unknown; /* m/s/s: ambiguous enough */
            sign = -1;
            ++c;
            continue;
        }
        const size_t length = strcspn(c, " */^");
        const ga_unit symbol = find_symbol(c, length);
        c += length;
        double power = 1;
        if (*c == '^') {
            char *end;
            power = (double)strtol(c + 1, &end, 10);
            if (end == c + 1) return unknown;
            c = end;
        }
        unit = combine(unit, sign * power, symbol);
    }
    return unit;
}

static int put(char *text, int n, const char *separator, const char *base, double power)
{
    if (n >= GA_UNIT_SIZE) return n;
    const size_t room = (size_t)(GA_UNIT_SIZE - n);
    if (power == 1) return n + snprintf(text + n, room, "%s%s", separator, base);
    return n + snprintf(text + n, room, "%s%s^%g", separator, base, power);
}

const char *ga_unit_write(ga_unit unit, char text[GA_UNIT_SIZE])
{
    *text = '\0';
    if (!unit.known) return text;
    if (unit.power[KG] != 0 || unit.power[M] != 0) unit.power[RAD] = 0;
    for (int k = 0; k < NAMED; ++k)
        if (strcmp(named[k].text, "Hz") != 0 &&
            memcmp(named[k].power, unit.power, sizeof unit.power) == 0) {
            strcpy(text, named[k].text);
            return text;
        }
    int n = 0, below = 0;
    for (int k = 0; k < GA_UNIT_BASES; ++k) {
        if (unit.power[k] > 0) n = put(text, n, n ? " " : "", bases[k], unit.power[k]);
        below += unit.power[k] < 0;
    }
    if (below && n == 0) n = snprintf(text, GA_UNIT_SIZE, "1");
    /* one thing below the slash reads well, several in a row do not */
    for (int k = 0; k < GA_UNIT_BASES; ++k) {
        if (unit.power[k] >= 0) continue;
        if (below == 1)
            n = put(text, n, "/", bases[k], -unit.power[k]);
        else
            n = put(text, n, " ", bases[k], unit.power[k]);
    }
    if (n >= GA_UNIT_SIZE) *text = '\0';
    return text;
}

/* --- expressions -------------------------------------------------------------------------- */

typedef struct operand {
    ga_unit unit;
    bool literal; /* stands in the text */
    double value; /* then */
} operand;

static bool is_plain(ga_unit u)
{
    return u.known && u.power[KG] == 0 && u.power[M] == 0 && u.power[S] == 0;
}

static operand plain(void) { return (operand){{.known = true}, false, 0}; }

static operand power_of(operand a, double exponent)
{
    const ga_unit one = {.known = true};
    return (operand){a.unit.known ? combine(one, exponent, a.unit) : unknown, false, 0};
}

static operand unary(ga_operation operation, operand a)
{
    switch (operation) {
    case GA_OP_NEGATE:
    case GA_OP_ABS:
    case GA_OP_FLOOR:
    case GA_OP_CEIL:
    case GA_OP_ROUND:
        return a;
    case GA_OP_SQRT:
        return power_of(a, 0.5);
    case GA_OP_CBRT:
        return power_of(a, 1.0 / 3);
    case GA_OP_NOT:
    case GA_OP_SIGN:
    case GA_OP_STEP:
        return plain();
    case GA_OP_ASIN:
    case GA_OP_ACOS:
    case GA_OP_ATAN:
        return (operand){is_plain(a.unit) ? angle : unknown, false, 0};
    default:
        return (operand){{.known = is_plain(a.unit)}, false, 0};
    }
}

static ga_unit common(operand a, operand b)
{
    if (a.literal) return b.unit;
    if (b.literal || ga_unit_equal(a.unit, b.unit)) return a.unit;
    return unknown;
}

static operand binary(ga_operation operation, operand a, operand b)
{
    switch (operation) {
    case GA_OP_ADD:
    case GA_OP_SUBTRACT:
    case GA_OP_MIN:
    case GA_OP_MAX:
    case GA_OP_MOD:
    case GA_OP_HYPOT:
        return (operand){common(a, b), false, 0};
    case GA_OP_MULTIPLY:
        return (operand){combine(a.unit, 1, b.unit), false, 0};
    case GA_OP_DIVIDE:
        return (operand){combine(a.unit, -1, b.unit), false, 0};
    case GA_OP_POWER:
        if (b.literal) return power_of(a, b.value);
        return (operand){{.known = is_plain(a.unit) && is_plain(b.unit)}, false, 0};
    case GA_OP_ATAN2:
        return (operand){common(a, b).known ? angle : unknown, false, 0};
    default: /* comparisons and the like */
        return plain();
    }
}

ga_unit ga_unit_of(const ga_expression *e, const ga_unit *variables)
{
    operand stack[GA_EXPRESSION_STACK];
    int n = 0;
    for (int k = 0; k < e->count; ++k) {
        const ga_instruction *i = &e->code[k];
        switch (i->operation) {
        case GA_OP_PUSH:
            stack[n++] = (operand){{.known = true}, true, i->value};
            break;
        case GA_OP_LOAD:
            stack[n++] = (operand){variables[e->variable[i->argument]], false, 0};
            break;
        case GA_OP_BRANCH:
        case GA_OP_JUMP:
            return unknown;
        default:
            if (i->operation < GA_OP_FIRST_BINARY) {
                stack[n - 1] = unary(i->operation, stack[n - 1]);
            } else {
                stack[n - 2] = binary(i->operation, stack[n - 2], stack[n - 1]);
                --n;
            }
        }
    }
    return stack[0].unit;
}
