/* Hinge: a point of the axis and its direction are common to both bodies. Coordinate: the
 * angle from the first to the second, about `axis`.
 *
 *     E_k . d = 0,  -a_y . b_z = 0,  a_x . b_z = 0
 *
 * b_z = -a_z solves these too, but no continuous motion leads there. */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_WORLD_X, GA_ROW_WORLD_Y, GA_ROW_WORLD_Z, GA_ROW_TILT_X, GA_ROW_TILT_Y},
    .coordinate = {{.name = "angle",
                    .scalar = ga_angle,
                    .angular = true,
                    .transverse = true,
                    .axial = true}},
};

static bool prepare(void *joint, ga_setup *setup)
{
    return ga_joint_prepare(joint, setup, &kind);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(GA_SPATIAL,
                        "axis of rotation, world axes, in the position given in the model file",
                        "z"),
    GA_JOINT_FIELDS_ANGULAR,
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS, GA_JOINT_COORDINATE(0, "angle", "rate", "effort", "N m", "rad"), {0}};

const ga_element_type ga_joint_revolute = {
    .name = "revolute",
    .help = "Hinge: the second body turns about an axis of the first. The normal force of "
            "friction is the sum of the reactions across and along the axis.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: revolute, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .planar_example = "{type: revolute, between: [a, b], at: [0.3, 0.2]}",
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
