/* For simulations only: threads, and positions at impacts; apart from integrator.h, whose
 * ga_state is not that of models. */
#ifndef GA_API_INTEGRATOR_USE_H
#define GA_API_INTEGRATOR_USE_H

#include "base/pool.h"

#include <galpha/integrate.h>

/* From now on; they must outlive their use. The same bits come out. Null: none. */
ga_status ga_integrator_use(ga_integrator *integrator, ga_pool *pool);
/* Moves q onto the constraints, in the mass metric; to be called where an impulse may be. */
ga_status ga_integrator_place(ga_integrator *integrator, double t, double *q, const double *v);

/* Times of output nearer than this cannot be told apart. */
double ga_output_smallest(double t_start, double t_end);

#endif
