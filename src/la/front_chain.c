/* Kernels for the fronts of a chain; see front_chain.h. Entries are put into a front while the
 * one before it is factored: numbers that are stored one by one are not read by fours until the
 * processor has put them away. For the same reason S is added in registers where A is there. */
#include "la/front_chain.h"

#include "la/invert.h"

/* Zeros where the matrix may have entries; straight on, which calls no function. */
KERNEL void clear(const int k, const int r4, double *restrict F)
{
    const int columns = ga_front_padded(k) + 2 * r4;
    quad zero;
    set_zero(&zero);
    FOR_PIVOTS(j, 0, k, {
        for (int i = 0; i < columns; i += 4) store(F + j * columns + i, &zero);
    })
}

KERNEL void assemble(const int k, const int r4, const ga_fronts *s, const ga_front *f,
                     double *restrict F)
{
    const ga_fronts_run *run = s->runs + f->runs, *end = s->runs + f[1].runs;
    const unsigned short *restrict place = s->places + f->places;
    ga_fronts_cursor at = ga_fronts_begin(s, f);
    clear(k, r4, F);
    for (; run < end; place += run->count, ++run) {
        const double *restrict x = ga_fronts_entries(s, f, run->from, &at);
        for (int v = 0; v < run->count; ++v) F[place[v]] = x[v];
    }
}

/* S, r x r, to rows and columns from `to` on of A in registers. */
KERNEL void take_over(const int k, const int r, const int to, const double *restrict S,
                      quad *restrict a)
{
    const int q = ga_front_padded(k) / 4;
    FOR_PIVOTS(j, 0, r, {
        quad s;
        load(&s, S + 4 * j);
        for (int i = to / 4; i < q; ++i) add_shifted(&a[(to + j) * q + i], &s, 4 * i - to, r);
    })
}

KERNEL void take_over_in_memory(const int k, const int r, const int to,
                                const double *restrict S, double *restrict A)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < r; i += 4) {
            double *x = A + (to + j) * k4 + to + i;
            const int room = to + i + 4 <= k4 ? 4 : r - i;
            quad z;
            load_some(&z, x, room);
            add_at(&z, S + j * r4 + i, 1);
            store_some(x, &z, room);
        }
}

KERNEL bool invert_front(const int k, const int r, const int to, double *restrict A,
                         const ga_front_chain *c, double *restrict reciprocals,
                         double *condition)
{
    if (k <= IN_REGISTERS && r <= 4) {
        quad a[IN_REGISTERS * IN_REGISTERS / 4];
        FOR_PIVOTS(j, 0, k * (ga_front_padded(k) / 4), load(&a[j], A + 4 * j))
        take_over(k, r, to, c->S, a);
        return invert_in_registers(k, a, A, reciprocals, condition);
    }
    take_over_in_memory(k, r, to, c->S, A);
    return invert(k, A, reciprocals, condition);
}

/* L D, S and D U of a front whose pivots are inverted, and its parts. False: of no use, S is
 * the child's. */
KERNEL bool finish(const int k, const int r, double *restrict F, ga_front_chain *c,
                   double *restrict forth, double *restrict back)
{
    const int k4 = ga_front_padded(k), r4 = ga_front_padded(r);
    double *L = F + k * k4, *U = L + k * r4;
    if (!(multiply_lower(k, r4, F, L) <= c->multipliers)) return false;
    memset(c->S, 0, (size_t)(r * r4) * sizeof *c->S);
    update_others(k, r, r4, L, U, c->S);
    multiply_upper(k, r, F, U, back);
    join_lower(k, r, F);
    memcpy(forth, F, ga_front_inverse_forth_size(k, r) * sizeof *F);
    return true;
}

KERNEL int factor(const int k, const int r, const int to, const ga_fronts *s, int from, int end,
                  ga_front_chain *c)
{
    for (; from < end; ++from) {
        const ga_front *f = &s->front[from];
        double *F = c->room[from & 1], *forth = s->factors + f->at,
               *back = s->factors + f->back, reciprocals[GA_FRONT_INVERSE_MOST], condition,
               most = 0;
        if (from + 1 < end) assemble(k, ga_front_padded(r), s, f + 1, c->room[~from & 1]);
        if (!invert_front(k, r, to, F, c, reciprocals, &condition)) break;
        if (!(condition <= c->condition) || !finish(k, r, F, c, forth, back)) break;
        for (int p = 0; p < k; ++p) most = greater(most, fabs(reciprocals[p]));
        if (!(most * c->found->entry <= c->found->pivot))
            ga_fronts_judge(s, f, reciprocals, 1, c->found);
    }
    return from;
}

/* --- instances ---------------------------------------------------------------------------- */

#define CHAIN(name, attribute, k, r, to)                                                       \
    attribute static int factor_##name##_##k##_##r##_##to(const ga_fronts *s, int from,        \
                                                          int end, ga_front_chain *c)          \
    {                                                                                          \
        return factor(k, r, to, s, from, end, c);                                              \
    }

/* A body, with the joint before it, in the plane, with ball joints and with hinges, in index 3
 * and in index 2; joints with the bodies between them; cells of a ladder in the plane. */
#define SHAPES(X, name, attribute)                                                             \
    X(name, attribute, 5, 2, 3)                                                                \
    X(name, attribute, 7, 4, 3)                                                                \
    X(name, attribute, 9, 3, 6)                                                                \
    X(name, attribute, 11, 5, 6)                                                               \
    X(name, attribute, 11, 11, 0)                                                              \
    X(name, attribute, 12, 2, 8)                                                               \
    X(name, attribute, 12, 2, 10)                                                              \
    X(name, attribute, 12, 6, 6)

typedef struct shape {
    int k, r, to;
    ga_front_chain_factor *factor;
} shape;

#define ENTRY(name, attribute, k, r, to) {k, r, to, factor_##name##_##k##_##r##_##to},

#define INSTANCES(name, attribute)                                                             \
    SHAPES(CHAIN, name, attribute)                                                             \
    static const shape shapes_##name[] = {SHAPES(ENTRY, name, attribute)};

INSTANCES(plain, )

#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
INSTANCES(avx2, __attribute__((target("avx2"))))
#endif

ga_front_chain_factor *ga_front_chain_get(int k, int r, int to)
{
    const shape *list = shapes_plain;
#if defined(__GNUC__) && defined(__x86_64__) && !defined(__AVX2__)
    if (__builtin_cpu_supports("avx2")) list = shapes_avx2;
#endif
    for (size_t i = 0; i < sizeof shapes_plain / sizeof *shapes_plain; ++i)
        if (list[i].k == k && list[i].r == r && list[i].to == to) return list[i].factor;
    return NULL;
}
