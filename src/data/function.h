/* Functions of time (and state) that drive something.
 *
 *     3, "0.1*sin(2*pi*t)"        number or expression
 *     {table: [[0, 0], [1, 2], ...], spline: linear|cubic|akima, outside: hold|extend|repeat}
 *     {ramp: {start: 0, end: 1, from: 0, to: 1}}      linear between, constant outside
 *     {harmonic: {amplitude: 1, frequency: 2, phase: 0, offset: 0}}     a sine; frequency in
 *                                 Hz, or `omega` in rad/s
 *     {step: {start: 0, end: 1, from: 0, to: 1}}      smooth: twice differentiable
 *
 * ga_function_form_get describes them; the reader goes by the same descriptions. Value, first
 * and second derivative with respect to time are exact; at a break they are those of what
 * follows. Only expressions can have variables besides t, which is variable 0.
 */
#ifndef GA_DATA_FUNCTION_H
#define GA_DATA_FUNCTION_H

#include "data/expression_switch.h"
#include "data/read.h"

typedef enum ga_function_field_kind {
    GA_FUNCTION_NUMBER,
    GA_FUNCTION_POINTS, /* a list of [t, x], t ascending, at least 2 */
    GA_FUNCTION_CHOICE  /* a word */
} ga_function_field_kind;

typedef struct ga_function_field {
    const char *name, *help;
    ga_function_field_kind kind;
    bool required;
    double fallback;            /* of a number */
    const char *const *choices; /* null-terminated, the first is the fallback */
    const char *instead;        /* another field that may stand in for this one; null: none */
} ga_function_field;

enum { GA_FUNCTION_MAX_FIELDS = 5 };

typedef struct ga_function_form {
    const char *name, *help;
    bool nested; /* {name: {fields}}; else the fields stand beside each other, one is `name` */
    ga_function_field fields[GA_FUNCTION_MAX_FIELDS + 1]; /* up to one without a name */
} ga_function_form;

/* The k-th form of a map; null past the last. */
const ga_function_form *ga_function_form_get(int k);

typedef struct ga_function ga_function;

/* Adds an error and returns false if the value is no function; symbols give what names mean
 * besides the document's parameters: variable 0 is always t. May be null. */
bool ga_function_read(ga_reader *reader, const ga_value *value, const ga_symbols *symbols,
                      ga_function **function);
ga_status ga_function_constant(double x, ga_function **function);
void ga_function_destroy(ga_function *function);

bool ga_function_is_constant(const ga_function *function);
/* One more than the largest variable used. */
int ga_function_variables(const ga_function *function);
/* True if variable k occurs. */
bool ga_function_uses(const ga_function *function, int k);

/* x[0] is t; more only for expressions that use more. */
double ga_function_value(const ga_function *function, const double *x);
/* Value, d/dt, d2/dt2 at fixed other variables. */
void ga_function_rates(const ga_function *function, const double *x, double out[3]);
/* The same while the other variables change, too, each with its rate dx[k]; dx[0] is 1. */
void ga_function_rates_along(const ga_function *function, const double *x, const double *dx,
                             double out[3]);
/* Value, and gradient with respect to all variables, t first. */
double ga_function_gradient(const ga_function *function, const double *x, double *gradient);

/* True if it varies with time between its breaks by more than straight lines and steps do: then
 * only a limit to the steps makes sure that all of it is seen. */
bool ga_function_is_curved(const ga_function *function);

/* True if it may jump with variables other than time. */
bool ga_function_jumps_with_state(const ga_function *function);

/* Of a table: how far the curve leaves the range of its values, in units of that range, and
 * where; 0 of other functions. */
double ga_function_overshoot(const ga_function *function, double *at);

/* The next time after t, up to span->end, at which the value or a derivative up to the
 * second jumps, or at which there is a pole; infinity: none. Expressions that use other
 * variables: what depends on time alone. */
double ga_function_next_break(const ga_function *function, const ga_span *span, double t);
/* The same for times at which a step should end so that nothing is missed: where only the third
 * derivative jumps, ends of steps, and where an expression has its centre. */
double ga_function_next_bend(const ga_function *function, const ga_span *span, double t);

#endif
