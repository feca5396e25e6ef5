/* The local error of a converged trial; formulas in control.h. */
#include "integrate/control.h"

#include <math.h>
#include <string.h>

/* Curvature of v' over the last two steps: v'''/2. */
static double second_difference(const ga_stepper *s, int i)
{
    const ga_state *now = &s->now;
    double after = (s->vd[i] - now->vd[i]) / s->h;
    double before = (now->vd[i] - now->vd_old[0][i]) / now->h;
    return (after - before) / (s->h + now->h);
}

static void follow_theta(ga_controller *c)
{
    const ga_stepper *s = c->s;
    const double D = s->method.shift, am = s->def.method.alpha_m;
    const double h = s->h, h_old = s->now.h, r = h / h_old;
    if (s->now.steps == 0)
        c->theta_now = D * (am - 0.5) * h * h; /* ga_start_refined */
    else
        c->theta_now =
            c->theta + D * (r - 1) * ((D - 0.5) * h_old * h_old + c->theta - c->theta_used);
    c->theta_next = (D * (am - 0.5) * h * h - am * c->theta_now) / (1 - am);
}

/* e_q and e_v as if there were no constraints. In extrapolation mode from the values of the
 * step itself, which is exact to one more order; else from differences of v'. */
static void raw_estimate(ga_controller *c)
{
    const ga_stepper *s = c->s;
    const ga_method *p = &s->def.method;
    const ga_state *now = &s->now;
    const double D = s->method.shift, h = s->h, h2 = h * h, gamma = p->gamma, beta = p->beta;
    const double kq = (1 - 6 * beta - 3 * D) / 6;
    const double C =
        1.0 / 6 - (1 - gamma) * c->theta_now / h2 - gamma * (0.5 + D + c->theta_next / h2);
    double *v = c->s->work, *vd = c->s->work2;
    for (int i = 0; i < s->nv; ++i) {
        v[i] = 0.5 * (s->vn[i] + s->v[i]);
        vd[i] = 0.5 * (now->vd[i] + s->vd[i]);
    }
    ga_nodes_bracket(s->dae.sys.node_count, s->dae.sys.nodes, v, vd, c->error_q);
    for (int i = 0; i < s->nv; ++i) {
        double bracket = h * h2 / 12 * c->error_q[i], curve = second_difference(s, i);
        double vd0 = now->vd[i], vd1 = s->vd[i];
        if (c->def.mode == GA_ERROR_EXTRAPOLATE) {
            c->error_q[i] =
                bracket + h2 * (vd0 / 3 + vd1 / 6 - (0.5 - beta) * s->an[i] - beta * s->a[i]);
            c->error_v[i] = h * (0.5 * (vd0 + vd1) - (1 - gamma) * s->an[i] - gamma * s->a[i]) -
                            h * h2 / 6 * curve;
        } else {
            c->error_q[i] = bracket + kq * h2 * (vd1 - vd0);
            c->error_v[i] = 2 * C * h * h2 * curve;
        }
    }
    if (s->def.map != GA_MAP_CAYLEY) return;
    double defect[GA_NODE_MAX_NV];
    for (int node = 0, at = 0; node < s->dae.sys.node_count; ++node) {
        ga_node kind = s->dae.sys.nodes[node];
        int n = ga_node_nv(kind);
        if (kind.group != GA_GROUP_RN) {
            ga_lie_cayley_defect(kind, v + at, defect);
            for (int i = 0; i < n; ++i) c->error_q[at + i] += h * h2 * defect[i];
        }
        at += n;
    }
}

/* Takes J^-1 r out of the errors, index 2. */
static void subtract_response(ga_controller *c)
{
    ga_stepper *s = c->s;
    ga_block_solve(s, s->r, s->x);
    double *dvd = s->work;
    memcpy(dvd, s->x, (size_t)s->nv * sizeof *dvd);
    /* u and B_n^T x nearly cancel, so B_n must be the one in the matrix */
    ga_coords_multiply_transposed(&s->dae.B, s->B_eta, 1, s->x + s->nv + s->mp, dvd);
    for (int i = 0; i < s->nv; ++i) {
        c->error_q[i] -= s->c_q * s->x[i];
        c->error_v[i] -= s->c_v * dvd[i];
    }
}

/* Index 2: how the step answers to the defect. The tangents may be some steps old; the second
 * pass, with the gradients of now, takes out what that leaves across the constraints. */
static void respond(ga_controller *c)
{
    ga_stepper *s = c->s;
    const ga_dae *dae = &s->dae;
    double *w = s->r + s->nv, *Phi = s->r + s->nv + s->mp;
    for (int pass = 0; pass < (s->fresh ? 1 : 2); ++pass) {
        memset(s->r, 0, (size_t)s->n * sizeof *s->r);
        if (pass == 0) {
            ga_coords_multiply(&dae->K, s->K, 1, c->error_q, s->r);
            ga_coords_multiply(&dae->C, s->C, 1, c->error_v, s->r);
        }
        ga_coords_multiply(&dae->Z, s->Z, 1 / s->c_v, c->error_q, w);
        ga_coords_multiply(&dae->G, s->G, 1 / s->c_v, c->error_v, w);
        ga_coords_multiply(&dae->B, s->G, 1 / s->c_q, c->error_q, Phi);
        subtract_response(c);
    }
}

/* The others: e := x from J (x, .) = (M e, 0), along the constraints and without stiff modes;
 * again with a second pass for old tangents. */
static void filter(ga_controller *c, double *e)
{
    ga_stepper *s = c->s;
    memset(s->r, 0, (size_t)s->n * sizeof *s->r);
    ga_coords_multiply(&s->dae.M, s->M_tangent, 1, e, s->r);
    ga_block_solve(s, s->r, s->x);
    memcpy(e, s->x, (size_t)s->nv * sizeof *e);
    if (s->fresh) return;
    memset(s->r, 0, (size_t)s->n * sizeof *s->r);
    ga_coords_multiply(&s->dae.G, s->G, 1, e, s->r + s->nv);
    ga_block_solve(s, s->r, s->x);
    for (int i = 0; i < s->nv; ++i) e[i] -= s->x[i];
}

void ga_controller_estimate(ga_controller *c)
{
    follow_theta(c);
    raw_estimate(c);
    if (c->s->form->has_eta) {
        respond(c);
    } else {
        filter(c, c->error_q);
        filter(c, c->error_v);
    }
}
