/* The method that chooses between methods: what it takes for which motion, what a tolerance
 * means with it, hand-over where a method cannot go on. */
#include "test/integrate/accuracy.h"

static ga_integrator *create(const ga_system *system, ga_method method)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *g = NULL;
    ga_report report;
    def.method = method;
    assert_status(ga_integrator_create(system, &def, &g, &report), GA_OK, report);
    return g;
}

static void set_guess(const pb_problem *p, ga_integrator *g)
{
    ga_integrator_guess(g, p->lambda_guess, p->psi_guess);
}

/* The same bits at the end, with both methods. */
static void expect_same(const pb_problem *p, ga_method method, const ga_simulation *s)
{
    ga_integrator *a = create(&p->system, GA_METHOD_AUTO), *b = create(&p->system, method);
    set_guess(p, a);
    set_guess(p, b);
    ga_simulation other = *s;
    if (method == GA_METHOD_EXPLICIT) other.control.mode = GA_ERROR_FULL;
    run_problem(p, a, s);
    run_problem(p, b, &other);
    const size_t nq = (size_t)ga_system_nq(&p->system), nv = (size_t)ga_system_nv(&p->system);
    assert_memory_equal(ga_integrator_q(a), ga_integrator_q(b), nq * sizeof(double));
    assert_memory_equal(ga_integrator_v(a), ga_integrator_v(b), nv * sizeof(double));
    const ga_method_use use = ga_integrator_method_use(a);
    assert_int_equal(use.method, method);
    assert_true(use.steps[method] == ga_integrator_statistics(b).steps);
    assert_true(ga_integrator_statistics(a).evaluations ==
                ga_integrator_statistics(b).evaluations);
    ga_integrator_destroy(a);
    ga_integrator_destroy(b);
}

static void smooth_motions_are_explicit(void **state)
{
    (void)state;
    static const case_name names[] = {CASE_TOP_R3SO3, CASE_PENDULUM_SIDE, CASE_ANDREWS_RELATIVE,
                                      CASE_RHEONOMIC_BODY};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        pb_problem *p = case_create(names[k]);
        ga_simulation s = simulation(p, 1e-6);
        s.control.mode = GA_ERROR_AUTO;
        expect_same(p, GA_METHOD_EXPLICIT, &s);
        pb_destroy(p);
    }
}

static void fixed_and_loose_steps_are_of_alpha(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_TOP_R3SO3);
    ga_simulation s = simulation(p, 1e-2);
    s.control.mode = GA_ERROR_AUTO;
    expect_same(p, GA_METHOD_GENERALIZED_ALPHA, &s);
    s.control.relative = 0;
    s.step = 1e-3;
    expect_same(p, GA_METHOD_GENERALIZED_ALPHA, &s);
    pb_destroy(p);
}

/* By hand there are steps of fixed size, also after a run with error control. */
static void steps_by_hand(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_TOP_R3SO3);
    ga_integrator *a = create(&p->system, GA_METHOD_AUTO),
                  *b = create(&p->system, GA_METHOD_GENERALIZED_ALPHA);
    ga_report report;
    const ga_simulation s = simulation(p, 1e-5);
    run_problem(p, a, &s);
    for (int round = 0; round < 2; ++round) {
        assert_status(ga_integrator_start(a, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                      report);
        assert_status(ga_integrator_start(b, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                      report);
        for (int k = 0; k < 10; ++k) {
            assert_status(ga_integrator_step(a, &report), GA_OK, report);
            assert_status(ga_integrator_step(b, &report), GA_OK, report);
        }
        assert_memory_equal(ga_integrator_q(a), ga_integrator_q(b),
                            (size_t)ga_system_nq(&p->system) * sizeof(double));
    }
    ga_integrator_destroy(a);
    ga_integrator_destroy(b);
    pb_destroy(p);
}

/* --- stiff springs: as in test_stiff.c ---------------------------------------------------- */

typedef struct reference {
    double k, x, y;
} reference;

static const reference references[] = {{1e4, 0.7871633793412922, -0.6196905748220375},
                                       {1e6, 0.7935027808726072, -0.6085960545263597},
                                       {1e8, 0.7935655612627245, -0.6084850516915662},
                                       {1e10, 0.7935661890024691, -0.6084839416563382}};

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval spring(void *user, const ga_point *at, double *f)
{
    const double k = ((const reference *)user)->k, r = hypot(at->q[0], at->q[1]);
    f[0] = -k * (r - 1) * at->q[0] / r;
    f[1] = -k * (r - 1) * at->q[1] / r - 9.81;
    return GA_EVAL_OK;
}

static const ga_node plane = GA_NODE(GA_GROUP_RN, 2);

static ga_system spring_system(const reference *r)
{
    return (ga_system){.struct_size = sizeof(ga_system),
                       .node_count = 1,
                       .nodes = &plane,
                       .mass = mass,
                       .mass_is_constant = true,
                       .force = spring,
                       .user = (void *)r};
}

static ga_simulation two_seconds(double relative)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = 2;
    s.control.relative = relative;
    s.control.absolute_translation = s.control.absolute_velocity = 0.01 * relative;
    s.control.mode = GA_ERROR_AUTO;
    return s;
}

