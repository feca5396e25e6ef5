/* Factorisations, all backends: residuals, reuse of pivots, singular matrices. */
#include "la/factor.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <float.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

typedef struct problem {
    ga_coords coords;
    ga_matrix matrix;
    ga_factor *factor;
    double *values;
} problem;

static const ga_backend_kind kinds[] = {GA_BACKEND_DENSE, GA_BACKEND_KLU, GA_BACKEND_BLOCK};

/* By blocks: every unknown is a body of its own. */
static ga_status create_factor(ga_matrix *matrix, ga_backend_kind kind, ga_factor **factor)
{
    if (kind != GA_BACKEND_BLOCK) return ga_factor_create(matrix, kind, factor);
    const int n = matrix->n;
    ga_partition p;
    assert_int_equal(ga_partition_create(n, n, &p), GA_OK);
    for (int i = 0; i < n; ++i) p.row_block[i] = p.col_block[i] = p.block_start[i] = i;
    p.block_start[n] = n;
    const ga_status status = ga_factor_create_blocks(matrix, &p, factor);
    ga_partition_destroy(&p);
    return status;
}
enum { KINDS = sizeof kinds / sizeof *kinds };

static void open_problem(problem *s, ga_coords coords, double *values, ga_backend_kind kind)
{
    s->coords = coords;
    s->values = values;
    ga_summand block = {&s->coords, 0, 0, NULL};
    assert_int_equal(
        ga_matrix_create(coords.rows, 1, &block, kind == GA_BACKEND_DENSE, &s->matrix), GA_OK);
    assert_int_equal(create_factor(&s->matrix, kind, &s->factor), GA_OK);
}

static void close_problem(problem *s)
{
    ga_factor_destroy(s->factor);
    ga_matrix_destroy(&s->matrix);
    ga_coords_destroy(&s->coords);
    free(s->values);
}

static ga_status factor(problem *s)
{
    ga_matrix_clear(&s->matrix);
    ga_matrix_add(&s->matrix, 0, 1, s->values);
    return ga_factor_numeric(s->factor);
}

/* |b - A x| / (|A| |x| + |b|), largest component. */
static double solve(problem *s, double *x)
{
    int n = s->coords.rows;
    uint64_t seed = 77;
    double *b = random_values(&seed, n), worst = 0;
    memcpy(x, b, (size_t)n * sizeof *x);
    ga_factor_solve(s->factor, x);
    double scale = 0;
    for (int i = 0; i < n; ++i) scale = fmax(scale, fabs(b[i]));
    for (int k = 0; k < s->coords.count; ++k) {
        double term = s->values[k] * x[s->coords.col[k]];
        b[s->coords.row[k]] -= term;
        scale = fmax(scale, fabs(term));
    }
    for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(b[i]) / scale);
    free(b);
    return worst;
}

/* Random entries and a diagonal of some size; diagonal entries come first. */
static ga_coords general(uint64_t *seed, int n, int count)
{
    ga_coords c = random_coords(seed, n, n, n + count);
    for (int i = 0; i < n; ++i) c.row[i] = c.col[i] = i;
    return c;
}

/* [S B^T; B 0] with S diagonal of dimension n and m rows of B, full rank. */
static ga_coords saddle(uint64_t *seed, int n, int m, double **values)
{
    int count = n + 2 * m * 4;
    ga_coords c = random_coords(seed, n + m, n + m, count);
    *values = random_values(seed, count);
    int k = 0;
    for (; k < n; ++k) {
        c.row[k] = c.col[k] = k;
        (*values)[k] = 1 + 0.5 * (*values)[k];
    }
    for (int i = 0; i < m; ++i)
        for (int e = 0; e < 4; ++e, k += 2) {
            int col = e == 0 ? i : random_below(seed, n);
            double v = e == 0 ? 2 : 0.5 * random_value(seed);
            c.row[k] = n + i, c.col[k] = col, (*values)[k] = v;
            c.row[k + 1] = col, c.col[k + 1] = n + i, (*values)[k + 1] = v;
        }
    return c;
}

