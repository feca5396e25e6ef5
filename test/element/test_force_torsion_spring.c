/* Torsion spring: about an axis kept and not kept; turns; values by hand. */
#include "force_checks.h"

static void *torsion_between(world *w, int a, int b)
{
    void *e = element_create(w, &ga_force_torsion_spring);
    set_between(w, e, whole(a), whole(b));
    set_vector(w, e, "axis", 0.6, 0, -0.8);
    set_number(w, e, "stiffness", 30);
    set_number(w, e, "damping", 4);
    set_number(w, e, "angle", 0.2);
    set_number(w, e, "preload", 3);
    return e;
}

static void test_internal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; ++seed) {
        world *w = world_create(seed, 3);
        void *e = torsion_between(w, seed % 2 ? 0 : GA_GROUND, 2);
        element_start(w, e);
        world_move(w, 0.6);
        check_internal(w, e);
        world_destroy(w);
    }
}

/* About its axis the torque is the plain one, through many turns. */
static void test_turns(void **state)
{
    (void)state;
    world *w = world_create(2, 3);
    void *e = torsion_between(w, GA_GROUND, 1);
    double local[3], axis[3] = {0.6, 0, -0.8};
    element_start(w, e);
    ga_setup_local_direction(&w->setup, 1, axis, local);
    for (int k = -30; k <= 30; k += 1) {
        if (k == -30) { /* backwards first */
            memset(w->memory, 0, sizeof w->memory);
            w->memory[0] = -30 * 1.1;
            w->memory[2] = 0.1 * k;
        }
        double turn[3], angle = 1.1 * k;
        for (int i = 0; i < 3; ++i) turn[i] = angle * local[i];
        memcpy(w->all, w->start, sizeof w->all);
        turn_frame(&w->all[2], turn);
        for (int i = 0; i < 3; ++i) w->all[2].w[i] = 11 * local[i];
        w->state.t = 0.1 * k;
        double f[MAX_SIZE], tau = 3 + 30 * (angle - 0.2) + 4 * 11, channel[3];
        force_of(w, e, f);
        for (int i = 0; i < 3; ++i) {
            check_near(f[i], 0, 0);
            check_near(f[9 + i], -tau * local[i], 1e-10);
            check_near(f[3 + i], tau * axis[i], 1e-10);
            ga_force_torsion_spring.channels[i].value(e, &w->state, &channel[i]);
        }
        check_near(channel[0], tau, 1e-10);
        check_near(channel[1], angle, 1e-12);
        check_near(channel[2], 11, 1e-12);
        ga_force_torsion_spring.commit(e, &w->state, w->memory);
    }
    world_destroy(w);
}

static void test_planar(void **state)
{
    (void)state;
    world *w = world_create(2, 2);
    for (int k = 1; k <= BODIES; ++k) w->start[k] = frame_at_rest();
    void *e = element_create(w, &ga_force_torsion_spring);
    set_between(w, e, whole(0), whole(1));
    set_number(w, e, "stiffness", 30);
    element_start(w, e);
    memcpy(w->all, w->start, sizeof w->all);
    const double turn[3] = {0, 0, 0.4};
    turn_frame(&w->all[2], turn);
    double f[MAX_SIZE];
    force_of(w, e, f);
    check_near(f[5], 12, 1e-13);
    check_near(f[11], -12, 1e-13);
    world_destroy(w);
}

static void test_messages(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    check_message(w, torsion_between(w, 1, 1), GA_SEVERITY_ERROR, "same body");
    void *e = torsion_between(w, 1, 2);
    set_number(w, e, "damping", -1);
    check_message(w, e, GA_SEVERITY_ERROR, "damping: is negative");
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_internal),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
