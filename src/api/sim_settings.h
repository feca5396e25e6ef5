/* From the settings of a model file to those of a simulation. */
#ifndef GA_API_SIM_SETTINGS_H
#define GA_API_SIM_SETTINGS_H

#include "model/model.h"

#include <galpha/sim.h>

enum { GA_SIM_MAX_THREADS = 64 };

/* What the settings of a file can be wrong about only where methods are known: messages with
 * places. */
ga_status ga_model_check_settings(const ga_model *model, ga_messages *messages);
/* GA_METHOD_AUTO becomes generalized-alpha where the step size is fixed, and where something
 * is asked for that belongs to that. */
void ga_sim_settings_choose(ga_sim_def *def);
/* Numbers a program may have set. */
ga_status ga_sim_settings_check(const ga_sim_def *def, ga_report *report);

#endif
