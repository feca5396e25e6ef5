/* Free symmetric top on SO(3), J = diag(A, A, C): regular precession.
 *
 *     J Omega' = -Omega x J Omega
 *     Omega(t) = (w cos kt, w sin kt, s),   k = (C - A) s/A
 *     R(t) = exp(t l~) R0 exp(-k t e3~),    l = R0 J Omega(0)/A
 *
 * since R^T R' = (exp(k t e3~) R0^T l - k e3)~ and R0^T l = (w, 0, C s/A).
 */
#include "problems/create.h"
#include <math.h>

static const double A = 0.8, C_axis = 0.5, w = 1.2, s = 2;

typedef struct top {
    double q0[4], l[3];
} top;

static const ga_node node = GA_NODE(GA_GROUP_SO3, 0);
static const double v0[3] = {1.2, 0, 2};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    pb_zero(M, 9);
    M[0] = M[4] = A;
    M[8] = C_axis;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    f[0] = (A - C_axis) * at->v[1] * at->v[2];
    f[1] = (C_axis - A) * at->v[0] * at->v[2];
    f[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user, (void)at;
    pb_zero(K, 9);
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    pb_zero(C, 9);
    C[3] = (C_axis - A) * at->v[2];
    C[6] = (C_axis - A) * at->v[1];
    C[1] = (A - C_axis) * at->v[2];
    C[7] = (A - C_axis) * at->v[0];
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)lambda;
    const top *p = problem->data;
    const double k = (C_axis - A) * s / A, c = cos(k * t), n = sin(k * t);
    if (q) {
        const double precession[3] = {t * p->l[0], t * p->l[1], t * p->l[2]};
        const double spin[3] = {0, 0, -k * t};
        double left[4];
        ga_lie_map(node, GA_MAP_EXP, precession, left);
        ga_lie_compose(node, left, p->q0, left);
        ga_lie_update(node, GA_MAP_EXP, left, spin, q);
    }
    if (v) v[0] = w * c, v[1] = w * n, v[2] = s;
    if (vd) vd[0] = -w * k * n, vd[1] = w * k * c, vd[2] = 0;
}

ga_status pb_free_top_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("free top", sizeof(top));
    if (!problem) return GA_ERR_MEMORY;
    top *p = problem->data;
    const double start[3] = {0.3, -0.2, 0.5}, momentum[3] = {w, 0, C_axis * s / A};
    ga_lie_map(node, GA_MAP_EXP, start, p->q0);
    ga_quaternion_rotate(p->q0, momentum, p->l);
    problem->t_end = 2;
    problem->q0 = p->q0;
    problem->v0 = v0;
    problem->exact = exact;

    ga_system *system = &problem->system;
    system->struct_size = sizeof *system;
    system->node_count = 1;
    system->nodes = &node;
    system->mass = mass;
    system->mass_is_constant = true;
    system->force = force;
    system->stiffness = stiffness;
    system->damping = damping;
    *out = problem;
    return GA_OK;
}
