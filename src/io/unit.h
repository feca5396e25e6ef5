/* Units of computed quantities: what m/s times s is. */
#ifndef GA_IO_UNIT_H
#define GA_IO_UNIT_H

#include <stdbool.h>
#include <stddef.h>

struct ga_expression;

enum { GA_UNIT_BASES = 4, GA_UNIT_SIZE = 48 };

/* A product of powers of kg, m, s and rad. */
typedef struct ga_unit {
    bool known;
    double power[GA_UNIT_BASES];
} ga_unit;

/* "m/s^2", "N m", "kg m^2"; "" is a plain number. Other texts are not known. */
ga_unit ga_unit_read(const char *text);
/* The usual name of it; "" if it is not known, or a plain number. */
const char *ga_unit_write(ga_unit unit, char text[GA_UNIT_SIZE]);
bool ga_unit_equal(ga_unit a, ga_unit b);
/* Of an expression, by the units of its variables. */
ga_unit ga_unit_of(const struct ga_expression *expression, const ga_unit *variables);

#endif
