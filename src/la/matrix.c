/* Assembly of square matrices from blocks; see matrix.h. */
#include "la/matrix.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"

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

static bool is_sorted(const ga_coords *c)
{
    for (int k = 1; k < c->count; ++k)
        if (c->col[k] < c->col[k - 1]) return false;
    return true;
}

/* Sorts the entries of a block by columns. */
static ga_status sort_block(const ga_block *block, ga_matrix_block *b)
{
    const ga_coords *c = block->coords;
    *b = (ga_matrix_block){.col0 = block->col0, .cols = c->cols};
    if (c->count == 0) return GA_OK;
    b->slot = GA_NEW_WHOLE(int, c->count);
    if (!b->slot) return GA_ERR_MEMORY;
    if (!is_sorted(c)) {
        ga_buckets by_column;
        GA_TRY(ga_buckets_create(c->cols, c->count, c->col, NULL, &by_column));
        b->start = by_column.start;
        b->entry = by_column.item;
        return GA_OK;
    }
    if (!(b->start = GA_NEW_WHOLE(int, (size_t)c->cols + 1))) return GA_ERR_MEMORY;
    for (int k = 0; k < c->count; ++k) ++b->start[c->col[k] + 1];
    for (int j = 0; j < c->cols; ++j) b->start[j + 1] += b->start[j];
    return GA_OK;
}

/* Entries of block b in column j of the matrix: from .. end-1, in the order of columns. */
static bool has_entries(const ga_matrix_block *b, int j, int *from, int *end)
{
    const int own = j - b->col0;
    if (!b->start || own < 0 || own >= b->cols) return false;
    *from = b->start[own];
    *end = b->start[own + 1];
    return true;
}

