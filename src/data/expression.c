/* Evaluation of compiled expressions.
 *
 * Derivatives go through the program together with the values. With f(a, b) and ' for the
 * derivative along one variable,
 *
 *     f'  = f_a a' + f_b b'
 *     f'' = f_a a'' + f_b b'' + f_aa a'^2 + 2 f_ab a' b' + f_bb b'^2
 *
 * A derivative may be infinite, sqrt(t) at t = 0, and 0 * infinity is not 0. So terms that
 * vanish identically are left out instead of multiplied by zero: each number on the stack knows
 * whether it depends on the variable at all, and whether it is affine in it.
 *
 * Where a function has a corner, the derivative is that of the piece the value is taken from;
 * abs(x) is x from 0 on, and hypot(0, 0) has derivatives 0, to keep forces along distances
 * finite. Jumps count as pieces that are constant.
 */
#include "data/expression.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "base/memory.h"
#include "data/expression_code.h"

#define LN_2 0.69314718055994530942
#define LN_10 2.30258509299404568402

/* Small exponents without pow: faster, and exact where a product is. */
static double power(double a, double b)
{
    if (b == 2) return a * a;
    if (b == 1) return a;
    return pow(a, b);
}

/* b a^(b-1) and b (b-1) a^(b-2), which are 0 at a = 0 too if the factor in front is. */
static double power_rate(double a, double b) { return b == 0 ? 0 : b * power(a, b - 1); }
static double power_bend(double a, double b)
{
    const double factor = b * (b - 1);
    return factor == 0 ? 0 : factor * power(a, b - 2);
}

/* a^b log(a)^n, with its limit at a = 0. */
static double power_log(double a, double b, int n)
{
    if (a == 0 && b > 0) return 0;
    return power(a, b) * (n == 1 ? log(a) : log(a) * log(a));
}

