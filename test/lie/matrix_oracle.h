/* Truths to compare with, none of which uses the formulas of src/lie: power series and
 * Gaussian elimination on small matrices (column-major, n <= 12), and scalar power series, in
 * quadruple precision. Not in long double: valgrind computes that with 53 bits.
 *
 * With A = ad(x) as a matrix, for any group:
 *
 *   Ad(exp x) = sum A^k/k!            T(x) = sum (-A)^k/(k+1)!
 *   Ad(cay x) = (I - A/2)^-1 (I + A/2)
 *   ad(T(x) y) = (I + A/2)^-1 ad(y) (I - A/2)^-1            (derivative of the line above)
 *
 * f applied to (A E; 0 A) has the derivative of f at A in the direction E in its upper right
 * block, which gives D T without differencing. */
#ifndef GA_TEST_MATRIX_ORACLE_H
#define GA_TEST_MATRIX_ORACLE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 113 bits, in software where the machine has none; without it long double has to do. */
#if defined(__SIZEOF_FLOAT128__)
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

static inline quad quad_abs(quad x) { return x < 0 ? -x : x; }

/* Two Newton steps from 53 bits. */
static inline quad quad_sqrt(quad x)
{
    quad r = (quad)sqrt((double)x);
    if (r > 0)
        for (int i = 0; i < 2; ++i) r = (r + x / r) / 2;
    return r;
}

enum { MAT_MAX = 12 };

typedef struct mat {
    int n;
    quad e[MAT_MAX * MAT_MAX];
} mat;

static inline quad *mat_at(mat *m, int i, int j) { return &m->e[i + m->n * j]; }
static inline quad mat_get(const mat *m, int i, int j) { return m->e[i + m->n * j]; }

static inline mat mat_zero(int n)
{
    mat m;
    m.n = n;
    for (int k = 0; k < MAT_MAX * MAT_MAX; ++k) m.e[k] = 0;
    return m;
}

static inline mat mat_unit(int n)
{
    mat m = mat_zero(n);
    for (int i = 0; i < n; ++i) *mat_at(&m, i, i) = 1;
    return m;
}

static inline mat mat_from(int n, const double *a)
{
    mat m = mat_zero(n);
    for (int k = 0; k < n * n; ++k) m.e[k] = (quad)a[k];
    return m;
}

/* a + s b */
static inline mat mat_axpy(mat a, quad s, mat b)
{
    for (int k = 0; k < a.n * a.n; ++k) a.e[k] += s * b.e[k];
    return a;
}

static inline mat mat_mul(const mat *a, const mat *b)
{
    mat m = mat_zero(a->n);
    for (int j = 0; j < a->n; ++j)
        for (int k = 0; k < a->n; ++k)
            for (int i = 0; i < a->n; ++i)
                if (mat_get(a, i, k) != 0 && mat_get(b, k, j) != 0)
                    *mat_at(&m, i, j) += mat_get(a, i, k) * mat_get(b, k, j);
    return m;
}

/* sum_k (sign A)^k / (k + shift)!; terms fall below 1e-22 long before the last for |A| < 10 */
static inline mat mat_series(const mat *a, quad sign, int shift)
{
    mat term = mat_unit(a->n), sum = term;
    for (int k = 1; k <= 90; ++k) {
        term = mat_mul(&term, a);
        for (int i = 0; i < a->n * a->n; ++i) term.e[i] *= sign / (quad)(k + shift);
        sum = mat_axpy(sum, 1, term);
    }
    return sum;
}

static inline mat mat_exp(const mat *a) { return mat_series(a, 1, 0); }
static inline mat mat_dexp(const mat *a) { return mat_series(a, -1, 1); }

/* Gauss-Jordan with row pivoting. */
static inline mat mat_inverse(mat a)
{
    int n = a.n;
    mat inv = mat_unit(n);
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (quad_abs(mat_get(&a, i, k)) > quad_abs(mat_get(&a, pivot, k))) pivot = i;
        for (int j = 0; j < n; ++j) {
            quad t = mat_get(&a, k, j);
            *mat_at(&a, k, j) = mat_get(&a, pivot, j);
            *mat_at(&a, pivot, j) = t;
            t = mat_get(&inv, k, j);
            *mat_at(&inv, k, j) = mat_get(&inv, pivot, j);
            *mat_at(&inv, pivot, j) = t;
        }
        quad d = 1 / mat_get(&a, k, k);
        for (int j = 0; j < n; ++j) {
            *mat_at(&a, k, j) *= d;
            *mat_at(&inv, k, j) *= d;
        }
        for (int i = 0; i < n; ++i) {
            quad f = mat_get(&a, i, k);
            if (i == k || f == 0) continue;
            for (int j = 0; j < n; ++j) {
                *mat_at(&a, i, j) -= f * mat_get(&a, k, j);
                *mat_at(&inv, i, j) -= f * mat_get(&inv, k, j);
            }
        }
    }
    return inv;
}

/* (A E; 0 A) */
static inline mat mat_pair(const mat *a, const mat *e)
{
    int n = a->n;
    mat m = mat_zero(2 * n);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
            *mat_at(&m, i, j) = *mat_at(&m, n + i, n + j) = mat_get(a, i, j);
            *mat_at(&m, i, n + j) = mat_get(e, i, j);
        }
    return m;
}

/* The upper right quarter. */
static inline mat mat_pair_derivative(const mat *m)
{
    int n = m->n / 2;
    mat d = mat_zero(n);
    for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) *mat_at(&d, i, j) = mat_get(m, i, n + j);
    return d;
}

/* max |a - b| */
static inline double mat_distance(const mat *m, const double *b)
{
    quad worst = 0;
    for (int k = 0; k < m->n * m->n; ++k) {
        quad d = quad_abs(m->e[k] - (quad)b[k]);
        if (!(d <= worst)) worst = d; /* lets a NaN through */
    }
    return (double)worst;
}

static inline double mat_norm(const mat *m)
{
    quad worst = 0;
    for (int k = 0; k < m->n * m->n; ++k)
        if (!(quad_abs(m->e[k]) <= worst)) worst = quad_abs(m->e[k]);
    return (double)worst;
}

/* --- Quadruple precision -------------------------------------------------------------------
 */

/* d^m/ds^m of Stumpff's c_k(s) = sum_j (-s)^j/(2j + k)!. The largest term at s = 40 is below
 * 1e3, so nothing above 1e-30 is lost. */
static inline quad stumpff(int k, int m, quad s)
{
    quad term = m % 2 ? -1 : 1;
    for (int i = 2; i <= m; ++i) term *= i;
    for (int i = 2; i <= 2 * m + k; ++i) term /= i;
    quad sum = term;
    for (int j = m; j < 45; ++j) { /* 45 terms: 40^45/90! = 1e-66 */
        term *= -s * (j + 1) / ((quad)(j + 1 - m) * (2 * j + k + 1) * (2 * j + k + 2));
        sum += term;
    }
    return sum;
}

/* --- Random numbers ------------------------------------------------------------------------
 */

/* Knuth's MMIX congruential generator: the same numbers everywhere. In (-1, 1). */
static inline double random_next(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-52 - 1;
}

#endif
