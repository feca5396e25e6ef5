/* <galpha/sim.h>: a model, an integrator, and what goes on between them. */
#include "api/channels.h"
#include "api/given.h"
#include "api/row_text.h"
#include "api/sim_joints.h"
#include "api/sim_report.h"
#include "api/sim_settings.h"
#include "base/memory.h"
#include "base/report.h"
#include "base/struct_size.h"
#include "integrate/integrator_use.h"
#include "model/gap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A contact that takes part in an impact. */
typedef struct ga_contact {
    const ga_element *element;
    double restitution;
    bool touches;
    double gradient[GA_TWIST * GA_ELEMENT_MAX_NODES]; /* of the gap's rate */
    double before;                                    /* rate of the gap before the impact */
    double target;                                    /* least rate of the gap afterwards */
    double ease;                                      /* rate by impulse */
    double impulse;                                   /* so far; never pulls */
    double full;                                      /* impulse with full restitution */
} ga_contact;

struct ga_sim {
    const ga_model *model;
    ga_sim_def def;
    ga_assembly *assembly;
    ga_pool *pool; /* null: one thread */
    ga_integrator *integrator;
    ga_channels channels;
    double *q0, *v0;    /* as the model gives them */
    double *q, *v, *vd; /* of a moment between two steps */
    double *multipliers;
    double *scheme;           /* multipliers of the scheme at an output */
    double *last_v, *last_vd; /* of the last sample, with v' of the acceleration level */
    double *now_vd;           /* the same of this sample */
    double *direction, *jump; /* of an impact */
    ga_contact *contacts;
    bool *unilateral; /* event functions: all */
    double *residual;
    int *event_element;   /* whose event each function is */
    ga_given_times given; /* what functions of time ask of the steps */
    int next_break;       /* the first break that is not behind */

    double from_t; /* where a run begins: at t_start, or where a state was set */
    double *from_q, *from_v;
    double *now_q, *now_v; /* where stepping stands */
    bool stepped;          /* a run has begun since the start was set */
    bool running;          /* and is not over */
    bool fed;              /* an input has changed since the last step */

    double t, step;
    bool started; /* the first sample has been accepted */
    bool loaded;  /* powers depend on multipliers */
    bool impact;  /* an impact happened, what it cost is to be counted */
    bool locked;  /* something sticks or rests, and its events depend on multipliers */
    ga_powers last;
    double last_t;
    ga_energy energy, initial;
    double balance0, drift_max, drift_time, scale;
    double least_kinetic, largest_kinetic, largest_potential;
    double exchanged; /* the largest change of potential, dissipated, work */

    int method_warnings; /* of the integrator, from its creation */
    ga_warnings lasting; /* of the model, at every start */
    ga_warnings warnings;

    /* of check */
    ga_sim_redundancy *redundancies;
    ga_sim_moved *moved;
    ga_sim_joint *joints;
    const char **with;
    char (*directions)[GA_ROW_TEXT]; /* of redundancies */
    char *row_text;                  /* of the row asked for last */

    /* of look */
    ga_gap *gaps;
    int gap_count;
};

/* --- energy ------------------------------------------------------------------------------- */

static void powers_at(ga_sim *sim, const ga_sample *at, ga_powers *powers)
{
    ga_element_state state =
        ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    ga_assembly_powers(sim->assembly, &state, powers);
}

/* Does power depend on multipliers, as that of motions and of friction in joints does? */
static bool find_loaded(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->rheonomic || model->elements[e]->host) return true;
    return false;
}

/* A motion may have a kink at t_end itself: what counts is the side before it. At other kinks
 * steps end and begin beside them. */
static double before_end(const ga_sim *sim, double t)
{
    if (t < sim->def.t_end) return t;
    return t - 32 * DBL_EPSILON * fmax(fabs(t), t - sim->def.t_start);
}

/* The same with multipliers of the acceleration level, which are as good as q and v. Those of
 * the scheme are not: with errors of O(h^2) they would be most of the balance's. vd: what
 * belongs to them. */
static void exact_powers_at(ga_sim *sim, const ga_sample *at, ga_reactions_at *reactions,
                            double *vd, ga_powers *powers)
{
    const int m = sim->model->rows, p = sim->model->speed_rows;
    double *lambda = sim->multipliers, *psi = sim->multipliers + m;
    ga_sample exact = *at;
    if (sim->loaded) {
        if (at->lambda != lambda) {
            memcpy(lambda, at->lambda, (size_t)m * sizeof *lambda);
            memcpy(psi, at->psi, (size_t)p * sizeof *psi);
            memcpy(vd, at->vd, (size_t)sim->assembly->nv * sizeof *vd);
        }
        reactions(sim->integrator, before_end(sim, at->t), at->q, at->v, vd, lambda, psi);
        exact.lambda = lambda;
        exact.psi = psi;
    }
    powers_at(sim, &exact, powers);
}

/* Halfway between the last sample and t, where v and its derivative are given, by the dense
 * output; false if it is not to be had. Where multipliers count, v is the cubic with slopes of
 * the acceleration level: those of the scheme leave an error of O(h^3) in it. */
static bool powers_between(ga_sim *sim, double t, const double *v, const double *vd,
                           ga_powers *powers)
{
    double *lambda = sim->multipliers, *psi = sim->multipliers + sim->model->rows;
    double h = t - sim->last_t, middle = sim->last_t + h / 2;
    if (ga_integrator_interpolate(sim->integrator, middle, sim->q, sim->v, sim->vd, lambda,
                                  psi))
        return false;
    for (int k = 0; sim->loaded && k < sim->assembly->nv; ++k)
        sim->v[k] = (sim->last_v[k] + v[k]) / 2 + h / 8 * (sim->last_vd[k] - vd[k]);
    ga_sample at = {.t = middle, .q = sim->q, .v = sim->v, .lambda = lambda, .psi = psi};
    exact_powers_at(sim, &at, ga_integrator_reactions_near, sim->vd, powers);
    return true;
}

/* Adds what was lost and put in from the last sample to t, where powers are `now`: Simpson's
 * rule, with an error of O(h^5) a step, as much as the dense output adds. */
static void add_work(ga_sim *sim, const ga_powers *now, double t, const double *v,
                     const double *vd, ga_energy *energy)
{
    double h = t - sim->last_t;
    ga_powers middle;
    bool any = now->dissipation != 0 || now->work != 0 || sim->last.dissipation != 0 ||
               sim->last.work != 0;
    if (h <= 0 || !any) return;
    if (!powers_between(sim, t, v, vd, &middle)) {
        middle.dissipation = (now->dissipation + sim->last.dissipation) / 2;
        middle.work = (now->work + sim->last.work) / 2;
    }
    energy->dissipated +=
        h / 6 * (sim->last.dissipation + 4 * middle.dissipation + now->dissipation);
    energy->work += h / 6 * (sim->last.work + 4 * middle.work + now->work);
}

/* True if the integration has just started anew behind a break: no time has passed. */
static bool has_crossed(ga_sim *sim, double t)
{
    const ga_times *breaks = &sim->given.breaks;
    const int before = sim->next_break;
    while (sim->next_break < breaks->count && breaks->at[sim->next_break] < t)
        ++sim->next_break;
    return sim->started && sim->next_break > before &&
           t - sim->last_t <= 1e-12 * fmax(fabs(t), sim->def.t_end - sim->def.t_start);
}

/* Where the velocity that a motion prescribes jumps, an impulse along its row makes all
 * velocities jump to values that keep the other constraints, which do no work. What the kinetic
 * energy gains is the work of the motion. */
static void add_impulsive_work(ga_sim *sim, const ga_powers *now, double t)
{
    if (has_crossed(sim, t)) sim->energy.work += now->kinetic - sim->last.kinetic;
}

