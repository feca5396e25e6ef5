/* Assembly of square matrices from blocks; see factor.h. */
#include "base/memory.h"
#include "base/report.h"
#include "la/factor.h"
#include "la/fours.h"
#include "la/full.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static int column_start(const ga_matrix *m, int j) { return m->full ? j * m->n : m->colptr[j]; }

static int row_of(const ga_matrix *m, int j, int k)
{
    return m->full ? k - j * m->n : m->rowind[k];
}

/* --- slots */

/* Entries of all blocks; their numbers are ints. */
static ga_status count_entries(const ga_matrix *m, const ga_block *block, int *count)
{
    *count = 0;
    for (int b = 0; b < m->blocks; ++b) {
        if (block[b].coords->count > INT_MAX - *count) return GA_ERR_MEMORY;
        *count += block[b].coords->count;
    }
    return GA_OK;
}

/* Pages come when values do: a large matrix may never be there as a whole (fronts_sum.c). */
static ga_status make_room(ga_matrix *m)
{
    m->values = GA_NEW(double, m->count);
    return m->values ? GA_OK : GA_ERR_MEMORY;
}

static ga_status create_full(ga_matrix *m, const ga_block *block)
{
    if (m->n > 0 && m->n > INT_MAX / m->n) return GA_ERR_MEMORY;
    m->count = m->n * m->n;
    GA_TRY(make_room(m));
    if (!(m->shape = GA_NEW(ga_matrix_shape, m->blocks))) return GA_ERR_MEMORY;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        const int first = block[b].row0 + block[b].col0 * m->n;
        m->shape[b] = (ga_matrix_shape){c->rows, c->cols, first, c->layout};
    }
    return GA_OK;
}

/* Consecutive entries of a block in consecutive rows of a column; or a place on the diagonal.
 * Blocks are made column by column mostly, and strips are few. */
