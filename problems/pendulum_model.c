/* Pendulum model, [JN08] eq. (16): a rod with a torsion spring and damper at its pivot.
 *
 *     q = (x, y, theta),  M = diag(m, m, m L^2/3)
 *     f = (0, -m g, -c theta' - k (theta - 3 pi/2))
 *     Phi = (x - L cos theta, y - L sin theta)
 *
 * A large k makes it stiff.
 */
#include "problems/create.h"
#include <math.h>

typedef struct model {
    pb_pendulum_model_def def;
    double q0[3], v0[3];
} model;

static const ga_node node = GA_NODE(GA_GROUP_RN, 3);
static const double rest = 1.5 * PB_PI, rate0 = 10;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const pb_pendulum_model_def *d = &((const model *)user)->def;
    pb_zero(M, 9);
    M[0] = M[4] = d->m;
    M[8] = d->m * d->L * d->L / 3;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    const pb_pendulum_model_def *d = &((const model *)user)->def;
    f[0] = 0;
    f[1] = -d->m * d->g;
    f[2] = -d->c * at->v[2] - d->k * (at->q[2] - rest);
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    const double L = ((const model *)user)->def.L;
    Phi[0] = at->q[0] - L * cos(at->q[2]);
    Phi[1] = at->q[1] - L * sin(at->q[2]);
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    const double L = ((const model *)user)->def.L;
    B[0] = B[3] = 1;
    B[1] = B[2] = 0;
    B[4] = L * sin(at->q[2]);
    B[5] = -L * cos(at->q[2]);
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    const double L = ((const model *)user)->def.L, w = at->v[2] * at->v[2];
    c[0] = -L * cos(at->q[2]) * w;
    c[1] = -L * sin(at->q[2]) * w;
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    const pb_pendulum_model_def *d = &((const model *)user)->def;
    pb_zero(K, 8);
    K[8] = d->k + d->L * (cos(at->q[2]) * at->lambda[0] + sin(at->q[2]) * at->lambda[1]);
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)at;
    pb_zero(C, 8);
    C[8] = ((const model *)user)->def.c;
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    const double L = ((const model *)user)->def.L;
    pb_zero(Z, 4);
    Z[4] = L * cos(at->q[2]) * at->v[2];
    Z[5] = L * sin(at->q[2]) * at->v[2];
    return GA_EVAL_OK;
}

/* reference.json, D: extrapolation in 80 bits, self-difference 2.9e-15. */
static const double q_t0[3] = {0, -2, 4.71238898038468986}, v_t0[3] = {20, 0, 10};
static const double vd_t0[3] = {-75, 200, -37.5}, lambda_t0[2] = {375, -1049.05};
static const double q_t2[3] = {3.07782240272738673e-02, -1.99976316120827842e+00,
                               4.72777869988355126e+00};
static const double v_t2[3] = {-3.96321931645703127e-01, -6.09976493003459316e-03,
                               -1.98184434703878209e-01};
static const double vd_t2[3] = {-2.09049045630553241e+00, 4.63888418608945557e-02,
                                -1.04476450930253188e+00};
static const double lambda_t2[2] = {1.04524522815276621e+01, -4.92819442093044728e+01};

/* A double at 4.7 is good to 9e-16, which the spring turns into 2e-13 of theta''. */
static const pb_reference references[2] = {{0, 1e-12, q_t0, v_t0, vd_t0, lambda_t0, NULL},
                                           {2, 1e-12, q_t2, v_t2, vd_t2, lambda_t2, NULL}};

pb_pendulum_model_def pb_pendulum_model_default(void)
{
    return (pb_pendulum_model_def){.m = 5, .L = 2, .c = 100, .k = 3000, .g = 9.81};
}

static bool is_default(const pb_pendulum_model_def *d)
{
    const pb_pendulum_model_def o = pb_pendulum_model_default();
    return d->m == o.m && d->L == o.L && d->c == o.c && d->k == o.k && d->g == o.g;
}

ga_status pb_pendulum_model_create(const pb_pendulum_model_def *def, pb_problem **out)
{
    *out = NULL;
    const pb_pendulum_model_def d = def ? *def : pb_pendulum_model_default();
    if (!(d.m > 0 && d.L > 0)) return GA_ERR_ARGUMENT;
    pb_problem *problem = pb_new("pendulum model", sizeof(model));
    if (!problem) return GA_ERR_MEMORY;
    model *p = problem->data;
    p->def = d;
    p->q0[0] = d.L * cos(rest);
    p->q0[1] = d.L * sin(rest);
    p->q0[2] = rest;
    p->v0[0] = -d.L * sin(rest) * rate0;
    p->v0[1] = d.L * cos(rest) * rate0;
    p->v0[2] = rate0;

    problem->t_end = 2;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    if (is_default(&d)) {
        problem->references = references;
        problem->reference_count = 2;
    }

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 2;
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
