/* Assembly, products, scaling and equilibration, full and compressed, against full loops. */
#include "la/factor.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <limits.h>
#include <math.h>

typedef struct sample {
    ga_coords coords[3];
    ga_summand block[3];
    double *values[3];
    int n;
} sample;

static sample create_sample(uint64_t seed, int n)
{
    sample s = {.n = n};
    int shape[3][2] = {{n, n}, {n / 2, n / 3}, {n / 3, n / 2}};
    int corner[3][2] = {{0, 0}, {n - n / 2, 1}, {1, n - n / 2}};
    for (int b = 0; b < 3; ++b) {
        s.coords[b] = random_coords(&seed, shape[b][0], shape[b][1], 2 * n);
        s.values[b] = random_values(&seed, 2 * n);
    }
    for (int b = 0; b < 3; ++b)
        s.block[b] = (ga_summand){NULL, corner[b][0], corner[b][1], NULL};
    return s;
}

static void destroy_sample(sample *s)
{
    for (int b = 0; b < 3; ++b) {
        ga_coords_destroy(&s->coords[b]);
        free(s->values[b]);
    }
}

static void assemble(sample *s, bool full, ga_matrix *m, double *truth)
{
    static const double scale[3] = {1, -0.5, 3};
    for (int b = 0; b < 3; ++b) s->block[b].coords = &s->coords[b];
    assert_int_equal(ga_matrix_create(s->n, 3, s->block, full, m), GA_OK);
    for (int b = 0; b < 3; ++b) {
        ga_matrix_add(m, b, scale[b], s->values[b]);
        for (int k = 0; k < s->coords[b].count; ++k) {
            int i = s->block[b].row0 + s->coords[b].row[k];
            int j = s->block[b].col0 + s->coords[b].col[k];
            truth[i + j * s->n] += scale[b] * s->values[b][k];
        }
    }
}

static void assembles(void **state)
{
    (void)state;
    for (int full = 0; full < 2; ++full) {
        int n = 31;
        sample s = create_sample(6, n);
        ga_matrix m;
        double *truth = doubles(n * n), *copy = doubles(n * n);
        assemble(&s, full, &m, truth);
        ga_matrix_to_full(&m, copy);
        for (int k = 0; k < n * n; ++k) assert_true(fabs(copy[k] - truth[k]) < 1e-15);
        if (full) {
            assert_int_equal(m.count, n * n);
            assert_null(m.colptr);
        } else {
            assert_true(m.count < n * n);
            assert_int_equal(m.colptr[0], 0);
            assert_int_equal(m.colptr[n], m.count);
            for (int j = 0; j < n; ++j) {
                bool diagonal = false;
                for (int k = m.colptr[j]; k < m.colptr[j + 1]; ++k) {
                    if (m.rowind[k] == j) diagonal = true;
                    if (k > m.colptr[j]) assert_true(m.rowind[k - 1] < m.rowind[k]);
                }
                assert_true(diagonal);
            }
        }
        ga_matrix_clear(&m);
        for (int k = 0; k < m.count; ++k) assert_true(m.values[k] == 0);
        ga_matrix_destroy(&m);
        assert_null(m.values);
        ga_matrix_destroy(&m);
        destroy_sample(&s);
        free(truth), free(copy);
    }
}

/* Many entries in few places: their slots do not fit where the values will be. */
static void entries_fall_together(void **state)
{
    (void)state;
    enum { N = 5, MANY = 40 };
    for (int full = 0; full < 2; ++full) {
        uint64_t seed = 11;
        sample s = {.n = N};
        for (int b = 0; b < 3; ++b) {
            s.coords[b] = random_coords(&seed, 2, 2, MANY);
            s.values[b] = random_values(&seed, MANY);
            s.block[b] = (ga_summand){NULL, 1, 2, NULL};
        }
        ga_matrix m;
        double truth[N * N] = {0}, copy[N * N];
        assemble(&s, full, &m, truth);
        if (!full) assert_true(3 * MANY > 2 * m.count);
        ga_matrix_to_full(&m, copy);
        for (int k = 0; k < N * N; ++k) assert_true(fabs(copy[k] - truth[k]) < 1e-13);
        ga_matrix_destroy(&m);
        destroy_sample(&s);
    }
}

static void multiplies_and_scales(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int full = 0; full < 2; ++full) {
        int n = 24;
        sample s = create_sample(8, n);
        ga_matrix m;
        double *truth = doubles(n * n), *copy = doubles(n * n);
        assemble(&s, full, &m, truth);
        double *x = random_values(&seed, n), *y = random_values(&seed, n), *z = doubles(n);
        for (int i = 0; i < n; ++i) {
            z[i] = y[i];
            for (int j = 0; j < n; ++j) z[i] += 1.5 * truth[i + j * n] * x[j];
        }
        ga_matrix_multiply(&m, 1.5, x, y);
        for (int i = 0; i < n; ++i) assert_true(fabs(y[i] - z[i]) < 1e-13);
        ga_matrix_scale(&m, x, z);
        ga_matrix_to_full(&m, copy);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                assert_true(fabs(copy[i + j * n] - x[i] * z[j] * truth[i + j * n]) < 1e-13);
        ga_matrix_destroy(&m);
        destroy_sample(&s);
        free(truth), free(copy), free(x), free(y), free(z);
    }
}

