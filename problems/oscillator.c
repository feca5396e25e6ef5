/* Two unit masses on springs k, joined by a spring kc, with a damper 2 d on each:
 *
 *     q'' + 2 d q' + K q = 0,   K = [k + kc, -kc; -kc, k + kc]
 *
 * The sum and the difference of the coordinates are independent, with frequencies
 * w_i^2 = (k, k + 2 kc) and
 *
 *     z_i(t) = e^{-d t} (z_i(0) cos p_i t + (z'_i(0) + d z_i(0))/p_i sin p_i t),
 *     p_i^2 = w_i^2 - d^2
 */
#include "problems/create.h"
#include <math.h>

typedef struct oscillator {
    double k, kc, d;
    double p[2];
} oscillator;

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);
static const double q0[2] = {1, -0.4}, v0[2] = {0.5, 0.3};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    const oscillator *o = user;
    const double pull = o->kc * (at->q[1] - at->q[0]);
    f[0] = -o->k * at->q[0] - 2 * o->d * at->v[0] + pull;
    f[1] = -o->k * at->q[1] - 2 * o->d * at->v[1] - pull;
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)at;
    const oscillator *o = user;
    K[0] = K[3] = o->k + o->kc;
    K[1] = K[2] = -o->kc;
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)at;
    const oscillator *o = user;
    C[0] = C[3] = 2 * o->d;
    C[1] = C[2] = 0;
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)lambda;
    const oscillator *o = problem->data;
    const double decay = exp(-o->d * t), sign[2] = {1, -1};
    double z[2], zd[2], zdd[2];
    for (int i = 0; i < 2; ++i) {
        const double p = o->p[i], c = cos(p * t), s = sin(p * t);
        const double A = 0.5 * (q0[0] + sign[i] * q0[1]);
        const double Ad = 0.5 * (v0[0] + sign[i] * v0[1]), D = (Ad + o->d * A) / p;
        z[i] = decay * (A * c + D * s);
        zd[i] = decay * (p * (D * c - A * s)) - o->d * z[i];
        zdd[i] = -2 * o->d * zd[i] - (p * p + o->d * o->d) * z[i];
    }
    for (int i = 0; i < 2; ++i) {
        if (q) q[i] = z[0] + sign[i] * z[1];
        if (v) v[i] = zd[0] + sign[i] * zd[1];
        if (vd) vd[i] = zdd[0] + sign[i] * zdd[1];
    }
}

ga_status pb_oscillator_create(double k, double kc, double d, pb_problem **out)
{
    *out = NULL;
    if (!(d >= 0 && kc >= 0 && k > d * d)) return GA_ERR_ARGUMENT;
    pb_problem *problem = pb_new("oscillator", sizeof(oscillator));
    if (!problem) return GA_ERR_MEMORY;
    oscillator *o = problem->data;
    *o = (oscillator){k, kc, d, {sqrt(k - d * d), sqrt(k + 2 * kc - d * d)}};
    problem->t_end = 2;
    problem->q0 = q0;
    problem->v0 = v0;
    problem->exact = exact;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->mass = mass;
    s->mass_is_constant = true;
    s->force = force;
    s->stiffness = stiffness;
    s->damping = damping;
    *out = problem;
    return GA_OK;
}
