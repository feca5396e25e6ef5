/* Stops of joints: impacts, rest, release, in models whose motion has a closed form. */
#include "test/api/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5000, CHANNELS = 4 };

/* The sanitizers take ten times as long: they get the short runs and one scale. */
#if defined(__SANITIZE_ADDRESS__)
enum { ENDS = 1, SCALES = 1, LIFTED = 20 };
#else
enum { ENDS = 3, SCALES = 3, LIFTED = 60 };
#endif

typedef struct record {
    int count, width;
    double t[MOST], x[MOST][CHANNELS];
} record;

static ga_eval note(void *user, const ga_sim *sim)
{
    record *r = user;
    assert_true(r->count < MOST && ga_sim_value_count(sim) <= CHANNELS);
    r->t[r->count] = ga_sim_time(sim);
    memcpy(r->x[r->count++], ga_sim_values(sim),
           (size_t)ga_sim_value_count(sim) * sizeof(double));
    return GA_EVAL_OK;
}

static void run(ga_model *model, record *r)
{
    ga_report report = {0};
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    r->count = 0;
    def.output = note;
    def.user = r;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    const ga_status status = ga_sim_run(sim, &report);
    if (status) fail_msg("%s\n%s", report.message, ga_model_text(model));
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static ga_model *parse(const char *text)
{
    ga_model *model = NULL;
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("stops", text, strlen(text), NULL, &model, messages))
        fail_msg("%s\n%s", ga_messages_get(messages, 0).text, text);
    ga_messages_destroy(messages);
    return model;
}

static const double *last(const record *r) { return r->x[r->count - 1]; }

static record r;

/* --- rest --------------------------------------------------------------------------------- */

/* Pressed against a stop after some bounces, the arm stays there. */
static void rests_on_a_revolute_stop(void **state)
{
    (void)state;
    static const char *const ends[] = {"5", "60", "6000"};
    static const double torques[] = {-0.2, 0.2, -0.01, 3};
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < ENDS; ++k)
            for (int turns = 0; turns < 2; ++turns) {
                char set[6][80];
                const char *const sets[] = {set[0], set[1], set[2], set[3], set[4], set[5]};
                const double far = turns ? 20 : 1, stop = torques[i] < 0 ? -0.5 * far : far;
                snprintf(set[0], sizeof set[0], "forces.motor.torque=%g", torques[i]);
                snprintf(set[1], sizeof set[1], "simulate.t_end=%s", ends[k]);
                snprintf(set[2], sizeof set[2], "output.every=%s", ends[k]);
                snprintf(set[3], sizeof set[3], "joints.hinge.limits.min=%g", -0.5 * far);
                snprintf(set[4], sizeof set[4], "joints.hinge.limits.max=%g", far);
                snprintf(set[5], sizeof set[5], "output.channels=[hinge.angle, hinge.rate]");
                if (torques[i] == -0.01 && turns) continue; /* still on its way after 5 s */
                run(read_example("stop", 6, sets), &r);
                for (int n = 0; n < r.count; ++n)
                    assert_true(r.x[n][0] > -0.5 * far - 1e-9 && r.x[n][0] < far + 1e-9);
                if (!(fabs(last(&r)[0] - stop) < 1e-13 * far && fabs(last(&r)[1]) < 1e-12))
                    fail_msg("torque %g, t_end %s: angle %.16g, rate %g", torques[i], ends[k],
                             last(&r)[0], last(&r)[1]);
            }
}

/* A point on a vertical slider: after (1 + e)/(1 - e) times the first fall it rests, in every
 * unit of length and time, for ever. */
