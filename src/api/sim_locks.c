/* Which locks may close.
 *
 * A joint that sticks, or rests at a stop, has a row that holds its coordinate. Others may
 * determine that coordinate already: a motion of the same joint, one elsewhere in its loop, or
 * the loop itself at a dead point, where a slider stands still while its crank turns. Such a
 * row would contradict theirs. That rates are determined shows in the mobility
 *
 *     g M^-1 (M - G^T (G M^-1 G^T)^-1 G) M^-1 g^T
 *
 * of their gradient g, what an impulse along it does to the rate: it vanishes, and the impulse
 * is G^T mu. While all locks are open, only joints and motions determine rates. Where closed
 * locks of others do, as in a loop, this one closes as well, because friction of all of them
 * holds the loop; but not if motions take part, which shows in their mu.
 *
 * At the start velocities are made consistent with all locks open. What then stands still as it
 * does in the file sticks.
 */
#include "api/sim.h"
#include "base/report.h"

#include <string.h>

/* Of a rate that nothing but round-off moves, relative to the response of the bodies alone.
 * Next to it is only that of bodies tied to others a billion times as heavy. */
static const double immobile = 1e-9;

bool ga_sim_is_immobile(double mobility) { return fabs(mobility) <= immobile; }

double ga_sim_ease_alone(const ga_sim *sim, const ga_element *element, const double *row)
{
    const ga_assembly *a = sim->assembly;
    const bool planar = a->model->dimension == 2;
    double alone = 0;
    for (int k = 0; k < element->node_count; ++k) {
        const int node = element->nodes[k];
        const double *x = row + GA_TWIST * k;
        if (node < 0 || !a->has_body[node]) continue;
        const double *J = a->inertia + (size_t)(planar ? 1 : 9) * (size_t)node;
        const double turned = planar ? J[0] : J[0] + J[4] + J[8];
        alone += ga_sim_dot(3, x, x) / a->mass[node];
        if (turned > 0) alone += ga_sim_dot(3, x + 3, x + 3) / turned;
    }
    return alone;
}

double ga_sim_mobility(ga_sim *sim, const ga_element *element, const double *row, double t,
                       const double *q, const double *v)
{
    const ga_assembly *a = sim->assembly;
    memset(sim->work.direction, 0, (size_t)a->nv * sizeof *sim->work.direction);
    ga_assembly_add_row(a, element, row, sim->work.direction);
    if (ga_integrator_impulse(sim->integrator, t, q, v, sim->work.direction, sim->work.jump,
                              NULL) != GA_OK)
        return 0;
    return ga_sim_dot(a->nv, sim->work.direction, sim->work.jump) /
           ga_sim_ease_alone(sim, element, row);
}

bool ga_sim_is_driven(const ga_model *model)
{
    for (int e = 0; e < model->element_count; ++e)
        if (model->elements[e]->rheonomic) return true;
    return false;
}

int ga_sim_find_motions(const ga_sim *sim, int room, const ga_element **motions)
{
    int count = 0;
    const ga_model *model = sim->model;
    const double *mu = ga_integrator_impulse_multipliers(sim->integrator);
    const double size = ga_sim_largest(model->rows + model->speed_rows, mu);
    for (int e = 0; e < model->element_count; ++e) {
        const ga_element *element = model->elements[e];
        if (!element->rheonomic) continue;
        const double most =
            fmax(ga_sim_largest(element->rows, mu + element->row),
                 ga_sim_largest(element->speed_rows, mu + model->rows + element->speed_row));
        if (!(most > immobile * size)) continue;
        if (count < room) motions[count] = element;
        ++count;
    }
    return count;
}

static bool meets_motions(const ga_sim *sim) { return ga_sim_find_motions(sim, 0, NULL) > 0; }

static bool can_lock(const ga_element *element)
{
    return element->type->unlock && element->event_count > 0;
}

static double *memory_of(ga_sim *sim, const ga_element *element)
{
    return sim->assembly->memory + element->memory;
}

static void open_all(ga_sim *sim, const ga_element_state *state)
{
    double row[GA_TWIST * GA_ELEMENT_MAX_NODES];
    for (int e = 0; e < sim->model->element_count; ++e) {
        const ga_element *element = sim->model->elements[e];
        if (can_lock(element))
            element->type->unlock(element, state, memory_of(sim, element), row);
    }
}

