/* Square matrices as sums of terms; see matrix.h. */
#include "la/matrix.h"

#include "base/buckets.h"
#include "base/finite.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/unroll.h"
#include "la/front.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* --- pattern ------------------------------------------------------------------------------ */

/* Of a term, for the pattern alone. */
typedef struct layout {
    ga_summand term;
    ga_buckets by_column; /* its blocks in each column */
    ga_buckets order;     /* by their first columns */
    int *first;           /* of each block: where the slots of its columns begin */
    int *slot;            /* of each column of each block */
} layout;

static ga_status create_layout(const ga_summand *term, layout *l)
{
    const ga_coords *c = term->coords;
    int slots = 0;
    l->term = *term;
    GA_TRY(ga_coords_by_column(c, &l->by_column));
    GA_TRY(ga_buckets_create(c->cols, c->blocks, c->col, NULL, &l->order));
    if (!(l->first = GA_NEW_WHOLE(int, c->blocks))) return GA_ERR_MEMORY;
    for (int b = 0; b < c->blocks; ++b) {
        l->first[b] = slots;
        slots += ga_coords_width(c, b);
    }
    l->slot = GA_NEW_WHOLE(int, slots);
    return l->slot ? GA_OK : GA_ERR_MEMORY;
}

static void destroy_layout(layout *l)
{
    ga_buckets_destroy(&l->by_column);
    ga_buckets_destroy(&l->order);
    ga_free(l->first);
    ga_free(l->slot);
    *l = (layout){0};
}

/* Blocks of a term in column j of the matrix: from .. end-1 of those by columns. */
static bool has_blocks(const layout *l, int j, int *from, int *end)
{
    const int own = j - l->term.col0;
    if (own < 0 || own >= l->term.coords->cols) return false;
    *from = l->by_column.start[own];
    *end = l->by_column.start[own + 1];
    return *from < *end;
}

/* Columns are short, and blocks bring rows that are in order. */
static void sort_rows(int count, int *x)
{
    for (int i = 1; i < count; ++i) {
        const int one = x[i];
        int k = i;
        for (; k > 0 && x[k - 1] > one; --k) x[k] = x[k - 1];
        x[k] = one;
    }
}

/* The rows of column j, each once, unsorted; seen[row] > j marks them. */
static int list_rows(const ga_matrix *m, const layout *l, int j, int *seen, int *rows)
{
    int count = 0, from, end;
    seen[j] = j + 1; /* the diagonal */
    rows[count++] = j;
    for (int t = 0; t < m->terms; ++t) {
        if (!has_blocks(&l[t], j, &from, &end)) continue;
        for (int p = from; p < end; ++p) {
            const ga_matrix_block box = ga_coords_box(l[t].term.coords, l[t].by_column.item[p]);
            for (int row = l[t].term.row0 + box.row, last = row + box.rows; row < last; ++row) {
                if (seen[row] == j + 1) continue;
                seen[row] = j + 1;
                rows[count++] = row;
            }
        }
    }
    return count;
}

/* Long columns, of a body with very many joints: by marks. */
static void sort_long(int n, int count, const int *seen, int mark, int *rows)
{
    for (int i = 0, k = 0; i < n && k < count; ++i)
        if (seen[i] == mark) rows[k++] = i;
}

static ga_status create_columns(ga_matrix *m, const layout *l)
{
    enum { LONG = 512 };
    int *seen = GA_NEW(int, m->n), *rows = GA_NEW(int, m->n);
    ga_status status = GA_ERR_MEMORY;
    m->colptr = GA_NEW_WHOLE(int, (size_t)m->n + 1);
    if (!seen || !rows || !m->colptr) goto done;
    for (int j = 0; j < m->n; ++j) {
        const int count = list_rows(m, l, j, seen, rows);
        if (count > INT_MAX - m->count) goto done;
        m->colptr[j + 1] = m->count += count;
    }
    if (!(m->rowind = GA_NEW_WHOLE(int, m->count))) goto done;
    memset(seen, 0, (size_t)m->n * sizeof *seen);
    for (int j = 0; j < m->n; ++j) {
        int *own = m->rowind + m->colptr[j];
        const int count = list_rows(m, l, j, seen, rows);
        memcpy(own, rows, (size_t)count * sizeof *own);
        if (count > LONG)
            sort_long(m->n, count, seen, j + 1, own);
        else
            sort_rows(count, own);
    }
    status = GA_OK;
done:
    ga_free(seen);
    ga_free(rows);
    return status;
}

