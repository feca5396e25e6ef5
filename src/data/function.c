/* Functions of time: one entry of `shapes` per form says how it is read, checked and
 * evaluated.
 *
 *     ramp      x = from + (to - from) s,   s = (t - start) / (end - start) cut to [0, 1]
 *     step      x = from + (to - from) (10 s^3 - 15 s^4 + 6 s^5): first and second derivative
 *               are 0 at both ends
 *     harmonic  x = offset + amplitude sin(omega t + phase)
 */
#include "data/function.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "data/function_table.h"

#define TWO_PI 6.28318530717958647693

typedef struct shape shape;

struct ga_function {
    const shape *shape;
    double p[GA_FUNCTION_MAX_FIELDS]; /* numbers in the order of the fields; choices too */
    ga_expression *expression;
    ga_table *table;
};

/* A map's fields as read: where they are, null if left out. */
typedef struct fields {
    const ga_value *at[GA_FUNCTION_MAX_FIELDS];
    ga_place place; /* of the map */
} fields;

struct shape {
    ga_function_form form;
    /* After the fields: checks, prepares. May be null. */
    bool (*finish)(ga_reader *reader, const fields *given, ga_function *function);
    void (*rates)(const ga_function *function, double t, double out[3]);
    double (*next_break)(const ga_function *function, double t); /* null: none */
    double (*next_bend)(const ga_function *function, double t);  /* null: none */
    bool curved; /* not known by its breaks and bends */
};

/* Interval: ramp and step -------------------------------------------------------------------
 */

enum { START, END, FROM, TO };

static bool check_interval(ga_reader *reader, const fields *given, ga_function *function)
{
    const double start = function->p[START], end = function->p[END];
    if (end > start && isfinite(1 / (end - start))) return true;
    return ga_reader_error(reader, given->at[END] ? given->at[END]->place : given->place,
                           "end %g is not after start %g", end, start);
}

/* Part of the interval that is over, in [0, 1], and the value there from the shape s -> y:
 * out = from + (to - from) y. */
static double progress(const ga_function *function, double t)
{
    const double s = (t - function->p[START]) / (function->p[END] - function->p[START]);
    return s < 0 ? 0 : s > 1 ? 1 : s;
}

static void blend(const ga_function *function, double y, double y1, double y2, double out[3])
{
    const double *p = function->p;
    const double rise = p[TO] - p[FROM], width = p[END] - p[START];
    out[0] = y == 1 ? p[TO] : p[FROM] + rise * y; /* without round-off at the end */
    out[1] = rise * y1 / width;
    out[2] = rise * y2 / width / width;
}

static void ramp_rates(const ga_function *function, double t, double out[3])
{
    const bool rising = t >= function->p[START] && t < function->p[END];
    blend(function, progress(function, t), rising ? 1 : 0, 0, out);
}

static double next_end(const ga_function *function, double t)
{
    const double *p = function->p;
    return t < p[START] ? p[START] : t < p[END] ? p[END] : INFINITY;
}

static void step_rates(const ga_function *function, double t, double out[3])
{
    const double s = progress(function, t), r = 1 - s;
    /* From the nearer end, so that both ends are flat without cancellation. */
    const double low = s * s * s * (10 + s * (6 * s - 15));
    const double high = 1 - r * r * r * (10 + r * (6 * r - 15));
    blend(function, s < 0.5 ? low : high, 30 * s * s * r * r, 60 * s * r * (r - s), out);
}

/* Harmonic ----------------------------------------------------------------------------------
 */

enum { AMPLITUDE, FREQUENCY, OMEGA, PHASE, OFFSET };

static bool finish_harmonic(ga_reader *reader, const fields *given, ga_function *function)
{
    (void)reader;
    if (given->at[FREQUENCY]) function->p[OMEGA] = TWO_PI * function->p[FREQUENCY];
    return true;
}

static void harmonic_rates(const ga_function *function, double t, double out[3])
{
    const double *p = function->p;
    const double omega = p[OMEGA], angle = omega * t + p[PHASE];
    const double wave = p[AMPLITUDE] * sin(angle);
    out[0] = p[OFFSET] + wave;
    out[1] = p[AMPLITUDE] * omega * cos(angle);
    out[2] = -omega * omega * wave;
}

