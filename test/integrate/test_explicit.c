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
        if (!(fabs(defect) < 1e-14))
            fail_msg("b, tree %d of order %d: %g", k, at->order, defect);
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

/* --- what a tolerance means --------------------------------------------------------------- */

typedef ga_status make_problem(pb_problem **p);

static ga_status make_disc(pb_problem **p) { return pb_rolling_disc_create(0, p); }
static ga_status make_sleigh(pb_problem **p) { return pb_sleigh_create(GA_GROUP_SE2, p); }
static ga_status make_pendulum(pb_problem **p) { return pb_pendulum_create(0.2, p); }
static ga_status make_top(pb_problem **p) { return pb_heavy_top_create(GA_GROUP_R3SO3, p); }
static ga_status make_top_se3(pb_problem **p) { return pb_heavy_top_create(GA_GROUP_SE3, p); }
static ga_status make_model(pb_problem **p) { return pb_pendulum_model_create(NULL, p); }
static ga_status make_oscillator(pb_problem **p) { return pb_oscillator_create(4, 3, 0.1, p); }

/* All with a solution that is known well enough; singular mass matrices are among them. */
static make_problem *const problems[] = {
    make_pendulum,
    make_top,
    make_top_se3,
    pb_slider_crank_create,
    pb_andrews_relative_create,
    pb_andrews_absolute_create,
    make_model,
    pb_rheonomic_create,
    pb_rheonomic_body_create,
    make_oscillator,
    pb_free_top_create,
    pb_jn08_test_create,
    pb_planar_slider_crank_create,
    make_disc,
    make_sleigh,
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static accuracy run_with(const pb_problem *p, double tolerance)
{
    ga_integrator *run = explicit_integrator(&p->system);
    ga_simulation s = simulation(p, tolerance);
    if (p->lambda_guess) ga_integrator_guess(run, p->lambda_guess, p->psi_guess);
    const accuracy r = run_problem(p, run, &s);
    ga_integrator_destroy(run);
    return r;
}

/* References of Andrews' mechanism are known to 1e-11 only. */
static double known_to(const pb_problem *p)
{
    return p->exact ? 0 : 10 * p->references[p->reference_count - 1].accuracy;
}

static void tolerances_are_met(void **state)
{
    (void)state;
    double sum = 0;
    int count = 0;
    for (double tolerance = 1e-3; tolerance > 9e-12; tolerance /= 10)
        for (int k = 0; k < PROBLEMS; ++k) {
            pb_problem *p = NULL;
            assert_int_equal(problems[k](&p), GA_OK);
            if (tolerance > known_to(p)) {
                const accuracy r = run_with(p, tolerance);
                assert_below(r.worst, 10, p->name);
                /* for it starts with no more than a tenth of the time in a step */
                if (r.steps.accepted > 12) {
                    sum += log(fmax(r.worst, 1e-6));
                    ++count;
                }
                assert_below(r.work.position_residual_max, 1e-13, p->name);
                assert_below(r.steps.error_sum, 2, p->name);
                const double rejected = (double)r.steps.rejected;
                assert_below(rejected, 0.6 * (double)r.steps.accepted + 3, p->name);
            }
            pb_destroy(p);
        }
    const double mean = exp(sum / count);
    if (!(mean > 0.02 && mean < 2)) fail_msg("mean %g", mean);
}

/* --- stiffness ---------------------------------------------------------------------------- */

/* A spring that would take a million steps ends the run early, and says why; one that takes
 * some thousands does not. */
static void stiff_motions_are_told(void **state)
{
    (void)state;
    for (int stiff = 0; stiff < 2; ++stiff) {
        pb_problem *p = NULL;
        ga_report report;
        assert_int_equal(pb_oscillator_create(4, stiff ? 1e12 : 1e6, 0.1, &p), GA_OK);
        if (stiff) p->t_end = 100;
        ga_integrator *run = explicit_integrator(&p->system);
        ga_simulation s = simulation(p, 1e-3);
        const ga_status status = ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report);
        const long steps = ga_integrator_control_statistics(run).accepted;
        if (stiff) {
            assert_int_equal(status, GA_ERR_STEP_SIZE);
            assert_message(report, "stiff");
            assert_message(report, "generalized-alpha");
            assert_message(report, "radau");
            assert_non_null(report.remedy);
            assert_true(steps < 1500);
        } else {
            assert_status(status, GA_OK, report);
        }
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

/* --- dense output and what is computed for it --------------------------------------------- */

typedef struct book {
    const pb_problem *p;
    double worst, worst_lambda, lambda, Phi;
    long outputs;
} book;

static ga_eval compare(void *user, const ga_sample *at)
{
    book *b = user;
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_NC], error[MAX_NV];
    const ga_system *s = &b->p->system;
    b->p->exact(b->p, at->t, q, v, vd, lambda);
    ga_nodes_difference(s->node_count, s->nodes, at->q, q, error);
    const int nv = ga_system_nv(s);
    b->worst = fmax(b->worst, largest_of(error, nv));
    b->worst = fmax(b->worst, distance_of(at->v, v, nv));
    b->worst_lambda =
        fmax(b->worst_lambda, distance_of(at->lambda, lambda, s->constraint_count));
    b->lambda = fmax(b->lambda, largest_of(lambda, s->constraint_count));
    const ga_point point = {.t = at->t, .q = at->q, .v = at->v};
    double Phi[MAX_NC];
    assert_int_equal(s->constraint(s->user, &point, Phi), GA_EVAL_OK);
    b->Phi = fmax(b->Phi, largest_of(Phi, s->constraint_count));
    ++b->outputs;
    return GA_EVAL_OK;
}

/* Between steps output is nearly as good as at steps, where errors are well below the
 * tolerance; multipliers of the interpolation included. */
static void dense_output_is_accurate(void **state)
{
    (void)state;
    make_problem *const some[] = {make_pendulum, pb_rheonomic_create, pb_rheonomic_body_create};
    for (int k = 0; k < 3; ++k)
        for (int hat = 0; hat < 2; ++hat) {
            pb_problem *p = NULL;
            ga_report report;
            book steps, outputs;
            assert_int_equal(some[k](&p), GA_OK);
            steps = outputs = (book){.p = p};
            ga_integrator *run = explicit_integrator(&p->system);
            ga_simulation s = simulation(p, 1e-8);
            s.multipliers = hat ? GA_MULTIPLIERS_HAT : GA_MULTIPLIERS_SCHEME;
            s.accepted = NULL;
            s.output = compare;
            s.user = &steps;
            assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                          report);
            s.output_every = (p->t_end - p->t0) / 997;
            s.user = &outputs;
            assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                          report);
            assert_true(outputs.outputs > 990 && steps.outputs < 100);
            assert_below(outputs.worst, fmax(10 * steps.worst, 1e-9), p->name);
            assert_below(outputs.worst_lambda,
                         fmax((hat ? 1e-8 : 1e-7) * outputs.lambda, 30 * steps.worst_lambda),
                         p->name);
            assert_below(outputs.Phi, 1e-14, p->name);
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
}

