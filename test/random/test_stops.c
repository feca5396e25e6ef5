/* Random bodies against stops, compared with a reference of their own.
 *
 * One coordinate x, of a prismatic or a revolute joint between ground and a body, with stops at
 * min and max, one of them or both:
 *
 *     x'' = a + b cos(w t) - c sin(x + x_0)
 *
 * (c, gravity on a pendulum, only for the revolute joint.) Lengths, masses and times range over
 * nine decades, restitution from 0 to 0.95, tolerances and steps over three decades;
 * formulations, kinematics, error modes, dimensions and places are drawn, too. Some of them
 * also run with the other methods.
 *
 * The reference integrates this equation by the classical Runge-Kutta method with small steps,
 * finds impacts by bisection, and goes by the laws of impact and rest. It knows nothing of
 * the library.
 *
 * STOPS_CASES and STOPS_SEED in the environment choose how many cases, and which; STOPS_CASE
 * runs one and prints it, with another tolerance if STOPS_TOLERANCE gives one. */
#include "test/random/dice.h"
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

enum { OUTPUTS = 50 };

#if defined(__SANITIZE_ADDRESS__)
enum { CASES = 50 };
#else
enum { CASES = 1000 };
#endif

/* --- cases -------------------------------------------------------------------------------- */

typedef struct scenario {
    bool revolute;
    int dimension;
    double length, time; /* units of the problem */
    double a, b, w, c, x0;
    double min, max, e, v0; /* min, max: NaN if there is none */
    double t_end;
    double size;      /* of x: largest excursion there may be */
    double tolerance; /* 0: fixed steps */
    double step;
    const char *formulation, *error, *kinematics, *method;
    double axis[3], side[3], at[3];
    double mass, inertia, arm;
} scenario;

static void unit_vectors(dice *d, scenario *c)
{
    double norm = 0, along = 0;
    for (int i = 0; i < 3; ++i) {
        c->axis[i] = between(d, -1, 1);
        c->side[i] = between(d, -1, 1);
    }
    if (c->dimension == 2) {
        c->axis[2] = c->side[2] = 0;
        if (c->revolute) c->axis[0] = c->axis[1] = 0, c->axis[2] = 1;
    }
    for (int i = 0; i < 3; ++i) norm += c->axis[i] * c->axis[i];
    for (int i = 0; i < 3; ++i) c->axis[i] /= sqrt(norm);
    for (int i = 0; i < 3; ++i) along += c->axis[i] * c->side[i];
    norm = 0;
    for (int i = 0; i < 3; ++i) {
        c->side[i] -= along * c->axis[i];
        norm += c->side[i] * c->side[i];
    }
    for (int i = 0; i < 3; ++i) c->side[i] /= sqrt(norm);
}

