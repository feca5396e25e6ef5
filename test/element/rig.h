/* A few bodies with elements between them, at states of choice, for tests of elements: what the
 * model does around an element, in the simplest way. Derivatives are checked against difference
 * quotients of fourth order: with h = 2e-3 they are off by h^4/30 f^(5) ~ 1e-12 and by
 * round-off 1e-13/h, so 1e-8 of the largest entry leaves room for states where functions are
 * not tame. */
#ifndef GA_TEST_RIG_H
#define GA_TEST_RIG_H

#include "element/joint.h"
#include "test/support/unit.h"

#include <galpha/lie.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RIG_NODES = 4, RIG_ELEMENTS = 4, RIG_MAX = 64, RIG_COLUMNS = 6 * GA_ELEMENT_MAX_NODES };

typedef struct rig {
    ga_frame store[RIG_NODES + 1]; /* ground first */
    ga_element_state state;
    ga_setup setup;
    ga_reader reader;
    ga_arena arena;
    ga_messages *messages;
    ga_function *function; /* of time, if one is used */
    int count, rows, speed_rows, memory_count;
    ga_element *elements[RIG_ELEMENTS];
    double lambda[RIG_MAX], psi[RIG_MAX], memory[RIG_MAX];
    unsigned long long seed;
} rig;

/* Uniform in (-1, 1). */
static inline double rig_random(rig *r)
{
    r->seed = r->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(r->seed >> 11) / 4503599627370496.0 - 1;
}

static inline void rig_turn(ga_frame *f, const double *delta)
{
    double p[4], E[9], R[9];
    const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
    ga_lie_map(so3, GA_MAP_EXP, delta + 3, p);
    ga_quaternion_to_matrix(p, E);
    for (int j = 0; j < 3; ++j)
        ga_vec3_store(ga_rotate(f->R, ga_vec3_load(E + 3 * j)), R + 3 * j);
    ga_vec3_store(ga_vec3_add(ga_vec3_load(f->x), ga_rotate(f->R, ga_vec3_load(delta))), f->x);
    memcpy(f->R, R, sizeof R);
}

static inline void rig_frame(rig *r, ga_frame *f, double size)
{
    double delta[6];
    for (int i = 0; i < 6; ++i) delta[i] = size * rig_random(r);
    if (r->setup.dimension == 2) delta[2] = delta[3] = delta[4] = 0;
    rig_turn(f, delta);
}

static inline void rig_twists(rig *r)
{
    for (int b = 1; b <= RIG_NODES; ++b)
        for (int i = 0; i < 3; ++i) {
            const bool out = r->setup.dimension == 2;
            r->store[b].u[i] = out && i == 2 ? 0 : rig_random(r);
            r->store[b].w[i] = out && i != 2 ? 0 : rig_random(r);
        }
}

static inline void rig_init(rig *r, int dimension, unsigned long long seed)
{
    memset(r, 0, sizeof *r);
    r->seed = seed * 7919 + 17;
    r->setup = (ga_setup){.reader = &r->reader,
                          .arena = &r->arena,
                          .dimension = dimension,
                          .frames = r->store + 1,
                          .node_count = RIG_NODES};
    r->messages = ga_messages_create();
    assert_non_null(r->messages);
    r->reader = (ga_reader){.messages = r->messages, .dimension = dimension};
    r->state = (ga_element_state){
        .frames = r->store + 1, .lambda = r->lambda, .psi = r->psi, .memory = r->memory};
    for (int b = 0; b <= RIG_NODES; ++b) {
        ga_frame *f = &r->store[b];
        f->R[0] = f->R[4] = f->R[8] = 1;
        if (b > 0) rig_frame(r, f, 1.5);
    }
    rig_twists(r);
    for (int i = 0; i < RIG_MAX; ++i) {
        r->lambda[i] = 2 * rig_random(r);
        r->psi[i] = 2 * rig_random(r);
    }
}

/* What the reader does where nothing is given. */
static inline void rig_defaults(const ga_field *fields, void *element)
{
    for (const ga_field *f = fields; f->name; ++f) {
        char *at = (char *)element + f->offset;
        if (f->kind == GA_KIND_NUMBER) memcpy(at, f->fallback, sizeof(double));
        if (f->kind == GA_KIND_VECTOR || f->kind == GA_KIND_PLACE ||
            f->kind == GA_KIND_DIRECTION)
            memcpy(at, f->fallback, 3 * sizeof(double));
        if (f->kind == GA_KIND_CHOICE) *(int *)(void *)at = (int)f->fallback[0];
        if (f->kind == GA_KIND_GROUP) rig_defaults(f->group, at);
    }
}

