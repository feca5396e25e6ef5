/* Constraints whose gradients depend on each other, in steps: redundant rows, rows that are
 * switched off, and singular positions.
 *
 * Matrix. The iteration matrix gets -e on the diagonal of the multipliers, see redundancy.c,
 * and e_i = eps |B_i|^2 for eta; -1 where a row of G is zero. F = K_e^-1 (0, -e) maps null
 * vectors of G^T to themselves: x - F x is free of what the round-off of the rows, divided by
 * eps, has put there. Otherwise tangents that are some steps old would turn it into forces.
 *
 * Multipliers. Those with G^T lambda given and the smallest lambda^T D lambda have
 * D lambda = G x for some x in the space of velocities, which changes slowly. From the last x
 * and the multipliers the iteration has found,
 *
 *     z = lambda - D^-1 G x,   K_e (u, l) = (0, -e z),   lambda -= l,   x -= u/eps
 *
 * l = F z is the part of z in the null space, and z - l = -D^-1 G u/eps. As z is small, it does
 * not matter that K_e is of some steps ago. D is that of the start, so lambda has no jumps.
 *
 * Monitor. At a singular position the smallest eigenvalue a of A = G S^-1 G^T passes zero like
 * (t - t*)^2, lambda grows like 1/(t - t*), and a step that ends just there has wrong
 * accelerations that no residual shows. a is found by inverse iteration, with the null space
 * filtered out, one iteration per factorization. From two values the distance to t* follows;
 * see ga_regular_near.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Below this eigenvalue a position may be singular. */
static const double SINGULAR = 1e-2;
/* Pivots above this need no eigenvalue. */
static const double HEALTHY_PIVOT = 0.1;
/* Where a step may not end: this much of it before or behind a singular position. */
static const double TOO_NEAR = 0.14;
/* Within so many steps of one, derivatives by differences are not to be trusted. */
enum { FEW_STEPS = 4 };

ga_status ga_regular_create(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    GA_TRY(ga_coords_diagonal(s->m, &g->etas));
    g->rhs = s->jacobian.scale_work; /* nothing is scaled while these are in use */
    g->part = s->jacobian.scale_work + s->n;
    return (g->zero = GA_NEW(bool, s->mp)) ? GA_OK : GA_ERR_MEMORY;
}

void ga_regular_destroy(ga_stepper *s)
{
    ga_free(s->regular.zero);
    ga_coords_destroy(&s->regular.etas);
}

void ga_regular_reset(ga_stepper *s, double t)
{
    ga_regular *g = &s->regular;
    g->watching = g->seen = false;
    g->eps = 0;
    g->least = g->least_old = s->start.least;
    g->alert = 0;
    g->rested = 0;
    g->ahead = g->still = 0;
    g->row_length = 0;
    g->t_old = t;
}

void ga_regular_prepare(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    ga_redundancy *rows = &s->start.redundancy;
    g->eps = rows->eps;
    if (!rows->active) return;
    ga_redundancy_diagonal(rows, s->tangent.G, g->eps, g->value);
    memcpy(g->zero, rows->zero, (size_t)s->mp * sizeof *g->zero);
    for (int i = 0; i < s->m; ++i)
        g->eta_value[i] = g->zero[i] ? -1 : -g->eps * rows->length[i];
    double sum = 0;
    for (int i = 0; i < s->mp; ++i) sum += rows->length[i];
    g->row_length = sqrt(sum / s->mp);
}

/* --- solving ------------------------------------------------------------------------------ */

/* rhs = -e x for the rows that are not zero. */
static void weigh_solution(ga_stepper *s, const double *x)
{
    ga_regular *g = &s->regular;
    const int at = s->terms.place[GA_AT_MULT], eta = s->terms.place[GA_AT_ETA];
    memset(g->rhs, 0, (size_t)s->n * sizeof *g->rhs);
    for (int i = 0; i < s->mp; ++i)
        if (!g->zero[i]) g->rhs[at + i] = g->value[i] * x[at + i];
    for (int i = 0; s->form->has_eta && i < s->m; ++i)
        if (!g->zero[i]) g->rhs[eta + i] = g->eta_value[i] * x[eta + i];
}

