/* A whole simulation: steps, output, events, restarts. */
#ifndef GA_INTEGRATE_RUN_H
#define GA_INTEGRATE_RUN_H

#include "integrate/control.h"
#include "integrate/event.h"
#include "integrate/grid.h"

/* A step that was taken, as samples tell it. */
typedef struct ga_taken {
    double step, error;
    int iterations;
} ga_taken;

typedef struct ga_run {
    ga_onestep *m;
    ga_simulation def;
    bool adaptive;
    ga_controller control;
    ga_grid grid; /* fixed steps */
    ga_watch watch;
    double t_begin; /* before it the motion was another */
    double t0, next_output;
    long outputs;                     /* regular ones so far */
    double last_output;               /* its time */
    double last_event;                /* that made the integration start anew; or the start */
    double pause;                     /* a fixed step ends here, where events follow closely */
    bool stopped;                     /* by the user */
    bool changed;                     /* the last step ended in a restart */
    ga_taken taken;                   /* the last step */
    double *q, *v, *vd, *multipliers; /* of a sample */
    /* the step sizes, if they are to be recorded */
    bool record;
    double *steps;
    long step_count, step_room;
} ga_run;

/* The definition has been checked. */
ga_status ga_run_create(ga_onestep *m, const ga_simulation *def, ga_run *run);
void ga_run_destroy(ga_run *run); /* a zeroed one is fine */
/* From the consistent state at its time to t_end. On failure the state is that of the last step
 * in which everything went well. */
ga_status ga_run_simulate(ga_run *run, ga_report *report);
/* The recorded steps again, each in `parts` pieces, from the consistent state at its time. */
ga_status ga_run_repeat(ga_run *run, int parts, ga_report *report);

#endif
