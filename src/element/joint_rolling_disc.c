/* Disc that rolls without slip on a plane, which may be part of another body.
 *
 * Plane: first marker, normal n = a_z, tangents a_x, a_y. Disc: second marker, centre and axis
 * k = b_z, radius r. With h = n . d the height of the centre, mu = n . k, s = sqrt(1 - mu^2),
 * the lowest point of the rim is P = centre - r m, m = (n - mu k)/s.
 *
 *     contact    h - r s = 0
 *     no slip    e . (velocity of the disc at P - velocity of the plane at P) = 0, e = a_x, a_y
 *
 * so with world twists a row of N is (-e, -A, e, A'), A = (P - x_a) x e, A' = (P - x_b) x e.
 * P moves by J delta: D m = M_n (D n) + M_k (D k) with
 *
 *     M_n = (I - k k^T)/s + (mu/s^2) m k^T,  M_k = -(k n^T + mu I)/s + (mu/s^2) m n^T
 *
 * A disc that lies flat, s = 0, has no lowest point. In planar models the disc's axis is z and
 * the plane a line. */
#include "element/joint.h"

#include <string.h>

typedef struct plane {
    ga_group_head head;
    double point[3], normal[3];
} plane;

typedef struct rolling_disc {
    ga_joint joint;
    double radius;
    double disc_axis[3]; /* body axes */
    plane plane;
} rolling_disc;

static void contact(const ga_pair *pair, ga_derivative_order order, ga_scalar *s)
{
    const double r = ((const rolling_disc *)pair->joint)->radius;
    ga_scalar mu;
    ga_scalar_dot(pair, 2, 2, order, &mu);
    ga_along_z(pair, order, s);
    const double x = mu.value, w = sqrt(1 - x * x);
    const ga_chain f = {.f = s->value - r * w, .x = 1, .y = r * x / w, .yy = r / (w * w * w)};
    ga_scalar_chain(&f, s, &mu, order, s);
}

static const ga_joint_kind kind = {
    .row = {{.name = "contact", .scalar = contact, .planar = true}},
    .axis_in_plane = true,
};

/* --- no slip -------------------------------------------------------------------------------
 */

typedef struct touch {
    ga_vec3 P, arm[2]; /* P - x of both bodies */
    ga_vec3 n, k, m;
    double mu, s;
} touch;

static void find(const ga_pair *pair, touch *c)
{
    const double r = ((const rolling_disc *)pair->joint)->radius;
    c->n = pair->axis[0][2];
    c->k = pair->axis[1][2];
    c->mu = ga_vec3_dot(c->n, c->k);
    c->s = sqrt(1 - c->mu * c->mu);
    c->m = ga_vec3_scale(1 / c->s, ga_vec3_axpy(c->n, -c->mu, c->k));
    const ga_vec3 x_b = ga_vec3_load(pair->frame[1]->x), x_a = ga_vec3_load(pair->frame[0]->x);
    c->arm[1] = ga_vec3_axpy(pair->arm[1], -r, c->m);
    c->P = ga_vec3_add(x_b, c->arm[1]);
    c->arm[0] = ga_vec3_sub(c->P, x_a);
}

/* D P for a variation in world axes. */
static ga_vec3 moved(const ga_pair *pair, const touch *c, const double *delta)
{
    const double r = ((const rolling_disc *)pair->joint)->radius;
    const ga_vec3 th_a = ga_vec3_load(delta + 3), th_b = ga_vec3_load(delta + 9);
    const ga_vec3 dn = ga_vec3_cross(th_a, c->n), dk = ga_vec3_cross(th_b, c->k);
    const double dmu = ga_vec3_dot(dn, c->k) + ga_vec3_dot(c->n, dk);
    ga_vec3 dm = ga_vec3_axpy(dn, -dmu, c->k);
    dm = ga_vec3_axpy(dm, -c->mu, dk);
    dm = ga_vec3_scale(1 / c->s, ga_vec3_axpy(dm, c->mu * dmu / c->s, c->m));
    const ga_vec3 centre =
        ga_vec3_add(ga_vec3_load(delta + 6), ga_vec3_cross(th_b, pair->arm[1]));
    return ga_vec3_axpy(centre, -r, dm);
}

/* Row e of N, world axes. */
static void slip_row(const touch *c, ga_vec3 e, double *N)
{
    ga_vec3_store(ga_vec3_scale(-1, e), N);
    ga_vec3_store(ga_vec3_cross(e, c->arm[0]), N + 3);
    ga_vec3_store(e, N + 6);
    ga_vec3_store(ga_vec3_cross(c->arm[1], e), N + 9);
}

/* How row e changes with a variation while the twists stay in body axes: the derivative of the
 * row itself, and row x delta_theta for each of its parts. */
