/* Bushing: linear spring and damper in all six directions between two bodies.
 *
 * Both carry a frame, points x_A, x_B and axes A, B (rotation matrices, body axes folded in),
 * the same axes at t = 0. The relative displacement and rotation, in the axes of the first:
 *
 *     e = (A^T (x_B - x_A), log(A^T B)),     g = K e + C e'
 *
 * With w_rel = B^T (w_B - w_A), T the tangent operator of the exponential map (lie.h) and its
 * transpose T^T:
 *
 *     e' = (A^T (v_B - v_A - w_A x (x_B - x_A)), T^-1(e_r) w_rel)
 *
 * so that g . e' is the power of the force -A g_t on the second body at x_B, of its opposite on
 * the first at the same place, and of the torques -+B T^-T(e_r) g_r. K symmetric: there is the
 * potential e . K e/2 for any motion, not only small ones. Rotations of half a turn or more
 * make the rotation vector jump; a bushing is not for them.
 */
#include <galpha/lie.h>
#include <math.h>
#include <string.h>

#include "element/observe.h"

typedef struct bushing {
    ga_element element;
    ga_anchor between[2];
    double at[3];
    double rotation[4];
    double stiffness[36], damping[36];
    double axes[2][3][3]; /* of both frames, in body axes */
} bushing;

static const ga_field fields[] = {
    GA_FIELD(bushing, PAIR, between, "the two bodies, or the two points", .required = true),
    GA_FIELD(bushing, PLACE, at,
             "location in the position given in the model file: world coordinates, or the name "
             "of a point",
             .unit = "m", .fallback = {NAN},
             .absent = "the points named in `between`; if only bodies are named, the centre of "
                       "mass of the second"),
    GA_FIELD(
        bushing, ROTATION, rotation,
        "its axes relative to those of the world, in the position given in the model file"),
    GA_FIELD(bushing, MATRIX6, stiffness,
             "stiffness for displacements and rotations; the matrix must be symmetric",
             .unit = "N/m, N, N m/rad"),
    GA_FIELD(bushing, MATRIX6, damping,
             "damping; the matrix must be symmetric and positive semidefinite",
             .unit = "N s/m, N s, N m s/rad"),
    {0},
};

/* --- preparation ---------------------------------------------------------------------------
 */

static double largest(const double M[36])
{
    double size = 0;
    for (int k = 0; k < 36; ++k) size = fmax(size, fabs(M[k]));
    return size;
}

static bool symmetric(const double M[36])
{
    double tolerance = 1e-12 * largest(M);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < i; ++j)
            if (!(fabs(M[6 * i + j] - M[6 * j + i]) <= tolerance)) return false;
    return true;
}

/* Units differ between rows, so the matrix is scaled to a diagonal of ones first. Then
 * eliminated: a pivot below zero by more than round-off says that x . M x < 0 for some x. */
static bool not_negative(const double M[36])
{
    const double tolerance = 1e-12;
    double s[6], L[36];
    for (int i = 0; i < 6; ++i) {
        if (M[7 * i] < 0) return false;
        s[i] = M[7 * i] > 0 ? 1 / sqrt(M[7 * i]) : 0;
    }
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            /* next to a zero on the diagonal nothing else may stand */
            if (s[i] * s[j] == 0 && M[6 * i + j] != 0) return false;
            L[6 * i + j] = M[6 * i + j] * s[i] * s[j];
        }
    for (int k = 0; k < 6; ++k) {
        double pivot = L[7 * k];
        if (pivot < -tolerance) return false;
        for (int i = k + 1; i < 6; ++i) {
            if (pivot <= tolerance && fabs(L[6 * i + k]) > sqrt(tolerance)) return false;
            if (pivot <= tolerance) continue;
            double factor = L[6 * i + k] / pivot;
            for (int j = k + 1; j < 6; ++j) L[6 * i + j] -= factor * L[6 * k + j];
        }
    }
    return true;
}

static bool check_matrices(const bushing *b, const ga_setup *setup)
{
    if (!symmetric(b->stiffness))
        return ga_element_error(setup, b, "stiffness", "is not symmetric");
    if (!symmetric(b->damping))
        return ga_element_error(setup, b, "damping", "is not symmetric");
    if (!not_negative(b->damping))
        return ga_element_error(setup, b, "damping",
                                "is not positive semidefinite: some motions would gain energy");
    if (!not_negative(b->stiffness))
        ga_element_warning(setup, b, "stiffness",
                           "is not positive semidefinite: some displacements would grow");
    return true;
}

/* The points of both frames, by the rule of joints. */
static bool place(bushing *b, const ga_setup *setup)
{
    double x[2][3];
    int centre_of;
    if (!ga_setup_sides(setup, b, b->between, b->at, true, x, &centre_of)) return false;
    for (int i = 0; i < 2; ++i)
        ga_setup_local(setup, b->element.nodes[i], x[i], b->between[i].p);
    return true;
}

