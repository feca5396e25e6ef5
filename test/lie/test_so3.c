/* SO(3) and R^3 x SO(3), the coefficient functions of both maps, and quaternions. */
#include "group_checks.h"

#include "lie/chart.h"

static const ga_node so3 = GA_NODE(GA_GROUP_SO3, 0);
static const ga_node r3so3 = GA_NODE(GA_GROUP_R3SO3, 0);

/* --- Coefficients against quadruple precision ----------------------------------------------
 */

typedef struct exact_jets {
    quad a[3], b[3], c[3]; /* exp T */
    quad ai[3], ci[3];     /* exp T^-1 */
    quad w, v;             /* rotor */
} exact_jets;

/* g = -c2'/c2 =: -p; p' = c2''/c2 - p^2, p'' = c2'''/c2 - p c2''/c2 - 2 p p'. */
static exact_jets exact(double at)
{
    exact_jets e;
    quad s = at;
    for (int m = 0; m < 3; ++m) {
        e.a[m] = stumpff(1, m, s);
        e.b[m] = -stumpff(2, m, s);
        e.c[m] = stumpff(3, m, s);
    }
    quad c2 = stumpff(2, 0, s), p2 = stumpff(2, 2, s) / c2;
    quad p = stumpff(2, 1, s) / c2;
    quad dp = p2 - p * p;
    quad ddp = stumpff(2, 3, s) / c2 - p * p2 - 2 * p * dp;
    e.ci[0] = -p;
    e.ci[1] = -dp;
    e.ci[2] = -ddp;
    e.ai[0] = 1 - s * e.ci[0];
    e.ai[1] = -e.ci[0] - s * e.ci[1];
    e.ai[2] = -2 * e.ci[1] - s * e.ci[2];
    e.w = stumpff(0, 0, s / 4);
    e.v = stumpff(1, 0, s / 4) / 2;
    return e;
}

static double off(double value, quad truth, quad scale)
{
    quad size = truth < 0 ? -truth : truth, d = (quad)value - truth;
    if (size < scale) size = scale;
    return (double)((d < 0 ? -d : d) / size);
}

enum { errors = 17 };
static const char *const error_name[errors] = {
    "T a",    "T b",    "T c",     "T a'",    "T b'",     "T c'",     "T a''", "T b''", "T c''",
    "Tinv a", "Tinv c", "Tinv a'", "Tinv c'", "Tinv a''", "Tinv c''", "cos",   "sinc",
};
/* Relative errors allowed, in units of eps = 2.2e-16. Values are one to three roundings; each
 * further derivative is, beyond its series, a difference of two such over s, where at the
 * switch the difference is a third (T c', t = 3) and then a fifth (T c'', t = 4) of its terms.
 * a, a', a'' of T and a of T^-1 have zeros and are judged on the scale of a(0). */
static const double allowed[errors] = {2, 4, 4, 4, 4, 8, 4, 4, 12, 3, 3, 3, 5, 6, 8, 1, 2};

static void measure(double s, double *err)
{
    exact_jets e = exact(s);
    ga_jet T, I;
    ga_rotor r = ga_chart_exp.rotor(s);
    ga_chart_exp.tangent(s, r, 2, &T);
    ga_chart_exp.tangent_inverse(s, 2, &I);
    const quad scale[3] = {1, 1 / (quad)6, 1 / (quad)60};
    for (int m = 0; m < 3; ++m) {
        err[3 * m] = off(T.a[m], e.a[m], scale[m]);
        err[3 * m + 1] = off(T.b[m], e.b[m], 0);
        err[3 * m + 2] = off(T.c[m], e.c[m], 0);
        err[9 + 2 * m] = off(I.a[m], e.ai[m], m ? 0 : 1);
        err[10 + 2 * m] = off(I.c[m], e.ci[m], 0);
    }
    err[15] = off(r.w, e.w, 1);
    err[16] = off(r.v, e.v, 0);

    /* lower orders alone are the same numbers */
    for (int order = 0; order < 2; ++order) {
        ga_jet less;
        ga_chart_exp.tangent(s, r, order, &less);
        for (int m = 0; m <= order; ++m) {
            check_small(fabs(less.a[m] - T.a[m]), 0, "order of jet", s);
            check_small(fabs(less.b[m] - T.b[m]), 0, "order of jet", s);
            /* c comes from the same series in another loop; contraction may differ */
            check_small(fabs(less.c[m] / T.c[m] - 1), 4.5e-16, "order of jet", s);
        }
        ga_chart_exp.tangent_inverse(s, order, &less);
        check_small(fabs(less.c[0] / I.c[0] - 1), 4.5e-16, "order of jet", s);
    }
}

