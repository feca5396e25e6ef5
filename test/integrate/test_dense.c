/* Dense output: its order on every group, its continuity, and what is refused.
 *
 * One step from a state of the true solution has errors of order h^3 in q and v at its end (in
 * index 3, where v is perturbed by O(h^2) at both ends, the part of the error that is linear in
 * between is taken away). What is left between the ends must be of that order, and of second
 * order in v' and the multipliers. The truth is the closed form or, where none is known, a run
 * with 64 steps in place of the one. */
#include "test/support/cases.h"
#include "test/support/probe.h"

enum { POINTS = 7, FINE = 64, LADDER = 4, MAX = 16 };

typedef struct values {
    double q[MAX], v[MAX], vd[MAX], multipliers[MAX];
} values;

typedef struct setup {
    const char *name;
    pb_problem *(*create)(void);
    double h;     /* the largest step */
    double begin; /* only with an exact solution: where the step begins */
} setup;

#define CREATE(name, call)                                                                     \
    static pb_problem *name(void)                                                              \
    {                                                                                          \
        pb_problem *p = NULL;                                                                  \
        assert_int_equal(call, GA_OK);                                                         \
        return p;                                                                              \
    }
CREATE(pendulum, pb_pendulum_create(0.2, &p))
CREATE(rheonomic, pb_rheonomic_create(&p))
CREATE(nonlinear_multipliers, pb_jn08_test_create(&p))
CREATE(free_top, pb_free_top_create(&p))
CREATE(body, pb_rheonomic_body_create(&p))
CREATE(top_r3so3, pb_heavy_top_create(GA_GROUP_R3SO3, &p))
CREATE(top_se3, pb_heavy_top_create(GA_GROUP_SE3, &p))
CREATE(sleigh_r2so2, pb_sleigh_create(GA_GROUP_R2SO2, &p))
CREATE(sleigh_se2, pb_sleigh_create(GA_GROUP_SE2, &p))
CREATE(disc, pb_rolling_disc_create(0.3, &p))

static const setup setups[] = {
    {"pendulum, R^2", pendulum, 0.02, 0.13},
    {"rheonomic, R^2", rheonomic, 0.02, 0.4},
    {"nonlinear multipliers, R^2", nonlinear_multipliers, 0.02, 0.3},
    {"free top, SO3", free_top, 0.02, 0.4},
    {"rheonomic body, R3SO3", body, 0.02, 0.4},
    {"heavy top, R3SO3", top_r3so3, 0.002, 0},
    {"heavy top, SE3", top_se3, 0.002, 0},
    {"sleigh, R2SO2", sleigh_r2so2, 0.04, 0.7},
    {"sleigh, SE2", sleigh_se2, 0.04, 0.7},
    {"rolling disc, R3SO3", disc, 0.004, 0},
};
enum { SETUPS = sizeof setups / sizeof *setups };

static ga_integrator *create(const pb_problem *p, ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
    ga_integrator_guess(run, p->lambda_guess, p->psi_guess);
    return run;
}

static void start(const pb_problem *p, ga_integrator *run, double t, double h)
{
    double q[MAX], v[MAX];
    ga_report report;
    if (p->exact) {
        double lambda[MAX], psi[MAX] = {0};
        p->exact(p, t, q, v, NULL, lambda);
        if (p->exact_psi) p->exact_psi(p, t, psi);
        ga_integrator_guess(run, lambda, psi);
    } else {
        memcpy(q, p->q0, (size_t)ga_system_nq(&p->system) * sizeof *q);
        memcpy(v, p->v0, (size_t)ga_system_nv(&p->system) * sizeof *v);
    }
    assert_status(ga_integrator_start(run, t, q, v, h, &report), GA_OK, report);
}

static void interpolate(const pb_problem *p, ga_integrator *run, double t, values *x)
{
    memset(x, 0, sizeof *x);
    double *psi = x->multipliers + p->system.constraint_count;
    assert_int_equal(ga_integrator_interpolate(run, t, x->q, x->v, x->vd, x->multipliers, psi),
                     GA_OK);
}

static void current(const pb_problem *p, const ga_integrator *run, values *x)
{
    const size_t nq = (size_t)ga_system_nq(&p->system), nv = (size_t)ga_system_nv(&p->system);
    const size_t m = (size_t)p->system.constraint_count;
    const size_t n = (size_t)p->system.nonholonomic_count;
    memset(x, 0, sizeof *x);
    memcpy(x->q, ga_integrator_q(run), nq * sizeof *x->q);
    memcpy(x->v, ga_integrator_v(run), nv * sizeof *x->v);
    memcpy(x->vd, ga_integrator_vd(run), nv * sizeof *x->vd);
    memcpy(x->multipliers, ga_integrator_lambda(run), m * sizeof *x->multipliers);
    memcpy(x->multipliers + m, ga_integrator_psi(run), n * sizeof *x->multipliers);
}

