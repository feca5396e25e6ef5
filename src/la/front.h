/* A front: a small dense matrix, of which the first k rows and columns are eliminated.
 *
 *            k    r          by columns, ld numbers apart; m = k + r, and ld is m rounded up to
 *     k   [  A    U  ]       a multiple of four. Rows and columns from m on are zero.
 *     r   [  L    S  ]
 *
 * becomes    [ L_A\U_A     L_A^-1 P U         ]   with P A = L_A U_A, reciprocals on the
 *            [ L U_A^-1    S - L A^-1 U       ]   diagonal of U_A.
 *
 * Pivots are chosen in the rows of A alone. The last block is the contribution block, which the
 * parent of the front takes over. The rest is kept: a panel of the first k columns, `lower`,
 * and the first k rows of the others, `upper`, k rounded up to a multiple of four by r. */
#ifndef GA_LA_FRONT_H
#define GA_LA_FRONT_H

#include <stdbool.h>
#include <stddef.h>

static inline int ga_front_padded(int count) { return (count + 3) & ~3; }

static inline size_t ga_front_lower_size(int k, int r)
{
    return (size_t)k * (size_t)ga_front_padded(k + r);
}

static inline size_t ga_front_upper_size(int k, int r)
{
    return (size_t)ga_front_padded(k) * (size_t)r;
}

typedef struct ga_front_kernels {
    /* Row c was swapped with swap[c] >= c, unless its diagonal entry is at least `keep` times
     * the largest it would be swapped for: 1 is partial pivoting. Returns the largest
     * multiplier in L_A and L U_A^-1; -1 at a pivot of no use. */
    double (*factor)(int k, int m, double keep, double *F, int *swap);
    /* z has ld numbers, of which the first k are given. They become L_A^-1 P z, and those
     * behind them less by L U_A^-1 times that. */
    void (*forward)(int k, int m, const double *lower, double *z);
    /* z: k numbers, rounded up; becomes U_A^-1 (z - upper x), x of r numbers. */
    void (*backward)(int k, int m, const double *lower, const double *upper, const double *x,
                     double *z);
} ga_front_kernels;

/* The fastest on this machine. The same bits come from all of them. */
const ga_front_kernels *ga_front_kernels_get(void);
const ga_front_kernels *ga_front_kernels_plain(void);

/* The transposed matrix, for whom speed is of no importance: z = U_A^-T z, x -= upper^T z; and
 * z = L_A^-T (z - L^T x). */
void ga_front_forward_transposed(int k, int m, const double *lower, const double *upper,
                                 double *x, double *z);
void ga_front_backward_transposed(int k, int m, const double *lower, const double *x,
                                  double *z);
/* Largest |l| |u| of one pivot, outside of A. */
double ga_front_growth(int k, int m, const double *F);

#endif
