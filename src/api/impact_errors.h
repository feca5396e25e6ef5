/* By how much impacts at a stop multiply errors. */
#ifndef GA_API_IMPACT_ERRORS_H
#define GA_API_IMPACT_ERRORS_H

#include <stdbool.h>

/* Covariance of the errors of a gap and of its rate, in units of the tolerance and of the
 * duration of the run. */
typedef struct ga_impact_errors {
    double t;          /* up to here */
    double xx, xr, rr; /* of gap and gap, gap and rate, rate and rate */
    double most;       /* largest error of the gap so far */
    double when;       /* that was */
    int impacts;       /* that were followed by a rebound */
    double graze;    /* smallest gap at which the motion turned back, or would have turned back
                      * beyond the stop, which is negative; infinite: none */
    double graze_at; /* when that was */
    bool angular;    /* the gap is one of angles */
} ga_impact_errors;

void ga_impact_errors_begin(ga_impact_errors *e, double t);
/* Without contact until t. */
void ga_impact_errors_fly(ga_impact_errors *e, double t, double duration);
/* At a rate < 0, with the acceleration of the gap; restitution 0: comes to rest. */
void ga_impact_errors_strike(ga_impact_errors *e, double rate, double acceleration,
                             double restitution, double duration);

#endif
