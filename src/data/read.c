/* Numbers are read in the order of cost: plain decimal numbers at once; then the mistakes that
 * deserve better than "unexpected character"; then whatever else is an expression.
 */
#include "data/read.h"

#include "base/memory.h"
#include "base/messages.h"
#include "data/number.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 40, DESCRIPTION = 96 };

/* Where we are ------------------------------------------------------------------------------
 */

/* As much of it as there is room for. Paths are written for every value of a model, to be read
 * only where there is a mistake: no printf. */
static size_t extend_path(ga_reader *reader, size_t end, const char *text, size_t length)
{
    const size_t room = sizeof reader->path - 1 - end;
    if (length > room) length = room;
    memcpy(reader->path + end, text, length);
    reader->path[end + length] = 0;
    return end + length;
}

size_t ga_reader_enter(ga_reader *reader, const char *key)
{
    const size_t mark = strlen(reader->path);
    const size_t end = mark > 0 ? extend_path(reader, mark, ".", 1) : mark;
    extend_path(reader, end, key, strlen(key));
    return mark;
}

size_t ga_reader_enter_item(ga_reader *reader, int index)
{
    const size_t mark = strlen(reader->path);
    char text[16] = {'['};
    if (index < 10) { /* most of them */
        text[1] = (char)('0' + index);
        text[2] = ']';
    } else {
        snprintf(text, sizeof text, "[%d]", index);
    }
    extend_path(reader, mark, text, strlen(text));
    return mark;
}

void ga_reader_leave(ga_reader *reader, size_t mark) { reader->path[mark] = 0; }

bool ga_reader_error(ga_reader *reader, ga_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ++reader->errors;
    ga_messages_add_list(reader->messages, GA_SEVERITY_ERROR, place.file, place.line,
                         place.column, reader->path, format, arguments);
    va_end(arguments);
    return false;
}

void ga_reader_warning(ga_reader *reader, ga_place place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    ga_messages_add_list(reader->messages, GA_SEVERITY_WARNING, place.file, place.line,
                         place.column, reader->path, format, arguments);
    va_end(arguments);
}

static bool out_of_memory(ga_reader *reader, ga_place place)
{
    reader->out_of_memory = true;
    return ga_reader_error(reader, place, "out of memory");
}

/* As much of a text as a message should show, and never half a character. */
static int shown_length(const char *text)
{
    size_t n = strlen(text);
    if (n <= SHOWN) return (int)n;
    n = SHOWN;
    while (n && ((unsigned char)text[n] & 0xC0) == 0x80) --n;
    return (int)n;
}

static const char *dots(const char *text) { return strlen(text) > SHOWN ? "..." : ""; }

const char *ga_value_describe(const ga_value *value, char *buffer, size_t size)
{
    switch (value->kind) {
    case GA_VALUE_NULL:
        snprintf(buffer, size, "nothing");
        break;
    case GA_VALUE_LIST:
        if (value->count)
            snprintf(buffer, size, "a list of %d", value->count);
        else
            snprintf(buffer, size, "an empty list");
        break;
    case GA_VALUE_MAP:
        snprintf(buffer, size, value->count ? "a map" : "an empty map");
        break;
    case GA_VALUE_SCALAR:
        snprintf(buffer, size, "`%.*s%s`", shown_length(value->text), value->text,
                 dots(value->text));
        break;
    }
    return buffer;
}

static bool wrong_kind(ga_reader *reader, const ga_value *value, const char *expected)
{
    char got[DESCRIPTION];
    return ga_reader_error(reader, value->place, "expected %s, got %s", expected,
                           ga_value_describe(value, got, sizeof got));
}

/* Numbers that are none ---------------------------------------------------------------------
 */

static const struct {
    const char *name;
    double factor;
    const char *si; /* null: the unit is the one we count in */
} units[] = {
    {"m", 1, NULL},      {"kg", 1, NULL},     {"s", 1, NULL},
    {"rad", 1, NULL},    {"N", 1, NULL},      {"Nm", 1, NULL},
    {"Pa", 1, NULL},     {"J", 1, NULL},      {"mm", 1e-3, "m"},
    {"cm", 1e-2, "m"},   {"km", 1e3, "m"},    {"um", 1e-6, "m"},
    {"in", 0.0254, "m"}, {"ft", 0.3048, "m"}, {"g", 1e-3, "kg"},
    {"mg", 1e-6, "kg"},  {"t", 1e3, "kg"},    {"lb", 0.45359237, "kg"},
    {"ms", 1e-3, "s"},   {"us", 1e-6, "s"},   {"min", 60, "s"},
    {"h", 3600, "s"},    {"kN", 1e3, "N"},    {"MN", 1e6, "N"},
    {"mN", 1e-3, "N"},   {"kPa", 1e3, "Pa"},  {"MPa", 1e6, "Pa"},
    {"GPa", 1e9, "Pa"},  {"bar", 1e5, "Pa"},  {"rpm", 0.10471975511965977, "rad/s"},
};

