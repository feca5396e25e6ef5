/* What a simulation tells on the way: steps, starts and events in the order of time, a chance
 * to change the system where the integration starts, and results that end where the run ends.
 *
 * The sliding block has a closed form: mass 1 on a spring of stiffness 1 whose other end moves
 * with the speed V, friction Fk while it slides; it sticks, held by psi, up to |psi| = Fs. */
#include "test/support/cases.h"
#include "test/support/probe.h"

#include <float.h>

enum { MOST = 20000 };

static const ga_formulation formulations[] = {GA_INDEX3, GA_INDEX2, GA_SOI2};
enum { FORMULATIONS = sizeof formulations / sizeof *formulations };

/* --- a log of everything that is told ------------------------------------------------------
 */

typedef enum line_kind { ACCEPTED, OUTPUT, HAPPENED, SETTLED } line_kind;

typedef struct line {
    line_kind kind;
    double t, q[2], v[2], vd[2], lambda, step, error;
    int iterations;
} line;

typedef struct book {
    int nq, nv, m;
    int count, of_kind[4];
    line_kind stop_kind; /* the stop_call-th call of this kind says stop; 0: none does */
    int stop_call;
    const pb_problem *problem;
    line lines[MOST];
} book;

static bool write_line(book *b, line_kind kind, const ga_sample *at)
{
    assert_true(b->count < MOST);
    line *l = &b->lines[b->count++];
    memset(l, 0, sizeof *l);
    l->kind = kind;
    l->t = at->t;
    for (int i = 0; i < 2 && i < b->nv; ++i) {
        l->q[i] = at->q[i];
        l->v[i] = at->v[i];
        l->vd[i] = at->vd[i];
    }
    if (b->m) l->lambda = at->lambda[0];
    l->step = at->step;
    l->error = at->error;
    l->iterations = at->iterations;
    ++b->of_kind[kind];
    return !(kind == b->stop_kind && b->of_kind[kind] == b->stop_call);
}

static ga_eval write_output(void *user, const ga_sample *at)
{
    return write_line(user, OUTPUT, at) ? GA_EVAL_OK : GA_EVAL_FATAL;
}

static ga_eval write_accepted(void *user, const ga_sample *at)
{
    return write_line(user, ACCEPTED, at) ? GA_EVAL_OK : GA_EVAL_RECOVERABLE;
}

static ga_action write_settled(void *user, const ga_sample *at)
{
    return write_line(user, SETTLED, at) ? GA_ACTION_CONTINUE : GA_ACTION_STOP;
}

static ga_eval gap(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = pb_bouncing_pendulum_gap(at->q);
    return GA_EVAL_OK;
}

static ga_action bounce(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    book *b = user;
    (void)count, (void)which;
    assert_memory_equal(q, at->q, 2 * sizeof *q);
    assert_memory_equal(v, at->v, 2 * sizeof *v);
    bool goes_on = write_line(b, HAPPENED, at);
    pb_bouncing_pendulum_impact(b->problem, q, v, 0.8);
    return goes_on ? GA_ACTION_RESTART : GA_ACTION_STOP;
}

/* mode 0: small fixed steps, 1: chosen by the error. */
static ga_simulation simulation(int mode, double t_end, double h)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = t_end;
    run.step = h;
    if (mode == 0) run.control.relative = 0;
    return run;
}

static ga_integrator *create(const ga_system *system, ga_formulation formulation)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.formulation = formulation;
    ga_integrator *g = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, &def, &g, &report), GA_OK, report);
    return g;
}

static book *open_book(const pb_problem *p)
{
    book *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->problem = p;
    b->nq = ga_system_nq(&p->system);
    b->nv = ga_system_nv(&p->system);
    b->m = p->system.constraint_count;
    return b;
}

/* The bouncing pendulum, with everything written down. */
static ga_simulation bouncing(book *b, int mode)
{
    static const int closing = -1;
    ga_simulation run = simulation(mode, 4, 0.01);
    if (mode) run.control.relative = 1e-5;
    run.events = (ga_events){.count = 1,
                             .function = gap,
                             .direction = &closing,
                             .happen = bounce,
                             .settled = write_settled,
                             .user = b};
    run.output = write_output;
    run.accepted = write_accepted;
    run.user = b;
    return run;
}

/* Order of time; at the same time accepted comes before output. */
static void check_order(const book *b)
{
    for (int k = 1; k < b->count; ++k) {
        const line *last = &b->lines[k - 1], *l = &b->lines[k];
        assert_true(l->t >= last->t);
        if (l->kind == ACCEPTED && l->t == last->t) assert_true(last->kind != OUTPUT);
    }
}

