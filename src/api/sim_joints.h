/* Where joints are, and how far their sides were apart. */
#ifndef GA_API_SIM_JOINTS_H
#define GA_API_SIM_JOINTS_H

#include "api/warnings.h"
#include "model/model.h"

#include <galpha/sim.h>

/* How many there are. */
int ga_sim_joint_count(const ga_model *model);
/* All of them; `frames`: bodies at the start, after assembly. */
void ga_sim_joints_find(const ga_model *model, double t, const ga_frame *frames,
                        ga_sim_joint *joints);
/* The joint whose sides were furthest apart as given, if they were so far apart that the
 * mechanism that runs is not the one in the file; null if none were. Adds a sentence on it. */
const char *ga_sim_joints_apart(const ga_model *model, double t, char text[GA_MESSAGE_SIZE]);

#endif
