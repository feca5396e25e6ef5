/* Structures of entries and blocks, against naive loops over full matrices. */
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <limits.h>
#include <math.h>
#include <string.h>

static void copies_entries(void **state)
{
    (void)state;
    int row[] = {2, 0, 2}, col[] = {1, 1, 1};
    ga_coords c;
    assert_int_equal(ga_coords_create(3, 2, 3, row, col, &c), GA_OK);
    row[0] = col[0] = 0;
    assert_int_equal(c.rows, 3);
    assert_int_equal(c.cols, 2);
    assert_int_equal(c.count, 3);
    assert_int_equal(c.row[0], 2);
    assert_int_equal(c.col[0], 1);
    ga_coords_destroy(&c);
    assert_null(c.row);
    assert_int_equal(c.count, 0);
    ga_coords_destroy(&c);
}

static void full_is_column_major(void **state)
{
    (void)state;
    ga_coords c;
    assert_int_equal(ga_coords_create(3, 4, 0, NULL, NULL, &c), GA_OK);
    assert_int_equal(c.count, 12);
    assert_int_equal(c.blocks, 1);
    for (ga_matrix_entry e = ga_entry_first(&c); e.k < c.count; ga_entry_next(&c, &e)) {
        assert_int_equal(e.row, e.k % 3);
        assert_int_equal(e.col, e.k / 3);
    }
    ga_coords_destroy(&c);
    assert_int_equal(ga_coords_create(1 << 16, 1 << 16, 0, NULL, NULL, &c), GA_ERR_MEMORY);
    assert_int_equal(ga_coords_create(INT_MAX, INT_MAX, 0, NULL, NULL, &c), GA_ERR_MEMORY);
    assert_null(c.row);
}

static void empty_is_fine(void **state)
{
    (void)state;
    double y[3] = {1, 2, 3};
    int shapes[][2] = {{0, 0}, {3, 0}, {0, 3}};
    for (int s = 0; s < 3; ++s) {
        ga_coords c;
        assert_int_equal(ga_coords_create(shapes[s][0], shapes[s][1], 0, NULL, NULL, &c),
                         GA_OK);
        assert_int_equal(c.count, 0);
        ga_coords_multiply(&c, NULL, 1, y, y);
        ga_coords_multiply_transposed(&c, NULL, 1, y, y);
        ga_coords_destroy(&c);
    }
    assert_true(y[0] == 1 && y[1] == 2 && y[2] == 3);
}

static void multiplies(void **state)
{
    (void)state;
    uint64_t seed = 1;
    int rows = 23, cols = 17, count = 120;
    ga_coords A = random_coords(&seed, rows, cols, count);
    double *a = random_values(&seed, count), *full = to_full(&A, a);
    double *x = random_values(&seed, rows + cols), *y = random_values(&seed, rows + cols);
    double *before = doubles(rows + cols);
    memcpy(before, y, (size_t)(rows + cols) * sizeof *y);

    ga_coords_multiply(&A, a, -0.7, x, y);
    for (int i = 0; i < rows; ++i) {
        double sum = before[i];
        for (int j = 0; j < cols; ++j) sum += -0.7 * full[i + j * rows] * x[j];
        assert_true(fabs(y[i] - sum) < 1e-13);
    }

    memcpy(y, before, (size_t)(rows + cols) * sizeof *y);
    ga_coords_multiply_transposed(&A, a, 2, x, y);
    for (int j = 0; j < cols; ++j) {
        double sum = before[j];
        for (int i = 0; i < rows; ++i) sum += 2 * full[i + j * rows] * x[i];
        assert_true(fabs(y[j] - sum) < 1e-13);
    }

    ga_coords At = ga_coords_transposed(&A);
    double *z = doubles(cols);
    memcpy(z, before, (size_t)cols * sizeof *z);
    ga_coords_multiply(&At, a, 2, x, z);
    assert_memory_equal(z, y, (size_t)cols * sizeof *z);
    assert_int_equal(At.rows, cols);
    ga_coords_destroy(&A);
    free(a), free(full), free(x), free(y), free(before), free(z);
}

/* Products with A and A^T, by `pool` and with its values as entries: the same bits. */
static void compare_with_entries(const ga_coords *A, uint64_t *seed, ga_pool *pool)
{
    static const double factors[] = {1, -1, -0.7};
    const int n = A->rows + A->cols;
    const size_t size = (size_t)n * sizeof(double);
    double *a = random_values(seed, A->count), *x = random_values(seed, n);
    double *y = random_values(seed, n), *z = doubles(n);
    ga_coords listed, threaded = *A;
    assert_int_equal(ga_coords_entries(A, &listed), GA_OK);
    assert_int_equal(listed.blocks, A->count);
    assert_int_equal(ga_coords_use(&threaded, pool), GA_OK);
    for (int k = 0; k < 3; ++k) {
        memcpy(z, y, size);
        ga_coords_multiply(&threaded, a, factors[k], x, y);
        ga_coords_multiply(&listed, a, factors[k], x, z);
        assert_memory_equal(y, z, size);
        ga_coords_multiply_transposed(&threaded, a, factors[k], x, y);
        ga_coords_multiply_transposed(&listed, a, factors[k], x, z);
        assert_memory_equal(y, z, size);
    }
    free(a), free(x), free(y), free(z);
    ga_buckets_destroy(&threaded.by_row);
    ga_buckets_destroy(&threaded.by_col);
    ga_coords_destroy(&listed);
}

static void blocks_are_as_entries(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int rows = 1; rows <= 13; ++rows)
        for (int cols = 1; cols <= 13; ++cols) {
            ga_coords A, B = random_blocks(&seed, rows, cols, rows + cols, 6);
            assert_int_equal(ga_coords_create(rows, cols, 0, NULL, NULL, &A), GA_OK);
            ga_coords At = ga_coords_transposed(&A), Bt = ga_coords_transposed(&B);
            const ga_coords *all[] = {&A, &At, &B, &Bt};
            for (int k = 0; k < 4; ++k) compare_with_entries(all[k], &seed, NULL);
            ga_coords_destroy(&A);
            ga_coords_destroy(&B);
        }
}

static void threads_give_the_same_bits(void **state)
{
    (void)state;
    uint64_t seed = 4;
    ga_coords A = random_blocks(&seed, 3000, 2000, 4000, 5);
    ga_coords B = random_coords(&seed, 300, 2000, 20000);
    for (int threads = 2; threads <= 3; ++threads) {
        ga_pool *pool = NULL;
        assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
        compare_with_entries(&A, &seed, pool);
        compare_with_entries(&B, &seed, pool);
        ga_pool_destroy(pool);
    }
    ga_coords_destroy(&A);
    ga_coords_destroy(&B);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_entries),        cmocka_unit_test(full_is_column_major),
        cmocka_unit_test(empty_is_fine),         cmocka_unit_test(multiplies),
        cmocka_unit_test(blocks_are_as_entries), cmocka_unit_test(threads_give_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