/* --- accepted ----------------------------------------------------------------------------- */

static void check_restarts(const book *b)
{
    for (int k = 0; k < b->count; ++k) {
        if (b->lines[k].kind != HAPPENED) continue;
        static const line_kind around[] = {ACCEPTED, OUTPUT,   HAPPENED,
                                           SETTLED,  ACCEPTED, OUTPUT};
        for (int i = 0; i < 6; ++i) assert_int_equal(b->lines[k - 2 + i].kind, around[i]);
        for (int i = 0; i < 2; ++i) {
            const line *before = &b->lines[k - 2], *after = &b->lines[k + 2];
            /* up to h^2, by which index 3 perturbs its start */
            assert_below(fabs(after->v[i] + 0.8 * before->v[i]), 1e-4, "turned round");
        }
    }
}

static void test_everything_is_told_in_order(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    for (int f = 0; f < FORMULATIONS; ++f)
        for (int mode = 0; mode < 2; ++mode) {
            book *b = open_book(p);
            ga_integrator *g = create(&p->system, formulations[f]);
            ga_simulation run = bouncing(b, mode);
            ga_report report;
            assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                          report);
            const ga_control_statistics stats = ga_integrator_control_statistics(g);
            check_order(b);
            check_restarts(b);
            assert_int_equal(b->of_kind[HAPPENED], stats.events);
            assert_int_equal(stats.restarts, stats.events);
            assert_int_equal(stats.accepted, ga_integrator_statistics(g).steps);
            assert_true(stats.step_min > 0 && stats.step_max >= stats.step_min);
            /* the start, every step, and of one with an event both sides of this */
            assert_int_equal(b->of_kind[ACCEPTED], 1 + stats.accepted + stats.events);
            assert_int_equal(b->of_kind[OUTPUT], b->of_kind[ACCEPTED]);
            assert_int_equal(b->of_kind[SETTLED], 1 + stats.events);
            ga_integrator_destroy(g);
            free(b);
        }
    pb_destroy(p);
}

static void check_sizes(const book *b, int mode, double t0)
{
    double t = t0;
    for (int k = 0; k < b->count; ++k) {
        const line *l = &b->lines[k];
        if (l->kind == OUTPUT && l->t > t) /* of the step it lies in */
            assert_true(l->step > 0 && l->t <= t + l->step * (1 + 1e-12));
        if (l->kind != ACCEPTED) continue;
        if (k == 0) {
            assert_true(l->step == 0 && l->error == 0 && l->iterations == 0);
            continue;
        }
        assert_below(fabs(l->t - t - l->step), 1e-14 * (1 + l->t), "step");
        assert_true(mode == 0 ? l->error == 0 : l->error > 0 && l->error <= 1);
        assert_true(l->iterations >= 1 && l->iterations <= 12);
        t = l->t;
    }
}

/* The same bits whether someone follows the steps or not; the samples are the integrator's own
 * state, and know about their step. */
static void test_accepted_changes_no_bits(void **state)
{
    (void)state;
    static const case_name names[] = {CASE_PENDULUM_SIDE, CASE_TOP_R3SO3, CASE_CHAIN,
                                      CASE_RHEONOMIC_BODY};
    for (int k = 0; k < 4; ++k)
        for (int f = 0; f < FORMULATIONS; ++f)
            for (int mode = 0; mode < 2; ++mode) {
                pb_problem *p = case_create(names[k]);
                const double h = case_step(names[k]);
                ga_integrator *g[2];
                ga_report report;
                book *b = open_book(p);
                for (int follow = 0; follow < 2; ++follow) {
                    g[follow] = create(&p->system, formulations[f]);
                    ga_simulation run = simulation(mode, p->t0 + 40.3 * h, h);
                    if (follow) {
                        run.accepted = write_accepted;
                        run.output = write_output;
                        run.output_every = 0.7 * h;
                        run.multipliers = GA_MULTIPLIERS_SCHEME;
                        run.user = b;
                        run.events.settled = write_settled;
                        run.events.user = b;
                    }
                    assert_status(
                        ga_integrator_simulate(g[follow], p->t0, p->q0, p->v0, &run, &report),
                        GA_OK, report);
                }
                const size_t size = (size_t)b->nv * sizeof(double);
                assert_memory_equal(ga_integrator_q(g[0]), ga_integrator_q(g[1]),
                                    (size_t)b->nq * sizeof(double));
                assert_memory_equal(ga_integrator_v(g[0]), ga_integrator_v(g[1]), size);
                assert_memory_equal(ga_integrator_vd(g[0]), ga_integrator_vd(g[1]), size);
                const line *last = &b->lines[b->count - 2];
                assert_int_equal(last->kind, ACCEPTED);
                assert_true(last->t == ga_integrator_time(g[1]));
                assert_memory_equal(last->vd, ga_integrator_vd(g[1]), sizeof last->vd);
                assert_true(last->lambda == ga_integrator_lambda(g[1])[0]);
                check_order(b);
                assert_int_equal(b->lines[0].kind, SETTLED);
                memmove(b->lines, b->lines + 1, (size_t)--b->count * sizeof *b->lines);
                check_sizes(b, mode, p->t0);
                ga_integrator_destroy(g[0]);
                ga_integrator_destroy(g[1]);
                free(b);
                pb_destroy(p);
            }
}

