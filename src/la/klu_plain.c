/* In place of klu.c where the library is built without KLU: LU on a full matrix, which is as
 * safe and takes more time and memory. It keeps no pivots. */
#include "la/solver.h"

const bool ga_factor_has_klu = false;

const ga_solver_table ga_solver_klu = {
    .analyse = ga_dense_analyse,
    .factor = ga_dense_factor,
    .solve = ga_dense_solve,
    .solve_transposed = ga_dense_solve_transposed,
    .destroy = ga_dense_destroy,
};
