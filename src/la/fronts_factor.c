/* Factorisation by fronts; what is done, and when it is good enough, says backend_block.c. */
#include "la/fours.h"
#include "la/front_chain.h"
#include "la/fronts.h"

#include <float.h>
#include <math.h>

typedef ga_fronts blocks;
typedef ga_front front;
typedef ga_fronts_part part;
typedef ga_fronts_run run;
typedef ga_fronts_join join;
typedef ga_fronts_finding finding;

static const double MULTIPLIER_LIMIT = 1e3;
/* Of an inverse, |A| |A^-1|: its solutions have a defect of so many units of round-off. */
static const double CONDITION_LIMIT = 1e4;
static const double REFINE_LIMIT = 1e3;
/* Who iterates need not have this done within an iteration. Long chains have a growth of half
 * their number of bodies, where halves meet. */
static const double REFINE_LIMIT_ROUGH = 1e6;
static const double GROWTH_LIMIT = 1e9;
/* Smaller pivots, by the size of their column, are for KLU to judge. */
static const double PIVOT_LIMIT = 1e-14;

/* A multiple of four. */
static void clear(size_t count, double *x)
{
    quad zero;
    set_zero(&zero);
    for (size_t i = 0; i < count; i += 4) store(x + i, &zero);
}

/* Where front i is eliminated. */
static double *room_of(const blocks *s, int i, const part *p)
{
    return ga_fronts_is_moved(&s->front[i]) ? p->room[i & 1] : s->factors + s->front[i].at;
}

/* Entries of the matrix into a front. Done one front ahead: numbers that are stored one by one
 * are not read by fours until the processor has put them away. */
static void assemble(const blocks *s, int i, double *restrict F)
{
    const front *f = &s->front[i];
    const run *r = s->runs + f->runs, *end = s->runs + f[1].runs;
    ga_fronts_cursor at = ga_fronts_begin(s, f);
    clear(ga_fronts_size(f), F);
    if (s->places) {
        const unsigned short *restrict place = s->places + f->places;
        for (; r < end; place += r->count, ++r) {
            const double *restrict x = ga_fronts_entries(s, f, r->from, &at);
            for (int v = 0; v < r->count; ++v) F[place[v]] = x[v];
        }
    } else {
        const int *restrict place = s->wide_places + f->places;
        for (; r < end; place += r->count, ++r) {
            const double *restrict x = ga_fronts_entries(s, f, r->from, &at);
            for (int v = 0; v < r->count; ++v) F[place[v]] = x[v];
        }
    }
}

/* y += x. Behind x there are zeros up to a multiple of four; y has room for `room` numbers. */
static inline void add_rows(int count, const double *restrict x, double *restrict y, int room)
{
    int i = 0;
    for (; i < count && i + 4 <= room; i += 4) {
        quad z;
        load(&z, y + i);
        add_at(&z, x + i, 1);
        store(y + i, &z);
    }
    for (; i < count; ++i) y[i] += x[i];
}

/* y += x, where there are few; no loop to get ready for. */
static inline void add_few(int count, const double *restrict x, double *restrict y)
{
    for (; count >= 4; count -= 4, x += 4, y += 4) {
        quad z;
        load(&z, y);
        add_at(&z, x, 1);
        store(y, &z);
    }
    if (count & 2) {
        y[0] += x[0];
        y[1] += x[1];
        x += 2, y += 2;
    }
    if (count & 1) y[0] += x[0];
}

/* Where a column of a front is: its rows among the pivots, `step` apart, and the others. */
typedef struct strip {
    double *top, *low;
    int step;
} strip;

static inline strip strip_of(const front *f, int j, double *F, double *S)
{
    const int k = f->k, k4 = ga_front_padded(k), r4 = ga_front_padded(f->r);
    double *L = F + k * k4, *U = L + k * r4;
    if (j < k) return (strip){F + (ptrdiff_t)j * k4, L + (ptrdiff_t)j * r4, 1};
    return (strip){U + (j - k), S + (ptrdiff_t)(j - k) * r4, r4};
}

