#include "model/assembly.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/report.h"
#include "model/pattern.h"

#include <string.h>

/* --- numbering ---------------------------------------------------------------------------- */

static ga_node_kind kind_of(const ga_model *model, const ga_body *body, bool se)
{
    bool point = body->type == GA_BODY_POINT_MASS;
    if (model->dimension == 2) return point ? GA_NODE_POINT2 : se ? GA_NODE_SE2 : GA_NODE_R2SO2;
    return point ? GA_NODE_POINT3 : se ? GA_NODE_SE3 : GA_NODE_R3SO3;
}

static ga_status number_nodes(ga_assembly *a, bool se)
{
    const ga_model *model = a->model;
    int n = model->body_count;
    bool memory = (a->kinds = GA_NEW(ga_node_kind, n)) && (a->nodes = GA_NEW(ga_node, n)) &&
                  (a->q_at = GA_NEW(int, n + 1)) && (a->v_at = GA_NEW(int, n + 1)) &&
                  (a->frames = GA_NEW(ga_frame, n + 1));
    if (!memory) return GA_ERR_MEMORY;
    *a->frames++ = model->frames[GA_GROUND];
    for (int i = 0; i < n; ++i) {
        a->kinds[i] = kind_of(model, model->bodies + i, se);
        a->nodes[i] = ga_node_of(a->kinds[i]);
        a->q_at[i + 1] = a->q_at[i] + ga_node_nq(a->nodes[i]);
        a->v_at[i + 1] = a->v_at[i] + ga_node_nv(a->nodes[i]);
    }
    a->nq = a->q_at[n];
    a->nv = a->v_at[n];
    bool states = (a->q = GA_NEW(double, a->nq)) && (a->v = GA_NEW(double, a->nv)) &&
                  (a->memory = GA_NEW(double, model->memory_count));
    return states ? GA_OK : GA_ERR_MEMORY;
}

/* Columns of v each element works on, node by node; and room for its local matrices. */
static ga_status number_columns(ga_assembly *a)
{
    const ga_model *model = a->model;
    int count = model->element_count, total = 0, most = 1, rows_most = 1;
    a->width = GA_NEW(int, count);
    a->column_at = GA_NEW(int, count);
    if (!a->width || !a->column_at) return GA_ERR_MEMORY;
    for (int e = 0; e < count; ++e) {
        const ga_element *element = model->elements[e];
        a->column_at[e] = total;
        for (int k = 0; k < element->node_count; ++k)
            if (element->nodes[k] >= 0) a->width[e] += ga_node_nv(a->nodes[element->nodes[k]]);
        total += a->width[e];
        if (element->node_count > most) most = element->node_count;
        int rows = element->rows > element->speed_rows ? element->rows : element->speed_rows;
        if (element->host && element->host->rows + element->host->speed_rows > rows)
            rows = element->host->rows + element->host->speed_rows;
        if (rows > rows_most) rows_most = rows;
    }
    int side = GA_TWIST * most, size = side * (rows_most > side ? rows_most : side);
    bool memory = (a->columns = GA_NEW(int, total)) && (a->A = GA_NEW(double, size)) &&
                  (a->A2 = GA_NEW(double, size)) && (a->out = GA_NEW(double, size)) &&
                  (a->f = GA_NEW(double, 2 * side));
    if (!memory) return GA_ERR_MEMORY;
    for (int e = 0, at = 0; e < count; ++e) {
        const ga_element *element = model->elements[e];
        for (int k = 0; k < element->node_count; ++k) {
            int node = element->nodes[k];
            for (int c = 0; node >= 0 && c < ga_node_nv(a->nodes[node]); ++c)
                a->columns[at++] = a->v_at[node] + c;
        }
    }
    return GA_OK;
}

/* --- state -------------------------------------------------------------------------------- */

