/* Coordinates that are small against lengths inside the constraints: the round-off of Phi is
 * that of the lengths, not of q. And what a run leaves behind when it fails. */
#include "test/support/unit.h"

#include <galpha/galpha.h>
#include <math.h>

/* A point at q on a circle of radius R around (0, R), at rest at the lowest point q = 0. */
typedef struct circle {
    double R, push;
} circle;

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    f[0] = ((const circle *)user)->push * sin(at->t);
    f[1] = 0;
    return GA_EVAL_OK;
}

static ga_eval constraint(void *user, const ga_point *at, double *Phi)
{
    double R = ((const circle *)user)->R;
    *Phi = hypot(at->q[0], at->q[1] - R) - R;
    return GA_EVAL_OK;
}

static ga_eval gradient(void *user, const ga_point *at, double *B)
{
    double R = ((const circle *)user)->R, r = hypot(at->q[0], at->q[1] - R);
    B[0] = at->q[0] / r;
    B[1] = (at->q[1] - R) / r;
    return GA_EVAL_OK;
}

static const ga_node plane = GA_NODE(GA_GROUP_RN, 2);

static ga_system circle_system(circle *c)
{
    return (ga_system){.struct_size = sizeof(ga_system),
                       .user = c,
                       .node_count = 1,
                       .nodes = &plane,
                       .mass = mass,
                       .force = force,
                       .constraint_count = 1,
                       .constraint = constraint,
                       .gradient = gradient};
}

/* x'' = push sin t to first order in x/R, so x(1) = push (1 - sin 1); q stays below 2e-3 while
 * Phi is known to eps R only. */
static void test_small_against_the_radius(void **state)
{
    (void)state;
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (double R = 0.333; R < 1e4; R *= 10)
            for (int adaptive = 0; adaptive < 2; ++adaptive) {
                circle c = {R, 0.01};
                ga_system system = circle_system(&c);
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                ga_integrator *run = NULL;
                ga_report report;
                assert_int_equal(ga_integrator_create(&system, &def, &run, &report), GA_OK);
                ga_simulation s = ga_simulation_default();
                s.t_end = 1;
                s.step = 0.01;
                s.control.relative = adaptive ? 1e-4 : 0;
                const double rest[2] = {0, 0};
                if (ga_integrator_simulate(run, 0, rest, rest, &s, &report))
                    fail_msg("form %d, R %g: %s", form, R, report.message);
                /* 1e-4 of 1.6e-3 and the curvature (x/R)^2 are far below this */
                assert_true(fabs(ga_integrator_q(run)[0] - 0.01 * (1 - sin(1))) < 2e-6);
                ga_integrator_destroy(run);
            }
}

static ga_eval fails_later(void *user, const ga_sample *at, double *g)
{
    (void)user;
    *g = 1;
    return at->t > 0.55 ? GA_EVAL_FATAL : GA_EVAL_OK;
}

/* After a failed run time and state still belong together. */
static void test_stepping_on_after_a_failure(void **state)
{
    (void)state;
    circle c = {1, 0.01};
    ga_system system = circle_system(&c);
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    const double rest[2] = {0, 0};
    assert_int_equal(ga_integrator_create(&system, &def, &run, &report), GA_OK);
    ga_simulation s = ga_simulation_default();
    s.t_end = 1;
    s.step = 0.1;
    s.control.relative = 0;
    s.events.count = 1;
    s.events.function = fails_later;
    assert_int_equal(ga_integrator_simulate(run, 0, rest, rest, &s, &report), GA_ERR_CALLBACK);
    double t = ga_integrator_time(run);
    assert_true(fabs(t - 0.5) < 1e-12);
    assert_int_equal(ga_integrator_step(run, &report), GA_OK);
    assert_true(fabs(ga_integrator_time(run) - (t + 0.1)) < 1e-12);
    ga_integrator_destroy(run);
}

/* A run of no length leaves no step size behind; a step by hand needs one. */
static void test_no_length(void **state)
{
    (void)state;
    circle c = {1, 0.01};
    ga_system system = circle_system(&c);
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    const double rest[2] = {0, 0};
    assert_int_equal(ga_integrator_create(&system, &def, &run, &report), GA_OK);
    ga_simulation s = ga_simulation_default();
    s.t_end = 0;
    assert_int_equal(ga_integrator_simulate(run, 0, rest, rest, &s, &report), GA_OK);
    assert_int_equal(ga_integrator_step(run, &report), GA_ERR_STATE);
    assert_int_equal(ga_integrator_step_by(run, 0.01, &report), GA_OK);
    ga_integrator_destroy(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_against_the_radius),
        cmocka_unit_test(test_stepping_on_after_a_failure),
        cmocka_unit_test(test_no_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
