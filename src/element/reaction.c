/* Joints come GA_KERNEL_LANES at a time, side by side. Their reactions go to r of the second
 * bodies, then to r of the first ones: in a chain each body is the second of one joint, then
 * the first of the next. Where a body would get its shares in another order than that of the
 * joints, it is the other way round, or one joint after the other.
 */
#include "element/reaction.h"

#include "base/memory.h"
#include "base/simd.h"

#include <string.h>

enum { LANES = GA_KERNEL_LANES };

/* Second bodies before first ones, first ones before second ones, joint by joint. */
enum { SECONDS, FIRSTS, SINGLY };

/* --- once ----------------------------------------------------------------------------------
 */

static void find_places(ga_batch *batch)
{
    const ga_batch_mask *mask = batch->mask + GA_BATCH_GRADIENT;
    const int n = batch->kernel->columns;
    for (int i = 0; i < mask->count; ++i) {
        int which, column = ga_batch_column(batch, mask->entry[i] % n, &which);
        batch->place[i] = (ga_batch_place){(unsigned char)which, (unsigned char)column,
                                           (unsigned char)(mask->entry[i] / n)};
    }
}

static void list_side(ga_batch *batch, int which)
{
    const ga_batch_mask *mask = batch->mask + GA_BATCH_GRADIENT;
    ga_batch_side *side = batch->side + which;
    int count = 0;
    *side = (ga_batch_side){0};
    if (batch->kind[which] < 0) return;
    side->columns = ga_node_nv(ga_node_of((ga_node_kind)batch->kind[which]));
    for (int c = 0; c < side->columns && c < GA_TWIST; ++c) {
        for (int i = 0; i < mask->count; ++i) {
            const ga_batch_place at = batch->place[i];
            if (at.column != c || at.which != which) continue;
            side->entry[count] = (unsigned short)(mask->entry[i] * LANES);
            side->row[count++] = (unsigned short)(at.row * LANES);
        }
        side->start[c + 1] = (unsigned char)count;
    }
}

/* May add_units, or add_flat_units, be used for this body? */
static bool takes_units(const ga_batch *batch, int which)
{
    const ga_batch_side *side = batch->side + which;
    const int kind = batch->kind[which];
    if (kind < 0 || kind == GA_NODE_R3SO3) return true;
    return kind == GA_NODE_R2SO2 && side->start[3] - side->start[2] == 2;
}

/* How LANES joints may be added; the ground gets nothing. */
static int find_order(const int *nodes)
{
    bool seconds = true, firsts = true;
    for (int i = 0; i < LANES; ++i)
        for (int j = i; j < LANES; ++j) {
            const int *one = nodes + 2 * i, *other = nodes + 2 * j; /* at i, or later */
            if (j > i && one[0] >= 0 && one[0] == other[0]) return SINGLY;
            if (j > i && one[1] >= 0 && one[1] == other[1]) return SINGLY;
            if (one[0] >= 0 && one[0] == other[1]) seconds = false;
            if (one[1] >= 0 && one[1] == other[0]) firsts = false;
        }
    return seconds ? SECONDS : firsts ? FIRSTS : SINGLY;
}

/* Bodies that have joints of several parts. mark: 1 + the part, -1: of several. */
static void find_common(ga_batch *batch, int part, int *mark)
{
    for (int k = 0; k < 2 * batch->count; ++k) {
        const int node = batch->nodes[k], own = 1 + k / 2 / part;
        if (node >= 0) mark[node] = mark[node] == 0 || mark[node] == own ? own : -1;
    }
    for (int k = 0; k < batch->count; ++k) {
        const int *nodes = batch->nodes + 2 * k;
        for (int b = 0; b < 2; ++b)
            if (nodes[b] >= 0 && mark[nodes[b]] < 0)
                batch->common[k] = (unsigned char)(batch->common[k] | (1 << b));
        batch->commons += batch->common[k] != 0;
    }
    for (int k = 0; k < 2 * batch->count; ++k)
        if (batch->nodes[k] >= 0) mark[batch->nodes[k]] = 0;
}

