/* Dependent rows against the singular values of LAPACK. */
#include "system/dependence.h"
#include "test/la/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double tolerance = 1e-10;

/* Unit rows, without the rows marked in drop; number of singular values above limit. */
static int rank(const ga_coords *A, const double *values, const bool *drop, double limit)
{
    int m = A->rows, n = A->cols, least = m < n ? m : n, above = 0;
    if (least == 0) return 0;
    double *full = to_full(A, values), *sigma = doubles(least), *super = doubles(least);
    for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += full[i + j * m] * full[i + j * m];
        double scale = sum > 0 && !drop[i] ? 1 / sqrt(sum) : 0;
        for (int j = 0; j < n; ++j) full[i + j * m] *= scale;
    }
    assert_int_equal(LAPACKE_dgesvd(LAPACK_COL_MAJOR, 'N', 'N', m, n, full, m, sigma, NULL, 1,
                                    NULL, 1, super),
                     0);
    for (int k = 0; k < least; ++k) above += sigma[k] > limit;
    free(full), free(sigma), free(super);
    return above;
}

/* A_row = sum of weight A_with, for every row named; the difference relative to the sizes of
 * what is added. Partners with a weight below 1e-6 of the largest are not listed. */
static void check_weights(const ga_coords *A, const double *values, const ga_dependence *d,
                          const bool *drop)
{
    int m = A->rows, n = A->cols;
    double *full = to_full(A, values);
    for (int k = 0; k < d->count; ++k) {
        double error = 0, size = 0;
        for (int j = 0; j < n; ++j) {
            double sum = -full[d->row[k] + j * m], most = fabs(sum);
            for (int e = d->start[k]; e < d->start[k + 1]; ++e) {
                double part = d->weight[e] * full[d->with[e] + j * m];
                sum += part;
                most = fmax(most, fabs(part));
            }
            error = fmax(error, fabs(sum));
            size = fmax(size, most);
        }
        assert_true(error <= 1e-5 * size);
        for (int e = d->start[k]; e < d->start[k + 1]; ++e) {
            assert_false(drop[d->with[e]]);
            if (e > d->start[k]) assert_true(d->with[e - 1] < d->with[e]);
        }
    }
    free(full);
}

/* As many rows as the rank lacks, ascending, and without them the rank is the same. Zero rows
 * are left out. */
static int check(const ga_coords *A, const double *values, int *rows)
{
    int m = A->rows;
    bool *drop = zeroed(m, sizeof(bool));
    int full_rank = rank(A, values, drop, tolerance);
    ga_dependence d, again;
    assert_int_equal(ga_dependence_find(A, values, tolerance, &d), GA_OK);
    assert_int_equal(d.rank, full_rank);
    assert_int_equal(d.count + d.zeros, m - full_rank);
    for (int k = 0; k < d.count; ++k) {
        if (k > 0) assert_true(d.row[k - 1] < d.row[k]);
        drop[rows[k] = d.row[k]] = true;
    }
    assert_int_equal(rank(A, values, drop, tolerance), full_rank);
    check_weights(A, values, &d, drop);
    assert_int_equal(ga_dependence_find(A, values, tolerance, &again), GA_OK);
    assert_int_equal(again.count, d.count);
    assert_memory_equal(again.row, d.row, (size_t)d.count * sizeof *rows);
    int count = d.count;
    ga_dependence_destroy(&d);
    ga_dependence_destroy(&again);
    free(drop);
    return count;
}

/* Sparse rows of `entries` entries; the last `dependent` rows are combinations of up to three
 * earlier ones. */
static ga_coords build(uint64_t *seed, int m, int n, int entries, int dependent,
                       double **values)
{
    int room = m * entries * 3, count = 0;
    int *row = zeroed(room, sizeof(int)), *col = zeroed(room, sizeof(int));
    double *v = doubles(room);
    for (int i = 0; i < m - dependent; ++i)
        for (int e = 0; e < entries; ++e) {
            row[count] = i;
            col[count] = e == 0 ? i % n : random_below(seed, n);
            v[count++] = e == 0 ? 3 : random_value(seed);
        }
    int independent = count;
    for (int i = m - dependent; i < m; ++i)
        for (int t = 0; t <= i % 3; ++t) {
            int from = random_below(seed, m - dependent);
            double weight = 1 + random_value(seed) / 2;
            for (int k = 0; k < independent; ++k)
                if (row[k] == from) {
                    row[count] = i;
                    col[count] = col[k];
                    v[count++] = weight * v[k];
                }
        }
    ga_coords A;
    assert_int_equal(ga_coords_create(m, n, count, row, col, &A), GA_OK);
    free(row), free(col);
    *values = v;
    return A;
}

