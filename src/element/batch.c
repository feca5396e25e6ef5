/* Kernels give derivatives by (delta_x, delta_theta), delta_x in world axes. Where a node's
 * translations are in body axes, delta_x = R delta_u and x' = R u: with b, z, r the translation
 * parts of a row of B, of Z and of B^T lambda,
 *
 *     b R                        rows
 *     z R,   minus (b R) x u     Z, on rotations
 *     R^T K R,  plus (R^T r)~    K, on (translation, rotation)
 */
#include "element/batch.h"

#include "base/fault.h"
#include "base/memory.h"
#include "base/simd.h"

#include <string.h>

enum { LANES = GA_KERNEL_LANES };

static bool is_turned(int kind) { return kind == GA_NODE_SE3 || kind == GA_NODE_SE2; }

static const void *place_of(ga_places at, int node)
{
    return at.planes ? (const void *)(at.planes + node) : (const void *)(at.frames + node);
}

/* --- nodes with translations in body axes --------------------------------------------------
 */

/* R and u of a place, as in space. */
typedef struct axes {
    int side; /* columns of the node, translations among them: 6, 3 or 3, 2 */
    int dimension;
    double R[9], u[3];
} axes;

static axes axes_of(const ga_batch *batch, const void *place)
{
    axes x = {.side = batch->kernel->columns / 2};
    x.dimension = x.side == 6 ? 3 : 2;
    if (x.dimension == 3) {
        const ga_frame *f = place;
        memcpy(x.R, f->R, sizeof x.R);
        memcpy(x.u, f->u, sizeof x.u);
    } else {
        const ga_plane *f = place;
        const double R[9] = {f->c, f->s, 0, -f->s, f->c, 0, 0, 0, 1};
        memcpy(x.R, R, sizeof R);
        x.u[0] = f->c * f->v[0] + f->s * f->v[1];
        x.u[1] = f->c * f->v[1] - f->s * f->v[0];
    }
    return x;
}

/* y = R^T y; numbers lie `stride` apart */
static void turn_back(const axes *x, int stride, double *y)
{
    const int n = x->dimension;
    const double a = y[0], b = y[stride], c = n == 3 ? y[2 * stride] : 0;
    for (int i = 0; i < n; ++i)
        y[i * stride] = x->R[3 * i] * a + x->R[3 * i + 1] * b + x->R[3 * i + 2] * c;
}

/* a x b: three numbers; in the plane the third alone */
static void cross(const axes *x, const double *a, const double *b, double *out)
{
    double c[3] = {0, 0, a[0] * b[1] - a[1] * b[0]};
    if (x->dimension == 3) {
        c[0] = a[1] * b[2] - a[2] * b[1];
        c[1] = a[2] * b[0] - a[0] * b[2];
        memcpy(out, c, sizeof c);
    } else {
        *out = c[2];
    }
}

static void turn_rows(const axes *x, const ga_kernel *kernel, int node, double *B)
{
    for (int r = 0; r < kernel->rows; ++r)
        turn_back(x, 1, B + r * kernel->columns + node * x->side);
}

/* B has been turned */
static void turn_swept(const axes *x, const ga_kernel *kernel, int node, const double *B,
                       double *Z)
{
    turn_rows(x, kernel, node, Z);
    for (int r = 0; r < kernel->rows; ++r) {
        double c[3];
        int at = r * kernel->columns + node * x->side;
        cross(x, B + at, x->u, c);
        for (int k = 0; k < x->side - x->dimension; ++k) Z[at + x->dimension + k] -= c[k];
    }
}

static void turn_matrix(const axes *x, const ga_kernel *kernel, int node, double *push,
                        double *K)
{
    int n = kernel->columns, at = node * x->side;
    for (int i = 0; i < n; ++i) turn_back(x, 1, K + i * n + at);
    for (int j = 0; j < n; ++j) turn_back(x, n, K + at * n + j);
    turn_back(x, 1, push);
    double *block = K + at * n + at + x->dimension;
    if (x->dimension == 2) {
        block[0] += push[1];
        block[n] -= push[0];
    } else {
        block[1] -= push[2], block[2] += push[1];
        block[n] += push[2], block[n + 2] -= push[0];
        block[2 * n] -= push[1], block[2 * n + 1] += push[0];
    }
}

