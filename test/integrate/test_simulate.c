/* ga_integrator_simulate as a whole: the same bits as stepping by hand, breakpoints, what is in
 * a sample, running again, refusals, and memory that runs out. */
#include "test/support/allocations.h"
#include "test/support/cases.h"
#include "test/support/probe.h"

#include "handle/integrator.h"

#include <float.h>

enum { MOST = 3000, MAX = 40 };

typedef struct sample {
    double t, q[MAX], v[MAX], vd[MAX], multipliers[MAX];
} sample;

typedef struct record {
    int nq, nv, m, p, count, stop;
    sample *samples;
} record;

static record record_create(const ga_system *system)
{
    record r = {.nq = ga_system_nq(system),
                .nv = ga_system_nv(system),
                .m = system->constraint_count,
                .p = system->nonholonomic_count};
    r.samples = calloc(MOST, sizeof *r.samples);
    assert_non_null(r.samples);
    return r;
}

static ga_eval write_sample(void *user, const ga_sample *at)
{
    record *r = user;
    assert_true(r->count < MOST);
    sample *s = &r->samples[r->count++];
    s->t = at->t;
    memcpy(s->q, at->q, (size_t)r->nq * sizeof *s->q);
    memcpy(s->v, at->v, (size_t)r->nv * sizeof *s->v);
    memcpy(s->vd, at->vd, (size_t)r->nv * sizeof *s->vd);
    memcpy(s->multipliers, at->lambda, (size_t)r->m * sizeof *s->multipliers);
    memcpy(s->multipliers + r->m, at->psi, (size_t)r->p * sizeof *s->multipliers);
    return r->count == r->stop ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static ga_eval write_state(void *user, const ga_integrator *g)
{
    const ga_sample at = {.t = ga_integrator_time(g),
                          .q = ga_integrator_q(g),
                          .v = ga_integrator_v(g),
                          .vd = ga_integrator_vd(g),
                          .lambda = ga_integrator_lambda(g),
                          .psi = ga_integrator_psi(g)};
    return write_sample(user, &at);
}

static ga_simulation fixed(double t_end, double h)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = t_end;
    run.control.relative = 0;
    run.step = h;
    run.multipliers = GA_MULTIPLIERS_SCHEME;
    return run;
}

static ga_simulation adaptive(double t_end, double tolerance)
{
    ga_simulation run = ga_simulation_default();
    run.t_end = t_end;
    run.control.relative = tolerance;
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

/* --- fixed steps -------------------------------------------------------------------------- */

typedef struct trouble {
    double t; /* from here on ... */
    int left; /* ... so many evaluations fail */
} trouble;

static ga_eval fail_some(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)out;
    trouble *what = p->data;
    if (kind != PROBE_FORCE || at->t < what->t || what->left == 0) return GA_EVAL_OK;
    --what->left;
    return GA_EVAL_RECOVERABLE;
}

/* The steps of ga_integrator_run, bit for bit; also where the last one is shorter and where one
 * has to be cut. */
