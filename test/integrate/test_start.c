/* Starting: projection, rank, accelerations and multipliers, the values a step begins with. */
#include "test/support/cases.h"
#include "test/support/probe.h"

#include <float.h>
#include <limits.h>

/* --- a plane with constraints to choose from ---------------------------------------------- */

/* Points in R^n, n <= 4, diagonal mass, f = -q. */
typedef struct toy {
    int n;
    double mass[4];
    ga_callback *constraint, *gradient, *rhs;
    int m;
} toy;

static ga_eval toy_mass(void *user, const ga_point *at, double *M)
{
    (void)at;
    const toy *t = user;
    for (int j = 0; j < t->n; ++j)
        for (int i = 0; i < t->n; ++i) M[i + t->n * j] = i == j ? t->mass[i] : 0;
    return GA_EVAL_OK;
}

static ga_eval toy_force(void *user, const ga_point *at, double *f)
{
    const toy *t = user;
    for (int i = 0; i < t->n; ++i) f[i] = -at->q[i];
    return GA_EVAL_OK;
}

static ga_system toy_system(toy *t, ga_node *node)
{
    *node = (ga_node)GA_NODE(GA_GROUP_RN, t->n);
    return (ga_system){.struct_size = sizeof(ga_system),
                       .user = t,
                       .node_count = 1,
                       .nodes = node,
                       .constraint_count = t->m,
                       .mass = toy_mass,
                       .force = toy_force,
                       .constraint = t->constraint,
                       .gradient = t->gradient,
                       .acceleration_rhs = t->rhs};
}

static ga_integrator_def definition(ga_formulation formulation, ga_start start)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    def.start = start;
    return def;
}

static ga_integrator *create(const ga_system *system, const ga_integrator_def *def)
{
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, def, &run, &report), GA_OK, report);
    return run;
}

/* A start that must fail, for both formulations and both solvers; then a step is out of order.
 */
static ga_report failing_start(const ga_system *s, const double *q0, const double *v0,
                               ga_status expected)
{
    ga_report report, last = {0};
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
            ga_integrator_def def = definition((ga_formulation)form, GA_START_AUTO);
            def.solver = (ga_solver)solver;
            ga_integrator *run = create(s, &def);
            memset(&report, 0x55, sizeof report);
            assert_status(ga_integrator_start(run, 0, q0, v0, 1e-3, &report), expected, report);
            assert_int_equal(report.status, expected);
            assert_true(strlen(report.message) > 20);
            assert_int_equal(ga_integrator_step(run, NULL), GA_ERR_STATE);
            assert_int_equal(ga_integrator_start(run, 0, q0, v0, 1e-3, NULL), expected);
            ga_integrator_destroy(run);
            last = report;
        }
    return last;
}

/* --- consistent values stay, inconsistent ones are moved ---------------------------------- */

static void test_consistent_values_stay(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const int nq = ga_system_nq(&p->system), nv = ga_system_nv(&p->system);
        for (int form = 0; form < 2; ++form) {
            ga_integrator_def def = definition((ga_formulation)form, GA_START_PLAIN);
            def.max_projection = 0; /* none allowed */
            ga_integrator *run = create(&p->system, &def);
            ga_report report;
            assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                          report);
            assert_memory_equal(ga_integrator_q(run), p->q0, (size_t)nq * sizeof(double));
            assert_memory_equal(ga_integrator_v(run), p->v0, (size_t)nv * sizeof(double));
            assert_true(ga_integrator_time(run) == p->t0);
            assert_true(ga_integrator_projection(run).q == 0);
            assert_true(ga_integrator_projection(run).v == 0);
            for (int i = 0; i < p->system.constraint_count; ++i)
                assert_true(ga_integrator_eta(run)[i] == 0);
            assert_null(ga_integrator_warning(run, 0));
            ga_integrator_destroy(run);
        }
        pb_destroy(p);
    }
}

/* Pendulum at (0.6 s, -0.8 s): the nearest point of the circle is (0.6, -0.8), and the part of
 * v along the rod goes. */
