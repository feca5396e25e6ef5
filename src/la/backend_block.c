/* Block elimination of saddle matrices: the multifrontal method on the groups of a partition.
 *
 * elimination.c says which groups are eliminated in one piece, a front, and what each front
 * reaches. In the order of elimination the matrix of a front is
 *
 *     [ A  U ]   entries of the matrix that have a row or a column among the pivots,
 *     [ L  S ]   and what the children of the front have left over, their S
 *
 * front.c eliminates it and leaves its own S to its parent. The factors of all but the largest
 * are put in two places: what the way forward reads, and the way back. Everything is planned
 * when the factor is created: where each entry goes, where the S of a child belongs in its
 * parent, and where all of that lies. The S are on a stack, because a front comes right after
 * all that is below it.
 *
 * Threads. Subtrees of fronts that have no part in each other are parts of the work; what is
 * above them follows when all are done. The parts depend on the matrix only, each has a piece
 * of the stack, and in a solution a place of its own for what it adds to unknowns above it, so
 * the same numbers are added in the same order by any number of threads.
 *
 * Small fronts are solved with by the inverse of A (front_inverse.h) where it is conditioned
 * well enough for that; all others by substitution (front.h).
 *
 * Pivots are chosen inside A only. Whether that was good enough is seen afterwards: multipliers
 * above MULTIPLIER_LIMIT in L make one look at the growth, the largest |l| |u| by the largest
 * entry of the matrix, which bounds the backward error in units of round-off. Above
 * REFINE_LIMIT solutions are refined once, above GROWTH_LIMIT the factors are of no use. Then,
 * and where pivots vanish or nearly so, KLU takes the matrix; after a few times it keeps it.
 * Rows that depend on others have pivots as small as their regularisation (regular.c in
 * src/integrate), which is no fault.
 */
#include "base/memory.h"
#include "base/report.h"
#include "la/backend.h"
#include "la/buckets.h"
#include "la/elimination.h"
#include "la/front_chain.h"
#include "la/fronts.h"
#include "la/lists.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

typedef ga_fronts blocks;
typedef ga_front front;
typedef ga_fronts_part part;
typedef ga_fronts_run run;
typedef ga_fronts_join join;

/* So many times KLU does better, and it stays. */
enum { PATIENCE = 3 };

/* Larger fronts take so long to read that it does not matter where they begin. */
enum { PARTED_MOST = 4096 };

static void destroy(void *data)
{
    blocks *s = data;
    if (s->partner) s->partner->partner = NULL;
    if (s->borrowed) s->factors_memory = NULL;
    void *memory[] = {s->part,   s->above, s->part_memory, s->front,       s->child_start,
                      s->child,  s->row,   s->col,         s->others,      s->runs,
                      s->places, s->joins, s->wide_places, s->swap,        s->factors_memory,
                      s->stack,  s->y,     s->rhs,         s->defect,      s->owner,
                      s->summed, s->edge,  s->terms,       s->room.memory, s->room.shift,
                      s->window};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    if (s->klu) ga_backend_klu.destroy(s->klu);
    ga_free(s);
}

/* --- plan --------------------------------------------------------------------------------- */

/* Without a partition every unknown is a body of its own. */
static ga_status partition_singly(int n, ga_partition *p)
{
    GA_TRY(ga_partition_create(n, n, p));
    for (int i = 0; i < n; ++i) p->row_block[i] = p->col_block[i] = p->block_start[i] = i;
    p->block_start[n] = n;
    return GA_OK;
}

/* Numbers the unknowns in the order of elimination, block by block. at: the first number of
 * each block. */
