/* Full products in one go against their columns one by one, bit for bit. */
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <math.h>

static ga_coords full(int rows, int cols)
{
    ga_coords A;
    assert_int_equal(ga_coords_create(rows, cols, 0, NULL, NULL, &A), GA_OK);
    return A;
}

/* Entries in every column, some of them in one place. */
static ga_coords filled(uint64_t *seed, int rows, int cols)
{
    int row[256], col[256], count = 0;
    for (int j = 0; j < cols; ++j)
        for (int k = 1 + random_below(seed, 4); k > 0; --k, ++count)
            row[count] = random_below(seed, rows), col[count] = j;
    ga_coords B;
    assert_int_equal(ga_coords_create(rows, cols, count, row, col, &B), GA_OK);
    return B;
}

static void adds_all_columns(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int rows = 1; rows <= 21; ++rows)
        for (int repeat = 0; repeat < 10; ++repeat) {
            const int between = 1 + random_below(&seed, 9), cols = 1 + random_below(&seed, 9);
            const int ld = rows + random_below(&seed, 4);
            ga_coords A = full(rows, between), B = filled(&seed, between, cols);
            ga_product p;
            assert_int_equal(ga_product_create(&A, &B, &p), GA_OK);
            assert_non_null(p.flat);
            assert_int_equal(p.result.layout, GA_BY_COLUMNS);
            double *a = random_values(&seed, A.count), *b = random_values(&seed, B.count);
            double *value = doubles(p.result.count), *to = random_values(&seed, ld * cols);
            double *expected = doubles(ld * cols), scale = random_value(&seed);
            for (int k = 0; k < ld * cols; ++k) expected[k] = to[k];
            ga_product_evaluate(&p, a, b, value);
            for (int k = 0; k < p.result.count; ++k)
                expected[p.result.row[k] + ld * p.result.col[k]] += scale * value[k];
            ga_product_add_full(&p, scale, a, b, ld, to);
            for (int k = 0; k < ld * cols; ++k) assert_true(to[k] == expected[k]);
            free(a), free(b), free(value), free(to), free(expected);
            ga_product_destroy(&p);
            assert_null(p.flat);
            ga_coords_destroy(&A), ga_coords_destroy(&B);
        }
}

/* An empty column, or a first factor that is not full. */
static void others_have_plans_only(void **state)
{
    (void)state;
    const int row[] = {0, 1, 1}, col[] = {0, 0, 2};
    ga_coords A = full(3, 2), sparse;
    assert_int_equal(ga_coords_create(2, 3, 3, row, col, &sparse), GA_OK);
    ga_product p;
    assert_int_equal(ga_product_create(&A, &sparse, &p), GA_OK);
    assert_null(p.flat);
    assert_int_equal(p.result.layout, GA_LISTED);
    ga_product_destroy(&p);
    assert_int_equal(ga_product_create(&sparse, &A, &p), GA_OK);
    assert_null(p.flat);
    ga_product_destroy(&p);
    ga_coords_destroy(&A), ga_coords_destroy(&sparse);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_all_columns),
        cmocka_unit_test(others_have_plans_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
