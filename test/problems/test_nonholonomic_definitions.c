/* Problems with nonholonomic constraints, forces that depend on multipliers, impacts and jumps:
 * derivatives against difference quotients, start values and states against the equations. */
#include "test/problems/definition_checks.h"

static ga_status disc_upright(pb_problem **out) { return pb_rolling_disc_create(0, out); }
static ga_status disc_tilted(pb_problem **out) { return pb_rolling_disc_create(0.3, out); }
static ga_status disc_leaning(pb_problem **out) { return pb_rolling_disc_create(-1.2, out); }
static ga_status sleigh_r2so2(pb_problem **out)
{
    return pb_sleigh_create(GA_GROUP_R2SO2, out);
}
static ga_status sleigh_se2(pb_problem **out) { return pb_sleigh_create(GA_GROUP_SE2, out); }
static ga_status stick_slip(pb_problem **out) { return pb_stick_slip_create(NULL, out); }
static ga_status sliding(pb_problem **out)
{
    const pb_stick_slip_def def = pb_stick_slip_sliding();
    return pb_stick_slip_create(&def, out);
}
static ga_status jump(pb_problem **out) { return pb_jump_create(1.0371, out); }

static const struct {
    constructor *make;
    bool steep; /* friction changes within 0.01, the others within 1 */
    int references;
    bool exact;
} problems[] = {
    {pb_jn08_test_create, false, 0, true},
    {pb_planar_slider_crank_create, false, 2, false},
    {disc_upright, false, 2, false},
    {disc_tilted, false, 0, false},
    {disc_leaning, false, 0, false},
    {sleigh_r2so2, false, 0, true},
    {sleigh_se2, false, 0, true},
    {stick_slip, true, 0, false},
    {sliding, false, 0, true},
    {pb_bouncing_pendulum_create, false, 0, false},
    {jump, false, 0, true},
};
enum { PROBLEMS = sizeof problems / sizeof problems[0] };

static const resolution steep = {2e-5, 3e-9};

static void test_derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(problems[k].make);
        check_derivatives_at_start(p, problems[k].steep ? steep : usual);
        check_derivatives_nearby(p, problems[k].steep ? steep : usual);
        check_mass_flag(p);
        assert_int_equal(ga_system_validate(&p->system, NULL), GA_OK);
        pb_destroy(p);
    }
}

/* Where the mass all but sticks to the belt, friction is steep. */
static void test_derivatives_when_sticking(void **state)
{
    (void)state;
    pb_problem *p = create(stick_slip);
    for (int i = -2; i <= 2; ++i) {
        const double speed = pb_stick_slip_default().belt + 0.004 * i;
        const double v[2] = {speed, 0.1}, vd[2] = {1, 2}, lambda = -11;
        const ga_point at = {0.3, p->q0, v, vd, &lambda, NULL};
        check_derivatives(p, &at, steep);
    }
    pb_destroy(p);
}

static void test_start_is_consistent(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(problems[k].make);
        const sizes n = sizes_of(&p->system);
        check_consistent(p, p->t0, p->q0, p->v0, 8 * DBL_EPSILON);
        assert_true(largest(p->v0, n.nv) > 0);
        pb_destroy(p);
    }
}

static void test_references(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(problems[k].make);
        assert_int_equal(p->reference_count, problems[k].references);
        for (int r = 0; r < p->reference_count; ++r) check_reference(p, &p->references[r]);
        pb_destroy(p);
    }
}

static void test_exact_solutions(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(problems[k].make);
        assert_int_equal(p->exact != NULL, problems[k].exact);
        assert_int_equal(p->exact_psi != NULL, p->exact && p->system.nonholonomic_count > 0);
        if (p->exact) {
            check_exact_start(p);
            for (int i = 0; i <= 10; ++i) check_exact(p, p->t0 + 0.1 * i * (p->t_end - p->t0));
        }
        pb_destroy(p);
    }
}