static void account(ga_sim *sim, const ga_sample *at)
{
    ga_powers now;
    exact_powers_at(sim, at, ga_integrator_reactions, sim->now_vd, &now);
    if (sim->started) add_work(sim, &now, at->t, at->v, sim->now_vd, &sim->energy);
    add_impulsive_work(sim, &now, at->t);
    memcpy(sim->last_v, at->v, (size_t)sim->assembly->nv * sizeof *at->v);
    memcpy(sim->last_vd, sim->now_vd, (size_t)sim->assembly->nv * sizeof *at->v);
    /* An impact takes energy. Should it add any, that is an error of the balance. */
    if (sim->impact)
        sim->energy.dissipated +=
            fmax(sim->last.kinetic + sim->last.potential - now.kinetic - now.potential, 0);
    sim->impact = false;
    sim->energy.kinetic = now.kinetic;
    sim->energy.potential = now.potential;
    sim->last = now;
    sim->last_t = at->t;
    const ga_energy *e = &sim->energy;
    double balance = e->kinetic + e->potential + e->dissipated - e->work;
    if (!sim->started) {
        sim->initial = *e;
        sim->balance0 = balance;
        sim->started = true;
    }
    const double drift = fabs(balance - sim->balance0);
    if (drift > sim->drift_max || isnan(drift)) {
        sim->drift_max = drift;
        sim->drift_time = at->t;
    }
    sim->least_kinetic = fmin(sim->least_kinetic, e->kinetic);
    sim->largest_kinetic = fmax(sim->largest_kinetic, e->kinetic);
    sim->largest_potential = fmax(sim->largest_potential, fabs(e->potential));
    const double changes[] = {fabs(e->potential - sim->initial.potential), fabs(e->dissipated),
                              fabs(e->work)};
    for (int k = 0; k < 3; ++k) sim->exchanged = fmax(sim->exchanged, changes[k]);
    sim->scale = fmax(sim->largest_kinetic, sim->exchanged);
}

/* --- callbacks of the simulation ---------------------------------------------------------- */

static double dot(int n, const double *x, const double *y)
{
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += x[k] * y[k];
    return sum;
}

/* Each takes a solve. */
enum { MOST_ASSUMED = 100 };

/* Whether a rate can be other than zero: an impulse along it moves something, by more than a
 * millionth of what it would do to the bodies alone. */
static bool can_move(ga_sim *sim, const ga_element *element, const double *row)
{
    const ga_assembly *a = sim->assembly;
    const double *q = ga_integrator_q(sim->integrator), *v = ga_integrator_v(sim->integrator);
    const int side = a->model->dimension == 2 ? 1 : 9;
    double alone = 0;
    for (int k = 0; k < element->node_count; ++k) {
        const int node = element->nodes[k];
        if (node < 0 || !a->has_body[node]) continue;
        const double *J = a->inertia + (size_t)side * (size_t)node;
        alone += 1 / (side == 1 ? J[0] : J[0] + J[4] + J[8]);
    }
    memset(sim->direction, 0, (size_t)a->nv * sizeof *sim->direction);
    ga_assembly_add_row(a, element, row, sim->direction);
    return ga_integrator_impulse(sim->integrator, sim->def.t_start, q, v, sim->direction,
                                 sim->jump, NULL) == GA_OK &&
           dot(a->nv, sim->direction, sim->jump) > 1e-6 * alone;
}

static void warn_assumptions(ga_sim *sim)
{
    int count = 0;
    for (int e = 0; e < sim->model->element_count && count < MOST_ASSUMED; ++e) {
        const ga_element *element = sim->model->elements[e];
        double rows[2 * GA_TWIST * GA_ELEMENT_MAX_NODES];
        if (!element->type->assumed || sim->model->dimension == 2) continue;
        const ga_element_state state =
            ga_assembly_state(sim->assembly, sim->def.t_start, ga_integrator_q(sim->integrator),
                              ga_integrator_v(sim->integrator), NULL, NULL);
        const int rates = element->type->assumed(element, &state, rows);
        bool moves = false;
        for (int r = 0; r < rates && !moves; ++r)
            moves = can_move(sim, element, rows + r * GA_TWIST * element->node_count);
        if (moves)
            ga_warn(&sim->warnings, GA_WARN_AXIS_NOT_KEPT, element->name, NAN, "%s.%.60s: %s",
                    element->type->section, element->name, element->type->assumption);
        ++count;
    }
}

/* With less damping unresolved oscillations decay too slowly, or grow where steps change. */
static const double POSITIONS_RHO = 0.6;

static void warn_damping(ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    const double rho = ga_coefficients_describe(&sim->def.integrator.coefficients).rho_infinity;
    if (!(control->relative > 0) || control->mode != GA_ERROR_POSITIONS) return;
    if (!(rho > POSITIONS_RHO)) return;
    ga_warn(&sim->warnings, GA_WARN_DAMPING, NULL, NAN,
            "`error: positions` with rho_inf = %.3g: oscillations that are not resolved decay "
            "slowly, and the error may be far above the tolerance",
            rho);
}

/* Without round-off the sum would be at most 1. */
static void warn_tolerance(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    if (!(stats.error_sum > 2)) return;
    ga_warn(&sim->warnings, GA_WARN_TOLERANCE, NULL, NAN,
            "the tolerance of %.3g was not met: the estimated errors of the steps add up to "
            "%.3g times as much",
            sim->def.control.relative, stats.error_sum);
}

/* Runs that take more steps than this and might take far fewer say so. */
static const long MANY_STEPS = 10000;

/* What makes a run expensive, and what to do about it. */
static void warn_cost(ga_sim *sim)
{
    const ga_control_statistics stats = ga_integrator_control_statistics(sim->integrator);
    if (!(sim->def.control.relative > 0) || stats.accepted + stats.rejected < MANY_STEPS)
        return;
    if (stats.stiff > stats.accepted / 2)
        ga_warn(&sim->warnings, GA_WARN_STIFF_STEPS, NULL, NAN,
                "most of %ld steps are ten times shorter than the positions need: they follow "
                "fast, small oscillations or decays",
                stats.accepted);
    if (stats.rejected > 2 * stats.accepted || stats.jumps > stats.accepted / 20)
        ga_warn(
            &sim->warnings, GA_WARN_CHATTERING, NULL, sim->t,
            "a force jumps again and again: %ld jumps found, %ld steps rejected, %ld accepted "
            "until t = %.6g s",
            stats.jumps, stats.rejected, stats.accepted, sim->t);
    const bool redundant = ga_integrator_redundant_count(sim->integrator) > 0;
    const bool contacts = sim->model->event_count > 0;
    if ((redundant || contacts) && sim->def.control.mode == GA_ERROR_AUTO &&
        sim->def.integrator.formulation == GA_INDEX2 && stats.third_order == 0)
        ga_warn(
            &sim->warnings, GA_WARN_SECOND_ORDER, NULL, NAN,
            "%s keep all %ld steps at second order; without them the same tolerance takes far "
            "fewer",
            redundant ? "redundant constraints" : "stops or stiction", stats.accepted);
}

static void warn_start(ga_sim *sim)
{
    ga_sim_warn_start(&sim->warnings, sim->assembly, sim->integrator, sim->method_warnings,
                      sim->q0, ga_integrator_q(sim->integrator));
    ga_sim_joints_warn(sim->model, sim->def.t_start, &sim->warnings);
    warn_assumptions(sim);
    warn_damping(sim);
}

/* A run that stops just before a break at its end has come to the end. */
static double shown_time(const ga_sim *sim, double t)
{
    return t == sim->given.end ? sim->def.t_end : t;
}

static ga_eval accepted(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    if (!sim->started) warn_start(sim);
    account(sim, at);
    ga_element_state state =
        ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    state.interval = at->step;
    ga_assembly_commit(sim->assembly, &state);
    sim->t = shown_time(sim, at->t);
    sim->step = at->step;
    return sim->def.progress ? sim->def.progress(sim->def.user, sim) : GA_EVAL_OK;
}

static double largest(int n, const double *x)
{
    double most = 0;
    for (int k = 0; k < n; ++k) most = fmax(most, fabs(x[k]));
    return most;
}

