/* Warnings of a simulation in words. */
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
    const char *turning;    /* the joint that turned farthest of those whose bodies have much of
                             * the kinetic energy, in models without motions; null: none */
    double turned;          /* by this angle */
    double angle_tolerance; /* of angles, with its absolute part; 0: none */
} ga_sim_end;

/* Round-off of energies as large as these, and of the weight of bodies by their positions; and
 * the energy of a model at rest, in which every body moves by less than 1e-7 of the model's
 * size in the time of the run. */
double ga_sim_energy_round_off(const ga_assembly *assembly, double energy, double duration);
/* Adds the warnings of a whole run. */
void ga_sim_warn_end(ga_warnings *warnings, const ga_assembly *assembly, const ga_sim_end *end);

#endif
