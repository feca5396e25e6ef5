/* Columns of products with a full matrix. */
#ifndef GA_LA_TALL_H
#define GA_LA_TALL_H

#include "la/fours.h"

/* A column of a product with a full matrix: so many terms, for each place one row of A. */
typedef struct tall {
    int terms;
    const int *ia, *ib;
    const double *a, *b;
    double scale;
} tall;

/* Rows i to i+3 and j to j+3 of the sums, so that one need not wait for the other; times scale,
 * added to what is there. */
KERNEL void add_fours(const tall *c, int i, int j, double *to)
{
    const double *a = c->a + c->ia[0], first = c->b[c->ib[0]];
    quad x, y, sum;
    load(&x, a + i);
    load(&y, a + j);
    scale(&x, first);
    scale(&y, first);
    for (int t = 1; t < c->terms; ++t) {
        const double *at = c->a + c->ia[t], factor = c->b[c->ib[t]];
        add_at(&x, at + i, factor);
        add_at(&y, at + j, factor);
    }
    load(&sum, to + j);
    add(&sum, &y, c->scale);
    y = sum;
    load(&sum, to + i);
    add(&sum, &x, c->scale);
    store(to + i, &sum);
    store(to + j, &y);
}

/* The same for w < 4 rows, w known to the compiler. */
KERNEL void add_some(const tall *c, int i, const int w, double *to)
{
    const double *first = c->a + c->ia[0] + i;
    double sum[3], b = c->b[c->ib[0]];
    for (int v = 0; v < w; ++v) sum[v] = first[v] * b;
    for (int t = 1; t < c->terms; ++t) {
        const double *a = c->a + c->ia[t] + i;
        b = c->b[c->ib[t]];
        for (int v = 0; v < w; ++v) sum[v] += a[v] * b;
    }
    for (int v = 0; v < w; ++v) to[i + v] += c->scale * sum[v];
}

/* Eight rows at a time; the last fours have rows in common if they are fewer. */
KERNEL void add_tall(const tall *c, int rows, double *to)
{
    int i = 0;
    for (; i + 8 <= rows; i += 8) add_fours(c, i, i + 4, to);
    const int left = rows - i;
    if (left == 1) add_some(c, i, 1, to);
    if (left == 2) add_some(c, i, 2, to);
    if (left == 3) add_some(c, i, 3, to);
    if (left >= 4) add_fours(c, i, rows - 4, to);
}

/* A column of so few rows that they stay in registers; their number is known to the compiler.
 */
KERNEL void add_low(const tall *c, const int rows, double *to)
{
    const int first = rows < 4 ? rows : 4, rest = rows - first;
    const double *a = c->a + c->ia[0], b = c->b[c->ib[0]];
    quad x, y, z;
    load_some(&x, a, first);
    scale(&x, b);
    if (rest) load_some(&y, a + 4, rest);
    if (rest) scale(&y, b);
    for (int t = 1; t < c->terms; ++t) {
        const double *at = c->a + c->ia[t], factor = c->b[c->ib[t]];
        load_some(&z, at, first);
        add(&x, &z, factor);
        if (rest) load_some(&z, at + 4, rest);
        if (rest) add(&y, &z, factor);
    }
    load_some(&z, to, first);
    add(&z, &x, c->scale);
    store_some(to, &z, first);
    if (rest) load_some(&z, to + 4, rest);
    if (rest) add(&z, &y, c->scale);
    if (rest) store_some(to + 4, &z, rest);
}

#endif
