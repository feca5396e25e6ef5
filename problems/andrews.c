/* Andrews' squeezing mechanism, [AB07] section 5.2: seven bodies in the plane, one degree of
 * freedom, a torque at O and a spring between C and the point D of body 3; no gravity. Data as
 * in the Test Set for IVP Solvers.
 *
 * Absolute angles a_1 ... a_7 = beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon,
 * epsilon. With the arms s_k fixed in the bodies and R_k = R(a_k), four chains meet in E:
 *
 *     E = R_1 (rr, 0) - R_2 (d, 0)           from O, by F
 *       = B + R_3 (0, -ss)
 *       = A + R_5 (zt, 0) + R_4 (0, -e)      by G
 *       = A + R_7 (0, -u) + R_6 (zf, 0)      by H
 *
 * Relative model: the first chain minus each other, 6 equations in the 7 angles beta, Theta,
 * gamma, Phi, delta, Omega, epsilon.
 *
 * Absolute model: coordinates a_1 ... a_7, centres of mass C1 ... C7, points F, E, G, H, D, and
 * for every arm P = Q + R_k s an equation P - Q - R_k s = 0 in two rows, see arms[].
 *
 * The angle enters each equation by a vector p = R_k s: dp/da = p^ (p turned by pi/2) and
 * d^2p/da^2 = -p give every derivative.
 */
#include "problems/create.h"
#include <math.h>

static const double mass_of[7] = {0.04325, 0.00365, 0.02373, 0.00706, 0.0705, 0.00706, 0.05498};
static const double inertia[7] = {2.194e-6, 4.41e-7,  5.255e-6, 5.667e-7,
                                  1.169e-5, 5.667e-7, 1.912e-5};
#define POINT_A -0.06934, -0.00227
#define POINT_B -0.03635, 0.03273
static const double A[2] = {POINT_A}, B[2] = {POINT_B}, C[2] = {0.014, 0.072};
static const double c0 = 4530, l0 = 0.07785, torque = 0.033;
static const double d = 0.028, da = 0.0115, e = 0.02, rr = 0.007, ra = 0.00092;
static const double ss = 0.035, sa = 0.01874, sb = 0.01043, sc = 0.018, sd = 0.02;
static const double ta = 0.02308, tb = 0.00916, u = 0.04, ua = 0.01228, ub = 0.00449;
static const double zf = 0.02, zt = 0.04;
static const double e_ea = 0.00579, zf_fa = 0.00579; /* e - ea, zf - fa */

/* Force of the spring on its end D, and its stiffness -dF/dD (2 x 2) if K is not null. */
static void spring(const double *D, double *F, double *K)
{
    const double x = D[0] - C[0], y = D[1] - C[1], length2 = x * x + y * y;
    const double tension = c0 * (1 - l0 / sqrt(length2)); /* force per length */
    F[0] = -tension * x;
    F[1] = -tension * y;
    if (!K) return;
    const double k = (c0 - tension) / length2;
    K[0] = tension + k * x * x;
    K[1] = K[2] = k * x * y;
    K[3] = tension + k * y * y;
}

/* Relative coordinates. */

enum { BETA, THETA, GAMMA, PHI, DELTA, OMEGA, EPSILON };

static const ga_node relative_node = GA_NODE(GA_GROUP_RN, 7);

/* Inertia couplings of two bodies each: M depends on Theta, Phi, Omega by these. */
static const double mu = 0.00365 * 0.0115 * 0.007;    /* m2 da rr */
static const double nu = 0.00706 * 0.04 * 0.00579;    /* m4 zt (e - ea) */
static const double kappa = 0.00706 * 0.04 * 0.00579; /* m6 u (zf - fa) */

/* a = T q, the same for velocities. */
static void absolute_angles(const double *q, double *a)
{
    a[0] = q[BETA];
    a[1] = q[BETA] + q[THETA];
    a[2] = q[GAMMA];
    a[3] = q[PHI] + q[DELTA];
    a[4] = q[DELTA];
    a[5] = q[OMEGA] + q[EPSILON];
    a[6] = q[EPSILON];
}

