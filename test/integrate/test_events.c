/* Events: where they are found, together with what, how often, and what happens afterwards.
 *
 * Most of the tests watch a body in free fall, for which every method and the dense output are
 * exact to round-off, or functions of time alone: then the times of the events are known. The
 * pendulum that bounces off a wall has a closed form, too. */
#include "test/support/cases.h"
#include "test/support/probe.h"

#include <float.h>

enum { MOST = 1000, AT_ONCE = 8 };

/* --- a body in free fall, and a diary of what the simulation said ------------------------- */

typedef struct diary diary;

typedef struct entry {
    double t, q[2], v[2], vd[2], lambda;
} entry;

typedef struct happening {
    double t;
    int count, which[AT_ONCE];
    double q[2], v[2]; /* as they were given */
} happening;

struct diary {
    double gravity; /* along -q, for the body */
    double bounce;  /* for those that use it */
    const pb_problem *problem;
    int nq, nv;
    ga_eval (*function)(void *user, const ga_sample *at, double *g);
    ga_action (*happen)(diary *d, const happening *h, double *q, double *v);
    double nan_after; /* the functions fail behind this time, if not zero ... */
    ga_eval failure;  /* like this; GA_EVAL_OK: function 1 is NaN */
    int stop_output;  /* at this output, if not zero */
    int outputs, events, room;
    entry *output;
    happening event[MOST];
    ga_status status;
    ga_report report;
    ga_control_statistics stats;
    ga_statistics steps;
    double t, q[2], v[2]; /* at the end */
};

static ga_eval body_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = 1;
    return GA_EVAL_OK;
}

static ga_eval body_force(void *user, const ga_point *at, double *f)
{
    (void)at;
    const diary *d = user;
    f[0] = -d->gravity;
    return GA_EVAL_OK;
}

static ga_eval zero_matrix(void *user, const ga_point *at, double *K)
{
    (void)user, (void)at;
    K[0] = 0;
    return GA_EVAL_OK;
}

static ga_system body(diary *d)
{
    static const ga_node line = GA_NODE(GA_GROUP_RN, 1);
    return (ga_system){.struct_size = sizeof(ga_system),
                       .user = d,
                       .node_count = 1,
                       .nodes = &line,
                       .mass = body_mass,
                       .mass_is_constant = true,
                       .force = body_force,
                       .stiffness = zero_matrix,
                       .damping = zero_matrix};
}

static ga_eval write_output(void *user, const ga_sample *at)
{
    diary *d = user;
    if (d->outputs == d->room) {
        d->room = d->room ? 2 * d->room : 64;
        d->output = realloc(d->output, (size_t)d->room * sizeof *d->output);
        assert_non_null(d->output);
    }
    if (d->outputs) assert_true(at->t >= d->output[d->outputs - 1].t); /* in order */
    entry *e = &d->output[d->outputs++];
    memset(e, 0, sizeof *e);
    e->t = at->t;
    for (int i = 0; i < 2 && i < d->nq; ++i) e->q[i] = at->q[i];
    for (int i = 0; i < 2 && i < d->nv; ++i) {
        e->v[i] = at->v[i];
        e->vd[i] = at->vd[i];
    }
    e->lambda = d->problem && d->problem->system.constraint_count ? at->lambda[0] : 0;
    return d->outputs == d->stop_output ? GA_EVAL_RECOVERABLE : GA_EVAL_OK;
}

static ga_action write_event(void *user, int count, const int *which, const ga_sample *at,
                             double *q, double *v)
{
    diary *d = user;
    assert_true(d->events < MOST && count >= 1 && count <= AT_ONCE);
    happening *h = &d->event[d->events++];
    h->t = at->t;
    h->count = count;
    for (int k = 0; k < count; ++k) h->which[k] = which[k];
    for (int i = 0; i < 2 && i < d->nv; ++i) {
        h->q[i] = q[i];
        h->v[i] = v[i];
    }
    return d->happen ? d->happen(d, h, q, v) : GA_ACTION_CONTINUE;
}

static ga_eval ask(void *user, const ga_sample *at, double *g)
{
    diary *d = user;
    const ga_eval answer = d->function(user, at, g);
    if (d->nan_after == 0 || at->t <= d->nan_after) return answer;
    g[1] = NAN;
    return d->failure;
}

static void simulate(diary *d, const ga_system *system, const ga_integrator_def *def, double t0,
                     const double *q0, const double *v0, ga_simulation run)
{
    ga_integrator *g = NULL;
    d->nq = ga_system_nq(system);
    d->nv = ga_system_nv(system);
    run.output = write_output;
    run.user = d;
    if (run.events.count) {
        run.events.function = ask;
        run.events.happen = write_event;
        run.events.user = d;
    }
    assert_status(ga_integrator_create(system, def, &g, &d->report), GA_OK, d->report);
    d->status = ga_integrator_simulate(g, t0, q0, v0, &run, &d->report);
    d->stats = ga_integrator_control_statistics(g);
    d->steps = ga_integrator_statistics(g);
    d->t = ga_integrator_time(g);
    for (int i = 0; i < 2 && i < d->nv; ++i) {
        d->q[i] = ga_integrator_q(g)[i];
        d->v[i] = ga_integrator_v(g)[i];
    }
    ga_integrator_destroy(g);
}

static ga_simulation fixed(double t_end, double h, int events)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = t_end;
    run.control.relative = 0;
    run.step = h;
    run.events.count = events;
    return run;
}

static ga_simulation adaptive(double t_end, double tolerance, int events)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = t_end;
    run.control.relative = tolerance;
    run.control.absolute_translation = run.control.absolute_rotation = tolerance;
    run.control.absolute_velocity = run.control.absolute_angular_velocity = tolerance;
    run.events.count = events;
    return run;
}

/* The body from q0, v0 at t0. */
static void fall(diary *d, double t0, double q0, double v0, ga_simulation run)
{
    const ga_integrator_def def = ga_integrator_def_default();
    const ga_system system = body(d);
    simulate(d, &system, &def, t0, &q0, &v0, run);
}

#define assert_time(found, expected)                                                           \
    assert_below(fabs((found) - (expected)), 1e-12 * fabs(expected), "time of an event")

static diary *new_diary(void)
{
    diary *d = calloc(1, sizeof *d);
    assert_non_null(d);
    return d;
}

static void close_diary(diary *d)
{
    free(d->output);
    free(d);
}

/* --- where ---------------------------------------------------------------------------------*/

static ga_eval curves(void *user, const ga_sample *at, double *g)
{
    (void)user;
    const double t = at->t;
    g[0] = sin(7 * t) - 0.4;        /* many */
    g[1] = exp(20 * (t - 0.7)) - 1; /* 0.7, very curved */
    g[2] = (t - 0.3) * (t - 0.3) * (t - 0.3);
    g[3] = at->q[0] - 1; /* 2 + 3 t - 5 t^2 = 1 */
    g[4] = at->v[0];     /* 0.3 */
    g[5] = 1e-200 * (t - 0.6);
    g[6] = 1e200 * (t - 0.6);
    g[7] = t < 0.456 ? -INFINITY : 3;
    return GA_EVAL_OK;
}

