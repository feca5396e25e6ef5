/* The families' formulas by hand, their ranges, and what is said about a method against roots
 * found by brute force. */
#include "test/support/cases.h"

#include <complex.h>
#include <float.h>

static const double eps = DBL_EPSILON;

static void assert_method(ga_coefficients got, double am, double af, double beta, double gamma)
{
    assert_below(fabs(got.alpha_m - am), 2 * eps, "alpha_m");
    assert_below(fabs(got.alpha_f - af), 2 * eps, "alpha_f");
    assert_below(fabs(got.beta - beta), 2 * eps, "beta");
    assert_below(fabs(got.gamma - gamma), 2 * eps, "gamma");
}

/* --- the families ------------------------------------------------------------------------ */

static void test_generalized_alpha(void **state)
{
    (void)state;
    ga_coefficients m;
    ga_report report;
    /* rho = 0: (-1, 0), gamma 3/2, beta (3/2 + 1/2)^2/4 = 1 */
    assert_status(ga_coefficients_generalized_alpha(0, &m, &report), GA_OK, report);
    assert_method(m, -1, 0, 1, 1.5);
    /* rho = 1/2: (0, 1/3), gamma 5/6, beta (4/3)^2/4 = 4/9 */
    assert_int_equal(ga_coefficients_generalized_alpha(0.5, &m, &report), GA_OK);
    assert_method(m, 0, 1.0 / 3, 4.0 / 9, 5.0 / 6);
    /* rho = 0.9: (8/19, 9/19), gamma 21/38, beta (20/19)^2/4 = 100/361 */
    assert_int_equal(ga_coefficients_generalized_alpha(0.9, &m, &report), GA_OK);
    assert_method(m, 8.0 / 19, 9.0 / 19, 100.0 / 361, 21.0 / 38);
    /* rho = 1: (1/2, 1/2), gamma 1/2, beta 1/4 */
    assert_int_equal(ga_coefficients_generalized_alpha(1, &m, &report), GA_OK);
    assert_method(m, 0.5, 0.5, 0.25, 0.5);
    assert_int_equal(report.status, GA_OK);
    assert_string_equal(report.message, "");
}

static void test_hht(void **state)
{
    (void)state;
    ga_coefficients m;
    ga_report report;
    /* alpha = -1/3: (0, 1/3), gamma 1/2 + 1/3, beta (1 + 1/3)^2/4 = 4/9 */
    assert_status(ga_coefficients_hht(-1.0 / 3, &m, &report), GA_OK, report);
    assert_method(m, 0, 1.0 / 3, 4.0 / 9, 5.0 / 6);
    /* alpha = -0.1: gamma 0.6, beta 1.21/4 */
    assert_int_equal(ga_coefficients_hht(-0.1, &m, &report), GA_OK);
    assert_method(m, 0, 0.1, 0.3025, 0.6);
    /* alpha = 0: trapezoidal rule */
    assert_int_equal(ga_coefficients_hht(0, &m, &report), GA_OK);
    assert_method(m, 0, 0, 0.25, 0.5);
}

static void test_newmark(void **state)
{
    (void)state;
    ga_coefficients m;
    ga_report report;
    assert_status(ga_coefficients_newmark(0.25, 0.5, &m, &report), GA_OK, report);
    assert_method(m, 0, 0, 0.25, 0.5);
    assert_int_equal(ga_coefficients_newmark(1.0 / 6, 0.5, &m, &report), GA_OK);
    assert_method(m, 0, 0, 1.0 / 6, 0.5);
    assert_int_equal(ga_coefficients_newmark(0.3025, 0.6, &m, &report), GA_OK);
    assert_method(m, 0, 0, 0.3025, 0.6);
}

static void test_wbz(void **state)
{
    (void)state;
    ga_coefficients m;
    ga_report report;
    /* rho = 0: (-1, 0), gamma 3/2, beta 1 */
    assert_status(ga_coefficients_wbz(0, &m, &report), GA_OK, report);
    assert_method(m, -1, 0, 1, 1.5);
    /* rho = 0.6: (-1/4, 0), gamma 3/4, beta (5/4)^2/4 = 25/64 */
    assert_int_equal(ga_coefficients_wbz(0.6, &m, &report), GA_OK);
    assert_method(m, -0.25, 0, 25.0 / 64, 0.75);
    assert_int_equal(ga_coefficients_wbz(1, &m, &report), GA_OK);
    assert_method(m, 0, 0, 0.25, 0.5);
}

