/* First-order states beside a mechanism: a DC motor with inductance turns a pendulum, under a
 * PI controller.
 *
 * Position: the angle phi of the pendulum. States: the current i, and the integral z of the
 * error. They stand behind the velocity in v = (phi', i, z), and their equations behind that of
 * the pendulum:
 *
 *     J phi'' = k i - m g l sin phi - d phi'
 *     L i'    = u - R i - k phi',     u = kp e + ki z,  e = ref - phi
 *     z'      = e
 *
 * M = diag(J, L, 1). No derivative is given: differences will do. The program compares the end
 * with the classical Runge-Kutta method with many small steps, and the rest with statics: the
 * error is zero there, so k i = m g l sin ref and u = R i.
 */
#include <galpha/simulate.h>
#include <math.h>
#include <stdio.h>

static const double J = 0.02, weight = 1.5 /* m g l */, d = 0.02; /* pendulum */
static const double R = 1.2, L = 5e-3, k = 0.25;                  /* motor */
static const double kp = 12, ki = 20, ref = 0.6;                  /* controller */

static ga_eval mass(void *user, const ga_point *at, double *M)
{
    for (int e = 0; e < 9; ++e) M[e] = 0;
    M[0] = J;
    M[4] = L;
    M[8] = 1;
    return GA_EVAL_OK;
}

/* J phi'', L i' and z'. */
static void rates(double phi, const double v[3], double f[3])
{
    const double error = ref - phi, current = v[1], voltage = kp * error + ki * v[2];
    f[0] = k * current - weight * sin(phi) - d * v[0];
    f[1] = voltage - R * current - k * v[0];
    f[2] = error;
}

static ga_eval force(void *user, const ga_point *at, double *f)
{
    rates(at->q[0], at->v, f);
    return GA_EVAL_OK;
}

/* y = (phi, phi', i, z) after n steps of the classical Runge-Kutta method. */
static void integrate_by_hand(double t_end, int n, double y[4])
{
    const double h = t_end / n, part[4] = {0, 0.5, 0.5, 1}, share[4] = {1, 2, 2, 1};
    for (int step = 0; step < n; ++step) {
        double slope[4] = {0}, sum[4] = {0};
        for (int stage = 0; stage < 4; ++stage) {
            double at[4], f[3];
            for (int i = 0; i < 4; ++i) at[i] = y[i] + part[stage] * h * slope[i];
            rates(at[0], at + 1, f);
            slope[0] = at[1];
            slope[1] = f[0] / J;
            slope[2] = f[1] / L;
            slope[3] = f[2];
            for (int i = 0; i < 4; ++i) sum[i] += share[stage] / 6 * slope[i];
        }
        for (int i = 0; i < 4; ++i) y[i] += h * sum[i];
    }
}

/* The largest difference to y in the end, by the sizes of the solution; negative: a failure. */
static double run(ga_method method, double t_end, double y[4])
{
    const ga_node nodes[2] = {GA_NODE(GA_GROUP_RN, 1), GA_NODE(GA_GROUP_STATE, 2)};
    const ga_system drive = {.struct_size = sizeof(ga_system),
                             .node_count = 2,
                             .nodes = nodes,
                             .mass = mass,
                             .mass_is_constant = true,
                             .force = force};
    const double q0[1] = {0}, v0[3] = {0, 0, 0};
    ga_integrator_def def = ga_integrator_def_default();
    ga_simulation simulation = ga_simulation_default();
    ga_integrator *g = NULL;
    ga_report report = {0};
    def.method = method;
    simulation.t_end = t_end;
    simulation.control.relative = 1e-7;
    if (method == GA_METHOD_GENERALIZED_ALPHA) simulation.control.mode = GA_ERROR_AUTO;
    if (ga_integrator_create(&drive, &def, &g, &report) ||
        ga_integrator_simulate(g, 0, q0, v0, &simulation, &report)) {
        fprintf(stderr, "%s\n", report.message);
        ga_integrator_destroy(g);
        return -1;
    }
    const double *v = ga_integrator_v(g), now[4] = {ga_integrator_q(g)[0], v[0], v[1], v[2]};
    double worst = 0;
    for (int i = 0; i < 4; ++i) worst = fmax(worst, fabs(now[i] - y[i]) / fmax(1, fabs(y[i])));
    printf("%5ld steps: phi %.6f, current %.6f A, integral %.6f; off by %.1e\n",
           ga_integrator_statistics(g).steps, now[0], now[2], now[3], worst);
    ga_integrator_destroy(g);
    return worst;
}

int main(void)
{
    static const ga_method methods[] = {GA_METHOD_GENERALIZED_ALPHA, GA_METHOD_EXPLICIT,
                                        GA_METHOD_RADAU};
    double y[4] = {0, 0, 0, 0}, rest[4] = {0, 0, 0, 0};
    bool good = true;
    integrate_by_hand(1, 100000, y);
    for (int m = 0; m < 3; ++m) {
        const double worst = run(methods[m], 1, y);
        good &= worst >= 0 && worst < 1e-5;
    }
    integrate_by_hand(30, 300000, rest);
    const double current = weight * sin(ref) / k, integral = R * current / ki;
    printf("at rest: current %.6f A of %.6f, integral %.6f of %.6f\n", rest[2], current,
           rest[3], integral);
    const double worst = run(GA_METHOD_RADAU, 30, (double[4]){ref, 0, current, integral});
    good &= worst >= 0 && worst < 1e-4;
    return good ? 0 : 1;
}
