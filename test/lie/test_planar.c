/* SO(2), R^2 x SO(2), SE(2): the common checks, and each as its spatial group in the plane. */
#include "group_checks.h"

static const ga_node so2 = GA_NODE(GA_GROUP_SO2, 0);
static const ga_node r2so2 = GA_NODE(GA_GROUP_R2SO2, 0);
static const ga_node se2 = GA_NODE(GA_GROUP_SE2, 0);
static const ga_node r3so3 = GA_NODE(GA_GROUP_R3SO3, 0);
static const ga_node se3 = GA_NODE(GA_GROUP_SE3, 0);

static const ga_node planar[] = {GA_NODE(GA_GROUP_SO2, 0), GA_NODE(GA_GROUP_R2SO2, 0),
                                 GA_NODE(GA_GROUP_SE2, 0)};

static void test_axioms(void **state)
{
    (void)state;
    for (int i = 0; i < 3; ++i) check_axioms(planar[i]);
}

static void test_tangents(void **state)
{
    (void)state;
    for (int i = 0; i < 3; ++i) {
        check_tangent_quotient(planar[i]);
        check_derivative_quotient(planar[i]);
        check_tangent_inverse(planar[i]);
        check_defect(planar[i]);
        check_oracle(planar[i], GA_MAP_EXP);
    }
    check_round_trip(so2);
    check_round_trip(r2so2);
    check_round_trip(se2);
    check_oracle(se2, GA_MAP_CAYLEY); /* ad of the others does not determine its argument */
}

/* Rows and columns of the spatial group that stay in the plane. */
static const int in_plane[3] = {0, 1, 5};

static void lift(const double *x, double *spatial)
{
    for (int i = 0; i < 6; ++i) spatial[i] = 0;
    for (int i = 0; i < 3; ++i) spatial[in_plane[i]] = x[i];
}

static double corner_gap(const double *small, const double *large)
{
    double worst = 0;
    for (int j = 0; j < 3; ++j)
        for (int i = 0; i < 3; ++i)
            raise_to(&worst, fabs(small[i + 3 * j] - large[in_plane[i] + 6 * in_plane[j]]));
    return worst;
}

static double pose_gap(const double *small, const double *large)
{
    double full[7] = {small[0], small[1], 0, cos(small[2] / 2), 0, 0, sin(small[2] / 2)};
    return apart(se3, full, large);
}

/* SE(2) in SE(3), R^2 x SO(2) in R^3 x SO(3): same coefficients in another order of the same
 * few operations, numbers up to 3, T^-1 and its derivative larger towards 2 pi: 10 eps of each.
 */
static void check_embedded(ga_node node, ga_node spatial)
{
    uint64_t seed = 31;
    double worst = 0;
    for (int k = 0; k < 2000; ++k) {
        ga_map map = k % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[3], y[3], X[6], Y[6], q[3], p[3], Q[7], P[7], m[9], M[36], z[3], Z[6];
        random_vector(&seed, 3, 3, x);
        random_vector(&seed, 3, 3, y);
        lift(x, X);
        lift(y, Y);
        ga_lie_map(node, map, x, q);
        ga_lie_map(spatial, map, X, Q);
        raise_to(&worst, pose_gap(q, Q));
        ga_lie_map_inverse(node, map, q, z);
        ga_lie_map_inverse(spatial, map, Q, Z);
        for (int i = 0; i < 3; ++i) raise_to(&worst, fabs(z[i] - Z[in_plane[i]]));
        ga_lie_map(node, map, y, p);
        ga_lie_map(spatial, map, Y, P);
        ga_lie_compose(node, q, p, p);
        ga_lie_compose(spatial, Q, P, P);
        raise_to(&worst, pose_gap(p, P));
        ga_lie_inverse(node, p, p);
        ga_lie_inverse(spatial, P, P);
        raise_to(&worst, pose_gap(p, P));
        ga_lie_adjoint(node, p, m);
        ga_lie_adjoint(spatial, P, M);
        raise_to(&worst, corner_gap(m, M));
        ga_lie_bracket(node, x, y, z);
        ga_lie_bracket(spatial, X, Y, Z);
        for (int i = 0; i < 3; ++i) raise_to(&worst, fabs(z[i] - Z[in_plane[i]]));
        ga_lie_cayley_defect(node, x, z);
        ga_lie_cayley_defect(spatial, X, Z);
        for (int i = 0; i < 3; ++i) raise_to(&worst, fabs(z[i] - Z[in_plane[i]]));

        ga_lie_tangent(node, map, x, m);
        ga_lie_tangent(spatial, map, X, M);
        raise_to(&worst, corner_gap(m, M));
        ga_lie_tangent_inverse(node, map, x, m);
        ga_lie_tangent_inverse(spatial, map, X, M);
        raise_to(&worst, corner_gap(m, M));
        ga_lie_tangent_derivative(node, map, x, y, m);
        ga_lie_tangent_derivative(spatial, map, X, Y, M);
        raise_to(&worst, corner_gap(m, M));
        ga_lie_tangent_inverse_derivative(node, map, x, y, m);
        ga_lie_tangent_inverse_derivative(spatial, map, X, Y, M);
        raise_to(&worst, corner_gap(m, M));
        check_small(worst, 1e-14, "embedded", k);
    }
    print_message("  group %d in group %d: %.1e\n", (int)node.group, (int)spatial.group, worst);
}

