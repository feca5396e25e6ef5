/* The choice between methods, case by case. */
#include "integrate/choice.h"

#include "test/support/unit.h"

#include <string.h>

#define ALPHA GA_METHOD_GENERALIZED_ALPHA
#define EXPLICIT GA_METHOD_EXPLICIT
#define RADAU GA_METHOD_RADAU

static const struct {
    const char *why;
    ga_task task;
    ga_method method;
    ga_reason reason;
} first[] = {
    {"steps of fixed size: nothing is known about errors",
     {false, false, 0},
     ALPHA,
     GA_REASON_FIXED},
    {"friction at a joint: powers and forces change sharply near rest",
     {true, true, 1e-6},
     ALPHA,
     GA_REASON_FRICTION},
    {"1 %: high order is of no use", {true, false, 1e-2}, ALPHA, GA_REASON_LOOSE},
    {"the loosest tolerance that is not loose",
     {true, false, 3e-3},
     EXPLICIT,
     GA_REASON_SMOOTH},
    {"many digits", {true, false, 1e-11}, EXPLICIT, GA_REASON_SMOOTH},
};

static void before_the_first_step(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof first / sizeof *first; ++k) {
        const ga_choice got = ga_choose_first(&first[k].task);
        if (got.method != first[k].method || got.trial || got.reason != first[k].reason)
            fail_msg("%s: method %d, reason %d", first[k].why, (int)got.method,
                     (int)got.reason);
    }
}

/* STAY: the method and trial that there were. */
enum { STAY = -1 };

