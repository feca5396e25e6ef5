/* What the parts of the analysis of methods share. */
#ifndef GA_ANALYSIS_SPECTRUM_H
#define GA_ANALYSIS_SPECTRUM_H

#include "analysis/small.h"

#include <galpha/spectrum.h>

/* (q, h v, h^2 a) from step to step, in the first three rows and columns. */
ga_small ga_oscillator_matrix(const ga_coefficients *method, double damping, double Omega);

/* Sizes of steps: at least one, positive, finite, not more than a million apart. */
ga_status ga_pattern_check(int count, const double *steps, ga_report *report);
double ga_pattern_mean(int count, const double *steps);

/* The errors along a pattern of steps, from E = 0 on, for |B v''| = 1. Steps have the sizes
 * given. Exact for a system of second order with the only constraint q = t^3/6. */
typedef struct ga_error_run {
    ga_coefficients method;
    ga_formulation formulation;
    ga_step_change change;
    int count; /* of steps in the pattern */
    const double *steps;
    int at; /* the next step is steps[at] */
    bool started;
    double E[GA_SMALL]; /* r, e_lambda, e_a, and e_a as the last step used it */
} ga_error_run;

/* One step; e_lambda after it. */
double ga_error_run_step(ga_error_run *run);

#endif
