/* LDL^T without pivoting of small saddle matrices
 *
 *     [ M  G^T ]      M symmetric and positive definite in blocks, as those of bodies, G of
 *     [ G   0  ]      full rank
 *
 * Each block of M is eliminated from a front of its own, with the rows of G that touch it; what
 * the fronts leave adds up to -G M^-1 G^T, which is eliminated as a full matrix. That takes a
 * third to a fifth of the operations of LU, needs no scales, since pivots in another order
 * would not help, and fails where M is not definite: then LU has to do. */
#ifndef GA_LA_LDL_H
#define GA_LA_LDL_H

#include "la/coords.h"

typedef struct ga_ldl ga_ldl;

/* *ldl is null if the matrix is too large, or if G alone determines x in a part of it. */
ga_status ga_ldl_create(const ga_coords *M, const ga_coords *G, ga_ldl **ldl);
void ga_ldl_destroy(ga_ldl *ldl); /* null is fine */

/* The smallest pivot by the diagonal entry it comes from; 0 if one has the wrong sign, if M is
 * not symmetric, or if a value is not finite. Of G M^-1 G^T it is the squared distance, in the
 * metric of M^-1, of a row of G from what those before it span, by its squared length. */
double ga_ldl_factor(ga_ldl *ldl, const double *M, const double *G);
/* x may be rhs. */
void ga_ldl_solve(ga_ldl *ldl, const double *rhs, double *x);

#endif
