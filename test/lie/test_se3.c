/* SE(3): the common checks, and the group as 4 x 4 homogeneous matrices. */
#include "group_checks.h"

static const ga_node se3 = GA_NODE(GA_GROUP_SE3, 0);
static const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);

/* (w~ u; 0 0) */
static mat algebra_matrix(const double *x)
{
    mat m = mat_zero(4);
    const double *w = x + 3;
    *mat_at(&m, 2, 1) = (quad)w[0];
    *mat_at(&m, 1, 2) = -(quad)w[0];
    *mat_at(&m, 0, 2) = (quad)w[1];
    *mat_at(&m, 2, 0) = -(quad)w[1];
    *mat_at(&m, 1, 0) = (quad)w[2];
    *mat_at(&m, 0, 1) = -(quad)w[2];
    for (int i = 0; i < 3; ++i) *mat_at(&m, i, 3) = (quad)x[i];
    return m;
}

/* (R x; 0 1), column-major */
static void homogeneous(const double *q, double *H)
{
    double R[9];
    ga_quaternion_to_matrix(q + 3, R);
    for (int j = 0; j < 3; ++j) {
        for (int i = 0; i < 3; ++i) H[i + 4 * j] = R[i + 3 * j];
        H[3 + 4 * j] = 0;
        H[12 + j] = q[j];
    }
    H[15] = 1;
}

static void test_axioms(void **state)
{
    (void)state;
    check_axioms(se3);
}

static void test_tangents(void **state)
{
    (void)state;
    check_tangent_quotient(se3);
    check_derivative_quotient(se3);
    check_oracle(se3, GA_MAP_EXP);
    check_oracle(se3, GA_MAP_CAYLEY);
    check_tangent_inverse(se3);
    check_round_trip(se3);
    check_defect(se3);
}

/* exp = expm, compose = product, inverse = inverse, bracket = commutator; entries up to 5,
 * ten operations: 50 eps = 1.1e-14, commutators and exp to 10 eps. */
static void test_homogeneous(void **state)
{
    (void)state;
    uint64_t seed = 17;
    double worst[4] = {0};
    for (int k = 0; k < 300; ++k) {
        double x[6], y[6], z[6], a[7], b[7], q[7], A[16], B[16], H[16];
        random_vector(&seed, 6, 2, x);
        random_vector(&seed, 6, 2, y);
        if (k < angle_count) at_angle(se3, angles[k], x);
        mat X = algebra_matrix(x), Y = algebra_matrix(y);

        ga_lie_map(se3, GA_MAP_EXP, x, a);
        ga_lie_map(se3, GA_MAP_CAYLEY, y, b);
        homogeneous(a, A);
        homogeneous(b, B);
        mat E = mat_exp(&X);
        raise_to(&worst[0], mat_distance(&E, A));

        mat MA = mat_from(4, A), MB = mat_from(4, B), P = mat_mul(&MA, &MB);
        ga_lie_compose(se3, a, b, q);
        homogeneous(q, H);
        raise_to(&worst[1], mat_distance(&P, H));

        mat inv = mat_inverse(MA);
        ga_lie_inverse(se3, a, q);
        homogeneous(q, H);
        raise_to(&worst[2], mat_distance(&inv, H));

        mat XY = mat_mul(&X, &Y), YX = mat_mul(&Y, &X);
        mat C = mat_axpy(XY, -1, YX);
        ga_lie_bracket(se3, x, y, z);
        mat Z = mat_axpy(algebra_matrix(z), -1, C);
        raise_to(&worst[3], mat_norm(&Z));
    }
    check_small(worst[0], 2.2e-15, "exp - expm", 0);
    check_small(worst[1], 1.1e-14, "compose", 0);
    check_small(worst[2], 1.1e-14, "inverse", 0);
    check_small(worst[3], 4e-15, "bracket", 0);
    print_message("  4x4: exp %.1e compose %.1e inverse %.1e bracket %.1e\n", worst[0],
                  worst[1], worst[2], worst[3]);
}

/* Cayley as written in [DYM] eq. (29): P = (2 + U)/|2 + U| in dual quaternions, computed here
 * as one. With 2 + U = A + e B, |A + e B| = |A| + e A.B/|A|, P = A/|A| + e (B - A (A.B)/|A|^2)
 * /|A|, and the position is twice the vector part of (dual part)(real part)^*. */