typedef ga_status one_number(double x, ga_coefficients *method, ga_report *report);

static void out_of_range(one_number *family, double x, const char *word)
{
    ga_coefficients m = GA_COEFFICIENTS(1, 2, 3, 4);
    ga_report report;
    assert_status(family(x, &m, &report), GA_ERR_METHOD, report);
    assert_int_equal(report.status, GA_ERR_METHOD);
    assert_message(report, word);
    assert_int_equal(family(x, &m, NULL), GA_ERR_METHOD);
    assert_method(m, 1, 2, 3, 4); /* untouched */
}

static void test_ranges(void **state)
{
    (void)state;
    const double rhos[] = {NAN, -INFINITY, INFINITY, -eps, 1 + eps, 2, -1, 1e308};
    const double alphas[] = {NAN,  -INFINITY, INFINITY, DBL_MIN, -1.0 / 3 - eps,
                             -0.5, 1,         0.1,      -1e308};
    for (size_t k = 0; k < sizeof rhos / sizeof *rhos; ++k) {
        out_of_range(ga_coefficients_generalized_alpha, rhos[k], "rho_inf");
        out_of_range(ga_coefficients_wbz, rhos[k], "rho_inf");
    }
    for (size_t k = 0; k < sizeof alphas / sizeof *alphas; ++k)
        out_of_range(ga_coefficients_hht, alphas[k], "alpha");

    const double newmark[][2] = {{0, 0.5},    {-0.25, 0.5},     {NAN, 0.5},  {INFINITY, 0.5},
                                 {0.25, NAN}, {0.25, INFINITY}, {-0.0, 0.5}, {0.25, -INFINITY}};
    for (size_t k = 0; k < sizeof newmark / sizeof *newmark; ++k) {
        ga_coefficients m = GA_COEFFICIENTS(1, 2, 3, 4);
        ga_report report;
        assert_status(ga_coefficients_newmark(newmark[k][0], newmark[k][1], &m, &report),
                      GA_ERR_METHOD, report);
        assert_message(report, "beta");
        assert_int_equal(ga_coefficients_newmark(newmark[k][0], newmark[k][1], &m, NULL),
                         GA_ERR_METHOD);
        assert_method(m, 1, 2, 3, 4);
    }
    ga_coefficients m;
    assert_int_equal(ga_coefficients_generalized_alpha(0.5, &m, NULL), GA_OK);
    assert_int_equal(ga_coefficients_hht(-0.1, &m, NULL), GA_OK);
    assert_int_equal(ga_coefficients_wbz(0.5, &m, NULL), GA_OK);
    assert_int_equal(ga_coefficients_newmark(0.25, 0.5, &m, NULL), GA_OK);
}

/* --- roots by brute force ---------------------------------------------------------------- */

/* Largest modulus of the roots of c[0] + c[1] z + ... + c[n] z^n, by Durand and Kerner. A root
 * of multiplicity k comes out to about eps^(1/k). */
static double largest_root(int n, const double *c)
{
    double complex z[6];
    double bound = 0;
    for (int i = 0; i < n; ++i) bound = fmax(bound, fabs(c[i] / c[n]));
    for (int i = 0; i < n; ++i)
        z[i] = (0.5 + 0.5 * bound) * cexp(I * (0.4 + 6.2831853 * i / n));
    for (int round = 0; round < 400; ++round) {
        for (int i = 0; i < n; ++i) {
            double complex p = c[n], product = c[n];
            for (int k = n - 1; k >= 0; --k) p = p * z[i] + c[k];
            for (int k = 0; k < n; ++k)
                if (k != i) product *= z[i] - z[k];
            if (cabs(product) > 0) z[i] -= p / product;
        }
    }
    double most = 0;
    for (int i = 0; i < n; ++i) most = fmax(most, cabs(z[i]));
    return most;
}

