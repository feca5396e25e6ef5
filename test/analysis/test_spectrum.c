/* The oscillator: numbers computed in extended precision, eigenvalues of the matrix by LAPACK,
 * limits in closed form, and our own integrator. */
#include "analysis/small.h"
#include "test/support/cases.h"
#include "test/support/data.h"

#include <complex.h>
#include <float.h>
#include <galpha/spectrum.h>
#include <lapacke.h>

static const double pi = 3.14159265358979323846;

static ga_coefficients chung_hulbert(double rho_inf)
{
    ga_coefficients m;
    assert_int_equal(ga_coefficients_generalized_alpha(rho_inf, &m, NULL), GA_OK);
    return m;
}

static ga_spectrum_point at(const ga_coefficients *m, double damping, double ratio)
{
    ga_spectrum_point point;
    ga_report report;
    assert_status(ga_spectrum_at(m, damping, ratio, &point, &report), GA_OK, report);
    return point;
}

/* --- the table ---------------------------------------------------------------------------- */

/* The table was made with eigenvalues of the matrix: small steps lose eps/(h omega) there,
 * large ones eps/(distance of the eigenvalues)^2, since all three meet at infinity. */
static void test_table(void **state)
{
    (void)state;
    FILE *file = data_open("spectra.txt");
    data_line line;
    int count = 0;
    while (data_next(file, &line)) {
        if (strcmp(line.key, "point") != 0) continue;
        const double *row = line.x, ratio = row[1];
        const ga_coefficients m = chung_hulbert(row[0]);
        const ga_spectrum_point p = at(&m, 0, ratio);
        const double tolerance = 20 * DBL_EPSILON * fmax(1 / ratio, ratio * ratio);
        assert_below(fabs(p.spectral_radius - row[2]), tolerance, "spectral radius");
        /* for small steps the argument of the eigenvalue, h omega, is divided by */
        assert_below(fabs(p.period_elongation - row[3]), tolerance * (1 / ratio + ratio),
                     "period elongation");
        assert_below(fabs(p.damping_ratio - row[4]),
                     tolerance * fmax(1 / ratio, 1 / p.spectral_radius), "damping ratio");
        assert_true(p.algorithmic_damping == p.damping_ratio);
        ++count;
    }
    fclose(file);
    assert_int_equal(count, 36);
}

/* --- the eigenvalues of the matrix -------------------------------------------------------- */