static void compare_with_steps(pb_problem *p, double h, ga_formulation formulation, double n,
                               int failures)
{
    trouble what = {p->t0 + 12.5 * h, failures};
    probe wrapped;
    probe_wrap(&wrapped, &p->system);
    wrapped.tamper = fail_some;
    wrapped.data = &what;
    ga_integrator *g = create(failures ? &wrapped.system : &p->system, formulation);
    ga_integrator_guess(g, p->lambda_guess, p->psi_guess);
    ga_report report;
    const double t_end = p->t0 + n * h;
    record by_hand = record_create(&p->system), by_run = record_create(&p->system);
    assert_status(ga_integrator_start(g, p->t0, p->q0, p->v0, h, &report), GA_OK, report);
    assert_status(ga_integrator_run(g, t_end, write_state, &by_hand, &report), GA_OK, report);
    const ga_statistics first = ga_integrator_statistics(g);
    what.left = failures;
    ga_simulation run = fixed(t_end, h);
    run.output = write_sample;
    run.user = &by_run;
    assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK, report);
    const ga_statistics second = ga_integrator_statistics(g);
    assert_int_equal(first.halvings, second.halvings);
    assert_int_equal(first.steps, second.steps);
    assert_int_equal(first.iterations, second.iterations);
    assert_true(failures == 0 || first.halvings > 0);
    /* of a step that was cut, simulate outputs the pieces */
    int k = 0;
    for (int i = 0; i < by_hand.count; ++i, ++k) {
        while (k < by_run.count && by_run.samples[k].t < by_hand.samples[i].t) ++k;
        assert_true(k < by_run.count);
        if (memcmp(&by_hand.samples[i], &by_run.samples[k], sizeof(sample)))
            fail_msg("%s, formulation %d: sample %d differs", p->name, (int)formulation, i);
    }
    assert_int_equal(k, by_run.count);
    assert_int_equal(by_run.count - by_hand.count, first.steps - (by_hand.count - 1));
    free(by_hand.samples);
    free(by_run.samples);
    ga_integrator_destroy(g);
}

static void test_fixed_steps(void **state)
{
    (void)state;
    for (int name = 0; name < CASES; ++name)
        for (int form = 0; form < GA_FORMULATION_COUNT; ++form) {
            pb_problem *p = case_create((case_name)name);
            const double h = case_step((case_name)name);
            compare_with_steps(p, h, (ga_formulation)form, 30, 0);
            compare_with_steps(p, h, (ga_formulation)form, 20.4, 0);
            compare_with_steps(p, h, (ga_formulation)form, 20.04, 0);
            pb_destroy(p);
        }
}

static void test_fixed_steps_cut(void **state)
{
    (void)state;
    static const case_name names[] = {CASE_PENDULUM_SIDE, CASE_TOP_SE3, CASE_RHEONOMIC_BODY};
    for (int k = 0; k < 3; ++k)
        for (int form = 0; form < 3; ++form)
            for (int failures = 2; failures < 9; ++failures) {
                pb_problem *p = case_create(names[k]);
                compare_with_steps(p, case_step(names[k]), (ga_formulation)form, 25, failures);
                pb_destroy(p);
            }
}

/* --- breakpoints -------------------------------------------------------------------------- */

/* Forces at the jump itself are those before it. */
typedef struct late {
    ga_system inner;
    double t_jump;
} late;

#define LATE(name)                                                                             \
    static ga_eval late_##name(void *user, const ga_point *at, double *out)                    \
    {                                                                                          \
        const late *l = user;                                                                  \
        ga_point earlier = *at;                                                                \
        if (at->t == l->t_jump) earlier.t = nextafter(at->t, 0);                               \
        return l->inner.name(l->inner.user, &earlier, out);                                    \
    }
LATE(mass)
LATE(force)
LATE(constraint)
LATE(gradient)
LATE(acceleration_rhs)
LATE(stiffness)
LATE(damping)
LATE(velocity_stiffness)

static ga_system make_late(late *l)
{
    ga_system s = l->inner;
    s.user = l;
    s.mass = late_mass;
    s.force = late_force;
    s.constraint = late_constraint;
    s.gradient = late_gradient;
    s.acceleration_rhs = late_acceleration_rhs;
    s.stiffness = late_stiffness;
    s.damping = late_damping;
    s.velocity_stiffness = late_velocity_stiffness;
    return s;
}