static void bounces_end_in_rest(void **state)
{
    (void)state;
    static const double restitutions[] = {0, 1e-6, 0.1, 0.5, 0.8, 0.95};
    static const double gravities[] = {1e-3, 9.81, 1e3};
    static const double heights[] = {1e-6, 0.3, 1e4}, offsets[] = {0, 1, 1e3};
    for (int a = 0; a < 6; ++a)
        for (int b = 0; b < SCALES; ++b)
            for (int c = 0; c < SCALES; ++c)
                for (int d = 0; d < SCALES; ++d) {
                    char text[1000];
                    const double e = restitutions[a], g = gravities[b], H = heights[c];
                    const double fall = sqrt(2 * H / g), rest = fall * (1 + e) / (1 - e);
                    snprintf(text, sizeof text,
                             "galpha: 1\ngravity: [0, 0, %.17g]\nbodies:\n  p: {mass: 2, "
                             "inertia: [1, 1, 1], position: [0, 0, %.17g]}\njoints:\n  guide: "
                             "{type: prismatic, "
                             "between: [ground, p], axis: [0, 0, 1], limits: {min: %.17g, "
                             "restitution: %.17g}}\nsimulate: {t_end: %.17g}\noutput: {every: "
                             "%.17g, channels: [guide.displacement, guide.rate]}\n",
                             -g, offsets[d] * H, -H, e, 20 * rest, 0.1 * rest);
                    run(parse(text), &r);
                    for (int n = 0; n < r.count; ++n) {
                        const double x = r.x[n][0], t = r.t[n];
                        assert_true(x > -H * (1 + 1e-9 * fmax(1, 1e-3 * offsets[d])));
                        if (t < fall) /* the fall is computed exactly */
                            assert_true(fabs(x + 0.5 * g * t * t) <
                                        1e-10 * H * fmax(1, offsets[d]));
                        if (t > rest * (1 + 1e-5)) assert_true(r.x[n][1] == 0);
                        if (e > 0.01 && t < rest * (1 - 1e-4) && t > fall)
                            assert_true(r.x[n][1] != 0 || x == -H);
                    }
                    assert_true(fabs(last(&r)[0] + H) < 1e-12 * H * fmax(1, offsets[d]));
                }
}

/* An arm of 0.1 mm, 0.1 m from the origin: round-off of the position is a thousand times that
 * of an angle. Impacts are few and rest is reached, by any method. */
static void rests_on_a_short_arm(void **state)
{
    (void)state;
    static const char *const settings[] = {"", ", method: generalized-alpha", ", method: radau",
                                           ", step: 1e-4"};
    for (int k = 0; k < 4; ++k) {
        char text[600];
        snprintf(text, sizeof text,
                 "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\n"
                 "bodies: {a: {mass: 1e-6, inertia: 1e-15, position: [0.1, 0]}}\n"
                 "joints: {p: {type: revolute, between: [ground, a], at: [0.0999, 0],\n"
                 "  limits: {min: -1, restitution: 0.6}}}\n"
                 "simulate: {t_end: 0.1%s}\n"
                 "output: {channels: [p.angle, p.rate], every: 0.1}\n",
                 settings[k]);
        run(parse(text), &r);
        assert_true(r.count < 100);
        assert_true(fabs(last(&r)[0] + 1) < 1e-9);
        assert_true(last(&r)[1] == 0);
    }
}

/* Where it starts, and how. */
static void starts_at_the_stop(void **state)
{
    (void)state;
    static const char *const formulations[] = {"index2", "index3", "soi2", "hht-i3"};
    static const struct {
        double v, e, gravity, expected; /* after 1 s */
    } cases[] = {{0, 0.5, -9.81, 0}, {-1, 0.5, -9.81, 0},     {1, 0, -9.81, 0}, {-3, 1, 0, 3},
                 {-3, 0.5, 0, 1.5},  {-3, 0, 0, 0},           {2, 0.5, 0, 2},   {0, 0.5, 0, 0},
                 {0, 0.5, 4, 2},     {-1, 0.5, 2, 0.5 + 1.0}, {-1, 0, 2, 1}};
    for (int k = 0; k < 11; ++k)
        for (int f = 0; f < 4; ++f)
            for (int fixed = 0; fixed < 2; ++fixed) {
                char text[1000];
                snprintf(text, sizeof text,
                         "galpha: 1\ndimension: 2\ngravity: [0, %g]\nbodies:\n  p: {mass: 2, "
                         "inertia: 1, velocity: [0, %g]}\njoints:\n  guide: {type: prismatic, "
                         "between: "
                         "[ground, p], axis: [0, 1], limits: {min: 0, restitution: %g}}\n"
                         "simulate: {t_end: 1, formulation: %s, %s}\noutput: {every: 0.1, "
                         "channels: [guide.displacement]}\n",
                         cases[k].gravity, cases[k].v, cases[k].e, formulations[f],
                         fixed ? "step: 0.3" : "tolerance: 1e-6");
                run(parse(text), &r);
                for (int n = 0; n < r.count; ++n) assert_true(r.x[n][0] > -1e-12);
                if (!(fabs(last(&r)[0] - cases[k].expected) < 1e-9))
                    fail_msg("case %d, %s: %.12g", k, formulations[f], last(&r)[0]);
            }
}

