/* Error control: the estimate of the local error and the choice of the step size.
 *
 * Local error, exact minus computed solution, of one step with [JN08] eq. (14a); D =
 * Delta_alpha:
 *
 *     e_q = h^3 ( k_q v'' + [v, v']/12 ) (+ h^3 c(v) for the Cayley map),
 *           k_q = (1 - 6 beta - 3 D)/6
 *     e_v = C h^3 v'''
 *
 * C depends on the history of step sizes through the distance th of a_n from
 * v' + D h v'' (times v'''): with r = h_n/h_{n-1},
 *
 *     th*_n   = th_n + D (r - 1) ((D - 1/2) h_{n-1}^2 + th_n - th*_{n-1})     after (14a)
 *     th_{n+1} = (D (alpha_m - 1/2) h^2 - alpha_m th*_n)/(1 - alpha_m)
 *     C        = 1/6 - (1 - gamma) th*_n/h^2 - gamma (1/2 + D + th_{n+1}/h^2)
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
    double duration;              /* t_end - t_0 */
    double size_q[2], size_v[2];  /* largest values so far: translation, rotation */
    double *error_q, *error_v;    /* estimate for the last trial */
    double *vdd, *vddd;           /* at the last start */
    double h;                     /* to be tried next */
    double theta, theta_used;     /* th_n of the state, th*_{n-1} the last step used */
    double theta_now, theta_next; /* th*_n and th_{n+1} of the trial */
    double local;                 /* weighted error of the last trial */
    double excess, excess_old; /* error per unit step by what is allowed; of the step before */
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
