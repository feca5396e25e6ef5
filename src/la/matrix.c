/* Assembly of square matrices from blocks; see factor.h. */
#include "base/memory.h"
#include "base/report.h"
#include "la/factor.h"
#include "la/fours.h"
#include "la/full.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static int column_start(const ga_matrix *m, int j) { return m->full ? j * m->n : m->colptr[j]; }

static int row_of(const ga_matrix *m, int j, int k)
{
    return m->full ? k - j * m->n : m->rowind[k];
}

/* --- slots of the entries */

typedef struct entries {
    int *start;    /* blocks + 1: of each block among all */
    int *slot;     /* of each entry of each block, in block order */
    bool borrowed; /* it lies where the values of the matrix will be */
} entries;

static ga_status count_entries(int blocks, const ga_block *block, entries *x)
{
    x->start = GA_NEW(int, (size_t)blocks + 1);
    if (!x->start) return GA_ERR_MEMORY;
    for (int b = 0; b < blocks; ++b) {
        if (block[b].coords->count > INT_MAX - x->start[b]) return GA_ERR_MEMORY;
        x->start[b + 1] = x->start[b] + block[b].coords->count;
    }
    return GA_OK;
}

/* Room for the values of the matrix, whose count is known now, and for slots: until there are
 * values, it is the same room, if it is large enough. */
static ga_status make_room(ga_matrix *m, entries *x)
{
    const size_t all = (size_t)x->start[m->blocks];
    m->values = GA_NEW_WHOLE(double, m->count);
    if (!m->values) return GA_ERR_MEMORY;
    x->borrowed = all * sizeof *x->slot <= (size_t)m->count * sizeof *m->values;
    x->slot = x->borrowed ? (int *)(void *)m->values : GA_NEW_WHOLE(int, all);
    return x->slot ? GA_OK : GA_ERR_MEMORY;
}

static void give_back_room(const ga_matrix *m, entries *x)
{
    if (!x->borrowed)
        ga_free(x->slot);
    else
        memset(m->values, 0, (size_t)x->start[m->blocks] * sizeof *x->slot);
    ga_free(x->start);
}

static ga_status create_full(ga_matrix *m, const ga_block *block, entries *x)
{
    if (m->n > 0 && m->n > INT_MAX / m->n) return GA_ERR_MEMORY;
    m->count = m->n * m->n;
    GA_TRY(make_room(m, x));
    if (!(m->shape = GA_NEW(ga_matrix_shape, m->blocks))) return GA_ERR_MEMORY;
    int *slot = x->slot;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        const int first = block[b].row0 + block[b].col0 * m->n;
        m->shape[b] = (ga_matrix_shape){c->rows, c->cols, first, c->layout};
        for (int k = 0; k < c->count; ++k)
            *slot++ = block[b].row0 + c->row[k] + (block[b].col0 + c->col[k]) * m->n;
    }
    return GA_OK;
}

/* Consecutive entries of a block in consecutive rows of a column; or a place on the diagonal:
 * then it has no number. Blocks are made column by column mostly, and strips are few. */
typedef struct strip {
    int row, count, entry;
} strip;

/* The entry after the strip that begins with k. */
static int end_strip(const ga_coords *c, int k)
{
    const int col = c->col[k], row = c->row[k] - k;
    for (++k; k < c->count && c->col[k] == col && c->row[k] - k == row;) ++k;
    return k;
}

/* Counts the strips of each column, or puts them there from colptr on, which then ends up at
 * the beginnings of the next columns. */
static void gather_strips(ga_matrix *m, const ga_block *block, const entries *x, strip *strips)
{
    int *at = m->colptr;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        const int row0 = block[b].row0, col0 = block[b].col0, first = x->start[b];
        for (int k = 0, end; k < c->count; k = end) {
            end = end_strip(c, k);
            const int col = col0 + c->col[k];
            if (strips)
                strips[at[col]++] = (strip){row0 + c->row[k], end - k, first + k};
            else
                ++at[col + 1];
        }
    }
    for (int i = 0; i < m->n; ++i)
        if (strips)
            strips[at[i]++] = (strip){i, 1, -1};
        else
            ++at[i + 1];
}