ga_state ga_assembly_state(ga_assembly *a, double t, const double *q, const double *v,
                           const double *lambda, const double *psi)
{
    size_t nq = (size_t)a->nq * sizeof *q, nv = (size_t)a->nv * sizeof *v;
    int n = a->model->body_count;
    if (!a->placed || memcmp(a->q, q, nq) != 0) {
        memcpy(a->q, q, nq);
        for (int i = 0; i < n; ++i) ga_node_place(a->kinds[i], q + a->q_at[i], a->frames + i);
        a->placed = true;
        a->moved = false;
    }
    if (v && (!a->moved || memcmp(a->v, v, nv) != 0)) {
        memcpy(a->v, v, nv);
        for (int i = 0; i < n; ++i) ga_node_move(a->kinds[i], v + a->v_at[i], a->frames + i);
        a->moved = true;
    }
    return (ga_state){t, a->frames, lambda, psi, a->memory};
}

static ga_state state_at(ga_assembly *a, const ga_point *at)
{
    return ga_assembly_state(a, at->t, at->q, at->v, at->lambda, at->psi);
}

void ga_assembly_initial(const ga_assembly *a, double *q, double *v)
{
    const ga_model *model = a->model;
    for (int i = 0; i < model->body_count; ++i) {
        const ga_body *body = model->bodies + i;
        ga_node_coordinates(a->kinds[i], body->position, body->rotation, q + a->q_at[i]);
        ga_node_velocity(a->kinds[i], model->frames + i, v + a->v_at[i]);
    }
}

void ga_assembly_remember(ga_assembly *a, double t, const double *q, const double *v)
{
    ga_state state = ga_assembly_state(a, t, q, v, NULL, NULL);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->type->remember && element->memory_count)
            element->type->remember(element, &state, a->memory + element->memory);
    }
}

void ga_assembly_commit(ga_assembly *a, const ga_state *state)
{
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->type->commit && element->memory_count)
            element->type->commit(element, state, a->memory + element->memory);
    }
}

/* --- from twists to coordinates ----------------------------------------------------------- */

void ga_assembly_row_out(const ga_assembly *a, const ga_element *element, const double *local,
                         double *out)
{
    for (int k = 0; k < element->node_count; ++k) {
        int node = element->nodes[k];
        if (node < 0) continue;
        ga_node_row(a->kinds[node], a->frames + node, local + GA_TWIST * k, out);
        out += ga_node_nv(a->nodes[node]);
    }
}

void ga_assembly_add_row(const ga_assembly *a, const ga_element *element, const double *local,
                         double *covector)
{
    for (int k = 0; k < element->node_count; ++k) {
        int node = element->nodes[k];
        if (node < 0) continue;
        double row[GA_TWIST];
        ga_node_row(a->kinds[node], a->frames + node, local + GA_TWIST * k, row);
        double *to = covector + a->v_at[node];
        for (int c = 0; c < ga_node_nv(a->nodes[node]); ++c) to[c] += row[c];
    }
}

/* Z += B E: twists change with q where velocities are in world axes. */
static void add_mixed_rows(const ga_assembly *a, const ga_element *element, int rows,
                           const double *B, double *Z)
{
    int side = GA_TWIST * element->node_count;
    for (int k = 0; k < element->node_count; ++k) {
        int node = element->nodes[k];
        if (node < 0 || !ga_node_is_mixed(a->kinds[node])) continue;
        const double *u = a->frames[node].u;
        for (int r = 0; r < rows; ++r) {
            const double *b = B + r * side + GA_TWIST * k; /* row b u~ = b x u */
            double *z = Z + r * side + GA_TWIST * k + 3;
            z[0] += b[1] * u[2] - b[2] * u[1];
            z[1] += b[2] * u[0] - b[0] * u[2];
            z[2] += b[0] * u[1] - b[1] * u[0];
        }
    }
}

/* K += F, with r the element's share of the dynamics. */
static void add_mixed_force(const ga_assembly *a, const ga_element *element, const double *r,
                            double *K)
{
    int side = GA_TWIST * element->node_count;
    for (int k = 0; k < element->node_count; ++k) {
        int node = element->nodes[k];
        if (node < 0 || !ga_node_is_mixed(a->kinds[node])) continue;
        const double *f = r + GA_TWIST * k;
        double *at = K + GA_TWIST * k * side + GA_TWIST * k + 3; /* minus f~ */
        at[1] += f[2], at[2] -= f[1];
        at[side] -= f[2], at[side + 2] += f[0];
        at[2 * side] += f[1], at[2 * side + 1] -= f[0];
    }
}

/* --- an element's matrices, in coordinates ------------------------------------------------ */

