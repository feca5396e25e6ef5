/* Disc that rolls on the plane z = 0 without slip, on R3xSO(3), v = (x', Omega).
 *
 * Seen from the body, up is u = R^T e_z, and the lowest point of the rim lies at -r p with
 * p = (u1, u2, 0)/s, s = sqrt(u1^2 + u2^2). Its height and its horizontal velocity vanish:
 *
 *     Phi = z - r s(u)
 *     k   = H (x' + R (Omega x (-r p))),  H: rows x and y
 *
 * With t = (-p2, p1, 0) and rho = (t x u)/s, a rotation e of the body gives
 *
 *     D u e = u x e,  D s e = (p x u).e,  D p e = t (rho.e),
 *     D (p x u) e = s rho (rho.e) + p x (u x e),  D (R a) e = -R (a x e)
 *
 *     B = (e_z, -r p x u),  N = (H, r H R p~)
 *
 * A disc that lies flat, s = 0, has no lowest point.
 */
#include "problems/create.h"
#include <math.h>

static const double m = 15, r = 1, gravity = 9.81;
static const double J[3] = {15.0 / 4, 15.0 / 4, 15.0 / 2};

typedef struct disc {
    double q0[7], v0[6];
    pb_reference references[2];
} disc;

static const ga_node node = GA_NODE(GA_GROUP_R3SO3, 0);

typedef struct geometry {
    double R[9], u[3], s, p[3], t[3], rho[3];
} geometry;

static ga_eval locate(const double *q, geometry *g)
{
    ga_quaternion_to_matrix(q + 3, g->R);
    for (int j = 0; j < 3; ++j) g->u[j] = g->R[2 + 3 * j];
    g->s = hypot(g->u[0], g->u[1]);
    if (!(g->s > 0)) return GA_EVAL_RECOVERABLE;
    g->p[0] = g->u[0] / g->s;
    g->p[1] = g->u[1] / g->s;
    g->t[0] = -g->p[1];
    g->t[1] = g->p[0];
    g->p[2] = g->t[2] = 0;
    pb_cross(g->t, g->u, g->rho);
    for (int i = 0; i < 3; ++i) g->rho[i] /= g->s;
    return GA_EVAL_OK;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* A += a b^T for a 3 x 3 block of a column-major matrix with ld rows. */
static void add_outer(double *A, int ld, double scale, const double *a, const double *b)
{
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i) A[i + j * ld] += scale * a[i] * b[j];
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    pb_zero(M, 36);
    for (int i = 0; i < 3; ++i) {
        M[7 * i] = m;
        M[7 * (i + 3)] = J[i];
    }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    const double *Omega = at->v + 3;
    f[0] = f[1] = 0;
    f[2] = -m * gravity;
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        f[3 + i] = (J[j] - J[k]) * Omega[j] * Omega[k];
    }
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user;
    const double *Omega = at->v + 3;
    pb_zero(C, 36);
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        C[3 + i + 6 * (3 + j)] -= (J[j] - J[k]) * Omega[k];
        C[3 + i + 6 * (3 + k)] -= (J[j] - J[k]) * Omega[j];
    }
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    Phi[0] = at->q[2] - r * g.s;
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    B[0] = B[1] = 0;
    B[2] = 1;
    pb_cross(g.u, g.p, B + 3);
    for (int i = 3; i < 6; ++i) B[i] *= r;
    return GA_EVAL_OK;
}

/* D_q (B v) = -r (s (Omega.rho) rho + u x (p x Omega)) for rotations */
static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    double w[3];
    pb_cross(g.p, at->v + 3, w);
    pb_cross(g.u, w, w);
    const double c = g.s * dot(at->v + 3, g.rho);
    pb_zero(Z, 3);
    for (int i = 0; i < 3; ++i) Z[3 + i] = -r * (c * g.rho[i] + w[i]);
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    double Z[6];
    const ga_eval eval = velocity_stiffness(user, at, Z);
    if (eval) return eval;
    c[0] = -dot(Z + 3, at->v + 3);
    return GA_EVAL_OK;
}

static ga_eval nonholonomic(void *user, const ga_point *at, double *k)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    double a[3], world[3];
    pb_cross(at->v + 3, g.p, a);
    pb_rotate(g.R, a, world);
    for (int i = 0; i < 2; ++i) k[i] = at->v[i] - r * world[i];
    return GA_EVAL_OK;
}

/* The rows x and y of a 3 x 3 matrix into the columns of Omega of one with 2 rows. */
static void horizontal(const double *A, double *out)
{
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i) out[i + 2 * (3 + j)] = A[i + 3 * j];
}

static ga_eval nonholonomic_gradient(void *user, const ga_point *at, double *N)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    double A[9] = {0};
    pb_add_rotated_skew(A, 3, r, g.R, g.p);
    pb_zero(N, 6);
    N[0] = N[3] = 1;
    horizontal(A, N);
    return GA_EVAL_OK;
}

