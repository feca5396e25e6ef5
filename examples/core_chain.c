/* Matrices by blocks: a chain of point masses on rigid rods, with callbacks alone.
 *
 * Mass i is at x_i in the plane, hung by a rod of length L from mass i - 1, the first from the
 * origin. With d = x_i - x_{i-1} and w = v_i - v_{i-1},
 *
 *     Phi_i = (d.d - L^2)/2,   B_i = [-d^T  d^T],   Z_i = [-w^T  w^T],
 *
 *     K_i = lambda_i [  I  -I ]
 *                    [ -I   I ]
 *
 * in the columns of masses i - 1 and i. Each matrix is declared as what it consists of: blocks
 * of 2 x 2 and 1 x 2. A callback writes one block after the other, each column by column. The
 * program runs once with these, and once with the same numbers declared entry by entry; the
 * ends agree, and the energy is kept.
 */
#include <galpha/simulate.h>
#include <math.h>
#include <stdio.h>

enum { N = 200, MOST = 4 * N, ENTRIES = 4 * MOST };

static const double length = 0.05, gravity = 9.81;

/* Room for the lists of a pattern. */
typedef struct places {
    int count;
    int row[ENTRIES], col[ENTRIES], height[ENTRIES], width[ENTRIES];
} places;

static void add(places *p, int row, int col, int height, int width)
{
    p->row[p->count] = row;
    p->col[p->count] = col;
    p->height[p->count] = height;
    p->width[p->count++] = width;
}

static ga_pattern blocks(const places *p)
{
    return (ga_pattern){p->count, p->row, p->col, p->height, p->width};
}

/* The same numbers, each with a place of its own. */
static ga_pattern entries(const places *p, places *single)
{
    for (int b = 0; b < p->count; ++b)
        for (int j = 0; j < p->width[b]; ++j)
            for (int i = 0; i < p->height[b]; ++i)
                add(single, p->row[b] + i, p->col[b] + j, 1, 1);
    return (ga_pattern){single->count, single->row, single->col, NULL, NULL};
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    for (int i = 0; i < N; ++i, M += 4) {
        M[0] = M[3] = 1;
        M[1] = M[2] = 0;
    }
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    for (int i = 0; i < N; ++i) {
        f[2 * i] = 0;
        f[2 * i + 1] = -gravity;
    }
    return GA_EVAL_OK;
}

/* Component k of rod i: x_i - x_{i-1}, or the same of velocities. */
static double along(const double *x, int i, int k)
{
    return x[2 * i + k] - (i > 0 ? x[2 * (i - 1) + k] : 0);
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    for (int i = 0; i < N; ++i) {
        const double x = along(at->q, i, 0), y = along(at->q, i, 1);
        Phi[i] = (x * x + y * y - length * length) / 2;
    }
    return GA_EVAL_OK;
}

/* Of each rod two blocks of 1 x 2; the first has one. */
static void write_rows(const double *x, double *B)
{
    for (int i = 0; i < N; ++i)
        for (int mass = i > 0 ? 0 : 1; mass < 2; ++mass)
            for (int k = 0; k < 2; ++k) *B++ = (mass ? 1 : -1) * along(x, i, k);
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    write_rows(at->q, B);
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    write_rows(at->v, Z);
    return GA_EVAL_OK;
}

/* Of each rod four blocks of 2 x 2; the first has one. */
static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    for (int i = 0; i < N; ++i)
        for (int block = i > 0 ? 0 : 3; block < 4; ++block, K += 4) {
            const bool diagonal = block == 0 || block == 3;
            K[0] = K[3] = diagonal ? at->lambda[i] : -at->lambda[i];
            K[1] = K[2] = 0;
        }
    return GA_EVAL_OK;
}

/* C = 0: a pattern without blocks, for which nothing is written. Left out, C would be a full
 * matrix, computed by differences. */
static ga_eval damping(void *user, const ga_point *at, double *C) { return GA_EVAL_OK; }

static double energy(const double *q, const double *v)
{
    double sum = 0;
    for (int i = 0; i < N; ++i) {
        const double *u = v + 2 * i;
        sum += (u[0] * u[0] + u[1] * u[1]) / 2 + gravity * q[2 * i + 1];
    }
    return sum;
}

/* From the horizontal, at rest. False: a failure. */
static bool run(const ga_system *chain, double *end)
{
    double q0[2 * N] = {0}, v0[2 * N] = {0};
    for (int i = 0; i < N; ++i) q0[2 * i] = (i + 1) * length;
    const ga_integrator_def def = ga_integrator_def_default();
    ga_simulation fall = ga_simulation_default();
    ga_integrator *g = NULL;
    ga_report report = {0};
    fall.t_end = 0.2;
    fall.step = 1e-3;
    fall.control.relative = 0; /* fixed steps */
    if (ga_integrator_create(chain, &def, &g, &report) ||
        ga_integrator_simulate(g, 0, q0, v0, &fall, &report)) {
        fprintf(stderr, "%s\n", report.message);
        ga_integrator_destroy(g);
        return false;
    }
    const double *q = ga_integrator_q(g);
    for (int i = 0; i < 2 * N; ++i) end[i] = q[i];
    const double off = energy(q, ga_integrator_v(g));
    printf("%ld steps; the free end is at (%.6f, %.6f), energy %.1e of 0\n",
           ga_integrator_statistics(g).steps, end[2 * N - 2], end[2 * N - 1], off);
    ga_integrator_destroy(g);
    return fabs(off) < 1e-2;
}

int main(void)
{
    static places M, B, K, M_entries, B_entries, K_entries;
    static ga_node nodes[N];
    double one[2 * N], other[2 * N], most = 0;
    for (int i = 0; i < N; ++i) {
        nodes[i] = (ga_node)GA_NODE(GA_GROUP_RN, 2);
        add(&M, 2 * i, 2 * i, 2, 2);
        for (int column = i > 0 ? i - 1 : 0; column <= i; ++column) {
            add(&B, i, 2 * column, 1, 2);
            for (int row = i > 0 ? i - 1 : 0; row <= i; ++row)
                add(&K, 2 * row, 2 * column, 2, 2);
        }
    }
    const ga_pattern none = {0, M.row, M.col, M.height, M.width};
    ga_system chain = {.struct_size = sizeof(ga_system),
                       .node_count = N,
                       .nodes = nodes,
                       .constraint_count = N,
                       .mass = mass,
                       .mass_pattern = blocks(&M),
                       .mass_is_constant = true,
                       .force = force,
                       .constraint = constraint,
                       .gradient = gradient,
                       .gradient_pattern = blocks(&B),
                       .stiffness = stiffness,
                       .stiffness_pattern = blocks(&K),
                       .damping = damping,
                       .damping_pattern = none,
                       .velocity_stiffness = velocity_stiffness,
                       .velocity_stiffness_pattern = blocks(&B)};
    if (!run(&chain, one)) return 1;
    chain.mass_pattern = entries(&M, &M_entries);
    chain.gradient_pattern = chain.velocity_stiffness_pattern = entries(&B, &B_entries);
    chain.stiffness_pattern = entries(&K, &K_entries);
    if (!run(&chain, other)) return 1;
    for (int i = 0; i < 2 * N; ++i) most = fmax(most, fabs(one[i] - other[i]));
    printf("blocks and entries differ by %.1e\n", most);
    return most < 1e-5 ? 0 : 2;
}
