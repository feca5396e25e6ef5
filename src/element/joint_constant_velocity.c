/* Homokinetic joint: two shafts that meet in a point turn equally fast at any bend.
 *
 *     E_k . d = 0,  (a_y . b_x - a_x . b_y)/2 = 0
 *
 * The second shaft b_z is the first, a_z, turned about an axis perpendicular to both: the
 * relative rotation has no component along a_z, hence none along b_z. This is symmetric in the
 * two shafts, so their speeds agree. A bend of half a turn is singular. */
#include "element/joint.h"

typedef struct constant_velocity {
    ga_joint joint;
    double second_axis[3];
} constant_velocity;

static const ga_joint_kind kind = {
    .row = {GA_ROW_WORLD_X,
            GA_ROW_WORLD_Y,
            GA_ROW_WORLD_Z,
            {.name = "rotation about z", .scalar = ga_turn_z}},
};

/* Q v for the shortest rotation from a to b: v + c x v + c x (c x v)/(1 + a.b), c = a x b */
static ga_vec3 bend(ga_vec3 a, ga_vec3 b, ga_vec3 v)
{
    const ga_vec3 c = ga_vec3_cross(a, b), cv = ga_vec3_cross(c, v);
    const double f = 1 / (1 + ga_vec3_dot(a, b));
    return ga_vec3_axpy(ga_vec3_add(v, cv), f, ga_vec3_cross(c, cv));
}

static bool prepare(void *element, ga_setup *setup)
{
    constant_velocity *cv = element;
    ga_joint *joint = &cv->joint;
    double origin[2][3], axes[9], second[9];
    if (!ga_joint_origins(joint, setup, &kind, origin)) return false;
    ga_joint_axes_default(&kind, setup->dimension, joint->axis, axes);
    const ga_vec3 a = ga_vec3_load(joint->axis);
    const ga_vec3 b = isnan(cv->second_axis[0]) ? a : ga_vec3_load(cv->second_axis);
    if (ga_vec3_dot(a, b) < -0.999) /* 2.6 degrees from the singular position */
        return ga_element_error(setup, &joint->element, "second_axis",
                                "opposite to `axis`: the bend is half a turn");
    for (int k = 0; k < 3; ++k)
        ga_vec3_store(bend(a, b, ga_vec3_load(axes + 3 * k)), second + 3 * k);
    ga_joint_place(joint, setup, 0, origin[0], axes);
    ga_joint_place(joint, setup, 1, origin[1], second);
    return ga_joint_finish(joint, setup, &kind);
}

/* Cosine of half the bend. */
static double regularity(const void *element, const ga_element_state *state)
{
    const constant_velocity *cv = element;
    ga_pair pair;
    ga_pair_locate(&cv->joint, state, &pair);
    return sqrt(fmax(0.5 * (1 + ga_vec3_dot(pair.axis[0][2], pair.axis[1][2])), 0));
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(
        GA_SPATIAL,
        "shaft of the first body, world axes, in the position given in the model file", "z"),
    GA_FIELD(constant_velocity, DIRECTION, second_axis,
             "shaft of the second body, world axes, in the position given in the model file",
             .fallback = {NAN, NAN, NAN}, .absent = "as `axis`"),
    {0},
};
static const ga_channel_type channels[] = {GA_JOINT_CHANNELS, {0}};

const ga_element_type ga_joint_constant_velocity = {
    .name = "constant-velocity",
    .help = "Homokinetic joint: two shafts that meet in a point turn at the same speed at any "
            "bend angle.",
    .size = sizeof(constant_velocity),
    .fields = fields,
    .example = "{type: constant-velocity, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, "
               "3], second_axis: [1, 2, 2]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .regularity = regularity,
    .singular = "its shafts fold back on each other: bent by half a turn, either may turn by "
                "itself",
    .remedy = "a motion in which the bend stays below half a turn, kept by springs, dampers or "
              "limits of other joints; `spherical` if the shafts need not turn together",
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