/* The recursion in z: with v' as input and q as output,
 *     ((1 - am) z + am) (z - 1)^2 q = ((1 - af) z + af) S(z) v',
 *     S = (1 - gamma + gamma z) + (z - 1)(1/2 - beta + beta z)
 * from the three lines in method.h with h = 1; for v' = -w q the roots of
 *     rho(z) + w sigma(z),  w = (h omega)^2
 * are the amplification factors. rho is (21) of [AB07], sigma (22). */
static void polynomials(const ga_coefficients *m, double *rho, double *sigma)
{
    const double S[3] = {1 - m->gamma - (0.5 - m->beta), m->gamma + 0.5 - 2 * m->beta, m->beta};
    const double square[3] = {1, -2, 1};
    const double am[2] = {m->alpha_m, 1 - m->alpha_m}, af[2] = {m->alpha_f, 1 - m->alpha_f};
    for (int i = 0; i < 4; ++i) rho[i] = sigma[i] = 0;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j) {
            rho[i + j] += am[i] * square[j];
            sigma[i + j] += af[i] * S[j];
        }
}

static double radius_at_infinity(const ga_coefficients *m)
{
    double rho[4], sigma[4];
    polynomials(m, rho, sigma);
    return largest_root(3, sigma);
}

/* Largest amplification factor over w from 1e-3 to 1e7. */
static double radius_over_all(const ga_coefficients *m)
{
    double rho[4], sigma[4], sum[4], most = 0;
    polynomials(m, rho, sigma);
    for (int k = 0; k <= 100; ++k) {
        const double w = pow(10, -3 + 0.1 * k);
        for (int i = 0; i < 4; ++i) sum[i] = rho[i] + w * sigma[i];
        most = fmax(most, largest_root(3, sum));
    }
    return most;
}

static double between(uint64_t *seed, double low, double high)
{
    return low + 0.5 * (high - low) * (1 + uniform(seed));
}

static void test_rho_infinity_against_roots(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int k = 0; k < 3000; ++k) {
        const ga_coefficients m =
            GA_COEFFICIENTS(between(&seed, -1, 0.5), between(&seed, -0.5, 0.7),
                            between(&seed, 0.05, 1.5), between(&seed, 0.1, 2));
        const double expected = radius_at_infinity(&m);
        const ga_coefficient_properties p = ga_coefficients_describe(&m);
        /* near a double root both sides lose half the digits */
        assert_below(fabs(p.rho_infinity - expected), 1e-6 * fmax(1, expected),
                     "random method");
        if (fabs(expected - 1) > 1e-6)
            assert_int_equal(p.strictly_stable_at_infinity, expected < 1);
    }
}

/* Chung and Hulbert choose beta so that sigma has a triple root -rho_inf, where a perturbation
 * eps moves roots by eps^(1/2) in the quadratic factor: 1e-7 is round-off here. */
static void test_chung_hulbert_reaches_rho_inf(void **state)
{
    (void)state;
    for (int k = 0; k <= 1000; ++k) {
        const double rho_inf = 1e-3 * k;
        ga_coefficients m;
        assert_int_equal(ga_coefficients_generalized_alpha(rho_inf, &m, NULL), GA_OK);
        const ga_coefficient_properties p = ga_coefficients_describe(&m);
        assert_below(fabs(p.rho_infinity - rho_inf), 1e-7, "generalized-alpha");
        assert_below(fabs(p.shift - (m.alpha_m - m.alpha_f)), 0, "shift");
        assert_below(fabs(p.order_defect), 4 * eps, "order defect");
        assert_true(p.second_order && p.zero_stable && p.unconditionally_stable);
        assert_int_equal(p.strictly_stable_at_infinity, rho_inf < 1);

        assert_int_equal(ga_coefficients_wbz(rho_inf, &m, NULL), GA_OK);
        const ga_coefficient_properties w = ga_coefficients_describe(&m);
        assert_below(fabs(w.rho_infinity - rho_inf), 1e-7, "wbz");
        assert_true(w.second_order && w.zero_stable && w.unconditionally_stable);
        assert_int_equal(w.strictly_stable_at_infinity, rho_inf < 1);
    }
}

/* HHT: the quadratic factor has the double root -(1 + alpha)/(1 - alpha), the linear one
 * alpha/(1 + alpha); they meet in modulus at alpha = -1/3 with 1/2. */
