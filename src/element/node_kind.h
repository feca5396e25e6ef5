/* Kinds of nodes: which coordinates a place has. What they mean is model/node's. */
#ifndef GA_ELEMENT_NODE_KIND_H
#define GA_ELEMENT_NODE_KIND_H

#include <galpha/lie.h>

typedef enum ga_node_kind {
    GA_NODE_R3SO3,
    GA_NODE_SE3,
    GA_NODE_POINT3,
    GA_NODE_R2SO2,
    GA_NODE_SE2,
    GA_NODE_POINT2,
    GA_NODE_KIND_COUNT
} ga_node_kind;

/* Its Lie group, with sizes ga_node_nq and ga_node_nv. */
static inline ga_node ga_node_of(ga_node_kind kind)
{
    static const ga_node nodes[GA_NODE_KIND_COUNT] = {
        [GA_NODE_R3SO3] = GA_NODE(GA_GROUP_R3SO3, 0),
        [GA_NODE_SE3] = GA_NODE(GA_GROUP_SE3, 0),
        [GA_NODE_POINT3] = GA_NODE(GA_GROUP_RN, 3),
        [GA_NODE_R2SO2] = GA_NODE(GA_GROUP_R2SO2, 0),
        [GA_NODE_SE2] = GA_NODE(GA_GROUP_SE2, 0),
        [GA_NODE_POINT2] = GA_NODE(GA_GROUP_RN, 2)};
    return nodes[kind];
}

#endif
