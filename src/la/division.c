/* Divided products; see division.h. */
#include "la/division.h"

#include "base/memory.h"

#include <stdbool.h>

/* With more late entries than one in so many there is little to gain. */
enum { FEW = 8 };

/* first: the first piece at each place, + 1. Counts late entries, and lists them if there is a
 * list. */
static int find_late(int count, const int *place, int *first, ga_division *d)
{
    int late = 0;
    for (int k = 0; k < count; ++k) {
        const int piece = k / GA_POOL_PIECE;
        int *owner = &first[place[k]];
        if (d->start && k == ga_pool_start(piece)) d->start[piece] = late;
        if (*owner == 0) *owner = piece + 1;
        if (*owner == piece + 1) continue;
        if (d->late) d->late[late] = k;
        ++late;
    }
    return late;
}

static ga_status list_late(int count, const int *place, int late, int *first, ga_division *d)
{
    const int pieces = ga_pool_pieces(count);
    d->start = GA_NEW(int, (size_t)pieces + 1);
    d->late = GA_NEW(int, late);
    if (!d->start || !d->late) {
        ga_division_destroy(d);
        return GA_ERR_MEMORY;
    }
    d->start[pieces] = find_late(count, place, first, d);
    d->pieces = pieces;
    return GA_OK;
}

ga_status ga_division_create(int count, const int *place, int places, ga_division *d)
{
    *d = (ga_division){0};
    if (ga_pool_pieces(count) < 2) return GA_OK;
    int *first = GA_NEW(int, places);
    if (!first) return GA_ERR_MEMORY;
    const int late = find_late(count, place, first, d);
    ga_status status = GA_OK;
    if (late <= count / FEW) status = list_late(count, place, late, first, d);
    ga_free(first);
    return status;
}

void ga_division_destroy(ga_division *d)
{
    ga_free(d->start);
    ga_free(d->late);
    *d = (ga_division){0};
}

typedef struct task {
    const ga_division *division;
    int count;
    const int *place, *from;
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
    const int *restrict place = t->place, *restrict column = t->from;
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
    const int *restrict place = t->place, *restrict column = t->from;
    const double *restrict values = t->values, *restrict x = t->x, alpha = t->alpha;
    double *restrict y = t->y;
    int k = from;
    for (; alpha == 1 && k + 4 <= end; k += 4) {
        y[place[k]] += values[k] * x[column[k]];
        y[place[k + 1]] += values[k + 1] * x[column[k + 1]];
        y[place[k + 2]] += values[k + 2] * x[column[k + 2]];
        y[place[k + 3]] += values[k + 3] * x[column[k + 3]];
    }
    for (; k < end; ++k) y[place[k]] += alpha * values[k] * x[column[k]];
}

/* In the order of the entries, either way. */
static void add_entries(const task *t, int from, int end)
{
    if (stays(t->place, from, end))
        add_staying(t, from, end);
    else
        add_moving(t, from, end);
}

/* A piece but for its late entries. */
static void add_piece(void *data, int piece)
{
    const task *t = data;
    const ga_division *d = t->division;
    int from = ga_pool_start(piece);
    for (int k = d->start[piece]; k < d->start[piece + 1]; ++k) {
        add_entries(t, from, d->late[k]);
        from = d->late[k] + 1;
    }
    add_entries(t, from, ga_pool_end(t->count, piece));
}

void ga_division_add(const ga_division *d, ga_pool *pool, int count, const int *place,
                     const int *from, const double *values, double alpha, const double *x,
                     double *y)
{
    task t = {d, count, place, from, values, x, alpha, y};
    if (!pool || d->pieces == 0) {
        add_entries(&t, 0, count);
        return;
    }
    ga_pool_run(pool, d->pieces, add_piece, &t);
    for (int k = 0; k < d->start[d->pieces]; ++k) add_entries(&t, d->late[k], d->late[k] + 1);
}
