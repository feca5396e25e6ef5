/* The four numbers of a method and what holds for them, [AB07] section 2.3.
 *
 * The polynomial (22) whose roots decide the stability at infinity factors:
 *
 *     sigma(z) = ((1 - alpha_f) z + alpha_f) (beta z^2 + (1/2 - 2 beta + gamma) z
 *                                             + (1/2 + beta - gamma))
 *
 * so all roots lie inside the unit circle if and only if alpha_f < 1/2, gamma > 1/2 and
 * beta > gamma/2 (Jury's conditions for the quadratic factor). With the order condition this
 * contains (23).
 */
#include "base/report.h"
#include "base/struct_size.h"

#include <float.h>
#include <galpha/coefficients.h>
#include <math.h>

static ga_status finish(ga_report *report) { return ga_fail(report, GA_OK, "%s", ""); }

static ga_status check_rho(double rho_inf, ga_report *report)
{
    if (rho_inf >= 0 && rho_inf <= 1) return GA_OK;
    return ga_fail(report, GA_ERR_METHOD, "rho_inf = %g lies outside [0, 1]", rho_inf);
}

/* gamma for second order, [AB07] (20), and the beta that damps low frequencies least, (24). */
static ga_coefficients complete(double alpha_m, double alpha_f)
{
    const double shift = alpha_m - alpha_f;
    return (ga_coefficients)GA_COEFFICIENTS(alpha_m, alpha_f, 0.25 * (1 - shift) * (1 - shift),
                                            0.5 - shift);
}

ga_status ga_coefficients_generalized_alpha(double rho_inf, ga_coefficients *method,
                                            ga_report *report)
{
    GA_TRY(check_rho(rho_inf, report));
    *method = complete((2 * rho_inf - 1) / (rho_inf + 1), rho_inf / (rho_inf + 1));
    return finish(report);
}

ga_status ga_coefficients_hht(double alpha, ga_coefficients *method, ga_report *report)
{
    if (!(alpha >= -1.0 / 3 && alpha <= 0))
        return ga_fail(report, GA_ERR_METHOD, "alpha = %g of HHT lies outside [-1/3, 0]",
                       alpha);
    *method = complete(0, -alpha);
    return finish(report);
}

ga_status ga_coefficients_newmark(double beta, double gamma, ga_coefficients *method,
                                  ga_report *report)
{
    if (!(beta > 0 && isfinite(beta) && isfinite(gamma)))
        return ga_fail(report, GA_ERR_METHOD,
                       "beta = %g, gamma = %g: Newmark needs finite numbers and beta > 0", beta,
                       gamma);
    *method = (ga_coefficients)GA_COEFFICIENTS(0, 0, beta, gamma);
    return finish(report);
}

ga_status ga_coefficients_wbz(double rho_inf, ga_coefficients *method, ga_report *report)
{
    GA_TRY(check_rho(rho_inf, report));
    *method = complete((rho_inf - 1) / (rho_inf + 1), 0);
    return finish(report);
}

ga_status ga_coefficients_check(const ga_coefficients *method, ga_report *report)
{
    GA_TRY(ga_check_own_size("ga_coefficients", method->struct_size, sizeof *method, report));
    const double am = method->alpha_m, af = method->alpha_f;
    const double beta = method->beta, gamma = method->gamma;
    if (!isfinite(am + af + beta + gamma))
        return ga_fail(report, GA_ERR_METHOD, "the method has parameters that are not finite");
    if (!(am < 1 && af < 1))
        return ga_fail(report, GA_ERR_METHOD,
                       "alpha_m = %g, alpha_f = %g: both must be below 1", am, af);
    if (!(beta > 0 && gamma > 0))
        return ga_fail(report, GA_ERR_METHOD,
                       "beta = %g, gamma = %g: an implicit method needs both positive", beta,
                       gamma);
    return finish(report);
}

/* Largest modulus of the roots of a z^2 + b z + c. */
static double largest_root(double a, double b, double c)
{
    double discriminant = b * b - 4 * a * c;
    if (discriminant < 0) return sqrt(c / a); /* a conjugate pair: modulus^2 = c/a */
    return (fabs(b) + sqrt(discriminant)) / (2 * fabs(a));
}

ga_coefficient_properties ga_coefficients_describe(const ga_coefficients *method)
{
    const double am = method->alpha_m, af = method->alpha_f;
    const double beta = method->beta, gamma = method->gamma;
    const double round_off = 8 * DBL_EPSILON; /* the numbers are of size one */
    ga_coefficient_properties p = {.shift = am - af, .order_defect = gamma - (0.5 - (am - af))};
    p.second_order = fabs(p.order_defect) <= round_off;
    p.zero_stable = am <= 0.5 + round_off;
    /* bilinear transform and Hurwitz for the undamped oscillator, all h omega */
    const double A = 1 - 2 * am, F = 1 - 2 * af, G = 2 * gamma - 1, b = 4 * beta - 2 * gamma;
    p.unconditionally_stable = A >= -round_off && F >= -round_off && b >= -round_off &&
                               G + F >= A - round_off && b + F * G >= -round_off &&
                               (b + F * G) * (G + F) >= F * b - round_off;
    p.rho_infinity = fmax(fabs(af / (1 - af)),
                          largest_root(beta, 0.5 - 2 * beta + gamma, 0.5 + beta - gamma));
    /* not rho_infinity < 1 alone: a double root is known to the square root of round-off only
     */
    p.strictly_stable_at_infinity = af < 0.5 - round_off && gamma > 0.5 + round_off &&
                                    beta > 0.5 * gamma + round_off && p.rho_infinity < 1;
    return p;
}
