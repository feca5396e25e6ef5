/* What every group must satisfy, for both maps; called by test_so3.c, test_se3.c and
 * test_planar.c for their groups.
 *
 * Elements have positions and angles of order 1 to 4, so rounding errors are a few times
 * eps = 2.2e-16 times such a number, times the 3 to 10 operations an entry takes. */
#ifndef GA_TEST_GROUP_CHECKS_H
#define GA_TEST_GROUP_CHECKS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <galpha/lie.h>

#include "matrix_oracle.h"

#define PI 3.14159265358979323846

/* Fails with the numbers; NaN fails too. */
static inline void check_small(double value, double bound, const char *what, double at)
{
    if (!(value <= bound)) fail_msg("%s: %.3e > %.3e at %.17g", what, value, bound, at);
}

static inline void raise_to(double *worst, double value)
{
    if (!(value <= *worst)) *worst = value;
}

static inline double gap(int n, const double *a, const double *b)
{
    double worst = 0;
    for (int i = 0; i < n; ++i) raise_to(&worst, fabs(a[i] - b[i]));
    return worst;
}

static inline int is_spatial(ga_node node)
{
    return node.group == GA_GROUP_SO3 || node.group == GA_GROUP_R3SO3 ||
           node.group == GA_GROUP_SE3;
}

/* Distance of configurations: p and -p are the same rotation. */
static inline double apart(ga_node node, const double *a, const double *b)
{
    int nq = ga_node_nq(node), np = is_spatial(node) ? nq - 4 : nq;
    double position = gap(np, a, b);
    if (np == nq) return position;
    double plus = 0, minus = 0;
    for (int i = np; i < nq; ++i) {
        raise_to(&plus, fabs(a[i] - b[i]));
        raise_to(&minus, fabs(a[i] + b[i]));
    }
    return fmax(position, fmin(plus, minus));
}

/* x with the given rotation angle: a fixed skew axis in space, a sign in the plane. */
static inline void at_angle(ga_node node, double angle, double *x)
{
    static const double axis[3] = {0.36, -0.48, 0.8}, position[3] = {0.7, -1.2, 0.9};
    int nv = ga_node_nv(node), turning = is_spatial(node) ? 3 : 1;
    for (int i = 0; i < nv - turning; ++i) x[i] = position[i];
    for (int i = 0; i < turning; ++i)
        x[nv - turning + i] = turning == 3 ? angle * axis[i] : angle;
}

static inline void random_vector(uint64_t *state, int n, double size, double *x)
{
    for (int i = 0; i < n; ++i) x[i] = size * random_next(state);
}

static inline void multiply(int n, const double *M, const double *x, double *y)
{
    for (int i = 0; i < n; ++i) {
        y[i] = 0;
        for (int j = 0; j < n; ++j) y[i] += M[i + n * j] * x[j];
    }
}

static const double angles[] = {
    0,    1e-300,   1e-12,     1e-8, 1e-5,      1e-3, 0.1,       0.24999999,
    0.25, 1,        1.9999999, 2,    2.9999999, 3,    PI - 1e-3, PI - 1e-8,
    PI,   PI + 0.5, 3.9999999, 4,    4.9999999, 5,
};
enum { angle_count = sizeof angles / sizeof *angles };

/* ad(x) column by column from the bracket. */
static inline mat ad_matrix(ga_node node, const double *x)
{
    int nv = ga_node_nv(node);
    double ad[36];
    for (int j = 0; j < nv; ++j) {
        double e[6] = {0};
        e[j] = 1;
        ga_lie_bracket(node, x, e, ad + nv * j);
    }
    return mat_from(nv, ad);
}

/* y with ad(y) = M, for groups whose ad(e_i) are orthogonal to each other and not zero. */
static inline void ad_solve(ga_node node, const mat *M, quad *y)
{
    int nv = ga_node_nv(node);
    for (int k = 0; k < nv; ++k) {
        double e[6] = {0};
        e[k] = 1;
        mat ad = ad_matrix(node, e);
        quad above = 0, below = 0;
        for (int i = 0; i < nv * nv; ++i) {
            above += ad.e[i] * M->e[i];
            below += ad.e[i] * ad.e[i];
        }
        y[k] = above / below;
    }
}

