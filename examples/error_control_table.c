/* Error at the end compared with the tolerance: the tables of docs/error_control.md.
 *
 *     error_control_table [--all] [--second-order | --explicit | --radau | --auto]
 *
 * Tolerances 1e-2 ... 1e-5, or down to 1e-8 (1e-10 with the methods of higher order), by
 * GA_ERROR_AUTO or GA_ERROR_FULL. Five published
 * problems with known solutions, default settings (index 2, rho_inf 0.9). The errors of q and v
 * at t_end are given in units of the tolerance, absolute + relative * (largest value so far),
 * for translations and rotations. */
#include "problems/problems.h"

#include <galpha/galpha.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status heavy_top(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status rolling_disc(pb_problem **out) { return pb_rolling_disc_create(0, out); }

static const struct {
    const char *name;
    ga_status (*create)(pb_problem **out);
} problems[] = {{"pendulum", pendulum},
                {"heavy top", heavy_top},
                {"Andrews' mechanism", pb_andrews_relative_create},
                {"slider-crank", pb_slider_crank_create},
                {"rolling disc", rolling_disc}};

enum { PROBLEMS = sizeof problems / sizeof *problems, MAX_NQ = 16, MAX_NV = 16 };

/* Largest values so far: [0] translations and coordinates of R^n, [1] rotations. */
typedef struct sizes {
    const ga_system *system;
    double q[2], v[2];
} sizes;

/* Every problem here has one node: R^n, or a body whose last three velocities are rotations. */
static int kind_of(const ga_system *system, int i)
{
    return system->nodes[0].group != GA_GROUP_RN && i >= 3;
}

static ga_eval watch(void *user, const ga_sample *sample)
{
    sizes *s = user;
    for (int i = 0; i < ga_system_nv(s->system); ++i) {
        const int k = kind_of(s->system, i);
        s->q[k] = k ? 1 : fmax(s->q[k], fabs(sample->q[i]));
        s->v[k] = fmax(s->v[k], fabs(sample->v[i]));
    }
    return GA_EVAL_OK;
}

static double largest(const sizes *s, const double *error, const double *size, double tolerance)
{
    double most = 0;
    for (int i = 0; i < ga_system_nv(s->system); ++i) {
        const double allowed = tolerance * (0.01 + size[kind_of(s->system, i)]);
        most = fmax(most, fabs(error[i]) / allowed);
    }
    return most;
}

static int print_row(const pb_problem *p, ga_integrator *run, ga_error_mode mode,
                     double tolerance)
{
    const int nv = ga_system_nv(&p->system);
    ga_simulation def = ga_simulation_default();
    sizes s = {&p->system, {0, 0}, {0, 0}};
    ga_report report;
    def.t_end = p->t_end;
    def.control.mode = mode;
    def.control.relative = tolerance;
    def.control.absolute_translation = def.control.absolute_rotation = 0.01 * tolerance;
    def.control.absolute_velocity = def.control.absolute_angular_velocity = 0.01 * tolerance;
    def.output = watch;
    def.user = &s;
    def.multipliers = GA_MULTIPLIERS_SCHEME;
    if (ga_integrator_simulate(run, p->t0, p->q0, p->v0, &def, &report))
        return fprintf(stderr, "%s: %s\n", p->name, report.message), 1;

    double q[MAX_NQ], v[MAX_NV], error[MAX_NV];
    const pb_reference *end = p->references + p->reference_count - 1;
    if (p->exact)
        p->exact(p, p->t_end, q, v, NULL, NULL);
    else {
        memcpy(q, end->q, (size_t)ga_system_nq(&p->system) * sizeof *q);
        memcpy(v, end->v, (size_t)nv * sizeof *v);
    }
    ga_nodes_difference(p->system.node_count, p->system.nodes, ga_integrator_q(run), q, error);
    const double error_q = largest(&s, error, s.q, tolerance);
    for (int i = 0; i < nv; ++i) error[i] = v[i] - ga_integrator_v(run)[i];
    const double error_v = largest(&s, error, s.v, tolerance);
    const ga_control_statistics steps = ga_integrator_control_statistics(run);
    const ga_statistics work = ga_integrator_statistics(run);
    printf("| %.0e | %.2f | %.2f | %ld | %ld | %ld |\n", tolerance, error_q, error_v,
           steps.accepted, steps.rejected, work.factorizations);
    return 0;
}

int main(int argc, char **argv)
{
    int last = 5;
    bool all = false;
    ga_error_mode mode = GA_ERROR_AUTO;
    ga_method method = GA_METHOD_GENERALIZED_ALPHA;
    for (int k = 1; k < argc; ++k) {
        if (!strcmp(argv[k], "--all")) all = true;
        if (!strcmp(argv[k], "--explicit")) method = GA_METHOD_EXPLICIT;
        if (!strcmp(argv[k], "--radau")) method = GA_METHOD_RADAU;
        if (!strcmp(argv[k], "--auto")) method = GA_METHOD_AUTO;
        if (!strcmp(argv[k], "--second-order") || (method && method != GA_METHOD_AUTO))
            mode = GA_ERROR_FULL;
    }
    if (all) last = method ? 10 : 8;
    int failures = 0;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = NULL;
        ga_integrator *run = NULL;
        ga_integrator_def def = ga_integrator_def_default();
        ga_report report;
        def.method = method;
        if (problems[k].create(&p) || ga_integrator_create(&p->system, &def, &run, &report))
            return fprintf(stderr, "%s: cannot be set up\n", problems[k].name), 1;
        printf("**%s**, 0 ... %g s\n\n", problems[k].name, p->t_end);
        printf("| tolerance | error q | error v | steps | rejected | factorisations |\n");
        printf("|---|---|---|---|---|---|\n");
        for (int digits = 2; digits <= last; ++digits)
            failures += print_row(p, run, mode, pow(10, -digits));
        printf("\n");
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
    return failures > 0;
}