/* slot_of: of each row, in the column at hand. Rows of a block follow each other there. */
static void find_slots(ga_matrix *m, const layout *l, int *slot_of)
{
    int from, end;
    for (int j = 0; j < m->n; ++j) {
        for (int k = ga_matrix_start(m, j), last = ga_matrix_start(m, j + 1); k < last; ++k)
            slot_of[ga_matrix_row(m, j, k)] = k;
        for (int t = 0; t < m->terms; ++t) {
            if (!has_blocks(&l[t], j, &from, &end)) continue;
            const ga_coords *c = l[t].term.coords;
            for (int p = from; p < end; ++p) {
                const int b = l[t].by_column.item[p];
                l[t].slot[l[t].first[b] + j - l[t].term.col0 - c->col[b]] =
                    slot_of[l[t].term.row0 + c->row[b]];
            }
        }
    }
}

/* --- ranges of columns -------------------------------------------------------------------- */

/* Ends ranges where they are long enough and no block is cut; counts them if range is null. */
static int cut_ranges(const ga_matrix *m, const bool *inside, int *range)
{
    /* Values of a range, about: they fit in a cache with all that is read to make them. */
    enum { RANGE = 8192 };
    int count = 0;
    for (int j = 1, from = 0; j <= m->n; ++j) {
        if (j < m->n && (inside[j] || ga_matrix_start(m, j) - ga_matrix_start(m, from) < RANGE))
            continue;
        ++count;
        from = j;
        if (range) range[count] = j;
    }
    return count;
}

static ga_status divide(ga_matrix *m, const layout *l)
{
    bool *inside = GA_NEW(bool, m->n);
    if (!inside) return GA_ERR_MEMORY;
    for (int t = 0; t < m->terms; ++t)
        for (int b = 0; b < l[t].term.coords->blocks; ++b)
            for (int j = 1; j < ga_coords_width(l[t].term.coords, b); ++j)
                inside[l[t].term.col0 + l[t].term.coords->col[b] + j] = true;
    m->ranges = cut_ranges(m, inside, NULL);
    m->range = GA_NEW(int, (size_t)m->ranges + 1);
    if (m->range) cut_ranges(m, inside, m->range);
    ga_free(inside);
    return m->range ? GA_OK : GA_ERR_MEMORY;
}

/* --- items and their shapes --------------------------------------------------------------- */

/* The items of a term are listed three times: for their shapes, to count them, and to put them
 * in order. start: of each range and shape, how many there are, then where they end. */
typedef struct listing {
    int shapes, room;
    ga_matrix_run *shape;
    int *start;
    ga_matrix_item *items;
} listing;

static bool same_shape(const ga_matrix_run *a, const ga_matrix_run *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->down == b->down &&
           a->across == b->across && a->inner == b->inner && a->down_b == b->down_b &&
           a->across_b == b->across_b;
}

static ga_status add_shape(listing *x, const ga_matrix_run *shape)
{
    if (x->shapes == x->room) {
        ga_matrix_run *more = GA_NEW(ga_matrix_run, 2 * x->room + 8);
        if (!more) return GA_ERR_MEMORY;
        for (int k = 0; k < x->shapes; ++k) more[k] = x->shape[k];
        ga_free(x->shape);
        x->shape = more;
        x->room = 2 * x->room + 8;
    }
    x->shape[x->shapes++] = *shape;
    return GA_OK;
}

static ga_status list_item(listing *x, int range, const ga_matrix_run *shape,
                           const ga_matrix_item *item)
{
    int k = 0;
    while (k < x->shapes && !same_shape(&x->shape[k], shape)) ++k;
    if (!x->start) return k < x->shapes ? GA_OK : add_shape(x, shape);
    int *at = &x->start[(size_t)range * (size_t)x->shapes + (size_t)k];
    if (x->items) x->items[*at] = *item;
    ++*at;
    return GA_OK;
}

/* Block b as one item, or as one for each column where their slots are not evenly spaced. */
static ga_status list_block(listing *x, const layout *l, int range, int b)
{
    const int *slot = l->slot + l->first[b];
    const ga_product *product = l->term.product;
    ga_matrix_item item = {.to = slot[0]};
    ga_matrix_run shape;
    if (product) {
        const ga_product_pair m = ga_product_meet(product, b);
        shape = (ga_matrix_run){0,          m.a.rows, m.b.cols, m.a.down,
                                m.a.across, m.inner,  m.b.down, m.b.across};
        item.a = m.from_a;
        item.b = m.from_b;
    } else {
        const ga_matrix_block m = ga_coords_box(l->term.coords, b);
        shape = (ga_matrix_run){0, m.rows, m.cols, m.down, m.across, 0, 0, 0};
        item.a = m.start;
    }
    const int cols = shape.cols;
    bool even = true;
    if (cols > 1) item.stride = slot[1] - slot[0];
    for (int j = 2; j < cols && even; ++j) even = slot[j] - slot[j - 1] == item.stride;
    if (even) return list_item(x, range, &shape, &item);
    shape.cols = 1;
    for (int j = 0; j < cols; ++j) {
        item.to = slot[j];
        GA_TRY(list_item(x, range, &shape, &item));
        *(product ? &item.b : &item.a) += product ? shape.across_b : shape.across;
    }
    return GA_OK;
}

