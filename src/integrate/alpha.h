/* The generalized-alpha family as a one-step method: the stepper, and what error control knows
 * of it.
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
 */
#ifndef GA_INTEGRATE_ALPHA_H
#define GA_INTEGRATE_ALPHA_H

#include "integrate/onestep.h"
#include "integrate/stepper.h"

/* Which order the steps have, and what the last ones showed of it; see order.c. */
typedef struct ga_order_choice {
    bool chosen;           /* the order is chosen by estimates; else it is fixed by the mode */
    bool third;            /* the next step is of third order: its error is subtracted */
    bool taken;            /* the error was subtracted from the trial */
    int failures;          /* consecutive steps in which third order did not pay */
    int lasted;            /* steps since the last change of order */
    int pause, next_pause; /* steps before third order is tried again: left, and at first */
    double growth;         /* largest growth factor of a third-order step */
    double error[2];       /* of the trial: of second and of third order */
    double old_error;      /* of the last step, of third order */
    double expected;       /* error of the step before it, scaled to the size of the last */
    double factor, old_factor;     /* C_n of the trial and of the last step */
    double theta[2], old_theta[2]; /* theta*_n, theta_{n+1} */
    double old_h;                  /* size of the last step; 0: there was none */
    double *memory;                /* of the arrays */
    double *q, *v;                 /* defects of the trial */
    double *old_q, *old_v;         /* and of the last step */
    double *change_q, *change_v;
} ga_order_choice;

typedef struct ga_alpha {
    ga_onestep base;
    ga_stepper s;
    bool adaptive;      /* the run that was prepared */
    double *vdd, *vddd; /* at the last start */
    /* with error control */
    ga_order_choice order;
    ga_scales before; /* before the attempt */
    double smoothing; /* positions only: error of the first step by ga_estimate_smooth_start */
} ga_alpha;

extern const ga_onestep_type ga_alpha_type;

/* Brings the view of the solution up to date. */
void ga_alpha_show(ga_alpha *a);

/* alpha_save.c: `archive` of the interface. */
ga_status ga_alpha_archive(ga_onestep *m, ga_archive *a);

static inline ga_stepper *ga_alpha_stepper(ga_onestep *m) { return &((ga_alpha *)m)->s; }
static inline ga_error_mode ga_alpha_mode(const ga_alpha *a)
{
    return a->base.tolerance->def.mode;
}

/* Largest of these errors by the tolerances, as far as they count. */
double ga_alpha_weigh(const ga_alpha *a, const double *error_q, const double *error_v);
/* How far Newton's method goes in steps of second order. */
void ga_alpha_set_newton(ga_alpha *a);

/* estimate.c: the error of the converged trial. */
void ga_estimate(ga_alpha *a, ga_error *e);
/* Index 2: defects of q and v become the errors that the step makes of them. */
void ga_estimate_respond(ga_stepper *s, double *error_q, double *error_v);
/* The same for errors of v alone: J^-1 M e_v, without stiff modes. Those of q are that already.
 */
void ga_estimate_smooth(ga_stepper *s, double *error_v);
/* Positions only: the error of q without stiff modes, by the tolerances. Leaves the factors of
 * another step size behind. */
double ga_estimate_slow(ga_alpha *a, const ga_error *e);
/* Positions only, at a start: v' without the modes that a first step of size h does not
 * resolve. */
ga_status ga_estimate_smooth_start(ga_alpha *a, double h);

/* order.c */
ga_status ga_order_create(ga_alpha *a, ga_error_mode mode);
void ga_order_destroy(ga_order_choice *order);
void ga_order_start(ga_order_choice *order);
/* Before a trial. */
void ga_order_prepare(ga_alpha *a, double h);
/* Defects of the trial, which have not become errors yet. */
void ga_order_see(ga_alpha *a, const ga_error *e);
/* After its estimate: e->local becomes what the error is by the order of the step. */
void ga_order_judge(ga_alpha *a, ga_error *e);
/* Is the error of the trial to be taken away? */
bool ga_order_is_third(const ga_order_choice *order);
/* After a trial whose error is too large; after a step. */
void ga_order_reject(ga_alpha *a);
void ga_order_accept(ga_alpha *a);
/* After a trial that did not come back to the constraints: by what to shorten it if the second
 * order is to have this error. */
double ga_order_give_up(ga_order_choice *order, double aim);
/* By what the next step should be larger; chooses its order. */
double ga_order_wish(ga_alpha *a, double aim, double allowed);

#endif