static void test_projection_of_the_pendulum(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const double shifts[] = {1e-12, 1e-6, 1e-2, 0.1, 0.5};
    for (int k = 0; k < 5; ++k) {
        const double e = shifts[k], q0[2] = {0.6 * (1 + e), -0.8 * (1 + e)};
        const double v0[2] = {0.8 * 2 + 0.6 * e, 0.6 * 2 - 0.8 * e};
        const ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
        ga_integrator *run = create(&p->system, &def);
        ga_report report;
        assert_status(ga_integrator_start(run, 0, q0, v0, 1e-3, &report), GA_OK, report);
        const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
        assert_below(fabs(q[0] - 0.6), 4e-15, "x");
        assert_below(fabs(q[1] + 0.8), 4e-15, "y");
        assert_below(fabs(v[0] - 1.6), 8e-15, "x'");
        assert_below(fabs(v[1] - 1.2), 8e-15, "y'");
        /* reported: the largest component of the increments, here 0.8 e both */
        assert_below(fabs(ga_integrator_projection(run).q - 0.8 * e), 2e-15, "moved q");
        assert_below(fabs(ga_integrator_projection(run).v - 0.8 * e), 4e-15, "moved v");
        const char *warning = ga_integrator_warning(run, 0);
        assert_non_null(warning);
        assert_non_null(strstr(warning, "not consistent"));
        assert_null(ga_integrator_warning(run, 1));
        assert_null(ga_integrator_warning(run, -1));
        assert_null(ga_integrator_warning(run, INT_MAX));
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* In the mass metric: with masses 1 and 1e6 the light coordinate moves. Phi = x + y - 1. */
static ga_eval line(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = at->q[0] + at->q[1] - 1;
    return GA_EVAL_OK;
}
static ga_eval line_gradient(void *user, const ga_point *at, double *B)
{
    (void)user, (void)at;
    B[0] = B[1] = 1;
    return GA_EVAL_OK;
}
static ga_eval zero_rhs(void *user, const ga_point *at, double *c)
{
    (void)at;
    const toy *t = user;
    for (int i = 0; i < t->m; ++i) c[i] = 0;
    return GA_EVAL_OK;
}

static void test_projection_in_the_mass_metric(void **state)
{
    (void)state;
    ga_node node;
    toy t = {.n = 2,
             .mass = {1, 3},
             .constraint = line,
             .gradient = line_gradient,
             .rhs = zero_rhs,
             .m = 1};
    const ga_system s = toy_system(&t, &node);
    const ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
    const double q0[2] = {2, 3}, v0[2] = {4, 4};
    ga_integrator *run = create(&s, &def);
    ga_report report;
    assert_status(ga_integrator_start(run, 0, q0, v0, 1e-3, &report), GA_OK, report);
    /* -4 is split 3 : 1, -8 as well */
    assert_below(fabs(ga_integrator_q(run)[0] + 1), 1e-14, "x");
    assert_below(fabs(ga_integrator_q(run)[1] - 2), 1e-14, "y");
    assert_below(fabs(ga_integrator_v(run)[0] + 2), 1e-14, "x'");
    assert_below(fabs(ga_integrator_v(run)[1] - 2), 1e-14, "y'");
    assert_below(fabs(ga_integrator_projection(run).q - 3), 1e-14, "moved q");
    assert_below(fabs(ga_integrator_projection(run).v - 6), 1e-14, "moved v");
    ga_integrator_destroy(run);
}

/* On the group: the heavy top moved away by an increment comes back to the constraint. */
static void test_projection_on_groups(void **state)
{
    (void)state;
    static const case_name names[3] = {CASE_TOP_R3SO3, CASE_TOP_SE3, CASE_RHEONOMIC_BODY};
    for (int k = 0; k < 3; ++k) {
        pb_problem *p = case_create(names[k]);
        const ga_system *s = &p->system;
        const int nv = ga_system_nv(s), m = s->constraint_count;
        double q0[7], v0[6], x[6], Phi[4], moved[6];
        uint64_t seed = 3;
        for (int i = 0; i < nv; ++i) x[i] = 0.1 * uniform(&seed);
        for (int i = 0; i < nv; ++i) v0[i] = p->v0[i] + 0.1 * uniform(&seed);
        ga_nodes_update(s->node_count, s->nodes, GA_MAP_EXP, p->q0, x, q0);
        const ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
        ga_integrator *run = create(s, &def);
        ga_report report;
        assert_status(ga_integrator_start(run, p->t0, q0, v0, 1e-3, &report), GA_OK, report);
        const ga_point at = {p->t0, ga_integrator_q(run), ga_integrator_v(run), NULL, NULL,
                             NULL};
        assert_int_equal(s->constraint(s->user, &at, Phi), GA_EVAL_OK);
        assert_below(largest_of(Phi, m), 1e-14, p->name);
        ga_nodes_difference(s->node_count, s->nodes, q0, at.q, moved);
        assert_below(fabs(ga_integrator_projection(run).q - largest_of(moved, nv)), 1e-15,
                     p->name);
        assert_below(fabs(ga_integrator_projection(run).v - distance_of(v0, at.v, nv)), 0,
                     p->name);
        assert_true(ga_integrator_projection(run).q > 1e-3);
        assert_true(ga_integrator_projection(run).v > 1e-3);
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

static void test_projection_refused(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const double q0[2] = {0, -1.001}, still[2] = {0, 0}, along[2] = {1, 0.01}, on[2] = {0, -1};
    ga_report report;
    ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
    def.max_projection = 0.002;
    ga_integrator *run = create(&p->system, &def);
    assert_status(ga_integrator_start(run, 0, q0, still, 1e-3, &report), GA_OK, report);
    assert_status(ga_integrator_start(run, 0, on, along, 1e-3, &report), GA_ERR_INCONSISTENT,
                  report);
    assert_message(report, "0.01");
    assert_message(report, "0.002");
    assert_int_equal(ga_integrator_step(run, NULL), GA_ERR_STATE);
    ga_integrator_destroy(run);

    def.max_projection = 0.0009;
    run = create(&p->system, &def);
    assert_status(ga_integrator_start(run, 0, q0, still, 1e-3, &report), GA_ERR_INCONSISTENT,
                  report);
    assert_int_equal(report.status, GA_ERR_INCONSISTENT);
    assert_message(report, "changed by 0.001");
    assert_status(ga_integrator_start(run, 0, on, still, 1e-3, &report), GA_OK, report);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* --- no way onto the constraints ---------------------------------------------------------- */

/* Rows: x - x (always 0 here: q[2] = 0), then |q|^2 + 1 = 0, which no real point meets. */
static ga_eval nowhere(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    Phi[0] = at->q[2];
    Phi[1] = at->q[0] * at->q[0] + at->q[1] * at->q[1] + 1;
    return GA_EVAL_OK;
}
static ga_eval nowhere_gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    const double rows[2][3] = {{0, 0, 1}, {2 * at->q[0], 2 * at->q[1], 0}};
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 2; ++i) B[i + 2 * j] = rows[i][j];
    return GA_EVAL_OK;
}

/* Circles of radius 1 about (0, 0) and about (3, 0). */
static ga_eval circles(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    const double x = at->q[0], y = at->q[1];
    Phi[0] = x * x + y * y - 1;
    Phi[1] = (x - 3) * (x - 3) + y * y - 1;
    return GA_EVAL_OK;
}
static ga_eval circles_gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = 2 * at->q[0];
    B[1] = 2 * (at->q[0] - 3);
    B[2] = B[3] = 2 * at->q[1];
    return GA_EVAL_OK;
}

static void test_nowhere_consistent(void **state)
{
    (void)state;
    ga_node node;
    toy t = {.n = 3,
             .mass = {1, 1, 1},
             .constraint = nowhere,
             .gradient = nowhere_gradient,
             .rhs = zero_rhs,
             .m = 2};
    ga_system s = toy_system(&t, &node);
    const double v0[3] = {0};
    const double starts[4][3] = {{1, 0, 0}, {0.3, -0.4, 0.2}, {1e-3, 0, 0}, {100, 7, 1}};
    for (int k = 0; k < 4; ++k) {
        const ga_report report = failing_start(&s, starts[k], v0, GA_ERR_INCONSISTENT);
        assert_int_equal(report.row, 1);
        assert_message(report, "constraint 1");
        assert_message(report, "position");
    }

    t = (toy){.n = 2,
              .mass = {1, 1},
              .constraint = circles,
              .gradient = circles_gradient,
              .rhs = zero_rhs,
              .m = 2};
    s = toy_system(&t, &node);
    const double between[3][2] = {{1.4, 0.5}, {0, 1}, {1.6, -0.1}};
    for (int k = 0; k < 3; ++k) {
        const ga_report report = failing_start(&s, between[k], v0, GA_ERR_INCONSISTENT);
        assert_in_range(report.row, 0, 1);
        assert_message(report, "constraint");
    }
}

/* --- redundant constraints -----------------------------------------------------------------
 */

/* x = 0, y = 0, and rows that add nothing, chosen by `extra`; in the order of the enum. */
enum { DUPLICATE, SUM, ZERO, BOTH, EXTRAS };
static int extra;
static const double extra_rows[EXTRAS][4][3] = {
    {{1, 0, 0}, {0, 2, 0}, {3, 0, 0}},
    {{1, 0, 0}, {0, 1, 0}, {1, 1, 0}},
    {{0, 0, 0}, {1, 0, 0}, {0, 1, 1}},
    {{1, 0, 0}, {0, 1, 0}, {1, -1, 0}, {0, 0, 0}},
};
static const int extra_count[EXTRAS] = {3, 3, 3, 4};

static ga_eval rows_gradient(void *user, const ga_point *at, double *B)
{
    (void)user, (void)at;
    const int m = extra_count[extra];
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < m; ++i) B[i + m * j] = extra_rows[extra][i][j];
    return GA_EVAL_OK;
}
static ga_eval rows_constraint(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    for (int i = 0; i < extra_count[extra]; ++i) {
        Phi[i] = 0;
        for (int j = 0; j < 3; ++j) Phi[i] += extra_rows[extra][i][j] * at->q[j];
    }
    return GA_EVAL_OK;
}

static void redundant_start(int which, int rank, int count, int row, const char *warning)
{
    ga_node node;
    extra = which;
    toy t = {.n = 3,
             .mass = {1, 1, 1},
             .constraint = rows_constraint,
             .gradient = rows_gradient,
             .rhs = zero_rhs,
             .m = extra_count[which]};
    const ga_system s = toy_system(&t, &node);
    const double q0[3] = {0}, v0[3] = {0};
    const ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    assert_int_equal(ga_integrator_create(&s, &def, &run, &report), GA_OK);
    assert_int_equal(ga_integrator_start(run, 0, q0, v0, 1e-3, &report), GA_OK);
    assert_int_equal(ga_integrator_rank(run), rank);
    assert_int_equal(ga_integrator_redundant_count(run), count);
    if (count) {
        assert_int_equal(ga_integrator_redundant_row(run, 0).row, row);
        assert_string_equal(ga_integrator_warning(run, 0), warning);
    } else {
        assert_null(ga_integrator_warning(run, 0));
    }
    assert_int_equal(ga_integrator_step(run, &report), GA_OK);
    ga_integrator_destroy(run);
}

/* Of a set of dependent rows the last is named; zero rows are not. */
static void test_redundant_constraints(void **state)
{
    (void)state;
    redundant_start(DUPLICATE, 2, 1, 2,
                    "1 of 3 constraints are redundant, the multipliers are not unique: row 2");
    redundant_start(SUM, 2, 1, 2,
                    "1 of 3 constraints are redundant, the multipliers are not unique: row 2");
    redundant_start(ZERO, 2, 0, 0, NULL);
    redundant_start(BOTH, 2, 1, 2,
                    "1 of 4 constraints are redundant, the multipliers are not unique: row 2");
}

/* More constraints than coordinates; and so many that the sentence has to end early. */
static ga_eval all_equal(void *user, const ga_point *at, double *Phi)
{
    const toy *t = user;
    for (int i = 0; i < t->m; ++i) Phi[i] = at->q[0];
    return GA_EVAL_OK;
}
static ga_eval all_equal_gradient(void *user, const ga_point *at, double *B)
{
    (void)at;
    const toy *t = user;
    for (int i = 0; i < t->m * t->n; ++i) B[i] = i < t->m ? 1 : 0;
    return GA_EVAL_OK;
}

static void test_many_redundant_constraints(void **state)
{
    (void)state;
    ga_node node;
    toy t = {.n = 2,
             .mass = {1, 1},
             .constraint = all_equal,
             .gradient = all_equal_gradient,
             .rhs = zero_rhs,
             .m = 200};
    const ga_system s = toy_system(&t, &node);
    const double q0[2] = {0}, v0[2] = {0};
    const ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    assert_int_equal(ga_integrator_create(&s, &def, &run, &report), GA_OK);
    assert_int_equal(ga_integrator_start(run, 0, q0, v0, 1e-3, &report), GA_OK);
    assert_int_equal(ga_integrator_redundant_count(run), 199);
    assert_int_equal(ga_integrator_rank(run), 1);
    const char *warning = ga_integrator_warning(run, 0);
    assert_non_null(strstr(warning, "199 of 200"));
    assert_non_null(strstr(warning, "..."));
    for (int k = 0; k < 199; ++k) { /* the first stays */
        const ga_redundant_row r = ga_integrator_redundant_row(run, k);
        assert_int_equal(r.row, k + 1);
        assert_int_equal(r.with_count, 1);
        assert_int_equal(r.with[0], 0);
    }
    ga_integrator_destroy(run);
}

/* A coordinate with neither mass nor constraint. */
static void test_singular(void **state)
{
    (void)state;
    ga_node node;
    toy t = {.n = 3,
             .mass = {1, 1, 0},
             .constraint = rows_constraint,
             .gradient = rows_gradient,
             .rhs = zero_rhs,
             .m = 0};
    ga_system s = toy_system(&t, &node);
    s.constraint = s.gradient = s.acceleration_rhs = NULL;
    const double q0[3] = {0}, v0[3] = {0};
    ga_report report = failing_start(&s, q0, v0, GA_ERR_SINGULAR);
    assert_message(report, "coordinate 2");
    assert_message(report, "singular");

    t.m = 1; /* constraint x = 0 does not help */
    t.constraint = line;
    t.gradient = line_gradient;
    static const int row[2] = {0, 0}, col[2] = {0, 1};
    s = toy_system(&t, &node);
    s.gradient_pattern = (ga_pattern){.count = 2, .row = row, .col = col};
    report = failing_start(&s, q0, v0, GA_ERR_SINGULAR);
    assert_message(report, "coordinate 2");

    t.mass[1] = t.mass[2] = 0; /* massless y is held by x + y = 1 */
    t.n = 2;
    s = toy_system(&t, &node);
    const ga_integrator_def def = definition(GA_INDEX2, GA_START_AUTO);
    const double on[2] = {0.5, 0.5};
    ga_integrator *run = create(&s, &def);
    assert_status(ga_integrator_start(run, 0, on, v0, 1e-3, &report), GA_OK, report);
    ga_integrator_destroy(run);
}

/* --- accelerations and multipliers ---------------------------------------------------------
 */

/* At several times of the exact motion, with every Phi_t and Phi_tt term in play. */
static void test_rheonomic_accelerations(void **state)
{
    (void)state;
    static const case_name names[2] = {CASE_RHEONOMIC, CASE_RHEONOMIC_BODY};
    for (int k = 0; k < 2; ++k) {
        pb_problem *p = case_create(names[k]);
        const int nv = ga_system_nv(&p->system), m = p->system.constraint_count;
        const ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
        ga_integrator *run = create(&p->system, &def);
        for (int i = 0; i <= 20; ++i) {
            const double t0 = 0.37 * i;
            double q[7], v[6], vd[6], lambda[4];
            ga_report report;
            p->exact(p, t0, q, v, vd, lambda);
            assert_status(ga_integrator_start(run, t0, q, v, 1e-3, &report), GA_OK, report);
            assert_below(distance_of(ga_integrator_vd(run), vd, nv), 2e-13, p->name);
            assert_below(distance_of(ga_integrator_lambda(run), lambda, m), 2e-12, p->name);
            assert_below(ga_integrator_projection(run).q, 1e-14, p->name);
            assert_below(ga_integrator_projection(run).v, 2e-14, p->name);
            assert_true(ga_integrator_time(run) == t0);
        }
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

static void test_reference_accelerations(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        for (int r = 0; r < p->reference_count; ++r) {
            const pb_reference *ref = &p->references[r];
            const ga_integrator_def def = definition(GA_INDEX3, GA_START_PLAIN);
            ga_integrator *run = create(&p->system, &def);
            ga_report report;
            assert_status(ga_integrator_start(run, ref->t, ref->q, ref->v, 1e-3, &report),
                          GA_OK, report);
            const int nv = ga_system_nv(&p->system), m = p->system.constraint_count;
            for (int i = 0; i < m; ++i)
                assert_below(fabs(ga_integrator_lambda(run)[i] - ref->lambda[i]) /
                                 fmax(1, fabs(ref->lambda[i])),
                             2 * ref->accuracy, p->name);
            for (int i = 0; i < nv && ref->vd; ++i)
                assert_below(fabs(ga_integrator_vd(run)[i] - ref->vd[i]) /
                                 fmax(1, fabs(ref->vd[i])),
                             2 * ref->accuracy, p->name);
            ++seen;
            ga_integrator_destroy(run);
        }
        pb_destroy(p);
    }
    assert_true(seen > 8);
}

/* Forces that depend on lambda: M vd - f(lambda) + B^T lambda = 0 and B vd = c hold. */
static void test_accelerations_with_friction(void **state)
{
    (void)state;
    double vd[2][2], lambda[2];
    for (int in_force = 0; in_force < 2; ++in_force) {
        pb_problem *p = case_create(in_force ? CASE_REACTIONS_IN_FORCE : CASE_FRICTION);
        const ga_integrator_def def = definition(GA_INDEX2, GA_START_PLAIN);
        ga_integrator *run = create(&p->system, &def);
        ga_report report;
        assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 1e-3, &report), GA_OK, report);
        memcpy(vd[in_force], ga_integrator_vd(run), sizeof vd[0]);
        lambda[in_force] = ga_integrator_lambda(run)[0];
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
    /* v is tangential: lambda = |v|^2 + g cos = 1 + 9.81 * 0.8, friction does not enter */
    for (int k = 0; k < 2; ++k) {
        assert_below(fabs(lambda[k] - 8.848), 1e-14 * 8.848, "lambda");
        const double f = 0.003 * lambda[k] * lambda[k];
        assert_below(fabs(vd[k][0] - (-f * 0.8 - 0.6 * lambda[k])), 1e-14 * 8, "x''");
        assert_below(fabs(vd[k][1] - (-9.81 - f * 0.6 + 0.8 * lambda[k])), 1e-14 * 8, "y''");
    }
}

/* --- a0 and v0, by hand, on the pendulum ----------------------------------------------------
 */

static const double g = 9.81;

/* v' of the pendulum off the circle too: lambda = (|v|^2 - g y)/|q|^2, v' = (0, -g) - lambda q.
 */
static void pendulum_acceleration(const double *q, const double *v, double *vd)
{
    const double lambda = (v[0] * v[0] + v[1] * v[1] - g * q[1]) / (q[0] * q[0] + q[1] * q[1]);
    vd[0] = -lambda * q[0];
    vd[1] = -g - lambda * q[1];
}

static void pendulum_beside(const double *q0, const double *v0, double ds, double *vd)
{
    double vd0[2], q[2], v[2];
    pendulum_acceleration(q0, v0, vd0);
    for (int i = 0; i < 2; ++i) {
        q[i] = q0[i] + ds * v0[i] + 0.5 * ds * ds * vd0[i];
        v[i] = v0[i] + ds * vd0[i];
    }
    pendulum_acceleration(q, v, vd);
}

static void test_start_values_by_hand(void **state)
{
    (void)state;
    const double q0[2] = {0.6, -0.8}, v0[2] = {1.6, 1.2}, h = 0.01;
    double vd[2], ahead[2], behind[2], near[2], central[2], forward[2];
    pendulum_acceleration(q0, v0, vd);
    pendulum_beside(q0, v0, h, ahead);
    pendulum_beside(q0, v0, -h, behind);
    pendulum_beside(q0, v0, 0.01 * h, near);
    for (int i = 0; i < 2; ++i) {
        central[i] = (ahead[i] - behind[i]) / (2 * h);
        forward[i] = (near[i] - vd[i]) / (0.01 * h);
    }
    pb_problem *p = case_create(CASE_PENDULUM);
    const double rhos[3] = {0, 0.6, 0.9};
    for (int r = 0; r < 3; ++r)
        for (int kind = GA_START_PLAIN; kind <= GA_START_IMPLICIT; ++kind)
            for (int difference = 0; difference < 2; ++difference)
                for (int form = 0; form < 2; ++form) {
                    ga_integrator_def def = definition((ga_formulation)form, (ga_start)kind);
                    def.start_difference = (ga_start_difference)difference;
                    assert_int_equal(
                        ga_coefficients_generalized_alpha(rhos[r], &def.coefficients, NULL),
                        GA_OK);
                    const double shift = def.coefficients.alpha_m - def.coefficients.alpha_f;
                    const double *vdd = difference == GA_DIFFERENCE_FORWARD ? forward : central;
                    double a[2] = {vd[0], vd[1]}, v[2] = {v0[0], v0[1]};
                    if (kind == GA_START_SHIFTED || kind == GA_START_PERTURBED)
                        for (int i = 0; i < 2; ++i) a[i] += shift * h * vdd[i];
                    if (kind == GA_START_PERTURBED) {
                        /* (56) with M = I, |q| = 1: the part of l^q/h along q */
                        const double c =
                            h * h / 6 * (1 - 6 * def.coefficients.beta - 3 * shift);
                        const double along = c * (q0[0] * vdd[0] + q0[1] * vdd[1]);
                        for (int i = 0; i < 2; ++i) v[i] += along * q0[i];
                    }
                    ga_integrator *run = create(&p->system, &def);
                    ga_report report;
                    assert_status(ga_integrator_start(run, 0, q0, v0, h, &report), GA_OK,
                                  report);
                    /* the forward quotient divides round-off of v' by h/100 */
                    const double noise =
                        difference == GA_DIFFERENCE_FORWARD ? 1e-14 * 10 / (0.01 * h) : 1e-10;
                    assert_below(distance_of(ga_integrator_a(run), a, 2), 1e-13 + h * noise,
                                 "a0");
                    assert_below(distance_of(ga_integrator_v(run), v, 2), 1e-14 + h * h * noise,
                                 "v0");
                    assert_below(distance_of(ga_integrator_vd(run), vd, 2), 1e-13, "v'0");
                    assert_below(fabs(ga_integrator_lambda(run)[0] - (4 + 0.8 * g)), 1e-13,
                                 "lambda0");
                    assert_true(ga_integrator_q(run)[0] == q0[0]);
                    assert_true(ga_integrator_q(run)[1] == q0[1]);
                    if (kind == GA_START_IMPLICIT) {
                        /* [JN08] (8): after the step, a_1 follows from a_0 = (1 - shift) v'_0
                         * + shift v'_1 */
                        assert_status(ga_integrator_step(run, &report), GA_OK, report);
                        const ga_coefficients *m = &def.coefficients;
                        for (int i = 0; i < 2; ++i) {
                            const double vd1 = ga_integrator_vd(run)[i];
                            const double a0 = (1 - shift) * vd[i] + shift * vd1;
                            const double a1 = ((1 - m->alpha_f) * vd1 + m->alpha_f * vd[i] -
                                               m->alpha_m * a0) /
                                              (1 - m->alpha_m);
                            const double v1 = v0[i] + h * ((1 - m->gamma) * a0 + m->gamma * a1);
                            assert_below(fabs(ga_integrator_a(run)[i] - a1), 1e-12, "a1");
                            assert_below(fabs(ga_integrator_v(run)[i] - v1), 1e-14 * 4, "v1");
                        }
                    }
                    ga_integrator_destroy(run);
                }
    pb_destroy(p);
}

/* GA_START_AUTO: perturbed for index 3, shifted for index 2. */
static void test_auto(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form) {
        const ga_start meant = form == GA_INDEX3 ? GA_START_PERTURBED : GA_START_SHIFTED;
        const ga_integrator_def automatic = definition((ga_formulation)form, GA_START_AUTO);
        const ga_integrator_def chosen = definition((ga_formulation)form, meant);
        ga_integrator *a = create(&p->system, &automatic), *b = create(&p->system, &chosen);
        ga_report report;
        assert_status(ga_integrator_start(a, 0, p->q0, p->v0, 0.01, &report), GA_OK, report);
        assert_status(ga_integrator_start(b, 0, p->q0, p->v0, 0.01, &report), GA_OK, report);
        for (int n = 0; n < 20; ++n) {
            assert_memory_equal(ga_integrator_v(a), ga_integrator_v(b), 2 * sizeof(double));
            assert_memory_equal(ga_integrator_a(a), ga_integrator_a(b), 2 * sizeof(double));
            assert_status(ga_integrator_step(a, &report), GA_OK, report);
            assert_status(ga_integrator_step(b, &report), GA_OK, report);
        }
        ga_integrator_destroy(a);
        ga_integrator_destroy(b);
    }
    pb_destroy(p);
}

