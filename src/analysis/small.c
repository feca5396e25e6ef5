/* The 2-norm by Jacobi's method from one side: rotations of pairs of columns, until all are
 * orthogonal; then the longest is the largest singular value.
 *
 * The spectral radius by Gelfand's formula, radius = lim |A^k|^(1/k), with k doubled by
 * squaring and the size taken out before each: what a power of k in front of the geometric
 * growth (a Jordan block) adds has left the digits long before k = 2^60. */
#include "analysis/small.h"

#include <float.h>
#include <math.h>

ga_small ga_small_identity(void)
{
    ga_small I = {0};
    for (int i = 0; i < GA_SMALL; ++i) I.x[i][i] = 1;
    return I;
}

ga_small ga_small_product(const ga_small *A, const ga_small *B)
{
    ga_small C = {0};
    for (int i = 0; i < GA_SMALL; ++i)
        for (int k = 0; k < GA_SMALL; ++k)
            for (int j = 0; j < GA_SMALL; ++j) C.x[i][j] += A->x[i][k] * B->x[k][j];
    return C;
}

double ga_small_frobenius(const ga_small *A)
{
    double sum = 0;
    for (int i = 0; i < GA_SMALL; ++i)
        for (int j = 0; j < GA_SMALL; ++j) sum += A->x[i][j] * A->x[i][j];
    return sqrt(sum);
}

static double dot(const ga_small *A, int j, int k)
{
    double sum = 0;
    for (int i = 0; i < GA_SMALL; ++i) sum += A->x[i][j] * A->x[i][k];
    return sum;
}

/* Makes columns j and k orthogonal; the cosine of the angle they had. */
static double rotate(ga_small *A, int j, int k)
{
    const double jj = dot(A, j, j), kk = dot(A, k, k), jk = dot(A, j, k);
    if (!(fabs(jk) > 0)) return 0;
    const double zeta = (kk - jj) / (2 * jk);
    const double t = copysign(1, zeta) / (fabs(zeta) + hypot(1, zeta));
    const double c = 1 / hypot(1, t), s = c * t;
    for (int i = 0; i < GA_SMALL; ++i) {
        const double x = A->x[i][j], y = A->x[i][k];
        A->x[i][j] = c * x - s * y;
        A->x[i][k] = s * x + c * y;
    }
    return fabs(jk) / sqrt(jj * kk);
}

double ga_small_norm(const ga_small *A)
{
    const double size = ga_small_frobenius(A);
    if (!(size > 0 && isfinite(size))) return size;
    ga_small U = *A;
    enum { SWEEPS = 30 }; /* convergence is quadratic: some six are needed */
    double worst = 1;
    for (int sweep = 0; sweep < SWEEPS && worst > DBL_EPSILON; ++sweep) {
        worst = 0;
        for (int j = 0; j < GA_SMALL; ++j)
            for (int k = j + 1; k < GA_SMALL; ++k) worst = fmax(worst, rotate(&U, j, k));
    }
    double longest = 0;
    for (int j = 0; j < GA_SMALL; ++j) longest = fmax(longest, sqrt(dot(&U, j, j)));
    return longest;
}

double ga_small_radius(const ga_small *A)
{
    ga_small P = *A;
    double logarithm = 0, weight = 1; /* A^(1/weight) has the size exp(logarithm/weight) */
    for (int k = 0; k < 60; ++k, weight *= 0.5) {
        const double size = ga_small_frobenius(&P);
        if (!(size > 0 && isfinite(size))) return size; /* nilpotent, or not finite */
        logarithm += weight * log(size);
        for (int i = 0; i < GA_SMALL; ++i)
            for (int j = 0; j < GA_SMALL; ++j) P.x[i][j] /= size;
        P = ga_small_product(&P, &P);
    }
    return exp(logarithm);
}
