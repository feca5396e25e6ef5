/* Square matrices as sums of terms; see matrix.h. */
#include "la/matrix.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/unroll.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static int column_start(const ga_matrix *m, int j) { return m->full ? j * m->n : m->colptr[j]; }

static int row_of(const ga_matrix *m, int j, int k)
{
    return m->full ? k - j * m->n : m->rowind[k];
}

/* --- pattern ------------------------------------------------------------------------------ */

/* Of a term, for the pattern alone. */
typedef struct layout {
    int row0, col0;
    ga_buckets by_column; /* its blocks in each column */
    int *first;           /* where the slots of each block begin */
} layout;

static int first_of(const layout *l, int b) { return l->first ? l->first[b] : b; }

/* The order of blocks, and with it that of their slots. */
static ga_status order_blocks(ga_matrix_part *part, layout *l)
{
    const ga_coords *c = &part->coords;
    bool sorted = true;
    int count = 0;
    for (int b = 1; b < c->blocks && sorted; ++b) sorted = c->col[b - 1] <= c->col[b];
    if (!sorted) {
        ga_buckets order;
        GA_TRY(ga_buckets_create(c->cols, c->blocks, c->col, NULL, &order));
        ga_free(order.start);
        part->order = order.item;
    }
    if (!sorted || c->width) {
        if (!(l->first = GA_NEW_WHOLE(int, c->blocks))) return GA_ERR_MEMORY;
        for (int i = 0; i < c->blocks; ++i) {
            const int b = part->order ? part->order[i] : i;
            l->first[b] = count;
            count += ga_coords_width(c, b);
        }
    } else {
        count = c->blocks;
    }
    part->slot = GA_NEW_WHOLE(int, count);
    return part->slot ? ga_coords_by_column(c, &l->by_column) : GA_ERR_MEMORY;
}

