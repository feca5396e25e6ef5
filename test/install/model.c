/* A client of mechanisms without results: a stone from a model text falls for one second. */
#include <galpha/sim.h>
#include <math.h>
#include <stdio.h>

static const char text[] =
    "galpha: 1\n"
    "gravity: [0, 0, -9.81]\n"
    "bodies: {stone: {mass: 2, inertia: [1, 1, 1], position: [0, 0, 10]}}\n"
    "simulate: {t_end: 1, step: 0.01}\n"
    "output: {every: 1, channels: [stone.position]}\n";

int main(void)
{
    ga_report report = {0};
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    if (ga_model_parse("stone", text, sizeof text - 1, NULL, &model, NULL)) return 1;
    const ga_sim_def def = ga_sim_def_of(model);
    if (ga_sim_create(model, &def, &sim, NULL, &report) || ga_sim_run(sim, &report)) {
        fprintf(stderr, "%s\n", report.message);
        return 2;
    }
    const double z = ga_sim_values(sim)[2];
    printf("height %.6f\n", z);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return fabs(z - (10 - 9.81 / 2)) < 1e-9 ? 0 : 3;
}