/* At an event, lambda = v.v - g y and v' = (0, -g) - lambda q on the circle. */
static void test_events_know_accelerations(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    book *b = open_book(p);
    ga_integrator *g = create(&p->system, GA_INDEX2);
    ga_simulation run = bouncing(b, 1);
    run.multipliers = GA_MULTIPLIERS_SCHEME;
    ga_report report;
    assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK, report);
    int seen = 0;
    for (int k = 0; k < b->count; ++k) {
        const line *l = &b->lines[k];
        if (l->kind != HAPPENED && l->kind != SETTLED) continue;
        const double *q = l->q, *v = l->v;
        const double lambda =
            (v[0] * v[0] + v[1] * v[1] - 9.81 * q[1]) / (q[0] * q[0] + q[1] * q[1]);
        assert_below(fabs(l->lambda - lambda), 1e-12, "lambda");
        assert_below(fabs(l->vd[0] + lambda * q[0]), 1e-12, "v' along x");
        assert_below(fabs(l->vd[1] + 9.81 + lambda * q[1]), 1e-12, "v' along y");
        ++seen;
    }
    assert_true(seen > 4);
    ga_integrator_destroy(g);
    free(b);
    pb_destroy(p);
}

/* --- stopping ----------------------------------------------------------------------------- */

/* The last line is an output at t, the only one there since the last start. */
static void check_end(const book *b, double t)
{
    const line *last = &b->lines[b->count - 1];
    assert_int_equal(last->kind, OUTPUT);
    assert_true(last->t == t);
    for (int k = b->count - 2; k >= 0 && b->lines[k].kind != SETTLED; --k)
        assert_true(b->lines[k].kind != OUTPUT || b->lines[k].t < t);
}

/* Whoever stops the run, and wherever: the results end there, once. */
static void test_stop(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_bouncing_pendulum_create(&p), GA_OK);
    for (int mode = 0; mode < 2; ++mode)
        for (int every = 0; every < 2; ++every)
            for (int call = 1; call < 150; ++call) {
                book *b = open_book(p);
                ga_integrator *g = create(&p->system, GA_INDEX2);
                ga_simulation run = bouncing(b, mode);
                run.output_every = every ? 0.037 : 0;
                b->stop_kind = ACCEPTED;
                b->stop_call = call;
                ga_report report;
                assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report),
                              GA_OK, report);
                assert_int_equal(b->of_kind[ACCEPTED], call);
                assert_int_equal(b->lines[b->count - 2].kind, ACCEPTED);
                check_order(b);
                check_end(b, b->lines[b->count - 2].t);
                const line *last = &b->lines[b->count - 1];
                const double t = ga_integrator_time(g);
                assert_true(t >= last->t && t <= last->t + last->step * (1 + 1e-12));
                ga_integrator_destroy(g);
                free(b);
            }
    for (int call = 1; call < 4; ++call) { /* by settled: behind the event */
        book *b = open_book(p);
        ga_integrator *g = create(&p->system, GA_INDEX2);
        ga_simulation run = bouncing(b, 1);
        b->stop_kind = SETTLED;
        b->stop_call = call;
        ga_report report;
        assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                      report);
        assert_int_equal(b->of_kind[SETTLED], call);
        assert_int_equal(b->lines[b->count - 2].kind, SETTLED);
        check_end(b, ga_integrator_time(g));
        ga_integrator_destroy(g);
        free(b);
    }
    pb_destroy(p);
}

