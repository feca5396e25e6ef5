/* Factors again only where entries of the matrix have changed.
 *
 * A front depends on its entries and on what its children leave over, S. So a change goes from
 * front to front up to the root; but where an S is as it was, nothing above it need be done.
 * Who wants short ways has groups whose entries change often eliminated last (`distance` of a
 * partition).
 *
 * That takes the S of fronts before. Not all are kept: fronts are divided into segments, each a
 * chain, and only the last one of each is; a segment is done again as a whole. Segments end
 * where chains do, where parts do, and after LENGTH fronts. Stacked S lie where they lie in a
 * factorisation, because fronts come in the same order.
 */
#include "base/memory.h"
#include "base/report.h"
#include "la/fronts.h"

#include <math.h>
#include <string.h>

typedef ga_fronts_segment segment;

enum { LENGTH = 16 };

/* So much an S may change without anybody above it being told; by the diagonal. */
static const double STILL = 1e-6;

void ga_fronts_renewal_destroy(ga_fronts_renewal *x)
{
    if (!x) return;
    ga_free(x->segment);
    ga_free(x->row_segment);
    ga_free(x->col_segment);
    ga_free(x->touched);
    ga_free(x->done);
    ga_free(x->kept);
    ga_free(x);
}

static int children(const ga_fronts *s, int i)
{
    return s->child_start[i + 1] - s->child_start[i];
}

static bool at_border(const ga_fronts *s, int i)
{
    for (int p = 0; p < s->parts; ++p)
        if (i == s->part[p].from || i == s->part[p].end) return true;
    return false;
}

/* Whether front i goes on with the segment that begins with front `from`. */
static bool goes_on(const ga_fronts *s, int from, int i)
{
    return i - from < LENGTH && children(s, i) == 1 && !at_border(s, i);
}

static int divide(const ga_fronts *s, segment *list)
{
    int count = 0;
    for (int i = 0, from = 0; i < s->fronts; i = from, ++count) {
        for (++from; from < s->fronts && goes_on(s, i, from);) ++from;
        if (list) list[count] = (segment){.from = i, .end = from, .above = -1};
    }
    return count;
}

static int segment_of(const ga_fronts *s, int front)
{
    return s->renewal->col_segment[s->col[s->front[front].first]];
}

static const ga_front *last_of(const ga_fronts *s, const segment *g)
{
    return &s->front[g->end - 1];
}

static size_t size_of(const ga_fronts *s, const segment *g)
{
    return ga_fronts_others_size(last_of(s, g));
}

/* Places for S, who is above whom, and where unknowns are; chains end with their segments. */
static size_t connect(ga_fronts *s, ga_fronts_renewal *x)
{
    size_t kept = 0;
    for (int g = 0; g < x->segments; ++g) {
        segment *at = &x->segment[g];
        at->kept = kept;
        kept += size_of(s, at);
        for (int i = at->from; i < at->end; ++i) {
            ga_front *f = &s->front[i];
            if (f->chain > at->end) f->chain = at->end;
            for (int k = f->first; k < f[1].first; ++k)
                x->row_segment[s->row[k]] = x->col_segment[s->col[k]] = g;
        }
        for (int c = s->child_start[at->from]; c < s->child_start[at->from + 1]; ++c)
            x->segment[x->col_segment[s->col[s->front[s->child[c]].first]]].above = g;
    }
    return kept;
}

ga_status ga_fronts_prepare(ga_fronts *s)
{
    if (s->renewal) return GA_OK;
    ga_fronts_renewal *x = GA_NEW(ga_fronts_renewal, 1);
    if (!x) return GA_ERR_MEMORY;
    x->segments = divide(s, NULL);
    bool memory = (x->segment = GA_NEW(segment, x->segments)) &&
                  (x->row_segment = GA_NEW(int, s->n)) &&
                  (x->col_segment = GA_NEW(int, s->n)) &&
                  (x->touched = GA_NEW(unsigned char, x->segments)) &&
                  (x->done = GA_NEW(unsigned char, x->segments));
    if (memory) {
        divide(s, x->segment);
        memory = (x->kept = GA_NEW(double, connect(s, x)));
    }
    if (!memory) {
        ga_fronts_renewal_destroy(x);
        return GA_ERR_MEMORY;
    }
    s->renewal = x;
    return GA_OK;
}

