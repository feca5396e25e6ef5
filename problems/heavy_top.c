/* Heavy top, [ABC14] eq. (62): a body turning about a fixed point, with the centre of mass x in
 * the world and X in the body.
 *
 *     Phi = -x + R X,   M = diag(m I, J)
 *
 *     R3xSO(3), v = (x', Omega):     B = (-I, -R X~),  f = (m gamma, -Omega x J Omega)
 *     SE(3),    v = (u, Omega), x' = R u:
 *                                    B = (-R, -R X~),  f = (m R^T gamma - m Omega x u,
 *                                                           -Omega x J Omega)
 *
 * Derivatives along R exp(s e~) use  D(R a) e = -R a~ e  and  D(R^T a) e = (R^T a)~ e.
 */
#include "problems/create.h"

static const double m = 15, gravity[3] = {0, 0, -9.81}, X[3] = {0, 1, 0};
static const double J[3] = {0.234375, 0.46875, 0.234375};

static const ga_node nodes[2] = {GA_NODE(GA_GROUP_R3SO3, 0), GA_NODE(GA_GROUP_SE3, 0)};

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

static void gyroscopic(const double *Omega, double *f)
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        f[i] = (J[j] - J[k]) * Omega[j] * Omega[k];
    }
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    ga_quaternion_rotate(at->q + 3, X, Phi);
    for (int i = 0; i < 3; ++i) Phi[i] -= at->q[i];
    return GA_EVAL_OK;
}

/* C = -df/dv of the gyroscopic torque: Omega~ J - (J Omega)~. */
static void add_gyroscopic_damping(const double *Omega, double *C)
{
    for (int i = 0; i < 3; ++i) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        C[3 + i + 6 * (3 + j)] -= (J[j] - J[k]) * Omega[k];
        C[3 + i + 6 * (3 + k)] -= (J[j] - J[k]) * Omega[j];
    }
}

/* R3xSO(3) */

static ga_eval force_r3so3(void *user, const ga_point *at, double *f)
{
    (void)user;
    for (int i = 0; i < 3; ++i) f[i] = m * gravity[i];
    gyroscopic(at->v + 3, f + 3);
    return GA_EVAL_OK;
}

