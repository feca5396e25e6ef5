/* A core without KLU: the sparse solver is refused with a sentence, the others work and agree.
 * A chain of masses between springs. */
#include <galpha/integrate.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N = 12 };

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    memset(M, 0, N * N * sizeof *M);
    for (int i = 0; i < N; ++i) M[i * N + i] = 1 + i;
    return GA_EVAL_OK;
}

static ga_eval springs(void *user, const ga_point *at, double *f)
{
    (void)user;
    for (int i = 0; i < N; ++i) {
        const double left = i > 0 ? at->q[i - 1] : 0, right = i < N - 1 ? at->q[i + 1] : 0;
        f[i] = 100 * (left - 2 * at->q[i] + right);
    }
    return GA_EVAL_OK;
}

static int run(ga_solver solver, double *end, ga_report *report)
{
    const ga_node line = GA_NODE(GA_GROUP_RN, N);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &line,
                              .mass = mass,
                              .force = springs};
    double q[N] = {0}, v[N] = {1};
    ga_integrator_def def = ga_integrator_def_default();
    def.solver = solver;
    ga_integrator *g = NULL;
    ga_status status = ga_integrator_create(&system, &def, &g, report);
    if (status == GA_OK) status = ga_integrator_start(g, 0, q, v, 0.01, report);
    if (status == GA_OK) status = ga_integrator_run(g, 1, NULL, NULL, report);
    if (status == GA_OK) *end = ga_integrator_q(g)[0];
    ga_integrator_destroy(g);
    return status;
}

int main(void)
{
    double dense = 0, block = 1, none;
    ga_report report = {0};
    if (run(GA_SOLVER_SPARSE, &none, &report) != GA_ERR_ARGUMENT ||
        !strstr(report.message, "built without KLU")) {
        printf("sparse: %s\n", report.message);
        return 1;
    }
    if (run(GA_SOLVER_DENSE, &dense, &report) || run(GA_SOLVER_BLOCK, &block, &report)) {
        printf("%s\n", report.message);
        return 2;
    }
    printf("without KLU: %.9f\n", dense);
    return fabs(dense - block) < 1e-9 ? 0 : 3;
}
