/* Gears and rack: two coordinates of two joints move in proportion,
 *
 *     s_2 - ratio s_1 = 0
 *
 * with ratio = radius where a pinion (angle s_1) drives a rack (displacement s_2). */
#include "element/joint.h"

#include <string.h>

typedef struct gear {
    ga_element element;
    const ga_joint *joints[2];
    const char *coordinate[2]; /* null: the only one */
    double ratio;
    int k[2];
    ga_blocks blocks[2];
} gear;

enum { GEAR_SIZE = 2 * GA_PAIR };

static bool choose(gear *g, ga_setup *setup, int i)
{
    static const char *const names[] = {"coordinate1", "coordinate2"};
    g->k[i] = ga_joint_coordinate_find(g->joints[i], g->coordinate[i]);
    if (g->k[i] < 0) {
        char text[200];
        ga_joint_coordinates_describe(g->joints[i], g->coordinate[i], text, sizeof text);
        return ga_element_error(setup, &g->element, names[i], text);
    }
    memcpy(g->element.nodes + 2 * i, g->joints[i]->element.nodes, 2 * sizeof(int));
    g->blocks[i] = ga_joint_coordinate_blocks(g->joints[i], g->k[i]);
    return true;
}

extern const ga_element_type ga_rack;

static bool prepare(void *element, ga_setup *setup)
{
    gear *g = element;
    if (g->ratio == 0)
        return ga_element_error(setup, &g->element,
                                g->element.type == &ga_rack ? "radius" : "ratio",
                                "is zero: the joints would not be coupled");
    if (!choose(g, setup, 0) || !choose(g, setup, 1)) return false;
    if (g->joints[0] == g->joints[1] && g->k[0] == g->k[1])
        return ga_element_error(
            setup, &g->element, "joints",
            "both joints name the same coordinate, expected two different ones");
    g->element.node_count = 4;
    g->element.rows = 1;
    return true;
}

static bool prepare_rack(void *element, ga_setup *setup)
{
    gear *g = element;
    if (!prepare(element, setup)) return false;
    if (!ga_joint_coordinate_type(g->joints[0], g->k[0])->angular ||
        ga_joint_coordinate_type(g->joints[1], g->k[1])->angular)
        return ga_element_error(setup, &g->element, "joints",
                                "expected the pinion's joint, with an angle, then the "
                                "rack's, with a displacement");
    return true;
}

static const char *row_name(const void *element, int k)
{
    (void)element, (void)k;
    return "transmission";
}

/* s_1 and s_2, and their factors in the row */
static void look(const gear *g, const ga_element_state *state, ga_derivative_order order,
                 ga_scalar s[2], double factor[2])
{
    for (int i = 0; i < 2; ++i) ga_joint_coordinate(g->joints[i], g->k[i], state, order, &s[i]);
    factor[0] = -g->ratio;
    factor[1] = 1;
}

static void constraint(const void *element, const ga_element_state *state, double *Phi)
{
    ga_scalar s[2];
    double factor[2];
    look(element, state, GA_ORDER_VALUE, s, factor);
    *Phi = factor[0] * s[0].value + factor[1] * s[1].value;
}

static void gradient(const void *element, const ga_element_state *state, double *B)
{
    ga_scalar s[2];
    double factor[2];
    look(element, state, GA_ORDER_GRADIENT, s, factor);
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < GA_PAIR; ++j) B[GA_PAIR * i + j] = factor[i] * s[i].g[j];
}

static void geometric(const void *element, const ga_element_state *state, const double *lambda,
                      double *K)
{
    ga_scalar s[2];
    double factor[2];
    look(element, state, GA_ORDER_SECOND, s, factor);
    for (int b = 0; b < 2; ++b)
        for (int i = 0; i < GA_PAIR; ++i)
            for (int j = 0; j < GA_PAIR; ++j)
                K[GEAR_SIZE * (GA_PAIR * b + i) + GA_PAIR * b + j] +=
                    lambda[0] * factor[b] * s[b].S[GA_PAIR * i + j];
}

static void speed_stiffness(const void *element, const ga_element_state *state, double *Z)
{
    ga_scalar s[2];
    double factor[2];
    look(element, state, GA_ORDER_SWEPT, s, factor);
    for (int b = 0; b < 2; ++b)
        for (int j = 0; j < GA_PAIR; ++j) Z[GA_PAIR * b + j] = factor[b] * s[b].swept[j];
}

static bool coupled(const void *element, int i, int j)
{
    const gear *g = element;
    return i / 4 == j / 4 && g->blocks[i / 4].S[i % 4][j % 4];
}

static void effort(const void *element, const ga_element_state *state, double *out)
{
    const gear *g = element;
    *out = -state->lambda[g->element.row];
}

static bool is_angular(const void *element)
{
    const gear *g = element;
    return ga_joint_coordinate_type(g->joints[1], g->k[1])->angular;
}

static bool is_linear(const void *element) { return !is_angular(element); }

#define EFFORT(unit_, is)                                                                      \
    {                                                                                          \
        .name = "effort", .unit = unit_,                                                       \
        .help = "generalised force along the second coordinate; along the first, -ratio "      \
                "(rack: -radius) times as much",                                               \
        .count = 1, .value = effort, .there = is                                               \
    }
static const ga_channel_type channels[] = {
    EFFORT("N m", is_angular), EFFORT("N", is_linear), {0}};

#define FIELDS                                                                                 \
    GA_FIELD_AS(gear, TEXT, coordinate[0], "coordinate1", "coordinate of the first joint",     \
                .absent = "the only one"),                                                     \
        GA_FIELD_AS(gear, TEXT, coordinate[1], "coordinate2",                                  \
                    "coordinate of the second joint", .absent = "the only one")
static const ga_field gear_fields[] = {
    GA_FIELD(gear, JOINTS, joints, "the two joints whose coordinates are coupled",
             .required = true),
    GA_FIELD(
        gear, NUMBER, ratio,
        "second coordinate divided by the first; negative if they turn in opposite directions",
        .required = true),
    FIELDS,
    {0},
};
static const ga_field rack_fields[] = {
    GA_FIELD(gear, JOINTS, joints, "joint of the pinion, joint of the rack", .required = true),
    GA_FIELD_AS(gear, NUMBER, ratio, "radius",
                "radius of the pinion; negative if the rack moves back when the pinion turns "
                "forward",
                .unit = "m", .required = true),
    FIELDS,
    {0},
};

#define FUNCTIONS                                                                              \
    .section = "joints", .size = sizeof(gear), .row_name = row_name, .constraint = constraint, \
    .gradient = gradient, .geometric = geometric, .speed_stiffness = speed_stiffness,          \
    .coupled = coupled, .channels = channels

const ga_element_type ga_gear = {
    .name = "gear",
    .help = "Couples the coordinates of two joints: the second moves `ratio` times the first.",
    .fields = gear_fields,
    .example = "{type: gear, joints: [hinge, wheel], ratio: -2}",
    .prepare = prepare,
    FUNCTIONS,
};

const ga_element_type ga_rack = {
    .name = "rack",
    .help = "Pinion and rack: a displacement is `radius` times an angle.",
    .fields = rack_fields,
    .example = "{type: rack, joints: [hinge, slider], radius: 0.2}",
    .prepare = prepare_rack,
    FUNCTIONS,
};
