/* Chain of n uniform rods in the plane, R2xSO(2) at the centres of mass, hung at the origin.
 *
 *     q_k = (x, y, theta)_k,  M_k = diag(1, 1, 1/12),  f_k = (0, -g, 0)
 *     Phi_k = base_k - tip_{k-1},  tip_{-1} = 0
 *     base = (x - c/2, y - s/2),  tip = (x + c/2, y + s/2),  c = cos theta, s = sin theta
 *
 * All matrices are given by their entries; per joint, gradient and velocity stiffness list the
 * rod below before the rod above.
 */
#include "problems/create.h"
#include <limits.h>
#include <math.h>

static const double g = 9.81, J = 1.0 / 12;

typedef struct chain {
    int n;
    ga_node *nodes;
    double *q0, *v0;
    int *diagonal;      /* 0 to 3n - 1 */
    int *angle;         /* places of theta in v */
    int *B_row, *B_col; /* 4 entries for the first joint, 8 for each other */
    int *Z_row, *Z_col; /* 2 and 4 */
} chain;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const chain *p = user;
    for (int k = 0; k < p->n; ++k, M += 3) {
        M[0] = M[1] = 1;
        M[2] = J;
    }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    (void)at;
    const chain *p = user;
    for (int k = 0; k < p->n; ++k, f += 3) {
        f[0] = f[2] = 0;
        f[1] = -g;
    }
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    const chain *p = user;
    const double *q = at->q;
    double tip_x = 0, tip_y = 0;
    for (int k = 0; k < p->n; ++k, q += 3, Phi += 2) {
        const double c = 0.5 * cos(q[2]), s = 0.5 * sin(q[2]);
        Phi[0] = q[0] - c - tip_x;
        Phi[1] = q[1] - s - tip_y;
        tip_x = q[0] + c;
        tip_y = q[1] + s;
    }
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    const chain *p = user;
    const double *q = at->q;
    double s_above = 0, c_above = 0;
    for (int k = 0; k < p->n; ++k, q += 3) {
        const double c = 0.5 * cos(q[2]), s = 0.5 * sin(q[2]);
        B[0] = B[2] = 1;
        B[1] = s;
        B[3] = -c;
        B += 4;
        if (k > 0) {
            B[0] = B[2] = -1;
            B[1] = s_above;
            B[3] = -c_above;
            B += 4;
        }
        s_above = s;
        c_above = c;
    }
    return GA_EVAL_OK;
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *rhs)
{
    const chain *p = user;
    const double *q = at->q, *v = at->v;
    double x_above = 0, y_above = 0;
    for (int k = 0; k < p->n; ++k, q += 3, v += 3, rhs += 2) {
        const double w = 0.5 * v[2] * v[2], x = w * cos(q[2]), y = w * sin(q[2]);
        rhs[0] = -x - x_above;
        rhs[1] = -y - y_above;
        x_above = x;
        y_above = y;
    }
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    const chain *p = user;
    const double *l = at->lambda;
    for (int k = 0; k < p->n; ++k, l += 2) {
        const bool last = k + 1 == p->n;
        const double lx = l[0] + (last ? 0 : l[2]), ly = l[1] + (last ? 0 : l[3]);
        K[k] = 0.5 * (cos(at->q[3 * k + 2]) * lx + sin(at->q[3 * k + 2]) * ly);
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
    const chain *p = user;
    const double *q = at->q, *v = at->v;
    double x_above = 0, y_above = 0;
    for (int k = 0; k < p->n; ++k, q += 3, v += 3) {
        const double w = 0.5 * v[2], x = w * cos(q[2]), y = w * sin(q[2]);
        *Z++ = x;
        *Z++ = y;
        if (k > 0) {
            *Z++ = x_above;
            *Z++ = y_above;
        }
        x_above = x;
        y_above = y;
    }
    return GA_EVAL_OK;
}

static void fill_patterns(chain *p)
{
    for (int i = 0; i < 3 * p->n; ++i) p->diagonal[i] = i;
    int b = 0, z = 0;
    for (int k = 0; k < p->n; ++k) {
        p->angle[k] = 3 * k + 2;
        for (int rod = k; rod >= 0 && rod >= k - 1; --rod) {
            for (int i = 0; i < 2; ++i) {
                p->B_row[b] = p->B_row[b + 1] = 2 * k + i;
                p->B_col[b++] = 3 * rod + i;
                p->B_col[b++] = 3 * rod + 2;
                p->Z_row[z] = 2 * k + i;
                p->Z_col[z++] = 3 * rod + 2;
            }
        }
    }
}

ga_status pb_chain_create(int n, pb_problem **out)
{
    *out = NULL;
    if (n < 1 || n > INT_MAX / 64) return GA_ERR_ARGUMENT;
    const size_t N = (size_t)n, gradient_count = 8 * N - 4, velocity_count = 4 * N - 2;
    const size_t doubles = 6 * N, ints = 4 * N + 2 * (gradient_count + velocity_count);
    /* one block: the struct, then doubles, nodes, ints, in the order of alignment */
    pb_problem *problem = pb_new("chain", sizeof(chain) + doubles * sizeof(double) +
                                              N * sizeof(ga_node) + ints * sizeof(int));
    if (!problem) return GA_ERR_MEMORY;
    chain *p = problem->data;
    p->n = n;
    p->q0 = (double *)(p + 1);
    p->v0 = p->q0 + 3 * N;
    p->nodes = (ga_node *)(p->v0 + 3 * N);
    p->diagonal = (int *)(p->nodes + N);
    p->angle = p->diagonal + 3 * N;
    p->B_row = p->angle + N;
    p->B_col = p->B_row + gradient_count;
    p->Z_row = p->B_col + gradient_count;
    p->Z_col = p->Z_row + velocity_count;
    fill_patterns(p);
    for (int k = 0; k < n; ++k) {
        p->nodes[k] = (ga_node)GA_NODE(GA_GROUP_R2SO2, 0);
        p->q0[3 * k] = k + 0.5;
    }

    problem->t_end = 1;
    problem->q0 = p->q0;
    problem->v0 = p->v0;

    ga_system *s = &problem->system;
    s->struct_size = sizeof *s;
    s->node_count = n;
    s->nodes = p->nodes;
    s->constraint_count = 2 * n;
    s->mass = mass;
    s->mass_pattern = (ga_pattern){.count = 3 * n, .row = p->diagonal, .col = p->diagonal};
    s->mass_is_constant = true;
    s->force = force;
    s->constraint = constraint;
    s->gradient = gradient;
    s->gradient_pattern = (ga_pattern){.count = 8 * n - 4, .row = p->B_row, .col = p->B_col};
    s->acceleration_rhs = acceleration_rhs;
    s->stiffness = stiffness;
    s->stiffness_pattern = (ga_pattern){.count = n, .row = p->angle, .col = p->angle};
    s->damping = damping;
    s->damping_pattern = (ga_pattern){.count = 1, .row = p->diagonal, .col = p->diagonal};
    s->velocity_stiffness = velocity_stiffness;
    s->velocity_stiffness_pattern =
        (ga_pattern){.count = 4 * n - 2, .row = p->Z_row, .col = p->Z_col};
    *out = problem;
    return GA_OK;
}
