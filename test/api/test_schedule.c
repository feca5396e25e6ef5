/* A program that sets inputs and forces at random, with steps, advances, impacts and friction
 * in between, gets the same bits if it also looks at the state between its actions; tries
 * something else and comes back; goes on with a copy; or with a new simulation that loads the
 * state. So do two such programs at the same time in two threads.
 */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const char text[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\n"
    "inputs: {u: {start: 0}, w: {start: 1}, length: {start: 1}}\n"
    "bodies:\n"
    "  bob: {mass: 1, inertia: 0.1, position: [1, 0]}\n"
    "  end: {type: point-mass, mass: 0.5, position: [2, 0]}\n"
    "  cart: {mass: 2, inertia: 1, position: [0, -3]}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, bob], at: [0, 0],\n"
    "    limits: {min: -1, max: 0.3, restitution: 0.5}, friction: {coefficient: 0.2, radius: "
    "0.1}}\n"
    "  rod: {type: distance, between: [bob, end], length: length}\n"
    "  rail: {type: prismatic, between: [ground, cart], at: [0, -3], axis: [1, 0],\n"
    "    limits: {min: -0.3, max: 0.3, restitution: 0.8}, friction: {coefficient: 0.3}}\n"
    "forces:\n"
    "  push: {type: force, on: bob, force: [u, \"u*w\"]}\n"
    "  pull: {type: force, on: cart, force: [\"8*u\", 0]}\n"
    "  air: {type: callback, bodies: [bob]}\n"
    "simulate: {t_end: 1, tolerance: 1e-3}\n"
    "output: {every: 0.01, channels: [\"*\", energy, u, solver]}\n";

typedef struct trace {
    unsigned long long sum;
    long rows;
} trace;

static void add(trace *x, const void *bytes, size_t size)
{
    const unsigned char *b = bytes;
    for (size_t k = 0; k < size; ++k) x->sum = (x->sum ^ b[k]) * 0x100000001b3ull;
}

static ga_eval put_out(void *user, const ga_sim *sim)
{
    trace *x = user;
    const double t = ga_sim_time(sim);
    add(x, &t, sizeof t);
    add(x, ga_sim_values(sim), (size_t)ga_sim_value_count(sim) * sizeof(double));
    ++x->rows;
    return GA_EVAL_OK;
}

static void drag(void *user, double t, const ga_plugin_body *bodies, double *f)
{
    (void)t;
    f[0] = -*(const double *)user * bodies->u[0];
}

static double next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed / 4294967296.0;
}

typedef enum manner { PLAIN, LOOKS, RETURNS, COPIES, LOADS, MANNERS } manner;

typedef struct player {
    const ga_model *model;
    manner manner;
    ga_sim *sim;
    double *drag; /* what the callback was given */
    trace x;
    unsigned noise;
} player;

#define DONE(call)                                                                             \
    do {                                                                                       \
        if ((call) != GA_OK) fail_msg("%s", report.message);                                   \
    } while (0)

static ga_sim *create(player *p)
{
    ga_report report;
    ga_sim *sim = NULL;
    ga_sim_def def = ga_sim_def_of(p->model);
    def.output = put_out;
    def.user = &p->x;
    DONE(ga_sim_create(p->model, &def, &sim, NULL, &report));
    return sim;
}

static double before_end(const player *p, double pause)
{
    return fmin(1, ga_sim_time(p->sim) + pause);
}

/* Something else, which is then undone; the last try fails. */
static void try_something(player *p)
{
    const int u = ga_sim_input(p->sim, "u");
    for (int k = 0; k < 4 && !ga_sim_is_over(p->sim); ++k) {
        const double z = next(&p->noise);
        ga_sim_set_input(p->sim, u, k < 3 ? 4 * z - 2 : 1e300, NULL);
        if (z < 0.5)
            ga_sim_step(p->sim, NULL);
        else
            ga_sim_advance(p->sim, before_end(p, 0.2 * z), NULL);
    }
}

static void detour(player *p)
{
    ga_report report;
    ga_sim *copy = NULL;
    if (p->manner == COPIES) {
        DONE(ga_sim_copy(p->sim, &copy, &report));
        ga_sim_destroy(p->sim);
        p->sim = copy;
    }
    if (p->manner != RETURNS && p->manner != LOADS) return;
    const size_t size = ga_sim_save_size(p->sim);
    void *bytes = malloc(size);
    assert_non_null(bytes);
    DONE(ga_sim_save(p->sim, bytes, size, &report));
    const trace before = p->x;
    if (p->manner == RETURNS) {
        try_something(p);
    } else {
        ga_sim_destroy(p->sim);
        p->sim = create(p);
        if (p->drag) DONE(ga_sim_set_force(p->sim, "forces.air", drag, p->drag, &report));
    }
    p->x = before;
    DONE(ga_sim_load(p->sim, bytes, size, &report));
    free(bytes);
}

