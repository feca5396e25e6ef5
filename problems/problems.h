/* Published and constructed test problems as clients of <galpha/system.h>, with every
 * derivative given analytically.
 *
 *     pb_problem *top = NULL;
 *     if (pb_heavy_top_create(GA_GROUP_R3SO3, &top)) ...
 *     ga_integrator_create(&top->system, &def, &run, &report);
 *     ga_integrator_start(run, top->t0, top->q0, top->v0, h, &report);
 *     pb_destroy(top);
 *
 * A problem is constant once created; the callbacks keep no state, so one problem serves many
 * integrators and threads. Constructors return GA_ERR_MEMORY or GA_ERR_ARGUMENT (a parameter
 * outside the range its comment names) and then set *out to null.
 */
#ifndef PROBLEMS_PROBLEMS_H
#define PROBLEMS_PROBLEMS_H

#include <galpha/system.h>

/* A known state. Unknown parts are null. */
typedef struct pb_reference {
    double t;
    double accuracy; /* of every component x, relative to max(1, |x|) */
    const double *q, *v, *vd, *lambda, *psi;
} pb_reference;

typedef struct pb_problem pb_problem;

struct pb_problem {
    const char *name;
    ga_system system;
    double t0, t_end;
    const double *q0, *v0; /* consistent to round-off */
    /* The solution at t; any output may be null. Null where no closed form is known. */
    void (*exact)(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda);
    /* psi at t; goes with exact where there are nonholonomic constraints. */
    void (*exact_psi)(const pb_problem *problem, double t, double *psi);
    const pb_reference *references; /* in the order of t */
    int reference_count;
    /* For ga_integrator_guess, where forces depend on the multipliers; else null. */
    const double *lambda_guess, *psi_guess;
    void *data; /* the problem's own */
};

void pb_destroy(pb_problem *problem); /* null is fine */

/* Mathematical pendulum, [ABC14] example 1, in R^2: Phi = (x^2 + y^2 - 1)/2, m = 1, g = 9.81,
 * energy 1/2 - g, starting at x0 in the lower half with x' >= 0. |x0| up to the turning point
 * sqrt(1 - (1 - 1/(2 g))^2) = 0.3152. Exact solution by elliptic functions. */
ga_status pb_pendulum_create(double x0, pb_problem **out);

/* Heavy top, [ABC14] eq. (62): Phi = -x + R X. group is GA_GROUP_R3SO3, v = (x', Omega), or
 * GA_GROUP_SE3, v = (R^T x', Omega). Multipliers are forces in the world for both. */
ga_status pb_heavy_top_create(ga_group group, pb_problem **out);

/* Slider-crank with spring and mass, [AB07] section 5.1: x1 y1 theta1 x2 y2 theta2 x3 x4 x5 y5
 * in R^10, 8 constraints, singular mass matrix. */
ga_status pb_slider_crank_create(pb_problem **out);

/* Andrews' squeezing mechanism, [AB07] section 5.2. Relative: beta Theta gamma Phi delta Omega
 * epsilon in R^7, 6 constraints. Absolute: seven angles, centres of mass C1 to C7, joints F E G
 * H and the spring's point D in R^31, 30 constraints, singular mass matrix. */
ga_status pb_andrews_relative_create(pb_problem **out);
ga_status pb_andrews_absolute_create(pb_problem **out);
/* The seven relative angles of an absolute configuration, or velocities of velocities. */
void pb_andrews_angles(const double *absolute, double *relative);

/* Pendulum with torsion spring and damper, [JN08] eq. (16): x, y, theta in R^3, Phi = tip of
 * the rod, start at theta = 3 pi/2 with theta' = 10. */
typedef struct pb_pendulum_model_def {
    double m, L; /* > 0 */
    double c, k, g;
} pb_pendulum_model_def;

pb_pendulum_model_def pb_pendulum_model_default(void); /* 5, 2, 100, 3000, 9.81 */
/* A null def means the default; references exist for that one only. */
ga_status pb_pendulum_model_create(const pb_pendulum_model_def *def, pb_problem **out);

/* Point on a circle whose centre moves and whose radius changes: Phi(q,t), M(q,t), f(q,v,t)
 * nonlinear in everything; the exact solution is prescribed and a force makes it one. */
ga_status pb_rheonomic_create(pb_problem **out);

/* Body on R3xSO(3), hung by an arm of changing length from a moving point, and with one body
 * axis at a prescribed angle to a turning direction: 4 rheonomic constraints, M(q,t), exact
 * solution prescribed. */
ga_status pb_rheonomic_body_create(pb_problem **out);

/* Two unit masses on springs k, joined by a spring kc, with dampers 2 d, unconstrained in R^2:
 * eigenvalues of the stiffness k and k + 2 kc. k > d^2, kc >= 0, d >= 0. */
ga_status pb_oscillator_create(double k, double kc, double d, pb_problem **out);

/* Free symmetric top on SO(3), unconstrained: J = diag(A, A, C), regular precession. */
ga_status pb_free_top_create(pb_problem **out);

/* Chain of n >= 1 uniform rods (m = 1, length 1) in the plane, hung at the origin, released
 * horizontally at rest; g = 9.81 along -y. Nodes GA_GROUP_R2SO2 at the centres of mass, 2 n
 * constraints, sparse patterns. */
ga_status pb_chain_create(int n, pb_problem **out);

/* [JN08] eq. (15): y1, y2 in R^2, forces nonlinear in lambda and psi (GA_REACTIONS_IN_FORCE),
 * Phi = y1^2 y2 - 1, k = y1 z1 z2 + 2, M(q,t) not symmetric. Exact solution. */
ga_status pb_jn08_test_create(pb_problem **out);

