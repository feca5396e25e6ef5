/* A whole simulation in one call: fixed or adaptive steps, dense output, events, discontinuous
 * forces.
 *
 *     ga_simulation run = ga_simulation_default();
 *     run.t_end = 10;
 *     run.control.relative = 1e-6;
 *     run.output = print;
 *     status = ga_integrator_simulate(integrator, 0, q0, v0, &run, &report);
 *
 * Output and events use third-order interpolation and do not affect the steps: the solution is
 * bit-for-bit the same whatever is output.
 */
#ifndef GALPHA_SIMULATE_H
#define GALPHA_SIMULATE_H

#include <galpha/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- error control ------------------------------------------------------------------------ */

typedef enum ga_error_mode {
    GA_ERROR_FULL, /* positions and velocities, second order */
    /* Positions only, for stiff and flexible models, whose fast modes would otherwise be
     * resolved. Velocities, accelerations and multipliers of such modes are meaningless, and
     * errors of first-order states are not controlled. The error of positions at the end stays
     * within 30 times the tolerance, apart from the amplitude of unresolved oscillations. Needs
     * rho_inf <= 0.6. */
    GA_ERROR_POSITIONS,
    /* Positions and velocities; the estimated error is subtracted after each step: third order,
     * but not unconditionally stable. For non-stiff problems; index 2. */
    GA_ERROR_EXTRAPOLATE,
    /* Positions and velocities; the order (2 or 3) is chosen automatically. In index 2, where
     * the estimated error is a smooth function of time, it is subtracted and the remaining
     * error controlled. The default of model files. */
    GA_ERROR_AUTO
} ga_error_mode;

/* Target for the error of the whole simulation, at t_end:
 *
 *     absolute + relative * (largest value so far)
 *
 * for translations (and all coordinates of R^n nodes), for rotations (largest value: 1 rad),
 * and for their velocities, which count as at least the largest position (or 1 rad) divided by
 * the duration; for each first-order state relative to its own size (system.h). The local error
 * per unit of time is controlled accordingly; GA_ERROR_EXTRAPOLATE controls it per step, so the
 * tolerance then applies to steps, not to the end. */
typedef struct ga_control {
    double relative;                                     /* 0: fixed steps of size `step` */
    double absolute_translation, absolute_rotation;      /* of q */
    double absolute_velocity, absolute_angular_velocity; /* of v */
    ga_error_mode mode;
    double first_step;         /* 0: chosen automatically */
    double min_step, max_step; /* 0: no limit */
    /* Largest step of generalized-alpha where forces or constraints vary with time: it
     * evaluates them at the ends of steps only and would miss narrow pulses. Steps of the
     * explicit method, which has twelve stages, may be 10 times as long, those of radau 2.5
     * times. 0: no limit. */
    double given_step;
    int max_rejections; /* of one step */
} ga_control;

/* --- samples ------------------------------------------------------------------------------ */

/* The solution at one time; the arrays are valid during the call. The last three members
 * describe the last step; they are zero before the first step and for event functions. */
typedef struct ga_sample {
    double t;
    const double *q, *v, *vd, *lambda, *psi;
    double step; /* its size */
    /* Its estimated error divided by what the control allows: at most 1, except for steps
     * across a jump and where the error is round-off. 0 with fixed steps. */
    double error;
    int iterations; /* Newton iterations of the accepted attempt */
} ga_sample;

/* --- events ------------------------------------------------------------------------------- */

typedef enum ga_action {
    GA_ACTION_CONTINUE, /* nothing changed */
    GA_ACTION_RESTART,  /* q, v or the user's parameters changed: restart here */
    GA_ACTION_STOP,     /* end the simulation here */
    GA_ACTION_FAIL      /* no state satisfies the constraints: fail, GA_ERR_INCONSISTENT */
} ga_action;

/* An event occurs where a function g_i of the state crosses zero. Zero at the start is not an
 * event, zero at t_end is. */
