/* Linear analysis of a method: its properties for an oscillator, and the propagation of errors
 * in the direction of the constraints.
 *
 *     ga_coefficients method;
 *     ga_spectrum_point point;
 *     if (ga_coefficients_generalized_alpha(0.6, &method, &report)) puts(report.message);
 *     if (ga_spectrum_at(&method, 0, 0.1, &point, &report)) puts(report.message);
 *
 * A report argument may be null. Methods only have to pass ga_coefficients_check: they need not
 * be second-order accurate or stable.
 */
#ifndef GALPHA_SPECTRUM_H
#define GALPHA_SPECTRUM_H

#include <galpha/coefficients.h>
#include <galpha/integrate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The oscillator q'' + 2 zeta omega q' + omega^2 q = 0 in steps of size h, T = 2 pi/omega. */
typedef struct ga_spectrum_point {
    double ratio;           /* h/T */
    double spectral_radius; /* of the amplification matrix */
    /* Of the principal pair z of eigenvalues; NaN if there is none: the oscillator is
     * critically damped or overdamped, or the step is so large that all eigenvalues are real.
     */
    double period_elongation;   /* numerical over exact period, minus 1 */
    double damping_ratio;       /* -ln|z|/arg z; the exact solution has zeta/sqrt(1 - zeta^2) */
    double algorithmic_damping; /* damping_ratio minus that of the exact solution */
} ga_spectrum_point;

/* damping: zeta >= 0; ratio: h/T > 0. */
GA_API ga_status ga_spectrum_at(const ga_coefficients *method, double damping, double ratio,
                                ga_spectrum_point *point, ga_report *report);
/* Row by row; (q, h v, h^2 a) at t_{n+1} from that at t_n. */
GA_API ga_status ga_spectrum_matrix(const ga_coefficients *method, double damping, double ratio,
                                    double matrix[9], ga_report *report);

/* Errors in the direction of the constraints, [ABC14] eq. (44): E = (r, e_lambda, e_a), with
 *
 *     r = (h e_v + l^q)/h^2,   E_{n+1} = T_+^-1 T_0 E_n   up to higher order.
 *
 * In GA_INDEX2 there is no r, its row and column are zero. */
GA_API ga_status ga_error_matrix(const ga_coefficients *method, ga_formulation formulation,
                                 double matrix[9], ga_report *report);

/* Powers n = 1, 2, ... of that matrix. */
typedef struct ga_error_growth {
    double max_norm; /* largest 2-norm; infinity if they grow without bound */
    long at_step;    /* n at which it is reached; 0 if max_norm is infinite */
    /* Largest modulus of each entry in the row of lambda: amplification of initial errors in r,
     * lambda and a in the multipliers. */
    double lambda_row[3];
    double radius; /* spectral radius; accurate to 1e-5 at worst, because eigenvalues of many
                      methods coincide */
} ga_error_growth;

/* GA_INDEX3 and GA_INDEX2. */
GA_API ga_status ga_error_growth_constant(const ga_coefficients *method,
                                          ga_formulation formulation, ga_error_growth *growth,
                                          ga_report *report);

/* The same for steps of the sizes steps[0], ..., steps[count-1], steps[0], ...: instead of the
 * power, the product over n steps from the start of a pattern, with r scaled by the previous
 * step. With
 * [JN08] eq. (14a) the previous a counts as one more initial error. The radius is the mean per
 * step. */
typedef struct ga_pattern_growth {
    ga_error_growth errors;
    /* Each change of the step size disturbs a and r unless it is corrected: largest resulting
     * error of lambda, divided by the mean step size and |B v''|. If it is not zero, the
     * multipliers are only first-order accurate. Infinity if it grows without bound, NaN if the
     * method itself is of first order. */
    double lambda_error;
} ga_pattern_growth;

GA_API ga_status ga_error_growth_pattern(const ga_coefficients *method,
                                         ga_formulation formulation, ga_step_change change,
                                         int count, const double *steps,
                                         ga_pattern_growth *growth, ga_report *report);
/* Spectral radius of the oscillator over such a pattern, mean per step; ratio: mean step size
 * over T. GA_CHANGE_NONE or GA_CHANGE_ADJUST; without constraints the others are equal to the
 * latter. */
GA_API ga_status ga_spectrum_pattern(const ga_coefficients *method, double damping,
                                     double ratio, ga_step_change change, int count,
                                     const double *steps, double *radius, ga_report *report);

#ifdef __cplusplus
}
#endif
#endif
