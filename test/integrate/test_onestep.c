/* The interface of one-step methods: a second method, the explicit midpoint rule with Euler's
 * method for the estimate, is handed to runs by pointer. Fixed steps, error control, events and
 * dense output know nothing of it but the table of its functions. */
#include "base/report.h"
#include "integrate/run.h"
#include "test/support/cases.h"

#include <math.h>
#include <string.h>

/* --- the explicit midpoint rule ----------------------------------------------------------- */

enum { N = 1 }; /* coordinates */

typedef struct point {
    double t, q[N], v[N], vd[N];
} point;

typedef struct midpoint {
    ga_onestep base;
    ga_dae dae;
    ga_consistent consistent;
    point now, old, trial;
    point kept_now, kept_old;
    ga_solution kept_view;
    double error_q[N], error_v[N];
    double no_multipliers[1];
    ga_statistics stats;
} midpoint;

static midpoint *of(ga_onestep *m) { return (midpoint *)m; }

static void show(midpoint *p)
{
    ga_solution *view = &p->base.now;
    view->t = p->now.t;
    view->t_old = p->old.t;
}

static ga_status restart(ga_onestep *m, double t, const double *q, const double *v,
                         double t_begin, ga_report *report)
{
    (void)t_begin;
    (void)report;
    midpoint *p = of(m);
    point new = {.t = t};
    memcpy(new.q, q, sizeof new.q);
    memcpy(new.v, v, sizeof new.v);
    p->now = p->old = new;
    m->now.steps = 0;
    m->now.h = 0;
    m->cubic.steps = -1;
    show(p);
    return ga_onestep_accelerate(m, t, p->now.q, p->now.v, p->now.vd, of(m)->no_multipliers);
}

static ga_status begin(ga_onestep *m, double t0, const double *q0, const double *v0,
                       const double *guess, ga_report *report)
{
    (void)guess;
    of(m)->stats = (ga_statistics){0};
    return restart(m, t0, q0, v0, -INFINITY, report);
}

static ga_status start(ga_onestep *m, double h, bool forward)
{
    (void)forward;
    m->now.h = h;
    return GA_OK;
}

/* q_1 = q_0 + h v_m, v_1 = v_0 + h v'_m with the middle m by a step of h/2 of Euler's method;
 * Euler's method itself has v_0 and v'_0 in their place. */
static ga_status attempt(ga_onestep *m, double h, double t1)
{
    midpoint *p = of(m);
    double q[N], v[N], vd[N];
    for (int i = 0; i < N; ++i) {
        q[i] = p->now.q[i] + 0.5 * h * p->now.v[i];
        v[i] = p->now.v[i] + 0.5 * h * p->now.vd[i];
    }
    GA_TRY(ga_onestep_accelerate(m, p->now.t + 0.5 * h, q, v, vd, of(m)->no_multipliers));
    p->trial.t = t1;
    for (int i = 0; i < N; ++i) {
        p->trial.q[i] = p->now.q[i] + h * v[i];
        p->trial.v[i] = p->now.v[i] + h * vd[i];
        p->error_q[i] = h * (v[i] - p->now.v[i]);
        p->error_v[i] = h * (vd[i] - p->now.vd[i]);
    }
    return ga_onestep_accelerate(m, t1, p->trial.q, p->trial.v, p->trial.vd,
                                 of(m)->no_multipliers);
}

static void error(ga_onestep *m, ga_error *e)
{
    midpoint *p = of(m);
    memcpy(e->q, p->error_q, sizeof p->error_q);
    memcpy(e->v, p->error_v, sizeof p->error_v);
    e->local = e->contribution = ga_tolerance_weigh(m, e->q, e->v);
    e->excess = e->local / ((p->trial.t - p->now.t) / m->tolerance->duration);
    e->power = 1; /* the error of Euler's method is O(h^2), per unit of time O(h) */
    e->change = ga_tolerance_change(m, p->now.vd, p->trial.vd);
    e->amplification = 0;
}

static ga_status accept(ga_onestep *m, ga_error *e, double *shorter)
{
    (void)e;
    (void)shorter;
    midpoint *p = of(m);
    p->old = p->now;
    p->now = p->trial;
    m->now.h = p->now.t - p->old.t;
    ++m->now.steps;
    ++m->stats->steps;
    show(p);
    return GA_OK;
}

static void keep(ga_onestep *m)
{
    of(m)->kept_now = of(m)->now;
    of(m)->kept_old = of(m)->old;
    of(m)->kept_view = m->now;
}