/* Errors of q, v and lambda over a run with a jump at 0.7137. */
static void errors_with_jump(ga_formulation form, const ga_simulation *settings, bool after,
                             double error[3], ga_control_statistics *stats)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_jump_create(0.7137, &p), GA_OK);
    static const double times[] = {-1, 0, 0.7137, 0.7137, 1.5, 2};
    late l = {p->system, 0.7137};
    const ga_system system = after ? p->system : make_late(&l);
    ga_integrator *g = create(&system, form);
    record r = record_create(&system);
    ga_simulation run = *settings;
    ga_report report;
    run.output = write_sample;
    run.user = &r;
    run.breakpoint_count = 6;
    run.breakpoints = times;
    assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_OK, report);
    *stats = ga_integrator_control_statistics(g);
    error[0] = error[1] = error[2] = 0;
    for (int k = 0; k < r.count; ++k) {
        const sample *s = &r.samples[k];
        double q[2], v[2], lambda;
        p->exact(p, s->t, q, v, NULL, &lambda);
        error[0] = fmax(error[0], distance_of(s->q, q, 2));
        error[1] = fmax(error[1], distance_of(s->v, v, 2));
        error[2] = fmax(error[2], fabs(s->multipliers[0] - lambda));
    }
    free(r.samples);
    ga_integrator_destroy(g);
    pb_destroy(p);
}

/* Announced, a jump costs nothing: second order in everything, also in lambda of index 3, at
 * once and whichever value the force has at the jump itself. */
static void test_breakpoints(void **state)
{
    (void)state;
    for (int form = 0; form < 3; ++form)
        for (int after = 0; after < 2; ++after) {
            double error[2][3];
            ga_control_statistics stats;
            for (int k = 0; k < 2; ++k) {
                const ga_simulation run = fixed(1.5, k ? 0.0025 : 0.01);
                errors_with_jump((ga_formulation)form, &run, after, error[k], &stats);
                assert_int_equal(stats.restarts, 1);
            }
            if (getenv("TEST_VERBOSE"))
                print_message("jump, formulation %d: %.2e %.2e %.2e, %.2e %.2e %.2e\n", form,
                              error[0][0], error[0][1], error[0][2], error[1][0], error[1][1],
                              error[1][2]);
            for (int i = 0; i < 3; ++i)
                assert_below(1.9, log2(error[0][i] / error[1][i]) / 2, "order over a jump");
            ga_simulation run = adaptive(1.5, 1e-5);
            run.multipliers = GA_MULTIPLIERS_SCHEME;
            errors_with_jump((ga_formulation)form, &run, after, error[0], &stats);
            if (getenv("TEST_VERBOSE"))
                print_message("jump, adaptive: %.2e %.2e %.2e, %ld steps, %ld rejected\n",
                              error[0][0], error[0][1], error[0][2], stats.accepted,
                              stats.rejected);
            assert_int_equal(stats.restarts, 1);
            assert_int_equal(stats.rejected, 0);
            for (int i = 0; i < 2; ++i) assert_below(error[0][i], 3e-5, "adaptive, jump");
            assert_below(error[0][2], 1e-4, "adaptive, lambda");
        }
}

/* Steps of any size end at stops, in the order of time with breakpoints, and go on; steps of
 * fixed size do not mind. */
static void test_stops(void **state)
{
    (void)state;
    static const double stops[] = {-1, 0, 0.3, 0.3, 0.7137, 0.9, 1.5, 2}, at = 0.7137;
    pb_problem *p = NULL;
    assert_int_equal(pb_jump_create(at, &p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            ga_integrator *g = create(&p->system, (ga_formulation)form);
            record r = record_create(&p->system);
            ga_simulation run = mode ? fixed(1.5, 0.01) : adaptive(1.5, 1e-4);
            ga_report report;
            run.output = write_sample;
            run.user = &r;
            run.breakpoint_count = 1;
            run.breakpoints = &at;
            run.stop_count = 8;
            run.stops = stops;
            assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_OK,
                          report);
            int met = 0;
            for (int k = 0; k < r.count; ++k)
                met += r.samples[k].t == stops[2] || r.samples[k].t == stops[5];
            if (!mode) assert_int_equal(met, 2);
            assert_int_equal(ga_integrator_control_statistics(g).restarts, 1);
            assert_true(r.samples[r.count - 1].t == 1.5);
            free(r.samples);
            ga_integrator_destroy(g);
        }
    pb_destroy(p);
}

