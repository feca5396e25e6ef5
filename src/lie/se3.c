/* SE(3): position and unit quaternion, twists (u, w) in body axes.
 *
 * A rigid motion is a rotation over the dual numbers, e^2 = 0: p + e x p/2 for p + e d, and
 * w + e u for w. Every formula of SO(3) holds with such entries, and its dual part is the
 * directional derivative of its real part. For operators O (T or T^-1, of either map)
 *
 *   O_SE3(u, w) = | O(w)  DO(w)[u] |        and for its derivative, in direction (du, dw),
 *                 | 0     O(w)     |        DO[dw] twice and DO[du] + D2O[u, dw].
 *
 * Position of map(u, w): d = Dp(w)[u] = p (T(w) u)/2, so x = R T(w) u = T(w)^T u. With the
 * Cayley chart this is the motion parameter update (2 + U)/|2 + U| of [DYM] eq. (29) in unit
 * dual quaternions, dual norm included.
 *
 *   [(u1, w1), (u2, w2)] = (w1 x u2 + u1 x w2, w1 x w2)
 *   Ad_q = | R  x~ R |
 *          | 0   R   |
 *   Cayley's defect: the dual of |w|^2 w/12, ((|w|^2 u + 2 (w.u) w)/12, |w|^2 w/12). */
#include <string.h>

#include "lie/group.h"
#include "lie/so3.h"

static void store(ga_vec3 x, ga_quat p, double *q)
{
    ga_vec3_store(x, q);
    ga_quat_store(p, q + 3);
}

static void compose(const double *a, const double *b, double *ab)
{
    ga_quat pa = ga_quat_load(a + 3), pb = ga_quat_load(b + 3);
    ga_vec3 x = ga_vec3_add(ga_vec3_load(a), ga_quat_rotate(pa, ga_vec3_load(b)));
    store(x, ga_quat_normalise(ga_quat_product(pa, pb)), ab);
}

static void inverse(const double *a, double *inv)
{
    ga_quat p = ga_quat_conjugate(ga_quat_load(a + 3));
    store(ga_vec3_scale(-1, ga_quat_rotate(p, ga_vec3_load(a))), p, inv);
}

/* Subtracts positions before it turns them: far from the origin, inverse and compose would
 * lose the digits that a small motion needs. */
static void relative(const double *a, const double *b, double *rel)
{
    ga_quat p = ga_quat_conjugate(ga_quat_load(a + 3));
    ga_vec3 x = ga_quat_rotate(p, ga_vec3_sub(ga_vec3_load(b), ga_vec3_load(a)));
    store(x, ga_quat_normalise(ga_quat_product(p, ga_quat_load(b + 3))), rel);
}

static void map(const ga_chart *chart, const double *x, double *q)
{
    ga_vec3 u = ga_vec3_load(x), w = ga_vec3_load(x + 3);
    double s = ga_vec3_dot(w, w);
    ga_rotor r = chart->rotor(s);
    ga_jet T;
    chart->tangent(s, r, 0, &T);
    store(ga_jet_apply_transposed(&T, w, u), ga_quat_map(&r, w), q);
}

static void unmap(const ga_chart *chart, const double *q, double *x)
{
    ga_vec3 w = ga_quat_unmap(chart, ga_quat_load(q + 3));
    double s = ga_vec3_dot(w, w);
    ga_jet Tinv;
    chart->tangent_inverse(s, 0, &Tinv);
    ga_vec3_store(ga_jet_apply_transposed(&Tinv, w, ga_vec3_load(q)), x);
    ga_vec3_store(w, x + 3);
}

static void bracket(const double *x, const double *y, double *z)
{
    ga_vec3 u1 = ga_vec3_load(x), w1 = ga_vec3_load(x + 3);
    ga_vec3 u2 = ga_vec3_load(y), w2 = ga_vec3_load(y + 3);
    ga_vec3_store(ga_vec3_add(ga_vec3_cross(w1, u2), ga_vec3_cross(u1, w2)), z);
    ga_vec3_store(ga_vec3_cross(w1, w2), z + 3);
}

/* Copies the upper left block to the lower right one and clears the lower left. */
static void complete(double *M)
{
    for (int j = 0; j < 3; ++j) {
        memcpy(M + 21 + 6 * j, M + 6 * j, 3 * sizeof *M);
        memset(M + 3 + 6 * j, 0, 3 * sizeof *M);
    }
}

static void adjoint(const double *q, double *Ad)
{
    ga_vec3 x = ga_vec3_load(q);
    ga_quat_matrix(ga_quat_load(q + 3), 6, Ad);
    for (int j = 0; j < 3; ++j)
        ga_vec3_store(ga_vec3_cross(x, ga_vec3_load(Ad + 6 * j)), Ad + 18 + 6 * j);
    complete(Ad);
}

static void tangent(const ga_jet *jet, const double *x, double *T)
{
    ga_vec3 u = ga_vec3_load(x), w = ga_vec3_load(x + 3);
    ga_jet_value(jet, w, 6, T);
    ga_jet_first(jet, w, u, 6, T + 18);
    complete(T);
}

static void tangent_derivative(const ga_jet *jet, const double *x, const double *dx, double *DT)
{
    ga_vec3 u = ga_vec3_load(x), w = ga_vec3_load(x + 3);
    ga_vec3 du = ga_vec3_load(dx), dw = ga_vec3_load(dx + 3);
    ga_jet_first(jet, w, dw, 6, DT);
    ga_jet_second(jet, w, u, dw, du, 6, DT + 18);
    complete(DT);
}

static void defect(const double *x, double *c)
{
    ga_vec3 u = ga_vec3_load(x), w = ga_vec3_load(x + 3);
    double ww = ga_vec3_dot(w, w) / 12, wu = ga_vec3_dot(w, u) / 6;
    ga_vec3_store(ga_vec3_axpy(ga_vec3_scale(ww, u), wu, w), c);
    ga_vec3_store(ga_vec3_scale(ww, w), c + 3);
}

const ga_group_type ga_group_se3 = {
    .nq = 7,
    .nv = 6,
    .turning = 3,
    .order = 1,
    .identity = {0, 0, 0, 1},
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
