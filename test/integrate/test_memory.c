/* Memory: a step allocates nothing, and whichever allocation fails, the call says so and
 * nothing leaks. With sanitizers or valgrind, see test/support/allocations.h, only the plain
 * runs are made. */
#include "test/support/allocations.h"
#include "test/support/cases.h"

#if INTERPOSED
static void *(*volatile take_zeroed)(size_t count, size_t size) = calloc;
static void *(*volatile resize)(void *memory, size_t size) = realloc;

static void test_counter(void **state)
{
    (void)state;
    if (!in_front()) skip();
    start_counting(0, false);
    void *one = take(10), *two = take_zeroed(3, 5);
    one = resize(one, 100);
    free(two);
    stop_counting();
    assert_int_equal(watch.taken, 3);
    assert_int_equal(watch.live, 1);
    free(one);
    assert_int_equal(watch.live, 0);
    start_counting(2, false);
    one = take(10);
    two = take(10);
    void *three = take(10);
    stop_counting();
    assert_non_null(one);
    assert_null(two);
    assert_non_null(three);
    free(one);
    free(three);
    assert_int_equal(watch.live, 0);
    assert_int_equal(watch.failed, 1);
}
#endif

/* --- a step allocates nothing
 * ------------------------------------------------------------------- */

static const case_name names[] = {CASE_PENDULUM_SIDE,      CASE_TOP_R3SO3, CASE_TOP_SE3,
                                  CASE_SLIDER_CRANK,       CASE_CHAIN,     CASE_RHEONOMIC_BODY,
                                  CASE_REACTIONS_IN_FORCE, CASE_FREE_TOP,  CASE_BRICARD};
enum { NAMES = sizeof names / sizeof *names };

static void test_steps_allocate_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; ++k) {
        pb_problem *p = case_create(names[k]);
        for (int form = 0; form < 2; ++form)
            for (int newton = 0; newton < 2; ++newton)
                for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
                    for (int given = 0; given < 2; ++given) {
                        ga_integrator_def def = ga_integrator_def_default();
                        def.formulation = (ga_formulation)form;
                        def.newton = (ga_newton)newton;
                        def.solver = (ga_solver)solver;
                        ga_system s = p->system;
                        if (!given) s.stiffness = s.damping = s.velocity_stiffness = NULL;
                        ga_integrator *run = NULL;
                        ga_report report;
                        assert_status(ga_integrator_create(&s, &def, &run, &report), GA_OK,
                                      report);
                        assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0,
                                                          case_step(names[k]), &report),
                                      GA_OK, report);
                        assert_status(ga_integrator_step(run, &report), GA_OK, report);
                        ga_status status = GA_OK;
                        start_counting(0, false);
                        for (int n = 0; n < 200 && status == GA_OK; ++n)
                            status = ga_integrator_step(run, &report);
                        stop_counting();
                        assert_status(status, GA_OK, report);
                        if (watch.taken)
                            fail_msg("%s, index %d, newton %d, solver %d: %ld allocations in "
                                     "200 steps",
                                     p->name, 3 - form, newton, solver, watch.taken);
                        ga_integrator_destroy(run);
                    }
        pb_destroy(p);
    }
}

/* With other methods, output between steps included. */
static ga_eval take_no_notice(void *user, const ga_sample *at)
{
    (void)user, (void)at;
    return GA_EVAL_OK;
}

static ga_eval begin_counting(void *user, const ga_sample *at)
{
    int *steps = user;
    (void)at;
    if (++*steps == 4) start_counting(0, false);
    return GA_EVAL_OK;
}

static void other_steps_allocate_nothing(ga_method method)
{
    for (int k = 0; k < NAMES; ++k) {
        pb_problem *p = case_create(names[k]);
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
            ga_integrator_def def = ga_integrator_def_default();
            def.method = method;
            def.solver = (ga_solver)solver;
            ga_integrator *run = NULL;
            ga_report report;
            assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
            ga_simulation s = ga_simulation_default();
            int steps = 0;
            s.t_end = p->t_end;
            s.output_every = (p->t_end - p->t0) / 100;
            s.output = take_no_notice;
            s.accepted = begin_counting;
            s.user = &steps;
            ga_status status = ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report);
            stop_counting();
            assert_status(status, GA_OK, report);
            assert_true(steps > 4);
            if (watch.taken)
                fail_msg("%s, solver %d: %ld allocations", p->name, solver, watch.taken);
            ga_integrator_destroy(run);
        }
        pb_destroy(p);
    }
}

