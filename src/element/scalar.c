/* Second derivatives, with x~ = skew(x) and D = r_b - x_a = d + s_a; blocks (u_a, th_a, u_b,
 * th_b), those not named are zero:
 *
 *   dot     g    (0, a x b, 0, -a x b)
 *           S    th_a th_a: b a^T - (a.b) I     th_a th_b: (a.b) I - b a^T
 *                th_b th_a: (a.b) I - a b^T     th_b th_b: a b^T - (a.b) I
 *
 *   along   g    (-a, a x D, a, s_b x a)
 *           S    th_a u_a: -a~     th_a th_a: D a^T - (a.D) I
 *                th_a u_b:  a~     th_a th_b: (a.s_b) I - s_b a^T
 *                u_b th_a: -a~     u_b th_b:  a~
 *                th_b th_a: (a.s_b) I - a s_b^T     th_b th_b: a s_b^T - (a.s_b) I
 *
 *   world   g    (-E, -s_a x E, E, s_b x E)
 *           S    u_a th_a: -E~     th_a th_a: -(E s_a^T - (E.s_a) I)
 *                u_b th_b:  E~     th_b th_b:   E s_b^T - (E.s_b) I
 *
 *   length  g, S as `world` with E = n = d/|d|, and S + J^T (I - n n^T) J/|d| with
 *           J = D d = (-I, s_a~, I, -s_b~)
 */
#include "element/scalar.h"

#include <math.h>
#include <string.h>

static void put(ga_vec3 a, double *out) { ga_vec3_store(a, out); }

enum { UA, TA, UB, TB }; /* blocks: translation and rotation of the first, of the second */

/* What a pair adds to the second derivatives of s: to S, or to nu^T S. */
typedef struct second {
    const ga_pair *pair;
    ga_derivative_order order;
    ga_scalar *s;
} second;

static second begin(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    if (order == GA_ORDER_SECOND) {
        memset(s->S, 0, sizeof s->S);
    } else {
        memset(s->swept, 0, sizeof s->swept);
        s->rate = 0;
        for (int i = 0; i < GA_PAIR; ++i) s->rate += s->g[i] * pair->nu[i];
    }
    return (second){pair, order, s};
}

static void add_to(double *out, ga_vec3 a)
{
    out[0] += a.x;
    out[1] += a.y;
    out[2] += a.z;
}

/* M += scale x~ */
static void add_skew(double *M, double scale, ga_vec3 x)
{
    M[1] -= scale * x.z;
    M[2] += scale * x.y;
    M[GA_PAIR] += scale * x.z;
    M[GA_PAIR + 2] -= scale * x.x;
    M[2 * GA_PAIR] -= scale * x.y;
    M[2 * GA_PAIR + 1] += scale * x.x;
}

/* S_ij += scale x~; nu^T x~ = (nu x x)^T */
static void skew(const second *d, int i, int j, double scale, ga_vec3 x)
{
    if (d->order == GA_ORDER_SECOND) {
        add_skew(d->s->S + 3 * GA_PAIR * i + 3 * j, scale, x);
        return;
    }
    const ga_vec3 nu = ga_vec3_load(d->pair->nu + 3 * i);
    add_to(d->s->swept + 3 * j, ga_vec3_scale(scale, ga_vec3_cross(nu, x)));
}

/* S_ij += scale (x y^T - (x.y) I) */
static void turn(const second *d, int i, int j, double scale, ga_vec3 x, ga_vec3 y)
{
    const double dot = ga_vec3_dot(x, y);
    if (d->order == GA_ORDER_SWEPT) {
        const ga_vec3 nu = ga_vec3_load(d->pair->nu + 3 * i);
        add_to(d->s->swept + 3 * j,
               ga_vec3_axpy(ga_vec3_scale(scale * ga_vec3_dot(nu, x), y), -scale * dot, nu));
        return;
    }
    const double a[3] = {x.x, x.y, x.z}, b[3] = {y.x, y.y, y.z};
    double *M = d->s->S + 3 * GA_PAIR * i + 3 * j;
    for (int k = 0; k < 3; ++k) {
        for (int l = 0; l < 3; ++l) M[GA_PAIR * k + l] += scale * a[k] * b[l];
        M[GA_PAIR * k + k] -= scale * dot;
    }
}