static bool prepare(void *element, ga_setup *setup)
{
    bushing *b = element;
    if (!ga_element_between(setup, b, b->between) || !check_matrices(b, setup)) return false;
    if (!place(b, setup)) return false;
    double Q[9];
    ga_quaternion_to_matrix(b->rotation, Q);
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 3; ++k)
            ga_setup_local_direction(setup, b->element.nodes[i], Q + 3 * k, b->axes[i][k]);
    return true;
}

/* --- deformation ---------------------------------------------------------------------------
 */

static const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);

/* e and e', the axes of both frames in the world, and what turns g_r into a torque. */
typedef struct deformation {
    ga_dual e[6], rate[6];
    ga_dual3 axis[2][3];
    double Tinv[9], DTinv[3][9]; /* T^-1(e_r) and its derivatives, column-major */
} deformation;

static void displacement(const bushing *b, const ga_loads *loads, deformation *x)
{
    int n = loads->columns;
    ga_dual3 d, dd, omega, turning;
    ga_loads_difference(loads, b->between, &d, &dd);
    ga_loads_angular_velocity(loads, 0, &omega);
    ga_dual3_cross(n, &omega, &d, &turning);
    ga_dual3_axpy(n, &dd, -1, &turning, &dd);
    for (int k = 0; k < 3; ++k) {
        ga_dual3_dot(n, &x->axis[0][k], &d, &x->e[k]);
        ga_dual3_dot(n, &x->axis[0][k], &dd, &x->rate[k]);
    }
}

/* log(A^T B) */
static void rotation_vector(const deformation *x, double e[3])
{
    double Q[9], p[4];
    for (int i = 0; i < 3; ++i)
        for (int k = 0; k < 3; ++k)
            Q[3 * k + i] = ga_vec3_dot(x->axis[0][i].value, x->axis[1][k].value);
    ga_quaternion_from_matrix(Q, p);
    ga_lie_map_inverse(so3, GA_MAP_EXP, p, e);
}

static void tangent_operators(const double e[3], int n, deformation *x)
{
    ga_lie_tangent_inverse(so3, GA_MAP_EXP, e, x->Tinv);
    for (int k = 0; n && k < 3; ++k) {
        const double unit[3] = {k == 0, k == 1, k == 2};
        ga_lie_tangent_inverse_derivative(so3, GA_MAP_EXP, e, unit, x->DTinv[k]);
    }
}

/* T^-1 a, or T^-T a: also T^-1 moves, with e_r. */
typedef ga_vec3 (*apply)(const double *M, ga_vec3 a);

static void turn(const deformation *x, int n, apply apply_to, const ga_dual a[3],
                 ga_dual out[3])
{
    ga_dual3 y;
    ga_dual3_join(n, a, &y);
    ga_vec3 moved[3];
    for (int k = 0; n && k < 3; ++k) moved[k] = apply_to(x->DTinv[k], y.value);
    for (int j = 0; j < n; ++j) {
        ga_vec3 d = apply_to(x->Tinv, y.d[j]);
        for (int k = 0; k < 3; ++k) d = ga_vec3_axpy(d, x->e[3 + k].d[j], moved[k]);
        out[0].d[j] = d.x;
        out[1].d[j] = d.y;
        out[2].d[j] = d.z;
    }
    ga_vec3 value = apply_to(x->Tinv, y.value);
    out[0].value = value.x;
    out[1].value = value.y;
    out[2].value = value.z;
}

/* The variation of e_r is T^-1 of the relative rotation, as e_r' is T^-1 w_rel: its columns
 * are those of w_rel by the twists. */
static void rotation(const ga_loads *loads, deformation *x)
{
    int n = loads->columns, size = loads->size;
    ga_dual3 omega[2];
    for (int i = 0; i < 2; ++i) ga_loads_angular_velocity(loads, i, &omega[i]);
    ga_dual3_axpy(n, &omega[1], -1, &omega[0], &omega[1]);
    ga_dual relative[3];
    for (int k = 0; k < 3; ++k) ga_dual3_dot(n, &x->axis[1][k], &omega[1], &relative[k]);

    double e[3];
    rotation_vector(x, e);
    tangent_operators(e, n, x);
    for (int k = 0; k < 3; ++k) {
        ga_dual_constant(n, e[k], &x->e[3 + k]);
        for (int j = 0; n && j < size; ++j)
            for (int c = 0; c < 3; ++c)
                x->e[3 + k].d[j] += x->Tinv[3 * c + k] * relative[c].d[size + j];
    }
    turn(x, n, ga_mat3_apply, relative, x->rate + 3);
}

static void deform(const bushing *b, const ga_loads *loads, deformation *x)
{
    for (int i = 0; i < 2; ++i)
        for (int k = 0; k < 3; ++k) ga_loads_direction(loads, i, b->axes[i][k], &x->axis[i][k]);
    displacement(b, loads, x);
    rotation(loads, x);
}

