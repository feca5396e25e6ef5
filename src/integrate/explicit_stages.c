/* The equations of the explicit method at a stage. */
#include "base/extremes.h"
#include "integrate/explicit.h"
#include "lie/group.h"

#include <math.h>
#include <string.h>

/* --- the equations ------------------------------------------------------------------------ */

void ga_explicit_look_at_constraints(ga_explicit *x)
{
    ga_onestep_look_at_start(&x->base);
    x->redundant = x->consistent.redundancy.active;
    x->near = false;
}

/* Near a singular position the saddle matrix is regularised as with redundant rows: with
 * smaller values steps collapse or leave it on a wrong branch, seen with four-bars. */
static const double EPS = 1e-10;

static void regularise(ga_explicit *x, bool near)
{
    ga_redundancy *g = &x->consistent.redundancy;
    if (x->redundant || near == x->near) return;
    x->near = g->active = near;
    g->eps = near ? EPS : 0;
}

static ga_status after_solve(ga_explicit *x, ga_status status, double t, const double *q,
                             const double *v, double *vd, double *multipliers)
{
    const bool near =
        status == GA_ERR_SINGULAR || (status == GA_OK && ga_onestep_is_weak(&x->base));
    ++x->stats.evaluations;
    if (near && !x->near && !x->redundant && x->dae.mp) {
        regularise(x, true);
        status = ga_consistent_acceleration(&x->consistent, t, q, v, vd, multipliers);
    } else if (!near && x->near) {
        regularise(x, false);
    }
    return status;
}

ga_status ga_explicit_solve_step(ga_explicit *x, double t, const double *q, const double *v,
                                 double *vd, double *multipliers)
{
    const ga_status status =
        ga_consistent_acceleration(&x->consistent, t, q, v, vd, multipliers);
    return after_solve(x, status, t, q, v, vd, multipliers);
}

ga_status ga_explicit_solve_nearby(ga_explicit *x, double t, const double *q, const double *v,
                                   double *vd, double *multipliers)
{
    const ga_status status =
        ga_consistent_acceleration_nearby(&x->consistent, t, q, v, vd, multipliers);
    return after_solve(x, status, t, q, v, vd, multipliers);
}

ga_status ga_explicit_solve_output(ga_explicit *x, double t, const double *q, const double *v,
                                   double *vd, double *multipliers)
{
    return ga_consistent_acceleration(ga_onestep_output(&x->base), t, q, v, vd, multipliers);
}

/* --- charts ------------------------------------------------------------------------------- */

bool ga_explicit_turns(ga_node node)
{
    return node.group == GA_GROUP_SE2 || node.group == GA_GROUP_SO3 ||
           node.group == GA_GROUP_R3SO3 || node.group == GA_GROUP_SE3;
}

void ga_explicit_chart_rate(const ga_explicit *x, const double *xi, const double *v,
                            double *rate)
{
    const ga_dae *dae = &x->dae;
    double T[GA_NODE_MAX_NV * GA_NODE_MAX_NV];
    memcpy(rate, v, (size_t)dae->nv * sizeof *rate);
    if (dae->commutative) return;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        const ga_node kind = dae->sys.nodes[node];
        const int n = ga_node_nv(kind);
        if (x->turns[node]) {
            ga_lie_tangent_inverse(kind, GA_MAP_EXP, xi + at, T);
            for (int i = 0; i < n; ++i) {
                double sum = 0;
                for (int j = 0; j < n; ++j) sum += T[i + n * j] * v[at + j];
                rate[at + i] = sum;
            }
        }
        at += n;
    }
}

double ga_explicit_turning(const ga_explicit *x, const double *velocity)
{
    const ga_dae *dae = &x->dae;
    double largest = 0;
    if (dae->commutative) return 0;
    for (int node = 0, at = 0; node < dae->sys.node_count; ++node) {
        const int n = ga_node_nv(dae->sys.nodes[node]);
        double sum = 0;
        for (int i = 0; i < n; ++i)
            if (x->base.kind[at + i]) sum += velocity[at + i] * velocity[at + i];
        if (x->turns[node]) largest = ga_larger(largest, sum);
        at += n;
    }
    return sqrt(largest);
}

/* --- stages ------------------------------------------------------------------------------- */

void ga_explicit_add(const ga_explicit *x, const ga_stages *stages, int count,
                     const double *weights, double factor, int at, int n, double *sum)
{
    for (int j = 0; j < count; ++j) {
        const double w = factor * weights[j], *k = ga_explicit_stage(x, stages, j) + at;
        if (weights[j] == 0) continue;
        for (int i = 0; i < n; ++i) sum[i] += w * k[i];
    }
}

void ga_explicit_combine(const ga_explicit *x, const ga_stages *stages, int count,
                         const double *weights, double *xi, double *v)
{
    const int nv = x->dae.nv;
    memset(xi, 0, (size_t)nv * sizeof *xi);
    memcpy(v, stages->v0, (size_t)nv * sizeof *v);
    ga_explicit_add(x, stages, count, weights, stages->h, 0, nv, xi);
    ga_explicit_add(x, stages, count, weights, stages->h, nv, nv, v);
}

static double stage_time(const ga_stages *stages, int i, double t1)
{
    const double c = ga_dop853_table.c[i];
    return c == 1 ? t1 : stages->t + c * stages->h;
}

ga_status ga_explicit_evaluate(ga_explicit *x, ga_stages *stages, int i, double t1,
                               ga_explicit_solve *solve)
{
    const int nv = x->dae.nv;
    const ga_explicit_point *at = &x->here;
    double *k = ga_explicit_stage(x, stages, i);
    ga_explicit_combine(x, stages, i, ga_dop853_table.a[i], at->xi, at->v);
    if (!(ga_explicit_turning(x, at->xi) <= GA_EXPLICIT_MOST_TURNED)) return GA_ERR_STEP_SIZE;
    ga_dae_update(&x->dae, GA_MAP_EXP, stages->q0, at->xi, at->q);
    ga_explicit_chart_rate(x, at->xi, at->v, k);
    ga_explicit_copy(k + 2 * nv, k - x->width + 2 * nv, x->dae.mp); /* a guess */
    return solve(x, stage_time(stages, i, t1), at->q, at->v, k + nv, k + 2 * nv);
}
