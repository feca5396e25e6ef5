/* A front: a small dense matrix, of which the first k rows and columns are eliminated.
 *
 *            k    r          by columns of ld numbers; m = k + r, and ld is m rounded up to
 *     k   [  A    U  ]       a multiple of four. Rows and columns from m on are zero.
 *     r   [  L    S  ]
 *
 * becomes    [ L_A\U_A     L_A^-1 P U         ]   with P A = L_A U_A, reciprocals on the
 *            [ L U_A^-1    S - L A^-1 U       ]   diagonal of U_A.
 *
 * Pivots are chosen in the rows of A alone. The last block is the contribution block, which the
 * parent of the front takes over. The rest is kept in two pieces, in tiles of four rows and up
 * to four columns, by columns each, in the order in which solutions read them:
 *   forth   panel by panel, from the first: its tile on the diagonal, those below it
 *   back    the r columns of L_A^-1 P U, four rows after four; then panel by panel, from the
 *           last: its tile on the diagonal, those above it */
#ifndef GA_LA_FRONT_H
#define GA_LA_FRONT_H

#include <stdbool.h>
#include <stddef.h>

static inline int ga_front_padded(int count) { return (count + 3) & ~3; }
/* Columns of the panel that begins with pivot c of k. */
static inline int ga_front_panel(int k, int c) { return k - c < 4 ? k - c : 4; }

size_t ga_front_forth_size(int k, int r);
size_t ga_front_back_size(int k, int r);

/* C += alpha A B, all by columns: how far apart these are. Rows of B may be apart, too. */
typedef struct ga_full_product {
    int rows, cols, inner; /* inner >= 1 */
    int across_A, down_B, across_B, across_C;
} ga_full_product;

typedef struct ga_front_kernels {
    /* x *= r c for n numbers, with r = 1 where it is null; returns the largest |x|, NaN if one
     * is not finite. */
    double (*scale)(int n, const double *r, double c, double *x);
    /* F from a full matrix of n columns of n numbers. */
    void (*fill)(int n, const double *A, double *F);
    /* y += alpha A x with a full block of m >= 5 rows and n columns; and a product of such. */
    void (*multiply)(int m, int n, const double *A, double alpha, const double *x, double *y);
    void (*add_product)(const ga_full_product *p, double alpha, const double *A,
                        const double *B, double *C);
    /* Row c was swapped with row swap[c] >= c. The diagonal entry stays the pivot if it is at
     * least `keep` times the largest below it in A: 1 is partial pivoting. Returns the largest
     * multiplier in L_A and L U_A^-1; -1 if a pivot is zero, denormalised or not finite. */
    double (*factor)(int k, int m, double keep, double *F, int *swap);
    void (*pack)(int k, int m, const double *F, double *forth, double *back);
    /* own, k numbers in the order of the pivots (ga_front_swap), becomes L_A^-1 own; work, of
     * ld numbers, gets -L U_A^-1 times that in those from k to m. */
    void (*forward)(int k, int m, const double *forth, double *own, double *work);
    /* own becomes U_A^-1 (own - L_A^-1 P U others); others are r numbers. */
    void (*backward)(int k, int m, const double *back, const double *others, double *own);
    /* A whole matrix, k = m = n: its LU with partial pivoting, and x = F^-1 x without packing.
     * x has its rows in the order of the pivots, and zeros up to a multiple of four. */
    double (*factor_whole)(int n, double *F, int *swap);
    void (*solve)(int n, const double *F, double *x);
} ga_front_kernels;

/* The fastest on this machine. The same bits come from all of them. */
const ga_front_kernels *ga_front_kernels_get(void);
const ga_front_kernels *ga_front_kernels_plain(void);

/* The transposed matrix, in plain loops: own = U_A^-T own, others -= U^T P^T L_A^-T own; and
 * own = L_A^-T (own - U_A^-T L^T others), after which ga_front_swap_back applies P^T. */
void ga_front_forward_transposed(int k, int m, const double *back, double *others, double *own);
void ga_front_backward_transposed(int k, int m, const double *forth, const double *others,
                                  double *own);
/* Largest |l| |u| of one pivot, outside of A. Infinity times zero is left out: S then
 * is not finite on its diagonal, and the front of that unknown finds no pivot. */
double ga_front_growth(int k, int m, const double *F);

/* Multiplications and additions: LU of A, L U_A^-1 and L_A^-1 P U, the update of S. */
static inline double ga_front_operations(double k, double r)
{
    return k * (2 * k * k / 3 + 2 * k * r + 2 * r * r);
}

static inline void ga_front_swap_row(int c, const int *swap, double *y)
{
    const double a = y[swap[c]];
    y[swap[c]] = y[c];
    y[c] = a;
}

/* y = P y, and y = P^T y. */
static inline void ga_front_swap(int k, const int *swap, double *y)
{
    for (int c = 0; c < k; ++c) ga_front_swap_row(c, swap, y);
}

static inline void ga_front_swap_back(int k, const int *swap, double *y)
{
    for (int c = k - 1; c >= 0; --c) ga_front_swap_row(c, swap, y);
}

#endif