/* |Phi|; |B v + Phi_t| and |k|. */
static void residuals(ga_sim *sim, const ga_sample *at, ga_moment *moment)
{
    const ga_system *system = &sim->assembly->system;
    int m = sim->model->rows, p = sim->model->speed_rows;
    ga_point point = {.t = at->t, .q = at->q, .v = at->v};
    double *w = sim->residual, *B = sim->residual + m + p;
    if (m) {
        system->constraint(system->user, &point, w);
        moment->position_residual = largest(m, w);
        memset(w, 0, (size_t)m * sizeof *w);
        if (system->constraint_rate) system->constraint_rate(system->user, &point, w);
        system->gradient(system->user, &point, B);
        const ga_pattern *pattern = &system->gradient_pattern;
        for (int k = 0; k < pattern->count; ++k)
            w[pattern->row[k]] += B[k] * at->v[pattern->col[k]];
    }
    if (p) system->nonholonomic(system->user, &point, w + m);
    moment->velocity_residual = largest(m + p, w);
}

static void fill_channels(ga_sim *sim, const ga_sample *at)
{
    ga_moment moment = {
        .model = sim->model,
        .assembly = sim->assembly,
        .vd = at->vd,
        .step = at->step,
        .error = at->error,
        .iterations = at->iterations,
        .energy = sim->energy,
    };
    ga_powers now;
    powers_at(sim, at, &now);
    moment.energy.kinetic = now.kinetic;
    moment.energy.potential = now.potential;
    /* Between steps: with what the last step did up to here. */
    if (sim->started) add_work(sim, &now, at->t, at->v, at->vd, &moment.energy);
    if (sim->channels.residuals) residuals(sim, at, &moment);
    moment.state = ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    moment.scheme = moment.state;
    double *lambda = sim->scheme, *psi = sim->scheme + sim->model->rows;
    if (ga_integrator_interpolate(sim->integrator, at->t, NULL, NULL, NULL, lambda, psi) ==
        GA_OK) {
        moment.scheme.lambda = lambda;
        moment.scheme.psi = psi;
    }
    ga_channels_fill(&sim->channels, &moment);
}

static ga_eval output(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    sim->t = shown_time(sim, at->t);
    sim->step = at->step;
    fill_channels(sim, at);
    return sim->def.output ? sim->def.output(sim->def.user, sim) : GA_EVAL_OK;
}

static ga_eval event_functions(void *user, const ga_sample *at, double *g)
{
    ga_sim *sim = user;
    ga_element_state state =
        ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (element->event_count) element->type->events(element, &state, g + element->event);
    }
    return GA_EVAL_OK;
}

/* The covector of a contact in sim->direction, and the change of v that a unit impulse makes in
 * sim->jump; false: the impulse cannot be computed. */
static bool push(ga_sim *sim, const ga_contact *c, double t, const double *q, const double *v)
{
    memset(sim->direction, 0, (size_t)sim->assembly->nv * sizeof *sim->direction);
    ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    ga_assembly_add_row(sim->assembly, c->element, c->gradient, sim->direction);
    return !ga_integrator_impulse(sim->integrator, t, q, v, sim->direction, sim->jump, NULL);
}

static double *memory_of(ga_sim *sim, const ga_element *element)
{
    return sim->assembly->memory + element->memory;
}

/* Contacts that are closed, with what happens to them; at first the count in sim->contacts that
 * struck, of which only element and restitution are known. */
static int gather_contacts(ga_sim *sim, int struck, const ga_element_state *state)
{
    ga_contact *all = sim->contacts;
    int count = struck;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        int k = 0;
        while (k < struck && all[k].element != element) ++k;
        if (!element->type->touch || !element->event_count) continue;
        if (k == struck) {
            k = count;
            all[k] = (ga_contact){.element = element};
        }
        ga_impact impact = {.restitution = all[k].restitution};
        if (element->type->touch(element, state, memory_of(sim, element),
                                 k < struck ? NULL : &impact)) {
            all[k].touches = true;
            all[k].restitution = impact.restitution;
            count += k == count;
        }
    }
    return count;
}

/* The dense output satisfies constraints only approximately, and formulations of index 3 have
 * velocities that violate them. A restart makes up for that, and could push a body beyond its
 * stop, or spoil the rates after an impact; so it is done here, first, with the gaps held. */
static void place_contacts(ga_sim *sim, int count, double t, double *q, double *v)
{
    const size_t size = (size_t)sim->assembly->nq * sizeof *q;
    const size_t size_v = (size_t)sim->assembly->nv * sizeof *v;
    memcpy(sim->q, q, size);
    if (ga_integrator_place(sim->integrator, t, q, v)) memcpy(q, sim->q, size);
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->contacts + k;
        if (c->touches)
            c->element->type->loosen(c->element, &state, memory_of(sim, c->element),
                                     c->gradient);
    }
    memcpy(sim->v, v, size_v);
    if (ga_integrator_steer(sim->integrator, t, q, v)) memcpy(v, sim->v, size_v);
}

/* Rates before the impact, and what they are to be afterwards. */
static bool aim(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const int nv = sim->assembly->nv;
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->contacts + k;
        if (!push(sim, c, t, q, v)) return false;
        c->before = dot(nv, sim->direction, v);
        c->ease = dot(nv, sim->direction, sim->jump);
        c->target = c->restitution * fmax(-c->before, 0);
    }
    return true;
}

/* Contacts that are solved for exactly. */
enum { MOST_EXACT = 32 };

/* x of the contacts in the set, 0 elsewhere: D x = b there. Rows that depend on others, whose
 * pivots vanish, get 0. */
static void solve_set(int n, double D[MOST_EXACT][MOST_EXACT], const double *b, const bool *set,
                      double *x)
{
    double A[MOST_EXACT][MOST_EXACT + 1];
    bool used[MOST_EXACT];
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j < n; ++j) A[i][j] = set[i] && set[j] ? D[i][j] : 0;
        A[i][n] = b[i];
    }
    for (int k = 0; k < n; ++k) {
        used[k] = set[k] && A[k][k] > 1e-13 * D[k][k];
        for (int i = 0; i < n && used[k]; ++i) {
            const double factor = i == k || !set[i] ? 0 : A[i][k] / A[k][k];
            for (int j = k; j <= n && factor != 0; ++j) A[i][j] -= factor * A[k][j];
        }
    }
    for (int k = 0; k < n; ++k) x[k] = used[k] ? A[k][n] / A[k][k] : 0;
}

/* The first contact on the wrong side: pulled at, or penetrating; -1: none. */
static int find_wrong(int n, double D[MOST_EXACT][MOST_EXACT], const double *b, const bool *set,
                      const double *x)
{
    double size = 0;
    for (int i = 0; i < n; ++i) size = fmax(size, fabs(b[i]) / sqrt(D[i][i]));
    for (int i = 0; i < n; ++i) {
        const double root = sqrt(D[i][i]), none = 1e-12 * size;
        if (set[i] && x[i] * root < -none) return i;
        if (!set[i] && (dot(n, D[i], x) - b[i]) / root < -none) return i;
    }
    return -1;
}

/* What `strike` iterates for, by Murty's principal pivoting from the contacts that have an
 * impulse there: iterations hardly converge where masses differ much. v as it was before is in
 * sim->v. Without a solution all stays as it is. */
static void strike_exactly(ga_sim *sim, int count, double part, double t, const double *q,
                           double *v)
{
    enum { MOST_PIVOTS = 500 };
    const int nv = sim->assembly->nv;
    double D[MOST_EXACT][MOST_EXACT], b[MOST_EXACT], x[MOST_EXACT];
    bool set[MOST_EXACT];
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->contacts + k;
        if (!(c->ease > 0) || !push(sim, c, t, q, sim->v)) return;
        b[k] = part * c->target - c->before;
        set[k] = c->impulse > 0;
        for (int j = 0; j < count; ++j) {
            const ga_contact *other = sim->contacts + j;
            memset(sim->direction, 0, (size_t)nv * sizeof *sim->direction);
            ga_assembly_add_row(sim->assembly, other->element, other->gradient, sim->direction);
            D[j][k] = dot(nv, sim->direction, sim->jump);
        }
    }
    int wrong = 0;
    for (int pivots = 0; pivots < MOST_PIVOTS && wrong >= 0; ++pivots) {
        solve_set(count, D, b, set, x);
        wrong = find_wrong(count, D, b, set, x);
        if (wrong >= 0) set[wrong] = !set[wrong];
    }
    if (wrong >= 0) return;
    memcpy(v, sim->v, (size_t)nv * sizeof *v);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->contacts + k;
        c->impulse = fmax(x[k], 0);
        if (!(c->impulse > 0) || !push(sim, c, t, q, sim->v)) continue;
        for (int i = 0; i < nv; ++i) v[i] += c->impulse * sim->jump[i];
    }
}

