/* From text to a program: recursive descent, one function per rule.
 *
 *     conditional = binary ["?" conditional ":" conditional]
 *     binary      = unary {operator unary}            levels of the table `operators`
 *     unary       = ("-" | "+" | "!") unary | power
 *     power       = primary ["^" unary]
 *     primary     = number ["deg"] | name | function "(" conditional {","conditional} ")"
 *                 | "(" conditional ")"
 *
 * Each rule appends its instructions to the program; a rule that starts at instruction k has
 * made a constant if PUSH at k is all there is. Operations on constants are done at once; so
 * is a choice by a constant, of which only the branch taken is kept, and a product with 0 is 0.
 */
#include "data/expression.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/expression_code.h"
#include "data/number.h"
#include "data/read.h"

enum {
    MAX_NESTING = 200, /* of rules in rules, two per parenthesis; keeps the C stack small */
    MAX_NAME = 256,
    MAX_SHOWN = 32 /* bytes of a token in a message */
};

#define PI 3.14159265358979323846
#define EULER 2.71828182845904523536

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_MARK } token_kind;

typedef struct token {
    token_kind kind;
    size_t start, length;
    double number;
} token;

typedef struct parser {
    const char *text;
    const ga_symbols *symbols; /* may be null */
    ga_expression_error *error;
    token token;         /* the next one */
    token last;          /* the one before; of length 0 at the start */
    char name[MAX_NAME]; /* of a name token, backquotes gone */
    int names;           /* of symbols, once known; -1 before */
    int nesting;
    int count;
    bool simplified;
    ga_instruction *code; /* as many as the text has characters, which is enough */
} parser;

/* Messages ----------------------------------------------------------------------------------
 */

__attribute__((format(printf, 3, 4))) static bool fail(parser *p, size_t offset,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    p->error->offset = offset;
    vsnprintf(p->error->message, sizeof p->error->message, format, arguments);
    va_end(arguments);
    return false;
}

/* For "%.*s": length and text of a token. */
static int shown(token t) { return (int)(t.length < MAX_SHOWN ? t.length : MAX_SHOWN); }
#define SHOW(p, t) shown(t), (p)->text + (t).start

static bool fail_expected(parser *p, const char *what)
{
    if (p->last.length == 0) return fail(p, p->token.start, "expected %s", what);
    return fail(p, p->token.start, "expected %s after '%.*s'", what, SHOW(p, p->last));
}

/* Tokens ------------------------------------------------------------------------------------
 */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool scan_number(parser *p, const char *start)
{
    p->token.kind = TOKEN_NUMBER;
    p->token.length = ga_number_scan(start, &p->token.number);
    const char *end = start + p->token.length;
    if (*end == '.') {
        while (is_digit(*end) || *end == '.') ++end;
        return fail(p, p->token.start, "'%.*s' is not a number", (int)(end - start), start);
    }
    if (!isfinite(p->token.number))
        return fail(p, p->token.start, "the number '%.*s' is too %s", SHOW(p, p->token),
                    isnan(p->token.number) ? "long" : "large");
    return true;
}

/* Words, or anything in backquotes, joined by dots: `my body`.position.x, arm.0.x */
static bool scan_name(parser *p, const char *start)
{
    const char *c = start;
    size_t length = 0;
    for (;;) {
        const bool quoted = *c == '`';
        const char *part = c += quoted;
        if (quoted) {
            while (*c && *c != '`') ++c;
            if (!*c) return fail(p, p->token.start, "a closing ` is missing after the name");
        } else {
            while (is_letter(*c) || is_digit(*c)) ++c;
        }
        const size_t size = (size_t)(c - part);
        if (length + size + 2 > MAX_NAME)
            return fail(p, p->token.start, "a name is longer than %d characters", MAX_NAME - 2);
        if (size == 0)
            return fail(p, (size_t)(c - p->text), "expected a name %s '%s'",
                        quoted ? "between" : "after", quoted ? "``" : ".");
        memcpy(p->name + length, part, size);
        length += size;
        c += quoted;
        if (*c != '.') break;
        p->name[length++] = '.';
        ++c;
    }
    p->name[length] = 0;
    p->token.kind = TOKEN_NAME;
    p->token.length = (size_t)(c - start);
    return true;
}

/* Marks of the language, longer ones first. */
static const char *const marks[] = {"<=", ">=", "==", "!=", "&&", "||", "+", "-", "*", "/",
                                    "^",  "<",  ">",  "!",  "?",  ":",  "(", ")", ","};