static bool power_of_two(double x)
{
    int e;
    return frexp(x, &e) == 0.5;
}

/* Rows and columns scaled by up to 10^+-60 come back to largest entries in [1/4, 4]. */
static void equilibrates(void **state)
{
    (void)state;
    for (int full = 0; full < 2; ++full) {
        uint64_t seed = 9;
        int n = 24;
        sample s = create_sample(10, n);
        ga_matrix m;
        double *truth = doubles(n * n), *work = doubles(2 * n);
        double *r = doubles(n), *c = doubles(n), *rr = doubles(n), *cc = doubles(n);
        assemble(&s, full, &m, truth);
        for (int i = 0; i < n; ++i) {
            rr[i] = pow(10, 60 * random_value(&seed));
            cc[i] = pow(10, 60 * random_value(&seed));
            r[i] = c[i] = 1;
        }
        rr[3] = 0; /* an empty row */
        ga_matrix_scale(&m, rr, cc);
        ga_matrix_equilibrate(&m, 20, r, c, work);
        assert_true(r[3] == 1);
        for (int i = 0; i < n; ++i) assert_true(power_of_two(r[i]) && power_of_two(c[i]));
        ga_matrix_scale(&m, r, c);
        ga_matrix_to_full(&m, truth);
        for (int i = 0; i < n; ++i) {
            double row = 0, col = 0;
            for (int j = 0; j < n; ++j) {
                row = fmax(row, fabs(truth[i + j * n]));
                col = fmax(col, fabs(truth[j + i * n]));
            }
            assert_true(i == 3 || (row >= 0.25 && row <= 4));
            assert_true(col == 0 || (col >= 0.25 && col <= 4));
        }
        ga_matrix_destroy(&m);
        destroy_sample(&s);
        free(truth), free(work), free(r), free(c), free(rr), free(cc);
    }
}

static void survives_what_is_not_finite(void **state)
{
    (void)state;
    ga_coords A;
    assert_int_equal(ga_coords_create(2, 2, 0, NULL, NULL, &A), GA_OK);
    ga_summand block = {&A, 0, 0, NULL};
    ga_matrix m;
    assert_int_equal(ga_matrix_create(2, 1, &block, true, &m), GA_OK);
    double values[] = {NAN, INFINITY, 4, 16}, r[] = {1, 1}, c[] = {1, 1}, work[4];
    ga_matrix_add(&m, 0, 1, values);
    ga_matrix_equilibrate(&m, 3, r, c, work);
    assert_true(isfinite(r[0]) && isfinite(r[1]) && isfinite(c[0]) && isfinite(c[1]));
    ga_matrix_destroy(&m);
    ga_coords_destroy(&A);
}

static void edges(void **state)
{
    (void)state;
    for (int full = 0; full < 2; ++full) {
        ga_matrix m;
        assert_int_equal(ga_matrix_create(0, 0, NULL, full, &m), GA_OK);
        assert_int_equal(m.count, 0);
        ga_matrix_clear(&m);
        ga_matrix_destroy(&m);
        assert_int_equal(ga_matrix_create(4, 0, NULL, full, &m), GA_OK);
        assert_int_equal(m.count, full ? 16 : 4); /* the diagonal */
        ga_matrix_destroy(&m);
    }
    ga_matrix m;
    assert_int_equal(ga_matrix_create(1 << 16, 0, NULL, true, &m), GA_ERR_MEMORY);
    assert_null(m.values);
    ga_coords huge = {.rows = 1, .cols = 1, .count = INT_MAX};
    ga_summand block[] = {{&huge, 0, 0, NULL}, {&huge, 0, 0, NULL}};
    assert_int_equal(ga_matrix_create(1, 2, block, false, &m), GA_ERR_MEMORY);
}

/* M + c A B, added as computed and by its values: the same bits, and those of full loops up to
 * round-off. Diagonal, tridiagonal and random factors. */
