/* Rows in the variations of kernel.h. With p an arm in body axes, s = R p, e = R^T E,
 * D = r_b - x_a, d = D - s_a, C = R_b^T R_a, b^ = C^T b and a^ = C a for axes a of the first
 * body and b of the second; blocks (x_a, th_a, x_b, th_b), those not named are zero:
 *
 *   world   g    (-E, e_a x p_a, E, p_b x e_b)
 *           S    th_a th_a: (p_a.e_a) I - e_a p_a^T       th_b th_b: e_b p_b^T - (p_b.e_b) I
 *
 *   along   g    (-R_a a, a x R_a^T D, R_a a, p_b x a^)
 *           S    x_a th_a:  R_a a~      th_a x_a: -a~ R_a^T
 *                x_b th_a: -R_a a~      th_a x_b:  a~ R_a^T
 *                th_a th_a: D a^T - (a.D) I  with D seen from the first body
 *                th_a th_b: -a~ C^T p_b~     th_b th_a: -p_b~ C a~
 *                th_b th_b: a^ p_b^T - (p_b.a^) I
 *
 *   dot     g    (0, a x b^, 0, b x a^)
 *           S    th_a th_a: b^ a^T - (a.b^) I     th_a th_b: (a.b^) C^T - b^ a^^T
 *                th_b th_a: (a.b^) C - a^ b^^T    th_b th_b: a^ b^T - (a.b^) I
 *
 *   length  as `world` with E = n = d/|d|, and S + (J^T J - g g^T)/|d|,
 *           J = D d = (-I, R_a p_a~, I, -R_b p_b~)
 *
 * All are linear in E, in a, and in pairs (a, b) with one b, so sums over rows with multipliers
 * need the blocks only once.
 *
 * Each function below is written for any number of rows of each form and compiled for those
 * numbers that joints have, with the loops unrolled.
 */
#include "element/kernel.h"

#include <string.h>

#ifdef __GNUC__
#define TEMPLATE static inline __attribute__((always_inline))
#else
#define TEMPLATE static inline
#endif
#if defined(__GNUC__) && !defined(__clang__) /* which does it without being told */
#define UNROLL _Pragma("GCC unroll 80")
#else
#define UNROLL
#endif

/* How many rows of each form, in this order; tilts have one b in common, turns are three. Units
 * are all `worlds` of a joint, where they are along x, y and z. */
typedef struct shape {
    int units, worlds, alongs, tilts, turns, lengths;
} shape;

enum { UA, TA, UB, TB, SIDE = GA_PAIR };

/* --- small things --------------------------------------------------------------------------
 */

static inline ga_vec3 minus(ga_vec3 a) { return (ga_vec3){-a.x, -a.y, -a.z}; }

static inline void put(ga_vec3 a, double *out) { ga_vec3_store(a, out); }

/* C = R_b^T R_a, column-major. */
TEMPLATE void relate(const ga_frame *a, const ga_frame *b, double *C)
{
    for (int j = 0; j < 3; ++j)
        put(ga_rotate_back(b->R, ga_vec3_load(a->R + 3 * j)), C + 3 * j);
}

static inline double *block(double *K, int i, int j) { return K + 3 * SIDE * i + 3 * j; }

static inline void set(double *K, ga_vec3 row0, ga_vec3 row1, ga_vec3 row2)
{
    put(row0, K);
    put(row1, K + SIDE);
    put(row2, K + 2 * SIDE);
}

static inline void clear(double *K)
{
    const ga_vec3 zero = {0, 0, 0};
    set(K, zero, zero, zero);
}

/* += scale (x y^T - (x.y) I) */
static inline void add_turn(double *K, double scale, ga_vec3 x, ga_vec3 y)
{
    const double a[3] = {scale * x.x, scale * x.y, scale * x.z}, b[3] = {y.x, y.y, y.z};
    const double dot = scale * ga_vec3_dot(x, y);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) K[SIDE * i + j] += a[i] * b[j];
        K[SIDE * i + i] -= dot;
    }
}

/* = scale R a~, R column-major: row i is scale (row i of R) x a */
static inline void set_skew(double *K, double scale, const double *R, ga_vec3 a)
{
    for (int i = 0; i < 3; ++i) {
        const ga_vec3 row = {R[i], R[3 + i], R[6 + i]};
        put(ga_vec3_scale(scale, ga_vec3_cross(row, a)), K + SIDE * i);
    }
}

/* = scale a~ R^T */
static inline void set_skew_back(double *K, double scale, const double *R, ga_vec3 a)
{
    for (int j = 0; j < 3; ++j) { /* column j: a x (row j of R) */
        const ga_vec3 row = {R[j], R[3 + j], R[6 + j]};
        const ga_vec3 column = ga_vec3_scale(scale, ga_vec3_cross(a, row));
        K[j] = column.x, K[SIDE + j] = column.y, K[2 * SIDE + j] = column.z;
    }
}

/* The direction of d; along x where it has none, as in scalar.c. */
static inline ga_vec3 direction(ga_vec3 d, double *length)
{
    *length = sqrt(ga_vec3_dot(d, d));
    return *length > 0 ? ga_vec3_scale(1 / *length, d) : (ga_vec3){1, 0, 0};
}

/* --- in space ------------------------------------------------------------------------------
 */

/* What rows have in common. */
typedef struct pair3 {
    const double *Ra, *Rb;
    ga_vec3 pa, pb, D, d;
    ga_vec3 Da;  /* D seen from the first body */
    double C[9]; /* R_b^T R_a */
} pair3;