typedef struct vec2 {
    double x, y;
} vec2;

/* The vectors p_k as they enter the loops, signs included: loop 1 is p_0 + p_1 + p_2 - B, loop
 * 2 p_0 + p_1 + p_3 + p_4 - A, loop 3 p_0 + p_1 + p_5 + p_6 - A. */
static void loop_vectors(const double *q, vec2 *p)
{
    double a[7];
    absolute_angles(q, a);
    p[0] = (vec2){rr * cos(a[0]), rr * sin(a[0])};
    p[1] = (vec2){-d * cos(a[1]), -d * sin(a[1])};
    p[2] = (vec2){-ss * sin(a[2]), ss * cos(a[2])};
    p[3] = (vec2){-e * sin(a[3]), e * cos(a[3])};
    p[4] = (vec2){-zt * cos(a[4]), -zt * sin(a[4])};
    p[5] = (vec2){-zf * cos(a[5]), -zf * sin(a[5])};
    p[6] = (vec2){-u * sin(a[6]), u * cos(a[6])};
}

static ga_eval relative_mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    const double *m = mass_of, *I = inertia;
    const double cTheta = mu * cos(at->q[THETA]);
    const double sPhi = nu * sin(at->q[PHI]), sOmega = kappa * sin(at->q[OMEGA]);
    pb_zero(M, 49);
    M[8 * THETA] = m[1] * da * da + I[1];
    M[BETA + 7 * THETA] = M[THETA + 7 * BETA] = M[8 * THETA] - cTheta;
    M[8 * BETA] = m[0] * ra * ra + I[0] + m[1] * rr * rr + M[8 * THETA] - 2 * cTheta;
    M[8 * GAMMA] = m[2] * (sa * sa + sb * sb) + I[2];
    M[8 * PHI] = m[3] * e_ea * e_ea + I[3];
    M[PHI + 7 * DELTA] = M[DELTA + 7 * PHI] = M[8 * PHI] + sPhi;
    M[8 * DELTA] = M[8 * PHI] + 2 * sPhi + m[3] * zt * zt + m[4] * (ta * ta + tb * tb) + I[4];
    M[8 * OMEGA] = m[5] * zf_fa * zf_fa + I[5];
    M[OMEGA + 7 * EPSILON] = M[EPSILON + 7 * OMEGA] = M[8 * OMEGA] - sOmega;
    M[8 * EPSILON] =
        M[8 * OMEGA] - 2 * sOmega + m[5] * u * u + m[6] * (ua * ua + ub * ub) + I[6];
    return GA_EVAL_OK;
}

/* D - B, the arm of the spring on body 3. */
static vec2 spring_arm(double gamma)
{
    const double c = cos(gamma), s = sin(gamma);
    return (vec2){sd * c + sc * s, sd * s - sc * c};
}

static ga_eval relative_force(void *user, const ga_point *at, double *f)
{
    (void)user;
    const double *q = at->q, *v = at->v;
    const double sTheta = mu * sin(q[THETA]);
    const double cPhi = nu * cos(q[PHI]), cOmega = kappa * cos(q[OMEGA]);
    const vec2 arm = spring_arm(q[GAMMA]);
    const double D[2] = {B[0] + arm.x, B[1] + arm.y};
    double F[2];
    spring(D, F, NULL);
    f[BETA] = torque - sTheta * v[THETA] * (v[THETA] + 2 * v[BETA]);
    f[THETA] = sTheta * v[BETA] * v[BETA];
    f[GAMMA] = F[1] * arm.x - F[0] * arm.y;
    f[PHI] = cPhi * v[DELTA] * v[DELTA];
    f[DELTA] = -cPhi * v[PHI] * (v[PHI] + 2 * v[DELTA]);
    f[OMEGA] = -cOmega * v[EPSILON] * v[EPSILON];
    f[EPSILON] = cOmega * v[OMEGA] * (v[OMEGA] + 2 * v[EPSILON]);
    return GA_EVAL_OK;
}

