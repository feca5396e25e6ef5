/* A body on R3xSO(3) under rheonomic constraints, made to follow a prescribed motion by a force
 * and a torque F(t).
 *
 *     Phi_1..3 = -x + p(t) + R X(t)      hung from the moving point p by a changing arm X
 *     Phi_4    = n(t).R b - g(t)         body axis b at a prescribed angle to the direction n
 *
 *     M = diag(2 I + mu(t) d d^T, (1 + 0.2 cos t) J),   d = R e1,  mu = 0.5 + 0.25 sin t
 *     f = N(q,v,t) + F(t)
 *     N = (-x'/2 - 3x/2 + 0.4 R e2,
 *          -Omega x J Omega - 0.1 (1 + x.x) Omega + s x R^T G)
 *
 * Prescribed are the Euler angles (z, x, z) phi, theta, psi and the multipliers, see motion_at;
 * x follows from Phi_1..3, g is n.R b, and F = M v' + B^T lambda - N there.
 *
 * Derivatives along R exp(e~):  D(R a) e = -R a~ e,  D(R^T a) e = (R^T a)~ e. With w = R^T n:
 *
 *     B = (-I, -R X~;  0, (b x w)^T)
 */
#include "problems/create.h"
#include <math.h>

static const double J[3] = {0.4, 0.7, 0.5}, b[3] = {0.6, 0, 0.8};
static const double s_arm[3] = {0.2, 0.1, -0.3}, G[3] = {0, 0, -2};
static const double e1[3] = {1, 0, 0}, e2[3] = {0, 1, 0};

static const ga_node node = GA_NODE(GA_GROUP_R3SO3, 0);

/* What the constraints prescribe, with derivatives in time. */
typedef struct drive {
    double p[3], pd[3], pdd[3];
    double X[3], Xd[3], Xdd[3];
    double n[3], nd[3], ndd[3];
    double g, gd, gdd;
} drive;

typedef struct motion {
    double q[7], v[6], vd[6], lambda[4];
} motion;

static double dot(const double *x, const double *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

/* p, X and n. */
static void drive_at(double t, drive *o)
{
    const double s1 = sin(t), c1 = cos(t), s2 = sin(1.1 * t), c2 = cos(1.1 * t);
    const double s3 = sin(1.4 * t), c3 = cos(1.4 * t), s4 = sin(0.7 * t), c4 = cos(0.7 * t);
    *o = (drive){.p = {0.5 * s1, 0.3 * c3, 0.2 * t},
                 .pd = {0.5 * c1, -0.42 * s3, 0.2},
                 .pdd = {-0.5 * s1, -0.588 * c3, 0},
                 .X = {0.1, 1 + 0.2 * s2, 0.3 * c1},
                 .Xd = {0, 0.22 * c2, -0.3 * s1},
                 .Xdd = {0, -0.242 * s2, -0.3 * c1},
                 .n = {s4, 0, c4},
                 .nd = {0.7 * c4, 0, -0.7 * s4},
                 .ndd = {-0.49 * s4, 0, -0.49 * c4}};
}

/* The rotation, its velocity and its acceleration. */
static void rotation_at(double t, double *quaternion, double *Omega, double *Omegad)
{
    const double phi = 0.5 + 0.9 * t, phid = 0.9;
    const double theta = 1 + 0.4 * sin(1.3 * t), thetad = 0.52 * cos(1.3 * t);
    const double thetadd = -0.676 * sin(1.3 * t);
    const double psi = 1.5 * t + 0.2 * cos(2 * t), psid = 1.5 - 0.4 * sin(2 * t);
    const double psidd = -0.8 * cos(2 * t);
    const double st = sin(theta), ct = cos(theta), sp = sin(psi), cp = cos(psi);

    const double half_s = sin(0.5 * theta), half_c = cos(0.5 * theta);
    quaternion[0] = half_c * cos(0.5 * (phi + psi));
    quaternion[1] = half_s * cos(0.5 * (phi - psi));
    quaternion[2] = half_s * sin(0.5 * (phi - psi));
    quaternion[3] = half_c * sin(0.5 * (phi + psi));
    Omega[0] = phid * st * sp + thetad * cp;
    Omega[1] = phid * st * cp - thetad * sp;
    Omega[2] = phid * ct + psid;
    Omegad[0] = phid * (thetad * ct * sp + st * psid * cp) + thetadd * cp - thetad * psid * sp;
    Omegad[1] = phid * (thetad * ct * cp - st * psid * sp) - thetadd * sp - thetad * psid * cp;
    Omegad[2] = -phid * thetad * st + psidd;
}

/* The motion, and g(t) of the constraint it has to satisfy. */
static void motion_at(double t, drive *o, motion *m)
{
    double R[9], y[3], z[3], w[3];
    double *Omega = m->v + 3, *Omegad = m->vd + 3;
    drive_at(t, o);
    rotation_at(t, m->q + 3, Omega, Omegad);
    ga_quaternion_to_matrix(m->q + 3, R);

    pb_rotate(R, o->X, w); /* x = p + R X */
    for (int i = 0; i < 3; ++i) m->q[i] = o->p[i] + w[i];
    pb_cross(Omega, o->X, y); /* x' = p' + R (Omega x X + X') */
    for (int i = 0; i < 3; ++i) y[i] += o->Xd[i];
    pb_rotate(R, y, w);
    for (int i = 0; i < 3; ++i) m->v[i] = o->pd[i] + w[i];
    for (int i = 0; i < 3; ++i) y[i] += o->Xd[i]; /* Omega x X + 2 X' */
    pb_cross(Omega, y, z);
    pb_cross(Omegad, o->X, y);
    for (int i = 0; i < 3; ++i) z[i] += y[i] + o->Xdd[i];
    pb_rotate(R, z, w);
    for (int i = 0; i < 3; ++i) m->vd[i] = o->pdd[i] + w[i];

    pb_rotate(R, b, w); /* g = n.R b and its derivatives */
    o->g = dot(o->n, w);
    o->gd = dot(o->nd, w);
    o->gdd = dot(o->ndd, w);
    pb_cross(Omega, b, y);
    pb_rotate(R, y, w);
    o->gd += dot(o->n, w);
    o->gdd += 2 * dot(o->nd, w);
    pb_cross(Omega, y, y);
    pb_cross(Omegad, b, z);
    for (int i = 0; i < 3; ++i) y[i] += z[i];
    pb_rotate(R, y, w);
    o->gdd += dot(o->n, w);

    m->lambda[0] = 1 + sin(t);
    m->lambda[1] = 2 * cos(2 * t);
    m->lambda[2] = -3 + 0.5 * sin(1.5 * t);
    m->lambda[3] = 0.5 + cos(t);
}

static void gyroscopic(const double *Omega, double *f)
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        f[i] = (J[j] - J[k]) * Omega[j] * Omega[k];
    }
}