void ga_assembly_gradient_of(ga_assembly *a, int e, const ga_state *state, double *out)
{
    const ga_element *element = a->model->elements[e];
    element->type->gradient(element, state, a->A);
    for (int r = 0; r < element->rows; ++r)
        ga_assembly_row_out(a, element, a->A + r * GA_TWIST * element->node_count,
                            out + r * a->width[e]);
}

void ga_assembly_speed_gradient_of(ga_assembly *a, int e, const ga_state *state, double *out)
{
    const ga_element *element = a->model->elements[e];
    element->type->speed_gradient(element, state, a->A);
    for (int r = 0; r < element->speed_rows; ++r)
        ga_assembly_row_out(a, element, a->A + r * GA_TWIST * element->node_count,
                            out + r * a->width[e]);
}

void ga_assembly_speed_stiffness_of(ga_assembly *a, int e, const ga_state *state, double *out)
{
    const ga_element *element = a->model->elements[e];
    element->type->gradient(element, state, a->A2);
    element->type->speed_stiffness(element, state, a->A);
    add_mixed_rows(a, element, element->rows, a->A2, a->A);
    for (int r = 0; r < element->rows; ++r)
        ga_assembly_row_out(a, element, a->A + r * GA_TWIST * element->node_count,
                            out + r * a->width[e]);
}

void ga_assembly_speed_speed_stiffness_of(ga_assembly *a, int e, const ga_state *state,
                                          double *out)
{
    const ga_element *element = a->model->elements[e];
    element->type->speed_gradient(element, state, a->A2);
    element->type->speed_speed_stiffness(element, state, a->A);
    add_mixed_rows(a, element, element->speed_rows, a->A2, a->A);
    for (int r = 0; r < element->speed_rows; ++r)
        ga_assembly_row_out(a, element, a->A + r * GA_TWIST * element->node_count,
                            out + r * a->width[e]);
}

/* r += rows^T multipliers */
static void add_reaction(int rows, int side, const double *B, const double *multipliers,
                         double *r)
{
    const double sign = GA_FAULT(tangent) ? -1 : 1;
    for (int i = 0; i < rows; ++i)
        for (int c = 0; c < side; ++c) r[c] += sign * (B[i * side + c] * multipliers[i]);
}

/* The element's share of K and C in body axes, in A and A2; multipliers are its own. */
static void tangents(ga_assembly *a, const ga_element *element, const ga_state *state,
                     const double *lambda, const double *psi)
{
    const ga_element_type *type = element->type;
    int side = GA_TWIST * element->node_count;
    size_t size = (size_t)(side * side) * sizeof *a->A;
    double *r = a->f; /* its share of the dynamics */
    memset(r, 0, (size_t)side * sizeof *r);
    if (type->force) {
        type->force(element, state, r);
        for (int i = 0; i < side; ++i) r[i] = -r[i];
    }
    if (element->rows) {
        type->gradient(element, state, a->A);
        add_reaction(element->rows, side, a->A, lambda, r);
    }
    if (element->speed_rows) {
        type->speed_gradient(element, state, a->A);
        add_reaction(element->speed_rows, side, a->A, psi, r);
    }
    memset(a->A, 0, size);
    memset(a->A2, 0, size);
    if (element->rows && type->geometric) type->geometric(element, state, lambda, a->A);
    if (element->speed_rows && type->speed_geometric)
        type->speed_geometric(element, state, psi, a->A, a->A2);
    for (int i = 0; GA_FAULT(tangent) && i < side * side; ++i) a->A[i] = -a->A[i];
    if (type->tangent) type->tangent(element, state, a->A, a->A2);
    add_mixed_rows(a, element, side, a->A2, a->A);
    add_mixed_force(a, element, r, a->A);
}

static void matrix_out(const ga_assembly *a, int e, const double *A, double *out)
{
    const ga_element *element = a->model->elements[e];
    int n = element->node_count, side = GA_TWIST * n, width = a->width[e];
    for (int i = 0, row = 0; i < n; ++i) {
        int ni = element->nodes[i];
        if (ni < 0) continue;
        for (int j = 0, col = 0; j < n; ++j) {
            int nj = element->nodes[j];
            if (nj < 0) continue;
            ga_node_block(a->kinds[ni], a->frames + ni, a->kinds[nj], a->frames + nj,
                          A + GA_TWIST * (i * side + j), side, out + row * width + col, width);
            col += ga_node_nv(a->nodes[nj]);
        }
        row += ga_node_nv(a->nodes[ni]);
    }
}

