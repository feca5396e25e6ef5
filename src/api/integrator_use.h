/* Threads for an integrator; apart from integrator.h, whose ga_state is not that of models. */
#ifndef GA_API_INTEGRATOR_USE_H
#define GA_API_INTEGRATOR_USE_H

#include "base/pool.h"

#include <galpha/integrate.h>

/* From now on; they must outlive their use. The same bits come out. Null: none. */
ga_status ga_integrator_use(ga_integrator *integrator, ga_pool *pool);

/* Times of output nearer than this cannot be told apart. */
double ga_output_smallest(double t_start, double t_end);

#endif
