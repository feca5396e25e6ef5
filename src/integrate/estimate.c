/* The local error of a converged trial; formulas in alpha.h. */
#include "base/extremes.h"
#include "base/report.h"
#include "integrate/alpha.h"

#include <math.h>
#include <string.h>

/* Curvature of v' over the last two steps: v'''/2. */
static double second_difference(const ga_stepper *s, int i)
{
    const ga_state *now = &s->now;
    double after = (s->trial.vd[i] - now->vd[i]) / s->step.h;
    double before = (now->vd[i] - now->vd_old[0][i]) / now->h;
    return (after - before) / (s->step.h + now->h);
}

/* There is no e_q of states. */
static void clear_states(const ga_stepper *s, double *e_q)
{
    memset(e_q + s->dae.nm, 0, (size_t)s->dae.nx * sizeof *e_q);
}

/* e_q and e_v as if there were no constraints. */
static void raw_estimate(ga_stepper *s, ga_error *e)
{
    const ga_coefficients *p = &s->def.coefficients;
    const ga_state *now = &s->now;
    const double h = s->step.h, h2 = h * h, gamma = p->gamma, beta = p->beta;
    double *v = s->work.one, *vd = s->work.two;
    for (int i = 0; i < s->nv; ++i) {
        v[i] = 0.5 * (s->known.v[i] + s->trial.v[i]);
        vd[i] = 0.5 * (now->vd[i] + s->trial.vd[i]);
    }
    ga_nodes_bracket(s->dae.sys.node_count, s->dae.sys.nodes, v, vd, e->q);
    for (int i = 0; i < s->nv; ++i) {
        const double vd0 = now->vd[i], vd1 = s->trial.vd[i], an = s->known.a[i],
                     a1 = s->trial.a[i];
        e->q[i] =
            h * h2 / 12 * e->q[i] + h2 * (vd0 / 3 + vd1 / 6 - (0.5 - beta) * an - beta * a1);
        e->v[i] = h * (0.5 * (vd0 + vd1) - (1 - gamma) * an - gamma * a1) -
                  h * h2 / 6 * second_difference(s, i);
    }
    if (s->def.map == GA_MAP_CAYLEY) ga_dae_add_cayley_defect(&s->dae, h * h2, v, e->q);
    clear_states(s, e->q);
}

/* x = J^-1 r, and what it does to v': in index 2 u + B_n^T x_eta. The two nearly cancel, so B_n
 * must be the one in the matrix. */
static const double *solve_for_v(ga_stepper *s)
{
    ga_cache_solve(s, s->newton.r, s->newton.x);
    double *dvd = s->work.one;
    memcpy(dvd, s->newton.x, (size_t)s->nv * sizeof *dvd);
    if (s->form->has_eta)
        ga_coords_multiply_transposed(&s->dae.B, s->tangent.B_eta, 1,
                                      s->newton.x + s->nv + s->mp, dvd);
    return dvd;
}

/* Takes J^-1 r out of the errors. */
static void subtract_response(ga_stepper *s, double *error_q, double *error_v)
{
    const double *dvd = solve_for_v(s);
    for (int i = 0; i < s->nv; ++i) {
        error_q[i] -= s->step.c_q * s->newton.x[i];
        error_v[i] -= s->step.c_v * dvd[i];
    }
}

/* How the step answers to defects. The tangents may be some steps old; the second pass, with
 * the gradients of now, takes out what that leaves across the constraints. */
void ga_estimate_respond(ga_stepper *s, double *error_q, double *error_v)
{
    const ga_dae *dae = &s->dae;
    double *w = s->newton.r + s->nv, *Phi = s->newton.r + s->nv + s->mp;
    for (int pass = 0; pass < (ga_cache_has(s, GA_VALID_FRESH) ? 1 : 2); ++pass) {
        memset(s->newton.r, 0, (size_t)s->n * sizeof *s->newton.r);
        if (pass == 0) {
            ga_coords_multiply(&dae->K, s->tangent.K, 1, error_q, s->newton.r);
            ga_coords_multiply(&dae->C, s->tangent.C, 1, error_v, s->newton.r);
        }
        ga_coords_multiply(&dae->Z, s->tangent.Z, 1 / s->step.c_v, error_q, w);
        ga_coords_multiply(&dae->G, s->trial.G, 1 / s->step.c_v, error_v, w);
        ga_coords_multiply(&dae->B, s->trial.G, 1 / s->step.c_q, error_q, Phi);
        subtract_response(s, error_q, error_v);
    }
}