typedef struct strip {
    int row, count;
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
static void gather_strips(ga_matrix *m, const ga_block *block, strip *strips)
{
    int *at = m->colptr;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        const int row0 = block[b].row0, col0 = block[b].col0;
        for (int k = 0, end; k < c->count; k = end) {
            end = end_strip(c, k);
            const int col = col0 + c->col[k];
            if (strips)
                strips[at[col]++] = (strip){row0 + c->row[k], end - k};
            else
                ++at[col + 1];
        }
    }
    for (int i = 0; i < m->n; ++i)
        if (strips)
            strips[at[i]++] = (strip){i, 1};
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
 * rows, unless that is null. */
static int merge_strips(int count, const strip *x, int slot, int *rows)
{
    for (int k = 0, end = 0; k < count; ++k) { /* end: the row after the last so far */
        const strip at = x[k];
        if (at.row > end) end = at.row;
        for (; end < at.row + at.count; ++end, ++slot)
            if (rows) rows[slot] = end;
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
        m->count = merge_strips(end - from, strips + from, m->count, NULL);
        start[j] = from;
        from = end;
    }
    m->colptr[m->n] = m->count;
}

static ga_status create_compressed(ga_matrix *m, const ga_block *block)
{
    const int n = m->n;
    int entries;
    GA_TRY(count_entries(m, block, &entries));
    if (n > INT_MAX - entries) return GA_ERR_MEMORY;
    int longest = 0, *start = GA_NEW_WHOLE(int, (size_t)n + 1);
    strip *strips = NULL, *work = NULL;
    ga_status status = GA_ERR_MEMORY;
    m->colptr = GA_NEW_WHOLE(int, (size_t)n + 1);
    if (!m->colptr || !start) goto done;
    gather_strips(m, block, NULL);
    for (int j = 0; j < n; ++j) {
        if (m->colptr[j + 1] > longest) longest = m->colptr[j + 1];
        m->colptr[j + 1] += m->colptr[j];
    }
    start[n] = m->colptr[n];
    if (!(strips = GA_NEW_WHOLE(strip, start[n])) || !(work = GA_NEW(strip, longest)))
        goto done;
    gather_strips(m, block, strips);
    count_slots(m, strips, work, start);
    if (!(m->rowind = GA_NEW_WHOLE(int, m->count)) || make_room(m) != GA_OK) goto done;
    for (int j = 0; j < n; ++j)
        merge_strips(start[j + 1] - start[j], strips + start[j], m->colptr[j], m->rowind);
    status = GA_OK;
done:
    ga_free(start);
    ga_free(strips);
    ga_free(work);
    return status;
}

/* --- windows and pieces */

/* Values of a window, about. With all that is read to make them they fit in a cache; smaller
 * ones are slower, what is read is then in short pieces. */
enum { WINDOW = 1 << 16 };

/* Columns from .. end - 1 of a range are in window `number`. */
typedef struct share {
    int range, number, from, end;
} share;

/* Where the share of window w of a range begins. */
static int window_start(const ga_matrix *m, int range, int w)
{
    const int from = m->range[range], columns = m->range[range + 1] - from;
    return from + (int)((long long)columns * w / m->windows);
}

/* The window of column j, unless it is that. */
static void find_window(const ga_matrix *m, int j, share *at)
{
    if (j >= at->from && j < at->end) return;
    int range = 0;
    while (m->range[range + 1] <= j) ++range;
    const long long columns = m->range[range + 1] - m->range[range], k = j - m->range[range];
    at->range = range;
    at->number = (int)(((k + 1) * m->windows - 1) / columns);
    at->from = window_start(m, range, at->number);
    at->end = window_start(m, range, at->number + 1);
}

int ga_matrix_segment(const ga_matrix *matrix, int j)
{
    share at = {0};
    find_window(matrix, j, &at);
    return at.range * matrix->windows + at.number;
}

int ga_matrix_window(const ga_matrix *matrix, int j)
{
    return ga_matrix_segment(matrix, j) % matrix->windows;
}

int ga_matrix_segment_start(const ga_matrix *matrix, int segment)
{
    const int range = segment / matrix->windows;
    if (range == matrix->ranges) return matrix->n;
    return window_start(matrix, range, segment % matrix->windows);
}

/* Ranges of columns, between the first ones of blocks. */
static ga_status create_windows(ga_matrix *m, const ga_block *block)
{
    m->windows = 1 + m->count / WINDOW;
    m->range = GA_NEW(int, (size_t)m->blocks + 2);
    m->run_start = GA_NEW(int, (size_t)m->windows + 1);
    m->largest = GA_NEW(double, m->windows);
    if (!m->range || !m->run_start || !m->largest) return GA_ERR_MEMORY;
    for (int next = 0; next < m->n; ++m->ranges) {
        m->range[m->ranges] = next;
        int nearest = m->n;
        for (int b = 0; b < m->blocks; ++b)
            if (block[b].col0 > next && block[b].col0 < nearest) nearest = block[b].col0;
        next = m->range[m->ranges + 1] = nearest;
    }
    return GA_OK;
}

/* Slots of one element's entries, less the first of them, are those of another of its kind. An
 * element's entries are not told apart, but its rows and columns are: a piece ends where
 * neither the row nor the column goes on, nor the diagonal, and where its window ends, which is
 * found. A full matrix is small: one piece. The entry after the piece that begins with k. */
static int end_piece(const ga_matrix *m, const ga_block *b, int k, share *at)
{
    const ga_coords *c = b->coords;
    if (m->full) return c->count;
    find_window(m, b->col0 + c->col[k], at);
    const int from = at->from - b->col0, end = at->end - b->col0;
    for (++k; k < c->count; ++k) {
        if (c->col[k] == c->col[k - 1]) continue;
        if (c->col[k] < from || c->col[k] >= end) break;
        if (c->row[k] == c->row[k - 1]) continue;
        if (c->row[k] != c->row[k - 1] + 1 || c->col[k] != c->col[k - 1] + 1) break;
    }
    return k;
}

/* Pieces of each block, and runs of each window; the most entries of a piece. */
static ga_status count_pieces(ga_matrix *m, const ga_block *block, int *longest)
{
    m->piece_start = GA_NEW(int, (size_t)m->blocks + 1);
    if (!m->piece_start) return GA_ERR_MEMORY;
    share at = {0};
    int count = 0;
    for (int b = 0; b < m->blocks; ++b) {
        share last = {.number = -1};
        for (int k = 0, end; k < block[b].coords->count; k = end, ++count, last = at) {
            end = end_piece(m, &block[b], k, &at);
            if (end - k > *longest) *longest = end - k;
            if (!m->full && (at.number != last.number || at.range != last.range))
                ++m->run_start[at.number + 1];
        }
        m->piece_start[b + 1] = count;
    }
    for (int w = 0; w < m->windows; ++w) m->run_start[w + 1] += m->run_start[w];
    m->piece = GA_NEW(ga_matrix_piece, count);
    m->run = m->full ? NULL : GA_NEW(ga_matrix_run, m->run_start[m->windows]);
    return m->piece && (m->full || m->run) ? GA_OK : GA_ERR_MEMORY;
}

/* Of pieces that come one after the other. */
typedef struct runs {
    share at;
    int *next;           /* of each window: where its next run goes */
    ga_matrix_run *last; /* or null */
    int column;          /* of the next entry */
} runs;

/* The piece with entries k .. end - 1 of block b goes on with the last run, or begins one. */
static void put_in_run(ga_matrix *m, const ga_coords *c, int b, int piece, int k, int end,
                       runs *x)
{
    const share at = x->at;
    const bool goes_on = x->last && x->last == &m->run[x->next[at.number] - 1];
    if (!goes_on || x->last->range != at.range) {
        x->last = &m->run[x->next[at.number]++];
        *x->last = (ga_matrix_run){
            .block = b, .piece = piece, .entry = k, .column = x->column, .range = at.range};
    }
    x->last->end = piece + 1;
    for (; k < end; ++k) x->column += k + 1 == c->count || c->col[k + 1] != c->col[k];
}

/* Slots of entries k .. end - 1, one of a strip after the other. */
static void find_slots(const ga_matrix *m, const ga_block *b, int k, int end, int *slot)
{
    const ga_coords *c = b->coords;
    for (int last; k < end; k = last) {
        last = end_strip(c, k);
        if (last > end) last = end;
        const int first = ga_matrix_slot(m, b->row0 + c->row[k], b->col0 + c->col[k]);
        for (int e = k; e < last; ++e) *slot++ = first + (e - k);
    }
}

/* slot: room for those of a piece; they are made relative. */
static ga_status make_pieces(ga_matrix *m, const ga_block *block, int *slot, runs *r)
{
    ga_matrix_piece *piece = m->piece;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        r->last = NULL;
        r->column = 0;
        for (int k = 0, end; k < c->count; k = end, ++piece) {
            end = end_piece(m, &block[b], k, &r->at);
            if (!m->full) put_in_run(m, c, b, (int)(piece - m->piece), k, end, r);
            find_slots(m, &block[b], k, end, slot);
            piece->first = slot[0];
            for (int e = 0; e < end - k; ++e) slot[e] -= piece->first;
            GA_TRY(ga_lists_add(&m->slots, end - k, slot, &piece->list));
        }
    }
    return ga_lists_finish(&m->slots);
}

