/* Rotations for so3.c and se3.c: quaternions by value, and the operator of a jet.
 *
 * The operator O(x) = a I + b x~ + c x x^T (chart.h) and its directional derivatives, with
 * s = x.x and ' = d/ds:
 *
 *   DO[u]     = 2 (x.u) (a' I + b' x~ + c' x x^T) + b u~ + c (u x^T + x u^T)
 *   D2O[u,v]  = 4 (x.u)(x.v) (a'' I + b'' x~ + c'' x x^T) + 2 (u.v) (a' I + b' x~ + c' x x^T)
 *             + 2 (x.u) (b' v~ + c' (v x^T + x v^T)) + 2 (x.v) (b' u~ + c' (u x^T + x u^T))
 *             + c (u v^T + v u^T)
 *
 * Each is d I + k~ + x y^T + y x^T, D2O with c (u v^T + v u^T) besides. */
#ifndef GA_LIE_SO3_H
#define GA_LIE_SO3_H

#include <math.h>

#include "lie/chart.h"
#include "lie/vec3.h"

typedef struct ga_quat {
    double w;
    ga_vec3 v;
} ga_quat;

static inline ga_quat ga_quat_load(const double *p)
{
    return (ga_quat){p[0], ga_vec3_load(p + 1)};
}

static inline void ga_quat_store(ga_quat p, double *out)
{
    out[0] = p.w;
    ga_vec3_store(p.v, out + 1);
}

static inline ga_quat ga_quat_conjugate(ga_quat p)
{
    return (ga_quat){p.w, ga_vec3_scale(-1, p.v)};
}

static inline ga_quat ga_quat_product(ga_quat a, ga_quat b)
{
    ga_vec3 v = ga_vec3_cross(a.v, b.v);
    v = ga_vec3_axpy(v, a.w, b.v);
    v = ga_vec3_axpy(v, b.w, a.v);
    return (ga_quat){a.w * b.w - ga_vec3_dot(a.v, b.v), v};
}

/* Back to unit length along the ray, once | |p|^2 - 1 | exceeds 8 eps, that is | |p| - 1 |
 * 9e-16. Not always: scaling by 1 +- eps/2 rounds each entry by an amount that depends on the
 * leading digits of that entry alone, an error that comes back with every turn and adds up
 * linearly: 8e-12 after 1e7 products, against 3e-12 this way. Newton's step for 1/sqrt(n2) is
 * off by (3/8)(n2 - 1)^2 < 4e-17 where it is used. */
#define GA_QUAT_UNIT (8 * 0x1p-52)
#define GA_QUAT_NEAR 1e-8

static inline double ga_quat_square(ga_quat p) { return p.w * p.w + ga_vec3_dot(p.v, p.v); }

static inline double ga_quat_factor(double n2) { return 1.5 - 0.5 * n2; } /* Newton's */

static inline ga_quat ga_quat_normalise(ga_quat p)
{
    double n2 = ga_quat_square(p);
    if (fabs(n2 - 1) <= GA_QUAT_UNIT) return p;
    double f = fabs(n2 - 1) < GA_QUAT_NEAR ? ga_quat_factor(n2) : 1 / sqrt(n2);
    return (ga_quat){f * p.w, ga_vec3_scale(f, p.v)};
}

/* p and -p are one rotation: choose w > 0, and at angle pi (w = 0) the one whose first
 * non-zero entry is positive. */
static inline ga_quat ga_quat_canonical(ga_quat p)
{
    double lead = p.w != 0 ? p.w : p.v.x != 0 ? p.v.x : p.v.y != 0 ? p.v.y : p.v.z;
    if (lead < 0) return (ga_quat){-p.w, ga_vec3_scale(-1, p.v)};
    return p;
}

/* R(p) x = x + w y + v x y with y = 2 v x x */
static inline ga_vec3 ga_quat_rotate(ga_quat p, ga_vec3 x)
{
    ga_vec3 y = ga_vec3_scale(2, ga_vec3_cross(p.v, x));
    return ga_vec3_add(ga_vec3_axpy(x, p.w, y), ga_vec3_cross(p.v, y));
}