/* --- samples ------------------------------------------------------------------------------ */

static pb_problem *nonholonomic(int k)
{
    pb_problem *p = NULL;
    if (k == 0) assert_int_equal(pb_rolling_disc_create(0.3, &p), GA_OK);
    if (k == 1) assert_int_equal(pb_sleigh_create(GA_GROUP_SE2, &p), GA_OK);
    if (k == 2) assert_int_equal(pb_heavy_top_create(GA_GROUP_SE3, &p), GA_OK);
    return p;
}

/* The last sample is the state, with the multipliers asked for; q and v do not depend on that.
 */
static void test_samples(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k)
        for (int form = 0; form < 3; ++form)
            for (int mode = 0; mode < 2; ++mode) {
                pb_problem *p = nonholonomic(k);
                record r[3];
                for (int kind = 0; kind < 3; ++kind) {
                    ga_integrator *g = create(&p->system, (ga_formulation)form);
                    ga_simulation run = mode ? fixed(0.05, 1e-3) : adaptive(0.05, 1e-5);
                    ga_report report;
                    r[kind] = record_create(&p->system);
                    run.multipliers = (ga_multipliers)kind;
                    run.output = write_sample;
                    run.user = &r[kind];
                    assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report),
                                  GA_OK, report);
                    const sample *last = &r[kind].samples[r[kind].count - 1];
                    sample now;
                    memset(&now, 0, sizeof now);
                    now.t = ga_integrator_time(g);
                    memcpy(now.q, ga_integrator_q(g), (size_t)r[kind].nq * sizeof *now.q);
                    memcpy(now.v, ga_integrator_v(g), (size_t)r[kind].nv * sizeof *now.v);
                    memcpy(now.vd, ga_integrator_vd(g), (size_t)r[kind].nv * sizeof *now.vd);
                    memcpy(now.multipliers, ga_integrator_lambda(g),
                           (size_t)r[kind].m * sizeof *now.multipliers);
                    memcpy(now.multipliers + r[kind].m, ga_integrator_psi(g),
                           (size_t)r[kind].p * sizeof *now.multipliers);
                    if (kind != GA_MULTIPLIERS_SCHEME)
                        assert_status(ga_integrator_hat(g, now.vd, now.multipliers,
                                                        now.multipliers + r[kind].m, &report),
                                      GA_OK, report);
                    assert_memory_equal(last, &now, sizeof now);
                    ga_integrator_destroy(g);
                }
                assert_int_equal(r[0].count, r[1].count);
                assert_int_equal(r[0].count, r[2].count);
                for (int i = 0; i < r[0].count; ++i) {
                    const sample *a = &r[0].samples[i], *b = &r[1].samples[i],
                                 *c = &r[2].samples[i];
                    assert_memory_equal(a, c, sizeof *a); /* automatic is hat */
                    assert_memory_equal(a->q, b->q, sizeof a->q);
                    assert_memory_equal(a->v, b->v, sizeof a->v);
                    assert_below(distance_of(a->vd, b->vd, MAX),
                                 0.02 * (1 + largest_of(a->vd, MAX)), p->name);
                    assert_below(distance_of(a->multipliers, b->multipliers, MAX),
                                 0.02 * (1 + largest_of(a->multipliers, MAX)), p->name);
                }
                for (int kind = 0; kind < 3; ++kind) free(r[kind].samples);
                pb_destroy(p);
            }
}

/* Output at times in between is the interpolation, third order: it hardly differs from a run
 * whose steps end there. */