/* By the first row. Columns are short, and blocks bring pieces that are in order; long columns,
 * of a body with many joints, are sorted by halves. */
static void sort_strips(int count, strip *x, strip *work)
{
    enum { FEW = 64 };
    if (count > FEW) {
        const int half = count / 2;
        sort_strips(half, x, work);
        sort_strips(count - half, x + half, work);
        memcpy(work, x, (size_t)half * sizeof *x);
        for (int i = 0, j = half, k = 0; i < half; ++k)
            x[k] = j == count || work[i].row <= x[j].row ? work[i++] : x[j++];
        return;
    }
    for (int i = 1; i < count; ++i) {
        const strip one = x[i];
        int k = i;
        for (; k > 0 && x[k - 1].row > one.row; --k) x[k] = x[k - 1];
        x[k] = one;
    }
}

/* Equal rows of a sorted column share a slot, the first of which is `slot`; the next one. Sets
 * rows and the slots of entries, unless rows is null. */
static int merge_strips(int count, const strip *x, int slot, int *rows, int *slots)
{
    for (int k = 0, end = 0; k < count; ++k) { /* end: the row after the last so far */
        const strip at = x[k];
        if (at.row > end) end = at.row;
        const int first = slot - (end - at.row);
        for (; end < at.row + at.count; ++end, ++slot)
            if (rows) rows[slot] = end;
        for (int e = 0; rows && at.entry >= 0 && e < at.count; ++e)
            slots[at.entry + e] = first + e;
    }
    return slot;
}

/* Sorts the strips, and turns colptr, which has the beginnings of the next columns, into that
 * of the matrix. start: of the strips of each column. */
static void count_slots(ga_matrix *m, strip *strips, strip *work, int *start)
{
    for (int j = 0, from = 0; j < m->n; ++j) {
        const int end = m->colptr[j];
        sort_strips(end - from, strips + from, work);
        m->colptr[j] = m->count;
        m->count = merge_strips(end - from, strips + from, m->count, NULL, NULL);
        start[j] = from;
        from = end;
    }
    m->colptr[m->n] = m->count;
}

static ga_status create_compressed(ga_matrix *m, const ga_block *block, entries *x)
{
    const int n = m->n;
    if (n > INT_MAX - x->start[m->blocks]) return GA_ERR_MEMORY;
    int longest = 0, *start = GA_NEW_WHOLE(int, (size_t)n + 1);
    strip *strips = NULL, *work = NULL;
    ga_status status = GA_ERR_MEMORY;
    m->colptr = GA_NEW_WHOLE(int, (size_t)n + 1);
    if (!m->colptr || !start) goto done;
    gather_strips(m, block, x, NULL);
    for (int j = 0; j < n; ++j) {
        if (m->colptr[j + 1] > longest) longest = m->colptr[j + 1];
        m->colptr[j + 1] += m->colptr[j];
    }
    start[n] = m->colptr[n];
    if (!(strips = GA_NEW_WHOLE(strip, start[n])) || !(work = GA_NEW(strip, longest)))
        goto done;
    gather_strips(m, block, x, strips);
    count_slots(m, strips, work, start);
    if (!(m->rowind = GA_NEW_WHOLE(int, m->count)) || make_room(m, x) != GA_OK) goto done;
    for (int j = 0; j < n; ++j)
        merge_strips(start[j + 1] - start[j], strips + start[j], m->colptr[j], m->rowind,
                     x->slot);
    status = GA_OK;
done:
    ga_free(start);
    ga_free(strips);
    ga_free(work);
    return status;
}

/* --- pieces */

/* Slots of one element's entries, less the first of them, are those of another of its kind. An
 * element's entries are not told apart, but its rows and columns are: a piece ends where
 * neither the row nor the column goes on, nor the diagonal. A full matrix is small: one piece.
 * The entry after the piece that begins with k. */
