/* Factorisation by the block solver: from the leaves of the assembly tree to its roots, each
 * front is put together from entries of the matrix and the contribution blocks of its children,
 * and eliminated.
 *
 * Pivots are chosen inside A only. Whether that was good enough is seen afterwards: multipliers
 * above MULTIPLIER_LIMIT make one look at the pivot growth, the largest |l| |u| divided by the
 * largest entry of the matrix, which bounds the backward error in units of round-off. Redundant
 * constraints have pivots as small as their regularisation; that is no growth.
 *
 * Interleaving two halves of the tree in one thread, prefetching factors and
 * non-temporal stores were tried without gain. */
#include "base/simd.h"
#include "base/unroll.h"
#include "la/block/block.h"

#include <float.h>
#include <math.h>
#include <string.h>

typedef ga_fronts solver;
typedef ga_front front;
typedef ga_fronts_part part;
typedef ga_fronts_join join;
typedef ga_fronts_finding finding;

/* A diagonal entry this large relative to its column stays the pivot: most fronts then need no
 * swaps, which take time. */
static const double KEEP_DIAGONAL = 0.1;
static const double MULTIPLIER_LIMIT = 1e3;
static const double REFINE_LIMIT = 1e3;
/* For rough solutions, whose error an iteration outside corrects. In a chain of N bodies that
 * is cut in two the growth is about N/2 at the cut. */
static const double REFINE_LIMIT_ROUGH = 1e6;
static const double GROWTH_LIMIT = 1e9;
/* Pivots smaller than this times the size of their column are for KLU to judge. */
static const double PIVOT_LIMIT = 1e-14;

GA_UNROLLED copy_run(const int rows, const ga_fronts_run *r, const double *restrict from,
                     double *restrict to, int ld)
{
    for (int j = 0; j < r->cols; ++j, from += r->stride, to += ld)
        for (int i = 0; i < rows; ++i) to[i] = from[i];
}

/* Entries of the matrix into a front. Scalar stores are not forwarded to vector loads, so this
 * is done one front ahead, in the other buffer: they are in the cache by then. */
static void assemble(const solver *s, int i, part *p)
{
    const front *f = &s->front[i];
    const double *restrict x = s->matrix->values;
    double *restrict F = p->buffer[i & 1];
    memset(F, 0, (size_t)f->ld * (size_t)f->ld * sizeof *F);
    for (const ga_fronts_run *r = s->run + f->runs; r < s->run + f[1].runs; ++r)
        GA_UNROLL(r->rows, copy_run, r, x + r->from, F + r->to, f->ld)
}

static inline void add_rows(int count, const double *restrict x, double *restrict y)
{
    for (; count >= 4; count -= 4, x += 4, y += 4) {
        vec4 z;
        load(&z, y);
        add_at(&z, x, 1);
        store(y, &z);
    }
    for (int i = 0; i < count; ++i) y[i] += x[i];
}

/* Extend-add of the contribution block of child c, whose columns have this stride. */
static void take_over(const solver *s, const front *c, const double *from, int stride,
                      const front *f, double *F)
{
    const join *first = s->joins + c->joins, *end = s->joins + c[1].joins;
    for (const join *b = first; b < end; ++b)
        for (int j = 0; j < b->count; ++j, from += stride) {
            double *to = F + (ptrdiff_t)(b->to + j) * f->ld;
            for (const join *a = first; a < end; ++a)
                add_rows(a->count, from + a->from, to + a->to);
        }
}

/* The contribution block goes to the next front, or on the stack. */
static void pass_on(const solver *s, int i, part *p)
{
    const front *f = &s->front[i];
    const int r = f->m - f->k;
    const double *S = p->buffer[i & 1] + (ptrdiff_t)f->k * (f->ld + 1);
    if (f->passes) {
        take_over(s, f, S, f->ld, f + 1, p->buffer[~i & 1]);
        return;
    }
    for (int j = 0; j < r; ++j)
        memcpy(s->stack + f->stack + (ptrdiff_t)j * r, S + (ptrdiff_t)j * f->ld,
               (size_t)r * sizeof *S);
}

