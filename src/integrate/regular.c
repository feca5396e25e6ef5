/* Constraints whose gradients depend on each other: redundant rows, rows that are switched off,
 * and singular positions.
 *
 * Matrix. G with dependent rows makes the saddle matrices singular. They get -e on the diagonal
 * of the multipliers,
 *
 *     [ S  G^T ]                e_i = eps D_i,  D = diag(G M^-1 G^T) with the diagonal of M
 *     [ G   -e ]
 *
 * and e_i = eps |B_i|^2 for eta; -1 where a row of G is zero. Residuals stay exact, so the
 * solution is that without e, and Newton's method converges with the rate eps/a in a direction
 * where A = G S^-1 G^T has the eigenvalue a against D. F = K_e^-1 (0, -e) maps such a direction
 * to eps/(a + eps) times itself, and null vectors of G^T to themselves: x - F x is free of what
 * the round-off of the rows, divided by eps, has put there. Otherwise tangents that are some
 * steps old would turn it into forces.
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
 * Monitor. At a singular position the smallest eigenvalue a of A passes zero like (t - t*)^2,
 * lambda grows like 1/(t - t*), and a step that ends just there has wrong accelerations that
 * no residual shows. a is found by inverse iteration, with the null space filtered out, one
 * iteration per factorisation. From two values the distance to t* follows; see ga_regular_near.
 */
#include "base/extremes.h"
#include "base/memory.h"
#include "base/report.h"
#include "integrate/stepper.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

static const double EPS_LARGEST = 1e-8;
static const double EPS_SMALLEST = 1e-12;
/* eps relative to the smallest eigenvalue. */
static const double EPS_SHARE = 1e-3;
/* Below this eigenvalue a position may be singular. */
static const double SINGULAR = 1e-2;
/* Pivots above this need no eigenvalue. */
static const double HEALTHY_PIVOT = 0.1;
/* Where a step may not end: this much of it before or behind a singular position. */
static const double TOO_NEAR = 0.14;
/* Within so many steps of one, derivatives by differences are not to be trusted. */
enum { FEW_STEPS = 4 };

static ga_status create_diagonal(int n, ga_coords *diagonal)
{
    int *index = GA_NEW(int, n);
    if (!index) return GA_ERR_MEMORY;
    for (int i = 0; i < n; ++i) index[i] = i;
    ga_status status = ga_coords_create(n, n, n, index, index, diagonal);
    ga_free(index);
    return status;
}

ga_status ga_regular_create(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    GA_TRY(create_diagonal(s->mp, &g->multipliers));
    GA_TRY(create_diagonal(s->m, &g->etas));
    g->rhs = s->jacobian.scale_work; /* nothing is scaled while these are in use */
    g->part = s->jacobian.scale_work + s->n;
    bool memory = (g->D = GA_NEW(double, s->mp)) && (g->size = GA_NEW(double, s->mp)) &&
                  (g->value = GA_NEW(double, s->mp)) && (g->eta_value = GA_NEW(double, s->m)) &&
                  (g->weak = GA_NEW(double, s->mp)) && (g->rows = GA_NEW(double, s->mp)) &&
                  (g->share = GA_NEW(double, s->nv)) && (g->off = GA_NEW(bool, s->mp)) &&
                  (g->kept = GA_NEW(bool, s->mp));
    return memory ? GA_OK : GA_ERR_MEMORY;
}

void ga_regular_destroy(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    void *memory[] = {g->D,    g->size,  g->value, g->eta_value, g->weak,
                      g->rows, g->share, g->off,   g->kept};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_coords_destroy(&g->multipliers);
    ga_coords_destroy(&g->etas);
    ga_dependence_destroy(&g->found);
}

/* --- weights ------------------------------------------------------------------------------ */

/* In (-1, 1); a linear congruential generator (Knuth's MMIX), so that results repeat. */
static double next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-52 - 1;
}

