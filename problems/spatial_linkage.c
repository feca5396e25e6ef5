/* Rigid bodies on R3xSO(3) with revolute and other joints, v = (x', Omega) with Omega in the
 * body. A joint at a point, with axis n fixed in b and t1, t2 across it fixed in a:
 *
 *     x_a + R_a r_a - x_b - R_b r_b = 0                    three rows, along the world's axes
 *     (R_a t1) . (R_b n) = 0,  (R_a t2) . (R_b n) = 0      revolute; only the first: universal
 */
#include "problems/create.h"
#include "problems/linkage.h"

#include <math.h>
#include <string.h>

enum { MAX_BODIES = 5, MAX_JOINTS = 6, MAX_ROWS = 5 * MAX_JOINTS, MAX_B = 12 * MAX_ROWS };

typedef struct joint {
    int a, b; /* -1: ground */
    int turns;
    double r[2][3]; /* the point in a and b */
    double t[2][3], n[3];
} joint;

typedef struct linkage {
    int bodies, joints, rows, entries;
    double m[MAX_BODIES], J[MAX_BODIES][3], gravity[3];
    double q0[7 * MAX_BODIES], v0[6 * MAX_BODIES];
    joint joint[MAX_JOINTS];
    ga_node nodes[MAX_BODIES];
    int diagonal[6 * MAX_BODIES];
    int B_row[MAX_B], B_col[MAX_B];
    int K_count, K_row[36 * (MAX_BODIES + 2 * MAX_JOINTS)];
    int K_col[36 * (MAX_BODIES + 2 * MAX_JOINTS)];
    int C_row[9 * MAX_BODIES], C_col[9 * MAX_BODIES];
} linkage;

static void rotation(const double *q, double *R)
{
    const double a = q[0], b = q[1], c = q[2], d = q[3];
    const double M[9] = {a * a + b * b - c * c - d * d, 2 * (b * c + a * d),
                         2 * (b * d - a * c),           2 * (b * c - a * d),
                         a * a - b * b + c * c - d * d, 2 * (c * d + a * b),
                         2 * (b * d + a * c),           2 * (c * d - a * b),
                         a * a - b * b - c * c + d * d};
    memcpy(R, M, sizeof M);
}

/* Position and rotation of a body, or of the ground. */
static void pose(const double *q, int body, double *x, double *R)
{
    static const double ground[7] = {0, 0, 0, 1, 0, 0, 0};
    const double *at = body < 0 ? ground : q + 7 * (ptrdiff_t)body;
    memcpy(x, at, 3 * sizeof *x);
    rotation(at + 3, R);
}

static double dot(const double *x, const double *y)
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const linkage *p = user;
    for (int k = 0; k < p->bodies; ++k)
        for (int i = 0; i < 3; ++i) {
            M[6 * k + i] = p->m[k];
            M[6 * k + 3 + i] = p->J[k][i];
        }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    const linkage *p = user;
    for (int k = 0; k < p->bodies; ++k, f += 6) {
        const double *w = at->v + 6 * (ptrdiff_t)k + 3;
        double spin[3], gyro[3];
        for (int i = 0; i < 3; ++i) {
            f[i] = p->m[k] * p->gravity[i];
            spin[i] = p->J[k][i] * w[i];
        }
        pb_cross(spin, w, gyro);
        pb_copy(f + 3, gyro, 3);
    }
    return GA_EVAL_OK;
}

/* dr/dOmega of r = Omega x J Omega. */
static ga_eval damping(void *user, const ga_point *at, double *C)
{
    const linkage *p = user;
    for (int k = 0; k < p->bodies; ++k, C += 9) {
        const double *w = at->v + 6 * (ptrdiff_t)k + 3;
        double spin[3];
        for (int i = 0; i < 3; ++i) spin[i] = p->J[k][i] * w[i];
        pb_zero(C, 9);
        pb_add_skew(C, 3, 1, w);
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) C[i + 3 * j] *= p->J[k][j];
        pb_add_skew(C, 3, -1, spin);
    }
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    const linkage *p = user;
    for (const joint *j = p->joint; j < p->joint + p->joints; ++j) {
        double x[2][3], R[2][9], r[2][3], n[3], t[3];
        pose(at->q, j->a, x[0], R[0]);
        pose(at->q, j->b, x[1], R[1]);
        for (int i = 0; i < 2; ++i) pb_rotate(R[i], j->r[i], r[i]);
        for (int i = 0; i < 3; ++i) *Phi++ = x[0][i] + r[0][i] - x[1][i] - r[1][i];
        pb_rotate(R[1], j->n, n);
        for (int k = 0; k < j->turns; ++k) {
            pb_rotate(R[0], j->t[k], t);
            *Phi++ = dot(t, n);
        }
    }
    return GA_EVAL_OK;
}