static inline void *rig_new(const ga_element_type *type)
{
    ga_element *e = calloc(1, type->size);
    assert_non_null(e);
    e->type = type;
    e->name = type->name;
    if (type->fields) rig_defaults(type->fields, e);
    return e;
}

/* The member a field of that name goes to. */
static inline void *rig_field(void *element, const char *name)
{
    for (const ga_field *f = ((ga_element *)element)->type->fields; f->name; ++f)
        if (strcmp(f->name, name) == 0) return (char *)element + f->offset;
    fail_msg("no field %s", name);
    return NULL;
}

static inline void rig_set(void *element, const char *name, double x)
{
    *(double *)rig_field(element, name) = x;
}

static inline void rig_set3(void *element, const char *name, double x, double y, double z)
{
    const double n = 1 / sqrt(x * x + y * y + z * z);
    ga_vec3_store((ga_vec3){n * x, n * y, n * z}, rig_field(element, name));
}

static inline void rig_join(void *element, int first, int second)
{
    ga_joint *joint = element;
    joint->between[0] = (ga_anchor){.node = first, .whole = true};
    joint->between[1] = (ga_anchor){.node = second, .whole = true};
}

/* The last error, "path: text". */
static inline const char *rig_message(rig *r)
{
    static char line[400];
    line[0] = 0;
    const int n = ga_messages_count(r->messages);
    if (n > 0) ga_messages_format(r->messages, n - 1, line, sizeof line);
    return line;
}

/* A function of time that lives as long as the rig; one at a time. */
static inline ga_function *rig_time_function(rig *r, const char *text)
{
    const ga_value value = {.kind = GA_VALUE_SCALAR, .text = text};
    ga_function_destroy(r->function);
    r->function = NULL;
    assert_true(ga_function_read(&r->reader, &value, NULL, &r->function));
    return r->function;
}

/* Prepares an element and gives it its place; the rig frees it. */
static inline void *rig_add(rig *r, void *element)
{
    ga_element *e = element;
    r->elements[r->count++] = e;
    if (!e->type->prepare(e, &r->setup)) fail_msg("%s: %s", e->type->name, rig_message(r));
    e->row = r->rows;
    e->speed_row = r->speed_rows;
    e->memory = r->memory_count;
    r->rows += e->rows;
    r->speed_rows += e->speed_rows;
    r->memory_count += e->memory_count;
    if (e->type->remember) e->type->remember(e, &r->state, r->memory + e->memory);
    return e;
}

static inline void *rig_add_drive(rig *r, const ga_joint *joint, int k)
{
    void *drive = rig_new(&ga_drive);
    assert_true(ga_joint_has_attachment(joint, k));
    ga_drive_init(drive, joint, k);
    return rig_add(r, drive);
}

static inline void rig_free(rig *r)
{
    for (int i = 0; i < r->count; ++i) free(r->elements[i]);
    ga_function_destroy(r->function);
    ga_messages_destroy(r->messages);
    ga_arena_free(&r->arena);
}

/* --- difference quotients ------------------------------------------------------------------
 */

typedef void rig_function(rig *r, const ga_element *e, double *out);

/* Where a variable of the state moves by h. */
typedef void rig_move(rig *r, const ga_element *e, int j, double h);

static inline void rig_move_frame(rig *r, const ga_element *e, int j, double h)
{
    double delta[6] = {0};
    delta[j % 6] = h;
    rig_turn(&r->store[e->nodes[j / 6] + 1], delta);
}

static inline void rig_move_twist(rig *r, const ga_element *e, int j, double h)
{
    ga_frame *f = &r->store[e->nodes[j / 6] + 1];
    *(j % 6 < 3 ? &f->u[j % 6] : &f->w[j % 6 - 3]) += h;
}

static inline void rig_move_lambda(rig *r, const ga_element *e, int j, double h)
{
    r->lambda[e->host->row + j] += h;
}

static inline void rig_move_time(rig *r, const ga_element *e, int j, double h)
{
    (void)e, (void)j;
    r->state.t += h;
}

/* Column j of the derivative of n numbers. A node that an element names twice moves in both
 * places: the caller sums columns. */
