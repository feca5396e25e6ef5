/* Coordinate matrices against naive loops over full ones. */
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
    for (int k = 0; k < 12; ++k) {
        assert_int_equal(c.row[k], k % 3);
        assert_int_equal(c.col[k], k / 3);
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
    bool first[1];
    int shapes[][2] = {{0, 0}, {3, 0}, {0, 3}};
    for (int s = 0; s < 3; ++s) {
        ga_coords c;
        assert_int_equal(ga_coords_create(shapes[s][0], shapes[s][1], 0, NULL, NULL, &c),
                         GA_OK);
        assert_int_equal(c.count, 0);
        ga_coords_multiply(&c, NULL, 1, y, y);
        ga_coords_multiply_transposed(&c, NULL, 1, y, y);
        assert_int_equal(ga_coords_first(&c, first), GA_OK);
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

/* Full matrices have loops of their own, to the bit those of the list. */
static void full_is_as_listed(void **state)
{
    (void)state;
    uint64_t seed = 3;
    const double factors[] = {1, -1, -0.7};
    for (int rows = 1; rows <= 13; ++rows)
        for (int cols = 1; cols <= 13; ++cols) {
            ga_coords A;
            assert_int_equal(ga_coords_create(rows, cols, 0, NULL, NULL, &A), GA_OK);
            assert_int_equal(A.layout, GA_BY_COLUMNS);
            const int n = rows + cols;
            double *a = random_values(&seed, A.count), *x = random_values(&seed, n);
            double *y = random_values(&seed, n), *z = doubles(n);
            ga_coords At = ga_coords_transposed(&A), copy, listed[2] = {A, At};
            assert_int_equal(At.layout, GA_BY_ROWS);
            assert_int_equal(ga_coords_create(rows, cols, A.count, A.row, A.col, &copy), GA_OK);
            assert_int_equal(copy.layout, GA_BY_COLUMNS);
            for (int k = 0; k < 6; ++k) {
                const ga_coords *full = k % 2 ? &At : &A;
                listed[k % 2].layout = GA_LISTED;
                memcpy(z, y, (size_t)n * sizeof *z);
                ga_coords_multiply(full, a, factors[k / 2], x, y);
                ga_coords_multiply(&listed[k % 2], a, factors[k / 2], x, z);
                ga_coords_multiply_transposed(full, a, factors[k / 2], x, y);
                ga_coords_multiply_transposed(&listed[k % 2], a, factors[k / 2], x, z);
                assert_memory_equal(y, z, (size_t)n * sizeof *z);
            }
            free(a), free(x), free(y), free(z);
            ga_coords_destroy(&copy);
            ga_coords_destroy(&A);
        }
    /* all places, but in another order, or not all */
    const int row[] = {0, 1, 1, 0}, col[] = {0, 0, 1, 1};
    for (int count = 3; count <= 4; ++count) {
        ga_coords A;
        assert_int_equal(ga_coords_create(2, 2, count, row, col, &A), GA_OK);
        assert_int_equal(A.layout, GA_LISTED);
        ga_coords_destroy(&A);
    }
}

static void marks_first_entries(void **state)
{
    (void)state;
    uint64_t seed = 2;
    ga_coords A = random_coords(&seed, 9, 7, 100);
    bool first[100];
    assert_int_equal(ga_coords_first(&A, first), GA_OK);
    for (int k = 0; k < A.count; ++k) {
        bool expected = true;
        for (int e = 0; e < k; ++e)
            if (A.row[e] == A.row[k] && A.col[e] == A.col[k]) expected = false;
        assert_int_equal(first[k], expected);
    }
    ga_coords_destroy(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_entries),      cmocka_unit_test(full_is_column_major),
        cmocka_unit_test(empty_is_fine),       cmocka_unit_test(multiplies),
        cmocka_unit_test(marks_first_entries), cmocka_unit_test(full_is_as_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
