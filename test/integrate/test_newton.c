/* Newton's iteration and what surrounds it: nothing is accepted that did not converge, nothing
 * is lost when a step fails, and the reason is told. */
#include "test/support/cases.h"
#include "test/support/probe.h"

#include <float.h>

static ga_integrator_def definition(ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    return def;
}

static ga_integrator *create(const ga_system *system, const ga_integrator_def *def)
{
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, def, &run, &report), GA_OK, report);
    return run;
}

static ga_integrator *begin(const ga_system *system, const ga_integrator_def *def,
                            const pb_problem *p, double h)
{
    ga_integrator *run = create(system, def);
    ga_report report;
    assert_status(ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report), GA_OK, report);
    return run;
}

/* Everything a user can see of the state. */
typedef struct snapshot {
    double t, q[MAX_NQ], v[MAX_NV], vd[MAX_NV], a[MAX_NV], lambda[MAX_NC], eta[MAX_NC];
} snapshot;

static snapshot take(const ga_integrator *run, const ga_system *s)
{
    const size_t nq = (size_t)ga_system_nq(s), nv = (size_t)ga_system_nv(s);
    const size_t m = (size_t)s->constraint_count;
    snapshot o;
    memset(&o, 0, sizeof o);
    o.t = ga_integrator_time(run);
    memcpy(o.q, ga_integrator_q(run), nq * sizeof(double));
    memcpy(o.v, ga_integrator_v(run), nv * sizeof(double));
    memcpy(o.vd, ga_integrator_vd(run), nv * sizeof(double));
    memcpy(o.a, ga_integrator_a(run), nv * sizeof(double));
    memcpy(o.lambda, ga_integrator_lambda(run), m * sizeof(double));
    memcpy(o.eta, ga_integrator_eta(run), m * sizeof(double));
    return o;
}

static bool same_bits(const snapshot *a, const snapshot *b) { return !memcmp(a, b, sizeof *a); }

/* |M v' - f + B^T lambda| of the state; *size is its largest term, *mass that of M. */
static double dynamic_defect(const ga_integrator *run, const ga_system *s, double *largest_term,
                             double *mass)
{
    const int n = ga_system_nv(s), m = s->constraint_count;
    const ga_point at = {ga_integrator_time(run),   ga_integrator_q(run),
                         ga_integrator_v(run),      ga_integrator_vd(run),
                         ga_integrator_lambda(run), NULL};
    static double M[MAX_NV * MAX_NV], B[MAX_NC * MAX_NV];
    double r[MAX_NV], size = 1;
    assert_int_equal(s->force(s->user, &at, r), GA_EVAL_OK);
    assert_int_equal(s->mass(s->user, &at, M), GA_EVAL_OK);
    if (m) assert_int_equal(s->gradient(s->user, &at, B), GA_EVAL_OK);
    size = fmax(size, largest_of(r, n));
    for (int i = 0; i < n; ++i) r[i] = -r[i];
    const ga_pattern Mp = s->mass_pattern, Bp = s->gradient_pattern;
    for (int k = 0; k < (Mp.row ? Mp.count : n * n); ++k) {
        const int i = Mp.row ? Mp.row[k] : k % n, j = Mp.row ? Mp.col[k] : k / n;
        r[i] += M[k] * at.vd[j];
        size = fmax(size, fabs(M[k] * at.vd[j]));
    }
    for (int k = 0; m && k < (Bp.row ? Bp.count : m * n); ++k) {
        const int i = Bp.row ? Bp.row[k] : k % m, j = Bp.row ? Bp.col[k] : k / m;
        if (s->reactions == GA_REACTIONS_ADDED) r[j] += B[k] * at.lambda[i];
        size = fmax(size, fabs(B[k] * at.lambda[i]));
    }
    *largest_term = size;
    *mass = largest_of(M, Mp.row ? Mp.count : n * n);
    return largest_of(r, n);
}

/* --- converged or not at all ---------------------------------------------------------------
 */

/* What an accepted step satisfies, for every problem: dynamics, Phi and, in index 2, B v. */
static void test_accepted_steps_solve_the_equations(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int form = 0; form < 2; ++form)
            for (int newton = 0; newton < 2; ++newton) {
                ga_integrator_def def = definition((ga_formulation)form);
                def.newton = (ga_newton)newton;
                ga_integrator *run = begin(&p->system, &def, p, h);
                for (int n = 0; n < 50; ++n) {
                    ga_report report;
                    assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    /* what the stopping test may leave undone at worst, a thousand units of
                     * round-off of q (index 3) or v, is 1/c_q or 1/c_v larger in v' and shows
                     * as M dv'; besides that, round-off of the terms */
                    double size, mass;
                    const double defect = dynamic_defect(run, &p->system, &size, &mass);
                    const double q =
                        fmax(1, largest_of(ga_integrator_q(run), ga_system_nq(&p->system)));
                    const double v =
                        fmax(1, largest_of(ga_integrator_v(run), ga_system_nv(&p->system)));
                    const double undone = form == GA_INDEX3 && p->system.constraint_count
                                              ? 1e3 * 4 * DBL_EPSILON * q / (0.25 * h * h)
                                              : 1e3 * 4 * DBL_EPSILON * v / (0.5 * h);
                    assert_below(defect, mass * undone + 1e-13 * size, p->name);
                }
                const ga_statistics stats = ga_integrator_statistics(run);
                const double q =
                    fmax(1, largest_of(ga_integrator_q(run), ga_system_nq(&p->system)));
                const double v =
                    fmax(1, largest_of(ga_integrator_v(run), ga_system_nv(&p->system)));
                /* relative = 1e-14 in the definition, an estimate */
                assert_below(stats.position_residual_max, 2e-14 * q, p->name);
                assert_below(stats.velocity_residual_max, 2e-14 * v * q, p->name);
                assert_int_equal(stats.steps, 50);
                assert_int_equal(stats.halvings, 0);
                ga_integrator_destroy(run);
            }
        pb_destroy(p);
    }
}

/* k iterations are needed: with max_iterations = k the same bits, with k - 1 a failure that
 * leaves the state alone; or full Newton, which is tried next, needs no more than that. */
static void assert_same_solution(const pb_problem *p, const char *what, ga_formulation form,
                                 double h, const snapshot *a, const snapshot *b);