void ga_regular_reset(ga_stepper *s, double t)
{
    ga_regular *g = &s->regular;
    g->active = g->watching = g->seen = false;
    g->eps = g->eps_next = 0;
    g->least = g->least_old = INFINITY;
    g->alert = 0;
    g->rested = 0;
    g->ahead = g->still = 0;
    g->row_length = 0;
    g->t_old = t;
    g->rank = 0;
    memset(g->D, 0, (size_t)s->mp * sizeof *g->D);
    ga_dependence_destroy(&g->found);
}

void ga_regular_activate(ga_stepper *s, bool dependent)
{
    s->regular.active = true;
    if (dependent && !(s->regular.eps_next > 0)) s->regular.eps_next = EPS_LARGEST;
}

/* Masses to divide by, in s->work.one: of massless coordinates a small part of what their kind
 * has on average. */
static const double *masses(ga_stepper *s, const double *M)
{
    double *mass = s->work.one, mean[2] = {0, 0};
    int count[2] = {0, 0};
    memset(mass, 0, (size_t)s->nv * sizeof *mass);
    for (int k = 0; k < s->dae.M.count; ++k)
        if (s->dae.M.row[k] == s->dae.M.col[k]) mass[s->dae.M.row[k]] += fabs(M[k]);
    for (int i = 0; i < s->nv; ++i) {
        mean[s->kind[i]] += mass[i];
        ++count[s->kind[i]];
    }
    for (int k = 0; k < 2; ++k) mean[k] = mean[k] > 0 ? mean[k] / count[k] : 1;
    for (int i = 0; i < s->nv; ++i) mass[i] = ga_larger(mass[i], 1e-3 * mean[s->kind[i]]);
    return mass;
}

void ga_regular_weigh(ga_stepper *s, const double *M, const double *G)
{
    ga_regular *g = &s->regular;
    const ga_coords *at = &s->dae.G;
    const double *mass = masses(s, M);
    memset(g->D, 0, (size_t)s->mp * sizeof *g->D);
    for (int k = 0; k < at->count; ++k) g->D[at->row[k]] += G[k] * G[k] / mass[at->col[k]];
    memset(g->weak, 0, (size_t)s->mp * sizeof *g->weak);
    g->seed = 1;
}

const double *ga_regular_row_sizes(ga_stepper *s, const double *G)
{
    const ga_coords *at = &s->dae.G;
    double *size = s->regular.size;
    memset(size, 0, (size_t)s->mp * sizeof *size);
    for (int k = 0; k < at->count; ++k) size[at->row[k]] += G[k] * G[k];
    return size;
}

void ga_regular_diagonal(ga_stepper *s, const double *G, double eps, double *value)
{
    ga_regular *g = &s->regular;
    ga_regular_row_sizes(s, G);
    for (int i = 0; i < s->mp; ++i) {
        if (g->D[i] == 0 && g->size[i] > 0) g->D[i] = g->size[i]; /* switched on since */
        value[i] = g->size[i] > 0 ? -eps * g->D[i] : -1;
        g->off[i] = !(g->size[i] > 0);
    }
}

void ga_regular_prepare(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    g->eps = g->eps_next;
    if (!g->active) return;
    ga_regular_diagonal(s, s->tangent.G, g->eps, g->value);
    for (int i = 0; i < s->m; ++i) g->eta_value[i] = g->off[i] ? -1 : -g->eps * g->size[i];
    double sum = 0;
    for (int i = 0; i < s->mp; ++i) {
        g->kept[i] = g->off[i];
        sum += g->size[i];
    }
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
        if (!g->kept[i]) g->rhs[at + i] = g->value[i] * x[at + i];
    for (int i = 0; s->form->has_eta && i < s->m; ++i)
        if (!g->kept[i]) g->rhs[eta + i] = g->eta_value[i] * x[eta + i];
}

bool ga_regular_is_clean(const ga_stepper *s, const double *u, const double *l)
{
    return ga_norm_max(s->mp, l) <= s->tangent.typical_reaction * ga_norm_max(s->nv, u);
}

