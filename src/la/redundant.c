/* Linearly dependent rows of a sparse matrix.
 *
 * Let A have unit rows. The rows kept so far depend on each other if some y with largest entry
 * 1 makes |A^T y| < tolerance. The best y belongs to the smallest singular value; inverse
 * iteration on A A^T + delta^2 I finds it:
 *
 *     [ delta I    A^T    ] [ x ]   [ 0 ]
 *     [    A    -delta I  ] [ z ] = [ y ]   =>   z = -delta (A A^T + delta^2 I)^-1 y
 *
 * The eigenvalues of this matrix are +-sqrt(sigma^2 + delta^2), so its condition number is that
 * of A, not its square as with [I A^T; A -eps I], and sigma = 1e-6 is told from zero reliably.
 * Per iteration null vectors grow against vectors of a singular value sigma by
 * 1 + (sigma/delta)^2, at least 100 beyond the tolerance if delta = tolerance/10.
 *
 * The row with the largest weight in y is redundant, the last one if several share the largest
 * weight, so of two equal rows the earlier stays. Further null vectors come from the same
 * factors: a vector of the null space is combined with those found before so that its weights
 * on dropped rows vanish, which is what dropping a row means. At most BATCH are kept; then the
 * rows are dropped from the matrix (zero row, diagonal -1) and it is factored anew, until a
 * fresh factorisation shows no null vector. */
#include "base/memory.h"
#include "base/report.h"
#include "la/factor.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
    BATCH = 32,
    ITERATIONS = 8,
    DENSE_ORDER = 60 /* below, a full matrix is faster */
};
static const double SMALLEST_DELTA = 1e-12; /* well above the round-off of the factors */
static const double LARGEST_DELTA = 1e-6;
static const double TIE = 1e-6; /* weights this close count as equal */

typedef struct search {
    const ga_coords *A;
    const double *values;
    int m, n;
    double tolerance, delta;
    bool *dropped;
    double *norm;     /* of each row */
    double *scaled;   /* values of unit rows, zero in dropped ones */
    double *xz;       /* n + m: right-hand side and solution */
    double *combined; /* n: A^T y */
    double *y;        /* m */
    double *found;    /* BATCH vectors of m, each 1 at its row, 0 at the rows before */
    int found_row[BATCH];
    ga_coords identity;
    double *diagonal;
    ga_matrix K;
    ga_factor *lu;
    uint64_t seed;
} search;

enum { BLOCK_A, BLOCK_AT, BLOCK_DIAGONAL, BLOCKS };

static void destroy_search(search *s)
{
    ga_factor_destroy(s->lu);
    ga_matrix_destroy(&s->K);
    ga_coords_destroy(&s->identity);
    ga_free(s->diagonal);
    ga_free(s->dropped);
    ga_free(s->norm);
    ga_free(s->scaled);
    ga_free(s->xz);
    ga_free(s->combined);
    ga_free(s->y);
    ga_free(s->found);
}

static ga_status create_identity(int order, ga_coords *identity)
{
    *identity = (ga_coords){.rows = order, .cols = order, .count = order};
    identity->row = GA_NEW(int, order);
    identity->col = GA_NEW(int, order);
    if (!identity->row || !identity->col) return GA_ERR_MEMORY;
    for (int i = 0; i < order; ++i) identity->row[i] = identity->col[i] = i;
    return GA_OK;
}

static ga_status create_search(search *s)
{
    if (s->m > INT_MAX - s->n) return GA_ERR_MEMORY;
    int order = s->m + s->n;
    bool full = order < DENSE_ORDER;
    s->dropped = GA_NEW(bool, s->m);
    s->norm = GA_NEW(double, s->m);
    s->scaled = GA_NEW(double, s->A->count);
    s->xz = GA_NEW(double, order);
    s->combined = GA_NEW(double, s->n);
    s->y = GA_NEW(double, s->m);
    s->found = ga_alloc((size_t)s->m, BATCH * sizeof(double));
    s->diagonal = GA_NEW(double, order);
    if (!s->dropped || !s->norm || !s->scaled || !s->xz || !s->combined || !s->y || !s->found ||
        !s->diagonal)
        return GA_ERR_MEMORY;
    GA_TRY(create_identity(order, &s->identity));
    ga_coords At = ga_coords_transposed(s->A);
    ga_block block[BLOCKS] = {
        [BLOCK_A] = {s->A, s->n, 0},
        [BLOCK_AT] = {&At, 0, s->n},
        [BLOCK_DIAGONAL] = {&s->identity, 0, 0},
    };
    GA_TRY(ga_matrix_create(order, BLOCKS, block, full, &s->K));
    return ga_factor_create(&s->K, full ? GA_BACKEND_DENSE : GA_BACKEND_KLU, &s->lu);
}

/* Entries at one place add up before they are squared, so norms are taken from the assembled
 * columns. Largest entry first: squares of 1e-200 would vanish. */
static void measure_rows(search *s)
{
    const ga_matrix *K = &s->K;
    double *largest = s->y;
    ga_matrix_clear(&s->K);
    ga_matrix_add(&s->K, BLOCK_A, 1, s->values);
    memset(largest, 0, (size_t)s->m * sizeof *largest);
    for (int pass = 0; pass < 2; ++pass)
        for (int j = 0; j < s->n; ++j) {
            int start = K->full ? j * K->n : K->colptr[j];
            int end = K->full ? start + K->n : K->colptr[j + 1];
            for (int k = start; k < end; ++k) {
                int i = (K->full ? k - start : K->rowind[k]) - s->n;
                double a = fabs(K->values[k]);
                if (i < 0 || a == 0) continue;
                if (pass == 0)
                    largest[i] = a <= largest[i] ? largest[i] : a; /* keeps NaN */
                else
                    s->norm[i] += a / largest[i] * (a / largest[i]);
            }
        }
    for (int i = 0; i < s->m; ++i) s->norm[i] = largest[i] * sqrt(s->norm[i]);
}

