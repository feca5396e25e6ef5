/* Planar slider-crank, [JN08] section 8.3. The paper gives no data; these are reference.json's.
 *
 *     q = (x1 y1 theta1  x2 y2 theta2  x3 y3 theta3): crank, rod, slider
 *
 *     Phi: x1 - a c1               = 0     x3 - x2 - b c2 = 0     a = 0.1, b = 0.25
 *          y1 - a s1               = 0     y3 - y2 - b s2 = 0     c1 = cos theta1, ...
 *          x2 - x1 - a c1 - b c2   = 0     y3             = 0
 *          y2 - y1 - a s1 - b s2   = 0     theta3         = 0
 *
 * Crank and rod are uniform, 1 kg each; the slider has 2 kg and J = 0.1, which never moves.
 */
#include "problems/create.h"
#include <math.h>

enum { X1, Y1, TH1, X2, Y2, TH2, X3, Y3, TH3, NQ, NC = 8 };

static const double a = 0.1, b = 0.25; /* half the lengths */
static const double m1 = 1, m2 = 1, m3 = 2, J3 = 0.1, g = 9.81;

typedef struct crank {
    double q0[NQ], v0[NQ];
    pb_reference references[2];
} crank;

static const ga_node node = GA_NODE(GA_GROUP_RN, NQ);

static const int mass_at[NQ] = {X1, Y1, TH1, X2, Y2, TH2, X3, Y3, TH3};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[X1] = M[Y1] = m1;
    M[TH1] = m1 * a * a / 3; /* m l^2/12 */
    M[X2] = M[Y2] = m2;
    M[TH2] = m2 * b * b / 3;
    M[X3] = M[Y3] = m3;
    M[TH3] = J3;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    pb_zero(f, NQ);
    f[Y1] = -m1 * g;
    f[Y2] = -m2 * g;
    f[Y3] = -m3 * g;
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
    Phi[2] = q[X2] - q[X1] - ac - bc;
    Phi[3] = q[Y2] - q[Y1] - as - bs;
    Phi[4] = q[X3] - q[X2] - bc;
    Phi[5] = q[Y3] - q[Y2] - bs;
    Phi[6] = q[Y3];
    Phi[7] = q[TH3];
    return GA_EVAL_OK;
}

/* clang-format off */
enum { GRADIENT = 20 };
static const int gradient_row[GRADIENT] = {0, 0,    1, 1,    2, 2, 2, 2,        3, 3, 3, 3,
                                           4, 4, 4,      5, 5, 5,      6,   7};
static const int gradient_col[GRADIENT] = {X1, TH1, Y1, TH1, X2, X1, TH1, TH2,  Y2, Y1, TH1, TH2,
                                           X3, X2, TH2,  Y3, Y2, TH2,  Y3,  TH3};

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    const double ac = a * cos(at->q[TH1]), as = a * sin(at->q[TH1]);
    const double bc = b * cos(at->q[TH2]), bs = b * sin(at->q[TH2]);
    const double value[GRADIENT] = {1, as,     1, -ac,   1, -1, as, bs,     1, -1, -ac, -bc,
                                    1, -1, bs,     1, -1, -bc,     1,  1};
    pb_copy(B, value, GRADIENT);
    return GA_EVAL_OK;
}
/* clang-format on */

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    (void)user;
    const double w1 = a * at->v[TH1] * at->v[TH1], w2 = b * at->v[TH2] * at->v[TH2];
    c[0] = -w1 * cos(at->q[TH1]);
    c[1] = -w1 * sin(at->q[TH1]);
    c[4] = -w2 * cos(at->q[TH2]);
    c[5] = -w2 * sin(at->q[TH2]);
    c[2] = c[0] + c[4];
    c[3] = c[1] + c[5];
    c[6] = c[7] = 0;
    return GA_EVAL_OK;
}

static const int stiffness_at[2] = {TH1, TH2};

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    (void)user;
    const double *l = at->lambda;
    K[0] = a * (cos(at->q[TH1]) * (l[0] + l[2]) + sin(at->q[TH1]) * (l[1] + l[3]));
    K[1] = b * (cos(at->q[TH2]) * (l[2] + l[4]) + sin(at->q[TH2]) * (l[3] + l[5]));
    return GA_EVAL_OK;
}

static const int damping_at[1] = {X1};

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    C[0] = 0; /* an empty pattern would mean a full matrix */
    return GA_EVAL_OK;
}

