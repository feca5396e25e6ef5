/* The graph of a saddle matrix.
 *
 * Graph. Blocks of unknowns are joined where the matrix, or its transpose, has an entry. To
 * eliminate a group joins all blocks it reaches; instead of these edges the quotient graph has
 * an `element`, the list of them. A block names its neighbours as they were in the beginning: a
 * name that has been eliminated stands for the element it has become part of (`into`), so the
 * lists of a hub with thousands of neighbours need no update.
 *
 * Hubs. A block with very many neighbours goes last and gets no updates; they would make the
 * work quadratic.
 *
 * Halves. The order in a long chain goes from one end to the other, and two threads would have
 * nothing to share. So in a large graph a breadth-first level goes last as a separator where it
 * divides the rest in two: bodies, with all of their constraints, because pivots are stable
 * only where no half has a constraint without its bodies. */
#include "la/block/graph.h"

#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"
#include "la/block/tree.h"

#include <math.h>
#include <string.h>

typedef ga_graph graph;

/* Unknowns that may go last to make halves. */
enum { SEPARATOR_MOST = 64 };

void ga_graph_destroy(ga_graph *g)
{
    void *memory[] = {g->group,        g->size,         g->start,         g->length,
                      g->list,         g->hub,          g->of_body_start, g->of_body,
                      g->bodies_start, g->bodies,       g->bodies_left,   g->serves,
                      g->cluster,      g->open,         g->depth,         g->into,
                      g->gone,         g->element_step, g->weight,        g->beyond,
                      g->seen,         g->seen_beyond,  g->seen_group,    g->marked,
                      g->marked_group, g->order,        g->reach_start,   g->reach,
                      g->heap,         g->place,        g->degree};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
}

/* --- the graph ---------------------------------------------------------------------------- */

static ga_status create_blocks(const ga_matrix *m, graph *g)
{
    g->group = GA_NEW(int, g->blocks);
    g->size = GA_NEW(int, g->blocks);
    g->seen = GA_NEW(int, g->blocks);
    if (!g->group || !g->size || !g->seen) return GA_ERR_MEMORY;
    for (int i = 0; i < g->groups; ++i)
        for (int b = ga_graph_first(g, i); b < ga_graph_end(g, i); ++b) g->group[b] = i;
    for (int j = 0; j < m->n; ++j) ++g->size[g->partition->col_block[j]];
    return GA_OK;
}

/* Pairs (row block, column block) that have an entry, each once, by column blocks; counts them
 * if row is null. */
static int list_pairs(const ga_matrix *m, graph *g, const ga_buckets *columns, int *row,
                      int *col)
{
    int count = 0;
    for (int b = 0; b < g->blocks; ++b) {
        ++g->stamp;
        for (int c = columns->start[b]; c < columns->start[b + 1]; ++c) {
            int j = columns->item[c];
            for (int k = m->colptr[j]; k < m->colptr[j + 1]; ++k) {
                int a = g->partition->row_block[m->rowind[k]];
                if (g->seen[a] == g->stamp) continue;
                g->seen[a] = g->stamp;
                if (row) row[count] = a, col[count] = b;
                ++count;
            }
        }
    }
    return count;
}

/* Neighbours both ways, each once. */
static ga_status join_neighbours(graph *g, int pairs, const int *row, const int *col)
{
    ga_buckets by_row = {0}, by_col = {0};
    ga_status status = ga_buckets_create(g->blocks, pairs, row, NULL, &by_row);
    if (status == GA_OK) status = ga_buckets_create(g->blocks, pairs, col, NULL, &by_col);
    g->start = GA_NEW(int, (size_t)g->blocks + 1);
    g->length = GA_NEW(int, g->blocks);
    g->list = GA_NEW(int, 2 * (size_t)pairs);
    if (!g->start || !g->length || !g->list) status = GA_ERR_MEMORY;
    for (int b = 0, end = 0; status == GA_OK && b < g->blocks; ++b) {
        g->seen[b] = ++g->stamp;
        g->start[b] = end;
        for (int way = 0; way < 2; ++way) {
            const ga_buckets *by = way ? &by_row : &by_col;
            const int *other = way ? col : row;
            for (int k = by->start[b]; k < by->start[b + 1]; ++k) {
                int a = other[by->item[k]];
                if (g->seen[a] == g->stamp) continue;
                g->seen[a] = g->stamp;
                g->list[end++] = a;
            }
        }
        g->length[b] = end - g->start[b];
        g->start[b + 1] = end;
    }
    ga_buckets_destroy(&by_row);
    ga_buckets_destroy(&by_col);
    return status;
}