static void test_exactly_enough_iterations(void **state)
{
    (void)state;
    int checked = 0;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = 4 * case_step((case_name)k);
        for (int form = 0; form < 2; ++form)
            for (int newton = 0; newton < 2; ++newton) {
                ga_integrator_def def = definition((ga_formulation)form);
                def.newton = (ga_newton)newton;
                def.max_halvings = 0;
                def.max_iterations = 50;
                ga_integrator *run = begin(&p->system, &def, p, h);
                ga_report report;
                if (ga_integrator_step(run, &report) != GA_OK) {
                    ga_integrator_destroy(run);
                    continue;
                }
                const snapshot enough = take(run, &p->system);
                const int needed = (int)ga_integrator_statistics(run).iterations;
                ga_integrator_destroy(run);

                def.max_iterations = needed;
                run = begin(&p->system, &def, p, h);
                assert_status(ga_integrator_step(run, &report), GA_OK, report);
                const snapshot just = take(run, &p->system);
                assert_true(same_bits(&enough, &just));
                ga_integrator_destroy(run);
                if (needed == 1) continue; /* linear problems */

                def.max_iterations = needed - 1;
                run = begin(&p->system, &def, p, h);
                const snapshot before = take(run, &p->system);
                if (def.newton == GA_NEWTON_MODIFIED &&
                    ga_integrator_step(run, NULL) == GA_OK) {
                    const snapshot full = take(run, &p->system);
                    assert_true(ga_integrator_statistics(run).iterations > needed - 1);
                    assert_same_solution(p, "full Newton", def.formulation, h, &full, &enough);
                    ga_integrator_destroy(run);
                    continue;
                }
                for (int again = 0; again < 2; ++again) {
                    memset(&report, 0x55, sizeof report);
                    assert_status(ga_integrator_step(run, &report), GA_ERR_NO_CONVERGE, report);
                    const snapshot after = take(run, &p->system);
                    assert_true(same_bits(&before, &after));
                    assert_int_equal(report.status, GA_ERR_NO_CONVERGE);
                    assert_message(report, "did not converge");
                    assert_true(report.time == p->t0 && report.step == h);
                    assert_int_equal(report.iteration, needed - 1);
                    assert_true(report.norm_q > 1 || report.norm_v > 1 ||
                                report.norm_lambda > 1 || needed == 2);
                    assert_in_range(report.row, 0, ga_integrator_matrix_size(run) - 1);
                }
                assert_int_equal(ga_integrator_statistics(run).steps, 0);
                ga_integrator_destroy(run);
                ++checked;
            }
        pb_destroy(p);
    }
    assert_true(checked > 30);
}

/* The same with halving allowed: pieces that converge are accepted, and the result is a second
 * order solution, not the unconverged iterate. */
static void test_too_few_iterations_with_halving(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form) {
        ga_integrator_def def = definition((ga_formulation)form);
        def.max_iterations = 2;
        ga_integrator *run = begin(&p->system, &def, p, 0.02);
        ga_report report = {0};
        ga_status status = GA_OK;
        while (status == GA_OK && ga_integrator_time(run) < 0.5)
            status = ga_integrator_step(run, &report);
        if (status == GA_OK) {
            double q[2];
            p->exact(p, ga_integrator_time(run), q, NULL, NULL, NULL);
            assert_below(distance_of(q, ga_integrator_q(run), 2), 1e-3, "pendulum");
        } else {
            assert_int_equal(status, GA_ERR_NO_CONVERGE);
        }
        /* the stopping test estimates what is left, 1e-14; it does not bound it */
        assert_below(ga_integrator_statistics(run).position_residual_max, 3e-14, "pendulum");
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* --- wrong tangents -------------------------------------------------------------------------
 */

typedef enum spoil {
    K_SIGN,
    K_ZERO,
    C_SIGN,
    C_ZERO,
    Z_SIGN,
    Z_ZERO,
    K_HUGE,
    L_ZERO,
    SPOILS
} spoil;

static ga_eval spoil_tangent(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)at;
    static const probe_kind target[SPOILS] = {
        PROBE_STIFFNESS, PROBE_STIFFNESS,          PROBE_DAMPING,
        PROBE_DAMPING,   PROBE_VELOCITY_STIFFNESS, PROBE_VELOCITY_STIFFNESS,
        PROBE_STIFFNESS, PROBE_FORCE_LAMBDA};
    static const double factor[SPOILS] = {-1, 0, -1, 0, -1, 0, 100, 0};
    const spoil what = *(const spoil *)p->data;
    if (kind == target[what])
        for (int i = 0; i < p->size[kind]; ++i) out[i] *= factor[what];
    return GA_EVAL_OK;
}

/* The right result, as far as round-off lets two converged runs agree, or an honest failure:
 * without halving, so that the discrete solution is the same. */
static void test_wrong_tangents(void **state)
{
    (void)state;
    int right = 0, honest = 0;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int form = 0; form < 2; ++form)
            for (int newton = 0; newton < 2; ++newton) {
                ga_integrator_def def = definition((ga_formulation)form);
                def.newton = (ga_newton)newton;
                def.max_halvings = 0;
                def.max_iterations = 60;
                ga_integrator *run = begin(&p->system, &def, p, h);
                for (int n = 0; n < 20; ++n)
                    assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
                const snapshot good = take(run, &p->system);
                ga_integrator_destroy(run);
                for (int what = 0; what < SPOILS; ++what) {
                    spoil which = (spoil)what;
                    probe spoiled;
                    probe_wrap(&spoiled, &p->system);
                    spoiled.tamper = spoil_tangent;
                    spoiled.data = &which;
                    run = create(&spoiled.system, &def);
                    ga_report report;
                    ga_status status =
                        ga_integrator_start(run, p->t0, p->q0, p->v0, h, &report);
                    for (int n = 0; n < 20 && status == GA_OK; ++n)
                        status = ga_integrator_step(run, &report);
                    if (status != GA_OK) {
                        if (status != GA_ERR_NO_CONVERGE && status != GA_ERR_SINGULAR)
                            fail_msg("%s, spoil %d: %s", p->name, what, report.message);
                        ++honest;
                    } else {
                        const snapshot got = take(run, &p->system);
                        /* iterations stop within 1e3 floors of round-off per step */
                        assert_below(distance_of(got.q, good.q, MAX_NQ),
                                     1e-9 * fmax(1, largest_of(good.q, MAX_NQ)), p->name);
                        assert_below(distance_of(got.v, good.v, MAX_NV),
                                     1e-7 * fmax(1, largest_of(good.v, MAX_NV)), p->name);
                        ++right;
                    }
                    ga_integrator_destroy(run);
                }
            }
        pb_destroy(p);
    }
    assert_true(right > 200);
    assert_true(honest < 60);
}

/* --- failing callbacks
 * ------------------------------------------------------------------------ */

typedef struct fault {
    probe_kind kind;
    double after; /* fails for t > after */
    int how;      /* 0 NaN, 1 inf, 2 -inf, 3 recoverable, 4 fatal */
    int entry;
    long hits;
} fault;

static ga_eval fail_after(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    fault *f = p->data;
    if (kind != f->kind || !(at->t > f->after)) return GA_EVAL_OK;
    ++f->hits;
    if (f->how == 3) return GA_EVAL_RECOVERABLE;
    if (f->how == 4) return GA_EVAL_FATAL;
    out[f->entry] = f->how == 0 ? NAN : f->how == 1 ? INFINITY : -INFINITY;
    return GA_EVAL_OK;
}

/* The same between renewals of the tangents, in all formulations: what is not finite shows in
 * the residual, and is traced back to its callback. */
static void test_nan_between_tangents(void **state)
{
    (void)state;
    static const case_name names[3] = {CASE_RHEONOMIC_BODY, CASE_REACTIONS_IN_FORCE,
                                       CASE_CHAIN};
    int checked = 0;
    for (int c = 0; c < 3; ++c) {
        pb_problem *p = case_create(names[c]);
        const double h = case_step(names[c]);
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
            for (int kind = 0; kind < PROBE_KINDS; ++kind)
                for (int how = 0; how < 2; ++how) {
                    ga_integrator_def def = definition((ga_formulation)form);
                    def.max_halvings = 2;
                    probe faulty;
                    probe_wrap(&faulty, &p->system);
                    fault f = {(probe_kind)kind, p->t0 + 5.5 * h, how, 0, 0};
                    f.entry = faulty.size[kind] / 2;
                    faulty.data = &f;
                    ga_integrator *run = begin(&faulty.system, &def, p, h);
                    faulty.tamper = fail_after;
                    ga_report report;
                    for (int n = 0; n < 5; ++n)
                        assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    const snapshot before = take(run, &p->system);
                    ga_status status = ga_integrator_step(run, &report);
                    if (f.hits == 0) { /* absent, or not used on the way */
                        assert_int_equal(status, GA_OK);
                        ga_integrator_destroy(run);
                        continue;
                    }
                    const snapshot after = take(run, &p->system);
                    assert_int_equal(status, GA_ERR_NOT_FINITE);
                    assert_true(same_bits(&before, &after));
                    assert_message(report, probe_name((probe_kind)kind));
                    assert_int_equal(report.row, f.entry);
                    ++checked;
                    /* it is over */
                    faulty.tamper = NULL;
                    assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    ga_integrator_destroy(run);
                }
        pb_destroy(p);
    }
    assert_true(checked > 60);
}

