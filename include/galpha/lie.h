/* Lie groups for configurations, and their products.
 *
 * A node is one factor of the configuration space. Storage (q) and velocity (v) per node:
 *
 *   group          q                              v (left-trivialised: q' = q o v~)
 *   GA_GROUP_RN    n numbers                      their derivatives
 *   GA_GROUP_SO2   angle (not wrapped)            its derivative
 *   GA_GROUP_R2SO2 x, y, angle                    x', y' in the world, angle'
 *   GA_GROUP_SE2   x, y, angle                    x', y' in body axes, angle'
 *   GA_GROUP_SO3   unit quaternion w, x, y, z     Omega in body axes
 *   GA_GROUP_R3SO3 x, y, z, quaternion            x' in the world, Omega in body axes
 *   GA_GROUP_SE3   x, y, z, quaternion            R^T x' and Omega, both in body axes
 *   GA_GROUP_STATE none                           n first-order states (system.h)
 *
 * Matrices are column-major. Output may be the same array as an input where a comment says so.
 */
#ifndef GALPHA_LIE_H
#define GALPHA_LIE_H

#include <galpha/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ga_group {
    GA_GROUP_RN,
    GA_GROUP_SO2,
    GA_GROUP_R2SO2,
    GA_GROUP_SE2,
    GA_GROUP_SO3,
    GA_GROUP_R3SO3,
    GA_GROUP_SE3,
    GA_GROUP_STATE
} ga_group;

/* n counts the coordinates of a GA_GROUP_RN and the states of a GA_GROUP_STATE node; it is
 * ignored (may be 0) otherwise. */
typedef struct ga_node {
    size_t struct_size; /* set by the macro below */
    ga_group group;
    int n;
} ga_node;

/* ga_node plane = GA_NODE(GA_GROUP_RN, 2); */
#define GA_NODE(group_, n_)                                                                    \
    {                                                                                          \
        sizeof(ga_node), (group_), (n_)                                                        \
    }

/* Map from an increment in the Lie algebra to the group. Cayley is the update of the
 * Dymore manual, eq. (29): Euler (motion) parameters (2 + x)/|2 + x|. On rotation-free
 * coordinates both are addition. */
typedef enum ga_map { GA_MAP_EXP, GA_MAP_CAYLEY } ga_map;

enum { GA_NODE_MAX_NV = 6, GA_NODE_MAX_NQ = 7 }; /* for nodes without n */

/* Sizes of q and v of one node; 0 for an invalid node. */
GA_API int ga_node_nq(ga_node node);
GA_API int ga_node_nv(ga_node node);

GA_API void ga_lie_identity(ga_node node, double *q);
/* ab = a o b; ab may be a or b. Quaternions have unit norm to round-off. */
GA_API void ga_lie_compose(ga_node node, const double *a, const double *b, double *ab);
/* inv may be a. */
GA_API void ga_lie_inverse(ga_node node, const double *a, double *inv);
/* q = exp(x) or cay(x). */
GA_API void ga_lie_map(ga_node node, ga_map map, const double *x, double *q);
/* x with map(x) = q: the logarithm with rotation angle in [-pi, pi] (angles of SO2-like nodes
 * are not wrapped: they are numbers; at whole turns of SE2 the position part grows without
 * bound), or the inverse Cayley map, which grows without bound as the angle approaches pi and
 * gives an angle beyond it modulo 2 pi. */
GA_API void ga_lie_map_inverse(ga_node node, ga_map map, const double *q, double *x);
/* q1 = q o map(x); q1 may be q. */
GA_API void ga_lie_update(ga_node node, ga_map map, const double *q, const double *x,
                          double *q1);
/* z = [x, y]; z may not be x or y. */
GA_API void ga_lie_bracket(ga_node node, const double *x, const double *y, double *z);
/* Ad_q (nv x nv): q o exp(x) o q^-1 = exp(Ad_q x). */
GA_API void ga_lie_adjoint(ga_node node, const double *q, double *Ad);
/* Left tangent operator T(x) (nv x nv): d/ds map(x(s)) = map(x) o (T(x) x')~. */
GA_API void ga_lie_tangent(ga_node node, ga_map map, const double *x, double *T);
GA_API void ga_lie_tangent_inverse(ga_node node, ga_map map, const double *x, double *Tinv);
/* d/ds at s = 0 of T(x + s dx), and of its inverse. */
GA_API void ga_lie_tangent_derivative(ga_node node, ga_map map, const double *x,
                                      const double *dx, double *DT);
GA_API void ga_lie_tangent_inverse_derivative(ga_node node, ga_map map, const double *x,
                                              const double *dx, double *DTinv);
/* c(x), cubic in x, with exp(x) = cay(x + c(x) + O(x^5)): |w|^2 w/12 on SO(3). */
GA_API void ga_lie_cayley_defect(ga_node node, const double *x, double *c);

/* Products: the same for an array of nodes, q and v concatenated in node order. */
GA_API int ga_nodes_nq(int count, const ga_node *nodes);
GA_API int ga_nodes_nv(int count, const ga_node *nodes);
/* q1 = q o map(x); q1 may be q. */
GA_API void ga_nodes_update(int count, const ga_node *nodes, ga_map map, const double *q,
                            const double *x, double *q1);
/* x with a o exp(x) = b. */
GA_API void ga_nodes_difference(int count, const ga_node *nodes, const double *a,
                                const double *b, double *x);
GA_API void ga_nodes_bracket(int count, const ga_node *nodes, const double *x, const double *y,
                             double *z);

/* Unit quaternions (w, x, y, z). R is 3 x 3, column-major: R x maps body to world axes. */
GA_API void ga_quaternion_to_matrix(const double *p, double *R);
GA_API void ga_quaternion_from_matrix(const double *R, double *p);
/* y = R(p) x and y = R(p)^T x; y may be x. */
GA_API void ga_quaternion_rotate(const double *p, const double *x, double *y);
GA_API void ga_quaternion_rotate_back(const double *p, const double *x, double *y);

#ifdef __cplusplus
}
#endif
#endif