typedef struct ga_events {
    int count;
    /* Writes g, count numbers. */
    ga_eval (*function)(void *user, const ga_sample *at, double *g);
    /* True if function needs v', lambda and psi of the acceleration level, which take a linear
     * solve; otherwise those of the scheme are used, interpolated linearly over steps. Null:
     * never. */
    bool (*exact)(void *user);
    /* +1: only where g_i rises, -1: only where it falls; null: both, for all. */
    const int *direction;
    /* Called at the time of an event with all simultaneous events; v', lambda and psi of `at`
     * are those of the acceleration level. It may change q and v, which are passed with the
     * values of `at`, and return GA_ACTION_RESTART; they are then made consistent. Null: events
     * are only output. */
    ga_action (*happen)(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v);
    /* Called wherever the integration starts: initially, after events that returned
     * GA_ACTION_RESTART, after breakpoints and detected jumps. q and v are consistent, v',
     * lambda and psi those of the acceleration level. May change the user's own parameters (for
     * instance, let a joint slip) and return GA_ACTION_RESTART: then the same q and v are made
     * consistent with these, and it is called again, at most 50 times. Signs of event functions
     * are determined afterwards. Can be used without events. */
    ga_action (*settled)(void *user, const ga_sample *at);
    void *user;
    int max_count; /* more events than this in a millionth of the simulated time are an error */
    /* True for functions that must not be negative, such as gaps and contact forces: a negative
     * value is an event, even right after a start or restart; becoming positive is not.
     * `happen` should ensure that they are not negative afterwards. Null: none. */
    const bool *unilateral;
    /* Called where a unilateral function has a minimum g > 0 that is so close to zero that an
     * event was searched for there; curvature: its second derivative, size: its largest value
     * so far. Null: not called. */
    void (*turned)(void *user, int which, double t, double g, double curvature, double size);
} ga_events;

/* --- simulation --------------------------------------------------------------------------- */

typedef enum ga_multipliers {
    GA_MULTIPLIERS_AUTO,   /* hat */
    GA_MULTIPLIERS_SCHEME, /* lambda, psi of the scheme itself, interpolated linearly */
    /* v', lambda, psi from the dynamics and the constraints on acceleration level at (q, v):
     * free of start-up oscillations and of the scheme's local error; in index 3 and with
     * GA_ERROR_EXTRAPOLATE or GA_ERROR_AUTO clearly more accurate, otherwise about as accurate.
     * One more linear solve per sample.
     */
    GA_MULTIPLIERS_HAT
} ga_multipliers;

typedef struct ga_simulation {
    size_t struct_size; /* set by the function that gives defaults */
    double t_end;
    double step; /* if control.relative is 0 */
    ga_control control;
    /* Called at the start, at every output time, at events, after a restart at an event, and at
     * the end. Any result but GA_EVAL_OK stops the simulation, which then returns GA_OK. */
    ga_eval (*output)(void *user, const ga_sample *sample);
    /* Called after every start, at the end of every step, and at events: with v', lambda and
     * psi of the scheme, at no cost. A step that is cut short by an event is reported only at
     * the event. For progress, balances and interruption: any result but GA_EVAL_OK stops the
     * simulation, which outputs this last sample and returns GA_OK. Calls of accepted and
     * output are in the order of time; at the same time accepted comes first. */
    ga_eval (*accepted)(void *user, const ga_sample *sample);
    void *user;          /* of output and accepted */
    double output_every; /* 0: at every step */
    ga_multipliers multipliers;
    ga_events events;
    /* Times, ascending, at which a force jumps or has a kink: steps end there and the
     * integration restarts. Other jumps are detected, at the cost of some rejected steps. */
    int breakpoint_count;
    const double *breakpoints;
    /* Times, ascending, at which adaptive steps end without a restart: for smooth onsets, so
     * that a large step after a long rest does not end just past the onset. */
    int stop_count;
    const double *stops;
    /* Time over which errors add up to the tolerance: local errors are allowed in proportion to
     * h/duration. 0: t_end - t0. Give it if the simulation is a part of a longer one. */
    double duration;
} ga_simulation;