static const struct {
    const char *why;
    ga_standing now;
    int method;
    bool trial;
    ga_reason reason;
} next[] = {
    {"stability asks for 20 steps in all: not stiff",
     {.method = EXPLICIT, .steps = 100, .steps_to_end = 1e4, .steps_for_stability = 20},
     STAY,
     false,
     GA_REASON_NONE},
    {"a chain at its natural steps: few are left, a trial would not pay",
     {.method = EXPLICIT, .steps = 100, .steps_to_end = 200, .steps_for_stability = 4000},
     STAY,
     false,
     GA_REASON_NONE},
    {"fewer still, but certainly limited by stability",
     {.method = EXPLICIT,
      .steps = 100,
      .steps_to_end = 200,
      .steps_for_stability = 500,
      .h_omega = 5},
     RADAU,
     true,
     GA_REASON_TRY},
    {"500 after 20 steps: early enough for the trial to pay",
     {.method = EXPLICIT, .steps = 20, .steps_to_end = 900, .steps_for_stability = 500},
     RADAU,
     true,
     GA_REASON_TRY},
    {"after 5 steps, which are short, their number says nothing",
     {.method = EXPLICIT, .steps = 5, .steps_to_end = 900, .steps_for_stability = 500},
     STAY,
     false,
     GA_REASON_NONE},
    {"stability may be what limits 10,000 steps",
     {.method = EXPLICIT, .steps = 100, .steps_to_end = 1e4, .steps_for_stability = 4000},
     RADAU,
     true,
     GA_REASON_TRY},
    {"generalized-alpha has won a trial, and then its steps collapse",
     {.method = ALPHA,
      .reason = GA_REASON_COARSE,
      .tolerance = 1e-3,
      .steps = 70,
      .steps_to_end = 6e5,
      .gain = 0.004},
     RADAU,
     true,
     GA_REASON_TRY},
    {"a rigid mechanism: steps of radau have become a third",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 10,
      .gain = 0.3,
      .growth = 0.3},
     EXPLICIT,
     false,
     GA_REASON_NO_GAIN},
    {"short at first, but growing",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 10,
      .gain = 0.9,
      .growth = 1.5},
     STAY,
     true,
     GA_REASON_NONE},
    {"as long as before after ten steps: too early to tell",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 10,
      .gain = 1.1,
      .growth = 1.1},
     STAY,
     true,
     GA_REASON_NONE},
    {"three times as long",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 20,
      .gain = 3,
      .growth = 1.1},
     RADAU,
     false,
     GA_REASON_STIFF},
    {"half as long again costs as much",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 20,
      .gain = 1.5,
      .growth = 1.1},
     EXPLICIT,
     false,
     GA_REASON_NO_GAIN},
    {"half as long again and still growing",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .steps = 30,
      .gain = 1.5,
      .growth = 1.3},
     STAY,
     true,
     GA_REASON_NONE},
    {"three times as long, but the tolerance is loose: generalized-alpha may be cheaper",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .tolerance = 1e-4,
      .steps = 20,
      .steps_to_end = 500,
      .gain = 3,
      .growth = 1.1},
     ALPHA,
     true,
     GA_REASON_COMPARE},
    {"the same with few steps left: a comparison would not pay",
     {.method = RADAU,
      .trial = true,
      .before = EXPLICIT,
      .tolerance = 1e-4,
      .steps = 20,
      .steps_to_end = 50,
      .gain = 3,
      .growth = 1.1},
     RADAU,
     false,
     GA_REASON_STIFF},
    {"its steps have hardly begun to grow",
     {.method = ALPHA, .trial = true, .before = RADAU, .steps = 20, .gain = 0.01, .growth = 1},
     STAY,
     true,
     GA_REASON_NONE},
    {"a third of those of radau: cheaper by half",
     {.method = ALPHA, .trial = true, .before = RADAU, .steps = 40, .gain = 0.33, .growth = 1},
     ALPHA,
     false,
     GA_REASON_COARSE},
    {"a sixth: as expensive",
     {.method = ALPHA, .trial = true, .before = RADAU, .steps = 40, .gain = 0.16, .growth = 1},
     RADAU,
     false,
     GA_REASON_STIFF},
    {"generalized-alpha fails where radau did not",
     {.method = ALPHA, .trial = true, .before = RADAU, .failure = GA_ERR_NO_CONVERGE},
     RADAU,
     false,
     GA_REASON_NO_GAIN},
    {"another comparison, after many steps of radau",
     {.method = RADAU,
      .tolerance = 1e-4,
      .lost = 1,
      .steps = 600,
      .steps_to_end = 1e4,
      .h_omega = 40},
     ALPHA,
     true,
     GA_REASON_COMPARE},
    {"the same with a tight tolerance",
     {.method = RADAU,
      .tolerance = 1e-6,
      .lost = 1,
      .steps = 600,
      .steps_to_end = 1e4,
      .h_omega = 40},
     STAY,
     false,
     GA_REASON_NONE},
    {"of generalized-alpha, too",
     {.method = ALPHA,
      .reason = GA_REASON_COARSE,
      .tolerance = 1e-4,
      .lost = 1,
      .steps = 600,
      .steps_to_end = 1e4},
     RADAU,
     true,
     GA_REASON_TRY},
    {"not before",
     {.method = ALPHA,
      .reason = GA_REASON_COARSE,
      .tolerance = 1e-4,
      .lost = 2,
      .steps = 600,
      .steps_to_end = 1e4},
     STAY,
     false,
     GA_REASON_NONE},
    {"radau was tried again, and its steps are four times as long: not enough",
     {.method = RADAU, .trial = true, .before = ALPHA, .steps = 20, .gain = 4, .growth = 1},
     ALPHA,
     false,
     GA_REASON_COARSE},
    {"ten times as long",
     {.method = RADAU,
      .trial = true,
      .before = ALPHA,
      .tolerance = 1e-3,
      .steps = 20,
      .gain = 10,
      .growth = 1},
     RADAU,
     false,
     GA_REASON_STIFF},
    {"early in a run: stability asks for thousands",
     {.method = EXPLICIT, .steps = 10, .steps_to_end = 1e4, .steps_for_stability = 4000},
     RADAU,
     true,
     GA_REASON_TRY},
    {"for hundreds, and the steps are at their limit already",
     {.method = EXPLICIT,
      .steps = 20,
      .steps_to_end = 600,
      .steps_for_stability = 500,
      .h_rho = 6.5},
     RADAU,
     true,
     GA_REASON_TRY},
    {"for hundreds: first steps are short, and tell little",
     {.method = EXPLICIT, .steps = 10, .steps_to_end = 1e4, .steps_for_stability = 500},
     STAY,
     false,
     GA_REASON_NONE},
    {"stiff as before",
     {.method = RADAU, .steps = 50, .steps_to_end = 1e4, .h_omega = 40, .h_rho = 0.1},
     STAY,
     false,
     GA_REASON_NONE},
    {"damped, but stiff",
     {.method = RADAU, .steps = 50, .h_omega = 0.1, .h_rho = 9},
     STAY,
     false,
     GA_REASON_NONE},
    {"the fastest mode is followed",
     {.method = RADAU, .steps = 50, .h_omega = 1, .h_rho = 1},
     EXPLICIT,
     false,
     GA_REASON_RESOLVED},
    {"the explicit method cannot be put on the constraints",
     {.method = EXPLICIT, .failure = GA_ERR_NO_CONVERGE, .steps_to_end = 100},
     ALPHA,
     false,
     GA_REASON_STUCK},
    {"its step has collapsed, with few left when it began",
     {.method = EXPLICIT, .failure = GA_ERR_STEP_SIZE, .steps_to_end = 100},
     ALPHA,
     false,
     GA_REASON_STUCK},
    {"it has given up because of stability",
     {.method = EXPLICIT, .failure = GA_ERR_STEP_SIZE, .steps_to_end = 2e6},
     RADAU,
     false,
     GA_REASON_TOO_STIFF},
    {"radau cannot pass singular positions",
     {.method = RADAU, .failure = GA_ERR_SINGULAR, .steps_to_end = 100},
     ALPHA,
     false,
     GA_REASON_STUCK},
    {"a trial fails: back to what worked",
     {.method = RADAU, .trial = true, .before = EXPLICIT, .failure = GA_ERR_NO_CONVERGE},
     EXPLICIT,
     false,
     GA_REASON_NO_GAIN},
    {"generalized-alpha fails: there is nothing else",
     {.method = ALPHA, .failure = GA_ERR_NO_CONVERGE},
     STAY,
     false,
     GA_REASON_NONE},
    {"its step has collapsed where a brake has stopped its disc",
     {.method = ALPHA, .reason = GA_REASON_FRICTION, .failure = GA_ERR_STEP_SIZE},
     RADAU,
     false,
     GA_REASON_COLLAPSED},
    {"at a loose tolerance",
     {.method = ALPHA, .reason = GA_REASON_LOOSE, .failure = GA_ERR_STEP_SIZE},
     RADAU,
     false,
     GA_REASON_COLLAPSED},
    {"nor does radau get on: there is nothing else",
     {.method = RADAU, .reason = GA_REASON_COLLAPSED, .failure = GA_ERR_STEP_SIZE},
     STAY,
     false,
     GA_REASON_NONE},
    {"a function is not finite: other methods do not help",
     {.method = EXPLICIT, .failure = GA_ERR_NOT_FINITE, .steps_to_end = 100},
     STAY,
     false,
     GA_REASON_NONE},
    {"behind the singular position",
     {.method = ALPHA, .reason = GA_REASON_STUCK, .steps = 30},
     EXPLICIT,
     false,
     GA_REASON_PASSED},
};

