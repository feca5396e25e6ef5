/* Markers, rows and coordinates of joints: everything that is the same for all of them. */
#include "element/joint.h"

#include <stdio.h>
#include <string.h>

/* --- functions of two markers --------------------------------------------------------------
 */

static ga_vec3 held(const ga_pair *pair, int k) { return ga_vec3_load(pair->joint->E + 3 * k); }

void ga_world_x(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_world(pair, held(pair, 0), order, s);
}

void ga_world_y(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_world(pair, held(pair, 1), order, s);
}

void ga_world_z(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_world(pair, held(pair, 2), order, s);
}

void ga_along_x(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_along(pair, 0, order, s);
}

void ga_along_y(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_along(pair, 1, order, s);
}

void ga_along_z(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_along(pair, 2, order, s);
}

/* (Q_kj - Q_jk)/2 for i, j, k in cyclic order */
static void turn(const ga_pair *pair, int i, ga_derivative_order order, ga_scalar *s)
{
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    ga_scalar other;
    ga_scalar_dot(pair, k, j, order, s);
    ga_scalar_dot(pair, j, k, order, &other);
    ga_scalar_sum(0.5, s, -0.5, &other, order, s);
}

void ga_turn_x(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    turn(pair, 0, order, s);
}
void ga_turn_y(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    turn(pair, 1, order, s);
}
void ga_turn_z(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    turn(pair, 2, order, s);
}

void ga_tilt_x(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_dot(pair, 1, 2, order, s);
    ga_scalar_sum(-1, s, 0, s, order, s);
}

void ga_tilt_y(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar_dot(pair, 0, 2, order, s);
}

/* The angle of (Q_xx + Q_yy, Q_yx - Q_xy) */
void ga_angle(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    ga_scalar x, other;
    ga_scalar_dot(pair, 0, 0, order, &x);
    ga_scalar_dot(pair, 1, 1, order, &other);
    ga_scalar_sum(1, &x, 1, &other, order, &x);
    ga_scalar_dot(pair, 1, 0, order, s);
    ga_scalar_dot(pair, 0, 1, order, &other);
    ga_scalar_sum(1, s, -1, &other, order, s);
    ga_scalar_angle(&x, s, order, s);
}

/* --- evaluation ----------------------------------------------------------------------------
 */

static void locate(const ga_joint *joint, const ga_frame *first, const ga_frame *second,
                   ga_pair *pair)
{
    pair->joint = joint;
    pair->frame[0] = first;
    pair->frame[1] = second;
    ga_vec3 r[2];
    for (int b = 0; b < 2; ++b) {
        const ga_frame *f = pair->frame[b];
        const ga_marker *m = &joint->marker[b];
        pair->arm[b] = ga_rotate(f->R, ga_vec3_load(m->p));
        r[b] = ga_vec3_add(ga_vec3_load(f->x), pair->arm[b]);
        for (int i = 0; i < 3; ++i)
            pair->axis[b][i] = ga_rotate(f->R, ga_vec3_load(m->A + 3 * i));
    }
    pair->d = ga_vec3_sub(r[1], r[0]);
}

void ga_pair_locate(const ga_joint *joint, const ga_element_state *state, ga_pair *pair)
{
    const int *nodes = joint->element.nodes;
    pair->state = state;
    locate(joint, &state->frames[nodes[0]], &state->frames[nodes[1]], pair);
}

void ga_pair_row(const ga_pair *pair, int k, ga_derivative_order order, ga_scalar *s)
{
    const ga_joint *joint = pair->joint;
    joint->kind->row[joint->kept[k]].scalar(pair, order, s);
}

const char *ga_joint_row_name(const void *element, int k)
{
    const ga_joint *joint = element;
    return joint->kind->row[joint->kept[k]].name;
}

/* The function of time that row k subtracts, with derivatives. */
static void target(const ga_joint *joint, int k, const ga_element_state *state, double out[3])
{
    out[0] = out[1] = out[2] = 0;
    if (joint->kind->target && joint->kept[k] == 0) joint->kind->target(joint, state, out);
}