static void solves_all_orders(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b)
        for (int n = 1; n <= 130; n += n < 20 ? 1 : 11) {
            uint64_t seed = (uint64_t)n;
            ga_coords c = general(&seed, n, 3 * n);
            problem s;
            open_problem(&s, c, random_values(&seed, c.count), kinds[b]);
            for (int i = 0; i < n; ++i) s.values[i] += s.values[i] > 0 ? 1 : -1;
            double *x = doubles(n);
            assert_int_equal(factor(&s), GA_OK);
            assert_true(solve(&s, x) < 1e-13);
            assert_true(ga_factor_rcond(s.factor) > 1e-8 && ga_factor_rcond(s.factor) <= 1);
            assert_int_equal(ga_factor_singular_column(s.factor), -1);
            close_problem(&s);
            free(x);
        }
}

/* Solutions with the matrix and with its transpose, against LAPACK. */
static void solves_like_lapack(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b)
        for (int n = 1; n <= 90; n += n < 20 ? 1 : 17) {
            uint64_t seed = (uint64_t)(7 * n);
            ga_coords c = general(&seed, n, 3 * n);
            problem s;
            open_problem(&s, c, random_values(&seed, c.count), kinds[b]);
            for (int i = 0; i < n; ++i) s.values[i] += s.values[i] > 0 ? 1 : -1;
            assert_int_equal(factor(&s), GA_OK);
            double *full = doubles(n * n), *x[2], *y = random_values(&seed, 2 * n);
            lapack_int *pivot = calloc((size_t)n, sizeof *pivot);
            for (int k = 0; k < 2; ++k) {
                x[k] = doubles(n);
                memcpy(x[k], y + k * n, (size_t)n * sizeof *y);
            }
            ga_matrix_to_full(&s.matrix, full);
            ga_factor_solve(s.factor, x[0]);
            ga_factor_solve_transposed(s.factor, x[1]);
            assert_int_equal(LAPACKE_dgetrf(LAPACK_COL_MAJOR, n, n, full, n, pivot), 0);
            for (int k = 0; k < 2; ++k) {
                LAPACKE_dgetrs(LAPACK_COL_MAJOR, k ? 'T' : 'N', n, 1, full, n, pivot, y + k * n,
                               n);
                for (int i = 0; i < n; ++i)
                    assert_true(fabs(x[k][i] - y[k * n + i]) < 1e-9 * (1 + fabs(y[k * n + i])));
            }
            close_problem(&s);
            free(full), free(x[0]), free(x[1]), free(y), free(pivot);
        }
}

/* C A^-1 R b in one go is what it is in three, to the bit, also in place. */
static void solves_scaled(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; ++kind)
        for (int n = 0; n <= 21; ++n) {
            uint64_t seed = (uint64_t)(100 + n);
            ga_coords coords;
            assert_int_equal(ga_coords_create(n, n, 0, NULL, NULL, &coords), GA_OK);
            problem s;
            open_problem(&s, coords, random_values(&seed, coords.count), kinds[kind]);
            assert_int_equal(factor(&s), GA_OK);
            double *row = random_values(&seed, n), *col = random_values(&seed, n);
            double *b = random_values(&seed, n), *x = doubles(n), *y = doubles(n);
            for (int i = 0; i < n; ++i) x[i] = b[i] * row[i];
            ga_factor_solve(s.factor, x);
            for (int i = 0; i < n; ++i) x[i] *= col[i];
            ga_factor_solve_scaled(s.factor, false, row, b, col, y);
            ga_factor_solve_scaled(s.factor, false, row, b, col, b);
            assert_memory_equal(x, y, (size_t)n * sizeof *x);
            assert_memory_equal(x, b, (size_t)n * sizeof *x);
            free(row), free(col), free(b), free(x), free(y);
            close_problem(&s);
        }
}

static void backends_agree_on_saddle_points(void **state)
{
    (void)state;
    for (int n = 8; n <= 200; n *= 5) {
        int m = n / 2;
        double *x[KINDS], *again = doubles(n + m);
        for (int b = 0; b < KINDS; ++b) {
            uint64_t seed = 12;
            double *values;
            ga_coords c = saddle(&seed, n, m, &values);
            problem s;
            open_problem(&s, c, values, kinds[b]);
            x[b] = doubles(n + m);
            assert_int_equal(factor(&s), GA_OK);
            assert_true(solve(&s, x[b]) < 1e-13);
            assert_int_equal(factor(&s), GA_OK); /* refactored: the same bits */
            solve(&s, again);
            assert_memory_equal(again, x[b], (size_t)(n + m) * sizeof *again);
            close_problem(&s);
        }
        for (int b = 1; b < KINDS; ++b)
            for (int i = 0; i < n + m; ++i) assert_true(fabs(x[0][i] - x[b][i]) < 1e-10);
        for (int b = 0; b < KINDS; ++b) free(x[b]);
        free(again);
    }
}