/* Force and torque that push the second body back, world axes. */
static void stress(const bushing *b, const ga_loads *loads, ga_dual3 *F, ga_dual3 *T)
{
    int n = loads->columns;
    deformation x;
    deform(b, loads, &x);
    ga_dual g[6];
    for (int i = 0; i < 6; ++i) {
        ga_dual_constant(n, 0, &g[i]);
        for (int j = 0; j < 6; ++j) {
            const double k = b->stiffness[6 * i + j], c = b->damping[6 * i + j];
            if (k != 0) ga_dual_axpy(n, &g[i], k, &x.e[j], &g[i]);
            if (c != 0) ga_dual_axpy(n, &g[i], c, &x.rate[j], &g[i]);
        }
    }
    turn(&x, n, ga_mat3_apply_transposed, g + 3, g + 3);
    ga_dual3_constant(n, (ga_vec3){0, 0, 0}, F);
    ga_dual3_constant(n, (ga_vec3){0, 0, 0}, T);
    for (int k = 0; k < 3; ++k) {
        ga_dual3_add_scaled(n, &g[k], &x.axis[0][k], F);
        ga_dual3_add_scaled(n, &g[3 + k], &x.axis[1][k], T);
    }
}

static void act(const bushing *b, ga_loads *loads)
{
    ga_dual3 F, T, point;
    stress(b, loads, &F, &T);
    ga_loads_position(loads, 1, b->between[1].p, &point);
    ga_loads_add_force(loads, 0, 1, &F, &point);
    ga_loads_add_force(loads, 1, -1, &F, &point);
    ga_loads_add_torque(loads, 0, 1, &T);
    ga_loads_add_torque(loads, 1, -1, &T);
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

/* --- energy and channels -------------------------------------------------------------------
 */

static void read(const bushing *b, const ga_element_state *state, double e[6], double rate[6])
{
    ga_loads loads = ga_loads_value(b, state);
    deformation x;
    deform(b, &loads, &x);
    for (int k = 0; k < 6; ++k) {
        e[k] = x.e[k].value;
        rate[k] = x.rate[k].value;
    }
}

static double square(const double M[36], const double x[6])
{
    double sum = 0;
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) sum += x[i] * M[6 * i + j] * x[j];
    return sum;
}

static double potential(const void *element, const ga_element_state *state)
{
    const bushing *b = element;
    double e[6], rate[6];
    read(b, state, e, rate);
    return square(b->stiffness, e) / 2;
}

static double dissipation(const void *element, const ga_element_state *state)
{
    const bushing *b = element;
    double e[6], rate[6];
    read(b, state, e, rate);
    return square(b->damping, rate);
}

static void force_channel(const void *element, const ga_element_state *state, double *out)
{
    ga_loads loads = ga_loads_value(element, state);
    ga_dual3 F, T;
    stress(element, &loads, &F, &T);
    ga_vec3_store(ga_vec3_scale(-1, F.value), out);
}

static void torque_channel(const void *element, const ga_element_state *state, double *out)
{
    ga_loads loads = ga_loads_value(element, state);
    ga_dual3 F, T;
    stress(element, &loads, &F, &T);
    ga_vec3_store(ga_vec3_scale(-1, T.value), out);
}

static void displacement_channel(const void *element, const ga_element_state *state,
                                 double *out)
{
    double e[6], rate[6];
    read(element, state, e, rate);
    for (int k = 0; k < 3; ++k) out[k] = e[k];
}

static void rotation_channel(const void *element, const ga_element_state *state, double *out)
{
    double e[6], rate[6];
    read(element, state, e, rate);
    for (int k = 0; k < 3; ++k) out[k] = e[3 + k];
}

static const ga_channel_type channels[] = {
    {.name = "force",
     .unit = "N",
     .help = "force on the second body at its point, world axes",
     .count = 3,
     .value = force_channel},
    {.name = "torque",
     .unit = "N m",
     .help = "torque on the second body, world axes",
     .count = 3,
     .value = torque_channel,
     .axial = true},
    {.name = "displacement",
     .unit = "m",
     .help = "displacement of the second point relative to the first, axes of the first frame",
     .count = 3,
     .value = displacement_channel},
    {.name = "rotation",
     .unit = "rad",
     .help = "rotation vector of the second frame relative to the first",
     .count = 3,
     .value = rotation_channel,
     .axial = true},
    {0},
};

const ga_element_type ga_force_bushing = {
    .name = "bushing",
    .section = "forces",
    .help = "Elastic mount between two bodies: linear stiffness and damping for displacement "
            "and rotation, with coupling by full matrices.",
    .size = sizeof(bushing),
    .fields = fields,
    .example = "{type: bushing, between: [a, b], at: [0.3, 0.2, 0.1], stiffness: [90, 90, 150, "
               "4, 4, 8], damping: [2, 2, 3, 0.1, 0.1, 0.2]}",
    .planar_example = "{type: bushing, between: [a, b], at: [0.3, 0.2], stiffness: [90, 150, "
                      "8], damping: [2, 3, 0.2]}",
    .prepare = prepare,
    .force = force,
    .tangent = tangent,
    .potential = potential,
    .dissipation = dissipation,
    .channels = channels,
};
