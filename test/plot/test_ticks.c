/* Ticks: few enough, at round numbers, all of the range covered, labels that say the number. */
#include "plot/scale.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ga_ticks find(ga_plot_scale scale, double low, double high, int most)
{
    ga_ticks ticks;
    const ga_axis axis = {.scale = scale, .low = low, .high = high, .start = 0, .end = 100};
    ga_ticks_find(&axis, most, &ticks);
    return ticks;
}

/* All labels, with blanks between. */
static const char *labels(const ga_ticks *ticks)
{
    static char text[4096];
    text[0] = '\0';
    for (int k = 0; k < ticks->count; ++k)
        if (ticks->tick[k].label[0]) {
            if (text[0]) strcat(text, " ");
            strcat(text, ticks->tick[k].label);
        }
    return text;
}

static void check(ga_plot_scale scale, double low, double high, int most, const char *expected,
                  const char *factor)
{
    const ga_ticks ticks = find(scale, low, high, most);
    assert_string_equal(labels(&ticks), expected);
    assert_string_equal(ticks.factor, factor);
}

#define M "\xe2\x88\x92"
#define X "\xc3\x97"

static void linear_labels(void **state)
{
    (void)state;
    check(GA_SCALE_LINEAR, 0, 1, 6, "0.0 0.2 0.4 0.6 0.8 1.0", "");
    check(GA_SCALE_LINEAR, -3, 7, 6, M "2 0 2 4 6", "");
    check(GA_SCALE_LINEAR, 0, 0.03, 5, "0.00 0.01 0.02 0.03", "");
    check(GA_SCALE_LINEAR, -5e-7, 5e-7, 3, M "5 0 5", X "10^{" M "7}");
    check(GA_SCALE_LINEAR, 0, 3e6, 4, "0 1 2 3", X "10^{6}");
    check(GA_SCALE_LINEAR, 0, 40000, 5, "0 10000 20000 30000 40000", "");
    check(GA_SCALE_LINEAR, 1000000 - 0.02, 1000000 + 0.02, 5, M "0.02 " M "0.01 0.00 0.01 0.02",
          "+1000000");
}

static void log_labels(void **state)
{
    (void)state;
    check(GA_SCALE_LOG, 0.01, 100, 8, "0.01 0.1 1 10 100", "");
    check(GA_SCALE_LOG, 1e-6, 1e-3, 8, "10^{" M "6} 10^{" M "5} 10^{" M "4} 10^{" M "3}", "");
    check(GA_SCALE_LOG, 1e-12, 1, 8,
          "10^{" M "12} 10^{" M "10} 10^{" M "8} 10^{" M "6} 10^{" M "4} 10^{" M "2} 10^{0}",
          "");
    check(GA_SCALE_LOG, 1.5e-5, 8e-5, 8, "2" X "10^{" M "5} 5" X "10^{" M "5}", "");
    check(GA_SCALE_LOG, 1.5, 8, 8, "2 5", "");
    check(GA_SCALE_LOG, 2, 3, 6, "2.0 2.2 2.4 2.6 2.8 3.0", "");
}

/* Thousands of ranges of all sizes: never too many labels, at least one tick, all in range. */
static void any_range(void **state)
{
    (void)state;
    unsigned seed = 3;
    for (int k = 0; k < 20000; ++k) {
        double part[3];
        for (int n = 0; n < 3; ++n) {
            seed = seed * 1664525u + 1013904223u;
            part[n] = (double)(seed >> 8) / (1 << 24);
        }
        const double size = pow(10, 600 * part[0] - 300), low = size * (2 * part[1] - 1);
        const ga_range r = ga_range_fit((ga_range){low, low + size * pow(10, -14 * part[2])},
                                        GA_SCALE_LINEAR, 0.05);
        assert_true(r.low < r.high);
        const int most = 2 + k % 9;
        const ga_ticks ticks = find(GA_SCALE_LINEAR, r.low, r.high, most);
        int major = 0;
        const double slack = 1e-4 * (r.high - r.low);
        for (int n = 0; n < ticks.count; ++n) {
            major += ticks.tick[n].major;
            assert_true(ticks.tick[n].at >= r.low - slack &&
                        ticks.tick[n].at <= r.high + slack);
        }
        assert_in_range(major, 1, most);
    }
}

static void any_log_range(void **state)
{
    (void)state;
    for (int low = -306; low < 306; low += 7)
        for (int high = low + 1; high <= 306; high += 5) {
            const ga_ticks ticks = find(GA_SCALE_LOG, pow(10, low), pow(10, high), 8);
            int major = 0;
            for (int n = 0; n < ticks.count; ++n) major += ticks.tick[n].major;
            assert_in_range(major, 1, 9);
        }
}

static void ranges(void **state)
{
    (void)state;
    ga_range r = ga_range_empty();
    ga_range_add(&r, GA_SCALE_LOG, -1);
    ga_range_add(&r, GA_SCALE_LOG, 0);
    ga_range_add(&r, GA_SCALE_LINEAR, NAN);
    ga_range_add(&r, GA_SCALE_LINEAR, INFINITY);
    assert_true(r.low > r.high);
    r = ga_range_fit(r, GA_SCALE_LINEAR, 0.1);
    assert_true(r.low == 0 && r.high == 1);
    r = ga_range_fit((ga_range){5, 5}, GA_SCALE_LINEAR, 0.1);
    assert_true(r.low < 5 && r.high > 5);
    r = ga_range_fit((ga_range){-1.7e308, 1.7e308}, GA_SCALE_LINEAR, 0.1);
    assert_true(isfinite(r.high - r.low));
    r = ga_range_fit((ga_range){1, 100}, GA_SCALE_LOG, 0.5);
    assert_true(fabs(r.low - 0.1) <= 1e-12);
    assert_true(fabs(r.high - 1000) <= 1e-9);
}

static void places(void **state)
{
    (void)state;
    const ga_axis line = {GA_SCALE_LINEAR, 2, 4, 300, 100};
    assert_true(fabs(ga_axis_place(&line, 3) - 200) <= 1e-12);
    assert_true(fabs(ga_axis_number(&line, 150) - 3.5) <= 1e-12);
    const ga_axis log_axis = {GA_SCALE_LOG, 1e-300, 1e300, 0, 600};
    assert_true(fabs(ga_axis_place(&log_axis, 1e100) - 400) <= 1e-9);
    assert_true(fabs(ga_axis_number(&log_axis, 300) - 1) <= 1e-10);
    assert_false(ga_axis_shows(&log_axis, 0));
    assert_false(ga_axis_shows(&line, NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_labels), cmocka_unit_test(log_labels),
        cmocka_unit_test(any_range),     cmocka_unit_test(any_log_range),
        cmocka_unit_test(ranges),        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