static void test_explicit_steps_allocate_nothing(void **state)
{
    (void)state;
    other_steps_allocate_nothing(GA_METHOD_EXPLICIT);
}

/* But for changes of the method, which these motions do not cause. */
static void test_auto_steps_allocate_nothing(void **state)
{
    (void)state;
    other_steps_allocate_nothing(GA_METHOD_AUTO);
}

/* Nor does the first step. */
static void test_the_first_step_allocates_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < NAMES; ++k) {
        pb_problem *p = case_create(names[k]);
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
            for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                def.solver = (ga_solver)solver;
                ga_integrator *run = NULL;
                ga_report report;
                assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK,
                              report);
                ga_status status =
                    ga_integrator_start(run, p->t0, p->q0, p->v0, case_step(names[k]), &report);
                assert_status(status, GA_OK, report);
                start_counting(0, false);
                status = ga_integrator_step(run, &report);
                stop_counting();
                assert_status(status, GA_OK, report);
                if (watch.taken)
                    fail_msg("%s, formulation %d, solver %d: %ld allocations", p->name, form,
                             solver, watch.taken);
                ga_integrator_destroy(run);
            }
        pb_destroy(p);
    }
}

/* --- every allocation fails once
 * -------------------------------------------------------------------- */

typedef struct outcome {
    ga_status status;
    const char *where;
    ga_report report;
    double q[MAX_NQ];
} outcome;

static outcome whole_run(const pb_problem *p, const ga_system *system,
                         const ga_integrator_def *def, double h)
{
    outcome o = {.where = "create"};
    ga_integrator *run = NULL;
    memset(&o.report, 0x55, sizeof o.report);
    o.status = ga_integrator_create(system, def, &run, &o.report);
    if (o.status == GA_OK) {
        o.where = "start";
        memset(&o.report, 0x55, sizeof o.report);
        o.status = ga_integrator_start(run, p->t0, p->q0, p->v0, h, &o.report);
    }
    for (int n = 0; n < 5 && o.status == GA_OK; ++n) {
        o.where = "step";
        memset(&o.report, 0x55, sizeof o.report);
        o.status = ga_integrator_step(run, &o.report);
    }
    if (o.status == GA_OK)
        memcpy(o.q, ga_integrator_q(run), (size_t)ga_system_nq(system) * sizeof *o.q);
    ga_integrator_destroy(run);
    return o;
}

static void fail_every_allocation(case_name name, const ga_integrator_def *def, bool given,
                                  bool fail_after)
{
    pb_problem *p = case_create(name);
    const double h = case_step(name);
    ga_system s = p->system;
    if (!given) {
        s.gradient = s.stiffness = s.damping = s.velocity_stiffness = s.force_multipliers =
            NULL;
        s.acceleration_rhs = s.constraint_rate = NULL;
    }
    const bool counted = in_front();
    start_counting(0, false);
    const outcome good = whole_run(p, &s, def, h);
    stop_counting();
    assert_status(good.status, GA_OK, good.report);
    const long total = watch.taken;
    assert_int_equal(watch.live, 0);
    assert_true(total > 50 || !counted);
    for (long k = 1; k <= total; ++k) {
        start_counting(k, fail_after);
        const outcome o = whole_run(p, &s, def, h);
        stop_counting();
        char where[160];
        snprintf(where, sizeof where, "%s, index %d, solver %d, allocation %ld of %ld, in %s",
                 p->name, 3 - (int)def->formulation, (int)def->solver, k, total, o.where);
        assert_true(watch.failed >= 1);
        if (watch.live) fail_msg("%s: %ld blocks leaked", where, watch.live);
        /* KLU gives back unused memory by realloc and goes on if that fails: no harm done */
        /* (but pivots chosen for a later matrix may change the last bits) */
        if (o.status == GA_OK && distance_of(o.q, good.q, MAX_NQ) <= 1e-14) continue;
        if (o.status != GA_ERR_MEMORY)
            fail_msg("%s: %s, \"%s\"", where, ga_status_name(o.status), o.report.message);
        if (o.report.status != GA_ERR_MEMORY || !strstr(o.report.message, "memory"))
            fail_msg("%s: the report says %s, \"%s\"", where, ga_status_name(o.report.status),
                     o.report.message);
    }
    pb_destroy(p);
}