/* --- a motion that exists only on one side of t0 --------------------------------------------
 */

typedef enum refusal { RECOVERABLE, NOT_A_NUMBER, FATAL } refusal;
typedef struct edge {
    probe_kind kind;
    double from, to; /* the callback works for from <= t <= to */
    refusal how;
} edge;

static ga_eval outside(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    const edge *e = p->data;
    if (kind != e->kind || (at->t >= e->from && at->t <= e->to)) return GA_EVAL_OK;
    if (e->how == NOT_A_NUMBER) out[0] = NAN;
    return e->how == RECOVERABLE ? GA_EVAL_RECOVERABLE
           : e->how == FATAL     ? GA_EVAL_FATAL
                                 : GA_EVAL_OK;
}

/* Undefined before t0: the forward difference takes over, with the same bits as if asked for.
 */
static void test_undefined_before_the_start(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form)
        for (int how = RECOVERABLE; how <= NOT_A_NUMBER; ++how) {
            ga_integrator_def def = definition((ga_formulation)form, GA_START_AUTO);
            edge e = {PROBE_FORCE, 0, INFINITY, (refusal)how};
            probe edged;
            probe_wrap(&edged, &p->system);
            edged.tamper = outside;
            edged.data = &e;
            ga_report report;
            ga_integrator *fallen = create(&edged.system, &def);
            assert_status(ga_integrator_start(fallen, 0, p->q0, p->v0, 0.01, &report), GA_OK,
                          report);
            def.start_difference = GA_DIFFERENCE_FORWARD;
            ga_integrator *asked = create(&p->system, &def);
            assert_status(ga_integrator_start(asked, 0, p->q0, p->v0, 0.01, &report), GA_OK,
                          report);
            assert_memory_equal(ga_integrator_a(fallen), ga_integrator_a(asked),
                                2 * sizeof(double));
            assert_memory_equal(ga_integrator_v(fallen), ga_integrator_v(asked),
                                2 * sizeof(double));
            for (int n = 0; n < 10; ++n)
                assert_status(ga_integrator_step(fallen, &report), GA_OK, report);
            ga_integrator_destroy(fallen);
            ga_integrator_destroy(asked);
        }
    pb_destroy(p);
}

