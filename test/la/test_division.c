/* Divided products: the bits of the plain loop, whatever the order of the entries. */
#include "la/coords.h"
#include "random.h"
#include "test/support/unit.h"

#include <string.h>

enum { COUNT = 5 * GA_POOL_PIECE + 17, ROWS = COUNT / 7, COLS = 1000 };

typedef enum order { ALONG, SCATTERED, ONE_ROW } order;

static void fill(order which, int *row, int *col, double *values, uint64_t *seed)
{
    for (int k = 0; k < COUNT; ++k) {
        row[k] = which == ONE_ROW ? 0 : k / 7;
        /* now and then an entry goes back to what an earlier piece has, or far ahead */
        if (which == ALONG && k % 1000 == 3) row[k] = (k / 2) / 7;
        if (which == SCATTERED) row[k] = (int)((random_value(seed) + 1) / 2 * (ROWS - 1));
        col[k] = (int)((random_value(seed) + 1) / 2 * (COLS - 1));
        values[k] = random_value(seed);
    }
}

static void same_bits(void **state)
{
    (void)state;
    int *row = zeroed(COUNT, sizeof *row), *col = zeroed(COUNT, sizeof *col);
    double *values = doubles(COUNT), *x = doubles(COLS), *y = doubles(ROWS + 1),
           *z = doubles(ROWS + 1);
    for (int which = ALONG; which <= ONE_ROW; ++which) {
        uint64_t seed = (uint64_t)which + 1;
        ga_coords A;
        fill((order)which, row, col, values, &seed);
        for (int i = 0; i < COLS; ++i) x[i] = random_value(&seed);
        assert_int_equal(ga_coords_create(ROWS + 1, COLS, COUNT, row, col, &A), GA_OK);
        ga_coords At = ga_coords_transposed(&A);
        for (int threads = 1; threads <= 3; ++threads) {
            ga_pool *pool;
            assert_int_equal(ga_pool_create(threads, &pool), GA_OK);
            assert_int_equal(ga_coords_use(&A, pool), GA_OK);
            assert_int_equal(A.by_row.pieces, which == ALONG ? 6 : 0);
            assert_int_equal(A.by_col.pieces, 0);
            for (int i = 0; i <= ROWS; ++i) y[i] = z[i] = i;
            ga_coords_multiply_transposed(&At, values, -0.3, x, y);
            ga_coords_multiply(&A, values, -0.3, x, z);
            assert_memory_equal(y, z, (ROWS + 1) * sizeof *y);
            assert_int_equal(ga_coords_use(&A, NULL), GA_OK);
            ga_pool_destroy(pool);
        }
        ga_coords_destroy(&A);
    }
    free(row), free(col), free(values), free(x), free(y), free(z);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
