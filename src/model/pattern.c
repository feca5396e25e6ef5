#include "model/pattern.h"

#include "base/memory.h"
#include "base/report.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Entries below these fractions of the largest in a probe are round-off: a gradient is turned
 * into body axes and back, a tangent also has terms that cancel. */
static const double gradient_noise = 1e-14, tangent_noise = 1e-11;

enum { PROBES = 2 };

void ga_target_free(ga_target *target)
{
    ga_free(target->row);
    ga_free(target->col);
    ga_free(target->entry);
    ga_free(target->first);
    memset(target, 0, sizeof *target);
}

/* A larger copy of count numbers. */
static ga_status enlarge(int **numbers, int count, int room)
{
    int *copy = GA_NEW(int, room);
    if (!copy) return GA_ERR_MEMORY;
    if (count) memcpy(copy, *numbers, (size_t)count * sizeof *copy);
    ga_free(*numbers);
    *numbers = copy;
    return GA_OK;
}

static ga_status reserve(ga_target *target, int room)
{
    GA_TRY(enlarge(&target->row, target->count, room));
    GA_TRY(enlarge(&target->col, target->count, room));
    target->room = room;
    return GA_OK;
}

static int more(int count) { return count + count / 2 + 64; }

static ga_status add(ga_target *target, int row, int col)
{
    if (target->count == target->room) GA_TRY(reserve(target, more(target->count)));
    target->row[target->count] = row;
    target->col[target->count++] = col;
    return GA_OK;
}

/* of an element of the rest */
static ga_status add_entry(ga_target *target, int row, int col, int entry)
{
    int at = target->count - target->base;
    if (at == target->entry_room) {
        GA_TRY(enlarge(&target->entry, at, more(at)));
        target->entry_room = more(at);
    }
    target->entry[at] = entry;
    return add(target, row, col);
}

/* --- bodies ------------------------------------------------------------------------------- */

/* A 3 x 3 block without its diagonal, row by row; a full one, column by column. */
static ga_status add_skew(ga_target *target, int row, int col)
{
    for (int r = 0; r < 3; ++r)
        for (int c = 0; c < 3; ++c)
            if (r != c) GA_TRY(add(target, row + r, col + c));
    return GA_OK;
}

static ga_status add_full(ga_target *target, int row, int col)
{
    for (int c = 0; c < 3; ++c)
        for (int r = 0; r < 3; ++r) GA_TRY(add(target, row + r, col + c));
    return GA_OK;
}

static ga_status add_body(ga_assembly *a, int i)
{
    if (!a->has_body[i]) return GA_OK;
    ga_target *M = a->target + GA_TARGET_MASS, *K = a->target + GA_TARGET_STIFFNESS,
              *C = a->target + GA_TARGET_DAMPING;
    int at = a->v_at[i];
    for (int k = 0; k < a->model->dimension; ++k) GA_TRY(add(M, at + k, at + k));
    switch (a->kinds[i]) {
    case GA_NODE_SE3:
        GA_TRY(add_skew(K, at, at + 3));
        GA_TRY(add_skew(C, at, at));
        GA_TRY(add_skew(C, at, at + 3));
        /* fall through */
    case GA_NODE_R3SO3:
        GA_TRY(add_full(M, at + 3, at + 3));
        return add_full(C, at + 3, at + 3);
    case GA_NODE_SE2:
        GA_TRY(add(K, at, at + 2));
        GA_TRY(add(K, at + 1, at + 2));
        GA_TRY(add(C, at, at + 1));
        GA_TRY(add(C, at, at + 2));
        GA_TRY(add(C, at + 1, at));
        GA_TRY(add(C, at + 1, at + 2));
        /* fall through */
    case GA_NODE_R2SO2:
        return add(M, at + 2, at + 2);
    default:
        return GA_OK;
    }
}

/* --- probing ------------------------------------------------------------------------------ */

typedef struct probe {
    ga_assembly *a;
    uint64_t seed;
    double *lambda, *psi; /* random */
    double *vd;           /* random, if there are elements with mass */
    bool *mask;           /* of one matrix of one element */
} probe;

static double random_number(probe *p)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->seed >> 11) / 9007199254740992.0 * 2 - 1;
}