/* Behind a breakpoint, too. */
static void test_breakpoints_are_starts(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    static const double breaks[] = {0.2, 0.5};
    for (int mode = 0; mode < 2; ++mode)
        for (int stop = 0; stop < 4; ++stop) {
            book *b = open_book(p);
            ga_integrator *g = create(&p->system, GA_INDEX2);
            ga_simulation run = bouncing(b, mode);
            run.events.count = 0;
            run.breakpoint_count = 2;
            run.breakpoints = breaks;
            run.t_end = 1;
            run.output_every = 0.3;
            b->stop_kind = SETTLED;
            b->stop_call = stop;
            ga_report report;
            assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                          report);
            check_order(b);
            check_end(b, stop == 1 ? p->t0 : ga_integrator_time(g));
            assert_int_equal(b->of_kind[SETTLED], stop ? stop : 3);
            for (int k = 0, at = -1; k < b->count; ++k) {
                if (b->lines[k].kind != SETTLED || ++at == 0) continue;
                assert_below(fabs(b->lines[k].t - breaks[at - 1]), 1e-14, "breakpoint");
                assert_int_equal(b->lines[k - 1].kind, ACCEPTED); /* the end of a step */
                if (at + 1 != stop) assert_int_equal(b->lines[k + 1].kind, ACCEPTED);
            }
            ga_integrator_destroy(g);
            free(b);
        }
    pb_destroy(p);
}

/* --- failures ----------------------------------------------------------------------------- */

typedef struct trouble {
    double t;
    ga_eval answer;
} trouble;

static ga_eval fail_behind(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)out;
    const trouble *what = p->data;
    return kind == PROBE_FORCE && at->t > what->t ? what->answer : GA_EVAL_OK;
}

static bool all_zero(const double *x, int n)
{
    for (int i = 0; i < n; ++i)
        if (x[i] != 0) return false;
    return true;
}

/* The last good state is output, once, and is what the integrator holds. */
static void test_failed_runs_end_with_an_output(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    for (int mode = 0; mode < 2; ++mode)
        for (int every = 0; every < 3; ++every)
            for (int fatal = 0; fatal < 2; ++fatal) {
                static const double between[] = {0, 0.1, 100};
                trouble what = {0.555, fatal ? GA_EVAL_FATAL : GA_EVAL_RECOVERABLE};
                probe wrapped;
                probe_wrap(&wrapped, &p->system);
                wrapped.tamper = fail_behind;
                wrapped.data = &what;
                book *b = open_book(p);
                ga_integrator *g = create(&wrapped.system, GA_INDEX2);
                ga_simulation run = simulation(mode, 1, 0.01);
                run.output = write_output;
                run.user = b;
                run.output_every = between[every];
                ga_report report;
                const ga_status status =
                    ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report);
                assert_true(fatal ? status == GA_ERR_CALLBACK : status != GA_OK);
                const double t = ga_integrator_time(g);
                assert_true(t > 0.4 && t <= what.t);
                check_end(b, t);
                const line *last = &b->lines[b->count - 1];
                assert_memory_equal(last->q, ga_integrator_q(g), sizeof last->q);
                assert_true(last->step > 0 && last->iterations > 0);
                if (every == 2) assert_int_equal(b->count, 2);
                assert_true(all_zero(ga_integrator_error_q(g), 2));
                ga_integrator_destroy(g);
                free(b);
            }
    pb_destroy(p);
}

static void test_errors_of_the_last_step(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    ga_integrator *g = create(&p->system, GA_INDEX2);
    ga_report report;
    assert_true(all_zero(ga_integrator_error_q(g), 2));
    assert_true(all_zero(ga_integrator_error_v(g), 2));
    for (int mode = 0; mode < 2; ++mode) {
        const ga_simulation run = simulation(mode, 1, 0.01);
        assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                      report);
        assert_int_equal(all_zero(ga_integrator_error_q(g), 2), mode == 0);
        assert_int_equal(all_zero(ga_integrator_error_v(g), 2), mode == 0);
        if (mode) continue;
        const ga_control_statistics stats = ga_integrator_control_statistics(g);
        assert_int_equal(stats.accepted, 100);
        assert_below(fabs(stats.step_max - 0.01), 1e-15, "largest step");
        assert_below(fabs(stats.step_min - 0.01), 1e-14, "smallest step");
    }
    ga_integrator_destroy(g);
    pb_destroy(p);
}

/* --- a block that sticks and slips -------------------------------------------------------- */