/* T and its derivative in the direction dx, from series or elimination. */
static inline void oracle_tangent(ga_node node, ga_map map, const double *x, const double *dx,
                                  mat *T, mat *DT)
{
    int nv = ga_node_nv(node);
    mat A = ad_matrix(node, x), E = ad_matrix(node, dx);
    mat pair = mat_pair(&A, &E);
    if (map == GA_MAP_EXP) {
        mat f = mat_dexp(&pair);
        *T = mat_dexp(&A);
        *DT = mat_pair_derivative(&f);
        return;
    }
    mat plus = mat_inverse(mat_axpy(mat_unit(2 * nv), 0.5, pair));
    mat minus = mat_inverse(mat_axpy(mat_unit(2 * nv), -0.5, pair));
    *T = mat_zero(nv);
    *DT = mat_zero(nv);
    mat none = mat_zero(nv);
    for (int j = 0; j < nv; ++j) {
        double e[6] = {0};
        e[j] = 1;
        mat ad = ad_matrix(node, e), both = mat_pair(&ad, &none);
        mat f = mat_mul(&plus, &both);
        f = mat_mul(&f, &minus);
        mat derivative = mat_pair_derivative(&f), value = mat_zero(nv);
        for (int c = 0; c < nv; ++c)
            for (int r = 0; r < nv; ++r) *mat_at(&value, r, c) = mat_get(&f, r, c);
        ad_solve(node, &value, &T->e[nv * j]);
        ad_solve(node, &derivative, &DT->e[nv * j]);
    }
}

/* Group axioms, Ad and bracket on random elements. */
static inline void check_axioms(ga_node node)
{
    int nq = ga_node_nq(node), nv = ga_node_nv(node);
    uint64_t state = 20240229u + (uint64_t)node.group;
    double worst[8] = {0};
    double e[7];
    ga_lie_identity(node, e);
    for (int round = 0; round < 2000; ++round) {
        ga_map map = round % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[6], y[6], z[6], a[7], b[7], c[7], l[7], r[7], t[7];
        random_vector(&state, nv, 2, x);
        random_vector(&state, nv, 2, y);
        random_vector(&state, nv, 2, z);
        ga_lie_map(node, map, x, a);
        ga_lie_map(node, map, y, b);
        ga_lie_map(node, map, z, c);

        /* (a o b) o c = a o (b o c), with output on either input */
        ga_lie_compose(node, a, b, t);
        ga_lie_compose(node, t, c, l);
        memcpy(r, c, sizeof r);
        ga_lie_compose(node, b, r, r);
        ga_lie_compose(node, a, r, r);
        raise_to(&worst[0], apart(node, l, r));
        memcpy(l, a, sizeof l);
        ga_lie_compose(node, l, b, l);
        raise_to(&worst[1], gap(nq, l, t)); /* aliasing changes nothing at all */

        /* identity and inverse, both sides */
        ga_lie_compose(node, a, e, t);
        raise_to(&worst[2], apart(node, t, a));
        ga_lie_compose(node, e, a, t);
        raise_to(&worst[2], apart(node, t, a));
        ga_lie_inverse(node, a, t);
        ga_lie_compose(node, a, t, l);
        raise_to(&worst[2], apart(node, l, e));
        ga_lie_compose(node, t, a, l);
        raise_to(&worst[2], apart(node, l, e));
        ga_lie_inverse(node, t, t);
        raise_to(&worst[2], apart(node, t, a));

        /* update = compose with map, in place */
        ga_lie_compose(node, a, b, t);
        memcpy(l, a, sizeof l);
        ga_lie_update(node, map, l, y, l);
        raise_to(&worst[1], gap(nq, l, t));

        /* antisymmetry, Jacobi */
        double xy[6], yx[6], yz[6], zx[6], p[6], q[6], s[6];
        ga_lie_bracket(node, x, y, xy);
        ga_lie_bracket(node, y, x, yx);
        ga_lie_bracket(node, y, z, yz);
        ga_lie_bracket(node, z, x, zx);
        ga_lie_bracket(node, x, yz, p);
        ga_lie_bracket(node, y, zx, q);
        ga_lie_bracket(node, z, xy, s);
        for (int i = 0; i < nv; ++i) {
            raise_to(&worst[3], fabs(xy[i] + yx[i]));
            raise_to(&worst[3], fabs(p[i] + q[i] + s[i]));
        }

        /* Ad_ab = Ad_a Ad_b; Ad [x, y] = [Ad x, Ad y] */
        double A[36], B[36], AB[36], col[6];
        ga_lie_adjoint(node, a, A);
        ga_lie_adjoint(node, b, B);
        ga_lie_compose(node, a, b, t);
        ga_lie_adjoint(node, t, AB);
        for (int j = 0; j < nv; ++j) {
            multiply(nv, A, B + nv * j, col);
            raise_to(&worst[4], gap(nv, col, AB + nv * j));
        }
        multiply(nv, A, y, p);
        multiply(nv, A, z, q);
        ga_lie_bracket(node, p, q, s);
        multiply(nv, A, yz, col);
        raise_to(&worst[5], gap(nv, col, s));

        /* a o map(y) o a^-1 = map(Ad_a y): both maps turn about their argument */
        ga_lie_inverse(node, a, r);
        ga_lie_compose(node, a, b, l);
        ga_lie_compose(node, l, r, l);
        ga_lie_map(node, map, p, t);
        raise_to(&worst[6], apart(node, l, t));
    }
    /* entries up to 10, ten operations each: 10 * 10 * eps = 2e-14; Ad products and brackets of
     * SE(3) elements reach 100 */
    check_small(worst[0], 2e-14, "associativity", 0);
    check_small(worst[1], 0, "aliasing", 0);
    check_small(worst[2], 2e-14, "identity, inverse", 0);
    check_small(worst[3], 5e-14, "Jacobi", 0);
    check_small(worst[4], 5e-14, "Ad homomorphism", 0);
    check_small(worst[5], 2e-13, "Ad of bracket", 0);
    check_small(worst[6], 2e-13, "Ad and map", 0);
    print_message("  group %d: assoc %.1e inv %.1e Jacobi %.1e Ad %.1e %.1e %.1e\n",
                  (int)node.group, worst[0], worst[2], worst[3], worst[4], worst[5], worst[6]);
}