static int end_piece(const ga_matrix *m, const ga_coords *c, int k)
{
    if (m->full) return c->count;
    for (++k; k < c->count; ++k) {
        if (c->row[k] == c->row[k - 1] || c->col[k] == c->col[k - 1]) continue;
        if (c->row[k] != c->row[k - 1] + 1 || c->col[k] != c->col[k - 1] + 1) break;
    }
    return k;
}

static ga_status count_pieces(ga_matrix *m, const ga_block *block)
{
    m->piece_start = GA_NEW(int, (size_t)m->blocks + 1);
    if (!m->piece_start) return GA_ERR_MEMORY;
    int count = 0;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        for (int k = 0; k < c->count; k = end_piece(m, c, k)) ++count;
        m->piece_start[b + 1] = count;
    }
    m->piece = GA_NEW(ga_matrix_piece, count);
    return m->piece ? GA_OK : GA_ERR_MEMORY;
}

/* Slots are made relative in place. */
static ga_status make_pieces(ga_matrix *m, const ga_block *block, const entries *x)
{
    GA_TRY(count_pieces(m, block));
    ga_matrix_piece *piece = m->piece;
    for (int b = 0; b < m->blocks; ++b) {
        int *slot = x->slot + x->start[b];
        for (int k = 0, end; k < block[b].coords->count; k = end, ++piece) {
            end = end_piece(m, block[b].coords, k);
            piece->first = slot[k];
            for (int e = k; e < end; ++e) slot[e] -= piece->first;
            GA_TRY(ga_lists_add(&m->slots, end - k, slot + k, &piece->list));
        }
    }
    return ga_lists_finish(&m->slots);
}

static ga_status create(ga_matrix *m, const ga_block *block, entries *x)
{
    GA_TRY(count_entries(m->blocks, block, x));
    GA_TRY(m->full ? create_full(m, block, x) : create_compressed(m, block, x));
    return make_pieces(m, block, x);
}

ga_status ga_matrix_create(int n, int blocks, const ga_block *block, bool full,
                           ga_matrix *matrix)
{
    *matrix = (ga_matrix){.n = n, .full = full, .blocks = blocks};
    entries x = {0};
    ga_status status = create(matrix, block, &x);
    give_back_room(matrix, &x);
    if (status != GA_OK) ga_matrix_destroy(matrix);
    return status;
}

void ga_matrix_destroy(ga_matrix *matrix)
{
    ga_free(matrix->colptr);
    ga_free(matrix->rowind);
    ga_free(matrix->values);
    ga_free(matrix->piece_start);
    ga_free(matrix->piece);
    ga_lists_destroy(&matrix->slots);
    ga_free(matrix->shape);
    ga_free(matrix->group_start);
    ga_free(matrix->group_entry);
    ga_free(matrix->group_column);
    ga_free(matrix->apart);
    ga_free(matrix->group_work);
    *matrix = (ga_matrix){0};
}

/* --- in pieces, for threads --------------------------------------------------------------- */

enum { GROUP = 512 }; /* pieces */

static int list_length(const ga_matrix *m, int piece)
{
    const int *start = m->slots.start + m->piece[piece].list;
    return start[1] - start[0];
}

static int groups_of(const ga_matrix *m, int k)
{
    const int pieces = m->piece_start[k + 1] - m->piece_start[k];
    return pieces / GROUP + (pieces % GROUP > 0);
}

static int group_from(const ga_matrix *m, int k, int group)
{
    return m->piece_start[k] + group * GROUP;
}

static int group_end(const ga_matrix *m, int k, int group)
{
    const int end = group_from(m, k, group + 1), last = m->piece_start[k + 1];
    return end < last ? end : last;
}

/* Sets where groups begin. owner: of each slot, the group that was there last. */
static bool lie_apart(ga_matrix *m, int k, int *owner)
{
    bool apart = true;
    int entry = 0;
    for (int group = 0; group < groups_of(m, k); ++group) {
        const int number = m->group_start[k] + group;
        m->group_entry[number] = entry;
        for (int p = group_from(m, k, group); p < group_end(m, k, group); ++p) {
            const int *slot = m->slots.item + m->slots.start[m->piece[p].list];
            for (int e = 0; e < list_length(m, p); ++e, ++entry) {
                int *at = owner + m->piece[p].first + slot[e];
                apart &= *at <= m->group_start[k] || *at == number + 1;
                *at = number + 1;
            }
        }
    }
    return apart;
}

