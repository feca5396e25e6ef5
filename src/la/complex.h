/* Complex matrices A + i B, with real A and B of one pattern, and their LU factors: for
 * implicit Runge-Kutta methods and for damped vibrations.
 *
 * The pattern is that of a ga_matrix, and values come in its slots. A full pattern gets an LU
 * factorisation with partial pivoting, a sparse one KLU. */
#ifndef GA_LA_COMPLEX_H
#define GA_LA_COMPLEX_H

#include "la/factor.h"

typedef struct ga_complex ga_complex;

/* The pattern is borrowed; its values are not looked at. */
ga_status ga_complex_create(const ga_matrix *pattern, ga_complex **factor);
void ga_complex_destroy(ga_complex *factor); /* null is fine */
/* Factors real + i imaginary. GA_ERR_SINGULAR if a pivot vanishes or a value is not finite;
 * then there is nothing to solve with. Sparse factors keep their pivots while these are
 * accurate, and allocate only when pivots are chosen anew. */
ga_status ga_complex_factor(ga_complex *factor, const double *real, const double *imaginary);
/* Solves with the factors, in place. No allocation. */
void ga_complex_solve(const ga_complex *factor, double *real, double *imaginary);
/* The same with the transposed, not conjugated, matrix. */
void ga_complex_solve_transposed(const ga_complex *factor, double *real, double *imaginary);

#endif