static void go_back(ga_onestep *m)
{
    of(m)->now = of(m)->kept_now;
    of(m)->old = of(m)->kept_old;
    m->now = of(m)->kept_view;
    m->cubic.steps = -1;
}

static const ga_onestep_type type = {
    .name = "midpoint",
    .begin = begin,
    .restart = restart,
    .start = start,
    .attempt = attempt,
    .error = error,
    .accept = accept,
    .keep = keep,
    .go_back = go_back,
    .interpolate = ga_cubic_interpolate,
};

static void create(midpoint *p, const ga_system *system)
{
    ga_report report;
    memset(p, 0, sizeof *p);
    assert_status(ga_system_validate(system, &report), GA_OK, report);
    assert_int_equal(ga_dae_create(system, &p->dae), GA_OK);
    assert_int_equal(p->dae.nv, N);
    assert_int_equal(ga_consistent_create(&p->dae, GA_SOLVER_AUTO, &p->consistent), GA_OK);
    const ga_solution view = {.q = p->now.q,
                              .v = p->now.v,
                              .vd = p->now.vd,
                              .multipliers = p->no_multipliers,
                              .multipliers_old = p->no_multipliers,
                              .q_old = p->old.q,
                              .v_old = p->old.v,
                              .vd_old = p->old.vd,
                              .v_start = p->now.v};
    ga_onestep_connect(&p->base, &type, &p->consistent, &p->stats, 4, view);
    assert_int_equal(ga_cubic_create(&p->base), GA_OK);
}

static void destroy(midpoint *p)
{
    ga_cubic_destroy(&p->base);
    ga_consistent_destroy(&p->consistent);
    ga_dae_destroy(&p->dae);
}

/* --- problems ----------------------------------------------------------------------------- */

static ga_eval unit_mass(void *user, const ga_point *at, double *M)
{
    (void)user;
    (void)at;
    M[0] = 1;
    return GA_EVAL_OK;
}

/* q = cos t from q = 1, v = 0. */
static ga_eval spring(void *user, const ga_point *at, double *f)
{
    (void)user;
    f[0] = -at->q[0];
    return GA_EVAL_OK;
}

static const double g = 9.81;

static ga_eval weight(void *user, const ga_point *at, double *f)
{
    (void)user;
    (void)at;
    f[0] = -g;
    return GA_EVAL_OK;
}

static ga_eval pulse(void *user, const ga_point *at, double *f)
{
    (void)user;
    f[0] = at->t > 0.3 && at->t < 0.7 ? 1 : 0;
    return GA_EVAL_OK;
}

static const ga_node node = GA_NODE(GA_GROUP_RN, N);

static ga_system system_with(ga_callback *force)
{
    return (ga_system){.struct_size = sizeof(ga_system),
                       .node_count = 1,
                       .nodes = &node,
                       .mass = unit_mass,
                       .mass_is_constant = true,
                       .force = force};
}

/* What a run has told. */
typedef struct book {
    int outputs, events, restarts;
    double worst;          /* error of q or v against the spring's */
    double worst_at_steps; /* the same where steps end */
    double t, q, v;        /* last output */
    double event[8];
    double bounce;   /* restitution; 0: no floor */
    double at, q_at; /* the output at this time */
} book;

static ga_eval take_output(void *user, const ga_sample *at)
{
    book *b = user;
    ++b->outputs;
    b->t = at->t;
    b->q = at->q[0];
    b->v = at->v[0];
    if (b->t == b->at) b->q_at = b->q;
    b->worst = fmax(b->worst, fmax(fabs(b->q - cos(b->t)), fabs(b->v + sin(b->t))));
    return GA_EVAL_OK;
}

static ga_eval take_step(void *user, const ga_sample *at)
{
    book *b = user;
    const double q = fabs(at->q[0] - cos(at->t)), v = fabs(at->v[0] + sin(at->t));
    b->worst_at_steps = fmax(b->worst_at_steps, fmax(q, v));
    return GA_EVAL_OK;
}

static ga_eval take_fall(void *user, const ga_sample *at)
{
    book *b = user;
    ++b->outputs;
    const double q = 1 - 0.5 * g * at->t * at->t, v = -g * at->t;
    b->worst = fmax(b->worst, fmax(fabs(at->q[0] - q) / 5, fabs(at->v[0] - v) / 10));
    return at->vd[0] == -g ? GA_EVAL_OK : GA_EVAL_FATAL;
}

static ga_eval height(void *user, const ga_sample *at, double *value)
{
    (void)user;
    value[0] = at->q[0];
    return GA_EVAL_OK;
}