ga_status ga_matrix_use(ga_matrix *matrix, ga_pool *pool)
{
    matrix->pool = pool;
    if (!pool || matrix->apart) return GA_OK;
    const int blocks = matrix->blocks;
    int *owner = GA_NEW(int, matrix->count);
    bool memory = owner && (matrix->group_start = GA_NEW(int, blocks + 1));
    for (int k = 0; memory && k < blocks; ++k)
        matrix->group_start[k + 1] = matrix->group_start[k] + groups_of(matrix, k);
    const int groups = memory ? matrix->group_start[blocks] : 0;
    memory = memory && (matrix->group_entry = GA_NEW(int, groups)) &&
             (matrix->group_column = GA_NEW(int, groups)) &&
             (matrix->apart = GA_NEW(bool, blocks));
    for (int k = 0; memory && k < blocks; ++k) matrix->apart[k] = lie_apart(matrix, k, owner);
    ga_free(owner);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

ga_status ga_matrix_use_products(ga_matrix *matrix, const ga_product *const *products)
{
    if (!matrix->pool || matrix->group_work) return GA_OK;
    int width = 1, most = 1;
    for (int k = 0; k < matrix->blocks; ++k) {
        const ga_product *product = products[k];
        if (!product) continue;
        if (product->width > width) width = product->width;
        if (groups_of(matrix, k) > most) most = groups_of(matrix, k);
        for (int c = 0, entry = 0, g = matrix->group_start[k]; c < product->columns; ++c) {
            if (g < matrix->group_start[k + 1] && matrix->group_entry[g] == entry)
                matrix->group_column[g++] = c;
            entry += ga_product_column_places(product, c);
        }
    }
    matrix->group_work = GA_NEW(double, (size_t)most *(size_t)width);
    return matrix->group_work ? GA_OK : GA_ERR_MEMORY;
}

typedef struct task {
    ga_matrix *matrix;
    int block, count;
    double scale;
    const double *values, *r, *c;
    const ga_product *product;
    const double *a, *b;
} task;

static void clear_piece(void *data, int piece)
{
    const task *t = data;
    const int from = ga_pool_start(piece), end = ga_pool_end(t->count, piece);
    memset(t->matrix->values + from, 0, (size_t)(end - from) * sizeof *t->values);
}

static void scale_column(int n, double *restrict x, const double *restrict r, double c)
{
    int i = 0;
    for (; i + 4 <= n; i += 4) {
        quad y, factor;
        load(&y, x + i);
        load(&factor, r + i);
        scale(&factor, c);
        times(&y, &factor);
        store(x + i, &y);
    }
    for (; i < n; ++i) x[i] *= r[i] * c;
}

/* Of columns. */
static void scale_piece(void *data, int piece)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    const int first = ga_pool_start(piece), last = ga_pool_end(t->count, piece);
    for (int j = first; m->full && j < last; ++j)
        scale_column(m->n, m->values + (size_t)j * (size_t)m->n, t->r, t->c[j]);
    for (int j = first; !m->full && j < last; ++j)
        for (int k = column_start(m, j), end = column_start(m, j + 1); k < end; ++k)
            m->values[k] *= t->r[m->rowind[k]] * t->c[j];
}

static void run_pieces(task *t, ga_pool *pool, ga_pool_work *work)
{
    ga_pool_run(pool, ga_pool_pieces(t->count), work, t);
}

void ga_matrix_clear(ga_matrix *matrix)
{
    if (matrix->count <= GA_POOL_PIECE)
        memset(matrix->values, 0, (size_t)matrix->count * sizeof *matrix->values);
    else
        run_pieces(&(task){.matrix = matrix, .count = matrix->count}, matrix->pool,
                   clear_piece);
}

