/* For check_growth: reads, creates or starts a chain, and does nothing else.
 *
 *   grow_chain planar|spherical|revolute BODIES create|start
 */
#include <galpha/sim.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char planar[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: 0.1, position: [i + 0.5, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"], at: [i + 1, "
    "0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

static const char spherical[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1, 1, 1], position: [i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: spherical, between: [\"b{i}\", \"b{i+1}\"], at: [i+1, 0, "
    "0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

/* Its saddle matrix fills up where pivots are planned on the diagonal. */
static const char revolute[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1, 1, 1], position: [i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"], at: [i+1, 0, 0],"
    " axis: [0, 1, 0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

static const char *model_named(const char *name)
{
    if (strcmp(name, "planar") == 0) return planar;
    if (strcmp(name, "spherical") == 0) return spherical;
    return strcmp(name, "revolute") == 0 ? revolute : NULL;
}

int main(int argc, char **argv)
{
    const char *format = argc == 4 ? model_named(argv[1]) : NULL;
    int n = argc == 4 ? atoi(argv[2]) : 0;
    if (!format || n < 2) return 2;

    char text[1000];
    snprintf(text, sizeof text, format, n, n - 1);
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    ga_status status = ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL);
    if (status == GA_OK) {
        ga_sim_def def = ga_sim_def_of(model);
        status = ga_sim_create(model, &def, &sim, NULL, &report);
    }
    if (status == GA_OK && strcmp(argv[3], "start") == 0) status = ga_sim_start(sim, &report);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
    return status == GA_OK ? 0 : 1;
}