/* Values change so that the pivots chosen first no longer serve. */
static void chooses_new_pivots(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b)
        for (int round = 0; round < 20; ++round) {
            uint64_t seed = (uint64_t)round;
            int n = 40;
            ga_coords c = general(&seed, n, 4 * n);
            problem s;
            open_problem(&s, c, random_values(&seed, c.count), kinds[b]);
            double *x = doubles(n);
            for (int i = 0; i < n; ++i) s.values[i] = 4;
            assert_int_equal(factor(&s), GA_OK);
            assert_true(solve(&s, x) < 1e-13);
            for (int i = 0; i < n; i += 2) s.values[i] = round % 2 ? 1e-20 : 0;
            if (factor(&s) == GA_OK) /* a few of them are singular without diagonal */
                assert_true(solve(&s, x) < 1e-13);
            for (int i = 0; i < n; ++i) s.values[i] = 4;
            assert_int_equal(factor(&s), GA_OK);
            assert_true(solve(&s, x) < 1e-12); /* multipliers up to 1e3 pass */
            close_problem(&s);
            free(x);
        }
}

/* A factor that is saved and loaded goes on with the same pivots, and so with the same bits:
 * the last matrix again, and later ones. Values drift, so the pivots are those of an earlier
 * one. */
static void goes_on_after_load(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b)
        for (int round = 0; round < 20; ++round) {
            uint64_t seed = (uint64_t)round;
            const int n = 40;
            ga_coords c = general(&seed, n, 4 * n), twin;
            double *values = random_values(&seed, c.count),
                   *change = random_values(&seed, c.count);
            assert_int_equal(ga_coords_create(n, n, c.count, c.row, c.col, &twin), GA_OK);
            problem s, other;
            open_problem(&s, c, values, kinds[b]);
            open_problem(&other, twin, doubles(c.count), kinds[b]);
            double *x = doubles(n), *y = doubles(n);
            for (int k = 0; k < 5; ++k) {
                for (int i = 0; i < c.count; ++i) values[i] += 0.05 * change[i];
                assert_int_equal(factor(&s), GA_OK);
            }
            const size_t size = ga_factor_save(s.factor, NULL);
            void *bytes = malloc(size + 1);
            assert_int_equal(ga_factor_save(s.factor, bytes), size);
            assert_int_equal(ga_factor_load(other.factor, bytes, size), GA_OK);
            for (int k = 0; k < 5; ++k) {
                memcpy(other.values, values, (size_t)c.count * sizeof *values);
                assert_int_equal(factor(&other), GA_OK);
                if (k == 0) assert_int_equal(ga_factor_load(other.factor, bytes, size), GA_OK);
                solve(&s, x);
                solve(&other, y);
                assert_memory_equal(x, y, (size_t)n * sizeof *x);
                for (int i = 0; i < c.count; ++i) values[i] += 0.05 * change[i];
                assert_int_equal(factor(&s), GA_OK);
            }
            assert_int_equal(ga_factor_load(other.factor, bytes, size + 1), GA_ERR_ARGUMENT);
            close_problem(&s);
            close_problem(&other);
            free(bytes);
            free(change);
            free(x);
            free(y);
        }
}

/* The growth of U does not show this one; see backend_klu.c. */
static void sees_growth_hidden_in_L(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        ga_coords c;
        int row[] = {0, 1, 2, 0, 1, 2, 2}, col[] = {0, 1, 2, 2, 2, 0, 1};
        assert_int_equal(ga_coords_create(3, 3, 7, row, col, &c), GA_OK);
        double *v = doubles(7), x[3];
        memcpy(v, (double[]){1, 1, 1, 1, -1, 1, 1}, 7 * sizeof *v);
        problem s;
        open_problem(&s, c, v, kinds[b]);
        assert_int_equal(factor(&s), GA_OK);
        v[0] = v[1] = 1e-12;
        v[2] = 0.3;
        assert_int_equal(factor(&s), GA_OK);
        assert_true(solve(&s, x) < 1e-13);
        close_problem(&s);
    }
}