/* A number, blanks, and a word to the end that may be a unit: 30 mm, 9.81 m/s^2. */
static bool refuse_unit(ga_reader *reader, const ga_value *value, double x, const char *unit)
{
    const size_t letters = strcspn(unit, "0123456789.,()*+-?:<>=&|!^/ \t");
    const int shown = shown_length(value->text);
    for (size_t k = 0; k < sizeof units / sizeof *units; ++k)
        if (strlen(units[k].name) == letters && !strncmp(units[k].name, unit, letters) &&
            unit[letters] == 0) {
            if (units[k].si)
                return ga_reader_error(reader, value->place,
                                       "`%.*s`: numbers are in SI units: write %.15g (%s)",
                                       shown, value->text, x * units[k].factor, units[k].si);
            const ga_symbol known =
                ga_document_symbol(reader->document, value->scope, unit, letters);
            char product[64] = "";
            if (known.kind != GA_SYMBOL_UNKNOWN)
                snprintf(product, sizeof product, ", or %.15g*%s", x, units[k].name);
            return ga_reader_error(reader, value->place,
                                   "`%.*s`: numbers are in SI units, without a unit: write "
                                   "%.15g%s",
                                   shown, value->text, x, product);
        }
    if (!strcmp(unit, "\xC2\xB0") || !strcmp(unit, "degrees") || !strcmp(unit, "degree"))
        return ga_reader_error(reader, value->place, "`%.*s`: degrees are written `%.15g deg`",
                               shown, value->text, x);
    return ga_reader_error(reader, value->place,
                           "`%.*s`: `%.*s` cannot follow a number; numbers are in SI units, "
                           "and only `deg` may follow one",
                           shown, value->text, shown_length(unit), unit);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; ++words)
        if (!strcmp(text, *words)) return true;
    return false;
}

/* False after an error if the text, with a number of this length at its start, is a mistake of
 * a known kind. */
static bool refuse_mistakes(ga_reader *reader, const ga_value *value, double x, size_t length)
{
    static const char *const infinite[] = {
        ".inf", ".Inf", ".INF", "-.inf", "-.Inf", "-.INF",    "+.inf",     ".nan", ".NaN",
        ".NAN", "inf",  "-inf", "nan",   "NaN",   "Infinity", "-Infinity", NULL};
    const char *text = value->text, *rest = text + length;
    if (is_one_of(text, infinite))
        return ga_reader_error(reader, value->place,
                               "`%s` is not allowed: a number must be finite", text);
    if (!length) return true;
    if (x == 0 && (*rest == 'x' || *rest == 'o' || *rest == 'b') &&
        strspn(rest + 1, "0123456789abcdefABCDEF") == strlen(rest + 1) && rest[1])
        return ga_reader_error(reader, value->place,
                               "`%.*s`: write numbers in decimal, not hexadecimal, octal or "
                               "binary",
                               shown_length(text), text);
    if ((*rest == ',' || *rest == '_' || *rest == '\'') && rest[1] &&
        strspn(rest, "0123456789,._'eE+-") == strlen(rest))
        return ga_reader_error(
            reader, value->place,
            "`%.*s` is not a number: write a decimal point, and do not group digits",
            shown_length(text), text);
    const bool apart = *rest == ' ' || *rest == '\t';
    const char *unit = rest + strspn(rest, " \t");
    if (!is_letter(*unit) && *unit != '%') return true;
    const char *end = unit + strcspn(unit, "(*+-?:<>=&|!");
    const bool is_degrees = !strncmp(unit, "deg", 3) && !is_letter(unit[3]);
    if (*end || is_degrees || (!apart && *text == '0' && *rest == 'e')) return true;
    return refuse_unit(reader, value, x, unit);
}

/* Expressions -------------------------------------------------------------------------------
 */

/* The names of an expression: those given on top, then those of the document. */
typedef struct name_space {
    const ga_document *document;
    const ga_scope *scope;
    const ga_symbols *more; /* may be null */
    int more_count;         /* of its names, once known; -1 before */
    bool asked_for_time;    /* `t` was looked for and not there */
    bool asked_for_input;   /* so was an input of the model */
    bool asked_for_channel; /* so was a name with a dot */
} name_space;