static void test_hht_at_infinity(void **state)
{
    (void)state;
    for (int k = 0; k <= 100; ++k) {
        const double alpha = fmax(-1.0 / 3, -k / 300.0);
        ga_coefficients m;
        assert_int_equal(ga_coefficients_hht(alpha, &m, NULL), GA_OK);
        const ga_coefficient_properties p = ga_coefficients_describe(&m);
        assert_below(fabs(p.rho_infinity - (1 + alpha) / (1 - alpha)), 1e-7, "hht");
        assert_true(p.second_order && p.zero_stable && p.unconditionally_stable);
        assert_int_equal(p.strictly_stable_at_infinity, alpha < 0);
    }
}

/* --- the statements about stability ------------------------------------------------------ */

/* For second-order methods the conditions (23) are the stability for every h omega: brute force
 * agrees wherever the margin is not at round-off. */
static void test_unconditional_stability_second_order(void **state)
{
    (void)state;
    uint64_t seed = 17;
    int stable = 0, unstable = 0;
    for (int k = 0; k < 400; ++k) {
        ga_coefficients m =
            GA_COEFFICIENTS(between(&seed, -1, 0.49), between(&seed, -0.5, 0.49), 0, 0);
        const double least = 0.25 + 0.5 * (m.alpha_f - m.alpha_m);
        m.gamma = 0.5 - m.alpha_m + m.alpha_f;
        m.beta = least + between(&seed, -0.4, 0.6);
        if (m.beta < 0.02 || fabs(m.beta - least) < 0.02 || m.gamma < 0.02) continue;
        if (fabs(m.alpha_m - m.alpha_f) < 0.02) continue;
        const ga_coefficient_properties p = ga_coefficients_describe(&m);
        const double most = radius_over_all(&m);
        if (p.unconditionally_stable) assert_below(most, 1 + 1e-6, "said to be stable");
        if (!p.unconditionally_stable && !(most > 1 + 1e-9))
            fail_msg("am %g af %g beta %g gamma %g: said to be unstable, largest root %.12g",
                     m.alpha_m, m.alpha_f, m.beta, m.gamma, most);
        ++*(p.unconditionally_stable ? &stable : &unstable);
    }
    assert_true(stable > 50 && unstable > 50);
}

/* Whatever gamma is: a method called unconditionally stable has no growing solution. */
static void test_unconditional_stability_first_order(void **state)
{
    (void)state;
    uint64_t seed = 23;
    int stable = 0;
    for (int k = 0; k < 600; ++k) {
        const ga_coefficients m =
            GA_COEFFICIENTS(between(&seed, -1, 0.49), between(&seed, -0.5, 0.49),
                            between(&seed, 0.1, 1.5), between(&seed, 0.1, 2));
        if (!ga_coefficients_describe(&m).unconditionally_stable) continue;
        const double most = radius_over_all(&m);
        if (!(most <= 1 + 1e-6))
            fail_msg("am %g af %g beta %g gamma %g: said to be stable, largest root %.9g",
                     m.alpha_m, m.alpha_f, m.beta, m.gamma, most);
        ++stable;
    }
    assert_true(stable > 20);
}

static ga_coefficient_properties newmark(double beta, double gamma)
{
    ga_coefficients m;
    assert_int_equal(ga_coefficients_newmark(beta, gamma, &m, NULL), GA_OK);
    return ga_coefficients_describe(&m);
}

/* Newmark: unconditionally stable if and only if 2 beta >= gamma >= 1/2, [N59]. */
static void test_newmark_stability(void **state)
{
    (void)state;
    assert_true(newmark(0.25, 0.5).unconditionally_stable);
    assert_true(newmark(0.5, 0.5).unconditionally_stable);
    assert_false(newmark(1.0 / 6, 0.5).unconditionally_stable); /* linear acceleration */
    assert_false(newmark(1.0 / 12, 0.5).unconditionally_stable);
    assert_true(newmark(0.3025, 0.6).unconditionally_stable);
    assert_false(newmark(0.3, 0.7).unconditionally_stable); /* 2 beta < gamma */
    assert_false(newmark(0.5, 0.4).unconditionally_stable); /* negative damping */

    assert_true(newmark(0.25, 0.5).second_order);
    assert_false(newmark(0.3025, 0.6).second_order);
    assert_below(fabs(newmark(0.3025, 0.6).order_defect - 0.1), 2 * eps, "order defect");
    assert_below(fabs(newmark(0.5, 0.4).order_defect + 0.1), 2 * eps, "order defect");
}