static void fail_with_solver(ga_solver solver)
{
    static const case_name some[] = {CASE_PENDULUM_SIDE,      CASE_TOP_SE3,  CASE_CHAIN,
                                     CASE_REACTIONS_IN_FORCE, CASE_FREE_TOP, CASE_BRICARD};
    for (int form = 0; form < 3; ++form)
        for (int k = 0; k < 6; ++k)
            for (int given = 0; given < 2; ++given) {
                ga_integrator_def def = ga_integrator_def_default();
                if (form == 2)
                    def.method = GA_METHOD_EXPLICIT;
                else
                    def.formulation = (ga_formulation)form;
                def.solver = solver;
                if (form == GA_INDEX3) def.penalty = GA_PENALTY_AUTO;
                /* quotients are noisy, see test/system/test_difference.c; not the subject */
                if (!given) def.relative = 1e-8;
                fail_every_allocation(some[k], &def, given, false);
            }
}

static void test_allocations_fail_dense(void **state)
{
    (void)state;
    fail_with_solver(GA_SOLVER_DENSE);
}

static void test_allocations_fail_sparse(void **state)
{
    (void)state;
    fail_with_solver(GA_SOLVER_SPARSE);
}

static void test_allocations_fail_block(void **state)
{
    (void)state;
    fail_with_solver(GA_SOLVER_BLOCK);
}

/* From the k-th on, all of them: memory is out for good. */
static void test_memory_runs_out(void **state)
{
    (void)state;
    static const case_name some[] = {CASE_PENDULUM_SIDE, CASE_CHAIN, CASE_TOP_R3SO3};
    for (int k = 0; k < 3; ++k)
        for (int form = 0; form < 2; ++form)
            for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                def.solver = (ga_solver)solver;
                fail_every_allocation(some[k], &def, true, true);
            }
}

/* ga_system_check takes and gives back its own. */
static void test_allocations_fail_in_check(void **state)
{
    (void)state;
    static const case_name some[] = {CASE_RHEONOMIC_BODY, CASE_CHAIN, CASE_FRICTION,
                                     CASE_FREE_TOP};
    for (int k = 0; k < 4; ++k) {
        pb_problem *p = case_create(some[k]);
        const ga_derivative_check_def def = {.struct_size = sizeof def,
                                             .at = {p->t0, p->q0, p->v0, NULL, NULL, NULL}};
        ga_derivative_check check;
        ga_report report;
        start_counting(0, false);
        ga_status status = ga_system_check(&p->system, &def, &check, &report);
        stop_counting();
        assert_status(status, GA_OK, report);
        assert_int_equal(watch.live, 0);
        const long total = watch.taken;
        for (long n = 1; n <= total; ++n) {
            memset(&report, 0x55, sizeof report);
            start_counting(n, false);
            status = ga_system_check(&p->system, &def, &check, &report);
            stop_counting();
            assert_status(status, GA_ERR_MEMORY, report);
            assert_int_equal(report.status, GA_ERR_MEMORY);
            assert_int_equal(watch.live, 0);
        }
        pb_destroy(p);
    }
}

/* Calls that refuse their arguments leak nothing either. */
static void test_refusals_leak_nothing(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    start_counting(0, false);
    def.max_iterations = 0;
    ga_status first = ga_integrator_create(&p->system, &def, &run, NULL);
    def.max_iterations = 1;
    ga_system s = p->system;
    s.mass = NULL;
    ga_status second = ga_integrator_create(&s, &def, &run, NULL);
    ga_status third = ga_integrator_create(NULL, &def, &run, NULL);
    stop_counting();
    assert_int_equal(first, GA_ERR_ARGUMENT);
    assert_int_equal(second, GA_ERR_SYSTEM);
    assert_int_equal(third, GA_ERR_ARGUMENT);
    assert_null(run);
    assert_int_equal(watch.live, 0);
    pb_destroy(p);
}

