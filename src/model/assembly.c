#include "model/assembly.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/report.h"
#include "element/reaction.h"
#include "model/bodies.h"
#include "model/pattern.h"

#include <math.h>
#include <string.h>

static const ga_element *rest_of(const ga_assembly *a, int r) { return a->rest[r]; }

/* --- state -------------------------------------------------------------------------------- */

/* Work on nodes and joints goes in parts of this many, whoever does it. */
enum { PART = 256 };

/* Parts of a batch are divided among threads if at most one joint in so many has bodies in
 * common with other parts. */
enum { FEW_COMMON = 8 };

static int parts_of(int count) { return (count + PART - 1) / PART; }

static int part_end(int count, int part)
{
    return count - part * PART < PART ? count : (part + 1) * PART;
}

/* What is to be done at one point. */
typedef struct sweep {
    ga_assembly *a;
    const ga_point *at;
    const ga_wanted *wanted; /* or null */
    bool place, move;        /* nodes */
    const ga_point *sum;     /* M vd - f is wanted in place of f; or null */
    double *values;          /* K, Z or the right-hand side */
} sweep;

/* The first node behind `from` that is of another kind; at most `to`. */
static int run_end(const ga_assembly *a, int from, int to)
{
    if (a->alike) return to;
    int i = from + 1;
    while (i < to && a->kinds[i] == a->kinds[from]) ++i;
    return i;
}

/* Nodes of one kind. */
static void sweep_run(const sweep *s, int from, int to)
{
    ga_assembly *a = s->a;
    const ga_node_kind kind = a->kinds[from];
    const double *q = s->at->q + a->q_at[from], *v = s->move ? s->at->v + a->v_at[from] : NULL;
    const int count = to - from;
    if (s->place && a->planes) ga_node_place_flat(kind, count, q, a->planes + from);
    if (s->place && !a->planes) ga_node_place_all(kind, count, q, a->frames + from);
    if (s->move && a->planes) ga_node_move_flat(kind, count, v, a->planes + from);
    if (s->move && !a->planes) ga_node_move_all(kind, count, v, a->frames + from);
    if (s->sum)
        ga_bodies_equations(a, from, to, s->sum, s->wanted->force);
    else if (s->wanted && s->wanted->force)
        ga_bodies_forces(a, from, to, s->wanted->force + a->v_at[from]);
}

static void copy_part(const int *at, int from, int to, const double *x, double *y)
{
    memcpy(y + at[from], x + at[from], (size_t)(at[to] - at[from]) * sizeof *y);
}

static void sweep_nodes(void *data, int part)
{
    const sweep *s = data;
    ga_assembly *a = s->a;
    const int from = part * PART, to = part_end(a->model->node_count, part);
    if (s->place) copy_part(a->q_at, from, to, s->at->q, a->q);
    if (s->move) copy_part(a->v_at, from, to, s->at->v, a->v);
    for (int i = from, end; i < to; i = end) {
        end = run_end(a, i, to);
        sweep_run(s, i, end);
    }
}

/* Planar: frames of the planes. */
static void sweep_frames(void *data, int part)
{
    const sweep *s = data;
    ga_assembly *a = s->a;
    for (int i = part * PART; i < part_end(a->model->node_count, part); ++i) {
        if (s->place) ga_node_frame(a->planes + i, a->frames + i);
        if (s->move) ga_node_move(a->kinds[i], a->v + a->v_at[i], a->frames + i);
    }
}

static void make_frames(ga_assembly *a)
{
    sweep s = {.a = a, .place = !a->framed, .move = a->moved && !a->framed_moving};
    if (!a->planes || (!s.place && !s.move)) return;
    ga_pool_run(a->pool, parts_of(a->model->node_count), sweep_frames, &s);
    a->framed = true;
    a->framed_moving = a->moved;
}

/* The ground as its frame has it. */
static void place_ground(ga_assembly *a)
{
    const ga_frame *f = a->frames + GA_GROUND;
    a->planes[GA_GROUND] = (ga_plane){.x = {f->x[0], f->x[1]}, .c = f->R[0], .s = f->R[1]};
}

/* Are there elements that look at frames? */
static bool needs_frames(const ga_assembly *a) { return a->rest_count + a->keeper_count > 0; }

