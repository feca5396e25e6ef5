/* Stiction where others move the joint: motions, loops at dead points. */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct result {
    ga_sim_summary summary;
    double values[8];
} result;

static void near(double x, double expected, double tolerance)
{
    if (!(fabs(x - expected) <= tolerance))
        fail_msg("%.17g, expected %.17g, off by %.3g", x, expected, fabs(x - expected));
}

static ga_eval note(void *user, const ga_sim *sim)
{
    result *r = user;
    memcpy(r->values, ga_sim_values(sim), (size_t)ga_sim_value_count(sim) * sizeof(double));
    return GA_EVAL_OK;
}

static result run(const char *text)
{
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("locks", text, strlen(text), NULL, &model, messages))
        fail_msg("%s\n%s", ga_messages_get(messages, 0).text, text);
    ga_messages_destroy(messages);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    ga_report report = {0};
    result r = {0};
    def.output = note;
    def.user = &r;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    if (ga_sim_run(sim, &report)) fail_msg("%s\n%s", report.message, text);
    r.summary = ga_sim_get_summary(sim);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return r;
}

static const char *const ways[] = {
    "tolerance: 1e-7",
    "step: 1e-3",
    "step: 1e-3, formulation: index3",
    "tolerance: 1e-7, method: explicit",
    "tolerance: 1e-7, method: radau",
};
enum { WAYS = sizeof ways / sizeof *ways };

/* A block of 2 kg on a plane, 19.62 N; mu = 0.25: friction of 4.905 N against the motion. The
 * motor exerts that and the force of inertia. */
static void driven_slider(void **state)
{
    (void)state;
    const struct {
        const char *value;
        double path, effort; /* length of the path; the motor's force at t = 2 */
    } motions[] = {
        {"5*t", 10, 4.905},
        {"t^2", 4, 4.905 + 2 * 2},
        {"sin(5*t)", 5 + (1 - sin(10.)), -4.905 - 2 * 25 * sin(10.)},
        {"max(0, t - 0.5)^3", 3.375, 4.905 + 2 * 6 * 1.5},
        {"1 - cos(2*t)", 2 + (2 - (1 - cos(4.))), -4.905 + 2 * 4 * cos(4.)},
    };
    for (size_t k = 0; k < sizeof motions / sizeof *motions; ++k)
        for (int w = 0; w < WAYS; ++w) {
            char text[1000];
            sprintf(text,
                    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\n"
                    "bodies: {block: {mass: 2, inertia: 0.01}}\n"
                    "joints: {rail: {type: prismatic, between: [ground, block], axis: [1, 0], "
                    "friction: {coefficient: 0.25, static: 0.5, model: stiction}}}\n"
                    "motions: {motor: {joint: rail, value: \"%s\"}}\n"
                    "simulate: {t_end: 2, %s}\n"
                    "output: {every: 0.1, channels: [motor.effort]}\n",
                    motions[k].value, ways[w]);
            const result r = run(text);
            /* velocities of index 3 have errors of h^2/12 times their second derivative, up to
             * 1e-5 m/s */
            const double error = strstr(ways[w], "index3") ? 4.905 * 1.1e-5 * 2 : 1e-7;
            near(r.summary.final.dissipated, 4.905 * motions[k].path, error);
            near(r.values[0], motions[k].effort, 1e-6);
            assert_true(r.summary.energy_drift_max < 10 * error);
        }
}

static const char *const crank =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\n"
    "bodies:\n"
    "  crank: {mass: 1, inertia: 0.01, position: [0.05, 0], angular_velocity: %g}\n"
    "  rod: {mass: 1, inertia: 0.02, position: [0.2, 0]}\n"
    "  piston: {mass: 2, inertia: 0.01, position: [0.3, 0]}\n"
    "joints:\n"
    "  c: {type: revolute, between: [ground, crank], at: [0, 0], friction: {radius: 0.01, "
    "%s}}\n"
    "  p: {type: revolute, between: [crank, rod], at: [0.1, 0], friction: {radius: 0.01, %s}}\n"
    "  w: {type: revolute, between: [rod, piston], at: [0.3, 0], friction: {radius: 0.01, "
    "%s}}\n"
    "  s: {type: prismatic, between: [ground, piston], at: [0.3, 0], axis: [1, 0], friction: "
    "{%s}}\n"
    "%s\n"
    "simulate: {t_end: 3, %s}\n"
    "output: {every: 0.1, channels: [c.angle]}\n";

