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

/* Which order the steps have, and what the last ones showed of it; see order.c. */
typedef struct ga_order {
    bool chosen;           /* by what steps show; else it is second or as the mode says */
    bool third;            /* the next step is to have its error taken away */
    bool taken;            /* that of the trial was */
    int strikes;           /* in a row, against that */
    int lasted;            /* steps since it is so */
    int pause, patience;   /* steps before it is tried again; how many they were at first */
    double growth;         /* largest of such a step */
    double error[2];       /* of the trial: left as it is, and with its error taken away */
    double old_error;      /* of the last step, the latter */
    double expected;       /* that of the one before it, if it had had the size of the last */
    double *memory;        /* of the arrays */
    double *q, *v;         /* defects of the trial */
    double *old_q, *old_v; /* and of the last step */
    double *change_q, *change_v;
    double factor, old_factor;     /* C_n of the trial and of the last step */
    double theta[2], old_theta[2]; /* theta*_n, theta_{n+1} */
    double old_h;                  /* size of the last step; 0: there was none */
} ga_order;

typedef struct ga_controller {
    ga_stepper *s;
    ga_control def;
    double duration;             /* t_end - t_0 */
    double size_q[2], size_v[2]; /* largest values so far: translation, rotation */
    double *error_q, *error_v;   /* estimate for the last trial */
    double *vdd, *vddd;          /* at the last start */
    ga_order order;
    double h;                  /* to be tried next */
    double local;              /* weighted error of the last trial */
    double excess, excess_old; /* error per unit step by what is allowed; of the step before */
    double error;              /* the same, if round-off were not pardoned */
    double share;              /* of the tolerance: what the last trial adds to the error */
    double calmed; /* positions only: error of the first step by ga_controller_calm */
    bool pardoned; /* shorter steps would not lower it */
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

/* Largest of these errors by the tolerances. */
double ga_controller_weigh(const ga_controller *c, const double *error_q,
                           const double *error_v);
/* How far Newton's method goes in steps of second order. */
void ga_controller_set_newton(ga_controller *c);

/* estimate.c: error_q, error_v of the converged trial */
void ga_controller_estimate(ga_controller *c);
/* Index 2: defects of q and v become the errors that the step makes of them. */
void ga_controller_respond(ga_stepper *s, double *error_q, double *error_v);
/* The same for errors of v alone: J^-1 M e_v, without stiff modes. Those of q are that already.
 */
void ga_controller_smooth(ga_stepper *s, double *error_v);

/* Positions only: error_q without stiff modes, by the tolerances. Leaves the factors of another
 * step size behind. */
double ga_controller_slow(ga_controller *c);
/* Positions only, at a start: v' without the modes that a first step of size h does not
 * resolve.
 */
ga_status ga_controller_calm(ga_controller *c, double h);

/* order.c */
ga_status ga_order_create(const ga_controller *c, ga_order *order);
void ga_order_destroy(ga_order *order);
void ga_order_start(ga_order *order);
/* Before a trial. */
void ga_order_prepare(ga_controller *c, double h);
/* Defects of the trial, which have not become errors yet. */
void ga_order_see(ga_controller *c);
/* After its estimate: c->local becomes what the error is by the order of the step. */
void ga_order_judge(ga_controller *c, double h);
/* Is the error of the trial to be taken away? */
bool ga_order_is_third(const ga_order *order);
/* After a trial whose error is too large; after a step. */
void ga_order_reject(ga_controller *c, double h);
void ga_order_accept(ga_controller *c, double h);
/* After a trial that did not come back to the constraints: by what to shorten it if the second
 * order is to have this error. */
double ga_order_give_up(ga_order *order, double aim);
/* By what the next step should be larger; chooses its order. */
double ga_order_wish(ga_controller *c, double aim, double allowed);

#endif
