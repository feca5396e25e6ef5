/* Assembly of square matrices from blocks; see factor.h. */
#include "base/memory.h"
#include "base/report.h"
#include "la/buckets.h"
#include "la/factor.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static int column_start(const ga_matrix *m, int j) { return m->full ? j * m->n : m->colptr[j]; }

static int row_of(const ga_matrix *m, int j, int k)
{
    return m->full ? k - j * m->n : m->rowind[k];
}

static ga_status count_entries(ga_matrix *m, const ga_block *block)
{
    m->block_start = GA_NEW(int, (size_t)m->blocks + 1);
    if (!m->block_start) return GA_ERR_MEMORY;
    for (int b = 0; b < m->blocks; ++b) {
        if (block[b].coords->count > INT_MAX - m->block_start[b]) return GA_ERR_MEMORY;
        m->block_start[b + 1] = m->block_start[b] + block[b].coords->count;
    }
    m->slot = GA_NEW(int, m->block_start[m->blocks]);
    return m->slot ? GA_OK : GA_ERR_MEMORY;
}

static ga_status create_full(ga_matrix *m, const ga_block *block)
{
    if (m->n > 0 && m->n > INT_MAX / m->n) return GA_ERR_MEMORY;
    m->count = m->n * m->n;
    int *slot = m->slot;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        for (int k = 0; k < c->count; ++k)
            *slot++ = block[b].row0 + c->row[k] + (block[b].col0 + c->col[k]) * m->n;
    }
    return GA_OK;
}

/* Places of all block entries, then of the diagonal. */
static void list_places(const ga_matrix *m, const ga_block *block, int *row, int *col)
{
    int e = 0;
    for (int b = 0; b < m->blocks; ++b) {
        const ga_coords *c = block[b].coords;
        for (int k = 0; k < c->count; ++k, ++e) {
            row[e] = block[b].row0 + c->row[k];
            col[e] = block[b].col0 + c->col[k];
        }
    }
    for (int i = 0; i < m->n; ++i, ++e) row[e] = col[e] = i;
}

/* item: all places by column, then row. First pass: count; second pass (rowind set): fill. */
static int compress(ga_matrix *m, int places, const int *item, const int *row, const int *col)
{
    int entries = m->block_start[m->blocks], k = -1;
    for (int p = 0; p < places; ++p) {
        int e = item[p];
        if (p == 0 || row[e] != row[item[p - 1]] || col[e] != col[item[p - 1]]) {
            ++k;
            if (m->rowind) {
                m->rowind[k] = row[e];
                m->colptr[col[e] + 1] = k + 1;
            }
        }
        if (e < entries) m->slot[e] = k;
    }
    return k + 1;
}

/* Two counting sorts: by row, then stably by column. */
static ga_status create_compressed(ga_matrix *m, const ga_block *block)
{
    int entries = m->block_start[m->blocks];
    if (m->n > INT_MAX - entries) return GA_ERR_MEMORY;
    int places = entries + m->n;
    ga_buckets by_row = {0}, by_col = {0};
    ga_status status = GA_ERR_MEMORY;
    int *row = GA_NEW(int, places), *col = GA_NEW(int, places);
    m->colptr = GA_NEW(int, (size_t)m->n + 1);
    if (!row || !col || !m->colptr) goto done;
    list_places(m, block, row, col);
    if (ga_buckets_create(m->n, places, row, NULL, &by_row) != GA_OK) goto done;
    if (ga_buckets_create(m->n, places, col, by_row.item, &by_col) != GA_OK) goto done;
    m->count = compress(m, places, by_col.item, row, col);
    m->rowind = GA_NEW(int, m->count);
    if (!m->rowind) goto done;
    compress(m, places, by_col.item, row, col); /* no column is empty: the diagonal is there */
    status = GA_OK;
done:
    ga_buckets_destroy(&by_row);
    ga_buckets_destroy(&by_col);
    ga_free(row);
    ga_free(col);
    return status;
}

ga_status ga_matrix_create(int n, int blocks, const ga_block *block, bool full,
                           ga_matrix *matrix)
{
    *matrix = (ga_matrix){.n = n, .full = full, .blocks = blocks};
    ga_status status = count_entries(matrix, block);
    if (status == GA_OK)
        status = full ? create_full(matrix, block) : create_compressed(matrix, block);
    if (status == GA_OK) {
        matrix->values = GA_NEW(double, matrix->count);
        if (!matrix->values) status = GA_ERR_MEMORY;
    }
    if (status != GA_OK) ga_matrix_destroy(matrix);
    return status;
}