static void agrees_with_singular_values(void **state)
{
    (void)state;
    int shape[][4] = {
        {20, 40, 4, 3},  {20, 20, 3, 0},    {200, 300, 4, 50}, {200, 220, 5, 1},
        {60, 20, 4, 45}, {120, 30, 10, 90}, {100, 70, 3, 5},   {1, 1, 1, 0},
        {5, 1, 1, 0},    {300, 400, 6, 0},
    };
    for (int s = 0; s < 10; ++s) {
        uint64_t seed = (uint64_t)s;
        int m = shape[s][0], *rows = zeroed(m, sizeof(int));
        double *values;
        ga_coords A = build(&seed, m, shape[s][1], shape[s][2], shape[s][3], &values);
        int count = check(&A, values, rows);
        assert_true(count >= shape[s][3]);
        ga_coords_destroy(&A);
        free(values), free(rows);
    }
}

static void small_dense(void **state)
{
    (void)state;
    uint64_t seed = 20;
    for (int round = 0; round < 40; ++round) { /* m x n of rank r or less */
        int m = 1 + random_below(&seed, 20), n = 1 + random_below(&seed, 20);
        int r = 1 + random_below(&seed, 20), rows[20];
        double *left = random_values(&seed, m * r), *right = random_values(&seed, r * n);
        double *a = doubles(m * n);
        for (int i = 0; i < m; ++i)
            for (int j = 0; j < n; ++j)
                for (int k = 0; k < r; ++k) a[i + j * m] += left[i + k * m] * right[k + j * r];
        ga_coords A;
        assert_int_equal(ga_coords_create(m, n, 0, NULL, NULL, &A), GA_OK);
        check(&A, a, rows);
        ga_coords_destroy(&A);
        free(left), free(right), free(a);
    }
}

static void earlier_duplicates_stay(void **state)
{
    (void)state;
    for (int m = 10; m <= 200; m += 95) {
        uint64_t seed = 21;
        int n = m + 5, *rows = zeroed(m, sizeof(int));
        double *values;
        ga_coords A = build(&seed, m - 2, n, 4, 0, &values);
        int count = A.count, *row = zeroed(count + 8, sizeof(int));
        int *col = zeroed(count + 8, sizeof(int));
        double *v = doubles(count + 8);
        for (int k = 0; k < A.count; ++k)
            row[k] = A.row[k], col[k] = A.col[k], v[k] = values[k];
        for (int copy = 0; copy < 2; ++copy) /* of rows 3 and 6, one with the sign changed */
            for (int k = 0; k < A.count; ++k)
                if (A.row[k] == 3 + 3 * copy) {
                    row[count] = m - 2 + copy;
                    col[count] = A.col[k];
                    v[count++] = (copy ? -1e5 : 1) * values[k];
                }
        ga_coords B;
        assert_int_equal(ga_coords_create(m, n, count, row, col, &B), GA_OK);
        assert_int_equal(check(&B, v, rows), 2);
        assert_int_equal(rows[0], m - 2);
        assert_int_equal(rows[1], m - 1);
        ga_coords_destroy(&A);
        ga_coords_destroy(&B);
        free(values), free(rows), free(row), free(col), free(v);
    }
}

/* Nearly parallel rows, 1e-6 apart, are independent; 1e-13 apart they are not. Also together
 * with a true redundancy, which must not hide behind them. */
static void bad_condition_is_not_redundancy(void **state)
{
    (void)state;
    for (int size = 0; size < 2; ++size)
        for (int redundant = 0; redundant < 2; ++redundant) {
            uint64_t seed = 22;
            int m = size ? 80 : 12, n = m + 3, rows[80];
            double *values;
            ga_coords A = build(&seed, m, n, n, 0, &values);
            double *full = to_full(&A, values);
            for (int j = 0; j < n; ++j) {
                full[m - 1 + j * m] = full[0 + j * m] + 1e-6 * random_value(&seed);
                full[m - 2 + j * m] = full[1 + j * m] + 1e-8 * random_value(&seed);
                if (redundant) full[4 + j * m] = full[2 + j * m] - full[3 + j * m];
            }
            ga_coords F;
            assert_int_equal(ga_coords_create(m, n, 0, NULL, NULL, &F), GA_OK);
            assert_int_equal(check(&F, full, rows), redundant);
            if (redundant) assert_in_range(rows[0], 2, 4);
            for (int j = 0; j < n; ++j)
                full[m - 1 + j * m] = full[0 + j * m] + 1e-13 * random_value(&seed);
            assert_int_equal(check(&F, full, rows), redundant + 1);
            assert_int_equal(rows[redundant], m - 1);
            ga_coords_destroy(&A);
            ga_coords_destroy(&F);
            free(values), free(full);
        }
}

