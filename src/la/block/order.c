/* Elimination of a saddle matrix: order, fill, fronts.
 *
 * Graph. Blocks of unknowns are joined where the matrix, or its transpose, has an entry. To
 * eliminate a group joins all blocks it reaches; instead of these edges the quotient graph has
 * an `element`, the list of them. A block names its neighbours as they were in the beginning: a
 * name that has been eliminated stands for the element it has become part of (`into`), so the
 * lists of a hub with thousands of neighbours need no update.
 *
 * Order. Greedy: the group that reaches the fewest unknowns goes next, by the upper bound of
 * Amestoy, Davis & Duff: what the new element reaches, and of each other element what it
 * reaches beyond. Bodies may go at any time. Constraints
 *
 *     [ S  G^T ]
 *     [ G   0  ]
 *
 * have a pivot block only if those that are gone, with the columns of the bodies that are gone,
 * have independent rows. Bodies that are gone and joined by constraints that are gone make a
 * cluster. If no constraint of it has a body that is still there, the cluster is closed, and
 * its rows are independent because those of G are (otherwise no order helps). Besides, a
 * cluster may have one open constraint if it is a tree: from the constraint inwards each body
 * answers for one, G_j is taken to have full rank, as that of a joint has, and the rest is
 * triangular. In a tree this gives the order from the leaves to the root, body, joint, body,
 * joint, and no fill.
 *
 * That order turns a tree into one body, whose inertia grows with the cube of the length of a
 * branch where joints lock it, while what is left in the directions they leave free does not:
 * digits are lost. So after DEEPEST joints in a row a cluster is left open only where it saves
 * much. In a chain the next bodies then go before their joints, the matrices left are those of
 * G S^-1 G^T, and nothing grows.
 *
 * Hubs. A block with very many neighbours goes last and gets no updates; they would make the
 * work quadratic.
 *
 * Halves. The order in a long chain goes from one end to the other, and two threads would have
 * nothing to share. So a large graph that falls apart without some group has the group that
 * leaves the smallest largest piece go last (articulation points, after Hopcroft & Tarjan).
 * Where constraints of a body are neighbours, because of G B^T, a body alone does not cut; then
 * its constraints go last with it. So halves have no constraint without its bodies.
 *
 * Groups that have gone are made into fronts by elimination_fronts.c.
 */
#include "la/block/tree.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/block/order.h"
#include "la/buckets.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { LAST = INT_MAX }; /* degree of hubs */

/* Joints in a row from the leaves, and how much a joint that follows them is to save. */
enum { DEEPEST = 8, DEEP_PENALTY = 4 };

/* Unknowns of constraints that go last with a body. */
enum { SEPARATOR_MOST = 64 };

/* Whether a group may go. */
typedef enum permission { NO, YES, RELUCTANTLY } permission;

typedef struct graph {
    int blocks, groups;
    const ga_partition *part;
    int *group; /* of each block */
    int *size;  /* unknowns of each block */
    /* neighbours: names of blocks, fewer and fewer of them */
    int *start, *length, *list;
    bool *hub;
    /* constraints and bodies, from the rows of the matrix */
    int *of_body_start, *of_body; /* constraints of each body */
    int *bodies_start, *bodies;   /* bodies of each constraint */
    int *bodies_left;
    /* clusters, named like one of their bodies */
    int *cluster; /* what a body is part of; itself */
    int *open;    /* constraints that have bodies still there */
    bool *serves; /* a tree without any of these */
    int *depth;   /* joints in a row */
    /* elimination */
    int *into;          /* what a block that is gone has become part of; itself: an element */
    bool *gone;         /* blocks */
    int *element_front; /* number in the order, of an element */
    int *weight;        /* unknowns an element reaches */
    int *beyond;        /* of these, the ones the newest does not */
    int *seen, *seen_group, stamp; /* what the newest element reaches */
    int *seen_beyond;              /* beyond is known */
    int *marked, *marked_group, mark;
    /* result */
    int *order; /* groups */
    int *reach_start, *reach, reach_room;
    /* queue: a heap by degree, then number */
    int count, *heap, *place, *degree;
} graph;

static void destroy(graph *g)
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

static int blocks_from(const graph *g, int group) { return g->part->block_start[group]; }
static int blocks_end(const graph *g, int group) { return g->part->block_start[group + 1]; }

/* --- the graph ---------------------------------------------------------------------------- */

static ga_status create_blocks(const ga_matrix *m, graph *g)
{
    g->group = GA_NEW(int, g->blocks);
    g->size = GA_NEW(int, g->blocks);
    g->seen = GA_NEW(int, g->blocks);
    if (!g->group || !g->size || !g->seen) return GA_ERR_MEMORY;
    for (int i = 0; i < g->groups; ++i)
        for (int b = blocks_from(g, i); b < blocks_end(g, i); ++b) g->group[b] = i;
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

static ga_status create_graph(const ga_matrix *m, graph *g)
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
    for (int b = blocks_from(g, group); b < blocks_end(g, group); ++b) weight += g->size[b];
    return weight;
}

