/* What factor.c asks of a solver; one file, or folder, and one line in solver.def each. The
 * matrix has n >= 1 and outlives the data. */
#ifndef GA_LA_SOLVER_H
#define GA_LA_SOLVER_H

#include "la/factor.h"

typedef struct ga_solver_table {
    /* From the pattern; values need not be set. partition may be null. */
    ga_status (*analyse)(const ga_matrix *matrix, const ga_partition *partition, void **data);
    /* Values are finite, and measured. Sets *rcond to the smallest |u_ii| relative to the size
     * of column i, and *column to that i; factor.c judges it. On GA_ERR_SINGULAR *column is the
     * one to blame, or -1. */
    ga_status (*factor)(void *data, double *rcond, int *column);
    /* In place. rough: see factor.h. */
    void (*solve)(void *data, bool rough, double *x);
    /* With scaled sides; null: as `solve`, with loops before and after it. */
    void (*solve_scaled)(void *data, bool rough, const double *row, const double *rhs,
                         const double *col, double *x);
    void (*solve_transposed)(void *data, double *x);
    void (*use)(void *data, ga_pool *pool); /* null: has no use for threads */
    void (*forget)(void *data);             /* the choice of pivots; null if none is kept */
    /* The choice of pivots as bytes, see factor.h; null if none is kept. */
    size_t (*save)(const void *data, void *bytes);
    ga_status (*load)(void *data, const void *bytes, size_t size);
    double (*operations)(const void *data); /* of a factorisation; null if not known before */
    void (*destroy)(void *data);
} ga_solver_table;

/* dense.c; also where KLU is missing. */
ga_status ga_dense_analyse(const ga_matrix *matrix, const ga_partition *partition, void **data);
ga_status ga_dense_factor(void *data, double *rcond, int *column);
void ga_dense_solve(void *data, bool rough, double *x);
void ga_dense_solve_transposed(void *data, double *x);
void ga_dense_destroy(void *data);

#define GA_SOLVER(kind, table) extern const ga_solver_table table;
#include "la/solver.def"
#undef GA_SOLVER

#endif