/* The truth at begin + h k/8, k = 0 ... 8. */
static void truth(const setup *s, const pb_problem *p, double h, values *x)
{
    if (p->exact) {
        for (int k = 0; k <= POINTS + 1; ++k) {
            const double t = s->begin + h * k / 8;
            memset(&x[k], 0, sizeof x[k]);
            p->exact(p, t, x[k].q, x[k].v, x[k].vd, x[k].multipliers);
            if (p->exact_psi) p->exact_psi(p, t, x[k].multipliers + p->system.constraint_count);
        }
        return;
    }
    ga_integrator *run = create(p, GA_INDEX2);
    start(p, run, p->t0, h / FINE);
    for (int n = 0; n <= FINE; ++n) {
        if (n) assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
        if (n % (FINE / 8) == 0) current(p, run, &x[n / (FINE / 8)]);
    }
    ga_integrator_destroy(run);
}

typedef struct errors {
    double q, v, vd, multipliers;
} errors;

/* Largest errors inside one step of size h; minus those linear in between, if asked for. */
static errors errors_of_step(const setup *s, ga_formulation formulation, double h,
                             bool minus_linear)
{
    pb_problem *p = s->create();
    values exact[POINTS + 2], x;
    truth(s, p, h, exact);
    ga_integrator *run = create(p, formulation);
    const double t0 = p->exact ? s->begin : p->t0;
    start(p, run, t0, h);
    assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
    const int nv = ga_system_nv(&p->system);
    const int mp = p->system.constraint_count + p->system.nonholonomic_count;
    double error[POINTS + 2][4][MAX] = {0};
    for (int k = 0; k <= POINTS + 1; ++k) {
        const double t = k == POINTS + 1 ? ga_integrator_time(run) : t0 + h * k / 8;
        interpolate(p, run, t, &x);
        ga_nodes_difference(p->system.node_count, p->system.nodes, exact[k].q, x.q,
                            error[k][0]);
        for (int i = 0; i < nv; ++i) {
            error[k][1][i] = x.v[i] - exact[k].v[i];
            error[k][2][i] = x.vd[i] - exact[k].vd[i];
        }
        for (int i = 0; i < mp; ++i)
            error[k][3][i] = x.multipliers[i] - exact[k].multipliers[i];
    }
    double most[4] = {0};
    for (int k = 1; k <= POINTS; ++k)
        for (int kind = 0; kind < 4; ++kind)
            for (int i = 0; i < MAX; ++i) {
                const double a = error[0][kind][i], b = error[POINTS + 1][kind][i];
                const double linear = minus_linear ? a + (b - a) * k / 8 : 0;
                most[kind] = fmax(most[kind], fabs(error[k][kind][i] - linear));
            }
    ga_integrator_destroy(run);
    pb_destroy(p);
    return (errors){most[0], most[1], most[2], most[3]};
}

/* Slope over the ladder; infinite where the error is round-off from the beginning. */
static double slope(double coarse, double fine, double noise)
{
    if (coarse < noise) return INFINITY;
    return log2(coarse / fine) / (LADDER - 1);
}

static void check_orders(const setup *s, ga_formulation formulation, bool minus_linear)
{
    const double ratio = 1 << (LADDER - 1);
    const errors coarse = errors_of_step(s, formulation, s->h, minus_linear);
    const errors fine = errors_of_step(s, formulation, s->h / ratio, minus_linear);
    const double found[4] = {slope(coarse.q, fine.q, 1e-12), slope(coarse.v, fine.v, 1e-12),
                             slope(coarse.vd, fine.vd, 1e-10),
                             slope(coarse.multipliers, fine.multipliers, 1e-10)};
    static const char *const kinds[4] = {"q", "v", "vd", "multipliers"};
    static const double least[4] = {2.9, 2.9, 1.9, 1.9};
    if (getenv("TEST_VERBOSE"))
        print_message("%-28s %d %d: q %.2f  v %.2f  vd %.2f  multipliers %.2f\n", s->name,
                      (int)formulation, minus_linear, found[0], found[1], found[2], found[3]);
    for (int k = 0; k < 4; ++k)
        if (!(found[k] >= least[k]))
            fail_msg("%s, formulation %d: order %.3f in %s, expected %.1f", s->name,
                     (int)formulation, found[k], kinds[k], least[k]);
}

