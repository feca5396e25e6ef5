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
/* Frees the structure of the result; evaluation does not need it. */
void ga_product_drop_places(ga_product *product);
void ga_product_evaluate(const ga_product *product, const double *a, const double *b,
                         double *values);
/* values[slot[j] + i] += scale * value (i, j) of a pair; returns its number of columns. */
int ga_product_add_pair(const ga_product *product, int pair, const double *a, const double *b,
                        double scale, const int *slot, double *values);

#endif
