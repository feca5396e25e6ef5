/* Copies of simulations go on like the original; models with other values are those that a file
 * with these values would give; events are told as they happen.
 */
#define _XOPEN_SOURCE 700

#include "test/api/examples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct trace {
    unsigned long long sum;
    long steps, pause_after, events, impacts;
    double last_event;
} trace;

static ga_eval put_out(void *user, const ga_sim *sim)
{
    trace *x = user;
    const unsigned char *b = (const unsigned char *)ga_sim_values(sim);
    for (size_t k = 0; k < (size_t)ga_sim_value_count(sim) * sizeof(double); ++k)
        x->sum = (x->sum ^ b[k]) * 0x100000001b3ull;
    return GA_EVAL_OK;
}

static ga_eval look(void *user, const ga_sim *sim)
{
    trace *x = user;
    (void)sim;
    return ++x->steps == x->pause_after ? GA_EVAL_FATAL : GA_EVAL_OK;
}

static void note_event(void *user, const ga_sim *sim, const ga_sim_event *event)
{
    trace *x = user;
    (void)sim;
    assert_non_null(event->element);
    assert_true(event->function >= 0);
    assert_true(event->t >= x->last_event);
    x->last_event = event->t;
    ++x->events;
    x->impacts += event->impact;
}

static ga_sim *create(const ga_model *model, trace *x)
{
    static const char *const all[] = {"*", "energy"};
    ga_sim *sim = NULL;
    ga_report report;
    ga_sim_def def = ga_sim_def_of(model);
    def.output = put_out;
    def.pause = look;
    def.event = note_event;
    def.user = x;
    def.channels = all;
    def.channel_count = 2;
    if (ga_sim_create(model, &def, &sim, NULL, &report)) fail_msg("%s", report.message);
    return sim;
}

static void test_copies(void **state)
{
    (void)state;
    static const char *const names[] = {"stop", "stick_slip", "double_pendulum"};
    static const char *const set[] = {"simulate.t_end=2"};
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
        ga_model *model = read_example(names[k], 1, set);
        trace x = {.pause_after = 40};
        ga_sim *sim = create(model, &x), *copy = NULL;
        ga_report report;
        assert_int_equal(ga_sim_run(sim, &report), GA_OK);
        const trace before = x;
        if (ga_sim_copy(sim, &copy, &report)) fail_msg("%s: %s", names[k], report.message);
        assert_int_equal(ga_sim_value_count(copy), ga_sim_value_count(sim));
        assert_int_equal(ga_sim_continue(sim, &report), GA_OK);
        const trace first = x;
        ga_sim_destroy(sim);
        x = before; /* the copy has the same user */
        assert_int_equal(ga_sim_continue(copy, &report), GA_OK);
        if (x.sum != first.sum || x.steps != first.steps || x.events != first.events)
            fail_msg("%s: the copy goes another way", names[k]);
        ga_sim_destroy(copy);
        ga_model_destroy(model);
    }
}

static void advance(ga_sim *sim, const char *name, double t)
{
    ga_report report;
    if (ga_sim_advance(sim, t, &report)) fail_msg("%s: %s", name, report.message);
}