/* Blocks of term t in column j of the matrix: from .. end-1 of those by columns. */
static bool has_blocks(const ga_matrix *m, const layout *l, int t, int j, int *from, int *end)
{
    const int own = j - l[t].col0;
    if (own < 0 || own >= m->part[t].coords.cols) return false;
    *from = l[t].by_column.start[own];
    *end = l[t].by_column.start[own + 1];
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
        if (!has_blocks(m, l, t, j, &from, &end)) continue;
        for (int p = from; p < end; ++p) {
            const ga_matrix_block box =
                ga_coords_box(&m->part[t].coords, l[t].by_column.item[p]);
            for (int row = l[t].row0 + box.row, last = row + box.rows; row < last; ++row) {
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
        for (int k = column_start(m, j), last = column_start(m, j + 1); k < last; ++k)
            slot_of[row_of(m, j, k)] = k;
        for (int t = 0; t < m->terms; ++t) {
            if (!has_blocks(m, l, t, j, &from, &end)) continue;
            const ga_coords *c = &m->part[t].coords;
            for (int p = from; p < end; ++p) {
                const int b = l[t].by_column.item[p];
                m->part[t].slot[first_of(&l[t], b) + j - l[t].col0 - c->col[b]] =
                    slot_of[l[t].row0 + c->row[b]];
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
        if (j < m->n && (inside[j] || column_start(m, j) - column_start(m, from) < RANGE))
            continue;
        ++count;
        from = j;
        if (range) range[count] = j;
    }
    return count;
}

/* Blocks and slots of a term, range by range. */
static ga_status divide_part(const ga_matrix *m, const layout *l, ga_matrix_part *part)
{
    const ga_coords *c = &part->coords;
    part->from = GA_NEW_WHOLE(int, (size_t)m->ranges + 1);
    part->slots = GA_NEW_WHOLE(int, (size_t)m->ranges + 1);
    if (!part->from || !part->slots) return GA_ERR_MEMORY;
    int i = 0, slots = 0;
    for (int r = 0; r < m->ranges; ++r) {
        part->from[r] = i;
        part->slots[r] = slots;
        for (; i < c->blocks; ++i) {
            const int b = part->order ? part->order[i] : i;
            if (l->col0 + c->col[b] >= m->range[r + 1]) break;
            slots += ga_coords_width(c, b);
        }
    }
    part->from[m->ranges] = i;
    part->slots[m->ranges] = slots;
    return GA_OK;
}

static ga_status divide(ga_matrix *m, const layout *l)
{
    bool *inside = GA_NEW(bool, m->n);
    if (!inside) return GA_ERR_MEMORY;
    for (int t = 0; t < m->terms; ++t)
        for (int b = 0; b < m->part[t].coords.blocks; ++b)
            for (int j = 1; j < ga_coords_width(&m->part[t].coords, b); ++j)
                inside[l[t].col0 + m->part[t].coords.col[b] + j] = true;
    m->ranges = cut_ranges(m, inside, NULL);
    m->range = GA_NEW(int, (size_t)m->ranges + 1);
    if (m->range) cut_ranges(m, inside, m->range);
    ga_free(inside);
    if (!m->range) return GA_ERR_MEMORY;
    for (int t = 0; t < m->terms; ++t) GA_TRY(divide_part(m, &l[t], &m->part[t]));
    return GA_OK;
}

/* --- creation ----------------------------------------------------------------------------- */

static ga_status create(ga_matrix *m, const ga_summand *summand, layout *l)
{
    long long count = 0;
    for (int t = 0; t < m->terms; ++t) {
        l[t].row0 = summand[t].row0;
        l[t].col0 = summand[t].col0;
        m->part[t].coords = *summand[t].coords;
        count += summand[t].coords->count;
        if (count > INT_MAX) return GA_ERR_MEMORY;
        GA_TRY(order_blocks(&m->part[t], &l[t]));
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
    for (int t = 0; l && t < terms; ++t) {
        ga_buckets_destroy(&l[t].by_column);
        ga_free(l[t].first);
    }
    ga_free(l);
    if (status != GA_OK) ga_matrix_destroy(matrix);
    return status;
}

void ga_matrix_destroy(ga_matrix *matrix)
{
    for (int t = 0; matrix->part && t < matrix->terms; ++t) {
        ga_free(matrix->part[t].order);
        ga_free(matrix->part[t].slot);
        ga_free(matrix->part[t].from);
        ga_free(matrix->part[t].slots);
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

/* One block, to the slots of its columns. */
GA_UNROLLED add_block(const int rows, const ga_matrix_block *box, double scale,
                      const double *restrict x, const int *slot, double *restrict values)
{
    x += box->start;
    for (int j = 0; j < box->cols; ++j, x += box->across) {
        double *restrict to = values + slot[j];
        for (int i = 0; i < rows; ++i) to[i] += scale * x[i * box->down];
    }
}

static void add_part(const ga_matrix *m, const ga_matrix_part *part, const ga_matrix_term *term,
                     int range)
{
    const int from = part->from[range], end = part->from[range + 1], *order = part->order;
    const int *slot = part->slot + part->slots[range];
    const double scale = term->scale, *restrict x = term->values;
    double *restrict values = m->values;
    if (scale == 0) return;
    if (term->product) {
        for (int i = from; i < end; ++i)
            slot +=
                ga_product_add_pair(term->product, i, term->a, term->b, scale, slot, values);
    } else if (!part->coords.height) {
        for (int i = from; i < end; ++i) values[*slot++] += scale * x[order ? order[i] : i];
    } else {
        for (int i = from; i < end; ++i) {
            const ga_matrix_block box = ga_coords_box(&part->coords, order ? order[i] : i);
            GA_UNROLL(box.rows, add_block, &box, scale, x, slot, values)
            slot += box.cols;
        }
    }
}

/* Scales a column, unless r is null. Returns its largest entry; NaN if one is not finite: 0 x
 * is 0, or NaN then. */
static double scale_column(const ga_matrix *m, int j, const double *restrict r, double c)
{
    const int from = column_start(m, j), end = column_start(m, j + 1);
    double *restrict x = m->values, most = 0, zero = 0;
    for (int k = from; k < end; ++k) {
        if (r) x[k] *= r[row_of(m, j, k)] * c;
        const double size = fabs(x[k]);
        most = size > most ? size : most;
        zero += 0 * size;
    }
    return most + zero;
}

static void work_on_range(void *data, int range)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    const int from = m->range[range], end = m->range[range + 1];
    double *values = m->values + column_start(m, from);
    if (t->clear)
        memset(values, 0,
               (size_t)(column_start(m, end) - column_start(m, from)) * sizeof *values);
    for (int k = 0; t->term && k < m->terms; ++k)
        if (t->number < 0)
            add_part(m, &m->part[k], &t->term[k], range);
        else if (t->number == k)
            add_part(m, &m->part[k], t->term, range);
    for (int j = from; t->measure && j < end; ++j)
        m->size[j] = scale_column(m, j, t->r, t->r ? t->c[j] : 1);
}

static void run(task *t)
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

void ga_matrix_clear(ga_matrix *matrix) { run(&(task){.matrix = matrix, .clear = true}); }

void ga_matrix_add_term(ga_matrix *matrix, int k, const ga_matrix_term *term)
{
    run(&(task){.matrix = matrix, .number = k, .term = term});
}

void ga_matrix_sum(ga_matrix *matrix, const ga_matrix_term *terms, const double *r,
                   const double *c)
{
    run(&(task){.matrix = matrix,
                .clear = true,
                .measure = true,
                .number = -1,
                .term = terms,
                .r = r,
                .c = c});
}

void ga_matrix_scale(ga_matrix *matrix, const double *r, const double *c)
{
    run(&(task){.matrix = matrix, .measure = true, .r = r, .c = c});
}

bool ga_matrix_measure(ga_matrix *matrix)
{
    if (!matrix->measured) run(&(task){.matrix = matrix, .measure = true});
    return matrix->n == 0 || matrix->largest < INFINITY;
}

/* --- products and scaling ----------------------------------------------------------------- */

void ga_matrix_multiply(const ga_matrix *matrix, double alpha, const double *x, double *y)
{
    for (int j = 0; j < matrix->n; ++j) {
        const double s = alpha * x[j];
        for (int k = column_start(matrix, j), end = column_start(matrix, j + 1); k < end; ++k)
            y[row_of(matrix, j, k)] += matrix->values[k] * s;
    }
}

void ga_matrix_multiply_transposed(const ga_matrix *matrix, double alpha, const double *x,
                                   double *y)
{
    for (int j = 0; j < matrix->n; ++j) {
        double sum = 0;
        for (int k = column_start(matrix, j), end = column_start(matrix, j + 1); k < end; ++k)
            sum += matrix->values[k] * x[row_of(matrix, j, k)];
        y[j] += alpha * sum;
    }
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

/* The largest entry of column j, after scaling; raises those of rows. No branches: which entry
 * is the largest cannot be foreseen. */
static double raise_column(const ga_matrix *m, int j, const double *restrict r, double c,
                           double *restrict row_max)
{
    double most = 0;
    for (int k = column_start(m, j), end = column_start(m, j + 1); k < end; ++k) {
        const int i = row_of(m, j, k);
        const double a = fabs(m->values[k]) * r[i] * c;
        row_max[i] = a > row_max[i] ? a : row_max[i];
        most = a > most ? a : most;
    }
    return most;
}

void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work)
{
    const int n = matrix->n;
    double *row_max = work, *col_max = work + n;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int j = 0; j < n; ++j) col_max[j] = raise_column(matrix, j, r, c[j], row_max);
        for (int i = 0; i < n; ++i) r[i] *= ruiz_factor(row_max[i]);
        for (int j = 0; j < n; ++j) c[j] *= ruiz_factor(col_max[j]);
    }
}

int ga_matrix_column(const ga_matrix *matrix, int slot)
{
    if (matrix->full) return slot / matrix->n;
    int from = 0, end = matrix->n;
    while (end - from > 1) {
        const int middle = from + (end - from) / 2;
        if (matrix->colptr[middle] <= slot)
            from = middle;
        else
            end = middle;
    }
    return from;
}

void ga_matrix_to_full(const ga_matrix *matrix, double *full)
{
    const size_t n = (size_t)matrix->n;
    memset(full, 0, n * n * sizeof *full);
    for (int j = 0; j < matrix->n; ++j)
        for (int k = column_start(matrix, j); k < column_start(matrix, j + 1); ++k)
            full[(size_t)j * n + (size_t)row_of(matrix, j, k)] = matrix->values[k];
}