/* sqrt(s) is rounded, so sin(t/2) has the relative error eps t/(2 pi - t) near 2 pi. */
static double near_whole_turn(double t) { return fmax(1, 4 / (2 * PI - t)); }

static void test_coefficients(void **state)
{
    (void)state;
    double worst[errors] = {0}, err[errors];
    for (int k = 1; k < 6280; ++k) {
        double t = 0.001 * k;
        measure(t * t, err);
        double near = near_whole_turn(t);
        for (int i = 0; i < errors; ++i) {
            check_small(err[i], allowed[i] * 0x1p-52 * near, error_name[i], t);
            raise_to(&worst[i], err[i] / near);
        }
    }
    for (int i = 0; i < errors; ++i)
        print_message("  %-9s %5.2f eps\n", error_name[i], ldexp(worst[i], 52));
}

/* Both sides of every switch are right to the same bounds, so nothing jumps; and s = 0,
 * underflowed squares and subnormals are no special cases. */
static void test_switches(void **state)
{
    (void)state;
    const double at[] = {0.0625, 4, 9, 16, 25, 1e-300, 5e-324, 1e-16, 1e-8};
    double err[errors];
    for (size_t k = 0; k < sizeof at / sizeof *at; ++k)
        for (int side = 0; side < 3; ++side) {
            double s = side == 0   ? nextafter(at[k], 0)
                       : side == 1 ? at[k]
                                   : nextafter(at[k], 40);
            measure(s, err);
            for (int i = 0; i < errors; ++i)
                check_small(err[i], allowed[i] * 0x1p-52 * near_whole_turn(sqrt(s)),
                            error_name[i], s);
        }
    measure(0, err);
    for (int i = 0; i < errors; ++i) check_small(err[i], 0x1p-52, error_name[i], 0);
}

/* Turns beyond 2 pi use the closed forms; T from the definition of its coefficients. */
static void test_many_turns(void **state)
{
    (void)state;
    for (double t = 6.5; t < 200; t += 0.37) {
        ga_jet T;
        double s = t * t;
        ga_chart_exp.tangent(s, ga_chart_exp.rotor(s), 0, &T);
        long double u = (long double)t;
        /* sqrt(t t) = t exactly; 4 eps of 1/t, 1/t^2 */
        check_small(fabs((double)(sinl(u) / u - (long double)T.a[0])) * t, 1e-15, "a", t);
        check_small(fabs((double)((1 - cosl(u)) / (u * u) + (long double)T.b[0])) * s, 1e-15,
                    "b", t);
        check_small(fabs((double)((u - sinl(u)) / (u * u * u) - (long double)T.c[0])) * s,
                    1e-15, "c", t);
    }
}

/* --- The groups -----------------------------------------------------------------------------
 */

static void test_axioms(void **state)
{
    (void)state;
    check_axioms(so3);
    check_axioms(r3so3);
}

static void test_tangents(void **state)
{
    (void)state;
    const ga_node both[] = {so3, r3so3};
    for (int i = 0; i < 2; ++i) {
        check_tangent_quotient(both[i]);
        check_derivative_quotient(both[i]);
        check_tangent_inverse(both[i]);
        check_round_trip(both[i]);
        check_defect(both[i]);
    }
    check_oracle(so3, GA_MAP_EXP);
    check_oracle(so3, GA_MAP_CAYLEY);
    check_oracle(r3so3, GA_MAP_EXP); /* with Cayley ad does not determine the position part */
}