/* --- one joint -----------------------------------------------------------------------------
 */

static bool any_turned(const ga_batch *batch)
{
    return is_turned(batch->kind[0]) || is_turned(batch->kind[1]);
}

/* Kernels leave out what is always zero in their own coordinates. */
static void clear(const ga_batch *batch, int rows, double *local)
{
    memset(local, 0, (size_t)(rows * batch->kernel->columns) * sizeof *local);
}

static void turned_rows(const ga_batch *batch, const double *data, const void *const place[2],
                        double *Phi, double *B)
{
    clear(batch, batch->kernel->rows, B);
    batch->kernel->rows_of(data, place[0], place[1], Phi, B);
    for (int k = 0; k < 2; ++k) {
        if (!is_turned(batch->kind[k])) continue;
        axes x = axes_of(batch, place[k]);
        turn_rows(&x, batch->kernel, k, B);
    }
}

static void turned_swept(const ga_batch *batch, const double *data, const void *const place[2],
                         double *Z)
{
    double Phi[GA_KERNEL_MAX_ROWS], B[GA_BATCH_SIZE];
    if (any_turned(batch)) turned_rows(batch, data, place, Phi, B);
    clear(batch, batch->kernel->rows, Z);
    batch->kernel->swept(data, place[0], place[1], Z);
    for (int k = 0; k < 2; ++k) {
        if (!is_turned(batch->kind[k])) continue;
        axes x = axes_of(batch, place[k]);
        turn_swept(&x, batch->kernel, k, B, Z);
    }
}

static void turned_stiffness(const ga_batch *batch, const double *data,
                             const void *const place[2], const double *lambda, double *K)
{
    double push[3];
    clear(batch, batch->kernel->columns, K);
    batch->kernel->geometric(data, place[0], place[1], lambda, K, push);
    for (int k = 0; k < 2; ++k) {
        if (!is_turned(batch->kind[k])) continue;
        axes x = axes_of(batch, place[k]);
        double own[3] = {push[0], push[1], push[2]};
        for (int i = 0; k == 0 && i < 3; ++i) own[i] = -own[i];
        turn_matrix(&x, batch->kernel, k, own, K);
    }
}

/* --- sparsity ------------------------------------------------------------------------------
 */

/* Entries below these fractions of the largest are round-off: constants of joints are turned
 * into body axes, and in a tangent terms cancel. */
static const double gradient_noise = 1e-14, tangent_noise = 1e-11;

enum { PROBES = 2 };

int ga_batch_column(const ga_batch *batch, int column, int *which)
{
    int side = batch->kernel->columns / 2;
    *which = column / side;
    int kind = batch->kind[*which];
    if (kind < 0 || column % side >= ga_node_nv(ga_node_of((ga_node_kind)kind))) return -1;
    return column % side;
}

/* What has been seen of an entry: exact zeros only, round-off, or more than that. */
typedef unsigned char seen;
enum { ZERO, NOISE, USED };

/* Marks what is other than zero in `rows` rows, by the largest among them. */
static void mark(const ga_batch *batch, int rows, const double *local, double noise, seen *used)
{
    int count = rows * batch->kernel->columns;
    double largest = 0;
    for (int k = 0; k < count; ++k) largest = fmax(largest, fabs(local[k]));
    const double least = noise * largest;
    for (int k = 0; k < count; ++k) {
        const seen now = fabs(local[k]) > least ? USED : local[k] != 0 ? NOISE : ZERO;
        if (now > used[k]) used[k] = now;
    }
}