/* Steps have the same bits whatever is output. */
static void output_does_not_disturb(void **state)
{
    (void)state;
    for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
        pb_problem *p = case_create(CASE_CHAIN);
        double q[2][MAX_NQ], v[2][MAX_NV];
        for (int dense = 0; dense < 2; ++dense) {
            ga_integrator_def def = ga_integrator_def_default();
            ga_integrator *run = NULL;
            ga_report report;
            def.method = GA_METHOD_EXPLICIT;
            def.solver = (ga_solver)solver;
            assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_OK, report);
            ga_simulation s = simulation(p, 1e-6);
            watcher w = {.system = &p->system};
            s.output_every = dense ? 1e-3 : 0;
            s.multipliers = GA_MULTIPLIERS_HAT;
            s.output = watch;
            s.user = &w;
            assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                          report);
            memcpy(q[dense], ga_integrator_q(run), sizeof *q);
            memcpy(v[dense], ga_integrator_v(run), sizeof *v);
            ga_integrator_destroy(run);
        }
        assert_memory_equal(q[0], q[1], (size_t)ga_system_nq(&p->system) * sizeof **q);
        assert_memory_equal(v[0], v[1], (size_t)ga_system_nv(&p->system) * sizeof **v);
        pb_destroy(p);
    }
}

/* --- redundant and singular constraints --------------------------------------------------- */

/* Three rows too many change neither the motion nor the number of steps. */
static void redundant_rows_cost_no_steps(void **state)
{
    (void)state;
    for (double tolerance = 1e-3; tolerance > 1e-10; tolerance /= 100) {
        long steps[2];
        double q[2][MAX_NQ];
        for (int redundant = 0; redundant < 2; ++redundant) {
            pb_problem *p = NULL;
            ga_report report;
            assert_int_equal(pb_spatial_four_bar_create(false, redundant, &p), GA_OK);
            ga_integrator *run = explicit_integrator(&p->system);
            ga_simulation s = simulation(p, tolerance);
            assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                          report);
            assert_int_equal(ga_integrator_redundant_count(run), redundant ? 3 : 0);
            steps[redundant] = ga_integrator_control_statistics(run).accepted;
            memcpy(q[redundant], ga_integrator_q(run),
                   (size_t)ga_system_nq(&p->system) * sizeof **q);
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
        assert_true(labs(steps[0] - steps[1]) <= 1 + steps[0] / 100);
        assert_below(distance_of(q[0], q[1], 21), tolerance, "spatial four-bar");
    }
}

