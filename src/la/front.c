/* Kernels for fronts; see front.h. Written once for any number of pivots, and compiled for
 * each of the small ones, so that their loops have constant bounds; and all of that twice, for
 * any processor and for those with AVX2. */
#include "la/front.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#if defined(__GNUC__)
#define KERNEL static inline __attribute__((always_inline))
#else
#define KERNEL static inline
#endif

/* A diagonal entry this large relative to its column stays the pivot: most bodies then need no
 * swaps, which take time. */
static const double KEEP_DIAGONAL = 0.1;

KERNEL void swap_rows(int k, double *a, double *b, int stride)
{
    for (int j = 0; j < k; ++j) {
        double t = a[j * stride];
        a[j * stride] = b[j * stride];
        b[j * stride] = t;
    }
}

/* P A = L U in place, reciprocals on the diagonal. */
KERNEL bool factor_pivots(const int k, double *restrict A, int *restrict swap)
{
    for (int c = 0; c < k; ++c) {
        double *restrict x = A + c * k;
        double most = fabs(x[c]);
        int p = c;
        for (int i = c + 1; i < k; ++i) {
            double size = fabs(x[i]);
            p = size > most ? i : p;
            most = size > most ? size : most;
        }
        if (!(most >= DBL_MIN && most < INFINITY)) return false;
        if (fabs(x[c]) >= KEEP_DIAGONAL * most) p = c;
        swap[c] = p;
        if (p != c) swap_rows(k, A + c, A + p, k);
        const double reciprocal = 1 / x[c];
        x[c] = reciprocal;
        for (int i = c + 1; i < k; ++i) x[i] *= reciprocal;
        for (int j = c + 1; j < k; ++j) {
            double *restrict y = A + j * k;
            const double u = y[c];
            for (int i = c + 1; i < k; ++i) y[i] -= x[i] * u;
        }
    }
    return true;
}

/* L U_A^-1, four rows at a time. */
KERNEL void solve_lower(const int k, int r4, const double *restrict A, double *restrict L)
{
    for (int i = 0; i < r4; i += 4)
        for (int c = 0; c < k; ++c) {
            double *restrict x = L + c * r4 + i;
            double s[4] = {x[0], x[1], x[2], x[3]};
            for (int p = 0; p < c; ++p)
                for (int v = 0; v < 4; ++v) s[v] -= L[p * r4 + i + v] * A[p + c * k];
            for (int v = 0; v < 4; ++v) x[v] = s[v] * A[c + c * k];
        }
}

/* L_A^-1 P U, that is U^T P^T L_A^-T, likewise. */
KERNEL void solve_upper(const int k, int r4, const double *restrict A, const int *restrict swap,
                        double *restrict U)
{
    for (int c = 0; c < k; ++c)
        if (swap[c] != c) swap_rows(r4, U + c * r4, U + swap[c] * r4, 1);
    for (int i = 0; i < r4; i += 4)
        for (int c = 1; c < k; ++c) {
            double *restrict x = U + c * r4 + i;
            double s[4] = {x[0], x[1], x[2], x[3]};
            for (int p = 0; p < c; ++p)
                for (int v = 0; v < 4; ++v) s[v] -= U[p * r4 + i + v] * A[c + p * k];
            for (int v = 0; v < 4; ++v) x[v] = s[v];
        }
}

/* S -= L U, four columns by four rows at a time. */
KERNEL void update_others(const int k, int r, int r4, const double *restrict L,
                          const double *restrict U, double *restrict S)
{
    int j = 0;
    for (; j + 4 <= r; j += 4)
        for (int i = 0; i < r4; i += 4) {
            double *restrict x = S + j * r4 + i;
            double s0[4], s1[4], s2[4], s3[4];
            for (int v = 0; v < 4; ++v) {
                s0[v] = x[v], s1[v] = x[r4 + v];
                s2[v] = x[2 * r4 + v], s3[v] = x[3 * r4 + v];
            }
            for (int p = 0; p < k; ++p) {
                const double *restrict l = L + p * r4 + i, *restrict u = U + p * r4 + j;
                for (int v = 0; v < 4; ++v) s0[v] -= l[v] * u[0];
                for (int v = 0; v < 4; ++v) s1[v] -= l[v] * u[1];
                for (int v = 0; v < 4; ++v) s2[v] -= l[v] * u[2];
                for (int v = 0; v < 4; ++v) s3[v] -= l[v] * u[3];
            }
            for (int v = 0; v < 4; ++v) {
                x[v] = s0[v], x[r4 + v] = s1[v];
                x[2 * r4 + v] = s2[v], x[3 * r4 + v] = s3[v];
            }
        }
    for (; j < r; ++j)
        for (int i = 0; i < r4; i += 4) {
            double *restrict x = S + j * r4 + i;
            double s[4] = {x[0], x[1], x[2], x[3]};
            for (int p = 0; p < k; ++p)
                for (int v = 0; v < 4; ++v) s[v] -= L[p * r4 + i + v] * U[p * r4 + j];
            for (int v = 0; v < 4; ++v) x[v] = s[v];
        }
}