static void test_location(void **state)
{
    (void)state;
    const double pi = acos(-1), first = asin(0.4);
    const double expected[][2] = {{first / 7, 0},
                                  {0.3, 2},
                                  {0.3, 4},
                                  {(pi - first) / 7, 0},
                                  {0.456, 7},
                                  {0.6, 5},
                                  {0.6, 6},
                                  {0.7, 1},
                                  {(3 + sqrt(29)) / 10, 3},
                                  {(2 * pi + first) / 7, 0},
                                  {(3 * pi - first) / 7, 0}};
    for (int mode = 0; mode < 3; ++mode) {
        diary *d = new_diary();
        d->gravity = 10;
        d->function = curves;
        ga_simulation run = fixed(1.3, mode ? 0.1 : 0.013, 8);
        if (mode == 2) run = adaptive(1.3, 1e-6, 8);
        fall(d, 0, 2, 3, run);
        assert_status(d->status, GA_OK, d->report);
        int k = 0;
        for (int e = 0; e < d->events; ++e)
            for (int i = 0; i < d->event[e].count; ++i, ++k) {
                assert_true(k < 11);
                /* the cube is flat: 1e-5 of it is 1e-15 */
                if (d->event[e].which[i] == 2)
                    assert_below(fabs(d->event[e].t - 0.3), 1e-4, "cube");
                else
                    assert_time(d->event[e].t, expected[k][0]);
            }
        assert_int_equal(k, 11);
        assert_int_equal(d->stats.events, d->events);
        close_diary(d);
    }
}

static ga_eval wave(void *user, const ga_sample *at, double *g)
{
    (void)user;
    const double pi = acos(-1);
    for (int i = 0; i < 3; ++i) g[i] = sin(2 * pi * (at->t - 0.1));
    return GA_EVAL_OK;
}

static void test_direction(void **state)
{
    (void)state;
    static const int directions[3] = {1, -1, 0};
    diary *d = new_diary();
    d->function = wave;
    ga_simulation run = fixed(2.05, 0.03, 3);
    run.events.direction = directions;
    fall(d, 0, 0, 0, run);
    assert_status(d->status, GA_OK, d->report);
    assert_int_equal(d->events, 4); /* 0.1 0.6 1.1 1.6 */
    for (int k = 0; k < 4; ++k) {
        assert_time(d->event[k].t, 0.1 + 0.5 * k);
        assert_int_equal(d->event[k].count, 2);
        assert_int_equal(d->event[k].which[0], k % 2); /* rising, falling, ... */
        assert_int_equal(d->event[k].which[1], 2);
    }
    close_diary(d);
}

/* --- together ----------------------------------------------------------------------------- */

static ga_eval together(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->t - 0.5;
    g[1] = 0.5 - at->t;
    g[2] = at->t - 0.5;
    g[3] = at->t - 0.5 * (1 + 1e-13);
    g[4] = sin(at->t - 0.5 * (1 - 1e-13));
    g[5] = at->t - 0.5 * (1 + 1e-9); /* not the same */
    return GA_EVAL_OK;
}

static ga_action start_anew(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)q, (void)v;
    return GA_ACTION_RESTART;
}

static void test_simultaneous(void **state)
{
    (void)state;
    for (int action = 0; action < 2; ++action)
        for (int mode = 0; mode < 3; ++mode) {
            diary *d = new_diary();
            d->function = together;
            d->happen = action ? start_anew : NULL;
            ga_simulation run = fixed(1, mode ? 0.3 : 0.07, 6);
            if (mode == 2) run = adaptive(1, 1e-6, 6);
            fall(d, 0, 0, 1, run);
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->events, 2);
            assert_time(d->event[0].t, 0.5);
            assert_int_equal(d->event[0].count, 5);
            for (int k = 0; k < 5; ++k) assert_int_equal(d->event[0].which[k], k);
            assert_time(d->event[1].t, 0.5 * (1 + 1e-9));
            assert_int_equal(d->event[1].count, 1);
            assert_int_equal(d->event[1].which[0], 5);
            close_diary(d);
        }
}

static ga_eval several(void *user, const ga_sample *at, double *g)
{
    (void)user;
    static const double times[] = {0.9, 0.1, 0.52, 0.3, 0.7, 0.51};
    for (int i = 0; i < 6; ++i) g[i] = (i % 2 ? 1 : -1) * (at->t - times[i]);
    return GA_EVAL_OK;
}

/* In the order of time within one step. */
static void test_order(void **state)
{
    (void)state;
    static const double times[] = {0.1, 0.3, 0.51, 0.52, 0.7, 0.9};
    static const int which[] = {1, 3, 5, 2, 4, 0};
    for (int action = 0; action < 2; ++action) {
        diary *d = new_diary();
        d->function = several;
        d->happen = action ? start_anew : NULL;
        fall(d, 0, 0, 1, fixed(1, 1, 6));
        assert_status(d->status, GA_OK, d->report);
        assert_int_equal(d->events, 6);
        assert_int_equal(d->stats.restarts, action ? 6 : 0);
        for (int k = 0; k < 6; ++k) {
            assert_time(d->event[k].t, times[k]);
            assert_int_equal(d->event[k].count, 1);
            assert_int_equal(d->event[k].which[0], which[k]);
            assert_below(fabs(d->event[k].q[0] - times[k]), 1e-14, "q at the event");
        }
        assert_true(d->t == 1);
        assert_below(fabs(d->q[0] - 1), 1e-14, "q at the end");
        close_diary(d);
    }
}

/* --- at the ends, on the grid, and touching ----------------------------------------------- */

typedef struct polynomial {
    double zero[2];
    int degree;
} polynomial;

static polynomial shape; /* of the next function */

static ga_eval product(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = 1;
    for (int k = 0; k < shape.degree; ++k) g[0] *= at->t - shape.zero[k];
    return GA_EVAL_OK;
}

static int count_events(polynomial p, double t0, ga_simulation run, ga_action action,
                        double *when)
{
    diary *d = new_diary();
    shape = p;
    d->function = product;
    if (action == GA_ACTION_RESTART) d->happen = start_anew;
    fall(d, t0, 0, 1, run);
    assert_status(d->status, GA_OK, d->report);
    assert_true(d->t == run.t_end);
    const int count = d->events;
    for (int k = 0; k < count; ++k) when[k] = d->event[k].t;
    close_diary(d);
    return count;
}