/* The crank of the change-point four-bar goes round through the singular position again and
 * again and stays on the motion that goes on smoothly. */
static void singular_positions_are_passed(void **state)
{
    (void)state;
    for (double tolerance = 1e-3; tolerance > 1e-8; tolerance /= 10) {
        pb_problem *p = NULL;
        ga_report report;
        double x[4][2], v[4][2];
        assert_int_equal(pb_change_point_create(&p), GA_OK);
        ga_integrator *run = explicit_integrator(&p->system);
        ga_simulation s = simulation(p, tolerance);
        assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                      report);
        const double *q = ga_integrator_q(run);
        pb_change_point_motion(q[2], ga_integrator_v(run)[2], x, v);
        for (int i = 0; i < 2; ++i) /* the coupler is between the second pin and the third */
            assert_below(fabs(q[3 + i] - 0.5 * (x[1][i] + x[2][i])), 1e-6, p->name);
        ga_integrator_destroy(run);
        pb_destroy(p);
        assert_int_equal(pb_n_four_bar_create(10, &p), GA_OK);
        run = explicit_integrator(&p->system);
        s = simulation(p, tolerance);
        s.t_end = 3;
        assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                      report);
        q = ga_integrator_q(run);
        for (int k = 1; k <= 10; ++k) /* all cranks are parallel */
            assert_below(fabs(q[6 * k + 2] - q[2]), 1e-5, p->name);
        ga_integrator_destroy(run);
        pb_destroy(p);
    }
}

/* --- events and jumps --------------------------------------------------------------------- */

typedef struct impacts {
    const pb_problem *p;
    int count;
    double times[16];
} impacts;

static ga_eval gap(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = pb_bouncing_pendulum_gap(at->q);
    return GA_EVAL_OK;
}

static ga_action bounce(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    impacts *b = user;
    (void)count, (void)which;
    assert_true(b->count < 16);
    b->times[b->count++] = at->t;
    pb_bouncing_pendulum_impact(b->p, q, v, 0.8);
    return GA_ACTION_RESTART;
}