static ga_status list_blocks(const ga_matrix *m, const layout *l, listing *x)
{
    const ga_coords *c = l->term.coords;
    for (int i = 0, range = 0; i < c->blocks; ++i) {
        const int b = l->order.item[i];
        while (l->term.col0 + c->col[b] >= m->range[range + 1]) ++range;
        GA_TRY(list_block(x, l, range, b));
    }
    return GA_OK;
}

/* From what start says when all items are listed. */
static ga_status create_runs(const ga_matrix *m, const listing *x, ga_matrix_part *part)
{
    int count = 0;
    for (int pass = 0; pass < 2; ++pass) {
        int end = count = 0;
        for (int range = 0; range < m->ranges; ++range) {
            part->from[range] = count;
            for (int k = 0; k < x->shapes; ++k) {
                const int to = x->start[(size_t)range * (size_t)x->shapes + (size_t)k];
                if (to == end) continue;
                end = to;
                if (part->runs) {
                    part->runs[count] = x->shape[k];
                    part->runs[count].end = end;
                }
                ++count;
            }
        }
        part->from[m->ranges] = count;
        if (!part->runs && !(part->runs = GA_NEW(ga_matrix_run, count))) return GA_ERR_MEMORY;
    }
    return GA_OK;
}

static ga_status list_items(const ga_matrix *m, const layout *l, listing *x,
                            ga_matrix_part *part)
{
    GA_TRY(list_blocks(m, l, x));
    const size_t keys = (size_t)m->ranges * (size_t)x->shapes;
    x->start = GA_NEW(int, keys);
    part->from = GA_NEW(int, (size_t)m->ranges + 1);
    if (!x->start || !part->from) return GA_ERR_MEMORY;
    GA_TRY(list_blocks(m, l, x));
    int count = 0;
    for (size_t k = 0; k < keys; ++k) {
        const int own = x->start[k];
        x->start[k] = count;
        count += own;
    }
    if (!(part->items = GA_NEW_WHOLE(ga_matrix_item, count))) return GA_ERR_MEMORY;
    x->items = part->items;
    GA_TRY(list_blocks(m, l, x));
    return create_runs(m, x, part);
}

static ga_status create_part(const ga_matrix *m, const layout *l, ga_matrix_part *part)
{
    listing x = {0};
    const ga_status status = list_items(m, l, &x, part);
    ga_free(x.shape);
    ga_free(x.start);
    return status;
}

/* --- creation ----------------------------------------------------------------------------- */

static ga_status create(ga_matrix *m, const ga_summand *summand, layout *l)
{
    long long count = 0;
    for (int t = 0; t < m->terms; ++t) {
        count += summand[t].coords->count;
        if (count > INT_MAX) return GA_ERR_MEMORY;
        GA_TRY(create_layout(&summand[t], &l[t]));
    }
    if (m->full) {
        if (m->n > 0 && m->n > INT_MAX / m->n) return GA_ERR_MEMORY;
        m->count = m->n * m->n;
    } else {
        GA_TRY(create_columns(m, l));
    }
    int *slot_of = GA_NEW(int, m->n);
    if (!slot_of) return GA_ERR_MEMORY;
    find_slots(m, l, slot_of);
    ga_free(slot_of);
    GA_TRY(divide(m, l));
    for (int t = 0; t < m->terms; ++t) {
        GA_TRY(create_part(m, &l[t], &m->part[t]));
        destroy_layout(&l[t]);
    }
    m->values = GA_NEW_WHOLE(double, m->count);
    m->size = GA_NEW(double, m->n);
    return m->values && m->size ? GA_OK : GA_ERR_MEMORY;
}

ga_status ga_matrix_create(int n, int terms, const ga_summand *summand, bool full,
                           ga_matrix *matrix)
{
    *matrix = (ga_matrix){.n = n, .full = full, .terms = terms};
    matrix->part = GA_NEW(ga_matrix_part, terms);
    layout *l = GA_NEW(layout, terms);
    const ga_status status = matrix->part && l ? create(matrix, summand, l) : GA_ERR_MEMORY;
    for (int t = 0; l && t < terms; ++t) destroy_layout(&l[t]);
    ga_free(l);
    if (status != GA_OK) ga_matrix_destroy(matrix);
    return status;
}