static ga_status factor_kept_rows(search *s)
{
    for (int k = 0; k < s->A->count; ++k) {
        int i = s->A->row[k];
        s->scaled[k] = s->dropped[i] ? 0 : s->values[k] / s->norm[i];
    }
    for (;;) {
        for (int i = 0; i < s->n; ++i) s->diagonal[i] = s->delta;
        for (int i = 0; i < s->m; ++i) s->diagonal[s->n + i] = s->dropped[i] ? -1 : -s->delta;
        ga_matrix_clear(&s->K);
        ga_matrix_add(&s->K, BLOCK_A, 1, s->scaled);
        ga_matrix_add(&s->K, BLOCK_AT, 1, s->scaled);
        ga_matrix_add(&s->K, BLOCK_DIAGONAL, 1, s->diagonal);
        ga_status status = ga_factor_numeric(s->lu);
        if (status != GA_ERR_SINGULAR || s->delta >= LARGEST_DELTA) return status;
        s->delta *= 10; /* unlucky pivots; the matrix itself has condition 1/delta */
    }
}

/* In (-1, 1); a linear congruential generator (Knuth's MMIX), so that results repeat. */
static double next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

/* One inverse iteration on y; weights on the found rows are removed, the largest becomes 1. */
static bool iterate(search *s, int found)
{
    memset(s->xz, 0, (size_t)s->n * sizeof *s->xz);
    memcpy(s->xz + s->n, s->y, (size_t)s->m * sizeof *s->y);
    ga_factor_solve(s->lu, s->xz);
    memcpy(s->y, s->xz + s->n, (size_t)s->m * sizeof *s->y);
    for (int f = 0; f < found; ++f) {
        const double *v = s->found + (size_t)f * (size_t)s->m;
        double weight = s->y[s->found_row[f]];
        for (int i = 0; i < s->m; ++i) s->y[i] -= weight * v[i];
        s->y[s->found_row[f]] = 0;
    }
    double largest = 0;
    for (int i = 0; i < s->m; ++i)
        if (fabs(s->y[i]) > largest) largest = fabs(s->y[i]);
    if (!(largest > 0 && largest < INFINITY)) return false;
    for (int i = 0; i < s->m; ++i) s->y[i] /= largest;
    return true;
}

static double length_of_combination(search *s)
{
    double sum = 0;
    memset(s->combined, 0, (size_t)s->n * sizeof *s->combined);
    ga_coords_multiply_transposed(s->A, s->scaled, 1, s->y, s->combined);
    for (int j = 0; j < s->n; ++j) sum += s->combined[j] * s->combined[j];
    return sqrt(sum);
}

/* True if y is a null vector that leaves the found rows alone. One more iteration after the
 * first success makes equal weights equal. */
static bool find_null_vector(search *s, int found)
{
    bool small = false;
    for (int i = 0; i < s->m; ++i) s->y[i] = s->dropped[i] ? 0 : next_random(&s->seed);
    for (int k = 0; k < ITERATIONS; ++k) {
        bool was_small = small;
        if (!iterate(s, found)) return false;
        small = length_of_combination(s) < s->tolerance;
        if (small && was_small) return true;
    }
    return small;
}

static void keep_null_vector(search *s, int f)
{
    int row = s->m - 1;
    while (fabs(s->y[row]) < 1 - TIE) --row;
    double *v = s->found + (size_t)f * (size_t)s->m;
    for (int i = 0; i < s->m; ++i) v[i] = s->y[i] / s->y[row];
    s->found_row[f] = row;
}

static ga_status drop_dependent_rows(search *s)
{
    for (;;) {
        int found = 0;
        GA_TRY(factor_kept_rows(s));
        while (found < BATCH && find_null_vector(s, found)) keep_null_vector(s, found++);
        if (found == 0) return GA_OK;
        for (int f = 0; f < found; ++f) s->dropped[s->found_row[f]] = true;
    }
}

static ga_status run(search *s)
{
    GA_TRY(create_search(s));
    measure_rows(s);
    for (int i = 0; i < s->m; ++i) {
        if (!isfinite(s->norm[i])) return GA_ERR_NOT_FINITE;
        s->dropped[i] = s->norm[i] == 0;
    }
    return drop_dependent_rows(s);
}

ga_status ga_redundant_rows(const ga_coords *A, const double *values, double tolerance,
                            int *rows_out, int *count)
{
    *count = 0;
    if (A->rows == 0) return GA_OK;
    search s = {.A = A,
                .values = values,
                .m = A->rows,
                .n = A->cols,
                .tolerance = tolerance,
                .delta = fmin(fmax(tolerance / 10, SMALLEST_DELTA), LARGEST_DELTA),
                .seed = 1};
    ga_status status = run(&s);
    for (int i = 0; status == GA_OK && i < s.m; ++i)
        if (s.dropped[i]) rows_out[(*count)++] = i;
    destroy_search(&s);
    return status;
}