static const double at_side[2] = {1, 0}, at_rest[2] = {0, 0};

/* Steps of radau are at most those of radau alone; before, there are a few explicit ones, and
 * what trials take. */
static void stiff_springs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof references / sizeof *references; ++i)
        for (double relative = 1e-3; relative > 5e-7; relative *= 0.1) {
            const ga_system system = spring_system(&references[i]);
            ga_integrator *a = create(&system, GA_METHOD_AUTO),
                          *b = create(&system, GA_METHOD_RADAU);
            ga_simulation s = two_seconds(relative);
            ga_report report;
            assert_status(ga_integrator_simulate(a, 0, at_side, at_rest, &s, &report), GA_OK,
                          report);
            s.control.mode = GA_ERROR_FULL;
            assert_status(ga_integrator_simulate(b, 0, at_side, at_rest, &s, &report), GA_OK,
                          report);
            assert_below(fabs(ga_integrator_q(a)[0] - references[i].x), relative, "x");
            assert_below(fabs(ga_integrator_q(a)[1] - references[i].y), relative, "y");
            const ga_method_use use = ga_integrator_method_use(a);
            const long most = ga_integrator_statistics(b).steps;
            if (references[i].k >= 1e8) {
                assert_int_equal(use.method, GA_METHOD_RADAU);
                assert_true(use.steps[GA_METHOD_EXPLICIT] <= 40);
                assert_non_null(strstr(use.reason, "stiff"));
            }
            assert_true((double)ga_integrator_statistics(a).steps < 1.3 * (double)most + 150);
            ga_integrator_destroy(a);
            ga_integrator_destroy(b);
        }
}

/* --- a method that cannot go on ----------------------------------------------------------- */

static ga_eval weight(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    f[0] = 0;
    f[1] = -9.81;
    return GA_EVAL_OK;
}

static ga_eval circle(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = 0.5 * (at->q[0] * at->q[0] + at->q[1] * at->q[1] - 1);
    return GA_EVAL_OK;
}

static ga_eval radius(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = at->q[0];
    B[1] = at->q[1];
    return GA_EVAL_OK;
}

/* The acceleration level is not defined for a while. */
static ga_eval centripetal(void *user, const ga_point *at, double *c)
{
    const double *gap = user;
    c[0] = -at->v[0] * at->v[0] - at->v[1] * at->v[1];
    return at->t > gap[0] && at->t < gap[1] ? GA_EVAL_RECOVERABLE : GA_EVAL_OK;
}

static void alpha_goes_on_where_the_explicit_method_cannot(void **state)
{
    (void)state;
    const double gap[2] = {0.5, 0.9}, none[2] = {3, 3};
    ga_system system = {.struct_size = sizeof(ga_system),
                        .node_count = 1,
                        .nodes = &plane,
                        .mass = mass,
                        .mass_is_constant = true,
                        .force = weight,
                        .constraint_count = 1,
                        .constraint = circle,
                        .gradient = radius,
                        .acceleration_rhs = centripetal};
    double end[2][2];
    for (int k = 0; k < 2; ++k) {
        system.user = (void *)(k ? gap : none);
        ga_integrator *g = create(&system, GA_METHOD_AUTO);
        ga_simulation s = two_seconds(1e-4);
        s.control.min_step = 1e-5; /* it does not creep up to the gap */
        s.multipliers = GA_MULTIPLIERS_SCHEME;
        ga_report report;
        assert_status(ga_integrator_simulate(g, 0, at_side, at_rest, &s, &report), GA_OK,
                      report);
        memcpy(end[k], ga_integrator_q(g), sizeof end[k]);
        const ga_method_use use = ga_integrator_method_use(g);
        assert_int_equal(use.method, GA_METHOD_EXPLICIT); /* behind the gap again */
        assert_true((use.steps[GA_METHOD_GENERALIZED_ALPHA] > 30) == (k == 1));
        assert_true(use.steps[GA_METHOD_EXPLICIT] > 10);
        ga_integrator_destroy(g);
    }
    for (int i = 0; i < 2; ++i) assert_below(fabs(end[1][i] - end[0][i]), 1e-3, "q");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(smooth_motions_are_explicit),
        cmocka_unit_test(fixed_and_loose_steps_are_of_alpha),
        cmocka_unit_test(steps_by_hand),
        cmocka_unit_test(stiff_springs),
        cmocka_unit_test(alpha_goes_on_where_the_explicit_method_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
