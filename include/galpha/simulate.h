/* A whole simulation in one call: steps of fixed size or chosen by the error, dense output,
 * events, forces that jump.
 *
 *     ga_simulation run = ga_simulation_default();
 *     run.t_end = 10;
 *     run.control.relative = 1e-6;
 *     run.output = print;
 *     status = ga_integrator_simulate(integrator, 0, q0, v0, &run, &report);
 *
 * Output and events use an interpolation of third order, so they do not disturb the steps: the
 * solution has the same bits whatever is asked for on the way.
 */
#ifndef GALPHA_SIMULATE_H
#define GALPHA_SIMULATE_H

#include <galpha/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- error control ------------------------------------------------------------------------ */

typedef enum ga_error_mode {
    GA_ERROR_FULL, /* positions and velocities, by steps of second order */
    /* Positions only, for stiff and flexible models, whose fast modes would otherwise be
     * resolved for ever. Velocities, accelerations and multipliers of such modes then mean
     * nothing. The error of positions at the end stays within 30 times the tolerance, without
     * the amplitude of oscillations that are not resolved. Wants rho_inf <= 0.6. */
    GA_ERROR_POSITIONS,
    /* Positions and velocities, and the estimated error is taken away after each step: third
     * order, but no longer unconditionally stable. For problems that are not stiff; index 2. */
    GA_ERROR_EXTRAPOLATE,
    /* Positions and velocities, as GA_ERROR_FULL; but in index 2, where the estimated error is
     * seen to be a smooth function of time, it is taken away and the step controlled by what is
     * left: second or third order, whichever allows larger steps. The choice of model files. */
    GA_ERROR_AUTO
} ga_error_mode;

/* The error of the whole simulation, at t_end, is to stay near
 *
 *     absolute + relative * (largest value so far)
 *
 * for translations (and all coordinates of R^n nodes), for rotations (largest value: 1 rad),
 * and for their velocities. To this end the local error per unit of time is controlled;
 * GA_ERROR_EXTRAPOLATE controls it per step, so there the tolerance is one of steps, not of the
 * end. */
typedef struct ga_control {
    double relative;                                     /* 0: steps of fixed size `step` */
    double absolute_translation, absolute_rotation;      /* of q */
    double absolute_velocity, absolute_angular_velocity; /* of v */
    ga_error_mode mode;
    double first_step;         /* 0: chosen */
    double min_step, max_step; /* 0: none */
    int max_rejections;        /* of one step, in a row */
} ga_control;

/* --- samples ------------------------------------------------------------------------------ */

/* The solution at one time; the arrays are borrowed for the call. The last three are of the
 * last step taken: zero before the first, and for event functions. */
typedef struct ga_sample {
    double t;
    const double *q, *v, *vd, *lambda, *psi;
    double step; /* its size */
    /* Its estimated error by what the control allows: at most 1, but for steps across a jump
     * and where the error is round-off. 0 with steps of fixed size. */
    double error;
    int iterations; /* Newton iterations of the attempt that was accepted */
} ga_sample;

/* --- events ------------------------------------------------------------------------------- */

typedef enum ga_action {
    GA_ACTION_CONTINUE, /* nothing changed */
    GA_ACTION_RESTART,  /* q, v or the user's parameters changed: start anew from here */
    GA_ACTION_STOP      /* end the simulation here */
} ga_action;

/* Where a function g_i of the state passes zero, something happens. Zero at the start is no
 * event, zero at t_end is one. */
typedef struct ga_events {
    int count;
    /* Writes g, count numbers. */
    ga_eval (*function)(void *user, const ga_sample *at, double *g);
    /* True while function needs v', lambda and psi of the acceleration level, which take a
     * solve: those of the scheme are interpolated linearly over steps, which may be large.
     * Null: never. */
    bool (*exact)(void *user);
    /* +1: only where g_i rises, -1: only where it falls; null: both, for all. */
    const int *direction;
    /* Called at the time of an event with all that happen at once; v', lambda and psi of `at`
     * are those of the acceleration level. May change q and v, which begin as those of `at`,
     * and answer GA_ACTION_RESTART; what it leaves is made consistent. Null: events are only
     * output. */
    ga_action (*happen)(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v);
    /* Called wherever the integration starts: at first, after events that answered
     * GA_ACTION_RESTART, behind breakpoints and jumps that were found. q and v are consistent,
     * v', lambda and psi those of the acceleration level. May change the user's own parameters
     * (a joint that cannot stick with this psi slips) and answer GA_ACTION_RESTART: then the
     * same q and v are made consistent with these, and it is called again, at most 50 times.
     * On which side event functions are is looked up when it is content. Needs no events. */
    ga_action (*settled)(void *user, const ga_sample *at);
    void *user;
    int max_count; /* more than so many events in a millionth of the time are an error */
    /* True for functions that may not be negative, such as gaps and contact forces: one that is
     * found to be is an event, also right behind a start or restart, where others have no side
     * or another one; becoming positive is none. `happen` should see to it that they are not
     * negative afterwards. Null: none is of this kind. */
    const bool *unilateral;
} ga_events;

/* --- simulation --------------------------------------------------------------------------- */

typedef enum ga_multipliers {
    GA_MULTIPLIERS_AUTO,   /* hat */
    GA_MULTIPLIERS_SCHEME, /* lambda, psi as the scheme computes them, interpolated linearly */
    /* v', lambda, psi from the dynamics and the constraints on acceleration level at (q, v):
     * free of start-up oscillations and of the scheme's local error; in index 3 and with
     * GA_ERROR_EXTRAPOLATE or GA_ERROR_AUTO clearly more accurate, else about as good. One more
     * solve a sample.
     */
    GA_MULTIPLIERS_HAT
} ga_multipliers;

