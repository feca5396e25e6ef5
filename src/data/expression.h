/* Expressions: "2*m*L", "0.1*sin(2*pi*t)", "-k*top.position.z".
 *
 *     + - * / ^ (right-associative, above unary minus), < <= > >= == !=, && || !, a ? b : c,
 *     parentheses, numbers 1 .5 1e-3, a number followed by deg
 *     sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh exp log (natural) log10
 *     log2 sqrt cbrt abs sign min max (two or more) floor ceil round (halves away from 0)
 *     mod(x,y) (sign of y) pow hypot if(c,a,b) step(x) (0 below 0, 1 from 0 on), pi, e
 *
 * Names may carry dots; a name with other characters is written in backquotes, `my body`.x.
 * Compiled once; evaluation allocates nothing and needs no state, so one expression serves many
 * threads. Derivatives are exact: truncated Taylor arithmetic, not difference quotients. At a
 * corner they are those of the piece the value is taken from. Names of the model come before
 * pi and e. A constant factor 0 makes a product 0, whatever the variables are.
 */
#ifndef GA_DATA_EXPRESSION_H
#define GA_DATA_EXPRESSION_H

#include <galpha/status.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum ga_symbol_kind {
    GA_SYMBOL_UNKNOWN,
    GA_SYMBOL_CONSTANT,
    GA_SYMBOL_VARIABLE
} ga_symbol_kind;

typedef struct ga_symbol {
    ga_symbol_kind kind;
    double value; /* of a constant */
    int variable; /* index of a variable */
} ga_symbol;

/* What names mean. The name is not null-terminated; backquotes are gone. */
typedef struct ga_symbols {
    void *user;
    ga_symbol (*find)(void *user, const char *name, size_t length);
    /* The k-th name there is, for suggestions; null past the last. May be null. */
    const char *(*name)(void *user, int k);
    /* Why a name that is unknown here cannot be used, as a clause; null: it does not exist. May
     * be null. */
    const char *(*reason)(void *user, const char *name, size_t length);
} ga_symbols;

typedef struct ga_expression ga_expression;

typedef struct ga_expression_error {
    size_t offset; /* in the text */
    char message[160];
} ga_expression_error;

enum { GA_EXPRESSION_MAX_VARIABLES = 64, GA_EXPRESSION_MAX_LENGTH = 4096 };

/* GA_OK, GA_ERR_MEMORY or GA_ERR_INPUT with the error filled in. */
ga_status ga_expression_compile(const char *text, const ga_symbols *symbols,
                                ga_expression **expression, ga_expression_error *error);
void ga_expression_destroy(ga_expression *expression);

/* True if variable k occurs. A constant expression uses none. */
bool ga_expression_uses(const ga_expression *expression, int k);
bool ga_expression_is_constant(const ga_expression *expression);
/* True if its value is not that of the text with numbers in place of the variables, where these
 * are out of the ordinary: 0*x is 0. */
bool ga_expression_is_simplified(const ga_expression *expression);
/* True if it has a comparison, a condition or a function that jumps, such as sign. */
bool ga_expression_has_jumps(const ga_expression *expression);
/* One more than the largest variable that occurs. */
int ga_expression_variables(const ga_expression *expression);

double ga_expression_value(const ga_expression *expression, const double *x);
/* Value, first and second derivative with respect to variable k, the others fixed. */
void ga_expression_derivatives(const ga_expression *expression, const double *x, int k,
                               double out[3]);
/* The same along a line: while each variable k changes with the rate dx[k]. */
void ga_expression_along(const ga_expression *expression, const double *x, const double *dx,
                         double out[3]);
/* Value, and gradient with respect to all variables (ga_expression_variables numbers). */
double ga_expression_gradient(const ga_expression *expression, const double *x,
                              double *gradient);

/* The k-th function there is, "sin"; null past the last. */
const char *ga_expression_function(int k);

#endif
