/* A point of the second body stays on a line of the first. Coordinate: the displacement along
 * the line.
 *
 *     a_x . d = 0,  a_y . d = 0
 */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_ALONG_X, GA_ROW_ALONG_Y},
    .coordinate = {{.name = "displacement", .scalar = ga_along_z, .transverse = true}},
    .axis_in_plane = true,
};

static bool prepare(void *joint, ga_setup *setup)
{
    return ga_joint_prepare(joint, setup, &kind);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(
        GA_ANYWHERE,
        "direction of the line, world axes, in the position given in the model file",
        "z; planar: x"),
    GA_JOINT_FIELDS_LINEAR,
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS, GA_JOINT_COORDINATE(0, "displacement", "rate", "effort", "N", "m"), {0}};

const ga_element_type ga_joint_point_on_line = {
    .name = "point-on-line",
    .help = "A point of the second body stays on a line of the first. The normal force of "
            "friction is the reaction across the line.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: point-on-line, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .planar_example = "{type: point-on-line, between: [a, b], at: [0.3, 0.2], axis: [1, 2]}",
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
