/* Two bodies are one: six rows, translations along directions fixed in the world and the vector
 * part of the relative rotation. */
#include "element/joint.h"

static const ga_joint_kind kind = {
    .row = {GA_ROW_WORLD_X,
            GA_ROW_WORLD_Y,
            GA_ROW_WORLD_Z,
            {.name = "rotation about x",
             .scalar = ga_turn_x,
             .form = {.form = GA_FORM_TURN, .i = 0}},
            {.name = "rotation about y",
             .scalar = ga_turn_y,
             .form = {.form = GA_FORM_TURN, .i = 1}},
            {.name = "rotation about z",
             .scalar = ga_turn_z,
             .form = {.form = GA_FORM_TURN, .i = 2},
             .planar = true}},
};

static bool prepare(void *element, ga_setup *setup)
{
    ga_joint *joint = element;
    joint->axis[0] = NAN; /* no field: any axis will do */
    return ga_joint_prepare(joint, setup, &kind);
}

static const ga_field fields[] = {GA_JOINT_FIELD_BETWEEN, GA_JOINT_FIELD_AT, {0}};
static const ga_channel_type channels[] = {GA_JOINT_CHANNELS, {0}};

const ga_element_type ga_joint_fixed = {
    .name = "fixed",
    .help = "Holds two bodies in the relative position given in the model file.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: fixed, between: [a, b], at: [0.3, 0.2, 0.1]}",
    .planar_example = "{type: fixed, between: [a, b], at: [0.3, 0.2]}",
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
