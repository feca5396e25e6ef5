/* A matrix that is summed while it is factored. Values of a large matrix that are written, all
 * of them, and then read, all of them, go to memory and come back; but fronts follow each other
 * as columns do, or in the opposite direction, and so do windows of the matrix (factor.h). Each
 * is summed when the first front asks for it, and its values are in the cache for those that
 * follow.
 *
 * A part of the fronts sums what nobody else has entries in. The rest, at the borders of parts,
 * is summed before. So the same sums are made by any number of threads, and none twice.
 *
 * Where each window serves fronts that are near each other, as those of chains are, it need not
 * stay: windows pass by in a room for few of them, and a matrix that does not fit into any
 * cache is never written to memory, nor has any. Who needs it as a whole, for refinement or for
 * KLU, has it made once more. */
#include "base/memory.h"
#include "base/report.h"
#include "la/fours.h"
#include "la/fronts.h"

#include <string.h>

enum { NOBODY = -2, SEVERAL = -1 };

static void claim(const ga_fronts *s, const ga_front *f, int part)
{
    for (int k = f->windows; k < f[1].windows; ++k) {
        int *owner = &s->owner[s->window[k]];
        *owner = *owner == NOBODY || *owner == part ? part : SEVERAL;
    }
}

/* --- windows that pass by */

/* With fewer of them there is nothing to gain. */
enum { MANY_WINDOWS = 8 };

/* Places for a window each; those of a part are for its windows, one after the other. */
typedef struct places {
    int count;
    int *of, *until;  /* each window; the last front that reads it */
    int *part, *last; /* of each place: who has it, and until when */
} places;

static void destroy_places(places *x)
{
    ga_free(x->of);
    ga_free(x->until);
    ga_free(x->part);
    ga_free(x->last);
}

/* For a window of a part that is summed when the fronts before front `from` are done. */
static int find_place(places *x, int part, int from)
{
    int k = 0;
    while (k < x->count && !(part >= 0 && x->part[k] == part && x->last[k] < from)) ++k;
    if (k == x->count) x->part[x->count++] = part;
    return k;
}

static void put_window(places *x, int window, int part, int from)
{
    if (x->of[window] >= 0) return;
    x->of[window] = find_place(x, part, from);
    x->last[x->of[window]] = x->until[window];
}

/* Windows in the order in which fronts ask for them. What is summed ahead of its time is, by no
 * more fronts than a chain has at most. Others may read it much later, where branches join. */
static void assign_places(const ga_fronts *s, places *x)
{
    const int windows = s->matrix->windows;
    for (int w = 0; w < windows; ++w) x->of[w] = -1;
    for (int i = 0; i < s->fronts; ++i)
        for (int k = s->front[i].windows; k < s->front[i + 1].windows; ++k)
            x->until[s->window[k]] = i;
    for (int i = 0; i < s->fronts; ++i)
        for (int k = s->front[i].windows; k < s->front[i + 1].windows; ++k)
            put_window(x, s->window[k], s->owner[s->window[k]], i - GA_FRONTS_CHAIN_MOST);
    for (int w = 0; w < windows; ++w) put_window(x, w, s->owner[w], 0); /* nobody asks */
}

static size_t segment_size(const ga_matrix *m, int segment)
{
    return (size_t)(m->colptr[ga_matrix_segment_start(m, segment + 1)] -
                    m->colptr[ga_matrix_segment_start(m, segment)]);
}

static size_t window_size(const ga_matrix *m, int w)
{
    size_t size = 0;
    for (int k = 0; k < m->ranges; ++k) size += segment_size(m, k * m->windows + w);
    return size;
}

/* Windows have places of one size, which are apart by a line of the cache. */
static ga_status make_room(ga_fronts *s, const places *x)
{
    const ga_matrix *m = s->matrix;
    const int segments = m->ranges * m->windows;
    size_t size = 0;
    for (int w = 0; w < m->windows; ++w)
        if (window_size(m, w) > size) size = window_size(m, w);
    size += 8;
    const size_t all = (size_t)x->count * size;
    if (all > (size_t)m->count / 2 || s->factors_used < (size_t)m->count) return GA_OK;
    s->room.shift = GA_NEW(ptrdiff_t, segments);
    s->edge = GA_NEW(int, segments);
    s->terms = GA_NEW(ga_matrix_term, m->blocks);
    s->room.memory = GA_NEW(double, all);
    if (!s->room.shift || !s->edge || !s->terms || !s->room.memory) return GA_ERR_MEMORY;
    for (int w = 0; w < m->windows; ++w) {
        size_t at = (size_t)x->of[w] * size;
        for (int k = 0; k < m->ranges; ++k) {
            const int segment = k * m->windows + w,
                      first = m->colptr[ga_matrix_segment_start(m, segment)];
            s->edge[segment] = m->colptr[ga_matrix_segment_start(m, segment + 1)];
            s->room.shift[segment] = (ptrdiff_t)at - first;
            at += segment_size(m, segment);
        }
    }
    return GA_OK;
}

