/* The energy balance of a run: powers of elements, integrated from sample to sample. */
#include "api/sim.h"

#include <float.h>
#include <math.h>
#include <string.h>

void ga_sim_powers(ga_sim *sim, const ga_sample *at, ga_powers *powers)
{
    ga_element_state state =
        ga_assembly_look(sim->assembly, at->t, at->q, at->v, at->lambda, at->psi);
    ga_assembly_powers(sim->assembly, &state, powers);
}

static bool is_driven(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->rheonomic) return true;
    return false;
}

bool ga_sim_is_loaded(const ga_model *model)
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
static void exact_powers_at(ga_sim *sim, ga_reactions_use use, double t, const double *q,
                            const double *v, double *vd, ga_powers *powers)
{
    double *multipliers = sim->work.multipliers;
    const ga_sample exact = {
        .t = t, .q = q, .v = v, .lambda = multipliers, .psi = multipliers + sim->model->rows};
    if (sim->loaded)
        ga_integrator_reactions(sim->integrator, use, before_end(sim, t), q, v, vd,
                                multipliers);
    ga_sim_powers(sim, &exact, powers);
}

/* A rule for integrals, from 0 to 1: the weight of both ends, and points between, the middle
 * first. Simpson's has an error of O(h^5) a step, as much as the dense output of
 * generalized-alpha adds; Lobatto's with five points one of O(h^9), for methods of higher
 * order. `coarse`: weights of the ends and of the middle in a rule of lower order. */
typedef struct ga_rule {
    int count;
    double ends, at[3], weight[3], coarse[2];
} ga_rule;

static const ga_rule simpson = {1, 1.0 / 6, {0.5}, {4.0 / 6}, {0.5, 0}};
static const ga_rule lobatto = {3,
                                1.0 / 20,
                                {0.5, 0.1726731646460114, 0.8273268353539886},
                                {16.0 / 45, 49.0 / 180, 49.0 / 180},
                                {1.0 / 6, 4.0 / 6}};

/* From the last sample to t, h later, where v and its derivative are given. */
typedef struct stretch {
    double t, h;
    const double *v, *vd;
    const ga_powers *first, *last;
    bool alpha; /* a step of generalized-alpha */
    const ga_rule *rule;
    ga_reactions_use middle; /* of the whole */
    double allowed;          /* error of a part; 0: parts are not divided */
    int divisions;           /* left */
} stretch;

/* At this part of the way, by the dense output. Where multipliers count, v along a step of
 * generalized-alpha is the cubic with slopes of the acceleration level: those of the scheme
 * leave an error of O(h^3) in it. */
static void powers_between(ga_sim *sim, const stretch *s, ga_reactions_use use, double part,
                           ga_powers *powers)
{
    const ga_balance *b = &sim->balance;
    const double between = b->last_t + part * s->h, rest = 1 - part;
    if (ga_integrator_interpolate(sim->integrator, between, sim->work.q, sim->work.v, NULL,
                                  NULL, NULL)) {
        powers->dissipation = rest * s->first->dissipation + part * s->last->dissipation;
        powers->work = rest * s->first->work + part * s->last->work;
        return;
    }
    const double old = rest * rest * (1 + 2 * part), new = part *part *(1 + 2 * rest);
    const double slope = part * rest * s->h;
    for (int k = 0; s->alpha && sim->loaded && k < sim->assembly->nv; ++k)
        sim->work.v[k] = old * b->last_v[k] + new * s->v[k] +
                         slope *(rest * b->last_vd[k] - part * s->vd[k]);
    exact_powers_at(sim, use, between, sim->work.q, sim->work.v, sim->work.vd, powers);
}

/* Error of the finer of two rules, as in QUADPACK: far below their difference if that is small
 * against the integral, as where powers are smooth, but all of it where they have a kink. */
static double rule_error(double difference, double size)
{
    if (!(size > 0)) return 0;
    const double x = 200 * difference / size;
    return x < 1 ? difference * x * sqrt(x) : difference;
}

/* Adds the work of a part of the stretch. Where powers have a kink, as where a buffer is
 * reached, the part is halved: steps need not be short there, for the motion may be smooth. */
static void add_part(ga_sim *sim, stretch *s, double from, double to, const ga_powers *first,
                     const ga_powers *last, ga_energy *energy)
{
    const ga_rule *rule = s->rule;
    const double part = to - from, h = part * s->h;
    const ga_powers *ends[2] = {first, last};
    ga_powers middle;
    double lost = 0, done = 0, size = 0, coarse_lost = 0, coarse_done = 0;
    for (int k = 0; k < 2; ++k) {
        lost += rule->ends * ends[k]->dissipation;
        done += rule->ends * ends[k]->work;
        coarse_lost += rule->coarse[0] * ends[k]->dissipation;
        coarse_done += rule->coarse[0] * ends[k]->work;
        size = fmax(size, fmax(fabs(ends[k]->dissipation), fabs(ends[k]->work)));
    }
    for (int k = 0; k < rule->count; ++k) {
        ga_powers between;
        powers_between(sim, s, k == 0 && part == 1 ? s->middle : GA_REACTIONS_BESIDE,
                       from + rule->at[k] * part, &between);
        lost += rule->weight[k] * between.dissipation;
        done += rule->weight[k] * between.work;
        size = fmax(size, fmax(fabs(between.dissipation), fabs(between.work)));
        if (k == 0) middle = between;
    }
    coarse_lost += rule->coarse[1] * middle.dissipation;
    coarse_done += rule->coarse[1] * middle.work;
    const double difference = fmax(fabs(lost - coarse_lost), fabs(done - coarse_done));
    if (s->divisions > 0 && s->allowed > 0 && h * rule_error(difference, size) > s->allowed) {
        const double half = (from + to) / 2;
        --s->divisions;
        add_part(sim, s, from, half, first, &middle, energy);
        add_part(sim, s, half, to, &middle, last, energy);
        return;
    }
    energy->dissipated += h * lost;
    energy->work += h * done;
}