static scenario draw(uint64_t seed)
{
    static const char *const formulations[] = {"index2", "index3", "soi2", "hht-i3"};
    static const char *const errors[] = {"auto", "full", "extrapolate", "positions"};
    dice die = {seed * 7919 + 17}, *d = &die;
    for (int k = 0; k < 5; ++k) uniform(d);
    scenario c = {.revolute = uniform(d) < 0.5, .dimension = 2 + one_of(d, 2)};
    c.length = decades(d, 1e-6, 1e3);
    c.time = decades(d, 1e-5, 1e4);
    const double unit = c.revolute ? 1 : c.length;
    const double acceleration = unit / (c.time * c.time);
    unit_vectors(d, &c);
    for (int i = 0; i < c.dimension; ++i)
        c.at[i] = c.length * between(d, -1, 1) * (uniform(d) < 0.2 ? 100 : 1);
    c.mass = decades(d, 1e-6, 1e3);
    c.arm = c.length * between(d, 0.1, 1);
    c.inertia = c.mass * c.length * c.length * decades(d, 1e-2, 1);
    c.e = uniform(d) < 0.2 ? 0 : between(d, 0, 0.95);
    const int kind = one_of(d, 3); /* constant, oscillating, gravity on a pendulum */
    c.a = acceleration * between(d, -1, 1);
    if (kind == 1) {
        c.b = acceleration * between(d, 0, 1);
        c.w = between(d, 0.3, 3) / c.time;
        c.e = fmin(c.e, 0.5); /* else chaotic */
    }
    if (kind == 2 && c.revolute) {
        c.c = acceleration * between(d, 0.1, 1);
        c.x0 = between(d, -pi, pi);
        c.a *= uniform(d) < 0.5 ? 0 : 1;
    }
    /* up to ten turns away */
    const double reach = c.revolute && uniform(d) < 0.3 ? 60 : 2;
    c.min = -unit * between(d, 0, reach);
    c.max = unit * between(d, 0, reach);
    if (uniform(d) < 0.1) c.min = 0;
    if (uniform(d) < 0.5) *(c.a < 0 ? &c.max : &c.min) = NAN;
    c.v0 =
        uniform(d) < 0.3 ? 0 : unit / c.time * between(d, -1, 1) * (uniform(d) < 0.2 ? 10 : 1);
    c.t_end = c.time * decades(d, 1, 30);
    if (kind == 0) c.t_end *= decades(d, 1, 30);
    c.formulation = formulations[one_of(d, 4)];
    c.kinematics = uniform(d) < 0.3 ? "se3" : "r3so3";
    if (uniform(d) < 0.7) {
        c.tolerance = decades(d, 1e-6, 1e-3);
        c.error = uniform(d) < 0.5 ? "auto" : errors[one_of(d, 4)];
        if (strcmp(c.error, "extrapolate") == 0) c.formulation = "index2";
    } else {
        c.step = c.time * decades(d, 1e-3, 1);
        c.error = "auto";
        /* a body off its axis needs some steps in a turn */
        if (c.revolute)
            c.step = fmin(c.step, 0.2 / (fabs(c.v0) + (fabs(c.a) + c.b + c.c) * c.t_end));
        c.t_end = fmin(c.t_end, 1000 * c.step);
    }
    /* some turns are enough */
    if (c.revolute) c.t_end = fmin(c.t_end, 40 / (fabs(c.v0) + sqrt(fabs(c.a) + c.b + c.c)));
    return c;
}

static double force(const scenario *c, double t, double x)
{
    return c->a + c->b * cos(c->w * t) - c->c * sin(x + c->x0);
}

/* --- reference ---------------------------------------------------------------------------- */

typedef struct point {
    double t, x, v;
    double leap;  /* speed after the last impact */
    double since; /* when that was */
    int at;       /* rests at max: 1, at min: -1 */
} point;

static point runge_kutta(const scenario *c, point p, double h)
{
    const double x1 = p.v, v1 = force(c, p.t, p.x);
    const double x2 = p.v + h / 2 * v1, v2 = force(c, p.t + h / 2, p.x + h / 2 * x1);
    const double x3 = p.v + h / 2 * v2, v3 = force(c, p.t + h / 2, p.x + h / 2 * x2);
    const double x4 = p.v + h * v3, v4 = force(c, p.t + h, p.x + h * x3);
    return (point){p.t + h,
                   p.x + h / 6 * (x1 + 2 * x2 + 2 * x3 + x4),
                   p.v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4),
                   p.leap,
                   p.since,
                   0};
}

/* Beyond which stop, moving outward? */
static int beyond(const scenario *c, const point *p)
{
    if (p->x > c->max && p->v > 0) return 1;
    if (p->x < c->min && p->v < 0) return -1;
    return 0;
}

/* Does the force hold it at the stop? */
static bool presses(const scenario *c, const point *p)
{
    return p->at * force(c, p->t, p->x) >= 0;
}