/* The element's nodes somewhere near where they were given, turned anyhow, moving. */
static void shake(probe *p, const ga_element *element)
{
    ga_assembly *a = p->a;
    for (int n = 0; n < element->node_count; ++n) {
        int i = element->nodes[n];
        if (i < 0) continue;
        double q[GA_NODE_MAX_NQ], x[GA_NODE_MAX_NV], v[GA_NODE_MAX_NV];
        const ga_model_node *node = a->model->nodes + i;
        ga_node_coordinates(a->kinds[i], node->position, node->rotation, q);
        for (int k = 0; k < GA_NODE_MAX_NV; ++k) {
            x[k] = random_number(p);
            v[k] = random_number(p);
        }
        ga_lie_update(a->nodes[i], GA_MAP_EXP, q, x, q);
        ga_node_place(a->kinds[i], q, a->frames + i);
        ga_node_move(a->kinds[i], v, a->frames + i);
    }
    a->placed = a->moved = false;
}

static void mark(probe *p, int count, const double *values, double noise)
{
    double largest = 0;
    for (int k = 0; k < count; ++k) largest = fmax(largest, fabs(values[k]));
    for (int k = 0; k < count; ++k)
        if (fabs(values[k]) > noise * largest) p->mask[k] = true;
}

static bool is_idle(const ga_element *element)
{
    return !element->type->force || (element->type->idle && element->type->idle(element));
}

static bool is_analytic(const ga_element *element)
{
    return element->event_count == 0 && is_idle(element);
}

/* Row r of a matrix of rows: each by its own largest entry. */
static void mark_rows(probe *p, int rows, int width, double noise)
{
    bool *mask = p->mask;
    for (int r = 0; r < rows; ++r) {
        p->mask = mask + r * width;
        mark(p, width, p->a->out + r * width, noise);
    }
    p->mask = mask;
}

typedef void rows_of(ga_assembly *a, int r, const ga_element_state *state, double *out);

static ga_status add_rows(probe *p, ga_target_name name, int e, int rows, int row,
                          rows_of *evaluate, double noise)
{
    ga_assembly *a = p->a;
    int width = a->width[e];
    const int *columns = a->columns + a->column_at[e];
    bool look = is_analytic(a->rest[e]);
    memset(p->mask, look ? 0 : 1, (size_t)(rows * width) * sizeof *p->mask);
    for (int k = 0; look && k < PROBES; ++k) {
        shake(p, a->rest[e]);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs};
        evaluate(a, e, &state, a->out);
        mark_rows(p, rows, width, noise);
    }
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < width; ++c)
            if (p->mask[r * width + c])
                GA_TRY(add_entry(a->target + name, row + r, columns[c], r * width + c));
    return GA_OK;
}

/* --- tangents of forces ------------------------------------------------------------------- */

/* For column c of an element: its node's position in the element, and 0 for translations, 1
 * for rotations. */
static void locate(const ga_assembly *a, const ga_element *element, int c, int *k, int *part)
{
    for (*k = 0;; ++*k) {
        int node = element->nodes[*k];
        if (node < 0) continue;
        int n = ga_node_nv(a->nodes[node]);
        if (c < n) {
            *part = c >= a->model->dimension;
            return;
        }
        c -= n;
    }
}

static bool coupled(const ga_element *element, int i, int j)
{
    return !element->type->coupled || element->type->coupled(element, i, j);
}

/* Entry (r, c) as the element says, and as mixed coordinates add to it (see node.h). */
static bool may_couple(const ga_assembly *a, const ga_element *element, int r, int c)
{
    int i, j, part_i, part_j;
    locate(a, element, r, &i, &part_i);
    locate(a, element, c, &j, &part_j);
    if (coupled(element, 2 * i + part_i, 2 * j + part_j)) return true;
    if (!part_j || !ga_node_is_mixed(a->kinds[element->nodes[j]])) return false;
    return coupled(element, 2 * i + part_i, 2 * j) || (i == j && !part_i);
}

typedef void matrix_of(ga_assembly *a, int r, const ga_element_state *state,
                       const ga_loaded *at, double *out);

