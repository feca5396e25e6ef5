/* Kernels for fronts; see front.h. Written once for any number of pivots, and compiled for
 * each of the small ones, so that their loops have constant bounds; and all of that twice, for
 * any processor and for those with AVX2. */
#include "la/front.h"

#include "la/quad.h"

/* Divides column c by its pivot. m: the multipliers, in whole fours, zero up to row c. */
KERNEL void divide(const int k4, int c, double *restrict x, double *restrict m)
{
    const double reciprocal = 1 / x[c];
    int i = c + 1;
    x[c] = reciprocal;
    for (int z = i & ~3; z < i; ++z) m[z] = 0;
    for (; i & 3; ++i) m[i] = x[i] *= reciprocal;
    for (; i < k4; i += 4) {
        quad l;
        load(&l, x + i);
        scale(&l, reciprocal);
        store(x + i, &l);
        store(m + i, &l);
    }
}

/* Pivot c, and its update of the columns behind it. Rows up to the pivot take part where four
 * are not to be torn apart, with the multiplier zero. */
KERNEL bool eliminate(const int k, int c, double *restrict A, int *restrict swap,
                      double *restrict m)
{
    const int k4 = ga_front_padded(k), p = choose_pivot(k, A + c * k4, c);
    if (p < 0) return false;
    swap[c] = p;
    if (p != c) swap_rows(k, A + c, A + p, k4);
    divide(k4, c, A + c * k4, m);
    for (int i = (c + 1) & ~3; i < k4; i += 4) {
        quad l;
        load(&l, m + i);
        for (int j = c + 1; j < k; ++j) {
            quad y;
            load(&y, A + j * k4 + i);
            subtract(&y, &l, A[c + j * k4]);
            store(A + j * k4 + i, &y);
        }
    }
    return true;
}

/* What of the two parts of a front belongs to pivot c, about; of many others the first. A few
 * lines of the cache at a time: where they are too many the processor stops. */
KERNEL void fetch(const int k, int r4, int c, const double *forth, const double *back)
{
#if defined(__GNUC__)
    const int share = r4 + ga_front_padded(k) / 2 + 2;
    for (int v = 0; v < 3; ++v) {
        __builtin_prefetch(forth + c * share + 8 * v, 1);
        __builtin_prefetch(back + c * share + 8 * v, 1);
    }
#else
    (void)k, (void)r4, (void)c, (void)forth, (void)back;
#endif
}

/* P A = L U in place, reciprocals on the diagonal. forth and back may be null. */
KERNEL bool factor_pivots(const int k, int r4, double *restrict A, int *restrict swap,
                          double *restrict m, const double *forth, const double *back)
{
    FOR_PIVOTS(c, 0, k, {
        if (forth) fetch(k, r4, c, forth, back);
        if (!eliminate(k, c, A, swap, m)) return false;
    })
    return true;
}

/* L U_A^-1, four rows at a time, and the sum of its squares. x has room for four rows. */
KERNEL double solve_lower(const int k, int r4, const double *restrict A, double *restrict L,
                          quad *restrict x)
{
    const int k4 = ga_front_padded(k);
    quad squares;
    set_zero(&squares);
    for (int i = 0; i < r4; i += 4) {
        FOR_PIVOTS(c, 0, k, load(&x[c], L + c * r4 + i))
        FOR_PIVOTS(c, 0, k, {
            scale(&x[c], A[c + c * k4]);
            FOR_PIVOTS(j, c + 1, k, subtract(&x[j], &x[c], A[c + j * k4]))
        })
        FOR_PIVOTS(c, 0, k, {
            add_products(&squares, &x[c], &x[c]);
            store(L + c * r4 + i, &x[c]);
        })
    }
    return sum_of(&squares);
}

/* L_A^-1 P U, that is U^T P^T L_A^-T, likewise. */
KERNEL void solve_upper(const int k, int r4, const double *restrict A, const int *restrict swap,
                        double *restrict U, quad *restrict x)
{
    const int k4 = ga_front_padded(k);
    for (int c = 0; c < k; ++c)
        if (swap[c] != c) swap_rows(r4, U + c * r4, U + swap[c] * r4, 1);
    for (int i = 0; i < r4; i += 4) {
        FOR_PIVOTS(c, 0, k, load(&x[c], U + c * r4 + i))
        FOR_PIVOTS(c, 0, k, {FOR_PIVOTS(j, c + 1, k, subtract(&x[j], &x[c], A[j + c * k4]))})
        FOR_PIVOTS(c, 1, k, store(U + c * r4 + i, &x[c]))
    }
}

KERNEL double factor(const int k, int r, double *F, double *S, int *swap, quad *work,
                     const double *forth, const double *back)
{
    const int r4 = ga_front_padded(r);
    double *L = F + k * ga_front_padded(k), *U = L + k * r4;
    if (!factor_pivots(k, r4, F, swap, (double *)work, forth, back)) return -1;
    const double squares = solve_lower(k, r4, F, L, work);
    solve_upper(k, r4, F, swap, U, work);
    update_others(k, r, r4, L, U, S);
    return squares;
}