/* values[slot] += scale * x. */
static void scatter(int count, const int *slot, double scale, const double *x, double *values)
{
    for (int e = 0; e < count; ++e) values[slot[e]] += scale * x[e];
}

static void add_pieces(const task *t, int from, int end, const double *values)
{
    const ga_matrix *m = t->matrix;
    const int *slot = m->slots.item, *start = m->slots.start;
    for (int p = from; p < end; ++p) {
        const ga_matrix_piece at = m->piece[p];
        const int count = start[at.list + 1] - start[at.list];
        scatter(count, slot + start[at.list], t->scale, values, m->values + at.first);
        values += count;
    }
}

static void add_group(void *data, int group)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    const int k = t->block;
    add_pieces(t, group_from(m, k, group), group_end(m, k, group),
               t->values + m->group_entry[m->group_start[k] + group]);
}

static bool divided(const ga_matrix *m, int k) { return m->pool && m->apart && m->apart[k]; }

static void add_listed(ga_matrix *matrix, int k, double scale, const double *values)
{
    task t = {.matrix = matrix, .block = k, .scale = scale, .values = values};
    if (divided(matrix, k))
        ga_pool_run(matrix->pool, groups_of(matrix, k), add_group, &t);
    else
        add_pieces(&t, matrix->piece_start[k], matrix->piece_start[k + 1], values);
}

void ga_matrix_add(ga_matrix *matrix, int k, double scale, const double *values)
{
    const ga_matrix_shape *at = matrix->full ? &matrix->shape[k] : NULL;
    if (!at || at->layout == GA_LISTED)
        add_listed(matrix, k, scale, values);
    else if (at->layout == GA_BY_COLUMNS)
        ga_full_add(at->rows, at->cols, scale, values, matrix->n, matrix->values + at->first);
    else
        ga_full_add_rows(at->rows, at->cols, scale, values, matrix->n,
                         matrix->values + at->first);
}

/* The result is sorted by columns: they end where a piece ends, or within one. */
static void add_columns(const task *t, int piece, int piece_end, int column, double *work)
{
    const ga_matrix *m = t->matrix;
    for (int c = column; piece < piece_end; ++piece) {
        const int *start = m->slots.start + m->piece[piece].list;
        const int *slot = m->slots.item + start[0], *end = m->slots.item + start[1];
        c = ga_product_add_columns(t->product, c, t->a, t->b, t->scale, slot, end,
                                   m->values + m->piece[piece].first, work);
    }
}

static void add_product_group(void *data, int group)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    const int k = t->block;
    add_columns(t, group_from(m, k, group), group_end(m, k, group),
                m->group_column[m->group_start[k] + group],
                m->group_work + (size_t)group * (size_t)t->product->width);
}

void ga_matrix_add_product(ga_matrix *matrix, int k, double scale, const ga_product *product,
                           const double *a, const double *b)
{
    if (matrix->full && product->flat) {
        ga_product_add_full(product, scale, a, b, matrix->n,
                            matrix->values + matrix->shape[k].first);
        return;
    }
    task t = {.matrix = matrix, .block = k, .scale = scale, .product = product, .a = a, .b = b};
    if (divided(matrix, k) && matrix->group_work)
        ga_pool_run(matrix->pool, groups_of(matrix, k), add_product_group, &t);
    else
        add_columns(&t, matrix->piece_start[k], matrix->piece_start[k + 1], 0, product->work);
}

void ga_matrix_multiply(const ga_matrix *matrix, double alpha, const double *x, double *y)
{
    for (int j = 0; j < matrix->n; ++j) {
        double s = alpha * x[j];
        for (int k = column_start(matrix, j), end = column_start(matrix, j + 1); k < end; ++k)
            y[row_of(matrix, j, k)] += matrix->values[k] * s;
    }
}

void ga_matrix_scale(ga_matrix *matrix, const double *r, const double *c)
{
    task t = {.matrix = matrix, .count = matrix->n, .r = r, .c = c};
    run_pieces(&t, matrix->pool, scale_piece);
}

/* The power of two nearest to 1/sqrt(largest), in the logarithm; 1 for 0, Inf, NaN and what is
 * denormalised. Taken from the bits of an IEEE number, as frexp and ldexp would, but inline. */
