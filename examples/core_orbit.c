/* The integrator alone: a planet around its sun, with libgalpha-core and nothing else.
 *
 * The equations are two callbacks. The program is linked with the core only, so it loads
 * neither HDF5 nor Cairo nor libfyaml (pkg-config galpha-core; galpha::core with CMake). An
 * orbit of eccentricity 0.5 closes after one period, and its energy is kept.
 */
#include <galpha/simulate.h>
#include <math.h>
#include <stdio.h>

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval attraction(void *user, const ga_point *at, double *f)
{
    const double r = hypot(at->q[0], at->q[1]);
    if (!(r > 0)) return GA_EVAL_FATAL;
    f[0] = -at->q[0] / (r * r * r);
    f[1] = -at->q[1] / (r * r * r);
    return GA_EVAL_OK;
}

int main(void)
{
    const double eccentricity = 0.5, pi = 3.14159265358979323846;
    const ga_node plane = GA_NODE(GA_GROUP_RN, 2);
    const ga_system planet = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &plane,
                              .mass = mass,
                              .force = attraction};
    const double q0[2] = {1 - eccentricity, 0};
    const double v0[2] = {0, sqrt((1 + eccentricity) / (1 - eccentricity))};
    const ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *g = NULL;
    ga_report report = {0};
    ga_simulation orbit = ga_simulation_default();
    orbit.t_end = 2 * pi;
    orbit.control.relative = 1e-8;
    if (ga_integrator_create(&planet, &def, &g, &report) ||
        ga_integrator_simulate(g, 0, q0, v0, &orbit, &report)) {
        fprintf(stderr, "%s\n", report.message);
        ga_integrator_destroy(g);
        return 1;
    }
    const double *q = ga_integrator_q(g), *v = ga_integrator_v(g);
    const double gap = hypot(q[0] - q0[0], q[1] - q0[1]);
    const double energy = 0.5 * (v[0] * v[0] + v[1] * v[1]) - 1 / hypot(q[0], q[1]);
    printf("%ld steps; the orbit closes within %.1e, energy %.9f of -0.5\n",
           ga_integrator_control_statistics(g).accepted, gap, energy);
    ga_integrator_destroy(g);
    return gap < 1e-5 && fabs(energy + 0.5) < 1e-6 ? 0 : 2;
}
