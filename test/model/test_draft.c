/* Drafts: a model made by a program is the one read from a file, and its mistakes are found. */
#include "model/model.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

static const char pendulum_file[] =
    "galpha: 1\n"
    "name: pendulum\n"
    "gravity: [0, 0, -9.81]\n"
    "parameters: {L: 0.3, stiff: 10*L}\n"
    "bodies:\n"
    "  rod: {mass: 0.1, inertia: [0.3, 0.3, 0.01], position: [0, 0, -0.3],\n"
    "        rotation: {axis: [0, 1, 0], angle: 30 deg}, points: {tip: [0, 0, -0.3]}}\n"
    "joints:\n"
    "  hinge: {type: revolute, between: [ground, rod], at: [0, 0, 0], axis: [0, 1, 0],\n"
    "          friction: {coefficient: 0.1, radius: 0.01}}\n"
    "forces:\n"
    "  wire: {type: spring-damper, between: [[0, 0, 1], rod.tip], stiffness: stiff, length: "
    "1}\n"
    "  push: {type: force, on: rod.tip, force: [{table: [[0, 0], [1, 2]]}, sin(t), 0]}\n"
    "simulate: {t_end: 1, step: 0.01}\n";

/* 0.1 + 0.2 needs all 17 digits. */
static ga_draft *draft_pendulum(void)
{
    ga_draft *draft = ga_draft_create();
    ga_draft_set(draft, &(const ga_property)GA_TEXT("name", "pendulum"));
    ga_draft_set(draft, &(const ga_property)GA_NUMBERS("gravity", 0, 0, -9.81));
    ga_draft_add(draft, "parameters", NULL, GA_PROPERTIES(GA_NUMBER("L", 0.3)));
    ga_draft_add(draft, "parameters", NULL, GA_PROPERTIES(GA_TEXT("stiff", "10*L")));
    ga_draft_add(draft, "bodies", "rod",
                 GA_PROPERTIES(GA_NUMBER("mass", 0.1), GA_NUMBERS("inertia", 0.3, 0.3, 0.01),
                               GA_NUMBERS("position", 0, 0, -0.3),
                               GA_GROUP("rotation", GA_NUMBERS("axis", 0, 1, 0),
                                        GA_TEXT("angle", "30 deg")),
                               GA_GROUP("points", GA_NUMBERS("tip", 0, 0, -0.3))));
    ga_draft_add(draft, "joints", "hinge",
                 GA_PROPERTIES(GA_TEXT("type", "revolute"),
                               GA_TEXTS("between", "ground", "rod"), GA_NUMBERS("at", 0, 0, 0),
                               GA_NUMBERS("axis", 0, 1, 0),
                               GA_GROUP("friction", GA_NUMBER("coefficient", 0.1),
                                        GA_NUMBER("radius", 0.01))));
    ga_draft_add(draft, "forces", "wire",
                 GA_PROPERTIES(GA_TEXT("type", "spring-damper"),
                               GA_TEXTS("between", "[0, 0, 1]", "rod.tip"),
                               GA_TEXT("stiffness", "stiff"), GA_NUMBER("length", 1)));
    ga_draft_add(draft, "forces", "push",
                 GA_PROPERTIES(GA_TEXT("type", "force"), GA_TEXT("on", "rod.tip"),
                               GA_TEXTS("force", "{table: [[0, 0], [1, 2]]}", "sin(t)", "0")));
    ga_draft_add(draft, "simulate", NULL,
                 GA_PROPERTIES(GA_NUMBER("t_end", 1), GA_NUMBER("step", 0.01)));
    return draft;
}

static void print_messages(const ga_messages *messages)
{
    char line[300];
    for (int k = 0; k < ga_messages_count(messages); ++k) {
        ga_messages_format(messages, k, line, sizeof line);
        print_message("%s\n", line);
    }
}

/* Elements hold pointers; what they compute tells them apart. */
static void check_same_forces(const ga_model *one, const ga_model *two)
{
    for (int e = 0; e < one->element_count; ++e) {
        const ga_element *a = one->elements[e], *b = two->elements[e];
        double f[2][GA_TWIST * GA_ELEMENT_MAX_NODES] = {{0}};
        double memory[64] = {0}, lambda[64] = {0};
        assert_ptr_equal(a->type, b->type);
        assert_string_equal(a->name, b->name);
        assert_int_equal(a->rows, b->rows);
        assert_int_equal(a->node_count, b->node_count);
        if (!a->type->force || a->host) continue;
        ga_element_state state = {0.25, one->frames, lambda, lambda, memory, 0, NULL, NULL};
        a->type->force(a, &state, f[0]);
        state.frames = two->frames;
        b->type->force(b, &state, f[1]);
        assert_memory_equal(f[0], f[1], sizeof f[0]);
    }
}