static double ruiz_factor(double largest)
{
    enum { BIAS = 1022, MANTISSA = 52, SPECIAL = 0x7ff };
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    int e = (int)(bits >> MANTISSA & SPECIAL);
    if (e == 0 || e == SPECIAL) return 1;
    e -= BIAS; /* 2^(e-1) <= largest < 2^e */
    const int half = -(e >= 0 ? e / 2 : -((1 - e) / 2));
    bits = (uint64_t)(half + BIAS + 1) << MANTISSA;
    memcpy(&largest, &bits, sizeof bits);
    return largest;
}

/* Largest entries of rows so far, and of column x, after scaling. */
static double raise_column(int n, const double *x, const double *r, double c, double *row_max)
{
    double largest = 0;
    int i = 0;
    quad most;
    set_zero(&most);
    for (; i + 4 <= n; i += 4) {
        quad y, factor, row;
        load(&y, x + i);
        load(&factor, r + i);
        load(&row, row_max + i);
        times(&y, &factor);
        scale(&y, c);
        raise_by(&row, &y);
        raise_by(&most, &y);
        store(row_max + i, &row);
    }
    for (; i < n; ++i) {
        const double a = fabs(x[i]) * r[i] * c;
        row_max[i] = greater(a, row_max[i]);
        largest = greater(a, largest);
    }
    return greater(largest_of(&most), largest);
}

/* The same for column j of a matrix that is not full. No branches: which entry is the largest
 * cannot be foreseen. */
static double raise_entries(const ga_matrix *m, int j, const double *restrict r, double c,
                            double *restrict row_max)
{
    const double *restrict values = m->values;
    double most = 0;
    for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++k) {
        const int i = m->rowind[k];
        const double a = fabs(values[k]) * r[i] * c;
        row_max[i] = a > row_max[i] ? a : row_max[i];
        most = a > most ? a : most;
    }
    return most;
}

void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work)
{
    int n = matrix->n;
    double *row_max = work, *col_max = work + n;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int j = 0; matrix->full && j < n; ++j)
            col_max[j] =
                raise_column(n, matrix->values + (size_t)j * (size_t)n, r, c[j], row_max);
        for (int j = 0; !matrix->full && j < n; ++j)
            col_max[j] = raise_entries(matrix, j, r, c[j], row_max);
        for (int i = 0; i < n; ++i) r[i] *= ruiz_factor(row_max[i]);
        for (int j = 0; j < n; ++j) c[j] *= ruiz_factor(col_max[j]);
    }
}

int ga_matrix_slot(const ga_matrix *matrix, int row, int col)
{
    if (matrix->full) return row + col * matrix->n;
    int from = matrix->colptr[col], end = matrix->colptr[col + 1];
    while (end - from > 1) {
        const int middle = from + (end - from) / 2;
        if (matrix->rowind[middle] <= row)
            from = middle;
        else
            end = middle;
    }
    return from < end && matrix->rowind[from] == row ? from : -1;
}

double ga_matrix_column_size(const ga_matrix *matrix, int j)
{
    size_t n = (size_t)matrix->n;
    size_t from = matrix->full ? (size_t)j * n : (size_t)matrix->colptr[j];
    size_t end = matrix->full ? from + n : (size_t)matrix->colptr[j + 1];
    double size = 0;
    for (size_t k = from; k < end; ++k) {
        const double value = fabs(matrix->values[k]);
        size = value > size ? value : size;
    }
    return size;
}

void ga_matrix_to_full(const ga_matrix *matrix, double *full)
{
    size_t n = (size_t)matrix->n;
    if (matrix->full) {
        memcpy(full, matrix->values, n * n * sizeof *full);
        return;
    }
    memset(full, 0, n * n * sizeof *full);
    for (int j = 0; j < matrix->n; ++j)
        for (int k = matrix->colptr[j]; k < matrix->colptr[j + 1]; ++k)
            full[(size_t)j * n + (size_t)matrix->rowind[k]] = matrix->values[k];
}