/* T against central difference quotients of the map. The quotient with step e is off by e^2/6
 * third derivatives and eps/e rounding: at e = 2e-5 both are of order 1e-10. */
static inline void check_tangent_quotient(ga_node node)
{
    int nv = ga_node_nv(node);
    const double e = 2e-5;
    double worst = 0;
    for (int m = 0; m < 2; ++m)
        for (int k = 0; k < angle_count; ++k) {
            ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
            double x[6], q[7], T[36];
            at_angle(node, angles[k], x);
            ga_lie_map(node, map, x, q);
            ga_lie_tangent(node, map, x, T);
            ga_lie_inverse(node, q, q);
            for (int j = 0; j < nv; ++j) {
                double side[2][6];
                for (int i = 0; i < 2; ++i) {
                    double moved[7], at = x[j];
                    x[j] += i ? e : -e;
                    ga_lie_map(node, map, x, moved);
                    ga_lie_compose(node, q, moved, moved);
                    ga_lie_map_inverse(node, GA_MAP_EXP, moved, side[i]);
                    x[j] = at;
                }
                for (int i = 0; i < nv; ++i) {
                    double d = fabs((side[1][i] - side[0][i]) / (2 * e) - T[i + nv * j]);
                    check_small(d, 2e-9, "T, difference quotient", angles[k]);
                    raise_to(&worst, d);
                }
            }
        }
    print_message("  group %d: T - quotient %.1e\n", (int)node.group, worst);
}

/* DT and DTinv against central difference quotients of T and T^-1, same orders; entries of
 * T^-1 grow towards 2 pi, so the tolerance is relative to them. */
