/* The explicit method: its coefficients against the order conditions, its order as observed,
 * what a tolerance means, dense output, events, jumps, redundant and singular constraints, and
 * how it fails. */
#include "integrate/dop853.h"
#include "test/integrate/accuracy.h"

#include <float.h>

/* --- coefficients ------------------------------------------------------------------------- */

enum { MOST_ORDER = 8, MOST_TREES = 256, STAGES = GA_DOP853_DENSE_STAGES };

/* A rooted tree: what is left of it without its root, and the elementary weights of the method,
 * [HNW93] section II.2: Phi_i = prod over children of sum_j a_ij Phi_j(child). */
typedef struct tree {
    int order;
    double gamma;
    double weight[STAGES];
} tree;

static tree trees[MOST_TREES];
static int tree_count;

/* Adds the trees whose root has more children, numbered below `limit`, on `left` vertices. */
static void grow(int limit, int left, const tree *so_far)
{
    const ga_dop853 *t = &ga_dop853_table;
    if (left == 0) {
        assert_true(tree_count < MOST_TREES);
        trees[tree_count] = *so_far;
        trees[tree_count++].gamma *= so_far->order;
        return;
    }
    for (int child = 0; child < limit; ++child) {
        if (trees[child].order > left) continue;
        tree next = *so_far;
        next.gamma *= trees[child].gamma;
        for (int i = 0; i < STAGES; ++i) {
            double sum = 0;
            for (int j = 0; j < i; ++j) sum += t->a[i][j] * trees[child].weight[j];
            next.weight[i] *= sum;
        }
        grow(child + 1, left - trees[child].order, &next);
    }
}

/* Of all orders up to 8, in this order. */
static void make_trees(void)
{
    tree_count = 0;
    for (int order = 1; order <= MOST_ORDER; ++order) {
        tree root = {.order = order, .gamma = 1};
        for (int i = 0; i < STAGES; ++i) root.weight[i] = 1;
        grow(tree_count, order - 1, &root);
    }
}

static double apply(const double *b, int stages, const tree *of)
{
    double sum = 0;
    for (int i = 0; i < stages; ++i) sum += b[i] * of->weight[i];
    return sum;
}

static void coefficients_satisfy_the_order_conditions(void **state)
{
    (void)state;
    const ga_dop853 *t = &ga_dop853_table;
    for (int i = 0; i < STAGES; ++i) {
        double sum = 0;
        for (int j = 0; j < STAGES; ++j) {
            sum += t->a[i][j];
            assert_true(j < i || t->a[i][j] == 0);
        }
        assert_true(fabs(sum - t->c[i]) < 1e-14);
    }
    make_trees();
    assert_int_equal(tree_count, 200);
    for (int k = 0; k < tree_count; ++k) {
        const tree *at = trees + k;
        const double defect = apply(t->b, GA_DOP853_STAGES, at) - 1 / at->gamma;
        if (!(fabs(defect) < 1e-14)) fail_msg("b, tree %d of order %d: %g", k, at->order, defect);
        if (at->order <= 5) assert_true(fabs(apply(t->e5, GA_DOP853_STAGES, at)) < 1e-14);
        if (at->order <= 3) assert_true(fabs(apply(t->e3, GA_DOP853_STAGES, at)) < 1e-14);
    }
    /* and no more than that: the estimates see the next order */
    double most5 = 0, most3 = 0;
    for (int k = 0; k < tree_count; ++k) {
        const double of5 = fabs(apply(t->e5, GA_DOP853_STAGES, trees + k));
        const double of3 = fabs(apply(t->e3, GA_DOP853_STAGES, trees + k));
        if (trees[k].order == 6) most5 = fmax(most5, of5);
        if (trees[k].order == 4) most3 = fmax(most3, of3);
    }
    assert_true(most5 > 1e-5 && most3 > 1e-3);
}

/* Weights of the stages in y(x) - y_n, from the formula in dop853.h. */
static void dense_weights(double x, double *b)
{
    const ga_dop853 *t = &ga_dop853_table;
    const double y = 1 - x;
    const double power[GA_DOP853_DENSE] = {x,
                                           x * y,
                                           x * y * x,
                                           x * y * x * y,
                                           x * y * x * y * x,
                                           x * y * x * y * x * y,
                                           x * y * x * y * x * y * x};
    for (int i = 0; i < STAGES; ++i) {
        const double all = i < GA_DOP853_STAGES ? t->b[i] : 0, first = i == 0;
        const double end = i == GA_DOP853_END;
        b[i] = power[0] * all + power[1] * (first - all) + power[2] * (2 * all - first - end);
        for (int r = 0; r < 4; ++r) b[i] += power[3 + r] * t->d[r][i];
    }
}

static void dense_output_satisfies_the_order_conditions(void **state)
{
    (void)state;
    make_trees();
    for (int step = 0; step <= 20; ++step) {
        const double x = step / 20.0;
        double b[STAGES];
        dense_weights(x, b);
        for (int k = 0; k < tree_count && trees[k].order <= 7; ++k) {
            const double defect =
                apply(b, STAGES, trees + k) - pow(x, trees[k].order) / trees[k].gamma;
            if (!(fabs(defect) < 1e-13))
                fail_msg("x = %g, tree %d of order %d: %g", x, k, trees[k].order, defect);
        }
    }
}

/* --- order -------------------------------------------------------------------------------- */

static ga_integrator *explicit_integrator(const ga_system *system)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_integrator *run = NULL;
    ga_report report;
    def.method = GA_METHOD_EXPLICIT;
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    return run;
}