/* R(p) into columns of length ld. */
static inline void ga_quat_matrix(ga_quat p, int ld, double *R)
{
    double w = 2 * p.w;
    double xx = 2 * p.v.x * p.v.x, yy = 2 * p.v.y * p.v.y, zz = 2 * p.v.z * p.v.z;
    double xy = 2 * p.v.x * p.v.y, yz = 2 * p.v.y * p.v.z, zx = 2 * p.v.z * p.v.x;
    double *c0 = R, *c1 = R + ld, *c2 = R + 2 * ld;
    c0[0] = 1 - (yy + zz);
    c0[1] = xy + w * p.v.z;
    c0[2] = zx - w * p.v.y;
    c1[0] = xy - w * p.v.z;
    c1[1] = 1 - (zz + xx);
    c1[2] = yz + w * p.v.x;
    c2[0] = zx + w * p.v.y;
    c2[1] = yz - w * p.v.x;
    c2[2] = 1 - (xx + yy);
}

static inline ga_quat ga_quat_map(const ga_rotor *r, ga_vec3 x)
{
    return (ga_quat){r->w, ga_vec3_scale(r->v, x)};
}

static inline ga_vec3 ga_quat_unmap(const ga_chart *chart, ga_quat p)
{
    p = ga_quat_canonical(p);
    return ga_vec3_scale(chart->unrotor(p.w, ga_vec3_dot(p.v, p.v)), p.v);
}

/* O(x)^T u = O(-x) u */
static inline ga_vec3 ga_jet_apply_transposed(const ga_jet *j, ga_vec3 x, ga_vec3 u)
{
    ga_vec3 y = ga_vec3_axpy(ga_vec3_scale(j->a[0], u), -j->b[0], ga_vec3_cross(x, u));
    return ga_vec3_axpy(y, j->c[0] * ga_vec3_dot(x, u), x);
}

/* O(x) */
static inline void ga_jet_value(const ga_jet *j, ga_vec3 x, int ld, double *M)
{
    ga_mat3_write(j->a[0], ga_vec3_scale(j->b[0], x), x, ga_vec3_scale(j->c[0] / 2, x), ld, M);
}

/* DO(x)[u] */
static inline void ga_jet_first(const ga_jet *j, ga_vec3 x, ga_vec3 u, int ld, double *M)
{
    double xu = ga_vec3_dot(x, u);
    ga_vec3 k = ga_vec3_axpy(ga_vec3_scale(j->b[0], u), 2 * xu * j->b[1], x);
    ga_vec3 y = ga_vec3_axpy(ga_vec3_scale(j->c[0], u), xu * j->c[1], x);
    ga_mat3_write(2 * xu * j->a[1], k, x, y, ld, M);
}

/* DO(x)[du] + D2O(x)[u, dx]: the derivative of DO(x)[u] when x and u both move. */
static inline void ga_jet_second(const ga_jet *j, ga_vec3 x, ga_vec3 u, ga_vec3 dx, ga_vec3 du,
                                 int ld, double *M)
{
    double xu = ga_vec3_dot(x, u), xv = ga_vec3_dot(x, dx), uv = ga_vec3_dot(u, dx);
    double moved = ga_vec3_dot(x, du) + uv; /* d(x.u) */
    double twice = 2 * xu * xv;
    ga_vec3 turn = ga_vec3_axpy(ga_vec3_scale(2 * xu, dx), 2 * xv, u);

    double d = 2 * (moved * j->a[1] + twice * j->a[2]);
    ga_vec3 k = ga_vec3_axpy(ga_vec3_scale(j->b[0], du), j->b[1], turn);
    k = ga_vec3_axpy(k, 2 * (moved * j->b[1] + twice * j->b[2]), x);
    ga_vec3 y = ga_vec3_axpy(ga_vec3_scale(j->c[0], du), j->c[1], turn);
    y = ga_vec3_axpy(y, moved * j->c[1] + twice * j->c[2], x);
    ga_mat3_write(d, k, x, y, ld, M);
    ga_mat3_add(ga_vec3_scale(j->c[0], u), dx, ld, M);
}

#endif
