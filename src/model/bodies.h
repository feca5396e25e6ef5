/* Bodies: forces, dynamics and tangents. */
#ifndef GA_MODEL_BODIES_H
#define GA_MODEL_BODIES_H

#include "model/assembly.h"

/* Nodes from <= i < to are of one kind, and placed; they move, too, where their translations
 * are in body axes. f: of the first of them. */
void ga_bodies_forces(const ga_assembly *a, int from, int to, double *f);
/* r = M vd - f at this point; r of all nodes. Nodes need not be told how they move. */
void ga_bodies_equations(const ga_assembly *a, int from, int to, const ga_point *at, double *r);
/* The same for r that has f. */
void ga_bodies_accelerate(const ga_assembly *a, int from, int to, const double *vd, double *r);
/* Values of one body's K and C; returns where those of the next one are. */
double *ga_body_stiffness(const ga_assembly *a, int i, double *K);
double *ga_body_damping(const ga_assembly *a, int i, double *C);

#endif
