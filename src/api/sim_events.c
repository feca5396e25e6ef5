/* Events of elements: stops and stiction, and the impacts of all contacts together. */
#include "api/sim.h"
#include "element/joint.h"

#include <string.h>

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

/* The covector of a contact in sim->work.direction, and the change of v that a unit impulse
 * makes in sim->work.jump; false: the impulse cannot be computed. */
static bool push(ga_sim *sim, const ga_contact *c, double t, const double *q, const double *v)
{
    memset(sim->work.direction, 0, (size_t)sim->assembly->nv * sizeof *sim->work.direction);
    ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    ga_assembly_add_row(sim->assembly, c->element, c->gradient, sim->work.direction);
    return !ga_integrator_impulse(sim->integrator, t, q, v, sim->work.direction, sim->work.jump,
                                  NULL);
}

static double *memory_of(ga_sim *sim, const ga_element *element)
{
    return sim->assembly->memory + element->memory;
}

/* Contacts that are closed, with what happens to them; at first the count in sim->work.contacts
 * that struck, of which only element and restitution are known. */
static int gather_contacts(ga_sim *sim, int struck, const ga_element_state *state)
{
    ga_contact *all = sim->work.contacts;
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
    memcpy(sim->work.q, q, size);
    if (ga_integrator_place(sim->integrator, t, q, v)) memcpy(q, sim->work.q, size);
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->work.contacts + k;
        if (c->touches)
            c->element->type->loosen(c->element, &state, memory_of(sim, c->element),
                                     c->gradient);
    }
    memcpy(sim->work.v, v, size_v);
    if (ga_integrator_steer(sim->integrator, t, q, v)) memcpy(v, sim->work.v, size_v);
}

/* Rates before the impact, and what they are to be afterwards. */
static bool aim(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const int nv = sim->assembly->nv;
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->work.contacts + k;
        if (!push(sim, c, t, q, v)) return false;
        c->before = ga_sim_dot(nv, sim->work.direction, v);
        c->ease = ga_sim_dot(nv, sim->work.direction, sim->work.jump);
        c->target = c->restitution * fmax(-c->before, 0);
        c->alone = ga_sim_ease_alone(sim, c->element, c->gradient);
        if (ga_sim_is_immobile(c->ease / c->alone) && ga_sim_find_motions(sim, 0, NULL) > 0)
            c->ease = 0; /* round-off: what an impulse did would be noise */
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
        if (!set[i] && (ga_sim_dot(n, D[i], x) - b[i]) / root < -none) return i;
    }
    return -1;
}

/* What `strike` iterates for, by Murty's principal pivoting from the contacts that have an
 * impulse there: iterations hardly converge where masses differ much. v as it was before is in
 * sim->work.v. Without a solution all stays as it is. */
