/* Test problem of [JN08] eq. (15), nonlinear in both multipliers. The paper's y, z are q, v.
 *
 *     M = [ q1            q2 - e^-2t ]    Phi = q1^2 q2 - 1
 *         [ sin(q1 - e^t) q1 q2      ]    k   = q1 v1 v2 + 2
 *
 *     f1 = e^t (q1 v2 + 2 q2 v1) + e^2t q1 lambda - q1 v2 psi - 2
 *     f2 = e^-t (q2 v2/2 - 2 q1 q2 v1 v2 + q2 lambda^2) - q1 q2 v1 psi^3 + e^3t
 *
 *     q = (e^t, e^-2t),  lambda = e^-t,  psi = e^t
 *
 * The reactions are part of f and are not of the form B^T lambda + N^T psi.
 */
#include "problems/create.h"
#include <math.h>

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);
static const double q0[2] = {1, 1}, v0[2] = {1, -2};
static const double lambda0 = 1, psi0 = 1;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    const double *q = at->q;
    M[0] = q[0];
    M[1] = sin(q[0] - exp(at->t));
    M[2] = q[1] - exp(-2 * at->t);
    M[3] = q[0] * q[1];
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    const double *q = at->q, *v = at->v, l = at->lambda[0], p = at->psi[0], e = exp(at->t);
    f[0] = e * (q[0] * v[1] + 2 * q[1] * v[0]) + e * e * q[0] * l - q[0] * v[1] * p - 2;
    f[1] = q[1] / e * (0.5 * v[1] - 2 * q[0] * v[0] * v[1] + l * l) -
           q[0] * q[1] * v[0] * p * p * p + e * e * e;
    return GA_EVAL_OK;
}

/* df/dlambda, df/dpsi */
static ga_eval force_multipliers(void *user, const ga_point *at, double *L)
{
    (void)user;
    const double *q = at->q, *v = at->v, l = at->lambda[0], p = at->psi[0], e = exp(at->t);
    L[0] = e * e * q[0];
    L[1] = 2 * q[1] / e * l;
    L[2] = -q[0] * v[1];
    L[3] = -3 * q[0] * q[1] * v[0] * p * p;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = at->q[0] * at->q[0] * at->q[1] - 1;
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = 2 * at->q[0] * at->q[1];
    B[1] = at->q[0] * at->q[0];
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    const double *q = at->q, *v = at->v;
    c[0] = -2 * q[1] * v[0] * v[0] - 4 * q[0] * v[0] * v[1];
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    const double *q = at->q, *v = at->v;
    Z[0] = 2 * (q[1] * v[0] + q[0] * v[1]);
    Z[1] = 2 * q[0] * v[0];
    return GA_EVAL_OK;
}

static ga_eval nonholonomic(void *user, const ga_point *at, double *k)
{
    (void)user;
    k[0] = at->q[0] * at->v[0] * at->v[1] + 2;
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_gradient(void *user, const ga_point *at, double *N)
{
    (void)user;
    N[0] = at->q[0] * at->v[1];
    N[1] = at->q[0] * at->v[0];
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = at->v[0] * at->v[1];
    Z[1] = 0;
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs(void *user, const ga_point *at, double *d)
{
    (void)user;
    d[0] = -at->v[0] * at->v[0] * at->v[1];
    return GA_EVAL_OK;
}

/* D_q (M v' - f) */
static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *q = at->q, *v = at->v, *a = at->vd;
    const double l = at->lambda[0], p = at->psi[0], e = exp(at->t);
    K[0] = a[0] - (e * v[1] + e * e * l - v[1] * p);
    K[1] = cos(q[0] - e) * a[0] + q[1] * a[1] + 2 * q[1] * v[0] * v[1] / e +
           q[1] * v[0] * p * p * p;
    K[2] = a[1] - 2 * e * v[0];
    K[3] = q[0] * a[1] - (0.5 * v[1] - 2 * q[0] * v[0] * v[1] + l * l) / e +
           q[0] * v[0] * p * p * p;
    return GA_EVAL_OK;
}

/* -df/dv */
static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    const double *q = at->q, *v = at->v, p = at->psi[0], e = exp(at->t);
    C[0] = -2 * e * q[1];
    C[1] = 2 * q[0] * q[1] * v[1] / e + q[0] * q[1] * p * p * p;
    C[2] = -e * q[0] + q[0] * p;
    C[3] = -q[1] / e * (0.5 - 2 * q[0] * v[0]);
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)problem;
    const double e = exp(t), d = exp(-2 * t);
    if (q) q[0] = e, q[1] = d;
    if (v) v[0] = e, v[1] = -2 * d;
    if (vd) vd[0] = e, vd[1] = 4 * d;
    if (lambda) lambda[0] = exp(-t);
}

static void exact_psi(const pb_problem *problem, double t, double *psi)
{
    (void)problem;
    psi[0] = exp(t);
}

ga_status pb_jn08_test_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("JN08 test problem", 1);
    if (!problem) return GA_ERR_MEMORY;
    problem->t_end = 1;
    problem->q0 = q0;
    problem->v0 = v0;
    problem->exact = exact;
    problem->exact_psi = exact_psi;
    problem->lambda_guess = &lambda0;
    problem->psi_guess = &psi0;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 1;
    s->mass = mass;
    s->force = force;
    s->force_uses_multipliers = true;
    s->reactions = GA_REACTIONS_IN_FORCE;
    s->force_multipliers = force_multipliers;
    s->constraint = constraint;
    s->gradient = gradient;
    s->acceleration_rhs = acceleration_rhs;
    s->velocity_stiffness = velocity_stiffness;
    s->nonholonomic_count = 1;
    s->nonholonomic = nonholonomic;
    s->nonholonomic_gradient = nonholonomic_gradient;
    s->nonholonomic_rhs = nonholonomic_rhs;
    s->nonholonomic_stiffness = nonholonomic_stiffness;
    s->stiffness = stiffness;
    s->damping = damping;
    *out = problem;
    return GA_OK;
}
