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

size_t ga_front_forth_size(int k, int r);
size_t ga_front_back_size(int k, int r);

typedef struct ga_front_kernels {
    /* Row c was swapped with swap[c] >= c, unless its diagonal entry is at least `keep` times
     * the largest it would be swapped for: 1 is partial pivoting. Returns the largest
     * multiplier in L_A and L U_A^-1; -1 at a pivot of no use. */
    double (*factor)(int k, int m, double keep, double *F, int *swap);
    void (*pack)(int k, int m, const double *F, double *forth, double *back);
    /* The k numbers of own become L_A^-1 P own, those of z from k to m -L U_A^-1 times that; z
     * has ld. */
    void (*forward)(int k, int m, const double *forth, double *own, double *z);
    /* own: k numbers, which become U_A^-1 (own - L_A^-1 P U x), x of r numbers. */
    void (*backward)(int k, int m, const double *back, const double *x, double *own);
} ga_front_kernels;

/* The fastest on this machine. The same bits come from all of them. */
const ga_front_kernels *ga_front_kernels_get(void);
const ga_front_kernels *ga_front_kernels_plain(void);

/* The transposed matrix, for whom speed is of no importance: z = U_A^-T z, x -= U^T P^T L_A^-T
 * z; and z = L_A^-T (z - U_A^-T L^T x). */
void ga_front_forward_transposed(int k, int m, const double *back, double *x, double *z);
void ga_front_backward_transposed(int k, int m, const double *forth, const double *x,
                                  double *z);
/* Largest |l| |u| of one pivot, outside of A. */
double ga_front_growth(int k, int m, const double *F);

#endif
