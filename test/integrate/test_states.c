/* First-order states with every method: order of the explicit method and of Radau, what a
 * tolerance means where states have sizes of 1e5 and 1e-6 side by side, stiff states, states
 * that are zero but for round-off, states without any position, output between steps. */
#include "test/integrate/accuracy.h"
#include "test/support/states.h"

static ga_integrator *integrator_of(const ga_system *system, ga_method method,
                                    ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    def.method = method;
    def.formulation = formulation;
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    return run;
}

/* --- order -------------------------------------------------------------------------------- */

/* Largest errors of q, v, x by its size, and lambda at the end of so many steps. */
static bool prints;

enum { OF_Q, OF_V, OF_X, OF_LAMBDA, PARTS };

static void errors_of(const pb_problem *p, ga_method method, int steps, double error[PARTS])
{
    const states *s = p->data;
    ga_integrator *run = integrator_of(&p->system, method, GA_INDEX2);
    ga_report report;
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], d[MAX_NV];
    const double h = (p->t_end - p->t0) / steps;
    assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report), GA_OK, report);
    assert_status(ga_integrator_run(run, p->t_end, NULL, NULL, &report), GA_OK, report);
    p->exact(p, p->t_end, q, v, NULL, s->m ? lambda : NULL);
    ga_nodes_difference(p->system.node_count, p->system.nodes, q, ga_integrator_q(run), d);
    error[OF_Q] = largest_of(d, s->nv);
    error[OF_V] = distance_of(v, ga_integrator_v(run), s->nm);
    error[OF_X] = distance_of(v + s->nm, ga_integrator_v(run) + s->nm, STATES) / s->def.size;
    error[OF_LAMBDA] = distance_of(lambda, ga_integrator_lambda(run), s->m);
    ga_integrator_destroy(run);
}

static void observe(pb_problem *inner, states_def def, ga_method method, int coarse, int fine,
                    double least)
{
    static const char *const names[PARTS] = {"q", "v", "x", "lambda"};
    pb_problem *p = NULL;
    double one[PARTS], two[PARTS];
    assert_int_equal(states_create(inner, &def, &p), GA_OK);
    errors_of(p, method, coarse, one);
    errors_of(p, method, fine, two);
    for (int k = 0; k < PARTS; ++k) {
        if (k == OF_LAMBDA && !p->system.constraint_count) continue;
        const double order = log(one[k] / two[k]) / log((double)fine / coarse);
        if (prints)
            fprintf(stderr, "%s %s: %g %g %.2f\n", p->name, names[k], one[k], two[k], order);
        if (!(order > least) || !(two[k] > 1e-13))
            fail_msg("%s, %s: order %.2f, errors %g and %g", p->name, names[k], order, one[k],
                     two[k]);
    }
    pb_destroy(p);
}

static pb_problem *pendulum(void)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    return p;
}

static pb_problem *body(void)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_rheonomic_body_create(&p), GA_OK);
    return p;
}

static pb_problem *oscillator(void)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_oscillator_create(4, 3, 0.1, &p), GA_OK);
    return p;
}

static void explicit_has_order_eight(void **state)
{
    (void)state;
    const states_def free = {.size = 1e3, .decay = 1.5};
    const states_def reactions = {.size = 1e3, .decay = 1.5, .multipliers = true};
    observe(oscillator(), free, GA_METHOD_EXPLICIT, 6, 9, 7);
    observe(pendulum(), reactions, GA_METHOD_EXPLICIT, 16, 24, 7);
    observe(body(), reactions, GA_METHOD_EXPLICIT, 60, 80, 7);
}

static void radau_has_order_five(void **state)
{
    (void)state;
    const states_def free = {.size = 1e-3, .decay = 1.5};
    const states_def reactions = {.size = 1e-3, .decay = 1.5, .multipliers = true};
    observe(oscillator(), free, GA_METHOD_RADAU, 40, 80, 4.7);
    observe(pendulum(), free, GA_METHOD_RADAU, 40, 80, 4.7);
    observe(body(), free, GA_METHOD_RADAU, 160, 320, 4.7);
    observe(pendulum(), reactions, GA_METHOD_RADAU, 40, 80, 4.7);
    observe(body(), reactions, GA_METHOD_RADAU, 160, 320, 4.7);
}

/* --- systems of states -------------------------------------------------------------------- */

/* x' = r(x, t) by itself, with solution `exact`. */
typedef struct rates {
    int n;
    void (*rate)(double t, const double *x, double *r);
    void (*exact)(double t, double *x);
    double t_end;
} rates;

