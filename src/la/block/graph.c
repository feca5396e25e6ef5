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
 * nothing to share. So a large graph that falls apart without some group has the group that
 * leaves the smallest largest piece go last (articulation points, after Hopcroft & Tarjan).
 * Where constraints of a body are neighbours, because of G B^T, a body alone does not cut; then
 * its constraints go last with it. So halves have no constraint without its bodies.
 */
#include "la/block/graph.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/block/tree.h"
#include "la/buckets.h"

#include <math.h>
#include <string.h>

typedef ga_graph graph;

/* Unknowns of constraints that go last with a body. */
enum { SEPARATOR_MOST = 64 };

void ga_graph_destroy(ga_graph *g)
{
    void *memory[] = {g->group,        g->size,          g->start,         g->length,
                      g->list,         g->hub,           g->of_body_start, g->of_body,
                      g->bodies_start, g->bodies,        g->bodies_left,   g->serves,
                      g->cluster,      g->open,          g->depth,         g->into,
                      g->gone,         g->element_front, g->weight,        g->beyond,
                      g->seen,         g->seen_beyond,   g->seen_group,    g->marked,
                      g->marked_group, g->order,         g->reach_start,   g->reach,
                      g->heap,         g->place,         g->degree};
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
    for (int j = 0; j < m->n; ++j) ++g->size[g->part->col_block[j]];
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
                int a = g->part->row_block[m->rowind[k]];
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
        count +=
            g->part->constraint[g->group[row[k]]] && !g->part->constraint[g->group[col[k]]];
    int *constraint = GA_NEW(int, count), *body = GA_NEW(int, count);
    ga_buckets to = {0}, from = {0};
    ga_status status = constraint && body ? GA_OK : GA_ERR_MEMORY;
    int *last = g->seen_group; /* the last body of each constraint so far; bodies ascend */
    count = 0;
    for (int k = 0; status == GA_OK && k < pairs; ++k) {
        int c = g->group[row[k]], b = g->group[col[k]];
        if (!g->part->constraint[c] || g->part->constraint[b] || last[c] == b + 1) continue;
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
    bool memory =
        (g->hub = GA_NEW(bool, blocks)) && (g->bodies_left = GA_NEW(int, groups)) &&
        (g->serves = GA_NEW(bool, groups)) && (g->cluster = GA_NEW(int, groups)) &&
        (g->open = GA_NEW(int, groups)) && (g->marked_group = GA_NEW(int, groups)) &&
        (g->depth = GA_NEW(int, groups)) && (g->into = GA_NEW(int, blocks)) &&
        (g->gone = GA_NEW(bool, blocks)) && (g->element_front = GA_NEW(int, blocks)) &&
        (g->weight = GA_NEW(int, blocks)) && (g->beyond = GA_NEW(int, blocks)) &&
        (g->seen_beyond = GA_NEW(int, blocks)) && (g->marked = GA_NEW(int, blocks)) &&
        (g->seen_group = GA_NEW(int, groups)) && (g->order = GA_NEW(int, groups)) &&
        (g->reach_start = GA_NEW(int, groups + 1)) && (g->heap = GA_NEW(int, groups)) &&
        (g->place = GA_NEW(int, groups)) && (g->degree = GA_NEW(int, groups));
    if (!memory) return GA_ERR_MEMORY;
    ga_buckets columns = {0};
    GA_TRY(ga_buckets_create(g->blocks, m->n, g->part->col_block, NULL, &columns));
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

/* Depth-first search without recursion; numbers of groups, -1 for none. */
typedef struct search {
    bool pairs; /* of constraints are followed */
    int *number,
        *low; /* order of discovery from 1, and the lowest that is reached from below */
    int *parent, *block, *next; /* where it came from, and where it goes on */
    int *weight, *cut, *worst;  /* unknowns below; of pieces that fall off, in all and most */
} search;

static int group_weight(const graph *g, int group)
{
    int weight = 0;
    for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b)
        weight += g->size[b];
    return weight;
}

static void discover(const graph *g, search *x, int group, int parent, int number)
{
    x->number[group] = x->low[group] = number;
    x->parent[group] = parent;
    x->block[group] = ga_graph_first(g, group);
    x->next[group] = g->start[x->block[group]];
    x->weight[group] = group_weight(g, group);
}

/* The next neighbour of a group, or -1. */
static int follow(const graph *g, search *x, int group)
{
    while (x->block[group] < ga_graph_end(g, group)) {
        int b = x->block[group];
        while (x->next[group] < g->start[b] + g->length[b]) {
            int other = g->group[g->list[x->next[group]++]];
            if (x->pairs || !g->part->constraint[group] || !g->part->constraint[other])
                return other;
        }
        if (++x->block[group] < ga_graph_end(g, group))
            x->next[group] = g->start[x->block[group]];
    }
    return -1;
}

/* A group is done; its parent learns. */
static void close_group(search *x, int group)
{
    int p = x->parent[group];
    if (p < 0) return;
    x->weight[p] += x->weight[group];
    if (x->low[group] < x->low[p]) x->low[p] = x->low[group];
    if (x->low[group] < x->number[p]) return;
    x->cut[p] += x->weight[group];
    if (x->weight[group] > x->worst[p]) x->worst[p] = x->weight[group];
}

static int visit_all(const graph *g, search *x, int root, int number)
{
    discover(g, x, root, -1, ++number);
    for (int group = root; group >= 0;) {
        int other = follow(g, x, group);
        if (other < 0) {
            close_group(x, group);
            group = x->parent[group];
        } else if (x->number[other] == 0) {
            discover(g, x, other, group, ++number);
            group = other;
        } else if (other != x->parent[group] && x->number[other] < x->low[group]) {
            x->low[group] = x->number[other];
        }
    }
    return number;
}

/* Constraints that have to go with a body, for their bodies to be there while they are; -1 if
 * they are too many. */
static int constraints_weight(const graph *g, int body)
{
    int weight = 0;
    for (int k = g->of_body_start[body]; k < g->of_body_start[body + 1]; ++k) {
        weight += group_weight(g, g->of_body[k]);
        if (weight > SEPARATOR_MOST) return -1;
    }
    return weight;
}

/* The group without which the largest piece is smallest, if that is worth it. */
static int choose_separator(const graph *g, const search *x, int n)
{
    int best = -1, least = n / 4 * 3;
    for (int i = 0; i < g->groups; ++i) {
        int rest = n - x->cut[i] - group_weight(g, i); /* neither here nor falls off */
        int worst = x->worst[i] > rest ? x->worst[i] : rest;
        if (worst >= least) continue;
        if (!x->pairs && (g->part->constraint[i] || constraints_weight(g, i) < 0)) continue;
        least = worst, best = i;
    }
    return best;
}

static int search_separator(const graph *g, int n, bool pairs, int *memory)
{
    search x = {.pairs = pairs};
    int **array[] = {&x.number, &x.low,    &x.parent, &x.block,
                     &x.next,   &x.weight, &x.cut,    &x.worst};
    memset(memory, 0, 8 * (size_t)g->groups * sizeof *memory);
    for (int k = 0; k < 8; ++k) *array[k] = memory + (size_t)k * (size_t)g->groups;
    for (int i = 0, number = 0; i < g->groups; ++i)
        if (x.number[i] == 0) number = visit_all(g, &x, i, number);
    return choose_separator(g, &x, n);
}

static void put_last(graph *g, int group)
{
    for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b) g->hub[b] = true;
}

ga_status ga_graph_cut(ga_graph *g, int n)
{
    if (n < GA_ELIMINATION_LARGE) return GA_OK;
    int *memory = GA_NEW(int, 8 * (size_t)g->groups);
    if (!memory) return GA_ERR_MEMORY;
    int separator = search_separator(g, n, false, memory);
    const bool alone = separator < 0;
    if (alone) separator = search_separator(g, n, true, memory);
    ga_free(memory);
    if (separator < 0) return GA_OK;
    put_last(g, separator);
    if (alone) return GA_OK;
    for (int k = g->of_body_start[separator]; k < g->of_body_start[separator + 1]; ++k)
        put_last(g, g->of_body[k]);
    return GA_OK;
}
