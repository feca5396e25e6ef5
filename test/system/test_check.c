/* ga_system_check: right derivatives pass, on every problem and at every kind of state; wrong
 * ones are found with block, row and column. */
#include "test/support/cases.h"
#include "test/support/probe.h"

/* --- states ------------------------------------------------------------------------------ */

static ga_status check_at(const ga_system *system, const ga_point *at, double tolerance,
                          ga_derivative_check *result, ga_report *report)
{
    const ga_derivative_check_def def = {sizeof def, tolerance, *at};
    return ga_system_check(system, &def, result, report);
}

typedef struct sample {
    ga_point at;
    double q[MAX_NQ], v[MAX_NV], vd[MAX_NV], lambda[MAX_NC];
} sample;

static double magnitude(const double *x, int n) { return fmax(2, x ? largest_of(x, n) : 0); }

/* round 0: the start; later ones: off the constraints, at another time, everything of the size
 * it has in the problem. */
static void take_sample(const pb_problem *p, int round, sample *s)
{
    const ga_system *sys = &p->system;
    const int nq = ga_system_nq(sys), nv = ga_system_nv(sys), m = sys->constraint_count;
    pb_reference end = {0};
    if (p->reference_count > 0) end = p->references[p->reference_count - 1];
    double x[MAX_NV];
    uint64_t seed = 11 + (uint64_t)round;
    for (int i = 0; i < nv; ++i) s->vd[i] = magnitude(end.vd, nv) * uniform(&seed);
    for (int i = 0; i < m; ++i) s->lambda[i] = magnitude(end.lambda, m) * uniform(&seed);
    memcpy(s->q, p->q0, (size_t)nq * sizeof *s->q);
    memcpy(s->v, p->v0, (size_t)nv * sizeof *s->v);
    if (round > 0) {
        /* less than the shortest length, or Andrews' spring shrinks to nothing */
        for (int i = 0; i < nv; ++i) x[i] = 0.02 * uniform(&seed);
        for (int i = 0; i < nv; ++i) s->v[i] = magnitude(end.v, nv) * uniform(&seed);
        ga_nodes_update(sys->node_count, sys->nodes, GA_MAP_EXP, p->q0, x, s->q);
    }
    s->at = (ga_point){p->t0 + 0.37 * round, s->q, s->v, s->vd, s->lambda, NULL};
}

static bool is_given(const ga_system *s, ga_derivative which)
{
    /* constraints said not to depend on time have the derivative 0 in it */
    const bool rate =
        s->constraint_rate || (s->constraint_count > 0 && !s->constraint_uses_time);
    const bool given[GA_DERIVATIVE_COUNT] = {s->gradient,         rate,
                                             s->acceleration_rhs, s->stiffness,
                                             s->damping,          s->velocity_stiffness,
                                             s->force_multipliers};
    return given[which];
}

static void test_right_derivatives_pass(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        for (int round = 0; round < 5; ++round) {
            sample s;
            ga_derivative_check check;
            ga_report report;
            take_sample(p, round, &s);
            memset(&report, 0x55, sizeof report);
            assert_status(check_at(&p->system, &s.at, 0, &check, &report), GA_OK, report);
            assert_int_equal(report.status, GA_OK);
            assert_string_equal(report.message, "");
            for (int d = 0; d < GA_DERIVATIVE_COUNT; ++d) {
                assert_int_equal(check.block[d].checked,
                                 is_given(&p->system, (ga_derivative)d));
                if (!check.block[d].checked) continue;
                assert_below(check.block[d].error, 1e-5, p->name);
                assert_true(check.block[check.worst].error >= check.block[d].error);
            }
            assert_int_equal(check_at(&p->system, &s.at, 0, &check, NULL), GA_OK);
        }
        pb_destroy(p);
    }
}

