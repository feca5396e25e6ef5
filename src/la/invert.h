/* Inverses of pivots by Gauss and Jordan, in place: with pivot d in row and column c of A, x
 * its column and y^T its row,
 *
 *     A - x y^T / d  outside of both,   row y^T / d,   column -x / d,   and 1 / d at the pivot.
 *
 * Putting -1 in x, and 0 in row and column c of A, all four are A - x y^T / d, y_c = 1. Rows
 * are swapped for pivots; this swaps columns of the inverse, in the end.
 *
 * Up to 8 pivots, A stays in registers between swaps. For files that are kernels. */
#ifndef GA_LA_INVERT_H
#define GA_LA_INVERT_H

#include "la/front_inverse.h"
#include "la/quad.h"

enum { IN_REGISTERS = 8 };

/* --- the inverse -------------------------------------------------------------------------- */

/* Takes column c out of A, with -1 in the place of the pivot, and leaves that of the unit
 * matrix; returns 1 / pivot. */
KERNEL double take_out(const int q, const int c, quad *restrict a, quad *restrict x)
{
    for (int i = 0; i < q; ++i) {
        x[i] = a[i];
        set_zero(&a[i]);
    }
    const double d = 1 / get_lane(&x[c / 4], c % 4);
    set_lane(&x[c / 4], c % 4, -1);
    set_lane(&a[c / 4], c % 4, 1);
    return d;
}

/* Pivot c, with A in registers, k columns of q vectors. */
KERNEL void eliminate(const int k, const int q, const int c, quad *restrict a,
                      double *restrict reciprocals)
{
    quad x[IN_REGISTERS / 4];
    const double d = reciprocals[c] = take_out(q, c, a + c * q, x);
    FOR_PIVOTS(j, 0, k, {
        quad y;
        spread(&y, &a[j * q + c / 4], c % 4);
        scale(&y, d);
        set_lane(&a[j * q + c / 4], c % 4, 0);
        for (int i = 0; i < q; ++i) subtract_products(&a[j * q + i], &x[i], &y);
    })
}

/* All but the pivot's row, and that alone, when read from the right place. */
enum { WIDTH = 2 * GA_FRONT_INVERSE_MOST - 1 };
static const long long BUT_ONE[WIDTH] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0,
                                         -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};

static const double MINUS_ONE[WIDTH] = {[GA_FRONT_INVERSE_MOST - 1] = -1};

/* In memory, with swaps. The same numbers come out. Columns that have a zero in the row of the
 * pivot stay as they are; bodies have many. */
KERNEL bool eliminate_in_memory(const int k, int c, double *restrict A, int *restrict swap,
                                double *restrict reciprocals)
{
    const int k4 = ga_front_padded(k), q = k4 / 4;
    const long long *others = BUT_ONE + GA_FRONT_INVERSE_MOST - 1 - c;
    const int p = choose_pivot(k, A + c * k4, c);
    if (p < 0) return false;
    swap[c] = p;
    if (p != c) swap_rows(k, A + c, A + p, k4);
    const double d = reciprocals[c] = 1 / A[c + c * k4];
    quad x[GA_FRONT_INVERSE_MOST / 4];
    for (int i = 0; i < q; ++i) {
        load(&x[i], A + c * k4 + 4 * i);
        keep_where(&x[i], others + 4 * i);
        add_at(&x[i], MINUS_ONE + GA_FRONT_INVERSE_MOST - 1 - c + 4 * i, 1);
    }
    KEEP_ROLLED
    for (int j = 0; j < k; ++j) {
        if (A[c + j * k4] == 0) continue;
        const double y = A[c + j * k4] * d;
        for (int i = 0; i < q; ++i) {
            quad row;
            load(&row, A + j * k4 + 4 * i);
            keep_where(&row, others + 4 * i);
            subtract(&row, &x[i], y);
            store(A + j * k4 + 4 * i, &row);
        }
    }
    for (int i = 0; i < q; ++i) {
        scale(&x[i], -d);
        store(A + c * k4 + 4 * i, &x[i]);
    }
    return true;
}

/* Four sums, none of which waits for another. */
KERNEL double sum_of_squares(const int count, const quad *a)
{
    quad s[4];
    int i = 0;
    for (int v = 0; v < 4; ++v) set_zero(&s[v]);
    for (; i + 4 <= count; i += 4)
        for (int v = 0; v < 4; ++v) add_products(&s[v], &a[i + v], &a[i + v]);
    for (; i < count; ++i) add_products(&s[0], &a[i], &a[i]);
    for (int v = 1; v < 4; ++v) add(&s[0], &s[v], 1);
    return sum_of(&s[0]);
}

