/* Products A B by blocks, planned once: which blocks of A and B meet. Each pair gives a block
 * of the result; where several have one place, they add up. */
#ifndef GA_LA_PRODUCT_H
#define GA_LA_PRODUCT_H

#include "la/coords.h"

typedef struct ga_product {
    ga_coords A, B;    /* views: the arrays of the factors are borrowed */
    int pairs, *a, *b; /* blocks that meet, by columns of the result */
    ga_coords result;  /* a block for each pair */
} ga_product;

ga_status ga_product_create(const ga_coords *A, const ga_coords *B, ga_product *product);
void ga_product_destroy(ga_product *product);
void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values);

/* Two blocks that meet: the columns of a that are rows of b, and where they begin in the values
 * of both. */
typedef struct ga_product_pair {
    ga_matrix_block a, b;
    int inner, from_a, from_b;
} ga_product_pair;

ga_product_pair ga_product_meet(const ga_product *product, int pair);

#endif