/* Places, and forces of bodies if they are wanted; or M vd - f in place of these. */
static void visit_nodes(ga_assembly *a, const ga_point *at, const ga_wanted *wanted,
                        const ga_point *sum)
{
    size_t nq = (size_t)a->nq * sizeof *a->q, nv = (size_t)a->nv * sizeof *a->v;
    sweep s = {.a = a, .at = at, .wanted = wanted, .sum = sum};
    s.place = !a->placed || memcmp(a->q, at->q, nq) != 0;
    s.move = at->v && (s.place || !a->moved || memcmp(a->v, at->v, nv) != 0);
    if (s.place || s.move || (wanted && wanted->force))
        ga_pool_run(a->pool, parts_of(a->model->node_count), sweep_nodes, &s);
    if (s.place && a->planes) place_ground(a);
    if (s.place) a->framed = a->moved = false;
    if (s.place || s.move) a->framed_moving = false;
    if (s.move) a->moved = true;
    a->placed = true;
}

ga_element_state ga_assembly_state(ga_assembly *a, double t, const double *q, const double *v,
                                   const double *lambda, const double *psi)
{
    const ga_point at = {t, q, v, NULL, lambda, psi};
    visit_nodes(a, &at, NULL, NULL);
    make_frames(a);
    return (ga_element_state){t, a->frames, lambda, psi, a->memory, 0, a->inputs, a->callbacks};
}

ga_element_state ga_assembly_look(ga_assembly *a, double t, const double *q, const double *v,
                                  const double *lambda, const double *psi)
{
    const ga_point at = {t, q, v, NULL, lambda, psi};
    visit_nodes(a, &at, NULL, NULL);
    if (needs_frames(a)) make_frames(a);
    return (ga_element_state){t, a->frames, lambda, psi, a->memory, 0, a->inputs, a->callbacks};
}

static ga_element_state state_at(ga_assembly *a, const ga_point *at)
{
    return ga_assembly_look(a, at->t, at->q, at->v, at->lambda, at->psi);
}

static ga_places places_of(const ga_assembly *a) { return (ga_places){a->frames, a->planes}; }

typedef void batch_work(const ga_batch *batch, int from, int to, const sweep *s);

/* A part among those of all batches. */
static void visit_part(const sweep *s, int part, batch_work *work)
{
    const ga_batch *batch = s->a->batches;
    for (; part >= parts_of(batch->count); ++batch) part -= parts_of(batch->count);
    work(batch, part * PART, part_end(batch->count, part), s);
}

static void rows_of(const ga_batch *batch, int from, int to, const sweep *s)
{
    ga_batch_rows(batch, places_of(s->a), from, to, s->wanted->constraint, s->wanted->gradient);
}

static void stiffness_of(const ga_batch *batch, int from, int to, const sweep *s)
{
    ga_batch_stiffness(batch, places_of(s->a), from, to, s->at->lambda, s->values);
}

static void swept_of(const ga_batch *batch, int from, int to, const sweep *s)
{
    ga_batch_swept(batch, places_of(s->a), from, to, s->values);
}

static void acceleration_of(const ga_batch *batch, int from, int to, const sweep *s)
{
    ga_batch_acceleration(batch, places_of(s->a), from, to, s->a->v_at, s->at->v, s->values);
}

static void sweep_rows(void *data, int part) { visit_part(data, part, rows_of); }
static void sweep_stiffness(void *data, int part) { visit_part(data, part, stiffness_of); }
static void sweep_swept(void *data, int part) { visit_part(data, part, swept_of); }
static void sweep_acceleration(void *data, int part)
{
    visit_part(data, part, acceleration_of);
}

static void visit_joints(ga_assembly *a, const ga_point *at, const ga_wanted *wanted,
                         double *values, ga_pool_work *work)
{
    sweep s = {.a = a, .at = at, .wanted = wanted, .values = values};
    ga_pool_run(a->pool, a->batch_parts, work, &s);
}

void ga_assembly_use(ga_assembly *a, ga_pool *pool) { a->pool = pool; }

void ga_assembly_initial(const ga_assembly *a, double *q, double *v)
{
    const ga_model *model = a->model;
    for (int i = 0; i < model->node_count; ++i) {
        const ga_model_node *node = model->nodes + i;
        ga_node_coordinates(a->kinds[i], node->position, node->rotation, q + a->q_at[i]);
        ga_node_velocity(a->kinds[i], model->frames + i, v + a->v_at[i]);
    }
}

void ga_assembly_remember(ga_assembly *a, double t, const double *q, const double *v)
{
    ga_element_state state = ga_assembly_state(a, t, q, v, NULL, NULL);
    for (int e = 0; e < a->model->element_count; ++e) {
        const ga_element *element = a->model->elements[e];
        if (element->type->remember && element->memory_count)
            element->type->remember(element, &state, a->memory + element->memory);
    }
    for (int k = 0; k < a->turning_count; ++k) a->turnings[k].turns = NAN;
}

