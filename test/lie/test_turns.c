/* Cosines and sines against those of long double. */
#include "lie/turns.h"

#include "test/support/unit.h"

#include <float.h>
#include <math.h>

enum { N = 1000 };

static double worst;

/* In units of the last place of the result, and not below those of 1/2. */
static void check(int n, const double *x)
{
    double c[N], s[N];
    ga_turns(n, x, c, s);
    for (int k = 0; k < n; ++k) {
        const long double exact[2] = {cosl((long double)x[k]), sinl((long double)x[k])};
        const double got[2] = {c[k], s[k]};
        for (int i = 0; i < 2; ++i) {
            const long double error = fabsl((long double)got[i] - exact[i]);
            const double unit = fabsl(exact[i]) < 0.5L ? 0.25 * DBL_EPSILON : 0.5 * DBL_EPSILON;
            worst = fmax(worst, (double)error / unit);
            if (!(error <= 0.5L * DBL_EPSILON))
                fail_msg("%s(%.17g) is %.17g", i ? "sin" : "cos", x[k], got[i]);
            if (fabs(x[k]) < 1e-3 && i == 1 && !(error <= DBL_EPSILON * fabsl(exact[i])))
                fail_msg("sin(%.17g) is %.17g", x[k], got[i]);
        }
    }
}

static void test_angles(void **state)
{
    (void)state;
    static const double sizes[] = {1e-9, 1e-3, 0.7, 2, 10, 1e3, 1e5, 9.9e5};
    double x[N];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        for (int k = 0; k < N; ++k) x[k] = sizes[i] * sin(1 + 37.7 * k);
        check(N, x);
        check(7, x + 1);
    }
    for (int k = 0; k < N; ++k) x[k] = (k - N / 2) * 0.785398163397448309616;
    check(N, x);
    print_message("largest error: %.2f units in the last place\n", worst);
}

static void test_special(void **state)
{
    (void)state;
    const double x[5] = {0, -0.0, 1e8, INFINITY, NAN};
    double c[5], s[5];
    ga_turns(5, x, c, s);
    assert_true(c[0] == 1 && s[0] == 0 && c[1] == 1 && s[1] == 0);
    assert_true(c[2] == cos(1e8) && s[2] == sin(1e8));
    assert_true(isnan(c[3]) && isnan(s[3]) && isnan(c[4]) && isnan(s[4]));
    ga_turns(0, NULL, NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_angles),
                                       cmocka_unit_test(test_special)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