/* Newton's law of impact with several contacts: impulses P >= 0 along their gaps' rates r, such
 * that r >= part times the target, with equality where P > 0. Gauss-Seidel with projection,
 * which converges since the matrix is symmetric and not negative; one contact takes one sweep.
 */
static bool strike(ga_sim *sim, int count, double part, double t, const double *q, double *v)
{
    enum { MOST_SWEEPS = 500 };
    const double enough = 1e-14;
    const int nv = sim->assembly->nv;
    double change = INFINITY, size = 0;
    for (int k = 0; k < count; ++k) sim->contacts[k].impulse = 0;
    for (int sweep = 0; sweep < MOST_SWEEPS && change > enough * size; ++sweep) {
        change = 0;
        for (int k = 0; k < count; ++k) {
            ga_contact *c = sim->contacts + k;
            if (!(c->ease > 0)) continue;
            if (!push(sim, c, t, q, v)) return false;
            const double rate = dot(nv, sim->direction, v);
            const double impulse = fmax(c->impulse + (part * c->target - rate) / c->ease, 0);
            const double more = impulse - c->impulse, root = sqrt(c->ease);
            for (int i = 0; i < nv; ++i) v[i] += more * sim->jump[i];
            c->impulse = impulse;
            change = fmax(change, fabs(more) * root);
            size = fmax(size, impulse * root);
        }
        if (count == 1) break;
    }
    if (count > 1 && count <= MOST_EXACT) strike_exactly(sim, count, part, t, q, v);
    return true;
}

/* Work of impulses P, half of P (r_before + r): with P0 + x (P1 - P0) and rates that follow,
 * the coefficients of 1, x, x^2. v0, v1: velocities behind P0 (impulse) and P1 (full). */
static void impulsive_work(ga_sim *sim, int count, double t, const double *q, const double *v0,
                           const double *v1, double work[3])
{
    const int nv = sim->assembly->nv;
    memset(work, 0, 3 * sizeof *work);
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->contacts + k;
        memset(sim->direction, 0, (size_t)nv * sizeof *sim->direction);
        ga_assembly_state(sim->assembly, t, q, v0, NULL, NULL);
        ga_assembly_add_row(sim->assembly, c->element, c->gradient, sim->direction);
        const double r0 = dot(nv, sim->direction, v0), r1 = dot(nv, sim->direction, v1);
        const double P = c->impulse, more = c->full - c->impulse;
        work[0] += 0.5 * P * (c->before + r0);
        work[1] += 0.5 * (more * (c->before + r0) + P * (r1 - r0));
        work[2] += 0.5 * more * (r1 - r0);
    }
}

/* Where contacts with different restitution share an impact, Newton's law may add energy. Then
 * its impulses are blended with those without restitution, which take energy; both are
 * feasible, and so is what lies between. The part of Newton's is the largest whose work is not
 * positive: the work is convex in it, negative at 0 and positive at 1. */
static bool collide(ga_sim *sim, int count, double t, const double *q, double *v)
{
    const int nv = sim->assembly->nv;
    const size_t size = (size_t)nv * sizeof *v;
    double work[3], *before = sim->v, *full = sim->vd;
    memcpy(before, v, size);
    if (!aim(sim, count, t, q, v) || !strike(sim, count, 1, t, q, v)) return false;
    if (count == 1) return true;
    memcpy(full, v, size);
    memcpy(v, before, size);
    for (int k = 0; k < count; ++k) sim->contacts[k].full = sim->contacts[k].impulse;
    if (!strike(sim, count, 0, t, q, v)) return false;
    impulsive_work(sim, count, t, q, v, full, work);
    double part = 1;
    if (work[0] + work[1] + work[2] > 1e-12 * fabs(work[0])) {
        const double root = sqrt(fmax(work[1] * work[1] - 4 * work[2] * work[0], 0));
        part = fmin(fmax(-2 * work[0] / (work[1] + root), 0), 1);
    }
    for (int i = 0; i < nv; ++i) v[i] += part * (full[i] - v[i]);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->contacts + k;
        c->impulse += part * (c->full - c->impulse);
    }
    return true;
}

/* Which contacts stay closed; true: some open. Against the impulses of the others, a rate below
 * 1e-9 is none. */
static bool part_contacts(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const double none = 1e-9;
    double size = 0;
    bool any = false;
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->contacts + k;
        if (c->ease > 0) size = fmax(size, c->impulse * sqrt(c->ease));
    }
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->contacts + k;
        const ga_element *element = c->element;
        const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
        memset(sim->direction, 0, (size_t)sim->assembly->nv * sizeof *sim->direction);
        ga_assembly_add_row(sim->assembly, element, c->gradient, sim->direction);
        const double rate = dot(sim->assembly->nv, sim->direction, v);
        const bool parts = rate > none * sqrt(fmax(c->ease, 0)) * size;
        const bool opens = parts && (!(c->impulse > 0) || c->target == 0);
        const bool stays = !parts && c->impulse > 0 && c->target == 0;
        if (opens || stays)
            element->type->part(element, &state, stays, memory_of(sim, element));
        any = any || opens;
    }
    return any;
}

/* Contacts that open begin elsewhere than those that rest. */
static void hold_again(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->contacts + k;
        c->touches =
            c->element->type->touch(c->element, &state, memory_of(sim, c->element), NULL);
    }
}

static ga_action happen(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    ga_sim *sim = user;
    bool changed = false;
    int struck = 0;
    ga_element_state state = ga_assembly_state(sim->assembly, at->t, q, v, at->lambda, at->psi);
    state.interval = at->step;
    for (int k = 0; k < count; ++k) {
        const ga_element *element = sim->model->elements[sim->event_element[which[k]]];
        ga_impact impact = {.restitution = 0};
        ga_switch what = element->type->happen(element, which[k] - element->event, &state,
                                               memory_of(sim, element), &impact);
        if (what == GA_SWITCH_IMPACT)
            sim->contacts[struck++] =
                (ga_contact){.element = element, .restitution = impact.restitution};
        changed = changed || what != GA_SWITCH_NOTHING;
    }
    if (struck) {
        const int contacts = gather_contacts(sim, struck, &state);
        place_contacts(sim, contacts, at->t, q, v);
        if (collide(sim, contacts, at->t, q, v)) sim->impact = true;
        if (part_contacts(sim, contacts, at->t, q, v)) {
            hold_again(sim, contacts, at->t, q, v);
            place_contacts(sim, contacts, at->t, q, v);
        }
    }
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* Rows of elements with events are switched on and off: how many are on, or off? */
static int count_switched(ga_sim *sim, const ga_element_state *state, bool on)
{
    int count = 0;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (!element->event_count || !element->rows) continue;
        int numbers = element->rows * GA_TWIST * element->node_count;
        element->type->gradient(element, state, sim->assembly->A);
        if (on == (largest(numbers, sim->assembly->A) > 0)) count += element->rows;
    }
    return count;
}

static bool locked(void *user) { return ((const ga_sim *)user)->locked; }

