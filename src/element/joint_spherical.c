/* Ball joint: a point is common to both bodies, E_k . d = 0.
 *
 * Torques may act in it. With Q the relative rotation (second marker seen from the first), rho
 * its rotation vector, C = R_b^T R_a, omega = w_b - C w_a in axes of the second body, the
 * torque on the second body is
 *
 *     m = -k rho - (c + mu(|omega|) r (N + preload)/|omega|) omega
 *
 * in its axes, -C^T m on the first. N is the size of the reaction force, mu the law of drive.c.
 * The spring has the energy k |rho|^2/2; rho jumps at half a turn.
 *
 * Derivatives: D rho = T(rho)^-1 (delta_b - Q^T delta_a) in marker axes, with the left tangent
 * operator T; D omega = -(C w_a)~ delta_b + C w_a~ delta_a at fixed twists. */
#include "element/joint.h"
#include "lie/so3.h"

#include <galpha/lie.h>
#include <string.h>

static const ga_joint_kind kind = {.row = {GA_ROW_WORLD_X, GA_ROW_WORLD_Y, GA_ROW_WORLD_Z}};

static bool prepare(void *element, ga_setup *setup)
{
    ga_joint *joint = element;
    const ga_attachment *a = &joint->attachment[0];
    if (!ga_joint_prepare(joint, setup, &kind)) return false;
    if (a->friction.head.given && a->friction.model == GA_FRICTION_STICTION)
        return ga_element_error(setup, &joint->element, "friction.model",
                                "a spherical joint has regularised friction only");
    if (!ga_joint_check_attachment(joint, setup, NULL, a, true)) return false;
    joint->element.host = a->friction.head.given ? &joint->element : NULL;
    return true;
}

/* --- 3 x 3 matrices, column-major ----------------------------------------------------------
 */

/* C = A B, C = A^T B */
static void multiply(const double *A, const double *B, double *C)
{
    for (int j = 0; j < 3; ++j) ga_vec3_store(ga_rotate(A, ga_vec3_load(B + 3 * j)), C + 3 * j);
}

static void multiply_back(const double *A, const double *B, double *C)
{
    for (int j = 0; j < 3; ++j)
        ga_vec3_store(ga_rotate_back(A, ga_vec3_load(B + 3 * j)), C + 3 * j);
}

static void transpose(const double *A, double *B)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) B[3 * i + j] = A[3 * j + i];
}

static void skew(ga_vec3 a, double *A) { ga_mat3_write(0, a, a, (ga_vec3){0, 0, 0}, 3, A); }

/* Block (i, j) of an element matrix, row-major 12 x 12, += scale A */
static void add_block(double *K, int i, int j, double scale, const double *A)
{
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            K[GA_PAIR * (3 * i + r) + 3 * j + c] += scale * A[r + 3 * c];
}

/* --- torque --------------------------------------------------------------------------------
 */

typedef struct ball {
    double C[9];       /* R_b^T R_a */
    double Q[9];       /* A_a^T C^T A_b */
    double rho[3];     /* its rotation vector, marker axes */
    ga_vec3 carried;   /* C w_a */
    ga_vec3 omega;     /* axes of the second body */
    double speed;      /* |omega| */
    double chi, chi_v; /* mu(|omega|)/|omega| and its derivative divided by |omega| */
    double pressed[2]; /* N + preload, its derivative by lambda divided by lambda */
    double drag;       /* c + r chi (N + preload) */
    ga_vec3 m;
} ball;

/* The law is odd: below a millionth of the transition its slope at 0 serves, off by 1e-12. */
static void find_friction(const ga_friction *f, const double *lambda, ball *b)
{
    double law[2];
    ga_friction_press(lambda[0] * lambda[0] + lambda[1] * lambda[1] + lambda[2] * lambda[2],
                      b->pressed);
    b->pressed[0] += f->preload;
    ga_friction_law(f, b->speed, law);
    const double v = b->speed;
    const bool slow = v < 1e-6 * f->transition;
    b->chi = f->radius * (slow ? law[1] : law[0] / v);
    b->chi_v = slow ? 0 : f->radius * (law[1] - law[0] / v) / (v * v);
    b->drag += b->chi * b->pressed[0];
}