void ga_estimate_smooth(ga_stepper *s, double *error_v)
{
    const ga_dae *dae = &s->dae;
    if (dae->K.count == 0 && dae->C.count == 0) return;
    memset(s->newton.r, 0, (size_t)s->n * sizeof *s->newton.r);
    ga_coords_multiply(&dae->K, s->tangent.K, s->step.c_q, error_v, s->newton.r);
    ga_coords_multiply(&dae->C, s->tangent.C, s->step.c_v, error_v, s->newton.r);
    const double *dvd = solve_for_v(s);
    for (int i = 0; i < s->nv; ++i) error_v[i] -= dvd[i];
}

/* Modes slower than this much of the time in which the motion covers its size add up to the
 * error at the end. Smaller values resolve more of the stiff modes than is needed; with larger
 * ones errors of the motion itself are taken for stiff. */
static const double SLOW = 0.02;

static double slow_step(const ga_alpha *a, const double *v)
{
    const ga_tolerance *tol = a->base.tolerance;
    double speed[2] = {tol->size_v[0], tol->size_v[1]}, time = INFINITY;
    ga_newton_raise(&a->s, v, 1, speed);
    for (int k = 0; k < 2; ++k) time = ga_smaller(time, tol->size_q[k] / speed[k]);
    return SLOW * time;
}

/* Smooths with the matrix of a step of size tau, twice. */
static bool smooth_with(ga_stepper *s, double tau, double *e)
{
    const double ratio = tau / s->step.h, c_q = s->step.c_q, c_v = s->step.c_v;
    s->step.c_q *= ratio * ratio;
    s->step.c_v *= ratio;
    const bool done = ga_cache_factor(s) == GA_OK;
    for (int pass = 0; done && pass < 2; ++pass) ga_estimate_smooth(s, e);
    s->step.c_q = c_q;
    s->step.c_v = c_v;
    return done;
}

double ga_estimate_slow(ga_alpha *a, const ga_error *e)
{
    ga_stepper *s = &a->s;
    const double tau = slow_step(a, s->trial.v);
    double *x = s->work.two;
    memcpy(x, e->q, (size_t)s->nv * sizeof *x);
    if (s->step.h >= tau)
        ga_estimate_smooth(s, x);
    else if (!smooth_with(s, tau, x))
        return e->local;
    /* no more than all of it: compressed springs make J nearly singular */
    const double slow = ga_smaller(ga_alpha_weigh(a, x, e->v), e->local);
    return s->now.steps == 0 ? slow + a->smoothing : slow;
}

/* x without the part that G = B sees; the saddle matrix is that of the start. */
static void make_tangent(ga_stepper *s, double *x)
{
    double *bottom = s->work.c, *step = s->work.step;
    memset(bottom, 0, (size_t)s->mp * sizeof *bottom);
    ga_coords_multiply(&s->dae.G, s->start.saddle.G, -1, x, bottom);
    ga_consistent_lift(&s->start, bottom, step);
    for (int i = 0; i < s->nv; ++i) x[i] += step[i];
}

/* A first step of size h misses h^2/2 of what was taken from v', and h of it in the velocities.
 * The slow part of that is an error of the motion. */
static double smoothing_error(ga_alpha *a, double h, const double *taken)
{
    ga_stepper *s = &a->s;
    double *e = s->work.two, *v = s->work.one;
    for (int i = 0; i < s->nv; ++i) {
        e[i] = 0.5 * h * h * taken[i];
        v[i] = s->now.v_exact[i] + h * s->now.vd[i];
    }
    if (!smooth_with(s, ga_larger(slow_step(a, v), h), e)) return INFINITY;
    make_tangent(s, e);
    return ga_alpha_weigh(a, e, s->work.zero);
}