static void list(const ga_batch *batch, int rows, bool square, const seen *used,
                 ga_batch_mask *mask)
{
    int n = batch->kernel->columns, which;
    bool there[GA_PAIR];
    for (int c = 0; c < n; ++c) there[c] = ga_batch_column(batch, c, &which) >= 0;
    for (int r = 0; r < rows; ++r)
        for (int c = 0; c < n && (!square || there[r]); ++c)
            if (used[r * n + c] == USED && there[c])
                mask->entry[mask->count++] = (unsigned char)(r * n + c);
}

/* The smallest block around what the mask has in rows from .. end-1 and columns left ..
 * right-1; false: nothing. */
static bool surround(const ga_batch_mask *mask, int n, const int rows[2], const int cols[2],
                     ga_batch_block *block)
{
    int top = rows[1], bottom = rows[0] - 1, left = cols[1], right = cols[0] - 1;
    for (int i = 0; i < mask->count; ++i) {
        const int r = mask->entry[i] / n, c = mask->entry[i] % n;
        if (r < rows[0] || r >= rows[1] || c < cols[0] || c >= cols[1]) continue;
        top = r < top ? r : top;
        bottom = r > bottom ? r : bottom;
        left = c < left ? c : left;
        right = c > right ? c : right;
    }
    *block = (ga_batch_block){.row = top, .col = left};
    block->height = bottom - top + 1;
    block->width = right - left + 1;
    return top <= bottom;
}

/* Parts of the two nodes: their translations and rotations. */
enum { PARTS = 4 };

static void part_of(const ga_batch *batch, int part, int columns[2])
{
    const int side = batch->kernel->columns / 2, turned = side == GA_TWIST ? 3 : 2;
    columns[0] = part / 2 * side + (part % 2 ? turned : 0);
    columns[1] = part / 2 * side + (part % 2 ? side : turned);
}

static void add_block(ga_batch *batch, const int rows[2], bool square, const int cols[2],
                      const seen *used, int matrix)
{
    const int n = batch->kernel->columns, side = n / 2;
    ga_batch_layout *layout = batch->layout + matrix;
    ga_batch_block block;
    if (!surround(batch->mask + matrix, n, rows, cols, &block)) return;
    for (int c = 0; c < block.width; ++c)
        for (int r = 0; r < block.height; ++r) {
            const int entry = (block.row + r) * n + block.col + c;
            layout->stored.entry[layout->stored.count++] = (unsigned char)entry;
            if (used[entry] == NOISE)
                layout->noise.entry[layout->noise.count++] = (unsigned char)entry;
        }
    block.col_node = block.col / side;
    block.col %= side;
    block.row_node = square ? block.row / side : -1;
    if (square) block.row %= side;
    layout->block[layout->blocks++] = block;
}

static void find_blocks(ga_batch *batch, const seen *used, int matrix)
{
    const bool square = matrix == GA_BATCH_STIFFNESS;
    for (int i = 0; i < (square ? PARTS : 1); ++i)
        for (int j = 0; j < PARTS; ++j) {
            int rows[2] = {0, batch->kernel->rows}, cols[2];
            if (square) part_of(batch, i, rows);
            part_of(batch, j, cols);
            add_block(batch, rows, square, cols, used, matrix);
        }
}

/* Two bodies in general position, moving. The matrices of a joint are analytic functions of its
 * state, so an entry that is zero here is zero everywhere. */
static const double probes[PROBES][2][13] = {
    /* x, quaternion, u, w */
    {{0.53, -0.71, 0.37, 0.61, -0.32, 0.57, 0.44, 0.83, -0.29, 0.67, 0.41, 0.91, -0.59},
     {-0.87, 0.23, 0.79, 0.35, 0.74, -0.21, 0.53, -0.47, 0.73, 0.19, -0.97, 0.31, 0.69}},
    {{-0.19, 0.89, -0.61, -0.47, 0.29, 0.66, 0.51, 0.13, 0.77, -0.83, 0.27, -0.43, 0.71},
     {0.97, 0.11, -0.43, 0.72, 0.38, 0.25, -0.52, 0.93, 0.17, -0.57, 0.61, 0.81, 0.23}}};