static void find(const ga_joint *joint, const ga_element_state *state, ball *b)
{
    const ga_attachment *a = &joint->attachment[0];
    const ga_frame *first = &state->frames[joint->element.nodes[0]];
    const ga_frame *second = &state->frames[joint->element.nodes[1]];
    const double *A = joint->marker[0].A, *B = joint->marker[1].A;
    memset(b, 0, sizeof *b);
    multiply_back(second->R, first->R, b->C);
    b->carried = ga_rotate(b->C, ga_vec3_load(first->w));
    b->omega = ga_vec3_sub(ga_vec3_load(second->w), b->carried);
    b->speed = sqrt(ga_vec3_dot(b->omega, b->omega));
    b->drag = a->damping;
    if (joint->element.host) find_friction(&a->friction, state->lambda + joint->element.row, b);
    b->m = ga_vec3_scale(-b->drag, b->omega);
    if (a->stiffness == 0) return;
    double CB[9], p[4];
    const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    multiply_back(b->C, B, CB);
    multiply_back(A, CB, b->Q);
    ga_quaternion_from_matrix(b->Q, p);
    ga_lie_map_inverse(so3, GA_MAP_EXP, p, b->rho);
    b->m = ga_vec3_axpy(b->m, -a->stiffness, ga_rotate(B, ga_vec3_load(b->rho)));
}

/* Nothing acts but the reaction. */
static bool idle(const void *element)
{
    const ga_joint *joint = element;
    const ga_attachment *a = &joint->attachment[0];
    return a->stiffness == 0 && a->damping == 0 && !joint->element.host;
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    ball b;
    if (idle(element)) return;
    find(element, state, &b);
    const ga_vec3 back = ga_rotate_back(b.C, b.m);
    ga_vec3_store(ga_vec3_sub(ga_vec3_load(f + 3), back), f + 3);
    ga_vec3_store(ga_vec3_add(ga_vec3_load(f + 9), b.m), f + 9);
}

/* dm/domega = -drag I - N chi_v omega omega^T */
static void drag_matrix(const ball *b, double *A)
{
    ga_mat3_write(-b->drag, (ga_vec3){0, 0, 0}, b->omega,
                  ga_vec3_scale(-0.5 * b->chi_v * b->pressed[0], b->omega), 3, A);
}

/* D m for delta_a and delta_b */
static void turn_torque(const ga_joint *joint, const ball *b, ga_vec3 w_a, const double *drag,
                        double *by_a, double *by_b)
{
    const double k = joint->attachment[0].stiffness;
    const double *A = joint->marker[0].A, *B = joint->marker[1].A;
    double X[9], Y[9];
    skew(w_a, X);
    multiply(b->C, X, Y);
    multiply(drag, Y, by_a);
    skew(ga_vec3_scale(-1, b->carried), X);
    multiply(drag, X, by_b);
    if (k == 0) return;
    const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    double T[9], BT[9], M[9];
    ga_lie_tangent_inverse(so3, GA_MAP_EXP, b->rho, T);
    multiply(B, T, BT);
    transpose(B, X);
    multiply(BT, X, M);
    for (int i = 0; i < 9; ++i) by_b[i] -= k * M[i];
    transpose(A, X); /* Q^T A^T */
    multiply_back(b->Q, X, Y);
    multiply(BT, Y, M);
    for (int i = 0; i < 9; ++i) by_a[i] += k * M[i];
}