void ga_regular_filter(ga_stepper *s, double *x)
{
    ga_regular *g = &s->regular;
    if (!(g->eps > 0)) return;
    weigh_solution(s, x);
    ga_cache_solve_once(s, g->rhs, g->part);
    for (int i = 0; i < s->n; ++i) x[i] -= g->part[i];
}

double ga_regular_reaction(ga_stepper *s, const double *G, const double *l)
{
    ga_regular *g = &s->regular;
    double *force = g->part, length = g->row_length;
    if (s->nv == 0 || s->mp == 0) return 0;
    memset(force, 0, (size_t)s->nv * sizeof *force);
    ga_coords_multiply_transposed(&s->dae.G, G, 1, l, force);
    if (!(length > 0)) { /* there was no matrix yet */
        for (int k = 0; k < s->dae.G.count; ++k) length += G[k] * G[k];
        length = sqrt(length / s->mp);
    }
    return length > 0 ? ga_norm_max(s->nv, force) / length : 0;
}

/* --- multipliers of minimal norm ---------------------------------------------------------- */

/* F z into part; its multipliers. */
static double *apply_filter(ga_stepper *s, const double *z)
{
    ga_regular *g = &s->regular;
    const int at = s->terms.place[GA_AT_MULT];
    memset(g->rhs, 0, (size_t)s->n * sizeof *g->rhs);
    for (int i = 0; i < s->mp; ++i) g->rhs[at + i] = g->value[i] * z[i];
    ga_cache_solve_once(s, g->rhs, g->part);
    return g->part + at;
}

/* z = F z, and x follows. */
static void pass(ga_stepper *s, double *z)
{
    ga_regular *g = &s->regular;
    memcpy(z, apply_filter(s, z), (size_t)s->mp * sizeof *z);
    if (s->form->has_eta)
        ga_coords_multiply_transposed(&s->dae.B, s->tangent.B_eta, 1,
                                      g->part + s->terms.place[GA_AT_ETA], g->part);
    for (int i = 0; i < s->nv; ++i) g->minimal[i] -= g->part[i] / g->eps;
}

/* Near a singular position lambda grows and x is not smooth; but there tangents are new, and
 * all of lambda may go through F, several times. */
void ga_regular_minimise(ga_stepper *s, bool keep)
{
    ga_regular *g = &s->regular;
    if (!(g->eps > 0)) return;
    const bool anew = s->now.steps == 0 || (ga_cache_has(s, GA_VALID_FRESH) &&
                                            g->least < SINGULAR && ga_regular_weakens(s));
    const double *D = s->start.redundancy.D;
    double *z = g->rows;
    if (anew)
        memset(g->minimal, 0, (size_t)s->nv * sizeof *g->minimal);
    else
        memcpy(g->minimal, s->now.minimal, (size_t)s->nv * sizeof *g->minimal);
    memset(z, 0, (size_t)s->mp * sizeof *z);
    ga_coords_multiply(&s->dae.G, s->trial.G, -1, g->minimal, z);
    for (int i = 0; i < s->mp; ++i) z[i] = s->trial.lambda[i] + (D[i] > 0 ? z[i] / D[i] : 0);
    for (int k = anew ? 3 : 1; k > 0; --k) pass(s, z);
    for (int i = 0; !keep && i < s->mp; ++i) s->trial.lambda[i] -= z[i];
    for (int i = 0; !keep && s->form->weighted && i < s->mp; ++i) s->trial.l_tilde[i] -= z[i];
    if (!s->form->second_system || keep) return;
    for (int i = 0; i < s->nv; ++i) s->work.one[i] = s->trial.a_tilde[i] - s->trial.vd[i];
    for (int i = 0; i < s->mp; ++i) z[i] = s->trial.l_tilde[i] - s->trial.lambda[i];
    const double *l = apply_filter(s, z);
    for (int i = 0; i < s->mp; ++i) s->trial.l_tilde[i] -= l[i];
}

/* eta of the last step, with another B_n: what had no effect there would have one here.
 * Tangents that were taken off the constraints, where dependent rows are not quite dependent,
 * have left much of it. */
