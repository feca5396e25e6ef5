/* Full blocks of a full matrix against loops over their places; nothing else is touched. */
#include "la/full.h"
#include "random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

enum { MOST = 13, LD = 17 };

static void check(uint64_t *seed, int rows, int cols, double scale)
{
    double *x = random_values(seed, rows * cols), *to = random_values(seed, LD * MOST);
    for (int by_rows = 0; by_rows < 2; ++by_rows) {
        double expected[LD * MOST], result[LD * MOST];
        for (int k = 0; k < LD * MOST; ++k) expected[k] = result[k] = to[k];
        for (int j = 0; j < cols; ++j)
            for (int i = 0; i < rows; ++i)
                expected[i + j * LD] += scale * x[by_rows ? i * cols + j : i + j * rows];
        if (by_rows)
            ga_full_add_rows(rows, cols, scale, x, LD, result);
        else
            ga_full_add(rows, cols, scale, x, LD, result);
        assert_memory_equal(result, expected, sizeof result);
    }
    free(x), free(to);
}

static void adds_blocks_of_all_sizes(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int rows = 0; rows <= MOST; ++rows)
        for (int cols = 0; cols <= MOST; ++cols) {
            check(&seed, rows, cols, 1);
            check(&seed, rows, cols, -0.3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adds_blocks_of_all_sizes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