/* q counts turns, so the difference of two angles is right however fast the bodies turn, up to
 * the turns that were between them at the start: there the joint has the angle nearest to that
 * of the file. */
static double planar_angle(const ga_assembly *a, ga_turning *turning, double t, double rate)
{
    static const double two_pi = 6.283185307179586476925286766559;
    const double angle =
        a->planes[turning->nodes[1]].angle - a->planes[turning->nodes[0]].angle - turning->home;
    if (isnan(turning->turns)) {
        const double counted = ga_turn_unwrap(a->memory + turning->memory, t, angle, rate);
        turning->turns = round((angle - counted) / two_pi);
    }
    return angle - two_pi * turning->turns;
}

static void sweep_turnings(void *data, int part)
{
    const sweep *s = data;
    ga_assembly *a = s->a;
    for (int k = part * PART; k < part_end(a->turning_count, part); ++k) {
        ga_turning *turning = a->turnings + k;
        const int first = turning->nodes[0], second = turning->nodes[1];
        double *memory = a->memory + turning->memory, angle, rate;
        if (a->planes) {
            rate = a->planes[second].w - a->planes[first].w;
            angle = planar_angle(a, turning, s->at->t, rate);
        } else {
            ga_joint_turning(turning->A, turning->B, a->frames + first, a->frames + second,
                             &angle, &rate);
            angle = ga_turn_unwrap(memory, s->at->t, angle - turning->home, rate);
        }
        ga_turn_commit(memory, s->at->t, angle, rate);
    }
}

void ga_assembly_commit(ga_assembly *a, const ga_element_state *state)
{
    const ga_point at = {.t = state->t};
    sweep s = {.a = a, .at = &at};
    if (a->turning_count) ga_pool_run(a->pool, parts_of(a->turning_count), sweep_turnings, &s);
    for (int k = 0; k < a->keeper_count; ++k) {
        const ga_element *element = a->model->elements[a->keepers[k]];
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

void ga_assembly_gradient_of(ga_assembly *a, int r, const ga_element_state *state, double *out)
{
    const ga_element *element = rest_of(a, r);
    element->type->gradient(element, state, a->A);
    for (int i = 0; i < element->rows; ++i)
        ga_assembly_row_out(a, element, a->A + i * GA_TWIST * element->node_count,
                            out + i * a->width[r]);
}

void ga_assembly_speed_gradient_of(ga_assembly *a, int r, const ga_element_state *state,
                                   double *out)
{
    const ga_element *element = rest_of(a, r);
    element->type->speed_gradient(element, state, a->A);
    for (int i = 0; i < element->speed_rows; ++i)
        ga_assembly_row_out(a, element, a->A + i * GA_TWIST * element->node_count,
                            out + i * a->width[r]);
}

void ga_assembly_speed_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                                    double *out)
{
    const ga_element *element = rest_of(a, r);
    element->type->gradient(element, state, a->A2);
    element->type->speed_stiffness(element, state, a->A);
    add_mixed_rows(a, element, element->rows, a->A2, a->A);
    for (int i = 0; i < element->rows; ++i)
        ga_assembly_row_out(a, element, a->A + i * GA_TWIST * element->node_count,
                            out + i * a->width[r]);
}

void ga_assembly_speed_speed_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                                          double *out)
{
    const ga_element *element = rest_of(a, r);
    element->type->speed_gradient(element, state, a->A2);
    element->type->speed_speed_stiffness(element, state, a->A);
    add_mixed_rows(a, element, element->speed_rows, a->A2, a->A);
    for (int i = 0; i < element->speed_rows; ++i)
        ga_assembly_row_out(a, element, a->A + i * GA_TWIST * element->node_count,
                            out + i * a->width[r]);
}

/* r += rows^T multipliers */
static void add_reaction(int rows, int side, const double *B, const double *multipliers,
                         double *r)
{
    const double sign = GA_FAULT(tangent) ? -1 : 1;
    for (int i = 0; i < rows; ++i)
        for (int c = 0; c < side; ++c) r[c] += sign * (B[i * side + c] * multipliers[i]);
}

/* --- inertia of an element ---------------------------------------------------------------- */