void ga_joint_constraint(const void *element, const ga_element_state *state, double *Phi)
{
    const ga_joint *joint = element;
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(joint, state, &pair);
    for (int k = 0; k < joint->element.rows; ++k) {
        double f[3];
        target(joint, k, state, f);
        ga_pair_row(&pair, k, GA_ORDER_VALUE, &s);
        Phi[k] = s.value - f[0];
    }
}

void ga_joint_gradient(const void *element, const ga_element_state *state, double *B)
{
    const ga_joint *joint = element;
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(joint, state, &pair);
    for (int k = 0; k < joint->element.rows; ++k) {
        ga_pair_row(&pair, k, GA_ORDER_GRADIENT, &s);
        ga_pair_to_body(&pair, s.g, B + GA_PAIR * k);
    }
}

void ga_pair_add_geometric(const ga_pair *pair, const double *lambda, double *W)
{
    ga_scalar s;
    for (int k = 0; k < pair->joint->element.rows; ++k) {
        ga_pair_row(pair, k, GA_ORDER_SECOND, &s);
        for (int i = 0; i < GA_PAIR * GA_PAIR; ++i) W[i] += lambda[k] * s.S[i];
    }
}

void ga_joint_geometric(const void *element, const ga_element_state *state,
                        const double *lambda, double *K)
{
    ga_pair pair;
    double W[GA_PAIR * GA_PAIR] = {0};
    ga_pair_locate(element, state, &pair);
    ga_pair_add_geometric(&pair, lambda, W);
    ga_pair_add_to_body(&pair, 1, W, K);
}

void ga_joint_speed_stiffness(const void *element, const ga_element_state *state, double *Z)
{
    const ga_joint *joint = element;
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(joint, state, &pair);
    ga_pair_twists(&pair, pair.nu);
    for (int k = 0; k < joint->element.rows; ++k) {
        ga_pair_row(&pair, k, GA_ORDER_SWEPT, &s);
        ga_pair_to_body(&pair, s.swept, Z + GA_PAIR * k);
    }
}

void ga_joint_constraint_rate(const void *element, const ga_element_state *state, double *rate)
{
    const ga_joint *joint = element;
    for (int k = 0; k < joint->element.rows; ++k) {
        double f[3];
        target(joint, k, state, f);
        rate[k] = -f[1];
    }
}

void ga_joint_constraint_rate_rate(const void *element, const ga_element_state *state,
                                   double *rate_rate)
{
    const ga_joint *joint = element;
    for (int k = 0; k < joint->element.rows; ++k) {
        double f[3];
        target(joint, k, state, f);
        rate_rate[k] = -f[2];
    }
}

bool ga_joint_coupled(const void *element, int i, int j)
{
    const ga_joint *joint = element;
    return joint->coupled[i][j];
}

/* --- coordinates ---------------------------------------------------------------------------
 */

int ga_joint_coordinates(const ga_joint *joint)
{
    int n = 0;
    while (n < GA_JOINT_MAX_COORDINATES && joint->kind->coordinate[n].name) ++n;
    return n;
}

const ga_coordinate_type *ga_joint_coordinate_type(const ga_joint *joint, int k)
{
    return &joint->kind->coordinate[k];
}

int ga_joint_coordinate_find(const ga_joint *joint, const char *name)
{
    const int n = ga_joint_coordinates(joint);
    if (!name) return n == 1 ? 0 : -1;
    for (int k = 0; k < n; ++k)
        if (strcmp(joint->kind->coordinate[k].name, name) == 0) return k;
    return -1;
}

void ga_joint_coordinates_describe(const ga_joint *joint, const char *name, char *text,
                                   size_t size)
{
    const int n = ga_joint_coordinates(joint);
    int used = 0;
    if (n == 0)
        used =
            snprintf(text, size, "the joint `%.40s` has no coordinates", joint->element.name);
    else if (name)
        used = snprintf(text, size, "`%.40s` is no coordinate of the joint, expected", name);
    else
        used = snprintf(text, size, "the joint has several coordinates, expected one of");
    for (int k = 0; k < n && used < (int)size; ++k)
        used += snprintf(text + used, size - (size_t)used, "%s `%s`", k > 0 ? " or" : "",
                         joint->kind->coordinate[k].name);
}

