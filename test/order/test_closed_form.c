/* Order on problems whose solution is known in closed form: free ones, a pendulum, and two with
 * constraints that depend on time, on R^n and on Lie groups. */
#include "ladder.h"

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status pendulum_x0(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status oscillator(pb_problem **out) { return pb_oscillator_create(20, 5, 0.3, out); }

/* Without constraints the formulations coincide, and methods without damping at infinity are
 * fine. */
static const ladder_row free_rows[] = {
    {oscillator, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {oscillator, GA_INDEX3, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {oscillator, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_IMPLICIT, 2, 128, 4, 0},
    {oscillator, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_PLAIN, 2, 128, 4, 0},
    {pb_free_top_create, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pb_free_top_create, GA_INDEX2, ALL, GA_MAP_CAYLEY, GA_START_AUTO, 2, 128, 4, 0},
    {pb_free_top_create, GA_INDEX3, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pb_free_top_create, GA_INDEX2, ALL, GA_MAP_CAYLEY, GA_START_IMPLICIT, 2, 128, 4, 0},
};

static const ladder_row index3_rows[] = {
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PERTURBED, 2, 128, 4, 0},
    {pendulum, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_PLAIN, 2, 320, 3, 0},
    {pendulum_x0, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pb_rheonomic_create, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 128, 3, 0},
    /* body axis and direction come close at t = 1: lambda_4 is ill-conditioned there, large
     * steps are not yet asymptotic and small ones soon meet round-off */
    {pb_rheonomic_body_create, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 512, 3, 0},
    {pb_rheonomic_body_create, GA_INDEX3, DAMPED, GA_MAP_CAYLEY, GA_START_AUTO, 2, 512, 3, 0},
    {pb_rheonomic_body_create, GA_INDEX3, RHO_ALL, GA_MAP_EXP, GA_START_PLAIN, 2, 512, 3, 0},
};

static const ladder_row index2_rows[] = {
    {pendulum, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_SHIFTED, 2, 128, 4, 0},
    {pendulum, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_IMPLICIT, 2, 128, 4, 0},
    {pendulum_x0, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pb_rheonomic_create, GA_INDEX2, ALL, GA_MAP_EXP, GA_START_AUTO, 2, 128, 4, 0},
    {pb_rheonomic_create, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_IMPLICIT, 2, 128, 4, 0},
    {pb_rheonomic_body_create, GA_INDEX2, RHO_0, GA_MAP_EXP, GA_START_AUTO, 2, 1024, 4, 0},
    {pb_rheonomic_body_create, GA_INDEX2, RHO_0, GA_MAP_CAYLEY, GA_START_AUTO, 2, 1024, 4, 0},
    {pb_rheonomic_body_create, GA_INDEX2, DAMPED & ~RHO_0, GA_MAP_EXP, GA_START_AUTO, 2, 640, 4,
     SLOW},
    {pb_rheonomic_body_create, GA_INDEX2, DAMPED & ~RHO_0, GA_MAP_CAYLEY, GA_START_AUTO, 2, 640,
     4, SLOW},
    {pb_rheonomic_body_create, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_IMPLICIT, 2, 640, 4, 0},
    {pb_rheonomic_body_create, GA_INDEX2, RHO_9, GA_MAP_CAYLEY, GA_START_IMPLICIT, 2, 640, 4,
     0},
};

static void test_unconstrained(void **state)
{
    (void)state;
    LADDER_TABLE(free_rows);
}

static void test_index3(void **state)
{
    (void)state;
    LADDER_TABLE(index3_rows);
}

static void test_index2(void **state)
{
    (void)state;
    LADDER_TABLE(index2_rows);
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unconstrained),
        cmocka_unit_test(test_index3),
        cmocka_unit_test(test_index2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
