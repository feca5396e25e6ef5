/* The same input gives the same bits: twice, with more channels, with other output times, and
 * in two threads that share a model.
 */
#include "test/api/examples.h"

#include <pthread.h>
#include <string.h>

enum { MOST = 64 };

/* Energies, the largest error of their balance and time after each of the first steps, and at
 * the end. */
enum { NUMBERS = 6 };
typedef struct path {
    int count;
    double values[MOST][NUMBERS];
    double end[NUMBERS];
    const ga_model *model;
    ga_sim_def def;
    ga_status status;
} path;

static ga_eval record(void *user, const ga_sim *sim)
{
    path *p = user;
    ga_sim_summary summary = ga_sim_get_summary(sim);
    const double now[NUMBERS] = {summary.final.kinetic,    summary.final.potential,
                                 summary.final.dissipated, summary.final.work,
                                 summary.energy_drift_max, summary.t};
    if (p->count < MOST) memcpy(p->values[p->count++], now, sizeof now);
    memcpy(p->end, now, sizeof now);
    return GA_EVAL_OK;
}

static void *follow(void *user)
{
    path *p = user;
    ga_sim *sim = NULL;
    p->def.progress = record;
    p->def.user = p;
    p->status = ga_sim_create(p->model, &p->def, &sim, NULL, NULL);
    if (p->status == GA_OK) p->status = ga_sim_run(sim, NULL);
    ga_sim_destroy(sim);
    return NULL;
}

static path start_path(const ga_model *model)
{
    return (path){.model = model, .def = ga_sim_def_of(model)};
}

static void check_same(const path *a, const path *b, const char *example, const char *what)
{
    assert_int_equal(a->status, GA_OK);
    assert_int_equal(b->status, GA_OK);
    assert_true(a->count > 3);
    if (a->count != b->count || memcmp(a->values, b->values, sizeof a->values) ||
        memcmp(a->end, b->end, sizeof a->end))
        fail_msg("%s: other bits %s", example, what);
}

static const char *const examples[] = {"heavy_top",        "slider_crank",     "stop",
                                       "stick_slip",       "four_bar_spatial", "rolling_disc",
                                       "double_pendulum",  "rack_and_pinion",  "quick_return",
                                       "suspension_corner"};
static const char *const shorter[] = {"simulate.t_end=0.5"};

static void test_whatever_is_output(void **state)
{
    (void)state;
    static const char *const one[] = {"energy.total"}, *const all[] = {"*", "energy", "solver"};
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k) {
        ga_model *model = read_example(examples[k], 1, shorter);
        path first = start_path(model), again = start_path(model), other = start_path(model);
        first.def.channels = other.def.channels = one;
        first.def.channel_count = 1;
        again.def = first.def;
        other.def.channels = all;
        other.def.channel_count = 3;
        other.def.output_every = 0.00731;
        follow(&first);
        follow(&again);
        follow(&other);
        check_same(&first, &again, examples[k], "the second time");
        check_same(&first, &other, examples[k], "with more output");
        ga_model_destroy(model);
    }
}

static void test_two_threads(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof examples / sizeof *examples; ++k) {
        ga_model *model = read_example(examples[k], 1, shorter);
        path alone = start_path(model), both[2] = {start_path(model), start_path(model)};
        pthread_t threads[2];
        follow(&alone);
        for (int i = 0; i < 2; ++i)
            assert_int_equal(pthread_create(threads + i, NULL, follow, both + i), 0);
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
        for (int i = 0; i < 2; ++i) check_same(&alone, both + i, examples[k], "in a thread");
        ga_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whatever_is_output),
        cmocka_unit_test(test_two_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
