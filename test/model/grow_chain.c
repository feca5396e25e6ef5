/* For check_growth: reads, creates or starts a chain, and does nothing else.
 *
 *   grow_chain planar|spherical|revolute|written BODIES create|start
 *
 * `written` has one line per body, the others repeat one.
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

static char *repeated(const char *format, int n)
{
    const size_t size = strlen(format) + 30;
    char *text = malloc(size);
    if (text) snprintf(text, size, format, n, n - 1);
    return text;
}

static char *written(int n)
{
    const size_t size = 100 * (size_t)n + 200;
    char *text = malloc(size);
    if (!text) return NULL;
    size_t used = (size_t)snprintf(text, size, "galpha: 1\ndimension: 2\nbodies:\n");
    for (int k = 0; k < n; ++k)
        used +=
            (size_t)snprintf(text + used, size - used,
                             "  link%d: {mass: 2*m, inertia: 1, position: [%d, 0]}\n", k, k);
    snprintf(text + used, size - used,
             "parameters: {m: 1}\nsimulate: {t_end: 1, step: 1e-3}\n");
    return text;
}

static char *model_named(const char *name, int n)
{
    if (strcmp(name, "planar") == 0) return repeated(planar, n);
    if (strcmp(name, "spherical") == 0) return repeated(spherical, n);
    if (strcmp(name, "revolute") == 0) return repeated(revolute, n);
    return strcmp(name, "written") == 0 ? written(n) : NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4) return 2;
    const int n = atoi(argv[2]);
    char *text = n > 1 ? model_named(argv[1], n) : NULL;
    if (!text) return 2;

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
    free(text);
    return status == GA_OK ? 0 : 1;
}