static void test_embedded(void **state)
{
    (void)state;
    check_embedded(se2, se3);
    check_embedded(r2so2, r3so3);
}

/* SO(2) is the angle of R^2 x SO(2). */
static void test_angle(void **state)
{
    (void)state;
    uint64_t seed = 37;
    for (int k = 0; k < 200; ++k) {
        ga_map map = k % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[3], dx[3], q[3], m[9], a;
        random_vector(&seed, 3, 3, x);
        random_vector(&seed, 3, 1, dx);
        ga_lie_map(r2so2, map, x, q);
        ga_lie_map(so2, map, x + 2, &a);
        check_small(fabs(a - q[2]) + fabs(q[0] - x[0]) + fabs(q[1] - x[1]), 0, "map", k);
        ga_lie_tangent(r2so2, map, x, m);
        ga_lie_tangent(so2, map, x + 2, &a);
        check_small(fabs(a - m[8]), 0, "T", k);
        ga_lie_tangent_inverse_derivative(r2so2, map, x, dx, m);
        ga_lie_tangent_inverse_derivative(so2, map, x + 2, dx + 2, &a);
        check_small(fabs(a - m[8]), 0, "DTinv", k);
    }
}

/* Angles are numbers: log(exp(x)) = x at every angle, over many turns and next to whole ones.
 * T is a complex number times a rotation, and both it and its inverse are relatively accurate,
 * so even next to 2 pi k the position comes back to 10 eps. */
static void test_turns(void **state)
{
    (void)state;
    double worst = 0;
    for (int k = -4000; k < 4000; ++k) {
        double angle = 0.0123 * k;
        if (k % 10 == 0) angle = 2 * PI * (k / 100) * (1 + 1e-9 * (k % 3));
        double x[3] = {0.7, -1.2, angle}, q[3], y[3];
        for (int g = 1; g < 3; ++g) {
            ga_lie_map(planar[g], GA_MAP_EXP, x, q);
            assert_true(q[2] == angle);
            ga_lie_map_inverse(planar[g], GA_MAP_EXP, q, y);
            raise_to(&worst, gap(3, x, y));
            check_small(worst, 2.2e-15, "turns", angle);
        }
    }
    print_message("  log(exp(x)) - x over 8 turns %.1e\n", worst);

    double a = 1e3, b = -7 * PI, ab;
    ga_lie_compose(so2, &a, &b, &ab);
    assert_true(ab == a + b);
}

/* The singular point itself: finite, and it is the closed form's value for the angle given. */
static void test_whole_turn(void **state)
{
    (void)state;
    double q[3] = {1, 0, 2 * PI}, x[3], back[3];
    ga_lie_map_inverse(se2, GA_MAP_EXP, q, x);
    /* (om/2) cot(om/2) at the double next to 2 pi, 2.4e-16 away: pi/1.2e-16 = 2.6e16 */
    assert_true(isfinite(x[0]) && fabs(x[0]) > 1e16 && isfinite(x[1]));
    ga_lie_map(se2, GA_MAP_EXP, x, back);
    /* u reaches 2.6e16 and T^T u is a sum of two products; each has the 2 eps of its factor
     * relative to the result except the one with (om/2), which stays of order 1 */
    check_small(gap(3, q, back), 1e-14, "whole turn", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axioms),   cmocka_unit_test(test_tangents),
        cmocka_unit_test(test_embedded), cmocka_unit_test(test_angle),
        cmocka_unit_test(test_turns),    cmocka_unit_test(test_whole_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
