/* Events: zeros of user functions, located on the dense output. */
#ifndef GA_INTEGRATE_EVENT_H
#define GA_INTEGRATE_EVENT_H

#include "integrate/onestep.h"

typedef struct ga_watch {
    ga_onestep *m;
    ga_events def;
    double t_end, duration;
    double *g[4];  /* at the ends of the interval looked at, and inside */
    double *end;   /* when each function arrives on the other side in that interval */
    double *slope; /* of each function there, on average */
    double *size;  /* largest value of each function met so far */
    double *before, t_before; /* values one interval earlier; NaN: there is none */
    int *side;     /* sign of each function where the search stands; 0: not known yet */
    int *which;    /* events that happen at once */
    int count;     /* so many */
    double *times; /* of the last max_count events, in a ring */
    long happened;
    double *q, *v, *vd, *multipliers; /* of a sample */
    double *path;                     /* nv */
    /* at an event: the state the user was given, and by how much he has changed functions */
    double *q_given, *v_given;
    bool touched;
    double *shift;
} ga_watch;

ga_status ga_watch_create(ga_onestep *m, const ga_events *def, ga_watch *w);
void ga_watch_destroy(ga_watch *w); /* a zeroed one is fine */

/* At a start: on which side everything is. */
ga_status ga_watch_start(ga_watch *w, double t_end, ga_report *report);
/* The first event in (from, now]. *found tells; then *t is its time, and count and which are
 * set. GA_ERR_EVENTS: too many. */
ga_status ga_watch_next(ga_watch *w, double from, bool *found, double *t, ga_report *report);

/* The step that was searched is undone; found: with an event that has not happened. Functions
 * that are not unilateral must not have changed sides in it. */
void ga_watch_forget(ga_watch *w, bool found);

/* At an event that makes the integration start anew, three calls: with what the user is given,
 * which leaves a sample of it in q_given, v_given, vd, multipliers; when the integration has
 * started, with what he has left; and to find out where everything goes from there. */
ga_status ga_watch_before(ga_watch *w, double t, const double *q, const double *v,
                          ga_report *report);
ga_status ga_watch_after(ga_watch *w, double t, const double *q, const double *v,
                         ga_report *report);
ga_status ga_watch_restart(ga_watch *w, ga_report *report);

#endif