static void test_orders(void **state)
{
    (void)state;
    for (int k = 0; k < SETUPS; ++k) {
        check_orders(&setups[k], GA_INDEX2, false);
        check_orders(&setups[k], GA_SOI2, false);
        check_orders(&setups[k], GA_INDEX3, true);
        check_orders(&setups[k], GA_INDEX2, true);
    }
}

/* After a change of the step size, v' between the steps keeps second order: index 3 moves v by
 * O(h^2) there. */
static void test_orders_after_step_change(void **state)
{
    (void)state;
    static const ga_formulation forms[] = {GA_INDEX3, GA_INDEX2, GA_SOI2};
    static const double factors[] = {0.5, 0.8, 1.4, 2};
    pb_problem *p = pendulum();
    for (int f = 0; f < 3; ++f)
        for (int c = 0; c < 4; ++c) {
            double most[2][2] = {{0}};
            for (int rung = 0; rung < 2; ++rung) {
                const double h = rung ? 0.005 : 0.02;
                ga_integrator *run = create(p, forms[f]);
                start(p, run, 0, h);
                for (int n = 0; n < (rung ? 40 : 10); ++n)
                    assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
                const double before = ga_integrator_time(run);
                assert_int_equal(ga_integrator_step_by(run, factors[c] * h, NULL), GA_OK);
                for (int k = 1; k <= POINTS; ++k) {
                    values x, exact;
                    const double t = before + factors[c] * h * k / 8;
                    interpolate(p, run, t, &x);
                    p->exact(p, t, exact.q, exact.v, exact.vd, exact.multipliers);
                    most[rung][0] = fmax(most[rung][0], distance_of(x.vd, exact.vd, 2));
                    most[rung][1] =
                        fmax(most[rung][1], distance_of(x.multipliers, exact.multipliers, 1));
                }
                ga_integrator_destroy(run);
            }
            for (int k = 0; k < 2; ++k)
                if (!(log2(most[0][k] / most[1][k]) / 2 >= 1.9))
                    fail_msg("formulation %d, factor %g: order %.3f in %s", (int)forms[f],
                             factors[c], log2(most[0][k] / most[1][k]) / 2,
                             k ? "lambda" : "vd");
        }
    pb_destroy(p);
}

/* --- ends and continuity ------------------------------------------------------------------ */

static void assert_near(const values *x, const values *y, const char *where)
{
    const double *a = (const double *)x, *b = (const double *)y;
    for (int i = 0; i < 4 * MAX; ++i)
        assert_below(fabs(a[i] - b[i]), 1e-15 * fmax(1, fabs(b[i])), where);
}

/* At the end of a step the very bits of the state; at its beginning what the step before ended
 * with; steps of changing size. */
static void test_continuity(void **state)
{
    (void)state;
    static const double factors[] = {1, 0.5, 0.5, 1.7, 0.1, 3, 1, 1, 0.25};
    for (int k = 0; k < SETUPS; ++k)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
            pb_problem *p = setups[k].create();
            const double h = setups[k].h / 4;
            ga_integrator *run = create(p, (ga_formulation)form);
            start(p, run, p->exact ? setups[k].begin : p->t0, h);
            values before, x, after;
            current(p, run, &before);
            interpolate(p, run, ga_integrator_time(run), &x); /* before the first step */
            assert_memory_equal(&x, &before, sizeof x);
            for (int n = 0; n < 9; ++n) {
                const double t = ga_integrator_time(run);
                ga_report report;
                assert_status(ga_integrator_step_by(run, factors[n] * h, &report), GA_OK,
                              report);
                interpolate(p, run, t, &x);
                assert_near(&x, &before, setups[k].name);
                interpolate(p, run, ga_integrator_time(run), &x);
                current(p, run, &after);
                assert_memory_equal(&x, &after, sizeof x);
                /* just before the end, nearly so */
                const double dt = 1e-9 * factors[n] * h;
                interpolate(p, run, ga_integrator_time(run) - dt, &x);
                assert_below(distance_of(x.q, after.q, MAX),
                             2 * dt * largest_of(after.v, MAX) + 1e-14, setups[k].name);
                before = after;
            }
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
}

/* --- steps in pieces, and what is refused ------------------------------------------------- */

static ga_eval fail_some(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)at, (void)out;
    int *left = p->data;
    return kind == PROBE_FORCE && (*left)-- > 0 ? GA_EVAL_RECOVERABLE : GA_EVAL_OK;
}

