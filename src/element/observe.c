/* Values and derivatives of observed quantities, and functions of them by the chain rule:
 *
 *     f(t, y_1, y_2, ...),   D f = sum_k f_k D y_k
 */
#include "element/observe.h"

#include <math.h>
#include <string.h>

enum { max_count = GA_EXPRESSION_MAX_VARIABLES - 1 };

/* --- collecting ----------------------------------------------------------------------------
 */

static bool same(const ga_observed *a, const ga_observed *b)
{
    return a->quantity == b->quantity && a->node == b->node && a->component == b->component &&
           a->joint == b->joint && a->element == b->element && a->p[0] == b->p[0] &&
           a->p[1] == b->p[1] && a->p[2] == b->p[2];
}

ga_status ga_observe(ga_observation *list, ga_arena *arena, const ga_observed *what,
                     int *variable)
{
    for (int k = 0; k < list->count; ++k)
        if (same(&list->items[k], what)) {
            *variable = k + 1;
            return GA_OK;
        }
    if (list->count == max_count) return GA_ERR_INPUT;
    if (!list->items) list->items = GA_ARENA_NEW(arena, ga_observed, max_count);
    if (!list->items) return GA_ERR_MEMORY;
    list->items[list->count] = *what;
    *variable = ++list->count;
    return GA_OK;
}

/* --- preparation ---------------------------------------------------------------------------
 */

/* The element's number of a node, appended if it is new; -1: no room. */
static int slot_of(ga_element *element, int node)
{
    int k = 0;
    while (k < element->node_count && element->nodes[k] != node) ++k;
    if (k == GA_ELEMENT_MAX_NODES) return -1;
    if (k == element->node_count) {
        element->nodes[k] = node;
        element->node_count = k + 1;
    }
    return k;
}

/* The nodes a quantity depends on; returns how many. */
static int nodes_of(const ga_observed *what, int nodes[2])
{
    const ga_anchor *between = NULL;
    switch (what->quantity) {
    case GA_OBSERVE_OWN:
    case GA_OBSERVE_INPUT:
        return 0;
    case GA_OBSERVE_COORDINATE:
    case GA_OBSERVE_RATE:
        between = what->joint->between;
        break;
    case GA_OBSERVE_MEASURE: {
        const ga_measure *measure = &what->element->type->measures[what->component];
        between =
            (const ga_anchor *)(const void *)((const char *)what->element + measure->between);
        break;
    }
    default:
        nodes[0] = what->node;
        return 1;
    }
    nodes[0] = between[0].node;
    nodes[1] = between[1].node;
    return 2;
}

bool ga_observation_prepare(ga_observation *list, ga_setup *setup, void *element)
{
    ga_element *observer = element;
    for (int k = 0; k < list->count; ++k) {
        ga_observed *item = &list->items[k];
        int nodes[2], count = nodes_of(item, nodes);
        for (int i = 0; i < count; ++i) {
            item->slot[i] = slot_of(observer, nodes[i]);
            if (item->slot[i] >= 0) continue;
            ga_reader_error(setup->reader, observer->place,
                            "acts on, or reads channels of, more than %d bodies",
                            GA_ELEMENT_MAX_NODES);
            return false;
        }
        if (item->quantity == GA_OBSERVE_ANGLE) {
            item->memory = observer->memory_count;
            observer->memory_count += GA_TURN_MEMORY;
        }
    }
    return true;
}

/* --- values --------------------------------------------------------------------------------
 */

static double component(ga_vec3 a, int k) { return k == 0 ? a.x : k == 1 ? a.y : a.z; }

static void take(int n, const ga_dual3 *vector, int k, ga_dual *out)
{
    out->value = component(vector->value, k);
    for (int j = 0; j < n; ++j) out->d[j] = component(vector->d[j], k);
}

/* Adds six columns of one slot. */
static void add_columns(ga_dual *out, int first, double factor, const double *columns)
{
    for (int k = 0; k < GA_TWIST; ++k) out->d[first + k] += factor * columns[k];
}