static void strike_exactly(ga_sim *sim, int count, double part, double t, const double *q,
                           double *v)
{
    enum { MOST_PIVOTS = 500 };
    const int nv = sim->assembly->nv;
    double D[MOST_EXACT][MOST_EXACT], b[MOST_EXACT], x[MOST_EXACT];
    bool set[MOST_EXACT];
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        if (!(c->ease > 0) || !push(sim, c, t, q, sim->work.v)) return;
        b[k] = part * c->target - c->before;
        set[k] = c->impulse > 0;
        for (int j = 0; j < count; ++j) {
            const ga_contact *other = sim->work.contacts + j;
            memset(sim->work.direction, 0, (size_t)nv * sizeof *sim->work.direction);
            ga_assembly_add_row(sim->assembly, other->element, other->gradient,
                                sim->work.direction);
            D[j][k] = ga_sim_dot(nv, sim->work.direction, sim->work.jump);
        }
    }
    int wrong = 0;
    for (int pivots = 0; pivots < MOST_PIVOTS && wrong >= 0; ++pivots) {
        solve_set(count, D, b, set, x);
        wrong = find_wrong(count, D, b, set, x);
        if (wrong >= 0) set[wrong] = !set[wrong];
    }
    if (wrong >= 0) return;
    memcpy(v, sim->work.v, (size_t)nv * sizeof *v);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->work.contacts + k;
        c->impulse = fmax(x[k], 0);
        if (!(c->impulse > 0) || !push(sim, c, t, q, sim->work.v)) continue;
        for (int i = 0; i < nv; ++i) v[i] += c->impulse * sim->work.jump[i];
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
    for (int k = 0; k < count; ++k) sim->work.contacts[k].impulse = 0;
    for (int sweep = 0; sweep < MOST_SWEEPS && change > enough * size; ++sweep) {
        change = 0;
        for (int k = 0; k < count; ++k) {
            ga_contact *c = sim->work.contacts + k;
            if (!(c->ease > 0)) continue;
            if (!push(sim, c, t, q, v)) return false;
            const double rate = ga_sim_dot(nv, sim->work.direction, v);
            const double impulse = fmax(c->impulse + (part * c->target - rate) / c->ease, 0);
            const double more = impulse - c->impulse, root = sqrt(c->ease);
            for (int i = 0; i < nv; ++i) v[i] += more * sim->work.jump[i];
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
        const ga_contact *c = sim->work.contacts + k;
        memset(sim->work.direction, 0, (size_t)nv * sizeof *sim->work.direction);
        ga_assembly_state(sim->assembly, t, q, v0, NULL, NULL);
        ga_assembly_add_row(sim->assembly, c->element, c->gradient, sim->work.direction);
        const double r0 = ga_sim_dot(nv, sim->work.direction, v0),
                     r1 = ga_sim_dot(nv, sim->work.direction, v1);
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
    double work[3], *before = sim->work.v, *full = sim->work.vd;
    memcpy(before, v, size);
    if (!aim(sim, count, t, q, v) || !strike(sim, count, 1, t, q, v)) return false;
    if (count == 1) return true;
    memcpy(full, v, size);
    memcpy(v, before, size);
    for (int k = 0; k < count; ++k) sim->work.contacts[k].full = sim->work.contacts[k].impulse;
    if (!strike(sim, count, 0, t, q, v)) return false;
    impulsive_work(sim, count, t, q, v, full, work);
    double part = 1;
    if (work[0] + work[1] + work[2] > 1e-12 * fabs(work[0])) {
        const double root = sqrt(fmax(work[1] * work[1] - 4 * work[2] * work[0], 0));
        part = fmin(fmax(-2 * work[0] / (work[1] + root), 0), 1);
    }
    for (int i = 0; i < nv; ++i) v[i] += part * (full[i] - v[i]);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->work.contacts + k;
        c->impulse += part * (c->full - c->impulse);
    }
    return true;
}

/* Errors of positions that must be expected: so many tolerances. Of fixed steps nothing is
 * known; there it is what the acceleration does in so many steps, but not more than this part
 * of the largest gap. */
static const double EXPECTED = 10, UNKNOWN = 1e-4;
/* Of what is close: less is a contact at rest, whose rate is round-off when others strike. */
static const double ROUND_OFF = 1e-6;
/* Of the duration: those that follow an impact earlier belong to contacts that open each other
 * in turn, which end in rest whether they strike or not. */
static const double FLIGHT = 1e-3;
/* Of the largest gap: what is farther away is not close, whatever the tolerance. */
static const double CLOSE = 1e-2;

/* The tolerance of a gap with this gradient; *angular: it is one of angles. */
static double gap_tolerance(const ga_sim *sim, const ga_element *element,
                            const double *gradient, bool *angular)
{
    double tolerance[2], error = 0, size[2] = {0};
    for (int i = 0; i < GA_TWIST * element->node_count; ++i) {
        double *most = size + (i % GA_TWIST >= 3);
        *most = fmax(*most, fabs(gradient[i]));
    }
    ga_integrator_position_tolerances(sim->integrator, tolerance);
    for (int k = 0; k < 2; ++k) error = fmax(error, size[k] * tolerance[k]);
    *angular = size[0] == 0;
    return error;
}

static void note_graze(ga_impact_errors *errors, double gap, double t, bool angular)
{
    if (!(fabs(gap) < fabs(errors->graze))) return;
    errors->graze = gap;
    errors->graze_at = t;
    errors->angular = angular;
}