static inline void add_column(const join *first, const join *end, int k,
                              const double *restrict x, strip to)
{
    for (const join *a = first; a < end; ++a)
        if (a->to >= k)
            add_few(a->count, x + a->from, to.low + (a->to - k));
        else if (to.step == 1)
            add_few(a->count, x + a->from, to.top + a->to);
        else
            for (int i = 0; i < a->count; ++i)
                to.top[(ptrdiff_t)(a->to + i) * to.step] += x[a->from + i];
}

/* Adds the S of child c to front f. */
static void take_over(const blocks *s, const front *c, const front *f, double *F, double *S)
{
    const int k = f->k, k4 = ga_front_padded(k), child_r4 = ga_front_padded(c->r);
    const double *from = s->stack + c->stack;
    const join *first = s->joins + c->joins, *end = s->joins + c[1].joins;
    if (end == first + 1 && first->to < k) { /* in a chain: all of it among the pivots */
        double *to = F + first->to * (k4 + 1);
        for (int j = 0; j < first->count; ++j, from += child_r4, to += k4)
            add_rows(first->count, from, to, k4 - first->to);
        return;
    }
    for (const join *b = first; b < end; ++b)
        for (int j = 0; j < b->count; ++j, from += child_r4)
            add_column(first, end, k, from, strip_of(f, b->to + j, F, S));
}

static double column_size(const ga_fronts *s, int j)
{
    const ga_matrix *m = s->matrix;
    const double *x = m->values + m->colptr[j];
    if (s->passing)
        x = s->room.memory + (s->room.shift[ga_matrix_segment(m, j)] + m->colptr[j]);
    const double *end = x + (m->colptr[j + 1] - m->colptr[j]);
    quad most;
    set_zero(&most);
    for (; x + 4 <= end; x += 4) raise(&most, x);
    double size = largest_of(&most);
    for (; x < end; ++x) size = greater(size, fabs(*x));
    return size;
}

void ga_fronts_judge(const ga_fronts *s, const ga_front *f, const double *reciprocals, int step,
                     ga_fronts_finding *found)
{
    for (int p = 0; p < f->k; ++p) {
        double pivot = fabs(reciprocals[p * step]);
        if (pivot * found->entry <= found->pivot) continue;
        int column = s->col[f->first + p];
        pivot *= column_size(s, column);
        if (pivot <= found->pivot) continue;
        found->pivot = pivot;
        found->column = column;
    }
}

static double growth(const front *f, const double *F)
{
    const int r4 = ga_front_padded(f->r);
    const double *L = F + f->k * ga_front_padded(f->k), *U = L + f->k * r4;
    double most = 0;
    for (int p = 0; p < f->k; ++p) {
        const double product =
            ga_front_largest(r4, L + p * r4) * ga_front_largest(r4, U + p * r4);
        if (!(product <= most)) most = product;
    }
    return most;
}

/* Whether that went well enough to be left at that. */
static bool invert_front(const blocks *s, const front *f, double *F, double *S, part *p)
{
    double reciprocals[GA_FRONT_INVERSE_MOST];
    ga_front_sizes sizes;
    if (!f->inverse->factor(f->k, f->r, F, S, reciprocals, p->work, &sizes)) return false;
    if (!(sizes.condition <= CONDITION_LIMIT * CONDITION_LIMIT)) return false;
    if (!(sizes.multipliers <= MULTIPLIER_LIMIT * MULTIPLIER_LIMIT)) return false;
    ga_fronts_judge(s, f, reciprocals, 1, &p->found);
    return true;
}

static void collect(const blocks *s, int i, const front *f, double *F, double *S)
{
    clear(ga_fronts_others_size(f), S);
    for (int c = s->child_start[i]; c < s->child_start[i + 1]; ++c)
        take_over(s, &s->front[s->child[c]], f, F, S);
}

static double eliminate(const blocks *s, const front *f, double *F, double *S, part *p)
{
    int *swap = s->swap + f->first;
    if (!f->parted) return f->kernels->factor(f->k, f->r, F, S, swap, p->work);
    return f->kernels->factor_parted(f->k, f->r, F, S, swap, p->work, s->factors + f->at,
                                     s->factors + f->back);
}