TEMPLATE void locate3(const shape s, const double *data, const ga_frame *a, const ga_frame *b,
                      pair3 *p)
{
    p->Ra = a->R;
    p->Rb = b->R;
    p->pa = ga_vec3_load(data);
    p->pb = ga_vec3_load(data + 3);
    if (s.units + s.worlds + s.alongs + s.lengths > 0) {
        const ga_vec3 rb = ga_vec3_add(ga_vec3_load(b->x), ga_rotate(b->R, p->pb));
        p->D = ga_vec3_sub(rb, ga_vec3_load(a->x));
        p->d = ga_vec3_sub(p->D, ga_rotate(a->R, p->pa));
    }
    if (s.alongs > 0) p->Da = ga_rotate_back(a->R, p->D);
    if (s.alongs + s.tilts + s.turns > 0) relate(a, b, p->C);
}

/* Gradient of E . d */
TEMPLATE void hold(const pair3 *p, ga_vec3 E, double *g)
{
    put(minus(E), g);
    put(ga_vec3_cross(ga_rotate_back(p->Ra, E), p->pa), g + 3);
    put(E, g + 6);
    put(ga_vec3_cross(p->pb, ga_rotate_back(p->Rb, E)), g + 9);
}

static inline ga_vec3 unit3(int k) { return (ga_vec3){k == 0, k == 1, k == 2}; }

/* The same for an axis of the world: R^T E is a row of R. */
TEMPLATE void hold_unit(const pair3 *p, int k, double *g)
{
    const ga_vec3 a = {p->Ra[k], p->Ra[3 + k], p->Ra[6 + k]},
                  b = {p->Rb[k], p->Rb[3 + k], p->Rb[6 + k]};
    put(minus(unit3(k)), g);
    put(ga_vec3_cross(a, p->pa), g + 3);
    put(unit3(k), g + 6);
    put(ga_vec3_cross(p->pb, b), g + 9);
}

TEMPLATE void rows3(const shape s, const double *data, const void *first, const void *second,
                    double *Phi, double *B)
{
    pair3 p;
    locate3(s, data, first, second, &p);
    data += 6;
    for (int k = 0; k < s.units; ++k) {
        *Phi++ = k == 0 ? p.d.x : k == 1 ? p.d.y : p.d.z;
        if (B) hold_unit(&p, k, B), B += SIDE;
    }
    for (int k = 0; k < s.worlds; ++k, data += 3) {
        const ga_vec3 E = ga_vec3_load(data);
        *Phi++ = ga_vec3_dot(E, p.d);
        if (B) hold(&p, E, B), B += SIDE;
    }
    for (int k = 0; k < s.alongs; ++k, data += 3) {
        const ga_vec3 a = ga_vec3_load(data), world = ga_rotate(p.Ra, a);
        *Phi++ = ga_vec3_dot(world, p.d);
        if (!B) continue;
        put(minus(world), B);
        put(ga_vec3_cross(a, p.Da), B + 3);
        put(world, B + 6);
        put(ga_vec3_cross(p.pb, ga_rotate(p.C, a)), B + 9);
        B += SIDE;
    }
    if (s.tilts > 0) {
        const ga_vec3 b = ga_vec3_load(data), seen = ga_rotate_back(p.C, b);
        data += 3;
        for (int k = 0; k < s.tilts; ++k, data += 3) {
            const ga_vec3 a = ga_vec3_load(data);
            *Phi++ = ga_vec3_dot(a, seen);
            if (!B) continue;
            put(ga_vec3_cross(a, seen), B + 3);
            put(ga_vec3_cross(b, ga_rotate(p.C, a)), B + 9);
            B += SIDE;
        }
    }
    for (int i = 0; i < s.turns; ++i) { /* (a_k.b_j - a_j.b_k)/2 */
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        const ga_vec3 aj = ga_vec3_load(data + 3 * j), ak = ga_vec3_load(data + 3 * k);
        const ga_vec3 bj = ga_vec3_load(data + 9 + 3 * j), bk = ga_vec3_load(data + 9 + 3 * k);
        const ga_vec3 seen_j = ga_rotate_back(p.C, bj), seen_k = ga_rotate_back(p.C, bk);
        *Phi++ = 0.5 * (ga_vec3_dot(ak, seen_j) - ga_vec3_dot(aj, seen_k));
        if (!B) continue;
        const ga_vec3 x = ga_vec3_sub(ga_vec3_cross(ak, seen_j), ga_vec3_cross(aj, seen_k));
        const ga_vec3 y = ga_vec3_sub(ga_vec3_cross(bj, ga_rotate(p.C, ak)),
                                      ga_vec3_cross(bk, ga_rotate(p.C, aj)));
        put(ga_vec3_scale(0.5, x), B + 3);
        put(ga_vec3_scale(0.5, y), B + 9);
        B += SIDE;
    }
    for (int k = 0; k < s.lengths; ++k) {
        double length;
        const ga_vec3 n = direction(p.d, &length);
        *Phi++ = length - data[k];
        if (B) hold(&p, n, B), B += SIDE;
    }
}

/* += blocks of f . d */
TEMPLATE void add_hold(const pair3 *p, ga_vec3 f, double *K)
{
    add_turn(block(K, TA, TA), -1, ga_rotate_back(p->Ra, f), p->pa);
    add_turn(block(K, TB, TB), 1, ga_rotate_back(p->Rb, f), p->pb);
}