/* Rates of the twists; vd null: those that there are without it. */
static void find_rates(const ga_assembly *a, const ga_element *element, const double *vd,
                       double *rates)
{
    static const double zero[GA_NODE_MAX_NV];
    memset(rates, 0, (size_t)(GA_TWIST * element->node_count) * sizeof *rates);
    for (int k = 0; k < element->node_count; ++k) {
        const int node = element->nodes[k];
        if (node < 0) continue;
        ga_node_acceleration(a->kinds[node], a->frames + node, vd ? vd + a->v_at[node] : zero,
                             rates + GA_TWIST * k);
    }
}

/* r += M y' + h; leaves M in a->M and y' in a->rates */
static void add_inertia(ga_assembly *a, const ga_element *element,
                        const ga_element_state *state, const double *vd, double *r)
{
    const int side = GA_TWIST * element->node_count;
    memset(a->M, 0, (size_t)(side * side) * sizeof *a->M);
    find_rates(a, element, vd, a->rates);
    element->type->mass(element, state, a->M);
    element->type->gyroscopic(element, state, r);
    for (int i = 0; i < side; ++i)
        for (int c = 0; c < side; ++c) r[i] += a->M[i * side + c] * a->rates[c];
}

/* x += s (b x y) */
static void add_cross(double s, const double *b, const double *y, double *x)
{
    x[0] += s * (b[1] * y[2] - b[2] * y[1]);
    x[1] += s * (b[2] * y[0] - b[0] * y[2]);
    x[2] += s * (b[0] * y[1] - b[1] * y[0]);
}

/* Where v holds x', u' = R^T x'' - w x u: C += M [-w~ u~; 0 0], K += M [0 (R^T x'')~; 0 0]. */
static void add_mixed_inertia(const ga_assembly *a, const ga_element *element, double *K,
                              double *C)
{
    const int side = GA_TWIST * element->node_count;
    for (int k = 0; k < element->node_count; ++k) {
        const int node = element->nodes[k], at = GA_TWIST * k;
        if (node < 0 || !ga_node_is_mixed(a->kinds[node])) continue;
        const ga_frame *f = a->frames + node;
        double second[3]; /* R^T x'' */
        memcpy(second, a->rates + at, sizeof second);
        add_cross(1, f->w, f->u, second);
        for (int i = 0; i < side; ++i) {
            const double *m = a->M + i * side + at;
            add_cross(-1, m, f->w, C + i * side + at);
            add_cross(1, m, f->u, C + i * side + at + 3);
            add_cross(1, m, second, K + i * side + at + 3);
        }
    }
}

/* The element's share of K and C in body axes, in A and A2; multipliers are its own. */
static void tangents_of(ga_assembly *a, const ga_element *element,
                        const ga_element_state *state, const ga_loaded *at)
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
        add_reaction(element->rows, side, a->A, at->lambda, r);
    }
    if (element->speed_rows) {
        type->speed_gradient(element, state, a->A);
        add_reaction(element->speed_rows, side, a->A, at->psi, r);
    }
    if (type->mass) add_inertia(a, element, state, at->vd, r);
    memset(a->A, 0, size);
    memset(a->A2, 0, size);
    if (element->rows && type->geometric) type->geometric(element, state, at->lambda, a->A);
    if (element->speed_rows && type->speed_geometric)
        type->speed_geometric(element, state, at->psi, a->A, a->A2);
    for (int i = 0; GA_FAULT(tangent) && i < side * side; ++i) a->A[i] = -a->A[i];
    if (type->tangent) type->tangent(element, state, a->A, a->A2);
    if (type->mass) {
        type->inertia_tangent(element, state, a->rates, a->A, a->A2);
        add_mixed_inertia(a, element, a->A, a->A2);
    }
    add_mixed_rows(a, element, side, a->A2, a->A);
    add_mixed_force(a, element, r, a->A);
}

static void matrix_out(const ga_assembly *a, int r, const double *A, double *out)
{
    const ga_element *element = rest_of(a, r);
    int n = element->node_count, side = GA_TWIST * n, width = a->width[r];
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

void ga_assembly_mass_of(ga_assembly *a, int r, const ga_element_state *state, double *out)
{
    const ga_element *element = rest_of(a, r);
    const int side = GA_TWIST * element->node_count;
    memset(a->M, 0, (size_t)(side * side) * sizeof *a->M);
    element->type->mass(element, state, a->M);
    matrix_out(a, r, a->M, out);
}

void ga_assembly_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                              const ga_loaded *at, double *out)
{
    tangents_of(a, rest_of(a, r), state, at);
    matrix_out(a, r, a->A, out);
}