/* Where in the joint's memory an angular coordinate is. */
static int memory_of(const ga_joint *joint, int k)
{
    int at = 0;
    for (int i = 0; i < k; ++i)
        if (joint->kind->coordinate[i].angular) at += GA_TURN_MEMORY;
    return at;
}

static double rate(const ga_pair *pair, const ga_scalar *s)
{
    double nu[GA_PAIR], sum = 0;
    ga_pair_twists(pair, nu);
    for (int i = 0; i < GA_PAIR; ++i) sum += s->g[i] * nu[i];
    return sum;
}

/* memory: the joint's own, or null */
static void coordinate(const ga_pair *pair, int k, const double *memory,
                       ga_derivative_order order, ga_scalar *s)
{
    const ga_joint *joint = pair->joint;
    const bool counts = memory && joint->kind->coordinate[k].angular;
    if (counts && order < GA_ORDER_GRADIENT) order = GA_ORDER_GRADIENT; /* for the rate */
    joint->kind->coordinate[k].scalar(pair, order, s);
    s->value -= joint->home[k];
    if (counts)
        s->value = ga_turn_unwrap(memory + memory_of(joint, k), pair->state->t, s->value,
                                  rate(pair, s));
}

void ga_pair_coordinate(const ga_pair *pair, int k, ga_derivative_order order, ga_scalar *s)
{
    const double *memory = pair->state ? pair->state->memory : NULL;
    coordinate(pair, k, memory ? memory + pair->joint->element.memory : NULL, order, s);
}

void ga_joint_coordinate(const ga_joint *joint, int k, const ga_element_state *state,
                         ga_derivative_order order, ga_scalar *s)
{
    ga_pair pair;
    ga_scalar world;
    ga_pair_locate(joint, state, &pair);
    if (order == GA_ORDER_SWEPT) ga_pair_twists(&pair, pair.nu);
    ga_pair_coordinate(&pair, k, order, &world);
    s->value = world.value;
    if (order < GA_ORDER_GRADIENT) return;
    ga_pair_to_body(&pair, world.g, s->g);
    if (order == GA_ORDER_SWEPT) {
        s->rate = world.rate;
        ga_pair_to_body(&pair, world.swept, s->swept);
    }
    if (order < GA_ORDER_SECOND) return;
    memset(s->S, 0, sizeof s->S);
    ga_pair_add_to_body(&pair, 1, world.S, s->S);
}

double ga_joint_rate(const ga_joint *joint, int k, const ga_element_state *state)
{
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(joint, state, &pair);
    joint->kind->coordinate[k].scalar(&pair, GA_ORDER_GRADIENT, &s);
    return rate(&pair, &s);
}

/* The angle of (x, y) = (Q_xx + Q_yy, Q_yx - Q_xy), as ga_angle and ga_joint_rate give it; a
 * dot product a.b has the rate (a x b).(omega_a - omega_b). */
void ga_joint_turning(const double *A, const double *B, const ga_frame *first,
                      const ga_frame *second, double *value, double *speed)
{
    const ga_vec3 ax = ga_rotate(first->R, ga_vec3_load(A));
    const ga_vec3 ay = ga_rotate(first->R, ga_vec3_load(A + 3));
    const ga_vec3 bx = ga_rotate(second->R, ga_vec3_load(B));
    const ga_vec3 by = ga_rotate(second->R, ga_vec3_load(B + 3));
    const double x = ga_vec3_dot(ax, bx) + ga_vec3_dot(ay, by);
    const double y = ga_vec3_dot(ay, bx) - ga_vec3_dot(ax, by);
    const ga_vec3 dx = ga_vec3_add(ga_vec3_cross(ax, bx), ga_vec3_cross(ay, by));
    const ga_vec3 dy = ga_vec3_sub(ga_vec3_cross(ay, bx), ga_vec3_cross(ax, by));
    const ga_vec3 omega = ga_vec3_sub(ga_rotate(first->R, ga_vec3_load(first->w)),
                                      ga_rotate(second->R, ga_vec3_load(second->w)));
    const double n = x * x + y * y;
    *value = atan2(y, x);
    *speed = n > 0 ? (x * ga_vec3_dot(dy, omega) - y * ga_vec3_dot(dx, omega)) / n : 0;
}

