/* Where an expression of time is not smooth, or has its centre.
 *
 * At a given time the program of an expression takes decisions: which side of zero the argument
 * of abs is on, between which integers that of floor, which operand min takes, whether t < 2.
 * Between two switches they stay the same, and the expression is smooth; a pole lies between
 * two sides of a denominator. The sequence of decisions is kept as a hash, the path.
 *
 *     affine argument g = g0 + g' t     the next switch is known, t - g/g'
 *     any other                         the path is sampled and, where it changes, bisected
 *
 * A centre is a zero of an argument about which a function is even or odd: tanh((t - 5)/w) and
 * exp(-((t - 5)/w)^2) have theirs at t = 5, whatever the width w is. They are found alike,
 * along a path of their own.
 *
 * What depends on other variables than time decides nothing here. */
#include "data/expression_switch.h"

#include "data/expression_code.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef enum dependence { CONSTANT, AFFINE, CURVED, UNKNOWN } dependence;

/* A number on the stack; the slope is that of an affine one. */
typedef struct item {
    double value, slope;
    dependence dependence;
} item;

typedef struct walk {
    const ga_expression *expression;
    double t;
    ga_switches wanted;
    uint64_t path;
    double next;  /* the first switch of an affine argument after t */
    bool sampled; /* there are others */
} walk;

static void mix(uint64_t *path, double piece)
{
    uint64_t bits;
    memcpy(&bits, &piece, sizeof bits);
    *path = (*path ^ bits) * 1099511628211u; /* FNV-1a */
    *path ^= *path >> 29;
}

/* Decision k of an argument g: `piece` at t, another where g reaches `up` or `down`. */
static void decide(walk *w, const item *g, double piece, double down, double up)
{
    if (g->dependence == CONSTANT || g->dependence == UNKNOWN) return;
    mix(&w->path, piece);
    if (g->dependence == CURVED) {
        w->sampled = true;
    } else if (g->slope != 0) {
        const double next = w->t + ((g->slope > 0 ? up : down) - g->value) / g->slope;
        if (next > w->t) w->next = fmin(w->next, next);
    }
}

static void decide_sign(walk *w, const item *g)
{
    const bool positive = g->value >= 0;
    decide(w, g, positive, positive ? 0 : -INFINITY, positive ? INFINITY : 0);
}

static void decide_integer(walk *w, const item *g, double shift)
{
    const item s = {g->value + shift, g->slope, g->dependence};
    decide(w, &s, floor(s.value), ceil(s.value) - 1, floor(s.value) + 1);
}

static const double PI = 3.14159265358979323846;

static item divided(const item *a, double by)
{
    return (item){a->value / by, a->slope / by, a->dependence};
}

static void switch_unary(walk *w, ga_operation operation, const item *a)
{
    item turns;
    switch (operation) {
    case GA_OP_ABS:
    case GA_OP_SIGN:
    case GA_OP_STEP:
    case GA_OP_CBRT:
        decide_sign(w, a);
        return;
    case GA_OP_FLOOR:
    case GA_OP_CEIL:
        decide_integer(w, a, 0);
        return;
    case GA_OP_ROUND:
        decide_integer(w, a, 0.5);
        return;
    case GA_OP_TAN:
        turns = divided(a, PI);
        decide_integer(w, &turns, 0.5);
        return;
    default:
        return;
    }
}

static bool is_zero(const item *a) { return a->dependence == CONSTANT && a->value == 0; }

/* Poles and roots: exponents below 0, or not whole. */
static bool is_rough_power(const item *exponent)
{
    const double b = exponent->value;
    return exponent->dependence == CONSTANT && (b < 0 || (b < 3 && b != floor(b)));
}

static item difference(const item *a, const item *b)
{
    return (item){a->value - b->value, a->slope - b->slope,
                  a->dependence > b->dependence ? a->dependence : b->dependence};
}

