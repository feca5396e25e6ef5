/* Nodes: the one place that knows both the twists of elements and the coordinates of bodies.
 *
 *     twist (u, w) = W(q) v,    W = diag(R^T, 1) where v holds x' in world axes, 1 on SE groups
 *
 * A gradient with respect to variations in body axes, or a force, becomes g W. Where W depends
 * on q, tangents get two terms more: with r the element's share of the dynamics in body axes,
 *
 *     D (W^T r) = W^T (D r + (dr/dtwist) E + F) W,    E = [0 u~; 0 0],  F = [0 -r_u~; 0 0].
 *
 * Planar nodes use the components x, y of translations and z of rotations, point masses no
 * rotation.
 */
#ifndef GA_MODEL_NODE_H
#define GA_MODEL_NODE_H

#include "element/kernel.h"
#include "element/node_kind.h"

/* True where v holds x' in world axes and the node turns. */
bool ga_node_is_mixed(ga_node_kind kind);

/* x and R of the frame; then u and w, from v. */
void ga_node_place(ga_node_kind kind, const double *q, ga_frame *frame);
void ga_node_move(ga_node_kind kind, const double *v, ga_frame *frame);
/* The same for count nodes of one kind, one behind the other; in the plane: x, c, s and angle
 * of planes, then v and w. */
void ga_node_place_all(ga_node_kind kind, int count, const double *q, ga_frame *frames);
void ga_node_move_all(ga_node_kind kind, int count, const double *v, ga_frame *frames);
void ga_node_place_flat(ga_node_kind kind, int count, const double *q, ga_plane *planes);
void ga_node_move_flat(ga_node_kind kind, int count, const double *v, ga_plane *planes);
/* The frame of a plane, x and R only. */
void ga_node_frame(const ga_plane *plane, ga_frame *frame);
/* The inverse: coordinates of a frame. Planar angles lie in (-pi, pi]. */
void ga_node_coordinates(ga_node_kind kind, const double x[3], const double quaternion[4],
                         double *q);
void ga_node_velocity(ga_node_kind kind, const ga_frame *frame, double *v);
/* (u', w) time derivative of the twist from v'. */
void ga_node_acceleration(ga_node_kind kind, const ga_frame *frame, const double *vd,
                          double twist_rate[6]);

/* out = g W for one row: six numbers to nv. */
void ga_node_row(ga_node_kind kind, const ga_frame *frame, const double *g, double *out);
/* twist = W v. */
void ga_node_twist(ga_node_kind kind, const ga_frame *frame, const double *v, double *twist);

/* Block (i, j) of a local 6 n x 6 n row-major matrix: out = W_i^T A W_j, nv_i x nv_j,
 * row-major with row length ld. */
void ga_node_block(ga_node_kind kind_i, const ga_frame *frame_i, ga_node_kind kind_j,
                   const ga_frame *frame_j, const double *A, int ld_A, double *out, int ld);

#endif
