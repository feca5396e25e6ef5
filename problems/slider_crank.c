/* Slider-crank mechanism with a mass on a spring, [AB07] section 5.1. The paper leaves the
 * geometry open; here the crank turns about the origin, the slider moves on y = 0, rods are
 * uniform, there is no gravity, and the connecting rod starts at theta2 = -pi/6.
 *
 *     q = (x1 y1 theta1  x2 y2 theta2  x3  x4  x5 y5):
 *     crank, rod, slider, mass on the spring, hinge between crank and rod
 *
 *     Phi: x1 - a c1        = 0     x2 - x5 - b c2 = 0      a = l1/2, b = l2/2
 *          y1 - a s1        = 0     y2 - y5 - b s2 = 0      c1 = cos theta1, ...
 *          x5 - x1 - a c1   = 0     x3 - x2 - b c2 = 0
 *          y5 - y1 - a s1   = 0     y2 + b s2      = 0
 *
 * The hinge has no mass, so M is singular; [M B^T; B 0] is not.
 */
#include "problems/create.h"
#include <math.h>

enum { X1, Y1, TH1, X2, Y2, TH2, X3, X4, X5, Y5, NQ, NC = 8 };

static const double a = 0.15, b = 0.3; /* half the lengths 0.3 and 0.6 */
static const double m1 = 0.36, m2 = 0.15, m3 = 0.1, m4 = 0.7;
static const double k = 1000, torque = 1;

static const ga_node node = GA_NODE(GA_GROUP_RN, NQ);

static const int mass_at[8] = {X1, Y1, TH1, X2, Y2, TH2, X3, X4};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[1] = m1;
    M[2] = m1 * a * a / 3; /* m l^2/12 */
    M[3] = M[4] = m2;
    M[5] = m2 * b * b / 3;
    M[6] = m3;
    M[7] = m4;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user;
    pb_zero(f, NQ);
    f[TH1] = torque;
    f[X3] = k * (at->q[X4] - at->q[X3]);
    f[X4] = -f[X3];
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    const double *q = at->q;
    const double ac = a * cos(q[TH1]), as = a * sin(q[TH1]);
    const double bc = b * cos(q[TH2]), bs = b * sin(q[TH2]);
    Phi[0] = q[X1] - ac;
    Phi[1] = q[Y1] - as;
    Phi[2] = q[X5] - q[X1] - ac;
    Phi[3] = q[Y5] - q[Y1] - as;
    Phi[4] = q[X2] - q[X5] - bc;
    Phi[5] = q[Y2] - q[Y5] - bs;
    Phi[6] = q[X3] - q[X2] - bc;
    Phi[7] = q[Y2] + bs;
    return GA_EVAL_OK;
}

/* clang-format off */
enum { GRADIENT = 21 };
static const int gradient_row[GRADIENT] = {0, 0,    1, 1,    2, 2, 2,      3, 3, 3,
                                           4, 4, 4,      5, 5, 5,      6, 6, 6,      7, 7};
static const int gradient_col[GRADIENT] = {X1, TH1, Y1, TH1, X5, X1, TH1,  Y5, Y1, TH1,
                                           X2, X5, TH2,  Y2, Y5, TH2,  X3, X2, TH2,  Y2, TH2};

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    const double ac = a * cos(at->q[TH1]), as = a * sin(at->q[TH1]);
    const double bc = b * cos(at->q[TH2]), bs = b * sin(at->q[TH2]);
    const double value[GRADIENT] = {1, as,     1, -ac,   1, -1, as,     1, -1, -ac,
                                    1, -1, bs,     1, -1, -bc,    1, -1, bs,     1, bc};
    pb_copy(B, value, GRADIENT);
    return GA_EVAL_OK;
}
/* clang-format on */

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    const double w1 = a * at->v[TH1] * at->v[TH1], w2 = b * at->v[TH2] * at->v[TH2];
    c[0] = c[2] = -w1 * cos(at->q[TH1]);
    c[1] = c[3] = -w1 * sin(at->q[TH1]);
    c[4] = c[6] = -w2 * cos(at->q[TH2]);
    c[5] = -w2 * sin(at->q[TH2]);
    c[7] = -c[5];
    return GA_EVAL_OK;
}

enum { STIFFNESS = 6 };
static const int stiffness_row[STIFFNESS] = {TH1, TH2, X3, X3, X4, X4};
static const int stiffness_col[STIFFNESS] = {TH1, TH2, X3, X4, X3, X4};

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *l = at->lambda;
    K[0] = a * (cos(at->q[TH1]) * (l[0] + l[2]) + sin(at->q[TH1]) * (l[1] + l[3]));
    K[1] = b * (cos(at->q[TH2]) * (l[4] + l[6]) + sin(at->q[TH2]) * (l[5] - l[7]));
    K[2] = K[5] = k;
    K[3] = K[4] = -k;
    return GA_EVAL_OK;
}