/* Do others determine the element's rate? Its own lock is opened. */
static bool is_immobile(ga_sim *sim, const ga_element *element, double t, const double *q,
                        const double *v)
{
    double row[GA_TWIST * GA_ELEMENT_MAX_NODES];
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    element->type->unlock(element, &state, memory_of(sim, element), row);
    return ga_sim_is_immobile(ga_sim_mobility(sim, element, row, t, q, v));
}

bool ga_sim_is_determined(ga_sim *sim, const ga_element *element, double t, const double *q,
                          const double *v)
{
    if (!can_lock(element)) return false;
    double *memory = sim->assembly->memory, *kept = sim->work.memory;
    const size_t size = (size_t)sim->model->memory_count * sizeof *kept;
    const ga_element_state state = ga_assembly_state(sim->assembly, t, q, v, NULL, NULL);
    memcpy(kept, memory, size);
    open_all(sim, &state);
    bool determined = is_immobile(sim, element, t, q, v);
    memcpy(memory, kept, size);
    if (!determined && ga_sim_is_driven(sim->model)) {
        determined = is_immobile(sim, element, t, q, v) && meets_motions(sim);
        memcpy(memory, kept, size);
    }
    return determined;
}

/* The mode of an element at the start: that of the file; but what stands still there may have
 * to move. Closes the lock unless it contradicts others. */
static void choose_mode(ga_sim *sim, const ga_element *element, ga_lock_finding f,
                        const double *q, const double *v)
{
    const ga_assembly *a = sim->assembly;
    double row[GA_TWIST * GA_ELEMENT_MAX_NODES], *memory = memory_of(sim, element);
    ga_element_state state =
        ga_assembly_state(sim->assembly, sim->from_t, sim->from_q, sim->from_v, NULL, NULL);
    element->type->remember(element, &state, memory);
    if (f.follows) element->type->follow(element, memory);
    memcpy(sim->work.memory, memory, (size_t)element->memory_count * sizeof *memory);
    state = ga_assembly_state(sim->assembly, sim->from_t, q, v, NULL, NULL);
    if (!element->type->unlock(element, &state, memory, row)) return;
    const bool free = f.blocked || (is_immobile(sim, element, sim->from_t, q, v) &&
                                    ga_sim_is_driven(sim->model) && meets_motions(sim));
    memset(sim->work.direction, 0, (size_t)a->nv * sizeof *sim->work.direction);
    ga_assembly_state(sim->assembly, sim->from_t, q, v, NULL, NULL);
    ga_assembly_add_row(a, element, row, sim->work.direction);
    double rate = 0, size = 0;
    for (int i = 0; i < a->nv; ++i) {
        rate += sim->work.direction[i] * v[i];
        size += fabs(sim->work.direction[i]) * ga_sim_largest(a->nv, v);
    }
    if (fabs(rate) > immobile * size)
        element->type->remember(element, &state, memory);
    else if (!free)
        memcpy(memory, sim->work.memory, (size_t)element->memory_count * sizeof *memory);
}

ga_status ga_sim_choose_locks(ga_sim *sim, ga_report *report)
{
    const ga_model *model = sim->model;
    ga_lock_finding *found = sim->work.locks;
    const double h = sim->def.step > 0 ? sim->def.step : 1e-3;
    const ga_element_state state =
        ga_assembly_state(sim->assembly, sim->from_t, sim->from_q, sim->from_v, NULL, NULL);
    open_all(sim, &state);
    const ga_status status =
        ga_integrator_start(sim->integrator, sim->from_t, sim->from_q, sim->from_v, h, NULL);
    if (status == GA_ERR_MEMORY) return ga_fail(report, status, "no memory for a simulation");
    const bool started = status == GA_OK;
    const double *q = ga_integrator_q(sim->integrator), *v = ga_integrator_v(sim->integrator);
    for (int e = 0; e < model->element_count && started; ++e) {
        if (!can_lock(model->elements[e])) continue;
        const bool blocked = is_immobile(sim, model->elements[e], sim->from_t, q, v);
        found[e] =
            (ga_lock_finding){.blocked = blocked, .follows = blocked && meets_motions(sim)};
    }
    if (!started) ga_assembly_remember(sim->assembly, sim->from_t, sim->from_q, sim->from_v);
    for (int e = 0; e < model->element_count && started; ++e)
        if (can_lock(model->elements[e])) choose_mode(sim, model->elements[e], found[e], q, v);
    return GA_OK;
}