/* Fatal means fatal. */
static void test_fatal_before_the_start(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    edge e = {PROBE_FORCE, 0, INFINITY, FATAL};
    probe edged;
    probe_wrap(&edged, &p->system);
    edged.tamper = outside;
    edged.data = &e;
    const ga_integrator_def def = definition(GA_INDEX3, GA_START_AUTO);
    ga_integrator *run = create(&edged.system, &def);
    ga_report report;
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, &report), GA_ERR_CALLBACK,
                  report);
    assert_int_equal(report.status, GA_ERR_CALLBACK);
    assert_message(report, "force");
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* A step that is too long for the force at t0 + h: steps would be halved, so a start must not
 * be the end of it. The forward difference looks ahead by h/100 only. */
static void test_undefined_a_step_ahead(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form) {
        const ga_integrator_def def = definition((ga_formulation)form, GA_START_AUTO);
        edge e = {PROBE_FORCE, -INFINITY, 0.005, RECOVERABLE};
        probe edged;
        probe_wrap(&edged, &p->system);
        edged.tamper = outside;
        edged.data = &e;
        ga_report report;
        ga_integrator *run = create(&edged.system, &def);
        assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, &report), GA_OK, report);
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* NaN from each callback at the start itself: named. */
static void test_callbacks_that_fail_at_the_start(void **state)
{
    (void)state;
    static const case_name names[2] = {CASE_RHEONOMIC_BODY, CASE_FRICTION};
    for (int c = 0; c < 2; ++c) {
        pb_problem *p = case_create(names[c]);
        for (int kind = 0; kind < PROBE_KINDS; ++kind)
            for (int how = RECOVERABLE; how <= FATAL; ++how) {
                static const ga_status expected[3] = {GA_ERR_RECOVERABLE, GA_ERR_NOT_FINITE,
                                                      GA_ERR_CALLBACK};
                edge e = {(probe_kind)kind, INFINITY, INFINITY, (refusal)how};
                probe edged;
                probe_wrap(&edged, &p->system);
                edged.tamper = outside;
                edged.data = &e;
                const ga_integrator_def def = definition(GA_INDEX3, GA_START_AUTO);
                ga_integrator *run = create(&edged.system, &def);
                ga_report report;
                memset(&report, 0x55, sizeof report);
                ga_status status = ga_integrator_start(run, p->t0, p->q0, p->v0, 0.01, &report);
                if (edged.calls[kind] == 0) { /* tangents are not needed here */
                    assert_int_equal(status, GA_OK);
                } else {
                    assert_int_equal(status, expected[how]);
                    assert_int_equal(report.status, expected[how]);
                    assert_message(report, probe_name((probe_kind)kind));
                    if (how == NOT_A_NUMBER) assert_int_equal(report.row, 0);
                    assert_int_equal(ga_integrator_step(run, NULL), GA_ERR_STATE);
                }
                ga_integrator_destroy(run);
            }
        pb_destroy(p);
    }
}