/* Blocks of a . D: those with translations are nobody else's. */
TEMPLATE void add_along(const pair3 *p, ga_vec3 a, double *K)
{
    const ga_vec3 seen = ga_rotate(p->C, a);
    set_skew(block(K, UA, TA), 1, p->Ra, a);
    set_skew(block(K, UB, TA), -1, p->Ra, a);
    set_skew_back(block(K, TA, UA), -1, p->Ra, a);
    set_skew_back(block(K, TA, UB), 1, p->Ra, a);
    add_turn(block(K, TA, TA), 1, p->Da, a);
    add_turn(block(K, TB, TB), 1, seen, p->pb);
    /* -p~ C a~: with y = a x e_j, column j is C y x p */
    for (int j = 0; j < 3; ++j) {
        const ga_vec3 unit = {j == 0, j == 1, j == 2};
        const ga_vec3 ba = ga_vec3_cross(ga_rotate(p->C, ga_vec3_cross(a, unit)), p->pb);
        const ga_vec3 ab = ga_vec3_cross(ga_rotate_back(p->C, ga_vec3_cross(p->pb, unit)), a);
        double *K_ba = block(K, TB, TA) + j, *K_ab = block(K, TA, TB) + j;
        K_ba[0] += ba.x, K_ba[SIDE] += ba.y, K_ba[2 * SIDE] += ba.z;
        K_ab[0] += ab.x, K_ab[SIDE] += ab.y, K_ab[2 * SIDE] += ab.z;
    }
}

/* += blocks of a . b */
TEMPLATE void add_dot(const pair3 *p, ga_vec3 a, ga_vec3 b, double *K)
{
    const ga_vec3 seen_b = ga_rotate_back(p->C, b), seen_a = ga_rotate(p->C, a);
    const double x[3] = {seen_b.x, seen_b.y, seen_b.z}, y[3] = {seen_a.x, seen_a.y, seen_a.z};
    const double dot = ga_vec3_dot(a, seen_b);
    double *K_ab = block(K, TA, TB), *K_ba = block(K, TB, TA);
    add_turn(block(K, TA, TA), 1, seen_b, a);
    add_turn(block(K, TB, TB), 1, seen_a, b);
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) { /* C is stored by columns */
            K_ab[SIDE * i + j] += dot * p->C[3 * i + j] - x[i] * y[j];
            K_ba[SIDE * i + j] += dot * p->C[3 * j + i] - y[i] * x[j];
        }
}

/* J, 3 x 12, for the length */
static inline void separation(const pair3 *p, double *J)
{
    memset(J, 0, 3 * SIDE * sizeof *J);
    for (int i = 0; i < 3; ++i) {
        J[SIDE * i + i] = -1;
        J[SIDE * i + 6 + i] = 1;
    }
    set_skew(J + 3, 1, p->Ra, p->pa);
    set_skew(J + 9, -1, p->Rb, p->pb);
}

TEMPLATE void add_length(const pair3 *p, double lambda, double *K, ga_vec3 *push)
{
    double length, J[3 * SIDE], g[SIDE];
    const ga_vec3 n = direction(p->d, &length);
    *push = ga_vec3_axpy(*push, lambda, n);
    add_hold(p, ga_vec3_scale(lambda, n), K);
    if (!(length > 0)) return;
    separation(p, J);
    hold(p, n, g);
    for (int i = 0; i < SIDE; ++i)
        for (int j = 0; j < SIDE; ++j) {
            const double JJ =
                J[i] * J[j] + J[SIDE + i] * J[SIDE + j] + J[2 * SIDE + i] * J[2 * SIDE + j];
            K[SIDE * i + j] += lambda * (JJ - g[i] * g[j]) / length;
        }
}

TEMPLATE void geometric3(const shape s, const double *data, const void *first,
                         const void *second, const double *lambda, double *K, double *push)
{
    pair3 p;
    ga_vec3 f = {0, 0, 0}, a = {0, 0, 0};
    locate3(s, data, first, second, &p);
    data += 6;
    if (s.lengths > 0) memset(K, 0, SIDE * SIDE * sizeof *K);
    clear(block(K, TA, TA));
    clear(block(K, TB, TB));
    if (s.alongs + s.tilts + s.turns > 0) {
        clear(block(K, TA, TB));
        clear(block(K, TB, TA));
    }
    for (int k = 0; k < s.units; ++k) f = ga_vec3_axpy(f, *lambda++, unit3(k));
    for (int k = 0; k < s.worlds; ++k, data += 3)
        f = ga_vec3_axpy(f, *lambda++, ga_vec3_load(data));
    if (s.units + s.worlds > 0) add_hold(&p, f, K);
    for (int k = 0; k < s.alongs; ++k, data += 3)
        a = ga_vec3_axpy(a, *lambda++, ga_vec3_load(data));
    if (s.alongs > 0) {
        add_along(&p, a, K);
        f = ga_vec3_add(f, ga_rotate(p.Ra, a));
    }
    if (s.tilts > 0) {
        const ga_vec3 b = ga_vec3_load(data);
        a = (ga_vec3){0, 0, 0};
        data += 3;
        for (int k = 0; k < s.tilts; ++k, data += 3)
            a = ga_vec3_axpy(a, *lambda++, ga_vec3_load(data));
        add_dot(&p, a, b, K);
    }
    for (int j = 0; j < s.turns; ++j) { /* what stands beside b_j in all three rows */
        const int k = (j + 1) % 3, i = (j + 2) % 3;
        a = ga_vec3_scale(0.5 * lambda[i], ga_vec3_load(data + 3 * k));
        a = ga_vec3_axpy(a, -0.5 * lambda[k], ga_vec3_load(data + 3 * i));
        add_dot(&p, a, ga_vec3_load(data + 9 + 3 * j), K);
    }
    for (int k = 0; k < s.lengths; ++k) add_length(&p, lambda[k], K, &f);
    put(f, push);
}

/* D (g . nu) for g of E . d */
TEMPLATE void sweep_hold(const pair3 *p, ga_vec3 E, ga_vec3 wa, ga_vec3 wb, double *z)
{
    const ga_vec3 a = ga_vec3_cross(p->pa, wa), b = ga_vec3_cross(wb, p->pb);
    put(ga_vec3_cross(a, ga_rotate_back(p->Ra, E)), z + 3);
    put(ga_vec3_cross(b, ga_rotate_back(p->Rb, E)), z + 9);
}

