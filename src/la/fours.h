/* Arithmetic with four numbers as one vector, for kernels on small dense matrices. Left to
 * itself, the compiler finds other directions to vectorise in, and spends its time shuffling.
 */
#ifndef GA_LA_FOURS_H
#define GA_LA_FOURS_H

#include "base/quads.h"

#include <math.h>
#include <string.h>

#if defined(__GNUC__)
KERNEL void set_zero(quad *x) { *x = (quad){0}; }
KERNEL void set(quad *x, double a, double b, double c, double d) { *x = (quad){a, b, c, d}; }
KERNEL void scale(quad *x, double a) { *x *= a; }
KERNEL void minus(quad *x, const quad *y) { *x -= *y; }
KERNEL void add(quad *x, const quad *y, double a) { *x += *y * a; }
KERNEL void subtract(quad *x, const quad *y, double a) { *x -= *y * a; }
KERNEL void add_products(quad *x, const quad *y, const quad *z) { *x += *y * *z; }
KERNEL void times(quad *x, const quad *y) { *x *= *y; }
KERNEL void over(quad *x, const quad *y) { *x /= *y; }
KERNEL void divide_by(quad *x, double a) { *x /= a; }
/* x := max(x, |y|) each; a NaN in y is left out. */
KERNEL void raise_by(quad *x, const quad *y)
{
    const quad_mask sign = (quad_mask)(quad){-0.0, -0.0, -0.0, -0.0};
    const quad size = (quad)((quad_mask)*y & ~sign);
#if defined(__AVX__) && !defined(__clang__) /* the second where they do not compare */
    *x = __builtin_ia32_maxpd256(size, *x);
#else
    const quad_mask more = size > *x;
    *x = (quad)(((quad_mask)size & more) | ((quad_mask)*x & ~more));
#endif
}
/* x := min(x, |y|) likewise. */
KERNEL void lower_by(quad *x, const quad *y)
{
    const quad_mask sign = (quad_mask)(quad){-0.0, -0.0, -0.0, -0.0};
    const quad size = (quad)((quad_mask)*y & ~sign);
#if defined(__AVX__) && !defined(__clang__)
    *x = __builtin_ia32_minpd256(size, *x);
#else
    const quad_mask less = size < *x;
    *x = (quad)(((quad_mask)size & less) | ((quad_mask)*x & ~less));
#endif
}
/* The same for the one of two that `which`, 0 or 1, says. What is not finite may get lost. */
typedef int quad_int __attribute__((vector_size(16), aligned(4), may_alias));
KERNEL void raise_one(quad x[2], const double *y, const int *which)
{
    const quad all = *(const quad *)y;
    const quad second = all * __builtin_convertvector(*(const quad_int *)which, quad);
    const quad first = all - second;
    raise_by(&x[0], &first);
    raise_by(&x[1], &second);
}
/* The largest one of each of two. */
KERNEL void largest_of_both(const quad x[2], double largest[2])
{
    quad even = PICK(x[0], x[1], 0, 4, 2, 6), odd = PICK(x[0], x[1], 1, 5, 3, 7);
    raise_by(&even, &odd);
    largest[0] = even[0] > even[2] ? even[0] : even[2];
    largest[1] = even[1] > even[3] ? even[1] : even[3];
}
/* Four times the number at v, which is known to the compiler. */
KERNEL void spread(quad *x, const quad *from, const int v)
{
    *x = v == 0   ? PICK(*from, *from, 0, 0, 0, 0)
         : v == 1 ? PICK(*from, *from, 1, 1, 1, 1)
         : v == 2 ? PICK(*from, *from, 2, 2, 2, 2)
                  : PICK(*from, *from, 3, 3, 3, 3);
}
/* The numbers from v > 0 on, which is known to the compiler, and then others. */
KERNEL void shift(quad *x, const quad *from, const int v)
{
    *x = v == 1   ? PICK(*from, *from, 1, 2, 3, 3)
         : v == 2 ? PICK(*from, *from, 2, 3, 3, 3)
                  : PICK(*from, *from, 3, 3, 3, 3);
}
/* The first count < 4 numbers, and zeros. */
KERNEL void load_first(quad *x, const double *from, int count)
{
    if (count > 2)
        *x = (quad){from[0], from[1], from[2], 0};
    else if (count > 1)
        *x = (quad){from[0], from[1], 0, 0};
    else
        *x = (quad){from[0], 0, 0, 0};
}
/* And back. */
KERNEL void store_first(double *to, const quad *x, int count)
{
    to[0] = (*x)[0];
    if (count > 1) to[1] = (*x)[1];
    if (count > 2) to[2] = (*x)[2];
}
#else
#define EACH for (int v = 0; v < 4; ++v)
KERNEL void set_zero(quad *x) { memset(x, 0, sizeof *x); }
KERNEL void set(quad *x, double a, double b, double c, double d)
{
    const double all[4] = {a, b, c, d};
    memcpy(x, all, sizeof all);
}
KERNEL void scale(quad *x, double a) { EACH x->at[v] *= a; }
KERNEL void minus(quad *x, const quad *y) { EACH x->at[v] -= y->at[v]; }
KERNEL void add(quad *x, const quad *y, double a) { EACH x->at[v] += y->at[v] * a; }
KERNEL void subtract(quad *x, const quad *y, double a) { EACH x->at[v] -= y->at[v] * a; }
KERNEL void add_products(quad *x, const quad *y, const quad *z)
{
    EACH x->at[v] += y->at[v] * z->at[v];
}
KERNEL void times(quad *x, const quad *y) { EACH x->at[v] *= y->at[v]; }
KERNEL void over(quad *x, const quad *y) { EACH x->at[v] /= y->at[v]; }
KERNEL void divide_by(quad *x, double a) { EACH x->at[v] /= a; }
KERNEL void raise_by(quad *x, const quad *y)
{
    EACH x->at[v] = fabs(y->at[v]) > x->at[v] ? fabs(y->at[v]) : x->at[v];
}
KERNEL void lower_by(quad *x, const quad *y)
{
    EACH x->at[v] = fabs(y->at[v]) < x->at[v] ? fabs(y->at[v]) : x->at[v];
}
KERNEL void spread(quad *x, const quad *from, const int v)
{
    const double a = from->at[v];
    for (int k = 0; k < 4; ++k) x->at[k] = a;
}
KERNEL void shift(quad *x, const quad *from, const int v)
{
    const quad all = *from;
    for (int k = 0; k < 4; ++k) x->at[k] = all.at[k + v < 4 ? k + v : 3];
}
KERNEL void load_first(quad *x, const double *from, int count)
{
    EACH x->at[v] = v < count ? from[v] : 0;
}
KERNEL void store_first(double *to, const quad *x, int count)
{
    for (int v = 0; v < count; ++v) to[v] = x->at[v];
}
KERNEL void raise_one(quad x[2], const double *y, const int *which)
{
    EACH
    {
        double *at = &x[which[v]].at[v];
        *at = fabs(y[v]) > *at ? fabs(y[v]) : *at;
    }
}
KERNEL void largest_of_both(const quad x[2], double largest[2])
{
    for (int k = 0; k < 2; ++k) {
        largest[k] = 0;
        EACH largest[k] = x[k].at[v] > largest[k] ? x[k].at[v] : largest[k];
    }
}
#endif

