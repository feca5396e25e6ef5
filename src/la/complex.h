/* Complex matrices A + i B, with real A and B of one pattern, and their LU factors: for
 * implicit Runge-Kutta methods and for damped vibrations. KLU does it, or, where the library is
 * built without it, the solver of full matrices. */
#ifndef GA_LA_COMPLEX_H
#define GA_LA_COMPLEX_H

#include "la/factor.h"

typedef struct ga_complex ga_complex;

/* The pattern is borrowed, and not full; its values are not looked at. */
ga_status ga_complex_create(const ga_matrix *pattern, ga_complex **factor);
void ga_complex_destroy(ga_complex *factor); /* null is fine */
/* Factors real + i imaginary, values in the slots of the pattern. GA_ERR_SINGULAR if a pivot
 * vanishes or a value is not finite; then there is nothing to solve with. Pivots are kept while
 * they are accurate; to choose new ones allocates. */
ga_status ga_complex_factor(ga_complex *factor, const double *real, const double *imaginary);
/* The next factorisation chooses pivots anew. */
void ga_complex_forget(ga_complex *factor);
/* The numbers that the choice of pivots is a function of, to be saved and loaded; null with
 * *count = 0 where none is kept. */
double *ga_complex_pivots(ga_complex *factor, int *count);
/* After they were loaded: the next factorisation gives the same bits as there. Allocates. */
ga_status ga_complex_recall(ga_complex *factor);
/* Solves with the factors, in place. No allocation. */
void ga_complex_solve(const ga_complex *factor, double *real, double *imaginary);
/* The same with the transposed, not conjugated, matrix. */
void ga_complex_solve_transposed(const ga_complex *factor, double *real, double *imaginary);

#endif