static void test_ends_and_grid(void **state)
{
    (void)state;
    double when[MOST];
    for (int action = 0; action < 2; ++action) {
        const ga_action a = action ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
        for (int mode = 0; mode < 3; ++mode) {
            const double h = mode ? 0.1 : 0.125;
            ga_simulation run = fixed(1, h, 1);
            if (mode == 2) run = adaptive(1, 1e-6, 1);
            /* at the start: not; nor when it comes again, unless it does */
            assert_int_equal(count_events((polynomial){{0}, 1}, 0, run, a, when), 0);
            assert_int_equal(count_events((polynomial){{1e-17}, 1}, 0, run, a, when), 0);
            assert_int_equal(count_events((polynomial){{0, 0.4}, 2}, 0, run, a, when), 1);
            assert_time(when[0], 0.4);
            /* at the end: once */
            assert_int_equal(count_events((polynomial){{1}, 1}, 0, run, a, when), 1);
            assert_time(when[0], 1.0);
            assert_int_equal(count_events((polynomial){{1 + 1e-15}, 1}, 0, run, a, when), 1);
            assert_int_equal(count_events((polynomial){{1 - 1e-15}, 1}, 0, run, a, when), 1);
            assert_int_equal(count_events((polynomial){{1 - 1e-13}, 1}, 0, run, a, when), 1);
            assert_int_equal(count_events((polynomial){{1 + 1e-9}, 1}, 0, run, a, when), 0);
            /* where a step ends, and where the search has its quarters: once */
            for (int k = 1; k < 32; ++k) {
                const double t = k * h / 4;
                if (t > 0.999) continue;
                assert_int_equal(count_events((polynomial){{t}, 1}, 0, run, a, when), 1);
                assert_time(when[0], t);
                double next = nextafter(t, 2);
                assert_int_equal(count_events((polynomial){{next}, 1}, 0, run, a, when), 1);
                next = nextafter(t, 0);
                assert_int_equal(count_events((polynomial){{next}, 1}, 0, run, a, when), 1);
            }
            /* touching: none, on the grid or beside it */
            assert_int_equal(count_events((polynomial){{0.5, 0.5}, 2}, 0, run, a, when), 0);
            assert_int_equal(count_events((polynomial){{0.53, 0.53}, 2}, 0, run, a, when), 0);
            assert_int_equal(count_events((polynomial){{1, 1}, 2}, 0, fixed(2, h, 1), a, when),
                             0);
        }
        /* through and back within one step */
        assert_int_equal(count_events((polynomial){{0.3, 0.6}, 2}, 0, fixed(2, 1, 1), a, when),
                         2);
        assert_time(when[0], 0.3);
        assert_time(when[1], 0.6);
        /* far from zero, and through zero */
        assert_int_equal(
            count_events((polynomial){{1000.2, 1000.7}, 2}, 1000, fixed(1001, 0.1, 1), a, when),
            2);
        assert_time(when[0], 1000.2);
        assert_time(when[1], 1000.7);
        assert_int_equal(
            count_events((polynomial){{1000}, 1}, 1000, fixed(1001, 0.1, 1), a, when), 0);
        assert_int_equal(count_events((polynomial){{0}, 1}, -1, fixed(1, 0.3, 1), a, when), 1);
        assert_below(fabs(when[0]), 1e-12, "time near zero");
        assert_int_equal(count_events((polynomial){{0}, 1}, -1, fixed(1, 0.25, 1), a, when), 1);
        assert_below(fabs(when[0]), 1e-12, "time near zero");
    }
}

/* Two simulations in a row see an event where they meet exactly once between them. */
static void test_event_at_a_seam(void **state)
{
    (void)state;
    double when[MOST];
    for (int k = -3; k <= 3; ++k) {
        const double zero = 1 + k * DBL_EPSILON;
        const polynomial p = {{zero}, 1};
        int first = count_events(p, 0, fixed(1, 0.1, 1), GA_ACTION_CONTINUE, when);
        int second = count_events(p, 1, fixed(2, 0.1, 1), GA_ACTION_CONTINUE, when);
        assert_int_equal(first, 1);
        assert_int_equal(second, 0);
    }
}

/* --- stopping ----------------------------------------------------------------------------- */

static ga_eval floor_below(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->q[0];
    g[1] = at->t + 1;
    return GA_EVAL_OK;
}

static ga_action stop(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)q, (void)v;
    return GA_ACTION_STOP;
}

static void test_stop(void **state)
{
    (void)state;
    const double expected = sqrt(2 / 9.81);
    for (int mode = 0; mode < 2; ++mode) {
        diary *d = new_diary();
        d->gravity = 9.81;
        d->function = floor_below;
        d->happen = stop;
        ga_simulation run = mode ? fixed(2, 0.07, 2) : adaptive(2, 1e-6, 2);
        run.output_every = 0.01;
        fall(d, 0, 1, 0, run);
        assert_status(d->status, GA_OK, d->report);
        assert_int_equal(d->events, 1);
        assert_time(d->t, expected);
        assert_true(d->t == d->event[0].t);
        assert_below(fabs(d->q[0]), 1e-14, "q");
        assert_below(fabs(d->v[0] + 9.81 * expected), 1e-13, "v");
        assert_true(d->output[d->outputs - 1].t == d->t);
        assert_int_equal(d->outputs, 1 + 45 + 1); /* start, 0.01 ... 0.45, event */
        assert_int_equal(d->stats.restarts, 0);
        close_diary(d);
    }
}

/* --- bouncing ----------------------------------------------------------------------------- */

static ga_action bounce(diary *d, const happening *h, double *q, double *v)
{
    (void)q;
    if (h->which[0] == 0 && v[0] < 0) v[0] *= -d->bounce;
    return GA_ACTION_RESTART;
}

/* The body bounces for ever; without a direction, too. */
static void test_bouncing_body(void **state)
{
    (void)state;
    static const int down[2] = {-1, -1};
    for (int mode = 0; mode < 4; ++mode)
        for (int late = 0; late < 2; ++late) {
            diary *d = new_diary();
            const double t0 = late ? 1000 : 0;
            d->gravity = 9.81;
            d->function = floor_below;
            d->happen = bounce;
            d->bounce = 1;
            ga_simulation run = mode % 2 ? fixed(t0 + 10, 0.01, 2) : adaptive(t0 + 10, 1e-6, 2);
            if (mode / 2) run.events.direction = down;
            fall(d, t0, 1, 0, run);
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->events, 11);
            for (int k = 0; k < 11; ++k)
                assert_below(fabs(d->event[k].t - t0 - (2 * k + 1) * sqrt(2 / 9.81)),
                             late ? 1e-9 : 1e-11, "bounce");
            for (int k = 0; k < d->outputs; ++k)
                assert_below(-d->output[k].q[0], late ? 1e-10 : 1e-12, "penetration");
            close_diary(d);
        }
}

/* --- resting ------------------------------------------------------------------------------ */

static ga_action come_to_rest(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)q;
    v[0] = 0;
    return GA_ACTION_RESTART;
}

static ga_action put_on_floor(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h;
    q[0] = v[0] = 0;
    return GA_ACTION_RESTART;
}

/* A body that comes to rest, at once or after ever smaller bounces, does not fall through: the
 * storm of events is an error, and the state is the last good one. */
static void test_rest_is_a_storm(void **state)
{
    (void)state;
    static const int down[2] = {-1, -1};
    for (int how = 0; how < 5; ++how)
        for (int mode = 0; mode < 4; ++mode)
            for (int late = 0; late < 2; ++late) {
                diary *d = new_diary();
                const double t0 = late ? 1000 : 0;
                d->gravity = 9.81;
                d->function = floor_below;
                d->happen = how == 0 ? come_to_rest : how == 1 ? put_on_floor : bounce;
                d->bounce = how == 2 ? 0.5 : how == 3 ? 0.1 : 1e-9;
                ga_simulation run =
                    mode % 2 ? fixed(t0 + 10, 0.01, 2) : adaptive(t0 + 10, 1e-6, 2);
                if (mode / 2) run.events.direction = down;
                run.events.max_count = 20;
                fall(d, t0, 1, 0, run);
                assert_status(d->status, GA_ERR_EVENTS, d->report);
                assert_message(d->report, "event 0 at t = ");
                assert_message(d->report, "more than 20");
                assert_int_equal(d->report.row, 0);
                assert_below(fabs(d->report.time - d->t), 1e-2, "time");
                for (int k = 0; k < d->outputs; ++k)
                    assert_below(-d->output[k].q[0], late ? 1e-11 : 1e-13, "penetration");
                assert_below(fabs(d->q[0]), 1e-3, "state");
                assert_below(fabs(d->t - d->output[d->outputs - 1].t), 0, "state");
                close_diary(d);
            }
}

