/* Inputs: in forces, motions, lengths and accelerations; held and linear; steps that go beyond
 * the points asked for, and are made again where an input changes. */
#include "test/support/unit.h"

#include <galpha/sim.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(x, y, tolerance)                                                           \
    do {                                                                                       \
        const double x_ = (x), y_ = (y);                                                       \
        if (!(fabs(x_ - y_) <= (tolerance)))                                                   \
            fail_msg("%s: %.17g instead of %.17g", #x, x_, y_);                                \
    } while (0)
#define assert_ok(call)                                                                        \
    do {                                                                                       \
        if ((call) != GA_OK) fail_msg("%s: %s", #call, report->message);                       \
    } while (0)

static ga_report report_memory, *const report = &report_memory;

static ga_model *parse(const char *text, ga_messages *messages)
{
    ga_model *model = NULL;
    ga_messages *own = messages ? messages : ga_messages_create();
    ga_status status = ga_model_parse("test", text, strlen(text), NULL, &model, own);
    if (!messages && status) fail_msg("%s", ga_messages_get(own, 0).text);
    if (!messages) ga_messages_destroy(own);
    return model;
}

static ga_sim *make(const ga_model *model, const ga_sim_def *def)
{
    ga_sim *sim = NULL;
    ga_sim_def own = ga_sim_def_of(model);
    if (ga_sim_create(model, def ? def : &own, &sim, NULL, report))
        fail_msg("%s", report->message);
    return sim;
}

static double value(const ga_sim *sim, const char *channel)
{
    const int k = ga_sim_channel(sim, channel);
    if (k < 0) fail_msg("no channel %s", channel);
    return *ga_sim_channel_values(sim, k);
}

/* A mass of 2 kg on a rail, with a pendulum that hangs from it. */
#define SLIDER(drive, simulate)                                                                \
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\ninputs: {u: {start: 0.5, unit: m}, w: "     \
    "{}}\n"                                                                                    \
    "bodies:\n  cart: {mass: 2, inertia: 1, position: [0, 0]}\n"                               \
    "  bob: {mass: 1, inertia: 0.1, position: [0, -1]}\n"                                      \
    "joints:\n  rail: {type: prismatic, between: [ground, cart], at: [0, 0], axis: [1, 0]}\n"  \
    "  pin: {type: revolute, between: [cart, bob], at: [0, 0]}\n"                              \
    "motions: {drive: {joint: rail, " drive "}}\n"                                             \
    "simulate: {t_end: 2, " simulate "}\n"                                                     \
    "output: {every: 0.5, channels: [rail.displacement, rail.rate, drive, u, energy]}\n"

static const char *const settings[] = {"step: 1e-3", "tolerance: 1e-8", "tolerance: 1e-6"};

/* The coordinate is the square of an input that is linear between points: value, rate and, in
 * the effort of the drive, the acceleration are those of the square. */
static void motion_follows_a_ramp(void **state)
{
    (void)state;
    static const char *const texts[] = {
        SLIDER("value: u^2", "step: 1e-3"),
        SLIDER("value: u^2", "tolerance: 1e-8"),
        SLIDER("value: u^2", "method: explicit, tolerance: 1e-8"),
        SLIDER("value: u^2", "method: radau, tolerance: 1e-8"),
        SLIDER("value: u^2", "method: auto, tolerance: 1e-8"),
        SLIDER("value: u^2", "formulation: soi2, step: 1e-3")};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        ga_model *model = parse(texts[k], NULL);
        ga_sim *sim = make(model, NULL);
        assert_ok(ga_sim_advance(sim, 0.3, report)); /* at rest, where the input starts */
        assert_near(value(sim, "rail.displacement"), 0.25, 1e-9);
        const int u = ga_sim_input(sim, "u");
        const double to[] = {0.8, 0.2, 0.2, 1}, at[] = {0.3, 0.71, 1.1, 1.3, 2};
        double from = 0.5;
        for (int i = 0; i < 4; ++i) {
            const double rate = (to[i] - from) / (at[i + 1] - at[i]);
            assert_ok(ga_sim_ramp_input(sim, u, to[i], at[i + 1], report));
            const double middle = 0.5 * (at[i] + at[i + 1]), half = 0.5 * (from + to[i]);
            assert_ok(ga_sim_advance(sim, middle, report));
            assert_near(value(sim, "u"), half, 1e-12);
            assert_near(value(sim, "rail.displacement"), half * half, 1e-8);
            assert_near(value(sim, "rail.rate"), 2 * half * rate, 1e-7);
            assert_ok(ga_sim_advance(sim, at[i + 1], report));
            assert_near(value(sim, "rail.displacement"), to[i] * to[i], 1e-8);
            from = to[i];
        }
        assert_true(ga_sim_is_over(sim));
        /* corners are impacts, whose work counts */
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0,
                    k == 0 || k == 5 ? 2e-4 : 1e-5);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

/* The effort along a ramp: (m + M) a, and the pendulum hangs straight while nothing has moved.
 */
static void effort_of_a_ramp(void **state)
{
    (void)state;
    ga_model *model = parse(SLIDER("value: (u - 0.5)^2", "tolerance: 1e-10"), NULL);
    ga_sim *sim = make(model, NULL);
    assert_ok(ga_sim_ramp_input(sim, ga_sim_input(sim, "u"), 2.5, 1, report)); /* x = 4 t^2 */
    assert_ok(ga_sim_start(sim, report));
    /* x'' = 8; the bob is left behind: cart and what the rod's inertia makes of the bob */
    const double reduced = 2 + 1 - 1 / 1.1; /* m + M - (m l)^2/(m l^2 + J) */
    assert_near(value(sim, "drive.effort"), 8 * reduced, 1e-9);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* A velocity that is held jumps: an impact, whose work counts. */
static void velocity_is_held(void **state)
{
    (void)state;
    static const char *const texts[] = {SLIDER("velocity: u - 0.5", "step: 1e-3"),
                                        SLIDER("velocity: u - 0.5", "tolerance: 1e-8")};
    for (int k = 0; k < 2; ++k) {
        ga_model *model = parse(texts[k], NULL);
        ga_sim *sim = make(model, NULL);
        const int u = ga_sim_input(sim, "u");
        assert_ok(ga_sim_advance(sim, 0.377, report));
        assert_near(value(sim, "rail.displacement"), 0, 1e-12);
        assert_ok(ga_sim_set_input(sim, u, 2.5, report));
        assert_ok(ga_sim_advance(sim, 1.201, report));
        assert_near(value(sim, "rail.displacement"), 2 * (1.201 - 0.377), k ? 1e-7 : 1e-6);
        assert_near(value(sim, "rail.rate"), 2, 1e-7);
        assert_ok(ga_sim_set_input(sim, u, -0.5, report));
        assert_ok(ga_sim_advance(sim, 2, report));
        assert_near(value(sim, "rail.displacement"), 2 * (1.201 - 0.377) - (2 - 1.201),
                    k ? 1e-7 : 1e-6);
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0, k ? 1e-5 : 1e-3);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

/* A position that is held cannot jump: refused with a sentence, and nothing has happened.
 * Before the run it may be anywhere. */
static void position_cannot_jump(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k) {
        char text[2000];
        snprintf(text, sizeof text, SLIDER("value: \"u + sin(w)\"", "%s"), settings[k]);
        ga_model *model = parse(text, NULL);
        ga_sim *sim = make(model, NULL), *other = make(model, NULL);
        const int u = ga_sim_input(sim, "u"), w = ga_sim_input(sim, "w");
        assert_ok(ga_sim_set_input(sim, u, 0.1, report));
        assert_ok(ga_sim_set_input(other, u, 0.1, report));
        assert_ok(ga_sim_advance(sim, 0.3217, report));
        assert_near(value(sim, "rail.displacement"), 0.1, 1e-9);
        assert_int_equal(ga_sim_set_input(sim, u, 0.2, report), GA_ERR_ARGUMENT);
        assert_non_null(strstr(report->message, "drive.value would jump from 0.1 to 0.2"));
        assert_non_null(strstr(report->message, "ga_sim_ramp_input"));
        assert_near(ga_sim_input_value(sim, u), 0.1, 0);
        assert_int_equal(ga_sim_set_input(sim, w, 1, report), GA_ERR_ARGUMENT);
        assert_ok(ga_sim_set_input(sim, u, 0.1, report));
        assert_ok(ga_sim_advance(sim, 2, report));
        assert_ok(ga_sim_advance(other, 2, report));
        assert_memory_equal(ga_sim_values(sim), ga_sim_values(other),
                            (size_t)ga_sim_value_count(sim) * sizeof(double));
        ga_sim_destroy(sim);
        ga_sim_destroy(other);
        ga_model_destroy(model);
    }
}

/* A leg whose length is an input. */
static void lengths(void **state)
{
    (void)state;
    ga_model *model = parse(
        "galpha: 1\ninputs: {reach: {start: 1, unit: m}}\n"
        "bodies: {stone: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}}\n"
        "joints:\n  leg: {type: distance, between: [[0, 0, 0], stone], length: 2*reach - 1}\n"
        "simulate: {t_end: 1, tolerance: 1e-8}\noutput: {channels: [stone.position, leg]}\n",
        NULL);
    ga_sim *sim = make(model, NULL);
    assert_ok(ga_sim_advance(sim, 0.25, report));
    assert_ok(ga_sim_ramp_input(sim, 0, 2, 0.75, report));
    assert_ok(ga_sim_advance(sim, 0.5, report));
    assert_near(value(sim, "leg.length"), 2, 1e-9);
    assert_near(value(sim, "leg.rate"), 4, 1e-9);
    assert_ok(ga_sim_advance(sim, 1, report));
    assert_near(value(sim, "leg.length"), 3, 1e-9);
    assert_near(value(sim, "leg.rate"), 0, 1e-9);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* --- steps that go beyond ------------------------------------------------------------------
 */

#define SWING(simulate)                                                                        \
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\ninputs: {u: {unit: N m}}\n"                 \
    "bodies: {rod: {mass: 1, inertia: 0.1, position: [1, 0]}}\n"                               \
    "joints:\n  pin: {type: revolute, between: [ground, rod], at: [0, 0], limits: {min: -2, "  \
    "restitution: 0.5}}\n"                                                                     \
    "forces: {motor: {type: torque, on: rod, torque: u}}\n"                                    \
    "simulate: {t_end: 2, " simulate "}\n"                                                     \
    "output: {every: 0.05, channels: [pin.angle, pin.rate, pin.force, energy, u]}\n"

static const char *const swings[] = {
    SWING("tolerance: 1e-5"),
    SWING("step: 3.1e-3"),
    SWING("tolerance: 1e-5, error: full"),
    SWING("tolerance: 1e-5, error: positions"),
    SWING("tolerance: 1e-5, formulation: index3"),
    SWING("method: explicit, tolerance: 1e-5"),
    SWING("method: radau, tolerance: 1e-5"),
    SWING("method: auto, tolerance: 1e-5"),
};
enum { SWINGS = sizeof swings / sizeof *swings };

typedef struct record {
    int rows, events;
    double last;
} record;

static ga_eval take_row(void *user, const ga_sim *sim)
{
    record *l = user;
    assert_true(ga_sim_time(sim) >= l->last); /* rows never go back */
    l->last = ga_sim_time(sim);
    ++l->rows;
    return GA_EVAL_OK;
}

static void take_event(void *user, const ga_sim *sim, const ga_sim_event *event)
{
    (void)sim;
    (void)event;
    ++((record *)user)->events;
}

/* Points without changes, in a model with inputs: the bits of a run. */
static void points_change_nothing(void **state)
{
    (void)state;
    for (int k = 0; k < SWINGS; ++k) {
        ga_model *model = parse(swings[k], NULL);
        record one = {0}, two = {0};
        ga_sim_def def = ga_sim_def_of(model);
        def.output = take_row;
        def.event = take_event;
        def.user = &one;
        ga_sim *sim = make(model, &def);
        assert_ok(ga_sim_run(sim, report));
        def.user = &two;
        ga_sim *other = make(model, &def);
        for (int i = 1; i <= 77; ++i) {
            const double t = i == 77 ? 2 : i * 2 / 77.0;
            assert_ok(ga_sim_advance(other, t, report));
            assert_true(two.last <= t); /* nothing is told ahead */
            if (i % 9 == 0) assert_ok(ga_sim_set_input(other, 0, 0, report)); /* no change */
        }
        assert_int_equal(one.rows, two.rows);
        assert_int_equal(one.events, two.events);
        assert_true(one.events > 0);
        assert_memory_equal(ga_sim_values(sim), ga_sim_values(other),
                            (size_t)ga_sim_value_count(sim) * sizeof(double));
        assert_int_equal(ga_sim_get_summary(sim).statistics.steps,
                         ga_sim_get_summary(other).statistics.steps);
        ga_sim_destroy(sim);
        ga_sim_destroy(other);
        ga_model_destroy(model);
    }
}

/* The torque at the k-th point. */
static double torque(int k) { return k % 3 ? 3 * sin(7.0 * k) : 0; }

static void feed(ga_sim *sim, int from, int to)
{
    for (int i = from; i < to; ++i) {
        assert_ok(ga_sim_set_input(sim, 0, torque(i), report));
        assert_ok(ga_sim_advance(sim, fmin(2, (i + 1) * 0.0283), report));
    }
}

/* Changes between the ends of steps: the same motion as with small steps that end there, events
 * once, rows in the order of time; and the same bits if the simulation is saved in between. */
static void changes_between_steps(void **state)
{
    (void)state;
    enum { POINTS = 71 };
    const char *reference = SWING("step: 1e-5");
    ga_model *fine = parse(reference, NULL);
    ga_sim *truth = make(fine, NULL);
    feed(truth, 0, POINTS);
    for (int k = 0; k < SWINGS; ++k) {
        ga_model *model = parse(swings[k], NULL);
        record l = {0};
        ga_sim_def def = ga_sim_def_of(model);
        def.output = take_row;
        def.event = take_event;
        def.user = &l;
        ga_sim *sim = make(model, &def), *copy;
        feed(sim, 0, POINTS);
        assert_true(ga_sim_is_over(sim));
        assert_near(value(sim, "pin.angle"), value(truth, "pin.angle"), 2e-3);
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0, 0.05);
        ga_sim_reset(sim);
        l = (record){0};
        feed(sim, 0, 40);
        record cut = l;
        assert_ok(ga_sim_copy(sim, &copy, report));
        feed(sim, 40, POINTS);
        const record whole = l;
        l = cut;
        feed(copy, 40, POINTS);
        assert_int_equal(whole.rows, l.rows);
        assert_int_equal(whole.events, l.events);
        assert_memory_equal(ga_sim_values(sim), ga_sim_values(copy),
                            (size_t)ga_sim_value_count(sim) * sizeof(double));
        ga_sim_destroy(sim);
        ga_sim_destroy(copy);
        ga_model_destroy(model);
    }
    ga_sim_destroy(truth);
    ga_model_destroy(fine);
}

/* --- messages ------------------------------------------------------------------------------
 */

static void expect_message(const char *text, const char *part)
{
    ga_messages *messages = ga_messages_create();
    ga_model *model = parse(text, messages);
    assert_null(model);
    assert_true(ga_messages_count(messages) > 0);
    const char *message = ga_messages_get(messages, 0).text;
    if (!strstr(message, part)) fail_msg("%s\nexpected: %s", message, part);
    ga_messages_destroy(messages);
}
/* Gravity of a laboratory that is moved: u linear from 0 to 3, then held at 3, at -1. Bodies
 * fall alike, whatever their mass. Positions and velocities at 1, 2, 3 s. */
static void gravity_field(void **state)
{
    (void)state;
    static const char *const texts[] = {"step: 2e-3", "tolerance: 1e-8",
                                        "method: explicit, tolerance: 1e-8",
                                        "method: radau, tolerance: 1e-8"};
    static const double x[] = {0.5, 3.5, 7.5}, v[] = {1.5, 4.5, 3.5};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; ++k) {
        char text[800];
        snprintf(
            text, sizeof text,
            "galpha: 1\ninputs: {u: {}}\n"
            "bodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 7, inertia: [1, 1, 1]}}\n"
            "forces: {g: {type: gravity-field, acceleration: [u, 0, -u]}}\n"
            "simulate: {t_end: 3, %s}\n"
            "output: {channels: [a.position.x, b.position.z, a.velocity.x, g.force.x]}\n",
            texts[k]);
        ga_model *model = parse(text, NULL);
        ga_sim *sim = make(model, NULL);
        assert_ok(ga_sim_ramp_input(sim, 0, 3, 1, report));
        for (int i = 0; i < 3; ++i) {
            if (i == 2) assert_ok(ga_sim_set_input(sim, 0, -1, report));
            assert_ok(ga_sim_advance(sim, i + 1, report));
            assert_near(value(sim, "a.position.x"), x[i], 3e-6);
            assert_near(value(sim, "b.position.z"), -x[i], 3e-6);
            assert_near(value(sim, "a.velocity.x"), v[i], 1e-6);
        }
        assert_near(value(sim, "g.force.x"), -8, 1e-12);
        assert_near(ga_sim_get_summary(sim).energy_drift_max, 0, 1e-3);
        ga_sim_destroy(sim);
        ga_model_destroy(model);
    }
}

static void names_that_are_none(void **state)
{
    (void)state;
#define WITH(what)                                                                             \
    "galpha: 1\ninputs: {torque: {}, speed: {}}\n"                                             \
    "bodies: {stone: {mass: 1, inertia: [1, 1, 1]}}\n"                                         \
    "joints: {pin: {type: revolute, between: [ground, stone], at: [0, 0, 0], axis: [0, 0, "    \
    "1]}}\n"                                                                                   \
    "simulate: {t_end: 1, step: 0.1}\n" what
    expect_message(WITH("forces: {f: {type: torque, on: stone, torque: [torqe, 0, 0]}}\n"),
                   "did you mean 'torque'");
    expect_message(WITH("motions: {f: {joint: pin, velocity: sped}}\n"),
                   "did you mean 'speed'");
    expect_message(WITH("motions: {f: {joint: pin, velocity: 2*pin.angle}}\n"),
                   "a function of the time t, of inputs and of parameters");
    expect_message(WITH("forces: {f: {type: spring-damper, between: [[0, 0, 1], stone], "
                        "stiffness: 2*torque}}"
                        "\n"),
                   "torque");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_follows_a_ramp),
        cmocka_unit_test(effort_of_a_ramp),
        cmocka_unit_test(velocity_is_held),
        cmocka_unit_test(position_cannot_jump),
        cmocka_unit_test(lengths),
        cmocka_unit_test(gravity_field),
        cmocka_unit_test(points_change_nothing),
        cmocka_unit_test(changes_between_steps),
        cmocka_unit_test(names_that_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
