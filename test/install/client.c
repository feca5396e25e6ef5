/* A client of the integrator alone: a stone falls for one second. Generalized-alpha methods
 * are exact for constant acceleration, so the answer is known to round-off. */
#include <galpha/integrate.h>
#include <galpha/version.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = 2;
    return GA_EVAL_OK;
}

static ga_eval weight(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    f[0] = -2 * 9.81;
    return GA_EVAL_OK;
}

int main(void)
{
    const ga_node height = GA_NODE(GA_GROUP_RN, 1);
    const ga_system stone = {.struct_size = sizeof(ga_system),
                             .node_count = 1,
                             .nodes = &height,
                             .mass = mass,
                             .force = weight};
    const double q0 = 10, v0 = 0;
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report = {0};

    if (strcmp(ga_version(), GA_VERSION) != 0) return 2;
    if (ga_coefficients_generalized_alpha(0.8, &def.coefficients, &report) ||
        ga_integrator_create(&stone, &def, &run, &report) ||
        ga_integrator_start(run, 0, &q0, &v0, 0.01, &report) ||
        ga_integrator_run(run, 1, NULL, NULL, &report)) {
        fprintf(stderr, "%s\n", report.message);
        return 1;
    }
    double q = ga_integrator_q(run)[0];
    printf("galpha %s: height %.6f\n", ga_version(), q);
    ga_integrator_destroy(run);
    return fabs(q - (10 - 9.81 / 2)) < 1e-9 ? 0 : 3;
}