/* Table -------------------------------------------------------------------------------------
 */

enum { POINTS, SPLINE, OUTSIDE };

static const char *const splines[] = {"linear", "cubic", "akima", NULL};  /* as ga_spline */
static const char *const outsides[] = {"hold", "extend", "repeat", NULL}; /* as ga_outside */

/* t and x hold as many as there are items. */
static bool read_points(ga_reader *reader, const ga_value *list, double *t, double *x)
{
    bool good = true, known = false; /* known: t[i - 1] */
    for (int i = 0; i < list->count; ++i) {
        const ga_value *item = &list->entries[i].value;
        const size_t here = ga_reader_enter_item(reader, i);
        double pair[2] = {0, 0};
        const bool read = ga_read_numbers(reader, item, 2, pair);
        t[i] = pair[0];
        x[i] = pair[1];
        if (!read)
            good = false;
        else if (known && !(t[i] > t[i - 1]))
            good = ga_reader_error(reader, item->place,
                                   "time %g is not after the previous one, %g", t[i], t[i - 1]);
        known = read;
        ga_reader_leave(reader, here);
    }
    return good;
}

static bool no_memory(ga_reader *reader, ga_place place)
{
    reader->out_of_memory = true;
    return ga_reader_error(reader, place, "%s", ga_status_text(GA_ERR_MEMORY));
}

static bool build_table(ga_reader *reader, const ga_value *list, ga_function *function,
                        double *t, double *x)
{
    if (!t || !x) return no_memory(reader, list->place);
    if (!read_points(reader, list, t, x)) return false;
    switch (ga_table_create(list->count, t, x, (ga_spline)function->p[SPLINE],
                            (ga_outside)function->p[OUTSIDE], &function->table)) {
    case GA_OK:
        return true;
    case GA_ERR_MEMORY:
        return no_memory(reader, list->place);
    default:
        return ga_reader_error(reader, list->place, "slopes are too large");
    }
}

static bool finish_table(ga_reader *reader, const fields *given, ga_function *function)
{
    const ga_value *list = given->at[POINTS];
    char text[80];
    const size_t here = ga_reader_enter(reader, "table");
    bool good = false;
    if (list->kind != GA_VALUE_LIST)
        ga_reader_error(reader, list->place, "expected a list of points [t, x], got %s",
                        ga_value_describe(list, text, sizeof text));
    else if (list->count < 2)
        ga_reader_error(reader, list->place, "a table needs at least 2 points, got %d",
                        list->count);
    else {
        double *t = GA_NEW(double, list->count), *x = GA_NEW(double, list->count);
        good = build_table(reader, list, function, t, x);
        ga_free(t);
        ga_free(x);
    }
    ga_reader_leave(reader, here);
    return good;
}

static void table_rates(const ga_function *function, double t, double out[3])
{
    ga_table_rates(function->table, t, out);
}

static double table_next_break(const ga_function *function, double t)
{
    return ga_table_next_break(function->table, t);
}

/* All forms ---------------------------------------------------------------------------------
 */

#define INTERVAL_FIELDS                                                                        \
    {                                                                                          \
        {.name = "start", .help = "time at which it starts"},                                  \
            {.name = "end", .help = "end time", .required = true},                             \
            {.name = "from", .help = "value before"},                                          \
            {.name = "to", .help = "value after", .required = true},                           \
    }