void ga_matrix_destroy(ga_matrix *matrix)
{
    for (int t = 0; matrix->part && t < matrix->terms; ++t) {
        ga_free(matrix->part[t].items);
        ga_free(matrix->part[t].runs);
        ga_free(matrix->part[t].from);
    }
    ga_free(matrix->part);
    ga_free(matrix->range);
    ga_free(matrix->colptr);
    ga_free(matrix->rowind);
    ga_free(matrix->values);
    ga_free(matrix->size);
    *matrix = (ga_matrix){0};
}

/* --- sums --------------------------------------------------------------------------------- */

void ga_matrix_use(ga_matrix *matrix, ga_pool *pool) { matrix->pool = pool; }

/* Work on a range of columns; what is null or negative is left out. */
typedef struct task {
    ga_matrix *matrix;
    bool clear, measure;
    int number; /* of the one term, or < 0: all of them */
    const ga_matrix_term *term;
    const double *r, *c;
} task;

typedef ga_matrix_run run;
typedef ga_matrix_item item;

/* Items from .. end-1 of one shape: values += scale a. */
GA_UNROLLED add_blocks(const int rows, const run *r, const item *from, const item *end,
                       const ga_matrix_term *term, double *restrict values)
{
    const int cols = r->cols, down = r->down, across = r->across;
    const double scale = term->scale;
    for (const item *x = from; x < end; ++x) {
        const double *restrict a = term->a + x->a;
        double *restrict to = values + x->to;
        for (int j = 0; j < cols; ++j, a += across, to += x->stride)
            if (down == 1) /* a constant stride */
                for (int i = 0; i < rows; ++i) to[i] += scale * a[i];
            else
                for (int i = 0; i < rows; ++i) to[i] += scale * a[i * down];
    }
}

/* values += scale a b, with at most GA_MOST_UNROLLED rows, columns of a in one piece. */
GA_UNROLLED add_products(const int rows, const run *r, const item *from, const item *end,
                         const ga_matrix_term *term, double *restrict values)
{
    const int cols = r->cols, across = r->across, down_b = r->down_b;
    const double scale = term->scale;
    for (const item *x = from; x < end; ++x) {
        const double *restrict a = term->a + x->a, *restrict b = term->b + x->b;
        double *restrict to = values + x->to;
        for (int j = 0; j < cols; ++j, b += r->across_b, to += x->stride) {
            double sum[GA_MOST_UNROLLED];
            for (int i = 0; i < rows; ++i) sum[i] = a[i] * b[0];
            for (int k = 1; k < r->inner; ++k)
                for (int i = 0; i < rows; ++i) sum[i] += a[k * across + i] * b[k * down_b];
            for (int i = 0; i < rows; ++i) to[i] += scale * sum[i];
        }
    }
}

/* The same, with more rows. */
static void add_tiled_products(const run *r, const item *from, const item *end,
                               const ga_matrix_term *term, double *values)
{
    const ga_front_kernels *kernels = ga_front_kernels_get();
    for (const item *x = from; x < end; ++x) {
        const ga_full_product p = {r->rows,   r->cols,     r->inner, r->across,
                                   r->down_b, r->across_b, x->stride};
        kernels->add_product(&p, term->scale, term->a + x->a, term->b + x->b, values + x->to);
    }
}

/* The same, with columns of a in pieces. */
static void add_any_products(const run *r, const item *from, const item *end,
                             const ga_matrix_term *term, double *restrict values)
{
    for (const item *x = from; x < end; ++x)
        for (int j = 0; j < r->cols; ++j)
            for (int i = 0; i < r->rows; ++i) {
                const double *a = term->a + x->a + i * r->down,
                             *b = term->b + x->b + j * r->across_b;
                double sum = 0;
                for (int k = 0; k < r->inner; ++k) sum += a[k * r->across] * b[k * r->down_b];
                values[x->to + j * x->stride + i] += term->scale * sum;
            }
}

