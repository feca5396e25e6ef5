/* What factor.c asks of a backend. The matrix has n >= 1 and outlives the data. */
#ifndef GA_LA_BACKEND_H
#define GA_LA_BACKEND_H

#include "la/factor.h"

typedef struct ga_backend {
    const char *name;
    ga_status (*create)(const ga_matrix *matrix, void **data);
    void (*destroy)(void *data);
    /* Values are finite. On GA_ERR_SINGULAR *column is the column to blame. Sets *rcond to
     * min |u_ii| / max |u_ii|; factor.c judges it. *column: smallest pivot. */
    ga_status (*numeric)(void *data, const ga_matrix *matrix, double *rcond, int *column);
    void (*solve)(void *data, double *x);
} ga_backend;

#define GA_BACKEND(kind, table) extern const ga_backend table;
#include "la/backend.def"
#undef GA_BACKEND

#endif