/* --- arguments ------------------------------------------------------------------------------
 */

static void test_quaternions(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_TOP_R3SO3);
    const ga_integrator_def def = definition(GA_INDEX2, GA_START_AUTO);
    ga_integrator *run = create(&p->system, &def);
    ga_report report;
    double q0[7];
    const double lengths[] = {2, 0.5, -1, 1e-3, 1e3, 1 + 1e-9};
    for (int k = 0; k < 6; ++k) {
        memcpy(q0, p->q0, sizeof q0);
        for (int i = 3; i < 7; ++i) q0[i] *= lengths[k];
        assert_status(ga_integrator_start(run, 0, q0, p->v0, 1e-3, &report), GA_OK, report);
        const double *q = ga_integrator_q(run);
        const double norm = q[3] * q[3] + q[4] * q[4] + q[5] * q[5] + q[6] * q[6];
        assert_below(fabs(norm - 1), 4 * DBL_EPSILON, "length");
        assert_below(fabs(fabs(q[3]) - 1), 4 * DBL_EPSILON, "rotation");
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
    }
    const double bad[] = {0, 1e-7, 1e7, 1e-200, 1e200};
    for (int k = 0; k < 5; ++k) {
        memcpy(q0, p->q0, sizeof q0);
        for (int i = 3; i < 7; ++i) q0[i] *= bad[k];
        assert_status(ga_integrator_start(run, 0, q0, p->v0, 1e-3, &report), GA_ERR_ARGUMENT,
                      report);
        assert_message(report, "quaternion of node 0");
        assert_int_equal(ga_integrator_step(run, NULL), GA_ERR_STATE);
    }
    ga_integrator_destroy(run);
    pb_destroy(p);
}