KERNEL void raise(quad *x, const double *y)
{
    quad z;
    load(&z, y);
    raise_by(x, &z);
}

KERNEL double greater(double a, double b) { return a > b ? a : b; }

KERNEL double largest_of(const quad *x)
{
    double s[4];
    store(s, x);
    return greater(greater(s[0], s[1]), greater(s[2], s[3]));
}

/* As one store: processors are slow to read as a four what was not written as one. */
KERNEL void put(double *to, double a, double b, double c, double d)
{
    quad x;
    set(&x, a, b, c, d);
    store(to, &x);
}

KERNEL void add_products_at(quad *x, const double *y, const quad *z)
{
    quad w;
    load(&w, y);
    add_products(x, &w, z);
}

/* x += y a, and x -= y a, with y in memory. */
KERNEL void add_at(quad *x, const double *y, double a)
{
    quad z;
    load(&z, y);
    add(x, &z, a);
}

KERNEL void subtract_at(quad *x, const double *y, double a)
{
    quad z;
    load(&z, y);
    subtract(x, &z, a);
}

/* Up to four numbers; exactly these are touched: the next may be written by others. */
KERNEL void load_some(quad *x, const double *from, int count)
{
    if (count >= 4)
        load(x, from);
    else
        load_first(x, from, count);
}

KERNEL void store_some(double *to, const quad *x, int count)
{
    if (count >= 4)
        store(to, x);
    else
        store_first(to, x, count);
}

/* work(i, count, ...), count known to the compiler, for the numbers from .. end - 1: four at a
 * time, and those that are left.
 * What is written like that is best read like that, or one by one: processors wait for numbers
 * of a four that come from several stores. */
#define IN_FOURS(from, end, work, ...)                                                         \
    do {                                                                                       \
        int four = (from);                                                                     \
        for (; four + 4 <= (end); four += 4) work(four, 4, __VA_ARGS__);                       \
        if ((end)-four == 1) work(four, 1, __VA_ARGS__);                                       \
        if ((end)-four == 2) work(four, 2, __VA_ARGS__);                                       \
        if ((end)-four == 3) work(four, 3, __VA_ARGS__);                                       \
    } while (0)

/* For it: from -= x, and from -= a x. */
KERNEL void take_some(int i, const int count, const double *x, double *from)
{
    quad y, z;
    load_some(&y, from + i, count);
    load_some(&z, x + i, count);
    minus(&y, &z);
    store_some(from + i, &y, count);
}

KERNEL void take_some_times(int i, const int count, double a, const double *x, double *from)
{
    quad y, z;
    load_some(&y, from + i, count);
    load_some(&z, x + i, count);
    subtract(&y, &z, a);
    store_some(from + i, &y, count);
}

#endif