static void zero_rows_and_scales(void **state)
{
    (void)state;
    int row[] = {0, 1, 1, 3, 4, 4, 4}, col[] = {0, 1, 1, 2, 0, 1, 2};
    double v[] = {1e-200, 5, -5, 1e200, 1, 0, 1e-3};
    ga_coords A;
    assert_int_equal(ga_coords_create(5, 3, 7, row, col, &A), GA_OK);
    ga_dependence d;
    assert_int_equal(ga_dependence_find(&A, v, tolerance, &d), GA_OK);
    assert_int_equal(d.zeros, 2); /* 1 cancels, 2 is empty */
    assert_int_equal(d.count, 1); /* 0 and 3 combined */
    assert_int_equal(d.row[0], 4);
    assert_int_equal(d.start[1], 2);
    assert_int_equal(d.with[0], 0);
    assert_int_equal(d.with[1], 3);
    ga_dependence_destroy(&d);
    for (int bad = 0; bad < 2; ++bad) {
        v[0] = bad ? INFINITY : NAN;
        assert_int_equal(ga_dependence_find(&A, v, tolerance, &d), GA_ERR_NOT_FINITE);
        assert_int_equal(d.count, 0);
    }
    ga_coords_destroy(&A);
}

static void edges(void **state)
{
    (void)state;
    ga_coords A;
    ga_dependence d;
    assert_int_equal(ga_coords_create(0, 3, 0, NULL, NULL, &A), GA_OK);
    assert_int_equal(ga_dependence_find(&A, NULL, tolerance, &d), GA_OK);
    assert_int_equal(d.count + d.zeros + d.rank, 0);
    ga_dependence_destroy(&d);
    ga_coords_destroy(&A);
    assert_int_equal(ga_coords_create(3, 0, 0, NULL, NULL, &A), GA_OK);
    assert_int_equal(ga_dependence_find(&A, NULL, tolerance, &d), GA_OK);
    assert_int_equal(d.zeros, 3);
    ga_dependence_destroy(&d);
    ga_coords_destroy(&A);
}

/* A chain of 1500 bodies, five constraints each, two of them given twice: no dense matrix. */
static void long_chain(void **state)
{
    (void)state;
    uint64_t seed = 23;
    int bodies = 1500, m = 5 * bodies + 2, n = 6 * bodies, count = 0;
    int room = 60 * bodies + 24;
    int *row = zeroed(room, sizeof(int)), *col = zeroed(room, sizeof(int));
    double *v = doubles(room);
    for (int i = 0; i < m - 2; ++i)
        for (int j = 6 * (i / 5 - 1); j < 6 * (i / 5 + 1); ++j)
            if (j >= 0) row[count] = i, col[count] = j, v[count++] = random_value(&seed);
    for (int k = 0, end = count; k < end; ++k)
        if (row[k] == 4321 || row[k] == 7177) {
            row[count] = m - (row[k] == 4321 ? 2 : 1);
            col[count] = col[k];
            v[count++] = 2 * v[k];
        }
    ga_coords A;
    assert_int_equal(ga_coords_create(m, n, count, row, col, &A), GA_OK);
    ga_dependence d;
    assert_int_equal(ga_dependence_find(&A, v, tolerance, &d), GA_OK);
    assert_int_equal(d.count, 2);
    assert_int_equal(d.rank, m - 2);
    for (int k = 0; k < 2; ++k) {
        assert_int_equal(d.row[k], m - 2 + k);
        assert_int_equal(d.start[k + 1], k + 1);
        assert_int_equal(d.with[k], k ? 7177 : 4321);
    }
    ga_dependence_destroy(&d);
    ga_coords_destroy(&A);
    free(row), free(col), free(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_singular_values),
        cmocka_unit_test(small_dense),
        cmocka_unit_test(earlier_duplicates_stay),
        cmocka_unit_test(bad_condition_is_not_redundancy),
        cmocka_unit_test(zero_rows_and_scales),
        cmocka_unit_test(edges),
        cmocka_unit_test(long_chain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
