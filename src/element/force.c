/* Kinematics of points and the loads of forces; formulas in force.h. */
#include "element/force.h"

#include <math.h>

/* --- evaluations ---------------------------------------------------------------------------
 */

ga_loads ga_loads_value(const void *element, const ga_element_state *state)
{
    const ga_element *e = element;
    return (ga_loads){.element = e, .state = state, .size = GA_TWIST * e->node_count};
}

ga_loads ga_loads_varied(const void *element, const ga_element_state *state)
{
    ga_loads loads = ga_loads_value(element, state);
    loads.columns = 2 * loads.size;
    return loads;
}

ga_loads ga_loads_force(const void *element, const ga_element_state *state, double *f)
{
    ga_loads loads = ga_loads_value(element, state);
    loads.f = f;
    return loads;
}

ga_loads ga_loads_tangent(const void *element, const ga_element_state *state, double *K,
                          double *C)
{
    ga_loads loads = ga_loads_varied(element, state);
    loads.K = K;
    loads.C = C;
    return loads;
}

/* --- kinematics ----------------------------------------------------------------------------
 */

static const ga_frame *frame_of(const ga_loads *loads, int i)
{
    return &loads->state->frames[loads->element->nodes[i]];
}

static ga_vec3 unit(int k) { return (ga_vec3){k == 0, k == 1, k == 2}; }

/* Three columns from `first` on: R e_k. */
static void add_translation(const ga_loads *loads, const double *R, int first, ga_dual3 *out)
{
    if (!loads->columns) return;
    for (int k = 0; k < 3; ++k) out->d[first + k] = ga_mat3_apply(R, unit(k));
}

/* Three columns from `first` on: R (e_k x a). */
static void add_rotation(const ga_loads *loads, const double *R, ga_vec3 a, int first,
                         ga_dual3 *out)
{
    if (!loads->columns) return;
    for (int k = 0; k < 3; ++k) out->d[first + k] = ga_mat3_apply(R, ga_vec3_cross(unit(k), a));
}

void ga_loads_position(const ga_loads *loads, int i, const double p[3], ga_dual3 *x)
{
    const ga_frame *frame = frame_of(loads, i);
    ga_vec3 lever = ga_vec3_load(p);
    ga_vec3 place = ga_vec3_add(ga_vec3_load(frame->x), ga_mat3_apply(frame->R, lever));
    ga_dual3_constant(loads->columns, place, x);
    add_translation(loads, frame->R, GA_TWIST * i, x);
    add_rotation(loads, frame->R, lever, GA_TWIST * i + 3, x);
}

void ga_loads_velocity(const ga_loads *loads, int i, const double p[3], ga_dual3 *v)
{
    const ga_frame *frame = frame_of(loads, i);
    ga_vec3 lever = ga_vec3_load(p);
    ga_vec3 speed =
        ga_vec3_add(ga_vec3_load(frame->u), ga_vec3_cross(ga_vec3_load(frame->w), lever));
    ga_dual3_constant(loads->columns, ga_mat3_apply(frame->R, speed), v);
    add_rotation(loads, frame->R, speed, GA_TWIST * i + 3, v);
    add_translation(loads, frame->R, loads->size + GA_TWIST * i, v);
    add_rotation(loads, frame->R, lever, loads->size + GA_TWIST * i + 3, v);
}

void ga_loads_direction(const ga_loads *loads, int i, const double a[3], ga_dual3 *direction)
{
    const ga_frame *frame = frame_of(loads, i);
    ga_vec3 local = ga_vec3_load(a);
    ga_dual3_constant(loads->columns, ga_mat3_apply(frame->R, local), direction);
    add_rotation(loads, frame->R, local, GA_TWIST * i + 3, direction);
}

void ga_loads_angular_velocity(const ga_loads *loads, int i, ga_dual3 *omega)
{
    const ga_frame *frame = frame_of(loads, i);
    ga_loads_direction(loads, i, frame->w, omega);
    add_translation(loads, frame->R, loads->size + GA_TWIST * i + 3, omega);
}

void ga_loads_difference(const ga_loads *loads, const ga_anchor between[2], ga_dual3 *d,
                         ga_dual3 *dd)
{
    ga_dual3 first;
    ga_loads_position(loads, 0, between[0].p, &first);
    ga_loads_position(loads, 1, between[1].p, d);
    ga_dual3_axpy(loads->columns, d, -1, &first, d);
    ga_loads_velocity(loads, 0, between[0].p, &first);
    ga_loads_velocity(loads, 1, between[1].p, dd);
    ga_dual3_axpy(loads->columns, dd, -1, &first, dd);
}