/* A step that runs out of memory leaves the state as it was, and works once there is some. */
static void test_state_after_running_out(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_CHAIN);
    const int nq = ga_system_nq(&p->system);
    for (int form = 0; form < 2; ++form) {
        ga_integrator_def def = ga_integrator_def_default();
        def.formulation = (ga_formulation)form;
        def.solver = GA_SOLVER_SPARSE;
        ga_integrator *run = NULL;
        ga_report report;
        double before[MAX_NQ];
        assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
        assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 1e-3, &report), GA_OK, report);
        memcpy(before, ga_integrator_q(run), (size_t)nq * sizeof *before);
        memset(&report, 0x55, sizeof report);
        start_counting(1, true);
        ga_status status = ga_integrator_step(run, &report);
        stop_counting();
        if (watch.taken) { /* else the first step needs none, which is fine too */
            assert_int_equal(status, GA_ERR_MEMORY);
            assert_int_equal(report.status, GA_ERR_MEMORY);
            assert_memory_equal(before, ga_integrator_q(run), (size_t)nq * sizeof *before);
            assert_true(ga_integrator_time(run) == 0);
            assert_int_equal(ga_integrator_statistics(run).halvings, 0); /* no use */
        }
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* --- a change of the method in the middle of a run ---------------------------------------- */

static ga_eval unit_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval stiff_spring(void *user, const ga_point *at, double *f)
{
    const double r = hypot(at->q[0], at->q[1]), k = 1e8;
    (void)user;
    f[0] = -k * (r - 1) * at->q[0] / r;
    f[1] = -k * (r - 1) * at->q[1] / r - 9.81;
    return GA_EVAL_OK;
}

static ga_status change_of_method(long *radau_steps, ga_report *report)
{
    const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &node,
                              .mass = unit_mass,
                              .mass_is_constant = true,
                              .force = stiff_spring};
    const double q0[2] = {1, 0}, v0[2] = {0, 0};
    ga_integrator_def def = ga_integrator_def_default();
    ga_simulation s = ga_simulation_default();
    ga_integrator *run = NULL;
    def.method = GA_METHOD_AUTO;
    s.t_end = 1;
    s.control.relative = 1e-3;
    ga_status status = ga_integrator_create(&system, &def, &run, report);
    if (status == GA_OK) status = ga_integrator_simulate(run, 0, q0, v0, &s, report);
    *radau_steps = status == GA_OK ? ga_integrator_method_use(run).steps[GA_METHOD_RADAU] : 0;
    ga_integrator_destroy(run);
    return status;
}

static void test_allocations_of_a_change_fail(void **state)
{
    (void)state;
    ga_report report;
    long radau_steps;
    if (!in_front()) skip();
    start_counting(0, false);
    const ga_status good = change_of_method(&radau_steps, &report);
    stop_counting();
    assert_status(good, GA_OK, report);
    assert_true(radau_steps > 0);
    const long total = watch.taken;
    for (long k = 1; k <= total; ++k) {
        start_counting(k, false);
        const ga_status status = change_of_method(&radau_steps, &report);
        stop_counting();
        if (watch.live)
            fail_msg("allocation %ld of %ld: %ld blocks leaked", k, total, watch.live);
        if (status == GA_OK) continue;
        if (status != GA_ERR_MEMORY || !strstr(report.message, "memory"))
            fail_msg("allocation %ld of %ld: %s", k, total, report.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if INTERPOSED
        cmocka_unit_test(test_counter),
#endif
        cmocka_unit_test(test_steps_allocate_nothing),
        cmocka_unit_test(test_explicit_steps_allocate_nothing),
        cmocka_unit_test(test_auto_steps_allocate_nothing),
        cmocka_unit_test(test_allocations_of_a_change_fail),
        cmocka_unit_test(test_the_first_step_allocates_nothing),
        cmocka_unit_test(test_allocations_fail_dense),
        cmocka_unit_test(test_allocations_fail_sparse),
        cmocka_unit_test(test_allocations_fail_block),
        cmocka_unit_test(test_memory_runs_out),
        cmocka_unit_test(test_allocations_fail_in_check),
        cmocka_unit_test(test_refusals_leak_nothing),
        cmocka_unit_test(test_state_after_running_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