static inline void rig_quotient(rig *r, const ga_element *e, rig_function *f, rig_move *move,
                                int j, int n, double *out)
{
    static const double weight[4] = {1, -8, 8, -1}, place[4] = {-2, -1, 1, 2};
    const double h = 2e-3;
    double value[RIG_COLUMNS];
    memset(out, 0, (size_t)n * sizeof *out);
    for (int s = 0; s < 4; ++s) {
        rig moved = *r;
        moved.state.frames = moved.store + 1;
        moved.state.lambda = moved.lambda;
        moved.state.psi = moved.psi;
        moved.state.memory = moved.memory;
        move(&moved, e, j, place[s] * h);
        f(&moved, e, value);
        for (int i = 0; i < n; ++i) out[i] += weight[s] * value[i] / (12 * h);
    }
}

/* Whether a model of this dimension has this column of a node. */
static inline bool rig_has(const rig *r, int column)
{
    static const bool planar[6] = {true, true, false, false, false, true};
    return r->setup.dimension == 3 || planar[column % 6];
}

static inline bool rig_moves(const rig *r, const ga_element *e, int column)
{
    return e->nodes[column / 6] != GA_GROUND && rig_has(r, column);
}

/* A (n x columns, row-major, times sign) is the derivative of f. */
static inline void rig_compare(rig *r, const ga_element *e, const char *what, rig_function *f,
                               rig_move *move, int n, int columns, double sign, const double *A)
{
    double largest = 1;
    for (int i = 0; i < n * columns; ++i) largest = fmax(largest, fabs(A[i]));
    for (int j = 0; j < columns; ++j) {
        double column[RIG_COLUMNS];
        if ((move == rig_move_frame || move == rig_move_twist) && !rig_has(r, j)) continue;
        rig_quotient(r, e, f, move, j, n, column);
        for (int i = 0; i < n; ++i)
            if (!(fabs(sign * A[columns * i + j] - column[i]) <= 1e-8 * largest))
                fail_msg("%s %s, %s (%d, %d): %.12g, quotient %.12g", e->type->name, e->name,
                         what, i, j, sign * A[columns * i + j], column[i]);
    }
}

static inline void rig_Phi(rig *r, const ga_element *e, double *out)
{
    e->type->constraint(e, &r->state, out);
}

static inline void rig_k(rig *r, const ga_element *e, double *out)
{
    e->type->speed(e, &r->state, out);
}

/* G^T x and G v for a gradient G */
static inline void rig_transposed(const ga_element *e, const double *G, int rows,
                                  const double *x, double *out)
{
    const int n = 6 * e->node_count;
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < rows; ++k)
        for (int i = 0; i < n; ++i) out[i] += G[n * k + i] * x[k];
}

static inline void rig_twist_of(rig *r, const ga_element *e, double *v)
{
    for (int b = 0; b < e->node_count; ++b) {
        const ga_frame *f = &r->state.frames[e->nodes[b]];
        memcpy(v + 6 * b, f->u, sizeof f->u);
        memcpy(v + 6 * b + 3, f->w, sizeof f->w);
    }
}

static inline void rig_reaction(rig *r, const ga_element *e, double *out)
{
    double B[6 * RIG_COLUMNS];
    e->type->gradient(e, &r->state, B);
    rig_transposed(e, B, e->rows, r->lambda + e->row, out);
}

static inline void rig_speed_reaction(rig *r, const ga_element *e, double *out)
{
    double N[6 * RIG_COLUMNS];
    e->type->speed_gradient(e, &r->state, N);
    rig_transposed(e, N, e->speed_rows, r->psi + e->speed_row, out);
}

static inline void rig_Bv(rig *r, const ga_element *e, double *out)
{
    double B[6 * RIG_COLUMNS], v[RIG_COLUMNS], rate[6] = {0};
    const int n = 6 * e->node_count;
    e->type->gradient(e, &r->state, B);
    rig_twist_of(r, e, v);
    if (e->rheonomic && e->type->rate) e->type->rate(e, &r->state, rate);
    for (int k = 0; k < e->rows; ++k) {
        out[k] = rate[k];
        for (int i = 0; i < n; ++i) out[k] += B[n * k + i] * v[i];
    }
}

static inline void rig_force(rig *r, const ga_element *e, double *out)
{
    memset(out, 0, (size_t)(6 * e->node_count) * sizeof *out);
    e->type->force(e, &r->state, out);
}

static inline void rig_potential(rig *r, const ga_element *e, double *out)
{
    *out = e->type->potential(e, &r->state);
}