/* h, or less where x turns back within that time: what it reached must be seen. */
static double to_turning_point(const scenario *c, point p, double h)
{
    const point end = runge_kutta(c, p, h);
    if (!(p.v * end.v < 0)) return h;
    double low = 0, high = h;
    for (int k = 0; k < 40; ++k) {
        const double middle = 0.5 * (low + high);
        *(runge_kutta(c, p, middle).v * p.v > 0 ? &low : &high) = middle;
    }
    return low > 1e-9 * h ? low : h;
}

/* One step of at most h, shorter if something happens in it. */
static point advance(const scenario *c, point p, double h, double speed)
{
    if (p.at) {
        point next = p;
        next.t += h;
        if (presses(c, &next)) return next;
        double low = 0, high = h;
        for (int k = 0; k < 60; ++k) {
            next.t = p.t + 0.5 * (low + high);
            *(presses(c, &next) ? &low : &high) = 0.5 * (low + high);
        }
        next.t = p.t + high;
        next.at = 0;
        next.leap = INFINITY;
        return next;
    }
    const double a = fabs(force(c, p.t, p.x));
    if (a > 0) h = fmin(h, 0.3 * fmax(p.leap / a, p.t - p.since)); /* several in a flight */
    h = to_turning_point(c, p, h);
    point next = runge_kutta(c, p, h);
    const int side = beyond(c, &next);
    if (!side) return next;
    double low = 0, high = h;
    for (int k = 0; k < 60; ++k) {
        const double middle = 0.5 * (low + high);
        const point q = runge_kutta(c, p, middle);
        *(beyond(c, &q) ? &high : &low) = middle;
    }
    next = runge_kutta(c, p, high);
    next.x = side > 0 ? c->max : c->min;
    next.v *= -c->e;
    next.at = side;
    if (fabs(next.v) <= 1e-7 * speed && presses(c, &next)) {
        next.v = 0;
    } else {
        next.at = 0;
    }
    next.leap = fabs(next.v) > 1e-7 * speed ? fabs(next.v) : INFINITY;
    next.since = next.t;
    return next;
}

/* --- the simulation, and the reference beside it -------------------------------------------
 */

typedef struct track {
    const scenario *c;
    point p;
    double disturbance; /* of twins, relative to the speed */
    double speed, h;
    double error, error_end, outside; /* of x */
    double x;                         /* the last */
    double scale;                     /* of positions, which tolerances are relative to */
    bool warned; /* that impacts multiply errors, or that a stop is grazed */
} track;

static void follow(track *k, point *p, double t)
{
    while (t - p->t > 1e-12 * k->c->t_end) {
        *p = advance(k->c, *p, fmin(k->h, t - p->t), k->speed);
        k->speed = fmax(k->speed, fabs(p->v));
    }
}

/* How much the problem itself amplifies errors after a time: a body that just touches a stop
 * may bounce or not, and bounces under a changing force part from each other. Twins of the
 * reference are disturbed in their velocity once each, by all that the tolerance allows: it is
 * relative to the largest so far, which counts as at least the size of positions over the
 * duration. What the tolerance allows in many steps does no more at the end than it does in the
 * worst one. */
static double amplification(const track *k, point start, double from)
{
    const scenario *c = k->c;
    double spread = 0;
    for (int i = 0; i < 2 * OUTPUTS; ++i) {
        track twin = *k;
        point p = start;
        const double t = c->t_end * (i / 2) / OUTPUTS;
        if (t < from) continue;
        follow(&twin, &p, t);
        const double size = fmax(k->speed, k->scale / c->t_end);
        if (p.at) continue;
        p.v += (i % 2 ? -1 : 1) * k->disturbance * size;
        follow(&twin, &p, c->t_end);
        spread = fmax(spread, fabs(p.x - k->p.x));
    }
    return fmax(1, spread / k->scale / k->disturbance);
}