static void between_steps(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof next / sizeof *next; ++k) {
        const ga_choice got = ga_choose_next(&next[k].now);
        const int method = next[k].method == STAY ? (int)next[k].now.method : next[k].method;
        if ((int)got.method != method || got.trial != next[k].trial ||
            got.reason != next[k].reason)
            fail_msg("%s: method %d, trial %d, reason %d", next[k].why, (int)got.method,
                     got.trial, (int)got.reason);
    }
}

/* Early in a run there are looks after 5, 10, 20, 40, 80 steps, and then after every 100. */
static void looks_become_rare(void **state)
{
    (void)state;
    const long expected[] = {5, 10, 20, 40, 80, 160, 260};
    long look = ga_choice_first_look();
    for (int k = 0; k < 7; ++k, look = ga_choice_next_look(EXPLICIT, false, look))
        assert_int_equal(look, expected[k]);
}

/* So that n of them cost at most in proportion to the steps. */
static void each_trial_waits_longer(void **state)
{
    (void)state;
    for (int method = ALPHA; method <= EXPLICIT; ++method)
        for (int k = 0; k < 40; ++k) {
            const long now = ga_choice_wait((ga_method)method, false, k),
                       then = ga_choice_wait((ga_method)method, false, k + 1);
            assert_true(now > 0 && then >= now);
            assert_true(k >= 12 || then == 3 * now);
        }
}

static void every_reason_has_words(void **state)
{
    (void)state;
    for (int k = GA_REASON_NONE + 1; k < GA_REASON_COUNT; ++k)
        assert_true(strlen(ga_reason_text((ga_reason)k)) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(before_the_first_step),  cmocka_unit_test(between_steps),
        cmocka_unit_test(looks_become_rare),      cmocka_unit_test(each_trial_waits_longer),
        cmocka_unit_test(every_reason_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
