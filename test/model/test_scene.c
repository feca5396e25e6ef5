/* The scene: numbers of a model that can be told without computing; every type of element is in
 * it; memory. What it says of the examples is checked by test/cli/test_view.py. */
#include "base/json.h"
#include "model/model.h"
#include "test/support/allocations.h"
#include "test/support/unit.h"

#include <galpha/model.h>
#include <stdio.h>

static char *scene_of(const char *text)
{
    ga_messages *messages = ga_messages_create();
    ga_model *model = NULL;
    const ga_status status =
        ga_model_parse("m.yaml", text, strlen(text), NULL, &model, messages);
    if (status != GA_OK) {
        char line[400] = "";
        if (ga_messages_count(messages)) ga_messages_format(messages, 0, line, sizeof line);
        fail_msg("%s\n%s", line, text);
    }
    ga_messages_destroy(messages);
    char *scene = ga_model_scene(model);
    ga_model_destroy(model);
    assert_non_null(scene);
    ga_buffer copy = {0};
    assert_true(ga_json_copy(&copy, scene, strlen(scene))); /* it is JSON ... */
    assert_string_equal(copy.text, scene);                  /* ... and needs no more escapes */
    ga_buffer_free(&copy);
    return scene;
}

static void check_has(const char *text, const char *const *expected)
{
    char *scene = scene_of(text);
    for (; *expected; ++expected)
        if (!strstr(scene, *expected)) fail_msg("no %s in\n%s", *expected, scene);
    ga_text_free(scene);
}

static void a_whole_scene(void **unused)
{
    (void)unused;
    char *scene = scene_of("galpha: 1\nname: two\ngravity: [0, 0, -10]\n"
                           "bodies: {a: {type: point-mass, mass: 2, position: [1, 2, 3]}}\n");
    assert_string_equal(scene,
                        "{\"format\":1,\"name\":\"two\",\"dimension\":3,\"gravity\":[0,0,-10],"
                        "\"bodies\":[{\"name\":\"a\",\"kind\":\"point-mass\",\"mass\":2,"
                        "\"inertia\":[0,0,0,0,0,0],\"position\":[1,2,3],\"rotation\":[1,0,0,0],"
                        "\"points\":[],\"shapes\":[]}],\"meshes\":[],"
                        "\"joints\":[],\"motions\":[],\"forces\":[],\"groups\":[]}");
    ga_text_free(scene);
}

static void bodies_and_shapes(void **unused)
{
    (void)unused;
    check_has(
        "galpha: 1\nbodies:\n  \"<b>\": {mass: 1, inertia: [3, 4, 5, 0.1, 0.2, 0.3],"
        " points: {tip: [0, 0, 1]}, shape: [{box: [1, 2, 3], position: [4, 5, 6]},"
        " {cylinder: {radius: 1, length: 2, axis: [0, 3, 0]}, color: red},"
        " {capsule: {radius: 0.5, length: 2}, rotation: {quaternion: [0, 1, 0, 0]}},"
        " {sphere: 0.25, color: \"#ABCdef\"}]}\n",
        (const char *const[]){
            "\"name\":\"\\u003cb\\u003e\",\"kind\":\"rigid\"",
            "\"inertia\":[3,4,5,0.1,0.2,0.3]",
            "\"points\":[{\"name\":\"tip\",\"position\":[0,0,1]}]",
            "{\"type\":\"box\",\"size\":[1,2,3],\"position\":[4,5,6],\"rotation\":[1,0,0,0]}",
            "{\"type\":\"cylinder\",\"radius\":1,\"length\":2,\"axis\":[0,1,0],"
            "\"position\":[0,0,0],\"rotation\":[1,0,0,0],\"color\":\"#d03030\"}",
            "{\"type\":\"capsule\",\"radius\":0.5,\"length\":2,\"axis\":[0,0,1],"
            "\"position\":[0,0,0],\"rotation\":[0,1,0,0]}",
            "{\"type\":\"sphere\",\"radius\":0.25,\"position\":[0,0,0],"
            "\"rotation\":[1,0,0,0],\"color\":\"#ABCdef\"}",
            NULL});
}