/* What people write instead. */
static const struct {
    const char *text, *hint;
} foreign[] = {
    {"**", "powers are written with ^"},
    {"=", "equality is written =="},
    {"&", "'and' is written &&"},
    {"|", "'or' is written ||"},
    {"%", "the remainder of x/y is written mod(x, y)"},
    {"[", "parentheses are round"},
    {"]", "parentheses are round"},
    {"{", "parentheses are round"},
    {"}", "parentheses are round"},
    {"\xe2\x88\x92", "minus is written -"},
    {"\xe2\x80\x93", "minus is written -"},
    {"\xc3\x97", "multiplication is written *"},
    {"\xc2\xb7", "multiplication is written *"},
    {"\xc3\xb7", "division is written /"},
    {"\xc2\xb2", "squares are written ^2"},
    {"\xc2\xb3", "cubes are written ^3"},
    {"\xc2\xb0", "degrees are written deg"},
    {"\xcf\x80", "it is written pi"},
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* One character, which may take several bytes. */
static int character_length(const char *c)
{
    int n = 1;
    if ((unsigned char)*c >= 0xc0)
        while (n < 4 && ((unsigned char)c[n] & 0xc0) == 0x80) ++n;
    return n;
}

static bool scan_mark(parser *p, const char *start)
{
    for (size_t k = 0; k < sizeof foreign / sizeof *foreign; ++k)
        if (begins(start, foreign[k].text) && !begins(start, "==") && !begins(start, "&&") &&
            !begins(start, "||"))
            return fail(p, p->token.start, "unexpected '%s': %s", foreign[k].text,
                        foreign[k].hint);
    for (size_t k = 0; k < sizeof marks / sizeof *marks; ++k)
        if (begins(start, marks[k])) {
            p->token.kind = TOKEN_MARK;
            p->token.length = strlen(marks[k]);
            return true;
        }
    if ((unsigned char)*start >= 0x20 && *start != 0x7f)
        return fail(p, p->token.start,
                    "unexpected character '%.*s'; names with such characters must be in "
                    "backquotes, `...`",
                    character_length(start), start);
    return fail(p, p->token.start, "unexpected control character");
}

static bool advance(parser *p)
{
    p->last = p->token;
    const char *c = p->text + p->token.start + p->token.length;
    c += strspn(c, " \t\r\n");
    p->token = (token){TOKEN_END, (size_t)(c - p->text), 0, 0};
    if (*c == 0) return true;
    if (is_digit(*c) || (*c == '.' && is_digit(c[1]))) return scan_number(p, c);
    if (is_letter(*c) || *c == '`') return scan_name(p, c);
    return scan_mark(p, c);
}

static bool at_mark(const parser *p, const char *mark)
{
    return p->token.kind == TOKEN_MARK && p->token.length == strlen(mark) &&
           begins(p->text + p->token.start, mark);
}

/* Instructions ------------------------------------------------------------------------------
 */

static void emit(parser *p, ga_operation operation, int argument, double value)
{
    p->code[p->count++] = (ga_instruction){operation, argument, value};
}

/* Instructions [start, end) only push a constant. */
static bool is_constant(const parser *p, int start, int end)
{
    return end - start == 1 && p->code[start].operation == GA_OP_PUSH;
}

/* Replaces what follows `start`. */
static void emit_constant(parser *p, int start, double value)
{
    p->count = start;
    emit(p, GA_OP_PUSH, 0, value);
}

static void emit_unary(parser *p, ga_operation operation, int start)
{
    if (is_constant(p, start, p->count))
        emit_constant(p, start, ga_operation_value(operation, p->code[start].value, 0));
    else
        emit(p, operation, 0, 0);
}

/* a starts at `start`, b at `middle`. */
static void emit_binary(parser *p, ga_operation operation, int start, int middle)
{
    const bool constant_a = is_constant(p, start, middle);
    const bool constant_b = is_constant(p, middle, p->count);
    const double a = p->code[start].value, b = p->code[middle].value;
    const int before = p->count;
    if (constant_a && constant_b)
        emit_constant(p, start, ga_operation_value(operation, a, b));
    else if (operation == GA_OP_MULTIPLY && ((constant_a && a == 0) || (constant_b && b == 0)))
        emit_constant(p, start, 0);
    else if (operation == GA_OP_POWER && constant_b && b == 0)
        emit_constant(p, start, 1);
    else if (operation == GA_OP_POWER && constant_b && b == 1)
        p->count = middle;
    else
        emit(p, operation, 0, 0);
    p->simplified |= p->count <= before && !(constant_a && constant_b);
}

/* A choice: its condition starts at `start`, BRANCH and JUMP are where the fields say. */
typedef struct choice {
    int start, branch, jump;
} choice;

static void emit_branch(parser *p, choice *c)
{
    c->branch = p->count;
    emit(p, GA_OP_BRANCH, 0, 0);
}

static void emit_jump(parser *p, choice *c)
{
    c->jump = p->count;
    emit(p, GA_OP_JUMP, 0, 0);
}

static void close_choice(parser *p, const choice *c)
{
    p->code[c->branch].argument = c->jump - c->branch;
    p->code[c->jump].argument = p->count - 1 - c->jump;
    if (!is_constant(p, c->start, c->branch)) return;
    const bool first = p->code[c->start].value != 0;
    const int from = (first ? c->branch : c->jump) + 1, to = first ? c->jump : p->count;
    memmove(p->code + c->start, p->code + from, (size_t)(to - from) * sizeof *p->code);
    p->count = c->start + to - from;
}

/* Names -------------------------------------------------------------------------------------
 */

enum { ANY_NUMBER = 1 << 20 };

/* `if` has no operation of its own. */
static const struct function {
    const char *name;
    ga_operation operation;
    int least, most; /* arguments */
} functions[] = {
/* clang-format off */
#define UNARY(name, text, ...) {text, GA_OP_##name, 1, 1},
#define BINARY(name, text, ...) {text, GA_OP_##name, 2, 2},
#define ANY(name, text, ...) {text, GA_OP_##name, 2, ANY_NUMBER},
    GA_SMOOTH_UNARY(UNARY)
    GA_PIECEWISE_UNARY(UNARY)
    GA_SMOOTH_BINARY(BINARY)
    GA_SELECT_BINARY(ANY)
    {"if", GA_OP_BRANCH, 3, 3},
    /* clang-format on */
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static const struct constant {
    const char *name;
    double value;
} constants[] = {{"pi", PI}, {"e", EULER}};
enum { CONSTANTS = sizeof constants / sizeof *constants };

/* Operators that are no functions have no name. */
static const struct function *find_function(const char *name)
{
    for (int k = 0; k < FUNCTIONS; ++k)
        if (*name && strcmp(functions[k].name, name) == 0) return &functions[k];
    return NULL;
}

const char *ga_expression_function(int k)
{
    for (int i = 0; i < FUNCTIONS; ++i)
        if (functions[i].name[0] && k-- == 0) return functions[i].name;
    return NULL;
}

/* The model's names come first, so that a parameter may be called e. */
static ga_symbol find_symbol(const parser *p)
{
    ga_symbol symbol = {GA_SYMBOL_UNKNOWN, 0, 0};
    if (p->symbols && p->symbols->find)
        symbol = p->symbols->find(p->symbols->user, p->name, strlen(p->name));
    for (int k = 0; k < CONSTANTS && symbol.kind == GA_SYMBOL_UNKNOWN; ++k)
        if (strcmp(constants[k].name, p->name) == 0)
            symbol = (ga_symbol){GA_SYMBOL_CONSTANT, constants[k].value, 0};
    return symbol;
}

/* All names there are: symbols, constants, functions. */
static const char *candidate(void *user, int k)
{
    parser *p = user;
    if (p->symbols && p->symbols->name && (p->names < 0 || k < p->names)) {
        const char *name = p->symbols->name(p->symbols->user, k);
        if (name) return name;
        p->names = k;
    }
    const int rest = k - (p->names < 0 ? 0 : p->names);
    return rest < CONSTANTS ? constants[rest].name : ga_expression_function(rest - CONSTANTS);
}

static const char *candidate_function(void *user, int k)
{
    (void)user;
    return ga_expression_function(k);
}

static bool fail_unknown(parser *p, bool called)
{
    const ga_symbols *symbols = p->symbols;
    const char *reason = symbols && symbols->reason && !called
                             ? symbols->reason(symbols->user, p->name, strlen(p->name))
                             : NULL;
    if (reason)
        return fail(p, p->token.start, "'%.*s' cannot be used: %s", SHOW(p, p->token), reason);
    const char *guess = ga_suggest(p->name, p, called ? candidate_function : candidate);
    return fail(p, p->token.start, "unknown %s '%.*s'%s%s%s", called ? "function" : "name",
                SHOW(p, p->token), guess ? "; did you mean '" : "", guess ? guess : "",
                guess ? "'?" : "");
}

/* Rules -------------------------------------------------------------------------------------
 */

static bool parse_conditional(parser *p);
static bool parse_unary(parser *p);

static bool enter(parser *p)
{
    if (++p->nesting <= MAX_NESTING) return true;
    return fail(p, p->token.start, "parentheses or operations are nested too deeply");
}

static const char unit_names[][4] = {"m",   "mm", "cm",  "km", "um",  "in",  "ft",  "kg",
                                     "g",   "t",  "s",   "ms", "min", "h",   "N",   "kN",
                                     "MN",  "Nm", "kNm", "Pa", "kPa", "MPa", "GPa", "Hz",
                                     "kHz", "J",  "W",   "kW", "rpm"};

static bool is_unit(const char *name)
{
    for (size_t k = 0; k < sizeof unit_names / sizeof *unit_names; ++k)
        if (strcmp(unit_names[k], name) == 0) return true;
    return false;
}

/* Something follows an operand without an operator. */
static bool fail_operator(parser *p)
{
    const bool named = p->token.kind == TOKEN_NAME;
    const bool known = named && find_symbol(p).kind != GA_SYMBOL_UNKNOWN;
    if (named && strcmp(p->name, "deg") == 0)
        return fail(p, p->token.start, "deg can follow only a number; multiply by pi/180");
    if (named && p->last.kind == TOKEN_NUMBER && !known) {
        if (strcmp(p->name, "rad") == 0)
            return fail(p, p->token.start, "unexpected 'rad': angles are in rad already");
        if (is_unit(p->name))
            return fail(p, p->token.start,
                        "unexpected unit '%s': numbers are in SI units, only deg is known",
                        p->name);
    }
    if (p->last.kind == TOKEN_MARK)
        return fail(p, p->token.start, "expected an operator; multiplication is written *");
    return fail(p, p->token.start,
                "expected an operator after '%.*s'; multiplication is written %.*s*%.*s",
                SHOW(p, p->last), SHOW(p, p->last), SHOW(p, p->token));
}

static bool parse_number(parser *p)
{
    double value = p->token.number;
    if (!advance(p)) return false;
    if (p->token.kind == TOKEN_NAME && strcmp(p->name, "deg") == 0) {
        value *= PI / 180;
        if (!advance(p)) return false;
    }
    emit(p, GA_OP_PUSH, 0, value);
    return true;
}

static bool parse_name(parser *p)
{
    const ga_symbol symbol = find_symbol(p);
    switch (symbol.kind) {
    case GA_SYMBOL_CONSTANT:
        emit(p, GA_OP_PUSH, 0, symbol.value);
        break;
    case GA_SYMBOL_VARIABLE:
        if (symbol.variable < 0 || symbol.variable >= GA_EXPRESSION_MAX_VARIABLES)
            return fail(p, p->token.start, "more than %d variables",
                        GA_EXPRESSION_MAX_VARIABLES);
        emit(p, GA_OP_LOAD, symbol.variable, 0);
        break;
    default:
        if (strcmp(p->name, "deg") == 0)
            return fail(p, p->token.start, "deg must follow a number, as in 30 deg");
        if (find_function(p->name))
            return fail(p, p->token.start, "%s is a function: expected ( after it", p->name);
        return fail_unknown(p, false);
    }
    return advance(p);
}

/* A parenthesis that opened at `open` has to close here. */
static bool close_parenthesis(parser *p, token open)
{
    if (at_mark(p, ")")) return advance(p);
    if (p->token.kind == TOKEN_END) return fail(p, open.start, "( is never closed");
    return fail(p, p->token.start, "expected ) or an operator, got '%.*s'", SHOW(p, p->token));
}

static bool fail_arguments(parser *p, token name, const struct function *f, int count)
{
    return fail(p, name.start, "%s takes %s%d argument%s, got %d", f->name,
                f->most == ANY_NUMBER ? "at least " : "", f->least, f->least == 1 ? "" : "s",
                count);
}

/* Arguments, and the instructions that go between them: of n-ary functions, one operation after
 * each argument from the second on. */
static bool parse_arguments(parser *p, token name, const struct function *f)
{
    const token open = p->token;
    const int start = p->count;
    choice c = {start, 0, 0};
    int count = 0;
    do {
        if (!advance(p)) return false;
        if (count == 0 && at_mark(p, ")")) break;
        const int argument = p->count;
        if (!parse_conditional(p)) return false;
        ++count;
        if (count > f->most) continue; /* counted for the message */
        if (f->operation == GA_OP_BRANCH) {
            if (count == 1) emit_branch(p, &c);
            if (count == 2) emit_jump(p, &c);
            if (count == 3) close_choice(p, &c);
        } else if (f->most == 1)
            emit_unary(p, f->operation, start);
        else if (count > 1)
            emit_binary(p, f->operation, start, argument);
    } while (at_mark(p, ","));
    if (!close_parenthesis(p, open)) return false;
    return count < f->least || count > f->most ? fail_arguments(p, name, f, count) : true;
}

static bool parse_call(parser *p)
{
    const token name = p->token;
    const struct function *f = find_function(p->name);
    if (!f) {
        if (find_symbol(p).kind == GA_SYMBOL_UNKNOWN) return fail_unknown(p, true);
        return fail(p, name.start, "'%.*s' is not a function; multiplication is written %.*s*(",
                    SHOW(p, name), SHOW(p, name));
    }
    return advance(p) && parse_arguments(p, name, f);
}

static bool before_parenthesis(const parser *p)
{
    const char *c = p->text + p->token.start + p->token.length;
    return c[strspn(c, " \t\r\n")] == '(';
}

static bool parse_group(parser *p)
{
    const token open = p->token;
    return advance(p) && parse_conditional(p) && close_parenthesis(p, open);
}

static bool parse_primary(parser *p)
{
    bool done;
    if (p->token.kind == TOKEN_NUMBER)
        done = parse_number(p);
    else if (p->token.kind == TOKEN_NAME)
        done = before_parenthesis(p) ? parse_call(p) : parse_name(p);
    else if (at_mark(p, "("))
        done = parse_group(p);
    else
        return fail_expected(p, "a number, name or (");
    if (!done) return false;
    if (p->token.kind == TOKEN_NUMBER || p->token.kind == TOKEN_NAME || at_mark(p, "("))
        return fail_operator(p);
    return true;
}

static bool parse_power(parser *p)
{
    const int start = p->count;
    if (!parse_primary(p)) return false;
    if (!at_mark(p, "^")) return true;
    const int middle = p->count;
    if (!advance(p) || !parse_unary(p)) return false;
    emit_binary(p, GA_OP_POWER, start, middle);
    return true;
}

static bool parse_unary(parser *p)
{
    const bool minus = at_mark(p, "-"), negation = at_mark(p, "!");
    if (!enter(p)) return false;
    const int start = p->count;
    if (minus || negation || at_mark(p, "+")) {
        if (!advance(p) || !parse_unary(p)) return false;
        if (minus) emit_unary(p, GA_OP_NEGATE, start);
        if (negation) emit_unary(p, GA_OP_NOT, start);
    } else if (!parse_power(p))
        return false;
    --p->nesting;
    return true;
}

/* The higher the level, the tighter it binds. */
static const struct binary_operator {
    const char *mark;
    ga_operation operation;
    int level;
    bool chains; /* a + b + c means something, a < b < c does not */
} operators[] = {
    {"||", GA_OP_OR, 1, true},      {"&&", GA_OP_AND, 2, true},
    {"==", GA_OP_EQUAL, 3, false},  {"!=", GA_OP_NOT_EQUAL, 3, false},
    {"<", GA_OP_LESS, 4, false},    {"<=", GA_OP_LESS_EQUAL, 4, false},
    {">", GA_OP_GREATER, 4, false}, {">=", GA_OP_GREATER_EQUAL, 4, false},
    {"+", GA_OP_ADD, 5, true},      {"-", GA_OP_SUBTRACT, 5, true},
    {"*", GA_OP_MULTIPLY, 6, true}, {"/", GA_OP_DIVIDE, 6, true},
};

static const struct binary_operator *find_operator(const parser *p)
{
    for (size_t k = 0; k < sizeof operators / sizeof *operators; ++k)
        if (at_mark(p, operators[k].mark)) return &operators[k];
    return NULL;
}

static bool parse_binary(parser *p, int level)
{
    const int start = p->count;
    if (!parse_unary(p)) return false;
    const struct binary_operator *o, *last = NULL;
    while ((o = find_operator(p)) && o->level >= level) {
        if (last && !o->chains && o->level == last->level)
            return fail(p, p->token.start, "comparisons do not chain: use &&, or parentheses");
        const int middle = p->count;
        if (!advance(p) || !parse_binary(p, o->level + 1)) return false;
        emit_binary(p, o->operation, start, middle);
        last = o;
    }
    return true;
}

static bool parse_conditional(parser *p)
{
    if (!enter(p)) return false;
    choice c = {p->count, 0, 0};
    if (!parse_binary(p, 0)) return false;
    if (at_mark(p, "?")) {
        emit_branch(p, &c);
        if (!advance(p) || !parse_conditional(p)) return false;
        if (!at_mark(p, ":")) return fail_expected(p, "an operator or :");
        emit_jump(p, &c);
        if (!advance(p) || !parse_conditional(p)) return false;
        close_choice(p, &c);
    }
    --p->nesting;
    return true;
}

static bool fail_trailing(parser *p)
{
    if (at_mark(p, ")")) return fail(p, p->token.start, ") without (");
    if (at_mark(p, ":")) return fail(p, p->token.start, ": without ?");
    if (at_mark(p, ","))
        return fail(p, p->token.start, "unexpected ','; decimals are written with a point");
    return fail(p, p->token.start, "expected an operator, got '%.*s'", SHOW(p, p->token));
}

/* The whole ---------------------------------------------------------------------------------
 */

/* Deepest stack. Behind a JUMP the first branch's value is not there. */
static int stack_depth(const ga_expression *e)
{
    int depth = 0, deepest = 0;
    for (int i = 0; i < e->count; ++i) {
        const ga_operation operation = e->code[i].operation;
        if (operation == GA_OP_PUSH || operation == GA_OP_LOAD)
            ++depth;
        else if (operation == GA_OP_BRANCH || operation == GA_OP_JUMP ||
                 operation >= GA_OP_FIRST_BINARY)
            --depth;
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

/* Numbers the variables that are left; LOAD then names a slot. */
static void assign_slots(ga_expression *e)
{
    int slot[GA_EXPRESSION_MAX_VARIABLES] = {0};
    for (int i = 0; i < e->count; ++i)
        if (e->code[i].operation == GA_OP_LOAD) slot[e->code[i].argument] = 1;
    for (int k = 0; k < GA_EXPRESSION_MAX_VARIABLES; ++k)
        if (slot[k]) {
            slot[k] = e->slots;
            e->variable[e->slots++] = k;
        }
    for (int i = 0; i < e->count; ++i)
        if (e->code[i].operation == GA_OP_LOAD) e->code[i].argument = slot[e->code[i].argument];
}

static bool parse(parser *p, ga_expression *e)
{
    if (!advance(p)) return false;
    p->last.length = 0;
    if (p->token.kind == TOKEN_END) return fail(p, 0, "empty expression");
    if (!parse_conditional(p)) return false;
    if (p->token.kind != TOKEN_END) return fail_trailing(p);
    e->count = p->count;
    e->simplified = p->simplified;
    if (stack_depth(e) > GA_EXPRESSION_STACK)
        return fail(p, 0, "too many pending operations: more than %d", GA_EXPRESSION_STACK);
    assign_slots(e);
    return true;
}

ga_status ga_expression_compile(const char *text, const ga_symbols *symbols,
                                ga_expression **expression, ga_expression_error *error)
{
    parser p = {.text = text, .symbols = symbols, .error = error, .names = -1};
    *expression = NULL;
    *error = (ga_expression_error){0, ""};
    const size_t length = strlen(text);
    if (length > GA_EXPRESSION_MAX_LENGTH) {
        fail(&p, GA_EXPRESSION_MAX_LENGTH, "longer than %d characters",
             GA_EXPRESSION_MAX_LENGTH);
        return GA_ERR_INPUT;
    }
    ga_expression *e = GA_NEW(ga_expression, 1);
    if (e) e->code = p.code = GA_NEW(ga_instruction, length);
    if (!e || !e->code) {
        ga_expression_destroy(e);
        return GA_ERR_MEMORY;
    }
    if (!parse(&p, e)) {
        ga_expression_destroy(e);
        return GA_ERR_INPUT;
    }
    *expression = e;
    return GA_OK;
}
