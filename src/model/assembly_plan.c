/* What is decided once for an assembly: where nodes have their coordinates, which joints are
 * computed together, which elements remember something, and whose row or column is which. */
#include "base/memory.h"
#include "base/report.h"
#include "model/assembly.h"

#include <string.h>

/* --- numbering ---------------------------------------------------------------------------- */

static ga_node_kind kind_of(const ga_model *model, const ga_model_node *node, bool se)
{
    bool point = !node->turns;
    if (model->dimension == 2) return point ? GA_NODE_POINT2 : se ? GA_NODE_SE2 : GA_NODE_R2SO2;
    return point ? GA_NODE_POINT3 : se ? GA_NODE_SE3 : GA_NODE_R3SO3;
}

/* Bodies have kernels of their own, see bodies.c. */
static void take_body(ga_assembly *a, const ga_body *body)
{
    const int i = body->element.nodes[0];
    const double *J = body->inertia;
    a->has_body[i] = true;
    a->mass[i] = body->mass;
    if (a->planes) {
        a->inertia[i] = J[8];
        return;
    }
    memcpy(a->inertia + 9 * (size_t)i, J, 9 * sizeof *a->inertia);
    for (int k = 0; k < 9; ++k)
        if (k % 4 && J[k] != 0) a->principal = false;
}

static ga_status number_nodes(ga_assembly *a, bool se, bool plain)
{
    const ga_model *model = a->model;
    int n = model->node_count;
    a->turned = se;
    bool memory = (a->kinds = GA_NEW(ga_node_kind, n)) && (a->nodes = GA_NEW(ga_node, n)) &&
                  (a->q_at = GA_NEW(int, n + 1)) && (a->v_at = GA_NEW(int, n + 1)) &&
                  (a->mass = GA_NEW(double, n)) && (a->has_body = GA_NEW(bool, n)) &&
                  (a->frames = GA_NEW(ga_frame, n + 1));
    if (!memory) return GA_ERR_MEMORY;
    *a->frames++ = model->frames[GA_GROUND];
    for (int i = 0; i < n; ++i) {
        a->kinds[i] = kind_of(model, model->nodes + i, se);
        a->nodes[i] = ga_node_of(a->kinds[i]);
        a->q_at[i + 1] = a->q_at[i] + ga_node_nq(a->nodes[i]);
        a->v_at[i + 1] = a->v_at[i] + ga_node_nv(a->nodes[i]);
        a->alike = (i == 0 || a->alike) && a->kinds[i] == a->kinds[0];
    }
    a->nq = a->q_at[n];
    a->nv = a->v_at[n];
    bool states = (a->q = GA_NEW(double, a->nq)) && (a->v = GA_NEW(double, a->nv)) &&
                  (a->memory = GA_NEW(double, model->memory_count)) &&
                  (a->inputs = GA_NEW(ga_input_line, model->inputs.count)) &&
                  (a->callbacks = GA_NEW(ga_callback_slot, model->callback_count));
    if (!states) return GA_ERR_MEMORY;
    const bool flat = model->dimension == 2;
    if (!(a->inertia = GA_NEW(double, (flat ? 1 : 9) * (size_t)n))) return GA_ERR_MEMORY;
    if (flat) {
        if (!(a->planes = GA_NEW(ga_plane, n + 1))) return GA_ERR_MEMORY;
        ++a->planes; /* the ground before the first */
    }
    a->principal = !flat;
    for (int i = 0; !plain && i < model->body_count; ++i) take_body(a, model->bodies + i);
    return GA_OK;
}

/* --- batches ------------------------------------------------------------------------------ */

/* More than these are no longer worth looking through: what is left is the rest. */
enum { MOST_BATCHES = 64 };

/* Among those there are; a new one if there is room, else -1. */
static int find_batch(ga_assembly *a, const ga_batch *batch)
{
    int k = a->batch_count - 1;
    while (k >= 0 && !ga_batch_is_same(a->batches + k, batch)) --k;
    if (k >= 0 || a->batch_count == MOST_BATCHES) return k;
    a->batches[a->batch_count] = *batch;
    return a->batch_count++;
}

/* of[e]: the batch of each element, or -1. A joint with the constants of the one before it goes
 * where that one went. */
static void sort_elements(ga_assembly *a, bool plain, int *of)
{
    const ga_model *model = a->model;
    double data[2][GA_KERNEL_MAX_NUMBERS] = {{0}};
    ga_batch batch[2] = {{0}};
    int last = -1, turn = 0;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        of[e] = -1;
        if (plain || !element->type->is_joint ||
            !ga_batch_describe((const ga_joint *)element, model->dimension, a->kinds,
                               batch + turn, data[turn]))
            continue;
        size_t size = (size_t)batch[turn].kernel->numbers * sizeof **data;
        if (last < 0 || !ga_batch_is_like(batch, batch + 1) ||
            memcmp(data[0], data[1], size) != 0) {
            ga_batch_find_masks(batch + turn, data[turn]);
            last = find_batch(a, batch + turn);
            turn = 1 - turn;
        }
        of[e] = last;
        if (last >= 0) ++a->batches[last].count;
    }
}

static void add_rest(ga_assembly *a, const ga_element *element)
{
    a->rest[a->rest_count++] = element;
    if (element->type->mass) a->heavy = true;
}