static void adds_products(void **state)
{
    (void)state;
    enum { N = 24 };
    uint64_t seed = 12;
    int row[3 * N], col[3 * N], count = 0;
    for (int j = 0; j < N; ++j)
        for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < N; ++i)
            row[count] = i, col[count++] = j;
    int diagonal[N];
    for (int i = 0; i < N; ++i) diagonal[i] = i;
    ga_coords A[3];
    assert_int_equal(ga_coords_create(N, N, N, diagonal, diagonal, &A[0]), GA_OK);
    assert_int_equal(ga_coords_create(N, N, count, row, col, &A[1]), GA_OK);
    A[2] = random_coords(&seed, N, N, 70);
    for (int k = 0; k < 18; ++k) {
        const ga_coords *left = &A[k / 2 % 3], *right = &A[k / 6];
        const bool full = k % 2;
        double *a = random_values(&seed, left->count), *b = random_values(&seed, right->count);
        double *values = random_values(&seed, A[1].count);
        ga_product p;
        assert_int_equal(ga_product_create(left, right, &p), GA_OK);
        double *product = doubles(p.result.count);
        ga_product_evaluate(&p, a, b, product);
        ga_summand block[] = {{&A[1], 3, 2, NULL}, {&p.result, 1, 4, NULL}};
        ga_matrix one, other;
        assert_int_equal(ga_matrix_create(N + 4, 2, block, full, &other), GA_OK);
        block[1].product = &p;
        assert_int_equal(ga_matrix_create(N + 4, 2, block, full, &one), GA_OK);
        double *truth = doubles((N + 4) * (N + 4)), *copy = doubles((N + 4) * (N + 4));
        for (int e = 0; e < A[1].count; ++e)
            truth[3 + A[1].row[e] + (2 + A[1].col[e]) * (N + 4)] += values[e];
        for (ga_matrix_entry e = ga_entry_first(&p.result); e.k < p.result.count;
             ga_entry_next(&p.result, &e))
            truth[1 + e.row + (4 + e.col) * (N + 4)] += 0.7 * product[e.k];
        ga_matrix_add(&other, 0, 1, values);
        ga_matrix_add(&other, 1, 0.7, product);
        ga_product_destroy(&p); /* what was planned is enough */
        ga_matrix_add(&one, 0, 1, values);
        ga_matrix_add_term(&one, 1, &(ga_matrix_term){.scale = 0.7, .a = a, .b = b});
        for (int e = 0; e < one.count; ++e) assert_true(one.values[e] == other.values[e]);
        ga_matrix_to_full(&one, copy);
        for (int e = 0; e < (N + 4) * (N + 4); ++e)
            assert_true(fabs(copy[e] - truth[e]) < 1e-15);
        ga_matrix_destroy(&one);
        ga_matrix_destroy(&other);
        free(a), free(b), free(values), free(product), free(truth), free(copy);
    }
    for (int k = 0; k < 3; ++k) ga_coords_destroy(&A[k]);
}

/* Full blocks of every size, and their products with full and other blocks, add the same as if
 * entries were listed one by one; products up to round-off, because the sum of each pair is
 * scaled. */
static void full_blocks_are_lists(void **state)
{
    (void)state;
    enum { MOST = 21, N = 3 * MOST };
    uint64_t seed = 5;
    for (int rows = 1; rows <= MOST; ++rows) {
        const int inner = 1 + random_below(&seed, MOST), cols = 1 + random_below(&seed, MOST);
        ga_coords A[2], B = {0}, Bt;
        assert_int_equal(ga_coords_create(rows, inner, 0, NULL, NULL, &A[0]), GA_OK);
        assert_int_equal(ga_coords_entries(&A[0], &A[1]), GA_OK);
        if (rows % 2)
            B = random_coords(&seed, cols, inner, inner * cols);
        else
            assert_int_equal(ga_coords_create(cols, inner, 0, NULL, NULL, &B), GA_OK);
        Bt = ga_coords_transposed(&B);
        double *a = random_values(&seed, A->count), *b = random_values(&seed, B.count);
        ga_matrix m[2];
        for (int k = 0; k < 2; ++k) {
            ga_product product;
            assert_int_equal(ga_product_create(&A[k], &Bt, &product), GA_OK);
            const ga_summand block[] = {
                {&A[k], 2, 1, NULL}, {&Bt, 1, 3, NULL}, {&product.result, 5, 4, &product}};
            assert_int_equal(ga_matrix_create(N, 3, block, true, &m[k]), GA_OK);
            ga_matrix_add(&m[k], 0, 0.3, a);
            ga_matrix_add(&m[k], 1, 0.7, b);
            ga_matrix_add_term(&m[k], 2, &(ga_matrix_term){.scale = 1.1, .a = a, .b = b});
            ga_matrix_add(&m[k], 0, -3, a);
            ga_product_destroy(&product);
        }
        for (int k = 0; k < N * N; ++k)
            assert_true(fabs(m[0].values[k] - m[1].values[k]) < 1e-14 * inner);
        for (int k = 0; k < 2; ++k) {
            ga_matrix_destroy(&m[k]);
            ga_coords_destroy(&A[k]);
        }
        ga_coords_destroy(&B);
        free(a), free(b);
    }
}