/* Slider-crank of [JN08] section 8.3, with the numbers of reference.json, E: x, y, theta of
 * crank, rod and slider in R^9, 8 constraints, gravity along -y. Rows 0, 1: crank on ground; 2,
 * 3: pin between crank and rod; 4, 5: pin between rod and slider; 6, 7: y and theta of the
 * slider. */
ga_status pb_planar_slider_crank_create(pb_problem **out);

/* Disc on R3xSO(3), v = (x', Omega), that rolls without slip on z = 0: m = 15, radius 1, axis z
 * of the body, g = 9.81 along -z, Omega(0) = (0, 15, 5). Phi: height of the lowest point; k:
 * its velocity along x and y. tilt: angle from the vertical at the start, |tilt| < pi/2;
 * references for tilt 0 only. lambda and psi are minus the contact force. */
ga_status pb_rolling_disc_create(double tilt, pb_problem **out);
double pb_rolling_disc_energy(const double *q, const double *v); /* constant */

/* Chaplygin's sleigh: body in the plane with a knife edge behind its centre of mass, where it
 * may not move sideways. It comes in backwards, turns round and glides away. group is
 * GA_GROUP_R2SO2 or GA_GROUP_SE2; k depends on q in the first only. No holonomic constraint.
 * Exact solution for J = 3 m a^2. */
ga_status pb_sleigh_create(ga_group group, pb_problem **out);

/* Mass on a spring, riding on a moving belt with bumps, y = height sin(wave_number x), and
 * pressed down by m g + press + press_swing cos(press_frequency t). Coulomb friction with
 * Stribeck's effect, proportional to |lambda|: w is the velocity along the belt relative to it,
 *
 *     mu(w) = tanh(w/width) (mu_kinetic + (mu_static - mu_kinetic) exp(-(w/stribeck)^2))
 *
 * x, y in R^2, one constraint; force_uses_multipliers, reactions added. */
typedef struct pb_stick_slip_def {
    double m, k, g; /* m > 0, k > 0 */
    double mu_static, mu_kinetic;
    double stribeck, width; /* > 0 */
    double belt;            /* speed along x */
    double press, press_swing, press_frequency;
    double height, wave_number;
    double x0, v0; /* start; v0 = x' */
} pb_stick_slip_def;

pb_stick_slip_def pb_stick_slip_default(void); /* bumps; sticks and slips */
pb_stick_slip_def pb_stick_slip_sliding(void); /* flat, belt always ahead: exact solution */
/* A null def means the default. An exact solution exists where there are no bumps, static and
 * kinetic friction are the same, the press never lifts and the belt always is ahead by 20 times
 * the width (friction saturates to round-off). */
ga_status pb_stick_slip_create(const pb_stick_slip_def *def, pb_problem **out);

/* Pendulum of pb_pendulum_create from x = 0, with a wall at x = 0.2 on its way. Without impacts
 * the equations go on behind the wall; whoever integrates looks for the zeros of gap and
 * applies impact. */
ga_status pb_bouncing_pendulum_create(pb_problem **out);
double pb_bouncing_pendulum_gap(const double *q); /* distance to the wall along x */
/* Newton's law for the gap's rate, with an impulse that keeps the constraint. Nothing happens
 * if the gap opens. restitution in (0, 1]. */
void pb_bouncing_pendulum_impact(const pb_problem *problem, const double *q, double *v,
                                 double restitution);
/* Times of the first count impacts, and the solution with impacts (after the impact, if t is
 * the time of one); any output may be null. By elliptic functions, to round-off. */
void pb_bouncing_pendulum_times(const pb_problem *problem, double restitution, int count,
                                double *times);
void pb_bouncing_pendulum_exact(const pb_problem *problem, double restitution, double t,
                                double *q, double *v, double *vd, double *lambda);

/* Mass on a circle in R^2 with a torsion spring, under forces along and across the circle that
 * jump at t_jump > 0; v' and lambda jump with them. Forces at t_jump itself are those
 * afterwards, and so is the exact solution. */
ga_status pb_jump_create(double t_jump, pb_problem **out);
double pb_jump_time(const pb_problem *problem);

/* n >= 1 four-bars in a row, IFToMM A02: n + 1 uniform cranks on pivots 1 apart and n couplers,
 * m = 1, length 1, tips up and moving with 1 along x; g = 9.81 along -y. Rods are crank,
 * coupler, crank, ... in GA_GROUP_R2SO2. Singular where all rods are aligned. */
ga_status pb_n_four_bar_create(int n, pb_problem **out);

/* Four-bar with crank 1, coupler 2, rocker 1.5 and ground 2.5, uniform rods with mass = length,
 * g = 9.81 along -y; in GA_GROUP_R2SO2. The crank starts at pi/2 with PB_CHANGE_POINT_SPEED,
 * enough to go round. At pi all rods are aligned, and two motions meet. */
#define PB_CHANGE_POINT_SPEED 10.0
ga_status pb_change_point_create(pb_problem **out);
/* Positions and velocities of the four pins for a crank angle and its rate, on the motion that
 * goes on smoothly. */
void pb_change_point_motion(double phi, double rate, double x[4][2], double v[4][2]);

/* The same, or a four-bar with links 1, 2, 1.652, 2.2 without singular position, of bodies on
 * R3xSO(3). redundant: four revolutes, three rows too many; else the same motion with a
 * revolute, a spherical, a universal joint and a revolute. The start is made consistent by the
 * integrator. */
ga_status pb_spatial_four_bar_create(bool change_point, bool redundant, pb_problem **out);

/* Bricard's mechanism, IFToMM A04: five rods and six revolutes, one row too many. */
ga_status pb_bricard_create(pb_problem **out);

#endif