/* Entries in the order of fill_patterns: for each row the six of a, then the six of b. */
static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    const linkage *p = user;
    for (const joint *j = p->joint; j < p->joint + p->joints; ++j) {
        double x[3], R[2][9];
        const int body[2] = {j->a, j->b};
        for (int k = 0; k < 2; ++k) pose(at->q, body[k], x, R[k]);
        for (int i = 0; i < 3 + j->turns; ++i)
            for (int k = 0; k < 2; ++k) {
                if (body[k] < 0) continue;
                pb_zero(B, 6);
                double world[3] = {0, 0, 0}, other[3];
                if (i < 3) { /* (e_i . R (d x r)) = d . (r x R^T e_i) */
                    B[i] = k ? -1 : 1;
                    world[i] = B[i];
                    pb_rotate_back(R[k], world, other);
                    pb_cross(j->r[k], other, B + 3);
                } else {
                    pb_rotate(R[1 - k], k ? j->t[i - 3] : j->n, world);
                    pb_rotate_back(R[k], world, other);
                    pb_cross(k ? j->n : j->t[i - 3], other, B + 3);
                }
                B += 6;
            }
    }
    return GA_EVAL_OK;
}

/* First and second derivative of R y at constant Omega. */
static void derivatives(const double *R, const double *w, const double *y, double *first,
                        double *second)
{
    double a[3], b[3];
    pb_cross(w, y, a);
    pb_cross(w, a, b);
    pb_rotate(R, a, first);
    pb_rotate(R, b, second);
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    static const double rest[3] = {0, 0, 0};
    const linkage *p = user;
    for (const joint *j = p->joint; j < p->joint + p->joints; ++j) {
        double x[3], R[2][9], d[2][3], dd[2][3], n[3], t[3];
        const double *wa = j->a < 0 ? rest : at->v + 6 * (ptrdiff_t)j->a + 3;
        const double *wb = j->b < 0 ? rest : at->v + 6 * (ptrdiff_t)j->b + 3;
        pose(at->q, j->a, x, R[0]);
        pose(at->q, j->b, x, R[1]);
        derivatives(R[0], wa, j->r[0], d[0], dd[0]);
        derivatives(R[1], wb, j->r[1], d[1], dd[1]);
        for (int i = 0; i < 3; ++i) *c++ = dd[1][i] - dd[0][i];
        derivatives(R[1], wb, j->n, d[1], dd[1]);
        pb_rotate(R[1], j->n, n);
        for (int k = 0; k < j->turns; ++k) {
            derivatives(R[0], wa, j->t[k], d[0], dd[0]);
            pb_rotate(R[0], j->t[k], t);
            *c++ = -(dot(dd[0], n) + 2 * dot(d[0], d[1]) + dot(t, dd[1]));
        }
    }
    return GA_EVAL_OK;
}

static void add_block(linkage *p, int a, int b)
{
    for (int j = 0; j < 6; ++j)
        for (int i = 0; i < 6; ++i) {
            p->K_row[p->K_count] = 6 * a + i;
            p->K_col[p->K_count++] = 6 * b + j;
        }
}

static void fill_patterns(linkage *p)
{
    int row = 0, b = 0, c = 0;
    for (int i = 0; i < 6 * p->bodies; ++i) p->diagonal[i] = i;
    for (int k = 0; k < p->bodies; ++k) {
        add_block(p, k, k);
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 3; ++i) {
                p->C_row[c] = 6 * k + 3 + i;
                p->C_col[c++] = 6 * k + 3 + j;
            }
    }
    for (const joint *j = p->joint; j < p->joint + p->joints; ++j) {
        const int body[2] = {j->a, j->b};
        if (j->a >= 0 && j->b >= 0) {
            add_block(p, j->a, j->b);
            add_block(p, j->b, j->a);
        }
        for (int i = 0; i < 3 + j->turns; ++i, ++row)
            for (int k = 0; k < 2; ++k)
                for (int col = 0; body[k] >= 0 && col < 6; ++col) {
                    p->B_row[b] = row;
                    p->B_col[b++] = 6 * body[k] + col;
                }
    }
    p->rows = row;
    p->entries = b;
}

/* A body at x, its axes along the world's. */
static void put_body(linkage *p, const double *x, double m, const double *J)
{
    const int k = p->bodies++;
    p->nodes[k] = (ga_node)GA_NODE(GA_GROUP_R3SO3, 0);
    p->m[k] = m;
    pb_copy(p->J[k], J, 3);
    pb_copy(p->q0 + 7 * (ptrdiff_t)k, x, 3);
    p->q0[7 * k + 3] = 1;
}

