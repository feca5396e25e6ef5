/* Sizes of few numbers, as a part of whatever asks for them: they stay in registers, and are
 * read as they were written (IN_FOURS in la/fours.h). */
#ifndef GA_SYSTEM_NORMS_FEW_H
#define GA_SYSTEM_NORMS_FEW_H

#include "la/fours.h"
#include "system/dae.h"

/* The sum of 0 x: 0, or NaN. */
KERNEL double sum_of_zeros(const quad *zeros)
{
    double zero[4];
    store(zero, zeros);
    return zero[0] + zero[1] + (zero[2] + zero[3]);
}

/* Largest of each kind so far; second is 1 for numbers of the second one, or else 0. */
KERNEL void raise_both(quad most[2], quad all, const quad *second)
{
    quad own = *second;
    times(&own, &all);
    minus(&all, &own);
    raise_by(&most[0], &all);
    raise_by(&most[1], &own);
}

KERNEL void raise_kinds(int i, const int count, const double *x, const double *second,
                        quad most[2], quad *zeros)
{
    quad all, own;
    load_some(&all, x + i, count);
    load_some(&own, second + i, count);
    add(zeros, &all, 0);
    raise_both(most, all, &own);
}

/* Largest of each kind. 0, or NaN if x is not finite; sizes are what they may be then. */
KERNEL double sizes_by_kind(int n, const double *x, const double *second, double size[2])
{
    quad most[2], zeros;
    set_zero(&most[0]), set_zero(&most[1]), set_zero(&zeros);
    IN_FOURS(0, n, raise_kinds, x, second, most, &zeros);
    largest_of_both(most, size);
    return sum_of_zeros(&zeros);
}

KERNEL void raise_some(int i, const int count, const double *x, quad *most, quad *zeros)
{
    quad all;
    load_some(&all, x + i, count);
    add(zeros, &all, 0);
    raise_by(most, &all);
}

/* As ga_norm_max. */
KERNEL double largest_of_few(int n, const double *x)
{
    quad most, zeros;
    set_zero(&most), set_zero(&zeros);
    IN_FOURS(0, n, raise_some, x, &most, &zeros);
    return sum_of_zeros(&zeros) == 0 ? largest_of(&most) : ga_norm_max(n, x);
}

#endif