/* R(exp x) = expm(x~), entries of order 1: 4 eps. */
static void test_rotation_matrix(void **state)
{
    (void)state;
    double worst = 0;
    for (int k = 0; k < angle_count; ++k) {
        double x[3], p[4], R[9];
        at_angle(so3, angles[k], x);
        mat X = mat_zero(3);
        *mat_at(&X, 2, 1) = (quad)x[0];
        *mat_at(&X, 1, 2) = -(quad)x[0];
        *mat_at(&X, 0, 2) = (quad)x[1];
        *mat_at(&X, 2, 0) = -(quad)x[1];
        *mat_at(&X, 1, 0) = (quad)x[2];
        *mat_at(&X, 0, 1) = -(quad)x[2];
        mat E = mat_exp(&X);
        ga_lie_map(so3, GA_MAP_EXP, x, p);
        ga_quaternion_to_matrix(p, R);
        raise_to(&worst, mat_distance(&E, R));
        /* and to_matrix, rotate, rotate_back, from_matrix are of one mind */
        double y[3] = {0.3, -1.1, 0.6}, a[3], b[3], back[4];
        multiply(3, R, y, a);
        ga_quaternion_rotate(p, y, b);
        check_small(gap(3, a, b), 1e-15, "rotate", angles[k]);
        ga_quaternion_rotate_back(p, b, b);
        check_small(gap(3, b, y), 1e-15, "rotate back", angles[k]);
        ga_quaternion_from_matrix(R, back);
        check_small(apart(so3, p, back), 1e-15, "from matrix", angles[k]);
    }
    check_small(worst, 9e-16, "R - expm", 0);
    print_message("  R - expm %.1e\n", worst);
}

/* The four branches of from_matrix: half turns about and near each axis, and random ones. */
static void test_from_matrix(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int k = 0; k < 4000; ++k) {
        double p[4], R[9], back[4], n2 = 0;
        random_vector(&seed, 4, k % 4 ? 1 : 1e-3, p);
        if (k % 4) p[0] *= k % 8 < 4 ? 1e-9 : 1;
        p[k / 4 % 4] += 1;
        for (int i = 0; i < 4; ++i) n2 += p[i] * p[i];
        for (int i = 0; i < 4; ++i) p[i] /= sqrt(n2);
        ga_quaternion_to_matrix(p, R);
        ga_quaternion_from_matrix(R, back);
        assert_true(back[0] >= 0);
        check_small(apart(so3, p, back), 1e-15, "from matrix", k); /* 4 eps */
    }
    for (int i = 0; i < 3; ++i) {
        double R[9] = {-1, 0, 0, 0, -1, 0, 0, 0, -1}, p[4], expected[4] = {0};
        R[4 * i] = 1;
        expected[i + 1] = 1;
        ga_quaternion_from_matrix(R, p);
        check_small(gap(4, p, expected), 0, "half turn", i);
    }
}

/* At angle pi exactly p and -p give one representative, and its exp is the rotation again. */
static void test_half_turn(void **state)
{
    (void)state;
    const double turns[][4] = {{0, 0.6, 0, -0.8},   {0, -0.6, 0, 0.8}, {-0.0, 0, -0.28, 0.96},
                               {0, 0, 0.28, -0.96}, {0, 0, 0, -1},     {0, -1, 0, 0}};
    for (size_t k = 0; k < sizeof turns / sizeof *turns; ++k) {
        double minus[4], x[3], y[3], p[4];
        for (int i = 0; i < 4; ++i) minus[i] = -turns[k][i];
        ga_lie_map_inverse(so3, GA_MAP_EXP, turns[k], x);
        ga_lie_map_inverse(so3, GA_MAP_EXP, minus, y);
        check_small(gap(3, x, y), 0, "representative", (double)k);
        check_small(fabs(sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]) - PI), 1e-15, "pi",
                    (double)k);
        ga_lie_map(so3, GA_MAP_EXP, x, p);
        check_small(apart(so3, p, turns[k]), 5e-16, "exp log", (double)k);
    }
}

