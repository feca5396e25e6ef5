/* SOI2 against the numbers of the same scheme in 80-bit arithmetic: test/data/soi2_errors.txt
 * and pendulum_model_errors.txt (errors, [JN08] eqs. (15) and (16)), weighted_snapshots.txt
 * (states; with HHT-I3, and with the slider-crank of [JN08] section 8.3).
 *
 * The start is a_0 = v'(0). The error of a is the distance to v'(t_n + Delta_alpha h_{n-1}).
 *
 * Tolerances of the snapshots: the data state no floor for these schemes. With eps the double
 * precision, |x| the largest component since the start, c_q = beta h^2, c_v = gamma h for the
 * shortest step, we take as floor
 *
 *     q          eps |q| sqrt(n): errors of n steps add up
 *     v          eps |v| sqrt(n), and what a spring makes of errors of q: omega times that of q
 *     a          eps |v|/c_v, and omega^2 times that of q
 *     lambda     M/B times that of a; psi likewise
 *
 * and allow ten times that. HHT-I3 holds v only through q: w = A eps |q|/c_q more in a and c_v
 * w in v, where A is the amplification of a perturbation of Phi over the next steps, 7.4 for
 * rho_inf = 0.6 (HHT -.3 has 0.54). Worst ratio of error to tolerance, both Newton methods and
 * both solvers:
 *
 *                                   q     v     a     lambda  psi
 *     [JN08] eq. (15) full          0.06  0.11  0.06  0.08    0.04
 *                     reduced       0.06  0.11  0.09  0.05    0.02
 *     [JN08] eq. (16)               0.06  0.03  0.03  0.06
 *     slider-crank    SOI2          0.15  0.13  0.35  0.07
 *                     HHT-I3        0.45  0.09  0.23  0.05
 */
#include "problems/problems.h"
#include "test/order/oracle.h"
#include "test/support/data.h"
#include "test/support/unit.h"

#include <float.h>
#include <galpha/galpha.h>
#include <math.h>
#include <string.h>

enum { Q, V, A, LAMBDA, PSI, FIELDS };
static const char *const field[FIELDS] = {"q", "v", "a", "lambda", "psi"};

enum { MAX_SIZE = 9 };

typedef enum pattern { CONSTANT, ALTERNATING } pattern;

/* Step k, counted from 0, of a sequence with pairs h/3, 2 h/3, or of steps h. */
static double step_size(pattern steps, double h, int k)
{
    return steps == CONSTANT ? h : k % 2 ? 2 * h / 3 : h / 3;
}

static ga_integrator_def definition(const ga_coefficients *method, ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.coefficients = *method;
    def.formulation = formulation;
    def.start = GA_START_PLAIN;
    def.max_halvings = 0;
    return def;
}

static ga_integrator *begin(const pb_problem *problem, const ga_integrator_def *def, double h)
{
    ga_integrator *run = NULL;
    ga_report report;
    if (ga_integrator_create(&problem->system, def, &run, &report))
        fail_msg("%s", report.message);
    ga_integrator_guess(run, problem->lambda_guess, problem->psi_guess);
    if (ga_integrator_start(run, problem->t0, problem->q0, problem->v0, h, &report))
        fail_msg("%s", report.message);
    return run;
}

static void step_by(ga_integrator *run, double h)
{
    ga_report report;
    if (ga_integrator_step_by(run, h, &report)) fail_msg("%s", report.message);
}

static const double *value(const ga_integrator *run, int f)
{
    return f == Q        ? ga_integrator_q(run)
           : f == V      ? ga_integrator_v(run)
           : f == A      ? ga_integrator_a(run)
           : f == LAMBDA ? ga_integrator_lambda(run)
                         : ga_integrator_psi(run);
}

/* Largest values on the way of |B| |q| and of |N| |v| (or |B| |v|), with row sums and largest
 * components: eps times that is what rounding q and v does to Phi and to k and B v. */
typedef struct sizes {
    double q, v;
} sizes;

static const sizes test_sizes = {22,
                                 20}; /* at t = 1: B = (2 y1 y2, y1^2), N = (y1 z2, y1 z1) */