/* the same for a . D; rel = R_a^T (x_a' - x_b') */
TEMPLATE void sweep_along(const pair3 *p, ga_vec3 a, ga_vec3 rel, ga_vec3 wa, ga_vec3 wb,
                          double *z)
{
    const ga_vec3 turned = ga_vec3_cross(wa, a), seen = ga_rotate(p->C, a);
    const ga_vec3 back = ga_rotate_back(p->C, ga_vec3_cross(wb, p->pb));
    const ga_vec3 world = ga_rotate(p->Ra, turned);
    ga_vec3 th = ga_vec3_cross(ga_vec3_sub(rel, back), a);
    th = ga_vec3_axpy(th, ga_vec3_dot(wa, p->Da), a);
    th = ga_vec3_axpy(th, -ga_vec3_dot(a, p->Da), wa);
    put(minus(world), z);
    put(th, z + 3);
    put(world, z + 6);
    th = ga_vec3_cross(p->pb, ga_rotate(p->C, turned));
    th = ga_vec3_axpy(th, ga_vec3_dot(wb, seen), p->pb);
    th = ga_vec3_axpy(th, -ga_vec3_dot(p->pb, seen), wb);
    put(th, z + 9);
}

/* the same for a . b, times scale, added */
TEMPLATE void sweep_dot(const pair3 *p, double scale, ga_vec3 a, ga_vec3 b, ga_vec3 wa,
                        ga_vec3 wb, double *z)
{
    const ga_vec3 seen_b = ga_rotate_back(p->C, b), seen_a = ga_rotate(p->C, a);
    const double dot = scale * ga_vec3_dot(a, seen_b);
    const double x = scale * ga_vec3_dot(wa, seen_b), y = scale * ga_vec3_dot(wb, seen_a);
    ga_vec3 th = ga_vec3_scale(x, a);
    th = ga_vec3_axpy(th, dot, ga_vec3_sub(ga_rotate_back(p->C, wb), wa));
    th = ga_vec3_axpy(th, -y, seen_b);
    put(ga_vec3_add(ga_vec3_load(z + 3), th), z + 3);
    th = ga_vec3_scale(y, b);
    th = ga_vec3_axpy(th, dot, ga_vec3_sub(ga_rotate(p->C, wa), wb));
    th = ga_vec3_axpy(th, -x, seen_a);
    put(ga_vec3_add(ga_vec3_load(z + 9), th), z + 9);
}

TEMPLATE void sweep_length(const pair3 *p, ga_vec3 va, ga_vec3 vb, ga_vec3 wa, ga_vec3 wb,
                           double *z)
{
    double length, J[3 * SIDE];
    const ga_vec3 n = direction(p->d, &length);
    memset(z, 0, SIDE * sizeof *z);
    sweep_hold(p, n, wa, wb, z);
    if (!(length > 0)) return;
    const ga_vec3 turning_a = ga_rotate(p->Ra, ga_vec3_cross(wa, p->pa));
    const ga_vec3 turning_b = ga_rotate(p->Rb, ga_vec3_cross(wb, p->pb));
    ga_vec3 rate = ga_vec3_sub(ga_vec3_add(vb, turning_b), ga_vec3_add(va, turning_a));
    rate = ga_vec3_axpy(rate, -ga_vec3_dot(n, rate), n); /* across n */
    separation(p, J);
    for (int j = 0; j < SIDE; ++j)
        z[j] += (rate.x * J[j] + rate.y * J[SIDE + j] + rate.z * J[2 * SIDE + j]) / length;
}

TEMPLATE void swept3(const shape s, const double *data, const void *first, const void *second,
                     double *Z)
{
    const ga_frame *fa = first, *fb = second;
    const ga_vec3 wa = ga_vec3_load(fa->w), wb = ga_vec3_load(fb->w);
    ga_vec3 va = {0, 0, 0}, vb = {0, 0, 0}, rel = {0, 0, 0};
    pair3 p;
    locate3(s, data, first, second, &p);
    data += 6;
    if (s.alongs + s.lengths > 0) {
        va = ga_rotate(fa->R, ga_vec3_load(fa->u));
        vb = ga_rotate(fb->R, ga_vec3_load(fb->u));
        rel = ga_rotate_back(fa->R, ga_vec3_sub(va, vb));
    }
    for (int k = 0; k < s.units; ++k, Z += SIDE) sweep_hold(&p, unit3(k), wa, wb, Z);
    for (int k = 0; k < s.worlds; ++k, data += 3, Z += SIDE)
        sweep_hold(&p, ga_vec3_load(data), wa, wb, Z);
    for (int k = 0; k < s.alongs; ++k, data += 3, Z += SIDE)
        sweep_along(&p, ga_vec3_load(data), rel, wa, wb, Z);
    if (s.tilts > 0) {
        const ga_vec3 b = ga_vec3_load(data);
        data += 3;
        for (int k = 0; k < s.tilts; ++k, data += 3, Z += SIDE) {
            put((ga_vec3){0, 0, 0}, Z + 3);
            put((ga_vec3){0, 0, 0}, Z + 9);
            sweep_dot(&p, 1, ga_vec3_load(data), b, wa, wb, Z);
        }
    }
    for (int i = 0; i < s.turns; ++i, Z += SIDE) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        put((ga_vec3){0, 0, 0}, Z + 3);
        put((ga_vec3){0, 0, 0}, Z + 9);
        sweep_dot(&p, 0.5, ga_vec3_load(data + 3 * k), ga_vec3_load(data + 9 + 3 * j), wa, wb,
                  Z);
        sweep_dot(&p, -0.5, ga_vec3_load(data + 3 * j), ga_vec3_load(data + 9 + 3 * k), wa, wb,
                  Z);
    }
    for (int k = 0; k < s.lengths; ++k, Z += SIDE) sweep_length(&p, va, vb, wa, wb, Z);
}

