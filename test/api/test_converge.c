/* The verdict from errors that are made up, so that the truth is known. */
#include "api/converge_judge.h"
#include "test/support/unit.h"

#include <galpha/converge.h>
#include <math.h>
#include <string.h>

enum { LEVELS = 5 };

typedef struct made_up {
    ga_ladder ladder;
    ga_rung rungs[LEVELS];
} made_up;

/* Errors of a component at time x in (0, 1) with steps h. */
typedef double error_of(double h, double x);

static double smooth(double h, double x) { return h * h * (0.1 + x); }

static void set(made_up *m, ga_component component, error_of *error)
{
    m->ladder.present[component] = true;
    m->ladder.scale[component] = 1;
    for (int w = 0; w < GA_WINDOWS; ++w) {
        m->ladder.reference[component][w] = 1e-14;
        for (int k = 0; k < LEVELS; ++k)
            m->rungs[k].window[component][w] = error(m->rungs[k].h, (w + 0.5) / GA_WINDOWS);
    }
}

static void begin(made_up *m, double h)
{
    memset(m, 0, sizeof *m);
    m->ladder.count = LEVELS;
    m->ladder.rungs = m->rungs;
    m->ladder.t_end = 1;
    for (int k = 0; k < LEVELS; ++k, h /= 2) {
        m->rungs[k].h = h;
        for (int i = 0; i < GA_COMPONENT_COUNT; ++i) m->rungs[k].near[i] = NAN;
    }
    set(m, GA_COMPONENT_POSITION, smooth);
    set(m, GA_COMPONENT_VELOCITY, smooth);
    set(m, GA_COMPONENT_ACCELERATION, smooth);
    set(m, GA_COMPONENT_FORCE, smooth);
}

/* The errors of forces decide. */
static ga_judgement judge(error_of *force, double h)
{
    made_up m;
    ga_judgement judgement;
    begin(&m, h);
    set(&m, GA_COMPONENT_FORCE, force);
    ga_ladder_judge(&m.ladder, &judgement);
    assert_true(strlen(judgement.reason) > 20);
    return judgement;
}

static void test_second_order(void **state)
{
    (void)state;
    const ga_judgement j = judge(smooth, 0.01);
    assert_int_equal(j.verdict, GA_VERDICT_SECOND_ORDER);
    assert_true(fabs(j.order[GA_COMPONENT_FORCE] - 2) < 1e-9);
    assert_true(isnan(j.order[GA_COMPONENT_TORQUE])); /* there is none */
    assert_true(fabs(j.pair[1][GA_COMPONENT_FORCE] - 2) < 1e-9);
    assert_true(isnan(j.pair[0][GA_COMPONENT_FORCE]));
}

static double dying(double h, double x) { return 0.1 * h * exp(-40 * x) + smooth(h, x) * 1e-2; }

static void test_transient(void **state)
{
    (void)state;
    const ga_judgement j = judge(dying, 0.01);
    assert_int_equal(j.verdict, GA_VERDICT_TRANSIENT);
    assert_true(fabs(j.order[GA_COMPONENT_FORCE] - 1) < 0.1);
}

/* From the coarsest level on rounding is larger. */
static double noise(double h, double x) { return 1e-13 / (h * h) * (1 + 0.1 * x); }

/* It begins on the last level. */
static double late_noise(double h, double x) { return smooth(h, x) + 1e-14 / (h * h); }

static void test_round_off(void **state)
{
    (void)state;
    assert_int_equal(judge(noise, 1e-5).verdict, GA_VERDICT_ROUND_OFF);
    const ga_judgement j = judge(late_noise, 5e-3);
    assert_int_equal(j.verdict, GA_VERDICT_SECOND_ORDER);
    assert_true(j.used[2][GA_COMPONENT_FORCE]);
    assert_false(j.used[LEVELS - 1][GA_COMPONENT_FORCE]);
}

static double nothing(double h, double x) { return 1e-15 * (h + x); }

/* With its largest steps a run may leave the motion without failing. A torque that is zero, and
 * differs from it there only, is still nothing but rounding. */
static void test_gone_astray(void **state)
{
    (void)state;
    for (int astray = 0; astray < 2; ++astray) {
        made_up m;
        ga_judgement j;
        begin(&m, 0.01);
        set(&m, GA_COMPONENT_TORQUE, nothing);
        m.ladder.scale[GA_COMPONENT_TORQUE] = 1e-15;
        for (int w = 0; w < GA_WINDOWS; ++w) {
            if (astray) m.rungs[0].window[GA_COMPONENT_VELOCITY][w] = 1e3;
            m.rungs[0].window[GA_COMPONENT_TORQUE][w] = 1e-5;
        }
        ga_ladder_judge(&m.ladder, &j);
        const ga_verdict expected = astray ? GA_VERDICT_SECOND_ORDER : GA_VERDICT_ROUND_OFF;
        assert_int_equal(j.verdict, expected);
    }
}

