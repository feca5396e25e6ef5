/* Torsion spring and damper between two bodies, about an axis.
 *
 * Both bodies carry axes (a_x, a_y, a_z), (b_x, b_y, b_z), the same at t = 0, the third along
 * `axis`. The angle is the twist of b relative to a:
 *
 *     s = a_y . b_x - a_x . b_y,   c = a_x . b_x + a_y . b_y,   angle = atan2(s, c)
 *
 * With a joint that keeps the axis it is the angle of the joint. Without, it is the twist that
 * is left when the relative rotation is split into a tilt and a twist, defined until the axes
 * point in opposite directions. Its variation is h . (rotation of b - rotation of a) with
 *
 *     h = (s (a_x x b_x + a_y x b_y) - c (a_y x b_x - a_x x b_y))/(s^2 + c^2)
 *
 * which is the axis where that is kept. The torque tau = preload + k (angle - rest) + c rate
 * acts by -tau h on b and by tau h on a: derived from a potential whatever the axis does.
 *
 * Full turns are counted: memory holds the last committed angle, its rate and time.
 */
#include <math.h>
#include <string.h>

#include "element/observe.h"

typedef struct torsion {
    ga_element element;
    ga_anchor between[2];
    double axis[3];
    double stiffness, damping, angle, preload;
    double axes[2][2][3]; /* x and y on both bodies, in their axes */
} torsion;

static const ga_field fields[] = {
    GA_FIELD(torsion, PAIR, between, "the two bodies", .required = true),
    GA_FIELD(torsion, DIRECTION, axis,
             "axis, world axes, in the position given in the model file", .required = true,
             .where = GA_SPATIAL),
    GA_FIELD(torsion, NUMBER, stiffness, "stiffness", .unit = "N m/rad"),
    GA_FIELD(torsion, NUMBER, damping, "damping", .unit = "N m s/rad",
             .range = GA_NOT_NEGATIVE),
    GA_FIELD(torsion, NUMBER, angle,
             "free angle of the spring, measured from the position given in the model file",
             .unit = "rad"),
    GA_FIELD(torsion, NUMBER, preload, "torque at the free angle", .unit = "N m"),
    {0},
};

/* Two directions normal to a unit vector z, with x x y = z. */
static void complete(ga_vec3 z, ga_vec3 *x, ga_vec3 *y)
{
    ga_vec3 other = fabs(z.x) < 0.6 ? (ga_vec3){1, 0, 0} : (ga_vec3){0, 1, 0};
    *x = ga_vec3_axpy(other, -ga_vec3_dot(other, z), z);
    *x = ga_vec3_scale(1 / sqrt(ga_vec3_dot(*x, *x)), *x);
    *y = ga_vec3_cross(z, *x);
}

static bool prepare(void *element, ga_setup *setup)
{
    torsion *s = element;
    if (!ga_element_between(setup, s, s->between) ||
        !ga_element_check_spring(setup, s, s->stiffness, s->damping))
        return false;
    for (int k = 0; k < 2; ++k)
        if (!ga_setup_turns(setup, s->element.nodes[k]))
            ga_element_warning(setup, s, "between",
                               "one of the two is a point mass, which has no rotation, so the "
                               "spring acts against the rotation of the other in space; use a "
                               "rigid body with inertia");
    ga_vec3 z = setup->dimension == 2 ? (ga_vec3){0, 0, 1} : ga_vec3_load(s->axis);
    ga_vec3 axis[2];
    complete(z, &axis[0], &axis[1]);
    for (int k = 0; k < 2; ++k) {
        double world[3];
        ga_vec3_store(axis[k], world);
        for (int i = 0; i < 2; ++i)
            ga_setup_local_direction(setup, s->element.nodes[i], world, s->axes[i][k]);
    }
    s->element.memory_count = GA_TURN_MEMORY;
    return true;
}