static ga_frame probe_frame(const double *from, int kind)
{
    ga_frame f = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    if (kind < 0) return f;
    memcpy(f.x, from, sizeof f.x);
    memcpy(f.u, from + 7, sizeof f.u);
    if (kind == GA_NODE_POINT3) return f;
    double q[4], size = 0;
    for (int k = 0; k < 4; ++k) size += from[3 + k] * from[3 + k];
    for (int k = 0; k < 4; ++k) q[k] = from[3 + k] / sqrt(size);
    ga_quaternion_to_matrix(q, f.R);
    memcpy(f.w, from + 10, sizeof f.w);
    return f;
}

static ga_plane probe_plane(const double *from, int kind)
{
    ga_plane f = {.c = 1};
    if (kind < 0) return f;
    memcpy(f.x, from, sizeof f.x);
    memcpy(f.v, from + 7, sizeof f.v);
    if (kind == GA_NODE_POINT2) return f;
    f.c = cos(from[3]);
    f.s = sin(from[3]);
    f.w = from[10];
    return f;
}

static void probe(const ga_batch *batch, const double *data, const void *const place[2],
                  seen used[GA_BATCH_MATRICES][GA_BATCH_SIZE])
{
    static const double lambda[GA_KERNEL_MAX_ROWS] = {0.73, -0.59, 0.41, 0.87, -0.37, 0.67};
    const ga_kernel *kernel = batch->kernel;
    double Phi[GA_KERNEL_MAX_ROWS], local[GA_BATCH_SIZE];
    turned_rows(batch, data, place, Phi, local);
    for (int r = 0, n = kernel->columns; r < kernel->rows; ++r)
        mark(batch, 1, local + r * n, gradient_noise, used[GA_BATCH_GRADIENT] + r * n);
    turned_swept(batch, data, place, local);
    for (int r = 0, n = kernel->columns; r < kernel->rows; ++r)
        mark(batch, 1, local + r * n, tangent_noise, used[GA_BATCH_SWEPT] + r * n);
    turned_stiffness(batch, data, place, lambda, local);
    mark(batch, kernel->columns, local, tangent_noise, used[GA_BATCH_STIFFNESS]);
}

void ga_batch_find_masks(ga_batch *batch, const double *data)
{
    const ga_kernel *kernel = batch->kernel;
    seen used[GA_BATCH_MATRICES][GA_BATCH_SIZE] = {{ZERO}};
    for (int k = 0; k < PROBES; ++k) {
        ga_frame frame[2];
        ga_plane plane[2];
        const void *place[2];
        for (int b = 0; b < 2; ++b) {
            frame[b] = probe_frame(probes[k][b], batch->kind[b]);
            plane[b] = probe_plane(probes[k][b], batch->kind[b]);
            place[b] = kernel->columns == GA_PAIR ? (const void *)(frame + b)
                                                  : (const void *)(plane + b);
        }
        probe(batch, data, place, used);
    }
    list(batch, kernel->rows, false, used[GA_BATCH_GRADIENT], batch->mask + GA_BATCH_GRADIENT);
    list(batch, kernel->rows, false, used[GA_BATCH_SWEPT], batch->mask + GA_BATCH_SWEPT);
    list(batch, kernel->columns, true, used[GA_BATCH_STIFFNESS],
         batch->mask + GA_BATCH_STIFFNESS);
    for (int k = 0; k < GA_BATCH_MATRICES; ++k) find_blocks(batch, used[k], k);
}

bool ga_batch_describe(const ga_joint *joint, int dimension, const ga_node_kind *kinds,
                       ga_batch *batch, double *data)
{
    memset(batch, 0, sizeof *batch);
    batch->kernel = ga_kernel_of(joint, dimension);
    if (!batch->kernel) return false;
    for (int k = 0; k < 2; ++k) {
        int node = joint->element.nodes[k];
        batch->kind[k] = node < 0 ? -1 : (int)kinds[node];
    }
    ga_kernel_pack(batch->kernel, joint, data);
    return true;
}