static double jump(double h, double x) { return smooth(h, x) + (x > 0.6 ? 0.1 * h : 0); }

static void test_discontinuity(void **state)
{
    (void)state;
    const ga_judgement j = judge(jump, 0.01);
    assert_int_equal(j.verdict, GA_VERDICT_DISCONTINUITY);
    assert_true(j.at > 0.5 && j.at <= 0.625);

    made_up m; /* announced by the integration: an error of order 0 close to it */
    ga_judgement judgement;
    begin(&m, 0.01);
    m.ladder.events = 1;
    m.ladder.first_event = 0.3;
    for (int k = 0; k < LEVELS; ++k) m.rungs[k].near[GA_COMPONENT_VELOCITY] = 1;
    ga_ladder_judge(&m.ladder, &judgement);
    assert_int_equal(judgement.verdict, GA_VERDICT_DISCONTINUITY);
    assert_true(judgement.at == 0.3);
    assert_non_null(strstr(judgement.reason, "2.00")); /* away from it */
}

static double growing(double h, double x)
{
    return fmin(0.7 + 0.05 * sin(1 / h), h * h * exp(30 * x));
}

static void test_chaos(void **state)
{
    (void)state;
    made_up m;
    ga_judgement j;
    begin(&m, 0.01);
    set(&m, GA_COMPONENT_POSITION, growing);
    set(&m, GA_COMPONENT_VELOCITY, growing);
    set(&m, GA_COMPONENT_FORCE, growing);
    ga_ladder_judge(&m.ladder, &j);
    assert_int_equal(j.verdict, GA_VERDICT_CHAOS);
    /* where the motion is known, forces jump */
    assert_int_equal(judge(growing, 0.01).verdict, GA_VERDICT_DISCONTINUITY);
}

/* One pair of levels shows second order, those before it nothing: that is no convergence. */
static double erratic(double h, double x)
{
    (void)x;
    const double errors[] = {9.1, 5.65, 2.77, 2.14, 0.527};
    return 1e-3 * errors[(int)(log2(0.01 / h) + 0.5)];
}

static void test_erratic(void **state)
{
    (void)state;
    assert_int_not_equal(judge(erratic, 0.01).verdict, GA_VERDICT_SECOND_ORDER);
}

static double coarse(double h, double x) { return x * h * h / (h * h + 1e-4); }

static void test_not_asymptotic(void **state)
{
    (void)state;
    assert_int_equal(judge(coarse, 0.1).verdict, GA_VERDICT_NOT_ASYMPTOTIC);
}

static double first_order(double h, double x) { return 0.01 * h * (1 + x); }

static void test_reduced_order(void **state)
{
    (void)state;
    assert_int_equal(judge(first_order, 0.01).verdict, GA_VERDICT_REDUCED_ORDER);
}

/* Forces that are not unique do not spoil the verdict, and are mentioned. */
static void test_redundant(void **state)
{
    (void)state;
    made_up m;
    ga_judgement judgement;
    begin(&m, 0.01);
    set(&m, GA_COMPONENT_FORCE, first_order);
    m.ladder.redundant = 1;
    ga_ladder_judge(&m.ladder, &judgement);
    assert_int_equal(judgement.verdict, GA_VERDICT_SECOND_ORDER);
    assert_non_null(strstr(judgement.reason, "not unique"));
}

static void test_bad_reference(void **state)
{
    (void)state;
    made_up m;
    ga_judgement judgement;
    begin(&m, 0.01);
    set(&m, GA_COMPONENT_FORCE, first_order);
    for (int w = 0; w < GA_WINDOWS; ++w) m.ladder.reference[GA_COMPONENT_FORCE][w] = 1;
    ga_ladder_judge(&m.ladder, &judgement);
    assert_int_equal(judgement.verdict, GA_VERDICT_REFERENCE);
}

/* --- a model ------------------------------------------------------------------------------ */

static const char pendulum[] = "galpha: 1\n"
                               "dimension: 2\n"
                               "gravity: [0, -9.81]\n"
                               "bodies:\n"
                               "  rod: {mass: 1, inertia: 0.1, position: [1, 0]}\n"
                               "joints:\n"
                               "  pin: {type: revolute, between: [ground, rod], at: [0, 0]}\n"
                               "simulate: {t_end: 1, step: 5e-3}\n";

static ga_model *read_pendulum(void)
{
    ga_model *model = NULL;
    const ga_status status =
        ga_model_parse("pendulum", pendulum, strlen(pendulum), NULL, &model, NULL);
    assert_int_equal(status, GA_OK);
    return model;
}

/* The reference must be as good as it says. With a hundred times smaller steps the scheme
 * itself is a reference, too: at equal steps the errors seen must agree. */