static ga_eval compare(void *user, const ga_sim *sim)
{
    track *k = user;
    const scenario *c = k->c;
    const double t = ga_sim_time(sim), x = ga_sim_values(sim)[0];
    follow(k, &k->p, t);
    k->error_end = fabs(x - k->p.x);
    k->error = fmax(k->error, k->error_end);
    k->outside = fmax(k->outside, fmax(x - c->max, 0)); /* false for NaN */
    k->outside = fmax(k->outside, fmax(c->min - x, 0));
    k->x = x;
    return GA_EVAL_OK;
}

static void write_vector(char **to, const char *name, int n, double scale, const double *x)
{
    *to += sprintf(*to, "%s: [%.17g, %.17g", name, scale * x[0], scale * x[1]);
    *to += n == 3 ? sprintf(*to, ", %.17g]", scale * x[2]) : sprintf(*to, "]");
}

static void write_limits(char **to, const scenario *c)
{
    *to += sprintf(*to, "    limits: {restitution: %.17g", c->e);
    if (!isnan(c->min)) *to += sprintf(*to, ", min: %.17g", c->min);
    if (!isnan(c->max)) *to += sprintf(*to, ", max: %.17g", c->max);
    *to += sprintf(*to, "}\n");
}

/* Prismatic: the constant part of the force is gravity along the axis. Revolute: gravity of the
 * pendulum lies across it, `down`; the body is where the angle from there is x_0. */
static void write_model(const scenario *c, char *text)
{
    char *to = text;
    const int n = c->dimension;
    double up[3], position[3], down[3], velocity[3], spin[3];
    const double J = c->inertia + c->mass * c->arm * c->arm; /* about the axis */
    const double *z = c->axis, *u = c->side;
    const double cross[3] = {z[1] * u[2] - z[2] * u[1], z[2] * u[0] - z[0] * u[2],
                             z[0] * u[1] - z[1] * u[0]};
    for (int i = 0; i < 3; ++i) {
        up[i] = c->a * z[i];
        down[i] = c->c * J / (c->mass * c->arm) * u[i];
        const double out = cos(c->x0) * u[i] + sin(c->x0) * cross[i];
        const double ahead = -sin(c->x0) * u[i] + cos(c->x0) * cross[i];
        position[i] = c->at[i] + (c->revolute ? c->arm * out : 0);
        velocity[i] = c->v0 * (c->revolute ? c->arm * ahead : z[i]);
        spin[i] = c->revolute ? c->v0 * z[i] : 0;
    }
    to += sprintf(to, "galpha: 1\ndimension: %d\n", n);
    write_vector(&to, "gravity", n, 1, c->revolute ? down : up);
    to += sprintf(to, "\nbodies:\n  body: {mass: %.17g, ", c->mass);
    if (n == 2)
        to += sprintf(to, "inertia: %.17g, angular_velocity: %.17g, ", c->inertia, spin[2]);
    else {
        to +=
            sprintf(to, "inertia: [%.17g, %.17g, %.17g], ", c->inertia, c->inertia, c->inertia);
        write_vector(&to, "angular_velocity", 3, 1, spin);
        to += sprintf(to, ", ");
    }
    write_vector(&to, "position", n, 1, position);
    to += sprintf(to, ", ");
    write_vector(&to, "velocity", n, 1, velocity);
    to += sprintf(to, "}\njoints:\n  joint:\n    type: %s\n    between: [ground, body]\n    ",
                  c->revolute ? "revolute" : "prismatic");
    if (c->revolute) write_vector(&to, "at", n, 1, c->at);
    to += sprintf(to, "\n");
    if (n == 3 || !c->revolute) {
        to += sprintf(to, "    ");
        write_vector(&to, "axis", n, 1, z);
        to += sprintf(to, "\n");
    }
    write_limits(&to, c);
    if (c->revolute) {
        to += sprintf(to, "forces:\n  motor: {type: torque, on: body, torque: ");
        if (n == 2)
            to += sprintf(to, "\"%.17g + %.17g*cos(%.17g*t)\"}\n", c->a * J, c->b * J, c->w);
        else {
            to += sprintf(to, "[");
            for (int i = 0; i < 3; ++i)
                to += sprintf(to, "\"%.17g + %.17g*cos(%.17g*t)\"%s", c->a * J * z[i],
                              c->b * J * z[i], c->w, i < 2 ? ", " : "]}\n");
        }
    } else if (c->b != 0) {
        to += sprintf(to, "forces:\n  push: {type: force, on: body, force: [");
        for (int i = 0; i < n; ++i)
            to += sprintf(to, "\"%.17g*cos(%.17g*t)\"%s", c->b * c->mass * z[i], c->w,
                          i < n - 1 ? ", " : "]}\n");
    }
    to += sprintf(to, "simulate: {t_end: %.17g, kinematics: %s, ", c->t_end, c->kinematics);
    if (!c->method) to += sprintf(to, "formulation: %s, ", c->formulation);
    if (c->method)
        to += sprintf(to, "tolerance: %.17g, method: %s}\n", c->tolerance, c->method);
    else if (c->tolerance > 0)
        to += sprintf(to, "tolerance: %.17g, error: %s}\n", c->tolerance, c->error);
    else
        to += sprintf(to, "step: %.17g}\n", c->step);
    sprintf(to, "output: {channels: [joint.%s], every: %.17g}\n",
            c->revolute ? "angle" : "displacement", c->t_end / OUTPUTS);
}