static void a_draft_is_what_a_file_is(void **unused)
{
    (void)unused;
    ga_messages *messages = ga_messages_create();
    ga_model *read = NULL, *made = NULL;
    if (ga_model_parse("pendulum.yaml", pendulum_file, strlen(pendulum_file), NULL, &read,
                       messages) ||
        ga_draft_finish(draft_pendulum(), &made, messages)) {
        print_messages(messages);
        fail();
    }
    assert_int_equal(ga_messages_count(messages), 0);
    assert_string_equal(ga_model_name(made), "pendulum");
    assert_string_equal(ga_model_text(made), "");
    assert_int_equal(ga_model_dimension(made), 3);
    assert_int_equal(ga_model_body_count(made), 1);
    assert_string_equal(ga_model_body_name(made, 0), "rod");
    assert_int_equal(read->element_count, made->element_count);
    assert_int_equal(read->rows, made->rows);
    assert_memory_equal(read->frames - 1, made->frames - 1, 2 * sizeof(ga_frame));
    assert_memory_equal(read->gravity, made->gravity, sizeof read->gravity);
    assert_memory_equal(read->bodies[0].inertia, made->bodies[0].inertia,
                        sizeof read->bodies[0].inertia);
    assert_true(read->settings.simulate.step == made->settings.simulate.step);
    check_same_forces(read, made);
    ga_model_destroy(read);
    ga_model_destroy(made);
    ga_messages_destroy(messages);
}

/* --- numbers ------------------------------------------------------------------------------ */

static ga_model *make_body(double mass, ga_messages *messages, ga_status expected)
{
    ga_draft *draft = ga_draft_create();
    ga_model *model = NULL;
    ga_draft_add(draft, "bodies", "a",
                 GA_PROPERTIES(GA_TEXT("type", "point-mass"), GA_NUMBER("mass", mass)));
    assert_int_equal(ga_draft_finish(draft, &model, messages), expected);
    return model;
}

static void numbers_are_exact(void **unused)
{
    (void)unused;
    const double masses[] = {0.1,
                             0.1 + 0.2,
                             1.0 / 3,
                             4.9406564584124654e-324,
                             1.7976931348623157e308,
                             9007199254740993.0,
                             1e22,
                             123456.789};
    const char *before = setlocale(LC_NUMERIC, NULL);
    char old[80];
    snprintf(old, sizeof old, "%s", before);
    for (int pass = 0; pass < 2; ++pass) {
        /* with a decimal comma, if there is such a locale here */
        if (pass == 1 && !setlocale(LC_NUMERIC, "de_DE.UTF-8")) break;
        for (size_t k = 0; k < sizeof masses / sizeof *masses; ++k) {
            ga_model *model = make_body(masses[k], NULL, GA_OK);
            assert_true(model->bodies[0].mass == masses[k]);
            ga_model_destroy(model);
        }
    }
    setlocale(LC_NUMERIC, old);
}

/* --- mistakes ----------------------------------------------------------------------------- */

/* The first message is this line, and nothing was made. */
static void check_message(ga_draft *draft, const char *expected)
{
    ga_messages *messages = ga_messages_create();
    ga_model *model = NULL;
    char line[300] = "";
    assert_int_equal(ga_draft_finish(draft, &model, messages), GA_ERR_INPUT);
    assert_null(model);
    assert_int_equal(ga_messages_count(messages), 1);
    ga_messages_format(messages, 0, line, sizeof line);
    assert_string_equal(line, expected);
    ga_messages_destroy(messages);
}

static ga_draft *with_body(void)
{
    ga_draft *draft = ga_draft_create();
    assert_non_null(draft);
    assert_int_equal(
        ga_draft_add(draft, "bodies", "rod",
                     GA_PROPERTIES(GA_NUMBER("mass", 2), GA_NUMBERS("inertia", 1, 1, 0.1))),
        GA_OK);
    return draft;
}

static void mistakes_are_found(void **unused)
{
    (void)unused;
    ga_draft *draft = with_body();
    ga_draft_add(draft, "bodies", "rod", GA_PROPERTIES(GA_NUMBER("mass", 1)));
    check_message(draft, "bodies: `rod` is given twice");

    draft = with_body();
    ga_draft_add(draft, "joints", "rod",
                 GA_PROPERTIES(GA_TEXT("type", "fixed"), GA_TEXTS("between", "ground", "rod")));
    check_message(
        draft, "joints.rod: the name `rod` is already used; names must be unique in a model");

    draft = with_body();
    ga_draft_add(draft, "simulate", NULL, GA_PROPERTIES(GA_NUMBER("t_end", 1)));
    ga_draft_add(draft, "simulate", NULL, GA_PROPERTIES(GA_NUMBER("t_end", 2)));
    check_message(draft, "simulate: `t_end` is given twice");

    draft = with_body();
    ga_draft_add(draft, "bodies", "arm",
                 GA_PROPERTIES(GA_NUMBER("mass", 1), GA_NUMBERS("inertia", 1, 1, 1),
                               GA_NUMBERS("position", 1, 2)));
    check_message(draft, "bodies.arm.position: expected 3 numbers, got a list of 2");

    draft = with_body();
    ga_draft_set(draft, &(const ga_property)GA_NUMBERS("gravty", 0, 0, -1));
    check_message(draft, "gravty: unknown key `gravty`, did you mean `gravity`?");

    draft = with_body();
    ga_draft_add(draft, "parameters", NULL, GA_PROPERTIES(GA_TEXT("a", "b")));
    check_message(draft,
                  "parameters.a: `b` is neither a number nor an expression: unknown name "
                  "'b'");
}

