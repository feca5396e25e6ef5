/* Chaplygin's sleigh: centre of mass (x, y), heading e = (cos theta, sin theta), n at right
 * angles; a knife edge at the distance a behind the centre of mass.
 *
 *     M = diag(m, m, J),  k = velocity of the knife edge along n
 *
 *     R2xSO(2), v = (x', y', theta'):  k = -x' sin theta + y' cos theta - a theta',  f = 0
 *     SE(2), v = (e.x', n.x', theta'): k = v2 - a v3,  f = m v3 (v2, -v1, 0)
 *
 * With the forward speed u of the knife edge and w = theta', I = J + m a^2:
 *
 *     u' = a w^2,  w' = -(m a/I) u w:   u = U tanh T,  w = W sech T,  T = kappa (t - turn),
 *     kappa = m a U/I,  W = U sqrt(m/I),  theta = (W/kappa) gd T
 *
 * For J = 3 m a^2 it is W/kappa = 2, and the path of the knife edge has a closed form:
 *
 *     cos theta = 2 sech^2 T - 1,         sin theta = 2 sech T tanh T
 *     x = (U/kappa) (tanh^2 T - ln cosh T),  y = (U/kappa) (gd T - sech T tanh T)
 *     psi = 3 m a w'
 */
#include "problems/create.h"
#include <math.h>

static const double m = 1.5, a = 0.4, speed = 1.6, turn = 1.5; /* a, U */

typedef struct sleigh {
    ga_node node;
    double q0[3], v0[3];
} sleigh;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    pb_zero(M, 9);
    M[0] = M[4] = m;
    M[8] = 3 * m * a * a;
    return GA_EVAL_OK;
}

/* R2xSO(2) */

static ga_eval force_r2so2(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    pb_zero(f, 3);
    return GA_EVAL_OK;
}

static ga_eval damping_r2so2(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    pb_zero(C, 9);
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_r2so2(void *user, const ga_point *at, double *k)
{
    (void)user;
    k[0] = -at->v[0] * sin(at->q[2]) + at->v[1] * cos(at->q[2]) - a * at->v[2];
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_gradient_r2so2(void *user, const ga_point *at, double *N)
{
    (void)user;
    N[0] = -sin(at->q[2]);
    N[1] = cos(at->q[2]);
    N[2] = -a;
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_stiffness_r2so2(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = Z[1] = 0;
    Z[2] = -at->v[0] * cos(at->q[2]) - at->v[1] * sin(at->q[2]);
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs_r2so2(void *user, const ga_point *at, double *d)
{
    (void)user;
    d[0] = (at->v[0] * cos(at->q[2]) + at->v[1] * sin(at->q[2])) * at->v[2];
    return GA_EVAL_OK;
}

/* N^T psi turns with theta. */
static ga_eval stiffness_r2so2(void *user, const ga_point *at, double *K)
{
    (void)user;
    pb_zero(K, 9);
    K[6] = -cos(at->q[2]) * at->psi[0];
    K[7] = -sin(at->q[2]) * at->psi[0];
    return GA_EVAL_OK;
}

/* SE(2) */

static ga_eval force_se2(void *user, const ga_point *at, double *f)
{
    (void)user;
    f[0] = m * at->v[2] * at->v[1];
    f[1] = -m * at->v[2] * at->v[0];
    f[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval damping_se2(void *user, const ga_point *at, double *C)
{
    (void)user;
    pb_zero(C, 9);
    C[1] = m * at->v[2];
    C[3] = -m * at->v[2];
    C[6] = -m * at->v[1];
    C[7] = m * at->v[0];
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_se2(void *user, const ga_point *at, double *k)
{
    (void)user;
    k[0] = at->v[1] - a * at->v[2];
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_gradient_se2(void *user, const ga_point *at, double *N)
{
    (void)user, (void)at;
    N[0] = 0;
    N[1] = 1;
    N[2] = -a;
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_stiffness_se2(void *user, const ga_point *at, double *Z)
{
    (void)user, (void)at;
    pb_zero(Z, 3);
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs_se2(void *user, const ga_point *at, double *d)
{
    (void)user, (void)at;
    d[0] = 0;
    return GA_EVAL_OK;
}

static ga_eval stiffness_se2(void *user, const ga_point *at, double *K)
{
    (void)user, (void)at;
    pb_zero(K, 9);
    return GA_EVAL_OK;
}

/* Exact solution: u, w and their derivatives, then what the group wants to know. */

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)lambda;
    const sleigh *p = problem->data;
    const double kappa = speed / (4 * a), W = 2 * kappa, T = kappa * (t - turn);
    const double th = tanh(T), sech = 1 / cosh(T), gd = atan(sinh(T));
    const double u = speed * th, w = W * sech;
    const double ud = a * w * w, wd = -kappa * th * w;
    const double c = 2 * sech * sech - 1, s = 2 * sech * th, length = speed / kappa;
    if (q) {
        q[0] = length * (th * th - log(cosh(T))) + a * c;
        q[1] = length * (gd - sech * th) + a * s;
        q[2] = 2 * gd;
    }
    const double e = u, n = a * w; /* velocity of the centre of mass along e and n */
    const bool world = p->node.group == GA_GROUP_R2SO2;
    if (v) {
        v[0] = world ? e * c - n * s : e;
        v[1] = world ? e * s + n * c : n;
        v[2] = w;
    }
    const double along = ud - w * n, across = a * wd + w * e; /* its acceleration */
    if (vd) {
        vd[0] = world ? along * c - across * s : ud;
        vd[1] = world ? along * s + across * c : a * wd;
        vd[2] = wd;
    }
}

static void exact_psi(const pb_problem *problem, double t, double *psi)
{
    double vd[3];
    exact(problem, t, NULL, NULL, vd, NULL);
    psi[0] = 3 * m * a * vd[2];
}

ga_status pb_sleigh_create(ga_group group, pb_problem **out)
{
    *out = NULL;
    if (group != GA_GROUP_R2SO2 && group != GA_GROUP_SE2) return GA_ERR_ARGUMENT;
    const bool se2 = group == GA_GROUP_SE2;
    pb_problem *problem =
        pb_new(se2 ? "sleigh on SE(2)" : "sleigh on R2xSO(2)", sizeof(sleigh));
    if (!problem) return GA_ERR_MEMORY;
    sleigh *p = problem->data;
    p->node = (ga_node)GA_NODE(group, 0);
    exact(problem, 0, p->q0, p->v0, NULL, NULL);
    problem->t_end = 4;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    problem->exact = exact;
    problem->exact_psi = exact_psi;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &p->node;
    s->mass = mass;
    s->mass_is_constant = true;
    s->force = se2 ? force_se2 : force_r2so2;
    s->nonholonomic_count = 1;
    s->nonholonomic = se2 ? nonholonomic_se2 : nonholonomic_r2so2;
    s->nonholonomic_gradient = se2 ? nonholonomic_gradient_se2 : nonholonomic_gradient_r2so2;
    s->nonholonomic_rhs = se2 ? nonholonomic_rhs_se2 : nonholonomic_rhs_r2so2;
    s->stiffness = se2 ? stiffness_se2 : stiffness_r2so2;
    s->damping = se2 ? damping_se2 : damping_r2so2;
    s->nonholonomic_stiffness = se2 ? nonholonomic_stiffness_se2 : nonholonomic_stiffness_r2so2;
    *out = problem;
    return GA_OK;
}