static void switch_binary(walk *w, ga_operation operation, const item *a, const item *b)
{
    item g;
    switch (operation) {
    case GA_OP_MIN:
    case GA_OP_MAX:
    case GA_OP_LESS:
    case GA_OP_LESS_EQUAL:
    case GA_OP_GREATER:
    case GA_OP_GREATER_EQUAL:
        g = difference(a, b);
        decide_sign(w, &g);
        return;
    case GA_OP_DIVIDE:
        decide_sign(w, b);
        return;
    case GA_OP_POWER:
        if (is_rough_power(b)) decide_sign(w, a);
        return;
    case GA_OP_HYPOT:
        if (is_zero(a) || is_zero(b)) decide_sign(w, is_zero(a) ? b : a);
        return;
    case GA_OP_MOD:
        if (b->dependence == CONSTANT && b->value != 0) {
            g = divided(a, b->value);
            decide_integer(w, &g, 0);
        } else if (a->dependence != UNKNOWN && b->dependence != UNKNOWN) {
            g = (item){a->value / b->value, 0, CURVED};
            decide_integer(w, &g, 0);
        }
        return;
    case GA_OP_ATAN2:
        if (b->dependence != UNKNOWN && b->value < 0) decide_sign(w, a);
        return;
    default:
        return;
    }
}

static void centre_unary(walk *w, ga_operation operation, const item *a)
{
    switch (operation) {
    case GA_OP_TANH:
    case GA_OP_ATAN:
    case GA_OP_SINH:
    case GA_OP_COSH:
    case GA_OP_ASINH:
    case GA_OP_EXP:
        decide_sign(w, a);
        return;
    default:
        return;
    }
}

static void centre_binary(walk *w, ga_operation operation, const item *a, const item *b)
{
    const bool varying = a->dependence == AFFINE && b->dependence == AFFINE;
    if (operation == GA_OP_POWER && b->dependence == CONSTANT) decide_sign(w, a);
    if (operation == GA_OP_MULTIPLY && varying) {
        decide_sign(w, a);
        decide_sign(w, b);
    }
    if (operation == GA_OP_HYPOT || operation == GA_OP_ATAN2) {
        decide_sign(w, a);
        decide_sign(w, b);
    }
}

static item combine(ga_operation operation, const item *a, const item *b)
{
    const bool unary = operation < GA_OP_FIRST_BINARY;
    const bool factor_a = a->dependence == CONSTANT, factor_b = b->dependence == CONSTANT;
    item out = {ga_operation_value(operation, a->value, b->value), 0,
                a->dependence > b->dependence ? a->dependence : b->dependence};
    if (unary) out.dependence = a->dependence;
    if (out.dependence == UNKNOWN || out.dependence == CONSTANT) return out;
    const bool affine = out.dependence == AFFINE;
    out.dependence = CURVED;
    switch (operation) {
    case GA_OP_NEGATE:
    case GA_OP_ABS:
        out.slope = operation == GA_OP_ABS && a->value >= 0 ? a->slope : -a->slope;
        out.dependence = a->dependence;
        break;
    case GA_OP_ADD:
        out.slope = a->slope + b->slope;
        if (affine) out.dependence = AFFINE;
        break;
    case GA_OP_SUBTRACT:
        out.slope = a->slope - b->slope;
        if (affine) out.dependence = AFFINE;
        break;
    case GA_OP_MULTIPLY:
        out.slope = factor_a ? a->value * b->slope : a->slope * b->value;
        if (affine && (factor_a || factor_b)) out.dependence = AFFINE;
        break;
    case GA_OP_DIVIDE:
        out.slope = a->slope / b->value;
        if (affine && factor_b) out.dependence = AFFINE;
        break;
    case GA_OP_MOD:
        out.slope = a->slope;
        if (affine && factor_b) out.dependence = AFFINE;
        break;
    case GA_OP_MIN:
    case GA_OP_MAX:
        return out.value == a->value ? *a : *b;
    case GA_OP_SIGN:
    case GA_OP_FLOOR:
    case GA_OP_CEIL:
    case GA_OP_ROUND:
    case GA_OP_STEP:
    case GA_OP_NOT:
        out.dependence = CONSTANT;
        break;
    default:
        if (operation >= GA_OP_LESS) out.dependence = CONSTANT;
        break;
    }
    return out;
}

static item load(const walk *w, int slot)
{
    const bool is_time = w->expression->variable[slot] == 0;
    return is_time ? (item){w->t, 1, AFFINE} : (item){NAN, 0, UNKNOWN};
}