static const sizes model_sizes = {13, 40}; /* rows (1, 2 sin theta); theta 5.5, v = 20, 10 */
static const sizes crank_sizes = {1, 2.5}; /* rows up to (1, 1, .1, .25); v = 1, omega = 2 pi */

/* A Newton iteration that converges linearly, as that of the reduced variant does, may stop
 * with a few such units left. */
static void expect_constraints(const ga_integrator *run, const sizes *size)
{
    const ga_statistics s = ga_integrator_statistics(run);
    assert_true(s.position_residual_max <= 8 * DBL_EPSILON * size->q);
    assert_true(s.velocity_residual_max <= 8 * DBL_EPSILON * size->v);
}

/* --- errors --------------------------------------------------------------------------------
 */

/* Solution at the end, and v' at t_end + Delta_alpha h. */
typedef struct solution {
    double x[FIELDS][MAX_SIZE];
    int count[FIELDS];
} solution;

static solution solution_at(const pb_problem *problem, double t_end, double shifted)
{
    const ga_system *system = &problem->system;
    const int nq = ga_system_nq(system), nv = ga_system_nv(system);
    const int m = system->constraint_count, p = system->nonholonomic_count;
    solution s = {.count = {nq, nv, nv, m, p}};
    if (problem->exact) {
        problem->exact(problem, t_end, s.x[Q], s.x[V], NULL, s.x[LAMBDA]);
        problem->exact(problem, shifted, NULL, NULL, s.x[A], NULL);
        if (p) problem->exact_psi(problem, t_end, s.x[PSI]);
        return s;
    }
    oracle o;
    oracle_create(&o, system, problem->t0, problem->q0, problem->v0);
    assert_true(shifted <= t_end);
    oracle_advance(&o, shifted);
    memcpy(s.x[A], ga_integrator_vd(o.start), (size_t)nv * sizeof(double));
    oracle_advance(&o, t_end);
    memcpy(s.x[Q], o.q, (size_t)nq * sizeof(double));
    memcpy(s.x[V], o.v, (size_t)nv * sizeof(double));
    memcpy(s.x[LAMBDA], ga_integrator_lambda(o.start), (size_t)m * sizeof(double));
    oracle_destroy(&o);
    return s;
}

/* Digits asked for. The smallest errors in the data are 2.6e-7, of a psi whose floor (see
 * above) is 5e-13 at that step size; the largest difference found is 7e-8, there. */
static const double relative = 1e-6;

typedef struct errors_case {
    const char *name, *data;
    ga_status (*create)(pb_problem **out);
    double t_end;
    int kinds; /* errors in a row of the data */
    const sizes *size;
} errors_case;

static ga_status model(pb_problem **out) { return pb_pendulum_model_create(NULL, out); }

/* Reads the variant from its name in the data. */
static ga_integrator_def variant(const char *name, pattern *steps)
{
    ga_coefficients method;
    assert_int_equal(ga_coefficients_generalized_alpha(0.2, &method, NULL), GA_OK);
    ga_integrator_def def = definition(&method, GA_SOI2);
    def.reduced = strstr(name, "reduced") != NULL;
    def.step_change = strstr(name, "plain") ? GA_CHANGE_NONE : GA_CHANGE_ADJUST;
    def.mass_average = strstr(name, "recomputed") ? GA_MASS_RECOMPUTED : GA_MASS_PROPAGATED;
    *steps = strstr(name, "constant") ? CONSTANT : ALTERNATING;
    return def;
}

