/* Curves through points: they pass through them, are as smooth as they say, reproduce the
 * polynomials they should, and know their breaks. */
#include "data/function_table.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>

#define PI 3.14159265358979323846

enum { SPLINES = 3, OUTSIDES = 3, POINTS = 9 };

static const double times[POINTS] = {-1, -0.4, 0.1, 0.3, 1, 1.7, 2, 3.1, 4};
static const double values[POINTS] = {2, 1, 3, 3, 3, -2, 0.5, 1, 2};

static ga_table *table_of(int count, const double *t, const double *x, ga_spline spline,
                          ga_outside outside)
{
    ga_table *table = NULL;
    assert_int_equal(ga_table_create(count, t, x, spline, outside, &table), GA_OK);
    return table;
}

static void assert_near(double got, double expected, double tolerance)
{
    if (!(fabs(got - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g +- %g", got, expected, tolerance);
}

static void test_interpolates(void **state)
{
    (void)state;
    for (int s = 0; s < SPLINES; ++s)
        for (int o = 0; o < OUTSIDES; ++o)
            for (int count = 2; count <= POINTS; ++count) {
                ga_table *table = table_of(count, times, values, (ga_spline)s, (ga_outside)o);
                const bool jumps = o == GA_OUTSIDE_REPEAT && values[0] != values[count - 1];
                for (int i = 0; i < count - jumps; ++i) {
                    double out[3];
                    ga_table_rates(table, times[i], out);
                    assert_near(out[0], values[i], 1e-14);
                }
                ga_table_destroy(table);
            }
    ga_table_destroy(NULL);
}

/* The jump of derivative `order` at t, from both sides so near that the derivatives do not
 * change by more than about 1e-6. */
static double jump(const ga_table *table, double t, int order)
{
    double left[3], right[3];
    ga_table_rates(table, t - 1e-9, left);
    ga_table_rates(table, t + 1e-9, right);
    return fabs(right[order] - left[order]);
}

static void test_smoothness(void **state)
{
    (void)state;
    for (int s = 0; s < SPLINES; ++s) {
        ga_table *table = table_of(POINTS, times, values, (ga_spline)s, GA_OUTSIDE_HOLD);
        const int smooth = s == GA_SPLINE_LINEAR ? 0 : s == GA_SPLINE_AKIMA ? 1 : 2;
        for (int i = 1; i < POINTS - 1; ++i)
            for (int order = 0; order <= smooth; ++order)
                assert_near(jump(table, times[i], order), 0, 1e-6);
        if (smooth < 2) assert_true(jump(table, times[4], smooth + 1) > 0.1);
        ga_table_destroy(table);
    }
}

/* The first derivative is that of the value, the second that of the first: pieces are cubics
 * at most, so the quotients are exact but for h^2 f'''/6. */
static void test_derivatives(void **state)
{
    (void)state;
    const double h = 1e-4;
    for (int s = 0; s < SPLINES; ++s)
        for (int o = 0; o < OUTSIDES; ++o) {
            ga_table *table = table_of(POINTS, times, values, (ga_spline)s, (ga_outside)o);
            for (double t = -8.123; t < 11; t += 0.377) {
                double before[3], here[3], after[3];
                ga_table_rates(table, t - h, before);
                ga_table_rates(table, t, here);
                ga_table_rates(table, t + h, after);
                assert_near((after[0] - before[0]) / (2 * h), here[1], 1e-5);
                assert_near((after[1] - before[1]) / (2 * h), here[2], 1e-5);
            }
            ga_table_destroy(table);
        }
}

/* Polynomials of a degree through `count` of the points, uneven or even. */
static void check_polynomial(ga_spline spline, int count, int degree, bool even)
{
    double t[POINTS], x[POINTS];
    const double c[4] = {0.3, -1.2, 0.7, degree < 3 ? 0 : 0.4};
    for (int i = 0; i < count; ++i) {
        t[i] = even ? 0.25 * i : times[i];
        x[i] = c[0] + t[i] * (c[1] + (degree > 1 ? t[i] * (c[2] + t[i] * c[3]) : 0));
    }
    ga_table *table = table_of(count, t, x, spline, GA_OUTSIDE_HOLD);
    for (int k = 0; k < 50; ++k) {
        const double s = t[0] + (t[count - 1] - t[0]) * k / 50;
        double out[3];
        ga_table_rates(table, s, out);
        assert_near(out[0], c[0] + s * (c[1] + (degree > 1 ? s * (c[2] + s * c[3]) : 0)),
                    1e-12);
        assert_near(out[1], c[1] + (degree > 1 ? s * (2 * c[2] + 3 * s * c[3]) : 0), 1e-12);
        assert_near(out[2], degree > 1 ? 2 * c[2] + 6 * s * c[3] : 0, 1e-11);
    }
    ga_table_destroy(table);
}

static void test_reproduces_polynomials(void **state)
{
    (void)state;
    for (int count = 2; count <= POINTS; ++count)
        for (int s = 0; s < SPLINES; ++s) check_polynomial((ga_spline)s, count, 1, false);
    for (int count = 3; count <= POINTS; ++count) {
        check_polynomial(GA_SPLINE_CUBIC, count, 2, false);
        check_polynomial(GA_SPLINE_AKIMA, count, 2, true);
    }
    for (int count = 4; count <= POINTS; ++count)
        check_polynomial(GA_SPLINE_CUBIC, count, 3, false);
}

/* A sine over its period: fourth order for the cubic spline, also where the period closes. */
static double sine_error(ga_spline spline, int count)
{
    const double period = 2;
    double t[65], x[65], worst = 0;
    for (int i = 0; i < count; ++i) {
        t[i] = 0.5 + period * i / (count - 1);
        x[i] = i < count - 1 ? sin(PI * t[i]) : x[0];
    }
    ga_table *table = table_of(count, t, x, spline, GA_OUTSIDE_REPEAT);
    for (double s = -3; s < 9; s += 0.0117) {
        double out[3];
        ga_table_rates(table, s, out);
        worst = fmax(worst, fabs(out[0] - sin(PI * s)));
    }
    ga_table_destroy(table);
    return worst;
}

static void test_periodic(void **state)
{
    (void)state;
    const double ratio = sine_error(GA_SPLINE_CUBIC, 33) / sine_error(GA_SPLINE_CUBIC, 65);
    assert_true(ratio > 15 && ratio < 17);
    assert_true(sine_error(GA_SPLINE_AKIMA, 65) < 1e-3);

    /* Smooth where it closes, with every number of points. */
    for (int count = 3; count <= POINTS; ++count) {
        double x[POINTS];
        memcpy(x, values, sizeof x);
        x[count - 1] = x[0];
        ga_table *table = table_of(count, times, x, GA_SPLINE_CUBIC, GA_OUTSIDE_REPEAT);
        for (int k = -3; k < 4; ++k)
            for (int order = 0; order < 3; ++order)
                assert_near(jump(table, times[0] + k * (times[count - 1] - times[0]), order), 0,
                            1e-6);
        assert_true(isinf(ga_table_next_break(table, 0)));
        ga_table_destroy(table);
    }
}

/* Akima's point: a corner does not ring two points away, and flat stays flat. */
static void test_akima_is_local(void **state)
{
    (void)state;
    const double t[8] = {0, 1, 2, 3, 4, 5, 6, 7}, x[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    ga_table *table = table_of(8, t, x, GA_SPLINE_AKIMA, GA_OUTSIDE_HOLD);
    for (double s = 0; s < 7; s += 0.1) {
        double out[3];
        ga_table_rates(table, s, out);
        if (s < 3) assert_near(out[0], 0, 0);
        if (s > 4) assert_near(out[0], 1, 0);
        assert_true(out[0] >= 0 && out[0] <= 1);
    }
    ga_table_destroy(table);
}

/* The curve of a long flat piece beside a steep one: values of SciPy's Akima1DInterpolator. */
static void test_akima_ends(void **state)
{
    (void)state;
    const double t[8] = {0, 2, 2.05, 2.15, 2.25, 2.3, 2.4, 3};
    const double x[8] = {0, 0, 0.06, 0.06, 0.06, 0, 0, 0};
    double out[3], at;
    ga_table *table = table_of(8, t, x, GA_SPLINE_AKIMA, GA_OUTSIDE_HOLD);
    ga_table_rates(table, 0, out);
    assert_near(out[1], -0.6, 1e-13);
    ga_table_rates(table, 1, out);
    assert_near(out[0], -0.3, 1e-13);
    const double beyond = ga_table_overshoot(table, &at);
    ga_table_rates(table, at, out);
    assert_near(out[1], 0, 1e-12);
    assert_near(beyond, -out[0] / 0.06, 1e-12);
    ga_table_destroy(table);
    /* one more flat point keeps it flat */
    const double t2[7] = {0, 1, 2, 2.05, 2.15, 2.25, 2.35};
    const double x2[7] = {0, 0, 0, 0.06, 0.06, 0.06, 0.06};
    table = table_of(7, t2, x2, GA_SPLINE_AKIMA, GA_OUTSIDE_HOLD);
    for (double s = 0; s < 2; s += 0.1) {
        ga_table_rates(table, s, out);
        assert_near(out[0], 0, 0);
    }
    assert_true(ga_table_overshoot(table, &at) < 0.1);
    ga_table_destroy(table);
}

/* Against sampling. */
static void test_overshoot(void **state)
{
    (void)state;
    for (int s = 0; s < SPLINES; ++s)
        for (int count = 2; count <= POINTS; ++count) {
            double low = INFINITY, high = -INFINITY, most = 0, at, out[3];
            for (int i = 0; i < count; ++i) {
                low = fmin(low, values[i]);
                high = fmax(high, values[i]);
            }
            ga_table *table = table_of(count, times, values, (ga_spline)s, GA_OUTSIDE_HOLD);
            for (int k = 0; k <= 20000; ++k) {
                const double span = times[count - 1] - times[0];
                ga_table_rates(table, times[0] + span * k / 20000, out);
                most = fmax(most, fmax(out[0] - high, low - out[0]) / (high - low));
            }
            assert_near(ga_table_overshoot(table, &at), most, 1e-6);
            ga_table_destroy(table);
        }
}

static void test_outside(void **state)
{
    (void)state;
    const double t[3] = {0, 1, 3}, x[3] = {1, 2, 6};
    double out[3];
    ga_table *table = table_of(3, t, x, GA_SPLINE_LINEAR, GA_OUTSIDE_HOLD);
    ga_table_rates(table, -5, out);
    assert_near(out[0], 1, 0);
    assert_near(out[1], 0, 0);
    ga_table_rates(table, 3, out); /* at a break, what follows */
    assert_near(out[0], 6, 0);
    assert_near(out[1], 0, 0);
    ga_table_rates(table, 1, out);
    assert_near(out[1], 2, 0);
    ga_table_destroy(table);

    table = table_of(3, t, x, GA_SPLINE_LINEAR, GA_OUTSIDE_EXTEND);
    ga_table_rates(table, -5, out);
    assert_near(out[0], -4, 0);
    ga_table_rates(table, 5, out);
    assert_near(out[0], 10, 1e-15);
    assert_near(out[1], 2, 0);
    ga_table_destroy(table);

    table = table_of(3, t, x, GA_SPLINE_LINEAR, GA_OUTSIDE_REPEAT);
    for (int k = -2; k <= 2; ++k) {
        ga_table_rates(table, 0.25 + 3 * k, out);
        assert_near(out[0], 1.25, 1e-14);
    }
    ga_table_destroy(table);

    /* Cubic: straight on with the slope at the end. */
    table = table_of(POINTS, times, values, GA_SPLINE_CUBIC, GA_OUTSIDE_EXTEND);
    for (int end = 0; end < 2; ++end) {
        const double at = times[end ? POINTS - 1 : 0];
        assert_near(jump(table, at, 0), 0, 1e-6);
        assert_near(jump(table, at, 1), 0, 1e-6);
        ga_table_rates(table, at + (end ? 2 : -2), out);
        assert_near(out[2], 0, 0);
    }
    ga_table_destroy(table);
}

/* Walks through the breaks from `t` on and compares with a list. */
static void check_breaks(const ga_table *table, double t, int count, const double *expected)
{
    for (int k = 0; k < count; ++k) {
        t = ga_table_next_break(table, t);
        assert_near(t, expected[k], isinf(expected[k]) ? 0 : 4e-15 * fabs(expected[k]));
    }
}

static void test_breaks(void **state)
{
    (void)state;
    const double t[3] = {0, 1, 3}, x[3] = {1, 2, 6}, closed[3] = {1, 2, 1}, none = INFINITY;
    const double all[] = {0, 1, 3}, inside[] = {1}, ends[] = {0, 3}, again[] = {3, 4, 6, 7, 9};
    const double joints[] = {3, 6, 9, 12};
    const struct {
        ga_spline spline;
        ga_outside outside;
        const double *x;
        double from;
        int count;
        const double *breaks;
        bool end;
    } cases[] = {
        {GA_SPLINE_LINEAR, GA_OUTSIDE_HOLD, x, -1, 3, all, true},
        {GA_SPLINE_AKIMA, GA_OUTSIDE_HOLD, x, -1, 3, all, true},
        {GA_SPLINE_AKIMA, GA_OUTSIDE_EXTEND, x, -1, 3, all, true},
        {GA_SPLINE_LINEAR, GA_OUTSIDE_EXTEND, x, -1, 1, inside, true},
        {GA_SPLINE_CUBIC, GA_OUTSIDE_HOLD, x, -1, 2, ends, true},
        {GA_SPLINE_CUBIC, GA_OUTSIDE_EXTEND, x, -1, 2, ends, true},
        {GA_SPLINE_LINEAR, GA_OUTSIDE_REPEAT, x, 1, 5, again, false},
        {GA_SPLINE_AKIMA, GA_OUTSIDE_REPEAT, closed, 1, 5, again, false},
        {GA_SPLINE_CUBIC, GA_OUTSIDE_REPEAT, x, 1.5, 4, joints, false},
        {GA_SPLINE_CUBIC, GA_OUTSIDE_REPEAT, closed, 1.5, 0, NULL, true},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        ga_table *table = table_of(3, t, cases[k].x, cases[k].spline, cases[k].outside);
        check_breaks(table, cases[k].from, cases[k].count, cases[k].breaks);
        if (cases[k].end) {
            const double last = cases[k].count ? cases[k].breaks[cases[k].count - 1] : -7;
            assert_true(ga_table_next_break(table, last) == none);
        }
        ga_table_destroy(table);
    }
}

/* Periods that are no binary fractions: breaks go forward by about a period, and at the time
 * given the slope is already the next one. */
static void test_breaks_far_away(void **state)
{
    (void)state;
    const double t[3] = {0.1, 0.2, 0.4}, x[3] = {0, 1, 0};
    ga_table *table = table_of(3, t, x, GA_SPLINE_LINEAR, GA_OUTSIDE_REPEAT);
    double now = 0.15;
    for (int k = 0; k < 20000; ++k) {
        const double next = ga_table_next_break(table, now);
        double out[3];
        assert_true(next > now + (k % 2 || k == 0 ? 0.04 : 0.09));
        assert_true(next < now + 0.21);
        ga_table_rates(table, next, out);
        assert_near(out[1], k % 2 ? 10 : -5, 1e-12);
        now = next;
    }
    ga_table_destroy(table);
}

static void test_too_steep(void **state)
{
    (void)state;
    const double t[3] = {0, 1e-300, 1}, x[3] = {0, 1e10, 0};
    for (int s = 0; s < SPLINES; ++s) {
        ga_table *table = NULL;
        assert_int_equal(ga_table_create(3, t, x, (ga_spline)s, GA_OUTSIDE_HOLD, &table),
                         GA_ERR_INPUT);
        assert_null(table);
    }
}

static void test_failing_allocations(void **state)
{
    (void)state;
    if (!in_front()) skip();
    for (int s = 0; s < SPLINES; ++s)
        for (long k = 1;; ++k) {
            ga_table *table = NULL;
            start_counting(k, false);
            const ga_status status =
                ga_table_create(POINTS, times, values, (ga_spline)s, GA_OUTSIDE_REPEAT, &table);
            stop_counting();
            ga_table_destroy(table);
            assert_int_equal(watch.live, 0);
            if (status == GA_OK) break;
            assert_int_equal(status, GA_ERR_MEMORY);
            assert_null(table);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interpolates),
        cmocka_unit_test(test_smoothness),
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_reproduces_polynomials),
        cmocka_unit_test(test_periodic),
        cmocka_unit_test(test_akima_is_local),
        cmocka_unit_test(test_akima_ends),
        cmocka_unit_test(test_overshoot),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_breaks_far_away),
        cmocka_unit_test(test_too_steep),
        cmocka_unit_test(test_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
