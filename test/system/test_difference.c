/* Difference quotients in place of callbacks: the same integration, and few evaluations.
 *
 * Tangents only steer Newton's iteration, so leaving them out may change results by round-off
 * alone. gradient, constraint_rate and acceleration_rhs are part of the equations: there the
 * error of the quotient shows, 4e-11 relative for first derivatives (see difference.c), and
 * more where the result magnifies it; tolerances below say so. */
#include "test/support/cases.h"
#include "test/support/probe.h"

typedef struct outcome {
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_NC];
    ga_statistics stats;
} outcome;

typedef struct scales {
    double q, v, vd, lambda;
} scales;

enum { STEPS = 40 };

static ga_integrator_def definition(ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    return def;
}

static void integrate(const char *name, const ga_system *system, const pb_problem *p, double h,
                      const ga_integrator_def *def, outcome *o)
{
    const int nq = ga_system_nq(system), nv = ga_system_nv(system);
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, def, &run, &report), GA_OK, report);
    ga_status status = ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report);
    for (int n = 0; n < STEPS && status == GA_OK; ++n)
        status = ga_integrator_step(run, &report);
    if (status != GA_OK) fail_msg("%s, %s: %s", p->name, name, report.message);
    memset(o, 0, sizeof *o);
    memcpy(o->q, ga_integrator_q(run), (size_t)nq * sizeof(double));
    memcpy(o->v, ga_integrator_v(run), (size_t)nv * sizeof(double));
    memcpy(o->vd, ga_integrator_vd(run), (size_t)nv * sizeof(double));
    memcpy(o->lambda, ga_integrator_lambda(run),
           (size_t)system->constraint_count * sizeof(double));
    o->stats = ga_integrator_statistics(run);
    ga_integrator_destroy(run);
}

/* Distances relative to the largest component of each kind. */
static scales compare(const outcome *a, const outcome *b)
{
    return (scales){distance_of(a->q, b->q, MAX_NQ) / fmax(1, largest_of(b->q, MAX_NQ)),
                    distance_of(a->v, b->v, MAX_NV) / fmax(1, largest_of(b->v, MAX_NV)),
                    distance_of(a->vd, b->vd, MAX_NV) / fmax(1, largest_of(b->vd, MAX_NV)),
                    distance_of(a->lambda, b->lambda, MAX_NC) /
                        fmax(1, largest_of(b->lambda, MAX_NC))};
}

/* How far two converged runs of the same equations may lie apart. Newton leaves 1e-14 of q and
 * v undone in a step, which later steps magnify by up to 34 ([ABC14], rho_inf 0.9); ten times
 * that. In index 3 an error of q is 1/c_q = 4/h^2 larger in v' and |M| times that in lambda, in
 * index 2 an error of v is 1/c_v = 2/h larger in v'. */
static scales round_off(const pb_problem *p, const outcome *o, double h, ga_formulation form)
{
    double M[MAX_NV * MAX_NV] = {0};
    const ga_point start = {.t = p->t0, .q = p->q0};
    assert_int_equal(p->system.mass(p->system.user, &start, M), GA_EVAL_OK);
    const double mass = fmax(1, largest_of(M, MAX_NV * MAX_NV));
    const double lambda = fmax(1, largest_of(o->lambda, MAX_NC));
    /* in Andrews' mechanism Phi is a difference of lengths of 0.07 and the crank has 0.007 */
    const double eps = 10 * 34 * 1e-14 * (strstr(p->name, "Andrews") ? 10 : 1);
    const double q = fmax(1, largest_of(o->q, MAX_NQ));
    const double v = fmax(1, largest_of(o->v, MAX_NV));
    const double vd = fmax(1, largest_of(o->vd, MAX_NV));
    const bool index3 = form == GA_INDEX3 && p->system.constraint_count > 0;
    const double noise_v = index3 ? 2 * q / h : v;
    const double noise_vd = fmax(vd, index3 ? 4 * q / (h * h) : 2 * v / h);
    return (scales){eps, eps * noise_v / v, eps * noise_vd / vd,
                    eps * fmax(1, mass * noise_vd / lambda)};
}