static ga_status plan_room(ga_fronts *s)
{
    const int windows = s->matrix->windows;
    if (windows < MANY_WINDOWS) return GA_OK;
    places x = {.of = GA_NEW(int, windows),
                .until = GA_NEW(int, windows),
                .part = GA_NEW(int, windows),
                .last = GA_NEW(int, windows)};
    ga_status status = x.of && x.until && x.part && x.last ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK) assign_places(s, &x);
    if (status == GA_OK) status = make_room(s, &x);
    destroy_places(&x);
    return status;
}

ga_status ga_fronts_plan_sum(ga_fronts *s)
{
    const int windows = s->matrix->windows;
    if (s->parts == 0) return GA_OK;
    s->owner = GA_NEW(int, windows);
    s->summed = GA_NEW(unsigned char, windows);
    if (!s->owner || !s->summed) return GA_ERR_MEMORY;
    for (int w = 0; w < windows; ++w) s->owner[w] = NOBODY;
    for (int i = 0, p = 0; i < s->fronts; ++i) {
        while (p < s->parts && s->part[p].end <= i) ++p;
        claim(s, &s->front[i], p < s->parts && s->part[p].from <= i ? p : SEVERAL);
    }
    return plan_room(s);
}

bool ga_fronts_may_pass(const ga_fronts *s) { return s->room.memory; }

void ga_fronts_remember(ga_fronts *s, const ga_matrix_total *total)
{
    memcpy(s->terms, total->terms, (size_t)s->matrix->blocks * sizeof *s->terms);
    s->last = *total;
    s->last.terms = s->terms;
}

void ga_fronts_bring_back(ga_fronts *s)
{
    if (!s->passed) return;
    s->passed = false;
    ga_matrix_sum(&s->last);
}

/* --- sums */

bool ga_fronts_may_sum(const ga_fronts *s)
{
    return s->parts > 0 && (!s->pool || s->matrix->window_work);
}

static void sum_window(ga_fronts *s, int window)
{
    ga_matrix_sum_window(s->sum, window, s->passing ? &s->room : NULL);
    s->summed[window] = 1;
}

static void sum_if_several(void *data, int window)
{
    ga_fronts *s = data;
    if (s->owner[window] < 0) sum_window(s, window);
}

/* Whatever is larger, or no number. */
static void raise_entry(double *entry, double largest)
{
    if (!(largest <= *entry)) *entry = largest;
}

void ga_fronts_begin_sum(ga_fronts *s)
{
    const ga_matrix *m = s->matrix;
    memset(s->summed, 0, (size_t)m->windows);
    s->passing = s->sum == &s->last;
    ga_pool_run(s->pool, m->windows, sum_if_several, s);
    s->entry = 0;
    for (int w = 0; w < m->windows; ++w)
        if (s->summed[w]) raise_entry(&s->entry, m->largest[w]);
}

void ga_fronts_sum_for(ga_fronts *s, const ga_front *f, ga_fronts_part *p)
{
    for (int k = f->windows; k < f[1].windows; ++k) {
        const int w = s->window[k];
        if (s->summed[w]) continue;
        sum_window(s, w);
        raise_entry(&p->found.entry, s->matrix->largest[w]);
    }
}

/* A part that has failed leaves windows. Of those that pass by nothing is to be seen then. */
bool ga_fronts_finish_sum(ga_fronts *s)
{
    bool all = true;
    for (int w = 0; w < s->matrix->windows; ++w) {
        if (!s->summed[w] && !s->passing) sum_window(s, w);
        all = all && s->summed[w];
    }
    s->sum->matrix->looked = all;
    s->sum = NULL;
    return all && ga_fronts_look(s);
}
