/* Counting full turns: how far the count may be trusted. */
#include "element/turn.h"
#include "test/support/unit.h"

#include <math.h>

static const double two_pi = 6.283185307179586476925286766559;

static double wrapped(double angle) { return remainder(angle, two_pi); }

/* The mean of two rates is exact under constant acceleration: turns in a step do not matter. */
static void counts_any_number_of_turns(void **state)
{
    (void)state;
    static const double rates[] = {0, 1e-3, 3, -40, 1e4}, accelerations[] = {0, -7, 5e3};
    static const double steps[] = {1e-6, 0.1, 3, 20};
    for (int i = 0; i < 5; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) {
                const double w = rates[i], a = accelerations[j], h = steps[k];
                double memory[GA_TURN_MEMORY], angle = -123.456, t = 5, rate = w;
                ga_turn_commit(memory, t, angle, rate);
                for (int n = 0; n < 20; ++n) {
                    angle += h * (rate + 0.5 * a * h);
                    rate += a * h;
                    t += h;
                    const double x = ga_turn_unwrap(memory, t, wrapped(angle), rate);
                    const double size = fabs(angle) + fabs(h * rate) + t * fabs(rate);
                    assert_true(fabs(x - angle) < 1e-9 + 1e-14 * size);
                    ga_turn_commit(memory, t, x, rate);
                }
            }
}

/* The limit: rates whose mean is off by less than half a turn in the step. Just beyond it the
 * count is off by one, which is why steps in which bodies turn otherwise than their velocities
 * say are not accepted (integrate/step.c). */
static void half_a_turn_is_the_limit(void **state)
{
    (void)state;
    static const double turned[] = {0, 1, -300};
    for (int i = 0; i < 3; ++i) {
        const double h = 0.5;
        double memory[GA_TURN_MEMORY];
        ga_turn_commit(memory, 2, 7, turned[i] / h);
        for (int side = -1; side <= 1; side += 2) {
            const double inside = 7 + turned[i] + side * 0.499 * two_pi;
            const double beyond = 7 + turned[i] + side * 0.501 * two_pi;
            const double a = ga_turn_unwrap(memory, 2 + h, wrapped(inside), turned[i] / h);
            const double b = ga_turn_unwrap(memory, 2 + h, wrapped(beyond), turned[i] / h);
            assert_true(fabs(a - inside) < 1e-11);
            assert_true(fabs(b - (beyond - side * two_pi)) < 1e-11);
        }
    }
}

/* Trial states of Newton's method may have any rate. */
static void any_rate_gives_a_number(void **state)
{
    (void)state;
    static const double rates[] = {INFINITY, -INFINITY, NAN, 1e308};
    double memory[GA_TURN_MEMORY];
    ga_turn_commit(memory, 0, 1, 2);
    for (int i = 0; i < 4; ++i) {
        const double x = ga_turn_unwrap(memory, 1, 0.5, rates[i]);
        assert_true(x == x);
    }
}

/* Memory that is not renewed at an impact goes on from the rate before it. */
static void impacts_need_a_commit(void **state)
{
    (void)state;
    double memory[GA_TURN_MEMORY];
    const double angle = 20, before = 30, after = -15, later = 0.2;
    ga_turn_commit(memory, 1, angle, before);
    ga_turn_commit(memory, 1, angle, after);
    const double expected = angle + later * after;
    const double x = ga_turn_unwrap(memory, 1 + later, wrapped(expected), after);
    assert_true(fabs(x - expected) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_any_number_of_turns),
        cmocka_unit_test(half_a_turn_is_the_limit),
        cmocka_unit_test(any_rate_gives_a_number),
        cmocka_unit_test(impacts_need_a_commit),
    };
    return cmocka_run_group_tests_name("turn", tests, NULL, NULL);
}