static void tolerates_bad_scaling_after_equilibration(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        uint64_t seed = 14;
        int n = 60, m = 30, order = n + m;
        double *values;
        ga_coords c = saddle(&seed, n, m, &values);
        for (int k = 0; k < c.count; ++k) /* index-3 scaling at h = 1e-6, stiff bodies */
            values[k] *= (c.row[k] >= n ? 1e-12 : 1) * (c.col[k] < n && c.col[k] % 2 ? 1e8 : 1);
        problem s;
        open_problem(&s, c, values, kinds[b]);
        double *r = doubles(order), *q = doubles(order), *work = doubles(2 * order);
        for (int i = 0; i < order; ++i) r[i] = q[i] = 1;
        ga_matrix_add(&s.matrix, 0, 1, values);
        ga_matrix_equilibrate(&s.matrix, 8, r, q, work);
        for (int k = 0; k < c.count; ++k) values[k] *= r[c.row[k]] * q[c.col[k]];
        assert_int_equal(factor(&s), GA_OK);
        assert_true(solve(&s, work) < 1e-13);
        close_problem(&s);
        free(r), free(q), free(work);
    }
}

static bool all_zero(const double *x, int n)
{
    for (int i = 0; i < n; ++i)
        if (x[i] != 0) return false; /* NaN, too */
    return true;
}

/* Entries so large and so small that numbers overflow on the way. This gives a status, and
 * never Inf or NaN in the factors, which would show even in the solution for zeros. */
static void overflow_is_a_failure(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        uint64_t seed = 16;
        int refused = 0;
        enum { ROUNDS = 600 };
        for (int round = 0; round < ROUNDS; ++round) {
            const int n = 2 + random_below(&seed, 60), digits = round % 300;
            ga_coords c = general(&seed, n, 3 * n);
            problem s;
            open_problem(&s, c, random_values(&seed, c.count), kinds[b]);
            for (int k = 0; k < c.count; ++k)
                s.values[k] *= pow(10, digits * random_value(&seed));
            double *x = doubles(n);
            if (factor(&s) == GA_OK) {
                ga_factor_solve(s.factor, x);
                assert_true(all_zero(x, n));
                ga_factor_solve_transposed(s.factor, x);
                assert_true(all_zero(x, n));
            } else {
                ++refused;
            }
            close_problem(&s);
            free(x);
        }
        assert_in_range(refused, 1, ROUNDS - 1);
    }
}

static void reports_singular(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        uint64_t seed = 15;
        int n = 30;
        ga_coords c = general(&seed, n, 3 * n);
        problem s;
        open_problem(&s, c, random_values(&seed, c.count), kinds[b]);
        double *good = doubles(c.count), *x = doubles(n);
        for (int i = 0; i < n; ++i) s.values[i] += 3;
        memcpy(good, s.values, (size_t)c.count * sizeof *good);

        for (int later = 0; later < 2; ++later) { /* as first matrix, and after a good one */
            for (int k = 0; k < c.count; ++k)
                s.values[k] = c.col[k] == 17 ? 0 : good[k]; /* zero column */
            assert_int_equal(factor(&s), GA_ERR_SINGULAR);
            assert_int_equal(ga_factor_singular_column(s.factor), 17);
            assert_true(ga_factor_rcond(s.factor) < DBL_EPSILON);

            for (int bad = 0; bad < 3; ++bad) {
                memcpy(s.values, good, (size_t)c.count * sizeof *good);
                s.values[n + 5] = bad == 0 ? NAN : bad == 1 ? INFINITY : -INFINITY;
                assert_int_equal(factor(&s), GA_ERR_SINGULAR);
                assert_int_equal(ga_factor_singular_column(s.factor), c.col[n + 5]);
            }
            memcpy(s.values, good, (size_t)c.count * sizeof *good);
            assert_int_equal(factor(&s), GA_OK);
            assert_true(solve(&s, x) < 1e-13);
            assert_int_equal(ga_factor_singular_column(s.factor), -1);
        }
        close_problem(&s);
        free(good), free(x);
    }
}

/* Rank one less than the order, up to round-off: the last row is a sum of others. */
static void reports_rank_deficiency(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b)
        for (int n = 3; n < 40; n += 9) {
            uint64_t seed = 16;
            ga_coords c;
            assert_int_equal(ga_coords_create(n, n, 0, NULL, NULL, &c), GA_OK);
            double *v = random_values(&seed, c.count);
            for (int j = 0; j < n; ++j) {
                v[n - 1 + j * n] = 0;
                for (int i = 0; i < n - 1; ++i) v[n - 1 + j * n] += v[i + j * n] / n;
            }
            problem s;
            open_problem(&s, c, v, kinds[b]);
            ga_status status = factor(&s);
            if (status == GA_OK) /* round-off may leave a pivot of a few eps */
                assert_true(ga_factor_rcond(s.factor) < 1e-13);
            else
                assert_in_range(ga_factor_singular_column(s.factor), 0, n - 1);
            close_problem(&s);
        }
}

