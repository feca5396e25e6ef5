/* Solution by fronts (backend_block.c): unknowns are gathered in the order of elimination, go
 * forward and backward through all fronts, and are scattered again. In rows of like fronts the
 * kernels do it all in one pass each way. */
#include "la/fronts.h"

typedef ga_fronts blocks;
typedef ga_front front;
typedef ga_fronts_part part;

/* Unknowns from .. end - 1 into the order of elimination, and back. */
static void gather_unknowns(const blocks *s, int from, int end)
{
    const int *restrict row = s->row;
    const double *restrict x = s->from, *restrict scale = s->from_scale;
    double *restrict y = s->y;
    if (scale)
        for (int i = from; i < end; ++i) y[i] = x[row[i]] * scale[row[i]];
    else
        for (int i = from; i < end; ++i) y[i] = x[row[i]];
}

static void scatter_unknowns(const blocks *s, int from, int end)
{
    const int *restrict col = s->col;
    const double *restrict y = s->y, *restrict scale = s->to_scale;
    double *restrict x = s->to;
    if (scale)
        for (int i = from; i < end; ++i) x[col[i]] = y[i] * scale[col[i]];
    else
        for (int i = from; i < end; ++i) x[col[i]] = y[i];
}

/* t: room for the others of a front, where they are scattered. */
static void forward_one(const blocks *s, const front *f, double *restrict t, double *work)
{
    double *restrict y = s->y;
    const int *others = s->others + f->others;
    const double *F = s->factors + f->at;
    if (f->inverted) {
        f->inverse->forward_scattered(f->k, f->r, 1, F, y + f->first, y, others);
    } else {
        ga_front_forward *go = f->parted ? f->kernels->forth : f->kernels->forward;
        if (f->inverse) F = s->factors + f->spare;
        go(f->k, f->r, F, s->swap + f->first, y + f->first, t, work);
        for (int k = 0; k < f->r; ++k) y[others[k]] -= t[k];
    }
}

static void backward_one(const blocks *s, const front *f, double *restrict t, double *work)
{
    double *restrict y = s->y;
    const int *others = s->others + f->others;
    const double *F = s->factors + (f->inverse ? f->spare : f->at);
    if (f->inverted) {
        f->inverse->back_scattered(f->k, f->r, 1, s->factors + f->back, y + f->first, y,
                                   others);
        return;
    }
    for (int k = 0; k < f->r; ++k) t[k] = y[others[k]];
    for (int k = f->r; k < ga_front_padded(f->r); ++k) t[k] = 0;
    if (f->parted)
        f->kernels->back(f->k, f->r, s->factors + f->back, t, y + f->first, work);
    else
        f->kernels->backward(f->k, f->r, F, t, y + f->first, work);
}

static bool in_row(const front *f) { return f->inverted && f->row_end > 0; }

/* gathered: so many unknowns are in y. Some more than asked for come with them. */
static void gather_up_to(const blocks *s, int *gathered, int end, int last)
{
    enum { MORE = 128 };
    if (end <= *gathered) return;
    end = end < last - MORE ? end + MORE : last;
    gather_unknowns(s, *gathered, end);
    *gathered = end;
}

/* In shorter rows kernels are not to care for unknowns outside. */
enum { SHORT_ROW = 4 };

static void forward_row(const blocks *s, const front *f, int count, int *gathered, int last)
{
    const bool fetches = s->from_scale && count >= SHORT_ROW && *gathered < last;
    int fetching = fetches ? (last - *gathered) / f->k : 0;
    if (fetching > count) fetching = count;
    if (fetching > 0) {
        const ga_front_outside x = {s->row + f->first, s->from_scale, s->from, NULL,
                                    *gathered - f->first};
        f->inverse->forth(f->k, f->r, fetching, s->factors + f->at, s->y + f->first, s->y,
                          s->others + f->others, &x);
        *gathered += fetching * f->k;
        f += fetching;
    }
    if (fetching == count) return;
    gather_up_to(s, gathered, f->first + f->reach + (count - fetching - 1) * f->k, last);
    f->inverse->forth(f->k, f->r, count - fetching, s->factors + f->at, s->y + f->first, s->y,
                      s->others + f->others, NULL);
}

static void forward(const blocks *s, int from, int end, int gathered, const part *p)
{
    const int last = s->front[end].first;
    for (int i = from, next; i < end; i = next) {
        const front *f = &s->front[i];
        next = i + 1;
        gather_up_to(s, &gathered, f->first + f->reach, last);
        if (in_row(f)) {
            if (!s->mixed) next = f->row_end;
            while (next < f->row_end && s->front[next].inverted) ++next;
            forward_row(s, f, next - i, &gathered, last);
        } else {
            forward_one(s, f, p->t, p->work);
        }
    }
}

/* Fronts of a row, with f the first. kept: from there on unknowns have been scattered. */
static void backward_row(const blocks *s, const front *f, int count, int *kept)
{
    const bool bringing = s->to_scale && count >= SHORT_ROW;
    const ga_front_outside x = {s->col + f->first, s->to_scale, NULL, s->to, 0};
    if (bringing) {
        scatter_unknowns(s, f->first + count * f->k, *kept);
        *kept = f->first;
    }
    f->inverse->back(f->k, f->r, count, s->factors + f->back, s->y + f->first, s->y,
                     s->others + f->others, bringing ? &x : NULL);
}

static void backward(const blocks *s, int from, int end, const part *p)
{
    int kept = s->front[end].first;
    for (int i = end, next; i > from; i = next) {
        const front *f = &s->front[i - 1];
        next = i - 1;
        if (in_row(f)) {
            if (!s->mixed) next = f->row_from;
            while (next > f->row_from && s->front[next - 1].inverted) --next;
            backward_row(s, &s->front[next], i - next, &kept);
        } else {
            backward_one(s, f, p->t, p->work);
        }
    }
    scatter_unknowns(s, s->front[from].first, kept);
}

static void forward_part(void *data, int number)
{
    const blocks *s = data;
    const part *p = &s->part[number];
    forward(s, p->from, p->end, s->front[p->from].first, p);
}

static void backward_part(void *data, int number)
{
    const blocks *s = data;
    const part *p = &s->part[number];
    backward(s, p->from, p->end, p);
}

/* What is above the parts, before they are done. */
static void gather_above(blocks *s)
{
    for (int p = 0, from = 0; p <= s->parts; from = s->part[p++].end)
        gather_unknowns(s, s->front[from].first, s->front[s->part[p].from].first);
    for (int k = 0; k < s->slots; ++k) s->y[s->n + k] = 0;
}

void ga_fronts_solve(ga_fronts *s)
{
    double *y = s->y, *slot = s->y + s->n;
    const part *above = &s->part[s->parts];
    if (s->parts > 0) gather_above(s);
    ga_pool_run(s->pool, s->parts, forward_part, s);
    for (int k = 0; k < s->slots; ++k) y[s->above[k]] += slot[k];
    for (int p = 0, from = 0; p <= s->parts; from = s->part[p++].end)
        forward(s, from, s->part[p].from, s->parts > 0 ? s->n : 0, above);
    for (int p = s->parts; p >= 0; --p)
        backward(s, p > 0 ? s->part[p - 1].end : 0, s->part[p].from, above);
    for (int k = 0; k < s->slots; ++k) slot[k] = y[s->above[k]];
    ga_pool_run(s->pool, s->parts, backward_part, s);
}