/* --- in the plane --------------------------------------------------------------------------
 *
 * With ' the derivative by an angle, r' = (-r_y, r_x) and r'' = -r, rotations commute and S is
 * the matrix of second derivatives:
 *
 *   world   g    (-E, -E.s_a', E, E.s_b')      S    th_a th_a: E.s_a    th_b th_b: -E.s_b
 *   along   g    (-a, a'.D, a, a.s_b')         S    x_a th_a: -a'   x_b th_a: a'
 *                                                   th_a th_a: -a.D   th_a th_b: a.s_b
 *                                                   th_b th_b: -a.s_b
 *   turn    T cos + S sin of the angle between the bodies
 *   length  as in space
 */
enum { WIDE = 6 };

typedef struct vec2 {
    double x, y;
} vec2;

static inline double dot2(vec2 a, vec2 b) { return a.x * b.x + a.y * b.y; }
static inline vec2 across(vec2 a) { return (vec2){-a.y, a.x}; }

static inline vec2 rotate2(const ga_plane *f, const double *a)
{
    return (vec2){f->c * a[0] - f->s * a[1], f->s * a[0] + f->c * a[1]};
}

typedef struct pair2 {
    const ga_plane *a, *b;
    vec2 sa, sb, D, d;
    double c, s; /* of the angle from a to b */
} pair2;

TEMPLATE void locate2(const shape s, const double *data, const ga_plane *a, const ga_plane *b,
                      pair2 *p)
{
    p->a = a;
    p->b = b;
    p->sa = rotate2(a, data);
    p->sb = rotate2(b, data + 2);
    p->D = (vec2){b->x[0] + p->sb.x - a->x[0], b->x[1] + p->sb.y - a->x[1]};
    p->d = (vec2){p->D.x - p->sa.x, p->D.y - p->sa.y};
    if (s.turns > 0) {
        p->c = a->c * b->c + a->s * b->s;
        p->s = a->c * b->s - a->s * b->c;
    }
}

static inline void put2(vec2 E, double ta, double tb, double *g)
{
    g[0] = -E.x, g[1] = -E.y, g[2] = ta;
    g[3] = E.x, g[4] = E.y, g[5] = tb;
}

TEMPLATE void hold2(const pair2 *p, vec2 E, double *g)
{
    put2(E, -dot2(E, across(p->sa)), dot2(E, across(p->sb)), g);
}

static inline vec2 direction2(vec2 d, double *length)
{
    *length = sqrt(dot2(d, d));
    return *length > 0 ? (vec2){d.x / *length, d.y / *length} : (vec2){1, 0};
}

static inline vec2 unit2(int k) { return (vec2){k == 0, k == 1}; }

TEMPLATE void rows2(const shape s, const double *data, const void *first, const void *second,
                    double *Phi, double *B)
{
    pair2 p;
    locate2(s, data, first, second, &p);
    data += 4;
    for (int k = 0; k < s.units; ++k) {
        *Phi++ = k == 0 ? p.d.x : p.d.y;
        if (!B) continue;
        put2(unit2(k), k == 0 ? p.sa.y : -p.sa.x, k == 0 ? -p.sb.y : p.sb.x, B);
        B += WIDE;
    }
    for (int k = 0; k < s.worlds; ++k, data += 2) {
        const vec2 E = {data[0], data[1]};
        *Phi++ = dot2(E, p.d);
        if (B) hold2(&p, E, B), B += WIDE;
    }
    for (int k = 0; k < s.alongs; ++k, data += 2) {
        const vec2 a = rotate2(p.a, data);
        *Phi++ = dot2(a, p.d);
        if (B) put2(a, dot2(across(a), p.D), dot2(a, across(p.sb)), B), B += WIDE;
    }
    for (int k = 0; k < s.turns; ++k, data += 2) {
        const double slope = data[1] * p.c - data[0] * p.s;
        *Phi++ = data[0] * p.c + data[1] * p.s;
        if (B) B[2] = -slope, B[5] = slope, B += WIDE;
    }
    for (int k = 0; k < s.lengths; ++k) {
        double length;
        const vec2 n = direction2(p.d, &length);
        *Phi++ = length - data[k];
        if (B) hold2(&p, n, B), B += WIDE;
    }
}

/* J, 2 x 6, for the length */
static inline void separation2(const pair2 *p, double *J)
{
    const vec2 a = across(p->sa), b = across(p->sb);
    const double rows[2 * WIDE] = {-1, 0, -a.x, 1, 0, b.x, 0, -1, -a.y, 0, 1, b.y};
    memcpy(J, rows, sizeof rows);
}

TEMPLATE void add_length2(const pair2 *p, double lambda, double *K, vec2 *f)
{
    double length, J[2 * WIDE], g[WIDE];
    const vec2 n = direction2(p->d, &length);
    f->x += lambda * n.x;
    f->y += lambda * n.y;
    if (!(length > 0)) return;
    separation2(p, J);
    hold2(p, n, g);
    for (int i = 0; i < WIDE; ++i)
        for (int j = 0; j < WIDE; ++j)
            K[WIDE * i + j] +=
                lambda * (J[i] * J[j] + J[WIDE + i] * J[WIDE + j] - g[i] * g[j]) / length;
}

