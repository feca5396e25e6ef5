/* Spring-damper: the checks of every force; values by hand; cables; springs without length. */
#include "force_checks.h"

static void *spring_between(world *w, ga_anchor a, ga_anchor b)
{
    void *e = element_create(w, &ga_force_spring_damper);
    set_between(w, e, a, b);
    set_number(w, e, "stiffness", 30);
    set_number(w, e, "damping", 4);
    return e;
}

static const named own[] = {{"length", {.quantity = GA_OBSERVE_OWN, .component = 0}},
                            {"rate", {.quantity = GA_OBSERVE_OWN, .component = 1}},
                            {0}};

static double channel_of(world *w, const void *element, int k)
{
    double x;
    ((const ga_element *)element)->type->channels[k].value(element, &w->state, &x);
    return x;
}

static void test_linear(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; ++seed) {
        world *w = world_create(seed, 3);
        int first = seed % 2 ? 0 : GA_GROUND;
        void *e = spring_between(w, point_on(first, 0.1, -0.3, 0.2), point_on(2, 0.5, 0.2, 0));
        set_number(w, e, "preload", 2);
        element_start(w, e);
        world_move(w, 0.5);
        check_internal(w, e);
        world_destroy(w);
    }
}

/* Two points 5 apart, free length 3, second body leaves at speed 2 along the line. */
static void test_by_hand(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    for (int k = 0; k <= BODIES; ++k) w->start[k] = frame_at_rest();
    w->start[1].x[0] = 1;
    w->start[2].x[0] = 4;
    w->start[2].x[1] = 3; /* the point is one further up */
    w->start[2].u[0] = 2 * 0.6;
    w->start[2].u[1] = 2 * 0.8;
    memcpy(w->all, w->start, sizeof w->all);
    void *e = spring_between(w, whole(0), point_on(1, 0, 1, 0));
    set_number(w, e, "length", 3);
    element_start(w, e);
    check_near(channel_of(w, e, 0), 30 * 2 + 4 * 2, 1e-13);
    check_near(channel_of(w, e, 1), 5, 1e-15);
    check_near(channel_of(w, e, 2), 2, 1e-15);
    double f[MAX_SIZE];
    force_of(w, e, f);
    const double hand[12] = {68 * 0.6,  68 * 0.8,  0, 0, 0, 0,
                             -68 * 0.6, -68 * 0.8, 0, 0, 0, 68 * 0.6};
    for (int k = 0; k < 12; ++k) check_near(f[k], hand[k], 1e-13);
    check_near(ga_force_spring_damper.potential(e, &w->state), 60, 1e-13);
    check_near(ga_force_spring_damper.dissipation(e, &w->state), 16, 1e-13);
    world_destroy(w);
}

static void test_rest_length_is_distance(void **state)
{
    (void)state;
    world *w = world_create(5, 3);
    void *e = spring_between(w, point_on(0, 0.1, 0, 0), point_on(1, 0, 0.2, 0));
    set_number(w, e, "damping", 0);
    element_start(w, e);
    double f[MAX_SIZE];
    force_of(w, e, f);
    assert_true(largest(MAX_SIZE, f) < 1e-13);
    world_destroy(w);
}

/* Rest length zero: smooth, also where the points meet. */
static void test_without_length(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 5; ++seed) {
        world *w = world_create(seed, 3);
        void *e = spring_between(w, point_on(0, 0.1, -0.3, 0.2), point_on(1, 0.5, 0.2, 0));
        set_number(w, e, "length", 0);
        element_start(w, e);
        world_move(w, 0.5);
        check_internal(w, e);
        double far[3];
        ga_setup now = w->setup;
        now.frames = w->all + 1;
        ga_anchor *between = member(w, e, "between");
        ga_setup_place(&now, &between[0], far);
        ga_setup_local(&now, 1, far, between[1].p);
        check_internal(w, e);
        world_destroy(w);
    }
}

/* The points of a spring with a length meet: no force, nothing that is not finite. */
static void test_points_meet(void **state)
{
    (void)state;
    world *w = world_create(2, 3);
    void *e = spring_between(w, whole(0), whole(1));
    element_start(w, e);
    memcpy(w->all[2].x, w->all[1].x, sizeof w->all[1].x);
    double f[MAX_SIZE], K[144] = {0}, C[144] = {0};
    force_of(w, e, f);
    ga_force_spring_damper.tangent(e, &w->state, K, C);
    assert_true(largest(12, f) == 0);
    for (int k = 0; k < 144; ++k) assert_true(isfinite(K[k]) && isfinite(C[k]));
    world_destroy(w);
}

static void *characteristic(world *w, const char *text, const named *names)
{
    void *e = spring_between(w, point_on(0, 0.1, -0.3, 0.2), point_on(2, 0.5, 0.2, 0));
    set_functions(w, e, "force", 1, &text, names);
    element_start(w, e);
    return e;
}

/* Of length and rate alone: stores what it does not dissipate. */
static void test_characteristic(void **state)
{
    (void)state;
    static const char *const text[] = {"5*length^3 + length*rate*abs(rate)",
                                       "100*max(0, length - 1.3) + 0.5*rate^3",
                                       "length > 0.4 ? 20*exp(-length) : 20*exp(-0.4)"};
    for (size_t k = 0; k < sizeof text / sizeof *text; ++k)
        for (uint64_t seed = 1; seed < 5; ++seed) {
            world *w = world_create(seed, 3);
            void *e = characteristic(w, text[k], own);
            world_move(w, 0.5);
            assert_true(ga_force_spring_damper.power(e, &w->state) == 0);
            check_internal(w, e);
            free_functions(w, e, "force", 1);
            world_destroy(w);
        }
}