static ga_eval relative_constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    vec2 p[7];
    loop_vectors(at->q, p);
    const double x = p[0].x + p[1].x, y = p[0].y + p[1].y;
    Phi[0] = x + p[2].x - B[0];
    Phi[1] = y + p[2].y - B[1];
    Phi[2] = x + p[3].x + p[4].x - A[0];
    Phi[3] = y + p[3].y + p[4].y - A[1];
    Phi[4] = x + p[5].x + p[6].x - A[0];
    Phi[5] = y + p[5].y + p[6].y - A[1];
    return GA_EVAL_OK;
}

/* The 6 x 7 matrix with columns of loops by relative angles from those by absolute angles g. */
static void write_loop_matrix(const vec2 *g, double *out)
{
    pb_zero(out, 42);
    for (int loop = 0; loop < 6; loop += 2) {
        out[loop + 6 * BETA] = g[0].x + g[1].x;
        out[loop + 1 + 6 * BETA] = g[0].y + g[1].y;
        out[loop + 6 * THETA] = g[1].x;
        out[loop + 1 + 6 * THETA] = g[1].y;
    }
    out[0 + 6 * GAMMA] = g[2].x;
    out[1 + 6 * GAMMA] = g[2].y;
    out[2 + 6 * PHI] = g[3].x;
    out[3 + 6 * PHI] = g[3].y;
    out[2 + 6 * DELTA] = g[3].x + g[4].x;
    out[3 + 6 * DELTA] = g[3].y + g[4].y;
    out[4 + 6 * OMEGA] = g[5].x;
    out[5 + 6 * OMEGA] = g[5].y;
    out[4 + 6 * EPSILON] = g[5].x + g[6].x;
    out[5 + 6 * EPSILON] = g[5].y + g[6].y;
}

static ga_eval relative_gradient(void *user, const ga_point *at, double *out)
{
    (void)user;
    vec2 p[7];
    loop_vectors(at->q, p);
    for (int k = 0; k < 7; ++k) p[k] = (vec2){-p[k].y, p[k].x};
    write_loop_matrix(p, out);
    return GA_EVAL_OK;
}

static ga_eval relative_velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    vec2 p[7];
    double w[7];
    loop_vectors(at->q, p);
    absolute_angles(at->v, w);
    for (int k = 0; k < 7; ++k) p[k] = (vec2){-w[k] * p[k].x, -w[k] * p[k].y};
    write_loop_matrix(p, Z);
    return GA_EVAL_OK;
}

static ga_eval relative_acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    vec2 p[7];
    double w[7];
    loop_vectors(at->q, p);
    absolute_angles(at->v, w);
    for (int k = 0; k < 7; ++k) p[k] = (vec2){w[k] * w[k] * p[k].x, w[k] * w[k] * p[k].y};
    const double x = p[0].x + p[1].x, y = p[0].y + p[1].y;
    c[0] = x + p[2].x;
    c[1] = y + p[2].y;
    c[2] = x + p[3].x + p[4].x;
    c[3] = y + p[3].y + p[4].y;
    c[4] = x + p[5].x + p[6].x;
    c[5] = y + p[5].y + p[6].y;
    return GA_EVAL_OK;
}