/* --- release ------------------------------------------------------------------------------ */

/* Lifted off by F = m g 2 sin(w t) while that is above m g, falls back, rests, again and again.
 */
static void is_lifted_and_lands(void **state)
{
    (void)state;
    for (int e = 0; e < 2; ++e) {
        char text[1000];
        snprintf(text, sizeof text,
                 "galpha: 1\ngravity: [0, 0, -10]\nbodies:\n  p: {mass: 2, inertia: [1, 1, "
                 "1]}\njoints:\n  guide: "
                 "{type: prismatic, between: [ground, p], axis: [0, 0, 1], limits: {min: 0, "
                 "restitution: %g}}\nforces:\n  lift: {type: force, on: p, force: [0, 0, "
                 "\"40*sin(t)\"]}\nsimulate: {t_end: %d, tolerance: 1e-7}\noutput: {every: "
                 "0.05, channels: [guide.displacement, guide.rate]}\n",
                 e ? 0.1 : 0.0, LIFTED);
        run(parse(text), &r);
        const double pi = acos(-1), off = pi / 6;
        for (int n = 0; n < r.count; ++n) {
            const double x = r.x[n][0];
            const double phase = fmod(r.t[n], 2 * pi), s = phase - off;
            assert_true(x > -1e-11);
            if (r.t[n] > 2 * pi && phase < off - 1e-6 && !(fabs(x) < 1e-11))
                fail_msg("e %d: x = %g at t = %g", e, x, r.t[n]);
            /* x'' = 20 sin t - 10 from t = pi/6 on */
            const double up = 20 * (cos(off) * s + sin(off) - sin(phase)) - 5 * s * s;
            if (s > 0 && phase < 2.5) assert_true(fabs(x - up) < 1e-5);
        }
    }
}

/* --- several contacts --------------------------------------------------------------------- */

/* A carriage m1 = 3 rests on its stop; a mass m2 = 1 in it flies up and hits the carriage's
 * ceiling, 0.5 above, with restitution 0.5: the carriage is torn off its stop. */
static void impact_opens_another_contact(void **state)
{
    (void)state;
    run(parse("galpha: 1\ngravity: [0, 0, -10]\nbodies:\n  carriage: {mass: 3, inertia: [1, 1, "
              "1]}\n  ball: {mass: "
              "1, inertia: [1, 1, 1], velocity: [0, 0, 10]}\njoints:\n  guide: {type: "
              "prismatic, between: [ground, "
              "carriage], axis: [0, 0, 1], limits: {min: 0}}\n  cage: {type: prismatic, "
              "between: [carriage, ball], axis: [0, 0, 1], limits: {max: 0.5, restitution: "
              "0.5}}\nsimulate: {t_end: 0.2, tolerance: 1e-8}\noutput: {every: 0.01, channels: "
              "[guide.displacement, cage.displacement, guide.rate]}\n"),
        &r);
    const double t1 = 1 - sqrt(1 - 0.1), v = 10 - 10 * t1; /* 10 t - 5 t^2 = 0.5 */
    const double carriage = 1.5 * v / 4, ball = v - 3 * carriage, s = 0.2 - t1;
    const double x1 = carriage * s - 5 * s * s, x2 = 0.5 + ball * s - 5 * s * s;
    assert_true(fabs(last(&r)[0] - x1) < 1e-7);
    assert_true(fabs(last(&r)[1] - (x2 - x1)) < 1e-7);
}