/* log(exp(x)) = x over all sizes of x, relative to x: two roundings of the quaternion, two of
 * the factor. Near pi the quaternion's 1e-16 is absolute, of 3. */
static void test_logarithm(void **state)
{
    (void)state;
    double worst = 0;
    for (int k = 0; k <= 4000; ++k) {
        double t = PI * pow(10, -0.004 * k), x[3], y[3], p[4];
        at_angle(so3, t * (1 - 1e-9), x);
        ga_lie_map(so3, GA_MAP_EXP, x, p);
        ga_lie_map_inverse(so3, GA_MAP_EXP, p, y);
        raise_to(&worst, gap(3, x, y) / t);
        check_small(worst, 9e-16, "log exp", t);
    }
    print_message("  log(exp(x)) - x, relative %.1e\n", worst);
}

/* Cayley is Euler parameters, [DYM] eq. (29): (2 + x)/|2 + x|; angle 2 atan(|x|/2). */
static void test_cayley(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 1000; ++k) {
        double x[3], p[4], log[3];
        random_vector(&seed, 3, 4, x);
        quad n = 0;
        for (int i = 0; i < 3; ++i) n += (quad)x[i] * (quad)x[i];
        quad length = quad_sqrt(4 + n);
        ga_lie_map(so3, GA_MAP_CAYLEY, x, p);
        check_small(fabs((double)(2 / length - (quad)p[0])), 3e-16, "w", k);
        for (int i = 0; i < 3; ++i)
            check_small(fabs((double)((quad)x[i] / length - (quad)p[i + 1])), 3e-16, "v", k);
        ga_lie_map_inverse(so3, GA_MAP_EXP, p, log);
        double angle = sqrt(log[0] * log[0] + log[1] * log[1] + log[2] * log[2]);
        check_small(fabs(angle - 2 * atan((double)quad_sqrt(n) / 2)), 2e-15, "angle", k);
    }
}

/* The rotation part of R^3 x SO(3) is SO(3), and positions just add. The same code on the
 * same numbers; compilers that contract to fused operations may do so differently in two
 * places: 4 eps of entries up to 4. */
static void test_product(void **state)
{
    (void)state;
    uint64_t seed = 9;
    for (int k = 0; k < 500; ++k) {
        ga_map map = k % 2 ? GA_MAP_CAYLEY : GA_MAP_EXP;
        double x[6], dx[6], q[7], p[4], M[36], m[9];
        random_vector(&seed, 6, 2.5, x);
        random_vector(&seed, 6, 1, dx);
        ga_lie_map(r3so3, map, x, q);
        ga_lie_map(so3, map, x + 3, p);
        check_small(gap(4, q + 3, p) + gap(3, q, x), 0, "map", k);
        for (int what = 0; what < 5; ++what) {
            if (what == 0) ga_lie_tangent(r3so3, map, x, M), ga_lie_tangent(so3, map, x + 3, m);
            if (what == 1) {
                ga_lie_tangent_inverse(r3so3, map, x, M);
                ga_lie_tangent_inverse(so3, map, x + 3, m);
            }
            if (what == 2) {
                ga_lie_tangent_derivative(r3so3, map, x, dx, M);
                ga_lie_tangent_derivative(so3, map, x + 3, dx + 3, m);
            }
            if (what == 3) {
                ga_lie_tangent_inverse_derivative(r3so3, map, x, dx, M);
                ga_lie_tangent_inverse_derivative(so3, map, x + 3, dx + 3, m);
            }
            if (what == 4) ga_lie_adjoint(r3so3, q, M), ga_lie_adjoint(so3, p, m);
            double one = what == 2 || what == 3 ? 0 : 1;
            for (int j = 0; j < 6; ++j)
                for (int i = 0; i < 6; ++i) {
                    double expected = i == j ? one : 0;
                    if (i >= 3 && j >= 3) expected = m[i - 3 + 3 * (j - 3)];
                    check_small(fabs(M[i + 6 * j] - expected), 4e-15, "block", what);
                }
        }
    }
}

