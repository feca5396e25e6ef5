/* What forces share: points and directions on bodies with their derivatives, and the way from
 * forces at points in space to forces on nodes.
 *
 * With x_P = x + R p, twist (u, w) and variation (du, dt) of the node:
 *
 *     position            x + R p              varies by R (du + dt x p)
 *     velocity            R (u + w x p)        varies by R (dt x (u + w x p)), and with the
 *                                              twist by R (u + w x p)
 *     direction           R a                  varies by R (dt x a)
 *     angular velocity    R w                  varies by R (dt x w), and with the twist by R w
 *
 * A force F at the point X in space gives the node f = R^T F, m = R^T ((X - x) x F), and
 * R^T V varies by R^T dV + (R^T V) x dt.
 *
 * Forces of an element write them as loads: at points in space, world axes. The same sequence
 * of loads serves `force` and `tangent`.
 */
#ifndef GA_ELEMENT_FORCE_H
#define GA_ELEMENT_FORCE_H

#include "element/dual.h"
#include "element/joint.h"

/* One evaluation of an element: where, with how many columns, and where loads go (null: they
 * go nowhere). */
typedef struct ga_loads {
    const ga_element *element;
    const ga_element_state *state;
    int size;    /* 6 node_count */
    int columns; /* of duals: 0 or 2 size */
    double *f, *K, *C;
} ga_loads;

/* For `force`; for `tangent`; for values; for values with their derivatives. */
ga_loads ga_loads_force(const void *element, const ga_element_state *state, double *f);
ga_loads ga_loads_tangent(const void *element, const ga_element_state *state, double *K,
                          double *C);
ga_loads ga_loads_value(const void *element, const ga_element_state *state);
ga_loads ga_loads_varied(const void *element, const ga_element_state *state);

/* `i` counts the element's nodes; results in world axes. */
void ga_loads_position(const ga_loads *loads, int i, const double p[3], ga_dual3 *x);
void ga_loads_velocity(const ga_loads *loads, int i, const double p[3], ga_dual3 *v);
void ga_loads_direction(const ga_loads *loads, int i, const double a[3], ga_dual3 *direction);
void ga_loads_angular_velocity(const ga_loads *loads, int i, ga_dual3 *omega);

/* sign F at X, and a torque sign T, on node i. */
void ga_loads_add_force(ga_loads *loads, int i, double sign, const ga_dual3 *F,
                        const ga_dual3 *X);
void ga_loads_add_torque(ga_loads *loads, int i, double sign, const ga_dual3 *T);

/* Positions and velocities of the second of two points relative to the first. */
void ga_loads_difference(const ga_loads *loads, const ga_anchor between[2], ga_dual3 *d,
                         ga_dual3 *dd);

/* Power of the element's force. */
double ga_force_power(const void *element, const ga_element_state *state);

/* Sets the two nodes; an error if they are one. */
bool ga_element_between(ga_setup *setup, void *element, const ga_anchor between[2]);
/* Negative stiffness is a warning (there are springs that buckle), negative damping an error:
 * it would make energy out of nothing. */
bool ga_element_check_spring(const ga_setup *setup, const void *element, double stiffness,
                             double damping);

/* A point of the given positions at t = 0, and the same point in the axes of a node. */
void ga_setup_place(const ga_setup *setup, const ga_anchor *anchor, double x[3]);
void ga_setup_local(const ga_setup *setup, int node, const double x[3], double p[3]);
/* A world direction of t = 0 in the axes of a node. */
void ga_setup_local_direction(const ga_setup *setup, int node, const double a[3], double b[3]);

/* Column-major 3 x 3: M a and M^T a. */
static inline ga_vec3 ga_mat3_apply(const double *M, ga_vec3 a)
{
    return (ga_vec3){M[0] * a.x + M[3] * a.y + M[6] * a.z, M[1] * a.x + M[4] * a.y + M[7] * a.z,
                     M[2] * a.x + M[5] * a.y + M[8] * a.z};
}

static inline ga_vec3 ga_mat3_apply_transposed(const double *M, ga_vec3 a)
{
    return (ga_vec3){M[0] * a.x + M[1] * a.y + M[2] * a.z, M[3] * a.x + M[4] * a.y + M[5] * a.z,
                     M[6] * a.x + M[7] * a.y + M[8] * a.z};
}

#endif
