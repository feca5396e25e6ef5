/* A pendulum swings against a wall at x = 0.2 and bounces off with 80 % of its speed. The time
 * of every impact is found on the dense output; there the velocity jumps, and the integration
 * restarts. */
#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    f[0] = 0;
    f[1] = -9.81;
    return GA_EVAL_OK;
}

static ga_eval rod(void *user, const ga_point *at, double *Phi)
{
    Phi[0] = hypot(at->q[0], at->q[1]) - 1;
    return GA_EVAL_OK;
}

static ga_eval gap(void *user, const ga_sample *at, double *g)
{
    g[0] = 0.2 - at->q[0];
    return GA_EVAL_OK;
}

static ga_action impact(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    int *impacts = user;
    printf("impact %d at t = %.6f with speed %.4f\n", ++*impacts, at->t, hypot(v[0], v[1]));
    v[0] *= -0.8; /* on the circle the whole velocity turns round */
    v[1] *= -0.8;
    return GA_ACTION_RESTART;
}

int main(void)
{
    const ga_node plane = GA_NODE(GA_GROUP_RN, 2);
    const ga_system pendulum = {.struct_size = sizeof(ga_system),
                                .node_count = 1,
                                .nodes = &plane,
                                .mass = mass,
                                .force = force,
                                .constraint_count = 1,
                                .constraint = rod};
    const ga_integrator_def def = ga_integrator_def_default();
    const int closing = -1;
    int impacts = 0;
    ga_simulation run = ga_simulation_default();
    run.t_end = 8;
    run.events = (ga_events){
        .count = 1, .function = gap, .direction = &closing, .happen = impact, .user = &impacts};
    ga_integrator *integrator = NULL;
    ga_report report;
    ga_status status = ga_integrator_create(&pendulum, &def, &integrator, &report);
    if (!status)
        status = ga_integrator_simulate(integrator, 0, (double[]){0, -1}, (double[]){1, 0},
                                        &run, &report);
    if (status)
        puts(report.message);
    else
        printf("%d impacts in %ld steps\n", impacts,
               ga_integrator_control_statistics(integrator).accepted);
    ga_integrator_destroy(integrator);
    return status != GA_OK || impacts != 5;
}