/* Bodies of each constraint, from entries of its rows, each once. */
static ga_status join_bodies(graph *g, int pairs, const int *row, const int *col)
{
    int count = 0;
    for (int k = 0; k < pairs; ++k)
        count += g->partition->constraint[g->group[row[k]]] &&
                 !g->partition->constraint[g->group[col[k]]];
    int *constraint = GA_NEW(int, count), *body = GA_NEW(int, count);
    ga_buckets to = {0}, from = {0};
    ga_status status = constraint && body ? GA_OK : GA_ERR_MEMORY;
    int *last = g->seen_group; /* the last body of each constraint so far; bodies ascend */
    count = 0;
    for (int k = 0; status == GA_OK && k < pairs; ++k) {
        int c = g->group[row[k]], b = g->group[col[k]];
        if (!g->partition->constraint[c] || g->partition->constraint[b] || last[c] == b + 1)
            continue;
        last[c] = b + 1;
        constraint[count] = c, body[count++] = b;
    }
    if (status == GA_OK) status = ga_buckets_create(g->groups, count, body, NULL, &to);
    if (status == GA_OK) status = ga_buckets_create(g->groups, count, constraint, NULL, &from);
    for (int k = 0; status == GA_OK && k < count; ++k) {
        to.item[k] = constraint[to.item[k]];
        from.item[k] = body[from.item[k]];
    }
    for (int i = 0; status == GA_OK && i < g->groups; ++i) {
        g->bodies_left[i] = from.start[i + 1] - from.start[i];
        last[i] = 0;
    }
    g->of_body_start = to.start, g->of_body = to.item;
    g->bodies_start = from.start, g->bodies = from.item;
    ga_free(constraint);
    ga_free(body);
    return status;
}

static void find_hubs(graph *g)
{
    const double many = fmax(64, 10 * sqrt(g->blocks));
    for (int b = 0; b < g->blocks; ++b) g->hub[b] = g->length[b] > many;
}

ga_status ga_graph_create(const ga_matrix *m, ga_graph *g)
{
    GA_TRY(create_blocks(m, g));
    size_t blocks = (size_t)g->blocks, groups = (size_t)g->groups;
    bool memory = (g->hub = GA_NEW(bool, blocks)) && (g->bodies_left = GA_NEW(int, groups)) &&
                  (g->serves = GA_NEW(bool, groups)) && (g->cluster = GA_NEW(int, groups)) &&
                  (g->open = GA_NEW(int, groups)) && (g->marked_group = GA_NEW(int, groups)) &&
                  (g->depth = GA_NEW(int, groups)) && (g->into = GA_NEW(int, blocks)) &&
                  (g->gone = GA_NEW(bool, blocks)) && (g->element_step = GA_NEW(int, blocks)) &&
                  (g->weight = GA_NEW(int, blocks)) && (g->beyond = GA_NEW(int, blocks)) &&
                  (g->seen_beyond = GA_NEW(int, blocks)) && (g->marked = GA_NEW(int, blocks)) &&
                  (g->seen_group = GA_NEW(int, groups)) && (g->order = GA_NEW(int, groups)) &&
                  (g->reach_start = GA_NEW(int, groups + 1)) &&
                  (g->heap = GA_NEW(int, groups)) && (g->place = GA_NEW(int, groups)) &&
                  (g->degree = GA_NEW(int, groups));
    if (!memory) return GA_ERR_MEMORY;
    ga_buckets columns = {0};
    GA_TRY(ga_buckets_create(g->blocks, m->n, g->partition->col_block, NULL, &columns));
    int pairs = list_pairs(m, g, &columns, NULL, NULL);
    int *row = GA_NEW(int, pairs), *col = GA_NEW(int, pairs);
    ga_status status = row && col ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK) list_pairs(m, g, &columns, row, col);
    ga_buckets_destroy(&columns);
    if (status == GA_OK) status = join_neighbours(g, pairs, row, col);
    if (status == GA_OK) status = join_bodies(g, pairs, row, col);
    ga_free(row);
    ga_free(col);
    if (status == GA_OK) find_hubs(g);
    return status;
}

