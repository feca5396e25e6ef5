/* The solution of Radau IIA between steps: quintic Hermite interpolation of xi, q = q_n o
 * exp(xi), from q, v and v' at both ends; v = T xi', v' = T xi'' + DT(xi)[xi'] xi'. */
#include "integrate/radau.h"
#include "lie/group.h"

#include <string.h>

/* xi, h xi' and h^2 xi'' at the end of the last step. Differentiating T xi' = v gives
 * T xi'' = v' - DT(xi)[xi'] xi'. */
static void prepare_output(ga_radau *x)
{
    const ga_system *sys = &x->dae.sys;
    const ga_ends *now = &x->now;
    if (x->end_steps == now->steps) return;
    x->end_steps = now->steps;
    double expected[GA_NODE_MAX_NV], T[GA_RADAU_BLOCK], DT[GA_RADAU_BLOCK], b[GA_NODE_MAX_NV];
    for (int k = 0, at = 0, atq = 0; k < sys->node_count; ++k) {
        const ga_node node = sys->nodes[k];
        const int n = ga_node_nv(node), nv = x->dae.nv;
        double *xi = x->end + at, *first = xi + nv, *second = first + nv;
        if (node.group == GA_GROUP_STATE) { /* the integral, from the last stage */
            memcpy(xi, ga_radau_stage(x, now->own, GA_RADAU_STAGES - 1) + at,
                   (size_t)n * sizeof *xi);
            x->flat[k] = true;
        } else if (node.group == GA_GROUP_RN) {
            ga_lie_difference(node, now->q_old + atq, now->q + atq, xi);
            x->flat[k] = true;
        } else {
            for (int i = at; i < at + n; ++i)
                expected[i - at] = 0.5 * now->h * (now->v_old[i] + now->v[i]);
            x->flat[k] =
                !ga_lie_difference_near(node, now->q_old + atq, now->q + atq, expected, xi) ||
                ga_radau_is_flat(node);
        }
        if (x->flat[k]) {
            for (int i = 0; i < n; ++i) {
                first[i] = now->h * now->v[at + i];
                second[i] = now->h * now->h * now->vd[at + i];
            }
        } else {
            ga_lie_tangent_inverse(node, GA_MAP_EXP, xi, T);
            ga_radau_multiply(n, T, now->v + at, first);
            ga_lie_tangent_derivative(node, GA_MAP_EXP, xi, first, DT);
            ga_radau_multiply(n, DT, first, b);
            for (int i = 0; i < n; ++i) b[i] = now->vd[at + i] - b[i];
            ga_radau_multiply(n, T, b, second);
            for (int i = 0; i < n; ++i) {
                first[i] *= now->h;
                second[i] *= now->h * now->h;
            }
        }
        at += n;
        atq += ga_node_nq(node);
    }
}

/* Quintic with p(0) = 0, p'(0) = b, p''(0) = c, p(1) = d, p'(1) = e, p''(1) = f; its value and
 * two derivatives at s. */
static void quintic(double s, double b, double c, double d, double e, double f, double value[3])
{
    const double k0 = d - b - 0.5 * c, k1 = e - b - c, k2 = f - c;
    const double p3 = 10 * k0 - 4 * k1 + 0.5 * k2, p4 = -15 * k0 + 7 * k1 - k2,
                 p5 = 6 * k0 - 3 * k1 + 0.5 * k2;
    value[0] = s * (b + s * (0.5 * c + s * (p3 + s * (p4 + s * p5))));
    value[1] = b + s * (c + s * (3 * p3 + s * (4 * p4 + s * 5 * p5)));
    value[2] = c + s * (6 * p3 + s * (12 * p4 + s * 20 * p5));
}

/* v = T xi', v' = T xi'' + DT(xi)[xi'] xi'. */
static void output_node(ga_node node, bool flat, int n, const double *xi, const double *first,
                        const double *second, double *v, double *vd)
{
    double T[GA_RADAU_BLOCK], DT[GA_RADAU_BLOCK], b[GA_NODE_MAX_NV];
    if (flat) {
        if (v) memcpy(v, first, (size_t)n * sizeof *v);
        if (vd) memcpy(vd, second, (size_t)n * sizeof *vd);
        return;
    }
    ga_lie_tangent(node, GA_MAP_EXP, xi, T);
    if (v) ga_radau_multiply(n, T, first, v);
    if (!vd) return;
    ga_lie_tangent_derivative(node, GA_MAP_EXP, xi, first, DT);
    ga_radau_multiply(n, T, second, vd);
    ga_radau_multiply(n, DT, first, b);
    for (int i = 0; i < n; ++i) vd[i] += b[i];
}

void ga_radau_interpolate(ga_radau *x, double s, double *q, double *v, double *vd)
{
    const ga_system *sys = &x->dae.sys;
    const ga_ends *now = &x->now;
    const int nv = x->dae.nv;
    const double h = now->h;
    double *xi = x->rate, *first = x->z, *second = x->z + nv;
    prepare_output(x);
    for (int i = 0; i < nv; ++i) {
        double value[3];
        quintic(s, h * now->v_old[i], h * h * now->vd_old[i], x->end[i], x->end[nv + i],
                x->end[2 * nv + i], value);
        xi[i] = value[0];
        first[i] = value[1] / h;
        second[i] = value[2] / (h * h);
    }
    if (q) ga_dae_update(&x->dae, GA_MAP_EXP, now->q_old, xi, q);
    for (int k = 0, at = 0; (v || vd) && k < sys->node_count; ++k) {
        const int n = ga_node_nv(sys->nodes[k]);
        output_node(sys->nodes[k], x->flat[k], n, xi + at, first + at, second + at,
                    v ? v + at : NULL, vd ? vd + at : NULL);
        at += n;
    }
}