static ga_eval unit_mass(void *user, const ga_point *at, double *M)
{
    const rates *s = user;
    (void)at;
    for (int i = 0; i < s->n * s->n; ++i) M[i] = i % (s->n + 1) == 0;
    return GA_EVAL_OK;
}

static ga_eval rate_force(void *user, const ga_point *at, double *f)
{
    const rates *s = user;
    s->rate(at->t, at->v, f);
    return GA_EVAL_OK;
}

static ga_system system_of(rates *s, ga_node *node)
{
    *node = (ga_node)GA_NODE(GA_GROUP_STATE, s->n);
    return (ga_system){.struct_size = sizeof(ga_system),
                       .user = s,
                       .node_count = 1,
                       .nodes = node,
                       .mass = unit_mass,
                       .mass_is_constant = true,
                       .force = rate_force};
}

/* A pressure of 1e5 and a valve of 1e-6, which drive each other: x = 1e5 (3 + y), 1e-6 (2 - z)
 * with (y, z) = (sin, cos) 3t e^(-t/5). */
static void hydraulics_rate(double t, const double *x, double *r)
{
    (void)t;
    const double y = x[0] / 1e5 - 3, z = 2 - x[1] / 1e-6;
    r[0] = 1e5 * (3 * z - 0.2 * y);
    r[1] = -1e-6 * (-3 * y - 0.2 * z);
}

static void hydraulics_exact(double t, double *x)
{
    x[0] = 1e5 * (3 + sin(3 * t) * exp(-t / 5));
    x[1] = 1e-6 * (2 - cos(3 * t) * exp(-t / 5));
}

/* States that start from nothing, and one that is zero but for round-off of the others. */
static void growing_rate(double t, const double *x, double *r)
{
    r[0] = 1e5 * sin(t);
    r[1] = 1e-6 * 3 * t * t;
    r[2] = 1.1 * 1e5 * sin(t);
    r[3] = 0.3 * (x[2] - 1.1 * x[0]) - 2 * x[3];
}

static void growing_exact(double t, double *x)
{
    x[0] = 1e5 * (1 - cos(t));
    x[1] = 1e-6 * t * t * t;
    x[2] = 1.1 * x[0];
    x[3] = 0;
}

/* A stiff one follows a slow one: x1 -> cos x0 with a rate of 1e6, where x1 = cos t +
 * (sin t)/1e6 + ... is the solution without the transient; here it is made exact. */
static void stiff_rate(double t, const double *x, double *r)
{
    (void)t;
    r[0] = 1;
    r[1] = -1e6 * (x[1] - cos(x[0])) - sin(x[0]);
}

static void stiff_exact(double t, double *x)
{
    x[0] = t + 0.5;
    x[1] = cos(t + 0.5);
}

static rates hydraulics = {2, hydraulics_rate, hydraulics_exact, 4};
static rates growing = {4, growing_rate, growing_exact, 4};
static rates stiff = {2, stiff_rate, stiff_exact, 3};

typedef struct largest {
    int n;
    double of[MAX_NV];
} largest;

static ga_eval keep_largest(void *user, const ga_sample *at)
{
    largest *w = user;
    for (int i = 0; i < w->n; ++i) w->of[i] = fmax(w->of[i], fabs(at->v[i]));
    return GA_EVAL_OK;
}

/* Error at the end by tolerance times largest value, of the worst of the first `judged`. */
static double run_rates(rates *s, ga_method method, ga_error_mode mode, double tolerance,
                        int judged, long *steps)
{
    ga_node node;
    const ga_system system = system_of(s, &node);
    ga_integrator *run = integrator_of(&system, method, GA_INDEX2);
    ga_simulation def = ga_simulation_default();
    ga_report report;
    largest w = {.n = s->n};
    double x[MAX_NV], q[1] = {0}, worst = 0;
    def.t_end = s->t_end;
    def.control.relative = tolerance;
    def.control.mode = mode;
    def.accepted = keep_largest;
    def.user = &w;
    s->exact(0, x);
    assert_status(ga_integrator_simulate(run, 0, q, x, &def, &report), GA_OK, report);
    *steps = ga_integrator_statistics(run).steps;
    s->exact(s->t_end, x);
    for (int i = 0; i < judged; ++i)
        worst = fmax(worst, fabs(ga_integrator_v(run)[i] - x[i]) / (tolerance * w.of[i]));
    /* what is round-off stays round-off */
    for (int i = judged; i < s->n; ++i) assert_below(w.of[i], 1e-7, "round-off");
    ga_integrator_destroy(run);
    return worst;
}

