/* The discrete schemes against test/data/snapshots.txt: states of the same schemes in 80-bit
 * arithmetic. Every case runs with both Newton methods, both solvers and each scaling, for one
 * and the same tolerance.
 *
 * Tolerances, with eps the double precision, |x| a largest component, c_q, c_v as in
 * integrate/stepper.h:
 *
 * Where the data state a floor (q, v, lambda of the pendulum and the top on R3xSO(3)), ten
 * times that. One floor is one sample of a random quantity, so the largest of a snapshot and
 * its two neighbours counts; and a sample may be smaller than a rounding of q, so the tolerance
 * is no less than
 *
 *     q          4 eps |q| sqrt(n): a step may stop within 4 eps |q|, errors of n steps add up
 *     v, lambda  4 eps of themselves; in index 3 also one rounding of q as it enters them:
 *                w = eps |q|/c_q in v', so c_v w in v and M/B w in lambda
 *
 * Elsewhere, index 3: rounding errors w are amplified over the next steps like any other
 * perturbation of Phi, by up to A(rho) = max_n |(T+^-1 T0)^n| (34.3 for 0.9, 10.3 for 0.7), and
 * ten times that is allowed: 10 A w in v' and a, c_v times that in v, M/B times that in lambda.
 * Where Phi is a difference of large numbers (Andrews: 0.07 m, with arms of 7 mm), its rounding
 * is worth more than that of q, and the larger counts.
 * Index 2: v' hangs on v, 10 eps |v|/c_v; eta on q, 10 eps |q|/h.
 * Start values: 16 eps of the largest component.
 *
 * Worst ratio of error to tolerance, over all variants and steps (the test prints them for each
 * scaling; no scaling is more than 2.6 times worse than the best):
 *
 *                         q     v     v'    a     lambda  eta
 *     pendulum plain      0.19  0.36  0.22  0.14  0.47
 *              perturbed  0.10  0.25  0.19  0.14  0.16
 *              index 2    0.03  0.25  0.14  0.14  0.23    0.04
 *     top      plain      0.18  0.27  0.19  0.06  0.29
 *              perturbed  0.15  0.28  0.23  0.08  0.40
 *              index 2    0.14  0.05  0.02  0.01  0.22    0.07
 *              SE(3)      0.18  0.02  0.26  0.12  0.19
 *     slider crank        0.21  0.02  0.12  0.06  0.02
 *     Andrews             0.67  0.02  0.13  0.07  0.14
 *
 * Against ten times the floor of each snapshot alone, the top would fail at n = 12 (plain,
 * lambda, 5.2 times: the floor happens to be 4e-9 between 1.6e-8 and 6.5e-8) and at n = 1, 2
 * (perturbed, v and lambda, 1.1 times), the pendulum with the modified iteration at n = 200
 * (plain, q = 2e-15, 4 times).
 */
#include "problems/problems.h"
#include "test/support/data.h"
#include "test/support/unit.h"

#include <float.h>
#include <galpha/galpha.h>
#include <math.h>
#include <string.h>

enum { Q, V, VD, A, LAMBDA, ETA, FIELDS };
static const char *const field[FIELDS] = {"q", "v", "vd", "a", "lambda", "eta"};
static const char *const floor_field[FIELDS] = {"floor_q", "floor_v",      "",
                                                "",        "floor_lambda", ""};

enum { MAX_SNAPSHOTS = 10, MAX_SIZE = 12 };

typedef struct snapshot {
    int step;
    int count[FIELDS]; /* 0: not given */
    double x[FIELDS][MAX_SIZE];
    bool has_floor;
    double floor[FIELDS];
} snapshot;

typedef struct scheme {
    const char *name;
    ga_status (*create)(pb_problem **out);
    double rho, h;
    ga_formulation formulation;
    ga_start start;
    double amplification; /* A(rho) */
    double mass;          /* lambda per acceleration, M/B */
    double rounding;      /* of Phi, in units of eps, as an angle or a length: least |q| */
} scheme;

static ga_status pendulum(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status top(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_R3SO3, out); }
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }

/* clang-format off */
static const scheme schemes[] = {
    {"pendulum_index3_plain",      pendulum, 0.9, 0.01, GA_INDEX3, GA_START_PLAIN,     34.3, 1,  0},
    {"pendulum_index3_perturbed",  pendulum, 0.9, 0.01, GA_INDEX3, GA_START_PERTURBED, 34.3, 1,  0},
    {"pendulum_index2",            pendulum, 0.9, 0.01, GA_INDEX2, GA_START_SHIFTED,   0,    1,  0},
    {"top_r3so3_index3_plain",     top,      0.9, 1e-3, GA_INDEX3, GA_START_PLAIN,     34.3, 15, 0},
    {"top_r3so3_index3_perturbed", top,      0.9, 1e-3, GA_INDEX3, GA_START_PERTURBED, 34.3, 15, 0},
    {"top_r3so3_index2",           top,      0.9, 1e-3, GA_INDEX2, GA_START_SHIFTED,   0,    15, 0},
    {"top_se3_index3_plain",       top_se3,  0.9, 1e-3, GA_INDEX3, GA_START_PLAIN,     34.3, 15, 0},
    /* heaviest part 0.7 kg, constraints in metres */
    {"slider_crank_index3_plain",  pb_slider_crank_create,
                                             0.7, 5e-3, GA_INDEX3, GA_START_PLAIN,     10.3, 0.7, 0},
    /* inertia 1.9e-5 at an arm of 35 mm */
    {"andrews_index3_plain",       pb_andrews_relative_create,
                                             0.7, 3e-4, GA_INDEX3, GA_START_PLAIN,     10.3, 5.5e-4, 10},
};
/* clang-format on */

static int read_snapshots(const char *name, snapshot *list)
{
    FILE *file = data_open("snapshots.txt");
    data_line line;
    int count = 0;
    data_find(file, "case", name);
    while (data_next(file, &line) && strcmp(line.key, "case")) {
        if (!strcmp(line.key, "step")) {
            assert_true(count < MAX_SNAPSHOTS);
            list[count++] = (snapshot){.step = (int)line.x[0]};
            continue;
        }
        snapshot *s = &list[count - 1];
        for (int k = 0; k < FIELDS; ++k) {
            if (!strcmp(line.key, field[k])) {
                assert_true(line.count <= MAX_SIZE);
                s->count[k] = line.count;
                memcpy(s->x[k], line.x, (size_t)line.count * sizeof *line.x);
            } else if (!strcmp(line.key, floor_field[k])) {
                s->has_floor = true;
                s->floor[k] = line.x[0];
            }
        }
    }
    fclose(file);
    assert_true(count > 0);
    return count;
}

static double largest(int n, const double *x)
{
    double result = 0;
    for (int i = 0; i < n; ++i) result = fmax(result, fabs(x[i]));
    return result;
}

static void tolerances(const scheme *c, const ga_coefficients *p, const snapshot *list,
                       int count, int k, double *tolerance)
{
    const snapshot *s = &list[k];
    double size[FIELDS];
    for (int f = 0; f < FIELDS; ++f) size[f] = DBL_EPSILON * largest(s->count[f], s->x[f]);
    for (int f = 0; f < FIELDS; ++f) tolerance[f] = 16 * size[f];
    if (s->step == 0) return;

    double c_a = (1 - p->alpha_f) / (1 - p->alpha_m);
    double c_q = p->beta * c->h * c->h * c_a, c_v = p->gamma * c->h * c_a;
    double w = fmax(size[Q], DBL_EPSILON * c->rounding) / c_q;
    double least[FIELDS];
    for (int f = 0; f < FIELDS; ++f) least[f] = 4 * size[f];
    least[Q] *= sqrt(s->step);
    tolerance[Q] = least[Q];
    if (c->formulation == GA_INDEX3) {
        tolerance[VD] = tolerance[A] = 10 * c->amplification * w;
        tolerance[V] = c_v * tolerance[VD];
        tolerance[LAMBDA] = c->mass * tolerance[VD];
        least[V] = fmax(least[V], c_v * w);
        least[LAMBDA] = fmax(least[LAMBDA], c->mass * w);
    } else {
        tolerance[VD] = tolerance[A] = 10 * size[V] / c_v;
        tolerance[ETA] = 10 * size[Q] / c->h;
    }
    if (!s->has_floor) return;
    for (int f = 0; f < FIELDS; ++f) {
        if (!*floor_field[f]) continue;
        double floor = 0;
        for (int j = k - 1; j <= k + 1; ++j)
            if (j >= 0 && j < count) floor = fmax(floor, list[j].floor[f]);
        tolerance[f] = fmax(10 * floor, least[f]);
    }
}

