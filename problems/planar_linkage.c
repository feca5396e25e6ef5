/* Uniform rods in the plane, joined by pins: N four-bars in a row, and a four-bar with a change
 * point. Nodes GA_GROUP_R2SO2 at the centres of mass, angle 0 along x.
 *
 *     Phi = x_a + R(th_a) r_a - x_b - R(th_b) r_b      for each pin; ground is a = -1
 */
#include "problems/create.h"
#include "problems/linkage.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* r in the rod, e = R r. */
typedef struct end {
    int rod; /* -1: ground, r in the world */
    double sign, r[2];
} end;

typedef struct linkage {
    int rods, pins, entries; /* of B */
    double g;
    double *m, *J, *q0, *v0;
    end *ends; /* two for each pin */
    ga_node *nodes;
    int *diagonal, *angle, *B_row, *B_col, *Z_row, *Z_col;
} linkage;

static void turned(const end *e, const double *q, double *out)
{
    const double th = e->rod < 0 ? 0 : q[3 * e->rod + 2], c = cos(th), s = sin(th);
    out[0] = c * e->r[0] - s * e->r[1];
    out[1] = s * e->r[0] + c * e->r[1];
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const linkage *p = user;
    for (int k = 0; k < p->rods; ++k) {
        M[3 * k] = M[3 * k + 1] = p->m[k];
        M[3 * k + 2] = p->J[k];
    }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)at;
    const linkage *p = user;
    pb_zero(f, 3 * p->rods);
    for (int k = 0; k < p->rods; ++k) f[3 * k + 1] = -p->m[k] * p->g;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    const linkage *p = user;
    pb_zero(Phi, 2 * p->pins);
    for (int k = 0; k < 2 * p->pins; ++k) {
        const end *e = &p->ends[k];
        double x[2];
        turned(e, at->q, x);
        for (int i = 0; i < 2; ++i)
            Phi[k / 2 * 2 + i] += e->sign * (x[i] + (e->rod < 0 ? 0 : at->q[3 * e->rod + i]));
    }
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    const linkage *p = user;
    for (int k = 0; k < 2 * p->pins; ++k) {
        const end *e = &p->ends[k];
        if (e->rod < 0) continue;
        double x[2];
        turned(e, at->q, x);
        *B++ = e->sign;
        *B++ = -e->sign * x[1];
        *B++ = e->sign;
        *B++ = e->sign * x[0];
    }
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    const linkage *p = user;
    pb_zero(c, 2 * p->pins);
    for (int k = 0; k < 2 * p->pins; ++k) {
        const end *e = &p->ends[k];
        if (e->rod < 0) continue;
        double x[2], w = at->v[3 * e->rod + 2];
        turned(e, at->q, x);
        for (int i = 0; i < 2; ++i) c[k / 2 * 2 + i] += e->sign * w * w * x[i];
    }
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    const linkage *p = user;
    pb_zero(K, p->rods);
    for (int k = 0; k < 2 * p->pins; ++k) {
        const end *e = &p->ends[k];
        if (e->rod < 0) continue;
        const double *l = at->lambda + k / 2 * 2;
        double x[2];
        turned(e, at->q, x);
        K[e->rod] -= e->sign * (l[0] * x[0] + l[1] * x[1]);
    }
    return GA_EVAL_OK;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    (void)user, (void)at;
    C[0] = 0; /* an empty pattern would mean a full matrix */
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    const linkage *p = user;
    for (int k = 0; k < 2 * p->pins; ++k) {
        const end *e = &p->ends[k];
        if (e->rod < 0) continue;
        double x[2];
        turned(e, at->q, x);
        for (int i = 0; i < 2; ++i) *Z++ = -e->sign * at->v[3 * e->rod + 2] * x[i];
    }
    return GA_EVAL_OK;
}