/* The same mass falls on the carriage's floor: the carriage stays, and the ball bounces off it
 * as if it were the ground; with both coming down at once, both stop at once. */
static void impact_presses_another_contact(void **state)
{
    (void)state;
    for (int both = 0; both < 2; ++both) {
        char text[1000];
        snprintf(text, sizeof text,
                 "galpha: 1\ngravity: [0, 0, -10]\nbodies:\n  carriage: {mass: 3, inertia: [1, "
                 "1, 1]}\n  ball: "
                 "{mass: 1, inertia: [1, 1, 1], position: [0, 0, 1]}\njoints:\n  guide: {type: "
                 "prismatic, between: "
                 "[ground, carriage], axis: [0, 0, 1], limits: {min: %g}}\n  cage: {type: "
                 "prismatic, between: [carriage, ball], axis: [0, 0, 1], limits: {min: %g, "
                 "restitution: %g}}\nsimulate: {t_end: 0.6, tolerance: 1e-8}\noutput: {every: "
                 "0.01, channels: [guide.displacement, cage.displacement, guide.rate]}\n",
                 both ? -0.8 : 0.0, both ? 0.0 : -0.8, both ? 0 : 0.5);
        run(parse(text), &r);
        const double fall = 0.4, s = 0.2, up = 0.5 * 10 * fall;
        assert_true(fabs(last(&r)[0] - (both ? -0.8 : 0)) < 1e-10);
        assert_true(fabs(last(&r)[1] - (both ? 0 : -0.8 + up * s - 5 * s * s)) < 1e-7);
        for (int n = 0; n < r.count; ++n)
            assert_true(r.x[n][0] > (both ? -0.8 : 0) - 1e-10 &&
                        r.x[n][1] > (both ? 0 : -0.8) - 1e-10);
    }
}

/* --- turns -------------------------------------------------------------------------------- */

/* A rotor with a motor reaches a stop ten turns away in few steps, of more than a turn each. */
static void many_turns_in_a_step(void **state)
{
    (void)state;
    static const char *const kinematics[] = {"r3so3", "se3"};
    for (int k = 0; k < 2; ++k)
        for (int fixed = 0; fixed < 2; ++fixed) {
            char text[1000];
            snprintf(
                text, sizeof text,
                "galpha: 1\nbodies:\n  rotor: {mass: 1, inertia: [1, 1, 2]}\njoints:\n  "
                "axle: {type: revolute, between: [ground, rotor], at: [0, 0, 0], axis: [0, "
                "0, 1], limits: {max: 64, restitution: 0.5}}\nforces:\n  motor: {type: "
                "torque, on: rotor, torque: [0, 0, 4]}\nsimulate: {t_end: 30, kinematics: "
                "%s, %s}\noutput: {every: 0.125, channels: [axle.angle, axle.rate]}\n",
                kinematics[k], fixed ? "step: 0.9" : "tolerance: 1e-6");
            run(parse(text), &r);
            for (int n = 0; n < r.count; ++n) {
                const double t = r.t[n], x = r.x[n][0];
                assert_true(x < 64 + 1e-9);
                if (t <= 8) assert_true(fabs(x - t * t) < 1e-8);
                if (t > 8 && t < 16) /* 8 rad/s back */
                    assert_true(fabs(x - (64 - 8 * (t - 8) + (t - 8) * (t - 8))) < 1e-8);
            }
            assert_true(fabs(last(&r)[0] - 64) < 1e-12 && last(&r)[1] == 0);
        }
}

/* A heavy torque on a body far off its axis: the angle follows its rate. Newton's method found
 * roots with three more turns in a step of 0.06 rad. */