static void eigenvalues(const double *matrix, double complex z[3])
{
    double a[9], re[3], im[3];
    memcpy(a, matrix, sizeof a);
    assert_int_equal(
        LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', 3, a, 3, re, im, NULL, 3, NULL, 3), 0);
    for (int k = 0; k < 3; ++k) z[k] = re[k] + I * im[k];
}

static double between(uint64_t *seed, double low, double high)
{
    return low + 0.5 * (high - low) * (1 + uniform(seed));
}

/* Any parameters, any damping. Eigenvalues that nearly coincide are known to the square or
 * cube root of round-off only. */
static void test_against_lapack(void **state)
{
    (void)state;
    uint64_t seed = 3;
    int oscillating = 0, real = 0;
    for (int trial = 0; trial < 20000; ++trial) {
        const ga_coefficients m =
            GA_COEFFICIENTS(between(&seed, -1, 0.9), between(&seed, -0.5, 0.9),
                            between(&seed, 0.05, 1.5), between(&seed, 0.1, 2));
        const double damping = trial % 3 ? between(&seed, 0, 1.2) : 0;
        const double ratio = pow(10, between(&seed, -2, 2));
        double matrix[9], largest = 0, nearest = INFINITY;
        ga_report report;
        assert_status(ga_spectrum_matrix(&m, damping, ratio, matrix, &report), GA_OK, report);
        double complex z[3], pair = 0;
        eigenvalues(matrix, z);
        for (int k = 0; k < 3; ++k) {
            largest = fmax(largest, cabs(z[k]));
            nearest = fmin(nearest, cabs(z[k] - z[(k + 1) % 3]));
            if (cimag(z[k]) > 0) pair = z[k];
        }
        const ga_spectrum_point p = at(&m, damping, ratio);
        if (nearest < 1e-3 * largest) continue;
        /* the matrix has entries near (h omega)^2 */
        const double tolerance = 1e-9 * fmax(1, largest);
        assert_below(fabs(p.spectral_radius - largest), tolerance, "random method");
        if (damping >= 1 || pair == 0) {
            assert_true(isnan(p.period_elongation) && isnan(p.damping_ratio));
            ++real;
            continue;
        }
        ++oscillating;
        const double exact = sqrt(1 - damping * damping), angle = carg(pair);
        if (cabs(pair) < 1e-3 || angle < 1e-2) continue;
        assert_below(fabs(p.period_elongation - (2 * pi * ratio * exact / angle - 1)),
                     1e-6 * (1 + p.period_elongation), "random method");
        assert_below(fabs(p.damping_ratio + log(cabs(pair)) / angle), 1e-6, "random method");
        assert_below(fabs(p.damping_ratio - damping / exact - p.algorithmic_damping),
                     1e-12 * (1 + fabs(p.damping_ratio)), "random method");
    }
    assert_true(oscillating > 5000 && real > 500);
}

/* --- limits ------------------------------------------------------------------------------- */

/* h/T -> infinity: rho_inf; a triple eigenvalue, so 1e-5 is round-off. */
static void test_infinity(void **state)
{
    (void)state;
    for (int k = 0; k <= 20; ++k) {
        const double rho = 0.05 * k;
        ga_coefficients m = chung_hulbert(rho);
        assert_below(fabs(at(&m, 0, 1e7).spectral_radius - rho), 2e-5, "generalized-alpha");
        assert_int_equal(ga_coefficients_wbz(rho, &m, NULL), GA_OK);
        assert_below(fabs(at(&m, 0, 1e7).spectral_radius - rho), 2e-5, "wbz");
        const double alpha = -rho / 3;
        assert_int_equal(ga_coefficients_hht(alpha, &m, NULL), GA_OK);
        assert_below(fabs(at(&m, 0, 1e7).spectral_radius - (1 + alpha) / (1 - alpha)), 2e-5,
                     "hht");
    }
}

/* h/T -> 0: the period elongation has order 2, the damping order 3, so halving h divides them
 * by 4 and 8. */
static void test_small_steps(void **state)
{
    (void)state;
    for (int k = 0; k <= 9; ++k) {
        const ga_coefficients m = chung_hulbert(0.1 * k);
        const ga_spectrum_point coarse = at(&m, 0, 2e-4), fine = at(&m, 0, 1e-4);
        /* relative error of the next term, and round-off against 1e-7 */
        assert_below(fabs(coarse.period_elongation / fine.period_elongation - 4), 1e-4, "PE");
        assert_below(fabs(coarse.damping_ratio / fine.damping_ratio - 8), 1e-4, "damping");
    }
    /* without damping, |z| = 1 to the last bit, and 2 tan(angle/2) = Omega */
    const ga_coefficients trapezoidal = chung_hulbert(1);
    for (int k = -300; k <= 300; ++k) {
        const double ratio = pow(10, 0.5 * k);
        const ga_spectrum_point p = at(&trapezoidal, 0, ratio);
        const double Omega = 2 * pi * ratio, exact = Omega / (2 * atan(0.5 * Omega)) - 1;
        assert_true(p.spectral_radius == 1 && p.damping_ratio == 0);
        assert_below(fabs(p.period_elongation - exact), 8 * DBL_EPSILON * (1 + exact),
                     "trapezoidal rule");
    }
}

/* A damped oscillator in small steps has the damping and the period it has. */
static void test_damped_small_steps(void **state)
{
    (void)state;
    const ga_coefficients m = chung_hulbert(0.5);
    for (int k = 0; k < 10; ++k) {
        const double zeta = 0.1 * k;
        const ga_spectrum_point p = at(&m, zeta, 1e-5);
        /* second order: 1e-10 times constants that grow as zeta -> 1 */
        assert_below(fabs(p.damping_ratio - zeta / sqrt(1 - zeta * zeta)), 1e-7, "damping");
        assert_below(fabs(p.period_elongation), 1e-7, "period");
        assert_below(fabs(p.algorithmic_damping), 1e-7, "algorithmic damping");
    }
    assert_true(isnan(at(&m, 1, 0.1).period_elongation));
    assert_below(fabs(at(&m, 2, 1e-3).spectral_radius - exp(-2 * pi * 1e-3 * (2 - sqrt(3)))),
                 1e-6, "overdamped");
}

/* --- our integrator ----------------------------------------------------------------------- */

typedef struct oscillator {
    double damping, omega;
} oscillator;

static ga_eval unit_mass(void *user, const ga_point *point, double *M)
{
    (void)user, (void)point;
    M[0] = 1;
    return GA_EVAL_OK;
}

static ga_eval spring_and_damper(void *user, const ga_point *point, double *f)
{
    const oscillator *o = user;
    f[0] = -o->omega * o->omega * point->q[0] - 2 * o->damping * o->omega * point->v[0];
    return GA_EVAL_OK;
}

static ga_integrator *start(const ga_system *system, const ga_coefficients *m,
                            ga_step_change change, double h)
{
    ga_integrator_def def = ga_integrator_def_default();
    def.coefficients = *m;
    def.allow_first_order = true;
    def.start = GA_START_PLAIN;
    def.step_change = change;
    ga_integrator *run = NULL;
    ga_report report;
    assert_status(ga_integrator_create(system, &def, &run, &report), GA_OK, report);
    const double q0 = 1, v0 = 0.5;
    assert_status(ga_integrator_start(run, 0, &q0, &v0, h, &report), GA_OK, report);
    return run;
}

/* q after n steps by powers of the matrix, against the integrator. */
static void compare(const ga_coefficients *m, double damping, double ratio)
{
    oscillator o = {damping, 2};
    const ga_node node = GA_NODE(GA_GROUP_RN, 1);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &node,
                              .user = &o,
                              .mass = unit_mass,
                              .force = spring_and_damper};
    const double h = ratio * 2 * pi / o.omega;
    double matrix[9];
    assert_int_equal(ga_spectrum_matrix(m, damping, ratio, matrix, NULL), GA_OK);
    double x[3] = {1, h * 0.5, h * h * (-o.omega * o.omega - 2 * damping * o.omega * 0.5)};
    ga_integrator *run = start(&system, m, GA_CHANGE_ADJUST, h);
    double largest = 1;
    for (int n = 0; n < 500; ++n) {
        const double old[3] = {x[0], x[1], x[2]};
        for (int i = 0; i < 3; ++i)
            x[i] = matrix[3 * i] * old[0] + matrix[3 * i + 1] * old[1] +
                   matrix[3 * i + 2] * old[2];
        ga_report report;
        assert_status(ga_integrator_step_by(run, h, &report), GA_OK, report);
        largest = fmax(largest, fabs(x[0]));
        /* round-off of h omega^2-sized terms, added up over the steps */
        assert_below(fabs(ga_integrator_q(run)[0] - x[0]), 1e-11 * largest * fmax(1, ratio),
                     "integrator");
    }
    ga_integrator_destroy(run);
}

