/* What simulations of models ask of an integrator besides its public functions; apart from
 * integrator.h, whose ga_element_state is not that of models. */
#ifndef GA_API_INTEGRATOR_USE_H
#define GA_API_INTEGRATOR_USE_H

#include "base/pool.h"

#include <galpha/integrate.h>

/* From now on; they must outlive their use. The same bits come out. Null: none. */
ga_status ga_integrator_use(ga_integrator *integrator, ga_pool *pool);
/* Moves q onto the constraints, in the mass metric. */
ga_status ga_integrator_place(ga_integrator *integrator, double t, double *q, const double *v);
/* The same with v; to be called before impulses where rows have changed. */
ga_status ga_integrator_steer(ga_integrator *integrator, double t, const double *q, double *v);

/* Times of output nearer than this cannot be told apart. */
double ga_output_smallest(double t_start, double t_end);
/* Smallest relative tolerance that can be met in double precision. */
double ga_control_smallest(ga_method method, ga_error_mode mode);

/* v', lambda and psi on the acceleration level at (t, q, v), which leaves the state alone;
 * given: guesses. Where they cannot be computed the guesses stand, and the status tells. */
ga_status ga_integrator_reactions(ga_integrator *integrator, double t, const double *q,
                                  const double *v, double *vd, double *lambda, double *psi);

#endif
