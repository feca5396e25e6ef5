/* Mass on the unit circle with a torsion spring, under forces that jump.
 *
 *     q = (x, y),  M = I,  Phi = (x^2 + y^2 - 1)/2,  theta = atan2(y, x)
 *     f = tau (-y, x) + P (x, y),  tau = F - w^2 theta;   (F, P) jumps at t_jump
 *
 * On the circle theta'' = tau and lambda = theta'^2 + P:
 *
 *     theta = F/w^2 + A cos(w s) + B sin(w s),  s = t before the jump, t - t_jump after it
 *
 * theta stays within 0.9 of 0, far from the cut of atan2.
 */
#include "problems/create.h"
#include <math.h>

static const double w = 3, theta0 = 0.4, rate0 = 1;
static const double tangential[2] = {1, -2}, radial[2] = {2, 5};

typedef struct jump {
    double t_jump, q0[2], v0[2];
} jump;

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);

static int phase(const jump *p, double t) { return t >= p->t_jump; }

static double torque(const jump *p, const ga_point *at)
{
    return tangential[phase(p, at->t)] - w * w * atan2(at->q[1], at->q[0]);
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    const jump *p = user;
    const double tau = torque(p, at), P = radial[phase(p, at->t)];
    f[0] = -tau * at->q[1] + P * at->q[0];
    f[1] = tau * at->q[0] + P * at->q[1];
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1);
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

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = at->v[0];
    Z[1] = at->v[1];
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    const jump *p = user;
    const double x = at->q[0], y = at->q[1], square = x * x + y * y;
    const double tau = torque(p, at), diagonal = at->lambda[0] - radial[phase(p, at->t)];
    const double tau_x = w * w * y / square, tau_y = -w * w * x / square;
    K[0] = y * tau_x + diagonal;
    K[1] = -tau - x * tau_x;
    K[2] = tau + y * tau_y;
    K[3] = -x * tau_y + diagonal;
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    pb_zero(C, 4);
    return GA_EVAL_OK;
}

/* The angle and its rate, s after they had the given values. */
static void swing(double force_level, double s, double *theta, double *rate)
{
    const double rest = force_level / (w * w), A = *theta - rest, B = *rate / w;
    const double c = cos(w * s), sn = sin(w * s);
    *theta = rest + A * c + B * sn;
    *rate = w * (B * c - A * sn);
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    const jump *p = problem->data;
    const int after = phase(p, t);
    double theta = theta0, rate = rate0;
    swing(tangential[0], after ? p->t_jump : t, &theta, &rate);
    if (after) swing(tangential[1], t - p->t_jump, &theta, &rate);
    const double x = cos(theta), y = sin(theta), tau = tangential[after] - w * w * theta;
    if (q) q[0] = x, q[1] = y;
    if (v) v[0] = -y * rate, v[1] = x * rate;
    if (vd) vd[0] = -x * rate * rate - y * tau, vd[1] = -y * rate * rate + x * tau;
    if (lambda) lambda[0] = rate * rate + radial[after];
}

double pb_jump_time(const pb_problem *problem)
{
    const jump *p = problem->data;
    return p->t_jump;
}

ga_status pb_jump_create(double t_jump, pb_problem **out)
{
    *out = NULL;
    if (!(t_jump > 0)) return GA_ERR_ARGUMENT;
    pb_problem *problem = pb_new("jump", sizeof(jump));
    if (!problem) return GA_ERR_MEMORY;
    jump *p = problem->data;
    p->t_jump = t_jump;
    problem->t_end = 3;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    problem->exact = exact;
    exact(problem, 0, p->q0, p->v0, NULL, NULL);

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