static ga_status divide(ga_matrix *m, const ga_block *block)
{
    int longest = 0;
    if (!m->full) GA_TRY(create_windows(m, block));
    GA_TRY(count_pieces(m, block, &longest));
    int *slot = GA_NEW(int, longest);
    runs r = {.next = GA_NEW(int, m->windows)};
    for (int w = 0; r.next && w < m->windows; ++w) r.next[w] = m->run_start[w];
    const ga_status status = slot && r.next ? make_pieces(m, block, slot, &r) : GA_ERR_MEMORY;
    ga_free(slot);
    ga_free(r.next);
    return status;
}

static ga_status create(ga_matrix *m, const ga_block *block)
{
    GA_TRY(m->full ? create_full(m, block) : create_compressed(m, block));
    return divide(m, block);
}

ga_status ga_matrix_create(int n, int blocks, const ga_block *block, bool full,
                           ga_matrix *matrix)
{
    *matrix = (ga_matrix){.n = n, .full = full, .blocks = blocks};
    const ga_status status = create(matrix, block);
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
    ga_free(matrix->range);
    ga_free(matrix->run_start);
    ga_free(matrix->run);
    ga_free(matrix->largest);
    ga_free(matrix->window_work);
    *matrix = (ga_matrix){0};
}

/* --- sums --------------------------------------------------------------------------------- */