static void quad_product(const quad *a, const quad *b, quad *ab)
{
    quad p[4] = {
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] + a[2] * b[0] + a[3] * b[1] - a[1] * b[3],
        a[0] * b[3] + a[3] * b[0] + a[1] * b[2] - a[2] * b[1],
    };
    memcpy(ab, p, sizeof p);
}

/* (p/|p|)^n */
static void power(const double *p, int n, double *result)
{
    quad base[4], q[4] = {1}, n2 = 0;
    for (int i = 0; i < 4; ++i) n2 += (quad)p[i] * (quad)p[i];
    for (int i = 0; i < 4; ++i) base[i] = (quad)p[i] / quad_sqrt(n2);
    for (; n > 0; n /= 2) {
        if (n % 2) quad_product(q, base, q);
        quad_product(base, base, base);
    }
    for (int i = 0; i < 4; ++i) result[i] = (double)q[i];
}

/* 1e7 products with one fixed turn. Length: 8 eps in |p|^2 are let pass, and each product adds
 * about one: 1.2e-15. Direction: the exact result is the 1e7-th power of
 * the rounded turn, by squaring in quadruple precision. Each product rounds by about 2
 * eps in a direction that turns along: a random walk of length sqrt(1e7) * 4.4e-16 = 1.4e-12 in
 * the quaternion. Five times that is allowed; scaling at every product fails (so3.h), and a
 * bias of half an ulp per product would give 1e-9. */
static void run_long(const double *x)
{
    enum { steps = 10000000 };
    double turn[4], p[4], worst_length = 0;
    ga_lie_map(so3, GA_MAP_EXP, x, turn);
    ga_lie_identity(so3, p);
    for (int k = 0; k < steps; ++k) {
        ga_lie_compose(so3, p, turn, p);
        if (k % 100 == 0) {
            quad n2 = 0;
            for (int i = 0; i < 4; ++i) n2 += (quad)p[i] * (quad)p[i];
            raise_to(&worst_length, fabs((double)(quad_sqrt(n2) - 1)));
        }
    }
    double expected[4];
    power(turn, steps, expected);
    double drift = apart(so3, p, expected);
    check_small(worst_length, 1.2e-15, "length", 0);
    check_small(drift, 7e-12, "drift", 0);
    print_message("  1e7 products: | |p| - 1 | %.1e, drift %.1e\n", worst_length, drift);
}

static void test_long_run(void **state)
{
    (void)state;
    const double turns[3][3] = {
        {0.0123, -0.0311, 0.0207}, {0.3, 0.1, -0.7}, {1e-4, 2e-4, -3e-4}};
    for (int k = 0; k < 3; ++k) run_long(turns[k]);
}

/* A poor quaternion is brought to unit length in one product. */
static void test_poor_quaternion(void **state)
{
    (void)state;
    const double turn[4] = {0.5, -0.1, 0.7, -0.5}; /* |p| = 1 */
    for (double scale = 0.5; scale < 2; scale += 0.125) {
        double poor[4], e[4], n2 = 0;
        for (int i = 0; i < 4; ++i) poor[i] = scale * turn[i];
        ga_lie_identity(so3, e);
        ga_lie_compose(so3, poor, e, poor);
        for (int i = 0; i < 4; ++i) n2 += poor[i] * poor[i];
        check_small(fabs(n2 - 1), 2e-15, "poor quaternion", scale);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_coefficients),    cmocka_unit_test(test_switches),
        cmocka_unit_test(test_many_turns),      cmocka_unit_test(test_axioms),
        cmocka_unit_test(test_tangents),        cmocka_unit_test(test_rotation_matrix),
        cmocka_unit_test(test_from_matrix),     cmocka_unit_test(test_half_turn),
        cmocka_unit_test(test_logarithm),       cmocka_unit_test(test_cayley),
        cmocka_unit_test(test_product),         cmocka_unit_test(test_long_run),
        cmocka_unit_test(test_poor_quaternion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