static inline void rig_check_coupled(const ga_element *e, const double *K)
{
    const int n = 6 * e->node_count;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
            if (K[n * i + j] != 0 && e->type->coupled)
                assert_true(e->type->coupled(e, i / 3, j / 3));
}

static inline void rig_check_constraint(rig *r, const ga_element *e)
{
    const ga_element_type *type = e->type;
    const int n = 6 * e->node_count;
    double B[6 * RIG_COLUMNS], K[RIG_COLUMNS * RIG_COLUMNS] = {0}, rate[6] = {0};
    type->gradient(e, &r->state, B);
    rig_compare(r, e, "B", rig_Phi, rig_move_frame, e->rows, n, 1, B);
    type->geometric(e, &r->state, r->lambda + e->row, K);
    rig_compare(r, e, "geometric", rig_reaction, rig_move_frame, n, n, 1, K);
    rig_check_coupled(e, K);
    type->speed_stiffness(e, &r->state, B);
    rig_compare(r, e, "Z", rig_Bv, rig_move_frame, e->rows, n, 1, B);
    if (e->rheonomic) type->rate(e, &r->state, rate);
    rig_compare(r, e, "Phi_t", rig_Phi, rig_move_time, e->rows, 1, 1, rate);
    if (e->rheonomic) type->rate_rate(e, &r->state, rate);
    rig_compare(r, e, "rate_rate", rig_Bv, rig_move_time, e->rows, 1, 1, rate);
}

static inline void rig_check_speed(rig *r, const ga_element *e)
{
    const ga_element_type *type = e->type;
    const int n = 6 * e->node_count;
    double N[6 * RIG_COLUMNS], rate[6] = {0};
    double K[RIG_COLUMNS * RIG_COLUMNS] = {0}, C[RIG_COLUMNS * RIG_COLUMNS] = {0};
    type->speed_gradient(e, &r->state, N);
    rig_compare(r, e, "N", rig_k, rig_move_twist, e->speed_rows, n, 1, N);
    type->speed_speed_stiffness(e, &r->state, N);
    rig_compare(r, e, "D k", rig_k, rig_move_frame, e->speed_rows, n, 1, N);
    type->speed_geometric(e, &r->state, r->psi + e->speed_row, K, C);
    rig_compare(r, e, "D (N^T psi)", rig_speed_reaction, rig_move_frame, n, n, 1, K);
    rig_compare(r, e, "d (N^T psi)/dv", rig_speed_reaction, rig_move_twist, n, n, 1, C);
    rig_check_coupled(e, K);
    if (type->speed_rate) type->speed_rate(e, &r->state, rate);
    rig_compare(r, e, "k_t", rig_k, rig_move_time, e->speed_rows, 1, 1, rate);
}

/* Tangents; and the power of the force is what potential and dissipation say. */
static inline void rig_check_force(rig *r, const ga_element *e)
{
    const ga_element_type *type = e->type;
    const int n = 6 * e->node_count;
    double K[RIG_COLUMNS * RIG_COLUMNS] = {0}, C[RIG_COLUMNS * RIG_COLUMNS] = {0};
    type->tangent(e, &r->state, K, C);
    rig_compare(r, e, "K", rig_force, rig_move_frame, n, n, -1, K);
    rig_compare(r, e, "C", rig_force, rig_move_twist, n, n, -1, C);
    rig_check_coupled(e, K);
    rig_check_coupled(e, C);
    if (e->host) {
        double L[RIG_COLUMNS * 8] = {0};
        const int columns = e->host->rows + e->host->speed_rows;
        type->force_multipliers(e, &r->state, L);
        rig_compare(r, e, "L", rig_force, rig_move_lambda, n, columns, 1, L);
    }
    double f[RIG_COLUMNS], v[RIG_COLUMNS], power = 0, stored = 0, largest = 1;
    rig_force(r, e, f);
    rig_twist_of(r, e, v);
    for (int i = 0; i < n; ++i) {
        double slope;
        rig_quotient(r, e, rig_potential, rig_move_frame, i, 1, &slope);
        power += f[i] * v[i];
        stored += slope * v[i];
        largest = fmax(largest, fabs(f[i]));
    }
    const double lost = type->dissipation(e, &r->state);
    assert_true(lost >= 0);
    if (!(fabs(power + stored + lost) <= 1e-8 * largest))
        fail_msg("%s: power %g, stored %g, lost %g", type->name, power, stored, lost);
}