static bool factor_front(const blocks *s, int i, part *p)
{
    front *f = &s->front[i];
    double *F = room_of(s, i, p), *S = s->stack + f->stack;
    collect(s, i, f, F, S);
    f->inverted = f->inverse && invert_front(s, f, F, S, p);
    if (f->inverted) {
        ga_front_inverse_part(f->k, f->r, F, s->factors + f->at, s->factors + f->back);
        return true;
    }
    if (f->inverse) { /* once more */
        F = s->factors + f->spare;
        assemble(s, i, F);
        collect(s, i, f, F, S);
    }
    const double squares = eliminate(s, f, F, S, p);
    if (!(squares >= 0)) return false;
    p->found.mixed = true;
    if (!(squares <= MULTIPLIER_LIMIT * MULTIPLIER_LIMIT))
        p->found.growth = fmax(p->found.growth, growth(f, F));
    ga_fronts_judge(s, f, F, ga_front_padded(f->k) + 1, &p->found);
    return true;
}

/* A chain from i to end - 1, whose child is done. Returns the front that is not: the end, or
 * one that is not to be inverted. */
static int factor_chain(const blocks *s, int i, int end, part *p)
{
    front *f = &s->front[i];
    const int to = s->joins[f[-1].joins].to;
    const size_t size = ga_fronts_others_size(f) * sizeof(double);
    ga_front_chain c = {.condition = CONDITION_LIMIT * CONDITION_LIMIT,
                        .multipliers = MULTIPLIER_LIMIT * MULTIPLIER_LIMIT,
                        .room = {p->room[0], p->room[1]},
                        .found = &p->found};
    memcpy(c.S, s->stack + f[-1].stack, size);
    i = ga_front_chain_get(f->k, f->r, to)(s, i, end, &c);
    for (; f < &s->front[i]; ++f) f->inverted = true;
    memcpy(s->stack + f[-1].stack, c.S, size);
    return i;
}

/* Values of a large matrix come from memory, in runs too short for the processor to foresee the
 * next. */
static void fetch(const blocks *s, int i)
{
#if defined(__GNUC__)
    const front *f = &s->front[i];
    for (const run *r = s->runs + f->runs; r < s->runs + f[1].runs; ++r)
        for (int v = 0; v < r->count; v += 8)
            __builtin_prefetch(s->matrix->values + r->from + v);
#else
    (void)s, (void)i;
#endif
}

/* Where the chain from i on ends, or is interrupted. */
static int end_of_chain(const blocks *s, int i)
{
    const int chain = s->front[i].chain, most = i + GA_FRONTS_CHAIN_MOST;
    return s->sum && chain > most ? most : chain;
}

/* assembled: fronts before it are. Chains end where an S is kept, if not before. */
bool ga_fronts_factor_range(blocks *s, int from, int end, part *p)
{
    enum { AHEAD = 3, NEAR = 1 << 19 }; /* fronts; values that a cache may hold */
    const bool far = !s->sum && s->matrix->count > NEAR;
    int assembled = from;
    for (int i = from; i < end; ++i) {
        const int chain = end_of_chain(s, i), next = chain ? chain : i + 2;
        for (int k = assembled; s->sum && k < next && k < end; ++k)
            ga_fronts_sum_for(s, &s->front[k], p);
        for (; assembled <= (chain ? i : i + 1) && assembled < end; ++assembled)
            assemble(s, assembled, room_of(s, assembled, p));
        if (chain) {
            i = assembled = factor_chain(s, i, chain, p);
            if (i == chain) {
                --i;
                continue;
            }
            assemble(s, i, room_of(s, i, p));
            ++assembled;
        }
        if (far && i + AHEAD < end) fetch(s, i + AHEAD);
        if (!factor_front(s, i, p)) return false;
    }
    return true;
}

static void factor_part(void *data, int number)
{
    blocks *s = data;
    part *p = &s->part[number];
    p->found = (finding){.column = -1, .entry = s->entry};
    p->found.failed = !ga_fronts_factor_range(s, p->from, p->end, p);
}