/* What it needs of eta, to the velocities it stands for: B_n^T x. */
static bool is_clean_eta(ga_stepper *s, const double *u, const double *x)
{
    enum { MARGIN = 8 };
    const double size = ga_norm_max(s->m, x) * s->regular.row_length;
    double *moved = s->regular.part;
    if (size <= ga_norm_max(s->nv, u)) return true;
    memset(moved, 0, (size_t)s->nv * sizeof *moved);
    ga_coords_multiply_transposed(&s->dae.B, s->tangent.B_eta, 1, x, moved);
    return size <= MARGIN * ga_norm_max(s->nv, moved);
}

static bool is_clean(ga_stepper *s, const double *x)
{
    if (!ga_regular_is_clean(s, x, x + s->terms.place[GA_AT_MULT])) return false;
    return !s->form->has_eta || is_clean_eta(s, x, x + s->terms.place[GA_AT_ETA]);
}

void ga_regular_filter(ga_stepper *s, double *x)
{
    ga_regular *g = &s->regular;
    if (!(g->eps > 0) || is_clean(s, x)) return;
    weigh_solution(s, x);
    ga_block_solve_once(s, g->rhs, g->part);
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
    ga_block_solve_once(s, g->rhs, g->part);
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
    for (int i = 0; i < s->nv; ++i) g->share[i] -= g->part[i] / g->eps;
}

/* Near a singular position lambda grows and x is not smooth; but there tangents are new, and
 * all of lambda may go through F, several times. */
void ga_regular_minimise(ga_stepper *s, bool keep)
{
    ga_regular *g = &s->regular;
    if (!(g->eps > 0)) return;
    const bool anew = s->now.steps == 0 ||
                      (s->jacobian.fresh && g->least < SINGULAR && ga_regular_weakens(s));
    double *z = g->rows;
    if (anew)
        memset(g->share, 0, (size_t)s->nv * sizeof *g->share);
    else
        memcpy(g->share, s->now.share, (size_t)s->nv * sizeof *g->share);
    memset(z, 0, (size_t)s->mp * sizeof *z);
    ga_coords_multiply(&s->dae.G, s->trial.G, -1, g->share, z);
    for (int i = 0; i < s->mp; ++i)
        z[i] = s->trial.lambda[i] + (g->D[i] > 0 ? z[i] / g->D[i] : 0);
    for (int k = anew ? 3 : 1; k > 0; --k) pass(s, z);
    for (int i = 0; !keep && i < s->mp; ++i) s->trial.lambda[i] -= z[i];
    for (int i = 0; !keep && s->form->weighted && i < s->mp; ++i) s->trial.l_tilde[i] -= z[i];
    if (!s->form->second_system || keep) return;
    for (int i = 0; i < s->nv; ++i) s->work.one[i] = s->trial.a_tilde[i] - s->trial.vd[i];
    for (int i = 0; i < s->mp; ++i) z[i] = s->trial.l_tilde[i] - s->trial.lambda[i];
    if (ga_regular_is_clean(s, s->work.one, z)) return;
    const double *l = apply_filter(s, z);
    for (int i = 0; i < s->mp; ++i) s->trial.l_tilde[i] -= l[i];
}

/* --- the monitor -------------------------------------------------------------------------- */

typedef const double *solve_rows(ga_stepper *s, const double *rows);

static const double *solve_with_iteration_matrix(ga_stepper *s, const double *rows)
{
    ga_regular *g = &s->regular;
    memset(g->rhs, 0, (size_t)s->n * sizeof *g->rhs);
    memcpy(g->rhs + s->nv, rows, (size_t)s->mp * sizeof *rows);
    ga_block_solve_once(s, g->rhs, g->part);
    return g->part + s->nv;
}

static const double *solve_with_saddle(ga_stepper *s, const double *rows)
{
    ga_saddle *k = &s->start.saddle;
    memset(k->rhs, 0, (size_t)s->nv * sizeof *k->rhs);
    memcpy(k->rhs + s->nv, rows, (size_t)s->mp * sizeof *rows);
    ga_saddle_solve_roughly(k, k->rhs, k->x); /* an eigenvalue needs few digits */
    return k->x + s->nv;
}