static void test_numbers_that_are_none(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_integrator_def def = definition(GA_INDEX2, GA_START_AUTO);
    ga_integrator *run = create(&p->system, &def);
    ga_report report;
    const double nothing[3] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k) {
        for (int i = 0; i < 2; ++i) {
            double q[2] = {0, -1}, v[2] = {1, 0};
            char name[16];
            q[i] = nothing[k];
            assert_status(ga_integrator_start(run, 0, q, v, 0.01, &report), GA_ERR_ARGUMENT,
                          report);
            snprintf(name, sizeof name, "q0[%d]", i);
            assert_message(report, name);
            assert_int_equal(report.row, i);
            q[0] = 0, q[1] = -1, v[i] = nothing[k];
            assert_status(ga_integrator_start(run, 0, q, v, 0.01, &report), GA_ERR_ARGUMENT,
                          report);
            snprintf(name, sizeof name, "v0[%d]", i);
            assert_message(report, name);
            assert_int_equal(report.row, i);
        }
        assert_status(ga_integrator_start(run, nothing[k], p->q0, p->v0, 0.01, &report),
                      GA_ERR_ARGUMENT, report);
        assert_message(report, "t0");
    }
    const double steps[] = {0, -0.0, -1, -1e-300, NAN, INFINITY, -INFINITY};
    for (size_t k = 0; k < sizeof steps / sizeof *steps; ++k) {
        assert_status(ga_integrator_start(run, 0, p->q0, p->v0, steps[k], &report),
                      GA_ERR_ARGUMENT, report);
        assert_message(report, "h = ");
        assert_int_equal(ga_integrator_start(run, 0, p->q0, p->v0, steps[k], NULL),
                         GA_ERR_ARGUMENT);
    }
    assert_status(ga_integrator_start(NULL, 0, p->q0, p->v0, 1, &report), GA_ERR_ARGUMENT,
                  report);
    assert_status(ga_integrator_start(run, 0, NULL, p->v0, 1, &report), GA_ERR_ARGUMENT,
                  report);
    assert_status(ga_integrator_start(run, 0, p->q0, NULL, 1, &report), GA_ERR_ARGUMENT,
                  report);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* --- starting again
 * --------------------------------------------------------------------------- */

