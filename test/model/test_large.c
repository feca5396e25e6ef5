/* Large models: reading, numbering and starting take time in proportion to their size. */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* Of this process, so that others on the machine do not count. */
static double seconds(void) { return (double)clock() / CLOCKS_PER_SEC; }

static const char planar[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: 0.1, position: [i + 0.5, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"], at: [i + 1, "
    "0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

static const char spherical[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1, 1, 1], position: [i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: spherical, between: [\"b{i}\", \"b{i+1}\"], at: [i+1, 0, "
    "0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

/* Its saddle matrix fills up where pivots are planned on the diagonal. */
static const char revolute[] =
    "galpha: 1\ngravity: [0, 0, -9.81]\nrepeat:\n"
    "  - count: %d\n"
    "    bodies: {\"b{i}\": {mass: 1, inertia: [1, 1, 1], position: [i + 0.5, 0, 0]}}\n"
    "  - count: %d\n"
    "    joints: {\"j{i}\": {type: revolute, between: [\"b{i}\", \"b{i+1}\"], at: [i+1, 0, 0],"
    " axis: [0, 1, 0]}}\n"
    "simulate: {t_end: 1, step: 1e-3}\n";

/* Every measurement begins with memory the system has yet to provide, as a program that reads
 * one model does. Without this a small model finds the pages of the one before it, a large one
 * does not, and a quarter of the ratio is page faults. */
static void give_back_memory(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

/* The allocator of the address sanitizer takes large blocks from the system one by one, so that
 * there the larger model pays for pages the smaller one has. Models are read, created and
 * started all the same, but their times are not judged. */
#if defined(__SANITIZE_ADDRESS__)
static const bool times_count = false;
#else
static const bool times_count = true;
#endif

typedef struct times {
    double read, create, start;
} times;

static void keep_least(double *least, double taken)
{
    if (*least == 0 || taken < *least) *least = taken;
}

static void measure(const char *format, int n, times *least)
{
    char text[1000];
    snprintf(text, sizeof text, format, n, n - 1);
    ga_model *model = NULL;
    ga_sim *sim = NULL;
    ga_report report;
    give_back_memory();
    double t0 = seconds();
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    assert_int_equal(ga_model_body_count(model), n);
    double t1 = seconds();
    ga_sim_def def = ga_sim_def_of(model);
    assert_int_equal(ga_sim_create(model, &def, &sim, NULL, &report), GA_OK);
    double t2 = seconds();
    assert_int_equal(ga_sim_start(sim, &report), GA_OK);
    keep_least(&least->read, t1 - t0);
    keep_least(&least->create, t2 - t1);
    keep_least(&least->start, seconds() - t2);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

/* The best of three; what is read and put together, and what is started. */
static void check_ratio(const char *format)
{
    times small = {0}, large = {0};
    for (int k = 0; k < 3; ++k) {
        measure(format, 1000, &small);
        measure(format, 10000, &large);
    }
    double ready = (large.read + large.create) / (small.read + small.create);
    double started = large.start / small.start;
    if (!times_count) return;
    if (ready > 12)
        fail_msg("ten times the bodies: read and created in %.3g times the time", ready);
    /* caches and orders of elimination: n log n */
    if (started > 20) fail_msg("ten times the bodies: started in %.3g times the time", started);
}

static void test_planar_chain(void **state)
{
    (void)state;
    check_ratio(planar);
}

static void test_chain_of_spherical_joints(void **state)
{
    (void)state;
    check_ratio(spherical);
}

static void test_chain_of_revolute_joints(void **state)
{
    (void)state;
    check_ratio(revolute);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planar_chain),
        cmocka_unit_test(test_chain_of_spherical_joints),
        cmocka_unit_test(test_chain_of_revolute_joints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
