/* A PD controller at 1 kHz, written in C, holds an arm at 0.8 rad.
 *
 * The model has an input, the torque of a motor. Every millisecond the program reads the angle
 * and the rate of the joint, computes a torque, and lets the simulation go on; in between the
 * torque is held, as a digital controller would hold it. The steps of the integrator are its
 * own. Against gravity a PD controller leaves an offset, which statics tells:
 *
 *     kp (target - angle) = m g l cos(angle)
 */
#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>

static const char text[] =
    "galpha: 1\n"
    "name: arm\n"
    "gravity: [0, 0, -9.81]\n"
    "inputs: {torque: {start: 0, unit: N m}}\n"
    "bodies: {arm: {mass: 2, inertia: [0.01, 0.06, 0.06], position: [0.3, 0, 0]}}\n"
    "joints: {hinge: {type: revolute, between: [ground, arm], at: [0, 0, 0], axis: [0, -1, "
    "0]}}\n"
    "forces: {motor: {type: torque, on: arm, torque: [0, -torque, 0]}}\n"
    "simulate: {t_end: 3, tolerance: 1e-6}\n"
    "output: {every: 0.1, channels: [hinge.angle, hinge.rate]}\n";

static int fail(const ga_report *report)
{
    fprintf(stderr, "%s\n", report->message);
    return 1;
}

int main(void)
{
    const double kp = 80, kd = 12, target = 0.8, period = 1e-3;
    ga_report report = {0};
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    if (ga_model_parse("arm", text, sizeof text - 1, NULL, &model, NULL)) return 1;
    const ga_sim_def def = ga_sim_def_of(model);
    if (ga_sim_create(model, &def, &sim, NULL, &report)) return fail(&report);
    if (ga_sim_start(sim, &report)) return fail(&report);

    const int torque = ga_sim_input(sim, "torque");
    const double *angle = ga_sim_channel_values(sim, ga_sim_channel(sim, "hinge.angle"));
    const double *rate = ga_sim_channel_values(sim, ga_sim_channel(sim, "hinge.rate"));
    for (int k = 1; k <= 3000; ++k) {
        if (ga_sim_set_input(sim, torque, kp * (target - *angle) - kd * *rate, &report) ||
            ga_sim_advance(sim, k * period, &report))
            return fail(&report);
        if (k % 500 == 0) printf("t = %.1f s: %.6f rad\n", ga_sim_time(sim), *angle);
    }
    const double offset = kp * (target - *angle), weight = 2 * 9.81 * 0.3 * cos(*angle);
    printf("the motor holds %.4f N m, the weight takes %.4f N m\n", offset, weight);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return fabs(offset - weight) < 1e-3 ? 0 : 2;
}