/* NaN, inf or a refusal from each callback at a chosen time: caught, named, nothing lost; and
 * when it is over, the run goes on. */
static void test_callbacks_that_fail_on_the_way(void **state)
{
    (void)state;
    static const case_name names[4] = {CASE_RHEONOMIC_BODY, CASE_FRICTION,
                                       CASE_REACTIONS_IN_FORCE, CASE_CHAIN};
    static const ga_status expected[5] = {GA_ERR_NOT_FINITE, GA_ERR_NOT_FINITE,
                                          GA_ERR_NOT_FINITE, GA_ERR_RECOVERABLE,
                                          GA_ERR_CALLBACK};
    int checked[PROBE_KINDS] = {0};
    for (int c = 0; c < 4; ++c) {
        pb_problem *p = case_create(names[c]);
        const double h = case_step(names[c]);
        for (int form = 0; form < 2; ++form)
            for (int kind = 0; kind < PROBE_KINDS; ++kind)
                for (int how = 0; how < 5; ++how) {
                    ga_integrator_def def = definition((ga_formulation)form);
                    def.newton = GA_NEWTON_FULL; /* tangents in every iteration */
                    probe faulty;
                    probe_wrap(&faulty, &p->system);
                    fault f = {(probe_kind)kind, p->t0 + 5.5 * h, how, 0, 0};
                    f.entry = faulty.size[kind] - 1;
                    faulty.data = &f;
                    ga_integrator *run = begin(&faulty.system, &def, p, h);
                    faulty.tamper = fail_after;
                    ga_report report;
                    for (int n = 0; n < 5; ++n)
                        assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    const snapshot before = take(run, &p->system);
                    memset(&report, 0x55, sizeof report);
                    ga_status status = ga_integrator_step(run, &report);
                    if (f.hits == 0) { /* absent, or not used on the way */
                        assert_int_equal(status, GA_OK);
                        ga_integrator_destroy(run);
                        continue;
                    }
                    const snapshot after = take(run, &p->system);
                    assert_int_equal(status, expected[how]);
                    assert_int_equal(report.status, expected[how]);
                    assert_true(same_bits(&before, &after));
                    assert_message(report, probe_name((probe_kind)kind));
                    if (how < 3) {
                        char entry[32];
                        snprintf(entry, sizeof entry, "entry %d ", f.entry);
                        assert_message(report, entry);
                        assert_int_equal(report.row, f.entry);
                    }
                    /* halved towards the fault, unless fatal */
                    const ga_statistics stats = ga_integrator_statistics(run);
                    if (how == 4) {
                        assert_int_equal(stats.halvings, 0);
                        assert_int_equal(f.hits, 1);
                        assert_true(report.time == before.t);
                    } else {
                        assert_true(stats.halvings >= def.max_halvings);
                    }
                    assert_true(report.step == h);
                    assert_int_equal(ga_integrator_step(run, NULL), expected[how]);
                    faulty.tamper = NULL;
                    assert_status(ga_integrator_step(run, &report), GA_OK, report);
                    assert_true(ga_integrator_time(run) == p->t0 + 6 * h);
                    ga_integrator_destroy(run);
                    ++checked[kind];
                }
        pb_destroy(p);
    }
    for (int kind = 0; kind < PROBE_KINDS; ++kind)
        if (kind != PROBE_ACCELERATION_RHS) assert_true(checked[kind] >= 5);
}

/* Six masses that know nothing of each other. */
enum { ALONE = 6 };

typedef struct lonely {
    int entry; /* of the force that fails */
    double value, since;
} lonely;

static ga_eval unit_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    for (int i = 0; i < ALONE * ALONE; ++i) M[i] = i % (ALONE + 1) == 0;
    return GA_EVAL_OK;
}

static ga_eval lonely_force(void *user, const ga_point *at, double *f)
{
    const lonely *wrong = user;
    for (int i = 0; i < ALONE; ++i) f[i] = 1 + i - at->q[i];
    if (at->t > wrong->since) f[wrong->entry] = wrong->value;
    return GA_EVAL_OK;
}

static ga_eval no_tangent(void *user, const ga_point *at, double *A)
{
    (void)user, (void)at;
    for (int i = 0; i < ALONE * ALONE; ++i) A[i] = 0;
    return GA_EVAL_OK;
}

/* What is not finite in one number of the residual is found, wherever it stands, also if it
 * spreads to no other. */
static void test_nan_that_does_not_spread(void **state)
{
    (void)state;
    static const ga_node nodes[2] = {GA_NODE(GA_GROUP_RN, 4), GA_NODE(GA_GROUP_RN, 2)};
    static const double values[2] = {NAN, INFINITY}, q[ALONE], v[ALONE];
    for (int form = 0; form < 2; ++form)
        for (int entry = 0; entry < ALONE; ++entry)
            for (int k = 0; k < 2; ++k) {
                lonely wrong = {entry, values[k], 0.035};
                const ga_system system = {.struct_size = sizeof(ga_system),
                                          .user = &wrong,
                                          .node_count = 2,
                                          .nodes = nodes,
                                          .mass = unit_mass,
                                          .mass_is_constant = true,
                                          .force = lonely_force,
                                          .stiffness = no_tangent,
                                          .damping = no_tangent};
                const ga_integrator_def def = definition((ga_formulation)form);
                ga_integrator *run = NULL;
                ga_report report;
                assert_status(ga_integrator_create(&system, &def, &run, &report), GA_OK,
                              report);
                assert_status(ga_integrator_start(run, 0, q, v, 0.01, &report), GA_OK, report);
                for (int n = 0; n < 3; ++n)
                    assert_status(ga_integrator_step(run, &report), GA_OK, report);
                assert_int_equal(ga_integrator_step(run, &report), GA_ERR_NOT_FINITE);
                assert_message(report, "force");
                assert_int_equal(report.row, entry);
                ga_integrator_destroy(run);
            }
}

/* After a failure that passes, the rest of the run has the bits of one without it: the failure
 * left nothing behind. With full Newton, where no old tangents are kept. */
static void test_failure_leaves_nothing_behind(void **state)
{
    (void)state;
    static const case_name names[3] = {CASE_PENDULUM_SIDE, CASE_TOP_R3SO3, CASE_CHAIN};
    for (int c = 0; c < 3; ++c) {
        pb_problem *p = case_create(names[c]);
        const double h = case_step(names[c]);
        for (int form = 0; form < 2; ++form)
            for (int how = 0; how < 5; ++how) {
                ga_integrator_def def = definition((ga_formulation)form);
                def.newton = GA_NEWTON_FULL;
                def.solver = GA_SOLVER_DENSE;
                probe faulty;
                probe_wrap(&faulty, &p->system);
                fault f = {PROBE_FORCE, p->t0 + 5.5 * h, how, 0, 0};
                faulty.data = &f;
                ga_integrator *run = begin(&faulty.system, &def, p, h);
                ga_integrator *calm = begin(&p->system, &def, p, h);
                for (int n = 0; n < 12; ++n) {
                    if (n == 5) {
                        faulty.tamper = fail_after;
                        assert_int_not_equal(ga_integrator_step(run, NULL), GA_OK);
                        faulty.tamper = NULL;
                    }
                    assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
                    assert_int_equal(ga_integrator_step(calm, NULL), GA_OK);
                    const snapshot a = take(run, &p->system), b = take(calm, &p->system);
                    if (!same_bits(&a, &b))
                        fail_msg("%s, index %d, fault %d: step %d differs", p->name,
                                 form == GA_INDEX3 ? 3 : 2, how, n + 1);
                }
                /* steps that were taken back do not count */
                assert_int_equal(ga_integrator_statistics(run).steps, 12);
                ga_integrator_destroy(run);
                ga_integrator_destroy(calm);
            }
        pb_destroy(p);
    }
}