static ga_action hit(void *user, int count, const int *which, const ga_sample *at, double *q,
                     double *v)
{
    book *b = user;
    assert_int_equal(count, 1);
    assert_int_equal(which[0], 0);
    assert_true(fabs(at->q[0]) < 1e-11);
    assert_true(b->events < 8);
    b->event[b->events++] = at->t;
    if (b->bounce == 0) return GA_ACTION_CONTINUE;
    q[0] = 0;
    v[0] *= -b->bounce;
    return GA_ACTION_RESTART;
}

static ga_simulation simulation(book *b, double t_end)
{
    ga_simulation s = ga_simulation_default();
    s.t_end = t_end;
    s.output = take_output;
    s.accepted = take_step;
    s.user = b;
    return s;
}

/* Runs from (q0, v0) at t = 0; the statistics of the run. */
static ga_control_statistics run(const ga_system *system, const ga_simulation *def, double q0,
                                 double v0)
{
    midpoint p;
    ga_run r;
    ga_report report;
    create(&p, system);
    assert_int_equal(ga_run_create(&p.base, def, &r), GA_OK);
    assert_int_equal(type.begin(&p.base, 0, &q0, &v0, NULL, &report), GA_OK);
    assert_status(ga_run_simulate(&r, &report), GA_OK, report);
    assert_true(p.base.now.t == def->t_end);
    assert_null(p.base.tolerance);
    const ga_control_statistics stats = r.control.stats;
    ga_run_destroy(&r);
    destroy(&p);
    return stats;
}

/* --- tests -------------------------------------------------------------------------------- */

static double error_with_step(double h, double output_every)
{
    const ga_system system = system_with(spring);
    book b = {0};
    ga_simulation s = simulation(&b, 5);
    s.control.relative = 0;
    s.step = h;
    s.output_every = output_every;
    run(&system, &s, 1, 0);
    return output_every > 0 ? b.worst : fmax(fabs(b.q - cos(5)), fabs(b.v + sin(5)));
}

static void fixed_steps_have_order_two(void **state)
{
    (void)state;
    const double coarse = error_with_step(0.02, 0), fine = error_with_step(0.01, 0);
    const double order = log2(coarse / fine);
    if (!(order > 1.95 && order < 2.05)) fail_msg("order %g", order);
}

/* Output at times that are no steps is as accurate as the steps. */
static void dense_output_is_accurate(void **state)
{
    (void)state;
    const double coarse = error_with_step(0.02, 0.0137), fine = error_with_step(0.01, 0.0137);
    const double order = log2(coarse / fine);
    if (!(order > 1.9 && order < 2.1)) fail_msg("order %g", order);
    const ga_system system = system_with(spring);
    book b = {0};
    ga_simulation s = simulation(&b, 5);
    s.control.relative = 0;
    s.step = 0.02;
    s.output_every = 0.0137;
    run(&system, &s, 1, 0);
    assert_true(b.outputs > 300);
    assert_true(b.worst <= 1.02 * b.worst_at_steps);
}

/* A parabola is interpolated exactly. */
static void dense_output_adds_nothing(void **state)
{
    (void)state;
    const ga_system system = system_with(weight);
    book b = {0};
    ga_simulation s = simulation(&b, 1);
    s.control.relative = 0;
    s.step = 0.1;
    s.output_every = 0.0137;
    s.output = take_fall;
    run(&system, &s, 1, 0);
    assert_true(b.outputs > 70);
    assert_true(b.worst < 1e-14);
}

static void tolerance_is_met(void **state)
{
    (void)state;
    const ga_system system = system_with(spring);
    long before = 0;
    for (double tolerance = 1e-2; tolerance > 2e-5; tolerance /= 10) {
        book b = {0};
        ga_simulation s = simulation(&b, 5);
        s.control.relative = tolerance;
        s.control.absolute_translation = s.control.absolute_velocity = 0;
        const ga_control_statistics stats = run(&system, &s, 1, 0);
        if (!(b.worst <= tolerance)) fail_msg("error %g of %g", b.worst, tolerance);
        assert_true(stats.error_sum <= 1);
        assert_true((double)stats.rejected <= 0.1 * (double)stats.accepted + 5);
        /* steps in proportion to the tolerance: the estimate per unit of time is O(h) */
        if (before) {
            const double more = (double)stats.accepted / (double)before;
            if (!(more > 7 && more < 13))
                fail_msg("%ld steps after %ld", stats.accepted, before);
        }
        before = stats.accepted;
    }
}

