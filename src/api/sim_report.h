/* What a simulation says in words: warnings of a start, and whom a failure is about. */
#ifndef GA_API_SIM_REPORT_H
#define GA_API_SIM_REPORT_H

#include "api/warnings.h"
#include "model/assembly.h"

#include <galpha/integrate.h>

/* How far a body is from where it was given, 0 within round-off; false: both are. */
bool ga_sim_has_moved(const ga_assembly *assembly, int node, const double *q0, const double *q,
                      double *distance, double *angle);
/* Adds what reading the model has changed. */
void ga_sim_warn_model(ga_warnings *warnings, const ga_model *model);
/* Initial values as the model gives them, and as the constraints want them. */
typedef struct ga_sim_initial {
    double t;
    const double *q0, *v0, *q, *v;
} ga_sim_initial;

/* Adds the warnings of a start: `count` sentences of the integrator, then which bodies it moved
 * and which constraints are redundant. Fails only for want of memory. */
ga_status ga_sim_warn_start(ga_warnings *warnings, const ga_assembly *assembly,
                            const ga_integrator *integrator, int count,
                            const ga_sim_initial *start);
/* What a run was like at its end, or where it failed. */
typedef struct ga_sim_end {
    double t, duration;
    double drift, drift_time;  /* of the energy balance, the largest */
    double exchanged;          /* the largest change of a term of the balance */
    double kinetic, potential; /* the largest, absolute */
    double position_residual, velocity_residual; /* the largest */
    bool keeps_velocities;                       /* the formulation, on velocity level */
    double positions_tolerance;                  /* if only positions are controlled; else 0 */
    double slow_tolerance;  /* the same, if all velocities are below the least size that their
                             * tolerances are relative to */
    double radau_tolerance; /* with its absolute part, if most steps were radau's */
} ga_sim_end;

/* Round-off of energies as large as these, and of the weight of bodies by their positions; and
 * the energy of a model at rest, in which every body moves by less than 1e-7 of the model's
 * size in the time of the run. */
double ga_sim_energy_round_off(const ga_assembly *assembly, double energy, double duration);
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

/* Adds the warnings of a whole run. */
void ga_sim_warn_end(ga_warnings *warnings, const ga_assembly *assembly, const ga_sim_end *end);
/* From indices of the integrator's unknowns to rows of (lambda, psi) or columns of v, and the
 * names of element or body at the end of the message. event_element: whose each event is. */
void ga_sim_explain(const ga_assembly *assembly, const int *event_element, ga_status status,
                    ga_report *report);
/* Constraints that contradict each other, by the names of their elements, and how far these are
 * apart in q0, the position as given. started: it is not about the start. */
void ga_sim_explain_contradiction(ga_assembly *assembly, const ga_integrator *integrator,
                                  const double *q0, bool started, ga_report *report);
/* Whatever it is of these. */
void ga_sim_explain_forbidden(const ga_forbidden *forbidden, ga_report *report);
/* Adds axes of a loop that are nearly parallel, if there are any. */
void ga_sim_explain_misaligned(const ga_assembly *assembly, ga_report *report);
/* Adds why a step failed, where the last good state tells: an element near a state in which it
 * is not defined, masses too different for index 3, or a min_step that is too large. */
void ga_sim_explain_step(const ga_assembly *assembly, const ga_element_state *state,
                         const ga_sim_def *def, ga_report *report);

#endif