/* The error of a part, by the tolerance of the run and the energy that is there. */
static const double PART_ERROR = 0.1;
enum { MOST_DIVISIONS = 30 };

/* Adds what was lost and put in from the last sample to t, where powers are `now`. Without
 * generalized-alpha the motion is followed in the middle of steps: at their ends all is known.
 */
static void add_work(ga_sim *sim, bool accounts, const ga_powers *now, double t,
                     const double *v, const double *vd, ga_energy *energy)
{
    const ga_powers *last = &sim->balance.last;
    const double h = t - sim->balance.last_t;
    const bool any =
        now->dissipation != 0 || now->work != 0 || last->dissipation != 0 || last->work != 0;
    if (h <= 0 || !any) return;
    const bool alpha =
        ga_integrator_method_use(sim->integrator).method == GA_METHOD_GENERALIZED_ALPHA;
    stretch s = {.t = t,
                 .h = h,
                 .v = v,
                 .vd = vd,
                 .first = last,
                 .last = now,
                 .alpha = alpha,
                 .rule = alpha ? &simpson : &lobatto,
                 .middle = accounts && !alpha ? GA_REACTIONS_FOLLOW : GA_REACTIONS_BESIDE,
                 .allowed = PART_ERROR * sim->def.control.relative * sim->balance.scale,
                 .divisions = MOST_DIVISIONS};
    add_part(sim, &s, 0, 1, last, now, energy);
}

void ga_sim_add_work(ga_sim *sim, const ga_powers *now, const ga_sample *at, ga_energy *energy)
{
    add_work(sim, false, now, at->t, at->v, at->vd, energy);
}

/* True if the integration has just started anew behind a break, or where an input changes: no
 * time has passed. */
static bool has_crossed(ga_sim *sim, double t)
{
    const ga_times *breaks = &sim->given.breaks;
    const int before = sim->balance.next_break;
    while (sim->balance.next_break < breaks->count && breaks->at[sim->balance.next_break] < t)
        ++sim->balance.next_break;
    return sim->started && (sim->balance.next_break > before || sim->balance.renewed) &&
           t - sim->balance.last_t <= 1e-12 * fmax(fabs(t), sim->def.t_end - sim->def.t_start);
}

/* Where the velocity that a motion prescribes jumps, an impulse along its row makes all
 * velocities jump to values that keep the other constraints, which do no work. What the kinetic
 * energy gains is the work of the motion. */
static void add_impulsive_work(ga_sim *sim, const ga_powers *now, double t)
{
    if (has_crossed(sim, t))
        sim->balance.energy.work += now->kinetic - sim->balance.last.kinetic;
}

/* An impact takes energy. Should it add any, that is an error of the balance; unless motions
 * hold their rates against it by impulses, which do work. */
static void add_impact(ga_sim *sim, const ga_powers *now)
{
    ga_balance *b = &sim->balance;
    const double drop = b->last.kinetic + b->last.potential - now->kinetic - now->potential;
    if (is_driven(sim->model)) {
        b->energy.dissipated += b->impact_loss;
        b->energy.work += b->impact_loss - drop;
    } else {
        b->energy.dissipated += fmax(drop, 0);
    }
    b->impact = false;
    b->impact_loss = 0;
}

void ga_sim_account(ga_sim *sim, const ga_sample *at)
{
    ga_powers now;
    memcpy(sim->work.now_vd, at->vd, (size_t)sim->assembly->nv * sizeof *at->vd);
    exact_powers_at(sim, GA_REACTIONS_FOLLOW, at->t, at->q, at->v, sim->work.now_vd, &now);
    if (sim->started)
        add_work(sim, true, &now, at->t, at->v, sim->work.now_vd, &sim->balance.energy);
    add_impulsive_work(sim, &now, at->t);
    memcpy(sim->balance.last_v, at->v, (size_t)sim->assembly->nv * sizeof *at->v);
    memcpy(sim->balance.last_vd, sim->work.now_vd, (size_t)sim->assembly->nv * sizeof *at->v);
    if (sim->balance.impact) add_impact(sim, &now);
    sim->balance.energy.kinetic = now.kinetic;
    sim->balance.energy.potential = now.potential;
    sim->balance.last = now;
    sim->balance.last_t = at->t;
    const ga_energy *e = &sim->balance.energy;
    double balance = e->kinetic + e->potential + e->dissipated - e->work;
    if (!sim->started) {
        sim->balance.initial = *e;
        sim->balance.start = balance;
        sim->started = true;
    }
    const double drift = fabs(balance - sim->balance.start);
    if (drift > sim->balance.drift_max || isnan(drift)) {
        sim->balance.drift_max = drift;
        sim->balance.drift_time = at->t;
    }
    sim->balance.least_kinetic = fmin(sim->balance.least_kinetic, e->kinetic);
    sim->balance.largest_kinetic = fmax(sim->balance.largest_kinetic, e->kinetic);
    sim->balance.largest_potential = fmax(sim->balance.largest_potential, fabs(e->potential));
    const double changes[] = {fabs(e->potential - sim->balance.initial.potential),
                              fabs(e->dissipated), fabs(e->work)};
    for (int k = 0; k < 3; ++k)
        sim->balance.exchanged = fmax(sim->balance.exchanged, changes[k]);
    sim->balance.scale = fmax(sim->balance.largest_kinetic, sim->balance.exchanged);
}
