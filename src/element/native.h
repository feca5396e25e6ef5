/* What forces computed by C functions of users share: plug-ins and callbacks. What such a
 * function gets and writes is in <galpha/plugin.h>. */
#ifndef GA_ELEMENT_NATIVE_H
#define GA_ELEMENT_NATIVE_H

#include "element/force.h"

#include <galpha/plugin.h>

typedef struct ga_native {
    const ga_element *element;
    void (*force)(const void *self, double t, const ga_plugin_body *bodies, double *f);
    const void *self;
} ga_native;

typedef struct ga_native_bodies {
    ga_plugin_body body[GA_ELEMENT_MAX_NODES];
} ga_native_bodies;

/* Sets the nodes; false after an error message. */
bool ga_native_prepare(ga_element *element, const ga_node_list *bodies, const ga_setup *setup);

ga_native_bodies ga_native_gather(const ga_element *element, const ga_element_state *state);
/* Adds the force; subtracts its derivatives by finite differences. */
void ga_native_add_force(const ga_native *native, const ga_element_state *state, double *f);
void ga_native_difference(const ga_native *native, const ga_element_state *state, double *K,
                          double *C);

/* Force and torque on all bodies, by the element's own `force`. */
extern const ga_channel_type ga_native_channels[];

#endif