void ga_assembly_damping_of(ga_assembly *a, int r, const ga_element_state *state,
                            const ga_loaded *at, double *out)
{
    tangents_of(a, rest_of(a, r), state, at);
    matrix_out(a, r, a->A2, out);
}

static ga_loaded loaded(const ga_point *at, const ga_element *element)
{
    return (ga_loaded){at->vd, at->lambda ? at->lambda + element->row : NULL,
                       at->psi ? at->psi + element->speed_row : NULL};
}

/* --- callbacks ---------------------------------------------------------------------------- */

static void scatter(const ga_target *target, int r, const double *local, double *values)
{
    for (int k = target->first[r]; k < target->first[r + 1]; ++k)
        values[k] = local[target->entry[k - target->base]];
}

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    ga_assembly *a = user;
    const ga_target *target = a->target + GA_TARGET_MASS;
    const int dimension = a->model->dimension;
    double *next = M;
    for (int i = 0; i < a->model->node_count; ++i) {
        if (!a->has_body[i]) continue;
        for (int k = 0; k < dimension * dimension; ++k)
            *next++ = k % (dimension + 1) ? 0 : a->mass[i];
        if (!a->model->nodes[i].turns) continue;
        const int count = dimension == 2 ? 1 : 9;
        for (int k = 0; k < count; ++k) *next++ = a->inertia[(size_t)(count * i + k)];
    }
    if (!a->heavy) return GA_EVAL_OK;
    const ga_element_state state = ga_assembly_look(a, at->t, at->q, NULL, NULL, NULL);
    for (int r = 0; r < a->rest_count; ++r) {
        if (!rest_of(a, r)->type->mass) continue;
        ga_assembly_mass_of(a, r, &state, a->out);
        scatter(target, r, a->out, M);
    }
    return GA_EVAL_OK;
}

/* What of one element of the rest is wanted; with M vd among its forces if there is vd. */
static void evaluate(ga_assembly *a, int r, const ga_element_state *state,
                     const ga_wanted *wanted, const double *vd)
{
    const ga_element *element = rest_of(a, r);
    const ga_element_type *type = element->type;
    if (element->rows && wanted->constraint)
        type->constraint(element, state, wanted->constraint + element->row);
    if (element->rows && wanted->gradient) {
        ga_assembly_gradient_of(a, r, state, a->out);
        scatter(a->target + GA_TARGET_GRADIENT, r, a->out, wanted->gradient);
    }
    if (element->rows && wanted->rate && type->rate)
        type->rate(element, state, wanted->rate + element->row);
    if (element->speed_rows && wanted->nonholonomic)
        type->speed(element, state, wanted->nonholonomic + element->speed_row);
    if (element->speed_rows && wanted->nonholonomic_gradient) {
        ga_assembly_speed_gradient_of(a, r, state, a->out);
        scatter(a->target + GA_TARGET_SPEED_GRADIENT, r, a->out, wanted->nonholonomic_gradient);
    }
    if (wanted->force && (type->force || type->mass)) {
        const int side = GA_TWIST * element->node_count;
        memset(a->f, 0, (size_t)side * sizeof *a->f);
        if (type->mass) add_inertia(a, element, state, vd, a->f);
        for (int i = 0; type->mass && i < side; ++i) a->f[i] = -a->f[i];
        if (type->force) type->force(element, state, a->f);
        ga_assembly_add_row(a, element, a->f, wanted->force);
    }
}

/* Only these read v. */
static bool is_moving(const ga_wanted *wanted)
{
    return wanted->nonholonomic || wanted->nonholonomic_gradient || wanted->force;
}

static ga_eval all(void *user, const ga_point *at, const ga_wanted *wanted)
{
    ga_assembly *a = user;
    const ga_point here = {at->t, at->q, is_moving(wanted) ? at->v : NULL, NULL, NULL, NULL};
    visit_nodes(a, &here, wanted, NULL);
    if (wanted->mass) mass(user, at, wanted->mass);
    if (wanted->constraint || wanted->gradient) visit_joints(a, at, wanted, NULL, sweep_rows);
    if (wanted->rate) memset(wanted->rate, 0, (size_t)a->model->rows * sizeof *wanted->rate);
    if (a->rest_count == 0) return GA_EVAL_OK;
    make_frames(a);
    const ga_element_state state = {at->t,     a->frames, at->lambda, at->psi,
                                    a->memory, 0,         a->inputs,  a->callbacks};
    for (int r = 0; r < a->rest_count; ++r) evaluate(a, r, &state, wanted, NULL);
    return GA_EVAL_OK;
}

