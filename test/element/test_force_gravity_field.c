/* Gravity field: uniform, uniform and changing, central. */
#include "force_checks.h"

static void *field_on(world *w, int node)
{
    void *e = element_create(w, &ga_force_gravity_field);
    *(int *)((char *)e + ga_force_gravity_field.body_at) = node;
    return e;
}

static void test_uniform(void **state)
{
    (void)state;
    static const char *const still[3] = {"1", "-2", "-9.81"};
    static const char *const swaying[3] = {"sin(t)", "-2", "t"};
    for (int k = 0; k < 2; ++k) {
        world *w = world_create(3, 3);
        void *e = field_on(w, 1);
        set_functions(w, e, "acceleration", 3, k ? swaying : still, NULL);
        element_start(w, e);
        world_move(w, 0.5);
        check_tangent(w, e);
        check_power(w, e);
        double channel[3];
        ga_force_gravity_field.channels[0].value(e, &w->state, channel);
        check_near(channel[1], -2 * w->mass[1], 1e-14);
        check_near(channel[0], (k ? sin(0.3) : 1) * w->mass[1], 1e-14);
        assert_true((ga_force_gravity_field.power(e, &w->state) != 0) == k);
        free_functions(w, e, "acceleration", 3);
        world_destroy(w);
    }
}

static void test_central(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5; ++seed) {
        world *w = world_create(seed, 3);
        void *e = field_on(w, 2);
        set_vector(w, e, "center", 3, -2, 4);
        set_number(w, e, "strength", 7);
        element_start(w, e);
        world_move(w, 0.5);
        check_tangent(w, e);
        check_power(w, e);
        w->all[3].x[0] = 3;
        w->all[3].x[1] = -2;
        w->all[3].x[2] = 2; /* two below the center */
        double channel[3];
        ga_force_gravity_field.channels[0].value(e, &w->state, channel);
        check_near(channel[2], 7 * w->mass[2] / 4, 1e-14);
        check_near(ga_force_gravity_field.potential(e, &w->state), -7 * w->mass[2] / 2, 1e-14);
        world_destroy(w);
    }
}

static void test_messages(void **state)
{
    (void)state;
    static const char *const g[3] = {"0", "0", "-1"};
    world *w = world_create(1, 3);
    void *e = field_on(w, 0);
    check_message(w, e, GA_SEVERITY_ERROR, "acceleration: is missing");
    set_number(w, e, "strength", 7);
    check_message(w, e, GA_SEVERITY_ERROR, "center: is missing");
    set_functions(w, e, "acceleration", 3, g, NULL);
    check_message(w, e, GA_SEVERITY_ERROR, "cannot be combined with `center` and `strength`");
    free_functions(w, e, "acceleration", 3);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),
        cmocka_unit_test(test_central),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