TEMPLATE void geometric2(const shape s, const double *data, const void *first,
                         const void *second, const double *lambda, double *K, double *push)
{
    pair2 p;
    vec2 f = {0, 0}, along = {0, 0};
    double aa = 0, ab = 0, bb = 0; /* rotations */
    locate2(s, data, first, second, &p);
    data += 4;
    if (s.lengths > 0) memset(K, 0, WIDE * WIDE * sizeof *K);
    for (int k = 0; k < s.units; ++k, ++lambda) {
        f.x += *lambda * unit2(k).x;
        f.y += *lambda * unit2(k).y;
    }
    for (int k = 0; k < s.worlds; ++k, data += 2, ++lambda) {
        f.x += *lambda * data[0];
        f.y += *lambda * data[1];
    }
    for (int k = 0; k < s.alongs; ++k, data += 2, ++lambda) {
        const vec2 a = rotate2(p.a, data);
        along.x += *lambda * a.x;
        along.y += *lambda * a.y;
    }
    for (int k = 0; k < s.turns; ++k, data += 2, ++lambda)
        ab += *lambda * (data[0] * p.c + data[1] * p.s);
    aa = bb = -ab;
    for (int k = 0; k < s.lengths; ++k) add_length2(&p, lambda[k], K, &f);
    aa += dot2(f, p.sa);
    bb -= dot2(f, p.sb);
    if (s.alongs > 0) {
        const vec2 t = across(along);
        const double both = dot2(along, p.sb);
        aa -= dot2(along, p.D);
        ab += both;
        bb -= both;
        K[2] = K[2 * WIDE] = -t.x, K[WIDE + 2] = K[2 * WIDE + 1] = -t.y;
        K[3 * WIDE + 2] = K[2 * WIDE + 3] = t.x, K[4 * WIDE + 2] = K[2 * WIDE + 4] = t.y;
    }
    if (s.lengths > 0) { /* K holds something already */
        aa += K[2 * WIDE + 2];
        bb += K[5 * WIDE + 5];
    }
    K[2 * WIDE + 2] = aa;
    K[5 * WIDE + 5] = bb;
    if (s.alongs + s.turns > 0) K[2 * WIDE + 5] = K[5 * WIDE + 2] = ab;
    push[0] = f.x + along.x;
    push[1] = f.y + along.y;
}

TEMPLATE void swept2(const shape s, const double *data, const void *first, const void *second,
                     double *Z)
{
    pair2 p;
    locate2(s, data, first, second, &p);
    const double wa = p.a->w, wb = p.b->w;
    const vec2 rel = {p.b->v[0] - p.a->v[0], p.b->v[1] - p.a->v[1]};
    data += 4;
    for (int k = 0; k < s.units; ++k, Z += WIDE) {
        Z[2] = dot2(unit2(k), p.sa) * wa;
        Z[5] = -dot2(unit2(k), p.sb) * wb;
    }
    for (int k = 0; k < s.worlds; ++k, data += 2, Z += WIDE) {
        const vec2 E = {data[0], data[1]};
        Z[2] = dot2(E, p.sa) * wa;
        Z[5] = -dot2(E, p.sb) * wb;
    }
    for (int k = 0; k < s.alongs; ++k, data += 2, Z += WIDE) {
        const vec2 a = rotate2(p.a, data), t = across(a);
        const double both = dot2(a, p.sb);
        const vec2 moved = {wa * t.x, wa * t.y};
        put2(moved, dot2(t, rel) - dot2(a, p.D) * wa + both * wb, both * (wa - wb), Z);
    }
    for (int k = 0; k < s.turns; ++k, data += 2, Z += WIDE) {
        Z[2] = (data[0] * p.c + data[1] * p.s) * (wb - wa);
        Z[5] = -Z[2];
    }
    for (int k = 0; k < s.lengths; ++k, Z += WIDE) {
        double length, J[2 * WIDE];
        const vec2 n = direction2(p.d, &length), a = across(p.sa), b = across(p.sb);
        vec2 rate = {rel.x + wb * b.x - wa * a.x, rel.y + wb * b.y - wa * a.y};
        const double along = dot2(n, rate), scale = length > 0 ? 1 / length : 0;
        rate.x -= along * n.x;
        rate.y -= along * n.y;
        separation2(&p, J);
        for (int j = 0; j < WIDE; ++j) Z[j] = (rate.x * J[j] + rate.y * J[WIDE + j]) * scale;
        Z[2] += dot2(n, p.sa) * wa;
        Z[5] -= dot2(n, p.sb) * wb;
    }
}

/* --- side by side ---------------------------------------------------------------------------
 *
 * The v-th joint is taken out, treated as if it were alone, and put back; compilers see that
 * all v are alike and take several at a time.
 */
enum { LANES = GA_KERNEL_LANES };

TEMPLATE void take(int count, const double *from, int v, double *to)
{
    UNROLL
    for (int k = 0; k < count; ++k) to[k] = from[k * LANES + v];
}

TEMPLATE void give(int count, const double *from, int v, double *to)
{
    UNROLL
    for (int k = 0; k < count; ++k) to[k * LANES + v] = from[k];
}

/* not by {0}, which would stay an array */
TEMPLATE void blank(int rows, int columns, double *local)
{
    UNROLL
    for (int k = 0; k < rows * columns; ++k) local[k] = 0;
}

TEMPLATE void lane2(const shape s, int numbers, int rows, int v, const double *data,
                    const double *places, double *Phi, double *B)
{
    double own[GA_KERNEL_MAX_NUMBERS], place[8], values[GA_KERNEL_MAX_ROWS],
        local[GA_KERNEL_MAX_ROWS * WIDE];
    blank(rows, WIDE, local);
    take(numbers, data, v, own);
    take(8, places, v, place);
    const ga_plane a = {{place[0], place[1]}, place[2], place[3], {0, 0}, 0, 0};
    const ga_plane b = {{place[4], place[5]}, place[6], place[7], {0, 0}, 0, 0};
    rows2(s, own, &a, &b, values, B ? local : NULL);
    give(rows, values, v, Phi);
    if (B) give(rows * WIDE, local, v, B);
}