static int row_at(const ga_block *block, const ga_matrix_block *b, int e)
{
    return block->row0 + block->coords->row[b->entry ? b->entry[e] : e];
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
static int list_rows(const ga_matrix *m, const ga_block *block, int j, int *seen, int *rows)
{
    int count = 0;
    seen[j] = j + 1; /* the diagonal */
    rows[count++] = j;
    for (int b = 0; b < m->blocks; ++b) {
        int from, end;
        if (!has_entries(&m->block[b], j, &from, &end)) continue;
        for (int e = from; e < end; ++e) {
            const int row = row_at(&block[b], &m->block[b], e);
            if (seen[row] == j + 1) continue;
            seen[row] = j + 1;
            rows[count++] = row;
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

static ga_status create_columns(ga_matrix *m, const ga_block *block)
{
    enum { LONG = 512 };
    int *seen = GA_NEW(int, m->n), *rows = GA_NEW(int, m->n);
    ga_status status = GA_ERR_MEMORY;
    m->colptr = GA_NEW_WHOLE(int, (size_t)m->n + 1);
    if (!seen || !rows || !m->colptr) goto done;
    for (int j = 0; j < m->n; ++j) {
        const int count = list_rows(m, block, j, seen, rows);
        if (count > INT_MAX - m->count) goto done;
        m->colptr[j + 1] = m->count += count;
    }
    if (!(m->rowind = GA_NEW_WHOLE(int, m->count))) goto done;
    memset(seen, 0, (size_t)m->n * sizeof *seen);
    for (int j = 0; j < m->n; ++j) {
        int *own = m->rowind + m->colptr[j];
        const int count = list_rows(m, block, j, seen, rows);
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

/* slot_of: of each row, in the column at hand. */
static void find_slots(ga_matrix *m, const ga_block *block, int *slot_of)
{
    for (int j = 0; j < m->n; ++j) {
        for (int k = column_start(m, j), end = column_start(m, j + 1); k < end; ++k)
            slot_of[row_of(m, j, k)] = k;
        for (int b = 0; b < m->blocks; ++b) {
            int from, end;
            if (!has_entries(&m->block[b], j, &from, &end)) continue;
            for (int e = from; e < end; ++e)
                m->block[b].slot[e] = slot_of[row_at(&block[b], &m->block[b], e)];
        }
    }
}

static ga_status create(ga_matrix *m, const ga_block *block)
{
    /* Values of a range, about: they fit in a cache with all that is read to make them. */
    enum { RANGE = 8192 };
    int entries = 0;
    for (int b = 0; b < m->blocks; ++b) {
        if (block[b].coords->count > INT_MAX - entries) return GA_ERR_MEMORY;
        entries += block[b].coords->count;
    }
    if (!(m->block = GA_NEW(ga_matrix_block, m->blocks))) return GA_ERR_MEMORY;
    for (int b = 0; b < m->blocks; ++b) GA_TRY(sort_block(&block[b], &m->block[b]));
    if (m->full) {
        if (m->n > 0 && m->n > INT_MAX / m->n) return GA_ERR_MEMORY;
        m->count = m->n * m->n;
    } else {
        GA_TRY(create_columns(m, block));
    }
    int *slot_of = GA_NEW(int, m->n);
    m->values = GA_NEW_WHOLE(double, m->count);
    m->size = GA_NEW(double, m->n);
    if (slot_of) find_slots(m, block, slot_of);
    ga_free(slot_of);
    m->range = m->count > RANGE ? (int)((long long)m->n * RANGE / m->count) + 1 : m->n;
    return slot_of && m->values && m->size ? GA_OK : GA_ERR_MEMORY;
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
    for (int b = 0; matrix->block && b < matrix->blocks; ++b) {
        ga_free(matrix->block[b].start);
        ga_free(matrix->block[b].entry);
        ga_free(matrix->block[b].slot);
    }
    ga_free(matrix->block);
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
    int block; /* of the one term, or < 0: one for each block */
    const ga_matrix_term *term;
    const double *r, *c;
} task;

/* Columns from .. end-1 of the matrix. */
static void add_columns(const ga_matrix *m, const ga_matrix_block *b,
                        const ga_matrix_term *term, int from, int end)
{
    double *restrict values = m->values;
    from = from > b->col0 ? from - b->col0 : 0;
    end = end - b->col0 < b->cols ? end - b->col0 : b->cols;
    if (!b->start || from >= end || term->scale == 0) return;
    const int first = b->start[from], last = b->start[end];
    const double scale = term->scale, *restrict x = term->values;
    if (term->product) {
        const int *slot = b->slot + first;
        for (int j = from; j < end; ++j)
            slot =
                ga_product_add_column(term->product, j, term->a, term->b, scale, slot, values);
    } else if (b->entry) {
        for (int e = first; e < last; ++e) values[b->slot[e]] += scale * x[b->entry[e]];
    } else {
        for (int e = first; e < last; ++e) values[b->slot[e]] += scale * x[e];
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

static void work_on(const task *t, int from, int end)
{
    const ga_matrix *m = t->matrix;
    double *values = m->values + column_start(m, from);
    if (t->clear)
        memset(values, 0,
               (size_t)(column_start(m, end) - column_start(m, from)) * sizeof *values);
    for (int b = 0; t->term && b < m->blocks; ++b)
        if (t->block < 0)
            add_columns(m, &m->block[b], &t->term[b], from, end);
        else if (t->block == b)
            add_columns(m, &m->block[b], t->term, from, end);
    for (int j = from; t->measure && j < end; ++j)
        m->size[j] = scale_column(m, j, t->r, t->r ? t->c[j] : 1);
}

static void work_on_range(void *data, int range)
{
    const task *t = data;
    const int from = range * t->matrix->range, end = from + t->matrix->range;
    work_on(t, from, end < t->matrix->n ? end : t->matrix->n);
}

static void run(task *t)
{
    ga_matrix *m = t->matrix;
    m->measured = false;
    if (m->n == 0) return;
    ga_pool_run(m->pool, (m->n + m->range - 1) / m->range, work_on_range, t);
    if (!t->measure) return;
    m->measured = true;
    m->largest = 0;
    for (int j = 0; j < m->n && m->largest < INFINITY; ++j)
        if (!(m->size[j] <= m->largest)) m->largest = m->size[j];
}

void ga_matrix_clear(ga_matrix *matrix) { run(&(task){.matrix = matrix, .clear = true}); }

void ga_matrix_add_term(ga_matrix *matrix, int k, const ga_matrix_term *term)
{
    run(&(task){.matrix = matrix, .block = k, .term = term});
}

void ga_matrix_sum(ga_matrix *matrix, const ga_matrix_term *terms, const double *r,
                   const double *c)
{
    run(&(task){.matrix = matrix,
                .clear = true,
                .measure = true,
                .block = -1,
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
