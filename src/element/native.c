/* Forces computed by C functions of users.
 *
 * Where there is no tangent, central differences stand in: of step 1e-5 times the size of what
 * is varied, so that errors of round-off and of the formula are both near 1e-10 of the force.
 * Rotations vary by the exponential map.
 */
#include "element/native.h"

#include <galpha/lie.h>
#include <math.h>
#include <string.h>

bool ga_native_prepare(ga_element *element, const ga_node_list *bodies, const ga_setup *setup)
{
    if (bodies->count < 1 || bodies->count > GA_ELEMENT_MAX_NODES) {
        size_t mark = ga_reader_enter(setup->reader, "bodies");
        ga_reader_error(setup->reader, element->place, "%d bodies, expected 1 to %d",
                        bodies->count, GA_ELEMENT_MAX_NODES);
        ga_reader_leave(setup->reader, mark);
        return false;
    }
    element->node_count = bodies->count;
    for (int i = 0; i < bodies->count; ++i) {
        element->nodes[i] = bodies->nodes[i];
        for (int k = 0; k < i; ++k)
            if (element->nodes[i] == element->nodes[k])
                return ga_element_error(setup, element, "bodies", "a body is named twice");
    }
    return true;
}

ga_native_bodies ga_native_gather(const ga_element *element, const ga_element_state *state)
{
    ga_native_bodies out;
    for (int i = 0; i < element->node_count; ++i) {
        const ga_frame *frame = &state->frames[element->nodes[i]];
        memcpy(out.body[i].x, frame->x, sizeof frame->x);
        memcpy(out.body[i].R, frame->R, sizeof frame->R);
        memcpy(out.body[i].u, frame->u, sizeof frame->u);
        memcpy(out.body[i].w, frame->w, sizeof frame->w);
    }
    return out;
}

static void evaluate(const ga_native *p, double t, const ga_native_bodies *at, double *f)
{
    memset(f, 0, sizeof(double) * GA_TWIST * (size_t)p->element->node_count);
    p->force(p->self, t, at->body, f);
}

void ga_native_add_force(const ga_native *p, const ga_element_state *state, double *f)
{
    const ga_native_bodies at = ga_native_gather(p->element, state);
    double add[GA_TWIST * GA_ELEMENT_MAX_NODES];
    evaluate(p, state->t, &at, add);
    for (int k = 0; k < GA_TWIST * p->element->node_count; ++k) f[k] += add[k];
}

/* Moves one body in direction k of its variation. */
static void vary(ga_plugin_body *body, int k, double h)
{
    const ga_node node = GA_NODE(GA_GROUP_SO3, 0);
    if (k < 3) {
        for (int i = 0; i < 3; ++i) body->x[i] += h * body->R[3 * k + i];
        return;
    }
    double turn[3] = {0}, quaternion[4], Q[9], R[9];
    turn[k - 3] = h;
    ga_lie_map(node, GA_MAP_EXP, turn, quaternion);
    ga_quaternion_to_matrix(quaternion, Q);
    for (int c = 0; c < 3; ++c)
        ga_vec3_store(ga_mat3_apply(body->R, ga_vec3_load(Q + 3 * c)), R + 3 * c);
    memcpy(body->R, R, sizeof R);
}

static double *twist_entry(ga_plugin_body *body, int k)
{
    return k < 3 ? &body->u[k] : &body->w[k - 3];
}

static double size_of(const double *a)
{
    return 1 + fmax(fabs(a[0]), fmax(fabs(a[1]), fabs(a[2])));
}

/* Subtracts the difference quotient from a column. */
static void subtract_quotient(const ga_native *p, double t, const ga_native_bodies at[2],
                              double width, double *column)
{
    int n = GA_TWIST * p->element->node_count;
    double f[2][GA_TWIST * GA_ELEMENT_MAX_NODES];
    for (int side = 0; side < 2; ++side) evaluate(p, t, &at[side], f[side]);
    for (int row = 0; row < n; ++row) column[row * n] -= (f[1][row] - f[0][row]) / width;
}

void ga_native_difference(const ga_native *p, const ga_element_state *state, double *K,
                          double *C)
{
    const double relative = 1e-5;
    ga_native_bodies center = ga_native_gather(p->element, state);
    for (int i = 0; i < p->element->node_count; ++i)
        for (int k = 0; k < GA_TWIST; ++k) {
            const ga_plugin_body *body = &center.body[i];
            double h = k < 3 ? relative * size_of(body->x) : relative;
            ga_native_bodies at[2] = {center, center};
            vary(&at[0].body[i], k, -h);
            vary(&at[1].body[i], k, h);
            subtract_quotient(p, state->t, at, 2 * h, K + GA_TWIST * i + k);

            h = relative * size_of(k < 3 ? body->u : body->w);
            at[0] = at[1] = center;
            *twist_entry(&at[0].body[i], k) -= h;
            *twist_entry(&at[1].body[i], k) += h;
            subtract_quotient(p, state->t, at, 2 * h, C + GA_TWIST * i + k);
        }
}

/* --- channels ----------------------------------------------------------------------------- */

/* Forces (part 0) or moments (part 3) on all bodies, world axes. */
static void world_loads(const ga_element *element, const ga_element_state *state, int part,
                        double *out)
{
    double f[GA_TWIST * GA_ELEMENT_MAX_NODES] = {0};
    element->type->force(element, state, f);
    for (int i = 0; i < element->node_count; ++i) {
        ga_vec3 local = ga_vec3_load(f + GA_TWIST * i + part);
        ga_vec3_store(ga_mat3_apply(state->frames[element->nodes[i]].R, local), out + 3 * i);
    }
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    world_loads(element, state, 0, out);
}

static void torque_channel(const void *element, const ga_element_state *state, double *out)
{
    world_loads(element, state, 3, out);
}

static int channel_size(const void *element)
{
    return 3 * ((const ga_element *)element)->node_count;
}

const ga_channel_type ga_native_channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "forces on the bodies, in order, three numbers each, world axes",
     .value = force_channel,
     .size = channel_size},
    {.name = "torque",
     .unit = "N m",
     .help = "torques about their centres of mass, in the same way",
     .value = torque_channel,
     .size = channel_size},
    {0},
};