/* `before`: the joint's memory until now, or null. */
static void remember(const ga_joint *joint, const ga_element_state *state, const double *before,
                     double *memory)
{
    const int *nodes = joint->element.nodes;
    for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
        if (!joint->kind->coordinate[k].angular) continue;
        double *out = memory + memory_of(joint, k), value, speed;
        if (joint->kind->coordinate[k].scalar == ga_angle) {
            ga_joint_turning(joint->marker[0].A, joint->marker[1].A, &state->frames[nodes[0]],
                             &state->frames[nodes[1]], &value, &speed);
        } else {
            ga_pair pair;
            ga_scalar s;
            ga_pair_locate(joint, state, &pair);
            joint->kind->coordinate[k].scalar(&pair, GA_ORDER_GRADIENT, &s);
            value = s.value;
            speed = rate(&pair, &s);
        }
        value -= joint->home[k];
        if (before)
            value = ga_turn_unwrap(before + memory_of(joint, k), state->t, value, speed);
        ga_turn_commit(out, state->t, value, speed);
    }
}

void ga_joint_remember(const void *element, const ga_element_state *state, double *memory)
{
    remember(element, state, NULL, memory);
}

void ga_joint_commit(const void *element, const ga_element_state *state, double *memory)
{
    remember(element, state, memory, memory);
}

/* --- reaction ------------------------------------------------------------------------------
 */

/* f -= G^T x for the second body, body axes; G: rows x 12 */
static void subtract(const double *G, int rows, const double *x, double f[GA_TWIST])
{
    for (int k = 0; k < rows; ++k)
        for (int i = 0; i < GA_TWIST; ++i) f[i] -= G[GA_PAIR * k + GA_TWIST + i] * x[k];
}

void ga_joint_reaction(const ga_joint *joint, const ga_element_state *state, double force[3],
                       double torque[3])
{
    const ga_element *e = &joint->element;
    double G[GA_JOINT_MAX_ROWS * GA_PAIR], all[GA_PAIR] = {0}, *f = all + GA_TWIST;
    if (e->type->force) e->type->force(joint, state, all);
    e->type->gradient(joint, state, G);
    subtract(G, e->rows, state->lambda + e->row, f);
    if (e->speed_rows > 0) {
        e->type->speed_gradient(joint, state, G);
        subtract(G, e->speed_rows, state->psi + e->speed_row, f);
    }
    for (int k = 0; k < ga_joint_coordinates(joint); ++k) {
        if (!joint->drives[k]) continue;
        ga_scalar s;
        ga_joint_coordinate(joint, k, state, GA_ORDER_GRADIENT, &s);
        const double effort = -ga_drive_effort(joint->drives[k], state);
        subtract(s.g, 1, &effort, f);
    }
    /* From the node's origin to the marker. */
    const double *R = state->frames[e->nodes[1]].R;
    const ga_vec3 F = ga_vec3_load(f), p = ga_vec3_load(joint->marker[1].p);
    const ga_vec3 m = ga_vec3_sub(ga_vec3_load(f + 3), ga_vec3_cross(p, F));
    ga_vec3_store(ga_rotate(R, F), force);
    ga_vec3_store(ga_rotate(R, m), torque);
}

/* --- channels ------------------------------------------------------------------------------
 */

void ga_joint_channel_force(const void *element, const ga_element_state *state, double *out)
{
    double torque[3];
    ga_joint_reaction(element, state, out, torque);
}

void ga_joint_channel_torque(const void *element, const ga_element_state *state, double *out)
{
    double force[3];
    ga_joint_reaction(element, state, force, out);
}

int ga_joint_multiplier_count(const void *element)
{
    const ga_joint *joint = element;
    return joint->element.rows + joint->element.speed_rows;
}

void ga_joint_channel_multipliers(const void *element, const ga_element_state *state,
                                  double *out)
{
    const ga_element *e = &((const ga_joint *)element)->element;
    for (int k = 0; k < e->rows; ++k) *out++ = state->lambda[e->row + k];
    for (int k = 0; k < e->speed_rows; ++k) *out++ = state->psi[e->speed_row + k];
}

static double value_of(const void *element, int k, const ga_element_state *state)
{
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(element, state, &pair);
    ga_pair_coordinate(&pair, k, GA_ORDER_VALUE, &s);
    return s.value;
}