void ga_assembly_stiffness_of(ga_assembly *a, int e, const ga_state *state,
                              const double *lambda, const double *psi, double *out)
{
    tangents(a, a->model->elements[e], state, lambda, psi);
    matrix_out(a, e, a->A, out);
}

void ga_assembly_damping_of(ga_assembly *a, int e, const ga_state *state, const double *lambda,
                            const double *psi, double *out)
{
    tangents(a, a->model->elements[e], state, lambda, psi);
    matrix_out(a, e, a->A2, out);
}

static const double *own(const double *multipliers, int at)
{
    return multipliers ? multipliers + at : NULL;
}

/* --- callbacks ---------------------------------------------------------------------------- */

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const ga_assembly *a = user;
    for (int i = 0; i < a->model->body_count; ++i) {
        const ga_body *body = a->model->bodies + i;
        int translations = a->model->dimension;
        for (int k = 0; k < translations; ++k) *M++ = body->mass;
        if (body->type == GA_BODY_POINT_MASS) continue;
        if (translations == 2)
            *M++ = body->inertia[8];
        else
            for (int k = 0; k < 9; ++k) *M++ = body->inertia[k];
    }
    return GA_EVAL_OK;
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

static void inertia_times(const ga_body *body, const double *w, double *Jw)
{
    for (int i = 0; i < 3; ++i)
        Jw[i] =
            body->inertia[i] * w[0] + body->inertia[3 + i] * w[1] + body->inertia[6 + i] * w[2];
}

/* Gravity and gyroscopic forces of one body in body axes; m w x u only where u is a
 * coordinate. */
static void body_force(const ga_assembly *a, int i, double *f)
{
    const ga_body *body = a->model->bodies + i;
    const ga_frame *frame = a->frames + i;
    double local[GA_TWIST], Jw[3], gyro[3];
    const double *g = a->model->gravity, *R = frame->R;
    for (int k = 0; k < 3; ++k)
        local[k] = body->mass * (R[3 * k] * g[0] + R[3 * k + 1] * g[1] + R[3 * k + 2] * g[2]);
    inertia_times(body, frame->w, Jw);
    cross(Jw, frame->w, local + 3); /* minus w x J w */
    if (!ga_node_is_mixed(a->kinds[i])) {
        cross(frame->w, frame->u, gyro);
        for (int k = 0; k < 3; ++k) local[k] -= body->mass * gyro[k];
    }
    ga_node_row(a->kinds[i], frame, local, f);
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int i = 0; i < a->model->body_count; ++i) body_force(a, i, f + a->v_at[i]);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (!element->type->force) continue;
        memset(a->f, 0, (size_t)(GA_TWIST * element->node_count) * sizeof *a->f);
        element->type->force(element, &state, a->f);
        ga_assembly_add_row(a, element, a->f, f);
    }
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    ga_assembly *a = user;
    ga_state state = ga_assembly_state(a, at->t, at->q, NULL, NULL, NULL);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->rows) element->type->constraint(element, &state, Phi + element->row);
    }
    return GA_EVAL_OK;
}

static ga_eval constraint_rate(void *user, const ga_point *at, double *Phi_t)
{
    ga_assembly *a = user;
    ga_state state = ga_assembly_state(a, at->t, at->q, NULL, NULL, NULL);
    memset(Phi_t, 0, (size_t)a->model->rows * sizeof *Phi_t);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->rows && element->type->rate)
            element->type->rate(element, &state, Phi_t + element->row);
    }
    return GA_EVAL_OK;
}