/* D_q k = -r H R (-a~ + (Omega x t) rho^T) for rotations, a = Omega x p */
static ga_eval nonholonomic_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    double A[9] = {0}, a[3], w[3], world[3];
    pb_cross(at->v + 3, g.p, a);
    pb_cross(at->v + 3, g.t, w);
    pb_rotate(g.R, w, world);
    pb_add_rotated_skew(A, 3, r, g.R, a);
    add_outer(A, 3, -r, world, g.rho);
    pb_zero(Z, 6);
    horizontal(A, Z);
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs(void *user, const ga_point *at, double *d)
{
    double Z[12];
    const ga_eval eval = nonholonomic_stiffness(user, at, Z);
    if (eval) return eval;
    const double *Omega = at->v + 3;
    for (int i = 0; i < 2; ++i)
        d[i] = -(Z[i + 6] * Omega[0] + Z[i + 8] * Omega[1] + Z[i + 10] * Omega[2]);
    return GA_EVAL_OK;
}

/* With w = R^T (psi, 0):  B^T lambda = (.., -r lambda p x u),  N^T psi = (.., -r p x w). */
static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    geometry g;
    const ga_eval eval = locate(at->q, &g);
    if (eval) return eval;
    const double psi[3] = {at->psi[0], at->psi[1], 0}, l = at->lambda[0];
    double w[3], tw[3];
    pb_rotate_back(g.R, psi, w);
    pb_cross(g.t, w, tw);
    pb_zero(K, 36);
    add_outer(K + 21, 6, -r * l * g.s, g.rho, g.rho);
    pb_add_skew_skew(K + 21, 6, -r * l, g.p, g.u);
    add_outer(K + 21, 6, -r, tw, g.rho);
    pb_add_skew_skew(K + 21, 6, -r, g.p, w);
    return GA_EVAL_OK;
}

double pb_rolling_disc_energy(const double *q, const double *v)
{
    double energy = m * gravity * q[2];
    for (int i = 0; i < 3; ++i) energy += 0.5 * (m * v[i] * v[i] + J[i] * v[3 + i] * v[3 + i]);
    return energy;
}

/* BENCHMARKS.md, and more digits: extrapolation in quadruple precision of the equations for
 * Omega and R alone, self-difference below 1e-20. */
static const double vd_t0[6] = {0, -15, 0, -15, 0, 0}, lambda_t0[1] = {-147.15};
static const double psi_t0[2] = {0, 225};
static const double q_t1[7] = {2.77719890894206658610e+00, 3.23552939857704103055e+00,
                               6.92281875202220860771e-01, 4.33601552225025389826e-01,
                               2.94126827673199162557e-01, 2.29512119255465883753e-01,
                               8.20245871837105675187e-01};
static const double v_t1[6] = {-4.57370410761363128620e-01, 2.84461232371774533091e+00,
                               5.08107874250685952543e-02,  7.71769796797720054860e+00,
                               1.70227859011448632486e+01,  -2.88073444358998363899e+00};
static const double vd_t1[6] = {1.31687987757644830608e+01, 2.79213798038166135488e+00,
                                9.50894109164371877790e+01, -2.61195241928205393230e+02,
                                1.17012726272914251207e+02, 8.77347559561953920943e-01};
static const double lambda_t1[1] = {-1.57349116374655781668e+03};
static const double psi_t1[2] = {-1.97531981636467245912e+02, -4.18820697057249203232e+01};

ga_status pb_rolling_disc_create(double tilt, pb_problem **out)
{
    *out = NULL;
    if (!(fabs(tilt) < PB_PI / 2)) return GA_ERR_ARGUMENT;
    pb_problem *problem = pb_new("rolling disc", sizeof(disc));
    if (!problem) return GA_ERR_MEMORY;
    disc *p = problem->data;

    /* (cos, sin, 0, 0) o (0, 0, 1, 1)/sqrt 2 with half the tilt */
    const double c = cos(0.5 * tilt) * sqrt(0.5), s = sin(0.5 * tilt) * sqrt(0.5);
    p->q0[2] = r * cos(tilt);
    p->q0[5] = c - s;
    p->q0[6] = c + s;
    double *Omega = p->v0 + 3, a[3];
    Omega[1] = 15;
    Omega[2] = 5;
    geometry g;
    locate(p->q0, &g);
    pb_cross(Omega, g.p, a);
    pb_rotate(g.R, a, p->v0);
    for (int i = 0; i < 3; ++i) p->v0[i] *= r;

    problem->t_end = 1;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    if (tilt == 0) {
        problem->references = p->references;
        problem->reference_count = 2;
        p->references[0] = (pb_reference){0, 5e-14, p->q0, p->v0, vd_t0, lambda_t0, psi_t0};
        p->references[1] = (pb_reference){1, 5e-14, q_t1, v_t1, vd_t1, lambda_t1, psi_t1};
    }

    ga_system *sys = &problem->system;
    sys->struct_size = sizeof *sys;
    sys->node_count = 1;
    sys->nodes = &node;
    sys->constraint_count = 1;
    sys->mass = mass;
    sys->mass_is_constant = true;
    sys->force = force;
    sys->constraint = constraint;
    sys->gradient = gradient;
    sys->acceleration_rhs = acceleration_rhs;
    sys->nonholonomic_count = 2;
    sys->nonholonomic = nonholonomic;
    sys->nonholonomic_gradient = nonholonomic_gradient;
    sys->nonholonomic_rhs = nonholonomic_rhs;
    sys->stiffness = stiffness;
    sys->damping = damping;
    sys->velocity_stiffness = velocity_stiffness;
    sys->nonholonomic_stiffness = nonholonomic_stiffness;
    *out = problem;
    return GA_OK;
}
