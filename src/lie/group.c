/* <galpha/lie.h> for one node: chooses the group's table and the map's chart.
 *
 * R^n is written out here: composition is addition, both maps are the identity, T = I. So are
 * states, which are velocities without a q. */
#include "lie/group.h"

#include "base/apart.h"
#include "lie/so3.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const ga_group_type *const types[] = {
    [GA_GROUP_SO2] = &ga_group_so2,
    [GA_GROUP_R2SO2] = &ga_group_r2so2,
    [GA_GROUP_SE2] = &ga_group_se2,
    [GA_GROUP_SO3] = &ga_group_so3,
    [GA_GROUP_R3SO3] = &ga_group_r3so3,
    [GA_GROUP_SE3] = &ga_group_se3,
    [GA_GROUP_STATE] = NULL,
};

static const ga_chart *const charts[] = {
    [GA_MAP_EXP] = &ga_chart_exp,
    [GA_MAP_CAYLEY] = &ga_chart_cayley,
};

/* Null for R^n and states, whose slots are empty. An unknown group is the caller's mistake. */
static const ga_group_type *type_of(ga_node node)
{
    assert((size_t)node.group < sizeof types / sizeof *types);
    assert(!ga_group_is_vector(node) || node.n >= 0);
    return types[node.group];
}

/* Numbers in q of a node without a table. */
static int flat_nq(ga_node node) { return node.group == GA_GROUP_STATE ? 0 : node.n; }

static const ga_chart *chart_of(ga_map map)
{
    assert((size_t)map < sizeof charts / sizeof *charts);
    return charts[map];
}

/* --- R^n -----------------------------------------------------------------------------------
 */

static void copy(int n, const double *x, double *y)
{
    if (n > 0) memmove(y, x, (size_t)n * sizeof *y);
}

static void clear(int n, double *x)
{
    for (int i = 0; i < n; ++i) x[i] = 0;
}

static void add(int n, const double *a, const double *b, double *sum)
{
    for (int i = 0; i < n; ++i) sum[i] = a[i] + b[i];
}

static void clear_square(int n, double *M)
{
    for (int j = 0; j < n; ++j) clear(n, M + (size_t)n * (size_t)j);
}

static void unit(int n, double *M)
{
    clear_square(n, M);
    for (int j = 0; j < n; ++j) M[((size_t)n + 1) * (size_t)j] = 1;
}

/* --- Any node ------------------------------------------------------------------------------
 */

static int valid(ga_node node)
{
    if (node.struct_size != sizeof node) return 0;
    if ((size_t)node.group >= sizeof types / sizeof *types) return 0;
    return !ga_group_is_vector(node) || node.n >= 0;
}

int ga_node_nq(ga_node node)
{
    if (!valid(node)) return 0;
    const ga_group_type *g = type_of(node);
    return g ? g->nq : flat_nq(node);
}

int ga_node_nv(ga_node node)
{
    if (!valid(node)) return 0;
    const ga_group_type *g = type_of(node);
    return g ? g->nv : node.n;
}

void ga_lie_identity(ga_node node, double *q)
{
    const ga_group_type *g = type_of(node);
    if (g)
        copy(g->nq, g->identity, q);
    else
        clear(flat_nq(node), q);
}

void ga_lie_compose(ga_node node, const double *a, const double *b, double *ab)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->compose(a, b, ab);
    else
        add(flat_nq(node), a, b, ab);
}

void ga_lie_inverse(ga_node node, const double *a, double *inv)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->inverse(a, inv);
    else
        for (int i = 0; i < flat_nq(node); ++i) inv[i] = -a[i];
}

void ga_lie_map(ga_node node, ga_map map, const double *x, double *q)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->map(chart_of(map), x, q);
    else
        copy(flat_nq(node), x, q);
}

void ga_lie_map_inverse(ga_node node, ga_map map, const double *q, double *x)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->unmap(chart_of(map), q, x);
    else if (node.group == GA_GROUP_STATE)
        clear(node.n, x);
    else
        copy(node.n, q, x);
}

void ga_lie_update(ga_node node, ga_map map, const double *q, const double *x, double *q1)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        double moved[GA_NODE_MAX_NQ];
        g->map(chart_of(map), x, moved);
        g->compose(q, moved, q1);
    } else {
        add(flat_nq(node), q, x, q1);
    }
}

/* Where q and x add up. */
APART void add_all(int n, const double *q, const double *x, double *q1) { add(n, q, x, q1); }

APART void update_each(ga_node node, int count, ga_map map, const double *q, const double *x,
                       double *q1)
{
    const int nq = type_of(node)->nq, nv = type_of(node)->nv;
    for (int i = 0; i < count; ++i)
        ga_lie_update(node, map, q + nq * i, x + nv * i, q1 + nq * i);
}