static double effort_of(const void *element, int k, const ga_element_state *state)
{
    const ga_joint *joint = element;
    return joint->drives[k] ? ga_drive_effort(joint->drives[k], state) : 0;
}

#define COORDINATE_CHANNELS(k)                                                                 \
    void ga_joint_channel_value##k(const void *element, const ga_element_state *state,         \
                                   double *out)                                                \
    {                                                                                          \
        *out = value_of(element, k, state);                                                    \
    }                                                                                          \
    void ga_joint_channel_rate##k(const void *element, const ga_element_state *state,          \
                                  double *out)                                                 \
    {                                                                                          \
        *out = ga_joint_rate(element, k, state);                                               \
    }                                                                                          \
    void ga_joint_channel_effort##k(const void *element, const ga_element_state *state,        \
                                    double *out)                                               \
    {                                                                                          \
        *out = effort_of(element, k, state);                                                   \
    }                                                                                          \
    bool ga_joint_has_effort##k(const void *element)                                           \
    {                                                                                          \
        return ga_joint_has_attachment(element, k);                                            \
    }
COORDINATE_CHANNELS(0)
COORDINATE_CHANNELS(1)
COORDINATE_CHANNELS(2)
#undef COORDINATE_CHANNELS

/* --- fields --------------------------------------------------------------------------------
 */

static const char *const friction_models[] = {"regularised", "stiction", NULL};
static const char *const smooth_models[] = {"regularised", NULL};
static const char *const limits_models[] = {"stop", "buffer", NULL};

#define FRICTION_FIELDS(length, models)                                                        \
    GA_FIELD(ga_friction, NUMBER, coefficient, "coefficient of sliding friction",              \
             .required = true, .range = GA_NOT_NEGATIVE),                                      \
        GA_FIELD_AS(ga_friction, NUMBER, static_coefficient, "static",                         \
                    "coefficient of static friction", .range = GA_NOT_NEGATIVE,                \
                    .fallback = {NAN}, .absent = "the value of `coefficient`"),                \
        GA_FIELD(ga_friction, NUMBER, preload, "normal force in addition to the reaction",     \
                 .unit = "N", .range = GA_NOT_NEGATIVE),                                       \
        GA_FIELD(                                                                              \
            ga_friction, NUMBER, transition,                                                   \
            "sliding speed v0 at which friction reaches its full value: tanh(3 v/v0) of it",   \
            .unit = length "/s", .range = GA_POSITIVE, .fallback = {1e-3}),                    \
        GA_FIELD(ga_friction, CHOICE, model,                                                   \
                 "a smooth function of the rate, or stick and slip by events",                 \
                 .choices = models)

#define FRICTION_RADIUS                                                                        \
    GA_FIELD(ga_friction, NUMBER, radius, "radius of the friction surface", .unit = "m",       \
             .required = true, .range = GA_POSITIVE)

#define LIMITS_FIELDS(force, length)                                                           \
    GA_FIELD(ga_limits, NUMBER, min, "smallest coordinate", .unit = length, .fallback = {NAN}, \
             .absent = "no such limit"),                                                       \
        GA_FIELD(ga_limits, NUMBER, max, "largest coordinate", .unit = length,                 \
                 .fallback = {NAN}, .absent = "no such limit"),                                \
        GA_FIELD(ga_limits, CHOICE, model, "rigid, or a spring and damper beyond the limit",   \
                 .choices = limits_models),                                                    \
        GA_FIELD(ga_limits, NUMBER, restitution,                                               \
                 "of a stop: coefficient of restitution, rate after impact over rate before",  \
                 .range = GA_FRACTION),                                                        \
        GA_FIELD(ga_limits, NUMBER, slowest,                                                   \
                 "of a stop: a rebound slower than this ends in resting contact",              \
                 .unit = length "/s", .range = GA_NOT_NEGATIVE),                               \
        GA_FIELD(ga_limits, NUMBER, stiffness, "of a buffer", .unit = force "/" length,        \
                 .range = GA_NOT_NEGATIVE),                                                    \
        GA_FIELD(ga_limits, NUMBER, damping, "of a buffer", .unit = force " s/" length,        \
                 .range = GA_NOT_NEGATIVE),                                                    \
        GA_FIELD(ga_limits, NUMBER, depth,                                                     \
                 "of a buffer: penetration at which its damping reaches its full value",       \
                 .unit = length, .range = GA_POSITIVE, .fallback = {1e-3})

