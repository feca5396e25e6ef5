/* The stopping rule of Newton's method, case by case. Numbers are in units of tolerances. */
#include "integrate/verdict.h"

#include "test/support/unit.h"

#include <math.h>
#include <stdio.h>

enum { FRESH = 1, NEAR = 2, NOISE = 4, NEGLIGIBLE = 8, ESTIMATES = 16 };

/* Two increments of an attempt; the first may be absent (iteration 1). */
typedef struct row {
    const char *reason;
    ga_newton_decision expected;
    int iteration;
    double q[2], v[2], lambda[2]; /* before, now */
    double units;                 /* now */
    int flags;                    /* of both */
    double age;
    int settled, stalled;  /* before */
    double tolerance;      /* 0: the goal is round-off */
    double hidden_rate;    /* of the goal */
    double rate_per_step;  /* remembered, from the last step */
    double foreseen;       /* coefficient of q and v remembered; 0: none */
    double round_off;      /* remembered level; 0: 1 */
    double noise;          /* round-off of q, v and lambda */
    double velocity_units; /* of v alone; 0: as units */
} row;

static ga_increment increment(const row *r, int which)
{
    return (ga_increment){
        .iteration = r->iteration - 1 + which,
        .fresh = r->flags & FRESH,
        .age = r->flags & FRESH ? 0 : r->age,
        .norm = {r->q[which], r->v[which], r->lambda[which]},
        .noise = {r->noise, r->noise, r->noise},
        .units = {r->units, r->velocity_units > 0 ? r->velocity_units : r->units},
        .lambda = r->lambda[which],
        .near_round_off = r->flags & NEAR,
        .lambda_is_noise = r->flags & NOISE,
        .next_is_negligible = r->flags & NEGLIGIBLE,
    };
}

static ga_newton_decision judge(const row *r)
{
    ga_newton_goal goal = {.round_off = r->tolerance == 0,
                           .estimates = r->flags & ESTIMATES,
                           .may_foresee = r->foreseen > 0,
                           .strictness = 1,
                           .hidden_rate = r->hidden_rate};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress before = {.settled = r->settled, .stalled = r->stalled};
    if (r->round_off > 0) memory.round_off = r->round_off;
    if (r->rate_per_step > 0) {
        memory.rate_per_step = r->rate_per_step;
        memory.steps_unseen = 1;
    }
    for (int k = 0; k < GA_KINDS && r->foreseen > 0; ++k)
        for (int fresh = 0; fresh < 2; ++fresh) {
            memory.second[fresh].coefficient[k] = r->foreseen;
            memory.second[fresh].steps_left = 1;
        }
    if (r->iteration > 1) before.last = increment(r, 0);
    const ga_increment now = increment(r, 1);
    return ga_newton_verdict(&goal, &memory, &before, &now);
}

#define BEYOND 1e9 /* units of an increment far above round-off */

