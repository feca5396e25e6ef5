/* Products of a full matrix that are added to a full matrix: all columns have the same rows,
 * and follow each other. Where rows are few, their number is known to the compiler. */
#include "la/coords.h"
#include "la/tall.h"

KERNEL void add_flat(const ga_product *product, double scale, const double *a, const double *b,
                     const int rows, int ld, double *to)
{
    const int *at = product->flat;
    for (int left = product->columns; left > 0; --left, to += ld) {
        const int terms = *at++;
        const tall column = {terms, at, at + terms, a, b, scale};
        add_low(&column, rows, to);
        at += 2 * terms;
    }
}

/* So many rows that they do not stay in registers. */
static void add_high(const ga_product *product, double scale, const double *a, const double *b,
                     int ld, double *to)
{
    const int *at = product->flat;
    for (int left = product->columns; left > 0; --left, to += ld) {
        const tall column = {*at, at + 1, at + 1 + *at, a, b, scale};
        add_tall(&column, product->result.rows, to);
        at += 1 + 2 * *at;
    }
}

void ga_product_add_full(const ga_product *product, double scale, const double *a,
                         const double *b, int ld, double *to)
{
    switch (product->result.rows) {
    case 1:
        add_flat(product, scale, a, b, 1, ld, to);
        break;
    case 2:
        add_flat(product, scale, a, b, 2, ld, to);
        break;
    case 3:
        add_flat(product, scale, a, b, 3, ld, to);
        break;
    case 4:
        add_flat(product, scale, a, b, 4, ld, to);
        break;
    case 5:
        add_flat(product, scale, a, b, 5, ld, to);
        break;
    case 6:
        add_flat(product, scale, a, b, 6, ld, to);
        break;
    case 7:
        add_flat(product, scale, a, b, 7, ld, to);
        break;
    case 8:
        add_flat(product, scale, a, b, 8, ld, to);
        break;
    default:
        add_high(product, scale, a, b, ld, to);
    }
}