static ga_action settled(void *user, const ga_sample *at)
{
    ga_sim *sim = user;
    ga_element_state state =
        ga_assembly_state(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    bool changed = false;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        /* without events it has no memory: what is there is another's */
        if (element->event_count && element->type->settle &&
            element->type->settle(element, &state, memory_of(sim, element)))
            changed = true;
    }
    sim->locked = count_switched(sim, &state, true) > 0;
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* --- creation ----------------------------------------------------------------------------- */

/* In a millionth of the time. Bounces that accumulate end by themselves, but with a restitution
 * of 0.999 only after some 20,000. */
enum { MOST_EVENTS = 100000 };

static ga_status take_memory(ga_sim *sim)
{
    const ga_model *model = sim->model;
    int nq = sim->assembly->nq, nv = sim->assembly->nv, mp = model->rows + model->speed_rows;
    int gradient = sim->assembly->target[GA_TARGET_GRADIENT].count +
                   sim->assembly->target[GA_TARGET_SPEED_GRADIENT].count;
    bool memory = (sim->q0 = GA_NEW(double, nq)) && (sim->v0 = GA_NEW(double, nv)) &&
                  (sim->from_q = GA_NEW(double, nq)) && (sim->from_v = GA_NEW(double, nv)) &&
                  (sim->now_q = GA_NEW(double, nq)) && (sim->now_v = GA_NEW(double, nv)) &&
                  (sim->q = GA_NEW(double, nq)) && (sim->v = GA_NEW(double, nv)) &&
                  (sim->vd = GA_NEW(double, nv)) && (sim->multipliers = GA_NEW(double, mp)) &&
                  (sim->scheme = GA_NEW(double, mp)) && (sim->last_v = GA_NEW(double, nv)) &&
                  (sim->last_vd = GA_NEW(double, nv)) && (sim->now_vd = GA_NEW(double, nv)) &&
                  (sim->direction = GA_NEW(double, nv)) && (sim->jump = GA_NEW(double, nv)) &&
                  (sim->residual = GA_NEW(double, mp + gradient)) &&
                  (sim->event_element = GA_NEW(int, model->event_count)) &&
                  (sim->contacts = GA_NEW(ga_contact, model->event_count)) &&
                  (sim->unilateral = GA_NEW(bool, model->event_count)) &&
                  (sim->row_text = GA_NEW(char, GA_ROW_TEXT));
    if (!memory) return GA_ERR_MEMORY;
    for (int e = 0; e < model->element_count; ++e)
        for (int k = 0; k < model->elements[e]->event_count; ++k) {
            sim->event_element[model->elements[e]->event + k] = e;
            sim->unilateral[model->elements[e]->event + k] = true;
        }
    return GA_OK;
}

/* From here on waking a thread costs less than it saves. */
enum { MANY_BODIES = 4000, FEW_BODIES = 512 };

static ga_status create_pool(ga_sim *sim)
{
    int threads = sim->def.threads;
    if (threads == 0)
        threads = sim->model->node_count >= MANY_BODIES && ga_pool_processors() > 1 ? 2 : 1;
    if (threads == 1 || sim->model->node_count < FEW_BODIES) return GA_OK;
    GA_TRY(ga_pool_create(threads, &sim->pool));
    ga_assembly_use(sim->assembly, sim->pool);
    return GA_OK;
}

static ga_status create(ga_sim *sim, ga_messages *messages, ga_report *report)
{
    const ga_model *model = sim->model;
    GA_TRY(ga_assembly_create(model, sim->def.kinematics == GA_KINEMATICS_SE3, &sim->assembly,
                              report));
    if (take_memory(sim) != GA_OK || create_pool(sim) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    const ga_channels_def chosen = {
        .count = sim->def.channel_count, .names = sim->def.channels, .motion = sim->def.motion};
    GA_TRY(ga_channels_create(model, &chosen, messages, &sim->channels, report));
    ga_sim_warn_model(&sim->lasting, model);
    const ga_given_limits limits = {.fixed_step =
                                        sim->def.control.relative > 0 ? 0 : sim->def.step,
                                    .max_step = sim->def.control.max_step};
    GA_TRY(ga_given_find(model, sim->def.t_start, sim->def.t_end, limits, &sim->given,
                         &sim->lasting, report));
    sim->loaded = find_loaded(model);
    ga_assembly_initial(sim->assembly, sim->q0, sim->v0);
    ga_sim_reset(sim);
    GA_TRY(ga_integrator_create(&sim->assembly->system, &sim->def.integrator, &sim->integrator,
                                report));
    if (ga_integrator_use(sim->integrator, sim->pool) != GA_OK)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    while (ga_integrator_warning(sim->integrator, sim->method_warnings)) ++sim->method_warnings;
    return GA_OK;
}

ga_status ga_sim_create(const ga_model *model, const ga_sim_def *def, ga_sim **sim,
                        ga_messages *messages, ga_report *report)
{
    *sim = NULL;
    if (def) GA_TRY(ga_check_size("ga_sim_def", def->struct_size, sizeof *def, report));
    *sim = GA_NEW(ga_sim, 1);
    if (!*sim) return ga_fail(report, GA_ERR_MEMORY, "no memory for a simulation");
    (*sim)->model = model;
    (*sim)->def = def ? *def : ga_sim_def_of(model);
    (*sim)->lasting.fixed_steps = !((*sim)->def.control.relative > 0);
    ga_status status = ga_sim_settings_check(&(*sim)->def, report);
    if (status == GA_OK) status = create(*sim, messages, report);
    if (status != GA_OK) {
        ga_sim_destroy(*sim);
        *sim = NULL;
    }
    return status;
}

void ga_sim_destroy(ga_sim *sim)
{
    if (!sim) return;
    ga_integrator_destroy(sim->integrator);
    ga_assembly_destroy(sim->assembly);
    ga_pool_destroy(sim->pool);
    ga_channels_destroy(&sim->channels);
    ga_given_free(&sim->given);
    void *memory[] = {sim->q0,          sim->v0,         sim->from_q,
                      sim->from_v,      sim->now_q,      sim->now_v,
                      sim->q,           sim->v,          sim->vd,
                      sim->multipliers, sim->scheme,     sim->last_v,
                      sim->last_vd,     sim->now_vd,     sim->direction,
                      sim->jump,        sim->residual,   sim->event_element,
                      sim->contacts,    sim->unilateral, sim->redundancies,
                      sim->moved,       sim->joints,     sim->gaps,
                      sim->directions,  sim->row_text,   (void *)sim->with};
    for (size_t k = 0; k < sizeof memory / sizeof *memory; ++k) ga_free(memory[k]);
    ga_free(sim);
}

/* --- running ------------------------------------------------------------------------------ */

static void forget(ga_sim *sim)
{
    sim->started = sim->impact = false;
    sim->energy = sim->initial = (ga_energy){0};
    sim->drift_max = sim->drift_time = sim->scale = sim->exchanged = 0;
    sim->least_kinetic = INFINITY;
    sim->largest_kinetic = sim->largest_potential = 0;
    sim->warnings = sim->lasting;
    sim->next_break = 0;
    sim->t = sim->from_t;
    sim->step = 0;
    ga_assembly_remember(sim->assembly, sim->from_t, sim->from_q, sim->from_v);
}

static ga_status explain(ga_sim *sim, ga_status status, ga_report *report)
{
    if (status == GA_OK || !report) return status;
    ga_sim_explain(sim->assembly, sim->event_element, status, report);
    if (status == GA_ERR_INCONSISTENT) {
        ga_sim_explain_contradiction(sim->assembly, sim->integrator, sim->q0, sim->started,
                                     report);
        ga_sim_explain_misaligned(sim->assembly, report);
    }
    if (!sim->started || status == GA_ERR_EVENTS || status == GA_ERR_MEMORY) return status;
    ga_element_state state =
        ga_assembly_state(sim->assembly, sim->last_t, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), NULL, NULL);
    ga_sim_explain_step(sim->assembly, &state, &sim->def, report);
    return status;
}

/* Channels and state of this moment. */
static void stand_at(ga_sim *sim, const ga_sample *at)
{
    memcpy(sim->now_q, at->q, (size_t)sim->assembly->nq * sizeof *at->q);
    memcpy(sim->now_v, at->v, (size_t)sim->assembly->nv * sizeof *at->v);
    sim->t = shown_time(sim, at->t);
    fill_channels(sim, at);
}

ga_status ga_sim_start(ga_sim *sim, ga_report *report)
{
    forget(sim);
    sim->running = false;
    double h = sim->def.step > 0 ? sim->def.step : 1e-3;
    GA_TRY(explain(
        sim,
        ga_integrator_start(sim->integrator, sim->from_t, sim->from_q, sim->from_v, h, report),
        report));
    GA_TRY(ga_integrator_hat(sim->integrator, sim->vd, sim->multipliers,
                             sim->multipliers + sim->model->rows, report));
    ga_sample at = {.t = sim->from_t,
                    .q = ga_integrator_q(sim->integrator),
                    .v = ga_integrator_v(sim->integrator),
                    .vd = sim->vd,
                    .lambda = sim->multipliers,
                    .psi = sim->multipliers + sim->model->rows};
    warn_start(sim);
    account(sim, &at);
    stand_at(sim, &at);
    return GA_OK;
}

static bool is_driven(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->rheonomic) return true;
    return false;
}

