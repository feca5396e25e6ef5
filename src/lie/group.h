/* One table of functions per group; group.c chooses. R^n and states have no table: they have no
 * fixed size, and all there is to them stands in group.c. */
#ifndef GA_LIE_GROUP_H
#define GA_LIE_GROUP_H

#include <galpha/lie.h>

#include "lie/chart.h"

typedef struct ga_group_type {
    int nq, nv;
    int turning; /* the last `turning` entries of x turn: 1 in the plane, 3 in space */
    int order;   /* derivatives of a jet that the tangent operator itself contains */
    double identity[GA_NODE_MAX_NQ];
    void (*compose)(const double *a, const double *b, double *ab);   /* ab may be a or b */
    void (*inverse)(const double *a, double *inv);                   /* inv may be a */
    void (*relative)(const double *a, const double *b, double *rel); /* a^-1 o b */
    bool adds_up; /* but for the map of its angle, q o x is q + x */
    /* q1 = q o map(x) for count nodes, one behind the other; null: nothing better than each by
     * itself. q1 may be q. */
    void (*update)(const ga_chart *chart, int count, const double *q, const double *x,
                   double *q1);
    void (*map)(const ga_chart *chart, const double *x, double *q);
    void (*unmap)(const ga_chart *chart, const double *q, double *x);
    void (*bracket)(const double *x, const double *y, double *z);
    void (*adjoint)(const double *q, double *Ad);
    /* The nv x nv operator a jet stands for (T or T^-1, of either map) and its derivative in
     * the direction dx. */
    void (*tangent)(const ga_jet *jet, const double *x, double *T);
    void (*tangent_derivative)(const ga_jet *jet, const double *x, const double *dx,
                               double *DT);
    void (*defect)(const double *x, double *c);
} ga_group_type;

extern const ga_group_type ga_group_so2, ga_group_r2so2, ga_group_se2;
extern const ga_group_type ga_group_so3, ga_group_r3so3, ga_group_se3;

/* ga_lie_update for count nodes of one group, one behind the other. */
void ga_lie_update_all(ga_node node, int count, ga_map map, const double *q, const double *x,
                       double *q1);
/* x with a o exp(x) = b; rotations by half a turn at most. */
void ga_lie_difference(ga_node node, const double *a, const double *b, double *x);
/* The same with as many full turns as bring x near `expected`. False where such an x is not to
 * be had: next to full turns exp is singular, and x is `expected`. */
bool ga_lie_difference_near(ga_node node, const double *a, const double *b,
                            const double *expected, double *x);

/* A node of any size, whose maps are the identity: R^n, or states, which have no q. */
static inline bool ga_group_is_vector(ga_node node)
{
    return node.group == GA_GROUP_RN || node.group == GA_GROUP_STATE;
}

/* |rotation part of x|^2 */
static inline double ga_group_square(const ga_group_type *g, const double *x)
{
    double s = 0;
    for (int i = g->nv - g->turning; i < g->nv; ++i) s += x[i] * x[i];
    return s;
}

#endif