static void test_dual_quaternion(void **state)
{
    (void)state;
    uint64_t seed = 23;
    for (int k = 0; k < 1000; ++k) {
        double x[6], q[7];
        random_vector(&seed, 6, 3, x);
        quad A[4] = {2}, B[4] = {0}, AA = 4, AB = 0, D[4];
        for (int i = 0; i < 3; ++i) {
            A[i + 1] = (quad)x[i + 3];
            B[i + 1] = (quad)x[i];
            AA += A[i + 1] * A[i + 1];
            AB += A[i + 1] * B[i + 1];
        }
        quad n = quad_sqrt(AA);
        for (int i = 0; i < 4; ++i) D[i] = (B[i] - A[i] * AB / AA) / n;
        for (int i = 0; i < 4; ++i) A[i] /= n;
        /* 2 D A^*: vector part -D0 a + A0 d - d x a */
        quad pos[3] = {
            2 * (-D[0] * A[1] + A[0] * D[1] - (D[2] * A[3] - D[3] * A[2])),
            2 * (-D[0] * A[2] + A[0] * D[2] - (D[3] * A[1] - D[1] * A[3])),
            2 * (-D[0] * A[3] + A[0] * D[3] - (D[1] * A[2] - D[2] * A[1])),
        };
        ga_lie_map(se3, GA_MAP_CAYLEY, x, q);
        for (int i = 0; i < 4; ++i)
            check_small(fabs((double)(A[i] - (quad)q[i + 3])), 4e-16, "rotation", k);
        for (int i = 0; i < 3; ++i) /* up to 5: 4 eps of it */
            check_small(fabs((double)(pos[i] - (quad)q[i])), 4e-15, "position", k);
    }
}

/* The upper right block of T and T^-1 is the directional derivative of SO(3)'s. */
static void test_blocks(void **state)
{
    (void)state;
    uint64_t seed = 29;
    for (int k = 0; k < 500; ++k) {
        ga_map map = k % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[6], T[36], D[9];
        random_vector(&seed, 6, 2, x);
        for (int which = 0; which < 2; ++which) {
            if (which) {
                ga_lie_tangent_inverse(se3, map, x, T);
                ga_lie_tangent_inverse_derivative(so3, map, x + 3, x, D);
            } else {
                ga_lie_tangent(se3, map, x, T);
                ga_lie_tangent_derivative(so3, map, x + 3, x, D);
            }
            for (int j = 0; j < 3; ++j)
                for (int i = 0; i < 3;
                     ++i) { /* the same code but for contraction: 4 eps of 4 */
                    check_small(fabs(T[i + 6 * (j + 3)] - D[i + 3 * j]), 4e-15, "block", k);
                    check_small(fabs(T[i + 3 + 6 * j]), 0, "zero block", k);
                }
        }
    }
}

/* T(x) x = x: exp(s x) is a one-parameter group. Not so for Cayley. */
static void test_one_parameter(void **state)
{
    (void)state;
    for (int k = 0; k < angle_count; ++k) {
        double x[6], T[36], y[6];
        at_angle(se3, angles[k], x);
        ga_lie_tangent(se3, GA_MAP_EXP, x, T);
        multiply(6, T, x, y);
        check_small(gap(6, x, y), 1.1e-14, "T x - x", angles[k]); /* 10 eps of 5 */
    }
}

/* The difference of two near poses far from the origin keeps the digits of the step: positions
 * are exact to ulp(1e6) = 1.2e-10, no more is lost. */
static void test_far_away(void **state)
{
    (void)state;
    const double x[6] = {1e-3, -2e-3, 3e-3, 0.02, 0.01, -0.03};
    double a[7] = {1e6, -2e6, 3e6, 0.5, 0.5, -0.5, 0.5}, b[7], y[6];
    ga_nodes_update(1, &se3, GA_MAP_EXP, a, x, b);
    ga_nodes_difference(1, &se3, a, b, y);
    check_small(gap(3, x, y), 1e-9, "position", 0);
    check_small(gap(3, x + 3, y + 3), 5e-16, "rotation", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_axioms),      cmocka_unit_test(test_tangents),
        cmocka_unit_test(test_homogeneous), cmocka_unit_test(test_dual_quaternion),
        cmocka_unit_test(test_blocks),      cmocka_unit_test(test_one_parameter),
        cmocka_unit_test(test_far_away),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