static void discover(const graph *g, search *x, int group, int parent, int number)
{
    x->number[group] = x->low[group] = number;
    x->parent[group] = parent;
    x->block[group] = blocks_from(g, group);
    x->next[group] = g->start[x->block[group]];
    x->weight[group] = group_weight(g, group);
}

/* The next neighbour of a group, or -1. */
static int follow(const graph *g, search *x, int group)
{
    while (x->block[group] < blocks_end(g, group)) {
        int b = x->block[group];
        while (x->next[group] < g->start[b] + g->length[b]) {
            int other = g->group[g->list[x->next[group]++]];
            if (x->pairs || !g->part->constraint[group] || !g->part->constraint[other])
                return other;
        }
        if (++x->block[group] < blocks_end(g, group))
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
    for (int b = blocks_from(g, group); b < blocks_end(g, group); ++b) g->hub[b] = true;
}

static ga_status cut_in_halves(graph *g, int n)
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

/* --- the queue ---------------------------------------------------------------------------- */

/* Fewest unknowns, then first. */
static bool before(const graph *g, int a, int b)
{
    if (g->degree[a] != g->degree[b]) return g->degree[a] < g->degree[b];
    return a < b;
}

static void put(graph *g, int at, int group)
{
    g->heap[at] = group;
    g->place[group] = at;
}

static void rise(graph *g, int at)
{
    int group = g->heap[at];
    for (; at > 0 && before(g, group, g->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(g, at, g->heap[(at - 1) / 2]);
    put(g, at, group);
}

static void sink(graph *g, int at)
{
    int group = g->heap[at];
    for (int child; (child = 2 * at + 1) < g->count; at = child) {
        if (child + 1 < g->count && before(g, g->heap[child + 1], g->heap[child])) ++child;
        if (!before(g, g->heap[child], group)) break;
        put(g, at, g->heap[child]);
    }
    put(g, at, group);
}

/* Enters a group, or moves it to where its degree belongs. */
static void enter(graph *g, int group)
{
    if (g->place[group] < 0) put(g, g->count++, group);
    rise(g, g->place[group]);
    sink(g, g->place[group]);
}

static void leave(graph *g, int group)
{
    int at = g->place[group];
    if (at < 0) return;
    g->place[group] = -1;
    int last = g->heap[--g->count];
    if (last == group) return;
    put(g, at, last);
    rise(g, at);
    sink(g, g->place[last]);
}

/* --- elimination -------------------------------------------------------------------------- */

static int rows(const graph *g, int constraint)
{
    int largest = 0;
    for (int b = blocks_from(g, constraint); b < blocks_end(g, constraint); ++b)
        if (g->size[b] > largest) largest = g->size[b];
    return largest;
}

static bool is_gone(const graph *g, int group) { return g->gone[blocks_from(g, group)]; }

static int find_cluster(graph *g, int body)
{
    while (g->cluster[body] != body) body = g->cluster[body] = g->cluster[g->cluster[body]];
    return body;
}

/* The clusters next to a constraint. */
typedef struct surroundings {
    int clusters, serving; /* number of them; of those that may be left open */
    int open, depth;       /* of all of them; the largest */
    int shallow;           /* the least depth of one that may be left open for this one */
    bool loop;             /* two bodies in one cluster */
} surroundings;

static surroundings look_around(graph *g, int constraint)
{
    const int count = rows(g, constraint);
    surroundings around = {.shallow = LAST};
    ++g->mark;
    for (int k = g->bodies_start[constraint]; k < g->bodies_start[constraint + 1]; ++k) {
        int body = g->bodies[k];
        if (!is_gone(g, body)) continue;
        int c = find_cluster(g, body);
        if (g->marked_group[c] == g->mark) {
            around.loop = true;
            continue;
        }
        g->marked_group[c] = g->mark;
        ++around.clusters;
        around.open += g->open[c];
        if (g->depth[c] > around.depth) around.depth = g->depth[c];
        if (!g->serves[c] || count > g->size[blocks_from(g, body)]) continue;
        ++around.serving;
        if (g->depth[c] < around.shallow) around.shallow = g->depth[c];
    }
    return around;
}

static permission may_go(graph *g, int group)
{
    if (!g->part->constraint[group]) return YES;
    if (g->hub[blocks_from(g, group)] && g->bodies_left[group] > 0) return NO;
    surroundings around = look_around(g, group);
    if (g->bodies_left[group] == 0 && around.open == 0) return YES;
    if (around.loop || around.serving == 0) return NO;
    return around.shallow < DEEPEST ? YES : RELUCTANTLY;
}

/* A constraint has gone: the clusters next to it are one. */
static void join_clusters(graph *g, int constraint)
{
    surroundings around = look_around(g, constraint);
    const bool stays_open = g->bodies_left[constraint] > 0;
    const bool tree = !around.loop && around.clusters > 1;
    int joined = -1;
    for (int k = g->bodies_start[constraint]; k < g->bodies_start[constraint + 1]; ++k) {
        if (!is_gone(g, g->bodies[k])) continue;
        int c = find_cluster(g, g->bodies[k]);
        if (joined < 0) joined = c;
        g->cluster[c] = joined;
    }
    if (joined < 0) return;
    g->open[joined] = around.open + stays_open;
    g->serves[joined] = tree && around.serving == around.clusters && !stays_open;
    g->depth[joined] = around.depth + (tree ? 1 : 0);
}

/* A body has gone: a cluster of its own, with those whose constraints were open to it. */
static void open_cluster(graph *g, int body)
{
    g->cluster[body] = body;
    g->serves[body] = true;
    for (int k = g->of_body_start[body]; k < g->of_body_start[body + 1]; ++k) {
        int constraint = g->of_body[k];
        --g->bodies_left[constraint];
        if (!is_gone(g, constraint)) continue;
        for (int i = g->bodies_start[constraint]; i < g->bodies_start[constraint + 1]; ++i) {
            int other = g->bodies[i];
            if (other == body || !is_gone(g, other)) continue;
            int c = find_cluster(g, other);
            if (c == body) {
                g->serves[body] = false; /* a loop */
            } else {
                g->cluster[c] = body;
                g->open[body] += g->open[c];
                if (g->depth[body] <= g->depth[c]) g->depth[body] = g->depth[c] + 1;
            }
            break; /* the others are in the same */
        }
        if (g->bodies_left[constraint] == 0) --g->open[body];
    }
    if (g->open[body] > 0) g->serves[body] = false;
}

/* The live block or element a name stands for now. */
static int find(graph *g, int name)
{
    if (!g->gone[name]) return name;
    int root = name;
    while (g->into[root] != root) root = g->into[root];
    while (g->into[name] != root) {
        int next = g->into[name];
        g->into[name] = root;
        name = next;
    }
    return root;
}

static void reach(graph *g, int *end, int block)
{
    if (g->gone[block] || g->seen[block] == g->stamp) return;
    g->seen[block] = g->stamp;
    g->reach[(*end)++] = block;
}

/* Room for what an element may reach at most. */
static ga_status make_room(graph *g, int from)
{
    if (g->reach_room - from >= g->blocks) return GA_OK;
    if (g->reach_room > INT_MAX / 2 - g->blocks) return GA_ERR_MEMORY;
    int room = 2 * g->reach_room + g->blocks;
    int *list = GA_NEW(int, room);
    if (!list) return GA_ERR_MEMORY;
    if (from) memcpy(list, g->reach, (size_t)from * sizeof *list);
    ga_free(g->reach);
    g->reach = list;
    g->reach_room = room;
    return GA_OK;
}

/* The t-th group to go becomes an element, named like its first block, and takes in all
 * elements next to it. */
static ga_status eliminate(graph *g, int t, int group)
{
    const int from = g->reach_start[t], self = blocks_from(g, group);
    GA_TRY(make_room(g, from));
    int end = from;
    ++g->stamp;
    for (int b = self; b < blocks_end(g, group); ++b) {
        g->gone[b] = true;
        g->into[b] = self;
    }
    for (int b = self; b < blocks_end(g, group); ++b)
        for (int k = g->start[b]; k < g->start[b] + g->length[b]; ++k) {
            int other = find(g, g->list[k]);
            if (!g->gone[other]) {
                reach(g, &end, other);
            } else if (other != self) {
                int f = g->element_front[other];
                for (int e = g->reach_start[f]; e < g->reach_start[f + 1]; ++e)
                    reach(g, &end, g->reach[e]);
                g->into[other] = self;
            }
        }
    g->order[t] = group;
    g->element_front[self] = t;
    g->reach_start[t + 1] = end;
    g->weight[self] = 0;
    for (int k = from; k < end; ++k) g->weight[self] += g->size[g->reach[k]];
    return GA_OK;
}

/* Leaves in the list of a block that the newest element reaches that element, other elements
 * and blocks it does not reach, each once. */
static void shorten(graph *g, int block, int newest)
{
    int *list = g->list + g->start[block], count = 0;
    ++g->mark;
    for (int k = 0; k < g->length[block]; ++k) {
        int other = find(g, list[k]);
        if (g->marked[other] == g->mark || other == block) continue;
        if (!g->gone[other] && g->seen[other] == g->stamp) continue;
        g->marked[other] = g->mark;
        list[count++] = other;
        if (!g->gone[other] || other == newest) continue;
        if (g->seen_beyond[other] != g->stamp) {
            g->seen_beyond[other] = g->stamp;
            g->beyond[other] = g->weight[other];
        }
        g->beyond[other] -= g->size[block];
    }
    g->length[block] = count;
}

/* Unknowns a group reaches, at most. */
static int bound_degree(graph *g, int group, int newest)
{
    double degree = g->weight[newest];
    ++g->mark;
    for (int b = blocks_from(g, group); b < blocks_end(g, group); ++b) {
        if (g->seen[b] == g->stamp) degree -= g->size[b];
        for (int k = g->start[b]; k < g->start[b] + g->length[b]; ++k) {
            int other = find(g, g->list[k]);
            if (other == newest || g->marked[other] == g->mark) continue;
            g->marked[other] = g->mark;
            if (!g->gone[other])
                degree +=
                    g->seen[other] == g->stamp || g->group[other] == group ? 0 : g->size[other];
            else if (g->seen_beyond[other] != g->stamp)
                degree += g->weight[other];
            else if (g->beyond[other] > 0)
                degree += g->beyond[other];
            else
                g->into[other] = newest; /* which reaches all it reaches */
        }
    }
    return degree < LAST - 1 ? (int)degree : LAST - 1;
}

static void update_group(graph *g, int group, int newest)
{
    if (g->seen_group[group] == g->stamp) return;
    g->seen_group[group] = g->stamp;
    permission allowed = may_go(g, group);
    if (g->degree[group] != LAST) {
        int degree = bound_degree(g, group, newest);
        if (allowed == RELUCTANTLY)
            degree = degree < LAST / DEEP_PENALTY ? degree * DEEP_PENALTY : LAST - 1;
        g->degree[group] = degree;
    }
    if (allowed)
        enter(g, group);
    else
        leave(g, group);
}

static void first_degrees(graph *g)
{
    for (int i = 0; i < g->groups; ++i) {
        int degree = 0;
        ++g->mark;
        for (int b = blocks_from(g, i); b < blocks_end(g, i); ++b) {
            if (g->hub[b]) degree = LAST;
            for (int k = g->start[b]; degree < LAST && k < g->start[b] + g->length[b]; ++k) {
                int other = g->list[k];
                if (g->marked[other] == g->mark || g->group[other] == i) continue;
                g->marked[other] = g->mark;
                degree += g->size[other];
            }
        }
        g->degree[i] = degree;
        g->place[i] = -1;
        if (may_go(g, i)) enter(g, i);
    }
}

static ga_status order_groups(graph *g)
{
    first_degrees(g);
    for (int t = 0; t < g->groups; ++t) {
        int group = g->heap[0];
        leave(g, group);
        if (!may_go(g, group)) { /* its cluster has been opened by another */
            --t;
            continue;
        }
        GA_TRY(eliminate(g, t, group));
        if (g->part->constraint[group])
            join_clusters(g, group);
        else
            open_cluster(g, group);
        int newest = blocks_from(g, group);
        const int *reached = g->reach + g->reach_start[t];
        int count = g->reach_start[t + 1] - g->reach_start[t];
        for (int k = 0; k < count; ++k)
            if (!g->hub[reached[k]]) shorten(g, reached[k], newest);
        for (int k = 0; k < count; ++k) update_group(g, g->group[reached[k]], newest);
    }
    return GA_OK;
}

ga_status ga_elimination_create(const ga_matrix *matrix, const ga_partition *partition,
                                ga_elimination *e)
{
    *e = (ga_elimination){.blocks = partition->block_start[partition->groups]};
    graph g = {.blocks = e->blocks, .groups = partition->groups, .part = partition};
    ga_status status = create_graph(matrix, &g);
    if (status == GA_OK) status = cut_in_halves(&g, matrix->n);
    if (status == GA_OK) status = order_groups(&g);
    e->size = g.size;
    if (status == GA_OK)
        status = ga_order_fronts(
            &(ga_elimination_order){g.groups, g.blocks, partition->block_start, g.group, g.size,
                                    g.order, g.reach_start, g.reach, g.weight},
            e);
    g.size = NULL;
    destroy(&g);
    if (status != GA_OK) ga_elimination_destroy(e);
    return status;
}

void ga_elimination_destroy(ga_elimination *e)
{
    void *memory[] = {e->size, e->block,  e->start,       e->front, e->rest_start,
                      e->rest, e->parent, e->child_start, e->child};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    *e = (ga_elimination){0};
}
