/* The generalized-alpha family: four coefficients, the usual choices, and their properties.
 *
 *     dq      = v_n + h (1/2 - beta) a_n + h beta a_{n+1},   q_{n+1} = q_n o R(h dq)
 *     v_{n+1} = v_n + h (1 - gamma) a_n + h gamma a_{n+1}
 *     (1 - alpha_m) a_{n+1} + alpha_m a_n = (1 - alpha_f) v'_{n+1} + alpha_f v'_n
 */
#ifndef GALPHA_COEFFICIENTS_H
#define GALPHA_COEFFICIENTS_H

#include <galpha/status.h>
#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ga_coefficients {
    size_t struct_size; /* set by the functions and the macro below */
    double alpha_m, alpha_f, beta, gamma;
} ga_coefficients;

/* Coefficients of your own: ga_coefficients trapezoidal = GA_COEFFICIENTS(0, 0, 0.25, 0.5); */
#define GA_COEFFICIENTS(alpha_m_, alpha_f_, beta_, gamma_)                                     \
    {                                                                                          \
        sizeof(ga_coefficients), (alpha_m_), (alpha_f_), (beta_), (gamma_)                     \
    }

/* Chung and Hulbert, rho_inf in [0, 1]. */
GA_API ga_status ga_coefficients_generalized_alpha(double rho_inf, ga_coefficients *method,
                                                   ga_report *report);
/* Hilber, Hughes and Taylor, alpha in [-1/3, 0]. */
GA_API ga_status ga_coefficients_hht(double alpha, ga_coefficients *method, ga_report *report);
/* Newmark, beta > 0. */
GA_API ga_status ga_coefficients_newmark(double beta, double gamma, ga_coefficients *method,
                                         ga_report *report);
/* Wood, Bossak and Zienkiewicz, rho_inf in [0, 1]. */
GA_API ga_status ga_coefficients_wbz(double rho_inf, ga_coefficients *method,
                                     ga_report *report);

/* Whether the coefficients define a method: all finite, alpha_m and alpha_f below 1,
 * beta and gamma positive. */
GA_API ga_status ga_coefficients_check(const ga_coefficients *method, ga_report *report);

/* [AB07] eqs. (20)-(23). */
typedef struct ga_coefficient_properties {
    double shift;                /* Delta_alpha = alpha_m - alpha_f */
    double order_defect;         /* gamma - (1/2 - Delta_alpha); 0 for second order */
    bool second_order;           /* |order_defect| at round-off */
    bool zero_stable;            /* root condition of (21): alpha_m <= 1/2 */
    bool unconditionally_stable; /* for the linear oscillator */
    double rho_infinity;         /* largest root of (22), the spectral radius at infinity */
    bool strictly_stable_at_infinity; /* rho_infinity < 1: multipliers converge in index 3 */
} ga_coefficient_properties;

GA_API ga_coefficient_properties ga_coefficients_describe(const ga_coefficients *method);

#ifdef __cplusplus
}
#endif
#endif