/* --- the dynamics as a whole -------------------------------------------------------------- */

/* One batch after the other, so that reactions add up in the order of the entries of B. Where
 * there are threads, parts of a batch are divided among them, unless they have too many bodies
 * in common. */
typedef struct joint_task {
    const ga_batch *batch;
    ga_places places;
    ga_reaction reaction;
} joint_task;

static void sweep_reactions(void *data, int part)
{
    const joint_task *t = data;
    ga_reaction_add(t->batch, t->places, part * PART, part_end(t->batch->count, part),
                    &t->reaction);
}

static void add_reactions(ga_assembly *a, const ga_point *at, const ga_wanted *wanted,
                          double *r)
{
    const bool threads = ga_pool_threads(a->pool) > 1;
    joint_task t = {.places = places_of(a),
                    .reaction = {at->lambda, wanted->constraint, wanted->gradient, r, false}};
    for (int k = 0; k < a->batch_count; ++k) {
        t.batch = a->batches + k;
        t.reaction.divided = threads && t.batch->commons <= t.batch->count / FEW_COMMON;
        ga_pool_run(t.reaction.divided ? a->pool : NULL, parts_of(t.batch->count),
                    sweep_reactions, &t);
        if (t.reaction.divided) ga_reaction_finish(t.batch, t.places, &t.reaction);
    }
}

/* Elements of the rest: their values are in B, or they are found now. */
static void add_rest_reactions(ga_assembly *a, const ga_element_state *state, const double *B,
                               const double *lambda, double *r)
{
    const ga_target *target = a->target + GA_TARGET_GRADIENT;
    for (int e = 0; e < a->rest_count; ++e) {
        const int first = target->first[e], end = target->first[e + 1], width = a->width[e];
        const int *columns = a->columns + a->column_at[e], row = a->rest[e]->row;
        if (first < end && !B) ga_assembly_gradient_of(a, e, state, a->out);
        for (int k = first; k < end; ++k) {
            const int entry = target->entry[k - target->base];
            r[columns[entry % width]] +=
                (B ? B[k] : a->out[entry]) * lambda[row + entry / width];
        }
    }
}

/* Forces of the rest come before accelerations, as if f were there alone. */
static ga_eval equations(void *user, const ga_point *at, const ga_wanted *wanted, double *r)
{
    ga_assembly *a = user;
    const bool rest = a->rest_count > 0, move = rest || a->turned;
    const ga_point here = {at->t, at->q, move ? at->v : NULL, NULL, NULL, NULL};
    const ga_element_state state = {at->t,     a->frames, at->lambda, at->psi,
                                    a->memory, 0,         a->inputs,  a->callbacks};
    ga_wanted all_of = *wanted;
    all_of.force = r;
    visit_nodes(a, &here, &all_of, rest ? NULL : at);
    if (wanted->mass) mass(user, at, wanted->mass);
    if (wanted->rate) memset(wanted->rate, 0, (size_t)a->model->rows * sizeof *wanted->rate);
    if (rest) {
        make_frames(a);
        for (int e = 0; e < a->rest_count; ++e) evaluate(a, e, &state, &all_of, at->vd);
        for (int i = 0, n = a->model->node_count, end; i < n; i = end) {
            end = run_end(a, i, n);
            ga_bodies_accelerate(a, i, end, at->vd + a->v_at[i], r + a->v_at[i]);
        }
    }
    add_reactions(a, at, wanted, r);
    if (rest) add_rest_reactions(a, &state, wanted->gradient, at->lambda, r);
    return GA_EVAL_OK;
}

/* --- one by one ----------------------------------------------------------------------------
 */

static ga_eval force(void *user, const ga_point *at, double *f)
{
    return all(user, at, &(ga_wanted){.force = f});
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    return all(user, at, &(ga_wanted){.constraint = Phi});
}

static ga_eval constraint_rate(void *user, const ga_point *at, double *Phi_t)
{
    return all(user, at, &(ga_wanted){.rate = Phi_t});
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    return all(user, at, &(ga_wanted){.gradient = B});
}

static ga_eval nonholonomic(void *user, const ga_point *at, double *k)
{
    return all(user, at, &(ga_wanted){.nonholonomic = k});
}

static ga_eval nonholonomic_gradient(void *user, const ga_point *at, double *N)
{
    return all(user, at, &(ga_wanted){.nonholonomic_gradient = N});
}