/* Some of every direction, for one may become the weakest that has no part in the last. */
static void mix(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    const double share = 0.3 / sqrt((double)s->mp);
    for (int i = 0; i < s->mp; ++i) {
        double x = next_random(&g->seed);
        if (g->D[i] > 0) g->weak[i] += share * x / sqrt(g->D[i]);
    }
}

/* Inverse iteration with A from the last weak direction: the smallest eigenvalue against D that
 * is not that of a null vector, as a Rayleigh quotient. */
static double smallest_eigenvalue(ga_stepper *s, solve_rows *solve, const double *diagonal,
                                  double eps, int iterations)
{
    ga_regular *g = &s->regular;
    double *rows = g->rows, *weak = g->weak, least = INFINITY;
    /* null vectors are to be below a/eps when the inverse makes them grow; a pass leaves
     * round-off/eps of them */
    const int passes = eps > 0 ? (eps > 1e-9 ? 1 : 2) : 0;
    mix(s);
    for (int iteration = 0; iteration < iterations; ++iteration) {
        for (int pass = 0; pass < passes; ++pass) {
            for (int i = 0; i < s->mp; ++i) rows[i] = diagonal[i] * weak[i];
            const double *null = solve(s, rows);
            for (int i = 0; i < s->mp; ++i) weak[i] -= null[i];
        }
        for (int i = 0; i < s->mp; ++i) rows[i] = g->D[i] * weak[i];
        const double *l = solve(s, rows);
        double size = 0, product = 0;
        for (int i = 0; i < s->mp; ++i) {
            size += g->D[i] * l[i] * l[i];
            product += rows[i] * l[i];
        }
        const bool usable = size > DBL_MIN && size < INFINITY;
        for (int i = 0; i < s->mp; ++i) weak[i] = usable ? l[i] / sqrt(size) : 0;
        if (!usable) return INFINITY;
        least = fabs(product) / size;
    }
    return least;
}

static void adapt(ga_regular *g)
{
    if (g->eps_next > 0)
        g->eps_next = ga_smaller(ga_larger(EPS_SHARE * g->least, EPS_SMALLEST), EPS_LARGEST);
}

void ga_regular_survey(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    g->least =
        smallest_eigenvalue(s, solve_with_saddle, s->start.saddle.diagonal, g->eps_next, 4);
    g->least_old = g->least;
    adapt(g);
}

bool ga_regular_doubts(const ga_stepper *s)
{
    const ga_regular *g = &s->regular;
    if (s->mp == 0 || g->asleep || g->watching || g->active) return false;
    return !(ga_factor_rcond(s->jacobian.factor) > HEALTHY_PIVOT);
}

/* Far from singular positions, and not on the way to one, every eighth look will do, if it is
 * not too long ago. Large systems have small eigenvalues because they are large, long chains
 * like 1/N^2; one that neither falls nor rises tells of no singular position. */
static bool may_rest(const ga_stepper *s)
{
    enum { MOST = 7, AHEAD = 64, AGO = 16, STILL = 256, LARGE = 500 };
    const ga_regular *g = &s->regular;
    if (!g->watching || g->rested >= MOST || s->step.t1 - g->t_old > AGO * s->step.h)
        return false;
    if (s->n > LARGE && g->eps == 0 && g->still > STILL * s->step.h) return true;
    return g->least_old > 0.1 * SINGULAR && g->ahead > AHEAD * s->step.h;
}

bool ga_regular_watch(ga_stepper *s)
{
    ga_regular *g = &s->regular;
    if (s->mp == 0 || g->asleep) return false;
    if (may_rest(s)) {
        ++g->rested;
        return false;
    }
    g->rested = 0;
    g->seen = true;
    if (!g->watching && !g->active && !ga_regular_doubts(s)) {
        g->least = INFINITY;
        return false;
    }
    int iterations = g->watching ? 1 : 3;
    g->watching = true;
    g->least =
        smallest_eigenvalue(s, solve_with_iteration_matrix, g->value, g->eps, iterations);
    adapt(g);
    return g->eps > 4 * g->eps_next;
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
    if (g->eps > 0) memcpy(s->now.share, g->share, (size_t)s->nv * sizeof *g->share);
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
