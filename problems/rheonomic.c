/* A point on a circle with moving centre c(t) and changing radius r(t), made to follow a
 * prescribed motion by a force F(t). Nothing in it is constant:
 *
 *     Phi = (|q - c|^2 - r^2)/2,        B = (q - c)^T
 *     M = (2 + sin t) I + q q^T/2
 *     f = N(q,v,t) + F(t),   N = -0.3 (1 + q.q) v - (2 + sin t) q + 0.2 (v.v) q^
 *
 * with q^ = (-y, x). Prescribed are
 *
 *     q = c + r (sin phi, -cos phi),  phi = 0.4 + 0.8 sin 1.2 t,  lambda = 3 + cos 2t +
 * sin(t)/2 c = (0.3 sin t, 0.2 cos 2t),    r = 1 + 0.2 sin 1.5 t
 *
 * and F = M v' + B^T lambda - N there.
 */
#include "problems/create.h"
#include <math.h>

typedef struct circle {
    double c[2], cd[2], cdd[2], r, rd, rdd;
} circle;

typedef struct motion {
    double q[2], v[2], vd[2], lambda;
} motion;

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);

static circle circle_at(double t)
{
    const double s1 = sin(t), c1 = cos(t), s2 = sin(2 * t), c2 = cos(2 * t);
    const double s3 = sin(1.5 * t), c3 = cos(1.5 * t);
    return (circle){.c = {0.3 * s1, 0.2 * c2},
                    .cd = {0.3 * c1, -0.4 * s2},
                    .cdd = {-0.3 * s1, -0.8 * c2},
                    .r = 1 + 0.2 * s3,
                    .rd = 0.3 * c3,
                    .rdd = -0.45 * s3};
}

static motion motion_at(double t, const circle *o)
{
    const double phi = 0.4 + 0.8 * sin(1.2 * t), phid = 0.96 * cos(1.2 * t);
    const double phidd = -1.152 * sin(1.2 * t);
    const double n[2] = {sin(phi), -cos(phi)}, tangent[2] = {cos(phi), sin(phi)};
    motion m;
    for (int i = 0; i < 2; ++i) {
        m.q[i] = o->c[i] + o->r * n[i];
        m.v[i] = o->cd[i] + o->rd * n[i] + o->r * phid * tangent[i];
        m.vd[i] = o->cdd[i] + (o->rdd - o->r * phid * phid) * n[i] +
                  (2 * o->rd * phid + o->r * phidd) * tangent[i];
    }
    m.lambda = 3 + cos(2 * t) + 0.5 * sin(t);
    return m;
}

static void state_force(double t, const double *q, const double *v, double *N)
{
    const double drag = 0.3 * (1 + q[0] * q[0] + q[1] * q[1]), k = 2 + sin(t);
    const double lift = 0.2 * (v[0] * v[0] + v[1] * v[1]);
    N[0] = -drag * v[0] - k * q[0] - lift * q[1];
    N[1] = -drag * v[1] - k * q[1] + lift * q[0];
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    const double m = 2 + sin(at->t), *q = at->q;
    M[0] = m + 0.5 * q[0] * q[0];
    M[1] = M[2] = 0.5 * q[0] * q[1];
    M[3] = m + 0.5 * q[1] * q[1];
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    const circle o = circle_at(at->t);
    const motion m = motion_at(at->t, &o);
    const double scale = 2 + sin(at->t), along = 0.5 * (m.q[0] * m.vd[0] + m.q[1] * m.vd[1]);
    double N[2];
    state_force(at->t, at->q, at->v, f);
    state_force(at->t, m.q, m.v, N);
    for (int i = 0; i < 2; ++i)
        f[i] += scale * m.vd[i] + along * m.q[i] + (m.q[i] - o.c[i]) * m.lambda - N[i];
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    const circle o = circle_at(at->t);
    const double x = at->q[0] - o.c[0], y = at->q[1] - o.c[1];
    Phi[0] = 0.5 * (x * x + y * y - o.r * o.r);
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    const circle o = circle_at(at->t);
    B[0] = at->q[0] - o.c[0];
    B[1] = at->q[1] - o.c[1];
    return GA_EVAL_OK;
}

static ga_eval constraint_rate(void *user, const ga_point *at, double *rate)
{
    (void)user;
    const circle o = circle_at(at->t);
    const double x = at->q[0] - o.c[0], y = at->q[1] - o.c[1];
    rate[0] = -x * o.cd[0] - y * o.cd[1] - o.r * o.rd;
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *rhs)
{
    (void)user;
    const circle o = circle_at(at->t);
    const double x = at->q[0] - o.c[0], y = at->q[1] - o.c[1];
    const double xd = at->v[0] - o.cd[0], yd = at->v[1] - o.cd[1];
    rhs[0] = x * o.cdd[0] + y * o.cdd[1] - xd * xd - yd * yd + o.rd * o.rd + o.r * o.rdd;
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *q = at->q, *v = at->v, *a = at->vd;
    const double along = 0.5 * (q[0] * a[0] + q[1] * a[1]);
    const double diagonal = along + 2 + sin(at->t) + at->lambda[0];
    const double lift = 0.2 * (v[0] * v[0] + v[1] * v[1]);
    for (int j = 0; j < 2; ++j)
        for (int i = 0; i < 2; ++i) K[i + 2 * j] = 0.5 * q[i] * a[j] + 0.6 * v[i] * q[j];
    K[0] += diagonal;
    K[1] -= lift;
    K[2] += lift;
    K[3] += diagonal;
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    const double *q = at->q, *v = at->v;
    const double drag = 0.3 * (1 + q[0] * q[0] + q[1] * q[1]);
    C[0] = drag + 0.4 * q[1] * v[0];
    C[1] = -0.4 * q[0] * v[0];
    C[2] = 0.4 * q[1] * v[1];
    C[3] = drag - 0.4 * q[0] * v[1];
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    const circle o = circle_at(at->t);
    Z[0] = at->v[0] - o.cd[0];
    Z[1] = at->v[1] - o.cd[1];
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)problem;
    const circle o = circle_at(t);
    const motion m = motion_at(t, &o);
    if (q) pb_copy(q, m.q, 2);
    if (v) pb_copy(v, m.v, 2);
    if (vd) pb_copy(vd, m.vd, 2);
    if (lambda) lambda[0] = m.lambda;
}

ga_status pb_rheonomic_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("rheonomic", sizeof(motion));
    if (!problem) return GA_ERR_MEMORY;
    motion *start = problem->data;
    const circle o = circle_at(0);
    *start = motion_at(0, &o);
    problem->t_end = 2;
    problem->q0 = start->q;
    problem->v0 = start->v;
    problem->exact = exact;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 1;
    s->mass = mass;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->constraint_rate = constraint_rate;
    s->constraint_uses_time = true;
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->damping = damping;
    s->velocity_stiffness = velocity_stiffness;
    *out = problem;
    return GA_OK;
}