static result turn(double rate, const char *friction, const char *motion, const char *way)
{
    char text[2000];
    sprintf(text, crank, rate, friction, friction, friction, friction, motion, way);
    return run(text);
}

static const char *const sticks = "coefficient: 0.2, static: 0.3, model: stiction";
static const char *const rubs = "coefficient: 0.2, transition: 1e-5";

/* A motion of the crank reverses and stops all joints. Regularised friction loses as much, but
 * near zero rates: about 3e-5 J. */
static void driven_loop(void **state)
{
    (void)state;
    const char *const motions[] = {"motions: {m: {joint: c, value: 3*t}}",
                                   "motions: {m: {joint: c, value: 0.5 - 0.5*cos(3*t)}}"};
    for (int k = 0; k < 2; ++k) {
        const result expected = turn(0, rubs, motions[k], "tolerance: 1e-5");
        for (int w = 0; w < WAYS; ++w) {
            const result r = turn(0, sticks, motions[k], ways[w]);
            near(r.summary.final.dissipated, expected.summary.final.dissipated, 1e-4);
            near(r.summary.final.work, expected.summary.final.work, 1e-4);
        }
    }
}

/* The crank starts at a dead point, where the piston has no velocity: it must not stick. Only
 * the crank's velocity is given. It passes dead points, and stands still in the end. */
static void dead_points(void **state)
{
    (void)state;
    const result expected = turn(60, rubs, "", "tolerance: 1e-5");
    assert_true(expected.summary.initial.kinetic > 1);
    for (int w = 0; w < WAYS; ++w) {
        const result r = turn(60, sticks, "", ways[w]);
        /* start values of index 3 are perturbed by O(h^2) */
        near(r.summary.initial.kinetic, expected.summary.initial.kinetic, 1e-6);
        near(r.summary.final.kinetic, 0, 1e-20);
        /* regularised friction creeps, and has no static coefficient */
        near(r.values[0], expected.values[0], 1e-2);
    }
}

/* Five joints with stiction, two degrees of freedom, one of which is driven: the mechanism
 * itself finds out which joints stick. */
static void driven_five_bar(void **state)
{
    (void)state;
    const char *const text =
        "galpha: 1\ndimension: 2\n"
        "parameters: {mu: 0.2}\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: 0.01, position: [0, 0.1]}\n"
        "  b: {mass: 1, inertia: 0.02, position: [0.1, 0.25]}\n"
        "  c: {mass: 1, inertia: 0.02, position: [0.3, 0.25]}\n"
        "  d: {mass: 1, inertia: 0.01, position: [0.4, 0.1]}\n"
        "joints:\n"
        "  j1: {type: revolute, between: [ground, a], at: [0, 0], friction: {%s, preload: "
        "100}}\n"
        "  j2: {type: revolute, between: [a, b], at: [0, 0.2], friction: {%s, preload: 1}}\n"
        "  j3: {type: revolute, between: [b, c], at: [0.2, 0.3], friction: {%s, preload: 2}}\n"
        "  j4: {type: revolute, between: [c, d], at: [0.4, 0.2], friction: {%s, preload: 4}}\n"
        "  j5: {type: revolute, between: [ground, d], at: [0.4, 0], friction: {%s, preload: "
        "200}}\n"
        "motions: {m: {joint: j1, value: 0.1 - 0.1*cos(3*t)}}\n"
        "simulate: {t_end: 1, tolerance: 1e-5}\n"
        "output: {every: 0.1, channels: [j5.angle, j1.angle]}\n";
    const char *const friction[] = {
        "coefficient: mu, radius: 0.01, model: stiction",
        "coefficient: mu, radius: 0.01, transition: 1e-4",
    };
    double angle[2], lost[2];
    for (int k = 0; k < 2; ++k) {
        char model[2000];
        const char *f = friction[k];
        sprintf(model, text, f, f, f, f, f);
        const result r = run(model);
        angle[k] = r.values[0];
        lost[k] = r.summary.final.dissipated;
        near(r.values[1], 0.1 - 0.1 * cos(3.), 1e-9);
    }
    /* regularised friction creeps by up to 1e-4 rad in a second */
    near(angle[0], angle[1], 2e-4);
    near(lost[0], lost[1], 1e-3 * lost[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(driven_slider), cmocka_unit_test(driven_loop),
        cmocka_unit_test(dead_points), cmocka_unit_test(driven_five_bar)};
    return cmocka_run_group_tests_name("locks", tests, NULL, NULL);
}