static bool errors_agree(const errors_case *c, const pb_problem *problem, const char *name,
                         const double *row)
{
    const double h = row[0];
    pattern steps;
    const ga_integrator_def def = variant(name, &steps);
    const int count = (int)lround(c->t_end / h) * (steps == CONSTANT ? 1 : 2);
    const double last = step_size(steps, h, count - 1);
    const double shift = ga_coefficients_describe(&def.coefficients).shift;
    const solution exact = solution_at(problem, c->t_end, c->t_end + shift * last);
    ga_integrator *run = begin(problem, &def, step_size(steps, h, 0));
    bool agree = true;
    for (int k = 0; k < count; ++k) step_by(run, step_size(steps, h, k));
    for (int f = 0; f < c->kinds; ++f) {
        double sum = 0;
        for (int i = 0; i < exact.count[f]; ++i)
            sum += pow(value(run, f)[i] - exact.x[f][i], 2);
        if (fabs(sqrt(sum) - row[1 + f]) <= relative * row[1 + f]) continue;
        print_error("%s, h = %g: error of %s is %.8g instead of %.8g\n", name, h, field[f],
                    sqrt(sum), row[1 + f]);
        agree = false;
    }
    expect_constraints(run, c->size);
    ga_integrator_destroy(run);
    return agree;
}

static void errors_are_reproduced(void **state)
{
    const errors_case *c = *state;
    FILE *file = data_open(c->data);
    data_line line;
    char name[80] = "";
    pb_problem *problem = NULL;
    int rows = 0, failures = 0;
    assert_int_equal(c->create(&problem), GA_OK);
    while (data_next(file, &line)) {
        if (!strcmp(line.key, "case")) {
            strcpy(name, line.word);
            continue;
        }
        assert_int_equal(line.count, 1 + c->kinds);
        if (!errors_agree(c, problem, name, line.x)) ++failures;
        ++rows;
    }
    fclose(file);
    pb_destroy(problem);
    assert_true(rows > 0);
    assert_int_equal(failures, 0);
}

static const errors_case errors_cases[] = {
    {"errors, [JN08] eq. (15)", "soi2_errors.txt", pb_jn08_test_create, 1, 5, &test_sizes},
    {"errors, [JN08] eq. (16)", "pendulum_model_errors.txt", model, 2, 4, &model_sizes},
};

/* --- snapshots -----------------------------------------------------------------------------
 */

typedef struct scheme {
    const char *name; /* in the data */
    ga_status (*create)(pb_problem **out);
    ga_formulation formulation;
    bool reduced;
    pattern steps;
    double rho, alpha; /* rho_inf of generalized-alpha, or alpha of HHT if that is not 0 */
    double h;
    double mass; /* lambda per acceleration, M/B */
    double frequency, amplification;
    const sizes *size;
} scheme;

/* clang-format off */
static const scheme schemes[] = {
    {"soi2_full",           pb_jn08_test_create,           GA_SOI2,   false, ALTERNATING, 0.2, 0,    0.1,     1, 0,  0,   &test_sizes},
    {"soi2_reduced",        pb_jn08_test_create,           GA_SOI2,   true,  ALTERNATING, 0.2, 0,    0.1,     1, 0,  0,   &test_sizes},
    {"pendulum_model_soi2", model,                         GA_SOI2,   false, ALTERNATING, 0.2, 0,    0.0125,  5, 12, 0,   &model_sizes},
    {"slider_crank_soi2",   pb_planar_slider_crank_create, GA_SOI2,   false, CONSTANT,    0,   -0.3, 0x1p-10, 2, 0,  0,   &crank_sizes},
    {"slider_crank_hht_i3", pb_planar_slider_crank_create, GA_HHT_I3, false, CONSTANT,    0,   -0.3, 0x1p-10, 2, 0,  7.4, &crank_sizes},
};
/* clang-format on */

static double largest(int n, const double *x)
{
    double result = 0;
    for (int i = 0; i < n; ++i) result = fmax(result, fabs(x[i]));
    return result;
}

/* size: largest components since the start. */
static void tolerances(const scheme *c, const ga_coefficients *p, const double *size, int step,
                       double *tolerance)
{
    const double h = step_size(c->steps, c->h, 0), omega = c->frequency;
    const double c_q = p->beta * h * h, c_v = p->gamma * h;
    const double unit_q = DBL_EPSILON * size[Q], unit_v = DBL_EPSILON * size[V];
    const double w = c->amplification * unit_q / c_q;
    double floor[FIELDS];
    floor[Q] = unit_q * sqrt(step);
    floor[V] = unit_v * sqrt(step) + omega * floor[Q] + c_v * w;
    floor[A] = unit_v / c_v + omega * omega * floor[Q] + w;
    floor[LAMBDA] = floor[PSI] = c->mass * floor[A];
    for (int f = 0; f < FIELDS; ++f) tolerance[f] = 10 * floor[f];
}

