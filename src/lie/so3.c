/* SO(3) in unit quaternions, and R^3 x SO(3), the direct product: a position in the world
 * beside a rotation, neither of which knows the other.
 *
 *   x = (w in body axes), [x, y] = x cross y, Ad_q = R(q)
 *
 * Maps and tangent operators: chart.h, so3.h. Cayley's defect: 2 atan(r/2) = r - r^3/12 + ...,
 * so exp(x) = cay(x + |x|^2 x/12 + O(x^5)). */
#include "lie/so3.h"

#include "base/simd.h"
#include "lie/group.h"

#include <stdbool.h>
#include <string.h>

/* --- SO(3) ------------------------------------------------------------------------------- */

static void compose(const double *a, const double *b, double *ab)
{
    ga_quat_store(ga_quat_normalise(ga_quat_product(ga_quat_load(a), ga_quat_load(b))), ab);
}

static void inverse(const double *a, double *inv)
{
    ga_quat_store(ga_quat_conjugate(ga_quat_load(a)), inv);
}

static void relative(const double *a, const double *b, double *rel)
{
    ga_quat p = ga_quat_product(ga_quat_conjugate(ga_quat_load(a)), ga_quat_load(b));
    ga_quat_store(ga_quat_normalise(p), rel);
}

static void map(const ga_chart *chart, const double *x, double *q)
{
    ga_vec3 w = ga_vec3_load(x);
    ga_rotor r = chart->rotor(ga_vec3_dot(w, w));
    ga_quat_store(ga_quat_map(&r, w), q);
}

static void unmap(const ga_chart *chart, const double *q, double *x)
{
    ga_vec3_store(ga_quat_unmap(chart, ga_quat_load(q)), x);
}

static void bracket(const double *x, const double *y, double *z)
{
    ga_vec3_store(ga_vec3_cross(ga_vec3_load(x), ga_vec3_load(y)), z);
}

static void adjoint(const double *q, double *Ad) { ga_quat_matrix(ga_quat_load(q), 3, Ad); }

static void tangent(const ga_jet *jet, const double *x, double *T)
{
    ga_jet_value(jet, ga_vec3_load(x), 3, T);
}

static void tangent_derivative(const ga_jet *jet, const double *x, const double *dx, double *DT)
{
    ga_jet_first(jet, ga_vec3_load(x), ga_vec3_load(dx), 3, DT);
}

static void defect(const double *x, double *c)
{
    ga_vec3 w = ga_vec3_load(x);
    ga_vec3_store(ga_vec3_scale(ga_vec3_dot(w, w) / 12, w), c);
}

/* p o map(x) for as many at a time as a compiler takes for vectors; `turned` has the product
 * before it is brought back to unit length, and the factor for that, or 0: leave it to
 * ga_quat_normalise. */
enum { MANY = 8 };

typedef struct turned {
    double p[4][MANY], x[3][MANY], factor[MANY];
} turned;

static void turn_many(const ga_chart *chart, turned *t)
{
    double s[MANY], w[MANY], f[MANY];
    for (int v = 0; v < MANY; ++v) {
        const ga_vec3 x = {t->x[0][v], t->x[1][v], t->x[2][v]};
        s[v] = ga_vec3_dot(x, x);
    }
    chart->rotors(MANY, s, w, f);
    for (int v = 0; v < MANY; ++v) {
        const ga_vec3 x = {t->x[0][v], t->x[1][v], t->x[2][v]};
        const ga_quat p = {t->p[0][v], {t->p[1][v], t->p[2][v], t->p[3][v]}};
        const ga_quat r = ga_quat_product(p, (ga_quat){w[v], ga_vec3_scale(f[v], x)});
        s[v] = ga_quat_square(r);
        t->p[0][v] = r.w, t->p[1][v] = r.v.x, t->p[2][v] = r.v.y, t->p[3][v] = r.v.z;
    }
    for (int v = 0; v < MANY; ++v) f[v] = ga_quat_factor(s[v]);
    for (int v = 0; v < MANY; ++v) t->factor[v] = fabs(s[v] - 1) < GA_QUAT_NEAR ? f[v] : 0;
    for (int v = 0; v < MANY; ++v)
        t->factor[v] = fabs(s[v] - 1) <= GA_QUAT_UNIT ? 1 : t->factor[v];
}

/* The rotations of `count` <= MANY nodes of nq and nv numbers. */
static void update_rotations(const ga_chart *chart, int count, int nq, int nv, const double *q,
                             const double *x, double *q1)
{
    turned t = {.p = {{1, 1, 1, 1, 1, 1, 1, 1}}};
    for (int v = 0; v < count; ++v) {
        for (int k = 0; k < 4; ++k) t.p[k][v] = q[nq * v + k];
        for (int k = 0; k < 3; ++k) t.x[k][v] = x[nv * v + k];
    }
    turn_many(chart, &t);
    for (int v = 0; v < count; ++v) {
        const double f = t.factor[v];
        ga_quat p = {t.p[0][v], {t.p[1][v], t.p[2][v], t.p[3][v]}};
        p = f > 0 ? (ga_quat){f * p.w, ga_vec3_scale(f, p.v)} : ga_quat_normalise(p);
        ga_quat_store(p, q1 + nq * v);
    }
}