static void test_integrator(void **state)
{
    (void)state;
    ga_coefficients m;
    for (int d = 0; d < 2; ++d)
        for (int r = 0; r < 4; ++r) {
            const double damping = 0.3 * d, ratio = pow(10, r - 2);
            m = chung_hulbert(0.6);
            compare(&m, damping, ratio);
            assert_int_equal(ga_coefficients_hht(-0.1, &m, NULL), GA_OK);
            compare(&m, damping, ratio);
            assert_int_equal(ga_coefficients_newmark(0.3025, 0.6, &m, NULL), GA_OK);
            compare(&m, damping, ratio);
        }
}

/* Decay over a pattern of steps. */
static void test_integrator_pattern(void **state)
{
    (void)state;
    const double steps[] = {1, 2, 1, 0.5};
    oscillator o = {0.02, 2};
    const ga_node node = GA_NODE(GA_GROUP_RN, 1);
    const ga_system system = {.struct_size = sizeof(ga_system),
                              .node_count = 1,
                              .nodes = &node,
                              .user = &o,
                              .mass = unit_mass,
                              .force = spring_and_damper};
    const ga_coefficients m = chung_hulbert(0.6);
    for (int k = 0; k < 2; ++k) {
        const ga_step_change change = k ? GA_CHANGE_ADJUST : GA_CHANGE_NONE;
        const double ratio = 0.2, unit = ratio * 2 * pi / o.omega / 1.125;
        double radius;
        ga_report report;
        assert_status(ga_spectrum_pattern(&m, 0.02, ratio, change, 4, steps, &radius, &report),
                      GA_OK, report);
        ga_integrator *run = start(&system, &m, change, unit);
        enum { PERIODS = 400 };
        double size[2] = {0}; /* largest |q| of an early and a late stretch of steps */
        for (int n = 0; n < 4 * PERIODS; ++n) {
            assert_status(ga_integrator_step_by(run, unit * steps[n % 4], &report), GA_OK,
                          report);
            double *s = n < PERIODS ? &size[0] : n >= 3 * PERIODS ? &size[1] : NULL;
            if (!s) continue;
            const double scaled = fabs(ga_integrator_q(run)[0]) * pow(radius, -n);
            *s = fmax(*s, scaled);
        }
        ga_integrator_destroy(run);
        /* 800 steps apart; a radius wrong by 1e-4 would show as 8 % */
        assert_below(fabs(size[1] / size[0] - 1), 0.01, k ? "adjusted" : "not adjusted");
        double constant;
        const double one[] = {3, 3};
        assert_int_equal(ga_spectrum_pattern(&m, 0.02, ratio, change, 2, one, &constant, NULL),
                         GA_OK);
        assert_below(fabs(constant - at(&m, 0.02, ratio).spectral_radius), 1e-12, "constant");
    }
}