/* D (B^T lambda): for each absolute angle the weight -p.L, L the sum of the loops' lambda. */
static void add_reaction_stiffness(const double *q, const double *l, double *K)
{
    vec2 p[7];
    loop_vectors(q, p);
    const double x = l[0] + l[2] + l[4], y = l[1] + l[3] + l[5];
    const double w0 = -p[0].x * x - p[0].y * y, w1 = -p[1].x * x - p[1].y * y;
    const double w2 = -p[2].x * l[0] - p[2].y * l[1];
    const double w3 = -p[3].x * l[2] - p[3].y * l[3], w4 = -p[4].x * l[2] - p[4].y * l[3];
    const double w5 = -p[5].x * l[4] - p[5].y * l[5], w6 = -p[6].x * l[4] - p[6].y * l[5];
    K[8 * BETA] += w0 + w1;
    K[BETA + 7 * THETA] += w1;
    K[THETA + 7 * BETA] += w1;
    K[8 * THETA] += w1;
    K[8 * GAMMA] += w2;
    K[8 * PHI] += w3;
    K[PHI + 7 * DELTA] += w3;
    K[DELTA + 7 * PHI] += w3;
    K[8 * DELTA] += w3 + w4;
    K[8 * OMEGA] += w5;
    K[OMEGA + 7 * EPSILON] += w5;
    K[EPSILON + 7 * OMEGA] += w5;
    K[8 * EPSILON] += w5 + w6;
}

static ga_eval relative_stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *q = at->q, *v = at->v, *vd = at->vd;
    const double cTheta = mu * cos(q[THETA]), sTheta = mu * sin(q[THETA]);
    const double cPhi = nu * cos(q[PHI]), sPhi = nu * sin(q[PHI]);
    const double cOmega = kappa * cos(q[OMEGA]), sOmega = kappa * sin(q[OMEGA]);
    pb_zero(K, 49);
    add_reaction_stiffness(q, at->lambda, K);
    /* M v' - f, column by column */
    K[BETA + 7 * THETA] +=
        sTheta * (2 * vd[BETA] + vd[THETA]) + cTheta * v[THETA] * (v[THETA] + 2 * v[BETA]);
    K[8 * THETA] += sTheta * vd[BETA] - cTheta * v[BETA] * v[BETA];
    K[8 * PHI] += cPhi * vd[DELTA] + sPhi * v[DELTA] * v[DELTA];
    K[DELTA + 7 * PHI] +=
        cPhi * (vd[PHI] + 2 * vd[DELTA]) - sPhi * v[PHI] * (v[PHI] + 2 * v[DELTA]);
    K[8 * OMEGA] += -cOmega * vd[EPSILON] - sOmega * v[EPSILON] * v[EPSILON];
    K[EPSILON + 7 * OMEGA] += -cOmega * (vd[OMEGA] + 2 * vd[EPSILON]) +
                              sOmega * v[OMEGA] * (v[OMEGA] + 2 * v[EPSILON]);
    /* spring: torque F.r^ with r = D - B, so -d/dgamma = r^.(K_D r^) + F.r */
    const vec2 r = spring_arm(q[GAMMA]);
    const double D[2] = {B[0] + r.x, B[1] + r.y};
    double F[2], S[4];
    spring(D, F, S);
    K[8 * GAMMA] +=
        S[0] * r.y * r.y - 2 * S[1] * r.x * r.y + S[3] * r.x * r.x + F[0] * r.x + F[1] * r.y;
    return GA_EVAL_OK;
}

static ga_eval relative_damping(void *user, const ga_point *at, double *out)
{
    (void)user;
    const double *q = at->q, *v = at->v;
    const double sTheta = 2 * mu * sin(q[THETA]);
    const double cPhi = 2 * nu * cos(q[PHI]), cOmega = 2 * kappa * cos(q[OMEGA]);
    pb_zero(out, 49);
    out[8 * BETA] = sTheta * v[THETA];
    out[BETA + 7 * THETA] = sTheta * (v[THETA] + v[BETA]);
    out[THETA + 7 * BETA] = -sTheta * v[BETA];
    out[PHI + 7 * DELTA] = -cPhi * v[DELTA];
    out[DELTA + 7 * PHI] = cPhi * (v[PHI] + v[DELTA]);
    out[8 * DELTA] = cPhi * v[PHI];
    out[OMEGA + 7 * EPSILON] = cOmega * v[EPSILON];
    out[EPSILON + 7 * OMEGA] = -cOmega * (v[OMEGA] + v[EPSILON]);
    out[8 * EPSILON] = -cOmega * v[OMEGA];
    return GA_EVAL_OK;
}

