/* What simulations of models ask of an integrator besides its public functions; apart from
 * integrator.h, whose ga_element_state is not that of models. */
#ifndef GA_INTEGRATE_INTEGRATOR_USE_H
#define GA_INTEGRATE_INTEGRATOR_USE_H

#include "base/archive.h"
#include "base/pool.h"

#include <galpha/simulate.h>

/* From now on; they must outlive their use. The same bits come out. Null: none. */
ga_status ga_integrator_use(ga_integrator *integrator, ga_pool *pool);
/* ga_integrator_start, with events->settled called as at the start of a run. Null: no events.
 */
ga_status ga_integrator_start_settled(ga_integrator *integrator, double t0, const double *q0,
                                      const double *v0, double h, const ga_events *events,
                                      ga_report *report);
/* Moves q onto the constraints, in the mass metric. */
ga_status ga_integrator_place(ga_integrator *integrator, double t, double *q, const double *v);
/* The same with v; to be called before impulses where rows have changed. */
ga_status ga_integrator_steer(ga_integrator *integrator, double t, const double *q, double *v);

/* mu, of the last ga_integrator_impulse: direction = M dv + G^T mu. */
const double *ga_integrator_impulse_multipliers(const ga_integrator *integrator);

/* Times of output nearer than this cannot be told apart. */
double ga_output_smallest(double t_start, double t_end);
/* How many of ga_control.given_step a step of a method may last: so that it looks at functions
 * of time about as often. */
#define GA_EXPLICIT_GIVEN_STEPS 10.0
#define GA_RADAU_GIVEN_STEPS 2.5
/* Smallest relative tolerance that can be met in double precision. */
double ga_control_smallest(ga_method method, ga_error_mode mode);

/* What the tolerance of the run makes of translations and of rotations, 0 with fixed steps. */
void ga_integrator_position_tolerances(const ga_integrator *integrator, double of_q[2]);
/* The largest values so far that they are relative to, by kind. */
void ga_integrator_sizes(const ga_integrator *integrator, double of_q[2], double of_v[2]);

/* v', lambda and psi on the acceleration level at (t, q, v), which leaves the state alone;
 * given: guesses. Where they cannot be computed the guesses stand, and the status tells. */
typedef ga_status ga_reactions_at(ga_integrator *integrator, double t, const double *q,
                                  const double *v, double *vd, double *lambda, double *psi);
ga_reactions_at ga_integrator_reactions;
/* The same near the state of the last call, whose factors serve once more if they can. */
ga_reactions_at ga_integrator_reactions_near;

/* ga_integrator_simulate step by step, see integrate/run.h. */
ga_status ga_integrator_run_begin(ga_integrator *integrator, double t0, const double *q0,
                                  const double *v0, const ga_simulation *simulation,
                                  ga_report *report);
ga_status ga_integrator_run_step(ga_integrator *integrator, ga_report *report);
ga_status ga_integrator_run_renew(ga_integrator *integrator, double t, ga_report *report);
bool ga_integrator_run_over(const ga_integrator *integrator);
void ga_integrator_run_limit(ga_integrator *integrator, double t);
void ga_integrator_run_look_to(ga_integrator *integrator, double horizon);
double ga_integrator_run_reached(const ga_integrator *integrator);
ga_status ga_integrator_run_cut(ga_integrator *integrator, ga_report *report);
ga_sample ga_integrator_run_sample(ga_integrator *integrator, double t);

/* A run between two steps, with its method and what was found at its start. False: the method
 * cannot be saved. */
bool ga_integrator_can_save(const ga_integrator *integrator);
void ga_integrator_run_save(ga_integrator *integrator, ga_archive *archive); /* or counts */
/* Into an integrator of the same system and definition. The archive has failed if the bytes are
 * not those of such a one. After a failure there is no run. */
ga_status ga_integrator_run_load(ga_integrator *integrator, const ga_simulation *simulation,
                                 ga_archive *archive, ga_report *report);

#endif