static const int damping_at[1] = {X1};

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    C[0] = 0; /* an empty pattern would mean a full matrix */
    return GA_EVAL_OK;
}

static const int velocity_row[NC] = {0, 1, 2, 3, 4, 5, 6, 7};
static const int velocity_col[NC] = {TH1, TH1, TH1, TH1, TH2, TH2, TH2, TH2};

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = Z[2] = a * cos(at->q[TH1]) * at->v[TH1];
    Z[1] = Z[3] = a * sin(at->q[TH1]) * at->v[TH1];
    Z[4] = Z[6] = b * cos(at->q[TH2]) * at->v[TH2];
    Z[5] = b * sin(at->q[TH2]) * at->v[TH2];
    Z[7] = -Z[5];
    return GA_EVAL_OK;
}

/* theta1 = pi/2, theta2 = -pi/6, spring relaxed, at rest. */
static const double q0[NQ] = {0,
                              0.15,
                              1.57079632679489662,
                              0.259807621135331594,
                              0.15,
                              -0.523598775598298873,
                              0.519615242270663188,
                              0.519615242270663188,
                              0,
                              0.3};
static const double v0[NQ] = {0};

/* reference.json, F: extrapolation in 80 bits, self-difference 2e-14 relative. */
static const double vd_t0[NQ] = {-4.50450450450450450,
                                 0,
                                 30.0300300300300300,
                                 -9.00900900900900901,
                                 0,
                                 0,
                                 -9.00900900900900901,
                                 0,
                                 -9.00900900900900901,
                                 0};
static const double lambda_t0[NC] = {
    3.87387387387387387, -0.910236910884545124, 2.25225225225225225,  -0.910236910884545124,
    2.25225225225225225, -0.910236910884545124, 0.900900900900900901, 0.910236910884545124};
static const double q_t1[NQ] = {6.38035955339852135e-02, 1.35753825717493583e-01,
                                7.41462498553876513e+00, 3.95134570607082980e-01,
                                1.35753825717493583e-01, -4.69581082835240370e-01,
                                6.62661950146195533e-01, 6.00443137284001769e-01,
                                1.27607191067970427e-01, 2.71507651434987166e-01};
static const double v_t1[NQ] = {8.92613263692897915e-01,  -4.19523614483250441e-01,
                                -6.57523468657482926e+00, 1.99810917043731110e+00,
                                -4.19523614483250441e-01, 1.56815207178417419e+00,
                                2.21099181348882637e+00,  -2.98193898582739020e+00,
                                1.78522652738579583e+00,  -8.39047228966500882e-01};
static const double vd_t1[NQ] = {-8.31435435794296512e+01, 3.19114286560867035e+01,
                                 5.92138578288946970e+02,  -1.83307466960137190e+02,
                                 3.19114286560867035e+01,  -1.20530695098893849e+02,
                                 -2.00327846761415078e+02, 8.88840183745625195e+01,
                                 -1.66287087158859302e+02, 6.38228573121734071e+01};
static const double lambda_t1[NC] = {1.52417675465628249e+01,  -4.64643191177413726e-01,
                                     -1.46899081420314736e+01, 1.10234711250137355e+01,
                                     -1.46899081420314736e+01, 1.10234711250137355e+01,
                                     -4.21860281860517245e+01, -1.58101854234267144e+01};

static const pb_reference references[2] = {{0, 1e-14, q0, v0, vd_t0, lambda_t0, NULL},
                                           {1, 1e-12, q_t1, v_t1, vd_t1, lambda_t1, NULL}};

ga_status pb_slider_crank_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("slider-crank", 1);
    if (!problem) return GA_ERR_MEMORY;
    problem->t_end = 1;
    problem->q0 = q0;
    problem->v0 = v0;
    problem->references = references;
    problem->reference_count = 2;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = NC;
    s->mass = mass;
    s->mass_pattern = (ga_pattern){.count = 8, .row = mass_at, .col = mass_at};
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->gradient_pattern =
        (ga_pattern){.count = GRADIENT, .row = gradient_row, .col = gradient_col};
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->stiffness_pattern =
        (ga_pattern){.count = STIFFNESS, .row = stiffness_row, .col = stiffness_col};
    s->damping = damping;
    s->damping_pattern = (ga_pattern){.count = 1, .row = damping_at, .col = damping_at};
    s->velocity_stiffness = velocity_stiffness;
    s->velocity_stiffness_pattern =
        (ga_pattern){.count = NC, .row = velocity_row, .col = velocity_col};
    *out = problem;
    return GA_OK;
}