bool ga_batch_is_like(const ga_batch *a, const ga_batch *b)
{
    return a->kernel == b->kernel && a->kind[0] == b->kind[0] && a->kind[1] == b->kind[1];
}

bool ga_batch_is_same(const ga_batch *a, const ga_batch *b)
{
    if (!ga_batch_is_like(a, b)) return false;
    for (int k = 0; k < GA_BATCH_MATRICES; ++k) {
        size_t count = (size_t)a->mask[k].count;
        if (a->mask[k].count != b->mask[k].count) return false;
        if (memcmp(a->mask[k].entry, b->mask[k].entry, count) != 0) return false;
    }
    return true;
}

/* --- many joints ---------------------------------------------------------------------------
 */

ga_status ga_batch_reserve(ga_batch *batch, int count)
{
    const size_t room = ((size_t)count + LANES - 1) / LANES * LANES;
    batch->nodes = GA_NEW_WHOLE(int, 2 * room);
    batch->row = GA_NEW_WHOLE(int, count);
    batch->data = GA_NEW_WHOLE(double, room *(size_t)batch->kernel->numbers);
    batch->count = 0;
    if (!batch->nodes || !batch->row || !batch->data) return GA_ERR_MEMORY;
    for (size_t k = 0; k < 2 * room; ++k) batch->nodes[k] = GA_GROUND;
    return GA_OK;
}

void ga_batch_add(ga_batch *batch, const ga_joint *joint)
{
    const int k = batch->count++;
    double own[GA_KERNEL_MAX_NUMBERS], *data = ga_batch_data(batch, k);
    ga_kernel_pack(batch->kernel, joint, own);
    for (int i = 0; i < batch->kernel->numbers; ++i) data[i * LANES] = own[i];
    batch->nodes[2 * k] = joint->element.nodes[0];
    batch->nodes[2 * k + 1] = joint->element.nodes[1];
    batch->row[k] = joint->element.row;
}

/* The k-th joint. */
typedef struct item {
    double data[GA_KERNEL_MAX_NUMBERS];
    const void *place[2];
} item;

static inline void get_item(const ga_batch *batch, ga_places at, int k, item *it)
{
    const double *data = ga_batch_data(batch, k);
    for (int i = 0; i < batch->kernel->numbers; ++i) it->data[i] = data[i * LANES];
    for (int b = 0; b < 2; ++b) it->place[b] = place_of(at, batch->nodes[2 * k + b]);
}

static inline void scatter(const ga_batch *batch, int matrix, int k, double *local,
                           double *values)
{
    const ga_batch_mask *noise = &batch->layout[matrix].noise;
    for (int i = 0; i < noise->count; ++i) local[noise->entry[i]] = 0;
    const ga_batch_mask *mask = &batch->layout[matrix].stored;
    double *out = values + batch->value[matrix] + (ptrdiff_t)k * mask->count;
    for (int i = 0; i < mask->count; ++i) out[i] = local[mask->entry[i]];
}

/* Bodies side by side: x and R; x, c and s in the plane. */
enum { PLACE = 12, FLAT_PLACE = 4 };

/* `size` numbers of the bodies of LANES joints, `stride` apart, from those of the first body
 * on; both are known to the compiler. */
KERNEL void gather_places(const int size, const int stride, const int *nodes,
                          const double *first, double *restrict places)
{
    for (int v = 0; v < LANES; v += 4)
        for (int b = 0; b < 2; ++b) {
            const double *from[4];
            for (int i = 0; i < 4; ++i)
                from[i] = first + (ptrdiff_t)stride * nodes[2 * (v + i) + b];
            for (int c = 0; c < size; c += 4) {
                double *to = places + (size * b + c) * LANES + v;
                vec4 x[4];
                for (int i = 0; i < 4; ++i) load(x + i, from[i] + c);
                transpose(x);
                for (int i = 0; i < 4; ++i) store(to + i * LANES, x + i);
            }
        }
}

