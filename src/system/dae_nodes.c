/* What is done node by node: updates of q, tangents of the map, quaternions. With threads nodes
 * are taken in pieces. */
#include "base/memory.h"
#include "base/report.h"
#include "lie/group.h"
#include "system/dae.h"

#include <math.h>

enum { NODES = 1024 }; /* in a piece */

struct ga_dae_piece {
    int q, v, T;
};

typedef struct node_task {
    const ga_dae *dae;
    ga_map map;
    const double *q, *x;
    double *result;
} node_task;

static int piece_length(const ga_dae *dae, int piece)
{
    const int rest = dae->sys.node_count - piece * NODES;
    return rest < NODES ? rest : NODES;
}

static void run_nodes(node_task *t, ga_pool_work *work)
{
    ga_pool_run(t->dae->pool, (t->dae->sys.node_count - 1) / NODES + 1, work, t);
}

/* Nodes from one on; kinds need not be compared where all are alike. */
static void update_nodes(const node_task *t, int first, int count, struct ga_dae_piece at)
{
    const ga_node *nodes = t->dae->sys.nodes + first;
    const double *q = t->q + at.q, *x = t->x + at.v;
    if (t->dae->alike)
        ga_lie_update_all(*nodes, count, t->map, q, x, t->result + at.q);
    else
        ga_nodes_update(count, nodes, t->map, q, x, t->result + at.q);
}

static void update_piece(void *data, int piece)
{
    const node_task *t = data;
    update_nodes(t, piece * NODES, piece_length(t->dae, piece), t->dae->pieces[piece]);
}

static void update_many(const ga_dae *dae, ga_map map, const double *q, const double *x,
                        double *q1)
{
    node_task t = {dae, map, q, x, q1};
    if (dae->pieces)
        run_nodes(&t, update_piece);
    else
        update_nodes(&t, 0, dae->sys.node_count, (struct ga_dae_piece){0});
}

void ga_dae_update(const ga_dae *dae, ga_map map, const double *q, const double *x, double *q1)
{
    if (dae->commutative && map == GA_MAP_EXP) /* q and x are numbered alike, and add up */
        for (int i = 0; i < dae->nm; ++i) q1[i] = q[i] + x[i];
    else if (dae->sys.node_count == 1)
        ga_lie_update_all(dae->sys.nodes[0], 1, map, q, x, q1);
    else
        update_many(dae, map, q, x, q1);
}

void ga_dae_add_cayley_defect(const ga_dae *dae, double scale, const double *v, double *x)
{
    double c[GA_NODE_MAX_NV];
    for (int k = 0; k < dae->sys.node_count; ++k) {
        ga_node node = dae->sys.nodes[k];
        int n = ga_node_nv(node);
        if (!ga_group_is_vector(node)) {
            ga_lie_cayley_defect(node, v, c);
            for (int i = 0; i < n; ++i) x[i] += scale * c[i];
        }
        v += n;
        x += n;
    }
}

int ga_dae_flat_components(ga_node node)
{
    switch (node.group) {
    case GA_GROUP_RN:
    case GA_GROUP_STATE:
        return node.n;
    case GA_GROUP_R2SO2:
        return 2;
    case GA_GROUP_R3SO3:
        return 3;
    default:
        return 0;
    }
}

/* The group of the rest. */
static ga_node without_flat(ga_node node)
{
    if (node.group == GA_GROUP_R2SO2) node.group = GA_GROUP_SO2;
    if (node.group == GA_GROUP_R3SO3) node.group = GA_GROUP_SO3;
    return node;
}

static void fill_tangents(int count, const ga_node *nodes, ga_map map, const double *x,
                          double *T)
{
    for (int k = 0; k < count; ++k) {
        const ga_node node = nodes[k];
        const int n = ga_node_nv(node), flat = ga_dae_flat_components(node), rest = n - flat;
        if (flat == 3)
            T[0] = T[1] = T[2] = 1; /* of most nodes */
        else
            for (int i = 0; i < flat; ++i) T[i] = 1;
        if (rest) ga_lie_tangent(without_flat(node), map, x + flat, T + flat);
        T += flat + rest * rest;
        x += n;
    }
}

static void tangent_piece(void *data, int piece)
{
    const node_task *t = data;
    const struct ga_dae_piece at = t->dae->pieces[piece];
    fill_tangents(piece_length(t->dae, piece), t->dae->sys.nodes + piece * NODES, t->map,
                  t->x + at.v, t->result + at.T);
}

void ga_dae_tangent(ga_dae *dae, ga_map map, const double *x, double *T)
{
    if (dae->pieces)
        run_nodes(&(node_task){dae, map, NULL, x, T}, tangent_piece);
    else
        fill_tangents(dae->sys.node_count, dae->sys.nodes, map, x, T);
}

ga_status ga_dae_use(ga_dae *dae, ga_pool *pool)
{
    dae->pool = pool;
    const int count = dae->sys.node_count;
    if (!pool || dae->pieces || count <= NODES) return GA_OK;
    struct ga_dae_piece at = {0};
    dae->pieces = GA_NEW(struct ga_dae_piece, (count - 1) / NODES + 1);
    if (!dae->pieces) return GA_ERR_MEMORY;
    for (int k = 0; k < count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        const int n = ga_node_nv(node), flat = ga_dae_flat_components(node);
        if (k % NODES == 0) dae->pieces[k / NODES] = at;
        at.q += ga_node_nq(node);
        at.v += n;
        at.T += flat + (n - flat) * (n - flat);
    }
    return GA_OK;
}

ga_status ga_dae_normalise(const ga_dae *dae, double *q, ga_report *report)
{
    for (int k = 0; k < dae->sys.node_count; ++k) {
        ga_node node = dae->sys.nodes[k];
        q += ga_node_nq(node);
        if (node.group != GA_GROUP_SO3 && node.group != GA_GROUP_R3SO3 &&
            node.group != GA_GROUP_SE3)
            continue;
        double *p = q - 4;
        double length = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]);
        if (!(length > 1e-6 && length < 1e6))
            return ga_fail(report, GA_ERR_ARGUMENT,
                           "the quaternion of node %d has length %g: expected 1", k, length);
        if (fabs(length - 1) > 1e-15)
            for (int i = 0; i < 4; ++i) p[i] /= length;
    }
    return GA_OK;
}