enum { VELOCITY = 8 };
static const int velocity_row[VELOCITY] = {0, 1, 2, 3, 2, 3, 4, 5};
static const int velocity_col[VELOCITY] = {TH1, TH1, TH1, TH1, TH2, TH2, TH2, TH2};

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    (void)user;
    Z[0] = Z[2] = a * cos(at->q[TH1]) * at->v[TH1];
    Z[1] = Z[3] = a * sin(at->q[TH1]) * at->v[TH1];
    Z[4] = Z[6] = b * cos(at->q[TH2]) * at->v[TH2];
    Z[5] = Z[7] = b * sin(at->q[TH2]) * at->v[TH2];
    return GA_EVAL_OK;
}

/* Everything from the crank's angle and its rate. */
static void place(double theta, double rate, double *q, double *v)
{
    const double c1 = cos(theta), s1 = sin(theta);
    const double s2 = -a * s1 / b, c2 = sqrt((1 - s2) * (1 + s2)); /* y3 = 0 */
    const double rate2 = -a * c1 * rate / (b * c2);
    const double position[NQ] = {
        a * c1, a * s1, theta, 2 * a * c1 + b * c2, a * s1, asin(s2), 2 * (a * c1 + b * c2)};
    const double velocity[NQ] = {-a * s1 * rate,
                                 a * c1 * rate,
                                 rate,
                                 -2 * a * s1 * rate - b * s2 * rate2,
                                 a * c1 * rate,
                                 rate2,
                                 -2 * (a * s1 * rate + b * s2 * rate2)};
    pb_copy(q, position, NQ);
    pb_copy(v, velocity, NQ);
}

/* theta1 and its rate from reference.json, E; the rest by the closed chain, vd and lambda by
 * the equations, in 40 digits. */
static const double vd_t0[NQ] = {-0.280338381087258787,
                                 -7.72136940502262671,
                                 -66.417377644175103,
                                 -0.338430534192610781,
                                 -7.72136940502262671,
                                 30.4827194341415558,
                                 -0.116184306210703989,
                                 0,
                                 0};
static const double lambda_t0[NC] = {
    0.851137527701277547, -1.91728149960534391, 0.57079914661401876,  0.171349095372029384,
    0.232368612421407979, 2.25997969034940268,  -21.8799796903494027, 0};
static const double q_t1[NQ] = {-0.0416880179469390347,
                                0.0908961449108579574,
                                2.00080664298378006,
                                0.149514261972615955,
                                0.0908961449108579574,
                                -0.372112944960702617,
                                0.382404559839109979,
                                0,
                                0};
static const double v_t1[NQ] = {-0.320854799303252544,
                                -0.147154762667142707,
                                3.52990547198580895,
                                -0.58427568764391409,
                                -0.147154762667142707,
                                0.631863001658833353,
                                -0.526841776681323092,
                                0,
                                0};
static const double vd_t1[NQ] = {-1.02567874748164634,
                                 -1.84123144725767547,
                                 16.9987533680825519,
                                 -1.43987791232341543,
                                 -1.84123144725767547,
                                 7.75017723114657836,
                                 -0.828398329683538175,
                                 0,
                                 0};
static const double lambda_t1[NC] = {
    4.12235331917213812, -12.5341349195611644, 3.09667457169049178,  -4.5653663668188399,
    1.65679665936707635, 3.40340218592348464,  -23.0234021859234846, 0};

ga_status pb_planar_slider_crank_create(pb_problem **out)
{
    *out = NULL;
    pb_problem *problem = pb_new("planar slider-crank", sizeof(crank));
    if (!problem) return GA_ERR_MEMORY;
    crank *p = problem->data;
    place(0.5, 2 * PB_PI, p->q0, p->v0);
    problem->t_end = 0.5;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    problem->references = p->references;
    problem->reference_count = 2;
    p->references[0] = (pb_reference){0, 1e-14, p->q0, p->v0, vd_t0, lambda_t0, NULL};
    p->references[1] = (pb_reference){0.5, 1e-14, q_t1, v_t1, vd_t1, lambda_t1, NULL};

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = NC;
    s->mass = mass;
    s->mass_pattern = (ga_pattern){.count = NQ, .row = mass_at, .col = mass_at};
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->gradient_pattern =
        (ga_pattern){.count = GRADIENT, .row = gradient_row, .col = gradient_col};
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->stiffness_pattern = (ga_pattern){.count = 2, .row = stiffness_at, .col = stiffness_at};
    s->damping = damping;
    s->damping_pattern = (ga_pattern){.count = 1, .row = damping_at, .col = damping_at};
    s->velocity_stiffness = velocity_stiffness;
    s->velocity_stiffness_pattern =
        (ga_pattern){.count = VELOCITY, .row = velocity_row, .col = velocity_col};
    *out = problem;
    return GA_OK;
}