/* The first half of a run has the bits of the whole, if it is told how long that is. */
static void duration_gives_the_tolerance_its_meaning(void **state)
{
    (void)state;
    const ga_system system = system_with(spring);
    static const double middle = 2;
    book whole = {.at = middle}, half = {0}, alone = {0};
    ga_simulation s = simulation(&whole, 4);
    s.control.relative = 1e-3;
    s.stop_count = 1;
    s.stops = &middle;
    run(&system, &s, 1, 0);
    s.t_end = middle;
    s.user = &half;
    s.duration = 4;
    const long steps = run(&system, &s, 1, 0).accepted;
    assert_true(half.q == whole.q_at && half.q != 0);
    s.user = &alone;
    s.duration = 0;
    const double ratio = (double)steps / (double)run(&system, &s, 1, 0).accepted;
    if (!(ratio > 1.9 && ratio < 2.1)) fail_msg("%g times as many steps", ratio);
}

/* The motion between bounces is a parabola, which the method integrates exactly. */
static void events_are_located(void **state)
{
    (void)state;
    const ga_system system = system_with(weight);
    for (int adaptive = 0; adaptive < 2; ++adaptive) {
        book b = {.bounce = 0.5};
        ga_simulation s = simulation(&b, 1);
        s.control.relative = adaptive ? 1e-2 : 0;
        s.step = 0.03;
        s.events = (ga_events){
            .count = 1, .function = height, .happen = hit, .user = &b, .max_count = 100};
        const ga_control_statistics stats = run(&system, &s, 1, 0);
        const double fall = sqrt(2 / g);
        assert_int_equal(b.events, 2);
        assert_true(fabs(b.event[0] - fall) < 1e-11);
        assert_true(fabs(b.event[1] - 2 * fall) < 1e-11);
        assert_int_equal(stats.events, 2);
        assert_int_equal(stats.restarts, 2);
        const double left = 1 - 2 * fall, speed = 0.25 * g * fall;
        assert_true(fabs(b.q - left * (speed - 0.5 * g * left)) < 1e-11);
    }
}

/* Without a restart the integration goes on undisturbed. */
static void events_do_not_disturb(void **state)
{
    (void)state;
    const ga_system system = system_with(spring);
    book plain = {0}, b = {0};
    ga_simulation s = simulation(&plain, 5);
    s.control.relative = 1e-3;
    run(&system, &s, 1, 0);
    s.user = &b;
    s.events = (ga_events){
        .count = 1, .function = height, .happen = hit, .user = &b, .max_count = 100};
    run(&system, &s, 1, 0);
    assert_int_equal(b.events, 2);
    assert_true(fabs(b.event[0] - 1.5707963267948966) < 1e-3);
    assert_true(fabs(b.event[1] - 4.7123889803846899) < 1e-3);
    assert_true(b.q == plain.q && b.v == plain.v);
}

/* Where a force is known to jump steps end, and the integration starts anew. */
static void breakpoints_are_met(void **state)
{
    (void)state;
    const ga_system system = system_with(pulse);
    static const double breaks[] = {0.3, 0.7};
    for (int adaptive = 0; adaptive < 2; ++adaptive) {
        book b = {0};
        ga_simulation s = simulation(&b, 1);
        s.control.relative = adaptive ? 1e-2 : 0;
        s.step = 0.07;
        s.breakpoint_count = 2;
        s.breakpoints = breaks;
        assert_int_equal(run(&system, &s, 0, 1).restarts, 2);
        assert_true(fabs(b.v - 1.4) <= 1e-13);
        assert_true(fabs(b.q - 1.2) <= 1e-13); /* 1 + 0.4^2/2 + 0.4 * 0.3 */
    }
}

/* The registry has the methods that are shipped. */
static void methods_have_names(void **state)
{
    (void)state;
    const ga_onestep_type *alpha = ga_onestep_find("generalized-alpha");
    assert_non_null(alpha);
    assert_string_equal(alpha->name, "generalized-alpha");
    assert_null(ga_onestep_find("midpoint"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_steps_have_order_two),
        cmocka_unit_test(dense_output_is_accurate),
        cmocka_unit_test(dense_output_adds_nothing),
        cmocka_unit_test(tolerance_is_met),
        cmocka_unit_test(duration_gives_the_tolerance_its_meaning),
        cmocka_unit_test(events_are_located),
        cmocka_unit_test(events_do_not_disturb),
        cmocka_unit_test(breakpoints_are_met),
        cmocka_unit_test(methods_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