typedef struct track {
    double values[12][MAX_NQ + 3 * MAX_NV + 2 * MAX_NC];
} track;

static void follow(ga_integrator *run, const pb_problem *p, double t0, double h, track *t)
{
    const int nq = ga_system_nq(&p->system), nv = ga_system_nv(&p->system);
    const int m = p->system.constraint_count;
    ga_report report;
    memset(t, 0, sizeof *t);
    assert_status(ga_integrator_start(run, t0, p->q0, p->v0, h, &report), GA_OK, report);
    for (int n = 0; n < 12; ++n) {
        double *x = t->values[n];
        memcpy(x, ga_integrator_q(run), (size_t)nq * sizeof *x);
        memcpy(x + MAX_NQ, ga_integrator_v(run), (size_t)nv * sizeof *x);
        memcpy(x + MAX_NQ + MAX_NV, ga_integrator_vd(run), (size_t)nv * sizeof *x);
        memcpy(x + MAX_NQ + 2 * MAX_NV, ga_integrator_a(run), (size_t)nv * sizeof *x);
        x += MAX_NQ + 3 * MAX_NV;
        memcpy(x, ga_integrator_lambda(run), (size_t)m * sizeof *x);
        memcpy(x + MAX_NC, ga_integrator_eta(run), (size_t)m * sizeof *x);
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
    }
}