/* A contact that closes against an acceleration that opens it, and would have turned back
 * hardly beyond the stop. With a restitution its rebound goes on like the motion that turns
 * back, and multiplies errors; without, it ends there. */
static void look_for_graze(ga_sim *sim, const ga_contact *c, double t, double acceleration,
                           const double *gradient)
{
    bool angular;
    if (c->restitution > 0 || !(acceleration > 0)) return;
    const double beyond = 0.5 * c->before * c->before / acceleration, h = sim->def.step;
    const double error = gap_tolerance(sim, c->element, gradient, &angular);
    const double close = h > 0 ? acceleration * h * h : EXPECTED * error;
    if (beyond <= close && beyond > ROUND_OFF * close)
        note_graze(sim->impact_errors + c->element->event, -beyond, t, angular);
}

/* The rate of a contact's gap, or its negative, in ds from (q, v) with v' = vd. */
static double rate_ahead(ga_sim *sim, const ga_contact *c, double ds, const ga_sample *at,
                         const double *q, const double *v, double *gradient)
{
    const int nv = sim->assembly->nv;
    const size_t size = (size_t)c->element->memory_count * sizeof(double);
    for (int i = 0; i < nv; ++i) {
        sim->work.jump[i] = ds * (v[i] + 0.5 * ds * at->vd[i]);
        sim->work.vd[i] = v[i] + ds * at->vd[i];
    }
    ga_nodes_update(sim->model->node_count, sim->assembly->nodes, GA_MAP_EXP, q, sim->work.jump,
                    sim->work.q);
    const ga_element_state state =
        ga_assembly_state(sim->assembly, at->t, sim->work.q, sim->work.vd, NULL, NULL);
    memcpy(sim->work.memory, memory_of(sim, c->element), size);
    c->element->type->unlock(c->element, &state, sim->work.memory, gradient);
    memset(sim->work.direction, 0, (size_t)nv * sizeof *sim->work.direction);
    ga_assembly_add_row(sim->assembly, c->element, gradient, sim->work.direction);
    return ga_sim_dot(nv, sim->work.direction, sim->work.vd);
}

/* What the impact makes of errors; v: velocities before it. Difference quotients are short
 * against the step that has led here. */
static void multiply_errors(ga_sim *sim, int count, const ga_sample *at, const double *q,
                            const double *v)
{
    const double ds = 1e-3 * at->step, duration = sim->def.t_end - sim->def.t_start;
    for (int k = 0; k < count && ds > 0; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        ga_impact_errors *errors = sim->impact_errors + c->element->event;
        double gradient[GA_TWIST * GA_ELEMENT_MAX_NODES];
        if (!(c->before < 0) || !c->element->type->unlock) continue;
        const double ahead = rate_ahead(sim, c, ds, at, q, v, gradient),
                     back = rate_ahead(sim, c, -ds, at, q, v, gradient);
        const double sign = ahead + back > 0 ? -1 : 1; /* the gap closes */
        const double acceleration = sign * (ahead - back) / (2 * ds);
        if (at->t - errors->t > FLIGHT * duration)
            look_for_graze(sim, c, at->t, acceleration, gradient);
        ga_impact_errors_fly(errors, at->t, duration);
        ga_impact_errors_strike(errors, c->before, acceleration, c->restitution, duration);
    }
}

/* Which contacts stay closed; true: some open. Against the impulses of the others, a rate below
 * 1e-9 is none. */
static bool part_contacts(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const double none = 1e-9;
    double size = 0;
    bool any = false;
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        if (c->ease > 0) size = fmax(size, c->impulse * sqrt(c->ease));
    }
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        const ga_element *element = c->element;
        const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
        memset(sim->work.direction, 0, (size_t)sim->assembly->nv * sizeof *sim->work.direction);
        ga_assembly_add_row(sim->assembly, element, c->gradient, sim->work.direction);
        const double rate = ga_sim_dot(sim->assembly->nv, sim->work.direction, v);
        const bool parts = rate > none * sqrt(fmax(c->ease, 0)) * size;
        const bool opens = parts && (!(c->impulse > 0) || c->target == 0);
        const bool stays = !parts && c->impulse > 0 && c->target == 0;
        if (opens || stays)
            element->type->part(element, &state, stays, memory_of(sim, element));
        any = any || opens;
    }
    return any;
}