static void test_output_in_between(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    for (int form = 0; form < 3; ++form) {
        ga_integrator *g = create(&p->system, (ga_formulation)form);
        record r = record_create(&p->system);
        ga_simulation run = fixed(1, 0.01);
        ga_report report;
        run.output = write_sample;
        run.user = &r;
        run.output_every = 0.0037;
        assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_OK, report);
        assert_int_equal(r.count, 1 + 270 + 1);
        for (int k = 0; k < r.count; ++k) {
            const sample *s = &r.samples[k];
            assert_true(s->t == (k == 271 ? 1 : k * 0.0037));
            double q[2], v[2], vd[2], lambda;
            p->exact(p, s->t, q, v, vd, &lambda);
            assert_below(distance_of(s->q, q, 2), 3e-4, "q");
            assert_below(distance_of(s->v, v, 2), 1e-3, "v");
            assert_below(distance_of(s->vd, vd, 2), 3e-3, "vd");
            assert_below(fabs(s->multipliers[0] - lambda), 3e-3, "lambda");
        }
        free(r.samples);
        ga_integrator_destroy(g);
    }
    pb_destroy(p);
}

/* --- again and on ------------------------------------------------------------------------- */

static void test_again(void **state)
{
    (void)state;
    for (int k = 0; k < 3; ++k)
        for (int form = 0; form < 3; ++form)
            for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver) {
                pb_problem *p = nonholonomic(k);
                ga_integrator_def def = ga_integrator_def_default();
                def.formulation = (ga_formulation)form;
                def.solver = (ga_solver)solver;
                ga_integrator *g = NULL;
                ga_report report;
                assert_status(ga_integrator_create(&p->system, &def, &g, &report), GA_OK,
                              report);
                record r[4];
                for (int round = 0; round < 4; ++round) {
                    ga_simulation run = round % 2 ? fixed(0.05, 1e-3) : adaptive(0.05, 1e-4);
                    r[round] = record_create(&p->system);
                    run.output = write_sample;
                    run.user = &r[round];
                    assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report),
                                  GA_OK, report);
                }
                for (int round = 0; round < 2; ++round) {
                    assert_int_equal(r[round].count, r[round + 2].count);
                    assert_memory_equal(r[round].samples, r[round + 2].samples,
                                        (size_t)r[round].count * sizeof(sample));
                }
                for (int round = 0; round < 4; ++round) free(r[round].samples);
                ga_integrator_destroy(g);
                pb_destroy(p);
            }
}

/* After a simulation one may step on by hand. */
static void test_step_on(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            ga_integrator *g = create(&p->system, (ga_formulation)form);
            ga_simulation run = mode ? fixed(0.5, 1e-3) : adaptive(0.5, 1e-6);
            ga_report report;
            assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_OK,
                          report);
            double before = 0.5;
            assert_true(ga_integrator_time(g) == before);
            for (int n = 0; n < 20; ++n) {
                assert_status(ga_integrator_step(g, &report), GA_OK, report);
                assert_true(ga_integrator_time(g) > before);
                before = ga_integrator_time(g);
            }
            double q[2];
            p->exact(p, before, q, NULL, NULL, NULL);
            assert_below(distance_of(ga_integrator_q(g), q, 2), 1e-5, "stepped on");
            ga_integrator_destroy(g);
        }
    pb_destroy(p);
}

/* No time at all: one sample, a state that can be looked at. */
static void test_no_time(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_heavy_top_create(GA_GROUP_SE3, &p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int mode = 0; mode < 2; ++mode) {
            ga_integrator *g = create(&p->system, (ga_formulation)form);
            record r = record_create(&p->system);
            ga_simulation run = mode ? fixed(p->t0, 1e-3) : adaptive(p->t0, 1e-6);
            ga_report report;
            run.output = write_sample;
            run.user = &r;
            assert_status(ga_integrator_simulate(g, p->t0, p->q0, p->v0, &run, &report), GA_OK,
                          report);
            assert_int_equal(r.count, 1);
            assert_memory_equal(r.samples[0].q, p->q0, 7 * sizeof(double));
            for (int i = 0; i < 6; ++i) {
                assert_true(isfinite(ga_integrator_a(g)[i]));
                assert_true(isfinite(ga_integrator_vd(g)[i]));
                assert_true(isfinite(ga_integrator_v(g)[i]));
            }
            free(r.samples);
            ga_integrator_destroy(g);
        }
    pb_destroy(p);
}