static bool is_input(const ga_document *document, const char *name, size_t length)
{
    const ga_value *inputs = document ? ga_value_get(&document->root, "inputs") : NULL;
    for (int k = 0; inputs && inputs->kind == GA_VALUE_MAP && k < inputs->count; ++k)
        if (strlen(inputs->entries[k].key) == length &&
            memcmp(inputs->entries[k].key, name, length) == 0)
            return true;
    return false;
}

static ga_symbol find_name(void *user, const char *name, size_t length)
{
    name_space *space = user;
    ga_symbol symbol = {GA_SYMBOL_UNKNOWN, 0, 0};
    if (space->more) symbol = space->more->find(space->more->user, name, length);
    if (symbol.kind == GA_SYMBOL_UNKNOWN)
        symbol = ga_document_symbol(space->document, space->scope, name, length);
    if (symbol.kind == GA_SYMBOL_UNKNOWN && length == 1 && *name == 't')
        space->asked_for_time = true;
    if (symbol.kind == GA_SYMBOL_UNKNOWN && is_input(space->document, name, length))
        space->asked_for_input = true;
    if (symbol.kind == GA_SYMBOL_UNKNOWN && memchr(name, '.', length))
        space->asked_for_channel = true;
    return symbol;
}

static const char *name_at(void *user, int k)
{
    name_space *space = user;
    const ga_symbols *more = space->more;
    if (more && more->name && (space->more_count < 0 || k < space->more_count)) {
        const char *name = more->name(more->user, k);
        if (name) return name;
        space->more_count = k;
    }
    if (space->more_count > 0) k -= space->more_count;
    if (k < space->document->parameter_count) return space->document->parameters[k].name;
    k -= space->document->parameter_count;
    const ga_scope *scope = space->scope;
    while (scope && k-- > 0) scope = scope->outer;
    return scope ? scope->name : NULL;
}

static const char *reason_of(void *user, const char *name, size_t length)
{
    const ga_symbols *more = ((const name_space *)user)->more;
    return more && more->reason ? more->reason(more->user, name, length) : NULL;
}

static bool compile(ga_reader *reader, const ga_value *value, const ga_symbols *more,
                    ga_expression **expression)
{
    name_space space = {reader->document, value->scope, more, -1, false, false, false};
    const ga_symbols symbols = {&space, find_name,
                                ga_messages_full(reader->messages) ? NULL : name_at, reason_of};
    ga_expression_error error = {0};
    const ga_status status = ga_expression_compile(value->text, &symbols, expression, &error);
    if (status == GA_OK) return true;
    if (status == GA_ERR_MEMORY) return out_of_memory(reader, value->place);
    if (space.asked_for_time)
        return ga_reader_error(reader, ga_value_place(value, error.offset),
                               "`%.*s%s` must be a constant; it cannot depend on the time t",
                               shown_length(value->text), value->text, dots(value->text));
    if (space.asked_for_channel && !more)
        return ga_reader_error(reader, ga_value_place(value, error.offset),
                               "`%.*s%s` must be a constant; channels are for functions of "
                               "forces",
                               shown_length(value->text), value->text, dots(value->text));
    if (space.asked_for_input)
        return ga_reader_error(reader, ga_value_place(value, error.offset),
                               "`%.*s%s` must be a constant; inputs are for functions: forces, "
                               "motions, lengths",
                               shown_length(value->text), value->text, dots(value->text));
    return ga_reader_error(reader, ga_value_place(value, error.offset),
                           "`%.*s%s` is neither a number nor an expression: %s",
                           shown_length(value->text), value->text, dots(value->text),
                           error.message);
}

bool ga_read_expression(ga_reader *reader, const ga_value *value, const ga_symbols *symbols,
                        ga_expression **expression)
{
    if (value->kind != GA_VALUE_SCALAR)
        return wrong_kind(reader, value, "a number or an expression");
    double x = 0;
    const size_t length = ga_number_scan(value->text, &x);
    return refuse_mistakes(reader, value, x, length) &&
           compile(reader, value, symbols, expression);
}

/* Expressions of repeat blocks are compiled once, with the loop variables as variables: copies
 * of a scalar share its text. Those that would not have the very value they have with numbers
 * are not remembered; nor is what has braces, of which each copy has a text of its own. */

enum { PROGRAMS = 64 }; /* a power of two */