static void no_turns_without_velocity(void **state)
{
    (void)state;
    run(parse(
            "galpha: 1\ndimension: 2\nbodies:\n  body: {mass: 0.4, inertia: 2966, position: "
            "[654.2, -610.95]}\njoints:\n  axle: {type: revolute, between: [ground, body], at: "
            "[184.355, -136.834]}\nforces:\n  motor: {type: torque, on: body, torque: "
            "\"-2.845e10 + 3.1053e10*cos(781*t)\"}\nsimulate: {t_end: 0.06, tolerance: 3.5e-4, "
            "error: extrapolate, formulation: index2}\noutput: {every: 2e-5, channels: "
            "[axle.angle, axle.rate]}\n"),
        &r);
    for (int n = 1; n < r.count; ++n) {
        const double mean = 0.5 * (r.x[n][1] + r.x[n - 1][1]);
        const double turned = r.x[n][0] - r.x[n - 1][0];
        if (!(fabs(turned - mean * (r.t[n] - r.t[n - 1])) < 0.02))
            fail_msg("from %g to %g rad at t = %g", r.x[n - 1][0], r.x[n][0], r.t[n]);
    }
    /* J x'' = a + b cos(w t) */
    const double J = 2966 + 0.4 * (pow(654.2 - 184.355, 2) + pow(136.834 - 610.95, 2));
    const double t = 0.06, w = 781;
    const double x = (-2.845e10 * t * t / 2 + 3.1053e10 * (1 - cos(w * t)) / (w * w)) / J;
    assert_true(fabs(last(&r)[0] - x) < 0.05 * fabs(x));
}

/* --- between steps ------------------------------------------------------------------------ */

/* Outputs between steps are on the constraints as the ends of steps are: a joint at rest on its
 * stop is there, and joints do not open. (Interpolation alone leaves 1e-7 to 1e-3 with these
 * steps.) Velocities as well where the formulation keeps them. */
static void output_between_steps_is_consistent(void **state)
{
    (void)state;
    static const char *const resting =
        "galpha: 1\ndimension: 2\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: 1}\n"
        "  b: {mass: 1, inertia: 1, points: {q: [0, 0.24]}}\n"
        "  c: {mass: 2.4, position: [-1.1, -0.13], inertia: 0.11, points: {q: [-0.3, 0.46]}}\n"
        "joints:\n"
        "  line: {type: point-on-line, between: [a, c], at: [-1.135, -0.27], "
        "limits: {max: 0.03}}\n"
        "forces:\n"
        "  pull: {type: spring-damper, between: [b.q, c.q], stiffness: 29, length: 0.56}\n"
        "simulate: {t_end: 4, step: 0.1, formulation: %s}\n"
        "output: {every: 0.013, channels: [line.displacement, solver.position_residual, "
        "solver.velocity_residual]}\n";
    static const char *const swinging =
        "galpha: 1\ngravity: [0, 0, -9.81]\n"
        "bodies:\n"
        "  a: {mass: 1, inertia: [0.1, 0.2, 0.3], position: [1, 0, 0]}\n"
        "  b: {mass: 2, inertia: [0.3, 0.2, 0.2], position: [2, 0.5, 0]}\n"
        "joints:\n"
        "  hinge: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 1, 0]}\n"
        "  ball: {type: spherical, between: [a, b], at: [2, 0, 0]}\n"
        "simulate: {t_end: 3, step: 0.02, formulation: %s}\n"
        "output: {every: 0.013, channels: [hinge.angle, solver.position_residual, "
        "solver.velocity_residual]}\n";
    static const char *const formulations[] = {"index2", "soi2", "index3", "hht-i3"};
    for (int k = 0; k < 4; ++k)
        for (int stops = 0; stops < 2; ++stops) {
            char text[1500];
            snprintf(text, sizeof text, stops ? resting : swinging, formulations[k]);
            run(parse(text), &r);
            assert_true(r.count > 200);
            for (int i = 0; i < r.count; ++i) {
                if (stops) assert_true(r.x[i][0] <= 0.03 + 1e-12);
                assert_true(r.x[i][1] <= 1e-12);
                if (k < 2) assert_true(r.x[i][2] <= 1e-11);
            }
        }
}

/* --- starts ------------------------------------------------------------------------------- */

/* 1 kg, 9.81 N, on a stop below it or on a rail with friction: 0.3 * 9.81 N while it sticks,
 * 0.2
 * * 9.81 N when it slips. A start decides between them as a run does. */