/* rho_inf = 1, the trapezoidal rule: roots on the unit circle, no damping at infinity. */
static void test_boundary_of_strict_stability(void **state)
{
    (void)state;
    ga_coefficients m;
    assert_int_equal(ga_coefficients_generalized_alpha(1, &m, NULL), GA_OK);
    assert_false(ga_coefficients_describe(&m).strictly_stable_at_infinity);
    assert_below(fabs(ga_coefficients_describe(&m).rho_infinity - 1), 1e-7, "rho 1");
    assert_true(ga_coefficients_describe(&m).zero_stable);
    assert_int_equal(ga_coefficients_hht(0, &m, NULL), GA_OK);
    assert_false(ga_coefficients_describe(&m).strictly_stable_at_infinity);
    assert_below(fabs(ga_coefficients_describe(&m).rho_infinity - 1), 1e-7, "trapezoidal rule");
    assert_int_equal(ga_coefficients_hht(-1.0 / 3, &m, NULL), GA_OK);
    assert_true(ga_coefficients_describe(&m).strictly_stable_at_infinity);
    assert_below(fabs(ga_coefficients_describe(&m).rho_infinity - 0.5), 1e-7, "alpha -1/3");
    /* beta - gamma/2 = (1 - rho_inf)^2/16 here: visible in double precision from 1e-7 on */
    assert_int_equal(ga_coefficients_generalized_alpha(1 - 1e-6, &m, NULL), GA_OK);
    assert_true(ga_coefficients_describe(&m).strictly_stable_at_infinity);
}

/* (21): (1 - alpha_m) z + alpha_m has the root -alpha_m/(1 - alpha_m). */
static void test_zero_stability(void **state)
{
    (void)state;
    const double inside[] = {-5, -1, 0, 0.25, 0.499, 0.5}, outside[] = {0.51, 0.9, 0.99};
    for (int k = 0; k < 6; ++k) {
        const ga_coefficients m = GA_COEFFICIENTS(inside[k], 0.4, 0.5, 0.9 - inside[k]);
        assert_true(ga_coefficients_describe(&m).zero_stable);
    }
    for (int k = 0; k < 3; ++k) {
        const ga_coefficients m = GA_COEFFICIENTS(outside[k], 0.4, 0.5, 0.9 - outside[k]);
        assert_false(ga_coefficients_describe(&m).zero_stable);
        assert_false(ga_coefficients_describe(&m).unconditionally_stable);
    }
}

/* describe says nothing wrong about nonsense, and survives it. */
static void test_nonsense(void **state)
{
    (void)state;
    const double values[] = {NAN, INFINITY, -INFINITY, 0, 1, -1, 1e308, -1e308, DBL_MIN};
    enum { N = sizeof values / sizeof *values };
    for (int code = 0; code < N * N * N * N; ++code) {
        const ga_coefficients m =
            GA_COEFFICIENTS(values[code % N], values[code / N % N], values[code / N / N % N],
                            values[code / N / N / N]);
        const ga_coefficient_properties p = ga_coefficients_describe(&m);
        if (!isfinite(m.alpha_m) || !isfinite(m.alpha_f) || !isfinite(m.gamma))
            assert_false(p.second_order);
        assert_false(p.strictly_stable_at_infinity && !(p.rho_infinity < 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_generalized_alpha),
        cmocka_unit_test(test_hht),
        cmocka_unit_test(test_newmark),
        cmocka_unit_test(test_wbz),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_rho_infinity_against_roots),
        cmocka_unit_test(test_chung_hulbert_reaches_rho_inf),
        cmocka_unit_test(test_hht_at_infinity),
        cmocka_unit_test(test_unconditional_stability_second_order),
        cmocka_unit_test(test_unconditional_stability_first_order),
        cmocka_unit_test(test_newmark_stability),
        cmocka_unit_test(test_boundary_of_strict_stability),
        cmocka_unit_test(test_zero_stability),
        cmocka_unit_test(test_nonsense),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
