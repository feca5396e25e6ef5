/* Small dense kernels: a front is eliminated, and solved with.
 *
 *     [ A   U ]  k pivots      in memory: A (k4 x k), L (r4 x k), U^T (r4 x k),
 *     [ L   S ]  r others      and S (r4 x r) elsewhere; all by columns
 *
 * k4 and r4 are k and r rounded up to a multiple of four, the rows between are zero. Then all
 * loops over rows take four at a time, which vectorises, and none of their sums is reordered by
 * it: the same bits come out with any instruction set. */
#ifndef GA_LA_FRONT_H
#define GA_LA_FRONT_H

#include <stdbool.h>
#include <stddef.h>

/* After factoring F has P A = L_A U_A (its diagonal as reciprocals), L U_A^-1, L_A^-1 P U; and
 * S is less by their product. Row j has been swapped with swap[j] >= j. work has 4 k numbers.
 * Returns the sum of the squares of the multipliers in L; -1 at a pivot of no use. */
typedef double ga_front_factor(int k, int r, double *F, double *S, int *swap, void *work);
/* y = L_A^-1 P y,  t = L y (r4 numbers). */
typedef void ga_front_forward(int k, int r, const double *F, const int *swap, double *y,
                              double *t, void *work);
/* y = U_A^-1 (y - U t); the numbers of t from r on are zero. */
typedef void ga_front_backward(int k, int r, const double *F, const double *t, double *y,
                               void *work);

/* Takes a factored front apart, so that large systems, whose factors come from memory, read
 * nothing but what they need, and that one number after the other:
 *   forth  L_A by columns, from the four with the first row below the pivot on; then L, four
 *          rows after four
 *   back   U^T; the k4 numbers of the diagonal; U_A by columns, the last first, each up to the
 *          four with the last row above the pivot */
typedef void ga_front_part(int k, int r, const double *F, double *forth, double *back);

/* Factors, and takes apart unless that fails. The memory it goes to is fetched on the way: to
 * wait for it in the end takes a third of the time. */
typedef double ga_front_factor_parted(int k, int r, double *F, double *S, int *swap, void *work,
                                      double *forth, double *back);

typedef struct ga_front_kernels {
    ga_front_factor *factor;
    ga_front_factor_parted *factor_parted;
    ga_front_forward *forward;
    ga_front_backward *backward;
    ga_front_part *part;
    ga_front_forward *forth; /* the same as forward and backward, with the parts for F */
    ga_front_backward *back;
} ga_front_kernels;

/* For k pivots: the fastest on this machine, and those for any machine. */
const ga_front_kernels *ga_front_kernels_get(int k);
const ga_front_kernels *ga_front_kernels_plain(int k);
/* Largest |x|, if all are numbers. */
double ga_front_largest(int count, const double *x);

static inline int ga_front_padded(int count) { return (count + 3) & ~3; }

/* Numbers in F. */
static inline size_t ga_front_size(int k, int r)
{
    return (size_t)k * ((size_t)ga_front_padded(k) + 2 * (size_t)ga_front_padded(r));
}

/* Numbers of the parts. */
size_t ga_front_forth_size(int k, int r);
size_t ga_front_back_size(int k, int r);

#endif