static void scatter(const ga_target *target, int e, const double *local, double *values)
{
    for (int k = target->first[e]; k < target->first[e + 1]; ++k)
        values[k] = local[target->entry[k]];
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    ga_assembly *a = user;
    ga_state state = ga_assembly_state(a, at->t, at->q, NULL, NULL, NULL);
    for (int e = 0; e < a->model->element_count; ++e) {
        if (!a->model->elements[e]->rows) continue;
        ga_assembly_gradient_of(a, e, &state, a->out);
        scatter(a->target + GA_TARGET_GRADIENT, e, a->out, B);
    }
    return GA_EVAL_OK;
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        if (!a->model->elements[e]->rows) continue;
        ga_assembly_speed_stiffness_of(a, e, &state, a->out);
        scatter(a->target + GA_TARGET_SPEED_STIFFNESS, e, a->out, Z);
    }
    return GA_EVAL_OK;
}

/* out = -(Z v), row by row */
static void minus_product(const ga_assembly *a, int e, int rows, const double *Z,
                          const double *v, double *out)
{
    const int *columns = a->columns + a->column_at[e];
    for (int r = 0; r < rows; ++r) {
        double sum = 0;
        for (int c = 0; c < a->width[e]; ++c) sum += Z[r * a->width[e] + c] * v[columns[c]];
        out[r] = -sum;
    }
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (!element->rows) continue;
        ga_assembly_speed_stiffness_of(a, e, &state, a->out);
        minus_product(a, e, element->rows, a->out, at->v, c + element->row);
        if (!element->type->rate_rate) continue;
        element->type->rate_rate(element, &state, a->f);
        for (int r = 0; r < element->rows; ++r) c[element->row + r] -= a->f[r];
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic(void *user, const ga_point *at, double *k)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->speed_rows) element->type->speed(element, &state, k + element->speed_row);
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_gradient(void *user, const ga_point *at, double *N)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        if (!a->model->elements[e]->speed_rows) continue;
        ga_assembly_speed_gradient_of(a, e, &state, a->out);
        scatter(a->target + GA_TARGET_SPEED_GRADIENT, e, a->out, N);
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_stiffness(void *user, const ga_point *at, double *Z)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        if (!a->model->elements[e]->speed_rows) continue;
        ga_assembly_speed_speed_stiffness_of(a, e, &state, a->out);
        scatter(a->target + GA_TARGET_SPEED_SPEED_STIFFNESS, e, a->out, Z);
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs(void *user, const ga_point *at, double *d)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (!element->speed_rows) continue;
        ga_assembly_speed_speed_stiffness_of(a, e, &state, a->out);
        minus_product(a, e, element->speed_rows, a->out, at->v, d + element->speed_row);
        if (!element->type->speed_rate) continue;
        element->type->speed_rate(element, &state, a->f);
        for (int r = 0; r < element->speed_rows; ++r) d[element->speed_row + r] -= a->f[r];
    }
    return GA_EVAL_OK;
}

/* Values of a body's K: -m (R^T g)~ where the translation is in body axes. */
static double *body_stiffness(const ga_assembly *a, int i, double *K)
{
    const ga_body *body = a->model->bodies + i;
    const double *g = a->model->gravity, *R = a->frames[i].R;
    double f[3];
    for (int k = 0; k < 3; ++k)
        f[k] = body->mass * (R[3 * k] * g[0] + R[3 * k + 1] * g[1] + R[3 * k + 2] * g[2]);
    if (a->kinds[i] == GA_NODE_SE2) {
        *K++ = -f[1];
        *K++ = f[0];
    } else if (a->kinds[i] == GA_NODE_SE3) {
        const double values[6] = {f[2], -f[1], -f[2], f[0], f[1], -f[0]};
        memcpy(K, values, sizeof values);
        K += 6;
    }
    return K;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    double *next = K;
    for (int i = 0; i < a->model->body_count; ++i) next = body_stiffness(a, i, next);
    const ga_target *target = a->target + GA_TARGET_STIFFNESS;
    for (int e = 0; e < a->model->element_count; ++e) {
        if (target->first[e] == target->first[e + 1]) continue;
        const ga_element *element = a->model->elements[e];
        ga_assembly_stiffness_of(a, e, &state, own(at->lambda, element->row),
                                 own(at->psi, element->speed_row), a->out);
        scatter(target, e, a->out, K);
    }
    return GA_EVAL_OK;
}

