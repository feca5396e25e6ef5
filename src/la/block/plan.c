/* The plan of the block solver: where everything lies. From the assembly tree (tree.h): the
 * order of unknowns, which entry of the matrix goes where in which front, which row of a
 * contribution block is which row of the parent, places of factors and of contribution blocks,
 * and parts for threads.
 *
 * Contribution blocks are on a stack, because a front comes right after all that is below it.
 * The last child of a front comes just before it; in the same part its contribution is added
 * at once and needs no place on the stack.
 *
 * Parts are whole subtrees; what is above them follows when all are done. They depend on the
 * matrix only, each has its own stack, and in a solution its own places, slots, for what it
 * adds to unknowns above it. So the same numbers are added in the same order by any number of
 * threads. */
#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"
#include "la/block/block.h"

#include <limits.h>
#include <string.h>

typedef ga_fronts solver;
typedef ga_front front;
typedef ga_fronts_part part;
typedef ga_fronts_join join;

/* --- unknowns ----------------------------------------------------------------------------- */

/* Numbers the unknowns in the order of elimination, block by block. at: the first number of
 * each block. */
static ga_status number_unknowns(solver *s, const ga_partition *p, const ga_elimination *e,
                                 int *at)
{
    ga_buckets rows = {0}, cols = {0};
    ga_status status = ga_buckets_create(e->blocks, s->n, p->row_block, NULL, &rows);
    if (status == GA_OK) status = ga_buckets_create(e->blocks, s->n, p->col_block, NULL, &cols);
    int count = 0;
    for (int k = 0; status == GA_OK && k < e->blocks; ++k) {
        const int b = e->block[k];
        at[b] = count;
        for (int i = 0; i < e->size[b]; ++i, ++count) {
            s->row[count] = rows.item[rows.start[b] + i];
            s->col[count] = cols.item[cols.start[b] + i];
        }
    }
    ga_buckets_destroy(&rows);
    ga_buckets_destroy(&cols);
    return status;
}

static ga_status size_fronts(solver *s, const ga_elimination *e, const int *at)
{
    int others = 0;
    size_t size = 0;
    for (int i = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        int r = 0;
        f->first = at[e->block[e->start[i]]];
        for (int k = e->start[i]; k < e->start[i + 1]; ++k) f->k += e->size[e->block[k]];
        for (int k = e->rest_start[i]; k < e->rest_start[i + 1]; ++k) r += e->size[e->rest[k]];
        f->m = f->k + r;
        if (f->m > INT_MAX / 2 / (f->m + 4) || r > INT_MAX - others) return GA_ERR_MEMORY;
        f->ld = ga_front_padded(f->m);
        f->others = others;
        others += r;
        f->forth = size;
        size += ga_front_forth_size(f->k, r);
    }
    for (int i = s->fronts - 1; i >= 0; --i) { /* as the way back reads them */
        front *f = &s->front[i];
        f->back = size;
        size += ga_front_back_size(f->k, f->m - f->k);
    }
    s->front[s->fronts].first = s->n;
    s->front[s->fronts].others = others;
    s->others = GA_NEW(int, others);
    s->factors = GA_NEW(double, size);
    if (!s->others || !s->factors) return GA_ERR_MEMORY;
    for (int i = 0, count = 0; i < s->fronts; ++i)
        for (int k = e->rest_start[i]; k < e->rest_start[i + 1]; ++k)
            for (int u = 0; u < e->size[e->rest[k]]; ++u)
                s->others[count++] = at[e->rest[k]] + u;
    return GA_OK;
}

/* --- parts -------------------------------------------------------------------------------- */

static double work_of(const front *f)
{
    const double k = f->k, r = f->m - f->k, overhead = 300;
    return ga_front_operations(k, r) + overhead;
}

/* A subtree with more than 60 % of all work is opened: its root goes above the parts. Subtrees
 * side by side are gathered to a part until it has an eighth; when no more parts may be made,
 * the rest is done with the fronts above. */
static void choose_parts(solver *s, const ga_elimination *e, double *work)
{
    double total = 0;
    for (int i = 0; i < s->fronts; ++i) {
        work[i] += work_of(&s->front[i]);
        if (e->parent[i] >= 0) work[e->parent[i]] += work[i];
        total += work_of(&s->front[i]);
    }
    const double large = 0.6 * total, enough = total / GA_FRONTS_PARTS;
    bool open = false; /* the last part may get more */
    double sum = 0;
    for (int i = 0, from = 0; i < s->fronts; ++i) {
        if (work[i] > large) { /* above the parts */
            from = i + 1;
            open = false;
            continue;
        }
        if (e->parent[i] >= 0 && work[e->parent[i]] <= large) continue;
        /* i is the root of a subtree from .. i */
        if (!open && s->parts < 2 * GA_FRONTS_PARTS) {
            s->part[s->parts++] = (part){.from = from};
            open = true;
            sum = 0;
        }
        from = i + 1;
        if (!open) continue;
        s->part[s->parts - 1].end = from;
        sum += work[i];
        open = sum < enough;
    }
    if (s->parts == 1) s->parts = 0;
}