/* Bodies are given at the start with their axes along the world's, or turned about z. */
static void put_joint(linkage *p, int a, int b, const double *point, const double *axis,
                      int turns)
{
    joint *j = &p->joint[p->joints++];
    *j = (joint){.a = a, .b = b, .turns = turns};
    double t[2][3] = {{0}}, x[3], R[9], arm[3];
    const int body[2] = {a, b};
    for (int k = 0; k < 3; ++k) { /* axes are x, y or z */
        t[turns == 1][(k + 1) % 3] += fabs(axis[k]);
        t[turns != 1][(k + 2) % 3] += fabs(axis[k]);
    }
    for (int k = 0; k < 2; ++k) {
        pose(p->q0, body[k], x, R);
        for (int i = 0; i < 3; ++i) arm[i] = point[i] - x[i];
        pb_rotate_back(R, arm, j->r[k]);
        if (k == 0)
            for (int i = 0; i < 2; ++i) pb_rotate_back(R, t[i], j->t[i]);
        else
            pb_rotate_back(R, axis, j->n);
    }
}

static void finish(pb_problem *problem)
{
    linkage *p = problem->data;
    fill_patterns(p);
    problem->q0 = p->q0;
    problem->v0 = p->v0;
    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = p->bodies;
    s->nodes = p->nodes;
    s->constraint_count = p->rows;
    s->mass = mass;
    s->mass_pattern =
        (ga_pattern){.count = 6 * p->bodies, .row = p->diagonal, .col = p->diagonal};
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->gradient_pattern = (ga_pattern){.count = p->entries, .row = p->B_row, .col = p->B_col};
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness_pattern = (ga_pattern){.count = p->K_count, .row = p->K_row, .col = p->K_col};
    s->damping = damping;
    s->damping_pattern = (ga_pattern){.count = 9 * p->bodies, .row = p->C_row, .col = p->C_col};
    s->velocity_stiffness_pattern = s->gradient_pattern;
}

ga_status pb_bricard_create(pb_problem **out)
{
    static const double point[6][3] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                       {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    static const double axis[3][3] = {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}};
    pb_problem *problem = *out = pb_new("bricard", sizeof(linkage));
    if (!problem) return GA_ERR_MEMORY;
    linkage *p = problem->data;
    p->gravity[1] = -9.81;
    for (int k = 0; k < 5; ++k) { /* rods of square section 0.1 */
        double x[3], J[3];
        for (int i = 0; i < 3; ++i) {
            x[i] = 0.5 * (point[k][i] + point[k + 1][i]);
            J[i] = point[k][i] != point[k + 1][i] ? 0.01 / 6 : (1 + 0.01) / 12;
        }
        put_body(p, x, 1, J);
    }
    for (int k = 0; k < 6; ++k) put_joint(p, k - 1, k < 5 ? k : -1, point[k], axis[k % 3], 2);
    problem->t_end = 10;
    finish(problem);
    return GA_OK;
}

/* The motion of pb_change_point_create, with other links if not change_point. */
ga_status pb_spatial_four_bar_create(bool change_point, bool redundant, pb_problem **out)
{
    static const double axis[3] = {0, 0, 1};
    pb_problem *problem = *out = pb_new("spatial-four-bar", sizeof(linkage));
    if (!problem) return GA_ERR_MEMORY;
    linkage *p = problem->data;
    double x[4][2], v[4][2];
    pb_change_point_motion(0.5 * PB_PI, PB_CHANGE_POINT_SPEED, x, v);
    if (!change_point) { /* a parallelogram's lengths would be singular, too: 1, 2, 2, 2.2 */
        static const double given[4][2] = {{0, 0}, {0, 1}, {1.9, 1.6244997998398398}, {2.2, 0}};
        memcpy(x, given, sizeof x);
        pb_zero(v[0], 8);
        v[1][0] = -PB_CHANGE_POINT_SPEED; /* the others follow from the projection */
    }
    p->gravity[1] = -9.81;
    for (int k = 0; k < 3; ++k) {
        const double dx = x[k + 1][0] - x[k][0], dy = x[k + 1][1] - x[k][1];
        const double length = hypot(dx, dy), m = length;
        const double J[3] = {m * 0.01 / 6, m * (length * length + 0.01) / 12,
                             m * length * length / 12};
        const double centre[3] = {0.5 * (x[k][0] + x[k + 1][0]), 0.5 * (x[k][1] + x[k + 1][1]),
                                  0};
        put_body(p, centre, m, J);
        const double angle = atan2(dy, dx);
        p->q0[7 * k + 3] = cos(0.5 * angle);
        p->q0[7 * k + 6] = sin(0.5 * angle);
        for (int i = 0; i < 2; ++i) p->v0[6 * k + i] = 0.5 * (v[k][i] + v[k + 1][i]);
        p->v0[6 * k + 5] =
            (dx * (v[k + 1][1] - v[k][1]) - dy * (v[k + 1][0] - v[k][0])) / (length * length);
    }
    /* without redundancy: revolute, spherical, universal, revolute; the universal joint keeps
     * the coupler from turning about itself */
    static const int turns[4] = {2, 0, 1, 2};
    for (int k = 0; k < 4; ++k) {
        const double point[3] = {x[k][0], x[k][1], 0};
        put_joint(p, k - 1, k < 3 ? k : -1, point, axis, redundant ? 2 : turns[k]);
    }
    problem->t_end = 5;
    finish(problem);
    return GA_OK;
}