static void assert_close(const pb_problem *p, const char *what, ga_formulation form, scales got,
                         scales bound)
{
    const double d[4] = {got.q, got.v, got.vd, got.lambda};
    const double b[4] = {bound.q, bound.v, bound.vd, bound.lambda};
    static const char *const names[4] = {"q", "v", "vd", "lambda"};
    for (int k = 0; k < 4; ++k)
        if (!(d[k] <= b[k]))
            fail_msg("%s, index %d, without %s: %s moves by %.3g > %.3g", p->name,
                     form == GA_INDEX3 ? 3 : 2, what, names[k], d[k], b[k]);
}

static void remove_one(ga_system *s, ga_derivative which)
{
    if (which == GA_DERIVATIVE_GRADIENT) s->gradient = NULL;
    if (which == GA_DERIVATIVE_CONSTRAINT_RATE) s->constraint_rate = NULL;
    if (which == GA_DERIVATIVE_ACCELERATION_RHS) s->acceleration_rhs = NULL;
    if (which == GA_DERIVATIVE_STIFFNESS) s->stiffness = NULL;
    if (which == GA_DERIVATIVE_DAMPING) s->damping = NULL;
    if (which == GA_DERIVATIVE_VELOCITY_STIFFNESS) s->velocity_stiffness = NULL;
    if (which == GA_DERIVATIVE_FORCE_MULTIPLIERS) s->force_multipliers = NULL;
}

static const ga_formulation both[2] = {GA_INDEX3, GA_INDEX2};

/* Tangents, one by one and all together: near round-off. */
static void test_tangents_left_out(void **state)
{
    (void)state;
    static const ga_derivative tangents[4] = {GA_DERIVATIVE_STIFFNESS, GA_DERIVATIVE_DAMPING,
                                              GA_DERIVATIVE_VELOCITY_STIFFNESS,
                                              GA_DERIVATIVE_FORCE_MULTIPLIERS};
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int f = 0; f < 2; ++f) {
            const ga_integrator_def def = definition(both[f]);
            outcome full, less;
            integrate("all given", &p->system, p, h, &def, &full);
            const scales bound = round_off(p, &full, h, both[f]);
            ga_system none = p->system;
            for (int d = 0; d < 4; ++d) {
                ga_system s = p->system;
                remove_one(&s, tangents[d]);
                remove_one(&none, tangents[d]);
                integrate(ga_derivative_name(tangents[d]), &s, p, h, &def, &less);
                assert_close(p, ga_derivative_name(tangents[d]), both[f], compare(&less, &full),
                             bound);
                /* the quotients are as good as the callbacks: hardly more iterations */
                assert_below((double)less.stats.iterations,
                             1.1 * (double)full.stats.iterations + 2, p->name);
                assert_int_equal(less.stats.halvings, full.stats.halvings);
            }
            integrate("no tangents", &none, p, h, &def, &less);
            assert_close(p, "any tangent", both[f], compare(&less, &full), bound);
        }
        pb_destroy(p);
    }
}

/* acceleration_rhs enters lambda_0 and, through the start values, everything, with an error of
 * 1e-12 times the terms it is made of (fourth order along the motion). */
static void test_acceleration_rhs_left_out(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int f = 0; f < 2 && p->system.constraint_count; ++f) {
            const ga_integrator_def def = definition(both[f]);
            outcome full, less;
            integrate("all given", &p->system, p, h, &def, &full);
            scales bound = round_off(p, &full, h, both[f]);
            bound.q += 1e-9;
            bound.v += 1e-9;
            bound.vd += 1e-8;
            bound.lambda += 1e-8;
            ga_system s = p->system;
            s.acceleration_rhs = NULL;
            integrate("acceleration_rhs", &s, p, h, &def, &less);
            assert_close(p, "acceleration_rhs", both[f], compare(&less, &full), bound);
        }
        pb_destroy(p);
    }
}

