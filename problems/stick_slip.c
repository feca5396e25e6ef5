/* Mass on a spring on a belt with bumps, y = S(x) = H sin(n x), with Coulomb friction.
 *
 *     q = (x, y),  M = m I,  Phi = y - S(x)
 *     f = (-k x, -m g - P(t)) - mu(w) |lambda| (1, S'),   P = P0 + P1 cos(Omega t)
 *     w = (x' + S' y')/l - belt,  l = sqrt(1 + S'^2)
 *
 * The contact force is -B^T lambda = lambda (S', -1) with magnitude |lambda| l, upwards for
 * lambda < 0, so friction of mu times that magnitude acts along (1, S')/l.
 *
 * Flat, with the belt so far ahead that mu(w) = -mu to round-off: lambda = -(m g + P) and
 *
 *     m x'' + k x = mu (m g + P0) + mu P1 cos(Omega t)
 */
#include "problems/create.h"
#include <math.h>

typedef struct rider {
    pb_stick_slip_def def;
    double q0[2], v0[2], lambda0;
    double mean, swing, cosine, sine; /* x = mean + swing cos Omega t + cosine cos w t + .. */
} rider;

static const ga_node node = GA_NODE(GA_GROUP_RN, 2);

static double press(const pb_stick_slip_def *d, double t)
{
    return d->press + d->press_swing * cos(d->press_frequency * t);
}

/* S' and S'' */
static void slope(const pb_stick_slip_def *d, double x, double *first, double *second)
{
    const double n = d->wave_number;
    *first = d->height * n * cos(n * x);
    *second = -d->height * n * n * sin(n * x);
}

/* mu(w) and its derivative */
static double friction(const pb_stick_slip_def *d, double w, double *derivative)
{
    const double th = tanh(w / d->width), z = w / d->stribeck;
    const double extra = (d->mu_static - d->mu_kinetic) * exp(-z * z);
    if (derivative)
        *derivative = (1 - th * th) / d->width * (d->mu_kinetic + extra) -
                      th * extra * 2 * z / d->stribeck;
    return th * (d->mu_kinetic + extra);
}

static double slip(const pb_stick_slip_def *d, double s1, const double *v)
{
    return (v[0] + s1 * v[1]) / sqrt(1 + s1 * s1) - d->belt;
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    M[0] = M[3] = ((const rider *)user)->def.m;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    const pb_stick_slip_def *d = &((const rider *)user)->def;
    double s1, s2;
    slope(d, at->q[0], &s1, &s2);
    const double drag = friction(d, slip(d, s1, at->v), NULL) * fabs(at->lambda[0]);
    f[0] = -d->k * at->q[0] - drag;
    f[1] = -d->m * d->g - press(d, at->t) - drag * s1;
    return GA_EVAL_OK;
}

/* df/dlambda; |lambda| has none at 0, where 0 is as good as any. */
static ga_eval force_multipliers(void *user, const ga_point *at, double *L)
{
    const pb_stick_slip_def *d = &((const rider *)user)->def;
    double s1, s2;
    slope(d, at->q[0], &s1, &s2);
    const double mu = friction(d, slip(d, s1, at->v), NULL), l = at->lambda[0];
    L[0] = l > 0 ? -mu : l < 0 ? mu : 0;
    L[1] = L[0] * s1;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    const pb_stick_slip_def *d = &((const rider *)user)->def;
    Phi[0] = at->q[1] - d->height * sin(d->wave_number * at->q[0]);
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    double s1, s2;
    slope(&((const rider *)user)->def, at->q[0], &s1, &s2);
    B[0] = -s1;
    B[1] = 1;
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    double s1, s2;
    slope(&((const rider *)user)->def, at->q[0], &s1, &s2);
    c[0] = s2 * at->v[0] * at->v[0];
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    double s1, s2;
    slope(&((const rider *)user)->def, at->q[0], &s1, &s2);
    Z[0] = -s2 * at->v[0];
    Z[1] = 0;
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    const pb_stick_slip_def *d = &((const rider *)user)->def;
    const double *v = at->v, l = at->lambda[0];
    double s1, s2, mu_w;
    slope(d, at->q[0], &s1, &s2);
    const double mu = friction(d, slip(d, s1, v), &mu_w), length = sqrt(1 + s1 * s1);
    const double w_x = s2 * (v[1] - (v[0] + s1 * v[1]) * s1 / (length * length)) / length;
    K[0] = d->k + mu_w * w_x * fabs(l) - s2 * l;
    K[1] = (mu_w * w_x * s1 + mu * s2) * fabs(l);
    K[2] = K[3] = 0;
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    const pb_stick_slip_def *d = &((const rider *)user)->def;
    double s1, s2, mu_w;
    slope(d, at->q[0], &s1, &s2);
    friction(d, slip(d, s1, at->v), &mu_w);
    const double c = mu_w * fabs(at->lambda[0]) / sqrt(1 + s1 * s1);
    C[0] = c;
    C[1] = C[2] = c * s1;
    C[3] = c * s1 * s1;
    return GA_EVAL_OK;
}