/* Constraints that move leave no error at the ends of steps, however long, and so nothing that
 * would be controlled; but between them output and work are interpolated. And what a function
 * of time does between the ends of a step is not seen. Where nobody says how long steps may be,
 * they are at most a fixed part of the time. */
static double longest_step(const ga_sim *sim)
{
    const ga_control *control = &sim->def.control;
    const bool limited = is_driven(sim->model) || sim->given.curved;
    if (control->max_step > 0 || !limited) return control->max_step;
    return fmax((sim->def.t_end - sim->def.t_start) / ga_given_steps, control->min_step);
}

double ga_sim_max_step(const ga_sim *sim) { return longest_step(sim); }

static void warn_end(ga_sim *sim)
{
    const ga_integrator *integrator = sim->integrator;
    const ga_sample at = {
        .t = sim->last_t, .q = ga_integrator_q(integrator), .v = ga_integrator_v(integrator)};
    ga_moment moment = {.model = sim->model};
    residuals(sim, &at, &moment);
    const ga_formulation formulation = sim->def.integrator.formulation;
    const ga_statistics steps = ga_integrator_statistics(integrator);
    const ga_sim_end end = {
        .t = sim->t,
        .duration = sim->last_t - sim->def.t_start,
        .drift = sim->drift_max,
        .drift_time = sim->drift_time,
        .exchanged = fmax(sim->exchanged, sim->largest_kinetic - sim->least_kinetic),
        .kinetic = sim->largest_kinetic,
        .potential = sim->largest_potential,
        .position_residual = fmax(moment.position_residual, steps.position_residual_max),
        .velocity_residual = fmax(moment.velocity_residual, steps.velocity_residual_max),
        .keeps_velocities = formulation == GA_INDEX2 || formulation == GA_SOI2,
    };
    ga_sim_warn_end(&sim->warnings, sim->assembly, &end);
}

/* What the integrator is asked for. */
static ga_simulation describe_run(ga_sim *sim)
{
    bool events = sim->model->event_count > 0;
    ga_simulation run = ga_simulation_default();
    run.t_end = sim->given.end;
    run.step = sim->def.step;
    run.control = sim->def.control;
    run.control.max_step = longest_step(sim);
    run.output = output;
    run.accepted = accepted;
    run.user = sim;
    /* Nobody looks: at the start and the end is enough. */
    run.output_every =
        sim->def.output ? sim->def.output_every : sim->def.t_end - sim->def.t_start;
    run.multipliers = sim->def.multipliers;
    run.events.count = sim->model->event_count;
    run.events.function = events ? event_functions : NULL;
    run.events.happen = events ? happen : NULL;
    run.events.settled = events ? settled : NULL;
    run.events.user = sim;
    run.events.unilateral = sim->unilateral;
    run.events.max_count = MOST_EVENTS;
    run.events.exact = events ? locked : NULL;
    run.breakpoint_count = sim->given.breaks.count;
    run.breakpoints = sim->given.breaks.at;
    run.stop_count = sim->given.stops.count;
    run.stops = sim->given.stops.at;
    run.duration = sim->from_t > sim->def.t_start ? sim->given.end - sim->def.t_start : 0;
    return run;
}

/* When a run is over, or has failed. */
static ga_status conclude(ga_sim *sim, ga_status status, ga_report *report)
{
    if (status == GA_OK && !ga_integrator_run_over(sim->integrator)) return GA_OK;
    sim->running = false;
    if (sim->started) warn_end(sim);
    warn_tolerance(sim);
    warn_cost(sim);
    return explain(sim, status, report);
}

static ga_status begin_run(ga_sim *sim, ga_report *report)
{
    if (isnan(sim->def.t_end))
        return ga_fail(report, GA_ERR_INPUT,
                       "the model has no end time: add `simulate: {t_end: ...}`");
    forget(sim);
    const ga_simulation run = describe_run(sim);
    sim->running = true;
    sim->stepped = true;
    return conclude(sim,
                    ga_integrator_run_begin(sim->integrator, sim->from_t, sim->from_q,
                                            sim->from_v, &run, report),
                    report);
}

static ga_status take_step(ga_sim *sim, ga_report *report)
{
    return conclude(sim, ga_integrator_run_step(sim->integrator, report), report);
}

ga_status ga_sim_run(ga_sim *sim, ga_report *report)
{
    ga_sim_reset(sim);
    GA_TRY(begin_run(sim, report));
    while (sim->running) GA_TRY(take_step(sim, report));
    return GA_OK;
}

/* --- stepping ----------------------------------------------------------------------------- */

void ga_sim_reset(ga_sim *sim)
{
    sim->from_t = sim->def.t_start;
    memcpy(sim->from_q, sim->q0, (size_t)sim->assembly->nq * sizeof *sim->q0);
    memcpy(sim->from_v, sim->v0, (size_t)sim->assembly->nv * sizeof *sim->v0);
    memcpy(sim->now_q, sim->q0, (size_t)sim->assembly->nq * sizeof *sim->q0);
    memcpy(sim->now_v, sim->v0, (size_t)sim->assembly->nv * sizeof *sim->v0);
    sim->running = sim->stepped = sim->fed = false;
    sim->t = sim->from_t;
    sim->step = 0;
    for (int k = 0; k < sim->model->inputs.count; ++k)
        sim->assembly->inputs[k] = (ga_input_line){.value = sim->model->inputs.inputs[k].start};
    ga_assembly_remember(sim->assembly, sim->from_t, sim->from_q, sim->from_v);
}

/* Times that differ by this much are one. */
static double time_slack(const ga_sim *sim, double t)
{
    return 1e-12 * fmax(fabs(t), sim->def.t_end - sim->def.t_start);
}

/* The last step has gone beyond the point reached. */
static bool is_behind(const ga_sim *sim)
{
    const double now = shown_time(sim, ga_integrator_time(sim->integrator));
    return now - sim->t > time_slack(sim, now);
}

/* Ready for a step; begins the run if there is none, and anew where an input has changed. */
static ga_status be_ready(ga_sim *sim, ga_report *report)
{
    if (!sim->stepped) GA_TRY(begin_run(sim, report));
    if (sim->running && sim->fed)
        GA_TRY(conclude(sim, ga_integrator_run_renew(sim->integrator, report), report));
    sim->fed = false;
    if (sim->running || is_behind(sim)) return GA_OK;
    return ga_fail(report, GA_ERR_STATE, "the simulation is over, at t = %.9g s", sim->t);
}

ga_status ga_sim_step(ga_sim *sim, ga_report *report)
{
    GA_TRY(be_ready(sim, report));
    ga_integrator_run_limit(sim->integrator, INFINITY);
    if (sim->running) GA_TRY(take_step(sim, report));
    const ga_sample at =
        ga_integrator_run_sample(sim->integrator, ga_integrator_time(sim->integrator));
    stand_at(sim, &at);
    return GA_OK;
}