/* 36 bytes: (0, 0, 0), (1, 0, 0), (0, 1, 0); 1 is 00 00 80 3f. */
static void meshes(void **unused)
{
    (void)unused;
    char path[64], text[300];
    snprintf(path, sizeof path, "/tmp/galpha_scene_%p.obj", (void *)&path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", file);
    fclose(file);
    snprintf(text, sizeof text,
             "galpha: 1\nbodies: {a: {type: point-mass, mass: 2, shape: [{mesh: %s, scale: 2},"
             " {mesh: %s}]}}\n",
             path, path);
    check_has(text,
              (const char *const[]){
                  "\"shapes\":[{\"type\":\"mesh\",\"mesh\":0,\"scale\":2,",
                  "{\"type\":\"mesh\",\"mesh\":0,\"scale\":1,",
                  "\"meshes\":[\"AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"],", NULL});
    remove(path);
}

static void elements(void **unused)
{
    (void)unused;
    check_has(
        "galpha: 1\ngravity: [0, 0, -10]\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1], position: [1, 0, 0], points: {p: [0, 0, 1]}}\n"
        "  b: {mass: 1, inertia: [1, 1, 1], position: [3, 0, 0]}\n"
        "  wheel: {mass: 1, inertia: [1, 1, 2], position: [0, 9, 0.5],"
        " rotation: {axis: [1, 0, 0], angle: 90 deg}}\n"
        "joints:\n"
        "  hinge: {type: revolute, between: [ground, a], at: [0, 0, 0], axis: [0, 0, 1],"
        " damping: 0.5}\n"
        "  thread: {type: screw, between: [a, b], at: [2, 0, 0], axis: [0, 0, 1], pitch: 0.1}\n"
        "  roll: {type: rolling-disc, between: [ground, wheel], radius: 0.5}\n"
        "motions:\n  drive: {joint: hinge, value: t}\n"
        "forces:\n"
        "  spring: {type: spring-damper, between: [[0, 0, 5], a.p], stiffness: 7, length: 2}\n"
        "  push: {type: force, on: a.p, force: [0, 0, 1]}\n"
        "  pair: {type: torque, on: a, torque: [0, 0, 1], against: b}\n"
        "  field: {type: gravity-field, acceleration: [0, 0, 1], bodies: [b]}\n",
        (const char *const[]){
            "{\"name\":\"hinge\",\"type\":\"revolute\","
            "\"a\":{\"body\":-1,\"position\":[0,0,0],\"rotation\":[1,0,0,0]},"
            "\"b\":{\"body\":0,\"position\":[-1,0,0],\"rotation\":[1,0,0,0]},\"damping\":0.5}",
            "\"a\":{\"body\":0,\"position\":[1,0,0],\"rotation\":[1,0,0,0]},"
            "\"b\":{\"body\":1,\"position\":[-1,0,0],\"rotation\":[1,0,0,0]},\"pitch\":0.1}",
            "\"radius\":0.5,\"plane\":{\"point\":[0,0,0],\"normal\":[0,0,1]}}",
            "\"motions\":[{\"name\":\"drive\",\"type\":\"motion\",\"joint\":\"hinge\"}]",
            "{\"name\":\"spring\",\"type\":\"spring-damper\",\"a\":{\"body\":-1,"
            "\"position\":[0,0,5]},\"b\":{\"body\":0,\"position\":[0,0,1]},\"stiffness\":7,"
            "\"length\":2",
            "{\"name\":\"push\",\"type\":\"force\",\"a\":{\"body\":0,\"position\":[0,0,1]}}",
            "{\"name\":\"pair\",\"type\":\"torque\",\"a\":{\"body\":0,\"position\":[0,0,0]},"
            "\"b\":{\"body\":1,\"position\":[0,0,0]}}",
            "{\"name\":\"field\",\"type\":\"gravity-field\",\"bodies\":[1]}", NULL});
}

static void planar_models(void **unused)
{
    (void)unused;
    check_has("galpha: 1\ndimension: 2\ngravity: [0, -10]\nbodies:\n"
              "  a: {mass: 1, inertia: 2, position: [1, 5], rotation: 180 deg,"
              " shape: {box: [1, 2, 3], position: [4, 5]}}\n"
              "joints: {slide: {type: prismatic, between: [ground, a], axis: [0, 1]}}\n",
              (const char *const[]){"\"dimension\":2,\"gravity\":[0,-10,0]",
                                    "\"inertia\":[0,0,2,0,0,0]",
                                    "\"position\":[1,5,0],\"rotation\":[6.1",
                                    "\"size\":[1,2,3],\"position\":[4,5,0]", NULL});
}

/* Each type by its example: one with two markers has two places. */
static void every_type(void **unused)
{
    (void)unused;
    static const char bodies[] =
        "galpha: 1\nbodies:\n"
        "  a: {mass: 1, inertia: [1, 1, 1], position: [0, 0, 1], points: {p: [1, 0, 0]}}\n"
        "  b: {mass: 1, inertia: [1, 1, 1], position: [3, 1, 0], points: {p: [1, 1, 0]}}\n"
        "  c: {mass: 1, inertia: [1, 1, 1], position: [5, 0, 2], points: {p: [1, 2, 0]}}\n"
        "  d: {mass: 1, inertia: [1, 1, 1], position: [7, 3, 0], points: {p: [1, 3, 0]}}\n";
    static const char joints[] = "joints:\n"
                                 "  hinge: {type: revolute, between: [b, a]}\n"
                                 "  wheel: {type: revolute, between: [b, c]}\n"
                                 "  slider: {type: prismatic, between: [b, d]}\n";
    const ga_element_type *type;
    for (int k = 0; (type = ga_element_type_get(k)); ++k) {
        if (!type->section || strcmp(type->name, "plugin") == 0) continue;
        const bool is_joint = strcmp(type->section, "joints") == 0;
        char text[2000], start[100];
        if (is_joint)
            snprintf(text, sizeof text, "%s%s  it: %s\n", bodies, joints, type->example);
        else
            snprintf(text, sizeof text, "%s%s%s:\n  it: %s\n", bodies, joints, type->section,
                     type->example);
        char *scene = scene_of(text);
        snprintf(start, sizeof start, "{\"name\":\"it\",\"type\":\"%s\"%s", type->name,
                 type->is_joint ? ",\"a\":{\"body\":" : "");
        if (!strstr(scene, start)) fail_msg("no %s in\n%s", start, scene);
        ga_text_free(scene);
    }
}

static void every_allocation_may_fail(void **unused)
{
    (void)unused;
    if (!in_front()) skip();
    static const char text[] =
        "galpha: 1\nbodies: {a: {type: point-mass, mass: 2, shape: {mesh: " GALPHA_SOURCE_DIR
        "/test/models/good/parts/box.obj}}}\n";
    for (long k = 1;; ++k) {
        ga_model *model = NULL;
        start_counting(k, false);
        watch.own_only = true;
        const ga_status status =
            ga_model_parse("m.yaml", text, sizeof text - 1, NULL, &model, NULL);
        char *scene = model ? ga_model_scene(model) : NULL;
        ga_text_free(scene);
        ga_model_destroy(model);
        stop_counting();
        const bool failed = watch.failed > 0;
        assert_true(status == GA_OK || (failed && status == GA_ERR_MEMORY));
        assert_int_equal(scene == NULL, failed);
        assert_int_equal(watch.live, 0);
        if (!failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_scene),
        cmocka_unit_test(bodies_and_shapes),
        cmocka_unit_test(meshes),
        cmocka_unit_test(elements),
        cmocka_unit_test(planar_models),
        cmocka_unit_test(every_type),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