static const double relative_q0[7] = {-0.0617138900142764496, 0,
                                      0.455279819163070380,   0.222668390165885885,
                                      0.487364979543842550,   -0.222668390165885885,
                                      1.23054744454982119};
static const double rest[31] = {0};

/* reference.json, G: extrapolation in 80 bits, self-difference 1.1e-13 relative. */
static const double relative_vd_t0[7] = {
    1.42224439199541139e+04, -1.06668329399655854e+04, 0, 0, 0, 0, 0};
static const double relative_lambda_t0[6] = {
    9.85668703962410896e+01, -6.12268834425566265e+00, 0, 0, 0, 0};
static const double angles_end[7] = {1.58107711951536971e+01, -1.57563710584118282e+01,
                                     4.08222401196458488e-02, -5.34730116342079632e-01,
                                     5.24409965879954088e-01, 5.34730116342079495e-01,
                                     1.04808074104193790e+00};
static const double velocities_end[7] = {1.13992030225910625e+03, -1.42437929517754050e+03,
                                         1.10329119106160530e+01, 1.92933741050275755e+01,
                                         5.73569914829374684e-01, -1.92933741050275951e+01,
                                         3.23179149249059337e-01};
static const double accelerations_end[7] = {-2.46317631228656771e+04, 5.18503196364499714e+04,
                                            3.24102600707579089e+05,  5.66749422000996177e+05,
                                            1.67436354183455401e+04,  -5.66749422000996176e+05,
                                            9.82650780154406164e+03};
static const double relative_lambda_end[6] = {1.99175348104538844e+02, -2.97553099749714201e+01,
                                              2.30665436116221875e+01, 3.14527252757713110e+01,
                                              2.26424947863944147e+01, 1.16173923526111468e+01};
static const pb_reference relative_references[2] = {
    {0, 1e-12, relative_q0, rest, relative_vd_t0, relative_lambda_t0, NULL},
    {0.03, 1e-11, angles_end, velocities_end, accelerations_end, relative_lambda_end, NULL}};

ga_status pb_andrews_relative_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("Andrews, relative", 1);
    if (!problem) return GA_ERR_MEMORY;
    problem->t_end = 0.03;
    problem->q0 = relative_q0;
    problem->v0 = rest;
    problem->references = relative_references;
    problem->reference_count = 2;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &relative_node;
    s->constraint_count = 6;
    s->mass = relative_mass;
    s->force = relative_force;
    s->constraint = relative_constraint;
    s->gradient = relative_gradient;
    s->acceleration_rhs = relative_acceleration_rhs;
    s->stiffness = relative_stiffness;
    s->damping = relative_damping;
    s->velocity_stiffness = relative_velocity_stiffness;
    *out = problem;
    return GA_OK;
}

/* Absolute coordinates. */

enum {
    C1 = 7,
    C2 = 9,
    C3 = 11,
    C4 = 13,
    C5 = 15,
    C6 = 17,
    C7 = 19,
    F = 21,
    E = 23,
    G = 25,
    H = 27,
    D_POINT = 29,
    NQ = 31,
    ARMS = 15,
    NC = 2 * ARMS,
    MASS = 21,
    GRADIENT = 72, /* 4 for each arm, 2 more for each of the 6 arms between moving points */
    STIFFNESS = 11,
    GROUND = -1
};

/* P = Q + R_body arm. Q is a point or, if GROUND, fixed. A point is first reached by an arm
 * before others start from it. */