/* [JN08] (15) is not of the form f - B^T lambda - N^T psi, and M is not symmetric off the
 * solution. */
static void test_jn08_is_general(void **state)
{
    (void)state;
    pb_problem *p = create(pb_jn08_test_create);
    const double q[2] = {1.2, 0.7};
    double M[4];
    const ga_point at = {.t = 0.1, .q = q};
    mass_at(&p->system, &at, M);
    assert_true(fabs(M[1] - M[2]) > 0.1);
    assert_int_equal(p->system.reactions, GA_REACTIONS_IN_FORCE);
    assert_true(p->lambda_guess[0] == 1 && p->psi_guess[0] == 1);
    pb_destroy(p);
}

/* NOTES.md and BENCHMARKS.md, typed once more from there. */
static void test_notes(void **state)
{
    (void)state;
    pb_problem *p = create(pb_planar_slider_crank_create);
    const pb_reference *end = &p->references[1];
    assert_small(fabs(end->q[2] - 2.00080664298378006), 0, p);
    assert_small(fabs(end->v[2] - 3.52990547198580895), 0, p);
    assert_small(fabs(end->q[6] - 0.382404559839110007), 1e-16, p);
    pb_destroy(p);

    p = create(disc_upright);
    end = &p->references[1];
    const double centre[3] = {2.77719890894, 3.23552939858, 0.69228187520};
    const double Omega[3] = {7.717697968, 17.022785901, -2.880734444};
    assert_small(distance(end->q, centre, 3), 6e-12, p);
    assert_small(distance(end->v + 3, Omega, 3), 6e-10, p);
    pb_destroy(p);
}

/* Reactions of an ideal contact do no work. */
static void test_disc_keeps_energy(void **state)
{
    (void)state;
    pb_problem *p = create(disc_upright);
    const double start = pb_rolling_disc_energy(p->q0, p->v0);
    assert_small(fabs(start - (187.5 + 0.5 * (3.75 * 225 + 7.5 * 25) + 147.15)), 1e-12, p);
    const pb_reference *end = &p->references[1];
    assert_small(fabs(pb_rolling_disc_energy(end->q, end->v) / start - 1), 1e-15, p);
    pb_destroy(p);

    for (int k = 0; k < 2; ++k) { /* dE/dt = 0 in any consistent state */
        p = create(k ? disc_tilted : disc_leaning);
        double vd[6], lambda[1], psi[2], power = 15 * 9.81 * p->v0[2];
        accelerate(p, 0, p->q0, p->v0, vd, lambda, psi);
        for (int i = 0; i < 3; ++i) {
            const double J = i == 2 ? 7.5 : 3.75;
            power += 15 * p->v0[i] * vd[i] + J * p->v0[3 + i] * vd[3 + i];
        }
        assert_small(fabs(power), 1e-11, p); /* terms of 1e4 */
        pb_destroy(p);
    }
}

/* A disc that lies flat has no lowest point, and says so. */
static void test_flat_disc(void **state)
{
    (void)state;
    pb_problem *p = create(disc_upright);
    const double q[7] = {0, 0, 0, 1, 0, 0, 0};
    double out[36];
    const ga_point at = {0, q, p->v0, p->v0, p->v0, p->v0};
    assert_int_equal(p->system.constraint(NULL, &at, out), GA_EVAL_RECOVERABLE);
    assert_int_equal(p->system.nonholonomic_rhs(NULL, &at, out), GA_EVAL_RECOVERABLE);
    assert_int_equal(p->system.stiffness(NULL, &at, out), GA_EVAL_RECOVERABLE);
    pb_destroy(p);
}

