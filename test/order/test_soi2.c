/* Order of SOI2, [JN08] eq. (13), in q, v, v', lambda, psi, and in a where there is an exact
 * solution; Phi = 0, B v + Phi_t = 0 and k = 0 at every step. On Lie groups, with rheonomic
 * constraints and with M(q,t), where the paper has R^n and Phi(q). */
#include "ladder.h"

static ga_status top_r3so3(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }
static ga_status model(pb_problem **out) { return pb_pendulum_model_create(NULL, out); }
static ga_status chain(pb_problem **out) { return pb_chain_create(5, out); }
static ga_status disc(pb_problem **out) { return pb_rolling_disc_create(0, out); }
static ga_status sleigh_r2so2(pb_problem **out)
{
    return pb_sleigh_create(GA_GROUP_R2SO2, out);
}
static ga_status sleigh_se2(pb_problem **out) { return pb_sleigh_create(GA_GROUP_SE2, out); }

enum { C = AT_ROUND_OFF, RHOS = RHO_0 | RHO_2 | RHO_8 };

/* [JN08] eq. (15): M not constant, forces nonlinear in lambda and psi. */
static const ladder_row test_rows[] = {
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C},
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C | ALTERNATING},
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_PLAIN, 1, 80, 4, C | ALTERNATING},
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4, C | REDUCED},
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 80, 4,
     C | REDUCED | ALTERNATING},
};

static const ladder_row rows[] = {
    {model, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C},
    {model, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, C | ALTERNATING},
    {pb_rheonomic_create, GA_SOI2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4, C},
    {pb_rheonomic_create, GA_SOI2, RHO_2, GA_MAP_EXP, GA_START_AUTO, 2, 160, 4,
     C | ALTERNATING},
    {pb_rheonomic_body_create, GA_SOI2, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 2, 640, 3, C},
    {pb_rheonomic_body_create, GA_SOI2, RHO_8, GA_MAP_CAYLEY, GA_START_AUTO, 2, 640, 3, C},
    {pb_rheonomic_body_create, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 2, 640, 3,
     C | ALTERNATING},
    {top_r3so3, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.25, 512, 3, C},
    {top_r3so3, GA_SOI2, RHO_2, GA_MAP_EXP, GA_START_AUTO, 0.25, 1024, 3, C},
    {top_r3so3, GA_SOI2, RHO_8, GA_MAP_CAYLEY, GA_START_AUTO, 0.25, 512, 3, C},
    {top_r3so3, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.25, 512, 3, C | ALTERNATING},
    {top_se3, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.25, 1024, 3, C},
    {top_se3, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.25, 1024, 3, C | ALTERNATING},
    {disc, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C},
    {disc, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C | ALTERNATING},
    {disc, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C | REDUCED},
    {disc, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.5, 256, 3, C | REDUCED | ALTERNATING},
    {sleigh_r2so2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_r2so2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C | ALTERNATING},
    {sleigh_r2so2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4,
     C | REDUCED | ALTERNATING},
    {sleigh_se2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4, C},
    {sleigh_se2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 160, 4,
     C | REDUCED | ALTERNATING},
    {pb_andrews_relative_create, GA_SOI2, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.01, 256,
     4, C},
    {pb_andrews_relative_create, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 0.01, 256, 4,
     C | ALTERNATING},
    {chain, GA_SOI2, RHO_2 | RHO_8, GA_MAP_EXP, GA_START_AUTO, 1, 256, 4, C},
    {chain, GA_SOI2, RHO_8, GA_MAP_EXP, GA_START_AUTO, 1, 512, 4, C | ALTERNATING},
};

static void test_problem(void **state)
{
    (void)state;
    LADDER_TABLE(test_rows);
}

static void test_mechanics(void **state)
{
    (void)state;
    LADDER_TABLE(rows);
}

/* --- without (14) ----------------------------------------------------------------------------
 */

/* Alternating steps, and nothing done about it: first order in a, v' and the multipliers. In
 * [JN08] eq. (15) nothing is left free by the constraints, so q and v do not suffer; in the
 * sleigh every pair of steps adds (1 - rho)(h1 - h2)^2/(6 (1 + rho)) v'' to v. */
static const ladder_row unadjusted_rows[] = {
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 320, 4,
     ALTERNATING | UNADJUSTED},
    {pb_jn08_test_create, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 1, 320, 4,
     ALTERNATING | UNADJUSTED | REDUCED},
    {sleigh_r2so2, GA_SOI2, RHOS, GA_MAP_EXP, GA_START_AUTO, 3, 320, 4,
     ALTERNATING | UNADJUSTED},
};

static void test_without_adjustment(void **state)
{
    const ladder_range falls = first_order;
    int failures = 0;
    (void)state;
    for (size_t k = 0; k < sizeof unadjusted_rows / sizeof *unadjusted_rows; ++k) {
        const ladder_row *row = &unadjusted_rows[k];
        pb_problem *problem = NULL;
        assert_int_equal(row->create(&problem), GA_OK);
        const bool free = !problem->system.constraint_count;
        ladder_reference r =
            ladder_reference_at(problem, row->t_end / 2, row->t_end, row->steps / 2 + 1);
        ladder_range range[KINDS] = {second_order, second_order, falls};
        if (free) range[POSITION] = range[VELOCITY] = falls;
        if (!free) range[MULTIPLIER] = falls;
        range[PSI] = range[SHIFTED] = falls;
        for (unsigned bit = 1; bit < 1u << METHODS; bit <<= 1) {
            if (!(row->methods & bit)) continue;
            const ladder_job job = {.system = &problem->system,
                                    .problem = problem,
                                    .def = ladder_definition(row, bit),
                                    .t_end = row->t_end,
                                    .alternating = true,
                                    .reference = &r};
            ladder l = ladder_climb(job, row, bit);
            if (!ladder_holds(&l, range)) ++failures;
        }
        ladder_reference_free(&r);
        pb_destroy(problem);
    }
    assert_int_equal(failures, 0);
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_problem),
        cmocka_unit_test(test_mechanics),
        cmocka_unit_test(test_without_adjustment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