static const struct {
    const char *name;
    ga_method method;
    ga_error_mode mode;
} modes[] = {
    {"full", GA_METHOD_GENERALIZED_ALPHA, GA_ERROR_FULL},
    {"auto", GA_METHOD_GENERALIZED_ALPHA, GA_ERROR_AUTO},
    {"explicit", GA_METHOD_EXPLICIT, GA_ERROR_FULL},
    {"radau", GA_METHOD_RADAU, GA_ERROR_FULL},
    {"method auto", GA_METHOD_AUTO, GA_ERROR_AUTO},
};
enum { MODES = sizeof modes / sizeof *modes };

static void tolerances_are_met(void **state)
{
    (void)state;
    rates *const systems[] = {&hydraulics, &growing, &stiff};
    static const int judged[] = {2, 3, 2};
    for (int k = 0; k < 3; ++k)
        for (int m = 0; m < MODES; ++m)
            for (double tolerance = 1e-3; tolerance > 9e-9; tolerance /= 10) {
                const bool slow = modes[m].mode == GA_ERROR_FULL &&
                                  modes[m].method == GA_METHOD_GENERALIZED_ALPHA;
                if (slow && tolerance < 9e-8) continue; /* too many steps */
                if (systems[k] == &stiff && modes[m].method == GA_METHOD_EXPLICIT) continue;
                long steps;
                const double e = run_rates(systems[k], modes[m].method, modes[m].mode,
                                           tolerance, judged[k], &steps);
                if (prints)
                    fprintf(stderr, "%d %-9s %g: %.3g tolerances, %ld steps\n", k,
                            modes[m].name, tolerance, e, steps);
                assert_below(e, 10, modes[m].name);
            }
}

/* The explicit method says that a stiff state is. */
static void stiff_states_are_told(void **state)
{
    (void)state;
    ga_node node;
    const ga_system system = system_of(&stiff, &node);
    ga_integrator *run = integrator_of(&system, GA_METHOD_EXPLICIT, GA_INDEX2);
    ga_simulation def = ga_simulation_default();
    ga_report report;
    double x[2], q[1] = {0};
    def.t_end = 30;
    stiff_exact(0, x);
    const ga_status status = ga_integrator_simulate(run, 0, q, x, &def, &report);
    assert_int_equal(status, GA_ERR_STEP_SIZE);
    assert_message(report, "stiff");
    ga_integrator_destroy(run);
}

/* A transient of a microsecond that steps do not resolve decays. */
static void unresolved_transients_decay(void **state)
{
    (void)state;
    static const ga_method methods[] = {GA_METHOD_GENERALIZED_ALPHA, GA_METHOD_RADAU};
    for (int k = 0; k < 2; ++k) {
        ga_node node;
        const ga_system system = system_of(&stiff, &node);
        ga_integrator *run = integrator_of(&system, methods[k], GA_INDEX2);
        ga_report report;
        double x[2], q[1] = {0};
        stiff_exact(0, x);
        x[1] += 0.5;
        assert_status(ga_integrator_start(run, 0, q, x, 0.01, &report), GA_OK, report);
        assert_status(ga_integrator_run(run, 3, NULL, NULL, &report), GA_OK, report);
        stiff_exact(3, x);
        assert_below(fabs(ga_integrator_v(run)[1] - x[1]), 1e-6, "transient");
        ga_integrator_destroy(run);
    }
}

/* --- beside a mechanism ------------------------------------------------------------------- */