static ga_status add_matrix(probe *p, ga_target_name name, int e, matrix_of *evaluate)
{
    ga_assembly *a = p->a;
    const ga_element *element = a->rest[e];
    int width = a->width[e];
    const int *columns = a->columns + a->column_at[e];
    bool look = is_analytic(element);
    if (look && !element->rows && !element->speed_rows && !element->type->mass) return GA_OK;
    for (int r = 0; r < width; ++r)
        for (int c = 0; c < width; ++c)
            p->mask[r * width + c] = !look && may_couple(a, element, r, c);
    for (int k = 0; look && k < PROBES; ++k) {
        shake(p, element);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs};
        const ga_loaded at = {p->vd, p->lambda, p->psi};
        evaluate(a, e, &state, &at, a->out);
        mark(p, width * width, a->out, tangent_noise);
    }
    for (int r = 0; r < width; ++r)
        for (int c = 0; c < width; ++c)
            if (p->mask[r * width + c])
                GA_TRY(add_entry(a->target + name, columns[r], columns[c], r * width + c));
    return GA_OK;
}

/* M is analytic whatever the forces are. */
static ga_status add_mass(probe *p, int e)
{
    ga_assembly *a = p->a;
    const ga_element *element = a->rest[e];
    const int width = a->width[e], *columns = a->columns + a->column_at[e];
    if (!element->type->mass) return GA_OK;
    memset(p->mask, 0, (size_t)(width * width) * sizeof *p->mask);
    for (int k = 0; k < PROBES; ++k) {
        shake(p, element);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs};
        ga_assembly_mass_of(a, e, &state, a->out);
        mark(p, width * width, a->out, gradient_noise);
    }
    for (int r = 0; r < width; ++r)
        for (int c = 0; c < width; ++c)
            if (p->mask[r * width + c])
                GA_TRY(add_entry(a->target + GA_TARGET_MASS, columns[r], columns[c],
                                 r * width + c));
    return GA_OK;
}

/* Columns are the host's multipliers; the local matrix is stored by columns. */
static ga_status add_multipliers(ga_assembly *a, int e)
{
    const ga_element *element = a->rest[e], *host = element->host;
    int width = a->width[e];
    const int *columns = a->columns + a->column_at[e];
    for (int c = 0; host && c < host->rows + host->speed_rows; ++c) {
        int column =
            c < host->rows ? host->row + c : a->model->rows + host->speed_row + c - host->rows;
        for (int r = 0; r < width; ++r)
            GA_TRY(add_entry(a->target + GA_TARGET_MULTIPLIERS, columns[r], column,
                             c * width + r));
    }
    return GA_OK;
}

/* --- all together ------------------------------------------------------------------------- */

static ga_status add_element(probe *p, int e)
{
    const ga_element *element = p->a->rest[e];
    if (element->rows) {
        GA_TRY(add_rows(p, GA_TARGET_GRADIENT, e, element->rows, element->row,
                        ga_assembly_gradient_of, gradient_noise));
        GA_TRY(add_rows(p, GA_TARGET_SPEED_STIFFNESS, e, element->rows, element->row,
                        ga_assembly_speed_stiffness_of, tangent_noise));
    }
    if (element->speed_rows) {
        GA_TRY(add_rows(p, GA_TARGET_SPEED_GRADIENT, e, element->speed_rows, element->speed_row,
                        ga_assembly_speed_gradient_of, gradient_noise));
        GA_TRY(add_rows(p, GA_TARGET_SPEED_SPEED_STIFFNESS, e, element->speed_rows,
                        element->speed_row, ga_assembly_speed_speed_stiffness_of,
                        tangent_noise));
    }
    GA_TRY(add_mass(p, e));
    GA_TRY(add_matrix(p, GA_TARGET_STIFFNESS, e, ga_assembly_stiffness_of));
    GA_TRY(add_matrix(p, GA_TARGET_DAMPING, e, ga_assembly_damping_of));
    return add_multipliers(p->a, e);
}

/* Where an entry of a local matrix goes: a row of the joint or of a node, a column of a node.
 */
typedef struct spot {
    int row, row_node; /* row_node -1: of the joint */
    int col, col_node;
} spot;

static ga_status add_spots(ga_assembly *a, ga_target *target, const ga_batch *batch, int count,
                           const spot *spots)
{
    for (int k = 0; k < batch->count; ++k) {
        const int *nodes = batch->nodes + 2 * k;
        for (int i = 0; i < count; ++i) {
            const spot *s = spots + i;
            int row = s->row_node < 0 ? batch->row[k] : a->v_at[nodes[s->row_node]];
            GA_TRY(add(target, row + s->row, a->v_at[nodes[s->col_node]] + s->col));
        }
    }
    return GA_OK;
}

