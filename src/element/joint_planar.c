/* Plate on a table: a plane of the second body stays in one of the first, normal `axis`.
 * Coordinates: x and y along the axes of the first marker, and the angle about the normal.
 *
 *     a_z . d = 0,  -a_y . b_z = 0,  a_x . b_z = 0
 */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_ALONG_Z, GA_ROW_TILT_X, GA_ROW_TILT_Y},
    .coordinate = {{.name = "x", .scalar = ga_along_x, .axial = true},
                   {.name = "y", .scalar = ga_along_y, .axial = true},
                   {.name = "angle", .scalar = ga_angle, .angular = true, .axial = true}},
};

static bool prepare(void *joint, ga_setup *setup)
{
    return ga_joint_prepare(joint, setup, &kind);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(
        GA_SPATIAL, "normal of the plane, world axes, in the position given in the model file",
        "z"),
    GA_JOINT_FIELD_GROUP(0, "x", ),
    GA_JOINT_FIELD_GROUP(1, "y", ),
    GA_JOINT_FIELD_GROUP(2, "angle", _angular),
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS,
    GA_JOINT_COORDINATE(0, "x", "x_rate", "x_effort", "N", "m"),
    GA_JOINT_COORDINATE(1, "y", "y_rate", "y_effort", "N", "m"),
    GA_JOINT_COORDINATE(2, "angle", "angle_rate", "angle_effort", "N m", "rad"),
    {0}};

const ga_element_type ga_joint_planar = {
    .name = "planar",
    .help = "Plate on a table: the second body slides on a plane of the first and turns about "
            "its normal. The normal force of friction, for each coordinate separately, is the "
            "reaction along the normal.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: planar, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
