/* Consistent values: q on Phi = 0, v on B v + Phi_t = 0 and k = 0, both by the smallest change
 * in the mass metric; v' and multipliers from the dynamics and the constraints on acceleration
 * level, [ABC14] eq. (7). Values that are consistent up to round-off are kept as they are.
 */
#include "system/consistent.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Increments below this, relative to the size of the values, are round-off. */
static const double round_off = 32 * DBL_EPSILON;
/* After so many iterations a residual at round-off is enough. */
enum { FEW = 5 };

ga_status ga_consistent_create(ga_dae *dae, ga_solver solver, ga_consistent *c)
{
    c->dae = dae;
    GA_TRY(ga_redundancy_create(dae, &c->redundancy));
    GA_TRY(ga_saddle_create(dae, &c->redundancy, solver, &c->saddle));
    bool memory = (c->residual = GA_NEW(double, dae->mp)) && (c->c = GA_NEW(double, dae->mp)) &&
                  (c->f = GA_NEW(double, dae->nv)) && (c->step = GA_NEW(double, dae->nv)) &&
                  (c->last = GA_NEW(double, dae->nv)) && (c->x = GA_NEW(double, dae->nv)) &&
                  (c->q = GA_NEW(double, dae->nq)) && (c->q0 = GA_NEW(double, dae->nq)) &&
                  (c->v0 = GA_NEW(double, dae->nv));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_consistent_destroy(ga_consistent *c)
{
    double *memory[] = {c->residual, c->c, c->f, c->step, c->last, c->x, c->q, c->q0, c->v0};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_saddle_destroy(&c->saddle);
    ga_redundancy_destroy(&c->redundancy);
    memset(c, 0, sizeof *c);
}

ga_status ga_consistent_use(ga_consistent *c, ga_pool *pool)
{
    return ga_saddle_use(&c->saddle, pool);
}

/* --- the saddle matrix at a point --------------------------------------------------------- */

ga_status ga_consistent_factor(ga_consistent *c, double t, const double *q, const double *v,
                               ga_saddle_parts parts)
{
    if (c->holds) return GA_OK;
    GA_TRY(ga_dae_mass(c->dae, t, q, c->saddle.M));
    GA_TRY(ga_dae_gradient(c->dae, t, q, v, c->saddle.G));
    return ga_saddle_factor(&c->saddle, parts);
}

static bool is_zero(int n, const double *x)
{
    for (int i = 0; i < n; ++i)
        if (x[i] != 0) return false;
    return true;
}

/* Starts at rest, and models drawn with care, have nothing to lift. */
void ga_consistent_lift(ga_consistent *c, const double *bottom, double *y)
{
    ga_saddle *k = &c->saddle;
    const int nv = c->dae->nv, mp = c->dae->mp;
    if (is_zero(mp, bottom)) {
        memset(y, 0, (size_t)nv * sizeof *y);
        return;
    }
    memset(k->rhs, 0, (size_t)nv * sizeof *k->rhs);
    memcpy(k->rhs + nv, bottom, (size_t)mp * sizeof *k->rhs);
    ga_saddle_solve(k, 2);
    memcpy(y, k->x, (size_t)nv * sizeof *y);
}

/* --- v' and multipliers ------------------------------------------------------------------- */

/* Of dependent constraints Newton's method keeps what lies in the null space of G^T. */
static ga_status minimise_guess(ga_consistent *c, double *multipliers)
{
    if (!(c->redundancy.eps > 0)) return GA_OK;
    GA_TRY(ga_saddle_factor(&c->saddle, GA_SADDLE_ALL));
    ga_saddle_filter(&c->saddle, 2, multipliers);
    return GA_OK;
}

/* Size of accelerations, without rates of states, and multipliers together: the latter by the
 * accelerations that the reactions G^T mult would cause alone, by the diagonal of M. So where
 * reactions and forces cancel, as in a body at rest, round-off of vd is relative to them; and
 * where there are no reactions, round-off of mult to vd. Uses k->defect. */
static double size_of(ga_saddle *k, const double *mass, const double *vd,
                      const double *multipliers)
{
    const ga_coords *G = &k->dae->G;
    const int nm = k->dae->nm;
    double *force = k->defect, size = ga_norm_max(nm, vd);
    memset(force, 0, (size_t)k->dae->nv * sizeof *force);
    for (ga_matrix_entry e = ga_entry_first(G); e.k < G->count; ga_entry_next(G, &e))
        force[e.col] += fabs(k->G[e.k] * multipliers[e.row]);
    for (int i = 0; i < nm; ++i)
        if (mass[i] > 0 && !(force[i] / mass[i] <= size)) size = force[i] / mass[i];
    return size;
}

static void find_masses(const ga_saddle *k, double *mass)
{
    const ga_coords *M = &k->dae->M;
    memset(mass, 0, (size_t)k->dae->nv * sizeof *mass);
    for (ga_matrix_entry e = ga_entry_first(M); e.k < M->count; ga_entry_next(M, &e))
        if (e.row == e.col) mass[e.row] += k->M[e.k];
}

/* M vd - f(mult) [+ G^T mult] = 0, G vd = c by Newton's method in (vd, mult). Forces may cancel
 * each other within f, as where a body is let go by what held it: its round-off is that of
 * accelerations and reactions met before. */
static ga_status solve_nonlinear(ga_consistent *c, double t, const double *q, const double *v,
                                 ga_saddle_parts parts, double *vd, double *multipliers)
{
    ga_saddle *k = &c->saddle;
    ga_dae *dae = c->dae;
    double *mass = c->f, before = INFINITY; /* forces change with mult: c->f is free */
    bool anew = true;
    GA_TRY(minimise_guess(c, multipliers));
    find_masses(k, mass);
    memset(vd, 0, (size_t)dae->nv * sizeof *vd);
    for (int iteration = 0; iteration < 50; ++iteration) {
        ga_point at = ga_dae_point(dae, t, q, v, vd, multipliers);
        GA_TRY(ga_dae_dynamics(dae, &at, k->M, k->G, k->rhs));
        for (int i = 0; i < dae->mp; ++i) k->rhs[dae->nv + i] = -c->c[i];
        ga_coords_multiply(&dae->G, k->G, 1, vd, k->rhs + dae->nv);
        if (anew) {
            GA_TRY(ga_dae_force_multipliers(dae, &at, k->L));
            GA_TRY(ga_saddle_factor(k, parts | GA_SADDLE_FORCES));
        }
        ga_saddle_solve(k, 2);
        for (int i = 0; i < dae->nv; ++i) vd[i] -= k->x[i];
        for (int i = 0; i < dae->mp; ++i) multipliers[i] -= k->x[dae->nv + i];
        const double change = size_of(k, mass, k->x, k->x + dae->nv);
        const double size = size_of(k, mass, vd, multipliers);
        const bool stalls = anew && change >= 0.5 * before;
        bool done = change <= 16 * DBL_EPSILON * size;
        done |= stalls && change <= 1e-11 * size;
        done |= stalls && change <= 64 * DBL_EPSILON * c->largest;
        if (done) {
            c->largest = ga_larger(c->largest, size);
            return GA_OK;
        }
        anew = !(change <= 0.1 * before); /* with an earlier matrix, as long as that will do */
        before = change;
    }
    return GA_ERR_NO_CONVERGE;
}

static ga_status accelerate(ga_consistent *c, double t, const double *q, const double *v,
                            ga_saddle_parts parts, int sweeps, double *vd, double *multipliers)
{
    ga_saddle *k = &c->saddle;
    ga_dae *dae = c->dae;
    const bool nonlinear = dae->sys.force_uses_multipliers;
    const ga_point at = {.t = t, .q = q, .v = v};
    const ga_values values = {
        .M = c->holds ? NULL : k->M, .G = c->holds ? NULL : k->G, .f = nonlinear ? NULL : c->f};
    GA_TRY(ga_dae_evaluate(dae, &at, &values));
    GA_TRY(ga_dae_acceleration_rhs(dae, t, q, v, c->c));
    if (nonlinear) return solve_nonlinear(c, t, q, v, parts, vd, multipliers);
    if (!c->holds) GA_TRY(ga_saddle_factor(k, parts));
    memcpy(k->rhs, c->f, (size_t)dae->nv * sizeof *k->rhs);
    memcpy(k->rhs + dae->nv, c->c, (size_t)dae->mp * sizeof *k->rhs);
    ga_saddle_solve(k, ga_saddle_is_rough(k) ? 2 : sweeps);
    memcpy(vd, k->x, (size_t)dae->nv * sizeof *vd);
    memcpy(multipliers, k->x + dae->nv, (size_t)dae->mp * sizeof *multipliers);
    return GA_OK;
}

ga_status ga_consistent_acceleration(ga_consistent *c, double t, const double *q,
                                     const double *v, double *vd, double *multipliers)
{
    return accelerate(c, t, q, v, GA_SADDLE_DEFINITE, 2, vd, multipliers);
}

/* Scales take longer than the factors of a small matrix. A regularised one needs its sweeps; so
 * does LDL^T with small pivots, which have lost digits. */
ga_status ga_consistent_acceleration_nearby(ga_consistent *c, double t, const double *q,
                                            const double *v, double *vd, double *multipliers)
{
    const int sweeps = c->redundancy.active ? 2 : 1;
    return accelerate(c, t, q, v, GA_SADDLE_DEFINITE | GA_SADDLE_SAME_SCALES, sweeps, vd,
                      multipliers);
}

double ga_consistent_pivot(ga_consistent *c, double t, const double *q, const double *v)
{
    const bool linear = !c->dae->sys.force_uses_multipliers;
    if (linear && ga_consistent_factor(c, t, q, v, GA_SADDLE_DEFINITE) != GA_OK) return 0;
    return c->saddle.pivot;
}

/* --- messages ----------------------------------------------------------------------------- */

static ga_status explain(const ga_consistent *c, ga_status status, double t, ga_report *report)
{
    const int singular = c->saddle.singular, nv = c->dae->nv;
    if (status == GA_ERR_SINGULAR) {
        const int nm = c->dae->nm;
        const char *kind = singular < nm   ? "coordinate"
                           : singular < nv ? "state"
                                           : "constraint";
        ga_fail(report, status,
                "the matrix [M G^T; G 0] is singular at t = %.9g, near %s %d: mass or "
                "constraints do not determine the accelerations",
                t, kind,
                singular < nm   ? singular
                : singular < nv ? singular - nm
                                : singular - nv);
        if (report) report->row = report->column = singular;
    } else if (status == GA_ERR_NO_CONVERGE) {
        ga_fail(report, status,
                "accelerations and multipliers at t = %.9g: the Newton iteration for forces "
                "that depend on the multipliers did not converge; give a better initial guess",
                t);
    } else if (status == GA_ERR_MEMORY) {
        ga_fail(report, status, "out of memory");
    } else if (status != GA_OK) {
        ga_dae_explain(c->dae, t, report);
    }
    if (report && status != GA_OK) report->time = t;
    return status;
}

/* The dependent row whose partners contradict it most, by residuals of the rows; or -1. */
static int contradiction(const ga_consistent *c, const double *residual)
{
    const ga_dependence *d = &c->redundancy.found;
    double worst = 1e-9 * ga_norm_max(c->dae->mp, residual);
    int found = -1;
    for (int k = 0; k < d->count; ++k) {
        double sum = residual[d->row[k]];
        for (int e = d->start[k]; e < d->start[k + 1]; ++e)
            sum -= d->weight[e] * residual[d->with[e]];
        if (fabs(sum) <= worst) continue;
        worst = fabs(sum);
        found = k;
    }
    return found;
}

/* Adds the partners of dependent row k to the message. */
static void name_partners(const ga_dependence *d, int k, ga_report *report)
{
    if (!report) return;
    for (int e = d->start[k]; e < d->start[k + 1]; ++e) {
        size_t used = strlen(report->message), left = sizeof report->message - used;
        if (left < 40) {
            snprintf(report->message + used, left, " ...");
            return;
        }
        snprintf(report->message + used, left, "%s %d", e > d->start[k] ? "," : "", d->with[e]);
    }
}

static int worst_row(int n, const double *x)
{
    int worst = 0;
    for (int i = 1; i < n; ++i)
        if (!(fabs(x[i]) <= fabs(x[worst]))) worst = i;
    return worst;
}

static ga_status inconsistent(const ga_consistent *c, double t, const char *what,
                              const double *residual, ga_report *report)
{
    const int k = contradiction(c, residual);
    int row = worst_row(c->dae->mp, residual);
    if (k < 0)
        return ga_fail_at(report, t, row, GA_ERR_INCONSISTENT,
                          "the %s at t = %.9g cannot be made consistent: constraint %d keeps a "
                          "residual of %.3g",
                          what, t, row, residual[row]);
    row = c->redundancy.found.row[k];
    ga_fail_at(report, t, row, GA_ERR_INCONSISTENT,
               "redundant constraints contradict each other: the %s at t = %.9g cannot satisfy "
               "constraint %d together with",
               what, t, row);
    name_partners(&c->redundancy.found, k, report);
    return GA_ERR_INCONSISTENT;
}

/* --- dependent rows ----------------------------------------------------------------------- */

/* Rows within this distance of what the others span depend on them; gradients by differences
 * are not known better than their noise. */
static double dependence_tolerance(const ga_dae *dae)
{
    return ga_larger(1e-10, ga_smaller(1e2 * dae->noise, 1e-5));
}

/* A row that is so far from what the others span leaves a pivot of the square of that. Long
 * chains have small pivots, too: they turn as one heavy body. */
static double clear_pivot(const ga_dae *dae)
{
    const double distance = 10 * dependence_tolerance(dae);
    return ga_larger(distance * distance, 1e-11);
}

static const double *solve_rows(void *user, const double *rows)
{
    ga_saddle *k = user;
    const int nv = k->dae->nv;
    memset(k->rhs, 0, (size_t)nv * sizeof *k->rhs);
    memcpy(k->rhs + nv, rows, (size_t)k->dae->mp * sizeof *rows);
    ga_saddle_solve_once(k, k->rhs, k->x);
    return k->x + nv;
}

static void find_smallest(ga_consistent *c)
{
    ga_redundancy *g = &c->redundancy;
    c->least = ga_redundancy_smallest(g, solve_rows, &c->saddle, c->saddle.diagonal, g->eps, 4);
}

double ga_consistent_smallest(ga_consistent *c)
{
    ga_redundancy *g = &c->redundancy;
    const double eps = g->eps; /* of the next matrix: it does not follow */
    const double least =
        ga_redundancy_smallest(g, solve_rows, &c->saddle, c->saddle.diagonal, c->saddle.eps, 1);
    g->eps = eps;
    return least;
}

/* Which rows of G depend on others. A dependent row leaves the saddle matrix with a pivot at
 * round-off, so where its pivots are all far from that, no search is needed. Afterwards the
 * matrix is factored. */
static ga_status find_rank(ga_consistent *c, double t, const double *q, const double *v,
                           ga_report *report)
{
    ga_redundancy *g = &c->redundancy;
    ga_dae *dae = c->dae;
    ga_redundancy_reset(g);
    ga_status status = ga_consistent_factor(c, t, q, v, GA_SADDLE_ALL);
    if (status != GA_OK && status != GA_ERR_SINGULAR) return explain(c, status, t, report);
    ga_redundancy_weigh(g, c->saddle.M, c->saddle.G, c->x);
    g->rank = dae->mp;
    if (status == GA_OK && c->saddle.pivot > clear_pivot(dae)) {
        find_smallest(c);
        c->holds = !dae->p;
        return GA_OK;
    }
    ga_status search =
        ga_dependence_find(&dae->G, c->saddle.G, dependence_tolerance(dae), &g->found);
    if (search != GA_OK) return explain(c, search, t, report);
    g->rank = g->found.rank;
    if (g->rank < dae->mp) {
        ga_redundancy_activate(g, g->found.count > 0);
        status = ga_saddle_factor(&c->saddle, GA_SADDLE_ALL);
    }
    if (status != GA_OK) return explain(c, status, t, report);
    find_smallest(c);
    return GA_OK;
}

/* --- from afar ---------------------------------------------------------------------------- */

int ga_consistent_unmet(ga_consistent *c, int n, const double *residual, double size)
{
    if (!c->redundancy.active) return -1;
    const double *length = ga_redundancy_lengths(&c->redundancy, c->saddle.G);
    for (int i = 0; i < n; ++i)
        if (!(fabs(residual[i]) <= 1e-9 * ga_larger(size, 1) * ga_larger(1, sqrt(length[i]))))
            return i;
    return -1;
}

static bool at_rest_elsewhere(ga_consistent *c, int n, const double *residual, double size)
{
    return ga_consistent_unmet(c, n, residual, size) >= 0;
}

/* Phi, with zeros for the nonholonomic rows, into c->residual; its negative into c->c. */
static ga_status evaluate_position(ga_consistent *c, double t, const double *q)
{
    memset(c->residual, 0, (size_t)c->dae->mp * sizeof *c->residual);
    GA_TRY(ga_dae_constraint(c->dae, t, q, c->residual));
    for (int i = 0; i < c->dae->mp; ++i) c->c[i] = -c->residual[i];
    return GA_OK;
}

/* w into c->residual, with G in the saddle; its negative into c->c. */
static ga_status evaluate_velocity(ga_consistent *c, double t, const double *q, const double *v)
{
    GA_TRY(ga_dae_velocity(c->dae, t, q, v, c->saddle.G, c->residual));
    for (int i = 0; i < c->dae->mp; ++i) c->c[i] = -c->residual[i];
    return GA_OK;
}

/* Newton's method in the mass metric; q is moved in place. Nonholonomic constraints do not
 * restrict where it may go. Near singular positions Newton steps are too long to mean anything:
 * where the next step would be longer than the last one, which was not small, the last one is
 * repeated with half its length, down to the given part of it. */
static ga_status approach(ga_consistent *c, double t, double *q, const double *v,
                          double shortest, ga_report *report)
{
    static const double small = 0.01;
    const ga_dae *dae = c->dae;
    double before = INFINITY, part = 1;
    for (int iteration = 0; iteration < 50; ++iteration) {
        ga_status status = evaluate_position(c, t, q);
        const double size = ga_larger(ga_norm_max(dae->nq, q), DBL_MIN);
        if (status == GA_OK) status = ga_consistent_factor(c, t, q, v, GA_SADDLE_HOLONOMIC);
        if (status == GA_ERR_SINGULAR && iteration > 0 && !(c->redundancy.eps > 0)) {
            ga_redundancy_activate(&c->redundancy, true); /* rows that depend where Phi = 0 */
            status = ga_saddle_factor(&c->saddle, GA_SADDLE_HOLONOMIC);
        }
        if (status == GA_ERR_SINGULAR && iteration > 0) break;
        if (status != GA_OK) return explain(c, status, t, report);
        ga_consistent_lift(c, c->c, c->step);
        const double change = ga_norm_max(dae->nm, c->step);
        bool done = change <= round_off * size;
        /* no more progress: the round-off of constants in Phi */
        done |= iteration > 2 && change >= 0.5 * before && change <= 1e-11 * ga_larger(size, 1);
        /* next to a singular position round-off moves q to and fro */
        done |= iteration > FEW &&
                ga_norm_max(dae->m, c->residual) <= round_off * ga_larger(size, 1);
        if (done && at_rest_elsewhere(c, dae->m, c->residual, size)) break;
        if (done) return GA_OK;
        if (!isfinite(change)) break;
        c->holds = false;
        if (change > before && before > small && part > shortest) {
            part /= 2;
            for (int i = 0; i < dae->nv; ++i) c->last[i] /= 2;
            ga_dae_update(dae, GA_MAP_EXP, c->q, c->last, q);
            continue;
        }
        part = 1;
        before = change;
        memcpy(c->q, q, (size_t)dae->nq * sizeof *q);
        memcpy(c->last, c->step, (size_t)dae->nv * sizeof *c->last);
        ga_dae_update(dae, GA_MAP_EXP, q, c->step, q);
    }
    return inconsistent(c, t, "position", c->residual, report);
}

static const double damped = 1.0 / 64, undamped = 1;

/* Where shorter steps get stuck, long ones may still arrive. */
static ga_status assemble(ga_consistent *c, double t, double *q, const double *v,
                          ga_report *report)
{
    ga_status status = approach(c, t, q, v, damped, report);
    if (status != GA_ERR_INCONSISTENT) return status;
    memcpy(q, c->q0, (size_t)c->dae->nq * sizeof *q);
    c->holds = false;
    return approach(c, t, q, v, undamped, report);
}

/* Planar angles are numbers, so Newton's method may leave full turns in them. Takes them out of
 * those that changed since q0; false: there are none. */
static bool unwind(const ga_dae *dae, const double *q0, double *q)
{
    static const double two_pi = 6.283185307179586476925286766559;
    bool any = false;
    for (int k = 0, at = 0; k < dae->sys.node_count; ++k) {
        const ga_node node = dae->sys.nodes[k];
        at += ga_node_nq(node);
        if (node.group != GA_GROUP_SO2 && node.group != GA_GROUP_R2SO2 &&
            node.group != GA_GROUP_SE2)
            continue;
        const double turns = round((q[at - 1] - q0[at - 1]) / two_pi);
        q[at - 1] -= two_pi * turns;
        any |= turns != 0;
    }
    return any;
}

/* The position nearest to q0 in full turns, unless constraints count those. */
static ga_status remove_turns(ga_consistent *c, double t, double *q, const double *v,
                              ga_report *report)
{
    const ga_dae *dae = c->dae;
    double *wound = c->q;
    memcpy(wound, q, (size_t)dae->nq * sizeof *wound);
    if (!unwind(dae, c->q0, q)) return GA_OK;
    const double allowed = 1e-9 * ga_larger(ga_norm_max(dae->nq, wound), 1);
    const ga_status status = evaluate_position(c, t, q);
    if (status != GA_OK || !(ga_norm_max(dae->m, c->residual) <= allowed)) {
        memcpy(q, wound, (size_t)dae->nq * sizeof *wound);
        return GA_OK;
    }
    return approach(c, t, q, v, damped, report);
}

/* One step for holonomic constraints and k linear in v, one more against round-off. */
ga_status ga_consistent_move_velocity(ga_consistent *c, double t, const double *q, double *v)
{
    const ga_dae *dae = c->dae;
    double before = INFINITY;
    for (int iteration = 0; iteration < 30; ++iteration) {
        GA_TRY(ga_consistent_factor(c, t, q, v, GA_SADDLE_ALL));
        GA_TRY(evaluate_velocity(c, t, q, v));
        ga_consistent_lift(c, c->c, c->step);
        const double change = ga_norm_max(dae->nm, c->step), size = ga_norm_max(dae->nm, v);
        bool done = change <= round_off * size;
        done |= iteration > FEW &&
                ga_norm_max(dae->mp, c->residual) <= round_off * ga_larger(size, 1);
        if (done && at_rest_elsewhere(c, dae->mp, c->residual, size)) break;
        if (done) return GA_OK;
        if (!isfinite(change)) break;
        for (int i = 0; i < dae->nv; ++i) v[i] += c->step[i];
        done = iteration > 0 && change >= 0.5 * before && change <= 1e-11 * ga_larger(size, 1);
        if (done && at_rest_elsewhere(c, dae->mp, c->residual, size)) break;
        if (done) return GA_OK;
        before = change;
    }
    return GA_ERR_INCONSISTENT;
}

ga_status ga_consistent_move_position(ga_consistent *c, double t, double *q, const double *v)
{
    return approach(c, t, q, v, damped, NULL);
}

ga_status ga_consistent_position(ga_consistent *c, double t, double *q, const double *v)
{
    if (!c->dae->m) return GA_OK;
    ga_status status = find_rank(c, t, q, v, NULL);
    if (status == GA_OK) status = ga_consistent_move_position(c, t, q, v);
    c->holds = false;
    return status;
}

ga_status ga_consistent_velocity(ga_consistent *c, double t, const double *q, double *v)
{
    if (!c->dae->mp) return GA_OK;
    ga_status status = find_rank(c, t, q, v, NULL);
    if (status == GA_OK) status = ga_consistent_move_velocity(c, t, q, v);
    c->holds = false;
    return status;
}

/* --- singular positions ------------------------------------------------------------------- */

/* The part of c that G y cannot reach, relative to the largest entry of c. */
static double unreachable(ga_consistent *k)
{
    const ga_dae *dae = k->dae;
    const double size = ga_norm_max(dae->mp, k->c);
    ga_consistent_lift(k, k->c, k->x);
    memcpy(k->residual, k->c, (size_t)dae->mp * sizeof *k->c);
    ga_coords_multiply(&dae->G, k->saddle.G, -1, k->x, k->residual);
    return ga_norm_max(dae->mp, k->residual) / size;
}

static ga_status probe(ga_consistent *k, double t, const double *q, bool *singular)
{
    /* Regularisation and round-off leave far less than the first part of c; v of size 1 may be
     * nothing but round-off where nothing can move, and c where nothing turns. */
    static const double clearly = 1e-4, nothing = 1e-10;
    double *v = k->v0;
    for (int i = 0; i < k->dae->nv; ++i) v[i] = cos(1 + 7.3 * i); /* any velocities */
    GA_TRY(ga_consistent_velocity(k, t, q, v));
    GA_TRY(ga_consistent_factor(k, t, q, v, GA_SADDLE_ALL));
    GA_TRY(ga_dae_acceleration_rhs(k->dae, t, q, v, k->c));
    const double speed = ga_norm_max(k->dae->nv, v), size = ga_norm_max(k->dae->mp, k->c);
    *singular = speed > nothing && size > nothing * speed * speed && unreachable(k) > clearly;
    return GA_OK;
}

ga_status ga_consistent_is_singular(ga_dae *dae, double t, const double *q, bool *singular)
{
    ga_consistent k = {0};
    *singular = false;
    ga_status status = ga_consistent_create(dae, GA_SOLVER_AUTO, &k);
    if (status == GA_OK) status = probe(&k, t, q, singular);
    ga_consistent_destroy(&k);
    return status;
}

/* --- a start ------------------------------------------------------------------------------ */

static ga_status check_projection(const ga_projection *p, double limit, ga_report *report)
{
    if (p->q <= limit && p->v <= limit) return GA_OK;
    return ga_fail(report, GA_ERR_INCONSISTENT,
                   "the initial values are inconsistent: they had to be changed by %.3g (q) "
                   "and %.3g (v), more than the %.3g allowed",
                   p->q, p->v, limit);
}

static ga_status move(ga_consistent *c, double t, double *q, double *v, ga_report *report)
{
    const ga_dae *dae = c->dae;
    GA_TRY(find_rank(c, t, q, v, report));
    if (dae->m) GA_TRY(assemble(c, t, q, v, report));
    if (dae->m) GA_TRY(remove_turns(c, t, q, v, report));
    if (memcmp(q, c->q0, (size_t)dae->nq * sizeof *q)) {
        GA_TRY(find_rank(c, t, q, v, report));
        ga_nodes_difference(dae->sys.node_count, dae->sys.nodes, c->q0, q, c->x);
        c->projection.q = ga_norm_max(dae->nm, c->x);
    }
    ga_status status = ga_consistent_move_velocity(c, t, q, v);
    if (status == GA_ERR_INCONSISTENT) return inconsistent(c, t, "velocity", c->c, report);
    if (status != GA_OK) return explain(c, status, t, report);
    for (int i = 0; i < dae->nv; ++i) c->x[i] = v[i] - c->v0[i];
    c->projection.v = ga_norm_max(dae->nm, c->x);
    return GA_OK;
}

static ga_status start(ga_consistent *c, double t, double *q, double *v, double max_projection,
                       double *vd, double *multipliers, ga_report *report)
{
    const ga_dae *dae = c->dae;
    memcpy(c->q0, q, (size_t)dae->nq * sizeof *q);
    memcpy(c->v0, v, (size_t)dae->nv * sizeof *v);
    c->projection = (ga_projection){0, 0};
    c->least = INFINITY;
    ga_redundancy_reset(&c->redundancy);
    if (dae->mp) GA_TRY(move(c, t, q, v, report));
    GA_TRY(check_projection(&c->projection, max_projection, report));
    ga_status status = ga_consistent_acceleration(c, t, q, v, vd, multipliers);
    if (status == GA_ERR_NO_CONVERGE && contradiction(c, c->c) >= 0)
        return inconsistent(c, t, "acceleration", c->c, report);
    return explain(c, status, t, report);
}

/* One factorization serves for all that is done at the same position. */
ga_status ga_consistent_start(ga_consistent *c, double t, double *q, double *v,
                              double max_projection, double *vd, double *multipliers,
                              ga_report *report)
{
    ga_status status = start(c, t, q, v, max_projection, vd, multipliers, report);
    c->holds = false;
    return status;
}

/* --- from nearby -------------------------------------------------------------------------- */

/* Of Newton's method with a fixed matrix, from a good guess. */
enum { MOST_CORRECTIONS = 6 };
/* Its increments are smaller than those of a start, whose values may be far off. */
static const double nearby_round_off = 8 * DBL_EPSILON;

/* Is the correction the last one? Progress slower than by a factor of ten is the end, too: it
 * is a good one (*good) if what is left is round-off of constants in the constraints. */
static bool is_last(double change, double before, double size, bool *good)
{
    *good = change <= nearby_round_off * size;
    if (*good) return true;
    *good = change <= 1e-11 * ga_larger(size, 1);
    return !(change <= 0.1 * before);
}

/* q onto Phi = 0; false if that does not converge. The saddle matrix is left as factored here.
 */
static bool correct_position(ga_consistent *c, double t, double *q, const double *v)
{
    const ga_dae *dae = c->dae;
    const ga_saddle_parts parts = dae->p > 0 ? GA_SADDLE_HOLONOMIC : GA_SADDLE_ALL;
    double before = INFINITY;
    bool good = false;
    if (ga_consistent_factor(c, t, q, v, parts) != GA_OK) return false;
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (evaluate_position(c, t, q) != GA_OK) return false;
        ga_consistent_lift(c, c->c, c->step);
        const double change = ga_norm_max(dae->nm, c->step);
        if (is_last(change, before, ga_norm_max(dae->nq, q), &good)) break;
        before = change;
        ga_dae_update(dae, GA_MAP_EXP, q, c->step, q);
    }
    return good;
}