void ga_scalar_dot(const ga_pair *pair, int i, int j, ga_derivative_order order, ga_scalar *s)
{
    const ga_vec3 a = pair->axis[0][i], b = pair->axis[1][j], zero = {0, 0, 0};
    s->value = ga_vec3_dot(a, b);
    if (order < GA_ORDER_GRADIENT) return;
    const ga_vec3 c = ga_vec3_cross(a, b);
    put(zero, s->g);
    put(c, s->g + 3);
    put(zero, s->g + 6);
    put(ga_vec3_scale(-1, c), s->g + 9);
    if (order < GA_ORDER_SWEPT) return;
    const second d = begin(pair, order, s);
    turn(&d, TA, TA, 1, b, a);
    turn(&d, TA, TB, -1, b, a);
    turn(&d, TB, TA, -1, a, b);
    turn(&d, TB, TB, 1, a, b);
}

void ga_scalar_along(const ga_pair *pair, int i, ga_derivative_order order, ga_scalar *s)
{
    const ga_vec3 a = pair->axis[0][i], arm = pair->arm[1];
    s->value = ga_vec3_dot(a, pair->d);
    if (order < GA_ORDER_GRADIENT) return;
    const ga_vec3 D = ga_vec3_add(pair->d, pair->arm[0]);
    put(ga_vec3_scale(-1, a), s->g);
    put(ga_vec3_cross(a, D), s->g + 3);
    put(a, s->g + 6);
    put(ga_vec3_cross(arm, a), s->g + 9);
    if (order < GA_ORDER_SWEPT) return;
    const second d = begin(pair, order, s);
    skew(&d, TA, UA, -1, a);
    turn(&d, TA, TA, 1, D, a);
    skew(&d, TA, UB, 1, a);
    turn(&d, TA, TB, -1, arm, a);
    skew(&d, UB, TA, -1, a);
    skew(&d, UB, TB, 1, a);
    turn(&d, TB, TA, -1, a, arm);
    turn(&d, TB, TB, 1, a, arm);
}

/* Derivatives of E . d for E that stays. */
static void derive_world(const ga_pair *pair, ga_vec3 E, ga_derivative_order order,
                         ga_scalar *s)
{
    if (order < GA_ORDER_GRADIENT) return;
    put(ga_vec3_scale(-1, E), s->g);
    put(ga_vec3_cross(E, pair->arm[0]), s->g + 3);
    put(E, s->g + 6);
    put(ga_vec3_cross(pair->arm[1], E), s->g + 9);
    if (order < GA_ORDER_SWEPT) return;
    const second d = begin(pair, order, s);
    skew(&d, UA, TA, -1, E);
    turn(&d, TA, TA, -1, E, pair->arm[0]);
    skew(&d, UB, TB, 1, E);
    turn(&d, TB, TB, 1, E, pair->arm[1]);
}

void ga_scalar_world(const ga_pair *pair, ga_vec3 direction, ga_derivative_order order,
                     ga_scalar *s)
{
    s->value = ga_vec3_dot(direction, pair->d);
    derive_world(pair, direction, order, s);
}

/* J = D d, 3 x 12. */
static void separation(const ga_pair *pair, double *J)
{
    memset(J, 0, 3 * GA_PAIR * sizeof *J);
    for (int i = 0; i < 3; ++i) {
        J[GA_PAIR * i + i] = -1;
        J[GA_PAIR * i + 6 + i] = 1;
    }
    add_skew(J + 3, 1, pair->arm[0]);
    add_skew(J + 9, -1, pair->arm[1]);
}

/* At |d| = 0 the length has no gradient; the one along x then serves, and no S. */
void ga_scalar_length(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    const double length = sqrt(ga_vec3_dot(pair->d, pair->d));
    const ga_vec3 n = length > 0 ? ga_vec3_scale(1 / length, pair->d) : (ga_vec3){1, 0, 0};
    s->value = length;
    derive_world(pair, n, order, s);
    if (order < GA_ORDER_SWEPT || !(length > 0)) return;

    double J[3 * GA_PAIR]; /* J^T n = g */
    separation(pair, J);
    if (order == GA_ORDER_SWEPT) {
        for (int k = 0; k < 3; ++k) {
            double moves = 0;
            for (int i = 0; i < GA_PAIR; ++i) moves += J[GA_PAIR * k + i] * pair->nu[i];
            for (int j = 0; j < GA_PAIR; ++j)
                s->swept[j] += moves * J[GA_PAIR * k + j] / length;
        }
        for (int j = 0; j < GA_PAIR; ++j) s->swept[j] -= s->rate * s->g[j] / length;
        return;
    }
    for (int i = 0; i < GA_PAIR; ++i)
        for (int j = 0; j < GA_PAIR; ++j) {
            const double JJ = J[i] * J[j] + J[GA_PAIR + i] * J[GA_PAIR + j] +
                              J[2 * GA_PAIR + i] * J[2 * GA_PAIR + j];
            s->S[GA_PAIR * i + j] += (JJ - s->g[i] * s->g[j]) / length;
        }
}