/* One motion, two groups. */
static void test_sleigh_on_both_groups(void **state)
{
    (void)state;
    pb_problem *world = create(sleigh_r2so2), *body = create(sleigh_se2);
    for (int i = 0; i < 5; ++i) {
        double q[3], v[3], q_body[3], v_body[3], psi, psi_body;
        world->exact(world, i, q, v, NULL, NULL);
        body->exact(body, i, q_body, v_body, NULL, NULL);
        world->exact_psi(world, i, &psi);
        body->exact_psi(body, i, &psi_body);
        assert_small(distance(q, q_body, 3), 0, world);
        assert_small(fabs(psi - psi_body), 0, world);
        const double c = cos(q[2]), s = sin(q[2]);
        const double turned[3] = {c * v[0] + s * v[1], c * v[1] - s * v[0], v[2]};
        assert_small(distance(turned, v_body, 3), 1e-15, world);
    }
    double v[3];
    world->exact(world, 0, NULL, v, NULL, NULL);
    assert_true(fabs(v[0]) > 0.1 && fabs(v[1]) > 0.1 && fabs(v[2]) > 0.1);
    pb_destroy(world);
    pb_destroy(body);
}

/* Which parameters have a closed form; that lambda varies in it. */
static void test_sliding(void **state)
{
    (void)state;
    pb_stick_slip_def def = pb_stick_slip_sliding();
    pb_problem *p = create(sliding);
    double early, late;
    p->exact(p, 0, NULL, NULL, NULL, &early);
    p->exact(p, 1.5, NULL, NULL, NULL, &late);
    assert_true(early < 0 && late < 0 && fabs(early - late) > 5);
    assert_true(p->lambda_guess[0] == early);
    pb_destroy(p);

    double *const spoil[] = {&def.height, &def.mu_static, &def.belt, &def.press_swing,
                             &def.press_frequency};
    const double value[] = {0.1, 0.4, 2, 20, 3}; /* 3: resonance */
    for (int i = 0; i < 5; ++i) {
        const double before = *spoil[i];
        *spoil[i] = value[i];
        assert_int_equal(pb_stick_slip_create(&def, &p), GA_OK);
        assert_null(p->exact);
        pb_destroy(p);
        *spoil[i] = before;
    }
}

/* Simpson's rule for 1/sqrt(1 - k^2 sin^2 phi); 1000 panels leave 1e-15 for k = 0.16. */
static double elliptic_by_quadrature(double k, double from, double to)
{
    enum { PANELS = 1000 };
    double sum = 0;
    for (int i = 0; i <= 2 * PANELS; ++i) {
        const double phi = from + (to - from) * i / (2 * PANELS), s = k * sin(phi);
        const double weight = i == 0 || i == 2 * PANELS ? 1 : i % 2 ? 4 : 2;
        sum += weight / sqrt(1 - s * s);
    }
    return sum * (to - from) / (6 * PANELS);
}

static double restitution_in_use;

static void exact_with_impacts(const pb_problem *p, double t, double *q, double *v, double *vd,
                               double *lambda)
{
    pb_bouncing_pendulum_exact(p, restitution_in_use, t, q, v, vd, lambda);
}