/* --- failures and refusals ---------------------------------------------------------------- */

static ga_eval fatal_after_half(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)p, (void)out;
    return kind == PROBE_FORCE && at->t > 0.5 ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static ga_eval nan_after_half(probe *p, probe_kind kind, const ga_point *at, double *out)
{
    (void)p;
    if (kind == PROBE_FORCE && at->t > 0.5) out[0] = NAN;
    return GA_EVAL_OK;
}

/* Everything up to the last good step has been output, and that is the state. */
static void test_failure_on_the_way(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int mode = 0; mode < 2; ++mode)
            for (int how = 0; how < 2; ++how) {
                probe wrapped;
                probe_wrap(&wrapped, &p->system);
                wrapped.tamper = how ? nan_after_half : fatal_after_half;
                ga_integrator *g = create(&wrapped.system, (ga_formulation)form);
                record r = record_create(&p->system);
                ga_simulation run = mode ? fixed(1, 1e-3) : adaptive(1, 1e-5);
                ga_report report;
                run.output = write_sample;
                run.user = &r;
                assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report),
                              how ? GA_ERR_NOT_FINITE : GA_ERR_CALLBACK, report);
                assert_message(report, "force");
                const sample *last = &r.samples[r.count - 1];
                assert_below(0.5 - last->t, how ? 1e-5 : 0.01, "how far it came");
                assert_below(last->t, 0.5, "how far it came");
                assert_true(ga_integrator_time(g) == last->t);
                assert_memory_equal(ga_integrator_q(g), last->q, 2 * sizeof(double));
                assert_memory_equal(ga_integrator_v(g), last->v, 2 * sizeof(double));
                free(r.samples);
                ga_integrator_destroy(g);
            }
    pb_destroy(p);
}

static ga_eval never(void *user, const ga_sample *at, double *g)
{
    (void)user, (void)at;
    g[0] = 1;
    return GA_EVAL_OK;
}

static void expect_refusal(ga_simulation run, const char *message)
{
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    ga_integrator *g = create(&p->system, GA_INDEX2);
    ga_report report;
    assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_ERR_ARGUMENT,
                  report);
    assert_message(report, message);
    assert_int_equal(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, NULL), GA_ERR_ARGUMENT);
    ga_integrator_destroy(g);
    pb_destroy(p);
}

