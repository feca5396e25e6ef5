/* A chain far from the origin moves as one near it. Positions are known to eps |x| there, and
 * so are constraints: what Newton's method does beyond that is noise, and no reason for more
 * iterations than near the origin. */
#include "test/support/unit.h"

#include <float.h>
#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { RODS = 200, STEPS = 50, CHANNELS = 2, VALUES = 6 };

/* x0 + i + 0.5 is exact. */
static const char chain[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nparameters: {x: %.17g, twist: 40 deg}\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1/1200, 1/12, 1/12],\n"
    "                        position: [x + i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"],\n"
    "                        at: [x + i + 1, 0, 0],\n"
    "                        axis: [0, cos(i*twist), sin(i*twist)]}}\n"
    "joints: {support: {type: revolute, between: [ground, b0], at: [x, 0, 0],\n"
    "                   axis: [0, 1, 0]}}\n"
    "simulate: {t_end: %.17g, step: 1e-3, formulation: %s}\n";

typedef struct outcome {
    double values[VALUES]; /* where two bodies are */
    long iterations;
    double off; /* the constraints */
} outcome;

static outcome run(double x, const char *formulation)
{
    static const char *const channels[CHANNELS] = {"b0.position", "b7.position"};
    char text[1200];
    snprintf(text, sizeof text, chain, x, RODS, RODS - 1, STEPS * 1e-3, formulation);
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    ga_sim_def def = ga_sim_def_of(model);
    def.channels = channels;
    def.channel_count = CHANNELS;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    assert_int_equal(ga_sim_run(sim, &report), GA_OK);
    assert_int_equal(ga_sim_value_count(sim), VALUES);
    const ga_statistics statistics = ga_sim_get_summary(sim).statistics;
    assert_int_equal(statistics.steps, STEPS);
    outcome o = {.iterations = statistics.iterations, .off = statistics.position_residual_max};
    memcpy(o.values, ga_sim_values(sim), sizeof o.values);
    for (int k = 0; k < VALUES; k += 3) o.values[k] -= x;
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return o;
}

static void moves_alike(void **state)
{
    static const char *const formulations[] = {"index2", "index3"};
    static const double far = 131072;
    const double eps = DBL_EPSILON * far;
    (void)state;
    for (int f = 0; f < 2; ++f) {
        const outcome here = run(0, formulations[f]), there = run(far, formulations[f]);
        assert_true(here.off < 1e-12);
        assert_true(there.off < 8 * eps);
        for (int k = 0; k < VALUES; ++k) {
            /* in index 3 the noise of a step is an acceleration, by h^2 */
            const double most = (f == 0 ? 8 : 16) * eps;
            if (!(fabs(there.values[k] - here.values[k]) <= most))
                fail_msg("%s: %.3g off, %.3g eps", formulations[f],
                         there.values[k] - here.values[k],
                         (there.values[k] - here.values[k]) / eps);
        }
        const double more = (double)there.iterations / (double)here.iterations;
        if (more > 1.5) fail_msg("%s: %.3g times the iterations", formulations[f], more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(moves_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
