/* Mathematical pendulum in Cartesian coordinates, [ABC14] example 1.
 *
 *     q = (x, y),  M = I,  f = (0, -g),  Phi = (x^2 + y^2 - 1)/2
 *
 * All motions have the energy 1/2 - g: speed 1 at the lowest point. With x = sin theta,
 * y = -cos theta, w = sqrt(g), k = 1/(2 w):
 *
 *     sin(theta/2) = k sn(u),  theta' = 2 k w cn(u),  u = u0 + w t,  modulus k
 *     lambda = theta'^2 + g cos theta
 */
#include "problems/create.h"
#include "problems/elliptic.h"
#include <math.h>

static const double g = 9.81;

typedef struct pendulum {
    double q0[2], v0[2];
    pb_elliptic elliptic;
    double u0;
    pb_reference references[2];
} pendulum;

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    f[0] = 0;
    f[1] = -g;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    /* x^2 + y^2 - 1, with the larger product split to lose no digits */
    Phi[0] = 0.5 * (at->q[0] * at->q[0] + (at->q[1] - 1) * (at->q[1] + 1));
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = at->q[0];
    B[1] = at->q[1];
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    c[0] = -at->v[0] * at->v[0] - at->v[1] * at->v[1];
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    K[0] = K[3] = at->lambda[0];
    K[1] = K[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    pb_zero(C, 4);
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = at->v[0];
    Z[1] = at->v[1];
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    const pendulum *p = problem->data;
    const double w = sqrt(g), k = 0.5 / w;
    const double phi = pb_elliptic_amplitude(&p->elliptic, p->u0 + w * t);
    const double half = asin(k * sin(phi)); /* theta/2 */
    const double x = sin(2 * half), y = -cos(2 * half), rate = 2 * k * w * cos(phi);
    const double l = rate * rate - g * y;
    if (q) q[0] = x, q[1] = y;
    if (v) v[0] = -y * rate, v[1] = x * rate;
    if (vd) vd[0] = -l * x, vd[1] = -g - l * y;
    if (lambda) lambda[0] = l;
}

/* reference.json, A: extrapolation in 80 bits, self-difference 2.5e-16. */
static const double q_t2[2][2] = {{-1.90215292548627818e-02, -9.99819074345356946e-01},
                                  {1.85148979392388510e-01, -9.82710463681931543e-01}};
static const double v_t2[2][2] = {{9.98042937177705398e-01, -1.89877382961163166e-02},
                                  {7.98828947644224567e-01, 1.50504517690059596e-01}};
static const double lambda_t0[2] = {1.08100000000000000e+01, 1.02153932520435726e+01};
static const double lambda_t2[2] = {1.08046753579838546e+01, 1.03011689461592452e+01};

static void set_references(pb_problem *problem, pendulum *p, int which)
{
    problem->references = p->references;
    problem->reference_count = 2;
    p->references[0] = (pb_reference){0,   4e-15, p->q0, p->v0, NULL, &lambda_t0[which],
                                      NULL}; /* of q0 itself */
    p->references[1] =
        (pb_reference){2, 4e-15, q_t2[which], v_t2[which], NULL, &lambda_t2[which], NULL};
}

ga_status pb_pendulum_create(double x0, pb_problem **out)
{
    *out = NULL;
    const double y0 = -sqrt((1 - x0) * (1 + x0));
    const double speed_squared = 1 - 2 * g * (1 + y0);
    if (!(speed_squared >= 0)) return GA_ERR_ARGUMENT; /* also if x0 is NaN or |x0| > 1 */
    pb_problem *problem = pb_new("pendulum", sizeof(pendulum));
    if (!problem) return GA_ERR_MEMORY;
    pendulum *p = problem->data;

    const double speed = sqrt(speed_squared);
    p->q0[0] = x0;
    p->q0[1] = y0;
    p->v0[0] = -y0 * speed;
    p->v0[1] = x0 * speed;

    const double k = 0.5 / sqrt(g);
    pb_elliptic_set(&p->elliptic, k);
    /* tan phi0 = sn/cn from the position and the velocity, well-conditioned everywhere */
    p->u0 = pb_elliptic_integral(&p->elliptic, atan2(sin(0.5 * asin(x0)) / k, speed));

    problem->t_end = 2;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    problem->exact = exact;
    if (x0 == 0) set_references(problem, p, 0);
    if (x0 == 0.2) set_references(problem, p, 1);

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 1;
    s->mass = mass;
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->damping = damping;
    s->velocity_stiffness = velocity_stiffness;
    *out = problem;
    return GA_OK;
}