/* --- halving
 * ------------------------------------------------------------------------------------ */

/* The force refuses where v' changes too much: known from |q| off the circle, which large steps
 * reach in the first iterations. */
typedef struct picky {
    double limit; /* of | |q| - 1 | */
    long refused;
} picky;

static ga_eval refuse_far(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)out;
    picky *o = p->data;
    if (kind != PROBE_FORCE) return GA_EVAL_OK;
    const double r = sqrt(at->q[0] * at->q[0] + at->q[1] * at->q[1]);
    if (fabs(r - 1) <= o->limit) return GA_EVAL_OK;
    ++o->refused;
    return GA_EVAL_RECOVERABLE;
}

static double picky_error(ga_formulation form, double h, double limit, long *halvings)
{
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    const ga_integrator_def def = definition(form);
    picky o = {limit, 0};
    probe choosy;
    probe_wrap(&choosy, &p->system);
    choosy.data = &o;
    ga_integrator *run = begin(&choosy.system, &def, p, h);
    choosy.tamper = refuse_far;
    const long steps = lround(1 / h);
    double most = 0;
    for (long n = 1; n <= steps; ++n) {
        ga_report report;
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        assert_true(ga_integrator_time(run) ==
                    0 + (double)n * h); /* on the grid, bit for bit */
        double q[2], lambda;
        p->exact(p, ga_integrator_time(run), q, NULL, NULL, &lambda);
        most = fmax(most, distance_of(q, ga_integrator_q(run), 2));
        assert_below(fabs(lambda - ga_integrator_lambda(run)[0]), 0.1, "lambda");
    }
    const ga_statistics stats = ga_integrator_statistics(run);
    *halvings = stats.halvings;
    assert_true(stats.steps >= steps + stats.halvings / 2);
    assert_true((o.refused > 0) == (stats.halvings > 0));
    ga_integrator_destroy(run);
    pb_destroy(p);
    return most;
}

static void test_halving_keeps_grid_and_order(void **state)
{
    (void)state;
    for (int form = 0; form < 2; ++form) {
        long halvings, none;
        /* q is predicted to O(h^4) off the circle, so this limit refuses some of the steps */
        const double limit[2] = {2e-6, 2e-6 / 16};
        const double coarse = picky_error((ga_formulation)form, 0.02, limit[0], &halvings);
        assert_true(halvings > 0);
        const double fine = picky_error((ga_formulation)form, 0.01, limit[1], &halvings);
        const double free_run = picky_error((ga_formulation)form, 0.02, INFINITY, &none);
        assert_int_equal(none, 0);
        assert_below(coarse, 1.2 * free_run, "halved steps are no worse");
        assert_below(fine, coarse / 3, "second order");
    }
}

/* A force that never works: the limit, then the end; with 0, one attempt (and one more with new
 * tangents). */
static void test_halving_limit(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form)
        for (int limit = 0; limit <= 50; limit += 10) {
            ga_integrator_def def = definition((ga_formulation)form);
            def.max_halvings = limit;
            probe faulty;
            probe_wrap(&faulty, &p->system);
            fault f = {PROBE_FORCE, -1, 3, 0, 0};
            faulty.data = &f;
            ga_integrator *run = begin(&faulty.system, &def, p, 0.01);
            faulty.tamper = fail_after;
            ga_report report;
            assert_status(ga_integrator_step(run, &report), GA_ERR_RECOVERABLE, report);
            assert_message(report, "force");
            assert_int_equal(ga_integrator_statistics(run).halvings, limit);
            assert_true(f.hits >= limit + 1 && f.hits <= 3 * (limit + 1));
            assert_true(ga_integrator_time(run) == 0);
            ga_integrator_destroy(run);
        }
    pb_destroy(p);
}

/* --- running
 * ------------------------------------------------------------------------------------ */

typedef struct diary {
    int count, stop_after;
    double t[200];
} diary;

static ga_eval write_down(void *user, const ga_integrator *run)
{
    diary *d = user;
    assert_in_range(d->count, 0, 199);
    d->t[d->count++] = ga_integrator_time(run);
    return d->count == d->stop_after ? GA_EVAL_RECOVERABLE : GA_EVAL_OK;
}

static void test_run(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int form = 0; form < 2; ++form) {
        const ga_integrator_def def = definition((ga_formulation)form);
        const double h = 0.01;
        ga_report report;

        /* a multiple of h: no last short step, and t_end exactly */
        ga_integrator *run = begin(&p->system, &def, p, h);
        diary d = {0};
        assert_status(ga_integrator_run(run, 1, write_down, &d, &report), GA_OK, report);
        assert_int_equal(report.status, GA_OK);
        assert_int_equal(d.count, 101);
        for (int n = 0; n <= 100; ++n) assert_true(d.t[n] == (n == 100 ? 1 : n * h));
        assert_true(ga_integrator_time(run) == 1);
        assert_status(ga_integrator_run(run, 1, write_down, &d, &report), GA_OK, report);
        assert_int_equal(d.count, 101); /* nothing left to do */
        ga_integrator_destroy(run);

        /* no multiple: the last step is shorter; then on from there */
        run = begin(&p->system, &def, p, h);
        d.count = 0;
        assert_status(ga_integrator_run(run, 0.1234, write_down, &d, &report), GA_OK, report);
        assert_int_equal(d.count, 14);
        assert_true(d.t[12] == 12 * h && d.t[13] == 0.1234);
        double q[2], lambda;
        p->exact(p, 0.1234, q, NULL, NULL, &lambda);
        assert_below(distance_of(q, ga_integrator_q(run), 2), 1e-4, "q at t_end");
        assert_below(fabs(lambda - ga_integrator_lambda(run)[0]), 5e-3, "lambda at t_end");
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        assert_true(ga_integrator_time(run) == 0.1234 + h);
        assert_status(ga_integrator_run(run, 0.5, NULL, NULL, &report), GA_OK, report);
        p->exact(p, 0.5, q, NULL, NULL, &lambda);
        assert_true(ga_integrator_time(run) == 0.5);
        assert_below(distance_of(q, ga_integrator_q(run), 2), 3e-4, "q after going on");
        assert_below(fabs(lambda - ga_integrator_lambda(run)[0]), 5e-3, "lambda going on");
        ga_integrator_destroy(run);

        /* shorter than one step */
        run = begin(&p->system, &def, p, h);
        d.count = 0;
        assert_status(ga_integrator_run(run, 0.3 * h, write_down, &d, &report), GA_OK, report);
        assert_int_equal(d.count, 2);
        assert_true(ga_integrator_time(run) == 0.3 * h);
        ga_integrator_destroy(run);

        /* the output stops it: at once, and later; the run can go on */
        run = begin(&p->system, &def, p, h);
        d = (diary){.stop_after = 1};
        assert_status(ga_integrator_run(run, 1, write_down, &d, &report), GA_OK, report);
        assert_true(d.count == 1 && ga_integrator_time(run) == 0);
        d = (diary){.stop_after = 6};
        assert_status(ga_integrator_run(run, 1, write_down, &d, &report), GA_OK, report);
        assert_int_equal(d.count, 6);
        assert_true(ga_integrator_time(run) == 5 * h);
        d = (diary){0};
        assert_status(ga_integrator_run(run, 0.1, write_down, &d, &report), GA_OK, report);
        assert_int_equal(d.count, 5);
        assert_true(ga_integrator_time(run) == 0.1);

        /* where it cannot go */
        const double bad[] = {0.0999, -1, NAN, INFINITY, -INFINITY};
        for (int k = 0; k < 5; ++k) {
            assert_status(ga_integrator_run(run, bad[k], NULL, NULL, &report), GA_ERR_ARGUMENT,
                          report);
            assert_message(report, "t_end");
            assert_true(ga_integrator_time(run) == 0.1);
        }
        ga_integrator_destroy(run);
    }
    pb_destroy(p);
}