static void test_refusals(void **state)
{
    (void)state;
    const double mixed[] = {0.5, 0.2}, endless[] = {0.1, INFINITY};
#define REFUSE(message, change)                                                                \
    do {                                                                                       \
        ga_simulation run = adaptive(1, 1e-6);                                                 \
        change;                                                                                \
        expect_refusal(run, message);                                                          \
    } while (0)
    REFUSE("t_end", run.t_end = -1);
    REFUSE("t_end", run.t_end = NAN);
    REFUSE("t_end", run.t_end = INFINITY);
    REFUSE("relative", run.control.relative = -1);
    REFUSE("relative", run.control.relative = NAN);
    REFUSE("relative", run.control.relative = 1);
    REFUSE("relative", run.control.relative = 1e-15);
    REFUSE("step", run.control.relative = 0);
    REFUSE("step", (run.control.relative = 0, run.step = -1));
    REFUSE("step", (run.control.relative = 0, run.step = INFINITY));
    REFUSE("absolute_translation", run.control.absolute_translation = -1);
    REFUSE("absolute_rotation", run.control.absolute_rotation = NAN);
    REFUSE("absolute_velocity", run.control.absolute_velocity = -1);
    REFUSE("absolute_angular_velocity", run.control.absolute_angular_velocity = INFINITY);
    REFUSE("first_step", run.control.first_step = -1);
    REFUSE("min_step", run.control.min_step = -1);
    REFUSE("max_step", run.control.max_step = NAN);
    REFUSE("min_step", (run.control.min_step = 1, run.control.max_step = 0.1));
    REFUSE("max_rejections", run.control.max_rejections = 0);
    REFUSE("mode", run.control.mode = (ga_error_mode)7);
    REFUSE("output_every", run.output_every = -1);
    REFUSE("output_every", run.output_every = NAN);
    REFUSE("duration", run.duration = -1);
    REFUSE("duration", run.duration = INFINITY);
    REFUSE("multipliers", run.multipliers = (ga_multipliers)9);
    REFUSE("events", run.events.count = -1);
    REFUSE("events", run.events.count = 1);
    REFUSE("breakpoint", run.breakpoint_count = 2);
    REFUSE("breakpoint", run.breakpoint_count = -1);
    REFUSE("breakpoint 1", (run.breakpoint_count = 2, run.breakpoints = mixed));
    REFUSE("breakpoint 1", (run.breakpoint_count = 2, run.breakpoints = endless));
    REFUSE("stop", run.stop_count = 2);
    REFUSE("stop", run.stop_count = -1);
    REFUSE("stop 1", (run.stop_count = 2, run.stops = mixed));
#undef REFUSE
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0, &p), GA_OK);
    ga_integrator *g = create(&p->system, GA_INDEX2);
    const ga_simulation run = adaptive(1, 1e-4);
    ga_report report;
    assert_int_equal(ga_integrator_simulate(NULL, 0, p->q0, p->v0, &run, &report),
                     GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_simulate(g, 0, p->q0, p->v0, NULL, &report),
                     GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_simulate(g, 0, NULL, p->v0, &run, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_simulate(g, 0, p->q0, NULL, &run, &report), GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_simulate(g, NAN, p->q0, p->v0, &run, &report),
                     GA_ERR_ARGUMENT);
    assert_int_equal(ga_integrator_simulate(g, 0, (double[]){0, NAN}, p->v0, &run, &report),
                     GA_ERR_ARGUMENT);
    /* and it still works */
    assert_status(ga_integrator_simulate(g, 0, p->q0, p->v0, &run, &report), GA_OK, report);
    ga_integrator_destroy(g);
    pb_destroy(p);
}

/* --- memory ------------------------------------------------------------------------------- */

typedef struct outcome {
    ga_status status;
    ga_report report;
    double q[MAX];
} outcome;

static ga_eval at_some_times(void *user, const ga_sample *at, double *g)
{
    (void)user;
    g[0] = sin(40 * at->t + 1);
    return GA_EVAL_OK;
}

static ga_action start_anew(void *user, int count, const int *which, const ga_sample *at,
                            double *q, double *v)
{
    (void)user, (void)count, (void)which, (void)at, (void)q, (void)v;
    return GA_ACTION_RESTART;
}

static outcome whole_run(const pb_problem *p, const ga_integrator_def *def,
                         const ga_simulation *run, int levels)
{
    outcome o;
    memset(&o, 0, sizeof o);
    ga_integrator *g = NULL;
    o.status = ga_integrator_create(&p->system, def, &g, &o.report);
    if (o.status == GA_OK) {
        memset(&o.report, 0x55, sizeof o.report);
        o.status = levels ? ga_integrator_richardson(g, p->t0, p->q0, p->v0, run, levels, NULL,
                                                     NULL, NULL, NULL, &o.report)
                          : ga_integrator_simulate(g, p->t0, p->q0, p->v0, run, &o.report);
    }
    if (o.status == GA_OK)
        memcpy(o.q, ga_integrator_q(g), (size_t)ga_system_nq(&p->system) * sizeof *o.q);
    ga_integrator_destroy(g);
    return o;
}

