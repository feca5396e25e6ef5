/* Four numbers as one vector, for the kernels of la, lie and element.
 *
 * A KERNEL becomes part of whatever calls it, so that one text can be compiled for any
 * processor and again for those with AVX2. Neither fuses operations: same bits. Names are
 * plain, as those of statics: for files that are kernels, not for headers. */
#ifndef GA_BASE_SIMD_H
#define GA_BASE_SIMD_H

#include <math.h>
#include <string.h>

#if defined(__GNUC__)
#define KERNEL static inline __attribute__((always_inline))
typedef double vec4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long vec4_mask __attribute__((vector_size(32), aligned(8), may_alias));
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (vec4_mask){__VA_ARGS__})
#endif
KERNEL void load(vec4 *x, const double *from) { *x = *(const vec4 *)from; }
KERNEL void store(double *to, const vec4 *x) { *(vec4 *)to = *x; }
/* The first count < 4 numbers, and zeros; and back. */
KERNEL void load_first(vec4 *x, const double *from, int count)
{
    if (count > 2)
        *x = (vec4){from[0], from[1], from[2], 0};
    else if (count > 1)
        *x = (vec4){from[0], from[1], 0, 0};
    else
        *x = (vec4){from[0], 0, 0, 0};
}
KERNEL void store_first(double *to, const vec4 *x, int count)
{
    to[0] = (*x)[0];
    if (count > 1) to[1] = (*x)[1];
    if (count > 2) to[2] = (*x)[2];
}
/* As one store: processors are slow to read as a vector what was not written as one. */
KERNEL void put(double *to, double a, double b, double c, double d)
{
    *(vec4 *)to = (vec4){a, b, c, d};
}
KERNEL void set_zero(vec4 *x) { *x = (vec4){0}; }
KERNEL void scale(vec4 *x, double a) { *x *= a; }
KERNEL void multiply(vec4 *x, const vec4 *y) { *x *= *y; }
KERNEL void minus(vec4 *x, const vec4 *y) { *x -= *y; }
KERNEL void add(vec4 *x, const vec4 *y, double a) { *x += *y * a; }
KERNEL void subtract(vec4 *x, const vec4 *y, double a) { *x -= *y * a; }
KERNEL void add_products(vec4 *x, const vec4 *y, const vec4 *z) { *x += *y * *z; }
/* x := max(x, |y|) each; a NaN in y is left out. */
KERNEL void raise_by(vec4 *x, const vec4 *y)
{
    const vec4_mask sign = (vec4_mask)(vec4){-0.0, -0.0, -0.0, -0.0};
    const vec4 size = (vec4)((vec4_mask)*y & ~sign);
#if defined(__AVX__) && !defined(__clang__) /* the second where they do not compare */
    *x = __builtin_ia32_maxpd256(size, *x);
#else
    const vec4_mask more = size > *x;
    *x = (vec4)(((vec4_mask)size & more) | ((vec4_mask)*x & ~more));
#endif
}
/* Rows become columns. */
KERNEL void transpose(vec4 x[4])
{
    const vec4 a = PICK(x[0], x[1], 0, 4, 2, 6), b = PICK(x[0], x[1], 1, 5, 3, 7),
               c = PICK(x[2], x[3], 0, 4, 2, 6), d = PICK(x[2], x[3], 1, 5, 3, 7);
    x[0] = PICK(a, c, 0, 1, 4, 5);
    x[1] = PICK(b, d, 0, 1, 4, 5);
    x[2] = PICK(a, c, 2, 3, 6, 7);
    x[3] = PICK(b, d, 2, 3, 6, 7);
}
#else
#define KERNEL static inline
#define EACH for (int v = 0; v < 4; ++v)
typedef struct vec4 {
    double at[4];
} vec4;
KERNEL void load(vec4 *x, const double *from) { memcpy(x, from, sizeof *x); }
KERNEL void store(double *to, const vec4 *x) { memcpy(to, x, sizeof *x); }
KERNEL void load_first(vec4 *x, const double *from, int count)
{
    EACH x->at[v] = v < count ? from[v] : 0;
}
KERNEL void store_first(double *to, const vec4 *x, int count)
{
    for (int v = 0; v < count; ++v) to[v] = x->at[v];
}
KERNEL void put(double *to, double a, double b, double c, double d)
{
    const double all[4] = {a, b, c, d};
    memcpy(to, all, sizeof all);
}
KERNEL void set_zero(vec4 *x) { memset(x, 0, sizeof *x); }
KERNEL void scale(vec4 *x, double a) { EACH x->at[v] *= a; }
KERNEL void multiply(vec4 *x, const vec4 *y) { EACH x->at[v] *= y->at[v]; }
KERNEL void minus(vec4 *x, const vec4 *y) { EACH x->at[v] -= y->at[v]; }
KERNEL void add(vec4 *x, const vec4 *y, double a) { EACH x->at[v] += y->at[v] * a; }
KERNEL void subtract(vec4 *x, const vec4 *y, double a) { EACH x->at[v] -= y->at[v] * a; }
KERNEL void add_products(vec4 *x, const vec4 *y, const vec4 *z)
{
    EACH x->at[v] += y->at[v] * z->at[v];
}
KERNEL void raise_by(vec4 *x, const vec4 *y)
{
    EACH x->at[v] = fabs(y->at[v]) > x->at[v] ? fabs(y->at[v]) : x->at[v];
}
KERNEL void transpose(vec4 x[4])
{
    const vec4 y[4] = {x[0], x[1], x[2], x[3]};
    for (int k = 0; k < 4; ++k)
        for (int v = 0; v < 4; ++v) x[k].at[v] = y[v].at[k];
}
#endif

/* x += y a, and x -= y a, with y in memory. */
KERNEL void add_at(vec4 *x, const double *y, double a)
{
    vec4 z;
    load(&z, y);
    add(x, &z, a);
}

KERNEL void subtract_at(vec4 *x, const double *y, double a)
{
    vec4 z;
    load(&z, y);
    subtract(x, &z, a);
}

/* The first numbers of four, or all where there are that many. */
KERNEL void load_up_to(vec4 *x, const double *from, int count)
{
    if (count >= 4)
        load(x, from);
    else
        load_first(x, from, count);
}

KERNEL void store_up_to(double *to, const vec4 *x, int count)
{
    if (count >= 4)
        store(to, x);
    else
        store_first(to, x, count);
}

KERNEL double greater(double a, double b) { return a > b ? a : b; }

KERNEL double largest_of(const vec4 *x)
{
    double s[4];
    store(s, x);
    return greater(greater(s[0], s[1]), greater(s[2], s[3]));
}

#endif
