#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

/* A pendulum in Cartesian coordinates (x, y): mass 1, rod of length 1; lambda is its tension. */
static ga_eval mass(void *user, const ga_point *at, double *M)
    { M[0] = M[3] = 1; M[1] = M[2] = 0; return GA_EVAL_OK; }
static ga_eval force(void *user, const ga_point *at, double *f)
    { f[0] = 0; f[1] = -9.81; return GA_EVAL_OK; }
static ga_eval rod(void *user, const ga_point *at, double *Phi)
    { *Phi = hypot(at->q[0], at->q[1]) - 1; return GA_EVAL_OK; }

int main(void)
{
    ga_node plane = GA_NODE(GA_GROUP_RN, 2);
    ga_system pendulum = {.struct_size = sizeof pendulum, .node_count = 1, .nodes = &plane,
                          .mass = mass, .force = force,
                          .constraint_count = 1, .constraint = rod};
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    if (ga_integrator_create(&pendulum, &def, &run, &report) ||
        ga_integrator_start(run, 0, (double[]){1, 0}, (double[]){0, 0}, 1e-3, &report) ||
        ga_integrator_run(run, 10, NULL, NULL, &report))
        return puts(report.message), 1;
    const double *q = ga_integrator_q(run), *lambda = ga_integrator_lambda(run);
    printf("x = %.6f, y = %.6f, tension %.4f\n", q[0], q[1], lambda[0]);
    ga_integrator_destroy(run);
}