/* A t_end that misses the grid by little: the short last step must not spoil v' and lambda,
 * whose error in index 3 is round-off over the square of the step. */
static void test_run_with_a_sliver_at_the_end(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    const double slivers[] = {1e-3, 1e-5, 1e-7, 2e-9, 1e-11, -1e-11, -1e-7, -1e-3};
    for (int form = 0; form < 2; ++form)
        for (int k = 0; k < 8; ++k) {
            const ga_integrator_def def = definition((ga_formulation)form);
            const double h = 0.01, t_end = (50 + slivers[k]) * h;
            ga_integrator *run = begin(&p->system, &def, p, h);
            ga_report report;
            double lambda;
            assert_status(ga_integrator_run(run, t_end, NULL, NULL, &report), GA_OK, report);
            assert_true(ga_integrator_time(run) == t_end);
            p->exact(p, t_end, NULL, NULL, NULL, &lambda);
            if (!(fabs(lambda - ga_integrator_lambda(run)[0]) < 5e-3))
                fail_msg("index %d, t_end = (50 %+g) h: lambda is off by %g",
                         form == GA_INDEX3 ? 3 : 2, slivers[k],
                         fabs(lambda - ga_integrator_lambda(run)[0]));
            ga_integrator_destroy(run);
        }
    pb_destroy(p);
}