const ga_field ga_friction_fields[] = {FRICTION_FIELDS("m", friction_models), {0}};
const ga_field ga_friction_fields_angular[] = {
    FRICTION_FIELDS("rad", friction_models),
    FRICTION_RADIUS,
    {0},
};
const ga_field ga_friction_fields_smooth[] = {
    FRICTION_FIELDS("rad", smooth_models),
    FRICTION_RADIUS,
    {0},
};
const ga_field ga_limits_fields[] = {LIMITS_FIELDS("N", "m"), {0}};
const ga_field ga_limits_fields_angular[] = {LIMITS_FIELDS("N m", "rad"), {0}};
const ga_field ga_attachment_fields[] = {GA_ATTACHMENT_FIELDS(ga_attachment, , "N", "m", ),
                                         {0}};
const ga_field ga_attachment_fields_angular[] = {
    GA_ATTACHMENT_FIELDS(ga_attachment, , "N m", "rad", _angular), {0}};

/* --- preparation ---------------------------------------------------------------------------
 */

bool ga_joint_origins(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind,
                      double origin[2][3])
{
    const ga_anchor *a = &joint->between[0], *b = &joint->between[1];
    ga_element *e = &joint->element;
    if (a->node == b->node)
        return ga_element_error(setup, e, "between",
                                a->node == GA_GROUND
                                    ? "connects ground to ground, expected at least one body"
                                    : "connects a body to itself, expected two bodies");
    e->node_count = 2;
    e->nodes[0] = a->node;
    e->nodes[1] = b->node;
    /* rows in world directions hold all three translations: two points coincide */
    const bool meet = kind->row[0].form.form == GA_FORM_WORLD;
    return ga_setup_sides(setup, e, joint->between, joint->at, meet, origin, &joint->centre_of);
}

void ga_joint_axes(const double axis[3], const double across[3], double axes[9])
{
    const ga_vec3 z = ga_vec3_load(axis);
    ga_vec3 x;
    if (across) {
        x = ga_vec3_load(across);
    } else {
        /* the first world axis that is well off `axis`: for z these are x, y, z themselves */
        x = fabs(axis[0]) < 0.75 ? (ga_vec3){1, 0, 0} : (ga_vec3){0, 1, 0};
    }
    x = ga_vec3_axpy(x, -ga_vec3_dot(x, z), z);
    x = ga_vec3_scale(1 / sqrt(ga_vec3_dot(x, x)), x);
    ga_vec3_store(x, axes);
    ga_vec3_store(ga_vec3_cross(z, x), axes + 3);
    ga_vec3_store(z, axes + 6);
}

void ga_joint_axes_default(const ga_joint_kind *kind, int dimension, double axis[3],
                           double axes[9])
{
    const bool in_plane = dimension == 2 && kind->axis_in_plane;
    const bool always_z = dimension == 2 && !in_plane;
    /* not given: NaN, or zero where the joint has no such field */
    const ga_vec3 a = ga_vec3_load(axis);
    if (always_z || !(ga_vec3_dot(a, a) > 0)) {
        axis[0] = in_plane ? 1 : 0;
        axis[1] = 0;
        axis[2] = in_plane ? 0 : 1;
    }
    if (in_plane) {
        /* x in the plane, y out of it: rows along y and turns about x and z drop out */
        const double across[3] = {-axis[1], axis[0], 0};
        ga_joint_axes(axis, across, axes);
    } else
        ga_joint_axes(axis, NULL, axes);
}

void ga_joint_place(ga_joint *joint, const ga_setup *setup, int k, const double origin[3],
                    const double axes[9])
{
    const ga_frame *f = &setup->frames[joint->element.nodes[k]];
    ga_marker *m = &joint->marker[k];
    const ga_vec3 arm = ga_vec3_sub(ga_vec3_load(origin), ga_vec3_load(f->x));
    ga_vec3_store(ga_rotate_back(f->R, arm), m->p);
    for (int i = 0; i < 3; ++i)
        ga_vec3_store(ga_rotate_back(f->R, ga_vec3_load(axes + 3 * i)), m->A + 3 * i);
    if (k == 0) memcpy(joint->E, axes, sizeof joint->E);
}

