/* Fronts by inverses (invert.h): factors, and solutions of one front or of a row of them. */
#include "la/invert.h"

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
    join_lower(k, r, F);
    return true;
}

/* --- solution ----------------------------------------------------------------------------- */

/* Four rows of a product; two sums, neither of which waits for the other. y: each in a four. */
KERNEL void multiply(quad *x, const int k, const int rows, const double *restrict A,
                     const quad *restrict y)
{
    quad a, b, c;
    set_zero(&a);
    set_zero(&b);
    if (k > 0) load(&a, A), times(&a, &y[0]);
    if (k > 1) load(&b, A + rows), times(&b, &y[1]);
    FOR_PIVOTS(p, 2, k, {
        load(&c, A + p * rows);
        add_products(p % 2 ? &b : &a, &c, &y[p]);
    })
    if (k > 1) add(&a, &b, 1);
    *x = a;
}

KERNEL void multiply_numbers(quad *x, const int k, const int rows, const double *restrict A,
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
    FOR_PIVOTS(p, 0, k, { y[p] = x->from[place[p]] * x->scale[place[p]]; })}

KERNEL void bring(const int k, const double *restrict y, const ga_front_outside *x,
                  const int *place)
{
    FOR_PIVOTS(p, 0, k, { x->to[place[p]] = y[p] * x->scale[place[p]]; })
}

/* In a chain the others of a front are the last pivots of the next one. Then they stay in
 * registers on their way, which is the way everything else waits for. */
#if defined(__GNUC__)
#define MAY_LINK(k, r) (__builtin_constant_p(r) && (r) > 0 && (r) <= 4 && (r) < (k))
#else
#define MAY_LINK(k, r) false
#endif

/* size: from one front to the next. */
KERNEL void go_forward(const int k, const int r, int count, const double *restrict F,
                       const size_t size, double *y, double *all, const int *restrict others,
                       const ga_front_outside *outside)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    const int ahead = outside ? outside->ahead : 0,
              *place = outside ? outside->place + ahead : NULL;
    bool linked = false;
    quad z;
    set_zero(&z);
    for (; count > 0; --count, F += size, y += k, others += r) {
        quad own[GA_FRONT_INVERSE_MOST] = {0};
        if (outside) fetch(k, y + ahead, outside, place), place += k;
        FOR_PIVOTS(p, 0, k, { fill(&own[p], y[p]); })
        if (MAY_LINK(k, r) && linked) {
            FOR_PIVOTS(p, 0, r, { spread(&own[k - r + p], &z, p); })
        }
        const int last = k4 - 4; /* of D, and L D if that is below */
        const bool shares = ga_front_inverse_shares(k, r);
        quad low = {0};
        if (shares) multiply(&low, k, k4, F + last, own);
        for (int i = 0; i < r; i += 4) {
            double *to = all + others[0] + i;
            quad x, there;
            if (shares)
                shift(&x, &low, k - last);
            else
                multiply(&x, k, r4, F + k * k4 + i, own);
            load_some(&there, to, r - i);
            minus(&there, &x);
            store_some(to, &there, r - i);
            if (MAY_LINK(k, r)) linked = to == y + 2 * k - r, z = there;
        }
        if (shares) store_some(y + last, &low, k - last);
        for (int i = 0; i < (shares ? last : k); i += 4) {
            quad x;
            multiply(&x, k, k4, F + i, own);
            store_some(y + i, &x, k - i);
        }
    }
}

/* F: the D U of the first front. */
KERNEL void go_backward(const int k, const int r, int count, const double *restrict F,
                        const size_t size, double *y, double *all, const int *restrict others,
                        const ga_front_outside *outside)
{
    const int k4 = ga_front_padded(k);
    const int *place = outside ? outside->place + count * k : NULL;
    bool linked = false; /* z are the numbers behind y */
    quad z[GA_FRONT_INVERSE_MOST / 4] = {0};
    F += (size_t)count * size;
    y += count * k;
    others += count * r;
    for (; count > 0; --count) {
        F -= size, y -= k, others -= r;
        const double *from = r > 0 ? all + others[0] : all;
        quad there[4] = {0};
        if (MAY_LINK(k, r) && linked && from == y + 2 * k - r) {
            FOR_PIVOTS(p, 0, r, { spread(&there[p], &z[(k - r + p) / 4], (k - r + p) % 4); })
        } else if (MAY_LINK(k, r)) {
            FOR_PIVOTS(p, 0, r, { fill(&there[p], from[p]); })
        }
        for (int i = 0; i < k; i += 4) {
            quad x;
            if (MAY_LINK(k, r))
                multiply(&x, r, k4, F + i, there);
            else
                multiply_numbers(&x, r, k4, F + i, from);
            quad own;
            load_some(&own, y + i, k - i);
            minus(&own, &x);
            store_some(y + i, &own, k - i);
            if (MAY_LINK(k, r)) z[i / 4] = own;
        }
        linked = true;
        if (outside) bring(k, y, outside, place -= k);
    }
}