enum { SOME = 4 }; /* fewer are as fast one by one */

/* p o map(x) of one. */
KERNEL void turn(const ga_chart *chart, const double *p, const double *x, double *p1)
{
    const ga_vec3 w = ga_vec3_load(x);
    const ga_rotor r = chart->rotor(ga_vec3_dot(w, w));
    const ga_quat product = ga_quat_product(ga_quat_load(p), ga_quat_map(&r, w));
    ga_quat_store(ga_quat_normalise(product), p1);
}

static void update(const ga_chart *chart, int count, const double *q, const double *x,
                   double *q1)
{
    for (; count > 0 && count < SOME; --count, q += 4, x += 3, q1 += 4) turn(chart, q, x, q1);
    for (int i = 0; i < count; i += MANY) {
        const int some = count - i < MANY ? count - i : MANY;
        update_rotations(chart, some, 4, 3, q + 4 * i, x + 3 * i, q1 + 4 * i);
    }
}

const ga_group_type ga_group_so3 = {
    .nq = 4,
    .nv = 3,
    .turning = 3,
    .order = 0,
    .identity = {1},
    .update = update,
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

/* --- R^3 x SO(3) ------------------------------------------------------------------------- */

static const double zero[3];

static void place(const double *from, double *to) { memmove(to, from, 3 * sizeof *to); }

static void product_compose(const double *a, const double *b, double *ab)
{
    ga_vec3_store(ga_vec3_add(ga_vec3_load(a), ga_vec3_load(b)), ab);
    compose(a + 3, b + 3, ab + 3);
}

/* Four numbers of each of four nodes, side by side, and back. */
KERNEL void get_fours(const double *from, int stride, double side[4][MANY], int v)
{
    vec4 x[4];
    for (int i = 0; i < 4; ++i) load(x + i, from + stride * i);
    transpose(x);
    for (int i = 0; i < 4; ++i) store(side[i] + v, x + i);
}

KERNEL void put_fours(double side[4][MANY], int v, int stride, double *to)
{
    vec4 x[4];
    for (int i = 0; i < 4; ++i) load(x + i, side[i] + v);
    transpose(x);
    for (int i = 0; i < 4; ++i) store(to + stride * i, x + i);
}

/* MANY bodies: their x and the first number of p, p; u and the first number of w, the last of u
 * and w. The bits are those of update_rotations. */
static void product_update_many(const ga_chart *chart, const double *q, const double *x,
                                double *q1)
{
    double place[4][MANY], u[4][MANY], w[4][MANY];
    turned t;
    for (int v = 0; v < MANY; v += 4) {
        get_fours(q + 7 * v, 7, place, v);
        get_fours(q + 7 * v + 3, 7, t.p, v);
        get_fours(x + 6 * v, 6, u, v);
        get_fours(x + 6 * v + 2, 6, w, v);
    }
    for (int k = 0; k < 3; ++k)
        for (int v = 0; v < MANY; ++v) {
            place[k][v] += u[k][v];
            t.x[k][v] = w[1 + k][v];
        }
    turn_many(chart, &t);
    double least = 1;
    for (int v = 0; v < MANY; ++v) least = t.factor[v] < least ? t.factor[v] : least;
    for (int v = 0; least > 0 && v < MANY; ++v)
        for (int k = 0; k < 4; ++k) t.p[k][v] *= t.factor[v];
    for (int v = 0; !(least > 0) && v < MANY; ++v) { /* some are far from unit length */
        ga_quat p = {t.p[0][v], {t.p[1][v], t.p[2][v], t.p[3][v]}};
        const double f = t.factor[v];
        p = f > 0 ? (ga_quat){f * p.w, ga_vec3_scale(f, p.v)} : ga_quat_normalise(p);
        t.p[0][v] = p.w, t.p[1][v] = p.v.x, t.p[2][v] = p.v.y, t.p[3][v] = p.v.z;
    }
    for (int v = 0; v < MANY; v += 4) {
        put_fours(place, v, 7, q1 + 7 * v); /* with a number that is not the last word */
        put_fours(t.p, v, 7, q1 + 7 * v + 3);
    }
}

/* Fewer than SOME. */
KERNEL void product_update_few(const ga_chart *chart, int count, const double *q,
                               const double *x, double *q1)
{
    for (; count > 0; --count, q += 7, x += 6, q1 += 7) {
        const ga_vec3 moved = ga_vec3_add(ga_vec3_load(q), ga_vec3_load(x));
        turn(chart, q + 3, x + 3, q1 + 3);
        ga_vec3_store(moved, q1);
    }
}

static void product_update_some(const ga_chart *chart, int count, const double *q,
                                const double *x, double *q1)
{
    for (; count >= MANY; count -= MANY, q += 7 * MANY, x += 6 * MANY, q1 += 7 * MANY)
        product_update_many(chart, q, x, q1);
    if (count < SOME) {
        product_update_few(chart, count, q, x, q1);
        return;
    }
    update_rotations(chart, count, 7, 6, q + 3, x + 3, q1 + 3);
    for (int v = 0; v < count; ++v)
        for (int k = 0; k < 3; ++k) q1[7 * v + k] = q[7 * v + k] + x[6 * v + k];
}

static void product_update(const ga_chart *chart, int count, const double *q, const double *x,
                           double *q1)
{
    if (count < SOME)
        product_update_few(chart, count, q, x, q1);
    else
        product_update_some(chart, count, q, x, q1);
}

static void product_inverse(const double *a, double *inv)
{
    ga_vec3_store(ga_vec3_scale(-1, ga_vec3_load(a)), inv);
    inverse(a + 3, inv + 3);
}

static void product_relative(const double *a, const double *b, double *rel)
{
    ga_vec3_store(ga_vec3_sub(ga_vec3_load(b), ga_vec3_load(a)), rel);
    relative(a + 3, b + 3, rel + 3);
}

static void product_map(const ga_chart *chart, const double *x, double *q)
{
    place(x, q);
    map(chart, x + 3, q + 3);
}

static void product_unmap(const ga_chart *chart, const double *q, double *x)
{
    place(q, x);
    unmap(chart, q + 3, x + 3);
}

static void product_bracket(const double *x, const double *y, double *z)
{
    place(zero, z);
    bracket(x + 3, y + 3, z + 3);
}

/* 6 x 6 with `one` times the identity for the position; the rotation's block is left to the
 * caller, at M + 21. */
static void position_block(double one, double *M)
{
    memset(M, 0, 36 * sizeof *M);
    M[0] = M[7] = M[14] = one;
}

static void product_adjoint(const double *q, double *Ad)
{
    position_block(1, Ad);
    ga_quat_matrix(ga_quat_load(q + 3), 6, Ad + 21);
}

static void product_tangent(const ga_jet *jet, const double *x, double *T)
{
    position_block(1, T);
    ga_jet_value(jet, ga_vec3_load(x + 3), 6, T + 21);
}

static void product_tangent_derivative(const ga_jet *jet, const double *x, const double *dx,
                                       double *DT)
{
    position_block(0, DT);
    ga_jet_first(jet, ga_vec3_load(x + 3), ga_vec3_load(dx + 3), 6, DT + 21);
}

static void product_defect(const double *x, double *c)
{
    place(zero, c);
    defect(x + 3, c + 3);
}

const ga_group_type ga_group_r3so3 = {
    .nq = 7,
    .nv = 6,
    .turning = 3,
    .order = 0,
    .identity = {0, 0, 0, 1},
    .update = product_update,
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

/* --- Quaternions for users ---------------------------------------------------------------- */

void ga_quaternion_to_matrix(const double *p, double *R)
{
    ga_quat_matrix(ga_quat_load(p), 3, R);
}

/* Of w^2, x^2, y^2, z^2, four times each a sum over the diagonal, the largest is at least 1/4:
 * its root is safe to divide by. */
void ga_quaternion_from_matrix(const double *R, double *p)
{
    double r00 = R[0], r11 = R[4], r22 = R[8];
    double wx = R[5] - R[7], wy = R[6] - R[2], wz = R[1] - R[3]; /* 4 w x, ... */
    double xy = R[1] + R[3], yz = R[5] + R[7], zx = R[2] + R[6]; /* 4 x y, ... */
    double ww = 1 + r00 + r11 + r22;                             /* 4 w^2, ... */
    double xx = 1 + r00 - r11 - r22;
    double yy = 1 - r00 + r11 - r22;
    double zz = 1 - r00 - r11 + r22;

    ga_quat q = {ww, {wx, wy, wz}};
    double largest = ww;
    if (xx > largest) {
        q = (ga_quat){wx, {xx, xy, zx}};
        largest = xx;
    }
    if (yy > largest) {
        q = (ga_quat){wy, {xy, yy, yz}};
        largest = yy;
    }
    if (zz > largest) q = (ga_quat){wz, {zx, yz, zz}};
    ga_quat_store(ga_quat_canonical(ga_quat_normalise(q)), p);
}

void ga_quaternion_rotate(const double *p, const double *x, double *y)
{
    ga_vec3_store(ga_quat_rotate(ga_quat_load(p), ga_vec3_load(x)), y);
}

void ga_quaternion_rotate_back(const double *p, const double *x, double *y)
{
    ga_vec3_store(ga_quat_rotate(ga_quat_conjugate(ga_quat_load(p)), ga_vec3_load(x)), y);
}