typedef struct program {
    const char *text;      /* null: none */
    const ga_scope *scope; /* one it was read in */
    ga_expression *expression;
} program;

struct ga_programs {
    program item[PROGRAMS];
};

void ga_read_forget(ga_document *document)
{
    for (int k = 0; document->programs && k < PROGRAMS; ++k)
        ga_expression_destroy(document->programs->item[k].expression);
    ga_free(document->programs);
    document->programs = NULL;
}

static ga_symbol find_loop_name(void *user, const char *name, size_t length)
{
    const name_space *space = user;
    int k = 0;
    for (const ga_scope *scope = space->scope; scope; scope = scope->outer, ++k)
        if (strlen(scope->name) == length && !memcmp(scope->name, name, length))
            return (ga_symbol){GA_SYMBOL_VARIABLE, 0, k};
    return ga_document_symbol(space->document, NULL, name, length);
}

static bool have_same_names(const ga_scope *a, const ga_scope *b)
{
    for (; a && b && a->name == b->name; a = a->outer) b = b->outer;
    return !a && !b;
}

static program *find_program(const ga_document *document, const ga_value *value)
{
    const uintptr_t at = (uintptr_t)value->text;
    return &document->programs->item[(at ^ at >> 6) % PROGRAMS];
}

/* The value of an expression that is known; false if it is not. */
static bool evaluate_known(const ga_reader *reader, const ga_value *value, double *x)
{
    double variable[GA_EXPRESSION_MAX_VARIABLES];
    if (!value->scope || !reader->document->programs) return false;
    const program *p = find_program(reader->document, value);
    if (p->text != value->text || !have_same_names(p->scope, value->scope)) return false;
    int k = 0;
    for (const ga_scope *scope = value->scope; scope; scope = scope->outer)
        variable[k++] = scope->value;
    *x = ga_expression_value(p->expression, variable);
    return true;
}

static ga_status remember(ga_reader *reader, const ga_value *value)
{
    ga_document *document = reader->document;
    int depth = 0;
    for (const ga_scope *scope = value->scope; scope; scope = scope->outer) ++depth;
    if (depth == 0 || depth > GA_EXPRESSION_MAX_VARIABLES || !value->verbatim) return GA_OK;
    if (!document->programs && !(document->programs = GA_NEW(struct ga_programs, 1)))
        return GA_ERR_MEMORY;
    name_space space = {document, value->scope, NULL, -1, false, false, false};
    const ga_symbols symbols = {.user = &space, .find = find_loop_name};
    ga_expression *expression = NULL;
    ga_expression_error error = {0};
    const ga_status status = ga_expression_compile(value->text, &symbols, &expression, &error);
    if (status != GA_OK) return status == GA_ERR_MEMORY ? status : GA_OK;
    if (ga_expression_is_simplified(expression)) {
        ga_expression_destroy(expression);
        return GA_OK;
    }
    program *p = find_program(document, value);
    ga_expression_destroy(p->expression);
    *p = (program){value->text, value->scope, expression};
    return GA_OK;
}

/* Values ------------------------------------------------------------------------------------
 */

/* What is not a plain number. */
static bool evaluate(ga_reader *reader, const ga_value *value, double *x)
{
    ga_expression *expression = NULL;
    if (!ga_read_expression(reader, value, NULL, &expression)) return false;
    *x = ga_expression_value(expression, NULL);
    ga_expression_destroy(expression);
    if (remember(reader, value) == GA_OK) return true;
    return out_of_memory(reader, value->place);
}

bool ga_read_number(ga_reader *reader, const ga_value *value, double *x)
{
    if (value->kind != GA_VALUE_SCALAR) return wrong_kind(reader, value, "a number");
    double result = 0;
    if (!evaluate_known(reader, value, &result)) {
        const size_t length = ga_number_scan(value->text, &result);
        const bool plain = length && !value->text[length];
        if (!plain && !evaluate(reader, value, &result)) return false;
    }
    if (!isfinite(result))
        return ga_reader_error(reader, value->place, "`%.*s%s` is %s, a number must be finite",
                               shown_length(value->text), value->text, dots(value->text),
                               isnan(result) ? "not a number" : "infinite");
    *x = result;
    return true;
}

