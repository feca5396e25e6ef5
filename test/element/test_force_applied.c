/* force, torque, user: components of time and of observed quantities, both frames, pairs. */
#include "force_checks.h"

static const char *const simple[3] = {"2", "3*t", "-1"};

static void *force_on(world *w, const char *const texts[3], const named *names)
{
    void *e = element_create(w, &ga_force_force);
    *(ga_anchor *)member(w, e, "on") = point_on(1, 0.4, -0.2, 0.7);
    set_functions(w, e, "force", 3, texts, names);
    return e;
}

static void finish(world *w, void *e, const char *name)
{
    free_functions(w, e, name, 3);
    world_destroy(w);
}

/* A force in the world keeps its direction, one in the body turns with it. */
static void test_frames(void **state)
{
    (void)state;
    for (int frame = 0; frame < 2; ++frame) {
        world *w = world_create(4, 3);
        void *e = force_on(w, simple, NULL);
        set_int(w, e, "frame", frame);
        element_start(w, e);
        world_move(w, 0.5);
        check_tangent(w, e);
        double f[MAX_SIZE], F[3] = {2, 3 * 0.3, -1}, channel[3];
        force_of(w, e, f);
        const double *R = w->state.frames[1].R;
        ga_vec3 local = ga_vec3_load(F);
        if (frame == 0) local = ga_mat3_apply_transposed(R, local);
        ga_vec3 m = ga_vec3_cross((ga_vec3){0.4, -0.2, 0.7}, local);
        const double hand[6] = {local.x, local.y, local.z, m.x, m.y, m.z};
        for (int k = 0; k < 6; ++k) check_near(f[k], hand[k], 1e-14);
        ga_force_force.channels[0].value(e, &w->state, channel);
        ga_vec3 world_force = frame == 0 ? ga_vec3_load(F) : ga_mat3_apply(R, ga_vec3_load(F));
        check_near(channel[0], world_force.x, 1e-14);
        check_near(channel[2], world_force.z, 1e-14);
        finish(w, e, "force");
    }
}

/* Force and opposite, in the body's axes: an internal force. */
static void test_pair(void **state)
{
    (void)state;
    world *w = world_create(6, 3);
    void *e = force_on(w, simple, NULL);
    set_int(w, e, "frame", 1);
    set_int(w, e, "against", 3);
    element_start(w, e);
    world_move(w, 0.5);
    check_tangent(w, e);
    check_balance(w, e);
    check_invariance(w, e);
    finish(w, e, "force");
}

static void test_torque(void **state)
{
    (void)state;
    for (int frame = 0; frame < 2; ++frame) {
        world *w = world_create(7, 3);
        void *e = element_create(w, &ga_force_torque);
        set_int(w, e, "on", 2);
        set_int(w, e, "against", 0);
        set_int(w, e, "frame", frame);
        set_functions(w, e, "torque", 3, simple, NULL);
        element_start(w, e);
        world_move(w, 0.5);
        check_tangent(w, e);
        check_balance(w, e);
        double f[MAX_SIZE];
        force_of(w, e, f);
        if (frame == 1) check_near(f[3], 2, 1e-14);
        finish(w, e, "torque");
    }
}

/* Everything that can be observed of bodies, and of springs. */
static void test_observed(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 6; ++seed) {
        world *w = world_create(seed, 3);
        void *spring = element_create(w, &ga_force_spring_damper);
        set_between(w, spring, point_on(3, 0, 0.1, 0), point_on(GA_GROUND, 0.3, 0, 1));
        void *twist = element_create(w, &ga_force_torsion_spring);
        set_between(w, twist, whole(0), whole(2));
        set_vector(w, twist, "axis", 0, 0.6, 0.8);
        element_start(w, spring);
        element_start(w, twist);

        const named names[] = {
            {"p.y",
             {.quantity = GA_OBSERVE_POSITION, .node = 2, .p = {1, 2, 3}, .component = 1}},
            {"v.x", {.quantity = GA_OBSERVE_VELOCITY, .node = 1, .p = {1, 0, 2}}},
            {"w.z", {.quantity = GA_OBSERVE_ANGULAR_VELOCITY, .node = 1, .component = 2}},
            {"s.length", {.quantity = GA_OBSERVE_MEASURE, .element = spring}},
            {"s.rate", {.quantity = GA_OBSERVE_MEASURE, .element = spring, .component = 1}},
            {"twist", {.quantity = GA_OBSERVE_MEASURE, .element = twist}},
            {"twist.rate", {.quantity = GA_OBSERVE_MEASURE, .element = twist, .component = 1}},
            {0}};
        static const char *const F[3] = {"-2*v.x*p.y", "s.length^2 + t*s.rate", "3*w.z"};
        static const char *const T[3] = {"sin(twist)", "p.y*twist.rate", "p.y - 2"};
        void *e = element_create(w, &ga_force_user);
        *(ga_anchor *)member(w, e, "on") = point_on(1, 0.4, -0.2, 0.7);
        set_functions(w, e, "force", 3, F, names);
        set_functions(w, e, "torque", 3, T, names);
        set_int(w, e, "frame", (int)(seed % 2));
        element_start(w, e);
        const ga_observation *list =
            (const void *)((const char *)e + ga_force_user.observation_at);
        assert_int_equal(list->count, 7); /* p.y stands three times, and is one */
        assert_int_equal(((ga_element *)e)->node_count, 5);
        world_move(w, 0.5);
        check_tangent(w, e);
        double f[3], v[3];
        if (seed % 2 == 0) {
            ga_force_user.channels[0].value(e, &w->state, f);
            ga_force_spring_damper.channels[1].value(spring, &w->state, v);
            ga_force_spring_damper.channels[2].value(spring, &w->state, v + 1);
            check_near(f[1], v[0] * v[0] + 0.3 * v[1], 1e-13);
        }
        free_functions(w, e, "force", 3);
        finish(w, e, "torque");
    }
}