static void angular_velocity(const ga_observed *item, const ga_loads *loads, ga_dual *out)
{
    ga_dual_constant(loads->columns, loads->state->frames[item->node].w[item->component], out);
    if (loads->columns)
        out->d[loads->size + GA_TWIST * item->slot[0] + 3 + item->component] = 1;
}

static double wrapped_angle(const ga_element_state *state, int node)
{
    const double *R = state->frames[node].R;
    return atan2(R[1], R[0]);
}

static void angle(const ga_observed *item, const ga_loads *loads, ga_dual *out)
{
    const ga_element_state *state = loads->state;
    double value = wrapped_angle(state, item->node);
    if (state->memory)
        value = ga_turn_unwrap(state->memory + loads->element->memory + item->memory, state->t,
                               value, state->frames[item->node].w[2]);
    ga_dual_constant(loads->columns, value, out);
    if (loads->columns) out->d[GA_TWIST * item->slot[0] + 5] = 1;
}

static void twists_of(const ga_joint *joint, const ga_element_state *state,
                      double v[2 * GA_TWIST])
{
    for (int i = 0; i < 2; ++i) {
        const ga_frame *frame = &state->frames[joint->between[i].node];
        memcpy(v + GA_TWIST * i, frame->u, sizeof frame->u);
        memcpy(v + GA_TWIST * i + 3, frame->w, sizeof frame->w);
    }
}

static void coordinate(const ga_observed *item, const ga_loads *loads, ga_dual *out)
{
    ga_scalar s;
    ga_joint_coordinate(item->joint, item->component, loads->state,
                        loads->columns ? GA_ORDER_GRADIENT : GA_ORDER_VALUE, &s);
    ga_dual_constant(loads->columns, s.value, out);
    if (!loads->columns) return;
    for (int i = 0; i < 2; ++i)
        add_columns(out, GA_TWIST * item->slot[i], 1, s.g + GA_TWIST * i);
}

/* g(q) v: by the twists g, by variations S(v, .). */
static void rate(const ga_observed *item, const ga_loads *loads, ga_dual *out)
{
    enum { size = 2 * GA_TWIST };
    ga_scalar s;
    double v[size];
    ga_dual_constant(loads->columns, ga_joint_rate(item->joint, item->component, loads->state),
                     out);
    if (!loads->columns) return;
    ga_joint_coordinate(item->joint, item->component, loads->state, GA_ORDER_SECOND, &s);
    twists_of(item->joint, loads->state, v);
    for (int i = 0; i < 2; ++i) {
        int first = GA_TWIST * item->slot[i];
        add_columns(out, loads->size + first, 1, s.g + GA_TWIST * i);
        for (int k = 0; k < size; ++k)
            add_columns(out, first, v[k], s.S + size * k + GA_TWIST * i);
    }
}

static void measure(const ga_observed *item, const ga_loads *loads, ga_dual *out)
{
    const ga_measure *type = &item->element->type->measures[item->component];
    ga_loads inner = loads->columns ? ga_loads_varied(item->element, loads->state)
                                    : ga_loads_value(item->element, loads->state);
    ga_dual value;
    type->value(item->element, &inner, &value);
    ga_dual_constant(loads->columns, value.value, out);
    if (!loads->columns) return;
    for (int i = 0; i < 2; ++i) {
        int first = GA_TWIST * item->slot[i];
        add_columns(out, first, 1, value.d + GA_TWIST * i);
        add_columns(out, loads->size + first, 1, value.d + inner.size + GA_TWIST * i);
    }
}

static void observe(const ga_observed *item, const ga_loads *loads, const ga_dual *own,
                    ga_dual *out)
{
    ga_dual3 vector;
    switch (item->quantity) {
    case GA_OBSERVE_POSITION:
        ga_loads_position(loads, item->slot[0], item->p, &vector);
        take(loads->columns, &vector, item->component, out);
        break;
    case GA_OBSERVE_VELOCITY:
        ga_loads_velocity(loads, item->slot[0], item->p, &vector);
        take(loads->columns, &vector, item->component, out);
        break;
    case GA_OBSERVE_ANGULAR_VELOCITY:
        angular_velocity(item, loads, out);
        break;
    case GA_OBSERVE_ANGLE:
        angle(item, loads, out);
        break;
    case GA_OBSERVE_COORDINATE:
        coordinate(item, loads, out);
        break;
    case GA_OBSERVE_RATE:
        rate(item, loads, out);
        break;
    case GA_OBSERVE_MEASURE:
        measure(item, loads, out);
        break;
    case GA_OBSERVE_OWN:
        ga_dual_chain(loads->columns, own[item->component].value, 1, &own[item->component],
                      out);
        break;
    case GA_OBSERVE_INPUT:
        ga_dual_constant(
            loads->columns,
            ga_input_value(loads->state->inputs + item->component, loads->state->t), out);
        break;
    }
}