/* In the middle of a step a motor has done a part of its work. */
static void check_inside_a_step(const char *example, const char *method,
                                ga_multipliers multipliers)
{
    char name[100];
    snprintf(name, sizeof name, "%s, %s, %d", example, method, (int)multipliers);
    const char *const set[] = {"simulate.t_end=0.3", "simulate.step=null",
                               "simulate.tolerance=1e-4", method};
    ga_model *model = read_example(example, 4, set);
    ga_sim_def def = ga_sim_def_of(model);
    def.multipliers = multipliers;
    ga_sim *sim = NULL, *copy = NULL;
    ga_report report;
    if (ga_sim_create(model, &def, &sim, NULL, &report)) fail_msg("%s", report.message);
    const size_t size = (size_t)ga_sim_value_count(sim) * sizeof(double);
    for (int k = 1; k < 10; ++k) {
        advance(sim, name, 0.0271 * k);
        if (ga_sim_copy(sim, &copy, &report)) fail_msg("%s: %s", name, report.message);
        advance(sim, name, 0.0271 * k + 0.019);
        advance(copy, name, 0.0271 * k + 0.019);
        if (memcmp(ga_sim_values(sim), ga_sim_values(copy), size))
            fail_msg("%s: the copy of t = %g has other values", name, 0.0271 * k);
        ga_sim_destroy(copy);
    }
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void test_inside_a_step(void **state)
{
    (void)state;
    static const char *const names[] = {"scotch_yoke", "stewart_platform", "suspension_corner"};
    static const char *const methods[] = {"simulate.method=generalized-alpha",
                                          "simulate.method=explicit", "simulate.method=radau",
                                          "simulate.method=auto"};
    for (int k = 0; k < 3; ++k)
        for (int i = 0; i < 4; ++i) {
            check_inside_a_step(names[k], methods[i], GA_MULTIPLIERS_HAT);
            check_inside_a_step(names[k], methods[i], GA_MULTIPLIERS_SCHEME);
        }
}

/* A ball between two stops: as many impacts as a run has events, all told. */
static void test_events(void **state)
{
    (void)state;
    static const char text[] =
        "galpha: 1\n"
        "bodies: {ball: {mass: 1, inertia: [1, 1, 1], velocity: [1, 0, 0]}}\n"
        "joints: {rail: {type: prismatic, between: [ground, ball], at: [0, 0, 0],\n"
        "  axis: [1, 0, 0], limits: {min: -1, max: 1, restitution: 1}}}\n"
        "simulate: {t_end: 10, step: 0.01}\n";
    ga_model *model = NULL;
    assert_int_equal(ga_model_parse("b", text, strlen(text), NULL, &model, NULL), GA_OK);
    trace x = {.pause_after = -1};
    ga_sim *sim = create(model, &x);
    assert_int_equal(ga_sim_run(sim, NULL), GA_OK);
    /* from 0 with 1 m/s: at 1, 3, 5, 7, 9 s */
    assert_int_equal(x.events, 5);
    assert_int_equal(x.impacts, 5);
    assert_true(fabs(x.last_event - 9) < 1e-9);
    ga_sim_destroy(sim);
    ga_model_destroy(model);
}

static void run_to_end(const ga_model *model, trace *x)
{
    x->pause_after = -1;
    ga_sim *sim = create(model, x);
    ga_report report;
    if (ga_sim_run(sim, &report)) fail_msg("%s", report.message);
    ga_sim_destroy(sim);
}

static const char chain[] =
    "galpha: 1\ndimension: 2\ngravity: [0, -9.81]\n"
    "parameters: {n: 3, length: 0.5, m: 2*length}\n"
    "include: rest.yaml\n"
    "repeat: {count: n, index: i, bodies: {\"b{i}\": {mass: m, inertia: m*length^2,\n"
    "  position: [\"length*(i + 0.5)\", 0], points: {l: [-length/2, 0], r: [length/2, 0]}}},\n"
    "  joints: {\"j{i}\": {type: revolute, when: i > 0,\n"
    "    between: [\"b{i-1}.r\", \"b{i}.l\"]}}}\n"
    "joints: {first: {type: revolute, between: [ground, b0], at: [0, 0]}}\n";

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Parameters that follow from others, repeats, includes whose file is gone; and a second time.
 */
static void test_other_values(void **state)
{
    (void)state;
    char folder[] = "/tmp/galpha-copy-XXXXXX", here[4096];
    assert_non_null(getcwd(here, sizeof here));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    write_file("chain.yaml", chain);
    write_file("rest.yaml", "simulate: {t_end: 0.3, step: 0.01}\n");
    const char *const other[] = {"parameters.length=0.7", "parameters.n=4"};
    const char *const third[] = {"simulate.formulation=index3"};
    const char *const both[] = {other[0], other[1], third[0]};
    ga_model *model = NULL, *read = NULL, *read_third = NULL, *with = NULL, *again = NULL;
    ga_model_options options = ga_model_options_default();
    options.set_count = 2;
    options.set = other;
    ga_model_options options3 = ga_model_options_default();
    options3.set_count = 3;
    options3.set = both;
    assert_int_equal(ga_model_read("chain.yaml", NULL, &model, NULL), GA_OK);
    assert_int_equal(ga_model_read("chain.yaml", &options, &read, NULL), GA_OK);
    assert_int_equal(ga_model_read("chain.yaml", &options3, &read_third, NULL), GA_OK);
    unlink("chain.yaml");
    unlink("rest.yaml");
    assert_int_equal(chdir(here), 0);
    rmdir(folder);
    trace original = {0}, same = {0}, a = {0}, b = {0}, c = {0}, d = {0};
    run_to_end(model, &original);
    assert_int_equal(ga_model_with(model, 2, other, &with, NULL), GA_OK);
    run_to_end(model, &same); /* it is as it was */
    assert_true(original.sum == same.sum);
    ga_model_destroy(model);
    assert_int_equal(ga_model_with(with, 1, third, &again, NULL), GA_OK);
    run_to_end(with, &a);
    run_to_end(read, &b);
    ga_model_destroy(with);
    run_to_end(again, &c);
    run_to_end(read_third, &d);
    assert_true(a.sum == b.sum && c.sum == d.sum && a.sum != original.sum && a.sum != c.sum);
    assert_int_equal(ga_model_body_count(again), 4);
    ga_messages *messages = ga_messages_create();
    const char *const wrong[] = {"parameters.width=1", "simulate.step=-1"};
    assert_int_equal(ga_model_with(again, 1, wrong + 1, &model, messages), GA_ERR_INPUT);
    assert_null(model);
    assert_true(ga_messages_errors(messages) > 0);
    ga_messages_destroy(messages);
    ga_model_destroy(again);
    ga_model_destroy(read);
    ga_model_destroy(read_third);
}

static void test_draft_with_other_values(void **state)
{
    (void)state;
    ga_draft *draft = ga_draft_create();
    ga_draft_add(draft, "parameters", NULL, GA_PROPERTIES(GA_NUMBER("m", 2)));
    ga_draft_add(draft, "bodies", "rod",
                 GA_PROPERTIES(GA_TEXT("mass", "m"), GA_NUMBERS("inertia", 1, 1, 1)));
    ga_model *model = NULL, *with = NULL;
    assert_int_equal(ga_draft_finish(draft, &model, NULL), GA_OK);
    const char *const set[] = {"parameters.m=5"};
    assert_int_equal(ga_model_with(model, 1, set, &with, NULL), GA_OK);
    assert_true(ga_model_body_mass(model, 0) == 2 && ga_model_body_mass(with, 0) == 5);
    ga_model_destroy(model);
    ga_model_destroy(with);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_inside_a_step),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_other_values),
        cmocka_unit_test(test_draft_with_other_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
