/* The problems themselves: derivatives against difference quotients, start values against the
 * constraints, closed-form solutions and published states against the equations. */
#include "test/problems/definition_checks.h"

/* Every problem in the folder, one line each. */

static ga_status pendulum_0(pb_problem **out) { return pb_pendulum_create(0, out); }
static ga_status pendulum_2(pb_problem **out) { return pb_pendulum_create(0.2, out); }
static ga_status pendulum_left(pb_problem **out) { return pb_pendulum_create(-0.31, out); }
static ga_status top_r3so3(pb_problem **out)
{
    return pb_heavy_top_create(GA_GROUP_R3SO3, out);
}
static ga_status top_se3(pb_problem **out) { return pb_heavy_top_create(GA_GROUP_SE3, out); }
static ga_status pendulum_model(pb_problem **out)
{
    return pb_pendulum_model_create(NULL, out);
}
static ga_status pendulum_model_stiff(pb_problem **out)
{
    pb_pendulum_model_def def = pb_pendulum_model_default();
    def.k = 1e8;
    return pb_pendulum_model_create(&def, out);
}
static ga_status oscillator(pb_problem **out) { return pb_oscillator_create(4, 3, 0.1, out); }
static ga_status chain_1(pb_problem **out) { return pb_chain_create(1, out); }
static ga_status chain_5(pb_problem **out) { return pb_chain_create(5, out); }

static constructor *const constructors[] = {
    pendulum_0,
    pendulum_2,
    pendulum_left,
    top_r3so3,
    top_se3,
    pb_slider_crank_create,
    pb_andrews_relative_create,
    pb_andrews_absolute_create,
    pendulum_model,
    pendulum_model_stiff,
    pb_rheonomic_create,
    pb_rheonomic_body_create,
    oscillator,
    pb_free_top_create,
    chain_1,
    chain_5,
};
enum { PROBLEMS = sizeof constructors / sizeof constructors[0] };

static void test_derivatives(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(constructors[k]);
        check_derivatives_at_start(p, usual);
        check_derivatives_nearby(p, usual);
        pb_destroy(p);
    }
}

static void test_mass(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(constructors[k]);
        const sizes n = sizes_of(&p->system);
        double M[MAX_NQ * MAX_NQ];
        const ga_point start = {.t = p->t0, .q = p->q0};
        mass_at(&p->system, &start, M);
        for (int j = 0; j < n.nv; ++j)
            for (int i = 0; i < j; ++i)
                assert_true(M[i + n.nv * j] == M[j + n.nv * i]); /* same expression */
        check_mass_flag(p);
        pb_destroy(p);
    }
}

static void test_start_is_consistent(void **state)
{
    (void)state;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(constructors[k]);
        check_consistent(p, p->t0, p->q0, p->v0, 8 * DBL_EPSILON);
        pb_destroy(p);
    }
}

static void test_references(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(constructors[k]);
        for (int r = 0; r < p->reference_count; ++r) check_reference(p, &p->references[r]);
        seen += p->reference_count;
        pb_destroy(p);
    }
    assert_int_equal(seen, 2 * 8);
}

/* NOTES.md, section 4, typed once more from there. */
static void test_notes(void **state)
{
    (void)state;
    double vd[MAX_NQ], lambda[MAX_NC];
    pb_problem *p = NULL;

    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda, NULL);
    assert_small(fabs(lambda[0] - 10.2153932520435726), 1e-14, p);
    pb_destroy(p);

    assert_int_equal(pb_heavy_top_create(GA_GROUP_R3SO3, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda, NULL);
    const double top_vd[6] = {0, -21.3017325444, -30.9608307692, 661.3461692308, 0, 0};
    const double top_lambda[3] = {0, -319.525988166, -317.262461538461539};
    assert_small(distance(vd, top_vd, 6), 1e-10, p);
    assert_small(distance(lambda, top_lambda, 3), 1e-12, p);
    const double x1[3] = {.173343964098386, .640088592070569, -.748490791133581};
    assert_small(distance(p->references[1].q, x1, 3), 1e-15, p);
    pb_destroy(p);

    assert_int_equal(pb_andrews_absolute_create(&p), GA_OK);
    const double end[7] = {15.8107711951537, -15.7563710584118, .040822240119646,
                           -.53473011634208, .524409965879954,  .53473011634208,
                           1.04808074104194};
    double angles[7], start[7];
    pb_andrews_angles(p->references[1].q, angles);
    assert_small(distance(angles, end, 7), 1e-13, p);
    pb_andrews_angles(p->q0, start);
    accelerate(p, 0, p->q0, p->v0, vd, lambda, NULL);
    assert_small(fabs(start[0] + 0.0617138900142764496), 1e-16, p);
    assert_small(fabs(lambda[10] - 98.5668703962), 1e-10, p); /* the relative model's first */
    assert_small(fabs(lambda[11] + 6.12268834425), 1e-11, p);
    pb_destroy(p);
}

/* Two rods released horizontally, in minimal coordinates: [4/3 1/2; 1/2 1/3] theta'' =
 * -g (3/2, 1/2), so theta'' = g (-9/7, 3/7). */