/* Columns of a full matrix that end here and there, as in [S G^T X; G 0 Y; B 0 0]: column j
 * shows ends[j] numbers. */
static void cut_columns(ga_matrix *m, const double *full, const int *ends)
{
    for (int j = 0; j < m->n; ++j)
        for (int i = 0; i < m->n; ++i)
            m->values[i + j * m->n] = i < ends[j] ? full[i + j * m->n] : 0;
}

static double defect(const ga_matrix *m, const double *x, const double *b)
{
    double worst = 0;
    for (int i = 0; i < m->n; ++i) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < m->n; ++j) {
            sum += m->values[i + j * m->n] * x[j];
            size += fabs(m->values[i + j * m->n] * x[j]);
        }
        worst = fmax(worst, fabs(sum) / size);
    }
    return worst;
}

/* Whatever zeros there are, and have been before: the same bits as with a factor that has seen
 * nothing yet. */
static void full_matrices_with_zeros(void **state)
{
    (void)state;
    uint64_t seed = 31;
    const ga_coords none = {0};
    const ga_summand block = {&none, 0, 0, NULL};
    for (int n = 1; n <= 33; ++n) {
        double *full = random_values(&seed, n * n), *b = random_values(&seed, n);
        double *x = doubles(n), *y = doubles(n);
        int *ends = zeroed(n, sizeof(int));
        ga_matrix m;
        ga_factor *old, *fresh;
        assert_int_equal(ga_matrix_create(n, 1, &block, true, &m), GA_OK);
        assert_int_equal(ga_factor_create(&m, GA_BACKEND_DENSE, &old), GA_OK);
        for (int pass = 0; pass < 8; ++pass) {
            /* a permuted matrix with a staircase of zeros has full rank */
            for (int j = 0; j < n; ++j) ends[j] = j + 1 + random_below(&seed, n - j);
            for (int j = n - 1; j > 0; --j) {
                const int k = random_below(&seed, j + 1), t = ends[j];
                ends[j] = ends[k];
                ends[k] = t;
            }
            cut_columns(&m, full, ends);
            assert_int_equal(ga_factor_create(&m, GA_BACKEND_DENSE, &fresh), GA_OK);
            const ga_status status = ga_factor_numeric(fresh);
            assert_int_equal(ga_factor_numeric(old), status);
            assert_true(ga_factor_rcond(old) == ga_factor_rcond(fresh));
            assert_int_equal(ga_factor_singular_column(old), ga_factor_singular_column(fresh));
            if (status == GA_OK) {
                memcpy(x, b, (size_t)n * sizeof *x);
                memcpy(y, b, (size_t)n * sizeof *y);
                ga_factor_solve(old, x);
                ga_factor_solve(fresh, y);
                for (int i = 0; i < n; ++i) assert_true(x[i] == y[i]);
                assert_true(defect(&m, x, b) < 1e-12);
            }
            /* no number in the last row: singular, wherever that is noticed */
            for (int j = 0; j < n; ++j) m.values[n - 1 + j * n] = 0;
            assert_int_equal(ga_factor_numeric(old), GA_ERR_SINGULAR);
            /* a column of zeros is named */
            cut_columns(&m, full, ends);
            const int empty = random_below(&seed, n);
            for (int i = 0; i < n; ++i) m.values[i + empty * n] = 0;
            assert_int_equal(ga_factor_numeric(old), GA_ERR_SINGULAR);
            assert_int_equal(ga_factor_singular_column(old), empty);
            ga_factor_destroy(fresh);
        }
        ga_factor_destroy(old);
        ga_matrix_destroy(&m);
        free(full), free(b), free(x), free(y), free(ends);
    }
}

static void structurally_singular(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        ga_coords c;
        int row[] = {0, 0, 0}, col[] = {0, 1, 2}; /* the matrix adds a zero diagonal */
        assert_int_equal(ga_coords_create(3, 3, 3, row, col, &c), GA_OK);
        double *v = doubles(3);
        v[0] = v[1] = v[2] = 1;
        problem s;
        open_problem(&s, c, v, kinds[b]);
        assert_int_equal(factor(&s), GA_ERR_SINGULAR);
        assert_in_range(ga_factor_singular_column(s.factor), 1, 2);
        close_problem(&s);
    }
}

