/* A point of the second body stays on a plane of the first, normal `axis`: a_z . d = 0. */
#include "element/joint.h"

static const ga_joint_kind kind = {.row = {GA_ROW_ALONG_Z}};

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
    {0},
};
static const ga_channel_type channels[] = {GA_JOINT_CHANNELS, {0}};

const ga_element_type ga_joint_point_on_plane = {
    .name = "point-on-plane",
    .help = "A point of the second body stays on a plane of the first.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: point-on-plane, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
