/* Order on published mechanisms. Their solutions come from the oracle, which is held against
 * the published values first: better than 1e-9 relative to the larger of 1 and the component,
 * where the smallest errors judged here are above 1e-6. */
#include "ladder.h"

static ga_status top_r3so3(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }
static ga_status model(pb_problem **out) { return pb_pendulum_model_create(NULL, out); }
static ga_status chain(pb_problem **out) { return pb_chain_create(5, out); }

/* The joint is fixed in the body: on SE(3) both maps stay on the constraints. */
static const ladder_row top_rows[] = {
    {top_r3so3, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 2048, 3, 0},
    {top_r3so3, GA_INDEX2, RHO_5 | RHO_9 | HHT_ALL, GA_MAP_EXP, GA_START_AUTO, 1, 2048, 3, 0},
    {top_r3so3, GA_INDEX2, RHO_2 | WBZ_5, GA_MAP_EXP, GA_START_AUTO, 1, 4096, 3, SLOW},
    {top_r3so3, GA_INDEX2, RHO_0, GA_MAP_EXP, GA_START_AUTO, 1, 8192, 3, SLOW},
    {top_r3so3, GA_INDEX3, RHO_ALL | HHT_1, GA_MAP_CAYLEY, GA_START_AUTO, 1, 2048, 3, SLOW},
    {top_r3so3, GA_INDEX2, RHO_ALL & ~RHO_0, GA_MAP_CAYLEY, GA_START_AUTO, 1, 2048, 3, 0},
    {top_r3so3, GA_INDEX2, RHO_0, GA_MAP_CAYLEY, GA_START_AUTO, 1, 4096, 3, SLOW},
    {top_r3so3, GA_INDEX3, RHO_9, GA_MAP_EXP, GA_START_PLAIN, 1, 2048, 3, 0},
    {top_r3so3, GA_INDEX2, RHO_9, GA_MAP_EXP, GA_START_IMPLICIT, 1, 2048, 3, 0},
    {top_se3, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 4096, 3, SLOW},
    {top_se3, GA_INDEX2, RHO_ALL, GA_MAP_EXP, GA_START_AUTO, 1, 4096, 3, ETA_VANISHES | SLOW},
    {top_se3, GA_INDEX3, RHO_ALL | HHT_1, GA_MAP_CAYLEY, GA_START_AUTO, 1, 4096, 3, SLOW},
    {top_se3, GA_INDEX2, RHO_9, GA_MAP_CAYLEY, GA_START_AUTO, 1, 4096, 3, ETA_VANISHES},
    {top_se3, GA_INDEX3, RHO_9, GA_MAP_EXP, GA_START_PLAIN, 1, 4096, 3, 0},
};

static const ladder_row planar_rows[] = {
    {model, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, 0},
    {model, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 2, 256, 4, 0},
    {model, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_IMPLICIT, 2, 256, 4, 0},
    {pb_slider_crank_create, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 1024, 4, SLOW},
    {pb_slider_crank_create, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 1024, 4, 0},
    {chain, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 256, 4, 0},
    {chain, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 1, 256, 4, 0},
};

/* The faster the mechanism turns, the smaller the steps that are asymptotic: rho 0 would need
 * h < 2e-6 up to t = 0.03. */
static const ladder_row andrews_rows[] = {
    {pb_andrews_relative_create, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 0.01, 256, 3, 0},
    {pb_andrews_relative_create, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 0.01, 256, 4, 0},
    {pb_andrews_relative_create, GA_INDEX3, RHO_5 | RHO_9 | HHT_ALL, GA_MAP_EXP, GA_START_AUTO,
     0.03, 1024, 4, SLOW},
    {pb_andrews_relative_create, GA_INDEX2, RHO_5 | RHO_9 | HHT_ALL, GA_MAP_EXP, GA_START_AUTO,
     0.03, 1024, 4, SLOW},
    {pb_andrews_absolute_create, GA_INDEX3, DAMPED, GA_MAP_EXP, GA_START_AUTO, 0.01, 256, 3,
     SLOW},
    {pb_andrews_absolute_create, GA_INDEX2, DAMPED, GA_MAP_EXP, GA_START_AUTO, 0.01, 256, 4, 0},
};

static void expect_close(const char *what, int n, const double *x, const double *known,
                         double tolerance)
{
    for (int i = 0; known && i < n; ++i)
        if (!(fabs(x[i] - known[i]) <= tolerance * fmax(1, fabs(known[i]))))
            fail_msg("%s, component %d: %.15g instead of %.15g", what, i, x[i], known[i]);
}

/* Against every state that is known at the end of an interval. */
static void test_oracle(void **state)
{
    ga_status (*const create[])(pb_problem **) = {
        top_r3so3,
        top_se3,
        model,
        pb_slider_crank_create,
        pb_andrews_relative_create,
        pb_andrews_absolute_create,
    };
    (void)state;
    for (size_t k = 0; k < sizeof create / sizeof *create; ++k) {
        pb_problem *problem = NULL;
        assert_int_equal(create[k](&problem), GA_OK);
        const pb_reference *known = &problem->references[problem->reference_count - 1];
        double end = known->t - problem->t0;
        ladder_reference r = ladder_reference_at(problem, end, end, 1);
        double tolerance = fmax(1e-9, known->accuracy);
        assert_true(end > 0);
        assert_true(tolerance <= 1e-8);
        expect_close(problem->name, r.nq, r.q, known->q, tolerance);
        expect_close(problem->name, r.nv, r.v, known->v, tolerance);
        expect_close(problem->name, r.nv, r.vd, known->vd, tolerance);
        expect_close(problem->name, r.m, r.lambda, known->lambda, tolerance);
        ladder_reference_free(&r);
        pb_destroy(problem);
    }
}

/* And against closed forms, one of them with rotations, M(q,t) and Phi(q,t). */
static void test_oracle_in_closed_form(void **state)
{
    ga_status (*const create[])(pb_problem **) = {pb_free_top_create, pb_rheonomic_create,
                                                  pb_rheonomic_body_create};
    (void)state;
    for (size_t k = 0; k < sizeof create / sizeof *create; ++k) {
        pb_problem *problem = NULL;
        assert_int_equal(create[k](&problem), GA_OK);
        ladder_reference exact = ladder_reference_at(problem, 0.7, 0.7, 1);
        problem->exact = NULL;
        ladder_reference r = ladder_reference_at(problem, 0.7, 0.7, 1);
        expect_close(problem->name, r.nq, r.q, exact.q, 1e-11);
        expect_close(problem->name, r.nv, r.v, exact.v, 1e-11);
        expect_close(problem->name, r.nv, r.vd, exact.vd, 1e-10);
        expect_close(problem->name, r.m, r.lambda, exact.lambda, 1e-10);
        ladder_reference_free(&exact);
        ladder_reference_free(&r);
        pb_destroy(problem);
    }
}

static void test_heavy_tops(void **state)
{
    (void)state;
    LADDER_TABLE(top_rows);
}

static void test_planar(void **state)
{
    (void)state;
    LADDER_TABLE(planar_rows);
}

static void test_andrews(void **state)
{
    (void)state;
    LADDER_TABLE(andrews_rows);
}

int main(int argc, char **argv)
{
    (void)argv;
    ladder_prints_all = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_oracle),     cmocka_unit_test(test_oracle_in_closed_form),
        cmocka_unit_test(test_heavy_tops), cmocka_unit_test(test_planar),
        cmocka_unit_test(test_andrews),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