static ga_action again_and_again(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)v;
    q[0] = 1e-9; /* to be passed again at once */
    return GA_ACTION_RESTART;
}

static void test_retriggering_is_a_storm(void **state)
{
    (void)state;
    diary *d = new_diary();
    d->gravity = 9.81;
    d->function = floor_below;
    d->happen = again_and_again;
    fall(d, 0, 1, 0, adaptive(2, 1e-6, 2));
    assert_status(d->status, GA_ERR_EVENTS, d->report);
    assert_message(d->report, "more than 100");
    assert_int_equal(d->events, 100);
    close_diary(d);
    d = new_diary(); /* a limit of one: two events in a millionth are too many */
    d->gravity = 9.81;
    d->function = floor_below;
    d->happen = again_and_again;
    ga_simulation run = adaptive(2, 1e-6, 2);
    run.events.max_count = 1;
    fall(d, 0, 1, 0, run);
    assert_status(d->status, GA_ERR_EVENTS, d->report);
    assert_int_equal(d->events, 1);
    close_diary(d);
}

/* --- going on after a change -------------------------------------------------------------- */

static ga_action turn_gravity(diary *d, const happening *h, double *q, double *v)
{
    (void)h, (void)q, (void)v;
    d->gravity = -d->gravity;
    return GA_ACTION_RESTART;
}

/* Gravity always points to q = 0: it is turned at each passage, which happens once each. */
static void test_parameter_change(void **state)
{
    (void)state;
    const double quarter = sqrt(2 / 9.81);
    for (int mode = 0; mode < 3; ++mode)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
            diary *d = new_diary();
            d->gravity = 9.81;
            d->function = floor_below;
            d->happen = turn_gravity;
            ga_simulation run =
                mode ? fixed(10, mode == 1 ? 0.01 : 0.3, 2) : adaptive(10, 1e-6, 2);
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = (ga_formulation)form;
            const ga_system system = body(d);
            simulate(d, &system, &def, 0, (double[]){1}, (double[]){0}, run);
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->events, 11);
            for (int k = 0; k < 11; ++k)
                assert_below(fabs(d->event[k].t - (2 * k + 1) * quarter), 1e-11, "passage");
            const double s = 10 - 22 * quarter; /* since the last turning point */
            assert_below(fabs(fabs(d->q[0]) - (1 - 0.5 * 9.81 * s * s)), 1e-10, "end");
            close_diary(d);
        }
}

static ga_action kick(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)q;
    v[0] -= 1;
    return GA_ACTION_RESTART;
}

static ga_action lift(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)v;
    q[0] += 1;
    return GA_ACTION_RESTART;
}

/* A kick onwards is one event; after a lift the body falls through again. */
static void test_kick_and_lift(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode) {
        diary *d = new_diary();
        d->gravity = 9.81;
        d->function = floor_below;
        d->happen = kick;
        const ga_simulation run = mode ? fixed(1, 0.07, 2) : adaptive(1, 1e-6, 2);
        fall(d, 0, 1, 0, run);
        assert_status(d->status, GA_OK, d->report);
        assert_int_equal(d->events, 1);
        const double s = sqrt(2 / 9.81);
        assert_below(fabs(d->v[0] + 9.81 + 1), 1e-12, "v");
        assert_below(fabs(d->q[0] - (1 - 0.5 * 9.81 - (1 - s))), 1e-12, "q");
        close_diary(d);
        d = new_diary();
        d->gravity = 9.81;
        d->function = floor_below;
        d->happen = lift;
        fall(d, 0, 1, 0, run);
        assert_status(d->status, GA_OK, d->report);
        const int falls = (int)(0.5 * 9.81);
        assert_int_equal(d->events, falls);
        for (int k = 0; k < falls; ++k)
            assert_below(fabs(d->event[k].t - sqrt(2 * (k + 1) / 9.81)), 1e-12, "fall");
        assert_below(fabs(d->q[0] - (1 + falls - 0.5 * 9.81)), 1e-12, "q");
        close_diary(d);
    }
}

/* --- nothing is lost -----------------------------------------------------------------------
 */

static double unit; /* of the next functions */

static ga_eval floor_in_units(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = unit * at->q[0];
    return GA_EVAL_OK;
}

/* From the floor, with a flight much shorter than a quarter of a step, or with many of them:
 * the way back is an event, in every unit. */
static void test_short_flights(void **state)
{
    (void)state;
    static const double units[] = {1, 1e-12, -1e-12, 1e12, 1e-250};
    for (int k = 0; k < 5; ++k)
        for (int mode = 0; mode < 2; ++mode)
            for (int many = 0; many < 2; ++many) {
                diary *d = new_diary();
                d->gravity = 9.81;
                d->bounce = 1;
                d->function = floor_in_units;
                d->happen = many ? bounce : stop;
                unit = units[k];
                const double v = 1e-4, flight = 2 * v / 9.81, t_end = many ? 50.5 * flight : 1;
                fall(d, 0, 0, v,
                     mode ? fixed(t_end, 0.3 * t_end, 1) : adaptive(t_end, 1e-6, 1));
                assert_status(d->status, GA_OK, d->report);
                assert_int_equal(d->events, many ? 50 : 1);
                for (int i = 0; i < d->events; ++i)
                    assert_below(fabs(d->event[i].t - (i + 1) * flight),
                                 1e-9 * flight * (i + 1), "end of a flight");
                close_diary(d);
            }
}

static ga_eval two_dips(void *user, const ga_sample *at, double *g)
{
    (void)user;
    const double a = at->t - 0.313, b = at->t - 0.781;
    g[0] = unit * (a * a - 1e-4);  /* through at 0.303, back at 0.323 */
    g[1] = unit * (1e-10 - b * b); /* the other way, 2e-5 long */
    g[2] = unit * (1e-8 + a * a);  /* near */
    g[3] = unit * (at->q[0] - 0.5 * at->q[0]);
    return GA_EVAL_OK;
}

/* Through zero and back between the places where a step is looked at. */
static void test_through_and_back(void **state)
{
    (void)state;
    static const double times[] = {0.303, 0.323, 0.781 - 1e-5, 0.781 + 1e-5};
    static const int rising[4] = {1, 1, 1, 1};
    for (int k = 0; k < 2; ++k)
        for (int action = 0; action < 2; ++action)
            for (int one_way = 0; one_way < 2; ++one_way) {
                diary *d = new_diary();
                d->function = two_dips;
                d->happen = action ? start_anew : NULL;
                unit = k ? 1e9 : 1;
                ga_simulation run = fixed(1, 1, 4);
                if (one_way) run.events.direction = rising;
                fall(d, 0, 1, 0, run);
                assert_status(d->status, GA_OK, d->report);
                assert_int_equal(d->events, one_way ? 2 : 4);
                for (int i = 0; i < d->events; ++i)
                    assert_below(fabs(d->event[i].t - times[one_way ? i + 1 : i]), 1e-9, "dip");
                close_diary(d);
            }
}

static ga_eval above_floor(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = unit * fmax(at->q[0], at->v[0]);
    return GA_EVAL_OK;
}

