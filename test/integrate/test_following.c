/* What a step is told in advance, and what is looked at behind it: extrapolation on sequences
 * it is exact for, states off the constraints, which are not accepted, and copies of states. */
#include "handle/integrator.h"
#include "test/support/cases.h"

#include <math.h>

/* 2 - 3 n + n^2/4 at whole numbers. */
static double sequence(int n) { return 2 - 3 * n + 0.25 * n * n; }

/* Numbers are below 20: round-off of a sum of three of them with factors up to 3. */
static const double ROUND_OFF = 1e-13;

static void parabolas_are_followed(void **state)
{
    (void)state;
    double x0[1] = {sequence(4)}, before[2][1] = {{sequence(3)}, {sequence(2)}}, result[1];
    double *old[2] = {before[0], before[1]};
    ga_stepper s = {.step.h = 0.1};
    s.now.steps = 7;
    s.now.h = s.now.h_old = 0.1;
    ga_step_extrapolate(&s, 1, x0, old, result);
    assert_true(fabs(result[0] - sequence(5)) <= ROUND_OFF);
}

/* A converged trial is moved off its constraints behind the back of Newton's method: nothing of
 * it is taken over, and the message names the constraint. */
static void states_off_the_constraints_are_refused(void **state)
{
    (void)state;
    for (int formulation = 0; formulation < 2; ++formulation) {
        pb_problem *p = case_create(CASE_PENDULUM);
        ga_integrator_def def = ga_integrator_def_default();
        def.formulation = formulation ? GA_INDEX2 : GA_INDEX3;
        ga_integrator *run = NULL;
        ga_report report;
        assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
        assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 0.01, &report), GA_OK,
                      report);
        ga_stepper *s = run->stepper;
        const double t = s->now.t, x = s->now.q[0];
        assert_int_equal(ga_step_try(s, 0.01, t + 0.01), GA_OK);
        for (int i = 0; i < s->nq; ++i) s->trial.q[i] += 1e-3;
        assert_int_equal(ga_step_accept(s), GA_ERR_NO_CONVERGE);
        assert_int_equal(s->newton.unmet, 0);
        assert_true(s->now.t == t && s->now.q[0] == x);
        assert_true(ga_integrator_statistics(run).position_residual_max < 1e-12);
        ga_newton_explain(s, GA_ERR_NO_CONVERGE, &report);
        assert_non_null(strstr(report.message, "violates constraint 0"));
        /* and it goes on as if nothing had been */
        assert_int_equal(ga_step_try(s, 0.01, t + 0.01), GA_OK);
        assert_int_equal(ga_step_accept(s), GA_OK);
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

/* However loose the tolerance of the errors is: round-off, by the sizes met on the way. */
static void constraints_are_at_round_off(void **state)
{
    (void)state;
    static const case_name names[] = {CASE_PENDULUM_SIDE, CASE_TOP_R3SO3,      CASE_TOP_SE3,
                                      CASE_SLIDER_CRANK,  CASE_RHEONOMIC_BODY, CASE_CHAIN};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); ++k)
        for (int form = 0; form < 2; ++form)
            for (double tolerance = 1e-2; tolerance > 1e-5; tolerance /= 10) {
                pb_problem *p = case_create(names[k]);
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = form ? GA_INDEX2 : GA_INDEX3;
                ga_integrator *run = NULL;
                ga_report report;
                assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK,
                              report);
                ga_simulation s = ga_simulation_default();
                s.t_end = p->t0 + 200 * case_step(names[k]);
                s.control.relative = s.control.absolute_translation =
                    s.control.absolute_rotation = tolerance;
                assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report),
                              GA_OK, report);
                const ga_scales *scale = &run->stepper->policy.scale;
                const double size = scale->q[0] + scale->q[1],
                             speed = scale->v[0] + scale->v[1];
                const ga_statistics work = ga_integrator_statistics(run);
                if (!(work.position_residual_max <= 3e-13 * size))
                    fail_msg("%s, index %d, %g: |Phi| = %g, sizes %g", p->name, 3 - form,
                             tolerance, work.position_residual_max, size);
                if (form && !(work.velocity_residual_max <= 8e-12 * (size + speed)))
                    fail_msg("%s, %g: |w| = %g, speeds %g", p->name, tolerance,
                             work.velocity_residual_max, speed);
                ga_integrator_destroy(run);
                pb_destroy(p);
            }
}

static bool same_states(const ga_state *x, const ga_state *y)
{
    return x->t == y->t && x->h == y->h && x->steps == y->steps &&
           memcmp(x->memory, y->memory, x->memory_size * sizeof *x->memory) == 0;
}

static void copies_are_the_same(ga_stepper *s)
{
    ga_state_copy(&s->saved, &s->now);
    assert_true(same_states(&s->saved, &s->now));
}

/* Of a start only the first part is copied: the rest has to be what steps have not touched, or
 * what they leave has to go. */
static void copies_are_whole(void **state)
{
    (void)state;
    for (int formulation = 0; formulation < GA_FORMULATION_COUNT; ++formulation) {
        pb_problem *p = case_create(CASE_TOP_R3SO3);
        ga_integrator_def def = ga_integrator_def_default();
        def.formulation = (ga_formulation)formulation;
        ga_integrator *run = NULL;
        ga_report report;
        assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
        ga_stepper *s = run->stepper;
        for (int again = 0; again < 2; ++again) { /* then over a state with steps */
            assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                          report);
            copies_are_the_same(s);
            copies_are_the_same(s);
            for (int k = 1; k <= 4; ++k) {
                assert_int_equal(ga_step_try(s, 1e-3, p->t0 + k * 1e-3), GA_OK);
                assert_int_equal(ga_step_accept(s), GA_OK);
                if (k == 1) { /* back to the start, and once more */
                    ga_state_copy(&s->now, &s->saved);
                    assert_true(s->now.steps == 0 && same_states(&s->now, &s->saved));
                    assert_int_equal(ga_step_try(s, 1e-3, p->t0 + 1e-3), GA_OK);
                    assert_int_equal(ga_step_accept(s), GA_OK);
                }
                copies_are_the_same(s);
            }
        }
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parabolas_are_followed),
        cmocka_unit_test(states_off_the_constraints_are_refused),
        cmocka_unit_test(constraints_are_at_round_off),
        cmocka_unit_test(copies_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