ga_status ga_reaction_prepare(ga_batch *batch, const int *v_at, int part, int *mark)
{
    const int groups = (batch->count + LANES - 1) / LANES;
    batch->columns = GA_NEW(int, 2 * LANES * (size_t)groups);
    batch->order = GA_NEW(unsigned char, groups);
    batch->common = GA_NEW(unsigned char, batch->count);
    if (!batch->columns || !batch->order || !batch->common) return GA_ERR_MEMORY;
    for (int k = 0; k < 2 * batch->count; ++k)
        if (batch->nodes[k] >= 0) batch->columns[k] = v_at[batch->nodes[k]];
    find_places(batch);
    batch->units = batch->kernel->units;
    for (int b = 0; b < 2; ++b) {
        list_side(batch, b);
        if (!takes_units(batch, b)) batch->units = false;
    }
    for (int g = 0; g < groups; ++g)
        batch->order[g] = (unsigned char)find_order(batch->nodes + 2 * LANES * g);
    find_common(batch, part, mark);
    return GA_OK;
}

/* --- side by side --------------------------------------------------------------------------
 */

/* Where r of each second column begins: places of one of the two bodies of joints. */
typedef const int *places;

/* Numbers of four bodies, n of each, side by side; n is known to the compiler. */
KERNEL void get_four(const int n, const double *r, places at, double *y)
{
    vec4 x[4];
    for (int i = 0; i < 4; ++i) {
        if (n < 4)
            load_first(x + i, r + at[2 * i], n);
        else
            load(x + i, r + at[2 * i]);
    }
    transpose(x);
    for (int c = 0; c < n && c < 4; ++c) store(y + c * LANES, x + c);
    if (n <= 4) return;
    for (int i = 0; i < 4; ++i) load(x + i, r + at[2 * i] + n - 4);
    transpose(x);
    for (int c = 4; c < n; ++c) store(y + c * LANES, x + c - n + 4);
}

/* And back. */
KERNEL void put_four(const int n, const double *y, places at, double *r)
{
    vec4 x[4];
    for (int c = 0; c < 4; ++c) {
        if (c < n)
            load(x + c, y + c * LANES);
        else
            set_zero(x + c);
    }
    transpose(x);
    for (int i = 0; i < 4; ++i) {
        if (n < 4)
            store_first(r + at[2 * i], x + i, n);
        else
            store(r + at[2 * i], x + i);
    }
    if (n <= 4) return;
    for (int c = n - 4; c < n; ++c) load(x + c - n + 4, y + c * LANES);
    transpose(x);
    for (int i = 0; i < 4; ++i) store(r + at[2 * i] + n - 4, x + i);
}

/* Products with lambda, column by column from `first` on. */
KERNEL void add_columns(const ga_batch_side *side, const int first, const int n,
                        const double *local, const double *lambda, double *y)
{
    for (int c = first; c < n; ++c) {
        vec4 sum[2], term, factor;
        load(sum, y + c * LANES);
        load(sum + 1, y + c * LANES + 4);
        for (int i = side->start[c]; i < side->start[c + 1]; ++i) {
            const double *B = local + side->entry[i], *l = lambda + side->row[i];
            for (int k = 0; k < 2; ++k) {
                load(&term, B + 4 * k);
                load(&factor, l + 4 * k);
                add_products(sum + k, &term, &factor);
            }
        }
        store(y + c * LANES, sum);
        store(y + c * LANES + 4, sum + 1);
    }
}

KERNEL void add_side(const ga_batch_side *side, const int n, places at, const double *local,
                     const double *lambda, double *r)
{
    double y[GA_TWIST * LANES];
    get_four(n, r, at, y);
    get_four(n, r, at + 8, y + 4);
    add_columns(side, 0, n, local, lambda, y);
    put_four(n, y, at, r);
    put_four(n, y + 4, at + 8, r);
}