bool ga_joint_prepare(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind)
{
    double origin[2][3], axes[9];
    if (!ga_joint_origins(joint, setup, kind, origin)) return false;
    ga_joint_axes_default(kind, setup->dimension, joint->axis, axes);
    for (int k = 0; k < 2; ++k) ga_joint_place(joint, setup, k, origin[k], axes);
    return ga_joint_finish(joint, setup, kind);
}

/* A frame in general position. */
static ga_frame somewhere(double s)
{
    const double p[4] = {0.6 * s, 0.3, -0.5 * s,
                         0.4 + 0.1 * s}; /* a quaternion, of any length */
    const double n = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3];
    const ga_vec3 v = {p[1], p[2], p[3]};
    ga_frame f = {.x = {0.7 * s, -1.3, 0.9 + s}};
    ga_mat3_write((2 * p[0] * p[0] - n) / n, ga_vec3_scale(2 * p[0] / n, v), v,
                  ga_vec3_scale(1 / n, v), 3, f.R);
    return f;
}

/* Blocks that are zero are so because nothing is ever written to them: two frames in general
 * position show which. */
static void mark_blocks(const ga_scalar *s, ga_blocks *blocks)
{
    for (int i = 0; i < GA_PAIR; ++i) {
        if (s->g[i] != 0) blocks->g[i / 3] = true;
        for (int j = 0; j < GA_PAIR; ++j)
            if (s->S[GA_PAIR * i + j] != 0) blocks->S[i / 3][j / 3] = true;
    }
}

static void find_coupled(ga_joint *joint)
{
    const ga_frame first = somewhere(1), second = somewhere(-0.37);
    ga_pair pair = {0};
    ga_scalar s;
    ga_blocks blocks = {0};
    locate(joint, &first, &second, &pair);
    for (int k = 0; k < joint->element.rows; ++k) {
        ga_pair_row(&pair, k, GA_ORDER_SECOND, &s);
        mark_blocks(&s, &blocks);
    }
    memcpy(joint->coupled, blocks.S, sizeof joint->coupled);
}

ga_blocks ga_joint_coordinate_blocks(const ga_joint *joint, int k)
{
    const ga_frame first = somewhere(1), second = somewhere(-0.37);
    ga_pair pair = {0};
    ga_scalar s;
    ga_blocks blocks = {0};
    locate(joint, &first, &second, &pair);
    ga_pair_coordinate(&pair, k, GA_ORDER_SECOND, &s);
    mark_blocks(&s, &blocks);
    return blocks;
}

bool ga_joint_has_attachment(const ga_joint *joint, int k)
{
    if (k >= ga_joint_coordinates(joint)) return false;
    const ga_attachment *a = &joint->attachment[k];
    return a->stiffness != 0 || a->damping != 0 || a->friction.head.given ||
           a->limits.head.given;
}

static bool check_friction(const ga_joint *joint, ga_setup *setup, const ga_friction *f)
{
    if (f->static_coefficient < f->coefficient) /* false if not given */
        return ga_element_error(setup, &joint->element, "friction.static",
                                "is less than `coefficient`, that of sliding");
    return true;
}

/* What the other kind of limit would use has no effect. */
static bool check_kind_of_limits(const ga_joint *joint, ga_setup *setup, const ga_limits *l)
{
    const ga_element *e = &joint->element;
    static const char of_buffer[] =
        "has no effect on a rigid stop: add `model: buffer`, or remove it";
    static const char of_stop[] = "has no effect on a buffer, which loses energy by its "
                                  "`damping`: remove it, or `model: buffer`";
    const bool stop = l->model == GA_LIMITS_STOP;
    if (stop && l->stiffness > 0)
        return ga_element_error(setup, e, "limits.stiffness", of_buffer);
    if (stop && l->damping > 0) return ga_element_error(setup, e, "limits.damping", of_buffer);
    if (!stop && l->restitution > 0)
        return ga_element_error(setup, e, "limits.restitution", of_stop);
    if (!stop && l->slowest > 0) return ga_element_error(setup, e, "limits.slowest", of_stop);
    return true;
}