static void state_force(const double *q, const double *v, double *N)
{
    double thrust[3], down[3], torque[3];
    const double drag = 0.1 * (1 + dot(q, q));
    ga_quaternion_rotate(q + 3, e2, thrust);
    ga_quaternion_rotate_back(q + 3, G, down);
    pb_cross(s_arm, down, torque);
    gyroscopic(v + 3, N + 3);
    for (int i = 0; i < 3; ++i) {
        N[i] = -0.5 * v[i] - 1.5 * q[i] + 0.4 * thrust[i];
        N[i + 3] += torque[i] - drag * v[i + 3];
    }
}

static double mu_at(double t) { return 0.5 + 0.25 * sin(t); }
static double inertia_at(double t) { return 1 + 0.2 * cos(t); }

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    double axis[3];
    const double mu = mu_at(at->t), inertia = inertia_at(at->t);
    ga_quaternion_rotate(at->q + 3, e1, axis);
    pb_zero(M, 36);
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) M[i + 6 * j] = mu * axis[i] * axis[j];
        M[7 * j] += 2;
        M[7 * (j + 3)] = inertia * J[j];
    }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    drive o;
    motion m;
    motion_at(at->t, &o, &m);
    double axis[3], N[6], l[3], w[3], torque[3], turn[3];
    const double mu = mu_at(at->t), inertia = inertia_at(at->t);
    ga_quaternion_rotate(m.q + 3, e1, axis);
    ga_quaternion_rotate_back(m.q + 3, m.lambda, l);
    ga_quaternion_rotate_back(m.q + 3, o.n, w);
    pb_cross(o.X, l, torque);
    pb_cross(b, w, turn);
    const double along = mu * dot(axis, m.vd);
    state_force(at->q, at->v, f);
    state_force(m.q, m.v, N);
    for (int i = 0; i < 3; ++i) {
        f[i] += 2 * m.vd[i] + along * axis[i] - m.lambda[i] - N[i];
        f[i + 3] += inertia * J[i] * m.vd[i + 3] + torque[i] + turn[i] * m.lambda[3] - N[i + 3];
    }
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    drive o;
    motion m;
    motion_at(at->t, &o, &m);
    double w[3];
    ga_quaternion_rotate(at->q + 3, o.X, Phi);
    for (int i = 0; i < 3; ++i) Phi[i] += o.p[i] - at->q[i];
    ga_quaternion_rotate(at->q + 3, b, w);
    Phi[3] = dot(o.n, w) - o.g;
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    drive o;
    drive_at(at->t, &o);
    double R[9], w[3], turn[3];
    ga_quaternion_to_matrix(at->q + 3, R);
    pb_rotate_back(R, o.n, w);
    pb_cross(b, w, turn);
    pb_zero(B, 24);
    B[0] = B[5] = B[10] = -1;
    pb_add_rotated_skew(B + 12, 4, -1, R, o.X);
    for (int j = 0; j < 3; ++j) B[3 + 4 * (j + 3)] = turn[j];
    return GA_EVAL_OK;
}

