/* What factor.c asks of a backend. The matrix has n >= 1 and outlives the data. */
#ifndef GA_LA_BACKEND_H
#define GA_LA_BACKEND_H

#include "la/factor.h"

typedef struct ga_backend {
    const char *name;
    bool looks; /* for NaN and Inf itself: then GA_ERR_SINGULAR and column -1 */
    /* partition and pool are for the block backend, and may be null. */
    ga_status (*create)(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data);
    void (*destroy)(void *data);
    /* ga_factor_solve_scaled; null if there is nothing to gain. */
    void (*solve_scaled)(void *data, const double *row, const double *rhs, const double *col,
                         double *x);
    void (*solve_scaled_rough)(void *data, const double *row, const double *rhs,
                               const double *col, double *x); /* null: like solve_scaled */
    void (*use)(void *data, ga_pool *pool);                   /* null: has no use for threads */
    /* Values are finite, or it looks. On GA_ERR_SINGULAR *column is the column to blame. Sets
     * *rcond to the smallest |u_ii| relative to the size of column i; factor.c judges it.
     * *column: that i. */
    ga_status (*numeric)(void *data, const ga_matrix *matrix, double *rcond, int *column);
    /* The same of the matrix times r and c; null if there is nothing to gain. */
    ga_status (*numeric_scaled)(void *data, const ga_matrix *matrix, const double *r,
                                const double *c, double *rcond, int *column);
    /* ga_factor_numeric_sum, by one who looks; null if there is nothing to gain. */
    ga_status (*numeric_sum)(void *data, const ga_matrix_total *total, double *rcond,
                             int *column);
    void (*solve)(void *data, double *x);
    void (*solve_rough)(void *data, double *x); /* null: like solve */
    void (*forget)(void *data);                 /* the choice of pivots; null if none is kept */
    double (*operations)(const void *data); /* of a factorisation; null if not known before */
    /* See factor.h; null if factors are not shared. lender null: no longer. */
    ga_status (*share)(void *data, void *lender);
    double *(*lend)(void *data); /* ga_factor_lend; null if matrices stay */
} ga_backend;

#define GA_BACKEND(kind, table) extern const ga_backend table;
#include "la/backend.def"
#undef GA_BACKEND

#endif