static inline void rig_check(rig *r, const ga_element *e)
{
    if (e->rows > 0) rig_check_constraint(r, e);
    if (e->speed_rows > 0) rig_check_speed(r, e);
    if (e->type->force) rig_check_force(r, e);
}

/* Force and moment of all on the nodes, ground included, add up to nothing. */
static inline void rig_check_balance(rig *r, const ga_element *e, rig_function *function,
                                     double tolerance)
{
    double f[RIG_COLUMNS], size = 1;
    ga_vec3 force = {0, 0, 0}, moment = {0, 0, 0};
    function(r, e, f);
    for (int b = 0; b < e->node_count; ++b) {
        const ga_frame *frame = &r->state.frames[e->nodes[b]];
        const ga_vec3 F = ga_rotate(frame->R, ga_vec3_load(f + 6 * b));
        const ga_vec3 m = ga_rotate(frame->R, ga_vec3_load(f + 6 * b + 3));
        force = ga_vec3_add(force, F);
        moment = ga_vec3_add(moment, ga_vec3_add(m, ga_vec3_cross(ga_vec3_load(frame->x), F)));
        size += fabs(F.x) + fabs(F.y) + fabs(F.z);
    }
    assert_true(ga_vec3_dot(force, force) < tolerance * tolerance * size * size);
    assert_true(ga_vec3_dot(moment, moment) < tolerance * tolerance * size * size);
}

/* --- consistent states ---------------------------------------------------------------------
 */

/* Orthogonalises rows in place; the smallest length left, relative to the row's. */
static inline double rig_orthogonalise(double *A, int rows, int n)
{
    double least = 1;
    for (int k = 0; k < rows; ++k) {
        double *a = A + n * k, before = 0, after = 0;
        for (int i = 0; i < n; ++i) before += a[i] * a[i];
        for (int pass = 0; pass < 2; ++pass)
            for (int l = 0; l < k; ++l) {
                double dot = 0;
                for (int i = 0; i < n; ++i) dot += a[i] * A[n * l + i];
                for (int i = 0; i < n; ++i) a[i] -= dot * A[n * l + i];
            }
        for (int i = 0; i < n; ++i) after += a[i] * a[i];
        least = fmin(least, sqrt(after / before));
        for (int i = 0; i < n; ++i) a[i] /= sqrt(after);
    }
    return least;
}

/* All rows at a state; nodes that an element names twice are not supported here. */
static inline void rig_rows(rig *r, const ga_element *e, double *G)
{
    const int n = 6 * e->node_count, rows = e->rows + e->speed_rows;
    if (e->rows > 0) e->type->gradient(e, &r->state, G);
    if (e->speed_rows > 0) e->type->speed_gradient(e, &r->state, G + n * e->rows);
    for (int k = 0; k < rows; ++k)
        for (int i = 0; i < n; ++i)
            if (!rig_moves(r, e, i)) G[n * k + i] = 0;
}

/* Gauss-Newton on Phi = 0: Phi = L y with B = L Q, and delta = -Q^T y. */
static inline void rig_project(rig *r, const ga_element *e)
{
    const int n = 6 * e->node_count, rows = e->rows;
    for (int iteration = 0; iteration < 30; ++iteration) {
        double B[8 * RIG_COLUMNS], Q[8 * RIG_COLUMNS], Phi[6], y[6], delta[RIG_COLUMNS] = {0};
        rig_rows(r, e, B);
        memcpy(Q, B, sizeof Q);
        rig_orthogonalise(Q, rows, n);
        e->type->constraint(e, &r->state, Phi);
        for (int k = 0; k < rows; ++k) {
            double diagonal = 0;
            y[k] = -Phi[k];
            for (int l = 0; l <= k; ++l) {
                double L = 0;
                for (int i = 0; i < n; ++i) L += B[n * k + i] * Q[n * l + i];
                if (l < k)
                    y[k] -= L * y[l];
                else
                    diagonal = L;
            }
            y[k] /= diagonal;
            for (int i = 0; i < n; ++i) delta[i] += Q[n * k + i] * y[k];
        }
        for (int b = 0; b < e->node_count; ++b)
            rig_turn(&r->store[e->nodes[b] + 1], delta + 6 * b);
    }
    double Phi[6];
    e->type->constraint(e, &r->state, Phi);
    for (int k = 0; k < rows; ++k)
        if (!(fabs(Phi[k]) < 1e-12)) fail_msg("%s: row %d: %g", e->type->name, k, Phi[k]);
}

#endif