ga_status ga_estimate_smooth_start(ga_alpha *a, double h)
{
    ga_stepper *s = &a->s;
    ga_state *now = &s->now;
    double *taken = s->work.vd_hat, *guess = s->work.guess;
    a->smoothing = 0;
    if (s->dae.K.count == 0 && s->dae.C.count == 0) return GA_OK;
    memcpy(guess, now->lambda, (size_t)s->mp * sizeof *guess);
    GA_TRY(ga_consistent_acceleration(&s->start, now->t, now->q, now->v_exact, now->vd, guess));
    GA_TRY(ga_saddle_factor(&s->start.saddle, GA_SADDLE_ALL));
    GA_TRY(ga_step_linearise(s, h));
    memcpy(taken, now->vd, (size_t)s->nv * sizeof *taken);
    if (smooth_with(s, h, taken)) {
        for (int i = 0; i < s->nv; ++i) taken[i] = now->vd[i] - taken[i];
        make_tangent(s, taken);
        for (int i = 0; i < s->nv; ++i) now->vd[i] -= taken[i];
        a->smoothing = smoothing_error(a, h, taken);
    }
    ga_cache_forget(s);
    return GA_OK;
}

/* The others: e := x from J (x, y) = (r, b), with r in s->newton.r, along the constraints as b
 * says and without stiff modes; again with a second pass for old tangents. */
static void filter(ga_stepper *s, const double *b, double *e, double *y)
{
    double *rows = s->newton.r + s->nv;
    memcpy(rows, b, (size_t)s->mp * sizeof *rows);
    ga_cache_solve(s, s->newton.r, s->newton.x);
    memcpy(e, s->newton.x, (size_t)s->nv * sizeof *e);
    memcpy(y, s->newton.x + s->nv, (size_t)s->mp * sizeof *y);
    if (ga_cache_has(s, GA_VALID_FRESH)) return;
    memset(s->newton.r, 0, (size_t)s->nv * sizeof *s->newton.r);
    for (int i = 0; i < s->mp; ++i) rows[i] = -b[i];
    ga_coords_multiply(&s->dae.G, s->trial.G, 1, e, rows);
    ga_cache_solve(s, s->newton.r, s->newton.x);
    for (int i = 0; i < s->nv; ++i) e[i] -= s->newton.x[i];
    for (int i = 0; i < s->mp; ++i) y[i] -= s->newton.x[s->nv + i];
}

/* e_q may not leave Phi = 0 (nonholonomic constraints do not restrict it), and two consistent
 * velocities at configurations e_q apart differ by e_v with G e_v + Z e_q = 0.
 *
 * In index 3, v_n is off its constraints by delta = M^-1 G_n^T y/h, y the multiplier of the
 * first solve. It acts through velocity-dependent forces, and turns into the tangent space of
 * q_{n+1}: what is left of it there is (G_{n+1} - G_n)^T y/h. Both are part of the error of v.
 */
static void project(ga_stepper *s, ga_error *e)
{
    const ga_dae *dae = &s->dae;
    double *b = s->at.w, *delta = s->work.one, *y = s->at.mu;
    memcpy(delta, e->q, (size_t)s->nv * sizeof *delta);
    memset(s->newton.r, 0, (size_t)s->n * sizeof *s->newton.r);
    memset(b, 0, (size_t)s->mp * sizeof *b);
    ga_coords_multiply(&dae->M, s->tangent.M, 1, e->q, s->newton.r);
    ga_coords_multiply(&dae->N, s->trial.G + dae->B.count, 1, e->q, b + s->m);
    filter(s, b, e->q, y);
    clear_states(s, e->q);

    memset(s->newton.r, 0, (size_t)s->n * sizeof *s->newton.r);
    ga_coords_multiply(&dae->M, s->tangent.M, 1, e->v, s->newton.r);
    if (!s->form->velocity_level && s->m) {
        for (int i = 0; i < s->nv; ++i) delta[i] = (delta[i] - e->q[i]) / s->step.h;
        ga_coords_multiply(&dae->C, s->tangent.C, s->step.h, delta, s->newton.r);
        ga_coords_multiply_transposed(&dae->G, s->trial.G, 1 / s->step.h, y, s->newton.r);
        ga_coords_multiply_transposed(&dae->G, s->now.G, -1 / s->step.h, y, s->newton.r);
    }
    memset(b, 0, (size_t)s->mp * sizeof *b);
    ga_coords_multiply(&dae->Z, s->tangent.Z, -1, e->q, b);
    filter(s, b, e->v, y);
}

void ga_estimate(ga_alpha *a, ga_error *e)
{
    raw_estimate(&a->s, e);
    ga_order_see(a, e);
    if (a->s.form->has_eta)
        ga_estimate_respond(&a->s, e->q, e->v);
    else
        project(&a->s, e);
}