/* The part of front i, or s->parts above them; *p: where to look, for fronts in their order. */
static int part_of(const solver *s, int i, int *p)
{
    while (*p < s->parts && s->part[*p].end <= i) ++*p;
    return *p < s->parts && s->part[*p].from <= i ? *p : s->parts;
}

static ga_status make_buffers(solver *s)
{
    int p = 0, most[2 * GA_FRONTS_PARTS + 1] = {0};
    for (int i = 0; i < s->fronts; ++i) {
        int *at = &most[part_of(s, i, &p)];
        if (s->front[i].ld > *at) *at = s->front[i].ld;
    }
    for (p = 0; p <= s->parts; ++p) {
        part *x = &s->part[p];
        const size_t ld = (size_t)most[p], size = ld * ld;
        x->memory = GA_NEW(double, 2 * size + 2 * ld + 8);
        if (!x->memory) return GA_ERR_MEMORY;
        x->buffer[0] = x->memory;
        x->buffer[1] = x->memory + size;
        x->z = x->memory + 2 * size;
    }
    return GA_OK;
}

static ga_status plan_parts(solver *s, const ga_elimination *e)
{
    s->part = GA_NEW(part, 2 * GA_FRONTS_PARTS + 1);
    if (!s->part) return GA_ERR_MEMORY;
    if (s->n >= GA_THREADS_FROM_UNKNOWNS) {
        double *work = GA_NEW(double, s->fronts);
        if (!work) return GA_ERR_MEMORY;
        choose_parts(s, e, work);
        ga_free(work);
    }
    s->part[s->parts].from = s->part[s->parts].end = s->fronts;
    return make_buffers(s);
}

/* The other unknowns of a part that are not in it, each once, get slots. */
static int count_slots(solver *s, const part *p, int slots, int *slot_of)
{
    const int end = s->front[p->end].first;
    for (int k = s->front[p->from].others; k < s->front[p->end].others; ++k) {
        const int number = s->others[k];
        if (number < end) continue;
        if (slot_of[number] < p->slots) {
            if (s->above) s->above[slots] = number;
            slot_of[number] = slots++;
        }
        if (s->above) s->others[k] = s->n + slot_of[number];
    }
    return slots;
}

/* From here on others are places in y. */
static ga_status plan_slots(solver *s)
{
    int *slot_of = GA_NEW(int, s->n);
    if (!slot_of) return GA_ERR_MEMORY;
    for (int pass = 0; pass < 2; ++pass) {
        for (int i = 0; i < s->n; ++i) slot_of[i] = -1;
        s->slots = 0;
        for (int p = 0; p < s->parts; ++p) {
            s->part[p].slots = s->slots;
            s->slots = count_slots(s, &s->part[p], s->slots, slot_of);
        }
        if (pass == 0 && !(s->above = GA_NEW(int, s->slots))) break;
    }
    ga_free(slot_of);
    if (!s->above) return GA_ERR_MEMORY;
    s->y = GA_NEW(double, (size_t)s->n + (size_t)s->slots);
    return s->y ? GA_OK : GA_ERR_MEMORY;
}

/* --- contribution blocks ------------------------------------------------------------------ */

static size_t contribution_size(const front *f)
{
    return (size_t)(f->m - f->k) * (size_t)(f->m - f->k);
}

/* Which fronts pass their contribution on, because the parent is next and in the same part, or
 * above as they are; and the others as children of their parents. */
static ga_status list_children(solver *s, const ga_elimination *e)
{
    s->child_start = GA_NEW(int, (size_t)s->fronts + 1);
    s->child = GA_NEW(int, s->fronts);
    if (!s->child_start || !s->child) return GA_ERR_MEMORY;
    for (int i = 0, p = 0; i < s->fronts; ++i) {
        const int own = part_of(s, i, &p);
        s->front[i].passes = e->parent[i] == i + 1 && part_of(s, i + 1, &p) == own;
    }
    for (int i = 0, count = 0; i < s->fronts; ++i) {
        for (int c = e->child_start[i]; c < e->child_start[i + 1]; ++c)
            if (!s->front[e->child[c]].passes) s->child[count++] = e->child[c];
        s->child_start[i + 1] = count;
    }
    return GA_OK;
}

/* Each part has a stack of its own, and so have the fronts above. A front takes its children of
 * the same stack off it, which are the last ones there. */
