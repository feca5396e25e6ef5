/* The assembly tree from an order of elimination.
 *
 * Groups are fronts, and the parent of a front is the first one it reaches; a front is joined
 * to its parent where the zeros that this stores and computes with cost less than a front of
 * its own. */
#include "la/block/graph.h"

#include "base/buckets.h"
#include "base/memory.h"
#include "base/report.h"
#include "la/front.h"

/* What a front costs besides its arithmetic, in operations. */
static const double FRONT_COST = 100;

/* Fronts t, a child of p, and p as one, if that saves time. */
static void join(int t, int p, int *pivots, const int *rest, int *into)
{
    const double separate =
        ga_front_operations(pivots[t], rest[t]) + ga_front_operations(pivots[p], rest[p]);
    if (ga_front_operations(pivots[t] + pivots[p], rest[p]) > separate + FRONT_COST) return;
    into[t] = p;
    pivots[p] += pivots[t];
}

/* Amalgamation: joins groups t (in the order of elimination) to their parents. into[t]: what it
 * is part of, t itself for a front. */
static void join_fronts(const ga_graph *g, const int *parent, int *pivots, const int *rest,
                        int *into)
{
    for (int t = 0; t < g->groups; ++t) {
        into[t] = t;
        if (parent[t] >= 0) join(t, parent[t], pivots, rest, into);
    }
    for (int t = g->groups - 1; t >= 0; --t) into[t] = into[into[t]];
}

/* Numbers the fronts so that children come before parents, and all below a front just before
 * it; the child with most fronts below it comes first, which keeps the stack small.
 * number[t]: that of the front of group t. Returns how many there are, -1 without memory. */
static int number_fronts(int groups, const int *parent, const int *into, int *number)
{
    int *below = GA_NEW(int, 3 * (size_t)groups);
    if (!below) return -1;
    int *heavy = below + groups, *next = heavy + groups;
    for (int t = 0; t < groups; ++t) heavy[t] = -1;
    for (int t = 0; t < groups; ++t) {
        if (into[t] != t) continue;
        ++below[t];
        if (parent[t] < 0) continue;
        int p = into[parent[t]];
        below[p] += below[t];
        if (heavy[p] < 0 || below[t] > below[heavy[p]]) heavy[p] = t;
    }
    /* from the roots down: next[p] is where the fronts below p that have no place yet begin */
    int first = 0;
    for (int t = groups - 1; t >= 0; --t) {
        if (into[t] != t) continue;
        int p = parent[t] < 0 ? -1 : into[parent[t]];
        int *from = p < 0 ? &first : &next[p];
        const bool leads = p >= 0 && heavy[p] == t;
        const int at = leads ? number[p] - below[p] + 1 : *from;
        if (!leads) *from += below[t];
        number[t] = at + below[t] - 1;
        next[t] = at + (heavy[t] >= 0 ? below[heavy[t]] : 0);
    }
    for (int t = 0; t < groups; ++t) number[t] = number[into[t]];
    ga_free(below);
    return first;
}

/* Pivots and parent of each front, and the place of each block in the order. */
static ga_status list_pivots(const ga_graph *g, const int *parent, const int *number,
                             ga_elimination *e, int *place)
{
    ga_buckets groups;
    e->block = GA_NEW(int, g->blocks);
    e->start = GA_NEW(int, (size_t)e->fronts + 1);
    e->parent = GA_NEW(int, e->fronts);
    if (!e->block || !e->start || !e->parent) return GA_ERR_MEMORY;
    GA_TRY(ga_buckets_create(e->fronts, g->groups, number, NULL, &groups));
    for (int f = 0, count = 0; f < e->fronts; ++f) {
        int t = -1;
        for (int k = groups.start[f]; k < groups.start[f + 1]; ++k) {
            t = groups.item[k];
            for (int b = ga_graph_first(g, g->order[t]); b < ga_graph_end(g, g->order[t]); ++b)
                e->block[place[b] = count++] = b;
        }
        e->start[f + 1] = count;
        e->parent[f] = parent[t] < 0 ? -1 : number[parent[t]];
    }
    ga_buckets_destroy(&groups);
    return GA_OK;
}

