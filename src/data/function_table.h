/* Tables: a function through given points. Value and two derivatives in O(log n), without
 * state. */
#ifndef GA_DATA_FUNCTION_TABLE_H
#define GA_DATA_FUNCTION_TABLE_H

#include <galpha/status.h>

typedef enum ga_spline { GA_SPLINE_LINEAR, GA_SPLINE_CUBIC, GA_SPLINE_AKIMA } ga_spline;
typedef enum ga_outside { GA_OUTSIDE_HOLD, GA_OUTSIDE_EXTEND, GA_OUTSIDE_REPEAT } ga_outside;

typedef struct ga_table ga_table;

/* At least 2 points, t strictly ascending. GA_ERR_INPUT: too steep for finite numbers. */
ga_status ga_table_create(int count, const double *t, const double *x, ga_spline spline,
                          ga_outside outside, ga_table **table);
void ga_table_destroy(ga_table *table);

/* At a break, of the piece that follows. */
void ga_table_rates(const ga_table *table, double t, double out[3]);
double ga_table_next_break(const ga_table *table, double t);
/* How far the curve leaves the range of the values between two points, in units of that range,
 * and where it is farthest. */
double ga_table_overshoot(const ga_table *table, double *at);

#endif