static void start_decides_as_a_run(void **state)
{
    (void)state;
    static const char stop[] = "axis: [0, 0, 1], limits: {min: 0}",
                      rail[] = "axis: [1, 0, 0], friction: {coefficient: 0.2, static: 0.3, "
                               "model: stiction}";
    const struct {
        const char *joint, *force;
        double acceleration, reaction; /* along the axis */
        int axis, degrees_of_freedom;
    } cases[] = {
        {stop, "[0, 0, 20]", 20 - 9.81, 0, 2, 1},
        {stop, "[0, 0, 9]", 0, 9.81 - 9, 2, 0},
        {stop, "[0, 0, \"t < 0.5 ? 20 : 0\"]", 20 - 9.81, 0, 2, 1},
        {rail, "[20, 0, 0]", 20 - 0.2 * 9.81, -0.2 * 9.81, 0, 1},
        {rail, "[-20, 0, 0]", -20 + 0.2 * 9.81, 0.2 * 9.81, 0, 1},
        {rail, "[2.9, 0, 0]", 0, -2.9, 0, 0},
    };
    static const char *const ways[] = {
        "step: 1e-3", "tolerance: 1e-6", "tolerance: 1e-6, method: explicit",
        "tolerance: 1e-6, method: radau", "tolerance: 1e-6, method: auto"};
    for (size_t k = 0; k < 5 * sizeof cases / sizeof *cases; ++k) {
        const size_t c = k / 5;
        char text[1000];
        sprintf(text,
                "galpha: 1\ngravity: [0, 0, -9.81]\n"
                "bodies: {load: {mass: 1, inertia: [1, 1, 1]}}\n"
                "joints: {guide: {type: prismatic, between: [ground, load], %s}}\n"
                "forces: {push: {type: force, on: load, force: %s}}\n"
                "simulate: {t_end: 0.01, %s}\n"
                "output: {channels: [load.acceleration.%c, guide.force.%c]}\n",
                cases[c].joint, cases[c].force, ways[k % 5], "xyz"[cases[c].axis],
                "xyz"[cases[c].axis]);
        ga_model *model = parse(text);
        ga_sim_def def = ga_sim_def_of(model);
        ga_sim *sim = NULL;
        ga_report report = {0};
        ga_sim_check found;
        assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
        if (ga_sim_check_model(sim, &found, &report)) fail_msg("%s\n%s", report.message, text);
        assert_int_equal(found.degrees_of_freedom, cases[c].degrees_of_freedom);
        const double *x = ga_sim_values(sim);
        /* round-off of forces of 20 N */
        if (!(fabs(x[0] - cases[c].acceleration) <= 1e-12) ||
            !(fabs(x[1] - cases[c].reaction) <= 1e-12))
            fail_msg("%.17g, %.17g\n%s", x[0], x[1], text);
        const double start[] = {x[0], x[1]};
        ga_sim_destroy(sim);
        run(model, &r);
        for (int i = 0; i < 2; ++i) assert_true(fabs(r.x[0][i] - start[i]) <= 1e-12);
    }
}