/* Steps that vanish beside t. */
static void test_step_below_round_off(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_integrator_def def = definition(GA_INDEX2);
    ga_integrator *run = create(&p->system, &def);
    ga_report report;
    assert_status(ga_integrator_start(run, 1e6, p->q0, p->v0, 1e-12, &report), GA_OK, report);
    assert_status(ga_integrator_step(run, &report), GA_ERR_ARGUMENT, report);
    assert_message(report, "round-off");
    assert_true(ga_integrator_time(run) == 1e6);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* --- small steps
 * -------------------------------------------------------------------------------- */

/* Heavy top at h = 1e-6 and 2.5e-5, 2000 steps. Phi at round-off, and lambda = exact + noise
 * below the floor eps |q| m/c_q of index 3 (eps |v| m/c_v of index 2) times a factor for the
 * start (34, [ABC14]) and the iteration (4 floors). */
static void small_steps(ga_formulation form, ga_scaling scaling, ga_start start, double h)
{
    pb_problem *p = case_create(CASE_TOP_R3SO3);
    ga_integrator_def def = definition(form);
    def.scaling = scaling;
    def.start = start;
    ga_integrator *run = begin(&p->system, &def, p, h);
    const ga_coefficients *m = &def.coefficients;
    const double c = (1 - m->alpha_f) / (1 - m->alpha_m);
    const double c_q = m->beta * h * h * c, c_v = m->gamma * h * c, mass = 15;
    const double floor =
        form == GA_INDEX3 ? DBL_EPSILON * 1 * mass / c_q : DBL_EPSILON * 150 * mass / c_v;
    /* a start that does not fit the formulation (plain, or a perturbed v_0 in index 2) makes
     * lambda oscillate with O(h), 115.2 at h = 1e-3 [ABC14]; otherwise O(h^2), 2.12 there */
    const bool fits = start == GA_START_AUTO ||
                      start == (form == GA_INDEX3 ? GA_START_PERTURBED : GA_START_SHIFTED);
    const double oscillation = fits ? 2.2e6 * h * h : 2 * 115.2 / 1e-3 * h;
    double most = 0;
    for (int n = 0; n < 2000; ++n) {
        ga_report report;
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
        /* the force of the bearing from the motion itself: M x'' = m g + lambda (B_x = -I),
         * with x'' = R (Omega' x X + Omega x (Omega x X)) and Omega' from Euler's equations */
        const double *q = ga_integrator_q(run), *v = ga_integrator_v(run);
        double vd[6], lambda[3];
        {
            /* J_p Omega' + Omega x J_p Omega = X x R^T m g, J_p about the fixed point */
            const double J[3] = {15.234375, 0.46875, 15.234375};
            const double gravity[3] = {0, 0, -9.81}, *O = v + 3;
            double G[3], X[3] = {0, 1, 0}, y[3], z[3], w[3];
            ga_quaternion_rotate_back(q + 3, gravity, G);
            const double torque[3] = {mass * (X[1] * G[2]), 0, mass * (-X[1] * G[0])};
            for (int i = 0; i < 3; ++i) {
                const int j = (i + 1) % 3, k = (i + 2) % 3;
                vd[3 + i] = (torque[i] + (J[j] - J[k]) * O[j] * O[k]) / J[i];
            }
            y[0] = -O[2], y[1] = 0, y[2] = O[0]; /* Omega x X */
            z[0] = O[1] * y[2] - O[2] * y[1] - vd[5];
            z[1] = O[2] * y[0] - O[0] * y[2];
            z[2] = O[0] * y[1] - O[1] * y[0] + vd[3];
            ga_quaternion_rotate(q + 3, z, w);
            for (int i = 0; i < 3; ++i) lambda[i] = mass * (w[i] - gravity[i]);
        }
        most = fmax(most, distance_of(lambda, ga_integrator_lambda(run), 3));
    }
    const ga_statistics stats = ga_integrator_statistics(run);
    char where[80];
    snprintf(where, sizeof where, "index %d, scaling %d, start %d, h %g",
             form == GA_INDEX3 ? 3 : 2, scaling, start, h);
    assert_int_equal(stats.halvings, 0);
    assert_below(stats.position_residual_max, 8 * DBL_EPSILON, where);
    assert_below(stats.velocity_residual_max, 8 * DBL_EPSILON * 150, where);
    assert_below(most, oscillation + 34 * 4 * floor, where);
    assert_below((double)stats.iterations, 5.0 * 2000, where); /* no struggle */
    ga_integrator_destroy(run);
    pb_destroy(p);
}

static void test_small_steps(void **state)
{
    (void)state;
    const double steps[2] = {1e-6, 2.5e-5};
    for (int k = 0; k < 2; ++k)
        for (int form = 0; form < 2; ++form)
            for (int start = GA_START_PLAIN; start <= GA_START_PERTURBED; start += 2)
                small_steps((ga_formulation)form, GA_SCALING_AUTO, (ga_start)start, steps[k]);
}

static void test_small_steps_ab07(void **state)
{
    (void)state;
    const double steps[2] = {1e-6, 2.5e-5};
    for (int k = 0; k < 2; ++k)
        for (int form = 0; form < 2; ++form)
            small_steps((ga_formulation)form, GA_SCALING_AB07, GA_START_AUTO, steps[k]);
}

static void test_small_steps_dymore(void **state)
{
    (void)state;
    const double steps[2] = {1e-6, 2.5e-5};
    for (int k = 0; k < 2; ++k)
        for (int form = 0; form < 2; ++form)
            small_steps((ga_formulation)form, GA_SCALING_DYMORE, GA_START_AUTO, steps[k]);
}

/* Without scaling the condition number grows like h^-4; the pivots alone say nothing about
 * solvability, because rows and columns are only in bad units. */
static void test_small_steps_unscaled(void **state)
{
    (void)state;
    const double steps[2] = {2.5e-5, 1e-6};
    for (int k = 0; k < 2; ++k)
        for (int form = 0; form < 2; ++form)
            small_steps((ga_formulation)form, GA_SCALING_NONE, GA_START_AUTO, steps[k]);
}

/* --- the same result by every route
 * --------------------------------------------------------------- */

/* Two runs of the same discrete equations agree to what Newton leaves undone in a step, 1e-14
 * of q and v, magnified by up to 34 in later steps ([ABC14], rho_inf 0.9); ten times that. In
 * index 3 an error of q is 1/c_q = 4/h^2 larger in v' and |M| times that in lambda, in index 2
 * an error of v is 1/c_v = 2/h larger in v'. */
static void assert_same_solution(const pb_problem *p, const char *what, ga_formulation form,
                                 double h, const snapshot *a, const snapshot *b)
{
    const double q = fmax(1, largest_of(b->q, MAX_NQ)), v = fmax(1, largest_of(b->v, MAX_NV));
    const double vd = fmax(1, largest_of(b->vd, MAX_NV));
    const double l = fmax(1, largest_of(b->lambda, MAX_NC));
    const bool index3 = form == GA_INDEX3 && p->system.constraint_count;
    static double M[MAX_NV * MAX_NV];
    const ga_point at = {.t = b->t, .q = b->q};
    memset(M, 0, sizeof M);
    assert_int_equal(p->system.mass(p->system.user, &at, M), GA_EVAL_OK);
    const double mass = fmax(1, largest_of(M, MAX_NV * MAX_NV));
    /* in Andrews' mechanism Phi is a difference of lengths of 0.07 and the crank has 0.007 */
    const double eps = 10 * 34 * 1e-14 * (strstr(p->name, "Andrews") ? 10 : 1);
    const double noise_v = index3 ? 2 * q / h : v;
    const double noise_vd = index3 ? 4 * q / (h * h) : 2 * v / h;
    char where[120];
    snprintf(where, sizeof where, "%s, index %d, %s", p->name, form == GA_INDEX3 ? 3 : 2, what);
    assert_below(distance_of(a->q, b->q, MAX_NQ), eps * q, where);
    assert_below(distance_of(a->v, b->v, MAX_NV), eps * noise_v, where);
    assert_below(distance_of(a->vd, b->vd, MAX_NV), eps * fmax(vd, noise_vd), where);
    assert_below(distance_of(a->lambda, b->lambda, MAX_NC), eps * fmax(l, mass * noise_vd),
                 where);
}

static snapshot run_forty(const pb_problem *p, const ga_integrator_def *def, double h)
{
    ga_integrator *run = begin(&p->system, def, p, h);
    for (int n = 0; n < 40; ++n) {
        ga_report report;
        assert_status(ga_integrator_step(run, &report), GA_OK, report);
    }
    const snapshot end = take(run, &p->system);
    assert_int_equal(ga_integrator_statistics(run).halvings, 0);
    ga_integrator_destroy(run);
    return end;
}

static void test_every_route_to_the_same_solution(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        const double h = case_step((case_name)k);
        for (int form = 0; form < 2; ++form) {
            const ga_formulation f = (ga_formulation)form;
            ga_integrator_def def = definition(f);
            def.solver = GA_SOLVER_DENSE;
            const snapshot usual = run_forty(p, &def, h);
            const snapshot repeated = run_forty(p, &def, h);
            assert_true(same_bits(&usual, &repeated));

            def.newton = GA_NEWTON_FULL;
            snapshot other = run_forty(p, &def, h);
            assert_same_solution(p, "full Newton", f, h, &other, &usual);
            snapshot once_more = run_forty(p, &def, h);
            assert_true(same_bits(&other, &once_more));

            def = definition(f);
            def.solver = GA_SOLVER_SPARSE;
            other = run_forty(p, &def, h);
            assert_same_solution(p, "sparse", f, h, &other, &usual);
            once_more = run_forty(p, &def, h);
            assert_true(same_bits(&other, &once_more));

            def.solver = GA_SOLVER_BLOCK;
            other = run_forty(p, &def, h);
            assert_same_solution(p, "block", f, h, &other, &usual);
            once_more = run_forty(p, &def, h);
            assert_true(same_bits(&other, &once_more));

            for (int scaling = GA_SCALING_NONE; scaling <= GA_SCALING_DYMORE; ++scaling) {
                if (scaling == GA_SCALING_NONE && h < 1e-3) continue; /* see small steps */
                def = definition(f);
                def.scaling = (ga_scaling)scaling;
                other = run_forty(p, &def, h);
                assert_same_solution(p, "scaling", f, h, &other, &usual);
            }
            if (f == GA_INDEX3 && p->system.constraint_count) {
                const double penalties[2] = {GA_PENALTY_AUTO, 100};
                for (int i = 0; i < 2; ++i) {
                    def = definition(f);
                    def.penalty = penalties[i];
                    other = run_forty(p, &def, h);
                    assert_same_solution(p, "penalty", f, h, &other, &usual);
                }
            }
        }
        pb_destroy(p);
    }
}

/* A chain of 20 rods, 60 coordinates and 40 constraints, by KLU and by blocks, which is chosen
 * for it: like the dense solver. */
static void test_chain_sparse(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(20, &p), GA_OK);
    for (int form = 0; form < 2; ++form) {
        ga_integrator_def def = definition((ga_formulation)form);
        def.solver = GA_SOLVER_SPARSE;
        ga_integrator *sparse = begin(&p->system, &def, p, 1e-3);
        def.solver = GA_SOLVER_BLOCK;
        ga_integrator *block = begin(&p->system, &def, p, 1e-3);
        def.solver = GA_SOLVER_DENSE;
        ga_integrator *dense = begin(&p->system, &def, p, 1e-3);
        def.solver = GA_SOLVER_AUTO;
        ga_integrator *automatic = begin(&p->system, &def, p, 1e-3);
        assert_int_equal(ga_integrator_matrix_size(sparse), form == GA_INDEX3 ? 100 : 140);
        ga_report report;
        assert_status(ga_integrator_run(sparse, 0.2, NULL, NULL, &report), GA_OK, report);
        assert_status(ga_integrator_run(block, 0.2, NULL, NULL, &report), GA_OK, report);
        assert_status(ga_integrator_run(dense, 0.2, NULL, NULL, &report), GA_OK, report);
        assert_status(ga_integrator_run(automatic, 0.2, NULL, NULL, &report), GA_OK, report);
        assert_below(distance_of(ga_integrator_q(sparse), ga_integrator_q(dense), 60), 1e-10,
                     "chain");
        assert_below(distance_of(ga_integrator_v(sparse), ga_integrator_v(dense), 60), 1e-9,
                     "chain");
        assert_below(distance_of(ga_integrator_q(block), ga_integrator_q(dense), 60), 1e-10,
                     "chain");
        assert_below(distance_of(ga_integrator_v(block), ga_integrator_v(dense), 60), 1e-9,
                     "chain");
        assert_memory_equal(ga_integrator_q(block), ga_integrator_q(automatic),
                            60 * sizeof(double));
        assert_below(ga_integrator_statistics(sparse).position_residual_max, 1e-13, "chain");
        assert_int_equal(ga_integrator_statistics(sparse).halvings, 0);
        ga_integrator_destroy(sparse);
        ga_integrator_destroy(block);
        ga_integrator_destroy(dense);
        ga_integrator_destroy(automatic);
    }
    pb_destroy(p);
}

