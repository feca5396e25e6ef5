/* Products of a matrix with vectors, and its equilibration; see matrix.h. */
#include "la/matrix.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

void ga_matrix_multiply(const ga_matrix *matrix, double alpha, const double *x, double *y)
{
    for (int j = 0; j < matrix->n; ++j) {
        const double s = alpha * x[j];
        for (int k = ga_matrix_start(matrix, j), end = ga_matrix_start(matrix, j + 1); k < end;
             ++k)
            y[ga_matrix_row(matrix, j, k)] += matrix->values[k] * s;
    }
}

void ga_matrix_multiply_transposed(const ga_matrix *matrix, double alpha, const double *x,
                                   double *y)
{
    for (int j = 0; j < matrix->n; ++j) {
        double sum = 0;
        for (int k = ga_matrix_start(matrix, j), end = ga_matrix_start(matrix, j + 1); k < end;
             ++k)
            sum += matrix->values[k] * x[ga_matrix_row(matrix, j, k)];
        y[j] += alpha * sum;
    }
}

/* The power of two nearest to 1/sqrt(largest), in the logarithm; 1 for 0, Inf, NaN and what is
 * denormalised. Taken from the bits of an IEEE number, as frexp and ldexp would, but inline. */
static double ruiz_factor(double largest)
{
    enum { BIAS = 1022, MANTISSA = 52, SPECIAL = 0x7ff };
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    int e = (int)(bits >> MANTISSA & SPECIAL);
    if (e == 0 || e == SPECIAL) return 1;
    e -= BIAS; /* 2^(e-1) <= largest < 2^e */
    const int half = e >= 0 ? -(e / 2) : (1 - e) / 2;
    bits = (uint64_t)(half + BIAS + 1) << MANTISSA;
    memcpy(&largest, &bits, sizeof bits);
    return largest;
}

/* The largest entry of column j, after scaling; raises those of rows. No branches: which entry
 * is the largest cannot be foreseen. */
static double raise_column(const ga_matrix *m, int j, const double *restrict r, double c,
                           double *restrict row_max)
{
    double most = 0;
    for (int k = ga_matrix_start(m, j), end = ga_matrix_start(m, j + 1); k < end; ++k) {
        const int i = ga_matrix_row(m, j, k);
        const double a = fabs(m->values[k]) * r[i] * c;
        row_max[i] = a > row_max[i] ? a : row_max[i];
        most = a > most ? a : most;
    }
    return most;
}

/* False: all factors are one, and would be so in further sweeps. */
static bool apply_factors(int n, const double *largest, double *scale)
{
    bool changed = false;
    for (int i = 0; i < n; ++i) {
        const double factor = ruiz_factor(largest[i]);
        scale[i] *= factor;
        changed |= factor != 1;
    }
    return changed;
}

void ga_matrix_equilibrate(const ga_matrix *matrix, int sweeps, double *r, double *c,
                           double *work)
{
    const int n = matrix->n;
    double *row_max = work, *col_max = work + n;
    for (int sweep = 0; sweep < sweeps; ++sweep) {
        memset(work, 0, 2 * (size_t)n * sizeof *work);
        for (int j = 0; j < n; ++j) col_max[j] = raise_column(matrix, j, r, c[j], row_max);
        const bool rows = apply_factors(n, row_max, r), cols = apply_factors(n, col_max, c);
        if (!rows && !cols) return;
    }
}
