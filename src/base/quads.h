/* Four numbers as one vector.
 *
 * A KERNEL becomes part of whatever calls it, so that one text can be compiled for any
 * processor and again for those with AVX2. Neither fuses operations: same bits. Names are
 * plain, as those of statics: for files that are kernels, not for headers. */
#ifndef GA_BASE_QUADS_H
#define GA_BASE_QUADS_H

#include <string.h>

#if defined(__GNUC__)
#define KERNEL static inline __attribute__((always_inline))
typedef double quad __attribute__((vector_size(32), aligned(8), may_alias));
KERNEL void load(quad *x, const double *from) { *x = *(const quad *)from; }
KERNEL void store(double *to, const quad *x) { *(quad *)to = *x; }
typedef long long quad_mask __attribute__((vector_size(32), aligned(8), may_alias));
#if defined(__clang__)
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (quad_mask){__VA_ARGS__})
#endif
/* Rows become columns. */
KERNEL void transpose(quad x[4])
{
    const quad a = PICK(x[0], x[1], 0, 4, 2, 6), b = PICK(x[0], x[1], 1, 5, 3, 7),
               c = PICK(x[2], x[3], 0, 4, 2, 6), d = PICK(x[2], x[3], 1, 5, 3, 7);
    x[0] = PICK(a, c, 0, 1, 4, 5);
    x[1] = PICK(b, d, 0, 1, 4, 5);
    x[2] = PICK(a, c, 2, 3, 6, 7);
    x[3] = PICK(b, d, 2, 3, 6, 7);
}
#else
#define KERNEL static inline
typedef struct quad {
    double at[4];
} quad;
KERNEL void load(quad *x, const double *from) { memcpy(x, from, sizeof *x); }
KERNEL void store(double *to, const quad *x) { memcpy(to, x, sizeof *x); }
KERNEL void transpose(quad x[4])
{
    const quad y[4] = {x[0], x[1], x[2], x[3]};
    for (int k = 0; k < 4; ++k)
        for (int v = 0; v < 4; ++v) x[k].at[v] = y[v].at[k];
}
#endif

#endif