/* --- small matrices ----------------------------------------------------------------------- */

static void test_small_matrices(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int trial = 0; trial < 500; ++trial) {
        ga_small X;
        double a[16], s[4], superb[4], re[4], im[4], largest = 0;
        for (int k = 0; k < 16; ++k) a[k] = X.x[k / 4][k % 4] = uniform(&seed);
        assert_int_equal(
            LAPACKE_dgeev(LAPACK_ROW_MAJOR, 'N', 'N', 4, a, 4, re, im, NULL, 4, NULL, 4), 0);
        for (int k = 0; k < 4; ++k) largest = fmax(largest, hypot(re[k], im[k]));
        for (int k = 0; k < 16; ++k) a[k] = X.x[k / 4][k % 4];
        assert_int_equal(
            LAPACKE_dgesvd(LAPACK_ROW_MAJOR, 'N', 'N', 4, 4, a, 4, s, NULL, 4, NULL, 4, superb),
            0);
        assert_below(fabs(ga_small_norm(&X) - s[0]), 1e-14 * s[0], "norm");
        assert_below(fabs(ga_small_radius(&X) - largest), 1e-11, "radius");
        assert_true(ga_small_frobenius(&X) >= s[0] && ga_small_frobenius(&X) <= 2 * s[0]);
    }
    const ga_small zero = {0}, nilpotent = {.x = {{0, 2, 3, 4}, {0, 0, 5, 6}, {0, 0, 0, 7}}};
    assert_true(ga_small_norm(&zero) == 0 && ga_small_radius(&zero) == 0);
    assert_true(ga_small_radius(&nilpotent) == 0);
    const ga_small one = ga_small_identity();
    assert_below(fabs(ga_small_radius(&one) - 1), DBL_EPSILON, "identity");
}

/* --- mistakes ----------------------------------------------------------------------------- */

static void test_mistakes(void **state)
{
    (void)state;
    const ga_coefficients good = chung_hulbert(0.5);
    ga_spectrum_point p;
    ga_report report;
    const double wrong[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; ++k) {
        assert_status(ga_spectrum_at(&good, 0, wrong[k], &p, &report), GA_ERR_ARGUMENT, report);
        assert_message(report, "h/T");
        assert_int_equal(ga_spectrum_at(&good, 0, wrong[k], &p, NULL), GA_ERR_ARGUMENT);
    }
    for (int k = 1; k < 4; ++k) {
        assert_status(ga_spectrum_at(&good, wrong[k], 1, &p, &report), GA_ERR_ARGUMENT, report);
        assert_message(report, "damping");
    }
    const ga_coefficients bad[] = {GA_COEFFICIENTS(NAN, 0, 1, 1), GA_COEFFICIENTS(1, 0, 1, 1),
                                   GA_COEFFICIENTS(0, 1, 1, 1), GA_COEFFICIENTS(0, 0, 0, 1),
                                   GA_COEFFICIENTS(0, 0, 1, 0)};
    for (int k = 0; k < 5; ++k) {
        double matrix[9], radius;
        const double step = 1;
        assert_status(ga_spectrum_at(&bad[k], 0, 1, &p, &report), GA_ERR_METHOD, report);
        assert_status(ga_spectrum_matrix(&bad[k], 0, 1, matrix, &report), GA_ERR_METHOD,
                      report);
        assert_status(
            ga_spectrum_pattern(&bad[k], 0, 1, GA_CHANGE_NONE, 1, &step, &radius, &report),
            GA_ERR_METHOD, report);
    }
    const double steps[] = {1, 0};
    double radius;
    assert_status(ga_spectrum_pattern(&good, 0, 1, GA_CHANGE_NONE, 2, steps, &radius, &report),
                  GA_ERR_ARGUMENT, report);
    assert_status(ga_spectrum_pattern(&good, 0, 1, GA_CHANGE_NONE, 0, steps, &radius, &report),
                  GA_ERR_ARGUMENT, report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_against_lapack),
        cmocka_unit_test(test_infinity),
        cmocka_unit_test(test_small_steps),
        cmocka_unit_test(test_damped_small_steps),
        cmocka_unit_test(test_integrator),
        cmocka_unit_test(test_integrator_pattern),
        cmocka_unit_test(test_small_matrices),
        cmocka_unit_test(test_mistakes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