typedef struct ga_simulation {
    double t_end;
    double step; /* where control.relative is 0 */
    ga_control control;
    /* Called at the start, at every output time, at events, behind those that made the
     * integration start anew, and at the end. Anything but GA_EVAL_OK stops the simulation,
     * which then returns GA_OK. */
    ga_eval (*output)(void *user, const ga_sample *sample);
    /* Called after every start, at the end of every step, and at events: with v', lambda and
     * psi of the scheme, at no cost. Of a step that an event cuts short only the event is seen.
     * For progress, balances, and as the place to look whether someone wants to interrupt:
     * anything but GA_EVAL_OK stops the simulation, which outputs this last sample and returns
     * GA_OK. The calls of accepted and output come in the order of time; at the same time
     * accepted is first. */
    ga_eval (*accepted)(void *user, const ga_sample *sample);
    void *user;          /* of output and accepted */
    double output_every; /* 0: at every step */
    ga_multipliers multipliers;
    ga_events events;
    /* Times, ascending, where a force jumps or has a kink: steps end there, and start anew.
     * Jumps that are not announced are found, at the cost of some rejected steps. */
    int breakpoint_count;
    const double *breakpoints;
    /* Times, ascending, where steps chosen by the error end, and go on: where something sets in
     * smoothly, so that no step comes from a long rest and ends just behind it. */
    int stop_count;
    const double *stops;
} ga_simulation;

/* relative 1e-6, absolute 1e-8, output at every step. */
GA_API ga_simulation ga_simulation_default(void);

/* Starts at (t0, q0, v0) and runs to t_end. On failure the integrator holds the state after the
 * last good step, and everything up to it has been output: that state itself, too, whether it
 * was its turn or not. Stopped by output or accepted inside a step, at an event or an output
 * time, the integrator holds the end of that step. */
GA_API ga_status ga_integrator_simulate(ga_integrator *integrator, double t0, const double *q0,
                                        const double *v0, const ga_simulation *simulation,
                                        ga_report *report);

/* The solution at t within the last step; any output may be null. */
GA_API ga_status ga_integrator_interpolate(ga_integrator *integrator, double t, double *q,
                                           double *v, double *vd, double *lambda, double *psi);
/* v', lambda and psi from the acceleration level at the current (q, v); any may be null. */
GA_API ga_status ga_integrator_hat(ga_integrator *integrator, double *vd, double *lambda,
                                   double *psi, ga_report *report);

/* The jump of v (nv numbers, dv) that an impulse with the generalised direction c (nv numbers)
 * makes at (t, q, v), the constraints being kept, [M G^T; G 0] (dv, p) = (c, 0). c is to v as a
 * force is: c^T v a rate. So an impact with restitution e at a contact with c^T v < 0 is
 *
 *     v += -(1 + e) c^T v / c^T dv * dv
 *
 * and 1 / c^T dv the mass that is felt there. Leaves the state alone; may be called from
 * output, accepted and what events call, not from the callbacks of a system. */
GA_API ga_status ga_integrator_impulse(ga_integrator *integrator, double t, const double *q,
                                       const double *v, const double *direction, double *dv,
                                       ga_report *report);

/* The estimated local error of the last step: what exact minus computed solution gained in it,
 * as increments of q (on the group) and v, nv numbers each; with GA_ERROR_EXTRAPOLATE, and in
 * steps of third order, it has been taken away. Zeros where there is none: outside
 * simulate, with steps of fixed size, before the first step after a start, after a failure. The
 * pointers are valid until the next simulate. */
GA_API const double *ga_integrator_error_q(const ga_integrator *integrator);
GA_API const double *ga_integrator_error_v(const ga_integrator *integrator);

typedef struct ga_control_statistics {
    long accepted, rejected; /* steps */
    long third_order;        /* of those accepted: with GA_ERROR_AUTO, those extrapolated */
    long restarts;           /* at events, breakpoints and jumps that were found */
    long events;
    long jumps; /* of forces, found by the control of errors */
    /* Of those accepted, estimated from every tenth: with GA_ERROR_AUTO and GA_ERROR_FULL,
     * steps that GA_ERROR_POSITIONS would make ten times as long. */
    long stiff;
    double step_min, step_max;
    /* Estimated local errors of the accepted steps added up, in units of the tolerance: at most
     * about 1 where it was met. More than 2: round-off keeps the tolerance from being met. 0
     * with steps of fixed size and GA_ERROR_EXTRAPOLATE, which takes the errors away. */
    double error_sum;
} ga_control_statistics;

GA_API ga_control_statistics ga_integrator_control_statistics(const ga_integrator *integrator);

/* Runs on the same steps again, halved and quartered, and extrapolates: at t_end q and v of
 * third (levels = 2) or fourth order (levels = 3), with the stability of the method, and the
 * error of the plain run. Outputs nothing on the way; no events. q, v, error_q, error_v may be
 * null. */
GA_API ga_status ga_integrator_richardson(ga_integrator *integrator, double t0,
                                          const double *q0, const double *v0,
                                          const ga_simulation *simulation, int levels,
                                          double *q, double *v, double *error_q,
                                          double *error_v, ga_report *report);

#ifdef __cplusplus
}
#endif
#endif
