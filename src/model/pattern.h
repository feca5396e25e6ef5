/* Sparsity of a model's matrices. */
#ifndef GA_MODEL_PATTERN_H
#define GA_MODEL_PATTERN_H

#include "model/assembly.h"

/* Fills a->target, and says where the values of batches are. Which entries of a constraint's
 * matrices are never other than zero is found by looking: they are analytic functions of the
 * state, so one that is zero at random states is zero everywhere. Elements with forces or
 * events say themselves what they couple. */
ga_status ga_pattern_build(ga_assembly *a);
void ga_target_free(ga_target *target);

/* The matrices of rest[r] in coordinates: width[r] columns; lambda and psi are its own. */
void ga_assembly_row_out(const ga_assembly *a, const ga_element *element, const double *local,
                         double *out);
void ga_assembly_gradient_of(ga_assembly *a, int r, const ga_element_state *state, double *out);
void ga_assembly_speed_gradient_of(ga_assembly *a, int r, const ga_element_state *state,
                                   double *out);
void ga_assembly_speed_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                                    double *out);
void ga_assembly_speed_speed_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                                          double *out);
void ga_assembly_mass_of(ga_assembly *a, int r, const ga_element_state *state, double *out);
/* vd is that of the whole model; null: zero */
typedef struct ga_loaded {
    const double *vd, *lambda, *psi;
} ga_loaded;
void ga_assembly_stiffness_of(ga_assembly *a, int r, const ga_element_state *state,
                              const ga_loaded *at, double *out);
void ga_assembly_damping_of(ga_assembly *a, int r, const ga_element_state *state,
                            const ga_loaded *at, double *out);

#endif
