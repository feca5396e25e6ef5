/* Events: zeros of user functions, located on the dense output. */
#ifndef GA_INTEGRATE_EVENT_H
#define GA_INTEGRATE_EVENT_H

#include "integrate/stepper.h"

#include <galpha/simulate.h>

typedef struct ga_watch {
    ga_stepper *s;
    ga_events def;
    double duration;
    double *g[4];  /* at the ends of the interval looked at, and inside */
    int *side;     /* sign of each function where the search stands; 0: not known yet */
    int *which;    /* events that happen at once */
    int count;     /* so many */
    double *times; /* of the last max_count events, in a ring */
    long happened;
    double *q, *v, *vd, *multipliers; /* of a sample */
} ga_watch;

ga_status ga_watch_create(ga_stepper *s, const ga_events *def, ga_watch *w);
void ga_watch_destroy(ga_watch *w); /* a zeroed one is fine */

/* At a start: on which side everything is. */
ga_status ga_watch_start(ga_watch *w, double duration, ga_report *report);
/* The first event in (from, now]. *found tells; then *t is its time, and count and which are
 * set. GA_ERR_EVENTS: too many. */
ga_status ga_watch_next(ga_watch *w, double from, bool *found, double *t, ga_report *report);
/* After an event that made the integration start anew: functions still at zero count as on the
 * side they came from, so that whatever goes through again is seen again. */
ga_status ga_watch_restart(ga_watch *w, ga_report *report);

#endif