enum { SIZES = 4, MOST_COMPONENTS = 2 * MAX_NV + MAX_NC };

/* q, v, lambda and psi at the end of a run with `steps` steps of one size, as differences to
 * another. */
typedef struct end_point {
    double q[MAX_NQ], v[MAX_NV], lambda[MAX_NC], psi[MAX_NC];
} end_point;

static void run_steps(const pb_problem *p, int steps, end_point *end)
{
    ga_integrator *run = explicit_integrator(&p->system);
    ga_report report;
    const double h = (p->t_end - p->t0) / steps;
    if (p->lambda_guess) ga_integrator_guess(run, p->lambda_guess, p->psi_guess);
    assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report), GA_OK, report);
    assert_status(ga_integrator_run(run, p->t_end, NULL, NULL, &report), GA_OK, report);
    assert_int_equal(ga_integrator_statistics(run).steps, steps);
    memcpy(end->q, ga_integrator_q(run), (size_t)ga_system_nq(&p->system) * sizeof *end->q);
    memcpy(end->v, ga_integrator_v(run), (size_t)ga_system_nv(&p->system) * sizeof *end->v);
    memcpy(end->lambda, ga_integrator_lambda(run),
           (size_t)p->system.constraint_count * sizeof *end->lambda);
    memcpy(end->psi, ga_integrator_psi(run),
           (size_t)p->system.nonholonomic_count * sizeof *end->psi);
    ga_integrator_destroy(run);
}

/* With these numbers of steps. The error of a component that changes its sign between them, or
 * is round-off, has no order; it is to be as small as those of its group. */
static void observe_order(pb_problem *p, const int *steps)
{
    const int nv = ga_system_nv(&p->system), m = p->system.constraint_count;
    const int np = p->system.nonholonomic_count, n = 2 * nv + m + np;
    end_point exact, end;
    double error[SIZES][MOST_COMPONENTS], largest[4] = {0};
    run_steps(p, 4 * steps[SIZES - 1], &exact);
    if (p->exact) {
        double vd[MAX_NV];
        p->exact(p, p->t_end, exact.q, exact.v, vd, m ? exact.lambda : NULL);
    }
    for (int k = 0; k < SIZES; ++k) {
        double *e = error[k];
        run_steps(p, steps[k], &end);
        ga_nodes_difference(p->system.node_count, p->system.nodes, exact.q, end.q, e);
        for (int i = 0; i < nv; ++i) e[nv + i] = end.v[i] - exact.v[i];
        for (int i = 0; i < m; ++i) e[2 * nv + i] = end.lambda[i] - exact.lambda[i];
        for (int i = 0; i < np; ++i) e[2 * nv + m + i] = end.psi[i] - exact.psi[i];
    }
    for (int i = 0; i < n; ++i) {
        const int group = i < nv ? 0 : i < 2 * nv ? 1 : i < 2 * nv + m ? 2 : 3;
        largest[group] = fmax(largest[group], fabs(error[0][i]));
    }
    for (int i = 0; i < n; ++i) {
        const int group = i < nv ? 0 : i < 2 * nv ? 1 : i < 2 * nv + m ? 2 : 3;
        double x[SIZES], y[SIZES];
        bool turns = false;
        for (int k = 0; k < SIZES; ++k) {
            x[k] = -log((double)steps[k]);
            y[k] = log(fabs(error[k][i]));
            turns |= !(error[k][i] * error[0][i] > 0) || fabs(error[k][i]) < 1e-14;
        }
        const double order = turns ? 8 : slope_of(x, y, SIZES);
        const double bound = 4 * largest[group] * exp(8 * (x[SIZES - 1] - x[0]));
        if (!(order > 7.2) || !(fabs(error[SIZES - 1][i]) < bound))
            fail_msg("%s: component %d has order %.2f: errors %g %g %g %g", p->name, i, order,
                     error[0][i], error[1][i], error[2][i], error[3][i]);
    }
    pb_destroy(p);
}

static void steps_have_order_eight(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    observe_order(p, (const int[]){20, 28, 40, 56});
    p = case_create(CASE_TOP_R3SO3);
    p->t_end = 0.2;
    observe_order(p, (const int[]){50, 60, 70, 85});
    p = case_create(CASE_TOP_SE3);
    p->t_end = 0.2;
    observe_order(p, (const int[]){40, 56, 80, 112});
    p = case_create(CASE_RHEONOMIC);
    observe_order(p, (const int[]){6, 8, 12, 16});
    p = case_create(CASE_RHEONOMIC_BODY);
    observe_order(p, (const int[]){50, 60, 70, 80});
    assert_int_equal(pb_rolling_disc_create(0, &p), GA_OK);
    observe_order(p, (const int[]){50, 70, 100, 140});
    assert_int_equal(pb_sleigh_create(GA_GROUP_SE2, &p), GA_OK);
    observe_order(p, (const int[]){12, 16, 24, 32});
    assert_int_equal(pb_sleigh_create(GA_GROUP_R2SO2, &p), GA_OK);
    observe_order(p, (const int[]){12, 16, 24, 32});
    assert_int_equal(pb_jn08_test_create(&p), GA_OK);
    observe_order(p, (const int[]){3, 4, 6, 8});
    assert_int_equal(pb_chain_create(5, &p), GA_OK);
    observe_order(p, (const int[]){40, 56, 80, 112});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_the_order_conditions),
        cmocka_unit_test(dense_output_satisfies_the_order_conditions),
        cmocka_unit_test(steps_have_order_eight),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