static ga_eval constraint_rate(void *user, const ga_point *at, double *rate)
{
    (void)user;
    drive o;
    motion m;
    motion_at(at->t, &o, &m);
    double w[3];
    ga_quaternion_rotate(at->q + 3, o.Xd, rate);
    for (int i = 0; i < 3; ++i) rate[i] += o.pd[i];
    ga_quaternion_rotate(at->q + 3, b, w);
    rate[3] = dot(o.nd, w) - o.gd;
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *rhs)
{
    (void)user;
    drive o;
    motion m;
    motion_at(at->t, &o, &m);
    const double *Omega = at->v + 3;
    double R[9], y[3], w[3];
    ga_quaternion_to_matrix(at->q + 3, R);
    pb_cross(Omega, o.X, y);
    for (int i = 0; i < 3; ++i) y[i] += 2 * o.Xd[i];
    pb_cross(Omega, y, y);
    for (int i = 0; i < 3; ++i) y[i] += o.Xdd[i];
    pb_rotate(R, y, w);
    for (int i = 0; i < 3; ++i) rhs[i] = -w[i] - o.pdd[i];
    pb_rotate(R, b, w);
    rhs[3] = o.gdd - dot(o.ndd, w);
    pb_cross(Omega, b, y);
    pb_rotate(R, y, w);
    rhs[3] -= 2 * dot(o.nd, w);
    pb_cross(Omega, y, y);
    pb_rotate(R, y, w);
    rhs[3] -= dot(o.n, w);
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *q = at->q, *Omega = at->v + 3, *a = at->vd;
    drive o;
    drive_at(at->t, &o);
    double R[9], l[3], w[3], down[3], body_a[3], pull[3];
    const double mu = mu_at(at->t);
    ga_quaternion_to_matrix(q + 3, R);
    pb_rotate_back(R, at->lambda, l);
    pb_rotate_back(R, o.n, w);
    pb_rotate_back(R, G, down);
    pb_rotate_back(R, a, body_a);
    pb_zero(K, 36);
    /* force by position and attitude: D(mu d d^T a) = mu (-(d.a) R e1~ + d (e1 x R^T a)^T) */
    K[0] = K[7] = K[14] = 1.5;
    pb_add_rotated_skew(K + 18, 6, 0.4, R, e2);
    pb_add_rotated_skew(K + 18, 6, -mu * body_a[0], R, e1);
    pb_cross(e1, body_a, pull);
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) K[i + 6 * (j + 3)] += mu * R[i] * pull[j];
    /* torque by position, then by attitude */
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) K[i + 3 + 6 * j] = 0.2 * Omega[i] * q[j];
    pb_add_skew_skew(K + 21, 6, -1, s_arm, down);
    pb_add_skew_skew(K + 21, 6, 1, o.X, l);
    pb_add_skew_skew(K + 21, 6, at->lambda[3], b, w);
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    const double *Omega = at->v + 3, drag = 0.1 * (1 + dot(at->q, at->q));
    pb_zero(C, 36);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        C[7 * i] = 0.5;
        C[7 * (i + 3)] = drag;
        C[3 + i + 6 * (3 + j)] = (J[k] - J[j]) * Omega[k];
        C[3 + i + 6 * (3 + k)] = (J[k] - J[j]) * Omega[j];
    }
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    drive o;
    drive_at(at->t, &o);
    double R[9], w[3], wd[3], y[3], turn[3], turn_rate[3];
    ga_quaternion_to_matrix(at->q + 3, R);
    pb_rotate_back(R, o.n, w);
    pb_rotate_back(R, o.nd, wd);
    pb_zero(Z, 24);
    pb_cross(at->v + 3, o.X, y);
    for (int i = 0; i < 3; ++i) y[i] += o.Xd[i];
    pb_add_rotated_skew(Z + 12, 4, -1, R, y);
    pb_cross(at->v + 3, b, y);
    pb_cross(y, w, turn);
    pb_cross(b, wd, turn_rate);
    for (int j = 0; j < 3; ++j) Z[3 + 4 * (j + 3)] = turn[j] + turn_rate[j];
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    (void)problem;
    drive o;
    motion m;
    motion_at(t, &o, &m);
    if (q) pb_copy(q, m.q, 7);
    if (v) pb_copy(v, m.v, 6);
    if (vd) pb_copy(vd, m.vd, 6);
    if (lambda) pb_copy(lambda, m.lambda, 4);
}

ga_status pb_rheonomic_body_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("rheonomic body", sizeof(motion));
    if (!problem) return GA_ERR_MEMORY;
    motion *start = problem->data;
    drive o;
    motion_at(0, &o, start);
    problem->t_end = 2;
    problem->q0 = start->q;
    problem->v0 = start->v;
    problem->exact = exact;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 4;
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