_Static_assert(sizeof(ga_plane) % sizeof(double) == 0 && sizeof(ga_frame) % sizeof(double) == 0,
               "numbers only");

static void gather(const ga_batch *batch, ga_places at, int k, double *places)
{
    enum {
        PLANE = sizeof(ga_plane) / sizeof(double),
        FRAME = sizeof(ga_frame) / sizeof(double)
    };
    const int *nodes = batch->nodes + 2 * k;
    if (at.planes)
        gather_places(FLAT_PLACE, PLANE, nodes, at.planes->x, places);
    else
        gather_places(PLACE, FRAME, nodes, at.frames->x, places);
}

/* Of `some` joints, side by side, what is stored: one joint behind the other, four numbers
 * at a time. */
KERNEL void scatter_some(const ga_batch_mask *mask, int some, const double *local, double *out)
{
    const int count = mask->count;
    for (int i = 0; count < 4 && i < count; ++i)
        for (int v = 0; v < some; ++v) out[v * count + i] = local[mask->entry[i] * LANES + v];
    for (int i = 0; count >= 4 && i < count; i += 4) {
        const int first = i + 4 > count ? count - 4 : i; /* the last ones twice, perhaps */
        const unsigned char *entry = mask->entry + first;
        for (int v = 0; v < some; v += 4) {
            double *to = out + v * count + first;
            vec4 x[4];
            for (int c = 0; c < 4; ++c) load(x + c, local + entry[c] * LANES + v);
            transpose(x);
            for (int c = 0; c < 4 && v + c < some; ++c) store(to + c * count, x + c);
        }
    }
}

/* Rows of joints side by side, in the axes of nodes. */
static void turn_many(const ga_batch *batch, ga_places at, int k, int some, double *local)
{
    const int size = batch->kernel->rows * batch->kernel->columns;
    double B[GA_BATCH_SIZE];
    for (int v = 0; v < some; ++v) {
        for (int i = 0; i < size; ++i) B[i] = local[i * LANES + v];
        for (int b = 0; b < 2; ++b) {
            if (!is_turned(batch->kind[b])) continue;
            axes x = axes_of(batch, place_of(at, batch->nodes[2 * (k + v) + b]));
            turn_rows(&x, batch->kernel, b, B);
        }
        for (int i = 0; i < size; ++i) local[i * LANES + v] = B[i];
    }
}

void ga_batch_lanes(const ga_batch *batch, ga_places at, int k, int some, double *Phi,
                    double *B)
{
    double places[2 * PLACE * LANES];
    gather(batch, at, k, places);
    batch->kernel->rows_of_many(ga_batch_data(batch, k), places, Phi, B);
    if (B && any_turned(batch)) turn_many(batch, at, k, some, B);
}

void ga_batch_keep_rows(const ga_batch *batch, int k, int some, double *local, double *B)
{
    const ga_batch_mask *noise = &batch->layout[GA_BATCH_GRADIENT].noise;
    for (int i = 0; i < noise->count; ++i)
        for (int v = 0; v < LANES; ++v) local[noise->entry[i] * LANES + v] = 0;
    const ga_batch_mask *mask = &batch->layout[GA_BATCH_GRADIENT].stored;
    double *to = B + batch->value[GA_BATCH_GRADIENT] + (ptrdiff_t)k * mask->count;
    if (some == LANES) /* nearly always, and known to the compiler */
        scatter_some(mask, LANES, local, to);
    else
        scatter_some(mask, some, local, to);
}

void ga_batch_rows_of(const ga_batch *batch, ga_places at, int k, double *Phi, double *B)
{
    item it;
    get_item(batch, at, k, &it);
    turned_rows(batch, it.data, it.place, Phi, B);
}