KERNEL bool factor(const int k, int r, double *F, double *S, int *swap)
{
    const int r4 = ga_front_padded(r);
    double *L = F + k * k, *U = L + k * r4;
    if (!factor_pivots(k, F, swap)) return false;
    solve_lower(k, r4, F, L);
    solve_upper(k, r4, F, swap, U);
    update_others(k, r, r4, L, U, S);
    return true;
}

KERNEL void forward(const int k, int r, const double *restrict F, const int *restrict swap,
                    double *restrict y, double *restrict t)
{
    const int r4 = ga_front_padded(r);
    const double *restrict L = F + k * k;
    for (int c = 0; c < k; ++c) {
        double a = y[swap[c]];
        y[swap[c]] = y[c];
        y[c] = a;
    }
    for (int c = 0; c < k; ++c)
        for (int i = c + 1; i < k; ++i) y[i] -= F[i + c * k] * y[c];
    for (int i = 0; i < r4; i += 4) {
        double s[4] = {0};
        for (int p = 0; p < k; ++p)
            for (int v = 0; v < 4; ++v) s[v] += L[p * r4 + i + v] * y[p];
        for (int v = 0; v < 4; ++v) t[i + v] = s[v];
    }
}

KERNEL void backward(const int k, int r, const double *restrict F, const double *restrict t,
                     double *restrict y)
{
    const int r4 = ga_front_padded(r);
    const double *restrict U = F + k * k + k * r4;
    for (int p = 0; p < k; ++p) {
        double s[4] = {0};
        for (int i = 0; i < r4; i += 4)
            for (int v = 0; v < 4; ++v) s[v] += U[p * r4 + i + v] * t[i + v];
        y[p] -= (s[0] + s[1]) + (s[2] + s[3]);
    }
    for (int c = k - 1; c >= 0; --c) {
        y[c] *= F[c + c * k];
        for (int i = 0; i < c; ++i) y[i] -= F[i + c * k] * y[c];
    }
}

/* --- instances ---------------------------------------------------------------------------- */

/* pivots is k, or a number to compile for. */
#define INSTANCE(name, attribute, pivots)                                                      \
    attribute static bool factor_##name(int k, int r, double *F, double *S, int *swap)         \
    {                                                                                          \
        (void)k;                                                                               \
        return factor(pivots, r, F, S, swap);                                                  \
    }                                                                                          \
    attribute static void forward_##name(int k, int r, const double *F, const int *swap,       \
                                         double *y, double *t)                                 \
    {                                                                                          \
        (void)k;                                                                               \
        forward(pivots, r, F, swap, y, t);                                                     \
    }                                                                                          \
    attribute static void backward_##name(int k, int r, const double *F, const double *t,      \
                                          double *y)                                           \
    {                                                                                          \
        (void)k;                                                                               \
        backward(pivots, r, F, t, y);                                                          \
    }

#define INSTANCES(name, attribute)                                                             \
    INSTANCE(name##_any, attribute, k)                                                         \
    INSTANCE(name##_1, attribute, 1)                                                           \
    INSTANCE(name##_2, attribute, 2)                                                           \
    INSTANCE(name##_3, attribute, 3)                                                           \
    INSTANCE(name##_4, attribute, 4)                                                           \
    INSTANCE(name##_5, attribute, 5)                                                           \
    INSTANCE(name##_6, attribute, 6)                                                           \
    INSTANCE(name##_8, attribute, 8)                                                           \
    INSTANCE(name##_9, attribute, 9)                                                           \
    INSTANCE(name##_10, attribute, 10)                                                         \
    INSTANCE(name##_11, attribute, 11)                                                         \
    INSTANCE(name##_12, attribute, 12)                                                         \
    static const ga_front_kernels kernels_##name[] = {                                         \
        ENTRY(name##_any), ENTRY(name##_1), ENTRY(name##_2),  ENTRY(name##_3),                 \
        ENTRY(name##_4),   ENTRY(name##_5), ENTRY(name##_6),  ENTRY(name##_any),               \
        ENTRY(name##_8),   ENTRY(name##_9), ENTRY(name##_10), ENTRY(name##_11),                \
        ENTRY(name##_12)};

#define ENTRY(name)                                                                            \
    {                                                                                          \
        factor_##name, forward_##name, backward_##name                                         \
    }

INSTANCES(plain, )

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
INSTANCES(avx2, __attribute__((target("avx2"))))
#endif

const ga_front_kernels *ga_front_kernels_get(int k)
{
    const ga_front_kernels *table = kernels_plain;
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
    if (__builtin_cpu_supports("avx2")) table = kernels_avx2;
#endif
    return table + (k < (int)(sizeof kernels_plain / sizeof *kernels_plain) ? k : 0);
}

double ga_front_largest(int count, const double *x)
{
    double s[4] = {0};
    for (int i = 0; i < count; i += 4)
        for (int v = 0; v < 4; ++v) {
            double size = fabs(x[i + v]);
            s[v] = size <= s[v] ? s[v] : size;
        }
    double a = s[0] <= s[1] ? s[1] : s[0], b = s[2] <= s[3] ? s[3] : s[2];
    return a <= b ? b : a;
}
