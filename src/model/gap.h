/* Constraints that do not hold in some position: where the sides of joints are apart. */
#ifndef GA_MODEL_GAP_H
#define GA_MODEL_GAP_H

#include "model/assembly.h"

/* How far the sides of a joint are apart in the directions it holds, in m and rad. */
void ga_gap_measure(const ga_element *joint, const ga_element_state *state, double *distance,
                    double *angle);
/* The elements whose rows are violated by more than round-off, the worst first, into `gaps`,
 * which has room for all elements of the model. Returns how many there are. */
int ga_gaps_find(ga_assembly *assembly, double t, const double *q, ga_gap *gaps);
/* The scene of the model with the list `gaps`. The caller frees it by ga_text_free. */
char *ga_gaps_scene(const ga_model *model, int count, const ga_gap *gaps);

#endif