/* The k numbers of y in whole fours, rows swapped. */
KERNEL void load_swapped(const int k, const double *restrict y, const int *restrict swap,
                         quad *restrict x)
{
    double *restrict z = (double *)x;
    int moved = 0;
    for (int c = 0; c < k; ++c) moved |= swap[c] ^ c;
    if (!moved) {
        for (int c = 0; c < k; c += 4) load_some(&x[c / 4], y + c, k - c);
        return;
    }
    for (int c = 0; c < k; ++c) z[c] = y[c];
    for (int c = k; c & 3; ++c) z[c] = 0;
    for (int c = 0; c < k; ++c) {
        const double a = z[swap[c]];
        z[swap[c]] = z[c];
        z[c] = a;
    }
}

/* x: y in whole fours, in registers where k is known. What is done with is overwritten there,
 * so the loops need not stop in the middle of four. F: all of a front, or what is parted from
 * it for the way forward. */
KERNEL void forward(const int k, int r, const bool parted, const double *restrict F,
                    const int *restrict swap, double *restrict y, double *restrict t,
                    quad *restrict x)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const double *restrict l = F;
    load_swapped(k, y, swap, x);
    FOR_PIVOTS(c, 0, k, {
        const double a = get_lane(&x[c / 4], c % 4);
        y[c] = a;
        if (!parted) l = F + c * k4 + ((c + 1) & ~3);
        for (int i = (c + 1) & ~3; i < k4; i += 4, l += 4) subtract_at(&x[i / 4], l, a);
    })
    const int column = parted ? 4 : r4;
    for (int i = 0; i < r4; i += 4) {
        quad s;
        set_zero(&s);
        const double *restrict rows = parted ? l + i * k : F + k * k4 + i;
        FOR_PIVOTS(p, 0, k, add_at(&s, rows + p * column, y[p]))
        store(t + i, &s);
    }
}

/* Four rows of U t at once. */
KERNEL void multiply_rows(int rows, int r4, const double *restrict U, const double *restrict t,
                          quad *restrict x)
{
    quad s[4], u, z;
    for (int v = 0; v < 4; ++v) set_zero(&s[v]);
    for (int i = 0; i < r4; i += 4) {
        load(&z, t + i);
        for (int v = 0; v < 4; ++v) {
            if (v >= rows) continue;
            load(&u, U + v * r4 + i);
            add_products(&s[v], &u, &z);
        }
    }
    transpose(s);
    add(&s[0], &s[1], 1);
    add(&s[2], &s[3], 1);
    add(&s[0], &s[2], 1);
    *x = s[0];
}

/* The same for the way back. */
KERNEL void backward(const int k, int r, const bool parted, const double *restrict F,
                     const double *restrict t, double *restrict y, quad *restrict x)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const double *restrict U = parted ? F : F + k * k4 + k * r4;
    const double *restrict diagonal = parted ? U + k * r4 : F, *restrict u = diagonal + k4;
    const int next = parted ? 1 : k4 + 1;
    for (int p = 0; p < k; p += 4) {
        quad s;
        multiply_rows(k - p, r4, U + p * r4, t, &s);
        load_some(&x[p / 4], y + p, k - p);
        minus(&x[p / 4], &s);
    }
    FOR_PIVOTS(p, 0, k, {
        const int c = k - 1 - p;
        const double a = get_lane(&x[c / 4], c % 4) * diagonal[c * next];
        y[c] = a;
        if (!parted) u = F + c * k4;
        for (int i = 0; i < c; i += 4, u += 4) subtract_at(&x[i / 4], u, a);
    })
}

/* --- fronts in two parts ------------------------------------------------------------------ */

KERNEL void take(double *restrict *to, const double *restrict from, int count)
{
    for (int i = 0; i < count; i += 4, *to += 4) {
        quad x;
        load(&x, from + i);
        store(*to, &x);
    }
}

KERNEL void part(const int k, int r, const double *restrict F, double *restrict forth,
                 double *restrict back)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const double *restrict L = F + k * k4, *restrict U = L + k * r4;
    FOR_PIVOTS(c, 0, k, {
        const int i = (c + 1) & ~3;
        take(&forth, F + c * k4 + i, k4 - i);
    })
    for (int i = 0; i < r4; i += 4) FOR_PIVOTS(p, 0, k, take(&forth, L + p * r4 + i, 4))
    take(&back, U, k * r4);
    for (int c = 0; c < k4; ++c) *back++ = c < k ? F[c * (k4 + 1)] : 0;
    FOR_PIVOTS(p, 0, k, take(&back, F + (k - 1 - p) * k4, ga_front_padded(k - 1 - p)))
}

/* --- instances ---------------------------------------------------------------------------- */