/* Coordinates of joints and their rates; joints are met nowhere near here. */
static void test_observed_joints(void **state)
{
    (void)state;
    static const char *const F[3] = {"2*turn - 3*slide.rate", "slide*turn", "slide.rate^2"};
    static const char *const T[3] = {"turn.rate", "sin(turn) + turn.rate*slide", "1"};
    for (uint64_t seed = 1; seed < 6; ++seed) {
        world *w = world_create(seed, 3);
        ga_joint *hinge = element_create(w, ga_element_type_find("joints", "revolute"));
        ga_joint *slider = element_create(w, ga_element_type_find("joints", "prismatic"));
        set_between(w, hinge, whole(2), whole(1));
        set_vector(w, hinge, "at", 0.2, 0.3, -0.1);
        set_between(w, slider, point_on(GA_GROUND, 0.3, 0, 1), whole(3));
        set_vector(w, hinge, "axis", 0, 0.6, 0.8);
        set_vector(w, slider, "axis", 1, 0, 0);
        element_start(w, hinge);
        element_start(w, slider);

        const named names[] = {{"turn", {.quantity = GA_OBSERVE_COORDINATE, .joint = hinge}},
                               {"turn.rate", {.quantity = GA_OBSERVE_RATE, .joint = hinge}},
                               {"slide", {.quantity = GA_OBSERVE_COORDINATE, .joint = slider}},
                               {"slide.rate", {.quantity = GA_OBSERVE_RATE, .joint = slider}},
                               {0}};
        void *e = element_create(w, &ga_force_user);
        *(ga_anchor *)member(w, e, "on") = point_on(1, 0.4, -0.2, 0.7);
        set_functions(w, e, "force", 3, F, names);
        set_functions(w, e, "torque", 3, T, names);
        element_start(w, e);
        w->memory[0] = w->memory[1] = w->memory[2] = 0; /* of the hinge */
        world_move(w, 0.5);
        check_tangent(w, e);
        double torque[3];
        ga_force_user.channels[1].value(e, &w->state, torque);
        check_near(torque[0], ga_joint_rate(hinge, 0, &w->state), 1e-14);
        free_functions(w, e, "force", 3);
        finish(w, e, "torque");
    }
}

/* Planar: angle with turns, one number for the torque. */
static void test_planar(void **state)
{
    (void)state;
    world *w = world_create(3, 2);
    for (int k = 1; k <= BODIES; ++k) {
        w->start[k] = frame_at_rest();
        w->start[k].x[0] = k;
    }
    void *e = element_create(w, &ga_force_torque);
    const char *text = "-2*angle";
    const named names[] = {{"angle", {.quantity = GA_OBSERVE_ANGLE, .node = 1}}, {0}};
    set_int(w, e, "on", 0);
    set_functions(w, e, "torque", 1, &text, names);
    element_start(w, e);
    assert_int_equal(((ga_element *)e)->memory_count, GA_TURN_MEMORY);

    double angle = 0, step = 0.9;
    for (int k = 1; k <= 20; ++k) { /* nearly three turns */
        memcpy(w->all, w->start, sizeof w->all);
        angle += step;
        const double turn[3] = {0, 0, angle};
        turn_frame(&w->all[2], turn);
        w->all[2].w[2] = 9;
        w->state.t = 0.1 * k;
        double f[MAX_SIZE];
        force_of(w, e, f);
        check_near(f[5], -2 * angle, 1e-12);
        ga_force_torque.commit(e, &w->state, w->memory);
    }
    check_tangent(w, e);
    free_functions(w, e, "torque", 1);
    world_destroy(w);
}

/* A table has breaks, and the earliest counts. */
static void test_too_many(void **state)
{
    (void)state;
    ga_observation list = {0};
    world *w = world_create(1, 3);
    int variable = 0;
    for (int k = 0; k < GA_EXPRESSION_MAX_VARIABLES - 1; ++k) {
        ga_observed what = {.quantity = GA_OBSERVE_POSITION, .p = {k, 0, 0}};
        assert_int_equal(ga_observe(&list, &w->arena, &what, &variable), GA_OK);
        assert_int_equal(variable, k + 1);
    }
    ga_observed what = {.quantity = GA_OBSERVE_VELOCITY};
    assert_int_equal(ga_observe(&list, &w->arena, &what, &variable), GA_ERR_INPUT);
    world_destroy(w);
}

static void test_messages(void **state)
{
    (void)state;
    world *w = world_create(1, 3);
    void *e = force_on(w, simple, NULL);
    set_int(w, e, "against", 1);
    check_message(w, e, GA_SEVERITY_ERROR,
                  "against: is the body the force acts on; expected another one");
    ((ga_anchor *)member(w, e, "on"))->node = GA_GROUND;
    check_message(w, e, GA_SEVERITY_ERROR, "on: is on ground");
    void *user = element_create(w, &ga_force_user);
    check_message(w, user, GA_SEVERITY_ERROR, "neither force nor torque");
    finish(w, e, "force");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),          cmocka_unit_test(test_pair),
        cmocka_unit_test(test_torque),          cmocka_unit_test(test_observed),
        cmocka_unit_test(test_observed_joints), cmocka_unit_test(test_planar),
        cmocka_unit_test(test_too_many),        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
