/* Scalar functions of two markers, one on each of two bodies, with first and second
 * derivatives: what joints are made of.
 *
 * With marker axes a_i and b_j, origins r_a and r_b, d = r_b - r_a, all in world axes, and
 * arms s_a, s_b from the nodes' origins x_a, x_b to the markers:
 *
 *     dot       a_i . b_j
 *     along     a_i . d          a direction that turns with the first body
 *     world     E . d            a direction fixed in the world
 *     length    |d|
 *
 * and functions of these. Derivatives are in world axes here: blocks for (R_a delta_u,
 * R_a delta_theta) of the first body and the same of the second. S(w, delta) = D_delta (g . w)
 * holds w fixed in body axes; seen from the world w turns with its body, which adds
 * g_i . (delta_theta x w_i), that is skew(g_i), to what the derivative of g itself gives.
 */
#ifndef GA_ELEMENT_SCALAR_H
#define GA_ELEMENT_SCALAR_H

#include "element/element.h"
#include "lie/vec3.h"

enum { GA_PAIR = 2 * GA_TWIST };

/* Value, gradient, second derivative S as in element.h; each only where asked for. */
typedef struct ga_scalar {
    double value;
    double g[GA_PAIR];
    double rate, swept[GA_PAIR]; /* g . nu and nu^T S, with the twists nu of the pair */
    double S[GA_PAIR * GA_PAIR]; /* row-major */
} ga_scalar;

typedef enum ga_derivative_order {
    GA_ORDER_VALUE,
    GA_ORDER_GRADIENT,
    GA_ORDER_SWEPT, /* without S itself, which takes several times as long */
    GA_ORDER_SECOND /* without rate and swept */
} ga_derivative_order;

struct ga_joint;

/* Two markers in the world. */
typedef struct ga_pair {
    const struct ga_joint *joint;
    const ga_element_state *state;
    const ga_frame *frame[2];
    ga_vec3 arm[2];
    ga_vec3 axis[2][3];
    ga_vec3 d;
    double nu[GA_PAIR]; /* twists in world axes, for GA_ORDER_SWEPT; see ga_pair_twists */
} ga_pair;

typedef void ga_scalar_function(const ga_pair *pair, ga_derivative_order order, ga_scalar *s);

void ga_scalar_dot(const ga_pair *pair, int i, int j, ga_derivative_order order, ga_scalar *s);
void ga_scalar_along(const ga_pair *pair, int i, ga_derivative_order order, ga_scalar *s);
void ga_scalar_world(const ga_pair *pair, ga_vec3 direction, ga_derivative_order order,
                     ga_scalar *s);
void ga_scalar_length(const ga_pair *pair, ga_derivative_order order, ga_scalar *s);

/* A function f(x, y) of two scalars and its derivatives. */
typedef struct ga_chain {
    double f, x, y, xx, xy, yy;
} ga_chain;
void ga_scalar_chain(const ga_chain *f, const ga_scalar *x, const ga_scalar *y,
                     ga_derivative_order order, ga_scalar *s);
/* The angle of (x, y): atan2(y, x). */
void ga_scalar_angle(const ga_scalar *x, const ga_scalar *y, ga_derivative_order order,
                     ga_scalar *s);
/* s = c x + e y */
void ga_scalar_sum(double c, const ga_scalar *x, double e, const ga_scalar *y,
                   ga_derivative_order order, ga_scalar *s);

/* D (g . nu) at fixed twists: nu^T S, where S is known. */
static inline void ga_scalar_swept(const ga_scalar *s, const double *nu, double *out)
{
    for (int j = 0; j < GA_PAIR; ++j) out[j] = 0;
    for (int i = 0; i < GA_PAIR; ++i)
        for (int j = 0; j < GA_PAIR; ++j) out[j] += nu[i] * s->S[GA_PAIR * i + j];
}

/* The twists of both bodies in world axes; nu may be that of the pair. */
void ga_pair_twists(const ga_pair *pair, double nu[GA_PAIR]);
/* From world to body axes: of a gradient, and of `scale` times a matrix, added. In place is
 * fine for gradients. */
void ga_pair_to_body(const ga_pair *pair, const double *world, double *body);
void ga_pair_add_to_body(const ga_pair *pair, double scale, const double *world, double *body);

static inline ga_vec3 ga_rotate(const double *R, ga_vec3 a)
{
    return (ga_vec3){R[0] * a.x + R[3] * a.y + R[6] * a.z, R[1] * a.x + R[4] * a.y + R[7] * a.z,
                     R[2] * a.x + R[5] * a.y + R[8] * a.z};
}

static inline ga_vec3 ga_rotate_back(const double *R, ga_vec3 a)
{
    return (ga_vec3){R[0] * a.x + R[1] * a.y + R[2] * a.z, R[3] * a.x + R[4] * a.y + R[5] * a.z,
                     R[6] * a.x + R[7] * a.y + R[8] * a.z};
}

#endif