/* relative 1e-6, absolute 1e-8, output at every step. */
GA_API void ga_simulation_fill(ga_simulation *def, size_t size);
static inline ga_simulation ga_simulation_default(void)
{
    ga_simulation def;
    ga_simulation_fill(&def, sizeof def);
    return def;
}

/* Starts at (t0, q0, v0) and runs to t_end. On failure the integrator holds the state after the
 * last accepted step, and everything up to and including that state has been output. If output
 * or accepted stops the simulation inside a step, at an event or an output time, the integrator
 * holds the end of that step. */
GA_API ga_status ga_integrator_simulate(ga_integrator *integrator, double t0, const double *q0,
                                        const double *v0, const ga_simulation *simulation,
                                        ga_report *report);

/* The solution at t within the last step by interpolation, which violates constraints by
 * O(h^4), in index 3 by O(h^3); output of simulations is projected onto them. Any output may be
 * null.
 */
GA_API ga_status ga_integrator_interpolate(ga_integrator *integrator, double t, double *q,
                                           double *v, double *vd, double *lambda, double *psi);
/* v', lambda and psi from the acceleration level at the current (q, v); any may be null. */
GA_API ga_status ga_integrator_hat(ga_integrator *integrator, double *vd, double *lambda,
                                   double *psi, ga_report *report);

/* The jump dv of v (nv numbers) due to an impulse in the generalised direction c (nv numbers)
 * at (t, q, v), subject to the constraints, [M G^T; G 0] (dv, p) = (c, 0). c is dual to v: c^T
 * v is a rate. So an impact with restitution e at a contact with c^T v < 0 is
 *
 *     v += -(1 + e) c^T v / c^T dv * dv
 *
 * and 1 / c^T dv is the effective mass. Does not change the state; may be called from output,
 * accepted and event functions, but not from the callbacks of a system. */
GA_API ga_status ga_integrator_impulse(ga_integrator *integrator, double t, const double *q,
                                       const double *v, const double *direction, double *dv,
                                       ga_report *report);

/* The estimated local error of the last step, exact minus computed solution, as increments of q
 * (on the group) and v, nv numbers each; with GA_ERROR_EXTRAPOLATE, and in third-order steps,
 * it has been subtracted. Zero if not available: outside simulate, with fixed steps, before the
 * first step after a start, after a failure. The pointers are valid until the next simulate. */
GA_API const double *ga_integrator_error_q(const ga_integrator *integrator);
GA_API const double *ga_integrator_error_v(const ga_integrator *integrator);

typedef struct ga_control_statistics {
    long accepted, rejected; /* steps */
    long third_order;        /* accepted steps of third order, with GA_ERROR_AUTO */
    long restarts;           /* at events, breakpoints and detected jumps */
    long events;
    long jumps; /* of forces, found by the control of errors */
    /* Of those accepted, estimated from every tenth: with GA_ERROR_AUTO and GA_ERROR_FULL,
     * steps that GA_ERROR_POSITIONS would make ten times as long. */
    long stiff;
    double step_min, step_max;
    /* Estimated local errors of the accepted steps added up, in units of the tolerance: at most
     * about 1 where it was met. More than 2: round-off keeps the tolerance from being met. 0
     * with fixed steps and with GA_ERROR_EXTRAPOLATE, which subtracts the errors. */
    double error_sum;
} ga_control_statistics;

GA_API ga_control_statistics ga_integrator_control_statistics(const ga_integrator *integrator);

/* Repeats the run with the same steps halved and quartered, and extrapolates: q and v at t_end
 * to third (levels = 2) or fourth order (levels = 3), with the stability of the method, and the
 * error of the plain run. No intermediate output, no events. q, v, error_q, error_v may be
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