/* A second coordinate, alone in the world, takes the constraint while the block slides. */
typedef struct block {
    double V, Fk, Fs;
    int slides; /* 0: sticks; else the direction */
    int settled, events, stubborn;
    double times[16], held[16]; /* of the events; psi there */
} block;

static ga_eval block_mass(void *user, const ga_point *at, double *M)
{
    (void)user, (void)at;
    M[0] = M[3] = 1;
    M[1] = M[2] = 0;
    return GA_EVAL_OK;
}

static ga_eval block_force(void *user, const ga_point *at, double *f)
{
    const block *b = user;
    f[0] = b->V * at->t - at->q[0] - b->slides * b->Fk;
    f[1] = 0;
    return GA_EVAL_OK;
}

static ga_eval block_lock(void *user, const ga_point *at, double *k)
{
    const block *b = user;
    k[0] = at->v[b->slides ? 1 : 0];
    return GA_EVAL_OK;
}

static ga_system block_system(block *b)
{
    static const ga_node plane = GA_NODE(GA_GROUP_RN, 2);
    return (ga_system){.struct_size = sizeof(ga_system),
                       .user = b,
                       .node_count = 1,
                       .nodes = &plane,
                       .mass = block_mass,
                       .mass_is_constant = true,
                       .force = block_force,
                       .nonholonomic_count = 1,
                       .nonholonomic = block_lock};
}

/* Where it comes to rest, and where it tears itself loose; each 1 while it is not its turn. */
static ga_eval block_events(void *user, const ga_sample *at, double *g)
{
    const block *b = user;
    g[0] = b->slides ? b->slides * at->v[0] : 1;
    g[1] = b->slides ? 1 : b->Fs - fabs(at->psi[0]);
    return GA_EVAL_OK;
}

static ga_action block_happens(void *user, int count, const int *which, const ga_sample *at,
                               double *q, double *v)
{
    block *b = user;
    (void)q;
    assert_int_equal(count, 1);
    assert_true(b->events < 16);
    b->times[b->events] = at->t;
    b->held[b->events++] = at->psi[0];
    b->slides = which[0] == 0 ? 0 : at->psi[0] > 0 ? 1 : -1;
    if (b->slides) v[0] = -1e-17 * b->slides; /* round-off of the wrong sign */
    return GA_ACTION_RESTART;
}

static ga_action block_settles(void *user, const ga_sample *at)
{
    block *b = user;
    ++b->settled;
    if (b->stubborn && b->events == b->stubborn - 1) return GA_ACTION_RESTART;
    if (b->slides || fabs(at->psi[0]) <= b->Fs) return GA_ACTION_CONTINUE;
    assert_true(at->v[0] == 0);
    b->slides = at->psi[0] > 0 ? 1 : -1;
    return GA_ACTION_RESTART;
}

static ga_simulation block_run(block *b, int mode, double t_end)
{
    ga_simulation run = simulation(mode, t_end, 1e-3);
    run.control.relative = mode ? 1e-8 : 0;
    run.events = (ga_events){.count = 2,
                             .function = block_events,
                             .happen = block_happens,
                             .settled = block_settles,
                             .user = b};
    return run;
}

/* Not pulled, let go at x = 3.3: half swings of length pi, each 2 Fk shorter, until the spring
 * cannot overcome Fs. At every turning point it tries to stick, and settles for sliding back;
 * so it does at the start. */
static void test_coulomb_oscillator(void **state)
{
    (void)state;
    const double q0[2] = {3.3, 0}, v0[2] = {0, 0}, pi = acos(-1);
    for (int f = 0; f < FORMULATIONS; ++f)
        for (int mode = 0; mode < 2; ++mode) {
            block b = {.V = 0, .Fk = 0.3, .Fs = 0.5};
            const ga_system system = block_system(&b);
            ga_integrator *g = create(&system, formulations[f]);
            const ga_simulation run = block_run(&b, mode, 18);
            ga_report report;
            assert_status(ga_integrator_simulate(g, 0, q0, v0, &run, &report), GA_OK, report);
            assert_int_equal(b.events, 5);
            assert_int_equal(b.settled, 2 + 4 * 2 + 1);
            assert_int_equal(b.slides, 0);
            /* h = 1e-3: error (T/12) h^2 = 1e-6 */
            for (int k = 0; k < 5; ++k)
                assert_below(fabs(b.times[k] - (k + 1) * pi), 2e-5, "turning point");
            assert_below(fabs(ga_integrator_q(g)[0] + 0.3), 2e-5, "rest");
            assert_true(ga_integrator_v(g)[0] == 0);
            assert_below(fabs(ga_integrator_psi(g)[0] - 0.3), 2e-5, "held by psi");
            ga_integrator_destroy(g);
        }
}

