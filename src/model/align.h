/* Axes of joints in closed loops that are parallel or perpendicular but for small errors. */
#ifndef GA_MODEL_ALIGN_H
#define GA_MODEL_ALIGN_H

#include "element/joint.h"
#include "model/model.h"

/* Before joints are prepared, spatial models. Notes what it did in the model. Returns false if
 * there is no memory. */
bool ga_align_axes(ga_model *model, int count, ga_joint *const *joints);

#endif