static ga_status number_unknowns(blocks *s, const ga_partition *p, const ga_elimination *e,
                                 int *at)
{
    ga_buckets rows = {0}, cols = {0};
    ga_status status = ga_buckets_create(e->blocks, s->n, p->row_block, NULL, &rows);
    if (status == GA_OK) status = ga_buckets_create(e->blocks, s->n, p->col_block, NULL, &cols);
    int count = 0;
    for (int k = 0; status == GA_OK && k < e->blocks; ++k) {
        int b = e->block[k];
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

/* A place for the S of front i: where there is room below those of its children, or above
 * them, top. gap: where the room below a piece begins. */
static void place_on_stack(blocks *s, const ga_elimination *e, int i, size_t top, size_t *gap)
{
    front *f = &s->front[i];
    f->stack = gap[i] = top;
    if (e->child_start[i] == e->child_start[i + 1]) return;
    int first = e->child[e->child_start[i]];
    gap[i] = gap[first];
    if (gap[first] + ga_fronts_others_size(f) <= s->front[first].stack) f->stack = gap[first];
}

/* From a line of the cache on: fours of numbers lie in one line each then. */
static ga_status make_factors(blocks *s)
{
    enum { LINE = 64 };
    s->factors_memory = GA_NEW(double, s->factors_size + LINE / sizeof(double));
    if (!s->factors_memory) return GA_ERR_MEMORY;
    const size_t over = (uintptr_t)s->factors_memory % LINE;
    s->factors = s->factors_memory + (over ? LINE - over : 0) / sizeof(double);
    return GA_OK;
}

/* Places in the factors: the way forward, the way back in its order, and what is needed where
 * an inverse fails, which has no pages until then. Rows of fronts are swept from the last to
 * the first, and are in order. */
static void place_factors(blocks *s)
{
    size_t factors = 0;
    for (int i = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        f->at = factors;
        factors += f->inverse  ? ga_front_inverse_forth_size(f->k, f->r)
                   : f->parted ? ga_front_forth_size(f->k, f->r)
                               : ga_fronts_size(f);
    }
    for (int i = s->fronts - 1; i >= 0; --i) {
        front *f = &s->front[i];
        f->back = factors;
        if (f->parted) factors += ga_front_back_size(f->k, f->r);
    }
    for (int i = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        if (!f->inverse) continue;
        f->back = factors;
        factors += ga_front_inverse_back_size(f->k, f->r);
    }
    s->factors_used = factors;
    for (int i = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        f->spare = factors;
        if (f->inverse) factors += ga_fronts_size(f);
    }
    s->factors_size = factors;
}

static ga_status size_fronts(blocks *s, const ga_elimination *e, const int *at)
{
    int others = 0;
    for (int i = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        f->first = at[e->block[e->start[i]]];
        for (int k = e->start[i]; k < e->start[i + 1]; ++k) f->k += e->size[e->block[k]];
        for (int k = e->rest_start[i]; k < e->rest_start[i + 1]; ++k)
            f->r += e->size[e->rest[k]];
        if (f->k > INT_MAX / 4 / (f->k + 2 * f->r + 16)) return GA_ERR_MEMORY;
        if (f->r > INT_MAX - others) return GA_ERR_MEMORY;
        f->kernels = ga_front_kernels_get(f->k);
        if (f->k <= GA_FRONT_INVERSE_MOST && f->r <= GA_FRONT_INVERSE_OTHERS)
            f->inverse = ga_front_inverse_get(f->k, f->r);
        f->parted = !f->inverse && ga_fronts_size(f) <= PARTED_MOST;
        f->others = others;
        others += f->r;
    }
    place_factors(s);
    s->front[s->fronts].first = s->n;
    s->front[s->fronts].others = others;
    GA_TRY(make_factors(s));
    if (!(s->others = GA_NEW(int, others))) return GA_ERR_MEMORY;
    for (int i = 0, count = 0; i < s->fronts; ++i)
        for (int k = e->rest_start[i]; k < e->rest_start[i + 1]; ++k)
            for (int u = 0; u < e->size[e->rest[k]]; ++u)
                s->others[count++] = at[e->rest[k]] + u;
    return GA_OK;
}

/* --- parts */

/* Work of a front, and what comes with it. */
static double work_of(const front *f)
{
    const double k = f->k, r = f->r, overhead = 300;
    return k * (2 * k * k / 3 + 2 * k * r + 2 * r * r) + overhead;
}

/* Whole subtrees, in the order of fronts. Those with more than half of the work are taken
 * apart; those that follow each other are one part until it has an eighth. */
static void choose_parts(blocks *s, const ga_elimination *e, double *work)
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

/* The other unknowns of a part that are not in it, each once, get slots. */
static int count_slots(blocks *s, const part *p, int slots, int *slot_of)
{
    const int end = s->front[p->end].first;
    for (int k = s->front[p->from].others; k < s->front[p->end].others; ++k) {
        int number = s->others[k];
        if (number < end) continue;
        if (slot_of[number] < p->slots) {
            if (s->above) s->above[slots] = number;
            slot_of[number] = slots++;
        }
        if (s->above) s->others[k] = s->n + slot_of[number];
    }
    return slots;
}

static ga_status plan_slots(blocks *s)
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

static bool in_one_piece(const blocks *s, const front *f)
{
    const int *others = s->others + f->others;
    for (int k = 1; k < f->r; ++k)
        if (others[k] != others[0] + k) return false;
    return true;
}

static int reach_of(const blocks *s, const front *f)
{
    int end = f->first + f->k;
    for (int k = f->others; k < f->others + f->r; ++k)
        if (s->others[k] < s->n && s->others[k] >= end) end = s->others[k] + 1;
    return end - f->first;
}

/* Fronts of one shape that follow each other in a part, or between parts. */
static void plan_rows(blocks *s)
{
    for (int i = 0, from = 0, p = 0; i < s->fronts; ++i) {
        front *f = &s->front[i];
        f->reach = reach_of(s, f);
        while (s->part[p].end <= i && p < s->parts) ++p;
        const bool border = i == s->part[p].from || (p > 0 && i == s->part[p - 1].end);
        if (!f->inverse || !in_one_piece(s, f)) {
            from = i + 1;
            continue;
        }
        if (border || s->front[from].k != f->k || s->front[from].r != f->r) from = i;
        f->row_from = from;
        if (i > from && f->reach < f[-1].reach) f->reach = f[-1].reach;
    }
    for (int i = s->fronts - 1; i >= 0; --i) {
        front *f = &s->front[i];
        if (!f->inverse || !in_one_piece(s, f)) continue;
        const bool last = i + 1 == s->fronts || f[1].row_from != f->row_from;
        f->row_end = last ? i + 1 : f[1].row_end;
        if (!last) f->reach = f[1].reach;
    }
}

/* Small systems stay in one piece: to wake a thread takes longer. */
static ga_status plan_parts(blocks *s, const ga_elimination *e)
{
    s->part = GA_NEW(part, 2 * GA_FRONTS_PARTS + 1);
    if (!s->part) return GA_ERR_MEMORY;
    if (s->n >= GA_ELIMINATION_LARGE) {
        double *work = GA_NEW(double, s->fronts);
        if (!work) return GA_ERR_MEMORY;
        choose_parts(s, e, work);
        ga_free(work);
    }
    int largest = 0, most_pivots = GA_FRONT_INVERSE_MOST * GA_FRONT_INVERSE_OTHERS / 4;
    size_t moved = 0;
    for (int i = 0; i < s->fronts; ++i) {
        const size_t size = ga_fronts_size(&s->front[i]);
        if (ga_fronts_is_moved(&s->front[i]) && size > moved) moved = size;
        if (s->front[i].r > largest) largest = s->front[i].r;
        if (s->front[i].k > most_pivots) most_pivots = s->front[i].k;
    }
    /* apart by a line of the cache at least */
    const size_t t = (size_t)ga_front_padded(largest) + 8, work = 4 * (size_t)most_pivots + 8,
                 room = t + work + 2 * (moved + 8);
    s->part_memory = GA_NEW(double, room *((size_t)s->parts + 1));
    if (!s->part_memory) return GA_ERR_MEMORY;
    for (int p = 0; p <= s->parts; ++p) {
        s->part[p].t = s->part_memory + (size_t)p * room;
        s->part[p].work = s->part[p].t + t;
        s->part[p].room[0] = s->part[p].work + work;
        s->part[p].room[1] = s->part[p].room[0] + moved + 8;
    }
    s->part[s->parts].from = s->part[s->parts].end = s->fronts;
    return GA_OK;
}

static ga_status plan_stack(blocks *s, const ga_elimination *e)
{
    size_t depth = 0, *gap = GA_NEW(size_t, s->fronts);
    if (!gap) return GA_ERR_MEMORY;
    for (int i = 0, p = 0; i < s->fronts; ++i) {
        /* the last piece is that of the last child, or of another front that waits */
        size_t top =
            i > 0 ? s->front[i - 1].stack + ga_fronts_others_size(&s->front[i - 1]) : 0;
        if (p < s->parts && s->part[p].from == i) {
            top = depth; /* of its own */
            ++p;
        }
        place_on_stack(s, e, i, top, gap);
        size_t end = s->front[i].stack + ga_fronts_others_size(&s->front[i]);
        if (end > depth) depth = end;
    }
    ga_free(gap);
    s->stack = GA_NEW(double, depth);
    return s->stack ? GA_OK : GA_ERR_MEMORY;
}

/* Where the rows of a front are in its parent: both lists ascend. Adds to the last join where
 * it goes on; pivots of the parent and its others are apart. */
static int plan_join(const blocks *s, const front *f, const front *parent, join *list)
{
    int count = 0, p = 0;
    for (int i = 0; i < f->r; ++i) {
        int number = s->others[f->others + i], to = number - parent->first;
        if (to >= parent->k) {
            while (s->others[parent->others + p] != number) ++p;
            to = parent->k + p;
        }
        join *last = count > 0 ? list + count - 1 : NULL;
        if (last && last->to + last->count == to && to != parent->k)
            ++last->count;
        else
            list[count++] = (join){i, to, 1};
    }
    return count;
}

static ga_status plan_joins(blocks *s, const ga_elimination *e)
{
    int room = 0;
    for (int i = 0; i < s->fronts; ++i)
        if (s->front[i].r > room) room = s->front[i].r;
    join *list = GA_NEW(join, room);
    if (!list) return GA_ERR_MEMORY;
    double total = 0;
    for (int pass = 0; pass < 2; ++pass) {
        int count = 0;
        for (int i = 0; i < s->fronts; ++i) {
            front *f = &s->front[i];
            f->joins = count;
            if (e->parent[i] < 0) continue;
            int joins = plan_join(s, f, &s->front[e->parent[i]], list);
            total += pass == 0 ? joins : 0;
            if (total > INT_MAX) break;
            if (s->joins) memcpy(s->joins + count, list, (size_t)joins * sizeof *list);
            count += joins;
        }
        s->front[s->fronts].joins = count;
        if (pass == 0) s->joins = total > INT_MAX ? NULL : GA_NEW(join, count);
        if (!s->joins) break;
    }
    ga_free(list);
    return s->joins ? GA_OK : GA_ERR_MEMORY;
}

typedef struct entries {
    int *row_number, *col_number; /* of the matrix's rows and columns */
    int *row_front, *col_front;   /* of the same */
    int *local;                   /* of each number: its row in the front at hand */
    int *at;                      /* of each front: runs, then where the next one goes */
    int *last;                    /* of each front: the entry after its last so far */
    int *col;                     /* of each run: the column it begins in */
    int *seen;                    /* of each window: 1 + the last front that has it */
    int windows, window_room;     /* in the lists of fronts */
} entries;

static void destroy_entries(entries *x)
{
    ga_free(x->row_number);
    ga_free(x->col_number);
    ga_free(x->row_front);
    ga_free(x->col_front);
    ga_free(x->local);
    ga_free(x->at);
    ga_free(x->last);
    ga_free(x->col);
    ga_free(x->seen);
}

static ga_status create_entries(const blocks *s, entries *x)
{
    const size_t fronts = (size_t)s->fronts;
    bool memory = (x->row_number = GA_NEW(int, s->n)) && (x->col_number = GA_NEW(int, s->n)) &&
                  (x->row_front = GA_NEW(int, s->n)) && (x->col_front = GA_NEW(int, s->n)) &&
                  (x->local = GA_NEW(int, s->n)) && (x->at = GA_NEW(int, fronts + 1)) &&
                  (x->last = GA_NEW(int, fronts)) &&
                  (x->seen = GA_NEW(int, s->matrix->windows));
    if (!memory) return GA_ERR_MEMORY;
    for (int i = 0; i < s->n; ++i) {
        x->row_number[s->row[i]] = i;
        x->col_number[s->col[i]] = i;
    }
    for (int i = 0; i < s->fronts; ++i)
        for (int k = s->front[i].first; k < s->front[i + 1].first; ++k)
            x->row_front[s->row[k]] = x->col_front[s->col[k]] = i;
    return GA_OK;
}

static int earlier(int a, int b) { return a < b ? a : b; }

/* An entry belongs to the front of that one of its pivots which comes first. Counts the runs of
 * all fronts, or puts them where they belong; runs go on over columns, not over segments. */
static void gather_runs(const blocks *s, entries *x)
{
    const ga_matrix *m = s->matrix;
    for (int j = 0, segment = 0, border = 0; j < m->n; ++j) {
        const int col = x->col_front[j], last = m->colptr[j + 1];
        const bool begins = j == border; /* a segment of the matrix */
        while (border <= j) border = ga_matrix_segment_start(m, ++segment);
        for (int k = m->colptr[j], end = k; end < last; k = end) {
            const int f = earlier(x->row_front[m->rowind[k]], col);
            for (++end; end < last && earlier(x->row_front[m->rowind[end]], col) == f;) ++end;
            const bool goes_on = k > 0 && x->last[f] == k && !begins;
            x->last[f] = end;
            if (!s->runs) {
                x->at[f] += !goes_on;
            } else if (goes_on) {
                s->runs[x->at[f] - 1].count += end - k;
            } else {
                s->runs[x->at[f]] = (run){k, end - k};
                x->col[x->at[f]++] = j;
            }
        }
    }
}

/* Runs, front by front; the most entries of one. */
static ga_status sort_entries(blocks *s, entries *x, int *most)
{
    GA_TRY(create_entries(s, x));
    gather_runs(s, x);
    int count = 0;
    for (int i = 0; i <= s->fronts; ++i) {
        const int runs = x->at[i];
        s->front[i].runs = x->at[i] = count;
        count += runs;
    }
    s->runs = GA_NEW_WHOLE(run, count);
    x->col = GA_NEW_WHOLE(int, count);
    if (!s->runs || !x->col) return GA_ERR_MEMORY;
    memset(x->last, 0, (size_t)s->fronts * sizeof *x->last);
    gather_runs(s, x);
    *most = 0;
    for (int i = 0; i < s->fronts; ++i) {
        int entries_count = 0;
        for (int e = s->front[i].runs; e < s->front[i + 1].runs; ++e)
            entries_count += s->runs[e].count;
        if (entries_count > *most) *most = entries_count;
    }
    return GA_OK;
}

/* Where row a and column b of a front lie in its memory. */
static int place(const front *f, int a, int b)
{
    const int k = f->k, k4 = ga_front_padded(k), r4 = ga_front_padded(f->r);
    if (b >= k) return k * k4 + k * r4 + (b - k) + a * r4;
    return a < k ? a + b * k4 : k * k4 + (a - k) + b * r4;
}

/* Room for one more list, of all windows at most. */
static ga_status make_room_for_windows(blocks *s, entries *x)
{
    const int most = s->matrix->windows;
    if (x->window_room - x->windows >= most) return GA_OK;
    if (x->window_room > (INT_MAX - most) / 2) return GA_ERR_MEMORY;
    const int room = 2 * x->window_room + most;
    int *list = GA_NEW(int, room);
    if (!list) return GA_ERR_MEMORY;
    if (s->window) memcpy(list, s->window, (size_t)x->windows * sizeof *list);
    ga_free(s->window);
    s->window = list;
    x->window_room = room;
    return GA_OK;
}

/* Column j is in the list of front i. */
static void see_column(const blocks *s, entries *x, int i, int j)
{
    const int window = ga_matrix_window(s->matrix, j), first = s->front[i].windows;
    if (x->seen[window] == i + 1) return;
    x->seen[window] = i + 1;
    int k = x->windows++;
    for (; k > first && s->window[k - 1] > window; --k) s->window[k] = s->window[k - 1];
    s->window[k] = window;
}

/* Places of the entries of front i, and the windows that these and the columns of its pivots
 * are in; how many they are. */
static int list_places(const blocks *s, entries *x, int i, int *list)
{
    const ga_matrix *m = s->matrix;
    front *f = &s->front[i];
    int count = 0;
    f->windows = x->windows;
    for (int k = 0; k < f->k; ++k) {
        x->local[f->first + k] = k;
        see_column(s, x, i, s->col[f->first + k]);
    }
    for (int k = 0; k < f->r; ++k) x->local[s->others[f->others + k]] = f->k + k;
    for (int e = f->runs; e < f[1].runs; ++e) {
        const run r = s->runs[e];
        for (int k = r.from, j = x->col[e]; k < r.from + r.count; ++j) {
            const int col = x->local[x->col_number[j]], last = r.from + r.count;
            const int end = m->colptr[j + 1] < last ? m->colptr[j + 1] : last;
            see_column(s, x, i, j);
            for (; k < end; ++k)
                list[count++] = place(f, x->local[x->row_number[m->rowind[k]]], col);
        }
    }
    return count;
}

/* The lists of places, in short numbers where all fit, and where in them those of each front
 * begin. */
static ga_status keep_places(blocks *s, const ga_lists *lists)
{
    const int count = lists->count ? lists->start[lists->count] : 0;
    bool wide = false;
    for (int i = 0; i < s->fronts; ++i) wide |= ga_fronts_size(&s->front[i]) > USHRT_MAX;
    if (wide)
        s->wide_places = GA_NEW(int, count);
    else
        s->places = GA_NEW(unsigned short, count);
    if (!s->places && !s->wide_places) return GA_ERR_MEMORY;
    for (int k = 0; k < count; ++k)
        if (wide)
            s->wide_places[k] = lists->item[k];
        else
            s->places[k] = (unsigned short)lists->item[k];
    for (int i = 0; i < s->fronts; ++i) s->front[i].places = lists->start[s->front[i].places];
    return GA_OK;
}

/* Fronts of like parts have the same places, which are kept once. */
static ga_status plan_places(blocks *s)
{
    entries x = {0};
    ga_lists lists = {0};
    int most = 0, *list = NULL;
    ga_status status = sort_entries(s, &x, &most);
    if (status == GA_OK && !(list = GA_NEW(int, most))) status = GA_ERR_MEMORY;
    for (int i = 0; status == GA_OK && i < s->fronts; ++i) {
        status = make_room_for_windows(s, &x);
        if (status != GA_OK) break;
        const int count = list_places(s, &x, i, list);
        status = ga_lists_add(&lists, count, list, &s->front[i].places);
    }
    s->front[s->fronts].windows = x.windows;
    destroy_entries(&x);
    ga_free(list);
    if (status == GA_OK) status = keep_places(s, &lists);
    ga_lists_destroy(&lists);
    return status;
}

/* Whether front i goes on with the chain that front i - 1 is in, or may begin one with it. */
static bool in_chain(const blocks *s, const ga_elimination *e, int i)
{
    const front *f = &s->front[i], *child = f - 1;
    const join *j = s->joins + child->joins;
    return e->child_start[i + 1] - e->child_start[i] == 1 && e->parent[i - 1] == i &&
           child->r == f->r && f->joins - child->joins == 1 && j->to + j->count <= f->k &&
           f->inverse && ga_front_chain_get(f->k, f->r, j->to);
}

/* Chains of fronts in parts, or between them. */
static void plan_chains(blocks *s, const ga_elimination *e)
{
    int p = s->parts;
    for (int i = s->fronts - 1; i > 0 && s->places; --i) {
        front *f = &s->front[i];
        while (p > 0 && s->part[p - 1].from > i) --p;
        const bool border = p > 0 && (i == s->part[p - 1].from || i == s->part[p - 1].end);
        if (border || !in_chain(s, e, i)) continue;
        const bool goes_on = f[1].chain && f[1].k == f->k && f[1].r == f->r &&
                             s->joins[f->joins].to == s->joins[f[-1].joins].to;
        f->chain = goes_on ? f[1].chain : i + 1;
    }
}

static ga_status plan(blocks *s, const ga_partition *p, ga_elimination *e)
{
    GA_TRY(ga_elimination_create(s->matrix, p, e));
    s->fronts = e->fronts;
    s->flops = e->flops;
    bool memory = (s->front = GA_NEW(front, (size_t)s->fronts + 1)) &&
                  (s->row = GA_NEW(int, s->n)) && (s->col = GA_NEW(int, s->n)) &&
                  (s->swap = GA_NEW(int, s->n)) && (s->rhs = GA_NEW(double, s->n)) &&
                  (s->defect = GA_NEW(double, s->n));
    int *at = memory ? GA_NEW(int, e->blocks) : NULL;
    ga_status status = at ? number_unknowns(s, p, e, at) : GA_ERR_MEMORY;
    if (status == GA_OK) status = size_fronts(s, e, at);
    ga_free(at);
    if (status == GA_OK) status = plan_parts(s, e);
    if (status == GA_OK) status = plan_stack(s, e);
    if (status == GA_OK) status = plan_joins(s, e);
    if (status == GA_OK) status = plan_places(s);
    if (status == GA_OK) status = ga_fronts_plan_sum(s);
    if (status == GA_OK) status = plan_slots(s); /* from here others are places in y */
    if (status == GA_OK) plan_rows(s);
    if (status == GA_OK) plan_chains(s, e);
    s->child_start = e->child_start, e->child_start = NULL;
    s->child = e->child, e->child = NULL;
    return status;
}

static ga_status create(const ga_matrix *matrix, const ga_partition *partition, ga_pool *pool,
                        void **data)
{
    if (matrix->full) return GA_ERR_ARGUMENT;
    blocks *s = GA_NEW(blocks, 1);
    if (!s) return GA_ERR_MEMORY;
    s->matrix = matrix;
    s->pool = pool;
    s->n = matrix->n;
    ga_partition single = {0};
    ga_elimination e = {0};
    ga_status status = partition ? GA_OK : partition_singly(matrix->n, &single);
    if (status == GA_OK) status = plan(s, partition ? partition : &single, &e);
    ga_elimination_destroy(&e);
    ga_partition_destroy(&single);
    if (status == GA_OK)
        *data = s;
    else
        destroy(s);
    return status;
}

/* --- factorisation and solution ----------------------------------------------------------- */

/* A matrix is singular only if KLU says so. It has done better if its pivots are larger. */
static ga_status factor_by_klu(blocks *s, const ga_matrix *matrix, double *rcond, int *column)
{
    if (!s->klu) GA_TRY(ga_backend_klu.create(matrix, NULL, NULL, &s->klu));
    double before = *rcond;
    s->use_klu = true;
    GA_TRY(ga_backend_klu.numeric(s->klu, matrix, rcond, column));
    if (*rcond > 100 * before) ++s->failures;
    return GA_OK;
}

static ga_status numeric(void *data, const ga_matrix *matrix, double *rcond, int *column)
{
    blocks *s = data;
    if (!ga_fronts_look(s)) return GA_ERR_SINGULAR;
    if (s->failures < PATIENCE) {
        s->use_klu = false;
        if (ga_fronts_factor(s, rcond, column)) return GA_OK;
    }
    return factor_by_klu(s, matrix, rcond, column);
}

static ga_status numeric_sum(void *data, const ga_matrix_total *total, double *rcond,
                             int *column)
{
    blocks *s = data;
    if (s->failures >= PATIENCE || !ga_fronts_may_sum(s)) {
        ga_matrix_sum(total);
        return numeric(data, total->matrix, rcond, column);
    }
    s->use_klu = false;
    s->sum = total;
    if (ga_fronts_may_pass(s)) {
        ga_fronts_remember(s, total);
        s->sum = &s->last;
    }
    if (ga_fronts_factor(s, rcond, column)) return GA_OK;
    ga_fronts_bring_back(s);
    return ga_fronts_look(s) ? factor_by_klu(s, total->matrix, rcond, column) : GA_ERR_SINGULAR;
}

static void forget(void *data)
{
    blocks *s = data;
    s->failures = 0;
    if (s->klu && ga_backend_klu.forget) ga_backend_klu.forget(s->klu);
}

static void solve_once(blocks *s, double *x)
{
    s->from = s->to = x;
    s->from_scale = s->to_scale = NULL;
    ga_fronts_solve(s);
}

static void solve_refined(blocks *s, double *x)
{
    ga_fronts_bring_back(s);
    memcpy(s->rhs, x, (size_t)s->n * sizeof *x);
    solve_once(s, x);
    memcpy(s->defect, s->rhs, (size_t)s->n * sizeof *x);
    ga_matrix_multiply(s->matrix, -1, x, s->defect);
    solve_once(s, s->defect);
    for (int i = 0; i < s->n; ++i) x[i] += s->defect[i];
}

/* Factors that the partner has overwritten are made anew; it went well before. */
static void regain(blocks *s)
{
    double rcond;
    int column;
    if (!s->lost) return;
    if (s->passed) s->sum = &s->last;
    ga_fronts_factor(s, &rcond, &column);
}

static void solve(void *data, double *x)
{
    blocks *s = data;
    if (!s->use_klu) regain(s);
    if (s->use_klu)
        ga_backend_klu.solve(s->klu, x);
    else if (s->refine)
        solve_refined(s, x);
    else
        solve_once(s, x);
}

static void solve_rough(void *data, double *x)
{
    blocks *s = data;
    if (!s->use_klu) regain(s);
    if (s->use_klu || s->refine_rough)
        solve(s, x);
    else
        solve_once(s, x);
}

static void solve_between(blocks *s, bool rough, const double *row, const double *rhs,
                          const double *col, double *x)
{
    if (!s->use_klu) regain(s);
    if (!s->use_klu && !(rough ? s->refine_rough : s->refine)) {
        s->from = rhs, s->from_scale = row;
        s->to = x, s->to_scale = col;
        ga_fronts_solve(s);
        return;
    }
    for (int i = 0; i < s->n; ++i) x[i] = rhs[i] * row[i];
    (rough ? solve_rough : solve)(s, x);
    for (int i = 0; i < s->n; ++i) x[i] *= col[i];
}

static void solve_scaled(void *data, const double *row, const double *rhs, const double *col,
                         double *x)
{
    solve_between(data, false, row, rhs, col, x);
}

static void solve_scaled_rough(void *data, const double *row, const double *rhs,
                               const double *col, double *x)
{
    solve_between(data, true, row, rhs, col, x);
}

static ga_status share(void *data, void *lender)
{
    blocks *s = data, *other = lender;
    if (!other && !s->borrowed) return GA_OK;
    if (other && (s->partner || other->partner || other->factors_size < s->factors_size))
        return GA_OK;
    if (other) {
        ga_free(s->factors_memory); /* nothing was written there yet; but soon to the other's */
        ga_take_pages(other->factors, other->factors_used * sizeof *other->factors);
        s->factors_memory = other->factors_memory;
        s->factors = other->factors;
    } else {
        GA_TRY(make_factors(s));
        if (s->partner) s->partner->partner = NULL;
    }
    s->partner = other;
    s->borrowed = other != NULL;
    s->lost = true; /* if it ever had any */
    if (other) other->partner = s;
    return GA_OK;
}

static double *lend(void *data)
{
    blocks *s = data;
    if (!ga_fronts_may_pass(s) || s->failures >= PATIENCE) return NULL;
    if (s->partner) s->partner->lost = true;
    s->lost = true;
    return s->factors;
}

static double operations(const void *data) { return ((const blocks *)data)->flops; }

static void use(void *data, ga_pool *pool) { ((blocks *)data)->pool = pool; }

const ga_backend ga_backend_block = {
    .name = "block",
    .looks = true,
    .create = create,
    .destroy = destroy,
    .use = use,
    .numeric = numeric,
    .numeric_sum = numeric_sum,
    .solve = solve,
    .solve_rough = solve_rough,
    .solve_scaled = solve_scaled,
    .solve_scaled_rough = solve_scaled_rough,
    .forget = forget,
    .operations = operations,
    .share = share,
    .lend = lend,
};