static ga_coords tridiagonal(int n)
{
    int *row = zeroed(3 * n, sizeof(int)), *col = zeroed(3 * n, sizeof(int)), count = 0;
    for (int j = 0; j < n; ++j)
        for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i < n; ++i)
            row[count] = i, col[count++] = j;
    ga_coords A;
    assert_int_equal(ga_coords_create(n, n, count, row, col, &A), GA_OK);
    free(row), free(col);
    return A;
}

/* A sum in ranges of columns has the bits of terms added one after the other, with any number
 * of threads: entries and blocks in order and out of order, a diagonal, products, a term that
 * is left out. */
static void sums_in_ranges(void **state)
{
    (void)state;
    enum { HALF = 30000, N = 2 * HALF, MANY = 50000 };
    uint64_t seed = 21;
    int *diagonal = zeroed(HALF, sizeof(int));
    for (int i = 0; i < HALF; ++i) diagonal[i] = i;
    ga_coords T = tridiagonal(HALF), R = random_coords(&seed, HALF, N, MANY), D;
    assert_int_equal(ga_coords_create(HALF, HALF, HALF, diagonal, diagonal, &D), GA_OK);
    ga_coords Tt = ga_coords_transposed(&T), S = random_blocks(&seed, HALF, HALF, MANY, 5);
    ga_product product;
    assert_int_equal(ga_product_create(&T, &T, &product), GA_OK);
    double *s = random_values(&seed, S.count), *t = random_values(&seed, T.count),
           *r = random_values(&seed, R.count), *d = random_values(&seed, HALF),
           *row = random_values(&seed, N), *column = random_values(&seed, N);
    const ga_summand block[] = {{&T, 0, 0, NULL},
                                {&R, HALF, 0, NULL},
                                {&D, HALF, HALF, NULL},
                                {&T, 0, HALF, NULL},
                                {&product.result, 0, HALF, &product},
                                {&Tt, HALF, HALF, NULL},
                                {&S, HALF, 0, NULL}};
    const ga_matrix_term terms[] = {{.scale = 1, .a = t},           {.scale = -0.3, .a = r},
                                    {.scale = 7, .a = d},           {.scale = 0, .a = t},
                                    {.scale = 0.7, .a = t, .b = t}, {.scale = 1.1, .a = t},
                                    {.scale = -2, .a = s}};
    ga_matrix one, other;
    assert_int_equal(ga_matrix_create(N, 7, block, false, &one), GA_OK);
    for (int k = 0; k < 7; ++k) ga_matrix_add_term(&one, k, &terms[k]);
    ga_matrix_scale(&one, row, column);
    double largest = 0;
    for (int k = 0; k < one.count; ++k) largest = fmax(largest, fabs(one.values[k]));
    for (int threads = 0; threads < 3; ++threads) {
        ga_pool *pool = NULL;
        if (threads > 0) assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
        assert_int_equal(ga_matrix_create(N, 7, block, false, &other), GA_OK);
        assert_true(other.ranges > 2);
        ga_matrix_use(&other, pool);
        for (int round = 0; round < 2; ++round) { /* whatever was there before */
            ga_matrix_sum(&other, terms, row, column);
            assert_memory_equal(one.values, other.values,
                                (size_t)one.count * sizeof *one.values);
        }
        assert_true(ga_matrix_measure(&other) && other.largest == largest);
        ga_matrix_clear(&other); /* one by one, by threads */
        for (int k = 0; k < 7; ++k) ga_matrix_add_term(&other, k, &terms[k]);
        ga_matrix_scale(&other, row, column);
        assert_memory_equal(one.values, other.values, (size_t)one.count * sizeof *one.values);
        const double kept = r[MANY / 2];
        r[MANY / 2] = threads ? NAN : INFINITY;
        ga_matrix_sum(&other, terms, row, column);
        assert_false(ga_matrix_measure(&other));
        for (int j = 0; j < N; ++j) assert_true(isnan(other.size[j]) == (j == R.col[MANY / 2]));
        r[MANY / 2] = kept;
        ga_matrix_destroy(&other);
        ga_pool_destroy(pool);
    }
    ga_matrix_destroy(&one);
    ga_product_destroy(&product);
    ga_coords_destroy(&T), ga_coords_destroy(&R), ga_coords_destroy(&D);
    ga_coords_destroy(&S), free(s);
    free(diagonal), free(t), free(r), free(d), free(row), free(column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(assembles),
        cmocka_unit_test(entries_fall_together),
        cmocka_unit_test(multiplies_and_scales),
        cmocka_unit_test(equilibrates),
        cmocka_unit_test(survives_what_is_not_finite),
        cmocka_unit_test(edges),
        cmocka_unit_test(adds_products),
        cmocka_unit_test(full_blocks_are_lists),
        cmocka_unit_test(sums_in_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
