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
    ga_free(target->height);
    ga_free(target->width);
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
    int **arrays[] = {&target->row, &target->col, &target->height, &target->width};
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; ++k)
        GA_TRY(enlarge(arrays[k], target->blocks, room));
    target->room = room;
    return GA_OK;
}

static int more(int count) { return count + count / 2 + 64; }

static ga_status add(ga_target *target, int row, int col, int height, int width)
{
    if (target->blocks == target->room) GA_TRY(reserve(target, more(target->blocks)));
    target->row[target->blocks] = row;
    target->col[target->blocks] = col;
    target->height[target->blocks] = height;
    target->width[target->blocks++] = width;
    target->count += height * width;
    return GA_OK;
}

/* --- bodies ------------------------------------------------------------------------------- */

/* M, and what turns with a body: blocks by its translations and rotations. */
static ga_status add_body(ga_assembly *a, int i)
{
    if (!a->has_body[i]) return GA_OK;
    ga_target *M = a->target + GA_TARGET_MASS, *K = a->target + GA_TARGET_STIFFNESS,
              *C = a->target + GA_TARGET_DAMPING;
    const int at = a->v_at[i], n = a->model->dimension;
    GA_TRY(add(M, at, at, n, n));
    switch (a->kinds[i]) {
    case GA_NODE_SE3:
        GA_TRY(add(K, at, at + 3, 3, 3));
        GA_TRY(add(C, at, at, 3, 3));
        GA_TRY(add(C, at, at + 3, 3, 3));
        /* fall through */
    case GA_NODE_R3SO3:
        GA_TRY(add(M, at + 3, at + 3, 3, 3));
        return add(C, at + 3, at + 3, 3, 3);
    case GA_NODE_SE2:
        GA_TRY(add(K, at, at + 2, 2, 1));
        GA_TRY(add(C, at, at, 2, 3));
        /* fall through */
    case GA_NODE_R2SO2:
        return add(M, at + 2, at + 2, 1, 1);
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

/* --- blocks around what a probe has marked ------------------------------------------------ */

/* Lines of a local matrix that may make a block: first .. first + count - 1, which are at
 * `place` and behind it. */
typedef struct lines {
    int first, count, place;
} lines;

/* Translations and rotations of the nodes of an element of the rest. */
static int list_parts(const ga_assembly *a, int e, lines *parts)
{
    const ga_element *element = a->rest[e];
    int count = 0, first = 0;
    for (int k = 0; k < element->node_count; ++k) {
        const int node = element->nodes[k];
        if (node < 0) continue;
        const int n = ga_node_nv(a->nodes[node]), d = a->model->dimension;
        const int moving = n < d ? n : d;
        parts[count++] = (lines){first, moving, a->v_at[node]};
        if (n > d) parts[count++] = (lines){first + d, n - d, a->v_at[node] + d};
        first += n;
    }
    return count;
}

static ga_status add_entry(ga_target *target, int at, int entry)
{
    if (at == target->entry_room) {
        GA_TRY(enlarge(&target->entry, at, more(at)));
        target->entry_room = more(at);
    }
    target->entry[at] = entry;
    return GA_OK;
}

/* The smallest block around what the mask has in these lines; entry (r, c) of the local matrix
 * is number r * down + c * across. */
static ga_status add_around(const probe *p, ga_target *target, lines rows, lines cols, int down,
                            int across)
{
    int top = rows.count, bottom = -1, left = cols.count, right = -1;
    for (int r = 0; r < rows.count; ++r)
        for (int c = 0; c < cols.count; ++c) {
            if (!p->mask[(rows.first + r) * down + (cols.first + c) * across]) continue;
            top = r < top ? r : top;
            bottom = r;
            left = c < left ? c : left;
            right = c > right ? c : right;
        }
    if (bottom < 0) return GA_OK;
    int at = target->count - target->base;
    for (int c = left; c <= right; ++c)
        for (int r = top; r <= bottom; ++r)
            GA_TRY(
                add_entry(target, at++, (rows.first + r) * down + (cols.first + c) * across));
    return add(target, rows.place + top, cols.place + left, bottom - top + 1, right - left + 1);
}

/* Blocks of rows, at `row`, by parts of nodes; where there are none, by parts both ways. */
static ga_status add_blocks(const probe *p, ga_target *target, int e, int rows, int row)
{
    lines parts[2 * GA_ELEMENT_MAX_NODES];
    const int count = list_parts(p->a, e, parts);
    for (int i = 0; i < (rows ? 1 : count); ++i)
        for (int j = 0; j < count; ++j)
            GA_TRY(add_around(p, target, rows ? (lines){0, rows, row} : parts[i], parts[j],
                              p->a->width[e], 1));
    return GA_OK;
}

typedef void rows_of(ga_assembly *a, int r, const ga_element_state *state, double *out);

static ga_status add_rows(probe *p, ga_target_name name, int e, int rows, int row,
                          rows_of *evaluate, double noise)
{
    ga_assembly *a = p->a;
    int width = a->width[e];
    bool look = is_analytic(a->rest[e]);
    memset(p->mask, look ? 0 : 1, (size_t)(rows * width) * sizeof *p->mask);
    for (int k = 0; look && k < PROBES; ++k) {
        shake(p, a->rest[e]);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs, a->callbacks};
        evaluate(a, e, &state, a->out);
        mark_rows(p, rows, width, noise);
    }
    return add_blocks(p, a->target + name, e, rows, row);
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
    bool look = is_analytic(element);
    if (look && !element->rows && !element->speed_rows && !element->type->mass) return GA_OK;
    for (int r = 0; r < width; ++r)
        for (int c = 0; c < width; ++c)
            p->mask[r * width + c] = !look && may_couple(a, element, r, c);
    for (int k = 0; look && k < PROBES; ++k) {
        shake(p, element);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs, a->callbacks};
        const ga_loaded at = {p->vd, p->lambda, p->psi};
        evaluate(a, e, &state, &at, a->out);
        mark(p, width * width, a->out, tangent_noise);
    }
    return add_blocks(p, a->target + name, e, 0, 0);
}

