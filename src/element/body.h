/* Rigid bodies and point masses: an inertia on a node whose origin is the centre of mass. */
#ifndef GA_ELEMENT_BODY_H
#define GA_ELEMENT_BODY_H

#include "element/element.h"

enum { GA_BODY_RIGID, GA_BODY_POINT_MASS };

/* As it stands in the file, with the node it makes: nodes[0]. */
typedef struct ga_body {
    ga_element element;
    int type;
    double mass, inertia[9]; /* symmetric, body axes */
    double position[3], rotation[4];
    double velocity[3], angular_velocity[3];
    ga_point_list points;
    ga_shape_list shape;
    double gravity[3]; /* world */
} ga_body;

/* Of both; in no section of elements. */
extern const ga_element_type ga_body_element;

#endif
