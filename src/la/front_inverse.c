/* Inverses of pivots by Gauss and Jordan, in place: with pivot d in row and column c of A, x
 * its column and y^T its row,
 *
 *     A - x y^T / d  outside of both,   row y^T / d,   column -x / d,   and 1 / d at the pivot.
 *
 * Putting -1 in x, and 0 in row and column c of A, all four are A - x y^T / d, y_c = 1. Rows
 * are swapped for pivots; this swaps columns of the inverse, in the end.
 *
 * Up to 8 pivots, A stays in registers between swaps. */
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
        const double y = get_lane(&a[j * q + c / 4], c % 4) * d;
        set_lane(&a[j * q + c / 4], c % 4, 0);
        for (int i = 0; i < q; ++i) subtract(&a[j * q + i], &x[i], y);
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

/* Rows are swapped in memory. */
KERNEL bool invert_in_registers(const int k, double *restrict A, double *restrict reciprocals,
                                double *restrict condition)
{
    const int k4 = ga_front_padded(k), q = k4 / 4;
    int swap[IN_REGISTERS];
    bool swapped = false;
    quad a[IN_REGISTERS * IN_REGISTERS / 4];
    FOR_PIVOTS(j, 0, k * q, load(&a[j], A + 4 * j))
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
    return k <= IN_REGISTERS ? invert_in_registers(k, A, reciprocals, condition)
                             : invert_in_memory(k, A, reciprocals, condition);
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

KERNEL bool factor(const int k, const int r, double *F, double *S, double *reciprocals,
                   double *work, ga_front_sizes *sizes)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    double *L = F + k * k4, *U = L + k * r4;
    if (!invert(k, F, reciprocals, &sizes->condition)) return false;
    sizes->multipliers = multiply_lower(k, r4, F, L);
    update_others(k, r, r4, L, U, S);
    multiply_upper(k, r, F, U, work);
    memcpy(U, work, (size_t)(k4 * r) * sizeof *U);
    return true;
}

/* --- solution ----------------------------------------------------------------------------- */

/* Up to four numbers; exactly these are touched: the next may be written by others. */
KERNEL void load_some(quad *x, const double *y, int count)
{
    if (count >= 4)
        load(x, y);
    else
        load_first(x, y, count);
}

KERNEL void store_some(double *y, const quad *x, int count)
{
    if (count >= 4) {
        store(y, x);
        return;
    }
    y[0] = get_lane(x, 0);
    if (count > 1) y[1] = get_lane(x, 1);
    if (count > 2) y[2] = get_lane(x, 2);
}

/* Four rows of a product; two sums, neither of which waits for the other. */
KERNEL void multiply(quad *x, const int k, const int rows, const double *restrict A,
                     const double *restrict y)
{
    quad a, b;
    set_zero(&a);
    set_zero(&b);
    if (k > 0) load(&a, A), scale(&a, y[0]);
    if (k > 1) load(&b, A + rows), scale(&b, y[1]);
    FOR_PIVOTS(p, 2, k, { add_at(p % 2 ? &b : &a, A + p * rows, y[p]); })
    if (k > 1) add(&a, &b, 1);
    *x = a;
}

/* From outside, and back. */
KERNEL void fetch(const int k, double *restrict y, const ga_front_outside *x, const int *place){
    FOR_PIVOTS(p, 0, k, y[p] = x->from[place[p]] * x->scale[place[p]])}

KERNEL void bring(const int k, const double *restrict y, const ga_front_outside *x,
                  const int *place){
    FOR_PIVOTS(p, 0, k, x->to[place[p]] = y[p] * x->scale[place[p]])}