/* x - y floor(x/y): has the sign of y. */
static double modulo(double x, double y)
{
    const double rest = fmod(x, y);
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

/* x / whole, 0 if there is no whole. */
static double part(double x, double whole) { return whole == 0 ? 0 : x / whole; }

/* Operations --------------------------------------------------------------------------------
 */

static double unary_value(ga_operation operation, double x)
{
    switch (operation) {
#define SMOOTH(name, text, bends, value, ...)                                                  \
    case GA_OP_##name:                                                                         \
        return value;
#define PIECEWISE(name, text, value)                                                           \
    case GA_OP_##name:                                                                         \
        return value;
        GA_SMOOTH_UNARY(SMOOTH)
        GA_PIECEWISE_UNARY(PIECEWISE)
#undef SMOOTH
#undef PIECEWISE
    default:
        assert(0);
        return NAN;
    }
}

static double binary_value(ga_operation operation, double a, double b)
{
    switch (operation) {
#define SMOOTH(name, text, bends, value, ...)                                                  \
    case GA_OP_##name:                                                                         \
        return value;
#define SELECT(name, text, second)                                                             \
    case GA_OP_##name:                                                                         \
        return (second) ? b : a;
#define PIECEWISE(name, value)                                                                 \
    case GA_OP_##name:                                                                         \
        return value;
        GA_SMOOTH_BINARY(SMOOTH)
        GA_SELECT_BINARY(SELECT)
        GA_PIECEWISE_BINARY(PIECEWISE)
#undef SMOOTH
#undef SELECT
#undef PIECEWISE
    default:
        assert(0);
        return NAN;
    }
}

double ga_operation_value(ga_operation operation, double a, double b)
{
    return operation < GA_OP_FIRST_BINARY ? unary_value(operation, a)
                                          : binary_value(operation, a, b);
}

enum { AA = 1, AB = 2, BB = 4 }; /* second derivatives that are not identically zero */

typedef enum shape { SMOOTH, PIECEWISE, FIRST, SECOND } shape;

/* Value and partial derivatives of an operation; of SMOOTH ones only, the others are constant
 * in pieces or one of their operands. */
typedef struct partials {
    shape shape;
    int bends;
    double f, fa, fb, faa, fab, fbb;
} partials;

static partials unary_partials(ga_operation operation, double x)
{
    double f, d;
    switch (operation) {
#define SMOOTH_CASE(name, text, bends, value, first, second)                                   \
    case GA_OP_##name:                                                                         \
        f = value;                                                                             \
        d = first;                                                                             \
        return (partials){SMOOTH, (bends) ? AA : 0, f, d, 0, second, 0, 0};
        GA_SMOOTH_UNARY(SMOOTH_CASE)
#undef SMOOTH_CASE
    default:
        return (partials){PIECEWISE, 0, unary_value(operation, x), 0, 0, 0, 0, 0};
    }
}

static partials binary_partials(ga_operation operation, double a, double b)
{
    double f, fa, fb;
    switch (operation) {
#define SMOOTH_CASE(name, text, bends, value, by_a, by_b, by_aa, by_ab, by_bb)                 \
    case GA_OP_##name:                                                                         \
        f = value;                                                                             \
        fa = by_a;                                                                             \
        fb = by_b;                                                                             \
        return (partials){SMOOTH, bends, f, fa, fb, by_aa, by_ab, by_bb};
#define SELECT_CASE(name, text, second)                                                        \
    case GA_OP_##name:                                                                         \
        return (partials){(second) ? SECOND : FIRST, 0, 0, 0, 0, 0, 0, 0};
        GA_SMOOTH_BINARY(SMOOTH_CASE)
        GA_SELECT_BINARY(SELECT_CASE)
#undef SMOOTH_CASE
#undef SELECT_CASE
    default:
        return (partials){PIECEWISE, 0, binary_value(operation, a, b), 0, 0, 0, 0, 0};
    }
}

/* Outside of its domain a function has no derivatives either, whatever their formulas say. */
static partials expand(ga_operation operation, double a, double b)
{
    partials p = operation < GA_OP_FIRST_BINARY ? unary_partials(operation, a)
                                                : binary_partials(operation, a, b);
    if (isnan(p.f)) p.fa = p.fb = p.faa = p.fab = p.fbb = p.f;
    return p;
}

/* Runs ---------------------------------------------------------------------------------------
 *
 * The three below are one loop over the program with different numbers on the stack. */

double ga_expression_value(const ga_expression *expression, const double *x)
{
    double stack[GA_EXPRESSION_STACK], *top = stack;
    const ga_instruction *end = expression->code + expression->count;
    for (const ga_instruction *i = expression->code; i < end; ++i) {
        switch (i->operation) {
        case GA_OP_PUSH:
            *top++ = i->value;
            break;
        case GA_OP_LOAD:
            *top++ = x[expression->variable[i->argument]];
            break;
        case GA_OP_BRANCH:
            if (*--top == 0) i += i->argument;
            break;
        case GA_OP_JUMP:
            i += i->argument;
            break;
        default:
            if (i->operation < GA_OP_FIRST_BINARY) {
                top[-1] = unary_value(i->operation, top[-1]);
            } else {
                --top;
                top[-1] = binary_value(i->operation, top[-1], top[0]);
            }
        }
    }
    return stack[0];
}

/* How a number depends on the variable. */
typedef enum dependence { INDEPENDENT, AFFINE, CURVED } dependence;

typedef struct jet {
    double value, first, second;
    dependence dependence;
} jet;

static jet combine_jets(ga_operation operation, const jet *a, const jet *b)
{
    const partials p = expand(operation, a->value, b->value);
    if (p.shape == FIRST) return *a;
    if (p.shape == SECOND) return *b;
    jet out = {p.f, 0, 0, INDEPENDENT};
    if (p.shape == PIECEWISE) return out;

    const bool by_a = a->dependence != INDEPENDENT, by_b = b->dependence != INDEPENDENT;
    if (by_a) out.first += p.fa * a->first;
    if (by_b) out.first += p.fb * b->first;

    if (a->dependence == CURVED) out.second += p.fa * a->second;
    if (b->dependence == CURVED) out.second += p.fb * b->second;
    const bool aa = by_a && p.bends & AA, ab = by_a && by_b && p.bends & AB,
               bb = by_b && p.bends & BB;
    if (aa) out.second += p.faa * a->first * a->first;
    if (ab) out.second += 2 * p.fab * a->first * b->first;
    if (bb) out.second += p.fbb * b->first * b->first;

    out.dependence = a->dependence > b->dependence ? a->dependence : b->dependence;
    if (aa || ab || bb) out.dependence = CURVED;
    return out;
}

void ga_expression_along(const ga_expression *expression, const double *x, const double *dx,
                         double out[3])
{
    static const jet none = {0, 0, 0, INDEPENDENT};
    jet stack[GA_EXPRESSION_STACK], *top = stack;
    const ga_instruction *end = expression->code + expression->count;
    for (const ga_instruction *i = expression->code; i < end; ++i) {
        switch (i->operation) {
        case GA_OP_PUSH:
            *top++ = (jet){i->value, 0, 0, INDEPENDENT};
            break;
        case GA_OP_LOAD: {
            const int variable = expression->variable[i->argument];
            const double rate = dx[variable];
            *top++ = (jet){x[variable], rate, 0, rate != 0 ? AFFINE : INDEPENDENT};
            break;
        }
        case GA_OP_BRANCH:
            if ((--top)->value == 0) i += i->argument;
            break;
        case GA_OP_JUMP:
            i += i->argument;
            break;
        default:
            if (i->operation < GA_OP_FIRST_BINARY) {
                top[-1] = combine_jets(i->operation, &top[-1], &none);
            } else {
                --top;
                top[-1] = combine_jets(i->operation, &top[-1], &top[0]);
            }
        }
    }
    out[0] = stack[0].value;
    out[1] = stack[0].first;
    out[2] = stack[0].second;
}

void ga_expression_derivatives(const ga_expression *expression, const double *x, int k,
                               double out[3])
{
    double dx[GA_EXPRESSION_MAX_VARIABLES] = {0};
    dx[k] = 1;
    ga_expression_along(expression, x, dx, out);
}

/* Values with derivatives by every slot; only those in the set are there, the others are 0. */
typedef struct slope {
    double value;
    uint64_t set;
    double by[GA_EXPRESSION_MAX_VARIABLES];
} slope;

/* a <- operation(a, b) */
static void combine_slopes(ga_operation operation, int slots, slope *a, const slope *b)
{
    const partials p = expand(operation, a->value, b->value);
    if (p.shape == FIRST) return;
    uint64_t set_a = a->set, set_b = b->set;
    double fa = p.fa, fb = p.fb;
    if (p.shape == SECOND) {
        a->value = b->value;
        set_a = 0;
        fb = 1;
    } else {
        a->value = p.f;
        if (p.shape == PIECEWISE) set_a = set_b = 0;
    }
    a->set = set_a | set_b;
    for (int s = 0; s < slots; ++s) {
        const uint64_t bit = (uint64_t)1 << s;
        if (!(a->set & bit)) continue;
        const double by_a = set_a & bit ? fa * a->by[s] : 0;
        a->by[s] = set_b & bit ? by_a + fb * b->by[s] : by_a;
    }
}

double ga_expression_gradient(const ga_expression *expression, const double *x,
                              double *gradient)
{
    static const slope none = {0, 0, {0}};
    slope stack[GA_EXPRESSION_STACK], *top = stack;
    const int slots = expression->slots;
    const ga_instruction *end = expression->code + expression->count;
    for (const ga_instruction *i = expression->code; i < end; ++i) {
        switch (i->operation) {
        case GA_OP_PUSH:
            top->value = i->value;
            (top++)->set = 0;
            break;
        case GA_OP_LOAD:
            top->value = x[expression->variable[i->argument]];
            top->set = (uint64_t)1 << i->argument;
            (top++)->by[i->argument] = 1;
            break;
        case GA_OP_BRANCH:
            if ((--top)->value == 0) i += i->argument;
            break;
        case GA_OP_JUMP:
            i += i->argument;
            break;
        default:
            if (i->operation < GA_OP_FIRST_BINARY) {
                combine_slopes(i->operation, slots, &top[-1], &none);
            } else {
                --top;
                combine_slopes(i->operation, slots, &top[-1], &top[0]);
            }
        }
    }
    const int count = ga_expression_variables(expression);
    for (int k = 0; k < count; ++k) gradient[k] = 0;
    for (int s = 0; s < slots; ++s)
        if (stack[0].set >> s & 1) gradient[expression->variable[s]] = stack[0].by[s];
    return stack[0].value;
}

/* What is in it ------------------------------------------------------------------------------
 */

void ga_expression_destroy(ga_expression *expression)
{
    if (!expression) return;
    ga_free(expression->code);
    ga_free(expression);
}

bool ga_expression_uses(const ga_expression *expression, int k)
{
    for (int s = 0; s < expression->slots; ++s)
        if (expression->variable[s] == k) return true;
    return false;
}

bool ga_expression_is_constant(const ga_expression *expression)
{
    return expression->slots == 0;
}

static bool jumps(ga_operation operation)
{
    switch (operation) {
    case GA_OP_BRANCH:
    case GA_OP_MOD:
#define GA_JUMPS(name, ...) case GA_OP_##name:
        GA_PIECEWISE_UNARY(GA_JUMPS)
        GA_PIECEWISE_BINARY(GA_JUMPS)
#undef GA_JUMPS
        return true;
    default:
        return false;
    }
}

bool ga_expression_has_jumps(const ga_expression *expression)
{
    for (int k = 0; k < expression->count; ++k)
        if (jumps(expression->code[k].operation)) return true;
    return false;
}

bool ga_expression_is_simplified(const ga_expression *expression)
{
    return expression->simplified;
}

int ga_expression_variables(const ga_expression *expression)
{
    return expression->slots ? expression->variable[expression->slots - 1] + 1 : 0;
}
