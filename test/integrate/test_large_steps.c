/* Steps far too large for the motion: the run may fail, but then it says so, and no state is
 * accepted that is off the constraints. A trial gone astray used to loosen the tolerances of
 * the pieces the step was cut into. */
#include "problems/problems.h"
#include "test/support/unit.h"

#include <galpha/galpha.h>
#include <math.h>

static ga_status rolling_disc(pb_problem **out) { return pb_rolling_disc_create(0.1, out); }
static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status chain(pb_problem **out) { return pb_chain_create(20, out); }
static ga_status top(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_R3SO3, out); }

static void test_nothing_absurd_is_accepted(void **state)
{
    (void)state;
    ga_status (*const create[])(pb_problem **) = {pendulum, top, chain, rolling_disc};
    static const double steps[] = {1, 0.1};
    for (int k = 0; k < 4; ++k)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
            for (int i = 0; i < 2; ++i) {
                pb_problem *p = NULL;
                assert_int_equal(create[k](&p), GA_OK);
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                ga_integrator *run = NULL;
                ga_report report;
                assert_int_equal(ga_integrator_create(&p->system, &def, &run, &report), GA_OK);
                ga_status status =
                    ga_integrator_start(run, p->t0, p->q0, p->v0, steps[i], &report);
                for (int n = 0; n < 50 && status == GA_OK; ++n)
                    status = ga_integrator_step(run, &report);
                if (status != GA_OK) assert_true(report.message[0] && report.status == status);
                /* sizes are of order 20 (the chain); 1e-10 is a million roundings of that */
                assert_true(ga_integrator_statistics(run).position_residual_max < 1e-10);
                ga_integrator_destroy(run);
                pb_destroy(p);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nothing_absurd_is_accepted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
