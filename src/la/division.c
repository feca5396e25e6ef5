/* Divided products; see division.h. */
#include "la/division.h"

#include "base/memory.h"

#include <stdbool.h>

/* Of all entries: more runs than one in so many, or more of them in one piece than half, and
 * there is little to gain. */
enum { FEW = 8 };

int ga_division_share(int count, int places)
{
    const int pieces = ga_pool_pieces(count);
    return places / (pieces ? pieces : 1) + 1;
}

/* Counts the runs of each piece, or lists them from where those of the piece begin. Returns the
 * number of entries of the piece that has most. */
static int find_runs(int count, const int *place, int size, int pieces, int *start,
                     ga_division_run *runs, int *entries)
{
    for (int piece = 0; piece < pieces; ++piece) entries[piece] = 0;
    int most = 0;
    for (int k = 0, end; k < count; k = end) {
        const int piece = place[k] / size;
        for (end = k + 1; end < count && place[end] / size == piece;) ++end;
        if (runs) runs[start[piece]] = (ga_division_run){k, end, 0};
        ++start[piece];
        entries[piece] += end - k;
        if (entries[piece] > most) most = entries[piece];
    }
    return most;
}

static ga_status create(int count, const int *place, int places, int *entries, ga_division *d)
{
    const int pieces = ga_pool_pieces(count), size = ga_division_share(count, places);
    int *start = d->start = GA_NEW(int, (size_t)pieces + 1);
    if (!start) return GA_ERR_MEMORY;
    const int most = find_runs(count, place, size, pieces, start + 1, NULL, entries);
    for (int piece = 0; piece < pieces; ++piece) start[piece + 1] += start[piece];
    if (start[pieces] > count / FEW || most > count / 2) return GA_OK;
    d->runs = GA_NEW(ga_division_run, start[pieces]);
    if (!d->runs) return GA_ERR_MEMORY;
    find_runs(count, place, size, pieces, start, d->runs, entries);
    for (int piece = pieces; piece > 0; --piece) start[piece] = start[piece - 1];
    start[0] = 0;
    d->pieces = pieces;
    return GA_OK;
}

ga_status ga_division_create(int count, const int *place, int places, ga_division *d)
{
    *d = (ga_division){0};
    if (ga_pool_pieces(count) < 2) return GA_OK;
    int *entries = GA_NEW(int, ga_pool_pieces(count));
    if (!entries) return GA_ERR_MEMORY;
    ga_status status = create(count, place, places, entries, d);
    ga_free(entries);
    if (d->pieces == 0) ga_division_destroy(d);
    return status;
}

/* The strip that begins with this entry. */
static int strip_at(int count, const int *begin, int entry)
{
    int low = 0, high = count - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (begin[middle] <= entry)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

ga_status ga_division_find_strips(ga_division *d, const ga_strips *strips)
{
    if (strips->count == 0 || d->pieces == 0) return GA_OK;
    int *begin = GA_NEW(int, strips->count);
    if (!begin) return GA_ERR_MEMORY;
    for (int k = 1; k < strips->count; ++k)
        begin[k] = begin[k - 1] + ga_strips_length(strips, k - 1);
    for (int k = 0; k < d->start[d->pieces]; ++k)
        d->runs[k].strip = strip_at(strips->count, begin, d->runs[k].from);
    ga_free(begin);
    return GA_OK;
}

void ga_division_destroy(ga_division *d)
{
    ga_free(d->start);
    ga_free(d->runs);
    *d = (ga_division){0};
}

typedef struct task {
    const ga_division *division;
    const ga_entries *entries;
    const double *values, *x;
    double alpha, *y;
} task;

/* Do several entries in a row go to one place? A look at the first ones tells. */
static bool stays(const int *place, int from, int end)
{
    enum { SOME = 16 };
    int same = 0, last = end - from <= SOME ? end - 1 : from + SOME;
    for (int k = from; k < last; ++k) same += place[k] == place[k + 1];
    return 2 * same > last - from;
}

/* Then their sum need not go through memory. */
static void add_staying(const task *t, int from, int end)
{
    const int *restrict place = t->entries->place, *restrict column = t->entries->from;
    const double *restrict values = t->values, *restrict x = t->x, alpha = t->alpha;
    double *restrict y = t->y;
    for (int k = from; k < end;) {
        const int at = place[k];
        double sum = y[at];
        do {
            sum += alpha * values[k] * x[column[k]];
        } while (++k < end && place[k] == at);
        y[at] = sum;
    }
}

/* Most products are plain sums: 1 needs no multiplication. */
static void add_moving(const task *t, int from, int end)
{
    const int *restrict place = t->entries->place, *restrict column = t->entries->from;
    const double *restrict values = t->values, *restrict x = t->x, alpha = t->alpha;
    double *restrict y = t->y;
    int k = from;
    for (; alpha == 1 && k + 4 <= end; k += 4) {
        y[place[k]] += values[k] * x[column[k]];
        y[place[k + 1]] += values[k + 1] * x[column[k + 1]];
        y[place[k + 2]] += values[k + 2] * x[column[k + 2]];
        y[place[k + 3]] += values[k + 3] * x[column[k + 3]];
    }
    for (; k + 4 <= end; k += 4) {
        y[place[k]] += alpha * values[k] * x[column[k]];
        y[place[k + 1]] += alpha * values[k + 1] * x[column[k + 1]];
        y[place[k + 2]] += alpha * values[k + 2] * x[column[k + 2]];
        y[place[k + 3]] += alpha * values[k + 3] * x[column[k + 3]];
    }
    for (; k < end; ++k) y[place[k]] += alpha * values[k] * x[column[k]];
}

/* In the order of the entries, in any case. */
static void add_run(const task *t, ga_division_run run)
{
    const ga_strips *strips = t->entries->strips;
    const double *values = t->values + run.from;
    const int count = run.end - run.from;
    if (strips && t->entries->transposed)
        ga_strips_add_transposed(strips, run.strip, count, values, t->alpha, t->x, t->y);
    else if (strips)
        ga_strips_add(strips, run.strip, count, values, t->alpha, t->x, t->y);
    else if (stays(t->entries->place, run.from, run.end))
        add_staying(t, run.from, run.end);
    else
        add_moving(t, run.from, run.end);
}

static void add_piece(void *data, int piece)
{
    const task *t = data;
    const ga_division *d = t->division;
    for (int k = d->start[piece]; k < d->start[piece + 1]; ++k) add_run(t, d->runs[k]);
}

void ga_division_add(const ga_division *d, ga_pool *pool, const ga_entries *entries,
                     const double *values, double alpha, const double *x, double *y)
{
    task t = {d, entries, values, x, alpha, y};
    if (!pool || d->pieces == 0) {
        add_run(&t, (ga_division_run){0, entries->count, 0});
        return;
    }
    ga_pool_run(pool, d->pieces, add_piece, &t);
}
