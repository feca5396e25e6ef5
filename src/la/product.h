/* Products A B of matrices in coordinate form, planned once.
 *
 * The plan of a column says which entries of A and B are multiplied for each of its places,
 * counted from the first ones that the column uses; like columns, of the joints of a chain for
 * instance, have one plan. Plan p has the places place[p] .. place[p+1] - 1, and place k is the
 * sum of a[ia[t]] * b[ib[t]] over the terms start[k] <= t < start[k+1]. */
#ifndef GA_LA_PRODUCT_H
#define GA_LA_PRODUCT_H

#include "la/coords.h"

typedef struct ga_product_column {
    int plan, a, b; /* the plan, and the entries it counts from */
} ga_product_column;

typedef struct ga_product {
    ga_coords result;          /* each place once, sorted by column, then row */
    ga_product_column *column; /* of each column of B */
    int plans;
    int *place, *start, *ia, *ib;
} ga_product;

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product);
void ga_product_destroy(ga_product *product);
/* Frees rows and columns of the result; evaluation does not need them. */
void ga_product_drop_places(ga_product *product);
void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values);
/* values[slot[k]] += scale * value k of column j; where the slots of the next one begin. */
const int *ga_product_add_column(const ga_product *product, int j, const double *a,
                                 const double *b, double scale, const int *slot,
                                 double *restrict values);

#endif