KERNEL void forward(const int k, const int r, int count, const double *restrict F, double *y,
                    double *all, const int *restrict others, const ga_front_outside *outside)
{
    go_forward(k, r, count, F, ga_front_inverse_size(k, r), y, all, others, outside);
}

KERNEL void backward(const int k, const int r, int count, const double *restrict F, double *y,
                     double *all, const int *restrict others, const ga_front_outside *outside)
{
    const int before = k * (ga_front_padded(k) + ga_front_padded(r));
    go_backward(k, r, count, F + before, ga_front_inverse_size(k, r), y, all, others, outside);
}

KERNEL void forth(const int k, const int r, int count, const double *restrict F, double *y,
                  double *all, const int *restrict others, const ga_front_outside *outside)
{
    const size_t size = ga_front_inverse_forth_size(k, r);
    if (outside)
        go_forward(k, r, count, F, size, y, all, others, outside);
    else
        go_forward(k, r, count, F, size, y, all, others, NULL);
}

KERNEL void back(const int k, const int r, int count, const double *restrict F, double *y,
                 double *all, const int *restrict others, const ga_front_outside *outside)
{
    const size_t size = ga_front_inverse_back_size(k, r);
    if (outside)
        go_backward(k, r, count, F, size, y, all, others, outside);
    else
        go_backward(k, r, count, F, size, y, all, others, NULL);
}

/* Others are brought together for it. */
KERNEL void forward_scattered(const int k, const int r, const double *restrict F,
                              double *restrict y, double *all, const int *restrict others)
{
    static const int start = 0;
    double t[GA_FRONT_INVERSE_OTHERS];
    FOR_PIVOTS(p, 0, r, { t[p] = all[others[p]]; })
    forward(k, r, 1, F, y, t, &start, NULL);
    FOR_PIVOTS(p, 0, r, { all[others[p]] = t[p]; })
}

KERNEL void backward_scattered(const int k, const int r, const double *restrict F,
                               double *restrict y, double *all, const int *restrict others)
{
    static const int start = 0;
    double t[GA_FRONT_INVERSE_OTHERS];
    FOR_PIVOTS(p, 0, r, { t[p] = all[others[p]]; })
    backward(k, r, 1, F, y, t, &start, NULL);
}

KERNEL void back_scattered(const int k, const int r, const double *restrict F,
                           double *restrict y, double *all, const int *restrict others)
{
    static const int start = 0;
    double t[GA_FRONT_INVERSE_OTHERS];
    FOR_PIVOTS(p, 0, r, { t[p] = all[others[p]]; })
    go_backward(k, r, 1, F, 0, y, t, &start, NULL);
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

#define SOLVE_PARTED(way, name, attribute, pivots, rest)                                       \
    attribute static void way##_##name##_##pivots##_##rest(                                    \
        int k, int r, int count, const double *F, double *y, double *all, const int *others,   \
        const ga_front_outside *x)                                                             \
    {                                                                                          \
        (void)k, (void)r;                                                                      \
        way(pivots, rest, count, F, y, all, others, x);                                        \
    }

#define SOLVE(name, attribute, pivots, rest)                                                   \
    SOLVE_ONE(forward, name, attribute, pivots, rest)                                          \
    SOLVE_ONE(backward, name, attribute, pivots, rest)                                         \
    SOLVE_PARTED(forth, name, attribute, pivots, rest)                                         \
    SOLVE_PARTED(back, name, attribute, pivots, rest)                                          \
    attribute static void back_scattered_##name##_##pivots##_##rest(                           \
        int k, int r, int count, const double *F, double *y, double *all, const int *others)   \
    {                                                                                          \
        (void)k, (void)r, (void)count;                                                         \
        back_scattered(pivots, rest, F, y, all, others);                                       \
    }

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
    X(name, attribute, 12, 2)                                                                  \
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
     backward_scattered_##name##_##shape,                                                      \
     forth_##name##_##shape,                                                                   \
     back_##name##_##shape,                                                                    \
     back_scattered_##name##_##shape},
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