TEMPLATE void lane3(const shape s, int numbers, int rows, int v, const double *data,
                    const double *places, double *Phi, double *B)
{
    double own[GA_KERNEL_MAX_NUMBERS], values[GA_KERNEL_MAX_ROWS],
        local[GA_KERNEL_MAX_ROWS * SIDE];
    ga_frame a, b;
    blank(rows, SIDE, local);
    take(numbers, data, v, own);
    take(3, places, v, a.x);
    take(9, places + 3 * LANES, v, a.R);
    take(3, places + 12 * LANES, v, b.x);
    take(9, places + 15 * LANES, v, b.R);
    rows3(s, own, &a, &b, values, B ? local : NULL);
    give(rows, values, v, Phi);
    if (B) give(rows * SIDE, local, v, B);
}

/* --- one kernel for each shape --------------------------------------------------------------
 */

/* name, dimension, rows: units, worlds, alongs, tilts, turns, lengths */
#define SHAPES(X)                                                                              \
    X(socket, 3, 3, 0, 0, 0, 0, 0)                                                             \
    X(spindle, 3, 3, 0, 0, 2, 0, 0)                                                            \
    X(peg, 2, 2, 0, 0, 0, 0, 0)                                                                \
    X(ball, 3, 0, 3, 0, 0, 0, 0)                                                               \
    X(hinge, 3, 0, 3, 0, 2, 0, 0)                                                              \
    X(cardan, 3, 0, 3, 0, 1, 0, 0)                                                             \
    X(weld, 3, 0, 3, 0, 0, 3, 0)                                                               \
    X(slider, 3, 0, 0, 2, 0, 3, 0)                                                             \
    X(sleeve, 3, 0, 0, 2, 2, 0, 0)                                                             \
    X(table, 3, 0, 0, 1, 2, 0, 0)                                                              \
    X(rail, 3, 0, 0, 2, 0, 0, 0)                                                               \
    X(face, 3, 0, 0, 1, 0, 0, 0)                                                               \
    X(rod, 3, 0, 0, 0, 0, 0, 1)                                                                \
    X(pin, 2, 0, 2, 0, 0, 0, 0)                                                                \
    X(plate, 2, 0, 2, 0, 0, 1, 0)                                                              \
    X(slot, 2, 0, 0, 1, 0, 1, 0)                                                               \
    X(line, 2, 0, 0, 1, 0, 0, 0)                                                               \
    X(link, 2, 0, 0, 0, 0, 0, 1)

/* Constants: both arms; E of each `world`; a of each `along`; b, then a of each `tilt`; the
 * axes of both markers for turns, in the plane T and S; the length. */
#define NUMBERS3(worlds, alongs, tilts, turns, lengths)                                        \
    (6 + 3 * (worlds) + 3 * (alongs) + ((tilts) > 0 ? 3 : 0) + 3 * (tilts) +                   \
     ((turns) > 0 ? 18 : 0) + (lengths))
#define NUMBERS2(worlds, alongs, tilts, turns, lengths)                                        \
    (4 + 2 * (worlds) + 2 * (alongs) + 2 * (turns) + (lengths))

#define FUNCTIONS(name, dimension, units, worlds, alongs, tilts, turns, lengths)               \
    static void name##_rows(const double *data, const void *a, const void *b, double *Phi,     \
                            double *B)                                                         \
    {                                                                                          \
        const shape s = {units, worlds, alongs, tilts, turns, lengths};                        \
        rows##dimension(s, data, a, b, Phi, B);                                                \
    }                                                                                          \
    static void name##_many(const double *restrict data, const double *restrict places,        \
                            double *restrict Phi, double *restrict B)                          \
    {                                                                                          \
        const shape s = {units, worlds, alongs, tilts, turns, lengths};                        \
        const int numbers = NUMBERS##dimension(worlds, alongs, tilts, turns, lengths);         \
        const int rows = (units) + (worlds) + (alongs) + (tilts) + (turns) + (lengths);        \
        if (B)                                                                                 \
            for (int v = 0; v < LANES; ++v)                                                    \
                lane##dimension(s, numbers, rows, v, data, places, Phi, B);                    \
        else                                                                                   \
            for (int v = 0; v < LANES; ++v)                                                    \
                lane##dimension(s, numbers, rows, v, data, places, Phi, NULL);                 \
    }                                                                                          \
    static void name##_geometric(const double *data, const void *a, const void *b,             \
                                 const double *lambda, double *K, double *push)                \
    {                                                                                          \
        const shape s = {units, worlds, alongs, tilts, turns, lengths};                        \
        geometric##dimension(s, data, a, b, lambda, K, push);                                  \
    }                                                                                          \
    static void name##_swept(const double *data, const void *a, const void *b, double *Z)      \
    {                                                                                          \
        const shape s = {units, worlds, alongs, tilts, turns, lengths};                        \
        swept##dimension(s, data, a, b, Z);                                                    \
    }
SHAPES(FUNCTIONS)

/* Rotations held in space and lengths: eight welds side by side take as many instructions as
 * nine single ones. */
#define SINGLY(dimension, turns, lengths) (((dimension) == 3 && (turns) > 0) || (lengths) > 0)