/* Absolute tolerances in the units of the problem. */
static void scale_control(const scenario *c, ga_control *control)
{
    control->relative = c->tolerance;
    control->absolute_translation = 1e-2 * c->tolerance * c->length;
    control->absolute_velocity = 1e-2 * c->tolerance * c->length / c->time;
    control->absolute_rotation = 1e-2 * c->tolerance;
    control->absolute_angular_velocity = 1e-2 * c->tolerance / c->time;
}

static bool has_warning(const ga_sim *sim, const char *code)
{
    ga_warning warning;
    for (int i = 0; (warning = ga_sim_get_warning(sim, i)).code; ++i)
        if (strcmp(warning.code, code) == 0) return true;
    return false;
}

static ga_status simulate(const scenario *c, track *k, ga_report *report)
{
    char text[8000];
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    write_model(c, text);
    if (getenv("STOPS_CASE")) printf("%s", text), fflush(stdout);
    ga_messages *messages = ga_messages_create();
    if (ga_model_parse("case", text, strlen(text), NULL, &model, messages) != GA_OK)
        fail_msg("%s\n%s", ga_messages_get(messages, 0).text, text);
    ga_messages_destroy(messages);
    ga_sim_def def = ga_sim_def_of(model);
    if (c->tolerance > 0) scale_control(c, &def.control);
    def.output = compare;
    def.user = k;
    ga_status status = ga_sim_create(model, &def, &sim, NULL, report);
    if (status == GA_OK) {
        status = ga_sim_run(sim, report);
        k->warned = has_warning(sim, "sensitive-impacts") || has_warning(sim, "grazing");
    }
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return status;
}

/* How many times ten tolerances the error may be. `extrapolate` and `positions` control the
 * error of steps and promise nothing about the end: of these only stops are checked. */
static double leeway(const scenario *c)
{
    const bool of_steps =
        strcmp(c->error, "extrapolate") == 0 || strcmp(c->error, "positions") == 0;
    return of_steps ? INFINITY : 1;
}

/* Error of steps of second order, in radians or units of length: of a body that turns, by the
 * angle of a step; of an oscillating force, by its phase; of a pendulum, by its own phase and
 * the angle that it has swung through. A constant force on a slider is integrated exactly. */
static double by_steps(const scenario *c, double speed)
{
    const double turn = c->revolute ? c->step * speed : 0, phase = c->step * c->w;
    const double turned = c->revolute ? speed * c->t_end : 0;
    const double swing = c->step * sqrt(c->c);
    const double error =
        1e-9 + 2 * turn * turn * (1 + turned) + 20 * phase * phase + 2 * swing * swing * turned;
    return error < 0.05 ? error : INFINITY; /* too coarse to be judged */
}