static void check_bounces(double restitution)
{
    enum { COUNT = 6 };
    restitution_in_use = restitution;
    pb_problem *p = create(pb_bouncing_pendulum_create);
    p->exact = exact_with_impacts;
    check_exact_start(p);
    double times[COUNT], last = 0;
    pb_bouncing_pendulum_times(p, restitution, COUNT, times);

    const double w = sqrt(9.81), half = sin(0.5 * asin(0.2));
    double rate = sqrt(1 - 4 * 9.81 * half * half);
    for (int i = 0; i < COUNT; ++i) {
        /* how long it takes, from the integral of dt = d(theta)/theta' */
        const double k = hypot(half, 0.5 * rate / w), phi = asin(half / k);
        const double from = i == 0 ? 0 : -0.5 * acos(-1.0), laps = i == 0 ? 1 : 2;
        const double expected = laps * elliptic_by_quadrature(k, from, phi) / w;
        assert_small(fabs(times[i] - last - expected), 2e-14, p);

        /* a solution in between, at the wall at the end */
        for (int j = 1; j < 5; ++j) check_exact(p, last + 0.2 * j * (times[i] - last));
        double q[2], before[2], after[2], expected_after[2];
        p->exact(p, times[i] * (1 - 4e-16), q, before, NULL, NULL);
        assert_small(fabs(pb_bouncing_pendulum_gap(q)), 4e-15, p);
        assert_small(fabs(before[0] - rate * sqrt(1 - 0.04)), 2e-14, p);
        p->exact(p, times[i] * (1 + 4e-16), q, expected_after, NULL, NULL);
        memcpy(after, before, sizeof after);
        pb_bouncing_pendulum_impact(p, q, after, restitution);
        assert_small(distance(after, expected_after, 2), 4e-14, p);
        assert_small(fabs(q[0] * after[0] + q[1] * after[1]), 1e-15, p);
        assert_small(fabs(after[0] + restitution * before[0]), 1e-15, p);
        pb_bouncing_pendulum_impact(p, q, after, restitution); /* opens: nothing happens */
        assert_small(fabs(after[0] + restitution * before[0]), 1e-15, p);
        last = times[i];
        rate *= restitution;
    }
    pb_destroy(p);
}

static void test_bounces(void **state)
{
    (void)state;
    check_bounces(1);
    check_bounces(0.7);
}

/* The impulse keeps B v as it is, whatever it is, and reverses what it should. */
static void test_impact_off_the_constraint(void **state)
{
    (void)state;
    pb_problem *p = create(pb_bouncing_pendulum_create);
    const double q[2] = {0.25, -0.9}, before[2] = {0.8, 0.3};
    double v[2] = {0.8, 0.3};
    pb_bouncing_pendulum_impact(p, q, v, 0.5);
    assert_small(fabs(v[0] + 0.4), 1e-15, p);
    assert_small(fabs(q[0] * (v[0] - before[0]) + q[1] * (v[1] - before[1])), 1e-15, p);
    pb_destroy(p);
}

/* q and v go on, v' and lambda jump. */
static void test_jump(void **state)
{
    (void)state;
    pb_problem *p = create(jump);
    const double t = pb_jump_time(p);
    assert_true(t == 1.0371 && t > p->t0 && t < p->t_end);
    double q[2], v[2], vd[2], lambda, q1[2], v1[2], vd1[2], lambda1;
    p->exact(p, nextafter(t, 0), q, v, vd, &lambda);
    p->exact(p, t, q1, v1, vd1, &lambda1);
    assert_small(distance(q, q1, 2), 1e-15, p);
    assert_small(distance(v, v1, 2), 5e-15, p);
    const double change[2] = {vd1[0] - vd[0], vd1[1] - vd[1]};
    assert_small(fabs(hypot(change[0], change[1]) - 3), 1e-13, p);
    assert_small(fabs(lambda1 - lambda - 3), 1e-13, p);
    for (int i = 0; i <= 300; ++i) {
        p->exact(p, 0.01 * i, q, NULL, NULL, NULL);
        assert_true(q[0] > 0.6); /* |theta| < 0.93 */
    }
    pb_destroy(p);
}

static void test_arguments(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_rolling_disc_create(1.6, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_rolling_disc_create(NAN, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_sleigh_create(GA_GROUP_SE3, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_jump_create(0, &p), GA_ERR_ARGUMENT);
    pb_stick_slip_def def = pb_stick_slip_default();
    def.width = 0;
    assert_int_equal(pb_stick_slip_create(&def, &p), GA_ERR_ARGUMENT);
    assert_null(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_derivatives_when_sticking),
        cmocka_unit_test(test_start_is_consistent),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_jn08_is_general),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_disc_keeps_energy),
        cmocka_unit_test(test_flat_disc),
        cmocka_unit_test(test_sleigh_on_both_groups),
        cmocka_unit_test(test_sliding),
        cmocka_unit_test(test_bounces),
        cmocka_unit_test(test_impact_off_the_constraint),
        cmocka_unit_test(test_jump),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