void ga_matrix_destroy(ga_matrix *matrix)
{
    ga_free(matrix->colptr);
    ga_free(matrix->rowind);
    ga_free(matrix->values);
    ga_free(matrix->block_start);
    ga_free(matrix->slot);
    ga_free(matrix->apart);
    *matrix = (ga_matrix){0};
}

/* --- in pieces, for threads --------------------------------------------------------------- */

static int entries_of(const ga_matrix *m, int k)
{
    return m->block_start[k + 1] - m->block_start[k];
}

/* owner: of each slot, the piece that was there last, by an offset that grows. */
static bool lie_apart(const ga_matrix *m, int k, int offset, int *owner)
{
    const int *slot = m->slot + m->block_start[k];
    for (int e = 0; e < entries_of(m, k); ++e) {
        const int piece = offset + e / GA_POOL_PIECE;
        if (owner[slot[e]] >= offset && owner[slot[e]] != piece) return false;
        owner[slot[e]] = piece;
    }
    return true;
}

ga_status ga_matrix_use(ga_matrix *matrix, ga_pool *pool)
{
    matrix->pool = pool;
    if (!pool || matrix->apart) return GA_OK;
    int *owner = GA_NEW(int, matrix->count);
    matrix->apart = GA_NEW(bool, matrix->blocks);
    const bool memory = owner && matrix->apart;
    for (int k = 0, offset = 1; memory && k < matrix->blocks; ++k) {
        matrix->apart[k] = lie_apart(matrix, k, offset, owner);
        offset += ga_pool_pieces(entries_of(matrix, k));
    }
    ga_free(owner);
    return memory ? GA_OK : GA_ERR_MEMORY;
}

typedef struct task {
    ga_matrix *matrix;
    const int *slot;
    int count;
    double scale;
    const double *values, *r, *c;
} task;

static void clear_piece(void *data, int piece)
{
    const task *t = data;
    const int from = ga_pool_start(piece), end = ga_pool_end(t->count, piece);
    memset(t->matrix->values + from, 0, (size_t)(end - from) * sizeof *t->values);
}

static void add_piece(void *data, int piece)
{
    const task *t = data;
    double *to = t->matrix->values;
    for (int e = ga_pool_start(piece), end = ga_pool_end(t->count, piece); e < end; ++e)
        to[t->slot[e]] += t->scale * t->values[e];
}

/* Of columns. */
static void scale_piece(void *data, int piece)
{
    const task *t = data;
    const ga_matrix *m = t->matrix;
    for (int j = ga_pool_start(piece), last = ga_pool_end(t->count, piece); j < last; ++j)
        for (int k = column_start(m, j), end = column_start(m, j + 1); k < end; ++k)
            m->values[k] *= t->r[row_of(m, j, k)] * t->c[j];
}

static void run_pieces(task *t, ga_pool *pool, ga_pool_work *work)
{
    ga_pool_run(pool, ga_pool_pieces(t->count), work, t);
}

void ga_matrix_clear(ga_matrix *matrix)
{
    run_pieces(&(task){.matrix = matrix, .count = matrix->count}, matrix->pool, clear_piece);
}

void ga_matrix_add(ga_matrix *matrix, int k, double scale, const double *values)
{
    const bool divided = matrix->apart && matrix->apart[k];
    task t = {.matrix = matrix,
              .slot = matrix->slot + matrix->block_start[k],
              .count = entries_of(matrix, k),
              .scale = scale,
              .values = values};
    run_pieces(&t, divided ? matrix->pool : NULL, add_piece);
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

void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work)
{
    int n = matrix->n;
    double *row_max = work, *col_max = work + n;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int j = 0; j < n; ++j)
            for (int k = column_start(matrix, j), end = column_start(matrix, j + 1); k < end;
                 ++k) {
                int i = row_of(matrix, j, k);
                double a = fabs(matrix->values[k]) * r[i] * c[j];
                if (a > row_max[i]) row_max[i] = a;
                if (a > col_max[j]) col_max[j] = a;
            }
        for (int i = 0; i < n; ++i) r[i] *= ruiz_factor(row_max[i]);
        for (int j = 0; j < n; ++j) c[j] *= ruiz_factor(col_max[j]);
    }
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