static ga_eval gradient_r3so3(void *user, const ga_point *at, double *B)
{
    (void)user;
    double R[9];
    ga_quaternion_to_matrix(at->q + 3, R);
    pb_zero(B, 18);
    B[0] = B[4] = B[8] = -1;
    pb_add_rotated_skew(B + 9, 3, -1, R, X);
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs_r3so3(void *user, const ga_point *at, double *c)
{
    (void)user;
    double w[3];
    pb_cross(at->v + 3, X, w);
    pb_cross(w, at->v + 3, w); /* -Omega x (Omega x X) */
    ga_quaternion_rotate(at->q + 3, w, c);
    return GA_EVAL_OK;
}

static ga_eval stiffness_r3so3(void *user, const ga_point *at, double *K)
{
    (void)user;
    double l[3];
    ga_quaternion_rotate_back(at->q + 3, at->lambda, l);
    pb_zero(K, 36);
    pb_add_skew_skew(K + 21, 6, 1, X, l);
    return GA_EVAL_OK;
}

static ga_eval damping_r3so3(void *user, const ga_point *at, double *C)
{
    (void)user;
    pb_zero(C, 36);
    add_gyroscopic_damping(at->v + 3, C);
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness_r3so3(void *user, const ga_point *at, double *Z)
{
    (void)user;
    double R[9], w[3];
    ga_quaternion_to_matrix(at->q + 3, R);
    pb_cross(at->v + 3, X, w);
    pb_zero(Z, 18);
    pb_add_rotated_skew(Z + 9, 3, -1, R, w);
    return GA_EVAL_OK;
}

/* SE(3) */

static ga_eval force_se3(void *user, const ga_point *at, double *f)
{
    (void)user;
    double down[3], w[3];
    ga_quaternion_rotate_back(at->q + 3, gravity, down);
    pb_cross(at->v + 3, at->v, w);
    for (int i = 0; i < 3; ++i) f[i] = m * (down[i] - w[i]);
    gyroscopic(at->v + 3, f + 3);
    return GA_EVAL_OK;
}

static ga_eval gradient_se3(void *user, const ga_point *at, double *B)
{
    (void)user;
    double R[9];
    ga_quaternion_to_matrix(at->q + 3, R);
    for (int i = 0; i < 9; ++i) B[i] = -R[i];
    pb_zero(B + 9, 9);
    pb_add_rotated_skew(B + 9, 3, -1, R, X);
    return GA_EVAL_OK;
}

/* w with B v = R w. */
static void slip(const double *v, double *w)
{
    pb_cross(v + 3, X, w);
    for (int i = 0; i < 3; ++i) w[i] -= v[i];
}

static ga_eval acceleration_rhs_se3(void *user, const ga_point *at, double *c)
{
    (void)user;
    double w[3];
    slip(at->v, w);
    pb_cross(w, at->v + 3, w); /* -Omega x w */
    ga_quaternion_rotate(at->q + 3, w, c);
    return GA_EVAL_OK;
}

static ga_eval stiffness_se3(void *user, const ga_point *at, double *K)
{
    (void)user;
    double l[3], down[3];
    ga_quaternion_rotate_back(at->q + 3, at->lambda, l);
    ga_quaternion_rotate_back(at->q + 3, gravity, down);
    pb_zero(K, 36);
    pb_add_skew(K + 18, 6, -m, down);
    pb_add_skew(K + 18, 6, -1, l);
    pb_add_skew_skew(K + 21, 6, 1, X, l);
    return GA_EVAL_OK;
}

static ga_eval damping_se3(void *user, const ga_point *at, double *C)
{
    (void)user;
    pb_zero(C, 36);
    pb_add_skew(C, 6, m, at->v + 3);
    pb_add_skew(C + 18, 6, -m, at->v);
    add_gyroscopic_damping(at->v + 3, C);
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness_se3(void *user, const ga_point *at, double *Z)
{
    (void)user;
    double R[9], w[3];
    ga_quaternion_to_matrix(at->q + 3, R);
    slip(at->v, w);
    pb_zero(Z, 18);
    pb_add_rotated_skew(Z + 9, 3, -1, R, w);
    return GA_EVAL_OK;
}

static const double q0[7] = {0, 1, 0, 1, 0, 0, 0};
static const double v0[6] = {4.61538, 0, 0, 0, 150, -4.61538}; /* both groups: R(0) = I */

/* reference.json, B: extrapolation in 80 bits, self-difference 1.2e-15 relative. In SE(3),
 * u = Omega x X = (-Omega_3, 0, Omega_1). */
static const double vd_t0[2][6] = {
    {0, -21.3017325444, -30.9608307692307693, 661.346169230769231, 0, 0},
    {0, 0, 661.346169230769231, 661.346169230769231, 0, 0}};
static const double lambda_t0[3] = {0, -319.525988166, -317.262461538461539};
static const double q_t1[7] = {1.73343964098386006e-01,  6.40088592070568900e-01,
                               -7.48490791133581218e-01, 7.32943980679663863e-01,
                               -2.78285719337612711e-01, 5.31824611334162473e-01,
                               -3.20176142736249162e-01};
static const double v_t1[2][6] = {{5.70825303425488041e-01, -4.58872829633495033e+00,
                                   -3.79195515471004177e+00, -8.22078101682706084e-01, 150,
                                   -5.92329134811733463e+00},
                                  {5.92329134811733463e+00, 0, -8.22078101682706084e-01,
                                   -8.22078101682706084e-01, 150, -5.92329134811733463e+00}};
static const double vd_t1[2][6] = {{-3.45067159651266587e+01, -2.64562067659702799e+01,
                                    1.71616616775256268e+01, 8.58456308933181900e+02, 0,
                                    -1.25326423389503358e+02},
                                   {1.25326423389503358e+02, 0, 8.58456308933181900e+02,
                                    8.58456308933181900e+02, 0, -1.25326423389503358e+02}};
static const double lambda_t1[3] = {-5.17600739476899880e+02, -3.96843101489554198e+02,
                                    4.04574925162884402e+02};

static const pb_reference references[2][2] = {
    {{0, 1e-14, q0, v0, vd_t0[0], lambda_t0, NULL},
     {1, 1e-14, q_t1, v_t1[0], vd_t1[0], lambda_t1, NULL}},
    {{0, 1e-14, q0, v0, vd_t0[1], lambda_t0, NULL},
     {1, 1e-14, q_t1, v_t1[1], vd_t1[1], lambda_t1, NULL}}};

ga_status pb_heavy_top_create(ga_group group, pb_problem **out)
{
    *out = NULL;
    if (group != GA_GROUP_R3SO3 && group != GA_GROUP_SE3) return GA_ERR_ARGUMENT;
    const bool se3 = group == GA_GROUP_SE3;
    pb_problem *problem = pb_new(se3 ? "heavy top, SE(3)" : "heavy top, R3xSO(3)", 1);
    if (!problem) return GA_ERR_MEMORY;

    problem->t_end = 1;
    problem->q0 = q0;
    problem->v0 = v0;
    problem->references = references[se3];
    problem->reference_count = 2;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &nodes[se3];
    s->constraint_count = 3;
    s->mass = mass;
    s->mass_is_constant = true;
    s->force = se3 ? force_se3 : force_r3so3;
    s->constraint = constraint;
    s->gradient = se3 ? gradient_se3 : gradient_r3so3;
    s->acceleration_rhs = se3 ? acceleration_rhs_se3 : acceleration_rhs_r3so3;
    s->stiffness = se3 ? stiffness_se3 : stiffness_r3so3;
    s->damping = se3 ? damping_se3 : damping_r3so3;
    s->velocity_stiffness = se3 ? velocity_stiffness_se3 : velocity_stiffness_r3so3;
    *out = problem;
    return GA_OK;
}