/* B by quotients is wrong by 4e-11 |Phi''|, so lambda, which is M v' in units of B, as well.
 * The positions are those of Phi, which is exact; the directions of the reactions move. */
static void test_gradient_left_out(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int f = 0; f < 2 && p->system.constraint_count; ++f) {
            const ga_integrator_def def = definition(both[f]);
            outcome full, less;
            integrate("all given", &p->system, p, h, &def, &full);
            scales bound = round_off(p, &full, h, both[f]);
            bound.q += 1e-8;
            bound.v += 1e-8;
            bound.vd += 5e-7; /* the change of v, 4e-11/h, and the start magnifies it by 34 */
            bound.lambda += 5e-7;
            ga_system s = p->system;
            s.gradient = NULL;
            integrate("gradient", &s, p, h, &def, &less);
            assert_int_equal(less.stats.halvings, full.stats.halvings);
            assert_close(p, "gradient", both[f], compare(&less, &full), bound);
            assert_below(less.stats.position_residual_max,
                         1e-13 * fmax(1, largest_of(full.q, MAX_NQ)), p->name);
        }
        pb_destroy(p);
    }
}

/* Phi_t by quotients in t: index 2 and the start see it, index 3 afterwards does not. */
static void test_rate_left_out(void **state)
{
    (void)state;
    static const case_name names[2] = {CASE_RHEONOMIC, CASE_RHEONOMIC_BODY};
    for (int k = 0; k < 2; ++k) {
        pb_problem *p = case_create(names[k]);
        const double h = case_step(names[k]);
        for (int f = 0; f < 2; ++f) {
            const ga_integrator_def def = definition(both[f]);
            outcome full, less;
            integrate("all given", &p->system, p, h, &def, &full);
            scales bound = round_off(p, &full, h, both[f]);
            bound.q += 1e-9;
            bound.v += 1e-9;
            bound.vd += 5e-7; /* as above */
            bound.lambda += 5e-7;
            ga_system s = p->system;
            s.constraint_rate = NULL;
            assert_true(s.constraint_uses_time);
            integrate("constraint_rate", &s, p, h, &def, &less);
            assert_int_equal(less.stats.halvings, full.stats.halvings);
            assert_close(p, "constraint_rate", both[f], compare(&less, &full), bound);
            assert_below((double)less.stats.iterations, 1.5 * (double)full.stats.iterations,
                         p->name);
            s.velocity_stiffness = NULL; /* Z with Phi_t inside, both by quotients */
            integrate("constraint_rate, Z", &s, p, h, &def, &less);
            assert_close(p, "constraint_rate and Z", both[f], compare(&less, &full), bound);
            assert_below((double)less.stats.iterations, 1.5 * (double)full.stats.iterations,
                         p->name);
        }
        pb_destroy(p);
    }
}

/* The rate without the flag: Phi is taken to be constant in time, and the result is wrong. This
 * is what the flag is for. */
static void test_rate_left_out_without_flag(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_RHEONOMIC);
    const double h = case_step(CASE_RHEONOMIC);
    const ga_integrator_def def = definition(GA_INDEX2);
    outcome full, less;
    integrate("all given", &p->system, p, h, &def, &full);
    ga_system s = p->system;
    s.constraint_rate = NULL;
    s.constraint_uses_time = false;
    integrate("no rate, no flag", &s, p, h, &def, &less);
    assert_true(compare(&less, &full).v > 1e-3);
    /* the callback alone sets the flag */
    s = p->system;
    s.constraint_uses_time = false;
    integrate("no flag", &s, p, h, &def, &less);
    assert_true(compare(&less, &full).v == 0);
    pb_destroy(p);
}

/* Everything by quotients: only mass, force and constraint remain. Second derivatives of Phi
 * come from nested quotients, 1e-8. */