/* The angle between -pi and pi, its rate, and h. */
static void measure_twist(const torsion *s, const ga_loads *loads, ga_dual *angle,
                          ga_dual *rate, ga_dual3 *h)
{
    int n = loads->columns;
    ga_dual3 axis[2][2], part, other;
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 2; ++k) ga_loads_direction(loads, i, s->axes[i][k], &axis[i][k]);

    ga_dual sine, cosine, term, weight;
    ga_dual3_dot(n, &axis[0][1], &axis[1][0], &sine);
    ga_dual3_dot(n, &axis[0][0], &axis[1][1], &term);
    ga_dual_axpy(n, &sine, -1, &term, &sine);
    ga_dual3_dot(n, &axis[0][0], &axis[1][0], &cosine);
    ga_dual3_dot(n, &axis[0][1], &axis[1][1], &term);
    ga_dual_axpy(n, &cosine, 1, &term, &cosine);

    double s2 = sine.value * sine.value + cosine.value * cosine.value;
    angle->value = atan2(sine.value, cosine.value);
    for (int j = 0; j < n; ++j)
        angle->d[j] = (cosine.value * sine.d[j] - sine.value * cosine.d[j]) / s2;

    ga_dual_product(n, &sine, &sine, &weight);
    ga_dual_product(n, &cosine, &cosine, &term);
    ga_dual_axpy(n, &weight, 1, &term, &weight);
    ga_dual_chain(n, 1 / s2, -1 / (s2 * s2), &weight, &weight);

    ga_dual3_cross(n, &axis[0][0], &axis[1][0], &part);
    ga_dual3_cross(n, &axis[0][1], &axis[1][1], &other);
    ga_dual3_axpy(n, &part, 1, &other, &part);
    ga_dual3_scale(n, &sine, &part, h);
    ga_dual3_cross(n, &axis[0][0], &axis[1][1], &part);
    ga_dual3_cross(n, &axis[0][1], &axis[1][0], &other);
    ga_dual3_axpy(n, &part, -1, &other, &part);
    ga_dual3_add_scaled(n, &cosine, &part, h);
    ga_dual3_scale(n, &weight, h, h);

    ga_loads_angular_velocity(loads, 0, &other);
    ga_loads_angular_velocity(loads, 1, &part);
    ga_dual3_axpy(n, &part, -1, &other, &part);
    ga_dual3_dot(n, h, &part, rate);
}

/* With turns counted. */
static void measure_angle(const torsion *s, const ga_loads *loads, ga_dual *angle,
                          ga_dual *rate, ga_dual3 *h)
{
    measure_twist(s, loads, angle, rate, h);
    const ga_element_state *state = loads->state;
    if (state->memory)
        angle->value = ga_turn_unwrap(state->memory + s->element.memory, state->t, angle->value,
                                      rate->value);
}

static void act(const torsion *s, ga_loads *loads)
{
    int n = loads->columns;
    ga_dual angle, rate, tau;
    ga_dual3 torque;
    measure_angle(s, loads, &angle, &rate, &torque);
    ga_dual_constant(n, s->preload - s->stiffness * s->angle, &tau);
    ga_dual_axpy(n, &tau, s->stiffness, &angle, &tau);
    ga_dual_axpy(n, &tau, s->damping, &rate, &tau);
    ga_dual3_scale(n, &tau, &torque, &torque);
    ga_loads_add_torque(loads, 0, 1, &torque);
    ga_loads_add_torque(loads, 1, -1, &torque);
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    ga_loads loads = ga_loads_force(element, state, f);
    act(element, &loads);
}

static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    ga_loads loads = ga_loads_tangent(element, state, K, C);
    act(element, &loads);
}

typedef struct reading {
    double angle, rate;
} reading;

static reading read(const torsion *s, const ga_element_state *state)
{
    ga_loads loads = ga_loads_value(s, state);
    ga_dual angle, rate;
    ga_dual3 h;
    measure_angle(s, &loads, &angle, &rate, &h);
    return (reading){angle.value, rate.value};
}

static double potential(const void *element, const ga_element_state *state)
{
    const torsion *s = element;
    double twist = read(s, state).angle - s->angle;
    return s->stiffness * twist * twist / 2 + s->preload * twist;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    const torsion *s = element;
    double rate = read(s, state).rate;
    return s->damping * rate * rate;
}

static void remember(const void *element, const ga_element_state *state, double *memory)
{
    ga_loads loads = ga_loads_value(element, state);
    ga_dual angle, rate;
    ga_dual3 h;
    measure_twist(element, &loads, &angle, &rate, &h);
    ga_turn_commit(memory, state->t, angle.value, rate.value);
}

