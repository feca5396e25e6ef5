/* What the kernels of fronts are made of besides fours.h; four rows are one vector. */
#ifndef GA_LA_QUAD_H
#define GA_LA_QUAD_H

#include "la/fours.h"

#include <float.h>
#include <stdbool.h>

#if defined(__GNUC__)
KERNEL double get_lane(const quad *x, int v) { return (*x)[v]; }
/* by masks: the compiler would go through memory */
KERNEL void set_lane(quad *x, int v, double a)
{
    const quad_mask at = {-(v == 0), -(v == 1), -(v == 2), -(v == 3)};
    const quad all = {a, a, a, a};
    *x = (quad)(((quad_mask)*x & ~at) | ((quad_mask)all & at));
}
KERNEL void fill(quad *x, double a) { *x = a - (quad){0}; }
KERNEL void subtract_products(quad *x, const quad *y, const quad *z) { *x -= *y * *z; }
/* Adds the numbers from .. of the first count of y, which may begin before them. clang wants to
 * see constants, and finds shuffles itself. */
#if defined(__clang__)
#define SHIFTED(v) ((v) + from >= 0 && (v) + from < count ? (*y)[((v) + from) & 3] : 0)
KERNEL void add_shifted(quad *x, const quad *y, const int from, const int count)
{
    *x += (quad){SHIFTED(0), SHIFTED(1), SHIFTED(2), SHIFTED(3)};
}
#else
#define SHIFTED(v) ((v) + from >= 0 && (v) + from < count ? (v) + from : 4)
KERNEL void add_shifted(quad *x, const quad *y, const int from, const int count)
{
    *x += PICK(*y, (quad){0}, SHIFTED(0), SHIFTED(1), SHIFTED(2), SHIFTED(3));
}
#endif
#undef SHIFTED
/* Zero where the mask is, and not -1. */
KERNEL void keep_where(quad *x, const long long *mask)
{
    *x = (quad)((quad_mask)*x & *(const quad_mask *)mask);
}
#else
KERNEL double get_lane(const quad *x, int v) { return x->at[v]; }
KERNEL void set_lane(quad *x, int v, double a) { x->at[v] = a; }
KERNEL void fill(quad *x, double a) { EACH x->at[v] = a; }
KERNEL void subtract_products(quad *x, const quad *y, const quad *z)
{
    EACH x->at[v] -= y->at[v] * z->at[v];
}
KERNEL void add_shifted(quad *x, const quad *y, int from, int count)
{
    EACH if (v + from >= 0 && v + from < count) x->at[v] += y->at[v + from];
}
KERNEL void keep_where(quad *x, const long long *mask)
{
    EACH x->at[v] = mask[v] ? x->at[v] : 0;
}
#endif

KERNEL double sum_of(const quad *x)
{
    double s[4];
    store(s, x);
    return (s[0] + s[1]) + (s[2] + s[3]);
}

/* A loop over pivots; all its passes in a row where their number is known. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 16")
#endif
#if defined(__GNUC__) && !defined(__clang__)
#define KEEP_ROLLED _Pragma("GCC unroll 1")
#else
#define KEEP_ROLLED
#endif
#if defined(UNROLL)
#define FOR_PIVOTS(c, from, k, step)                                                           \
    if (__builtin_constant_p(k)) {                                                             \
        UNROLL                                                                                 \
        for (int c = from; c < (k); ++c) step;                                                 \
    } else {                                                                                   \
        for (int c = from; c < (k); ++c) step;                                                 \
    }
#else
#define FOR_PIVOTS(c, from, k, step)                                                           \
    for (int c = from; c < (k); ++c) step;
#endif

/* A diagonal entry this large relative to its column stays the pivot: most bodies then need no
 * swaps, which take time. */
static const double KEEP_DIAGONAL = 0.1;

KERNEL void swap_rows(int count, double *a, double *b, int stride)
{
    for (int j = 0; j < count; ++j) {
        double t = a[j * stride];
        a[j * stride] = b[j * stride];
        b[j * stride] = t;
    }
}

/* The row to swap with row c, or -1 if the column x is of no use. */
KERNEL int choose_pivot(const int k, const double *x, int c)
{
    double most = 0;
    for (int i = c + 1; i < k; ++i) most = fabs(x[i]) > most ? fabs(x[i]) : most;
    const double diagonal = fabs(x[c]);
    if (diagonal >= KEEP_DIAGONAL * most && diagonal >= DBL_MIN && diagonal < INFINITY)
        return c;
    if (!(most >= DBL_MIN && most < INFINITY)) return -1;
    int p = c + 1;
    while (fabs(x[p]) != most) ++p;
    return p;
}

/* S -= L U with U transposed (r4 x k), four columns by four rows at a time. */
KERNEL void update_others(const int k, int r, int r4, const double *restrict L,
                          const double *restrict U, double *restrict S)
{
    int j = 0;
    for (; j + 4 <= r; j += 4)
        for (int i = 0; i < r4; i += 4) {
            quad s[4], l;
            for (int c = 0; c < 4; ++c) load(&s[c], S + (j + c) * r4 + i);
            for (int p = 0; p < k; ++p) {
                load(&l, L + p * r4 + i);
                for (int c = 0; c < 4; ++c) subtract(&s[c], &l, U[p * r4 + j + c]);
            }
            for (int c = 0; c < 4; ++c) store(S + (j + c) * r4 + i, &s[c]);
        }
    for (; r % 4 && j < r; ++j)
        for (int i = 0; i < r4; i += 4) {
            quad s;
            load(&s, S + j * r4 + i);
            for (int p = 0; p < k; ++p) subtract_at(&s, L + p * r4 + i, U[p * r4 + j]);
            store(S + j * r4 + i, &s);
        }
}

#endif
