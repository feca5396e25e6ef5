/* Fronts (front.h) solved with by the inverse of their pivots:
 *
 *     D = A^-1,  L D,  D U,  S - L D U        forward:  y_2 -= (L D) y_1,  y_1 = D y_1
 *                                             backward: y_1 -= (D U) y_2
 *
 * Products with constant matrices take the place of substitutions, whose every step waits for
 * the one before: most of the time of a long row of small fronts. Factoring takes up to twice
 * the operations, and the defect of a solution grows with the condition of A. So the condition
 * is reported, and where it is large the front is to be assembled again for front.h.
 *
 * In memory: A (k4 x k), L (r4 x k), U^T (r4 x k) before, D U (k4 x r) in its place after.
 * Where the r rows of L D find room below those of D they are there, too, and the way forward
 * reads but one matrix.
 *
 * Large systems, whose factors come from memory, have them in two parts, so that neither way
 * reads anything of the other:
 *   forth  D; L D behind it, unless that is below
 *   back   D U */
#ifndef GA_LA_FRONT_INVERSE_H
#define GA_LA_FRONT_INVERSE_H

#include "la/front.h"

#include <string.h>

/* With more pivots than these, factoring loses what two or three solutions gain; and with more
 * others D U would take up to four times the place of U. */
enum { GA_FRONT_INVERSE_MOST = 12, GA_FRONT_INVERSE_OTHERS = 64 };

/* Of squares: the condition of A, |A|^2 |D|^2 in Frobenius' norm; and of entries of L D. */
typedef struct ga_front_sizes {
    double condition, multipliers;
} ga_front_sizes;

/* reciprocals: of the k pivots. work has room for k4 max(r, 4) numbers. False: a pivot of no
 * use. */
typedef bool ga_front_invert(int k, int r, double *F, double *S, double *reciprocals,
                             double *work, ga_front_sizes *sizes);
/* Of `count` fronts that follow each other in F and y, the others of each in one piece:
 * y[others[i r]] .. of the i-th. Backward takes the last front first. */
typedef void ga_front_sweep(int k, int r, int count, const double *F, double *y, double *all,
                            const int *others);

/* The caller's vector, whose unknowns are in another order, with a factor each. */
typedef struct ga_front_outside {
    const int *place; /* in it, of y[0] .. */
    const double *scale, *from;
    double *to;
    int ahead; /* forward fetches the k unknowns of each front so far behind its own */
} ga_front_outside;

/* The same; on the way forward y comes from outside, and on the way back it goes there. The
 * processor has time for that: each front waits for the one before. */
typedef void ga_front_sweep_outside(int k, int r, int count, const double *F, double *y,
                                    double *all, const int *others, const ga_front_outside *x);

typedef struct ga_front_inverse {
    int k, r; /* r < 0: any */
    ga_front_invert *factor;
    ga_front_sweep *forward, *backward;
    ga_front_sweep_outside *forward_from, *backward_to;
    ga_front_sweep *forward_scattered, *backward_scattered; /* one front, others anywhere */
    /* with the parts; without an outside, if it is null */
    ga_front_sweep_outside *forth, *back;
    ga_front_sweep *back_scattered; /* forward_scattered does for either */
} ga_front_inverse;

/* For k <= GA_FRONT_INVERSE_MOST pivots: the fastest on this machine, and those for any. */
const ga_front_inverse *ga_front_inverse_get(int k, int r);
const ga_front_inverse *ga_front_inverse_plain(int k, int r);

/* Whether L D is below D. */
static inline bool ga_front_inverse_shares(int k, int r) { return r <= ga_front_padded(k) - k; }

/* Numbers of the parts. */
static inline size_t ga_front_inverse_forth_size(int k, int r)
{
    const int rows =
        ga_front_padded(k) + (ga_front_inverse_shares(k, r) ? 0 : ga_front_padded(r));
    return (size_t)k * (size_t)rows;
}

static inline size_t ga_front_inverse_back_size(int k, int r)
{
    return (size_t)r * (size_t)ga_front_padded(k);
}

/* The parts of a factored front. */
static inline void ga_front_inverse_part(int k, int r, const double *F, double *forth,
                                         double *back)
{
    const double *U = F + k * (ga_front_padded(k) + ga_front_padded(r));
    memcpy(forth, F, ga_front_inverse_forth_size(k, r) * sizeof *F);
    memcpy(back, U, ga_front_inverse_back_size(k, r) * sizeof *F);
}

/* Numbers in F; for either kind of kernels. */
static inline size_t ga_front_inverse_size(int k, int r)
{
    const size_t before = (size_t)k * (size_t)ga_front_padded(r),
                 after = (size_t)r * (size_t)ga_front_padded(k);
    return ga_front_size(k, r) + (after > before ? after - before : 0);
}

#endif