/* Rows of units: the multipliers themselves go to translations. Bodies in space. */
KERNEL void add_units(const ga_batch_side *side, const double sign, places at,
                      const double *local, const double *lambda, double *r)
{
    double y[GA_TWIST * LANES];
    get_four(6, r, at, y);
    get_four(6, r, at + 8, y + 4);
    for (int i = 0; i < 3 * LANES; i += 4) {
        vec4 sum;
        load(&sum, y + i);
        add_at(&sum, lambda + i, sign);
        store(y + i, &sum);
    }
    add_columns(side, 3, 6, local, lambda, y);
    put_four(6, y, at, r);
    put_four(6, y + 4, at + 8, r);
}

/* The same for planar bodies, whose rotation gets two products. */
KERNEL void add_flat_units(const ga_batch_side *side, const double sign, places at,
                           const int *row, const double *restrict lambda,
                           const double *restrict local, const double *restrict own,
                           double *restrict r)
{
    const int first = side->start[2];
    double product[2][LANES];
    for (int i = 0; i < 2; ++i)
        for (int v = 0; v < LANES; ++v)
            product[i][v] = local[side->entry[first + i] + v] * own[side->row[first + i] + v];
    for (int v = 0; v < LANES; ++v) {
        const double *from = lambda + row[v];
        double *to = r + at[2 * v];
        for (int i = 0; i < 2; ++i) to[i] += sign * from[i];
        to[2] = (to[2] + product[0][v]) + product[1][v];
    }
}

/* lambda: of these joints, side by side */
static void add_bodies(const ga_batch *batch, int which, int k, const ga_reaction *reaction,
                       const double *local, const double *lambda)
{
    const ga_batch_side *side = batch->side + which;
    const int *row = batch->row + k;
    const double *all = reaction->lambda;
    places at = batch->columns + 2 * k + which;
    double *r = reaction->r;
    if (batch->units && side->columns == 3 && which == 0) {
        add_flat_units(side, -1, at, row, all, local, lambda, r);
    } else if (batch->units && side->columns == 3) {
        add_flat_units(side, 1, at, row, all, local, lambda, r);
    } else if (batch->units && side->columns == 6 && which == 0) {
        add_units(side, -1, at, local, lambda, r);
    } else if (batch->units && side->columns == 6) {
        add_units(side, 1, at, local, lambda, r);
    } else if (side->columns == 6) {
        add_side(side, 6, at, local, lambda, r);
    } else if (side->columns == 3) {
        add_side(side, 3, at, local, lambda, r);
    } else if (side->columns == 2) {
        add_side(side, 2, at, local, lambda, r);
    }
}

/* --- one by one ----------------------------------------------------------------------------
 */

/* B, numbers `stride` apart, to the bodies that `bits` names. */
static void add_single(const ga_batch *batch, int k, int bits, const double *B, int stride,
                       const ga_reaction *reaction)
{
    const ga_batch_mask *mask = batch->mask + GA_BATCH_GRADIENT;
    const double *lambda = reaction->lambda + batch->row[k];
    for (int i = 0; i < mask->count; ++i) {
        const ga_batch_place at = batch->place[i];
        if (!(bits >> at.which & 1)) continue;
        reaction->r[batch->columns[2 * k + at.which] + at.column] +=
            B[mask->entry[i] * stride] * lambda[at.row];
    }
}

/* --- all -----------------------------------------------------------------------------------
 */

/* Is there a body among those of these joints that has to wait? */
static bool any_common(const ga_batch *batch, int k)
{
    unsigned char any = 0;
    for (int v = 0; v < LANES; ++v) any |= batch->common[k + v];
    return any;
}