static bool is_still(int r, const double *now, const double *before)
{
    const int r4 = ga_front_padded(r);
    for (int j = 0; j < r; ++j)
        for (int i = 0; i < r; ++i) {
            const double x = before[j * r4 + i], change = now[j * r4 + i] - x;
            const double size = before[i * r4 + i] * before[j * r4 + j];
            if (!(change * change <= STILL * STILL * fabs(size))) return false;
        }
    return true;
}

/* What is kept is what those above have last seen. */
void ga_fronts_keep(ga_fronts *s, int i)
{
    ga_fronts_renewal *x = s->renewal;
    if (!x) return;
    const segment *g = &x->segment[segment_of(s, i)];
    const size_t size = size_of(s, g);
    if (i + 1 != g->end) return;
    const double *now = s->stack + s->front[i].stack;
    double *before = x->kept + g->kept;
    if (x->renewing) {
        if (g->above < 0 || is_still(s->front[i].r, now, before)) return;
        x->touched[g->above] = 1;
    }
    memcpy(before, now, size * sizeof *now);
}

void ga_fronts_touch(ga_fronts *s, int row, int col)
{
    ga_fronts_renewal *x = s->renewal;
    const int a = x->row_segment[row], b = x->col_segment[col];
    x->touched[a < b ? a : b] = 1;
}

/* What the children of a segment have left over, where it is not on the stack. */
static void recall(ga_fronts *s, const segment *g)
{
    const ga_fronts_renewal *x = s->renewal;
    for (int c = s->child_start[g->from]; c < s->child_start[g->from + 1]; ++c) {
        const ga_front *child = &s->front[s->child[c]];
        const int number = segment_of(s, s->child[c]);
        const segment *below = &x->segment[number];
        if (x->done[number]) continue;
        memcpy(s->stack + child->stack, x->kept + below->kept,
               size_of(s, below) * sizeof *x->kept);
    }
}

static bool redo(ga_fronts *s, int number)
{
    const segment *g = &s->renewal->segment[number];
    recall(s, g);
    s->renewal->done[number] = 1;
    return ga_fronts_factor_range(s, g->from, g->end, &s->part[s->parts]);
}

static bool redo_touched(ga_fronts *s)
{
    ga_fronts_renewal *x = s->renewal;
    for (int g = 0; g < x->segments; ++g) {
        const unsigned char *next = memchr(x->touched + g, 1, (size_t)(x->segments - g));
        if (!next) return true;
        g = (int)(next - x->touched);
        if (!redo(s, g)) return false;
    }
    return true;
}

/* What was found before still counts, which is on the safe side. */
static void merge(ga_fronts_finding *all, const ga_fronts_finding *found)
{
    all->mixed |= found->mixed;
    if (found->growth > all->growth) all->growth = found->growth;
    if (found->pivot <= all->pivot) return;
    all->pivot = found->pivot;
    all->column = found->column;
}

bool ga_fronts_renew(ga_fronts *s, double *rcond, int *column, double *share)
{
    ga_fronts_renewal *x = s->renewal;
    ga_fronts_part *by = &s->part[s->parts];
    by->found = (ga_fronts_finding){.column = -1, .entry = s->entry};
    x->renewing = true;
    x->valid = redo_touched(s);
    x->renewing = false;
    int done = 0;
    for (int g = 0; g < x->segments; ++g) done += x->done[g];
    *share = (double)done / x->segments;
    memset(x->touched, 0, (size_t)x->segments);
    memset(x->done, 0, (size_t)x->segments);
    if (!x->valid) return false;
    merge(&s->found, &by->found);
    return ga_fronts_accept(s, rcond, column);
}