/* More zero columns than a pivot is looked for at a time. */
static void zero_matrices(void **state)
{
    (void)state;
    for (int n = 1; n <= 30; ++n)
        for (int rank = 0; rank < n; ++rank) {
            ga_coords c;
            assert_int_equal(ga_coords_create(n, n, 0, NULL, NULL, &c), GA_OK);
            problem s;
            open_problem(&s, c, doubles(n * n), GA_BACKEND_DENSE);
            for (int i = 0; i < rank; ++i) s.values[i * (n + 1)] = 1;
            assert_int_equal(factor(&s), GA_ERR_SINGULAR);
            assert_in_range(ga_factor_singular_column(s.factor), rank, n - 1);
            close_problem(&s);
        }
}

/* Few unknowns are solved for in another way from the second time on: the same numbers. */
static void solves_again(void **state)
{
    (void)state;
    for (int n = 1; n <= 24; ++n)
        for (int m = 0; m <= n / 2; ++m) {
            uint64_t seed = (uint64_t)(100 * n + m);
            double *values, *x = doubles(n);
            const ga_coords c = saddle(&seed, n - m, m, &values);
            problem s;
            open_problem(&s, c, values, GA_BACKEND_DENSE);
            for (int turn = 0; turn < 2; ++turn) {
                assert_int_equal(factor(&s), GA_OK);
                assert_true(solve(&s, x) < 1e-12);
                for (int again = 0; again < 3; ++again) {
                    double *y = doubles(n);
                    solve(&s, y);
                    for (int i = 0; i < n; ++i) assert_true(x[i] == y[i]);
                    free(y);
                }
                for (int k = 0; k < c.count; ++k) s.values[k] *= 1 + 0.1 * (k % 7);
            }
            close_problem(&s);
            free(x);
        }
}

static void edges(void **state)
{
    (void)state;
    for (int b = 0; b < KINDS; ++b) {
        ga_matrix m;
        ga_factor *f;
        assert_int_equal(ga_matrix_create(0, 0, NULL, b == 0, &m), GA_OK);
        assert_int_equal(create_factor(&m, kinds[b], &f), GA_OK);
        assert_int_equal(ga_factor_numeric(f), GA_OK);
        ga_factor_solve(f, NULL);
        assert_true(ga_factor_rcond(f) == 1);
        ga_factor_destroy(f);
        ga_matrix_destroy(&m);
    }
    ga_factor_destroy(NULL);
    ga_matrix m; /* the dense backend takes compressed matrices, KLU takes no full ones */
    ga_factor *f;
    double x[] = {2, 4};
    assert_int_equal(ga_matrix_create(2, 0, NULL, false, &m), GA_OK);
    assert_int_equal(ga_factor_create(&m, GA_BACKEND_DENSE, &f), GA_OK);
    m.values[0] = m.values[1] = 2;
    assert_int_equal(ga_factor_numeric(f), GA_OK);
    ga_factor_solve(f, x);
    assert_true(x[0] == 1 && x[1] == 2);
    ga_factor_destroy(f);
    ga_matrix_destroy(&m);
    assert_int_equal(ga_matrix_create(2, 0, NULL, true, &m), GA_OK);
    assert_int_equal(ga_factor_create(&m, GA_BACKEND_KLU, &f), GA_ERR_ARGUMENT);
    assert_null(f);
    assert_int_equal(ga_factor_create(&m, GA_BACKEND_BLOCK, &f), GA_ERR_ARGUMENT);
    assert_null(f);
    ga_matrix_destroy(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_all_orders),
        cmocka_unit_test(solves_like_lapack),
        cmocka_unit_test(solves_scaled),
        cmocka_unit_test(backends_agree_on_saddle_points),
        cmocka_unit_test(chooses_new_pivots),
        cmocka_unit_test(goes_on_after_load),
        cmocka_unit_test(sees_growth_hidden_in_L),
        cmocka_unit_test(tolerates_bad_scaling_after_equilibration),
        cmocka_unit_test(overflow_is_a_failure),
        cmocka_unit_test(reports_singular),
        cmocka_unit_test(reports_rank_deficiency),
        cmocka_unit_test(full_matrices_with_zeros),
        cmocka_unit_test(structurally_singular),
        cmocka_unit_test(zero_matrices),
        cmocka_unit_test(solves_again),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