void ga_scalar_chain(const ga_chain *f, const ga_scalar *x, const ga_scalar *y,
                     ga_derivative_order order, ga_scalar *s)
{
    s->value = f->f;
    if (order < GA_ORDER_GRADIENT) return;
    if (order == GA_ORDER_SWEPT) {
        const double u = f->xx * x->rate + f->xy * y->rate;
        const double v = f->xy * x->rate + f->yy * y->rate;
        s->rate = f->x * x->rate + f->y * y->rate;
        for (int j = 0; j < GA_PAIR; ++j)
            s->swept[j] = f->x * x->swept[j] + f->y * y->swept[j] + u * x->g[j] + v * y->g[j];
    }
    if (order == GA_ORDER_SECOND)
        for (int i = 0; i < GA_PAIR; ++i) {
            const double u = f->xx * x->g[i] + f->xy * y->g[i];
            const double v = f->xy * x->g[i] + f->yy * y->g[i];
            for (int j = 0; j < GA_PAIR; ++j) {
                const int k = GA_PAIR * i + j;
                s->S[k] = f->x * x->S[k] + f->y * y->S[k] + u * x->g[j] + v * y->g[j];
            }
        }
    for (int i = 0; i < GA_PAIR; ++i) s->g[i] = f->x * x->g[i] + f->y * y->g[i];
}

void ga_scalar_angle(const ga_scalar *x, const ga_scalar *y, ga_derivative_order order,
                     ga_scalar *s)
{
    const double a = x->value, b = y->value, n = a * a + b * b, m = n > 0 ? 1 / n : 0;
    const ga_chain f = {.f = atan2(b, a),
                        .x = -b * m,
                        .y = a * m,
                        .xx = 2 * a * b * m * m,
                        .xy = (b * b - a * a) * m * m,
                        .yy = -2 * a * b * m * m};
    ga_scalar_chain(&f, x, y, order, s);
}

void ga_scalar_sum(double c, const ga_scalar *x, double e, const ga_scalar *y,
                   ga_derivative_order order, ga_scalar *s)
{
    s->value = c * x->value + e * y->value;
    if (order < GA_ORDER_GRADIENT) return;
    for (int i = 0; i < GA_PAIR; ++i) s->g[i] = c * x->g[i] + e * y->g[i];
    if (order == GA_ORDER_SWEPT) {
        s->rate = c * x->rate + e * y->rate;
        for (int i = 0; i < GA_PAIR; ++i) s->swept[i] = c * x->swept[i] + e * y->swept[i];
    }
    if (order < GA_ORDER_SECOND) return;
    for (int i = 0; i < GA_PAIR * GA_PAIR; ++i) s->S[i] = c * x->S[i] + e * y->S[i];
}

void ga_pair_twists(const ga_pair *pair, double nu[GA_PAIR])
{
    for (int b = 0; b < 2; ++b) {
        const ga_frame *f = pair->frame[b];
        put(ga_rotate(f->R, ga_vec3_load(f->u)), nu + 6 * b);
        put(ga_rotate(f->R, ga_vec3_load(f->w)), nu + 6 * b + 3);
    }
}

void ga_pair_to_body(const ga_pair *pair, const double *world, double *body)
{
    for (int b = 0; b < 4; ++b)
        put(ga_rotate_back(pair->frame[b / 2]->R, ga_vec3_load(world + 3 * b)), body + 3 * b);
}

/* body_ij += scale R_i^T world_ij R_j */
void ga_pair_add_to_body(const ga_pair *pair, double scale, const double *world, double *body)
{
    double half[GA_PAIR * GA_PAIR]; /* world_ij R_j */
    for (int i = 0; i < GA_PAIR; ++i)
        ga_pair_to_body(pair, world + GA_PAIR * i, half + GA_PAIR * i);
    for (int i = 0; i < 4; ++i) {
        const double *R = pair->frame[i / 2]->R;
        const double *h = half + 3 * GA_PAIR * i;
        double *out = body + 3 * GA_PAIR * i;
        for (int k = 0; k < 3; ++k)
            for (int j = 0; j < GA_PAIR; ++j)
                out[GA_PAIR * k + j] +=
                    scale * (R[3 * k] * h[j] + R[3 * k + 1] * h[GA_PAIR + j] +
                             R[3 * k + 2] * h[2 * GA_PAIR + j]);
    }
}