static ga_status fill_batches(ga_assembly *a, const int *of, bool plain)
{
    int rest = plain ? a->model->body_count : 0;
    for (int e = 0; e < a->model->element_count; ++e) rest += of[e] < 0;
    if (!(a->rest = GA_NEW(const ga_element *, rest))) return GA_ERR_MEMORY;
    for (int i = 0; plain && i < a->model->body_count; ++i)
        add_rest(a, &a->model->bodies[i].element);
    for (int k = 0; k < a->batch_count; ++k)
        GA_TRY(ga_batch_reserve(a->batches + k, a->batches[k].count));
    for (int e = 0; e < a->model->element_count; ++e) {
        if (of[e] < 0)
            add_rest(a, a->model->elements[e]);
        else
            ga_batch_add(a->batches + of[e], (const ga_joint *)a->model->elements[e]);
    }
    return GA_OK;
}

static ga_status make_batches(ga_assembly *a, bool plain)
{
    int *of = GA_NEW(int, a->model->element_count);
    a->batches = GA_NEW(ga_batch, MOST_BATCHES);
    ga_status status = GA_ERR_MEMORY;
    if (of && a->batches) {
        sort_elements(a, plain, of);
        status = fill_batches(a, of, plain);
    }
    ga_free(of);
    return status;
}

/* In the plane, the difference of two angles is all that a hinge has to remember. */
static double angle_between(const ga_assembly *a, const ga_element *element)
{
    double angle[2] = {0, 0}, q[GA_NODE_MAX_NQ];
    for (int k = 0; k < 2; ++k) {
        int node = element->nodes[k];
        if (node < 0 || a->kinds[node] == GA_NODE_POINT2) continue;
        const ga_model_node *at = a->model->nodes + node;
        ga_node_coordinates(a->kinds[node], at->position, at->rotation, q);
        angle[k] = q[2];
    }
    return angle[1] - angle[0];
}

static bool is_turning(const ga_assembly *a, const ga_element *element, ga_turning *turning)
{
    const ga_joint *joint = (const ga_joint *)element;
    if (!element->type->is_joint || element->type->commit != ga_joint_commit) return false;
    if (ga_joint_coordinates(joint) != 1) return false;
    if (ga_joint_coordinate_type(joint, 0)->scalar != ga_angle) return false;
    turning->nodes[0] = element->nodes[0];
    turning->nodes[1] = element->nodes[1];
    turning->memory = element->memory;
    turning->turns = NAN;
    turning->home = a->planes ? angle_between(a, element) : joint->home[0];
    memcpy(turning->A, joint->marker[0].A, sizeof turning->A);
    memcpy(turning->B, joint->marker[1].A, sizeof turning->B);
    return true;
}

static ga_status list_keepers(ga_assembly *a, bool plain)
{
    const ga_model *model = a->model;
    int turnings = 0, keepers = 0;
    ga_turning turning;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        if (!element->type->commit || !element->memory_count) continue;
        *(!plain && is_turning(a, element, &turning) ? &turnings : &keepers) += 1;
    }
    a->turnings = GA_NEW(ga_turning, turnings);
    a->keepers = GA_NEW(int, keepers);
    if (!a->turnings || !a->keepers) return GA_ERR_MEMORY;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        if (!element->type->commit || !element->memory_count) continue;
        if (!plain && is_turning(a, element, &turning))
            a->turnings[a->turning_count++] = turning;
        else
            a->keepers[a->keeper_count++] = e;
    }
    return GA_OK;
}

/* Columns of v each element of the rest works on, node by node. */
static ga_status number_columns(ga_assembly *a)
{
    int total = 0;
    a->width = GA_NEW(int, a->rest_count);
    a->column_at = GA_NEW(int, a->rest_count);
    if (!a->width || !a->column_at) return GA_ERR_MEMORY;
    for (int r = 0; r < a->rest_count; ++r) {
        const ga_element *element = a->rest[r];
        a->column_at[r] = total;
        for (int k = 0; k < element->node_count; ++k)
            if (element->nodes[k] >= 0) a->width[r] += ga_node_nv(a->nodes[element->nodes[k]]);
        total += a->width[r];
    }
    if (!(a->columns = GA_NEW(int, total))) return GA_ERR_MEMORY;
    for (int r = 0, at = 0; r < a->rest_count; ++r) {
        const ga_element *element = a->rest[r];
        for (int k = 0; k < element->node_count; ++k) {
            int node = element->nodes[k];
            for (int c = 0; node >= 0 && c < ga_node_nv(a->nodes[node]); ++c)
                a->columns[at++] = a->v_at[node] + c;
        }
    }
    return GA_OK;
}

/* Room for the local matrices of any element. */
static ga_status take_workspace(ga_assembly *a)
{
    const ga_model *model = a->model;
    int most = 1, rows_most = 1;
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        if (element->node_count > most) most = element->node_count;
        int rows = element->rows > element->speed_rows ? element->rows : element->speed_rows;
        if (element->host && element->host->rows + element->host->speed_rows > rows)
            rows = element->host->rows + element->host->speed_rows;
        if (rows > rows_most) rows_most = rows;
    }
    int side = GA_TWIST * most, size = side * (rows_most > side ? rows_most : side);
    bool memory = (a->A = GA_NEW(double, size)) && (a->A2 = GA_NEW(double, size)) &&
                  (a->M = GA_NEW(double, side *side)) && (a->out = GA_NEW(double, size)) &&
                  (a->f = GA_NEW(double, 2 * side)) && (a->rates = GA_NEW(double, side));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

ga_status ga_assembly_plan(ga_assembly *a, bool se, bool plain)
{
    GA_TRY(number_nodes(a, se, plain));
    GA_TRY(make_batches(a, plain));
    GA_TRY(list_keepers(a, plain));
    GA_TRY(number_columns(a));
    return take_workspace(a);
}

/* --- looking up --------------------------------------------------------------------------- */

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

static int column_of(const ga_assembly *a, int node) { return a->v_at[node]; }

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
    return last_not_above(a, a->model->node_count, column_of, column);
}
