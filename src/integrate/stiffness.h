/* How stiff the motion is at the solution of a method. */
#ifndef GA_INTEGRATE_STIFFNESS_H
#define GA_INTEGRATE_STIFFNESS_H

#include "integrate/onestep.h"

/* Largest frequency, rad/s, and rate of damping or gyroscopic turning, 1/s; 0: not found. */
typedef struct ga_stiffness {
    double omega, rho;
} ga_stiffness;

/* Workspace. */
typedef struct ga_probe {
    double *q, *v, *vd, *base, *d, *multipliers;
} ga_probe;

ga_status ga_probe_create(const ga_dae *dae, ga_probe *p);
void ga_probe_destroy(ga_probe *p); /* a zeroed one is fine */
/* With error control, whose sizes are known. */
ga_stiffness ga_stiffness_measure(ga_onestep *m, ga_probe *p);

#endif