KERNEL void forward(const int k, const int r, int count, const double *restrict F, double *y,
                    double *all, const int *restrict others, const ga_front_outside *outside)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const size_t size = ga_front_inverse_size(k, r);
    const int ahead = outside ? outside->ahead : 0,
              *place = outside ? outside->place + ahead : NULL;
    for (; count > 0; --count, F += size, y += k, others += r) {
        double own[GA_FRONT_INVERSE_MOST];
        if (outside) fetch(k, y + ahead, outside, place), place += k;
        FOR_PIVOTS(p, 0, k, own[p] = y[p])
        for (int i = 0; i < r; i += 4) {
            double *to = all + others[0] + i;
            quad x, z;
            multiply(&x, k, r4, F + k * k4 + i, own);
            load_some(&z, to, r - i);
            subtract(&z, &x, 1);
            store_some(to, &z, r - i);
        }
        for (int i = 0; i < k; i += 4) {
            quad x;
            multiply(&x, k, k4, F + i, own);
            store_some(y + i, &x, k - i);
        }
    }
}

KERNEL void backward(const int k, const int r, int count, const double *restrict F, double *y,
                     double *all, const int *restrict others, const ga_front_outside *outside)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const size_t size = ga_front_inverse_size(k, r);
    const int *place = outside ? outside->place + count * k : NULL;
    F += (size_t)count * size + (size_t)(k * (k4 + r4));
    y += count * k;
    others += count * r;
    for (; count > 0; --count) {
        F -= size, y -= k, others -= r;
        const double *from = r > 0 ? all + others[0] : all;
        for (int i = 0; i < k; i += 4) {
            quad x, z;
            multiply(&x, r, k4, F + i, from);
            load_some(&z, y + i, k - i);
            subtract(&z, &x, 1);
            store_some(y + i, &z, k - i);
        }
        if (outside) bring(k, y, outside, place -= k);
    }
}

/* Others are brought together for it. */
KERNEL void forward_scattered(const int k, const int r, const double *restrict F,
                              double *restrict y, double *all, const int *restrict others)
{
    static const int start = 0;
    double t[GA_FRONT_INVERSE_OTHERS];
    FOR_PIVOTS(p, 0, r, t[p] = all[others[p]])
    forward(k, r, 1, F, y, t, &start, NULL);
    FOR_PIVOTS(p, 0, r, all[others[p]] = t[p])
}

KERNEL void backward_scattered(const int k, const int r, const double *restrict F,
                               double *restrict y, double *all, const int *restrict others)
{
    static const int start = 0;
    double t[GA_FRONT_INVERSE_OTHERS];
    FOR_PIVOTS(p, 0, r, t[p] = all[others[p]])
    backward(k, r, 1, F, y, t, &start, NULL);
}

/* --- instances ---------------------------------------------------------------------------- */

#define FACTOR(name, attribute, pivots, rest)                                                  \
    attribute static bool factor_##name##_##pivots##_##rest(                                   \
        int k, int r, double *F, double *S, double *reciprocals, double *work,                 \
        ga_front_sizes *sizes)                                                                 \
    {                                                                                          \
        (void)k, (void)r;                                                                      \
        return factor(pivots, rest, F, S, reciprocals, work, sizes);                           \
    }

#define SOLVE_ONE(way, name, attribute, pivots, rest)                                          \
    attribute static void way##_outside_##name##_##pivots##_##rest(                            \
        int k, int r, int count, const double *F, double *y, double *all, const int *others,   \
        const ga_front_outside *x)                                                             \
    {                                                                                          \
        (void)k, (void)r;                                                                      \
        way(pivots, rest, count, F, y, all, others, x);                                        \
    }                                                                                          \
    static void way##_##name##_##pivots##_##rest(int k, int r, int count, const double *F,     \
                                                 double *y, double *all, const int *others)    \
    {                                                                                          \
        way##_outside_##name##_##pivots##_##rest(k, r, count, F, y, all, others, NULL);        \
    }                                                                                          \
    attribute static void way##_scattered_##name##_##pivots##_##rest(                          \
        int k, int r, int count, const double *F, double *y, double *all, const int *others)   \
    {                                                                                          \
        (void)k, (void)r, (void)count;                                                         \
        way##_scattered(pivots, rest, F, y, all, others);                                      \
    }