bool ga_read_integer(ga_reader *reader, const ga_value *value, long *x)
{
    const double largest = 9007199254740992; /* 2^53: beyond, doubles skip integers */
    double number;
    if (value->kind != GA_VALUE_SCALAR) return wrong_kind(reader, value, "an integer");
    if (!ga_read_number(reader, value, &number)) return false;
    if (number != floor(number))
        return ga_reader_error(reader, value->place, "expected an integer, got %.15g", number);
    if (fabs(number) > largest)
        return ga_reader_error(reader, value->place, "%.15g is too large", number);
    *x = (long)number;
    return true;
}

bool ga_read_boolean(ga_reader *reader, const ga_value *value, bool *x)
{
    static const char *const yes[] = {"yes", "Yes",  "YES",  "on", "On",
                                      "ON",  "True", "TRUE", "1",  NULL};
    static const char *const no[] = {"no",  "No",    "NO",    "off", "Off",
                                     "OFF", "False", "FALSE", "0",   NULL};
    if (value->kind == GA_VALUE_SCALAR) {
        const bool is_true = !strcmp(value->text, "true");
        if (is_true || !strcmp(value->text, "false")) {
            *x = is_true;
            return true;
        }
        if (is_one_of(value->text, yes) || is_one_of(value->text, no))
            return ga_reader_error(reader, value->place, "write `%s` instead of `%s`",
                                   is_one_of(value->text, yes) ? "true" : "false", value->text);
    }
    return wrong_kind(reader, value, "true or false");
}

bool ga_read_text(ga_reader *reader, const ga_value *value, const char **text)
{
    if (value->kind != GA_VALUE_SCALAR) return wrong_kind(reader, value, "text");
    *text = value->text;
    return true;
}

static bool read_items(ga_reader *reader, const ga_value *value, int n, double *x)
{
    bool good = true;
    for (int k = 0; k < n; ++k) {
        const size_t mark = ga_reader_enter_item(reader, k);
        good = ga_read_number(reader, &value->entries[k].value, &x[k]) && good;
        ga_reader_leave(reader, mark);
    }
    return good;
}

/* `why` explains the count. */
static bool read_list(ga_reader *reader, const ga_value *value, int n, const char *why,
                      double *x)
{
    enum { FEW = 16 };
    if (value->kind != GA_VALUE_LIST || value->count != n) {
        char expected[DESCRIPTION];
        snprintf(expected, sizeof expected, "%d number%s%s", n, n == 1 ? "" : "s", why);
        return wrong_kind(reader, value, expected);
    }
    double some[FEW], *all = n <= FEW ? some : GA_NEW(double, n);
    if (!all) return out_of_memory(reader, value->place);
    const bool good = read_items(reader, value, n, all);
    if (good) memcpy(x, all, (size_t)n * sizeof *x);
    if (all != some) ga_free(all);
    return good;
}

bool ga_read_numbers(ga_reader *reader, const ga_value *value, int n, double *x)
{
    return read_list(reader, value, n, "", x);
}

bool ga_read_vector(ga_reader *reader, const ga_value *value, double x[3])
{
    const bool planar = reader->dimension == 2;
    double result[3] = {0, 0, 0};
    if (!read_list(reader, value, planar ? 2 : 3, planar ? " (the model is planar)" : "",
                   result))
        return false;
    memcpy(x, result, sizeof result);
    return true;
}

static const char *choice_at(void *user, int k)
{
    const char *const *choices = user;
    return choices[k];
}

/* "a, b or c", cut if it gets long. */
static void list_choices(const char *const *choices, char *text, size_t size)
{
    size_t used = 0;
    text[0] = 0;
    for (int k = 0; choices[k] && used < size; ++k) {
        const char *between = k == 0 ? "" : choices[k + 1] ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", between, choices[k]);
    }
    if (used >= size && size > 4) memcpy(text + size - 4, "...", 4);
}

bool ga_read_choice(ga_reader *reader, const ga_value *value, const char *const *choices,
                    int *index)
{
    char all[320];
    if (value->kind == GA_VALUE_SCALAR)
        for (int k = 0; choices[k]; ++k)
            if (!strcmp(value->text, choices[k])) {
                *index = k;
                return true;
            }
    list_choices(choices, all, sizeof all);
    if (value->kind != GA_VALUE_SCALAR) return wrong_kind(reader, value, all);
    const char *near = ga_suggest(value->text, (void *)(uintptr_t)choices, choice_at);
    if (near)
        return ga_reader_error(
            reader, value->place, "unknown `%.*s%s`, did you mean `%s`? Expected %s",
            shown_length(value->text), value->text, dots(value->text), near, all);
    return ga_reader_error(reader, value->place, "unknown `%.*s%s`; expected %s",
                           shown_length(value->text), value->text, dots(value->text), all);
}
