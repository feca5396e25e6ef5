/* Failures of a simulation in words: whom they are about, and what helps. */
#ifndef GA_API_SIM_EXPLAIN_H
#define GA_API_SIM_EXPLAIN_H

#include "model/assembly.h"

#include <galpha/integrate.h>
#include <galpha/sim.h>

/* A coordinate that motions drive through its stop, or that is far beyond it. */
typedef struct ga_forbidden {
    const ga_element *stop; /* null: there is none */
    double limit, speed;    /* of the coordinate */
    double beyond;          /* the stop, if it is that */
    bool from_start;        /* it is there where the run starts */
    const char *unit;       /* m or rad */
    const ga_element *motions[3];
    int count; /* of motions that take part; more than three are only counted */
} ga_forbidden;

/* From indices of the integrator's unknowns to rows of (lambda, psi) or columns of v, and the
 * names of element or body at the end of the message. event_element: whose each event is. */
void ga_sim_explain(const ga_assembly *assembly, const int *event_element, ga_status status,
                    ga_report *report);
/* Constraints that contradict each other, by the names of their elements, and how far these are
 * apart in q0, the position as given. started: it is not about the start. */
void ga_sim_explain_contradiction(ga_assembly *assembly, const ga_integrator *integrator,
                                  const double *q0, bool started, ga_report *report);
void ga_sim_explain_forbidden(const ga_forbidden *forbidden, ga_report *report);
/* Adds axes of a loop that are nearly parallel, if there are any. */
void ga_sim_explain_misaligned(const ga_assembly *assembly, ga_report *report);
/* Adds why a step failed, where the last good state tells: an element near a state in which it
 * is not defined, masses too different for index 3, or a min_step that is too large. */
void ga_sim_explain_step(const ga_assembly *assembly, const ga_element_state *state,
                         const ga_sim_def *def, ga_report *report);

#endif