static ga_status add_batch(ga_assembly *a, ga_batch *batch)
{
    static const ga_target_name names[GA_BATCH_MATRICES] = {
        GA_TARGET_GRADIENT, GA_TARGET_SPEED_STIFFNESS, GA_TARGET_STIFFNESS};
    const int n = batch->kernel->columns;
    for (int m = 0; m < GA_BATCH_MATRICES; ++m) {
        spot spots[GA_BATCH_SIZE];
        for (int i = 0; i < batch->mask[m].count; ++i) {
            spot *s = spots + i;
            s->row = batch->mask[m].entry[i] / n;
            s->row_node = -1;
            s->col = ga_batch_column(batch, batch->mask[m].entry[i] % n, &s->col_node);
            if (m == GA_BATCH_STIFFNESS) s->row = ga_batch_column(batch, s->row, &s->row_node);
        }
        batch->value[m] = a->target[names[m]].count;
        GA_TRY(add_spots(a, a->target + names[m], batch, batch->mask[m].count, spots));
    }
    return GA_OK;
}

/* What bodies and batches need: arrays of large models are made once, in their size. */
static ga_status reserve_all(ga_assembly *a)
{
    int room[GA_TARGET_COUNT] = {0}; /* no entries is not the same as no pattern */
    for (int i = 0; i < a->model->node_count; ++i) {
        bool se = a->kinds[i] == GA_NODE_SE3 || a->kinds[i] == GA_NODE_SE2, flat = a->planes;
        room[GA_TARGET_MASS] += flat ? 3 : 12;
        room[GA_TARGET_STIFFNESS] += !se ? 0 : flat ? 2 : 6;
        room[GA_TARGET_DAMPING] += flat ? (se ? 4 : 0) : (se ? 21 : 9);
    }
    for (int k = 0; k < a->batch_count; ++k) {
        const ga_batch *batch = a->batches + k;
        const ga_batch_mask *mask = batch->mask;
        room[GA_TARGET_GRADIENT] += batch->count * mask[GA_BATCH_GRADIENT].count;
        room[GA_TARGET_SPEED_STIFFNESS] += batch->count * mask[GA_BATCH_SWEPT].count;
        room[GA_TARGET_STIFFNESS] += batch->count * mask[GA_BATCH_STIFFNESS].count;
    }
    for (int k = 0; k < GA_TARGET_COUNT; ++k) {
        if (!(a->target[k].first = GA_NEW(int, a->rest_count + 1))) return GA_ERR_MEMORY;
        GA_TRY(reserve(a->target + k, room[k]));
    }
    return GA_OK;
}

static ga_status add_all(probe *p)
{
    ga_assembly *a = p->a;
    GA_TRY(reserve_all(a));
    for (int i = 0; i < a->model->node_count; ++i) GA_TRY(add_body(a, i));
    for (int k = 0; k < a->batch_count; ++k) GA_TRY(add_batch(a, a->batches + k));
    for (int k = 0; k < GA_TARGET_COUNT; ++k) a->target[k].base = a->target[k].count;
    for (int r = 0; r < a->rest_count; ++r) {
        for (int k = 0; k < GA_TARGET_COUNT; ++k) a->target[k].first[r] = a->target[k].count;
        GA_TRY(add_element(p, r));
    }
    for (int k = 0; k < GA_TARGET_COUNT; ++k)
        a->target[k].first[a->rest_count] = a->target[k].count;
    return GA_OK;
}

ga_status ga_pattern_build(ga_assembly *a)
{
    int most = 1;
    for (int e = 0; e < a->rest_count; ++e) {
        const ga_element *element = a->rest[e];
        int rows = a->width[e] + element->rows + element->speed_rows;
        if (rows > most) most = rows;
    }
    probe p = {.a = a, .seed = 20140601};
    p.lambda = GA_NEW(double, most);
    p.psi = GA_NEW(double, most);
    p.mask = GA_NEW(bool, (size_t)most *(size_t)most);
    p.vd = GA_NEW(double, a->heavy ? a->nv : 0);
    ga_status status = GA_ERR_MEMORY;
    if (p.lambda && p.psi && p.mask && p.vd) {
        for (int k = 0; k < most; ++k)
            p.lambda[k] = random_number(&p), p.psi[k] = random_number(&p);
        for (int k = 0; a->heavy && k < a->nv; ++k) p.vd[k] = random_number(&p);
        status = add_all(&p);
    }
    ga_free(p.lambda);
    ga_free(p.psi);
    ga_free(p.mask);
    ga_free(p.vd);
    return status;
}