/* Which row is the pivot of column c? -1: none. */
KERNEL int find_pivot(const int k, const int q, const int c, const quad *restrict a)
{
    double column[IN_REGISTERS];
    for (int i = 0; i < q; ++i) store(column + 4 * i, &a[c * q + i]);
    return choose_pivot(k, column, c);
}

/* Undoes swaps of rows, which are swaps of columns of the inverse. */
KERNEL void swap_back(const int k, double *restrict A, const int *restrict swap)
{
    const int k4 = ga_front_padded(k);
    for (int c = k - 1; c >= 0; --c)
        if (swap[c] != c) swap_rows(k4, A + c * k4, A + swap[c] * k4, 1);
}

/* a is A, in registers, which is in memory only after; rows are swapped there. */
KERNEL bool invert_in_registers(const int k, quad *restrict a, double *restrict A,
                                double *restrict reciprocals, double *restrict condition)
{
    const int k4 = ga_front_padded(k), q = k4 / 4;
    int swap[IN_REGISTERS];
    bool swapped = false;
    *condition = sum_of_squares(k * q, a);
    FOR_PIVOTS(c, 0, k, {
        const int p = find_pivot(k, q, c, a);
        if (p < 0) return false;
        swap[c] = p;
        if (p != c) {
            FOR_PIVOTS(j, 0, k * q, store(A + 4 * j, &a[j]))
            swap_rows(k, A + c, A + p, k4);
            FOR_PIVOTS(j, 0, k * q, load(&a[j], A + 4 * j))
            swapped = true;
        }
        eliminate(k, q, c, a, reciprocals);
    })
    *condition *= sum_of_squares(k * q, a);
    FOR_PIVOTS(j, 0, k * q, store(A + 4 * j, &a[j]))
    if (swapped) swap_back(k, A, swap);
    return true;
}

KERNEL bool invert_in_memory(const int k, double *A, double *restrict reciprocals,
                             double *restrict condition)
{
    const int k4 = ga_front_padded(k), count = k * k4 / 4;
    int swap[GA_FRONT_INVERSE_MOST];
    *condition = sum_of_squares(count, (const quad *)A);
    KEEP_ROLLED
    for (int c = 0; c < k; ++c)
        if (!eliminate_in_memory(k, c, A, swap, reciprocals)) return false;
    *condition *= sum_of_squares(count, (const quad *)A);
    swap_back(k, A, swap);
    return true;
}

/* False: a pivot of no use. *condition: |A|^2 |A^-1|^2. */
KERNEL bool invert(const int k, double *A, double *restrict reciprocals,
                   double *restrict condition)
{
    if (k > IN_REGISTERS) return invert_in_memory(k, A, reciprocals, condition);
    quad a[IN_REGISTERS * IN_REGISTERS / 4];
    FOR_PIVOTS(j, 0, k * (ga_front_padded(k) / 4), load(&a[j], A + 4 * j))
    return invert_in_registers(k, a, A, reciprocals, condition);
}

/* --- the front ---------------------------------------------------------------------------- */

/* L D, four rows at a time, and the sum of its squares. */
KERNEL double multiply_lower(const int k, const int r4, const double *restrict D,
                             double *restrict L)
{
    const int k4 = ga_front_padded(k);
    quad x[GA_FRONT_INVERSE_MOST], squares;
    set_zero(&squares);
    for (int i = 0; i < r4; i += 4) {
        FOR_PIVOTS(p, 0, k, load(&x[p], L + p * r4 + i))
        KEEP_ROLLED
        for (int c = 0; c < k; ++c) {
            quad s;
            set_zero(&s);
            FOR_PIVOTS(p, 0, k, add(&s, &x[p], D[p + c * k4]))
            add_products(&squares, &s, &s);
            store(L + c * r4 + i, &s);
        }
    }
    return sum_of(&squares);
}

/* D U from U^T. */
KERNEL void multiply_upper(const int k, const int r, const double *restrict D,
                           const double *restrict U, double *restrict DU)
{
    const int k4 = ga_front_padded(k), q = k4 / 4, r4 = ga_front_padded(r);
    for (int j = 0; j < r; ++j) {
        quad s[GA_FRONT_INVERSE_MOST / 4];
        for (int i = 0; i < q; ++i) set_zero(&s[i]);
        FOR_PIVOTS(p, 0, k, {
            for (int i = 0; i < q; ++i) add_at(&s[i], D + p * k4 + 4 * i, U[j + p * r4]);
        })
        for (int i = 0; i < q; ++i) store(DU + j * k4 + 4 * i, &s[i]);
    }
}

/* L D below D, if there is room. */
KERNEL void join_lower(const int k, const int r, double *restrict F)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const double *L = F + k * k4;
    for (int c = 0; ga_front_inverse_shares(k, r) && c < k; ++c)
        for (int i = 0; i < r; ++i) F[c * k4 + k + i] = L[c * r4 + i];
}

#endif
