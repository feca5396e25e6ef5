/* First-order states beside q and v: second order in q, v, x, v', x', lambda and psi, for every
 * formulation, with fixed and with alternating steps, where rates depend on multipliers, on
 * R^n, R3xSO(3) and SE(3). Errors of x and v are judged together; so each problem is run with
 * states that are small numbers, whose errors are hidden behind those of v, and with states
 * that are large ones, whose errors hide those of v. */
#include "ladder.h"
#include "test/support/states.h"

#define WRAP(name, call, s, uses)                                                              \
    static ga_status name(pb_problem **out)                                                    \
    {                                                                                          \
        pb_problem *inner = NULL;                                                              \
        const states_def def = {.size = s, .decay = 1.5, .multipliers = uses};                 \
        ga_status status = call;                                                               \
        return status ? status : states_create(inner, &def, out);                              \
    }

static pb_stick_slip_def sliding_def;

WRAP(pendulum_small, pb_pendulum_create(0.2, &inner), 1e-3, true)
WRAP(pendulum_large, pb_pendulum_create(0.2, &inner), 1e3, true)
WRAP(free_large, pb_oscillator_create(20, 5, 0.3, &inner), 1e3, false)
WRAP(free_small, pb_oscillator_create(20, 5, 0.3, &inner), 1e-3, false)
WRAP(top_small, pb_heavy_top_create(GA_GROUP_R3SO3, &inner), 1e-3, false)
WRAP(top_large, pb_heavy_top_create(GA_GROUP_SE3, &inner), 1e3, false)
WRAP(body_small, pb_rheonomic_body_create(&inner), 1e-3, true)
WRAP(body_large, pb_rheonomic_body_create(&inner), 1e3, true)
WRAP(sleigh_small, pb_sleigh_create(GA_GROUP_R2SO2, &inner), 1e-3, true)
WRAP(sleigh_large, pb_sleigh_create(GA_GROUP_SE2, &inner), 1e3, true)
WRAP(sliding_large, pb_stick_slip_create(&sliding_def, &inner), 1e3, true)

static const ladder_row free_rows[] = {
    {free_small, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {free_large, GA_INDEX3, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {free_large, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_IMPLICIT, 2, 128, 4, 0},
    {free_large, GA_SOI2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {free_large, GA_HHT_I3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
};

static const ladder_row pendulum_rows[] = {
    {pendulum_small, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pendulum_small, GA_INDEX3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    {pendulum_small, GA_SOI2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    {pendulum_small, GA_HHT_I3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    {pendulum_large, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pendulum_large, GA_INDEX3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    {pendulum_large, GA_SOI2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    {pendulum_large, GA_HHT_I3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
};

static const ladder_row alternating_rows[] = {
    {pendulum_large, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, ALTERNATING},
    {pendulum_large, GA_INDEX3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, ALTERNATING},
    {pendulum_large, GA_SOI2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, ALTERNATING},
    {pendulum_small, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, ALTERNATING},
    {pendulum_small, GA_INDEX3, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, ALTERNATING},
};

static const ladder_row group_rows[] = {
    {top_small, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_AUTO, 0.2, 512, 3, SLOW},
    {top_small, GA_INDEX3, RHO_9, GA_MAP_EXP, GA_START_AUTO, 0.2, 512, 3, SLOW},
    {top_large, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_AUTO, 0.2, 512, 3, SLOW | ETA_VANISHES},
    {top_large, GA_INDEX3, RHO_9, GA_MAP_EXP, GA_START_AUTO, 0.2, 512, 3, SLOW},
    {body_small, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 640, 4, 0},
    {body_large, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 640, 4, 0},
    {body_large, GA_INDEX2, RHO_9, GA_MAP_CAYLEY, GA_START_AUTO, 2, 640, 4, 0},
};

static const ladder_row nonholonomic_rows[] = {
    {sleigh_small, GA_INDEX2, RHO_5 | RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 256, 3, 0},
    {sleigh_large, GA_INDEX2, RHO_5 | RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 256, 3, 0},
    {sleigh_large, GA_INDEX3, RHO_5 | RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 256, 3, 0},
    {sleigh_large, GA_SOI2, RHO_5 | RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 256, 3, 0},
    {sliding_large, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_AUTO, 2, 256, 3, ETA_VANISHES},
};

static void test_unconstrained(void **state)
{
    (void)state;
    LADDER_TABLE(free_rows);
}

static void test_pendulum(void **state)
{
    (void)state;
    LADDER_TABLE(pendulum_rows);
}

static void test_changing_steps(void **state)
{
    (void)state;
    LADDER_TABLE(alternating_rows);
}

static void test_groups(void **state)
{
    (void)state;
    LADDER_TABLE(group_rows);
}

static void test_nonholonomic(void **state)
{
    (void)state;
    sliding_def = pb_stick_slip_sliding();
    LADDER_TABLE(nonholonomic_rows);
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unconstrained),  cmocka_unit_test(test_pendulum),
        cmocka_unit_test(test_changing_steps), cmocka_unit_test(test_groups),
        cmocka_unit_test(test_nonholonomic),
    };
    return cmocka_run_group_tests(tests, NULL, states_end);
}