/* A step that was cut offers its last piece. */
static void test_a_step_in_pieces(void **state)
{
    (void)state;
    pb_problem *p = pendulum();
    for (int form = 0; form < 3; ++form) {
        probe wrapped;
        int failures = 0;
        probe_wrap(&wrapped, &p->system);
        wrapped.tamper = fail_some;
        wrapped.data = &failures;
        ga_integrator_def def = ga_integrator_def_default();
        def.formulation = (ga_formulation)form;
        ga_integrator *run = NULL;
        assert_int_equal(ga_integrator_create(&wrapped.system, &def, &run, NULL), GA_OK);
        start(p, run, 0, 0.01);
        for (int n = 0; n < 5; ++n) assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
        failures = 2; /* the attempt and its repetition with new tangents */
        assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
        assert_true(ga_integrator_statistics(run).halvings == 1);
        values x, exact;
        interpolate(p, run, 0.057, &x);
        p->exact(p, 0.057, exact.q, exact.v, exact.vd, exact.multipliers);
        assert_below(distance_of(x.q, exact.q, 2), 1e-4, "piece");
        assert_int_equal(ga_integrator_interpolate(run, 0.053, x.q, NULL, NULL, NULL, NULL),
                         GA_ERR_ARGUMENT);
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

static void test_refusals(void **state)
{
    (void)state;
    pb_problem *p = disc();
    ga_integrator *run = create(p, GA_INDEX2);
    double q[7], v[6], vd[6], lambda[1], psi[2];
    assert_int_equal(ga_integrator_interpolate(NULL, 0, q, v, vd, lambda, psi), GA_ERR_STATE);
    assert_int_equal(ga_integrator_interpolate(run, 0, q, v, vd, lambda, psi), GA_ERR_STATE);
    start(p, run, 0, 0.01);
    assert_int_equal(ga_integrator_interpolate(run, 0, q, v, vd, lambda, psi), GA_OK);
    assert_int_equal(ga_integrator_interpolate(run, 1e-3, q, v, vd, lambda, psi),
                     GA_ERR_ARGUMENT);
    for (int n = 0; n < 3; ++n) assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
    static const double outside[] = {0, 0.01, 0.0199, 0.0301, 1, -1, INFINITY, -INFINITY, NAN};
    for (int k = 0; k < 9; ++k)
        assert_int_equal(ga_integrator_interpolate(run, outside[k], q, v, vd, lambda, psi),
                         GA_ERR_ARGUMENT);
    /* any output may be left out, and does not change the others */
    values all, some;
    memset(&all, 0, sizeof all);
    memset(&some, 0, sizeof some);
    const double t = 0.0237;
    assert_int_equal(ga_integrator_interpolate(run, t, all.q, all.v, all.vd, all.multipliers,
                                               all.multipliers + 1),
                     GA_OK);
    assert_int_equal(ga_integrator_interpolate(run, t, NULL, NULL, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_integrator_interpolate(run, t, some.q, NULL, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_integrator_interpolate(run, t, NULL, some.v, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_integrator_interpolate(run, t, NULL, NULL, some.vd, NULL, NULL), GA_OK);
    assert_int_equal(
        ga_integrator_interpolate(run, t, NULL, NULL, NULL, some.multipliers, NULL), GA_OK);
    assert_int_equal(
        ga_integrator_interpolate(run, t, NULL, NULL, NULL, NULL, some.multipliers + 1), GA_OK);
    assert_memory_equal(&all, &some, sizeof all);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* Looking does not disturb. */
static void test_looking_changes_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < SETUPS; ++k) {
        pb_problem *p = setups[k].create();
        values end[2], x;
        for (int look = 0; look < 2; ++look) {
            ga_integrator *run = create(p, GA_INDEX3);
            const double h = setups[k].h / 4;
            start(p, run, p->exact ? setups[k].begin : p->t0, h);
            for (int n = 0; n < 20; ++n) {
                const double t = ga_integrator_time(run);
                assert_int_equal(ga_integrator_step_by(run, n % 3 ? h : 0.7 * h, NULL), GA_OK);
                for (int i = 0; look && i < 5; ++i)
                    interpolate(p, run, t + (ga_integrator_time(run) - t) * 0.2 * i, &x);
            }
            current(p, run, &end[look]);
            ga_integrator_destroy(run);
        }
        assert_memory_equal(&end[0], &end[1], sizeof end[0]);
        pb_destroy(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orders),     cmocka_unit_test(test_orders_after_step_change),
        cmocka_unit_test(test_continuity), cmocka_unit_test(test_a_step_in_pieces),
        cmocka_unit_test(test_refusals),   cmocka_unit_test(test_looking_changes_nothing),
    };
    return cmocka_run_group_tests_name("dense output", tests, NULL, NULL);
}
