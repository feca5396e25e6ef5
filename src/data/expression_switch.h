/* Times at which an expression jumps, has a corner or a pole, or a centre. */
#ifndef GA_DATA_EXPRESSION_SWITCH_H
#define GA_DATA_EXPRESSION_SWITCH_H

#include "data/expression.h"

typedef enum ga_switches {
    GA_SWITCHES_BREAKS, /* jumps, corners, poles */
    GA_SWITCHES_CENTRES /* of tanh, exp, powers, ... where a narrow pulse would be */
} ga_switches;

/* Where to look, and how closely: two switches that are nearer than `resolution` may be missed,
 * unless what decides them is affine in time. */
typedef struct ga_span {
    double end, resolution;
} ga_span;

/* The next after t, up to span->end; infinity: none. Variable 0 is time; what depends on
 * others is left out. */
double ga_expression_next_switch(const ga_expression *expression, ga_switches wanted,
                                 const ga_span *span, double t);

#endif
