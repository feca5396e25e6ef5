/* Mass without bodies: a rod with a consistent mass over two nodes that carry nothing else. The
 * rod is none of the library's elements, see rod.h.
 *
 * Hung up at one end it is a physical pendulum, phi'' = -3 g/(2 L) sin phi, exactly: the
 * velocity of a straight rod is linear along it. With frames at its ends M depends on the
 * configuration, and a rod whose ends are held parallel is a rigid body.
 */
#include "test/element/rod.h"
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>

static const double g = 9.81, L = 1.2, phi0 = 1.1, t_end = 1.5;

/* phi at t_end from rest at phi0: Runge-Kutta's method with steps of 1e-4, good to 1e-14. */
static double angle_of_pendulum(void)
{
    const int steps = 15000;
    const double h = t_end / steps, k = 1.5 * g / L;
    double x = phi0, v = 0;
    for (int i = 0; i < steps; ++i) {
        const double k1 = v, l1 = -k * sin(x);
        const double k2 = v + h / 2 * l1, l2 = -k * sin(x + h / 2 * k1);
        const double k3 = v + h / 2 * l2, l3 = -k * sin(x + h / 2 * k2);
        const double k4 = v + h * l3, l4 = -k * sin(x + h * k3);
        x += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
        v += h / 6 * (l1 + 2 * l2 + 2 * l3 + l4);
    }
    return x;
}

static ga_model *parse(const char *text)
{
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    char line[400] = "";
    if (ga_model_parse("rod.yaml", text, strlen(text), NULL, &model, messages) != GA_OK) {
        ga_messages_format(messages, 0, line, sizeof line);
        fail_msg("%s", line);
    }
    ga_messages_destroy(messages);
    return model;
}

/* Runs to the end; values of the channels, and the largest change of energy. */
static double run(const ga_model *model, int count, const char *const *channels, double *values)
{
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.channels = channels;
    def.channel_count = count;
    if (ga_sim_create(model, &def, &sim, NULL, &report) != GA_OK)
        fail_msg("%s", report.message);
    if (ga_sim_start(sim, &report) != GA_OK) fail_msg("%s", report.message);
    const double before = ga_sim_values(sim)[ga_sim_value_count(sim) - 1];
    if (ga_sim_run(sim, &report) != GA_OK) fail_msg("%s", report.message);
    const int n = ga_sim_value_count(sim);
    memcpy(values, ga_sim_values(sim), (size_t)n * sizeof *values);
    ga_sim_destroy(sim);
    return fabs(values[n - 1] - before);
}

/* The end of the rod at t_end. */
static double pendulum(const char *formulation, double step, double x[2])
{
    static const char *const channels[] = {"b.position", "energy.total"};
    const double none[3] = {0}, down[3] = {0, -g, 0};
    char text[700];
    double values[3];
    snprintf(text, sizeof text,
             "galpha: 1\ndimension: 2\nbodies:\n"
             "  a: {type: point-mass, mass: 1, position: [0, 0]}\n"
             "  b: {type: point-mass, mass: 1, position: [%.17g, %.17g]}\n"
             "joints:\n"
             "  pivot: {type: revolute, between: [ground, a], at: [0, 0]}\n"
             "  length: {type: distance, between: [a, b]}\n"
             "simulate: {t_end: %.17g, step: %.17g, formulation: %s, rho_inf: 1}\n",
             L * sin(phi0), -L * cos(phi0), t_end, step, formulation);
    ga_model *model = parse(text);
    assert_true(rod_join(model, 3, none, down));
    model->body_count = 0; /* the nodes stay */
    const double change = run(model, 2, channels, values);
    memcpy(x, values, 2 * sizeof *x);
    ga_model_destroy(model);
    return change;
}

static void swings_as_a_physical_pendulum(void **unused)
{
    static const char *const formulations[] = {"index2", "index3", "soi2"};
    const double phi = angle_of_pendulum();
    (void)unused;
    for (int k = 0; k < 3; ++k) {
        double error[2];
        for (int i = 0; i < 2; ++i) {
            double x[2];
            const double change = pendulum(formulations[k], i ? 1e-3 : 2e-3, x);
            error[i] = hypot(x[0] - L * sin(phi), x[1] + L * cos(phi));
            assert_true(change < 1e-3); /* of 10 J exchanged */
        }
        if (!(error[0] < 1e-4 && error[0] / error[1] > 3.5 && error[0] / error[1] < 4.5))
            fail_msg("%s: errors %g and %g", formulations[k], error[0], error[1]);
    }
}

/* Two frames held parallel by a fixed joint: a rigid body of mass m, whose inertia is J of both
 * ends and m L^2/12 about the two axes across. */
static void flies_as_a_rigid_body(void **unused)
{
    static const char *const channels[] = {"a.position", "a.rotation", "energy.total"};
    static const char motion[] = "position: [-0.5, 0, 0], velocity: [1, -0.9, 1], "
                                 "angular_velocity: [2, -1, 1.8]";
    static const char simulate[] =
        "simulate: {t_end: 1, step: 1e-3, kinematics: %s, rho_inf: 0.9}\n";
    const double J[3] = {0.05, 0.02, 0.08}, down[3] = {0, 0, -g};
    (void)unused;
    for (int se = 0; se < 2; ++se) {
        char text[900], settings[120];
        double of_rod[8], of_body[8];
        snprintf(settings, sizeof settings, simulate, se ? "se3" : "r3so3");
        snprintf(text, sizeof text,
                 "galpha: 1\nbodies:\n"
                 "  a: {mass: 1, inertia: [1, 1, 1], %s}\n"
                 "  b: {mass: 1, inertia: [1, 1, 1], position: [0.5, 0, 0],\n"
                 "      velocity: [1, 0.9, 2], angular_velocity: [2, -1, 1.8]}\n"
                 "joints: {weld: {type: fixed, between: [a, b], at: [0, 0, 0]}}\n%s",
                 motion, settings);
        ga_model *held = parse(text);
        assert_true(rod_join(held, 3, J, down));
        held->body_count = 0;
        run(held, 3, channels, of_rod);
        ga_model_destroy(held);
        snprintf(
            text, sizeof text,
            "galpha: 1\ngravity: [0, 0, %.17g]\nbodies:\n"
            "  c: {mass: 3, inertia: [0.1, 0.04 + 3/12, 0.16 + 3/12], position: [0, 0, 0],\n"
            "      velocity: [1, 0, 1.5], angular_velocity: [2, -1, 1.8]}\n"
            "  a: {type: point-mass, mass: 1e-12, position: [-0.5, 0, 0]}\n"
            "joints: {end: {type: spherical, between: [c, a], at: [-0.5, 0, 0]}}\n%s",
            -g, settings);
        static const char *const same[] = {"a.position", "c.rotation", "energy.total"};
        ga_model *body = parse(text);
        run(body, 3, same, of_body);
        ga_model_destroy(body);
        /* both have errors of h^2 in time, of different size with other nodes */
        for (int k = 0; k < 7; ++k)
            if (!(fabs(of_rod[k] - of_body[k]) < 2e-5))
                fail_msg("value %d: %.9g of the rod, %.9g of the body", k, of_rod[k],
                         of_body[k]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swings_as_a_physical_pendulum),
        cmocka_unit_test(flies_as_a_rigid_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