static inline void check_derivative_quotient(ga_node node)
{
    int nv = ga_node_nv(node);
    const double e = 2e-5;
    double worst = 0;
    for (int m = 0; m < 2; ++m)
        for (int k = 0; k < angle_count; ++k) {
            ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
            double x[6], dx[6], lo[6], hi[6], A[36], B[36], C[36], D[36], DT[36], DTinv[36];
            uint64_t state = 7u + (uint64_t)k;
            at_angle(node, angles[k], x);
            random_vector(&state, nv, 1, dx);
            for (int i = 0; i < nv; ++i) {
                lo[i] = x[i] - e * dx[i];
                hi[i] = x[i] + e * dx[i];
            }
            ga_lie_tangent(node, map, lo, A);
            ga_lie_tangent(node, map, hi, B);
            ga_lie_tangent_inverse(node, map, lo, C);
            ga_lie_tangent_inverse(node, map, hi, D);
            ga_lie_tangent_derivative(node, map, x, dx, DT);
            ga_lie_tangent_inverse_derivative(node, map, x, dx, DTinv);
            double size = 1;
            for (int i = 0; i < nv * nv; ++i) size = fmax(size, fabs(DTinv[i]));
            for (int i = 0; i < nv * nv; ++i) {
                double d = fabs((B[i] - A[i]) / (2 * e) - DT[i]);
                double dinv = fabs((D[i] - C[i]) / (2 * e) - DTinv[i]) / size;
                check_small(d, 2e-9, "DT, difference quotient", angles[k]);
                check_small(dinv, 2e-9, "DTinv, difference quotient", angles[k]);
                raise_to(&worst, fmax(d, dinv));
            }
        }
    print_message("  group %d: DT, DTinv - quotients %.1e\n", (int)node.group, worst);
}

/* Ad(map), T, DT, T^-1, DT^-1 against quadruple precision series and elimination. Tolerance 10
 * eps of the largest entry: coefficients are good to about 4 eps (DT of exp near t = 4: to 15
 * eps, of smaller terms), and three products meet in an entry. */
static inline void check_oracle(ga_node node, ga_map map)
{
    int nv = ga_node_nv(node);
    double worst[5] = {0};
    for (int k = 0; k < angle_count; ++k) {
        double x[6], dx[6], q[7], M[36];
        uint64_t state = 11u + (uint64_t)k;
        at_angle(node, angles[k], x);
        random_vector(&state, nv, 1, dx);

        mat A = ad_matrix(node, x), Ad, T, DT;
        if (map == GA_MAP_EXP) {
            Ad = mat_exp(&A);
        } else {
            mat plus = mat_axpy(mat_unit(nv), 0.5, A);
            mat minus = mat_inverse(mat_axpy(mat_unit(nv), -0.5, A));
            Ad = mat_mul(&minus, &plus);
        }
        oracle_tangent(node, map, x, dx, &T, &DT);
        mat Tinv = mat_inverse(T);
        mat DTinv = mat_mul(&Tinv, &DT);
        DTinv = mat_mul(&DTinv, &Tinv);
        DTinv = mat_axpy(mat_zero(nv), -1, DTinv);

        ga_lie_map(node, map, x, q);
        ga_lie_adjoint(node, q, M);
        raise_to(&worst[0], mat_distance(&Ad, M) / mat_norm(&Ad));
        ga_lie_tangent(node, map, x, M);
        raise_to(&worst[1], mat_distance(&T, M) / mat_norm(&T));
        ga_lie_tangent_inverse(node, map, x, M);
        raise_to(&worst[2], mat_distance(&Tinv, M) / mat_norm(&Tinv));
        ga_lie_tangent_derivative(node, map, x, dx, M);
        raise_to(&worst[3], mat_distance(&DT, M) / fmax(mat_norm(&DT), 1e-300));
        ga_lie_tangent_inverse_derivative(node, map, x, dx, M);
        raise_to(&worst[4], mat_distance(&DTinv, M) / fmax(mat_norm(&DTinv), 1e-300));
        for (int i = 0; i < 5; ++i) check_small(worst[i], 2.2e-15, "oracle", angles[k]);
    }
    print_message("  group %d map %d: Ad %.1e T %.1e Tinv %.1e DT %.1e DTinv %.1e\n",
                  (int)node.group, (int)map, worst[0], worst[1], worst[2], worst[3], worst[4]);
}

/* T T^-1 = I, beyond the first turn as well: entries of T^-1 grow near whole turns, so the
 * tolerance is 30 eps of the largest. */