static void act(player *p, double which, double a, double b)
{
    static double drags[] = {0.5, 0.1};
    ga_report report;
    ga_sim *sim = p->sim;
    const int u = ga_sim_input(sim, "u"), w = ga_sim_input(sim, "w"),
              length = ga_sim_input(sim, "length");
    const double t = ga_sim_time(sim);
    if (which < 0.2) {
        DONE(ga_sim_set_input(sim, u, 4 * a - 2, &report));
    } else if (which < 0.4) {
        DONE(ga_sim_ramp_input(sim, u, 4 * a - 2, t + 0.1 * b + 1e-3, &report));
    } else if (which < 0.5) {
        DONE(ga_sim_set_input(sim, w, a, &report));
    } else if (which < 0.7) {
        DONE(ga_sim_ramp_input(sim, length, 0.8 + 0.4 * a, t + 0.1 + 0.1 * b, &report));
    } else if (which < 0.8) {
        p->drag = drags + (a < 0.5);
        DONE(ga_sim_set_force(sim, "forces.air", drag, p->drag, &report));
    }
}

static void move(player *p, double a, double b)
{
    ga_report report;
    if (b < 0.3) {
        DONE(ga_sim_step(p->sim, &report));
        return;
    }
    const double t = ga_sim_time(p->sim), to = before_end(p, 0.06 * a);
    for (int k = 1; k < 4 && p->manner == LOOKS; ++k)
        DONE(ga_sim_advance(p->sim, t + (to - t) * k / 4, &report));
    DONE(ga_sim_advance(p->sim, to, &report));
}

static trace play(const ga_model *model, unsigned seed, manner how)
{
    player p = {.model = model, .manner = how, .noise = seed};
    p.sim = create(&p);
    while (!ga_sim_is_over(p.sim)) {
        const double which = next(&seed), a = next(&seed), b = next(&seed);
        detour(&p);
        act(&p, which, a, b);
        move(&p, a, b);
    }
    assert_true(ga_sim_time(p.sim) == 1);
    if (!(ga_sim_get_summary(p.sim).energy_drift_max < 0.05))
        fail_msg("energy balance: %g J", ga_sim_get_summary(p.sim).energy_drift_max);
    put_out(&p.x, p.sim);
    ga_sim_destroy(p.sim);
    return p.x;
}

#if defined(__SANITIZE_THREAD__) /* is about the other test */
enum { SEEDS = 0 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SEEDS = 1 };
#else
enum { SEEDS = 2 };
#endif

static void test_same_bits(void **state)
{
    (void)state;
    static const char *const settings[][3] = {
        {"simulate.step=0.005", "simulate.tolerance=null"},
        {"simulate.step=0.004", "simulate.tolerance=null", "simulate.formulation=soi2"},
        {"simulate.tolerance=1e-4", NULL},
        {"simulate.tolerance=1e-4", "simulate.formulation=index3"},
        {"simulate.tolerance=1e-3", "simulate.error=extrapolate"},
        {"simulate.tolerance=1e-4", "simulate.method=explicit"},
        {"simulate.tolerance=1e-4", "simulate.method=radau"},
        {"simulate.tolerance=1e-4", "simulate.method=auto"}};
    ga_model *model = NULL, *with = NULL;
    assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_OK);
    for (size_t k = 0; k < sizeof settings / sizeof *settings; ++k) {
        const char *const *set = settings[k];
        const int count = set[2] ? 3 : set[1] ? 2 : 1;
        assert_int_equal(ga_model_with(model, count, set, &with, NULL), GA_OK);
        for (unsigned seed = 1; seed <= SEEDS; ++seed) {
            const trace plain = play(with, seed, PLAIN);
            assert_true(plain.rows > 50);
            for (manner m = LOOKS; m < MANNERS; ++m) {
                const trace other = play(with, seed, m);
                if (other.sum != plain.sum || other.rows != plain.rows)
                    fail_msg("%s %s, seed %u, manner %d: other bits", set[0], set[count - 1],
                             seed, (int)m);
            }
        }
        ga_model_destroy(with);
    }
    ga_model_destroy(model);
}

typedef struct thread {
    const ga_model *model;
    unsigned seed;
    manner how;
    trace x;
} thread;

static void *follow(void *user)
{
    thread *own = user;
    own->x = play(own->model, own->seed, own->how);
    return NULL;
}

/* Two threads that feed, save, load and copy simulations of one model. */
static void test_two_threads(void **state)
{
    (void)state;
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("m", text, strlen(text), NULL, &model, NULL), GA_OK);
    thread alone[2] = {{model, 3, PLAIN, {0}}, {model, 4, PLAIN, {0}}};
    for (int k = 0; k < 2; ++k) follow(alone + k);
    for (manner m = RETURNS; m < MANNERS; ++m) {
        thread both[2] = {{model, 3, m, {0}}, {model, 4, m, {0}}};
        pthread_t threads[2];
        for (int k = 0; k < 2; ++k)
            assert_int_equal(pthread_create(threads + k, NULL, follow, both + k), 0);
        for (int k = 0; k < 2; ++k) {
            pthread_join(threads[k], NULL);
            assert_true(both[k].x.sum == alone[k].x.sum);
        }
    }
    ga_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits),
                                       cmocka_unit_test(test_two_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
