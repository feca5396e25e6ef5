/* First-order states in a system: broken definitions, and derivatives with respect to states,
 * given or by differences, whatever the units. */
#include "test/support/states.h"

static pb_problem *pendulum_with(states_def def)
{
    pb_problem *inner = NULL, *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &inner), GA_OK);
    assert_int_equal(states_create(inner, &def, &p), GA_OK);
    return p;
}

static void broken_definitions_are_refused(void **state)
{
    (void)state;
    pb_problem *p = pendulum_with((states_def){.size = 1, .decay = 1});
    ga_system system = p->system;
    ga_report report;
    assert_int_equal(ga_system_nq(&system), 2);
    assert_int_equal(ga_system_nv(&system), 4);
    assert_status(ga_system_validate(&system, &report), GA_OK, report);

    const ga_node first[] = {GA_NODE(GA_GROUP_STATE, 2), GA_NODE(GA_GROUP_RN, 2)};
    system.nodes = first;
    assert_status(ga_system_validate(&system, &report), GA_ERR_SYSTEM, report);
    assert_message(report, "these come last");
    const ga_node none[] = {GA_NODE(GA_GROUP_RN, 2), GA_NODE(GA_GROUP_STATE, 0)};
    system.nodes = none;
    assert_status(ga_system_validate(&system, &report), GA_ERR_SYSTEM, report);
    assert_message(report, "n < 1");

    const double sizes[] = {1, -3};
    system = p->system;
    system.state_sizes = sizes;
    assert_status(ga_system_validate(&system, &report), GA_ERR_SYSTEM, report);
    assert_message(report, "state_sizes[1] is -3");
    system.node_count = 1;
    assert_status(ga_system_validate(&system, &report), GA_ERR_SYSTEM, report);
    assert_message(report, "no node is of GA_GROUP_STATE");
    pb_destroy(p);
}

/* C with an error in the derivative of the rate of one state with respect to the other. */
static ga_eval wrong_C(void *user, const ga_point *at, double *C)
{
    const states *s = user;
    const ga_eval answer = states_C(user, at, C);
    C[s->nm + 1 + s->nv * s->nm] *= 1.1;
    return answer;
}

static void derivatives_are_checked(void **state)
{
    (void)state;
    const double sizes[] = {1, 30};
    for (int k = 0; k < 2; ++k) {
        pb_problem *p =
            pendulum_with((states_def){.size = sizes[k], .decay = 1.5, .multipliers = true});
        const double q[2] = {0.3, -0.95}, v[4] = {0.4, 0.2, 0.7 * sizes[k], 2.5 * sizes[k]},
                     lambda[1] = {4};
        const ga_derivative_check_def def = {
            .struct_size = sizeof def, .at = {.t = 0.4, .q = q, .v = v, .lambda = lambda}};
        ga_derivative_check result;
        ga_report report;
        assert_status(ga_system_check(&p->system, &def, &result, &report), GA_OK, report);
        p->system.damping = wrong_C;
        assert_status(ga_system_check(&p->system, &def, &result, &report), GA_ERR_DERIVATIVE,
                      report);
        assert_int_equal(result.worst, GA_DERIVATIVE_DAMPING);
        assert_int_equal(report.row, 3);
        assert_int_equal(report.column, 2);
        pb_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_definitions_are_refused),
        cmocka_unit_test(derivatives_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, states_end);
}