/* The fronts that are in no part. */
static void factor_above(blocks *s)
{
    part *above = &s->part[s->parts];
    above->found = (finding){.column = -1, .entry = s->entry};
    for (int p = 0, from = 0; p <= s->parts && !above->found.failed; from = s->part[p++].end)
        above->found.failed = !ga_fronts_factor_range(s, from, s->part[p].from, above);
}

static finding gather(const blocks *s)
{
    finding all = {.column = -1};
    for (int p = 0; p <= s->parts; ++p) {
        const finding *found = &s->part[p].found;
        all.failed = all.failed || found->failed;
        all.mixed = all.mixed || found->mixed;
        if (found->growth > all.growth) all.growth = found->growth;
        if (found->pivot <= all.pivot) continue;
        all.pivot = found->pivot;
        all.column = found->column;
    }
    return all;
}

/* In as many pieces as there are parts, about: the largest, or NaN if one is not finite. 0 x is
 * 0 or NaN. */
static void look_at_piece(void *data, int piece)
{
    blocks *s = data;
    const int size = s->matrix->count / GA_FRONTS_PARTS & ~3, from = piece * size;
    const int end = piece == GA_FRONTS_PARTS - 1 ? s->matrix->count : from + size;
    const double *x = s->matrix->values;
    quad most[2], zero[2];
    for (int v = 0; v < 2; ++v) set_zero(&most[v]), set_zero(&zero[v]);
    int i = from;
    for (; i + 8 <= end; i += 8)
        for (int v = 0; v < 2; ++v) {
            raise(&most[v], x + i + 4 * v);
            add_at(&zero[v], x + i + 4 * v, 0);
        }
    raise_by(&most[0], &most[1]);
    double largest = largest_of(&most[0]), rest = 0;
    for (; i < end; ++i) {
        largest = greater(largest, fabs(x[i]));
        rest += 0 * x[i];
    }
    add(&zero[0], &zero[1], 1);
    double sums[4];
    store(sums, &zero[0]);
    s->largest[piece] = largest + (sums[0] + sums[1] + (sums[2] + sums[3]) + rest);
}

bool ga_fronts_look(ga_fronts *s)
{
    const ga_matrix *m = s->matrix;
    const int count = m->looked ? m->windows : GA_FRONTS_PARTS;
    const double *largest = m->looked ? m->largest : s->largest;
    if (!m->looked)
        ga_pool_run(s->parts > 1 ? s->pool : NULL, GA_FRONTS_PARTS, look_at_piece, s);
    s->entry = 0;
    for (int p = 0; p < count; ++p) {
        if (!(largest[p] <= DBL_MAX)) return false;
        s->entry = greater(s->entry, largest[p]);
    }
    return true;
}

static bool factor_all(blocks *s)
{
    if (s->sum) ga_fronts_begin_sum(s);
    ga_pool_run(s->pool, s->parts, factor_part, s);
    if (s->sum && !ga_fronts_finish_sum(s)) return false;
    for (int p = 0; p < s->parts; ++p)
        if (s->part[p].found.failed) return false;
    factor_above(s);
    s->found = gather(s);
    return !s->found.failed;
}

bool ga_fronts_factor(ga_fronts *s, double *rcond, int *column)
{
    s->refine = s->refine_rough = s->lost = false;
    if (s->partner) s->partner->lost = true;
    *rcond = 0;
    const bool done = factor_all(s);
    s->passed = s->passing;
    s->passing = false;
    return done && ga_fronts_accept(s, rcond, column);
}

bool ga_fronts_accept(ga_fronts *s, double *rcond, int *column)
{
    s->mixed = s->found.mixed;
    *rcond = fmin(1 / s->found.pivot, 1);
    *column = s->found.column;
    if (!(*rcond >= PIVOT_LIMIT)) return false;
    const double grown = s->found.growth / s->entry;
    s->refine = grown > REFINE_LIMIT;
    s->refine_rough = grown > REFINE_LIMIT_ROUGH;
    if (grown <= GROWTH_LIMIT) return true;
    *rcond = 0;
    return false;
}