static const shape shapes[] = {
    {.form = {.name = "table",
              .help = "a curve through points",
              .fields = {{.name = "table",
                          .help = "points [t, x], t ascending",
                          .kind = GA_FUNCTION_POINTS,
                          .required = true},
                         {.name = "spline",
                          .help = "linear; cubic: twice differentiable, not-a-knot ends; "
                                  "akima: once differentiable, less overshoot",
                          .kind = GA_FUNCTION_CHOICE,
                          .choices = splines},
                         {.name = "outside",
                          .help = "outside the table: hold keeps the end value, extend "
                                  "continues along the end slope, repeat repeats the table",
                          .kind = GA_FUNCTION_CHOICE,
                          .choices = outsides}}},
     .finish = finish_table,
     .rates = table_rates,
     .next_break = table_next_break},
    {.form = {.name = "ramp",
              .help = "linear between two times, constant outside",
              .nested = true,
              .fields = INTERVAL_FIELDS},
     .finish = check_interval,
     .rates = ramp_rates,
     .next_break = next_end},
    {.form =
         {.name = "harmonic",
          .help = "offset + amplitude sin(omega t + phase)",
          .nested = true,
          .fields =
              {{.name = "amplitude",
                .help = "largest deviation from the offset",
                .required = true},
               {.name = "frequency", .help = "in Hz", .required = true, .instead = "omega"},
               {.name = "omega", .help = "in rad/s", .required = true, .instead = "frequency"},
               {.name = "phase", .help = "angle at t = 0"},
               {.name = "offset", .help = "mean value"}}},
     .finish = finish_harmonic,
     .rates = harmonic_rates,
     .curved = true},
    {.form = {.name = "step",
              .help = "smooth transition between two times, twice differentiable",
              .nested = true,
              .fields = INTERVAL_FIELDS},
     .finish = check_interval,
     .rates = step_rates,
     .next_bend = next_end},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

const ga_function_form *ga_function_form_get(int k)
{
    return k >= 0 && k < SHAPES ? &shapes[k].form : NULL;
}

/* Reading maps ------------------------------------------------------------------------------
 */

static const char *form_name(void *user, int k)
{
    (void)user;
    return k < SHAPES ? shapes[k].form.name : NULL;
}

static const char *field_name(void *user, int k)
{
    const ga_function_form *form = user;
    return form->fields[k].name;
}

static int find_field(const ga_function_form *form, const char *name)
{
    for (int k = 0; form->fields[k].name; ++k)
        if (strcmp(form->fields[k].name, name) == 0) return k;
    return -1;
}

static bool unknown_key(ga_reader *reader, const ga_entry *entry, void *user,
                        const char *(*candidate)(void *user, int k))
{
    const char *guess = ga_suggest(entry->key, user, candidate);
    if (guess)
        return ga_reader_error(reader, entry->place, "unknown key `%s`, did you mean `%s`?",
                               entry->key, guess);
    char all[200] = "";
    size_t used = 0;
    for (int k = 0; candidate(user, k) && used < sizeof all; ++k)
        used += (size_t)snprintf(all + used, sizeof all - used, "%s%s", k ? ", " : "",
                                 candidate(user, k));
    return ga_reader_error(reader, entry->place, "unknown key `%s`, expected one of: %s",
                           entry->key, all);
}

static bool check_given(ga_reader *reader, const ga_function_form *form, const fields *given)
{
    bool good = true;
    for (int k = 0; form->fields[k].name; ++k) {
        const ga_function_field *field = &form->fields[k];
        const int other = field->instead ? find_field(form, field->instead) : -1;
        if (other >= 0 && other < k) continue; /* said already */
        const bool both = other >= 0 && given->at[k] && given->at[other];
        const bool none = !given->at[k] && !(other >= 0 && given->at[other]);
        if (both)
            good = ga_reader_error(reader, given->at[other]->place,
                                   "both '%s' and '%s' are given; keep one", field->name,
                                   field->instead);
        if (none && field->required)
            good = ga_reader_error(reader, given->place, "'%s'%s%s%s is missing", field->name,
                                   field->instead ? " or '" : "",
                                   field->instead ? field->instead : "",
                                   field->instead ? "'" : "");
    }
    return good;
}

static bool read_field(ga_reader *reader, const ga_function_field *field, const ga_value *value,
                       double *x)
{
    if (!value) {
        *x = field->fallback;
        return true;
    }
    if (field->kind == GA_FUNCTION_POINTS) return true; /* by `finish` */
    const size_t here = ga_reader_enter(reader, field->name);
    int index = 0;
    bool good;
    if (field->kind == GA_FUNCTION_NUMBER)
        good = ga_read_number(reader, value, x);
    else if ((good = ga_read_choice(reader, value, field->choices, &index)))
        *x = index;
    ga_reader_leave(reader, here);
    return good;
}

static bool read_fields(ga_reader *reader, const shape *kind, const ga_value *map,
                        ga_function *function)
{
    const ga_function_form *form = &kind->form;
    fields given = {{NULL}, map->place};
    bool good = true;
    for (int i = 0; i < map->count; ++i) {
        const int k = find_field(form, map->entries[i].key);
        if (k >= 0)
            given.at[k] = &map->entries[i].value;
        else
            good = unknown_key(reader, &map->entries[i], (void *)(uintptr_t)form, field_name);
    }
    if (!check_given(reader, form, &given)) good = false;
    for (int k = 0; form->fields[k].name; ++k)
        if (!read_field(reader, &form->fields[k], given.at[k], &function->p[k])) good = false;
    return good && (!kind->finish || kind->finish(reader, &given, function));
}

static bool read_nested(ga_reader *reader, const shape *kind, const ga_value *outer,
                        ga_function *function)
{
    const ga_value *map = ga_value_get(outer, kind->form.name);
    char text[80];
    bool good = true;
    for (int i = 0; i < outer->count; ++i)
        if (strcmp(outer->entries[i].key, kind->form.name) != 0)
            good = unknown_key(reader, &outer->entries[i], NULL, form_name);
    const size_t here = ga_reader_enter(reader, kind->form.name);
    if (map->kind != GA_VALUE_MAP)
        good = ga_reader_error(reader, map->place, "expected a map, got %s",
                               ga_value_describe(map, text, sizeof text));
    else if (!read_fields(reader, kind, map, function))
        good = false;
    ga_reader_leave(reader, here);
    return good;
}

/* "expected a number, an expression, or a map with 'table', ...; got a list" */
static bool no_function(ga_reader *reader, const ga_value *value)
{
    char forms[128] = "", text[80];
    for (int k = 0; k < SHAPES; ++k) {
        const size_t used = strlen(forms);
        snprintf(forms + used, sizeof forms - used, "%s'%s'",
                 k == 0            ? ""
                 : k == SHAPES - 1 ? " or "
                                   : ", ",
                 shapes[k].form.name);
    }
    return ga_reader_error(reader, value->place,
                           "expected a number, an expression or a map with %s, got %s", forms,
                           ga_value_describe(value, text, sizeof text));
}

static bool read_map(ga_reader *reader, const ga_value *map, ga_function *function)
{
    const shape *found = NULL;
    for (int k = 0; k < SHAPES; ++k) {
        if (!ga_value_get(map, shapes[k].form.name)) continue;
        if (found)
            return ga_reader_error(reader, map->place,
                                   "both '%s' and '%s' are in one function; keep one",
                                   found->form.name, shapes[k].form.name);
        found = &shapes[k];
    }
    if (!found) {
        if (map->count == 1) return unknown_key(reader, &map->entries[0], NULL, form_name);
        return no_function(reader, map);
    }
    function->shape = found;
    return found->form.nested ? read_nested(reader, found, map, function)
                              : read_fields(reader, found, map, function);
}

/* Numbers and expressions -------------------------------------------------------------------
 */

static void constant_rates(const ga_function *function, double t, double out[3])
{
    (void)t;
    out[0] = function->p[0];
    out[1] = out[2] = 0;
}

static const shape constant = {.rates = constant_rates};

/* The caller's symbols, with t in front. */
static ga_symbol find_with_time(void *user, const char *name, size_t length)
{
    const ga_symbols *symbols = user;
    if (length == 1 && name[0] == 't') return (ga_symbol){GA_SYMBOL_VARIABLE, 0, 0};
    if (symbols && symbols->find) return symbols->find(symbols->user, name, length);
    return (ga_symbol){GA_SYMBOL_UNKNOWN, 0, 0};
}

static const char *name_with_time(void *user, int k)
{
    const ga_symbols *symbols = user;
    if (k == 0) return "t";
    return symbols && symbols->name ? symbols->name(symbols->user, k - 1) : NULL;
}

static const char *reason_with_time(void *user, const char *name, size_t length)
{
    const ga_symbols *symbols = user;
    if (symbols) return symbols->reason ? symbols->reason(symbols->user, name, length) : NULL;
    return memchr(name, '.', length) ? "this is a function of the time t and of parameters"
                                     : NULL;
}

static bool read_scalar(ga_reader *reader, const ga_value *value, const ga_symbols *symbols,
                        ga_function *function)
{
    const ga_symbols with_time = {(void *)(uintptr_t)symbols, find_with_time, name_with_time,
                                  reason_with_time};
    if (!ga_read_expression(reader, value, &with_time, &function->expression)) return false;
    if (!ga_expression_is_constant(function->expression)) return true;
    function->shape = &constant;
    function->p[0] = ga_expression_value(function->expression, NULL);
    if (isfinite(function->p[0])) return true;
    return ga_reader_error(reader, value->place, "'%s' is not finite", value->text);
}

bool ga_function_read(ga_reader *reader, const ga_value *value, const ga_symbols *symbols,
                      ga_function **function)
{
    ga_function *made = GA_NEW(ga_function, 1);
    if (!made) return no_memory(reader, value->place);
    bool good;
    if (value->kind == GA_VALUE_SCALAR)
        good = read_scalar(reader, value, symbols, made);
    else if (value->kind == GA_VALUE_MAP)
        good = read_map(reader, value, made);
    else
        good = no_function(reader, value);
    if (good)
        *function = made;
    else
        ga_function_destroy(made);
    return good;
}

ga_status ga_function_constant(double x, ga_function **function)
{
    *function = GA_NEW(ga_function, 1);
    if (!*function) return GA_ERR_MEMORY;
    (*function)->shape = &constant;
    (*function)->p[0] = x;
    return GA_OK;
}

void ga_function_destroy(ga_function *function)
{
    if (!function) return;
    ga_expression_destroy(function->expression);
    ga_table_destroy(function->table);
    ga_free(function);
}

/* Evaluation: a function without a shape is its expression ----------------------------------
 */

bool ga_function_is_constant(const ga_function *function)
{
    return function->shape == &constant;
}

int ga_function_variables(const ga_function *function)
{
    if (!function->shape) return ga_expression_variables(function->expression);
    return ga_function_is_constant(function) ? 0 : 1;
}

bool ga_function_uses(const ga_function *function, int k)
{
    if (!function->shape) return ga_expression_uses(function->expression, k);
    return k < ga_function_variables(function);
}

void ga_function_rates(const ga_function *function, const double *x, double out[3])
{
    if (function->shape == &constant)
        constant_rates(function, 0, out); /* x may be null */
    else if (function->shape)
        function->shape->rates(function, x[0], out);
    else
        ga_expression_derivatives(function->expression, x, 0, out);
}

void ga_function_rates_along(const ga_function *function, const double *x, const double *dx,
                             double out[3])
{
    if (function->shape)
        ga_function_rates(function, x, out);
    else
        ga_expression_along(function->expression, x, dx, out);
}

double ga_function_value(const ga_function *function, const double *x)
{
    if (!function->shape) return ga_expression_value(function->expression, x);
    double out[3];
    ga_function_rates(function, x, out);
    return out[0];
}

double ga_function_gradient(const ga_function *function, const double *x, double *gradient)
{
    if (!function->shape) return ga_expression_gradient(function->expression, x, gradient);
    double out[3];
    ga_function_rates(function, x, out);
    if (!ga_function_is_constant(function)) gradient[0] = out[1];
    return out[0];
}

bool ga_function_is_curved(const ga_function *function)
{
    if (!function->shape) return ga_expression_uses(function->expression, 0);
    if (function->table) return (ga_spline)function->p[SPLINE] != GA_SPLINE_LINEAR;
    return function->shape->curved;
}

bool ga_function_jumps_with_state(const ga_function *function)
{
    return !function->shape && ga_function_variables(function) > 1 &&
           ga_expression_has_jumps(function->expression);
}

double ga_function_overshoot(const ga_function *function, double *at)
{
    return function->shape && function->table ? ga_table_overshoot(function->table, at) : 0;
}

double ga_function_next_break(const ga_function *function, const ga_span *span, double t)
{
    if (!function->shape)
        return ga_expression_next_switch(function->expression, GA_SWITCHES_BREAKS, span, t);
    return function->shape->next_break ? function->shape->next_break(function, t) : INFINITY;
}

double ga_function_next_bend(const ga_function *function, const ga_span *span, double t)
{
    if (!function->shape)
        return ga_expression_next_switch(function->expression, GA_SWITCHES_CENTRES, span, t);
    return function->shape->next_bend ? function->shape->next_bend(function, t) : INFINITY;
}
