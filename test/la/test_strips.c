/* Entries by strips: products have the bits of the plain list, whatever the rows are like. */
#include "la/coords.h"
#include "random.h"
#include "test/support/unit.h"

#include <string.h>

/* Rows of a chain, all alike or of several kinds; rows of more entries than a strip may have;
 * entries in one place twice; and rows without any order. */
typedef enum rows { ALIKE, MIXED, LONG, TWICE, SCATTERED } rows;

enum { ROWS = 6000, COLS = 7000, MOST = 40 * ROWS };

static int fill(rows which, int *row, int *col, uint64_t *seed)
{
    int count = 0;
    for (int i = 0; i < ROWS; ++i) {
        const int length = which == LONG ? 40 : which == MIXED ? 3 + i % 7 : 6;
        for (int k = 0; k < length; ++k, ++count) {
            row[count] = i;
            col[count] = i + 3 * k % 23;
            if (which == TWICE) col[count] = i + k / 2;
            if (which == SCATTERED) col[count] = random_below(seed, COLS);
        }
    }
    return count;
}

static void compare(const ga_coords *plain, const ga_coords *strips, const double *values,
                    const double *x, double alpha)
{
    double *y = doubles(COLS), *z = doubles(COLS);
    for (int i = 0; i < COLS; ++i) y[i] = z[i] = 1.0 / (i + 1);
    ga_coords_multiply(plain, values, alpha, x, y);
    ga_coords_multiply(strips, values, alpha, x, z);
    assert_memory_equal(y, z, COLS * sizeof *y);
    ga_coords_multiply_transposed(plain, values, alpha, x, y);
    ga_coords_multiply_transposed(strips, values, alpha, x, z);
    assert_memory_equal(y, z, COLS * sizeof *y);
    free(y), free(z);
}

static void same_bits(void **state)
{
    (void)state;
    int *row = zeroed(MOST, sizeof *row), *col = zeroed(MOST, sizeof *col);
    for (int which = ALIKE; which <= SCATTERED; ++which) {
        uint64_t seed = (uint64_t)which + 1;
        const int count = fill((rows)which, row, col, &seed);
        double *values = random_values(&seed, count), *x = random_values(&seed, COLS);
        ga_coords plain, strips;
        assert_int_equal(ga_coords_create(ROWS, COLS, count, row, col, &plain), GA_OK);
        assert_int_equal(ga_coords_create(ROWS, COLS, count, row, col, &strips), GA_OK);
        assert_int_equal(ga_coords_find_strips(&strips), GA_OK);
        assert_true((strips.strips.count > 0) == (which != SCATTERED));
        for (int threads = 0; threads <= 3; ++threads) {
            ga_pool *pool = NULL;
            if (threads > 0) assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
            assert_int_equal(ga_coords_use(&strips, pool), GA_OK);
            compare(&plain, &strips, values, x, 1);
            compare(&plain, &strips, values, x, -0.3);
            assert_int_equal(ga_coords_use(&strips, NULL), GA_OK);
            ga_pool_destroy(pool);
        }
        assert_true(which == SCATTERED ||
                    strips.by_col.pieces > 1); /* or threads had nothing */
        ga_coords_destroy(&plain);
        ga_coords_destroy(&strips);
        free(values), free(x);
    }
    free(row), free(col);
}

/* Few entries are in the caches anyway. */
static void few_are_left_alone(void **state)
{
    (void)state;
    int row[60], col[60];
    for (int k = 0; k < 60; ++k) row[k] = k / 6, col[k] = k / 6 + k % 6;
    ga_coords A;
    assert_int_equal(ga_coords_create(10, 20, 60, row, col, &A), GA_OK);
    assert_int_equal(ga_coords_find_strips(&A), GA_OK);
    assert_int_equal(A.strips.count, 0);
    ga_coords_destroy(&A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits),
                                       cmocka_unit_test(few_are_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