/* M is analytic whatever the forces are. */
static ga_status add_mass(probe *p, int e)
{
    ga_assembly *a = p->a;
    const ga_element *element = a->rest[e];
    const int width = a->width[e];
    if (!element->type->mass) return GA_OK;
    memset(p->mask, 0, (size_t)(width * width) * sizeof *p->mask);
    for (int k = 0; k < PROBES; ++k) {
        shake(p, element);
        ga_element_state state = {0.3 + k,   a->frames, p->lambda, p->psi,
                                  a->memory, 0,         a->inputs, a->callbacks};
        ga_assembly_mass_of(a, e, &state, a->out);
        mark(p, width * width, a->out, gradient_noise);
    }
    return add_blocks(p, a->target + GA_TARGET_MASS, e, 0, 0);
}

/* Columns are the host's multipliers; the local matrix is stored by columns. */
static ga_status add_multipliers(probe *p, int e)
{
    ga_assembly *a = p->a;
    const ga_element *host = a->rest[e]->host;
    const int width = a->width[e];
    if (!host) return GA_OK;
    lines parts[2 * GA_ELEMENT_MAX_NODES];
    const lines columns[2] = {{0, host->rows, host->row},
                              {host->rows, host->speed_rows, a->model->rows + host->speed_row}};
    const int count = list_parts(a, e, parts);
    memset(p->mask, 1, (size_t)(width * (host->rows + host->speed_rows)) * sizeof *p->mask);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < 2; ++j)
            GA_TRY(add_around(p, a->target + GA_TARGET_MULTIPLIERS, parts[i], columns[j], 1,
                              width));
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
    return add_multipliers(p, e);
}

static ga_status add_batch(ga_assembly *a, ga_batch *batch)
{
    static const ga_target_name names[GA_BATCH_MATRICES] = {
        GA_TARGET_GRADIENT, GA_TARGET_SPEED_STIFFNESS, GA_TARGET_STIFFNESS};
    for (int m = 0; m < GA_BATCH_MATRICES; ++m) {
        const ga_batch_layout *layout = batch->layout + m;
        ga_target *target = a->target + names[m];
        batch->value[m] = target->count;
        for (int k = 0; k < batch->count; ++k) {
            const int *nodes = batch->nodes + 2 * k;
            for (int i = 0; i < layout->blocks; ++i) {
                const ga_batch_block *b = layout->block + i;
                const int row = b->row_node < 0 ? batch->row[k] : a->v_at[nodes[b->row_node]];
                GA_TRY(add(target, row + b->row, a->v_at[nodes[b->col_node]] + b->col,
                           b->height, b->width));
            }
        }
    }
    return GA_OK;
}

/* What bodies and batches need: arrays of large models are made once, in their size. */
static ga_status reserve_all(ga_assembly *a)
{
    int room[GA_TARGET_COUNT] = {0}; /* no entries is not the same as no pattern */
    for (int i = 0; i < a->model->node_count; ++i) {
        bool se = a->kinds[i] == GA_NODE_SE3 || a->kinds[i] == GA_NODE_SE2, flat = a->planes;
        room[GA_TARGET_MASS] += 2;
        room[GA_TARGET_STIFFNESS] += se ? 1 : 0;
        room[GA_TARGET_DAMPING] += flat ? (se ? 1 : 0) : (se ? 3 : 1);
    }
    for (int k = 0; k < a->batch_count; ++k) {
        const ga_batch *batch = a->batches + k;
        const ga_batch_layout *layout = batch->layout;
        room[GA_TARGET_GRADIENT] += batch->count * layout[GA_BATCH_GRADIENT].blocks;
        room[GA_TARGET_SPEED_STIFFNESS] += batch->count * layout[GA_BATCH_SWEPT].blocks;
        room[GA_TARGET_STIFFNESS] += batch->count * layout[GA_BATCH_STIFFNESS].blocks;
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
