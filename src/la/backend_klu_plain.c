/* In place of backend_klu.c where the library is built without KLU: LU on a full matrix, which
 * is as safe and takes more time and memory. */
#include "la/backend.h"

#include <stddef.h>

const bool ga_factor_has_klu = false;

static ga_status create(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data)
{
    return ga_backend_dense.create(matrix, partition, pool, data);
}

static void destroy(void *data) { ga_backend_dense.destroy(data); }

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    return ga_backend_dense.numeric(data, matrix, rcond, column);
}

static void solve(void *data, double *x) { ga_backend_dense.solve(data, x); }

const ga_backend ga_backend_klu = {
    .name = "full, for want of KLU",
    .looks = true,
    .create = create,
    .destroy = destroy,
    .numeric = numeric,
    .solve = solve,
};