static ga_action bounce_until(diary *d, const happening *h, double *q, double *v)
{
    (void)h, (void)q;
    assert_true(v[0] < 0);
    v[0] *= -d->bounce;
    return v[0] < 1e-6 ? GA_ACTION_STOP : GA_ACTION_RESTART;
}

/* A unilateral function: below zero at the start it is an event at once; otherwise bounces are
 * followed, below round-off of the height, until the user has enough. */
static void test_unilateral(void **state)
{
    (void)state;
    static const bool unilateral[1] = {true};
    static const double starts[] = {1, 0, -1e-9, 1e6};
    for (int k = 0; k < 4; ++k)
        for (int mode = 0; mode < 2; ++mode) {
            diary *d = new_diary();
            d->gravity = 9.81;
            d->bounce = 0.9;
            d->function = above_floor;
            d->happen = bounce_until;
            unit = k % 2 ? 1e-9 : 1;
            const double q = starts[k] == 1e6 ? 1 : starts[k], v = k ? -1 : 0;
            ga_simulation run = mode ? fixed(50, 0.3, 1) : adaptive(50, 1e-6, 1);
            run.events.unilateral = unilateral;
            run.events.max_count = 1000;
            fall(d, 0, q, v, run);
            assert_status(d->status, GA_OK, d->report);
            assert_true(d->t < 50 && d->events > 100);
            if (q <= 0) assert_below(d->event[0].t, 1e-9, "event at the start");
            const double fast = sqrt(v * v + 2 * 9.81 * fmax(q, 0));
            const double first = (v + fast) / 9.81, all = first + 18 * fast / 9.81;
            assert_below(fabs(d->t - all), 1e-5 * all, "end of the bounces");
            assert_below(fabs(d->q[0]), 2e-9, "height");
            close_diary(d);
        }
}

/* --- the pendulum and the wall ------------------------------------------------------------ */

static ga_eval wall(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = pb_bouncing_pendulum_gap(at->q);
    g[1] = at->t + 1;
    return GA_EVAL_OK;
}

static ga_action hit(diary *d, const happening *h, double *q, double *v)
{
    /* no more than the way within the bracket */
    assert_below(fabs(pb_bouncing_pendulum_gap(q)),
                 4 * DBL_EPSILON * h->t * fabs(v[0]) + DBL_EPSILON, "gap at the event");
    pb_bouncing_pendulum_impact(d->problem, q, v, d->bounce);
    return GA_ACTION_RESTART;
}

static diary *swing(ga_formulation form, ga_multipliers multipliers, double bounce_factor,
                    ga_simulation run)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    diary *d = new_diary();
    d->problem = p;
    d->bounce = bounce_factor;
    d->function = wall;
    d->happen = hit;
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = form;
    run.multipliers = multipliers;
    simulate(d, &p->system, &def, 0, p->q0, p->v0, run);
    assert_status(d->status, GA_OK, d->report);
    d->problem = NULL;
    pb_destroy(p);
    return d;
}

static double time_error(const diary *d, double bounce_factor, int impacts)
{
    double times[64], most = 0;
    assert_int_equal(d->events, impacts);
    pb_bouncing_pendulum_times(NULL, bounce_factor, impacts, times);
    for (int k = 0; k < impacts; ++k) most = fmax(most, fabs(d->event[k].t - times[k]));
    return most;
}

/* How many of the exact impacts lie before t_end. */
static int impacts_before(double bounce_factor, double t_end)
{
    double times[64];
    int n = 0;
    pb_bouncing_pendulum_times(NULL, bounce_factor, 64, times);
    while (n < 64 && times[n] < t_end) ++n;
    return n;
}

static void test_bouncing_pendulum(void **state)
{
    (void)state;
    static const ga_formulation forms[] = {GA_INDEX2, GA_SOI2, GA_INDEX3};
    for (int e = 0; e < 2; ++e) {
        const double factor = e ? 0.8 : 1, t_end = 10;
        const int impacts = impacts_before(factor, t_end);
        assert_true(impacts >= 6);
        for (int f = 0; f < 3; ++f) {
            double errors[3];
            for (int k = 0; k < 3; ++k) {
                const double tolerance = pow(10, -4 - k);
                ga_simulation run = adaptive(t_end, tolerance, 2);
                run.output_every = 1;
                diary *d = swing(forms[f], GA_MULTIPLIERS_AUTO, factor, run);
                errors[k] = time_error(d, factor, impacts);
                assert_int_equal(d->stats.restarts, impacts);
                assert_below(errors[k], 3 * tolerance, "time of impact");
                close_diary(d);
            }
            if (getenv("TEST_VERBOSE"))
                print_message("e = %g, formulation %d: %d impacts, %.2e %.2e %.2e\n", factor,
                              (int)forms[f], impacts, errors[0], errors[1], errors[2]);
            assert_below(errors[1], 0.15 * errors[0], "time of impact");
            assert_below(errors[2], 0.15 * errors[1], "time of impact");
        }
    }
}

static void test_bouncing_pendulum_fixed(void **state)
{
    (void)state;
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
        double errors[3];
        for (int k = 0; k < 3; ++k) {
            diary *d = swing((ga_formulation)form, GA_MULTIPLIERS_AUTO, 0.8,
                             fixed(4, 0.01 / (1 << k), 2));
            errors[k] = time_error(d, 0.8, impacts_before(0.8, 4));
            close_diary(d);
        }
        if (getenv("TEST_VERBOSE"))
            print_message("formulation %d: %.2e %.2e %.2e\n", form, errors[0], errors[1],
                          errors[2]);
        assert_below(1.9, log2(errors[0] / errors[2]) / 2, "order of the impact times");
    }
}

/* Largest error of the scheme's own lambda after the first impact, samples near an impact left
 * out: there computed and exact motion are on different sides of it. */
static double lambda_error(const diary *d, double factor, double margin)
{
    double times[64], most = 0;
    pb_bouncing_pendulum_times(NULL, factor, 64, times);
    for (int k = 0; k < d->outputs; ++k) {
        double t = d->output[k].t, lambda;
        bool near = t < times[0];
        for (int i = 0; i < 64; ++i) near = near || fabs(t - times[i]) < margin;
        if (near) continue;
        pb_bouncing_pendulum_exact(NULL, factor, t, NULL, NULL, NULL, &lambda);
        most = fmax(most, fabs(d->output[k].lambda - lambda));
    }
    return most;
}

/* A restart leaves no oscillation behind: lambda is of second order everywhere, from the first
 * step after the impact on. */
