/* Sizes of few numbers against a loop. */
#include "system/norms_few.h"
#include "test/la/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>

#include <math.h>

static void largest_by_kind(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int n = 4; n <= GA_NORM_FEW; ++n)
        for (int repeat = 0; repeat < 20; ++repeat) {
            double *x = random_values(&seed, n), *second = doubles(n);
            const double factor = 1 + random_value(&seed), floor = 0.1 * repeat;
            double expected[2] = {floor, floor}, size[2] = {floor, floor};
            for (int i = 0; i < n; ++i) {
                const int kind = random_below(&seed, 2);
                second[i] = kind;
                expected[kind] = fmax(expected[kind], factor * fabs(x[i]));
            }
            assert_true(ga_norm_raise_few(n, x, second, factor, size) == 0);
            assert_true(size[0] == expected[0] && size[1] == expected[1]);
            free(x), free(second);
        }
}

static void shows_what_is_not_finite(void **state)
{
    (void)state;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int n = 4; n <= GA_NORM_FEW; ++n)
        for (int at = 0; at < n; ++at)
            for (int k = 0; k < 6; ++k) {
                double x[GA_NORM_FEW] = {0}, second[GA_NORM_FEW] = {0}, size[2] = {0, 0};
                x[at] = bad[k % 3];
                second[at] = k / 3;
                assert_true(isnan(ga_norm_raise_few(n, x, second, 1, size)));
            }
}

static void largest_of_all(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int n = 0; n <= GA_NORM_FEW; ++n)
        for (int repeat = 0; repeat < 5; ++repeat) {
            double *x = random_values(&seed, n);
            assert_true(largest_of_few(n, x) == ga_norm_max(n, x));
            for (int k = 0; n > 0 && k < 3; ++k) {
                x[random_below(&seed, n)] = bad[k];
                const double found = largest_of_few(n, x), expected = ga_norm_max(n, x);
                assert_true(found == expected || (isnan(found) && isnan(expected)));
            }
            free(x);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(largest_by_kind),
        cmocka_unit_test(shows_what_is_not_finite),
        cmocka_unit_test(largest_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
