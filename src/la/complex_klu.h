/* KLU on complex matrices, for complex.c. Numbers are pairs (real, imaginary). */
#ifndef GA_LA_COMPLEX_KLU_H
#define GA_LA_COMPLEX_KLU_H

#include "la/matrix.h"

typedef struct ga_complex_klu ga_complex_klu;

/* The pattern is borrowed, and sparse. */
ga_status ga_complex_klu_create(const ga_matrix *pattern, ga_complex_klu **klu);
void ga_complex_klu_destroy(ga_complex_klu *klu);
/* Values in the slots of the pattern; they are not changed. */
ga_status ga_complex_klu_factor(ga_complex_klu *klu, double *values);
void ga_complex_klu_forget(ga_complex_klu *klu);
/* See complex.h. */
double *ga_complex_klu_pivots(ga_complex_klu *klu, int *count);
ga_status ga_complex_klu_recall(ga_complex_klu *klu);
void ga_complex_klu_solve(const ga_complex_klu *klu, double *x);
void ga_complex_klu_solve_transposed(const ga_complex_klu *klu, double *x);

#endif