static void test_no_oscillation_after_restart(void **state)
{
    (void)state;
    static const ga_formulation forms[] = {GA_INDEX3, GA_INDEX2, GA_SOI2};
    for (int f = 0; f < 3; ++f) {
        double errors[3];
        for (int k = 0; k < 3; ++k) {
            const double h = 0.01 / (1 << k);
            diary *d = swing(forms[f], GA_MULTIPLIERS_SCHEME, 0.8, fixed(3, h, 2));
            errors[k] = lambda_error(d, 0.8, 10 * time_error(d, 0.8, impacts_before(0.8, 3)));
            close_diary(d);
        }
        if (getenv("TEST_VERBOSE"))
            print_message("lambda, formulation %d: %.2e %.2e %.2e\n", (int)forms[f], errors[0],
                          errors[1], errors[2]);
        assert_below(1.9, log2(errors[0] / errors[2]) / 2, "order of lambda after impacts");
        assert_below(errors[0], 2e-3, "lambda after impacts");
    }
    for (int f = 0; f < 3; ++f)
        for (int k = 0; k < 2; ++k) {
            const double tolerance = k ? 1e-6 : 1e-5;
            diary *d = swing(forms[f], GA_MULTIPLIERS_SCHEME, 0.8, adaptive(3, tolerance, 2));
            const double error = lambda_error(d, 0.8, 1e3 * tolerance);
            if (getenv("TEST_VERBOSE"))
                print_message("lambda, formulation %d: %g: %.2e\n", (int)forms[f], tolerance,
                              error);
            assert_below(error, 10 * tolerance, "lambda, adaptive");
            close_diary(d);
        }
}

static ga_eval everything(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->q[0] - 0.1;
    g[1] = at->v[0];
    g[2] = at->lambda[0] - 10;
    g[3] = at->vd[1] - 0.5;
    return GA_EVAL_OK;
}

/* Functions of q, v, lambda and v': starting anew without a change, each passage still happens
 * once, when it would have anyway. */
static void test_restart_without_change(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            diary *d[2];
            for (int k = 0; k < 2; ++k) {
                d[k] = new_diary();
                d[k]->function = everything;
                d[k]->happen = k ? start_anew : NULL;
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                simulate(d[k], &p->system, &def, 0, p->q0, p->v0,
                         mode ? fixed(4, 0.002, 4) : adaptive(4, 1e-5, 4));
                assert_status(d[k]->status, GA_OK, d[k]->report);
            }
            if (getenv("TEST_VERBOSE"))
                for (int k = 0; k < 2; ++k) {
                    print_message("form %d mode %d run %d:", form, mode, k);
                    for (int e = 0; e < d[k]->events; ++e)
                        print_message(" %d@%.6f", d[k]->event[e].which[0], d[k]->event[e].t);
                    print_message("\n");
                }
            assert_true(d[0]->events > 20);
            assert_int_equal(d[1]->events, d[0]->events);
            for (int k = 0; k < d[0]->events; ++k) {
                assert_int_equal(d[1]->event[k].which[0], d[0]->event[k].which[0]);
                assert_below(fabs(d[1]->event[k].t - d[0]->event[k].t), 2e-4, "passage");
            }
            close_diary(d[0]);
            close_diary(d[1]);
        }
    pb_destroy(p);
}

static double strike; /* when late_strike happens */

static ga_eval late_strike(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->t - strike;
    return GA_EVAL_OK;
}

/* Starting anew just before the end or a breakpoint makes no sliver of a step, whose lambda
 * would be round-off divided by h^2. */
static void test_no_slivers(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_jump_create(0.7, &p), GA_OK);
    static const double times[] = {1 - 1e-13, 1 - 3e-16, 0.7 - 1e-13, 0.7, 0.7 + 1e-13};
    static const double breaks[] = {0.7};
    for (int form = 0; form < 3; ++form)
        for (int mode = 0; mode < 2; ++mode)
            for (int k = 0; k < 5; ++k) {
                diary *d = new_diary();
                d->problem = p;
                d->function = late_strike;
                d->happen = start_anew;
                strike = times[k];
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                ga_simulation run = mode ? fixed(1, 0.002, 1) : adaptive(1, 1e-6, 1);
                run.multipliers = GA_MULTIPLIERS_SCHEME;
                run.breakpoint_count = 1;
                run.breakpoints = breaks;
                simulate(d, &p->system, &def, 0, p->q0, p->v0, run);
                assert_status(d->status, GA_OK, d->report);
                assert_int_equal(d->events, 1);
                assert_true(d->t == 1);
                for (int i = 0; i < d->outputs; ++i) {
                    double lambda;
                    if (fabs(d->output[i].t - 0.7) < 1e-9) continue; /* before or after? */
                    p->exact(p, d->output[i].t, NULL, NULL, NULL, &lambda);
                    assert_below(fabs(d->output[i].lambda - lambda), 1e-3, "lambda");
                }
                close_diary(d);
            }
    pb_destroy(p);
}

/* From the wall: the start is no event, and the way back is one. */
static void test_start_at_the_wall(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            diary *d = new_diary();
            d->function = wall;
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = (ga_formulation)form;
            simulate(d, &p->system, &def, 0, p->q0, p->v0,
                     mode ? fixed(1, 0.005, 2) : adaptive(1, 1e-6, 2));
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->events, 1);
            double q[2];
            p->exact(p, d->event[0].t, q, NULL, NULL, NULL);
            assert_below(fabs(q[0] - 0.2), 1e-4, "way back");
            close_diary(d);
        }
    pb_destroy(p);
}

static ga_action move_away(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h;
    const double x = q[0], y = q[1]; /* turned back by 0.1 and off the circle */
    q[0] = 1.05 * (cos(0.1) * x + sin(0.1) * y);
    q[1] = 1.05 * (cos(0.1) * y - sin(0.1) * x);
    v[0] = v[1] = 1;
    return GA_ACTION_RESTART;
}

/* What the user leaves is made consistent, whatever max_projection says about starts. */
static void test_jump_is_projected(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    static const ga_formulation forms[] = {GA_INDEX2, GA_SOI2, GA_INDEX3};
    for (int f = 0; f < 3; ++f) {
        diary *d = new_diary();
        d->problem = p;
        d->function = wall;
        d->happen = move_away;
        ga_integrator_def def = ga_integrator_def_default();
        def.formulation = forms[f];
        def.max_projection = 1e-9;
        simulate(d, &p->system, &def, 0, p->q0, p->v0, fixed(2, 0.002, 2));
        assert_status(d->status, GA_OK, d->report);
        assert_true(d->events >= 2);
        int k = 0;
        while (d->output[k].t < d->event[0].t || d->output[k + 1].t == d->output[k].t) ++k;
        const entry *e = &d->output[k]; /* behind the event */
        assert_true(e->t == d->event[0].t);
        assert_below(fabs(e->q[0] * e->q[0] + e->q[1] * e->q[1] - 1), 1e-14, "Phi");
        /* in index 3 v has its perturbation of O(h^2) */
        assert_below(fabs(e->q[0] * e->v[0] + e->q[1] * e->v[1]),
                     forms[f] == GA_INDEX3 ? 1e-5 : 1e-14, "B v");
        assert_below(fabs(e->lambda - (e->v[0] * e->v[0] + e->v[1] * e->v[1] - 9.81 * e->q[1])),
                     1e-3, "lambda");
        /* the energy is that of the new motion from then on */
        const double energy = 0.5 * (e->v[0] * e->v[0] + e->v[1] * e->v[1]) + 9.81 * e->q[1];
        for (; d->output[k].t < d->event[1].t; ++k) {
            const entry *x = &d->output[k];
            assert_below(
                fabs(0.5 * (x->v[0] * x->v[0] + x->v[1] * x->v[1]) + 9.81 * x->q[1] - energy),
                1e-4, "energy");
        }
        close_diary(d);
    }
    pb_destroy(p);
}

/* --- rotations ---------------------------------------------------------------------------- */

static double quaternion[4]; /* what spin leaves */

static ga_eval clock_strikes(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->t - 0.5;
    g[1] = 1;
    return GA_EVAL_OK;
}