static void test_everything_left_out(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int f = 0; f < 2; ++f) {
            const ga_integrator_def def = definition(both[f]);
            outcome full, less;
            integrate("all given", &p->system, p, h, &def, &full);
            scales bound = round_off(p, &full, h, both[f]);
            if (p->system.constraint_count) {
                bound.q += 2e-7;
                bound.v += 2e-7;
                bound.vd += 1e-6;
                bound.lambda += 1e-6;
            }
            ga_system s = p->system;
            for (int d = 0; d < GA_DERIVATIVE_COUNT; ++d) remove_one(&s, (ga_derivative)d);
            integrate("nothing given", &s, p, h, &def, &less);
            assert_int_equal(less.stats.halvings, full.stats.halvings);
            assert_close(p, "all derivatives", both[f], compare(&less, &full), bound);
        }
        pb_destroy(p);
    }
}

/* --- evaluations ------------------------------------------------------------------------- */

/* Calls for one evaluation of the iteration matrix, beyond those with every derivative given.
 */
static void calls_per_matrix(int rods, ga_formulation form, ga_derivative left_out, bool all,
                             long *calls)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(rods, &p), GA_OK);
    const ga_integrator_def def = definition(form);
    long count[2][PROBE_KINDS];
    for (int less = 0; less < 2; ++less) {
        ga_system s = p->system;
        if (less && all)
            for (int d = GA_DERIVATIVE_STIFFNESS; d < GA_DERIVATIVE_COUNT; ++d)
                remove_one(&s, (ga_derivative)d);
        if (less) remove_one(&s, left_out);
        probe counted;
        ga_integrator *run = NULL;
        ga_report report;
        probe_wrap(&counted, &s);
        assert_status(ga_integrator_create(&counted.system, &def, &run, &report), GA_OK,
                      report);
        assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, 1e-3, &report), GA_OK,
                      report);
        memset(counted.calls, 0, sizeof counted.calls);
        const int n = ga_integrator_matrix_size(run);
        double *matrix = malloc((size_t)n * (size_t)n * sizeof *matrix);
        assert_non_null(matrix);
        assert_status(ga_integrator_matrix(run, 1e-3, GA_SCALING_AUTO, matrix, &report), GA_OK,
                      report);
        memcpy(count[less], counted.calls, sizeof counted.calls);
        free(matrix);
        ga_integrator_destroy(run);
    }
    for (int k = 0; k < PROBE_KINDS; ++k) calls[k] = count[1][k] - count[0][k];
    pb_destroy(p);
}

/* With patterns, the number of evaluations for one Jacobian does not depend on the length of
 * the chain. K, C: one colour each (diagonal), so one pair of forces; Z: the angle of a rod and
 * of the one above, two colours; B: x, theta and x, theta of the rod above share a row. */