static const struct {
    int P, Q, body; /* body counts from 0 */
    double ground[2], arm[2];
} arms[ARMS] = {
    {C1, GROUND, 0, {0, 0}, {0.00092, 0}},            /* ra */
    {F, GROUND, 0, {0, 0}, {0.007, 0}},               /* rr */
    {C2, F, 1, {0, 0}, {-0.0115, 0}},                 /* -da */
    {E, F, 1, {0, 0}, {-0.028, 0}},                   /* -d */
    {C3, GROUND, 2, {POINT_B}, {0.01043, -0.01874}},  /* sb, -sa */
    {E, GROUND, 2, {POINT_B}, {0, -0.035}},           /* -ss */
    {D_POINT, GROUND, 2, {POINT_B}, {0.02, -0.018}},  /* sd, -sc */
    {C5, GROUND, 4, {POINT_A}, {0.02308, 0.00916}},   /* ta, tb */
    {G, GROUND, 4, {POINT_A}, {0.04, 0}},             /* zt */
    {C4, G, 3, {0, 0}, {0, -0.00579}},                /* -(e - ea) */
    {E, G, 3, {0, 0}, {0, -0.02}},                    /* -e */
    {C7, GROUND, 6, {POINT_A}, {-0.00449, -0.01228}}, /* -ub, -ua */
    {H, GROUND, 6, {POINT_A}, {0, -0.04}},            /* -u */
    {C6, H, 5, {0, 0}, {0.00579, 0}},                 /* zf - fa */
    {E, H, 5, {0, 0}, {0.02, 0}},                     /* zf */
};

typedef struct absolute_model {
    double q0[NQ];
    double q_end[NQ], v_end[NQ], vd_t0[NQ], vd_end[NQ];
    int mass_at[MASS], row[NC], angle[NC];
    int gradient_row[GRADIENT], gradient_col[GRADIENT];
    pb_reference references[2];
} absolute_model;

static const ga_node absolute_node = GA_NODE(GA_GROUP_RN, NQ);

static void rotate_arm(int j, const double *cosine, const double *sine, double *r)
{
    const double *s = arms[j].arm, c = cosine[arms[j].body], n = sine[arms[j].body];
    r[0] = c * s[0] - n * s[1];
    r[1] = n * s[0] + c * s[1];
}

static void cosines(const double *q, double *cosine, double *sine)
{
    for (int k = 0; k < 7; ++k) {
        cosine[k] = cos(q[k]);
        sine[k] = sin(q[k]);
    }
}

static ga_eval absolute_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    for (int k = 0; k < 7; ++k) {
        M[k] = inertia[k];
        M[7 + 2 * k] = M[8 + 2 * k] = mass_of[k];
    }
    return GA_EVAL_OK;
}

static ga_eval absolute_force(void *user, const ga_point *at, double *f)
{
    (void)user;
    pb_zero(f, NQ);
    f[0] = torque;
    spring(at->q + D_POINT, f + D_POINT, NULL);
    return GA_EVAL_OK;
}

static ga_eval absolute_constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    double cosine[7], sine[7], r[2];
    cosines(at->q, cosine, sine);
    for (int j = 0; j < ARMS; ++j, Phi += 2) {
        const double *P = at->q + arms[j].P;
        const double *Q = arms[j].Q == GROUND ? arms[j].ground : at->q + arms[j].Q;
        rotate_arm(j, cosine, sine, r);
        Phi[0] = P[0] - Q[0] - r[0];
        Phi[1] = P[1] - Q[1] - r[1];
    }
    return GA_EVAL_OK;
}

/* Per arm: P (x, y), angle (x, y) and, if it moves, Q (x, y). */
static ga_eval absolute_gradient(void *user, const ga_point *at, double *out)
{
    (void)user;
    double cosine[7], sine[7], r[2];
    cosines(at->q, cosine, sine);
    for (int j = 0; j < ARMS; ++j) {
        rotate_arm(j, cosine, sine, r);
        *out++ = 1;
        *out++ = 1;
        *out++ = r[1];
        *out++ = -r[0];
        if (arms[j].Q == GROUND) continue;
        *out++ = -1;
        *out++ = -1;
    }
    return GA_EVAL_OK;
}