#define SOLVE(name, attribute, pivots, rest)                                                   \
    SOLVE_ONE(forward, name, attribute, pivots, rest)                                          \
    SOLVE_ONE(backward, name, attribute, pivots, rest)

/* Pivots and others of fronts in chains, trees and loops of bodies in the plane and in space.
 */
#define SHAPES(X, name, attribute)                                                             \
    X(name, attribute, 2, 5)                                                                   \
    X(name, attribute, 3, 2)                                                                   \
    X(name, attribute, 3, 4)                                                                   \
    X(name, attribute, 3, 8)                                                                   \
    X(name, attribute, 4, 11)                                                                  \
    X(name, attribute, 5, 2)                                                                   \
    X(name, attribute, 6, 3)                                                                   \
    X(name, attribute, 6, 5)                                                                   \
    X(name, attribute, 6, 6)                                                                   \
    X(name, attribute, 7, 2)                                                                   \
    X(name, attribute, 7, 4)                                                                   \
    X(name, attribute, 9, 3)                                                                   \
    X(name, attribute, 11, 4)                                                                  \
    X(name, attribute, 11, 5)                                                                  \
    X(name, attribute, 11, 11)                                                                 \
    X(name, attribute, 12, 6)

#define PIVOTS(X, name, attribute)                                                             \
    X(name, attribute, 1)                                                                      \
    X(name, attribute, 2)                                                                      \
    X(name, attribute, 3)                                                                      \
    X(name, attribute, 4)                                                                      \
    X(name, attribute, 5)                                                                      \
    X(name, attribute, 6)                                                                      \
    X(name, attribute, 7)                                                                      \
    X(name, attribute, 8)                                                                      \
    X(name, attribute, 9)                                                                      \
    X(name, attribute, 10)                                                                     \
    X(name, attribute, 11)                                                                     \
    X(name, attribute, 12)

#define FACTOR_ANY(name, attribute, k) FACTOR(name, attribute, k, r)
#define SOLVE_ANY(name, attribute, k) SOLVE(name, attribute, k, r)
#define ENTRY(name, k, r, shape)                                                               \
    {k,                                                                                        \
     r,                                                                                        \
     factor_##name##_##shape,                                                                  \
     forward_##name##_##shape,                                                                 \
     backward_##name##_##shape,                                                                \
     forward_outside_##name##_##shape,                                                         \
     backward_outside_##name##_##shape,                                                        \
     forward_scattered_##name##_##shape,                                                       \
     backward_scattered_##name##_##shape},
#define SHAPE_ENTRY(name, attribute, k, r) ENTRY(name, k, r, k##_##r)
#define ANY_ENTRY(name, attribute, k) ENTRY(name, k, -1, k##_r)

/* The first in the table that fits is taken. */
#define INSTANCES(name, attribute)                                                             \
    PIVOTS(FACTOR_ANY, name, attribute)                                                        \
    SHAPES(FACTOR, name, attribute)                                                            \
    PIVOTS(SOLVE_ANY, name, attribute)                                                         \
    SHAPES(SOLVE, name, attribute)                                                             \
    static const ga_front_inverse kernels_##name[] = {SHAPES(SHAPE_ENTRY, name, attribute)     \
                                                          PIVOTS(ANY_ENTRY, name, attribute)};

INSTANCES(plain, )

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
INSTANCES(avx2, __attribute__((target("avx2"))))
#endif

static const ga_front_inverse *look_up(const ga_front_inverse *kernels, int k, int r)
{
    while (kernels->k != k || (kernels->r != r && kernels->r >= 0)) ++kernels;
    return kernels;
}

const ga_front_inverse *ga_front_inverse_plain(int k, int r)
{
    return look_up(kernels_plain, k, r);
}

const ga_front_inverse *ga_front_inverse_get(int k, int r)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
    if (__builtin_cpu_supports("avx2")) return look_up(kernels_avx2, k, r);
#endif
    return ga_front_inverse_plain(k, r);
}