static ga_eval velocity_stiffness(void *user, const ga_point *at, double *Z)
{
    ga_assembly *a = user;
    ga_element_state state = state_at(a, at);
    visit_joints(a, at, NULL, Z, sweep_swept);
    for (int r = 0; r < a->rest_count; ++r) {
        if (!rest_of(a, r)->rows) continue;
        ga_assembly_speed_stiffness_of(a, r, &state, a->out);
        scatter(a->target + GA_TARGET_SPEED_STIFFNESS, r, a->out, Z);
    }
    return GA_EVAL_OK;
}

/* out = -(Z v), row by row */
static void minus_product(const ga_assembly *a, int r, int rows, const double *Z,
                          const double *v, double *out)
{
    const int *columns = a->columns + a->column_at[r];
    for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int c = 0; c < a->width[r]; ++c) sum += Z[i * a->width[r] + c] * v[columns[c]];
        out[i] = -sum;
    }
}

static ga_eval acceleration_rhs(void *user, const ga_point *at, double *c)
{
    ga_assembly *a = user;
    ga_element_state state = state_at(a, at);
    visit_joints(a, at, NULL, c, sweep_acceleration);
    for (int r = 0; r < a->rest_count; ++r) {
        const ga_element *element = rest_of(a, r);
        if (!element->rows) continue;
        ga_assembly_speed_stiffness_of(a, r, &state, a->out);
        minus_product(a, r, element->rows, a->out, at->v, c + element->row);
        if (!element->type->rate_rate) continue;
        element->type->rate_rate(element, &state, a->f);
        for (int i = 0; i < element->rows; ++i) c[element->row + i] -= a->f[i];
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_stiffness(void *user, const ga_point *at, double *Z)
{
    ga_assembly *a = user;
    ga_element_state state = state_at(a, at);
    for (int r = 0; r < a->rest_count; ++r) {
        if (!rest_of(a, r)->speed_rows) continue;
        ga_assembly_speed_speed_stiffness_of(a, r, &state, a->out);
        scatter(a->target + GA_TARGET_SPEED_SPEED_STIFFNESS, r, a->out, Z);
    }
    return GA_EVAL_OK;
}

static ga_eval nonholonomic_rhs(void *user, const ga_point *at, double *d)
{
    ga_assembly *a = user;
    ga_element_state state = state_at(a, at);
    for (int r = 0; r < a->rest_count; ++r) {
        const ga_element *element = rest_of(a, r);
        if (!element->speed_rows) continue;
        ga_assembly_speed_speed_stiffness_of(a, r, &state, a->out);
        minus_product(a, r, element->speed_rows, a->out, at->v, d + element->speed_row);
        if (!element->type->speed_rate) continue;
        element->type->speed_rate(element, &state, a->f);
        for (int i = 0; i < element->speed_rows; ++i) d[element->speed_row + i] -= a->f[i];
    }
    return GA_EVAL_OK;
}

/* K and C of the rest, of which one may be null. */
static void rest_tangents(ga_assembly *a, const ga_point *at, const ga_element_state *state,
                          double *K, double *C)
{
    const ga_target *k = a->target + GA_TARGET_STIFFNESS, *c = a->target + GA_TARGET_DAMPING;
    for (int r = 0; r < a->rest_count; ++r) {
        const bool stiff = K && k->first[r] < k->first[r + 1];
        const bool damped = C && c->first[r] < c->first[r + 1];
        if (!stiff && !damped) continue;
        const ga_loaded here = loaded(at, rest_of(a, r));
        tangents_of(a, rest_of(a, r), state, &here);
        if (stiff) {
            matrix_out(a, r, a->A, a->out);
            scatter(k, r, a->out, K);
        }
        if (damped) {
            matrix_out(a, r, a->A2, a->out);
            scatter(c, r, a->out, C);
        }
    }
}

static void body_stiffness(const ga_assembly *a, double *K)
{
    for (int i = 0; i < a->model->node_count; ++i)
        if (a->has_body[i]) K = ga_body_stiffness(a, i, K);
}

static void body_damping(const ga_assembly *a, double *C)
{
    for (int i = 0; i < a->model->node_count; ++i)
        if (a->has_body[i]) C = ga_body_damping(a, i, C);
}

static ga_eval tangents(void *user, const ga_point *at, double *K, double *C)
{
    ga_assembly *a = user;
    const ga_element_state state = state_at(a, at);
    if (K) body_stiffness(a, K);
    if (K) visit_joints(a, at, NULL, K, sweep_stiffness);
    if (C) body_damping(a, C);
    rest_tangents(a, at, &state, K, C);
    return GA_EVAL_OK;
}

static ga_eval stiffness(void *user, const ga_point *at, double *K)
{
    return tangents(user, at, K, NULL);
}

static ga_eval damping(void *user, const ga_point *at, double *C)
{
    return tangents(user, at, NULL, C);
}

static ga_eval force_multipliers(void *user, const ga_point *at, double *L)
{
    ga_assembly *a = user;
    ga_element_state state = state_at(a, at);
    const ga_target *target = a->target + GA_TARGET_MULTIPLIERS;
    for (int e = 0; e < a->rest_count; ++e) {
        const ga_element *element = rest_of(a, e);
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

/* --- creation ----------------------------------------------------------------------------- */

/* No entries is a pattern of its own, not a full matrix. */
static ga_pattern pattern_of(const ga_target *target)
{
    return (ga_pattern){.count = target->blocks,
                        .row = target->row,
                        .col = target->col,
                        .height = target->height,
                        .width = target->width};
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
        .struct_size = sizeof(ga_system),
        .user = a,
        .node_count = model->node_count,
        .nodes = a->nodes,
        .constraint_count = model->rows,
        .mass = mass,
        .mass_pattern = pattern_of(t + GA_TARGET_MASS),
        .mass_is_constant = !a->heavy,
        .force = force,
        .force_uses_multipliers = hosted,
        .stiffness = stiffness,
        .stiffness_pattern = pattern_of(t + GA_TARGET_STIFFNESS),
        .damping = damping,
        .damping_pattern = pattern_of(t + GA_TARGET_DAMPING),
        .tangents = tangents,
        .nonholonomic_count = model->speed_rows,
        .all = all,
        .equations = hosted || model->speed_rows ? NULL : equations,
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

static ga_status prepare_reactions(ga_assembly *a)
{
    int *mark = GA_NEW(int, a->model->node_count);
    ga_status status = mark ? GA_OK : GA_ERR_MEMORY;
    for (int k = 0; status == GA_OK && k < a->batch_count; ++k)
        status = ga_reaction_prepare(a->batches + k, a->v_at, PART, mark);
    ga_free(mark);
    return status;
}

static ga_status create(ga_assembly *a, bool se, bool plain)
{
    GA_TRY(ga_assembly_plan(a, se, plain));
    GA_TRY(ga_pattern_build(a));
    GA_TRY(prepare_reactions(a));
    for (int k = 0; k < a->batch_count; ++k) a->batch_parts += parts_of(a->batches[k].count);
    define_system(a);
    return GA_OK;
}

static ga_status make(const ga_model *model, bool se, bool plain, ga_assembly **assembly,
                      ga_report *report)
{
    *assembly = NULL;
    ga_assembly *a = GA_NEW(ga_assembly, 1);
    if (!a) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    a->model = model;
    ga_status status = create(a, se, plain);
    if (status != GA_OK) {
        ga_assembly_destroy(a);
        return ga_fail(report, status, "no memory for a simulation of %d bodies",
                       model->body_count);
    }
    *assembly = a;
    return GA_OK;
}

ga_status ga_assembly_create(const ga_model *model, bool se, ga_assembly **assembly,
                             ga_report *report)
{
    return make(model, se, false, assembly, report);
}

ga_status ga_assembly_create_plain(const ga_model *model, bool se, ga_assembly **assembly,
                                   ga_report *report)
{
    return make(model, se, true, assembly, report);
}

void ga_assembly_destroy(ga_assembly *a)
{
    if (!a) return;
    if (a->frames) ga_free(a->frames - 1);
    if (a->planes) ga_free(a->planes - 1);
    for (int k = 0; k < a->batch_count; ++k) {
        ga_free(a->batches[k].nodes);
        ga_free(a->batches[k].row);
        ga_free(a->batches[k].data);
        ga_free(a->batches[k].columns);
        ga_free(a->batches[k].order);
        ga_free(a->batches[k].common);
    }
    for (int k = 0; k < GA_TARGET_COUNT; ++k) ga_target_free(a->target + k);
    void *memory[] = {a->kinds,        a->nodes,     a->q_at,      a->v_at,     a->mass,
                      a->has_body,     a->inertia,   a->q,         a->v,        a->memory,
                      a->inputs,       a->callbacks, a->batches,   a->turnings, a->keepers,
                      (void *)a->rest, a->width,     a->column_at, a->columns,  a->A,
                      a->A2,           a->M,         a->out,       a->f,        a->rates};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; ++i) ga_free(memory[i]);
    ga_free(a);
}