static bool check_limits(const ga_joint *joint, ga_setup *setup, const ga_limits *l)
{
    const ga_element *e = &joint->element;
    if (!check_kind_of_limits(joint, setup, l)) return false;
    if (isnan(l->min) && isnan(l->max))
        return ga_element_error(setup, e, "limits", "neither `min` nor `max` is given");
    if (l->min >= l->max)
        return ga_element_error(setup, e, "limits", "`min` is not less than `max`");
    if (l->model == GA_LIMITS_BUFFER && !(l->stiffness > 0))
        return ga_element_error(setup, e, "limits.stiffness",
                                "a buffer needs a positive stiffness");
    if (l->model == GA_LIMITS_STOP && (l->min > 0 || l->max < 0))
        return ga_element_error(
            setup, e, "limits",
            "excludes the position given in the model file, where the coordinate is 0");
    return true;
}

bool ga_joint_check_attachment(const ga_joint *joint, ga_setup *setup, const char *group,
                               const ga_attachment *a, bool angular)
{
    const size_t here = group ? ga_reader_enter(setup->reader, group) : 0;
    bool ok = true;
    if (a->friction.head.given) ok = check_friction(joint, setup, &a->friction) && ok;
    if (a->friction.head.given && angular && !(a->friction.radius > 0))
        ok = ga_element_error(setup, &joint->element, "friction.radius",
                              "friction of a rotation needs a positive radius");
    if (a->limits.head.given) ok = check_limits(joint, setup, &a->limits) && ok;
    if (group) ga_reader_leave(setup->reader, here);
    return ok;
}

/* A point mass does not turn, so a joint that aligns a body with it holds that body's rotation
 * in space: a payload welded to a rod would keep the rod from turning. */
static void warn_of_point_mass(const ga_joint *joint, ga_setup *setup)
{
    const ga_element *e = &joint->element;
    const bool turns[2] = {ga_setup_turns(setup, e->nodes[0]),
                           ga_setup_turns(setup, e->nodes[1])};
    bool aligns = false;
    if (turns[0] == turns[1] || e->nodes[turns[0] ? 0 : 1] == GA_GROUND) return;
    for (int k = 0; k < e->rows; ++k)
        aligns |= strncmp(e->type->row_name(joint, k), "rotation", 8) == 0;
    if (aligns)
        ga_element_warning(
            setup, e, "between",
            "one of the two is a point mass, which has no rotation, so this "
            "joint keeps the other from rotating; use a joint without torques "
            "(spherical, point-on-line, distance), or a rigid body with inertia");
}

bool ga_joint_finish(ga_joint *joint, ga_setup *setup, const ga_joint_kind *kind)
{
    ga_element *e = &joint->element;
    joint->kind = kind;
    e->rows = 0;
    for (int k = 0; k < GA_JOINT_MAX_ROWS && kind->row[k].name; ++k)
        if (setup->dimension == 3 || kind->row[k].planar) joint->kept[e->rows++] = k;
    e->rheonomic = kind->target != NULL;
    find_coupled(joint);
    warn_of_point_mass(joint, setup);

    const int n = ga_joint_coordinates(joint);
    const ga_element_state start = {.frames = setup->frames};
    ga_pair pair;
    ga_scalar s;
    ga_pair_locate(joint, &start, &pair);
    bool ok = true;
    e->memory_count = 0;
    for (int k = 0; k < n; ++k) {
        const ga_coordinate_type *c = &kind->coordinate[k];
        if (c->angular) e->memory_count += GA_TURN_MEMORY;
        c->scalar(&pair, GA_ORDER_VALUE, &s);
        joint->home[k] = c->absolute ? 0 : s.value;
        if (ga_joint_has_attachment(joint, k))
            ok = ga_joint_check_attachment(joint, setup, n > 1 ? c->name : NULL,
                                           &joint->attachment[k], c->angular) &&
                 ok;
    }
    joint->drives =
        GA_ARENA_NEW(setup->arena, const struct ga_drive_element *, GA_JOINT_MAX_COORDINATES);
    if (!joint->drives) return ga_element_error(setup, e, "between", "out of memory");
    return ok;
}
