/* Dormand and Prince's method of order 8 on the acceleration level, as a one-step method. */
#ifndef GA_INTEGRATE_EXPLICIT_H
#define GA_INTEGRATE_EXPLICIT_H

#include "integrate/onestep.h"
#include "integrate/stepper.h"

extern const ga_onestep_type ga_explicit_type;

/* The equations, starts and projections it uses. */
ga_stepper *ga_explicit_stepper(ga_onestep *m);

#endif
