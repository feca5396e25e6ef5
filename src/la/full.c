/* Systems of few unknowns spend more time on the way to their numbers than with them. So blocks
 * that are full have no lists of places, and how many rows they have is known to the compiler,
 * if they are few. */
#include "la/full.h"

#include "la/fours.h"

KERNEL void add_four(int i, const int count, double a, const double *x, double *to)
{
    quad y, z;
    load_some(&y, to + i, count);
    load_some(&z, x + i, count);
    add(&y, &z, a);
    store_some(to + i, &y, count);
}

KERNEL void add_columns(const int rows, int cols, double a, const double *x, int ld, double *to)
{
    for (int j = 0; j < cols; ++j, x += rows, to += ld) IN_FOURS(0, rows, add_four, a, x, to);
}

void ga_full_add(int rows, int cols, double scale, const double *x, int ld, double *to)
{
    switch (rows) {
    case 1:
        add_columns(1, cols, scale, x, ld, to);
        break;
    case 2:
        add_columns(2, cols, scale, x, ld, to);
        break;
    case 3:
        add_columns(3, cols, scale, x, ld, to);
        break;
    case 4:
        add_columns(4, cols, scale, x, ld, to);
        break;
    case 5:
        add_columns(5, cols, scale, x, ld, to);
        break;
    case 6:
        add_columns(6, cols, scale, x, ld, to);
        break;
    case 7:
        add_columns(7, cols, scale, x, ld, to);
        break;
    default:
        add_columns(rows, cols, scale, x, ld, to);
    }
}

/* Rows i .. i+count-1 of a column: every stride-th number of x. */
KERNEL void add_strided(int i, const int count, double a, const double *x, int stride,
                        double *to)
{
    quad y, z;
    const double *at = x + i * stride;
    set(&z, at[0], count > 1 ? at[stride] : 0, count > 2 ? at[2 * stride] : 0,
        count > 3 ? at[3 * stride] : 0);
    load_some(&y, to + i, count);
    add(&y, &z, a);
    store_some(to + i, &y, count);
}

void ga_full_add_rows(int rows, int cols, double scale, const double *x, int ld, double *to)
{
    for (int j = 0; j < cols; ++j, ++x, to += ld)
        IN_FOURS(0, rows, add_strided, scale, x, cols, to);
}
