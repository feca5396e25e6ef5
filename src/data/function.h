/* Functions of time (and state) that drive something.
 *
 *     3, "0.1*sin(2*pi*t)"                                       number or expression
 *     {table: [[0, 0], [1, 2], ...], spline: linear|cubic|akima, outside: hold|extend|repeat}
 *     {ramp: {start: 0, end: 1, from: 0, to: 1}}                 linear between, constant
 * outside {harmonic: {amplitude: 1, frequency: 2, phase: 0, offset: 0}}   frequency in Hz, or
 *                                                                `omega` in rad/s
 *     {step: {start: 0, end: 1, from: 0, to: 1}}                 smooth: twice differentiable
 *
 * Value, first and second derivative with respect to time are exact. Only expressions can have
 * variables besides t, which is variable 0.
 */
#ifndef GA_DATA_FUNCTION_H
#define GA_DATA_FUNCTION_H

#include "data/read.h"

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

/* x[0] is t; more only for expressions that use more. */
double ga_function_value(const ga_function *function, const double *x);
/* Value, d/dt, d2/dt2 at fixed other variables. */
void ga_function_rates(const ga_function *function, const double *x, double out[3]);
/* Value, and gradient with respect to all variables, t first. */
double ga_function_gradient(const ga_function *function, const double *x, double *gradient);

/* The next time after t at which a derivative up to the second jumps; infinity: none. Known
 * for tables, ramps, steps; an expression's are not known. */
double ga_function_next_break(const ga_function *function, double t);

#endif
