/* A drive train, cut at its shaft into two models that are simulated side by side.
 *
 * The motor side is a disc with a torque; the load side is a disc, a brake, and the elastic
 * shaft in front of it. From one communication point to the next the motor side holds the
 * torque of the shaft, and the load side goes on with the speed of the motor as it was at the
 * point, its angle growing linearly (explicit co-simulation, Jacobi's way). What is held is old
 * by up to a communication step H, so the error is of first order in H; it is measured here
 * against the whole drive train in one model, with H halved again and again.
 *
 * Without the whole model the error of a step is estimated by step doubling: copies of both
 * sides make one step of 2 H where these make two of H, and the speeds of the load differ by
 * the error of the two steps, which is of second order.
 */
#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>

#define HEAD "galpha: 1\n"
#define TAIL "simulate: {t_end: 1, step: 1e-4}\n"
#define DISC(name, J) "  " name ": {mass: 1, inertia: [1, 1, " J "]}\n"
#define JOINT(name, joint)                                                                     \
    "  " joint ": {type: revolute, between: [ground, " name                                    \
    "], at: [0, 0, 0], axis: [0, 0, 1]}\n"

static const char whole[] = HEAD "bodies:\n" DISC("motor", "0.5")
    DISC("load", "2") "joints:\n" JOINT("motor", "a") JOINT(
        "load",
        "b") "forces:\n"
             "  drive: {type: torque, on: motor, torque: [0, 0, 10*sin(3*t)]}\n"
             "  brake: {type: torque, on: load, torque: [0, 0, -0.5*b.rate]}\n"
             "  shaft: {type: torque, on: load, against: motor,\n"
             "          torque: [0, 0, 40*(a.angle - b.angle) + 2*(a.rate - b.rate)]}\n" TAIL
             "output: {every: 1, channels: [b.rate]}\n";

static const char motor_side[] = HEAD
    "inputs: {shaft: {start: 0, unit: N m}}\n"
    "bodies:\n" DISC("motor", "0.5") "joints:\n" JOINT(
        "motor",
        "a") "forces:\n"
             "  drive: {type: torque, on: motor, torque: [0, 0, 10*sin(3*t) - shaft]}\n" TAIL
             "output: {every: 1, channels: [a.angle, a.rate]}\n";

static const char load_side[] =
    HEAD "inputs: {angle: {start: 0, unit: rad}, rate: {start: 0, unit: rad/s}}\n"
         "bodies:\n" DISC("load", "2") "joints:\n" JOINT(
             "load", "b") "forces:\n"
                          "  brake: {type: torque, on: load, torque: [0, 0, -0.5*b.rate]}\n"
                          "  shaft: {type: torque, on: load, torque: [0, 0, 40*(angle - "
                          "b.angle) + 2*(rate - b.rate)]}\n" TAIL
                          "output: {every: 1, channels: [b.angle, b.rate, shaft.torque]}\n";

static ga_report report;

/* Null: failed, see the report. */
static ga_sim *make(const char *text, size_t length, ga_model **model)
{
    ga_sim *sim = NULL;
    if (ga_model_parse("drive train", text, length, NULL, model, NULL)) return NULL;
    const ga_sim_def def = ga_sim_def_of(*model);
    if (ga_sim_create(*model, &def, &sim, NULL, &report) || ga_sim_start(sim, &report)) {
        ga_sim_destroy(sim);
        return NULL;
    }
    return sim;
}

static const double *channel(const ga_sim *sim, const char *name)
{
    return ga_sim_channel_values(sim, ga_sim_channel(sim, name));
}

/* Both sides to t, with what each tells the other at the current time. */
static ga_status exchange(ga_sim *motor, ga_sim *load, double t)
{
    const double angle = *channel(motor, "a.angle"), rate = *channel(motor, "a.rate");
    const double torque = channel(load, "shaft.torque")[2];
    const double later = angle + (t - ga_sim_time(motor)) * rate;
    ga_status status = ga_sim_set_input(motor, ga_sim_input(motor, "shaft"), torque, &report);
    if (!status) status = ga_sim_set_input(load, ga_sim_input(load, "rate"), rate, &report);
    if (!status)
        status = ga_sim_ramp_input(load, ga_sim_input(load, "angle"), later, t, &report);
    if (!status) status = ga_sim_advance(motor, t, &report);
    if (!status) status = ga_sim_advance(load, t, &report);
    return status;
}

/* The speed of the load that copies of both sides arrive at in one step. */
static ga_status try_one(const ga_sim *motor, const ga_sim *load, double t, double *speed)
{
    ga_sim *m = NULL, *l = NULL;
    ga_status status = ga_sim_copy(motor, &m, &report);
    if (!status) status = ga_sim_copy(load, &l, &report);
    if (!status) status = exchange(m, l, t);
    if (!status) *speed = *channel(l, "b.rate");
    ga_sim_destroy(m);
    ga_sim_destroy(l);
    return status;
}

/* To t = 1 in 2 `pairs` communication steps; the largest estimate of the error of a pair. */
static ga_status couple(ga_sim *motor, ga_sim *load, int pairs, double *estimate)
{
    ga_sim_reset(motor);
    ga_sim_reset(load);
    ga_status status = ga_sim_start(motor, &report);
    if (!status) status = ga_sim_start(load, &report);
    *estimate = 0;
    for (int k = 0; k < pairs && !status; ++k) {
        const double middle = (k + 0.5) / pairs, t = (k + 1.0) / pairs;
        double speed = 0;
        status = try_one(motor, load, t, &speed);
        if (!status) status = exchange(motor, load, middle);
        if (!status) status = exchange(motor, load, t);
        *estimate = fmax(*estimate, fabs(speed - *channel(load, "b.rate")));
    }
    return status;
}

int main(void)
{
    ga_model *models[3] = {NULL};
    ga_sim *all = make(whole, sizeof whole - 1, &models[0]);
    ga_sim *motor = make(motor_side, sizeof motor_side - 1, &models[1]);
    ga_sim *load = make(load_side, sizeof load_side - 1, &models[2]);
    if (!all || !motor || !load || ga_sim_run(all, &report)) {
        fprintf(stderr, "%s\n", report.message);
        return 1;
    }
    const double exact = *channel(all, "b.rate");
    double error = NAN, estimate = NAN, order = NAN, local_order = NAN;
    printf("load at t = 1 s: %.9f rad/s\n", exact);
    for (int pairs = 20; pairs <= 320; pairs *= 2) {
        const double last_error = error, last_estimate = estimate;
        if (couple(motor, load, pairs, &estimate)) {
            fprintf(stderr, "%s\n", report.message);
            return 1;
        }
        error = fabs(*channel(load, "b.rate") - exact);
        order = log2(last_error / error);
        local_order = log2(last_estimate / estimate);
        printf("H = %-9.4g error %.3e", 0.5 / pairs, error);
        if (pairs > 20) printf(", order %.2f", order);
        printf("   step doubling %.3e", estimate);
        if (pairs > 20) printf(", order %.2f", local_order);
        printf("\n");
    }
    ga_sim_destroy(all);
    ga_sim_destroy(motor);
    ga_sim_destroy(load);
    for (int k = 0; k < 3; ++k) ga_model_destroy(models[k]);
    return fabs(order - 1) < 0.1 && fabs(local_order - 2) < 0.1 ? 0 : 2;
}