/* Values of a body's C: w~ J - (J w)~, and m w~, -m u~ where u is a coordinate. */
static double *body_damping(const ga_assembly *a, int i, double *C)
{
    const ga_body *body = a->model->bodies + i;
    const ga_frame *frame = a->frames + i;
    const double m = body->mass, *w = frame->w, *u = frame->u;
    if (a->kinds[i] == GA_NODE_SE2) { /* m (-w u_y, w u_x) */
        const double values[4] = {-m * w[2], -m * u[1], m * w[2], m * u[0]};
        memcpy(C, values, sizeof values);
        return C + 4;
    }
    if (a->kinds[i] == GA_NODE_SE3) {
        const double values[12] = {-w[2], w[1],  w[2],  -w[0], -w[1], w[0],
                                   u[2],  -u[1], -u[2], u[0],  u[1],  -u[0]};
        for (int k = 0; k < 12; ++k) *C++ = m * values[k];
    }
    if (a->kinds[i] == GA_NODE_SE3 || a->kinds[i] == GA_NODE_R3SO3) {
        double Jw[3];
        inertia_times(body, w, Jw);
        for (int c = 0; c < 3; ++c) { /* column c of w~ J - (J w)~ */
            double unit[3] = {c == 0, c == 1, c == 2}, first[3], second[3];
            cross(w, body->inertia + 3 * c, first);
            cross(Jw, unit, second);
            for (int r = 0; r < 3; ++r) *C++ = first[r] - second[r];
        }
    }
    return C;
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    double *next = C;
    for (int i = 0; i < a->model->body_count; ++i) next = body_damping(a, i, next);
    const ga_target *target = a->target + GA_TARGET_DAMPING;
    for (int e = 0; e < a->model->element_count; ++e) {
        if (target->first[e] == target->first[e + 1]) continue;
        const ga_element *element = a->model->elements[e];
        ga_assembly_damping_of(a, e, &state, own(at->lambda, element->row),
                               own(at->psi, element->speed_row), a->out);
        scatter(target, e, a->out, C);
    }
    return GA_EVAL_OK;
}

static ga_eval force_multipliers(void *user, const ga_point *at, double *L)
{
    ga_assembly *a = user;
    ga_state state = state_at(a, at);
    const ga_target *target = a->target + GA_TARGET_MULTIPLIERS;
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (!element->host) continue;
        int columns = element->host->rows + element->host->speed_rows;
        int side = GA_TWIST * element->node_count;
        memset(a->A, 0, (size_t)(side * columns) * sizeof *a->A);
        element->type->force_multipliers(element, &state, a->A);
        for (int c = 0; c < columns; ++c) { /* each column is a force */
            for (int r = 0; r < side; ++r) a->f[r] = a->A[r * columns + c];
            ga_assembly_row_out(a, element, a->f, a->out + c * a->width[e]);
        }
        scatter(target, e, a->out, L);
    }
    return GA_EVAL_OK;
}

/* What of one element is wanted. */
static void evaluate(ga_assembly *a, int e, const ga_state *state, const ga_wanted *wanted)
{
    const ga_element *element = a->model->elements[e];
    const ga_element_type *type = element->type;
    if (element->rows && wanted->constraint)
        type->constraint(element, state, wanted->constraint + element->row);
    if (element->rows && wanted->gradient) {
        ga_assembly_gradient_of(a, e, state, a->out);
        scatter(a->target + GA_TARGET_GRADIENT, e, a->out, wanted->gradient);
    }
    if (element->rows && wanted->rate && type->rate)
        type->rate(element, state, wanted->rate + element->row);
    if (element->speed_rows && wanted->nonholonomic)
        type->speed(element, state, wanted->nonholonomic + element->speed_row);
    if (element->speed_rows && wanted->nonholonomic_gradient) {
        ga_assembly_speed_gradient_of(a, e, state, a->out);
        scatter(a->target + GA_TARGET_SPEED_GRADIENT, e, a->out, wanted->nonholonomic_gradient);
    }
    if (wanted->force && type->force) {
        memset(a->f, 0, (size_t)(GA_TWIST * element->node_count) * sizeof *a->f);
        type->force(element, state, a->f);
        ga_assembly_add_row(a, element, a->f, wanted->force);
    }
}