#define KERNEL(name, dimension, units, worlds, alongs, tilts, turns, lengths)                  \
    {{(units) + (worlds) + (alongs) + (tilts) + (turns) + (lengths), 2 * 3 * ((dimension)-1),  \
      NUMBERS##dimension(worlds, alongs, tilts, turns, lengths),                               \
      (units) > 0 && (alongs) + (lengths) == 0, name##_rows,                                   \
      SINGLY(dimension, turns, lengths) ? NULL : name##_many, name##_geometric, name##_swept}, \
     dimension,                                                                                \
     {units, worlds, alongs, tilts, turns, lengths}},

typedef struct entry {
    ga_kernel kernel; /* first */
    int dimension;
    shape shape;
} entry;

static const entry kernels[] = {SHAPES(KERNEL)};

/* --- the kernel of a joint ------------------------------------------------------------------
 */

static const ga_row_form *form_of(const ga_joint *joint, int k)
{
    return &joint->kind->row[joint->kept[k]].form;
}

/* False where the rows come in another order than that of shapes, or are none of these. */
static bool find_shape(const ga_joint *joint, shape *s)
{
    ga_form last = GA_FORM_WORLD;
    int *const counts[] = {[GA_FORM_WORLD] = &s->worlds,
                           [GA_FORM_ALONG] = &s->alongs,
                           [GA_FORM_DOT] = &s->tilts,
                           [GA_FORM_TURN] = &s->turns,
                           [GA_FORM_LENGTH] = &s->lengths};
    const ga_row_form *dot = NULL;
    for (int k = 0; k < joint->element.rows; ++k) {
        const ga_row_form *form = form_of(joint, k);
        if (form->form == GA_FORM_OTHER || form->form < last) return false;
        if (form->form == GA_FORM_DOT && dot && dot->j != form->j) return false;
        if (form->form == GA_FORM_DOT) dot = form;
        last = form->form;
        ++*counts[last];
    }
    return true;
}

/* In the plane every axis used lies in it. */
static bool is_flat(const ga_joint *joint)
{
    if (joint->marker[0].p[2] != 0 || joint->marker[1].p[2] != 0) return false;
    for (int k = 0; k < joint->element.rows; ++k) {
        const ga_row_form *form = form_of(joint, k);
        const double *a = joint->marker[0].A, *b = joint->marker[1].A;
        const int i = form->i, j = (i + 1) % 3, l = (i + 2) % 3;
        if (form->form == GA_FORM_WORLD && joint->E[3 * i + 2] != 0) return false;
        if (form->form == GA_FORM_ALONG && a[3 * i + 2] != 0) return false;
        if (form->form == GA_FORM_TURN &&
            (a[3 * j + 2] != 0 || a[3 * l + 2] != 0 || b[3 * j + 2] != 0 || b[3 * l + 2] != 0))
            return false;
    }
    return true;
}

static const ga_kernel *find_kernel(int dimension, shape s)
{
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; ++k)
        if (kernels[k].dimension == dimension && memcmp(&kernels[k].shape, &s, sizeof s) == 0)
            return &kernels[k].kernel;
    return NULL;
}

/* Are these all the axes of the world, in their order? */
static bool are_units(const ga_joint *joint, int dimension, int worlds)
{
    if (worlds != dimension) return false;
    for (int k = 0; k < worlds; ++k)
        for (int c = 0; c < 3; ++c)
            if (joint->E[3 * form_of(joint, k)->i + c] != (c == k)) return false;
    return true;
}

const ga_kernel *ga_kernel_of(const ga_joint *joint, int dimension)
{
    const ga_element *e = &joint->element;
    const ga_kernel *kernel = NULL;
    shape s = {0};
    if (e->rows == 0 || e->speed_rows || e->rheonomic || e->event_count) return NULL;
    if (e->type->gradient != ga_joint_gradient) return NULL;
    if (e->type->force && !(e->type->idle && e->type->idle(joint))) return NULL;
    if (!find_shape(joint, &s)) return NULL;
    if (dimension == 2 && !is_flat(joint)) return NULL;
    if (are_units(joint, dimension, s.worlds))
        kernel =
            find_kernel(dimension, (shape){s.worlds, 0, s.alongs, s.tilts, s.turns, s.lengths});
    return kernel ? kernel : find_kernel(dimension, s);
}

static double *pack(const double *from, int dimension, double *data)
{
    memcpy(data, from, (size_t)dimension * sizeof *data);
    return data + dimension;
}

static double *pack_dot(const ga_joint *joint, const ga_row_form *form, bool first,
                        double *data)
{
    if (first) data = pack(joint->marker[1].A + 3 * form->j, 3, data);
    for (int c = 0; c < 3; ++c) *data++ = form->sign * joint->marker[0].A[3 * form->i + c];
    return data;
}

/* T = (a_k.b_j - a_j.b_k)/2, S the same with b turned by a right angle. */
static double *pack_turn2(const ga_joint *joint, int i, double *data)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double *A = joint->marker[0].A, *B = joint->marker[1].A;
    const vec2 aj = {A[3 * j], A[3 * j + 1]}, ak = {A[3 * k], A[3 * k + 1]};
    const vec2 bj = {B[3 * j], B[3 * j + 1]}, bk = {B[3 * k], B[3 * k + 1]};
    *data++ = 0.5 * (dot2(ak, bj) - dot2(aj, bk));
    *data++ = 0.5 * (dot2(ak, across(bj)) - dot2(aj, across(bk)));
    return data;
}

void ga_kernel_pack(const ga_kernel *kernel, const ga_joint *joint, double *data)
{
    const entry *at = (const entry *)kernel;
    const int dimension = at->dimension;
    double target[3] = {0, 0, 0};
    int dots = 0, turns = 0;
    for (int b = 0; b < 2; ++b) data = pack(joint->marker[b].p, dimension, data);
    for (int k = 0; k < kernel->rows; ++k) {
        const ga_row_form *form = form_of(joint, k);
        if (form->form == GA_FORM_WORLD && !at->shape.units)
            data = pack(joint->E + 3 * form->i, dimension, data);
        if (form->form == GA_FORM_ALONG)
            data = pack(joint->marker[0].A + 3 * form->i, dimension, data);
        if (form->form == GA_FORM_DOT) data = pack_dot(joint, form, dots++ == 0, data);
        if (form->form == GA_FORM_TURN && dimension == 2)
            data = pack_turn2(joint, form->i, data);
        if (form->form == GA_FORM_TURN && dimension == 3 && turns++ == 0)
            for (int b = 0; b < 2; ++b) data = pack(joint->marker[b].A, 9, data);
        if (form->form != GA_FORM_LENGTH) continue;
        const ga_element_state start = {.t = 0};
        if (joint->kind->target) joint->kind->target(joint, &start, target);
        *data++ = target[0];
    }
}