/* pivots is k, or a number to compile for; room for the work is then on the stack. */
#define INSTANCE(name, attribute, pivots, room)                                                \
    attribute static double factor_##name(int k, int r, double *F, double *S, int *swap,       \
                                          void *work)                                          \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        return factor(pivots, r, F, S, swap, work_space, NULL, NULL);                          \
    }                                                                                          \
    attribute static double factor_parted_##name(int k, int r, double *F, double *S,           \
                                                 int *swap, void *work, double *forth,         \
                                                 double *back)                                 \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        const double squares = factor(pivots, r, F, S, swap, work_space, forth, back);         \
        if (squares >= 0) part(pivots, r, F, forth, back);                                     \
        return squares;                                                                        \
    }                                                                                          \
    attribute static void forward_##name(int k, int r, const double *F, const int *swap,       \
                                         double *y, double *t, void *work)                     \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        forward(pivots, r, false, F, swap, y, t, work_space);                                  \
    }                                                                                          \
    attribute static void backward_##name(int k, int r, const double *F, const double *t,      \
                                          double *y, void *work)                               \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        backward(pivots, r, false, F, t, y, work_space);                                       \
    }                                                                                          \
    attribute static void part_##name(int k, int r, const double *F, double *forth,            \
                                      double *back)                                            \
    {                                                                                          \
        (void)k;                                                                               \
        part(pivots, r, F, forth, back);                                                       \
    }                                                                                          \
    attribute static void forth_##name(int k, int r, const double *F, const int *swap,         \
                                       double *y, double *t, void *work)                       \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        forward(pivots, r, true, F, swap, y, t, work_space);                                   \
    }                                                                                          \
    attribute static void back_##name(int k, int r, const double *F, const double *t,          \
                                      double *y, void *work)                                   \
    {                                                                                          \
        (void)k, (void)work;                                                                   \
        room;                                                                                  \
        backward(pivots, r, true, F, t, y, work_space);                                        \
    }

#define GIVEN quad *work_space = work
#define OWN(pivots) quad work_space[(pivots) + 1]
#define SMALL(name, attribute, k) INSTANCE(name##_##k, attribute, k, OWN(k))

#define INSTANCES(name, attribute)                                                             \
    INSTANCE(name##_any, attribute, k, GIVEN)                                                  \
    SMALL(name, attribute, 1)                                                                  \
    SMALL(name, attribute, 2)                                                                  \
    SMALL(name, attribute, 3)                                                                  \
    SMALL(name, attribute, 4)                                                                  \
    SMALL(name, attribute, 5)                                                                  \
    SMALL(name, attribute, 6)                                                                  \
    SMALL(name, attribute, 8)                                                                  \
    SMALL(name, attribute, 9)                                                                  \
    SMALL(name, attribute, 10)                                                                 \
    SMALL(name, attribute, 11)                                                                 \
    SMALL(name, attribute, 12)                                                                 \
    SMALL(name, attribute, 16)                                                                 \
    static const ga_front_kernels kernels_##name[] = {                                         \
        ENTRY(name##_any), ENTRY(name##_1),   ENTRY(name##_2),   ENTRY(name##_3),              \
        ENTRY(name##_4),   ENTRY(name##_5),   ENTRY(name##_6),   ENTRY(name##_any),            \
        ENTRY(name##_8),   ENTRY(name##_9),   ENTRY(name##_10),  ENTRY(name##_11),             \
        ENTRY(name##_12),  ENTRY(name##_any), ENTRY(name##_any), ENTRY(name##_any),            \
        ENTRY(name##_16)};

#define ENTRY(name)                                                                            \
    {                                                                                          \
        factor_##name, factor_parted_##name, forward_##name, backward_##name, part_##name,     \
            forth_##name, back_##name                                                          \
    }

INSTANCES(plain, )

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
INSTANCES(avx2, __attribute__((target("avx2"))))
#endif

static int place_in_table(int k)
{
    return k < (int)(sizeof kernels_plain / sizeof *kernels_plain) ? k : 0;
}

const ga_front_kernels *ga_front_kernels_plain(int k)
{
    return &kernels_plain[place_in_table(k)];
}

const ga_front_kernels *ga_front_kernels_get(int k)
{
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
    if (__builtin_cpu_supports("avx2")) return &kernels_avx2[place_in_table(k)];
#endif
    return ga_front_kernels_plain(k);
}

size_t ga_front_forth_size(int k, int r)
{
    const int k4 = ga_front_padded(k);
    size_t size = (size_t)k * (size_t)ga_front_padded(r);
    for (int c = 0; c < k; ++c) size += (size_t)(k4 - ((c + 1) & ~3));
    return size;
}

size_t ga_front_back_size(int k, int r)
{
    size_t size = (size_t)k * (size_t)ga_front_padded(r) + (size_t)ga_front_padded(k);
    for (int c = 0; c < k; ++c) size += (size_t)ga_front_padded(c);
    return size;
}

double ga_front_largest(int count, const double *x)
{
    double s[4] = {0};
    int i = 0;
    for (; i + 4 <= count; i += 4)
        for (int v = 0; v < 4; ++v) s[v] = fabs(x[i + v]) > s[v] ? fabs(x[i + v]) : s[v];
    for (; i < count; ++i) s[0] = fabs(x[i]) > s[0] ? fabs(x[i]) : s[0];
    const double a = s[0] > s[1] ? s[0] : s[1], b = s[2] > s[3] ? s[2] : s[3];
    return a > b ? a : b;
}