/* clang-format off */
static const row rows[] = {
    /* first increments */
    {"no credit: above its tolerance",
     GA_GO_ON, 1, {0, 0.1}, {0, 1.1}, {0, 0.1}, BEYOND, FRESH, .tolerance = 1},
    {"all below their tolerances",
     GA_CONVERGED, 1, {0, 0.1}, {0, 0.9}, {0, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"lambda counts as well",
     GA_GO_ON, 1, {0, 0.1}, {0, 0.9}, {0, 1.5}, BEYOND, FRESH, .tolerance = 1},
    {"never divergence, however large",
     GA_GO_ON, 1, {0, 1e20}, {0, 1e30}, {0, 1e40}, BEYOND, .age = 5},
    {"new tangents that left the square, times 4, in steps before",
     GA_CONVERGED, 1, {0, 10}, {0, 10}, {0, 10}, BEYOND, FRESH, .tolerance = 1, .foreseen = 1e-3},
    {"... but not enough of it",
     GA_GO_ON, 1, {0, 10}, {0, 30}, {0, 10}, BEYOND, FRESH, .tolerance = 1, .foreseen = 1e-3},
    {"old tangents that lost 1e-3 a step, times 4",
     GA_CONVERGED, 1, {0, 10}, {0, 10}, {0, 10}, BEYOND, 0, 20, .tolerance = 1, .foreseen = 1e-3},
    {"... but not when they are older",
     GA_GO_ON, 1, {0, 10}, {0, 10}, {0, 10}, BEYOND, 0, 50, .tolerance = 1, .foreseen = 1e-3},
    {"not a number",
     GA_GIVE_UP, 1, {0, NAN}, {0, 1}, {0, 1}, BEYOND, FRESH, .age = 0},
    {"overflow",
     GA_GIVE_UP, 2, {1, INFINITY}, {1, 1}, {1, 1}, BEYOND, FRESH, .age = 0},

    /* contraction */
    {"rate 0.01 leaves a hundredth",
     GA_CONVERGED, 2, {5000, 50}, {1, 0.5}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"rate 0.1 leaves five",
     GA_GO_ON, 2, {450, 45}, {1, 0.5}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"the slowest kind decides",
     GA_GO_ON, 2, {5000, 50}, {5000, 50}, {450, 45}, BEYOND, FRESH, .tolerance = 1},
    {"old tangents: third increments were ten times slower",
     GA_GO_ON, 2, {5000, 50}, {1, 0.5}, {1, 0.5}, BEYOND, 0, 5, .tolerance = 1, .rate_per_step = 0.02},
    {"... when they were younger, they were good enough",
     GA_CONVERGED, 2, {5000, 50}, {1, 0.5}, {1, 0.5}, BEYOND, 0, 0.9, .tolerance = 1, .rate_per_step = 0.02},
    {"old tangents of which nothing is known get no credit",
     GA_GO_ON, 2, {5000, 50}, {1, 0.5}, {1, 0.5}, BEYOND, 0, 5, .tolerance = 1},
    {"two systems that do not see each other's errors: at least 0.05",
     GA_GO_ON, 2, {5000, 50}, {1, 0.5}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1, .hidden_rate = 0.05},

    {"new tangents: q is at round-off, and v gains its last digits",
     GA_CONVERGED, 2, {9e3, 6e3}, {1e9, 1e4}, {1e6, 10}, 1, FRESH | NEGLIGIBLE, .velocity_units = 5},
    {"... not yet all of them, and q does not contract",
     GA_NEW_TANGENT, 2, {9e3, 6e3}, {1e9, 1e4}, {1e6, 10}, 1, FRESH, .velocity_units = 5},
    {"... and old tangents leave a part of every increment",
     GA_NEW_TANGENT, 2, {9e3, 6e3}, {1e9, 1e4}, {1e6, 10}, 1, NEGLIGIBLE, 1, .velocity_units = 5},
    {"below its tolerance, but rate 0.9 leaves nine times as much",
     GA_GO_ON, 3, {1, 0.5}, {1.05, 0.945}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"... which is round-off, and does not contract",
     GA_CONVERGED, 3, {1, 0.5}, {1.05, 0.945}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1, .noise = 1},
    {"so far below its tolerance that any rate will do",
     GA_CONVERGED, 2, {1, 0.5}, {0.01, 0.02}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"the goal is round-off: no contraction is expected below it",
     GA_CONVERGED, 2, {0.9, 0.95}, {0.9, 0.95}, {0.9, 0.95}, BEYOND, FRESH, .age = 0},

    /* new tangents, or the end */
    {"old tangents: three more of these would not do",
     GA_NEW_TANGENT, 2, {1e6, 5e5}, {1, 0.5}, {1, 0.5}, BEYOND, 0, 3, .tolerance = 1},
    {"old tangents: three more will do",
     GA_GO_ON, 2, {1e4, 100}, {1, 0.5}, {1, 0.5}, BEYOND, 0, 3, .tolerance = 1},
    {"old tangents: three more will not reach the tolerance, but round-off above it",
     GA_GO_ON, 2, {1e9, 1e7}, {1e9, 1e7}, {1e9, 1e7}, BEYOND, 0, 3, .noise = 1e3},
    {"... whose level may be higher with old tangents only",
     GA_NEW_TANGENT, 2, {1e9, 1e7}, {1e9, 1e7}, {1e9, 1e7}, BEYOND, 0, 3, .noise = 1e3, .round_off = 1e3},
    {"... but estimates of errors want good tangents",
     GA_NEW_TANGENT, 2, {1e9, 1e7}, {1e9, 1e7}, {1e9, 1e7}, BEYOND, ESTIMATES, 3, .noise = 1e3},
    {"new tangents are given five",
     GA_GO_ON, 2, {1e4, 1e3}, {1, 0.5}, {1, 0.5}, BEYOND, FRESH, .tolerance = 1},
    {"a second increment may grow, after a good prediction",
     GA_NEW_TANGENT, 2, {10, 15}, {10, 15}, {10, 15}, BEYOND, FRESH, .tolerance = 1},
    {"but not double",
     GA_GIVE_UP, 2, {10, 25}, {10, 25}, {10, 25}, BEYOND, FRESH, .tolerance = 1},
    {"a late one may not even stay",
     GA_GIVE_UP, 4, {10, 9.8}, {10, 9.8}, {10, 9.8}, BEYOND, FRESH, .tolerance = 1},
    {"one kind that still contracts is reason to go on",
     GA_NEW_TANGENT, 4, {10, 9.8}, {10, 2}, {10, 9.8}, BEYOND, FRESH, .tolerance = 1},

    /* round-off */
    {"q, v and lambda at round-off, and nothing more to come",
     GA_CONVERGED, 2, {100, 0.8}, {100, 0.8}, {1e9, 1e6}, 0.8, FRESH | NEAR | NOISE | NEGLIGIBLE, .age = 0},
    {"old tangents make no promises: once again",
     GA_GO_ON, 2, {100, 0.8}, {100, 0.8}, {1e9, 1e6}, 0.8, NEAR | NOISE | NEGLIGIBLE, .age = 3},
    {"... and after round-off had been reached the increment may go up",
     GA_GO_ON, 4, {3, 5}, {1, 0.8}, {1e6, 1e6}, 5, NEAR | NOISE | NEGLIGIBLE, 3, .settled = 1},
    {"... but not for long: they do not show its level",
     GA_NEW_TANGENT, 5, {3, 5}, {1, 0.8}, {1e6, 1e6}, 5, NEAR | NOISE | NEGLIGIBLE, 3, .settled = 1},
    {"something more to come: once again",
     GA_GO_ON, 2, {100, 0.8}, {100, 0.8}, {1e9, 1e6}, 0.8, FRESH | NEAR | NOISE, .age = 0},
    {"for the second time",
     GA_CONVERGED, 3, {1, 0.8}, {1, 0.8}, {1e6, 1e6}, 0.8, FRESH | NEAR | NOISE, .settled = 1},
    {"lambda contracts: wait for it",
     GA_GO_ON, 3, {1, 0.8}, {1, 0.8}, {1e9, 1e6}, 0.8, FRESH | NEAR, .settled = 1},
    {"lambda flickers: it is round-off of Phi by h^2",
     GA_CONVERGED, 3, {1, 0.8}, {1, 0.8}, {1e6, 9e5}, 0.8, FRESH | NEAR, .settled = 1},
    {"lambda contracts for ever: not waited for any more",
     GA_CONVERGED, 5, {1, 0.8}, {1, 0.8}, {1e9, 1e6}, 0.8, FRESH | NEAR, .settled = 3},
    {"a level seen before is round-off, too",
     GA_CONVERGED, 2, {1e5, 300}, {1e5, 300}, {1e9, 1e8}, 300, FRESH | NEAR | NOISE | NEGLIGIBLE, .round_off = 400},
    {"... and above it, it is not",
     GA_GO_ON, 2, {1e5, 3000}, {1e5, 3000}, {1e9, 1e7}, 3000, FRESH | NEAR | NOISE | NEGLIGIBLE, .round_off = 400},
    {"no progress near round-off: once may be bad luck",
     GA_GO_ON, 3, {50, 40}, {50, 40}, {50, 40}, 40, FRESH | NEAR, .age = 0},
    {"twice is the end",
     GA_CONVERGED, 4, {50, 40}, {50, 40}, {50, 40}, 40, FRESH | NEAR, .stalled = 1},
    {"no progress far from it is failure",
     GA_GIVE_UP, 4, {50, 49}, {50, 49}, {50, 49}, BEYOND, FRESH, .stalled = 1},
    {"old tangents do not show round-off",
     GA_NEW_TANGENT, 3, {50, 40}, {50, 40}, {50, 40}, 40, NEAR, 3, .stalled = 1},
};
/* clang-format on */

static void verdicts(void **state)
{
    (void)state;
    static const char *const names[] = {"go on", "converged", "new tangent", "give up"};
    int failures = 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k) {
        const ga_newton_decision verdict = judge(&rows[k]);
        if (verdict == rows[k].expected) continue;
        fprintf(stderr, "%s: %s, expected %s\n", rows[k].reason, names[verdict],
                names[rows[k].expected]);
        ++failures;
    }
    assert_int_equal(failures, 0);
}

