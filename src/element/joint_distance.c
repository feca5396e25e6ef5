/* Rod with two ball joints: the distance of two points is given, perhaps as a function of time.
 *
 *     |d| - length(t, inputs) = 0
 */
#include "element/joint.h"
#include "element/observe.h"

typedef struct distance {
    ga_joint joint;
    ga_observation observation; /* of inputs */
    ga_function *length;        /* null: as at t = 0 */
    double at_start;
} distance;

static void target(const ga_joint *joint, const ga_element_state *state, double out[3])
{
    const distance *rod = (const distance *)joint;
    out[0] = rod->at_start;
    out[1] = out[2] = 0;
    if (rod->length) ga_observation_rates(&rod->observation, state, rod->length, out);
}

static const ga_joint_kind kind = {
    .row = {{.name = "distance",
             .scalar = ga_scalar_length,
             .planar = true,
             .form = {.form = GA_FORM_LENGTH}}},
    .coordinate = {{.name = "length", .scalar = ga_scalar_length, .absolute = true}},
    .target = target,
};

/* Both ends are where they are named: a body alone means its origin. */
static bool prepare(void *element, ga_setup *setup)
{
    distance *rod = element;
    ga_joint *joint = &rod->joint;
    ga_element *e = &joint->element;
    double origin[2][3], axes[9];
    for (int k = 0; k < 2; ++k) {
        if (joint->between[k].whole && joint->between[k].node == GA_GROUND)
            return ga_element_error(
                setup, e, "between",
                "`ground` alone is not a point; expected coordinates or a point of ground");
        joint->between[k].whole = false;
    }
    joint->at[0] = NAN;
    if (!ga_joint_origins(joint, setup, &kind, origin)) return false;
    ga_joint_axes_default(&kind, setup->dimension, joint->axis, axes);
    for (int k = 0; k < 2; ++k) ga_joint_place(joint, setup, k, origin[k], axes);

    const ga_vec3 d = ga_vec3_sub(ga_vec3_load(origin[1]), ga_vec3_load(origin[0]));
    rod->at_start = sqrt(ga_vec3_dot(d, d));
    if (!(rod->at_start > 0))
        return ga_element_error(
            setup, e, "between",
            "the two points coincide: a rod of zero length has no direction");
    const ga_element_state start = {.t = 0};
    double length[3];
    target(joint, &start, length);
    if (!(length[0] > 0))
        return ga_element_error(setup, e, "length", "is not positive at t = 0");
    if (!ga_joint_finish(joint, setup, &kind)) return false;
    e->rheonomic = rod->length && !ga_function_is_constant(rod->length);
    return true;
}

static double regularity(const void *element, const ga_element_state *state)
{
    const distance *rod = element;
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(element, state, &pair);
    ga_scalar_length(&pair, GA_ORDER_VALUE, &s);
    return s.value / rod->at_start;
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_FIELD(distance, FUNCTION, length,
             "distance between the two points; may be a function of time", .unit = "m",
             .absent = "the distance in the position given in the model file",
             .range = GA_POSITIVE),
    {0},
};
static const ga_channel_type channels[] = {GA_JOINT_CHANNELS,
                                           {.name = "length",
                                            .unit = "m",
                                            .help = "distance between the two points",
                                            .count = 1,
                                            .value = ga_joint_channel_value0},
                                           {.name = "rate",
                                            .unit = "m/s",
                                            .help = "its rate",
                                            .count = 1,
                                            .value = ga_joint_channel_rate0},
                                           {0}};

const ga_element_type ga_joint_distance = {
    .name = "distance",
    .help = "Massless rod between two points, or a leg whose length is a function of time.",
    .size = sizeof(distance),
    .fields = fields,
    .example = "{type: distance, between: [a.p, b.p], length: \"1 + 0.1*sin(3*t)\"}",
    .prepare = prepare,
    .rate = ga_joint_constraint_rate,
    .rate_rate = ga_joint_constraint_rate_rate,
    .regularity = regularity,
    .singular = "the two points coincide, so the direction of the rod is undefined",
    .remedy = "a length that stays positive, or a `spherical` joint if the points coincide",
    .channels = channels,
    .observation_at = offsetof(distance, observation),
    .inputs_only = true,
    GA_JOINT_FUNCTIONS,
};