static void apply(walk *w, ga_operation operation, item *a, const item *b)
{
    const bool unary = operation < GA_OP_FIRST_BINARY;
    if (w->wanted == GA_SWITCHES_BREAKS && unary) switch_unary(w, operation, a);
    if (w->wanted == GA_SWITCHES_BREAKS && !unary) switch_binary(w, operation, a, b);
    if (w->wanted == GA_SWITCHES_CENTRES && unary) centre_unary(w, operation, a);
    if (w->wanted == GA_SWITCHES_CENTRES && !unary) centre_binary(w, operation, a, b);
    *a = combine(operation, a, b);
}

/* Instructions [i, end), which leave one number more on the stack; returns its new top. Where a
 * condition is not known both branches are walked, and neither gives a number. */
static item *walk_through(walk *w, int i, int end, item *top)
{
    static const item none = {0, 0, CONSTANT};
    const ga_instruction *code = w->expression->code;
    for (; i < end; ++i) {
        switch (code[i].operation) {
        case GA_OP_PUSH:
            *top++ = (item){code[i].value, 0, CONSTANT};
            break;
        case GA_OP_LOAD:
            *top++ = load(w, code[i].argument);
            break;
        case GA_OP_BRANCH: {
            const int jump = i + code[i].argument, behind = jump + code[jump].argument;
            const item condition = *--top;
            if (condition.dependence == UNKNOWN) {
                walk_through(w, i + 1, jump, top);
                walk_through(w, jump + 1, behind + 1, top);
                *top++ = (item){NAN, 0, UNKNOWN};
            } else if (condition.value != 0) {
                top = walk_through(w, i + 1, jump, top);
            } else {
                top = walk_through(w, jump + 1, behind + 1, top);
            }
            i = behind;
            break;
        }
        case GA_OP_JUMP:
            break; /* passed with its BRANCH */
        default:
            if (code[i].operation < GA_OP_FIRST_BINARY) {
                apply(w, code[i].operation, &top[-1], &none);
            } else {
                --top;
                apply(w, code[i].operation, &top[-1], &top[0]);
            }
        }
    }
    return top;
}

static walk walk_at(const ga_expression *expression, ga_switches wanted, double t)
{
    walk w = {.expression = expression, .t = t, .wanted = wanted, .next = INFINITY};
    item stack[GA_EXPRESSION_STACK];
    walk_through(&w, 0, expression->count, stack);
    return w;
}

/* The first number after a, not after b, with another path than a; the paths differ. */
static double bisect(const ga_expression *expression, ga_switches wanted, uint64_t path,
                     double a, double b)
{
    for (;;) {
        const double middle = a + (b - a) / 2;
        if (!(middle > a && middle < b)) return b;
        if (walk_at(expression, wanted, middle).path == path)
            a = middle;
        else
            b = middle;
    }
}

/* The argument's zero is known up to round-off: here is where the decision changes. */
static double sharpen(const ga_expression *expression, ga_switches wanted, uint64_t path,
                      double t, double next)
{
    const double round_off = 1e-12 * (fabs(next) + (next - t));
    const double a = fmax(t, next - round_off), b = next + round_off;
    if (walk_at(expression, wanted, a).path != path ||
        walk_at(expression, wanted, b).path == path)
        return next;
    return bisect(expression, wanted, path, a, b);
}

double ga_expression_next_switch(const ga_expression *expression, ga_switches wanted,
                                 const ga_span *span, double t)
{
    if (!ga_expression_uses(expression, 0)) return INFINITY;
    t += 1e-14 * fmax(fabs(t), span->end - t); /* at a switch, what follows it */
    const walk here = walk_at(expression, wanted, t);
    const double last = fmin(here.next, span->end);
    for (double a = t; here.sampled && a < last;) {
        const double b = fmin(a + span->resolution, last);
        if (b < last && walk_at(expression, wanted, b).path != here.path)
            return bisect(expression, wanted, here.path, a, b);
        if (!(b > a)) break;
        a = b;
    }
    if (here.next > span->end) return INFINITY;
    return sharpen(expression, wanted, here.path, t, here.next);
}