/* The level of round-off is learned from two increments without progress, and forgotten. */
static void learns_round_off(void **state)
{
    (void)state;
    const ga_newton_goal goal = {.round_off = true, .strictness = 1};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress progress = {0};
    const double sizes[] = {1e3, 60, 50, 45};
    for (int k = 0; k < 4; ++k) {
        const ga_increment now = {.iteration = k + 1,
                                  .fresh = true,
                                  .norm = {sizes[k], sizes[k], sizes[k]},
                                  .units = {sizes[k], sizes[k]},
                                  .lambda = sizes[k],
                                  .near_round_off = sizes[k] < 100};
        ga_newton_learn(&goal, &progress, &now, &memory);
        ga_newton_follow(&memory, &now, &progress);
    }
    assert_true(fabs(memory.round_off - 45) <= 1e-12);
    for (int step = 0; step < 200; ++step) ga_newton_fade(&memory, true);
    assert_true(fabs(memory.round_off - 1) <= 1e-12);
}

/* After good contraction one increment without progress is enough. */
static void sudden_stall_is_round_off(void **state)
{
    (void)state;
    const ga_newton_goal goal = {.round_off = true, .strictness = 1};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress progress = {0};
    const double sizes[] = {1e6, 60, 50};
    const ga_newton_decision expected[] = {GA_GO_ON, GA_GO_ON, GA_CONVERGED};
    for (int k = 0; k < 3; ++k) {
        const ga_increment now = {.iteration = k + 1,
                                  .fresh = true,
                                  .norm = {sizes[k], sizes[k], 1e6 * sizes[k]},
                                  .units = {sizes[k], sizes[k]},
                                  .lambda = sizes[k],
                                  .near_round_off = sizes[k] < 100};
        assert_int_equal(ga_newton_verdict(&goal, &memory, &progress, &now), expected[k]);
        ga_newton_learn(&goal, &progress, &now, &memory);
        ga_newton_follow(&memory, &now, &progress);
    }
    assert_true(fabs(memory.round_off - 50) <= 1e-12);
}