/* After other runs, other step sizes, failed starts and failed steps: the same bits as new. */
static void test_restart_gives_the_same_bits(void **state)
{
    (void)state;
    static track fresh, again;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        const ga_integrator_def usual = ga_integrator_def_default();
        ga_integrator *far = create(&p->system, &usual);
        assert_int_equal(ga_integrator_start(far, p->t0, p->q0, p->v0, h, NULL), GA_OK);
        for (int n = 0; n < 100; ++n) assert_int_equal(ga_integrator_step(far, NULL), GA_OK);
        for (int form = 0; form < 2; ++form)
            for (int kind = GA_START_PLAIN; kind <= GA_START_IMPLICIT; ++kind)
                for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
                    ga_integrator_def def = definition((ga_formulation)form, (ga_start)kind);
                    def.solver = (ga_solver)solver;
                    if (form == GA_INDEX3 && kind == GA_START_PERTURBED)
                        def.penalty = GA_PENALTY_AUTO;
                    ga_integrator *run = create(&p->system, &def);
                    follow(run, p, p->t0, h, &fresh);
                    ga_statistics stats = ga_integrator_statistics(run);
                    ga_integrator_destroy(run);

                    /* another life first, from another place with another step */
                    run = create(&p->system, &def);
                    ga_report report;
                    const double t1 = ga_integrator_time(far);
                    assert_status(ga_integrator_start(run, t1, ga_integrator_q(far),
                                                      ga_integrator_v(far), 0.3 * h, &report),
                                  GA_OK, report);
                    for (int n = 0; n < 7; ++n)
                        assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    assert_int_equal(ga_integrator_start(run, p->t0, p->q0, p->v0, -1, NULL),
                                     GA_ERR_ARGUMENT);
                    follow(run, p, p->t0, h, &again);
                    for (int n = 0; n < 12; ++n)
                        if (memcmp(fresh.values[n], again.values[n], sizeof fresh.values[n]))
                            fail_msg("%s, index %d, start %d, solver %d: step %d differs",
                                     p->name, form == GA_INDEX3 ? 3 : 2, kind, solver, n);
                    const ga_statistics repeated = ga_integrator_statistics(run);
                    assert_int_equal(stats.steps, repeated.steps);
                    assert_int_equal(stats.iterations, repeated.iterations);
                    assert_int_equal(stats.evaluations, repeated.evaluations);
                    assert_int_equal(stats.jacobians, repeated.jacobians);
                    assert_int_equal(stats.factorizations, repeated.factorizations);
                    assert_true(stats.position_residual_max == repeated.position_residual_max);
                    ga_integrator_destroy(run);
                }
        ga_integrator_destroy(far);
        pb_destroy(p);
    }
}

/* Warnings of an earlier start do not stay. */
static void test_warnings_belong_to_the_last_start(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    ga_integrator_def def = definition(GA_INDEX3, GA_START_AUTO);
    assert_int_equal(ga_coefficients_generalized_alpha(1, &def.coefficients, NULL), GA_OK);
    ga_integrator *run = create(&p->system, &def);
    ga_report report;
    const double off[2] = {0, -1.1};
    assert_non_null(ga_integrator_warning(run, 0));
    assert_non_null(strstr(ga_integrator_warning(run, 0), "rho_inf = 1"));
    assert_null(ga_integrator_warning(run, 1));
    for (int k = 0; k < 10; ++k) {
        assert_status(ga_integrator_start(run, 0, off, p->v0, 1e-3, &report), GA_OK, report);
        assert_non_null(ga_integrator_warning(run, 1));
        assert_null(ga_integrator_warning(run, 2));
    }
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 1e-3, &report), GA_OK, report);
    assert_null(ga_integrator_warning(run, 1));
    ga_integrator_destroy(run);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_consistent_values_stay),
        cmocka_unit_test(test_projection_of_the_pendulum),
        cmocka_unit_test(test_projection_in_the_mass_metric),
        cmocka_unit_test(test_projection_on_groups),
        cmocka_unit_test(test_projection_refused),
        cmocka_unit_test(test_nowhere_consistent),
        cmocka_unit_test(test_redundant_constraints),
        cmocka_unit_test(test_many_redundant_constraints),
        cmocka_unit_test(test_singular),
        cmocka_unit_test(test_rheonomic_accelerations),
        cmocka_unit_test(test_reference_accelerations),
        cmocka_unit_test(test_accelerations_with_friction),
        cmocka_unit_test(test_start_values_by_hand),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_undefined_before_the_start),
        cmocka_unit_test(test_fatal_before_the_start),
        cmocka_unit_test(test_undefined_a_step_ahead),
        cmocka_unit_test(test_callbacks_that_fail_at_the_start),
        cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_numbers_that_are_none),
        cmocka_unit_test(test_restart_gives_the_same_bits),
        cmocka_unit_test(test_warnings_belong_to_the_last_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