static void slip_row_moves(const ga_pair *pair, const touch *c, ga_vec3 e, const double *delta,
                           double *DN)
{
    const ga_vec3 th[2] = {ga_vec3_load(delta + 3), ga_vec3_load(delta + 9)};
    const ga_vec3 de = ga_vec3_cross(th[0], e), dP = moved(pair, c, delta);
    double N[GA_PAIR];
    slip_row(c, e, N);
    for (int b = 0; b < 2; ++b) {
        const double sign = b ? 1 : -1;
        const ga_vec3 darm = ga_vec3_sub(dP, ga_vec3_load(delta + 6 * b));
        const ga_vec3 turn = ga_vec3_add(ga_vec3_cross(darm, e), ga_vec3_cross(c->arm[b], de));
        const ga_vec3 u = ga_vec3_cross(ga_vec3_load(N + 6 * b), th[b]);
        const ga_vec3 w = ga_vec3_cross(ga_vec3_load(N + 6 * b + 3), th[b]);
        ga_vec3_store(ga_vec3_axpy(u, sign, de), DN + 6 * b);
        ga_vec3_store(ga_vec3_axpy(w, sign, turn), DN + 6 * b + 3);
    }
}

static void speed_gradient(const void *element, const ga_element_state *state, double *N)
{
    const ga_joint *joint = element;
    ga_pair pair;
    touch c;
    ga_pair_locate(joint, state, &pair);
    find(&pair, &c);
    for (int i = 0; i < joint->element.speed_rows; ++i) {
        slip_row(&c, pair.axis[0][i], N + GA_PAIR * i);
        ga_pair_to_body(&pair, N + GA_PAIR * i, N + GA_PAIR * i);
    }
}

static void speed(const void *element, const ga_element_state *state, double *k)
{
    const ga_joint *joint = element;
    double N[2 * GA_PAIR];
    speed_gradient(element, state, N);
    for (int i = 0; i < joint->element.speed_rows; ++i) {
        k[i] = 0;
        for (int b = 0; b < 2; ++b) {
            const ga_frame *f = &state->frames[joint->element.nodes[b]];
            const double *row = N + GA_PAIR * i + GA_TWIST * b;
            for (int j = 0; j < 3; ++j) k[i] += row[j] * f->u[j] + row[3 + j] * f->w[j];
        }
    }
}

/* W = D (sum of psi_i N_i), 12 x 12 in world axes, column by column */
static void slip_geometric(const ga_pair *pair, const double *psi, double *W)
{
    const int rows = pair->joint->element.speed_rows;
    touch c;
    find(pair, &c);
    ga_vec3 e = ga_vec3_scale(psi[0], pair->axis[0][0]);
    if (rows > 1) e = ga_vec3_axpy(e, psi[1], pair->axis[0][1]);
    for (int j = 0; j < GA_PAIR; ++j) {
        double delta[GA_PAIR] = {0}, column[GA_PAIR];
        delta[j] = 1;
        slip_row_moves(pair, &c, e, delta, column);
        for (int i = 0; i < GA_PAIR; ++i) W[GA_PAIR * i + j] = column[i];
    }
}

static void speed_geometric(const void *element, const ga_element_state *state,
                            const double *psi, double *K, double *C)
{
    (void)C;
    ga_pair pair;
    double W[GA_PAIR * GA_PAIR];
    ga_pair_locate(element, state, &pair);
    slip_geometric(&pair, psi, W);
    ga_pair_add_to_body(&pair, 1, W, K);
}

static void speed_speed_stiffness(const void *element, const ga_element_state *state, double *Z)
{
    const ga_joint *joint = element;
    ga_pair pair;
    ga_scalar s;
    double nu[GA_PAIR], world[GA_PAIR];
    ga_pair_locate(joint, state, &pair);
    ga_pair_twists(&pair, nu);
    for (int i = 0; i < joint->element.speed_rows; ++i) {
        const double psi[2] = {i == 0, i == 1};
        slip_geometric(&pair, psi, s.S);
        ga_scalar_swept(&s, nu, world);
        ga_pair_to_body(&pair, world, Z + GA_PAIR * i);
    }
}

/* --- preparation ---------------------------------------------------------------------------
 */