/* Also of time, and of what others do: work from outside. */
static void test_driven(void **state)
{
    (void)state;
    const named names[] = {
        own[0],
        own[1],
        {"b.velocity.y",
         {.quantity = GA_OBSERVE_VELOCITY, .node = 3, .p = {0.1, 0.2, 0.3}, .component = 1}},
        {0}};
    world *w = world_create(3, 3);
    void *e = characteristic(w, "sin(t)*length + 2*b.velocity.y*rate", names);
    world_move(w, 0.5);
    assert_int_equal(((ga_element *)e)->node_count, 3);
    check_tangent(w, e);
    check_balance(w, e);
    check_power(w, e);
    assert_true(ga_force_spring_damper.power(e, &w->state) != 0);
    free_functions(w, e, "force", 1);
    world_destroy(w);
}

/* Slack, becoming taut, taut; shortening and stretching. The transition is wide here so that
 * difference quotients see it; states next to its ends are left out. */
static void test_cable(void **state)
{
    (void)state;
    int seen[3][2] = {{0}};
    for (uint64_t seed = 1; seed < 60; ++seed) {
        world *w = world_create(seed, 3);
        void *e = spring_between(w, point_on(0, 0.1, -0.3, 0.2), point_on(2, 0.5, 0.2, 0));
        *(bool *)member(w, e, "tension_only") = true;
        set_number(w, e, "transition", 0.3);
        element_start(w, e);
        world_move(w, 0.4);
        double stretch = channel_of(w, e, 1) - *(double *)member(w, e, "length");
        double rate = channel_of(w, e, 2);
        bool smooth = fabs(stretch) > 0.01 && fabs(stretch - 0.3) > 0.01 && fabs(rate) > 0.03;
        if (smooth) {
            check_internal(w, e);
            ++seen[stretch < 0 ? 0 : stretch < 0.3 ? 1 : 2][rate > 0];
        }
        assert_true(channel_of(w, e, 0) >= 0);
        if (stretch < 0) assert_true(channel_of(w, e, 0) == 0);
        world_destroy(w);
    }
    for (int k = 0; k < 6; ++k) assert_true(seen[k / 2][k % 2] > 0);
}

/* Force and tangent of a cable are continuous where its branches meet. */
static void test_cable_is_smooth(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    for (int k = 0; k <= BODIES; ++k) w->start[k] = frame_at_rest();
    memcpy(w->all, w->start, sizeof w->all);
    w->start[2].x[0] = 1;
    void *e = spring_between(w, whole(0), whole(1));
    *(bool *)member(w, e, "tension_only") = true;
    set_number(w, e, "transition", 0.1);
    element_start(w, e);
    const double places[][2] = {{1, 0.3}, {1, -0.3}, {1.1, 0.3}, {1.1, -0.3}, {1.05, 0}};
    for (int k = 0; k < 5; ++k) {
        double K[2][144] = {{0}}, C[2][144] = {{0}}, f[2][MAX_SIZE];
        for (int side = 0; side < 2; ++side) {
            double nudge = side ? 1e-9 : -1e-9;
            w->all[2].x[0] = places[k][0] + nudge;
            w->all[2].u[0] = places[k][1] + nudge;
            force_of(w, e, f[side]);
            ga_force_spring_damper.tangent(e, &w->state, K[side], C[side]);
        }
        for (int i = 0; i < 12; ++i) check_near(f[0][i], f[1][i], 1e-6);
        for (int i = 0; i < 144; ++i) {
            check_near(K[0][i], K[1][i], 1e-5);
            check_near(C[0][i], C[1][i], 1e-5);
        }
    }
    world_destroy(w);
}

static void test_messages(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    void *e = spring_between(w, whole(1), point_on(1, 1, 0, 0));
    check_message(w, e, GA_SEVERITY_ERROR, "between: both ends are on the same body");
    e = spring_between(w, whole(GA_GROUND), point_on(GA_GROUND, 1, 0, 0));
    check_message(w, e, GA_SEVERITY_ERROR, "both ends are on ground");
    e = spring_between(w, whole(0), whole(1));
    set_number(w, e, "damping", -1);
    check_message(w, e, GA_SEVERITY_ERROR, "damping: is negative");
    e = spring_between(w, whole(0), whole(1));
    set_number(w, e, "length", -1);
    check_message(w, e, GA_SEVERITY_ERROR, "length: is negative");
    e = spring_between(w, whole(0), whole(1));
    set_number(w, e, "stiffness", -1);
    check_message(w, e, GA_SEVERITY_WARNING, "stiffness: is negative");
    e = spring_between(w, whole(0), whole(1));
    set_number(w, e, "length", 2);
    memcpy(w->start[2].x, w->start[1].x, sizeof w->start[1].x);
    check_message(w, e, GA_SEVERITY_ERROR, "the two points coincide");
    e = spring_between(w, whole(0), whole(2));
    *(bool *)member(w, e, "tension_only") = true;
    set_number(w, e, "stiffness", 0);
    check_message(w, e, GA_SEVERITY_ERROR, "must be positive with `tension_only`");
    world_destroy(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_rest_length_is_distance),
        cmocka_unit_test(test_without_length),
        cmocka_unit_test(test_points_meet),
        cmocka_unit_test(test_characteristic),
        cmocka_unit_test(test_driven),
        cmocka_unit_test(test_cable),
        cmocka_unit_test(test_cable_is_smooth),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