static void test_errors_are_true(void **state)
{
    (void)state;
    ga_model *model = read_pendulum();
    ga_converge *coarse_study = NULL, *wide_study = NULL;
    const double few[] = {0.01, 0.02}, wide[] = {0.02, 0.01, 2e-4};
    ga_converge_def def = ga_converge_def_of(model);
    def.sizes = few;
    def.size_count = 2;
    assert_int_equal(ga_converge_run(model, &def, &coarse_study, NULL, NULL), GA_OK);
    def.sizes = wide;
    def.size_count = 3;
    assert_int_equal(ga_converge_run(model, &def, &wide_study, NULL, NULL), GA_OK);
    const ga_converge_result *a = ga_converge_get(coarse_study),
                             *b = ga_converge_get(wide_study);
    for (int k = 0; k < 2; ++k) {
        assert_true(a->levels[k].step == wide[k]); /* sorted */
        for (int i = 0; i < GA_COMPONENT_ENERGY; ++i) {
            if (isnan(a->scale[i]) || a->zero[i]) continue;
            const double d = fabs(a->levels[k].error[i] - b->levels[k].error[i]);
            assert_true(d <= a->reference_error[i] + b->reference_error[i] + 1e-12);
            assert_true(a->reference_error[i] < 0.1 * a->levels[k].error[i]);
        }
    }
    ga_converge_destroy(coarse_study);
    ga_converge_destroy(wide_study);
    ga_model_destroy(model);
}

/* The same errors, to what each reference says of itself. */
static void test_reference_by_method(void **state)
{
    (void)state;
    static const ga_method methods[] = {GA_METHOD_GENERALIZED_ALPHA, GA_METHOD_EXPLICIT,
                                        GA_METHOD_RADAU};
    ga_model *model = read_pendulum();
    ga_converge *studies[3];
    ga_converge_def def = ga_converge_def_of(model);
    for (int k = 0; k < 3; ++k) {
        def.reference = methods[k];
        assert_int_equal(ga_converge_run(model, &def, &studies[k], NULL, NULL), GA_OK);
        const ga_converge_result *r = ga_converge_get(studies[k]),
                                 *a = ga_converge_get(studies[0]);
        assert_int_equal(r->reference_method, methods[k]);
        assert_int_equal(r->verdict, GA_VERDICT_SECOND_ORDER);
        assert_true((r->reference_tolerance > 0) == (k > 0));
        for (int i = 0; i < GA_COMPONENT_ENERGY; ++i) {
            if (isnan(r->scale[i]) || r->zero[i]) continue;
            const double d = fabs(a->levels[4].error[i] - r->levels[4].error[i]);
            assert_true(d <= a->reference_error[i] + r->reference_error[i] + 1e-12);
            assert_true(k == 0 || r->reference_error[i] < 1e-8 * r->scale[i]);
        }
    }
    for (int k = 0; k < 3; ++k) ga_converge_destroy(studies[k]);
    ga_report report;
    def.reference = GA_METHOD_AUTO;
    assert_int_equal(ga_converge_run(model, &def, studies, NULL, &report), GA_ERR_ARGUMENT);
    assert_non_null(strstr(report.message, "expected"));
    ga_model_destroy(model);
}

static ga_eval stop(void *user, double done)
{
    *(double *)user = done;
    return done > 0.5 ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static void test_can_be_stopped(void **state)
{
    (void)state;
    ga_model *model = read_pendulum();
    ga_converge *study = NULL;
    double done = 0;
    ga_converge_def def = ga_converge_def_of(model);
    def.progress = stop;
    def.user = &done;
    assert_int_equal(ga_converge_run(model, &def, &study, NULL, NULL), GA_ERR_STATE);
    assert_null(study);
    assert_true(done > 0.5 && done <= 1);
    ga_model_destroy(model);
}

static void test_bad_sizes(void **state)
{
    (void)state;
    ga_model *model = read_pendulum();
    ga_converge *study = NULL;
    ga_report report;
    static const double lists[][2] = {{0.1, 0.1}, {0.1, -1}, {3, 0.1}, {0.1, NAN}};
    ga_converge_def def = ga_converge_def_of(model);
    def.size_count = 2;
    for (int k = 0; k < 4; ++k) {
        def.sizes = lists[k];
        assert_int_equal(ga_converge_run(model, &def, &study, NULL, &report), GA_ERR_ARGUMENT);
        assert_true(report.message[0] != '\0');
    }
    def.size_count = 1;
    assert_int_equal(ga_converge_run(model, &def, &study, NULL, &report), GA_ERR_ARGUMENT);
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_transient),
        cmocka_unit_test(test_round_off),
        cmocka_unit_test(test_gone_astray),
        cmocka_unit_test(test_discontinuity),
        cmocka_unit_test(test_chaos),
        cmocka_unit_test(test_erratic),
        cmocka_unit_test(test_not_asymptotic),
        cmocka_unit_test(test_reduced_order),
        cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_bad_reference),
        cmocka_unit_test(test_errors_are_true),
        cmocka_unit_test(test_reference_by_method),
        cmocka_unit_test(test_can_be_stopped),
        cmocka_unit_test(test_bad_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