/* --- loads ---------------------------------------------------------------------------------
 */

static void subtract_column(double *column, int stride, ga_vec3 a)
{
    column[0] -= a.x;
    column[stride] -= a.y;
    column[2 * stride] -= a.z;
}

/* Adds sign R^T V to three rows. */
static void add_rows(ga_loads *loads, int i, int row, double sign, const ga_dual3 *V)
{
    const double *R = frame_of(loads, i)->R;
    int n = loads->size;
    ga_vec3 local = ga_vec3_scale(sign, ga_mat3_apply_transposed(R, V->value));
    if (loads->f)
        ga_vec3_store(ga_vec3_add(ga_vec3_load(loads->f + row), local), loads->f + row);
    if (!loads->K) return;
    double *K = loads->K + row * n, *C = loads->C + row * n;
    for (int j = 0; j < n; ++j) {
        subtract_column(K + j, n, ga_vec3_scale(sign, ga_mat3_apply_transposed(R, V->d[j])));
        subtract_column(C + j, n,
                        ga_vec3_scale(sign, ga_mat3_apply_transposed(R, V->d[n + j])));
    }
    for (int k = 0; k < 3; ++k)
        subtract_column(K + GA_TWIST * i + 3 + k, n, ga_vec3_cross(local, unit(k)));
}

void ga_loads_add_force(ga_loads *loads, int i, double sign, const ga_dual3 *F,
                        const ga_dual3 *X)
{
    static const double origin[3];
    ga_dual3 lever, moment;
    ga_loads_position(loads, i, origin, &lever);
    ga_dual3_axpy(loads->columns, X, -1, &lever, &lever);
    ga_dual3_cross(loads->columns, &lever, F, &moment);
    add_rows(loads, i, GA_TWIST * i, sign, F);
    add_rows(loads, i, GA_TWIST * i + 3, sign, &moment);
}

void ga_loads_add_torque(ga_loads *loads, int i, double sign, const ga_dual3 *T)
{
    add_rows(loads, i, GA_TWIST * i + 3, sign, T);
}

double ga_force_power(const void *element, const ga_element_state *state)
{
    const ga_element *e = element;
    double f[GA_TWIST * GA_ELEMENT_MAX_NODES] = {0}, power = 0;
    e->type->force(element, state, f);
    for (int i = 0; i < e->node_count; ++i) {
        const ga_frame *frame = &state->frames[e->nodes[i]];
        power += ga_vec3_dot(ga_vec3_load(f + GA_TWIST * i), ga_vec3_load(frame->u));
        power += ga_vec3_dot(ga_vec3_load(f + GA_TWIST * i + 3), ga_vec3_load(frame->w));
    }
    return power;
}

/* --- preparation ---------------------------------------------------------------------------
 */

bool ga_element_between(ga_setup *setup, void *element, const ga_anchor between[2])
{
    ga_element *e = element;
    e->node_count = 2;
    e->nodes[0] = between[0].node;
    e->nodes[1] = between[1].node;
    if (e->nodes[0] != e->nodes[1]) return true;
    return ga_element_error(setup, element, "between",
                            e->nodes[0] == GA_GROUND
                                ? "both ends are on ground; at least one must be on a body"
                                : "both ends are on the same body, expected two bodies");
}

bool ga_element_check_spring(const ga_setup *setup, const void *element, double stiffness,
                             double damping)
{
    if (stiffness < 0)
        ga_element_warning(setup, element, "stiffness",
                           "is negative: the spring would push away from its rest position");
    if (damping < 0)
        return ga_element_error(setup, element, "damping",
                                "is negative, expected zero or more");
    return true;
}

void ga_setup_place(const ga_setup *setup, const ga_anchor *anchor, double x[3])
{
    const ga_frame *frame = &setup->frames[anchor->node];
    ga_vec3 arm = ga_mat3_apply(frame->R, ga_vec3_load(anchor->p));
    ga_vec3_store(ga_vec3_add(ga_vec3_load(frame->x), arm), x);
}

void ga_setup_local(const ga_setup *setup, int node, const double x[3], double p[3])
{
    const ga_frame *frame = &setup->frames[node];
    ga_vec3 arm = ga_vec3_sub(ga_vec3_load(x), ga_vec3_load(frame->x));
    ga_vec3_store(ga_mat3_apply_transposed(frame->R, arm), p);
}

void ga_setup_local_direction(const ga_setup *setup, int node, const double a[3], double b[3])
{
    ga_vec3_store(ga_mat3_apply_transposed(setup->frames[node].R, ga_vec3_load(a)), b);
}