static void texts_may_be_wrong(void **unused)
{
    (void)unused;
    ga_messages *messages = ga_messages_create();
    ga_draft *draft = with_body();
    ga_model *model = NULL;
    ga_draft_add(draft, "forces", "push",
                 GA_PROPERTIES(GA_TEXT("type", "force"), GA_TEXT("on", "rod"),
                               GA_TEXT("force", "[1, 2")));
    assert_int_equal(ga_draft_finish(draft, &model, messages), GA_ERR_INPUT);
    assert_true(ga_messages_count(messages) > 0);
    const ga_message first = ga_messages_get(messages, 0);
    assert_null(first.file);
    assert_memory_equal(first.path, "forces.push.force", 17);
    ga_messages_destroy(messages);
}

static void numbers_must_be_finite(void **unused)
{
    (void)unused;
    const double masses[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; ++k) assert_null(make_body(masses[k], NULL, GA_ERR_INPUT));
}

static void a_draft_may_be_missing(void **unused)
{
    (void)unused;
    ga_model *model = NULL;
    assert_int_equal(ga_draft_add(NULL, "bodies", "a", NULL), GA_ERR_MEMORY);
    assert_int_equal(ga_draft_finish(NULL, &model, NULL), GA_ERR_MEMORY);
    ga_draft_destroy(NULL);

    ga_draft *draft = with_body();
    assert_int_equal(ga_draft_add(draft, NULL, "a", NULL), GA_ERR_ARGUMENT);
    assert_int_equal(ga_draft_set(draft, NULL), GA_ERR_ARGUMENT);
    ga_draft_destroy(draft);

    ga_messages *messages = ga_messages_create();
    assert_int_equal(ga_draft_finish(ga_draft_create(), &model, messages), GA_ERR_INPUT);
    assert_int_equal(ga_messages_count(messages), 1);
    ga_messages_destroy(messages);
}

/* --- size and memory ---------------------------------------------------------------------- */

static double seconds_for(int n)
{
    struct timespec from, to;
    char name[16], before[16] = "ground", point[24];
    ga_draft *draft = ga_draft_create();
    ga_model *model = NULL;
    timespec_get(&from, TIME_UTC);
    for (int k = 0; k < n; ++k) {
        snprintf(name, sizeof name, "b%d", k);
        ga_draft_add(draft, "bodies", name,
                     GA_PROPERTIES(GA_NUMBER("mass", 1 + 0.1 * k),
                                   GA_NUMBERS("inertia", 1, 1, 1),
                                   GA_NUMBERS("position", 0.1 * k, 0, 0)));
        snprintf(point, sizeof point, "j%d", k);
        ga_draft_add(draft, "joints", point,
                     GA_PROPERTIES(GA_TEXT("type", "spherical"),
                                   GA_TEXTS("between", before, name),
                                   GA_NUMBERS("at", 0.1 * k, 0, 0)));
        memcpy(before, name, sizeof name);
    }
    assert_int_equal(ga_draft_finish(draft, &model, NULL), GA_OK);
    timespec_get(&to, TIME_UTC);
    assert_int_equal(ga_model_body_count(model), n);
    ga_model_destroy(model);
    return (double)(to.tv_sec - from.tv_sec) + 1e-9 * (double)(to.tv_nsec - from.tv_nsec);
}

/* Ten times as many take about ten times as long; quadratic growth would be a hundred. */
static void time_is_linear(void **unused)
{
    (void)unused;
    const double small = seconds_for(5000), large = seconds_for(50000);
    print_message("5000 bodies and joints: %.3f s, 50000: %.3f s\n", small, large);
    assert_true(large < 40 * small + 1);
}

/* Ours; libfyaml does not survive the failure of its own. */
static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    if (!in_front()) skip();
    for (long k = 1;; ++k) {
        ga_model *model = NULL;
        start_counting(k, false);
        watch.own_only = true;
        const ga_status status = ga_draft_finish(draft_pendulum(), &model, NULL);
        stop_counting();
        const bool failed = watch.failed > 0;
        if (failed && status != GA_ERR_MEMORY) fail_msg("%ld: %s", k, ga_status_name(status));
        if (failed) assert_null(model);
        if (!failed) assert_int_equal(status, GA_OK);
        ga_model_destroy(model);
        if (!failed) break;
        assert_int_equal(watch.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_draft_is_what_a_file_is),
        cmocka_unit_test(numbers_are_exact),
        cmocka_unit_test(mistakes_are_found),
        cmocka_unit_test(texts_may_be_wrong),
        cmocka_unit_test(numbers_must_be_finite),
        cmocka_unit_test(a_draft_may_be_missing),
        cmocka_unit_test(time_is_linear),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
