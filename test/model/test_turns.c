/* Hinges count their turns, though they do not look at each step: angles of motions that are
 * known, slow and fast, forth and back, with small steps and large ones. */
#include "element/joint.h"
#include "model/assembly.h"
#include "test/support/unit.h"

#include <galpha/lie.h>
#include <galpha/model.h>
#include <math.h>
#include <string.h>

static const char flat[] =
    "galpha: 1\ndimension: 2\nbodies: {a: {mass: 1, inertia: 1}, b: {mass: 1, inertia: 1}}\n"
    "joints: {hinge: {type: revolute, between: [a, b], at: [0, 0]}}\n";
static const char space[] =
    "galpha: 1\nbodies: {a: {mass: 1, inertia: [1, 1, 1]}, b: {mass: 1, inertia: [1, 1, 1]}}\n"
    "joints: {hinge: {type: revolute, between: [a, b], at: [0, 0, 0], axis: [0, 0, 1]}}\n";

/* The angle between the two at t, and its rate: steady; swinging over several turns; faster
 * and faster. */
static double steady(double t, double *rate)
{
    *rate = -40;
    return -40 * t;
}

static double swinging(double t, double *rate)
{
    *rate = 60 * cos(3 * t);
    return 20 * sin(3 * t);
}

static double starting(double t, double *rate)
{
    *rate = 3 * 4 * t * t;
    return 4 * t * t * t;
}

typedef double motion(double t, double *rate);

/* The first body turns, too, by itself. */
static void place(const ga_assembly *a, double first, double second, double w1, double w2,
                  double *q, double *v)
{
    const int nq = a->nq / 2, nv = a->nv / 2;
    const double angle[2] = {first, second}, rate[2] = {w1, w2};
    memset(q, 0, (size_t)a->nq * sizeof *q);
    memset(v, 0, (size_t)a->nv * sizeof *v);
    for (int k = 0; k < 2; ++k) {
        if (nv == 3) {
            q[nq * k + 2] = angle[k];
        } else {
            q[nq * k + 3] = cos(angle[k] / 2);
            q[nq * k + 6] = sin(angle[k] / 2);
        }
        v[nv * k + nv - 1] = rate[k];
    }
}

static void follow(const char *text, motion *of, double h, double t_end)
{
    ga_model *model = NULL;
    ga_assembly *a = NULL;
    ga_report report;
    assert_int_equal(ga_model_parse("m.yaml", text, strlen(text), NULL, &model, NULL), GA_OK);
    assert_int_equal(ga_assembly_create(model, false, &a, &report), GA_OK);
    const ga_element *hinge = model->elements[0];
    double q[14], v[12], rate, angle = of(0, &rate), lambda[5] = {0};
    place(a, 0, angle, 0.5, 0.5 + rate, q, v);
    ga_assembly_remember(a, 0, q, v);
    for (int k = 1; k * h <= t_end; ++k) {
        const double t = k * h;
        angle = of(t, &rate);
        place(a, 0.5 * t, 0.5 * t + angle, 0.5, 0.5 + rate, q, v);
        const ga_element_state state = ga_assembly_state(a, t, q, v, lambda, lambda);
        double seen; /* as within the step, and after it */
        ga_joint_channel_value0(hinge, &state, &seen);
        if (!(fabs(seen - angle) < 1e-10)) fail_msg("t = %g: %g, not %g", t, seen, angle);
        ga_assembly_commit(a, &state);
        ga_joint_channel_value0(hinge, &state, &seen);
        if (!(fabs(seen - angle) < 1e-10)) fail_msg("t = %g: %g, not %g", t, seen, angle);
    }
    ga_assembly_destroy(a);
    ga_model_destroy(model);
}

static void test_turns_are_counted(void **state)
{
    (void)state;
    static motion *const motions[] = {steady, swinging, starting};
    static const double steps[] = {1e-4, 1e-3, 7e-3, 2.5e-2};
    for (int m = 0; m < 3; ++m)
        for (int s = 0; s < 4; ++s) {
            follow(flat, motions[m], steps[s], 4);
            follow(space, motions[m], steps[s], 4);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_turns_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
