/* What the small loops share: coefficients, an LU of fixed size, extrapolation. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include <math.h>

typedef struct loop_coefficients {
    double h, alpha_m, alpha_f, beta, gamma, c_q, c_v, share;
} loop_coefficients;

/* Generalized-alpha of Chung and Hulbert; share = da/dvd. */
static inline loop_coefficients loop_coefficients_of(double rho, double h)
{
    loop_coefficients c = {.h = h};
    c.alpha_m = (2 * rho - 1) / (rho + 1);
    c.alpha_f = rho / (rho + 1);
    c.gamma = 0.5 + c.alpha_f - c.alpha_m;
    c.beta = 0.25 * (c.gamma + 0.5) * (c.gamma + 0.5);
    c.share = (1 - c.alpha_f) / (1 - c.alpha_m);
    c.c_q = h * h * c.beta * c.share;
    c.c_v = h * c.gamma * c.share;
    return c;
}

/* x by the parabola (or less) through x and the two before it. */
static inline void loop_extrapolate(int n, double *x, double *old0, double *old1, long steps)
{
    for (int i = 0; i < n; ++i) {
        const double now = x[i];
        if (steps == 1) x[i] = 2 * now - old0[i];
        if (steps >= 2) x[i] = 3 * (now - old0[i]) + old1[i];
        old1[i] = old0[i];
        old0[i] = now;
    }
}

/* LU with partial pivoting, row-major, in place. n is a constant where it is called, so that
 * the compiler unrolls. Diagonals of U are stored inverted. */
static inline void loop_lu(int n, double *A, int *pivot)
{
    for (int k = 0; k < n; ++k) {
        int p = k;
        for (int i = k + 1; i < n; ++i)
            if (fabs(A[i * n + k]) > fabs(A[p * n + k])) p = i;
        pivot[k] = p;
        if (p != k)
            for (int j = 0; j < n; ++j) {
                const double x = A[k * n + j];
                A[k * n + j] = A[p * n + j];
                A[p * n + j] = x;
            }
        const double inverse = 1 / A[k * n + k];
        A[k * n + k] = inverse;
        for (int i = k + 1; i < n; ++i) {
            if (A[i * n + k] == 0) continue; /* a third of the entries */
            const double l = A[i * n + k] *= inverse;
            for (int j = k + 1; j < n; ++j) A[i * n + j] -= l * A[k * n + j];
        }
    }
}

static inline void loop_lu_solve(int n, const double *A, const int *pivot, double *x)
{
    for (int k = 0; k < n; ++k) { /* all swaps first: L is stored as it ended up */
        const double y = x[pivot[k]];
        x[pivot[k]] = x[k];
        x[k] = y;
    }
    for (int i = 1; i < n; ++i) {
        double sum = x[i];
        for (int j = 0; j < i; ++j) sum -= A[i * n + j] * x[j];
        x[i] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = x[i];
        for (int j = i + 1; j < n; ++j) sum -= A[i * n + j] * x[j];
        x[i] = sum * A[i * n + i];
    }
}

#endif
