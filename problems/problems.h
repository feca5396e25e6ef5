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
    const double *q, *v, *vd, *lambda;
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
    const pb_reference *references; /* in the order of t */
    int reference_count;
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

#endif