/* Coordinates in the world; for an angle, as seen from the axis. */
static double world_size(const scenario *c)
{
    double size = 0;
    for (int i = 0; i < 3; ++i) size = fmax(size, fabs(c->at[i]));
    return c->revolute ? size / c->arm : size;
}

/* Error control fails at times where there is no stop at all (cases 770, 1000251); that is not
 * judged here. */
static bool fails_without_stops(const scenario *given)
{
    scenario c = *given;
    c.min = -1e9 * c.length;
    c.max = 1e9 * c.length;
    track k = {.c = &c, .p = {.v = c.v0, .leap = INFINITY}, .h = c.time};
    ga_report report = {0};
    return simulate(&c, &k, &report) != GA_OK;
}

/* The same problem by another method, always with error control. */
static void change_method(scenario *c, const char *method)
{
    c->method = method;
    c->formulation = "index2";
    c->error = "auto";
    if (c->tolerance == 0) c->tolerance = 1e-4;
    c->step = 0;
}

/* What is wrong with a case; 0: nothing. method: null for generalized-alpha. */
static int judge(uint64_t seed, const char *method, double worst[3])
{
    scenario c = draw(seed);
    if (method) change_method(&c, method);
    const char *tolerance = getenv("STOPS_TOLERANCE");
    if (tolerance && c.tolerance > 0) c.tolerance = atof(tolerance);
    const double unit = c.revolute ? 1 : c.length;
    track k = {.c = &c, .p = {.v = c.v0, .leap = INFINITY}, .h = 0.1 * c.time};
    ga_report report = {0};
    k.speed = fabs(c.v0);
    /* exact where the force is constant */
    if (c.w > 0) k.h = fmin(k.h, 5e-3 / c.w);
    if (c.c > 0) k.h = 2e-3 * c.time;
    if ((c.min == 0 && c.v0 < 0) || (c.max == 0 && c.v0 > 0)) {
        k.p.v *= -c.e;
        k.p.leap = fabs(k.p.v) > 0 ? fabs(k.p.v) : INFINITY;
    }
    if (k.p.v == 0) {
        if (c.max == 0 && force(&c, 0, 0) >= 0) k.p.at = 1;
        if (c.min == 0 && force(&c, 0, 0) <= 0) k.p.at = -1;
    }
    const point start = k.p;
    k.disturbance = c.tolerance > 0 ? c.tolerance : fmin(0.1 * by_steps(&c, k.speed), 1e-3);
    double size = unit;
    if (!isnan(c.min)) size = fmax(size, -c.min);
    if (!isnan(c.max)) size = fmax(size, c.max);
    const double scale = k.scale = fmax(size, world_size(&c));
    const ga_status status = simulate(&c, &k, &report);
    const double h = c.step / c.time;
    const double allowed =
        c.tolerance > 0 ? 10 * c.tolerance * leeway(&c) : by_steps(&c, k.speed);
    worst[0] = k.outside / size;
    worst[1] = k.error_end / scale / allowed;
    worst[2] = k.error / scale / allowed;
    /* errors that grow without stops, or after the last impact, as those of pendulums that go
     * over the top, are none of theirs */
    const bool struck = k.p.since > 0 || k.p.at || k.p.leap < INFINITY;
    /* 1: fails, 2: passes a stop, 4: wrong, 8: as disturbances, with a warning */
    int wrong = 0;
    if (status != GA_OK && !fails_without_stops(&c)) wrong |= 1;
    if (k.outside > 1e-9 * size) wrong |= 2;
    if (worst[1] > 1) {
        /* no more than what one disturbance does, by which worst[1] is ten times too small */
        const bool free = !struck || 10 * worst[1] <= amplification(&k, start, k.p.since);
        const bool amplified = 10 * worst[1] <= amplification(&k, start, 0);
        wrong |= k.disturbance > 0 && amplified && (free || k.warned) ? 8 : 4;
    }
    if (wrong || getenv("STOPS_CASE"))
        print_message(
            "case %lu: %s%s%s%s%s%s, outside %.2g, error %.2g at the end, %.2g at most of "
            "what is allowed; %s %dD %s %s %s %s tolerance %.2g h %.2g e %.3g t_end %.3g, "
            "x = %.6g, expected %.6g, size %.3g %s\n",
            (unsigned long)seed, wrong ? "" : "good", wrong & 1 ? "FAILED " : "",
            wrong & 2 ? "OUTSIDE " : "", wrong & 4 ? "WRONG" : "", wrong & 8 ? "SENSITIVE" : "",
            k.warned ? " (warned)" : "", worst[0], worst[1], worst[2],
            c.revolute ? "revolute" : "prismatic", c.dimension, method ? method : "",
            c.formulation, c.kinematics, c.error, c.tolerance, h, c.e, c.t_end / c.time, k.x,
            k.p.x, size, report.message);
    return wrong;
}