static void events_are_located(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    ga_report report;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    for (int fixed = 0; fixed < 2; ++fixed) {
        ga_integrator *run = explicit_integrator(&p->system);
        ga_simulation s = simulation(p, 1e-10);
        impacts b = {.p = p};
        double times[4], q[2], v[2];
        s.t_end = 2;
        if (fixed) s.control.relative = 0, s.step = 0.02;
        s.events = (ga_events){.count = 1,
                               .function = gap,
                               .happen = bounce,
                               .user = &b,
                               .unilateral = (const bool[]){true},
                               .max_count = 100};
        assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report), GA_OK,
                      report);
        pb_bouncing_pendulum_times(p, 0.8, 4, times);
        pb_bouncing_pendulum_exact(p, 0.8, 2, q, v, NULL, NULL);
        for (int k = 0; k < b.count && k < 4; ++k)
            assert_below(fabs(b.times[k] - times[k]), 2e-9, p->name);
        assert_true(b.count >= 2);
        assert_below(distance_of(ga_integrator_q(run), q, 2), 1e-8, p->name);
        assert_below(distance_of(ga_integrator_v(run), v, 2), 1e-7, p->name);
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* A jump that is announced costs nothing; one that is not is found. */
static void jumps_are_passed(void **state)
{
    (void)state;
    for (int told = 0; told < 2; ++told)
        for (double tolerance = 1e-3; tolerance > 1e-10; tolerance /= 100) {
            pb_problem *p = NULL;
            assert_int_equal(pb_jump_create(0.7, &p), GA_OK);
            const double at = pb_jump_time(p);
            ga_integrator *run = explicit_integrator(&p->system);
            ga_simulation s = simulation(p, tolerance);
            s.breakpoint_count = told;
            s.breakpoints = &at;
            const accuracy r = run_problem(p, run, &s);
            assert_below(r.worst, 10, told ? "announced" : "not announced");
            assert_below((double)r.steps.rejected, told ? 10 : 60, p->name);
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
}

/* --- failures ----------------------------------------------------------------------------- */

typedef struct spoiled {
    ga_system inside;
    double from; /* time */
    ga_eval answer;
} spoiled;

static ga_eval spoiled_force(void *user, const ga_point *at, double *f)
{
    const spoiled *s = user;
    const ga_eval answer = s->inside.force(s->inside.user, at, f);
    if (at->t <= s->from) return answer;
    if (s->answer == GA_EVAL_OK) f[0] = NAN;
    return s->answer;
}
#define PASS_ON(name)                                                                          \
    static ga_eval spoiled_##name(void *user, const ga_point *at, double *out)                 \
    {                                                                                          \
        const spoiled *s = user;                                                               \
        return s->inside.name(s->inside.user, at, out);                                        \
    }
PASS_ON(mass)
PASS_ON(constraint)
PASS_ON(gradient)
PASS_ON(acceleration_rhs)

/* NaN and failures end the run where they begin, with what was computed before. */
static void failures_are_told(void **state)
{
    (void)state;
    static const struct {
        ga_eval answer;
        ga_status status;
    } cases[] = {{GA_EVAL_OK, GA_ERR_NOT_FINITE},
                 {GA_EVAL_RECOVERABLE, GA_ERR_RECOVERABLE},
                 {GA_EVAL_FATAL, GA_ERR_CALLBACK}};
    for (int k = 0; k < 3; ++k)
        for (int fixed = 0; fixed < 2; ++fixed) {
            pb_problem *p = case_create(CASE_PENDULUM_SIDE);
            spoiled user = {p->system, 0.5, cases[k].answer};
            ga_system s = p->system;
            ga_report report;
            s.user = &user;
            s.force = spoiled_force;
            s.mass = spoiled_mass;
            s.constraint = spoiled_constraint;
            s.gradient = spoiled_gradient;
            s.acceleration_rhs = spoiled_acceleration_rhs;
            s.stiffness = s.damping = s.velocity_stiffness = NULL;
            s.all = NULL;
            s.equations = NULL;
            ga_integrator *run = explicit_integrator(&s);
            ga_simulation def = simulation(p, 1e-6);
            if (fixed) def.control.relative = 0, def.step = 0.03;
            assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &def, &report),
                          cases[k].status, report);
            assert_message(report, "force");
            const double t = ga_integrator_time(run);
            assert_true(t > 0.2 && t <= 0.5);
            if (cases[k].status != GA_ERR_CALLBACK && !fixed) assert_true(t > 0.49);
            assert_true(isfinite(ga_integrator_q(run)[0] + ga_integrator_v(run)[0]));
            ga_integrator_destroy(run);
            pb_destroy(p);
        }
}

/* What belongs to generalized-alpha is refused. */
static void other_settings_are_refused(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    ga_report report;
    ga_integrator *run = explicit_integrator(&p->system);
    ga_simulation s = simulation(p, 1e-6);
    s.control.mode = GA_ERROR_AUTO;
    assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report),
                  GA_ERR_ARGUMENT, report);
    s = simulation(p, 1e-13);
    assert_status(ga_integrator_simulate(run, p->t0, p->q0, p->v0, &s, &report),
                  GA_ERR_ARGUMENT, report);
    s = simulation(p, 1e-6);
    double q[2], v[2];
    assert_status(
        ga_integrator_richardson(run, p->t0, p->q0, p->v0, &s, 2, q, v, NULL, NULL, &report),
        GA_ERR_ARGUMENT, report);
    assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 0.1, &report), GA_OK, report);
    double matrix[64];
    assert_status(ga_integrator_matrix(run, 0.1, GA_SCALING_AUTO, matrix, &report),
                  GA_ERR_ARGUMENT, report);
    ga_integrator_destroy(run);
    ga_integrator_def def = ga_integrator_def_default();
    def.method = GA_METHOD_COUNT;
    assert_status(ga_integrator_create(&p->system, &def, &run, &report), GA_ERR_ARGUMENT,
                  report);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_satisfy_the_order_conditions),
        cmocka_unit_test(dense_output_satisfies_the_order_conditions),
        cmocka_unit_test(steps_have_order_eight),
        cmocka_unit_test(tolerances_are_met),
        cmocka_unit_test(stiff_motions_are_told),
        cmocka_unit_test(dense_output_is_accurate),
        cmocka_unit_test(output_does_not_disturb),
        cmocka_unit_test(redundant_rows_cost_no_steps),
        cmocka_unit_test(singular_positions_are_passed),
        cmocka_unit_test(events_are_located),
        cmocka_unit_test(jumps_are_passed),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(other_settings_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