ga_status ga_sim_advance(ga_sim *sim, double t, ga_report *report)
{
    const double slack = time_slack(sim, t);
    if (!(t >= sim->t - slack && t <= sim->def.t_end + slack))
        return ga_fail(report, GA_ERR_ARGUMENT,
                       "cannot advance from t = %.9g s to %.9g s: the run is from %.9g s to "
                       "%.9g s, and forward only",
                       sim->t, t, sim->def.t_start, sim->def.t_end);
    if (!sim->stepped || t > sim->t + slack) GA_TRY(be_ready(sim, report));
    const bool has_inputs = sim->model->inputs.count > 0;
    ga_integrator_run_limit(sim->integrator, has_inputs ? t : INFINITY);
    while (sim->running && ga_integrator_time(sim->integrator) < t - slack)
        GA_TRY(take_step(sim, report));
    const double now = ga_integrator_time(sim->integrator);
    const ga_sample at = ga_integrator_run_sample(sim->integrator, t < now - slack ? t : now);
    stand_at(sim, &at);
    if (sim->t < t - slack)
        return ga_fail(report, GA_ERR_STATE, "the simulation is over, at t = %.9g s", sim->t);
    sim->t = t;
    return GA_OK;
}

ga_status ga_sim_set_state(ga_sim *sim, const double *q, const double *v, ga_report *report)
{
    const int nq = sim->assembly->nq, nv = sim->assembly->nv;
    for (int k = 0; k < nq + nv; ++k)
        if (!isfinite(k < nq ? q[k] : v[k - nq]))
            return ga_fail(report, GA_ERR_ARGUMENT, "the state is not finite");
    if (!(sim->t < sim->given.end))
        return ga_fail(report, GA_ERR_STATE, "the simulation is over, at t = %.9g s", sim->t);
    sim->from_t = sim->t;
    memcpy(sim->from_q, q, (size_t)nq * sizeof *q);
    memcpy(sim->from_v, v, (size_t)nv * sizeof *v);
    sim->stepped = false;
    return ga_sim_start(sim, report);
}

int ga_sim_input(const ga_sim *sim, const char *name)
{
    for (int k = 0; k < sim->model->inputs.count; ++k)
        if (strcmp(sim->model->inputs.inputs[k].name, name) == 0) return k;
    return -1;
}

double ga_sim_input_value(const ga_sim *sim, int input)
{
    return ga_input_value(sim->assembly->inputs + input, sim->t);
}

/* Inputs change where the last step ended. Nothing is between: steps of models with inputs end
 * where ga_sim_advance ends. */
static void set_line(ga_sim *sim, int input, ga_input_line line)
{
    ga_input_line *now = sim->assembly->inputs + input;
    const bool same = ga_input_value(now, sim->t) == line.value && line.rate == 0 &&
                      (now->rate == 0 || now->until <= sim->t);
    *now = line;
    if (!same) sim->fed = true;
}

ga_status ga_sim_set_input(ga_sim *sim, int input, double value, ga_report *report)
{
    if (input < 0 || input >= sim->model->inputs.count || !isfinite(value))
        return ga_fail(report, GA_ERR_ARGUMENT, "no such input, or its value is not finite");
    set_line(sim, input, (ga_input_line){.value = value, .t = sim->t});
    return GA_OK;
}

ga_status ga_sim_ramp_input(ga_sim *sim, int input, double value, double until,
                            ga_report *report)
{
    if (input < 0 || input >= sim->model->inputs.count || !isfinite(value))
        return ga_fail(report, GA_ERR_ARGUMENT, "no such input, or its value is not finite");
    if (!(until > sim->t))
        return ga_fail(report, GA_ERR_ARGUMENT, "a ramp from t = %.9g s ends at %.9g s", sim->t,
                       until);
    const double now = ga_sim_input_value(sim, input);
    set_line(sim, input,
             (ga_input_line){.value = now,
                             .rate = (value - now) / (until - sim->t),
                             .t = sim->t,
                             .until = until});
    return GA_OK;
}

int ga_sim_position_count(const ga_sim *sim) { return sim->assembly->nq; }

int ga_sim_velocity_count(const ga_sim *sim) { return sim->assembly->nv; }

const double *ga_sim_positions(const ga_sim *sim) { return sim->now_q; }

const double *ga_sim_velocities(const ga_sim *sim) { return sim->now_v; }

int ga_sim_is_over(const ga_sim *sim)
{
    return sim->stepped && !sim->running && !is_behind(sim);
}

int ga_sim_find_channel(const ga_sim *sim, const char *name)
{
    for (int k = 0; k < sim->channels.count; ++k)
        if (strcmp(sim->channels.items[k].channel.name, name) == 0) return k;
    return -1;
}

const double *ga_sim_channel_values(const ga_sim *sim, int k)
{
    return sim->channels.values + sim->channels.items[k].at;
}

/* --- looking ------------------------------------------------------------------------------ */

double ga_sim_time(const ga_sim *sim) { return sim->t; }

double ga_sim_step_size(const ga_sim *sim) { return sim->step; }

int ga_sim_event_count(const ga_sim *sim) { return sim->model->event_count; }

int ga_sim_redundant_count(const ga_sim *sim)
{
    return ga_integrator_redundant_count(sim->integrator);
}

const char *ga_sim_warning(const ga_sim *sim, int k)
{
    return ga_sim_get_warning(sim, k).message;
}

ga_warning ga_sim_get_warning(const ga_sim *sim, int k)
{
    return ga_warnings_get(&sim->warnings, k);
}

int ga_sim_channel_count(const ga_sim *sim) { return sim->channels.count; }

ga_channel ga_sim_channel(const ga_sim *sim, int k) { return sim->channels.items[k].channel; }

const double *ga_sim_values(const ga_sim *sim) { return sim->channels.values; }

int ga_sim_value_count(const ga_sim *sim) { return sim->channels.value_count; }

ga_sim_summary ga_sim_get_summary(const ga_sim *sim)
{
    return (ga_sim_summary){.t = sim->t,
                            .statistics = ga_integrator_statistics(sim->integrator),
                            .control = ga_integrator_control_statistics(sim->integrator),
                            .initial = sim->initial,
                            .final = sim->energy,
                            .energy_drift_max = sim->drift_max,
                            .energy_scale = sim->scale,
                            .energy_round_off = ga_sim_energy_round_off(
                                sim->assembly, sim->largest_kinetic + sim->largest_potential,
                                sim->t - sim->def.t_start)};
}

const char *ga_sim_row_element(const ga_sim *sim, int row)
{
    int local;
    const ga_element *element = ga_assembly_row(sim->assembly, row, &local);
    return element ? element->name : "";
}

const char *ga_sim_row_name(const ga_sim *sim, int row)
{
    ga_row_text(sim->assembly, row, sim->row_text);
    return sim->row_text;
}

const char *ga_sim_coordinate_body(const ga_sim *sim, int k)
{
    int node = ga_assembly_column(sim->assembly, k);
    return node >= 0 ? sim->model->nodes[node].name : "";
}

ga_sim_element ga_sim_get_element(const ga_sim *sim, int k)
{
    if (k >= sim->model->element_count) return (ga_sim_element){NULL, NULL, 0};
    const ga_element *element = sim->model->elements[k];
    return (ga_sim_element){element->name, element->type->name,
                            element->rows + element->speed_rows};
}

/* --- check -------------------------------------------------------------------------------- */

/* Names of the other elements a redundant row depends on, each once. */
static void name_partners(const ga_sim *sim, const ga_redundant_row *row,
                          ga_sim_redundancy *out, const char **names)
{
    out->with = names;
    for (int k = 0; k < row->with_count; ++k) {
        const char *name = ga_sim_row_element(sim, row->with[k]);
        bool known = strcmp(name, out->element) == 0;
        for (int i = 0; i < out->with_count; ++i) known = known || strcmp(names[i], name) == 0;
        if (!known) names[out->with_count++] = name;
    }
}

static ga_status find_redundancies(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    int count = ga_integrator_redundant_count(sim->integrator), partners = 0;
    for (int k = 0; k < count; ++k)
        partners += ga_integrator_redundant_row(sim->integrator, k).with_count;
    ga_free(sim->redundancies);
    ga_free((void *)sim->with);
    sim->redundancies = GA_NEW(ga_sim_redundancy, count);
    sim->with = GA_NEW(const char *, partners);
    ga_free(sim->directions);
    sim->directions = ga_alloc((size_t)count, sizeof *sim->directions);
    if (!sim->redundancies || !sim->with || !sim->directions)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d redundant rows", count);
    const char **names = sim->with;
    for (int k = 0; k < count; ++k) {
        ga_redundant_row row = ga_integrator_redundant_row(sim->integrator, k);
        ga_sim_redundancy *out = sim->redundancies + k;
        out->element = ga_sim_row_element(sim, row.row);
        ga_row_text(sim->assembly, row.row, sim->directions[k]);
        out->direction = sim->directions[k];
        name_partners(sim, &row, out, names);
        names += out->with_count;
    }
    check->redundant = sim->redundancies;
    check->redundant_count = count;
    return GA_OK;
}