/* What old tangents lose in a step is learned from third increments only: second ones, after a
 * good prediction, are faster. */
static void learns_rates_of_old_tangents(void **state)
{
    (void)state;
    const ga_newton_goal goal = {.strictness = 1};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress progress = {0};
    const double sizes[] = {1e6, 1e3, 200};
    for (int k = 0; k < 3; ++k) {
        const ga_increment now = {.iteration = k + 1,
                                  .age = 4,
                                  .norm = {sizes[k], sizes[k], sizes[k]},
                                  .units = {1e9, 1e9}};
        ga_newton_learn(&goal, &progress, &now, &memory);
        ga_newton_follow(&memory, &now, &progress);
        if (k == 1) assert_true(fabs(memory.rate_per_step - 0) <= 1e-12);
    }
    assert_true(fabs(memory.rate_per_step - 0.05) <= 1e-12);
    assert_true(fabs(memory.motion_rate_per_step - 0.05) <= 1e-12);
    assert_int_equal(memory.steps_unseen, 0);
}

/* lambda that suddenly contracts a hundred times more slowly than before shows its round-off.
 */
static void learns_noise_of_lambda(void **state)
{
    (void)state;
    const ga_newton_goal goal = {.round_off = true, .strictness = 1};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress progress = {0};
    const double motion[] = {1e9, 2e3, 1e-2}, lambda[] = {1e10, 1e5, 7e3};
    for (int k = 0; k < 3; ++k) {
        const ga_increment now = {.iteration = k + 1,
                                  .fresh = true,
                                  .norm = {motion[k], motion[k], lambda[k]},
                                  .units = {motion[k], motion[k]},
                                  .lambda = lambda[k],
                                  .near_round_off = motion[k] < 1e4};
        ga_newton_learn(&goal, &progress, &now, &memory);
        ga_newton_follow(&memory, &now, &progress);
    }
    assert_true(fabs(memory.lambda_noise - 7e3) <= 1e-12);
}

/* Increments of a rheonomic body with new tangents in every iteration: round-off makes them go
 * up and down in turns, and each time one of the three kinds falls by half. */
static void test_round_off_in_turns(void **state)
{
    (void)state;
    static const double norms[][GA_KINDS] = {
        {4e9, 3e9, 5e9},   {2e3, 4e3, 9e4},   {1.05, 3.17, 265}, {4.09, 1.97, 124},
        {1.06, 3.39, 281}, {3.65, 1.98, 140}, {1.06, 3.14, 262}, {4.10, 2.09, 120}};
    enum { COUNT = sizeof norms / sizeof *norms };
    const ga_newton_goal goal = {.round_off = true, .strictness = 1};
    ga_newton_memory memory = ga_newton_memory_empty();
    ga_progress progress = {0};
    ga_newton_decision verdict = GA_GO_ON;
    for (int k = 0; k < COUNT && verdict != GA_CONVERGED; ++k) {
        ga_increment now = {.iteration = k + 1, .fresh = true, .near_round_off = k > 1};
        for (int i = 0; i < GA_KINDS; ++i) now.norm[i] = now.noise[i] = norms[k][i];
        now.units[0] = now.units[1] = fmax(now.norm[GA_POSITION], now.norm[GA_VELOCITY]);
        now.lambda = 1e-12 * now.norm[GA_MULTIPLIERS];
        verdict = ga_newton_verdict(&goal, &memory, &progress, &now);
        assert_int_not_equal(verdict, GA_GIVE_UP);
        ga_newton_learn(&goal, &progress, &now, &memory);
        ga_newton_follow(&memory, &now, &progress);
    }
    assert_int_equal(verdict, GA_CONVERGED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_off_in_turns),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(learns_round_off),
        cmocka_unit_test(sudden_stall_is_round_off),
        cmocka_unit_test(learns_rates_of_old_tangents),
        cmocka_unit_test(learns_noise_of_lambda),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
