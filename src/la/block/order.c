/* The order in which the groups of a saddle matrix are eliminated.
 *
 * Order. Greedy: the group that reaches the fewest unknowns goes next, by the upper bound of
 * Amestoy, Davis & Duff: |L_p| + sum |L_e \ L_p|, with L_p the reach of the newest element and
 * L_e those of the other elements next to the group. Bodies may go at any time. Constraints
 *
 *     [ D  G^T ]
 *     [ G   0  ]
 *
 * have a pivot block only if those that are gone, with the columns of the bodies that are gone,
 * have independent rows. Bodies that are gone and joined by constraints that are gone make a
 * cluster. If no constraint of it has a body that is still there, the cluster is closed, and
 * its rows are independent because those of G are (otherwise no order helps). Besides, a
 * cluster may have one open constraint if it is a tree. With that constraint as its root each
 * body is paired with the constraint on its way to the root, and the rows are block triangular
 * with blocks G_j, taken to have full rank as that of a joint has. In a tree this gives the
 * order from the leaves to the root, body, joint, body, joint, and no fill.
 *
 * That order turns a tree into one body. In directions that joints lock, its inertia grows with
 * the cube of the length of a branch; in those they leave free it does not: digits are lost. So
 * after DEEPEST joints in a row a cluster is left open only where it saves much. In a chain the
 * next bodies then go before their joints, the matrices left are those of G D^-1 G^T, and
 * nothing grows.
 *
 * Groups that have gone are made into fronts by tree.c. */
#include "la/block/tree.h"

#include "base/memory.h"
#include "base/report.h"
#include "la/block/graph.h"

#include <limits.h>
#include <string.h>

enum { LAST = INT_MAX }; /* degree of hubs */

/* Joints in a row from the leaves, and how much a joint that follows them is to save. */
enum { DEEPEST = 8, DEEP_PENALTY = 4 };

/* Whether a group may go. */
typedef enum permission { NO, YES, RELUCTANTLY } permission;

typedef ga_graph graph;

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

/* A body must have so many unknowns to serve this constraint: rows of its largest block. */
static int rank_needed(const graph *g, int constraint)
{
    int largest = 0;
    for (int b = ga_graph_first(g, constraint); b < ga_graph_end(g, constraint); ++b)
        if (g->size[b] > largest) largest = g->size[b];
    return largest;
}

static bool is_gone(const graph *g, int group) { return g->gone[ga_graph_first(g, group)]; }

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
    const int count = rank_needed(g, constraint);
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
        if (!g->serves[c] || count > g->size[ga_graph_first(g, body)]) continue;
        ++around.serving;
        if (g->depth[c] < around.shallow) around.shallow = g->depth[c];
    }
    return around;
}

static permission may_go(graph *g, int group)
{
    if (!g->partition->constraint[group]) return YES;
    if (g->hub[ga_graph_first(g, group)] && g->bodies_left[group] > 0) return NO;
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

static void add_to_reach(graph *g, int *end, int block)
{
    if (g->gone[block] || g->seen[block] == g->stamp) return;
    g->seen[block] = g->stamp;
    g->reach[(*end)++] = block;
}

/* Room for the reach of one more element, at most all blocks. */
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
    const int from = g->reach_start[t], self = ga_graph_first(g, group);
    GA_TRY(make_room(g, from));
    int end = from;
    ++g->stamp;
    for (int b = self; b < ga_graph_end(g, group); ++b) {
        g->gone[b] = true;
        g->into[b] = self;
    }
    for (int b = self; b < ga_graph_end(g, group); ++b)
        for (int k = g->start[b]; k < g->start[b] + g->length[b]; ++k) {
            int other = find(g, g->list[k]);
            if (!g->gone[other]) {
                add_to_reach(g, &end, other);
            } else if (other != self) {
                int f = g->element_step[other];
                for (int e = g->reach_start[f]; e < g->reach_start[f + 1]; ++e)
                    add_to_reach(g, &end, g->reach[e]);
                g->into[other] = self;
            }
        }
    g->order[t] = group;
    g->element_step[self] = t;
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
    for (int b = ga_graph_first(g, group); b < ga_graph_end(g, group); ++b) {
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
        for (int b = ga_graph_first(g, i); b < ga_graph_end(g, i); ++b) {
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

/* The queue never runs empty: bodies may always go, constraints once all bodies are gone. */
static ga_status order_groups(graph *g)
{
    first_degrees(g);
    for (int t = 0; t < g->groups;) {
        int group = g->heap[0];
        leave(g, group);
        if (!may_go(g, group)) continue; /* its cluster has been opened by another */
        GA_TRY(eliminate(g, t, group));
        if (g->partition->constraint[group])
            join_clusters(g, group);
        else
            open_cluster(g, group);
        int newest = ga_graph_first(g, group);
        const int *reached = g->reach + g->reach_start[t];
        int count = g->reach_start[t + 1] - g->reach_start[t];
        for (int k = 0; k < count; ++k)
            if (!g->hub[reached[k]]) shorten(g, reached[k], newest);
        for (int k = 0; k < count; ++k) update_group(g, g->group[reached[k]], newest);
        ++t;
    }
    return GA_OK;
}

ga_status ga_elimination_create(const ga_matrix *matrix, const ga_partition *partition,
                                ga_elimination *e)
{
    *e = (ga_elimination){.blocks = partition->block_start[partition->groups]};
    graph g = {.blocks = e->blocks, .groups = partition->groups, .partition = partition};
    ga_status status = ga_graph_create(matrix, &g);
    if (status == GA_OK) status = ga_graph_cut(&g, matrix->n);
    if (status == GA_OK) status = order_groups(&g);
    e->size = g.size;
    if (status == GA_OK) status = ga_graph_fronts(&g, e);
    g.size = NULL;
    ga_graph_destroy(&g);
    if (status != GA_OK) ga_elimination_destroy(e);
    return status;
}

void ga_elimination_destroy(ga_elimination *e)
{
    void *memory[] = {e->size, e->block,  e->start,       e->rest_start,
                      e->rest, e->parent, e->child_start, e->child};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    *e = (ga_elimination){0};
}