ga_status ga_matrix_use(ga_matrix *matrix, ga_pool *pool)
{
    matrix->pool = pool;
    return GA_OK;
}

ga_status ga_matrix_use_products(ga_matrix *matrix, const ga_product *const *products)
{
    if (!matrix->pool || matrix->window_work || matrix->full) return GA_OK;
    int width = 1;
    for (int k = 0; k < matrix->blocks; ++k)
        if (products[k] && products[k]->width > width) width = products[k]->width;
    matrix->window_width = width + 8; /* apart by a line of the cache */
    matrix->window_work = GA_NEW(double, (size_t)matrix->windows *(size_t)matrix->window_width);
    return matrix->window_work ? GA_OK : GA_ERR_MEMORY;
}

typedef struct task {
    ga_matrix *matrix;
    int block, count;
    const double *r, *c;
    const ga_matrix_term *term; /* of that block */
} task;

static void clear_piece(void *data, int piece)
{
    const task *t = data;
    const int from = ga_pool_start(piece), end = ga_pool_end(t->count, piece);
    memset(t->matrix->values + from, 0, (size_t)(end - from) * sizeof *t->matrix->values);
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
    matrix->looked = false;
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

/* Where values of a matrix are: number k in memory[shift + k]. */
typedef struct place {
    double *memory;
    ptrdiff_t shift;
} place;

static double *value_at(place at, int k) { return at.memory + (at.shift + k); }

static place whole(const ga_matrix *m) { return (place){m->values, 0}; }

/* values: of the first piece's entries on. */
static void add_pieces(const ga_matrix *m, int from, int end, double scale,
                       const double *values, place to)
{
    const int *slot = m->slots.item, *start = m->slots.start;
    for (int p = from; p < end; ++p) {
        const ga_matrix_piece at = m->piece[p];
        const int count = start[at.list + 1] - start[at.list];
        scatter(count, slot + start[at.list], scale, values, value_at(to, at.first));
        values += count;
    }
}

/* The result is sorted by columns: they end where a piece ends, or within one. */
static void add_columns(const ga_matrix *m, int from, int end, const ga_matrix_term *term,
                        int column, double *work, place to)
{
    for (int c = column, p = from; p < end; ++p) {
        const int *start = m->slots.start + m->piece[p].list;
        const int *slot = m->slots.item + start[0], *last = m->slots.item + start[1];
        c = ga_product_add_columns(term->product, c, term->a, term->b, term->scale, slot, last,
                                   value_at(to, m->piece[p].first), work);
    }
}

static void add_run(const ga_matrix *m, const ga_matrix_run *run, const ga_matrix_term *term,
                    int window, place to)
{
    const ptrdiff_t at = (ptrdiff_t)window * m->window_width;
    if (term->product)
        add_columns(m, run->piece, run->end, term, run->column,
                    m->window_work ? m->window_work + at : term->product->work, to);
    else
        add_pieces(m, run->piece, run->end, term->scale, term->values + run->entry, to);
}

/* One block's part of a window. */
static void add_to_window(void *data, int window)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    for (int k = m->run_start[window]; k < m->run_start[window + 1]; ++k)
        if (m->run[k].block == t->block) add_run(m, &m->run[k], t->term, window, whole(m));
}

static void add_listed(ga_matrix *m, int k, const ga_matrix_term *term)
{
    task t = {.matrix = m, .block = k, .term = term};
    m->looked = false;
    if (m->pool && m->windows > 1 && (!term->product || m->window_work))
        ga_pool_run(m->pool, m->windows, add_to_window, &t);
    else if (term->product)
        add_columns(m, m->piece_start[k], m->piece_start[k + 1], term, 0, term->product->work,
                    whole(m));
    else
        add_pieces(m, m->piece_start[k], m->piece_start[k + 1], term->scale, term->values,
                   whole(m));
}

void ga_matrix_add(ga_matrix *matrix, int k, double scale, const double *values)
{
    const ga_matrix_shape *at = matrix->full ? &matrix->shape[k] : NULL;
    if (!at || at->layout == GA_LISTED)
        add_listed(matrix, k, &(ga_matrix_term){.scale = scale, .values = values});
    else if (at->layout == GA_BY_COLUMNS)
        ga_full_add(at->rows, at->cols, scale, values, matrix->n, matrix->values + at->first);
    else
        ga_full_add_rows(at->rows, at->cols, scale, values, matrix->n,
                         matrix->values + at->first);
}

