/* Error control: the choice of step sizes for a one-step method that estimates its errors. */
#ifndef GA_INTEGRATE_CONTROL_H
#define GA_INTEGRATE_CONTROL_H

#include "integrate/onestep.h"

typedef struct ga_controller {
    ga_onestep *m;
    ga_tolerance tolerance;
    ga_error trial;    /* of the last attempt */
    double h;          /* to be tried next */
    double h_old;      /* size of the step before the last one */
    double excess_old; /* of that step */
    double error;  /* of the last attempt by what is allowed, if round-off were not pardoned */
    bool pardoned; /* it is round-off: shorter steps would not lower it */
    long brief;    /* steps so far in brief transients */
    /* A time at which a force seems to jump: end of the step that failed, its change of v' by
     * the tolerance of v, its size. */
    double suspect, suspect_change, suspect_step;
    ga_control_statistics stats;
} ga_controller;

ga_status ga_controller_create(ga_onestep *m, const ga_control *def, ga_controller *c);
void ga_controller_destroy(ga_controller *c); /* a zeroed one is fine */

/* At consistent values: chooses the first step (h_guess > 0: that one) and has the start values
 * for it computed. */
ga_status ga_controller_start(ga_controller *c, double h_guess);
/* An estimate belongs to a step. */
void ga_controller_forget_errors(ga_controller *c);
/* One accepted step, not beyond t_stop. *jumped tells that a force has jumped on the way and
 * the integration should start anew. */
ga_status ga_controller_step(ga_controller *c, double t_stop, bool *jumped, ga_report *report);

#endif
