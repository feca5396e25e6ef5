/* Forces and torques from outside: functions of time and of what the model does.
 *
 *     force    F at a point of a body
 *     torque   T on a body
 *     user     both
 *
 * In world axes, or in those of the body they act on: F = R F_body. A second body may take the
 * opposite, at the same point in space, so that the two leave the momentum of the model alone.
 */

#include <math.h>

#include "element/observe.h"

enum { frame_world, frame_body };

typedef struct applied {
    ga_element element;
    ga_observation observation;
    ga_anchor on;
    int against;
    int frame;
    ga_function *force[3], *torque[3];
} applied;

static const char *const frames[] = {"world", "body", NULL};

#define AGAINST                                                                                \
    GA_FIELD(applied, BODY, against,                                                           \
             "body that receives the opposite force and torque, at the same point in space",   \
             .fallback = {GA_GROUND}, .absent = "no body")
#define FRAME                                                                                  \
    GA_FIELD(applied, CHOICE, frame,                                                           \
             "axes in which the components are given: world, or those of the body",            \
             .choices = frames)
#define ON_POINT GA_FIELD(applied, POINT, on, "point of application", .required = true)

static const ga_field force_fields[] = {
    ON_POINT,
    GA_FIELD(applied, FUNCTIONS, force, "components of the force", .unit = "N",
             .required = true),
    FRAME,
    AGAINST,
    {0},
};

static const ga_field torque_fields[] = {
    GA_FIELD_AS(applied, BODY, on.node, "on", "body it acts on", .required = true),
    GA_FIELD(applied, FUNCTIONS, torque, "components of the torque", .unit = "N m",
             .required = true, .where = GA_SPATIAL),
    GA_FIELD_AS(applied, FUNCTION, torque[2], "torque", "torque, positive anticlockwise",
                .unit = "N m", .required = true, .where = GA_PLANAR),
    FRAME,
    AGAINST,
    {0},
};

static const ga_field user_fields[] = {
    ON_POINT,
    GA_FIELD(applied, FUNCTIONS, force, "components of the force", .unit = "N",
             .fallback = {NAN}, .absent = "no force"),
    GA_FIELD(applied, FUNCTIONS, torque, "components of the torque", .unit = "N m",
             .fallback = {NAN}, .absent = "no torque", .where = GA_SPATIAL),
    GA_FIELD_AS(applied, FUNCTION, torque[2], "torque", "torque, positive anticlockwise",
                .unit = "N m", .fallback = {NAN}, .absent = "no torque", .where = GA_PLANAR),
    FRAME,
    AGAINST,
    {0},
};

static bool given(ga_function *const functions[3])
{
    return functions[0] || functions[1] || functions[2];
}

static bool prepare(void *element, ga_setup *setup)
{
    applied *a = element;
    if (a->on.node == GA_GROUND)
        return ga_element_error(setup, a, "on", "is on ground, expected a body");
    if (a->against == a->on.node)
        return ga_element_error(setup, a, "against",
                                "is the body the force acts on; expected another one");
    if (!given(a->force) && !given(a->torque))
        return ga_element_error(setup, a, "force", "neither force nor torque is given");
    const int nodes[2] = {a->on.node, a->against};
    for (int k = 0; k < 2; ++k)
        if (given(a->torque) && !ga_setup_turns(setup, nodes[k]))
            return ga_element_error(setup, a, k ? "against" : "on",
                                    "is a point mass, which has no rotation, so a torque has "
                                    "no effect on it; expected a rigid body");
    a->element.nodes[0] = a->on.node;
    a->element.nodes[1] = a->against;
    a->element.node_count = a->against == GA_GROUND ? 1 : 2;
    return ga_observation_prepare(&a->observation, setup, a);
}