/* Assembly moves the load, which then leaves its stop: the warning stays. */
static void start_tells_what_it_moved(void **state)
{
    (void)state;
    ga_model *model =
        parse("galpha: 1\ngravity: [0, 0, -9.81]\n"
              "bodies: {load: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
              "joints: {guide: {type: prismatic, between: [ground, load], "
              "axis: [0, 0, 1], limits: {min: 0}}}\n"
              "forces: {push: {type: force, on: load, force: [0, 0, 20]}}\n"
              "simulate: {t_end: 0.01}\n");
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    ga_report report = {0};
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    assert_int_equal(ga_sim_start(sim, &report), GA_OK);
    assert_non_null(ga_sim_warning(sim, 0));
    assert_non_null(strstr(ga_sim_warning(sim, 0), "initial values"));
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* --- runs that end for a reason ----------------------------------------------------------- */

static void fails_with(const char *text, bool at_start, ga_status expected, const char *words)
{
    ga_report report = {0};
    ga_model *model = parse(text);
    ga_sim_def def = ga_sim_def_of(model);
    ga_sim *sim = NULL;
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    const ga_status status = at_start ? ga_sim_start(sim, &report) : ga_sim_run(sim, &report);
    if (status != expected || !strstr(report.message, words) || !report.remedy)
        fail_msg("%d: %s (%s)", (int)status, report.message, report.remedy);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* Assembly puts a joint beyond its stop: it jumped back to it, as if it had struck. A gap of a
 * millionth of the size still does. */
static void starts_beyond_the_stop(void **state)
{
    (void)state;
    static const char *const model =
        "galpha: 1\ndimension: 2\nbodies:\n"
        "  a: {mass: 1, inertia: 1, position: [1, 0], points: {p: [0.5, 0]}}\n"
        "  b: {mass: 1, inertia: 1, position: [2, 0], points: {p: [%.9g, 0]}}\n"
        "joints:\n"
        "  s: {type: prismatic, between: [ground, a], at: [1, 0], limits: {%s}}\n"
        "  pin: {type: revolute, between: [a.p, b.p]}\n"
        "  u: {type: prismatic, between: [ground, b], at: [2, 0]}\n"
        "simulate: {t_end: 1, tolerance: 1e-5}\n"
        "output: {channels: [s.displacement]}\n";
    char text[1000];
    snprintf(text, sizeof text, model, -0.2, "max: 0.1");
    for (int k = 0; k < 2; ++k)
        fails_with(text, k == 0, GA_ERR_INCONSISTENT,
                   "joints.s starts 0.05 m beyond its stop at 0.1 m");
    snprintf(text, sizeof text, model, -0.8, "min: -0.1, max: 1");
    fails_with(text, false, GA_ERR_INCONSISTENT,
               "joints.s starts 0.05 m beyond its stop at -0.1 m");
    snprintf(text, sizeof text, model, -0.5 + 2e-6, "min: -0.1, max: 0");
    run(parse(text), &r);
    assert_true(fabs(last(&r)[0]) <= 1e-12);
}

/* In index 3 a body that is compact against its arm is unstable with an eighth of a radian in
 * each step. Its energy grows a thousand times and more, and steps fail and are cut: that ended
 * as a run that was done. */
static void steps_are_not_cut_in_vain(void **state)
{
    (void)state;
    static const char *const formulations[] = {"index3", "hht-i3"};
    for (int k = 0; k < 2; ++k) {
        char text[1000];
        snprintf(
            text, sizeof text,
            "galpha: 1\nbodies:\n"
            "  b: {mass: 1, inertia: [0.03, 0.03, 0.03], position: [31, 0, 0],\n"
            "    velocity: [0, -0.604, 0], angular_velocity: [0, 0, -0.604]}\n"
            "joints:\n"
            "  j: {type: revolute, between: [ground, b], at: [30, 0, 0], axis: [0, 0, 1]}\n"
            "simulate: {t_end: 80, step: 0.1978, formulation: %s}\n",
            formulations[k]);
        fails_with(text, false, GA_ERR_NO_CONVERGE,
                   "simulate.step = 0.1978 s is too large: the energy balance was off");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rests_on_a_revolute_stop),
        cmocka_unit_test(bounces_end_in_rest),
        cmocka_unit_test(rests_on_a_short_arm),
        cmocka_unit_test(starts_at_the_stop),
        cmocka_unit_test(is_lifted_and_lands),
        cmocka_unit_test(impact_opens_another_contact),
        cmocka_unit_test(impact_presses_another_contact),
        cmocka_unit_test(many_turns_in_a_step),
        cmocka_unit_test(no_turns_without_velocity),
        cmocka_unit_test(output_between_steps_is_consistent),
        cmocka_unit_test(start_decides_as_a_run),
        cmocka_unit_test(start_tells_what_it_moved),
        cmocka_unit_test(starts_beyond_the_stop),
        cmocka_unit_test(steps_are_not_cut_in_vain),
    };
    return cmocka_run_group_tests_name("stops", tests, NULL, NULL);
}
