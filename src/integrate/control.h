/* Error control: the estimate of the local error and the choice of the step size.
 *
 * Local error, exact minus computed solution, of one step: the integrals of v and v' over it by
 * Simpson-like rules from v'_n, v'_{n+1} and the curvature dd of v', minus what the step made
 * of a_n (after [JN08] eq. (14a)) and a_{n+1}:
 *
 *     e_q = h^2 (v'_n/3 + v'_{n+1}/6 - (1/2 - beta) a_n - beta a_{n+1}) + h^3/12 [v, v']
 *           (+ h^3 c(v) for the Cayley map)
 *     e_v = h ((v'_n + v'_{n+1})/2 - (1 - gamma) a_n - gamma a_{n+1}) - h^3/6 dd
 *
 * For constant steps the leading terms are h^3 (1 - 6 beta - 3 D)/6 v'' + h^3/12 [v, v'] and
 * -h^3 (1/12 + D^2/2) v''', D = Delta_alpha.
 *
 * Under constraints the step annihilates the normal part of a defect, so the raw estimate is
 * replaced by the response of the step to it: one back-substitution with the Newton matrix,
 * which also filters stiff modes.
 *
 * The controller aims at a local error per unit of time of tolerance/(t_end - t_0), so that the
 * error at the end follows the tolerance.
 */
#ifndef GA_INTEGRATE_CONTROL_H
#define GA_INTEGRATE_CONTROL_H

#include "integrate/stepper.h"

#include <galpha/simulate.h>

typedef struct ga_controller {
    ga_stepper *s;
    ga_control def;
    double duration;             /* t_end - t_0 */
    double size_q[2], size_v[2]; /* largest values so far: translation, rotation */
    double *error_q, *error_v;   /* estimate for the last trial */
    double *vdd, *vddd;          /* at the last start */
    double h;                    /* to be tried next */
    double local;                /* weighted error of the last trial */
    double excess, excess_old; /* error per unit step by what is allowed; of the step before */
    /* a time at which a force seems to jump: end of the step that failed, its change of v' by
     * the tolerance of v, its size */
    double suspect, suspect_change, suspect_step;
    /* distances to a singular position, as roots of the smallest eigenvalue, at the ends of the
     * last two steps, and when that was */
    double root[2], root_time[2];
    ga_control_statistics stats;
} ga_controller;

ga_status ga_controller_create(ga_stepper *s, const ga_control *def, ga_controller *c);
void ga_controller_destroy(ga_controller *c); /* a zeroed one is fine */

/* After ga_start_consistent: chooses the first step (h_guess > 0: that one) and the start
 * values for it. */
ga_status ga_controller_start(ga_controller *c, double h_guess);
/* One accepted step, not beyond t_stop. *jumped tells that a force has jumped on the way and
 * the integration should start anew. */
ga_status ga_controller_step(ga_controller *c, double t_stop, bool *jumped, ga_report *report);

/* estimate.c: error_q, error_v of the converged trial */
void ga_controller_estimate(ga_controller *c);

#endif
