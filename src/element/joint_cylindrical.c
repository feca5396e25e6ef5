/* Rod in a sleeve: slides along an axis and turns about it. Coordinates: angle and
 * displacement.
 *
 *     a_x . d = 0,  a_y . d = 0,  -a_y . b_z = 0,  a_x . b_z = 0
 */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_ALONG_X, GA_ROW_ALONG_Y, GA_ROW_TILT_X, GA_ROW_TILT_Y},
    .coordinate = {{.name = "angle", .scalar = ga_angle, .angular = true, .transverse = true},
                   {.name = "displacement", .scalar = ga_along_z, .transverse = true}},
};

static bool prepare(void *joint, ga_setup *setup)
{
    return ga_joint_prepare(joint, setup, &kind);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(
        GA_SPATIAL,
        "axis of rotation and sliding, world axes, in the position given in the model file",
        "z"),
    GA_JOINT_FIELD_GROUP(0, "angle", _angular),
    GA_JOINT_FIELD_GROUP(1, "displacement", ),
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS,
    GA_JOINT_COORDINATE(0, "angle", "angle_rate", "angle_effort", "N m", "rad"),
    GA_JOINT_COORDINATE(1, "displacement", "displacement_rate", "displacement_effort", "N",
                        "m"),
    {0}};

const ga_element_type ga_joint_cylindrical = {
    .name = "cylindrical",
    .help = "Rod in a sleeve: the second body slides along an axis of the first and turns "
            "about it. The normal force of friction, along and about the axis separately, is "
            "the reaction across the axis.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: cylindrical, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
