/* Forces by callback: the same motion and energies as with the same force as an expression. */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(x, y, tolerance) assert_true(fabs((x) - (y)) <= (tolerance))

/* A pendulum in space, driven and damped at its end. */
#define PENDULUM(settings, force)                                                              \
    "galpha: 1\n"                                                                              \
    "gravity: [0, 0, -9.81]\n"                                                                 \
    "bodies: {rod: {mass: 2, inertia: [0.2, 0.3, 0.1], position: [1, 0, 0]}}\n"                \
    "joints: {pivot: {type: spherical, between: [ground, rod], at: [0, 0, 0]}}\n"              \
    "forces:\n"                                                                                \
    "  tip: " force "\n"                                                                       \
    "  spring: {type: spring-damper, between: [[2, 0, 0], rod], stiffness: 5, length: 1}\n"    \
    "simulate: {t_end: 1, " settings "}\n"                                                     \
    "output: {channels: [rod.position, rod.velocity, pivot.force, energy]}\n"
#define EXPRESSION                                                                             \
    "{type: user, on: rod, force: [\"-2*rod.velocity.x\", \"3*sin(4*t)\", "                    \
    "\"-7*rod.position.x*rod.velocity.z\"], torque: [0, 0, 0]}"
#define CALLBACK "{type: callback, bodies: [rod]}"

static void push(void *user, double t, const ga_plugin_body *bodies, double *f)
{
    const double *R = bodies->R, *u = bodies->u;
    double v[3], F[3];
    ++*(long *)user;
    for (int i = 0; i < 3; ++i) v[i] = R[i] * u[0] + R[3 + i] * u[1] + R[6 + i] * u[2];
    F[0] = -2 * v[0];
    F[1] = 3 * sin(4 * t);
    F[2] = -7 * bodies->x[0] * v[2];
    for (int i = 0; i < 3; ++i)
        f[i] = R[3 * i] * F[0] + R[3 * i + 1] * F[1] + R[3 * i + 2] * F[2];
}

static ga_model *parse(const char *text)
{
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("text", text, strlen(text), NULL, &model, messages)) {
        char line[300] = "";
        ga_messages_format(messages, 0, line, sizeof line);
        fail_msg("%s", line);
    }
    ga_messages_destroy(messages);
    return model;
}

static ga_sim *make(const ga_model *model)
{
    ga_sim *sim = NULL;
    ga_report report;
    if (ga_sim_create(model, NULL, &sim, NULL, &report)) fail_msg("%s", report.message);
    return sim;
}

#define DONE(call)                                                                             \
    do {                                                                                       \
        ga_report report;                                                                      \
        if ((call) != GA_OK) fail_msg("%s", report.message);                                   \
    } while (0)
#define run_whole(sim) DONE(ga_sim_run(sim, &report))
#define set_force(sim, name, callback, user)                                                   \
    DONE(ga_sim_set_force(sim, name, callback, user, &report))

/* Newton's method ends at round-off with fixed steps, or at 1e-11 or less; steps are the same
 * up to that. So are all channels, the work of the force among them. */
static void as_an_expression(void **state)
{
    (void)state;
    static const char *const texts[][2] = {
        {PENDULUM("step: 0.005", EXPRESSION), PENDULUM("step: 0.005", CALLBACK)},
        {PENDULUM("step: 0.005, formulation: index3", EXPRESSION),
         PENDULUM("step: 0.005, formulation: index3", CALLBACK)},
        {PENDULUM("tolerance: 1e-7, max_step: 0.01", EXPRESSION),
         PENDULUM("tolerance: 1e-7, max_step: 0.01", CALLBACK)},
        {PENDULUM("tolerance: 1e-9, method: explicit, max_step: 0.01", EXPRESSION),
         PENDULUM("tolerance: 1e-9, method: explicit, max_step: 0.01", CALLBACK)},
        {PENDULUM("tolerance: 1e-9, method: radau, max_step: 0.01", EXPRESSION),
         PENDULUM("tolerance: 1e-9, method: radau, max_step: 0.01", CALLBACK)},
    };
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        ga_model *models[2] = {parse(texts[k][0]), parse(texts[k][1])};
        ga_sim *sims[2] = {make(models[0]), make(models[1])};
        long calls = 0;
        set_force(sims[1], "forces.tip", push, &calls);
        run_whole(sims[0]);
        run_whole(sims[1]);
        assert_true(calls > 100);
        const double *x = ga_sim_values(sims[0]), *y = ga_sim_values(sims[1]);
        const int count = ga_sim_value_count(sims[0]);
        assert_int_equal(count, ga_sim_value_count(sims[1]));
        for (int i = 0; i < count; ++i) assert_near(x[i], y[i], 1e-8 * fmax(1, fabs(x[i])));
        const ga_energy e = ga_sim_get_summary(sims[0]).final,
                        f = ga_sim_get_summary(sims[1]).final;
        assert_true(fabs(e.work) > 0.1);
        assert_near(e.work, f.work, 1e-8);
        ga_sim_check check;
        DONE(ga_sim_check_model(sims[1], &check, &report));
        assert_true(check.tangent_error < 1e-6);
        for (int i = 0; i < 2; ++i) {
            ga_sim_destroy(sims[i]);
            ga_model_destroy(models[i]);
        }
    }
}

