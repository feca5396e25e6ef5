/* A coordinate s of a joint follows a function of time and of inputs:
 *
 *     value      s - f(t) = 0     holonomic
 *     velocity   s' - f(t) = 0    nonholonomic
 */
#include "element/joint.h"
#include "element/observe.h"

#include <string.h>

typedef struct motion {
    ga_element element;
    const ga_joint *joint;
    ga_observation observation; /* of inputs */
    const char *coordinate;     /* null: the only one */
    ga_function *value, *velocity;
    int k;
    ga_blocks blocks;
} motion;

static const ga_function *driver(const motion *m) { return m->value ? m->value : m->velocity; }

static bool prepare(void *element, ga_setup *setup)
{
    motion *m = element;
    ga_element *e = &m->element;
    if (!m->value == !m->velocity)
        return ga_element_error(setup, e, "value",
                                m->value ? "give either `value` or `velocity`, not both"
                                         : "neither `value` nor `velocity` is given");
    m->k = ga_joint_coordinate_find(m->joint, m->coordinate);
    if (m->k < 0) {
        char text[200];
        ga_joint_coordinates_describe(m->joint, m->coordinate, text, sizeof text);
        return ga_element_error(setup, e, "coordinate", text);
    }
    e->node_count = 2;
    memcpy(e->nodes, m->joint->element.nodes, 2 * sizeof *e->nodes);
    e->rows = m->value ? 1 : 0;
    e->speed_rows = m->velocity ? 1 : 0;
    /* A constant velocity drives too: it does work. */
    e->rheonomic = m->velocity || !ga_function_is_constant(m->value);
    m->blocks = ga_joint_coordinate_blocks(m->joint, m->k);
    return true;
}

static const char *row_name(const void *element, int k)
{
    (void)k;
    const motion *m = element;
    return ga_joint_coordinate_type(m->joint, m->k)->name;
}

/* f, f', f'' at the time of a state */
static void drive_at(const motion *m, const ga_element_state *state, double f[3])
{
    ga_observation_rates(&m->observation, state, driver(m), f);
}

static void constraint(const void *element, const ga_element_state *state, double *Phi)
{
    const motion *m = element;
    ga_scalar s;
    double f[3];
    ga_joint_coordinate(m->joint, m->k, state, GA_ORDER_VALUE, &s);
    drive_at(m, state, f);
    *Phi = s.value - f[0];
}

static void gradient(const void *element, const ga_element_state *state, double *B)
{
    const motion *m = element;
    ga_scalar s;
    ga_joint_coordinate(m->joint, m->k, state, GA_ORDER_GRADIENT, &s);
    memcpy(B, s.g, sizeof s.g);
}

static void geometric(const void *element, const ga_element_state *state, const double *lambda,
                      double *K)
{
    const motion *m = element;
    ga_scalar s;
    ga_joint_coordinate(m->joint, m->k, state, GA_ORDER_SECOND, &s);
    for (int i = 0; i < GA_PAIR * GA_PAIR; ++i) K[i] += lambda[0] * s.S[i];
}

static void speed_stiffness(const void *element, const ga_element_state *state, double *Z)
{
    const motion *m = element;
    ga_scalar s;
    ga_joint_coordinate(m->joint, m->k, state, GA_ORDER_SWEPT, &s);
    memcpy(Z, s.swept, sizeof s.swept);
}

static void rate(const void *element, const ga_element_state *state, double *Phi_t)
{
    double f[3];
    drive_at(element, state, f);
    *Phi_t = -f[1];
}

static void rate_rate(const void *element, const ga_element_state *state, double *out)
{
    double f[3];
    drive_at(element, state, f);
    *out = -f[2];
}

static void speed(const void *element, const ga_element_state *state, double *k)
{
    const motion *m = element;
    double f[3];
    drive_at(m, state, f);
    *k = ga_joint_rate(m->joint, m->k, state) - f[0];
}

static void speed_geometric(const void *element, const ga_element_state *state,
                            const double *psi, double *K, double *C)
{
    (void)C;
    geometric(element, state, psi, K);
}

static bool coupled(const void *element, int i, int j)
{
    const motion *m = element;
    return m->blocks.S[i][j];
}

/* --- channels ------------------------------------------------------------------------------
 */

static void value_now(const void *element, const ga_element_state *state, double *out)
{
    const motion *m = element;
    ga_scalar s;
    ga_joint_coordinate(m->joint, m->k, state, GA_ORDER_VALUE, &s);
    *out = s.value;
}

static void rate_now(const void *element, const ga_element_state *state, double *out)
{
    const motion *m = element;
    *out = ga_joint_rate(m->joint, m->k, state);
}

static void effort(const void *element, const ga_element_state *state, double *out)
{
    const motion *m = element;
    *out = m->value ? -state->lambda[m->element.row] : -state->psi[m->element.speed_row];
}

static void power(const void *element, const ga_element_state *state, double *out)
{
    double Q, v;
    effort(element, state, &Q);
    rate_now(element, state, &v);
    *out = Q * v;
}

static bool is_angular(const void *element)
{
    const motion *m = element;
    return ga_joint_coordinate_type(m->joint, m->k)->angular;
}

static bool is_linear(const void *element) { return !is_angular(element); }

#define COORDINATE_CHANNELS(kind, force, length, is)                                           \
    {.name = "effort",                                                                         \
     .unit = force,                                                                            \
     .help = "generalised force of the drive along the coordinate (" kind ")",                 \
     .count = 1,                                                                               \
     .value = effort,                                                                          \
     .there = is},                                                                             \
        {.name = "value",                                                                      \
         .unit = length,                                                                       \
         .help = "the coordinate (" kind ")",                                                  \
         .count = 1,                                                                           \
         .value = value_now,                                                                   \
         .there = is},                                                                         \
    {                                                                                          \
        .name = "rate", .unit = length "/s", .help = "its rate", .count = 1,                   \
        .value = rate_now, .there = is                                                         \
    }
static const ga_channel_type channels[] = {
    COORDINATE_CHANNELS("a displacement", "N", "m", is_linear),
    COORDINATE_CHANNELS("an angle", "N m", "rad", is_angular),
    {.name = "power", .unit = "W", .help = "effort times rate", .count = 1, .value = power},
    {0}};

static const ga_field fields[] = {
    GA_FIELD(motion, JOINT, joint, "joint whose coordinate is driven", .required = true),
    GA_FIELD(motion, TEXT, coordinate, "coordinate of the joint", .absent = "the only one"),
    GA_FIELD(motion, FUNCTION, value,
             "the coordinate as a function of time; this or `velocity` is required"),
    GA_FIELD(motion, FUNCTION, velocity, "its rate as a function of time, instead of `value`"),
    {0},
};

const ga_element_type ga_motion = {
    .name = "motion",
    .section = "motions",
    .help =
        "Prescribes a coordinate of a joint: its value or its velocity as a function of time.",
    .size = sizeof(motion),
    .fields = fields,
    .example = "{joint: hinge, value: \"0.5*sin(2*t)\"}",
    .prepare = prepare,
    .row_name = row_name,
    .constraint = constraint,
    .gradient = gradient,
    .geometric = geometric,
    .speed_stiffness = speed_stiffness,
    .rate = rate,
    .rate_rate = rate_rate,
    .speed = speed,
    .speed_gradient = gradient,
    .speed_speed_stiffness = speed_stiffness,
    .speed_geometric = speed_geometric,
    .speed_rate = rate,
    .coupled = coupled,
    .channels = channels,
    .observation_at = offsetof(motion, observation),
    .inputs_only = true,
};