static double gap_rate_of(ga_sim *sim, const ga_contact *c, double t, const double *q,
                          const double *v, double *size)
{
    const int nv = sim->assembly->nv;
    memset(sim->work.direction, 0, (size_t)nv * sizeof *sim->work.direction);
    ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    ga_assembly_add_row(sim->assembly, c->element, c->gradient, sim->work.direction);
    const double fastest = ga_sim_largest(nv, v);
    *size = 0;
    for (int i = 0; i < nv; ++i) *size += fabs(sim->work.direction[i]) * fastest;
    return ga_sim_dot(nv, sim->work.direction, v);
}

/* Motions do not yield. Where they drive a coordinate through its stop, alone or by way of
 * other contacts, no impulses leave a velocity that respects all stops: true, and
 * sim->forbidden says which. Rates are compared as those of equal energy, and with the
 * fastest of them; iterations of `strike` leave far less than a thousandth. */
static bool is_forbidden(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    static const double left_over = 1e-3, round_off = 1e-9;
    double fastest = 0, size;
    if (!ga_sim_is_driven(sim->model)) return false;
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        fastest = fmax(fastest, fabs(c->before) / sqrt(c->alone));
    }
    for (int k = 0; k < count; ++k) {
        const ga_contact *c = sim->work.contacts + k;
        ga_forbidden *found = &sim->forbidden;
        const double rate = gap_rate_of(sim, c, t, q, v, &size);
        if (rate >= -round_off * size || rate >= -left_over * fastest * sqrt(c->alone))
            continue;
        if (!push(sim, c, t, q, v)) continue;
        found->count = ga_sim_find_motions(sim, 3, found->motions);
        if (!found->count) continue;
        found->stop = c->element;
        found->speed = -rate;
        const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
        found->limit =
            ga_drive_limit((const struct ga_drive_element *)c->element, &state, &found->unit);
        return true;
    }
    return false;
}

/* Contacts that open begin elsewhere than those that rest. */
static void hold_again(ga_sim *sim, int count, double t, const double *q, const double *v)
{
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    for (int k = 0; k < count; ++k) {
        ga_contact *c = sim->work.contacts + k;
        c->touches =
            c->element->type->touch(c->element, &state, memory_of(sim, c->element), NULL);
    }
}

/* Events find a coordinate at its stop. One that is beyond it, by more than this part of the
 * positions, has been put there, or its turns were not counted. */
static const double FAR_BEYOND = 1e-3;

static bool is_far_beyond(ga_sim *sim, const ga_element *element, const ga_element_state *state)
{
    if (element->type != &ga_drive || !element->event_count) return false;
    const struct ga_drive_element *drive = (const struct ga_drive_element *)element;
    double relative;
    const double beyond = ga_drive_beyond(drive, state, memory_of(sim, element), &relative);
    if (!(relative > FAR_BEYOND)) return false;
    sim->forbidden = (ga_forbidden){
        .stop = element, .beyond = beyond, .from_start = !(state->t > sim->from_t)};
    sim->forbidden.limit = ga_drive_limit(drive, state, &sim->forbidden.unit);
    return true;
}

