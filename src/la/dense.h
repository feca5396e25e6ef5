/* A full matrix that is factored, and kernels for panels of four columns: for backend_dense.c,
 * which says what they are. */
#ifndef GA_LA_DENSE_H
#define GA_LA_DENSE_H

#include "la/fours.h"
#include "la/keys.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

typedef struct dense {
    int n, ld;        /* unknowns, and with padding */
    double *memory;   /* of all numbers */
    double *l, *u;    /* L, N: ld columns of ld numbers each; rows of A, of pivots */
    double *sorted;   /* L below its blocks with rows of pivots, for few unknowns */
    double *diagonal; /* D */
    double *inverse;  /* of each panel's blocks of L and N, 16 numbers each; then 1/D */
    int *row;         /* P: of each pivot */
    int *column;      /* Q: column k was column[k] of A */
    int *place;       /* of column j of A: k */
    int *reach;       /* rows of column k that are not zero, in whole fours; ascending */
    int *last;        /* row of the last number of column k that was not zero */
    int *from;        /* rows before are zero in panel j/4, in whole fours */
    int *work;        /* ld + 1 */
    int64_t *free;    /* of each row: -1 until it has a pivot, then 0 */
    double *size;     /* largest number in each column */
    double *x, *y;    /* for solving */
    double *ones;     /* scales of no effect */
} dense;

/* So few unknowns stay in registers while they are solved for. */
enum { FEW = 20 };
static inline bool is_few(int ld) { return ld <= FEW; }

/* Do columns end where they did the last time? Q depends on nothing but the matrix. */
typedef enum ga_load { SAME, OTHER, NOT_FINITE } ga_load;

/* A panel: columns from `first` on, rows from `from` to `end`. */
typedef struct panel {
    int first, from, end;
    size_t ld;
    double *l;
    int64_t *free;
    double *pivot; /* D */
    double reciprocal[4];
    double u[4][4]; /* U = D N above the diagonal */
    int *row;       /* until they are known, of the last factorisation */
} panel;

#if defined(__GNUC__)
#define is_likely(x) __builtin_expect((x), 1)
#else
#define is_likely(x) (x)
#endif

/* A row that was found, as the one it mostly is: the processor takes it for granted and goes on
 * while it is being found. The compiler must not see that both are the same. */
KERNEL int expect(int found, int guess)
{
#if defined(__GNUC__)
    if (is_likely(found == guess)) {
        __asm__("" : "+r"(guess));
        return guess;
    }
#else
    (void)guess;
#endif
    return found;
}

/* A pivot of any use? The matrix arrives equilibrated: one whose reciprocal overflows is a
 * zero. */
KERNEL bool take_pivot(panel *p, const int c, double pivot)
{
    const double size = fabs(pivot);
    if (p->row[c] >= p->end) return false; /* there is none: no rows left, or all zero */
    if (!(size >= DBL_MIN && size < INFINITY)) return false;
    p->pivot[c] = pivot;
    p->reciprocal[c] = 1 / pivot;
    return true;
}

/* Padding has pivots 1 in rows of its own. */
KERNEL void fill_up(panel *p, int left)
{
    for (int c = left; c < 4; ++c) {
        p->row[c] = p->first + c;
        p->pivot[c] = p->reciprocal[c] = 1;
    }
}

/* L^-1 and N^-1 of the panel's blocks, column by column. */
KERNEL void invert_blocks(const panel *p, double *inverse)
{
    const double *a = p->l, *b = a + p->ld, *c = b + p->ld, (*u)[4] = p->u;
    const int *row = p->row;
    const double a1 = a[row[1]], a2 = a[row[2]], a3 = a[row[3]];
    const double b2 = b[row[2]], b3 = b[row[3]], c3 = c[row[3]];
    const double m2 = b2 * a1 - a2, m3 = c3 * b2 - b3, m4 = b3 * a1 - a3 - c3 * m2;
    const double r0 = p->reciprocal[0], r1 = p->reciprocal[1], r2 = p->reciprocal[2];
    const double n01 = u[0][1] * r0, n02 = u[0][2] * r0, n03 = u[0][3] * r0;
    const double n12 = u[1][2] * r1, n13 = u[1][3] * r1, n23 = u[2][3] * r2;
    const double i02 = n01 * n12 - n02, i13 = n12 * n23 - n13;
    const double i03 = n01 * n13 - n03 - n23 * i02;
    put(inverse, 1, -a1, m2, m4);
    put(inverse + 4, 0, 1, -b2, m3);
    put(inverse + 8, 0, 0, 1, -c3);
    put(inverse + 12, 0, 0, 0, 1);
    put(inverse + 16, 1, 0, 0, 0);
    put(inverse + 20, -n01, 1, 0, 0);
    put(inverse + 24, i02, -n12, 1, 0);
    put(inverse + 28, i03, i13, -n23, 1);
    put(inverse + 32, r0, r1, r2, p->reciprocal[3]);
}

/* The sum of four columns times u[0..3], from row i on. */
KERNEL void sum4(quad *sum, const double *l, size_t ld, int i, const double u[4])
{
    load(sum, l + i);
    scale(sum, u[0]);
    add_at(sum, l + ld + i, u[1]);
    add_at(sum, l + 2 * ld + i, u[2]);
    add_at(sum, l + 3 * ld + i, u[3]);
}

KERNEL void take_off(double *x, const quad *sum)
{
    quad y;
    load(&y, x);
    minus(&y, sum);
    store(x, &y);
}

/* The inverse of a block times the numbers of x in four rows; two by two, because what follows
 * waits for it. */
KERNEL void solve_block(const double *inverse, const int *row, const double *x, quad *y)
{
    quad other;
    load(y, inverse);
    load(&other, inverse + 8);
    scale(y, x[row[0]]);
    scale(&other, x[row[2]]);
    add_at(y, inverse + 4, x[row[1]]);
    add_at(&other, inverse + 12, x[row[3]]);
    add(y, &other, 1);
}

/* x -= four columns times u, in rows from .. end, whole fours; for two columns x, y with u, v.
 */
KERNEL void subtract4(int from, int end, const double *l, size_t ld, const double *u, double *x)
{
    const double a[4] = {u[0], u[1], u[2], u[3]};
    for (int i = from; i < end; i += 4) {
        quad sum;
        sum4(&sum, l, ld, i, a);
        take_off(x + i, &sum);
    }
}

KERNEL void subtract4_pair(int from, int end, const double *l, size_t ld, const double *u,
                           double *x, const double *v, double *y)
{
    const double a[4] = {u[0], u[1], u[2], u[3]}, b[4] = {v[0], v[1], v[2], v[3]};
    for (int i = from; i < end; i += 4) {
        quad s, t;
        sum4(&s, l, ld, i, a);
        sum4(&t, l, ld, i, b);
        take_off(x + i, &s);
        take_off(y + i, &t);
    }
}

/* One column right of the panel: x. */
KERNEL void update_one(const panel *p, const double *inverse, double *x, double *to)
{
    _Alignas(32) double a[4];
    quad u, reciprocals;
    load(&reciprocals, inverse + 32);
    solve_block(inverse, p->row, x, &u);
    store(a, &u);
    times(&u, &reciprocals);
    store(to, &u);
    subtract4(p->from, p->end, p->l, p->ld, a, x);
}

#endif