static void add_part(const ga_matrix_part *part, int range, const ga_matrix_term *term,
                     double *values)
{
    if (term->scale == 0) return;
    const run *r = part->runs + part->from[range], *last = part->runs + part->from[range + 1];
    const item *from = part->items + (r > part->runs ? r[-1].end : 0);
    for (; r < last; ++r) {
        const item *end = part->items + r->end;
        if (r->inner == 0)
            GA_UNROLL(r->rows, add_blocks, r, from, end, term, values)
        else if (r->down == 1 && r->rows <= GA_MOST_UNROLLED)
            GA_UNROLL(r->rows, add_products, r, from, end, term, values)
        else if (r->down == 1)
            add_tiled_products(r, from, end, term, values);
        else
            add_any_products(r, from, end, term, values);
        from = end;
    }
}

/* Scales a column, unless r is null. Returns its largest entry, where all are finite. */
static double scale_column(const ga_matrix *m, int j, const double *restrict r, double c)
{
    const int from = ga_matrix_start(m, j), count = ga_matrix_start(m, j + 1) - from;
    const int *restrict row = m->rowind + from;
    double *restrict x = m->values + from, largest = 0;
    for (int k = 0; k < count; ++k) {
        if (r) x[k] *= r[row[k]] * c;
        const double size = fabs(x[k]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static void scale_full_columns(const ga_matrix *m, int from, int end, const double *r,
                               const double *c)
{
    const ga_front_kernels *kernels = ga_front_kernels_get();
    for (int j = from; j < end; ++j)
        m->size[j] = kernels->scale(m->n, r, r ? c[j] : 1, m->values + ga_matrix_start(m, j));
}

/* Columns from .. end-1: scaled and measured. Sizes are NaN where an entry is not finite. */
static void scale_columns(const ga_matrix *m, int from, int end, const double *r,
                          const double *c)
{
    if (m->full) {
        scale_full_columns(m, from, end, r, c);
        return;
    }
    for (int j = from; j < end; ++j) m->size[j] = scale_column(m, j, r, r ? c[j] : 1);
    const int first = ga_matrix_start(m, from);
    if (ga_all_finite(ga_matrix_start(m, end) - first, m->values + first)) return;
    for (int j = from; j < end; ++j) {
        const int own = ga_matrix_start(m, j);
        if (!ga_all_finite(ga_matrix_start(m, j + 1) - own, m->values + own)) m->size[j] = NAN;
    }
}

static void work_on_range(void *data, int range)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    const int from = m->range[range], end = m->range[range + 1];
    double *values = m->values + ga_matrix_start(m, from);
    if (t->clear)
        memset(values, 0,
               (size_t)(ga_matrix_start(m, end) - ga_matrix_start(m, from)) * sizeof *values);
    for (int k = 0; t->term && k < m->terms; ++k)
        if (t->number < 0)
            add_part(&m->part[k], range, &t->term[k], m->values);
        else if (t->number == k)
            add_part(&m->part[k], range, t->term, m->values);
    if (t->measure) scale_columns(m, from, end, t->r, t->c);
}

static void work_on_all(task *t)
{
    ga_matrix *m = t->matrix;
    m->measured = false;
    if (m->n == 0) return;
    ga_pool_run(m->pool, m->ranges, work_on_range, t);
    if (!t->measure) return;
    m->measured = true;
    m->largest = 0;
    for (int j = 0; j < m->n && m->largest < INFINITY; ++j)
        if (!(m->size[j] <= m->largest)) m->largest = m->size[j];
}

void ga_matrix_clear(ga_matrix *matrix)
{
    work_on_all(&(task){.matrix = matrix, .clear = true});
}

void ga_matrix_add_term(ga_matrix *matrix, int k, const ga_matrix_term *term)
{
    work_on_all(&(task){.matrix = matrix, .number = k, .term = term});
}

void ga_matrix_sum(ga_matrix *matrix, const ga_matrix_term *terms, const double *r,
                   const double *c)
{
    work_on_all(&(task){matrix, true, true, -1, terms, r, c});
}

void ga_matrix_scale(ga_matrix *matrix, const double *r, const double *c)
{
    work_on_all(&(task){.matrix = matrix, .measure = true, .r = r, .c = c});
}

bool ga_matrix_measure(ga_matrix *matrix)
{
    if (!matrix->measured) work_on_all(&(task){.matrix = matrix, .measure = true});
    return matrix->n == 0 || matrix->largest < INFINITY;
}

void ga_matrix_to_full(const ga_matrix *matrix, double *full)
{
    const size_t n = (size_t)matrix->n;
    memset(full, 0, n * n * sizeof *full);
    for (int j = 0; j < matrix->n; ++j)
        for (int k = ga_matrix_start(matrix, j); k < ga_matrix_start(matrix, j + 1); ++k)
            full[(size_t)j * n + (size_t)ga_matrix_row(matrix, j, k)] = matrix->values[k];
}
