/* A matrix that is summed while it is factored. Values of a large matrix that are written, all
 * of them, and then read, all of them, go to memory and come back; but fronts follow each other
 * as columns do, or in the opposite direction, and so do windows of the matrix (factor.h). Each
 * is summed when the first front asks for it, and its values are in the cache for those that
 * follow.
 *
 * A part of the fronts sums what nobody else has entries in. The rest, at the borders of parts,
 * is summed before. So the same sums are made by any number of threads, and none twice. */
#include "base/memory.h"
#include "base/report.h"
#include "la/fours.h"
#include "la/fronts.h"

#include <string.h>

enum { NOBODY = -2, SEVERAL = -1 };

static void claim(int *owner, const ga_front *f, int part)
{
    for (int w = f->window_from; w < f->window_end; ++w)
        owner[w] = owner[w] == NOBODY || owner[w] == part ? part : SEVERAL;
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
        claim(s->owner, &s->front[i], p < s->parts && s->part[p].from <= i ? p : SEVERAL);
    }
    return GA_OK;
}

bool ga_fronts_may_sum(const ga_fronts *s)
{
    return s->parts > 0 && (!s->pool || s->matrix->window_work);
}

static void sum_window(ga_fronts *s, int window)
{
    ga_matrix_sum_window(s->sum, window);
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
    ga_pool_run(s->pool, m->windows, sum_if_several, s);
    s->entry = 0;
    for (int w = 0; w < m->windows; ++w)
        if (s->summed[w]) raise_entry(&s->entry, m->largest[w]);
}

void ga_fronts_sum_for(ga_fronts *s, const ga_front *f, ga_fronts_part *p)
{
    for (int w = f->window_from; w < f->window_end; ++w) {
        if (s->summed[w]) continue;
        sum_window(s, w);
        raise_entry(&p->found.entry, s->matrix->largest[w]);
    }
}

bool ga_fronts_finish_sum(ga_fronts *s)
{
    for (int w = 0; w < s->matrix->windows; ++w)
        if (!s->summed[w]) sum_window(s, w); /* a part has failed */
    s->sum->matrix->looked = true;
    s->sum = NULL;
    return ga_fronts_look(s);
}