/* The smallest pivot so far, divided by the size of its column. */
static void judge(const solver *s, const front *f, const double *F, finding *found)
{
    for (int p = 0; p < f->k; ++p) {
        const int column = s->col[f->first + p];
        const double inverse = fabs(F[(ptrdiff_t)p * (f->ld + 1)]) * s->matrix->size[column];
        if (inverse <= found->inverse_pivot) continue;
        found->inverse_pivot = inverse;
        found->column = column;
    }
}

static bool factor_front(const solver *s, int i, part *p)
{
    front *f = &s->front[i];
    double *F = p->buffer[i & 1];
    int *swap = s->swap + f->first, moved = 0;
    for (int c = s->child_start[i]; c < s->child_start[i + 1]; ++c) {
        const front *child = &s->front[s->child[c]];
        take_over(s, child, s->stack + child->stack, child->m - child->k, f, F);
    }
    const double multiplier = s->kernels->factor(f->k, f->m, KEEP_DIAGONAL, F, swap);
    if (!(multiplier >= 0)) return false;
    if (!(multiplier <= MULTIPLIER_LIMIT))
        p->found.growth = fmax(p->found.growth, ga_front_growth(f->k, f->m, F));
    for (int c = 0; c < f->k; ++c) moved |= swap[c] ^ c;
    f->swapped = moved;
    s->kernels->pack(f->k, f->m, F, s->factors + f->forth, s->factors + f->back);
    judge(s, f, F, &p->found);
    return true;
}

static bool factor_range(const solver *s, int from, int end, part *p)
{
    if (from < end) assemble(s, from, p);
    for (int i = from; i < end; ++i) {
        if (i + 1 < end) assemble(s, i + 1, p);
        if (!factor_front(s, i, p)) return false;
        pass_on(s, i, p);
    }
    return true;
}

static void factor_part(void *data, int number)
{
    const solver *s = data;
    part *p = &s->part[number];
    p->found = (finding){.column = -1};
    p->found.failed = !factor_range(s, p->from, p->end, p);
}

/* The fronts that are in no part. */
static void factor_above(solver *s)
{
    part *above = &s->part[s->parts];
    above->found = (finding){.column = -1};
    for (int p = 0, from = 0; p <= s->parts && !above->found.failed; from = s->part[p++].end)
        above->found.failed = !factor_range(s, from, s->part[p].from, above);
}

static finding gather(const solver *s)
{
    finding all = {.column = -1};
    for (int p = 0; p <= s->parts; ++p) {
        const finding *found = &s->part[p].found;
        all.failed = all.failed || found->failed;
        if (found->growth > all.growth) all.growth = found->growth;
        if (found->inverse_pivot <= all.inverse_pivot) continue;
        all.inverse_pivot = found->inverse_pivot;
        all.column = found->column;
    }
    return all;
}

bool ga_fronts_factor(ga_fronts *s, double *rcond, int *column)
{
    s->refine = s->refine_rough = false;
    *rcond = 0;
    ga_pool_run(s->pool, s->parts, factor_part, s);
    for (int p = 0; p < s->parts; ++p)
        if (s->part[p].found.failed) return false;
    factor_above(s);
    const finding found = gather(s);
    if (found.failed) return false;
    *rcond = fmin(1 / found.inverse_pivot, 1);
    *column = found.column;
    if (!(*rcond >= PIVOT_LIMIT)) return false;
    const double grown = found.growth / s->matrix->largest;
    s->refine = grown > REFINE_LIMIT;
    s->refine_rough = grown > REFINE_LIMIT_ROUGH;
    if (grown <= GROWTH_LIMIT) return true;
    *rcond = 0;
    return false;
}