/* Steps, points and copies: the bits of the run; and after a load, with the callback given
 * again. */
static void same_bits(void **state)
{
    (void)state;
    ga_model *model = parse(PENDULUM("tolerance: 1e-6", CALLBACK));
    ga_sim *whole = make(model), *sim = make(model), *copy = NULL, *loaded = make(model);
    long calls = 0, others = 0;
    set_force(whole, "forces.tip", push, &calls);
    set_force(sim, "forces.tip", push, &calls);
    set_force(loaded, "forces.tip", push, &others);
    run_whole(whole);
    run_whole(sim); /* and once more after a reset: the callback stays */
    ga_sim_reset(sim);
    for (int k = 0; k < 5; ++k) DONE(ga_sim_step(sim, &report));
    DONE(ga_sim_copy(sim, &copy, &report));
    const size_t size = ga_sim_save_size(sim);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    DONE(ga_sim_save(sim, bytes, size, &report));
    DONE(ga_sim_load(loaded, bytes, size, &report));
    ga_sim *const all[] = {sim, copy, loaded};
    const size_t values = (size_t)ga_sim_value_count(whole) * sizeof(double);
    for (int k = 0; k < 3; ++k) {
        DONE(ga_sim_continue(all[k], &report));
        assert_memory_equal(ga_sim_values(all[k]), ga_sim_values(whole), values);
        ga_sim_destroy(all[k]);
    }
    assert_true(others > 0);
    free(bytes);
    ga_sim_destroy(whole);
    ga_model_destroy(model);
}

#define STONE(settings)                                                                        \
    "galpha: 1\n"                                                                              \
    "dimension: 2\n"                                                                           \
    "gravity: [0, 0]\n"                                                                        \
    "inputs: {u: {start: 0}}\n"                                                                \
    "bodies: {stone: {mass: 1, inertia: 1}}\n"                                                 \
    "forces:\n"                                                                                \
    "  tip: {type: callback, bodies: [stone]}\n"                                               \
    "  push: {type: force, on: stone, force: [0, u]}\n"                                        \
    "simulate: {t_end: 2, " settings "}\n"                                                     \
    "output: {channels: [stone.position, tip.force]}\n"

static void one(void *user, double t, const ga_plugin_body *bodies, double *f)
{
    (void)t, (void)bodies;
    f[0] = *(double *)user;
}

/* No force, then 1, then none again: x'' as given, exact with methods of the family. Both with
 * ga_sim_advance and with ga_sim_continue, which also takes a change of an input. */
static void changes(void **state)
{
    (void)state;
    static const char *const texts[] = {STONE("step: 0.03"), STONE("tolerance: 1e-8")};
    for (int k = 0; k < 2; ++k) {
        ga_model *model = parse(texts[k]);
        ga_sim *sim = make(model);
        double unit = 1;
        const double *x = ga_sim_channel_values(sim, ga_sim_channel(sim, "stone.position"));
        const double *F = ga_sim_channel_values(sim, ga_sim_channel(sim, "tip.force"));
        DONE(ga_sim_advance(sim, 0.7, &report));
        assert_near(x[0], 0, 1e-12);
        set_force(sim, "forces.tip", one, &unit);
        DONE(ga_sim_advance(sim, 1.2, &report));
        assert_near(x[0], 0.125, 1e-9);
        assert_near(F[0], 1, 1e-12);
        set_force(sim, "forces.tip", NULL, NULL);
        DONE(ga_sim_set_input(sim, ga_sim_input(sim, "u"), 2, &report));
        DONE(ga_sim_continue(sim, &report));
        assert_near(ga_sim_values(sim)[0], 0.125 + 0.8 * 0.5, 1e-9);
        assert_near(ga_sim_values(sim)[1], 0.64, 1e-9);
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0, 1e-8);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

static void wrong_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *words;
    } cases[] = {
        {"forces.top", "did you mean `forces.tip`?"},
        {"tip", "did you mean `forces.tip`?"},
        {"forces.propeller", "the first one of type callback is `forces.tip`"},
        {"forces.spring", "has the type spring-damper"},
        {"", "there is no force"},
    };
    ga_model *model = parse(PENDULUM("step: 0.01", CALLBACK));
    ga_model *none = parse(PENDULUM("step: 0.01", EXPRESSION));
    ga_sim *sim = make(model), *without = make(none);
    ga_report report;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k) {
        assert_int_equal(ga_sim_set_force(sim, cases[k].name, one, NULL, &report),
                         GA_ERR_ARGUMENT);
        if (!strstr(report.message, cases[k].words)) fail_msg("%s", report.message);
    }
    assert_int_equal(ga_sim_set_force(without, "forces.x", one, NULL, &report),
                     GA_ERR_ARGUMENT);
    assert_non_null(strstr(report.message, "the model has no force of type callback"));
    assert_int_equal(ga_sim_set_force(sim, "forces.top", one, NULL, NULL), GA_ERR_ARGUMENT);
    ga_sim_destroy(sim);
    ga_sim_destroy(without);
    ga_model_destroy(model);
    ga_model_destroy(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_an_expression),
                                       cmocka_unit_test(same_bits), cmocka_unit_test(changes),
                                       cmocka_unit_test(wrong_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