void ga_regular_predict_eta(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    const int eta = s->terms.place[GA_AT_ETA];
    if (!(g->eps > 0)) return;
    if (!ga_cache_has(s, GA_VALID_FACTORS)) {
        memset(s->trial.eta, 0, (size_t)s->m * sizeof *s->trial.eta);
        return;
    }
    memset(g->rhs, 0, (size_t)s->n * sizeof *g->rhs);
    for (int i = 0; i < s->m; ++i)
        if (!g->zero[i]) g->rhs[eta + i] = g->eta_value[i] * s->trial.eta[i];
    ga_cache_solve_once(s, g->rhs, g->part);
    for (int i = 0; i < s->m; ++i) s->trial.eta[i] -= g->part[eta + i];
}

/* --- the monitor -------------------------------------------------------------------------- */

static const double *solve_rows(void *user, const double *rows)
{
    ga_stepper *s = user;
    ga_regular *g = &s->regular;
    memset(g->rhs, 0, (size_t)s->n * sizeof *g->rhs);
    memcpy(g->rhs + s->nv, rows, (size_t)s->mp * sizeof *rows);
    ga_cache_solve_once(s, g->rhs, g->part);
    return g->part + s->nv;
}

bool ga_regular_doubts(const ga_stepper *s)
{
    const ga_regular *g = &s->regular;
    if (s->mp == 0 || g->watching || s->start.redundancy.active) return false;
    return !(ga_factor_rcond(s->jacobian.factor) > HEALTHY_PIVOT);
}

/* Far from singular positions, and not on the way to one, every eighth look will do, if it is
 * not too long ago. Large systems have small eigenvalues because they are large, long chains
 * like 1/N^2; one that neither falls nor rises tells of no singular position. */
static bool may_rest(const ga_stepper *s)
{
    enum { MOST = 7, AHEAD = 64, AGO = 16, STILL = 256 };
    const ga_regular *g = &s->regular;
    if (!g->watching || g->rested >= MOST || s->step.t1 - g->t_old > AGO * s->step.h)
        return false;
    if (g->eps == 0 && g->still > STILL * s->step.h) return true;
    return g->least_old > 0.1 * SINGULAR && g->ahead > AHEAD * s->step.h;
}

bool ga_regular_watch(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    if (s->mp == 0) return false;
    if (may_rest(s)) {
        ++g->rested;
        return false;
    }
    g->rested = 0;
    g->seen = true;
    if (!g->watching && !s->start.redundancy.active && !ga_regular_doubts(s)) {
        g->least = INFINITY;
        return false;
    }
    int iterations = g->watching ? 1 : 3;
    g->watching = true;
    g->least = ga_redundancy_smallest(&s->start.redundancy, solve_rows, s, g->value, g->eps,
                                      iterations);
    return g->eps > 4 * s->start.redundancy.eps;
}

/* With a = const (t - t*)^2 at t_old and t1: how far t* is from the one that is nearer to it.
 */
static double distance(const ga_stepper *s)
{
    const ga_regular *g = &s->regular;
    if (!(ga_smaller(g->least, g->least_old) < SINGULAR)) return INFINITY;
    double ratio = sqrt(g->least / g->least_old);
    if (ratio > 1) ratio = 1 / ratio;
    return (s->step.t1 - g->t_old) * ratio / (1 - ratio);
}

bool ga_regular_near(const ga_stepper *s)
{
    const ga_regular *g = &s->regular;
    return g->seen && g->least < g->least_old && distance(s) < TOO_NEAR * s->step.h;
}

bool ga_regular_weakens(const ga_stepper *s)
{
    const ga_regular *g = &s->regular;
    return g->alert > 0 || (g->seen && distance(s) < FEW_STEPS * s->step.h);
}

void ga_regular_alert(ga_stepper *s) { s->regular.alert = FEW_STEPS; }

void ga_regular_accept(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    if (g->eps > 0) memcpy(s->now.minimal, g->minimal, (size_t)s->nv * sizeof *g->minimal);
    if (g->alert > 0) --g->alert;
    if (!g->seen) return;
    g->seen = false;
    if (distance(s) < FEW_STEPS * s->step.h) ga_regular_alert(s);
    if (!(g->least < INFINITY)) return; /* t_old is where least_old was */
    const double fall = (sqrt(g->least_old) - sqrt(g->least)) / (s->step.t1 - g->t_old);
    g->still = g->least_old < INFINITY ? sqrt(g->least) / fabs(fall) : 0;
    g->ahead = fall > 0 ? sqrt(g->least) / fall : g->least_old < INFINITY ? INFINITY : 0;
    g->least_old = g->least;
    g->t_old = s->step.t1;
}