/* vd and lambda may be null; what is left out is not checked. */
static void test_null_parts(void **state)
{
    (void)state;
    ga_derivative_check check;
    ga_report report;
    pb_problem *p = case_create(CASE_RHEONOMIC_BODY);
    ga_point at = {p->t0, p->q0, p->v0, NULL, NULL, NULL};
    assert_status(check_at(&p->system, &at, 0, &check, &report), GA_OK, report);
    ga_system s = p->system;
    s.gradient = s.acceleration_rhs = s.stiffness = s.damping = s.velocity_stiffness = NULL;
    s.constraint_rate = NULL;
    assert_status(check_at(&s, &at, 0, &check, &report), GA_OK, report);
    for (int d = 0; d < GA_DERIVATIVE_COUNT; ++d) assert_false(check.block[d].checked);
    pb_destroy(p);
}

/* Constraints that depend on time, but are not said to. */
static void test_forgotten_time(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_rheonomic_create(&p), GA_OK);
    ga_system sys = p->system;
    sys.constraint_rate = NULL;
    sys.constraint_uses_time = false;
    ga_derivative_check check;
    ga_report report;
    ga_point at = {.t = p->t0 + 0.3, .q = p->q0, .v = p->v0};
    assert_int_equal(check_at(&sys, &at, 0, &check, &report), GA_ERR_DERIVATIVE);
    assert_int_equal(check.worst, GA_DERIVATIVE_CONSTRAINT_RATE);
    pb_destroy(p);
}

/* Derivatives removed one by one: those that stay still pass. */
static void test_passes_beside_what_is_left_out(void **state)
{
    (void)state;
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        sample s;
        take_sample(p, 1, &s);
        for (int left_out = 0; left_out < GA_DERIVATIVE_COUNT; ++left_out) {
            ga_derivative_check check;
            ga_report report;
            ga_system sys = p->system;
            if (!is_given(&sys, (ga_derivative)left_out)) continue;
            if (left_out == GA_DERIVATIVE_GRADIENT) sys.gradient = NULL;
            if (left_out == GA_DERIVATIVE_CONSTRAINT_RATE) sys.constraint_rate = NULL;
            if (left_out == GA_DERIVATIVE_ACCELERATION_RHS) sys.acceleration_rhs = NULL;
            if (left_out == GA_DERIVATIVE_STIFFNESS) sys.stiffness = NULL;
            if (left_out == GA_DERIVATIVE_DAMPING) sys.damping = NULL;
            if (left_out == GA_DERIVATIVE_VELOCITY_STIFFNESS) sys.velocity_stiffness = NULL;
            if (left_out == GA_DERIVATIVE_FORCE_MULTIPLIERS) sys.force_multipliers = NULL;
            ga_status status = check_at(&sys, &s.at, 1e-4, &check, &report);
            if (status != GA_OK)
                fail_msg("%s without %s: %s", p->name,
                         ga_derivative_name((ga_derivative)left_out), report.message);
            assert_int_equal(check.block[left_out].checked,
                             is_given(&sys, (ga_derivative)left_out));
        }
        pb_destroy(p);
    }
}

/* --- wrong derivatives ------------------------------------------------------------------- */

typedef enum mistake {
    ONE_PERCENT, /* the largest entry off by 1 % */
    WRONG_SIGN,  /* the largest entry */
    ALL_SIGNS,   /* the whole block */
    TRANSPOSED,  /* written by rows where columns are asked for */
    NOT_IN_PATTERN /* the largest entry does not stand in the declared pattern */,
    NOT_A_NUMBER,
    MISTAKES
} mistake;

typedef struct block_kind {
    ga_derivative which;
    probe_kind kind;
    bool matrix;
} block_kind;

static const block_kind kinds[GA_DERIVATIVE_COUNT] = {
    {GA_DERIVATIVE_GRADIENT, PROBE_GRADIENT, true},
    {GA_DERIVATIVE_CONSTRAINT_RATE, PROBE_CONSTRAINT_RATE, false},
    {GA_DERIVATIVE_ACCELERATION_RHS, PROBE_ACCELERATION_RHS, false},
    {GA_DERIVATIVE_STIFFNESS, PROBE_STIFFNESS, true},
    {GA_DERIVATIVE_DAMPING, PROBE_DAMPING, true},
    {GA_DERIVATIVE_VELOCITY_STIFFNESS, PROBE_VELOCITY_STIFFNESS, true},
    {GA_DERIVATIVE_FORCE_MULTIPLIERS, PROBE_FORCE_LAMBDA, true},
};