static void fill_patterns(linkage *p)
{
    int b = 0, z = 0;
    for (int i = 0; i < 3 * p->rods; ++i) p->diagonal[i] = i;
    for (int k = 0; k < p->rods; ++k) p->angle[k] = 3 * k + 2;
    for (int k = 0; k < 2 * p->pins; ++k) {
        if (p->ends[k].rod < 0) continue;
        for (int i = 0; i < 2; ++i) {
            const int row = k / 2 * 2 + i, turn = 3 * p->ends[k].rod + 2;
            p->B_row[b] = p->B_row[b + 1] = p->Z_row[z] = row;
            p->B_col[b++] = turn - 2 + i;
            p->B_col[b++] = p->Z_col[z++] = turn;
        }
    }
    p->entries = b;
}

static ga_status create(const char *name, int rods, int pins, pb_problem **out)
{
    const size_t N = (size_t)rods, P = (size_t)pins, entries = 8 * P;
    const size_t doubles = 8 * N, ints = 4 * N + 3 * entries;
    *out = NULL;
    pb_problem *problem =
        pb_new(name, sizeof(linkage) + doubles * sizeof(double) + 2 * P * sizeof(end) +
                         N * sizeof(ga_node) + ints * sizeof(int));
    if (!problem) return GA_ERR_MEMORY;
    linkage *p = problem->data;
    p->rods = rods;
    p->pins = pins;
    p->g = 9.81;
    p->m = (double *)(p + 1);
    p->J = p->m + N;
    p->q0 = p->J + N;
    p->v0 = p->q0 + 3 * N;
    p->ends = (end *)(p->v0 + 3 * N);
    p->nodes = (ga_node *)(p->ends + 2 * P);
    p->diagonal = (int *)(p->nodes + N);
    p->angle = p->diagonal + 3 * N;
    p->B_row = p->angle + N;
    p->B_col = p->B_row + entries;
    p->Z_row = p->B_col + entries;
    p->Z_col = p->Z_row + entries / 2;
    for (int k = 0; k < rods; ++k) p->nodes[k] = (ga_node)GA_NODE(GA_GROUP_R2SO2, 0);
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    *out = problem;
    return GA_OK;
}

/* A rod from (x, y) to (x + dx, y + dy); its ends move with (u, v) and (u + du, v + dv). */
static void put_rod(linkage *p, int k, const double *from, const double *to,
                    const double *v_from, const double *v_to)
{
    const double dx = to[0] - from[0], dy = to[1] - from[1], length2 = dx * dx + dy * dy;
    p->m[k] = sqrt(length2);
    p->J[k] = p->m[k] * length2 / 12;
    double *q = p->q0 + 3 * (size_t)k, *v = p->v0 + 3 * (size_t)k;
    for (int i = 0; i < 2; ++i) {
        q[i] = 0.5 * (from[i] + to[i]);
        v[i] = 0.5 * (v_from[i] + v_to[i]);
    }
    q[2] = atan2(dy, dx);
    v[2] = (dx * (v_to[1] - v_from[1]) - dy * (v_to[0] - v_from[0])) / length2;
}

/* Pin k between rods a and b (-1: ground) at a point of the start. */
static void put_pin(linkage *p, int k, int a, int b, double x, double y)
{
    const int rod[2] = {a, b};
    for (int i = 0; i < 2; ++i) {
        end *e = &p->ends[2 * k + i];
        e->rod = rod[i];
        e->sign = i ? -1 : 1;
        const double *q = rod[i] < 0 ? NULL : p->q0 + 3 * (size_t)rod[i];
        const double dx = q ? x - q[0] : x, dy = q ? y - q[1] : y;
        const double c = q ? cos(q[2]) : 1, s = q ? sin(q[2]) : 0;
        e->r[0] = c * dx + s * dy;
        e->r[1] = c * dy - s * dx;
    }
}

static void finish(pb_problem *problem)
{
    linkage *p = problem->data;
    fill_patterns(p);
    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = p->rods;
    s->nodes = p->nodes;
    s->constraint_count = 2 * p->pins;
    s->mass = mass;
    s->mass_pattern =
        (ga_pattern){.count = 3 * p->rods, .row = p->diagonal, .col = p->diagonal};
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->gradient_pattern = (ga_pattern){.count = p->entries, .row = p->B_row, .col = p->B_col};
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->stiffness_pattern = (ga_pattern){.count = p->rods, .row = p->angle, .col = p->angle};
    s->damping = damping;
    s->damping_pattern = (ga_pattern){.count = 1, .row = p->diagonal, .col = p->diagonal};
    s->velocity_stiffness = velocity_stiffness;
    s->velocity_stiffness_pattern =
        (ga_pattern){.count = p->entries / 2, .row = p->Z_row, .col = p->Z_col};
}