static ga_action turn_body(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)v;
    memcpy(q, quaternion, sizeof quaternion);
    return GA_ACTION_RESTART;
}

static void test_quaternion_jump(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_free_top_create(&p), GA_OK);
    const ga_integrator_def def = ga_integrator_def_default();
    double end[2][2];
    for (int k = 0; k < 2; ++k) { /* not of unit length: the same as if it were */
        static const double given[2][4] = {{0.5, 0.5, 0.5, 0.5}, {2, 2, 2, 2}};
        memcpy(quaternion, given[k], sizeof quaternion);
        diary *d = new_diary();
        d->function = clock_strikes;
        d->happen = turn_body;
        simulate(d, &p->system, &def, 0, p->q0, p->v0, fixed(1, 0.01, 2));
        assert_status(d->status, GA_OK, d->report);
        memcpy(end[k], d->q, sizeof end[k]);
        close_diary(d);
    }
    assert_memory_equal(end[0], end[1], sizeof end[0]);
    memset(quaternion, 0, sizeof quaternion);
    diary *d = new_diary();
    d->function = clock_strikes;
    d->happen = turn_body;
    simulate(d, &p->system, &def, 0, p->q0, p->v0, fixed(1, 0.03, 2));
    assert_status(d->status, GA_ERR_ARGUMENT, d->report);
    assert_message(d->report, "quaternion of node 0");
    assert_below(fabs(d->t - 0.48), 1e-12, "last good state");
    close_diary(d);
    pb_destroy(p);
}

/* --- failures ----------------------------------------------------------------------------- */

static ga_action leave_nan(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)q;
    v[0] = NAN;
    return GA_ACTION_RESTART;
}

/* Up to the step before the failure everything is as without it, and has been output. */
static void check_prefix(const diary *d, const diary *good, double t_fail)
{
    assert_true(d->t <= t_fail);
    assert_true(d->outputs >= 1 && d->outputs < good->outputs);
    for (int k = 0; k < d->outputs; ++k)
        assert_memory_equal(&d->output[k], &good->output[k], sizeof d->output[k]);
    const entry *last = &d->output[d->outputs - 1];
    assert_true(d->t == last->t);
    assert_memory_equal(d->q, last->q, sizeof d->q);
    assert_memory_equal(d->v, last->v, sizeof d->v);
    assert_true(good->output[d->outputs].t > t_fail); /* no good step is missing */
}

static void test_function_fails(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int form = 0; form < GA_FORMULATION_COUNT; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = (ga_formulation)form;
            const ga_simulation run = mode ? fixed(1, 0.01, 2) : adaptive(1, 1e-5, 2);
            diary *good = new_diary();
            good->function = clock_strikes;
            simulate(good, &p->system, &def, 0, p->q0, p->v0, run);
            assert_status(good->status, GA_OK, good->report);
            for (int how = 0; how < 4; ++how) {
                diary *d = new_diary();
                d->function = clock_strikes;
                d->nan_after = 0.377;
                d->failure = how == 1   ? GA_EVAL_FATAL
                             : how == 2 ? GA_EVAL_RECOVERABLE
                                        : GA_EVAL_OK;
                double fails = 0.377;
                if (how == 3) {
                    d->nan_after = 0;
                    d->happen = leave_nan;
                    fails = 0.5;
                }
                simulate(d, &p->system, &def, 0, p->q0, p->v0, run);
                if (how == 0) {
                    assert_status(d->status, GA_ERR_NOT_FINITE, d->report);
                    assert_message(d->report, "event function 1 returned NaN at t = 0.3");
                    assert_int_equal(d->report.row, 1);
                    assert_below(fabs(d->report.time - 0.377), 0.03, "time");
                } else if (how == 3) {
                    assert_status(d->status, GA_ERR_NOT_FINITE, d->report);
                    assert_message(d->report, "an event at t = 0.5 left a state");
                    --d->outputs; /* the sample at the event */
                } else {
                    assert_status(d->status, GA_ERR_CALLBACK, d->report);
                    assert_message(d->report, "event functions failed at t = 0.3");
                }
                assert_int_equal(d->report.status, d->status);
                check_prefix(d, good, fails);
                close_diary(d);
            }
            close_diary(good);
        }
    pb_destroy(p);
}

static ga_eval nan_at_once(void *user, const ga_sample *at, double *g)
{
    (void)user, (void)at;
    g[0] = NAN;
    g[1] = 1;
    return GA_EVAL_OK;
}

static void test_function_fails_at_the_start(void **state)
{
    (void)state;
    diary *d = new_diary();
    d->function = nan_at_once;
    fall(d, 0, 1, 2, fixed(1, 0.1, 2));
    assert_status(d->status, GA_ERR_NOT_FINITE, d->report);
    assert_message(d->report, "event function 0 returned NaN at t = 0");
    assert_int_equal(d->outputs, 1);
    assert_true(d->t == 0 && d->q[0] == 1 && d->v[0] == 2);
    close_diary(d);
}

static ga_action out_of_reach(diary *d, const happening *h, double *q, double *v)
{
    (void)d, (void)h, (void)v;
    q[0] = q[1] = 0; /* the centre of the circle: no direction leads back */
    return GA_ACTION_RESTART;
}

/* A restart that cannot be made consistent leaves the last good state, not half of a new one.
 */
static void test_restart_fails(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int mode = 0; mode < 2; ++mode) {
        const ga_integrator_def def = ga_integrator_def_default();
        const ga_simulation run = mode ? fixed(1, 0.03, 2) : adaptive(1, 1e-5, 2);
        diary *good = new_diary(), *d = new_diary();
        good->function = d->function = clock_strikes;
        d->happen = out_of_reach;
        simulate(good, &p->system, &def, 0, p->q0, p->v0, run);
        simulate(d, &p->system, &def, 0, p->q0, p->v0, run);
        assert_true(d->status != GA_OK);
        assert_int_equal(d->report.status, d->status);
        assert_true(d->report.message[0] != 0);
        --d->outputs; /* the sample at the event */
        check_prefix(d, good, 0.5);
        close_diary(d);
        close_diary(good);
    }
    pb_destroy(p);
}

/* --- output ------------------------------------------------------------------------------- */

/* Exactly the times asked for, and two samples at each event that changes something. */
static void test_output_times(void **state)
{
    (void)state;
    for (int mode = 0; mode < 2; ++mode)
        for (int every = 1; every <= 64; every *= 4) {
            diary *d = new_diary();
            d->gravity = 9.81;
            d->bounce = 1;
            d->function = floor_below;
            d->happen = bounce;
            ga_simulation run = mode ? fixed(2, 0.03, 2) : adaptive(2, 1e-6, 2);
            run.output_every = 1.0 / every;
            fall(d, 0, 1, 0, run);
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->events, 2);
            assert_int_equal(d->outputs, 1 + 2 * every + 2 * d->events);
            int event = 0, regular = 0;
            for (int k = 0; k < d->outputs; ++k) {
                const entry *e = &d->output[k];
                if (event < 2 * d->events && e->t == d->event[event / 2].t) {
                    /* before, and behind */
                    assert_true(event % 2 ? e->v[0] > 0 : e->v[0] < 0);
                    ++event;
                } else {
                    assert_true(e->t == (double)regular / every);
                    ++regular;
                }
                const double period = 2 * sqrt(2 / 9.81);
                const double s = e->t - period * floor(e->t / period + 0.5);
                assert_below(fabs(e->q[0] - (1 - 0.5 * 9.81 * s * s)), 1e-11, "sample");
            }
            assert_int_equal(event, 4);
            close_diary(d);
        }
}