void ga_batch_keep_row(const ga_batch *batch, int k, double *local, double *B)
{
    scatter(batch, GA_BATCH_GRADIENT, k, local, B);
}

/* Joints one after the other. */
static void few_rows(const ga_batch *batch, ga_places at, int from, int to, double *Phi,
                     double *B)
{
    double values[GA_KERNEL_MAX_ROWS], local[GA_BATCH_SIZE];
    for (int k = from; k < to; ++k) {
        ga_batch_rows_of(batch, at, k, Phi ? Phi + batch->row[k] : values, local);
        if (B) scatter(batch, GA_BATCH_GRADIENT, k, local, B);
    }
}

void ga_batch_rows(const ga_batch *batch, ga_places at, int from, int to, double *Phi,
                   double *B)
{
    const int rows = batch->kernel->rows;
    if (ga_batch_is_single(batch, from, to)) {
        few_rows(batch, at, from, to, Phi, B);
        return;
    }
    double values[GA_KERNEL_MAX_ROWS * LANES], local[GA_KERNEL_MAX_ROWS * GA_PAIR * LANES];
    for (int k = from; k < to; k += LANES) {
        const int some = to - k < LANES ? to - k : LANES;
        ga_batch_lanes(batch, at, k, some, values, B ? local : NULL);
        if (B) ga_batch_keep_rows(batch, k, some, local, B);
        for (int v = 0; Phi && v < some; ++v)
            for (int r = 0; r < rows; ++r) Phi[batch->row[k + v] + r] = values[r * LANES + v];
    }
}

void ga_batch_stiffness(const ga_batch *batch, ga_places at, int from, int to,
                        const double *lambda, double *K)
{
    const bool turned = any_turned(batch);
    double push[3], local[GA_BATCH_SIZE] = {0}, own[GA_KERNEL_MAX_ROWS];
    item it;
    for (int k = from; k < to; ++k) {
        get_item(batch, at, k, &it);
        const double *multipliers = lambda + batch->row[k];
        for (int r = 0; GA_FAULT(tangent) && r < batch->kernel->rows; ++r)
            own[r] = -multipliers[r];
        if (GA_FAULT(tangent)) multipliers = own;
        if (turned)
            turned_stiffness(batch, it.data, it.place, multipliers, local);
        else
            batch->kernel->geometric(it.data, it.place[0], it.place[1], multipliers, local,
                                     push);
        scatter(batch, GA_BATCH_STIFFNESS, k, local, K);
    }
}

void ga_batch_swept(const ga_batch *batch, ga_places at, int from, int to, double *Z)
{
    const bool turned = any_turned(batch);
    double local[GA_BATCH_SIZE] = {0}; /* kernels leave out what is always zero */
    item it;
    for (int k = from; k < to; ++k) {
        get_item(batch, at, k, &it);
        if (turned)
            turned_swept(batch, it.data, it.place, local);
        else
            batch->kernel->swept(it.data, it.place[0], it.place[1], local);
        scatter(batch, GA_BATCH_SWEPT, k, local, Z);
    }
}

void ga_batch_acceleration(const ga_batch *batch, ga_places at, int from, int to,
                           const int *v_at, const double *v, double *c)
{
    const ga_batch_mask *mask = batch->mask + GA_BATCH_SWEPT;
    double local[GA_BATCH_SIZE];
    item it;
    int n = batch->kernel->columns, which;
    for (int k = from; k < to; ++k) {
        get_item(batch, at, k, &it);
        double *out = c + batch->row[k];
        turned_swept(batch, it.data, it.place, local);
        memset(out, 0, (size_t)batch->kernel->rows * sizeof *out);
        for (int i = 0; i < mask->count; ++i) {
            int column = ga_batch_column(batch, mask->entry[i] % n, &which);
            out[mask->entry[i] / n] -=
                local[mask->entry[i]] * v[v_at[batch->nodes[2 * k + which]] + column];
        }
    }
}
