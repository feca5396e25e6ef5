/* The program an expression is compiled to: instructions of a stack machine, in postfix order.
 *
 *     PUSH c, LOAD slot                        one more on the stack
 *     unary, binary operations                 replace their operands by their result
 *     BRANCH n   takes one off the stack and skips n instructions if it is zero
 *     JUMP n     skips n instructions
 *
 * Jumps are relative and lead forward only, so every program ends, and a piece of it can be
 * moved. The lists below are the mathematics: for each operation its value and derivatives.
 */
#ifndef GA_DATA_EXPRESSION_CODE_H
#define GA_DATA_EXPRESSION_CODE_H

#include "data/expression.h"

/* Smooth functions of x: name, bends, f, d = f', f'' (which may use f and d). One that does not
 * bend has f'' = 0 everywhere; that is more than a zero, as 0 * infinity is not 0. */
#define GA_SMOOTH_UNARY(X)                                                                     \
    X(NEGATE, "", 0, -x, -1, 0)                                                                \
    X(ABS, "abs", 0, fabs(x), x < 0 ? -1 : 1, 0)                                               \
    X(SIN, "sin", 1, sin(x), cos(x), -f)                                                       \
    X(COS, "cos", 1, cos(x), -sin(x), -f)                                                      \
    X(TAN, "tan", 1, tan(x), 1 + f * f, 2 * f * d)                                             \
    X(ASIN, "asin", 1, asin(x), 1 / sqrt((1 - x) * (1 + x)), (x * d * d * d))                  \
    X(ACOS, "acos", 1, acos(x), -1 / sqrt((1 - x) * (1 + x)), (x * d * d * d))                 \
    X(ATAN, "atan", 1, atan(x), 1 / (1 + x * x), -2 * x * d * d)                               \
    X(SINH, "sinh", 1, sinh(x), cosh(x), f)                                                    \
    X(COSH, "cosh", 1, cosh(x), sinh(x), f)                                                    \
    X(TANH, "tanh", 1, tanh(x), 1 / (cosh(x) * cosh(x)), -2 * f * d)                           \
    X(ASINH, "asinh", 1, asinh(x), 1 / hypot(1, x), -x * d * d * d)                            \
    X(ACOSH, "acosh", 1, acosh(x), 1 / sqrt((x - 1) * (x + 1)), -x * d * d * d)                \
    X(ATANH, "atanh", 1, atanh(x), 1 / ((1 - x) * (1 + x)), 2 * x * d * d)                     \
    X(EXP, "exp", 1, exp(x), f, f)                                                             \
    X(LOG, "log", 1, log(x), 1 / x, -d / x)                                                    \
    X(LOG10, "log10", 1, log10(x), 1 / (LN_10 * x), -d / x)                                    \
    X(LOG2, "log2", 1, log2(x), 1 / (LN_2 * x), -d / x)                                        \
    X(SQRT, "sqrt", 1, sqrt(x), 0.5 / f, -0.5 * d / x)                                         \
    X(CBRT, "cbrt", 1, cbrt(x), 1 / (3 * f * f), -2 * d / (3 * x))

/* Constant in pieces: name, value at x. */
#define GA_PIECEWISE_UNARY(X)                                                                  \
    X(NOT, "", x == 0)                                                                         \
    X(SIGN, "sign", x > 0 ? 1 : x < 0 ? -1 : x)                                                \
    X(FLOOR, "floor", floor(x))                                                                \
    X(CEIL, "ceil", ceil(x))                                                                   \
    X(ROUND, "round", round(x))                                                                \
    X(STEP, "step", isnan(x) ? x : x >= 0)

/* Smooth functions of a and b: name, which second derivatives are not identically zero, f,
 * f_a, f_b, f_aa, f_ab, f_bb. */
#define GA_SMOOTH_BINARY(X)                                                                    \
    X(ADD, "", 0, a + b, 1, 1, 0, 0, 0)                                                        \
    X(SUBTRACT, "", 0, a - b, 1, -1, 0, 0, 0)                                                  \
    X(MULTIPLY, "", AB, (a * b), b, a, 0, 1, 0)                                                \
    X(DIVIDE, "", AB | BB, a / b, 1 / b, -f / b, 0, -1 / (b * b), 2 * f / (b * b))             \
    X(POWER, "pow", AA | AB | BB, power(a, b), power_rate(a, b), power_log(a, b, 1),           \
      power_bend(a, b), power(a, b - 1) + b * power_log(a, b - 1, 1), power_log(a, b, 2))      \
    X(MOD, "mod", 0, modulo(a, b), 1, -round((a - f) / b), 0, 0, 0)                            \
    X(HYPOT, "hypot", AA | AB | BB, hypot(a, b), part(a, f), part(b, f),                       \
      part(part(b, f) * part(b, f), f), -part(part(a, f) * part(b, f), f),                     \
      part(part(a, f) * part(a, f), f))                                                        \
    X(ATAN2, "atan2", AA | AB | BB, atan2(a, b), b / hypot(a, b) / hypot(a, b),                \
      -a / hypot(a, b) / hypot(a, b), 2 * fa * fb, (fb * fb - fa * fa), -2 * fa * fb)

/* One of a and b: name, whether it is b. NaN wins. */
#define GA_SELECT_BINARY(X)                                                                    \
    X(MIN, "min", !isnan(a) && !(a <= b))                                                      \
    X(MAX, "max", !isnan(a) && !(a >= b))

#define GA_PIECEWISE_BINARY(X)                                                                 \
    X(LESS, a < b)                                                                             \
    X(LESS_EQUAL, a <= b)                                                                      \
    X(GREATER, a > b)                                                                          \
    X(GREATER_EQUAL, a >= b)                                                                   \
    X(EQUAL, a == b)                                                                           \
    X(NOT_EQUAL, a != b)                                                                       \
    X(AND, a != 0 && b != 0)                                                                   \
    X(OR, a != 0 || b != 0)

typedef enum ga_operation {
    GA_OP_PUSH,
    GA_OP_LOAD,
    GA_OP_BRANCH,
    GA_OP_JUMP,
/* clang-format off */
#define GA_OP_NAME(name, ...) GA_OP_##name,
    GA_SMOOTH_UNARY(GA_OP_NAME)
    GA_PIECEWISE_UNARY(GA_OP_NAME)
    GA_SMOOTH_BINARY(GA_OP_NAME)
    GA_SELECT_BINARY(GA_OP_NAME)
    GA_PIECEWISE_BINARY(GA_OP_NAME)
#undef GA_OP_NAME
    /* clang-format on */
    GA_OP_FIRST_BINARY = GA_OP_ADD
} ga_operation;

enum { GA_EXPRESSION_STACK = 64 }; /* deepest stack of a program */

typedef struct ga_instruction {
    ga_operation operation;
    int argument; /* slot, or how many instructions to skip */
    double value; /* to push */
} ga_instruction;

struct ga_expression {
    int count;
    ga_instruction *code;
    bool simplified; /* something was left out, as in 0*x, that need not be 0 for every x */
    int slots;       /* variables that occur, in ascending order */
    int variable[GA_EXPRESSION_MAX_VARIABLES];
};

/* The value of an operation; b is ignored if it has one operand. */
double ga_operation_value(ga_operation operation, double a, double b);

#endif
