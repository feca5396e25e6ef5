/* Constraints in words. */
#ifndef GA_API_ROW_TEXT_H
#define GA_API_ROW_TEXT_H

#include "model/assembly.h"

#include <galpha/integrate.h>

enum { GA_ROW_TEXT = 96 };

/* Where an element stands in the file: joints, motions, forces. */
const char *ga_section_of(const ga_element *element);

/* What a row of (lambda, psi) holds: "rotation about world x", "translation along world
 * direction (0.6, 0.8, 0)", or in other words where it is no direction, "transmission". Axes
 * are those at t = 0. */
void ga_row_text(const ga_assembly *assembly, int row, char text[GA_ROW_TEXT]);

/* All redundant constraints in one sentence; "": there are none. Returns the name of the
 * element that has the first of them, or null. */
const char *ga_redundant_text(const ga_assembly *assembly, const ga_integrator *integrator,
                              char text[GA_MESSAGE_SIZE]);

#endif
