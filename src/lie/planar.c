/* The plane: SO(2), R^2 x SO(2) and SE(2), each the spatial group restricted to turning about
 * the third axis, with the angle a plain number that is never wrapped.
 *
 * On the axis the operator of a jet (chart.h) is the number a + s c, across it a I + om b J
 * with J = (0 -1; 1 0). For SE(2), x = (u, om), the spatial [O, DO[u]; 0, O] becomes
 *
 *   O(u, om) = | a I + om b J    -b J u + om c u |
 *              | 0                   a + s c     |          s = om^2
 *
 * and its derivative in direction (du, dom), ' = d/ds,
 *
 *   | dom (2 om a' I + (b + 2 s b') J)   -b J du + om c du + dom (-2 om b' J u + (c + 2 s c')
 * u) | | 0                                   2 om dom (a + s c)' |
 *
 * map(u, om) = (T^T u, angle(om)); [(u1, om1), (u2, om2)] = (om1 J u2 - om2 J u1, 0);
 * Ad_q = (R, -J x; 0, 1).
 *
 * Angles add, so log(exp(x)) = x at any number of turns. At whole turns 2 pi m, m != 0, exp of
 * SE(2) is singular: a pure turn cannot tell its u. The logarithm there follows its closed form
 * (om/2) cot(om/2): no double is a multiple of pi, so it is finite, large and correct for the
 * angle given, but u grows like |x|/|om - 2 pi m|. The inverse Cayley map is 2 tan(angle/2):
 * the same for angles that differ by whole turns, unbounded at half turns. */
#include <math.h>
#include <string.h>

#include "lie/group.h"

typedef struct vec2 {
    double x, y;
} vec2;

/* (c I + s J) a */
static vec2 turn(double c, double s, const double *a)
{
    return (vec2){c * a[0] - s * a[1], s * a[0] + c * a[1]};
}

static void store(vec2 x, double angle, double *q)
{
    q[0] = x.x;
    q[1] = x.y;
    q[2] = angle;
}

/* --- SO(2) ---------------------------------------------------------------------------------
 */

static void angle_compose(const double *a, const double *b, double *ab) { ab[0] = a[0] + b[0]; }

static void angle_inverse(const double *a, double *inv) { inv[0] = -a[0]; }

static void angle_relative(const double *a, const double *b, double *rel)
{
    rel[0] = b[0] - a[0];
}

static void angle_map(const ga_chart *chart, const double *x, double *q)
{
    q[0] = chart->angle(x[0]);
}

static void angle_unmap(const ga_chart *chart, const double *q, double *x)
{
    x[0] = chart->unangle(q[0]);
}

static void angle_bracket(const double *x, const double *y, double *z)
{
    (void)x;
    (void)y;
    z[0] = 0;
}

static void angle_adjoint(const double *q, double *Ad)
{
    (void)q;
    Ad[0] = 1;
}

static void angle_tangent(const ga_jet *jet, const double *x, double *T)
{
    (void)x;
    T[0] = jet->axis[0];
}

static void angle_tangent_derivative(const ga_jet *jet, const double *x, const double *dx,
                                     double *DT)
{
    DT[0] = 2 * x[0] * dx[0] * jet->axis[1];
}

static void angle_defect(const double *x, double *c) { c[0] = x[0] * x[0] * x[0] / 12; }

const ga_group_type ga_group_so2 = {
    .nq = 1,
    .nv = 1,
    .turning = 1,
    .order = 0,
    .identity = {0},
    .adds_up = true,
    .compose = angle_compose,
    .inverse = angle_inverse,
    .relative = angle_relative,
    .map = angle_map,
    .unmap = angle_unmap,
    .bracket = angle_bracket,
    .adjoint = angle_adjoint,
    .tangent = angle_tangent,
    .tangent_derivative = angle_tangent_derivative,
    .defect = angle_defect,
};

/* --- R^2 x SO(2) ---------------------------------------------------------------------------
 */

static void product_compose(const double *a, const double *b, double *ab)
{
    store((vec2){a[0] + b[0], a[1] + b[1]}, a[2] + b[2], ab);
}

static void product_inverse(const double *a, double *inv)
{
    store((vec2){-a[0], -a[1]}, -a[2], inv);
}

static void product_relative(const double *a, const double *b, double *rel)
{
    store((vec2){b[0] - a[0], b[1] - a[1]}, b[2] - a[2], rel);
}

static void product_map(const ga_chart *chart, const double *x, double *q)
{
    store((vec2){x[0], x[1]}, chart->angle(x[2]), q);
}

static void product_unmap(const ga_chart *chart, const double *q, double *x)
{
    store((vec2){q[0], q[1]}, chart->unangle(q[2]), x);
}

static void product_bracket(const double *x, const double *y, double *z)
{
    (void)x;
    (void)y;
    store((vec2){0, 0}, 0, z);
}