static inline void check_tangent_inverse(ga_node node)
{
    int nv = ga_node_nv(node);
    double worst = 0;
    for (int m = 0; m < 2; ++m)
        for (int k = 1; k < 2000; ++k) {
            ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
            double x[6], T[36], Tinv[36], col[6], size = 1;
            at_angle(node, 0.01 * k, x);
            ga_lie_tangent(node, map, x, T);
            ga_lie_tangent_inverse(node, map, x, Tinv);
            for (int i = 0; i < nv * nv; ++i) size = fmax(size, fabs(Tinv[i]));
            for (int j = 0; j < nv; ++j) {
                multiply(nv, T, Tinv + nv * j, col);
                col[j] -= 1;
                for (int i = 0; i < nv; ++i) raise_to(&worst, fabs(col[i]) / size);
            }
            check_small(worst, 6.7e-15, "T Tinv", 0.01 * k);
        }
    print_message("  group %d: T Tinv - I %.1e\n", (int)node.group, worst);
}

/* map_inverse(map(x)) = x below pi, relative to each part of x; map(map_inverse(q)) = q. For
 * Cayley x is a parameter, any size: angle 2 atan(|x|/2) < pi always. */
static inline void check_round_trip(ga_node node)
{
    int nv = ga_node_nv(node), turning = is_spatial(node) ? 3 : 1;
    double worst[2] = {0};
    for (int m = 0; m < 2; ++m)
        for (int k = 0; k < angle_count; ++k) {
            ga_map map = m ? GA_MAP_CAYLEY : GA_MAP_EXP;
            double x[6], y[6], q[7], p[7];
            at_angle(node, angles[k], x);
            ga_lie_map(node, map, x, q);
            ga_lie_map_inverse(node, map, q, y);
            ga_lie_map(node, map, y, p);
            /* 10 eps for numbers of order 1; beyond pi, T^-1 in the logarithm of SE(3) grows */
            raise_to(&worst[1], apart(node, p, q));
            check_small(worst[1], 5e-15, "map of inverse", angles[k]);
            if (map == GA_MAP_EXP && angles[k] >= PI && is_spatial(node)) continue;
            double turned = gap(turning, x + nv - turning, y + nv - turning);
            double moved = gap(nv - turning, x, y);
            if (angles[k] > 0) turned /= angles[k];
            raise_to(&worst[0], fmax(turned, moved));
            /* an angle of pi - 1e-8 comes back through cos and atan2: 2 eps absolute */
            check_small(worst[0], 5e-15, "inverse of map", angles[k]);
        }
    print_message("  group %d: inverse(map) %.1e map(inverse) %.1e\n", (int)node.group,
                  worst[0], worst[1]);
}

/* d(x) = |log(exp(x)^-1 o cay(x + c(x)))| falls by 2^5 when x is halved, and without c by
 * 2^3. From |x| of about 0.4: higher terms change the ratio by |x|^2/4 or so, 2 %. */
static inline void check_defect(ga_node node)
{
    int nv = ga_node_nv(node);
    double x[6], err[2][3];
    at_angle(node, 0.4, x);
    for (int i = 0; i < nv; ++i) x[i] *= 0.5;
    for (int with = 0; with < 2; ++with)
        for (int half = 0; half < 3; ++half) {
            double y[6], c[6], e[7], p[7], d[6];
            for (int i = 0; i < nv; ++i) y[i] = ldexp(x[i], -half);
            ga_lie_map(node, GA_MAP_EXP, y, e);
            ga_lie_cayley_defect(node, y, c);
            for (int i = 0; i < nv; ++i) y[i] += with * c[i];
            ga_lie_map(node, GA_MAP_CAYLEY, y, p);
            ga_lie_inverse(node, e, e);
            ga_lie_compose(node, e, p, p);
            ga_lie_map_inverse(node, GA_MAP_EXP, p, d);
            err[with][half] = 0;
            for (int i = 0; i < nv; ++i) raise_to(&err[with][half], fabs(d[i]));
        }
    for (int half = 0; half < 2; ++half) {
        check_small(fabs(err[0][half] / err[0][half + 1] - 8), 0.2, "plain ratio", half);
        check_small(fabs(err[1][half] / err[1][half + 1] - 32), 1, "defect ratio", half);
    }
    print_message("  group %d: ratios %.2f %.2f without c, %.2f %.2f with\n", (int)node.group,
                  err[0][0] / err[0][1], err[0][1] / err[0][2], err[1][0] / err[1][1],
                  err[1][1] / err[1][2]);
}

#endif