/* The mistake in one block, as entries of its pattern. */
enum { MAX_COUNT = 40 * 40 };
typedef struct wrong {
    probe_kind kind;
    mistake what;
    int entry, count, rows, cols; /* entry: where the largest stands */
    bool full;
} wrong;

static ga_eval make_mistake(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)at;
    const wrong *w = p->data;
    if (kind != w->kind) return GA_EVAL_OK;
    double copy[MAX_COUNT];
    switch (w->what) {
    case ONE_PERCENT:
        out[w->entry] *= 1.01;
        break;
    case WRONG_SIGN:
        out[w->entry] *= -1;
        break;
    case ALL_SIGNS:
        for (int k = 0; k < w->count; ++k) out[k] *= -1;
        break;
    case TRANSPOSED:
        memcpy(copy, out, (size_t)w->count * sizeof *copy);
        for (int k = 0; k < w->count; ++k)
            out[k] = copy[k / w->rows + w->cols * (k % w->rows)]; /* by rows */
        break;
    case NOT_IN_PATTERN:
        for (int k = 0; k + 1 < w->count; ++k) out[k] = p->detour[k < w->entry ? k : k + 1];
        break;
    case NOT_A_NUMBER:
        out[w->entry] = NAN;
        break;
    case MISTAKES:
        break;
    }
    return GA_EVAL_OK;
}

static ga_pattern *pattern_of(ga_system *s, probe_kind kind)
{
    switch (kind) {
    case PROBE_GRADIENT:
        return &s->gradient_pattern;
    case PROBE_STIFFNESS:
        return &s->stiffness_pattern;
    case PROBE_DAMPING:
        return &s->damping_pattern;
    case PROBE_VELOCITY_STIFFNESS:
        return &s->velocity_stiffness_pattern;
    case PROBE_FORCE_LAMBDA:
        return &s->force_multipliers_pattern;
    default:
        return NULL;
    }
}

static ga_callback *callback_of(const ga_system *s, probe_kind kind)
{
    switch (kind) {
    case PROBE_GRADIENT:
        return s->gradient;
    case PROBE_CONSTRAINT_RATE:
        return s->constraint_rate;
    case PROBE_ACCELERATION_RHS:
        return s->acceleration_rhs;
    case PROBE_STIFFNESS:
        return s->stiffness;
    case PROBE_DAMPING:
        return s->damping;
    case PROBE_VELOCITY_STIFFNESS:
        return s->velocity_stiffness;
    case PROBE_FORCE_LAMBDA:
        return s->force_multipliers;
    default:
        return NULL;
    }
}

/* Column-major matrix of what a callback answers. */
static void to_full(const ga_system *s, ga_callback *callback, const ga_pattern *pattern,
                    const ga_point *at, int rows, int cols, double *full)
{
    double values[MAX_COUNT];
    assert_int_equal(callback(s->user, at, values), GA_EVAL_OK);
    memset(full, 0, (size_t)(rows * cols) * sizeof *full);
    if (!pattern || !pattern->row) {
        memcpy(full, values, (size_t)(rows * cols) * sizeof *full);
        return;
    }
    for (int k = 0; k < pattern->count; ++k)
        full[pattern->row[k] + rows * pattern->col[k]] += values[k];
}

static int entry_with_largest(int count, const double *x)
{
    int best = 0;
    for (int k = 1; k < count; ++k)
        if (fabs(x[k]) > fabs(x[best])) best = k;
    return best;
}

/* One mistake in one block of one problem. Returns false where it makes no difference (a
 * symmetric matrix transposed, a block of zeros). */