static ga_status plan_stack(solver *s)
{
    size_t base = 0;
    for (int own = 0; own <= s->parts; ++own) { /* the part, or those above */
        size_t top = base, deepest = base;
        for (int i = 0, p = 0; i < s->fronts; ++i) {
            if (part_of(s, i, &p) != own) continue;
            for (int c = s->child_start[i]; c < s->child_start[i + 1]; ++c) {
                const size_t at = s->front[s->child[c]].stack;
                if (at >= base && at < top) top = at;
            }
            if (s->front[i].passes) continue;
            s->front[i].stack = top;
            top += contribution_size(&s->front[i]);
            if (top > deepest) deepest = top;
        }
        base = deepest;
    }
    s->stack = GA_NEW(double, base);
    return s->stack ? GA_OK : GA_ERR_MEMORY;
}

/* Where the rows of a contribution block are in the parent: both lists ascend. */
static int plan_join(const solver *s, const front *f, const front *parent, join *list)
{
    int count = 0, p = 0;
    for (int i = 0; i < f->m - f->k; ++i) {
        const int number = s->others[f->others + i];
        int to = number - parent->first;
        if (to >= parent->k) {
            while (s->others[parent->others + p] != number) ++p;
            to = parent->k + p;
        }
        join *last = count > 0 ? list + count - 1 : NULL;
        if (last && last->to + last->count == to)
            ++last->count;
        else
            list[count++] = (join){i, to, 1};
    }
    return count;
}

static ga_status plan_joins(solver *s, const ga_elimination *e)
{
    int room = 0;
    for (int i = 0; i < s->fronts; ++i)
        if (s->front[i].m - s->front[i].k > room) room = s->front[i].m - s->front[i].k;
    join *list = GA_NEW(join, room);
    if (!list) return GA_ERR_MEMORY;
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < s->fronts; ++i) {
            front *f = &s->front[i];
            f->joins = count;
            if (e->parent[i] < 0) continue;
            const int joins = plan_join(s, f, &s->front[e->parent[i]], list);
            if (joins > INT_MAX - count) break;
            if (s->joins) memcpy(s->joins + count, list, (size_t)joins * sizeof *list);
            count += joins;
        }
        s->front[s->fronts].joins = count;
        if (pass == 0 && !(s->joins = GA_NEW(join, count))) break;
    }
    ga_free(list);
    return s->joins ? GA_OK : GA_ERR_MEMORY;
}

/* --- entries of the matrix ---------------------------------------------------------------- */

/* A run as far as the columns so far have it. */
typedef struct open_run {
    ga_fronts_run run;
    int front, number;
} open_run;

typedef struct entries {
    int *row, *col; /* of the matrix: its number in the order of elimination */
    int *front;     /* of each number */
    open_run *open; /* in this column and the last one, as many as the longest has entries */
    int room;       /* so many */
    ga_fronts_run *run; /* as columns have them, */
    int *owner;         /* the front of each, */
    ga_buckets runs;    /* and their order by fronts */
} entries;

static void destroy_entries(entries *x)
{
    void *memory[] = {x->row, x->col, x->front, x->open, x->run, x->owner};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_buckets_destroy(&x->runs);
}

static ga_status number_entries(const solver *s, entries *x)
{
    const ga_matrix *m = s->matrix;
    const int n = s->n;
    if (!(x->row = GA_NEW(int, n)) || !(x->col = GA_NEW(int, n)) ||
        !(x->front = GA_NEW(int, n)))
        return GA_ERR_MEMORY;
    for (int j = 0; j < n; ++j)
        if (m->colptr[j + 1] - m->colptr[j] > x->room)
            x->room = m->colptr[j + 1] - m->colptr[j];
    if (!(x->open = GA_NEW(open_run, 2 * (size_t)x->room))) return GA_ERR_MEMORY;
    for (int i = 0; i < n; ++i) x->row[s->row[i]] = x->col[s->col[i]] = i;
    for (int i = 0; i < s->fronts; ++i)
        for (int k = s->front[i].first; k < s->front[i + 1].first; ++k) x->front[k] = i;
    return GA_OK;
}

/* The row of front f that has this number: a pivot, or one of the others, which ascend. */
static int place_of(const solver *s, const front *f, int number)
{
    if (number < f[1].first) return number - f->first;
    int from = f->others, end = f[1].others;
    while (end - from > 1) {
        const int middle = from + (end - from) / 2;
        if (s->others[middle] <= number)
            from = middle;
        else
            end = middle;
    }
    return f->k + from - f->others;
}

/* The next run of column j, from slot *k on. An entry belongs to the front of its row or
 * column, whichever is eliminated first. */