/* Phi goes to its place, and lambda comes; the number of rows is known to the compiler. */
KERNEL void exchange(const int rows, const int *row, const double *from,
                     const double *restrict values, double *restrict Phi,
                     double *restrict lambda)
{
    for (int v = 0; v < LANES; ++v)
        for (int i = 0; i < rows; ++i) lambda[i * LANES + v] = from[row[v] + i];
    for (int v = 0; Phi && v < LANES; ++v)
        for (int i = 0; i < rows; ++i) Phi[row[v] + i] = values[i * LANES + v];
}

static void exchange_rows(const ga_batch *batch, int k, const ga_reaction *reaction,
                          const double *values, double *lambda)
{
    const int rows = batch->kernel->rows, *row = batch->row + k;
    if (rows == 2)
        exchange(2, row, reaction->lambda, values, reaction->Phi, lambda);
    else if (rows == 3)
        exchange(3, row, reaction->lambda, values, reaction->Phi, lambda);
    else if (rows == 5)
        exchange(5, row, reaction->lambda, values, reaction->Phi, lambda);
    else
        exchange(rows, row, reaction->lambda, values, reaction->Phi, lambda);
}

static void add_lanes(const ga_batch *batch, int k, int some, const ga_reaction *reaction,
                      const double *local, const double *lambda)
{
    const int order = batch->order[k / LANES];
    if (some < LANES || order == SINGLY || (reaction->divided && any_common(batch, k))) {
        for (int v = 0; v < some; ++v) {
            const int left_out = reaction->divided ? batch->common[k + v] : 0;
            add_single(batch, k + v, 3 & ~left_out, local + v, LANES, reaction);
        }
        return;
    }
    for (int side = 0; side < 2; ++side) {
        const int which = order == SECONDS ? 1 - side : side;
        add_bodies(batch, which, k, reaction, local, lambda);
    }
}

static void add_few(const ga_batch *batch, ga_places at, int from, int to,
                    const ga_reaction *reaction)
{
    double values[GA_KERNEL_MAX_ROWS], B[GA_BATCH_SIZE];
    for (int k = from; k < to; ++k) {
        const int left_out = reaction->divided ? batch->common[k] : 0;
        double *Phi = reaction->Phi ? reaction->Phi + batch->row[k] : values;
        ga_batch_rows_of(batch, at, k, Phi, B);
        if (reaction->B) ga_batch_keep_row(batch, k, B, reaction->B);
        add_single(batch, k, 3 & ~left_out, B, 1, reaction);
    }
}

void ga_reaction_add(const ga_batch *batch, ga_places at, int from, int to,
                     const ga_reaction *reaction)
{
    const int rows = batch->kernel->rows;
    if (ga_batch_is_single(batch, from, to)) {
        add_few(batch, at, from, to, reaction);
        return;
    }
    double values[GA_KERNEL_MAX_ROWS * LANES], lambda[GA_KERNEL_MAX_ROWS * LANES],
        local[GA_KERNEL_MAX_ROWS * GA_PAIR * LANES];
    for (int k = from; k < to; k += LANES) {
        const int some = to - k < LANES ? to - k : LANES;
        ga_batch_lanes(batch, at, k, some, values, local);
        if (reaction->B) ga_batch_keep_rows(batch, k, some, local, reaction->B);
        if (some == LANES) exchange_rows(batch, k, reaction, values, lambda);
        for (int v = 0; some < LANES && reaction->Phi && v < some; ++v)
            for (int i = 0; i < rows; ++i)
                reaction->Phi[batch->row[k + v] + i] = values[i * LANES + v];
        add_lanes(batch, k, some, reaction, local, lambda);
    }
}

void ga_reaction_finish(const ga_batch *batch, ga_places at, const ga_reaction *reaction)
{
    double Phi[GA_KERNEL_MAX_ROWS], B[GA_BATCH_SIZE];
    for (int k = 0; k < batch->count; ++k) {
        if (!batch->common[k]) continue;
        ga_batch_rows_of(batch, at, k, Phi, B);
        add_single(batch, k, batch->common[k], B, 1, reaction);
    }
}