/* Nodes that the start moved by more than round-off. */
static ga_status find_moved(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    int n = sim->model->node_count;
    const double *q = ga_integrator_q(sim->integrator);
    ga_free(sim->moved);
    sim->moved = GA_NEW(ga_sim_moved, n);
    if (!sim->moved) return ga_fail(report, GA_ERR_MEMORY, "no memory for %d bodies", n);
    for (int i = 0; i < n; ++i) {
        double distance, angle;
        if (!ga_sim_has_moved(sim->assembly, i, sim->q0, q, &distance, &angle)) continue;
        ga_sim_moved *moved = sim->moved + check->moved_count++;
        *moved = (ga_sim_moved){
            .body = sim->model->nodes[i].name, .distance = distance, .angle = angle};
        const double *at = q + sim->assembly->q_at[i];
        const int dimension = sim->model->dimension;
        moved->rotation_count = ga_node_nq(sim->assembly->nodes[i]) - dimension;
        memcpy(moved->position, at, (size_t)dimension * sizeof *at);
        memcpy(moved->rotation, at + dimension, (size_t)moved->rotation_count * sizeof *at);
    }
    check->moved = sim->moved;
    return GA_OK;
}

static void warn_unused(ga_sim *sim)
{
    enum { MOST = 5 };
    char names[256] = "";
    const char *first = NULL;
    int count = 0;
    ga_model_parameter p;
    for (int k = 0; (p = ga_model_get_parameter(sim->model, k)).name; ++k) {
        if (p.used || ++count > MOST) continue;
        if (!first) first = p.name;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%.40s", used ? ", " : "", p.name);
    }
    if (count)
        ga_warn(&sim->warnings, GA_WARN_UNUSED, first, NAN, "no expression uses %s%s%s",
                count > 1 ? "the parameters " : "the parameter ", names,
                count > MOST ? ", ..." : "");
}

static ga_status find_joints(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    check->joint_count = ga_sim_joint_count(sim->model);
    ga_free(sim->joints);
    sim->joints = GA_NEW(ga_sim_joint, check->joint_count);
    if (!sim->joints)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d joints", check->joint_count);
    const double *q = ga_integrator_q(sim->integrator), *v = ga_integrator_v(sim->integrator);
    const ga_element_state start =
        ga_assembly_state(sim->assembly, sim->def.t_start, q, v, NULL, NULL);
    ga_sim_joints_find(sim->model, sim->def.t_start, start.frames, sim->joints);
    check->joints = sim->joints;
    return GA_OK;
}

/* Difference quotients of everything take nv evaluations each: not for large models. */
enum { MOST_CHECKED = 600 };

/* Numbers in [-1, 1], always the same. */
static double next_random(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (double)*seed / 2147483648.0 - 1;
}

/* A state near the start but not at it: functions have their kinks at t = 0, friction at rest
 * and without a pressing force, cables at their free length, and there no difference quotient
 * tells anything. */
static void step_aside(ga_sim *sim)
{
    const ga_assembly *a = sim->assembly;
    unsigned seed = 1;
    double size = 1;
    for (int k = 0; k < a->nv; ++k) size = fmax(size, fabs(sim->v[k]));
    for (int k = 0; k < a->nv; ++k) sim->direction[k] = 1e-3 * next_random(&seed);
    ga_nodes_update(sim->model->node_count, a->nodes, GA_MAP_EXP, sim->q, sim->direction,
                    sim->q);
    for (int k = 0; k < a->nv; ++k) sim->v[k] += 0.05 * size * next_random(&seed);
    const int mp = sim->model->rows + sim->model->speed_rows;
    double load = 1;
    for (int k = 0; k < mp; ++k) load = fmax(load, fabs(sim->multipliers[k]));
    for (int k = 0; k < mp; ++k) sim->multipliers[k] += 0.05 * load * next_random(&seed);
}

static ga_status check_tangents(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    check->tangent_error = NAN;
    check->tangent_worst = "not checked: the model is too large";
    if (sim->assembly->nv > MOST_CHECKED) return GA_OK;
    memcpy(sim->q, ga_integrator_q(sim->integrator),
           (size_t)sim->assembly->nq * sizeof(double));
    memcpy(sim->v, ga_integrator_v(sim->integrator),
           (size_t)sim->assembly->nv * sizeof(double));
    step_aside(sim);
    ga_derivative_check result;
    double duration = isfinite(sim->def.t_end) ? sim->def.t_end - sim->def.t_start : 1;
    ga_point at = {.t = sim->def.t_start + 0.0173 * duration,
                   .q = sim->q,
                   .v = sim->v,
                   .vd = sim->vd,
                   .lambda = sim->multipliers,
                   .psi = sim->multipliers + sim->model->rows};
    ga_status status = ga_system_check(&sim->assembly->system, &at, 0, &result, NULL);
    if (status == GA_ERR_MEMORY)
        return ga_fail(report, status, "no memory to check the tangents");
    if (status != GA_OK && status != GA_ERR_DERIVATIVE) {
        check->tangent_worst = ga_status_text(status);
        return GA_OK;
    }
    check->tangent_error = result.block[result.worst].error;
    check->tangent_worst = ga_derivative_name(result.worst);
    return GA_OK;
}

ga_status ga_sim_check_model(ga_sim *sim, ga_sim_check *check, ga_report *report)
{
    memset(check, 0, sizeof *check);
    check->bodies = sim->model->body_count;
    check->coordinates = sim->assembly->nv;
    check->constraints = sim->model->rows + sim->model->speed_rows;
    GA_TRY(ga_sim_start(sim, report));
    const ga_element_state state =
        ga_assembly_state(sim->assembly, sim->def.t_start, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), sim->multipliers,
                          sim->multipliers + sim->model->rows);
    check->grubler =
        check->coordinates - check->constraints + count_switched(sim, &state, false);
    warn_unused(sim);
    check->degrees_of_freedom = check->coordinates - ga_integrator_rank(sim->integrator);
    GA_TRY(find_redundancies(sim, check, report));
    GA_TRY(find_moved(sim, check, report));
    GA_TRY(find_joints(sim, check, report));
    return check_tangents(sim, check, report);
}

/* --- looking at the start ----------------------------------------------------------------- */

ga_status ga_sim_look(ga_sim *sim, ga_sim_pose pose, ga_report *report)
{
    const ga_model *model = sim->model;
    const double *q = pose == GA_POSE_GIVEN ? sim->q0 : ga_integrator_q(sim->integrator);
    if (!sim->gaps) sim->gaps = GA_NEW(ga_gap, model->element_count);
    if (!sim->gaps)
        return ga_fail(report, GA_ERR_MEMORY, "no memory for %d elements",
                       model->element_count);
    memset(sim->vd, 0, (size_t)sim->assembly->nv * sizeof *sim->vd);
    memset(sim->multipliers, 0,
           (size_t)(model->rows + model->speed_rows) * sizeof *sim->multipliers);
    const ga_sample at = {.t = sim->def.t_start,
                          .q = q,
                          .v = sim->v0,
                          .vd = sim->vd,
                          .lambda = sim->multipliers,
                          .psi = sim->multipliers + model->rows,
                          .step = NAN};
    fill_channels(sim, &at);
    sim->gap_count = ga_gaps_find(sim->assembly, sim->def.t_start, q, sim->gaps);
    return GA_OK;
}

ga_gap ga_sim_get_gap(const ga_sim *sim, int k)
{
    return k >= 0 && k < sim->gap_count ? sim->gaps[k] : (ga_gap){0};
}

char *ga_sim_scene(const ga_sim *sim)
{
    return ga_gaps_scene(sim->model, sim->gap_count, sim->gaps);
}