static ga_eval all(void *user, const ga_point *at, const ga_wanted *wanted)
{
    ga_assembly *a = user;
    bool moving = wanted->nonholonomic || wanted->nonholonomic_gradient || wanted->force;
    ga_state state =
        ga_assembly_state(a, at->t, at->q, moving ? at->v : NULL, at->lambda, at->psi);
    if (wanted->rate) memset(wanted->rate, 0, (size_t)a->model->rows * sizeof *wanted->rate);
    for (int i = 0; wanted->force && i < a->model->body_count; ++i)
        body_force(a, i, wanted->force + a->v_at[i]);
    for (int e = 0; e < a->model->element_count; ++e) evaluate(a, e, &state, wanted);
    return GA_EVAL_OK;
}

/* --- energy ------------------------------------------------------------------------------- */

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

static void gather_twists(const ga_element *element, const ga_state *state, double *twists)
{
    for (int k = 0; k < element->node_count; ++k) {
        const ga_frame *frame = state->frames + element->nodes[k];
        memcpy(twists + GA_TWIST * k, frame->u, 3 * sizeof *twists);
        memcpy(twists + GA_TWIST * k + 3, frame->w, 3 * sizeof *twists);
    }
}

/* Power of multipliers times rows on the twists. */
static double reaction_power(int rows, int side, const double *B, const double *multipliers,
                             const double *twists)
{
    double power = 0;
    for (int r = 0; r < rows; ++r) power -= multipliers[r] * dot(side, B + r * side, twists);
    return power;
}

static void element_powers(ga_assembly *a, const ga_element *element, const ga_state *state,
                           ga_powers *powers)
{
    const ga_element_type *type = element->type;
    int side = GA_TWIST * element->node_count;
    double *twists = a->f + side;
    if (type->potential) powers->potential += type->potential(element, state);
    if (type->dissipation) powers->dissipation += type->dissipation(element, state);
    if (type->power) powers->work += type->power(element, state);
    bool outside = type->force && !type->potential && !type->dissipation && !type->power;
    if (!outside && !element->rheonomic) return;
    gather_twists(element, state, twists);
    if (outside) {
        memset(a->f, 0, (size_t)side * sizeof *a->f);
        type->force(element, state, a->f);
        powers->work += dot(side, a->f, twists);
    }
    if (element->rheonomic && element->rows && state->lambda) {
        type->gradient(element, state, a->A);
        powers->work +=
            reaction_power(element->rows, side, a->A, state->lambda + element->row, twists);
    }
    if (element->rheonomic && element->speed_rows && state->psi) {
        type->speed_gradient(element, state, a->A);
        powers->work += reaction_power(element->speed_rows, side, a->A,
                                       state->psi + element->speed_row, twists);
    }
}

void ga_assembly_powers(ga_assembly *a, const ga_state *state, ga_powers *powers)
{
    const ga_model *model = a->model;
    memset(powers, 0, sizeof *powers);
    for (int i = 0; i < model->body_count; ++i) {
        const ga_body *body = model->bodies + i;
        const ga_frame *frame = state->frames + i;
        double Jw[3];
        inertia_times(body, frame->w, Jw);
        powers->kinetic +=
            0.5 * (body->mass * dot(3, frame->u, frame->u) + dot(3, frame->w, Jw));
        powers->potential -= body->mass * dot(3, model->gravity, frame->x);
    }
    for (int e = 0; e < model->element_count; ++e)
        element_powers(a, model->elements[e], state, powers);
}

/* --- creation ----------------------------------------------------------------------------- */

typedef int number_at(const ga_assembly *a, int k);

