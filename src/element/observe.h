/* Observations: what expressions use besides time, "-c*top.velocity.x",
 * "hinge.angle > 0 ? 1 : 0", "k*(spring.length - 1)", with exact derivatives.
 *
 * An element whose type has `observation_at` holds a ga_observation there. Before its FUNCTION
 * and FUNCTIONS fields are read, it is all zero; while they are read, the symbols given to
 * ga_function_read resolve a name like this:
 *
 *     t                          variable 0
 *     one of type->own_variables ga_observe with GA_OBSERVE_OWN, component: its index
 *     a channel                  ga_observe with the ga_observed that fits:
 *       body.position.x, body.point.velocity.y       GA_OBSERVE_POSITION, _VELOCITY
 *       body.angular_velocity.z, planar without .z   GA_OBSERVE_ANGULAR_VELOCITY, component 2
 *       body.rotation in planar models               GA_OBSERVE_ANGLE
 *       joint.angle, joint.rate                      GA_OBSERVE_COORDINATE, _RATE
 *       force.<measure>, see type->measures          GA_OBSERVE_MEASURE
 *     an input of the model      ga_observe with GA_OBSERVE_INPUT
 *
 * and answer with the variable that ga_observe gives. Types with `inputs_only`, whose functions
 * prescribe motions, use inputs and no channels. Equal observations share one variable;
 * all functions of an element share its observations. `prepare` of the element appends the
 * observed nodes to its own; it needs the fields of all elements, but not that they are
 * prepared.
 */
#ifndef GA_ELEMENT_OBSERVE_H
#define GA_ELEMENT_OBSERVE_H

#include "element/force.h"

typedef enum ga_quantity {
    GA_OBSERVE_POSITION,         /* world; node, p, component */
    GA_OBSERVE_VELOCITY,         /* world; node, p, component */
    GA_OBSERVE_ANGULAR_VELOCITY, /* body axes; node, component */
    GA_OBSERVE_ANGLE,            /* in the plane, turns counted; node */
    GA_OBSERVE_COORDINATE,       /* joint, component: which coordinate */
    GA_OBSERVE_RATE,             /* its rate */
    GA_OBSERVE_MEASURE,          /* element, component: index into its measures */
    GA_OBSERVE_OWN,              /* component: index into own_variables */
    GA_OBSERVE_INPUT             /* component: index into the model's inputs; start */
} ga_quantity;

typedef struct ga_observed {
    ga_quantity quantity;
    int node;
    double p[3];
    int component;
    const ga_joint *joint;
    const ga_element *element;
    double start; /* of an input */
    /* set by ga_observation_prepare */
    int slot[2]; /* the observer's numbers of the nodes it depends on */
    int memory;  /* offset in the observer's memory */
} ga_observed;

typedef struct ga_observation {
    int count;
    ga_observed *items; /* variable k is items[k - 1] */
} ga_observation;

/* A scalar of an element that others may observe. It depends on two nodes, the first two of
 * the element, those of the ga_anchor[2] at offset `between`. */
typedef struct ga_measure {
    const char *name;
    size_t between;
    void (*value)(const void *element, const ga_loads *loads, ga_dual *out);
} ga_measure;

/* The variable that stands for an observation. GA_ERR_INPUT: there are too many for one
 * element, GA_ERR_MEMORY. */
ga_status ga_observe(ga_observation *list, ga_arena *arena, const ga_observed *what,
                     int *variable);

/* In `prepare`, after the element's own nodes are set: adds nodes and memory. */
bool ga_observation_prepare(ga_observation *list, ga_setup *setup, void *element);

/* `count` functions at once, null ones are 0. `own` are the values of own_variables, null if
 * there are none. */
void ga_observation_evaluate(const ga_observation *list, const ga_loads *loads,
                             ga_function *const *functions, int count, const ga_dual *own,
                             ga_dual *out);

/* Observed angles count turns. */
void ga_observation_remember(const ga_observation *list, const void *element,
                             const ga_element_state *state, double *memory);
void ga_observation_commit(const ga_observation *list, const void *element,
                           const ga_element_state *state, double *memory);

/* Of an element with `inputs_only`: the function with its first and second derivative with
 * respect to time, by which inputs are linear. Inputs that are not there are as they start.
 * At the end of a ramp the rate is that before it: a run may end there. */
void ga_observation_rates(const ga_observation *list, const ga_element_state *state,
                          const ga_function *function, double out[3]);
/* True if the function, one of an element of this type, uses the input. */
bool ga_observes_input(const ga_observation *list, const ga_function *function, int input);

#endif