/* Pulled with V = 1: sticks until t = Fs; with A = Fs - Fk slides for 2 pi - 2 atan(A), sticks
 * for 2 A, and so on. */
static void test_stick_and_slip(void **state)
{
    (void)state;
    const double zero[2] = {0, 0}, pi = acos(-1), A = 0.5;
    for (int f = 0; f < FORMULATIONS; ++f)
        for (int mode = 0; mode < 2; ++mode) {
            block b = {.V = 1, .Fk = 1.5, .Fs = 2};
            const ga_system system = block_system(&b);
            ga_integrator *g = create(&system, formulations[f]);
            const ga_simulation run = block_run(&b, mode, 15);
            ga_report report;
            assert_status(ga_integrator_simulate(g, 0, zero, zero, &run, &report), GA_OK,
                          report);
            assert_int_equal(b.events, 5);
            assert_int_equal(b.settled, 6);
            double t = b.Fs;
            for (int k = 0; k < 5; ++k) {
                assert_below(fabs(b.times[k] - t), 2e-5, "event");
                if (k % 2 == 0) assert_below(fabs(b.held[k] - b.Fs), 1e-9, "torn loose");
                t += k % 2 ? 2 * A : 2 * pi - 2 * atan(A);
            }
            ga_integrator_destroy(g);
        }
}

/* Someone who is never content: at the start, and at the second event. */
static void test_what_never_settles(void **state)
{
    (void)state;
    const double zero[2] = {0, 0};
    for (int mode = 0; mode < 2; ++mode)
        for (int events = 0; events < 3; events += 2) {
            block b = {.V = 1, .Fk = 1.5, .Fs = 2, .stubborn = events + 1};
            const ga_system system = block_system(&b);
            pb_problem p = {.system = system};
            book *log = open_book(&p);
            ga_integrator *g = create(&system, GA_INDEX2);
            ga_simulation run = block_run(&b, mode, 15);
            run.output = write_output;
            run.user = log;
            run.output_every = 3;
            ga_report report;
            assert_status(ga_integrator_simulate(g, 0, zero, zero, &run, &report),
                          GA_ERR_EVENTS, report);
            assert_message(report, "no consistent state");
            assert_int_equal(b.settled, events + 51);
            const double t = ga_integrator_time(g);
            assert_below(fabs(report.time - (events ? b.times[1] : 0)), 1e-12, "time");
            if (events) {
                assert_true(t < b.times[1] && t > b.times[1] - 1);
                assert_true(log->lines[log->count - 1].t == b.times[1]); /* it was told */
            } else {
                assert_true(t == 0 && log->count == 0);
            }
            ga_integrator_destroy(g);
            free(log);
        }
}

/* Runs that are repeated and compared tell nothing, and cannot settle. */
static void test_richardson_is_silent(void **state)
{
    (void)state;
    pb_problem *p = case_create(CASE_PENDULUM_SIDE);
    ga_integrator *g = create(&p->system, GA_INDEX2);
    book *b = open_book(p);
    ga_simulation run = simulation(0, 0.5, 0.01);
    ga_report report;
    run.accepted = write_accepted;
    run.user = b;
    assert_status(ga_integrator_richardson(g, p->t0, p->q0, p->v0, &run, 2, NULL, NULL, NULL,
                                           NULL, &report),
                  GA_OK, report);
    assert_int_equal(b->count, 0);
    run.events.settled = write_settled;
    run.events.user = b;
    assert_status(ga_integrator_richardson(g, p->t0, p->q0, p->v0, &run, 2, NULL, NULL, NULL,
                                           NULL, &report),
                  GA_ERR_ARGUMENT, report);
    ga_integrator_destroy(g);
    free(b);
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_is_told_in_order),
        cmocka_unit_test(test_accepted_changes_no_bits),
        cmocka_unit_test(test_events_know_accelerations),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_breakpoints_are_starts),
        cmocka_unit_test(test_failed_runs_end_with_an_output),
        cmocka_unit_test(test_errors_of_the_last_step),
        cmocka_unit_test(test_richardson_is_silent),
        cmocka_unit_test(test_coulomb_oscillator),
        cmocka_unit_test(test_stick_and_slip),
        cmocka_unit_test(test_what_never_settles),
    };
    return cmocka_run_group_tests_name("run", tests, NULL, NULL);
}