/* Worst error at the end by the tolerance, q and v as ever, x by its own size. */
static double run_beside(pb_problem *inner, double size, bool differences, int m,
                         ga_formulation formulation, double tolerance)
{
    const states_def def = {
        .size = size, .decay = 1.5, .multipliers = true, .differences = differences};
    pb_problem *p = NULL;
    assert_int_equal(states_create(inner, &def, &p), GA_OK);
    const states *s = p->data;
    ga_integrator *run = integrator_of(&p->system, modes[m].method, formulation);
    ga_simulation sim = ga_simulation_default();
    ga_report report;
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], d[MAX_NV];
    sim.t_end = p->t_end;
    sim.control.relative = tolerance;
    sim.control.mode = modes[m].mode;
    sim.control.absolute_translation = sim.control.absolute_rotation = 0.01 * tolerance;
    sim.control.absolute_velocity = sim.control.absolute_angular_velocity = 0.01 * tolerance;
    assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &sim, &report), GA_OK,
                  report);
    p->exact(p, p->t_end, q, v, NULL, lambda);
    ga_nodes_difference(p->system.node_count, p->system.nodes, q, ga_integrator_q(run), d);
    double e = largest_of(d, s->nv);
    e = fmax(e, distance_of(v, ga_integrator_v(run), s->nm) / fmax(1, largest_of(v, s->nm)));
    e = fmax(e, fabs(v[s->nm] - ga_integrator_v(run)[s->nm]) / size);
    e = fmax(e, fabs(v[s->nm + 1] - ga_integrator_v(run)[s->nm + 1]) / (3 * size));
    if (prints)
        fprintf(stderr, "%s, size %g, %s, %d, %g: %.3g tolerances, %ld steps\n", inner->name,
                size, modes[m].name, (int)formulation, tolerance, e / tolerance,
                ga_integrator_statistics(run).steps);
    ga_integrator_destroy(run);
    pb_destroy(p);
    return e / tolerance;
}

static void tolerances_are_met_beside_motions(void **state)
{
    (void)state;
    for (int m = 0; m < MODES; ++m)
        for (double tolerance = 1e-3; tolerance > 9e-8; tolerance /= 10) {
            if (modes[m].mode == GA_ERROR_FULL && tolerance < 9e-7 &&
                modes[m].method == GA_METHOD_GENERALIZED_ALPHA)
                continue;
            assert_below(run_beside(pendulum(), 1e5, false, m, GA_INDEX2, tolerance), 10,
                         "1e5");
            assert_below(run_beside(pendulum(), 1e-6, false, m, GA_INDEX2, tolerance), 10,
                         "1e-6");
            assert_below(run_beside(pendulum(), 1e-6, true, m, GA_INDEX2, tolerance), 10,
                         "by differences");
        }
    for (int k = 0; k < 3; ++k) {
        static const ga_formulation others[] = {GA_INDEX3, GA_SOI2, GA_HHT_I3};
        assert_below(run_beside(pendulum(), 1e5, false, 0, others[k], 1e-4), 10, "1e5");
        assert_below(run_beside(pendulum(), 1e-6, false, 0, others[k], 1e-4), 10, "1e-6");
    }
}

/* --- output ------------------------------------------------------------------------------- */

typedef struct dense {
    const rates *s;
    double worst;
} dense;

static ga_eval compare(void *user, const ga_sample *at)
{
    dense *d = user;
    double x[MAX_NV];
    d->s->exact(at->t, x);
    d->worst = fmax(d->worst, fabs(at->v[0] - x[0]) / 4e5);
    d->worst = fmax(d->worst, fabs(at->v[1] - x[1]) / 3e-6);
    return GA_EVAL_OK;
}

/* Between steps of fixed size the error is of the order of the interpolation. */
static void output_between_steps_is_accurate(void **state)
{
    (void)state;
    static const double least[] = {0, 0, 6, 4};
    for (int m = 2; m < 4; ++m) {
        double worst[2];
        for (int fine = 0; fine < 2; ++fine) {
            ga_node node;
            const ga_system system = system_of(&hydraulics, &node);
            ga_integrator *run = integrator_of(&system, modes[m].method, GA_INDEX2);
            ga_simulation def = ga_simulation_default();
            ga_report report;
            dense d = {.s = &hydraulics};
            double x[2], q[1] = {0};
            def.t_end = 4;
            def.control.relative = 0;
            def.step = fine ? 0.05 : 0.1;
            def.output_every = 0.0123;
            def.output = compare;
            def.user = &d;
            hydraulics_exact(0, x);
            assert_status(ga_integrator_simulate(run, 0, q, x, &def, &report), GA_OK, report);
            worst[fine] = d.worst;
            ga_integrator_destroy(run);
        }
        const double order = log2(worst[0] / worst[1]);
        if (prints) fprintf(stderr, "%s: output %g %g\n", modes[m].name, worst[0], worst[1]);
        if (!(order > least[m])) fail_msg("%s: order %g", modes[m].name, order);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    prints = argc > 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(explicit_has_order_eight),
        cmocka_unit_test(radau_has_order_five),
        cmocka_unit_test(tolerances_are_met),
        cmocka_unit_test(stiff_states_are_told),
        cmocka_unit_test(unresolved_transients_decay),
        cmocka_unit_test(tolerances_are_met_beside_motions),
        cmocka_unit_test(output_between_steps_is_accurate),
    };
    return cmocka_run_group_tests(tests, NULL, states_end);
}
