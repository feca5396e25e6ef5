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
    double limit;                     /* no step goes beyond; infinite: none */
    double horizon;                   /* nothing later is told yet; infinite: all is */
    bool waits;                       /* something of the last step is still to be told: */
    double told;                      /* what happened in it up to here has been */
    bool found;                       /* an event is next, */
    double event;                     /* at this time */
    double again;                     /* behind it all is begun anew, here; NaN: not */
    bool ended;                       /* at t_end, by the user, or by a failure */
    bool stopped;                     /* by the user */
    bool changed;                     /* the last step ended in a restart */
    ga_taken taken;                   /* the last step */
    double *q, *v, *vd, *multipliers; /* of a sample */
} ga_run;

/* The definition has been checked. */
ga_status ga_run_create(ga_onestep *m, const ga_simulation *def, ga_run *run);
void ga_run_destroy(ga_run *run); /* a zeroed one is fine */
/* The same step by step. Begin tells the start; a step tells what happens in it, and the last
 * one the end. After a failure, and when it is over, nothing more can follow. */
ga_status ga_run_begin(ga_run *run, ga_report *report);
ga_status ga_run_step(ga_run *run, ga_report *report);
bool ga_run_over(const ga_run *run);
/* Steps end just before this time, without starting anew, until it is another. */
void ga_run_limit(ga_run *run, double t);
/* Nothing later than this time is told: outputs and events wait, and the next call of
 * ga_run_step tells what is left of the last step instead of taking one. The steps are the
 * same. */
void ga_run_look_to(ga_run *run, double horizon);
/* Up to here all is told: where the last step ended, or the horizon, if it went beyond. */
double ga_run_reached(const ga_run *run);
/* A step that has gone beyond the horizon is made again, and ends there. */
ga_status ga_run_cut(ga_run *run, ga_report *report);
/* Starts anew at t, where the last step ended up to round-off, because a force jumps there. */
ga_status ga_run_renew(ga_run *run, double t, ga_report *report);
/* The solution at t, within the last step, as output has it; valid until the next call. */
ga_sample ga_run_sample(ga_run *run, double t);
/* To leave it before it is over. */
void ga_run_end(ga_run *run);
/* Lets the user look at a consistent state and change what his system is, until he is content
 * with it. Before t_begin the motion was another. */
ga_status ga_run_settle(ga_onestep *m, const ga_events *events, double t_begin, bool *stopped,
                        ga_report *report);
/* From the consistent state at its time to t_end. On failure the state is that of the last step
 * in which everything went well. */
ga_status ga_run_simulate(ga_run *run, ga_report *report);

#endif