/* Where the last output time is the end up to round-off, there is one sample of it; where it is
 * not, the end comes in addition. */
static void test_output_at_the_end(void **state)
{
    (void)state;
    static const struct {
        double t0, t_end, every;
        int outputs;
    } cases[] = {{0, 1, 0.1, 11},
                 {0, 1, 1.0 / 3, 4},
                 {0, 0.3, 0.1, 4},
                 {100, 101, 1e-3, 1001},
                 {1e4, 1e4 + 1, 1e-3, 1001},
                 {0, 1, 0.3, 5},
                 {0, 1, 2, 2},
                 {0, 1, 1, 2}};
    for (int k = 0; k < 8; ++k)
        for (int mode = 0; mode < 2; ++mode) {
            diary *d = new_diary();
            ga_simulation run =
                mode ? fixed(cases[k].t_end, 0.07, 0) : adaptive(cases[k].t_end, 1e-6, 0);
            run.output_every = cases[k].every;
            fall(d, cases[k].t0, 0, 1, run);
            assert_status(d->status, GA_OK, d->report);
            assert_int_equal(d->outputs, cases[k].outputs);
            assert_true(d->output[d->outputs - 1].t == cases[k].t_end);
            close_diary(d);
        }
}

static void test_output_stops(void **state)
{
    (void)state;
    for (int mode = 0; mode < 4; ++mode)
        for (int at = 1; at < 12; ++at) {
            diary *d = new_diary();
            d->gravity = 9.81;
            d->bounce = 1;
            d->function = floor_below;
            d->happen = bounce;
            d->stop_output = at;
            ga_simulation run = mode % 2 ? fixed(2, 0.3, 2) : adaptive(2, 1e-6, 2);
            if (mode / 2) run.output_every = 0.1;
            fall(d, 0, 1, 0, run);
            assert_status(d->status, GA_OK, d->report);
            assert_true(d->outputs == at || (mode == 1 && d->outputs < at)); /* not so many */
            close_diary(d);
        }
}

/* --- steps in pieces ---------------------------------------------------------------------- */

typedef struct stumble {
    double t;
    int left;
} stumble;

static ga_eval fail_near(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)out;
    stumble *s = p->data;
    if (kind != PROBE_FORCE || at->t < s->t || s->left == 0) return GA_EVAL_OK;
    --s->left;
    return GA_EVAL_RECOVERABLE;
}

static ga_eval many_times(void *user, const ga_sample *at, double *g)
{
    (void)user;
    for (int i = 0; i < 8; ++i) g[i] = at->t - (0.5 + 0.011 * (i + 1));
    return GA_EVAL_OK;
}

/* A step that has to be cut: events and output in all its pieces. */
static void test_events_in_pieces(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int action = 0; action < 2; ++action)
        for (int form = 0; form < 3; ++form) {
            stumble at = {0.55, 6}; /* the step from 0.5 to 0.6 */
            probe wrapped;
            probe_wrap(&wrapped, &p->system);
            wrapped.tamper = fail_near;
            wrapped.data = &at;
            diary *d = new_diary();
            d->function = many_times;
            d->happen = action ? start_anew : NULL;
            ga_integrator_def def = ga_integrator_def_default();
            def.formulation = (ga_formulation)form;
            ga_simulation run = fixed(1, 0.1, 8);
            run.output_every = 0.02;
            simulate(d, &wrapped.system, &def, 0, p->q0, p->v0, run);
            assert_status(d->status, GA_OK, d->report);
            assert_true(d->steps.halvings >= 1);
            assert_int_equal(d->events, 8);
            for (int k = 0; k < 8; ++k) assert_time(d->event[k].t, 0.5 + 0.011 * (k + 1));
            assert_int_equal(d->outputs, 51 + 8 * (1 + action));
            for (int k = 0; k < d->outputs; ++k) {
                double q[2];
                p->exact(p, d->output[k].t, q, NULL, NULL, NULL);
                assert_below(distance_of(d->output[k].q, q, 2), 0.02, "output in pieces");
            }
            close_diary(d);
        }
    pb_destroy(p);
}

/* --- the same bits, whatever is looked at ------------------------------------------------- */

static ga_eval look_only(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = at->q[0] - 0.1;
    g[1] = at->v[0];
    return GA_EVAL_OK;
}

static void test_same_bits(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
            for (int bounces = 0; bounces < 2; ++bounces) {
                double end[10][4];
                long steps[10];
                for (int k = 0; k < 10; ++k) {
                    diary *d = new_diary();
                    d->problem = p;
                    d->bounce = 0.8;
                    d->function = bounces ? wall : look_only;
                    d->happen = bounces ? hit : NULL;
                    ga_integrator_def def = ga_integrator_def_default();
                    def.formulation = (ga_formulation)form;
                    def.solver = (ga_solver)solver;
                    ga_simulation run = adaptive(2, 1e-4, bounces || k >= 5 ? 2 : 0);
                    static const double every[5] = {0, 10, 1, 0.1, 0.003};
                    run.output_every = every[k % 5];
                    run.multipliers = k >= 5 ? GA_MULTIPLIERS_SCHEME : GA_MULTIPLIERS_HAT;
                    simulate(d, &p->system, &def, 0, p->q0, p->v0, run);
                    assert_status(d->status, GA_OK, d->report);
                    memcpy(end[k], d->q, sizeof d->q);
                    memcpy(end[k] + 2, d->v, sizeof d->v);
                    steps[k] = d->stats.accepted;
                    assert_memory_equal(end[k], end[0], sizeof end[k]);
                    assert_int_equal(steps[k], steps[0]);
                    close_diary(d);
                }
            }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_location),
        cmocka_unit_test(test_direction),
        cmocka_unit_test(test_simultaneous),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_ends_and_grid),
        cmocka_unit_test(test_event_at_a_seam),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_bouncing_body),
        cmocka_unit_test(test_rest_is_a_storm),
        cmocka_unit_test(test_retriggering_is_a_storm),
        cmocka_unit_test(test_parameter_change),
        cmocka_unit_test(test_kick_and_lift),
        cmocka_unit_test(test_short_flights),
        cmocka_unit_test(test_through_and_back),
        cmocka_unit_test(test_unilateral),
        cmocka_unit_test(test_bouncing_pendulum),
        cmocka_unit_test(test_bouncing_pendulum_fixed),
        cmocka_unit_test(test_no_oscillation_after_restart),
        cmocka_unit_test(test_restart_without_change),
        cmocka_unit_test(test_no_slivers),
        cmocka_unit_test(test_start_at_the_wall),
        cmocka_unit_test(test_jump_is_projected),
        cmocka_unit_test(test_quaternion_jump),
        cmocka_unit_test(test_function_fails),
        cmocka_unit_test(test_function_fails_at_the_start),
        cmocka_unit_test(test_restart_fails),
        cmocka_unit_test(test_output_times),
        cmocka_unit_test(test_output_at_the_end),
        cmocka_unit_test(test_output_stops),
        cmocka_unit_test(test_events_in_pieces),
        cmocka_unit_test(test_same_bits),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