static void test_chain_start(void **state)
{
    (void)state;
    double vd[MAX_NQ], lambda[MAX_NC];
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(1, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda, NULL);
    const double rod[3] = {0, -0.75 * 9.81, -1.5 * 9.81}, pivot[2] = {0, -0.25 * 9.81};
    assert_small(distance(vd, rod, 3), 1e-13, p);
    assert_small(distance(lambda, pivot, 2), 1e-13, p);
    pb_destroy(p);

    assert_int_equal(pb_chain_create(2, &p), GA_OK);
    accelerate(p, 0, p->q0, p->v0, vd, lambda, NULL);
    assert_small(fabs(vd[2] + 9 * 9.81 / 7), 1e-13, p);
    assert_small(fabs(vd[5] - 3 * 9.81 / 7), 1e-13, p);
    pb_destroy(p);
}

static void test_exact_solutions(void **state)
{
    (void)state;
    int seen = 0;
    for (int k = 0; k < PROBLEMS; ++k) {
        pb_problem *p = create(constructors[k]);
        if (!p->exact) {
            pb_destroy(p);
            continue;
        }
        ++seen;
        const sizes n = sizes_of(&p->system);
        double q[MAX_NQ], v[MAX_NQ], lambda[MAX_NC];
        check_exact_start(p);
        for (int i = 0; i <= 10; ++i) check_exact(p, p->t0 + 0.1 * i * (p->t_end - p->t0));
        for (int i = 0; i < p->reference_count; ++i) {
            const pb_reference *ref = &p->references[i];
            p->exact(p, ref->t, q, v, NULL, lambda);
            assert_small(distance(q, ref->q, n.nq), ref->accuracy, p);
            assert_small(distance(v, ref->v, n.nv), ref->accuracy, p);
            assert_small(relative_distance(lambda, ref->lambda, n.nc), ref->accuracy, p);
        }
        pb_destroy(p);
    }
    assert_int_equal(seen, 7);
}

/* reference.json, A, lambda_every_0p1 for x0 = 0.2. */
static void test_pendulum_samples(void **state)
{
    (void)state;
    static const double sample[5] = {1.02153932520435726e+01, 9.87380358845905040e+00,
                                     1.02586227702793877e+01, 9.83119551758697763e+00,
                                     1.03011689461592452e+01};
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.2, &p), GA_OK);
    for (int i = 0; i < 5; ++i) {
        double lambda;
        p->exact(p, 0.5 * i, NULL, NULL, NULL, &lambda);
        assert_small(fabs(lambda - sample[i]), 4e-15 * 10, p);
    }
    pb_destroy(p);
}

/* A long chain: patterns stay in range and hold every entry once. */
static void test_long_chain(void **state)
{
    (void)state;
    enum { N = 10000 };
    pb_problem *p = NULL;
    assert_int_equal(pb_chain_create(N, &p), GA_OK);
    const ga_system *s = &p->system;
    assert_int_equal(s->node_count, N);
    assert_int_equal(ga_nodes_nv(s->node_count, s->nodes), 3 * N);
    const ga_pattern B = s->gradient_pattern;
    assert_int_equal(B.count, 8 * N - 4);
    double *entries = malloc((size_t)B.count * sizeof *entries);
    double *Phi = malloc(2 * N * sizeof *Phi);
    assert_non_null(entries);
    assert_non_null(Phi);
    const ga_point at = {.q = p->q0, .v = p->v0};
    evaluate(s, s->gradient, &at, entries);
    evaluate(s, s->constraint, &at, Phi);
    assert_true(largest(Phi, 2 * N) == 0); /* halves and integers */
    for (int i = 0; i < B.count; ++i) {
        assert_in_range(B.row[i], 0, 2 * N - 1);
        const int rod = B.col[i] / 3, joint = B.row[i] / 2;
        assert_true(rod == joint || rod == joint - 1);
    }
    free(entries);
    free(Phi);
    pb_destroy(p);
}

static void test_arguments(void **state)
{
    (void)state;
    pb_problem *p = NULL;
    assert_int_equal(pb_pendulum_create(0.32, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_pendulum_create(NAN, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_heavy_top_create(GA_GROUP_RN, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_oscillator_create(1, 0, 1, &p), GA_ERR_ARGUMENT);
    assert_int_equal(pb_chain_create(0, &p), GA_ERR_ARGUMENT);
    pb_pendulum_model_def def = pb_pendulum_model_default();
    def.L = 0;
    assert_int_equal(pb_pendulum_model_create(&def, &p), GA_ERR_ARGUMENT);
    assert_null(p);
    pb_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_derivatives),
        cmocka_unit_test(test_mass),
        cmocka_unit_test(test_start_is_consistent),
        cmocka_unit_test(test_references),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_chain_start),
        cmocka_unit_test(test_exact_solutions),
        cmocka_unit_test(test_pendulum_samples),
        cmocka_unit_test(test_long_chain),
        cmocka_unit_test(test_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