/* The vector in world axes. */
static void vector(const applied *a, const ga_loads *loads, ga_function *const functions[3],
                   ga_dual3 *out)
{
    int n = loads->columns;
    ga_dual components[3];
    ga_observation_evaluate(&a->observation, loads, functions, 3, NULL, components);
    if (a->frame == frame_world) {
        ga_dual3_join(n, components, out);
        return;
    }
    ga_dual3_constant(n, (ga_vec3){0, 0, 0}, out);
    for (int k = 0; k < 3; ++k) {
        const double axis[3] = {k == 0, k == 1, k == 2};
        ga_dual3 direction;
        ga_loads_direction(loads, 0, axis, &direction);
        ga_dual3_add_scaled(n, &components[k], &direction, out);
    }
}

static void act(const applied *a, ga_loads *loads)
{
    bool pair = a->against != GA_GROUND;
    ga_dual3 load;
    if (given(a->force)) {
        ga_dual3 point;
        vector(a, loads, a->force, &load);
        ga_loads_position(loads, 0, a->on.p, &point);
        ga_loads_add_force(loads, 0, 1, &load, &point);
        if (pair) ga_loads_add_force(loads, 1, -1, &load, &point);
    }
    if (given(a->torque)) {
        vector(a, loads, a->torque, &load);
        ga_loads_add_torque(loads, 0, 1, &load);
        if (pair) ga_loads_add_torque(loads, 1, -1, &load);
    }
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

static void remember(const void *element, const ga_element_state *state, double *memory)
{
    ga_observation_remember(&((const applied *)element)->observation, element, state, memory);
}

static void commit(const void *element, const ga_element_state *state, double *memory)
{
    ga_observation_commit(&((const applied *)element)->observation, element, state, memory);
}

static void channel(const applied *a, const ga_element_state *state,
                    ga_function *const functions[3], double *out)
{
    ga_loads loads = ga_loads_value(a, state);
    ga_dual3 value;
    vector(a, &loads, functions, &value);
    ga_vec3_store(value.value, out);
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    const applied *a = element;
    channel(a, state, a->force, out);
}

static void torque_channel(const void *element, const ga_element_state *state, double *out)
{
    const applied *a = element;
    channel(a, state, a->torque, out);
}

static bool has_force(const void *element) { return given(((const applied *)element)->force); }

static bool has_torque(const void *element)
{
    return given(((const applied *)element)->torque);
}

static const ga_channel_type channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "force on the body, world axes",
     .count = 3,
     .value = force_channel,
     .there = has_force},
    {.name = "torque",
     .unit = "N m",
     .help = "torque on the body, world axes",
     .count = 3,
     .value = torque_channel,
     .there = has_torque,
     .axial = true},
    {0},
};

#define APPLIED                                                                                \
    .section = "forces", .size = sizeof(applied), .prepare = prepare, .force = force,          \
    .tangent = tangent, .remember = remember, .commit = commit, .channels = channels,          \
    .observation_at = offsetof(applied, observation)

const ga_element_type ga_force_force = {
    .name = "force",
    .help = "Force at a point of a body. Its components are functions of time and of channels.",
    .fields = force_fields,
    .example = "{type: force, on: a.p, force: [1, 0, -5]}",
    .planar_example = "{type: force, on: a.p, force: [1, -5]}",
    APPLIED,
};

const ga_element_type ga_force_torque = {
    .name = "torque",
    .help = "Torque on a body. Its components are functions of time and of channels.",
    .fields = torque_fields,
    .example = "{type: torque, on: a, torque: [0, 2, 1]}",
    .planar_example = "{type: torque, on: a, torque: 2}",
    APPLIED,
};

const ga_element_type ga_force_user = {
    .name = "user",
    .help = "Force and torque on a body as expressions of time and channels, such as "
            "\"-c*top.velocity.x\", \"hinge.angle\" or \"spring.length\".",
    .fields = user_fields,
    .example = "{type: user, on: a.p, frame: body, force: [1, \"-2*hinge.rate\", 0], torque: "
               "[\"cos(t)\", 0, hinge.angle]}",
    .planar_example = "{type: user, on: a.p, frame: body, force: [1, \"-2*hinge.rate\"], "
                      "torque: hinge.angle}",
    APPLIED,
};