static void check_cases(const char *method, long usual)
{
    const char *cases = getenv("STOPS_CASES"), *first = getenv("STOPS_SEED"),
               *only = getenv("STOPS_CASE");
    const long count = only ? 1 : cases ? atol(cases) : usual;
    const long from = only ? atol(only) : first ? atol(first) : 1;
    int failed = 0, outside = 0, wrong = 0, sensitive = 0, any = 0;
    double most[3] = {0}, worst[3];
    for (long k = from; k < from + count; ++k) {
        const int what = judge((uint64_t)k, method, worst);
        failed += what & 1;
        outside += what >> 1 & 1;
        wrong += what >> 2 & 1;
        sensitive += what >> 3 & 1;
        any += (what & 7) != 0;
        for (int i = 0; i < 3; ++i) most[i] = fmax(most[i], worst[i]);
    }
    if (any || getenv("TEST_VERBOSE"))
        print_message("%d of %ld cases: %d failed, %d beyond a stop, %d wrong; at most %.2g "
                      "outside, %.2g and %.2g of the error allowed; %d beyond that by "
                      "what the problem does to a disturbance of one tolerance\n",
                      any, count, failed, outside, wrong, most[0], most[1], most[2], sensitive);
    assert_int_equal(any, 0);
    assert_true(sensitive <= (first || only ? 1 + count / 200 : 0));
}

static void random_stops(void **state)
{
    (void)state;
    check_cases(NULL, CASES);
}

/* Cases in which impacts multiply errors, by 3000 in the first: they are told. The others graze
 * a stop, or are pendulums, one of which never strikes and two of which go over the top after
 * their last impact. 24680916 is unstable in index 3, and turned so fast at the end that it
 * passed its stop. 53190748 never ended: round-off of positions, on a short arm, kept small
 * rebounds going. */
static void cases_that_once_failed(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        int verdict;
    } cases[] = {{660900089, 8}, {31415905, 8}, {52900193, 8}, {52900408, 8},
                 {771118359, 8}, {19112755, 8}, {52900240, 0}, {24680916, 0},
                 {53190748, 0},  {86190234, 8}, {90817687, 8}, {75190373, 8}};
    double worst[3];
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        assert_int_equal(judge(cases[k].seed, NULL, worst), cases[k].verdict);
}

static void stops_by_other_methods(void **state)
{
    (void)state;
    static const char *const methods[] = {"explicit", "radau", "auto"};
    for (int i = 0; i < 3; ++i) check_cases(methods[i], CASES / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_stops),
                                       cmocka_unit_test(cases_that_once_failed),
                                       cmocka_unit_test(stops_by_other_methods)};
    return cmocka_run_group_tests_name("stops", tests, NULL, NULL);
}
