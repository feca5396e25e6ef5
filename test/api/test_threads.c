/* Runs of models large enough to be divided among threads: the same bits with any number, in
 * every formulation, with fixed steps and with error control. */
#include "test/support/unit.h"

#include <galpha/galpha.h>

#include <string.h>

/* Hinges whose axes turn, and a planar chain with a spring; both above the sizes from which
 * elimination and vectors are divided. */
static const char hinges[] =
    "galpha: 1\nrepeat:\n"
    "  - {count: 1900, index: i, bodies: {\"b{i}\": {mass: 1, inertia: [0.01, 0.09, 0.09],"
    " position: [i + 0.5, 0, 0]}}}\n"
    "  - {count: 1899, from: 1, index: i, joints: {\"j{i}\": {type: revolute,"
    " between: [\"b{i-1}\", \"b{i}\"], at: [i, 0, 0], axis: [0, cos(0.7*i), sin(0.7*i)]}}}\n"
    "joints: {support: {type: revolute, between: [ground, b0], at: [0, 0, 0],"
    " axis: [0, 0, 1]}}\n"
    "simulate: {t_end: 0.004, step: 1e-3}\n";
static const char planar[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\nrepeat:\n"
    "  - {count: 5000, index: i, bodies: {\"b{i}\": {mass: 1, inertia: 0.1,"
    " position: [i + 0.5, 0]}}}\n"
    "  - {count: 4999, from: 1, index: i, joints: {\"j{i}\": {type: revolute,"
    " between: [\"b{i-1}\", \"b{i}\"], at: [i, 0]}}}\n"
    "joints: {support: {type: revolute, between: [ground, b0], at: [0, 0]}}\n"
    "forces: {spring: {type: spring-damper, between: [b3, b9], stiffness: 30, damping: 1,"
    " length: 2}}\n"
    "simulate: {t_end: 0.004, step: 1e-3}\n";

enum { VALUES = 4000 };

static void run(const ga_model *model, const ga_sim_def *given, int threads, double *values)
{
    static const char *const channels[] = {"*.position", "energy.total"};
    ga_sim *sim = NULL;
    ga_report report = {0};
    ga_sim_def def = *given;
    def.threads = threads;
    def.channels = channels;
    def.channel_count = 2;
    ga_status status = ga_sim_create(model, &def, &sim, NULL, &report);
    if (status == GA_OK) status = ga_sim_run(sim, &report);
    if (status != GA_OK) fail_msg("%d threads: %s", threads, report.message);
    assert_true(ga_sim_value_count(sim) >= VALUES);
    memcpy(values, ga_sim_values(sim), VALUES * sizeof *values);
    ga_sim_destroy(sim);
}

static void compare(const char *text, bool control)
{
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_OK);
    const ga_formulation all[] = {GA_INDEX2, GA_INDEX3, GA_SOI2};
    static double one[VALUES], more[VALUES];
    for (int k = 0; k < (control ? 1 : 3); ++k) {
        ga_sim_def def = ga_sim_def_of(model);
        def.integrator.formulation = all[k];
        if (control) def.control.relative = 1e-4, def.t_end = 2e-3;
        run(model, &def, 1, one);
        for (int threads = 2; threads <= 3; ++threads) {
            run(model, &def, threads, more);
            if (memcmp(one, more, sizeof one) != 0)
                fail_msg("formulation %d: other bits with %d threads", k, threads);
        }
    }
    ga_model_destroy(model);
}

static void test_hinges(void **state)
{
    (void)state;
    compare(hinges, false);
}

static void test_planar(void **state)
{
    (void)state;
    compare(planar, false);
}

static void test_error_control(void **state)
{
    (void)state;
    compare(hinges, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hinges),
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_error_control),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