static ga_action happen(void *user, int count, const int *which, const ga_sample *at, double *q,
                        double *v)
{
    ga_sim *sim = user;
    const size_t memory_size = (size_t)sim->model->memory_count * sizeof(double);
    bool changed = false;
    int struck = 0;
    ga_element_state state;
    memcpy(sim->work.kept_memory, sim->assembly->memory, memory_size);
    for (int k = 0; k < count; ++k) {
        const ga_element *element = sim->model->elements[sim->event_element[which[k]]];
        ga_impact impact = {.determined = element->host &&
                                          ga_sim_is_determined(sim, element, at->t, q, v)};
        state = ga_assembly_state(sim->assembly, at->t, q, v, at->lambda, at->psi);
        state.interval = at->step;
        if (is_far_beyond(sim, element, &state)) {
            memcpy(sim->assembly->memory, sim->work.kept_memory, memory_size);
            return GA_ACTION_FAIL;
        }
        ga_switch what = element->type->happen(element, which[k] - element->event, &state,
                                               memory_of(sim, element), &impact);
        if (what != GA_SWITCH_NOTHING && sim->def.event) {
            const ga_sim_event event = {.t = at->t,
                                        .element = element->name,
                                        .function = which[k] - element->event,
                                        .impact = what == GA_SWITCH_IMPACT};
            sim->def.event(sim->def.user, sim, &event);
        }
        if (what == GA_SWITCH_IMPACT)
            sim->work.contacts[struck++] =
                (ga_contact){.element = element, .restitution = impact.restitution};
        changed = changed || what != GA_SWITCH_NOTHING;
    }
    if (struck) {
        const int contacts = gather_contacts(sim, struck, &state);
        place_contacts(sim, contacts, at->t, q, v);
        if (collide(sim, contacts, at->t, q, v)) {
            if (is_forbidden(sim, contacts, at->t, q, v)) {
                memcpy(sim->assembly->memory, sim->work.kept_memory, memory_size);
                return GA_ACTION_FAIL;
            }
            double work[3];
            impulsive_work(sim, contacts, at->t, q, v, v, work);
            sim->balance.impact = true;
            sim->balance.impact_loss += -work[0];
            multiply_errors(sim, contacts, at, q, sim->work.v);
        }
        if (part_contacts(sim, contacts, at->t, q, v)) {
            hold_again(sim, contacts, at->t, q, v);
            place_contacts(sim, contacts, at->t, q, v);
        }
    }
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* A gap has closed almost, and opens again. */
static void turned(void *user, int which, double t, double gap, double curvature, double range)
{
    ga_sim *sim = user;
    const ga_element *element = sim->model->elements[sim->event_element[which]];
    ga_impact_errors *errors = sim->impact_errors + element->event;
    double gradient[GA_TWIST * GA_ELEMENT_MAX_NODES];
    bool angular;
    if (which - element->event < element->type->first_gap || gap > CLOSE * range) return;
    const ga_element_state state =
        ga_assembly_state(sim->assembly, t, ga_integrator_q(sim->integrator),
                          ga_integrator_v(sim->integrator), NULL, NULL);
    memcpy(sim->work.memory, memory_of(sim, element),
           (size_t)element->memory_count * sizeof(double));
    element->type->unlock(element, &state, sim->work.memory, gradient);
    double error = gap_tolerance(sim, element, gradient, &angular);
    if (sim->def.step > 0)
        error = fmin(curvature * sim->def.step * sim->def.step, UNKNOWN * range);
    if (gap <= EXPECTED * error) note_graze(errors, gap, t, angular);
}

int ga_sim_count_switched(ga_sim *sim, const ga_element_state *state, bool on)
{
    int count = 0;
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (!element->event_count || !element->rows) continue;
        int numbers = element->rows * GA_TWIST * element->node_count;
        element->type->gradient(element, state, sim->assembly->A);
        if (on == (ga_sim_largest(numbers, sim->assembly->A) > 0)) count += element->rows;
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
        if (is_far_beyond(sim, element, &state)) return GA_ACTION_FAIL;
        /* without events it has no memory: what is there is another's */
        if (element->event_count && element->type->settle &&
            element->type->settle(element, &state, memory_of(sim, element)))
            changed = true;
    }
    sim->locked = ga_sim_count_switched(sim, &state, true) > 0;
    return changed ? GA_ACTION_RESTART : GA_ACTION_CONTINUE;
}

/* In a millionth of the time. Bounces that accumulate end by themselves, but with a restitution
 * of 0.999 only after some 20,000. */
enum { MOST_EVENTS = 100000 };

void ga_sim_describe_events(ga_sim *sim, ga_events *events)
{
    const bool any = sim->model->event_count > 0;
    events->count = sim->model->event_count;
    events->function = any ? event_functions : NULL;
    events->happen = any ? happen : NULL;
    events->settled = any ? settled : NULL;
    events->turned = any ? turned : NULL;
    events->user = sim;
    events->unilateral = sim->unilateral;
    events->max_count = MOST_EVENTS;
    events->exact = any ? locked : NULL;
}