static open_run next_run(const solver *s, const entries *x, int j, int *k)
{
    const int *rowind = s->matrix->rowind, col = x->col[j], first = *k;
    int row = x->row[rowind[first]];
    const int owner = x->front[row < col ? row : col];
    const front *f = &s->front[owner];
    const int down = place_of(s, f, row);
    while (++*k < s->matrix->colptr[j + 1]) {
        const int next = x->row[rowind[*k]];
        if (x->front[next < col ? next : col] != owner) break;
        if (next != row + 1 && place_of(s, f, next) != down + *k - first) break;
        row = next;
    }
    const int to = down + place_of(s, f, col) * f->ld;
    return (open_run){.run = {first, 0, to, (short)(*k - first), 1}, .front = owner};
}

/* Is r the next column of `last`? Then it becomes all of it. */
static bool extends(const solver *s, const open_run *last, open_run *r)
{
    ga_fronts_run run = last->run;
    if (r->front != last->front || r->run.rows != run.rows) return false;
    if (r->run.to != run.to + run.cols * s->front[r->front].ld) return false;
    if (run.cols == 1) run.stride = r->run.from - run.from;
    if (r->run.from != run.from + run.cols * run.stride) return false;
    ++run.cols;
    r->run = run;
    r->number = last->number;
    return true;
}

/* Lists runs, or only counts them while there is no room. Neighbouring columns have theirs in
 * the same order, so a few of the last column need to be looked at. */
static int find_runs(const solver *s, entries *x)
{
    enum { NEAR = 4 };
    const ga_matrix *m = s->matrix;
    int count = 0, before = 0;
    for (int j = 0; j < m->n; ++j) {
        const open_run *last = x->open + (j & 1 ? x->room : 0);
        open_run *own = x->open + (j & 1 ? 0 : x->room);
        int runs = 0, next = 0;
        for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++runs) {
            open_run r = next_run(s, x, j, &k);
            int p = next;
            while (p < before && p < next + NEAR && !extends(s, &last[p], &r)) ++p;
            if (p < before && p < next + NEAR)
                next = p + 1;
            else
                r.number = count++;
            own[runs] = r;
            if (!x->run) continue;
            x->run[r.number] = r.run;
            x->owner[r.number] = r.front;
        }
        before = runs;
    }
    return count;
}

static ga_status list_runs(solver *s, entries *x)
{
    GA_TRY(number_entries(s, x));
    const int count = find_runs(s, x);
    if (!(s->run = GA_NEW_WHOLE(ga_fronts_run, count)) ||
        !(x->owner = GA_NEW_WHOLE(int, count)) ||
        !(x->run = GA_NEW_WHOLE(ga_fronts_run, count)))
        return GA_ERR_MEMORY;
    find_runs(s, x);
    GA_TRY(ga_buckets_create(s->fronts, count, x->owner, NULL, &x->runs));
    for (int k = 0; k < count; ++k) s->run[k] = x->run[x->runs.item[k]];
    for (int i = 0; i <= s->fronts; ++i) s->front[i].runs = x->runs.start[i];
    return GA_OK;
}

static ga_status plan_runs(solver *s)
{
    entries x = {0};
    const ga_status status = list_runs(s, &x);
    destroy_entries(&x);
    return status;
}

/* --- all of it ---------------------------------------------------------------------------- */

static ga_status plan(solver *s, const ga_partition *p, ga_elimination *e)
{
    GA_TRY(ga_elimination_create(s->matrix, p, e));
    s->fronts = e->fronts;
    s->flops = e->flops;
    const bool memory = (s->front = GA_NEW(front, (size_t)s->fronts + 1)) &&
                        (s->row = GA_NEW(int, s->n)) && (s->col = GA_NEW(int, s->n)) &&
                        (s->swap = GA_NEW(int, s->n)) && (s->defect = GA_NEW(double, s->n));
    int *at = memory ? GA_NEW(int, e->blocks) : NULL;
    ga_status status = at ? number_unknowns(s, p, e, at) : GA_ERR_MEMORY;
    if (status == GA_OK) status = size_fronts(s, e, at);
    ga_free(at);
    if (status == GA_OK) status = plan_parts(s, e);
    if (status == GA_OK) status = list_children(s, e);
    if (status == GA_OK) status = plan_stack(s);
    if (status == GA_OK) status = plan_joins(s, e);
    if (status == GA_OK) status = plan_runs(s);
    return status == GA_OK ? plan_slots(s) : status;
}

ga_status ga_fronts_plan(ga_fronts *s, const ga_partition *partition)
{
    ga_elimination e = {0};
    const ga_status status = plan(s, partition, &e);
    ga_elimination_destroy(&e);
    return status;
}