static bool prepare(void *element, ga_setup *setup)
{
    rolling_disc *disc = element;
    ga_joint *joint = &disc->joint;
    ga_element *e = &joint->element;
    const bool planar = setup->dimension == 2;
    double origin[2][3], axes[9], axis[3], disc_axes[9];
    if (joint->between[1].node == GA_GROUND)
        return ga_element_error(setup, e, "between",
                                "the second entry is the disc and cannot be ground");
    joint->between[1].whole = false; /* a body alone: the disc's centre is its origin */
    joint->at[0] = NAN;
    if (!ga_joint_origins(joint, setup, &kind, origin)) return false;

    if (!disc->plane.head.given) disc->plane.normal[0] = NAN;
    double *normal = disc->plane.normal;
    if (isnan(normal[0])) {
        normal[0] = 0;
        normal[1] = planar ? 1 : 0;
        normal[2] = planar ? 0 : 1;
    }
    ga_joint_axes_default(&kind, setup->dimension, normal, axes);
    ga_joint_place(joint, setup, 0, disc->plane.point, axes);

    const double z[3] = {0, 0, 1};
    const double *own = planar ? z : disc->disc_axis;
    ga_vec3_store(ga_rotate(setup->frames[e->nodes[1]].R, ga_vec3_load(own)), axis);
    ga_joint_axes(axis, NULL, disc_axes);
    ga_joint_place(joint, setup, 1, origin[1], disc_axes);
    if (fabs(ga_vec3_dot(ga_vec3_load(axis), ga_vec3_load(normal))) > 1 - 1e-6)
        return ga_element_error(setup, e, "axis",
                                "is parallel to the normal: a disc lying flat does not roll");
    if (!ga_joint_finish(joint, setup, &kind)) return false;
    e->speed_rows = planar ? 1 : 2;
    return true;
}

static const char *row_name(const void *element, int k)
{
    static const char *const slip[] = {"slip along x", "slip along y"};
    const ga_joint *joint = element;
    return k < joint->element.rows ? ga_joint_row_name(element, k)
                                   : slip[k - joint->element.rows];
}

static void contact_point(const void *element, const ga_element_state *state, double *out)
{
    ga_pair pair;
    touch c;
    ga_pair_locate(element, state, &pair);
    find(&pair, &c);
    ga_vec3_store(c.P, out);
}

static const ga_field plane_fields[] = {
    GA_FIELD(plane, VECTOR, point,
             "a point of the plane, world axes, in the position given in the model file",
             .unit = "m"),
    GA_FIELD(plane, DIRECTION, normal,
             "normal of the plane, towards the disc, world axes, in the position given in the "
             "model file",
             .fallback = {NAN, NAN, NAN}, .absent = "z; planar: y"),
    {0},
};
static const ga_field fields[] = {
    GA_FIELD(ga_joint, PAIR, between,
             "the body that carries the plane, such as ground, and the disc: a body, or the "
             "point of a body that is the disc's centre",
             .required = true),
    GA_FIELD(rolling_disc, NUMBER, radius, "radius of the disc", .unit = "m", .required = true,
             .range = GA_POSITIVE),
    GA_FIELD_AS(rolling_disc, DIRECTION, disc_axis, "axis", "axis of the disc, body axes",
                .fallback = {0, 0, 1}, .where = GA_SPATIAL),
    GA_FIELD(rolling_disc, GROUP, plane, "plane on which it rolls", .group = plane_fields),
    {0},
};
/* Sine of the angle between disc and plane. */
static double regularity(const void *element, const ga_element_state *state)
{
    ga_pair pair;
    touch c;
    ga_pair_locate(element, state, &pair);
    find(&pair, &c);
    return c.s;
}

static const ga_channel_type channels[] = {GA_JOINT_CHANNELS,
                                           {.name = "contact",
                                            .unit = "m",
                                            .help = "point of contact, world",
                                            .count = 3,
                                            .value = contact_point},
                                           {0}};

const ga_element_type ga_joint_rolling_disc = {
    .name = "rolling-disc",
    .help =
        "Disc that rolls on a plane without slip. `force` and `torque` refer to its centre.",
    .size = sizeof(rolling_disc),
    .fields = fields,
    .example = "{type: rolling-disc, between: [ground, a], radius: 0.3, axis: [0, 1, 0]}",
    .planar_example =
        "{type: rolling-disc, between: [ground, a], radius: 0.3, plane: {normal: [1, 2]}}",
    .section = "joints",
    .is_joint = true,
    .prepare = prepare,
    .row_name = row_name,
    .constraint = ga_joint_constraint,
    .gradient = ga_joint_gradient,
    .geometric = ga_joint_geometric,
    .speed_stiffness = ga_joint_speed_stiffness,
    .speed = speed,
    .speed_gradient = speed_gradient,
    .speed_speed_stiffness = speed_speed_stiffness,
    .speed_geometric = speed_geometric,
    .regularity = regularity,
    .singular = "the disc falls flat on its plane, where the point of contact is undefined",
    .remedy = "a run that ends earlier, or a start with more spin; a disc lying flat needs "
              "another joint",
    .channels = channels,
};