static void test_colours_do_not_grow(void **state)
{
    (void)state;
    for (int f = 0; f < 2; ++f) {
        long five[PROBE_KINDS], fifty[PROBE_KINDS];
        calls_per_matrix(5, both[f], GA_DERIVATIVE_STIFFNESS, false, five);
        calls_per_matrix(50, both[f], GA_DERIVATIVE_STIFFNESS, false, fifty);
        assert_memory_equal(five, fifty, sizeof five);
        assert_int_equal(fifty[PROBE_FORCE], 2);
        assert_int_equal(fifty[PROBE_GRADIENT], 2);

        calls_per_matrix(5, both[f], GA_DERIVATIVE_DAMPING, false, five);
        calls_per_matrix(50, both[f], GA_DERIVATIVE_DAMPING, false, fifty);
        assert_memory_equal(five, fifty, sizeof five);
        assert_int_equal(fifty[PROBE_FORCE], 2);

        calls_per_matrix(5, both[f], GA_DERIVATIVE_GRADIENT, false, five);
        calls_per_matrix(50, both[f], GA_DERIVATIVE_GRADIENT, false, fifty);
        assert_memory_equal(five, fifty, sizeof five);
        assert_in_range(fifty[PROBE_CONSTRAINT], 8, 12); /* 4 entries a row: 4 to 6 colours */

        calls_per_matrix(5, both[f], GA_DERIVATIVE_STIFFNESS, true, five);
        calls_per_matrix(50, both[f], GA_DERIVATIVE_STIFFNESS, true, fifty);
        assert_memory_equal(five, fifty, sizeof five);
        assert_int_equal(fifty[PROBE_FORCE], 4);
    }
    long five[PROBE_KINDS], fifty[PROBE_KINDS];
    calls_per_matrix(5, GA_INDEX2, GA_DERIVATIVE_VELOCITY_STIFFNESS, false, five);
    calls_per_matrix(50, GA_INDEX2, GA_DERIVATIVE_VELOCITY_STIFFNESS, false, fifty);
    assert_memory_equal(five, fifty, sizeof five);
    assert_int_equal(fifty[PROBE_GRADIENT], 4);
}

/* Without a pattern every column costs a pair. */
static void test_full_pattern_costs_a_pair_a_column(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(4, &p), GA_OK);
    const ga_integrator_def def = definition(GA_INDEX3);
    ga_system s = p->system;
    s.stiffness = NULL;
    s.stiffness_pattern = (ga_pattern){0};
    probe counted;
    ga_integrator *run = NULL;
    ga_report report;
    double matrix[20 * 20];
    probe_wrap(&counted, &s);
    assert_status(ga_integrator_create(&counted.system, &def, &run, &report), GA_OK, report);
    assert_int_equal(ga_integrator_matrix_size(run), 20);
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 1e-3, &report), GA_OK, report);
    memset(counted.calls, 0, sizeof counted.calls);
    assert_status(ga_integrator_matrix(run, 1e-3, GA_SCALING_AUTO, matrix, &report), GA_OK,
                  report);
    assert_int_equal(counted.calls[PROBE_FORCE], 2 * 12);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* Entries that share a place get the value once: two entries for one place of K, C, Z, B. */
static void test_entries_at_one_place(void **state)
{
    (void)state;
    static const int twice_row[6] = {0, 1, 0, 1, 0, 1}, twice_col[6] = {0, 0, 0, 1, 1, 1};
    static const int wide_row[3] = {0, 0, 0}, wide_col[3] = {0, 1, 0};
    pb_problem *p = case_create(CASE_RHEONOMIC);
    const double h = case_step(CASE_RHEONOMIC);
    for (int f = 0; f < 2; ++f) {
        const ga_integrator_def def = definition(both[f]);
        outcome plain, twice;
        ga_system s = p->system;
        for (int d = 0; d < GA_DERIVATIVE_COUNT; ++d) remove_one(&s, (ga_derivative)d);
        integrate("full", &s, p, h, &def, &plain);
        s.stiffness_pattern = s.damping_pattern =
            (ga_pattern){.count = 6, .row = twice_row, .col = twice_col};
        s.gradient_pattern = s.velocity_stiffness_pattern =
            (ga_pattern){.count = 3, .row = wide_row, .col = wide_col};
        integrate("places twice", &s, p, h, &def, &twice);
        assert_close(p, "places named once", both[f], compare(&twice, &plain),
                     round_off(p, &plain, h, both[f]));
    }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tangents_left_out),
        cmocka_unit_test(test_acceleration_rhs_left_out),
        cmocka_unit_test(test_gradient_left_out),
        cmocka_unit_test(test_rate_left_out),
        cmocka_unit_test(test_rate_left_out_without_flag),
        cmocka_unit_test(test_everything_left_out),
        cmocka_unit_test(test_colours_do_not_grow),
        cmocka_unit_test(test_full_pattern_costs_a_pair_a_column),
        cmocka_unit_test(test_entries_at_one_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