/* v onto w = 0, with the factors of correct_position if there are any. */
static bool correct_velocity(ga_consistent *c, double t, const double *q, double *v)
{
    const ga_dae *dae = c->dae;
    double before = INFINITY;
    bool good = false;
    ga_status status = dae->p > 0 ? ga_consistent_factor(c, t, q, v, GA_SADDLE_ALL)
                                  : ga_dae_gradient(c->dae, t, q, v, c->saddle.G);
    if (status != GA_OK) return false;
    for (int k = 0; k < MOST_CORRECTIONS; ++k) {
        if (evaluate_velocity(c, t, q, v) != GA_OK) return false;
        ga_consistent_lift(c, c->c, c->step);
        const double change = ga_norm_max(dae->nm, c->step);
        if (is_last(change, before, ga_norm_max(dae->nm, v), &good)) break;
        before = change;
        for (int i = 0; i < dae->nv; ++i) v[i] += c->step[i];
    }
    return good;
}

bool ga_consistent_correct(ga_consistent *c, double t, double *q, double *v, ga_levels levels)
{
    const bool good = levels & GA_POSITION_LEVEL
                          ? !c->dae->m || correct_position(c, t, q, v)
                          : ga_consistent_factor(c, t, q, v, GA_SADDLE_ALL) == GA_OK;
    return good && (!(levels & GA_VELOCITY_LEVEL) || correct_velocity(c, t, q, v));
}
