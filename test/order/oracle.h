/* Reference solutions that owe nothing to generalized-alpha: the system as an ordinary
 * differential equation, integrated by extrapolation.
 *
 * On the step from (q_n, v_n) the configuration is q = q_n o exp(x), so that
 *
 *     x' = T(x)^-1 v,    v' from [M B^T; B 0] at the consistent state nearest to (q, v)
 *
 * with x = 0 at the beginning. The library is only asked for what a start computes: consistent
 * q and v, then v' and lambda. Gragg's midpoint rule with 2, 4, ..., 12 substeps is
 * extrapolated to order 12 (Bulirsch and Stoer); the difference to order 10 is the error
 * estimate that chooses the step, so the result is better than ORACLE_TOLERANCE per step.
 */
#ifndef GA_TEST_ORDER_ORACLE_H
#define GA_TEST_ORDER_ORACLE_H

#include "test/support/unit.h"
#include <galpha/galpha.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ORACLE_TOLERANCE 1e-12 /* relative to the largest component of v */

enum { ORACLE_COLUMNS = 6 };

typedef struct oracle {
    const ga_system *system;
    ga_integrator *start; /* never steps */
    int nq, nv;
    double t, step;
    double *q, *v;   /* consistent, at t */
    double *trial;   /* nq */
    double *z0, *z1; /* (x, v), 2 nv each */
    double *rate;    /* (x', v') */
    double *table[ORACLE_COLUMNS];
} oracle;

static inline double *numbers(int n)
{
    double *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    return x;
}

static inline void oracle_begin(oracle *o, double t, const double *q, const double *v)
{
    ga_report report;
    if (ga_integrator_start(o->start, t, q, v, 1, &report)) fail_msg("%s", report.message);
    o->t = t;
    memcpy(o->q, ga_integrator_q(o->start), (size_t)o->nq * sizeof *q);
    memcpy(o->v, ga_integrator_v(o->start), (size_t)o->nv * sizeof *v);
}

static inline void oracle_create(oracle *o, const ga_system *system, double t, const double *q,
                                 const double *v)
{
    ga_integrator_def def = ga_integrator_def_default();
    ga_report report;
    def.start = GA_START_PLAIN;
    *o = (oracle){.system = system, .nq = ga_system_nq(system), .nv = ga_system_nv(system)};
    if (ga_integrator_create(system, &def, &o->start, &report)) fail_msg("%s", report.message);
    o->q = numbers(o->nq);
    o->v = numbers(o->nv);
    o->trial = numbers(o->nq);
    o->z0 = numbers(2 * o->nv);
    o->z1 = numbers(2 * o->nv);
    o->rate = numbers(2 * o->nv);
    for (int k = 0; k < ORACLE_COLUMNS; ++k) o->table[k] = numbers(2 * o->nv);
    oracle_begin(o, t, q, v);
}

static inline void oracle_destroy(oracle *o)
{
    for (int k = 0; k < ORACLE_COLUMNS; ++k) free(o->table[k]);
    free(o->rate);
    free(o->z1);
    free(o->z0);
    free(o->trial);
    free(o->v);
    free(o->q);
    ga_integrator_destroy(o->start);
}

/* o->rate at (x, v) = z. False where the start fails: the step is too long. */
static inline bool oracle_rate(oracle *o, double t, const double *z)
{
    const ga_system *system = o->system;
    const double *v = z + o->nv;
    double Tinv[GA_NODE_MAX_NV * GA_NODE_MAX_NV];
    ga_nodes_update(system->node_count, system->nodes, GA_MAP_EXP, o->q, z, o->trial);
    if (ga_integrator_start(o->start, t, o->trial, v, 1, NULL)) return false;
    for (int k = 0, at = 0; k < system->node_count; ++k) {
        int n = ga_node_nv(system->nodes[k]);
        memcpy(o->rate + at, v + at, (size_t)n * sizeof *v);
        if (system->nodes[k].group != GA_GROUP_RN) {
            ga_lie_tangent_inverse(system->nodes[k], GA_MAP_EXP, z + at, Tinv);
            for (int i = 0; i < n; ++i) {
                o->rate[at + i] = 0;
                for (int j = 0; j < n; ++j) o->rate[at + i] += Tinv[j * n + i] * v[at + j];
            }
        }
        at += n;
    }
    memcpy(o->rate + o->nv, ga_integrator_vd(o->start), (size_t)o->nv * sizeof *v);
    return true;
}

/* Gragg's rule with n substeps from (0, v_n) over H, into z. */
static inline bool oracle_midpoint(oracle *o, double H, int n, double *z)
{
    const int size = 2 * o->nv;
    const double h = H / n;
    double *before = o->z0, *now = o->z1;
    memset(before, 0, (size_t)o->nv * sizeof *before);
    memcpy(before + o->nv, o->v, (size_t)o->nv * sizeof *before);
    if (!oracle_rate(o, o->t, before)) return false;
    for (int i = 0; i < size; ++i) now[i] = before[i] + h * o->rate[i];
    for (int k = 1; k < n; ++k) {
        if (!oracle_rate(o, o->t + k * h, now)) return false;
        for (int i = 0; i < size; ++i) before[i] += 2 * h * o->rate[i];
        double *swap = before;
        before = now;
        now = swap;
    }
    memcpy(z, now, (size_t)size * sizeof *z);
    return true;
}

/* One step; its estimated error relative to the largest component, infinity if none came out.
 * The result is in table[0]. */
static inline double oracle_extrapolate(oracle *o, double H)
{
    const int size = 2 * o->nv;
    double error = INFINITY;
    for (int k = 0; k < ORACLE_COLUMNS; ++k) {
        double largest = 0;
        if (!oracle_midpoint(o, H, 2 * k + 2, o->table[k])) return INFINITY;
        for (int j = k - 1; j >= 0; --j) { /* Aitken and Neville in h^2, in place */
            double ratio = (k + 1.0) / (j + 1.0);
            error = 0;
            for (int i = 0; i < size; ++i) {
                double gain = (o->table[j + 1][i] - o->table[j][i]) / (ratio * ratio - 1);
                o->table[j][i] = o->table[j + 1][i] + gain;
                error = fmax(error, fabs(gain));
                largest = fmax(largest, fabs(o->table[j][i]));
            }
        }
        error /= fmax(largest, 1);
    }
    return error;
}

/* On to t1. lambda, v' of the state there: ga_integrator_lambda(o->start) and so on. */
static inline void oracle_advance(oracle *o, double t1)
{
    const ga_system *system = o->system;
    if (o->step == 0) o->step = t1 - o->t;
    while (o->t < t1) {
        bool last = o->t + 1.001 * o->step >= t1;
        double H = last ? t1 - o->t : o->step, error = oracle_extrapolate(o, H);
        if (!(error <= ORACLE_TOLERANCE)) {
            o->step = 0.6 * H;
            if (o->step < 1e-9 * t1) fail_msg("the oracle is lost at t = %g", o->t);
            continue;
        }
        ga_nodes_update(system->node_count, system->nodes, GA_MAP_EXP, o->q, o->table[0],
                        o->trial);
        oracle_begin(o, last ? t1 : o->t + H, o->trial, o->table[0] + o->nv);
        if (error < 1e-3 * ORACLE_TOLERANCE) o->step = fmax(o->step, 1.5 * H);
    }
}

#endif