static bool try_mistake(const pb_problem *p, int round, const block_kind *b, mistake what)
{
    static int row[MAX_COUNT], col[MAX_COUNT];
    static double right[MAX_COUNT], given[MAX_COUNT], values[MAX_COUNT], aside[MAX_COUNT];
    ga_callback *callback = callback_of(&p->system, b->kind);
    if (!callback) return false;
    if (!b->matrix && (what == TRANSPOSED || what == NOT_IN_PATTERN)) return false;

    ga_system inner = p->system;
    const int n = ga_system_nv(&inner), m = inner.constraint_count;
    const bool top =
        b->kind == PROBE_STIFFNESS || b->kind == PROBE_DAMPING || b->kind == PROBE_FORCE_LAMBDA;
    const int rows = top ? n : m;
    const int cols = !b->matrix ? 1 : b->kind == PROBE_FORCE_LAMBDA ? m : n;
    ga_pattern *pattern = pattern_of(&inner, b->kind);
    const bool full = !pattern || !pattern->row;
    const int count = full ? rows * cols : pattern->count;
    if (what == TRANSPOSED && (!full || rows == 1 || cols == 1)) return false;
    assert_true(count <= MAX_COUNT);

    sample s;
    take_sample(p, round, &s);
    assert_int_equal(callback(inner.user, &s.at, values), GA_EVAL_OK);
    to_full(&inner, callback, pattern, &s.at, rows, cols, right);
    wrong w = {b->kind, what, entry_with_largest(count, values), count, rows, cols, full};

    probe tampered;
    probe_wrap(&tampered, &inner);
    tampered.tamper = make_mistake;
    tampered.data = &w;
    if (what == NOT_IN_PATTERN) {
        for (int k = 0, kept = 0; k < count; ++k) {
            if (k == w.entry) continue;
            row[kept] = full ? k % rows : pattern->row[k];
            col[kept++] = full ? k / rows : pattern->col[k];
        }
        if (count == 1) return false;
        tampered.detour = aside;
        tampered.detour_kind = b->kind;
        *pattern_of(&tampered.system, b->kind) =
            (ga_pattern){.count = count - 1, .row = row, .col = col};
    }
    if (what == NOT_A_NUMBER) {
        ga_derivative_check check;
        ga_report report;
        assert_status(check_at(&tampered.system, &s.at, 0, &check, &report), GA_ERR_NOT_FINITE,
                      report);
        assert_message(report, probe_name(b->kind));
        assert_int_equal(report.row, w.entry);
        return true;
    }
    to_full(&tampered.system, callback_of(&tampered.system, b->kind),
            b->matrix ? pattern_of(&tampered.system, b->kind) : NULL, &s.at, rows, cols, given);
    const double scale = fmax(1, largest_of(right, rows * cols));
    const double off = distance_of(given, right, rows * cols);
    if (off / scale < 1e-4) return false; /* below what differences resolve with margin */

    ga_derivative_check check;
    ga_report report;
    ga_status status = check_at(&tampered.system, &s.at, 0, &check, &report);
    if (status != GA_ERR_DERIVATIVE)
        fail_msg("%s, %s, mistake %d was not found", p->name, ga_derivative_name(b->which),
                 what);
    const int i = check.block[b->which].row, j = check.block[b->which].column;
    assert_in_range(i, 0, rows - 1);
    assert_in_range(j, 0, cols - 1);
    /* at the place with the largest deviation, or one of them */
    const double here = fabs(given[i + rows * j] - right[i + rows * j]);
    if (!(here >= off * (1 - 1e-2)))
        fail_msg("%s, %s, mistake %d: found (%d, %d), which is off by %g of %g", p->name,
                 ga_derivative_name(b->which), what, i, j, here, off);
    assert_true(check.block[b->which].given == given[i + rows * j]);
    assert_below(fabs(check.block[b->which].expected - right[i + rows * j]), 2e-5 * scale,
                 p->name);
    assert_below(fabs(check.block[b->which].error - off / scale), 2e-5, p->name);

    /* and the report speaks of this block, not of one that suffers from it */
    if (check.worst != b->which)
        fail_msg("%s, mistake %d in %s is blamed on: %s", p->name, what,
                 ga_derivative_name(b->which), report.message);
    assert_int_equal(report.row, i);
    assert_int_equal(report.column, j);
    assert_int_equal(report.status, GA_ERR_DERIVATIVE);
    assert_message(report, ga_derivative_name(b->which));
    char place[48];
    snprintf(place, sizeof place, "row %d, column %d:", i, j);
    assert_message(report, place);
    return true;
}

