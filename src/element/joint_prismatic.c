/* Slider: the second body moves along an axis of the first and does not turn. Coordinate: the
 * displacement along `axis`.
 *
 *     a_x . d = 0,  a_y . d = 0,  vector part of the relative rotation = 0
 *
 * In planar models the axis lies in the plane and a_y points out of it. */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_ALONG_X,
            GA_ROW_ALONG_Y,
            {.name = "rotation about x",
             .scalar = ga_turn_x,
             .form = {.form = GA_FORM_TURN, .i = 0}},
            {.name = "rotation about y",
             .scalar = ga_turn_y,
             .form = {.form = GA_FORM_TURN, .i = 1},
             .planar = true},
            {.name = "rotation about z",
             .scalar = ga_turn_z,
             .form = {.form = GA_FORM_TURN, .i = 2}}},
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
    GA_JOINT_FIELD_AXIS(GA_ANYWHERE,
                        "axis of sliding, world axes, in the position given in the model file",
                        "z; planar: x"),
    GA_JOINT_FIELDS_LINEAR,
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS, GA_JOINT_COORDINATE(0, "displacement", "rate", "effort", "N", "m"), {0}};

const ga_element_type ga_joint_prismatic = {
    .name = "prismatic",
    .help = "Slider: the second body moves along an axis of the first and does not turn. The "
            "normal force of friction is the reaction across the axis.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: prismatic, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .planar_example = "{type: prismatic, between: [a, b], at: [0.3, 0.2], axis: [1, 2]}",
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