ga_status pb_n_four_bar_create(int n, pb_problem **out)
{
    *out = NULL;
    if (n < 1 || n > INT_MAX / 256) return GA_ERR_ARGUMENT;
    GA_TRY_PB(create("n-four-bar", 2 * n + 1, 3 * n + 1, out));
    linkage *p = (*out)->data;
    const double rest[2] = {0, 0}, moving[2] = {1, 0};
    for (int k = 0; k <= n; ++k) { /* cranks 0, 2, 4, ..., couplers between them */
        const double foot[2] = {k, 0}, tip[2] = {k, 1}, next[2] = {k + 1, 1};
        put_rod(p, 2 * k, foot, tip, rest, moving);
        if (k < n) put_rod(p, 2 * k + 1, tip, next, moving, moving);
    }
    for (int k = 0, pin = 0; k <= n; ++k) {
        put_pin(p, pin++, -1, 2 * k, k, 0);
        if (k > 0) put_pin(p, pin++, 2 * k - 1, 2 * k, k, 1);
        if (k < n) put_pin(p, pin++, 2 * k, 2 * k + 1, k, 1);
    }
    (*out)->t_end = 10;
    finish(*out);
    return GA_OK;
}

ga_status pb_change_point_create(pb_problem **out)
{
    GA_TRY_PB(create("change-point", 3, 4, out));
    linkage *p = (*out)->data;
    double x[4][2], v[4][2];
    pb_change_point_motion(0.5 * PB_PI, PB_CHANGE_POINT_SPEED, x, v);
    for (int k = 0; k < 3; ++k) put_rod(p, k, x[k], x[k + 1], v[k], v[k + 1]);
    for (int k = 0; k < 4; ++k) put_pin(p, k, k - 1, k < 3 ? k : -1, x[k][0], x[k][1]);
    (*out)->t_end = 5;
    finish(*out);
    return GA_OK;
}

/* Crank OB = 1, coupler BC = 2, rocker CD = 1.5, ground OD = 2.5. The distance d of B and D has
 * d^2 = 7.25 - 5 cos phi; C lies at a = (d^2 + 4 - 2.25)/(2 d) from B towards D and at
 *
 *     +- sqrt(4 - a^2) = +- sqrt((12.25 - d^2) (d^2 - 0.25))/(2 d)
 *
 * beside it, where 12.25 - d^2 = 10 cos^2(phi/2).
 * So with cos(phi/2), not its absolute value, the motion is smooth through phi = pi. */
static void positions(double phi, double x[4][2])
{
    const double d2 = 7.25 - 5 * cos(phi), d = sqrt(d2), a = (d2 + 1.75) / (2 * d);
    const double b = cos(0.5 * phi) * sqrt(10 * (d2 - 0.25)) / (2 * d);
    x[0][0] = x[0][1] = x[3][1] = 0;
    x[3][0] = 2.5;
    x[1][0] = cos(phi);
    x[1][1] = sin(phi);
    const double ex = (x[3][0] - x[1][0]) / d, ey = (x[3][1] - x[1][1]) / d;
    x[2][0] = x[1][0] + a * ex - b * ey;
    x[2][1] = x[1][1] + a * ey + b * ex;
}

void pb_change_point_motion(double phi, double rate, double x[4][2], double v[4][2])
{
    /* fourth-order differences: 1e-13 */
    const double s = 1e-3;
    double y[4][4][2];
    positions(phi, x);
    positions(phi - 2 * s, y[0]);
    positions(phi - s, y[1]);
    positions(phi + s, y[2]);
    positions(phi + 2 * s, y[3]);
    for (int k = 0; k < 4; ++k)
        for (int i = 0; i < 2; ++i)
            v[k][i] =
                rate * (y[0][k][i] - 8 * y[1][k][i] + 8 * y[2][k][i] - y[3][k][i]) / (12 * s);
}