static ga_eval absolute_acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    double cosine[7], sine[7], r[2];
    cosines(at->q, cosine, sine);
    for (int j = 0; j < ARMS; ++j, c += 2) {
        const double w = at->v[arms[j].body];
        rotate_arm(j, cosine, sine, r);
        c[0] = -w * w * r[0];
        c[1] = -w * w * r[1];
    }
    return GA_EVAL_OK;
}

static const int stiffness_row[STIFFNESS] = {0, 1,       2,           3,       4,          5,
                                             6, D_POINT, D_POINT + 1, D_POINT, D_POINT + 1};
static const int stiffness_col[STIFFNESS] = {0, 1,       2,       3,           4,          5,
                                             6, D_POINT, D_POINT, D_POINT + 1, D_POINT + 1};

static ga_eval absolute_stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    double cosine[7], sine[7], r[2], tension[2];
    cosines(at->q, cosine, sine);
    pb_zero(K, 7);
    for (int j = 0; j < ARMS; ++j) {
        rotate_arm(j, cosine, sine, r);
        K[arms[j].body] += r[0] * at->lambda[2 * j] + r[1] * at->lambda[2 * j + 1];
    }
    spring(at->q + D_POINT, tension, K + 7);
    return GA_EVAL_OK;
}

static const int damping_at[1] = {0};

static ga_eval absolute_damping(void *user, const ga_point *at, double *out)
{
    (void)user, (void)at;
    out[0] = 0; /* an empty pattern would mean a full matrix */
    return GA_EVAL_OK;
}

static ga_eval absolute_velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    double cosine[7], sine[7], r[2];
    cosines(at->q, cosine, sine);
    for (int j = 0; j < ARMS; ++j, Z += 2) {
        const double w = at->v[arms[j].body];
        rotate_arm(j, cosine, sine, r);
        Z[0] = w * r[0];
        Z[1] = w * r[1];
    }
    return GA_EVAL_OK;
}

/* Absolute coordinates, velocities and accelerations from relative ones. */
static void to_absolute(const double *angles, const double *rates, const double *accelerations,
                        double *q, double *v, double *vd)
{
    double cosine[7], sine[7], r[2];
    absolute_angles(angles, q);
    absolute_angles(rates, v);
    absolute_angles(accelerations, vd);
    cosines(q, cosine, sine);
    for (int j = 0; j < ARMS; ++j) {
        const int P = arms[j].P, Q = arms[j].Q, k = arms[j].body;
        rotate_arm(j, cosine, sine, r);
        const double turned[2] = {-r[1], r[0]};
        for (int i = 0; i < 2; ++i) {
            q[P + i] = (Q == GROUND ? arms[j].ground[i] : q[Q + i]) + r[i];
            v[P + i] = (Q == GROUND ? 0 : v[Q + i]) + v[k] * turned[i];
            vd[P + i] = (Q == GROUND ? 0 : vd[Q + i]) + vd[k] * turned[i] - v[k] * v[k] * r[i];
        }
    }
}

void pb_andrews_angles(const double *absolute, double *relative)
{
    relative[BETA] = absolute[0];
    relative[THETA] = absolute[1] - absolute[0];
    relative[GAMMA] = absolute[2];
    relative[PHI] = absolute[3] - absolute[4];
    relative[DELTA] = absolute[4];
    relative[OMEGA] = absolute[5] - absolute[6];
    relative[EPSILON] = absolute[6];
}

static void fill_patterns(absolute_model *p)
{
    for (int i = 0; i < MASS; ++i) p->mass_at[i] = i;
    int n = 0;
    for (int j = 0; j < ARMS; ++j) {
        const int column[3][2] = {{arms[j].P, arms[j].P + 1},
                                  {arms[j].body, arms[j].body},
                                  {arms[j].Q, arms[j].Q + 1}};
        for (int block = 0; block < (arms[j].Q == GROUND ? 2 : 3); ++block) {
            for (int i = 0; i < 2; ++i, ++n) {
                p->gradient_row[n] = 2 * j + i;
                p->gradient_col[n] = column[block][i];
            }
        }
        for (int i = 0; i < 2; ++i) {
            p->row[2 * j + i] = 2 * j + i;
            p->angle[2 * j + i] = arms[j].body;
        }
    }
}