static void run_snapshots(const scheme *c, const pb_problem *problem,
                          const ga_integrator_def *def, double *worst)
{
    FILE *file = data_open("weighted_snapshots.txt");
    data_line line;
    ga_integrator *run = begin(problem, def, step_size(c->steps, c->h, 0));
    const ga_system *system = &problem->system;
    const int count[FIELDS] = {ga_system_nq(system), ga_system_nv(system), ga_system_nv(system),
                               system->constraint_count, system->nonholonomic_count};
    double tolerance[FIELDS] = {0}, size[FIELDS] = {0};
    int step = 0;
    data_find(file, "case", c->name);
    while (data_next(file, &line) && strcmp(line.key, "case")) {
        if (!strcmp(line.key, "step")) {
            for (; step < line.x[0]; ++step) {
                step_by(run, step_size(c->steps, c->h, step));
                for (int f = 0; f < FIELDS; ++f)
                    size[f] = fmax(size[f], largest(count[f], value(run, f)));
            }
            tolerances(c, &def->coefficients, size, step, tolerance);
            continue;
        }
        int f = 0;
        while (strcmp(line.key, field[f])) ++f;
        assert_int_equal(line.count, count[f]);
        for (int i = 0; i < count[f]; ++i) {
            double ratio = fabs(value(run, f)[i] - line.x[i]) / tolerance[f];
            worst[f] = fmax(worst[f], isnan(ratio) ? INFINITY : ratio);
            if (ratio <= 1) continue;
            print_error("%s, step %d: %s[%d] is off by %.3g, allowed %.3g\n", c->name, step,
                        field[f], i, ratio * tolerance[f], tolerance[f]);
        }
    }
    fclose(file);
    if (c->formulation == GA_SOI2) expect_constraints(run, c->size);
    ga_integrator_destroy(run);
}

static void snapshots_are_reproduced(void **state)
{
    const scheme *c = *state;
    pb_problem *problem = NULL;
    ga_coefficients method;
    double worst[FIELDS] = {0};
    if (c->alpha < 0)
        assert_int_equal(ga_coefficients_hht(c->alpha, &method, NULL), GA_OK);
    else
        assert_int_equal(ga_coefficients_generalized_alpha(c->rho, &method, NULL), GA_OK);
    assert_int_equal(c->create(&problem), GA_OK);
    for (int k = 0; k < 4; ++k) {
        ga_integrator_def def = definition(&method, c->formulation);
        def.reduced = c->reduced;
        def.newton = k & 1 ? GA_NEWTON_FULL : GA_NEWTON_MODIFIED;
        def.solver = k & 2 ? GA_SOLVER_SPARSE : GA_SOLVER_DENSE;
        run_snapshots(c, problem, &def, worst);
    }
    pb_destroy(problem);
    print_message("%-20s", c->name);
    for (int f = 0; f < FIELDS; ++f) print_message(" %s %.2f", field[f], worst[f]);
    print_message("\n");
    assert_true(largest(FIELDS, worst) <= 1);
}

int main(void)
{
    enum { ERRORS = sizeof errors_cases / sizeof *errors_cases };
    enum { SCHEMES = sizeof schemes / sizeof *schemes };
    struct CMUnitTest tests[ERRORS + SCHEMES];
    for (int k = 0; k < ERRORS; ++k)
        tests[k] = (struct CMUnitTest){.name = errors_cases[k].name,
                                       .test_func = errors_are_reproduced,
                                       .initial_state = (void *)&errors_cases[k]};
    for (int k = 0; k < SCHEMES; ++k)
        tests[ERRORS + k] = (struct CMUnitTest){.name = schemes[k].name,
                                                .test_func = snapshots_are_reproduced,
                                                .initial_state = (void *)&schemes[k]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
