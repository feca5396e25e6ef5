/* The oscillator q'' + 2 zeta omega q' + omega^2 q = 0 under a method, Omega = h omega.
 *
 * Eigenvalues z of the amplification matrix are found through z = (1 + s)/(1 - s), which turns
 * the unit circle into the imaginary axis. With h = 1 the three lines of coefficients.h become
 *
 *     2 s v = (1 + G s) a,   4 s^2 q = (1 + G s + b s^2) a,   (1 + A s) a = (1 + F s) v',
 *     A = 1 - 2 alpha_m,  F = 1 - 2 alpha_f,  G = 2 gamma - 1,  b = 4 beta - 2 gamma,
 *
 * and with v' = -Omega^2 q - 2 zeta Omega v
 *
 *     4 s^2 (1 + A s) + (1 + F s) (Omega^2 (1 + G s + b s^2) + 4 zeta Omega s (1 + G s)) = 0.
 *
 * The gain: |z|^2 - 1 = 4 Re s/|1 - s|^2 comes without cancellation, so the damping of small
 * steps, of order Omega^3, keeps its digits, and a method without damping (A = F = G = b = 0)
 * has |z| = 1 exactly. The eigenvalues of the matrix itself would lose both.
 *
 * The cubic is solved as Kahan does: Newton's iteration for a real root from outside all roots,
 * where it is monotone, then the quadratic that remains, divided out from the side that loses
 * nothing.
 */
#include <galpha/spectrum.h>

#include "analysis/spectrum.h"
#include "base/report.h"

#include <math.h>
#include <stddef.h>

static const double pi = 3.14159265358979323846;

static ga_status check(const ga_coefficients *method, double damping, double ratio,
                       ga_report *report)
{
    GA_TRY(ga_coefficients_check(method, report));
    if (!(ratio > 0 && isfinite(ratio)))
        return ga_fail(report, GA_ERR_ARGUMENT, "h/T = %g: must be positive and finite", ratio);
    if (!(damping >= 0 && isfinite(damping)))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "damping ratio %g: must be finite and not negative", damping);
    return GA_OK;
}

/* --- roots -------------------------------------------------------------------------------- */

typedef struct root {
    double re, im;
} root;

/* Roots of a x^2 + b x + c; infinite where leading coefficients are zero. */
static void solve_quadratic(double a, double b, double c, root roots[2])
{
    const double discriminant = b * b - 4 * a * c;
    if (a != 0 && discriminant < 0) { /* a conjugate pair */
        const double im = sqrt(-discriminant) / (2 * fabs(a));
        roots[0] = (root){-b / (2 * a), im};
        roots[1] = (root){-b / (2 * a), -im};
        return;
    }
    const double sum = -0.5 * (b + copysign(sqrt(discriminant), b));
    roots[0] = (root){a != 0 ? sum / a : INFINITY, 0};
    roots[1] = (root){sum != 0 ? c / sum : 0, 0};
}

/* p3 x^3 + p2 x^2 + p1 x + p0 at x, its derivative, and the quotient by (x - at) without its
 * leading coefficient p3. */
typedef struct horner {
    double value, slope, linear, constant;
} horner;

static horner evaluate(const double p[4], double x)
{
    horner h;
    h.linear = p[3] * x + p[2];
    h.constant = h.linear * x + p[1];
    h.slope = (p[3] * x + h.linear) * x + h.constant;
    h.value = h.constant * x + p[0];
    return h;
}

/* A real root of a cubic with p3 != 0. */
static double real_root(const double p[4])
{
    double x = -(p[2] / p[3]) / 3; /* the point of inflection */
    horner h = evaluate(p, x);
    const double height = h.value / p[3], slope = -h.slope / p[3];
    const double side = height < 0 ? 1 : -1; /* where the outermost root lies */
    double reach = cbrt(fabs(height));
    /* 1.3247, the real root of x^3 = x + 1, gets past the outermost one if there are three */
    if (slope > 0) reach = 1.3247179572447461 * fmax(reach, sqrt(slope));
    double next = x + side * reach;
    if (next == x) return x;
    do { /* comes back monotonically; a hair short of Newton's step, so that it ends */
        x = next;
        h = evaluate(p, x);
        next = h.slope != 0 ? x - h.value / h.slope / 1.000000001 : x;
    } while (side * next < side * x);
    return x;
}

/* p0 must not be zero. */
static void solve_cubic(const double p[4], root roots[3])
{
    if (p[3] == 0) {
        roots[0] = (root){INFINITY, 0};
        solve_quadratic(p[2], p[1], p[0], roots + 1);
        return;
    }
    const double x = real_root(p);
    horner h = evaluate(p, x);
    if (!isfinite(h.value)) { /* so far outside that the leading coefficient is round-off */
        roots[0] = (root){x, 0};
        solve_quadratic(p[2], p[1], p[0], roots + 1);
        return;
    }
    if (fabs(p[3]) * x * x > fabs(p[0] / x)) { /* a large root: divide from below */
        h.constant = -p[0] / x;
        h.linear = (h.constant - p[1]) / x;
    }
    roots[0] = (root){x, 0};
    solve_quadratic(p[3], h.linear, h.constant, roots + 1);
}

/* --- the oscillator ----------------------------------------------------------------------- */

/* Roots s. The cubic above is divided by Omega^2 and written in s/scale, so that nothing
 * overflows: for small steps the pair is near +-i Omega/2. */
