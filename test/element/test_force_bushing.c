/* Bushing: the checks of every force at large displacements and rotations; values by hand. */
#include "force_checks.h"

/* A full matrix that is symmetric and positive definite. */
static void random_matrix(world *w, double *M)
{
    double L[36];
    for (int k = 0; k < 36; ++k) L[k] = uniform(w);
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j) {
            double sum = i == j ? 1 : 0;
            for (int k = 0; k < 6; ++k) sum += L[6 * i + k] * L[6 * j + k];
            M[6 * i + j] = sum;
        }
}

static void *bushing_between(world *w, ga_anchor a, ga_anchor b)
{
    void *e = element_create(w, &ga_force_bushing);
    set_between(w, e, a, b);
    random_matrix(w, member(w, e, "stiffness"));
    random_matrix(w, member(w, e, "damping"));
    double *rotation = member(w, e, "rotation");
    const double unit[4] = {0.5, -0.1, 0.7, 0.5};
    memcpy(rotation, unit, sizeof unit);
    return e;
}

static void test_internal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; ++seed) {
        world *w = world_create(seed, 3);
        int first = seed % 2 ? 0 : GA_GROUND;
        void *e = bushing_between(w, point_on(first, 0.1, -0.3, 0.2), point_on(2, 0.5, 0.2, 0));
        element_start(w, e);
        world_move(w, 0.7);
        check_internal(w, e);
        memcpy(w->all, w->start, sizeof w->all); /* no rotation at all */
        for (int k = 1; k <= BODIES; ++k) w->all[k].w[0] = 0.3 * k;
        check_internal(w, e);
        world_destroy(w);
    }
}

/* Placed by `at` it is free at t = 0. Moved by d and turned by phi about z, from ground. */
static void test_by_hand(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    for (int k = 0; k <= BODIES; ++k) w->start[k] = frame_at_rest();
    void *e = element_create(w, &ga_force_bushing);
    set_between(w, e, whole(GA_GROUND), whole(0));
    set_vector(w, e, "at", 1, 2, 0);
    double *K = member(w, e, "stiffness");
    for (int k = 0; k < 6; ++k) K[7 * k] = 10 * (k + 1);
    element_start(w, e);
    memcpy(w->all, w->start, sizeof w->all);
    double f[MAX_SIZE];
    force_of(w, e, f);
    assert_true(largest(12, f) == 0);

    /* The point (1, 2) goes to (-2, 1) by the turn, and to (-2, 1) + d. */
    const double turn[3] = {0, 0, acos(0)};
    turn_frame(&w->all[1], turn);
    w->all[1].x[0] = 3 + 0.1;
    w->all[1].x[1] = 1 + 0.2;
    w->all[1].x[2] = 0.3;
    double force[3], torque[3], e_t[3], e_r[3];
    const ga_channel_type *channel = ga_force_bushing.channels;
    channel[0].value(e, &w->state, force);
    channel[1].value(e, &w->state, torque);
    channel[2].value(e, &w->state, e_t);
    channel[3].value(e, &w->state, e_r);
    check_near(e_t[0], 0.1, 1e-14);
    check_near(e_t[1], 0.2, 1e-14);
    check_near(e_t[2], 0.3, 1e-14);
    check_near(e_r[2], acos(0), 1e-14);
    check_near(force[0], -1, 1e-13);
    check_near(force[1], -4, 1e-13);
    check_near(force[2], -9, 1e-13);
    check_near(torque[2], -60 * acos(0), 1e-12);
    double energy = 0.5 * (0.1 + 0.8 + 2.7 + 60 * acos(0) * acos(0));
    check_near(ga_force_bushing.potential(e, &w->state), energy, 1e-12);
    world_destroy(w);
}

/* Who names no point goes where the other is: free at t = 0. */
static void test_place(void **state)
{
    (void)state;
    const ga_anchor pairs[][2] = {{whole(GA_GROUND), point_on(2, 0.5, 0.2, 0)},
                                  {point_on(0, 1, 2, 3), whole(GA_GROUND)},
                                  {whole(0), whole(GA_GROUND)},
                                  {whole(3), whole(1)}};
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; ++k) {
        world *w = world_create(1, 3);
        void *e = bushing_between(w, pairs[k][0], pairs[k][1]);
        memset(member(w, e, "damping"), 0, 36 * sizeof(double));
        element_start(w, e);
        double f[MAX_SIZE];
        force_of(w, e, f);
        assert_true(largest(12, f) < 1e-13);
        world_destroy(w);
    }
}

static void test_messages(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    ga_anchor p = point_on(1, 1, 0, 0), q = point_on(2, 0, 1, 0);
    check_message(w, bushing_between(w, p, p), GA_SEVERITY_ERROR, "same body");
    check_message(w, bushing_between(w, p, whole(2)), GA_SEVERITY_ERROR, "between: `[");
    void *e = bushing_between(w, p, q);
    ((double *)member(w, e, "stiffness"))[1] += 0.1;
    check_message(w, e, GA_SEVERITY_ERROR, "stiffness: is not symmetric");
    e = bushing_between(w, p, q);
    ((double *)member(w, e, "damping"))[7] = -1;
    check_message(w, e, GA_SEVERITY_ERROR, "damping: is not positive semidefinite");
    e = bushing_between(w, p, q);
    double *C = member(w, e, "damping");
    C[1] = C[6] = 1.001 * sqrt(C[0] * C[7]);
    check_message(w, e, GA_SEVERITY_ERROR, "damping: is not positive semidefinite");
    e = bushing_between(w, p, q);
    ((double *)member(w, e, "stiffness"))[0] = -1;
    check_message(w, e, GA_SEVERITY_WARNING, "stiffness: is not positive semidefinite");
    world_destroy(w);
}

/* Semidefinite is fine: one direction without stiffness, and a rank of one. */
static void test_semidefinite(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    void *e = bushing_between(w, point_on(1, 1, 0, 0), point_on(2, 0, 1, 0));
    double *C = member(w, e, "damping");
    for (int i = 0; i < 6; ++i)
        for (int j = 0; j < 6; ++j)
            C[6 * i + j] = i == 4 || j == 4 ? 0 : 1e3 * (i + 1) * (j + 1);
    element_start(w, e);
    assert_int_equal(ga_messages_count(w->messages), 0);
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_internal),     cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_place),        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_semidefinite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