static void commit(const void *element, const ga_element_state *state, double *memory)
{
    reading r = read(element, state);
    ga_turn_commit(memory, state->t, r.angle, r.rate);
}

static void torque_channel(const void *element, const ga_element_state *state, double *out)
{
    const torsion *s = element;
    reading r = read(s, state);
    *out = s->preload + s->stiffness * (r.angle - s->angle) + s->damping * r.rate;
}

static void angle_channel(const void *element, const ga_element_state *state, double *out)
{
    *out = read(element, state).angle;
}

static void rate_channel(const void *element, const ga_element_state *state, double *out)
{
    *out = read(element, state).rate;
}

static void angle_measure(const void *element, const ga_loads *loads, ga_dual *out)
{
    ga_dual rate;
    ga_dual3 h;
    measure_angle(element, loads, out, &rate, &h);
}

static void rate_measure(const void *element, const ga_loads *loads, ga_dual *out)
{
    ga_dual angle;
    ga_dual3 h;
    measure_twist(element, loads, &angle, out, &h);
}

/* No tilt: the relative rotation has no part normal to the axis of the first body. */
static int assumed(const void *element, const ga_element_state *state, double *rows)
{
    const torsion *s = element;
    const double *R[2] = {state->frames[s->element.nodes[0]].R,
                          state->frames[s->element.nodes[1]].R};
    memset(rows, 0, 4 * GA_TWIST * sizeof *rows);
    for (int k = 0; k < 2; ++k) {
        double *row = rows + 2 * GA_TWIST * k;
        const ga_vec3 first = ga_vec3_load(s->axes[0][k]);
        const ga_vec3 second =
            ga_mat3_apply_transposed(R[1], ga_mat3_apply(R[0], first)); /* in its axes */
        ga_vec3_store(ga_vec3_scale(-1, first), row + 3);
        ga_vec3_store(second, row + GA_TWIST + 3);
    }
    return 2;
}

/* Half of 1 + the cosine of the tilt: 0 where the axes are opposite. */
static double regularity(const void *element, const ga_element_state *state)
{
    const torsion *s = element;
    ga_vec3 z[2];
    for (int i = 0; i < 2; ++i) {
        const ga_vec3 x = ga_vec3_load(s->axes[i][0]), y = ga_vec3_load(s->axes[i][1]);
        z[i] = ga_mat3_apply(state->frames[s->element.nodes[i]].R, ga_vec3_cross(x, y));
    }
    return 0.5 * (1 + ga_vec3_dot(z[0], z[1]));
}

static const ga_measure measures[] = {
    {"angle", offsetof(torsion, between), angle_measure},
    {"rate", offsetof(torsion, between), rate_measure},
    {0},
};

static const ga_channel_type channels[] = {
    {.name = "torque",
     .unit = "N m",
     .help = "torque of spring and damper, positive where the second body is turned beyond the "
             "free angle; it acts about the axis on the first body, and opposite on the second",
     .count = 1,
     .value = torque_channel},
    {.name = "angle",
     .unit = "rad",
     .help = "angle of the second body relative to the first, 0 in the position given in the "
             "model file, "
             "full turns counted",
     .count = 1,
     .value = angle_channel},
    {.name = "rate",
     .unit = "rad/s",
     .help = "rate of the angle",
     .count = 1,
     .value = rate_channel},
    {0},
};

const ga_element_type ga_force_torsion_spring = {
    .name = "torsion-spring",
    .section = "forces",
    .help = "Torsion spring and damper between two bodies, about an axis fixed by a joint.",
    .size = sizeof(torsion),
    .fields = fields,
    .example =
        "{type: torsion-spring, between: [a, b], axis: [1, 2, 3], stiffness: 5, damping: 0.3}",
    .planar_example = "{type: torsion-spring, between: [a, b], stiffness: 5, damping: 0.3}",
    .prepare = prepare,
    .force = force,
    .tangent = tangent,
    .potential = potential,
    .dissipation = dissipation,
    .remember = remember,
    .commit = commit,
    .assumed = assumed,
    .assumption = "no joint fixes its axis: the two bodies can tilt relative to each other",
    .regularity = regularity,
    .singular =
        "its axes on the two bodies point in opposite directions, so its angle is undefined",
    .remedy = "a joint that fixes the axis",
    .channels = channels,
    .measures = measures,
};
