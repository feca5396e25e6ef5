/* Cardan joint: a cross turns about an axis of the first body, the second body about the other
 * arm of the cross.
 *
 *     E_k . d = 0,  -a_z . b_x = 0
 *
 * a_z is the arm held by the first body (`axis`), b_x the one held by the second
 * (`second_axis`). angle1: of b_x about a_z, from the first body to the cross; angle2: from the
 * cross to the second body, about b_x. */
#include "element/joint.h"

typedef struct universal {
    ga_joint joint;
    double second_axis[3];
} universal;

static void cross(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_dot(pair, 2, 0, order, s);
    ga_scalar_sum(-1, s, 0, s, order, s);
}

static void first_angle(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar x;
    ga_scalar_dot(pair, 0, 0, order, &x);
    ga_scalar_dot(pair, 1, 0, order, s);
    ga_scalar_angle(&x, s, order, s);
}

static void second_angle(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar x;
    ga_scalar_dot(pair, 2, 2, order, &x);
    ga_scalar_dot(pair, 2, 1, order, s);
    ga_scalar_angle(&x, s, order, s);
}

static const ga_joint_kind kind = {
    .row = {GA_ROW_WORLD_X,
            GA_ROW_WORLD_Y,
            GA_ROW_WORLD_Z,
            {.name = "rotation about y", .scalar = cross, .form = {GA_FORM_DOT, 2, 0, -1}}},
    .coordinate = {{.name = "angle1",
                    .scalar = first_angle,
                    .angular = true,
                    .transverse = true,
                    .axial = true},
                   {.name = "angle2",
                    .scalar = second_angle,
                    .angular = true,
                    .transverse = true,
                    .axial = true}},
};

static bool prepare(void *element, ga_setup *setup)
{
    universal *u = element;
    ga_joint *joint = &u->joint;
    double origin[2][3], axes[9];
    if (!ga_joint_origins(joint, setup, &kind, origin)) return false;
    ga_joint_axes_default(&kind, setup->dimension, joint->axis, axes);
    if (!isnan(u->second_axis[0])) {
        const double cosine =
            ga_vec3_dot(ga_vec3_load(u->second_axis), ga_vec3_load(joint->axis));
        if (fabs(cosine) > 1e-6) /* what decimal digits in a file leave */
            return ga_element_error(setup, &joint->element, "second_axis",
                                    "not perpendicular to `axis`");
        ga_joint_axes(joint->axis, u->second_axis, axes);
    }
    for (int k = 0; k < 2; ++k) ga_joint_place(joint, setup, k, origin[k], axes);
    return ga_joint_finish(joint, setup, &kind);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(GA_SPATIAL,
                        "axis of the cross fixed in the first body, world axes, in the "
                        "position given in the model file",
                        "z"),
    GA_FIELD(universal, DIRECTION, second_axis,
             "axis of the cross fixed in the second body, world axes, in the position given in "
             "the model file, perpendicular to `axis`",
             .fallback = {NAN, NAN, NAN},
             .absent = "perpendicular to `axis`, close to x, or to y if `axis` is close to x"),
    GA_JOINT_FIELD_GROUP(0, "angle1", _angular),
    GA_JOINT_FIELD_GROUP(1, "angle2", _angular),
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS,
    GA_JOINT_COORDINATE(0, "angle1", "angle1_rate", "angle1_effort", "N m", "rad"),
    GA_JOINT_COORDINATE(1, "angle2", "angle2_rate", "angle2_effort", "N m", "rad"),
    {0}};

const ga_element_type ga_joint_universal = {
    .name = "universal",
    .help = "Cardan joint: two shafts connected by a cross, one axis of which is fixed in "
            "each. The normal force of friction at both axes is the sum of the reactions "
            "across and along `axis`.",
    .size = sizeof(universal),
    .fields = fields,
    .example = "{type: universal, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 2], "
               "second_axis: [2, 1, -2]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