static void exact(const pb_problem *problem, double t, double *q, double *v, double *vd,
                  double *lambda)
{
    const rider *p = problem->data;
    const pb_stick_slip_def *d = &p->def;
    const double w = sqrt(d->k / d->m), W = d->press_frequency;
    const double c = cos(w * t), s = sin(w * t), C = cos(W * t), S = sin(W * t);
    if (q) q[0] = p->mean + p->swing * C + p->cosine * c + p->sine * s, q[1] = 0;
    if (v) v[0] = -W * p->swing * S + w * (p->sine * c - p->cosine * s), v[1] = 0;
    if (vd) vd[0] = -W * W * p->swing * C - w * w * (p->cosine * c + p->sine * s), vd[1] = 0;
    if (lambda) lambda[0] = -(d->m * d->g + press(d, t));
}

/* Where friction is constant for ever; and the coefficients of the motion. */
static bool slides(rider *p)
{
    const pb_stick_slip_def *d = &p->def;
    const double weight = d->m * d->g + d->press, W = d->press_frequency;
    const double mu = d->mu_kinetic, w = sqrt(d->k / d->m), gap = d->k - d->m * W * W;
    if (d->height != 0 || d->mu_static != mu || gap == 0) return false;
    p->mean = mu * weight / d->k;
    p->swing = mu * d->press_swing / gap;
    p->cosine = d->x0 - p->mean - p->swing;
    p->sine = d->v0 / w;
    const double fastest = w * hypot(p->cosine, p->sine) + fabs(W * p->swing);
    return weight > fabs(d->press_swing) && d->belt - fastest > 20 * d->width;
}

pb_stick_slip_def pb_stick_slip_default(void)
{
    return (pb_stick_slip_def){.m = 1,
                               .k = 40,
                               .g = 9.81,
                               .mu_static = 0.6,
                               .mu_kinetic = 0.3,
                               .stribeck = 0.2,
                               .width = 0.01,
                               .belt = 0.3,
                               .press = 2,
                               .press_swing = 4,
                               .press_frequency = 7,
                               .height = 0.02,
                               .wave_number = 12,
                               .x0 = 0.05,
                               .v0 = 0.4};
}

pb_stick_slip_def pb_stick_slip_sliding(void)
{
    return (pb_stick_slip_def){.m = 1,
                               .k = 9,
                               .g = 9.81,
                               .mu_static = 0.3,
                               .mu_kinetic = 0.3,
                               .stribeck = 1,
                               .width = 0.05,
                               .belt = 5,
                               .press = 2,
                               .press_swing = 5,
                               .press_frequency = 2,
                               .x0 = 0.3,
                               .v0 = 0.4};
}

ga_status pb_stick_slip_create(const pb_stick_slip_def *def, pb_problem **out)
{
    *out = NULL;
    const pb_stick_slip_def d = def ? *def : pb_stick_slip_default();
    if (!(d.m > 0 && d.k > 0 && d.stribeck > 0 && d.width > 0)) return GA_ERR_ARGUMENT;
    pb_problem *problem = pb_new("stick-slip", sizeof(rider));
    if (!problem) return GA_ERR_MEMORY;
    rider *p = problem->data;
    p->def = d;
    double s1, s2;
    slope(&d, d.x0, &s1, &s2);
    p->q0[0] = d.x0;
    p->q0[1] = d.height * sin(d.wave_number * d.x0);
    p->v0[0] = d.v0;
    p->v0[1] = s1 * d.v0;
    p->lambda0 = -(d.m * d.g + press(&d, 0));

    problem->t_end = 3;
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    problem->lambda_guess = &p->lambda0;
    if (slides(p)) problem->exact = exact;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = 1;
    s->nodes = &node;
    s->constraint_count = 1;
    s->mass = mass;
    s->mass_is_constant = true;
    s->force = force;
    s->force_uses_multipliers = true;
    s->force_multipliers = force_multipliers;
    s->constraint = constraint;
    s->gradient = gradient;
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->damping = damping;
    s->velocity_stiffness = velocity_stiffness;
    *out = problem;
    return GA_OK;
}