static void find_roots(const ga_coefficients *m, double damping, double Omega, root roots[3])
{
    const double A = 1 - 2 * m->alpha_m, F = 1 - 2 * m->alpha_f;
    const double G = 2 * m->gamma - 1, b = 4 * m->beta - 2 * m->gamma;
    const double scale = fmin(1, 0.5 * Omega), u = scale / Omega;
    const double p[4] = {
        1,
        scale * (F + G) + 4 * damping * u,
        4 * u * u + scale * (scale * (b + F * G) + 4 * damping * u * (F + G)),
        scale * (4 * A * u * u + scale * (scale * F * b + 4 * damping * u * F * G)),
    };
    solve_cubic(p, roots);
    for (int k = 0; k < 3; ++k) {
        roots[k].re *= scale;
        roots[k].im *= scale;
    }
}

/* ln|z|; s may be infinite, then z = -1. */
static double log_modulus(root s)
{
    if (!isfinite(s.re)) return 0;
    const double x = 1 - s.re, distance = x * x + s.im * s.im;
    return 0.5 * log1p(4 * s.re / distance);
}

static double argument(root s)
{
    return atan2(2 * fabs(s.im), (1 - s.re) * (1 + s.re) - s.im * s.im);
}

ga_status ga_spectrum_at(const ga_coefficients *method, double damping, double ratio,
                         ga_spectrum_point *point, ga_report *report)
{
    GA_TRY(check(method, damping, ratio, report));
    const double Omega = 2 * pi * ratio;
    root s[3];
    find_roots(method, damping, Omega, s);
    *point = (ga_spectrum_point){ratio, 0, NAN, NAN, NAN};
    double largest = -INFINITY;
    for (int k = 0; k < 3; ++k) largest = fmax(largest, log_modulus(s[k]));
    point->spectral_radius = exp(largest);
    if (s[2].im != 0 && damping < 1) { /* a pair, and it stands for an oscillation */
        const double part = sqrt((1 - damping) * (1 + damping)), angle = argument(s[2]);
        point->period_elongation = Omega * part / angle - 1;
        point->damping_ratio = -log_modulus(s[2]) / angle + 0.0; /* no -0 */
        point->algorithmic_damping = point->damping_ratio - damping / part;
    }
    return ga_fail(report, GA_OK, "%s", "");
}

ga_small ga_oscillator_matrix(const ga_coefficients *m, double damping, double Omega)
{
    const double stiffness = Omega * Omega, friction = 2 * damping * Omega;
    const double am = m->alpha_m, af = m->alpha_f, now = 1 - af;
    /* q and h v at t_{n+1}: from the state at t_n, and from h^2 a_{n+1} */
    const double q[3] = {1, 1, 0.5 - m->beta}, v[3] = {0, 1, 1 - m->gamma};
    const double pivot = 1 - am + now * (stiffness * m->beta + friction * m->gamma);
    const double old[3] = {-af * stiffness, -af * friction, -am};
    ga_small X = {0};
    for (int j = 0; j < 3; ++j) {
        const double a = (old[j] - now * (stiffness * q[j] + friction * v[j])) / pivot;
        X.x[0][j] = q[j] + m->beta * a;
        X.x[1][j] = v[j] + m->gamma * a;
        X.x[2][j] = a;
    }
    return X;
}

ga_status ga_spectrum_matrix(const ga_coefficients *method, double damping, double ratio,
                             double matrix[9], ga_report *report)
{
    GA_TRY(check(method, damping, ratio, report));
    const ga_small X = ga_oscillator_matrix(method, damping, 2 * pi * ratio);
    for (int k = 0; k < 9; ++k) matrix[k] = X.x[k / 3][k % 3];
    return ga_fail(report, GA_OK, "%s", "");
}

/* --- patterns of steps -------------------------------------------------------------------- */

/* One step with (q, h v, h^2 a, h^2 a_used), scaled with the step before; `growth` is the ratio
 * of the two, weight that of [JN08] eq. (14a). */
static ga_small changed_step(const ga_coefficients *m, double damping, double Omega,
                             double growth, double weight)
{
    const double square = growth * growth;
    const ga_small step = ga_oscillator_matrix(m, damping, Omega);
    ga_small change = {0};
    change.x[0][0] = 1;
    change.x[1][1] = growth;
    change.x[2][2] = square * (1 + weight);
    change.x[2][3] = -square * weight;
    ga_small X = ga_small_product(&step, &change);
    for (int j = 0; j < GA_SMALL; ++j) X.x[3][j] = change.x[2][j]; /* a as it was used */
    return X;
}

ga_status ga_spectrum_pattern(const ga_coefficients *method, double damping, double ratio,
                              ga_step_change change, int count, const double *steps,
                              double *radius, ga_report *report)
{
    GA_TRY(check(method, damping, ratio, report));
    GA_TRY(ga_pattern_check(count, steps, report));
    const double unit = 2 * pi * ratio / ga_pattern_mean(count, steps);
    const double shift = change == GA_CHANGE_NONE ? 0 : method->alpha_m - method->alpha_f;
    ga_small period = ga_small_identity();
    for (int k = 0; k < count; ++k) {
        const double growth = steps[k] / steps[k ? k - 1 : count - 1];
        const ga_small step =
            changed_step(method, damping, unit * steps[k], growth, shift * (growth - 1));
        period = ga_small_product(&step, &period);
    }
    *radius = pow(ga_small_radius(&period), 1.0 / count);
    return ga_fail(report, GA_OK, "%s", "");
}