/* --- constraints that lose their rank on the way
 * ---------------------------------------------------- */

/* A mass on the line y = 0 that is also pulled along x by x - r(t) = 0, r = 1 - t, in the form
 * Phi_2 = x^2 - r^2: at t = 1 the gradient (2x, 0) vanishes. */
static ga_eval identity_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}
static ga_eval no_force(void *user, const ga_point *at, double *f)
{
    (void)user, (void)at;
    f[0] = f[1] = 0;
    return GA_EVAL_OK;
}
static ga_eval squeeze(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    const double r = 1 - at->t;
    Phi[0] = at->q[1];
    Phi[1] = 0.5 * (at->q[0] * at->q[0] - r * r);
    return GA_EVAL_OK;
}
static ga_eval squeeze_gradient(void *user, const ga_point *at, double *B)
{
    (void)user;
    B[0] = 0, B[2] = 1;
    B[1] = at->q[0], B[3] = 0;
    return GA_EVAL_OK;
}

/* Large systems end iterations where their round-off begins, which adds up along a chain: 200
 * rods hang 200 m out, so x has 3e-14 m, and no step may add more than ten times that. The run
 * with new tangents in every iteration leaves nothing that counts. */
static void test_large_chain(void **state)
{
    (void)state;
    enum { RODS = 200, STEPS = 100 };
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(RODS, &p), GA_OK);
    const double h = 2e-3, bound = 10 * RODS * DBL_EPSILON * STEPS;
    const ga_formulation formulations[] = {GA_INDEX3, GA_INDEX2};
    for (int k = 0; k < 2; ++k) {
        ga_integrator_def def = definition(formulations[k]);
        ga_integrator *usual = begin(&p->system, &def, p, h);
        def.newton = GA_NEWTON_FULL;
        ga_integrator *full = begin(&p->system, &def, p, h);
        for (int i = 0; i < STEPS; ++i) {
            ga_report report;
            assert_status(ga_integrator_step(usual, &report), GA_OK, report);
            assert_status(ga_integrator_step(full, &report), GA_OK, report);
        }
        const int n = ga_system_nv(&p->system);
        assert_below(distance_of(ga_integrator_q(usual), ga_integrator_q(full), n), bound, "q");
        assert_below(distance_of(ga_integrator_v(usual), ga_integrator_v(full), n),
                     bound / (STEPS * h) * 10, "v");
        const ga_statistics work = ga_integrator_statistics(usual);
        assert_below((double)work.iterations, 3.2 * STEPS, "iterations");
        assert_below(work.position_residual_max, 10 * RODS * DBL_EPSILON, "Phi");
        ga_integrator_destroy(usual);
        ga_integrator_destroy(full);
    }
    pb_destroy(p);
}

static void test_rank_lost_on_the_way(void **state)
{
    (void)state;
    const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    const ga_system s = {.struct_size = sizeof(ga_system),
                         .node_count = 1,
                         .nodes = &node,
                         .constraint_count = 2,
                         .mass = identity_mass,
                         .force = no_force,
                         .constraint = squeeze,
                         .gradient = squeeze_gradient,
                         .constraint_uses_time = true};
    const double q0[2] = {1, 0}, v0[2] = {-1, 0};
    for (int form = 0; form < 2; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
            for (int newton = 0; newton < 2; ++newton) {
                ga_integrator_def def = definition((ga_formulation)form);
                def.solver = (ga_solver)solver;
                def.newton = (ga_newton)newton;
                ga_integrator *run = create(&s, &def);
                ga_report report;
                /* 0.0625 is a power of two: t = 1 is met exactly, with q = 0 */
                assert_status(ga_integrator_start(run, 0, q0, v0, 0.0625, &report), GA_OK,
                              report);
                ga_status status = GA_OK;
                double last = 0;
                while (status == GA_OK && ga_integrator_time(run) < 2) {
                    last = ga_integrator_time(run);
                    memset(&report, 0x55, sizeof report);
                    status = ga_integrator_step(run, &report);
                    if (status == GA_OK)
                        assert_below(fabs(fabs(ga_integrator_q(run)[0]) -
                                          fabs(1 - ga_integrator_time(run))),
                                     1e-7, "on the constraint");
                }
                /* it may jump over the place, which is a solution too; a failure says why */
                if (status != GA_OK) {
                    if (status != GA_ERR_SINGULAR && status != GA_ERR_NO_CONVERGE)
                        fail_msg("%s: %s", ga_status_name(status), report.message);
                    assert_int_equal(report.status, status);
                    assert_message(report,
                                   status == GA_ERR_SINGULAR ? "singular" : "did not converge");
                    assert_true(ga_integrator_time(run) == last);
                    assert_true(report.time >= 0.8 && report.time <= 1);
                }
                ga_integrator_destroy(run);
            }
}

/* Held there: mass on y = 0 and 0.5 x^2 = c(t), c -> 0 and staying: the gradient is gone for
 * good. The step fails, or stays where the constraint holds to what is left of it,
 * |x| < 1e-6: the pivot that decides is itself round-off. */
static ga_eval hold(void *user, const ga_point *at, double *Phi)
{
    (void)user;
    const double r = at->t < 1 ? 1 - at->t : 0;
    Phi[0] = at->q[1];
    Phi[1] = 0.5 * (at->q[0] * at->q[0] - r * r);
    return GA_EVAL_OK;
}

static void test_rank_lost_for_good(void **state)
{
    (void)state;
    const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    const ga_system s = {.struct_size = sizeof(ga_system),
                         .node_count = 1,
                         .nodes = &node,
                         .constraint_count = 2,
                         .mass = identity_mass,
                         .force = no_force,
                         .constraint = hold,
                         .gradient = squeeze_gradient,
                         .constraint_uses_time = true};
    const double q0[2] = {1, 0}, v0[2] = {-1, 0};
    for (int form = 0; form < 2; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_SPARSE; ++solver) {
            ga_integrator_def def = definition((ga_formulation)form);
            def.solver = (ga_solver)solver;
            ga_integrator *run = create(&s, &def);
            ga_report report;
            assert_status(ga_integrator_start(run, 0, q0, v0, 0.06, &report), GA_OK, report);
            ga_status status = ga_integrator_run(run, 3, NULL, NULL, &report);
            /* where Phi is 1e-10, q = sqrt(2 Phi) */
            const bool held = status == GA_OK && fabs(ga_integrator_q(run)[0]) < 1.5e-5 &&
                              ga_integrator_statistics(run).position_residual_max < 1e-10;
            if (status != GA_ERR_SINGULAR && status != GA_ERR_NO_CONVERGE && !held)
                fail_msg("index %d, solver %d: %s at t = %g, q = %g, |Phi| %g: %s",
                         form == GA_INDEX3 ? 3 : 2, solver, ga_status_name(status),
                         ga_integrator_time(run), ga_integrator_q(run)[0],
                         ga_integrator_statistics(run).position_residual_max, report.message);
            assert_int_equal(report.status, status);
            assert_true(held || strlen(report.message) > 20);
            ga_integrator_destroy(run);
        }
}

/* A mass that vanishes at t = 0.5 on a free coordinate: the matrix itself is singular then. */
static ga_eval fading_mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    M[0] = 1;
    M[1] = M[2] = 0;
    M[3] = at->t < 0.5 ? 1 : 0;
    return GA_EVAL_OK;
}