/* --- halves ------------------------------------------------------------------------------- */

static int group_weight(const graph *g, int group)
{
    int weight = 0;
    for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b)
        weight += g->size[b];
    return weight;
}

/* Groups by breadth-first levels from the first, level[group] from 1; other components follow.
 * Edges between two constraints are skipped: constraints are neighbours through bodies. */
static void list_levels(const graph *g, int first, int *list, int *level)
{
    int end = 0;
    memset(level, 0, (size_t)g->groups * sizeof *level);
    for (int i = -1; i < g->groups; ++i) {
        const int root = i < 0 ? first : i;
        if (level[root]) continue;
        int done = end;
        level[root] = end > 0 ? level[list[end - 1]] + 1 : 1;
        for (list[end++] = root; done < end; ++done) {
            const int group = list[done];
            for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b)
                for (int k = g->start[b]; k < g->start[b] + g->length[b]; ++k) {
                    const int other = g->group[g->list[k]];
                    const bool pair =
                        g->partition->constraint[group] && g->partition->constraint[other];
                    if (level[other] || pair) continue;
                    level[other] = level[group] + 1;
                    list[end++] = other;
                }
        }
    }
}

/* Unknowns of groups from .. end-1 in the list, which make a level, and of the constraints that
 * go last with the bodies among them. */
static int separator_weight(const graph *g, const int *list, int from, int end)
{
    int weight = 0;
    for (; from < end && weight <= SEPARATOR_MOST; ++from) {
        const int group = list[from];
        weight += group_weight(g, group);
        for (int k = g->of_body_start[group]; k < g->of_body_start[group + 1]; ++k)
            weight += group_weight(g, g->of_body[k]);
    }
    return weight;
}

static void put_last(graph *g, int group)
{
    for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b) g->hub[b] = true;
}

/* The level of bodies that divides n unknowns best goes last, with the constraints of its
 * bodies, if it is small and neither half has less than a quarter. */
static void cut_between_levels(graph *g, int n, const int *list, const int *level)
{
    int best = -1, best_end = -1, least = n / 4, before = 0;
    for (int from = 0, end; from < g->groups; from = end) {
        int own = 0;
        bool bodies = true;
        for (end = from; end < g->groups && level[list[end]] == level[list[from]]; ++end) {
            own += group_weight(g, list[end]);
            bodies = bodies && !g->partition->constraint[list[end]];
        }
        const int after = n - before - own, smaller = before < after ? before : after;
        before += own;
        if (smaller <= least || !bodies) continue;
        if (separator_weight(g, list, from, end) > SEPARATOR_MOST) continue;
        least = smaller, best = from, best_end = end;
    }
    for (; best < best_end; ++best) {
        const int body = list[best];
        put_last(g, body);
        for (int k = g->of_body_start[body]; k < g->of_body_start[body + 1]; ++k)
            put_last(g, g->of_body[k]);
    }
}

ga_status ga_graph_cut(ga_graph *g, int n)
{
    if (n < GA_THREADS_FROM_UNKNOWNS) return GA_OK;
    int *list = GA_NEW(int, 2 * (size_t)g->groups), *level = list + g->groups;
    if (!list) return GA_ERR_MEMORY;
    list_levels(g, 0, list, level);
    list_levels(g, list[g->groups - 1], list,
                level); /* from a far (pseudo-peripheral) one: more levels */
    cut_between_levels(g, n, list, level);
    ga_free(list);
    return GA_OK;
}