/* The snapshots of the tops hold x and the rows of R. */
static const double *configuration(const ga_integrator *run, int count, double *work)
{
    const double *q = ga_integrator_q(run);
    if (count != 12) return q;
    double R[9];
    ga_quaternion_to_matrix(q + 3, R);
    for (int i = 0; i < 3; ++i) {
        work[i] = q[i];
        for (int j = 0; j < 3; ++j) work[3 + 3 * i + j] = R[i + 3 * j];
    }
    return work;
}

/* Error over tolerance of each field; largest so far into worst. */
static void compare(const scheme *c, const char *variant, const ga_integrator *run,
                    const snapshot *s, const double *tolerance, double *worst)
{
    double work[12];
    const double *state[FIELDS] = {configuration(run, s->count[Q], work),
                                   ga_integrator_v(run),
                                   ga_integrator_vd(run),
                                   ga_integrator_a(run),
                                   ga_integrator_lambda(run),
                                   ga_integrator_eta(run)};
    for (int f = 0; f < FIELDS; ++f) {
        double error = 0;
        for (int i = 0; i < s->count[f]; ++i)
            error = fmax(error, fabs(state[f][i] - s->x[f][i]));
        double ratio = error == 0 ? 0 : error / tolerance[f];
        worst[f] = fmax(worst[f], ratio);
        if (!(ratio <= 1))
            print_error("%s, %s, step %d: %s is off by %.3g, allowed %.3g\n", c->name, variant,
                        s->step, field[f], error, tolerance[f]);
    }
}

static void run_variant(const scheme *c, const pb_problem *problem, ga_integrator_def *def,
                        const char *variant, const snapshot *list, int count, double *worst)
{
    ga_integrator *run = NULL;
    ga_report report;
    double tolerance[FIELDS];
    assert_int_equal(ga_integrator_create(&problem->system, def, &run, &report), GA_OK);
    assert_int_equal(
        ga_integrator_start(run, problem->t0, problem->q0, problem->v0, c->h, &report), GA_OK);
    for (int k = 0, step = 0; k < count; ++k) {
        for (; step < list[k].step; ++step)
            if (ga_integrator_step(run, &report)) fail_msg("%s: %s", variant, report.message);
        tolerances(c, &def->coefficients, list, count, k, tolerance);
        compare(c, variant, run, &list[k], tolerance, worst);
    }
    assert_int_equal(ga_integrator_statistics(run).halvings, 0);
    ga_integrator_destroy(run);
}

static void snapshots_are_reproduced(void **state)
{
    static const char *const newton[] = {"modified", "full"};
    static const char *const scaling[] = {"auto", "none", "ab07", "dymore"};
    const scheme *c = *state;
    static snapshot list[MAX_SNAPSHOTS];
    int count = read_snapshots(c->name, list);
    pb_problem *problem = NULL;
    assert_int_equal(c->create(&problem), GA_OK);

    double worst[4][FIELDS] = {{0}}, all = 0;
    for (int k = 0; k < 16; ++k) {
        ga_integrator_def def = ga_integrator_def_default();
        assert_int_equal(ga_coefficients_generalized_alpha(c->rho, &def.coefficients, NULL),
                         GA_OK);
        def.formulation = c->formulation;
        def.start = c->start;
        def.relative = 0; /* Newton to round-off, as in the data */
        def.newton = k & 1 ? GA_NEWTON_FULL : GA_NEWTON_MODIFIED;
        def.solver = k & 2 ? GA_SOLVER_SPARSE : GA_SOLVER_DENSE;
        def.scaling = (ga_scaling)(k >> 2);
        char variant[80];
        snprintf(variant, sizeof variant, "newton %s, solver %s, scaling %s", newton[k & 1],
                 k & 2 ? "sparse" : "dense", scaling[k >> 2]);
        run_variant(c, problem, &def, variant, list, count, worst[k >> 2]);
    }
    pb_destroy(problem);
    for (int k = 0; k < 4; ++k) {
        print_message("%-26s %-6s ", c->name, scaling[k]);
        for (int f = 0; f < FIELDS; ++f) {
            print_message(" %s %.2f", field[f], worst[k][f]);
            all = fmax(all, worst[k][f]);
        }
        print_message("\n");
    }
    assert_true(all <= 1);
}

int main(void)
{
    enum { COUNT = sizeof schemes / sizeof *schemes };
    struct CMUnitTest tests[COUNT];
    for (int k = 0; k < COUNT; ++k)
        tests[k] = (struct CMUnitTest){.name = schemes[k].name,
                                       .test_func = snapshots_are_reproduced,
                                       .initial_state = (void *)&schemes[k]};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