static void fail_every_allocation(case_name name, const ga_integrator_def *def,
                                  const ga_simulation *run, int levels)
{
    pb_problem *p = case_create(name);
    const bool counted = in_front();
    start_counting(0, false);
    const outcome good = whole_run(p, def, run, levels);
    stop_counting();
    assert_status(good.status, GA_OK, good.report);
    const long total = watch.taken;
    assert_int_equal(watch.live, 0);
    assert_true(total > 50 || !counted);
    for (long k = 1; k <= total; ++k) {
        start_counting(k, false);
        const outcome o = whole_run(p, def, run, levels);
        stop_counting();
        char where[160];
        snprintf(where, sizeof where, "%s, solver %d, levels %d, allocation %ld of %ld",
                 p->name, (int)def->solver, levels, k, total);
        assert_true(watch.failed >= 1);
        if (watch.live) fail_msg("%s: %ld blocks leaked", where, watch.live);
        /* KLU gives back unused memory by realloc and goes on if that fails: no harm done */
        if (o.status == GA_OK && !memcmp(o.q, good.q, sizeof o.q)) continue;
        if (o.status != GA_ERR_MEMORY || o.report.status != GA_ERR_MEMORY ||
            !strstr(o.report.message, "memory"))
            fail_msg("%s: %s, the report says %s, \"%s\"", where, ga_status_name(o.status),
                     ga_status_name(o.report.status), o.report.message);
    }
    pb_destroy(p);
}

static void test_allocations_fail(void **state)
{
    (void)state;
    static const case_name names[] = {CASE_PENDULUM_SIDE, CASE_TOP_SE3, CASE_CHAIN};
    for (int k = 0; k < 3; ++k)
        for (int form = 0; form < 3; ++form)
            for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
                for (int mode = 0; mode < 2; ++mode) {
                    ga_integrator_def def = ga_integrator_def_default();
                    def.formulation = (ga_formulation)form;
                    def.solver = (ga_solver)solver;
                    ga_simulation run = mode ? fixed(0.1, 2e-3) : adaptive(0.1, 1e-3);
                    fail_every_allocation(names[k], &def, &run, 2);
                    run.events = (ga_events){
                        .count = 1, .function = at_some_times, .happen = start_anew};
                    fail_every_allocation(names[k], &def, &run, 0);
                }
    /* many steps: the record of them grows */
    const ga_integrator_def def = ga_integrator_def_default();
    const ga_simulation run = fixed(0.6, 2e-4);
    fail_every_allocation(CASE_PENDULUM_SIDE, &def, &run, 3);
}

/* What is taken is taken at the beginning: a long run takes no more than a short one. */
static void test_a_long_run_takes_no_more(void **state)
{
    (void)state;
    if (!in_front()) skip();
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    for (int form = 0; form < 3; ++form)
        for (int solver = GA_SOLVER_DENSE; solver <= GA_SOLVER_BLOCK; ++solver)
            for (int mode = 0; mode < 2; ++mode) {
                long taken[2];
                for (int k = 0; k < 2; ++k) {
                    ga_integrator_def def = ga_integrator_def_default();
                    def.formulation = (ga_formulation)form;
                    def.solver = (ga_solver)solver;
                    ga_simulation run = mode ? fixed(k + 1, 2e-3) : adaptive(k + 1, 1e-4);
                    run.events.count = 1;
                    run.events.function = never;
                    start_counting(0, false);
                    const outcome o = whole_run(p, &def, &run, 0);
                    stop_counting();
                    assert_status(o.status, GA_OK, o.report);
                    taken[k] = watch.taken;
                }
                assert_int_equal(taken[0], taken[1]);
            }
    pb_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed_steps),
        cmocka_unit_test(test_fixed_steps_cut),
        cmocka_unit_test(test_breakpoints),
        cmocka_unit_test(test_stops),
        cmocka_unit_test(test_samples),
        cmocka_unit_test(test_output_in_between),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_step_on),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_failure_on_the_way),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_allocations_fail),
        cmocka_unit_test(test_a_long_run_takes_no_more),
    };
    return cmocka_run_group_tests_name("simulate", tests, NULL, NULL);
}
