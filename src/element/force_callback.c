/* Force computed by the program that runs the simulation, see ga_sim_set_force. Without a
 * callback it is zero. */
#include "element/native.h"

typedef struct callback {
    ga_element element;
    ga_node_list bodies;
} callback;

static const ga_field fields[] = {
    GA_FIELD(callback, BODIES, bodies, "bodies it reads and acts on", .required = true),
    {0},
};

static bool prepare(void *element, ga_setup *setup)
{
    callback *c = element;
    c->element.callback_count = 1;
    return ga_native_prepare(&c->element, &c->bodies, setup);
}

static void call(const void *self, double t, const ga_plugin_body *bodies, double *f)
{
    const ga_callback_slot *slot = self;
    slot->function(slot->user, t, bodies, f);
}

/* Without a callback `self` is null. */
static ga_native native(const callback *c, const ga_element_state *state)
{
    const ga_callback_slot *slot =
        state->callbacks ? state->callbacks + c->element.callback : NULL;
    return (ga_native){&c->element, call, slot && slot->function ? slot : NULL};
}

static void force(const void *element, const ga_element_state *state, double *f)
{
    const ga_native n = native(element, state);
    if (n.self) ga_native_add_force(&n, state, f);
}

static void tangent(const void *element, const ga_element_state *state, double *K, double *C)
{
    const ga_native n = native(element, state);
    if (n.self) ga_native_difference(&n, state, K, C);
}

const ga_element_type ga_force_callback = {
    .name = "callback",
    .section = "forces",
    .help = "Force on bodies computed by the program that runs the simulation, see "
            "ga_sim_set_force in <galpha/sim.h>; zero in any other program.",
    .size = sizeof(callback),
    .fields = fields,
    .example = "{type: callback, bodies: [a, b]}",
    .prepare = prepare,
    .force = force,
    .tangent = tangent,
    .channels = ga_native_channels,
};