static void test_singular_matrix_on_the_way(void **state)
{
    (void)state;
    const ga_node node = GA_NODE(GA_GROUP_RN, 2);
    const ga_system s = {.struct_size = sizeof(ga_system),
                         .node_count = 1,
                         .nodes = &node,
                         .mass = fading_mass,
                         .force = no_force};
    const double q0[2] = {1, 0}, v0[2] = {-1, 0};
    for (int form = 0; form < 2; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
            ga_integrator_def def = definition((ga_formulation)form);
            def.solver = (ga_solver)solver;
            def.newton = GA_NEWTON_FULL;
            ga_integrator *run = create(&s, &def);
            ga_report report;
            assert_status(ga_integrator_start(run, 0, q0, v0, 0.0625, &report), GA_OK, report);
            assert_status(ga_integrator_run(run, 3, NULL, NULL, &report), GA_ERR_SINGULAR,
                          report);
            assert_int_equal(report.status, GA_ERR_SINGULAR);
            assert_message(report, "iteration matrix is singular");
            assert_message(report, "coordinate 1");
            assert_int_equal(report.column, 1);
            assert_true(ga_integrator_time(run) == 0.4375);
            ga_integrator_destroy(run);
        }
}

/* --- calls out of order, null arguments
 * ------------------------------------------------------------- */

static void test_out_of_order(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_integrator_def def = definition(GA_INDEX2);
    ga_integrator *run = create(&p->system, &def);
    ga_report report;
    double matrix[16];
    memset(&report, 0x55, sizeof report);
    assert_status(ga_integrator_step(run, &report), GA_ERR_STATE, report);
    assert_int_equal(report.status, GA_ERR_STATE);
    assert_message(report, "start");
    assert_status(ga_integrator_run(run, 1, NULL, NULL, &report), GA_ERR_STATE, report);
    assert_status(ga_integrator_matrix(run, 1, GA_SCALING_AUTO, matrix, &report), GA_ERR_STATE,
                  report);
    assert_int_equal(ga_integrator_step(run, NULL), GA_ERR_STATE);

    /* a start that failed is no start */
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, &report), GA_OK, report);
    assert_status(ga_integrator_step(run, &report), GA_OK, report);
    assert_status(ga_integrator_start(run, 0, p->q0, p->v0, -1, &report), GA_ERR_ARGUMENT,
                  report);
    assert_status(ga_integrator_step(run, &report), GA_ERR_STATE, report);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

static void test_null(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_integrator_def def = definition(GA_INDEX2);
    ga_report report;
    ga_integrator *run = NULL;
    double matrix[16];
    assert_status(ga_integrator_create(NULL, &def, &run, &report), GA_ERR_ARGUMENT, report);
    assert_null(run);
    assert_status(ga_integrator_create(&p->system, NULL, &run, &report), GA_ERR_ARGUMENT,
                  report);
    assert_message(report, "def");
    assert_null(run);
    assert_status(ga_integrator_create(&p->system, &def, NULL, &report), GA_ERR_ARGUMENT,
                  report);
    assert_int_equal(ga_integrator_create(NULL, NULL, NULL, NULL), GA_ERR_ARGUMENT);
    assert_status(ga_integrator_step(NULL, &report), GA_ERR_ARGUMENT, report);
    assert_status(ga_integrator_run(NULL, 1, NULL, NULL, &report), GA_ERR_ARGUMENT, report);
    assert_status(ga_integrator_matrix(NULL, 1, GA_SCALING_AUTO, matrix, &report),
                  GA_ERR_ARGUMENT, report);
    ga_integrator_destroy(NULL);

    assert_int_equal(ga_integrator_create(&p->system, &def, &run, NULL), GA_OK);
    assert_int_equal(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, NULL), GA_OK);
    assert_int_equal(ga_integrator_step(run, NULL), GA_OK);
    assert_int_equal(ga_integrator_run(run, 0.1, NULL, NULL, NULL), GA_OK);
    assert_int_equal(ga_integrator_matrix(run, 0.01, GA_SCALING_AUTO, matrix, NULL), GA_OK);
    assert_status(ga_integrator_matrix(run, 0.01, GA_SCALING_AUTO, NULL, &report),
                  GA_ERR_ARGUMENT, report);
    const double steps[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; ++k)
        assert_status(ga_integrator_matrix(run, steps[k], GA_SCALING_AUTO, matrix, &report),
                      GA_ERR_ARGUMENT, report);
    assert_status(ga_integrator_matrix(run, 0.01, (ga_scaling)17, matrix, &report),
                  GA_ERR_ARGUMENT, report);
    ga_integrator_destroy(run);
    pb_destroy(p);
}

/* A report is filled by every call, also where all went well. */
static void test_reports_of_success(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_integrator_def def = definition(GA_INDEX2);
    ga_report report;
    ga_integrator *run = NULL;
    double matrix[16];
#define FILLED(call)                                                                           \
    memset(&report, 0x55, sizeof report);                                                      \
    assert_int_equal(call, GA_OK);                                                             \
    assert_int_equal(report.status, GA_OK);                                                    \
    assert_string_equal(report.message, "");
    FILLED(ga_integrator_create(&p->system, &def, &run, &report))
    FILLED(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, &report))
    FILLED(ga_integrator_run(run, 0.1, NULL, NULL, &report))
    FILLED(ga_integrator_matrix(run, 0.01, GA_SCALING_AUTO, matrix, &report))
    FILLED(ga_integrator_step(run, &report))
    diary d = {.stop_after = 1};
    FILLED(ga_integrator_start(run, 0, p->q0, p->v0, 0.01, &report))
    FILLED(ga_integrator_run(run, 0.1, write_down, &d, &report))
    ga_integrator_destroy(run);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted_steps_solve_the_equations),
        cmocka_unit_test(test_exactly_enough_iterations),
        cmocka_unit_test(test_too_few_iterations_with_halving),
        cmocka_unit_test(test_wrong_tangents),
        cmocka_unit_test(test_callbacks_that_fail_on_the_way),
        cmocka_unit_test(test_nan_that_does_not_spread),
        cmocka_unit_test(test_nan_between_tangents),
        cmocka_unit_test(test_failure_leaves_nothing_behind),
        cmocka_unit_test(test_halving_keeps_grid_and_order),
        cmocka_unit_test(test_halving_limit),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_run_with_a_sliver_at_the_end),
        cmocka_unit_test(test_step_below_round_off),
        cmocka_unit_test(test_small_steps),
        cmocka_unit_test(test_small_steps_ab07),
        cmocka_unit_test(test_small_steps_dymore),
        cmocka_unit_test(test_small_steps_unscaled),
        cmocka_unit_test(test_every_route_to_the_same_solution),
        cmocka_unit_test(test_chain_sparse),
        cmocka_unit_test(test_large_chain),
        cmocka_unit_test(test_rank_lost_on_the_way),
        cmocka_unit_test(test_rank_lost_for_good),
        cmocka_unit_test(test_singular_matrix_on_the_way),
        cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_reports_of_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
