/* What joints share: two markers, coordinates, what may act along a coordinate. A joint's own
 * file says which functions of the two markers are zero and which are its coordinates.
 *
 * A marker is a frame fixed to a body. Both markers of a joint are the same frame at t = 0
 * where positions are given consistently: origin `at`, third axis `axis`.
 */
#ifndef GA_ELEMENT_JOINT_H
#define GA_ELEMENT_JOINT_H

#include "element/element.h"

typedef struct ga_marker {
    double p[3]; /* in body axes, from the node's origin */
    double A[9]; /* column-major: its axes, in body axes */
} ga_marker;

/* Friction in a joint from the joint's own reaction. */
typedef struct ga_friction {
    ga_group_head head;
    double coefficient;        /* of sliding */
    double static_coefficient; /* of sticking; not given: as of sliding */
    double radius;             /* of a pin: force to torque; rotations only */
    double preload;            /* normal force present without any reaction */
    double transition;         /* speed at which regularised friction is all there */
    int model;                 /* GA_FRICTION_... */
} ga_friction;

enum { GA_FRICTION_REGULARISED, GA_FRICTION_STICTION };

typedef struct ga_limits {
    ga_group_head head;
    double min, max;           /* NaN: none */
    int model;                 /* GA_LIMITS_... */
    double restitution;        /* of a stop */
    double stiffness, damping; /* of a buffer */
} ga_limits;

enum { GA_LIMITS_STOP, GA_LIMITS_BUFFER };

/* What acts along a coordinate of a joint. */
typedef struct ga_attachment {
    ga_group_head head;
    double stiffness, damping;
    double
        rest; /* coordinate at which the spring is free; not given: 0, the position at t = 0 */
    ga_friction friction;
    ga_limits limits;
} ga_attachment;

enum { GA_JOINT_MAX_ROWS = 6, GA_JOINT_MAX_COORDINATES = 3 };

/* Every joint's struct starts with this. */
typedef struct ga_joint {
    ga_element element;
    ga_anchor between[2];
    double at[3], axis[3]; /* world, at t = 0; at may be NaN: not given */
    ga_marker marker[2];
    ga_attachment attachment[GA_JOINT_MAX_COORDINATES];
    double home[GA_JOINT_MAX_COORDINATES]; /* subtracted, so that coordinates start at 0 (or at
                                              what the type says) */
} ga_joint;

/* A scalar function of two frames: value, gradient, second derivative S as in element.h. */
typedef struct ga_scalar {
    double value;
    double g[2 * GA_TWIST];
    double S[4 * GA_TWIST * GA_TWIST]; /* 12 x 12; only where asked for */
} ga_scalar;

typedef enum ga_order { GA_ORDER_VALUE, GA_ORDER_GRADIENT, GA_ORDER_SECOND } ga_order;

typedef struct ga_coordinate_type {
    const char *name; /* angle, displacement, ... */
    bool angular;     /* counted through full turns */
} ga_coordinate_type;

/* The number of coordinates of a joint, and one of them; value with turns counted, from its
 * memory. */
int ga_joint_coordinates(const ga_joint *joint);
const ga_coordinate_type *ga_joint_coordinate_type(const ga_joint *joint, int k);
void ga_joint_coordinate(const ga_joint *joint, int k, const ga_state *state, ga_order order,
                         ga_scalar *s);
/* d/dt of it. */
double ga_joint_rate(const ga_joint *joint, int k, const ga_state *state);
/* Force and torque on the second body at its marker, world axes: reaction and what acts along
 * its coordinates without locks and motions. Reads lambda. */
void ga_joint_reaction(const ga_joint *joint, const ga_state *state, double force[3],
                       double torque[3]);

#endif