void ga_lie_update_all(ga_node node, int count, ga_map map, const double *q, const double *x,
                       double *q1)
{
    const ga_group_type *g = type_of(node);
    if (!g || (g->adds_up && chart_of(map)->plain_angles))
        add_all(count * (g ? g->nv : flat_nq(node)), q, x, q1);
    else if (g->update)
        g->update(chart_of(map), count, q, x, q1);
    else
        update_each(node, count, map, q, x, q1);
}

void ga_lie_difference(ga_node node, const double *a, const double *b, double *x)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        double step[GA_NODE_MAX_NQ];
        g->relative(a, b, step);
        g->unmap(&ga_chart_exp, step, x);
    } else if (node.group == GA_GROUP_STATE) {
        clear(node.n, x);
    } else {
        for (int i = 0; i < node.n; ++i) x[i] = b[i] - a[i];
    }
}

/* Turns of a rotation vector w, |w| <= pi, that bring it near `expected`, about the same axis.
 */
static double turns_near(ga_vec3 w, ga_vec3 expected, ga_vec3 *axis)
{
    const double half = 3.14159265358979323846, tiny = 1e-8;
    const double angle = sqrt(ga_vec3_dot(w, w)), far = sqrt(ga_vec3_dot(expected, expected));
    if (!(far > half) || !isfinite(far)) return 0;
    *axis = angle > tiny ? ga_vec3_scale(1 / angle, w) : ga_vec3_scale(1 / far, expected);
    return round((ga_vec3_dot(*axis, expected) - angle) / (2 * half));
}

/* Position of exp(u, w) is T(w)^T u. (t/2) cot(t/2) in T^-1 magnifies round-off by 1/sin(t/2).
 */
bool ga_lie_difference_near(ga_node node, const double *a, const double *b,
                            const double *expected, double *x)
{
    const double least_sine = 1e-3, two_pi = 6.283185307179586476925286766559;
    const ga_group_type *g = type_of(node);
    ga_lie_difference(node, a, b, x);
    if (!g || g->turning != 3) return true; /* planar angles know their turns */
    const int at = g->nv - 3;
    ga_vec3 w = ga_vec3_load(x + at), axis;
    const double turns = turns_near(w, ga_vec3_load(expected + at), &axis);
    if (turns == 0) return true;
    const ga_vec3 wound = ga_vec3_axpy(w, two_pi * turns, axis);
    const double s = ga_vec3_dot(wound, wound);
    ga_vec3_store(wound, x + at);
    if (g != &ga_group_se3) return true;
    if (fabs(sin(0.5 * sqrt(s))) < least_sine) {
        memcpy(x, expected, (size_t)g->nv * sizeof *x);
        return false;
    }
    ga_jet Tinv;
    double rel[GA_NODE_MAX_NQ];
    g->relative(a, b, rel);
    ga_chart_exp.tangent_inverse(s, 0, &Tinv);
    ga_vec3_store(ga_jet_apply_transposed(&Tinv, wound, ga_vec3_load(rel)), x);
    return true;
}

void ga_lie_bracket(ga_node node, const double *x, const double *y, double *z)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->bracket(x, y, z);
    else
        clear(node.n, z);
}

void ga_lie_adjoint(ga_node node, const double *q, double *Ad)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->adjoint(q, Ad);
    else
        unit(node.n, Ad);
}

void ga_lie_tangent(ga_node node, ga_map map, const double *x, double *T)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        const ga_chart *chart = chart_of(map);
        double s = ga_group_square(g, x);
        ga_jet jet;
        chart->tangent(s, chart->rotor(s), g->order, &jet);
        g->tangent(&jet, x, T);
    } else {
        unit(node.n, T);
    }
}

void ga_lie_tangent_inverse(ga_node node, ga_map map, const double *x, double *Tinv)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        const ga_chart *chart = chart_of(map);
        double s = ga_group_square(g, x);
        ga_jet jet;
        chart->tangent_inverse(s, g->order, &jet);
        g->tangent(&jet, x, Tinv);
    } else {
        unit(node.n, Tinv);
    }
}

void ga_lie_tangent_derivative(ga_node node, ga_map map, const double *x, const double *dx,
                               double *DT)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        const ga_chart *chart = chart_of(map);
        double s = ga_group_square(g, x);
        ga_jet jet;
        chart->tangent(s, chart->rotor(s), g->order + 1, &jet);
        g->tangent_derivative(&jet, x, dx, DT);
    } else {
        clear_square(node.n, DT);
    }
}

void ga_lie_tangent_inverse_derivative(ga_node node, ga_map map, const double *x,
                                       const double *dx, double *DTinv)
{
    const ga_group_type *g = type_of(node);
    if (g) {
        const ga_chart *chart = chart_of(map);
        double s = ga_group_square(g, x);
        ga_jet jet;
        chart->tangent_inverse(s, g->order + 1, &jet);
        g->tangent_derivative(&jet, x, dx, DTinv);
    } else {
        clear_square(node.n, DTinv);
    }
}

void ga_lie_cayley_defect(ga_node node, const double *x, double *c)
{
    const ga_group_type *g = type_of(node);
    if (g)
        g->defect(x, c);
    else
        clear(node.n, c);
}