void ga_matrix_add_product(ga_matrix *matrix, int k, double scale, const ga_product *product,
                           const double *a, const double *b)
{
    if (matrix->full && product->flat) {
        ga_product_add_full(product, scale, a, b, matrix->n,
                            matrix->values + matrix->shape[k].first);
        return;
    }
    const ga_matrix_term term = {.scale = scale, .product = product, .a = a, .b = b};
    add_listed(matrix, k, &term);
}

/* What scaled values are: the largest, and zero, or NaN if one is not finite (0 x is). Those
 * by fours, and the others. */
typedef struct sizes {
    quad most, zero;
    double most_of_rest, rest;
} sizes;

KERNEL void scale_entries(int count, double *restrict x, const int *restrict row,
                          const double *restrict r, double c, sizes *found)
{
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        quad y, factor;
        load(&y, x + k);
        if (row[k + 3] == row[k] + 3) /* as a rule */
            load(&factor, r + row[k]);
        else
            set(&factor, r[row[k]], r[row[k + 1]], r[row[k + 2]], r[row[k + 3]]);
        scale(&factor, c);
        times(&y, &factor);
        store(x + k, &y);
        raise_by(&found->most, &y);
        add(&found->zero, &y, 0);
    }
    for (; k < count; ++k) {
        x[k] *= r[row[k]] * c;
        found->most_of_rest = greater(fabs(x[k]), found->most_of_rest);
        found->rest += 0 * x[k];
    }
}

static void scale_columns(const ga_matrix *m, int from, int end, const double *r,
                          const double *c, place at, sizes *all)
{
    sizes found = *all;
    for (int j = from; j < end; ++j) {
        const int first = m->colptr[j];
        scale_entries(m->colptr[j + 1] - first, value_at(at, first), m->rowind + first, r, c[j],
                      &found);
    }
    *all = found;
}

/* In small pieces: a long one might go past the cache. */
static void clear_columns(const ga_matrix *m, int from, int end, place at)
{
    enum { PIECE = 128 };
    double *x = value_at(at, m->colptr[from]);
    int count = m->colptr[end] - m->colptr[from];
    for (; count >= PIECE; count -= PIECE, x += PIECE) memset(x, 0, PIECE * sizeof *x);
    memset(x, 0, (size_t)count * sizeof *x);
}

static place place_of(const ga_matrix *m, const ga_matrix_room *room, int range, int window)
{
    return room ? (place){room->memory, room->shift[range * m->windows + window]} : whole(m);
}

void ga_matrix_sum_window(const ga_matrix_total *total, int window, const ga_matrix_room *room)
{
    const ga_matrix *m = total->matrix;
    for (int k = 0; k < m->ranges; ++k)
        clear_columns(m, window_start(m, k, window), window_start(m, k, window + 1),
                      place_of(m, room, k, window));
    for (int k = m->run_start[window]; k < m->run_start[window + 1]; ++k) {
        const ga_matrix_term *term = &total->terms[m->run[k].block];
        if (term->scale != 0)
            add_run(m, &m->run[k], term, window, place_of(m, room, m->run[k].range, window));
    }
    sizes found = {.rest = 0};
    for (int k = 0; k < m->ranges; ++k)
        scale_columns(m, window_start(m, k, window), window_start(m, k, window + 1), total->r,
                      total->c, place_of(m, room, k, window), &found);
    double zero[4];
    store(zero, &found.zero);
    m->largest[window] = greater(largest_of(&found.most), found.most_of_rest) +
                         (zero[0] + zero[1] + (zero[2] + zero[3]) + found.rest);
}

static void sum_window(void *data, int window) { ga_matrix_sum_window(data, window, NULL); }

void ga_matrix_sum(const ga_matrix_total *total)
{
    ga_matrix *m = total->matrix;
    ga_matrix_total work = *total;
    assert(!m->full);
    ga_pool_run(m->window_work ? m->pool : NULL, m->windows, sum_window, &work);
    m->looked = true;
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
    matrix->looked = false;
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