static const double absolute_lambda_t0[NC] = {-3.49024071436527995e-02,
                                              -5.64833719970483908e-01,
                                              -9.85800772162349730e+01,
                                              5.90895932449427541e+00,
                                              -1.32068199938834497e-02,
                                              -2.13729019761387241e-01,
                                              -9.85668703962410896e+01,
                                              6.12268834425566265e+00,
                                              0,
                                              0,
                                              9.85668703962410896e+01,
                                              -6.12268834425566265e+00,
                                              -5.29910979783266060e+01,
                                              -1.00996331178197304e+02,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0,
                                              0};
static const double absolute_lambda_end[NC] = {
    -5.13302689742336613e+01, -6.28113007510951275e+00, -2.81298221731437359e+02,
    -1.63919235201366567e+01, -3.64138352288819129e+01, -3.07711586672561903e+00,
    -2.44884386502555446e+02, -1.33148076534110377e+01, -1.40702390461932338e+02,
    -8.60846986697350079e+01, 1.99175348104538844e+02,  -2.97553099749714201e+01,
    -2.97026838075743058e+01, -5.65732883314156703e+01, 2.30012998128324835e+01,
    -1.81687464952792749e+01, 1.58357087857075840e+00,  2.75897894326576405e+01,
    -2.14829727330514291e+01, -3.86293584311367052e+00, 2.30665436116221875e+01,
    3.14527252757713110e+01,  -5.41393306284755355e+00, -4.53752162710251424e+00,
    -1.50695390891687730e+00, 8.95412608844512369e+00,  -2.41494486953112920e+01,
    -2.66326626416602311e+00, 2.26424947863944147e+01,  1.16173923526111468e+01};
ga_status pb_andrews_absolute_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("Andrews, absolute", sizeof(absolute_model));
    if (!problem) return GA_ERR_MEMORY;
    absolute_model *p = problem->data;
    fill_patterns(p);
    to_absolute(angles_end, velocities_end, accelerations_end, p->q_end, p->v_end, p->vd_end);
    double zero[NQ];
    to_absolute(relative_q0, rest, relative_vd_t0, p->q0, zero, p->vd_t0);
    p->references[0] =
        (pb_reference){0, 1e-12, p->q0, rest, p->vd_t0, absolute_lambda_t0, NULL};
    p->references[1] =
        (pb_reference){0.03, 1e-11, p->q_end, p->v_end, p->vd_end, absolute_lambda_end, NULL};

    problem->t_end = 0.03;
    problem->q0 = p->q0;
    problem->v0 = rest;
    problem->references = p->references;
    problem->reference_count = 2;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &absolute_node;
    s->constraint_count = NC;
    s->mass = absolute_mass;
    s->mass_pattern = (ga_pattern){.count = MASS, .row = p->mass_at, .col = p->mass_at};
    s->mass_is_constant = true;
    s->force = absolute_force;
    s->constraint = absolute_constraint;
    s->gradient = absolute_gradient;
    s->gradient_pattern =
        (ga_pattern){.count = GRADIENT, .row = p->gradient_row, .col = p->gradient_col};
    s->acceleration_rhs = absolute_acceleration_rhs;
    s->stiffness = absolute_stiffness;
    s->stiffness_pattern =
        (ga_pattern){.count = STIFFNESS, .row = stiffness_row, .col = stiffness_col};
    s->damping = absolute_damping;
    s->damping_pattern = (ga_pattern){.count = 1, .row = damping_at, .col = damping_at};
    s->velocity_stiffness = absolute_velocity_stiffness;
    s->velocity_stiffness_pattern = (ga_pattern){.count = NC, .row = p->row, .col = p->angle};
    *out = problem;
    return GA_OK;
}