/* --- functions -----------------------------------------------------------------------------
 */

/* out += slope (y - value of y): only columns. */
static void add_chain(int n, double slope, const ga_dual *y, ga_dual *out)
{
    if (slope == 0) return;
    for (int j = 0; j < n; ++j) out->d[j] += slope * y->d[j];
}

void ga_observation_evaluate(const ga_observation *list, const ga_loads *loads,
                             ga_function *const *functions, int count, const ga_dual *own,
                             ga_dual *out)
{
    double x[GA_EXPRESSION_MAX_VARIABLES] = {loads->state->t};
    ga_loads values = *loads;
    values.columns = 0;
    ga_dual y;
    for (int k = 0; k < list->count; ++k) {
        observe(&list->items[k], &values, own, &y);
        x[k + 1] = y.value;
    }

    int n = loads->columns;
    for (int c = 0; c < count; ++c) {
        const ga_function *f = functions[c];
        ga_dual_constant(n, f ? ga_function_value(f, x) : 0, &out[c]);
    }
    if (!n || !list->count) return;

    double slope[3][GA_EXPRESSION_MAX_VARIABLES] = {{0}};
    for (int c = 0; c < count; ++c)
        if (functions[c]) ga_function_gradient(functions[c], x, slope[c]);
    for (int k = 0; k < list->count; ++k) {
        observe(&list->items[k], loads, own, &y);
        for (int c = 0; c < count; ++c) add_chain(n, slope[c][k + 1], &y, &out[c]);
    }
}

void ga_observation_rates(const ga_observation *list, const ga_element_state *state,
                          const ga_function *function, double out[3])
{
    double x[GA_EXPRESSION_MAX_VARIABLES] = {state->t};
    double dx[GA_EXPRESSION_MAX_VARIABLES] = {1};
    for (int k = 0; k < list->count; ++k) {
        const ga_observed *item = &list->items[k];
        const ga_input_line *line = state->inputs ? state->inputs + item->component : NULL;
        x[k + 1] = line ? ga_input_value(line, state->t) : item->start;
        dx[k + 1] = line && state->t <= line->until ? line->rate : 0;
    }
    ga_function_rates_along(function, x, dx, out);
}

bool ga_observes_input(const ga_observation *list, const ga_function *function, int input)
{
    for (int k = 0; k < list->count; ++k)
        if (list->items[k].quantity == GA_OBSERVE_INPUT && list->items[k].component == input &&
            ga_function_uses(function, k + 1))
            return true;
    return false;
}

/* --- memory --------------------------------------------------------------------------------
 */

void ga_observation_remember(const ga_observation *list, const void *element,
                             const ga_element_state *state, double *memory)
{
    (void)element;
    for (int k = 0; k < list->count; ++k) {
        const ga_observed *item = &list->items[k];
        if (item->quantity == GA_OBSERVE_ANGLE)
            ga_turn_commit(memory + item->memory, state->t, wrapped_angle(state, item->node),
                           state->frames[item->node].w[2]);
    }
}

void ga_observation_commit(const ga_observation *list, const void *element,
                           const ga_element_state *state, double *memory)
{
    ga_loads values = ga_loads_value(element, state);
    for (int k = 0; k < list->count; ++k) {
        const ga_observed *item = &list->items[k];
        if (item->quantity != GA_OBSERVE_ANGLE) continue;
        ga_dual y;
        angle(item, &values, &y);
        ga_turn_commit(memory + item->memory, state->t, y.value,
                       state->frames[item->node].w[2]);
    }
}
