/* Products of nodes: the same, node by node, with q and v laid end to end. */
#include <galpha/lie.h>

#include "lie/group.h"

int ga_nodes_nq(int count, const ga_node *nodes)
{
    int nq = 0;
    for (int i = 0; i < count; ++i) nq += ga_node_nq(nodes[i]);
    return nq;
}

int ga_nodes_nv(int count, const ga_node *nodes)
{
    int nv = 0;
    for (int i = 0; i < count; ++i) nv += ga_node_nv(nodes[i]);
    return nv;
}

/* How many of these nodes, from the first on, are of one kind. */
static int run_length(int count, const ga_node *nodes)
{
    int k = 1;
    while (k < count && nodes[k].group == nodes[0].group && nodes[k].n == nodes[0].n) ++k;
    return k;
}

void ga_nodes_update(int count, const ga_node *nodes, ga_map map, const double *q,
                     const double *x, double *q1)
{
    for (int i = 0, run; i < count; i += run) {
        run = run_length(count - i, nodes + i);
        const int nq = run * ga_node_nq(nodes[i]);
        ga_lie_update_all(nodes[i], run, map, q, x, q1);
        q += nq;
        q1 += nq;
        x += run * ga_node_nv(nodes[i]);
    }
}

void ga_nodes_difference(int count, const ga_node *nodes, const double *a, const double *b,
                         double *x)
{
    for (int i = 0; i < count; ++i) {
        ga_lie_difference(nodes[i], a, b, x);
        a += ga_node_nq(nodes[i]);
        b += ga_node_nq(nodes[i]);
        x += ga_node_nv(nodes[i]);
    }
}

void ga_nodes_bracket(int count, const ga_node *nodes, const double *x, const double *y,
                      double *z)
{
    for (int i = 0; i < count; ++i) {
        ga_lie_bracket(nodes[i], x, y, z);
        x += ga_node_nv(nodes[i]);
        y += ga_node_nv(nodes[i]);
        z += ga_node_nv(nodes[i]);
    }
}
