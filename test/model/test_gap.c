/* Gaps of joints: how far their sides are apart in a position that does not meet them. */
#include "test/support/unit.h"

#include <galpha/sim.h>
#include <math.h>
#include <string.h>

static void check_near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%.17g, should be %.17g within %g", got, want, tolerance);
}

typedef struct rig {
    ga_model *model;
    ga_sim *sim;
    ga_report report;
} rig;

static void set_up(rig *r, const char *text)
{
    ga_messages *messages = ga_messages_create();
    *r = (rig){0};
    if (ga_model_parse("m.yaml", text, strlen(text), NULL, &r->model, messages) != GA_OK) {
        char line[400] = "";
        ga_messages_format(messages, 0, line, sizeof line);
        fail_msg("%s", line);
    }
    ga_messages_destroy(messages);
    assert_int_equal(ga_sim_create(r->model, NULL, &r->sim, NULL, &r->report), GA_OK);
}

static void tear_down(rig *r)
{
    ga_sim_destroy(r->sim);
    ga_model_destroy(r->model);
}

#define BODY "mass: 1, inertia: [1, 1, 1]"

static void sides_apart(void **unused)
{
    (void)unused;
    rig r;
    set_up(&r, "galpha: 1\nbodies:\n"
               "  a: {" BODY ", position: [1, 0, 0], points: {p: [1, 0, 0]}}\n"
               "  b: {" BODY ", position: [5, 0.3, 0.4], points: {p: [-3, 0, 0]}}\n"
               "joints:\n"
               "  root: {type: spherical, between: [ground, a], at: [0, 0, 0]}\n"
               "  ball: {type: spherical, between: [a.p, b.p]}\n");
    assert_int_equal(ga_sim_look(r.sim, GA_POSE_GIVEN, &r.report), GA_OK);
    const ga_gap gap = ga_sim_get_gap(r.sim, 0);
    assert_string_equal(gap.element, "ball");
    assert_string_equal(gap.type, "spherical");
    check_near(gap.distance, 0.5, 1e-14);
    check_near(gap.angle, 0, 1e-14);
    check_near(gap.residual, 0.4, 1e-14);
    assert_null(ga_sim_get_gap(r.sim, 1).element);
    char *scene = ga_sim_scene(r.sim);
    assert_non_null(
        strstr(scene, "\"gaps\":[{\"element\":\"ball\",\"row\":\"translation along z\""));
    ga_text_free(scene);
    /* assembly closes it */
    assert_int_equal(ga_sim_start(r.sim, &r.report), GA_OK);
    assert_int_equal(ga_sim_look(r.sim, GA_POSE_REACHED, &r.report), GA_OK);
    assert_null(ga_sim_get_gap(r.sim, 0).element);
    scene = ga_sim_scene(r.sim);
    assert_null(strstr(scene, "gaps"));
    ga_text_free(scene);
    tear_down(&r);
}

/* What cannot be assembled can still be looked at, the largest gap first. */
static void a_start_that_fails(void **unused)
{
    (void)unused;
    rig r;
    set_up(&r, "galpha: 1\ndimension: 2\nbodies:\n"
               "  a: {mass: 1, inertia: 1, position: [1, 0], points: {l: [-1, 0], r: [1, 0]}}\n"
               "  b: {mass: 1, inertia: 1, position: [5, 0], points: {l: [-1, 0], r: [1, 0]}}\n"
               "joints:\n"
               "  left: {type: revolute, between: [[0, 0], a.l]}\n"
               "  middle: {type: revolute, between: [a.r, b.l]}\n"
               "  right: {type: revolute, between: [[7, 0], b.r]}\n");
    assert_int_not_equal(ga_sim_start(r.sim, &r.report), GA_OK);
    assert_int_equal(ga_sim_look(r.sim, GA_POSE_GIVEN, &r.report), GA_OK);
    assert_string_equal(ga_sim_get_gap(r.sim, 0).element, "middle");
    check_near(ga_sim_get_gap(r.sim, 0).distance, 2, 1e-14);
    assert_string_equal(ga_sim_get_gap(r.sim, 1).element, "right");
    check_near(ga_sim_get_gap(r.sim, 1).distance, 1, 1e-14);
    assert_null(ga_sim_get_gap(r.sim, 2).element);
    assert_null(ga_sim_get_gap(r.sim, -1).element);
    /* channels are those of the file */
    assert_string_equal(ga_sim_get_channel(r.sim, 0).name, "a.position");
    check_near(ga_sim_values(r.sim)[0], 1, 0);
    tear_down(&r);
}

/* A drive that starts elsewhere than the joint stands is off, without sides to be apart. */
static void motions(void **unused)
{
    (void)unused;
    rig r;
    set_up(&r, "galpha: 1\ndimension: 2\nbodies:\n"
               "  a: {mass: 1, inertia: 1, position: [1, 0]}\n"
               "joints: {hinge: {type: revolute, between: [ground, a], at: [0, 0]}}\n"
               "motions: {motor: {joint: hinge, value: 0.25 + t}}\n");
    assert_int_equal(ga_sim_look(r.sim, GA_POSE_GIVEN, &r.report), GA_OK);
    const ga_gap gap = ga_sim_get_gap(r.sim, 0);
    assert_string_equal(gap.element, "motor");
    check_near(gap.residual, 0.25, 1e-14);
    check_near(gap.distance, 0, 0);
    assert_null(ga_sim_get_gap(r.sim, 1).element);
    tear_down(&r);
}

/* A gap counts against the size of the model, not against a metre. */
static void small_models(void **unused)
{
    (void)unused;
    rig r;
    set_up(&r, "galpha: 1\nbodies:\n"
               "  a: {" BODY ", position: [1e-6, 0, 0], points: {p: [1e-6, 0, 0]}}\n"
               "joints:\n"
               "  pin: {type: spherical, between: [[2e-6, 1e-9, 0], a.p]}\n");
    assert_int_equal(ga_sim_look(r.sim, GA_POSE_GIVEN, &r.report), GA_OK);
    assert_non_null(ga_sim_get_gap(r.sim, 0).element);
    check_near(ga_sim_get_gap(r.sim, 0).distance, 1e-9, 1e-20);
    tear_down(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sides_apart),
        cmocka_unit_test(a_start_that_fails),
        cmocka_unit_test(motions),
        cmocka_unit_test(small_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
