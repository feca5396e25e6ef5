/* Gravity field: a uniform acceleration, or the attraction of a point in space.
 *
 *     uniform    F = m g(t, inputs)               potential -m g . x where g is constant
 *     central    F = -GM m r/|r|^3, r = x - center   potential -GM m/|r|
 *
 * acting at the center of mass, which is the origin of a body. Where g changes with time its
 * power counts as work from outside. One instance per body.
 */
#include <math.h>

#include "element/observe.h"

typedef struct gravity {
    ga_element element;
    ga_observation observation; /* of inputs */
    ga_node_list bodies;
    int body;
    ga_function *acceleration[3];
    double center[3], strength;
    /* derived */
    double mass;
    bool central, steady;
} gravity;

static const ga_field fields[] = {
    GA_FIELD(gravity, BODIES, bodies, "bodies it acts on", .absent = "all bodies"),
    GA_FIELD(gravity, FUNCTIONS, acceleration,
             "uniform acceleration; may be a function of time and inputs", .unit = "m/s^2",
             .fallback = {NAN}, .absent = "`center` and `strength` are used"),
    GA_FIELD(gravity, VECTOR, center, "centre of attraction, world", .unit = "m",
             .fallback = {NAN}, .absent = "`acceleration` is used"),
    GA_FIELD(gravity, NUMBER, strength,
             "gravitational parameter of the centre: G times its mass (acceleration times "
             "squared distance)",
             .unit = "m^3/s^2", .fallback = {NAN}, .absent = "`acceleration` is used"),
    {0},
};

static bool prepare(void *element, ga_setup *setup)
{
    gravity *g = element;
    bool uniform = g->acceleration[0] || g->acceleration[1] || g->acceleration[2];
    g->central = !isnan(g->strength);
    if (uniform && (g->central || !isnan(g->center[0])))
        return ga_element_error(
            setup, g, "acceleration",
            "cannot be combined with `center` and `strength`; give one or the other");
    if (!uniform && !g->central)
        return ga_element_error(
            setup, g, "acceleration",
            "is missing, and so are `center` and `strength`; give one or the other");
    if (g->central && isnan(g->center[0]))
        return ga_element_error(setup, g, "center", "is missing, but `strength` is given");
    g->element.node_count = 1;
    g->element.nodes[0] = g->body;
    g->mass = setup->mass[g->body];
    g->steady = true;
    for (int k = 0; k < 3; ++k)
        if (g->acceleration[k] && !ga_function_is_constant(g->acceleration[k]))
            g->steady = false;
    return true;
}

static ga_vec3 uniform_force(const gravity *g, const ga_element_state *state)
{
    const ga_loads loads = ga_loads_value(g, state);
    ga_dual a[3];
    ga_observation_evaluate(&g->observation, &loads, g->acceleration, 3, NULL, a);
    return (ga_vec3){g->mass * a[0].value, g->mass * a[1].value, g->mass * a[2].value};
}

static ga_vec3 from_center(const gravity *g, const ga_element_state *state)
{
    return ga_vec3_sub(ga_vec3_load(state->frames[g->body].x), ga_vec3_load(g->center));
}

static void attraction(const gravity *g, const ga_loads *loads, ga_dual3 *F)
{
    int n = loads->columns;
    static const double origin[3];
    ga_dual3 r, center;
    ga_dual square, factor;
    ga_loads_position(loads, 0, origin, &r);
    ga_dual3_constant(n, ga_vec3_load(g->center), &center);
    ga_dual3_axpy(n, &r, -1, &center, &r);
    ga_dual3_dot(n, &r, &r, &square);
    double s = square.value, value = -g->strength * g->mass / (s * sqrt(s));
    ga_dual_chain(n, value, -1.5 * value / s, &square, &factor);
    ga_dual3_scale(n, &factor, &r, F);
}

static void pull(const gravity *g, const ga_loads *loads, ga_dual3 *F)
{
    if (g->central)
        attraction(g, loads, F);
    else
        ga_dual3_constant(loads->columns, uniform_force(g, loads->state), F);
}

static void act(const gravity *g, ga_loads *loads)
{
    static const double origin[3];
    ga_dual3 F, x;
    pull(g, loads, &F);
    ga_loads_position(loads, 0, origin, &x);
    ga_loads_add_force(loads, 0, 1, &F, &x);
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

static double potential(const void *element, const ga_element_state *state)
{
    const gravity *g = element;
    if (g->central) {
        ga_vec3 r = from_center(g, state);
        return -g->strength * g->mass / sqrt(ga_vec3_dot(r, r));
    }
    if (!g->steady) return 0;
    return -ga_vec3_dot(uniform_force(g, state), ga_vec3_load(state->frames[g->body].x));
}

static double power(const void *element, const ga_element_state *state)
{
    const gravity *g = element;
    return g->steady ? 0 : ga_force_power(g, state);
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    ga_loads loads = ga_loads_value(element, state);
    ga_dual3 F;
    pull(element, &loads, &F);
    ga_vec3_store(F.value, out);
}

static const ga_channel_type channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "sum of the forces on its bodies, world axes",
     .count = 3,
     .value = force_channel},
    {0},
};

const ga_element_type ga_force_gravity_field = {
    .name = "gravity-field",
    .section = "forces",
    .help = "Gravity in addition to that of the model: a uniform acceleration, or attraction "
            "by a point.",
    .size = sizeof(gravity),
    .fields = fields,
    .example = "{type: gravity-field, bodies: [a, b], acceleration: [0, 0, -1.62]}",
    .planar_example = "{type: gravity-field, bodies: [a, b], acceleration: [0, -1.62]}",
    .per_body = true,
    .body_at = offsetof(gravity, body),
    .observation_at = offsetof(gravity, observation),
    .inputs_only = true,
    .prepare = prepare,
    .force = force,
    .tangent = tangent,
    .potential = potential,
    .power = power,
    .channels = channels,
};