static void find_mistakes(const block_kind *b)
{
    int found[MISTAKES] = {0};
    for (int k = 0; k < CASES; ++k) {
        pb_problem *p = case_create((case_name)k);
        for (int round = 0; round < 3; ++round)
            for (int what = 0; what < MISTAKES; ++what)
                found[what] += try_mistake(p, round, b, (mistake)what);
        pb_destroy(p);
    }
    for (int what = 0; what < MISTAKES; ++what) {
        const bool none = (!b->matrix && (what == TRANSPOSED || what == NOT_IN_PATTERN)) ||
                          (b->which == GA_DERIVATIVE_FORCE_MULTIPLIERS && what == TRANSPOSED);
        if (none) continue;
        if (found[what] < 2)
            fail_msg("%s: only %d cases of mistake %d", ga_derivative_name(b->which),
                     found[what], what);
    }
}

static void test_wrong_gradient(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_GRADIENT]);
}
static void test_wrong_constraint_rate(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_CONSTRAINT_RATE]);
}
static void test_wrong_acceleration_rhs(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_ACCELERATION_RHS]);
}
static void test_wrong_stiffness(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_STIFFNESS]);
}
static void test_wrong_damping(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_DAMPING]);
}
static void test_wrong_velocity_stiffness(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_VELOCITY_STIFFNESS]);
}
static void test_wrong_force_multipliers(void **state)
{
    (void)state;
    find_mistakes(&kinds[GA_DERIVATIVE_FORCE_MULTIPLIERS]);
}

/* A mass matrix called constant that is not: K given right stays right. */
static void test_mass_called_constant(void **state)
{
    (void)state;
    sample s;
    ga_derivative_check check;
    ga_report report;
    pb_problem *p = case_create(CASE_RHEONOMIC);
    ga_system sys = p->system;
    sys.mass_is_constant = true;
    take_sample(p, 1, &s);
    assert_status(check_at(&sys, &s.at, 0, &check, &report), GA_OK, report);
    pb_destroy(p);
}

/* --- arguments --------------------------------------------------------------------------- */

static void test_arguments(void **state)
{
    (void)state;
    ga_derivative_check check;
    ga_report report;
    pb_problem *p = case_create(CASE_PENDULUM);
    const ga_point good = {0, p->q0, p->v0, NULL, NULL, NULL};
    ga_point at = good;
    assert_status(ga_system_check(&p->system, NULL, &check, &report), GA_ERR_ARGUMENT, report);
    at.q = NULL;
    assert_status(check_at(&p->system, &at, 0, &check, &report), GA_ERR_ARGUMENT, report);
    at = good;
    at.v = NULL;
    assert_status(check_at(&p->system, &at, 0, &check, &report), GA_ERR_ARGUMENT, report);
    assert_message(report, "q and v");
    assert_status(check_at(&p->system, &good, 0, NULL, &report), GA_ERR_ARGUMENT, report);
    assert_status(check_at(NULL, &good, 0, &check, &report), GA_ERR_ARGUMENT, report);
    assert_status(check_at(&p->system, &good, -1, &check, &report), GA_ERR_ARGUMENT, report);
    assert_message(report, "tolerance");
    assert_status(check_at(&p->system, &good, NAN, &check, &report), GA_ERR_ARGUMENT, report);
    assert_int_equal(check_at(&p->system, &good, -1, &check, NULL), GA_ERR_ARGUMENT);
    pb_destroy(p);
}