static void diagonal(double position, double angle, double *M)
{
    memset(M, 0, 9 * sizeof *M);
    M[0] = M[4] = position;
    M[8] = angle;
}

static void product_adjoint(const double *q, double *Ad)
{
    (void)q;
    diagonal(1, 1, Ad);
}

static void product_tangent(const ga_jet *jet, const double *x, double *T)
{
    (void)x;
    diagonal(1, jet->axis[0], T);
}

static void product_tangent_derivative(const ga_jet *jet, const double *x, const double *dx,
                                       double *DT)
{
    diagonal(0, 2 * x[2] * dx[2] * jet->axis[1], DT);
}

static void product_defect(const double *x, double *c)
{
    store((vec2){0, 0}, x[2] * x[2] * x[2] / 12, c);
}

const ga_group_type ga_group_r2so2 = {
    .nq = 3,
    .nv = 3,
    .turning = 1,
    .order = 0,
    .identity = {0},
    .adds_up = true,
    .compose = product_compose,
    .inverse = product_inverse,
    .relative = product_relative,
    .map = product_map,
    .unmap = product_unmap,
    .bracket = product_bracket,
    .adjoint = product_adjoint,
    .tangent = product_tangent,
    .tangent_derivative = product_tangent_derivative,
    .defect = product_defect,
};

/* --- SE(2) ---------------------------------------------------------------------------------
 */

static void compose(const double *a, const double *b, double *ab)
{
    vec2 x = turn(cos(a[2]), sin(a[2]), b);
    store((vec2){a[0] + x.x, a[1] + x.y}, a[2] + b[2], ab);
}

static void inverse(const double *a, double *inv)
{
    vec2 x = turn(cos(a[2]), -sin(a[2]), a);
    store((vec2){-x.x, -x.y}, -a[2], inv);
}

/* Subtracts before it turns, see se3.c. */
static void relative(const double *a, const double *b, double *rel)
{
    double d[2] = {b[0] - a[0], b[1] - a[1]};
    store(turn(cos(a[2]), -sin(a[2]), d), b[2] - a[2], rel);
}

static void map(const ga_chart *chart, const double *x, double *q)
{
    double om = x[2], s = om * om;
    ga_jet T;
    chart->tangent(s, chart->rotor(s), 0, &T);
    store(turn(T.a[0], -om * T.b[0], x), chart->angle(om), q);
}

static void unmap(const ga_chart *chart, const double *q, double *x)
{
    double om = chart->unangle(q[2]), s = om * om;
    ga_jet Tinv;
    chart->tangent_inverse(s, 0, &Tinv);
    store(turn(Tinv.a[0], -om * Tinv.b[0], q), om, x);
}

static void bracket(const double *x, const double *y, double *z)
{
    store((vec2){y[2] * x[1] - x[2] * y[1], x[2] * y[0] - y[2] * x[0]}, 0, z);
}

/* (a I + b J, column; 0, corner) */
static void fill(double a, double b, vec2 column, double corner, double *M)
{
    M[0] = a;
    M[1] = b;
    M[2] = 0;
    M[3] = -b;
    M[4] = a;
    M[5] = 0;
    store(column, corner, M + 6);
}

static void adjoint(const double *q, double *Ad)
{
    fill(cos(q[2]), sin(q[2]), (vec2){q[1], -q[0]}, 1, Ad);
}

static void tangent(const ga_jet *jet, const double *x, double *T)
{
    double om = x[2];
    fill(jet->a[0], om * jet->b[0], turn(om * jet->c[0], -jet->b[0], x), jet->axis[0], T);
}

static void tangent_derivative(const ga_jet *jet, const double *x, const double *dx, double *DT)
{
    double om = x[2], dom = dx[2], s = om * om;
    vec2 with_du = turn(om * jet->c[0], -jet->b[0], dx);
    vec2 with_dom = turn(jet->c[0] + 2 * s * jet->c[1], -2 * om * jet->b[1], x);
    vec2 column = {with_du.x + dom * with_dom.x, with_du.y + dom * with_dom.y};
    fill(2 * om * dom * jet->a[1], dom * (jet->b[0] + 2 * s * jet->b[1]), column,
         2 * om * dom * jet->axis[1], DT);
}

static void defect(const double *x, double *c)
{
    double f = x[2] * x[2] / 12;
    store((vec2){f * x[0], f * x[1]}, f * x[2], c);
}

const ga_group_type ga_group_se2 = {
    .nq = 3,
    .nv = 3,
    .turning = 1,
    .order = 0,
    .identity = {0},
    .compose = compose,
    .inverse = inverse,
    .relative = relative,
    .map = map,
    .unmap = unmap,
    .bracket = bracket,
    .adjoint = adjoint,
    .tangent = tangent,
    .tangent_derivative = tangent_derivative,
    .defect = defect,
};