/* What a front reaches, its rest, is the reach of its last group. */
static ga_status list_rests(const ga_graph *g, const int *into, const int *number,
                            const int *place, ga_elimination *e)
{
    int length = 0;
    for (int t = 0; t < g->groups; ++t)
        if (into[t] == t) length += g->reach_start[t + 1] - g->reach_start[t];
    int *at = GA_NEW(int, 2 * (size_t)length), *owner = at ? at + length : NULL;
    if (!at) return GA_ERR_MEMORY;
    length = 0;
    for (int t = 0; t < g->groups; ++t)
        for (int k = g->reach_start[t]; into[t] == t && k < g->reach_start[t + 1]; ++k) {
            at[length] = place[g->reach[k]];
            owner[length++] = number[t];
        }
    ga_buckets rest = {0}, sorted = {0};
    ga_status status = ga_buckets_create(g->blocks, length, at, NULL, &sorted);
    if (status == GA_OK)
        status = ga_buckets_create(e->fronts, length, owner, sorted.item, &rest);
    for (int k = 0; status == GA_OK && k < length; ++k)
        rest.item[k] = e->block[at[rest.item[k]]];
    e->rest_start = rest.start, e->rest = rest.item;
    ga_buckets_destroy(&sorted);
    ga_free(at);
    return status;
}

static ga_status list_children(ga_elimination *e)
{
    int *parent = GA_NEW(int, e->fronts);
    if (!parent) return GA_ERR_MEMORY;
    for (int f = 0; f < e->fronts; ++f) parent[f] = e->parent[f] < 0 ? e->fronts : e->parent[f];
    ga_buckets children = {0};
    const ga_status status =
        ga_buckets_create(e->fronts + 1, e->fronts, parent, NULL, &children);
    e->child_start = children.start, e->child = children.item;
    ga_free(parent);
    return status;
}

static void count_operations(ga_elimination *e)
{
    for (int f = 0; f < e->fronts; ++f) {
        double k = 0, r = 0;
        for (int b = e->start[f]; b < e->start[f + 1]; ++b) k += e->size[e->block[b]];
        for (int b = e->rest_start[f]; b < e->rest_start[f + 1]; ++b) r += e->size[e->rest[b]];
        e->flops += ga_front_operations(k, r);
    }
}

ga_status ga_graph_fronts(const ga_graph *g, ga_elimination *e)
{
    int groups = g->groups;
    int *at = GA_NEW(int, 6 * (size_t)groups + (size_t)g->blocks);
    if (!at) return GA_ERR_MEMORY;
    int *parent = at + groups, *pivots = parent + groups, *rest = pivots + groups;
    int *into = rest + groups, *number = into + groups, *place = number + groups;
    for (int t = 0; t < groups; ++t) at[g->order[t]] = t;
    for (int t = 0; t < groups; ++t) {
        parent[t] = -1;
        for (int k = g->reach_start[t]; k < g->reach_start[t + 1]; ++k) {
            int other = at[g->group[g->reach[k]]];
            if (parent[t] < 0 || other < parent[t]) parent[t] = other;
        }
        rest[t] = g->weight[ga_graph_first(g, g->order[t])];
        for (int b = ga_graph_first(g, g->order[t]); b < ga_graph_end(g, g->order[t]); ++b)
            pivots[t] += g->size[b];
    }
    join_fronts(g, parent, pivots, rest, into);
    e->fronts = number_fronts(groups, parent, into, number);
    ga_status status = e->fronts < 0 ? GA_ERR_MEMORY : GA_OK;
    if (status == GA_OK) status = list_pivots(g, parent, number, e, place);
    if (status == GA_OK) status = list_rests(g, into, number, place, e);
    if (status == GA_OK) status = list_children(e);
    ga_free(at);
    if (status == GA_OK) count_operations(e);
    return status;
}