/* The tolerance decides: an error of 1e-4 passes at 1e-3 and is found at 1e-5. */
static ga_eval slightly_off(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)p, (void)at;
    if (kind == PROBE_STIFFNESS) out[3] *= 1 + 1e-4;
    return GA_EVAL_OK;
}

static void test_tolerance(void **state)
{
    (void)state;
    ga_derivative_check check;
    ga_report report;
    pb_problem *p = case_create(CASE_PENDULUM);
    const double lambda = 10;
    const ga_point at = {0, p->q0, p->v0, NULL, &lambda, NULL};
    probe off;
    probe_wrap(&off, &p->system);
    off.tamper = slightly_off;
    assert_status(check_at(&off.system, &at, 0, &check, &report), GA_ERR_DERIVATIVE, report);
    assert_status(check_at(&off.system, &at, 1e-3, &check, &report), GA_OK, report);
    assert_below(fabs(check.block[GA_DERIVATIVE_STIFFNESS].error - 1e-4), 1e-7, "pendulum");
    pb_destroy(p);
}

/* Failing callbacks are named, whether asked for themselves or for a difference quotient. */
static probe_kind fails;
static ga_eval answer;
static ga_eval fail_one(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)p, (void)at;
    if (kind != fails) return GA_EVAL_OK;
    if (answer == GA_EVAL_OK) out[p->size[kind] - 1] = INFINITY;
    return answer;
}

static void test_failing_callbacks(void **state)
{
    (void)state;
    static const ga_eval answers[3] = {GA_EVAL_RECOVERABLE, GA_EVAL_FATAL, GA_EVAL_OK};
    static const ga_status statuses[3] = {GA_ERR_RECOVERABLE, GA_ERR_CALLBACK,
                                          GA_ERR_NOT_FINITE};
    static const case_name names[3] = {CASE_RHEONOMIC_BODY, CASE_FRICTION, CASE_CHAIN};
    for (int c = 0; c < 3; ++c) {
        pb_problem *p = case_create(names[c]);
        sample s;
        take_sample(p, 1, &s);
        for (int kind = 0; kind < PROBE_KINDS; ++kind)
            for (int k = 0; k < 3; ++k) {
                ga_derivative_check check;
                ga_report report;
                probe broken;
                probe_wrap(&broken, &p->system);
                broken.tamper = fail_one;
                fails = (probe_kind)kind;
                answer = answers[k];
                ga_status status = check_at(&broken.system, &s.at, 0, &check, &report);
                if (broken.calls[kind] == 0) continue; /* not part of this problem */
                assert_int_equal(status, statuses[k]);
                assert_int_equal(report.status, statuses[k]);
                assert_message(report, probe_name((probe_kind)kind));
                if (k == 2) assert_int_equal(report.row, broken.size[kind] - 1);
            }
        pb_destroy(p);
    }
}

static void test_names(void **state)
{
    (void)state;
    for (int d = 0; d < GA_DERIVATIVE_COUNT; ++d)
        for (int e = 0; e < d; ++e)
            assert_string_not_equal(ga_derivative_name((ga_derivative)d),
                                    ga_derivative_name((ga_derivative)e));
    assert_string_equal(ga_derivative_name(GA_DERIVATIVE_GRADIENT), "gradient B");
    assert_string_equal(ga_derivative_name(GA_DERIVATIVE_COUNT), "unknown");
    assert_string_equal(ga_derivative_name((ga_derivative)-1), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right_derivatives_pass),
        cmocka_unit_test(test_null_parts),
        cmocka_unit_test(test_passes_beside_what_is_left_out),
        cmocka_unit_test(test_forgotten_time),
        cmocka_unit_test(test_wrong_gradient),
        cmocka_unit_test(test_wrong_constraint_rate),
        cmocka_unit_test(test_wrong_acceleration_rhs),
        cmocka_unit_test(test_wrong_stiffness),
        cmocka_unit_test(test_wrong_damping),
        cmocka_unit_test(test_wrong_velocity_stiffness),
        cmocka_unit_test(test_wrong_force_multipliers),
        cmocka_unit_test(test_mass_called_constant),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test(test_failing_callbacks),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
