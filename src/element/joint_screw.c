/* Nut on a bolt: the second body turns about an axis of the first and moves by `pitch` along it
 * for each turn. Coordinate: the angle, turns counted.
 *
 *     a_x . d = 0,  a_y . d = 0,  -a_y . b_z = 0,  a_x . b_z = 0
 *     displacement - pitch/(2 pi) angle = 0
 */
#include "element/joint.h"

typedef struct screw {
    ga_joint joint;
    double pitch;
    double start; /* a_z . d at t = 0 */
} screw;

static const double two_pi = 6.283185307179586476925286766559;

static void advance(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    const screw *bolt = (const screw *)pair->joint;
    ga_scalar angle;
    ga_pair_coordinate(pair, 0, order, &angle);
    ga_along_z(pair, order, s);
    s->value -= bolt->start;
    ga_scalar_sum(1, s, -bolt->pitch / two_pi, &angle, order, s);
}

static const ga_joint_kind kind = {
    .row = {GA_ROW_ALONG_X,
            GA_ROW_ALONG_Y,
            GA_ROW_TILT_X,
            GA_ROW_TILT_Y,
            {.name = "advance along z", .scalar = advance}},
    .coordinate = {{.name = "angle",
                    .scalar = ga_angle,
                    .angular = true,
                    .transverse = true,
                    .axial = true}},
};

static bool prepare(void *element, ga_setup *setup)
{
    screw *bolt = element;
    if (bolt->pitch == 0)
        return ga_element_error(setup, &bolt->joint.element, "pitch",
                                "is zero; use a `revolute` joint");
    if (!ga_joint_prepare(&bolt->joint, setup, &kind)) return false;
    const ga_element_state start = {.frames = setup->frames};
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(&bolt->joint, &start, &pair);
    ga_along_z(&pair, GA_ORDER_VALUE, &s);
    bolt->start = s.value;
    return true;
}

static void displacement(const void *element, const ga_element_state *state, double *out)
{
    const screw *bolt = element;
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(&bolt->joint, state, &pair);
    ga_along_z(&pair, GA_ORDER_VALUE, &s);
    *out = s.value - bolt->start;
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_JOINT_FIELD_AXIS(
        GA_SPATIAL, "axis of the screw, world axes, in the position given in the model file",
        "z"),
    GA_FIELD(screw, NUMBER, pitch, "advance per turn, negative for a left-handed screw",
             .unit = "m", .required = true),
    GA_JOINT_FIELDS_ANGULAR,
    {0},
};
static const ga_channel_type channels[] = {
    GA_JOINT_CHANNELS,
    GA_JOINT_COORDINATE(0, "angle", "rate", "effort", "N m", "rad"),
    {.name = "displacement",
     .unit = "m",
     .help = "displacement along the axis, 0 in the position given in the model file",
     .count = 1,
     .value = displacement},
    {0}};

const ga_element_type ga_joint_screw = {
    .name = "screw",
    .help = "Nut on a bolt: the second body turns about an axis of the first and advances "
            "along it by `pitch` per turn. The normal force of friction is the sum of the "
            "reactions across and along the axis.",
    .size = sizeof(screw),
    .fields = fields,
    .example =
        "{type: screw, between: [a, b], at: [0.3, 0.2, 0.1], axis: [1, 2, 3], pitch: 0.05}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .channels = channels,
    GA_JOINT_FUNCTIONS,
};