/* With m_a = -C^T m:  D m_a = delta_a x C^T m - C^T (delta_b x m) - C^T D m */
static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    const ga_joint *joint = element;
    ball b;
    if (idle(joint)) return;
    find(joint, state, &b);
    double drag[9], by_a[9], by_b[9], X[9], Y[9];
    const ga_vec3 w_a = ga_vec3_load(state->frames[joint->element.nodes[0]].w);
    drag_matrix(&b, drag);
    turn_torque(joint, &b, w_a, drag, by_a, by_b);
    add_block(K, 3, 1, -1, by_a);
    add_block(K, 3, 3, -1, by_b);
    multiply_back(b.C, by_a, X);
    add_block(K, 1, 1, 1, X);
    skew(ga_rotate_back(b.C, b.m), X);
    add_block(K, 1, 1, 1, X);
    skew(b.m, X);
    for (int i = 0; i < 9; ++i) X[i] = by_b[i] - X[i];
    multiply_back(b.C, X, Y);
    add_block(K, 1, 3, 1, Y);

    multiply(drag, b.C, X); /* domega = w_b - C w_a */
    multiply_back(b.C, drag, Y);
    add_block(C, 3, 3, -1, drag);
    add_block(C, 3, 1, 1, X);
    add_block(C, 1, 3, 1, Y);
    multiply(Y, b.C, X);
    add_block(C, 1, 1, -1, X);
}

static void force_multipliers(const void *element, const ga_element_state *state, double *L)
{
    const ga_joint *joint = element;
    if (!joint->element.host) return;
    const int rows = joint->element.rows;
    ball b;
    find(joint, state, &b);
    const ga_vec3 by_N = ga_vec3_scale(-b.chi, b.omega), back = ga_rotate_back(b.C, by_N);
    const double out[6] = {-back.x, -back.y, -back.z, by_N.x, by_N.y, by_N.z};
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < rows; ++k) {
            const double N_k = b.pressed[1] * state->lambda[joint->element.row + k];
            L[rows * (3 + i) + k] += out[i] * N_k;
            L[rows * (9 + i) + k] += out[3 + i] * N_k;
        }
}

static double potential(const void *element, const ga_element_state *state)
{
    const ga_joint *joint = element;
    ball b;
    find(joint, state, &b);
    const ga_vec3 rho = ga_vec3_load(b.rho);
    return 0.5 * joint->attachment[0].stiffness * ga_vec3_dot(rho, rho);
}

static double dissipation(const void *element, const ga_element_state *state)
{
    ball b;
    find(element, state, &b);
    return b.drag * b.speed * b.speed;
}

static bool coupled(const void *element, int i, int j)
{
    return ga_joint_coupled(element, i, j) || (!idle(element) && i % 2 == 1 && j % 2 == 1);
}

static const ga_field fields[] = {
    GA_JOINT_FIELD_BETWEEN,
    GA_JOINT_FIELD_AT,
    GA_FIELD_AS(ga_joint, NUMBER, attachment[0].stiffness, "stiffness",
                "stiffness of a spring against rotation", .unit = "N m/rad",
                .range = GA_NOT_NEGATIVE),
    GA_FIELD_AS(ga_joint, NUMBER, attachment[0].damping, "damping",
                "damping of a damper against rotation", .unit = "N m s/rad",
                .range = GA_NOT_NEGATIVE),
    GA_FIELD_AS(ga_joint, GROUP, attachment[0].friction, "friction",
                "Coulomb friction from the joint's own reaction",
                .group = ga_friction_fields_smooth),
    {0},
};
static const ga_channel_type channels[] = {GA_JOINT_CHANNELS, {0}};

const ga_element_type ga_joint_spherical = {
    .name = "spherical",
    .help = "Ball joint: two bodies share a point. The normal force of friction is the "
            "magnitude of the reaction.",
    .size = sizeof(ga_joint),
    .fields = fields,
    .example = "{type: spherical, between: [a, b], at: [0.3, 0.2, 0.1]}",
    .where = GA_SPATIAL,
    .prepare = prepare,
    .idle = idle,
    .force = force,
    .tangent = tangent,
    .force_multipliers = force_multipliers,
    .potential = potential,
    .dissipation = dissipation,
    .channels = channels,
    GA_JOINT_FUNCTIONS_BUT_COUPLED,
    .coupled = coupled,
};