/* The last of n ascending numbers that is not above x. */
static int last_not_above(const ga_assembly *a, int n, number_at *at, int x)
{
    int low = 0, high = n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (at(a, middle) <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

static int row_of(const ga_assembly *a, int e) { return a->model->elements[e]->row; }

static int speed_row_of(const ga_assembly *a, int e)
{
    return a->model->elements[e]->speed_row;
}

static int column_of(const ga_assembly *a, int body) { return a->v_at[body]; }

/* Elements without rows stand before the owner of the row they all begin at. */
const ga_element *ga_assembly_row(const ga_assembly *a, int row, int *local)
{
    const ga_model *model = a->model;
    bool speed = row >= model->rows;
    if (row < 0 || row >= model->rows + model->speed_rows) return NULL;
    int own_row = speed ? row - model->rows : row;
    int e = last_not_above(a, model->element_count, speed ? speed_row_of : row_of, own_row);
    const ga_element *element = model->elements[e];
    *local = speed ? element->rows + own_row - element->speed_row : own_row - element->row;
    return element;
}

int ga_assembly_column(const ga_assembly *a, int column)
{
    if (column < 0 || column >= a->nv) return -1;
    return last_not_above(a, a->model->body_count, column_of, column);
}

/* No entries is a pattern of its own, not a full matrix. */
static ga_pattern pattern_of(const ga_target *target)
{
    return (ga_pattern){target->count, target->row, target->col};
}

static void define_system(ga_assembly *a)
{
    const ga_model *model = a->model;
    const ga_target *t = a->target;
    bool rheonomic = false, hosted = false;
    for (int e = 0; e < model->element_count; ++e) {
        rheonomic = rheonomic || (model->elements[e]->rheonomic && model->elements[e]->rows);
        hosted = hosted || model->elements[e]->host;
    }
    a->system = (ga_system){
        .user = a,
        .node_count = model->body_count,
        .nodes = a->nodes,
        .constraint_count = model->rows,
        .mass = mass,
        .mass_pattern = pattern_of(t + GA_TARGET_MASS),
        .mass_is_constant = true,
        .force = force,
        .force_uses_multipliers = hosted,
        .stiffness = stiffness,
        .stiffness_pattern = pattern_of(t + GA_TARGET_STIFFNESS),
        .damping = damping,
        .damping_pattern = pattern_of(t + GA_TARGET_DAMPING),
        .nonholonomic_count = model->speed_rows,
        .all = all,
    };
    if (model->rows) {
        a->system.constraint = constraint;
        a->system.gradient = gradient;
        a->system.gradient_pattern = pattern_of(t + GA_TARGET_GRADIENT);
        a->system.acceleration_rhs = acceleration_rhs;
        a->system.velocity_stiffness = velocity_stiffness;
        a->system.velocity_stiffness_pattern = pattern_of(t + GA_TARGET_SPEED_STIFFNESS);
        if (rheonomic) {
            a->system.constraint_rate = constraint_rate;
            a->system.constraint_uses_time = true;
        }
    }
    if (model->speed_rows) {
        a->system.nonholonomic = nonholonomic;
        a->system.nonholonomic_gradient = nonholonomic_gradient;
        a->system.nonholonomic_gradient_pattern = pattern_of(t + GA_TARGET_SPEED_GRADIENT);
        a->system.nonholonomic_rhs = nonholonomic_rhs;
        a->system.nonholonomic_stiffness = nonholonomic_stiffness;
        a->system.nonholonomic_stiffness_pattern =
            pattern_of(t + GA_TARGET_SPEED_SPEED_STIFFNESS);
    }
    if (hosted) {
        a->system.force_multipliers = force_multipliers;
        a->system.force_multipliers_pattern = pattern_of(t + GA_TARGET_MULTIPLIERS);
    }
}

static ga_status create(ga_assembly *a, bool se)
{
    GA_TRY(number_nodes(a, se));
    GA_TRY(number_columns(a));
    GA_TRY(ga_pattern_build(a));
    define_system(a);
    return GA_OK;
}

ga_status ga_assembly_create(const ga_model *model, bool se, ga_assembly **assembly,
                             ga_report *report)
{
    *assembly = NULL;
    ga_assembly *a = GA_NEW(ga_assembly, 1);
    if (!a) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    a->model = model;
    ga_status status = create(a, se);
    if (status != GA_OK) {
        ga_assembly_destroy(a);
        return ga_fail(report, status, "no memory for a simulation of %d bodies",
                       model->body_count);
    }
    *assembly = a;
    return GA_OK;
}

void ga_assembly_destroy(ga_assembly *a)
{
    if (!a) return;
    if (a->frames) ga_free(a->frames - 1);
    for (int k = 0; k < GA_TARGET_COUNT; ++k) ga_target_free(a->target + k);
    void *memory[] = {a->kinds, a->nodes,     a->q_at,    a->v_at, a->q,  a->v,   a->memory,
                      a->width, a->column_at, a->columns, a->A,    a->A2, a->out, a->f};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) ga_free(memory[i]);
    ga_free(a);
}
